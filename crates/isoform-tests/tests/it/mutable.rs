//! Mutable fields: allowed and rejected changes.

use isoform::compare::StructuralKey;
use isoform::errors::ErrorKind;
use isoform::objects::{
    construct, field_value, field_value_at, overwrite_field_at, set_field, set_field_at, with_field,
};
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, find_type, register, register_type};
use isoform::values::{Device, List};
use isoform::{Array, Node, Obj, Ref, Value, structural_equal};

use crate::support::{Expr, Int, int};

fn ty(definition: TypeDef) -> TypeIndex {
    register_type(definition).expect("the definition is valid")
}

fn object(ty: TypeIndex, values: impl IntoIterator<Item = Value>) -> Ref<Obj> {
    construct(ty, values.into_iter().collect()).expect("the values fit")
}

fn mutable(name: &str, schema: Schema) -> FieldDef {
    FieldDef::new(name, schema).mutable(true)
}

/// A type with a mutable field of every storage, after a frozen one.
fn storages() -> TypeIndex {
    ty(TypeDef::new("mutable.Storages")
        .field(FieldDef::new("frozen", Schema::Int))
        .field(mutable("any", Schema::Any))
        .field(mutable("object", Schema::object::<Expr>()))
        .field(mutable(
            "nullable",
            Schema::Optional(Box::new(Schema::object::<Expr>())),
        ))
        .field(mutable("int", Schema::Int))
        .field(mutable("float", Schema::Float))
        .field(mutable("flag", Schema::Bool))
        .field(mutable("text", Schema::Str))
        .field(mutable("dtype", Schema::DType))
        .field(mutable("ints", Schema::Array(Box::new(Schema::Int)))))
}

fn storages_object() -> Ref<Obj> {
    let dtype: isoform::values::DType = "float32".parse().expect("a dtype");
    object(
        storages(),
        [
            1.into(),
            "any".into(),
            int(1).into(),
            Value::NONE,
            2.into(),
            2.5.into(),
            false.into(),
            "a text that is too long to be inline".into(),
            dtype.into(),
            Array::from([1i64, 2]).into(),
        ],
    )
}

/// Sets a field and reads it back.
#[track_caller]
fn check_set(name: &str, value: impl Into<Value>, expected: impl Into<Value>) {
    let target = storages_object();
    // A second owner, because a write must not depend on unique ownership.
    let shared = target.clone();
    set_field(&target, name, value.into()).expect("the value fits");
    let found = field_value(&shared, name).expect("the field exists");
    let expected = expected.into();
    assert!(
        structural_equal(&found, &expected).expect("comparable"),
        "{found:?}"
    );
    let position = target.type_info().field_index(name).expect("exists");
    assert_eq!(field_value_at(&target, position), Some(found));
    // Every other field keeps its value.
    let reset = with_field(
        &target,
        name,
        field_value(&storages_object(), name).unwrap(),
    );
    assert!(structural_equal(reset.unwrap(), storages_object()).expect("comparable"));
}

#[track_caller]
fn check_refused(name: &str, value: impl Into<Value>, kind: ErrorKind, message: &str) {
    let target = storages_object();
    let error = set_field(&target, name, value.into()).expect_err("refused");
    assert_eq!((error.kind(), error.message()), (kind, message));
    assert!(structural_equal(&target, storages_object()).expect("comparable"));
}

#[test]
fn every_storage_can_be_set() {
    check_set("any", 5, 5);
    check_set("any", Value::NONE, Value::NONE);
    check_set(
        "any",
        "another text that is not inline",
        "another text that is not inline",
    );
    check_set("any", int(7), int(7));
    check_set("any", Value::from(Device::CPU), Value::from(Device::CPU));
    check_set("object", int(2), int(2));
    check_set("nullable", int(3), int(3));
    check_set("nullable", Value::NONE, Value::NONE);
    check_set("int", -4, -4);
    check_set("float", 4.5, 4.5);
    check_set("flag", true, true);
    check_set("text", "short", "short");
    check_set(
        "dtype",
        "int8".parse::<isoform::values::DType>().unwrap(),
        "int8".parse::<isoform::values::DType>().unwrap(),
    );
    check_set("ints", Array::from([3i64]), Array::from([3i64]));
}

#[test]
fn values_are_converted_as_on_construction() {
    check_set("float", 4, 4.0);
    check_set("ints", vec![Value::from(3)], Array::from([3i64]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |name: &str, value: Value, message: &str| {
        check_refused(name, value, ErrorKind::Type, message);
    };
    refused(
        "int",
        "x".into(),
        "mutable.Storages.int: expected int, got str",
    );
    refused(
        "object",
        Value::NONE,
        "mutable.Storages.object: expected it.Expr, got None",
    );
    refused(
        "nullable",
        1.into(),
        "mutable.Storages.nullable: expected it.Expr | None, got int",
    );
    refused(
        "text",
        1.into(),
        "mutable.Storages.text: expected str, got int",
    );
    refused(
        "dtype",
        1.into(),
        "mutable.Storages.dtype: expected dtype, got int",
    );
    refused(
        "flag",
        "x".into(),
        "mutable.Storages.flag: expected bool, got str",
    );
    refused(
        "ints",
        vec![Value::from(3), "x".into()].into(),
        "mutable.Storages.ints: element [1]: expected int, got str",
    );
}

#[test]
fn frozen_and_unknown_fields_are_refused() {
    let refused = |name: &str, message: &str| {
        check_refused(name, 5, ErrorKind::Attribute, message);
    };
    refused("frozen", "mutable.Storages.frozen: the field is frozen");
    refused("nothing", "type mutable.Storages has no field 'nothing'");
    for position in [10, usize::MAX] {
        let error = set_field_at(&storages_object(), position, 1.into()).expect_err("refused");
        let text = format!("type mutable.Storages has 10 fields, none at {position}");
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Attribute, &*text)
        );
        assert!(overwrite_field_at(&storages_object(), position, 1.into()).is_err());
    }
    // Built-in objects have no fields at all.
    let list: Value = List::from(vec![1i64]).into();
    let list = list.as_object().expect("a list is an object");
    assert!(set_field_at(list, 0, 1.into()).is_err());
    assert!(overwrite_field_at(list, 0, 1.into()).is_err());
}

#[test]
fn a_definition_says_whether_fields_are_mutable() {
    let info = find_type("mutable.Storages").or_else(|| {
        storages();
        find_type("mutable.Storages")
    });
    let info = info.expect("registered");
    assert!(info.is_mutable());
    assert!(!info.fields()[0].is_mutable());
    assert!(info.fields()[1..].iter().all(FieldDef::is_mutable));

    let frozen = ty(TypeDef::new("mutable.Frozen").field(FieldDef::new("x", Schema::Any)));
    assert!(
        !find_type("mutable.Frozen")
            .expect("registered")
            .is_mutable()
    );
    let other = TypeDef::new("mutable.Frozen").field(mutable("x", Schema::Any));
    let error = register_type(other).expect_err("another definition");
    assert!(
        error
            .message()
            .ends_with("field 'x' is mutable in only one of them")
    );

    // A parent's mutable field counts.
    let parent = ty(TypeDef::new("mutable.Parent").field(mutable("x", Schema::Any)));
    let child = ty(TypeDef::new("mutable.Child").parent(parent));
    assert_ne!(child, frozen);
    assert!(find_type("mutable.Child").expect("registered").is_mutable());
    let object = object(child, [1.into()]);
    set_field(&object, "x", 2.into()).expect("inherited and mutable");
    assert_eq!(field_value(&object, "x").unwrap(), 2.into());
}

#[test]
fn a_rust_struct_has_no_mutable_fields_but_its_run_time_children_may() {
    let mutable_in_rust = Int::definition().field(FieldDef::of::<i64>("more", 24).mutable(true));
    let error = register_type(mutable_in_rust).expect_err("refused");
    let expected = "type it.Int: field 'more' of a Rust struct cannot be mutable";
    assert_eq!(error.message(), expected);

    let parent = register::<Int>().expect("registered");
    let child = ty(TypeDef::new("mutable.Tagged")
        .parent(parent)
        .field(mutable("tag", Schema::Any)));
    let tagged = object(child, [Value::NONE, 7.into(), "a".into()]);
    let seen_from_rust: Ref<Int> = tagged.clone().cast().expect("a child of Int");
    set_field(&tagged, "tag", "b".into()).expect("mutable");
    assert_eq!(
        field_value(seen_from_rust.as_object(), "tag").unwrap(),
        "b".into()
    );
    assert_eq!(seen_from_rust.value, 7);
    // The Rust part cannot be changed.
    assert!(set_field(&tagged, "value", 8.into()).is_err());
    let error = overwrite_field_at(&tagged, 1, 8.into()).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Attribute);
    let expected = "mutable.Tagged.value: the field of a Rust struct cannot be overwritten";
    assert_eq!(error.message(), expected);
    assert_eq!(seen_from_rust.value, 7);
}

#[test]
fn a_frozen_field_of_a_run_time_type_can_be_overwritten() {
    let frozen = ty(TypeDef::new("mutable.Overwritten")
        .field(FieldDef::new("x", Schema::Int))
        .field(FieldDef::new("y", Schema::Str)));
    let target = object(frozen, [1.into(), "y".into()]);
    assert!(set_field(&target, "x", 2.into()).is_err());
    overwrite_field_at(&target, 0, 2.into()).expect("declared at run time");
    assert_eq!(field_value(&target, "x").unwrap(), 2.into());
    let error = overwrite_field_at(&target, 0, "x".into()).expect_err("does not fit");
    assert_eq!(
        error.message(),
        "mutable.Overwritten.x: expected int, got str"
    );
    assert!(!target.type_info().is_mutable());
    // Keys made from now on are snapshots.
    let key = StructuralKey::new(&target).unwrap();
    overwrite_field_at(&target, 0, 3.into()).expect("again");
    assert_ne!(key, StructuralKey::new(&target).unwrap());
    assert_eq!(
        key,
        StructuralKey::new(object(frozen, [2.into(), "y".into()])).unwrap()
    );
}

/// A Rust type with a definition known as data before the first use.
#[derive(Node)]
#[node(key = "mutable.ClaimedByRust")]
#[repr(C)]
struct ClaimedByRust {
    x: i64,
}

#[test]
fn a_definition_that_a_rust_struct_takes_over_stays_frozen() {
    let data = || TypeDef::new("mutable.ClaimedByRust").field(FieldDef::new("x", Schema::Int));
    let first = ty(data());
    let target = object(first, [1.into()]);
    assert_eq!(
        register::<ClaimedByRust>().expect("the same definition"),
        first
    );
    let error = overwrite_field_at(&target, 0, 2.into()).expect_err("Rust reads it");
    assert_eq!(error.kind(), ErrorKind::Attribute);
    let typed: Ref<ClaimedByRust> = target.cast().expect("the same type");
    assert_eq!(typed.x, 1);
}

/// A Rust type with a definition already used as data, and overwritten.
#[derive(Node)]
#[node(key = "mutable.ClaimedByData")]
#[repr(C)]
struct ClaimedByData {
    x: i64,
}

#[test]
fn a_rust_struct_cannot_take_over_what_was_overwritten() {
    let data = TypeDef::new("mutable.ClaimedByData").field(FieldDef::new("x", Schema::Int));
    let parent = ty(data);
    let child = ty(TypeDef::new("mutable.ClaimedByData.Child").parent(parent));
    // Through an object of a child: the field is still the parent's.
    overwrite_field_at(&object(child, [1.into()]), 0, 2.into()).expect("declared at run time");
    let error = register::<ClaimedByData>().expect_err("overwritten");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(error.message().contains("frozen fields were overwritten"));
}

#[test]
fn an_old_value_loses_its_owner() {
    let target = storages_object();
    let (old, new) = (int(10), int(11));
    for name in ["any", "object", "nullable"] {
        set_field(&target, name, old.clone().into()).expect("fits");
    }
    assert_eq!(old.owners(), 4);
    for name in ["any", "object", "nullable"] {
        set_field(&target, name, new.clone().into()).expect("fits");
    }
    // Other tests may be walking at this moment, which defers the release.
    while old.owners() > 1 {
        std::thread::yield_now();
        let _ = structural_equal(1, 1);
    }
    assert_eq!(new.owners(), 4);
    drop(target);
    assert_eq!(new.owners(), 1);
}
