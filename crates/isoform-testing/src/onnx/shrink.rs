//! Makes a program that breaks a promise small enough to be read.

use isoform::{Array, Node as _, Ref, Str, Value};
use isoform_onnx::eval::{Control, run};
use isoform_onnx::ir::{Call, Graph, Input, Output, Program};
use isoform_onnx::layout::{graph_in, list};

use super::build;
use super::programs::RandomProgram;
use super::rebuild::replace_values;
use super::running;

/// How many smaller programs are tried at most.
const TRIES: usize = 400;

/// Returns the smallest failing program found by greedy cuts, and its account.
///
/// `fails` returns the account of a failure; a program that cannot be run does not fail.
pub(super) fn smallest(
    drawn: &RandomProgram,
    account: String,
    fails: impl Fn(&RandomProgram) -> Option<String>,
) -> (RandomProgram, String) {
    let mut best = (drawn.clone(), account);
    let mut tries = 0;
    let mut progress = true;
    while progress {
        progress = false;
        for cut in [drop_results, cut_values, skip_calls, drop_inputs] {
            let mut index = 0;
            while tries < TRIES {
                tries += 1;
                match cut(&best.0, index) {
                    None => break,
                    Some(None) => index += 1,
                    Some(Some(smaller)) if may_not_end(&smaller.program) => index += 1,
                    Some(Some(smaller)) => match fails(&smaller) {
                        Some(account) => (best, progress) = ((smaller, account), true),
                        None => index += 1,
                    },
                }
            }
        }
    }
    best
}

/// A smaller program by one of the possible cuts of a kind: None without further cuts,
/// and `Some(None)` for an impossible cut.
type Cut = fn(&RandomProgram, usize) -> Option<Option<RandomProgram>>;

const _: [Cut; 4] = [drop_results, cut_values, skip_calls, drop_inputs];

/// True if a loop has neither a number of iterations nor a condition that is computed.
fn may_not_end(program: &Program) -> bool {
    let listing = list(program);
    let mut nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes.any(|node| {
        let call = &node.call;
        let condition = || {
            let body = call.body("body").ok().flatten()?;
            let output = body.results.values().first()?.as_object()?;
            output.downcast_ref::<Output>().cloned()
        };
        call.is("Loop")
            && call.input(0).is_none()
            && condition().is_none_or(|output| !output.call.is("Less"))
    })
}

fn with_graph(drawn: &RandomProgram, graph: Graph) -> RandomProgram {
    RandomProgram {
        program: build::program(Ref::new(graph), drawn.program.ir_version),
        ..drawn.clone()
    }
}

fn without<T: Clone>(items: &[T], at: usize) -> Vec<T> {
    let kept = items.iter().enumerate().filter(|(index, _)| *index != at);
    kept.map(|(_, item)| item.clone()).collect()
}

fn drop_results(drawn: &RandomProgram, at: usize) -> Option<Option<RandomProgram>> {
    let graph = &drawn.program.graph;
    if at >= graph.results.len() || graph.results.len() < 2 {
        return None;
    }
    let names: Vec<Str> = graph.result_names.iter().cloned().collect();
    let smaller = Graph {
        results: without(graph.results.values(), at).into_iter().collect(),
        result_types: without(graph.result_types.values(), at)
            .into_iter()
            .collect(),
        result_names: without(&names, at).into(),
        ..graph.clone_fields()
    };
    let mut smaller = with_graph(drawn, smaller);
    smaller.elems = without(&drawn.elems, at);
    smaller.shapes = [0, 1].map(|which| without(&drawn.shapes[which], at));
    Some(Some(smaller))
}

fn drop_inputs(drawn: &RandomProgram, at: usize) -> Option<Option<RandomProgram>> {
    let graph = &drawn.program.graph;
    if at >= graph.params.len() {
        return None;
    }
    let params: Vec<Ref<Input>> = graph.params.iter().cloned().collect();
    let smaller = Graph {
        params: without(&params, at).into(),
        ..graph.clone_fields()
    };
    let mut smaller = with_graph(drawn, smaller);
    smaller.inputs = [0, 1].map(|which| without(&drawn.inputs[which], at));
    Some(Some(smaller))
}

/// The calls of the main graph, last call first.
fn main_calls(program: &Program) -> Vec<Ref<Call>> {
    let listing = list(program);
    let nodes = listing.bodies[0].nodes.iter().rev();
    nodes.map(|node| node.call.clone()).collect()
}

/// Makes the output of a call an input with the value of the output.
fn cut_values(drawn: &RandomProgram, at: usize) -> Option<Option<RandomProgram>> {
    let calls = main_calls(&drawn.program);
    let call = calls.get(at)?;
    Some(cut_value(drawn, call))
}

fn cut_value(drawn: &RandomProgram, call: &Ref<Call>) -> Option<RandomProgram> {
    let graph = &drawn.program.graph;
    let output = build::output(call, 0);
    let asking = Graph {
        results: [output].into_iter().collect::<Array>(),
        result_types: [Value::NONE].into_iter().collect::<Array>(),
        result_names: vec![Str::from("asked")].into(),
        ..graph.clone_fields()
    };
    let asking = with_graph(drawn, asking);
    let mut values = Vec::new();
    for inputs in &drawn.inputs {
        let results = run(&asking.program, inputs, &Control::default()).ok()?;
        values.extend(results);
    }
    let (elem, shape) = running::type_of(&values[0]);
    let ty = build::tensor_type(elem?, Some(vec![Value::NONE; shape.len()]));
    let name = format!("cut_{}", call.position);
    let input = build::input(&name, ty);
    let value = Value::from(&input);
    let smaller = replace_values(&drawn.program, |output: &Output| {
        let is_cut = output.call.position == call.position && output.index == 0;
        is_cut.then(|| value.clone())
    })
    .ok()?;
    if smaller.same_as(&drawn.program) {
        return None;
    }
    let mut params: Vec<Ref<Input>> = graph.params.iter().cloned().collect();
    params.push(input);
    let smaller = Graph {
        params: params.into(),
        ..smaller.graph.clone_fields()
    };
    let mut smaller = with_graph(drawn, smaller);
    for (inputs, value) in smaller.inputs.iter_mut().zip(values) {
        inputs.push((name.clone(), value));
    }
    Some(smaller)
}

/// Replaces the first output of a call everywhere by an operand, or by a result of a
/// branch.
fn skip_calls(drawn: &RandomProgram, index: usize) -> Option<Option<RandomProgram>> {
    let listing = list(&drawn.program);
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    let choices = nodes.flat_map(|node| {
        let call = node.call.clone();
        let mut values: Vec<Value> = call.inputs.values().to_vec();
        for (_, attr) in call.attrs.iter() {
            if let Some(graph) = graph_in(attr) {
                values.extend(graph.results.values().iter().cloned());
            }
        }
        values.into_iter().map(move |value| (call.position, value))
    });
    let (position, value) = choices.into_iter().nth(index)?;
    if value.is_none() {
        return Some(None);
    }
    let smaller = replace_values(&drawn.program, |output: &Output| {
        let is_meant = output.call.position == position && output.index == 0;
        is_meant.then(|| value.clone())
    });
    let Ok(program) = smaller else {
        return Some(None);
    };
    if program.same_as(&drawn.program) {
        return Some(None);
    }
    Some(Some(RandomProgram {
        program,
        ..drawn.clone()
    }))
}
