//! Written patches, and values built by them.

use isoform::compare::{DiffOptions, Difference, Patch, diff};
use isoform::values::List;
use isoform::{Map, Value, structural_equal};

use crate::support::MAPPED;
use crate::support::terms::*;

fn difference(left: &Value, right: &Value) -> Difference {
    diff(left, right).expect("a difference")
}

/// Checks that the difference builds the right value from the left value.
#[track_caller]
fn check(left: &Value, right: &Value) {
    let found = difference(left, right);
    let built = found.apply(left).expect("a value");
    assert!(structural_equal(built, right).expect("comparable"));
}

/// The written patch after its check and after building the right value.
#[track_caller]
fn said(left: &Value, right: &Value) -> String {
    let text = difference(left, right).patch_to_json().expect("a text");
    let patch = Patch::from_json(&text).expect("a patch");
    let built = patch.apply(left).expect("a value");
    assert!(structural_equal(built, right).expect("comparable"));
    let mut parts = text.splitn(3, ':');
    let rest = parts.nth(2).expect("a check");
    let rest = &rest["\"0123456789abcdef\"".len()..];
    rest.strip_suffix('}').unwrap_or(rest).to_owned()
}

fn map(entries: &[(Value, Value)]) -> Value {
    Value::from(entries.iter().cloned().collect::<Map<Value, Value>>())
}

#[test]
fn equal_values_need_no_words() {
    let value = || array([add(1, 2).into()]);
    assert_eq!(said(&value(), &value()), "");
    let options = DiffOptions {
        compare: MAPPED,
        ..DiffOptions::default()
    };
    let (left, right) = (Value::from(add(var("x"), 1)), Value::from(add(var("y"), 1)));
    let found = options.diff(&left, right).expect("a difference");
    let built = found.apply(&left).expect("a value");
    assert!(structural_equal(built, left).expect("comparable"));
}

#[test]
fn a_list_names_the_stretches_that_change() {
    let left = Value::from(vec![1i64, 2, 3, 4, 5, 6]);
    let right = Value::from(vec![1i64, 2, 9, 4, 6, 7]);
    assert_eq!(said(&left, &right), r#","0":[[2,1,9],[4,1],[6,0,7]]"#);
}

#[test]
fn the_order_of_a_map_is_not_mentioned() {
    let part = |value: i64| [add(value, 2).into(), call("a", value)];
    for [left, right] in [0, 1].map(|at| [1, 3].map(|value| part(value)[at].clone())) {
        let entries = |part: &Value| [("a".into(), call("b", 1)), ("b".into(), part.clone())];
        let reordered = |part: &Value| {
            let [first, second] = entries(part);
            map(&[second, first])
        };
        let one = array([map(&entries(&left)), 1.into()]);
        let text = said(&one, &array([reordered(&left), 2.into()]));
        assert_eq!(text.matches(":[[").count(), 1, "{text}");
        assert_eq!(text.matches(":{").count(), 0, "{text}");
        let text = said(&one, &array([reordered(&right), 1.into()]));
        assert_eq!(text.matches(":[[").count(), 0, "{text}");
        assert_eq!(text.matches(":{").count(), 1, "{text}");
    }
}

#[test]
fn keys_that_look_like_tags_are_keys() {
    let part = Value::from(add(1, 2));
    let keyed = |value: i64| map(&[("$set".into(), value.into()), ("$k".into(), 2.into())]);
    said(&keyed(1), &keyed(3));
    let tag = map(&[("$k".into(), part.clone())]);
    said(&array([part.clone()]), &array([part.clone(), tag]));
    said(
        &array([1.into()]),
        &array([map(&[("$k".into(), 7.into())])]),
    );
}

#[test]
fn an_edited_key_is_another_key() {
    let (one, other) = (Value::from(add(1, 2)), Value::from(add(1, 3)));
    let under = |key: &Value, value: i64| map(&[(key.clone(), value.into())]);
    let left = array([one.clone(), under(&one, 1)]);
    check(&left, &array([other.clone(), under(&other, 1)]));
    let right = array([other.clone(), under(&one, 1)]);
    check(&left, &right);
    assert!(!difference(&left, &right).costs().is_whole);
    check(&left, &array([one.clone(), under(&other, 1)]));
}

#[test]
fn new_parts_stay_shared() {
    let tower = doubled(14, int(1));
    let text = said(&array([]), &array([tower.into()]));
    assert!(text.len() < 5000, "{text}");
    let new = Value::from(add(1, 2));
    let rest = |index: i64| (10 * index..10 * index + 10).map(Value::from);
    let user = |lhs: Value, index| Value::from(add(lhs, array(rest(index))));
    let users = |lhs: &dyn Fn(i64) -> Value| array((0..100).map(|index| user(lhs(index), index)));
    let text = said(&users(&Value::from), &users(&|_| new.clone()));
    assert_eq!(text.matches("term.Add").count(), 1, "{text}");
    assert_eq!(text.matches(r#""$v":0"#).count(), 100, "{text}");
    // Objects that contain a part of the left value.
    let part = Value::from(add(1, 2));
    let [new, own] = [Value::from(add(&part, 3)), Value::from(add(4, 5))];
    let right = [add(&new, &own).into(), add(&own, &new).into()];
    let text = said(
        &array([part.clone()]),
        &array([part].into_iter().chain(right)),
    );
    assert_eq!(text.matches(r#"{"$n":0}"#).count(), 2, "{text}");
    assert_eq!(text.matches(r#"{"$v":0}"#).count(), 2, "{text}");
}

#[test]
fn a_singleton_stays_when_its_parts_change_elsewhere() {
    let part = Value::from(add(1, 2));
    let single = Value::from(Single::new(part.clone()));
    let text = said(
        &array([single.clone(), part]),
        &array([single, add(1, 3).into()]),
    );
    assert!(text.len() < 30, "{text}");
}

#[test]
fn equal_lists_are_not_taken_for_each_other() {
    let new = || Value::from(List::from(vec![1i64]));
    let shared = new();
    let both = |one: &Value, other: &Value| array([one.clone(), other.clone(), int(0).into()]);
    let (apart, one) = (both(&new(), &new()), both(&shared, &shared));
    for (left, right, is_one) in [(&apart, &one, true), (&one, &apart, false)] {
        let right = array([right.clone(), 1.into()]);
        let built = difference(&array([left.clone(), 2.into()]), &right)
            .apply(array([left.clone(), 2.into()]))
            .expect("a value");
        let text = isoform::files::to_json_graph(&built).expect("a text");
        assert_eq!(text.matches("ffi.List").count() == 1, is_one, "{text}");
    }
}

#[test]
fn shared_lists_and_dataflow_stay_one_object() {
    let (written, node) = (Value::from(List::from(vec![1i64])), call("new", 1));
    for part in [written, node] {
        let text = said(
            &array([1.into()]),
            &array([part.clone(), add(&part, 1).into()]),
        );
        assert!(text.contains("values"), "{text}");
    }
}

#[test]
fn deep_new_parts_are_read_again() {
    let part = Value::from(add(1, 2));
    let chain = |part: &Value| {
        let mut chain = part.clone();
        for _ in 0..200 {
            chain = Step::new(array([chain])).into();
        }
        chain
    };
    said(&array([part.clone()]), &array([part.clone(), chain(&part)]));
    said(&array([part.clone()]), &array([part, chain(&1.into())]));
}

#[test]
fn a_difference_applies_to_values_that_share_or_list_their_parts_in_another_way() {
    let keys = [1, 2].map(|at| Value::from(add(at, at)));
    let key = |at: i64| keys[at as usize - 1].clone();
    let entries = |order: [i64; 2]| map(&order.map(|at| (key(at), add(at, 1).into())));
    let left = array([entries([1, 2])]);
    let right = array([map(&[
        (key(1), add(1, 1).into()),
        (key(2), add(2, 7).into()),
    ])]);
    let built = difference(&left, &right)
        .apply(array([entries([2, 1])]))
        .expect("a value");
    assert!(structural_equal(built, &right).expect("comparable"));
}

#[test]
fn what_did_not_change_is_taken_over_from_the_value_itself() {
    let kept = || Value::from(add(1, 2));
    let found = difference(&array([kept(), 1.into()]), &array([kept(), 2.into()]));
    let own = kept();
    let built = found
        .apply(array([own.clone(), 1.into()]))
        .expect("a value");
    let isoform::values::ValueRef::Array(items) = built.view() else {
        panic!("{built:?}");
    };
    let both = [&items.values()[0], &own].map(|part| part.as_object().expect("an object"));
    assert!(both[0].same_as(both[1]));
}

#[test]
fn a_patch_is_for_a_value_of_as_many_objects() {
    let (left, right) = (array([add(1, 2).into()]), array([add(1, 3).into()]));
    let found = difference(&left, &right);
    let other = array([add(1, 2).into(), add(3, 4).into()]);
    let error = found.patch().apply(&other).expect_err("another value");
    assert!(
        error.to_string().contains("2 objects, got one of 3"),
        "{error}"
    );
}

#[test]
fn variables_are_known_after_a_file() {
    let function = |edited: bool| {
        let (x, y) = (var("x"), var("y"));
        let body = if edited {
            array([add(&x, &y).into(), add(&y, 1).into()])
        } else {
            array([add(&x, &x).into()])
        };
        if edited {
            fun([&x, &y], body)
        } else {
            fun([&x], body)
        }
    };
    said(&function(false), &function(true));
    said(&function(true), &function(false));
}

#[test]
fn a_bound_variable_that_is_free_on_the_right_is_itself_there() {
    let x = var("x");
    let bound = |x: &_| fun([x], x);
    let (left, right) = (array([bound(&x)]), array([bound(&x), x.clone().into()]));
    let found = difference(&left, &right);
    for copy in [var("y"), x] {
        let built = found.apply(array([bound(&copy)])).expect("a value");
        assert!(structural_equal(built, &right).expect("comparable"));
    }
}

#[test]
fn a_key_is_the_object_of_the_right_value() {
    let key = Value::from(add(1, 2));
    let (left, right) = (array([key.clone()]), array([map(&[(key, 0.into())])]));
    let built = difference(&left, &right)
        .apply(array([add(1, 2).into()]))
        .expect("a value");
    assert!(structural_equal(built, &right).expect("comparable"));
}

#[test]
fn free_variables_are_those_of_the_value_that_a_difference_is_applied_to() {
    let (x, y) = (var("x"), var("y"));
    let found = difference(&array([add(&x, 1).into()]), &array([add(&x, 2).into()]));
    let built = found.apply(array([add(&y, 1).into()])).expect("a value");
    let wanted = array([add(&y, 2).into()]);
    assert!(structural_equal(built, wanted).expect("comparable"));
}
