//! The layout of a file's objects in memory: in the order of later visits, although a
//! file lists parts first.
//!
//! A reader first notes the nodes and their parts in a [`NodeTable`]. From their order
//! of visit, a [`Layout`] allocates the blocks in this order; then the reader builds
//! the nodes in the order of the file, each node in its own block. Blocks left unfilled
//! by an early end of reading are freed with the layout.
//!
//! Only objects of declared types and arrays have blocks in advance; lists, dicts, maps
//! and values without parts are allocated during the build.
//!
//! The binary form finds all nodes by scanning the records twice, JSON by noting fields
//! as numbers. The outline takes 8 bytes per node and 4 per reference, of which 9 per
//! node remain until the last node is built; the notes of JSON take 8 bytes per field,
//! and 16 more for an inline field. Filling in the order of the file checks parts
//! before the objects that contain them.

use crate::kernel::container::ContainerType;
use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::shell::UninitObject;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::value::Value;

/// The nodes of a file and their parts.
///
/// Takes 8 bytes for each node and 4 for each part.
#[derive(Default)]
pub(crate) struct NodeTable {
    nodes: Vec<Node>,
    parts: Vec<u32>,
}

struct Node {
    block: Option<TypeIndex>,
    /// The start of the node's parts; the parts end at the start of the next node's
    /// parts.
    first: u32,
}

impl NodeTable {
    /// With room for this many nodes and parts, up to a moderate number: small files
    /// are read without growing the table, and large files may be mostly weights.
    pub(crate) fn with_capacity(count: usize) -> Self {
        let count = count.min(1 << 16);
        NodeTable {
            nodes: Vec::with_capacity(count),
            parts: Vec::with_capacity(count),
        }
    }

    /// The number of nodes so far.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds the next node, with a block of the given type, if any.
    #[inline(always)]
    pub(crate) fn node(&mut self, block: Option<TypeIndex>) {
        // A file with more parts has no layout.
        let first = self.parts.len() as u32;
        self.nodes.push(Node { block, first });
    }

    /// Adds a container of this type.
    pub(crate) fn container(&mut self, index: TypeIndex) {
        self.node(UninitObject::is_of_items(index).then_some(index));
    }

    /// Adds a part to the node added last.
    #[inline(always)]
    pub(crate) fn part(&mut self, number: u32) {
        self.parts.push(number);
    }

    /// Sorts the parts of the last added node by the order of visit: the part
    /// at position `order[0]` comes first.
    pub(crate) fn reorder(&mut self, order: &[u32]) {
        let Some(node) = self.nodes.last() else {
            return;
        };
        let parts = &mut self.parts[node.first as usize..];
        let as_written = parts.to_vec();
        for (part, from) in parts.iter_mut().zip(order) {
            *part = as_written[*from as usize];
        }
    }

    /// Allocates the blocks of all nodes below the root, in the order of visit.
    /// `looks_ahead` says whether nodes have later nodes as parts, to be built in
    /// several attempts.
    ///
    /// Linear in the nodes and parts. Takes 9 bytes per node, and temporarily
    /// 4 per waiting part.
    ///
    /// # Errors
    ///
    /// Errors raised by the host to end the operation.
    pub(crate) fn lay_out(mut self, root: usize, looks_ahead: bool) -> Result<Layout> {
        let count = self.nodes.len();
        if self.parts.len() > u32::MAX as usize || count > u32::MAX as usize || root >= count {
            return Ok(Layout::default());
        }
        // The end of the last node's parts.
        self.node(None);
        let mut shells: Vec<Option<UninitObject>> = Vec::new();
        shells.resize_with(count, || None);
        let mut uses = vec![NEVER; count];
        let (mut visited_count, mut poll) = (0, Poll::default());
        let mut waiting = Vec::new();
        let mut next = Some(root as u32);
        while let Some(number) = next.take().or_else(|| waiting.pop()) {
            poll.step_outside()?;
            let number = number as usize;
            // A missing part is an error, reported by the build.
            let Some(used) = uses.get_mut(number) else {
                continue;
            };
            if *used != NEVER {
                *used = OFTEN;
                continue;
            }
            *used = ONCE;
            visited_count += 1;
            let [node, behind] = &self.nodes[number..number + 2] else {
                continue;
            };
            let parts = &self.parts[node.first as usize..behind.first as usize];
            if let Some(index) = node.block {
                shells[number] = Some(if UninitObject::is_of_items(index) {
                    UninitObject::items(parts.len())
                } else {
                    UninitObject::object(table::info(index))
                });
            }
            if let [first, others @ ..] = parts {
                next = Some(*first);
                others.iter().rev().for_each(|part| waiting.push(*part));
            }
        }
        // Nodes outside of the root may share parts with nodes inside.
        if visited_count < count || looks_ahead {
            uses.fill(OFTEN);
        }
        Ok(Layout { shells, uses })
    }
}

/// The number of times a node is a part of another node.
const NEVER: u8 = 0;
const ONCE: u8 = 1;
const OFTEN: u8 = 2;

/// The blocks of a file's nodes; empty without a layout.
#[derive(Default)]
pub(crate) struct Layout {
    shells: Vec<Option<UninitObject>>,
    uses: Vec<u8>,
}

impl Layout {
    /// The block of a node.
    #[inline(always)]
    pub(crate) fn shell(&mut self, node: usize) -> Option<UninitObject> {
        self.shells.get_mut(node)?.take()
    }

    /// Makes a container of this type and takes its parts, in the block of its node or
    /// in a new block.
    ///
    /// # Errors
    ///
    /// As [`ContainerType::build`].
    pub(crate) fn fill(
        &mut self,
        node: usize,
        index: TypeIndex,
        parts: &mut Vec<Value>,
    ) -> Result<Value> {
        if let Some(shell) = self.shell(node)
            && let Some(filled) = shell.fill_items(index, parts)
        {
            return Ok(filled);
        }
        let parts = parts.drain(..);
        ContainerType::of(index).map_or(Ok(Value::NONE), |container| container.build(parts))
    }

    /// Returns a built node as a part of another node: moved for its only use, cloned
    /// otherwise.
    #[inline(always)]
    pub(crate) fn part(&self, number: usize, node: &mut Value) -> Value {
        match self.uses.get(number) {
            // This is its only use.
            Some(&ONCE) => std::mem::take(node),
            _ => node.clone(),
        }
    }
}

/// The order of visit of the parts in the fields at these positions, for
/// [`NodeTable::reorder`]; None for the given order.
pub(crate) fn order_of_visit(info: &TypeInfo, fields: &[u32]) -> Option<Box<[u32]>> {
    let slots = info.visited_and_ignored.iter();
    let order: Box<[u32]> = slots
        .filter_map(|slot| fields.iter().position(|field| *field == slot.field))
        .map(|position| position as u32)
        .collect();
    (!order.is_sorted()).then_some(order)
}
