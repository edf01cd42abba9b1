//! The verification of a whole program: the requirements of types on their nodes, then
//! those of statements on their context.

use isoform::paths::{AccessPath, AccessStep};
use isoform::{Array, Ref, Result, Value, export};

use super::failure::{Failure, VerifyOptions};
use super::flow;
use crate::node::{IRNode, Span};

/// Finds all errors in a program, function, statement, expression or type; returns no
/// errors if the value is well-formed.
///
/// * **Nodes**: operands have types suited to the operation and its result, literals
///   fit their format, bounds of loops are integers. A loop has as many results as
///   carried variables, with compatible types.
/// * **Yields**: the body of a loop with carried values, and both branches of an `if`
///   with results, end with a yield of as many values with compatible types. Other
///   places have no yields.
/// * **Jumps**: `break` and `continue` are inside loops; a function returns
///   values of its return types.
/// * **Definitions**: a variable is used only where it has a value on every path.
///   Definitions in only one branch of an `if`, or in the body of a loop, have no value
///   afterwards. A variable is not assigned where it may already have a value, unless
///   the options allow it. The types of definitions define the variables in the types,
///   for example symbolic sizes. In a statement outside of any function, variables
///   without a definition in the statement are assumed to be given.
/// * **Calls** refer to existing functions of the program, with arguments and results
///   of the declared types.
/// * **User-defined types** are checked by their own verifiers, too; see
///   [`verify`](isoform::objects::verify()).
///
/// A statement or expression that occurs at several places is checked at its first
/// occurrence; elsewhere only for differences. Depth is limited only by memory. Linear
/// in the size of the program, except for lookups.
///
/// # Errors
///
/// `ValueError` for a cyclic value.
///
/// ```
/// use isoform_pto as pto;
/// use isoform_pto::{AssignStmt, ConstInt, DataType, Function, ScalarType, SeqStmts, Var, VerifyOptions};
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
    let found = isoform::objects::verify(&root, &())?;
    let mut failures = Vec::with_capacity(found.len());
    for (path, error) in found {
        let span = span_at(&root, &path);
        failures.push(Failure { path, span, error });
    }
    failures.extend(flow::failures(&root, options)?);
    Ok(failures)
}

/// The source location of the last node with a location on a path.
fn span_at(root: &Value, path: &AccessPath) -> Ref<Span> {
    let mut span = Span::unknown();
    let mut value = root.clone();
    for step in std::iter::once(None).chain(path.steps().iter().map(Some)) {
        let next = match step {
            None => Some(value.clone()),
            Some(AccessStep::Attr(name)) => value
                .as_object()
                .and_then(|object| isoform::objects::field_value(object, name).ok()),
            Some(AccessStep::ArrayItem(index)) => value
                .as_array()
                .and_then(|items| items.get(*index).cloned()),
            Some(AccessStep::MapItem(key)) => value.as_map().and_then(|map| map.get(key).cloned()),
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

/// All errors in a value, as triples of a path, a place in the source text and an error
/// as text.
#[export("pto.verify")]
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

pub(crate) fn register() -> Result<()> {
    isoform::register_functions![verify_for_others]
}
