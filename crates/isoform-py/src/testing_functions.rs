//! Global functions written in Rust, for tests written in Python, for example
//! `testing.add_one`.

use isoform::functions::Function;
use isoform::{Array, Error, Map, Node, Obj, Ref, Result, Str, Value, export, exports};
use isoform_testing::family;
use pyo3::prelude::*;

use crate::error::IntoPyResult;

/// The number after `x`.
#[export("testing.add_one")]
fn add_one(x: i64) -> Result<i64> {
    x.checked_add(1)
        .ok_or_else(|| Error::value_error("testing.add_one: the result has more than 64 bits"))
}

/// Returns its argument.
#[export("testing.echo")]
fn echo(value: Value) -> Value {
    value
}

/// One of each type that converts, told apart.
#[export("testing.typed")]
fn typed(
    number: f64,
    items: Array<i64>,
    table: &Map<Str, i64>,
    dtype: isoform::values::DType,
    node: Option<Ref<Obj>>,
    #[default = "none"] text: &str,
) -> String {
    let kind = node.map_or("None", |node| node.type_info().key());
    let (items, table) = (items.len(), table.len());
    format!("{number:?} {items} {table} {dtype} {kind} {text}")
}

/// Fails with an error of a kind.
#[export("testing.raise_error")]
fn raise_error(kind: &str, message: &str) -> Result<()> {
    Err(Error::of_kind(kind, message))
}

/// Calls a method of an object by name.
#[export("testing.call_method")]
fn call_method(object: Value, name: &str, arguments: &[Value]) -> Result<Value> {
    isoform::functions::call_method(object, name, arguments)
}

/// The traceback of a failing call's error, as shown by a program in Rust.
#[export("testing.traceback_of")]
fn traceback_of(function: &Function, arguments: &[Value]) -> Result<String> {
    match function.call(arguments) {
        Ok(value) => Err(Error::value_error(format!("no error, but {value:?}"))),
        Err(error) => Ok(format!("{error:?}")),
    }
}

/// The kind and the message of a failing call's error, as seen by Rust.
#[export("testing.error_of")]
fn error_of(function: &Function, arguments: &[Value]) -> Result<(String, String, String)> {
    match function.call(arguments) {
        Ok(value) => Err(Error::value_error(format!("no error, but {value:?}"))),
        Err(error) => Ok((
            error.kind().name().to_owned(),
            error.kind_name().to_owned(),
            error.message().to_owned(),
        )),
    }
}

/// The number times a factor.
#[export("testing.Const.scaled")]
fn scaled(this: &Ref<family::Const>, #[default = 2] factor: i64) -> Result<i64> {
    Ok(this.value.extract::<i64>()? * factor)
}

/// The first operand.
#[export("testing.Add.first")]
fn first(this: &Ref<family::Add>) -> Value {
    this.lhs.clone()
}

/// Registers the functions; again without effect.
pub(crate) fn init() -> PyResult<()> {
    let apply = Function::new(|arguments| match arguments {
        [function, rest @ ..] => function.extract::<Function>()?.call(rest),
        [] => Err(Error::type_error("testing.apply() expects a function")),
    });
    let doc = "Calls the first argument with the others.";
    let exported = exports![
        add_one,
        echo,
        typed,
        raise_error,
        call_method,
        traceback_of,
        error_of
    ];
    isoform::functions::register_functions(exported).into_py()?;
    isoform::functions::register_function("testing.apply", apply.with_doc(doc), true).into_py()
}

/// Registers a method of a type with a Python class, or of a type without one.
pub(crate) fn register_methods(of_const: bool) -> PyResult<()> {
    let (ty, name, function) = if of_const {
        (family::Const::type_index(), "scaled", scaled::function())
    } else {
        (family::Add::type_index(), "first", first::function())
    };
    isoform::functions::register_method(ty, name, function, false).into_py()
}
