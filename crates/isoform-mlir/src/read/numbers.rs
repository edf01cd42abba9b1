//! The types of numbers, literals of one number, and values of strings.

use std::ops::{Shl, Sub};

use isoform::{Str, Value};
use num_bigint::BigInt;

use super::cursor::Cursor;
use super::fault::{Fault, Read, refuse};
use super::floats::Format;
use super::lexer::{Kind, Token, nibble};
use super::values::Object;
use crate::nodes::{
    ComplexType, FloatType, IndexType, IntegerType, MemRefType, TensorType, VectorType,
};

/// The number of digits up to which decimal integers are read. The conversion of longer ones
/// takes more than linear time.
const MAX_DIGITS: usize = 100_000;

/// The types of numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numeric {
    Integer { width: u32, signedness: Signedness },
    Float(&'static Format),
}

/// The range of the values of an integer type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signedness {
    Signless,
    Signed,
    Unsigned,
    /// Signless in the text, with the range of signed integers.
    Index,
}

impl Numeric {
    /// The numbers of a type; None for a type without numbers.
    pub(crate) fn of(ty: &Object) -> Option<Numeric> {
        if let Some(integer) = ty.downcast_ref::<IntegerType>() {
            let signedness = match integer.signedness.as_str() {
                "signless" => Signedness::Signless,
                "signed" => Signedness::Signed,
                "unsigned" => Signedness::Unsigned,
                _ => return None,
            };
            let width = u32::try_from(integer.width).ok()?;
            return Some(Numeric::Integer { width, signedness });
        }
        if ty.isa::<IndexType>() {
            return Some(Numeric::INDEX);
        }
        let float = ty.downcast_ref::<FloatType>()?;
        Format::named(&float.name).map(Numeric::Float)
    }

    /// The numbers of the type `index`.
    const INDEX: Numeric = Numeric::Integer {
        width: 64,
        signedness: Signedness::Index,
    };

    /// The number of bits.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Numeric::Integer { width, .. } => width,
            Numeric::Float(format) => format.bits,
        }
    }

    /// The number of bytes of an element in dense data.
    pub(crate) fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }
}

/// The elements of a dense attribute: numbers, or complex numbers of two parts.
#[derive(Clone, Copy)]
pub(crate) struct Element {
    pub(crate) number: Numeric,
    pub(crate) is_complex: bool,
}

impl Element {
    /// The elements of a type; None if they are no numbers.
    pub(crate) fn of(ty: &Object) -> Option<Element> {
        let complex = ty.downcast_ref::<ComplexType>();
        let number = Numeric::of(complex.map_or(ty, |complex| &complex.element))?;
        let is_complex = complex.is_some();
        Some(Element { number, is_complex })
    }

    pub(crate) fn bytes(self) -> usize {
        self.number.bytes() << u32::from(self.is_complex)
    }

    pub(crate) fn is_bool(self) -> bool {
        !self.is_complex && matches!(self.number, Numeric::Integer { width: 1, .. })
    }
}

/// The shape and the element type of a shaped type; no shape if it is dynamic.
pub(crate) fn shape_of(ty: &Object) -> Option<(Option<Vec<i64>>, &Object)> {
    if let Some(tensor) = ty.downcast_ref::<TensorType>() {
        return Some((
            tensor.dims.iter().map(Value::as_int).collect(),
            &tensor.element,
        ));
    }
    // MLIR refuses memrefs here, and xDSL prints them.
    if let Some(memref) = ty.downcast_ref::<MemRefType>() {
        return Some((
            memref.dims.iter().map(Value::as_int).collect(),
            &memref.element,
        ));
    }
    let vector = ty.downcast_ref::<VectorType>()?;
    Some((Some(vector.dims.to_vec()), &vector.element))
}

/// A number in the text.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    token: Token,
    spelling: &'t [u8],
    is_negative: bool,
}

impl<'t> Literal<'t> {
    /// The next token, which must be a number.
    #[inline]
    pub(super) fn next(cursor: &Cursor<'t>, is_negative: bool) -> Read<Literal<'t>> {
        let token = cursor.token;
        if !matches!(token.kind, Kind::Integer | Kind::Hex | Kind::Float) {
            return Err(cursor.unexpected("a number"));
        }
        Ok(Literal {
            token,
            spelling: cursor.slice(token),
            is_negative,
        })
    }
}

impl From<Literal<'_>> for std::ops::Range<usize> {
    fn from(literal: Literal<'_>) -> Self {
        literal.token.into()
    }
}

impl Literal<'_> {
    pub(super) fn is_float(self) -> bool {
        self.token.kind == Kind::Float
    }

    /// The bits of the integer in two's complement, of the width of the type.
    #[inline]
    pub(super) fn integer_bits(self, width: u32, signedness: Signedness) -> Read<Bits> {
        let (digits, radix) = match self.token.kind {
            Kind::Hex => (&self.spelling[2..], 16),
            Kind::Integer => (self.spelling, 10),
            _ => return refuse(self, "expected an integer, got a float"),
        };
        let text = || std::str::from_utf8(digits).unwrap_or_default();
        let bits = if width <= 64 {
            let magnitude = if digits.len() <= 15 {
                let digits = digits.iter().map(|&digit| u64::from(nibble(digit)));
                Some(digits.fold(0, |sum, digit| sum * u64::from(radix) + digit))
            } else {
                u64::from_str_radix(text(), radix).ok()
            };
            match magnitude {
                Some(magnitude) => self.wrapped(i128::from(magnitude), width, signedness)?,
                None => None,
            }
            .map(Bits::Small)
        } else {
            let digits = text().trim_start_matches('0');
            if radix == 10 && digits.len() > MAX_DIGITS {
                None
            } else {
                let magnitude = BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
                self.wrapped(magnitude, width, signedness)?.map(Bits::Large)
            }
        };
        bits.ok_or_else(|| Fault::new(self, format!("expected an integer of {width} bits")))
    }

    /// A magnitude with the sign of the literal, in two's complement; None if it is out of
    /// range.
    fn wrapped<T: Integer>(
        self,
        magnitude: T,
        width: u32,
        signedness: Signedness,
    ) -> Read<Option<T>> {
        let (half, end) = limits::<T>(width);
        if magnitude >= end {
            return Ok(None);
        }
        if self.is_negative && signedness == Signedness::Unsigned {
            return refuse(self, "expected an unsigned integer, got '-'");
        }
        let is_signed = matches!(signedness, Signedness::Signed | Signedness::Index);
        Ok(if magnitude == T::from(0) {
            Some(magnitude)
        } else if self.is_negative {
            (magnitude <= half).then(|| end - magnitude)
        } else {
            (!is_signed || magnitude < half).then_some(magnitude)
        })
    }

    /// The bits of the float.
    #[inline]
    pub(super) fn float_bits(self, format: &Format) -> Read<u128> {
        match self.token.kind {
            Kind::Hex if self.is_negative => {
                refuse(self, "expected the bits of a float without '-'")
            }
            Kind::Hex => {
                let text = std::str::from_utf8(&self.spelling[2..]).unwrap_or_default();
                match u128::from_str_radix(text, 16) {
                    Ok(bits) if format.bits == 128 || bits >> format.bits == 0 => Ok(bits),
                    _ => refuse(self, format!("expected {} bits of a float", format.bits)),
                }
            }
            Kind::Float => {
                let text = std::str::from_utf8(self.spelling).unwrap_or_default();
                Ok(format.round(text, self.is_negative))
            }
            _ => refuse(self, "expected a float with a dot, or its bits with 0x"),
        }
    }
}

/// The integers that hold numbers of some width.
pub(crate) trait Integer:
    PartialOrd + From<u8> + Shl<u32, Output = Self> + Sub<Output = Self>
{
}

impl Integer for i128 {}
impl Integer for BigInt {}

/// The lowest bits that mean a negative number, and the lowest that are too many.
fn limits<T: Integer>(width: u32) -> (T, T) {
    let power = |exponent| T::from(1) << exponent;
    (power(width.saturating_sub(1)), power(width))
}

/// The number that bits of a type mean.
pub(crate) fn signed<T: Integer>(bits: T, width: u32, signedness: Signedness) -> T {
    let (half, end) = limits(width);
    if signedness != Signedness::Unsigned && bits >= half && bits < end {
        bits - end
    } else {
        bits
    }
}

/// The bits of an integer, which is not negative.
pub(super) enum Bits {
    /// At most 64 bits.
    Small(i128),
    Large(BigInt),
}

impl Bits {
    /// The value of an integer attribute.
    pub(super) fn value(self, width: u32, signedness: Signedness) -> Value {
        match self {
            Bits::Small(bits) if width == 1 && signedness == Signedness::Signless => {
                Value::from(bits == 1)
            }
            Bits::Small(bits) => integer_value(signed(bits, width, signedness)),
            Bits::Large(bits) => Value::from(signed(bits, width, signedness)),
        }
    }

    /// Appends the bits, little-endian.
    pub(super) fn write(&self, bytes: usize, data: &mut Vec<u8>) {
        match self {
            Bits::Small(bits) => data.extend_from_slice(&bits.to_le_bytes()[..bytes]),
            Bits::Large(bits) => {
                let end = data.len() + bytes;
                data.extend_from_slice(&bits.to_bytes_le().1);
                data.resize(end, 0);
            }
        }
    }
}

/// An integer as a value.
pub(super) fn integer_value(number: impl Copy + TryInto<i64> + Into<BigInt>) -> Value {
    match number.try_into() {
        Ok(small) => Value::from(small),
        Err(_) => Value::from(number.into()),
    }
}

/// The value of a string: a str, or bytes if it is not UTF-8.
pub(super) fn text_value(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Str::from(text).into(),
        Err(error) => Value::from(error.as_bytes()),
    }
}
