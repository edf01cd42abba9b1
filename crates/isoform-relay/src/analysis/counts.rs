//! Numbers of calls and of arithmetic operations.

use isoform_ir::ir::AttrsRef;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use isoform::values::{DType, ValueRef};
use isoform::{Array, Error, Map, Ref, Result, Str, Value, export};
use isoform_ir::ir::{Attrs, IRModule, IntImm, Op, RelayExpr, TensorType};
use rapidhash::fast::RandomState;

use super::order::expressions_below;
use super::post_order_visit;
use crate::{AsExpr, Call, Function};

/// The operator of a call.
fn op_of(expr: &Ref<RelayExpr>) -> Option<(&Ref<Call>, &Ref<Op>)> {
    let call = expr.downcast_ref::<Call>()?;
    Some((call, call.op.downcast_ref::<Op>()?))
}

/// The numbers of calls of operators in an expression, including functions, by name.
/// Linear in the number of expressions.
///
/// # Errors
///
/// As [`post_order_visit`].
pub fn count_ops(expr: &Ref<RelayExpr>) -> Result<BTreeMap<String, i64>> {
    let mut counts = BTreeMap::new();
    add_ops(expr, &mut counts)?;
    Ok(counts)
}

fn add_ops(expr: &Ref<RelayExpr>, counts: &mut BTreeMap<String, i64>) -> Result<()> {
    post_order_visit(expr, |expr| {
        if let Some((_, op)) = op_of(expr) {
            *counts.entry(op.name.to_string()).or_insert(0) += 1;
        }
        Ok(())
    })
}

/// The numbers of calls of operators in the functions of a module, including fused
/// functions, by name. Linear in the number of expressions.
///
/// # Errors
///
/// As [`post_order_visit`].
pub fn list_op_freqs(module: &Ref<IRModule>) -> Result<BTreeMap<String, i64>> {
    let mut counts = BTreeMap::new();
    for var in module.global_vars() {
        if let Some(func) = module.lookup(&var)?.downcast_ref::<Function>() {
            add_ops(&func.expr(), &mut counts)?;
        }
    }
    Ok(counts)
}

/// The largest number of calls of some operators on a path through an expression: calls
/// next to each other are one layer. Linear in the number of expressions.
///
/// # Errors
///
/// `AttributeError` for an unknown operator.
pub fn count_layers(expr: &Ref<RelayExpr>, valid_ops: &[&str]) -> Result<i64> {
    let ops: HashSet<u64, RandomState> = valid_ops
        .iter()
        .map(|name| Op::get(name))
        .map(|op| op.map(|op| op.identity()))
        .collect::<Result<_>>()?;
    let mut layers: HashMap<u64, i64, RandomState> = HashMap::default();
    let mut below = Vec::new();
    post_order_visit(expr, |expr| {
        below.clear();
        expressions_below(expr, &mut below);
        let known = below.iter().filter_map(|part| layers.get(&part.identity()));
        let deepest = known.copied().max().unwrap_or(0);
        let is_one = op_of(expr).is_some_and(|(_, op)| ops.contains(&op.identity()));
        layers.insert(expr.identity(), deepest + i64::from(is_one));
        Ok(())
    })?;
    Ok(layers.get(&expr.identity()).copied().unwrap_or(0))
}

/// The data types of the tensors in an expression, as far as type inference knows them,
/// in order of occurrence. Linear in the number of expressions.
///
/// # Errors
///
/// As [`post_order_visit`].
pub fn all_dtypes(expr: &Ref<RelayExpr>) -> Result<Vec<DType>> {
    let mut found = Vec::new();
    post_order_visit(expr, |expr| {
        let Some(ty) = &expr.checked_type_ else {
            return Ok(());
        };
        let options = isoform::traverse::WalkOptions::default();
        options.walk_objects(ty, |object, _| {
            if let Some(tensor) = object.downcast_ref::<TensorType>()
                && !found.contains(&tensor.dtype)
            {
                found.push(tensor.dtype);
            }
            Ok(isoform::traverse::WalkResult::<()>::Advance)
        })?;
        Ok(())
    })?;
    Ok(found)
}

/// The number of multiplications followed by an addition in the convolutions, dense layers
/// and products of matrices of an expression: `nn.conv2d`, `nn.dense`, `nn.batch_matmul`.
///
/// A function does not count where it is only defined. Linear in the number of expressions.
///
/// # Errors
///
/// `ValueError` for a call of these operators without inferred types or with unknown
/// sizes, and for a count beyond 64 bits.
pub fn total_mac_number(expr: &Ref<RelayExpr>) -> Result<i64> {
    let mut total: i64 = 0;
    post_order_visit(expr, |expr| {
        let Some((call, op)) = op_of(expr) else {
            return Ok(());
        };
        let count = match &*op.name {
            "nn.conv2d" => convolution(call)?,
            "nn.dense" => {
                let (data, weight) = (shape(call, 0)?, shape(call, 1)?);
                let rows = data.split_last().map_or(&[][..], |(_, rows)| rows);
                product(rows.iter().chain(&weight))?
            }
            "nn.batch_matmul" => {
                let (left, out) = (shape(call, 0)?, type_shape(call)?);
                let is_transposed = flag(call, "transpose_a");
                let inner = left
                    .len()
                    .checked_sub(if is_transposed { 2 } else { 1 })
                    .and_then(|position| left.get(position).copied());
                product(out.iter().chain(&inner))?
            }
            _ => return Ok(()),
        };
        total = total.checked_add(count).ok_or_else(too_large)?;
        Ok(())
    })?;
    Ok(total)
}

fn convolution(call: &Ref<Call>) -> Result<i64> {
    let (weight, out) = (shape(call, 1)?, type_shape(call)?);
    let layout = attribute(call, "kernel_layout");
    let layout = layout.as_ref().and_then(Value::as_str).unwrap_or("OIHW");
    // The sizes of the kernel and of the input channels of one group.
    let axes = layout.chars().zip(&weight);
    let inner: Vec<i64> = axes
        .filter(|(axis, _)| matches!(axis, 'I' | 'H' | 'W' | 'i'))
        .map(|(_, size)| *size)
        .collect();
    if inner.len() < 3 {
        return Err(Error::value_error(format!(
            "nn.conv2d: expected a kernel with the axes of the layout {layout:?}, got {} axes",
            weight.len()
        )));
    }
    product(out.iter().chain(&inner))
}

fn attribute(call: &Call, name: &str) -> Option<Value> {
    let attrs: &Ref<Attrs> = call.attrs.as_ref()?;
    attrs.attribute(name).ok()
}

fn flag(call: &Call, name: &str) -> bool {
    matches!(
        attribute(call, name).as_ref().map(Value::view),
        Some(ValueRef::Bool(true))
    )
}

fn too_large() -> Error {
    Error::value_error("total_mac_number: expected a count that fits in 64 bits")
}

fn product<'s>(sizes: impl Iterator<Item = &'s i64>) -> Result<i64> {
    let mut sizes = sizes;
    sizes.try_fold(1i64, |product, size| {
        product.checked_mul(*size).ok_or_else(too_large)
    })
}

/// The shape of an argument.
fn shape(call: &Ref<Call>, argument: usize) -> Result<Vec<i64>> {
    let Some(arg) = call.args.get(argument) else {
        return Err(Error::value_error(format!(
            "total_mac_number: expected an argument {argument} of the call, got {}",
            call.args.len()
        )));
    };
    shape_of(arg)
}

fn type_shape(call: &Ref<Call>) -> Result<Vec<i64>> {
    shape_of(&call.expr())
}

fn shape_of(expr: &Ref<RelayExpr>) -> Result<Vec<i64>> {
    let ty = expr.checked_type()?;
    let Some(tensor) = ty.downcast_ref::<TensorType>() else {
        return Err(Error::value_error(format!(
            "total_mac_number: expected a tensor, got {}",
            ty.type_info().key()
        )));
    };
    let size = |size: &Ref<isoform_ir::ir::PrimExpr>| match size.downcast_ref::<IntImm>() {
        Some(size) => Ok(size.value),
        None => Err(Error::value_error(format!(
            "total_mac_number: expected a known size, got {}",
            size.type_info().key()
        ))),
    };
    tensor.shape.iter().map(size).collect()
}

fn by_name(counts: BTreeMap<String, i64>) -> Map<Str, i64> {
    let counts = counts.into_iter();
    counts.map(|(name, count)| (name.into(), count)).collect()
}

/// The numbers of calls of operators in an expression, by name.
#[export("relay.analysis.count_ops")]
fn exported_count_ops(expr: &Ref<RelayExpr>) -> Result<Map<Str, i64>> {
    count_ops(expr).map(by_name)
}

/// The number of calls of each operator in the functions of a module, by name.
#[export("relay.analysis.list_op_freqs")]
fn exported_list_op_freqs(r#mod: &Ref<IRModule>) -> Result<Map<Str, i64>> {
    list_op_freqs(r#mod).map(by_name)
}

/// The largest number of calls of some operators on a path through an expression.
#[export("relay.analysis.count_layers")]
fn exported_count_layers(expr: &Ref<RelayExpr>, valid_ops: Array<Str>) -> Result<i64> {
    let ops: Vec<&str> = valid_ops.iter().map(|name| &**name).collect();
    count_layers(expr, &ops)
}

/// The data types of the tensors in an expression, as far as type inference knows them.
#[export("relay.analysis.all_dtypes")]
fn exported_all_dtypes(expr: &Ref<RelayExpr>) -> Result<Vec<DType>> {
    all_dtypes(expr)
}

/// The number of multiplications followed by an addition in convolutions, dense layers and
/// products of matrices.
#[export("relay.analysis.get_total_mac_number")]
fn exported_total_mac_number(expr: &Ref<RelayExpr>) -> Result<i64> {
    total_mac_number(expr)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![
        exported_count_ops,
        exported_list_op_freqs,
        exported_count_layers,
        exported_all_dtypes,
        exported_total_mac_number
    ]
}
