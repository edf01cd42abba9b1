//! The work for a merge, as counts.

use isoform::compare::{Merge, merge};
use isoform::{Ref, Value, structural_equal};

use isoform_testing::source::scaled;

use crate::support::terms::*;

/// A merge without conflicts that gives a value, with at most this many visits.
#[track_caller]
fn check(base: &Value, [left, right]: [&Value; 2], expected: &Value, visits: u64) -> Merge {
    let merged = merge(base.clone(), left.clone(), right.clone()).expect("comparable");
    assert!(merged.is_clean(), "{merged}");
    assert!(structural_equal(merged.merged(), expected).expect("comparable"));
    assert!(merged.visits() <= visits, "{} of {visits}", merged.visits());
    merged
}

#[test]
fn a_deep_chain_with_an_edit_at_each_end() {
    let depth = scaled(300_000);
    let chain = |leaf: i64, first: i64| Value::from(add(steps(depth, int(leaf)), int(first)));
    check(
        &chain(1, 1),
        [&chain(2, 1), &chain(1, 2)],
        &chain(2, 2),
        2 * depth as u64 + 20,
    );
    let conflict = merge(chain(1, 1), chain(2, 1), chain(3, 1)).expect("comparable");
    assert_eq!(conflict.conflicts()[0].path().steps().len(), depth + 2);
}

#[test]
fn a_long_list_of_edited_parts() {
    let parts = |edited: &[i64], value: i64| {
        array((0..20_000i64).map(|at| {
            if edited.contains(&at) {
                Value::from(add(int(at), int(value)))
            } else {
                add(int(at), int(0)).into()
            }
        }))
    };
    let base = parts(&[], 1);
    let (left, right) = (parts(&[10, 500], 1), parts(&[11, 9_000, 19_999], 1));
    let expected = parts(&[10, 11, 500, 9_000, 19_999], 1);
    // Building the list looks at every element.
    check(&base, [&left, &right], &expected, 20_000 + 30);
}

#[test]
fn shared_parts_are_built_once_for_each_fate() {
    let doubled = |leaf: i64| {
        let mut value = Value::from(int(leaf));
        for _ in 0..60 {
            value = add(value.clone(), value).into();
        }
        value
    };
    let base = array([doubled(1), 1.into()]);
    let left = array([doubled(2), 1.into()]);
    let right = array([doubled(1), 5.into()]);
    check(&base, [&left, &right], &array([doubled(2), 5.into()]), 200);
    // The leaf at one of 2^60 places.
    let one_place = |at_left: bool| {
        let mut shared = Value::from(int(1));
        let mut edited = Value::from(int(2));
        for _ in 0..60 {
            edited = if at_left {
                add(edited, shared.clone())
            } else {
                add(shared.clone(), edited)
            }
            .into();
            shared = add(shared.clone(), shared).into();
        }
        edited
    };
    let both = {
        let mut shared = Value::from(int(1));
        let mut edited = [Value::from(int(2)), int(2).into()];
        for level in 0..60 {
            let [left, right] = edited;
            edited = match level {
                59 => [add(left.clone(), right.clone()).into(), Value::NONE],
                _ => [
                    add(left, shared.clone()).into(),
                    add(shared.clone(), right).into(),
                ],
            };
            shared = add(shared.clone(), shared).into();
        }
        edited[0].clone()
    };
    check(
        &doubled(1),
        [&one_place(true), &one_place(false)],
        &both,
        1000,
    );
}

#[test]
fn a_graph_of_shared_dag_nodes() {
    let graph = |edited: &[(usize, &str)]| {
        let mut nodes = vec![call("in", array([]))];
        for at in 0..2_000 {
            let op = edited.iter().find(|(place, _)| *place == at);
            let op = op.map_or_else(|| format!("op{}", at % 7), |(_, op)| (*op).to_owned());
            let last = nodes[nodes.len() - 1].clone();
            let other = nodes[nodes.len() / 2].clone();
            nodes.push(call(&op, array([last, other])));
        }
        array(nodes)
    };
    let (one, two) = ((1_990, "left"), (1_995, "right"));
    check(
        &graph(&[]),
        [&graph(&[one]), &graph(&[two])],
        &graph(&[one, two]),
        2_000 + 200,
    );
}

#[test]
fn functions_that_the_sides_rename() {
    let module = |edited: &[i64], name: &str| {
        array((0..1_000i64).map(|at| {
            let params: Vec<Ref<Var>> = (0..3).map(|_| var(name)).collect();
            let number = if edited.contains(&at) { -at } else { at };
            fun(
                &params,
                add(add(&params[0], &params[1]), add(&params[2], int(number))),
            )
        }))
    };
    check(
        &module(&[], "a"),
        [&module(&[3, 700], "b"), &module(&[4], "c")],
        &module(&[3, 4, 700], "d"),
        1_000 + 40,
    );
}
