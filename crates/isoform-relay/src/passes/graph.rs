//! The expressions of a program as a graph in arrays, for traversal without recursion.

use super::form::{ByIdent, Form, with_operands};
use crate::analysis::{check_scopes, well_formed};
use crate::{AsExpr, Let, Match, Tuple, Var, attribute, dedup};
use isoform::plumbing::Poll;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::RelayExpr;

/// The number of an expression in a [`Graph`], in the order of first arrival.
pub(crate) type Id = u32;

/// A step of the depth-first visit of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// All operands of the expression have been visited; this is the order of evaluation.
    Done(Id),
    /// After the visit of a `let` value, before the body.
    Bind(Id),
}

/// The distinct expressions below a root.
///
/// An expression is one vertex, regardless of the number of paths to the expression,
/// and has a number; the root has number 0. Expressions arrive in the order of first
/// evaluation.
pub(crate) struct Graph {
    pub(crate) exprs: Vec<Ref<RelayExpr>>,
    rows: Vec<Row>,
    operands: Vec<Id>,
    /// The order of a depth-first visit.
    pub(crate) steps: Vec<Step>,
    /// The binding expressions of bound variables.
    binders: ByIdent<Id>,
    /// The numbers of the occurring variables.
    vars: ByIdent<Id>,
    /// The functions marked `Primitive` that were not entered.
    kernels: Vec<Id>,
}

/// An expression of the graph.
struct Row {
    /// The start of the operands in `operands`.
    start: u32,
    /// The first user of the expression, and the position of the operand.
    arrival: (Id, u32),
    /// True for a `let` whose variable occurs in its own value.
    is_recursive: bool,
}

/// True for fused functions: passes do not look inside.
pub(crate) fn is_primitive(form: Form<'_>) -> bool {
    matches!(form, Form::Function(func) if func.has_nonzero_attribute(attribute::PRIMITIVE))
}

impl Graph {
    /// The graph of an expression. Functions marked `Primitive` are leaves, unless the
    /// function is the root. Linear in the number of expressions, including the
    /// expressions of leaves.
    ///
    /// A pass that rebuilds an expression does not change the copies of the expression
    /// inside of leaves. A variable bound by both would then be bound twice. A leaf
    /// that shares a bound variable with its surroundings, or with another leaf, is
    /// therefore replaced by a copy with fresh variables.
    ///
    /// # Errors
    ///
    /// `TypeError` for an expression of a class declared elsewhere. `ValueError` for a
    /// variable bound twice, bound after a use or used outside of its scope.
    /// `ValueError` also if an expression that uses a recursive function inside of that
    /// function is used outside of the function, too.
    pub(crate) fn of(root: &Ref<RelayExpr>) -> Result<Graph> {
        let graph = Builder::new(false).build(root)?;
        match separated(&graph)? {
            Some(root) => Builder::new(false).build(&root),
            None => Ok(graph),
        }
    }

    /// The graph of an expression with all functions entered.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(crate) fn with_primitives(root: &Ref<RelayExpr>) -> Result<Graph> {
        Builder::new(true).build(root)
    }

    /// The number of expressions.
    pub(crate) fn len(&self) -> usize {
        self.exprs.len()
    }

    /// The numbers of all expressions, users before operands.
    pub(crate) fn users_first(&self) -> impl Iterator<Item = Id> {
        self.steps.iter().rev().filter_map(|step| match step {
            Step::Done(id) => Some(*id),
            Step::Bind(_) => None,
        })
    }

    /// The numbers of the operands of an expression.
    pub(crate) fn operands(&self, id: Id) -> &[Id] {
        let start = self.rows[id as usize].start as usize;
        let end = self
            .rows
            .get(id as usize + 1)
            .map_or(self.operands.len(), |next| next.start as usize);
        &self.operands[start..end]
    }

    pub(crate) fn expr(&self, id: Id) -> &Ref<RelayExpr> {
        &self.exprs[id as usize]
    }

    /// The form of an expression; the class has been checked before.
    pub(crate) fn form(&self, id: Id) -> Result<Form<'_>> {
        Form::of(self.expr(id))
    }

    /// The first user of this expression, and the position of the operand; None for the
    /// root.
    pub(crate) fn arrival(&self, id: Id) -> Option<(Id, usize)> {
        let (user, position) = self.rows[id as usize].arrival;
        (id != 0).then_some((user, position as usize))
    }

    /// The binding expression of a variable; None for a free variable.
    pub(crate) fn binder(&self, var: &Ref<Var>) -> Option<Id> {
        self.binders.get(&var.identity()).copied()
    }

    /// The number of a variable, if the variable occurs outside of its binding.
    pub(crate) fn var(&self, var: &Ref<Var>) -> Option<Id> {
        self.vars.get(&var.identity()).copied()
    }

    /// True for a `let` whose variable occurs in its own value.
    pub(crate) fn is_recursive(&self, id: Id) -> bool {
        self.rows[id as usize].is_recursive
    }

    /// The expression with operands from `results`.
    ///
    /// # Errors
    ///
    /// As [`Form::of`].
    pub(crate) fn rebuilt(&self, id: Id, results: &[Ref<RelayExpr>]) -> Result<Ref<RelayExpr>> {
        let operands: Vec<_> = self
            .operands(id)
            .iter()
            .map(|id| results[*id as usize].clone())
            .collect();
        with_operands(self.expr(id), &operands)
    }
}

/// No expression.
const NONE: Id = Id::MAX;

struct Builder {
    graph: Graph,
    enter_primitives: bool,
    ids: ByIdent<Id>,
    states: Vec<State>,
    open: Vec<OpenExpr>,
    /// The unvisited operands of open expressions, the next operand last.
    pending: Vec<Ref<RelayExpr>>,
    /// True if an expression inside of a scope is used after the end of that scope.
    is_doubtful: bool,
    poll: Poll,
}

/// The facts about an expression that change during the visit.
struct State {
    /// The innermost `let` whose variable this expression uses inside of the value of
    /// the `let`.
    inside: Id,
    /// True for a `let` after the visit of its value.
    is_bound: bool,
    /// True if all operands have been visited.
    is_left: bool,
    /// The innermost expression that binds variables around the first use.
    around: Id,
}

/// An expression with operands being visited.
struct OpenExpr {
    id: Id,
    /// The range of the operands not yet visited in the graph.
    next: u32,
    end: u32,
    /// Where the body of a `let` is.
    body: Option<u32>,
    /// The innermost expression that binds variables around the operands.
    around: Id,
}

impl Builder {
    fn new(enter_primitives: bool) -> Builder {
        Builder {
            graph: Graph {
                exprs: Vec::new(),
                rows: Vec::new(),
                operands: Vec::new(),
                steps: Vec::new(),
                binders: ByIdent::default(),
                vars: ByIdent::default(),
                kernels: Vec::new(),
            },
            enter_primitives,
            ids: ByIdent::default(),
            states: Vec::new(),
            open: Vec::new(),
            pending: Vec::new(),
            is_doubtful: false,
            poll: Poll::default(),
        }
    }

    fn build(mut self, root: &Ref<RelayExpr>) -> Result<Graph> {
        self.arrive(root.clone(), (0, 0))?;
        while let Some(open) = self.open.last_mut() {
            let (id, place) = (open.id, open.next);
            if place == open.end {
                self.open.pop();
                self.leave(id);
                continue;
            }
            open.next += 1;
            if open.body == Some(place) {
                self.states[id as usize].is_bound = true;
                self.graph.steps.push(Step::Bind(id));
            }
            let Some(operand) = self.pending.pop() else {
                break;
            };
            let old_len = self.graph.len();
            let position = place - self.graph.rows[id as usize].start;
            let operand = self.arrive(operand, (id, position))?;
            self.graph.operands[place as usize] = operand;
            if (operand as usize) < old_len {
                self.check_use(operand)?;
            }
        }
        if self.is_doubtful {
            check_scopes(root, |var| self.graph.binder(var).is_some())?;
        }
        Ok(self.graph)
    }

    /// True if the scope of a binding expression may have ended.
    fn may_be_over(&self, binder: Id) -> bool {
        // The scopes of a match end with its clauses.
        self.states[binder as usize].is_left || self.graph.expr(binder).isa::<Match>()
    }

    /// Numbers an expression at the first visit, and opens the expression.
    fn arrive(&mut self, expr: Ref<RelayExpr>, from: (Id, u32)) -> Result<Id> {
        self.poll.step_outside()?;
        let graph = &mut self.graph;
        let id = graph.exprs.len() as Id;
        let known_id = *self.ids.entry(expr.identity()).or_insert(id);
        if known_id != id {
            return Ok(known_id);
        }
        let form = Form::of(&expr)?;
        let is_kernel = id != 0 && !self.enter_primitives && is_primitive(form);
        let count = if is_kernel { 0 } else { form.operand_count() };
        if id == NONE || graph.operands.len() + count >= NONE as usize {
            return Err(Error::value_error(
                "the program is too large: expected less than 4294967295 expressions in one \
                 function",
            ));
        }
        if is_kernel {
            graph.kernels.push(id);
        }
        let start = graph.operands.len() as u32;
        let end = start + count as u32;
        graph.rows.push(Row {
            start,
            arrival: from,
            is_recursive: false,
        });
        graph.operands.resize(end as usize, NONE);
        let around = self.open.last().map_or(NONE, |open| open.around);
        self.states.push(State {
            inside: NONE,
            is_bound: false,
            is_left: false,
            around,
        });
        let operands = (0..count)
            .rev()
            .filter_map(|position| form.operand(position).cloned());
        self.pending.extend(operands);
        self.open.push(OpenExpr {
            id,
            next: start,
            end,
            body: matches!(form, Form::Let(_)).then_some(start + 1),
            around: if form.binds() { id } else { around },
        });
        if let Form::Var(var) = form {
            graph.vars.insert(var.identity(), id);
            self.note_use(var, id);
        } else if count > 0 {
            self.bind(form, id)?;
        }
        self.graph.exprs.push(expr);
        Ok(id)
    }

    fn bind(&mut self, form: Form<'_>, id: Id) -> Result<()> {
        let mut wrong = None;
        let graph = &mut self.graph;
        form.for_each_bound(&mut |var| {
            let ident = var.identity();
            let what = if graph.binders.insert(ident, id).is_some() {
                "is bound twice; give each binding its own variable"
            } else if graph.vars.contains_key(&ident) {
                "is bound after it was used as a free variable; give the binding its own variable"
            } else {
                return;
            };
            wrong.get_or_insert_with(|| {
                Error::value_error(format!("the variable %{} {what}", var.name_hint))
            });
        });
        wrong.map_or(Ok(()), Err)
    }

    /// Called for every occurrence of a variable.
    fn note_use(&mut self, var: &Ref<Var>, id: Id) {
        let binder = self.graph.binder(var);
        self.is_doubtful |= binder.is_some_and(|binder| self.may_be_over(binder));
        let inside = binder.filter(|binder| {
            let is_let = self.graph.expr(*binder).isa::<Let>();
            is_let && !self.states[*binder as usize].is_bound
        });
        if let Some(binder) = inside {
            self.graph.rows[binder as usize].is_recursive = true;
        }
        self.states[id as usize].inside = inside.unwrap_or(NONE);
    }

    /// Called when an expression is reached again.
    fn check_use(&mut self, id: Id) -> Result<()> {
        if let Some(var) = self.graph.expr(id).downcast_ref::<Var>() {
            let var = var.clone();
            self.note_use(&var, id);
            return Ok(());
        }
        let around = self.states[id as usize].around;
        if around != NONE && !self.graph.operands(id).is_empty() {
            self.is_doubtful |= self.may_be_over(around);
        }
        let inside = self.states[id as usize].inside;
        if inside != NONE && self.states[inside as usize].is_bound {
            let name = match self.graph.form(inside)? {
                Form::Let(binding) => binding.var.name_hint.clone(),
                _ => Default::default(),
            };
            return Err(Error::value_error(format!(
                "an expression of class {} uses the recursive function %{name} inside of that \
                 function, and is used outside of it as well; write it twice",
                self.graph.expr(id).type_info().key(),
            )));
        }
        Ok(())
    }

    fn leave(&mut self, id: Id) {
        self.graph.steps.push(Step::Done(id));
        self.states[id as usize].is_left = true;
        if self.graph.operands(id).is_empty() {
            return;
        }
        // The innermost `let` arrived last.
        let open = |operand: &Id| {
            let inside = self.states[*operand as usize].inside;
            let is_open = inside != NONE && inside != id && !self.states[inside as usize].is_bound;
            is_open.then_some(inside)
        };
        let inside = self.graph.operands(id).iter().filter_map(open).max();
        self.states[id as usize].inside = inside.unwrap_or(NONE);
    }
}

/// The root of a graph with copies of leaves that share the binding of a variable with
/// the graph, or with an earlier leaf; None without shared bindings. Linear in the
/// number of expressions, including the expressions of leaves. If a leaf uses a
/// variable bound by another leaf, linear in the sum of the sizes of the leaves.
///
/// # Errors
///
/// `ValueError` if a leaf to be copied is not well formed.
fn separated(graph: &Graph) -> Result<Option<Ref<RelayExpr>>> {
    let mut search = Sharing {
        graph,
        seen: ByIdent::default(),
        stack: Vec::new(),
        poll: Poll::default(),
    };
    let mut sharing = Vec::new();
    for &kernel in &graph.kernels {
        if search.shares(kernel)? {
            sharing.push(kernel);
        }
    }
    if sharing.is_empty() {
        return Ok(None);
    }
    let kernels: Vec<_> = sharing.iter().map(|id| graph.expr(*id).clone()).collect();
    let mut results = graph.exprs.clone();
    for (kernel, copy) in sharing.into_iter().zip(copies(kernels)?) {
        results[kernel as usize] = copy;
    }
    for step in &graph.steps {
        if let Step::Done(id) = *step
            && !graph.operands(id).is_empty()
        {
            results[id as usize] = graph.rebuilt(id, &results)?;
        }
    }
    Ok(results.into_iter().next())
}

/// Copies of functions with fresh variables.
fn copies(kernels: Vec<Ref<RelayExpr>>) -> Result<Vec<Ref<RelayExpr>>> {
    let all = Tuple::new(kernels.clone()).expr();
    // Expressions shared by the functions are copied once, unless a function uses a
    // variable bound by another function.
    if !well_formed(&all) {
        return kernels.iter().map(dedup).collect();
    }
    let all = dedup(&all)?.cast::<Tuple>()?;
    Ok(all.fields.iter().cloned().collect())
}

/// The search for functions that share bindings.
struct Sharing<'g> {
    graph: &'g Graph,
    /// For every expression of a leaf, the first leaf around the expression, and true
    /// if the expression or an operand binds a variable.
    seen: ByIdent<(Id, bool)>,
    /// The expressions to visit, and whether their operands have been visited.
    stack: Vec<(Ref<RelayExpr>, bool)>,
    poll: Poll,
}

impl Sharing<'_> {
    /// True if a leaf binds a variable that is also bound elsewhere.
    fn shares(&mut self, kernel: Id) -> Result<bool> {
        let mut shares = false;
        self.stack.push((self.graph.expr(kernel).clone(), false));
        while let Some((expr, is_visited)) = self.stack.pop() {
            self.poll.step_outside()?;
            // Classes declared outside of the dialect are assumed to bind no variables.
            let Some(form) = Form::find(&expr) else {
                continue;
            };
            let operands = (0..form.operand_count()).filter_map(|position| form.operand(position));
            if is_visited {
                let binds = |operand: &Ref<RelayExpr>| {
                    let entry = self.seen.get(&operand.identity());
                    entry.is_some_and(|(_, binds)| *binds)
                };
                let mut binds = operands.clone().any(binds);
                form.for_each_bound(&mut |var| {
                    binds = true;
                    let binder = self.graph.binder(var);
                    shares |= binder.is_some_and(|id| self.graph.expr(id).same_as(&expr));
                });
                self.seen.insert(expr.identity(), (kernel, binds));
            } else if let Some((first, binds)) = self.seen.get(&expr.identity()) {
                shares |= *binds && *first != kernel;
            } else if form.operand_count() > 0 {
                self.seen.insert(expr.identity(), (kernel, false));
                let operands: Vec<_> = operands.map(|operand| (operand.clone(), false)).collect();
                self.stack.push((expr, true));
                self.stack.extend(operands);
            }
        }
        Ok(shares)
    }
}
