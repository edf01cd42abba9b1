//! Visits, rewrites and computations with a method for each class.
//!
//! Methods that are generators are resumed by the engine of the core
//! (`traverse/methods/`).
//!
//! The defaults of `python/isoform/relay/_functor.py` are generators, so their calls do
//! not nest.

mod driver;
mod methods;
mod stack;
mod way;

use pyo3::prelude::*;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<driver::NodeDriver>()?;
    module.add_function(wrap_pyfunction!(methods::_visit_names, module)?)?;
    module.add_function(wrap_pyfunction!(methods::_type_count, module)?)?;
    module.add_function(wrap_pyfunction!(stack::_level, module)?)
}
