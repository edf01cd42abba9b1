//! Collection of cycles: values kept alive only by themselves are freed, all other
//! values stay.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use isoform::objects::{collect_cycles, construct, field_value, set_field, tracked_count};
use isoform::traverse::{WalkResult, deep_copy, structural_walk};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Map, Obj, Ref, Value};
use isoform_testing::source::scaled;

/// Collections see the whole process, and tests that count take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts its live instances.
struct Witness(Arc<AtomicUsize>);

impl Witness {
    fn value(alive: &Arc<AtomicUsize>) -> Value {
        alive.fetch_add(1, Ordering::SeqCst);
        Value::opaque(Witness(Arc::clone(alive)))
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn node_type() -> TypeIndex {
    let any = |name: &str| FieldDef::new(name, Schema::Any).mutable(true);
    let next = FieldDef::new(
        "next",
        Schema::Optional(Box::new(Schema::named("collect.Node"))),
    );
    let definition = TypeDef::new("collect.Node")
        .field(any("payload"))
        .field(any("link"))
        .field(next.mutable(true));
    register_type(definition).expect("a valid definition")
}

fn node(payload: Value) -> Ref<Obj> {
    construct(node_type(), vec![payload, Value::NONE, Value::NONE]).expect("fits")
}

fn tie_type() -> TypeIndex {
    let definition = TypeDef::new("collect.Tie")
        .field(FieldDef::new("payload", Schema::Any).mutable(true))
        .field(FieldDef::new("other", Schema::object::<Obj>()).mutable(true));
    register_type(definition).expect("a valid definition")
}

/// Another thread may have collected the same garbage and still be dropping it.
#[track_caller]
fn assert_left(alive: &Arc<AtomicUsize>, expected: usize) {
    for _ in 0..10_000 {
        if alive.load(Ordering::SeqCst) <= expected {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(alive.load(Ordering::SeqCst), expected);
}

#[test]
fn a_list_that_contains_itself_is_freed() {
    let _turn = alone();
    let alive = Arc::default();
    let list: List = List::from(vec![Witness::value(&alive)]);
    list.push(list.clone().into()).unwrap();
    collect_cycles();
    assert_left(&alive, 1);
    drop(list);
    assert_left(&alive, 1);
    assert!(collect_cycles() >= 2, "the list and the array in it");
    assert_left(&alive, 0);
}

#[test]
fn cycles_through_every_kind_of_edge_are_freed() {
    let _turn = alone();
    let alive = Arc::default();
    {
        let dict: Dict = Dict::new();
        dict.insert("w".into(), Witness::value(&alive)).unwrap();
        let map: Map = [(Value::from("d"), Value::from(dict.clone()))]
            .into_iter()
            .collect();
        dict.insert("a".into(), Array::<Value>::from(vec![map.into()]).into())
            .unwrap();

        let key: Dict = Dict::new();
        key.insert(key.clone().into(), Witness::value(&alive))
            .unwrap();

        let (first, second) = (node(Witness::value(&alive)), node(Value::NONE));
        set_field(&first, "next", (&second).into()).expect("fits");
        set_field(&second, "next", (&first).into()).expect("fits");
        let of_list = List::from(vec![Value::from(&first)]);
        set_field(&first, "link", of_list.into()).expect("fits");

        let own = node(Witness::value(&alive));
        set_field(&own, "link", (&own).into()).expect("fits");

        let tie = construct(tie_type(), vec![Witness::value(&alive), own.clone().into()]);
        let tie = tie.expect("fits");
        set_field(&tie, "other", (&tie).into()).expect("fits");
    }
    assert_left(&alive, 5);
    collect_cycles();
    assert_left(&alive, 0);
}

#[test]
fn what_has_an_owner_outside_stays_with_all_it_reaches() {
    let _turn = alone();
    let alive = Arc::default();
    let inner: List = List::from(vec![Witness::value(&alive)]);
    let outer: List = List::new();
    inner.push(outer.clone().into()).unwrap();
    outer.push(inner.clone().into()).unwrap();
    let held = Array::<Value>::from(vec![outer.clone().into()]);
    drop((inner, outer));
    collect_cycles();
    assert_left(&alive, 1);
    let outer = held.values()[0].view();
    let isoform::values::ValueRef::List(outer) = outer else {
        panic!("expected a list, got {:?}", held.values()[0]);
    };
    assert_eq!(outer.len(), 1);
    drop(held);
    collect_cycles();
    assert_left(&alive, 0);
}

#[test]
fn garbage_that_holds_living_things_gives_them_up_only() {
    let _turn = alone();
    let alive = Arc::default();
    let living = node(Witness::value(&alive));
    let list: List = List::from(vec![Value::from(&living)]);
    list.push(list.clone().into()).unwrap();
    drop(list);
    let owners = living.owners();
    collect_cycles();
    assert_eq!(living.owners(), owners - 1);
    assert_left(&alive, 1);
    assert!(field_value(&living, "payload").is_ok());
}

#[test]
fn copies_of_cycles_are_collected_as_well() {
    let _turn = alone();
    let alive = Arc::default();
    let first = node(Witness::value(&alive));
    let second = node(Value::NONE);
    set_field(&first, "next", (&second).into()).expect("fits");
    set_field(&second, "link", (&first).into()).expect("fits");
    let copy = deep_copy(&first);
    drop((first, second));
    assert!(collect_cycles() > 0);
    assert_left(&alive, 1);
    drop(copy);
    collect_cycles();
    assert_left(&alive, 0);
}

#[test]
fn what_dies_by_itself_is_no_longer_tracked() {
    let _turn = alone();
    collect_cycles();
    let before = tracked_count();
    for _ in 0..1000 {
        let list: List = List::new();
        list.push(node(Value::NONE).into()).unwrap();
        let holder = node(Value::NONE);
        set_field(&holder, "link", list.into()).expect("fits");
    }
    // Other tests of the process track a few objects meanwhile.
    assert!(tracked_count() < before + 500);
}

#[test]
fn a_long_cycle_is_freed_without_recursion() {
    let _turn = alone();
    let alive = Arc::default();
    let first = node(Witness::value(&alive));
    let mut last = first.clone();
    let length = scaled(300_000).max(50_000);
    for _ in 0..length {
        let next = node(Value::NONE);
        set_field(&last, "next", (&next).into()).expect("fits");
        last = next;
    }
    set_field(&last, "next", (&first).into()).expect("fits");
    drop((first, last));
    assert!(collect_cycles() > length);
    assert_left(&alive, 0);
}

#[test]
fn threads_that_make_and_drop_cycles_are_not_disturbed() {
    let _turn = alone();
    let alive: Arc<AtomicUsize> = Arc::default();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for round in 0..300 {
                    let list: List = List::from(vec![Witness::value(&alive)]);
                    let holder = node(list.clone().into());
                    list.push((&holder).into()).unwrap();
                    set_field(&holder, "link", (&holder).into()).expect("fits");
                    if round % 3 == 0 {
                        collect_cycles();
                    }
                    assert_eq!(list.len(), 2);
                    assert!(field_value(&holder, "link").is_ok_and(|link| !link.is_none()));
                }
            });
        }
    });
    collect_cycles();
    assert_left(&alive, 0);
}

/// Makes lists that contain themselves, until fewer are alive than were made.
fn litter(alive: &Arc<AtomicUsize>, most: usize) -> usize {
    for made in 1..=most {
        let list: List = List::from(vec![Witness::value(alive)]);
        list.push(list.clone().into()).unwrap();
        if alive.load(Ordering::SeqCst) < made {
            return made;
        }
    }
    most
}

#[test]
fn garbage_is_collected_without_being_asked() {
    let _turn = alone();
    let alive = Arc::default();
    collect_cycles();
    let made = litter(&alive, 2_000_000);
    assert!(made < 2_000_000, "nothing was collected");
    collect_cycles();
    assert_left(&alive, 0);
}

#[test]
fn what_a_traversal_looks_at_outlives_collections() {
    let _turn = alone();
    let alive = Arc::default();
    let ring: List = List::from(vec![Value::from(2), Witness::value(&alive)]);
    ring.push(ring.clone().into()).unwrap();
    let list = List::from(vec![Value::from(1), ring.into()]);
    let mut met = Vec::new();
    let walked = structural_walk(list.clone(), |visit| {
        met.extend(visit.value().as_int());
        if met == [1] {
            // The ring has no owner but itself and the walk.
            list.clear();
            collect_cycles();
            assert_left(&alive, 1);
        }
        Ok(WalkResult::<()>::Advance)
    });
    // The walk still found the ring.
    walked.expect_err("a cycle");
    assert_eq!(met, [1, 2]);
    collect_cycles();
    assert_left(&alive, 0);
}
