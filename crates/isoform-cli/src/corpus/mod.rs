//! `isoform index`, `stats` and `find`: collections of models.

pub(crate) mod args;
mod engine;
mod groups;
mod inspect;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use indicatif::{HumanBytes, ProgressBar};
use isoform::Error;
use isoform_corpus::{Index, Row, UpdateReport, count_files, update_index};
use serde_json::{Value as Json, json};

use self::args::{FindArgs, IndexArgs, StatsArgs};
use self::engine::{Engine, Progress};
use crate::args::Common;
use crate::hash::digest;
use crate::imports::RunOptions;
use crate::input::message;
use crate::output::{DIFFERENT, Failure, Output, counted, printable};
use crate::progress;

pub use self::engine::IndexRequest;
pub(crate) use self::groups::{clones, dedup};
pub use self::inspect::ModelInspector;

pub(crate) fn index(
    args: &IndexArgs,
    common: &Common,
    host: &RunOptions<'_>,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if common.architecture || common.io_names {
        let failure = "an index has both digests, with and without weights; leave out --architecture and --io-names";
        return output.failed_file(&args.output, &failure.into());
    }
    let inspector = ModelInspector::default().follow_links(common.follow_links);
    let bar = progress::bar_of(0, output.shows_progress(), "files");
    let report = watched(&bar, args, &inspector, |progress| match &args.engine {
        Engine::Local => {
            let threads = match args.jobs {
                Some(jobs) => usize::from(jobs),
                None => thread::available_parallelism().map_or(1, usize::from),
            };
            let report = update_index(&args.roots, &args.output, &inspector, threads, |report| {
                progress(report);
                Ok(())
            });
            report.map_err(|error| message(&args.output, &error))
        }
        Engine::Ray(address) => {
            let mut request = IndexRequest::new(args.output.clone(), progress);
            request.roots.clone_from(&args.roots);
            request.jobs = args.jobs.map(usize::from);
            request.follow_links = common.follow_links;
            request.address.clone_from(address);
            host.index_with_ray(&request)
        }
    });
    bar.finish_and_clear();
    let report = match report {
        Ok(report) => report,
        Err(failure) => return output.failed_file(&args.output, &failure),
    };
    if output.json {
        return output.json_line(&json!({
            "rows": report.rows,
            "read": report.read,
            "kept": report.kept,
            "failed": report.failed,
            "bytes": report.bytes,
        }));
    }
    if output.quiet {
        return Ok(());
    }
    let index = args.output.display().to_string();
    let reasons = match report.failed {
        0 => "",
        _ => " (the column `error` has the reasons)",
    };
    output.line(format_args!(
        "{}: {}, {} read ({}), {} kept, {} failed{reasons}",
        printable(&index),
        counted(number(report.rows), "row"),
        report.read,
        HumanBytes(report.bytes),
        report.kept,
        report.failed,
    ))
}

/// Runs an update with a progress bar. Another thread counts the files meanwhile, so that
/// the bar can tell the time left.
fn watched(
    bar: &ProgressBar,
    args: &IndexArgs,
    inspector: &ModelInspector,
    update: impl FnOnce(Progress) -> Result<UpdateReport, Failure>,
) -> Result<UpdateReport, Failure> {
    if bar.is_hidden() {
        return update(Arc::new(|_| ()));
    }
    let begin = Instant::now();
    let total = Arc::new(AtomicU64::new(0));
    let show = {
        let (bar, total) = (bar.clone(), Arc::clone(&total));
        move |report: &UpdateReport| {
            bar.set_length(total.load(Ordering::Relaxed));
            bar.set_position(report.read + report.kept);
            let seconds = begin.elapsed().as_secs_f64().max(0.001);
            let rate = report.bytes as f64 / seconds;
            let failed = match report.failed {
                0 => String::new(),
                failed => format!(", {failed} failed"),
            };
            bar.set_message(format!("{}/s{failed}", HumanBytes(rate as u64)));
        }
    };
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let roots = match (args.roots.is_empty(), Index::open(&args.output)) {
                (true, Ok(index)) => index.roots().unwrap_or_default(),
                _ => args.roots.clone(),
            };
            let count = count_files(&roots, inspector, &|| is_done.load(Ordering::Relaxed));
            total.store(count, Ordering::Relaxed);
        });
        let report = update(Arc::new(show));
        is_done.store(true, Ordering::Relaxed);
        report
    })
}

pub(crate) fn stats(args: &StatsArgs, output: &mut Output<'_, '_>) -> io::Result<()> {
    let numbers = Index::open(&args.index).and_then(|index| index.statistics());
    let numbers = match numbers {
        Ok(numbers) => numbers,
        Err(error) => return output.failed_file(&args.index, &message(&args.index, &error)),
    };
    let mut operators: Vec<(&String, &(u64, u64))> = numbers.operators.iter().collect();
    operators.sort_by(|left, right| right.1.cmp(left.1).then_with(|| left.0.cmp(right.0)));
    if output.json {
        let kinds = numbers.kinds.iter();
        let kinds = kinds
            .map(|(kind, (files, bytes))| json!({"kind": kind, "files": files, "bytes": bytes}));
        let uses = operators.iter();
        let uses = uses.map(
            |(operator, (files, uses))| json!({"operator": operator, "files": files, "uses": uses}),
        );
        let opsets = numbers.opsets.iter();
        let opsets = opsets.map(|((domain, version), files)| json!({"domain": domain, "version": version, "files": files}));
        return output.json_line(&json!({
            "files": numbers.files,
            "failed": numbers.failed,
            "bytes": numbers.bytes,
            "programs": numbers.programs,
            "architectures": numbers.architectures,
            "kinds": kinds.collect::<Json>(),
            "elements": numbers.elements,
            "operators": uses.collect::<Json>(),
            "opsets": opsets.collect::<Json>(),
        }));
    }
    output.line(format_args!(
        "{}, {}, {} programs, {} architectures, {} failed",
        counted(number(numbers.files), "file"),
        HumanBytes(numbers.bytes),
        numbers.programs,
        numbers.architectures,
        numbers.failed,
    ))?;
    let kinds = numbers.kinds.iter().map(|(kind, (files, bytes))| {
        [
            kind.clone(),
            counted(number(*files), "file"),
            HumanBytes(*bytes).to_string(),
        ]
    });
    table("kinds", kinds.collect(), output)?;
    let elements = numbers.elements.iter();
    let elements = elements.map(|(dtype, count)| [dtype.clone(), count.to_string(), String::new()]);
    table("elements of weights", elements.collect(), output)?;
    let opsets = numbers.opsets.iter().map(|((domain, version), files)| {
        [
            format!("{domain} {version}"),
            counted(number(*files), "file"),
            String::new(),
        ]
    });
    table("operator sets", opsets.collect(), output)?;
    let more = operators.len().saturating_sub(args.max);
    let uses = operators
        .iter()
        .take(args.max)
        .map(|(operator, (files, uses))| {
            let files = counted(number(*files), "file");
            [(*operator).clone(), files, format!("{uses} uses")]
        });
    table("operators", uses.collect(), output)?;
    match more {
        0 => Ok(()),
        more => output.faint(&format!("  and {more} more")),
    }
}

/// Writes rows of aligned columns under a heading; nothing without rows.
fn table(heading: &str, rows: Vec<[String; 3]>, output: &mut Output<'_, '_>) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let strong = output.style.strong;
    output.line(format_args!("{strong}{heading}{strong:#}"))?;
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let (first, second) = (width(0), width(1));
    for [name, count, more] in &rows {
        let line = format!("  {name:<first$}  {count:>second$}  {more}");
        output.line(printable(line.trim_end()))?;
    }
    Ok(())
}

pub(crate) fn find(
    args: &FindArgs,
    common: &Common,
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    if common.io_names {
        return output.failed_file(&args.index, &groups::NO_IO_NAMES.into());
    }
    let matches = match matches(args, common) {
        Ok(matches) => matches,
        Err((file, failure)) => return output.failed_file(Path::new(&file), &failure),
    };
    if matches.is_empty() {
        output.status = DIFFERENT;
        if !output.json && !output.quiet {
            output.line("no file of the index matches")?;
        }
        return Ok(());
    }
    let width = matches
        .iter()
        .map(|(kind, _)| kind.len())
        .max()
        .unwrap_or(0);
    for (kind, row) in &matches {
        if output.json {
            output.json_line(&json!({
                "match": kind,
                "file": row.path,
                "digest": row.digest,
                "architecture": row.architecture,
            }))?;
        } else {
            let line = format!("{kind:<width$}  {}", row.path);
            output.line(printable(&line))?;
        }
    }
    Ok(())
}

/// The rows that match, and in which respect, the closest first.
fn matches(
    args: &FindArgs,
    common: &Common,
) -> Result<Vec<(&'static str, Row)>, (String, Failure)> {
    let index_failed = |error: Error| {
        let failure = message(&args.index, &error);
        (args.index.display().to_string(), failure)
    };
    let index = Index::open(&args.index).map_err(index_failed)?;
    let file = Path::new(&args.what);
    let (program, architecture) = if file.exists() {
        let name = |architecture: bool| {
            let common = Common {
                architecture,
                io_names: false,
                ..common.clone()
            };
            let digest = digest(file, &common, false).map(|digest| digest.to_string());
            digest.map_err(|failure| (args.what.clone(), failure))
        };
        (name(false)?, name(true)?)
    } else {
        let digits = args.what.to_ascii_lowercase();
        (digits.clone(), digits)
    };
    let is_hex = program.bytes().all(|digit| digit.is_ascii_hexdigit());
    let mut rows = index.find(&program).map_err(|error| {
        if is_hex && program.len() >= 8 {
            index_failed(error)
        } else {
            let text = format!("{}, or the name of a file", error.message());
            (args.what.clone(), text.into())
        }
    })?;
    if architecture != program {
        rows.extend(index.find(&architecture).map_err(index_failed)?);
    }
    let begins = |digest: &Option<String>, start: &str| {
        digest
            .as_ref()
            .is_some_and(|digest| digest.starts_with(start))
    };
    let kind = |row: &Row| {
        if begins(&row.digest, &program) {
            "program"
        } else if begins(&row.architecture, &architecture) {
            "architecture"
        } else {
            "block"
        }
    };
    let mut matches: Vec<(&'static str, Row)> =
        rows.into_iter().map(|row| (kind(&row), row)).collect();
    let rank = |kind: &str| {
        ["program", "architecture", "block"]
            .iter()
            .position(|known| *known == kind)
    };
    matches.sort_by(|left, right| {
        let by_kind = rank(left.0).cmp(&rank(right.0));
        by_kind.then_with(|| isoform_corpus::path_order(&left.1.path, &right.1.path))
    });
    matches.dedup_by(|left, right| left.1.path == right.1.path);
    Ok(matches)
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
