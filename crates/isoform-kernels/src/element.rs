//! How elements are read from bytes, written to bytes and converted.
//!
//! Every computed float is written by [`Element::write`], which writes the same NaN for
//! all NaNs. The NaN from an operation depends on the processor, but a folded constant
//! and its digest must not. Kernels that only move elements copy their bytes.

use half::{bf16, f16};

use crate::element_type::{ElementType, not_defined};
use crate::error::Result;
use crate::small_float::{
    E2M1FN, E2M3FN, E3M2FN, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, Format, ScaleRounding, decode,
    encode, narrow_to_f32, odd_f64_of_i64, odd_f64_of_u64, scale,
};

/// The values that casts go through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Class {
    /// True or false.
    Bool,
    /// Signed, and unsigned below 64 bits: in `i64`.
    Signed,
    /// Unsigned of 64 bits: the same bits in `i64`.
    Unsigned,
    /// In `f64`.
    Float,
}

/// An element type, at compile time.
pub trait Element: Copy + Default + PartialEq + 'static {
    /// One element as bytes.
    type Raw: Copy + AsRef<[u8]>;
    /// The type at run time.
    const TYPE: ElementType;
    /// Tells which of the conversions below are exact.
    const CLASS: Class;

    /// The elements in bytes.
    fn chunks(bytes: &[u8]) -> &[Self::Raw];
    /// The elements in bytes, to be written.
    fn chunks_mut(bytes: &mut [u8]) -> &mut [Self::Raw];
    /// The value of an element.
    fn read(raw: Self::Raw) -> Self;
    /// The bytes of a value.
    fn write(self) -> Self::Raw;

    /// The value of a float, exactly; an integer is rounded.
    fn to_f64(self) -> f64;
    /// The value of an integer, modulo 2^64.
    fn to_i64(self) -> i64;
    /// An integer modulo the range of this integer type; the nearest float.
    fn from_i64(value: i64) -> Self;
    /// An integer modulo the range of this integer type; the nearest float.
    fn from_u64(value: u64) -> Self;
    /// The nearest float; the nearest integer towards zero, limited to the range.
    fn from_f64(value: f64) -> Self;
    /// The nearest float that is not infinite.
    fn from_f64_saturating(value: f64) -> Self {
        Self::from_f64(value)
    }
    /// True if a float, truncated, is in the range of this integer type.
    fn holds(_value: f64) -> bool {
        true
    }
}

/// The Rust types of elements: `bool`, integers, `half::f16`, `half::bf16`, `f32`, `f64`.
pub trait Native: Element {
    /// An error if the elements have another type.
    #[doc(hidden)]
    fn expect(ty: ElementType) -> Result<()> {
        if ty == Self::TYPE {
            return Ok(());
        }
        Err(not_defined("values of Rust", Self::TYPE.name(), ty))
    }
}

macro_rules! bytes_of {
    ($size:literal) => {
        type Raw = [u8; $size];
        #[inline]
        fn chunks(bytes: &[u8]) -> &[Self::Raw] {
            bytes.as_chunks().0
        }
        #[inline]
        fn chunks_mut(bytes: &mut [u8]) -> &mut [Self::Raw] {
            bytes.as_chunks_mut().0
        }
    };
}

impl Element for bool {
    bytes_of!(1);
    const TYPE: ElementType = ElementType::Bool;
    const CLASS: Class = Class::Bool;
    #[inline]
    fn read(raw: [u8; 1]) -> Self {
        raw[0] != 0
    }
    #[inline]
    fn write(self) -> [u8; 1] {
        [u8::from(self)]
    }
    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
    #[inline]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }
    #[inline]
    fn from_i64(value: i64) -> Self {
        value != 0
    }
    #[inline]
    fn from_u64(value: u64) -> Self {
        value != 0
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        value != 0.0
    }
}
impl Native for bool {}

macro_rules! integers {
    ($($t:ident $variant:ident $size:literal $class:ident,)*) => { $(
        impl Element for $t {
            bytes_of!($size);
            const TYPE: ElementType = ElementType::$variant;
            const CLASS: Class = Class::$class;
            #[inline]
            fn read(raw: [u8; $size]) -> Self {
                <$t>::from_le_bytes(raw)
            }
            #[inline]
            fn write(self) -> [u8; $size] {
                self.to_le_bytes()
            }
            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                value as $t
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                value as $t
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline]
            fn holds(value: f64) -> bool {
                // The first number beyond the range is a power of two, and therefore
                // exact.
                let end = 2.0 * ((<$t>::MAX / 2 + 1) as f64);
                let value = value.trunc();
                value >= <$t>::MIN as f64 && value < end
            }
        }
        impl Native for $t {}
    )* };
}

integers! {
    i8 Int8 1 Signed, i16 Int16 2 Signed, i32 Int32 4 Signed, i64 Int64 8 Signed,
    u8 UInt8 1 Signed, u16 UInt16 2 Signed, u32 UInt32 4 Signed, u64 UInt64 8 Unsigned,
}

macro_rules! small_integers {
    ($($t:ident $variant:ident $of:ident $wrap:expr, $mask:literal $low:literal $high:literal,)*) => { $(
        /// An integer of fewer bits than a byte.
        #[derive(Clone, Copy, Default, PartialEq)]
        pub(crate) struct $t($of);

        impl Element for $t {
            bytes_of!(1);
            const TYPE: ElementType = ElementType::$variant;
            const CLASS: Class = Class::Signed;
            #[inline]
            fn read(raw: [u8; 1]) -> Self {
                let wrap: fn($of) -> $of = $wrap;
                $t(wrap(raw[0] as $of))
            }
            #[inline]
            fn write(self) -> [u8; 1] {
                [self.0 as u8 & $mask]
            }
            #[inline]
            fn to_f64(self) -> f64 {
                f64::from(self.0)
            }
            #[inline]
            fn to_i64(self) -> i64 {
                i64::from(self.0)
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                Self::read([value as u8])
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                Self::read([value as u8])
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                $t(value.clamp($low, $high) as $of)
            }
            #[inline]
            fn holds(value: f64) -> bool {
                let value = value.trunc();
                ($low..=$high).contains(&value)
            }
        }
    )* };
}

small_integers! {
    I2 Int2 i8 |bits| (bits << 6) >> 6, 3 -2.0 1.0,
    U2 UInt2 u8 |bits| bits & 3, 3 0.0 3.0,
    I4 Int4 i8 |bits| (bits << 4) >> 4, 15 -8.0 7.0,
    U4 UInt4 u8 |bits| bits & 15, 15 0.0 15.0,
}

macro_rules! floats {
    ($($t:ident $variant:ident $size:literal $nan:literal,
        $to_f64:expr, $from_f64:expr, $from_i64:expr, $from_u64:expr;)*) => { $(
        impl Element for $t {
            bytes_of!($size);
            const TYPE: ElementType = ElementType::$variant;
            const CLASS: Class = Class::Float;
            #[inline]
            fn read(raw: [u8; $size]) -> Self {
                <$t>::from_le_bytes(raw)
            }
            #[inline]
            fn write(self) -> [u8; $size] {
                let bits = if self.is_nan() { $nan } else { self.to_bits() };
                bits.to_le_bytes()
            }
            #[inline]
            fn to_f64(self) -> f64 {
                let convert: fn($t) -> f64 = $to_f64;
                convert(self)
            }
            #[inline]
            fn to_i64(self) -> i64 {
                self.to_f64() as i64
            }
            #[inline]
            fn from_i64(value: i64) -> Self {
                let convert: fn(i64) -> $t = $from_i64;
                convert(value)
            }
            #[inline]
            fn from_u64(value: u64) -> Self {
                let convert: fn(u64) -> $t = $from_u64;
                convert(value)
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                let convert: fn(f64) -> $t = $from_f64;
                convert(value)
            }
        }
        impl Native for $t {}
    )* };
}

floats! {
    f16 Float16 2 0x7e00_u16, |x| f64::from(x.to_f32()),
        |x| f16::from_f32(narrow_to_f32(x)),
        |i| <f16 as Element>::from_f64(odd_f64_of_i64(i)),
        |i| <f16 as Element>::from_f64(odd_f64_of_u64(i));
    bf16 BFloat16 2 0x7fc0_u16, |x| f64::from(x.to_f32()),
        |x| bf16::from_f32(narrow_to_f32(x)),
        |i| <bf16 as Element>::from_f64(odd_f64_of_i64(i)),
        |i| <bf16 as Element>::from_f64(odd_f64_of_u64(i));
    f32 Float32 4 0x7fc0_0000_u32, f64::from, |x| x as f32, |i| i as f32, |i| i as f32;
    f64 Float64 8 0x7ff8_0000_0000_0000_u64, |x| x, |x| x, |i| i as f64, |i| i as f64;
}

/// The parts of an element stored as a code of one byte, and computed as `f64`.
macro_rules! stored {
    ($t:ident) => {
        bytes_of!(1);
        #[inline]
        fn read(raw: [u8; 1]) -> Self {
            $t(raw[0])
        }
        #[inline]
        fn write(self) -> [u8; 1] {
            [self.0]
        }
        #[inline]
        fn to_i64(self) -> i64 {
            self.to_f64() as i64
        }
        #[inline]
        fn from_i64(value: i64) -> Self {
            Self::from_f64(odd_f64_of_i64(value))
        }
        #[inline]
        fn from_u64(value: u64) -> Self {
            Self::from_f64(odd_f64_of_u64(value))
        }
    };
}

macro_rules! stored_floats {
    ($($t:ident $variant:ident $format:ident,)*) => { $(
        /// A float of at most 8 bits, as its code.
        #[derive(Clone, Copy, Default, PartialEq)]
        pub(crate) struct $t(u8);

        impl Element for $t {
            stored!($t);
            const TYPE: ElementType = ElementType::$variant;
            const CLASS: Class = Class::Float;
            #[inline]
            fn to_f64(self) -> f64 {
                const FORMAT: Format = $format;
                decode(&FORMAT, self.0)
            }
            #[inline]
            fn from_f64(value: f64) -> Self {
                const FORMAT: Format = $format;
                $t(encode(&FORMAT, value, false))
            }
            #[inline]
            fn from_f64_saturating(value: f64) -> Self {
                const FORMAT: Format = $format;
                $t(encode(&FORMAT, value, true))
            }
        }
    )* };
}

stored_floats! {
    F8E4M3Fn Float8E4M3Fn E4M3FN,
    F8E4M3FnUz Float8E4M3FnUz E4M3FNUZ,
    F8E5M2 Float8E5M2 E5M2,
    F8E5M2FnUz Float8E5M2FnUz E5M2FNUZ,
    F4E2M1Fn Float4E2M1Fn E2M1FN,
    F6E2M3Fn Float6E2M3Fn E2M3FN,
    F6E3M2Fn Float6E3M2Fn E3M2FN,
}

/// A power of two, as its code.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct F8E8M0Fnu(u8);

impl Element for F8E8M0Fnu {
    stored!(F8E8M0Fnu);
    const TYPE: ElementType = ElementType::Float8E8M0Fnu;
    const CLASS: Class = Class::Float;
    #[inline]
    fn to_f64(self) -> f64 {
        scale::decode(self.0)
    }
    #[inline]
    fn from_f64(value: f64) -> Self {
        F8E8M0Fnu(scale::encode(value, ScaleRounding::Nearest, false))
    }
    #[inline]
    fn from_f64_saturating(value: f64) -> Self {
        F8E8M0Fnu(scale::encode(value, ScaleRounding::Nearest, true))
    }
}

impl F8E8M0Fnu {
    /// The power of two that a rounding mode chooses.
    pub(crate) fn rounded(value: f64, rounding: ScaleRounding, saturate: bool) -> Self {
        F8E8M0Fnu(scale::encode(value, rounding, saturate))
    }
}

/// Compiles an expression for each element type of a class, with the type's name bound,
/// and chooses by the type at run time.
macro_rules! dispatch {
    (integer $ty:expr, $t:ident => $body:expr, else $other:expr) => {
        $crate::element::dispatch!(@ $ty, $t => $body, $other;
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64)
    };
    (float $ty:expr, $t:ident => $body:expr, else $other:expr) => {
        $crate::element::dispatch!(@ $ty, $t => $body, $other;
            Float16 f16, BFloat16 bf16, Float32 f32, Float64 f64)
    };
    (number $ty:expr, $t:ident => $body:expr, else $other:expr) => {
        $crate::element::dispatch!(@ $ty, $t => $body, $other;
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64,
            Float16 f16, BFloat16 bf16, Float32 f32, Float64 f64)
    };
    (any $ty:expr, $t:ident => $body:expr, else $other:expr) => {
        $crate::element::dispatch!(@ $ty, $t => $body, $other;
            Bool bool, Int2 I2, UInt2 U2, Int4 I4, UInt4 U4, Float4E2M1Fn F4E2M1Fn,
            Float6E2M3Fn F6E2M3Fn, Float6E3M2Fn F6E3M2Fn, Float8E8M0Fnu F8E8M0Fnu,
            Int8 i8, Int16 i16, Int32 i32, Int64 i64, UInt8 u8, UInt16 u16, UInt32 u32, UInt64 u64,
            Float16 f16, BFloat16 bf16, Float32 f32, Float64 f64, Float8E4M3Fn F8E4M3Fn,
            Float8E4M3FnUz F8E4M3FnUz, Float8E5M2 F8E5M2, Float8E5M2FnUz F8E5M2FnUz)
    };
    (@ $ty:expr, $t:ident => $body:expr, $other:expr; $($variant:ident $name:ident),*) => {
        match $ty {
            $($crate::ElementType::$variant => {
                type $t = $crate::element::names::$name;
                $body
            })*
            _ => $other,
        }
    };
}

/// Compiles an expression for each size of an element, with the array type's name bound.
macro_rules! by_size {
    ($ty:expr, $n:ident => $body:expr) => {
        match $ty.size() {
            1 => {
                const $n: usize = 1;
                $body
            }
            2 => {
                const $n: usize = 2;
                $body
            }
            4 => {
                const $n: usize = 4;
                $body
            }
            8 => {
                const $n: usize = 8;
                $body
            }
            _ => {
                const $n: usize = 16;
                $body
            }
        }
    };
}

pub(crate) use {by_size, dispatch};

/// The names that `dispatch` binds.
pub(crate) mod names {
    pub(crate) use super::{
        F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E4M3Fn, F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0Fnu, I2, I4,
        U2, U4,
    };
    pub(crate) use half::{bf16, f16};
    pub(crate) use std::primitive::{bool, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};
}
