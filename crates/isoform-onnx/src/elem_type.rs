//! Element types of tensors.

use std::fmt;

use isoform::values::{DType, DTypeCode};

macro_rules! elem_types {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $name:literal, $bits:literal;)*) => {
        /// The element type of a tensor (`TensorProto.DataType` without `UNDEFINED`).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ElemType {
            $($(#[$doc])* $variant = $code,)*
        }

        impl ElemType {
            /// All element types, by ascending code.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Looks up the number used in ONNX files; `None` for `UNDEFINED` and
            /// for numbers this crate does not know.
            pub fn from_code(code: i32) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The lower-case name of the ONNX specification, like `float16`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Looks up a type by its [`name`](Self::name).
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The number of bits of an element in packed storage; `None` for strings.
            pub fn bits(self) -> Option<u32> {
                match self {
                    $(Self::$variant => if $bits == 0 { None } else { Some($bits) },)*
                }
            }
        }
    };
}

elem_types! {
    /// IEEE 754 binary32.
    Float = 1, "float", 32;
    /// Unsigned 8-bit integer.
    Uint8 = 2, "uint8", 8;
    /// Signed 8-bit integer.
    Int8 = 3, "int8", 8;
    /// Unsigned 16-bit integer.
    Uint16 = 4, "uint16", 16;
    /// Signed 16-bit integer.
    Int16 = 5, "int16", 16;
    /// Signed 32-bit integer.
    Int32 = 6, "int32", 32;
    /// Signed 64-bit integer.
    Int64 = 7, "int64", 64;
    /// UTF-8 string.
    String = 8, "string", 0;
    /// Truth value, stored as a byte 0 or 1.
    Bool = 9, "bool", 8;
    /// IEEE 754 binary16.
    Float16 = 10, "float16", 16;
    /// IEEE 754 binary64.
    Double = 11, "double", 64;
    /// Unsigned 32-bit integer.
    Uint32 = 12, "uint32", 32;
    /// Unsigned 64-bit integer.
    Uint64 = 13, "uint64", 64;
    /// Complex number of two binary32.
    Complex64 = 14, "complex64", 64;
    /// Complex number of two binary64.
    Complex128 = 15, "complex128", 128;
    /// Upper half of a binary32.
    Bfloat16 = 16, "bfloat16", 16;
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinities.
    Float8E4m3fn = 17, "float8e4m3fn", 8;
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinities, no negative zero.
    Float8E4m3fnuz = 18, "float8e4m3fnuz", 8;
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    Float8E5m2 = 19, "float8e5m2", 8;
    /// 8-bit float, 5 exponent and 2 mantissa bits, no infinities, no negative zero.
    Float8E5m2fnuz = 20, "float8e5m2fnuz", 8;
    /// Unsigned 4-bit integer, two to a byte, first in the low bits.
    Uint4 = 21, "uint4", 4;
    /// Signed 4-bit integer, two to a byte, first in the low bits.
    Int4 = 22, "int4", 4;
    /// 4-bit float, 2 exponent and 1 mantissa bits, two to a byte.
    Float4E2m1 = 23, "float4e2m1", 4;
    /// 8-bit power of two.
    Float8E8m0 = 24, "float8e8m0", 8;
    /// Unsigned 2-bit integer, four to a byte, first in the low bits.
    Uint2 = 25, "uint2", 2;
    /// Signed 2-bit integer, four to a byte, first in the low bits.
    Int2 = 26, "int2", 2;
    /// 6-bit float, 2 exponent and 3 mantissa bits, four to three bytes.
    Float6E2m3 = 27, "float6e2m3", 6;
    /// 6-bit float, 3 exponent and 2 mantissa bits, four to three bytes.
    Float6E3m2 = 28, "float6e3m2", 6;
}

impl ElemType {
    /// The number used in ONNX files.
    pub fn code(self) -> i32 {
        self as i32
    }

    /// The number of bytes of `count` elements in packed storage; `None` for strings
    /// and on overflow.
    pub fn byte_len(self, count: usize) -> Option<usize> {
        let bits = u128::from(self.bits()?);
        let bytes = (count as u128 * bits).div_ceil(8);
        usize::try_from(bytes).ok()
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ElemType {
    /// The library's [`DType`] for the elements; `None` for strings, because a tensor
    /// cannot hold strings.
    pub fn dtype(self) -> Option<DType> {
        use DTypeCode as Code;
        let (code, bits) = match self {
            ElemType::String => return None,
            ElemType::Float16 => (Code::Float, 16),
            ElemType::Float => (Code::Float, 32),
            ElemType::Double => (Code::Float, 64),
            ElemType::Bfloat16 => (Code::BFloat, 16),
            ElemType::Complex64 => (Code::Complex, 64),
            ElemType::Complex128 => (Code::Complex, 128),
            ElemType::Bool => (Code::Bool, 8),
            ElemType::Int2 => (Code::Int, 2),
            ElemType::Int4 => (Code::Int, 4),
            ElemType::Int8 => (Code::Int, 8),
            ElemType::Int16 => (Code::Int, 16),
            ElemType::Int32 => (Code::Int, 32),
            ElemType::Int64 => (Code::Int, 64),
            ElemType::Uint2 => (Code::UInt, 2),
            ElemType::Uint4 => (Code::UInt, 4),
            ElemType::Uint8 => (Code::UInt, 8),
            ElemType::Uint16 => (Code::UInt, 16),
            ElemType::Uint32 => (Code::UInt, 32),
            ElemType::Uint64 => (Code::UInt, 64),
            ElemType::Float8E4m3fn => (Code::Float8E4M3FN, 8),
            ElemType::Float8E4m3fnuz => (Code::Float8E4M3FNUZ, 8),
            ElemType::Float8E5m2 => (Code::Float8E5M2, 8),
            ElemType::Float8E5m2fnuz => (Code::Float8E5M2FNUZ, 8),
            ElemType::Float8E8m0 => (Code::Float8E8M0FNU, 8),
            ElemType::Float6E2m3 => (Code::Float6E2M3FN, 6),
            ElemType::Float6E3m2 => (Code::Float6E3M2FN, 6),
            ElemType::Float4E2m1 => (Code::Float4E2M1FN, 4),
        };
        Some(DType::new(code, bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_round_trip() {
        for &elem in ElemType::ALL {
            assert_eq!(ElemType::from_code(elem.code()), Some(elem));
            assert_eq!(ElemType::from_name(elem.name()), Some(elem));
        }
        assert_eq!(ElemType::ALL.len(), 28);
        assert_eq!(ElemType::from_code(0), None);
        assert_eq!(ElemType::from_code(29), None);
        assert_eq!(ElemType::from_code(-1), None);
    }

    #[test]
    fn byte_lengths_round_up_and_never_overflow() {
        assert_eq!(ElemType::Int4.byte_len(3), Some(2));
        assert_eq!(ElemType::Uint2.byte_len(5), Some(2));
        assert_eq!(ElemType::Float6E2m3.byte_len(3), Some(3));
        assert_eq!(ElemType::Float6E2m3.byte_len(5), Some(4));
        assert_eq!(ElemType::Complex128.byte_len(2), Some(32));
        assert_eq!(ElemType::Double.byte_len(usize::MAX), None);
        assert_eq!(ElemType::String.byte_len(1), None);
    }
}
