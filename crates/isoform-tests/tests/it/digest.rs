//! Digests: golden values of the format, and values without a portable name.

use isoform::compare::{CompareOptions, Digest};
use isoform::errors::ErrorKind;
use isoform::hooks::{EqualCallback, HashCallback, StructuralEqual, StructuralHash};
use isoform::objects::construct;
use isoform::types::{FieldDef, FieldFlag, Schema, TypeDef, register_type};
use isoform::values::{DType, Dict, List, Shape, Tensor};
use isoform::{
    Array, Map, Node, Ref, Result, Str, Value, structural_digest, structural_equal, structural_hash,
};

use crate::support::MAPPED;

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

/// A node with a part or without.
#[derive(Node)]
#[node(key = "digest.Maybe")]
#[repr(C)]
struct Maybe {
    child: Option<Ref<Op>>,
}

/// A tree whose sharing does not matter.
#[derive(Node)]
#[node(key = "digest.Tree")]
#[repr(C)]
struct Tree {
    text: Str,
    parts: Array<Ref<Tree>>,
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

/// A tree of several pieces.
fn pieces() -> Ref<Tree> {
    let part = |length: usize| Tree::new("x".repeat(length).as_str(), Array::new());
    let parts = (0..600).step_by(100).map(part);
    Tree::new("many", parts.collect::<Vec<_>>())
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
        ("pieces", pieces().into()),
    ]
}

/// These values are a promise to every user of the format: any change to them
/// requires a new `Digest::FORMAT_VERSION`.
const GOLDEN: [(&str, &str); 22] = [
    (
        "none",
        "f27dc9bf8491d3ab1f1fd112ed5f55fd023b080de35da88299f2c003443106d1",
    ),
    (
        "bool",
        "18128ed97d5d6959efd230af6227fcf90fdc60318889a3823e26dfa495917252",
    ),
    (
        "int",
        "916e4c7dcc7748d546f271b4a935644ef3a78a3724135b023be62c151d528f4a",
    ),
    (
        "bigint",
        "36eb77e332e90c6af6d7ac705c7c9582accfc658b25a8f3eefe3a77e71da90ad",
    ),
    (
        "float",
        "b6a1ccdd13b54cfcb352a7e776ff8b53a26e1e340a575472adeedfb86741dc02",
    ),
    (
        "short",
        "5d58fc59081e7b0fb4f52dc15f13bb270fc18c14d0a06740235f8a69c771f9f8",
    ),
    (
        "long",
        "5a833400bcc2b416e2037e288437498bab26a0ef398dd19e1b86a96d72aeff3f",
    ),
    (
        "bytes",
        "fddbdb09f6d27e87f7becaf91f7e1967c6b1ba2c17298febc7413ff2df281d37",
    ),
    (
        "dtype",
        "6bbd5d4ec3e2ccf02677a2948610cb5d71839dbcbb111dec9be670bde2dba75b",
    ),
    (
        "array",
        "ce385b04a909031fb98bd6b4640b58ce10f323df4403ac278a3e85bc241b736f",
    ),
    (
        "list",
        "403011b20bf9130dc2da06166a3d8166e1602f1ab05ba1f8535e2c9be538e20b",
    ),
    (
        "map",
        "18d7b9985191987fe3bb416e739cac97859dfa147221e47b6710e3d08daa89e8",
    ),
    (
        "dict",
        "7bcb204c07fcf7315ae70a6ab706e481bbadb9b1f7c11b5a5c9c26fb1cce4f47",
    ),
    (
        "shape",
        "6b5b84953a6de28cbd677787023479c25e7a5c8fe7dbd184d9b167e8204f57c3",
    ),
    (
        "tensor",
        "5756ec706edd574fa33c5f4c2b32425be40a21d034ee464f7d1fcf03bfdb08a7",
    ),
    (
        "fields",
        "1c121ce3d6ae185dd47c88585cc3ec8f920a45f6eca1d433e0995323259d5190",
    ),
    (
        "identity",
        "e4f27061a88de0152a2cfd0a37e41e057059ecc4ad8253707a71faf9be007200",
    ),
    (
        "nested",
        "0242667192f92513cb99bc7d9a977085daabfb1958be0dd249e0858bc98b005f",
    ),
    (
        "shared",
        "f0a32f620cdee8377578a5f75c9c343b6a60e6b56a820725625b5518e89d269c",
    ),
    (
        "hook",
        "8fffe3f050fe9e261cd19bc1f04c365107ce94d28a80ed5f7e917719920bc72f",
    ),
    (
        "scopes",
        "6d7ff3c3ce2625ad3da79c23c21d6a0bfad59d53c9fd46ed1cf7ff136e7f4edf",
    ),
    (
        "pieces",
        "3e9153c232118b743da8560dfbcaccf938d2c29ce7cabd4f612a37ea8f5b0e11",
    ),
];

#[test]
fn golden_values() {
    assert_eq!(Digest::FORMAT_VERSION, 3);
    let cases = golden_cases();
    assert_eq!(cases.len(), GOLDEN.len());
    let mut found = Vec::new();
    for ((name, value), (_, golden)) in cases.into_iter().zip(GOLDEN) {
        let digest = structural_digest(value).expect("a portable value");
        assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        assert_eq!(golden.parse::<Digest>().unwrap().to_string(), golden);
        found.push((name, digest.to_string()));
    }
    let golden = GOLDEN.map(|(name, digest)| (name, digest.to_owned()));
    assert_eq!(found, golden);
}

/// The bytes of the format, written down here from the description.
#[test]
fn the_bytes_are_as_described() {
    const NONE: u8 = 0;
    const NODE: u8 = 24;
    const FORM: u8 = 25;
    const END: u8 = 26;
    const SEALED: u8 = 27;
    // The key of a type and the names of its compared fields, with zero bytes between.
    let node = |names: &str, contents: &[u8]| {
        let name = blake3::hash(names.as_bytes());
        [&[NODE], &name.as_bytes()[..16], contents, &[END]].concat()
    };
    let sealed = |bytes: &[u8]| [&[SEALED], blake3::hash(bytes).as_bytes().as_slice()].concat();
    let root = |child: &[u8]| {
        let bytes = [&[FORM, 0, 3], child, &[END]].concat();
        blake3::hash(&bytes).as_bytes().to_owned()
    };
    let (int, text, length, two_bytes) = (2, 6, 10, 1 << 5);
    let digest = |value: Value| {
        structural_digest(value)
            .expect("portable")
            .as_bytes()
            .to_owned()
    };

    assert_eq!(digest(7.into()), root(&[int, 7]));
    assert_eq!(digest(0x107.into()), root(&[int | two_bytes, 7, 1]));
    assert_eq!(digest("ab".into()), root(&[text, 2, b'a', b'b']));
    let array = node("isoform.Array", &[length, 2, int, 1, int, 2]);
    assert_eq!(digest([1, 2].into()), root(&array));

    // An empty field of objects is written like the value None.
    assert_eq!(digest(Value::NONE), root(&[NONE, 0]));
    let empty = node("digest.Maybe\0child", &[NONE, 0]);
    assert_eq!(digest(Maybe::new(None).into()), root(&empty));

    let leaf = |letters: usize| {
        let long = "x".repeat(letters);
        let no_parts = node("isoform.Array", &[length, 0]);
        let length = (letters as u16).to_le_bytes();
        let long = [&[text | two_bytes], length.as_slice(), long.as_bytes()].concat();
        node(
            "digest.Tree\0text\0parts",
            &[node("isoform.Str", &long), no_parts].concat(),
        )
    };
    let tree = |letters: usize| Tree::new("x".repeat(letters).as_str(), Array::new());
    // 59 bytes are around the letters.
    let (short, long) = (leaf(453), leaf(454));
    assert_eq!((short.len(), long.len()), (512, 513));
    assert_eq!(digest(tree(453).into()), root(&short));
    assert_eq!(digest(tree(454).into()), root(&sealed(&long)));
}

#[test]
fn golden_values_differ() {
    let distinct: std::collections::HashSet<_> = GOLDEN.iter().map(|(_, digest)| digest).collect();
    assert_eq!(distinct.len(), GOLDEN.len());
}

/// The text of a tree with all parts, in one line.
fn spelled(tree: &Tree) -> String {
    let parts: Vec<String> = tree.parts.iter().map(|part| spelled(part)).collect();
    format!("{:?}[{}]", &*tree.text, parts.join(","))
}

fn unshared(tree: &Tree) -> Ref<Tree> {
    let parts: Vec<Ref<Tree>> = tree.parts.iter().map(|part| unshared(part)).collect();
    Tree::new(tree.text.clone(), parts)
}

/// Pieces of the format end after some hundred bytes, and nodes of all sizes near this
/// limit occur here, shared and not.
#[test]
fn digests_see_contents_and_not_sharing_whatever_the_sizes() {
    let mut state = 7u64;
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let mut spelling_of = std::collections::HashMap::new();
    let mut pieces = 0;
    for _ in 0..300 {
        let mut trees = vec![Tree::new("", Array::new())];
        for _ in 0..12 {
            let long = draw(4) == 0;
            let length = if long { draw(700) } else { draw(3) };
            let parts: Vec<Ref<Tree>> = (0..draw(4))
                .map(|_| trees[draw(trees.len())].clone())
                .collect();
            trees.push(Tree::new("x".repeat(length).as_str(), parts));
        }
        for tree in &trees {
            let digest = structural_digest(tree).expect("portable");
            assert_eq!(structural_digest(unshared(tree)).expect("portable"), digest);
            let spelling = spelled(tree);
            pieces += usize::from(spelling.len() > 600);
            let first_spelling = spelling_of
                .entry(digest)
                .or_insert_with(|| spelling.clone());
            assert_eq!(*first_spelling, spelling);
        }
    }
    assert!(pieces > 300, "{pieces} large trees");
    let spellings: std::collections::HashSet<_> = spelling_of.values().collect();
    assert_eq!(spellings.len(), spelling_of.len());
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
    let renamed = Value::from([Value::from(1), Var::new("y", 1).into()]);
    assert_eq!(
        MAPPED.digest(&value).expect("mapped"),
        MAPPED.digest(&renamed).expect("mapped")
    );
}

/// Without that option, the message asks for `map_free_vars`; with it, the message
/// names the unreachable place.
#[test]
fn map_free_vars_does_not_reach_the_type_of_a_simple_definition() {
    let b = &crate::build::builds()[0];
    let typed = b.assign(&b.typed(b.var()), 1);
    let message = |options: CompareOptions| {
        let error = options
            .digest(&typed)
            .expect_err("the type has a free variable");
        assert_eq!(error.kind(), ErrorKind::Value);
        let path = error.path().map(ToString::to_string);
        assert_eq!(path.as_deref(), Some("<root>.target.ty"));
        error.message().to_string()
    };
    let plain = message(crate::build::PLAIN);
    assert!(plain.contains("digest it with map_free_vars"), "{plain}");
    let mapped = message(crate::build::MAPPED);
    assert!(!mapped.contains("digest it with"), "{mapped}");
    assert!(mapped.contains("def-simple"), "{mapped}");
    // What the message proposes.
    let x = b.var();
    let bound = b.lambda(&[&x], b.assign(&b.typed(x.clone()), 1));
    structural_digest(&bound).expect("the variable is bound before");
}

/// An ignored field may come and go, and a variable has a name in a digest wherever it is
/// bound.
#[test]
fn digests_name_the_compared_fields() {
    let b = crate::build::builds();
    // The same fields under two keys.
    let digest = |value: Value| structural_digest(value).expect("portable");
    assert_ne!(digest(b[0].constant(1)), digest(b[1].constant(1)));
    let key = |fields: &[(&str, bool)]| {
        static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut names = format!("digest.Named{number}");
        let mut definition = TypeDef::new(&names);
        for (field, is_compared) in fields {
            let flag = if *is_compared {
                FieldFlag::None
            } else {
                FieldFlag::Ignore
            };
            definition = definition.field(FieldDef::new(field, Schema::Any).flag(flag));
            if *is_compared {
                names = format!("{names}\0{field}");
            }
        }
        let index = register_type(definition).expect("a new name");
        let values = fields.iter().map(|_| Value::from(7)).collect();
        let object = construct(index, values).expect("fits");
        let count = fields
            .iter()
            .filter(|(_, is_compared)| *is_compared)
            .count();
        let contents = [2u8, 7].repeat(count);
        let name = blake3::hash(names.as_bytes());
        let node = [&[24u8], &name.as_bytes()[..16], contents.as_slice(), &[26]].concat();
        let root = [&[25u8, 0, 3], node.as_slice(), &[26]].concat();
        assert_eq!(
            digest(object.into()).as_bytes(),
            blake3::hash(&root).as_bytes()
        );
    };
    key(&[("lhs", true), ("rhs", true)]);
    key(&[("rhs", true), ("lhs", true)]);
    key(&[("lhs", true), ("note", false), ("rhs", true)]);
    key(&[("note", false)]);
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
    let plain = tensor(1.0f32.to_bits(), vec![2]);
    assert_ne!(digest(&quiet), digest(&plain));
    let options = CompareOptions {
        skip_tensor_content: true,
        ..Default::default()
    };
    let skipped = |value: &Value| options.digest(value).expect("portable");
    assert_eq!(skipped(&quiet), skipped(&plain));
    assert_ne!(
        skipped(&plain),
        skipped(&tensor(1.0f32.to_bits(), vec![1, 2]))
    );
}

/// Contents are searched for NaNs in pieces of 16,384 bytes.
#[test]
fn nans_anywhere_in_large_tensors() {
    const PIECE: usize = (1 << 14) / 4;
    let tensor = |changes: &[(usize, u32)]| {
        let mut numbers = vec![1.0_f32.to_bits(); 5 * PIECE + 7];
        for (position, bits) in changes {
            numbers[*position] = *bits;
        }
        let count = numbers.len() as i64;
        let data: Vec<u8> = numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        Value::from(Tensor::new(DType::FLOAT32, vec![count], data).expect("floats"))
    };
    let digest = |value: &Value| structural_digest(value).expect("portable");
    let [quiet, signalling] = [0x7fc0_0000, 0xffa0_0001];
    let places = [0, PIECE, 2 * PIECE + 5, 5 * PIECE + 6];
    for nan in places {
        let one = tensor(&[(nan, quiet)]);
        let other = tensor(&[(nan, signalling)]);
        assert!(structural_equal(&one, &other).expect("comparable"));
        assert_eq!(digest(&one), digest(&other));
        for change in places.into_iter().filter(|change| *change != nan) {
            let changed = tensor(&[(nan, quiet), (change, 2.0_f32.to_bits())]);
            assert!(!structural_equal(&one, &changed).expect("comparable"));
            assert_ne!(digest(&one), digest(&changed), "{nan} {change}");
        }
    }
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
