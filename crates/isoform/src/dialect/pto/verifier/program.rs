//! The verification of a whole program: what the types demand of their nodes,
//! then what statements demand of those around them.

use isoform_macros::export;

use super::failure::{Failure, VerifyOptions};
use super::flow;
use crate::dialect::pto::node::{IRNode, Span};
use crate::kernel::container::Array;
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;
use crate::kernel::path::{AccessPath, AccessStep};
use crate::kernel::value::{Value, ValueRef};

/// Everything that is wrong with a program, function, statement, expression or
/// type; nothing if it is well-formed.
///
/// * **Nodes**: operands have types that go with the operation and its result,
///   literals fit their format, bounds of loops are integers, a loop has as
///   many results as variables that it carries, with types that go together.
/// * **Yields**: the body of a loop that carries values, and both branches of
///   an `if` that results in some, end with a yield of as many values with
///   types that go together; there are no yields elsewhere.
/// * **Jumps**: `break` and `continue` stand in loops; a function returns
///   values of its return types.
/// * **Definitions**: a variable is used only where it has a value on every
///   path. What an `if` defines in one branch, or a loop in its body, has none
///   behind it. A variable is not given a value where it may have one, unless
///   the options allow that. Variables in the types of definitions, such as
///   symbolic sizes, are defined by them. In a statement without function
///   around it, variables that nothing in it defines are taken as given.
/// * **Calls** of functions of the program exist and have arguments and results
///   of the types that the function says.
/// * **Types of users** with verifiers of their own are asked, too; see
///   [`verify`](crate::verify()).
///
/// A statement or expression that stands at several places is checked where it
/// is met first; at others only for what is different there. Depth is limited
/// by memory only. Linear in the size of the program, but for lookups.
///
/// # Errors
///
/// `ValueError` for a value that contains itself.
///
/// ```
/// use isoform::dialect::pto::{
///     self, AssignStmt, ConstInt, DataType, Function, ScalarType, SeqStmts, Var, VerifyOptions,
/// };
///
/// let int = ScalarType::new(DataType::Int64);
/// let [x, y] = ["x", "y"].map(|name| Var::new(name, &int));
/// let one = ConstInt::new(1, DataType::Int64);
/// let body = [AssignStmt::new(&y, &x).upcast(), AssignStmt::new(&x, &one).upcast()];
/// let function = Function::new("f", [], [], SeqStmts::new(body));
/// let failures = pto::verify(&function, &VerifyOptions::default())?;
/// let texts: Vec<_> = failures.iter().map(ToString::to_string).collect();
/// assert_eq!(texts, [
///     "<root>.body.stmts[0].value: ValueError: variable 'x' is used before it is defined",
/// ]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn verify(root: impl Into<Value>, options: &VerifyOptions) -> Result<Vec<Failure>> {
    let root = root.into();
    let found = crate::by_fields::verify::verify(&root, &())?;
    let mut failures = Vec::with_capacity(found.len());
    for (path, error) in found {
        let span = span_at(&root, &path);
        failures.push(Failure { path, span, error });
    }
    failures.extend(flow::failures(&root, options)?);
    Ok(failures)
}

/// Where the last node on a path with a place in a source text was written.
fn span_at(root: &Value, path: &AccessPath) -> Ref<Span> {
    let mut span = Span::unknown();
    let mut value = root.clone();
    for step in std::iter::once(None).chain(path.steps().iter().map(Some)) {
        let next = match (step, value.view()) {
            (None, _) => Some(value.clone()),
            (Some(AccessStep::Attr(name)), _) => value
                .as_object()
                .and_then(|object| crate::get_field(object, name).ok()),
            (Some(AccessStep::ArrayItem(at)), ValueRef::Array(items)) => items.get(*at).cloned(),
            (Some(AccessStep::MapItem(key)), ValueRef::Map(map)) => map.get(key).cloned(),
            _ => None,
        };
        let Some(next) = next else {
            break;
        };
        value = next;
        if let Some(node) = value.peek::<Ref<IRNode>>()
            && node.span.is_valid()
        {
            span = node.span.clone();
        }
    }
    span
}

/// Everything that is wrong with a value, as triples of a path, a place in the
/// source text and an error as text.
#[export("pto.verify", crate = crate)]
fn verify_for_others(node: Value, allow_redefinition: bool) -> Result<Array> {
    let options = VerifyOptions::default().allow_redefinition(allow_redefinition);
    let failures = verify(node, &options)?;
    let shown = failures.into_iter().map(|failure| {
        let parts: [Value; 4] = [
            format!("{:#}", failure.path).into(),
            failure.span.into(),
            failure.error.kind().name().into(),
            failure.error.message().into(),
        ];
        Value::from(Array::from(parts))
    });
    Ok(shown.collect::<Vec<_>>().into())
}

pub(in crate::dialect::pto) fn register() -> Result<()> {
    crate::ir::functions![verify_for_others]
}
