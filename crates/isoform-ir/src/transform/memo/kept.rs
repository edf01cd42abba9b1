//! Summaries of values in keys; summaries of functions are kept from run to run.
//!
//! Programs are edited function by function, and passes run on all functions every
//! time. The summary of an immutable function is computed once per thread, and found
//! again by the identity number of the function. No later object reuses the number, and
//! the summary keeps no object alive.
//!
//! Summaries of at most 65,536 functions are kept.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::transform::cache::Memo;
use isoform::compare::{CompareOptions, Digest};
use isoform::files::to_bytes;
use isoform::plumbing::{Payload, changed_types, free_variables, note_remembered};
use isoform::traverse::{Sharing, Visit, WalkOptions, WalkResult};
use isoform::types::{Kind, RegionKind};
use isoform::values::Bytes;
use isoform::{Array, Obj, Ref, Value};

/// A summary of a large value for a key: the digest of the value, and its free
/// variables in an order on which the digest depends.
#[derive(Clone)]
pub(super) struct Summary {
    pub(super) digest: [u8; 32],
    pub(super) variables: Rc<[u64]>,
}

impl Summary {
    /// The summary of a value; None without a digest.
    pub(super) fn of(memo: &Memo, value: &Value) -> Option<Summary> {
        Summary::with_variables(memo, value, &variables(memo, value)?.free)
    }

    /// The same with the free variables already found.
    fn with_variables(memo: &Memo, value: &Value, free: &[Ref<Obj>]) -> Option<Summary> {
        let listed = Array::from(Vec::from_iter(free.iter().map(Value::from)));
        let all = Value::from([value.clone(), listed.into()]);
        let exact = exact(memo, &all)?;
        Some(Summary {
            digest: *digest(Value::from([all, exact]))?.as_bytes(),
            variables: free.iter().map(Ref::identity).collect(),
        })
    }
}

/// The maximum number of summaries of a thread, each of some 120 bytes and 8 for each
/// free variable. Beyond this number, all summaries are forgotten.
const LIMIT: usize = 1 << 16;

#[derive(Default)]
struct SummaryCache {
    /// By identity number of the function, and whether ignored fields are left out.
    summaries: HashMap<(u64, bool), Summary, RandomState>,
    /// See [`changed_types`].
    types: u64,
}

thread_local! {
    static KEPT: RefCell<SummaryCache> = RefCell::default();
}

/// The summary of a function; None without a digest.
pub(super) fn summary(memo: &Memo, function: &Ref<Obj>) -> Option<Summary> {
    let place = (function.identity(), memo.ignores);
    let types = changed_types();
    let cached_summary = KEPT.with_borrow_mut(|kept| {
        if kept.types != types {
            kept.summaries.clear();
            kept.types = types;
        }
        kept.summaries.get(&place).cloned()
    });
    if cached_summary.is_some() {
        return cached_summary;
    }
    let value = Value::from(function);
    let variables = variables(memo, &value)?;
    let summary = Summary::with_variables(memo, &value, &variables.free)?;
    if variables.is_fixed && changed_types() == types {
        KEPT.with_borrow_mut(|kept| {
            if kept.summaries.len() >= LIMIT {
                kept.summaries.clear();
            }
            note_remembered(function.identity());
            kept.summaries.insert(place, summary.clone());
        });
    }
    Some(summary)
}

/// The result of a search.
struct FreeVars {
    /// The free variables of the value, without duplicates.
    free: Vec<Ref<Obj>>,
    /// True if no part of the value can change or has a custom comparison, which may depend
    /// on arbitrary state.
    is_fixed: bool,
}

/// Searches a value for free variables: first in compared fields, and then, unless the
/// pass ignores them, in ignored fields. None for a cyclic value.
fn variables(memo: &Memo, value: &Value) -> Option<FreeVars> {
    let mut free = free_variables(value).ok()?;
    let mut is_fixed = true;
    let mut listed: HashSet<u64, RandomState> = free.iter().map(Ref::identity).collect();
    let mut bound: HashSet<u64, RandomState> = HashSet::default();
    let mut others = Vec::new();
    let options = WalkOptions::default()
        .include_ignored(true)
        .hooks(false)
        .sharing(Sharing::OncePerRegion);
    let walked = options.walk(value, |visit: &Visit<'_>| {
        let Some(object) = visit.object() else {
            return Ok(WalkResult::<()>::Advance);
        };
        let info = object.type_info();
        is_fixed &=
            !info.may_change() && info.class() != Payload::Mutable && !info.has_structural_hooks();
        if info.kind() == Kind::Var && !info.is_builtin() {
            let ident = object.identity();
            match visit.region() {
                RegionKind::Use if !memo.ignores && !listed.contains(&ident) => {
                    others.push(object.clone());
                }
                RegionKind::Use => {}
                _ => {
                    bound.insert(ident);
                }
            }
        }
        Ok(WalkResult::Advance)
    });
    walked.ok()?;
    others.retain(|var| !bound.contains(&var.identity()) && listed.insert(var.identity()));
    free.extend(others);
    Some(FreeVars { free, is_fixed })
}

/// The digest of a value with mapped free variables; None if the value has no digest.
pub(super) fn digest(value: Value) -> Option<Digest> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    options.digest(value).ok()
}

/// The parts of a value that comparison ignores, as bytes of the whole value; None
/// inside if the pass ignores these parts, too. None if the value cannot be written.
pub(super) fn exact(memo: &Memo, value: &Value) -> Option<Value> {
    if memo.ignores {
        Some(Value::NONE)
    } else {
        Some(Bytes::from(to_bytes(value).ok()?).into())
    }
}

#[cfg(test)]
mod tests {
    use super::summary;
    use crate::transform::cache::Memo;
    use isoform::Array;
    use isoform::Value;
    use isoform::compare::last_visit_count;
    use isoform::structural_hash;
    use isoform::values::List;

    const PARTS: i64 = 100;

    fn function(first: i64) -> Value {
        let part = |number: i64| Value::from([first, number]);
        Value::from(Array::from(Vec::from_iter((0..PARTS).map(part))))
    }

    /// The number of visits for all digests of the summaries of some functions.
    fn visits(memo: &Memo, functions: &[Value]) -> u64 {
        let visits_of = |function: &Value| {
            // Sets the count to the count of a number.
            structural_hash(0).unwrap();
            let before = last_visit_count();
            summary(memo, function.as_object().unwrap()).unwrap();
            last_visit_count() - before
        };
        functions.iter().map(visits_of).sum()
    }

    #[test]
    fn of_a_thousand_functions_only_an_edited_one_is_visited_again() {
        for ignores in [false, true] {
            let memo = Memo::new("1").with_ignores(ignores);
            let mut functions = Vec::from_iter((0..1_000).map(function));
            let all = visits(&memo, &functions);
            assert!(all >= 1_000 * PARTS as u64, "{all} visits");
            functions[500] = function(-1);
            let again = visits(&memo, &functions);
            assert!(again <= all / 1_000 + 1_000, "{again} of {all} visits");
            assert!(again > 0);
        }
    }

    #[test]
    fn a_function_that_can_change_is_visited_each_time() {
        let memo = Memo::new("1");
        let list = List::<i64>::new();
        let functions = [Value::from([Value::from(list.clone()), function(0)])];
        let first = visits(&memo, &functions);
        list.push(1).unwrap();
        assert!(visits(&memo, &functions) >= first);
    }
}
