//! The values of a main graph or function: their definitions and uses.

use std::collections::{HashMap, HashSet, hash_map::Entry};

use isoform::values::{DType, Tensor, ValueRef};
use isoform::{Array, Ref, Str, Value};

use super::place::call_place;
use crate::{
    error::{OnnxError, Result, ResultExt},
    import::{attribute_kind::is_named, context::MAX_NESTING},
    ir::{Call, Input, Output, SparseTensor, StringTensor},
    layout::{Body, BodyKind, Listing, attributes},
};

/// The largest number of outputs of a node.
const MAX_OUTPUTS: i64 = 1 << 20;

/// Constants of up to this many bytes are repeated wherever they are results of a
/// graph; larger constants are written once.
const REPEATED_BYTES: usize = 1024;

/// A value by identity. Tensors are the same if they are views of the same memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Input(u64),
    Output(u64, i64),
    Tensor(usize, usize, DType, Vec<i64>),
    Constant(u64),
}

impl Key {
    /// The key of a value that a node can use.
    pub(super) fn of(value: &Value) -> Result<Key> {
        match value.view() {
            ValueRef::Tensor(tensor) => Ok(Key::of_tensor(tensor)),
            ValueRef::Object(object) => {
                if let Some(output) = object.downcast_ref::<Output>() {
                    check_index(output)?;
                    return Ok(Key::Output(output.call.identity(), output.index));
                }
                if let Some(input) = object.downcast_ref::<Input>() {
                    return Ok(Key::Input(input.identity()));
                }
                let is_constant = object.downcast_ref::<StringTensor>().is_some()
                    || object.downcast_ref::<SparseTensor>().is_some();
                if is_constant {
                    Ok(Key::Constant(object.identity()))
                } else {
                    Err(unexpected(value))
                }
            }
            _ => Err(unexpected(value)),
        }
    }

    fn of_tensor(tensor: &Tensor) -> Key {
        let data = tensor.data();
        Key::Tensor(
            data.as_ptr() as usize,
            data.len(),
            tensor.dtype(),
            tensor.shape().to_vec(),
        )
    }

    fn is_constant(&self) -> bool {
        matches!(self, Key::Tensor(..) | Key::Constant(_))
    }
}

fn unexpected(value: &Value) -> OnnxError {
    OnnxError::value(format!(
        "expected onnx.Output, onnx.Input, a tensor, onnx.StringTensor or onnx.SparseTensor, got {}",
        value.type_name()
    ))
}

fn check_index(output: &Output) -> Result<()> {
    let outputs = output.call.outputs;
    if (0..outputs).contains(&output.index) {
        return Ok(());
    }
    Err(OnnxError::value(format!(
        "expected one of the {outputs} outputs of {}, got index {}",
        call_place(&output.call),
        output.index
    )))
}

/// True for a constant small enough to be repeated wherever it is a result.
pub(super) fn is_repeated(key: &Key, value: &Value) -> bool {
    key.is_constant() && size(value) <= REPEATED_BYTES
}

/// The number of bytes of a constant.
fn size(value: &Value) -> usize {
    match value.view() {
        ValueRef::Tensor(tensor) => tensor.data().len(),
        ValueRef::Object(object) => {
            if let Some(strings) = object.downcast_ref::<StringTensor>() {
                strings.values.iter().map(|text| text.len()).sum()
            } else if let Some(sparse) = object.downcast_ref::<SparseTensor>() {
                sparse.positions.data().len().saturating_mul(2)
            } else {
                0
            }
        }
        _ => 0,
    }
}

/// A constant that is written for its users.
pub(super) struct Constant {
    pub(super) key: Key,
    pub(super) value: Value,
    /// The innermost body around all users.
    pub(super) home: usize,
    /// The name preferred by a user of the constant; may be empty.
    pub(super) wanted: Str,
}

/// The bodies of a main graph or function, and their values.
pub(super) struct Values<'l> {
    pub(super) listing: &'l Listing,
    /// The first body, which contains the others.
    pub(super) root: usize,
    /// One past the last body.
    pub(super) end: usize,
    /// The body that lists a call.
    places: HashMap<u64, usize>,
    /// The body whose input it is.
    owners: HashMap<u64, usize>,
    /// The body of an inner graph.
    pub(super) body_of: HashMap<u64, usize>,
    /// In the order of first use.
    pub(super) constants: Vec<Constant>,
    constant_at: HashMap<Key, usize>,
    /// The outputs that something uses.
    pub(super) used: HashSet<(u64, i64)>,
    /// Names that values had in their file.
    pub(super) wanted: HashSet<Str>,
}

impl<'l> Values<'l> {
    /// Collects the values, and checks that the definition of each value reaches its
    /// uses. Constants whose names are `listed` as inputs of the first body are defined
    /// there. O(uses × depth of bodies).
    pub(super) fn collect(
        listing: &'l Listing,
        root: usize,
        end: usize,
        listed: &HashSet<Str>,
    ) -> Result<Self> {
        let mut values = Values {
            listing,
            root,
            end,
            places: HashMap::new(),
            owners: HashMap::new(),
            body_of: HashMap::new(),
            constants: Vec::new(),
            constant_at: HashMap::new(),
            used: HashSet::new(),
            wanted: HashSet::new(),
        };
        for body_index in root..end {
            values
                .define(body_index)
                .within(|| body_place(&listing.bodies[body_index]))?;
        }
        for body_index in root..end {
            values
                .uses(body_index)
                .within(|| body_place(&listing.bodies[body_index]))?;
        }
        for constant in &mut values.constants {
            if listed.contains(&constant.wanted) {
                constant.home = root;
            }
        }
        Ok(values)
    }

    fn define(&mut self, body_index: usize) -> Result<()> {
        let body = &self.listing.bodies[body_index];
        if body.depth > MAX_NESTING {
            return Err(OnnxError::value(format!(
                "graphs are nested more than {MAX_NESTING} deep"
            )));
        }
        if let BodyKind::Graph(graph) = &body.kind
            && self.body_of.insert(graph.identity(), body_index).is_some()
        {
            return Err(OnnxError::value(
                "the graph is used in two places, expected a copy for each",
            ));
        }
        for (position, param) in body.kind.params().iter().enumerate() {
            self.wanted.insert(param.name.clone());
            if self.owners.insert(param.identity(), body_index).is_some() {
                return Err(OnnxError::value(format!(
                    "input #{position} '{}' is an input of two graphs, or listed twice",
                    param.name
                )));
            }
        }
        self.wanted.extend(body.kind.result_names().iter().cloned());
        for node in &body.nodes {
            let call = &node.call;
            if !(0..=MAX_OUTPUTS).contains(&call.outputs) {
                return Err(OnnxError::value(format!(
                    "expected 0 to {MAX_OUTPUTS} outputs, got {}",
                    call.outputs
                ))
                .within(call_place(call)));
            }
            self.places.insert(call.identity(), body_index);
            let names = call.input_names.iter().chain(call.output_names.iter());
            self.wanted.extend(names.cloned());
        }
        Ok(())
    }

    fn uses(&mut self, body_index: usize) -> Result<()> {
        let listing = self.listing;
        let body = &listing.bodies[body_index];
        for node in &body.nodes {
            let call = &node.call;
            self.uses_of_call(body_index, call)
                .within(|| call_place(call))?;
        }
        let kind = &body.kind;
        for (index, value) in kind.results().values().iter().enumerate() {
            let name = kind.result_names().get(index).cloned().unwrap_or_default();
            let key = Key::of(value).within(|| format!("result #{index} '{name}'"))?;
            if !is_repeated(&key, value) {
                self.add_use(body_index, key, value, name.clone())
                    .within(|| format!("result #{index} '{name}'"))?;
            } else if let Some(&constant) = self.constant_at.get(&key) {
                // The constant already has a name if nodes use it.
                if self.constants[constant].wanted.is_empty() {
                    self.constants[constant].wanted = name;
                }
            }
        }
        Ok(())
    }

    fn uses_of_call(&mut self, at: usize, call: &Ref<Call>) -> Result<()> {
        for (index, value) in call.inputs.values().iter().enumerate() {
            if !value.is_none() {
                let name = call.input_names.get(index).cloned().unwrap_or_default();
                Key::of(value)
                    .and_then(|key| self.add_use(at, key, value, name))
                    .within(|| format!("input #{index}"))?;
            }
        }
        for (name, value) in attributes(call) {
            if let Some(items) = named_values(call, name, value) {
                for item in items.values() {
                    Key::of(item)
                        .and_then(|key| self.add_use(at, key, item, Str::default()))
                        .within(|| format!("attribute '{name}'"))?;
                }
            }
        }
        Ok(())
    }

    fn add_use(&mut self, body_index: usize, key: Key, value: &Value, wanted: Str) -> Result<()> {
        match &key {
            Key::Output(call, index) => _ = self.used.insert((*call, *index)),
            Key::Input(input) => {
                let owner = self.owners.get(input).copied();
                if owner.is_none_or(|owner| self.listing.common(owner, body_index) != owner) {
                    return Err(outside(value));
                }
            }
            Key::Tensor(..) | Key::Constant(_) => match self.constant_at.entry(key.clone()) {
                Entry::Occupied(entry) => {
                    let constant = &mut self.constants[*entry.get()];
                    constant.home = self.listing.common(constant.home, body_index);
                    if constant.wanted.is_empty() {
                        constant.wanted = wanted;
                    }
                }
                Entry::Vacant(entry) => {
                    entry.insert(self.constants.len());
                    self.constants.push(Constant {
                        key,
                        value: value.clone(),
                        home: body_index,
                        wanted,
                    });
                }
            },
        }
        Ok(())
    }

    /// The body that defines a value; None for a constant used only by results.
    pub(super) fn home(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Input(input) => self.owners.get(input).copied(),
            Key::Output(call, _) => self.places.get(call).copied(),
            key => {
                let at = self.constant_at.get(key)?;
                Some(self.constants[*at].home)
            }
        }
    }
}

fn outside(value: &Value) -> OnnxError {
    let name = value.peek::<Ref<Input>>().map(|input| input.name.clone());
    OnnxError::value(format!(
        "'{}' is not an input of a graph around it",
        name.unwrap_or_default()
    ))
}

/// The values listed in an attribute like `xs` of Gradient; None for an attribute of
/// another kind.
pub(super) fn named_values<'v>(call: &Call, name: &str, value: &'v Value) -> Option<&'v Array> {
    match value.view() {
        ValueRef::Array(items) if is_named(&call.domain, &call.op, name) => Some(items),
        _ => None,
    }
}

/// The description of a body in messages.
pub(super) fn body_place(body: &Body) -> String {
    match &body.kind {
        BodyKind::Graph(graph) => format!("graph '{}'", graph.name),
        BodyKind::Function(function) => format!("function '{}'", function.name),
    }
}
