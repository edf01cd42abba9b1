//! The page of `isoform diff --run`.

use isoform_onnx::divergence::{Divergence, PairError, PairStatus};
use isoform_onnx::summary::number;
use isoform_page::Mark;
use isoform_page::page::{Chart, ChartBar, Fact, Page, Section, TableRow, Verdict};

use super::{fact, table};
use crate::pages::tables::mark_if;
use crate::pages::words::short_names;

/// The page of two models that ran on the same inputs: the first divergence, the error along
/// the graph, and all pairs of values that differ. O(pairs).
#[must_use]
pub fn page_of_divergence(result: &Divergence, names: [&str; 2]) -> Page {
    let [left, right] = short_names(names);
    let verdict = result.verdict();
    let sentence = verdict.split_once(": ").map_or(&*verdict, |(_, rest)| rest);
    let differing = result.pairs.iter().enumerate();
    let differing = differing.filter(|(_, pair)| pair.status != PairStatus::Same);
    let rows: Vec<TableRow> = differing
        .map(|(place, pair)| pair_row(pair, is_origin(result, place)))
        .collect();
    let columns = [
        "left",
        "right",
        "shape",
        "max abs",
        "max rel",
        "relative L2",
        "cosine",
        "SNR dB",
        "",
    ];
    Page {
        title: format!("{left} → {right}, run on the same inputs"),
        verdict: if !result.is_same() {
            Verdict::Different
        } else if rows.is_empty() {
            Verdict::Equal
        } else {
            Verdict::Good("Close")
        },
        sentence: sentence.to_owned(),
        facts: facts(result),
        sections: vec![
            Section::Chart(Chart {
                title: "Relative L2 error along the graph".to_owned(),
                bars: bars(result),
            }),
            Section::Table(table(
                "Pairs that are not the same",
                &columns,
                rows.into_iter(),
            )),
        ],
    }
}

fn is_origin(result: &Divergence, place: usize) -> bool {
    result.first == Some(place) || result.origins.binary_search(&place).is_ok()
}

fn facts(result: &Divergence) -> Vec<Fact> {
    let diverging = result.pairs.iter().filter(|pair| pair.diverges()).count();
    let mut facts = vec![
        fact("pairs compared", result.compared(), Mark::Same),
        fact("pairs that differ", diverging, mark_if(diverging > 0)),
    ];
    let skipped = result.pairs.len() - result.compared();
    if skipped > 0 {
        facts.push(fact("pairs not comparable", skipped, Mark::Same));
    }
    let crossings = result.crossings.iter().filter_map(|crossing| {
        let pair = result.pairs.get(crossing.pair?)?;
        let name = format!("error above {} from", number(crossing.threshold));
        Some(fact(&name, pair.names(), Mark::Changed))
    });
    facts.extend(crossings);
    let [left, right] = result.unpaired;
    if left + right > 0 {
        let count = format!("{left} left, {right} right");
        facts.push(fact("nodes without a partner", count, Mark::Same));
    }
    let [left, right] = result.inner;
    if left + right > 0 {
        let count = format!("{left} left, {right} right");
        facts.push(fact("nodes in bodies, not compared", count, Mark::Same));
    }
    let tolerance = format!("rtol {}, atol {}", number(result.rtol), number(result.atol));
    facts.push(fact("tolerance", tolerance, Mark::Same));
    facts.push(fact("run by", &result.runner, Mark::Same));
    facts.push(fact("inputs", result.inputs.join("; "), Mark::Same));
    facts
}

fn bars(result: &Divergence) -> Vec<ChartBar> {
    let pairs = result.pairs.iter().enumerate();
    let bars = pairs.map(|(place, pair)| ChartBar {
        label: pair.names(),
        value: match pair.status {
            PairStatus::Skipped => None,
            PairStatus::Same => Some(0.0),
            _ => pair.relative_l2,
        },
        mark: if is_origin(result, place) {
            Mark::Changed
        } else {
            Mark::Same
        },
    });
    bars.collect()
}

fn pair_row(pair: &PairError, is_origin: bool) -> TableRow {
    let cell = |value: Option<f64>| value.map_or_else(String::new, number);
    let remark = if is_origin {
        format!("begins here: {}", pair.remark())
    } else {
        pair.remark()
    };
    TableRow {
        cells: vec![
            pair.left.to_string(),
            pair.right.to_string(),
            format!("{:?}", pair.shape),
            cell(pair.max_abs),
            cell(pair.max_rel),
            cell(pair.relative_l2),
            pair.cosine
                .map_or_else(String::new, |cosine| format!("{cosine:.6}")),
            pair.snr_db
                .map_or_else(String::new, |ratio| format!("{ratio:.1}")),
            remark,
        ],
        mark: if pair.diverges() {
            Mark::Changed
        } else {
            Mark::Same
        },
    }
}
