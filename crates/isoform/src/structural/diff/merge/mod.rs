//! Three-way merge: the changes of two values since a third one, together.
//!
//! Both differences say what becomes of the objects of the base, so a merge applies both
//! patches at once. Where only one of them changes a place, its parts stand there; where both do,
//! both go on inside if they edit the same object, and otherwise their parts are compared.
//!
//! | file | job |
//! |---|---|
//! | `sides.rs`, `places.rs` | what each patch does to the objects of the base |
//! | `plan.rs`, `lists.rs`, `maps.rs`, `entries.rs` | of which parts a merged object consists |
//! | `weave.rs` | builds the parts, and finds the conflicts |
//! | `twins.rs` | variables that both sides introduce |
//! | `conflict.rs` | a conflict, as a value |
//!
//! An object whose identity counts, such as a variable or a dag node, becomes one object with
//! the edits of both sides, wherever it is. A part of a tree has a fate at each of its places; the
//! edits of one side follow it if the other side has moved it, or put it into something new.

mod conflict;
mod entries;
mod lists;
mod maps;
mod places;
mod plan;
mod sides;
mod twins;
mod weave;

pub use conflict::{Conflict, Resolution};

use std::fmt;

use super::difference::Difference;
use super::options::DiffOptions;
use crate::kernel::error::Result;
use crate::kernel::value::Value;
use twins::Twins;
use weave::{Choose, Woven, weave};

/// How often both patches are applied at most, until variables that both sides introduce are
/// known to be the same ones.
const ROUNDS: usize = 4;

/// Merges the changes of two values since a base that both were made from.
///
/// A change of one side alone is taken over, and the same change of both sides is taken over
/// once. Bound variables may have other names on each side. A place that both sides changed in
/// different ways is a [`Conflict`], and the merged value keeps the part of the base there: other
/// values, elements inserted at the same position of a list, a part that one side deleted or
/// moved away and the other one edited. Edits on both sides of a place do not conflict.
///
/// O(n) for n distinct objects of values that are nearly the same, otherwise as [`diff`]
/// (super::diff); the parts at places that both sides changed are compared.
///
/// # Errors
///
/// As [`diff`](super::diff); errors of making objects from fields.
///
/// ```
/// use isoform::compare::{Resolution, merge};
/// use isoform::{Value, structural_equal};
///
/// let merged = merge([1, 2, 3], [1, 5, 3], [0, 1, 2, 3])?;
/// assert!(merged.is_clean());
/// assert!(structural_equal(merged.merged(), [0, 1, 5, 3])?);
///
/// let merged = merge([1, 2, 3], [1, 5, 3], [1, 6, 3, 4])?;
/// assert_eq!(merged.conflicts()[0].path().to_string(), "<root>[1]");
/// assert!(structural_equal(merged.merged(), [1, 2, 3, 4])?);
/// let resolved = merged.resolve(|_| Ok(Resolution::Right))?;
/// assert!(structural_equal(resolved, [1, 6, 3, 4])?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn merge(
    base: impl Into<Value>,
    left: impl Into<Value>,
    right: impl Into<Value>,
) -> Result<Merge> {
    DiffOptions::default().merge(base, left, right)
}

impl DiffOptions {
    /// [`merge`] with these options. Types and fields to ignore are those of the base in what
    /// stays of it. A predicate leaves changes out of both differences, not of the result.
    ///
    /// # Errors
    ///
    /// As [`merge`] and [`DiffOptions::diff`].
    pub fn merge(
        &self,
        base: impl Into<Value>,
        left: impl Into<Value>,
        right: impl Into<Value>,
    ) -> Result<Merge> {
        let base = base.into();
        let left = self.diff(base.clone(), left)?;
        let right = self.diff(base.clone(), right)?;
        Merge::of(self, base, [left, right])
    }
}

/// The result of a [`merge`].
#[derive(Clone)]
pub struct Merge {
    base: Value,
    differences: [Difference; 2],
    merged: Value,
    conflicts: Vec<Conflict>,
    /// None if nothing had to be woven.
    twins: Option<Twins>,
    visits: u64,
}

impl Merge {
    fn of(options: &DiffOptions, base: Value, differences: [Difference; 2]) -> Result<Self> {
        let [left, right] = &differences;
        let tables = left.base_tables().filter(|_| right.base_tables().is_some());
        let Some(tables) = tables.cloned() else {
            let merged = match left.base_tables() {
                None => right.right().clone(),
                Some(_) => left.right().clone(),
            };
            return Ok(Self::clean(base, differences, merged));
        };
        if options.compare.equal(left.right(), right.right())? {
            let merged = left.right().clone();
            return Ok(Self::clean(base, differences, merged));
        }
        let values = [&base, left.right(), right.right()];
        let mut twins = Twins::new(options.compare, &tables, values)?;
        let mut visits = 0;
        let (mut merged, mut conflicts) = (base.clone(), Vec::new());
        for round in 1..=ROUNDS {
            let mut keep = |_: &Conflict| Ok(Resolution::Base);
            let woven = weave(&tables, patches(&differences), &mut twins, &mut keep)?;
            let found = woven.or_roots(&differences, &mut keep)?;
            visits += found.visits;
            (merged, conflicts) = (found.value, found.conflicts);
            if round == ROUNDS || !twins.has_new() {
                break;
            }
        }
        if conflicts.is_empty()
            && let Some(var) = twins.escaped(&merged)?
        {
            let reason = format!("{var:?} would be used where nothing binds it");
            conflicts.push(of_roots(&differences, reason));
            merged = base.clone();
        }
        Ok(Merge {
            base,
            differences,
            merged,
            conflicts,
            twins: Some(twins),
            visits,
        })
    }

    fn clean(base: Value, differences: [Difference; 2], merged: Value) -> Self {
        Merge {
            base,
            differences,
            merged,
            conflicts: Vec::new(),
            twins: None,
            visits: 0,
        }
    }

    /// The merged value; at conflicts, it has the parts of the base. With conflicts, it may use
    /// variables that only one side binds.
    pub fn merged(&self) -> &Value {
        &self.merged
    }

    /// The places that both sides changed in different ways, in a fixed order.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// True if there are no conflicts.
    pub fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }

    /// The value that both sides were made from.
    pub fn base(&self) -> &Value {
        &self.base
    }

    /// The difference from the base to the left value.
    pub fn left(&self) -> &Difference {
        &self.differences[0]
    }

    /// The difference from the base to the right value.
    pub fn right(&self) -> &Difference {
        &self.differences[1]
    }

    /// The objects built and parts looked at; the measure of the complexity tests.
    pub fn visits(&self) -> u64 {
        self.visits
    }

    /// The merged value with other parts at conflicts: those that `choose` returns for each
    /// of them, once. O(n) for n parts of the base.
    ///
    /// # Errors
    ///
    /// `ValueError` for another number of parts than the place holds; `TypeError` for a part
    /// that does not fit its field; those of `choose`.
    pub fn resolve(
        &self,
        mut choose: impl FnMut(&Conflict) -> Result<Resolution>,
    ) -> Result<Value> {
        let (Some(twins), [first, ..]) = (&self.twins, &*self.conflicts) else {
            return Ok(self.merged.clone());
        };
        if first.reason().is_some() {
            let resolution = choose(first)?;
            return Ok(first.resolved(resolution)?.pop().unwrap_or_default());
        }
        let Some(tables) = self.left().base_tables() else {
            return Ok(self.merged.clone());
        };
        let mut twins = twins.clone();
        let woven = weave(tables, patches(&self.differences), &mut twins, &mut choose)?;
        Ok(woven.or_roots(&self.differences, &mut choose)?.value)
    }
}

impl fmt::Display for Merge {
    /// The number of conflicts, the changes of each side in short, and the conflicts, up to a
    /// hundred.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 100;
        let count = match self.conflicts.len() {
            0 => "clean".to_owned(),
            1 => "1 conflict".to_owned(),
            count => format!("{count} conflicts"),
        };
        let [left, right] = self.differences.each_ref().map(Difference::summary);
        write!(f, "{count} (left: {left}; right: {right})")?;
        for conflict in self.conflicts.iter().take(SHOWN) {
            write!(f, "\n{conflict}")?;
        }
        match self.conflicts.len().checked_sub(SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, "\n... and {more} more"),
        }
    }
}

impl fmt::Debug for Merge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Merge: {} conflicts>", self.conflicts.len())
    }
}

/// A merged value with its conflicts.
struct Found {
    value: Value,
    conflicts: Vec<Conflict>,
    visits: u64,
}

impl Woven {
    /// The value that was woven, or the conflict of both sides as a whole.
    fn or_roots(self, differences: &[Difference; 2], choose: Choose<'_>) -> Result<Found> {
        match self {
            Woven::Value(value, conflicts, visits) => Ok(Found {
                value,
                conflicts,
                visits,
            }),
            Woven::Knot(reason) => {
                let conflict = of_roots(differences, reason);
                let mut parts = conflict.resolved(choose(&conflict)?)?;
                Ok(Found {
                    value: parts.pop().unwrap_or_default(),
                    conflicts: vec![conflict],
                    visits: 1,
                })
            }
        }
    }
}

fn of_roots([left, right]: &[Difference; 2], reason: String) -> Conflict {
    Conflict::of_roots(left.left(), [left.right(), right.right()], reason)
}

fn patches([left, right]: &[Difference; 2]) -> [&super::patch::Patch; 2] {
    [left.patch(), right.patch()]
}
