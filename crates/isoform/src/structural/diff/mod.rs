//! All differences of two values, as data.
//!
//! | file | job |
//! |---|---|
//! | `options.rs` | the compared parts, the parts left out, and the alignment that a type asks for |
//! | `tables.rs`, `reader.rs` | one side as tables of distinct objects, the input of all other files |
//! | `shared_rows.rs` | objects on both sides, which are read once |
//! | `tokens.rs` | hashes for matching nodes of both sides |
//! | `myers.rs` | the elements that two sequences have in common, at bounded cost |
//! | `sequence.rs`, `align.rs` | alignment of lists, maps and fields |
//! | `walk.rs`, `pairs.rs` | pairs of nodes, from the roots down |
//! | `findings.rs` | the differences of pairs, and the changes made of them |
//! | `bindings.rs` | pairs of variables bound to each other |
//! | `dags.rs`, `wrapping.rs` | pairs of dag nodes; parts wrapped into a new node |
//! | `flow.rs`, `graphs/` | pairs of corresponding dag nodes, by their wiring |
//! | `tree_edit.rs`, `small_trees.rs` | the cheapest edit of small trees |
//! | `move_candidates.rs`, `moves.rs` | parts deleted in one place and inserted in another |
//! | `maker.rs`, `patch.rs` | patches, which build the right value out of the left one |
//! | `merge/` | the combined changes of two values since a base |
//! | `change.rs`, `places.rs`, `difference.rs` | the result |
//!
//! Hashes of 64 bits find equal parts. The patch is applied once, and comparison
//! decides if the patch builds the right value. If not, for example because a variable
//! is also used outside of its bindings, the module tries a patch that renames no
//! variable. The last resort is a patch that relies on no pairs and only takes over
//! parts that both sides have alike.

mod align;
mod bindings;
mod change;
mod dags;
mod difference;
mod findings;
mod flow;
mod graphs;
mod maker;
mod merge;
mod move_candidates;
mod moves;
mod myers;
mod options;
mod pairs;
mod patch;
mod places;
mod reader;
mod sequence;
mod shared_rows;
mod small_trees;
mod tables;
mod tokens;
mod tree_edit;
mod walk;
mod wrapping;

pub(crate) use change::write_place;
pub use change::{Change, ChangeKind};
pub use difference::{DiffCosts, Difference, Hunk};
pub use graphs::PairReason;
pub use merge::{Conflict, Merge, Resolution, merge};
pub use options::{DiffOptions, IgnoreChange};
pub use patch::Patch;
pub(crate) use patch::{Edit, Keyed, New, Source, Splice, check_of, named_fields};
pub use places::{Place, PlacePaths};
pub use sequence::align as align_words;

use std::sync::Arc;

use bindings::Bindings;
use flow::Flow;
use places::Places;
use tables::{HAS_VARS, Tables};
use walk::Walk;

use crate::kernel::error::Result;
use crate::kernel::value::Value;
use crate::structural::last_visit_count;

/// The maximum number of rounds of pairing variables: the pairs of a round help the
/// next round to find partners.
const ROUNDS: usize = 3;

/// Returns all differences of two values: empty if and only if the values are
/// [structurally equal](crate::structural_equal).
///
/// Lists are aligned: an insertion is one change. Renaming bound variables does not
/// count, and a changed shared part is one change, however often the part occurs. O(n)
/// for n distinct objects of values that are nearly the same. At most O(n log n), plus
/// for each pair of lists the product of the lengths of differing stretches, up to
/// 2^20. A part is compared with eight others, and with further parts within 2^20 steps
/// and four for each object. A part is compared again where its variables have other
/// partners, within 2^22 steps and eight for each object.
///
/// Sources: S. Erdweg, T. Szabó and A. Pacak, "Concise, type-safe, and efficient structural
/// diffing", PLDI 2021, for matching by hashes of subtrees; J.-R. Falleri and others,
/// "Fine-grained and accurate source code differencing", ASE 2014, for similarity.
///
/// # Errors
///
/// As [`structural_equal`](crate::structural_equal).
///
/// ```
/// use isoform::compare::{ChangeKind, diff};
///
/// let difference = diff([1, 2, 3], [1, 5, 2, 3])?;
/// assert_eq!(difference.changes().len(), 1);
/// let change = &difference.changes()[0];
/// assert_eq!(change.kind(), ChangeKind::Inserted);
/// assert_eq!(change.right_path().to_string(), "<root>[1]");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn diff(left: impl Into<Value>, right: impl Into<Value>) -> Result<Difference> {
    DiffOptions::default().diff(left, right)
}

impl DiffOptions {
    /// [`diff`] with these options.
    ///
    /// # Errors
    ///
    /// As [`diff`]; `TypeError` or `AttributeError` for an ignored type or field that
    /// does not exist; any error of a predicate.
    pub fn diff(&self, left: impl Into<Value>, right: impl Into<Value>) -> Result<Difference> {
        let (left, right) = (left.into(), right.into());
        let ignored = self.ignored()?;
        if self.compare.equal(&left, &right)? {
            return Ok(Difference::none(self, left, right));
        }
        // The comparison has visited at least this much of both values.
        let seen = last_visit_count() as usize;
        let tables = Tables::of_both([&left, &right], self.compare, &ignored, seen)?.map(Arc::new);
        let mut walk = paired(self, &tables)?;
        if tables.iter().any(|side| side.has_dags) {
            walk.sweep()?;
        }
        walk.find_moves()?;
        difference::finish(self, left, right, walk)
    }
}

/// Walks over both values until the pairs of variables stay the same.
fn paired<'t>(options: &'t DiffOptions, tables: &'t [Arc<Tables>; 2]) -> Result<Walk<'t>> {
    let [left, right] = [&*tables[0], &*tables[1]];
    let root_has = |flag: u8| {
        let root = left.root.node_number();
        root.is_some_and(|root| left.node(root).has(flag))
    };
    let have_dags = left.has_dags && right.has_dags;
    let mut tokens = [tokens::skeletons(left), tokens::skeletons(right)];
    let mut bindings = Bindings::new(left, right);
    let mut round = 0;
    loop {
        // In the first round, only the variables matter.
        let flow = if have_dags && (round > 0 || !root_has(HAS_VARS)) {
            Flow::of([left, right], &tokens)
        } else {
            None
        };
        let places = Places::new(tables.clone());
        let mut walk = Walk::new([left, right], options, tokens, bindings, places, flow);
        walk.roots()?;
        let is_settled = round > 0 && walk.bindings.are_settled();
        round += 1;
        if is_settled || !root_has(HAS_VARS) || round == ROUNDS {
            return Ok(walk);
        }
        (tokens, bindings) = (walk.aligner.tokens, walk.bindings);
        tokens::label(&mut tokens, [left, right], &bindings);
        bindings = bindings.next_round();
    }
}
