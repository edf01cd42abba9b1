//! The oracle and laws of structural comparison, and node types declared in Rust, for
//! tests written in Python.

use isoform::attrs::{self, AttrDef, Lookup, node_trait};
use isoform::compare::CompareOptions;
use isoform::functions::Function;
use isoform::objects::{field_value, with_field};
use isoform::types::{Schema, TypeIndex};
use isoform::{Error, Value, host};
use isoform_testing::family::{self, Family, ROLES, Role};
use isoform_testing::{check_laws, check_types, oracle};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::bind;

fn options(map_free_vars: bool, skip_tensor_content: bool) -> CompareOptions {
    CompareOptions {
        map_free_vars,
        skip_tensor_content,
    }
}

fn values(given: Vec<Bound<'_, PyAny>>) -> PyResult<Vec<Value>> {
    given.iter().map(untyped).collect()
}

/// Checks that equality is reflexive, symmetric and transitive on the given
/// values, and that equal values have the same hash and digest. Cubic in the
/// number of values.
///
/// Raises ValueError with the law and the values that break it.
#[pyfunction]
#[pyo3(name = "check_laws", signature = (values, map_free_vars=false, skip_tensor_content=false))]
fn laws(
    values: Vec<Bound<'_, PyAny>>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<()> {
    let values = self::values(values)?;
    check_laws(&values, options(map_free_vars, skip_tensor_content))
        .map_err(|violation| PyValueError::new_err(violation.to_string()))
}

/// Checks that the given values keep the promises of their types' kinds: nothing below
/// a `const-tree` is a variable or a `dag` node.
///
/// Raises ValueError with the type and the place.
#[pyfunction]
#[pyo3(name = "check_types")]
fn types(values: Vec<Bound<'_, PyAny>>) -> PyResult<()> {
    check_types(&self::values(values)?)
        .map_err(|violation| PyValueError::new_err(violation.to_string()))
}

/// The result of the slow oracle, which shares no code with `structural_equal`.
///
/// Raises the same exceptions as `structural_equal`, and RecursionError for values
/// nested deeper than a few hundred levels.
#[pyfunction]
#[pyo3(signature = (lhs, rhs, map_free_vars=false, skip_tensor_content=false))]
fn oracle_equal(
    lhs: &Bound<'_, PyAny>,
    rhs: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<bool> {
    let options = options(map_free_vars, skip_tensor_content);
    oracle::equal(&untyped(lhs)?, &untyped(rhs)?, options).into_py()
}

/// A text that is the same for two values exactly if they are structurally equal, in
/// this process.
///
/// Raises TypeError for types with custom hooks, ValueError for cycles, RecursionError
/// for values nested too deeply.
#[pyfunction]
#[pyo3(signature = (value, map_free_vars=false, skip_tensor_content=false))]
fn oracle_canonical(
    value: &Bound<'_, PyAny>,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> PyResult<String> {
    oracle::canonical(
        &untyped(value)?,
        options(map_free_vars, skip_tensor_content),
    )
    .into_py()
}

/// Registers the node types of the library's own tests, which are declared in Rust, and
/// returns their Python classes by name.
#[pyfunction]
fn rust_family(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let family = Family::native().into_py()?;
    crate::testing_functions::register_methods(true)?;
    let classes = PyDict::new(py);
    for role in ROLES {
        let key = isoform::host::type_info(family.type_of(role)).key();
        classes.set_item(format!("{role:?}"), bind::class_by_key(py, key)?)?;
    }
    crate::testing_functions::register_methods(false)?;
    set_attributes(family.type_of(Role::Add)).into_py()?;
    Ok(classes)
}

/// Evaluating it has no side effects.
#[node_trait("testing.pure")]
trait Pure {}

/// It may have a simpler form.
#[node_trait("testing.simplify")]
trait Simplify {
    /// The simpler form, or the node itself.
    fn simplify(&self) -> isoform::Result<Value>;
}

/// Knows what it costs.
#[node_trait("testing.price")]
trait Price {
    /// The price of one.
    fn price(&self) -> isoform::Result<i64>;

    /// The price of several.
    fn total(&self, count: i64) -> isoform::Result<i64> {
        Ok(self.price()? * count)
    }
}

impl Pure for family::Add {}

impl Simplify for family::Add {
    fn simplify(&self) -> isoform::Result<Value> {
        Ok(self.lhs.clone())
    }
}

impl Price for family::Const {
    fn price(&self) -> isoform::Result<i64> {
        Ok(3)
    }
}

/// A random `IRModule` of about `size` nodes, the same one for the same seed.
#[pyfunction]
fn random_module(py: Python<'_>, seed: u64, size: usize) -> PyResult<Bound<'_, PyAny>> {
    let module = isoform_testing::ir::random_module(seed, size).into_py()?;
    to_python(py, &module.into())
}

/// A random `pto.Program` of about `size` nodes, the same one for the same seed.
#[pyfunction]
fn random_program(py: Python<'_>, seed: u64, size: usize) -> PyResult<Bound<'_, PyAny>> {
    let program = isoform_testing::pto::random_program(seed, size).into_py()?;
    to_python(py, &program.into())
}

/// The traits of a node, as a pass in Rust sees them: by name, those with methods with
/// the results. `total` is called for `count` nodes.
///
/// Raises exceptions of the methods.
#[pyfunction]
fn ask_traits<'py>(node: &Bound<'py, PyAny>, count: i64) -> PyResult<Bound<'py, PyDict>> {
    let py = node.py();
    let node = untyped(node)?;
    let answers = PyDict::new(py);
    let Some(node) = node.as_object() else {
        return Ok(answers);
    };
    if node.implements::<dyn Pure>().is_some() {
        answers.set_item("pure", true)?;
    }
    if let Some(node) = node.implements::<dyn Simplify>() {
        answers.set_item("simplify", to_python(py, &node.simplify().into_py()?)?)?;
    }
    if let Some(node) = node.implements::<dyn Price>() {
        answers.set_item("price", node.price().into_py()?)?;
        answers.set_item("total", node.total(count).into_py()?)?;
    }
    Ok(answers)
}

/// Sets attributes, like a library with types declared in Rust.
fn set_attributes(sum: TypeIndex) -> isoform::Result<()> {
    let arity = AttrDef::new("testing.arity")
        .doc("How many operands there are.")
        .schema(Schema::Int);
    attrs::declare(arity)?;
    attrs::implement::<dyn Pure, family::Add>()?;
    attrs::implement::<dyn Simplify, family::Add>()?;
    attrs::implement::<dyn Price, family::Const>()?;
    attrs::replace(sum, "testing.arity", 2)?;
    let swap = Function::new(|given: &[Value]| match given {
        [node] if node.as_object().is_some() => swapped(node),
        _ => Err(Error::type_error(format!(
            "testing.swap takes a node, got {given:?}"
        ))),
    });
    attrs::replace(sum, "testing.swap", swap)
}

/// A sum with its operands swapped.
fn swapped(node: &Value) -> isoform::Result<Value> {
    let Some(object) = node.as_object() else {
        return Ok(node.clone());
    };
    let (lhs, rhs) = (field_value(object, "lhs")?, field_value(object, "rhs")?);
    let other = with_field(object, "lhs", rhs)?;
    with_field(&other, "rhs", lhs).map(Value::from)
}

/// Calls, from Rust, the function that is an attribute of a node's type or of its
/// nearest ancestor that has it.
///
/// Raises AttributeError if there is none, TypeError if it is not a function, and
/// exceptions of the function.
#[pyfunction]
#[pyo3(signature = (node, name, *arguments))]
fn call_attribute<'py>(
    node: &Bound<'py, PyAny>,
    name: &str,
    arguments: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let node = untyped(node)?;
    let Some(object) = node.as_object() else {
        return Err(PyTypeError::new_err("expected a node"));
    };
    let index = host::type_index_of(object);
    let Some(value) = attrs::get(index, name, Lookup::Nearest) else {
        return Err(PyAttributeError::new_err(format!(
            "type {} has no attribute '{name}'",
            host::type_info(index).key()
        )));
    };
    let Some(function) = value.as_object().and_then(Function::of) else {
        return Err(PyTypeError::new_err(format!(
            "attribute '{name}': expected a function, got {value:?}"
        )));
    };
    let mut values = vec![node.clone()];
    for argument in arguments {
        values.push(untyped(&argument)?);
    }
    to_python(arguments.py(), &function.call(&values).into_py()?)
}

/// Adds the functions of `isoform.testing`.
pub(crate) fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
    crate::testing_functions::init()?;
    crate::testing_kernels::init(module)?;
    module.add_function(wrap_pyfunction!(laws, module)?)?;
    module.add_function(wrap_pyfunction!(types, module)?)?;
    module.add_function(wrap_pyfunction!(oracle_equal, module)?)?;
    module.add_function(wrap_pyfunction!(oracle_canonical, module)?)?;
    module.add_function(wrap_pyfunction!(rust_family, module)?)?;
    module.add_function(wrap_pyfunction!(random_module, module)?)?;
    module.add_function(wrap_pyfunction!(random_program, module)?)?;
    module.add_function(wrap_pyfunction!(call_attribute, module)?)?;
    module.add_function(wrap_pyfunction!(ask_traits, module)?)
}
