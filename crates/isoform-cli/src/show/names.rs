//! Values, types and constants as text.

use std::collections::HashMap;
use std::fmt::Write;

use isoform::Value;
use isoform::compare::CompareOptions;
use isoform::values::{Tensor, ValueRef};
use isoform_onnx::Model;
use isoform_onnx::elements;
use isoform_onnx::ir::{
    AttrRef, Call, Dim, Function, Input, MapType, OpaqueType, OptionalType, Output, SequenceType,
    SparseTensor, SparseTensorType, StringTensor, TensorType, TypeAttr,
};

use super::labels::{Labels, Naming};
use crate::output::{Palette, printable};
use isoform_onnx::layout::{BodyKind, Listing, graph_in};

/// Tensors of up to this many elements are written in full.
const WHOLE_TENSOR: u64 = 8;
/// The number of elements printed of a longer tensor.
const FIRST_ELEMENTS: u64 = 3;
/// The number of items printed of a list.
pub(super) const LIST_ITEMS: usize = 16;
/// The number of characters printed of a string.
const TEXT_CHARS: usize = 80;

/// The number of digits of a checksum.
const CHECKSUM_DIGITS: usize = 12;

/// How a program is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameOptions {
    /// Where the labels of values come from.
    pub(crate) naming: Naming,
    /// True if the contents of constants are printed.
    pub(crate) contents: bool,
    /// True if long constants have a checksum, which reads all of their elements.
    pub(crate) checksums: bool,
    pub(crate) style: Palette,
}

/// Names for the parts of a program.
#[derive(Debug)]
pub(crate) struct Names {
    labels: Labels,
    /// Symbolic dimensions by identity, with the name in the file.
    dims: HashMap<u64, usize>,
    dim_names: Vec<String>,
    /// The model that lacks the contents of some constants.
    model: Option<Model>,
    contents: bool,
    checksums: bool,
    style: Palette,
}

impl Names {
    /// Names the parts of a program in printing order. O(values).
    pub(crate) fn new(model: Option<&Model>, listing: &Listing, options: NameOptions) -> Self {
        let mut names = Names {
            labels: Labels::new(listing, options.naming),
            dims: HashMap::new(),
            dim_names: Vec::new(),
            model: model.cloned(),
            contents: options.contents,
            checksums: options.checksums,
            style: options.style,
        };
        for body in std::mem::take(&mut names.labels.bodies) {
            names.number_dims(&listing.bodies[body].kind);
        }
        names
    }

    /// The number of a function.
    pub(crate) fn function(&self, function: &isoform::Ref<Function>) -> String {
        match self.labels.functions.get(&function.identity()) {
            Some(number) => format!("f{number}"),
            None => "f?".to_owned(),
        }
    }

    /// The symbolic dimensions, with their names in the file.
    pub(crate) fn dims(&self) -> impl Iterator<Item = (String, &str)> {
        let named = self.dim_names.iter().enumerate();
        named.map(|(number, name)| (format!("d{number}"), name.as_str()))
    }

    /// Numbers the symbolic dimensions in the head of a body.
    fn number_dims(&mut self, body: &BodyKind) {
        for param in body.params().iter() {
            self.ty_text(&param.ty);
        }
        if let BodyKind::Graph(graph) = body {
            for ty in graph.result_types.values() {
                self.ty_text(ty);
            }
        }
    }

    /// The label of the value at this position among the values of an input or node.
    pub(crate) fn label(&self, identity: u64, index: i64) -> String {
        let labels = self.labels.values.get(&identity);
        let label = usize::try_from(index)
            .ok()
            .and_then(|index| labels?.get(index));
        label.map_or("%?".to_owned(), String::clone)
    }

    /// The label of an output of a node.
    pub(crate) fn output(&self, call: &isoform::Ref<Call>, index: i64) -> String {
        let position = usize::try_from(index).ok();
        let name = position.and_then(|position| call.output_names.get(position));
        self.label_or(call.identity(), index, name)
    }

    /// The label of a value; a value of another version of the model has its name there.
    fn label_or(&self, identity: u64, index: i64, name: Option<&isoform::Str>) -> String {
        let is_foreign = !self.labels.values.contains_key(&identity);
        match name {
            Some(name) if is_foreign && !name.is_empty() => format!("%{}", printable(name)),
            _ => self.label(identity, index),
        }
    }

    /// A value as an operand: a label, a constant, or `_` for an omitted input.
    pub(crate) fn operand(&mut self, value: &Value) -> String {
        let Some(object) = value.as_object() else {
            return if value.is_none() {
                "_".to_owned()
            } else {
                self.plain(value)
            };
        };
        if let Some(output) = object.downcast_ref::<Output>() {
            self.output(&output.call, output.index)
        } else if let Some(input) = object.downcast_ref::<Input>() {
            self.label_or(input.identity(), 0, Some(&input.name))
        } else {
            self.plain(value)
        }
    }

    /// The value of an attribute; graphs are left to the caller.
    pub(crate) fn attribute(&mut self, value: &Value) -> String {
        let ValueRef::Array(items) = value.view() else {
            return self.operand(value);
        };
        let mut out = String::from("[");
        for (index, item) in items.values().iter().take(LIST_ITEMS).enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str(&self.operand(item));
        }
        if let Some(more @ 1..) = items.len().checked_sub(LIST_ITEMS) {
            // Writing to a string cannot fail.
            let _ = write!(out, ", ... {more} more{}", self.sum_of(value));
        }
        out.push(']');
        out
    }

    /// A constant of any kind.
    fn plain(&mut self, value: &Value) -> String {
        let tint = self.style.value;
        match value.view() {
            ValueRef::None => "_".to_owned(),
            ValueRef::Float(number) => elements::float(number),
            ValueRef::Str(text) if text.chars().nth(TEXT_CHARS).is_some() => {
                quoted(text) + &self.sum_of(value)
            }
            ValueRef::Str(text) => quoted(text),
            ValueRef::Bytes(bytes) if bytes.len() > TEXT_CHARS => {
                quoted_bytes(bytes) + &self.sum_of(value)
            }
            ValueRef::Bytes(bytes) => quoted_bytes(bytes),
            ValueRef::Tensor(tensor) => format!(
                "{} {tint}{}{tint:#}",
                self.typed(&elements::tensor_type(tensor)),
                self.elements(tensor)
            ),
            ValueRef::Object(object) => {
                if let Some(strings) = object.downcast_ref::<StringTensor>() {
                    let shape: &[i64] = &strings.shape;
                    let mut ty = "string".to_owned();
                    if !shape.is_empty() {
                        let _ = write!(ty, "{shape:?}");
                    }
                    let items = strings.values.values();
                    let shown = if items.len() as u64 <= WHOLE_TENSOR {
                        items.len()
                    } else {
                        FIRST_ELEMENTS as usize
                    };
                    let mut texts: Vec<String> = items[..shown]
                        .iter()
                        .map(|item| match item.view() {
                            ValueRef::Bytes(bytes) => match std::str::from_utf8(bytes) {
                                Ok(text) => quoted(text),
                                Err(_) => quoted_bytes(bytes),
                            },
                            _ => "?".to_owned(),
                        })
                        .collect();
                    if shown < items.len() {
                        texts.push("...".to_owned());
                    }
                    let is_long = |item: &Value| match item.view() {
                        ValueRef::Bytes(bytes) => bytes.len() > TEXT_CHARS,
                        _ => false,
                    };
                    let sum = if shown < items.len() || items.iter().any(is_long) {
                        self.sum_of(value)
                    } else {
                        String::new()
                    };
                    let elements = texts.join(", ");
                    format!("{} {tint}{{{elements}}}{sum}{tint:#}", self.typed(&ty))
                } else if let Some(sparse) = object.downcast_ref::<SparseTensor>() {
                    let shape: &[i64] = &sparse.shape;
                    let values = match sparse.values.view() {
                        ValueRef::Tensor(tensor) => {
                            format!("{} {}", tensor.dtype(), self.elements(tensor))
                        }
                        _ => format!("string{}", self.sum_of(&sparse.values)),
                    };
                    let positions = self.elements(&sparse.positions);
                    format!("sparse{shape:?} {tint}{positions} -> {values}{tint:#}")
                } else if let Some(attr) = object.downcast_ref::<AttrRef>() {
                    format!("${}", printable(attr.name.as_str()))
                } else if let Some(attr) = object.downcast_ref::<TypeAttr>() {
                    self.ty(&attr.ty)
                } else if graph_in(value).is_some() {
                    "graph".to_owned()
                } else {
                    format!("{value:?}")
                }
            }
            _ => format!("{value:?}"),
        }
    }

    /// The checksum of a constant that is abbreviated, so that different constants have
    /// different texts.
    fn sum_of(&self, value: &Value) -> String {
        if self.checksums && self.contents {
            checksum(value)
        } else {
            String::new()
        }
    }

    /// The [`contents`] of a tensor, or a placeholder for contents that are unknown or not
    /// wanted.
    fn elements(&self, tensor: &Tensor) -> String {
        let model = self.model.as_ref();
        if model.is_some_and(|model| model.lacks_contents(tensor)) {
            return if self.contents { "{?}" } else { "{...}" }.to_owned();
        }
        if !self.contents {
            return "{...}".to_owned();
        }
        if !self.checksums {
            return elements::abbreviated(tensor, WHOLE_TENSOR, FIRST_ELEMENTS);
        }
        contents(tensor)
    }

    /// A type, `?` if it is unknown.
    pub(crate) fn ty(&mut self, ty: &Value) -> String {
        let text = self.ty_text(ty);
        self.typed(&text)
    }

    fn typed(&self, text: &str) -> String {
        let tint = self.style.ty;
        format!("{tint}{text}{tint:#}")
    }

    fn ty_text(&mut self, ty: &Value) -> String {
        let mut out = String::new();
        let mut closing = 0;
        let mut current = ty;
        // Only the last part of a type nests, so a loop suffices.
        while let Some(object) = current.as_object() {
            if let Some(ty) = object.downcast_ref::<SequenceType>() {
                out.push_str("sequence(");
                current = &ty.elem;
            } else if let Some(ty) = object.downcast_ref::<OptionalType>() {
                out.push_str("optional(");
                current = &ty.elem;
            } else if let Some(ty) = object.downcast_ref::<MapType>() {
                let _ = write!(out, "map({}, ", element_type(&ty.key));
                current = &ty.value;
            } else {
                break;
            }
            closing += 1;
        }
        let leaf = match current.as_object() {
            Some(object) => {
                if let Some(ty) = object.downcast_ref::<TensorType>() {
                    element_type(&ty.elem) + &self.shape(ty.shape.as_ref())
                } else if let Some(ty) = object.downcast_ref::<SparseTensorType>() {
                    format!(
                        "sparse {}{}",
                        element_type(&ty.elem),
                        self.shape(ty.shape.as_ref())
                    )
                } else if let Some(ty) = object.downcast_ref::<OpaqueType>() {
                    format!("opaque({:?}, {:?})", ty.domain.as_str(), ty.name.as_str())
                } else {
                    format!("{current:?}")
                }
            }
            None => "?".to_owned(),
        };
        out.push_str(&leaf);
        out.extend(std::iter::repeat_n(')', closing));
        out
    }

    fn shape(&mut self, shape: Option<&isoform::Array>) -> String {
        let Some(shape) = shape else {
            return "[...]".to_owned();
        };
        if shape.is_empty() {
            return String::new();
        }
        let dims: Vec<String> = shape
            .values()
            .iter()
            .map(
                |dim| match dim.as_object().and_then(|dim| dim.downcast_ref::<Dim>()) {
                    Some(symbol) => self.dim(symbol),
                    None if dim.is_none() => "?".to_owned(),
                    None => format!("{dim:?}"),
                },
            )
            .collect();
        format!("[{}]", dims.join(", "))
    }

    fn dim(&mut self, dim: &isoform::Ref<Dim>) -> String {
        let next = self.dims.len();
        let number = *self.dims.entry(dim.identity()).or_insert(next);
        if number == next {
            self.dim_names.push(dim.name.as_str().to_owned());
        }
        format!("d{number}")
    }
}

/// The elements of a tensor. The elements of a long tensor are abbreviated, with a
/// checksum.
pub(super) fn contents(tensor: &Tensor) -> String {
    let mut text = elements::abbreviated(tensor, WHOLE_TENSOR, FIRST_ELEMENTS);
    if elements::element_count(tensor) > WHOLE_TENSOR {
        text.push_str(&checksum(&Value::from(tensor.clone())));
    }
    text
}

/// The first digits of the digest of a constant: of its type, shape and elements.
pub(super) fn checksum(value: &Value) -> String {
    match CompareOptions::default().digest(value) {
        Ok(digest) => format!(" #{:.CHECKSUM_DIGITS$}", digest.to_string()),
        Err(_) => String::new(),
    }
}

fn element_type(elem: &Value) -> String {
    match elem.view() {
        ValueRef::DType(dtype) => dtype.to_string(),
        ValueRef::Str(name) => printable(name).into_owned(),
        _ => "?".to_owned(),
    }
}

/// A string in quotes, abbreviated and safe for the terminal.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

pub(super) fn quoted_bytes(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(TEXT_CHARS)];
    let dots = if shown.len() < bytes.len() { "..." } else { "" };
    format!("b\"{}\"{dots}", shown.escape_ascii())
}
