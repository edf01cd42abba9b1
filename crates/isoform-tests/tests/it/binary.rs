//! The binary form: round trips, and rejected input.

use isoform::errors::ErrorKind;
use isoform::files::{BinaryReadOptions, from_bytes, to_bytes};
use isoform::functions::Function;
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::{construct, field_value};
use isoform::types::{FieldDef, Schema, TypeDef, find_type, register_type};
use isoform::values::{DType, Device, Dict, List, Shape, Tensor};
use isoform::{Array, Map, Node, Ref, Str, Value, structural_equal};
use num_bigint::BigInt;

use crate::support::{Link, add, chain, int, scaled};

/// An operator.
#[derive(Node)]
#[node(key = "it.binary.Op", kind = singleton)]
#[repr(C)]
struct Op {
    name: Str,
}

/// A field of every storage.
#[derive(Node)]
#[node(key = "it.binary.Mix")]
#[repr(C)]
struct Mix {
    any: Value,
    int: i64,
    float: f64,
    flag: bool,
    text: Str,
    dtype: DType,
    next: Option<Ref<Mix>>,
}

fn write(value: impl Into<Value>) -> isoform::Result<Vec<u8>> {
    to_bytes(value)
}

/// The records of a form, without its frame.
fn records(form: &[u8]) -> &[u8] {
    assert_eq!(&form[..9], b"\x89isoform\x01");
    &form[9..form.len() - 8]
}

/// A form of these records.
fn form(records: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x89isoform\x01".to_vec();
    bytes.extend_from_slice(records);
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(&sum.as_bytes()[..8]);
    bytes
}

/// Checks the records of a value, and that reading the records restores the value.
#[track_caller]
fn check(value: impl Into<Value>, expected: &[u8]) {
    let value = value.into();
    let bytes = write(value.clone()).expect("the value can be written");
    assert_eq!(records(&bytes), expected);
    let again = from_bytes(&bytes).expect("the bytes can be read");
    assert!(
        structural_equal(&again, &value).expect("comparable"),
        "{again:?}"
    );
    assert_eq!(write(again).expect("what was read can be written"), bytes);
}

#[track_caller]
fn refuse(records: &[u8], kind: ErrorKind, message: &str) {
    let error = from_bytes(&form(records)).expect_err("the bytes are refused");
    let expected = format!("binary form: {message}");
    assert_eq!((error.kind(), error.message()), (kind, expected.as_str()));
}

#[test]
fn values_have_the_records_of_the_format() {
    check((), &[2, 0]);
    check(false, &[3, 0]);
    check(true, &[4, 0]);
    check(-1, &[5, 1, 0]);
    check(300, &[5, 0xd8, 4, 0]);
    check(
        i64::MIN,
        &[5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0],
    );
    check(1.0, &[6, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0]);
    check("ab", &[7, 2, b'a', b'b', 0]);
    check(&b"ab"[..], &[8, 2, b'a', b'b', 0]);
    check(BigInt::from(1) << 64, &[9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    check(
        "float32x4".parse::<DType>().expect("a dtype"),
        &[10, 2, 32, 4, 0],
    );
    check(Device::new(2, 1), &[11, 2, 1, 0]);
    check([1, 1], &[5, 2, 12, 2, 1, 1, 0]);
    check(List::<Value>::new(), &[13, 0, 0]);
    let entries = [(Value::from(1), Value::from(true))];
    check(
        entries.clone().into_iter().collect::<Map>(),
        &[5, 2, 4, 14, 1, 2, 1, 0],
    );
    check(
        entries.into_iter().collect::<Dict>(),
        &[5, 2, 4, 15, 1, 2, 1, 0],
    );
    check(Shape::from([2, -1]), &[16, 2, 4, 1, 0]);
    let tensor = Tensor::new(DType::INT32, vec![1], vec![1, 2, 3, 4]).expect("a tensor");
    check(tensor, &[17, 0, 32, 1, 1, 2, 4, 1, 2, 3, 4, 0]);
    let key = b"it.binary.Op";
    let mut expected = vec![7, 1, b'x', 1, key.len() as u8];
    expected.extend_from_slice(key);
    expected.extend_from_slice(&[0, 1, 4]);
    expected.extend_from_slice(b"name");
    expected.extend_from_slice(&[0, 18, 1, 12, 2, 1, 1, 0]);
    let op = Value::from(Op::new("x"));
    check([op.clone(), op], &expected);
}

#[test]
fn every_storage_comes_back() {
    let mix = |float: f64, next: Option<Ref<Mix>>| {
        Mix::new(
            [1, 2],
            i64::MIN,
            float,
            true,
            "some text of more than 14",
            DType::BOOL,
            next,
        )
    };
    let small = f64::from_bits(1);
    let value = mix(-0.0, Some(mix(f64::NAN, Some(mix(small, None)))));
    let bytes = write(&value).expect("writable");
    let again: Ref<Mix> = from_bytes(&bytes)
        .expect("readable")
        .extract()
        .expect("a Mix");
    assert!(structural_equal(&again, &value).expect("comparable"));
    assert_eq!(write(&again).expect("writable"), bytes);
    let long = write(chain(1000)).expect("writable");
    assert!(long.len() < 3100, "{} bytes", long.len());
}

#[test]
fn sharing_and_singletons_survive() {
    let op = Value::from(Op::new("shared"));
    let inner = List::<Value>::from(vec![op.clone()]);
    let value = Value::from([inner.clone().into(), Value::from(inner), op.clone()]);
    let bytes = write(value).expect("writable");
    let again: Array = from_bytes(&bytes)
        .expect("readable")
        .extract()
        .expect("an array");
    assert_eq!(again.get(0), again.get(1));
    assert_eq!(again.get(2), Some(&op));
}

#[test]
fn what_cannot_be_written_is_named_with_its_path() {
    let function = Value::from(Function::new(|_| Ok(Value::NONE)));
    let error = write(Link::new([function])).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "TypeError: expected a value that can be written to a file, got Function \
         (at <root>.next[0])"
    );
    let list = List::<Value>::new();
    list.push(list.clone().into()).unwrap();
    let error = write(list.clone()).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "ValueError: cyclic value: the List contains itself (at <root>[0])"
    );
    list.clear();
}

#[test]
fn another_frame_is_refused() {
    let good = write(1).expect("writable");
    let message = |bytes: &[u8]| from_bytes(bytes).expect_err("refused").message().to_owned();
    assert_eq!(
        message(b""),
        "binary form: the bytes do not start as expected"
    );
    assert_eq!(
        message(b" {\"root_index\":0}"),
        "binary form: the bytes begin like JSON; read a JSON graph with from_json_graph_str in \
         Python, from_json_graph in Rust, and the JSON of a patch or difference with its from_json"
    );
    assert_eq!(
        message(b"\x89isoform"),
        "binary form: expected version 1, got the end"
    );
    let mut other = good.clone();
    other[8] = 2;
    assert_eq!(message(&other), "binary form: expected version 1, got 2");
    let changed = "binary form: the checksum differs, the bytes were changed or cut";
    assert_eq!(message(&good[..9]), changed);
    // Every bit counts, and every byte does.
    let good =
        write([add(int(1), int(2)), add(int(3), int(4))].map(Value::from)).expect("writable");
    for bit in 9 * 8..good.len() * 8 {
        let mut flipped = good.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(message(&flipped), changed);
    }
    for end in 0..good.len() {
        assert!(from_bytes(&good[..end]).is_err());
    }
}

#[test]
fn records_that_end_early_are_refused_at_every_byte() {
    let mix = Mix::new([1, 2], 5, 2.5, true, "text", DType::BOOL, None);
    let map: Map = [(Value::from(BigInt::from(2).pow(90)), Device::CPU.into())]
        .into_iter()
        .collect();
    let tensor = Tensor::new(DType::INT64, vec![1], vec![1u8; 8]).expect("a tensor");
    let bytes = write([mix.into(), map.into(), Value::from(tensor)]).expect("writable");
    let records = records(&bytes);
    assert!(from_bytes(&form(records)).is_ok());
    for end in 0..records.len() {
        let error = from_bytes(&form(&records[..end])).expect_err("incomplete");
        assert_eq!(error.kind(), ErrorKind::Value, "{error}");
    }
}

#[test]
fn broken_records_are_refused() {
    use ErrorKind::{Type, Value as V};
    refuse(&[0], V, "there is no node");
    refuse(&[2, 0, 2], V, "1 bytes after the last record");
    refuse(
        &[5, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2, 0],
        V,
        "node 0: a number of more than 64 bits (byte 20)",
    );
    refuse(
        &[7, 2, 0xc3, 0x28, 0],
        V,
        "node 0: expected a string: invalid utf-8 sequence of 1 bytes from index 0 (byte 13)",
    );
    refuse(
        &[7, 100, b'a', 0],
        V,
        "node 0: expected at least 100 more bytes, got 2 (byte 11)",
    );
    refuse(
        &[10, 18, 8, 1, 0],
        V,
        "node 0: unknown code 18 of a dtype (byte 13)",
    );
    refuse(
        &[10, 2, 32, 255, 255, 7, 0],
        V,
        "node 0: a dtype of 32 bits and 131071 lanes (byte 15)",
    );
    for (bits, lanes) in [(32, 0), (0, 4)] {
        refuse(
            &[10, 2, bits, lanes, 0],
            V,
            &format!("node 0: a dtype of {bits} bits and {lanes} lanes (byte 13)"),
        );
    }
    refuse(
        &[11, 1, 255, 255, 255, 255, 127, 0],
        V,
        "node 0: 34359738367 is outside the 32-bit range (byte 16)",
    );
    refuse(
        &[12, 1, 1, 0],
        V,
        "node 0: a reference 1 nodes back, where there are 0 (byte 12)",
    );
    refuse(
        &[2, 12, 1, 0, 0],
        V,
        "node 1: a reference 0 nodes back, where there are 1 (byte 13)",
    );
    refuse(
        &[2, 14, 2, 1, 1, 1, 1, 0],
        V,
        "node 1: the key None stands twice (byte 16)",
    );
    refuse(
        &[13, 255, 255, 255, 255, 127, 0],
        V,
        "node 0: expected at least 34359738367 more bytes, got 1 (byte 15)",
    );
    refuse(
        &[17, 0, 32, 1, 1, 2, 1, 9, 0],
        V,
        "node 0: tensor of dtype int32 and shape [1]: expected 4 bytes, got 1 (byte 17)",
    );
    refuse(
        &[18, 0],
        V,
        "node 0: an object of a type that is not among the 0 so far (byte 10)",
    );
    refuse(
        &[1, 2, b'n', b'o', 0, 0, 0],
        Type,
        "node 0: unknown type \"no\" (byte 13)",
    );
    refuse(
        &[
            1, 12, b'i', b's', b'o', b'f', b'o', b'r', b'm', b'.', b'S', b't', b'r', b'!', 0,
        ],
        Type,
        "node 0: unknown type \"isoform.Str!\" (if it was renamed: aliases, see docs/evolution.md) (byte 23)",
    );
}

/// The declaration of a type in a file, with fields that are references.
fn declared(key: &str, fields: &[&str]) -> Vec<u8> {
    let mut record = vec![1, key.len() as u8];
    record.extend_from_slice(key.as_bytes());
    record.extend_from_slice(&[0, fields.len() as u8]);
    for field in fields {
        record.push(field.len() as u8);
        record.extend_from_slice(field.as_bytes());
        record.push(0);
    }
    record
}

#[test]
fn types_may_gain_fields_with_defaults_and_reorder() {
    let key = "it.binary.Grown";
    let index = register_type(
        TypeDef::new(key)
            .field(FieldDef::new("a", Schema::Int))
            .field(FieldDef::new("b", Schema::Any))
            .field(FieldDef::new("c", Schema::Float).default_value(1)),
    )
    .expect("the type is consistent");
    let with = |fields: &[&str], rest: &[u8]| [&declared(key, fields), rest].concat();
    // An int and a string; then the object.
    let records = with(&["b", "a"], &[5, 10, 7, 1, b'x', 18, 1, 2, 0]);
    let object = from_bytes(&form(&records))
        .expect("readable")
        .as_object()
        .cloned();
    let object = object.expect("an object");
    assert_eq!(object.type_info().index(), index);
    let values = ["a", "b", "c"].map(|name| field_value(&object, name).expect("a field"));
    assert_eq!(values, [5.into(), "x".into(), Value::from(1.0)]);

    use ErrorKind::{Type, Value as V};
    let refuse_fields = |fields: &[&str], kind, message: &str| {
        let records = with(fields, &[5, 10, 18, 1, 1, 1, 0]);
        let error = from_bytes(&form(&records)).expect_err("refused");
        assert_eq!(error.kind(), kind);
        assert!(error.message().contains(message), "{error}");
    };
    refuse_fields(&["a"], Type, "node 1 (it.binary.Grown): missing field 'b'");
    refuse_fields(
        &["a", "a"],
        V,
        "node 0 (it.binary.Grown): field 'a' is given twice",
    );
    refuse_fields(
        &["a", "b", "old"],
        V,
        "node 0 (it.binary.Grown): unknown field 'old'",
    );
    let twice = [declared(key, &[]), declared(key, &[])].concat();
    let error = from_bytes(&form(&twice)).expect_err("refused");
    assert!(
        error.message().contains("the type is declared twice"),
        "{error}"
    );
    let wrong = with(&["a", "b"], &[7, 1, b'x', 18, 1, 1, 0]);
    let error = from_bytes(&form(&wrong)).expect_err("refused");
    assert!(
        error.message().contains("field 'a': expected int, got str"),
        "{error}"
    );

    let records = with(&["a", "b", "old"], &[5, 10, 18, 1, 1, 1, 0]);
    let options = BinaryReadOptions::default().ignore_unknown_fields(true);
    assert!(options.read(&form(&records)).is_ok());
}

#[test]
fn hooks_decide_what_stands_in_the_bytes() {
    let key = "it.binary.Color";
    let color = TypeDef::new(key)
        .field(FieldDef::new("name", Schema::Str))
        .hook(DynToJson::new(|object| field_value(object, "name")))
        .hook(DynFromJson::new(|data| {
            if data.as_str() == Some("none") {
                return Ok(int(1).into_object());
            }
            let index = find_type("it.binary.Color").expect("registered").index();
            construct(index, vec![data.clone()])
        }));
    let index = register_type(color).expect("the type is consistent");
    let red = construct(index, vec!["red".into()]).expect("a color");
    let mut expected = vec![1, key.len() as u8];
    expected.extend_from_slice(key.as_bytes());
    expected.extend_from_slice(&[1, 0, 18, 5]);
    expected.extend_from_slice(b"\"red\"\0");
    check(red, &expected);
    let error = write(construct(index, vec!["none".into()]).expect("a color"));
    let error = from_bytes(&error.expect("writable")).expect_err("not a color");
    assert!(
        error
            .message()
            .contains("the hook gave an object of it.Int"),
        "{error}"
    );
    let records = [declared(key, &[]), vec![18, 0]].concat();
    let error = from_bytes(&form(&records)).expect_err("refused");
    assert!(
        error
            .message()
            .contains("had no hook for files when the file was written, and has a hook"),
        "{error}"
    );
    let position = expected.len() - 7;
    assert_eq!(expected[position], 5);
    expected.splice(position.., [2, b'"', b'x', 0]);
    let error = from_bytes(&form(&expected)).expect_err("refused");
    assert!(
        error.message().contains("expected the end of a string"),
        "{error}"
    );
}

#[test]
fn a_million_levels_are_written_and_read() {
    let root = chain(scaled(1_000_000));
    let bytes = write(&root).expect("writable");
    let again = from_bytes(&bytes).expect("readable");
    assert!(structural_equal(&again, &root).expect("comparable"));
}
