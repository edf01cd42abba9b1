//! The durations of passes, as a tree: nested passes are below the passes around them.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use isoform::errors::ErrorKind;
use isoform::{Error, Obj, Ref, Result, export};

use crate::transform::info::PassInfo;
use crate::transform::instrument::{Instrument, PassInstrument};

/// Measures passes, separately in every thread.
///
/// The measurements end when the context is left; call [`render`] before.
#[derive(Default)]
pub struct Timing(Mutex<HashMap<ThreadId, Profile>>);

/// One run of a pass.
struct Run {
    name: Box<str>,
    depth: usize,
    parent: Option<usize>,
    began: Instant,
    took: Duration,
}

/// The runs of a thread in order of their beginning.
#[derive(Default)]
struct Profile {
    runs: Vec<Run>,
    /// The running passes, the innermost last.
    open: Vec<usize>,
}

impl Profile {
    fn begin(&mut self, name: &str) {
        let run = Run {
            name: name.into(),
            depth: self.open.len(),
            parent: self.open.last().copied(),
            began: Instant::now(),
            took: Duration::ZERO,
        };
        self.open.push(self.runs.len());
        self.runs.push(run);
    }

    fn end(&mut self) {
        if let Some(run) = self.open.pop() {
            let run = &mut self.runs[run];
            run.took = run.began.elapsed();
        }
    }

    /// Linear in the number of runs.
    fn render(&self) -> String {
        let mut own: Vec<Duration> = self.runs.iter().map(|run| run.took).collect();
        let mut all = Duration::ZERO;
        for run in &self.runs {
            match run.parent {
                Some(parent) => own[parent] = own[parent].saturating_sub(run.took),
                None => all += run.took,
            }
        }
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let share = |part: Duration, whole: Duration| {
            if whole.is_zero() {
                0.0
            } else {
                100.0 * part.as_secs_f64() / whole.as_secs_f64()
            }
        };
        let mut text = String::new();
        for (run, own) in self.runs.iter().zip(own) {
            let parent = run.parent.map_or(all, |parent| self.runs[parent].took);
            text.push_str(&"\t".repeat(run.depth));
            text.push_str(&format!(
                "{}: {:.0}us [{:.0}us] ({:.2}%; {:.2}%)\n",
                run.name,
                micros(run.took),
                micros(own),
                share(run.took, all),
                share(run.took, parent)
            ));
        }
        text
    }
}

impl Timing {
    fn with<T>(&self, body: impl FnOnce(&mut Profile) -> T) -> T {
        let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        body(profiles.entry(thread::current().id()).or_default())
    }

    fn forget(&self) {
        let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        profiles.remove(&thread::current().id());
    }
}

impl Instrument for Timing {
    fn name(&self) -> String {
        "PassTimingInstrument".to_owned()
    }

    fn enter(&self) -> Result<()> {
        self.forget();
        Ok(())
    }

    fn exit(&self) -> Result<()> {
        self.forget();
        Ok(())
    }

    fn before(&self, _root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        self.with(|profile| profile.begin(&info.name));
        Ok(())
    }

    fn after(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
        self.with(Profile::end);
        Ok(())
    }

    fn failed(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) {
        self.with(Profile::end);
    }
}

/// Returns an instrument for measuring passes.
///
/// ```
/// use isoform_ir::transform::PassContextRef;
/// use isoform_ir::transform::PassRef;
/// use isoform_ir::transform::instruments::timing;
/// use isoform_ir::transform::{ContextOptions, parse_pipeline};
/// use isoform::{Obj, Ref};
///
/// isoform_ir::transform::register()?;
/// let clock = timing::timing();
/// ContextOptions::default().instrument(&clock).make()?.within(|| {
///     parse_pipeline("PrintIR,PrintIR")?.run(&Ref::new(Obj {}))?;
///     let lines: Vec<String> = timing::render(&clock)?.lines().map(str::to_owned).collect();
///     assert!(lines[0].starts_with("sequential: ") && lines[0].ends_with("(100.00%; 100.00%)"));
///     assert!(lines[1].starts_with("\tPrintIR: ") && lines.len() == 3);
///     Ok(())
/// })?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn timing() -> Ref<PassInstrument> {
    PassInstrument::of(Timing::default())
}

/// The passes measured in this thread by an instrument of [`timing`], one per line,
/// indented by a tab for each level of nesting. A line shows the whole time, the time
/// of the pass itself in brackets, and its share of all passes and of the pass around
/// it. Empty without measurements.
///
/// # Errors
///
/// `RuntimeError` while a pass is running, `TypeError` for another instrument.
pub fn render(instrument: &PassInstrument) -> Result<String> {
    let timing: &Timing = instrument.content().ok_or_else(|| {
        Error::type_error(format!(
            "expected an instrument of timing(), got the instrument '{}'",
            instrument.name
        ))
    })?;
    timing.with(|profile| {
        if profile.open.is_empty() {
            Ok(profile.render())
        } else {
            Err(Error::new(
                ErrorKind::Runtime,
                "times are shown between passes, not while one is running",
            ))
        }
    })
}

#[export("instrument.timing")]
fn timing_exported() -> Ref<PassInstrument> {
    timing()
}

#[export("instrument.render_timing")]
fn render_exported(instrument: &Ref<PassInstrument>) -> Result<String> {
    render(instrument)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![timing_exported, render_exported]
}
