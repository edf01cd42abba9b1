//! Functions over whole programs other than comparison.

use hashbrown::HashSet;
use isoform::functions::Argument;
use isoform::plumbing::substitute_in_free;
use isoform::traverse::{WalkOptions, WalkOrder, WalkResult, deep_copy};
use isoform::types::RegionKind;
use isoform::{Array, Error, Map, Obj, Ref, Result, Value, export};

use super::expr::{Expr, IterArg, Var};
use super::operands::operands;
use super::operators::{self, Operand};
use super::stmt::{AssignStmt, ForStmt, SeqStmts, Stmt, WhileStmt};
use super::visitor::definitions_of;

/// The variables that a node defines, and those that it uses without defining them, in
/// order of occurrence.
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
    let mut given = SeenVars::default();
    let mut defined: HashSet<u64> = HashSet::new();
    options.walk_objects(root, |object: &Ref<Obj>, region| {
        definitions.extend(definitions_of(object)?);
        // A walk visits a variable before its value, but the value is computed before
        // the variable, and before the sizes in its type.
        if let Some(assign) = object.downcast_ref::<AssignStmt>() {
            given.use_in(&assign.value)?;
        } else if let Some(args) = iter_args(object) {
            args.iter()
                .try_for_each(|arg| given.use_in(&arg.init_value))?;
        }
        // The first values are visited before the variable of the loop, which
        // is its first definition.
        if let Some(each) = object.downcast_ref::<ForStmt>()
            && defined.insert(each.loop_var.identity())
        {
            found.defined.push(each.loop_var.clone());
        }
        if let Some(var) = object.downcast_ref::<Var>() {
            let is_given = !given.met.insert(var.identity());
            match region {
                RegionKind::Def | RegionKind::DefSimple if !is_given => {
                    if defined.insert(var.identity()) {
                        found.defined.push(var.clone());
                    }
                }
                _ => found.free.push(var.clone()),
            }
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    // A name may occur in a type or a loop before its definition, and a walk
    // visits it only once.
    let definitions = definitions
        .iter()
        .filter_map(|object| object.downcast_ref::<Var>());
    let late = definitions.filter(|var| defined.insert(var.identity()));
    found.defined.extend(late.cloned());
    found.free.retain(|var| !defined.contains(&var.identity()));
    Ok(found)
}

/// The variables that a loop carries.
fn iter_args(object: &Ref<Obj>) -> Option<&Array<Ref<IterArg>>> {
    let of_for = || Some(&object.downcast_ref::<ForStmt>()?.iter_args);
    let of_while = || Some(&object.downcast_ref::<WhileStmt>()?.iter_args);
    of_for().or_else(of_while)
}

/// The variables that have occurred, in execution order.
#[derive(Default)]
struct SeenVars {
    met: HashSet<u64>,
    seen: HashSet<u64>,
}

impl SeenVars {
    /// Records the variables that an expression is computed from. A new one comes from
    /// outside, and so do the variables in its type; the types of other expressions
    /// provide nothing. Linear in the new parts.
    fn use_in(&mut self, expr: &Ref<Expr>) -> Result<()> {
        let mut stack = vec![expr.as_object().clone()];
        while let Some(node) = stack.pop() {
            if !node.isa::<Var>() {
                if self.seen.insert(node.identity()) {
                    stack.extend(operands(&node));
                }
            } else if self.met.insert(node.identity()) {
                let options = WalkOptions::default().order(WalkOrder::Pre);
                options.walk_objects(&node, |object, _| {
                    if object.isa::<Var>() {
                        self.met.insert(object.identity());
                    }
                    Ok(
                        if object.same_as(&node) || self.seen.insert(object.identity()) {
                            WalkResult::<()>::Advance
                        } else {
                            WalkResult::Skip
                        },
                    )
                })?;
            }
        }
        Ok(())
    }
}

/// Returns the variables that a node defines, in order of definition.
///
/// # Errors
///
/// As a walk of the node.
pub fn collect_def_vars(node: &Value) -> Result<Vec<Ref<Var>>> {
    Ok(variables(node)?.defined)
}

/// Returns the variables that a node uses without defining them, in order of
/// occurrence.
///
/// # Errors
///
/// As a walk of the node.
pub fn collect_free_vars(node: &Value) -> Result<Vec<Ref<Var>>> {
    Ok(variables(node)?.free)
}

/// Returns a copy of a node that shares nothing with it except the variables that it
/// does not define.
///
/// So the copy of a function is equal to it, and so is that of a statement, whatever
/// precedes it. `replaced` gives replacements for some of those variables in the copy.
///
/// # Errors
///
/// As [`deep_copy`] and [`substitute`](isoform::traverse::substitute).
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
    let originals = free.iter().map(Value::from);
    let pairs: Vec<_> = copies.iter().cloned().zip(originals).collect();
    let free = copies
        .iter()
        .filter_map(|copy| Some(copy.as_object()?.identity()));
    substitute(&substitute_in_free(node, &pairs, free)?, replaced)
}

/// Returns the node with the variables that it uses without defining them
/// replaced by other expressions, including sizes in types.
///
/// A variable whose type changes becomes a new one, the same at its definition
/// and at all its uses; so does one that the node does not define, and one in
/// a replacement. A size is defined by the type of a variable only where
/// nothing gave it a value before, as for [`collect_free_vars`].
///
/// # Errors
///
/// As [`substitute`](isoform::traverse::substitute).
pub fn substitute(node: &Value, pairs: &[(Value, Value)]) -> Result<Value> {
    if pairs.is_empty() {
        return Ok(node.clone());
    }
    let free = variables(node)?.free;
    substitute_in_free(node, pairs, free.iter().map(Ref::identity))
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

/// The replacements of variables; a number becomes a literal of the variable's format.
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

/// Returns a copy that shares nothing with the node except the variables it does not
/// define; `var_map` replaces some of those.
#[export("pto.deep_clone")]
fn deep_clone_node(node: Value, var_map: Option<Map<Ref<Var>, Value>>) -> Result<Value> {
    let pairs = pairs_of(&var_map.unwrap_or_default())?;
    deep_clone(&node, &pairs)
}

/// Returns the expression with variables replaced by other expressions, including
/// sizes in types.
#[export("pto.substitute_expr")]
fn substitute_expr(expr: Ref<Expr>, var_map: Map<Ref<Var>, Value>) -> Result<Ref<Expr>> {
    substitute(&expr.into(), &pairs_of(&var_map)?)?.extract()
}

/// Returns the statement with the variables that it uses without defining them
/// replaced by expressions, including sizes in types. A variable whose type changes
/// becomes a new one, the same at its definition and at all its uses.
#[export("pto.substitute_stmt")]
fn substitute_stmt(stmt: Ref<Stmt>, var_map: Map<Ref<Var>, Value>) -> Result<Ref<Stmt>> {
    substitute(&stmt.into(), &pairs_of(&var_map)?)?.extract()
}

/// The statements that a statement consists of, without sequences inside of
/// sequences.
#[export("pto.flatten_to_stmts")]
fn flatten(stmt: &Ref<Stmt>) -> Vec<Ref<Stmt>> {
    flatten_to_stmts(stmt)
}

/// Returns the variables that a node defines, in order of definition.
#[export("pto.collect_def_vars")]
fn def_vars(node: Value) -> Result<Vec<Ref<Var>>> {
    collect_def_vars(&node)
}

/// The variables that a node uses and does not define.
#[export("pto.collect_free_vars")]
fn free_vars(node: Value) -> Result<Vec<Ref<Var>>> {
    collect_free_vars(&node)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![
        deep_clone_node,
        substitute_expr,
        substitute_stmt,
        flatten,
        def_vars,
        free_vars,
    ]
}
