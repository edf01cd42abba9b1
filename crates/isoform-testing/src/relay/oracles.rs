//! The results of analyses by plain recursion over all places of an expression, shared or
//! not: slow, and obvious.

use std::collections::{HashMap, HashSet};

use isoform::Ref;
use isoform_ir::ir::{Op, RelayExpr};
use isoform_relay::{
    AsExpr, Call, Constant, Function, If, Let, Match, Pattern, PatternConstructor, PatternTuple,
    PatternVar, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var,
};

/// Adds the variables of a pattern.
pub(super) fn pattern_vars(pattern: &Ref<Pattern>, found: &mut Vec<Ref<Var>>) {
    if let Some(bound) = pattern.downcast_ref::<PatternVar>() {
        found.push(bound.var.clone());
    }
    if let Some(built) = pattern.downcast_ref::<PatternConstructor>() {
        built
            .patterns
            .iter()
            .for_each(|part| pattern_vars(part, found));
    }
    if let Some(tuple) = pattern.downcast_ref::<PatternTuple>() {
        tuple
            .patterns
            .iter()
            .for_each(|part| pattern_vars(part, found));
    }
}

/// A part of an expression; the variables of a scope come before its parts.
pub(super) enum Part {
    /// A block with a scope, and the variables bound in it.
    Scope(Vec<Ref<Var>>, Vec<Part>),
    Expr(Ref<RelayExpr>),
}

/// The parts of an expression in the order of variables: bound variables come first.
pub(super) fn parts(expr: &Ref<RelayExpr>) -> Vec<Part> {
    let part = |expr: &Ref<RelayExpr>| Part::Expr(expr.clone());
    if let Some(tuple) = expr.downcast_ref::<Tuple>() {
        return tuple.fields.iter().map(part).collect();
    }
    if let Some(get) = expr.downcast_ref::<TupleGetItem>() {
        return vec![part(&get.tuple_value)];
    }
    if let Some(call) = expr.downcast_ref::<Call>() {
        return std::iter::once(&call.op)
            .chain(call.args.iter())
            .map(part)
            .collect();
    }
    if let Some(binding) = expr.downcast_ref::<Let>() {
        let inside = vec![part(&binding.value), part(&binding.body)];
        return vec![Part::Scope(vec![binding.var.clone()], inside)];
    }
    if let Some(branch) = expr.downcast_ref::<If>() {
        return vec![
            part(&branch.cond),
            part(&branch.true_branch),
            part(&branch.false_branch),
        ];
    }
    if let Some(func) = expr.downcast_ref::<Function>() {
        let params = func.params.iter().cloned().collect();
        return vec![Part::Scope(params, vec![part(&func.body)])];
    }
    if let Some(create) = expr.downcast_ref::<RefCreate>() {
        return vec![part(&create.value)];
    }
    if let Some(read) = expr.downcast_ref::<RefRead>() {
        return vec![part(&read.reference)];
    }
    if let Some(write) = expr.downcast_ref::<RefWrite>() {
        return vec![part(&write.reference), part(&write.value)];
    }
    if let Some(cases) = expr.downcast_ref::<Match>() {
        let clauses = cases.clauses.iter().map(|clause| {
            let mut vars = Vec::new();
            pattern_vars(&clause.lhs, &mut vars);
            Part::Scope(vars, vec![part(&clause.rhs)])
        });
        return std::iter::once(part(&cases.data)).chain(clauses).collect();
    }
    Vec::new()
}

/// The variables of an expression in order of occurrence.
#[derive(Default)]
pub(super) struct Vars {
    pub(super) all: Vec<Ref<Var>>,
    pub(super) bound: HashSet<u64>,
    pub(super) free: HashSet<u64>,
}

impl Vars {
    pub(super) fn of(expr: &Ref<RelayExpr>) -> Vars {
        let mut vars = Vars::default();
        vars.visit(&Part::Expr(expr.clone()), &mut Vec::new());
        vars
    }

    fn meet(&mut self, var: &Ref<Var>) {
        if !self.all.iter().any(|known| known.same_as(var)) {
            self.all.push(var.clone());
        }
    }

    fn visit(&mut self, part: &Part, scope: &mut Vec<u64>) {
        match part {
            Part::Scope(vars, inside) => {
                let outside = scope.len();
                for var in vars {
                    self.meet(var);
                    self.bound.insert(var.identity());
                    scope.push(var.identity());
                }
                inside.iter().for_each(|part| self.visit(part, scope));
                scope.truncate(outside);
            }
            Part::Expr(expr) => {
                if let Some(var) = expr.downcast_ref::<Var>() {
                    self.meet(var);
                    if !scope.contains(&var.identity()) {
                        self.free.insert(var.identity());
                    }
                }
                parts(expr).iter().for_each(|part| self.visit(part, scope));
            }
        }
    }

    pub(super) fn all_in(&self, wanted: &HashSet<u64>) -> Vec<u64> {
        let all = self.all.iter().map(Ref::identity);
        all.filter(|var| wanted.contains(var)).collect()
    }
}

/// True if scopes are respected: each node is examined once, at its first occurrence,
/// and every occurrence of a variable counts. Written out into a tree, the expression
/// uses no variable out of scope.
pub(super) fn well_formed(expr: &Ref<RelayExpr>) -> bool {
    struct Check {
        seen: HashSet<u64>,
        bound: HashSet<u64>,
        free: HashSet<u64>,
    }
    fn visit(check: &mut Check, part: &Part, scope: &mut Vec<u64>) -> bool {
        match part {
            Part::Scope(vars, inside) => {
                let outside = scope.len();
                for var in vars {
                    let identity = var.identity();
                    if check.free.contains(&identity) || !check.bound.insert(identity) {
                        return false;
                    }
                    scope.push(identity);
                }
                let fine = inside.iter().all(|part| visit(check, part, scope));
                scope.truncate(outside);
                fine
            }
            Part::Expr(expr) => {
                let identity = expr.identity();
                if expr.isa::<Var>() && !scope.contains(&identity) {
                    check.free.insert(identity);
                    return !check.bound.contains(&identity);
                }
                if !check.seen.insert(identity) {
                    return true;
                }
                parts(expr).iter().all(|part| visit(check, part, scope))
            }
        }
    }
    let mut check = Check {
        seen: HashSet::new(),
        bound: HashSet::new(),
        free: HashSet::new(),
    };
    let is_fine = visit(&mut check, &Part::Expr(expr.clone()), &mut Vec::new());
    is_fine && {
        let vars = Vars::of(expr);
        vars.free.is_disjoint(&vars.bound)
    }
}

/// The distinct expressions in post-order, the value of a binding before its variable.
pub(super) fn post_order(expr: &Ref<RelayExpr>, found: &mut Vec<Ref<RelayExpr>>) {
    fn visit(expr: &Ref<RelayExpr>, seen: &mut HashSet<u64>, found: &mut Vec<Ref<RelayExpr>>) {
        if !seen.insert(expr.identity()) {
            return;
        }
        below(expr).iter().for_each(|part| visit(part, seen, found));
        found.push(expr.clone());
    }
    visit(expr, &mut HashSet::new(), found);
}

/// The expressions below an expression, in the order of visitors.
pub(super) fn below(expr: &Ref<RelayExpr>) -> Vec<Ref<RelayExpr>> {
    if let Some(binding) = expr.downcast_ref::<Let>() {
        return vec![
            binding.value.clone(),
            binding.var.expr(),
            binding.body.clone(),
        ];
    }
    let params = expr
        .downcast_ref::<Function>()
        .map(|func| func.params.clone());
    let params = params
        .iter()
        .flat_map(|params| params.iter().map(AsExpr::expr));
    let mut exprs: Vec<_> = params.collect();
    for part in parts(expr) {
        match part {
            Part::Expr(expr) => exprs.push(expr),
            Part::Scope(_, inside) => exprs.extend(inside.into_iter().filter_map(|part| {
                let Part::Expr(expr) = part else { return None };
                Some(expr)
            })),
        }
    }
    exprs
}

/// True for constants, tuples of such, and their placement on a device.
pub(super) fn is_constant(expr: &Ref<RelayExpr>) -> bool {
    if let Some(tuple) = expr.downcast_ref::<Tuple>() {
        return tuple.fields.iter().all(is_constant);
    }
    if let Some(call) = expr.downcast_ref::<Call>() {
        let op = call.op.downcast_ref::<Op>();
        let is_placed = op.is_some_and(|op| &*op.name == "on_device") && call.args.len() == 1;
        return is_placed && call.args.iter().all(is_constant);
    }
    expr.isa::<Constant>()
}

/// The largest number of calls of an operator on a path.
pub(super) fn layers(expr: &Ref<RelayExpr>, op: &Ref<Op>) -> i64 {
    let deepest = below(expr).iter().map(|part| layers(part, op)).max();
    let is_one = expr
        .downcast_ref::<Call>()
        .is_some_and(|call| call.op.same_as(op));
    deepest.unwrap_or(0) + i64::from(is_one)
}

/// True if no expression that is not atomic is reached in two blocks.
pub(super) fn in_blocks(expr: &Ref<RelayExpr>) -> bool {
    fn visit(
        expr: &Ref<RelayExpr>,
        path: &[(u64, usize)],
        first: &mut HashMap<u64, Vec<(u64, usize)>>,
    ) -> bool {
        let is_atomic = below(expr).is_empty() && !expr.isa::<Tuple>() && !expr.isa::<Call>();
        if is_atomic {
            return true;
        }
        if let Some(first) = first.get(&expr.identity()) {
            return path.starts_with(first);
        }
        first.insert(expr.identity(), path.to_vec());
        let opens = |position: usize| {
            let function = expr.downcast_ref::<Function>();
            function.is_some_and(|func| position == func.params.len())
                || (expr.isa::<If>() || expr.isa::<Match>()) && position > 0
        };
        let mut parts = below(expr).into_iter().enumerate();
        parts.all(|(position, part)| {
            let mut inner = path.to_vec();
            if opens(position) {
                inner.push((expr.identity(), position));
            }
            visit(&part, &inner, first)
        })
    }
    visit(expr, &[], &mut HashMap::new())
}

/// The expression with another expression in place of each constant, by plain
/// recursion.
pub(super) fn without_constants(
    expr: &Ref<RelayExpr>,
    replacement: &Ref<RelayExpr>,
    done: &mut HashMap<u64, Ref<RelayExpr>>,
) -> Ref<RelayExpr> {
    if let Some(copy) = done.get(&expr.identity()) {
        return copy.clone();
    }
    let mut of = |expr: &Ref<RelayExpr>| without_constants(expr, replacement, done);
    let copy = if expr.isa::<Constant>() {
        replacement.clone()
    } else if let Some(tuple) = expr.downcast_ref::<Tuple>() {
        Tuple::new(tuple.fields.iter().map(&mut of).collect::<Vec<_>>()).expr()
    } else if let Some(get) = expr.downcast_ref::<TupleGetItem>() {
        TupleGetItem::new(of(&get.tuple_value), get.index).expr()
    } else if let Some(call) = expr.downcast_ref::<Call>() {
        let op = of(&call.op);
        Call::new(op, call.args.iter().map(&mut of).collect::<Vec<_>>()).expr()
    } else if let Some(binding) = expr.downcast_ref::<Let>() {
        Let::new(&binding.var, of(&binding.value), of(&binding.body)).expr()
    } else if let Some(branch) = expr.downcast_ref::<If>() {
        let (cond, left) = (of(&branch.cond), of(&branch.true_branch));
        If::new(cond, left, of(&branch.false_branch)).expr()
    } else if let Some(func) = expr.downcast_ref::<Function>() {
        Function::new(func.params.clone(), of(&func.body)).expr()
    } else if let Some(create) = expr.downcast_ref::<RefCreate>() {
        RefCreate::new(of(&create.value)).expr()
    } else if let Some(read) = expr.downcast_ref::<RefRead>() {
        RefRead::new(of(&read.reference)).expr()
    } else if let Some(write) = expr.downcast_ref::<RefWrite>() {
        RefWrite::new(of(&write.reference), of(&write.value)).expr()
    } else if let Some(cases) = expr.downcast_ref::<Match>() {
        let data = of(&cases.data);
        let clauses = cases
            .clauses
            .iter()
            .map(|clause| clause.with_rhs(of(&clause.rhs)));
        Match::new(data, clauses.collect::<Vec<_>>()).expr()
    } else {
        expr.clone()
    };
    done.insert(expr.identity(), copy.clone());
    copy
}
