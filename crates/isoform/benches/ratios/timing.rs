//! Timing: samples of two sides in turn, each with warm caches.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A sample repeats its work until it lasts about this long.
const SAMPLE: Duration = Duration::from_millis(6);
const SAMPLES: usize = 25;
/// Work that takes longer than a sample is measured less often.
const BUDGET: Duration = Duration::from_millis(600);

/// Nanoseconds per position.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// Best of all samples.
    pub(crate) ours: f64,
    pub(crate) median: f64,
    pub(crate) base: Option<Base>,
}

#[derive(Clone, Copy)]
pub(crate) struct Base {
    /// Best of all samples.
    pub(crate) best: f64,
    pub(crate) median: f64,
    /// Median over the pairs of samples: ours divided by the base.
    pub(crate) ratio: f64,
}

impl Times {
    /// For another process.
    pub(crate) fn to_line(self) -> String {
        let base = self.base.iter();
        let base = base.flat_map(|base| [base.best, base.median, base.ratio]);
        let numbers = [self.ours, self.median].into_iter().chain(base);
        numbers.map(|number| format!("{number} ")).collect()
    }

    pub(crate) fn from_line(line: &str) -> Option<Times> {
        let numbers = line.split_whitespace().map(|number| number.parse().ok());
        let (ours, median, base) = match numbers.collect::<Option<Vec<f64>>>()?[..] {
            [ours, median] => (ours, median, None),
            [ours, all, best, median, ratio] => {
                let base = Base {
                    best,
                    median,
                    ratio,
                };
                (ours, all, Some(base))
            }
            _ => return None,
        };
        Some(Times { ours, median, base })
    }
}

/// Ours alone.
pub(crate) fn alone(positions: u64, mut ours: impl FnMut()) -> Times {
    let (repeats, samples) = plan(&mut ours);
    let times = (0..samples).map(|_| sample(repeats, &mut ours));
    let (ours, median) = best_and_median(times, repeats, positions);
    Times {
        ours,
        median,
        base: None,
    }
}

/// Ours, once: for work that cannot be repeated.
pub(crate) fn once(positions: u64, ours: impl FnOnce()) -> Times {
    let start = Instant::now();
    ours();
    let (ours, median) = best_and_median([start.elapsed()], 1, positions);
    Times {
        ours,
        median,
        base: None,
    }
}

/// Ours and the base in turn.
pub(crate) fn pair(positions: u64, mut ours: impl FnMut(), mut base: impl FnMut()) -> Times {
    let (our_repeats, our_samples) = plan(&mut ours);
    let (base_repeats, base_samples) = plan(&mut base);
    let samples: Vec<(Duration, Duration)> = (0..our_samples.min(base_samples))
        .map(|_| {
            (
                sample(our_repeats, &mut ours),
                sample(base_repeats, &mut base),
            )
        })
        .collect();
    summary(&samples, our_repeats, base_repeats, positions)
}

/// Building and dropping, each with the base in turn.
pub(crate) fn kept<T, U>(
    positions: u64,
    ours: impl Fn() -> T,
    base: impl Fn() -> U,
) -> (Times, Times) {
    let (repeats, samples) = plan(&mut || drop(black_box(ours())));
    let mut constructs = Vec::new();
    let mut drops = Vec::new();
    for _ in 0..samples {
        let (our_construct, our_drop) = build_and_drop(repeats, &ours);
        let (base_construct, base_drop) = build_and_drop(repeats, &base);
        constructs.push((our_construct, base_construct));
        drops.push((our_drop, base_drop));
    }
    (
        summary(&constructs, repeats, repeats, positions),
        summary(&drops, repeats, repeats, positions),
    )
}

fn build_and_drop<T>(repeats: u32, build: &impl Fn() -> T) -> (Duration, Duration) {
    // One at a time, so that a block is reused while the cache still has it.
    let mut total = (Duration::ZERO, Duration::ZERO);
    for _ in 0..repeats {
        let start = Instant::now();
        let built = black_box(build());
        total.0 += start.elapsed();
        let start = Instant::now();
        drop(built);
        total.1 += start.elapsed();
    }
    total
}

fn summary(
    samples: &[(Duration, Duration)],
    our_repeats: u32,
    base_repeats: u32,
    positions: u64,
) -> Times {
    let mut ratios: Vec<f64> = samples
        .iter()
        .map(|(ours, base)| {
            let ours = ours.as_secs_f64() / f64::from(our_repeats);
            ours * f64::from(base_repeats) / base.as_secs_f64()
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let sides = (
        samples.iter().map(|(ours, _)| *ours),
        samples.iter().map(|(_, base)| *base),
    );
    let (ours, median) = best_and_median(sides.0, our_repeats, positions);
    let (best, base_median) = best_and_median(sides.1, base_repeats, positions);
    Times {
        ours,
        median,
        base: Some(Base {
            best,
            median: base_median,
            ratio: ratios[ratios.len() / 2],
        }),
    }
}

/// How often to repeat the work within a sample, and how many samples to take.
fn plan(work: &mut impl FnMut()) -> (u32, usize) {
    let one = sample(1, work).max(Duration::from_nanos(1));
    let repeats = (SAMPLE.as_nanos() / one.as_nanos()).max(1) as u32;
    let samples = (BUDGET.as_nanos() / (one * repeats).as_nanos()) as usize;
    (repeats, samples.clamp(3, SAMPLES))
}

fn sample(repeats: u32, work: &mut impl FnMut()) -> Duration {
    // The other side has just had the caches; what is compared is warm.
    work();
    let start = Instant::now();
    for _ in 0..repeats {
        work();
    }
    start.elapsed()
}

/// Of some samples, in nanoseconds per position.
fn best_and_median(
    samples: impl IntoIterator<Item = Duration>,
    repeats: u32,
    positions: u64,
) -> (f64, f64) {
    let mut samples: Vec<Duration> = samples.into_iter().collect();
    samples.sort_unstable();
    let per_position = |sample: Option<&Duration>| {
        let nanoseconds = sample.map_or(0.0, |sample| sample.as_secs_f64() * 1e9);
        nanoseconds / f64::from(repeats) / positions as f64
    };
    let median = samples.get(samples.len() / 2);
    (per_position(samples.first()), per_position(median))
}
