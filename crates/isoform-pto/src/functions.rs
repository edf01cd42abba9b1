//! Functions over whole programs other than comparison.

use hashbrown::HashSet;
use isoform::functions::Argument;
use isoform::plumbing::substitute_in_free;
use isoform::traverse::{WalkOptions, WalkOrder, WalkResult, deep_copy};
use isoform::types::RegionKind;
use isoform::{Array, Error, Obj, Ref, Result, Value, export};

use super::arguments::Entries;
use super::expr::{Expr, IterArg, Var};
use super::operands::operands;
use super::operators::{self, Operand};
use super::scopes::ScopeStmt;
use super::stmt::{AssignStmt, ForStmt, SeqStmts, Stmt, WhileStmt, YieldStmt};
use super::visitor::definitions_of;

/// The variables defined by a node, and the variables used without a definition in the
/// node, in order of occurrence.
struct Variables {
    defined: Vec<Ref<Var>>,
    free: Vec<Ref<Var>>,
}

fn variables(root: &Value) -> Result<Variables> {
    let mut variables = Variables {
        defined: Vec::new(),
        free: Vec::new(),
    };
    let options = WalkOptions::default().order(WalkOrder::Pre);
    let mut definitions = Vec::new();
    let mut seen = SeenVars::default();
    let mut defined: HashSet<u64> = HashSet::new();
    options.walk_objects(root, |object: &Ref<Obj>, region| {
        definitions.extend(definitions_of(object)?);
        // A walk visits a variable before its value, but the value is computed before
        // the variable, and before the sizes in the variable's type.
        if let Some(assign) = object.downcast_ref::<AssignStmt>() {
            seen.use_in(&assign.value)?;
        } else if let Some(args) = iter_args(object) {
            args.iter()
                .try_for_each(|arg| seen.use_in(&arg.init_value))?;
        }
        // The walk visits the first values before the variable of the loop, but the
        // variable is the first definition.
        if let Some(each) = object.downcast_ref::<ForStmt>()
            && defined.insert(each.loop_var.identity())
        {
            variables.defined.push(each.loop_var.clone());
        }
        if let Some(var) = object.downcast_ref::<Var>() {
            let is_given = !seen.met.insert(var.identity());
            match region {
                RegionKind::Def | RegionKind::DefSimple if !is_given => {
                    if defined.insert(var.identity()) {
                        variables.defined.push(var.clone());
                    }
                }
                _ => variables.free.push(var.clone()),
            }
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    // A variable may occur in a type or a loop before its definition, and a walk visits
    // the variable only once.
    let definitions = definitions
        .iter()
        .filter_map(|object| object.downcast_ref::<Var>());
    let late = definitions.filter(|var| defined.insert(var.identity()));
    variables.defined.extend(late.cloned());
    variables
        .free
        .retain(|var| !defined.contains(&var.identity()));
    Ok(variables)
}

/// The variables carried by a loop.
fn iter_args(object: &Ref<Obj>) -> Option<&Array<Ref<IterArg>>> {
    let of_for = || Some(&object.downcast_ref::<ForStmt>()?.iter_args);
    let of_while = || Some(&object.downcast_ref::<WhileStmt>()?.iter_args);
    of_for().or_else(of_while)
}

/// The variables seen so far, in execution order.
#[derive(Default)]
struct SeenVars {
    met: HashSet<u64>,
    seen: HashSet<u64>,
}

impl SeenVars {
    /// Records the variables used to compute an expression. A new variable comes from
    /// outside, together with the variables in its type; the types of other expressions
    /// provide no variables. Linear in the new parts.
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

/// Returns the variables defined by a node, in order of definition.
///
/// # Errors
///
/// Errors of a walk of the node.
pub fn collect_def_vars(node: impl Into<Value>) -> Result<Vec<Ref<Var>>> {
    Ok(variables(&node.into())?.defined)
}

/// Returns the variables used by a node without a definition in the node, in order of
/// occurrence.
///
/// # Errors
///
/// Errors of a walk of the node.
pub fn collect_free_vars(node: impl Into<Value>) -> Result<Vec<Ref<Var>>> {
    Ok(variables(&node.into())?.free)
}

/// Returns a copy of a node; the copy shares only the node's free variables with the
/// node.
///
/// The copy of a function is therefore equal to the function, and the copy of a
/// statement to the statement, regardless of the preceding statements. `replaced` gives
/// replacements for free variables in the copy.
///
/// # Errors
///
/// As [`deep_copy`] and [`substitute`](isoform::traverse::substitute).
pub fn deep_clone(node: impl Into<Value>, replaced: &[(Value, Value)]) -> Result<Value> {
    clone_of(&node.into(), replaced)
}

fn clone_of(node: &Value, replaced: &[(Value, Value)]) -> Result<Value> {
    let free = variables(node)?.free;
    let together: Vec<Value> = std::iter::once(node.clone())
        .chain(free.iter().map(Value::from))
        .collect();
    let copy = deep_copy(Array::<Value>::from(together))?.extract::<Array>()?;
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

/// Returns the node with free variables replaced by other expressions, including sizes
/// in types.
///
/// A variable of a changed type becomes a new variable, the same at the definition and
/// at all uses. Variables without a definition in the node and variables in
/// replacements are treated the same way. The type of a variable defines a size only if
/// the size had no value before, as in [`collect_free_vars`].
///
/// # Errors
///
/// As [`substitute`](isoform::traverse::substitute).
pub fn substitute(node: impl Into<Value>, pairs: &[(Value, Value)]) -> Result<Value> {
    let node = node.into();
    if pairs.is_empty() {
        return Ok(node);
    }
    let free = variables(&node)?.free;
    substitute_in_free(&node, pairs, free.iter().map(Ref::identity))
}

/// The statements of a statement, with sequences inside of sequences flattened, in
/// order; loops and branches stay whole.
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

/// Returns the yield that ends a body, also at the end of sequences and scopes; None if
/// another statement ends it. O(number of statements of the last sequences).
pub fn find_yield_stmt(body: &Ref<Stmt>) -> Option<Ref<YieldStmt>> {
    last_yield(body, true)
}

/// Returns the yield that ends a body, also at the end of sequences, but not of scopes;
/// None if another statement ends it. O(number of statements of the last sequences).
pub fn last_yield_stmt(body: &Ref<Stmt>) -> Option<Ref<YieldStmt>> {
    last_yield(body, false)
}

fn last_yield(body: &Ref<Stmt>, through_scopes: bool) -> Option<Ref<YieldStmt>> {
    let mut stack = vec![body];
    while let Some(stmt) = stack.pop() {
        // An empty sequence leaves the end to the statement before it.
        if let Some(sequence) = stmt.downcast_ref::<SeqStmts>() {
            stack.extend(sequence.stmts.iter());
        } else if let Some(scope) = stmt.downcast_ref::<ScopeStmt>()
            && through_scopes
        {
            stack = vec![&scope.body];
        } else {
            return stmt.downcast_ref::<YieldStmt>().cloned();
        }
    }
    None
}

/// The replacements of variables: a map, or pairs.
type Replacements = Entries<Ref<Var>>;

/// The replacements of variables; a number becomes a literal of the variable's format.
fn pairs_of(Entries(mapping): &Replacements) -> Result<Vec<(Value, Value)>> {
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

/// Returns a copy of a node; the copy shares only the node's free variables with the
/// node. `var_map` replaces free variables.
#[export("pto.deep_clone")]
fn deep_clone_node(node: Value, var_map: Option<Replacements>) -> Result<Value> {
    let pairs = pairs_of(&var_map.unwrap_or_default())?;
    deep_clone(&node, &pairs)
}

/// Returns the expression with variables replaced by other expressions, including
/// sizes in types.
#[export("pto.substitute_expr")]
fn substitute_expr(expr: Ref<Expr>, var_map: Replacements) -> Result<Ref<Expr>> {
    substitute(expr, &pairs_of(&var_map)?)?.extract()
}

/// Returns the statement with free variables replaced by expressions, including sizes
/// in types. A variable of a changed type becomes a new variable, the same at the
/// definition and at all uses.
#[export("pto.substitute_stmt")]
fn substitute_stmt(stmt: Ref<Stmt>, var_map: Replacements) -> Result<Ref<Stmt>> {
    substitute(stmt, &pairs_of(&var_map)?)?.extract()
}

/// The statements of a statement, with sequences inside of sequences flattened.
#[export("pto.flatten_to_stmts")]
fn flatten(stmt: &Ref<Stmt>) -> Vec<Ref<Stmt>> {
    flatten_to_stmts(stmt)
}

/// Returns the yield that ends a body, also at the end of sequences and scopes.
#[export("pto.find_yield_stmt")]
fn find_yield(stmt: &Ref<Stmt>) -> Option<Ref<YieldStmt>> {
    find_yield_stmt(stmt)
}

/// Returns the yield that ends a body, also at the end of sequences.
#[export("pto.get_last_yield_stmt")]
fn get_last_yield(stmt: &Ref<Stmt>) -> Option<Ref<YieldStmt>> {
    last_yield_stmt(stmt)
}

/// Returns the variables defined by a node, in order of definition.
#[export("pto.collect_def_vars")]
fn def_vars(node: Value) -> Result<Vec<Ref<Var>>> {
    collect_def_vars(&node)
}

/// The variables used by a node without a definition in the node.
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
        find_yield,
        get_last_yield,
        def_vars,
        free_vars,
    ]
}
