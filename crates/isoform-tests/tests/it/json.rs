//! The JSON graph: texts, round trips, and rejected input.

use isoform::errors::ErrorKind;
use isoform::files::{JsonOptions, JsonReadOptions, from_json_graph, to_bytes, to_json_graph};
use isoform::functions::Function;
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::{construct, field_value};
use isoform::types::{
    FieldDef, Kind, Schema, TypeDef, find_singleton, find_type, register, register_singleton,
    register_type,
};
use isoform::values::{Bytes, DType, Device, Dict, List, Shape, Tensor};
use isoform::{Array, Map, Node, Obj, Ref, Str, Value, structural_equal};
use num_bigint::BigInt;

use crate::support::int;

mod refused;

/// A name, as in the texts of the other implementation.
#[derive(Node)]
#[node(key = "gold.Var")]
#[repr(C)]
struct Var {
    name: Str,
}

/// Two parts.
#[derive(Node)]
#[node(key = "gold.Add")]
#[repr(C)]
struct Add {
    lhs: Value,
    rhs: Value,
}

/// Fields of many types.
#[derive(Node)]
#[node(key = "gold.Mix")]
#[repr(C)]
struct Mix {
    b: bool,
    i: i64,
    f: f64,
    d: DType,
    o: Value,
    s: Str,
    by: Bytes,
    dev: Value,
    l: List<i64>,
}

/// An operator.
#[derive(Node)]
#[node(key = "it.json.Op", kind = singleton)]
#[repr(C)]
struct Op {
    name: Str,
    #[node(ignore)]
    remark: Value,
}

fn read(text: &str) -> isoform::Result<Value> {
    from_json_graph(text)
}

fn write(value: impl Into<Value>) -> isoform::Result<String> {
    to_json_graph(value)
}

fn graph(root: usize, nodes: &str) -> String {
    format!(r#"{{"root_index":{root},"nodes":[{nodes}]}}"#)
}

/// Checks the text of the value, and that the text is read to this value.
#[track_caller]
fn check(value: impl Into<Value>, nodes: &str) {
    let value = value.into();
    let root = nodes.matches(r#"{"type""#).count() - 1;
    let text = write(&value).expect("the value can be written");
    assert_eq!(text, graph(root, nodes));
    let again = read(&text).expect("the text can be read");
    assert!(
        structural_equal(&again, &value).expect("comparable"),
        "{again:?}"
    );
    assert_eq!(write(again).expect("what was read can be written"), text);
}

/// Checks that reading fails with this error.
#[track_caller]
fn refuse(text: &str, kind: ErrorKind, message: &str) {
    let error = read(text).expect_err("the text is refused");
    assert_eq!((error.kind(), error.message()), (kind, message));
}

#[test]
fn values_have_the_texts_of_the_format() {
    check((), r#"{"type":"None"}"#);
    check(true, r#"{"type":"bool","data":true}"#);
    check(-5, r#"{"type":"int","data":-5}"#);
    check(i64::MIN, r#"{"type":"int","data":-9223372036854775808}"#);
    check("a", r#"{"type":"ffi.String","data":"a"}"#);
    check(
        "q\"\\\n\t\r\u{0}\u{1f}\u{7f}é\u{1F600}/ and more than fourteen bytes",
        concat!(
            r#"{"type":"ffi.String","data":"q\"\\\n\t\r\u0000\u001f"#,
            "\u{7f}é\u{1F600}/ and more than fourteen bytes\"}"
        ),
    );
    check(&b"ab\xff"[..], r#"{"type":"ffi.Bytes","data":"YWL/"}"#);
    check(
        BigInt::from(2).pow(70),
        r#"{"type":"ffi.BigInt","data":"1180591620717411303424"}"#,
    );
    check(
        "float32x4".parse::<DType>().expect("a dtype"),
        r#"{"type":"DataType","data":"float32x4"}"#,
    );
    let void = DType::new(isoform::values::DTypeCode::Handle, 0).with_lanes(0);
    check(void, r#"{"type":"DataType","data":""}"#);
    assert!(write(DType::new(isoform::values::DTypeCode::Int, 0)).is_err());
    check(Device::new(2, 1), r#"{"type":"Device","data":[2,1]}"#);
    check(
        Shape::from([2, -3]),
        r#"{"type":"ffi.Shape","data":[2,-3]}"#,
    );
    check(
        Tensor::new(
            DType::FLOAT32,
            vec![1, 2],
            vec![0u8, 0, 128, 63, 0, 0, 192, 127],
        )
        .expect("a tensor"),
        r#"{"type":"ffi.Tensor","data":{"dtype":"float32","shape":[1,2],"data":"AACAPwAAwH8="}}"#,
    );
    check(Array::<Value>::new(), r#"{"type":"ffi.Array","data":[]}"#);
    check(
        [1.into(), 1.into(), true.into(), Value::from(1.0)],
        concat!(
            r#"{"type":"int","data":1},{"type":"bool","data":true},{"type":"float","data":1.0},"#,
            r#"{"type":"ffi.Array","data":[0,0,1,2]}"#
        ),
    );
    check(
        List::<Value>::from(vec![1.into(), [2].into()]),
        concat!(
            r#"{"type":"int","data":1},{"type":"int","data":2},{"type":"ffi.Array","data":[1]},"#,
            r#"{"type":"ffi.List","data":[0,2]}"#
        ),
    );
    let entries = [("a".into(), 1.into()), (2.into(), Value::from("b"))];
    let nodes = concat!(
        r#"{"type":"ffi.String","data":"a"},{"type":"int","data":1},{"type":"int","data":2},"#,
        r#"{"type":"ffi.String","data":"b"},{"type":"ffi.Map","data":[0,1,2,3]}"#
    );
    check(entries.clone().into_iter().collect::<Map>(), nodes);
    let nodes = nodes.replace("ffi.Map", "ffi.Dict");
    check(entries.into_iter().collect::<Dict>(), &nodes);
}

#[test]
fn floats_survive_bit_by_bit() {
    let bits = [
        0u64,
        1 << 63,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0.1f64.to_bits(),
        1e16f64.to_bits(),
        f64::MAX.to_bits(),
        f64::MIN.to_bits(),
        (1.0f64 / 3.0).to_bits(),
        f64::INFINITY.to_bits(),
        f64::NEG_INFINITY.to_bits(),
    ];
    for bits in bits {
        let text = write(f64::from_bits(bits)).expect("a float");
        let again = read(&text).expect("a float").as_float().expect("a float");
        assert_eq!(again.to_bits(), bits, "{text}");
    }
    for bits in [
        f64::NAN.to_bits(),
        0xfff8_0000_0000_0001,
        0x7ff0_0000_0000_0001,
    ] {
        let text = write([Value::from(f64::from_bits(bits)), f64::NAN.into()]).expect("floats");
        let nodes = r#"{"type":"float","data":NaN},{"type":"ffi.Array","data":[0,0]}"#;
        assert_eq!(text, graph(1, nodes));
    }
    check(5e-324, r#"{"type":"float","data":5e-324}"#);
    check(-0.0, r#"{"type":"float","data":-0.0}"#);
    check(f64::NEG_INFINITY, r#"{"type":"float","data":-Infinity}"#);
}

#[test]
fn objects_have_the_texts_of_the_format() {
    let x = Var::new("x");
    check(
        Add::new(&x, Add::new(&x, "x")),
        concat!(
            r#"{"type":"ffi.String","data":"x"},{"type":"gold.Var","data":{"name":0}},"#,
            r#"{"type":"gold.Add","data":{"lhs":1,"rhs":0}},"#,
            r#"{"type":"gold.Add","data":{"lhs":1,"rhs":2}}"#
        ),
    );
    let int8: DType = "int8".parse().expect("a dtype");
    let bytes = Bytes::from(b"b".to_vec());
    let device = Value::from(Device::CPU);
    check(
        Mix::new(true, -5, 2.5, int8, (), "s", bytes, device, vec![1, 2]),
        concat!(
            r#"{"type":"None"},{"type":"ffi.String","data":"s"},{"type":"ffi.Bytes","data":"Yg=="},"#,
            r#"{"type":"Device","data":[1,0]},{"type":"int","data":1},{"type":"int","data":2},"#,
            r#"{"type":"ffi.List","data":[4,5]},{"type":"gold.Mix","data":{"b":true,"i":-5,"#,
            r#""f":2.5,"d":"int8","o":0,"s":1,"by":2,"dev":3,"l":6}}"#
        ),
    );
}

/// Texts that tvm-ffi 0.1.15 writes differently from Isoform.
#[test]
fn texts_of_the_other_implementation_are_read() {
    register::<Mix>().expect("the type is consistent");
    let value = |text: &str| read(&graph(0, text)).expect("the text can be read");
    let float = |text: &str| value(text).as_float().map(f64::to_bits);
    let is = |number: f64| Some(number.to_bits());
    assert_eq!(
        float(r#"{"type":"float","data":0.10000000000000001}"#),
        is(0.1)
    );
    assert_eq!(
        float(r#"{"type":"float","data":10000000000000000}"#),
        is(1e16)
    );
    let small = r#"{"type":"float","data":4.9406564584124654e-324}"#;
    assert_eq!(float(small), is(5e-324));
    assert_eq!(
        float(r#"{"type":"float","data":-Infinity}"#),
        is(f64::NEG_INFINITY)
    );
    assert_eq!(
        value(r#"{"type":"ffi.String","data":"q\"\\\n\t\u0000\u007fé😀\/"}"#),
        Value::from("q\"\\\n\t\0\u{7f}é\u{1F600}/")
    );
    assert_eq!(
        value(r#"{"type":"ffi.String","data":"\ud83d\ude00\b\f"}"#),
        Value::from("\u{1F600}\u{8}\u{c}")
    );
    assert_eq!(
        value(r#"{"type":"ffi.Bytes","data":"YWL\/"}"#),
        Value::from(&b"ab\xff"[..])
    );
    let mix = concat!(
        r#"{"root_index":5,"nodes":[{"type":"int","data":3},{"type":"ffi.String","data":"s"},"#,
        r#"{"type":"ffi.Bytes","data":""},{"type":"Device","data":[1,0]},"#,
        r#"{"type":"ffi.List","data":[]},{"type":"gold.Mix","data":{"b":false,"i":5,"#,
        r#""f":1.0000000000000001e+300,"d":"int8","o":0,"s":1,"by":2,"dev":3,"l":4}}],"#,
        r#""metadata":{"version":"1.0","n":[1,null,true,2.5]}}"#
    );
    let (mix, metadata) = JsonReadOptions::default()
        .read_with_metadata(mix)
        .expect("readable");
    let mix: Ref<Mix> = mix.extract().expect("a Mix");
    assert_eq!((mix.i, mix.f, &mix.o), (5, 1e300, &Value::from(3)));
    assert_eq!(
        format!("{:?}", metadata.expect("there is some")),
        r#"{"version": "1.0", "n": [1, None, True, 2.5]}"#
    );
}

#[test]
fn members_and_nodes_come_in_any_order() {
    register::<Add>().expect("the type is consistent");
    register::<Var>().expect("the type is consistent");
    let nodes = concat!(
        r#"{"data":{"lhs":1,"rhs":2},"type":"gold.Add"},"#,
        r#"{"type":"gold.Add","data":{"rhs":3,"lhs":2}},"#,
        r#" { "data" : { "name" : 4 } , "type" : "gold.Var" } ,"#,
        r#"{"type":"ffi.Map","data":[4,2,3,2]},{"type":"ffi.String","data":"x"}"#
    );
    // Node 3 is a map with itself as a key, the rest is in order.
    refuse(
        &graph(0, nodes),
        ErrorKind::Value,
        "JSON graph: node 3 (ffi.Map): the node is part of itself",
    );
    let nodes = nodes.replace("[4,2,3,2]", "[4,2,2,2]");
    let text = format!("\n{{\"nodes\":[{nodes}],\t\"root_index\":0}}\r\n");
    let add: Ref<Add> = read(&text).expect("readable").extract().expect("an Add");
    let inner: Ref<Add> = add.lhs.extract().expect("an Add");
    let var: Ref<Var> = add.rhs.extract().expect("a Var");
    assert_eq!(inner.lhs, add.rhs);
    assert_eq!(&*var.name, "x");
    let map: Map = inner.rhs.extract().expect("a Map");
    assert_eq!(
        (map.get("x"), map.get(&add.rhs)),
        (Some(&add.rhs), Some(&add.rhs))
    );
}

#[test]
fn sharing_survives_and_equal_plain_values_share_a_node() {
    let long = "longer than fourteen bytes";
    let inner = Value::from([Value::from(long), long.into(), 7.into(), 7.into()]);
    let other = Value::from([Value::from(long), long.into(), 7.into(), 7.into()]);
    let shape = Value::from(Shape::from([1]));
    let root = Value::from([&inner, &inner, &other, &shape, &shape].map(Value::clone));
    let text = write(&root).expect("writable");
    assert_eq!(text.matches("longer").count(), 1);
    let again: Array = read(&text).expect("readable").extract().expect("an array");
    let item = |index: usize| again.get(index).expect("an element");
    assert_eq!(item(0), item(1));
    assert_ne!(item(0), item(2));
    assert_eq!(item(3), item(4));
}

#[test]
fn a_hundred_thousand_bits_are_no_problem_and_too_many_are_an_error() {
    let number = BigInt::from(3).pow(60_000);
    let text = write(number.clone()).expect("writable");
    assert_eq!(read(&text).expect("readable"), Value::from(-(-number)));
    let huge = write(BigInt::from(1) << 400_000).expect_err("too many digits");
    assert_eq!(huge.kind(), ErrorKind::Value);
    let digits = "1".repeat(100_001);
    for number in [digits.as_str(), "", "-", "+5", "5x"] {
        let text = graph(0, &format!(r#"{{"type":"ffi.BigInt","data":"{number}"}}"#));
        let error = read(&text).expect_err("no number");
        assert!(
            error.message().contains("1 to 100000 decimal digits"),
            "{error}"
        );
    }
}

#[test]
fn metadata_comes_back() {
    let nested: Value = [Value::from(f64::INFINITY), (-0.5).into(), i64::MIN.into()].into();
    let big = Value::from(BigInt::from(7).pow(40));
    let metadata: Map = [
        ("a \"key\"".into(), nested),
        ("big".into(), big),
        ("none".into(), Value::NONE),
        ("empty".into(), Map::<Value, Value>::new().into()),
        ("list".into(), List::<Value>::from(vec![true.into()]).into()),
    ]
    .into_iter()
    .collect();
    let options = JsonOptions::default().metadata(metadata.clone());
    let text = options.to_json_graph(1).expect("writable");
    let expected = concat!(
        r#"{"root_index":0,"nodes":[{"type":"int","data":1}],"metadata":{"a \"key\"":"#,
        r#"[Infinity,-0.5,-9223372036854775808],"big":6366805760909027985741435139224001,"#,
        r#""none":null,"empty":{},"list":[true]}}"#
    );
    assert_eq!(text, expected);
    let (value, again) = JsonReadOptions::default()
        .read_with_metadata(&text)
        .expect("readable");
    assert_eq!(value, 1.into());
    let rewritten = JsonOptions::default().metadata(again.expect("there is some"));
    assert_eq!(rewritten.to_json_graph(1).expect("writable"), text);
    let mut output = Vec::new();
    options.write(1, &mut output).expect("writable");
    assert_eq!(output, text.as_bytes());

    let none = JsonOptions::default().metadata(());
    let text = none.to_json_graph(1).expect("writable");
    let read = JsonReadOptions::default().read_with_metadata(&text);
    assert_eq!(read.expect("readable").1, Some(Value::NONE));
}

#[test]
fn unknown_fields_may_be_skipped() {
    register::<Var>().expect("the type is consistent");
    let nodes = concat!(
        r#"{"type":"ffi.String","data":"x"},"#,
        r#"{"type":"gold.Var","data":{"old":[1,{"a":null}],"name":0,"more":7},"note":"x"}"#
    );
    let text = graph(1, nodes).replacen('{', r#"{"version":2,"#, 1);
    assert!(read(&text).is_err());
    let options = JsonReadOptions::default().ignore_unknown_fields(true);
    let var = options.read(&text).expect("readable");
    assert_eq!(&*var.extract::<Ref<Var>>().expect("a Var").name, "x");
}

#[test]
fn missing_fields_take_their_defaults() {
    let index = register_type(
        TypeDef::new("it.json.Defaults")
            .field(FieldDef::new("n", Schema::Float).default_value(3))
            .field(
                FieldDef::new("made", Schema::List(Box::new(Schema::Any)))
                    .default_fn(|| List::<Value>::from(vec![1.into()]).into()),
            )
            .field(FieldDef::new("bad", Schema::Int).default_fn(|| "x".into())),
    )
    .expect("the type is consistent");
    let text = graph(0, r#"{"type":"it.json.Defaults","data":{"bad":1}}"#);
    let object: Ref<Obj> = read(&text).expect("readable").extract().expect("an object");
    assert_eq!(object.type_info().index(), index);
    assert_eq!(
        field_value(&object, "n").expect("a field"),
        Value::from(3.0)
    );
    assert_eq!(
        format!("{:?}", field_value(&object, "made").expect("a field")),
        "List[1]"
    );
    refuse(
        &graph(0, r#"{"type":"it.json.Defaults","data":{}}"#),
        ErrorKind::Type,
        "JSON graph: node 0 (it.json.Defaults): the default of field 'bad': expected int, got str",
    );
}

#[test]
fn containers_are_converted_once_and_stay_shared() {
    let floats = Schema::List(Box::new(Schema::Optional(Box::new(Schema::Float))));
    let pair = Schema::Dict(Box::new((Schema::Any, floats.clone())));
    register_type(
        TypeDef::new("it.json.Typed")
            .field(FieldDef::new("items", floats))
            .field(FieldDef::new("named", pair)),
    )
    .expect("the type is consistent");
    let nodes = concat!(
        r#"{"type":"int","data":1},{"type":"ffi.Array","data":[0,0]},"#,
        r#"{"type":"ffi.Map","data":[0,1]},"#,
        r#"{"type":"it.json.Typed","data":{"items":1,"named":2}},"#,
        r#"{"type":"it.json.Typed","data":{"items":1,"named":2}},"#,
        r#"{"type":"ffi.Array","data":[3,4]}"#
    );
    let both: Array<Ref<Obj>> = read(&graph(5, nodes))
        .expect("readable")
        .extract()
        .expect("two");
    let field = |index: usize, name| {
        field_value(both.get(index).expect("an object"), name).expect("a field")
    };
    assert_eq!(field(0, "items"), field(1, "items"));
    assert_eq!(format!("{:?}", field(0, "items")), "List[1.0, 1.0]");
    assert_eq!(field(0, "named"), field(1, "named"));
    assert_eq!(
        format!("{:?}", field(0, "named")),
        "Dict{1: List[1.0, 1.0]}"
    );
    let wrong = nodes.replace(r#""int","data":1"#, r#""ffi.String","data":"x""#);
    refuse(
        &graph(5, &wrong),
        ErrorKind::Type,
        "JSON graph: node 3 (it.json.Typed): field 'items': element [0]: expected float, got str",
    );
}

/// A large container in many typed fields must not be checked once per field.
#[test]
fn singletons_keep_their_identity() {
    let add = Op::new("add", ());
    let text =
        write([Value::from(add.clone()), Value::from(Op::new("mul", ()))]).expect("writable");
    let again: Array = read(&text).expect("readable").extract().expect("an array");
    assert_eq!(again.get(0), Some(&Value::from(&add)));
    let other = Op::new("add", "with a remark, which is not compared");
    assert_eq!(find_singleton(&other), Some(add.clone().into_object()));
    assert_eq!(find_singleton(&Op::new("never seen", ())), None);

    // Two with the same content are told apart by their order.
    let both = Value::from([Value::from(&other), Value::from(&add)]);
    let again: Array = read(&write(&both).expect("writable"))
        .expect("readable")
        .extract()
        .expect("an array");
    assert_eq!(again.get(0), Some(&Value::from(&other)));
    assert_eq!(again.get(1), Some(&Value::from(&add)));

    // A text written elsewhere yields new objects, and registers nothing.
    let text = text.replace("mul", "from a file");
    let first: Array = read(&text).expect("readable").extract().expect("an array");
    let second: Array = read(&text).expect("readable").extract().expect("an array");
    assert_ne!(first.get(1), second.get(1));
}

#[test]
fn registered_singletons_are_found_and_cannot_be_impersonated() {
    let op = Op::new("registered", ());
    register_singleton(&op).expect("nobody else has the content");
    register_singleton(&op).expect("the same object again");
    let impostor = Op::new("registered", ());
    let error = register_singleton(&impostor).expect_err("the content is taken");
    assert_eq!(
        error.message(),
        "it.json.Op: another singleton with the same content is registered: \
         it.json.Op(name=\"registered\", remark=None)"
    );
    assert_eq!(
        write(&impostor)
            .expect_err("would be read as another")
            .kind(),
        ErrorKind::Value
    );
    let text = write(&op).expect("writable");
    assert_eq!(read(&text).expect("readable"), Value::from(&op));
    let error = register_singleton(&Var::new("x")).expect_err("no singleton");
    assert_eq!(
        error.message(),
        "gold.Var: expected a type of kind singleton, got kind tree"
    );
}

#[test]
fn a_singleton_of_singletons_is_found_and_a_huge_one_is_not() {
    let index = register_type(
        TypeDef::new("it.json.Group")
            .kind(Kind::Singleton)
            .field(FieldDef::new("members", Schema::Any)),
    )
    .expect("the type is consistent");
    let group = |members: Vec<Value>| construct(index, vec![members.into()]).expect("a group");
    let ops: Vec<Value> = ["a", "b"].map(|name| Op::new(name, ()).into()).to_vec();
    let small = group(ops);
    let text = write(&small).expect("writable");
    assert_eq!(read(&text).expect("readable"), Value::from(&small));
    let large = group((0..300).map(Value::from).collect());
    let text = write(&large).expect("writable");
    assert_ne!(read(&text).expect("readable"), Value::from(&large));
    let error = register_singleton(&large).expect_err("too large");
    assert_eq!(
        error.message(),
        "it.json.Group: the content of a singleton has more than 256 parts"
    );
}

#[test]
fn hooks_decide_what_stands_in_the_text() {
    let key = "it.json.Color";
    let color = TypeDef::new(key)
        .field(FieldDef::new("code", Schema::Int))
        .hook(DynToJson::new(|object| {
            Ok(match field_value(object, "code")?.as_int() {
                Some(7) => Value::from(Function::new(|_| Ok(Value::NONE))),
                Some(8) => return Err(isoform::Error::value_error("no such color")),
                code => [Value::from("color"), code.into()].into(),
            })
        }))
        .hook(DynFromJson::new(move |data| {
            let parts: Array = data.extract()?;
            let code = parts.get(1).cloned().unwrap_or_default();
            if code == 99.into() {
                return Ok(int(1).into_object());
            }
            let index = find_type("it.json.Color").expect("registered").index();
            construct(index, vec![code])
        }));
    let index = register_type(color).expect("the type is consistent");
    let make = |code: i64| Value::from(construct(index, vec![code.into()]).expect("a color"));
    let red = make(1);
    check(
        [red.clone(), red],
        concat!(
            r#"{"type":"it.json.Color","data":["color",1]},"#,
            r#"{"type":"ffi.Array","data":[0,0]}"#
        ),
    );
    let error = write([make(7)]).expect_err("a function is no data");
    assert_eq!(error.path().expect("there is one").to_string(), "<root>[0]");
    assert_eq!(
        write(make(8)).expect_err("the hook fails").message(),
        "no such color"
    );
    let text = |data: &str| graph(0, &format!(r#"{{"type":"{key}","data":{data}}}"#));
    refuse(
        &text(r#"["color",99]"#),
        ErrorKind::Type,
        "JSON graph: node 0 (it.json.Color): the hook gave an object of it.Int",
    );
    // An error of a hook about the data names the node.
    refuse(
        &text("1"),
        ErrorKind::Type,
        "JSON graph: node 0 (it.json.Color): expected Array[Any], got int",
    );
    let again = TypeDef::new(key).field(FieldDef::new("code", Schema::Int));
    let error = register_type(again).expect_err("another definition");
    assert!(
        error
            .message()
            .ends_with("the hook __data_to_json__ differs"),
        "{error}"
    );
}

#[test]
fn fields_of_none_and_of_tuples_have_the_texts_of_the_format() {
    let tuple = Schema::Tuple(Box::new([Schema::Int, Schema::Str, Schema::Float]));
    let index = register_type(
        TypeDef::new("it.json.Typed2")
            .field(FieldDef::new("n", Schema::None))
            .field(FieldDef::new("i", Schema::Int))
            .field(FieldDef::new("t", tuple)),
    )
    .expect("the type is consistent");
    let items = Value::from([Value::from(1), "a".into(), Value::from(2.0)]);
    let object = construct(index, vec![Value::NONE, 1.into(), items]).expect("an object");
    let nodes = concat!(
        r#"{"type":"None"},{"type":"int","data":1},{"type":"ffi.String","data":"a"},"#,
        r#"{"type":"float","data":2.0},{"type":"ffi.Array","data":[1,2,3]},"#,
        r#"{"type":"it.json.Typed2","data":{"n":0,"i":1,"t":4}}"#
    );
    check(object, nodes);
    let converted = nodes.replace(r#""float","data":2.0"#, r#""int","data":2"#);
    let converted = converted.replace("ffi.Array", "ffi.List");
    let again = read(&graph(5, &converted)).expect("readable");
    assert_eq!(write(again).expect("writable"), graph(5, nodes));
    refuse(
        &graph(5, &nodes.replace("[1,2,3]", "[1,2]")),
        ErrorKind::Type,
        "JSON graph: node 5 (it.json.Typed2): field 't': \
         expected tuple[int, str, float], got Array",
    );
    refuse(
        &graph(5, &nodes.replace("[1,2,3]", "[1,1,3]")),
        ErrorKind::Type,
        "JSON graph: node 5 (it.json.Typed2): field 't': element [1]: expected str, got int",
    );
    let literal = read(&graph(5, &nodes.replace(r#""n":0"#, r#""n":null"#)));
    assert_eq!(
        write(literal.expect("readable")).expect("writable"),
        graph(5, nodes)
    );
}

#[test]
fn cycles_are_refused_in_both_directions() {
    let list = List::<Value>::new();
    list.push([Value::from(list.clone())].into()).unwrap();
    let value = Value::from(list.clone());
    let message = "cyclic value: the List contains itself";
    assert_eq!(write(&value).expect_err("cyclic").message(), message);
    assert_eq!(to_bytes(&value).expect_err("cyclic").message(), message);
    // Break the cycle to free the memory.
    list.clear();
    refuse(
        &graph(0, r#"{"type":"ffi.Array","data":[0]}"#),
        ErrorKind::Value,
        "JSON graph: node 0 (ffi.Array): the node is part of itself",
    );
}

#[test]
fn floats_keep_their_type_and_functions_are_named_with_their_path() {
    let tensor = Tensor::new("int8".parse().expect("a dtype"), vec![2], vec![1, 2]);
    let values = Value::from([
        Value::from(1e16),
        tensor.expect("a tensor").into(),
        1.into(),
    ]);
    let again = read(&write(&values).expect("writable")).expect("readable");
    assert!(structural_equal(&again, &values).expect("comparable"));
    let function = Value::from([Function::new(|_| Ok(Value::NONE))]);
    let error = write(&function).expect_err("nothing could read it");
    assert_eq!(error.path().expect("there is one").to_string(), "<root>[0]");
}
