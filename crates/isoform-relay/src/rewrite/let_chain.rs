//! Chains of bindings, the form of programs in A-normal form.

use crate::Let;
use isoform::{Ref, Result};

/// Visits the bindings of a chain, in which a binding is the body of the previous
/// binding. The first function sees the bindings from the outermost inwards, then the
/// second function from the innermost outwards. Linear in the length of the chain.
///
/// # Errors
///
/// Errors of the functions; an error ends the visit.
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
