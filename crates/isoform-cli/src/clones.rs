//! `isoform clones`: finds what occurs several times inside programs.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use isoform::compare::{Duplicate, RepeatedBlock, duplicates, repeated_blocks};
use isoform::ir::Op;
use isoform::objects::field_value;
use isoform::text::TextOptions;
use isoform::traverse::{Uses, WalkResult, walk_objects};
use isoform::types::Kind;
use isoform::{Obj, Ref, Value};
use isoform_onnx::ir::{Call, Function, Graph, Output as CallOutput};
use serde_json::{Value as Json, json};

use crate::args::{ClonesArgs, Common};
use crate::input::{Input, is_dash, load_complete, message};
use crate::output::{Failure, Output, counted, printable};
use crate::parallel::in_order;
use crate::progress;

/// Places printed of one group; JSON has all.
const PLACES: usize = 8;
/// Operators printed of one block.
const OPERATORS: usize = 12;
/// Levels printed of a subterm, and the width of its line.
const TEXT_DEPTH: usize = 3;
const TEXT_WIDTH: usize = 100;

/// A file that was read.
struct Program<'f> {
    file: &'f PathBuf,
    input: Input,
    value: Value,
    uses: Uses,
}

/// A block or subterm that occurs several times.
struct Group {
    kind: &'static str,
    size: u64,
    saved: u64,
    text: String,
    places: Vec<Place>,
}

/// An occurrence: the number of the program, and where it is there.
struct Place {
    program: usize,
    /// The first and the last node, or the subterm.
    ends: Vec<String>,
    paths: Vec<Option<String>>,
}

pub(crate) fn run(
    args: &ClonesArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let (programs, failures) = read(args, common, output);
    for (file, failure) in &failures {
        output.failure(file, failure);
    }
    let values: Vec<Value> = programs
        .iter()
        .map(|program| program.value.clone())
        .collect();
    let found = repeated_blocks(&values, args.min_size, args.min_count).and_then(|blocks| {
        let subterms = duplicates(&values, args.min_size as u64, args.min_count)?;
        Ok((blocks, subterms))
    });
    let (blocks, subterms) = match found {
        Ok(found) => found,
        Err(error) => {
            // Comparison fails for what a file holds, and the first one is as good as any.
            if let Some(program) = programs.first() {
                output.failure(program.file, &message(program.file, &error));
            }
            return Ok(());
        }
    };
    let is_large = |group: &Duplicate| {
        let others = group.members.len().saturating_sub(1) as u64;
        group.saved >= others.saturating_mul(args.min_size as u64)
    };
    let subterms: Vec<Duplicate> = subterms.into_iter().filter(is_large).collect();
    let counts = (blocks.len(), subterms.len());
    let blocks = blocks.iter().take(args.max);
    let subterms = subterms.iter();
    let groups: Vec<Group> = blocks
        .map(|block| of_block(block, &programs))
        .chain(
            subterms
                .map(|group| of_subterm(group, &programs))
                .filter(|group| group.size >= args.min_size as u64)
                .take(args.max),
        )
        .collect();
    if output.json {
        return write_json(&groups, counts, &programs, &failures, output);
    }
    for group in &groups {
        write_group(group, &programs, output)?;
    }
    if output.quiet {
        return Ok(());
    }
    output.line(format_args!(
        "{}, {}, {}, {} failed",
        counted(programs.len(), "program"),
        counted(counts.0, "repeated block"),
        counted(counts.1, "repeated subterm"),
        failures.len()
    ))
}

fn read<'f>(
    args: &'f ClonesArgs,
    common: &Common,
    output: &Output<'_, '_>,
) -> (Vec<Program<'f>>, Vec<(&'f PathBuf, Failure)>) {
    let (mut programs, mut failures) = (Vec::new(), Vec::new());
    let dashes = args.files.iter().filter(|file| is_dash(file)).count();
    let bar = progress::bar(args.files.len(), output.shows_progress());
    let files: Vec<&PathBuf> = args.files.iter().collect();
    let flow = in_order(
        &files,
        |file| {
            if is_dash(file) && dashes > 1 {
                return Err("standard input can be read only once".into());
            }
            let input = load_complete(file, common)?;
            let value = input.to_value();
            let uses = Uses::of(&value).map_err(|error| message(file, &error))?;
            bar.inc(1);
            Ok((input, value, uses))
        },
        |file, result| {
            match result {
                Ok((input, value, uses)) => programs.push(Program {
                    file,
                    input,
                    value,
                    uses,
                }),
                Err(failure) => failures.push((*file, failure)),
            }
            ControlFlow::<()>::Continue(())
        },
    );
    debug_assert_eq!(flow, ControlFlow::Continue(()));
    bar.finish_and_clear();
    (programs, failures)
}

fn of_block(block: &RepeatedBlock, programs: &[Program<'_>]) -> Group {
    let nodes = block.places.first().map_or(&[][..], |(_, nodes)| nodes);
    let places = block.places.iter().map(|(program, nodes)| {
        let ends: Vec<&Ref<Obj>> = match &nodes[..] {
            [first, .., last] => vec![first, last],
            nodes => nodes.iter().collect(),
        };
        place(*program, &ends, programs)
    });
    Group {
        kind: "block",
        size: block.size() as u64,
        saved: block.saved() as u64,
        text: operators(nodes),
        places: places.collect(),
    }
}

fn of_subterm(group: &Duplicate, programs: &[Program<'_>]) -> Group {
    let members = group.members.iter();
    let places = members.map(|(program, member)| place(*program, &[member], programs));
    let first = group.members.first();
    Group {
        kind: "subterm",
        size: own_nodes(group) as u64,
        saved: group.saved,
        text: first.map_or_else(String::new, |(program, member)| {
            match programs[*program].input.model() {
                Some(_) => operator(member),
                None => excerpt(member),
            }
        }),
        places: places.collect(),
    }
}

fn place(program: usize, objects: &[&Ref<Obj>], programs: &[Program<'_>]) -> Place {
    let read = &programs[program];
    let paths: Vec<_> = objects
        .iter()
        .map(|object| read.uses.path(&Value::from(*object)))
        .collect();
    let ends = paths.iter().zip(objects).map(|(path, object)| {
        let model = read.input.model();
        let origin = path
            .as_ref()
            .and_then(|path| Some(model?.node_at(path)?.to_string()));
        let path = path.as_ref().map(ToString::to_string);
        origin.or(path).unwrap_or_else(|| operator(object))
    });
    Place {
        program,
        ends: ends.collect(),
        paths: paths
            .iter()
            .map(|path| path.as_ref().map(ToString::to_string))
            .collect(),
    }
}

/// The number of nodes in a copy of a subterm that another copy does not share: those of a
/// dataflow graph, or else all objects but variables.
fn own_nodes(group: &Duplicate) -> usize {
    let mut known = HashSet::new();
    let (mut dataflow, mut all) = (0, 0);
    for (_, member) in group.members.iter().take(2) {
        (dataflow, all) = (0, 0);
        let walked = walk_objects(member, |object, _| {
            let info = object.type_info();
            if !info.is_builtin() && known.insert(object.identity()) {
                dataflow += usize::from(info.kind() == Kind::Dag);
                all += usize::from(info.kind() != Kind::Var);
            }
            Ok(WalkResult::<()>::Advance)
        });
        debug_assert!(walked.is_ok());
    }
    if dataflow > 0 { dataflow } else { all }
}

/// The operators of a run of nodes, neighbours that are the same counted.
fn operators(nodes: &[Ref<Obj>]) -> String {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for node in nodes {
        let name = operator(node);
        match runs.last_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => runs.push((name, 1)),
        }
    }
    let more = runs.len() > OPERATORS;
    runs.truncate(OPERATORS);
    let mut texts: Vec<String> = runs
        .into_iter()
        .map(|(name, count)| match count {
            1 => name,
            _ => format!("{name} × {count}"),
        })
        .collect();
    if more {
        texts.push("…".to_owned());
    }
    texts.join(", ")
}

/// The name of an object's operator, or else of its type.
fn operator(object: &Ref<Obj>) -> String {
    let call = match object.downcast_ref::<CallOutput>() {
        Some(made) => Some(&made.call),
        None => object.downcast_ref::<Call>(),
    };
    if let Some(call) = call {
        return match call.op_name.as_str() {
            "" => call.op.to_string(),
            name => name.to_owned(),
        };
    }
    if let Some(graph) = object.downcast_ref::<Graph>() {
        return format!("graph '{}'", graph.name);
    }
    if let Some(function) = object.downcast_ref::<Function>() {
        return format!("function '{}'", function.name);
    }
    let op = field_value(object, "op").ok();
    let op = op
        .as_ref()
        .and_then(|op| op.as_object()?.downcast_ref::<Op>());
    let key = object.type_info().key();
    op.map_or_else(
        || key.rsplit('.').next().unwrap_or(key).to_owned(),
        |op| op.name.to_string(),
    )
}

/// The start of a subterm as text.
fn excerpt(object: &Ref<Obj>) -> String {
    let options = TextOptions::default()
        .width(TEXT_WIDTH)
        .depth(TEXT_DEPTH)
        .metadata(false)
        .placeholders(true);
    let text = options.to_text(&Value::from(object));
    let text = text.unwrap_or_else(|_| operator(object));
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    match lines.next() {
        Some(_) => format!("{first} …"),
        None => first,
    }
}

fn write_group(
    group: &Group,
    programs: &[Program<'_>],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let strong = output.style.strong;
    let (kind, size, count) = (group.kind, group.size, group.places.len());
    let head = format!("{kind} of {size} nodes, {count} times");
    output.line(format_args!(
        "{strong}{head}{strong:#}  {}",
        printable(&group.text)
    ))?;
    for place in group.places.iter().take(PLACES) {
        let file = programs[place.program].file.display().to_string();
        let ends = place.ends.join(" … ");
        output.line(format_args!("  {}: {}", printable(&file), printable(&ends)))?;
    }
    match count.saturating_sub(PLACES) {
        0 => Ok(()),
        more => output.faint(&format!("  and {more} more")),
    }
}

fn write_json(
    groups: &[Group],
    counts: (usize, usize),
    programs: &[Program<'_>],
    failures: &[(&PathBuf, Failure)],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let place = |place: &Place| {
        json!({
            "file": programs[place.program].file.to_string_lossy(),
            "ends": place.ends,
            "paths": place.paths,
        })
    };
    let mut listed: HashMap<&str, Vec<Json>> = HashMap::new();
    for group in groups {
        listed.entry(group.kind).or_default().push(json!({
            "size": group.size,
            "saved": group.saved,
            "text": group.text,
            "places": group.places.iter().map(place).collect::<Vec<Json>>(),
        }));
    }
    let failed = failures
        .iter()
        .map(|(file, failure)| json!({"file": file.to_string_lossy(), "error": failure.message}));
    output.json_line(&json!({
        "blocks": listed.remove("block").unwrap_or_default(),
        "subterms": listed.remove("subterm").unwrap_or_default(),
        "counts": {"programs": programs.len(), "blocks": counts.0, "subterms": counts.1},
        "failed": failed.collect::<Vec<Json>>(),
    }))
}
