//! The pages of `isoform run` and `isoform bisect`.

use std::time::Duration;

use isoform_ir::transform::{Bisection, TrialSubject};
use isoform_page::Mark;
use isoform_page::page::{Fact, Listing, Page, Section, Table, TableRow, Verdict};

use super::fact;
use super::hunks::{DiffCounts, RowBudget, counts_of, rows_of_diff};
use crate::passes::{PassRun, time};

/// Functions named in one sentence.
const NAMED: usize = 5;

/// The page of passes that ran on a program, with the numbers of nodes before and after if
/// the program is a model. Linear in the texts of the changes, except for words.
pub(crate) fn page_of_run(title: String, passes: &[PassRun], nodes: Option<[usize; 2]>) -> Page {
    let counts: Vec<DiffCounts> = passes.iter().map(|pass| counts_of(&pass.diff)).collect();
    let changed = counts.iter().filter(|counts| counts.functions > 0).count();
    let mut sections = vec![Section::Table(table_of_passes(passes, &counts))];
    let mut budget = RowBudget::default();
    for (number, (pass, counts)) in (1..).zip(passes.iter().zip(&counts)) {
        if counts.functions == 0 {
            continue;
        }
        let took = time(pass.took);
        sections.push(Section::Listing(Listing {
            title: format!("{number}. {}: {took}, {}", pass.name, counts.text()),
            sides: vec!["before".to_owned(), "after".to_owned()],
            rows: rows_of_diff(&pass.diff, &format!("pass-{number}"), &mut budget),
            ..Listing::default()
        }));
    }
    Page {
        title,
        verdict: match changed {
            0 => Verdict::Good("No change"),
            _ => Verdict::Good("Changed"),
        },
        sentence: sentence_of_run(passes, &counts, changed),
        facts: facts_of_run(passes, &counts, changed, nodes),
        sections,
    }
}

fn table_of_passes(passes: &[PassRun], counts: &[DiffCounts]) -> Table {
    let rows = (1..).zip(passes.iter().zip(counts));
    let rows = rows.map(|(number, (pass, counts))| {
        let lines = match counts.functions {
            0 => "no change".to_owned(),
            _ => format!("+{} −{}", counts.added, counts.removed),
        };
        TableRow {
            cells: vec![
                number.to_string(),
                pass.name.clone(),
                time(pass.took),
                counts.functions.to_string(),
                lines,
            ],
            mark: match counts.functions {
                0 => Mark::Same,
                _ => Mark::Changed,
            },
        }
    });
    Table {
        title: "Passes".to_owned(),
        columns: texts(["", "pass", "time", "functions changed", "lines"]),
        rows: rows.collect(),
    }
}

fn sentence_of_run(passes: &[PassRun], counts: &[DiffCounts], changed: usize) -> String {
    let largest = passes
        .iter()
        .zip(counts)
        .filter(|(_, counts)| counts.functions > 0)
        // Of passes with equally many changed lines, the first one counts.
        .rev()
        .max_by_key(|(_, counts)| counts.added + counts.removed);
    let all = format!("{} passes", passes.len());
    match largest {
        None => match passes {
            [] => "No pass ran".to_owned(),
            [only] => format!("Pass '{}' changed nothing", only.name),
            _ => format!("None of {all} changed the program"),
        },
        Some((pass, counts)) if changed == 1 => {
            let one = format!("'{}' changed the program: {}", pass.name, counts.text());
            match passes.len() {
                1 => format!("Pass {one}"),
                _ => format!("Of {all}, only {one}"),
            }
        }
        Some((pass, counts)) => format!(
            "{changed} of {all} changed the program, most of all '{}': {}",
            pass.name,
            counts.text()
        ),
    }
}

fn facts_of_run(
    passes: &[PassRun],
    counts: &[DiffCounts],
    changed: usize,
    nodes: Option<[usize; 2]>,
) -> Vec<Fact> {
    let total: Duration = passes.iter().map(|pass| pass.took).sum();
    let sum = |of: fn(&DiffCounts) -> usize| counts.iter().map(of).sum::<usize>().to_string();
    let mut facts = vec![fact(
        "passes that changed the program",
        changed,
        Mark::Changed,
    )];
    if let Some([before, after]) = nodes {
        facts.push(fact("nodes", format!("{before} → {after}"), Mark::Same));
    }
    facts.extend([
        fact("lines added", sum(|counts| counts.added), Mark::Inserted),
        fact("lines removed", sum(|counts| counts.removed), Mark::Deleted),
        fact(
            "passes without a change",
            passes.len() - changed,
            Mark::Same,
        ),
        fact("time of all passes", time(total), Mark::Same),
    ]);
    facts
}

/// The page of a search for the pass that breaks a check; `changes` is the unified diff of
/// the programs before and after the pass. Linear in the texts, except for words.
pub(crate) fn page_of_bisection(title: String, bisection: &Bisection, changes: &str) -> Page {
    let name = &*bisection.pass.info.name;
    let number = bisection.position + 1;
    let counts = counts_of(changes);
    let suffice = match &*bisection.functions {
        [] => String::new(),
        functions => format!("; the changes of {} suffice", list(functions)),
    };
    let mut facts = vec![
        fact("pass", name, Mark::Changed),
        fact("number of the pass", number, Mark::Same),
    ];
    if !bisection.functions.is_empty() {
        facts.push(fact("functions", bisection.functions.len(), Mark::Changed));
    }
    facts.extend([
        fact("lines added", counts.added, Mark::Inserted),
        fact("lines removed", counts.removed, Mark::Deleted),
        fact("checks", bisection.checks, Mark::Same),
    ]);
    Page {
        title,
        verdict: Verdict::Bad("The pass is found"),
        sentence: format!("The check fails after pass '{name}', number {number}{suffice}"),
        facts,
        sections: vec![
            Section::Listing(Listing {
                title: format!("Before and after '{name}': {}", counts.text()),
                sides: vec!["before (good)".to_owned(), "after (bad)".to_owned()],
                rows: rows_of_diff(changes, "change", &mut RowBudget::default()),
                ..Listing::default()
            }),
            Section::Table(table_of_trials(bisection)),
        ],
    }
}

fn table_of_trials(bisection: &Bisection) -> Table {
    let rows = (1..).zip(&bisection.trail).map(|(number, trial)| {
        let program = match &trial.subject {
            TrialSubject::After { passes: 0, .. } => "before the first pass".to_owned(),
            TrialSubject::After { passes, last } => format!("after {passes}. '{last}'"),
            TrialSubject::Functions(functions) => {
                format!("only the changes of {}", list(functions))
            }
            _ => "program".to_owned(),
        };
        let (verdict, mark) = if trial.is_good {
            ("good", Mark::Inserted)
        } else {
            ("bad", Mark::Deleted)
        };
        TableRow {
            cells: vec![number.to_string(), program, verdict.to_owned()],
            mark,
        }
    });
    Table {
        title: "Checks in order".to_owned(),
        columns: texts(["", "program", "answer of the check"]),
        rows: rows.collect(),
    }
}

/// The first names, and the number of the others.
fn list(names: &[String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(NAMED)
        .map(|name| format!("'{name}'"))
        .collect();
    if names.len() > NAMED {
        shown.push(format!("{} more", names.len() - NAMED));
    }
    shown.join(", ")
}

fn texts<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}
