//! Structural keys: frozen when they are made.

use std::collections::{HashMap, HashSet};

use isoform::compare::{StructuralKey, last_visit_count};
use isoform::errors::ErrorKind;
use isoform::hooks::{DynEqual, DynHash};
use isoform::objects::{construct, field_value, overwrite_field_at, set_field};
use isoform::types::{FieldDef, FieldFlag, Kind, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Map, Obj, Ref, Value, structural_equal};

use crate::build::{Build, arr, builds, map};
use crate::support::{Add, Int, Link, Var};

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
    // The changed value is another key; the old one is still found.
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
    // Break the cycle to free the memory.
    list.clear();
    let error = StructuralKey::new(Value::opaque(1u8)).expect_err("opaque");
    assert_eq!(error.kind(), ErrorKind::Type);
}

fn cell_type() -> TypeIndex {
    let definition = TypeDef::new("keys.Cell")
        .field(FieldDef::new("value", Schema::Any).mutable(true))
        .field(FieldDef::new("next", Schema::Any).mutable(true));
    register_type(definition).expect("a valid definition")
}

fn cell(value: impl Into<Value>, next: impl Into<Value>) -> Ref<Obj> {
    construct(cell_type(), vec![value.into(), next.into()]).expect("fits")
}

fn set(object: &Ref<Obj>, name: &str, value: impl Into<Value>) {
    set_field(object, name, value.into()).expect("the field is mutable");
}

/// A chain of cells, all of them held, last cell first.
fn chain(length: usize) -> Vec<Ref<Obj>> {
    let mut cells: Vec<Ref<Obj>> = Vec::new();
    for at in 0..length {
        let next = cells.last().map_or(Value::NONE, Value::from);
        cells.push(cell(at as i64, next));
    }
    cells
}

#[test]
fn keys_of_all_parts_of_a_program_keep_nothing_but_the_program() {
    let witness = Ref::into_object(Int::new(1));
    let list = List::from(vec![Value::from(&witness)]);
    let cells = chain(300);
    set(&cells[0], "value", list.clone());
    let array = Value::from(list.snapshot());
    let array = array.as_object().expect("an array is an object");
    let owners = (witness.owners(), array.owners(), cells[0].owners());
    let mut keys: Vec<_> = cells.iter().map(key).collect();
    // Only the key of this value owns the value.
    let with_keys = (owners.0, owners.1, owners.2 + 1);
    assert_eq!(
        (witness.owners(), array.owners(), cells[0].owners()),
        with_keys
    );
    // A change costs once, however many keys read the old contents.
    list.push(2.into()).unwrap();
    assert_eq!(witness.owners(), owners.0 + 1);
    let released = || {
        // Readers in other threads own the contents dropped by the list.
        drop(key(1));
        array.owners() == owners.1
    };
    assert!(in_time(released), "the old content has two owners");
    set(&cells[0], "value", 7);
    assert_eq!(cells[0].owners(), with_keys.2);
    assert_ne!(key(&cells[299]), keys[299]);
    let mut rebuilt = cell(
        Value::from(List::from(vec![Value::from(Int::new(1))])),
        Value::NONE,
    );
    for number in 1..300 {
        rebuilt = cell(number, &rebuilt);
    }
    assert_eq!(key(&rebuilt), keys[299]);
    // With the last key, its saved contents are dropped.
    keys.truncate(1);
    assert!(witness.owners() > 1);
    drop((keys, list));
    let given_up = || {
        // Keys of other tests may need the array a little longer.
        drop(key(&cells[0]));
        array.owners() == 1
    };
    assert!(in_time(given_up), "the old content is kept");
}

/// True if this becomes true before long.
fn in_time(holds: impl Fn() -> bool) -> bool {
    let patience = std::time::Duration::from_millis(2);
    (0..10_000).any(|_| {
        holds() || {
            std::thread::sleep(patience);
            false
        }
    })
}

#[test]
fn a_key_is_of_its_moment_whatever_is_written_after_it() {
    let inner = cell(0, Value::NONE);
    let list = List::from(vec![Value::from(&inner)]);
    let dict: Dict = [("l".into(), list.clone().into())].into_iter().collect();
    let outer = cell(dict.clone(), Value::NONE);
    let fresh = |number: i64, items: i64| {
        let mut all = vec![Value::from(&cell(number, Value::NONE))];
        all.extend((0..items).map(Value::from));
        let dict: Dict = [("l".into(), List::from(all).into())].into_iter().collect();
        cell(dict, Value::NONE)
    };
    let mut keys = Vec::new();
    for round in 0..40 {
        keys.push((key(&outer), key(fresh(round, round))));
        // In place, and by replacement; watched by the last key or not.
        set(&inner, "value", -1);
        set(&inner, "value", round + 1);
        list.push(round.into()).unwrap();
        if round % 3 == 0 {
            dict.insert("l".into(), 1.into()).unwrap();
            dict.insert("l".into(), list.clone().into()).unwrap();
            set(&outer, "value", Value::NONE);
            set(&outer, "value", dict.clone());
        }
        if round == 20 {
            keys.drain(3..12);
        }
    }
    for (index, (of_moment, rebuilt)) in keys.iter().enumerate() {
        assert_eq!(of_moment.table_hash(), rebuilt.table_hash(), "{index}");
        assert_eq!(of_moment, rebuilt, "{index}");
        assert_eq!(rebuilt, of_moment, "{index}");
        let equal = keys.iter().filter(|(other, _)| other == rebuilt).count();
        assert_eq!(equal, 1, "{index}");
    }
}

#[test]
fn a_hook_that_writes_while_a_key_is_made_is_seen_once() {
    let seen = cell(1, Value::NONE);
    let inside = seen.clone();
    let hash = DynHash::new(move |_, init, _| {
        let count = field_value(&inside, "next")?.as_int().unwrap_or(0);
        set_field(&inside, "next", (count + 1).into())?;
        Ok(init)
    });
    let definition = TypeDef::new("keys.Writer")
        .hook(DynEqual::new(|_, _, _| Ok(true)))
        .hook(hash);
    let writer = register_type(definition).expect("a valid definition");
    let writer = construct(writer, Vec::new()).expect("fits");
    let both = Array::<Value>::from(vec![(&seen).into(), (&writer).into(), (&seen).into()]);
    let first = key(both.clone());
    let second = key(both);
    // Whatever the hooks wrote, a key equals itself and is found again.
    assert_eq!(first, first.clone());
    assert_ne!(first, second);
    let set: HashSet<_> = [first.clone(), second].into_iter().collect();
    assert!(set.contains(&first));
}

#[test]
fn keys_made_while_others_write_are_of_one_moment() {
    let (number, list) = (cell(0, Value::NONE), List::from(vec![0i64]));
    let both = Value::from(vec![Value::from(&number), list.clone().into()]);
    let snapshots = std::thread::scope(|scope| {
        let maker = scope.spawn(|| (0..300).map(|_| key(&both)).collect::<Vec<_>>());
        let mut round = 0;
        while !maker.is_finished() {
            round += 1;
            set(&number, "value", round % 3);
            list.set(0, round % 3).expect("there is one");
        }
        maker.join().expect("keys can be made")
    });
    for snapshot in snapshots {
        let matching_state = (0..9).find(|state| {
            let number = Value::from(&cell(state / 3, Value::NONE));
            let list = Value::from(List::from(vec![state % 3]));
            key(Value::from(vec![number, list])) == snapshot
        });
        assert!(
            matching_state.is_some(),
            "a key is equal to one of the states"
        );
    }
}

/// Makes keys of these parts, and returns the number of visits for all of them.
fn visits_of(parts: &[Value]) -> u64 {
    let visits = |part: &Value| {
        let made = key(part);
        let visits = last_visit_count();
        drop(made);
        visits
    };
    parts.iter().map(visits).sum()
}

#[test]
fn keys_of_all_parts_of_a_program_are_linear_in_any_order() {
    // Frozen with a free variable in each level, and mutable.
    let x = Var::new("x").upcast();
    let mut below = x.clone();
    let mut frozen = Vec::new();
    for _ in 0..3_000 {
        below = Add::new(below, x.clone()).upcast();
        frozen.push(Value::from(&below));
    }
    check_linear(|| frozen.clone());
    check_linear(|| chain(1_000).iter().map(Value::from).collect());
}

#[test]
fn keys_of_all_parts_of_nested_containers_are_linear_in_any_order() {
    let x = Value::from(Var::new("x"));
    let entry = |value: Value| (Value::from("key"), value);
    let around: [&dyn Fn(Value) -> Value; 6] = [
        &|below| vec![below].into(),
        &|below| List::from(vec![below]).into(),
        &|below| [entry(below)].into_iter().collect::<Map>().into(),
        &|below| [entry(below)].into_iter().collect::<Dict>().into(),
        // Each level mentions a variable and has several parts.
        &|below| List::from(vec![x.clone(), below, 1.into()]).into(),
        &|below| Link::new(vec![Value::from(List::from(vec![below]))]).into(),
    ];
    for around in around {
        check_linear(|| {
            let mut below = Value::from(0);
            let mut parts = Vec::new();
            for _ in 0..500 {
                below = around(below);
                parts.push(below.clone());
            }
            parts
        });
    }
}

#[test]
fn a_write_to_a_nested_container_is_noticed() {
    let inner = List::from(vec![Value::from(Int::new(1))]);
    let dict: Dict = [("key".into(), inner.clone().into())].into_iter().collect();
    let mut whole = Value::from(vec![Value::from(dict.clone())]);
    let mut parts = vec![inner.clone().into(), dict.into(), whole.clone()];
    for _ in 0..40 {
        whole = List::from(vec![whole, 2.into()]).into();
        parts.push(whole.clone());
    }
    let before: Vec<_> = parts.iter().map(key).collect();
    inner.push(3.into()).unwrap();
    for (part, before) in parts.iter().zip(&before) {
        let after = key(part);
        assert_ne!(&after, before);
        assert_eq!(after, fresh_key(part.clone()));
        assert_eq!(after.table_hash(), fresh_key(part.clone()).table_hash());
    }
    assert!(inner.pop().is_some());
    for (part, before) in parts.iter().zip(&before) {
        assert_eq!(&key(part), before);
    }
    // Contents may be a value of their own before they are changed in place.
    let list = List::from(vec![Value::from(Int::new(1))]);
    drop(key(Value::from(list.snapshot())));
    list.push(4.into()).unwrap();
    let expected: Array = Array::from(vec![Int::new(1).into(), Value::from(4)]);
    assert_eq!(
        key(Value::from(list.snapshot())),
        key(Value::from(expected))
    );
}

/// A key unaffected by earlier keys of its thread.
fn fresh_key(value: impl Into<Value>) -> StructuralKey {
    let value = value.into();
    let made = std::thread::scope(|scope| scope.spawn(move || key(value)).join());
    made.expect("keys can be made in any thread")
}

/// Makes keys of all parts in both orders. Mutable parts are hashed again after any
/// write in the process, and other tests write; one undisturbed run is enough.
#[track_caller]
fn check_linear(make: impl Fn() -> Vec<Value>) {
    let mut worst = 0;
    for _ in 0..1_000 {
        let parts = make();
        let downwards: Vec<Value> = parts.iter().rev().cloned().collect();
        worst = visits_of(&downwards).max(visits_of(&parts));
        if worst < 40 * parts.len() as u64 {
            return;
        }
    }
    panic!("{worst} visits");
}

#[test]
fn a_key_is_of_its_moment_though_its_variable_was_met_before() {
    let definition = TypeDef::new("keys.Variable")
        .kind(Kind::Var)
        .field(FieldDef::new("uses", Schema::Any));
    let variable = register_type(definition).expect("a valid definition");
    let uses = List::from(vec![1i64]);
    let variable = construct(variable, vec![uses.clone().into()]).expect("fits");
    let second = Link::new(&variable);
    let both = Array::<Value>::from(vec![
        Link::new(&variable).into(),
        second.clone().into(),
        second.clone().into(),
    ]);
    let _both = key(both);
    let before = key(second.clone());
    uses.push(2).unwrap();
    let after = key(second);
    assert_ne!(before, after, "the field of the variable was changed");
}

#[test]
fn equal_maps_are_one_key_in_whatever_order_their_keys_were_met() {
    // The older variable is not met before the map.
    let (older, met) = (Var::new("older"), Var::new("met"));
    let program = || {
        let bound = Var::new("bound");
        let parameters = Value::from(vec![Value::from(&bound)]);
        let definition = construct(definition_type(), vec![parameters]).expect("fits");
        let map: Map = [
            (Value::from(&met), Value::from(&definition)),
            (Value::from(&older), Value::from(Link::new(&bound))),
        ]
        .into_iter()
        .collect();
        let using = Value::from(Link::new(&met));
        // `using` occurs twice, and the hash is kept from key to key.
        Array::<Value>::from(vec![using.clone(), using, map.into()])
    };
    let (left, right) = (program(), program());
    assert!(structural_equal(left.clone(), right.clone()).unwrap());
    assert_eq!(key(left.clone()), key(right.clone()));
    // The same holds if the part that uses the variable is already known.
    assert_eq!(key(left.clone()), key(right.clone()));
    assert_eq!(key(left.clone()), fresh_key(right));
}

fn definition_type() -> TypeIndex {
    let definition = TypeDef::new("keys.Definition")
        .field(FieldDef::new("parameters", Schema::Any).flag(FieldFlag::Def));
    register_type(definition).expect("a valid definition")
}

#[test]
fn a_key_after_a_frozen_field_was_overwritten_is_of_what_it_holds() {
    let definition = TypeDef::new("keys.Frozen").field(FieldDef::new("x", Schema::Int));
    let frozen = register_type(definition).expect("a valid definition");
    let object = construct(frozen, vec![1.into()]).expect("fits");
    let part = Value::from(Link::new(&object));
    let whole = Array::<Value>::from(vec![part.clone(), part]);
    let _before = key(whole.clone());
    overwrite_field_at(&object, 0, 2.into()).expect("declared at run time");
    let rebuilt = Value::from(Link::new(construct(frozen, vec![2.into()]).unwrap()));
    let rebuilt = key(vec![rebuilt.clone(), rebuilt]);
    assert_eq!(key(whole.clone()), rebuilt);
    assert_eq!(fresh_key(whole), rebuilt);
}

#[test]
fn a_key_whose_frozen_parts_were_overwritten_is_refused() {
    for (name, is_mutable) in [("keys.FrozenBefore", false), ("keys.FrozenInList", true)] {
        let definition = TypeDef::new(name).field(FieldDef::new("x", Schema::Int));
        let frozen = register_type(definition).expect("a valid definition");
        let make = |x: i64| construct(frozen, vec![x.into()]).expect("fits");
        let (written, other) = (make(1), make(7));
        let holder = |object: &Ref<Obj>| {
            if is_mutable {
                Value::from(List::from(vec![Value::from(object)]))
            } else {
                Value::from([Value::from(object)])
            }
        };
        let before = [holder(&written), holder(&other)].map(fresh_key);
        // The first time makes the type mutable; the second part is written later.
        for (object, key, x) in [(&written, &before[0], 1), (&other, &before[1], 7)] {
            assert!(key.try_eq(&fresh_key(holder(&make(x)))).expect("as it was"));
            overwrite_field_at(object, 0, 2.into()).expect("declared at run time");
            let error = key
                .try_eq(&fresh_key(holder(&make(x))))
                .expect_err("out of date");
            assert!(error.message().contains("is out of date"), "{error}");
        }
    }
}

#[test]
fn a_key_is_of_its_moment_where_a_custom_hash_leaves_parts_out() {
    let definition = TypeDef::new("keys.Lax")
        .field(FieldDef::new("parts", Schema::Any))
        .hook(DynEqual::new(|left, right, callback| {
            let parts = (field_value(left, "parts")?, field_value(right, "parts")?);
            callback.equal(&parts.0, &parts.1, "parts")
        }))
        .hook(DynHash::new(|_, init, _| Ok(init)));
    let lax = register_type(definition).expect("a valid definition");
    let holders: [fn(Value) -> Value; 3] = [
        |part| Value::from(vec![part]),
        |part| map([("only".into(), part)]),
        |part| map([("first".into(), 1.into()), ("second".into(), part)]),
    ];
    for holder in holders {
        let inner = cell(1, Value::NONE);
        let list = List::from(vec![Value::from(&inner)]);
        let lax = construct(lax, vec![holder(list.clone().into())]).expect("fits");
        let first = key(&lax);
        set(&inner, "value", 2);
        let second = key(&lax);
        list.push(3.into()).unwrap();
        let third = key(&lax);
        assert_ne!(first, second);
        assert_ne!(second, third);
        assert_ne!(first, third);
        assert_eq!(third, key(&lax));
    }
}

#[test]
fn what_a_key_meets_only_after_a_write_is_of_its_moment_too() {
    type Change = fn(&Value);
    let parts: [(fn() -> Value, Change); 2] = [
        (
            || Value::from(&cell(1, Value::NONE)),
            |part| set(&part.as_object().expect("a cell").clone(), "value", 2),
        ),
        (
            || List::from(vec![1i64]).into(),
            |part| {
                let list = part.extract::<List>().expect("a list");
                list.push(2.into()).expect("nobody forbids it");
            },
        ),
    ];
    for (index, (make, change)) in parts.into_iter().enumerate() {
        let holder = cell(0, Value::NONE);
        let part = make();
        let inside = (holder.clone(), part.clone());
        let hash = DynHash::new(move |_, init, _| {
            let (holder, part) = &inside;
            if field_value(holder, "next")? == Value::NONE {
                set_field(holder, "next", part.clone())?;
            }
            Ok(init)
        });
        let definition = TypeDef::new(&format!("keys.Linker{index}"))
            .hook(DynEqual::new(|_, _, _| Ok(true)))
            .hook(hash);
        let linker = register_type(definition).expect("a valid definition");
        let linker = Value::from(&construct(linker, Vec::new()).expect("fits"));
        // The hook links to a part that the walk had not met before.
        let linked_key = key(vec![Value::from(&holder), linker.clone()]);
        let same = key(vec![Value::from(&cell(0, make())), linker]);
        assert_eq!(linked_key, same);
        change(&part);
        assert_eq!(linked_key, same, "part {index} was written to afterwards");
    }
}

#[test]
fn a_kept_part_changes_no_key_of_what_contains_it() {
    for b in builds() {
        // Free at its first place, and bound where the whole is met again.
        let shapes: [fn(&Build, &Value, &Value) -> Value; 3] = [
            |b, x, whole| arr([whole, &b.lambda(&[x], whole)]),
            |b, x, whole| b.lambda(&[], arr([whole, &b.lambda(&[x], whole)])),
            |b, x, whole| arr([whole, &b.function(&[x], whole)]),
        ];
        for shape in shapes {
            let x = b.typed(b.constant(1));
            let side = || {
                let part = b.add(b.add(b.add(&x, 1), b.add(&x, 2)), b.add(3, 4));
                let whole = b.add(b.add(&part, &part), 5);
                (part, shape(&b, &x, &whole))
            };
            let (part, all) = side();
            let prepared = key(&part);
            let (_, fresh) = side();
            assert_eq!(key(&all), fresh_key(fresh));
            drop(prepared);
        }
    }
}

#[test]
fn a_part_is_not_kept_where_the_fields_of_its_variables_bind() {
    for b in builds() {
        // The annotation of a free variable contains a dag node, numbered at the first
        // occurrence of the variable: in the first key before the part, in the second
        // key within it, and then the node beside it is a use.
        let s = b.shared(1, 2);
        let v = b.typed(&s);
        let part = b.add(b.add(b.add(&v, 1), b.add(&v, 2)), b.add(3, 4));
        drop(key(arr([&v, &part, &part])));
        let other = arr([&part, &s]);
        assert_eq!(key(&other), fresh_key(&other));
    }
}

#[test]
fn the_end_of_a_key_made_by_a_hook_changes_no_key() {
    // Enough lists to drop contents that no key needs.
    let lists: Vec<List> = (0..1_500i64)
        .map(|index| List::from(vec![index.into()]))
        .collect();
    let whole = Value::from(lists.iter().cloned().map(Value::from).collect::<Vec<_>>());
    let inside = (lists.clone(), whole.clone());
    let kept = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let keys = kept.clone();
    let hash = DynHash::new(move |_, init, _| {
        let (lists, whole) = &inside;
        if keys.lock().unwrap().is_empty() {
            let push = |list: &List| list.push(0.into());
            lists.iter().try_for_each(push)?;
            keys.lock().unwrap().push(StructuralKey::new(whole)?);
            lists.iter().try_for_each(push)?;
        }
        Ok(init)
    });
    let definition = TypeDef::new("keys.Maker")
        .hook(DynEqual::new(|_, _, _| Ok(true)))
        .hook(hash);
    let maker = register_type(definition).expect("a valid definition");
    let maker = Value::from(&construct(maker, Vec::new()).expect("fits"));
    // The moment begins before the hook is called.
    let met = Value::from(List::from(vec![1i64]));
    let all = Array::<Value>::from(vec![met, maker, whole]);
    let before = key(all.clone());
    assert_eq!(before, key(all.clone()));
    kept.lock().unwrap().push(key(1));
    let made_by_hook = kept.lock().unwrap().remove(0);
    drop(made_by_hook);
    assert_eq!(before, key(all));
}

#[test]
fn a_node_that_a_key_holds_cannot_be_changed() {
    let mut node = Int::new(1);
    assert!(node.get_mut().is_some());
    let held = key(&node);
    assert!(node.get_mut().is_none());
    drop(held);
    assert!(node.get_mut().is_some());
}
