//! Numbers in an order as bars on a logarithmic scale, such as errors along a graph.

use maud::{Markup, html};

use super::tensor::{number, rounded};
use super::text::visible;
use super::{Chart, ChartBar};
use crate::Mark;

/// The size of the drawing, and the room for the numbers of the scale.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 150.0;
const SCALE: f64 = 56.0;

/// The largest number of bars; more are drawn in groups.
const MOST_BARS: usize = 320;

/// The largest number of lines of the scale.
const MOST_LINES: i32 = 6;

/// Bars from left to right, with a line for some powers of ten.
pub(super) fn chart(chart: &Chart) -> Markup {
    let size = chart.bars.len().div_ceil(MOST_BARS).max(1);
    let range = range(&chart.bars);
    let step = (WIDTH - SCALE) / chart.bars.len().div_ceil(size).max(1) as f64;
    html! {
        figure.chart tabindex="0" role="group" aria-label=(visible(&chart.title)) {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) role="img"
                aria-label=(summary(chart)) {
                @for power in lines(range) {
                    @let y = rounded(height_of(10f64.powi(power), range));
                    path.axis d=(format!("M{SCALE} {y}H{WIDTH}")) {}
                    text x=(SCALE - 6.0) y=(y + 4.0) text-anchor="end" { "1e" (power) }
                }
                @for (place, bars) in chart.bars.chunks(size).enumerate() {
                    (group(bars, SCALE + place as f64 * step, step, range))
                }
            }
            figcaption {
                (summary(chart))
                @if size > 1 { "; each bar is the largest of " (size) " neighbours" }
            }
        }
    }
}

/// Neighbours as one bar: with the mark of the first bar that stands out, and the name of
/// that bar or of the largest one.
fn group(bars: &[ChartBar], x: f64, step: f64, range: [f64; 2]) -> Markup {
    let value = |bar: &&ChartBar| bar.value.unwrap_or(-1.0);
    let largest = bars
        .iter()
        .max_by(|left, right| value(left).total_cmp(&value(right)));
    let named = bars.iter().find(|bar| bar.mark != Mark::Same).or(largest);
    let Some((named, largest)) = named.zip(largest) else {
        return html! {};
    };
    let class = match (largest.value, named.mark) {
        (None, _) => "unknown",
        (_, Mark::Same) => "bar",
        _ => "bar marked",
    };
    let top = largest
        .value
        .map_or(HEIGHT - 6.0, |value| height_of(value, range));
    let text = match named.value {
        Some(value) => format!("{}: {}", visible(&named.label), number(value)),
        None => format!("{}: unknown", visible(&named.label)),
    };
    html! {
        path class=(class) d=(format!(
            "M{} {HEIGHT}V{}H{}V{HEIGHT}Z",
            rounded(x),
            rounded(top),
            rounded(x + (step - 1.0).max(step * 0.8))
        )) { title { (text) } }
        @if named.mark != Mark::Same {
            text.sign x=(rounded(x + step / 2.0)) y=(rounded((top - 4.0).max(10.0))) text-anchor="middle" { "▼" }
        }
    }
}

fn summary(chart: &Chart) -> String {
    let marked = chart.bars.iter().find(|bar| bar.mark != Mark::Same);
    let largest = values(&chart.bars).fold(0.0, f64::max);
    let mut text = format!("{} values, at most {}", chart.bars.len(), number(largest));
    if let Some(bar) = marked {
        text.push_str(&format!("; ▼ marks {}", visible(&bar.label)));
    }
    text
}

fn values(bars: &[ChartBar]) -> impl Iterator<Item = f64> {
    bars.iter().filter_map(|bar| bar.value)
}

/// The powers of ten at the bottom and at the top.
fn range(bars: &[ChartBar]) -> [f64; 2] {
    let powers = || {
        let positive = values(bars).filter(|value| *value > 0.0 && value.is_finite());
        positive.map(f64::log10)
    };
    let low = powers().fold(f64::INFINITY, f64::min).floor() - 1.0;
    let high = powers().fold(f64::NEG_INFINITY, f64::max).ceil();
    if low.is_finite() && high.is_finite() {
        [low, high.max(low + 1.0)]
    } else {
        [-1.0, 0.0]
    }
}

/// The distance of a value from the top. Zero is at the bottom, infinity at the top.
fn height_of(value: f64, [low, high]: [f64; 2]) -> f64 {
    if value <= 0.0 || value.is_nan() {
        return HEIGHT;
    }
    let share = ((value.log10() - low) / (high - low)).clamp(0.0, 1.0);
    HEIGHT - share * (HEIGHT - 14.0)
}

/// The powers of ten with a line.
fn lines([low, high]: [f64; 2]) -> impl Iterator<Item = i32> {
    let (low, high) = (low as i32 + 1, high as i32);
    let step = ((high - low) / MOST_LINES).max(1);
    (low..=high).step_by(step as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, value: Option<f64>, mark: Mark) -> ChartBar {
        let label = label.to_owned();
        ChartBar { label, value, mark }
    }

    #[test]
    fn bars_grow_with_the_order_of_magnitude() {
        let range = range(&[
            bar("a", Some(1e-6), Mark::Same),
            bar("b", Some(1e-2), Mark::Same),
        ]);
        assert_eq!(range, [-7.0, -2.0]);
        let heights = [0.0, 1e-6, 1e-4, 1e-2, f64::INFINITY].map(|value| height_of(value, range));
        assert!(
            heights.is_sorted_by(|lower, higher| lower >= higher),
            "{heights:?}"
        );
        assert_eq!(heights[0], HEIGHT);
        assert_eq!(lines(range).collect::<Vec<_>>(), [-6, -5, -4, -3, -2]);
    }

    #[test]
    fn any_bars_are_drawn() {
        for values in [
            vec![],
            vec![None],
            vec![Some(0.0)],
            vec![Some(f64::NAN), Some(f64::INFINITY)],
        ] {
            let bars = values
                .into_iter()
                .map(|value| bar("<b>", value, Mark::Changed))
                .collect();
            let title = "Errors".to_owned();
            let text = chart(&Chart { title, bars }).into_string();
            assert!(text.contains("<svg") && !text.contains("<b>"), "{text}");
        }
    }

    #[test]
    fn many_bars_are_drawn_in_groups_and_the_marked_bar_keeps_its_name() {
        let mark = |number| {
            if number == 777 {
                Mark::Changed
            } else {
                Mark::Same
            }
        };
        let bars = (0..1000).map(|number| bar(&number.to_string(), Some(1.0), mark(number)));
        let title = String::new();
        let text = chart(&Chart {
            title,
            bars: bars.collect(),
        })
        .into_string();
        assert_eq!(text.matches("<path class=\"bar").count(), 250);
        assert!(text.contains("class=\"bar marked\""), "{text}");
        assert!(text.contains("<title>777: 1</title>"), "{text}");
    }
}
