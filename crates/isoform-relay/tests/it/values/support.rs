//! Tensors, types and operators of the tests.

use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::IRModuleRef;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::types::IntoField;
use isoform::values::{DType, Tensor};
use isoform::{Ref, Value};
use isoform_ir::ir::{BaseFunc, IRModule, Op, OpRegistry, RelayExpr, TensorType};
use isoform_ir::tir;
use isoform_relay as relay;
use isoform_relay::eval::{Evaluator, kernel, register_kernel};
use isoform_relay::{AsExpr, Call, Constant, Function, Var};

pub(crate) fn ints(shape: &[i64], values: &[i32]) -> Tensor {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    Tensor::new(DType::INT32, shape.to_vec(), bytes).expect("the shape fits")
}

pub(crate) fn floats(shape: &[i64], values: &[f32]) -> Tensor {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    Tensor::new(DType::FLOAT32, shape.to_vec(), bytes).expect("the shape fits")
}

pub(crate) fn flag(value: bool) -> Tensor {
    Tensor::new(DType::BOOL, vec![], vec![u8::from(value)]).expect("the shape fits")
}

pub(crate) fn constant(tensor: &Tensor) -> Ref<RelayExpr> {
    Constant::new(tensor.clone()).expr()
}

/// A scalar constant of type int32.
pub(crate) fn number(value: i32) -> Ref<RelayExpr> {
    constant(&ints(&[], &[value]))
}

pub(crate) fn truth(value: bool) -> Ref<RelayExpr> {
    constant(&flag(value))
}

pub(crate) fn read_ints(value: &Value) -> Vec<i32> {
    let tensor: Tensor = value.extract().expect("a tensor");
    assert_eq!(tensor.dtype(), DType::INT32);
    let (chunks, _) = tensor.data().as_chunks::<4>();
    chunks
        .iter()
        .map(|bytes| i32::from_le_bytes(*bytes))
        .collect()
}

/// The only number of a tensor.
#[track_caller]
pub(crate) fn read(value: &Value) -> i32 {
    let numbers = read_ints(value);
    assert_eq!(numbers.len(), 1, "{numbers:?}");
    numbers[0]
}

pub(crate) fn same_tensor(left: &Tensor, right: &Tensor) -> bool {
    left.dtype() == right.dtype() && left.shape() == right.shape() && left.data() == right.data()
}

pub(crate) fn evaluate(expr: impl IntoField<Ref<RelayExpr>>) -> Value {
    Evaluator::new().evaluate(expr).expect("a value")
}

#[track_caller]
pub(crate) fn fails(expr: impl IntoField<Ref<RelayExpr>>, message: &str) {
    let error = Evaluator::new().evaluate(expr).expect_err("no value");
    assert!(error.message().contains(message), "{error}");
}

pub(crate) fn op(name: &str) -> Ref<Op> {
    relay::register().expect("the dialect");
    Op::get(name).expect("an operator")
}

pub(crate) fn call(name: &str, args: impl IntoIterator<Item = Ref<RelayExpr>>) -> Ref<RelayExpr> {
    let args: Vec<_> = args.into_iter().collect();
    Call::new(op(name), args).expr()
}

/// A tensor type of int32.
pub(crate) fn tensor_type(shape: &[i64]) -> Ref<TensorType> {
    let dims = shape
        .iter()
        .map(|dim| tir::constant(DType::INT32, *dim).expect("a literal"));
    TensorType::new(dims.collect::<Vec<_>>()).with_dtype(DType::INT32)
}

pub(crate) fn typed(name: &str, shape: &[i64]) -> Ref<Var> {
    Var::typed(name, tensor_type(shape))
}

pub(crate) fn module(functions: &[(&str, &Ref<RelayExpr>)]) -> Ref<IRModule> {
    let module = IRModule::new();
    for (name, function) in functions {
        let var = isoform_ir::ir::GlobalVar::new(*name);
        module
            .update_func(&var, Ref::clone(function).cast().expect("a function"))
            .expect("a new name");
    }
    module
}

/// A separate operator for a test: the identity, with a count of calls.
pub(crate) fn counter(name: &str) -> (Ref<Op>, &'static AtomicUsize) {
    let count: &'static AtomicUsize = Box::leak(Box::default());
    let entry = OpRegistry::get_or_register(name)
        .expect("a name")
        .num_inputs(1);
    let identity = kernel(|call| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(call.values()[0].clone())
    });
    register_kernel(name, identity).expect("a kernel");
    (entry.op().clone(), count)
}

pub(crate) fn counted(count: &AtomicUsize) -> usize {
    count.swap(0, Ordering::Relaxed)
}

/// A function with an attribute of value 1.
pub(crate) fn marked(func: &Ref<Function>, attribute: &str) -> Ref<Function> {
    let func: Ref<BaseFunc> = func.clone().upcast();
    let func = func.with_attr(attribute, 1).expect("an attribute");
    func.cast().expect("a function")
}
