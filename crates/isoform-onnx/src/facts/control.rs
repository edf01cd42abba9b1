//! If, Loop and Scan.
//!
//! The facts of values carried by a loop begin with the facts of the first iteration.
//! If a round through the body contradicts a fact, the fact becomes more general and
//! everything derived from it is forgotten, until nothing changes.

use std::collections::HashSet;
use std::sync::Arc;

use isoform::{Ref, Value};

use super::analysis::{Analysis, OpenLoop, Step};
use super::fact::{Fact, Kind};
use super::ops::rules::axis_of;
use super::scopes::{Depends, Scope};
use super::size::{Size, Symbol};
use super::symbols::Symbols;
use crate::elem_type::ElemType;
use crate::ir::{Call, Graph, Input, TensorType};

/// With this many unsettled loops around a loop, its facts are not refined, because
/// rounds multiply.
const MAX_OPEN: usize = 4;

/// After this many rounds, nothing is assumed about the values carried by a loop.
const MAX_ROUNDS: usize = 3;

/// More iterations than this take longer than anybody can wait.
const MAX_ITERATIONS: i64 = 1 << 53;

/// The branches of an If that may run.
pub(super) fn branches(analysis: &mut Analysis, call: &Call) -> Vec<Ref<Graph>> {
    let condition = call.input(0).map(|value| analysis.known(value));
    let decided = condition.and_then(|fact| match fact.elements.as_deref() {
        Some([bit]) => bit.as_const(),
        _ => None,
    });
    let names: &[&str] = match decided {
        Some(0) => &["else_branch"],
        Some(_) => &["then_branch"],
        None => &["then_branch", "else_branch"],
    };
    let body = |name: &&str| call.body(name).ok().flatten().cloned();
    // With a branch missing, nothing is known.
    let found: Option<Vec<Ref<Graph>>> = names.iter().map(body).collect();
    found.unwrap_or_default()
}

/// The facts of an If with known branches.
pub(super) fn join_branches(analysis: &mut Analysis, call: &Ref<Call>) -> (Vec<Fact>, Depends) {
    let branches = branches(analysis, call);
    let results = branches.iter().flat_map(|branch| branch.results.values());
    let depends = analysis.depends(call.inputs.values().iter().chain(results));
    let Some((first, others)) = branches.split_first() else {
        return (Vec::new(), depends);
    };
    let mut facts = Vec::with_capacity(first.results.values().len());
    for (index, result) in first.results.values().iter().enumerate() {
        let mut fact = Fact::clone(&analysis.known(result));
        for other in others {
            let other_fact = other
                .results
                .values()
                .get(index)
                .map(|value| analysis.known(value));
            fact = match other_fact {
                Some(other_fact) => join(
                    &mut analysis.symbols,
                    &fact,
                    &other_fact,
                    &mut HashSet::new(),
                ),
                None => Fact::unknown(),
            };
        }
        facts.push(fact);
    }
    (facts, depends)
}

/// The common part of two facts. Differing sizes become symbols, which are added to the
/// set; symbols in the set stand for any number already.
fn join(symbols: &mut Symbols, left: &Fact, right: &Fact, own: &mut HashSet<Symbol>) -> Fact {
    if left == right {
        return left.clone();
    }
    if left.kind != right.kind {
        return Fact::unknown();
    }
    let mut same = |left: &Size, right: &Size, is_extent: bool| {
        let is_own = left.as_symbol().is_some_and(|symbol| own.contains(symbol));
        if is_own || left == right {
            return left.clone();
        }
        let fresh = if is_extent {
            symbols.fresh_extent()
        } else {
            symbols.fresh(None, None)
        };
        own.extend(fresh.as_symbol().cloned());
        fresh
    };
    let mut all = |left: Option<&[Size]>, right: Option<&[Size]>, is_extent: bool| {
        let (left, right) = (left?, right?);
        let sizes = left.iter().zip(right);
        (left.len() == right.len()).then(|| {
            sizes
                .map(|(left, right)| same(left, right, is_extent))
                .collect()
        })
    };
    let shape: Option<Vec<Size>> = all(left.shape.as_deref(), right.shape.as_deref(), true);
    // Only tensors of equal shapes have comparable elements.
    let elements = (left.shape == right.shape && left.elem == right.elem)
        .then(|| all(left.elements.as_deref(), right.elements.as_deref(), false));
    Fact {
        kind: left.kind,
        elem: left.elem.filter(|elem| right.elem == Some(*elem)),
        elements: elements.flatten().filter(|_| shape == left.shape),
        shape,
        constant: None,
    }
}

/// The values of a Loop or Scan, by their part in it.
struct Parts {
    body: Ref<Graph>,
    /// The first inputs of the call and of the body that are carried.
    carried_inputs: usize,
    carried_params: usize,
    carried: usize,
    /// The first carried result of the body.
    carried_results: usize,
}

fn parts(call: &Call) -> Option<Parts> {
    let body = call.body("body").ok()??.clone();
    let params = body.params.len();
    let (carried_inputs, carried_params, carried, carried_results) = match call.op.as_str() {
        "Loop" => (2, 2, params.checked_sub(2)?, 1),
        _ => {
            let scanned = call.int("num_scan_inputs").ok()??;
            let carried = params.checked_sub(usize::try_from(scanned).ok()?)?;
            // Version 8 has the lengths of sequences first.
            (usize::from(call.version == 8), 0, carried, 0)
        }
    };
    let results = body.results.values().len();
    results.checked_sub(carried_results)?.checked_sub(carried)?;
    Some(Parts {
        body,
        carried_inputs,
        carried_params,
        carried,
        carried_results,
    })
}

/// Binds the inputs of the body to the facts of the first iteration.
pub(super) fn open(analysis: &mut Analysis, stack: &mut Vec<Step>, call: &Ref<Call>) {
    let Some(parts) = parts(call) else {
        let depends = analysis.depends(call.inputs.values());
        analysis.remember(call, Vec::new(), depends);
        return;
    };
    let body = parts.body.clone();
    let owner = analysis.owners.get(&body.identity()).cloned();
    let other = owner.filter(|(_, owner)| !owner.same_as(call));
    if let Some((_, other)) = &other {
        // Facts of one call hold for another with the same inputs.
        let same_inputs = analysis.input_facts(call) == analysis.input_facts(other);
        let same_call = other.op == call.op && other.attrs.len() == call.attrs.len();
        if same_inputs
            && same_call
            && let Some((facts, depends)) = analysis.facts_of(other)
        {
            analysis.remember(call, facts, depends);
            return;
        }
    }
    let scope = analysis.begin(&body, other.is_some());
    analysis
        .owners
        .insert(body.identity(), (body.clone(), call.clone()));

    let first_symbol = analysis.symbols.mark();
    let depends = depends_inside(analysis, call, scope);
    let crowded = analysis.open.len() >= MAX_OPEN;
    let mut own = HashSet::new();
    for (position, param) in body.params.iter().enumerate() {
        let carried = position
            .checked_sub(parts.carried_params)
            .filter(|position| *position < parts.carried);
        let mut fact = match carried {
            Some(_) if crowded => Arc::new(Fact::unknown()),
            Some(position) => match call.input(parts.carried_inputs + position) {
                Some(value) if call.op == "Loop" || call.version > 8 => analysis.known(value),
                _ => Arc::new(Fact::unknown()),
            },
            None => Arc::new(first_values(analysis, call, &parts, position, param)),
        };
        if other.is_some()
            && let Some(bound) = analysis.param(param)
        {
            fact = Arc::new(join(&mut analysis.symbols, &bound, &fact, &mut own));
        }
        analysis.bind(param, fact, Some(scope), depends);
    }
    analysis.open.push(OpenLoop {
        scope,
        body: body.clone(),
        rounds: if crowded { MAX_ROUNDS } else { 0 },
        own,
        first_symbol,
    });
    stack.push(Step::Round(call.clone()));
    analysis.need(stack, body.results.values());
}

/// Inputs of the body that are not carried: the iteration number and the condition of a
/// Loop, the slices of a Scan.
fn first_values(
    analysis: &mut Analysis,
    call: &Call,
    parts: &Parts,
    position: usize,
    param: &Input,
) -> Fact {
    if call.op == "Loop" {
        // Runtimes let the body choose between a scalar and one element.
        let declared = param
            .ty
            .as_object()
            .and_then(|ty| ty.downcast_ref::<TensorType>());
        let shape = match declared
            .and_then(|ty| ty.shape.as_ref())
            .map(|shape| shape.len())
        {
            Some(0) => Some(Vec::new()),
            Some(1) => Some(vec![Size::from(1)]),
            _ => None,
        };
        return match position {
            0 => {
                let number = analysis.symbols.fresh(Some(0), Some(MAX_ITERATIONS));
                let mut fact = Fact::tensor(Some(ElemType::Int64), shape);
                fact.elements = fact.shape.is_some().then(|| vec![number]);
                fact
            }
            _ => {
                // No iteration begins without it.
                let holds = call.input(1).is_some() && shape.is_some();
                let mut fact = Fact::tensor(Some(ElemType::Bool), shape);
                fact.elements = holds.then(|| vec![Size::from(1)]);
                fact
            }
        };
    }
    let Some(fact) = call
        .input(parts.carried_inputs + position)
        .map(|value| analysis.known(value))
    else {
        return Fact::unknown();
    };
    if call.version <= 8 {
        return Fact::tensor(fact.elem, None);
    }
    let shape = scan_axis(
        call,
        "scan_input_axes",
        position - parts.carried,
        fact.rank(),
    )
    .and_then(|axis| {
        let mut shape = fact.shape.clone()?;
        shape.remove(axis);
        Some(shape)
    });
    Fact::tensor(fact.elem, shape)
}

/// The axis along which a value of a Scan is sliced or collected.
fn scan_axis(call: &Call, name: &str, at: usize, rank: Option<usize>) -> Option<usize> {
    let axis = match call.ints(name).ok()? {
        Some(axes) => *axes.get(at)?,
        None => 0,
    };
    axis_of(axis, rank?)
}

/// Compares the results of the body with the assumptions: makes another round, or closes
/// the loop.
pub(super) fn end_round(analysis: &mut Analysis, stack: &mut Vec<Step>, call: &Ref<Call>) {
    let (Some(parts), Some(mut open)) = (parts(call), analysis.open.pop()) else {
        return;
    };
    let params: Vec<Ref<Input>> = open.body.params.iter().cloned().collect();
    let mut changed = false;
    let mut next = Vec::with_capacity(parts.carried);
    for index in 0..parts.carried {
        let result = &open.body.results.values()[parts.carried_results + index];
        let assumed = analysis
            .param(&params[parts.carried_params + index])
            .unwrap_or_else(|| Arc::new(Fact::unknown()));
        let result_fact = analysis.known(result);
        let joined = join(&mut analysis.symbols, &assumed, &result_fact, &mut open.own);
        changed |= joined != *assumed;
        next.push(joined);
    }
    if !changed || open.rounds >= MAX_ROUNDS {
        close(analysis, call, &parts, open);
        return;
    }
    open.rounds += 1;
    let unsettled = open.rounds >= MAX_ROUNDS;
    let inside = depends_inside(analysis, call, open.scope);
    let body_depends = analysis.depends(open.body.results.values());
    let depends = analysis.scopes.union(inside, body_depends);
    let round = analysis.scopes.take_round(open.scope);
    analysis.forget(round);
    for (index, fact) in next.into_iter().enumerate() {
        let param = &params[parts.carried_params + index];
        let fact = if unsettled { Fact::unknown() } else { fact };
        analysis.bind(param, Arc::new(fact), Some(open.scope), depends);
    }
    let body = open.body.clone();
    analysis.open.push(open);
    stack.push(Step::Round(call.clone()));
    analysis.need(stack, body.results.values());
}

/// The scopes on which the inputs of a call's body depend, whatever the results are.
fn depends_inside(analysis: &mut Analysis, call: &Call, scope: Scope) -> Depends {
    let given = analysis.depends(call.inputs.values());
    let own = analysis.scopes.only(scope);
    analysis.scopes.union(own, given)
}

fn close(analysis: &mut Analysis, call: &Ref<Call>, parts: &Parts, open: OpenLoop) {
    let params: Vec<Ref<Input>> = open.body.params.iter().cloned().collect();
    let body_depends = analysis.depends(open.body.results.values());
    let inside = depends_inside(analysis, call, open.scope);
    let inside = analysis.scopes.union(inside, body_depends);
    let depends = analysis.scopes.without(inside, open.scope);
    let mut facts = Vec::new();
    for index in 0..parts.carried {
        // The value after the last iteration is among the values that the body may get.
        let fact = analysis
            .param(&params[parts.carried_params + index])
            .unwrap_or_else(|| Arc::new(Fact::unknown()));
        facts.push(outside(&mut analysis.symbols, &fact, &open));
    }
    let scanned = open
        .body
        .results
        .values()
        .get(parts.carried_results + parts.carried..)
        .unwrap_or_default();
    let count = iterations(analysis, call, &open.body);
    for (index, result) in scanned.iter().enumerate() {
        let each = analysis.known(result);
        let each = outside(&mut analysis.symbols, &each, &open);
        facts.push(collected(
            &mut analysis.symbols,
            call,
            index,
            &each,
            count.as_ref(),
        ));
    }
    analysis.close(open.scope, &params, depends);
    analysis.remember(call, facts, depends);
}

/// A fact without the symbols whose numbers differ between iterations.
fn outside(symbols: &mut Symbols, fact: &Fact, open: &OpenLoop) -> Fact {
    let mut fact = fact.clone();
    let is_inner = |size: &Size| {
        size.symbols()
            .any(|symbol| symbol.ident() >= open.first_symbol)
    };
    for size in fact.shape.iter_mut().flatten() {
        if is_inner(size) {
            *size = symbols.fresh_extent();
        }
    }
    for size in fact.elements.iter_mut().flatten() {
        if is_inner(size) {
            *size = symbols.fresh(None, None);
        }
    }
    fact
}

/// The number of iterations.
fn iterations(analysis: &mut Analysis, call: &Call, body: &Graph) -> Option<Size> {
    let mut element = |value: &Value| {
        let fact = analysis.known(value);
        match fact.elements.as_deref() {
            Some([size]) => Some(size.clone()),
            _ => None,
        }
    };
    if call.op == "Loop" {
        let is_true = |size: Option<Size>| size.and_then(|size| size.as_const()) == Some(1);
        let count = element(call.input(0)?)?;
        // Without a condition input, the standard ignores the condition of the body.
        // Runtimes obey the condition of the body.
        let starts = call
            .input(1)
            .is_none_or(|condition| is_true(element(condition)));
        let goes_on = is_true(element(body.results.values().first()?));
        return (starts && goes_on).then_some(count).filter(Size::is_nonneg);
    }
    // All scanned inputs have the same length, so a number is as right as a symbol.
    let scanned = usize::try_from(call.int("num_scan_inputs").ok()??).ok()?;
    let carried = body.params.len().checked_sub(scanned)?;
    let mut length: Option<Size> = None;
    for index in 0..scanned {
        let Some(value) = call.input(carried + index) else {
            continue;
        };
        let fact = analysis.known(value);
        let axis = scan_axis(call, "scan_input_axes", index, fact.rank());
        let size = axis.and_then(|axis| fact.shape.as_ref()?.get(axis).cloned());
        if length.is_none() || size.as_ref().is_some_and(|size| size.as_const().is_some()) {
            length = size.or(length);
        }
    }
    length
}

/// The fact of a result that collects one element per iteration.
fn collected(
    symbols: &mut Symbols,
    call: &Call,
    position: usize,
    each: &Fact,
    count: Option<&Size>,
) -> Fact {
    if each.kind != Kind::Tensor {
        return Fact::unknown();
    }
    if call.op == "Loop" {
        // Without any iteration, runtimes make up the other extents.
        let certain = count.is_some_and(Size::is_positive);
        let shape = each.shape.as_deref().map(|each| {
            let mut shape = vec![symbols.or_fresh(count.cloned())];
            shape.extend(each.iter().map(|size| {
                if certain {
                    size.clone()
                } else {
                    symbols.fresh_extent()
                }
            }));
            shape
        });
        return Fact::tensor(each.elem, shape);
    }
    let shape = each.shape.clone().and_then(|mut shape| {
        let axis = scan_axis(call, "scan_output_axes", position, Some(shape.len() + 1))?;
        shape.insert(axis, symbols.or_fresh(count.cloned()));
        Some(shape)
    });
    Fact::tensor(each.elem, shape.filter(|_| call.version > 8))
}
