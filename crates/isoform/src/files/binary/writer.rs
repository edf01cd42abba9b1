//! Nodes as bytes.

use super::format::{APART, CHECKSUM, Literal, MAGIC, VERSION, checksum, record};
use crate::files::json::write_data;
use crate::files::linearize::Sink;
use crate::kernel::container::{ContainerType, Tensor};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::Section;
use crate::kernel::object::field::Inline;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{Loaded, ObjRef};
use crate::kernel::value::{DType, Value, ValueRef, canonical_float_bits};

/// The bytes so far.
pub(super) struct Writer {
    out: Vec<u8>,
    // By type index, the record of objects of that type; zero if the type has
    // not occurred.
    types: Vec<u64>,
    // The types that have been written.
    met: Vec<&'static TypeInfo>,
    // The tensors whose elements are left out, if they are.
    apart: Option<Vec<Tensor>>,
}

impl Writer {
    /// Writes all contents, or all but the elements of tensors.
    pub(super) fn new(tensors_apart: bool) -> Self {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        Writer {
            out,
            types: Vec::new(),
            met: Vec::new(),
            apart: tensors_apart.then(Vec::new),
        }
    }

    /// The tensors whose elements were left out, in the order of their records.
    pub(super) fn take_tensors(&mut self) -> Vec<Tensor> {
        let tensors = self.apart.take().unwrap_or_default();
        if !tensors.is_empty() {
            self.out[MAGIC.len()] = APART;
        }
        tensors
    }

    pub(super) fn types(&self) -> Vec<&'static TypeInfo> {
        self.met.clone()
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.number(record::END);
        let sum = checksum(&self.out);
        self.out.reserve_exact(CHECKSUM);
        self.out.extend_from_slice(&sum);
        self.out
    }

    #[inline(always)]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }

    #[inline(always)]
    fn int(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63) as u64);
    }

    fn float(&mut self, number: f64) {
        let bits = canonical_float_bits(number.to_bits());
        self.out.extend_from_slice(&bits.to_le_bytes());
    }

    fn content(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    fn dtype(&mut self, dtype: DType) {
        self.out
            .extend_from_slice(&[dtype.code() as u8, dtype.bits()]);
        self.number(u64::from(dtype.lanes()));
    }

    fn dims(&mut self, dims: &[i64]) {
        self.number(dims.len() as u64);
        for &dim in dims {
            self.int(dim);
        }
    }

    /// The record of objects of a type, written at its first use.
    #[inline(always)]
    fn object_record(&mut self, info: &'static TypeInfo) -> Result<u64> {
        match self.types.get(info.index().get() as usize) {
            Some(&known) if known != 0 => Ok(known),
            _ => self.new_type(info),
        }
    }

    #[cold]
    fn new_type(&mut self, info: &'static TypeInfo) -> Result<u64> {
        if info.is_builtin() {
            return Err(Error::type_error(format!(
                "expected a value that can be written to a file, got {}",
                info.key()
            )));
        }
        self.number(record::TYPE);
        self.content(info.key().as_bytes());
        let hooked = info.file_hooks().is_some();
        self.out.push(u8::from(hooked));
        let fields = if hooked { &[] } else { info.fields() };
        self.number(fields.len() as u64);
        for (field, slot) in fields.iter().zip(&info.slots) {
            self.content(field.name().as_bytes());
            self.out.push(match slot.storage.inline() {
                Some(Inline::Int) => Literal::Int,
                Some(Inline::Float) => Literal::Float,
                Some(Inline::Bool) => Literal::Bool,
                Some(Inline::DType) => Literal::DType,
                None => Literal::Reference,
            } as u8);
        }
        let index = info.index().get() as usize;
        if self.types.len() <= index {
            self.types.resize(index + 1, 0);
        }
        let number = record::FIRST_OBJECT + self.met.len() as u64;
        self.types[index] = number;
        self.met.push(info);
        Ok(number)
    }
}

impl Sink for Writer {
    fn plain(&mut self, value: ValueRef<'_>) -> Result<()> {
        match value {
            ValueRef::None => self.number(record::NONE),
            ValueRef::Bool(false) => self.number(record::FALSE),
            ValueRef::Bool(true) => self.number(record::TRUE),
            ValueRef::Int(number) => {
                self.number(record::INT);
                self.int(number);
            }
            ValueRef::Float(number) => {
                self.number(record::FLOAT);
                self.float(number);
            }
            ValueRef::Str(text) => {
                self.number(record::STR);
                self.content(text.as_bytes());
            }
            ValueRef::Bytes(bytes) => {
                self.number(record::BYTES);
                self.content(bytes);
            }
            ValueRef::BigInt(number) => {
                self.number(record::BIG_INT);
                self.content(&number.to_signed_bytes_le());
            }
            ValueRef::DType(dtype) => {
                self.number(record::DTYPE);
                self.dtype(dtype);
            }
            ValueRef::Device(device) => {
                self.number(record::DEVICE);
                self.number(u64::from(device.kind()));
                self.number(u64::from(device.ordinal()));
            }
            ValueRef::Shape(shape) => {
                self.number(record::SHAPE);
                self.dims(shape);
            }
            ValueRef::Tensor(tensor) => {
                self.number(record::TENSOR);
                self.dtype(tensor.dtype());
                self.dims(tensor.shape());
                match &mut self.apart {
                    Some(tensors) => tensors.push(tensor.clone()),
                    None => self.content(tensor.data()),
                }
            }
            _ => return Err(Error::type_error("expected a value without parts")),
        }
        Ok(())
    }

    fn container(&mut self, container: &ContainerType, parts: &[u32], number: u32) {
        self.number(container.record);
        self.number((parts.len() / container.parts_per_element()) as u64);
        for &part in parts {
            self.number(u64::from(number - part));
        }
    }

    #[inline]
    fn object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        parts: &[u32],
        number: u32,
    ) -> Result<()> {
        let record = self.object_record(object.info())?;
        self.number(record);
        let fields = object.all_fields();
        let mut parts = parts.iter();
        for position in 0..fields.len() {
            match fields.get(section, position) {
                Some((_, Loaded::Int(number))) => self.int(number),
                Some((_, Loaded::Float(number))) => self.float(number),
                Some((_, Loaded::Bool(flag))) => self.out.push(u8::from(flag)),
                Some((_, Loaded::DType(dtype))) => self.dtype(dtype),
                Some((_, Loaded::Value(_) | Loaded::Object(_) | Loaded::None)) => {
                    if let Some(&part) = parts.next() {
                        self.number(u64::from(number - part));
                    }
                }
                None => {}
            }
        }
        Ok(())
    }

    fn hooked(&mut self, info: &'static TypeInfo, data: &Value) -> Result<()> {
        let mut text = String::new();
        write_data(data, &mut text)?;
        let record = self.object_record(info)?;
        self.number(record);
        self.content(text.as_bytes());
        Ok(())
    }
}
