//! The operands of expressions and types: the expressions and types in their fields,
//! also for node types of users.

use hashbrown::HashSet;

use super::expr::{Expr, Var};
use super::function::Function;
use super::stmt::Stmt;
use super::ty::Type;
use isoform::traverse::ChildOptions;
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Value};

/// The operands that an expression is computed from or a type is written with, in order.
///
/// The type of an expression is not an operand, and a variable has no operands: its
/// type belongs to its definition. O(number of operands).
pub(super) fn operands(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let of_type = node.isa::<Type>();
    if !of_type && !node.isa::<Expr>() || node.isa::<Var>() {
        return Vec::new();
    }
    let children = ChildOptions::default().keys(false).children_of(node);
    let used = children.iter(RegionKind::Use).filter(|child| {
        let own_type = child.value.as_object().is_some_and(|it| it.isa::<Type>());
        child.region == RegionKind::Use && (of_type || !own_type)
    });
    // The view of a type contains further operands.
    used.flat_map(|child| nearest(&child.value, is_operand, of_type))
        .collect()
}

/// The statements directly below a statement, function or program, in order.
pub(super) fn statements(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let children = ChildOptions::default().keys(false).children_of(node);
    let is_statement = |object: &Ref<Obj>| object.isa::<Stmt>() || object.isa::<Function>();
    children
        .iter(RegionKind::Use)
        .flat_map(|child| nearest(&child.value, is_statement, false))
        .collect()
}

/// The expressions and types in a value or its containers, in order, for example in an
/// argument by name or in an attribute.
pub(super) fn nodes_in(value: &Value) -> Vec<Ref<Obj>> {
    nearest(value, is_operand, false)
}

fn is_operand(object: &Ref<Obj>) -> bool {
    object.isa::<Expr>() || object.isa::<Type>()
}

/// The wanted nodes in a value or its containers, in order; on request also the wanted
/// nodes inside of other nodes.
fn nearest(
    value: &Value,
    is_wanted: impl Fn(&Ref<Obj>) -> bool,
    through_nodes: bool,
) -> Vec<Ref<Obj>> {
    let mut objects = Vec::new();
    // A container may contain itself, or occur at many places.
    let mut seen = HashSet::new();
    let mut stack = vec![value.clone()];
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if is_wanted(object) {
            objects.push(object.clone());
        } else if (object.type_info().is_builtin() || through_nodes)
            && seen.insert(object.identity())
        {
            let items = ChildOptions::default().keys(false).children_of(&value);
            let first = stack.len();
            stack.extend(items.iter(RegionKind::Use).map(|item| item.value));
            stack[first..].reverse();
        }
    }
    objects
}
