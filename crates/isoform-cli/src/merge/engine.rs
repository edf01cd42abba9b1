//! The merge of three inputs, and the check of its result.

use std::path::Path;

use isoform::compare::{DiffOptions, Merge};
use isoform::files::to_bytes;
use isoform::{Ref, Result, Value, structural_equal};
use isoform_onnx::facts::{Analysis, problems};
use isoform_onnx::ir::Program;
use isoform_onnx::{ExternalData, ExternalResolver, ImportOptions, SaveOptions};

use super::args::Favored;
use super::names::named;
use super::ports::{Ports, Restored};
use super::{computed, operators};
use crate::args::Common;
use crate::input::{Input, is_packed, load_with};
use crate::output::{Failure, counted};

/// The three versions.
pub(crate) struct Versions {
    pub(crate) base: Input,
    pub(crate) left: Input,
    pub(crate) right: Input,
}

/// A merge of three versions.
pub(crate) struct Merged {
    pub(crate) merge: Merge,
    /// The inputs and outputs of models.
    pub(super) ports: Option<Ports>,
    /// None if conflicts are left, or the value would be invalid.
    pub(crate) value: Option<Value>,
    /// The reason why the merged model would be wrong or no model at all.
    pub(crate) invalid: Option<String>,
    /// Remarks on the result, for people.
    pub(crate) notes: Vec<String>,
}

/// Reads three files in parallel; the failures of all files are returned.
pub(crate) fn read<'f>(
    files: [&'f Path; 3],
    common: &Common,
    external_data: ExternalData,
) -> std::result::Result<Versions, Vec<(&'f Path, Failure)>> {
    // Callers feed a model by the names of its inputs, so these names are merged, too.
    let common = Common {
        io_names: true,
        ..common.clone()
    };
    let load = |file: &Path| load_with(file, &common, external_data);
    let [base, left, right] = files;
    let (base_read, (left_read, right_read)) =
        rayon::join(|| load(base), || rayon::join(|| load(left), || load(right)));
    match (base_read, left_read, right_read) {
        (Ok(base), Ok(left), Ok(right)) => Ok(Versions { base, left, right }),
        (base, left, right) => {
            let failures = [base.err(), left.err(), right.err()];
            let pairs = files.into_iter().zip(failures);
            Err(pairs
                .filter_map(|(file, failure)| Some((file, failure?)))
                .collect())
        }
    }
}

impl Versions {
    fn programs(&self) -> Option<[Ref<Program>; 3]> {
        Some([
            self.base.program()?,
            self.left.program()?,
            self.right.program()?,
        ])
    }

    /// The reason why the versions cannot be merged.
    pub(crate) fn refusal(&self) -> Option<String> {
        let inputs = [&self.base, &self.left, &self.right];
        let models = inputs
            .iter()
            .filter(|input| input.model().is_some())
            .count();
        (models % inputs.len() != 0).then(|| {
            "some of the three files are ONNX models and others are not; convert them with 'isoform convert' first".to_owned()
        })
    }

    /// Merges the versions, and checks the result.
    ///
    /// # Errors
    ///
    /// As [`isoform::compare::merge`].
    pub(crate) fn merge(&self, favored: Option<Favored>, checks_nodes: bool) -> Result<Merged> {
        let options = DiffOptions {
            compare: Common::default().compare_options(),
            ..DiffOptions::default()
        };
        let ports = self.programs().map(Ports::new).transpose()?;
        let mut notes = self.notes();
        let [base, left, right] = if let Some(ports) = &ports {
            notes.extend(ports.notes());
            ports.values()
        } else {
            let values = [&self.base, &self.left, &self.right].map(Input::to_value);
            let base = base_with_hints(&options, &values, &mut notes)?;
            let [_, left, right] = values;
            [base, left, right]
        };
        let merge = options.merge(base.clone(), left, right)?;
        let mut merged = Merged {
            value: None,
            invalid: None,
            notes,
            ports,
            merge,
        };
        let merge = &merged.merge;
        let value = match favored {
            // An unchanged side has no say in the result, so nothing but the base has its hints.
            _ if merge.right().is_empty() => merge.left().apply(&base)?,
            _ if merge.left().is_empty() => merge.right().apply(&base)?,
            _ if merge.is_clean() => merge.merged().clone(),
            Some(favored) => merge.resolve(|_| Ok(favored.resolution()))?,
            None => return Ok(merged),
        };
        let restored = merged.ports.as_ref();
        let restored = restored.map(|ports| ports.restored(&value, favored));
        match (self.programs(), restored.transpose()?) {
            (Some(programs), Some(restored)) => {
                merged.finish(restored, programs.each_ref(), checks_nodes)?;
            }
            _ => merged.value = Some(value),
        }
        Ok(merged)
    }

    fn notes(&self) -> Vec<String> {
        let versions = [
            ("BASE", &self.base),
            ("LEFT", &self.left),
            ("RIGHT", &self.right),
        ];
        let note = |(name, input): (&str, &Input)| {
            let dropped = input.model()?.counts().dropped;
            let nodes = counted(dropped, "node");
            (dropped > 0)
                .then(|| format!("{name}: {nodes} that no output needs are not in the result"))
        };
        versions.into_iter().filter_map(note).collect()
    }
}

/// The base with the hints that one side gave its parts: names of variables, positions in a
/// source text, and other fields that comparison ignores. Those of the left side, unless
/// the right side alone changed hints. As four differences at most.
///
/// # Errors
///
/// As [`DiffOptions::diff`].
fn base_with_hints(
    options: &DiffOptions,
    [base, left, right]: &[Value; 3],
    notes: &mut Vec<String>,
) -> Result<Value> {
    let has_hints = |side: &Value| -> Result<bool> {
        let built = options.diff(base.clone(), side.clone())?.apply(base)?;
        Ok(to_bytes(&built)? != to_bytes(side)?)
    };
    let side = match (has_hints(left)?, has_hints(right)?) {
        (false, false) => return Ok(base.clone()),
        (false, true) => right,
        (true, is_clash) => {
            if is_clash {
                let note = "both sides changed names or other fields that comparison ignores; those of LEFT are kept";
                notes.push(note.to_owned());
            }
            left
        }
    };
    options.diff(side.clone(), base.clone())?.apply(side)
}

impl Merged {
    /// Gives a merged model its names, and accepts it if it can be written.
    fn finish(
        &mut self,
        restored: Restored,
        versions: [&Ref<Program>; 3],
        checks_nodes: bool,
    ) -> Result<()> {
        let named = named(&restored, versions)?;
        self.notes.extend(named.notes);
        if named.clashes > 0 {
            let names = match named.clashes {
                1 => "1 name or description".to_owned(),
                count => format!("{count} names or descriptions"),
            };
            self.notes.push(format!(
                "{names} changed in different ways on both sides; those of LEFT are kept"
            ));
        }
        let [_, left, right] = versions;
        let faults = match restored.fault.clone().or(named.overlap) {
            // A resolution may choose what neither side alone has.
            None if self.merge.is_clean() => match operators::clash(&self.merge) {
                None => self.output_fault(&restored)?,
                clash => clash,
            },
            fault => fault,
        };
        self.invalid = match faults {
            Some(reason) => Some(reason),
            None => fault(&named.program, [left, right], checks_nodes)?,
        };
        if self.invalid.is_none() {
            self.value = Some(named.program.into());
        }
        Ok(())
    }

    /// The reason why an output is not that of its versions; adds remarks on new outputs.
    fn output_fault(&mut self, restored: &Restored) -> Result<Option<String>> {
        let computed = self.ports.as_ref().map(|ports| ports.computed(restored));
        let Some(computed) = computed.transpose()? else {
            return Ok(None);
        };
        let (fault, notes) = computed::fault(&computed);
        self.notes.extend(notes);
        Ok(fault)
    }
}

/// The reason why a program is not a valid model, or None: it has to be written and read
/// again as the same program, and its outputs have the declared types, unless those of a
/// side have others, too.
fn fault(
    program: &Ref<Program>,
    sides: [&Ref<Program>; 2],
    checks_nodes: bool,
) -> Result<Option<String>> {
    let model = match SaveOptions::default().check(checks_nodes).to_proto(program) {
        Ok(model) => model,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let options = ImportOptions::default().io_names(!program.io_names.is_empty());
    let again = match options.import(&model, &ExternalResolver::none()) {
        Ok(again) => again,
        Err(error) => return Ok(Some(error.to_string())),
    };
    if !structural_equal(again.program(), program)? {
        let reason = "read again, the written model would be another program";
        return Ok(Some(reason.to_owned()));
    }
    let known: Vec<String> = sides
        .into_iter()
        .flat_map(|side| wrong_types(side))
        .collect();
    Ok(wrong_types(program)
        .into_iter()
        .find(|problem| !known.contains(problem)))
}

/// The outputs of a model whose declared type contradicts the computation.
fn wrong_types(program: &Program) -> Vec<String> {
    let mut analysis = Analysis::of_program(program);
    let problems = problems(&mut analysis, &program.graph);
    problems.iter().map(ToString::to_string).collect()
}

/// Fails if the merged file could not have the format of the left one.
pub(crate) fn check_form(file: &Path, left: &Input) -> std::result::Result<(), Failure> {
    if let Input::Value(value) = left
        && value.tensors.is_some()
    {
        return Err(format!(
            "isoform merges {} files, but does not write them; convert the three files first, for example to .isob",
            value.form_name()
        )
        .into());
    }
    if is_packed(file) {
        let reason = "the file is compressed, and isoform writes no compressed files; unpack the three files first";
        return Err(reason.into());
    }
    Ok(())
}
