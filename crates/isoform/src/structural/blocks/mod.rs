//! Repeated blocks of dataflow graphs: runs of nodes that perform the same computation
//! on different inputs, such as the layers of a transformer.
//!
//! Equal subterms cannot show such blocks, since every layer contains all layers
//! before. Instead, this module treats a graph as a text with one word per node. A
//! suffix array finds the repeated passages, and edges decide which passages are
//! copies.
//!
//! | file | job |
//! |---|---|
//! | `items.rs` | the nodes of values in a canonical order, with words and edges |
//! | `suffixes.rs` | the repeated passages of a text |
//! | `names.rs` | the digests of blocks |
//! | `choose.rs` | the passages that become blocks, and copies with the same edges |

mod choose;
mod items;
mod names;
mod suffixes;

use super::digest::Digest;
use crate::kernel::error::Result;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;
use choose::{Block, Chooser};
use items::Items;
use names::Names;

/// A block of dataflow nodes that occurs several times.
#[derive(Clone, Debug)]
pub struct RepeatedBlock {
    /// The copies in order, at least two: the number of the value that contains the
    /// copy, and the copy's nodes. Nodes at the same position of two copies correspond
    /// to each other.
    pub places: Vec<(usize, Vec<Ref<Obj>>)>,
    /// The name of the block, which the same block of another program has, too. Neither
    /// the elements of tensors nor the values used from outside count. None if a part
    /// of the block cannot be hashed.
    pub digest: Option<Digest>,
}

impl RepeatedBlock {
    /// The number of nodes in a copy.
    pub fn size(&self) -> usize {
        self.places.first().map_or(0, |(_, nodes)| nodes.len())
    }

    /// The number of nodes removed if the block became a function, and every copy a
    /// call: (size - 1) * (count - 1).
    pub fn saved(&self) -> usize {
        self.size().saturating_sub(1) * self.places.len().saturating_sub(1)
    }
}

/// Returns blocks of dataflow nodes that occur several times in values, largest savings
/// first: "this block of 52 nodes, 24 times".
///
/// Nodes are the objects of kind [`dag`](crate::types::Kind::Dag). Two nodes correspond
/// if they are structurally equal apart from the nodes and variables used, and from the
/// elements of tensors. Two blocks are copies under two conditions. Their nodes
/// correspond one by one. A node uses a node of its own block exactly where its
/// counterpart does, with the same position; all other values used are parameters of
/// the block. A use of a variable that is [bound](crate::traverse::BINDING) to a node
/// is a use of that node.
///
/// A block is a run of nodes in the order in which a depth-first visit finishes them.
/// Blocks do not overlap, have at least `min_size` nodes and `min_count` copies (two,
/// if less), and are not repetitions of a smaller block of that size. The choice is
/// greedy by the nodes [saved](RepeatedBlock::saved), in at most eight rounds of
/// bounded work: a program with very many different blocks may contain more blocks than
/// returned.
///
/// O(n log² n) for n distinct objects.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself; errors of custom
/// comparisons and hashes.
///
/// ```
/// use isoform::compare::repeated_blocks;
/// use isoform::{Node, Value};
///
/// /// An operation on the result of another one.
/// #[derive(Node)]
/// #[node(key = "doc.blocks.Op", kind = dag)]
/// #[repr(C)]
/// pub struct Op {
///     /// The name.
///     pub name: isoform::Str,
///     /// The operand.
///     pub of: Value,
/// }
///
/// let mut program = Value::from(Op::new("Input", Value::default()));
/// for layer in ["Conv", "Norm", "Relu"].repeat(4) {
///     program = Op::new(layer, program).into();
/// }
/// let program = Value::from(Op::new("Softmax", program));
/// let blocks = repeated_blocks(&[program], 2, 2)?;
/// assert_eq!(blocks.len(), 1);
/// assert_eq!((blocks[0].size(), blocks[0].places.len()), (3, 4));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn repeated_blocks(
    values: &[Value],
    min_size: usize,
    min_count: usize,
) -> Result<Vec<RepeatedBlock>> {
    let items = Items::of(values)?;
    let mut chooser = Chooser::new(&items, min_size.max(1), min_count.max(2));
    let blocks = chooser.run()?;
    let places = |starts: Vec<u32>, length: usize| {
        let copies = starts.into_iter().map(|start| {
            let run = start as usize..start as usize + length;
            let nodes = items.objects[run.clone()].iter().flatten().cloned();
            (items.value_of(run.start), nodes.collect())
        });
        copies.collect()
    };
    let names = if blocks.is_empty() {
        None
    } else {
        Some(Names::of(&items)?)
    };
    let mut blocks: Vec<RepeatedBlock> = blocks
        .into_iter()
        .map(|block| RepeatedBlock {
            digest: names.as_ref().and_then(|names| names.of_block(&block)),
            places: places(block.starts, block.length),
        })
        .collect();
    // Stable: blocks with equal savings stay in their order.
    blocks.sort_by_key(|block| std::cmp::Reverse(block.saved()));
    Ok(blocks)
}
