//! Runs Isoform's properties on random bytes.
//!
//! ```text
//! cargo run --release -p isoform-fuzz -- --seconds 60
//! cargo run --release -p isoform-fuzz -- --seconds 60 --target laws_hold_on_triples --seed 7
//! ```
//!
//! Each target gets the given number of seconds, or more for the given number of cases. The byte
//! strings grow from short to long and start over, so small counterexamples are found first. A
//! failure is shrunk, printed with the seed, and ends the run with status 1.
#![expect(
    clippy::disallowed_macros,
    reason = "the program's report goes to its streams"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Parser;
use isoform_onnx::testing::{fuzz_edited, fuzz_load};
use isoform_testing::classes::CLASS_PROPERTIES;
use isoform_testing::differences::DIFF_PROPERTIES;
use isoform_testing::edits::EDIT_PROPERTIES;
use isoform_testing::history::HISTORY_PROPERTIES;
use isoform_testing::ir::IR_PROPERTIES;
use isoform_testing::merges::MERGE_PROPERTIES;
use isoform_testing::onnx::ONNX_PROPERTIES;
use isoform_testing::properties::{PROPERTIES, Property};
use isoform_testing::pto::PTO_PROPERTIES;
use isoform_testing::relay::{RELAY_PROPERTIES, TYPED_PROPERTIES};
use isoform_testing::source::{random_bytes, split_mix};

/// The fuzz targets: the properties of values, of IRs and of ONNX programs, and the reading of models.
fn targets() -> Vec<(&'static str, Property)> {
    let mut targets = PROPERTIES.to_vec();
    targets.extend_from_slice(CLASS_PROPERTIES);
    targets.extend_from_slice(DIFF_PROPERTIES);
    targets.extend_from_slice(MERGE_PROPERTIES);
    targets.extend_from_slice(EDIT_PROPERTIES);
    targets.extend_from_slice(HISTORY_PROPERTIES);
    targets.extend_from_slice(IR_PROPERTIES);
    targets.extend_from_slice(PTO_PROPERTIES);
    targets.extend_from_slice(RELAY_PROPERTIES);
    targets.extend_from_slice(TYPED_PROPERTIES);
    targets.extend_from_slice(ONNX_PROPERTIES);
    targets.push(("any_bytes_are_a_model_or_an_error", |bytes| {
        // A fault is a panic, which the driver catches.
        fuzz_load(bytes);
        Ok(())
    }));
    targets.push(("edited_models_are_models_or_errors", |bytes| {
        fuzz_edited(bytes);
        Ok(())
    }));
    targets
}

/// The longest byte string that is tried.
const LONGEST: usize = 400;

/// Check Isoform's properties on random bytes.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// How long each target runs.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// The minimal number of cases of a target.
    #[arg(long, default_value_t = 0)]
    cases: u64,
    /// The only target to run; all targets if absent.
    #[arg(long)]
    target: Option<String>,
    /// Where the random bytes start; the time of day if absent.
    #[arg(long)]
    seed: Option<u64>,
}

/// A byte string that violates a property.
struct Failure {
    bytes: Vec<u8>,
    account: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.map_or(0, |since| since.as_nanos() as u64)
    });
    let wanted = |name: &str| arguments.target.as_deref().is_none_or(|only| only == name);
    let targets: Vec<_> = targets()
        .into_iter()
        .filter(|(name, _)| wanted(name))
        .collect();
    if targets.is_empty() {
        let names: Vec<_> = self::targets().into_iter().map(|(name, _)| name).collect();
        eprintln!("no such target; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    println!("seed {seed}");
    let mut status = ExitCode::SUCCESS;
    for (name, property) in targets {
        let time = Duration::from_secs(arguments.seconds);
        let (cases, failure) = run(property, seed, time, arguments.cases);
        println!("{name}: {cases} cases");
        if let Some(failure) = failure {
            let shrunk = shrink(property, failure);
            println!(
                "{name} FAILED with seed {seed} on {} bytes: {:?}\n{}",
                shrunk.bytes.len(),
                shrunk.bytes,
                shrunk.account
            );
            status = ExitCode::FAILURE;
        }
    }
    status
}

/// Runs one target until its time is over and the wanted number of cases has run, or a
/// case fails.
fn run(property: Property, seed: u64, time: Duration, wanted: u64) -> (u64, Option<Failure>) {
    let start = Instant::now();
    let mut state = seed;
    let mut cases = 0;
    while cases < wanted || start.elapsed() < time {
        let length = 4 + cases as usize % (LONGEST - 4);
        let bytes = random_bytes(split_mix(&mut state), length);
        cases += 1;
        if let Some(failure) = check(property, bytes) {
            return (cases, Some(failure));
        }
    }
    (cases, None)
}

/// The failure of a property on these bytes, a panic included.
fn check(property: Property, bytes: Vec<u8>) -> Option<Failure> {
    let account = match catch_unwind(AssertUnwindSafe(|| property(&bytes))) {
        Ok(Ok(())) => return None,
        Ok(Err(account)) => account,
        Err(_) => "it panicked".to_string(),
    };
    Some(Failure { bytes, account })
}

/// A smaller failure: bytes are removed in ever smaller runs and then lowered, as long
/// as the property still fails.
fn shrink(property: Property, mut failure: Failure) -> Failure {
    let mut progress = true;
    while progress {
        progress = false;
        let mut run = failure.bytes.len() / 2;
        while run > 0 {
            let mut start = 0;
            while start + run <= failure.bytes.len() {
                let mut fewer = failure.bytes.clone();
                fewer.drain(start..start + run);
                match check(property, fewer) {
                    Some(smaller) => (failure, progress) = (smaller, true),
                    None => start += run,
                }
            }
            run /= 2;
        }
        for position in 0..failure.bytes.len() {
            for lower in [
                0,
                1,
                failure.bytes[position] / 2,
                failure.bytes[position].saturating_sub(1),
            ] {
                if lower >= failure.bytes[position] {
                    continue;
                }
                let mut lowered = failure.bytes.clone();
                lowered[position] = lower;
                if let Some(smaller) = check(property, lowered) {
                    (failure, progress) = (smaller, true);
                    break;
                }
            }
        }
    }
    failure
}
