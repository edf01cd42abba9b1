//! `deep_copy` and `shallow_copy`.

use isoform::functions::Function;
use isoform::objects::{construct, field_value};
use isoform::traverse::{Sharing, WalkOptions, WalkResult, deep_copy, shallow_copy};
use isoform::types::{FieldDef, Kind, Schema, TypeDef, TypeIndex, find_type, register_type};
use isoform::values::{Bytes, Dict, List, Shape};
use isoform::{Array, Map, Obj, Ref, Str, Value, structural_equal};

use crate::support::{Add, Chain, Expr, Int, Lambda, Link, add, chain, doubled, int, scaled, var};

fn copied(value: impl Into<Value>) -> Value {
    deep_copy(value).expect("the copy succeeds")
}

fn object(value: &Value) -> &Ref<Obj> {
    value.as_object().expect("an object")
}

/// The identity numbers of all objects and containers below a value.
fn identities(root: &Value) -> Vec<u64> {
    let mut all = Vec::new();
    WalkOptions::default()
        .include_ignored(true)
        .walk(root, |visit| {
            let kept = |object: &&Ref<Obj>| {
                let plain = ["isoform.Str", "isoform.Bytes"].contains(&object.type_info().key());
                !plain
            };
            all.extend(visit.object().filter(kept).map(Ref::identity));
            Ok(WalkResult::<()>::Advance)
        })
        .expect("the walk succeeds");
    all
}

fn every_storage() -> TypeIndex {
    let any = |name: &str| FieldDef::new(name, Schema::Any);
    register_type(
        TypeDef::new("copies.All")
            .field(any("any"))
            .field(FieldDef::new("object", Schema::named("it.Expr")))
            .field(FieldDef::new(
                "nullable",
                Schema::Optional(Box::new(Schema::named("it.Expr"))),
            ))
            .field(FieldDef::new("int", Schema::Int))
            .field(FieldDef::new("float", Schema::Float))
            .field(FieldDef::new("flag", Schema::Bool))
            .field(FieldDef::new("text", Schema::Str))
            .field(FieldDef::new("dtype", Schema::DType))
            .field(any("hidden").flag(isoform::types::FieldFlag::Ignore)),
    )
    .expect("registered")
}

fn sample(nullable: Value) -> Ref<Obj> {
    isoform::types::register::<Expr>().expect("registered");
    let values = vec![
        Value::from([Value::from(int(1)), Value::NONE]),
        int(2).into(),
        nullable,
        3.into(),
        4.5.into(),
        true.into(),
        "a text that is too long to be inline".into(),
        isoform::values::DType::FLOAT32.into(),
        List::from(vec![Value::from(int(5))]).into(),
    ];
    construct(every_storage(), values).expect("the values fit")
}

#[test]
fn a_deep_copy_is_equal_and_shares_no_node() {
    let map: Map = [(Value::from("k"), Value::from(int(8)))]
        .into_iter()
        .collect();
    let dict: Dict = [(Value::from(int(9)), Value::from(int(10)))]
        .into_iter()
        .collect();
    let x = var("x");
    let root = Value::from(vec![
        Value::from(sample(Value::NONE)),
        sample(int(6).into()).into(),
        map.into(),
        dict.into(),
        Lambda::new(add(&x, int(1)), vec![x]).with_span("s").into(),
        Value::from(Vec::<Value>::new()),
    ]);
    let copy = copied(&root);
    let (old, new) = (identities(&root), identities(&copy));
    assert_eq!(old.len(), new.len());
    assert!(new.iter().all(|ident| !old.contains(ident)));
    let ignored = field_value(
        object(&copy.extract::<Array>().unwrap().values()[0]),
        "hidden",
    );
    assert_eq!(ignored.unwrap().extract::<List>().unwrap().len(), 1);
    // The dict's key is an object, equal to itself only.
    let without_dict = |value: &Value| -> Value {
        let array = value.extract::<Array>().expect("an array");
        let kept = array.iter().filter(|item| item.type_name() != "Dict");
        kept.cloned().collect::<Array>().into()
    };
    assert!(structural_equal(without_dict(&root), without_dict(&copy)).unwrap());
}

#[test]
fn keys_are_copied_and_stay_the_keys_of_their_values() {
    let key = Value::from(int(1));
    let map: Map = [(key.clone(), key.clone())].into_iter().collect();
    let copy = copied(map).extract::<Map>().unwrap();
    let (new_key, value) = copy.iter().next().expect("one entry");
    assert!(new_key == value && *new_key != key);
    assert_eq!(copy.get(new_key), Some(value));
}

#[test]
fn what_has_no_identity_is_shared() {
    let singleton = register_type(TypeDef::new("copies.Op").kind(Kind::Singleton)).unwrap();
    let shared = vec![
        Value::from("a text that is too long to be inline"),
        Bytes::from(vec![1u8; 40]).into(),
        Shape::from([1, 2]).into(),
        Function::new(|_| Ok(Value::NONE)).into(),
        Value::opaque(5u8),
        Value::from(i128::MAX),
        construct(singleton, vec![]).unwrap().into(),
        Value::NONE,
    ];
    let copy = copied(Value::from(shared.clone()))
        .extract::<Array>()
        .unwrap();
    for (old, new) in shared.iter().zip(copy.values()) {
        let same = old.as_object().zip(new.as_object());
        assert!(same.is_none_or(|(old, new)| old.same_as(new)), "{old:?}");
        assert_eq!(old, new);
        if let Some(object) = old.as_object() {
            let copy = shallow_copy(object).expect("no hook");
            assert!(copy.same_as(object), "{old:?}");
        }
    }
}

#[test]
fn sharing_is_kept() {
    let levels = 60;
    let copy = copied(doubled(levels));
    assert_eq!(identities(&copy).len(), levels + 1);
    let root = object(&copy).downcast_ref::<Add>().expect("a sum");
    assert!(root.lhs.same_as(&root.rhs));

    let list = List::from(vec![1i64]);
    let pair = copied([Value::from(list.clone()), list.into()])
        .extract::<Array>()
        .unwrap();
    assert_eq!(pair.values()[0], pair.values()[1]);
}

#[test]
fn the_root_is_copied_once_even_with_one_owner() {
    let list: List = List::new();
    list.push(Value::from(vec![Value::from(list.clone())]))
        .unwrap();
    let outer = Array::from(vec![Value::from(list)]);
    let copy = copied(outer).extract::<Array>().unwrap();
    let list = copy.values()[0].extract::<List>().unwrap();
    let inner = list.get(0).unwrap().extract::<Array>().unwrap();
    assert!(inner.values()[0].extract::<List>().unwrap().same_as(&list));
    list.clear();
}

#[test]
fn cycles_are_copied_as_cycles() {
    let list: List = List::new();
    let dict: Dict = Dict::new();
    list.push(Value::from([Value::from(Link::new(dict.clone()))]))
        .unwrap();
    dict.insert("back".into(), list.clone().into()).unwrap();
    for root in [Value::from(list.clone()), dict.clone().into()] {
        let copy = copied(&root);
        let as_list = |value: &Value| value.extract::<List>().expect("a list");
        let as_dict = |value: &Value| value.extract::<Dict>().expect("a dict");
        let below = |list: &List| {
            let array = list.get(0).unwrap().extract::<Array>().unwrap();
            field_value(object(&array.values()[0]), "next").unwrap()
        };
        let back = |dict: &Dict| dict.get("back").expect("the key");
        assert_ne!(copy, root);
        if copy.type_name() == "List" {
            assert_eq!(back(&as_dict(&below(&as_list(&copy)))), copy);
            as_list(&copy).clear();
        } else {
            assert_eq!(below(&as_list(&back(&as_dict(&copy)))), copy);
            as_dict(&copy).clear();
        }
    }
    list.clear();
}

/// Identity numbers show the order in which copies were made, and therefore
/// their order in memory: a walk through them should go steadily upwards.
#[test]
fn what_is_visited_first_is_copied_first() {
    let sum = |number| add(int(number), int(number + 1));
    let quad = |number| add(sum(number), sum(number + 2));
    let tree = copied(add(quad(0), quad(4)));
    let tree = object(&tree).downcast_ref::<Add>().expect("a sum");
    let operands = vec![Value::from(&tree.lhs), Value::from(&tree.rhs)];
    let array = copied(Array::from([quad(0), quad(4), quad(8)]));
    let items = array
        .extract::<Array>()
        .expect("an array")
        .values()
        .to_vec();
    for parts in [operands, items] {
        let below = |part: &Value| {
            let mut all = identities(part);
            // The part itself, visited last, is made with its siblings.
            all.pop();
            all
        };
        let below: Vec<Vec<u64>> = parts.iter().map(below).collect();
        for pair in below.windows(2) {
            assert!(pair[0].iter().max() < pair[1].iter().min(), "{below:?}");
        }
    }
}

#[test]
fn depth_is_limited_by_memory_only() {
    let length = scaled(1_000_000);
    let copy = copied(chain(length));
    let mut count = 0;
    let mut next = object(&copy).downcast_ref::<Chain>().cloned();
    while let Some(link) = next {
        count += 1;
        next = link.next.clone();
    }
    assert_eq!(count, length);
}

#[test]
fn copies_outlive_their_originals_and_the_other_way_round() {
    let original = Value::from(sample(int(1).into()));
    let copy = copied(&original);
    drop(original);
    assert_eq!(
        field_value(object(&copy), "float").unwrap(),
        Value::from(4.5)
    );
    let again = copied(&copy);
    drop(copy);
    assert_eq!(
        field_value(object(&again), "text").unwrap().as_str(),
        Some("a text that is too long to be inline")
    );
}

#[test]
fn a_shallow_copy_shares_the_children() {
    let original = sample(int(1).into());
    let copy = shallow_copy(&original).expect("no hook");
    assert!(!copy.same_as(&original));
    let fields = find_type("copies.All").expect("registered").fields();
    for field in fields {
        let (old, new) = (
            field_value(&original, field.name()).unwrap(),
            field_value(&copy, field.name()).unwrap(),
        );
        assert_eq!(old, new, "{}", field.name());
    }
    drop(original);
    assert_eq!(field_value(&copy, "int").unwrap(), Value::from(3));

    let list = Value::from(List::from(vec![1i64]));
    let copy = Value::from(shallow_copy(object(&list)).expect("no hook"))
        .extract::<List>()
        .unwrap();
    list.extract::<List>().unwrap().clear();
    assert_eq!(copy.len(), 1);
    let text = Str::from("another text that is long enough");
    assert_eq!(copied(text.clone()), Value::from(text));
}

#[test]
fn every_occurrence_counts_once_in_the_copy() {
    let shared = int(1);
    let root = Value::from([Value::from(&shared), Value::from(&shared), int(2).into()]);
    let each = WalkOptions::default().sharing(Sharing::EachOccurrence);
    let count = |root: &Value| {
        let mut ints = Vec::new();
        each.walk(root, |visit| {
            ints.extend(visit.downcast::<Int>().map(|int| int.value));
            Ok(WalkResult::<()>::Advance)
        })
        .unwrap();
        ints
    };
    assert_eq!(count(&copied(&root)), [1, 1, 2]);
}

#[test]
fn cycles_of_mutable_objects_are_copied_or_refused() {
    let ty = TypeDef::new("copies.Cell").field(FieldDef::new("v", Schema::Any).mutable(true));
    let ty = register_type(ty).unwrap();
    let cell = || construct(ty, vec![Value::NONE]).unwrap();
    let (a, b) = (cell(), cell());
    isoform::objects::set_field(&a, "v", Value::from([Value::from(&b)])).unwrap();
    isoform::objects::set_field(&b, "v", Value::from(&a)).unwrap();
    let copy = copied(&a);
    let copied_b = field_value(object(&copy), "v")
        .unwrap()
        .extract::<Array>()
        .unwrap();
    let copied_b = copied_b.values()[0].clone();
    assert!(copied_b != Value::from(&b) && copy != Value::from(&a));
    assert_eq!(field_value(object(&copied_b), "v").unwrap(), copy);

    let cyclic = "ValueError: cyclic value: the copies.Cell contains itself (at <root>.v[0].v)";
    let mapped = isoform::traverse::structural_map(&a, |_| Ok(None));
    assert_eq!(mapped.expect_err("a cycle").to_string(), cyclic);
    let pair = (Value::from(var("x")), Value::from(1));
    let substituted = isoform::traverse::substitute(&a, &[pair]);
    assert_eq!(substituted.expect_err("a cycle").to_string(), cyclic);
    for cell in [&b, object(&copied_b)] {
        isoform::objects::set_field(cell, "v", Value::NONE).unwrap();
    }
}
