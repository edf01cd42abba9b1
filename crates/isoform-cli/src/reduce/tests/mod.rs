//! The search on generated models, with functions as checks.

mod failures;
mod models;
mod numbers;

use std::collections::HashSet;

use isoform_onnx::ExternalResolver;
use isoform_onnx::proto::ModelProto;
use isoform_testing::source::scale;

use super::model::Nodes;
use super::search::{Halt, Reducible, Search, Step, Verdict};
use failures::{Failure, Seen};
use models::{FAMILIES, Family};

fn nodes(model: &ModelProto) -> Nodes {
    let model = isoform_onnx::import(model, &ExternalResolver::none()).unwrap();
    Nodes::new(model.program()).unwrap()
}

fn verdict(fails: bool) -> Verdict {
    if fails {
        Verdict::Fails
    } else {
        Verdict::Passes
    }
}

struct Outcome {
    best: Vec<String>,
    size: usize,
    checks: usize,
    steps: Vec<Step>,
    is_complete: bool,
}

fn reduced(model: &ModelProto, limit: usize, fails: impl Fn(&Seen) -> bool) -> Outcome {
    let whole = nodes(model);
    let mut check = |candidate: &Nodes, _| Ok(verdict(fails(&Seen::of(candidate.program()))));
    assert!(fails(&Seen::of(whole.program())), "the model does not fail");
    let mut search = Search::new(whole, limit, &mut check);
    let is_complete = match search.run() {
        Ok(()) => true,
        Err(Halt::Stopped) => false,
        Err(Halt::Error(error)) => panic!("{error}"),
    };
    let best = Seen::of(search.best.program());
    assert!(fails(&best), "the result fails");
    Outcome {
        best: best.operators(),
        size: search.best.size(),
        checks: search.checks,
        steps: search.steps.clone(),
        is_complete,
    }
}

/// Seeded failures in models of 1,000 nodes: at most 5 nodes are left after at most 200 checks
/// in 28 of 30 cases.
#[test]
fn seeded_failures_are_reduced_to_few_nodes_by_few_checks() {
    // Smaller models have no room for what is planted.
    let size = 1000 / scale().min(4);
    let mut report = String::new();
    let (mut cases, mut good) = (0, 0);
    for family in FAMILIES {
        for (seed, failure) in Failure::ALL.into_iter().enumerate() {
            // In a random graph, a path between two given nodes may be missing.
            let mut seeds = (seed as u64 + 1..).step_by(10).take(100);
            let planted = failure.planted(family);
            let model = seeds.find_map(|seed| {
                let model = models::model(family, size, planted, seed);
                failure
                    .is_in(&Seen::of(nodes(&model).program()))
                    .then_some(model)
            });
            let model = model.expect("a model that fails");
            let before = nodes(&model).size();
            assert!(
                (size * 9 / 10..=size * 11 / 10).contains(&before),
                "{before}"
            );
            let found = reduced(&model, usize::MAX, |seen| failure.is_in(seen));
            cases += 1;
            good += usize::from(found.size <= 5 && found.checks <= 200);
            report += &format!(
                "{family:?} {failure:?}: {before} -> {} nodes, {} checks: {}\n",
                found.size,
                found.checks,
                found.best.join(" ")
            );
        }
    }
    assert_eq!(cases, 30);
    assert!(good >= 28, "{good} of {cases}\n{report}");
}

#[test]
fn a_search_ends_with_the_best_so_far() {
    let model = models::model(Family::Chain, 200, Failure::Apart.planted(Family::Chain), 1);
    let fails = |seen: &Seen| Failure::Apart.is_in(seen);
    let whole = reduced(&model, usize::MAX, fails);
    assert_eq!((whole.size, whole.is_complete), (3, true));
    let first = reduced(&model, 10, fails);
    assert_eq!((first.checks, first.is_complete), (10, false));
    assert!((4..200).contains(&first.size), "{}", first.size);
    let none = reduced(&model, 0, fails);
    assert_eq!((none.size, none.checks, none.is_complete), (200, 0, false));
    assert!(none.steps.is_empty());
}

#[test]
fn steps_tell_how_the_program_got_smaller() {
    let model = models::model(
        Family::Bodies,
        200,
        Failure::Path.planted(Family::Bodies),
        3,
    );
    let found = reduced(&model, usize::MAX, |seen| Failure::Path.is_in(seen));
    let names: Vec<&str> = found.steps.iter().map(|step| step.step).collect();
    assert_eq!(names, ["end", "start", "parts", "variants"]);
    let mut before = 200;
    for step in &found.steps {
        assert!(step.nodes < before, "{:?}", found.steps);
        before = step.nodes;
    }
    assert_eq!(before, found.size);
}

/// Candidates are the same in every run, and no two checks are about equal programs.
#[test]
fn checks_repeat_in_another_run_but_not_in_one() {
    let model = models::model(
        Family::Random,
        200,
        Failure::Apart.planted(Family::Random),
        5,
    );
    let run = || {
        let mut digests = Vec::new();
        let mut check = |candidate: &Nodes, _| {
            digests.push(candidate.digest().unwrap());
            Ok(verdict(
                Failure::Apart.is_in(&Seen::of(candidate.program())),
            ))
        };
        let mut search = Search::new(nodes(&model), usize::MAX, &mut check);
        assert!(search.run().is_ok());
        digests
    };
    let (first, second) = (run(), run());
    assert_eq!(first, second);
    let distinct: HashSet<_> = first.iter().collect();
    assert_eq!(distinct.len(), first.len());
}
