//! Merging equal expressions of a graph; an expression is computed in the innermost
//! scope around all its uses.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::numbering::{Number, Numbering, Shape};
use isoform::Result;
use isoform::plumbing::Poll;

/// The number of an expression in a graph.
pub(crate) type Id = u32;

/// A graph of expressions in the form of a language.
pub trait Dataflow {
    /// An expression, original or rewritten.
    type Expr: Clone;

    /// The number of expressions.
    fn expr_count(&self) -> usize;

    /// The expressions in the order of evaluation, operands first.
    fn order(&self) -> impl Iterator<Item = Id>;

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
/// contains or equals the scope of the other. Returns the rewritten expressions. Linear
/// in the number of expressions; O(n log n) if expressions that may fail are equal.
pub fn merge<G: Dataflow>(graph: &mut G) -> Result<Vec<G::Expr>> {
    let count = graph.expr_count();
    let mut numbering = Numbering::default();
    let mut numbers: Vec<Number> = vec![0; count];
    // The first expression of every number.
    let mut holders: Vec<Id> = Vec::new();
    let mut may_fail = vec![false; count];
    let mut firsts: Vec<Id> = (0..count as Id).collect();
    let mut results: Vec<G::Expr> = firsts.iter().map(|id| graph.expr(*id)).collect();
    let mut splits = false;
    let order: Vec<Id> = graph.order().collect();
    let mut poll = Poll::default();
    for &id in &order {
        poll.step_outside()?;
        let index = id as usize;
        let rebuilt = graph.rebuilt(id, &results)?;
        let mut merges = Merge::Apart;
        let mut number = None;
        if let Some(shape) = graph.shape(id, &numbers)? {
            let fails = |operand: &Id| may_fail[*operand as usize];
            may_fail[index] = graph.operands(id).iter().any(fails) || graph.may_fail(id)?;
            merges = graph.merges(id, &rebuilt)?;
            if merges != Merge::Apart {
                number = Some(numbering.number(shape)?);
            }
        }
        let number = number.unwrap_or_else(|| numbering.fresh());
        numbers[index] = number;
        let is_first = number as usize == holders.len();
        if is_first {
            holders.push(id);
        }
        results[index] = if merges == Merge::Yes && !is_first {
            let first = holders[number as usize];
            firsts[index] = first;
            splits |= may_fail[first as usize];
            results[first as usize].clone()
        } else {
            rebuilt
        };
    }
    if !splits {
        return Ok(results);
    }
    split_by_scope(&order, &graph.scopes()?, &may_fail, &mut firsts);
    for id in 0..count as Id {
        results[id as usize] = graph.expr(id);
    }
    for &id in &order {
        poll.step_outside()?;
        let first = firsts[id as usize];
        results[id as usize] = if first == id {
            graph.rebuilt(id, &results)?
        } else {
            results[first as usize].clone()
        };
    }
    Ok(results)
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
