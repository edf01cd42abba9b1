//! Digests: golden values of the format, and values without a portable name.

use isoform::compare::{CompareOptions, Digest};
use isoform::errors::ErrorKind;
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::values::{DType, Dict, List, Shape, Tensor};
use isoform::{
    Array, Map, Node, Ref, Result, Str, Value, structural_digest, structural_equal, structural_hash,
};

/// A variable.
#[derive(Node)]
#[node(key = "digest.Var", kind = var)]
#[repr(C)]
struct Var {
    #[node(ignore)]
    name: Str,
    ty: Value,
}

/// A function that ends its bindings.
#[derive(Node)]
#[node(key = "digest.Fun", scope)]
#[repr(C)]
struct Fun {
    body: Value,
    #[node(def)]
    params: Array<Ref<Var>>,
}

/// A node whose sharing matters.
#[derive(Node)]
#[node(key = "digest.Call", kind = dag)]
#[repr(C)]
struct Call {
    op: Str,
    args: Array,
}

/// One object per name.
#[derive(Node)]
#[node(key = "digest.Op", kind = singleton)]
#[repr(C)]
struct Op {
    name: Str,
}

/// Fields of every storage kind.
#[derive(Node)]
#[node(key = "digest.Fields")]
#[repr(C)]
struct Fields {
    flag: bool,
    int: i64,
    float: f64,
    text: Str,
    dtype: DType,
    child: Option<Ref<Op>>,
    any: Value,
}

/// A scope without parts.
#[derive(Node)]
#[node(key = "digest.Mark", scope)]
#[repr(C)]
struct Mark {
    number: i64,
}

/// A node with a custom hash of its part.
#[derive(Node)]
#[node(key = "digest.Hashed", hooks(equal, hash))]
#[repr(C)]
struct Hashed {
    part: Ref<Call>,
}

impl StructuralEqual for Hashed {
    fn s_equal(&self, other: &Self, eq: &mut dyn EqualCallback) -> Result<bool> {
        eq.equal(&Value::from(&self.part), &Value::from(&other.part), "part")
    }
}

impl StructuralHash for Hashed {
    fn s_hash(&self, init: u64, hash: &mut dyn HashCallback) -> Result<u64> {
        hash.hash(&Value::from(&self.part), init)
    }
}

fn identity(ty: Value) -> Ref<Fun> {
    let x = Var::new("x", ty);
    Fun::new(&x, [x.clone()])
}

fn golden_cases() -> Vec<(&'static str, Value)> {
    let floats: Vec<u8> = [1.5f32, f32::NAN]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let tensor = Tensor::new(DType::FLOAT32, vec![2], floats).expect("two floats");
    let shared = Call::new("f", Array::from(vec![Value::from(1)]));
    let map: Map = [("k".into(), 1.into()), (2.into(), "v".into())]
        .into_iter()
        .collect();
    vec![
        ("none", Value::NONE),
        ("bool", true.into()),
        ("int", (-7).into()),
        ("bigint", i128::MAX.into()),
        ("float", 0.5.into()),
        ("short", "short".into()),
        ("long", "a string of more than fourteen bytes".into()),
        ("bytes", (&b"bytes"[..]).into()),
        (
            "dtype",
            "float8_e4m3fn".parse::<DType>().expect("a dtype").into(),
        ),
        ("array", [1, 2].into()),
        ("list", List::from(vec![1i64, 2]).into()),
        ("map", map.clone().into()),
        (
            "dict",
            map.iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect::<Dict>()
                .into(),
        ),
        ("shape", Shape::from([2, 3]).into()),
        ("tensor", tensor.into()),
        (
            "fields",
            Fields::new(true, 1, 2.0, "t", DType::INT32, Op::new("add"), 3).into(),
        ),
        ("identity", identity("t".into()).into()),
        (
            "nested",
            Fun::new(identity(1.into()), [Var::new("y", 2)]).into(),
        ),
        ("shared", [shared.clone(), shared].into()),
        ("hook", Hashed::new(Call::new("g", Array::new())).into()),
        ("scopes", [Mark::new(1), Mark::new(2)].into()),
    ]
}

/// These values are a promise to every user of the format: any change to them
/// requires a new `Digest::FORMAT_VERSION`.
const GOLDEN: [(&str, &str); 21] = [
    (
        "none",
        "cec5d4b7bb9c5edf7baa411e7a6f32595d2c6041fb6e01ba153ae4d37d11994d",
    ),
    (
        "bool",
        "e51e96e79f36b174b1d5699a632012f0ea6d2e919d212bf116425a69bb2500eb",
    ),
    (
        "int",
        "930911e78270de525f9a37f9e2a0fdaeede0673d995490807fbd42e8a6bb1e1a",
    ),
    (
        "bigint",
        "ff60fbd62f2ff943f538cf78084b38d9f1b2bad77ce1866aba4746e53ef77df3",
    ),
    (
        "float",
        "af248e95744594cdf8a9e97f9104af2b212d36a33d6e44764e7be37aba53e991",
    ),
    (
        "short",
        "c9a938fa8a0aa72a5f5fc8513cd256393755bf40e169d370b2c9a72bafeec41f",
    ),
    (
        "long",
        "5b2fa61fa6d84ce6046a80b3103c57869c320abcf2941a7edf097476d5e19430",
    ),
    (
        "bytes",
        "6d37a2344007ea6ae4c0cc60779abf9f202a1f66414978ccd4c2f77ead7e76c3",
    ),
    (
        "dtype",
        "817b79bd871ebb7a5f6ec9d8459c0de599ef502d3a9bb812d1d9c5de70c7107a",
    ),
    (
        "array",
        "e07581ee0d18aa85e27b7324443e897f3dc5b35572670085f3092a6c24747401",
    ),
    (
        "list",
        "6317233ac62304245632dd00090d1eaed3a9d6c4fc660091edc3e28badc80a02",
    ),
    (
        "map",
        "ab1d44b5a6c3b58962e0a737c0f468764f2f6853779941bd0bee3ecfad8eaeb5",
    ),
    (
        "dict",
        "f54610f391e8f4cdd928267eebaa5bd6c5bac3973169aaaa8b8deba5ea37216e",
    ),
    (
        "shape",
        "879181a1f51c4cda1bc0ebfa6e57249377f93204b7cc06539e810dc231358598",
    ),
    (
        "tensor",
        "915064af9345dd73b4ebf79c6cad05d5eee4e3230fcdb9c169c7d6f9b60f2bff",
    ),
    (
        "fields",
        "6ec301857b5f5e0c94dfd1ff26bfadd5b14c519034ae9d1aee7845b2c32f8482",
    ),
    (
        "identity",
        "fa8ff7316992cb5710c0b4099846bdbb4186da2ff84914ad848870ca194f735c",
    ),
    (
        "nested",
        "b4555e57f1cf8aa90106416618b97089192386792d2737382843fded5ec982c1",
    ),
    (
        "shared",
        "7ebb6c1615f76f00b2b52f577982e9d3c334827f5ae1d0ee93cf60fe98939199",
    ),
    (
        "hook",
        "9d157b6bc3b3aa33dc97c94f0857e26b4de880451acc02bec3c358f66c63dfb8",
    ),
    (
        "scopes",
        "fc03a102428f0784f34bb7723a6e33361d77232753e936b493a8941415017e6c",
    ),
];

#[test]
fn golden_values() {
    assert_eq!(Digest::FORMAT_VERSION, 1);
    let cases = golden_cases();
    assert_eq!(cases.len(), GOLDEN.len());
    for ((name, value), (golden_name, golden)) in cases.into_iter().zip(GOLDEN) {
        assert_eq!(name, golden_name);
        let digest = structural_digest(value).expect("a portable value");
        assert_eq!(digest.to_string(), golden, "{name}");
        assert_eq!(golden.parse::<Digest>().expect("hexadecimal"), digest);
    }
}

#[test]
fn golden_values_differ() {
    let distinct: std::collections::HashSet<_> = GOLDEN.iter().map(|(_, digest)| digest).collect();
    assert_eq!(distinct.len(), GOLDEN.len());
}

#[test]
fn free_variables_have_no_portable_name() {
    let x = Var::new("x", 1);
    let value = Value::from([Value::from(1), Value::from(&x)]);
    let error = structural_digest(&value).expect_err("x is free");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(
        error.path().map(ToString::to_string).as_deref(),
        Some("<root>[1]")
    );
    assert!(error.message().contains("digest.Var"), "{error}");
    let options = CompareOptions {
        map_free_vars: true,
        ..Default::default()
    };
    let renamed = Value::from([Value::from(1), Var::new("y", 1).into()]);
    assert_eq!(
        options.digest(&value).expect("mapped"),
        options.digest(&renamed).expect("mapped")
    );
}

#[test]
fn unbound_object_keys_have_no_portable_name() {
    let key = Call::new("f", Array::new());
    let map: Map = [(Value::from(&key), 1.into())].into_iter().collect();
    let error = structural_digest([map]).expect_err("the key is an object");
    assert_eq!(error.kind(), ErrorKind::Value);
    assert!(error.to_string().contains("<root>[0]["), "{error}");
}

#[test]
fn singletons_are_named_by_content() {
    let digest = |name: &str| structural_digest(Op::new(name)).expect("portable");
    assert_eq!(digest("add"), digest("add"));
    assert_ne!(digest("add"), digest("sub"));
    let (one, two) = (Op::new("add"), Op::new("add"));
    assert!(!structural_equal(&one, &two).expect("comparable"));
    let hash = |op: &Ref<Op>| structural_hash(op).expect("hashable");
    assert_ne!(hash(&one), hash(&two));
    assert_eq!(hash(&one), hash(&one));
}

#[test]
fn nan_payloads_and_skipped_contents() {
    let tensor = |bits: u32, shape: Vec<i64>| {
        let data: Vec<u8> = [1.0f32.to_bits(), bits]
            .iter()
            .flat_map(|b| b.to_le_bytes())
            .collect();
        Value::from(Tensor::new(DType::FLOAT32, shape, data).expect("two floats"))
    };
    let digest = |value: &Value| structural_digest(value).expect("portable");
    let (quiet, signalling) = (tensor(0x7fc0_0000, vec![2]), tensor(0xffa0_0001, vec![2]));
    assert!(structural_equal(&quiet, &signalling).expect("comparable"));
    assert_eq!(digest(&quiet), digest(&signalling));
    let one = tensor(1.0f32.to_bits(), vec![2]);
    assert_ne!(digest(&quiet), digest(&one));
    let options = CompareOptions {
        skip_tensor_content: true,
        ..Default::default()
    };
    let skipped = |value: &Value| options.digest(value).expect("portable");
    assert_eq!(skipped(&quiet), skipped(&one));
    assert_ne!(
        skipped(&one),
        skipped(&tensor(1.0f32.to_bits(), vec![1, 2]))
    );
}

#[test]
fn malformed_digests_are_refused() {
    for text in [
        "",
        "12",
        &"g".repeat(64),
        &"0".repeat(63),
        "ü0000000000000000000000000000000000000000000000000000000000000x",
    ] {
        let error = text.parse::<Digest>().expect_err("not a digest");
        assert_eq!(error.kind(), ErrorKind::Value);
    }
}
