//! Floats of 4 to 16 bits: every conversion rounds once, to nearest, ties to even.

/// A float format of at most 8 bits.
pub(crate) struct Format {
    /// The bits of the mantissa.
    mantissa: u32,
    /// The exponent of the smallest normal number, and of all below.
    least: i32,
    /// The code of the largest finite number.
    largest: u8,
    /// The code of numbers beyond the largest, without their sign.
    overflow: u8,
    /// The code of NaN; None if the format has no NaN. NaN then becomes -0.
    nan: Option<u8>,
    /// The bit of the sign.
    sign: u8,
    /// True if the code with only the sign bit set stands for NaN.
    unsigned_zero: bool,
}

pub(crate) const E4M3FN: Format = Format {
    mantissa: 3,
    least: -6,
    largest: 0x7e,
    overflow: 0x7f,
    nan: Some(0x7f),
    sign: 0x80,
    unsigned_zero: false,
};

pub(crate) const E4M3FNUZ: Format = Format {
    mantissa: 3,
    least: -7,
    largest: 0x7f,
    overflow: 0x80,
    nan: Some(0x80),
    sign: 0x80,
    unsigned_zero: true,
};

pub(crate) const E5M2: Format = Format {
    mantissa: 2,
    least: -14,
    largest: 0x7b,
    overflow: 0x7c,
    nan: Some(0x7e),
    sign: 0x80,
    unsigned_zero: false,
};

pub(crate) const E5M2FNUZ: Format = Format {
    mantissa: 2,
    least: -15,
    largest: 0x7f,
    overflow: 0x80,
    nan: Some(0x80),
    sign: 0x80,
    unsigned_zero: true,
};

/// Formats without infinities and NaN: numbers beyond the largest become the largest.
const fn finite(mantissa: u32, least: i32, largest: u8) -> Format {
    Format {
        mantissa,
        least,
        largest,
        overflow: largest,
        nan: None,
        sign: largest + 1,
        unsigned_zero: false,
    }
}

pub(crate) const E2M1FN: Format = finite(1, 0, 0x07);
pub(crate) const E2M3FN: Format = finite(3, 0, 0x1f);
pub(crate) const E3M2FN: Format = finite(2, -2, 0x1f);

/// A power of two, for an exponent of a normal number.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The code of the nearest number; with `saturate`, numbers and infinities beyond the
/// largest become the largest.
pub(crate) fn encode(format: &Format, value: f64, saturate: bool) -> u8 {
    if value.is_nan() {
        return format.nan.unwrap_or(format.sign);
    }
    let size = value.abs();
    let sign = if value.is_sign_negative() {
        format.sign
    } else {
        0
    };
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(format.least);
    // Beyond the exponents of all formats, the quantum below would not be a normal number.
    let code = if exponent > 64 {
        u32::MAX
    } else {
        let quanta = size * power_of_two(format.mantissa as i32 - exponent);
        // The leading bit of a normal number adds one to the field of the exponent, and
        // so does a mantissa that is rounded up to the next power of two.
        (((exponent - format.least) as u32) << format.mantissa) + quanta.round_ties_even() as u32
    };
    match code {
        0 if format.unsigned_zero => 0,
        code if code <= u32::from(format.largest) => code as u8 | sign,
        _ if saturate => format.largest | sign,
        // In formats without negative zero, the overflow is a NaN without a sign.
        _ => {
            format.overflow
                | if format.unsigned_zero || Some(format.overflow) == format.nan {
                    0
                } else {
                    sign
                }
        }
    }
}

/// The number that a code stands for.
pub(crate) fn decode(format: &Format, code: u8) -> f64 {
    let size = code & (format.sign - 1);
    if format.unsigned_zero && code == 0x80 {
        return f64::NAN;
    }
    let magnitude = if size > format.largest {
        if format.overflow == size && Some(format.overflow) != format.nan {
            f64::INFINITY
        } else {
            return f64::NAN;
        }
    } else {
        let field = i32::from(size >> format.mantissa);
        let mantissa = size & ((1 << format.mantissa) - 1);
        let leading = if field == 0 { 0 } else { 1 << format.mantissa };
        f64::from(mantissa | leading)
            * power_of_two(field.max(1) - 1 + format.least - format.mantissa as i32)
    };
    if code & format.sign == 0 {
        magnitude
    } else {
        -magnitude
    }
}

/// The power of two to which a number between two powers of two is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScaleRounding {
    /// The larger power.
    Up,
    /// The smaller power.
    Down,
    /// The nearer power; on a tie, the larger power.
    #[default]
    Nearest,
}

/// The 8-bit format of powers of two: the exponent of a binary32 float.
pub(crate) mod scale {
    use super::ScaleRounding;

    const NAN: u8 = 0xff;

    /// The code of a power of two near a number; NaN for numbers below 0.
    pub(crate) fn encode(value: f64, rounding: ScaleRounding, saturate: bool) -> u8 {
        if value.is_nan() || value < 0.0 {
            return NAN;
        }
        if value < 2.0_f64.powi(-127) {
            return 0;
        }
        let bits = value.to_bits();
        let exponent = ((bits >> 52) as i32) - 1023;
        let mantissa = bits & ((1 << 52) - 1);
        let up = match rounding {
            ScaleRounding::Up => mantissa != 0,
            ScaleRounding::Down => false,
            ScaleRounding::Nearest => mantissa >= 1 << 51,
        };
        let code = exponent + 127 + i32::from(up);
        match u8::try_from(code) {
            Ok(code) if code < NAN => code,
            _ if saturate => NAN - 1,
            _ => NAN,
        }
    }

    /// The power of two.
    pub(crate) fn decode(code: u8) -> f64 {
        if code == NAN {
            return f64::NAN;
        }
        f64::from_bits(((i64::from(code) - 127 + 1023) as u64) << 52)
    }
}

/// A value for a second rounding to at most 16 bits: truncated, with the last bit set
/// if bits were lost ("round to odd"). The two roundings then give the same result as a
/// single rounding.
///
/// Boldo and Melquiond, "When double rounding is odd", 2005.
#[inline]
pub(crate) fn narrow_to_f32(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    if back == value || value.is_nan() || value.is_infinite() {
        return nearest;
    }
    let bits = nearest.to_bits();
    let towards_zero = bits - u32::from(back.abs() > value.abs());
    f32::from_bits(towards_zero | 1)
}

/// An integer as a float for a second rounding to at most 16 bits.
#[inline]
pub(crate) fn odd_f64_of_u64(value: u64) -> f64 {
    let excess = 11_u32.saturating_sub(value.leading_zeros());
    let lost = value & ((1 << excess) - 1) != 0;
    let kept = (value >> excess) | u64::from(lost);
    kept as f64 * (1_u64 << excess) as f64
}

/// An integer as a float for a second rounding to at most 16 bits.
#[inline]
pub(crate) fn odd_f64_of_i64(value: i64) -> f64 {
    let size = odd_f64_of_u64(value.unsigned_abs());
    if value < 0 { -size } else { size }
}
