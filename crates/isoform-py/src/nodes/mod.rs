//! Visits, rewrites and computations with a method for each class.

mod driver;
mod methods;
mod way;

use pyo3::prelude::*;

/// Adds the functions and classes of this module.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<driver::NodeDriver>()?;
    module.add_function(wrap_pyfunction!(methods::_visit_names, module)?)?;
    module.add_function(wrap_pyfunction!(methods::_type_count, module)?)
}
