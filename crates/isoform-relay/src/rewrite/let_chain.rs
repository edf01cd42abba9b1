//! Chains of bindings, which programs in A-normal form consist of.

use crate::Let;
use isoform::{Ref, Result};

/// Visits the bindings of a chain, each of which is the body of the one before: the first
/// function sees them from the outermost one inwards, then the second one from the
/// innermost one outwards. Linear in the length of the chain.
///
/// # Errors
///
/// Those of the functions, which end the visit.
pub fn expand_a_normal_form(
    first: &Ref<Let>,
    mut inwards: impl FnMut(&Ref<Let>) -> Result<()>,
    mut outwards: impl FnMut(&Ref<Let>) -> Result<()>,
) -> Result<()> {
    let mut chain = vec![first.clone()];
    let mut current = first.clone();
    loop {
        inwards(&current)?;
        let Some(next) = current.body.downcast_ref::<Let>().cloned() else {
            break;
        };
        chain.push(next.clone());
        current = next;
    }
    chain.iter().rev().try_for_each(&mut outwards)
}
