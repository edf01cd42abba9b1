//! Merges of random models, judged by the names of inputs and outputs.
//!
//! The judge shares no code with the merge: it reads each output as a term over the names of
//! inputs. If one side left the term of a name alone, the merged model has the other side's.

mod nets;

use std::collections::{HashMap, HashSet};
use std::fmt;

use isoform::Ref;
use isoform_onnx::proto::{DimensionValue, ModelProto, TypeValue, ValueInfoProto};
use isoform_onnx::{ExternalResolver, ImportOptions, SaveOptions, ir::Program};

use super::engine::{Merged, Versions};
use crate::input::Input;
use nets::{Net, Operation, Port, Random, UNARY};

fn term(op: &str, alpha: Option<f32>, operands: &[String]) -> String {
    let alpha = alpha.map_or_else(String::new, |alpha| alpha.to_string());
    format!("{op}{alpha}({})", operands.join(","))
}

/// The old names of renamed inputs (true) and outputs.
type Renames = HashMap<(bool, String), String>;

fn key<'k>(renamed: &'k Renames, is_input: bool, name: &'k str) -> &'k str {
    let old = renamed.get(&(is_input, name.to_owned()));
    old.map_or(name, String::as_str)
}

/// The inputs and outputs of a model by name, read from the file.
struct Read {
    inputs: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
}

impl Read {
    /// Reads a model. Renamed inputs and outputs have the names of the base.
    fn new(model: &ModelProto, renamed: &Renames) -> Read {
        let graph = model.graph.as_ref().expect("a graph");
        let key = |is_input, name| key(renamed, is_input, name).to_owned();
        let mut terms: HashMap<&str, String> = HashMap::new();
        for input in &graph.input {
            terms.insert(&input.name, key(true, &input.name));
        }
        // The nodes are in an order of computation.
        for node in &graph.node {
            let operands: Vec<String> = node
                .input
                .iter()
                .map(|name| terms[&**name].clone())
                .collect();
            let alpha = node.attribute.first().and_then(|attribute| attribute.f);
            terms.insert(&node.output[0], term(&node.op_type, alpha, &operands));
        }
        let dim =
            |port: &ValueInfoProto| match port.r#type.as_ref().and_then(|ty| ty.value.as_ref()) {
                Some(TypeValue::TensorType(ty)) => {
                    // The symbols are names, which are no changes by themselves.
                    let shape = ty.shape.as_ref().expect("a shape");
                    match shape.dim[0].value {
                        Some(DimensionValue::DimValue(size)) => size.to_string(),
                        _ => "symbol".to_owned(),
                    }
                }
                _ => String::new(),
            };
        let inputs = graph.input.iter();
        let outputs = graph.output.iter();
        Read {
            inputs: inputs
                .map(|port| (key(true, &port.name), dim(port)))
                .collect(),
            outputs: outputs
                .map(|port| (key(false, &port.name), terms[&*port.name].clone()))
                .collect(),
        }
    }
}

/// A fault of a merge.
struct Fault(String);

impl<D: fmt::Display> From<D> for Fault {
    fn from(text: D) -> Self {
        Fault(text.to_string())
    }
}

/// Judges the parts of one list by their names.
fn judge(
    kind: &str,
    parts: [&[(String, String)]; 4],
    notes: &[String],
    is_strict: bool,
) -> Result<(), Fault> {
    let tables = parts.map(|parts| parts.iter().cloned().collect::<HashMap<String, String>>());
    for (part, table) in parts.iter().zip(&tables) {
        if part.len() != table.len() {
            return Err(format!("two {kind}s have one name").into());
        }
    }
    let names: HashSet<&String> = tables.iter().flat_map(HashMap::keys).collect();
    for name in names {
        let [base, left, right, merged] = tables.each_ref().map(|table| table.get(name));
        let is_kept = if left == base {
            merged == right
        } else if right == base || left == right {
            merged == left
        } else if [base, left, right].iter().any(Option::is_none) {
            // Added or removed in different ways.
            false
        } else {
            merged.is_some_and(|merged| {
                Some(merged) != base
                    && (!is_strict || (Some(merged) != left && Some(merged) != right))
            })
        };
        let is_new = base.is_none() && (left.is_none() || right.is_none());
        // Edits of one side may hold for a new output of the other side; a note says so.
        let note = format!("{kind} '{name}', which ");
        let is_noted = notes.iter().any(|text| text.starts_with(&note));
        let is_composed = is_new && merged.is_some() && is_noted;
        // A removed output is gone although the other side edited parts of others, too.
        let is_removed = base.is_some() && (left.is_none() || right.is_none()) && merged.is_none();
        if !(is_kept || is_composed || is_removed) {
            return Err(format!(
                "{kind} '{name}':\n  base   {base:?}\n  left   {left:?}\n  right  {right:?}\n  merged {merged:?}"
            )
            .into());
        }
    }
    let common = parts.map(|part| {
        let names = part.iter().map(|(name, _)| name);
        let common = names.filter(|name| tables.iter().all(|table| table.contains_key(*name)));
        common.collect::<Vec<_>>()
    });
    let [base, left, right, merged] = &common;
    let expected = if left == base { right } else { left };
    if merged != expected || (left != base && right != base && left != right) {
        return Err(format!("order of the {kind}s: {common:?}").into());
    }
    Ok(())
}

fn import(model: &ModelProto) -> Input {
    let options = ImportOptions::default().io_names(true);
    let model = options.import(model, &ExternalResolver::none());
    Input::Model(model.expect("a valid model"))
}

fn merged(models: [&ModelProto; 3]) -> Merged {
    let [base, left, right] = models.map(import);
    let versions = Versions { base, left, right };
    versions.merge(None, true).expect("no error")
}

fn written(merged: &Merged) -> Option<ModelProto> {
    let program = merged.value.as_ref()?.extract::<Ref<Program>>();
    let program = program.expect("a program");
    let model = SaveOptions::default().to_proto(&program);
    Some(model.expect("checked before"))
}

/// The new names of renamed parts, with the old ones, according to the notes.
fn renamed(notes: &[String], side: &str) -> Renames {
    let of_note = |note: &String| {
        let (kind, rest) = note
            .strip_prefix(&format!("{side} renamed "))?
            .split_once(' ')?;
        let (old, new) = rest.split_once(" to ")?;
        let name = |text: &str| text.trim_matches('\'').to_owned();
        Some(((kind == "input", name(new)), name(old)))
    };
    notes.iter().filter_map(of_note).collect()
}

/// Merges random edits of a random model; true if the merge is clean.
fn merge_random(seed: u64) -> Result<bool, Fault> {
    let mut random = Random(seed);
    let base = Net::draw(&mut random);
    let mut side = |tag: &str| {
        let mut net = base.clone();
        let edits = 1 + random.below(3);
        (0..edits).for_each(|_| net.edit(tag, &mut random));
        (net, edits)
    };
    let ((left, left_edits), (right, right_edits)) = (side("l"), side("r"));
    let models = [&base, &left, &right].map(Net::model);
    let merged = merged(models.each_ref());
    let Some(result) = written(&merged) else {
        return Ok(false);
    };
    let [left_names, right_names] = ["LEFT", "RIGHT"].map(|side| renamed(&merged.notes, side));
    let mut all = left_names.clone();
    all.extend(right_names.clone());
    let reads = [
        Read::new(&models[0], &Renames::new()),
        Read::new(&models[1], &left_names),
        Read::new(&models[2], &right_names),
        Read::new(&result, &all),
    ];
    // The edit of a node that several outputs use may be seen at another one.
    let is_strict = left_edits == 1 && right_edits == 1 && base.outputs.len() == 1;
    let outputs = reads.each_ref().map(|read| &*read.outputs);
    let inputs = reads.each_ref().map(|read| &*read.inputs);
    let judged = judge("output", outputs, &merged.notes, is_strict)
        .and_then(|()| judge("input", inputs, &[], true));
    let fault = |Fault(text)| {
        let notes = &merged.notes;
        Fault(format!(
            "seed {seed}: {text}\nbase  {base:?}\nleft  {left:?}\nright {right:?}\n{notes:?}"
        ))
    };
    judged.map(|()| true).map_err(fault)
}

#[test]
fn the_names_of_inputs_and_outputs_decide() {
    let cases = std::env::var("ISOFORM_MERGE_CASES").ok();
    let cases: u64 = cases.and_then(|cases| cases.parse().ok()).unwrap_or(600);
    let mut clean = 0;
    let mut faults = Vec::new();
    for seed in 0..cases {
        match merge_random(seed) {
            Ok(is_clean) => clean += u64::from(is_clean),
            Err(Fault(text)) => faults.push(text),
        }
    }
    // The smallest one says most.
    let first = faults.iter().min_by_key(|text| text.len());
    assert!(
        faults.is_empty(),
        "{} of {cases} merges are wrong, {clean} are clean: {}",
        faults.len(),
        first.map_or("", String::as_str)
    );
    assert!(
        clean * 3 > cases,
        "only {clean} of {cases} merges are clean"
    );
}

/// A merge that looks at all nodes for each output, or at all names for each node, takes minutes.
#[test]
fn thousands_of_outputs_and_equal_names_take_linear_time() {
    const OUTPUTS: usize = 2_000;
    let net = |ops: [&'static str; 2]| {
        let mut net = Net {
            inputs: vec![Port {
                name: "x".to_owned(),
                dim: "3",
            }],
            operations: Vec::new(),
            outputs: Vec::new(),
        };
        let mut last = "x".to_owned();
        for number in 0..OUTPUTS {
            let op = match number {
                10 => ops[0],
                1_900 => ops[1],
                _ => UNARY[number % UNARY.len()],
            };
            let result = format!("v{number}");
            net.operations.push(Operation {
                op,
                alpha: 1,
                operands: vec![std::mem::replace(&mut last, result.clone())],
                result,
            });
            let name = format!("out{number}");
            net.outputs.push((Port { name, dim: "o" }, last.clone()));
        }
        let mut model = net.model();
        let nodes = model.graph.iter_mut().flat_map(|graph| &mut graph.node);
        nodes.for_each(|node| node.name = "node".to_owned());
        model
    };
    let models = [["Sin", "Sin"], ["Exp", "Sin"], ["Sin", "Exp"]].map(net);
    let merged = written(&merged(models.each_ref())).expect("a clean merge");
    let expected = net(["Exp", "Exp"]);
    let ops = |model: &ModelProto| -> Vec<String> {
        let graph = model.graph.as_ref().expect("a graph");
        let nodes = graph.node.iter().filter(|node| node.op_type != "Identity");
        nodes.map(|node| node.op_type.clone()).collect()
    };
    assert_eq!(ops(&merged), ops(&expected));
}
