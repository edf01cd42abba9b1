//! The expressions of a program as a graph in arrays, which the passes traverse without
//! recursion.

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
    /// The value of a `let` has been visited, and its body follows.
    Bind(Id),
}

/// The distinct expressions below a root.
///
/// An expression is one vertex however many ways lead to it, and has a number; the root is
/// number 0. Expressions arrive in the order in which they are first evaluated.
pub(crate) struct Graph {
    pub(crate) exprs: Vec<Ref<RelayExpr>>,
    rows: Vec<Row>,
    operands: Vec<Id>,
    /// The order of a depth-first visit.
    pub(crate) steps: Vec<Step>,
    /// The expression that binds each bound variable.
    binders: ByIdent<Id>,
    /// The number of each variable that occurs.
    vars: ByIdent<Id>,
    /// The functions marked `Primitive` that were not entered.
    kernels: Vec<Id>,
}

/// An expression of the graph.
struct Row {
    /// Where its operands begin in `operands`.
    start: u32,
    /// The expression from which it was first reached, and the position there.
    arrival: (Id, u32),
    /// True for a `let` whose variable occurs in its own value.
    is_recursive: bool,
}

/// True for a function that was fused: passes do not look inside.
pub(crate) fn is_primitive(form: Form<'_>) -> bool {
    matches!(form, Form::Function(func) if func.has_nonzero_attribute(attribute::PRIMITIVE))
}

impl Graph {
    /// The graph of an expression, in which functions marked `Primitive` are leaves, unless
    /// the root itself is one. Linear in the number of expressions, those of such functions
    /// included.
    ///
    /// A pass that rebuilds an expression leaves it as it was inside of a leaf. If both
    /// bound the same variable, it would be bound twice; so a leaf that binds a variable of
    /// its surroundings, or of another leaf, is replaced by a copy that has its own.
    ///
    /// # Errors
    ///
    /// `TypeError` for an expression of a class that is declared elsewhere; `ValueError` if
    /// a variable is bound twice, bound after it was used or used outside of its scope, or if
    /// an expression that uses a recursive function inside of that function is used outside
    /// as well.
    pub(crate) fn of(root: &Ref<RelayExpr>) -> Result<Graph> {
        let graph = Builder::new(false).build(root)?;
        match separated(&graph)? {
            Some(root) => Builder::new(false).build(&root),
            None => Ok(graph),
        }
    }

    /// The graph of an expression, in which all functions are entered.
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
        let end = self.rows.get(id as usize + 1);
        let end = end.map_or(self.operands.len(), |next| next.start as usize);
        &self.operands[start..end]
    }

    pub(crate) fn expr(&self, id: Id) -> &Ref<RelayExpr> {
        &self.exprs[id as usize]
    }

    /// The form of an expression, which has been checked before.
    pub(crate) fn form(&self, id: Id) -> Result<Form<'_>> {
        Form::of(self.expr(id))
    }

    /// The expression from which this one was first reached, and the position there; None
    /// for the root.
    pub(crate) fn arrival(&self, id: Id) -> Option<(Id, usize)> {
        let (user, position) = self.rows[id as usize].arrival;
        (id != 0).then_some((user, position as usize))
    }

    /// The expression that binds a variable; None for a free variable.
    pub(crate) fn binder(&self, var: &Ref<Var>) -> Option<Id> {
        self.binders.get(&var.identity()).copied()
    }

    /// The number of a variable, if it occurs anywhere but in its binding.
    pub(crate) fn var(&self, var: &Ref<Var>) -> Option<Id> {
        self.vars.get(&var.identity()).copied()
    }

    /// True for a `let` whose variable occurs in its own value.
    pub(crate) fn is_recursive(&self, id: Id) -> bool {
        self.rows[id as usize].is_recursive
    }

    /// The expression with its operands taken from `results`.
    ///
    /// # Errors
    ///
    /// As [`Form::of`].
    pub(crate) fn rebuilt(&self, id: Id, results: &[Ref<RelayExpr>]) -> Result<Ref<RelayExpr>> {
        let operands = self.operands(id).iter();
        let operands: Vec<_> = operands.map(|id| results[*id as usize].clone()).collect();
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
    /// The operands of open expressions that have not been visited, the next one last.
    pending: Vec<Ref<RelayExpr>>,
    /// True if an expression inside of a scope is used after the end of that scope.
    is_doubtful: bool,
    poll: Poll,
}

/// The facts about an expression that change during the visit.
struct State {
    /// The innermost `let` in whose value it uses the variable.
    inside: Id,
    /// True for a `let` whose value has been visited.
    is_bound: bool,
    /// True if all operands have been visited.
    is_left: bool,
    /// The innermost expression that binds variables around its first use.
    around: Id,
}

/// An expression whose operands are being visited.
struct OpenExpr {
    id: Id,
    /// Where its operands that have not been visited begin in the graph, and where they end.
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
            let known = self.graph.len();
            let position = place - self.graph.rows[id as usize].start;
            let operand = self.arrive(operand, (id, position))?;
            self.graph.operands[place as usize] = operand;
            if (operand as usize) < known {
                self.check_use(operand)?;
            }
        }
        if self.is_doubtful {
            check_scopes(root, |var| self.graph.binder(var).is_some())?;
        }
        Ok(self.graph)
    }

    /// True if the scope of an expression that binds variables may have ended.
    fn may_be_over(&self, binder: Id) -> bool {
        // The scopes of a match end with its clauses.
        self.states[binder as usize].is_left || self.graph.expr(binder).isa::<Match>()
    }

    /// Numbers an expression that is reached for the first time, and opens it.
    fn arrive(&mut self, expr: Ref<RelayExpr>, from: (Id, u32)) -> Result<Id> {
        self.poll.step_outside()?;
        let graph = &mut self.graph;
        let id = graph.exprs.len() as Id;
        let known = *self.ids.entry(expr.identity()).or_insert(id);
        if known != id {
            return Ok(known);
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
        let operands = (0..count).rev().filter_map(|at| form.operand(at).cloned());
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

    /// Called for each occurrence of a variable.
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

/// The root of a graph with copies of those leaves that share the binding of a variable with
/// the graph, or with a leaf before them; None if no leaf does. Linear in the number of
/// expressions, those of the leaves included; where a leaf uses a variable that another one
/// binds, linear in the sum of their sizes.
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

/// Copies of functions with other variables.
fn copies(kernels: Vec<Ref<RelayExpr>>) -> Result<Vec<Ref<RelayExpr>>> {
    let all = Tuple::new(kernels.clone()).expr();
    // What they have in common is copied once, unless one uses a variable that another binds.
    if !well_formed(&all) {
        return kernels.iter().map(dedup).collect();
    }
    let all = dedup(&all)?.cast::<Tuple>()?;
    Ok(all.fields.iter().cloned().collect())
}

/// The search for functions that share bindings.
struct Sharing<'g> {
    graph: &'g Graph,
    /// For each expression of a leaf, the first such leaf, and true if it binds a variable,
    /// or one of its operands does.
    seen: ByIdent<(Id, bool)>,
    /// The expressions to visit, and whether their operands have been visited.
    stack: Vec<(Ref<RelayExpr>, bool)>,
    poll: Poll,
}

impl Sharing<'_> {
    /// True if a leaf binds a variable that something else binds as well.
    fn shares(&mut self, kernel: Id) -> Result<bool> {
        let mut shares = false;
        self.stack.push((self.graph.expr(kernel).clone(), false));
        while let Some((expr, is_visited)) = self.stack.pop() {
            self.poll.step_outside()?;
            // Classes declared outside of the dialect are assumed to bind no variables.
            let Some(form) = Form::find(&expr) else {
                continue;
            };
            let operands = (0..form.operand_count()).filter_map(|at| form.operand(at));
            if is_visited {
                let binds = |operand: &Ref<RelayExpr>| {
                    let found = self.seen.get(&operand.identity());
                    found.is_some_and(|(_, binds)| *binds)
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
