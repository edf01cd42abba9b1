//! Common subexpression elimination: the rules of the dialect are attributes of its types.

use isoform::{Error, Result, Value, export};
use isoform_ir::transform;

use super::function::{Function, Program};

/// Computes the common subexpressions of a function, or of each function of a
/// program, only once.
///
/// A value is reused where an earlier computation is certain: earlier in the same
/// sequence of statements, or in an enclosing sequence. A value is never moved out of a
/// loop, a branch, a scope statement or the right side of `and` and `or`. If a variable
/// already holds the value, uses read the variable, and an assignment repeating another
/// assignment is removed together with its variable. Any other repeated value gets a
/// new variable before the statement that first computes the value.
///
/// The pass applies to operations on numbers, and to calls of operators whose attribute
/// [`TOpIsStateful`](super::STATEFUL) is false. All other calls are left alone. So are
/// variables with several assignments, expressions that use them, functions with one
/// statement object at several places, and initial values of `iter_args`.
///
/// A value without repeated expressions is returned as the same object. Linear in the
/// number of distinct expressions and statements; depth is limited only by memory.
///
/// # Errors
///
/// `TypeError` for values other than functions and programs.
///
/// ```
/// use isoform::structural_equal;
/// use isoform_pto::{Add, AssignStmt, DataType, Function, Mul, ReturnStmt, ScalarType, SeqStmts, Var, cse};
///
/// let int = ScalarType::new(DataType::Int64);
/// let var = |name| Var::new(name, &int);
/// let (a, b, x, y) = (var("a"), var("b"), var("x"), var("y"));
/// let sum = || Add::new(&a, &b, DataType::Int64);
/// // x = a + b; y = (a + b) * x; return y   becomes   x = a + b; y = x * x; return y
/// let function = |square| {
///     let body = SeqStmts::new([
///         AssignStmt::new(&x, sum()).upcast(),
///         AssignStmt::new(&y, square).upcast(),
///         ReturnStmt::new([y.clone().upcast()]).upcast(),
///     ]);
///     Function::new("f", [a.clone(), b.clone()], [int.clone().upcast()], body)
/// };
/// let done = cse(function(Mul::new(sum(), &x, DataType::Int64)))?;
/// assert!(structural_equal(done, function(Mul::new(&x, &x, DataType::Int64)))?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn cse(root: impl Into<Value>) -> Result<Value> {
    cse_of(&root.into())
}

fn cse_of(root: &Value) -> Result<Value> {
    let object = root.as_object();
    if object.is_none_or(|object| !object.isa::<Function>() && !object.isa::<Program>()) {
        return Err(Error::type_error(format!(
            "cse: expected pto.Function or pto.Program, got {}",
            root.type_name()
        )));
    }
    super::roles::declared()?;
    transform::cse::cse(root)
}

/// Computes common subexpressions of a function, or of all functions of a program,
/// once.
#[export("pto.cse")]
fn cse_exported(program: Value) -> Result<Value> {
    cse(&program)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![cse_exported]
}
