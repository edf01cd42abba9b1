//! `isoform cache`: runs a compiler for programs that it has not compiled before.
//!
//! | file | subject |
//! |---|---|
//! | `key.rs` | the key of a run: files, command line, executable, variables |
//! | `child.rs` | the command as a child process |
//! | `replay.rs` | the results of a run as one value, and writing them again |
//! | `record.rs`, `why.rs` | the record of a miss, and the search for its reason |

pub(crate) mod args;
mod bundle;
mod child;
mod key;
mod record;
mod replay;
mod why;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use isoform::{Error, Result};
use isoform_store::{Reservation, Store};

use self::args::{CacheArgs, CacheCommand, CacheRunArgs};
use self::child::{Ended, NOT_FOUND};
use self::key::{Run, Stamp, executable_of};
use self::replay::Results;
use crate::args::Common;
use crate::output::{Output, printable};
use crate::store::failure;

/// How long a run waits for another process that runs the command with the same inputs.
const PATIENCE: Duration = Duration::from_secs(600);

pub(crate) fn run(
    args: &CacheArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    match &args.command {
        CacheCommand::Run(args) => cached(args, common, output),
        CacheCommand::Why(args) => why::run(args, common, output),
    }
}

/// Replays the results of the command, or runs it.
fn cached(args: &CacheRunArgs, common: &Common, output: &mut Output<'_, '_>) -> io::Result<()> {
    if let Some(file) = args.outs.iter().find(|file| args.keys.contains(file)) {
        let reason = "the file is a key file and an output; write to another file";
        return output.failed_file(file, &reason.into());
    }
    let Some(executable) = executable_of(&args.command[0]) else {
        let reason = "the command is not found";
        output.failed_file(Path::new(&args.command[0]), &reason.into())?;
        output.status = NOT_FOUND;
        return Ok(());
    };
    let store = match args.place.open() {
        Ok(store) => store,
        Err(error) => {
            warn(&error, output);
            // The store in memory ends with this process.
            match Store::open("memory:") {
                Ok(store) => store,
                Err(error) => return output.failed_file(Path::new("store"), &failure(&error)),
            }
        }
    };
    let run = match Run::new(args, common, &executable, &store) {
        Ok(run) => run,
        Err((file, failure)) => return output.failed_file(&file, &failure),
    };
    let digest = run.key.digest().to_string();
    let mut lookup = look_up(args, &run, &store, output);
    let mut reservation = None;
    if matches!(lookup, Lookup::Absent) {
        // Another process may be running the command.
        reservation = reserve(&run, &digest, &store, output)?;
        // Old results in place of a file that changed meanwhile would look fresh.
        if run.changed_file().is_none() {
            lookup = look_up(args, &run, &store, output);
        }
    }
    if let Lookup::Written(results) = lookup {
        tell("hit", &digest, output);
        return results.replay(output);
    }
    tell("miss", &digest, output);
    let before: Vec<Option<Stamp>> = args.outs.iter().map(|file| Stamp::of(file)).collect();
    let ended = child::run(&args.command, output)?;
    output.status = ended.status;
    let finished = finish(args, &run, &ended, &before, &store, output);
    drop(reservation);
    finished
}

/// The results in the store.
enum Lookup {
    /// The output files are written.
    Written(Results),
    Absent,
    /// The store or the results are of no use, and the user knows.
    Useless,
}

fn look_up(args: &CacheRunArgs, run: &Run, store: &Store, output: &mut Output<'_, '_>) -> Lookup {
    let entry = match store.entry(&run.key) {
        Ok(entry) => entry,
        Err(error) => {
            warn(&error, output);
            return Lookup::Useless;
        }
    };
    let Some(results) = entry.and_then(|entry| Results::of_entry(&entry.value, args)) else {
        return Lookup::Absent;
    };
    if let Err((file, error)) = results.write_files(args) {
        let file = file.display();
        warn(&Error::value_error(format!("{file}: {error}")), output);
        return Lookup::Useless;
    }
    Lookup::Written(results)
}

/// Waits until no other process runs the command with these inputs; None after a long wait.
fn reserve(
    run: &Run,
    digest: &str,
    store: &Store,
    output: &mut Output<'_, '_>,
) -> io::Result<Option<Reservation>> {
    let reservation = store.reserve(&run.key, Duration::ZERO);
    if reservation.is_some() {
        return Ok(reservation);
    }
    tell("waiting for another run of", digest, output);
    output.flush()?;
    Ok(store.reserve(&run.key, PATIENCE))
}

/// Stores the results of a run that may be replayed.
fn finish(
    args: &CacheRunArgs,
    run: &Run,
    ended: &Ended,
    before: &[Option<Stamp>],
    store: &Store,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    let succeeded = ended.status == 0;
    if ended.was_interrupted || !(succeeded || args.failures) {
        return Ok(());
    }
    if succeeded && let Some(file) = args.outs.iter().find(|file| !file.is_file()) {
        let reason = "the command succeeded and did not write this output; nothing is stored";
        return output.failed_file(file, &reason.into());
    }
    let is_stale = |(file, before): &(&PathBuf, &Option<Stamp>)| {
        before.is_some() && Stamp::of(file) == **before
    };
    let reason = if let Some(file) = run.changed_file() {
        Some((file, "the file changed during the run"))
    } else {
        let stale = args.outs.iter().zip(before).find(is_stale);
        let stale = stale.filter(|_| succeeded);
        stale.map(|(file, _)| (&**file, "the command did not write this output"))
    };
    if !ended.is_complete {
        let reason = "a process that the command started may still write output";
        let message = format!("{reason}; nothing is stored");
        warn(&Error::value_error(message), output);
        return Ok(());
    }
    if let Some((file, reason)) = reason {
        let message = format!("{}: {reason}; nothing is stored", file.display());
        warn(&Error::value_error(message), output);
        return Ok(());
    }
    let stored = Results::of_run(args, ended).and_then(|results| store_run(run, &results, store));
    if let Err(error) = stored {
        warn(&error, output);
    }
    Ok(())
}

/// Stores the results, and records the miss for `isoform cache why`.
fn store_run(run: &Run, results: &Results, store: &Store) -> Result<()> {
    store.put_entry(&run.key, &record::entry_of(run, results.packed()?))?;
    record::miss(run, store)
}

fn tell(event: &str, digest: &str, output: &mut Output<'_, '_>) {
    if !output.quiet {
        let short = &digest[..12];
        output.aside(&format!("isoform cache: {event} {short}\n"));
    }
}

/// Warns in a line that the store cannot be used; the build goes on.
fn warn(error: &Error, output: &mut Output<'_, '_>) {
    let message = error
        .message()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    output.aside(&format!(
        "isoform cache: warning: {}\n",
        printable(&message)
    ));
}
