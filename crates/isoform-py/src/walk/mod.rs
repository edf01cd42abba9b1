//! Walks and rewrites with callbacks written in Python.

mod binders;
mod dispatch;
mod enums;
mod map;
mod mutate;
mod parse;
mod running;
mod visit;
mod walker;

pub(crate) use mutate::var_of;
pub(crate) use running::{MutatorHandle, VisitorHandle};
pub(crate) use walker::{InterruptHandle, interrupt_of};

use pyo3::prelude::*;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<InterruptHandle>()?;
    module.add_class::<VisitorHandle>()?;
    module.add_class::<MutatorHandle>()?;
    module.add_function(wrap_pyfunction!(enums::_set_walk_enums, module)?)?;
    module.add_function(wrap_pyfunction!(walker::structural_walk, module)?)?;
    module.add_function(wrap_pyfunction!(visit::structural_visit, module)?)?;
    module.add_function(wrap_pyfunction!(map::structural_map, module)?)?;
    module.add_function(wrap_pyfunction!(mutate::structural_mutate, module)?)?;
    module.add_function(wrap_pyfunction!(map::substitute, module)?)?;
    module.add_function(wrap_pyfunction!(binders::free_variables, module)?)?;
    module.add_function(wrap_pyfunction!(binders::fresh_binders, module)?)?;
    module.add_function(wrap_pyfunction!(binders::binding_faults, module)?)
}
