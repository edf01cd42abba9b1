//! Values for the inputs of a program.

use isoform::Value;
use isoform::values::ValueRef;

use super::error::RunError;
use crate::eval::constants;
use crate::ir::{Graph, Input, TensorType};

/// A value for each input, in the order of the graph.
pub(super) fn bind(graph: &Graph, inputs: &[(String, Value)]) -> Result<Vec<Value>, RunError> {
    let params: Vec<&Input> = graph.params.iter().map(|param| &**param).collect();
    let mut values: Vec<Option<Value>> = vec![None; params.len()];
    let by_position = inputs.iter().all(|(name, _)| name.is_empty());
    if by_position && inputs.len() > params.len() {
        return Err(RunError::of_inputs(format!(
            "expected at most {} inputs, got {}",
            params.len(),
            inputs.len()
        )));
    }
    let places: std::collections::HashMap<&str, usize> = params
        .iter()
        .enumerate()
        .map(|(index, param)| (param.name.as_str(), index))
        .collect();
    for (position, (name, value)) in inputs.iter().enumerate() {
        let index = if by_position {
            Some(position)
        } else {
            places.get(name.as_str()).copied()
        };
        let Some(index) = index else {
            let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
            return Err(RunError::of_inputs(format!(
                "expected the name of an input, one of {}, got '{name}'",
                names.join(", ")
            )));
        };
        check(params[index], value)?;
        if values[index].replace(value.clone()).is_some() {
            return Err(RunError::of_inputs(format!(
                "input '{name}' is given twice"
            )));
        }
    }
    let pairs = values.into_iter().zip(params);
    let bound = pairs.map(|(value, param)| match value {
        Some(value) => Ok(value),
        None if !param.default.is_none() => Ok(param.default.clone()),
        None => Err(RunError::of_inputs(format!(
            "input '{}' is missing",
            param.name.as_str()
        ))),
    });
    bound.collect()
}

/// An error if a tensor contradicts the declared type.
fn check(param: &Input, value: &Value) -> Result<(), RunError> {
    let ty = param
        .ty
        .as_object()
        .and_then(|object| object.downcast_ref::<TensorType>());
    let Some(ty) = ty else {
        return Ok(());
    };
    let (elem, shape) = if let Some(tensor) = constants::dense(value) {
        (tensor.dtype().to_string(), tensor.shape())
    } else if let Some(strings) = constants::strings(value) {
        ("string".to_owned(), &strings.shape[..])
    } else {
        return Err(RunError::of_inputs(format!(
            "input '{}': expected a tensor, got {}",
            param.name.as_str(),
            value.type_name()
        )));
    };
    let declared = match ty.elem.view() {
        ValueRef::DType(dtype) => Some(dtype.to_string()),
        ValueRef::Str(name) => Some(name.to_owned()),
        _ => None,
    };
    if let Some(declared) = declared
        && declared != elem
    {
        return Err(RunError::of_inputs(format!(
            "input '{}': expected elements of type {declared}, got {elem}",
            param.name.as_str()
        )));
    }
    // Negative extents are unknown ones.
    let extent = |dim: &Value| dim.as_int().filter(|size| *size >= 0);
    let fits = |dims: &isoform::Array| {
        let pairs = || dims.values().iter().zip(shape);
        dims.len() == shape.len()
            && pairs()
                .all(|(declared, size)| extent(declared).is_none_or(|expected| expected == *size))
    };
    match &ty.shape {
        Some(dims) if !fits(dims) => {
            let declared = dims
                .values()
                .iter()
                .map(|dim| extent(dim).map_or_else(|| "?".to_owned(), |size| size.to_string()));
            Err(RunError::of_inputs(format!(
                "input '{}': expected shape [{}], got {shape:?}",
                param.name.as_str(),
                declared.collect::<Vec<_>>().join(", ")
            )))
        }
        _ => Ok(()),
    }
}
