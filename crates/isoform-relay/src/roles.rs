//! The roles of expressions in rewrites by rules: binders of variables, expressions
//! without effects, constants, items of tuples, operands in any order.

use super::expr::{Constant, EmptyTuple, ExprWithOp, Tuple, TupleGetItem};
use super::passes::effects::{is_commutative, is_stateful, may_fail};
use super::{Any, Call, Clause, Function, If, Let, Var, attribute};
use isoform::functions::Function as Callback;
use isoform::traverse::{COMMUTATIVE, PROJECTION};
use isoform::{Array, Map, Node, Ref, Result, Str, Value, structural_equal};
use isoform_ir::ir::{Constructor, Op, RelayExpr};
use isoform_ir::transform::cse;
use isoform_ir::{DialectRoles, declare_attribute};

/// Declares the roles, once.
pub(super) fn register() -> Result<()> {
    isoform_ir::ir::register()?;
    let pure = Callback::typed(|expr: Ref<RelayExpr>| has_no_effect(&expr));
    let roles = DialectRoles {
        binding: (
            Let::type_index(),
            &[("var", "var"), ("value", "value"), ("body", "body")],
        ),
        pure: &[
            (ExprWithOp::type_index(), pure.into()),
            (Function::type_index(), true.into()),
        ],
        constant: &[Constant::type_index(), EmptyTuple::type_index()],
        commutative: (&[], ["", ""]),
    };
    roles.declare()?;
    let fields = [("of", "tuple_value"), ("index", "index")];
    let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
    let fields: Map<Str, Str> = fields.into_iter().collect();
    declare_attribute(TupleGetItem::type_index(), PROJECTION, fields.into())?;
    let commutes = Callback::typed(|call: Ref<Call>| match called(&call) {
        Some(op) if is_commutative(op) => Value::from("args"),
        _ => Value::NONE,
    });
    declare_attribute(Call::type_index(), COMMUTATIVE, commutes.into())?;
    declare_cse()
}

/// Declares the facts for common subexpression elimination.
fn declare_cse() -> Result<()> {
    let call = Call::type_index();
    let partial = Callback::typed(|call: Ref<Call>| called(&call).is_some_and(may_fail));
    declare_attribute(call, cse::MAY_FAIL, partial.into())?;
    let names = |names: &[&str]| -> Value {
        let names = names.iter().map(|name| Str::from(*name));
        Array::from(names.collect::<Vec<_>>()).into()
    };
    let branches = names(&["true_branch", "false_branch"]);
    declare_attribute(If::type_index(), cse::CONDITIONAL, branches)?;
    declare_attribute(Clause::type_index(), cse::CONDITIONAL, names(&["rhs"]))?;
    // A fused function must not use variables from outside, and a function of another
    // compiler stays as it is.
    let opaque = Callback::typed(|function: Ref<Function>| {
        !function.is_optimizable() || function.has_nonzero_attribute(attribute::PRIMITIVE)
    });
    declare_attribute(Function::type_index(), cse::OPAQUE, opaque.into())?;
    let holds = Callback::typed(|binding: Ref<Let>| holds_value(&binding));
    declare_attribute(Let::type_index(), cse::HOLDS, holds.into())?;
    // Two unknown sizes may be different sizes.
    declare_attribute(Any::type_index(), cse::REPEATABLE, false.into())
}

/// True if the variable of a binding has the very type of the value, as an annotation may
/// be less precise. The type of a value is unknown before type inference.
pub(super) fn holds_value(binding: &Let) -> Result<bool> {
    match (&binding.var.type_annotation, &binding.value.checked_type_) {
        (None, _) => Ok(true),
        (Some(declared), Some(found)) => structural_equal(declared, found),
        (Some(_), None) => Ok(false),
    }
}

fn called(call: &Call) -> Option<&Op> {
    call.op.downcast_ref::<Op>().map(|op| &**op)
}

/// True if an expression, apart from its operands, has no effect, and depends on the
/// operands only.
fn has_no_effect(expr: &Ref<RelayExpr>) -> bool {
    if let Some(call) = expr.downcast_ref::<Call>() {
        return called(call).is_some_and(|op| !is_stateful(op)) || call.op.isa::<Constructor>();
    }
    expr.isa::<Var>()
        || expr.isa::<Constant>()
        || expr.isa::<Tuple>()
        || expr.isa::<TupleGetItem>()
        || expr.isa::<Let>()
        || expr.isa::<If>()
}
