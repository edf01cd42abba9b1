//! `repr`: the full text of values.

use isoform::functions::Function;
use isoform::objects::{REPEATED_LENGTH, ReprHooks, ReprOptions, construct, repr};
use isoform::types::{FieldDef, Schema, TypeDef, register_type};
use isoform::values::{Bytes, Dict, List, Shape, Tensor};
use isoform::{Array, Map, Obj, Ref, Result, Value};

use crate::support::{Expr, Link, add, doubled, int, scaled};

#[track_caller]
fn check(value: impl Into<Value>, expected: &str) {
    assert_eq!(repr(value), expected);
}

#[test]
fn plain_values() {
    check(Value::NONE, "None");
    check(true, "True");
    check(-5, "-5");
    check(i128::MAX, "170141183460469231731687303715884105727");
    check(isoform::values::DType::FLOAT32, "float32");
    check(
        "cuda:1".parse::<isoform::values::Device>().unwrap(),
        "cuda:1",
    );
    check(Shape::from([1, 2]), "Shape(1, 2)");
    let tensor = Tensor::new(isoform::values::DType::FLOAT32, vec![1, 1], vec![0u8; 4]).unwrap();
    check(tensor, "float32[1, 1]@cpu:0");
    let function = Function::new(|_| Ok(Value::NONE));
    check(function.named("f"), "Function(f)");
    check(function, "Function");
    check(Value::opaque(5u8), "<u8>");
}

#[test]
fn floats_are_exact_and_spelled_as_in_python() {
    for (number, text) in [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e20, "1e+20"),
        (1e-7, "1e-07"),
        (5e-324, "5e-324"),
        (1.5e300, "1.5e+300"),
        (f64::NAN, "nan"),
        (f64::INFINITY, "inf"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        check(number, text);
    }
}

#[test]
fn strings_and_bytes_are_escaped() {
    check("a'b\"c\\d\n\r\t", r#""a'b\"c\\d\n\r\t""#);
    check("é日\u{200b}\u{7f}\0", "\"é日\\u200b\\x7f\\x00\"");
    check("\u{e0001}", "\"\\U000e0001\"");
    check(
        Bytes::from(b"a'\"\\\n\x00\xff".to_vec()),
        r#"b"a'\"\\\n\x00\xff""#,
    );
}

#[test]
fn containers() {
    check(Vec::<Value>::new(), "()");
    check([1], "(1,)");
    check([1, 2], "(1, 2)");
    check(List::from(vec![1i64]), "[1]");
    check(List::<Value>::new(), "[]");
    let map: Map = [("k".into(), 1.into()), (2.into(), Value::NONE)]
        .into_iter()
        .collect();
    check(map, "{\"k\": 1, 2: None}");
    check(Dict::<Value, Value>::new(), "{}");
}

#[test]
fn objects_and_hidden_fields() {
    check(Link::new(Value::from([1.5])), "it.Link(next=(1.5,))");
    let ty = register_type(
        TypeDef::new("repr.Hidden")
            .field(FieldDef::new("a", Schema::Any).repr(false))
            .field(FieldDef::new("b", Schema::Any))
            .field(FieldDef::new("c", Schema::Any).repr(false))
            .field(FieldDef::new("d", Schema::Any)),
    )
    .unwrap();
    let object = construct(ty, (1..=4).map(Value::from).collect()).unwrap();
    check(object, "repr.Hidden(b=2, d=4)");
}

#[test]
fn cycles_are_cut() {
    let list: List = List::from(vec![Value::from(1)]);
    list.push(list.clone().into()).unwrap();
    check(list.clone(), "[1, ...]");
    check(Link::new(list.clone()), "it.Link(next=[1, ...])");
    list.clear();
}

#[test]
fn small_shared_objects_are_repeated_and_large_ones_referred_to() {
    let small = Link::new(1);
    check(
        [Value::from(&small), small.into()],
        "(it.Link(next=1), it.Link(next=1))",
    );
    let large = Link::new("x".repeat(REPEATED_LENGTH));
    let text = format!("it.Link(next=\"{}\")", "x".repeat(REPEATED_LENGTH));
    check(
        [
            Value::from(&large),
            5.into(),
            Value::from(&large),
            large.into(),
        ],
        &format!("(#1={text}, 5, #1#, #1#)"),
    );
}

#[test]
fn the_text_is_linear_in_the_number_of_objects() {
    let text = |levels| repr(doubled(levels)).len();
    assert!(text(60) < 60 * (2 * REPEATED_LENGTH + 60));
    assert!(text(120) < 2 * text(60) + 600);
    let length = scaled(300_000);
    let deep = (0..length).fold(Value::from(1), |next, _| Link::new(next).into());
    assert_eq!(repr(&deep).len(), "it.Link(next=)".len() * length + 1);
}

#[test]
fn text_may_be_cut_short() {
    let cut = |value: &Value, options: ReprOptions| options.repr(value, &()).unwrap();
    let value = Value::from([Value::from([1, 2]), Link::new(3).into(), "é".into()]);
    let depth = |limit| cut(&value, ReprOptions::default().max_depth(limit));
    assert_eq!(depth(0), "...");
    assert_eq!(depth(1), "(..., ..., \"é\")");
    assert_eq!(depth(2), repr(&value));
    let full = repr(&value);
    for limit in 0..full.len() + 3 {
        let text = cut(&value, ReprOptions::default().max_length(limit));
        let kept = text.strip_suffix("...").filter(|_| limit < full.len());
        assert_eq!(kept.is_some(), limit < full.len(), "{text}");
        assert!(kept.is_none_or(|kept| full.starts_with(kept) && kept.len() <= limit));
        assert!(kept.is_some() || text == full);
    }
}

struct Short;

impl ReprHooks for Short {
    fn repr(&self, object: &Ref<Obj>) -> Option<Result<String>> {
        object.downcast_ref::<Expr>()?;
        Some(Ok("expr".to_string()))
    }
}

#[test]
fn types_may_have_a_text_of_their_own() {
    let value = Value::from([Value::from(add(int(1), int(2))), Link::new(3).into()]);
    let text = ReprOptions::default().repr(&value, &Short).unwrap();
    assert_eq!(text, "(expr, it.Link(next=3))");
    assert_eq!(repr(Array::<Value>::new()), "()");
}
