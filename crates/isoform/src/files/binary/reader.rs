//! Values from bytes, node by node.

use std::ops::ControlFlow;

use num_bigint::BigInt;

use super::format::{
    APART, BinaryReadOptions, CHECKSUM, Literal, MAGIC, VERSION, checksum, container, record,
};
use super::input::Input;
use crate::files::json::read_data;
use crate::files::layout::{NodeTable, order_of_visit};
use crate::files::node_reader::{NodeReader, NodeType, ReadFailure, at_node};
use crate::kernel::container::{Bytes, ContainerType, Shape, Tensor};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Poll;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::types::file_field_hint;
use crate::kernel::value::{Device, Value};

/// The state of reading one file.
pub(super) struct Reader<'a> {
    pub(super) input: Input<'a>,
    options: BinaryReadOptions,
    nodes: Vec<Value>,
    built: NodeReader,
    plans: Vec<Plan<'a>>,
    /// The type of the object being read, for messages.
    current: Option<&'static str>,
    /// The elements of the next tensors, if they are not among the records.
    apart: Option<std::vec::IntoIter<bytes::Bytes>>,
}

/// The way to read objects of one type of the file.
struct Plan<'a> {
    /// As the file names the type.
    key: &'a str,
    ty: NodeType,
    // In the order of the file, with the position in the type; None for a field missing
    // in the type.
    fields: Box<[(Literal, Option<u32>)]>,
    /// The parts in the order of visit, by their order in the file, if the two
    /// differ.
    order: Option<Box<[u32]>>,
    hooked: bool,
}

impl<'a> Reader<'a> {
    /// Checks the header and the end around the records; `elements` are those of tensors
    /// that were written apart.
    pub(super) fn new(
        bytes: &'a [u8],
        options: BinaryReadOptions,
        elements: Option<Vec<bytes::Bytes>>,
    ) -> Result<Self> {
        let fail = |what: String| Err(Error::value_error(format!("binary form: {what}")));
        let Some(rest) = bytes.strip_prefix(&MAGIC) else {
            return fail(match bytes.trim_ascii_start().first() {
                Some(b'{' | b'[') => {
                    "the bytes begin like JSON; read a JSON graph with from_json_graph_str in \
                     Python, from_json_graph in Rust, and the JSON of a patch or difference with \
                     its from_json"
                        .to_owned()
                }
                _ => "the bytes do not start as expected".to_owned(),
            });
        };
        match rest.first() {
            Some(&VERSION) if elements.is_none() => {}
            Some(&APART) if elements.is_some() => {}
            Some(&APART) => {
                return fail("the elements of its tensors are kept beside the bytes".to_owned());
            }
            Some(other) => return fail(format!("expected version {VERSION}, got {other}")),
            None => return fail(format!("expected version {VERSION}, got the end")),
        }
        let frame = MAGIC.len() + 1;
        let content = bytes
            .len()
            .checked_sub(CHECKSUM)
            .filter(|&end| end >= frame);
        let sound = content.filter(|&end| checksum(&bytes[..end])[..] == bytes[end..]);
        let Some(end) = sound else {
            return fail("the checksum differs, the bytes were changed or cut".to_owned());
        };
        Ok(Reader {
            input: Input {
                bytes: &bytes[..end],
                at: frame,
            },
            options,
            nodes: Vec::new(),
            built: NodeReader::default(),
            plans: Vec::new(),
            current: None,
            apart: elements.map(Vec::into_iter),
        })
    }

    /// The root.
    pub(super) fn value(mut self) -> Result<Value> {
        self.lay_out()?;
        let mut poll = Poll::default();
        loop {
            poll.step_outside()?;
            match self.record() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(ReadFailure::Hook(error)) => return Err(error),
                Err(ReadFailure::Fault(error)) => return Err(self.at_node(&error)),
            }
        }
        let rest = self.input.rest();
        if rest > 0 {
            return Err(Error::value_error(format!(
                "binary form: {rest} bytes after the last record"
            )));
        }
        let left = self.apart.map_or(0, |left| left.len());
        if left > 0 {
            return Err(Error::value_error(format!(
                "binary form: {left} buffers more than tensors"
            )));
        }
        let root = self.nodes.pop();
        root.ok_or_else(|| Error::value_error("binary form: there is no node"))
    }

    /// Scans all records once without building objects, and returns to the first
    /// record. For a malformed record, there is no layout, and the build reports the
    /// error.
    #[inline(never)]
    fn lay_out(&mut self) -> Result<()> {
        let start = self.input.at;
        // Most nodes are objects with one or two parts.
        let mut outline = NodeTable::with_capacity(self.input.rest() / 3);
        let mut poll = Poll::default();
        loop {
            poll.step_outside()?;
            match self.outline(&mut outline) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => {
                    self.nodes.reserve_exact(outline.len());
                    let root = outline.len().saturating_sub(1);
                    self.built.layout = outline.lay_out(root, false)?;
                    break;
                }
                Err(_told_later) => break,
            }
        }
        self.input.at = start;
        self.plans.clear();
        Ok(())
    }

    /// Adds the node of the next record to the outline.
    #[inline(always)]
    fn outline(&mut self, outline: &mut NodeTable) -> Result<ControlFlow<()>> {
        let number = self.input.number()?;
        let Some(plan) = number.checked_sub(record::FIRST_OBJECT) else {
            return self.outline_builtin(number, outline);
        };
        let plan = usize::try_from(plan).ok();
        let Some(plan) = plan.and_then(|plan| self.plans.get(plan)) else {
            return Err(Error::value_error("an unknown type"));
        };
        let (input, own) = (&mut self.input, outline.len());
        if plan.hooked {
            outline.node(None);
            input.content()?;
            return Ok(ControlFlow::Continue(()));
        }
        outline.node(plan.ty.block());
        for (literal, position) in &plan.fields {
            match literal {
                Literal::Reference => {
                    let part = input.reference(own)?;
                    if position.is_some() {
                        outline.part(part as u32);
                    }
                }
                literal => skip_literal(input, *literal)?,
            }
        }
        if let Some(order) = &plan.order {
            outline.reorder(order);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn outline_builtin(&mut self, number: u64, outline: &mut NodeTable) -> Result<ControlFlow<()>> {
        let (input, own) = (&mut self.input, outline.len());
        match number {
            record::END => return Ok(ControlFlow::Break(())),
            record::TYPE => {
                self.new_type()?;
                return Ok(ControlFlow::Continue(()));
            }
            _ => {}
        }
        if let Some(index) = container(number)
            && let Some(container) = ContainerType::of(index)
        {
            outline.container(index);
            for _ in 0..input.count()? * container.parts_per_element() {
                outline.part(input.reference(own)? as u32);
            }
            return Ok(ControlFlow::Continue(()));
        }
        outline.node(None);
        skip_plain(input, number, self.apart.is_some())?;
        Ok(ControlFlow::Continue(()))
    }

    #[cold]
    fn at_node(&self, error: &Error) -> Error {
        let place = format!(" (byte {})", self.input.at);
        at_node("binary form", self.nodes.len(), self.current, error, &place)
    }

    #[inline(always)]
    fn record(&mut self) -> Result<ControlFlow<()>, ReadFailure> {
        self.current = None;
        let number = self.input.number()?;
        let value = if number >= record::FIRST_OBJECT {
            self.object(number - record::FIRST_OBJECT)?
        } else {
            match number {
                record::END => return Ok(ControlFlow::Break(())),
                record::TYPE => {
                    self.new_type()?;
                    return Ok(ControlFlow::Continue(()));
                }
                _ => match container(number) {
                    Some(index) => self.container(index)?,
                    None => self.plain(number)?,
                },
            }
        };
        self.nodes.push(value);
        Ok(ControlFlow::Continue(()))
    }

    fn new_type(&mut self) -> Result<()> {
        let key = self.input.text()?;
        let ty = NodeType::find(key)?;
        let info = ty.info();
        self.current = Some(info.key());
        // Two keys of the file may name one type: its own and an alias.
        if self.plans.iter().any(|plan| plan.key == key) {
            return Err(Error::value_error("the type is declared twice"));
        }
        let hooked = self.input.bool()?;
        if hooked != info.file_hooks().is_some() {
            let (then, now) = if hooked { ("a", "no") } else { ("no", "a") };
            return Err(Error::type_error(format!(
                "the type had {then} hook for files when the file was written, and has {now} hook"
            )));
        }
        let count = self.input.count()?;
        let mut fields = Vec::new();
        for _ in 0..count {
            let name = self.input.text()?;
            let position = info.field_index_in_file(name);
            if position.is_none() && !self.options.ignore_unknown_fields {
                let hint = file_field_hint(info, name);
                return Err(Error::value_error(format!("unknown field '{name}'{hint}")));
            }
            let literal = self.input.byte()?;
            let Some(&literal) = Literal::ALL.get(usize::from(literal)) else {
                return Err(Error::value_error(format!(
                    "unknown kind {literal} of a field"
                )));
            };
            let position = position.map(|position| position as u32);
            if position.is_some() && fields.iter().any(|(_, other)| *other == position) {
                return Err(Error::value_error(format!("field '{name}' is given twice")));
            }
            fields.push((literal, position));
        }
        let parts: Vec<u32> = fields
            .iter()
            .filter(|(literal, _)| *literal == Literal::Reference)
            .filter_map(|(_, position)| *position)
            .collect();
        self.plans.push(Plan {
            key,
            ty,
            fields: fields.into(),
            order: order_of_visit(info, &parts),
            hooked,
        });
        Ok(())
    }

    #[inline]
    fn object(&mut self, plan: u64) -> Result<Value, ReadFailure> {
        let count = self.plans.len();
        let plan = usize::try_from(plan).ok();
        let Some(plan) = plan.and_then(|plan| self.plans.get_mut(plan)) else {
            let what = format!("an object of a type that is not among the {count} so far");
            return Err(Error::value_error(what).into());
        };
        self.current = Some(plan.ty.info().key());
        if plan.hooked {
            return plan.ty.make(&read_data(self.input.text()?)?);
        }
        let number = self.nodes.len();
        for (literal, position) in &plan.fields {
            let value = match literal {
                Literal::Reference => {
                    let part = self.input.reference(number)?;
                    if position.is_none() {
                        continue;
                    }
                    self.built.layout.part(part, &mut self.nodes[part])
                }
                Literal::Int => self.input.int()?.into(),
                Literal::Float => self.input.float()?.into(),
                Literal::Bool => self.input.bool()?.into(),
                Literal::DType => self.input.dtype()?.into(),
            };
            let Some(position) = *position else {
                continue;
            };
            // Repeated fields were refused with the type.
            self.built.set(&mut plan.ty, position as usize, value)?;
        }
        Ok(self.built.finish(&mut plan.ty, number)?)
    }

    fn container(&mut self, index: TypeIndex) -> Result<Value> {
        let per_element = ContainerType::of(index).map_or(1, ContainerType::parts_per_element);
        let count = self.input.count()? * per_element;
        let own = self.nodes.len();
        // The count is at most the number of bytes left.
        let mut parts = Vec::with_capacity(count.min(self.input.rest()));
        for _ in 0..count {
            let part = self.input.reference(own)?;
            parts.push(self.built.layout.part(part, &mut self.nodes[part]));
        }
        self.built.layout.fill(own, index, &mut parts)
    }

    fn plain(&mut self, number: u64) -> Result<Value> {
        let input = &mut self.input;
        Ok(match number {
            record::NONE => Value::NONE,
            record::FALSE => false.into(),
            record::TRUE => true.into(),
            record::INT => input.int()?.into(),
            record::FLOAT => input.float()?.into(),
            record::STR => input.text()?.into(),
            record::BYTES => Bytes::from(input.content()?.to_vec()).into(),
            record::BIG_INT => BigInt::from_signed_bytes_le(input.content()?).into(),
            record::DTYPE => input.dtype()?.into(),
            record::DEVICE => Device::new(input.small()?, input.small()?).into(),
            record::SHAPE => Shape::from(input.dims()?).into(),
            record::TENSOR => {
                let (dtype, dims) = (input.dtype()?, input.dims()?);
                match &mut self.apart {
                    Some(elements) => {
                        let elements = elements.next().ok_or_else(|| {
                            Error::value_error("expected a buffer for each tensor, got fewer")
                        })?;
                        Tensor::new(dtype, dims, elements)?.into()
                    }
                    None => Tensor::new(dtype, dims, input.content()?.to_vec())?.into(),
                }
            }
            _ => return Err(Error::value_error(format!("unknown record {number}"))),
        })
    }
}

/// Passes a plain value in an object's record.
#[inline]
pub(super) fn skip_literal(input: &mut Input<'_>, literal: Literal) -> Result<()> {
    match literal {
        Literal::Reference | Literal::Int => drop(input.number()?),
        Literal::Float => drop(input.float()?),
        Literal::Bool => drop(input.byte()?),
        Literal::DType => drop(input.dtype()?),
    }
    Ok(())
}

/// Passes the contents of a record other than those of containers and objects; the elements of
/// tensors may be apart.
#[inline]
pub(super) fn skip_plain(input: &mut Input<'_>, number: u64, apart: bool) -> Result<()> {
    match number {
        record::INT => drop(input.number()?),
        record::FLOAT => drop(input.float()?),
        record::STR | record::BYTES | record::BIG_INT => drop(input.content()?),
        record::DTYPE => drop(input.dtype()?),
        record::DEVICE => drop((input.number()?, input.number()?)),
        record::SHAPE => drop(input.dims()?),
        record::TENSOR => {
            drop((input.dtype()?, input.dims()?));
            if !apart {
                input.content()?;
            }
        }
        _ => {}
    }
    Ok(())
}
