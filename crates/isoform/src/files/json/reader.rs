//! Reads values from JSON text, node by node and without a syntax tree.
//!
//! Nodes with parts are noted first, to lay out their objects in the order of visit.
//! The build starts once all nodes are known: in the order of the text, except that a
//! node referring to later nodes comes after these nodes. Errors in a node are reported
//! before errors in the text after the node.

mod build;

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine};
use hashbrown::HashMap;

use super::data;
use super::lexer::Lexer;
use super::options::JsonReadOptions;
use super::scalars::MAX_DIGITS;
use super::writer::VOID;
use crate::files::layout::{NodeTable, order_of_visit};
use crate::files::node_reader::{NodeReader, NodeType, ReadFailure, at_node};
use crate::kernel::container::{Bytes, ContainerType, Shape, Tensor};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::field::Inline;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::types::{Schema, file_field_hint};
use crate::kernel::value::{DType, Device, Value};

/// The state of reading one text.
pub(super) struct Reader<'a> {
    lexer: Lexer<'a>,
    options: JsonReadOptions,
    nodes: Vec<Node>,
    /// The contents of the noted nodes.
    notes: Vec<Note>,
    literals: Vec<Value>,
    /// The node being read, if it has parts.
    unfinished: Option<Unfinished>,
    outline: NodeTable,
    /// True if a node refers to a later node.
    looks_ahead: bool,
    /// Nodes waiting for later nodes.
    waiting: Vec<u32>,
    /// Missing parts of the node being built.
    missing: Vec<u32>,
    /// Parts of the container being built.
    parts: Vec<Value>,
    kinds: HashMap<Cow<'a, str>, NodeKind, rapidhash::fast::RandomState>,
    plans: Vec<Plan>,
    built: NodeReader,
    /// The data type read last: a program has few.
    dtype: Option<(Cow<'a, str>, DType)>,
    /// The node being read and its type, for messages.
    current: (u32, Option<Cow<'a, str>>),
}

enum Node {
    Built(Value),
    Noted(Noted),
    /// Noted, and its parts are being built.
    Open(Noted),
}

/// A node with parts, and the place of its notes.
#[derive(Clone, Copy)]
struct Noted {
    kind: NodeKind,
    first: usize,
    end: usize,
}

/// A partly read node.
#[derive(Clone, Copy)]
struct Unfinished {
    kind: NodeKind,
    first: usize,
    /// True if its data has been read.
    complete: bool,
}

/// An item of a field or a container.
#[derive(Clone, Copy)]
struct Note {
    /// The position of the field, and whether the field is inline.
    field: u32,
    /// The number of a node or of a literal.
    number: u32,
}

/// In a note's field: a literal.
const LITERAL: u32 = 1 << 31;
/// Replaces a note's field: the data for the hook.
const HOOKED: u32 = u32::MAX;

/// The meaning of a node's type key.
#[derive(Clone, Copy)]
enum NodeKind {
    None,
    Bool,
    Int,
    Float,
    BigInt,
    Str,
    Bytes,
    DType,
    Device,
    Shape,
    Tensor,
    Container(TypeIndex),
    /// A declared type, by position in the plans.
    Object(u32),
}

/// The way to read nodes of a declared type.
struct Plan {
    ty: NodeType,
    /// True if the order of visit of its parts differs from the order of declaration.
    reorders: bool,
    /// True if the names of its fields appear in the text without escapes.
    plain_names: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, options: JsonReadOptions) -> Self {
        Reader {
            lexer: Lexer::new(text),
            options,
            nodes: Vec::new(),
            notes: Vec::new(),
            literals: Vec::new(),
            unfinished: None,
            outline: NodeTable::default(),
            looks_ahead: false,
            waiting: Vec::new(),
            missing: Vec::new(),
            parts: Vec::new(),
            kinds: HashMap::default(),
            plans: Vec::new(),
            built: NodeReader::default(),
            dtype: None,
            current: (0, None),
        }
    }

    /// The root and the metadata of the whole text.
    pub(super) fn document(mut self) -> Result<(Value, Option<Value>)> {
        let members = match self.members() {
            Err(ReadFailure::Hook(error)) => return Err(error),
            Err(ReadFailure::Fault(error)) => Err(error),
            Ok(members) => {
                let outline = std::mem::take(&mut self.outline);
                self.built.layout = outline.lay_out(members.0 as usize, self.looks_ahead)?;
                Ok(members)
            }
        };
        self.build_all()?;
        let (root, metadata) = members?;
        self.settle()?;
        match self.nodes.get_mut(root as usize) {
            Some(Node::Built(value)) => Ok((std::mem::take(value), metadata)),
            _ => Err(Error::value_error(format!(
                "JSON graph: the root is node {root}, and there are {} nodes",
                self.nodes.len()
            ))),
        }
    }

    /// Reads the text once from start to end.
    fn members(&mut self) -> Result<(u32, Option<Value>), ReadFailure> {
        let (mut root, mut metadata, mut has_nodes) = (None, None, false);
        self.outside(|reader| reader.lexer.expect(b'{'))?;
        let mut first = true;
        while self.outside(|reader| reader.lexer.more(first, b'}'))? {
            first = false;
            let key = self.outside(|reader| {
                let key = reader.lexer.string()?;
                reader.lexer.expect(b':')?;
                Ok(key)
            })?;
            match key.as_ref() {
                "root_index" if root.is_none() => {
                    root = Some(self.outside(|reader| reader.lexer.index())?);
                }
                "nodes" if !has_nodes => {
                    has_nodes = true;
                    self.all_nodes()?;
                }
                "metadata" if metadata.is_none() => {
                    metadata = Some(self.outside(|reader| data::parse(&mut reader.lexer))?);
                }
                "root_index" | "nodes" | "metadata" => {
                    return Err(self
                        .document_fault(&format!("'{key}' is given twice"))
                        .into());
                }
                _ if self.options.ignore_unknown_fields => {
                    self.outside(|reader| data::parse(&mut reader.lexer))?;
                }
                _ => {
                    return Err(self
                        .document_fault(&format!("unknown member {key:?}"))
                        .into());
                }
            }
        }
        if self.lexer.peek().is_some() {
            self.outside(|reader| Err(reader.lexer.unexpected("the end of the text")))?;
        }
        if !has_nodes {
            return Err(self.document_fault("missing member 'nodes'").into());
        }
        let Some(root) = root else {
            return Err(self.document_fault("missing member 'root_index'").into());
        };
        Ok((root, metadata))
    }

    /// Runs a part of reading outside of all nodes.
    fn outside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        read(self)
            .map_err(|error| Error::new(error.kind(), format!("JSON graph: {}", error.message())))
    }

    fn document_fault(&self, what: &str) -> Error {
        Error::value_error(format!("JSON graph: {what}"))
    }

    fn all_nodes(&mut self) -> Result<(), ReadFailure> {
        self.outside(|reader| reader.lexer.expect(b'['))?;
        let mut first = true;
        let mut poll = Poll::default();
        while self.outside(|reader| reader.lexer.more(first, b']'))? {
            first = false;
            poll.step_outside().map_err(ReadFailure::Hook)?;
            let Ok(number) = u32::try_from(self.nodes.len()) else {
                let what = format!("more than {} nodes", u32::MAX);
                return Err(self.document_fault(&what).into());
            };
            match self.take_node(number) {
                Ok(node) => self.nodes.push(node),
                Err(error) => return Err(self.at_node(&error).into()),
            }
            self.unfinished = None;
        }
        Ok(())
    }

    #[cold]
    fn at_node(&self, error: &Error) -> Error {
        let (number, ty) = &self.current;
        at_node("JSON graph", *number as usize, ty.as_deref(), error, "")
    }

    /// Takes the text of a node.
    fn take_node(&mut self, number: u32) -> Result<Node> {
        self.current = (number, None);
        self.lexer.expect(b'{')?;
        let mut kind = None;
        // The start of the data, until the data is read.
        let mut data_start = None;
        let mut outcome = None;
        let mut first = true;
        while self.lexer.more(first, b'}')? {
            first = false;
            let key = if self.lexer.eat_string("type") {
                Cow::Borrowed("type")
            } else if self.lexer.eat_string("data") {
                Cow::Borrowed("data")
            } else {
                self.lexer.string()?
            };
            self.lexer.expect(b':')?;
            match key.as_ref() {
                "type" if kind.is_none() => kind = Some(self.kind()?),
                "data" if data_start.is_none() && outcome.is_none() => match kind {
                    Some(kind) => outcome = Some(self.content(kind)?),
                    None => {
                        data_start = Some(self.lexer.position());
                        data::parse(&mut self.lexer)?;
                    }
                },
                "type" | "data" => {
                    return Err(self.lexer.fail(&format!("'{key}' is given twice")));
                }
                _ if self.options.ignore_unknown_fields => {
                    data::parse(&mut self.lexer)?;
                }
                _ => {
                    let what = format!("unknown member {key:?} of a node");
                    return Err(self.lexer.fail(&what));
                }
            }
        }
        let Some(kind) = kind else {
            return Err(self.lexer.fail("missing member 'type' of a node"));
        };
        if let Some(start) = data_start {
            let end = self.lexer.position();
            self.lexer.go_to(start);
            outcome = Some(self.content(kind)?);
            self.lexer.go_to(end);
        }
        match (outcome, kind) {
            (Some(node), _) => Ok(node),
            (None, NodeKind::None) => {
                self.outline.node(None);
                Ok(Node::Built(Value::NONE))
            }
            (None, _) => Err(self.lexer.fail("missing member 'data' of a node")),
        }
    }

    /// Takes a type key.
    #[inline]
    fn kind(&mut self) -> Result<NodeKind> {
        let key = self.lexer.string()?;
        if let Some(&kind) = self.kinds.get(&key) {
            self.current.1 = Some(key);
            return Ok(kind);
        }
        self.new_kind(key)
    }

    #[cold]
    fn new_kind(&mut self, key: Cow<'a, str>) -> Result<NodeKind> {
        let kind = match key.as_ref() {
            "None" => NodeKind::None,
            "bool" => NodeKind::Bool,
            "int" => NodeKind::Int,
            "float" => NodeKind::Float,
            "ffi.BigInt" => NodeKind::BigInt,
            "ffi.String" => NodeKind::Str,
            "ffi.Bytes" => NodeKind::Bytes,
            "DataType" => NodeKind::DType,
            "Device" => NodeKind::Device,
            "ffi.Shape" => NodeKind::Shape,
            "ffi.Tensor" => NodeKind::Tensor,
            name if let Some(container) = ContainerType::of_json(name) => {
                NodeKind::Container(container.index)
            }
            declared => {
                let ty = NodeType::find(declared)?;
                let info = ty.info();
                let escaped = |byte: u8| matches!(byte, b'"' | b'\\' | 0..0x20);
                let fields: Vec<u32> = (0..info.fields().len() as u32).collect();
                self.plans.push(Plan {
                    ty,
                    reorders: order_of_visit(info, &fields).is_some(),
                    plain_names: !info
                        .fields()
                        .iter()
                        .any(|field| field.name().bytes().any(escaped)),
                });
                NodeKind::Object(self.plans.len() as u32 - 1)
            }
        };
        self.kinds.insert(key.clone(), kind);
        self.current.1 = Some(key);
        Ok(kind)
    }

    /// Takes the data of a node.
    #[inline]
    fn content(&mut self, kind: NodeKind) -> Result<Node> {
        let value = match kind {
            NodeKind::Object(plan) => return self.note_object(plan),
            NodeKind::Container(index) => return self.note_container(kind, index),
            NodeKind::Int => self.lexer.int()?.into(),
            NodeKind::Float => self.lexer.float()?.into(),
            NodeKind::Bool => self.lexer.bool()?.into(),
            NodeKind::Str => self.lexer.string()?.as_ref().into(),
            NodeKind::None => null(&mut self.lexer)?,
            NodeKind::DType => self.dtype()?.into(),
            NodeKind::BigInt => self.big_int()?,
            NodeKind::Bytes => Bytes::from(self.base64()?).into(),
            NodeKind::Device => self.device()?,
            NodeKind::Shape => Shape::from(self.ints()?).into(),
            NodeKind::Tensor => self.tensor()?,
        };
        self.outline.node(None);
        Ok(Node::Built(value))
    }

    /// Begins to note a node.
    #[inline(always)]
    fn note(&mut self, kind: NodeKind) -> usize {
        let first = self.notes.len();
        self.unfinished = Some(Unfinished {
            kind,
            first,
            complete: false,
        });
        first
    }

    /// Completes what [`note`](Self::note) began.
    #[inline(always)]
    fn noted(&mut self, kind: NodeKind, first: usize) -> Node {
        self.unfinished = Some(Unfinished {
            kind,
            first,
            complete: true,
        });
        let end = self.notes.len();
        Node::Noted(Noted { kind, first, end })
    }

    /// Notes a part of the node being read.
    #[inline(always)]
    fn note_part(&mut self, field: u32) -> Result<()> {
        let number = self.lexer.index()?;
        self.looks_ahead |= number as usize >= self.nodes.len();
        self.outline.part(number);
        self.notes.push(Note { field, number });
        Ok(())
    }

    #[inline(always)]
    fn note_literal(&mut self, field: u32, value: Value) -> Result<()> {
        let Ok(number) = u32::try_from(self.literals.len()) else {
            return Err(Error::value_error(format!(
                "expected at most {} literals in all nodes",
                u32::MAX
            )));
        };
        self.literals.push(value);
        self.notes.push(Note { field, number });
        Ok(())
    }

    #[inline]
    fn note_object(&mut self, number: u32) -> Result<Node> {
        let plan = &self.plans[number as usize];
        let (info, reorders) = (plan.ty.info(), plan.reorders);
        let plain_names = plan.plain_names;
        let block = plan.ty.block();
        let kind = NodeKind::Object(number);
        let start = self.note(kind);
        if info.file_hooks().is_some() {
            self.outline.node(None);
            let data = data::parse(&mut self.lexer)?;
            self.note_literal(HOOKED, data)?;
            return Ok(self.noted(kind, start));
        }
        self.outline.node(block);
        self.lexer.expect(b'{')?;
        // The position after the last field, and after all fields already read.
        let (mut position, mut behind) = (0, 0);
        let mut first = true;
        let mut in_order = true;
        while self.lexer.more(first, b'}')? {
            first = false;
            // Fields usually come in the order of declaration.
            let next = info.fields().get(position).filter(|_| plain_names);
            if next.is_some_and(|field| self.lexer.eat_string(field.name())) {
                self.lexer.expect(b':')?;
            } else {
                let name = self.lexer.string()?;
                self.lexer.expect(b':')?;
                match info.field_index_in_file(&name) {
                    Some(index) => position = index,
                    None if self.options.ignore_unknown_fields => {
                        data::parse(&mut self.lexer)?;
                        continue;
                    }
                    None => {
                        let hint = file_field_hint(info, &name);
                        let what = format!("unknown field '{name}'{hint}");
                        return Err(Error::value_error(what));
                    }
                }
            }
            let mut twice = false;
            if position < behind {
                in_order = false;
                let mut noted = self.notes[start..].iter();
                twice = noted.any(|note| note.field & !LITERAL == position as u32);
            }
            let (field, storage) = (position as u32, info.slots[position].storage);
            if let Some(inline) = storage.inline() {
                let lexer = &mut self.lexer;
                let value = match inline {
                    Inline::Int => lexer.int()?.into(),
                    Inline::Float => lexer.float()?.into(),
                    Inline::Bool => lexer.bool()?.into(),
                    Inline::DType => take_dtype(lexer, &mut self.dtype)?.into(),
                };
                self.note_literal(field | LITERAL, value)?;
            } else if self.lexer.peek() == Some(b'n')
                && matches!(info.fields()[position].schema(), Schema::None)
            {
                // Some writers have literals in this place, too.
                let none = null(&mut self.lexer)?;
                self.note_literal(field | LITERAL, none)?;
            } else {
                self.note_part(field)?;
            }
            if twice {
                let name = info.fields()[position].name();
                return Err(self.lexer.fail(&format!("field '{name}' is given twice")));
            }
            position += 1;
            behind = behind.max(position);
        }
        if reorders || !in_order {
            let notes = self.notes[start..].iter();
            let parts = notes.filter(|note| note.field & LITERAL == 0);
            let fields: Vec<u32> = parts.map(|note| note.field).collect();
            if let Some(order) = order_of_visit(info, &fields) {
                self.outline.reorder(&order);
            }
        }
        Ok(self.noted(kind, start))
    }

    fn note_container(&mut self, kind: NodeKind, index: TypeIndex) -> Result<Node> {
        let start = self.note(kind);
        self.outline.container(index);
        self.lexer.expect(b'[')?;
        let mut first = true;
        while self.lexer.more(first, b']')? {
            first = false;
            self.note_part(0)?;
        }
        let count = self.notes.len() - start;
        if count % 2 == 1 && ContainerType::of(index).is_some_and(ContainerType::is_mapping) {
            let what = format!("expected keys and values in turn, got {count} numbers");
            return Err(self.lexer.fail(&what));
        }
        Ok(self.noted(kind, start))
    }

    fn dtype(&mut self) -> Result<DType> {
        take_dtype(&mut self.lexer, &mut self.dtype)
    }

    fn big_int(&mut self) -> Result<Value> {
        let start = self.lexer.position();
        let digits = self.lexer.string()?;
        data::big(&digits).ok_or_else(|| {
            self.lexer.go_to(start);
            let what = format!("expected a string of 1 to {MAX_DIGITS} decimal digits");
            self.lexer.fail(&what)
        })
    }

    fn base64(&mut self) -> Result<Vec<u8>> {
        let start = self.lexer.position();
        let text = self.lexer.string()?;
        BASE64_STANDARD.decode(text.as_bytes()).map_err(|error| {
            self.lexer.go_to(start);
            self.lexer.fail(&format!("expected base64: {error}"))
        })
    }

    fn ints(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        self.lexer.expect(b'[')?;
        while self.lexer.more(numbers.is_empty(), b']')? {
            numbers.push(self.lexer.int()?);
        }
        Ok(numbers)
    }

    fn device(&mut self) -> Result<Value> {
        let numbers = self.ints()?;
        let parts: Option<Vec<u32>> = numbers.iter().map(|&n| u32::try_from(n).ok()).collect();
        match parts.as_deref() {
            Some(&[kind, ordinal]) => Ok(Device::new(kind, ordinal).into()),
            _ => Err(self.lexer.fail(&format!(
                "expected the kind and the ordinal of a device, got {:?}",
                &numbers[..numbers.len().min(4)]
            ))),
        }
    }

    fn tensor(&mut self) -> Result<Value> {
        let (mut dtype, mut shape, mut bytes) = (None, None, None);
        self.lexer.expect(b'{')?;
        let mut first = true;
        while self.lexer.more(first, b'}')? {
            first = false;
            let key = self.lexer.string()?;
            self.lexer.expect(b':')?;
            match key.as_ref() {
                "dtype" if dtype.is_none() => dtype = Some(self.dtype()?),
                "shape" if shape.is_none() => shape = Some(self.ints()?),
                "data" if bytes.is_none() => bytes = Some(self.base64()?),
                _ => {
                    let what = format!("unknown or repeated member {key:?} of a tensor");
                    return Err(self.lexer.fail(&what));
                }
            }
        }
        match (dtype, shape, bytes) {
            (Some(dtype), Some(shape), Some(bytes)) => Ok(Tensor::new(dtype, shape, bytes)?.into()),
            _ => Err(self
                .lexer
                .fail("expected dtype, shape and data of a tensor")),
        }
    }
}

fn take_dtype<'a>(
    lexer: &mut Lexer<'a>,
    last: &mut Option<(Cow<'a, str>, DType)>,
) -> Result<DType> {
    let start = lexer.position();
    let name = lexer.string()?;
    if let Some((last_name, dtype)) = last
        && *last_name == name
    {
        return Ok(*dtype);
    }
    let dtype = if name.is_empty() {
        VOID
    } else {
        name.parse().map_err(|error: Error| {
            lexer.go_to(start);
            lexer.fail(error.message())
        })?
    };
    *last = Some((name, dtype));
    Ok(dtype)
}

fn null(lexer: &mut Lexer<'_>) -> Result<Value> {
    if lexer.word("null") {
        Ok(Value::NONE)
    } else {
        Err(lexer.unexpected("null"))
    }
}
