//! Names by kind: an edit changes few lines of other nodes.

use std::collections::HashMap;

use isoform_testing::source::{Source, random_bytes};

use super::*;

/// A step of a program: an operator, a number, and distances to two operands.
#[derive(Clone)]
struct Step {
    operator: usize,
    number: i64,
    operands: [usize; 2],
}

fn random_steps(source: &mut Source<'_>, operators: usize, count: usize) -> Vec<Step> {
    let step = |source: &mut Source<'_>| Step {
        operator: source.below(operators),
        number: source.below(9) as i64,
        operands: [1, 1 + source.below(3)],
    };
    (0..count).map(|_| step(source)).collect()
}

/// The function of the steps. Each operand is the result of an earlier step, or the parameter.
fn program(steps: &[Step]) -> Value {
    let x = var("x");
    let operators: Vec<Ref<Op>> = (0..32).map(|it| Op::new(format!("op{it}"))).collect();
    let mut results: Vec<Value> = vec![(&x).into()];
    for step in steps {
        let mut args = vec![Value::from(step.number)];
        args.extend(
            step.operands
                .map(|distance| results[results.len().saturating_sub(distance)].clone()),
        );
        results.push(call(&operators[step.operator], &args).into());
    }
    // Every result has a user, so that it has a line.
    let results: Array<Value> = results.into_iter().collect();
    Func::new(results, [x]).into()
}

/// The number of lines of `after` that `before` does not have.
fn new_lines(before: &str, after: &str) -> usize {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    for line in before.lines() {
        *counts.entry(line).or_default() += 1;
    }
    let mut new = 0;
    for line in after.lines() {
        let count = counts.entry(line).or_default();
        *count -= 1;
        new += usize::from(*count < 0);
    }
    new
}

#[test]
fn names_consist_of_a_word_and_digits() -> Result<()> {
    let x = var("x");
    let (add, neg) = (Op::new("add"), Op::new("neg"));
    let sum = call(&add, &[(&x).into(), (&x).into()]);
    let twice = call(&neg, &[(&sum).into(), sum.into()]);
    let function = Value::from(Func::new([Value::from(&twice), twice.into()], [x]));
    let options = TextOptions::default().structural_names(true);
    let text = options.to_text(&function)?;
    let names: Vec<&str> = (text.lines())
        .filter_map(|line| line.trim().strip_prefix('%')?.split_once(" = "))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names.len(), 2, "{text}");
    for (name, word) in names.iter().zip(["add.", "neg."]) {
        let digits = name.strip_prefix(word).expect(&text);
        assert!(digits.len() == 6 && digits.chars().all(|it| it.is_ascii_hexdigit()));
    }
    check_round_trip(&function, &options);
    Ok(())
}

/// The mean number of new lines by an inserted or deleted step in programs of 120 steps, with
/// numbers and with names by kind. The inserted step has the given operator, or any.
fn new_lines_by_edits(operators: usize, inserted: Option<usize>) -> [usize; 2] {
    const STEPS: usize = 120;
    const PROGRAMS: u64 = 40;
    let text = |steps: &[Step], structural: bool| {
        let options = TextOptions::default().structural_names(structural);
        options.to_text(program(steps)).expect("a text")
    };
    let mut totals = [0; 2];
    for seed in 0..PROGRAMS {
        let bytes = random_bytes(seed, 4096);
        let mut source = Source::new(&bytes);
        let steps = random_steps(&mut source, operators, STEPS);
        let place = source.below(STEPS);
        let mut longer = steps.clone();
        let mut step = random_steps(&mut source, operators, 1)[0].clone();
        step.operator = inserted.unwrap_or(step.operator);
        longer.insert(place, step);
        let mut shorter = steps.clone();
        shorter.remove(place);
        let mut renumbered = steps.clone();
        renumbered[place].number += 10;
        for structural in [false, true] {
            let before = text(&steps, structural);
            assert_eq!(new_lines(&before, &text(&renumbered, structural)), 1);
            for edited in [&longer, &shorter] {
                totals[usize::from(structural)] += new_lines(&before, &text(edited, structural));
            }
        }
    }
    totals.map(|total| total / (2 * PROGRAMS as usize))
}

#[test]
fn an_edit_changes_few_lines() {
    for (operators, inserted) in [
        (4, None),
        (4, Some(30)),
        (7, None),
        (20, None),
        (20, Some(30)),
    ] {
        let [numbered, structural] = new_lines_by_edits(operators, inserted);
        let told = format!("{operators} operators, {inserted:?}: {structural} of {numbered}");
        assert!(numbered >= 50 && structural <= 25, "{told}");
    }
    // Nothing tells nodes of a single kind apart but their number.
    let [numbered, structural] = new_lines_by_edits(1, None);
    assert!(structural <= numbered + 1, "{structural} of {numbered}");
}

#[test]
fn texts_with_names_by_kind_are_the_same_in_every_process() -> Result<()> {
    let steps = [0, 1, 0].map(|operator| Step {
        operator,
        number: 1,
        operands: [1, 1],
    });
    let options = TextOptions::default().structural_names(true);
    let text = options.to_text(program(&steps))?;
    for name in ["%op0.64f243 = ", "%op1.aa05a1 = "] {
        assert!(text.contains(name), "{text}");
    }
    Ok(())
}
