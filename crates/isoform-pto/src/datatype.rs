//! Formats of numbers.

use isoform::types::NodeEnum;
use isoform::values::{DType, DTypeCode};
use isoform::{Map, Ref, Result, Str, Value, export, node_enum};

node_enum! {
    /// The format of a number.
    pub enum DataType, DataTypeObject = "pto.DataType" {
        /// A truth value.
        Bool = "BOOL",
        /// A signed integer of 4 bits.
        Int4 = "INT4",
        /// A signed integer of 8 bits.
        Int8 = "INT8",
        /// A signed integer of 16 bits.
        Int16 = "INT16",
        /// A signed integer of 32 bits.
        Int32 = "INT32",
        /// A signed integer of 64 bits.
        Int64 = "INT64",
        /// An unsigned integer of 4 bits.
        UInt4 = "UINT4",
        /// An unsigned integer of 8 bits.
        UInt8 = "UINT8",
        /// An unsigned integer of 16 bits.
        UInt16 = "UINT16",
        /// An unsigned integer of 32 bits.
        UInt32 = "UINT32",
        /// An unsigned integer of 64 bits.
        UInt64 = "UINT64",
        /// A float of 4 bits.
        Fp4 = "FP4",
        /// A float of 8 bits, 4 of them exponent, without infinities.
        Fp8E4M3Fn = "FP8E4M3FN",
        /// A float of 8 bits, 5 of them exponent.
        Fp8E5M2 = "FP8E5M2",
        /// A power of two with an exponent of 8 bits.
        Fp8E8M0 = "FP8E8M0",
        /// A float of 16 bits.
        Fp16 = "FP16",
        /// A float of 32 bits.
        Fp32 = "FP32",
        /// A 16-bit float with the exponent of a 32-bit float.
        Bf16 = "BF16",
        /// A Hi-Float of 4 bits.
        Hf4 = "HF4",
        /// A Hi-Float of 8 bits.
        Hf8 = "HF8",
        /// An integer that is a size, an offset or the value of a loop variable.
        Index = "INDEX",
        /// The name of a task at run time.
        TaskId = "TASK_ID",
    }
    aliases { "DEFAULT_CONST_INT" = Int64, "DEFAULT_CONST_FLOAT" = Fp32 }
}

impl DataType {
    /// The format of integer literals without an explicit one.
    pub const DEFAULT_CONST_INT: DataType = DataType::Int64;
    /// The format of float literals without an explicit one.
    pub const DEFAULT_CONST_FLOAT: DataType = DataType::Fp32;

    /// Returns the number of bits of a number.
    pub fn bits(self) -> u32 {
        match self {
            DataType::Int4 | DataType::UInt4 | DataType::Fp4 | DataType::Hf4 => 4,
            DataType::Bool
            | DataType::Int8
            | DataType::UInt8
            | DataType::Fp8E4M3Fn
            | DataType::Fp8E5M2
            | DataType::Fp8E8M0
            | DataType::Hf8 => 8,
            DataType::Int16 | DataType::UInt16 | DataType::Fp16 | DataType::Bf16 => 16,
            DataType::Int32 | DataType::UInt32 | DataType::Fp32 => 32,
            DataType::Int64 | DataType::UInt64 | DataType::Index | DataType::TaskId => 64,
        }
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(
            self,
            DataType::Fp4
                | DataType::Fp8E4M3Fn
                | DataType::Fp8E5M2
                | DataType::Fp8E8M0
                | DataType::Fp16
                | DataType::Fp32
                | DataType::Bf16
                | DataType::Hf4
                | DataType::Hf8
        )
    }

    /// True for integer formats with negative values, including indices.
    pub fn is_signed_int(self) -> bool {
        matches!(
            self,
            DataType::Int4
                | DataType::Int8
                | DataType::Int16
                | DataType::Int32
                | DataType::Int64
                | DataType::Index
        )
    }

    /// True for integer formats without negative values.
    pub fn is_unsigned_int(self) -> bool {
        matches!(
            self,
            DataType::UInt4
                | DataType::UInt8
                | DataType::UInt16
                | DataType::UInt32
                | DataType::UInt64
        )
    }

    /// True if it is an integer format; truth values and names of tasks are not.
    pub fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// Returns the range of an integer format; None for other formats.
    pub fn int_range(self) -> Option<std::ops::RangeInclusive<i128>> {
        let bits = self.bits();
        if self == DataType::Bool {
            Some(0..=1)
        } else if self.is_signed_int() {
            Some(-(1 << (bits - 1))..=(1 << (bits - 1)) - 1)
        } else if self.is_unsigned_int() || self == DataType::TaskId {
            Some(0..=(1 << bits) - 1)
        } else {
            None
        }
    }

    /// Returns the largest finite number of a float format; None for other formats.
    pub fn max_finite(self) -> Option<f64> {
        Some(match self {
            DataType::Fp4 => 6.0,
            DataType::Fp8E4M3Fn => 448.0,
            DataType::Fp8E5M2 => 57344.0,
            DataType::Fp8E8M0 => 2f64.powi(127),
            DataType::Fp16 => 65504.0,
            DataType::Fp32 => f64::from(f32::MAX),
            DataType::Bf16 => 2f64.powi(127) * (2.0 - 2f64.powi(-7)),
            DataType::Hf4 => 1.75,
            DataType::Hf8 => 32768.0,
            _ => return None,
        })
    }

    /// The data type of tensor elements of this format, if any.
    pub fn dtype(self) -> Option<DType> {
        let (code, bits) = match self {
            DataType::Bool => (DTypeCode::Bool, 8),
            DataType::Fp4 => (DTypeCode::Float4E2M1FN, 4),
            DataType::Fp8E4M3Fn => (DTypeCode::Float8E4M3FN, 8),
            DataType::Fp8E5M2 => (DTypeCode::Float8E5M2, 8),
            DataType::Fp8E8M0 => (DTypeCode::Float8E8M0FNU, 8),
            DataType::Fp16 => (DTypeCode::Float, 16),
            DataType::Fp32 => (DTypeCode::Float, 32),
            DataType::Bf16 => (DTypeCode::BFloat, 16),
            DataType::Hf4 | DataType::Hf8 | DataType::Index | DataType::TaskId => return None,
            _ if self.is_signed_int() => (DTypeCode::Int, self.bits() as u8),
            _ => (DTypeCode::UInt, self.bits() as u8),
        };
        Some(DType::new(code, bits))
    }
}

impl std::fmt::Display for DataType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name().to_ascii_lowercase())
    }
}

/// Returns the properties of a format, by name.
#[export("pto.DataType.facts")]
fn facts(dtype: &Ref<DataTypeObject>) -> Map<Str, Value> {
    let dtype = dtype.get();
    let mut facts = Map::new();
    let known = [
        ("bits", i64::from(dtype.bits()).into()),
        ("is_float", dtype.is_float().into()),
        ("is_signed_int", dtype.is_signed_int().into()),
        ("is_unsigned_int", dtype.is_unsigned_int().into()),
    ];
    for (name, value) in known {
        facts.insert(name.into(), value);
    }
    facts
}

pub(super) fn register() -> Result<()> {
    isoform::types::register_enum::<DataType>()?;
    isoform::register_functions![facts]
}
