//! Integers of a type, and values of strings.

use isoform::{Str, Value};
use num_bigint::{BigInt, Sign};

use super::fault::{Fault, Read};
use super::floats::Format;
use super::lexer::{Kind, Token};
use super::values::Object;
use crate::nodes::{FloatType, IndexType, IntegerType};

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

/// A number in the text.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    pub(super) token: Token,
    pub(super) spelling: &'t [u8],
    pub(super) is_negative: bool,
}

impl Literal<'_> {
    fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.token.start..self.token.end, message)
    }

    /// The bits of the integer in two's complement, of the width of the type, as an integer
    /// that is not negative.
    pub(super) fn integer_bits(self, width: u32, signedness: Signedness) -> Read<Bits> {
        let out_of_range = || self.fault(format!("expected an integer of {width} bits"));
        let magnitude = match self.token.kind {
            Kind::Hex => hex_bits(&self.spelling[2..]),
            Kind::Integer => decimal_bits(self.spelling).ok_or_else(out_of_range)?,
            _ => return Err(self.fault("expected an integer, got a float")),
        };
        if !magnitude.fits(width) {
            return Err(out_of_range());
        }
        if self.is_negative {
            if signedness == Signedness::Unsigned {
                return Err(self.fault("expected an unsigned integer, got '-'"));
            }
            let bits = magnitude.negated(width);
            return if magnitude.is_zero() || bits.sign(width) {
                Ok(bits)
            } else {
                Err(out_of_range())
            };
        }
        let is_signed = matches!(signedness, Signedness::Signed | Signedness::Index);
        if is_signed && magnitude.sign(width) {
            return Err(out_of_range());
        }
        Ok(magnitude)
    }

    /// The bits of the float.
    pub(super) fn float_bits(self, format: &Format) -> Read<u128> {
        match self.token.kind {
            Kind::Hex if self.is_negative => {
                Err(self.fault("expected the bits of a float without '-'"))
            }
            Kind::Hex => match hex_bits(&self.spelling[2..]) {
                Bits::Small(bits) if format.bits == 128 || bits >> format.bits == 0 => Ok(bits),
                _ => Err(self.fault(format!("expected {} bits of a float", format.bits))),
            },
            Kind::Float => {
                let text = std::str::from_utf8(self.spelling).unwrap_or_default();
                Ok(format.round(text, self.is_negative))
            }
            _ => Err(self.fault("expected a float with a dot, or its bits with 0x")),
        }
    }
}

/// The bits of an integer, which is not negative.
#[derive(Clone)]
pub(super) enum Bits {
    Small(u128),
    /// At least 2^128.
    Large(BigInt),
}

impl Bits {
    fn of(number: BigInt) -> Bits {
        match u128::try_from(&number) {
            Ok(small) => Bits::Small(small),
            Err(_) => Bits::Large(number),
        }
    }

    fn is_zero(&self) -> bool {
        matches!(self, Bits::Small(0))
    }

    fn fits(&self, width: u32) -> bool {
        match self {
            Bits::Small(bits) => 128 - bits.leading_zeros() <= width,
            Bits::Large(number) => number.bits() <= u64::from(width),
        }
    }

    /// The highest bit.
    fn sign(&self, width: u32) -> bool {
        match self {
            Bits::Small(bits) => (1..=128).contains(&width) && bits >> (width - 1) & 1 == 1,
            Bits::Large(number) => number.bit(u64::from(width) - 1),
        }
    }

    fn negated(&self, width: u32) -> Bits {
        match self {
            Bits::Small(bits) if width <= 127 => {
                Bits::Small(bits.wrapping_neg() & ((1_u128 << width) - 1))
            }
            _ if self.is_zero() => Bits::Small(0),
            Bits::Small(bits) => Bits::of((BigInt::from(1) << width) - BigInt::from(*bits)),
            Bits::Large(number) => Bits::of((BigInt::from(1) << width) - number),
        }
    }

    /// The value of an integer attribute.
    pub(super) fn value(self, width: u32, signedness: Signedness) -> Value {
        let is_negative = signedness != Signedness::Unsigned && self.sign(width);
        match self {
            Bits::Small(bits) if width == 1 && signedness == Signedness::Signless => {
                Value::from(bits == 1)
            }
            Bits::Small(bits) if is_negative && width <= 64 => {
                Value::from((bits as i128 - (1_i128 << width)) as i64)
            }
            Bits::Small(bits) if !is_negative => match i64::try_from(bits) {
                Ok(small) => Value::from(small),
                Err(_) => Value::from(BigInt::from(bits)),
            },
            Bits::Small(bits) => Value::from(BigInt::from(bits) - (BigInt::from(1) << width)),
            Bits::Large(number) if is_negative => Value::from(number - (BigInt::from(1) << width)),
            Bits::Large(number) => Value::from(number),
        }
    }

    /// Appends the bits, little-endian.
    pub(super) fn write(&self, bytes: usize, data: &mut Vec<u8>) {
        match self {
            Bits::Small(bits) => {
                let all = bits.to_le_bytes();
                data.extend_from_slice(&all[..bytes.min(16)]);
                data.resize(data.len() + bytes.saturating_sub(16), 0);
            }
            Bits::Large(number) => {
                let (_, all) = number.to_bytes_le();
                data.extend_from_slice(&all);
                data.resize(data.len() + bytes.saturating_sub(all.len()), 0);
            }
        }
    }
}

fn hex_bits(digits: &[u8]) -> Bits {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() <= 32 {
        let nibbles = digits
            .iter()
            .map(|&digit| u128::from(super::lexer::nibble(digit)));
        return Bits::Small(nibbles.fold(0, |bits, nibble| bits << 4 | nibble));
    }
    let nibbles: Vec<u8> = digits
        .iter()
        .map(|&digit| super::lexer::nibble(digit))
        .collect();
    BigInt::from_radix_be(Sign::Plus, &nibbles, 16).map_or(Bits::Small(0), Bits::of)
}

/// None for more digits than the widest type has.
fn decimal_bits(digits: &[u8]) -> Option<Bits> {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    let digits = &digits[zeros..];
    if digits.len() <= 38 {
        let digits = digits.iter().map(|&digit| u128::from(digit - b'0'));
        return Some(Bits::Small(digits.fold(0, |bits, digit| bits * 10 + digit)));
    }
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let text = std::str::from_utf8(digits).ok()?;
    text.parse::<BigInt>().ok().map(Bits::of)
}

/// An unsigned integer as a value.
pub(super) fn unsigned(bits: u128) -> Value {
    match i64::try_from(bits) {
        Ok(small) => Value::from(small),
        Err(_) => Value::from(BigInt::from(bits)),
    }
}

/// The value of a string: a str, or bytes if it is not UTF-8.
pub(super) fn text_value(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Str::from(text).into(),
        Err(error) => Value::from(error.as_bytes()),
    }
}
