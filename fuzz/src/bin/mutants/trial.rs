//! Running the tests: once to learn the reach and cost of each test, then for each
//! mutant the tests that reach the mutant, the cheapest first, until a test fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::mutant::Problem;

/// How much longer than without mutants a test may take, and an additional time for
/// every test.
const PATIENCE: u32 = 10;
const GRACE: Duration = Duration::from_secs(10);

/// Tests are run together up to these costs, and then all remaining tests: a mutant
/// that hangs is mostly found by the cheap ones.
const ROUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(8)];

/// The address space of a test program, in kilobytes: some mutants allocate without
/// end, and the machine has other work.
const MEMORY: &str = "12000000";

/// The result of testing a mutant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// This test failed.
    Caught(String),
    /// The test program died without a failed test.
    Crashed,
    /// The tests took too long.
    Stuck,
    Survived,
    /// No test comes to the place.
    Unreached,
}

#[derive(Clone, Debug)]
struct Test {
    program: usize,
    name: String,
    cost: Duration,
    reached: BTreeSet<u32>,
}

/// The tests, with what they reach.
pub(crate) struct Trial {
    programs: Vec<PathBuf>,
    folder: PathBuf,
    environment: BTreeMap<String, String>,
    /// The cheapest first.
    tests: Vec<Test>,
    /// The mutants reached by threads outside of any test, by program.
    elsewhere: BTreeSet<(usize, u32)>,
}

/// How a run of tests ended.
enum End {
    Passed,
    Failed(String),
    Crashed,
    Stuck,
}

impl Trial {
    /// Runs all tests of the programs without a mutant, in this folder.
    pub(crate) fn record(
        programs: Vec<PathBuf>,
        folder: PathBuf,
        environment: BTreeMap<String, String>,
        scratch: &Path,
    ) -> Result<Trial, Problem> {
        let (mut tests, mut elsewhere) = (Vec::new(), BTreeSet::new());
        for (program, path) in programs.iter().enumerate() {
            let record = scratch.join("reached");
            fs::write(&record, "")?;
            let mut command = test_command(path, &folder, &environment);
            command.env("ISOFORM_MUTANTS_REACHED", &record);
            let mut costs = BTreeMap::new();
            match watch(command, None, &mut |name, cost| {
                costs.insert(name.to_owned(), cost);
            })? {
                End::Passed => {}
                End::Failed(test) => return Err(format!("{test} fails without a mutant").into()),
                End::Crashed | End::Stuck => {
                    return Err(format!("{} fails without a mutant", path.display()).into());
                }
            }
            let mut reached: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
            for line in fs::read_to_string(&record)?.lines() {
                let (mutant, test) = line.split_once(' ').ok_or("a record without a test")?;
                let mutant = mutant.parse()?;
                if costs.contains_key(test) {
                    reached.entry(test.to_owned()).or_default().insert(mutant);
                } else {
                    elsewhere.insert((program, mutant));
                }
            }
            tests.extend(costs.into_iter().map(|(name, cost)| Test {
                program,
                cost,
                reached: reached.remove(&name).unwrap_or_default(),
                name,
            }));
        }
        tests.sort_by_key(|test| test.cost);
        Ok(Trial {
            programs,
            folder,
            environment,
            tests,
            elsewhere,
        })
    }

    /// The number of tests, and the time for running all tests in sequence.
    pub(crate) fn size(&self) -> (usize, Duration) {
        let cost = self.tests.iter().map(|test| test.cost).sum();
        (self.tests.len(), cost)
    }

    /// Runs the tests that may notice this mutant.
    pub(crate) fn judge(&self, mutant: u32) -> Result<Outcome, Problem> {
        let concerned = |test: &&Test| {
            test.reached.contains(&mutant) || self.elsewhere.contains(&(test.program, mutant))
        };
        let concerned: Vec<_> = self.tests.iter().filter(concerned).collect();
        if concerned.is_empty() {
            return Ok(Outcome::Unreached);
        }
        for round in rounds(&concerned) {
            for (program, path) in self.programs.iter().enumerate() {
                let own = |test: &&&Test| test.program == program;
                let own: Vec<_> = round.iter().filter(own).collect();
                if own.is_empty() {
                    continue;
                }
                // A program chooses the order of tests.
                let most = own.iter().map(|test| test.cost).max().unwrap_or_default();
                let mut command = test_command(path, &self.folder, &self.environment);
                command.env("ISOFORM_MUTANT", mutant.to_string());
                command.arg("--exact");
                command.args(own.iter().map(|test| &test.name));
                match watch(command, Some(most * PATIENCE + GRACE), &mut |_, _| {})? {
                    End::Passed => {}
                    End::Failed(test) => return Ok(Outcome::Caught(test)),
                    End::Crashed => return Ok(Outcome::Crashed),
                    End::Stuck => return Ok(Outcome::Stuck),
                }
            }
        }
        Ok(Outcome::Survived)
    }
}

/// Divides tests, the cheapest first, into rounds that are run together.
fn rounds<'t>(tests: &'t [&'t Test]) -> Vec<&'t [&'t Test]> {
    let mut rounds = Vec::new();
    let mut rest = tests;
    for limit in ROUNDS {
        let mut cost = Duration::ZERO;
        let within = rest.iter().take_while(|test| {
            cost += test.cost;
            cost <= limit
        });
        let (round, later) = rest.split_at(within.count());
        rounds.push(round);
        rest = later;
    }
    rounds.push(rest);
    rounds
}

/// A test program with bounded memory, running one test at a time. The threads of tests
/// have their names also then.
fn test_command(program: &Path, folder: &Path, environment: &BTreeMap<String, String>) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -v $0 2>/dev/null; exec \"$@\"", MEMORY])
        .arg(program)
        .arg("--test-threads=1")
        .current_dir(folder)
        .process_group(0)
        .envs(environment)
        .env("CARGO_MANIFEST_DIR", folder)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Runs tests up to the first failing test, or the first to exceed the limit.
fn watch(
    mut command: Command,
    limit: Option<Duration>,
    passed: &mut dyn FnMut(&str, Duration),
) -> Result<End, Problem> {
    let mut child = command.spawn()?;
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    let (sender, lines) = channel();
    // Ends with the pipe, or when nobody listens any more.
    std::thread::spawn(move || {
        for line in output.split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let mut last = Instant::now();
    loop {
        let left = limit.map_or(Duration::MAX, |limit| limit.saturating_sub(last.elapsed()));
        match lines.recv_timeout(left) {
            Ok(line) => match verdict(&String::from_utf8_lossy(&line)) {
                Some((name, true)) => {
                    passed(name, last.elapsed());
                    last = Instant::now();
                }
                Some((name, false)) => {
                    let end = End::Failed(name.to_owned());
                    kill(&mut child)?;
                    return Ok(end);
                }
                None => {}
            },
            Err(RecvTimeoutError::Timeout) => {
                kill(&mut child)?;
                return Ok(End::Stuck);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait()?;
    Ok(if status.success() {
        End::Passed
    } else {
        End::Crashed
    })
}

/// Ends a test program and all child processes: some tests run other programs, and a
/// mutant may hang there.
fn kill(child: &mut Child) -> std::io::Result<()> {
    Command::new("sh")
        .args(["-c", "kill -s KILL -- -$0"])
        .arg(child.id().to_string())
        .stderr(Stdio::null())
        .status()?;
    child.wait().map(drop)
}

/// The test named in a line of a test program, and whether it passed.
fn verdict(line: &str) -> Option<(&str, bool)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    match result {
        "ok" => Some((name, true)),
        "FAILED" => Some((name, false)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::PathBuf;
    use std::time::Duration;

    use super::{Outcome, Test, Trial, rounds, verdict};

    #[test]
    fn lines_of_a_test_program_are_read() {
        assert_eq!(verdict("test a::b ... ok"), Some(("a::b", true)));
        assert_eq!(verdict("test a ... FAILED"), Some(("a", false)));
        assert_eq!(verdict("test a - should panic ... ok"), Some(("a", true)));
        assert_eq!(verdict("test a ... ignored"), None);
        assert_eq!(verdict("test result: ok. 1 passed"), None);
    }

    fn test(name: &str, seconds: u64, reached: &[u32]) -> Test {
        Test {
            program: 0,
            name: name.to_owned(),
            cost: Duration::from_secs(seconds),
            reached: reached.iter().copied().collect(),
        }
    }

    #[test]
    fn cheap_tests_are_run_first() {
        let tests = [0, 1, 1, 7, 9].map(|seconds| test("a", seconds, &[]));
        let tests: Vec<_> = tests.iter().collect();
        let sizes: Vec<_> = rounds(&tests).iter().map(|round| round.len()).collect();
        assert_eq!(sizes, [2, 2, 1]);
    }

    /// A shell script in the place of a test program.
    fn trial(name: &str, script: &str) -> Trial {
        let folder = std::env::temp_dir();
        let program = folder.join(format!("isoform-{}-{name}", std::process::id()));
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file");
        let mode = std::process::Command::new("chmod")
            .arg("+x")
            .arg(&program)
            .status();
        assert!(mode.expect("chmod").success());
        Trial {
            programs: vec![program],
            folder,
            environment: BTreeMap::new(),
            tests: vec![test("a", 0, &[1]), test("b", 0, &[1, 2])],
            elsewhere: BTreeSet::new(),
        }
    }

    #[track_caller]
    fn check(name: &str, script: &str, mutant: u32, expected: Outcome) {
        let trial = trial(name, script);
        let outcome = trial.judge(mutant).expect("the script runs");
        trial
            .programs
            .iter()
            .map(PathBuf::as_path)
            .for_each(|program| {
                std::fs::remove_file(program).expect("the script is there");
            });
        assert_eq!(outcome, expected);
    }

    #[test]
    fn a_mutant_is_judged_by_the_tests_that_reach_it() {
        let named = "shift 2; for t in \"$@\"; do echo \"test $t ... ok\"; done";
        check("passes", named, 1, Outcome::Survived);
        check("unreached", named, 3, Outcome::Unreached);
        let fails = "test \"$ISOFORM_MUTANT $*\" = '2 --test-threads=1 --exact b' && \
                     echo 'test b ... FAILED'; sleep 5";
        check("fails", fails, 2, Outcome::Caught("b".to_owned()));
        check("crashes", "exit 101", 1, Outcome::Crashed);
    }
}
