//! Values by their inferred elements.

use std::collections::HashMap;

use isoform::Value;
use isoform::values::Tensor;

use crate::elem_type::ElemType;
use crate::facts::{Fact, Size};
use crate::ir::Call;

use super::constants::uniform_element;
use crate::values::ValueKey;

type Key = (ElemType, Vec<i64>, Vec<Size>);

type UniformKey = (ElemType, Vec<u8>, Vec<Size>);

/// Small integer tensors with known elements, by these elements: two tensors with the
/// same elements in every run are one value.
#[derive(Default)]
pub(super) struct ValueTable {
    scopes: Vec<HashMap<Key, Value>>,
    /// Tensors of equal elements, by these and the shape.
    uniform: Vec<HashMap<UniformKey, Value>>,
    /// The element of such tensors, by value.
    elements: HashMap<ValueKey, Vec<u8>>,
}

impl ValueTable {
    pub(super) fn enter(&mut self) {
        self.scopes.push(HashMap::new());
        self.uniform.push(HashMap::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
        self.uniform.pop();
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
        Some(Tensor::new(elem.dtype()?, shape, bytes).ok()?.into())
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

/// Operators whose results contain only elements of the first input.
const SELECTING: &[&str] = &[
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];

impl ValueTable {
    /// The bytes of the element, if all elements of a value are known to be equal.
    pub(super) fn element(&self, value: &Value) -> Option<Vec<u8>> {
        match self.elements.get(&ValueKey::of(value)) {
            Some(element) => Some(element.clone()),
            None => Some(uniform_element(value)?.to_vec()),
        }
    }

    /// Learns whether all elements of the outputs of a call are equal.
    pub(super) fn learn_element(&mut self, call: &Call, outputs: &[Value]) {
        if let Some(element) = self.made_element(call) {
            for output in outputs {
                self.elements.insert(ValueKey::of(output), element.clone());
            }
        }
    }

    fn made_element(&self, call: &Call) -> Option<Vec<u8>> {
        match call.standard_op()? {
            "ConstantOfShape" => match call.attribute("value").ok()? {
                Some(value) => Some(uniform_element(value)?.to_vec()),
                None => Some(vec![0; 4]),
            },
            "Concat" => {
                let (first, others) = call.inputs.values().split_first()?;
                let element = self.element(first)?;
                let is_same = |part: &Value| self.element(part).as_ref() == Some(&element);
                others.iter().all(is_same).then_some(element)
            }
            // Zero is zero in all types of numbers.
            "Cast" => {
                let element = self.element(call.input(0)?)?;
                let width = call.elem("to").ok()??.byte_len(1)?;
                let is_zero = element.iter().all(|byte| *byte == 0);
                is_zero.then(|| vec![0; width])
            }
            op if SELECTING.contains(&op) => self.element(call.input(0)?),
            _ => None,
        }
    }

    /// An earlier value of the same shape with the same elements, all equal. Without an
    /// earlier value, remembers the given value.
    pub(super) fn uniform(&mut self, value: &Value, fact: &Fact) -> Option<Value> {
        let element = self.elements.get(&ValueKey::of(value))?.clone();
        let key = (fact.elem?, element, fact.shape.clone()?);
        let mut scopes = self.uniform.iter().rev();
        if let Some(found) = scopes.find_map(|scope| scope.get(&key)) {
            return (ValueKey::of(found) != ValueKey::of(value)).then(|| found.clone());
        }
        self.uniform.last_mut()?.insert(key, value.clone());
        None
    }
}

fn key(fact: &Fact) -> Option<Key> {
    let elements = fact
        .elements
        .clone()
        .filter(|elements| !elements.is_empty())?;
    Some((fact.elem?, fact.dims_const()?, elements))
}
