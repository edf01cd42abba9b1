//! What can be done with whole programs besides comparing them.

use isoform_macros::export;

use super::expr::{Expr, Var};
use super::operators::{self, Operand};
use super::stmt::{SeqStmts, Stmt};
use super::visitor::definitions_of;
use crate::container::{Array, Map};
use crate::error::{Error, Result};
use crate::function::Argument;
use crate::object::reference::{Obj, Ref};
use crate::value::Value;
use crate::visit::{RegionKind, WalkOptions, WalkOrder, WalkResult, deep_copy, walk_objects};

/// The variables that a node defines, and those that it uses without defining
/// them, in the order in which they are met.
struct Variables {
    defined: Vec<Ref<Var>>,
    free: Vec<Ref<Var>>,
}

fn variables(root: &Value) -> Result<Variables> {
    let mut found = Variables {
        defined: Vec::new(),
        free: Vec::new(),
    };
    let options = WalkOptions::default().order(WalkOrder::Pre);
    let mut definitions = Vec::new();
    walk_objects(root, options, |object: &Ref<Obj>, region| {
        definitions.extend(definitions_of(object)?);
        if let Some(var) = object.downcast_ref::<Var>() {
            match region {
                RegionKind::Use => found.free.push(var.clone()),
                RegionKind::Def | RegionKind::DefSimple => found.defined.push(var.clone()),
            }
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    // A name may stand in a type or in a loop before its definition is met, and
    // a walk meets it only once.
    let mut defined: std::collections::HashSet<u64> =
        found.defined.iter().map(Ref::identity).collect();
    let definitions = definitions
        .iter()
        .filter_map(|object| object.downcast_ref::<Var>());
    let late = definitions.filter(|var| defined.insert(var.identity()));
    found.defined.extend(late.cloned());
    found.free.retain(|var| !defined.contains(&var.identity()));
    Ok(found)
}

/// The variables that a node defines, in the order in which they are defined.
///
/// # Errors
///
/// As a walk of the node.
pub fn collect_def_vars(node: &Value) -> Result<Vec<Ref<Var>>> {
    Ok(variables(node)?.defined)
}

/// The variables that a node uses and does not define, in the order in which
/// they are met.
///
/// # Errors
///
/// As a walk of the node.
pub fn collect_free_vars(node: &Value) -> Result<Vec<Ref<Var>>> {
    Ok(variables(node)?.free)
}

/// A copy of a node that shares nothing with it but the variables that it does
/// not define.
///
/// So the copy of a function is equal to it, and so is that of a statement,
/// whatever stands in front of it. `replaced` says what stands in the copy for
/// some of those variables.
///
/// # Errors
///
/// As [`deep_copy`] and [`substitute`](crate::substitute).
pub fn deep_clone(node: &Value, replaced: &[(Value, Value)]) -> Result<Value> {
    let free = variables(node)?.free;
    let together: Vec<Value> = std::iter::once(node.clone())
        .chain(free.iter().map(Value::from))
        .collect();
    let copy = deep_copy(&Array::<Value>::from(together).into())?;
    let copy = copy.extract::<Array>()?;
    let [node, copies @ ..] = copy.values() else {
        return Err(Error::value_error("the copy of a node has no parts"));
    };
    let pairs: Vec<_> = copies
        .iter()
        .zip(&free)
        .map(|(copy, var)| {
            let given = replaced.iter().find(|(key, _)| *key == Value::from(var));
            let value = given.map_or_else(|| Value::from(var), |(_, value)| value.clone());
            (copy.clone(), value)
        })
        .collect();
    crate::visit::substitute(node, &pairs)
}

/// The statements that a statement consists of, without sequences inside of
/// sequences: one after the other, those of loops and branches in them.
pub fn flatten_to_stmts(stmt: &Ref<Stmt>) -> Vec<Ref<Stmt>> {
    let mut flat = Vec::new();
    let mut stack = vec![stmt.clone()];
    while let Some(stmt) = stack.pop() {
        match stmt.downcast_ref::<SeqStmts>() {
            Some(sequence) => stack.extend(sequence.stmts.iter().rev().cloned()),
            None => flat.push(stmt),
        }
    }
    flat
}

/// What stands for which variable; a number is a literal of the format of its
/// variable.
fn pairs_of(mapping: &Map<Ref<Var>, Value>) -> Result<Vec<(Value, Value)>> {
    let pair = |(var, value): (&Ref<Var>, &Value)| {
        let found = match (Operand::from_value(value.clone())?, var.scalar_dtype()) {
            (Operand::Expr(expr), _) => expr,
            (number, Some(dtype)) => operators::constant(number, dtype)?,
            (_, None) => {
                return Err(Error::type_error(format!(
                    "expected pto.Expr for the variable {} of type {}, got {}",
                    var.name_hint,
                    var.ty.type_info().key(),
                    value.type_name()
                )));
            }
        };
        Ok((var.clone().into(), found.into()))
    };
    mapping.iter().map(pair).collect()
}

/// A copy that shares nothing with the node but the variables it does not
/// define; `var_map` says what stands for some of those.
#[export("pto.deep_clone", crate = crate)]
fn deep_clone_node(node: Value, var_map: Option<Map<Ref<Var>, Value>>) -> Result<Value> {
    let pairs = pairs_of(&var_map.unwrap_or_default())?;
    deep_clone(&node, &pairs)
}

/// The expression with other expressions in the place of variables.
#[export("pto.substitute_expr", crate = crate)]
fn substitute_expr(expr: Ref<Expr>, var_map: Map<Ref<Var>, Value>) -> Result<Ref<Expr>> {
    crate::visit::substitute(&expr.into(), &pairs_of(&var_map)?)?.extract()
}

/// The statement with expressions in the place of variables that it uses and
/// does not define.
#[export("pto.substitute_stmt", crate = crate)]
fn substitute_stmt(stmt: Ref<Stmt>, var_map: Map<Ref<Var>, Value>) -> Result<Ref<Stmt>> {
    crate::visit::substitute(&stmt.into(), &pairs_of(&var_map)?)?.extract()
}

/// The statements that a statement consists of, without sequences inside of
/// sequences.
#[export("pto.flatten_to_stmts", crate = crate)]
fn flatten(stmt: &Ref<Stmt>) -> Vec<Ref<Stmt>> {
    flatten_to_stmts(stmt)
}

/// The variables that a node defines, in the order in which they are defined.
#[export("pto.collect_def_vars", crate = crate)]
fn def_vars(node: Value) -> Result<Vec<Ref<Var>>> {
    collect_def_vars(&node)
}

/// The variables that a node uses and does not define.
#[export("pto.collect_free_vars", crate = crate)]
fn free_vars(node: Value) -> Result<Vec<Ref<Var>>> {
    collect_free_vars(&node)
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![
        deep_clone_node,
        substitute_expr,
        substitute_stmt,
        flatten,
        def_vars,
        free_vars,
    ]
}
