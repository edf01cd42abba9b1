//! Draws branches, loops, scans and local functions.

use isoform::{Ref, Str, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{Graph, Input};

use super::build::{self, Callee};
use super::calls::Op;
use super::generator::{Draw, Generator, KnownFunction, NESTING};
use super::reshapes::{self, transpose_by_any};
use super::shapes;
use super::values::{Size, Val};

/// The branches, loops, scans and functions, by name.
pub(super) const DRAWS: &[(&str, Draw)] = &[
    ("if", choice),
    ("loop", repetition),
    ("function", function),
    ("if on a constant", decided),
    ("call again", call_again),
    ("scan", scan),
    ("if on a size", choice_on_size),
    ("if with equal branches", equal_branches),
    ("if with a failing branch", failing_branch),
];

/// The maximal number of iterations of a drawn loop.
const MOST_TRIPS: i64 = 5;

/// Draws constructs inside a body, and the values that `results` picks from the scope
/// afterwards.
fn inside<T>(
    g: &mut Generator<'_>,
    params: Vec<Val>,
    results: impl FnOnce(&mut Generator<'_>) -> T,
) -> T {
    let outer = g.scope.len();
    g.scope.extend(params);
    g.depth += 1;
    for _ in 0..g.source.below(4) {
        g.step();
    }
    let made = results(g);
    g.depth -= 1;
    g.scope.truncate(outer);
    made
}

/// A graph with these results and no inputs.
fn branch(g: &mut Generator<'_>, name: &str, results: &[Val]) -> Ref<Graph> {
    body(g, name, vec![], results)
}

fn body(g: &mut Generator<'_>, name: &str, params: Vec<Ref<Input>>, results: &[Val]) -> Ref<Graph> {
    g.made += 1;
    let number = g.made;
    let types = results
        .iter()
        .map(|result| match g.source.below(3) {
            0 => build::tensor_type(result.elem, None),
            1 => Value::NONE,
            _ => g.declared(result.elem, &result.dims),
        })
        .collect();
    let values = results.iter().map(|result| result.value.clone()).collect();
    let names: Vec<Str> = (0..results.len())
        .map(|at| Str::from(format!("{name}{number}_{at}")))
        .collect();
    build::graph(&format!("{name}{number}"), params, types, values, names)
}

/// A value in scope, or a constant where sizes allow it.
fn result(g: &mut Generator<'_>) -> Val {
    if g.source.chance(12) {
        let elem = g.any_elem();
        let shape = [vec![], vec![2], vec![1, 3]];
        let shape = g.source.pick(&shape).clone();
        return g.constant(elem, &shape);
    }
    match g.known(|_| true) {
        Some(known) => known,
        None => g.constant(ElemType::Float, &[]),
    }
}

/// A value of the type of another value; None if none can be made here.
fn alike(g: &mut Generator<'_>, like: &Val) -> Option<Val> {
    if let Some(known) = g.known(|val| val.elem == like.elem && val.dims == like.dims) {
        return Some(known);
    }
    like.is_fixed()
        .then(|| g.constant(like.elem, &like.shape(0)))
}

/// The two branches, and the results of the call.
///
/// `truth` is the condition under each assignment, if known.
fn branches(g: &mut Generator<'_>, condition: &Val, truth: Option<[bool; 2]>) -> Option<()> {
    if g.depth >= NESTING {
        return None;
    }
    let count = 1 + g.source.below(2);
    let thens = inside(g, vec![], |g| {
        let picked: Vec<Val> = (0..count).map(|_| result(g)).collect();
        let graph = branch(g, "then", &picked);
        (picked, graph)
    });
    // With a decided condition, the branch not taken may be of another shape.
    let decided = truth
        .filter(|truth| truth[0] == truth[1])
        .map(|truth| truth[0]);
    let elses = inside(g, vec![], |g| {
        let mut picked = Vec::new();
        for like in &thens.0 {
            let other = g.known(|val| val.elem == like.elem);
            picked.push(match (decided, other) {
                (Some(_), Some(other)) if g.source.chance(50) => other,
                _ => alike(g, like)?,
            });
        }
        let graph = branch(g, "else", &picked);
        Some((picked, graph))
    })?;
    let op = Op::new("If")
        .on(condition)
        .attr("then_branch", &thens.1)
        .attr("else_branch", &elses.1);
    let mut outputs = Vec::new();
    for (left, right) in thens.0.iter().zip(&elses.0) {
        let taken = if decided == Some(false) { right } else { left };
        outputs.push((taken.elem, taken.dims.clone()));
    }
    let results = g.make_all(op, &outputs);
    // A branch may return numbers of any kind, so the results are known to be small only
    // if both are.
    let first = g.scope.len() - results.len();
    for (index, (left, right)) in thens.0.iter().zip(&elses.0).enumerate() {
        g.scope[first + index].tame = left.tame && right.tame;
    }
    if thens.0.iter().chain(&elses.0).any(|result| result.constant) {
        g.note("if: returns a constant");
    }
    if g.depth > 0 {
        g.note("if: nested");
    }
    Some(())
}

fn choice(g: &mut Generator<'_>) -> Option<()> {
    let condition =
        match g.known(|val| val.elem == ElemType::Bool && val.rank() == 0 && !val.constant) {
            Some(known) => known,
            None => g.fresh(ElemType::Bool, vec![]),
        };
    branches(g, &condition, None)
}

fn decided(g: &mut Generator<'_>) -> Option<()> {
    let truth = g.source.chance(50);
    let condition = g.uniform(ElemType::Bool, &[], f64::from(u8::from(truth)));
    branches(g, &condition, Some([truth; 2]))
}

fn choice_on_size(g: &mut Generator<'_>) -> Option<()> {
    let (condition, truth) = shapes::shape_truth(g)?;
    branches(g, &condition, Some(truth))
}

/// An If on an unknown truth, with these results of its branches.
fn if_else(g: &mut Generator<'_>, condition: &Val, left: &[Val], right: &[Val]) -> Op {
    let then_branch = branch(g, "then", left);
    let else_branch = branch(g, "else", right);
    Op::new("If")
        .on(condition)
        .attr("then_branch", &then_branch)
        .attr("else_branch", &else_branch)
}

/// Two equal or almost equal branches.
fn equal_branches(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand(&[ElemType::Float, ElemType::Double]);
    let condition = g.fresh(ElemType::Bool, vec![]);
    let names = ["Neg", "Relu", "Abs"];
    let name = *g.source.pick(&names);
    let other = if g.source.chance(25) { "Sqrt" } else { name };
    let made: Vec<Vec<Val>> = [name, other]
        .into_iter()
        .map(|name| {
            let outer = g.scope.len();
            let once = g.make(Op::new(name).on(&x), x.elem, x.dims.clone());
            let twice = g.make(Op::new("Neg").on(&once), x.elem, x.dims.clone());
            g.scope.truncate(outer);
            vec![twice, once]
        })
        .collect();
    let op = if_else(g, &condition, &made[0], &made[1]);
    let output = (x.elem, x.dims.clone());
    g.make_all(op, &[output.clone(), output]);
    Some(())
}

/// A branch that is never taken, with a result of more axes than the user of the result
/// takes.
fn failing_branch(g: &mut Generator<'_>) -> Option<()> {
    let x = g.operand_where(&[ElemType::Float, ElemType::Double], |x| x.rank() > 0, 3);
    let (condition, truth) = shapes::shape_truth(g)?;
    if x.rank() == 0 || truth[0] != truth[1] {
        return None;
    }
    let outer = g.scope.len();
    let right = g.make(Op::new("Neg").on(&x), x.elem, x.dims.clone());
    let wrong = reshapes::unsqueeze_at(g, &right, &[0]);
    g.scope.truncate(outer);
    let (left, right) = if truth[0] {
        (right, wrong)
    } else {
        (wrong, right)
    };
    let op = if_else(g, &condition, &[left], &[right]);
    let mut result = g.make(op, x.elem, x.dims.clone());
    if g.source.chance(50) {
        result = g.make(Op::new("Relu").on(&result), x.elem, x.dims.clone());
    }
    if g.source.chance(80) {
        transpose_by_any(g, &result);
    }
    Some(())
}

/// A value given by one branch of an If, and negated by the other.
pub(super) fn in_branch(g: &mut Generator<'_>, value: &Val) -> Val {
    let condition = g.input(ElemType::Bool, Some(vec![]));
    let other = g.make(Op::new("Neg").on(value), value.elem, value.dims.clone());
    let op = if_else(
        g,
        &condition,
        std::slice::from_ref(value),
        std::slice::from_ref(&other),
    );
    g.make(op, value.elem, value.dims.clone())
}

/// An input of a body.
fn param(g: &mut Generator<'_>, name: &str, elem: ElemType, dims: &[Size]) -> (Ref<Input>, Val) {
    g.made += 1;
    let name = format!("{name}{}", g.made);
    let ty = if g.source.chance(70) {
        g.declared(elem, dims)
    } else {
        build::tensor_type(elem, None)
    };
    let var = build::input(&name, ty);
    let val = Val::new(Value::from(&var), elem, dims.to_vec());
    (var, val)
}

fn repetition(g: &mut Generator<'_>) -> Option<()> {
    if g.depth >= NESTING {
        return None;
    }
    let mut trips = [i64::MAX; 2];
    let mut op = Op::new("Loop");
    match g.source.below(4) {
        0 | 1 => {
            let count = g.source.below(4) as i64;
            trips = [count; 2];
            let shape: &[i64] = if g.source.chance(20) { &[1] } else { &[] };
            let count = g.int_constant(shape, &[count]);
            op = op.on(&count);
        }
        2 => {
            let count = shapes::known_scalar(g)?;
            trips = count.ints.clone()?.map(|ints| ints[0]);
            if trips.iter().any(|trips| !(0..=MOST_TRIPS).contains(trips)) {
                return None;
            }
            op = op.on(&count);
            g.note("loop: dynamic trip count");
        }
        _ => op = op.skip(),
    }
    let mut runs = [true; 2];
    let constant = g.source.chance(50);
    if constant {
        let truth = g.source.chance(85);
        runs = [truth; 2];
        let truth = g.uniform(ElemType::Bool, &[], f64::from(u8::from(truth)));
        op = op.on(&truth);
    } else if g.source.chance(30) {
        let (truth, values) = shapes::shape_truth(g)?;
        runs = values;
        op = op.on(&truth);
    } else {
        op = op.skip();
    }
    let mut carried = Vec::new();
    for _ in 0..1 + g.source.below(2) {
        carried.push(result(g));
    }
    let (mut params, mut vals) = (Vec::new(), Vec::new());
    let (iteration, iteration_val) = param(g, "at", ElemType::Int64, &[]);
    let (on, on_val) = param(g, "on", ElemType::Bool, &[]);
    params.extend([iteration, on]);
    vals.extend([iteration_val.clone(), on_val.clone()]);
    for value in &carried {
        op = op.on(value);
        let (var, val) = param(g, "state", value.elem, &value.dims);
        params.push(var);
        vals.push(val);
    }
    // The condition ends a loop with an unbounded trip count.
    let last = (trips[0] == i64::MAX || g.source.chance(25)).then(|| g.source.below(3) as i64);
    let states: Vec<Val> = vals[2..].to_vec();
    let (results, scanned, graph) = inside(g, vals, |g| {
        let goes_on = match last {
            Some(last) => {
                let last = g.int_constant(&[], &[last]);
                let less = Op::new("Less").on(&iteration_val).on(&last);
                g.make(less, ElemType::Bool, vec![])
            }
            None if g.source.chance(50) => on_val,
            None => g.uniform(ElemType::Bool, &[], 1.0),
        };
        let mut results = vec![goes_on];
        for state in &states {
            results.push(alike(g, state).unwrap_or_else(|| state.clone()));
        }
        let mut scanned = Vec::new();
        let iterates = |which: usize| runs[which] && trips[which] > 0;
        if iterates(0) && iterates(1) {
            for _ in 0..g.source.below(3) {
                scanned.push(result(g));
            }
        }
        results.extend(scanned.iter().cloned());
        let graph = body(g, "body", params, &results);
        (results, scanned, graph)
    });
    let count = [0, 1].map(|which| match (runs[which], last) {
        (false, _) => 0,
        (true, Some(last)) => trips[which].min(last + 1),
        (true, None) => trips[which],
    });
    let mut outputs: Vec<(ElemType, Vec<Size>)> = Vec::new();
    for state in &carried {
        outputs.push((state.elem, state.dims.clone()));
    }
    for value in &scanned {
        outputs.push((value.elem, [vec![count], value.dims.clone()].concat()));
        g.note("loop: collected values");
    }
    if !outputs.iter().all(|(_, dims)| g.is_small(dims)) {
        return None;
    }
    debug_assert_eq!(
        results.len(),
        1 + outputs.len(),
        "as many results as outputs"
    );
    g.make_all(op.attr("body", &graph), &outputs);
    Some(())
}

fn scan(g: &mut Generator<'_>) -> Option<()> {
    if g.depth >= NESTING {
        return None;
    }
    let elems = [ElemType::Float, ElemType::Int64, ElemType::Int32];
    let x = g.operand_where(&elems, |x| x.rank() > 0 && !x.dims[0].contains(&0), 3);
    if x.rank() == 0 || x.dims[0].contains(&0) {
        return None;
    }
    let state = result(g);
    let (state_var, state_val) = param(g, "state", state.elem, &state.dims);
    let (slice_var, slice_val) = param(g, "slice", x.elem, &x.dims[1..]);
    let backwards = g.source.chance(30);
    let (collected, graph) = inside(g, vec![state_val.clone(), slice_val], |g| {
        let next = alike(g, &state_val).unwrap_or(state_val);
        let collected = result(g);
        let results = [next, collected.clone()];
        (
            collected,
            body(g, "body", vec![state_var, slice_var], &results),
        )
    });
    let dims = [vec![x.dims[0]], collected.dims.clone()].concat();
    if !g.is_small(&dims) {
        return None;
    }
    let mut op = Op::new("Scan").on(&state).on(&x);
    op = op.attr("body", &graph).attr("num_scan_inputs", 1);
    if backwards {
        op = op.ints("scan_input_directions", &[1]);
    }
    g.make_all(
        op,
        &[(state.elem, state.dims.clone()), (collected.elem, dims)],
    );
    Some(())
}

// ---- functions -----------------------------------------------------------------------

/// An operator inside a function that takes an attribute from the caller.
fn use_attribute(g: &mut Generator<'_>, x: &Val) -> Option<(&'static str, Vec<Value>)> {
    let attr = build::attr_ref;
    match g.source.below(3) {
        0 if x.elem == ElemType::Float => {
            let op = Op::new("LeakyRelu").on(x).attr("alpha", attr("slope"));
            g.make(op, x.elem, x.dims.clone());
            Some(("slope", vec![Value::from(0.5), Value::from(0.25)]))
        }
        1 if g.since(12) => {
            let op = Op::new("Constant").attr("value_float", attr("number"));
            g.make(op, ElemType::Float, vec![]);
            Some(("number", vec![Value::from(1.0), Value::from(-0.0)]))
        }
        _ if x.rank() > 0 && x.rank() < 4 => {
            let mut op = Op::new("Concat").attr("axis", attr("axis"));
            // A single operand, for which the result has the same sizes along any axis.
            op = op.on(x);
            g.make(op, x.elem, x.dims.clone());
            Some((
                "axis",
                vec![Value::from(0), Value::from(x.rank() as i64 - 1)],
            ))
        }
        _ => None,
    }
}

fn function(g: &mut Generator<'_>) -> Option<()> {
    if g.in_function || g.depth > 0 || g.functions.len() >= 3 {
        return call_again(g);
    }
    let mut arguments = Vec::new();
    for _ in 0..1 + g.source.below(2) {
        arguments.push(g.known(|val| !val.constant)?);
    }
    let number = g.functions.len();
    let mut params = Vec::new();
    let mut vars = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let var = build::input(&format!("arg{index}"), Value::NONE);
        params.push(Val::new(
            Value::from(&var),
            argument.elem,
            argument.dims.clone(),
        ));
        vars.push(var);
    }
    let outer = std::mem::take(&mut g.scope);
    let opset = g.opset;
    if g.source.chance(15) {
        g.opset = *g.source.pick(&[13, 17, 18, 21]);
        g.note("function: own opset");
    }
    g.in_function = true;
    let mut attrs = Vec::new();
    let results = inside(g, params.clone(), |g| {
        if g.source.chance(60) {
            attrs.extend(use_attribute(g, &params[0]));
        }
        g.step();
        let mut results = vec![result(g)];
        if g.source.chance(40) {
            results.push(result(g));
        }
        results
    });
    (g.scope, g.opset, g.in_function) = (outer, opset, false);
    let values = results.iter().map(|result| result.value.clone()).collect();
    let has_default = g.source.chance(40);
    let mut defaults = Vec::new();
    let mut required = Vec::new();
    for (name, choices) in &attrs {
        if has_default {
            defaults.push((Str::from(*name), choices[0].clone()))
        } else {
            required.push(*name)
        }
    }
    let name = format!("local::function{number}");
    let function = build::function(&name, vars, &required, defaults, values);
    g.functions.push(KnownFunction {
        function,
        params,
        results,
        attrs,
    });
    let known_function = g.functions[number].clone();
    call(g, &known_function, &arguments);
    Some(())
}

fn call(g: &mut Generator<'_>, known_function: &KnownFunction, arguments: &[Val]) {
    let mut attrs = Vec::new();
    for (name, choices) in &known_function.attrs {
        let has_default = !known_function.function.attr_defaults.is_empty();
        if !has_default || g.source.chance(50) {
            let value = g.source.pick(choices).clone();
            attrs.push((Str::from(*name), value));
        }
        g.note("function: attribute");
    }
    g.made += 1;
    let inputs = arguments
        .iter()
        .map(|argument| argument.value.clone())
        .collect();
    let callee = Callee::Function(known_function.function.clone());
    let call = build::call(callee, attrs, inputs, known_function.results.len(), g.made);
    for (index, result) in known_function.results.iter().enumerate() {
        let val = Val::new(
            build::output(&call, index),
            result.elem,
            result.dims.clone(),
        );
        g.keep(val);
    }
}

fn call_again(g: &mut Generator<'_>) -> Option<()> {
    if g.in_function || g.functions.is_empty() {
        return None;
    }
    let functions = g.functions.clone();
    let known = g.source.pick(&functions).clone();
    let mut arguments = Vec::new();
    for param in &known.params {
        arguments.push(g.known(|val| val.elem == param.elem && val.dims == param.dims)?);
    }
    call(g, &known, &arguments);
    g.note("function: called again");
    Some(())
}
