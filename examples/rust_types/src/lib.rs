//! A library that declares its node types in Rust and is used from Python.
//!
//! This is all of it: properties, constructors, docstrings, `repr`, `match`,
//! copies, comparison, JSON and stubs of the Python classes come from the
//! declarations.
//!
//! ```python
//! import calc_ir  # before isoform: this module brings the core with it
//! import isoform
//!
//! calc = isoform.types.calc
//! three = calc.Add(calc.Const(1), calc.Const(2))
//! ```

use isoform::{Node, Obj, Ref};
use pyo3::prelude::*;

/// A number.
#[derive(Node)]
#[node(key = "calc.Const")]
#[repr(C)]
pub struct Const {
    /// Its value.
    pub value: i64,
}

/// A sum.
#[derive(Node)]
#[node(key = "calc.Add")]
#[repr(C)]
pub struct Add {
    /// The first operand.
    pub lhs: Ref<Obj>,
    /// The second operand.
    pub rhs: Ref<Obj>,
}

#[pymodule]
fn calc_ir(module: &Bound<'_, PyModule>) -> PyResult<()> {
    isoform_py::embed(module)?;
    isoform_py::register::<Const>()?;
    isoform_py::register::<Add>()
}
