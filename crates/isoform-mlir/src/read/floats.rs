//! The formats of floats: rounding of decimal numbers to the nearest.

/// The values beside the finite ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    /// Infinities and NaNs at the highest exponent.
    Ieee,
    /// A NaN with all bits set, no infinity.
    AllOnes,
    /// A NaN in the place of the negative zero, no infinity.
    NegativeZero,
    /// None.
    Finite,
}

/// A format of floats.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Format {
    name: &'static str,
    /// The number of bits.
    pub(crate) bits: u32,
    /// The bits of the mantissa, without the leading one.
    mantissa: u32,
    bias: i32,
    special: Special,
}

const fn format(
    name: &'static str,
    bits: u32,
    mantissa: u32,
    bias: i32,
    special: Special,
) -> Format {
    Format {
        name,
        bits,
        mantissa,
        bias,
        special,
    }
}

const FORMATS: [Format; 18] = [
    format("f32", 32, 23, 127, Special::Ieee),
    format("f64", 64, 52, 1023, Special::Ieee),
    format("f16", 16, 10, 15, Special::Ieee),
    format("bf16", 16, 7, 127, Special::Ieee),
    format("tf32", 19, 10, 127, Special::Ieee),
    format("f80", 80, 63, 16383, Special::Ieee),
    format("f128", 128, 112, 16383, Special::Ieee),
    format("f8E5M2", 8, 2, 15, Special::Ieee),
    format("f8E5M2FNUZ", 8, 2, 16, Special::NegativeZero),
    format("f8E4M3", 8, 3, 7, Special::Ieee),
    format("f8E4M3FN", 8, 3, 7, Special::AllOnes),
    format("f8E4M3FNUZ", 8, 3, 8, Special::NegativeZero),
    format("f8E4M3B11FNUZ", 8, 3, 11, Special::NegativeZero),
    format("f8E3M4", 8, 4, 3, Special::Ieee),
    format(SCALE, 8, 0, 127, Special::AllOnes),
    format("f6E2M3FN", 6, 3, 1, Special::Finite),
    format("f6E3M2FN", 6, 2, 3, Special::Finite),
    format("f4E2M1FN", 4, 1, 1, Special::Finite),
];

/// The format of powers of two, without sign and zero.
const SCALE: &str = "f8E8M0FNU";

impl Format {
    /// The format of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Format> {
        FORMATS.iter().find(|format| format.name == name)
    }

    fn has_sign(&self) -> bool {
        self.name != SCALE
    }

    fn exponent_bits(&self) -> u32 {
        // The mantissa of f80 has its leading one.
        let explicit = u32::from(self.bits == 80);
        self.bits - self.mantissa - explicit - u32::from(self.has_sign())
    }

    /// The bits of a decimal number, which is rounded to a double first, as in MLIR.
    pub(crate) fn round(&self, text: &str, is_negative: bool) -> u128 {
        let value: f64 = text.parse().unwrap_or_default();
        let magnitude = match self.name {
            "f64" => u128::from(value.to_bits()),
            "f32" => u128::from((value as f32).to_bits()),
            _ if value.is_infinite() => self.infinite(),
            _ => self.magnitude(value),
        };
        let is_lost = self.special == Special::NegativeZero && magnitude == 0;
        if is_negative && self.has_sign() && !is_lost {
            return magnitude | 1 << (self.bits - 1);
        }
        magnitude
    }

    /// The bits of a finite number that is not negative.
    fn magnitude(&self, value: f64) -> u128 {
        if value == 0.0 {
            return 0;
        }
        let bits = value.to_bits();
        let field = (bits >> 52) as i32;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        // The value is `mantissa * 2^power`.
        let (mantissa, power) = if field == 0 {
            (fraction, -1074)
        } else {
            (fraction | 1 << 52, field - 1075)
        };
        let exponent = power + 127 - mantissa.leading_zeros() as i32;
        let lowest = if self.has_sign() {
            1 - self.bias
        } else {
            -self.bias
        };
        let exponent = exponent.max(lowest);
        // The mantissa of the format, whose last bit is worth `2^(exponent - self.mantissa)`.
        let shift = exponent - self.mantissa as i32 - power;
        let rounded = match u32::try_from(shift) {
            Err(_) => mantissa << shift.unsigned_abs(),
            Ok(0) => mantissa,
            Ok(shift @ 1..=126) => {
                let half = 1_u128 << (shift - 1);
                let rest = mantissa & ((1 << shift) - 1);
                let whole = mantissa >> shift;
                whole + u128::from(rest > half || (rest == half && whole & 1 == 1))
            }
            Ok(_) => 0,
        };
        self.assembled(rounded, exponent)
    }

    /// The bits of `mantissa * 2^(exponent - self.mantissa)`.
    fn assembled(&self, mantissa: u128, exponent: i32) -> u128 {
        let leading = 1_u128 << self.mantissa;
        if !self.has_sign() {
            // A mantissa of two is the next power.
            let power = exponent + i32::from(mantissa >= 2) + self.bias;
            return u128::try_from(power).unwrap_or_default().min(0xff);
        }
        let (mantissa, exponent) = if mantissa >= leading << 1 {
            (mantissa >> 1, exponent + 1)
        } else {
            (mantissa, exponent)
        };
        let field = if mantissa < leading {
            0
        } else {
            exponent + self.bias
        };
        let top = (1_i32 << self.exponent_bits()) - 1;
        let fraction = mantissa & (leading - 1);
        let is_too_large = match self.special {
            Special::Ieee => field >= top,
            Special::AllOnes => field > top || (field == top && fraction == leading - 1),
            Special::NegativeZero | Special::Finite => field > top,
        };
        if is_too_large {
            return self.overflow();
        }
        if self.bits == 80 {
            return (field as u128) << 64 | mantissa;
        }
        (field as u128) << self.mantissa | fraction
    }

    /// The bits for an infinite double.
    fn infinite(&self) -> u128 {
        match self.special {
            Special::Finite => 0,
            _ => self.overflow(),
        }
    }

    /// The bits for a number above all finite ones.
    fn overflow(&self) -> u128 {
        let top = (1_u128 << self.exponent_bits()) - 1;
        match self.special {
            Special::Ieee if self.bits == 80 => top << 64 | 1 << 63,
            Special::Ieee => top << self.mantissa,
            Special::AllOnes if !self.has_sign() => 0xff,
            Special::AllOnes | Special::Finite => (1 << (self.bits - 1)) - 1,
            Special::NegativeZero => 1 << (self.bits - 1),
        }
    }

    /// The value of the bits, if it is a finite number that a double has exactly.
    pub(crate) fn double(&self, bits: u128) -> Option<f64> {
        if self.bits > 64 {
            return None;
        }
        if self.bits == 64 {
            return Some(f64::from_bits(bits as u64)).filter(|value| value.is_finite());
        }
        let is_negative = self.has_sign() && bits >> (self.bits - 1) & 1 == 1;
        let top = (1_u128 << self.exponent_bits()) - 1;
        let field = bits >> self.mantissa & top;
        let fraction = bits & ((1 << self.mantissa) - 1);
        let is_special = match self.special {
            Special::Ieee => field == top,
            Special::AllOnes => field == top && fraction == (1 << self.mantissa) - 1,
            Special::NegativeZero => is_negative && field == 0 && fraction == 0,
            Special::Finite => false,
        };
        if is_special {
            return None;
        }
        let is_subnormal = field == 0 && self.has_sign();
        let leading = if is_subnormal {
            0
        } else {
            1_u128 << self.mantissa
        };
        let exponent = field.max(u128::from(is_subnormal)) as i32 - self.bias;
        let magnitude = (fraction | leading) as f64 * power_of_two(exponent - self.mantissa as i32);
        Some(if is_negative { -magnitude } else { magnitude })
    }
}

/// A power that a double has exactly.
fn power_of_two(exponent: i32) -> f64 {
    if exponent >= -1022 {
        return f64::from_bits(((exponent + 1023).clamp(0, 2046) as u64) << 52);
    }
    f64::from_bits(1_u64 << (exponent + 1074).clamp(0, 63))
}
