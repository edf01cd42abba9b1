//! Hash and comparison of whole subterms, with their costs.

use super::super::last_visit_count;
use super::super::options::CompareOptions;
use super::options::ClassCosts;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::value::Value;

/// The structural hash of a value; None if it cannot be compared.
///
/// # Errors
///
/// Those of custom hashes, except for `TypeError`; `ValueError` for a cycle.
pub(super) fn engine_hash(
    value: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<Option<u64>> {
    let hash = options(map_free_vars).hash(value);
    costs.comparisons += 1;
    costs.compared += last_visit_count();
    match hash {
        Ok(hash) => Ok(Some(hash)),
        Err(error) if error.kind() == ErrorKind::Type => Ok(None),
        Err(error) => Err(error),
    }
}

/// True if two values are structurally equal; false if they cannot be compared.
///
/// # Errors
///
/// Those of custom comparisons, except for `TypeError`; `ValueError` for a cycle.
pub(super) fn engine_equal(
    left: &Value,
    right: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<bool> {
    let equal = options(map_free_vars).equal(left, right);
    costs.comparisons += 1;
    costs.compared += last_visit_count();
    match equal {
        Err(error) if error.kind() == ErrorKind::Type => Ok(false),
        equal => equal,
    }
}

fn options(map_free_vars: bool) -> CompareOptions {
    CompareOptions {
        map_free_vars,
        ..CompareOptions::default()
    }
}
