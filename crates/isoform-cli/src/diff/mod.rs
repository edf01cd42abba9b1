//! `isoform diff`: checks whether two files are equal, and tells how they differ.

pub(crate) mod args;
mod explorer;
mod first;
pub(crate) mod folders;
mod json;
mod mlir;
mod page;
mod run;

use std::io;
use std::path::Path;

use isoform::compare::{ChangeKind, DiffOptions, Difference};
use isoform::{Error, Ref, Value};
use isoform_ir::kernels::within;
use isoform_onnx::eval::Control;
use isoform_onnx::ir::Program;
use isoform_onnx::levels::Levels;
use isoform_onnx::report::{Report, ReportOptions, Tolerance};
use isoform_onnx::summary::{Line, Role};
use serde_json::{Value as Json, json};

use args::DiffArgs;

pub(crate) use first::{text_of, value_text, value_texts};

use crate::args::Common;
use crate::imports::RunOptions;
use crate::input::alone::{self, Purpose};
use crate::input::{Input, load, message, simplified_input};
use crate::output::{DIFFERENT, Failure, Output, counted, printable};
use crate::pages::pictures::{ChangePictures, value_changes_picture};
use crate::pages::{page_of_models, page_of_values};

/// Compares two files.
fn files(
    args: &DiffArgs,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if let Err((file, failure)) = explorer::check(args) {
        return trouble(&[(&file, &failure)], output);
    }
    let finished = |file: &Path, read: Result<Input, Failure>| {
        let fixed = args.fix.apply(file, read?)?;
        simplified_input(file, fixed, args.simplify)
    };
    let (left, right) = rayon::join(|| load(&args.left, common), || load(&args.right, common));
    let [left, right] = alone::settled([left, right], Purpose::Compare);
    let (left, right) = rayon::join(
        || finished(&args.left, left),
        || finished(&args.right, right),
    );
    let (left, right) = match (left, right) {
        (Ok(left), Ok(right)) => (left, right),
        (left, right) => {
            let failed = [(&args.left, left.err()), (&args.right, right.err())];
            let failed: Vec<_> = failed
                .iter()
                .filter_map(|(file, error)| Some((file.as_path(), error.as_ref()?)))
                .collect();
            return trouble(&failed, output);
        }
    };
    if args.run.run {
        return run::run(args, common, host, [&left, &right], output);
    }
    let values = [left.to_value(), right.to_value()];
    alone::tell(&[&left, &right], Purpose::Compare, &common.types, output);
    if let Some(failure) = undecided(common, &left, &right) {
        return trouble(&[(&args.right, &failure)], output);
    }
    match compared(args, common, left, right, output) {
        Ok(written) => written,
        Err(error) => {
            let file = if is_right_to_blame(common, &values) {
                &args.right
            } else {
                &args.left
            };
            trouble(&[(file, &message(file, &error))], output)
        }
    }
}

/// Why the verdict on files of unknown types is open, if they seem to be equal.
fn undecided(common: &Common, left: &Input, right: &Input) -> Option<Failure> {
    let (Some(l), Some(r)) = (left.reservations(), right.reservations()) else {
        return None;
    };
    let seem_equal = common
        .compare_options()
        .equal(left.to_value(), right.to_value());
    if l.is_surely_equal(r) || !seem_equal.unwrap_or(false) {
        return None;
    }
    let mut failure = Failure::from(
        "cannot tell whether the files are equal, because a JSON graph does not tell integers from references",
    );
    let keys = [&l.keys[..], &r.keys].concat();
    failure.excerpt.push(common.types.hint(&keys).to_owned());
    Some(failure)
}

/// True if only the right of two values cannot be compared. O(n), when comparison
/// failed.
fn is_right_to_blame(common: &Common, values: &[Value; 2]) -> bool {
    let options = common.compare_options();
    let [left, right] = values.each_ref().map(|value| options.hash(value).is_err());
    right && !left
}

/// Compares and prints; the inner result is the result of writing.
pub(crate) fn compared(
    args: &DiffArgs,
    common: &Common,
    left: Input,
    right: Input,
    output: &mut Output<'_, '_>,
) -> Result<io::Result<()>, Error> {
    let compare = common.compare_options();
    let programs = left.program().zip(right.program());
    let needs_changes = args.tolerance().is_some()
        || args.model_explorer.is_some()
        || page::is_wanted(args, output);
    if args.first || (output.quiet && !needs_changes) {
        let (left, right) = match programs {
            None => (left, right),
            Some((l, r)) => {
                let (l, r) = args.levels().apply_pair(&l, &r)?;
                (left.with_program(l), right.with_program(r))
            }
        };
        if !output.quiet {
            return first::explain(args, common, &left, &right, output);
        }
        if !compare.equal(left.to_value(), right.to_value())? {
            output.status = DIFFERENT;
        }
        return Ok(Ok(()));
    }
    if let Some((left, right)) = programs {
        let options = ReportOptions {
            levels: args.levels(),
            compare,
            tolerance: args.tolerance(),
        };
        let report = options.report(&left, &right, &Control::default())?;
        if let Some(folder) = &args.model_explorer {
            let models = [&*args.left, &*args.right];
            if let Err((file, failure)) = explorer::write(&report, models, folder, args.force) {
                return Ok(trouble(&[(&file, &failure)], output));
            }
        }
        return Ok(models(args, &report, output));
    }
    let mut options = DiffOptions {
        compare,
        ..DiffOptions::default()
    };
    let tolerance = args.tolerance();
    options
        .ignore
        .extend(tolerance.map(|tolerance| within(tolerance.rtol, tolerance.atol)));
    let difference = options.diff(left.to_value(), right.to_value())?;
    if is_mlir(difference.left()) && is_mlir(difference.right()) {
        let report = isoform_mlir::Report::new(&difference)?;
        return Ok(mlir::print(args, &difference, &report, output));
    }
    Ok(values(args, &difference, output))
}

fn trouble(failed: &[(&Path, &Failure)], output: &mut Output<'_, '_>) -> io::Result<()> {
    for (file, failure) in failed {
        output.failure(file, failure);
    }
    if !output.json {
        return Ok(());
    }
    let failed = failed.iter().map(|(file, failure)| failure.json(file));
    output.json_line(&json!({"failed": failed.collect::<Json>()}))
}

/// Prints how two models differ.
fn models(args: &DiffArgs, report: &Report, output: &mut Output<'_, '_>) -> io::Result<()> {
    if !report.is_equal() {
        output.status = DIFFERENT;
    }
    if page::is_wanted(args, output) {
        let [left, right] = &args.names();
        let page = page_of_models(report, [left, right]);
        if page::write(args, page, output)? {
            return Ok(());
        }
    }
    if output.quiet {
        return Ok(());
    }
    if let Some(format) = args.picture() {
        return format.write(ChangePictures::new(report).all(), output);
    }
    if output.json {
        return output.json_line(&json::of_models(args, report));
    }
    let lines = if args.stat {
        report.summary_lines()
    } else {
        report.lines(args.most())
    };
    print(lines, report.is_equal(), output)
}

/// Prints how two IR files differ.
fn values(args: &DiffArgs, difference: &Difference, output: &mut Output<'_, '_>) -> io::Result<()> {
    if !difference.is_empty() {
        output.status = DIFFERENT;
    }
    if page::is_wanted(args, output) {
        let [left, right] = &args.names();
        let page = page_of_values(difference, [left, right]);
        if page::write(args, page, output)? {
            return Ok(());
        }
    }
    if output.quiet {
        return Ok(());
    }
    if let Some(format) = args.picture() {
        return format.write(value_changes_picture(difference), output);
    }
    if output.json {
        return output.json_line(&json::of_values(args, difference));
    }
    let text = if difference.is_empty() {
        "equal".to_owned()
    } else {
        format!("different: {}", difference.summary())
    };
    let mut lines = vec![Line {
        role: Role::Heading,
        text,
    }];
    if !args.stat {
        let changes = difference.changes();
        let shown = args.most().unwrap_or(changes.len()).min(changes.len());
        lines.extend(changes[..shown].iter().map(|change| Line {
            role: match change.kind() {
                ChangeKind::Inserted => Role::Right,
                ChangeKind::Deleted => Role::Left,
                _ => Role::Changed,
            },
            text: change.to_string(),
        }));
        if shown < changes.len() {
            let more = counted(changes.len() - shown, "more change");
            let text = format!("... and {more}; --max 0 shows all");
            let role = Role::Row;
            lines.push(Line { role, text });
        }
    }
    print(lines, difference.is_empty(), output)
}

/// True for a program of MLIR.
fn is_mlir(value: &Value) -> bool {
    value.peek::<Ref<isoform_mlir::Program>>().is_some()
}

/// Prints lines that begin with the verdict. On a terminal, marks tell the sides apart where
/// there is no colour.
fn print(lines: Vec<Line>, is_equal: bool, output: &mut Output<'_, '_>) -> io::Result<()> {
    let palette = output.style;
    for line in lines {
        let text = printable(&line.text);
        let text = match line.role {
            Role::Left if output.is_terminal() => format!("- {text}").into(),
            Role::Right if output.is_terminal() => format!("+ {text}").into(),
            Role::Changed if output.is_terminal() => format!("~ {text}").into(),
            _ => text,
        };
        let style = match line.role {
            Role::Heading if is_equal => palette.good,
            Role::Heading => palette.bad,
            Role::Changed => palette.ty,
            Role::Left => palette.left,
            Role::Right => palette.right,
            _ => {
                output.line(text)?;
                continue;
            }
        };
        let (marked, rest) = match (line.role, text.split_once(':')) {
            (Role::Heading, Some((verdict, _))) => text.split_at(verdict.len()),
            _ => (&*text, ""),
        };
        output.line(format_args!("{style}{marked}{style:#}{rest}"))?;
    }
    Ok(())
}

impl DiffArgs {
    fn levels(&self) -> Levels {
        Levels {
            ignore_shapes: self.levels.ignore_shapes,
            same_opset_meaning: !self.levels.strict,
            defaults: !self.levels.strict,
        }
    }

    fn tolerance(&self) -> Option<Tolerance> {
        let is_given = self.levels.rtol.is_some() || self.levels.atol.is_some();
        is_given.then(|| Tolerance {
            rtol: self.levels.rtol.unwrap_or(0.0),
            atol: self.levels.atol.unwrap_or(0.0),
        })
    }

    /// The number of changes to print; None for all.
    fn most(&self) -> Option<usize> {
        (self.max > 0).then_some(self.max)
    }
}

impl Input {
    /// The program of a model, in a file of whatever format.
    pub(crate) fn program(&self) -> Option<Ref<Program>> {
        self.to_value().peek::<Ref<Program>>().cloned()
    }

    fn with_program(self, program: Ref<Program>) -> Input {
        match self {
            Input::Model(model) => Input::Model(model.with_program(program)),
            Input::Value(mut file) => {
                file.value = program.into();
                Input::Value(file)
            }
        }
    }
}
