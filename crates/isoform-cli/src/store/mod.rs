//! `isoform store`: values, entries and sizes of a store.

pub(crate) mod args;

use std::collections::BTreeMap;
use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isoform::{Error, Result};
use isoform_onnx::WholeFile;
use isoform_store::{FileTotals, Limits, Name, Store, StoreOptions};
use serde_json::json;

use self::args::{
    EvictArgs, GetArgs, LsArgs, PlaceArgs, PutArgs, RmArgs, SizesArgs, StoreArgs, StoreCommand,
    VerifyArgs,
};
use crate::input::{is_dash, standard_input};
use crate::output::{DIFFERENT, Failure, Output, counted, printable};

/// The variable that names a store.
pub(crate) const VARIABLE: &str = "ISOFORM_STORE";

/// The size in bytes up to which the default folder grows.
const DEFAULT_SIZE: u64 = 10 << 30;

/// The result of a command: an error of the store, or the result of writing.
type Done = Result<io::Result<()>>;

pub(crate) fn run(args: &StoreArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    let done = match &args.command {
        StoreCommand::Put(args) => put(args, output),
        StoreCommand::Get(args) => get(args, output),
        StoreCommand::Ls(args) => list(args, output),
        StoreCommand::Sizes(args) => sizes(args, output),
        StoreCommand::Verify(args) => verify(args, output),
        StoreCommand::Evict(args) => evict(args, output),
        StoreCommand::Rm(args) => remove(args, output),
    };
    done.unwrap_or_else(|error| output.failed_file(Path::new("store"), &failure(&error)))
}

/// An error of a store, whose messages begin with the word "store".
pub(crate) fn failure(error: &Error) -> Failure {
    let message = error.message();
    message.strip_prefix("store ").unwrap_or(message).into()
}

impl PlaceArgs {
    /// The URL of the store, and true for the default folder.
    fn url(&self) -> Result<(String, bool)> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(url) = &self.store {
            return Ok((url.clone(), false));
        }
        if let Some(url) = set(VARIABLE) {
            let url = url.into_string();
            let url =
                url.map_err(|_| Error::value_error("the variable ISOFORM_STORE is not UTF-8"))?;
            return Ok((url, false));
        }
        let folder = |name, below| Some(PathBuf::from(set(name)?).join(below));
        let folder = folder("XDG_CACHE_HOME", "")
            .filter(|folder| folder.is_absolute())
            .or_else(|| folder("HOME", ".cache"))
            .or_else(|| folder("LOCALAPPDATA", ""));
        let folder = folder.map(|folder| folder.join("isoform").join("store"));
        let folder = folder.and_then(|folder| folder.into_os_string().into_string().ok());
        let url = folder.ok_or_else(|| {
            Error::value_error("the environment has no HOME; name a store with --store")
        })?;
        Ok((url, true))
    }

    pub(crate) fn open(&self) -> Result<Store> {
        let (url, is_default) = self.url()?;
        let mut options = StoreOptions::default();
        if is_default {
            options = options.max_bytes(DEFAULT_SIZE);
        }
        options.open(&url)
    }
}

fn put(args: &PutArgs, output: &mut Output<'_, '_>) -> Done {
    let store = args.place.open()?;
    for file in &args.files {
        let bytes = if is_dash(file) {
            standard_input()
        } else {
            std::fs::read(file).map_err(|error| error.to_string().into())
        };
        let written = match bytes {
            Ok(bytes) => {
                let name = store.put(&bytes)?.to_string();
                if output.json {
                    output.json_line(&json!({"file": file.to_string_lossy(), "name": name}))
                } else {
                    let file = file.display().to_string();
                    output.line(format_args!("{name}  {}", printable(&file)))
                }
            }
            Err(failure) => output.failed_file(file, &failure),
        };
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(Ok(()))
}

fn get(args: &GetArgs, output: &mut Output<'_, '_>) -> Done {
    let name: Name = args.name.parse()?;
    let Some(bytes) = args.place.open()?.get(&name)? else {
        return Ok(absent(&args.name, output));
    };
    let Some(file) = args.out.as_ref().filter(|file| !is_dash(file)) else {
        return Ok(output.bytes(&bytes));
    };
    let written = WholeFile::create(file).and_then(|mut whole| {
        whole.write_all(&bytes)?;
        whole.keep()
    });
    match written {
        Ok(()) => Ok(Ok(())),
        Err(error) => Ok(output.failed_file(file, &error.to_string().into())),
    }
}

/// Tells that the store lacks a name.
fn absent(name: &str, output: &mut Output<'_, '_>) -> io::Result<()> {
    let status = output.status.max(DIFFERENT);
    let told = output.failed_file(Path::new(name), &"the store has no such name".into());
    output.status = status;
    told
}

fn list(args: &LsArgs, output: &mut Output<'_, '_>) -> Done {
    let store = args.place.open()?;
    if !args.parts.is_empty() {
        let parts: Vec<(&str, &str)> = args.parts.iter().map(|(n, v)| (&**n, &**v)).collect();
        let found = store.find_entries(&parts)?;
        return Ok(found
            .into_iter()
            .try_for_each(|(name, key)| list_entry(&name, &key, output)));
    }
    for file in store.list()? {
        let file = file?;
        let (kind, name) = (file.kind.to_string(), file.name.to_string());
        let written = if output.json {
            let (size, used) = (file.size, file.used);
            output.json_line(&json!({"kind": kind, "name": name, "size": size, "used": used}))
        } else {
            output.line(format_args!("{kind}  {name}  {}", file.size))
        };
        if written.is_err() {
            return Ok(written);
        }
    }
    Ok(Ok(()))
}

fn list_entry(
    name: &Name,
    key: &BTreeMap<String, String>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let name = name.to_string();
    if output.json {
        return output.json_line(&json!({"name": name, "key": key}));
    }
    let parts = key.iter().map(|(part, value)| format!("{part}={value}"));
    let parts = parts.collect::<Vec<_>>().join("  ");
    output.line(format_args!("{name}  {}", printable(&parts)))
}

fn total(total: FileTotals) -> serde_json::Value {
    json!({"files": total.files, "bytes": total.bytes})
}

fn total_text(total: FileTotals) -> String {
    let files = usize::try_from(total.files).unwrap_or(usize::MAX);
    format!("{}, {} bytes", counted(files, "file"), total.bytes)
}

fn sizes(args: &SizesArgs, output: &mut Output<'_, '_>) -> Done {
    let sizes = args.place.open()?.sizes()?;
    if output.json {
        let (values, entries) = (total(sizes.values), total(sizes.entries));
        return Ok(output.json_line(&json!({"values": values, "entries": entries})));
    }
    let rows = [
        ("values", sizes.values),
        ("entries", sizes.entries),
        ("total", sizes.total()),
    ];
    Ok(rows
        .into_iter()
        .try_for_each(|(name, total)| output.line(format_args!("{name:<8} {}", total_text(total)))))
}

fn verify(args: &VerifyArgs, output: &mut Output<'_, '_>) -> Done {
    let store = args.place.open()?;
    let report = if args.repair {
        store.repair()?
    } else {
        store.verify()?
    };
    if report.removed < report.damage.len() as u64 {
        output.status = DIFFERENT;
    }
    if output.json {
        let damage = report.damage.iter();
        let damage = damage.map(|found| json!({"path": found.path, "reason": found.reason}));
        let foreign = report.foreign.iter();
        let foreign = foreign.map(|(path, version)| json!({"path": path, "version": version}));
        return Ok(output.json_line(&json!({
            "whole": report.whole,
            "bytes": report.bytes,
            "damage": damage.collect::<Vec<_>>(),
            "foreign": foreign.collect::<Vec<_>>(),
            "removed": report.removed,
        })));
    }
    let damage = report.damage.iter();
    let mut lines: Vec<String> = damage
        .map(|found| format!("{}: {}", found.path, found.reason))
        .collect();
    lines.extend(report.foreign.iter().map(|(path, version)| {
        format!("{path}: layout version {version} of a newer release of isoform")
    }));
    if !output.quiet {
        let damaged = report.damage.len();
        lines.push(format!(
            "{} whole, {damaged} damaged, {} removed",
            report.whole, report.removed
        ));
    }
    Ok(lines
        .iter()
        .try_for_each(|line| output.line(printable(line))))
}

fn evict(args: &EvictArgs, output: &mut Output<'_, '_>) -> Done {
    let limits = Limits {
        max_bytes: args.max_size,
        max_age: args.max_age,
        max_count: args.max_count,
    };
    let eviction = args.place.open()?.evict(&limits)?;
    if output.json {
        let (removed, kept) = (total(eviction.removed), total(eviction.kept));
        return Ok(output.json_line(&json!({"removed": removed, "kept": kept})));
    }
    if output.quiet {
        return Ok(Ok(()));
    }
    let rows = [("removed", eviction.removed), ("kept", eviction.kept)];
    Ok(rows
        .into_iter()
        .try_for_each(|(name, total)| output.line(format_args!("{name:<8} {}", total_text(total)))))
}

fn remove(args: &RmArgs, output: &mut Output<'_, '_>) -> Done {
    // A wrong name removes nothing.
    let names: Vec<Name> = args
        .names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<_>>()?;
    let store = args.place.open()?;
    for (text, name) in args.names.iter().zip(&names) {
        let (value, entry) = (store.remove(name)?, store.remove_entry_named(name)?);
        if !value && !entry {
            let told = absent(text, output);
            if told.is_err() {
                return Ok(told);
            }
        }
    }
    Ok(Ok(()))
}
