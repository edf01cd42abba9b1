//! Mutation during other operations: inside hooks and callbacks, and from other
//! threads.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use isoform::compare::StructuralKey;
use isoform::hooks::{DynEqual, DynHash};
use isoform::objects::{construct, field_value, set_field, with_field};
use isoform::traverse::{Sharing, WalkOptions, WalkOrder, WalkResult, structural_walk};
use isoform::types::{
    FieldDef, FieldFlag, RegionChange, Schema, TypeDef, TypeIndex, find_type, register_type,
};
use isoform::values::{List, OpaqueObj};
use isoform::{Array, Obj, Ref, Value, structural_digest, structural_equal, structural_hash};

use crate::support::scaled;

fn ty(definition: TypeDef) -> TypeIndex {
    register_type(definition).expect("the definition is valid")
}

fn node_type() -> TypeIndex {
    ty(TypeDef::new("mutation.Node")
        .field(FieldDef::new("value", Schema::Any).mutable(true))
        .field(FieldDef::new("next", Schema::Any).mutable(true))
        .field(FieldDef::new("number", Schema::Int).mutable(true)))
}

fn node(value: impl Into<Value>, next: impl Into<Value>) -> Ref<Obj> {
    let values = vec![value.into(), next.into(), 0.into()];
    construct(node_type(), values).expect("the values fit")
}

fn set(object: &Ref<Obj>, name: &str, value: impl Into<Value>) {
    set_field(object, name, value.into()).expect("the field is mutable");
}

fn get(object: &Ref<Obj>, name: &str) -> Value {
    field_value(object, name).expect("the field exists")
}

/// A string on the heap, to let valgrind see an early release.
fn long(number: usize) -> Value {
    Value::from(format!("a string that is not inline {number}"))
}

/// A chain of fresh nodes with strings on the heap.
fn chain(length: usize) -> Ref<Obj> {
    (0..length).fold(node(long(0), Value::NONE), |next, at| node(long(at), &next))
}

#[test]
fn a_callback_replaces_what_is_being_walked() {
    let rounds = scaled(100_000);
    for order in [WalkOrder::Pre, WalkOrder::Post] {
        for sharing in [Sharing::Once, Sharing::EachOccurrence] {
            let root = node(1, chain(3));
            let mut left = rounds;
            let options = WalkOptions::default().order(order).sharing(sharing);
            options
                .walk(&root, |visit| {
                    if left > 0 {
                        left -= 1;
                        // The node under visit loses its field, like every node above.
                        set(&root, "next", chain(left % 3));
                        if let Some(object) = visit.object()
                            && !object.type_info().is_builtin()
                        {
                            set(object, "next", chain(2));
                            set(object, "value", long(left));
                        }
                    }
                    // Values met before stay intact, regardless of the fate of their
                    // owner.
                    assert!(!format!("{:?}", visit.value()).is_empty());
                    assert!(visit.depth() > 100 || visit.path().depth() == visit.depth());
                    Ok(match left {
                        0 => WalkResult::Interrupt(()),
                        _ => WalkResult::Advance,
                    })
                })
                .expect("no cycle");
        }
    }
}

#[test]
fn a_plain_value_that_is_visited_does_not_change_under_the_callback() {
    let root = node("inline", 1);
    let mut seen = Vec::new();
    structural_walk(&root, |visit| {
        let before = visit.value();
        for name in ["value", "next"] {
            set(&root, name, long(1));
        }
        set(&root, "number", 9);
        assert_eq!(visit.value(), before);
        seen.push(before);
        Ok(WalkResult::<()>::Advance)
    })
    .expect("no cycle");
    // The walk reads a later field only when it reaches the field.
    assert_eq!(seen[..3], ["inline".into(), long(1), 9.into()]);
}

#[test]
fn a_callback_that_closes_a_cycle_does_not_keep_the_walk_going() {
    let (root, inner) = (node(1, Value::NONE), node(2, Value::NONE));
    set(&root, "next", &inner);
    let mut visits = 0;
    let options = WalkOptions::default().sharing(Sharing::EachOccurrence);
    let walked = options.walk(&root, |_| {
        visits += 1;
        set(&inner, "next", &root);
        Ok(WalkResult::<()>::Advance)
    });
    assert!(walked.is_err());
    assert!(visits < 20);
    set(&inner, "next", Value::NONE);
}

thread_local! {
    /// The action of the hooks of the next comparison or hash.
    static ACTION: Cell<Option<Box<dyn Fn()>>> = const { Cell::new(None) };
}

fn act() {
    ACTION.with(|cell| {
        let action = cell.take();
        if let Some(action) = &action {
            action();
        }
        cell.set(action);
    });
}

/// A type with hooks that change values before and after their questions.
fn meddler() -> TypeIndex {
    if let Some(info) = find_type("mutation.Meddler") {
        return info.index();
    }
    let equal = DynEqual::new(|left, right, eq| {
        act();
        for name in ["first", "second"] {
            let (l, r) = (get(left, name), get(right, name));
            if !eq.equal_in(&l, &r, RegionChange::Inherit, name)? {
                return Ok(false);
            }
            act();
        }
        Ok(true)
    });
    let hash = DynHash::new(|object, init, hash| {
        act();
        let first = hash.hash_in(&get(object, "first"), init, RegionChange::Inherit)?;
        act();
        hash.hash_in(&get(object, "second"), first, RegionChange::Inherit)
    });
    ty(TypeDef::new("mutation.Meddler")
        .hook(equal)
        .hook(hash)
        .field(FieldDef::new("first", Schema::Any).mutable(true))
        .field(FieldDef::new("second", Schema::Any).mutable(true)))
}

/// Runs `body`, with an action in every hook on the way.
fn meddling<T>(action: impl Fn() + 'static, body: impl FnOnce() -> T) -> T {
    ACTION.set(Some(Box::new(action)));
    let result = body();
    ACTION.set(None);
    result
}

#[test]
fn a_hook_replaces_what_is_being_compared() {
    let meddler =
        |first: Value, second: Value| construct(meddler(), vec![first, second]).expect("fits");
    // A spine of nodes, each with a meddler; every hook replaces the links of
    // all nodes by equal ones, the nodes on the stack of the walk included.
    let build = || {
        let nodes: Vec<_> = (0..10).map(|_| node(Value::NONE, Value::NONE)).collect();
        for (index, this) in nodes.iter().enumerate() {
            let below = nodes.get(index + 1).map_or(Value::NONE, Value::from);
            set(this, "next", below);
            let inner = meddler(chain(2).into(), long(index));
            set(this, "value", meddler(inner.into(), long(index)));
        }
        nodes
    };
    let (left, right) = (build(), build());
    let action = {
        let all: Vec<_> = left.iter().chain(&right).cloned().collect();
        let done = Cell::new(0usize);
        move || {
            done.set(done.get() + 1);
            for this in &all {
                // The same program in new objects.
                let value = get(this, "value");
                let value = value.as_object().expect("a meddler");
                let copy = with_field(value, "second", get(value, "second")).expect("fits");
                set(this, "value", copy);
                if let Some(next) = get(this, "next").as_object() {
                    let value = get(next, "value");
                    set(
                        this,
                        "next",
                        with_field(next, "value", value).expect("fits"),
                    );
                }
            }
        }
    };
    for _ in 0..scaled(50) {
        let action = action.clone();
        let (l, r) = (left[0].clone(), right[0].clone());
        meddling(action, || {
            assert!(structural_equal(&l, &r).expect("comparable"));
            assert_eq!(structural_hash(&l).unwrap(), structural_hash(&r).unwrap());
            assert_eq!(
                structural_digest(&l).unwrap(),
                structural_digest(&r).unwrap()
            );
            let explained = isoform::explain_mismatch(&l, &r);
            assert!(explained.expect("comparable").is_none());
        });
    }
}

#[test]
fn a_hook_takes_everything_away() {
    let make = || {
        let meddler = construct(meddler(), vec![chain(3).into(), chain(3).into()]).expect("fits");
        // Only the nodes themselves keep the memory of the nodes above alive.
        let leaf = node(&meddler, chain(5));
        (node(node(&leaf, chain(4)), 1), leaf)
    };
    for _ in 0..scaled(1_000) {
        let ((left, _), (right, _)) = (make(), make());
        let (l, r) = (left.clone(), right.clone());
        let action = move || {
            for root in [&l, &r] {
                set(root, "value", 0);
                set(root, "next", chain(1));
            }
        };
        // Whatever the result, no freed memory is read.
        meddling(action, || {
            let _ = structural_equal(&left, &right).expect("comparable");
        });
        let ((left, leaf), (l, _)) = (make(), make());
        let (root, inner) = (left.clone(), leaf.clone());
        let action = move || {
            set(&root, "value", &l);
            set(&inner, "next", chain(2));
            set(&inner, "value", 3);
        };
        meddling(action, || structural_hash(&left).expect("can be hashed"));
    }
}

#[test]
fn destructors_may_write_fields() {
    struct Writer(Ref<Obj>, &'static AtomicUsize);
    impl Drop for Writer {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
            set(&self.0, "number", 1);
            assert!(structural_equal(&self.0, &self.0).expect("comparable"));
        }
    }
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let target = node(1, 2);
    let bomb = || Value::opaque(Writer(target.clone(), &DROPPED));
    let holder = node(bomb(), 2);
    set(&holder, "value", bomb());
    let mut rounds = 0;
    structural_walk(&holder, |_| {
        rounds += 1;
        set(&holder, "value", bomb());
        Ok(WalkResult::<()>::Advance)
    })
    .expect("no cycle");
    assert!(holder.downcast_ref::<OpaqueObj>().is_none());
    drop(holder);
    // Other tests may walk at this moment, which defers destructors.
    while DROPPED.load(Ordering::Relaxed) < rounds + 2 {
        thread::yield_now();
        let _ = structural_equal(&target, 1);
    }
    assert_eq!(get(&target, "number"), 1.into());
}

/// Runs the same work on four threads.
fn on_four_threads(work: impl Fn(usize) + Send + Sync + 'static) {
    let work = Arc::new(work);
    let workers: Vec<_> = (0..4)
        .map(|worker| {
            let work = Arc::clone(&work);
            thread::spawn(move || work(worker))
        })
        .collect();
    for worker in workers {
        worker.join().expect("no thread panics");
    }
}

/// Nodes that threads link to each other, without cycles: a link leads to a later node.
fn shared_graph() -> Arc<Vec<Ref<Obj>>> {
    let nodes: Vec<_> = (0..30).map(|at| node(long(at), Value::NONE)).collect();
    for (this, next) in nodes.iter().zip(&nodes[1..]) {
        set(this, "next", next);
    }
    Arc::new(nodes)
}

fn exercise(nodes: &[Ref<Obj>], worker: usize, round: usize) {
    let index = (worker * 7 + round * 13) % (nodes.len() - 1);
    let further = index + 1 + (round * 5 + worker) % (nodes.len() - 1 - index);
    match round % 8 {
        0 => set(&nodes[index], "next", &nodes[further]),
        1 => set(&nodes[index], "value", long(round)),
        2 => set(
            &nodes[index],
            "value",
            Array::from([Value::from(&nodes[further]), long(1)]),
        ),
        3 => {
            let _ = structural_equal(&nodes[0], &nodes[index]).expect("comparable");
        }
        4 => {
            structural_hash(&nodes[0]).expect("can be hashed");
            structural_digest(&nodes[index]).expect("can be named");
            let value = Value::from(&nodes[index]);
            isoform::files::to_json_graph(&value).expect("can be written");
            isoform::files::to_bytes(&value).expect("can be written");
            isoform::traverse::deep_copy(&value).expect("can be copied");
        }
        5 => {
            structural_walk(&nodes[0], |visit| {
                if round % 16 == 5 && visit.depth() == 3 {
                    set(&nodes[index], "number", round as i64);
                }
                assert!(!visit.path().to_string().is_empty());
                Ok(WalkResult::<()>::Advance)
            })
            .expect("no cycle");
        }
        6 => {
            let key = StructuralKey::new(&nodes[index]).expect("can be hashed");
            assert_eq!(key, key.clone());
        }
        _ => {
            let copy = with_field(&nodes[index], "number", 1.into()).expect("fits");
            assert!(!format!("{copy:?}").is_empty());
            let _ = get(&nodes[index], "value");
        }
    }
}

#[test]
fn threads_mutate_and_look_at_one_graph() {
    let nodes = shared_graph();
    let rounds = scaled(8_000);
    let shared = Arc::clone(&nodes);
    on_four_threads(move |worker| (0..rounds).for_each(|round| exercise(&shared, worker, round)));
    for node in nodes.iter() {
        set(node, "next", Value::NONE);
        set(node, "value", Value::NONE);
    }
    assert!(nodes.iter().all(|node| structural_hash(node).is_ok()));
}

#[test]
fn a_type_may_be_registered_while_a_walk_runs() {
    // The walk begins with a list without objects of this type.
    let list: List = List::from(vec![1i64]).as_untyped().clone();
    let root = Array::from([Value::from(0), list.clone().into()]);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let stop = Arc::clone(&stop);
        let node = node(long(0), 1);
        list.push(Value::from(&node)).unwrap();
        thread::spawn(move || {
            let mut round = 0;
            while !stop.load(Ordering::Relaxed) {
                round += 1;
                set(&node, "value", long(round));
            }
        })
    };
    for _ in 0..scaled(2_000) {
        let hash = structural_hash(root.clone());
        assert!(hash.is_ok());
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().expect("no panic");
}

#[test]
fn a_key_is_a_snapshot_of_fields() {
    let build = || {
        let shared = node(3, Value::NONE);
        let list: List = List::from(vec![Value::from(&shared)]);
        let inner = node(Array::from([Value::from(&shared)]), list.clone());
        (node(&inner, 5), inner, shared, list)
    };
    let key = |object: &Ref<Obj>| StructuralKey::new(object).expect("can be hashed");
    let (root, inner, shared, list) = build();
    let before = key(&root);
    let mut table = std::collections::HashMap::from([(before.clone(), "before")]);
    let changes: [&dyn Fn(); 4] = [
        &|| set(&shared, "value", 4),
        &|| set(&inner, "next", 1),
        &|| list.push(7.into()).unwrap(),
        &|| set(&root, "value", Value::NONE),
    ];
    let fresh = build().0;
    for (step, change) in changes.iter().enumerate() {
        change();
        assert_eq!(table.get(&before), Some(&"before"), "step {step}");
        assert_eq!(table.get(&key(&fresh)), Some(&"before"), "step {step}");
        let after = key(&root);
        assert_ne!(before, after, "step {step}");
        assert_eq!(table.get(&after), None, "step {step}");
    }
    table.insert(key(&root), "after");
    assert_eq!(table.len(), 2);
}

#[test]
fn a_key_keeps_identities_and_shows_hooks_its_copy() {
    // A mutable variable is still itself.
    let var = ty(TypeDef::new("mutation.Var")
        .kind(isoform::types::Kind::Var)
        .field(
            FieldDef::new("name", Schema::Str)
                .mutable(true)
                .flag(FieldFlag::Ignore),
        )
        .field(FieldDef::new("ty", Schema::Any).mutable(true)));
    let x = construct(var, vec!["x".into(), 1.into()]).expect("fits");
    let y = construct(var, vec!["x".into(), 1.into()]).expect("fits");
    let key = |object: &Ref<Obj>| StructuralKey::new(object).expect("can be hashed");
    assert_eq!(key(&x), key(&x));
    assert_ne!(key(&x), key(&y));
    let before = key(&x);
    set(&x, "ty", 2);
    assert_ne!(before, key(&x));
    set(&x, "ty", 1);
    assert_eq!(before, key(&x));

    let meddler = construct(meddler(), vec![1.into(), node(2, 3).into()]).expect("fits");
    let before = key(&meddler);
    let second = get(&meddler, "second");
    set(second.as_object().expect("a node"), "value", 4);
    set(&meddler, "first", 0);
    assert_ne!(before, key(&meddler));
    set(second.as_object().expect("a node"), "value", 2);
    set(&meddler, "first", 1);
    assert_eq!(before, key(&meddler));
}

#[test]
fn a_key_of_many_mutable_objects_is_linear() {
    // All nodes hold the same big immutable value, which the key walks once.
    let big = crate::support::doubled(2_000);
    let mut root = node(&big, Value::NONE);
    for _ in 0..scaled(5_000) {
        root = node(&big, &root);
    }
    let key = StructuralKey::new(&root).expect("can be hashed");
    assert_eq!(key, StructuralKey::new(&root).expect("can be hashed"));
}

/// The number of owners of the array in a list, besides the caller.
fn owners_inside(list: &List) -> u32 {
    let array = Value::from(list.snapshot());
    array.as_object().expect("an array is an object").owners() - 1
}

#[test]
fn traversals_borrow_what_lists_hold() {
    let list = List::new();
    let check = {
        let list = list.clone();
        move || assert_eq!(owners_inside(&list), 1, "the list itself")
    };
    let equal = {
        let check = check.clone();
        DynEqual::new(move |_, _, _| {
            check();
            Ok(true)
        })
    };
    let hash = {
        let check = check.clone();
        DynHash::new(move |_, init, _| {
            check();
            Ok(init)
        })
    };
    let definition = TypeDef::new("mutation.Observer");
    let observer = ty(definition.hook(equal).hook(hash));
    let observer = construct(observer, Vec::new()).expect("no fields");
    list.push(Value::from(&observer)).unwrap();
    let value = Value::from(list.clone());
    let other = Value::from(List::from(vec![Value::from(&observer)]));
    assert!(structural_equal(&value, other).expect("comparable"));
    structural_hash(&value).expect("can be hashed");
    let mut seen = 0;
    let walked = structural_walk(&value, |visit| {
        if visit
            .object()
            .is_some_and(|object| object.same_as(&observer))
        {
            check();
            seen += 1;
        }
        Ok(WalkResult::<()>::Advance)
    });
    walked.expect("no cycle");
    assert_eq!(seen, 1);
    // The observer leads back to the list inspected by its hooks.
    list.clear();
}

#[test]
fn a_list_that_grows_under_a_traversal_is_copied_once() {
    let first = node(1, Value::NONE);
    let list = List::from(vec![Value::from(&first), 2.into()]);
    let walked = structural_walk(list.clone(), |visit| {
        if visit.object().is_some_and(|object| object.same_as(&first)) {
            (0..100).for_each(|number| list.push(number.into()).unwrap());
            // This variable, the array under the walk, and the new array.
            assert_eq!(first.owners(), 3);
        }
        Ok(WalkResult::<()>::Advance)
    });
    walked.expect("no cycle");
    assert_eq!(list.len(), 102);
    // Walked values are freed at the end of the last running traversal, possibly of
    // other tests.
    let given_up = || {
        list.push(0.into()).unwrap();
        first.owners() == 2
    };
    let patience = std::time::Duration::from_millis(2);
    let wait = || {
        thread::sleep(patience);
        false
    };
    assert!((0..10_000).any(|_| given_up() || wait()));
}

#[test]
fn lists_that_change_in_place_are_read_as_they_were() {
    // Strings on the heap, numbered in order: any mixture of two states shows.
    let list = List::from((0..40).map(long).collect::<Vec<_>>());
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..scaled(3_000) {
                    let mut next = 0;
                    let walked = structural_walk(list.clone(), |visit| {
                        if visit.value().as_str().is_some() {
                            assert_eq!(visit.value(), long(next));
                            next += 1;
                        }
                        Ok(WalkResult::<()>::Advance)
                    });
                    walked.expect("no cycle");
                    assert!((20..=60).contains(&next));
                    structural_hash(list.clone()).expect("can be hashed");
                }
                done.store(true, Ordering::Relaxed);
            });
        }
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for number in 40..60 {
                    list.push(long(number)).unwrap();
                }
                for _ in 0..20 {
                    list.pop();
                }
            }
        });
    });
}
