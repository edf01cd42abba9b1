//! Types written in text, and checks of calls.

use isoform::types::IsA;
use isoform::values::DType;
use isoform::{Node, Ref, Value, structural_equal};
use isoform_ir::ir::IRModuleRef;
use isoform_ir::ir::{
    BaseFunc, GlobalVar, IRModule, PrimExpr, RelayExpr, TensorType, TupleType, Type,
};
use isoform_ir::tir;
use isoform_relay as relay;
use isoform_relay::{Any, AsExpr, Call, Function, Var};

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

/// A variable of a type.
pub(crate) fn v(text: &str) -> Ref<Var> {
    Var::typed("x", ty(text))
}

/// Checks the type of a call.
#[track_caller]
pub(crate) fn gives<T: IsA<RelayExpr>>(call: Ref<T>, expected: &str) {
    let found = relay::infer_type_local(call.expr()).unwrap();
    assert!(
        structural_equal(&found, ty(expected)).unwrap(),
        "expected {expected}, got {found:?}"
    );
}

/// Checks that a call has no type, and the reason.
#[track_caller]
pub(crate) fn fails(call: Ref<Call>, expected: &str) {
    let error = relay::infer_type_local(call.expr()).unwrap_err();
    assert_eq!(error.kind_name(), "DiagnosticError");
    assert!(error.message().contains(expected), "{}", error.message());
}

/// A module of functions.
pub(crate) fn module<const N: usize>(
    functions: [(&Ref<GlobalVar>, Ref<Function>); N],
) -> Ref<IRModule> {
    let module = IRModule::new();
    for (var, function) in functions {
        // Free variables become parameters, after the others.
        let free = relay::analysis::free_vars(function.expr()).unwrap();
        let params: Vec<_> = function.params.iter().cloned().chain(free).collect();
        let function = changed(&function, "params", Value::from(params));
        module.update_func(var, function.upcast()).unwrap();
    }
    module
}

/// A module with one function, `main`.
pub(crate) fn main_of(function: Ref<Function>) -> Ref<IRModule> {
    module([(&GlobalVar::new("main"), function)])
}

/// The function `main` of a module.
pub(crate) fn main_in(module: &Ref<IRModule>) -> Ref<Function> {
    let var = module.global_var("main").unwrap();
    let func: Ref<BaseFunc> = module.lookup(&var).unwrap();
    func.cast().unwrap()
}

/// The function with its types. A second inference changes nothing.
#[track_caller]
pub(crate) fn typed(function: Ref<Function>) -> Ref<Function> {
    let module = relay::infer_type(&main_of(function)).unwrap();
    assert!(relay::infer_type(&module).unwrap().same_as(&module));
    main_in(&module)
}

/// The type that an expression has.
#[track_caller]
pub(crate) fn type_of<T: IsA<RelayExpr>>(expr: &Ref<T>) -> Ref<Type> {
    expr.expr().checked_type().unwrap().clone()
}

#[track_caller]
pub(crate) fn assert_type<T: IsA<RelayExpr>>(expr: &Ref<T>, expected: &str) {
    let found = type_of(expr);
    assert!(
        structural_equal(&found, ty(expected)).unwrap(),
        "expected {expected}, got {found:?}"
    );
}

/// A node with another value in a field.
pub(crate) fn changed<T: Node>(node: &Ref<T>, field: &str, value: impl Into<Value>) -> Ref<T> {
    let made = relay::with_fields(node.as_object(), [(field, value.into())]).unwrap();
    made.cast().unwrap()
}
