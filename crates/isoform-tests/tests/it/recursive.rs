//! `recursive_eq`, `recursive_cmp` and `recursive_hash`.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use isoform::compare::{recursive_cmp, recursive_eq, recursive_hash};
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::objects::{construct, set_field};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Bytes, Dict, List, Shape, Tensor};
use isoform::{Array, Map, Value};

use crate::support::{add, chain, doubled, int, scaled};

fn eq(left: &Value, right: &Value) -> bool {
    let equal = recursive_eq(left, right).expect("no hooks");
    assert_eq!(
        equal,
        recursive_eq(right, left).expect("no hooks"),
        "{left:?}, {right:?}"
    );
    if equal {
        let hashes = (recursive_hash(left), recursive_hash(right));
        assert_eq!(
            hashes.0.expect("a hash"),
            hashes.1.expect("a hash"),
            "{left:?}"
        );
    }
    equal
}

/// Plain values, pairwise unequal.
fn different() -> Vec<Value> {
    let map: Map = [(Value::from("k"), Value::from(1))].into_iter().collect();
    let dict: Dict = map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    vec![
        Value::NONE,
        true.into(),
        false.into(),
        0.into(),
        1.into(),
        i128::MAX.into(),
        0.0.into(),
        1.0.into(),
        f64::NAN.into(),
        "".into(),
        "a".into(),
        Bytes::from(b"a".to_vec()).into(),
        isoform::values::DType::INT64.into(),
        isoform::values::DType::FLOAT32.into(),
        Shape::from([1]).into(),
        Array::from([1i64]).into(),
        List::from(vec![1i64]).into(),
        Array::from([1i64, 1]).into(),
        map.into(),
        dict.into(),
        Map::<Value, Value>::new().into(),
        Function::new(|_| Ok(Value::NONE)).into(),
        int(1).into(),
        add(int(1), int(2)).into(),
        add(int(2), int(1)).into(),
    ]
}

#[test]
fn values_of_different_types_or_content_are_unequal() {
    let all = different();
    for (i, left) in all.iter().enumerate() {
        for (j, right) in all.iter().enumerate() {
            assert_eq!(eq(left, right), i == j, "{left:?}, {right:?}");
        }
    }
    let again = different();
    for (left, right) in all.iter().zip(&again) {
        assert_eq!(eq(left, right), left.type_name() != "Function", "{left:?}");
    }
    let hashes: std::collections::HashSet<u64> = all
        .iter()
        .map(|value| recursive_hash(value).unwrap())
        .collect();
    assert_eq!(hashes.len(), all.len());
}

#[test]
fn zeros_and_nans_are_equal() {
    assert!(eq(&0.0.into(), &(-0.0).into()));
    assert!(eq(&f64::NAN.into(), &(-f64::NAN).into()));
    assert!(eq(&Value::from([0.0]), &Value::from([-0.0])));
}

#[test]
fn the_order_of_entries_is_invisible() {
    let map = |entries: &[(&str, i64)]| -> Value {
        let entries = entries
            .iter()
            .map(|(k, v)| (Value::from(*k), Value::from(*v)));
        entries.collect::<Map>().into()
    };
    assert!(eq(&map(&[("a", 1), ("b", 2)]), &map(&[("b", 2), ("a", 1)])));
    assert!(!eq(
        &map(&[("a", 1), ("b", 2)]),
        &map(&[("a", 2), ("b", 1)])
    ));
    let hash = |value: &Value| recursive_hash(value).unwrap();
    assert_ne!(
        hash(&map(&[("a", 1), ("b", 2)])),
        hash(&map(&[("a", 2), ("b", 1)]))
    );
}

fn point() -> TypeIndex {
    register_type(
        TypeDef::new("recursive.Point")
            .field(FieldDef::new("x", Schema::Any))
            .field(FieldDef::new("y", Schema::Any))
            .field(FieldDef::new("note", Schema::Any).compare(false))
            .field(FieldDef::new("tag", Schema::Any).hash(false)),
    )
    .expect("registered")
}

fn at(x: impl Into<Value>, y: impl Into<Value>, note: &str, tag: &str) -> Value {
    construct(point(), vec![x.into(), y.into(), note.into(), tag.into()])
        .unwrap()
        .into()
}

#[test]
fn fields_may_be_left_out() {
    assert!(eq(&at(1, 2, "a", "t"), &at(1, 2, "b", "t")));
    assert!(!eq(&at(1, 2, "a", "t"), &at(1, 2, "a", "u")));
    let hash = |tag| recursive_hash(at(1, 2, "a", tag)).unwrap();
    assert_eq!(hash("t"), hash("u"));
    assert_ne!(recursive_hash(at(2, 1, "a", "t")).unwrap(), hash("t"));
    let other = TypeDef::new("recursive.Point").field(FieldDef::new("x", Schema::Any));
    assert!(register_type(other).is_err());
}

#[track_caller]
fn check_order(left: impl Into<Value>, right: impl Into<Value>, expected: Ordering) {
    let (left, right) = (left.into(), right.into());
    assert_eq!(recursive_cmp(&left, &right).unwrap(), expected);
    assert_eq!(recursive_cmp(&right, &left).unwrap(), expected.reverse());
}

#[test]
fn values_are_ordered() {
    check_order(1, 2, Less);
    check_order(i128::MAX, 2, Greater);
    check_order(-i128::MAX, 2, Less);
    check_order(1.5, 0.5, Greater);
    check_order(0.0, -0.0, Equal);
    check_order(false, true, Less);
    check_order("a", "b", Less);
    check_order(Value::NONE, 0, Less);
    check_order(Value::NONE, "", Less);
    check_order(Value::NONE, Value::NONE, Equal);
    check_order([1, 2], [1, 2], Equal);
    check_order([1, 2], [1, 3], Less);
    check_order([1], [1, 0], Less);
    check_order(Vec::<Value>::new(), [1], Less);
    check_order([2], [1, 0], Greater);
    check_order(Shape::from([1, 2]), Shape::from([1]), Greater);
    check_order(at(1, 2, "z", "t"), at(1, 3, "a", "t"), Less);
    check_order(at(1, 2, "z", "t"), at(1, 2, "a", "t"), Equal);
    check_order(at([1, 9], 2, "", ""), at([1, 8], 3, "", ""), Greater);
}

#[test]
fn what_has_no_order_is_an_error() {
    let check = |left: Value, right: Value, expected: &str| {
        let error = recursive_cmp(&left, &right).expect_err("no order");
        assert_eq!(error.kind(), ErrorKind::Type);
        assert_eq!(error.message(), expected);
    };
    check(1.into(), 1.0.into(), "int and float have no order");
    check(1.into(), true.into(), "int and bool have no order");
    check(f64::NAN.into(), 1.0.into(), "NaN has no order");
    check(
        Value::from([f64::NAN]),
        Value::from([f64::NAN]),
        "NaN has no order",
    );
    check(
        map_of(1).into(),
        map_of(2).into(),
        "values of type Map have no order",
    );
    check(
        int(1).into(),
        at(1, 2, "", ""),
        "it.Int and recursive.Point have no order",
    );
    let tensor = |number: f32| {
        let bytes = number.to_le_bytes().to_vec();
        Value::from(Tensor::new(isoform::values::DType::FLOAT32, vec![1], bytes).unwrap())
    };
    check(
        tensor(1.0),
        tensor(2.0),
        "values of type Tensor have no order",
    );
    assert!(eq(&tensor(1.0), &tensor(1.0)) && !eq(&tensor(1.0), &tensor(2.0)));
}

fn map_of(value: impl Into<Value>) -> Map {
    [(Value::from("k"), value.into())].into_iter().collect()
}

#[test]
fn equal_maps_leave_the_order_to_what_comes_next() {
    check_order(map_of(1), map_of(1), Equal);
    check_order(at(map_of(1), 2, "", ""), at(map_of(1), 3, "", ""), Less);
    check_order(
        vec![map_of(at(1, 2, "z", "t"))],
        vec![map_of(at(1, 2, "a", "t"))],
        Equal,
    );
    // Many maps share one large value, compared once.
    let many = |last: i64| {
        let shared = Value::from(doubled(60));
        let maps = (0..2_000).map(|number| Value::from(map_of([shared.clone(), number.into()])));
        Value::from(maps.chain([last.into()]).collect::<Vec<_>>())
    };
    check_order(many(1), many(2), Less);
}

#[test]
fn cost_is_linear_however_values_are_shared_and_nested() {
    let (left, right) = (Value::from(doubled(60)), Value::from(doubled(60)));
    assert!(eq(&left, &right));
    assert!(!eq(&left, &doubled(61).into()));
    assert_eq!(recursive_cmp(&left, &right).unwrap(), Equal);
    let length = scaled(300_000);
    assert!(eq(&chain(length).into(), &chain(length).into()));
    assert!(!eq(&chain(length).into(), &chain(length + 1).into()));
    assert_eq!(
        recursive_cmp(chain(length), chain(length + 1)).unwrap(),
        Less
    );
}

#[test]
fn cyclic_values_that_look_the_same_are_equal() {
    let ring = |length: usize| {
        let first: List = List::new();
        let mut last = Value::from(first.clone());
        for _ in 1..length {
            last = List::from(vec![last]).into();
        }
        first.push(last).unwrap();
        first
    };
    let rings = [ring(1), ring(2), ring(3), ring(7)];
    for left in &rings {
        for right in &rings {
            let (left, right) = (Value::from(left.clone()), Value::from(right.clone()));
            assert!(recursive_eq(&left, &right).unwrap());
            assert_eq!(recursive_cmp(&left, &right).unwrap(), Equal);
        }
        let chain = Value::from(List::from(vec![Value::from(List::<Value>::new())]));
        assert!(!recursive_eq(left, &chain).unwrap());
    }
    let error = recursive_hash(rings[1].clone()).expect_err("no hash");
    assert_eq!(
        error.to_string(),
        "ValueError: cyclic value: the List contains itself (at <root>[0][0])"
    );
    rings.iter().for_each(List::clear);

    let ty = TypeDef::new("recursive.Cell").field(FieldDef::new("v", Schema::Any).mutable(true));
    let ty = register_type(ty).unwrap();
    let cells = [0, 1].map(|_| construct(ty, vec![Value::NONE]).unwrap());
    cells
        .iter()
        .for_each(|cell| set_field(cell, "v", Value::from(cell)).unwrap());
    let [left, right] = [0, 1].map(|position: usize| Value::from(&cells[position]));
    assert!(recursive_eq(&left, &right).unwrap());
    cells
        .iter()
        .for_each(|cell| set_field(cell, "v", Value::NONE).unwrap());
}
