//! The operands and attributes of a call, in the form that kernels take.

use std::borrow::Cow;

use isoform::Value;
use isoform::values::{Bytes, ValueRef};
use isoform_ir::kernels::Input;
use isoform_kernels::{Control, ElementType, Tensor as Computed, View, to_f64s, to_i64s};

use super::constants::{dense, strings};
use super::refusal::Refusal;
use super::strings::StringIds;
use crate::elem_type::ElemType;
use crate::ir::{Call, StringTensor};

/// An operand of a call.
pub(super) enum Operand<'a> {
    Dense(Input<'a>),
    /// Strings as numbers.
    Strings(Computed),
}

impl Operand<'_> {
    fn view(&self) -> Result<View<'_>, Refusal> {
        Ok(match self {
            Operand::Dense(input) => input.view()?,
            Operand::Strings(ids) => ids.view(),
        })
    }
}

/// A call with its operands.
pub(super) struct Args<'a> {
    pub(super) call: &'a Call,
    pub(super) control: &'a Control<'a>,
    pub(super) values: &'a [Option<Value>],
    /// True if a result that runtimes choose at will is refused.
    pub(super) strict: bool,
    operands: Vec<Option<Operand<'a>>>,
}

impl<'a> Args<'a> {
    pub(super) fn new(
        call: &'a Call,
        values: &'a [Option<Value>],
        ids: Option<&StringIds>,
        control: &'a Control<'a>,
        strict: bool,
    ) -> Result<Self, Refusal> {
        let mut operands = Vec::with_capacity(values.len());
        for value in values {
            operands.push(match value {
                None => None,
                Some(value) => Some(match (dense(value), strings(value), ids) {
                    (Some(tensor), ..) => Operand::Dense(Input::new(tensor, control)?),
                    (_, Some(strings), Some(ids)) => {
                        Operand::Strings(ids.tensor(strings, control)?)
                    }
                    _ => {
                        return Err(Refusal::new(
                            "expected a dense tensor as input, got a value of another kind",
                        ));
                    }
                }),
            });
        }
        Ok(Args {
            call,
            control,
            values,
            strict,
            operands,
        })
    }

    /// The element types of the inputs.
    pub(super) fn elems(&self) -> Vec<Option<ElemType>> {
        let elem = |operand: &Option<Operand<'_>>| match operand {
            None => None,
            Some(Operand::Strings(_)) => Some(ElemType::String),
            Some(Operand::Dense(input)) => Some(elem_of(input.ty)),
        };
        self.operands.iter().map(elem).collect()
    }

    /// The version of the operator set.
    pub(super) fn version(&self) -> i64 {
        self.call.version
    }

    /// The number of inputs, including omitted inputs except at the end.
    pub(super) fn count(&self) -> usize {
        self.operands.len()
    }

    /// An input that may be omitted.
    pub(super) fn optional(&self, position: usize) -> Result<Option<View<'_>>, Refusal> {
        let operand = self.operands.get(position).and_then(Option::as_ref);
        operand.map(Operand::view).transpose()
    }

    /// An input that the operator requires.
    pub(super) fn input(&self, position: usize) -> Result<View<'_>, Refusal> {
        self.optional(position)?.ok_or_else(|| {
            Refusal::new(format!(
                "{}: expected input {position}, which is omitted",
                self.call.op
            ))
        })
    }

    /// All inputs; no input may be omitted.
    pub(super) fn inputs(&self) -> Result<Vec<View<'_>>, Refusal> {
        (0..self.count()).map(|at| self.input(at)).collect()
    }

    pub(super) fn is_string(&self, position: usize) -> bool {
        matches!(self.operands.get(position), Some(Some(Operand::Strings(_))))
    }

    /// The strings in an input.
    pub(super) fn texts(&self, position: usize) -> Result<&'a StringTensor, Refusal> {
        let value = self.values.get(position).and_then(Option::as_ref);
        value.and_then(strings).ok_or_else(|| {
            self.fault(format!(
                "expected strings in input {position}, got another type"
            ))
        })
    }

    /// The integers in an input; None if omitted.
    pub(super) fn optional_ints(&self, position: usize) -> Result<Option<Vec<i64>>, Refusal> {
        match self.optional(position)? {
            None => Ok(None),
            Some(view) => Ok(Some(to_i64s(view, self.control)?)),
        }
    }

    pub(super) fn input_ints(&self, position: usize) -> Result<Vec<i64>, Refusal> {
        Ok(to_i64s(self.input(position)?, self.control)?)
    }

    pub(super) fn input_floats(&self, position: usize) -> Result<Vec<f64>, Refusal> {
        Ok(to_f64s(self.input(position)?, self.control)?)
    }

    /// An integer from an input, which may have any shape with one element.
    pub(super) fn optional_int_input(&self, position: usize) -> Result<Option<i64>, Refusal> {
        match self.optional_ints(position)?.as_deref() {
            None => Ok(None),
            Some([one]) => Ok(Some(*one)),
            Some(many) => Err(self.fault(format!(
                "expected one number in input {position}, got {}",
                many.len()
            ))),
        }
    }

    /// A list of integers that is an attribute before `since`, and an input from then on.
    pub(super) fn moved_ints(
        &self,
        name: &str,
        position: usize,
        since: i64,
    ) -> Result<Option<Vec<i64>>, Refusal> {
        if self.version() < since {
            return Ok(self.call.ints(name)?);
        }
        self.optional_ints(position)
    }

    pub(super) fn int(&self, name: &str, default: i64) -> Result<i64, Refusal> {
        Ok(self.call.int(name)?.unwrap_or(default))
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, Refusal> {
        Ok(self.int(name, i64::from(default))? != 0)
    }

    /// A number attribute that has to be in the range of sizes.
    pub(super) fn size(&self, name: &str, default: i64) -> Result<usize, Refusal> {
        let size = self.int(name, default)?;
        usize::try_from(size).map_err(|_| {
            self.fault(format!(
                "expected 0 or more for attribute '{name}', got {size}"
            ))
        })
    }

    pub(super) fn float(&self, name: &str, default: f64) -> Result<f64, Refusal> {
        Ok(self.call.float(name)?.unwrap_or(default))
    }

    pub(super) fn text(&self, name: &str, default: &'static str) -> Result<Cow<'a, str>, Refusal> {
        Ok(self
            .call
            .str(name)?
            .map_or(Cow::Borrowed(default), Cow::Borrowed))
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, Refusal> {
        Ok(self.call.ints(name)?)
    }

    pub(super) fn floats(&self, name: &str) -> Result<Option<Vec<f64>>, Refusal> {
        Ok(self.call.floats(name)?)
    }

    /// A list of strings, which need not be UTF-8.
    pub(super) fn text_list(&self, name: &str) -> Result<Option<Vec<Bytes>>, Refusal> {
        let Some(value) = self.call.attribute(name)? else {
            return Ok(None);
        };
        let text = |value: &Value| match value.view() {
            ValueRef::Str(text) => Some(Bytes::from(text.as_bytes().to_vec())),
            ValueRef::Bytes(bytes) => Some(Bytes::from(bytes.to_vec())),
            _ => None,
        };
        let texts: Option<Vec<Bytes>> = match value.view() {
            ValueRef::Array(items) => items.values().iter().map(text).collect(),
            _ => None,
        };
        let fault = || self.fault(format!("expected strings as attribute '{name}'"));
        texts.ok_or_else(fault).map(Some)
    }

    /// The element type that an attribute names.
    pub(super) fn element(&self, name: &str) -> Result<Option<ElementType>, Refusal> {
        self.call
            .elem(name)?
            .map(|elem| self.element_type(elem))
            .transpose()
    }

    pub(super) fn element_type(&self, elem: ElemType) -> Result<ElementType, Refusal> {
        element_type(elem).ok_or_else(|| self.fault("expected numbers, got strings"))
    }

    /// An error that names the operator.
    #[cold]
    pub(super) fn fault(&self, message: impl std::fmt::Display) -> Refusal {
        Refusal::new(format!("{}: {message}", self.call.op))
    }
}

macro_rules! same_types {
    ($($elem:ident $element:ident,)*) => {
        /// The element type of kernels; None for strings.
        pub(super) fn element_type(elem: ElemType) -> Option<ElementType> {
            match elem {
                ElemType::String => None,
                $(ElemType::$elem => Some(ElementType::$element),)*
            }
        }

        /// The element type of ONNX.
        pub(super) fn elem_of(element: ElementType) -> ElemType {
            match element {
                $(ElementType::$element => ElemType::$elem,)*
                _ => ElemType::String,
            }
        }
    };
}

same_types! {
    Float Float32, Uint8 UInt8, Int8 Int8, Uint16 UInt16, Int16 Int16, Int32 Int32,
    Int64 Int64, Bool Bool, Float16 Float16, Double Float64, Uint32 UInt32, Uint64 UInt64,
    Complex64 Complex64, Complex128 Complex128, Bfloat16 BFloat16, Float8E4m3fn Float8E4M3Fn,
    Float8E4m3fnuz Float8E4M3FnUz, Float8E5m2 Float8E5M2, Float8E5m2fnuz Float8E5M2FnUz,
    Uint4 UInt4, Int4 Int4, Float4E2m1 Float4E2M1Fn, Float8E8m0 Float8E8M0Fnu, Uint2 UInt2,
    Int2 Int2, Float6E2m3 Float6E2M3Fn, Float6E3m2 Float6E3M2Fn,
}
