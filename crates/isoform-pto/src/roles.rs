//! The roles of the dialect's types in rewrites by rules: binders of variables,
//! operations without effects, constants, commutative operations.

use std::sync::OnceLock;

use super::call::Call;
use super::expr::{ConstBool, ConstFloat, ConstInt, Expr, Var};
use super::operation::{
    Add, And, BinaryExpr, BitAnd, BitOr, BitXor, Eq, Max, Min, Mul, Ne, Or, UnaryExpr, Xor,
};
use super::purity::{has_no_effect, operands_of};
use super::stmt::{AssignStmt, InlineStmt, SeqStmts, Stmt, WhileStmt};
use super::ty::{ScalarType, Type};
use isoform::functions::Function;
use isoform::{Array, Node, Ref, Result, Str, Value, structural_equal};
use isoform_ir::transform::cse;
use isoform_ir::{DialectRoles, declare_attribute};

/// Declares the roles, once. `And` and `Or` are not commutative, since they evaluate
/// the right operand only on demand.
pub(super) fn register() -> Result<()> {
    let pure = Function::typed(|expr: Ref<Expr>| has_no_effect(&expr));
    let roles = DialectRoles {
        binding: (
            AssignStmt::type_index(),
            &[("var", "var"), ("value", "value")],
        ),
        pure: &[
            (Expr::type_index(), pure.into()),
            (Type::type_index(), true.into()),
        ],
        constant: &[
            ConstInt::type_index(),
            ConstFloat::type_index(),
            ConstBool::type_index(),
        ],
        commutative: (
            &[
                Add::type_index(),
                Mul::type_index(),
                Min::type_index(),
                Max::type_index(),
                Eq::type_index(),
                Ne::type_index(),
                Xor::type_index(),
                BitAnd::type_index(),
                BitOr::type_index(),
                BitXor::type_index(),
            ],
            ["left", "right"],
        ),
    };
    roles.declare()?;
    declare_cse()
}

/// Declares the roles on the first call.
pub(super) fn declared() -> Result<()> {
    static DONE: OnceLock<()> = OnceLock::new();
    if DONE.get().is_none() {
        register()?;
        DONE.get_or_init(|| ());
    }
    Ok(())
}

/// Declares the facts for common subexpression elimination.
fn declare_cse() -> Result<()> {
    declare_attribute(Expr::type_index(), cse::FORM, "expression".into())?;
    declare_attribute(Stmt::type_index(), cse::FORM, "statement".into())?;
    declare_attribute(InlineStmt::type_index(), cse::FORM, "text".into())?;
    let bind = Function::typed(|value: Ref<Expr>, number: i64| {
        let var = Var::new(format!("cse_{number}"), &value.ty);
        AssignStmt::new(&var, &value)
    });
    for ty in [
        BinaryExpr::type_index(),
        UnaryExpr::type_index(),
        Call::type_index(),
    ] {
        declare_attribute(ty, cse::FORM, "computation".into())?;
        declare_attribute(ty, cse::NEW_BINDING, bind.clone().into())?;
    }
    let repeatable = Function::typed(|expr: Ref<Expr>| is_repeatable(&expr));
    declare_attribute(Expr::type_index(), cse::REPEATABLE, repeatable.into())?;
    let names = |name: &str| Value::from(Array::from(vec![Str::from(name)]));
    declare_attribute(And::type_index(), cse::CONDITIONAL, names("right"))?;
    declare_attribute(Or::type_index(), cse::CONDITIONAL, names("right"))?;
    // The condition of a loop is computed in every iteration.
    declare_attribute(
        WhileStmt::type_index(),
        cse::CONDITIONAL,
        names("condition"),
    )?;
    declare_attribute(SeqStmts::type_index(), cse::SEQUENCE, "stmts".into())?;
    let sequence = Function::typed(|stmts: Array<Ref<Stmt>>| {
        SeqStmts::new(stmts.iter().cloned().collect::<Vec<_>>())
    });
    declare_attribute(Stmt::type_index(), cse::NEW_SEQUENCE, sequence.into())?;
    // An assignment to a variable of another type converts.
    let holds = Function::typed(|assign: Ref<AssignStmt>| {
        structural_equal(&assign.var.ty, &assign.value.ty)
    });
    declare_attribute(AssignStmt::type_index(), cse::HOLDS, holds.into())
}

/// True if an expression has the same value whenever its operands have the same values.
/// The contents of memory may change under the same name, so only calls may take
/// memory.
fn is_repeatable(expr: &Ref<Expr>) -> bool {
    let is_scalar = |operand: &Ref<Expr>| operand.ty.isa::<ScalarType>();
    has_no_effect(expr) && (expr.isa::<Call>() || operands_of(expr).iter().all(is_scalar))
}
