//! `structural_map` and `substitute`: new values from old values.

use hashbrown::HashMap;
use isoform::Value;
use isoform::traverse::{MapOptions, Visit};
use isoform::types::Kind;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use super::dispatch::Callbacks;
use super::parse;
use crate::convert::{to_python, untyped};
use crate::error::IntoPyResult;
use crate::object::gil::under_gil;

/// Rewrites a value: each callback receives the values of its types and returns their
/// replacements.
///
/// `callbacks`, `with_def_region_kind` and `order` are as for `structural_walk`. To
/// keep a value, a callback returns it. Nothing is changed in place: an object that
/// contains a replacement is rebuilt, and everything else is the same object in the
/// result. A rebuilt object has the fields of the old one, and not the other attributes that
/// somebody set on it in Python. An object that is reached in several ways is rewritten once in each kind of
/// region (definition or use), and its result is shared in the same way. In post-order,
/// a callback receives a node after its children were replaced; in pre-order, the
/// children of its result are visited.
///
/// Raises TypeError if a result does not fit its field or is None for another value (a
/// callback without `return`), ValueError for a value that contains itself, and exceptions
/// of the callbacks. O(values), in constant native
/// stack.
#[pyfunction]
#[pyo3(signature = (root, callbacks=None, with_def_region_kind=None, order=None))]
pub(crate) fn structural_map<'py>(
    root: &Bound<'py, PyAny>,
    callbacks: Option<&Bound<'py, PyAny>>,
    with_def_region_kind: Option<&Bound<'py, PyAny>>,
    order: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let order = parse::order("structural_map", order)?;
    let callbacks = Callbacks::parse("structural_map", callbacks, with_def_region_kind)?;
    let value = untyped(root)?;
    let options = MapOptions::default().order(order).keys(false);
    let py = root.py();
    let mut variables = HashMap::new();
    let call = |visit: &Visit<'_>| {
        let called = call(py, &callbacks, &mut variables, visit);
        called.map_err(|error| callbacks.failed(py, error, visit))
    };
    let mapped = under_gil(py, || {
        options.map_selected(&value, |ty| callbacks.wants(ty), call)
    });
    to_python(py, &mapped.into_py()?)
}

/// The replacement returned by a callback for a value.
///
/// None represents only the value None: a function without a `return` statement returns
/// None.
pub(super) fn replacement(
    function: &str,
    value: &Value,
    result: &Bound<'_, PyAny>,
) -> PyResult<Value> {
    if result.is_none() && !value.is_none() {
        return Err(PyTypeError::new_err(format!(
            "{function}: the callback for {} returned None; it keeps a value by returning it, and \
             the callback for what contains the value can put None in its place",
            value.type_name()
        )));
    }
    untyped(result)
}

/// The results for variables and dag nodes whose callback does not take the kind of
/// region: definition and uses get the same object.
type Variables = HashMap<u64, Option<Value>>;

fn call(
    py: Python<'_>,
    callbacks: &Callbacks,
    variables: &mut Variables,
    visit: &Visit<'_>,
) -> PyResult<Option<Value>> {
    let Some((chosen, argument)) = callbacks.find_for_visit(py, visit)? else {
        return Ok(None);
    };
    let spread = visit
        .object()
        .filter(|object| {
            let info = object.type_info();
            matches!(info.kind(), Kind::Var | Kind::Dag) && !chosen.with_region()
        })
        .map(|object| object.identity());
    if let Some(done) = spread.and_then(|identity| variables.get(&identity)) {
        return Ok(done.clone());
    }
    let result = chosen.call(&argument, visit.region())?;
    let answer = if result.is(&argument) {
        None
    } else {
        Some(replacement("structural_map", &visit.value(), &result)?)
    };
    if let Some(identity) = spread {
        variables.insert(identity, answer.clone());
    }
    Ok(answer)
}

/// Replaces the free occurrences of variables in a value, all at once and
/// without capture.
///
/// `replacements` maps variables (by identity) to their replacements. If a binder would
/// capture a variable of a replacement, the binder gets a new variable. If no variable
/// occurs free, the result is the same object. A rebuilt object has the fields of the old
/// one, and not the other attributes that somebody set on it in Python.
///
/// Raises TypeError if a key is not a variable or a replacement does not fit its field,
/// ValueError for a value that contains itself. Linear in the number of distinct
/// objects as long as each variable is bound once.
#[pyfunction]
pub(crate) fn substitute<'py>(
    root: &Bound<'py, PyAny>,
    replacements: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = root.py();
    let value = untyped(root)?;
    let mut pairs = Vec::new();
    if let Ok(dict) = replacements.cast::<PyDict>() {
        for (var, replacement) in dict {
            pairs.push((untyped(&var)?, untyped(&replacement)?));
        }
    } else {
        let Ok(mapping) = replacements.cast::<PyMapping>() else {
            return Err(PyTypeError::new_err(format!(
                "substitute: expected a dict from variables to their replacements, as in \
                 substitute(value, {{x: 1}}), got {}",
                replacements.get_type().name()?
            )));
        };
        for item in mapping.items()? {
            let (var, replacement) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            pairs.push((untyped(&var)?, untyped(&replacement)?));
        }
    }
    let result = under_gil(py, || isoform::traverse::substitute(&value, &pairs)).into_py()?;
    to_python(py, &result)
}
