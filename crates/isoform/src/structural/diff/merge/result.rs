//! The result of a merge, its construction by both patches, and its check by the laws of
//! merging.

use std::fmt;

use super::super::difference::Difference;
use super::super::options::DiffOptions;
use super::super::patch::Patch;
use super::conflict::{Conflict, Resolution};
use super::twins::Twins;
use super::weave::{Choose, Woven, weave};
use crate::kernel::error::Result;
use crate::kernel::value::Value;

/// The maximum number of times that both patches are applied, until all variables
/// introduced by both sides are identified.
const ROUNDS: usize = 4;

/// The result of a [`merge`](super::merge).
#[derive(Clone)]
pub struct Merge {
    pub(super) base: Value,
    pub(super) differences: [Difference; 2],
    pub(super) merged: Value,
    pub(super) conflicts: Vec<Conflict>,
    /// None if weaving was not necessary.
    pub(super) twins: Option<Twins>,
    visits: u64,
}

impl Merge {
    /// The merge if it fulfils the laws of merging, and a conflict of both sides as a
    /// whole otherwise: the sides can be exchanged, and without the changes of one side,
    /// the other side's changes remain.
    ///
    /// Both orders of the sides give equal values, but these may share parts in different
    /// ways, and a difference sees sharing. The merge is the first value in which no
    /// change is lost, so the order of the sides does not decide the verdict. As four
    /// differences, or eight if a change is lost in the first order, and O(n) for n
    /// distinct objects.
    ///
    /// # Errors
    ///
    /// As [`merge`](super::merge).
    pub(super) fn checked(self, options: &DiffOptions) -> Result<Self> {
        if self.twins.is_none() || self.conflicts.iter().any(|one| one.reason().is_some()) {
            return Ok(self);
        }
        let [left, right] = self.differences.clone();
        let swapped = Merge::unchecked(options, self.base.clone(), [right, left])?;
        if !are_swapped(options, &self, &swapped)? {
            let reason = "both sides share parts or variables in different ways";
            return Ok(self.refused(reason.to_owned()));
        }
        if !self.is_clean() {
            return Ok(self);
        }
        match lost_change(options, &self)? {
            None => Ok(self),
            Some(_) if lost_change(options, &swapped)?.is_none() => Ok(Merge {
                merged: swapped.merged,
                ..self
            }),
            Some(reason) => Ok(self.refused(reason)),
        }
    }

    /// The conflict of both sides as a whole.
    fn refused(self, reason: String) -> Self {
        Merge {
            merged: self.base.clone(),
            conflicts: vec![of_roots(&self.differences, reason)],
            twins: None,
            ..self
        }
    }

    /// The merge of two differences, which may have lost a change.
    pub(super) fn unchecked(
        options: &DiffOptions,
        base: Value,
        differences: [Difference; 2],
    ) -> Result<Self> {
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
            let outcome = woven.or_roots(&differences, &mut keep)?;
            visits += outcome.visits;
            (merged, conflicts) = (outcome.value, outcome.conflicts);
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

    /// The merged value; at conflicts, the value has the parts of the base. With
    /// conflicts, the value may use variables bound by only one side.
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

    /// The value from which both sides were made.
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

    /// The merged value with the parts that `choose` returns for conflicts, in place of
    /// the parts of the base. O(n) for n parts of the base.
    ///
    /// # Errors
    ///
    /// `ValueError` for another number of parts than the place holds; `TypeError` for a
    /// part that does not fit its field; errors of `choose`.
    pub fn resolve(
        &self,
        mut choose: impl FnMut(&Conflict) -> Result<Resolution>,
    ) -> Result<Value> {
        if let [first, ..] = &*self.conflicts
            && first.reason().is_some()
        {
            let resolution = choose(first)?;
            return Ok(first.resolved(resolution)?.pop().unwrap_or_default());
        }
        let (Some(twins), Some(tables)) = (&self.twins, self.left().base_tables()) else {
            return Ok(self.merged.clone());
        };
        if self.conflicts.is_empty() {
            return Ok(self.merged.clone());
        }
        let mut twins = twins.clone();
        let woven = weave(tables, patches(&self.differences), &mut twins, &mut choose)?;
        Ok(woven.or_roots(&self.differences, &mut choose)?.value)
    }
}

impl fmt::Display for Merge {
    /// The number of conflicts, the changes of both sides in short, and the conflicts,
    /// up to a hundred.
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
struct MergeOutcome {
    value: Value,
    conflicts: Vec<Conflict>,
    visits: u64,
}

impl Woven {
    /// The woven value, or the conflict of both sides as a whole.
    fn or_roots(self, differences: &[Difference; 2], choose: Choose<'_>) -> Result<MergeOutcome> {
        match self {
            Woven::Value(value, conflicts, visits) => Ok(MergeOutcome {
                value,
                conflicts,
                visits,
            }),
            Woven::Knot(reason) => {
                let conflict = of_roots(differences, reason);
                let mut parts = conflict.resolved(choose(&conflict)?)?;
                Ok(MergeOutcome {
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

fn patches([left, right]: &[Difference; 2]) -> [&Patch; 2] {
    [left.patch(), right.patch()]
}

/// The reason for refusing a clean merge, if any: a change of one side is lost. As four
/// differences, and O(n) for n distinct objects.
///
/// # Errors
///
/// As [`merge`](super::merge).
fn lost_change(options: &DiffOptions, merge: &Merge) -> Result<Option<String>> {
    for (side, name) in ["right", "left"].into_iter().enumerate() {
        if !is_left_without(options, merge, side)? {
            return Ok(Some(format!("a change of the {name} side would be lost")));
        }
    }
    Ok(None)
}

/// True unless a merged value without the changes of one side differs from the other
/// side.
fn is_left_without(options: &DiffOptions, merge: &Merge, side: usize) -> Result<bool> {
    let (base, other) = (&merge.base, merge.differences[1 - side].right());
    let side = merge.differences[side].right();
    let changes = [base, &merge.merged].map(|to| options.diff(side.clone(), to.clone()));
    let [back, forth] = changes;
    let rest = Merge::unchecked(options, side.clone(), [back?, forth?])?;
    if !rest.is_clean() {
        // Elements that both sides insert at one gap, for example, prove no loss.
        return Ok(!merge
            .differences
            .iter()
            .any(|side| side.has_unclear_variables));
    }
    if is_same(options, rest.merged(), other)? {
        return Ok(true);
    }
    // The changes of both sides are undone, too.
    let rest = options.diff(base.clone(), rest.merged().clone())?;
    let changes = [rest, options.diff(base.clone(), other.clone())?];
    let both = Merge::unchecked(options, base.clone(), changes)?;
    Ok(both.is_clean() && is_same(options, both.merged(), other)?)
}

/// True if two merges are one with the sides exchanged, even after resolving conflicts.
fn are_swapped(options: &DiffOptions, first: &Merge, second: &Merge) -> Result<bool> {
    if first.conflicts.len() != second.conflicts.len()
        || !is_same(options, &first.merged, &second.merged)?
    {
        return Ok(false);
    }
    if first.is_clean() {
        return Ok(true);
    }
    let mut rest: Vec<&Conflict> = second.conflicts.iter().collect();
    for conflict in &first.conflicts {
        let mut position = None;
        for (number, other) in rest.iter().enumerate() {
            if is_swapped(options, conflict, other)? {
                position = Some(number);
                break;
            }
        }
        let Some(position) = position else {
            return Ok(false);
        };
        rest.swap_remove(position);
    }
    let resolved = |merge: &Merge, choice: &Resolution| merge.resolve(|_| Ok(choice.clone()));
    for (choice, opposite) in [
        (Resolution::Left, Resolution::Right),
        (Resolution::Right, Resolution::Left),
    ] {
        match (resolved(first, &choice), resolved(second, &opposite)) {
            (Ok(first), Ok(second)) if is_same(options, &first, &second)? => {}
            (Err(first), Err(second)) if first.kind() == second.kind() => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn is_swapped(options: &DiffOptions, one: &Conflict, other: &Conflict) -> Result<bool> {
    let pairs = [
        (one.base(), other.base()),
        (one.left(), other.right()),
        (one.right(), other.left()),
    ];
    if one.path() != other.path() {
        return Ok(false);
    }
    for (one, other) in pairs {
        let [one, other] = [one, other].map(|parts| Value::from(parts.to_vec()));
        if !is_same(options, &one, &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if two values are equal, apart from the fields, types and changes to ignore.
fn is_same(options: &DiffOptions, one: &Value, other: &Value) -> Result<bool> {
    if options.compare.equal(one, other)? {
        return Ok(true);
    }
    Ok(!options.is_exact() && options.diff(one.clone(), other.clone())?.is_empty())
}
