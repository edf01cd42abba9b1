//! Declared types of two models, whose dimensions have names without a meaning.

use std::collections::HashMap;

use isoform::values::ValueRef;
use isoform::{Array, Value};

use super::{identity, value_summary};
use crate::ir::{Dim, MapType, OptionalType, SequenceType, SparseTensorType, TensorType};

/// Pairs the dimensions of two models. A dimension is paired with the first dimension at
/// the same place, just as comparison pairs variables.
#[derive(Default)]
pub(super) struct Dims {
    partners: [HashMap<u64, u64>; 2],
}

impl Dims {
    /// True if two declared types are equal up to the names of paired dimensions. O(rank).
    pub(super) fn are_same(&mut self, left: &Value, right: &Value) -> bool {
        let dtype = |ty| value_summary(String::new(), ty).dtype;
        if dtype(left) != dtype(right) {
            return false;
        }
        let (Some(left), Some(right)) = (shape(left), shape(right)) else {
            return shape(left).is_none() && shape(right).is_none();
        };
        let extents = left.values().iter().zip(right.values());
        // Pair all dimensions, even after a difference.
        let differing = extents.filter(|(left, right)| !self.extents(left, right));
        differing.count() == 0 && left.len() == right.len()
    }

    fn extents(&mut self, left: &Value, right: &Value) -> bool {
        let dim = |value: &Value| {
            let dim = value.as_object()?.downcast_ref::<Dim>();
            dim.map(|_| identity(value))
        };
        match (dim(left), dim(right)) {
            (Some(left), Some(right)) => {
                let [of_left, of_right] = &mut self.partners;
                let partners = (
                    *of_left.entry(left).or_insert(right),
                    *of_right.entry(right).or_insert(left),
                );
                partners == (right, left)
            }
            (None, None) => match (left.view(), right.view()) {
                (ValueRef::Int(left), ValueRef::Int(right)) => left == right,
                (left, right) => matches!(left, ValueRef::None) && matches!(right, ValueRef::None),
            },
            _ => false,
        }
    }
}

/// The declared extents of the tensors in a type; None for an unknown rank.
fn shape(ty: &Value) -> Option<&Array> {
    let mut current = ty;
    // Only the last part of a type nests, so a loop suffices.
    loop {
        let object = current.as_object()?;
        if let Some(ty) = object.downcast_ref::<SequenceType>() {
            current = &ty.elem;
        } else if let Some(ty) = object.downcast_ref::<OptionalType>() {
            current = &ty.elem;
        } else if let Some(ty) = object.downcast_ref::<MapType>() {
            current = &ty.value;
        } else if let Some(ty) = object.downcast_ref::<TensorType>() {
            return ty.shape.as_ref();
        } else {
            return object.downcast_ref::<SparseTensorType>()?.shape.as_ref();
        }
    }
}
