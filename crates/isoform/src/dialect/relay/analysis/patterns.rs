//! Patterns: their variables, and the values that the clauses of a match leave out.

use isoform_macros::export;

use crate::dialect::relay::{
    Match, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard, Var,
};
use crate::ir::IRModule;
use crate::kernel::container::Array;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::reference::Ref;

/// The variables that a pattern binds, from left to right. Linear in the size of the
/// pattern.
pub fn pattern_vars(pattern: &Ref<Pattern>) -> Vec<Ref<Var>> {
    let mut found = Vec::new();
    let mut stack = vec![pattern.clone()];
    while let Some(pattern) = stack.pop() {
        if let Some(bound) = pattern.downcast_ref::<PatternVar>() {
            found.push(bound.var.clone());
        } else if let Some(below) = parts(&pattern) {
            stack.extend(below.iter().rev().cloned());
        }
    }
    found
}

/// The patterns in a pattern that has several.
pub(in crate::dialect::relay) fn parts(pattern: &Ref<Pattern>) -> Option<&Array<Ref<Pattern>>> {
    match pattern.downcast_ref::<PatternConstructor>() {
        Some(built) => Some(&built.patterns),
        None => pattern
            .downcast_ref::<PatternTuple>()
            .map(|tuple| &tuple.patterns),
    }
}

/// The patterns of values that no clause of a match covers; none if the match is complete.
///
/// A wildcard is split into the constructors of its data type only where a clause tells
/// them apart, so the patterns are as general as possible. The constructors come from the
/// module. The cost is that of each clause for each pattern found on the way, whose number
/// can be exponential in the number of columns that clauses tell apart, as for every
/// algorithm: the problem is NP-complete (Sestoft, "ML pattern match compilation and
/// partial evaluation", 1996; Maranget, "Warnings for pattern matching", 2007).
///
/// # Errors
///
/// `ValueError` if the module does not define a data type that a clause takes apart.
pub fn unmatched_cases(
    cases: &Ref<Match>,
    module: Option<&Ref<IRModule>>,
) -> Result<Vec<Ref<Pattern>>> {
    let mut unmatched = Vec::new();
    let mut candidates = vec![PatternWildcard::new().upcast()];
    while let Some(candidate) = candidates.pop() {
        let mut is_covered = false;
        for clause in cases.clauses.iter() {
            match compare(&clause.lhs, &candidate) {
                Fit::Covers => is_covered = true,
                Fit::Clashes => continue,
                Fit::Depends(path, by) => {
                    let finer = split(&candidate, &path, &by, module)?;
                    candidates.extend(finer.into_iter().rev());
                    is_covered = true;
                }
            }
            break;
        }
        if !is_covered {
            unmatched.push(candidate);
        }
    }
    Ok(unmatched)
}

/// How the pattern of a clause fits the values of a candidate.
enum Fit {
    Covers,
    Clashes,
    /// Only some of them: the place of a wildcard in the candidate, and the pattern that
    /// tells its values apart.
    Depends(Vec<usize>, Ref<Pattern>),
}

fn compare(clause: &Ref<Pattern>, candidate: &Ref<Pattern>) -> Fit {
    let mut depends = None;
    // The places of pairs: the place around each, and its position there.
    let mut places = vec![(0, 0)];
    let mut stack = vec![(clause.clone(), candidate.clone(), 0)];
    while let Some((clause, candidate, place)) = stack.pop() {
        let Some(wanted) = parts(&clause) else {
            continue;
        };
        let Some(given) = parts(&candidate) else {
            depends.get_or_insert((place, clause));
            continue;
        };
        let constructor = |pattern: &Ref<Pattern>| {
            let built = pattern.downcast_ref::<PatternConstructor>()?;
            Some(built.constructor.clone())
        };
        let is_same = match (constructor(&clause), constructor(&candidate)) {
            (Some(wanted), Some(given)) => wanted.same_as(&given),
            (None, None) => true,
            _ => false,
        };
        if !is_same || wanted.len() != given.len() {
            return Fit::Clashes;
        }
        let first = stack.len();
        for (position, (wanted, given)) in wanted.iter().zip(given.iter()).enumerate() {
            places.push((place, position));
            stack.push((wanted.clone(), given.clone(), places.len() - 1));
        }
        stack[first..].reverse();
    }
    let Some((mut place, by)) = depends else {
        return Fit::Covers;
    };
    let mut path = Vec::new();
    while place != 0 {
        path.push(places[place].1);
        place = places[place].0;
    }
    path.reverse();
    Fit::Depends(path, by)
}

/// The candidates in which a wildcard is replaced by what a pattern tells apart.
fn split(
    candidate: &Ref<Pattern>,
    path: &[usize],
    by: &Ref<Pattern>,
    module: Option<&Ref<IRModule>>,
) -> Result<Vec<Ref<Pattern>>> {
    let wildcards = |count: usize| -> Array<Ref<Pattern>> {
        (0..count)
            .map(|_| PatternWildcard::new().upcast())
            .collect()
    };
    let Some(built) = by.downcast_ref::<PatternConstructor>() else {
        let count = parts(by).map_or(0, Array::len);
        let tuple = PatternTuple::new().with_patterns(wildcards(count));
        return Ok(vec![replaced(candidate, path, tuple.upcast())]);
    };
    let name = &built.constructor.belong_to;
    let Some(module) = module else {
        return Err(Error::value_error(format!(
            "unmatched_cases: expected a module that defines the data type {}, got None",
            name.name_hint
        )));
    };
    let definition = module.lookup_type(name)?;
    let finer = definition.constructors.iter().map(|constructor| {
        let pattern =
            PatternConstructor::new(constructor).with_patterns(wildcards(constructor.inputs.len()));
        replaced(candidate, path, pattern.upcast())
    });
    Ok(finer.collect())
}

/// A pattern with another one at a place in it.
fn replaced(pattern: &Ref<Pattern>, path: &[usize], new: Ref<Pattern>) -> Ref<Pattern> {
    let mut around = vec![pattern.clone()];
    for position in path {
        let below = around.last().and_then(parts);
        let Some(below) = below.and_then(|parts| parts.get(*position)).cloned() else {
            return new;
        };
        around.push(below);
    }
    around.pop();
    let mut new = new;
    for (position, outer) in path.iter().zip(around).rev() {
        let patterns = parts(&outer).into_iter().flat_map(Array::iter).enumerate();
        let patterns: Array<Ref<Pattern>> = patterns
            .map(|(at, part)| {
                if at == *position {
                    new.clone()
                } else {
                    part.clone()
                }
            })
            .collect();
        new = match outer.downcast_ref::<PatternConstructor>() {
            Some(built) => built.with_patterns(patterns).upcast(),
            None => PatternTuple::new().with_patterns(patterns).upcast(),
        };
    }
    new
}

/// The patterns of values that no clause of a match covers.
#[export("relay.analysis.unmatched_cases", crate = crate)]
fn exported_unmatched_cases(
    r#match: &Ref<Match>,
    r#mod: Option<Ref<IRModule>>,
) -> Result<Vec<Ref<Pattern>>> {
    unmatched_cases(r#match, r#mod.as_ref())
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![exported_unmatched_cases]
}
