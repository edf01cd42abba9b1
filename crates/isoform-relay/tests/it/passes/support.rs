//! Short ways to write programs.

use isoform::types::IsA;
use isoform::values::{DType, Tensor};
use isoform::{Ref, structural_equal};
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{GlobalVar, IRModule, Op, OpRegistry, RelayExpr};
use isoform_relay::{
    AsExpr, Call, Constant, Function, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    Var,
};

pub(crate) type Expr = Ref<RelayExpr>;

/// An operator without effects.
pub(crate) fn op(name: &str) -> Ref<Op> {
    let name = format!("test.passes.{name}");
    OpRegistry::get_or_register(&name)
        .expect("a name")
        .op()
        .clone()
}

/// An operator with effects, `tick`.
pub(crate) fn tick() -> Ref<Op> {
    static READY: std::sync::Once = std::sync::Once::new();
    READY.call_once(|| {
        let entry = OpRegistry::get_or_register("test.passes.tick").expect("a name");
        entry.attr("TOpIsStateful", true, 10).expect("set once");
    });
    op("tick")
}

/// An operator that may have no result, `part`.
pub(crate) fn part() -> Ref<Op> {
    static READY: std::sync::Once = std::sync::Once::new();
    READY.call_once(|| {
        let entry = OpRegistry::get_or_register("test.passes.part").expect("a name");
        entry.attr("TMayFail", true, 10).expect("set once");
    });
    op("part")
}

pub(crate) fn call<const N: usize>(name: &str, args: [&Expr; N]) -> Expr {
    let callee = match name {
        "tick" => tick(),
        "part" => part(),
        _ => op(name),
    };
    Call::new(&callee, args.map(Clone::clone)).expr()
}

pub(crate) fn apply<T: IsA<RelayExpr>, const N: usize>(func: &Ref<T>, args: [&Expr; N]) -> Expr {
    Call::new(func.expr(), args.map(Clone::clone)).expr()
}

pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn int(value: i32) -> Expr {
    let data = value.to_le_bytes().to_vec();
    Constant::new(Tensor::new(DType::INT32, vec![], data).expect("a scalar")).expr()
}

pub(crate) fn boolean(value: bool) -> Expr {
    Constant::new(Tensor::new(DType::BOOL, vec![], vec![value.into()]).expect("a scalar")).expr()
}

/// A constant that is not a scalar.
pub(crate) fn vector(values: &[i32]) -> Expr {
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let tensor = Tensor::new(DType::INT32, vec![values.len() as i64], data);
    Constant::new(tensor.expect("a vector")).expr()
}

pub(crate) fn bind(var: &Ref<Var>, value: &Expr, body: &Expr) -> Expr {
    Let::new(var, value, body).expr()
}

pub(crate) fn choose(cond: &Expr, yes: &Expr, no: &Expr) -> Expr {
    If::new(cond, yes, no).expr()
}

pub(crate) fn tuple<const N: usize>(fields: [&Expr; N]) -> Expr {
    Tuple::new(fields.map(Clone::clone)).expr()
}

pub(crate) fn item(tuple: &Expr, index: i64) -> Expr {
    TupleGetItem::new(tuple, index).expr()
}

pub(crate) fn func<const N: usize>(params: [&Ref<Var>; N], body: &Expr) -> Expr {
    Function::new(params.map(Clone::clone), body).expr()
}

/// A function, marked as a kernel.
pub(crate) fn kernel(func: &Expr) -> Expr {
    let func = func.clone().cast::<Function>().expect("a function");
    let func = func.upcast().with_attr("Primitive", 1);
    let func = func.expect("an attribute").cast();
    func.expect("an expression")
}

pub(crate) fn create(value: &Expr) -> Expr {
    RefCreate::new(value).expr()
}

pub(crate) fn read(reference: &Expr) -> Expr {
    RefRead::new(reference).expr()
}

pub(crate) fn write(reference: &Expr, value: &Expr) -> Expr {
    RefWrite::new(reference, value).expr()
}

/// A module of these functions, with `Inline` set on functions whose name begins with
/// `inl`.
pub(crate) fn module<const N: usize>(functions: [(&Ref<GlobalVar>, &Expr); N]) -> Ref<IRModule> {
    let module = IRModule::new();
    for (var, func) in functions {
        let mut func = func
            .clone()
            .cast::<Function>()
            .expect("a function")
            .upcast();
        if var.name_hint.starts_with("inl") {
            func = func.with_attr("Inline", 1).expect("an attribute");
        }
        module.update_func(var, func).expect("another name");
    }
    module
}

pub(crate) fn lookup(module: &Ref<IRModule>, var: &Ref<GlobalVar>) -> Expr {
    let func = module.lookup(var).expect("defined");
    func.cast::<RelayExpr>().expect("an expression")
}

/// A program as text, for messages.
pub(crate) fn text<T: isoform::Node>(program: &Ref<T>) -> String {
    isoform::text::to_text(&program.into()).unwrap_or_else(|error| error.to_string())
}

#[track_caller]
pub(crate) fn assert_equal(found: &Expr, expected: &Expr) {
    if let Some(mismatch) = isoform::explain_mismatch(found, expected).expect("comparable") {
        panic!(
            "{mismatch}\nfound:\n{}\nexpected:\n{}",
            text(found),
            text(expected)
        );
    }
    assert!(structural_equal(found, expected).expect("comparable"));
}

#[track_caller]
pub(crate) fn assert_error<T>(result: isoform::Result<T>, parts: &[&str]) {
    let Err(error) = result else {
        panic!("expected an error with {parts:?}");
    };
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in {text:?}");
    }
}
