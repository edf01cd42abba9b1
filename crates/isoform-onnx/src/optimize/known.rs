//! Values by what inference knows of their elements.

use std::collections::HashMap;

use isoform::Value;
use isoform::values::Tensor;

use crate::elem_type::ElemType;
use crate::facts::{Fact, Size};
use crate::import::dtype;

type Key = (ElemType, Vec<i64>, Vec<Size>);

/// Small integer tensors whose elements are known, by these: two tensors with the same
/// elements in every run are one value.
#[derive(Default)]
pub(super) struct Known {
    scopes: Vec<HashMap<Key, Value>>,
}

impl Known {
    pub(super) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// The tensor, if all elements are numbers.
    pub(super) fn constant(&self, fact: &Fact) -> Option<Value> {
        let (elements, shape) = (fact.elements_const()?, fact.dims_const()?);
        let elem = fact.elem?;
        let width = elem.byte_len(1)?;
        let bytes: Vec<u8> = elements
            .iter()
            .flat_map(|value| value.to_le_bytes().into_iter().take(width))
            .collect();
        Some(Tensor::new(dtype(elem)?, shape, bytes).ok()?.into())
    }

    /// A value with these elements.
    pub(super) fn find(&self, fact: &Fact) -> Option<Value> {
        let key = key(fact)?;
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(&key)).cloned()
    }

    pub(super) fn insert(&mut self, fact: &Fact, value: &Value) {
        if let (Some(key), Some(scope)) = (key(fact), self.scopes.last_mut()) {
            scope.entry(key).or_insert_with(|| value.clone());
        }
    }
}

fn key(fact: &Fact) -> Option<Key> {
    let elements = fact
        .elements
        .clone()
        .filter(|elements| !elements.is_empty())?;
    Some((fact.elem?, fact.dims_const()?, elements))
}
