//! Declared types that levels leave out.

use isoform::values::ValueRef;
use isoform::{Array, Node as _, Ref, Value};

use super::Interface;
use crate::ir::{
    Graph, MapType, OptionalType, Program, SequenceType, SparseTensorType, TensorType,
};
use crate::layout::graph_in;

/// True for types that need not be distinguished: two absent types, or the same object.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left.as_object(), right.as_object()) {
        (None, None) => left.is_none() && right.is_none(),
        (Some(left), Some(right)) => left.same_as(right),
        _ => false,
    }
}

/// Replaces the declared types of a graph's results; None if the graph has these types.
pub(super) fn with_result_types(graph: &Ref<Graph>, types: Vec<Value>) -> Option<Ref<Graph>> {
    let mut pairs = types.iter().zip(graph.result_types.values());
    if pairs.all(|(new, old)| same(new, old)) {
        return None;
    }
    let fields = graph.clone_fields();
    Some(Ref::new(Graph {
        result_types: Array::from(types),
        ..fields
    }))
}

/// The bodies in an attribute, without declared types of their results; None if there
/// is nothing to leave out.
pub(super) fn without_result_types(value: &Value) -> Option<Value> {
    let bare = |value: &Value| {
        let graph = graph_in(value)?;
        let types = vec![Value::NONE; graph.result_types.len()];
        with_result_types(graph, types).map(Value::from)
    };
    let ValueRef::Array(items) = value.view() else {
        return bare(value);
    };
    let items = items.values().iter();
    let changed: Vec<Option<Value>> = items.clone().map(bare).collect();
    if changed.iter().all(Option::is_none) {
        return None;
    }
    let items = changed
        .into_iter()
        .zip(items)
        .map(|(new, old)| new.unwrap_or_else(|| old.clone()));
    Some(Array::from(items.collect::<Vec<_>>()).into())
}

/// The rewritten program, with the element types declared by the original for the
/// results of the main graph.
pub(super) fn with_main_types(
    original: &Program,
    mapped: Ref<Program>,
    open: &Interface,
) -> Ref<Program> {
    let declared = original.graph.result_types.values().iter().enumerate();
    let types = declared.map(|(at, ty)| {
        if open.results.contains(&at) {
            Value::NONE
        } else {
            without_shape(ty)
        }
    });
    match with_result_types(&mapped.graph, types.collect()) {
        None => mapped,
        Some(graph) => {
            let fields = mapped.clone_fields();
            Ref::new(Program { graph, ..fields })
        }
    }
}

/// True for a type without an element type.
pub(super) fn is_undeclared(ty: &Value) -> bool {
    let elem = match ty.as_object() {
        None => return true,
        Some(object) => match object.downcast_ref::<TensorType>() {
            Some(ty) => &ty.elem,
            None => match object.downcast_ref::<SparseTensorType>() {
                Some(ty) => &ty.elem,
                None => return false,
            },
        },
    };
    matches!(elem.view(), ValueRef::None)
}

/// The type without shapes, or None if only a shape was declared.
pub(super) fn without_shape(ty: &Value) -> Value {
    if is_undeclared(ty) {
        return Value::NONE;
    }
    // Types nest in their last part only, so a list of the enclosing types is enough.
    let mut around: Vec<&Value> = Vec::new();
    let mut current = ty;
    let mut inner = loop {
        let Some(object) = current.as_object() else {
            break current.clone();
        };
        let next = if let Some(ty) = object.downcast_ref::<SequenceType>() {
            &ty.elem
        } else if let Some(ty) = object.downcast_ref::<OptionalType>() {
            &ty.elem
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            &ty.value
        } else {
            break leaf_without_shape(current);
        };
        around.push(current);
        current = next;
    };
    if same(&inner, current) {
        return ty.clone();
    }
    while let Some(outer) = around.pop() {
        let Some(object) = outer.as_object() else {
            continue;
        };
        inner = if object.downcast_ref::<SequenceType>().is_some() {
            Ref::new(SequenceType { elem: inner }).into()
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            let key = ty.key.clone();
            Ref::new(MapType { key, value: inner }).into()
        } else {
            Ref::new(OptionalType { elem: inner }).into()
        };
    }
    inner
}

fn leaf_without_shape(ty: &Value) -> Value {
    let Some(object) = ty.as_object() else {
        return ty.clone();
    };
    if let Some(tensor) = object.downcast_ref::<TensorType>() {
        return match &tensor.shape {
            None => ty.clone(),
            Some(_) => {
                let elem = tensor.elem.clone();
                Ref::new(TensorType { elem, shape: None }).into()
            }
        };
    }
    match object.downcast_ref::<SparseTensorType>() {
        Some(tensor) if tensor.shape.is_some() => {
            let elem = tensor.elem.clone();
            Ref::new(SparseTensorType { elem, shape: None }).into()
        }
        _ => ty.clone(),
    }
}
