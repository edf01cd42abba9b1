//! Cases of rules and steps, by family.

use crate::optimize::check::Case;

mod arithmetic;
mod copies;
mod fuse;
mod limits;
mod moves;
mod recurrent;
mod reduce;
mod reshape;
mod shapes;
mod steps;

/// All cases.
pub(crate) fn all() -> impl Iterator<Item = &'static Case> {
    let families = [
        copies::CASES,
        arithmetic::CASES,
        limits::CASES,
        moves::CASES,
        reshape::CASES,
        reduce::CASES,
        recurrent::CASES,
        shapes::CASES,
        fuse::CASES,
        steps::CASES,
    ];
    families.into_iter().flatten()
}
