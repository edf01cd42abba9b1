//! Moving the elements of tensors to files beside the model.

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;

use super::options::SaveOptions;
use crate::{
    elem_type::ElemType,
    options::LoadOptions,
    proto::{
        AttributeProto, DataLocation, GraphProto, ModelProto, NodeProto, StringStringEntryProto,
        TensorProto,
    },
};

/// Tensors of at least this many bytes start at a multiple of [`PAGE`], to be mappable
/// separately.
const ALIGNED: u64 = 1 << 20;
const PAGE: u64 = 4096;

/// Other tensors start where elements of any type may lie in memory.
const ELEMENT: u64 = 16;

/// A file of tensors with their offsets, in ascending order.
#[derive(Debug)]
pub(super) struct DataFile {
    pub(super) location: String,
    pub(super) tensors: Vec<(u64, Bytes)>,
    length: u64,
}

impl DataFile {
    fn new(location: String) -> Self {
        DataFile {
            location,
            tensors: Vec::new(),
            length: 0,
        }
    }

    /// Adds a tensor and returns its offset.
    fn add(&mut self, bytes: Bytes) -> u64 {
        let length = bytes.len() as u64;
        let alignment = if length >= ALIGNED { PAGE } else { ELEMENT };
        let offset = self.length.next_multiple_of(alignment);
        self.tensors.push((offset, bytes));
        self.length = offset + length;
        offset
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.length
    }
}

/// Moves large tensors out of a model; `file_name` is the name of the model's file.
/// Linear in the model.
pub(super) fn externalize(
    model: &mut ModelProto,
    options: &SaveOptions,
    file_name: &str,
) -> Vec<DataFile> {
    let location = match &options.location {
        Some(location) => location.clone(),
        None => format!("{file_name}.data"),
    };
    let mut mover = Mover {
        options,
        file_name,
        files: if options.all_tensors_to_one_file {
            vec![DataFile::new(location)]
        } else {
            Vec::new()
        },
        taken: HashSet::from([file_name.to_owned()]),
    };
    let in_attributes = options.convert_attribute;
    each_tensor(model, in_attributes, &mut |tensor| mover.tensor(tensor));
    mover.files.retain(|file| !file.tensors.is_empty());
    mover.files
}

/// The places of the external data of the model in a file; empty for any other file.
pub(super) fn locations(path: &Path) -> HashSet<String> {
    let mut found = HashSet::new();
    if let Ok(file) = LoadOptions::default().open(path) {
        let (mut model, _) = file.into_parts();
        each_tensor(&mut model, true, &mut |tensor| {
            let entries = tensor.external_data.iter();
            let entry = entries.filter(|entry| entry.key == "location");
            found.extend(entry.map(|entry| entry.value.clone()));
        });
    }
    found
}

type Visit<'v> = &'v mut dyn FnMut(&mut TensorProto);

/// Visits the initialisers of all graphs, and on request the tensors in attributes.
fn each_tensor(model: &mut ModelProto, in_attributes: bool, visit: Visit<'_>) {
    if let Some(graph) = &mut model.graph {
        in_graph(graph, in_attributes, visit);
    }
    for function in &mut model.functions {
        for node in &mut function.node {
            in_node(node, in_attributes, visit);
        }
        for attr in &mut function.attribute_proto {
            in_attribute(attr, in_attributes, visit);
        }
    }
}

/// Recurses along the limited nesting of graphs.
fn in_graph(graph: &mut GraphProto, in_attributes: bool, visit: Visit<'_>) {
    graph.initializer.iter_mut().for_each(&mut *visit);
    for node in &mut graph.node {
        in_node(node, in_attributes, visit);
    }
}

fn in_node(node: &mut NodeProto, in_attributes: bool, visit: Visit<'_>) {
    for attr in &mut node.attribute {
        in_attribute(attr, in_attributes, visit);
    }
}

fn in_attribute(attr: &mut AttributeProto, in_attributes: bool, visit: Visit<'_>) {
    if in_attributes {
        let single = attr.t.iter_mut().map(|tensor| &mut **tensor);
        single.chain(&mut attr.tensors).for_each(&mut *visit);
    }
    let single = attr.g.iter_mut().map(|graph| &mut **graph);
    for graph in single.chain(&mut attr.graphs) {
        in_graph(graph, in_attributes, visit);
    }
}

struct Mover<'o> {
    options: &'o SaveOptions,
    file_name: &'o str,
    files: Vec<DataFile>,
    /// Names of files, if every tensor has a separate file.
    taken: HashSet<String>,
}

impl Mover<'_> {
    fn tensor(&mut self, tensor: &mut TensorProto) {
        let is_large = |raw: &&Bytes| raw.len() as u64 >= self.options.size_threshold;
        let Some(raw) = tensor.raw_data.as_ref().filter(is_large) else {
            return;
        };
        // Strings have no form of a fixed size.
        if raw.is_empty() || tensor.data_type == ElemType::String.code() {
            return;
        }
        let raw = raw.clone();
        if !self.options.all_tensors_to_one_file {
            let location = self.own_file(&tensor.name);
            self.files.push(DataFile::new(location));
        }
        let Some(file) = self.files.last_mut() else {
            return;
        };
        let length = raw.len();
        let offset = file.add(raw);
        let entry = |key: &str, value: String| StringStringEntryProto {
            key: key.into(),
            value,
        };
        tensor.external_data = vec![
            entry("location", file.location.clone()),
            entry("offset", offset.to_string()),
            entry("length", length.to_string()),
        ];
        tensor.raw_data = None;
        tensor.set_data_location(DataLocation::External);
    }

    /// A new file name that is valid everywhere and unused by other models.
    fn own_file(&mut self, name: &str) -> String {
        let plain = |c: char| {
            if c.is_ascii_alphanumeric() || "_-.".contains(c) {
                c
            } else {
                '_'
            }
        };
        let plain: String = name.chars().take(128).map(plain).collect();
        let plain = plain.trim_start_matches('.');
        let base = format!(
            "{}.{}",
            self.file_name,
            if plain.is_empty() { "tensor" } else { plain }
        );
        let mut location = base.clone();
        let mut number = 1;
        while !self.taken.insert(location.clone()) {
            number += 1;
            location = format!("{base}_{number}");
        }
        location
    }
}
