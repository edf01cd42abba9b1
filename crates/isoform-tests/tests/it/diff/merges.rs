//! Three-way merges: the results for each kind of change, and the conflicts.

use isoform::compare::{Conflict, DiffOptions, Merge, Resolution, merge};
use isoform::values::Dict;
use isoform::{Map, Ref, Value, structural_equal};

use crate::support::MAPPED;
use crate::support::terms::*;

#[track_caller]
fn merged(base: &Value, left: &Value, right: &Value) -> Merge {
    merge(base.clone(), left.clone(), right.clone()).expect("comparable values")
}

/// Expects a merge without conflicts, in both orders of the sides.
#[track_caller]
fn clean(base: &Value, left: &Value, right: &Value, expected: &Value) {
    for (left, right) in [(left, right), (right, left)] {
        let found = merged(base, left, right);
        assert!(found.is_clean(), "{found}");
        let got = found.merged();
        assert!(is_equal(got, expected), "{got:?}, expected {expected:?}");
    }
}

/// Expects one conflict at a place, in both orders of the sides, and returns it with the
/// merge.
#[track_caller]
fn conflict(base: &Value, left: &Value, right: &Value, path: &str) -> (Merge, Conflict) {
    for (left, right) in [(right, left), (left, right)] {
        let found = merged(base, left, right);
        let [conflict] = found.conflicts() else {
            panic!("expected one conflict, got {found}");
        };
        assert_eq!(conflict.path().to_string(), path, "{found}");
        assert_eq!(conflict.reason(), None, "{found}");
        let resolved =
            |resolution: &Resolution| found.resolve(|_| Ok(resolution.clone())).expect("a value");
        // With the base chosen for the conflict, the result is the merged value.
        assert!(is_equal(&resolved(&Resolution::Base), found.merged()));
    }
    let found = merged(base, left, right);
    let conflict = found.conflicts()[0].clone();
    (found, conflict)
}

#[track_caller]
fn is_equal(one: &Value, other: &Value) -> bool {
    structural_equal(one, other).expect("comparable values")
}

fn ints(items: &[i64]) -> Value {
    array(items.iter().map(|&item| item.into()))
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let entries = entries
        .into_iter()
        .map(|(key, value)| (Value::from(key), value));
    entries.collect::<Map>().into()
}

#[test]
fn edits_of_different_fields_are_both_applied() {
    let base = Value::from(add(int(1), int(2)));
    let left = add(int(5), int(2)).into();
    let right = add(int(1), add(int(2), int(3))).into();
    clean(
        &base,
        &left,
        &right,
        &add(int(5), add(int(2), int(3))).into(),
    );
}

#[test]
fn the_same_edit_is_applied_once() {
    let base = ints(&[1, 2, 3]);
    clean(
        &base,
        &ints(&[1, 9, 2, 3]),
        &ints(&[1, 9, 2, 3, 4]),
        &ints(&[1, 9, 2, 3, 4]),
    );
    clean(&base, &ints(&[2, 3]), &ints(&[2, 3, 4]), &ints(&[2, 3, 4]));
    clean(
        &base,
        &ints(&[1, 7, 3]),
        &ints(&[1, 7, 3, 4]),
        &ints(&[1, 7, 3, 4]),
    );
}

#[test]
fn lists_are_merged_element_by_element_and_gap_by_gap() {
    let base = ints(&[1, 2, 3, 4]);
    // Neighbours.
    clean(
        &base,
        &ints(&[1, 20, 3, 4]),
        &ints(&[1, 2, 30, 4]),
        &ints(&[1, 20, 30, 4]),
    );
    // An insertion beside an edit, and beside a deletion.
    clean(
        &base,
        &ints(&[1, 20, 3, 4]),
        &ints(&[1, 2, 9, 3, 4]),
        &ints(&[1, 20, 9, 3, 4]),
    );
    clean(
        &base,
        &ints(&[1, 3, 4]),
        &ints(&[1, 2, 9, 3, 4]),
        &ints(&[1, 9, 3, 4]),
    );
    clean(&base, &ints(&[1, 3, 4]), &ints(&[1, 2, 4]), &ints(&[1, 4]));
    let (merge, conflict) = conflict(
        &base,
        &ints(&[1, 8, 2, 3, 4]),
        &ints(&[1, 9, 2, 3, 4]),
        "<root>[1]",
    );
    assert!(conflict.base().is_empty() && !conflict.is_single());
    assert!(is_equal(merge.merged(), &base));
    let both =
        |conflict: &Conflict| Resolution::Parts([conflict.left(), conflict.right()].concat());
    let resolved = merge
        .resolve(|conflict| Ok(both(conflict)))
        .expect("a value");
    assert!(is_equal(&resolved, &ints(&[1, 8, 9, 2, 3, 4])));
}

#[test]
fn a_stretch_of_another_length_is_one_conflict() {
    let base = ints(&[1, 2, 3, 4, 5]);
    let left = ints(&[1, 20, 21, 22, 4, 5]);
    let right = ints(&[1, 2, 30, 4, 50]);
    let (merge, conflict) = conflict(&base, &left, &right, "<root>[1]");
    assert!(is_equal(&array(conflict.base().to_vec()), &ints(&[2, 3])));
    assert!(is_equal(
        &array(conflict.left().to_vec()),
        &ints(&[20, 21, 22])
    ));
    assert!(is_equal(&array(conflict.right().to_vec()), &ints(&[2, 30])));
    assert!(is_equal(merge.merged(), &ints(&[1, 2, 3, 4, 50])));
    let left = merge.resolve(|_| Ok(Resolution::Left)).expect("a value");
    assert!(is_equal(&left, &ints(&[1, 20, 21, 22, 4, 50])));
    // A side that changed nothing there.
    let right = ints(&[1, 2, 3, 4, 50]);
    clean(
        &base,
        &ints(&[1, 20, 21, 22, 4, 5]),
        &right,
        &ints(&[1, 20, 21, 22, 4, 50]),
    );
}

#[test]
fn a_part_that_one_side_deletes_and_the_other_edits_is_a_conflict() {
    let part = |n: i64| Value::from(add(add(int(1), int(2)), int(n)));
    let base = array([part(3), 7.into()]);
    let (left, right) = (array([7.into()]), array([part(4), 7.into()]));
    let (merge, conflict) = conflict(&base, &left, &right, "<root>[0]");
    assert!(conflict.left().is_empty());
    assert!(is_equal(&conflict.right()[0], &part(4)));
    assert!(is_equal(merge.merged(), &base));
    assert_eq!(
        conflict.right_change().expect("comparable").summary(),
        "1 value"
    );
    let (base, left, right) = (
        map([("a", part(3)), ("b", 1.into())]),
        map([("b", 1.into())]),
        map([("a", part(4)), ("b", 2.into())]),
    );
    let (merge, conflict) = self::conflict(&base, &left, &right, "<root>[\"a\"]");
    assert!(conflict.left().is_empty() && !conflict.is_single());
    let resolve =
        |resolution: Resolution| merge.resolve(|_| Ok(resolution.clone())).expect("a value");
    assert!(is_equal(
        &resolve(Resolution::Left),
        &map([("b", 2.into())])
    ));
    assert!(is_equal(
        &resolve(Resolution::Right),
        &map([("a", part(4)), ("b", 2.into())])
    ));
}

#[test]
fn edits_follow_a_part_that_the_other_side_moves_or_wraps() {
    let part = |n: i64| Value::from(add(add(int(1), int(2)), add(int(3), int(n))));
    let base = array([part(4), 7.into(), 8.into()]);
    let edited = array([part(5), 7.into(), 8.into()]);
    let moved = |n: i64| array([7.into(), 8.into(), part(n)]);
    clean(&base, &edited, &moved(4), &moved(5));
    let wrapped = |n: i64| array([Step::new(part(n)).into(), 7.into(), 8.into()]);
    clean(&base, &edited, &wrapped(4), &wrapped(5));
    // Small parts are alike by chance.
    let base = array([add(int(1), int(2)).into(), 7.into(), 8.into()]);
    let moved = array([7.into(), 8.into(), add(int(1), int(2)).into()]);
    let edited = array([add(int(1), int(3)).into(), 7.into(), 8.into()]);
    conflict(&base, &edited, &moved, "<root>[0]");
}

#[test]
fn maps_are_merged_key_by_key() {
    let base = map([("a", 1.into()), ("b", 2.into()), ("c", 3.into())]);
    let left = map([
        ("a", 10.into()),
        ("b", 2.into()),
        ("c", 3.into()),
        ("d", 4.into()),
    ]);
    let right = map([
        ("a", 1.into()),
        ("c", 30.into()),
        ("e", 5.into()),
        ("d", 4.into()),
    ]);
    let expected = map([
        ("a", 10.into()),
        ("c", 30.into()),
        ("d", 4.into()),
        ("e", 5.into()),
    ]);
    clean(&base, &left, &right, &expected);
    let (_, conflict) = conflict(
        &base,
        &map([
            ("a", 1.into()),
            ("b", 2.into()),
            ("c", 3.into()),
            ("d", 4.into()),
        ]),
        &map([
            ("a", 1.into()),
            ("b", 2.into()),
            ("c", 3.into()),
            ("d", 5.into()),
        ]),
        "<root>[\"d\"]",
    );
    assert!(conflict.base().is_empty());
}

#[test]
fn shared_parts_of_trees_have_a_fate_at_each_place() {
    let shared = Value::from(add(int(1), int(2)));
    let other = |n: i64| Value::from(add(int(1), int(n)));
    let base = array([shared.clone(), shared.clone(), shared.clone()]);
    let place = |at: usize, n: i64| {
        let mut items = vec![shared.clone(); 3];
        items[at] = other(n);
        array(items)
    };
    for (one, two) in [(0, 1), (0, 2), (1, 2), (2, 1), (1, 0), (2, 0)] {
        let mut expected = vec![shared.clone(); 3];
        expected[one] = other(5);
        expected[two] = other(6);
        clean(&base, &place(one, 5), &place(two, 6), &array(expected));
    }
    let everywhere = array(vec![Value::from(add(int(9), int(2))); 3]);
    let mut expected = vec![Value::from(add(int(9), int(2))); 3];
    expected[1] = add(int(9), int(5)).into();
    clean(&base, &everywhere, &place(1, 5), &array(expected));
}

#[test]
fn names_of_bound_variables_do_not_matter() {
    let program = |name: &str, make: &dyn Fn(&Ref<Var>) -> Value| {
        let x = var(name);
        fun([&x], make(&x))
    };
    let base = program("x", &|x| add(add(x, int(1)), add(x, int(2))).into());
    let left = program("y", &|x| add(add(x, x), add(x, int(2))).into());
    let right = program("z", &|x| add(add(x, int(1)), add(int(2), x)).into());
    let expected = program("w", &|x| add(add(x, x), add(int(2), x)).into());
    clean(&base, &left, &right, &expected);
    let renamed = program("z", &|x| add(add(x, int(1)), add(x, int(2))).into());
    clean(&base, &renamed, &left, &left);
}

#[test]
fn variables_that_both_sides_add_are_one() {
    let program =
        |lhs: &dyn Fn(&[Ref<Var>]) -> Value, rhs: &dyn Fn(&[Ref<Var>]) -> Value, count| {
            let vars: Vec<Ref<Var>> = (0..count).map(|_| var("x")).collect();
            fun(&vars, add(lhs(&vars), rhs(&vars)))
        };
    let plain = |vars: &[Ref<Var>]| Value::from(add(&vars[0], int(1)));
    let using = |vars: &[Ref<Var>]| Value::from(add(&vars[0], &vars[1]));
    let base = program(&plain, &plain, 1);
    let left = program(&using, &plain, 2);
    let right = program(&plain, &using, 2);
    clean(&base, &left, &right, &program(&using, &using, 2));
}

#[test]
fn a_use_of_a_variable_that_the_other_side_deletes_is_a_conflict() {
    let (x, y) = (var("x"), var("y"));
    let base = array([fun([&x, &y], add(&x, &x)), 1.into()]);
    let left = array([fun([&x], add(&x, &x)), 1.into()]);
    let right = array([fun([&x, &y], add(&x, &y)), 1.into()]);
    let found = merged(&base, &left, &right);
    let [conflict] = found.conflicts() else {
        panic!("expected one conflict, got {found}");
    };
    assert_eq!(conflict.path().to_string(), "<root>");
    let reason = conflict.reason().expect("a reason");
    assert!(reason.contains("nothing binds it"), "{reason}");
    assert!(is_equal(found.merged(), &base));
    let resolved = found.resolve(|_| Ok(Resolution::Right)).expect("a value");
    assert!(is_equal(&resolved, &right));
}

#[test]
fn dag_nodes_stay_shared_and_have_the_edits_of_both_sides() {
    let program = |op: &str, args: &[i64], user: &str| {
        let node = call(op, ints(args));
        array([call("first", node.clone()), call(user, node)])
    };
    let base = program("op", &[1, 2], "second");
    let left = program("other", &[1, 2], "second");
    let right = program("op", &[1, 2, 3], "last");
    let expected = program("other", &[1, 2, 3], "last");
    clean(&base, &left, &right, &expected);
    let (_, conflict) = conflict(
        &base,
        &left,
        &program("another", &[1, 2], "second"),
        "<root>[0].args.op",
    );
    assert!(is_equal(&conflict.base()[0], &"op".into()));
}

#[test]
fn a_dag_node_may_be_edited_where_the_other_side_uses_it_less() {
    let program = |op: &str, is_used: bool| {
        let (node, other) = (call(op, ints(&[1])), call("in", ints(&[])));
        let operand = if is_used { node.clone() } else { other.clone() };
        array([other, call("first", node), call("second", operand)])
    };
    clean(
        &program("a", true),
        &program("b", true),
        &program("a", false),
        &program("b", false),
    );
}

#[test]
fn what_variables_are_merges_with_how_they_are_used() {
    let program = |ty: &str, body: &dyn Fn(&Ref<Var>) -> Value| {
        let x = typed(ty);
        array([x.clone().into(), body(&x)])
    };
    let plain = |x: &Ref<Var>| Value::from(add(add(x, int(1)), int(2)));
    let other = |x: &Ref<Var>| Value::from(add(int(3), add(x, int(1))));
    let options = DiffOptions {
        compare: MAPPED,
        ..DiffOptions::default()
    };
    let (base, left) = (program("f32", &plain), program("f16", &plain));
    let found = options
        .merge(base, left, program("f32", &other))
        .expect("comparable");
    assert!(found.is_clean(), "{found}");
    let expected = program("f16", &other);
    assert!(MAPPED.equal(found.merged(), expected).expect("comparable"));
}

#[test]
fn mutable_containers_stay_one_object() {
    let program = |entries: &[(&str, i64)]| {
        let entries = entries
            .iter()
            .map(|(key, value)| (Value::from(*key), (*value).into()));
        let dict = Value::from(entries.collect::<Dict>());
        array([dict.clone(), dict])
    };
    let merge = merged(
        &program(&[("a", 1), ("b", 2)]),
        &program(&[("a", 5), ("b", 2)]),
        &program(&[("a", 1), ("b", 2), ("c", 3)]),
    );
    assert!(merge.is_clean(), "{merge}");
    assert!(is_equal(
        merge.merged(),
        &program(&[("a", 5), ("b", 2), ("c", 3)])
    ));
    let items = merge
        .merged()
        .peek::<isoform::Array>()
        .expect("a list")
        .values()
        .to_vec();
    assert!(
        items[0]
            .as_object()
            .expect("a dict")
            .same_as(items[1].as_object().expect("a dict"))
    );
}

#[test]
fn edits_that_would_make_a_circle_are_a_conflict() {
    // The left side makes the one node an operand of the other, the right side the reverse.
    let program =
        |of_one: &dyn Fn(&Value) -> Value, of_other: &dyn Fn(&Value) -> Value, first: bool| {
            let leaf = call("in", ints(&[]));
            if first {
                let one_call = call("one", of_one(&leaf));
                let other_call = call("other", of_other(&one_call));
                array([one_call, other_call, leaf])
            } else {
                let other_call = call("other", of_other(&leaf));
                let one_call = call("one", of_one(&other_call));
                array([one_call, other_call, leaf])
            }
        };
    let wrap = |value: &Value| array([value.clone()]);
    let base = program(&wrap, &|_| array([call("x", ints(&[]))]), true);
    let left = program(&wrap, &wrap, true);
    let right = program(&wrap, &|_| array([call("x", ints(&[]))]), false);
    let merge = merged(&base, &left, &right);
    let text = merge.to_string();
    for resolution in [Resolution::Left, Resolution::Right] {
        let resolved = merge.resolve(|_| Ok(resolution.clone())).expect("a value");
        assert!(
            structural_equal(&resolved, &resolved).expect("comparable"),
            "{text}"
        );
    }
    assert!(!merge.is_clean(), "{text}");
}

#[test]
fn a_resolution_has_to_fit_its_place() {
    let (base, left, right) = (ints(&[1, 2]), ints(&[1, 3]), ints(&[1, 4]));
    let found = merged(&base, &left, &right);
    let with = |parts: Vec<Value>| found.resolve(|_| Ok(Resolution::Parts(parts.clone())));
    assert!(is_equal(
        &with(vec![9.into()]).expect("a value"),
        &ints(&[1, 9])
    ));
    let error = with(Vec::new()).expect_err("no part");
    assert_eq!(
        error.message(),
        "resolve: expected one part for the conflict at <root>[1], got 0"
    );
}

#[test]
fn a_report_names_the_place_and_all_three_parts() {
    let found = merged(&ints(&[1, 2]), &ints(&[1, 3, 5]), &ints(&[1, 4]));
    assert_eq!(
        merged(&ints(&[1, 2, 3]), &ints(&[1, 7, 3, 4]), &ints(&[1, 8, 3])).to_string(),
        "1 conflict (left: 1 value, 1 inserted; right: 1 value)\n\
         conflict at <root>[1]\n  base: 2\n  left: 7\n  right: 8"
    );
    assert!(!found.is_clean());
}

#[test]
fn calls_keep_their_own_operands() {
    // An inserted part stays unchanged, even if the other side edits an equal part of the base.
    let base = array([Value::from(add(int(1), int(2))), 7.into()]);
    let left = array([
        add(int(1), int(2)).into(),
        7.into(),
        add(int(1), int(2)).into(),
    ]);
    let right = array([add(int(1), int(5)).into(), 7.into()]);
    let expected = array([
        add(int(1), int(5)).into(),
        7.into(),
        add(int(1), int(2)).into(),
    ]);
    clean(&base, &left, &right, &expected);
}

#[test]
fn values_that_cannot_be_compared_raise() {
    let function = || Value::from(isoform::functions::Function::new(|_| Ok(Value::NONE)));
    let error = merge([function()], [function()], [Value::from(1)]).expect_err("functions");
    assert_eq!(error.kind(), isoform::errors::ErrorKind::Type);
}

#[test]
fn both_functions_of_a_module_are_edited() {
    let module = |one: &dyn Fn(&Ref<Var>) -> Value, two: &dyn Fn(&Ref<Var>) -> Value| {
        let (x, y) = (var("x"), var("y"));
        let one = fun([&x], one(&x));
        let two = fun([&y], two(&y));
        map([("one", one), ("two", two)])
    };
    let plain = |x: &Ref<Var>| Value::from(add(x, int(1)));
    let other = |x: &Ref<Var>| Value::from(add(x, add(x, int(1))));
    clean(
        &module(&plain, &plain),
        &module(&other, &plain),
        &module(&plain, &other),
        &module(&other, &other),
    );
}
