//! `isoform clones`: finds parts that occur several times inside programs.

mod names;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use isoform::compare::{Duplicate, RepeatedBlock, duplicates, repeated_blocks};
use isoform::traverse::Uses;
use isoform::{Obj, Ref, Value};
use isoform_corpus::Index;
use isoform_page::Page;
use serde_json::{Value as Json, json};

use names::Names;

pub(crate) use names::{excerpt, node_of, operator};

use crate::args::{ClonesArgs, Common};
use crate::corpus;
use crate::input::{Input, is_dash, load_complete, message};
use crate::output::{Failure, Output, counted, printable};
use crate::pages::commands::{RepeatCounts, RepeatedPart, page_of_clones};
use crate::pages::file::title_of;
use crate::parallel::in_order;
use crate::progress;

/// Places printed of one group; JSON has all.
const PLACES: usize = 8;
/// Places of one group on a page.
const PAGE_PLACES: usize = 500;
/// Operators printed of one block.
const OPERATORS: usize = 12;

/// A file that was read.
struct Program<'f> {
    file: &'f PathBuf,
    value: Value,
    names: Names,
}

/// A block or subterm that occurs several times.
struct Group {
    kind: &'static str,
    size: u64,
    saved: u64,
    text: String,
    places: Vec<Place>,
    /// The nodes of the first copy of a block; the subterm.
    copy: Vec<Ref<Obj>>,
}

/// An occurrence: the number of the program, and the found nodes.
struct Place {
    program: usize,
    /// The first and the last node, or the subterm.
    objects: Vec<Ref<Obj>>,
}

pub(crate) fn run(
    args: &ClonesArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let files: Vec<&std::path::Path> = args.files.iter().map(AsRef::as_ref).collect();
    let page = match args.page.check(args.force, &files, output) {
        Ok(page) => page,
        Err((file, failure)) => return output.failed_file(file, &failure),
    };
    if let [path] = &args.files[..]
        && Index::is_index(path)
    {
        if page.is_some() {
            let failure = "--html needs the models; an index only has the digests of their blocks";
            return output.failed_file(path, &failure.into());
        }
        return corpus::clones(path, args, output);
    }
    let (mut programs, failures) = read(args, common, output);
    for (file, failure) in &failures {
        output.failure(file, failure);
    }
    let values: Vec<Value> = programs
        .iter()
        .map(|program| program.value.clone())
        .collect();
    let result = repeated_blocks(&values, args.min_size, args.min_count).and_then(|blocks| {
        let subterms = duplicates(&values, args.min_size as u64, args.min_count)?;
        Ok((blocks, subterms))
    });
    let (blocks, subterms) = match result {
        Ok(repeats) => repeats,
        Err(error) => {
            // Comparison fails because of the contents of a file. The error is reported
            // for the first file, because the failing file is unknown.
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
    let groups = groups(args, &blocks, &subterms, &mut programs);
    if let Some(page) = page {
        page.write(&page_of(args, &groups, counts, &mut programs), output)?;
        if args.page.is_output() {
            return Ok(());
        }
    }
    if output.json {
        return write_json(&groups, counts, &mut programs, &failures, output);
    }
    for group in &groups {
        write_group(group, &mut programs, output)?;
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

/// The groups to print: the largest blocks, then the largest subterms.
fn groups(
    args: &ClonesArgs,
    blocks: &[RepeatedBlock],
    subterms: &[Duplicate],
    programs: &mut [Program<'_>],
) -> Vec<Group> {
    let mut groups: Vec<Group> = blocks.iter().take(args.max).map(of_block).collect();
    let mut shown = 0;
    for group in subterms {
        if shown == args.max {
            break;
        }
        let group = of_subterm(group, programs);
        if group.size >= args.min_size as u64 {
            groups.push(group);
            shown += 1;
        }
    }
    groups
}

fn page_of(
    args: &ClonesArgs,
    groups: &[Group],
    (blocks, subterms): (usize, usize),
    programs: &mut [Program<'_>],
) -> Page {
    let parts = groups.iter().map(|group| repeated(group, programs));
    let parts: Vec<RepeatedPart> = parts.collect();
    let names: Vec<String> = args.files.iter().map(|file| title_of(file)).collect();
    let counts = RepeatCounts {
        files: programs.len(),
        blocks,
        subterms,
    };
    page_of_clones(names.join(", "), &parts, &counts)
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
            let is_model = matches!(input, Input::Model(_));
            bar.inc(1);
            Ok((value, Names::new(uses, is_model)))
        },
        |file, result| {
            match result {
                Ok((value, names)) => programs.push(Program { file, value, names }),
                Err(failure) => failures.push((*file, failure)),
            }
            ControlFlow::<()>::Continue(())
        },
    );
    debug_assert_eq!(flow, ControlFlow::Continue(()));
    bar.finish_and_clear();
    (programs, failures)
}

fn of_block(block: &RepeatedBlock) -> Group {
    let nodes = block.places.first().map_or(&[][..], |(_, nodes)| nodes);
    let places = block.places.iter().map(|(program, nodes)| {
        let ends: Vec<&Ref<Obj>> = match &nodes[..] {
            [first, .., last] => vec![first, last],
            nodes => nodes.iter().collect(),
        };
        place(*program, &ends)
    });
    Group {
        kind: "block",
        size: block.size() as u64,
        saved: block.saved() as u64,
        text: operators(nodes),
        places: places.collect(),
        copy: nodes.to_vec(),
    }
}

fn of_subterm(group: &Duplicate, programs: &mut [Program<'_>]) -> Group {
    let members = group.members.iter();
    let places = members.map(|(program, member)| place(*program, &[member]));
    let (mut size, mut text) = (0, String::new());
    if let Some((program, member)) = group.members.first() {
        text = programs[*program].names.text(member);
    }
    if let Some((program, member)) = group.members.iter().take(2).next_back() {
        size = programs[*program].names.own_nodes(member);
    }
    Group {
        kind: "subterm",
        size: size as u64,
        saved: group.saved,
        text,
        places: places.collect(),
        copy: group
            .members
            .first()
            .map(|(_, member)| member.clone())
            .into_iter()
            .collect(),
    }
}

/// A group for the page.
fn repeated(group: &Group, programs: &mut [Program<'_>]) -> RepeatedPart {
    let many = programs.len() > 1;
    let mut files: Vec<usize> = group.places.iter().map(|place| place.program).collect();
    files.sort_unstable();
    files.dedup();
    let places = group.places.iter().take(PAGE_PLACES).map(|place| {
        let ends = ends(place, programs);
        if many {
            format!("{}: {ends}", programs[place.program].file.display())
        } else {
            ends
        }
    });
    let places = places.collect();
    let program = group.places.first().map_or(0, |place| place.program);
    RepeatedPart {
        kind: group.kind,
        size: group.size,
        saved: group.saved,
        text: group.text.clone(),
        count: group.places.len(),
        files: files.len(),
        places,
        program,
        value: programs[program].value.clone(),
        copy: group.copy.clone(),
    }
}

/// The first and the last node of a place, or the subterm.
fn ends(place: &Place, programs: &mut [Program<'_>]) -> String {
    let names = &mut programs[place.program].names;
    let ends = place.objects.iter().map(|object| names.end(object));
    ends.collect::<Vec<_>>().join(" … ")
}

fn place(program: usize, objects: &[&Ref<Obj>]) -> Place {
    Place {
        program,
        objects: objects.iter().map(|object| (*object).clone()).collect(),
    }
}

/// The operators of a run of nodes, neighbours that are the same counted.
fn operators(nodes: &[Ref<Obj>]) -> String {
    let mut runs: Vec<(String, usize)> = Vec::new();
    for node in nodes {
        let name = names::operator(node);
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

/// Writes a group. The name of a file is written only where it changes, and never if
/// there is only one file.
fn write_group(
    group: &Group,
    programs: &mut [Program<'_>],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let strong = output.style.strong;
    let (kind, size, count) = (group.kind, group.size, group.places.len());
    let head = format!("{kind} of {size} nodes, {count} times");
    output.line(format_args!(
        "{strong}{head}{strong:#}  {}",
        printable(&group.text)
    ))?;
    let mut last = None;
    let indent = if programs.len() > 1 { "    " } else { "  " };
    for place in group.places.iter().take(PLACES) {
        if programs.len() > 1 && last != Some(place.program) {
            let file = programs[place.program].file.display().to_string();
            output.line(format_args!("  {}", printable(&file)))?;
            last = Some(place.program);
        }
        let ends = ends(place, programs);
        output.line(format_args!("{indent}{}", printable(&ends)))?;
    }
    match count.saturating_sub(PLACES) {
        0 => Ok(()),
        more => output.faint(&format!("{indent}and {more} more")),
    }
}

fn write_json(
    groups: &[Group],
    counts: (usize, usize),
    programs: &mut [Program<'_>],
    failures: &[(&PathBuf, Failure)],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let mut listed: HashMap<&str, Vec<Json>> = HashMap::new();
    for group in groups {
        let places = group.places.iter().map(|place| {
            let program = &mut programs[place.program];
            let file = program.file.to_string_lossy();
            let names = &mut program.names;
            let objects = place.objects.iter();
            let ends: Vec<String> = objects.clone().map(|object| names.end(object)).collect();
            let paths: Vec<Option<String>> = objects.map(|object| names.path(object)).collect();
            json!({"file": file, "ends": ends, "paths": paths})
        });
        let places: Vec<Json> = places.collect();
        listed.entry(group.kind).or_default().push(json!({
            "size": group.size,
            "saved": group.saved,
            "text": group.text,
            "places": places,
        }));
    }
    let beginnings = programs.iter().map(|program| {
        let places = program.names.beginnings();
        json!({"file": program.file.to_string_lossy(), "places": places})
    });
    let beginnings: Vec<Json> = beginnings.collect();
    let failed = failures.iter().map(|(file, failure)| failure.json(file));
    output.json_line(&json!({
        "blocks": listed.remove("block").unwrap_or_default(),
        "subterms": listed.remove("subterm").unwrap_or_default(),
        "programs": beginnings,
        "counts": {"programs": programs.len(), "blocks": counts.0, "subterms": counts.1},
        "failed": failed.collect::<Vec<Json>>(),
    }))
}
