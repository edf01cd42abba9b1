//! Values from bytes, node by node.

use std::ops::ControlFlow;

use num_bigint::BigInt;

use super::{BinaryReadOptions, CHECKSUM, Literal, MAGIC, VERSION, checksum, record};
use crate::container::{Array, Bytes, Dict, List, Shape, Tensor};
use crate::error::{Error, Result};
use crate::json::read_data;
use crate::object::access::Poll;
use crate::object::fill::Filler;
use crate::object::table;
use crate::registry::{Kind, field_hint};
use crate::serial::fit::{Fitter, map_of};
use crate::serial::singletons::Recall;
use crate::value::{DType, DTypeCode, Device, Value};

/// What reading of one file knows.
pub(super) struct Reader<'a> {
    input: Input<'a>,
    options: BinaryReadOptions,
    nodes: Vec<Value>,
    plans: Vec<Plan>,
    fitter: Fitter,
    singletons: Recall,
    /// The type of the object that is being read, for messages.
    current: Option<&'static str>,
}

/// How the objects of one type of the file are read.
struct Plan {
    filler: Filler,
    // In the order of the file, with the position in the type; None for a
    // field that the type does not have.
    fields: Box<[(Literal, Option<u32>)]>,
    hooked: bool,
    is_singleton: bool,
}

/// Why reading ends.
enum Stop {
    /// Something is wrong with the record that is being read.
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
    /// Checks what frames the records.
    pub(super) fn new(bytes: &'a [u8], options: BinaryReadOptions) -> Result<Self> {
        let fail = |what: String| Err(Error::value_error(format!("binary form: {what}")));
        let Some(rest) = bytes.strip_prefix(&MAGIC) else {
            return fail("the bytes do not start as expected".to_owned());
        };
        match rest.first() {
            Some(&VERSION) => {}
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
            plans: Vec::new(),
            fitter: Fitter::default(),
            singletons: Recall::default(),
            current: None,
        })
    }

    /// The root.
    pub(super) fn value(mut self) -> Result<Value> {
        let mut poll = Poll::default();
        loop {
            poll.step_outside()?;
            match self.record() {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => break,
                Err(Stop::Hook(error)) => return Err(error),
                Err(Stop::Fault(error)) => return Err(self.at_node(&error)),
            }
        }
        let rest = self.input.rest();
        if rest > 0 {
            return Err(Error::value_error(format!(
                "binary form: {rest} bytes behind the last record"
            )));
        }
        let root = self.nodes.pop();
        root.ok_or_else(|| Error::value_error("binary form: there is no node"))
    }

    #[cold]
    fn at_node(&self, error: &Error) -> Error {
        let number = self.nodes.len();
        let ty = self.current.map_or(String::new(), |ty| format!(" ({ty})"));
        let (message, at) = (error.message(), self.input.at);
        Error::new(
            error.kind(),
            format!("binary form: node {number}{ty}: {message} (byte {at})"),
        )
    }

    #[inline(always)]
    fn record(&mut self) -> Result<ControlFlow<()>, Stop> {
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
                record::ARRAY | record::LIST | record::MAP | record::DICT => {
                    self.container(number)?
                }
                _ => self.plain(number)?,
            }
        };
        self.nodes.push(value);
        Ok(ControlFlow::Continue(()))
    }

    fn new_type(&mut self) -> Result<()> {
        let key = self.input.text()?;
        let info = table::find(key).filter(|info| !info.is_builtin());
        let Some(info) = info else {
            return Err(Error::type_error(format!("unknown type {key:?}")));
        };
        self.current = Some(info.key());
        if self
            .plans
            .iter()
            .any(|plan| plan.filler.info().index() == info.index())
        {
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
            let position = info.field_index(name);
            if position.is_none() && !self.options.ignore_unknown_fields {
                let hint = field_hint(info, name);
                return Err(Error::value_error(format!("unknown field '{name}'{hint}")));
            }
            let literal = self.input.byte()?;
            let Some(&literal) = Literal::ALL.get(usize::from(literal)) else {
                return Err(Error::value_error(format!(
                    "unknown kind {literal} of a field"
                )));
            };
            let position = position.map(|position| position as u32);
            if position.is_some() && fields.iter().any(|(_, known)| *known == position) {
                return Err(Error::value_error(format!("field '{name}' stands twice")));
            }
            fields.push((literal, position));
        }
        self.plans.push(Plan {
            filler: Filler::new(info)?,
            fields: fields.into(),
            hooked,
            is_singleton: info.kind() == Kind::Singleton,
        });
        Ok(())
    }

    #[inline]
    fn object(&mut self, plan: u64) -> Result<Value, Stop> {
        let count = self.plans.len();
        let plan = usize::try_from(plan).ok();
        let Some(plan) = plan.and_then(|plan| self.plans.get_mut(plan)) else {
            let what = format!("an object of a type that is not among the {count} so far");
            return Err(Error::value_error(what).into());
        };
        let info = plan.filler.info();
        self.current = Some(info.key());
        if plan.hooked {
            return self.hooked(info);
        }
        let number = self.nodes.len();
        for (literal, position) in &plan.fields {
            let value = match literal {
                Literal::Reference => {
                    let part = self.input.reference(number)?;
                    if position.is_none() {
                        continue;
                    }
                    self.nodes[part].clone()
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
            plan.filler
                .set(position as usize, value, &mut self.fitter)
                .map_err(|error| {
                    let name = info.fields()[position as usize].name();
                    Error::type_error(format!("field '{name}': {}", error.message()))
                })?;
        }
        let object = plan.filler.finish(&mut self.fitter)?;
        if plan.is_singleton {
            return Ok(self.singletons.resolve(object).into());
        }
        Ok(object.into())
    }

    fn hooked(&mut self, info: &'static table::TypeInfo) -> Result<Value, Stop> {
        let data = read_data(self.input.text()?)?;
        let Some(hooks) = info.file_hooks() else {
            return Ok(Value::NONE);
        };
        let object = hooks.from_json.call(&data).map_err(Stop::Hook)?;
        if !table::is_a(object.borrowed().type_index(), info.index()) {
            let got = object.type_info().key();
            return Err(Error::type_error(format!("the hook gave an object of {got}")).into());
        }
        Ok(object.into())
    }

    fn container(&mut self, number: u64) -> Result<Value> {
        let is_map = matches!(number, record::MAP | record::DICT);
        let count = self.input.count()? * if is_map { 2 } else { 1 };
        let own = self.nodes.len();
        // The count is at most the number of bytes left.
        let mut parts = Vec::with_capacity(count.min(self.input.rest()));
        for _ in 0..count {
            let part = self.input.reference(own)?;
            parts.push(self.nodes[part].clone());
        }
        Ok(match number {
            record::ARRAY => Array::from(parts).into(),
            record::LIST => List::from(parts).into(),
            _ => {
                let map = map_of(parts.into_iter())?;
                match number {
                    record::MAP => map.into(),
                    _ => Dict::<Value, Value>::of(map).into(),
                }
            }
        })
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
                Tensor::new(dtype, dims, input.content()?.to_vec())?.into()
            }
            _ => return Err(Error::value_error(format!("unknown record {number}"))),
        })
    }
}

/// The bytes of the records.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn rest(&self) -> usize {
        self.bytes.len() - self.at
    }

    #[cold]
    fn too_short() -> Error {
        Error::value_error("expected more bytes, got the end")
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return Err(Self::too_short());
        };
        self.at += 1;
        Ok(byte)
    }

    #[inline(always)]
    fn number(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Ok(u64::from(first));
        }
        self.long_number(first)
    }

    fn long_number(&mut self, first: u8) -> Result<u64> {
        let mut number = u64::from(first & 0x7f);
        let mut shift = 7;
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 || shift > 63 {
                return Err(Error::value_error("a number of more than 64 bits"));
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    #[inline(always)]
    fn int(&mut self) -> Result<i64> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// How many things follow that take at least a byte each.
    fn count(&mut self) -> Result<usize> {
        let count = self.number()?;
        let rest = self.rest();
        match usize::try_from(count) {
            Ok(count) if count <= rest => Ok(count),
            _ => Err(Error::value_error(format!(
                "expected at least {count} more bytes, got {rest}"
            ))),
        }
    }

    fn content(&mut self) -> Result<&'a [u8]> {
        let length = self.count()?;
        let content = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(content)
    }

    fn text(&mut self) -> Result<&'a str> {
        let content = self.content()?;
        std::str::from_utf8(content)
            .map_err(|error| Error::value_error(format!("expected a string: {error}")))
    }

    fn bool(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Error::value_error(format!("expected a bool, got {other}"))),
        }
    }

    fn float(&mut self) -> Result<f64> {
        let bytes = self.bytes.get(self.at..self.at + 8);
        let Some(bytes) = bytes.and_then(|bytes| bytes.first_chunk::<8>()) else {
            return Err(Self::too_short());
        };
        self.at += 8;
        Ok(f64::from_le_bytes(*bytes))
    }

    fn small(&mut self) -> Result<u32> {
        let number = self.number()?;
        u32::try_from(number)
            .map_err(|_| Error::value_error(format!("{number} is outside the 32-bit range")))
    }

    fn dtype(&mut self) -> Result<DType> {
        let (code, bits) = (self.byte()?, self.byte()?);
        let lanes = self.number()?;
        let last = DTypeCode::Float4E2M1FN as u8;
        let Ok(lanes) = u16::try_from(lanes) else {
            return Err(Error::value_error(format!("a dtype of {lanes} lanes")));
        };
        if code > last {
            return Err(Error::value_error(format!(
                "unknown code {code} of a dtype"
            )));
        }
        let plain = u32::from(code) | u32::from(bits) << 8;
        Ok(DType::from_bits(plain).with_lanes(lanes))
    }

    fn dims(&mut self) -> Result<Vec<i64>> {
        let count = self.count()?;
        (0..count).map(|_| self.int()).collect()
    }

    /// The number of the node that is this many back from node `own`.
    #[inline(always)]
    fn reference(&mut self, own: usize) -> Result<usize> {
        let back = self.number()?;
        match usize::try_from(back) {
            Ok(back) if (1..=own).contains(&back) => Ok(own - back),
            _ => Err(Error::value_error(format!(
                "a reference {back} nodes back, where there are {own}"
            ))),
        }
    }
}
