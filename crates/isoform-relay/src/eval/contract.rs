//! Calls of operators on values: the requirements of type inference, and its promises about
//! the result.

use super::call::Refusal;
use crate::attrs::sizes;
use crate::is_primitive_op;
use crate::op::dims;
use crate::op::relation::{CallTypes, solve};
use isoform::functions::Function;
use isoform::values::Tensor;
use isoform::{Error, Ref, Result, Value};
use isoform_ir::ir::{Attrs, IncompleteType, Op, TensorType, TupleType, Type, TypeRelation};

/// The type relation of an operator.
#[derive(Clone)]
pub(super) struct Contract {
    relation: Function,
    inputs: usize,
}

impl Contract {
    /// None for operators without a relation.
    pub(super) fn of(op: &Op) -> Option<Contract> {
        let callee = Op::get(&op.name).ok()?.upcast();
        if !is_primitive_op(&callee) {
            return None;
        }
        let ty = op.op_type()?;
        let relation = ty.type_constraints.get(0)?.downcast_ref::<TypeRelation>()?;
        Some(Contract {
            relation: relation.func.func().ok()?,
            inputs: ty.arg_types.len(),
        })
    }

    /// The type of the result of a call on these values; None if the relation cannot
    /// tell, for example because a value is a function.
    pub(super) fn result(
        &self,
        values: &[Value],
        attrs: Option<&Ref<Attrs>>,
    ) -> std::result::Result<Option<Ref<Type>>, Refusal> {
        if values.len() != self.inputs {
            let (expected, got) = (self.inputs, values.len());
            let error = format!("expected {expected} arguments, got {got}");
            return Err(Error::type_error(error).into());
        }
        let types: Vec<Ref<Type>> = values.iter().map(type_of).collect();
        let mut call = CallTypes::new(&types, attrs);
        let result = solve(&self.relation, &mut call)?;
        for (position, expected) in call.into_found() {
            let (Some(expected), Some(value)) =
                (expected.downcast_ref::<TensorType>(), values.get(position))
            else {
                continue;
            };
            if !fits(expected, value) {
                return Err(Error::type_error(format!(
                    "argument {}: expected a tensor of {}, got {}",
                    position + 1,
                    tensor_text(expected),
                    value_text(value)
                ))
                .into());
            }
        }
        Ok(result)
    }
}

/// The type of a value; a hole for what is neither a tensor nor a tuple of tensors.
fn type_of(value: &Value) -> Ref<Type> {
    let tensor = |tensor: &Tensor| {
        let shape = sizes(tensor.shape().iter().copied());
        dims::tensor(shape, tensor.dtype())
    };
    let field = |value: &Value| match value.peek::<Tensor>() {
        Some(found) => tensor(found),
        None => IncompleteType::new().upcast(),
    };
    match value.items() {
        Some(items) => TupleType::new(items.iter().map(field).collect::<Vec<_>>()).upcast(),
        None => field(value),
    }
}

/// Checks the result of a kernel of a program against the type that inference finds.
///
/// # Errors
///
/// `TypeError` with a description of both.
pub(super) fn check_result(promised: &Ref<Type>, value: &Value) -> Result<()> {
    let wrong = |place: &str, expected: &str, got: &Value| {
        Err(Error::type_error(format!(
            "the result of the kernel{place}: type inference expects {expected}, got {}",
            value_text(got)
        )))
    };
    if let Some(expected) = promised.downcast_ref::<TensorType>() {
        return if fits(expected, value) {
            Ok(())
        } else {
            wrong("", &format!("a tensor of {}", tensor_text(expected)), value)
        };
    }
    let Some(tuple) = promised.downcast_ref::<TupleType>() else {
        return Ok(());
    };
    let Some(items) = value
        .items()
        .filter(|items| items.len() == tuple.fields.len())
    else {
        let expected = format!("a tuple of {} tensors", tuple.fields.len());
        return wrong("", &expected, value);
    };
    for (position, (field, item)) in tuple.fields.iter().zip(items.iter()).enumerate() {
        if let Some(expected) = field.downcast_ref::<TensorType>()
            && !fits(expected, item)
        {
            let expected = format!("a tensor of {}", tensor_text(expected));
            return wrong(&format!(" at [{position}]"), &expected, item);
        }
    }
    Ok(())
}

/// True if a value is a tensor of a type; sizes that are not known numbers fit all.
pub(super) fn fits(expected: &Ref<TensorType>, value: &Value) -> bool {
    value.peek::<Tensor>().is_some_and(|tensor| {
        let sizes = expected.shape.iter().map(dims::known);
        let same = |(size, dim): (Option<i64>, &i64)| size.is_none_or(|size| size == *dim);
        tensor.dtype() == expected.dtype
            && tensor.shape().len() == expected.shape.len()
            && sizes.zip(tensor.shape()).all(same)
    })
}

/// The data type and shape of a tensor type, for messages.
pub(super) fn tensor_text(expected: &Ref<TensorType>) -> String {
    let size = |dim| dims::known(dim).map_or("?".to_owned(), |size| size.to_string());
    let shape: Vec<String> = expected.shape.iter().map(size).collect();
    format!("{} and shape [{}]", expected.dtype, shape.join(", "))
}

/// The data type and shape of a tensor, or the type of another value, for messages.
pub(super) fn value_text(value: &Value) -> String {
    match value.peek::<Tensor>() {
        Some(tensor) => format!("{} of shape {:?}", tensor.dtype(), tensor.shape()),
        None => value.type_name().to_owned(),
    }
}
