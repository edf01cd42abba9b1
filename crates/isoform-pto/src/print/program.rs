//! The text of a program or a part of it.

use isoform::{Error, Result, Str, Value, export};

use super::options::PrintOptions;
use super::printer::{Printer, Task};
use crate::{Expr, Function, Program, Stmt, Type};

/// Prints a program, function, statement, expression or type in the style of Python.
///
/// * Variables have their hints as names, with an appended number if another variable
///   of the function has the hint; definitions are annotated with their types.
/// * The first occurrence of a memory reference is written in full.
/// * Parentheses follow the precedence of Python's operators.
/// * A large repeated part of an expression is written once, as `(s := ...)`, and
///   afterwards by the name; a statement at several places is written once, with a
///   label.
/// * Beyond 40 levels the indentation stops growing; a number in brackets shows the
///   level.
///
/// The same value always has the same text. Linear in the size of the value and of the
/// text; depth is limited only by memory.
///
/// # Errors
///
/// `TypeError` for a value of another kind.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{Add, DataType, Mul, ScalarType, Var};
/// let int = ScalarType::new(DataType::Int64);
/// let [x, y] = ["x", "x"].map(|name| Var::new(name, &int));
/// let sum = Add::new(&x, &y, DataType::Int64);
/// let product = Mul::new(sum, &x, DataType::Int64);
/// let text = pto::python_print(&product)?;
/// assert_eq!(text, "(x + x_1) * x");
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn python_print(node: impl Into<Value>) -> Result<String> {
    PrintOptions::default().print(node)
}

impl PrintOptions {
    /// [`python_print`] with these options.
    ///
    /// # Errors
    ///
    /// As [`python_print`].
    pub fn print(&self, node: impl Into<Value>) -> Result<String> {
        let node = node.into();
        let Some(object) = node.as_object() else {
            return Err(unprintable(&node));
        };
        let mut printer = Printer::new(self);
        if object.isa::<Program>() || object.isa::<Function>() || object.isa::<Stmt>() {
            printer.label_shared(object);
            printer.run(Task::Node(object.clone()));
        } else if object.isa::<Expr>() || object.isa::<Type>() {
            printer.run(Task::Root(object.clone()));
        } else {
            return Err(unprintable(&node));
        }
        Ok(printer.out)
    }
}

fn unprintable(node: &Value) -> Error {
    Error::type_error(format!(
        "python_print: expected a program, function, statement, expression or type of pto, got {}",
        node.type_name()
    ))
}

/// The text of a program or a part of it, in the manner of Python.
#[export("pto.python_print")]
fn print_for_others(
    node: Value,
    prefix: Str,
    spans: bool,
    concise: bool,
    explicit_layout: bool,
) -> Result<String> {
    let options = PrintOptions::default().prefix(&*prefix).spans(spans);
    options
        .concise(concise)
        .explicit_layout(explicit_layout)
        .print(node)
}

pub(crate) fn register() -> Result<()> {
    isoform::register_functions![print_for_others]
}
