//! Patterns: their variables and their parts.

use crate::{Pattern, PatternConstructor, PatternTuple, PatternVar, Var};
use isoform::{Array, Ref};

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

/// The parts of a pattern with several parts.
pub(crate) fn parts(pattern: &Ref<Pattern>) -> Option<&Array<Ref<Pattern>>> {
    match pattern.downcast_ref::<PatternConstructor>() {
        Some(built) => Some(&built.patterns),
        None => pattern
            .downcast_ref::<PatternTuple>()
            .map(|tuple| &tuple.patterns),
    }
}
