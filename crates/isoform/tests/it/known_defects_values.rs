//! Known defects of similar engines that concern numbers, keys, paths, tensors
//! and text: none of them may exist here.

use std::collections::{HashMap, HashSet};

use isoform::{
    AccessPath, DType, Dict, ErrorKind, List, Map, StructuralKey, Tensor, Value,
    get_first_structural_mismatch,
};

use crate::known_prelude::{Cell, cell, equal, map, seq};

/// Two doubles as a tensor.
fn doubles(values: [f64; 2]) -> Value {
    let data: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let tensor = Tensor::new(DType::FLOAT64, vec![2], data);
    tensor.expect("two numbers").into()
}

#[test]
fn defect_25_zeros_and_nans_compare_differently_from_place_to_place() {
    let payload = f64::from_bits(f64::NAN.to_bits() ^ 1);
    // Each place a number can be in; the rule is the same in all.
    let places: [fn(f64) -> Value; 7] = [
        |x| x.into(),
        |x| cell(x),
        |x| [x].into(),
        |x| List::from(vec![x]).into(),
        |x| map([(&"k", &x)]),
        |x| map([(&x, &1)]),
        |x| doubles([1.0, x]),
    ];
    for (index, place) in places.into_iter().enumerate() {
        assert!(!equal(place(0.0), place(-0.0)), "place {index}");
        assert!(equal(place(-0.0), place(-0.0)), "place {index}");
        assert!(equal(place(f64::NAN), place(payload)), "place {index}");
        assert!(equal(place(f64::NAN), place(-payload)), "place {index}");
        let key = |x: f64| StructuralKey::new(place(x)).expect("hashable");
        assert_ne!(key(0.0), key(-0.0), "place {index}");
        assert_eq!(key(f64::NAN), key(payload), "place {index}");
    }
    // `==` of values and the lookup in maps follow the same rule.
    let table: Map = [(0.0.into(), 1.into()), (f64::NAN.into(), 2.into())]
        .into_iter()
        .collect();
    assert_eq!(table.get(&0.0.into()), Some(&1.into()));
    assert_eq!(table.get(&(-0.0).into()), None);
    assert_eq!(table.get(&payload.into()), Some(&2.into()));
    assert_ne!(Value::from(0.0), Value::from(-0.0));
    assert_eq!(Value::from(f64::NAN), Value::from(payload));
}

#[test]
fn defect_27_a_key_is_lost_when_its_value_changes() {
    let key = |value: Value| StructuralKey::new(value).expect("hashable");
    let list = |items: &[i64]| List::from(items.to_vec());
    let changing = list(&[1]);
    let frozen = key(cell(Value::from(changing.clone())));
    let table = HashMap::from([(frozen.clone(), "one")]);
    changing.push(2).unwrap();
    // The key stays what it was when it was made.
    assert_eq!(table.get(&frozen), Some(&"one"));
    assert_eq!(table.get(&key(cell(Value::from(list(&[1]))))), Some(&"one"));
    assert_eq!(table.get(&key(cell(Value::from(list(&[1, 2]))))), None);
    assert_eq!(table.get(&key(cell(Value::from(changing)))), None);
    // A node that a key holds cannot be changed.
    let mut node = Cell::new(1);
    assert!(node.get_mut().is_some());
    let held = key((&node).into());
    assert!(node.get_mut().is_none());
    drop(held);
    assert!(node.get_mut().is_some());
}

#[test]
fn defect_32_equal_paths_hash_differently() {
    let paths = |last: i64| {
        let left = seq([&1, &map([(&"a long key of a map", &[last])])]);
        let right = seq([&1, &map([(&"a long key of a map", &[0])])]);
        let found = get_first_structural_mismatch(left, right).expect("comparable");
        found.expect("they differ")
    };
    let ((a, b), (c, _)) = (paths(2), paths(3));
    assert_eq!(a, b);
    assert_eq!(a, c);
    assert_eq!(HashSet::from([a, b, c]).len(), 1);
    let nan = |bits: u64| AccessPath::root().map_item(f64::from_bits(bits));
    let quiet = f64::NAN.to_bits();
    assert_eq!(HashSet::from([nan(quiet), nan(quiet ^ 1)]).len(), 1);
    let root = AccessPath::root;
    let different = [root(), root().array_item(1), root().map_item(1)];
    assert_eq!(HashSet::from(different).len(), 3);
}

#[test]
fn defect_33_tensors_that_cannot_be_compared_exist() {
    let tensor = |shape: &[i64], bytes: bytes::Bytes| {
        Tensor::new(DType::INT32, shape.to_vec(), bytes).map(Value::from)
    };
    // Only contiguous tensors can be made: the bytes fit the shape exactly.
    let zeros = |count: usize| bytes::Bytes::from(vec![0; count]);
    for (shape, count) in [
        (&[2, 3][..], 23),
        (&[2, 3], 25),
        (&[2, 3], 0),
        (&[], 0),
        (&[0], 4),
        (&[-1], 4),
        (&[-2, -3], 24),
        (&[i64::MAX, i64::MAX], 24),
        (&[i64::MAX, 2], 0),
    ] {
        let error = tensor(shape, zeros(count)).expect_err("a wrong size");
        assert_eq!(error.kind(), ErrorKind::Value, "{shape:?}");
    }
    for (shape, count) in [(&[2, 3][..], 24), (&[], 4), (&[0, 7], 0)] {
        let one = tensor(shape, zeros(count)).expect("a right size");
        assert!(equal(
            one,
            tensor(shape, zeros(count)).expect("a right size")
        ));
    }
    // Any part of a buffer will do, at any alignment.
    let block = bytes::Bytes::from((0..=255u8).chain(0..=255).collect::<Vec<_>>());
    let part = |from: usize| tensor(&[2, 3], block.slice(from..from + 24)).expect("24 bytes");
    assert!(equal(part(1), part(257)));
    assert!(!equal(part(1), part(2)));
    let wide = |shape: &[i64]| tensor(shape, block.slice(0..24)).expect("24 bytes");
    assert!(!equal(wide(&[2, 3]), wide(&[3, 2])));
}

#[test]
fn defect_34_text_loses_the_type() {
    let unlike: Vec<Value> = vec![
        1.into(),
        1.0.into(),
        true.into(),
        "1".into(),
        b"1".as_slice().into(),
        Value::NONE,
        "None".into(),
        1e20.into(),
        100_000_000_000_000_000_000i128.into(),
        0.0.into(),
        (-0.0).into(),
        0.into(),
        [1].into(),
        List::from(vec![1i64]).into(),
        Map::<Value, Value>::new().into(),
        Dict::<Value, Value>::new().into(),
    ];
    let texts: HashSet<_> = unlike.iter().map(|v| format!("{:?}", cell(v))).collect();
    assert_eq!(texts.len(), unlike.len(), "{texts:?}");
    for (index, left) in unlike.iter().enumerate() {
        for (other, right) in unlike.iter().enumerate() {
            assert_eq!(equal(left, right), index == other, "{left:?}, {right:?}");
        }
    }
}
