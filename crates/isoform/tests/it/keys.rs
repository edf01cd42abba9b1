//! Structural keys: frozen when they are made.

use std::collections::{HashMap, HashSet};

use isoform::{Dict, ErrorKind, List, StructuralKey, Value};

use crate::support::{Int, Var};

fn key(value: impl Into<Value>) -> StructuralKey {
    StructuralKey::new(value).expect("hashable")
}

#[test]
fn equal_values_are_one_key() {
    let set: HashSet<_> = (0..10).map(|n| key([Int::new(n % 3)])).collect();
    assert_eq!(set.len(), 3);
    assert!(set.contains(&key([Int::new(2)])));
    assert!(!set.contains(&key([Int::new(3)])));
}

#[test]
fn free_variables_count_by_identity() {
    let (x, y) = (Var::new("x"), Var::new("x"));
    assert_eq!(key(&x), key(&x));
    assert_ne!(key(&x), key(&y));
}

#[test]
fn changing_a_container_changes_no_key() {
    let inner = List::from(vec![1i64]);
    let outer: Dict = [("l".into(), inner.clone().into())].into_iter().collect();
    let before = key(Value::from(outer.clone()));
    let mut table = HashMap::from([(before.clone(), "before")]);
    inner.push(2).unwrap();
    outer.insert("m".into(), 3.into()).unwrap();
    // The changed value is another key; the old one is found as it was.
    let after = key(Value::from(outer.clone()));
    assert_ne!(before, after);
    assert_eq!(table.get(&after), None);
    assert_eq!(table.get(&before), Some(&"before"));
    let rebuilt: Dict = [("l".into(), List::from(vec![1i64]).into())]
        .into_iter()
        .collect();
    assert_eq!(table.get(&key(Value::from(rebuilt))), Some(&"before"));
    table.insert(after.clone(), "after");
    assert_eq!(table.len(), 2);
    assert_eq!(before.value().as_object(), after.value().as_object());
}

#[test]
fn what_cannot_be_hashed_is_no_key() {
    let list: List = List::new();
    list.push(list.clone().into()).unwrap();
    let error = StructuralKey::new(Value::from(list.clone())).expect_err("cyclic");
    assert_eq!(error.kind(), ErrorKind::Value);
    // Break the cycle, so that the memory is given back.
    list.clear();
    let error = StructuralKey::new(Value::opaque(1u8)).expect_err("opaque");
    assert_eq!(error.kind(), ErrorKind::Type);
}
