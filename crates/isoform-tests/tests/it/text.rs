//! Text for people: the spelling and layout of values, and reading them again.

use isoform::functions::{Function, register_function};
use isoform::hooks::{DynFromJson, DynToJson};
use isoform::objects::{construct, field_value};
use isoform::text::{TensorText, TextOptions, from_text, to_text};
use isoform::types::{
    FieldDef, FieldFlag, Kind, Schema, TEXT_NAME, TypeDef, find_type, register_singleton,
    register_type,
};
use isoform::values::{Bytes, DType, DTypeCode, Device, Dict, List, Shape, Tensor};
use isoform::{
    Array, Map, Node, Obj, Ref, Result, Str, Value, structural_digest, structural_equal,
};
use num_bigint::BigInt;

use crate::support::{chain, doubled, int, scaled};

mod layout;
mod limited;
mod mismatch;
mod omitted;
mod refused;
mod scopes;
mod structural;

/// A variable with a type.
#[derive(Node)]
#[node(key = "tx.Var", kind = var)]
#[repr(C)]
pub(crate) struct Var {
    #[node(ignore)]
    name_hint: Str,
    #[node(default)]
    ty: Value,
}

/// An operator.
#[derive(Node)]
#[node(key = "tx.Op", kind = singleton)]
#[repr(C)]
pub(crate) struct Op {
    name: Str,
}

/// A call, which is a node of a graph.
#[derive(Node)]
#[node(key = "tx.Call", kind = dag)]
#[repr(C)]
pub(crate) struct Call {
    op: Ref<Obj>,
    args: Array<Value>,
    #[node(default)]
    attrs: Map<Value, Value>,
    #[node(ignore, default)]
    span: Value,
}

/// A constant.
#[derive(Node)]
#[node(key = "tx.Constant")]
#[repr(C)]
pub(crate) struct Constant {
    data: Tensor,
}

/// A function.
#[derive(Node)]
#[node(key = "tx.Function", scope, kind = dag)]
#[repr(C)]
pub(crate) struct Func {
    body: Value,
    #[node(def)]
    params: Array<Ref<Var>>,
}

/// A binding of a variable.
#[derive(Node)]
#[node(key = "tx.Let")]
#[repr(C)]
pub(crate) struct Let {
    value: Value,
    #[node(def_simple)]
    target: Ref<Var>,
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn call(op: &Ref<Op>, args: &[Value]) -> Ref<Call> {
    Call::new(op.as_object(), args.iter().cloned().collect::<Array>())
}

fn text_of(value: impl Into<Value>) -> String {
    to_text(value).expect("the value has a text")
}

/// Checks the text of the value, and that the text is read to this value.
#[track_caller]
pub(crate) fn check(value: impl Into<Value>, expected: &str) -> Value {
    let value = value.into();
    let text = text_of(&value);
    assert_eq!(text, expected);
    check_round_trip(&value, &TextOptions::default())
}

/// Checks that the value read from the text is equal, has the same digest if defined,
/// and has the same text again.
#[track_caller]
pub(crate) fn check_round_trip(value: &Value, options: &TextOptions) -> Value {
    let text = options.to_text(value).expect("the value has a text");
    let read = from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // Free variables, and objects as keys, equal only themselves.
    if let Ok(digest) = structural_digest(value) {
        let equal = structural_equal(&read, value).expect("comparable");
        assert!(equal, "{read:?}\n{text}");
        assert_eq!(structural_digest(&read).expect("a digest"), digest);
    }
    assert_eq!(options.to_text(&read).expect("a text"), text);
    read
}

/// Checks that the text is read to a value with another text.
#[track_caller]
fn check_read(text: &str, expected: &str) {
    let value = from_text(text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(text_of(value), expected);
}

#[test]
fn plain_values_have_texts() {
    check((), "None\n");
    check(true, "True\n");
    check(-5, "-5\n");
    check(i64::MIN, "-9223372036854775808\n");
    check(BigInt::from(2).pow(70), "1180591620717411303424\n");
    check(-BigInt::from(2).pow(64), "-18446744073709551616\n");
    check(1.0, "1.0\n");
    check(-0.0, "-0.0\n");
    check(0.1, "0.1\n");
    check(1e300, "1e+300\n");
    check(f64::NAN, "nan\n");
    check(f64::INFINITY, "inf\n");
    check(f64::NEG_INFINITY, "-inf\n");
    check(f64::from_bits(1), "5e-324\n");
    check("", "\"\"\n");
    check(
        "a\"\\\n\t\r\0é\u{7f}\u{202e}",
        "\"a\\\"\\\\\\n\\t\\r\\x00é\\x7f\\u202e\"\n",
    );
    check(&b"ab\"\\\n\xff"[..], "b\"ab\\\"\\\\\\n\\xff\"\n");
    check(DType::FLOAT32.with_lanes(4), "float32x4\n");
    check(DType::BOOL, "bool\n");
    check(DType::new(DTypeCode::Handle, 0).with_lanes(0), "void\n");
    check(Device::new(2, 1), "device(\"cuda:1\")\n");
    check(Device::new(99, 3), "device(\"device99:3\")\n");
    check(Shape::from(vec![1, -2]), "Shape[1, -2]\n");
    check(Shape::from(Vec::new()), "Shape[]\n");
}

#[test]
fn integers_of_any_size_are_exact() {
    let huge: BigInt = BigInt::from(7).pow(100_000);
    let text = text_of(huge.clone());
    assert!(text.starts_with("0x"));
    assert_eq!(
        from_text(&text).expect("a number"),
        Value::from(huge.clone())
    );
    check_round_trip(&Value::from(-huge), &TextOptions::default());
    check_read("-0x10", "-16\n");
}

#[test]
fn containers_have_texts() {
    check(Array::<i64>::from(vec![1, 2]), "[1, 2]\n");
    check(Array::<i64>::new(), "[]\n");
    check(List::<i64>::from(vec![1, 2]), "List[1, 2]\n");
    check(List::<i64>::new(), "List[]\n");
    let entries = [("a", 1), ("b", 2)];
    let map: Map<Str, i64> = entries.iter().map(|&(k, v)| (k.into(), v)).collect();
    check(map, "{\"a\": 1, \"b\": 2}\n");
    let dict: Dict = [(Value::from(1.5), Value::NONE)].into_iter().collect();
    check(dict, "Dict{1.5: None}\n");
    check(Map::<Value, Value>::new(), "{}\n");
    let key = Value::from(var("k"));
    let map: Map = [(key.clone(), 1.into()), (Value::from([1, 2]), key)]
        .into_iter()
        .collect();
    check(map, "%k = tx.Var()\n{%k: 1, [1, 2]: %k}\n");
}

#[test]
fn sharing_is_kept() {
    let list = Value::from(List::<i64>::from(vec![1]));
    let read = check([list.clone(), list], "%0 = List[1]\n[%0, %0]\n");
    let items: Array<List> = read.extract().expect("lists");
    assert!(items.get(0).unwrap().same_as(items.get(1).unwrap()));
    let shape = Value::from(Shape::from(vec![2]));
    check([shape.clone(), shape], "%0 = Shape[2]\n[%0, %0]\n");
    // Long texts are written once.
    let long = Value::from("x".repeat(70));
    let expected = format!("%0 = \"{}\"\n[%0, %0]\n", "x".repeat(70));
    check([long.clone(), long], &expected);
}

#[test]
fn tensors_have_texts() {
    let data: Vec<u8> = [1.0f32, -0.5, f32::INFINITY, 1e-40]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let tensor = Tensor::new(DType::FLOAT32, vec![2, 2], data).expect("a tensor");
    check(tensor, "Tensor(float32, [2, 2], [1.0, -0.5, inf, 1e-40])\n");
    let payload = f32::from_bits(0x7fc0_0001).to_le_bytes().to_vec();
    let tensor = Tensor::new(DType::FLOAT32, vec![], payload).expect("a tensor");
    check(tensor, "Tensor(float32, [], b64\"AQDAfw==\")\n");
    let half = DType::new(DTypeCode::Float, 16);
    let tensor = Tensor::new(half, vec![1], vec![0, 60]).expect("a tensor");
    check(tensor, "Tensor(float16, [1], b64\"ADw=\")\n");
    let bools = Tensor::new(DType::BOOL, vec![2], vec![1, 0]).expect("a tensor");
    check(bools, "Tensor(bool, [2], [True, False])\n");
    let wide = Tensor::new(
        DType::new(DTypeCode::UInt, 64),
        vec![1],
        u64::MAX.to_le_bytes().to_vec(),
    );
    check(
        wide.expect("a tensor"),
        "Tensor(uint64, [1], [18446744073709551615])\n",
    );
}

#[test]
fn large_tensors_stand_behind_the_text() {
    let tensor = Tensor::new(DType::new(DTypeCode::Int, 8), vec![129], vec![1; 129]);
    let tensor = tensor.expect("a tensor");
    let node = Value::from(Constant::new(tensor));
    let value = Value::from([node.clone(), node]);
    let text = text_of(&value);
    assert!(
        text.starts_with(
            "%0 = tx.Constant(data=#0)\n[%0, %0]\n\n// metadata\n#0 = Tensor(int8, [129], b64\"AQEB"
        ),
        "{text}"
    );
    check_round_trip(&value, &TextOptions::default());
    let inline = TextOptions::default().tensors(TensorText::Inline);
    assert!(!inline.to_text(&value).expect("a text").contains('#'));
    check_round_trip(&value, &inline);
    let without = TextOptions::default()
        .metadata(false)
        .to_text(&value)
        .expect("a text");
    assert_eq!(without, "%0 = tx.Constant(data=#0)\n[%0, %0]\n");
    let error = from_text(&without).expect_err("without its constants");
    assert!(
        error
            .message()
            .contains("#0 is not defined: the section with the constants is missing"),
        "{error}"
    );
    let short = TextOptions::default().tensors(TensorText::Abbreviated);
    let short = short.to_text(&value).expect("a text");
    assert!(short.contains("Tensor(int8, [129], ...)"), "{short}");
    let error = from_text(&short).expect_err("without its elements");
    assert!(error.message().contains("were left out"), "{error}");
}

#[test]
fn functions_are_found_by_name() {
    let function = Function::new(|_| Ok(Value::NONE)).named("it.text.f");
    register_function("it.text.f", function.clone(), true).expect("registered");
    let read = check(function.clone(), "func(\"it.text.f\")\n");
    assert_eq!(read, Value::from(function));
    let other = Function::new(|_| Ok(Value::NONE)).named("it.text.f");
    let error = to_text([Value::from(other)]);
    let error = error.expect_err("another function of the name");
    assert_eq!(
        error.to_string(),
        "TypeError: expected a function that is registered under its name, got 'it.text.f', \
         which is registered under no global name (at <root>[0])"
    );
    let placeholders = TextOptions::default().placeholders(true);
    let nameless = Value::from(Function::new(|_| Ok(Value::NONE)));
    assert_eq!(
        placeholders.to_text(&nameless).expect("a text"),
        "<Function>\n"
    );
}

#[test]
fn singletons_are_found_again() {
    let add = Op::new("it.text.add");
    register_singleton(&add).expect("registered");
    let value = Value::from([Value::from(&add), Value::from(Op::new("free"))]);
    let read = check(
        value,
        "@it.text.add = tx.Op()\n@free = tx.Op()\n[@it.text.add, @free]\n",
    );
    let items: Array<Value> = read.extract().expect("an array");
    assert_eq!(items.get(0), Some(&Value::from(add)));
}

#[test]
fn names_come_from_the_hint_and_are_unique() {
    let vars = ["x", "x", "x_1", "", "1 a", "é"].map(var);
    let values: Vec<Value> = vars.iter().flat_map(|v| [v.into(), v.into()]).collect();
    check(
        Array::<Value>::from(values),
        "%x = tx.Var()\n%x_1 = tx.Var(name_hint=\"x\")\n%x_1_1 = tx.Var(name_hint=\"x_1\")\n\
         %0 = tx.Var(name_hint=\"\")\n%_1_a = tx.Var(name_hint=\"1 a\")\n%é = tx.Var()\n\
         [%x, %x, %x_1, %x_1, %x_1_1, %x_1_1, %0, %0, %_1_a, %_1_a, %é, %é]\n",
    );
}

#[test]
fn an_attribute_chooses_the_name() {
    let ty = register_type(
        TypeDef::new("it.text.Named")
            .field(FieldDef::new("name", Schema::Str).default_value("n"))
            .field(FieldDef::new("label", Schema::Str).flag(FieldFlag::Ignore))
            .attr(TEXT_NAME, "label"),
    );
    let ty = ty.expect("a new type");
    let below = register_type(TypeDef::new("it.text.NamedToo").parent(ty)).expect("a new type");
    let nameless = TypeDef::new("it.text.Nameless")
        .parent(ty)
        .attr(TEXT_NAME, "");
    let nameless = register_type(nameless).expect("a new type");
    let make = |ty| Value::from(construct(ty, vec!["n".into(), "l".into()]).expect("a node"));
    let values: Vec<Value> = [ty, below, nameless]
        .into_iter()
        .flat_map(|ty| std::iter::repeat_n(make(ty), 2))
        .collect();
    check(
        Array::<Value>::from(values),
        "%l = it.text.Named()\n%l_1 = it.text.NamedToo(label=\"l\")\n\
         %0 = it.text.Nameless(label=\"l\")\n[%l, %l, %l_1, %l_1, %0, %0]\n",
    );
}

#[test]
fn the_attribute_of_names_is_declared() {
    let info = isoform::attrs::info(TEXT_NAME).expect("declared");
    assert!(info.doc.contains("names objects in text"), "{}", info.doc);
    let ty = TypeDef::new("it.text.BadName").attr(TEXT_NAME, 1);
    let error = register_type(ty).expect_err("no str");
    assert!(error.message().contains("expected str, got int"), "{error}");
}

#[test]
fn functions_hold_their_lines() {
    let (x, y) = (var("x"), var("y"));
    let op = Op::new("it.text.mul");
    let product = call(&op, &[(&x).into(), (&y).into()]);
    let square = call(&op, &[(&product).into(), (&product).into()]);
    let func = Func::new(&square, [x.clone(), y.clone()]);
    check(
        &func,
        "@it.text.mul = tx.Op()\n\
         tx.Function(\n  params=[%x: tx.Var(), %y: tx.Var()],\n  \
         %0 = tx.Call(op=@it.text.mul, args=[%x, %y]),\n  \
         %1 = tx.Call(op=@it.text.mul, args=[%0, %0]),\n  body=%1,\n)\n",
    );
    // Parts shared by two functions come before both, and so do their variables.
    let other = Func::new(&product, [y]);
    check(
        [Value::from(&func), other.into()],
        "@it.text.mul = tx.Op()\n%x = tx.Var()\n%y = tx.Var()\n\
         %0 = tx.Call(op=@it.text.mul, args=[%x, %y])\n\
         [\n  tx.Function(\n    params=[%x, %y],\n    \
         %1 = tx.Call(op=@it.text.mul, args=[%0, %0]),\n    body=%1,\n  ),\n  \
         tx.Function(body=%0, params=[%y]),\n]\n"
            .replace(
                "tx.Function(body=%0, params=[%y])",
                "tx.Function(params=[%y], body=%0)",
            )
            .as_str(),
    );
}

#[test]
fn statements_define_their_targets() {
    let (a, b) = (var("a"), var("b"));
    let first = Let::new(1, &a);
    let second = Let::new(&a, &b);
    check(
        [Value::from(first), second.into(), b.into()],
        "[tx.Let(value=1, target=%a: tx.Var()), tx.Let(value=%a, target=%b: tx.Var()), %b]\n",
    );
    // A shared node comes before the statement that defines its variable, and the
    // variable does, too.
    let shared = Value::from(int(7));
    let pair = Value::from([Value::from(&a), shared]);
    let value = Value::from([Value::from(Let::new(1, &a)), pair.clone(), pair]);
    check_round_trip(&value, &TextOptions::default());
}

#[test]
fn types_of_run_time_have_texts() -> Result<()> {
    let ty = register_type(
        TypeDef::new("it text/\"odd\"")
            .field(FieldDef::new("a field", Schema::Int).mutable(true))
            .field(FieldDef::new("b", Schema::Any).default_value(5))
            .field(FieldDef::new("c", Schema::Any).default_fn(|| List::<Value>::new().into())),
    )?;
    let empty = Value::from(List::<Value>::new());
    let node = construct(ty, vec![1.into(), 5.into(), empty.clone()])?;
    check(node, "\"it text/\\\"odd\\\"\"(\"a field\"=1)\n");
    let other = construct(ty, vec![1.into(), 6.into(), empty.clone()])?;
    // A container that also occurs elsewhere differs from the container of the default.
    check(
        [Value::from(other), empty],
        "%0 = List[]\n[\"it text/\\\"odd\\\"\"(\"a field\"=1, b=6, c=%0), %0]\n",
    );
    for key in [
        "Tensor", "device", "func", "float32", "None", "List", "Dict",
    ] {
        let ty = register_type(TypeDef::new(key).field(FieldDef::new("x", Schema::Any)))?;
        let node = construct(ty, vec![Value::NONE])?;
        check_round_trip(&node.into(), &TextOptions::default());
    }
    Ok(())
}

#[test]
fn defaults_that_differ_each_time_are_printed() -> Result<()> {
    let counter = std::sync::atomic::AtomicI64::new(0);
    let next = move || {
        counter
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            .into()
    };
    let ty = register_type(
        TypeDef::new("it.text.Counted").field(FieldDef::new("n", Schema::Int).default_fn(next)),
    )?;
    check(construct(ty, vec![0.into()])?, "it.text.Counted(n=0)\n");
    Ok(())
}

#[test]
fn hooks_give_data() -> Result<()> {
    let ty = TypeDef::new("it.text.Celsius")
        .field(FieldDef::new("degrees", Schema::Any))
        .hook(DynToJson::new(|object| field_value(object, "degrees")))
        .hook(DynFromJson::new(|data| {
            let index = find_type("it.text.Celsius").expect("registered").index();
            construct(index, vec![data.clone()])
        }));
    let ty = register_type(ty)?;
    let node = Value::from(construct(ty, vec![21.into()])?);
    check([node.clone(), node], "%0 = it.text.Celsius!21\n[%0, %0]\n");
    let data = Value::from([Value::from("a\n"), true.into(), Value::NONE]);
    check(
        construct(ty, vec![data])?,
        "it.text.Celsius![\"a\\n\",true,null]\n",
    );
    Ok(())
}

#[test]
fn what_is_deep_is_short() {
    let length = scaled(1_000_000);
    let head = Value::from(chain(length));
    let text = text_of(&head);
    assert!(text.len() < length * 60, "{}", text.len());
    let longest = text.lines().map(str::len).max();
    assert!(longest < Some(200), "{longest:?}");
    let read = from_text(&text).expect("a chain");
    assert!(structural_equal(&read, &head).expect("comparable"));
    check_round_trip(&doubled(scaled(100_000)).into(), &TextOptions::default());
    // Nested scopes, and variables in the types of variables.
    let mut func = Func::new(1, [var("x")]);
    let mut ty = Value::NONE;
    for _ in 0..scaled(20_000) {
        ty = Value::from(Var::typed("t", ty));
        func = Func::new(&func, [var("x")]);
    }
    for value in [
        Value::from(&func),
        ty.clone(),
        Func::new(1, [Var::typed("x", ty)]).into(),
    ] {
        let text = text_of(&value);
        let longest = text.lines().max_by_key(|line| line.len());
        let longest = longest.expect("a line");
        assert!(longest.len() < 300, "{longest}");
        check_round_trip(&value, &TextOptions::default());
    }
    let mut nested = Value::NONE;
    for _ in 0..scaled(300_000) {
        nested = Value::from([nested]);
    }
    check_round_trip(&nested, &TextOptions::default());
}

impl Var {
    fn typed(name: &str, ty: impl Into<Value>) -> Ref<Var> {
        Ref::new(Var {
            name_hint: name.into(),
            ty: ty.into(),
        })
    }
}

#[test]
fn bytes_are_bytes() {
    let every: Vec<u8> = (0..=255).collect();
    check_round_trip(&Bytes::from(every).into(), &TextOptions::default());
    let every: String = ('\0'..='\u{2ff}').collect();
    check_round_trip(&every.as_str().into(), &TextOptions::default());
}

#[test]
fn kinds_have_their_texts() -> Result<()> {
    for (kind, name) in Kind::ALL {
        if kind == Kind::None {
            continue;
        }
        let key = format!("it.text.kind.{name}");
        let ty = TypeDef::new(&key)
            .kind(kind)
            .field(FieldDef::new("x", Schema::Any));
        let node = Value::from(construct(register_type(ty)?, vec![1.into()])?);
        let value = Value::from([node.clone(), node.clone()]);
        let text = text_of(&value);
        let read = from_text(&text)?;
        assert_eq!(text_of(read), text);
        assert_eq!(text.matches("(x=1)").count(), 1, "{text}");
        text_of(node);
    }
    Ok(())
}
