//! The types of elements.

use std::fmt;
use std::str::FromStr;

use crate::error::{KernelError, Result};

macro_rules! element_types {
    ($($variant:ident $name:literal $size:literal $class:ident $doc:literal,)*) => {
        /// The type of the elements of a tensor.
        ///
        /// Elements are stored little-endian, without gaps, and need no alignment.
        /// Integers of 2 and 4 bits and floats of 4, 6 and 8 bits are storage types:
        /// they can be moved, selected and cast, and arithmetic on storage types is a
        /// type error. Complex numbers can be moved and selected.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ElementType {
            $(#[doc = $doc] $variant,)*
        }

        impl ElementType {
            /// Every element type.
            pub const ALL: &'static [ElementType] = &[$(ElementType::$variant),*];

            /// The name in the spelling of NumPy and `ml_dtypes`: `"float32"`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name,)* }
            }

            /// The size of one element in bytes.
            #[must_use]
            pub const fn size(self) -> usize {
                match self { $(ElementType::$variant => $size,)* }
            }

            const fn class(self) -> Class {
                match self { $(ElementType::$variant => Class::$class,)* }
            }
        }
    };
}

#[derive(PartialEq)]
enum Class {
    Bool,
    Integer,
    Float,
    Stored,
    Moved,
}

element_types! {
    Bool "bool" 1 Bool "A truth value: the byte 0 is false, every other byte is read as true, and 1 is written.",
    Int4 "int4" 1 Stored "A signed 4-bit integer in the low half of a byte of its own; the high half is 0 when written and ignored when read, as in `ml_dtypes`. [`unpack_bits`](crate::unpack_bits) converts from two per byte.",
    UInt4 "uint4" 1 Stored "An unsigned 4-bit integer in the low half of a byte of its own; the high half is 0 when written and ignored when read.",
    Int8 "int8" 1 Integer "A signed 8-bit integer.",
    Int16 "int16" 2 Integer "A signed 16-bit integer.",
    Int32 "int32" 4 Integer "A signed 32-bit integer.",
    Int64 "int64" 8 Integer "A signed 64-bit integer.",
    UInt8 "uint8" 1 Integer "An unsigned 8-bit integer.",
    UInt16 "uint16" 2 Integer "An unsigned 16-bit integer.",
    UInt32 "uint32" 4 Integer "An unsigned 32-bit integer.",
    UInt64 "uint64" 8 Integer "An unsigned 64-bit integer.",
    Float16 "float16" 2 Float "An IEEE 754 binary16 float.",
    BFloat16 "bfloat16" 2 Float "The upper half of a binary32 float.",
    Float32 "float32" 4 Float "An IEEE 754 binary32 float.",
    Float64 "float64" 8 Float "An IEEE 754 binary64 float.",
    Float8E4M3Fn "float8_e4m3fn" 1 Stored "4 bits of exponent, 3 of mantissa, no infinities; at most 448.",
    Float8E4M3FnUz "float8_e4m3fnuz" 1 Stored "4 bits of exponent, 3 of mantissa, no infinities, no negative zero; at most 240.",
    Float8E5M2 "float8_e5m2" 1 Stored "5 bits of exponent, 2 of mantissa, with infinities; at most 57344.",
    Float8E5M2FnUz "float8_e5m2fnuz" 1 Stored "5 bits of exponent, 2 of mantissa, no infinities, no negative zero; at most 57344.",
    Int2 "int2" 1 Stored "A signed 2-bit integer in the low bits of a byte of its own; the other bits are 0 when written and ignored when read.",
    UInt2 "uint2" 1 Stored "An unsigned 2-bit integer in the low bits of a byte of its own; the other bits are 0 when written and ignored when read.",
    Float4E2M1Fn "float4_e2m1fn" 1 Stored "2 bits of exponent, 1 of mantissa, in the low bits of a byte of its own; at most 6, without infinities and NaN.",
    Float6E2M3Fn "float6_e2m3fn" 1 Stored "2 bits of exponent, 3 of mantissa, in the low bits of a byte of its own; at most 7.5, without infinities and NaN.",
    Float6E3M2Fn "float6_e3m2fn" 1 Stored "3 bits of exponent, 2 of mantissa, in the low bits of a byte of its own; at most 28, without infinities and NaN.",
    Float8E8M0Fnu "float8_e8m0fnu" 1 Stored "8 bits of exponent: a power of two from 2^-127 to 2^127, or NaN.",
    Complex64 "complex64" 8 Moved "Two binary32 floats, the real part first.",
    Complex128 "complex128" 16 Moved "Two binary64 floats, the real part first.",
}

impl ElementType {
    /// True for the integers of 8 to 64 bits, on which arithmetic is defined.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self.class(), Class::Integer)
    }

    /// True for the floats of 16 to 64 bits, on which arithmetic is defined.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }

    /// The number of bits of an element in packed form, as in files: fewer than 8 for
    /// types whose elements do not fill their byte.
    #[must_use]
    pub const fn packed_bits(self) -> usize {
        match self {
            ElementType::Int2 | ElementType::UInt2 => 2,
            ElementType::Int4 | ElementType::UInt4 | ElementType::Float4E2M1Fn => 4,
            ElementType::Float6E2M3Fn | ElementType::Float6E3M2Fn => 6,
            _ => 8 * self.size(),
        }
    }

    /// True for complex numbers, which can only be moved.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), Class::Moved)
    }

    /// True for the types that can be moved and cast only.
    #[must_use]
    pub const fn is_storage_only(self) -> bool {
        matches!(self.class(), Class::Stored)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ElementType {
    type Err = KernelError;

    /// Reads a name in the spelling of [`name`](ElementType::name); a type error for
    /// any other name.
    fn from_str(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|ty| ty.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|ty| ty.name()).collect();
            KernelError::ty(format!(
                "expected the name of an element type, one of {}, got {name:?}",
                names.join(", ")
            ))
        })
    }
}

/// The error of an operator that is not defined for an element type.
#[cold]
pub(crate) fn not_defined(operator: &str, expected: &str, got: ElementType) -> KernelError {
    let advice = if got.is_storage_only() {
        "; cast it to a wider type first"
    } else {
        ""
    };
    KernelError::ty(format!(
        "{operator}: expected elements of {expected}, got {got}{advice}"
    ))
}
