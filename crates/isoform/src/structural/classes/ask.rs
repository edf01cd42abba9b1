//! Hash and comparison of whole subterms, with their costs.

use super::super::last_visit_count;
use super::super::options::CompareOptions;
use super::options::ClassCosts;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::value::Value;

/// The structural hash of a value; None if the value cannot be compared.
///
/// # Errors
///
/// Errors of custom hashes, except for `TypeError`; `ValueError` for a cycle; errors
/// from the host that end the operation.
pub(super) fn engine_hash(
    value: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<Option<u64>> {
    let hash = options(map_free_vars).hash(value);
    count(costs)?;
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
/// Errors of custom comparisons, except for `TypeError`; `ValueError` for a cycle;
/// errors from the host that end the operation.
pub(super) fn engine_equal(
    left: &Value,
    right: &Value,
    map_free_vars: bool,
    costs: &mut ClassCosts,
) -> Result<bool> {
    let equal = options(map_free_vars).equal(left, right);
    count(costs)?;
    match equal {
        Err(error) if error.kind() == ErrorKind::Type => Ok(false),
        equal => equal,
    }
}

/// The objects visited between two checks with the host. A call with more visits checks
/// by itself.
const BETWEEN_CHECKS: u64 = 1 << 14;

/// Counts the last call, and checks with the host now and then.
fn count(costs: &mut ClassCosts) -> Result<()> {
    let work = |costs: &ClassCosts| (costs.comparisons + costs.compared) / BETWEEN_CHECKS;
    let before = work(costs);
    costs.comparisons += 1;
    costs.compared += last_visit_count();
    if work(costs) == before {
        Ok(())
    } else {
        Poll::now()
    }
}

fn options(map_free_vars: bool) -> CompareOptions {
    CompareOptions {
        map_free_vars,
        ..CompareOptions::default()
    }
}
