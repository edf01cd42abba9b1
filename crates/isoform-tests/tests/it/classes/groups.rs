//! Duplicates and interning.

use isoform::compare::{ClassOptions, duplicates, intern};
use isoform::values::{List, ValueRef};
use isoform::{Map, Obj, Ref, Value, structural_equal};

use isoform_testing::source::scaled;

use crate::support::terms::*;

fn groups(values: &[Value], min_size: u64, min_count: usize) -> Vec<(u64, Vec<usize>)> {
    let found = duplicates(values, min_size, min_count).expect("comparable");
    found
        .iter()
        .map(|group| {
            (
                group.size,
                group.members.iter().map(|member| member.0).collect(),
            )
        })
        .collect()
}

#[test]
fn groups_are_maximal_and_the_largest_saving_comes_first() {
    let small = || add(int(1), int(2));
    let large = || add(small(), add(int(3), int(4)));
    // `small` also occurs outside of `large`, and saves only the other sum.
    let programs = [
        Value::from(add(large(), int(8))),
        Value::from(add(int(9), large())),
        Value::from(add(small(), int(7))),
    ];
    let expected = [(3, vec![0, 1, 2]), (7, vec![0, 1])];
    assert_eq!(groups(&programs, 2, 2), expected);
    assert_eq!(groups(&programs, 4, 2), expected[1..]);
    assert_eq!(groups(&programs, 2, 3), expected[..1]);
    assert_eq!(groups(&programs[..2], 2, 2), expected[1..]);
    let saved = |programs: &[Value]| -> Vec<u64> {
        let found = duplicates(programs, 2, 2).expect("comparable");
        found.iter().map(|group| group.saved).collect()
    };
    assert_eq!(saved(&programs), [6, 4]);
    assert_eq!(saved(&programs[..2]), [7]);
}

#[test]
fn clones_may_use_other_variables() {
    let (x, y) = (var("x"), var("y"));
    let of = |var| Value::from(add(add(var, int(1)), var));
    let programs = [fun([&x], of(&x)), fun([&y], of(&y)), of(&y)];
    assert_eq!(groups(&programs, 2, 2)[0].1.len(), 3);
    let by_identity = ClassOptions::default()
        .duplicates(&programs, 2, 2)
        .expect("comparable");
    let counts: Vec<_> = by_identity
        .iter()
        .map(|group| group.members.len())
        .collect();
    assert_eq!(counts, [2, 2], "the functions, and the sums over y");
}

#[test]
fn a_group_is_split_by_what_comparison_says() {
    let node = || call("f", vec![Value::from(1)]);
    let shared = || {
        let one = node();
        Value::from(Step::new(array([one.clone(), one])))
    };
    let apart = || Value::from(Step::new(array([node(), node()])));
    let programs = [shared(), apart(), shared(), apart()];
    let found = groups(&programs, 3, 2);
    assert_eq!(found, [(3, vec![0, 2]), (3, vec![1, 3])]);
}

#[test]
fn results_of_a_node_are_no_groups_beside_the_node() {
    let split = || Call::new("split", array([Value::from(add(int(1), int(2)))]));
    let pick = |node: &Ref<Call>, index| Value::from(Pick::new(node.clone(), index));
    // Each use of a result is an object of its own.
    let uses = |node: &Ref<Call>| array([pick(node, 0), pick(node, 1), pick(node, 0)]);
    let [one, other] = [split(), split()];
    let whole = groups(&[&one, &other].map(Value::from), 2, 2);
    assert_eq!(whole, [(4, vec![0, 1])]);
    assert_eq!(groups(&[uses(&one)], 2, 2), [], "all of one node");
    let apart = [pick(&one, 0), pick(&one, 1), pick(&other, 1)];
    assert_eq!(groups(&apart, 2, 2), [(4, vec![0, 2])]);
    let programs = [
        Value::from(Step::new(uses(&one))),
        Value::from(Stride::new(array([pick(&other, 1), pick(&other, 0)]))),
    ];
    assert_eq!(groups(&programs, 2, 2), whole);
}

#[track_caller]
fn interned(value: &Value) -> Value {
    let made = intern(value).expect("comparable");
    assert!(
        structural_equal(value, &made).expect("comparable"),
        "{value:?} and {made:?}"
    );
    made
}

fn item(value: &Value, index: usize) -> Ref<Obj> {
    let ValueRef::Array(items) = value.view() else {
        panic!("expected an array, got {value:?}");
    };
    items.values()[index]
        .as_object()
        .expect("an object")
        .clone()
}

fn is_same(value: &Value, left: usize, right: usize) -> bool {
    item(value, left).identity() == item(value, right).identity()
}

#[test]
fn equal_trees_become_one_object() {
    let sum = || Value::from(add(int(1), add(int(1), int(2))));
    let value = array([sum(), sum(), add(int(1), int(2)).into()]);
    let made = interned(&value);
    assert!(is_same(&made, 0, 1) && !is_same(&made, 0, 2));
    let inner = isoform::objects::field_value(&item(&made, 0), "rhs").expect("a field");
    assert_eq!(
        inner.as_object().map(Ref::identity),
        Some(item(&made, 2).identity())
    );
    // The first of two equal nodes keeps its ignored fields.
    let noted = array([
        Int::new(1).with_note("first").into(),
        Int::new(1).with_note("second").into(),
    ]);
    let made = interned(&noted);
    let note = isoform::objects::field_value(&item(&made, 1), "note").expect("a field");
    assert_eq!(note, Value::from("first"));
}

#[test]
fn bound_and_free_variables() {
    let (x, y) = (var("x"), var("y"));
    let made = interned(&array([fun([&x], &x), fun([&y], &y)]));
    assert!(is_same(&made, 0, 1), "closed functions");
    let sums = array([add(&x, int(1)), add(&x, int(1)), add(&y, int(1))].map(Value::from));
    let made = interned(&sums);
    assert!(is_same(&made, 0, 1) && !is_same(&made, 0, 2));
    let statements = || Value::from(Step::new(Value::from(Assign::new(1, &x))));
    let made = interned(&array([statements(), statements()]));
    assert!(
        !is_same(&made, 0, 1),
        "its definition outlives the statement"
    );
}

#[test]
fn identity_is_kept_where_it_counts() {
    let node = || call("f", vec![Value::from(1)]);
    let made = interned(&array([node(), node()]));
    assert!(!is_same(&made, 0, 1), "dag nodes");
    let list = || Value::from(List::from(vec![Value::from(1)]));
    let made = interned(&array([list(), list()]));
    assert!(!is_same(&made, 0, 1), "lists");
    let (one, other) = (Value::from(int(1)), Value::from(int(1)));
    let map = [(one.clone(), 1.into()), (other.clone(), 2.into())];
    let map = Value::from(map.into_iter().collect::<Map>());
    let made = interned(&array([one, other, map]));
    assert!(!is_same(&made, 0, 1), "keys of a map");
}

#[test]
fn sharing_of_dag_nodes_stays() {
    // The parts of both calls are merged, and the calls are rebuilt, once for each.
    let part = || Value::from(add(int(1), int(2)));
    let [one, other] = [(); 2].map(|()| Call::new("f", array([part()])));
    let calls = [&one, &other, &one, &other].map(Value::from);
    let made = interned(&array(calls));
    assert!(is_same(&made, 0, 2) && is_same(&made, 1, 3) && !is_same(&made, 0, 1));
    // A node that is also in a list stays the same in both places.
    let list = Value::from(List::from(vec![Value::from(&other)]));
    let made = interned(&array([part(), Value::from(&other), list]));
    assert_eq!(item(&made, 1).identity(), other.identity());
}

#[test]
fn nothing_to_merge_is_the_same_object() {
    let value = Value::from(add(int(1), int(2)));
    let made = intern(&value).expect("comparable");
    let identity = |value: &Value| value.as_object().map(Ref::identity);
    assert_eq!(identity(&made), identity(&value));
}

#[test]
fn a_million_levels_twice() {
    let levels = scaled(1_000_000);
    let value = array([steps(levels, 1), steps(levels, 1)]);
    assert!(is_same(&intern(&value).expect("comparable"), 0, 1));
    let found = duplicates(&[value], 2, 2).expect("comparable");
    assert_eq!((found.len(), found[0].size), (1, levels as u64));
}
