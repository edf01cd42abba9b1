//! Merging equal expressions of a graph; an expression is computed in the innermost
//! scope around all its uses, or read from a variable in scope that holds its value.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::numbering::{Number, Numbering, Shape};
use isoform::Result;
use isoform::plumbing::Poll;

/// The number of an expression in a graph.
pub(crate) type Id = u32;

/// No expression.
const NONE: Id = Id::MAX;

/// A step of the depth-first visit of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// All operands of the expression have been visited.
    Done(Id),
    /// After the visit of the value of a binding, before the visit of its body.
    Bind(Id),
}

/// A binding of a variable around its scope.
pub struct Binding<E> {
    /// The number of the variable, if the variable occurs.
    pub var: Option<Id>,
    /// The variable.
    pub expr: E,
    /// The number of its value.
    pub value: Id,
    /// The number of the body.
    pub body: Id,
}

/// A graph of expressions in the form of a language.
pub trait Dataflow {
    /// An expression, original or rewritten.
    type Expr: Clone;

    /// The number of expressions.
    fn expr_count(&self) -> usize;

    /// The steps of a depth-first visit, which is the order of evaluation.
    fn steps(&self) -> impl Iterator<Item = Step>;

    /// The operands of an expression.
    fn operands(&self, id: Id) -> &[Id];

    /// The original expression.
    fn expr(&self, id: Id) -> Self::Expr;

    /// The expression with operands from `results`.
    fn rebuilt(&self, id: Id, results: &[Self::Expr]) -> Result<Self::Expr>;

    /// The key for numbering an expression, given the numbers of its operands; None if
    /// the expression equals no other expression.
    fn shape(&mut self, id: Id, numbers: &[Number]) -> Result<Option<Shape>>;

    /// Returns whether an equal expression may replace the expression.
    fn merges(&mut self, id: Id, rebuilt: &Self::Expr) -> Result<Merge>;

    /// The parts of an expression that binds a variable around its scope, with the body
    /// as its last operand; None if the variable may differ from the value.
    fn binding(&mut self, id: Id) -> Result<Option<Binding<Self::Expr>>>;

    /// True if a variable may stand for another variable with the same value.
    fn is_same_type(&self, left: &Self::Expr, right: &Self::Expr) -> Result<bool>;

    /// True if reading a variable is better than computing the expression.
    fn is_worth_variable(&mut self, id: Id) -> Result<bool>;

    /// True if an expression, apart from its operands, has no value for some operand
    /// values.
    fn may_fail(&mut self, id: Id) -> Result<bool>;

    /// The scopes of all expressions, called only if some expressions may fail.
    fn scopes(&self) -> Result<Vec<ScopeRange>>;
}

/// The numbers of a scope and of the scopes inside, from a start to before an end.
pub type ScopeRange = (u32, u32);

/// The role of an expression in merging.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// The first equal expression replaces the expression.
    Yes,
    /// The expression stays, but its users may equal the users of an equal expression.
    No,
    /// The expression stays and gets a fresh number, to keep all its users apart.
    Apart,
}

/// Replaces every expression by the first equal expression in the order of evaluation.
/// Of two expressions that may fail, one replaces the other only if the scope of one
/// contains or equals the scope of the other.
///
/// A variable that a binding around its scope gives to an expression takes the place of
/// equal expressions in the scope, and of variables that inner bindings give to equal
/// expressions; these bindings go. Both need a single way from the root to the place, as
/// an expression with several places may have places outside of the scope. Merging its users
/// can leave a single place, so a further run may merge more.
///
/// Returns the rewritten expressions. Linear in the number of expressions; O(n log n) if
/// expressions that may fail are equal.
pub fn merge<G: Dataflow>(graph: &mut G) -> Result<Vec<G::Expr>> {
    let count = graph.expr_count();
    let steps: Vec<Step> = graph.steps().collect();
    let mut merging = Merging {
        numbering: Numbering::default(),
        numbers: vec![0; count],
        results: (0..count as Id).map(|id| graph.expr(id)).collect(),
        firsts: (0..count as Id).collect(),
        may_fail: vec![false; count],
        is_done: vec![false; count],
        is_merged: vec![false; count],
        has_one_place: places(graph, &steps),
        holders: HashMap::default(),
        bound: HashMap::default(),
        held: HashMap::default(),
        joined: HashMap::default(),
        variables: HashMap::default(),
        splits: false,
    };
    // The first expression of every number.
    let mut first_of: Vec<Id> = Vec::new();
    let mut poll = Poll::default();
    for &step in &steps {
        poll.step_outside()?;
        match step {
            Step::Bind(id) => merging.bind(graph, id)?,
            Step::Done(id) => merging.finish(graph, id, &mut first_of)?,
        }
    }
    if !merging.splits {
        return Ok(merging.results);
    }
    let order: Vec<Id> = done(&steps).collect();
    split_by_scope(
        &order,
        &graph.scopes()?,
        &merging.may_fail,
        &mut merging.firsts,
    );
    for id in 0..count as Id {
        merging.results[id as usize] = graph.expr(id);
    }
    for &id in &order {
        poll.step_outside()?;
        let index = id as usize;
        let first = merging.firsts[index];
        merging.results[index] = if let Some(var) = merging.bound.get(&id) {
            var.1.clone()
        } else if let Some(body) = merging.joined.get(&id) {
            merging.results[*body as usize].clone()
        } else if first == id {
            merging.rebuilt(graph, id)?
        } else {
            merging.results[first as usize].clone()
        };
    }
    Ok(merging.results)
}

fn done(steps: &[Step]) -> impl DoubleEndedIterator<Item = Id> {
    steps.iter().filter_map(|step| match step {
        Step::Done(id) => Some(*id),
        Step::Bind(_) => None,
    })
}

/// True for each expression to which a single way leads from the root; empty for a graph
/// without bindings.
fn places<G: Dataflow>(graph: &G, steps: &[Step]) -> Vec<bool> {
    if !steps.iter().any(|step| matches!(step, Step::Bind(_))) {
        return Vec::new();
    }
    let mut uses = vec![0u32; graph.expr_count()];
    for id in done(steps) {
        for operand in graph.operands(id) {
            uses[*operand as usize] = uses[*operand as usize].saturating_add(1);
        }
    }
    let mut single = vec![false; uses.len()];
    let mut users_first = done(steps).rev().peekable();
    if let Some(root) = users_first.peek() {
        single[*root as usize] = true;
    }
    for id in users_first {
        for operand in graph.operands(id) {
            let operand = *operand as usize;
            single[operand] = single[id as usize] && uses[operand] == 1;
        }
    }
    single
}

/// The number of a variable, and the variable.
type NumberedVar<E> = (Number, E);

struct Merging<E> {
    numbering: Numbering,
    numbers: Vec<Number>,
    results: Vec<E>,
    firsts: Vec<Id>,
    may_fail: Vec<bool>,
    is_done: Vec<bool>,
    /// True for expressions that an equal expression may replace.
    is_merged: Vec<bool>,
    has_one_place: Vec<bool>,
    /// The variables in scope, by the numbers of their values.
    holders: HashMap<Number, NumberedVar<E>, RandomState>,
    /// The expressions in place of variables that bindings give to merged expressions.
    bound: HashMap<Id, NumberedVar<E>, RandomState>,
    /// The numbers of the values of open bindings with a variable in `holders`.
    held: HashMap<Id, Number, RandomState>,
    /// The bodies of bindings that go.
    joined: HashMap<Id, Id, RandomState>,
    /// The operands that a variable replaces, by their user.
    variables: HashMap<Id, Vec<(Id, NumberedVar<E>)>, RandomState>,
    splits: bool,
}

impl<E: Clone> Merging<E> {
    /// Enters the scope of a binding whose value is done.
    fn bind<G: Dataflow<Expr = E>>(&mut self, graph: &mut G, id: Id) -> Result<()> {
        let Some(binding) = graph.binding(id)? else {
            return Ok(());
        };
        let value = binding.value as usize;
        let is_used_early = binding.var.is_some_and(|var| self.is_done[var as usize]);
        if is_used_early || !self.is_merged[value] || !self.has_one_place[id as usize] {
            return Ok(());
        }
        let number = self.numbers[value];
        let var = match self.holders.get(&number) {
            Some(outer) => {
                if !graph.is_same_type(&outer.1, &binding.expr)? {
                    return Ok(());
                }
                self.joined.insert(id, binding.body);
                outer.clone()
            }
            None => {
                let var = (self.numbering.fresh(), binding.expr);
                self.holders.insert(number, var.clone());
                self.held.insert(id, number);
                var
            }
        };
        if let Some(id) = binding.var {
            self.bound.insert(id, var);
        }
        Ok(())
    }

    fn finish<G: Dataflow<Expr = E>>(
        &mut self,
        graph: &mut G,
        id: Id,
        first_of: &mut Vec<Id>,
    ) -> Result<()> {
        let index = id as usize;
        self.is_done[index] = true;
        if let Some(number) = self.held.remove(&id) {
            self.holders.remove(&number);
        }
        if let Some((number, var)) = self.bound.get(&id) {
            self.numbers[index] = *number;
            self.results[index] = var.clone();
            return Ok(());
        }
        if let Some(body) = self.joined.get(&id) {
            self.numbers[index] = self.numbers[*body as usize];
            self.results[index] = self.results[*body as usize].clone();
            return Ok(());
        }
        self.hold_operands(graph, id)?;
        let rebuilt = self.rebuilt(graph, id)?;
        let mut merges = Merge::Apart;
        let mut number = None;
        let shape = self.with_variables(id, |this| graph.shape(id, &this.numbers))?;
        if let Some(shape) = shape {
            let fails = |operand: &Id| self.may_fail[*operand as usize];
            self.may_fail[index] = graph.operands(id).iter().any(fails) || graph.may_fail(id)?;
            merges = graph.merges(id, &rebuilt)?;
            if merges != Merge::Apart {
                number = Some(self.numbering.number(shape)?);
            }
        }
        let number = number.unwrap_or_else(|| self.numbering.fresh());
        self.numbers[index] = number;
        self.is_merged[index] = merges == Merge::Yes;
        // Most numbers are fresh, so the next number follows soon.
        let position = number as usize;
        if first_of.len() <= position {
            first_of.resize(position + 1, NONE);
        }
        if first_of[position] == NONE {
            first_of[position] = id;
        }
        let first = first_of[position];
        self.results[index] = if merges == Merge::Yes && first != id {
            self.firsts[index] = first;
            self.splits |= self.may_fail[first as usize];
            self.results[first as usize].clone()
        } else {
            rebuilt
        };
        Ok(())
    }

    /// Notes the operands of an expression whose values variables in scope hold.
    fn hold_operands<G: Dataflow<Expr = E>>(&mut self, graph: &mut G, id: Id) -> Result<()> {
        if self.holders.is_empty() || !self.has_one_place[id as usize] {
            return Ok(());
        }
        let mut variables = Vec::new();
        for operand in graph.operands(id).to_vec() {
            let index = operand as usize;
            let Some(holder) = self.holders.get(&self.numbers[index]) else {
                continue;
            };
            if self.is_merged[index] && graph.is_worth_variable(operand)? {
                variables.push((operand, holder.clone()));
            }
        }
        if !variables.is_empty() {
            self.variables.insert(id, variables);
        }
        Ok(())
    }

    fn rebuilt<G: Dataflow<Expr = E>>(&mut self, graph: &G, id: Id) -> Result<E> {
        self.with_variables(id, |this| graph.rebuilt(id, &this.results))
    }

    /// Runs a function while variables replace some operands of an
    /// expression.
    fn with_variables<T>(&mut self, id: Id, run: impl FnOnce(&Self) -> T) -> T {
        let Some(variables) = self.variables.remove(&id) else {
            return run(self);
        };
        let mut kept = Vec::with_capacity(variables.len());
        for (operand, (number, var)) in &variables {
            let index = *operand as usize;
            let result = std::mem::replace(&mut self.results[index], var.clone());
            kept.push((std::mem::replace(&mut self.numbers[index], *number), result));
        }
        let made = run(self);
        // In reverse order, an operand that occurs twice gets its own result back.
        for ((operand, _), (number, result)) in variables.iter().zip(kept).rev() {
            self.numbers[*operand as usize] = number;
            self.results[*operand as usize] = result;
        }
        self.variables.insert(id, variables);
        made
    }
}

/// The range of the scope of an expression, its place in the order of evaluation, and
/// the expression.
type Placed = (u32, u32, usize, Id);

/// Separates equal expressions that may fail, unless the scope of one is around the
/// scopes of the others. The remaining expression is then computed in a scope that
/// computed an equal expression before. `firsts` has the first of the equal expressions
/// for every expression. O(n log n).
fn split_by_scope(order: &[Id], ranges: &[ScopeRange], may_fail: &[bool], firsts: &mut [Id]) {
    let mut equal: HashMap<Id, Vec<Placed>, RandomState> = HashMap::default();
    for (time, &id) in order.iter().enumerate() {
        if may_fail[id as usize] {
            let (start, end) = ranges[id as usize];
            let others = equal.entry(firsts[id as usize]).or_default();
            others.push((start, end, time, id));
        }
    }
    for mut members in equal.into_values() {
        // An outer scope sorts before its inner scopes.
        members.sort_unstable();
        let mut rest = &members[..];
        while let Some((_, end, ..)) = rest.first() {
            let count = rest.partition_point(|(start, ..)| start < end);
            let (group, others) = rest.split_at(count);
            let first = group.iter().min_by_key(|(_, _, time, _)| *time);
            for (.., id) in group {
                firsts[*id as usize] = first.map_or(*id, |(.., first)| *first);
            }
            rest = others;
        }
    }
}
