//! Cycles through mutable fields: an error with a path for every traversal,
//! however the cycle is entered and left; values that only look cyclic are
//! fine.

use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::compare::{StructuralKey, first_structural_mismatch, last_visit_count};
use isoform::errors::ErrorKind;
use isoform::hooks::{DynEqual, DynHash};
use isoform::objects::{construct, field_value, set_field};
use isoform::traverse::{Sharing, WalkOptions, WalkOrder, WalkResult, structural_walk};
use isoform::types::{
    FieldDef, FieldFlag, Kind, RegionChange, Schema, TypeDef, TypeIndex, register_type,
};
use isoform::values::{Dict, List};
use isoform::{
    Array, Map, Obj, Ref, Result, Value, explain_mismatch, structural_digest, structural_equal,
    structural_hash,
};

use crate::build::{PLAIN, Says, judge};
use crate::support::{Link, MAPPED, scaled};

fn ty(definition: TypeDef) -> TypeIndex {
    register_type(definition).expect("the definition is valid")
}

/// A field for a link, in a type of some kind.
fn link(name: &str) -> FieldDef {
    FieldDef::new(name, Schema::Any).mutable(true)
}

/// A node with a typed link, and links before and after other fields.
fn node_type() -> TypeIndex {
    let node = || Schema::Optional(Box::new(Schema::named("cycles.Node")));
    ty(TypeDef::new("cycles.Node")
        .field(link("first"))
        .field(FieldDef::new("typed", node()).mutable(true))
        .field(FieldDef::new("value", Schema::Int).mutable(true))
        .field(link("last")))
}

fn node(value: i64) -> Ref<Obj> {
    let values = vec![Value::NONE, Value::NONE, value.into(), Value::NONE];
    construct(node_type(), values).expect("the values fit")
}

fn set(object: &Ref<Obj>, name: &str, value: impl Into<Value>) {
    set_field(object, name, value.into()).expect("the field is mutable");
}

/// Breaks the cycles to free the memory.
fn cut(object: &Ref<Obj>) {
    for field in object.type_info().fields() {
        if field.is_mutable() && !matches!(field.schema(), Schema::Int) {
            set(object, field.name(), Value::NONE);
        }
    }
}

/// Nodes in a ring, linked through one field; the path of one round.
fn ring(length: usize, name: &str) -> Vec<Ref<Obj>> {
    let nodes: Vec<_> = (0..length).map(|_| node(1)).collect();
    for (at, from) in nodes.iter().enumerate() {
        set(from, name, &nodes[(at + 1) % length]);
    }
    nodes
}

#[track_caller]
fn check_error<T: std::fmt::Debug>(result: Result<T>, key: &str, what: &str, path: &str) {
    let error = result.expect_err("the value contains itself");
    assert_eq!(error.kind(), ErrorKind::Value);
    let expected = match what {
        "walk" => format!("cyclic value: the {key} contains itself"),
        _ => format!("cyclic {key} cannot be {what}"),
    };
    assert_eq!(error.message(), expected);
    let found = error.path().map(|path| path.to_string());
    assert_eq!(found.as_deref(), Some(path), "{what}");
}

/// Checks that every traversal fails, with the path.
#[track_caller]
fn check_cyclic(left: &Value, right: &Value, key: &str, path: &str) {
    check_error(structural_equal(left, right), key, "compared", path);
    check_error(structural_equal(right, left), key, "compared", path);
    check_error(
        first_structural_mismatch(left, right),
        key,
        "compared",
        path,
    );
    check_error(explain_mismatch(left, right), key, "compared", path);
}

#[track_caller]
fn check_all(value: &Value, key: &str, path: &str) {
    check_cyclic(value, value, key, path);
    check_error(structural_hash(value), key, "hashed", path);
    check_error(StructuralKey::new(value), key, "hashed", path);
    check_error(structural_digest(value), key, "hashed", path);
    for order in [WalkOrder::Pre, WalkOrder::Post] {
        for sharing in [Sharing::Once, Sharing::EachOccurrence] {
            let options = WalkOptions::default().order(order).sharing(sharing);
            let walked = options.walk(value, |_| Ok(WalkResult::<()>::Advance));
            check_error(walked, key, "walk", path);
        }
    }
    assert!(format!("{value:?}").contains("..."), "{value:?}");
}

#[test]
fn a_ring_is_an_error_whatever_its_length_and_field() {
    for name in ["first", "typed", "last"] {
        for length in [1, 2, 3, 7] {
            let nodes = ring(length, name);
            let path = format!("<root>{}", format!(".{name}").repeat(length));
            check_all(&Value::from(&nodes[0]), "cycles.Node", &path);
            nodes.iter().for_each(cut);
        }
    }
}

#[test]
fn a_ring_that_is_met_later_is_an_error() {
    // After a chain of immutable objects with one owner.
    let nodes = ring(2, "typed");
    let root = Link::new(Value::from(Link::new(Value::from(&nodes[0]))));
    let expected = "<root>.next.next.typed.typed";
    check_all(&Value::from(&root), "cycles.Node", expected);
    // The walk enters the ring at an immutable object; the mutable object has one owner.
    let inner = node(1);
    let entry = Link::new(Value::from(&inner));
    set(&inner, "last", &entry);
    let value = Value::from(&entry);
    drop(inner);
    assert_eq!(value.as_object().map(|object| object.owners()), Some(3));
    check_all(&value, "it.Link", "<root>.next.last");
    let inner = field_value(entry.as_object(), "next").expect("a field");
    cut(inner.as_object().expect("a node"));
    nodes.iter().for_each(cut);
}

#[test]
fn a_ring_through_containers_is_an_error() {
    let through = |make: &dyn Fn(Value) -> Value, step: &str| {
        let target = node(1);
        set(&target, "first", make(Value::from(&target)));
        check_all(
            &Value::from(&target),
            "cycles.Node",
            &format!("<root>.first{step}"),
        );
        // Entered at the container.
        let container = field_value(&target, "first").expect("a field");
        let key = match container.as_object() {
            Some(object) => object.type_info().key().to_string(),
            None => String::new(),
        };
        let path = format!("<root>{step}.first");
        check_error(
            structural_equal(&container, &container),
            &key,
            "compared",
            &path,
        );
        check_error(structural_hash(&container), &key, "hashed", &path);
        cut(&target);
    };
    through(&|value| Array::from([Value::from(1), value]).into(), "[1]");
    through(
        &|value| Map::from_iter([(Value::from("k"), value)]).into(),
        "[\"k\"]",
    );
}

#[test]
fn a_ring_through_a_list_is_reported_at_the_list_as_ever() {
    let target = node(1);
    let list: List = List::from(vec![Value::from(&target)]);
    set(&target, "first", list.clone());
    let value = Value::from(&target);
    let path = "<root>.first[0].first";
    check_cyclic(&value, &value, "isoform.List", path);
    check_error(structural_hash(&value), "isoform.List", "hashed", path);
    // And a ring of fields only, after the list.
    list.clear();
    let nodes = ring(2, "last");
    list.push(Value::from(&nodes[1])).unwrap();
    let path = "<root>.first[0].last.last";
    check_cyclic(&value, &value, "cycles.Node", path);
    check_error(structural_hash(&value), "cycles.Node", "hashed", path);
    cut(&target);
    nodes.iter().for_each(cut);
}

#[test]
fn rings_of_different_periods_are_an_error() {
    for (left, right) in [(1, 2), (2, 3), (4, 6), (1, 5)] {
        let (l, r) = (ring(left, "typed"), ring(right, "typed"));
        let path = format!("<root>{}", ".typed".repeat(left.min(right)));
        check_cyclic(
            &Value::from(&l[0]),
            &Value::from(&r[0]),
            "cycles.Node",
            &path,
        );
        l.iter().chain(&r).for_each(cut);
    }
}

#[test]
fn a_ring_against_a_chain_is_an_error_after_one_round() {
    let ring = ring(3, "last");
    let mut chain = node(1);
    for _ in 0..scaled(100_000) {
        let next = node(1);
        set(&next, "last", chain);
        chain = next;
    }
    let path = "<root>.last.last.last";
    check_cyclic(
        &Value::from(&ring[0]),
        &Value::from(&chain),
        "cycles.Node",
        path,
    );
    // A difference in the first round comes first.
    set(&ring[1], "value", 2);
    assert!(!structural_equal(&ring[0], &chain).expect("they differ at once"));
    let paths = first_structural_mismatch(&ring[0], &chain).expect("they differ");
    assert_eq!(
        paths.expect("they differ").0.to_string(),
        "<root>.last.value"
    );
    ring.iter().for_each(cut);
}

#[test]
fn other_kinds_in_a_ring_are_an_error() {
    for kind in [Kind::Tree, Kind::Dag, Kind::Var, Kind::ConstTree] {
        for scope in [false, true] {
            if scope && kind == Kind::Var {
                continue;
            }
            let key = format!("cycles.{kind}.{scope}");
            let index = ty(TypeDef::new(&key)
                .kind(kind)
                .scope(scope)
                .field(link("next")));
            let make = || {
                let object = construct(index, vec![Value::NONE]).expect("fits");
                set(&object, "next", &object);
                object
            };
            let (left, right) = (make(), make());
            let path = "<root>.next";
            check_error(MAPPED.equal(&left, &right), &key, "compared", path);
            check_error(MAPPED.hash(&left), &key, "hashed", path);
            check_error(MAPPED.digest(&left), &key, "hashed", path);
            cut(&left);
            cut(&right);
        }
    }
}

#[test]
fn a_variable_whose_annotation_mentions_it_is_an_error() {
    let index = ty(TypeDef::new("cycles.Binder")
        .scope(true)
        .field(link("param").flag(FieldFlag::Def)));
    let var = ty(TypeDef::new("cycles.AnnotatedVar")
        .kind(Kind::Var)
        .field(link("ty")));
    let make = || {
        let var = construct(var, vec![Value::NONE]).expect("fits");
        set(&var, "ty", Array::from([Value::from(&var)]));
        (
            construct(index, vec![Value::from(&var)]).expect("fits"),
            var,
        )
    };
    let ((left, x), (right, y)) = (make(), make());
    let path = "<root>.param.ty[0]";
    check_error(
        structural_equal(&left, &right),
        "cycles.AnnotatedVar",
        "compared",
        path,
    );
    check_error(
        structural_digest(&left),
        "cycles.AnnotatedVar",
        "hashed",
        path,
    );
    cut(&x);
    cut(&y);
}

/// A type with hooks that continue with a field, ignored by comparison or not.
fn hooked(key: &str, flag: FieldFlag) -> TypeIndex {
    if let Some(info) = isoform::types::find_type(key) {
        return info.index();
    }
    let equal = DynEqual::new(|left, right, eq| {
        eq.equal_in(
            &field_value(left, "next")?,
            &field_value(right, "next")?,
            RegionChange::Inherit,
            "next",
        )
    });
    let hash = DynHash::new(|object, init, hash| {
        hash.hash_in(&field_value(object, "next")?, init, RegionChange::Inherit)
    });
    ty(TypeDef::new(key)
        .hook(equal)
        .hook(hash)
        .field(link("next").flag(flag)))
}

#[test]
fn a_ring_through_hooks_is_an_error() {
    let both = [
        ("cycles.Hooked", FieldFlag::None),
        ("cycles.HookedIgnored", FieldFlag::Ignore),
    ];
    for (key, flag) in both {
        let index = hooked(key, flag);
        let make = || {
            let nodes = [0, 1].map(|_| construct(index, vec![Value::NONE]).expect("fits"));
            set(&nodes[0], "next", &nodes[1]);
            set(&nodes[1], "next", &nodes[0]);
            nodes
        };
        let (left, right) = (make(), make());
        let path = "<root>.next.next";
        check_error(structural_equal(&left[0], &right[0]), key, "compared", path);
        let hashed = structural_hash(&left[0]).expect_err("cyclic");
        assert_eq!(hashed.message(), format!("cyclic {key} cannot be hashed"));
        left.iter().chain(&right).for_each(cut);
    }
}

#[test]
fn a_hook_may_try_a_ring_and_go_on() {
    static TRIED: AtomicUsize = AtomicUsize::new(0);
    let equal = DynEqual::new(|left, right, eq| {
        let field = |object: &Ref<Obj>, name: &str| field_value(object, name);
        let tried = eq.equal_in(
            &field(left, "ring")?,
            &field(right, "ring")?,
            RegionChange::Inherit,
            "ring",
        );
        TRIED.fetch_add(usize::from(tried.is_err()), Ordering::Relaxed);
        // The error is kept; objects that were open inside no longer are.
        for _ in 0..2 {
            let (l, r) = (field(left, "plain")?, field(right, "plain")?);
            if !eq.equal_in(&l, &r, RegionChange::Inherit, "plain")? {
                return Ok(false);
            }
        }
        Ok(true)
    });
    let hash = DynHash::new(|object, init, hash| {
        let _ = hash.hash_in(&field_value(object, "ring")?, init, RegionChange::Inherit);
        hash.hash_in(&field_value(object, "plain")?, init, RegionChange::Inherit)
    });
    let index = ty(TypeDef::new("cycles.Lenient")
        .hook(equal)
        .hook(hash)
        .field(link("ring"))
        .field(link("plain")));
    let nodes = ring(3, "typed");
    let make = || {
        let plain = Array::from([Value::from(&nodes[1].type_info().key().to_string()[..])]);
        construct(index, vec![Value::from(&nodes[0]), plain.into()]).expect("fits")
    };
    let pair = |a: &Ref<Obj>, b: &Ref<Obj>| Array::from([Value::from(a), Value::from(b)]);
    let (left, right) = (make(), make());
    assert!(structural_equal(pair(&left, &left), pair(&right, &right)).expect("no error is left"));
    assert!(TRIED.load(Ordering::Relaxed) > 0);
    let hashes = [&left, &right].map(|object| structural_hash(pair(object, object)).unwrap());
    assert_eq!(hashes[0], hashes[1]);
    // The same holds for objects at the place of the other side's ring.
    let chains = [(), ()].map(|()| {
        let chain = [(); 4].map(|()| node(1));
        for link in chain.windows(2) {
            set(&link[0], "typed", &link[1]);
        }
        chain
    });
    let make = |first: &Ref<Obj>, chain: &[Ref<Obj>; 4]| {
        let plain = Array::from([Value::from(&chain[3]), Value::from(&chain[2])]);
        construct(index, vec![Value::from(first), plain.into()]).expect("fits")
    };
    let left = make(&chains[0][0], &chains[0]);
    let right = make(&nodes[0], &chains[1]);
    let before = TRIED.load(Ordering::Relaxed);
    assert!(structural_equal(&left, &right).expect("no error is left"));
    assert!(structural_equal(&right, &left).expect("no error is left"));
    assert_eq!(TRIED.load(Ordering::Relaxed), before + 2);
    // If a comparison failed for another reason, the reason stays the same.
    let hidden = Value::from(isoform::functions::Function::new(|_| Ok(Value::NONE)));
    let values = vec![hidden, Value::NONE, 1.into(), Value::NONE];
    let odd = construct(node_type(), values).expect("the values fit");
    let object = construct(index, vec![Value::from(&odd), Value::from(&odd)]).expect("fits");
    let error = structural_hash(&object).expect_err("a function has no hash");
    assert_eq!(error.kind(), ErrorKind::Type, "{error}");
    nodes.iter().for_each(cut);
}

#[test]
fn shared_nodes_are_no_rings() {
    // Sixty levels of x = Node(x, x, x), with links of every sort.
    let build = || {
        let mut x = node(1);
        for _ in 0..60 {
            let next = node(2);
            for name in ["first", "typed", "last"] {
                set(&next, name, &x);
            }
            x = next;
        }
        x
    };
    let (left, right) = (build(), build());
    assert!(structural_equal(&left, &right).expect("comparable"));
    assert!(last_visit_count() < 300, "{}", last_visit_count());
    assert_eq!(
        structural_hash(&left).unwrap(),
        structural_hash(&right).unwrap()
    );
    assert!(last_visit_count() < 300, "{}", last_visit_count());
    assert_eq!(
        structural_digest(&left).unwrap(),
        structural_digest(&right).unwrap()
    );
    assert!(explain_mismatch(&left, &right).unwrap().is_none());
    assert_eq!(
        StructuralKey::new(&left).unwrap(),
        StructuralKey::new(&right).unwrap()
    );
    // Twice side by side, and each with an owner outside.
    let twice = |x: &Ref<Obj>| Array::from([Value::from(x), Value::from(x)]);
    assert!(structural_equal(twice(&left), twice(&right)).expect("comparable"));
}

#[test]
fn a_long_ring_is_found() {
    let nodes = ring(scaled(200_000), "typed");
    let value = Value::from(&nodes[0]);
    assert!(structural_equal(&value, &value).is_err());
    assert!(structural_hash(&value).is_err());
    let walked = structural_walk(&value, |_| Ok(WalkResult::<()>::Advance));
    assert!(walked.is_err());
    cut(&nodes[0]);
    assert!(structural_equal(&value, &value).expect("no ring any more"));
}

/// A list that contains itself below an array; the caller breaks the cycle.
fn cyclic_list() -> List {
    let list = List::<Value>::from(vec![1.into()]);
    list.push([Value::from(list.clone())].into()).unwrap();
    list
}

#[test]
fn a_list_or_dict_that_holds_itself_is_named_with_its_path() {
    let (l, r) = (cyclic_list(), cyclic_list());
    let (left, right) = (Value::from(l.clone()), Value::from(r.clone()));
    let path = "<root>[1][0]";
    check_cyclic(&left, &right, "isoform.List", path);
    check_cyclic(&left, &left, "isoform.List", path);
    for says in [(&left, &right), (&left, &left)] {
        let failures = judge("cyclic", says.0, says.1, PLAIN, Says::ValueError(path));
        assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    }
    // An earlier mismatch wins here too.
    let (first, second) = (
        [1.into(), left.clone()].into(),
        [2.into(), right.clone()].into(),
    );
    let failures = judge("first", &first, &second, PLAIN, Says::Differ);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    for outcome in [
        structural_hash(&left).map(drop),
        structural_digest(&left).map(drop),
        StructuralKey::new(&left).map(drop),
        structural_walk(&left, |_| Ok(WalkResult::<()>::Advance)).map(drop),
    ] {
        let error = outcome.expect_err("cyclic");
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().starts_with("cyclic"), "{error}");
        assert_eq!(error.path().expect("a path").to_string(), path);
    }
    assert!(format!("{left:?}").len() < 1000);
    let dict = || {
        let dict: Dict = Dict::new();
        dict.insert("self".into(), Link::new([Value::from(dict.clone())]).into())
            .unwrap();
        dict
    };
    let (c, d) = (dict(), dict());
    let place = "<root>[\"self\"].next[0]";
    check_cyclic(&c.clone().into(), &d.clone().into(), "isoform.Dict", place);
    // Break the cycles to free the memory.
    l.clear();
    r.clear();
    c.clear();
    d.clear();
}

#[test]
fn a_list_that_occurs_twice_is_no_cycle() {
    let shared = Value::from(List::from(vec![1i64]));
    let twice = || Value::from([shared.clone(), shared.clone()]);
    assert!(structural_equal(twice(), twice()).expect("comparable"));
}
