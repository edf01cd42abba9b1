//! The page of `isoform optimize`.

use std::collections::HashMap;

use isoform::Ref;
use isoform_onnx::ir::Program;
use isoform_onnx::optimize::{Fired, Report, RuleInfo, RuleTotal, rule_infos};
use isoform_onnx::verify::{Outcome, ROUNDED, Verification};
use isoform_page::Mark;
use isoform_page::page::{Cards, ChangeCard, Fact, Page, Section, Table, TableRow, Verdict};

use super::{fact, row, table};
use crate::optimize::{bytes_text, node_name, signed_bytes};
use crate::output::counted;
use crate::pages::page_of_models;
use crate::pages::tables::mark_if;
use crate::pages::words::{piece, plain};
use isoform_page::page::{Piece, PieceRole};

/// The places of a rule that are named.
const MOST_PLACES: usize = 200;

/// The contents of the page of an optimisation.
#[derive(Clone, Debug)]
pub struct OptimizePage<'a> {
    /// The names of the model that was read, and of the result.
    pub names: [&'a str; 2],
    /// The program that was read, and the result.
    pub programs: [&'a Ref<Program>; 2],
    /// The uses of rules.
    pub report: &'a Report,
    /// The comparison of the results of both programs, if they were run.
    pub verified: Option<&'a Verification>,
    /// The sizes of the files; none after a verification that failed.
    pub bytes: Option<[String; 2]>,
}

/// The page of an optimisation: the rules that fired, where, and why each is right; the
/// verification; and the difference of the models. As expensive as [`page_of_models`], and
/// linear in the uses of rules.
///
/// # Errors
///
/// As [`isoform_onnx::report::report`].
pub fn page_of_optimization(parts: &OptimizePage<'_>) -> isoform::Result<Page> {
    let report = isoform_onnx::report::report(parts.programs[0], parts.programs[1])?;
    let difference = page_of_models(&report, parts.names);
    let totals = parts.report.totals();
    let mut sections = Vec::new();
    if !totals.is_empty() {
        sections.push(Section::Cards(Cards {
            title: "Rules that fired".to_owned(),
            noun: "rule".to_owned(),
            reason: "Why the results stay the same".to_owned(),
            cards: cards(&totals, &parts.report.fired),
        }));
    }
    sections.extend(parts.verified.map(verification).map(Section::Table));
    if !totals.is_empty() {
        sections.push(Section::Table(uses(&parts.report.fired)));
    }
    sections.extend(difference.sections);
    let is_wrong = parts.verified.is_some_and(|verified| !verified.is_same());
    Ok(Page {
        title: difference.title,
        verdict: if is_wrong {
            Verdict::Bad("Wrong results")
        } else if report.is_equal() {
            Verdict::Good("Nothing to optimize")
        } else {
            Verdict::Good("Optimized")
        },
        sentence: sentence(parts, &totals),
        facts: facts(parts, difference.facts),
        sections,
    })
}

fn sentence(parts: &OptimizePage<'_>, totals: &[RuleTotal]) -> String {
    let report = parts.report;
    let nodes = format!("{} → {} nodes", report.nodes_before, report.nodes_after);
    let rules = match totals.first() {
        None => "no rule applies".to_owned(),
        Some(first) => format!(
            "{} fired {}, most of all '{}'",
            counted(totals.len(), "rule"),
            counted(report.fired.len(), "time"),
            first.rule
        ),
    };
    let verified = match parts.verified {
        None => "",
        Some(verified) if verified.is_same() => "; the results of both models agree",
        Some(_) => "; not written, because the results differ from those of the input",
    };
    format!("{nodes}: {rules}{verified}")
}

fn facts(parts: &OptimizePage<'_>, difference: Vec<Fact>) -> Vec<Fact> {
    let report = parts.report;
    let nodes = [report.nodes_before, report.nodes_after].map(|count| count.to_string());
    let constants = [report.bytes_before, report.bytes_after].map(bytes_text);
    let pairs = [
        ("nodes", Some(nodes)),
        ("size of the files", parts.bytes.clone()),
        ("constants", Some(constants)),
    ];
    let pairs = pairs.into_iter().filter_map(|(name, pair)| {
        let [before, after] = pair?;
        let mark = mark_if(before != after);
        Some(fact(name, format!("{before} → {after}"), mark))
    });
    let mut facts: Vec<Fact> = pairs.collect();
    if let Some(verified) = parts.verified {
        let (text, mark) = if verified.is_same() {
            ("same results", Mark::Same)
        } else {
            ("results differ", Mark::Deleted)
        };
        let sets = counted(verified.judged(), "set");
        facts.push(fact(
            "verified",
            format!("{text} on {sets} of inputs"),
            mark,
        ));
    }
    if report.copies > 0 {
        facts.push(fact("copies for outputs", report.copies, Mark::Same));
    }
    facts.extend(difference);
    facts
}

fn cards(totals: &[RuleTotal], fired: &[Fired]) -> Vec<ChangeCard> {
    let infos: HashMap<&str, RuleInfo> = rule_infos().map(|info| (info.name, info)).collect();
    let mut places: HashMap<&str, Vec<String>> = HashMap::new();
    for entry in fired {
        let places = places.entry(&entry.rule).or_default();
        if places.len() < MOST_PLACES {
            places.push(place(entry));
        }
    }
    let cards = (1..).zip(totals).map(|(number, total)| {
        let rule = total.rule.as_str();
        let info = infos.get(rule);
        let mut places = places.remove(rule).unwrap_or_default();
        if total.times > places.len() {
            places.push(format!("and {} more", total.times - places.len()));
        }
        let effect = info.map_or("", |info| info.after);
        ChangeCard {
            anchor: format!("rule-{number}"),
            kind: info.map_or("rule", |info| info.group).to_owned(),
            mark: Mark::Changed,
            text: format!("{rule}: saves {}", savings(total.nodes, total.bytes)),
            count: total.times as u64,
            places,
            sides: info.map(|info| sides(info, effect)),
            why: info.map_or("", |info| info.reason).to_owned(),
            ..ChangeCard::default()
        }
    });
    cards.collect()
}

/// The patterns of a rule and its replacement; the effect of a step.
fn sides(info: &RuleInfo, effect: &str) -> [Vec<Piece>; 2] {
    let mut before = Vec::new();
    for (number, pattern) in info.before.iter().enumerate() {
        if number > 0 {
            before.push(plain("  or  "));
        }
        before.push(piece(*pattern, PieceRole::Operator));
    }
    [before, vec![plain(effect)]]
}

fn savings(nodes: i64, bytes: i64) -> String {
    let nodes = match nodes {
        1 => "1 node".to_owned(),
        nodes => format!("{nodes} nodes"),
    };
    match bytes {
        0 => nodes,
        more if more < 0 => format!("{nodes}, adds {}", signed_bytes(-more)),
        bytes => format!("{nodes} and {}", signed_bytes(bytes)),
    }
}

/// `Transpose 'a' in 'main', saves 1 node`.
fn place(fired: &Fired) -> String {
    format!(
        "{} {} in '{}', saves {}",
        fired.op,
        node_name(fired),
        fired.graph,
        savings(fired.nodes, fired.bytes)
    )
}

/// The uses of rules, in order of time.
fn uses(fired: &[Fired]) -> Table {
    let rows = (1..).zip(fired).map(|(number, entry): (usize, _)| {
        row(vec![
            number.to_string(),
            entry.rule.clone(),
            entry.op.clone(),
            node_name(entry),
            entry.graph.clone(),
            entry.nodes.to_string(),
            signed_bytes(entry.bytes),
        ])
    });
    let columns = [
        "",
        "rule",
        "operator",
        "node",
        "graph",
        "nodes saved",
        "bytes saved",
    ];
    let rows: Vec<TableRow> = rows.collect();
    table("Uses of rules in order", &columns, rows.into_iter())
}

fn verification(verified: &Verification) -> Table {
    let rows = verified.cases.iter().map(|case| {
        let (outcome, mark) = match &case.outcome {
            Outcome::Same => (
                "every bit of every output is the same".to_owned(),
                Mark::Same,
            ),
            Outcome::Close { max_abs } => (
                format!("close, the largest difference is {max_abs:.3e}"),
                Mark::Same,
            ),
            Outcome::Rounded { max_abs } => (
                format!("close, the largest difference is {max_abs:.3e}: {ROUNDED}"),
                Mark::Same,
            ),
            Outcome::Different(differences) => {
                let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
                (format!("different: {}", texts.join("; ")), Mark::Deleted)
            }
            Outcome::NotRun { reason } => (format!("could not run: {reason}"), Mark::Changed),
            _ => ("unknown".to_owned(), Mark::Changed),
        };
        TableRow {
            cells: vec![case.inputs.clone(), case.runner.clone(), outcome],
            mark,
        }
    });
    table("Verification", &["inputs", "run by", "outcome"], rows)
}
