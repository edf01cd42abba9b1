//! The time and the changes of each pass of a pipeline: `isoform run --changes`.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isoform::{Obj, Ref, Result};
use isoform_ir::transform::instruments::{PassFilter, Printing};
use isoform_ir::transform::{ContextOptions, Instrument, PassInfo, PassInstrument};

use crate::output::counted;

/// The changes of a pass.
#[derive(Clone, Debug)]
pub(crate) struct PassRun {
    pub(crate) name: String,
    pub(crate) took: Duration,
    /// The changes as a unified diff; empty without changes.
    pub(crate) diff: String,
}

/// The report of a run, written by instruments.
#[derive(Clone, Default)]
pub(super) struct Changes(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    running: Vec<Running>,
    /// The time of the pass that ended last.
    took: Duration,
    /// True if other passes ran inside of the pass.
    is_outer: bool,
    /// The diff of the pass that ended last.
    diff: Option<String>,
    runs: Vec<PassRun>,
}

struct Running {
    began: Instant,
    is_outer: bool,
}

impl Changes {
    /// Adds the instruments that write the report.
    pub(super) fn observe(&self, options: ContextOptions) -> ContextOptions {
        let sink = self.clone();
        let printing = Printing::default().changes(PassFilter::All);
        // Instruments are called in order: the clock stops before the diff is made.
        options
            .instrument(&PassInstrument::of(Clock(self.clone())))
            .instrument(&printing.instrument(move |text| {
                // The first line comes from the library, and names the pass.
                let diff = text.split_once('\n').map_or(text, |(_, diff)| diff);
                sink.state().diff = Some(diff.to_owned());
                Ok(())
            }))
            .instrument(&PassInstrument::of(Reporter(self.clone())))
    }

    /// The passes that have ended, in order. Outer ones are left out if only their inner
    /// passes changed something.
    pub(super) fn take_runs(&self) -> Vec<PassRun> {
        std::mem::take(&mut self.state().runs)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Clock(Changes);

impl Instrument for Clock {
    fn before(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
        let mut state = self.0.state();
        if let Some(outer) = state.running.last_mut() {
            outer.is_outer = true;
        }
        state.running.push(Running {
            began: Instant::now(),
            is_outer: false,
        });
        Ok(())
    }

    fn after(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
        let mut state = self.0.state();
        if let Some(Running { began, is_outer }) = state.running.pop() {
            state.took = began.elapsed();
            state.is_outer = is_outer;
        }
        Ok(())
    }

    fn failed(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) {
        self.0.state().running.pop();
    }
}

struct Reporter(Changes);

impl Instrument for Reporter {
    fn after(&self, _root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        let mut state = self.0.state();
        let diff = state.diff.take().unwrap_or_default();
        // The changes of a sequence are the changes of its passes.
        if diff.is_empty() && state.is_outer {
            return Ok(());
        }
        let took = state.took;
        state.runs.push(PassRun {
            name: info.name.to_string(),
            took,
            diff: diff.trim_end().to_owned(),
        });
        Ok(())
    }
}

/// The report of passes, with diffs in full, or cut to a number of lines and a width.
pub(super) fn report(runs: &[PassRun], limit: Option<(usize, usize)>) -> String {
    let entries = runs.iter();
    entries
        .map(|run| entry(&run.name, run.took, &run.diff, limit))
        .collect()
}

/// A line about a pass, and its diff.
fn entry(name: &str, took: Duration, diff: &str, limit: Option<(usize, usize)>) -> String {
    let lines: Vec<&str> = diff.lines().collect();
    let is_head = |index: usize| {
        let next = lines
            .get(index + 1)
            .is_some_and(|line| line.starts_with("+++ "));
        lines[index].starts_with("--- ") && next
    };
    let functions = (0..lines.len()).filter(|&index| is_head(index)).count();
    let (mut added, mut removed) = (0, 0);
    for line in &lines {
        added += usize::from(line.starts_with('+'));
        removed += usize::from(line.starts_with('-'));
    }
    let mut out = format!("{name}: {}", time(took));
    // Writing to a string cannot fail.
    let _ = match functions {
        0 => writeln!(out, ", no change"),
        _ => writeln!(
            out,
            ", {} changed, +{} -{} lines",
            counted(functions, "function"),
            added - functions,
            removed - functions
        ),
    };
    let (most, width) = limit.unwrap_or((usize::MAX, usize::MAX));
    for line in lines.iter().take(most) {
        out.push_str(&cut(line, width));
        out.push('\n');
    }
    if lines.len() > most {
        let _ = writeln!(out, "... {}", counted(lines.len() - most, "more line"));
    }
    if !lines.is_empty() {
        out.push('\n');
    }
    out
}

/// The start of a line that fits into the width, in characters.
fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let start: String = line.chars().take(width.saturating_sub(3)).collect();
    format!("{start}...")
}

/// A time in a suitable unit.
pub(crate) fn time(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.001.. => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{:.0} us", seconds * 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- before/f\n+++ after/f\n@@ -1,2 +1,2 @@\n a\n-b\n-c\n+d";

    #[test]
    fn lines_are_counted_without_the_head() {
        let text = entry("Pass", Duration::from_micros(1500), DIFF, None);
        let expected = format!("Pass: 1.5 ms, 1 function changed, +1 -2 lines\n{DIFF}\n\n");
        assert_eq!(text, expected);
        let none = entry("Pass", Duration::from_micros(15), "", None);
        assert_eq!(none, "Pass: 15 us, no change\n");
    }

    #[test]
    fn long_diffs_and_lines_are_cut() {
        let text = entry("Pass", Duration::from_secs(2), DIFF, Some((3, 10)));
        let head = "Pass: 2.00 s, 1 function changed, +1 -2 lines\n";
        let diff = "--- bef...\n+++ aft...\n@@ -1,2...\n... 4 more lines\n\n";
        assert_eq!(text, format!("{head}{diff}"));
    }
}
