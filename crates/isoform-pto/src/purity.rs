//! Expressions that have a value and no effect, and their operands.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::call::{Call, MakeTuple, TupleGetItemExpr};
use super::expr::{ConstBool, ConstFloat, ConstInt, Expr, Var};
use super::operation::{BinaryExpr, UnaryExpr};
use isoform::traverse::children_of;
use isoform::types::RegionKind;
use isoform::{Array, Ref, Value};

/// The attribute of an operator that declares whether the operator depends on more than
/// its arguments, or has effects other than computing a value. An operator without the
/// attribute is assumed to be stateful.
pub const STATEFUL: &str = "TOpIsStateful";

/// An expression of a field or an element of a field.
pub(super) fn expr_of(value: &Value) -> Option<&Ref<Expr>> {
    value.as_object()?.downcast_ref::<Expr>()
}

/// An array of expressions.
pub(super) fn exprs_of(value: &Value) -> Option<Array> {
    let items: Array = value.extract().ok()?;
    let all = !items.is_empty() && items.values().iter().all(|item| expr_of(item).is_some());
    all.then_some(items)
}

/// The operands of an expression: the expressions in fields, except definition fields
/// and types.
pub(super) fn operands_of(expr: &Ref<Expr>) -> Vec<Ref<Expr>> {
    let mut operands = Vec::new();
    if expr.isa::<Var>() {
        return operands;
    }
    for child in children_of(expr).iter(RegionKind::Use) {
        if child.region != RegionKind::Use {
            continue;
        }
        if let Some(operand) = expr_of(&child.value) {
            operands.push(operand.clone());
        } else if let Some(items) = exprs_of(&child.value) {
            operands.extend(items.values().iter().filter_map(expr_of).cloned());
        }
    }
    operands
}

/// Known properties of expressions, by identity.
#[derive(Default)]
pub(super) struct Purity {
    known: HashMap<u64, bool, RandomState>,
}

impl Purity {
    /// True if an expression has no effect and may be computed once, twice or
    /// never. Linear in the number of distinct expressions in it that have not been
    /// checked before.
    pub(super) fn is_pure(&mut self, root: &Ref<Expr>) -> bool {
        let mut stack = vec![(root.clone(), None::<Vec<Ref<Expr>>>)];
        while let Some((expr, operands)) = stack.pop() {
            let ident = expr.identity();
            if let Some(operands) = operands {
                let operand_is_pure =
                    |operand: &Ref<Expr>| self.known.get(&operand.identity()) == Some(&true);
                let pure = operands.iter().all(operand_is_pure);
                self.known.insert(ident, pure);
                continue;
            }
            if self.known.contains_key(&ident) {
                continue;
            }
            if !has_no_effect(&expr) {
                self.known.insert(ident, false);
                continue;
            }
            let operands = operands_of(&expr);
            let below = operands.clone();
            stack.push((expr, Some(operands)));
            stack.extend(below.into_iter().map(|operand| (operand, None)));
        }
        self.known.get(&root.identity()) == Some(&true)
    }
}

/// True if an expression has no effect besides the effects of its operands.
pub(super) fn has_no_effect(expr: &Ref<Expr>) -> bool {
    if let Some(call) = expr.downcast_ref::<Call>() {
        return call.op.attribute(STATEFUL).and_then(Value::as_bool) == Some(false);
    }
    expr.isa::<Var>()
        || expr.isa::<ConstInt>()
        || expr.isa::<ConstFloat>()
        || expr.isa::<ConstBool>()
        || expr.isa::<BinaryExpr>()
        || expr.isa::<UnaryExpr>()
        || expr.isa::<MakeTuple>()
        || expr.isa::<TupleGetItemExpr>()
}
