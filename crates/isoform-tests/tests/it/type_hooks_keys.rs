//! Keys of maps and dicts that are found by the hooks of their type.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use isoform::compare::{recursive_eq, recursive_hash};
use isoform::errors::ErrorKind;
use isoform::files::{from_bytes, to_bytes};
use isoform::hooks::{DynKeyEqual, DynKeyHash};
use isoform::objects::field_value;
use isoform::traverse::deep_copy;
use isoform::types::TypeIndex;
use isoform::values::Dict;
use isoform::{Error, Map, Result, Value, attrs, structural_equal, structural_hash};

use crate::type_hooks::{node, pair_type, set_function};

/// Keys by `x`; a key whose `y` is "fail" cannot be compared.
fn by_x(key: &str) -> TypeIndex {
    let ty = pair_type(key);
    let hash = DynKeyHash::new(|object| {
        let x = field_value(object, "x")?.as_int();
        x.map(|x| x as u64 % 3)
            .ok_or_else(|| Error::value_error("no number"))
    });
    let equal = DynKeyEqual::new(|left, right| {
        for object in [left, right] {
            if field_value(object, "y")? == "fail".into() {
                return Err(Error::new(ErrorKind::Key, "cannot compare"));
            }
        }
        Ok(field_value(left, "x")? == field_value(right, "x")?)
    });
    attrs::set_hook(ty, hash, false).unwrap();
    attrs::set_hook(ty, equal, false).unwrap();
    ty
}

fn entries(ty: TypeIndex, count: i64) -> Vec<(Value, Value)> {
    (0..count)
        .map(|n| (node(ty, n, 0), Value::from(n)))
        .collect()
}

#[test]
fn maps_and_dicts_find_keys_by_their_hooks() {
    let ty = by_x("keys.ByX");
    let key = |n: i64| node(ty, n, 1);
    let mut map: Map = entries(ty, 50).into_iter().collect();
    let dict: Dict = entries(ty, 50).into_iter().collect();
    assert_eq!((map.len(), dict.len()), (50, 50));
    for n in 0..50 {
        assert_eq!(map.try_get(key(n)).unwrap(), Some(&Value::from(n)));
        assert_eq!(dict.try_get(key(n)).unwrap(), Some(Value::from(n)));
        assert!(map.contains_key(key(n)) && dict.contains_key(key(n)));
    }
    assert_eq!(map.try_get(key(50)).unwrap(), None);
    assert_eq!(dict.get(key(50)), None);
    // An equal key replaces the value; the first key stays.
    assert_eq!(
        map.try_insert(key(7), "new".into()).unwrap(),
        Some(7.into())
    );
    assert_eq!(dict.insert(key(7), "new".into()).unwrap(), Some(7.into()));
    assert_eq!((map.len(), dict.len()), (50, 50));
    assert_eq!(map.remove(key(7)), Some("new".into()));
    let removed = dict.try_remove_entry(key(7)).unwrap().expect("there");
    assert_eq!(
        field_value(removed.0.as_object().unwrap(), "y").unwrap(),
        0.into()
    );
    assert!(!map.contains_key(key(7)) && !dict.contains_key(key(7)));
    let rest: Vec<_> = map.iter().filter_map(|(_, n)| n.as_int()).collect();
    assert_eq!(rest, (0..50).filter(|n| *n != 7).collect::<Vec<_>>());
    // Other keys are found as before.
    map.insert("s".into(), 1.into());
    assert_eq!(map.get("s"), Some(&1.into()));
    assert_eq!(map.get(1), None);
}

#[test]
fn copies_and_files_keep_the_keys() {
    let ty = by_x("keys.Kept");
    let mut all = entries(ty, 20);
    let identity = pair_type("keys.KeptByIdentity");
    all.push((node(identity, 1, 2), "identity".into()));
    all.push(("text".into(), "plain".into()));
    let map: Value = all.iter().cloned().collect::<Map>().into();
    let dict: Value = all.into_iter().collect::<Dict>().into();
    for copy in [deep_copy(&map).unwrap(), deep_copy(&dict).unwrap()] {
        let copy = match copy.view() {
            isoform::values::ValueRef::Map(map) => map.clone(),
            isoform::values::ValueRef::Dict(dict) => dict.snapshot(),
            _ => panic!("a map or a dict"),
        };
        assert_eq!(copy.len(), 22);
        for n in 0..20 {
            assert_eq!(copy.try_get(node(ty, n, 5)).unwrap(), Some(&Value::from(n)));
        }
        assert_eq!(copy.get("text"), Some(&"plain".into()));
        let (key, _) = copy.get_index(20).unwrap();
        assert_eq!(copy.get(key), Some(&"identity".into()));
    }
    let back = from_bytes(&to_bytes(&map).unwrap()).unwrap();
    let isoform::values::ValueRef::Map(back) = back.view() else {
        panic!("a map")
    };
    assert_eq!(back.try_get(node(ty, 3, 5)).unwrap(), Some(&Value::from(3)));
}

#[test]
fn errors_of_hooks_come_back() {
    let ty = by_x("keys.Fails");
    let (good, bad, odd) = (node(ty, 1, 0), node(ty, 1, "fail"), node(ty, "x", 0));
    let mut map: Map = [(good.clone(), 1.into())].into_iter().collect();
    let dict: Dict = [(good.clone(), 1.into())].into_iter().collect();
    let check = |result: Result<()>, expected: ErrorKind| {
        assert_eq!(result.expect_err("fails").kind(), expected);
    };
    check(map.try_get(&bad).map(drop), ErrorKind::Key);
    check(map.try_get(&odd).map(drop), ErrorKind::Value);
    check(map.try_contains_key(&bad).map(drop), ErrorKind::Key);
    check(
        map.try_insert(bad.clone(), 2.into()).map(drop),
        ErrorKind::Key,
    );
    check(map.try_remove(&bad).map(drop), ErrorKind::Key);
    check(dict.try_get(&bad).map(drop), ErrorKind::Key);
    check(dict.try_contains_key(&bad).map(drop), ErrorKind::Key);
    check(dict.insert(bad.clone(), 2.into()).map(drop), ErrorKind::Key);
    check(dict.try_remove_entry(&bad).map(drop), ErrorKind::Key);
    let twice = [(good.clone(), Value::NONE), (bad.clone(), Value::NONE)];
    check(
        Map::try_from_entries(twice.clone()).map(drop),
        ErrorKind::Key,
    );
    check(Dict::try_from_entries(twice).map(drop), ErrorKind::Key);
    assert_eq!((map.len(), dict.len()), (1, 1));
    // The object itself is found without a comparison.
    assert_eq!(map.try_get(&good).unwrap(), Some(&1.into()));
    // Without `try`, a failing key is found by identity.
    assert_eq!(map.get(&bad), None);
    map.insert(bad.clone(), 2.into());
    assert_eq!(map.len(), 2);
}

#[test]
fn one_hook_alone_makes_no_key() {
    for (has, misses) in [
        ("__any_hash__", "__any_equal__"),
        ("__any_equal__", "__any_hash__"),
    ] {
        let name = format!("keys.Half{has}");
        let ty = pair_type(&name);
        set_function(ty, has, |_| Ok(1.into()));
        let error = Map::try_from_entries([(node(ty, 1, 2), Value::NONE)]).expect_err("half");
        assert_eq!(error.kind(), ErrorKind::Type);
        assert_eq!(
            error.message(),
            format!("type {name} has {has} but no {misses}, so its objects cannot be keys")
        );
    }
    let ty = pair_type("keys.Wrong");
    set_function(ty, "__any_hash__", |args| match args.len() {
        1 => Ok(1.into()),
        _ => Err(Error::type_error("one argument")),
    });
    set_function(ty, "__any_equal__", |_| Ok(1.into()));
    let error = Map::try_from_entries([(node(ty, 1, 2), Value::NONE), (node(ty, 1, 2), 1.into())]);
    assert_eq!(
        error.expect_err("no bool").message(),
        "keys.Wrong.__any_equal__: expected a bool as result, got int"
    );
}

/// The dict that running hooks change.
static SHARED: Mutex<Option<Dict>> = Mutex::new(None);
static CHANGES: AtomicUsize = AtomicUsize::new(0);
static ALWAYS: AtomicBool = AtomicBool::new(false);

#[test]
fn a_hook_may_change_the_dict() {
    let ty = pair_type("keys.Changes");
    let hash = DynKeyHash::new(|_| Ok(1));
    let equal = DynKeyEqual::new(|left, right| {
        let dict = SHARED.lock().unwrap().clone().expect("set");
        let count = CHANGES.fetch_add(1, Relaxed);
        if ALWAYS.load(Relaxed) || count == 0 {
            // No lock is held; otherwise all of these would block forever.
            dict.insert(Value::from(count + dict.len()), 0.into())
                .unwrap();
            dict.remove("first");
            assert!(!dict.is_empty());
        }
        Ok(field_value(left, "x")? == field_value(right, "x")?)
    });
    attrs::set_hook(ty, hash, false).unwrap();
    attrs::set_hook(ty, equal, false).unwrap();
    let dict: Dict = Dict::new();
    dict.insert("first".into(), 0.into()).unwrap();
    dict.insert(node(ty, 1, 0), "one".into()).unwrap();
    *SHARED.lock().unwrap() = Some(dict.clone());
    // The hook moves the entry from position 1 to 0 during its lookup: the value read
    // is the one from the time of the call.
    assert_eq!(dict.try_get(node(ty, 1, 9)).unwrap(), Some("one".into()));
    assert_eq!(CHANGES.load(Relaxed), 1);
    // A write goes to the entry's position at that time.
    CHANGES.store(0, Relaxed);
    dict.remove(node(ty, 1, 9));
    dict.insert("first".into(), 0.into()).unwrap();
    dict.insert(node(ty, 1, 0), "one".into()).unwrap();
    CHANGES.store(0, Relaxed);
    let old = dict.insert(node(ty, 1, 9), "uno".into()).unwrap();
    assert_eq!(old, Some("one".into()));
    assert_eq!(CHANGES.load(Relaxed), 2);
    CHANGES.store(0, Relaxed);
    dict.insert("first".into(), 0.into()).unwrap();
    dict.insert(node(ty, 2, 0), "two".into()).unwrap();
    assert_eq!(dict.try_get(node(ty, 2, 1)).unwrap(), Some("two".into()));
    CHANGES.store(0, Relaxed);
    ALWAYS.store(true, Relaxed);
    let error = dict
        .insert(node(ty, 1, 0), 5.into())
        .expect_err("never still");
    assert_eq!(error.kind(), ErrorKind::Runtime);
    ALWAYS.store(false, Relaxed);
    *SHARED.lock().unwrap() = None;
}

#[test]
fn recursive_comparison_follows_the_keys_and_structural_does_not() {
    let ty = by_x("keys.Compared");
    let map = |order: [i64; 3]| -> Value {
        let entry = |n: i64| (node(ty, n, 0), Value::from(n));
        order.map(entry).into_iter().collect::<Map>().into()
    };
    let (left, right) = (map([1, 2, 3]), map([3, 1, 2]));
    assert!(recursive_eq(&left, &right).unwrap());
    assert_eq!(
        recursive_hash(&left).unwrap(),
        recursive_hash(&right).unwrap()
    );
    assert!(!recursive_eq(&left, map([1, 2, 4])).unwrap());
    assert!(structural_equal(&left, &left).unwrap());
    assert!(!structural_equal(&left, &right).unwrap());
    // The same keys in another order.
    let isoform::values::ValueRef::Map(entries) = left.view() else {
        panic!("a map")
    };
    let mut turned: Vec<_> = entries
        .iter()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    turned.reverse();
    let turned = Value::from(turned.into_iter().collect::<Map>());
    assert!(structural_equal(&left, &turned).unwrap());
    assert_eq!(
        structural_hash(&left).unwrap(),
        structural_hash(&turned).unwrap()
    );
}

#[test]
fn hooks_of_keys_may_look_up_keys() {
    let ty = pair_type("keys.Nested");
    set_function(ty, "__any_hash__", |_| Ok(1.into()));
    set_function(ty, "__any_equal__", |given| {
        let (l, r) = (given[0].as_object().unwrap(), given[1].as_object().unwrap());
        let pair = (field_value(l, "x")?, field_value(r, "x")?);
        if pair.0.as_object().is_none() || pair.1.as_object().is_none() {
            return Ok((pair.0 == pair.1).into());
        }
        let map = Map::try_from_entries([(pair.0, Value::NONE)])?;
        map.try_contains_key(&pair.1).map(Value::from)
    });
    let deep = |n: usize| (0..n).fold(Value::from(1), |x, _| node(ty, x, 0));
    let map = Map::try_from_entries([(deep(20), Value::from("found"))]).unwrap();
    assert_eq!(map.try_get(deep(20)).unwrap(), Some(&"found".into()));
    assert_eq!(map.try_get(deep(19)).unwrap(), None);
    let map = Map::try_from_entries([(deep(500), Value::NONE)]).unwrap();
    let error = map.try_get(deep(500)).expect_err("too deep");
    assert_eq!(error.kind(), ErrorKind::Recursion);
}
