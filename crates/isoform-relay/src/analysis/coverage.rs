//! The values not covered by the clauses of a match.

use isoform::{Array, Error, Ref, Result, export};
use isoform_ir::ir::{Constructor, IRModule};

use super::patterns::parts;
use crate::{Match, Pattern, PatternConstructor, PatternTuple, PatternWildcard};

/// The patterns of values not covered by any clause of a match; empty if the match is
/// complete.
///
/// A wildcard is split into the constructors of its data type only where a clause
/// distinguishes them, so the patterns are as general as possible. The constructors
/// come from the module. Every pattern found on the way is compared with every clause.
/// The number of these patterns can be exponential in the number of distinguished
/// columns, for any algorithm. The problem is NP-complete (Sestoft, "ML pattern match
/// compilation and partial evaluation", 1996; Maranget, "Warnings for pattern
/// matching", 2007).
///
/// # Errors
///
/// `ValueError` if the module does not define a data type that a clause takes apart.
pub fn unmatched_cases(
    cases: &Ref<Match>,
    module: Option<&Ref<IRModule>>,
) -> Result<Vec<Ref<Pattern>>> {
    first_unmatched(cases, module, usize::MAX)
}

/// The first of the [`unmatched_cases`]: the search ends after `most` cases.
///
/// # Errors
///
/// As [`unmatched_cases`].
pub(crate) fn first_unmatched(
    cases: &Ref<Match>,
    module: Option<&Ref<IRModule>>,
    most: usize,
) -> Result<Vec<Ref<Pattern>>> {
    let mut search = Search {
        clauses: cases
            .clauses
            .iter()
            .map(|clause| clause.lhs.clone())
            .collect(),
        module,
        nodes: vec![None],
        set: Vec::new(),
        pending: Vec::new(),
        branches: Vec::new(),
    };
    let mut unmatched = Vec::new();
    let mut is_covered = search.try_clauses(0)?;
    loop {
        if !is_covered {
            unmatched.push(search.pattern());
        }
        if unmatched.len() >= most {
            break;
        }
        let Some(branch) = search.branches.pop() else {
            break;
        };
        is_covered = search.enter(branch)?;
    }
    Ok(unmatched)
}

/// The maker of a pattern.
#[derive(Clone)]
enum Shape {
    Constructor(Ref<Constructor>),
    /// A tuple of this number of fields.
    Tuple(usize),
}

impl Shape {
    /// The shape of a pattern with parts.
    fn of(pattern: &Ref<Pattern>) -> Shape {
        match pattern.downcast_ref::<PatternConstructor>() {
            Some(built) => Shape::Constructor(built.constructor.clone()),
            None => Shape::Tuple(parts(pattern).map_or(0, Array::len)),
        }
    }

    fn count(&self) -> usize {
        match self {
            Shape::Constructor(constructor) => constructor.inputs.len(),
            Shape::Tuple(count) => *count,
        }
    }

    /// True if one level of a pattern with parts covers values of this shape.
    fn fits(&self, pattern: &Ref<Pattern>) -> bool {
        let is_same = match (self, Shape::of(pattern)) {
            (Shape::Constructor(own), Shape::Constructor(other)) => own.same_as(&other),
            (Shape::Tuple(_), Shape::Tuple(_)) => true,
            _ => false,
        };
        is_same && parts(pattern).is_some_and(|parts| parts.len() == self.count())
    }
}

/// No cell.
const NONE: usize = usize::MAX;

/// A place where a clause tells the values of a candidate apart.
struct SplitPlace {
    /// The wildcard of the candidate.
    node: usize,
    /// The pattern of the clause at the place.
    by: Ref<Pattern>,
    /// The next distinguishing place of the clause, or [`NONE`].
    next: usize,
}

/// A finer candidate for a later visit.
struct Branch {
    /// The lengths of `nodes`, `set` and `pending` when the candidate was split.
    lengths: [usize; 3],
    node: usize,
    shape: Shape,
    clause: usize,
    /// The places where the clause tells the values of the coarser candidate apart.
    pending: usize,
}

/// A depth-first search among candidates. The search refines a single candidate in
/// place, and undoes refinements to return to a coarser candidate.
struct Search<'m> {
    clauses: Vec<Ref<Pattern>>,
    module: Option<&'m Ref<IRModule>>,
    /// The candidate, from its root: wildcards are None, other nodes have a shape and
    /// the number of their first part.
    nodes: Vec<Option<(Shape, usize)>>,
    /// The refined nodes, in order.
    set: Vec<usize>,
    pending: Vec<SplitPlace>,
    branches: Vec<Branch>,
}

impl Search<'_> {
    /// Compares the candidate with the clauses, beginning with the given clause. True
    /// if the candidate is covered, or if finer candidates replace the candidate.
    fn try_clauses(&mut self, first: usize) -> Result<bool> {
        for clause in first..self.clauses.len() {
            if let Some(places) = self.compare(clause) {
                let mut pending = NONE;
                for (node, by) in places.into_iter().rev() {
                    pending = self.push(node, by, pending);
                }
                return self.split(clause, pending);
            }
        }
        Ok(false)
    }

    fn push(&mut self, node: usize, by: Ref<Pattern>, next: usize) -> usize {
        self.pending.push(SplitPlace { node, by, next });
        self.pending.len() - 1
    }

    /// The places where a clause distinguishes the values of the candidate, from left
    /// to right; None if the clause covers no value.
    fn compare(&self, clause: usize) -> Option<Vec<(usize, Ref<Pattern>)>> {
        let mut places = Vec::new();
        let mut stack = vec![(self.clauses[clause].clone(), 0)];
        while let Some((wanted, node)) = stack.pop() {
            let Some(below) = parts(&wanted) else {
                continue;
            };
            let Some((shape, start)) = &self.nodes[node] else {
                places.push((node, wanted));
                continue;
            };
            if !shape.fits(&wanted) {
                return None;
            }
            let below = below.iter().cloned().zip(*start..);
            let first = stack.len();
            stack.extend(below);
            stack[first..].reverse();
        }
        Some(places)
    }

    /// Plans the candidates distinguished at the first of the places. Always true.
    fn split(&mut self, clause: usize, pending: usize) -> Result<bool> {
        let Some(SplitPlace { node, by, .. }) = self.pending.get(pending) else {
            return Ok(true);
        };
        let lengths = [self.nodes.len(), self.set.len(), self.pending.len()];
        let shapes = self.shapes(by)?;
        let branch = |shape| Branch {
            lengths,
            node: *node,
            shape,
            clause,
            pending,
        };
        self.branches.extend(shapes.into_iter().rev().map(branch));
        Ok(true)
    }

    /// The shapes distinguished by a pattern.
    fn shapes(&self, by: &Ref<Pattern>) -> Result<Vec<Shape>> {
        let Some(built) = by.downcast_ref::<PatternConstructor>() else {
            return Ok(vec![Shape::of(by)]);
        };
        let name = &built.constructor.belong_to;
        let module = self.module.ok_or_else(|| {
            Error::value_error(format!(
                "unmatched_cases: expected a module that defines the data type {}, got None",
                name.name_hint
            ))
        })?;
        let definition = module.lookup_type(name)?;
        let constructors = definition.constructors.iter().cloned();
        Ok(constructors.map(Shape::Constructor).collect())
    }

    /// Refines the candidate; the result is the result of
    /// [`try_clauses`](Self::try_clauses).
    fn enter(&mut self, branch: Branch) -> Result<bool> {
        let [nodes, set, pending] = branch.lengths;
        for node in self.set.drain(set..) {
            self.nodes[node] = None;
        }
        self.nodes.truncate(nodes);
        self.pending.truncate(pending);
        let (start, count) = (self.nodes.len(), branch.shape.count());
        self.nodes.resize(start + count, None);
        self.set.push(branch.node);
        let SplitPlace { by, next, .. } = &self.pending[branch.pending];
        let (by, mut next) = (by.clone(), *next);
        let fits = branch.shape.fits(&by);
        self.nodes[branch.node] = Some((branch.shape, start));
        if !fits {
            // The clauses before this clause cover no value of the coarser candidate.
            return self.try_clauses(branch.clause + 1);
        }
        // The new wildcards fit all parts of the clause at their places.
        let below: Vec<_> = parts(&by)
            .into_iter()
            .flat_map(Array::iter)
            .zip(start..)
            .filter(|(part, _)| parts(part).is_some())
            .collect();
        for (part, node) in below.into_iter().rev() {
            next = self.push(node, part.clone(), next);
        }
        self.split(branch.clause, next)
    }

    /// The candidate as a pattern.
    fn pattern(&self) -> Ref<Pattern> {
        let mut results: Vec<Ref<Pattern>> = Vec::new();
        let mut stack = vec![(0, false)];
        while let Some((node, is_leaving)) = stack.pop() {
            let Some((shape, start)) = &self.nodes[node] else {
                results.push(PatternWildcard::new().upcast());
                continue;
            };
            let count = shape.count();
            if !is_leaving {
                stack.push((node, true));
                stack.extend((*start..start + count).rev().map(|part| (part, false)));
                continue;
            }
            let patterns = results.split_off(results.len() - count);
            results.push(match shape {
                Shape::Constructor(constructor) => PatternConstructor::new(constructor)
                    .with_patterns(patterns)
                    .upcast(),
                Shape::Tuple(_) => PatternTuple::new().with_patterns(patterns).upcast(),
            });
        }
        results
            .pop()
            .unwrap_or_else(|| PatternWildcard::new().upcast())
    }
}

/// The patterns of values not covered by any clause of a match.
#[export("relay.analysis.unmatched_cases")]
fn exported_unmatched_cases(
    r#match: &Ref<Match>,
    r#mod: Option<Ref<IRModule>>,
) -> Result<Vec<Ref<Pattern>>> {
    unmatched_cases(r#match, r#mod.as_ref())
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![exported_unmatched_cases]
}
