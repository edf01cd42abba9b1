//! The check that a merged model computes, under the name of each output, what its versions
//! ask for.
//!
//! A difference cannot tell nodes apart that compute the same, such as two equal casts of one
//! value, so an edit of one of them may end up at the other one. Here the names of inputs and
//! outputs decide: an output that one side left alone has to be that of the other side.

use std::collections::HashMap;

use isoform::traverse::{MapOptions, WalkOrder};
use isoform::{Node, Obj, Ref, Result, Str, Value, structural_hash};
use isoform_onnx::ir::{Call, Dim, Input, Output, Program};
use isoform_onnx::layout::list;

/// The hash of the computation of each output from the inputs, by their keys.
pub(super) type Computed = HashMap<Str, u64>;

/// The computations of a program with these keys of its inputs and outputs. O(n), times the
/// depth of bodies.
///
/// # Errors
///
/// As [`structural_hash`].
pub(super) fn computed(program: &Program, [inputs, outputs]: [&[Str]; 2]) -> Result<Computed> {
    let params = program.graph.params.iter().map(Ref::identity);
    let mut folds = Folds {
        inputs: params.zip(inputs.iter().cloned()).collect(),
        calls: HashMap::new(),
        functions: HashMap::new(),
    };
    if let Some(main) = list(program).bodies.first() {
        for node in &main.nodes {
            folds.call(&node.call)?;
        }
    }
    let results = program.graph.results.values().iter();
    let computed = outputs
        .iter()
        .zip(results)
        .map(|(key, result)| Ok((key.clone(), structural_hash(folds.folded(result)?)?)));
    computed.collect()
}

/// The reason why an output of the merged model is not that of its versions, or None, and
/// remarks on new outputs. The computations are those of the base, left, right and merged
/// models. O(outputs log outputs).
pub(super) fn fault(computed: &[Computed; 4]) -> (Option<String>, Vec<String>) {
    let mut notes = Vec::new();
    let mut keys: Vec<&Str> = computed.iter().flat_map(HashMap::keys).collect();
    keys.sort_unstable_by_key(|key| key.as_str());
    keys.dedup();
    for key in keys {
        let [base, left, right, merged] = computed.each_ref().map(|outputs| outputs.get(key));
        let (expected, side) = if left == base {
            (right, "RIGHT")
        } else if right == base || right == left {
            (left, "LEFT")
        } else if merged.is_some() && merged == base {
            (None, "")
        } else {
            continue;
        };
        if merged == expected {
            continue;
        }
        if base.is_none() && merged.is_some() {
            notes.push(format!(
                "output '{key}', which {side} added, also depends on edits of the other side"
            ));
            continue;
        }
        let fault = format!(
            "the merge would compute output '{key}' from other parts than its versions; nodes that \
             compute the same could not be told apart, so merge in two steps"
        );
        return (Some(fault), notes);
    }
    (None, notes)
}

/// Short forms of the values of a main graph.
struct Folds {
    /// The keys of the inputs, by identity.
    inputs: HashMap<u64, Str>,
    /// The hashes of calls that use nothing of an inner graph, by identity.
    calls: HashMap<u64, u64>,
    functions: HashMap<u64, u64>,
}

impl Folds {
    /// Notes the hash of a call, whose operands are short by now.
    fn call(&mut self, call: &Ref<Call>) -> Result<()> {
        let mut fields = call.clone_fields();
        if let Some(function) = fields.callee.take() {
            let identity = function.identity();
            if !self.functions.contains_key(&identity) {
                let hash = structural_hash(self.folded(&Value::from(&function))?)?;
                self.functions.insert(identity, hash);
            }
            fields.op = self.functions[&identity].to_string().into();
        }
        let folded = self.folded(&Value::from(Ref::new(fields)))?;
        self.calls.insert(call.identity(), structural_hash(folded)?);
        Ok(())
    }

    /// A value with short forms of the known values below, and without the names of dimensions.
    fn folded(&self, value: &Value) -> Result<Value> {
        let wanted = [Input::type_index(), Output::type_index(), Dim::type_index()];
        MapOptions::default().order(WalkOrder::Pre).map_selected(
            value,
            |ty| ty.is_some_and(|ty| wanted.contains(&ty)),
            |visit| Ok(visit.object().and_then(|object| self.short(object))),
        )
    }

    fn short(&self, object: &Ref<Obj>) -> Option<Value> {
        if let Some(output) = object.downcast_ref::<Output>() {
            let call = self.calls.get(&output.call.identity())?;
            return Some(format!("{call} {}", output.index).into());
        }
        if object.isa::<Dim>() {
            return Some("dimension".into());
        }
        let input = self.inputs.get(&object.identity())?;
        Some(format!("input {input}").into())
    }
}
