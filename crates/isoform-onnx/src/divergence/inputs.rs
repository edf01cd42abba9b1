//! The inputs of both models as pairs, and values for them.

use std::collections::HashSet;

use isoform::values::{DType, DTypeCode, Tensor, ValueRef};
use isoform::{Array, Error, Node as _, Ref, Value};

use super::quantization::cast;
use crate::ir::{Graph, Input, Program, TensorType};
use crate::verify::Inputs;

/// An input of the left model, and the input of the right model that gets the same value.
pub(super) struct InputPair {
    pub(super) left: Ref<Input>,
    pub(super) right: Ref<Input>,
}

/// Pairs the inputs: by name if both models have the same names, and otherwise by position.
/// Inputs with a default are paired by name alone. O(inputs).
///
/// # Errors
///
/// `ValueError` for models with different inputs.
pub(super) fn paired(left: &Graph, right: &Graph) -> isoform::Result<Vec<InputPair>> {
    let [needed_left, needed_right] = [left, right].map(|graph| {
        let params = graph.params.iter();
        params
            .filter(|param| param.default.is_none())
            .collect::<Vec<_>>()
    });
    let names = |params: &[&Ref<Input>]| -> HashSet<String> {
        params.iter().map(|param| param.name.to_string()).collect()
    };
    let by_name = |param: &Input| right.params.iter().find(|other| other.name == param.name);
    if needed_left.len() != needed_right.len() {
        return Err(Error::value_error(format!(
            "the models have different inputs: the left model has {}, the right model has {}",
            listing(&needed_left),
            listing(&needed_right)
        )));
    }
    let has_same_names = names(&needed_left) == names(&needed_right);
    let mut pairs = Vec::new();
    for (left, other) in needed_left.into_iter().zip(needed_right) {
        let right = by_name(left).filter(|_| has_same_names).unwrap_or(other);
        check_types(left, right)?;
        pairs.push(InputPair {
            left: left.clone(),
            right: right.clone(),
        });
    }
    for left in left.params.iter().filter(|param| !param.default.is_none()) {
        if let Some(right) = by_name(left).filter(|right| !right.default.is_none()) {
            pairs.push(InputPair {
                left: left.clone(),
                right: right.clone(),
            });
        }
    }
    Ok(pairs)
}

fn listing(params: &[&Ref<Input>]) -> String {
    let names: Vec<String> = params.iter().map(|it| format!("'{}'", it.name)).collect();
    match names.len() {
        0 => "none".to_owned(),
        count => format!("{count} ({})", names.join(", ")),
    }
}

fn tensor_type(input: &Input) -> Option<&TensorType> {
    let object = input.ty.as_object()?;
    object.downcast_ref::<TensorType>().map(|ty| &**ty)
}

/// True for the types of floats that hold each other's small numbers exactly.
fn is_float(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Float | DTypeCode::BFloat) && dtype.bits() >= 16
}

fn elem_text(elem: &Value) -> String {
    match elem.view() {
        ValueRef::DType(dtype) => dtype.to_string(),
        _ => elem.as_str().unwrap_or("unknown").to_owned(),
    }
}

/// Refuses inputs that no single value fits.
fn check_types(left: &Input, right: &Input) -> isoform::Result<()> {
    let (Some(l), Some(r)) = (tensor_type(left), tensor_type(right)) else {
        return Ok(());
    };
    let refused = |what: &str, [l, r]: [String; 2]| {
        Err(Error::value_error(format!(
            "the models have different inputs: '{}' of the left model has {what} {l}, and '{}' of \
             the right model has {what} {r}",
            left.name, right.name
        )))
    };
    let elems = [&l.elem, &r.elem].map(elem_text);
    let is_exchangeable = match (l.elem.view(), r.elem.view()) {
        (ValueRef::DType(l), ValueRef::DType(r)) => l == r || is_float(l) && is_float(r),
        _ => elems[0] == elems[1] || elems.iter().any(|text| text == "unknown"),
    };
    if !is_exchangeable {
        return refused("elements of", elems);
    }
    let (Some(l), Some(r)) = (&l.shape, &r.shape) else {
        return Ok(());
    };
    let size = |dim: &Value| dim.as_int().filter(|size| *size >= 0);
    let fits = |(l, r): (&Value, &Value)| match (size(l), size(r)) {
        (Some(l), Some(r)) => l == r,
        _ => true,
    };
    if l.len() == r.len() && l.values().iter().zip(r.values()).all(fits) {
        return Ok(());
    }
    let text = |shape: &Array| {
        let sizes = shape.values().iter();
        let sizes = sizes.map(|dim| size(dim).map_or_else(|| "?".to_owned(), |it| it.to_string()));
        format!("[{}]", sizes.collect::<Vec<_>>().join(", "))
    };
    refused("shape", [text(l), text(r)])
}

/// The inputs of the left model with what the right model declares in addition: sizes, and
/// the narrower type of two types of floats, whose numbers the wider type holds exactly.
pub(super) fn declared(left: &Graph, pairs: &[InputPair], user_inputs: &HashSet<String>) -> Graph {
    let params = left.params.iter().map(|param| {
        let pair = pairs
            .iter()
            .find(|pair| pair.left.identity() == param.identity());
        let types =
            pair.and_then(|pair| Some((tensor_type(&pair.left)?, tensor_type(&pair.right)?)));
        let Some((l, r)) = types else {
            return param.clone();
        };
        let elem = match (l.elem.view(), r.elem.view()) {
            (ValueRef::DType(l), ValueRef::DType(r))
                if r.bits() < l.bits() && !user_inputs.contains(param.name.as_str()) =>
            {
                r.into()
            }
            (ValueRef::None, _) => r.elem.clone(),
            _ => l.elem.clone(),
        };
        let ty = TensorType {
            elem,
            shape: merged_shape(l.shape.as_ref(), r.shape.as_ref()),
        };
        Ref::new(Input {
            ty: Ref::new(ty).into(),
            ..param.clone_fields()
        })
    });
    Graph {
        params: params.collect(),
        ..left.clone_fields()
    }
}

/// The left dimensions, with sizes that only the right has.
fn merged_shape(left: Option<&Array>, right: Option<&Array>) -> Option<Array> {
    let (Some(left), Some(right)) = (left, right) else {
        return left.or(right).cloned();
    };
    let dims = left.values().iter().zip(right.values());
    let dims = dims.map(|(l, r)| match (l.as_int(), r.as_int()) {
        (None, Some(size)) if size >= 0 => r.clone(),
        _ if l.is_none() => r.clone(),
        _ => l.clone(),
    });
    Some(Array::from(dims.collect::<Vec<Value>>()))
}

/// The right program with its inputs in the order of the left program. O(inputs).
pub(super) fn in_left_order(program: &Ref<Program>, pairs: &[InputPair]) -> Ref<Program> {
    let paired: HashSet<u64> = pairs.iter().map(|pair| pair.right.identity()).collect();
    let old = &program.graph.params;
    let rest = old
        .iter()
        .filter(|param| !paired.contains(&param.identity()));
    let params: Vec<Ref<Input>> = pairs
        .iter()
        .map(|pair| &pair.right)
        .chain(rest)
        .cloned()
        .collect();
    let graph = Ref::new(Graph {
        params: params.into(),
        ..program.graph.clone_fields()
    });
    Ref::new(Program {
        graph,
        ..program.clone_fields()
    })
}

/// Values for both models, from values for the left model.
///
/// # Errors
///
/// The reason why a value does not fit the right model.
pub(super) fn for_both(pairs: &[InputPair], inputs: Inputs) -> Result<[Inputs; 2], String> {
    let mut both = [Inputs::new(), Inputs::new()];
    for (name, value) in inputs {
        let Some(pair) = pairs.iter().find(|pair| pair.left.name == name.as_str()) else {
            return Err(format!(
                "input '{name}' has a default, and the right model has no such input"
            ));
        };
        let converted = |input: &Input| -> Result<Value, String> {
            let elem = tensor_type(input).map(|ty| ty.elem.view());
            match (elem, value.peek::<Tensor>()) {
                (Some(ValueRef::DType(dtype)), Some(tensor)) if dtype != tensor.dtype() => {
                    cast(&value, dtype)
                        .map_err(|reason| format!("input '{}': {reason}", input.name))
                }
                _ => Ok(value.clone()),
            }
        };
        both[0].push((pair.left.name.to_string(), converted(&pair.left)?));
        both[1].push((pair.right.name.to_string(), converted(&pair.right)?));
    }
    Ok(both)
}
