//! The expressions and types that an expression or type is made of.

use hashbrown::HashSet;

use super::*;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::{ChildOptions, children_of};

/// The operands that an expression is computed from or a type is written with, in order.
///
/// The type of an expression is not one of its operands, and a variable has none:
/// its type belongs to its definition. O(number of operands).
pub(super) fn operands(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let mut found = Vec::new();
    if let Some(op) = node.downcast_ref::<BinaryExpr>() {
        found.push(op.left.as_object().clone());
        found.push(op.right.as_object().clone());
    } else if let Some(op) = node.downcast_ref::<UnaryExpr>() {
        found.push(op.operand.as_object().clone());
    } else if let Some(call) = node.downcast_ref::<Call>() {
        found.extend(call.args.iter().map(|arg| arg.as_object().clone()));
        for map in [&call.kwargs, &call.attrs] {
            found.extend(map.iter().flat_map(|(_, value)| nodes_in(value)));
        }
    } else if let Some(tuple) = node.downcast_ref::<MakeTuple>() {
        found.extend(tuple.elements.iter().map(|item| item.as_object().clone()));
    } else if let Some(item) = node.downcast_ref::<TupleGetItemExpr>() {
        found.push(item.tuple.as_object().clone());
    } else if let Some(tuple) = node.downcast_ref::<TupleType>() {
        found.extend(tuple.types.iter().map(|item| item.as_object().clone()));
    } else if let Some(array) = node.downcast_ref::<ArrayType>() {
        found.extend(array.shape.iter().map(|size| size.as_object().clone()));
    } else if let Some(tensor) = node.downcast_ref::<TensorType>() {
        found.extend(tensor.shape.iter().map(|size| size.as_object().clone()));
        if let Some(memory) = &tensor.memref {
            found.push(memory.as_object().clone());
        }
        if let Some(view) = &tensor.tensor_view {
            found.extend(view.stride.iter().map(|it| it.as_object().clone()));
            found.extend(view.valid_shape.iter().map(|it| it.as_object().clone()));
        }
    } else if let Some(tile) = node.downcast_ref::<TileType>() {
        found.extend(tile.shape.iter().map(|size| size.as_object().clone()));
        if let Some(memory) = &tile.memref {
            found.push(memory.as_object().clone());
        }
        if let Some(view) = &tile.tile_view {
            found.extend(view.valid_shape.iter().map(|it| it.as_object().clone()));
            found.extend(view.stride.iter().map(|it| it.as_object().clone()));
            if let Some(offset) = &view.start_offset {
                found.push(offset.as_object().clone());
            }
        }
    }
    found
}

/// The statements directly below a statement, function or program, in order.
pub(super) fn statements(node: &Ref<Obj>) -> Vec<Ref<Obj>> {
    let object = |stmt: &Ref<Stmt>| stmt.as_object().clone();
    if let Some(sequence) = node.downcast_ref::<SeqStmts>() {
        sequence.stmts.iter().map(object).collect()
    } else if let Some(branch) = node.downcast_ref::<IfStmt>() {
        let bodies = [Some(&branch.then_body), branch.else_body.as_ref()];
        bodies.into_iter().flatten().map(object).collect()
    } else if let Some(each) = node.downcast_ref::<ForStmt>() {
        vec![object(&each.body)]
    } else if let Some(repeat) = node.downcast_ref::<WhileStmt>() {
        vec![object(&repeat.body)]
    } else if let Some(scope) = node.downcast_ref::<ScopeStmt>() {
        vec![object(&scope.body)]
    } else if let Some(function) = node.downcast_ref::<Function>() {
        vec![object(&function.body)]
    } else if let Some(program) = node.downcast_ref::<Program>() {
        let functions = program.functions.iter();
        functions
            .map(|(_, function)| function.as_object().clone())
            .collect()
    } else {
        Vec::new()
    }
}

/// The expressions and types that a value is or has in its containers, in
/// order, such as those in an argument by name or in an attribute.
pub(super) fn nodes_in(value: &Value) -> Vec<Ref<Obj>> {
    let mut found = Vec::new();
    // A container may contain itself, or occur at many places.
    let mut seen = HashSet::new();
    let mut stack = vec![value.clone()];
    while let Some(value) = stack.pop() {
        let Some(object) = value.as_object() else {
            continue;
        };
        if object.isa::<Expr>() || object.isa::<Type>() {
            found.push(object.clone());
        } else if object.type_info().is_builtin() && seen.insert(object.identity()) {
            let items = children_of(&value, ChildOptions::default().keys(false));
            let items: Vec<_> = items.iter(RegionKind::Use).map(|it| it.value).collect();
            stack.extend(items.into_iter().rev());
        }
    }
    found
}
