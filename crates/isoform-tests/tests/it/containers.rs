//! Arrays, lists, maps, dicts, shapes, tensors, functions and their schemas.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use isoform::errors::ErrorKind;
use isoform::functions::{
    Function, global_function, list_functions, register_function, remove_function,
};
use isoform::objects::{construct, field_value};
use isoform::traverse::deep_copy;
use isoform::types::{FieldDef, Schema, TypeDef, TypeIndex, register_type};
use isoform::values::{Bytes, DType, Dict, List, Shape, Tensor};
use isoform::{Array, Error, Map, Node, Obj, Ref, Str, Value};

use crate::support::{Int, Var, int, var};

fn ints(values: &[i64]) -> Array {
    values.iter().map(|value| Value::from(*value)).collect()
}

#[test]
fn an_array_is_copied_on_write_only_when_it_is_shared() {
    let mut array = Array::from([1i64, 2, 3]);
    let block = array.values().as_ptr();
    array.set(0, 9).unwrap();
    assert_eq!(array.values().as_ptr(), block);

    let shared = array.clone();
    assert!(array.same_as(&shared));
    array.push(4);
    assert!(!array.same_as(&shared));
    assert_eq!(shared.iter().copied().collect::<Vec<_>>(), [9, 2, 3]);
    assert_eq!(array.iter().copied().collect::<Vec<_>>(), [9, 2, 3, 4]);

    // The copy is this handle's own.
    array.push(5);
    let block = array.values().as_ptr();
    assert_eq!(array.set(1, 7).unwrap(), Value::from(2));
    assert_eq!(array.values().as_ptr(), block);
    assert_eq!((array.get(1), array.get(9)), (Some(&7), None));
}

#[test]
fn a_copy_on_write_shares_the_elements() {
    let element = Value::from(int(1));
    let owners = || element.as_object().map(Ref::owners);
    let mut array = Array::from([element.clone()]);
    let shared = array.clone();
    assert_eq!(owners(), Some(2));
    array.push(Value::NONE);
    assert_eq!(owners(), Some(3));
    drop((array, shared));
    assert_eq!(owners(), Some(1));
}

#[test]
fn positions_behind_the_end_are_index_errors() {
    let mut array = ints(&[1, 2]);
    let list: List = List::from(vec![Value::from(1)]);
    for error in [
        array.set(2, 0.into()).unwrap_err(),
        list.set(1, 0.into()).unwrap_err(),
        list.insert(2, 0.into()).unwrap_err(),
        list.remove(1).unwrap_err(),
        List::<Value>::new().remove(0).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
        assert!(error.message().contains("elements"), "{error}");
    }
    assert_eq!(array.values(), ints(&[1, 2]).values());
    assert_eq!(list.snapshot().values(), ints(&[1]).values());
}

#[test]
fn a_list_is_shared_by_its_handles() {
    let list: List = List::new();
    let other = list.clone();
    assert!(list.is_empty() && list.same_as(&other));
    other.push(1.into()).unwrap();
    list.insert(0, 0.into()).unwrap();
    list.insert(2, 2.into()).unwrap();
    assert_eq!(other.snapshot().values(), ints(&[0, 1, 2]).values());
    assert_eq!(list.set(1, 9.into()).unwrap(), Value::from(1));
    assert_eq!(other.remove(0).unwrap(), Value::from(0));
    assert_eq!((list.get(0), list.get(2)), (Some(Value::from(9)), None));
    assert_eq!(list.pop(), Some(Value::from(2)));
    assert_eq!(list.len(), 1);
    other.clear();
    assert_eq!((list.len(), list.pop()), (0, None));
    // A list made of the same elements is another list.
    assert!(!List::<Value>::new().same_as(&list));
}

#[test]
fn a_snapshot_never_changes() {
    let list: List = List::from(vec![Value::from(1)]);
    let first = list.snapshot();
    assert!(first.same_as(&list.snapshot()));
    list.push(2.into()).unwrap();
    let second = list.snapshot();
    list.set(0, 5.into()).unwrap();
    list.clear();
    assert_eq!(first.values(), ints(&[1]).values());
    assert_eq!(second.values(), ints(&[1, 2]).values());

    let dict: Dict = Dict::new();
    dict.insert("a".into(), 1.into()).unwrap();
    let before = dict.snapshot();
    dict.insert("b".into(), 2.into()).unwrap();
    dict.remove("a");
    assert_eq!(before.len(), 1);
    assert_eq!(before.get("a"), Some(&Value::from(1)));
    assert_eq!((dict.len(), dict.get("a")), (1, None));
}

#[test]
fn changes_without_a_snapshot_happen_in_place() {
    let list: List = List::from(vec![Value::from(1), 2.into()]);
    let block = list.snapshot().values().as_ptr();
    list.set(0, 7.into()).unwrap();
    assert_eq!(list.snapshot().values().as_ptr(), block);
}

#[test]
fn a_destructor_may_look_at_the_list_it_was_in() {
    struct Looks(List, Arc<AtomicBool>);
    impl Drop for Looks {
        fn drop(&mut self) {
            self.1.store(self.0.len() < 100, Ordering::Relaxed);
        }
    }
    let list: List = List::new();
    let dict: Dict = Dict::new();
    let outcomes: Vec<_> = (0..8).map(|_| Arc::new(AtomicBool::new(false))).collect();
    let looks = |index: usize| Value::opaque(Looks(list.clone(), Arc::clone(&outcomes[index])));
    list.push(looks(0)).unwrap();
    drop(list.pop());
    list.push(looks(1)).unwrap();
    drop(list.set(0, looks(2)));
    drop(list.remove(0));
    list.push(looks(3)).unwrap();
    list.clear();
    assert!(list.set(5, looks(4)).is_err());
    assert!(list.insert(5, looks(5)).is_err());
    dict.insert(1.into(), looks(6)).unwrap();
    drop(dict.insert(1.into(), looks(7)).unwrap());
    dict.clear();
    for (index, outcome) in outcomes.iter().enumerate() {
        assert!(outcome.load(Ordering::Relaxed), "destructor {index} ran");
    }
}

#[test]
fn a_list_counts_changes_of_its_length_or_order() {
    let list: List<i64> = List::from(vec![1, 2, 3]);
    let mut last = list.version();
    let mut changed = |what: &str, expected: bool| {
        assert_eq!(list.version() != last, expected, "{what}");
        last = list.version();
    };
    list.set(0, 9).unwrap();
    changed("set", false);
    list.push(4).unwrap();
    changed("push", true);
    list.pop();
    changed("pop", true);
    list.insert(0, 0).unwrap();
    changed("insert", true);
    list.remove(0).unwrap();
    changed("remove", true);
    assert_eq!(list.splice(1..2, vec![5, 6]).unwrap(), vec![Value::from(2)]);
    changed("splice", true);
    assert_eq!(list.snapshot().values(), ints(&[9, 5, 6, 3]).values());
    let old = list.replace(ints(&[7])).unwrap();
    changed("replace", true);
    assert_eq!((old.len(), list.len()), (4, 1));
    list.clear();
    changed("clear", true);
    #[expect(clippy::reversed_empty_ranges, reason = "it is to be refused")]
    for range in [0..1, 1..1, 1..0] {
        let error = list.splice(range, vec![1]).unwrap_err();
        assert_eq!(error.kind(), isoform::errors::ErrorKind::Index);
    }
    assert!(list.is_empty());
}

#[test]
fn a_dict_counts_changes_of_its_keys() {
    let dict: Dict = Dict::new();
    dict.insert("a".into(), 1.into()).unwrap();
    let before = dict.version();
    dict.insert("a".into(), 2.into()).unwrap();
    assert!(dict.remove("z").is_none());
    assert_eq!(dict.version(), before);
    dict.insert("b".into(), 3.into()).unwrap();
    assert_ne!(dict.version(), before);
    assert_eq!(dict.get_index(1), Some(("b".into(), 3.into())));
    assert_eq!(dict.get_index(2), None);
    let before = dict.version();
    let removed = dict.remove_entry("a");
    assert_eq!(removed, Some(("a".into(), 2.into())));
    assert!(!dict.contains_key("a"));
    assert_ne!(dict.version(), before);
    let before = dict.version();
    let old = dict.replace(Map::new()).unwrap();
    assert_eq!(old.get_index(0), Some((&"b".into(), &3.into())));
    assert_ne!(dict.version(), before);
}

#[test]
fn dtypes_have_dlpacks_numbers() {
    let dtype = DType::from_parts(2, 32, 4).unwrap();
    assert_eq!(dtype.to_string(), "float32x4");
    assert_eq!(dtype.to_bits(), 2 | 32 << 8 | 4 << 16);
    for (code, bits, lanes) in [(18, 8, 1), (0, 0, 1), (0, 8, 0)] {
        assert_eq!(DType::from_parts(code, bits, lanes), None);
    }
}

#[test]
fn a_map_keeps_the_order_of_insertion() {
    let mut map: Map = Map::new();
    for key in ["c", "a", "b"] {
        assert_eq!(map.insert(key.into(), 1.into()), None);
    }
    assert_eq!(map.insert("a".into(), 2.into()), Some(Value::from(1)));
    let keys = |map: &Map| -> Vec<String> {
        let text = |key: &Value| key.as_str().unwrap_or_default().to_string();
        map.keys().map(text).collect()
    };
    assert_eq!(keys(&map), ["c", "a", "b"]);
    let shared = map.clone();
    assert_eq!(map.remove("c"), Some(Value::from(1)));
    assert_eq!(map.remove("c"), None);
    assert_eq!(keys(&map), ["a", "b"]);
    assert_eq!(keys(&shared), ["c", "a", "b"]);
    assert!(map.contains_key("a") && !map.contains_key("c"));
    let values: Vec<_> = map.iter().map(|(_, value)| value.clone()).collect();
    assert_eq!(values, [Value::from(2), Value::from(1)]);
}

#[test]
fn removing_what_is_not_there_copies_nothing() {
    let mut map: Map = [(1.into(), 2.into())].into_iter().collect();
    let shared = map.clone();
    assert_eq!(map.remove(5), None);
    assert!(map.same_as(&shared));
}

#[test]
fn keys_match_by_value_and_objects_by_identity() {
    let (x, twin) = (var("x"), var("x"));
    let map: Map = [
        (Value::from(1), "int".into()),
        (true.into(), "bool".into()),
        (1.0.into(), "float".into()),
        (f64::NAN.into(), "nan".into()),
        ("a text of more than 14 bytes".into(), "str".into()),
        (Value::from(&b"1"[..]), "bytes".into()),
        (Value::from(&x), "x".into()),
    ]
    .into_iter()
    .collect();
    assert_eq!(map.len(), 7);
    let get = |key: Value| map.get(&key).and_then(Value::as_str).map(str::to_string);
    assert_eq!(get(1.into()).as_deref(), Some("int"));
    assert_eq!(get(true.into()).as_deref(), Some("bool"));
    assert_eq!(get(1.0.into()).as_deref(), Some("float"));
    assert_eq!(get((-f64::NAN).into()).as_deref(), Some("nan"));
    assert_eq!(
        get("a text of more than 14 bytes".into()).as_deref(),
        Some("str")
    );
    assert_eq!(
        get(Bytes::from(b"1".to_vec()).into()).as_deref(),
        Some("bytes")
    );
    assert_eq!(get(x.into()).as_deref(), Some("x"));
    assert_eq!(get(twin.into()), None);
    assert_eq!(get((-1.0).into()), None);
}

#[test]
fn a_dict_is_shared_by_its_handles() {
    let dict: Dict<Str, i64> = Dict::new();
    let other = dict.clone();
    assert_eq!(dict.insert("a".into(), 1).unwrap(), None);
    assert_eq!(other.insert("a".into(), 2).unwrap(), Some(Value::from(1)));
    assert_eq!(dict.get("a"), Some(2));
    assert_eq!(other.remove("a"), Some(Value::from(2)));
    assert!(dict.is_empty() && dict.same_as(&other));
}

#[test]
fn typed_containers_hide_elements_of_other_types() {
    let typed: List<i64> = List::from(vec![1, 2]);
    typed.as_untyped().push("three".into()).unwrap();
    assert_eq!(typed.len(), 3);
    assert_eq!((typed.get(1), typed.get(2)), (Some(2), None));
    let value = Value::from(typed);
    assert!(value.peek::<List<i64>>().is_none());
    assert!(value.peek::<List<Value>>().is_some());
}

/// A type whose fields hold a list of lists of ints and a dict of floats.
fn typed_fields() -> TypeIndex {
    let rows = Schema::List(Box::new(Schema::List(Box::new(Schema::Int))));
    let table = Schema::Dict(Box::new((Schema::Str, Schema::Float)));
    let definition = TypeDef::new("it.containers.Typed")
        .field(FieldDef::new("rows", rows).mutable(true))
        .field(FieldDef::new("table", table));
    register_type(definition).unwrap()
}

/// A Rust struct with the same.
#[derive(Node)]
#[node(key = "it.containers.Native")]
#[repr(C)]
struct Native {
    rows: List<List<i64>>,
}

#[track_caller]
fn forbidden<T: std::fmt::Debug>(result: Result<T, Error>, message: &str) {
    let error = result.expect_err("the field forbids it");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Type, message));
}

#[test]
fn a_list_in_a_typed_field_stays_typed() {
    let outer: List = List::from(vec![Value::from(List::from(vec![1i64]))]);
    let values = vec![outer.clone().into(), Dict::<Value, Value>::new().into()];
    let object = construct(typed_fields(), values).unwrap();
    let held: List = field_value(&object, "rows").unwrap().extract().unwrap();
    assert!(held.same_as(&outer), "what fits keeps its identity");
    let expected = "it.containers.Typed.rows: element: expected List[int], got str";
    forbidden(outer.push("a".into()), expected);
    forbidden(outer.insert(0, "a".into()), expected);
    forbidden(outer.set(0, "a".into()), expected);
    forbidden(outer.splice(0..1, vec!["a".into()]), expected);
    forbidden(outer.replace(Array::from([Value::from("a")])), expected);
    let inner: List = outer.get(0).unwrap().extract().unwrap();
    let expected = "it.containers.Typed.rows: element: expected int, got str";
    forbidden(inner.push("a".into()), expected);
    inner.push(true.into()).unwrap();
    outer.push(Array::from([true]).into()).unwrap();
    assert_eq!(
        format!("{:?}", Value::from(outer)),
        "List[List[1, 1], List[1]]"
    );
}

#[test]
fn a_dict_in_a_typed_field_stays_typed() {
    let dict: Dict = Dict::new();
    let values = vec![List::<Value>::new().into(), dict.clone().into()];
    let _object = construct(typed_fields(), values).unwrap();
    let at = "it.containers.Typed.table";
    let key = format!("{at}: key 1: expected str, got int");
    forbidden(dict.insert(1.into(), 1.into()), &key);
    let element = format!("{at}: element [\"k\"]: expected float, got str");
    forbidden(dict.insert("k".into(), "a".into()), &element);
    let other: Map = [("k".into(), "a".into())].into_iter().collect();
    forbidden(dict.replace(other), &element);
    assert!(dict.is_empty());
    dict.insert("k".into(), 1.into()).unwrap();
    assert_eq!(format!("{:?}", Value::from(dict)), "Dict{\"k\": 1.0}");
}

#[test]
fn copies_are_typed_as_their_originals() {
    let rows: List = List::from(vec![Value::from(List::from(vec![1i64]))]);
    let values = vec![rows.into(), Dict::<Value, Value>::new().into()];
    let object = construct(typed_fields(), values).unwrap();
    let copy: Ref<Obj> = deep_copy(object).unwrap().extract().unwrap();
    let rows: List = field_value(&copy, "rows").unwrap().extract().unwrap();
    let expected = "it.containers.Typed.rows: element: expected List[int], got str";
    forbidden(rows.push("a".into()), expected);
    let inner: List = rows.get(0).unwrap().extract().unwrap();
    let expected = "it.containers.Typed.rows: element: expected int, got str";
    forbidden(inner.push("a".into()), expected);
}

#[test]
fn a_list_of_a_rust_struct_is_typed_when_it_is_read_from_the_field() {
    let rows = List::from(vec![List::from(vec![1i64])]);
    let object = Ref::new(Native { rows }).into_object();
    let rows: List = field_value(&object, "rows").unwrap().extract().unwrap();
    let expected = "it.containers.Native.rows: element: expected List[int], got str";
    forbidden(rows.push("a".into()), expected);
    let inner: List = rows.get(0).unwrap().extract().unwrap();
    let expected = "it.containers.Native.rows: element: expected int, got str";
    forbidden(inner.push("a".into()), expected);
}

#[test]
fn a_list_obeys_all_fields_that_it_stands_in() {
    let list: List = List::from(vec![Value::from(List::<i64>::new())]);
    let other = TypeDef::new("it.containers.Other").field(FieldDef::new(
        "rows",
        Schema::List(Box::new(Schema::Union(
            [Schema::Str, Schema::List(Box::new(Schema::Any))].into(),
        ))),
    ));
    let other = register_type(other).unwrap();
    let _wide = construct(other, vec![list.clone().into()]).unwrap();
    list.push("a".into()).unwrap();
    list.pop();
    let values = vec![list.clone().into(), Dict::<Value, Value>::new().into()];
    let _narrow = construct(typed_fields(), values).unwrap();
    let expected = "it.containers.Typed.rows: element: expected List[int], got str";
    forbidden(list.push("a".into()), expected);
}

#[track_caller]
fn converts(schema: &Schema, from: impl Into<Value>, to: &str) {
    let value = schema.convert(from.into()).expect("the value converts");
    assert_eq!(format!("{value:?}"), to);
    schema.check(&value).expect("what was converted fits");
}

#[track_caller]
fn refuses(schema: &Schema, value: impl Into<Value>, message: &str) {
    let value = value.into();
    let error = schema
        .convert(value.clone())
        .expect_err("the value does not convert");
    assert_eq!(error.to_string(), format!("TypeError: {message}"));
    assert!(schema.check(&value).is_err());
}

fn array(inner: Schema) -> Schema {
    Schema::Array(Box::new(inner))
}

fn optional(inner: Schema) -> Schema {
    Schema::Optional(Box::new(inner))
}

#[test]
fn conversions_follow_the_declared_type() {
    converts(&Schema::Int, true, "1");
    converts(&Schema::Float, 3, "3.0");
    converts(&Schema::Float, true, "1.0");
    converts(&Schema::Bool, 2, "True");
    converts(&optional(Schema::Float), 1, "1.0");
    converts(&optional(Schema::Float), Value::NONE, "None");
    converts(&array(Schema::Float), vec![1, 2], "[1.0, 2.0]");
    converts(&array(Schema::Any), List::from(vec![1i64]), "[1]");
    converts(&Schema::List(Box::new(Schema::Int)), vec![true], "List[1]");
    let pair = || Box::new((Schema::Str, Schema::Float));
    let map: Map = [("k".into(), 1.into())].into_iter().collect();
    converts(&Schema::Map(pair()), map.clone(), "{\"k\": 1.0}");
    converts(&Schema::Dict(pair()), map, "Dict{\"k\": 1.0}");
    let union = Schema::Union([Schema::Str, Schema::Float].into());
    converts(&union, "s", "\"s\"");
    converts(&union, 1, "1.0");
    let numbers = Schema::Union([Schema::Float, Schema::Int].into());
    converts(&numbers, 1, "1");
    converts(&numbers, true, "1");
    let truth = Schema::Union([Schema::Bool, Schema::Float].into());
    converts(&truth, 5, "5.0");
}

#[test]
fn a_value_that_fits_is_not_copied() {
    let value = Value::from(vec![1, 2]);
    let same = array(Schema::Int).convert(value.clone()).unwrap();
    assert_eq!(same, value);
    let list = Value::from(List::from(vec![1i64]));
    let same = Schema::List(Box::new(Schema::Int))
        .convert(list.clone())
        .unwrap();
    assert_eq!(same, list);
}

#[test]
fn refused_values_are_named_with_their_place() {
    refuses(&Schema::Int, "a", "expected int, got str");
    refuses(&Schema::Int, 1.0, "expected int, got float");
    refuses(
        &Schema::Int,
        u64::MAX,
        "expected int, got int outside the 64-bit range",
    );
    refuses(&Schema::Str, 1, "expected str, got int");
    refuses(&Schema::Bytes, "a", "expected bytes, got str");
    refuses(&Schema::DType, 8, "expected dtype, got int");
    refuses(&Schema::Device, Value::NONE, "expected Device, got None");
    refuses(&Schema::Shape, vec![1], "expected Shape, got Array");
    refuses(&Schema::Tensor, 1, "expected Tensor, got int");
    refuses(&Schema::Function, 1, "expected Function, got int");
    refuses(
        &Schema::object::<Var>(),
        int(1),
        "expected it.Var, got it.Int",
    );
    refuses(&optional(Schema::Int), "a", "expected int | None, got str");
    refuses(
        &Schema::named("it.containers.Nowhere"),
        int(1),
        "expected it.containers.Nowhere, which is not a registered type, got it.Int",
    );
    let union = Schema::Union([Schema::Int, Schema::Str].into());
    refuses(&union, 1.5, "expected int | str, got float");

    let items = vec![Value::from(1), 2.into(), "x".into()];
    refuses(
        &array(Schema::Int),
        items.clone(),
        "element [2]: expected int, got str",
    );
    refuses(&array(Schema::Int), 5, "expected Array[int], got int");
    refuses(
        &array(array(Schema::Int)),
        vec![Value::from(vec![1]), items.clone().into()],
        "element [1]: element [2]: expected int, got str",
    );
    refuses(
        &optional(array(Schema::Int)),
        items.clone(),
        "element [2]: expected int, got str",
    );
    refuses(
        &Schema::List(Box::new(Schema::Float)),
        items,
        "element [2]: expected float, got str",
    );
    let entries = |key: Value, value: Value| -> Map { [(key, value)].into_iter().collect() };
    let schema = Schema::Map(Box::new((Schema::Str, Schema::Int)));
    refuses(
        &schema,
        entries(1.into(), 2.into()),
        "key 1: expected str, got int",
    );
    refuses(
        &schema,
        entries("k".into(), "v".into()),
        "element [\"k\"]: expected int, got str",
    );
}

#[test]
fn schemas_print_as_annotations() {
    let map = Schema::Map(Box::new((Schema::Str, optional(Schema::object::<Int>()))));
    let union = Schema::Union([Schema::Int, Schema::Device, Schema::Bool].into());
    for (schema, text) in [
        (array(Schema::Any), "Array[Any]"),
        (map, "Map[str, it.Int | None]"),
        (union, "int | Device | bool"),
        (Schema::List(Box::new(Schema::Bytes)), "List[bytes]"),
    ] {
        assert_eq!(schema.to_string(), text);
        assert_eq!(schema.clone(), schema);
        assert_ne!(schema, Schema::Any);
    }
}

#[test]
fn shapes_and_bytes_give_their_content() {
    let shape = Shape::from([1, -2, i64::MAX]);
    assert_eq!(&*shape, [1, -2, i64::MAX]);
    assert!(shape.same_as(&shape.clone()) && !shape.same_as(&Shape::from([1])));
    assert_eq!(&*Bytes::from(vec![0, 255]), [0, 255]);
}

#[test]
fn tensors_check_their_size() {
    let ok = Tensor::new(DType::INT32, vec![2, 3], vec![0; 24]).unwrap();
    assert_eq!(
        (ok.shape(), ok.dtype(), ok.data().len()),
        (&[2, 3][..], DType::INT32, 24)
    );
    Tensor::new(DType::INT32, vec![0, 7], vec![]).expect("an empty tensor");
    Tensor::new(DType::INT32, vec![], vec![0; 4]).expect("a scalar");
    let four_bits = DType::new(isoform::values::DTypeCode::Int, 4);
    Tensor::new(four_bits, vec![3], vec![0; 2]).expect("three half bytes");
    for (shape, bytes, message) in [
        (vec![2, -1], 8, "negative dimension"),
        (vec![2], 9, "expected 8 bytes, got 9"),
        (vec![i64::MAX, i64::MAX], 0, "too large"),
        (vec![i64::MAX], 0, "too large"),
    ] {
        let error = Tensor::new(DType::INT32, shape, vec![0u8; bytes]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Value);
        assert!(error.message().contains(message), "{error}");
    }
}

#[test]
fn functions_are_called_and_fail_with_their_own_error() {
    let length = Function::new(|args| Ok(args.len().into()));
    assert_eq!(
        (length.name(), length.named("length").name()),
        (None, Some("length"))
    );
    assert_eq!(
        length.named("n").call(&[Value::NONE; 3]).unwrap(),
        Value::from(3)
    );
    let fails = Function::new(|_| Err(Error::new(ErrorKind::Io, "no file")));
    assert_eq!(fails.call(&[]).unwrap_err().to_string(), "OSError: no file");
}

#[test]
fn global_functions_are_registered_once_unless_replaced() {
    let name = "it.containers.answer";
    let constant = |number: i64| Function::new(move |_| Ok(number.into()));
    register_function(name, constant(1), false).unwrap();
    let error = register_function(name, constant(2), false).unwrap_err();
    assert!(error.message().contains(name), "{error}");
    assert_eq!(
        global_function(name).unwrap().call(&[]).unwrap(),
        Value::from(1)
    );
    register_function(name, constant(2), true).unwrap();
    assert_eq!(
        global_function(name).unwrap().call(&[]).unwrap(),
        Value::from(2)
    );
    assert!(list_functions().iter().any(|known| known == name));
    assert!(remove_function(name) && !remove_function(name));
    assert_eq!(global_function(name).unwrap_err().kind(), ErrorKind::Key);
    assert!(register_function("", constant(3), true).is_err());
}
