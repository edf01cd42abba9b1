//! Labels of values by structure alone.
//!
//! A label must not depend on names or on the order of nodes in the file, and an edit should
//! change the labels of few other nodes, because each label also occurs in the lines of
//! the users. A digest of everything upstream would change all labels downstream of
//! an edit; a number in the whole model would shift with each inserted node.
//!
//! Therefore a node is named by its operator, by the types of its constants, and by its number
//! among the nodes of this kind *since its anchor*: the last node before it, in
//! the order of printing, with a larger constant. Layers have large constants, so the
//! numbers of small operators start again at each layer, and those of small layers at
//! each larger layer. Attributes and the contents of constants have no influence: editing
//! them changes one line.

use std::collections::HashMap;

use isoform::Value;
use isoform::values::ValueRef;
use isoform_onnx::elements;
use isoform_onnx::ir::{Call, SparseTensor, StringTensor};
use isoform_onnx::layout::Node;

use super::labels::is_label;

/// The digits of a label: enough for a thousand nodes of one operator with few clashes.
const DIGITS: usize = 6;

/// Names the nodes of a program, which are added in the order of printing.
#[derive(Debug, Default)]
pub(super) struct Structure {
    /// The bodies with nodes, by number.
    bodies: HashMap<usize, BodyState>,
}

/// The nodes of one body so far.
#[derive(Debug, Default)]
struct BodyState {
    /// The name of the node that contains the body; zero for a graph or function.
    owner: u64,
    /// The elements of the largest constant and the name of possible anchors: each is
    /// larger than those after it.
    anchors: Vec<(u64, u64)>,
    /// The number of nodes of a kind since an anchor.
    counts: HashMap<u64, u64>,
}

impl Structure {
    /// The wanted label of an input of a body. O(1).
    pub(super) fn input(&self, body: usize, position: usize) -> String {
        match self.bodies.get(&body).map_or(0, |state| state.owner) {
            0 => format!("in{position}"),
            owner => format!("in{position}.{}", digits(owner)),
        }
    }

    /// The wanted label of the first output of a node. O(operands).
    pub(super) fn node(&mut self, body: usize, node: &Node) -> String {
        let call = &node.call;
        let kind = Kind::of(call);
        let state = self.bodies.entry(body).or_default();
        while state.anchors.last().is_some_and(|last| last.0 <= kind.size) {
            state.anchors.pop();
        }
        let anchor = state.anchors.last().map_or(state.owner, |last| last.1);
        let near = Hash::new().number(kind.hash).number(anchor).end();
        let count = state.counts.entry(near).or_default();
        *count += 1;
        let name = Hash::new().number(near).number(*count).end();
        if kind.size > 0 {
            state.anchors.push((kind.size, name));
        }
        for (attribute, inner) in &node.bodies {
            let owner = Hash::new().number(name).text(attribute).end().max(1);
            self.bodies.entry(*inner).or_default().owner = owner;
        }
        let op = call.op.as_str();
        let op = match call.callee {
            Some(_) => "call".to_owned(),
            None if is_label(op) => op.to_lowercase(),
            None => "value".to_owned(),
        };
        format!("{op}.{}", digits(name))
    }

    /// The label of a further output of a node with a label.
    pub(super) fn output(label: &str, index: usize) -> String {
        if index == 0 {
            label.to_owned()
        } else {
            format!("{label}:{index}")
        }
    }
}

/// The kind of a node.
struct Kind {
    hash: u64,
    /// The number of elements of the largest constant.
    size: u64,
}

impl Kind {
    fn of(call: &Call) -> Self {
        let mut hash = Hash::new().text(call.domain.as_str());
        hash = match &call.callee {
            Some(callee) => hash.number(callee.params.len() as u64).text("call"),
            None => hash.text(call.op.as_str()),
        };
        hash = hash.number(call.outputs.unsigned_abs());
        let mut size = 0;
        for (position, input) in call.inputs.values().iter().enumerate() {
            if let Some((ty, elements)) = constant(input) {
                hash = hash.number(position as u64).text(&ty);
                size = size.max(elements);
            }
        }
        let hash = hash.end();
        Kind { hash, size }
    }
}

/// The type of a constant, and its number of elements; None for another operand.
fn constant(value: &Value) -> Option<(String, u64)> {
    if let ValueRef::Tensor(tensor) = value.view() {
        let elements = elements::element_count(tensor);
        return Some((elements::tensor_type(tensor), elements));
    }
    let object = value.as_object()?;
    if let Some(strings) = object.downcast_ref::<StringTensor>() {
        let shape: &[i64] = &strings.shape;
        return Some((format!("string{shape:?}"), strings.values.len() as u64));
    }
    let sparse = object.downcast_ref::<SparseTensor>()?;
    let shape: &[i64] = &sparse.shape;
    let given = elements::element_count(&sparse.positions);
    Some((format!("sparse{shape:?}"), given))
}

fn digits(name: u64) -> String {
    // The upper bits are those that the multiplications mix best.
    format!("{name:016x}")[..DIGITS].to_owned()
}

/// FNV-1a, the same on every machine and in every release, with a final mix.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let step =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Hash(bytes.iter().fold(self.0, step))
    }

    fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// The length separates a text from the next one.
    fn text(self, text: &str) -> Self {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }

    fn end(self) -> u64 {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }
}
