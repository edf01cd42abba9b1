//! Judges the tests: changes the engines in many small ways, one at a time, and
//! lists the changes that no test notices.
//!
//! ```text
//! cargo run -p isoform-fuzz --bin mutants -- --seed 1 --count 200
//! ```
//!
//! All mutants are in one program, selected by switches (`schemata`), to need a single
//! build, in a copy of the workspace (`workshop`). A run without a mutant shows which
//! test reaches which mutant; a mutant is then judged by the tests that reach the
//! mutant (`trial`). `fuzz/mutants.toml` lists the mutated code, and the mutants that
//! behave like the original.
#![expect(
    clippy::disallowed_macros,
    reason = "the program's report goes to its streams"
)]

mod mutant;
mod operators;
mod report;
mod schemata;
mod trial;
mod workshop;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use clap::Parser;
use isoform_testing::source::split_mix;

use mutant::{Config, Mutant, Problem};
use operators::edits;
use report::Report;
use trial::{Outcome, Trial};
use workshop::Workshop;

/// Change the engines in small ways, and list the changes that no test notices.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Which mutants are taken.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many mutants are taken.
    #[arg(long, default_value_t = 200)]
    count: usize,
    /// Only mutants of files with this text in their path.
    #[arg(long, default_value = "")]
    file: String,
    /// How many mutants are judged side by side.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<Report, Problem> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.ok_or("no folder above fuzz/")?;
    let mut config: Config =
        toml::from_str(&std::fs::read_to_string(root.join("fuzz/mutants.toml"))?)?;
    let equivalents = std::mem::take(&mut config.same);
    let environment = std::mem::take(&mut config.environment);
    let scratch = root.join(".cache/mutants");
    let workshop = Workshop::new(root, &scratch, config)?;

    let mut candidates = Vec::new();
    for (path, source) in workshop.sources() {
        let edits = edits(source).map_err(|error| format!("{path}: {error}"))?;
        candidates.extend(
            edits
                .into_iter()
                .map(|edit| Mutant::new(path, source, edit)),
        );
    }
    let stale = report::stale(&equivalents, &candidates);
    let all = candidates.len();
    candidates.retain(|mutant| mutant.path.contains(&arguments.file));
    shuffle(&mut candidates, arguments.seed);
    eprintln!(
        "{all} candidates, {} in the files asked for",
        candidates.len()
    );
    let mut log = |line: String| eprintln!("{line}");
    let (mutants, refused) = workshop.select(candidates, arguments.count, &mut log)?;
    eprintln!("building the tests");
    let programs = workshop.test_programs(&mutants)?;
    eprintln!("running them without a mutant");
    let trial = Trial::record(programs, workshop.folder(), environment, &scratch)?;
    let (tests, cost) = trial.size();
    eprintln!("{tests} tests take {:.0} s", cost.as_secs_f64());
    let outcomes = judge_all(&trial, &mutants, arguments.jobs)?;
    Ok(Report {
        seed: arguments.seed,
        judged: mutants.into_iter().zip(outcomes).collect(),
        refused,
        known: equivalents,
        stale,
    })
}

/// Judges mutants side by side, and reports progress.
fn judge_all(trial: &Trial, mutants: &[Mutant], jobs: usize) -> Result<Vec<Outcome>, Problem> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(vec![None; mutants.len()]);
    let work = || -> Result<(), Problem> {
        while let Some(mutant) = mutants.get(next.fetch_add(1, Relaxed)) {
            let outcome = trial.judge(mutant.number)?;
            eprintln!(
                "{}/{} {}:{}: {outcome}",
                mutant.number,
                mutants.len(),
                mutant.path,
                mutant.line
            );
            let mut outcomes = outcomes.lock().map_err(|_| "a worker panicked")?;
            outcomes[mutant.number as usize - 1] = Some(outcome);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })?;
    let outcomes = outcomes.into_inner().map_err(|_| "a worker panicked")?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// The same order for the same seed and sources.
fn shuffle(mutants: &mut [Mutant], seed: u64) {
    let mut state = seed;
    for place in (1..mutants.len()).rev() {
        let other = split_mix(&mut state) % (place as u64 + 1);
        mutants.swap(place, other as usize);
    }
}
