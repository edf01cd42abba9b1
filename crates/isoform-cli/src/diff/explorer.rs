//! Files for model-explorer: colours for the nodes of both models, and the pairs of nodes
//! that synchronise its two panes.
//!
//! The ids of nodes are those of its adapter for ONNX, the package `model-explorer-onnx`: the
//! name of a node, made unique in the order of the file, and `[value] NAME` for inputs, outputs
//! and initializers. Only the main graph is covered: the adapter shows functions and bodies
//! as graphs of their own, or inlines them under other names.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use isoform::compare::{Change, ChangeKind, Place};
use isoform::{Ref, Value};
use isoform_onnx::ir::{Call, Input, Output, Program};
use isoform_onnx::report::Report;
use isoform_onnx::{ImportOptions, WholeFile, decode_model, layout};
use serde_json::{Map, Value as Json, json};

use super::args::DiffArgs;
use crate::input::{Content, is_dash, message, recognize, start_of};
use crate::output::Failure;
use crate::pages::file::is_same_file;
use crate::target::check_target;

/// The colours of the marks: light, because the text on them is black.
const DELETED: (&str, &str) = ("deleted", "#ffcecb");
const INSERTED: (&str, &str) = ("inserted", "#aceebb");
const CHANGED: (&str, &str) = ("changed", "#ffe08a");

/// The files, in a folder.
const FILES: [&str; 3] = ["left.json", "right.json", "mapping.json"];

/// Checks before anything is compared that model-explorer can open both models, and that the
/// three files may be written.
///
/// # Errors
///
/// A message, with the file concerned.
pub(super) fn check(args: &DiffArgs) -> Result<(), (PathBuf, Failure)> {
    let Some(folder) = &args.model_explorer else {
        return Ok(());
    };
    for model in [&args.left, &args.right] {
        check_model(model).map_err(|reason| (model.clone(), reason.into()))?;
    }
    let others = [Some(&args.left), Some(&args.right), args.html.as_ref()];
    for name in FILES {
        let file = folder.join(name);
        if let Some(other) = others
            .into_iter()
            .flatten()
            .find(|it| is_same_file(&file, it))
        {
            let reason = format!("this would take the place of '{}'", other.display());
            return Err((file, reason.into()));
        }
        check_target(&file, args.force).map_err(|failure| (file.clone(), failure))?;
    }
    Ok(())
}

/// Checks that a file is what model-explorer opens. A file that is not a model, or cannot be
/// read, is left to the command, which says why.
fn check_model(model: &Path) -> Result<(), &'static str> {
    const NO_FILE: &str = "--model-explorer gives the ids that model-explorer reads from the \
                           file, so the model has to be a file; write it to one first";
    if is_dash(model) {
        return Err(NO_FILE);
    }
    match std::fs::metadata(model) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => return Err(NO_FILE),
        Err(_) => return Ok(()),
    }
    let Ok(start) = File::open(model).and_then(|mut file| start_of(&mut file)) else {
        return Ok(());
    };
    match recognize(&start) {
        Content::Packed(_) => {
            Err("model-explorer does not open compressed models; unpack the file first")
        }
        Content::Value(_) | Content::Tensors(_) => Err("--model-explorer is for ONNX models"),
        Content::Model | Content::Empty | Content::Foreign(_) => Ok(()),
    }
}

/// Writes the three files into a folder, which is made if it is missing: all of them, or none if
/// one cannot be written.
///
/// # Errors
///
/// A message, with the file concerned, if a model cannot be read again or a file cannot be
/// written.
pub(super) fn write(
    report: &Report,
    models: [&Path; 2],
    folder: &Path,
    force: bool,
) -> Result<(), (PathBuf, Failure)> {
    let [left, right] =
        models.map(|model| Ids::read(model).map_err(|failure| (model.to_owned(), failure)));
    let sides = Sides::new(report, [left?, right?]);
    let failed = |file: &Path, error: std::io::Error| (file.to_owned(), error.to_string().into());
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let contents = [sides.node_data(0), sides.node_data(1), sides.mapping()];
    let mut complete = Vec::new();
    for (name, content) in FILES.into_iter().zip(contents) {
        let file = folder.join(name);
        check_target(&file, force).map_err(|failure| (file.clone(), failure))?;
        let written = WholeFile::create(&file).and_then(|mut whole| {
            writeln!(whole, "{content:#}")?;
            Ok(whole)
        });
        let whole = written.map_err(|error| failed(&file, error))?;
        complete.push((file, whole));
    }
    for (file, whole) in complete {
        whole.keep().map_err(|error| failed(&file, error))?;
    }
    Ok(())
}

/// The ids of a model's nodes.
struct Ids {
    graph: String,
    /// By position in the list of nodes.
    nodes: Vec<String>,
    /// The id of a Constant node by the name of its output.
    constants: HashMap<String, String>,
}

impl Ids {
    fn read(model: &Path) -> Result<Self, Failure> {
        let failed = |error: isoform::Error| message(model, &error);
        let bytes = ImportOptions::default().files().read(model);
        let bytes = bytes.map_err(|error| failed(error.into()))?;
        let proto = decode_model(bytes).map_err(|error| failed(error.into()))?;
        let graph = proto.graph.unwrap_or_default();
        let (mut used, mut counts) = (HashSet::new(), HashMap::new());
        let mut ids = Ids {
            graph: graph.name.clone(),
            nodes: Vec::with_capacity(graph.node.len()),
            constants: HashMap::new(),
        };
        for node in &graph.node {
            let wanted = match node.name.as_str() {
                "" => "node",
                name => name,
            };
            let mut id = wanted.to_owned();
            while !used.insert(id.clone()) {
                let count: &mut usize = counts.entry(wanted.to_owned()).or_default();
                *count += 1;
                id = format!("{wanted}_{count}");
            }
            if let ("Constant", [output]) = (node.op_type.as_str(), &node.output[..]) {
                ids.constants.insert(output.clone(), id.clone());
            }
            ids.nodes.push(id);
        }
        Ok(ids)
    }

    /// The id of a node of the main graph.
    fn node(&self, call: &Call) -> Option<&str> {
        let position = usize::try_from(call.position).ok()?;
        self.nodes.get(position).map(String::as_str)
    }

    fn value(&self, name: &str) -> String {
        match self.constants.get(name) {
            Some(node) => node.clone(),
            None => format!("[value] {name}"),
        }
    }
}

/// The marks and pairs of both models, by id.
struct Sides {
    ids: [Ids; 2],
    marks: [HashMap<String, (&'static str, &'static str)>; 2],
    pairs: Vec<(String, String)>,
}

impl Sides {
    fn new(report: &Report, ids: [Ids; 2]) -> Self {
        let difference = &report.difference;
        let programs = [difference.left(), difference.right()]
            .map(|side| side.peek::<Ref<Program>>().cloned());
        let mut sides = Sides {
            ids,
            marks: Default::default(),
            pairs: Vec::new(),
        };
        let [Some(left), Some(right)] = programs else {
            return sides;
        };
        let calls = [&left, &right].map(|program| main_calls(program));
        let pairs = if difference.is_empty() {
            let [left, right] = calls.clone();
            left.into_iter().zip(right).collect()
        } else {
            corresponding(report)
        };
        sides.pair_interface(&left, &right);
        sides.mark_alone(&calls, &pairs);
        let main = calls
            .each_ref()
            .map(|calls| -> HashSet<u64> { calls.iter().map(|call| call.identity()).collect() });
        for change in difference.changes() {
            sides.mark_changed(change, &main);
        }
        for (left, right) in &pairs {
            sides.pair_nodes(left, right, &main);
        }
        sides
    }

    /// Pairs inputs and outputs by position.
    fn pair_interface(&mut self, left: &Program, right: &Program) {
        let value = |name: &isoform::Str| format!("[value] {name}");
        let inputs = left.graph.params.iter().zip(right.graph.params.iter());
        let inputs = inputs.map(|(left, right)| (value(&left.name), value(&right.name)));
        self.pairs.extend(inputs);
        let names = [left, right].map(|program| program.graph.result_names.iter());
        let [left, right] = names;
        self.pairs.extend(
            left.zip(right)
                .map(|(left, right)| (value(left), value(right))),
        );
    }

    /// Marks the nodes without a partner.
    fn mark_alone(&mut self, calls: &[Vec<Ref<Call>>; 2], pairs: &[(Ref<Call>, Ref<Call>)]) {
        let paired = [0, 1].map(|side| -> HashSet<u64> {
            let calls = pairs.iter().map(|(left, right)| [left, right][side]);
            calls.map(|call| call.identity()).collect()
        });
        for (side, mark) in [DELETED, INSERTED].into_iter().enumerate() {
            for call in &calls[side] {
                if !paired[side].contains(&call.identity())
                    && let Some(id) = self.ids[side].node(call)
                {
                    self.marks[side].insert(id.to_owned(), mark);
                }
            }
        }
    }

    /// Marks the innermost nodes around a change, unless they have a mark. A node that became
    /// another one is marked itself, and not the nodes that use it.
    fn mark_changed(&mut self, change: &Change, main: &[HashSet<u64>; 2]) {
        let replaced = [change.left(), change.right()].map(|value| call_of(value?));
        let is_replaced = change.kind() == ChangeKind::Replaced;
        for (left, right) in change.places() {
            for (side, place) in [left, right].iter().enumerate() {
                let call = match &replaced {
                    [Some(left), Some(right)] if is_replaced => Some([left, right][side].clone()),
                    _ => call_around(place),
                };
                let Some(call) = call else {
                    continue;
                };
                // A node in a body shows at the node with the body.
                let is_main = main[side].contains(&call.identity());
                if let (true, Some(id)) = (is_main, self.ids[side].node(&call)) {
                    self.marks[side].entry(id.to_owned()).or_insert(CHANGED);
                }
            }
        }
    }

    /// Pairs two nodes of the main graphs and their constants.
    fn pair_nodes(&mut self, left: &Ref<Call>, right: &Ref<Call>, main: &[HashSet<u64>; 2]) {
        let is_main = [left, right]
            .iter()
            .zip(main)
            .all(|(call, main)| main.contains(&call.identity()));
        let ids = self.ids[0].node(left).zip(self.ids[1].node(right));
        let (true, Some((left_id, right_id))) = (is_main, ids) else {
            return;
        };
        self.pairs.push((left_id.to_owned(), right_id.to_owned()));
        let inputs = left.inputs.values().iter().zip(right.inputs.values());
        let names = left.input_names.iter().zip(right.input_names.iter());
        for ((left, right), names) in inputs.zip(names) {
            if is_constant(left) && is_constant(right) {
                let [left, right] = [self.ids[0].value(names.0), self.ids[1].value(names.1)];
                self.pairs.push((left, right));
            }
        }
    }

    /// The colours of one side, by graph and node.
    fn node_data(&self, side: usize) -> Json {
        let marks = self.marks[side].iter();
        let results: Map<String, Json> = marks
            .map(|(id, (mark, colour))| (id.clone(), json!({"value": mark, "bgColor": colour})))
            .collect();
        let mut data = Map::new();
        data.insert(
            self.ids[side].graph.clone(),
            json!({"name": "isoform diff", "results": results}),
        );
        Json::Object(data)
    }

    fn mapping(&self) -> Json {
        let pairs = self.pairs.iter();
        let mapping: Map<String, Json> = pairs
            .map(|(left, right)| (left.clone(), Json::from(right.clone())))
            .collect();
        json!({
            "type": "sync_navigation",
            "mapping": mapping,
            // Without it, a node without a partner would go with a node of the same name.
            "disableMappingFallback": true,
            "showDiffHighlights": true,
        })
    }
}

/// The nodes that the diff pairs, and those of which the report says that one became the other.
fn corresponding(report: &Report) -> Vec<(Ref<Call>, Ref<Call>)> {
    let pairs = report.difference.node_pairs_with_reasons();
    let pairs = pairs.map(|(left, right, _)| [left, right]);
    let groups = report.groups.iter().filter(|it| it.kind == "replaced");
    let told = groups.flat_map(|group| &group.parts);
    let told = told.filter_map(|parts| match parts.each_ref().map(Vec::as_slice) {
        [[left], [right]] => Some([left.clone(), right.clone()]),
        _ => None,
    });
    let mut paired = [HashSet::new(), HashSet::new()];
    let mut list = Vec::new();
    for [left, right] in pairs.chain(told) {
        let Some((left, right)) = call_of(&left).zip(call_of(&right)) else {
            continue;
        };
        let idents = [left.identity(), right.identity()];
        if (0..2).all(|side| !paired[side].contains(&idents[side])) {
            for side in [0, 1] {
                paired[side].insert(idents[side]);
            }
            list.push((left, right));
        }
    }
    list
}

fn call_of(value: &Value) -> Option<Ref<Call>> {
    value.peek::<Ref<Call>>().cloned()
}

/// The nodes that the main graph lists.
fn main_calls(program: &Program) -> Vec<Ref<Call>> {
    let mut bodies = layout::list(program).bodies.into_iter();
    let nodes = bodies.next().map(|body| body.nodes).unwrap_or_default();
    nodes.into_iter().map(|node| node.call).collect()
}

/// The innermost node around a place. A node at the very place is an operand of that node.
fn call_around(place: &Place) -> Option<Ref<Call>> {
    place
        .around()
        .find_map(|(value, _)| value.peek::<Ref<Call>>().cloned())
}

fn is_constant(value: &Value) -> bool {
    !value.is_none()
        && value
            .as_object()
            .is_none_or(|object| !object.isa::<Output>() && !object.isa::<Input>())
}
