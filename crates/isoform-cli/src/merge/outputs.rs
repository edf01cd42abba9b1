//! The check that a merged model computes, under the name of each output, what its versions
//! ask for.
//!
//! A merge pairs inputs and outputs by structure. Where inputs have equal types, or outputs
//! equal computations, an inserted input or output may be paired with another one, and a
//! change of the other side then lands at the wrong name. Here the names decide: an output
//! that one side left alone has to be that of the other side.

use std::collections::{HashMap, HashSet};

use isoform::compare::CompareOptions;
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{Array, Node, Ref, Result, Str, Value};
use isoform_onnx::ir::{Graph, Input, Program};

/// The reason why an input or output of the merged model is not that of its versions, or
/// None. The versions are base, left and right, all with names of inputs and outputs.
/// O(outputs × nodes).
///
/// # Errors
///
/// As [`CompareOptions::equal`].
pub(super) fn fault(merged: &Ref<Program>, versions: [&Ref<Program>; 3]) -> Result<Option<String>> {
    let programs = [versions[0], versions[1], versions[2], merged];
    let inputs = programs.map(|program| by_name(program, 0, &input_types(program)));
    let outputs = programs.map(|program| by_name(program, 1, program.graph.results.values()));
    if let Some(name) = contradiction(&inputs, |_, ty| Ok(ty.clone()))? {
        return Ok(Some(format!(
            "the merge would give input '{name}' the type of another input; {ADVICE}"
        )));
    }
    let part = |number: usize, value: &Value| Ok(computation(programs[number], value)?.into());
    let name = contradiction(&outputs, part)?;
    Ok(name.map(|name| {
        format!(
            "the merge would compute output '{name}' from other parts than its versions; {ADVICE}"
        )
    }))
}

const ADVICE: &str = "inputs or outputs that one side added or removed could not be told from \
                      others of the same form, so merge in two steps, or give them other positions";

/// The first name whose part one side left alone although the merged part is not that of the
/// other side.
fn contradiction(
    parts: &[HashMap<Str, Value>; 4],
    compared: impl Fn(usize, &Value) -> Result<Value>,
) -> Result<Option<Str>> {
    let options = CompareOptions {
        map_free_vars: true,
        ..CompareOptions::default()
    };
    let mut names: Vec<&Str> = parts[3].keys().collect();
    names.sort_unstable_by_key(|name| name.as_str());
    for name in names {
        let of = |number: usize| parts[number].get(name).map(|part| compared(number, part));
        let (Some(base), Some(left), Some(right), Some(merged)) = (of(0), of(1), of(2), of(3))
        else {
            continue;
        };
        let (base, left, right, merged) = (base?, left?, right?, merged?);
        let expected = if options.equal(&base, &left)? {
            right
        } else if options.equal(&base, &right)? {
            left
        } else {
            continue;
        };
        if !options.equal(&expected, &merged)? {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}

fn by_name(program: &Program, list: usize, parts: &[Value]) -> HashMap<Str, Value> {
    let names = program.io_names.get(list);
    let names = names.iter().flat_map(|names| names.iter());
    names.cloned().zip(parts.iter().cloned()).collect()
}

fn input_types(program: &Program) -> Vec<Value> {
    let params = program.graph.params.iter();
    params.map(|param| param.ty.clone()).collect()
}

/// The program of one output, with the inputs that it needs in the order of their names.
fn computation(program: &Program, output: &Value) -> Result<Ref<Program>> {
    let mut used = HashSet::new();
    walk_objects(output, |object, _| {
        if object.isa::<Input>() {
            used.insert(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    let names = program.io_names.get(0);
    let names = names.iter().flat_map(|names| names.iter());
    let params = program.graph.params.iter().zip(names);
    let mut params: Vec<(&Str, Ref<Input>)> = params
        .filter(|(param, _)| used.contains(&param.identity()))
        .map(|(param, name)| (name, param.clone()))
        .collect();
    params.sort_by_key(|(name, _)| name.as_str());
    let names: Array<Str> = params.iter().map(|(name, _)| (*name).clone()).collect();
    let graph = Ref::new(Graph {
        params: params.into_iter().map(|(_, param)| param).collect(),
        result_types: Array::from(vec![Value::NONE]),
        results: Array::from(vec![output.clone()]),
        ..program.graph.clone_fields()
    });
    Ok(Ref::new(Program {
        graph,
        io_names: Array::from(vec![names]),
        ..program.clone_fields()
    }))
}
