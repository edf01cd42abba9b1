//! Input that is rejected, and must not crash the process.

use isoform::errors::ErrorKind;
use isoform::files::JsonOptions;
use isoform::functions::Function;
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::{construct, set_field};
use isoform::types::{FieldDef, Schema, TypeDef, register, register_type};
use isoform::values::{DType, Device, Dict, List, Tensor};
use isoform::{Map, Value, structural_equal};
use num_bigint::BigInt;

use super::{Add, Mix, Var, graph, read, write};
use crate::support::{Chain, Link, chain, scaled};

/// Like [`refuse`], at any position in the text.
#[track_caller]
fn refuse_somewhere(text: &str, kind: ErrorKind, message: &str) {
    let error = read(text).expect_err("the text is refused");
    let found = error.message();
    let found = found
        .rsplit_once(" (byte ")
        .map_or(found, |(found, _)| found);
    assert_eq!((error.kind(), found), (kind, message));
}

#[test]
fn the_position_in_the_text_is_named() {
    for (text, position) in [
        ("  x", 2),
        (
            r#"{"root_index":0,"nodes":[{"type":"int","data":1.5}]}"#,
            46,
        ),
        (r#"{"root_index":0,"nodes":[]} 5"#, 28),
        (r#"{"root_index":0,"nodes":["#, 25),
    ] {
        let error = read(text).expect_err("the text is refused");
        let suffix = format!("(byte {position})");
        assert!(error.message().ends_with(&suffix), "{error}");
    }
}
#[test]
fn metadata_is_json_data_only() {
    let refuse = |metadata: Value, message: &str| {
        let options = JsonOptions::default().metadata(metadata);
        let error = options.to_json_graph(1).expect_err("refused");
        assert_eq!(error.message(), message);
    };
    refuse(
        [Value::from(Var::new("x"))].into(),
        r#"expected JSON data, got gold.Var: gold.Var(name="x")"#,
    );
    let map: Map = [(1.into(), 2.into())].into_iter().collect();
    refuse(map.into(), "expected str as a key, got int: 1");
    let circle = List::<Value>::new();
    circle.push(circle.clone().into()).unwrap();
    refuse(circle.clone().into(), "JSON data nests more than 1000 deep");
    circle.clear();
    let deep = format!(
        r#"{{"root_index":0,"nodes":[{{"type":"None"}}],"metadata":{}1{}}}"#,
        "[".repeat(1000),
        "]".repeat(1000)
    );
    assert!(read(&deep).is_ok());
    let deeper = deep.replace("[1]", "[[1]]");
    let error = read(&deeper).expect_err("too deep");
    assert!(
        error.message().contains("nests more than 1000 deep"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_written_is_named_with_its_path() {
    let refuse = |value: Value, kind: ErrorKind, message: &str| {
        let error = write(value).expect_err("refused");
        assert_eq!(
            (error.kind(), error.to_string()),
            (kind, message.to_owned())
        );
    };
    let function = Value::from(Function::new(|_| Ok(Value::NONE)));
    let map: Map = [("k".into(), function)].into_iter().collect();
    refuse(
        Value::from(Link::new([Value::from(1), map.into()])),
        ErrorKind::Type,
        "TypeError: expected a value that can be written to a file, got Function \
         (at <root>.next[1][\"k\"])",
    );
    let list = List::<Value>::from(vec![Value::opaque(1u8)]);
    refuse(
        list.into(),
        ErrorKind::Type,
        "TypeError: expected a value that can be written to a file, got u8 (at <root>[0])",
    );
    let list = List::<Value>::new();
    list.push(Value::from(Link::new([Value::from(list.clone())])))
        .unwrap();
    refuse(
        list.clone().into(),
        ErrorKind::Value,
        "ValueError: cyclic value: the List contains itself (at <root>[0].next[0])",
    );
    list.clear();
    let dict = Dict::<Value, Value>::new();
    dict.insert("me".into(), dict.clone().into()).unwrap();
    refuse(
        dict.clone().into(),
        ErrorKind::Value,
        "ValueError: cyclic value: the Dict contains itself (at <root>[\"me\"])",
    );
    dict.clear();
    refuse(
        Value::from(
            construct(register_type(TypeDef::new("int")).expect("a type"), vec![])
                .expect("an object"),
        ),
        ErrorKind::Value,
        "ValueError: the type key int means something else in a JSON graph (at <root>)",
    );
}

#[test]
fn broken_documents_are_refused() {
    use ErrorKind::Value as V;
    let none = r#"{"type":"None"}"#;
    for (text, message) in [
        ("", "JSON graph: expected '{', got the end of the text"),
        ("[1]", "JSON graph: expected '{', got '['"),
        (r#"{"nodes":[]}"#, "JSON graph: missing member 'root_index'"),
        (r#"{"root_index":0}"#, "JSON graph: missing member 'nodes'"),
        (
            r#"{"root_index":0,"nodes":[]}"#,
            "JSON graph: the root is node 0, and there are 0 nodes",
        ),
        (
            r#"{"root_index":0,"root_index":0}"#,
            "JSON graph: 'root_index' is given twice",
        ),
        (
            r#"{"root_index":-1,"nodes":[]}"#,
            "JSON graph: expected the number of a node, got -1",
        ),
        (
            r#"{"root_index":01,"nodes":[]}"#,
            "JSON graph: expected the number of a node, got '0'",
        ),
        (
            r#"{"root_index":99999999999,"nodes":[]}"#,
            "JSON graph: expected the number of a node, got 99999999999",
        ),
        (
            r#"{"rot_index":0}"#,
            r#"JSON graph: unknown member "rot_index""#,
        ),
        (
            r#"{"root_index":0,"nodes":[{"type":"None"},]}"#,
            "JSON graph: node 1: expected '{', got ']'",
        ),
    ] {
        refuse_somewhere(text, V, message);
    }
    refuse_somewhere(
        &format!("{} x", graph(0, none)),
        V,
        "JSON graph: expected the end of the text, got 'x'",
    );
    refuse_somewhere(
        &graph(1, none),
        V,
        "JSON graph: the root is node 1, and there are 1 nodes",
    );
}

#[test]
fn broken_nodes_are_refused() {
    register::<Mix>().expect("the type is consistent");
    register::<Add>().expect("the type is consistent");
    register::<Chain>().expect("the type is consistent");
    use ErrorKind::{Type, Value as V};
    for (nodes, kind, message) in [
        (
            r#"{"type":"no.Such"}"#,
            Type,
            r#"node 0: unknown type "no.Such""#,
        ),
        (
            r#"{"type":"isoform.Array","data":[]}"#,
            Type,
            r#"node 0: unknown type "isoform.Array""#,
        ),
        (
            r#"{"data":1}"#,
            V,
            "node 0: missing member 'type' of a node",
        ),
        (
            r#"{"type":"int"}"#,
            V,
            "node 0 (int): missing member 'data' of a node",
        ),
        (
            r#"{"type":"int","data":1,"data":1}"#,
            V,
            "node 0 (int): 'data' is given twice",
        ),
        (r#"{"data":1,"data":1}"#, V, "node 0: 'data' is given twice"),
        (
            r#"{"type":"int","type":"int"}"#,
            V,
            "node 0 (int): 'type' is given twice",
        ),
        (
            r#"{"type":"int","more":1}"#,
            V,
            r#"node 0 (int): unknown member "more" of a node"#,
        ),
        (
            r#"{"type":"int","data":1.0}"#,
            V,
            "node 0 (int): expected an int, got 1.0",
        ),
        (
            r#"{"type":"int","data":01}"#,
            V,
            "node 0 (int): a number must not start with zeros",
        ),
        (
            r#"{"type":"int","data":1e1}"#,
            V,
            "node 0 (int): expected an int, got 1e1",
        ),
        (
            r#"{"type":"int","data":9223372036854775808}"#,
            V,
            "node 0 (int): int out of the 64-bit range: 9223372036854775808",
        ),
        (
            r#"{"type":"float","data":1e999}"#,
            V,
            "node 0 (float): float out of range: 1e999",
        ),
        (
            r#"{"type":"float","data":1.}"#,
            V,
            "node 0 (float): expected digits after the decimal point, got '}'",
        ),
        (
            r#"{"type":"float","data":1e}"#,
            V,
            "node 0 (float): expected digits of an exponent, got '}'",
        ),
        (
            r#"{"type":"float","data":"x"}"#,
            V,
            "node 0 (float): expected a number, got '\"'",
        ),
        (
            r#"{"type":"bool","data":1}"#,
            V,
            "node 0 (bool): expected true or false, got '1'",
        ),
        (
            r#"{"type":"None","data":0}"#,
            V,
            "node 0 (None): expected null, got '0'",
        ),
        (
            r#"{"type":"ffi.String","data":"\ud800"}"#,
            V,
            "node 0 (ffi.String): invalid UTF-16: half of a surrogate pair in a string",
        ),
        (
            r#"{"type":"ffi.String","data":"\ud800\u0041"}"#,
            V,
            "node 0 (ffi.String): invalid UTF-16: half of a surrogate pair in a string",
        ),
        (
            r#"{"type":"ffi.String","data":"\udc00"}"#,
            V,
            "node 0 (ffi.String): invalid UTF-16: half of a surrogate pair in a string",
        ),
        (
            r#"{"type":"ffi.String","data":"\x"}"#,
            V,
            "node 0 (ffi.String): unknown escape sequence in a string",
        ),
        (
            r#"{"type":"ffi.String","data":"\u12g4"}"#,
            V,
            "node 0 (ffi.String): expected four hexadecimal digits in a string",
        ),
        (
            "{\"type\":\"ffi.String\",\"data\":\"\n\"}",
            V,
            "node 0 (ffi.String): expected an escape sequence, got a control character in a string",
        ),
        (
            r#"{"type":"ffi.Bytes","data":"YQ"}"#,
            V,
            "node 0 (ffi.Bytes): expected base64: Invalid padding",
        ),
        (
            r#"{"type":"DataType","data":"int"}"#,
            V,
            "node 0 (DataType): expected a dtype such as int64, float32x4, bool or float8_e4m3fn, got \"int\"",
        ),
        (
            r#"{"type":"Device","data":[1]}"#,
            V,
            "node 0 (Device): expected the kind and the ordinal of a device, got [1]",
        ),
        (
            r#"{"type":"Device","data":[1,-1]}"#,
            V,
            "node 0 (Device): expected the kind and the ordinal of a device, got [1, -1]",
        ),
        (
            r#"{"type":"ffi.Array","data":[7]}"#,
            V,
            "node 0 (ffi.Array): node 7 is referred to, and there are 1 nodes",
        ),
        (
            r#"{"type":"ffi.Array","data":[-1]}"#,
            V,
            "node 0 (ffi.Array): expected the number of a node, got -1",
        ),
        (
            r#"{"type":"ffi.Array","data":[0]}"#,
            V,
            "node 0 (ffi.Array): the node is part of itself",
        ),
        (
            r#"{"type":"ffi.List","data":[1]},{"type":"ffi.Array","data":[0]}"#,
            V,
            "node 1 (ffi.Array): the node is part of itself",
        ),
        (
            r#"{"type":"None"},{"type":"ffi.Map","data":[0]}"#,
            V,
            "node 1 (ffi.Map): expected keys and values in turn, got 1 numbers",
        ),
        (
            r#"{"type":"None"},{"type":"ffi.Map","data":[0,0,0,0]}"#,
            V,
            "node 1 (ffi.Map): the key None stands twice",
        ),
        (
            r#"{"type":"ffi.Tensor","data":{"dtype":"int8","shape":[2],"data":"YQ=="}}"#,
            V,
            "node 0 (ffi.Tensor): tensor of dtype int8 and shape [2]: expected 2 bytes, got 1",
        ),
        (
            r#"{"type":"ffi.Tensor","data":{"dtype":"int8","shape":[9223372036854775807,9],"data":""}}"#,
            V,
            "node 0 (ffi.Tensor): tensor of dtype int8 and shape [9223372036854775807, 9] is too large",
        ),
        (
            r#"{"type":"ffi.Tensor","data":{"dtype":"int8"}}"#,
            V,
            "node 0 (ffi.Tensor): expected dtype, shape and data of a tensor",
        ),
        (
            r#"{"type":"gold.Add","data":{"lhs":1,"rhs":1,"x":1}},{"type":"None"}"#,
            V,
            "node 0 (gold.Add): unknown field 'x' (if it was renamed: aliases; if it was removed: ignore_unknown_fields; see docs/evolution.md)",
        ),
        (
            r#"{"type":"None"},{"type":"gold.Add","data":{"lhs":0}}"#,
            Type,
            "node 1 (gold.Add): missing field 'rhs' (if it is new: a default; if it was renamed: aliases; see docs/evolution.md)",
        ),
        (
            r#"{"type":"None"},{"type":"gold.Add","data":{"lhs":0,"lhs":0}}"#,
            V,
            "node 1 (gold.Add): field 'lhs' is given twice",
        ),
        (
            r#"{"type":"None"},{"type":"gold.Add","data":{"lhs":"x"}}"#,
            V,
            "node 1 (gold.Add): expected the number of a node, got '\"'",
        ),
        (
            r#"{"type":"int","data":1},{"type":"it.Chain","data":{"next":0}}"#,
            Type,
            "node 1 (it.Chain): field 'next': expected it.Chain, got int",
        ),
        (
            r#"{"type":"gold.Mix","data":{"b":1}}"#,
            V,
            "node 0 (gold.Mix): expected true or false, got '1'",
        ),
    ] {
        refuse_somewhere(&graph(0, nodes), kind, &format!("JSON graph: {message}"));
    }
}

/// Of several errors, the first error in the text is reported.
#[test]
fn what_is_wrong_with_a_node_is_told_before_what_is_wrong_behind_it() {
    register::<Chain>().expect("registered");
    register::<crate::support::Add>().expect("registered");
    let first = |nodes: &str, message: &str| {
        for start in [r#"{"root_index":1,"#, "{"] {
            let text = format!(r#"{start}"nodes":[{{"type":"int","data":1}},{nodes}"#);
            let error = read(&text).expect_err("the text is refused");
            let expected = format!("JSON graph: node {message}");
            assert!(error.message().starts_with(&expected), "{error}");
        }
    };
    let unfit = "1 (it.Chain): field 'next': expected it.Chain";
    first(r#"{"type":"it.Chain","data":{"next":0}}]}"#, unfit);
    first(
        r#"{"type":"it.Chain","data":{"next":0}},{"type":"int","data":x"#,
        unfit,
    );
    first(r#"{"type":"it.Chain","data":{"next":0 x"#, unfit);
    first(r#"{"type":"it.Chain","data":{"next":0,"other":1"#, unfit);
    first(r#"{"type":"it.Chain","data":{"next":0},"other":1"#, unfit);
    first(r#"{"type":"it.Chain","data":{"next":2,"next":0"#, unfit);
    let twice = r#"{"type":"ffi.Map","data":[0,0,0,0]"#;
    let message = "1 (ffi.Map): the key 1 stands twice";
    first(&format!("{twice},x"), message);
    first(&format!("{twice}}},x"), message);
    first(
        r#"{"type":"it.Add","data":{},"other":1"#,
        "1 (it.Add): missing field 'note' (if it is new: a default; if it was renamed: aliases; see docs/evolution.md)",
    );
    // With valid nodes up to that point.
    first(
        r#"{"type":"it.Chain","data":{"next":2 x"#,
        "1 (it.Chain): expected ',' or '}'",
    );
}

#[test]
fn a_container_in_many_typed_fields_is_checked_once() {
    let inner = Schema::Array(Box::new(Schema::Int));
    register_type(
        TypeDef::new("it.json.Many").field(FieldDef::new("items", Schema::Array(Box::new(inner)))),
    )
    .expect("the type is consistent");
    let count = scaled(20_000);
    let mut nodes = String::from(r#"{"type":"int","data":1}"#);
    for part in ["0,", "1,"] {
        let parts = part.repeat(count);
        nodes += &format!(
            r#",{{"type":"ffi.Array","data":[{}]}}"#,
            &parts[..parts.len() - 1]
        );
    }
    nodes += &r#",{"type":"it.json.Many","data":{"items":2}}"#.repeat(count);
    // Quadratic or cubic work would take hours.
    assert!(read(&graph(3, &nodes)).is_ok());
}

#[test]
fn a_million_levels_are_written_and_read() {
    let levels = scaled(1_000_000);
    let root = chain(levels);
    let text = write(&root).expect("writable");
    assert_eq!(text.matches("it.Chain").count(), levels);
    let again = read(&text).expect("readable");
    assert!(structural_equal(&again, &root).expect("comparable"));

    // The same from the other end: every node refers to the next node.
    let mut nodes = String::new();
    for level in 1..levels {
        nodes += &format!(r#"{{"type":"it.Chain","data":{{"next":{level}}}}},"#);
    }
    let end = levels;
    nodes += &format!(r#"{{"type":"it.Chain","data":{{"next":{end}}}}},{{"type":"None"}}"#);
    let again = read(&graph(0, &nodes)).expect("readable");
    assert!(structural_equal(&again, &root).expect("comparable"));

    // Lists and dicts take another path than objects.
    let mut nested = Value::from(1);
    for level in 0..levels / 10 {
        nested = match level % 2 {
            0 => List::<Value>::from(vec![nested]).into(),
            _ => [(nested, 1.into())].into_iter().collect::<Dict>().into(),
        };
    }
    let text = write(&nested).expect("writable");
    assert_eq!(
        write(read(&text).expect("readable")).expect("writable"),
        text
    );
}

#[test]
fn text_that_ends_early_is_refused_at_every_byte() {
    let x = Var::new("x\u{e9}\n");
    let tensor = Tensor::new(DType::INT64, vec![1], vec![1u8; 8]).expect("a tensor");
    let map: Map = [("k".into(), tensor.into()), (2.5.into(), true.into())]
        .into_iter()
        .collect();
    let parts: Vec<Value> = vec![
        map.into(),
        Device::CPU.into(),
        BigInt::from(2).pow(80).into(),
    ];
    let value = Value::from(Add::new(&x, parts));
    let text = JsonOptions::default()
        .metadata([1.5, -2.0])
        .to_json_graph(&value)
        .expect("writable");
    assert!(read(&text).is_ok());
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        let error = read(&text[..end]).expect_err("incomplete");
        assert_eq!(
            error.kind(),
            ErrorKind::Value,
            "{error} in {}",
            &text[..end]
        );
        assert!(error.message().starts_with("JSON graph: "), "{error}");
    }
}

#[test]
fn a_cycle_through_mutable_fields_is_refused() {
    let index = register_type(
        TypeDef::new("it.json.Knot").field(FieldDef::new("next", Schema::Any).mutable(true)),
    )
    .expect("the type is consistent");
    let knot = |next: Value| construct(index, vec![next]).expect("an object");
    let inner = knot(Value::NONE);
    let outer = knot([Value::from(&inner)].into());
    set_field(&inner, "next", Value::from(&outer)).expect("mutable");
    for result in [
        write(&outer).map(drop),
        isoform::files::to_bytes(&outer).map(drop),
    ] {
        assert_eq!(
            result.expect_err("a cycle").to_string(),
            "ValueError: cyclic value: the it.json.Knot contains itself (at <root>.next[0].next)"
        );
    }
    set_field(&inner, "next", 1.into()).expect("mutable");
    assert!(write(&outer).is_ok());
}

#[test]
fn a_hook_may_change_what_is_being_written() {
    let index = register_type(
        TypeDef::new("it.json.Cell").field(FieldDef::new("content", Schema::Any).mutable(true)),
    )
    .expect("the type is consistent");
    let cell = |content: Value| construct(index, vec![content]).expect("an object");
    // The hook drops the only owner of an object written before.
    let held = cell(
        [
            cell(1.into()).into(),
            Value::from(cell("a long enough text".into())),
        ]
        .into(),
    );
    let inside = held.clone();
    let spoiler = register_type(
        TypeDef::new("it.json.Spoiler")
            .hook(DynToJson::new(move |_| {
                set_field(&inside, "content", 2.into())?;
                Ok(Value::NONE)
            }))
            .hook(DynFromJson::new(|_| {
                Err(isoform::Error::value_error("never read"))
            })),
    )
    .expect("the type is consistent");
    let spoiler = construct(spoiler, vec![]).expect("an object");
    let text = write([Value::from(&held), spoiler.into(), held.into()]).expect("writable");
    assert_eq!(text.matches("it.json.Cell").count(), 3, "{text}");
    assert!(text.contains("long enough"), "{text}");
}
