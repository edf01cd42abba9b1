//! Values from JSON text, node by node and without a tree of the text.
//!
//! A node is built as soon as its parts are, which for text written here is
//! where it stands. A node that refers to later ones is only checked and
//! skipped, and read again from its position when its parts are built.

use std::borrow::Cow;

use base64::prelude::{BASE64_STANDARD, Engine};
use hashbrown::HashMap;

use super::JsonReadOptions;
use super::data::{self, MAX_DIGITS};
use super::lexer::Lexer;
use super::writer::VOID;
use crate::container::{Array, Bytes, Dict, List, Shape, Tensor};
use crate::error::{Error, Result};
use crate::object::access::Poll;
use crate::object::field::Storage;
use crate::object::fill::Filler;
use crate::object::table;
use crate::registry::{Kind, Schema, field_hint};
use crate::serial::fit::{Fitter, map_of};
use crate::serial::linearize::is_literal;
use crate::serial::singletons::Recall;
use crate::value::{DType, Device, Value};

/// What reading of one text knows.
pub(super) struct Reader<'a> {
    lexer: Lexer<'a>,
    options: JsonReadOptions,
    nodes: Vec<Node>,
    /// Nodes that wait for later ones.
    waiting: Vec<u32>,
    /// Parts of the node that is being read that are not built yet.
    missing: Vec<u32>,
    /// Parts of the container that is being read.
    parts: Vec<Value>,
    kinds: HashMap<Cow<'a, str>, NodeKind, rapidhash::fast::RandomState>,
    plans: Vec<Plan>,
    fitter: Fitter,
    singletons: Recall,
    /// The data type that was read last: a program has few.
    dtype: Option<(Cow<'a, str>, DType)>,
    /// The node that is being read and its type, for messages.
    current: (u32, Option<Cow<'a, str>>),
}

enum Node {
    Built(Value),
    /// It starts at this position; `open` while its parts are being built.
    Waiting {
        start: usize,
        open: bool,
    },
}

/// What the type key of a node means.
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
    Array,
    List,
    Map,
    Dict,
    Shape,
    Tensor,
    /// A declared type, by position in the plans.
    Object(u32),
}

/// How the nodes of a declared type are read.
struct Plan {
    filler: Filler,
    is_singleton: bool,
}

/// Why reading ends.
enum Stop {
    /// Something is wrong with the node that is being read.
    Fault(Error),
    /// The error of user code, which is handed on unchanged.
    Hook(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Fault(error)
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, options: JsonReadOptions) -> Self {
        Reader {
            lexer: Lexer::new(text),
            options,
            nodes: Vec::new(),
            waiting: Vec::new(),
            missing: Vec::new(),
            parts: Vec::new(),
            kinds: HashMap::default(),
            plans: Vec::new(),
            fitter: Fitter::default(),
            singletons: Recall::default(),
            dtype: None,
            current: (0, None),
        }
    }

    /// The root and the metadata of the whole text.
    pub(super) fn document(mut self) -> Result<(Value, Option<Value>)> {
        let (root, metadata) = self.members()?;
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
    fn members(&mut self) -> Result<(u32, Option<Value>)> {
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
                    return Err(self.document_fault(&format!("'{key}' stands twice")));
                }
                _ if self.options.ignore_unknown_fields => {
                    self.outside(|reader| data::parse(&mut reader.lexer))?;
                }
                _ => return Err(self.document_fault(&format!("unknown member {key:?}"))),
            }
        }
        if self.lexer.peek().is_some() {
            return self.outside(|reader| Err(reader.lexer.unexpected("the end of the text")));
        }
        if !has_nodes {
            return Err(self.document_fault("missing member 'nodes'"));
        }
        let Some(root) = root else {
            return Err(self.document_fault("missing member 'root_index'"));
        };
        Ok((root, metadata))
    }

    /// Runs a part of reading that is about no node.
    fn outside<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        read(self)
            .map_err(|error| Error::new(error.kind(), format!("JSON graph: {}", error.message())))
    }

    fn document_fault(&self, what: &str) -> Error {
        Error::value_error(format!("JSON graph: {what}"))
    }

    fn all_nodes(&mut self) -> Result<()> {
        self.outside(|reader| reader.lexer.expect(b'['))?;
        let mut first = true;
        let mut poll = Poll::default();
        while self.outside(|reader| reader.lexer.more(first, b']'))? {
            first = false;
            poll.step_outside()?;
            let Ok(number) = u32::try_from(self.nodes.len()) else {
                return Err(self.document_fault(&format!("more than {} nodes", u32::MAX)));
            };
            let start = self.lexer.position();
            let node = match self.node(number)? {
                Some(value) => Node::Built(value),
                None => {
                    self.missing.clear();
                    self.waiting.push(number);
                    Node::Waiting { start, open: false }
                }
            };
            self.nodes.push(node);
        }
        Ok(())
    }

    /// Builds the nodes that refer to later ones.
    ///
    /// Every node is read at most twice more: once to find its missing parts,
    /// once when they are built. The stack holds at most one entry for each
    /// reference in the text.
    fn settle(&mut self) -> Result<()> {
        for first in std::mem::take(&mut self.waiting) {
            let mut stack = vec![first];
            while let Some(&number) = stack.last() {
                let Some(Node::Waiting { start, .. }) = self.nodes.get(number as usize) else {
                    stack.pop();
                    continue;
                };
                self.lexer.go_to(*start);
                if let Some(value) = self.node(number)? {
                    self.nodes[number as usize] = Node::Built(value);
                    stack.pop();
                    continue;
                }
                if let Some(Node::Waiting { open, .. }) = self.nodes.get_mut(number as usize) {
                    *open = true;
                }
                for part in std::mem::take(&mut self.missing) {
                    match self.nodes.get(part as usize) {
                        Some(Node::Waiting { open: true, .. }) => {
                            let cycle = Error::value_error("the node is part of itself");
                            return Err(self.at_node(cycle));
                        }
                        Some(_) => stack.push(part),
                        None => {
                            let count = self.nodes.len();
                            let outside = Error::value_error(format!(
                                "node {part} is referred to, and there are {count} nodes"
                            ));
                            return Err(self.at_node(outside));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes the text of a node; None when parts of it, which are in
    /// `missing` then, are not built yet.
    #[inline]
    fn node(&mut self, number: u32) -> Result<Option<Value>> {
        match self.try_node(number) {
            Ok(value) => Ok(value),
            Err(Stop::Hook(error)) => Err(error),
            Err(Stop::Fault(error)) => Err(self.at_node(error)),
        }
    }

    #[cold]
    fn at_node(&self, error: Error) -> Error {
        let (number, ty) = &self.current;
        let ty = ty.as_ref().map_or(String::new(), |ty| format!(" ({ty})"));
        let message = error.message();
        Error::new(
            error.kind(),
            format!("JSON graph: node {number}{ty}: {message}"),
        )
    }

    fn try_node(&mut self, number: u32) -> Result<Option<Value>, Stop> {
        self.current = (number, None);
        self.lexer.expect(b'{')?;
        let mut kind = None;
        // Where the data starts, as long as it has not been read.
        let mut data_start = None;
        let mut outcome = None;
        let mut first = true;
        while self.lexer.more(first, b'}')? {
            first = false;
            let key = self.lexer.string()?;
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
                    return Err(self.lexer.fail(&format!("'{key}' stands twice")).into());
                }
                _ if self.options.ignore_unknown_fields => {
                    data::parse(&mut self.lexer)?;
                }
                _ => {
                    let what = format!("unknown member {key:?} of a node");
                    return Err(self.lexer.fail(&what).into());
                }
            }
        }
        let Some(kind) = kind else {
            return Err(self.lexer.fail("missing member 'type' of a node").into());
        };
        if let Some(start) = data_start {
            let end = self.lexer.position();
            self.lexer.go_to(start);
            outcome = Some(self.content(kind)?);
            self.lexer.go_to(end);
        }
        match (outcome, kind) {
            (Some(outcome), _) => Ok(outcome),
            (None, NodeKind::None) => Ok(Some(Value::NONE)),
            (None, _) => Err(self.lexer.fail("missing member 'data' of a node").into()),
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
            "ffi.Array" => NodeKind::Array,
            "ffi.List" => NodeKind::List,
            "ffi.Map" => NodeKind::Map,
            "ffi.Dict" => NodeKind::Dict,
            "ffi.Shape" => NodeKind::Shape,
            "ffi.Tensor" => NodeKind::Tensor,
            declared => {
                let info = table::find(declared).filter(|info| !info.is_builtin());
                let Some(info) = info else {
                    return Err(Error::type_error(format!("unknown type {declared:?}")));
                };
                self.plans.push(Plan {
                    filler: Filler::new(info)?,
                    is_singleton: info.kind() == Kind::Singleton,
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
    fn content(&mut self, kind: NodeKind) -> Result<Option<Value>, Stop> {
        let value = match kind {
            NodeKind::Object(plan) => return self.object(plan as usize),
            NodeKind::Array | NodeKind::List | NodeKind::Map | NodeKind::Dict => {
                return Ok(self.container(kind)?);
            }
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
        Ok(Some(value))
    }

    #[inline]
    fn object(&mut self, plan: usize) -> Result<Option<Value>, Stop> {
        let Reader {
            lexer,
            nodes,
            missing,
            plans,
            fitter,
            ..
        } = self;
        let plan = &mut plans[plan];
        let info = plan.filler.info();
        if let Some(hooks) = info.file_hooks() {
            let data = data::parse(lexer)?;
            let object = hooks.from_json.call(&data).map_err(Stop::Hook)?;
            if !table::is_a(object.borrowed().type_index(), info.index()) {
                let got = object.type_info().key();
                let what = format!("the hook gave an object of {got}");
                return Err(Error::type_error(what).into());
            }
            return Ok(Some(object.into()));
        }
        lexer.expect(b'{')?;
        let mut position = 0;
        let mut first = true;
        let mut complete = true;
        while lexer.more(first, b'}')? {
            first = false;
            let name = lexer.string()?;
            lexer.expect(b':')?;
            let fields = info.fields();
            // Fields usually come in the order of declaration.
            if fields
                .get(position)
                .is_none_or(|field| field.name() != name)
            {
                match info.field_index(&name) {
                    Some(found) => position = found,
                    None if self.options.ignore_unknown_fields => {
                        data::parse(lexer)?;
                        continue;
                    }
                    None => {
                        let hint = field_hint(info, &name);
                        let what = format!("unknown field '{name}'{hint}");
                        return Err(Error::value_error(what).into());
                    }
                }
            }
            let storage = info.slots[position].storage;
            let value = if is_literal(storage) {
                match storage {
                    Storage::Int => lexer.int()?.into(),
                    Storage::Float => lexer.float()?.into(),
                    Storage::Bool => lexer.bool()?.into(),
                    _ => take_dtype(lexer, &mut self.dtype)?.into(),
                }
            } else if lexer.peek() == Some(b'n')
                && matches!(info.fields()[position].schema(), Schema::None)
            {
                // Some writers have literals here, too.
                null(lexer)?
            } else {
                let part = lexer.index()?;
                match nodes.get(part as usize) {
                    Some(Node::Built(value)) => value.clone(),
                    _ => {
                        missing.push(part);
                        complete = false;
                        position += 1;
                        continue;
                    }
                }
            };
            let set = plan.filler.set(position, value, fitter);
            if !set.map_err(|error| in_field(&name, &error))? {
                return Err(lexer.fail(&format!("field '{name}' stands twice")).into());
            }
            position += 1;
        }
        if !complete {
            plan.filler.reset();
            return Ok(None);
        }
        let object = plan.filler.finish(fitter)?;
        if plan.is_singleton {
            return Ok(Some(self.singletons.resolve(object).into()));
        }
        Ok(Some(object.into()))
    }

    fn container(&mut self, kind: NodeKind) -> Result<Option<Value>> {
        self.parts.clear();
        self.lexer.expect(b'[')?;
        let mut first = true;
        let mut count = 0usize;
        while self.lexer.more(first, b']')? {
            first = false;
            count += 1;
            let part = self.lexer.index()?;
            match self.nodes.get(part as usize) {
                Some(Node::Built(value)) => self.parts.push(value.clone()),
                _ => self.missing.push(part),
            }
        }
        let is_map = matches!(kind, NodeKind::Map | NodeKind::Dict);
        if is_map && count % 2 == 1 {
            let what = format!("expected keys and values in turn, got {count} numbers");
            return Err(self.lexer.fail(&what));
        }
        if !self.missing.is_empty() {
            self.parts.clear();
            return Ok(None);
        }
        let parts = self.parts.drain(..);
        Ok(Some(match kind {
            NodeKind::Array => parts.collect::<Array>().into(),
            NodeKind::List => parts.collect::<List>().into(),
            _ => {
                let map = map_of(parts)?;
                match kind {
                    NodeKind::Map => map.into(),
                    _ => Dict::<Value, Value>::of(map).into(),
                }
            }
        }))
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
    if let Some((known, dtype)) = last
        && *known == name
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
    match lexer.word("null") {
        true => Ok(Value::NONE),
        false => Err(lexer.unexpected("null")),
    }
}

#[cold]
fn in_field(name: &str, error: &Error) -> Error {
    Error::type_error(format!("field '{name}': {}", error.message()))
}
