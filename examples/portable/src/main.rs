//! Prints digests that are the same on every platform: those of 64 and of 32 bits, in a browser
//! as on a server.
//!
//! `tests/digests.txt` has the lines that every platform prints; `cargo test -p portable` compares
//! them on this machine, and `make test-wasm` in WebAssembly.

use std::io::{self, Write};

use isoform::text::{from_text, to_text};
use isoform::values::{Bytes, Complex, DType, Tensor};
use isoform::{
    Array, Map, Node, Obj, Ref, Result, Str, Value, structural_digest, structural_equal,
    structural_hash,
};
use isoform_ir::tir;

/// A variable.
#[derive(Node)]
#[node(key = "portable.Var", kind = var)]
#[repr(C)]
pub struct Var {
    /// The name, for people.
    #[node(ignore)]
    pub name: Str,
}

/// A sum.
#[derive(Node)]
#[node(key = "portable.Add")]
#[repr(C)]
pub struct Add {
    /// The first part.
    pub lhs: Ref<Obj>,
    /// The second part.
    pub rhs: Ref<Obj>,
}

/// A function.
#[derive(Node)]
#[node(key = "portable.Fun", scope)]
#[repr(C)]
pub struct Fun {
    /// The parameters.
    #[node(def)]
    pub params: Array<Ref<Var>>,
    /// The result.
    pub body: Ref<Obj>,
}

/// Fields of every size, in an order that leaves gaps between them.
#[derive(Node)]
#[node(key = "portable.Fields")]
#[repr(C)]
pub struct Fields {
    /// One byte.
    pub flag: bool,
    /// A pointer.
    pub part: Option<Ref<Obj>>,
    /// Eight bytes.
    pub number: i64,
    /// A pointer.
    pub by_name: Map<Str, Value>,
    /// One byte.
    pub other_flag: bool,
    /// Eight bytes.
    pub float: f64,
    /// Sixteen bytes.
    pub name: Str,
    /// Four bytes.
    pub dtype: DType,
    /// Sixteen bytes.
    pub value: Value,
}

fn fun(x: &str, y: &str) -> Ref<Fun> {
    let (x, y) = (Var::new(x), Var::new(y));
    let body = Add::new(&x, &y);
    Fun::new([x, y], body)
}

fn fields() -> Result<Ref<Fields>> {
    let mut by_name = Map::new();
    for number in 0..100 {
        by_name.insert(
            format!("the key with number {number}").into(),
            number.into(),
        );
    }
    Ok(Fields::new(
        true,
        Some(fun("x", "y").upcast()),
        i64::MIN,
        by_name,
        false,
        -0.0,
        "a name of more than fourteen characters",
        DType::FLOAT32,
        Value::from(vec![
            Value::NONE,
            Value::from("short"),
            Value::from(i128::MAX),
            Bytes::from(vec![0, 255]).into(),
            Complex::new(0.5, f64::NAN).into(),
            Tensor::new(DType::FLOAT32, vec![1], 1.5_f32.to_le_bytes().to_vec())?.into(),
        ]),
    ))
}

/// A sum of sums that share their parts: more additions than there are atoms.
fn shared() -> Ref<Obj> {
    let mut sum: Ref<Obj> = fun("x", "y").upcast();
    for _ in 0..100_000 {
        sum = Add::new(&sum, &sum).upcast();
    }
    sum
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    assert!(structural_equal(fun("a", "b"), fun("c", "d"))?);
    let mut out = io::stdout();
    let fields = fields()?;
    let one = tir::constant(DType::INT64, 1)?;
    let programs: [(&str, Value); 4] = [
        ("function", fun("a", "b").into()),
        ("fields", (&fields).into()),
        ("shared", shared().into()),
        ("tir", tir::Add::new(&one, &one)?.into()),
    ];
    for (name, program) in &programs {
        let (digest, hash) = (structural_digest(program)?, structural_hash(program)?);
        writeln!(out, "{name} {digest} {hash:016x}")?;
    }
    let text = to_text(&fields)?;
    let digest = structural_digest(from_text(&text)?)?;
    writeln!(out, "text {digest}")?;
    Ok(())
}
