//! Expressions that have a value and no effect, and their operands.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::call::{Call, MakeTuple, TupleGetItemExpr};
use super::expr::{ConstBool, ConstFloat, ConstInt, Expr, Var};
use super::operation::{BinaryExpr, UnaryExpr};
use crate::kernel::container::Array;
use crate::kernel::error::Result;
use crate::kernel::object::reference::Ref;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::{Children, children_of};

/// The attribute of an operator that says whether it depends on more than its
/// arguments, or has effects other than computing a value. An operator without the
/// attribute is assumed to.
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

/// The operands of an expression or statement: the expressions in its fields, except
/// those in definition fields and in types.
#[derive(Clone)]
pub(super) struct Operands {
    pub(super) children: Children,
    /// The field, and the position in its array.
    places: Vec<(usize, Option<usize>)>,
    pub(super) exprs: Vec<Ref<Expr>>,
}

impl Operands {
    pub(super) fn of(value: &Value) -> Operands {
        let children = children_of(value);
        let (mut places, mut exprs) = (Vec::new(), Vec::new());
        let is_var = expr_of(value).is_some_and(|expr| expr.isa::<Var>());
        if !is_var {
            for (field, child) in children.iter(RegionKind::Use).enumerate() {
                if child.region != RegionKind::Use {
                    continue;
                }
                if let Some(expr) = expr_of(&child.value) {
                    places.push((field, None));
                    exprs.push(expr.clone());
                } else if let Some(items) = exprs_of(&child.value) {
                    for (position, item) in items.values().iter().enumerate() {
                        places.push((field, Some(position)));
                        exprs.extend(expr_of(item).cloned());
                    }
                }
            }
        }
        Operands {
            children,
            places,
            exprs,
        }
    }

    /// True if an operand is in the field of this name.
    pub(super) fn is_field(&self, operand: usize, name: &str) -> bool {
        let step = self
            .places
            .get(operand)
            .and_then(|place| self.children.step(place.0));
        matches!(step, Some(crate::kernel::path::AccessStep::Attr(field)) if field == name)
    }

    /// The changed fields if these expressions replace the operands.
    pub(super) fn changes(&self, new: &[Ref<Expr>]) -> Result<Vec<(usize, Value)>> {
        let mut changes: Vec<(usize, Value)> = Vec::new();
        // The array whose elements are being replaced.
        let mut open: Option<(usize, Vec<Value>)> = None;
        for ((&(field, position), old), new) in self.places.iter().zip(&self.exprs).zip(new) {
            if old.same_as(new) {
                continue;
            }
            let Some(position) = position else {
                changes.push((field, new.into()));
                continue;
            };
            if open.as_ref().is_none_or(|open| open.0 != field) {
                let whole = self.children.get(field, RegionKind::Use);
                let items: Array = whole
                    .map(|child| child.value)
                    .unwrap_or_default()
                    .extract()?;
                let closed = open.replace((field, items.values().to_vec()));
                changes.extend(closed.map(|(field, items)| (field, Array::from(items).into())));
            }
            if let Some((_, items)) = &mut open {
                items[position] = new.into();
            }
        }
        changes.extend(open.map(|(field, items)| (field, Array::from(items).into())));
        Ok(changes)
    }
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
        let mut stack = vec![(root.clone(), None::<Operands>)];
        while let Some((expr, operands)) = stack.pop() {
            let ident = expr.identity();
            if let Some(operands) = operands {
                let known =
                    |operand: &Ref<Expr>| self.known.get(&operand.identity()) == Some(&true);
                let pure = operands.exprs.iter().all(known);
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
            let operands = Operands::of(&(&expr).into());
            let below = operands.exprs.clone();
            stack.push((expr, Some(operands)));
            stack.extend(below.into_iter().map(|operand| (operand, None)));
        }
        self.known.get(&root.identity()) == Some(&true)
    }
}

/// True if an expression has no effect besides those of its operands.
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
