//! `isoform cache why`: the inputs that changed since the most similar run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use isoform::Result;
use isoform_store::{Entry, EntryKey, Name, Store};
use serde_json::{Value as Json, json};

use super::args::CacheWhyArgs;
use super::bundle::unpack;
use super::key::{JOB, files_text};
use super::record::{FILES, FOLDER, key_of_miss};
use crate::args::Common;
use crate::diff;
use crate::diff::args::{DiffArgs, LevelArgs, RunArgs};
use crate::input::types::TypeSources;
use crate::input::{Form, Input, decode};
use crate::model_args::FixArgs;
use crate::output::{Output, SUCCESS, printable};
use crate::store::failure;

/// The parts of a key by their names.
type Parts = BTreeMap<String, String>;

/// The number of runs with similar keys whose files and folders are compared, too.
const MAX_CANDIDATES: usize = 1000;

/// A part of the key that differs.
struct Change {
    part: String,
    nearest: Option<String>,
    missed: Option<String>,
}

pub(crate) fn run(
    args: &CacheWhyArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let told = explain(args, common, output);
    told.unwrap_or_else(|error| output.failed_file(Path::new("store"), &failure(&error)))
}

fn explain(
    args: &CacheWhyArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> Result<io::Result<()>> {
    let store = args.place.open()?;
    let files = (!args.keys.is_empty()).then(|| files_text(&args.keys));
    let record = store.entry(&key_of_miss(files.as_deref())?)?;
    let record = record.and_then(|entry| Some((serde_json::from_slice(&entry.value).ok()?, entry)));
    let Some((missed, record)): Option<(Parts, Entry)> = record else {
        let of_files = if files.is_some() {
            " with these key files"
        } else {
            ""
        };
        let reason = format!(
            "{} has no record of a miss in this folder{of_files}; `isoform cache run` records \
             misses of commands that succeed",
            store.description()
        );
        return Ok(output.failed_file(Path::new("store"), &reason.into()));
    };
    let nearest = nearest(&store, &missed, &record)?;
    let changes = changes(&missed, nearest.as_ref().map(|found| &found.key));
    if output.json {
        let changes: Vec<Json> = changes.iter().map(Change::json).collect();
        return Ok(output.json_line(&json!({
            "missed": missed,
            "nearest": nearest.map(|found| found.key),
            "changes": changes,
        })));
    }
    let files = file_names(&record);
    let strong = output.style.strong;
    let names = files.join(" ");
    let heading = format!("{strong}miss{strong:#} of {}", printable(&names));
    let Some(nearest) = nearest else {
        let text = "the store has no other run of this command to compare with";
        return Ok(output.line(format_args!("{heading}: {text}")));
    };
    let written = output.line(format_args!(
        "{heading}, compared with the run of {}",
        printable(&file_names(&nearest).join(" "))
    ));
    if written.is_err() {
        return Ok(written);
    }
    let programs = [
        programs_of(&store, &nearest)?,
        programs_of(&store, &record)?,
    ];
    for change in &changes {
        let written = match change.key_position() {
            Some(position) => {
                let file = files.get(position).map_or("", |file| file);
                let pair = programs.each_ref().map(|side| side.get(position));
                print_program(file, change, pair, args.max, common, output)?
            }
            None => change.print(output),
        };
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(Ok(()))
}

/// The most similar stored run: first a run of the same files or the same programs, then
/// the run with the fewest differing parts, then a run in the same folder, then the newest.
fn nearest(store: &Store, missed: &Parts, record: &Entry) -> Result<Option<Entry>> {
    let own = EntryKey::of_parts(missed.clone()).digest();
    let found = store.find_entries(&[("job", JOB)])?;
    let mut runs: Vec<(usize, Name)> = found
        .into_iter()
        .filter(|(name, _)| *name != own)
        .map(|(name, key)| (changes(missed, Some(&key)).len(), name))
        .collect();
    // Stable: the newest come first.
    runs.sort_by_key(|(distance, _)| *distance);
    let mut best = None;
    for (distance, name) in runs.into_iter().take(MAX_CANDIDATES) {
        let Some(entry) = store.entry_named(&name)? else {
            continue;
        };
        let differs = |name: &str| entry.metadata.get(name) != record.metadata.get(name);
        let changes = changes(missed, Some(&entry.key));
        let is_other_program =
            differs(FILES) && changes.iter().any(|change| change.key_position().is_some());
        let rank = (is_other_program, distance, differs(FOLDER));
        if best.as_ref().is_none_or(|(least, _)| rank < *least) {
            best = Some((rank, entry));
        }
    }
    Ok(best.map(|(_, entry)| entry))
}

/// The parts of two keys that differ, in the order of their names.
fn changes(missed: &Parts, nearest: Option<&Parts>) -> Vec<Change> {
    let Some(nearest) = nearest else {
        return Vec::new();
    };
    let names: BTreeSet<&String> = missed.keys().chain(nearest.keys()).collect();
    let changes = names.into_iter().map(|name| Change {
        part: name.strip_prefix("option.").unwrap_or(name).to_owned(),
        nearest: nearest.get(name).cloned(),
        missed: missed.get(name).cloned(),
    });
    changes
        .filter(|change| change.nearest != change.missed)
        .collect()
}

/// The names of the key files of a run.
fn file_names(entry: &Entry) -> Vec<String> {
    let files = entry.metadata.get(FILES).map_or("[]", String::as_str);
    let files: Vec<Json> = serde_json::from_str(files).unwrap_or_default();
    files.iter().map(word_text).collect()
}

/// The key programs of a run, empty for files that are not programs; nothing if the store
/// has lost them.
fn programs_of(store: &Store, entry: &Entry) -> Result<Vec<Bytes>> {
    let packed = match entry.program {
        Some(name) => store.get(&name)?,
        None => None,
    };
    let unpacked = packed.and_then(|packed| unpack::<()>(&packed));
    Ok(unpacked.map(|((), programs)| programs).unwrap_or_default())
}

impl Change {
    fn json(&self) -> Json {
        json!({"part": self.part, "nearest": self.nearest, "missed": self.missed})
    }

    /// The position of the key file, counted from 0.
    fn key_position(&self) -> Option<usize> {
        let position: usize = self.part.strip_prefix("key.")?.parse().ok()?;
        position.checked_sub(1)
    }

    fn print(&self, output: &mut Output<'_, '_>) -> io::Result<()> {
        let sides = [&self.nearest, &self.missed];
        let (name, [old, new]) = if self.part == "command" {
            ("arguments".to_owned(), differing_words(sides))
        } else if let Some(name) = self.part.strip_prefix("env.") {
            (
                format!("variable {name}"),
                sides.map(|side| variable_text(side.as_deref())),
            )
        } else {
            let name = match self.part.strip_prefix("argument.") {
                Some(file) => format!("file {file}"),
                None if self.part == "compiler" => "executable of the command".to_owned(),
                None => self.part.clone(),
            };
            let text = |side: &Option<String>| side.as_deref().map_or("absent", short).to_owned();
            (name, sides.map(text))
        };
        let (left, right) = (output.style.left, output.style.right);
        output.line(format_args!(
            "{} changed: {left}{}{left:#} -> {right}{}{right:#}",
            printable(&name),
            printable(&old),
            printable(&new)
        ))
    }
}

/// The start of a digest after its kind, or the text.
fn short(text: &str) -> &str {
    let digits = text.rsplit(' ').next().unwrap_or(text);
    let is_digest = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        &text[..text.len() - 52]
    } else {
        text
    }
}

fn variable_text(value: Option<&str>) -> String {
    match value.map(|value| value.strip_prefix('=').unwrap_or("\"unset\"")) {
        Some(json) => {
            serde_json::from_str(json).map_or_else(|_| json.to_owned(), |v: Json| word_text(&v))
        }
        None => "not part of the key".to_owned(),
    }
}

/// The words of two command lines without the same words at both ends.
fn differing_words(sides: [&Option<String>; 2]) -> [String; 2] {
    let [old, new] = sides.map(|side| {
        let words: Vec<Json> =
            serde_json::from_str(side.as_deref().unwrap_or("[]")).unwrap_or_default();
        words.iter().map(word_text).collect::<Vec<String>>()
    });
    let start = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[start..], &new[start..]);
    let ends = old.iter().rev().zip(new.iter().rev());
    let end = ends.take_while(|(old, new)| old == new).count();
    [old, new].map(|words| match &words[..words.len() - end] {
        [] => "nothing".to_owned(),
        words => words.join(" "),
    })
}

/// A word of a command line for people.
fn word_text(word: &Json) -> String {
    let number = |name: &str| word.get(name).and_then(Json::as_u64);
    match word {
        Json::String(text) => text.clone(),
        _ => match (
            number("key"),
            number("out"),
            word.get("option"),
            word.get("path"),
        ) {
            (Some(key), ..) => format!("<key file {key}>"),
            (_, Some(out), ..) => format!("<output {out}>"),
            (_, _, Some(option), Some(path)) => {
                format!("{}={}", word_text(option), word_text(path))
            }
            _ => word.to_string(),
        },
    }
}

/// Prints how a program changed.
fn print_program(
    file: &str,
    change: &Change,
    pair: [Option<&Bytes>; 2],
    max: usize,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> Result<io::Result<()>> {
    let inputs = pair.map(|bytes| {
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        bytes.and_then(|bytes| input_of(bytes, &common.types))
    });
    let [Some(left), Some(right)] = inputs else {
        let sides =
            [&change.nearest, &change.missed].map(|side| side.as_deref().map_or("absent", short));
        let [old, new] = sides;
        return Ok(output.line(format_args!("{} changed: {old} -> {new}", printable(file))));
    };
    let heading = output.line(format_args!("{} changed:", printable(file)));
    if heading.is_err() {
        return Ok(heading);
    }
    let args = DiffArgs {
        model_explorer: None,
        left: PathBuf::new(),
        right: PathBuf::new(),
        max,
        wide: false,
        stat: false,
        first: false,
        html: None,
        force: false,
        format: None,
        levels: LevelArgs {
            // The key tells apart what the digest tells apart.
            strict: true,
            ..LevelArgs::default()
        },
        fix: FixArgs::default(),
        simplify: false,
        run: RunArgs::default(),
    };
    let written = diff::compared(&args, common, left, right, output)?;
    output.status = SUCCESS;
    Ok(written)
}

fn input_of(bytes: &Bytes, types: &TypeSources) -> Option<Input> {
    decode(Form::Binary, bytes.clone(), Path::new("program"), types).ok()
}
