//! Short ways to write programs, and checks of expressions and calls.

use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::compare::CompareOptions;
use isoform::types::{IntoField, IsA};
use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Node, Ref, Value, structural_digest, structural_equal, structural_hash};
use isoform_ir::ir::{
    BaseFunc, BaseFuncRef, GlobalVar, IRModule, IRModuleRef, Op, OpRegistry, PrimExpr, RelayExpr,
    TensorType, TupleType, Type,
};
use isoform_ir::tir;
use isoform_relay as relay;
use isoform_relay::attrs::{CastAttrs, sizes};
use isoform_relay::eval::{Evaluator, kernel as operator_kernel, register_kernel};
use isoform_relay::{
    Any, AsExpr, Call, Constant, Function, If, Let, RefCreate, RefRead, RefWrite, Tuple,
    TupleGetItem, Var,
};

pub(crate) type Expr = Ref<RelayExpr>;

pub(crate) const F32: DType = DType::FLOAT32;
pub(crate) const I32: DType = DType::INT32;
pub(crate) const BOOL: DType = DType::BOOL;
pub(crate) const F16: DType = DType::new(DTypeCode::Float, 16);
pub(crate) const BF16: DType = DType::new(DTypeCode::BFloat, 16);
pub(crate) const I8: DType = DType::new(DTypeCode::Int, 8);
pub(crate) const I16: DType = DType::new(DTypeCode::Int, 16);
pub(crate) const U8: DType = DType::new(DTypeCode::UInt, 8);
pub(crate) const U16: DType = DType::new(DTypeCode::UInt, 16);

/// Free variables are equal up to renaming.
pub(crate) const MAPPED: CompareOptions = CompareOptions {
    map_free_vars: true,
    skip_tensor_content: false,
};

thread_local! {
    static SIZES: std::cell::RefCell<std::collections::HashMap<String, Ref<tir::Var>>> =
        std::cell::RefCell::default();
}

/// The size of a dimension: a number, `?`, or the same symbolic size for a name.
pub(crate) fn dim(text: &str) -> Ref<PrimExpr> {
    match text.trim() {
        "?" => Any::new().upcast(),
        text => match text.parse::<i64>() {
            Ok(number) => relay::attrs::size(number),
            Err(_) => SIZES.with_borrow_mut(|sizes| {
                let make = || tir::Var::new(text, DType::INT32);
                let var = sizes.entry(text.to_owned()).or_insert_with(make);
                var.clone().upcast()
            }),
        },
    }
}

/// A type: `f32[2,?,n]`, `i64[]`, or a tuple `(f32[2]; i32[])`.
pub(crate) fn ty(text: &str) -> Ref<Type> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(') {
        let inner = inner.strip_suffix(')').unwrap();
        let fields = inner.split(';').filter(|field| !field.trim().is_empty());
        return TupleType::new(fields.map(ty).collect::<Vec<_>>()).upcast();
    }
    let (dtype, shape) = text.split_once('[').unwrap();
    let dtype = match dtype {
        "bool" => "bool".to_owned(),
        short => short
            .replace('f', "float")
            .replace('i', "int")
            .replace('u', "uint"),
    };
    let shape = shape.strip_suffix(']').unwrap();
    let dims = shape.split(',').filter(|dim| !dim.trim().is_empty());
    let dims: Vec<_> = dims.map(dim).collect();
    let dtype: DType = dtype.parse().unwrap();
    TensorType::new(dims).with_dtype(dtype).upcast()
}

pub(crate) fn tensor_type(shape: &[i64], dtype: DType) -> Ref<Type> {
    TensorType::new(sizes(shape.iter().copied()))
        .with_dtype(dtype)
        .upcast()
}

/// A variable without a type.
pub(crate) fn var(name: &str) -> Ref<Var> {
    Var::new(name)
}

pub(crate) fn typed_var(name: &str, text: &str) -> Ref<Var> {
    Var::typed(name, ty(text))
}

/// A variable of a type.
pub(crate) fn v(text: &str) -> Ref<Var> {
    typed_var("x", text)
}

pub(crate) fn tensor_var(shape: &[i64], dtype: DType) -> Ref<Var> {
    Var::typed("x", tensor_type(shape, dtype))
}

pub(crate) fn ints(shape: &[i64], values: &[i32]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DType::INT32, shape.to_vec(), bytes).expect("the shape fits")
}

pub(crate) fn floats(shape: &[i64], values: &[f32]) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor::new(DType::FLOAT32, shape.to_vec(), bytes).expect("the shape fits")
}

pub(crate) fn flag(value: bool) -> Tensor {
    Tensor::new(DType::BOOL, vec![], vec![u8::from(value)]).expect("the shape fits")
}

/// A tensor of numbers of the type.
pub(crate) fn tensor(values: &[f64], shape: &[i64], dtype: DType) -> Tensor {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let wide = Tensor::new(DType::FLOAT64, shape.to_vec(), bytes).expect("the shape fits");
    let cast = relay::op::cast(Constant::new(wide), CastAttrs::new(dtype));
    evaluate(cast).extract().expect("a tensor")
}

pub(crate) fn constant(tensor: &Tensor) -> Expr {
    Constant::new(tensor.clone()).expr()
}

/// A scalar constant of type int32.
pub(crate) fn int(value: i32) -> Expr {
    constant(&ints(&[], &[value]))
}

pub(crate) fn boolean(value: bool) -> Expr {
    constant(&flag(value))
}

/// A scalar constant of the type.
pub(crate) fn number(value: f64, dtype: DType) -> Expr {
    constant(&tensor(&[value], &[], dtype))
}

/// An operator of the dialect, or a new one.
pub(crate) fn op(name: &str) -> Ref<Op> {
    // Chains of a million calls ask for operators, and a second registration takes long.
    static READY: Once = Once::new();
    READY.call_once(|| relay::register().expect("the dialect"));
    let entry = OpRegistry::get_or_register(name).expect("a name");
    entry.op().clone()
}

/// An operator that no rule knows: `tick` has effects, `part` may have no result.
pub(crate) fn unknown_op(name: &str) -> Ref<Op> {
    static READY: Once = Once::new();
    READY.call_once(|| {
        for (name, attribute) in [("tick", "TOpIsStateful"), ("part", "TMayFail")] {
            let entry = OpRegistry::get_or_register(&format!("test.passes.{name}"));
            let entry = entry.expect("a name").attr(attribute, true, 10);
            entry.expect("set once");
        }
    });
    op(&format!("test.passes.{name}"))
}

/// A call of an operator that no rule knows.
pub(crate) fn call<const N: usize>(name: &str, args: [&Expr; N]) -> Expr {
    Call::new(unknown_op(name), args.map(Clone::clone)).expr()
}

pub(crate) fn apply<T: IsA<RelayExpr>, const N: usize>(func: &Ref<T>, args: [&Expr; N]) -> Expr {
    Call::new(func.expr(), args.map(Clone::clone)).expr()
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

pub(crate) fn create(value: &Expr) -> Expr {
    RefCreate::new(value).expr()
}

pub(crate) fn read(reference: &Expr) -> Expr {
    RefRead::new(reference).expr()
}

pub(crate) fn write(reference: &Expr, value: &Expr) -> Expr {
    RefWrite::new(reference, value).expr()
}

pub(crate) fn func<const N: usize>(params: [&Ref<Var>; N], body: impl IntoField<Expr>) -> Expr {
    Function::new(params.map(Clone::clone), body.into_field()).expr()
}

/// A function with an attribute of value 1.
pub(crate) fn marked(func: &Expr, attribute: &str) -> Expr {
    let func: Ref<BaseFunc> = func.clone().cast().expect("a function");
    let func = func.with_attr(attribute, 1).expect("an attribute");
    func.cast().expect("an expression")
}

/// A function, marked as a kernel.
pub(crate) fn kernel<const N: usize>(params: [&Ref<Var>; N], body: impl IntoField<Expr>) -> Expr {
    marked(&func(params, body), "Primitive")
}

/// A module of these functions, with `Inline` set on functions whose name begins with
/// `inl`.
pub(crate) fn module<const N: usize>(functions: [(&Ref<GlobalVar>, &Expr); N]) -> Ref<IRModule> {
    let module = IRModule::new();
    for (var, func) in functions {
        let func = if var.name_hint.starts_with("inl") {
            marked(func, "Inline")
        } else {
            func.clone()
        };
        let func = func.cast().expect("a function");
        module.update_func(var, func).expect("another name");
    }
    module
}

/// A module of functions whose free variables become parameters, after the others.
pub(crate) fn closed_module<const N: usize>(
    functions: [(&Ref<GlobalVar>, Ref<Function>); N],
) -> Ref<IRModule> {
    let functions = functions.map(|(var, function)| {
        let free = relay::analysis::free_vars(function.expr()).unwrap();
        let params: Vec<_> = function.params.iter().cloned().chain(free).collect();
        (var, changed(&function, "params", params).expr())
    });
    module(functions.each_ref().map(|(var, function)| (*var, function)))
}

/// A module with one function, `main`.
pub(crate) fn main_of(function: Ref<Function>) -> Ref<IRModule> {
    closed_module([(&GlobalVar::new("main"), function)])
}

pub(crate) fn lookup(module: &Ref<IRModule>, var: &Ref<GlobalVar>) -> Expr {
    let func = module.lookup(var).expect("defined");
    func.cast::<RelayExpr>().expect("an expression")
}

/// The function of this name in a module.
pub(crate) fn function_in(module: &Ref<IRModule>, name: &str) -> Ref<Function> {
    let var = module.global_var(name).expect("a name");
    lookup(module, &var).cast().expect("a function")
}

/// A node with another value in a field.
pub(crate) fn changed<T: Node>(node: &Ref<T>, field: &str, value: impl Into<Value>) -> Ref<T> {
    let made = relay::with_fields(node.as_object(), [(field, value.into())]).unwrap();
    made.cast().unwrap()
}

/// The expression with its types.
#[track_caller]
pub(crate) fn typed(expr: &Expr) -> Expr {
    relay::infer_type_expr(expr, None).expect("well typed")
}

/// The function with its types. A second inference changes nothing.
#[track_caller]
pub(crate) fn inferred(function: Ref<Function>) -> Ref<Function> {
    let module = relay::infer_type(&main_of(function)).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
    function_in(&module, "main")
}

/// The type that an expression has.
#[track_caller]
pub(crate) fn type_of<T: IsA<RelayExpr>>(expr: &Ref<T>) -> Ref<Type> {
    expr.expr().checked_type().unwrap().clone()
}

#[track_caller]
pub(crate) fn assert_type<T: IsA<RelayExpr>>(expr: &Ref<T>, expected: &str) {
    assert_same_type(&type_of(expr), expected);
}

#[track_caller]
fn assert_same_type(found: &Ref<Type>, expected: &str) {
    assert!(
        structural_equal(found, ty(expected)).unwrap(),
        "expected {expected}, got {found:?}"
    );
}

/// Checks the type of a call.
#[track_caller]
pub(crate) fn gives<T: IsA<RelayExpr>>(call: Ref<T>, expected: &str) {
    assert_same_type(&relay::infer_type_local(call.expr()).unwrap(), expected);
}

/// Checks that a call has no type, and the reason.
#[track_caller]
pub(crate) fn fails(call: Ref<Call>, expected: &str) {
    let error = relay::infer_type_local(call.expr()).unwrap_err();
    assert_eq!(error.kind_name(), "DiagnosticError");
    assert!(error.message().contains(expected), "{}", error.message());
}

pub(crate) fn evaluate(expr: impl IntoField<Expr>) -> Value {
    Evaluator::new().evaluate(expr).expect("a value")
}

pub(crate) fn ints_of(value: &Value) -> Vec<i32> {
    let tensor: Tensor = value.extract().expect("a tensor");
    assert_eq!(tensor.dtype(), DType::INT32);
    let (chunks, _) = tensor.data().as_chunks::<4>();
    chunks.iter().copied().map(i32::from_le_bytes).collect()
}

/// The only number of a tensor.
#[track_caller]
pub(crate) fn int_of(value: &Value) -> i32 {
    let numbers = ints_of(value);
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    numbers[0]
}

pub(crate) fn same_tensor(left: &Tensor, right: &Tensor) -> bool {
    left.dtype() == right.dtype() && left.shape() == right.shape() && left.data() == right.data()
}

/// A separate operator for a test: the identity, with a count of calls.
pub(crate) fn counter(name: &str) -> (Ref<Op>, &'static AtomicUsize) {
    let count: &'static AtomicUsize = Box::leak(Box::default());
    let entry = OpRegistry::get_or_register(name)
        .expect("a name")
        .num_inputs(1);
    let identity = operator_kernel(|call| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(call.values()[0].clone())
    });
    register_kernel(name, identity).expect("a kernel");
    (entry.op().clone(), count)
}

pub(crate) fn counted(count: &AtomicUsize) -> usize {
    count.swap(0, Ordering::Relaxed)
}

/// A program as text, for messages.
pub(crate) fn text<T: Node>(program: &Ref<T>) -> String {
    isoform::text::to_text(program).unwrap_or_else(|error| error.to_string())
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

/// Checks whether two values are equal, in both directions; equal ones share their hash.
#[track_caller]
pub(crate) fn compare(left: impl Into<Value>, right: impl Into<Value>, equal: bool) {
    let (left, right) = (left.into(), right.into());
    let compare = |left, right| structural_equal(left, right).expect("comparable");
    assert_eq!(compare(&left, &right), equal, "{left:?}\n{right:?}");
    assert_eq!(compare(&right, &left), equal, "{right:?}\n{left:?}");
    if equal {
        let hash = |value| structural_hash(value).expect("hashable");
        assert_eq!(hash(&left), hash(&right), "{left:?}\n{right:?}");
    }
}

/// Like [`compare`], for values with free variables, which are mapped.
#[track_caller]
pub(crate) fn compare_open(left: impl Into<Value>, right: impl Into<Value>, equal: bool) {
    let (left, right) = (left.into(), right.into());
    let found = MAPPED.equal(&left, &right).expect("comparable");
    assert_eq!(found, equal, "{left:?}\n{right:?}");
    if equal && let (Ok(one), Ok(other)) = (structural_digest(&left), structural_digest(&right)) {
        assert_eq!(one, other);
    }
}

/// The depth of chains: a million levels in full, far beyond the native stack also when
/// `ISOFORM_TEST_SCALE` divides it.
pub(crate) fn levels() -> usize {
    isoform_testing::source::scaled(1_000_000)
}
