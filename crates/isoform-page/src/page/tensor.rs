//! The elements of changed tensors: statistics and histograms.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::TensorChange;
use super::text::{head, long};

/// The size of a histogram, and the height of one side of it.
const WIDTH: f64 = 240.0;
const HALF: f64 = 40.0;

/// The statistics as a table, and the histograms of both sides and of their difference.
pub(super) fn change(change: &TensorChange) -> Markup {
    html! {
        div.tensor {
            @if !change.statistics.is_empty() { (statistics(&change.statistics)) }
            @if change.bins.iter().any(|bins| !bins.is_empty()) {
                (histogram(
                    "Elements: before above the line, after below",
                    &change.borders,
                    [&change.bins[0], &change.bins[1]],
                ))
            }
            @if let Some((borders, bins)) = &change.difference {
                (histogram("Differences of the elements", borders, [bins, &[]]))
            }
        }
    }
}

fn statistics(rows: &[[String; 3]]) -> Markup {
    html! {
        table {
            thead { tr { th scope="col" { "Elements" } th scope="col" { "Before" } th scope="col" { "After" } } }
            tbody {
                @for [name, left, right] in rows {
                    tr class=(if left == right { "mark-same" } else { "mark-changed" }) {
                        th scope="row" { (head(name)) }
                        td { (long(left)) }
                        td { (long(right)) }
                    }
                }
            }
        }
    }
}

/// A histogram whose second side, if there is one, hangs from the axis of the first.
fn histogram(title: &str, borders: &[f64], [upper, lower]: [&[u64]; 2]) -> Markup {
    let most = upper.iter().chain(lower).copied().max().unwrap_or(0).max(1);
    let range = match (borders.first(), borders.last()) {
        (Some(first), Some(last)) => format!("from {} to {}", number(*first), number(*last)),
        _ => String::new(),
    };
    let height = if lower.is_empty() { HALF } else { 2.0 * HALF };
    let label = format!(
        "{title}, {} bins {range}, at most {most} in a bin",
        upper.len().max(lower.len())
    );
    html! {
        figure.histogram {
            svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img"
                aria-label=(label) {
                @if !upper.is_empty() {
                    path class=(if lower.is_empty() { "whole" } else { "upper" }) d=(bars(upper, most, -1.0)) {}
                }
                @if !lower.is_empty() { path.lower d=(bars(lower, most, 1.0)) {} }
                path.axis d=(format!("M0 {HALF}H{WIDTH}")) {}
            }
            figcaption { (title) @if !range.is_empty() { ", " (range) } }
        }
    }
}

/// The outline of bars that grow from the axis into a direction. A bin with few elements
/// still has a bar that can be seen.
fn bars(bins: &[u64], most: u64, direction: f64) -> String {
    let step = WIDTH / bins.len() as f64;
    let mut path = format!("M0 {HALF}");
    for (place, count) in bins.iter().enumerate() {
        let height = match count {
            0 => 0.0,
            _ => ((HALF - 1.0) * *count as f64 / most as f64).max(1.0),
        };
        let _ = write!(
            path,
            "V{}H{}",
            rounded(HALF + direction * height),
            rounded((place + 1) as f64 * step)
        );
    }
    let _ = write!(path, "V{HALF}Z");
    path
}

pub(super) fn rounded(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

/// A number in as few digits as a caption needs.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        let text = format!("{value:.4}");
        let short = text.trim_end_matches('0').trim_end_matches('.');
        return short.to_owned();
    }
    format!("{value:.3e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_from_the_axis_and_few_elements_stay_visible() {
        assert_eq!(
            bars(&[0, 1000, 1], 1000, -1.0),
            "M0 40V40H80V1H160V39H240V40Z"
        );
        assert_eq!(bars(&[5], 5, 1.0), "M0 40V79H240V40Z");
    }

    #[test]
    fn captions_have_few_digits() {
        let texts = [0.0, -0.25, 1234.5, 1e-9, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(texts, ["0", "-0.25", "1234.5", "1.000e-9", "NaN", "inf"]);
    }

    #[test]
    fn any_number_of_bins_and_borders_is_drawn() {
        let odd = TensorChange {
            bins: [vec![u64::MAX], vec![]],
            difference: Some((vec![], vec![])),
            ..TensorChange::default()
        };
        assert!(change(&odd).into_string().contains("from") == odd.borders.len().gt(&0));
    }
}
