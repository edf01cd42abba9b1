//! A tiled matrix product in the statement dialect: built, verified, optimised,
//! and compared before and after.
//!
//! `cargo run -p isoform --example tiled_matmul` shows it; `examples/tiled_matmul.py`
//! is the same in Python.

use std::io::Write;

use isoform::text::MismatchOptions;
use isoform::{Error, Ref, Result, Value, explain_mismatch, structural_digest, structural_equal};
use isoform_pto as pto;
use isoform_pto::{
    Add, Call, ConstInt, DataType, Expr, Function, IRBuilder, MemRef, MemorySpace, Mul, Op,
    PrintOptions, PtrType, TensorType, TileType, Type, Var, VerifyOptions,
};

fn index(value: i64) -> Ref<ConstInt> {
    ConstInt::new(value, DataType::Index)
}

/// A square tile at the beginning of a buffer.
fn tile(size: i64, dtype: DataType, space: MemorySpace) -> Ref<Type> {
    let buffer = Var::new("buffer", PtrType::new());
    let memory = MemRef::new(buffer, 0, size * size * i64::from(dtype.bits()) / 8);
    let size: Ref<Expr> = index(size).upcast();
    let tile = TileType::new([size.clone(), size], dtype).at(memory);
    tile.with_memory_space(space).upcast().upcast()
}

/// `index * size + 0`: what a code generator writes.
fn offset(at: &Ref<Var>, size: i64) -> Ref<Expr> {
    let start = Mul::new(at, index(size), DataType::Index);
    Add::new(start, index(0), DataType::Index).upcast().upcast()
}

fn call(op: &str, args: &[Ref<Expr>], ty: &Ref<Type>) -> Ref<Call> {
    Call::typed(Op::new(op), args.to_vec(), ty)
}

/// `c = a @ b` for matrices of `extent` rows and columns.
fn matmul(extent: i64, size: i64, name: impl Fn(&str) -> String) -> Result<Ref<Function>> {
    let shape = || [index(extent).upcast(), index(extent).upcast()];
    let (half, single) = (DataType::Fp16, DataType::Fp32);
    let matrix: Ref<Type> = TensorType::new(shape(), half).upcast().upcast();
    let result: Ref<Type> = TensorType::new(shape(), single).upcast().upcast();
    let left = tile(size, half, MemorySpace::Left);
    let right = tile(size, half, MemorySpace::Right);
    let sum = tile(size, single, MemorySpace::Acc);
    let (zero, one, tiles) = (index(0), index(1), index(extent / size));

    let mut ib = IRBuilder::new();
    ib.function("matmul", |ib| {
        let [a, b] = [ib.param(name("a"), &matrix)?, ib.param(name("b"), &matrix)?];
        let c = ib.param(name("c"), &result)?;
        ib.return_type(&result)?;
        let done = ib.for_loop(name("i"), &zero, &tiles, &one, |ib, i| {
            let rows = ib.iter_arg(name("c_rows"), c)?;
            let rows_done = ib.return_var(name("rows_done"), None)?;
            let row = ib.for_loop(name("j"), &zero, &tiles, &one, |ib, j| {
                let row = ib.iter_arg(name("c_row"), rows)?;
                let row_done = ib.return_var(name("row_done"), None)?;
                let start = ib.let_(name("start"), call("tile.zeros", &[], &sum))?;
                let total = ib.for_loop(name("p"), &zero, &tiles, &one, |ib, p| {
                    let acc = ib.iter_arg(name("acc"), start)?;
                    let total = ib.return_var(name("total"), None)?;
                    let place = [a.upcast(), offset(i, size), offset(p, size)];
                    let a_tile = ib.let_(name("a_tile"), call("tile.load", &place, &left))?;
                    let place = [b.upcast(), offset(p, size), offset(j, size)];
                    let b_tile = ib.let_(name("b_tile"), call("tile.load", &place, &right))?;
                    let parts = [acc.upcast().upcast(), a_tile.upcast(), b_tile.upcast()];
                    let next = ib.let_(name("next"), call("tile.matmul_acc", &parts, &sum))?;
                    ib.emit_yield([next.upcast()])?;
                    Ok(total)
                })?;
                let place = [
                    total.upcast(),
                    offset(i, size),
                    offset(j, size),
                    row.upcast().upcast(),
                ];
                let stored = ib.let_(name("stored"), call("tile.store", &place, &result))?;
                ib.emit_yield([stored.upcast()])?;
                Ok(row_done)
            })?;
            ib.emit_yield([row.upcast()])?;
            Ok(rows_done)
        })?;
        ib.emit_return([done.upcast()])
    })
}

fn main() -> Result<()> {
    let options = PrintOptions::default();
    let kernel = Value::from(matmul(256, 64, str::to_owned)?);
    show("As it was built", &options.print(&kernel)?)?;
    assert!(pto::verify(&kernel, &VerifyOptions::default())?.is_empty());

    let renamed = Value::from(matmul(256, 64, |name| format!("my_{name}"))?);
    assert!(structural_equal(&kernel, &renamed)?);
    let digest = structural_digest(&renamed)?.to_string();
    show("The digest, whatever its variables are called", &digest)?;

    let simplified = pto::simplify(&kernel)?;
    let optimised = pto::cse(&simplified.value)?;
    show("Optimised", &options.print(&optimised)?)?;
    assert!(pto::verify(&optimised, &VerifyOptions::default())?.is_empty());

    let mismatch = explain_mismatch(&kernel, &optimised)?
        .ok_or_else(|| Error::value_error("the passes changed nothing"))?;
    let options = MismatchOptions::default();
    let text = options.render(&kernel, &optimised, &mismatch);
    show("The first change", &text)
}

/// Prints a part of the report; a reader that has gone away is an error.
fn show(head: &str, text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {head}\n{text}").map_err(|error| Error::value_error(error.to_string()))
}
