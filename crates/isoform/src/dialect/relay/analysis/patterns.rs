//! Patterns: their variables and their parts.

use crate::dialect::relay::{Pattern, PatternConstructor, PatternTuple, PatternVar, Var};
use crate::kernel::container::Array;
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

/// The parts of a pattern with several parts.
pub(in crate::dialect::relay) fn parts(pattern: &Ref<Pattern>) -> Option<&Array<Ref<Pattern>>> {
    match pattern.downcast_ref::<PatternConstructor>() {
        Some(built) => Some(&built.patterns),
        None => pattern
            .downcast_ref::<PatternTuple>()
            .map(|tuple| &tuple.patterns),
    }
}
