//! The operation and the part of it that a change concerns.

use isoform::compare::Place;
use isoform::paths::AccessStep;
use isoform::{Obj, Ref, Str, Value};

use crate::nodes::{Block, Operation};

/// A part of an operation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// The operation as a whole.
    Operation,
    /// The name.
    Name,
    /// The list of operands.
    Operands,
    /// The list of successors.
    Successors,
    /// The result at this position.
    Result(usize),
    /// An entry of the properties or of the attributes.
    Entry { is_property: bool, key: Str },
    /// The arguments of a block: the positions of the region and of the block.
    Arguments(usize, usize),
    /// The block at this position of the region at this position.
    Block(usize, usize),
    /// The region at this position.
    Region(usize),
    /// Lists that follow from the operations inside.
    Derived,
    /// Anything else, such as resources.
    Other(String),
}

/// The innermost operation around a place, and the part of it.
pub(super) struct ChangeSite {
    /// None outside of all operations.
    pub(super) operation: Option<Ref<Operation>>,
    pub(super) part: Part,
}

impl ChangeSite {
    /// Finds the operation around a place. O(depth of the place inside of it).
    pub(super) fn of(place: &Place) -> ChangeSite {
        let value = place.value();
        // The steps from the operation to the place, the last one first.
        let mut steps: Vec<AccessStep> = Vec::new();
        let mut around = place.around();
        let operation = loop {
            let Some((value, step)) = around.next() else {
                break None;
            };
            steps.push(step);
            if let Some(operation) = object::<Operation>(&value) {
                break Some(operation);
            }
        };
        let Some(operation) = operation else {
            // The module itself, or resources.
            let whole = value.as_ref().and_then(object::<Operation>);
            let part = match whole {
                Some(_) => Part::Operation,
                None => Part::Other(steps.iter().rev().map(AccessStep::to_string).collect()),
            };
            return ChangeSite {
                operation: whole,
                part,
            };
        };
        steps.reverse();
        let part = part_of(&steps);
        match (part, value.as_ref().and_then(object::<Operation>)) {
            (Part::Operation, Some(inner)) => ChangeSite {
                operation: Some(inner),
                part: Part::Operation,
            },
            (part, _) => ChangeSite {
                operation: Some(operation),
                part,
            },
        }
    }
}

/// The part of an operation to which steps lead.
fn part_of(steps: &[AccessStep]) -> Part {
    let field = |at: usize| match steps.get(at) {
        Some(AccessStep::Attr(name) | AccessStep::AttrMissing(name)) => name.as_str(),
        _ => "",
    };
    let index = |at: usize| match steps.get(at) {
        Some(AccessStep::ArrayItem(index) | AccessStep::ArrayItemMissing(index)) => Some(*index),
        _ => None,
    };
    let entry = |is_property| match steps.get(1) {
        Some(AccessStep::MapItem(key) | AccessStep::MapItemMissing(key)) => Part::Entry {
            is_property,
            key: key.as_str().unwrap_or_default().into(),
        },
        _ => other(steps),
    };
    match field(0) {
        "name" => Part::Name,
        "operands" => Part::Operands,
        "successors" => Part::Successors,
        "results" => Part::Result(index(1).unwrap_or(0)),
        "properties" => entry(true),
        "attributes" => entry(false),
        "regions" => {
            let region = index(1).unwrap_or(0);
            let block = index(3).unwrap_or(0);
            match (field(2), field(4)) {
                ("", _) => Part::Region(region),
                ("blocks", "") => Part::Block(region, block),
                ("blocks", "arguments") => Part::Arguments(region, block),
                ("blocks", "operations") => Part::Operation,
                // Labels have no contents, and the other lists follow from the operations.
                _ => Part::Derived,
            }
        }
        _ => other(steps),
    }
}

fn other(steps: &[AccessStep]) -> Part {
    Part::Other(steps.iter().map(AccessStep::to_string).collect())
}

/// The node in a value, if it has this type.
fn object<T: isoform::Node>(value: &Value) -> Option<Ref<T>> {
    value.as_object()?.downcast_ref::<T>().cloned()
}

/// The block at a place of an operation.
pub(super) fn block_of(operation: &Operation, region: usize, block: usize) -> Option<&Ref<Block>> {
    operation.regions.get(region)?.blocks.get(block)
}

/// The number of operations inside of an operation, nested ones included.
pub(super) fn operations_in(operation: &Ref<Operation>) -> usize {
    let mut count = 0;
    let mut open: Vec<&Ref<Operation>> = vec![operation];
    while let Some(operation) = open.pop() {
        let before = open.len();
        open.extend(operation.inner());
        count += open.len() - before;
    }
    count
}

/// The attribute or property of this name.
pub(super) fn entry<'o>(
    operation: &'o Operation,
    is_property: bool,
    key: &str,
) -> Option<&'o Ref<Obj>> {
    if is_property {
        operation.properties.get(key)
    } else {
        operation.attributes.get(key)
    }
}
