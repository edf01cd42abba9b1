//! Data types of tensor elements, and devices.

use std::fmt;
use std::str::FromStr;

use crate::kernel::error::{Error, Result};

/// The number format of a [`DType`]; the numbering is DLPack's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the variants are the names of number formats")]
#[repr(u8)]
pub enum DTypeCode {
    Int = 0,
    UInt = 1,
    Float = 2,
    Handle = 3,
    BFloat = 4,
    Complex = 5,
    Bool = 6,
    Float8E3M4 = 7,
    Float8E4M3 = 8,
    Float8E4M3B11FNUZ = 9,
    Float8E4M3FN = 10,
    Float8E4M3FNUZ = 11,
    Float8E5M2 = 12,
    Float8E5M2FNUZ = 13,
    Float8E8M0FNU = 14,
    Float6E2M3FN = 15,
    Float6E3M2FN = 16,
    Float4E2M1FN = 17,
}

/// Codes with their names, and their width in bits if the name determines the width.
const CODES: [(DTypeCode, &str, u8); 18] = [
    (DTypeCode::Int, "int", 0),
    (DTypeCode::UInt, "uint", 0),
    (DTypeCode::Float, "float", 0),
    (DTypeCode::Handle, "handle", 64),
    (DTypeCode::BFloat, "bfloat", 0),
    (DTypeCode::Complex, "complex", 0),
    (DTypeCode::Bool, "bool", 8),
    (DTypeCode::Float8E3M4, "float8_e3m4", 8),
    (DTypeCode::Float8E4M3, "float8_e4m3", 8),
    (DTypeCode::Float8E4M3B11FNUZ, "float8_e4m3b11fnuz", 8),
    (DTypeCode::Float8E4M3FN, "float8_e4m3fn", 8),
    (DTypeCode::Float8E4M3FNUZ, "float8_e4m3fnuz", 8),
    (DTypeCode::Float8E5M2, "float8_e5m2", 8),
    (DTypeCode::Float8E5M2FNUZ, "float8_e5m2fnuz", 8),
    (DTypeCode::Float8E8M0FNU, "float8_e8m0fnu", 8),
    (DTypeCode::Float6E2M3FN, "float6_e2m3fn", 6),
    (DTypeCode::Float6E3M2FN, "float6_e3m2fn", 6),
    (DTypeCode::Float4E2M1FN, "float4_e2m1fn", 4),
];

/// A data type: number format, width in bits, and vector lanes.
///
/// ```
/// use isoform::values::{DType, DTypeCode};
/// let dtype: DType = "float32x4".parse()?;
/// assert_eq!((dtype.code(), dtype.bits(), dtype.lanes()), (DTypeCode::Float, 32, 4));
/// assert_eq!(dtype.to_string(), "float32x4");
/// # Ok::<(), isoform::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(C)]
pub struct DType {
    code: DTypeCode,
    bits: u8,
    lanes: u16,
}

impl DType {
    /// A scalar data type of this format and width.
    pub const fn new(code: DTypeCode, bits: u8) -> Self {
        DType {
            code,
            bits,
            lanes: 1,
        }
    }

    /// The same format with this many vector lanes.
    #[must_use]
    pub const fn with_lanes(self, lanes: u16) -> Self {
        DType { lanes, ..self }
    }

    /// 32-bit floats.
    pub const FLOAT32: DType = DType::new(DTypeCode::Float, 32);
    /// 64-bit floats.
    pub const FLOAT64: DType = DType::new(DTypeCode::Float, 64);
    /// 32-bit signed integers.
    pub const INT32: DType = DType::new(DTypeCode::Int, 32);
    /// 64-bit signed integers.
    pub const INT64: DType = DType::new(DTypeCode::Int, 64);
    /// Booleans of one byte.
    pub const BOOL: DType = DType::new(DTypeCode::Bool, 8);

    /// The data type `void`, which no value has: an open setting, such as the data type
    /// of a result that follows the inputs. No tensor has this data type.
    pub const VOID: DType = DType::new(DTypeCode::Handle, 0).with_lanes(0);

    /// True for [`VOID`](Self::VOID).
    pub fn is_void(self) -> bool {
        self == DType::VOID
    }

    /// Makes a data type from DLPack's numbers; None for an unknown code, and for zero
    /// bits or lanes except in [`VOID`](Self::VOID).
    pub fn from_parts(code: u8, bits: u8, lanes: u16) -> Option<Self> {
        let (code, _, _) = CODES.get(usize::from(code))?;
        if (*code, bits, lanes) == (DTypeCode::Handle, 0, 0) {
            return Some(DType::VOID);
        }
        (bits > 0 && lanes > 0).then_some(DType {
            code: *code,
            bits,
            lanes,
        })
    }

    /// The number format.
    pub fn code(self) -> DTypeCode {
        self.code
    }

    /// The number of bits of one lane.
    pub fn bits(self) -> u8 {
        self.bits
    }

    /// The number of vector lanes; 1 for a scalar.
    pub fn lanes(self) -> u16 {
        self.lanes
    }

    /// The size in bytes of `count` densely packed elements; None on overflow.
    pub fn byte_size(self, count: u64) -> Option<u64> {
        let bits = u64::from(self.bits)
            .checked_mul(u64::from(self.lanes))?
            .checked_mul(count)?;
        Some(bits.div_ceil(8))
    }

    /// The data type as a number: code, bits and lanes, in DLPack's layout. Different
    /// types have different numbers.
    pub const fn to_bits(self) -> u32 {
        self.code as u32 | (self.bits as u32) << 8 | (self.lanes as u32) << 16
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        let code = CODES
            .get((bits & 0xff) as usize)
            .map_or(DTypeCode::Int, |entry| entry.0);
        DType {
            code,
            bits: (bits >> 8) as u8,
            lanes: (bits >> 16) as u16,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_void() {
            return f.write_str("void");
        }
        let (_, name, fixed) = CODES[self.code as usize];
        f.write_str(name)?;
        if fixed != self.bits {
            write!(f, "{}", self.bits)?;
        }
        if self.lanes != 1 {
            write!(f, "x{}", self.lanes)?;
        }
        Ok(())
    }
}

impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = || {
            Error::value_error(format!(
                "expected a dtype such as int64, float32x4, bool or float8_e4m3fn, got {text:?}"
            ))
        };
        if text == "void" {
            return Ok(DType::VOID);
        }
        // The longest name first: `float8_e4m3fn` also starts with `float`.
        let mut names = CODES;
        names.sort_by_key(|(_, name, _)| std::cmp::Reverse(name.len()));
        for (code, name, fixed) in names {
            let Some(rest) = text.strip_prefix(name) else {
                continue;
            };
            let (width, lanes) = match rest.split_once('x') {
                Some((width, lanes)) => (
                    width,
                    number(lanes).filter(|&lanes| lanes > 0).ok_or_else(fail)?,
                ),
                None => (rest, 1),
            };
            let bits = match (width, fixed) {
                ("", 0) => return Err(fail()),
                ("", fixed) => fixed,
                (width, _) => number(width).filter(|&bits| bits > 0).ok_or_else(fail)?,
            };
            return Ok(DType { code, bits, lanes });
        }
        Err(fail())
    }
}

/// A number written in digits only; the standard parser also takes a sign.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The location of a tensor: DLPack's device kind and an ordinal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    kind: u32,
    ordinal: u32,
}

/// DLPack's numbers and the usual device names.
const DEVICES: [(u32, &str); 16] = [
    (1, "cpu"),
    (2, "cuda"),
    (3, "cuda_host"),
    (4, "opencl"),
    (7, "vulkan"),
    (8, "metal"),
    (9, "vpi"),
    (10, "rocm"),
    (11, "rocm_host"),
    (12, "ext_dev"),
    (13, "cuda_managed"),
    (14, "oneapi"),
    (15, "webgpu"),
    (16, "hexagon"),
    (17, "maia"),
    (18, "trn"),
];

impl Device {
    /// The CPU.
    pub const CPU: Device = Device {
        kind: 1,
        ordinal: 0,
    };

    /// A device by DLPack kind and ordinal.
    pub const fn new(kind: u32, ordinal: u32) -> Self {
        Device { kind, ordinal }
    }

    /// DLPack's number of the kind.
    pub fn kind(self) -> u32 {
        self.kind
    }

    /// The ordinal among devices of the kind.
    pub fn ordinal(self) -> u32 {
        self.ordinal
    }

    pub(crate) const fn to_bits(self) -> u64 {
        (self.kind as u64) << 32 | self.ordinal as u64
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Device {
            kind: (bits >> 32) as u32,
            ordinal: bits as u32,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DEVICES.iter().find(|(kind, _)| *kind == self.kind) {
            Some((_, name)) => write!(f, "{name}:{}", self.ordinal),
            None => write!(f, "device{}:{}", self.kind, self.ordinal),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = || Error::value_error(format!("expected a device such as cuda:1, got {text:?}"));
        let (name, ordinal) = match text.split_once(':') {
            Some((name, ordinal)) => (name, number(ordinal).ok_or_else(fail)?),
            None => (text, 0),
        };
        let known = DEVICES.iter().find(|(_, known)| *known == name);
        let kind = match known {
            Some((kind, _)) => *kind,
            // As kinds without a name are printed.
            None => name
                .strip_prefix("device")
                .and_then(number)
                .ok_or_else(fail)?,
        };
        Ok(Device { kind, ordinal })
    }
}
