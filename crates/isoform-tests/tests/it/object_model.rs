//! `Ref`: owners, casts, writing, identity, drop and layout.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use isoform::functions::Function;
use isoform::objects::{construct, field_value, field_value_at, with_field};
use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, find_type, register, register_type};
use isoform::values::{Dict, List};
use isoform::{Array, Map, Node, Obj, Ref, Str, Value};

use crate::support::{
    Add, Call, Chain, Expr, Int, Lambda, Link, Var, add, chain, int, scaled, var,
};

/// Counts how often it is dropped.
#[derive(Clone)]
struct Drops(Arc<AtomicUsize>);

impl Drops {
    fn new() -> Self {
        Drops(Arc::default())
    }

    /// A value that increments the counter when dropped.
    fn witness(&self) -> Value {
        struct Witness(Arc<AtomicUsize>);
        impl Drop for Witness {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        Value::opaque(Witness(Arc::clone(&self.0)))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_reference_is_one_pointer_and_so_is_an_optional_one() {
    assert_eq!(size_of::<Ref<Add>>(), 8);
    assert_eq!(size_of::<Option<Ref<Add>>>(), 8);
    assert_eq!(size_of::<Array<Value>>(), 8);
}

#[test]
fn owners_are_counted() {
    let node = int(1);
    assert_eq!(node.owners(), 1);
    let other = node.clone();
    let value = Value::from(&node);
    assert_eq!(node.owners(), 3);
    assert_eq!(value.clone().as_object().map(Ref::owners), Some(4));
    drop((other, value));
    assert_eq!(node.owners(), 1);
    let parent = add(&node, &node);
    assert_eq!(node.owners(), 3);
    drop(parent);
    assert_eq!(node.owners(), 1);
}

#[test]
fn the_last_owner_frees_what_only_it_held() {
    let drops = Drops::new();
    let kept = Value::from(Link::new(drops.witness()));
    let root = Call::new(vec![
        kept.clone(),
        Link::new(drops.witness()).into(),
        drops.witness(),
    ]);
    let again = root.clone();
    drop(root);
    assert_eq!(drops.count(), 0);
    drop(again);
    assert_eq!(drops.count(), 2);
    drop(kept);
    assert_eq!(drops.count(), 3);
}

#[test]
fn casts_follow_the_declared_ancestry() {
    let x = var("x");
    assert!(x.isa::<Var>() && x.isa::<Expr>() && x.isa::<Obj>());
    assert!(!x.isa::<Int>());

    let expr: Ref<Expr> = x.clone().upcast();
    assert!(expr.same_as(&x));
    assert_eq!(expr.type_info().key(), "it.Var");
    let object: Ref<Obj> = expr.clone().upcast();
    assert_eq!(object.owners(), 3);

    let back: &Ref<Var> = object.downcast_ref().expect("it is a variable");
    assert_eq!(&*back.name, "x");
    assert!(object.downcast_ref::<Add>().is_none());
    assert!(object.downcast_ref::<Link>().is_none());
    let owned: Ref<Var> = object.cast().expect("it is a variable");
    assert!(owned.same_as(&x));
    assert_eq!(x.owners(), 3);
}

#[test]
fn a_failed_cast_names_both_types_and_gives_up_its_owner() {
    let node = int(1);
    let error = node.clone().cast::<Add>().expect_err("an Int is no Add");
    assert_eq!(error.to_string(), "TypeError: expected it.Add, got it.Int");
    assert_eq!(node.owners(), 1);
    // A parent is not an instance of its child.
    let plain: Ref<Expr> = Ref::new(Expr::default());
    assert!(plain.downcast_ref::<Int>().is_none());
    assert!(plain.isa::<Expr>());
}

#[test]
fn only_a_single_owner_may_write() {
    let mut node = Int::new(1);
    node.get_mut().expect("one owner").value = 2;
    assert_eq!(node.value, 2);

    let other = node.clone();
    assert!(node.get_mut().is_none());
    drop(other);
    let value = Value::from(&node);
    assert!(node.get_mut().is_none());
    drop(value);
    let inside = add(&node, int(0));
    assert!(node.get_mut().is_none());
    drop(inside);
    assert!(node.get_mut().is_some());

    let mut expr: Ref<Expr> = node.upcast();
    assert!(expr.get_mut().is_some());
}

#[test]
fn a_field_that_is_overwritten_is_freed() {
    let drops = Drops::new();
    let mut link = Link::new(drops.witness());
    link.get_mut().expect("one owner").next = 1.into();
    assert_eq!(drops.count(), 1);
    assert_eq!(link.next, Value::from(1));
}

#[test]
fn identity_is_equality_and_numbers_are_unique() {
    let (a, b) = (int(1), int(1));
    assert_eq!(a, a.clone());
    assert_ne!(a, b);
    assert_ne!(a.identity(), b.identity());
    assert_eq!(a.identity(), a.clone().identity());
    // A number is never used again, not even for the same block of memory.
    let mut last = int(0).identity();
    for _ in 0..1000 {
        let next = int(0).identity();
        assert!(next > last, "{next} after {last}");
        last = next;
    }
}

/// Builds values on values and drops the whole.
#[track_caller]
fn drop_chain(depth: usize, wrap: impl Fn(usize, Value) -> Value) {
    let drops = Drops::new();
    let mut value = drops.witness();
    for level in 0..depth {
        value = wrap(level, value);
    }
    assert_eq!(drops.count(), 0);
    drop(value);
    assert_eq!(drops.count(), 1);
}

#[test]
fn a_deep_chain_of_typed_fields_is_dropped() {
    let length = scaled(10_000_000);
    let head = chain(length);
    let second = head.next.clone().expect("there are ten at least");
    drop(head);
    assert_eq!(second.owners(), 1);
    let weak_witness = second.identity();
    drop(second);
    assert!(chain(1).identity() > weak_witness);
}

#[test]
fn a_deep_chain_of_value_fields_is_dropped() {
    drop_chain(scaled(10_000_000), |_, value| Link::new(value).into());
}

#[test]
fn deep_arrays_are_dropped() {
    drop_chain(scaled(2_000_000), |_, value| Array::from([value]).into());
}

#[test]
fn deep_lists_are_dropped() {
    drop_chain(scaled(1_000_000), |_, value| List::from(vec![value]).into());
}

#[test]
fn deep_maps_and_dicts_are_dropped() {
    drop_chain(scaled(400_000), |level, value| match level % 4 {
        0 => [(1.into(), value)].into_iter().collect::<Map>().into(),
        1 => [(1.into(), value)].into_iter().collect::<Dict>().into(),
        2 => [(value, 1.into())].into_iter().collect::<Map>().into(),
        _ => [(value, 1.into())].into_iter().collect::<Dict>().into(),
    });
}

#[test]
fn deep_closures_are_dropped() {
    let length = scaled(100_000);
    drop_chain(length, |_, value| {
        Function::new(move |_| Ok(value.clone())).into()
    });
    // The closure of a named function is shared with the anonymous one.
    drop_chain(length, |_, value| {
        Function::new(move |_| Ok(value.clone())).named("f").into()
    });
}

#[test]
fn deep_opaque_values_are_dropped() {
    drop_chain(scaled(1_000_000), |_, value| Value::opaque(value));
}

#[test]
fn a_deep_chain_of_everything_is_dropped() {
    drop_chain(scaled(2_000_000), |level, value| match level % 7 {
        0 => Link::new(value).into(),
        1 => Call::new(vec![Value::from(level), value]).into(),
        2 => List::from(vec![value]).into(),
        3 => [(2.into(), value)].into_iter().collect::<Map>().into(),
        4 => [(2.into(), value)].into_iter().collect::<Dict>().into(),
        5 => Function::new(move |_| Ok(value.clone())).into(),
        _ => Value::opaque(vec![value]),
    });
}

#[test]
fn user_code_in_a_destructor_may_build_and_drop() {
    struct Busy(Value, Drops);
    impl Drop for Busy {
        fn drop(&mut self) {
            let inner = Link::new(self.1.witness());
            let shared = Call::new(vec![Value::from(&inner), self.0.clone()]);
            drop(inner);
            drop(shared);
        }
    }
    let drops = Drops::new();
    let depth = scaled(1000);
    let mut value = Value::NONE;
    for _ in 0..depth {
        value = Value::opaque(Busy(value, drops.clone()));
    }
    drop(value);
    assert_eq!(drops.count(), depth);
}

#[test]
fn a_panic_in_a_destructor_does_not_stop_later_drops() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            if !thread::panicking() {
                std::panic::panic_any("from a destructor");
            }
        }
    }
    let outcome = thread::spawn(|| {
        let value = Value::from(Link::new(Value::opaque(Panics)));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(value)));
        let message = caught.expect_err("the destructor panics");
        assert_eq!(message.downcast_ref(), Some(&"from a destructor"));
        let drops = Drops::new();
        drop(Link::new(vec![drops.witness(), drops.witness()]));
        drops.count()
    });
    assert_eq!(outcome.join().expect("the panic was caught"), 2);
}

#[test]
fn objects_are_dropped_by_the_thread_that_comes_last() {
    let drops = Drops::new();
    let length = scaled(100_000);
    let mut shared = Value::from(Link::new(drops.witness()));
    for _ in 0..length {
        shared = Link::new(shared).into();
    }
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let mine = shared.clone();
            thread::spawn(move || drop(mine))
        })
        .collect();
    drop(shared);
    for worker in workers {
        worker.join().expect("no thread panics");
    }
    assert_eq!(drops.count(), 1);
}

/// The run-time twin of a derived type.
fn declared_at_run_time(key: &str, derived: TypeDef, parent: Option<&str>) -> TypeDef {
    let derived_info = find_type(derived.key()).expect("registered");
    let parent = parent.and_then(find_type);
    let inherited = parent.map_or(0, |parent| parent.fields().len());
    let mut twin = TypeDef::new(key)
        .kind(derived_info.kind())
        .scope(derived_info.is_scope());
    if let Some(parent) = parent {
        twin = twin.parent(parent.index());
    }
    for field in &derived_info.fields()[inherited..] {
        let copy = FieldDef::new(field.name(), field.schema().clone()).flag(field.field_flag());
        twin = twin.field(copy);
    }
    twin
}

#[test]
fn types_of_both_origins_have_the_same_table_and_layout() {
    #[derive(Node)]
    #[node(key = "it.object.Mixed", no_with)]
    #[repr(C)]
    struct Mixed {
        #[node(base, default)]
        base: Expr,
        flag: bool,
        dtype: isoform::values::DType,
        second: bool,
        name: Str,
        third: bool,
        number: f64,
        #[node(def)]
        items: Array<Ref<Var>>,
        list: Option<List<i64>>,
    }
    #[derive(Node)]
    #[node(key = "it.object.MixedChild", no_with)]
    #[repr(C)]
    struct MixedChild {
        #[node(base)]
        base: Mixed,
        last: bool,
    }

    let mixed = find_type_of::<Mixed>();
    let child = find_type_of::<MixedChild>();
    let expr = find_type_of::<Expr>();
    let twin = declared_at_run_time("it.object.MixedTwin", Mixed::definition(), Some(expr));
    let twin = register_type(twin).expect("a valid definition");
    let twin_child = declared_at_run_time(
        "it.object.MixedChildTwin",
        MixedChild::definition(),
        Some(mixed),
    )
    .parent(twin);
    let twin_child = register_type(twin_child).expect("a valid definition");

    for (derived, twin) in [(mixed, twin), (child, twin_child)] {
        let derived = find_type(derived).expect("registered");
        let twin = isoform::types::registered_types()[..]
            .iter()
            .find(|info| info.index() == twin)
            .copied()
            .expect("registered");
        assert_eq!(derived.fields().len(), twin.fields().len());
        for (left, right) in derived.fields().iter().zip(twin.fields()) {
            assert_eq!(left.name(), right.name());
            assert_eq!(left.schema(), right.schema());
            assert_eq!(left.storage(), right.storage(), "{}", left.name());
            assert_eq!(left.field_flag(), right.field_flag());
        }
        assert_eq!(derived.kind(), twin.kind());
    }

    // An object built through the table is read through the struct, and back.
    let values = || {
        vec![
            Value::from("a remark"),
            true.into(),
            isoform::values::DType::FLOAT32.into(),
            false.into(),
            "a name of more than fourteen bytes".into(),
            true.into(),
            2.5.into(),
            vec![var("p")].into(),
            List::from(vec![1i64, 2]).into(),
            true.into(),
        ]
    };
    let object = construct(MixedChild::type_index(), values()).expect("the values fit");
    let typed: &Ref<MixedChild> = object.downcast_ref().expect("of this type");
    let mixed = &typed.base;
    assert_eq!(
        (mixed.flag, mixed.second, mixed.third, typed.last),
        (true, false, true, true)
    );
    assert_eq!(mixed.dtype, isoform::values::DType::FLOAT32);
    assert_eq!(&*mixed.name, "a name of more than fourteen bytes");
    assert_eq!(mixed.number, 2.5);
    assert_eq!(&*mixed.items.get(0).expect("one parameter").name, "p");
    assert_eq!(mixed.list.as_ref().and_then(|list| list.get(1)), Some(2));

    let twin = construct(twin_child, values()).expect("the values fit");
    for position in [0, 1, 2, 3, 4, 5, 6, 9] {
        assert_eq!(
            field_value_at(&object, position),
            field_value_at(&twin, position),
            "field {position}"
        );
    }
    let changed = with_field(&object, "number", 3.into()).expect("an int converts");
    let changed: Ref<MixedChild> = changed.cast().expect("of the same type");
    assert_eq!(changed.base.number, 3.0);
    assert_eq!(mixed.number, 2.5);
    assert_eq!(
        field_value(changed.as_object(), "last").unwrap(),
        true.into()
    );
}

fn find_type_of<T: Node>() -> &'static str {
    register::<T>().expect("no clash of keys");
    T::TYPE_KEY
}

#[test]
fn definition_fields_are_part_of_the_table() {
    let info = find_type(find_type_of::<Lambda>()).expect("registered");
    let flags: Vec<_> = info
        .fields()
        .iter()
        .map(|field| (field.name(), field.field_flag()))
        .collect();
    let expected = [
        ("note", FieldFlag::Ignore),
        ("body", FieldFlag::None),
        ("span", FieldFlag::Ignore),
        ("params", FieldFlag::Def),
    ];
    assert_eq!(flags, expected);
    assert!(info.is_scope());
    assert_eq!(info.parent().map(|parent| parent.key()), Some("it.Expr"));
    let root = info.parent().and_then(|parent| parent.parent());
    assert_eq!(root.map(|root| root.key()), Some("isoform.Object"));
    assert!(root.is_some_and(|root| root.parent().is_none()));
}

#[test]
fn a_derived_type_and_its_run_time_declaration_are_one() {
    let index = Chain::type_index();
    let again = TypeDef::new("it.Chain").field(FieldDef::new(
        "next",
        Schema::Optional(Box::new(Schema::named("it.Chain"))),
    ));
    assert_eq!(register_type(again).unwrap(), index);
    let object = construct(index, vec![Value::NONE]).expect("None fits");
    assert!(
        object
            .downcast_ref::<Chain>()
            .is_some_and(|chain| chain.next.is_none())
    );
}

#[test]
fn debug_output_is_short_for_any_depth() {
    let text = format!("{:?}", chain(scaled(1_000_000)));
    assert!(text.starts_with("it.Chain(next=it.Chain(next="), "{text}");
    assert!(text.len() < 1000);
}
