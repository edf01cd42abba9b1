//! Models as a merge sees them: with their inputs and outputs under keys.
//!
//! Callers know an input or output by its name, and many inputs have equal types. A program has
//! its inputs and outputs in lists, whose elements a difference pairs by structure. Here they
//! are entries of maps with the same keys in all three versions, and a use of an input is a use
//! of its key, so an edit of the input 'a' on one side always meets the input 'a' of the other
//! side. The order is merged by itself.

use std::collections::{HashMap, HashSet};

use isoform::paths::{AccessPath, AccessStep};
use isoform::traverse::{MapOptions, WalkOrder};
use isoform::types::TypeIndex;
use isoform::{Array, Map, Node, Obj, Ref, Result, Str, Value};
use isoform_onnx::ir::{Graph, Input, Program};

use super::args::Favored;
use super::computed::{Computed, computed};
use super::keys::Keys;

/// A model with the inputs and outputs of all three versions. The maps have the same keys in
/// all versions, with None for a part that a version lacks.
#[derive(Node)]
#[node(key = "isoform.merge.Model", scope)]
#[repr(C)]
struct KeyedModel {
    /// Instances of [`KeyedInput`].
    #[node(def)]
    inputs: Map<Str, Value>,
    #[node(def)]
    output_types: Map<Str, Value>,
    outputs: Map<Str, Ref<KeyedOutput>>,
    input_names: Map<Str, Value>,
    output_names: Map<Str, Value>,
}

/// A use of an input, one object in all versions.
#[derive(Node)]
#[node(key = "isoform.merge.InputUse", kind = singleton)]
#[repr(C)]
struct InputUse {
    key: Str,
}

/// The declaration of an input.
#[derive(Node)]
#[node(key = "isoform.merge.Input")]
#[repr(C)]
struct KeyedInput {
    key: Str,
    ty: Value,
    default: Value,
    /// The input of the version.
    #[node(ignore)]
    input: Ref<Input>,
}

/// An output of a model: a node that a difference pairs by its key.
#[derive(Node)]
#[node(key = "isoform.merge.Output", kind = dag)]
#[repr(C)]
struct KeyedOutput {
    key: Str,
    /// None if the version has no such output.
    value: Value,
}

/// The three versions of a model, with the keys of their inputs and outputs.
pub(super) struct Ports {
    programs: [Ref<Program>; 3],
    inputs: Keys,
    outputs: Keys,
    models: [Ref<KeyedModel>; 3],
}

/// A map of a model.
type Maps = fn(&KeyedModel) -> &Map<Str, Value>;

/// A model made of a merged one.
pub(super) struct Restored {
    pub(super) program: Ref<Program>,
    /// The keys of inputs and outputs.
    keys: [Vec<Str>; 2],
    /// The types of inputs and outputs of the base, left, right and merged models, in the same
    /// order, with None for absent parts.
    pub(super) types: [Vec<Value>; 4],
    /// The reason why the program is not a valid model, if any.
    pub(super) fault: Option<String>,
}

impl Ports {
    /// The versions base, left and right. O(inputs + outputs).
    ///
    /// # Errors
    ///
    /// As [`CompareOptions::equal`].
    pub(super) fn new(programs: [Ref<Program>; 3]) -> Result<Self> {
        let types = programs.each_ref().map(|program| input_types(program));
        let names = programs.each_ref().map(|program| input_names(program));
        let inputs = Keys::new(names, types.each_ref().map(Vec::as_slice))?;
        let types = programs
            .each_ref()
            .map(|program| program.graph.result_types.values());
        let names = programs.each_ref().map(|program| output_names(program));
        let outputs = Keys::new(names, types)?;
        let all = inputs.all.iter();
        let uses: HashMap<&Str, Value> = all
            .map(|key| (key, Value::from(Ref::new(InputUse { key: key.clone() }))))
            .collect();
        let model = |version: usize| -> Result<Ref<KeyedModel>> {
            let graph = &programs[version].graph;
            let keys = || inputs.versions[version].iter().zip(graph.params.iter());
            let params =
                keys().map(|(key, input)| Value::from(Ref::new(KeyedInput::of(key, input))));
            let used: HashMap<u64, &Value> = keys()
                .map(|(key, input)| (input.identity(), &uses[key]))
                .collect();
            let results = Value::from(graph.results.clone());
            let results = with_parts(&results, &[Input::type_index()], |object| {
                used.get(&object.identity()).copied().cloned()
            })?;
            let results: Array = results.extract()?;
            let names = |keys: &Keys| {
                let names = keys.names[version].iter().cloned().map(Value::from);
                keys.map(version, names)
            };
            let types = graph.result_types.values().iter().cloned();
            let results = results.values().iter().cloned();
            Ok(Ref::new(KeyedModel {
                inputs: inputs.map(version, params),
                output_types: outputs.map(version, types),
                outputs: keyed_outputs(&outputs.map(version, results)),
                input_names: names(&inputs),
                output_names: names(&outputs),
            }))
        };
        let models = [model(0)?, model(1)?, model(2)?];
        Ok(Ports {
            programs,
            inputs,
            outputs,
            models,
        })
    }

    /// The versions base, left and right as the merge sees them.
    pub(super) fn values(&self) -> [Value; 3] {
        self.models.each_ref().map(Value::from)
    }

    /// A part of a version or of a merged value as it is in a program; the type of a declared
    /// input.
    ///
    /// # Errors
    ///
    /// As [`MapOptions::map_selected`].
    pub(super) fn part(&self, part: &Value) -> Result<Value> {
        if let Some(input) = part.peek::<Ref<KeyedInput>>() {
            return Ok(input.ty.clone());
        }
        let types = [KeyedInput::type_index(), InputUse::type_index()];
        with_parts(part, &types, |object| {
            if let Some(input) = object.downcast_ref::<KeyedInput>() {
                return Some(Value::from(input.restored()));
            }
            let key = &object.downcast_ref::<InputUse>()?.key;
            let mut declared = self.models.iter().filter_map(|model| model.input(key));
            declared.next().map(|input| Value::from(&input.input))
        })
    }

    /// The program of a merged value. Where both sides have the inputs or outputs in orders of
    /// their own, the favored version decides. O(inputs + outputs).
    ///
    /// # Errors
    ///
    /// `TypeError` for another value, such as a resolution of the caller.
    pub(super) fn restored(&self, merged: &Value, favored: Option<Favored>) -> Result<Restored> {
        let merged: Ref<KeyedModel> = merged.extract()?;
        let mut fault = None;
        let mut order = |keys: &Keys, is_there: &dyn Fn(&Str) -> bool, kind: &str| {
            keys.order(is_there, favored).unwrap_or_else(|| {
                fault.get_or_insert(format!("both sides changed the order of the {kind}s"));
                let all = keys.all.iter();
                all.filter(|key| is_there(key)).cloned().collect()
            })
        };
        let result = |key: &Str| {
            let output = merged.outputs.get(Value::from(key.clone()));
            output
                .map(|output| &output.value)
                .filter(|value| !value.is_none())
        };
        let is_input = |key: &Str| part(&merged.inputs, key).is_some();
        let inputs = order(&self.inputs, &is_input, "input");
        let outputs = order(&self.outputs, &|key| result(key).is_some(), "output");
        // A resolution may keep a part whose name and type its version removed.
        let of = |key: &Str, names: Maps, map: Maps| {
            let mut models = std::iter::once(&merged).chain(self.models.iter().rev());
            let model = models.find(|model| part(names(model), key).is_some());
            let part = model.and_then(|model| part(map(model), key));
            part.cloned().unwrap_or_default()
        };
        let names = |keys: &[Str], names: Maps| -> Result<Array<Str>> {
            keys.iter()
                .map(|key| of(key, names, names).extract::<Str>())
                .collect()
        };
        let input_names = names(&inputs, |model| &model.input_names)?;
        let output_names = names(&outputs, |model| &model.output_names)?;
        let fault = fault
            .or_else(|| twice(&input_names, "inputs"))
            .or_else(|| twice(&output_names, "outputs"));
        let mut params: HashMap<Str, Ref<Input>> = HashMap::new();
        for key in &inputs {
            let input = merged.input(key);
            params.extend(input.map(|input| (key.clone(), input.restored())));
        }
        let types = outputs.iter().map(|key| {
            of(
                key,
                |model| &model.output_names,
                |model| &model.output_types,
            )
        });
        let results: Array = outputs.iter().filter_map(result).cloned().collect();
        let mut lost = None;
        let results = Value::from(results);
        let results = with_parts(&results, &[InputUse::type_index()], |object| {
            let key = &object.downcast_ref::<InputUse>()?.key;
            let input = params.get(key).map(Value::from);
            if input.is_none() {
                let reason = format!("one side removed input '{key}', and the other side uses it");
                lost.get_or_insert(reason);
            }
            input
        })?;
        let fault = fault.or(lost);
        let base = &self.programs[0];
        let graph = Ref::new(Graph {
            params: inputs
                .iter()
                .filter_map(|key| params.get(key).cloned())
                .collect(),
            result_types: types.collect(),
            results: results.extract()?,
            result_names: output_names.clone(),
            ..base.graph.clone_fields()
        });
        let io_names = [input_names, output_names];
        let program = Ref::new(Program {
            graph,
            io_names: Array::from(io_names.to_vec()),
            ..base.clone_fields()
        });
        let [base, left, right] = &self.models;
        Ok(Restored {
            program,
            keys: [inputs, outputs],
            types: [base, left, right, &merged].map(|model| port_types(model)),
            fault,
        })
    }

    /// The computations of the base, left, right and merged models.
    ///
    /// # Errors
    ///
    /// As [`computed`].
    pub(super) fn computed(&self, restored: &Restored) -> Result<[Computed; 4]> {
        let version = |number: usize| {
            let keys = [&self.inputs, &self.outputs].map(|keys| &*keys.versions[number]);
            computed(&self.programs[number], keys)
        };
        let merged = computed(
            &restored.program,
            restored.keys.each_ref().map(Vec::as_slice),
        )?;
        Ok([version(0)?, version(1)?, version(2)?, merged])
    }

    /// Remarks on inputs and outputs that the structure of the merged model does not show: a new
    /// order, parts that count as renamed, and a position that both sides filled. O(n).
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (keys, kind) in [(&self.inputs, "input"), (&self.outputs, "output")] {
            for (version, side) in [(1, "LEFT"), (2, "RIGHT")] {
                if keys.has_other_order(version) {
                    notes.push(format!("{side} changed the order of the {kind}s"));
                }
                let renamed = keys.renamed(version).into_iter();
                notes.extend(
                    renamed.map(|(old, new)| format!("{side} renamed {kind} '{old}' to '{new}'")),
                );
            }
            let [left, right] = [1, 2].map(|version| keys.additions(version));
            if left.difference(&right).next().is_some() && right.difference(&left).next().is_some()
            {
                notes.push(format!(
                    "both sides added {kind}s; at the same position, those of LEFT come first"
                ));
            }
        }
        notes
    }

    /// A path of the merge as a path in the program of the base, and words for the input or
    /// output there.
    pub(super) fn place(&self, path: &AccessPath) -> (AccessPath, Option<String>) {
        let [AccessStep::Attr(map), step, rest @ ..] = path.steps() else {
            return (path.clone(), None);
        };
        let (AccessStep::MapItem(key) | AccessStep::MapItemMissing(key)) = step else {
            return (path.clone(), None);
        };
        let attr = |name: &str| AccessStep::Attr(name.to_owned());
        let (keys, fields, words) = match map.as_str() {
            "inputs" => (&self.inputs, [attr("graph"), attr("params")], "input"),
            "output_types" => (
                &self.outputs,
                [attr("graph"), attr("result_types")],
                "output",
            ),
            "outputs" => (&self.outputs, [attr("graph"), attr("results")], "output"),
            "input_names" => (
                &self.inputs,
                [attr("io_names"), AccessStep::ArrayItem(0)],
                "input",
            ),
            _ => (
                &self.outputs,
                [attr("io_names"), AccessStep::ArrayItem(1)],
                "output",
            ),
        };
        let key = key.peek::<Str>().cloned().unwrap_or_default();
        let base = &keys.versions[0];
        let step = match base.iter().position(|other| *other == key) {
            Some(position) => AccessStep::ArrayItem(position),
            None => AccessStep::ArrayItemMissing(base.len()),
        };
        // The value of an output has a node around it, which the program lacks.
        let rest = if map == "outputs" {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
        let field = match (map.as_str(), rest.first()) {
            ("input_names" | "output_names", _) => ": name",
            ("output_types", _) => ": type",
            ("inputs", Some(AccessStep::Attr(field))) if field == "ty" => ": type",
            ("inputs", Some(AccessStep::Attr(field))) if field == "default" => ": default",
            _ => "",
        };
        let words = format!("{words} '{key}'{field}");
        let steps = fields.into_iter().chain([step]).chain(rest.iter().cloned());
        (AccessPath::from_steps(steps.collect()), Some(words))
    }
}

impl KeyedModel {
    fn input(&self, key: &Str) -> Option<&Ref<KeyedInput>> {
        part(&self.inputs, key)?.peek()
    }
}

impl KeyedInput {
    fn of(key: &Str, input: &Ref<Input>) -> Self {
        KeyedInput {
            key: key.clone(),
            ty: input.ty.clone(),
            default: input.default.clone(),
            input: input.clone(),
        }
    }

    fn restored(&self) -> Ref<Input> {
        Ref::new(Input {
            ty: self.ty.clone(),
            default: self.default.clone(),
            ..self.input.clone_fields()
        })
    }
}

/// A value with other objects of some types. O(n).
fn with_parts(
    value: &Value,
    types: &[TypeIndex],
    mut other: impl FnMut(&Ref<Obj>) -> Option<Value>,
) -> Result<Value> {
    MapOptions::default().order(WalkOrder::Pre).map_selected(
        value,
        |ty| ty.is_some_and(|ty| types.contains(&ty)),
        |visit| Ok(visit.object().and_then(&mut other)),
    )
}

/// The types of a model's inputs and outputs, by key.
fn port_types(model: &KeyedModel) -> Vec<Value> {
    let input = |input: &Value| {
        input
            .peek::<Ref<KeyedInput>>()
            .map(|input| input.ty.clone())
    };
    let inputs = model.inputs.iter();
    let inputs = inputs.map(|(_, part)| input(part).unwrap_or_default());
    let outputs = model.output_types.iter().map(|(_, ty)| ty.clone());
    inputs.chain(outputs).collect()
}

fn keyed_outputs(values: &Map<Str, Value>) -> Map<Str, Ref<KeyedOutput>> {
    let outputs = values.iter().map(|(key, value)| {
        let (key, value) = (key.clone(), value.clone());
        (key.clone(), Ref::new(KeyedOutput { key, value }))
    });
    outputs.collect()
}

/// The part under a key of a map; None if absent.
fn part<'m>(map: &'m Map<Str, Value>, key: &Str) -> Option<&'m Value> {
    let part = map.get(Value::from(key.clone()));
    part.filter(|part| !part.is_none())
}

/// The reason why a model cannot have these names of inputs or outputs.
fn twice(names: &Array<Str>, kind: &str) -> Option<String> {
    let mut seen = HashSet::new();
    let name = names.iter().find(|name| !seen.insert(*name))?;
    Some(format!("two {kind} would have the name '{name}'"))
}

fn input_types(program: &Program) -> Vec<Value> {
    let params = program.graph.params.iter();
    params.map(|param| param.ty.clone()).collect()
}

fn input_names(program: &Program) -> Vec<Str> {
    let params = program.graph.params.iter();
    params.map(|param| param.name.clone()).collect()
}

fn output_names(program: &Program) -> Vec<Str> {
    program.graph.result_names.iter().cloned().collect()
}
