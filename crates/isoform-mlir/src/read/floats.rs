//! The formats of floats: rounding of decimal numbers, once and to the nearest.

use num_bigint::BigUint;

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

/// The number of decimal digits that decide the rounding of any format.
const DIGITS: usize = 12_000;

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

    /// The bits of a decimal number.
    pub(crate) fn round(&self, text: &str, is_negative: bool) -> u128 {
        match self.name {
            "f64" => {
                let value: f64 = text.parse().unwrap_or_default();
                u128::from(value.to_bits()) | u128::from(is_negative) << 63
            }
            "f32" => {
                let value: f32 = text.parse().unwrap_or_default();
                u128::from(value.to_bits()) | u128::from(is_negative) << 31
            }
            _ => self.with_sign(self.round_magnitude(text), is_negative),
        }
    }

    fn with_sign(&self, bits: u128, is_negative: bool) -> u128 {
        let is_lost = self.special == Special::NegativeZero && bits == 0;
        if is_negative && self.has_sign() && !is_lost {
            return bits | 1 << (self.bits - 1);
        }
        bits
    }

    fn round_magnitude(&self, text: &str) -> u128 {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let limit = 1_000_000_000_i64;
        let sign = if exponent.starts_with('-') {
            -limit
        } else {
            limit
        };
        let exponent = exponent.parse::<i64>().unwrap_or(sign).clamp(-limit, limit);
        let all = format!("{whole}{fraction}");
        let digits = all.trim_start_matches('0');
        let kept = &digits[..digits.len().min(DIGITS)];
        let rest = &digits[kept.len()..];
        let mut number = kept.parse::<BigUint>().unwrap_or_default();
        let mut power = exponent - fraction.len() as i64 + rest.len() as i64;
        if rest.bytes().any(|digit| digit != b'0') {
            // Anything above the kept digits decides a tie.
            number = number * 10_u32 + 1_u32;
            power -= 1;
        }
        let length = kept.len() as i64;
        if number == BigUint::ZERO || length + power < -6_000 {
            return self.scaled(&BigUint::ZERO, &BigUint::from(1_u32));
        }
        if length + power > 6_000 {
            return self.overflow();
        }
        let ten = BigUint::from(10_u32);
        let scale = ten.pow(power.unsigned_abs() as u32);
        if power >= 0 {
            self.scaled(&(number * scale), &BigUint::from(1_u32))
        } else {
            self.scaled(&number, &scale)
        }
    }

    /// The bits of `numerator / denominator`.
    fn scaled(&self, numerator: &BigUint, denominator: &BigUint) -> u128 {
        let lowest = 1 - self.bias;
        if *numerator == BigUint::ZERO {
            return 0;
        }
        // The exponent of the leading one, or one more.
        let mut exponent = numerator.bits() as i64 - denominator.bits() as i64;
        let floor = |exponent: i64| {
            let scale = exponent.unsigned_abs();
            if exponent >= 0 {
                *numerator >= (denominator << scale)
            } else {
                (numerator << scale) >= *denominator
            }
        };
        if !floor(exponent) {
            exponent -= 1;
        }
        let is_scale = !self.has_sign();
        let lowest = if is_scale {
            i64::from(-self.bias)
        } else {
            i64::from(lowest)
        };
        let clamped = exponent.max(lowest);
        // The mantissa with its leading one, as an integer and a remainder.
        let shift = i64::from(self.mantissa) - clamped;
        let (top, bottom) = if shift >= 0 {
            (numerator << shift.unsigned_abs(), denominator.clone())
        } else {
            (numerator.clone(), denominator << shift.unsigned_abs())
        };
        let quotient = &top / &bottom;
        let twice = (&top - &quotient * &bottom) << 1_u32;
        let quotient = u128::try_from(&quotient).unwrap_or(u128::MAX);
        let is_up = twice > bottom || (twice == bottom && quotient & 1 == 1);
        let rounded = quotient + u128::from(is_up);
        self.assembled(rounded, clamped, is_scale)
    }

    /// The bits of `mantissa * 2^(exponent - self.mantissa)`.
    fn assembled(&self, mantissa: u128, exponent: i64, is_scale: bool) -> u128 {
        let leading = 1_u128 << self.mantissa;
        if is_scale {
            // A mantissa of two is the next power, of zero the lowest one.
            let power = exponent + i64::from(mantissa >= 2) + i64::from(self.bias);
            return if power > 254 { 0xff } else { power as u128 };
        }
        let (mantissa, exponent) = if mantissa >= leading << 1 {
            (mantissa >> 1, exponent + 1)
        } else {
            (mantissa, exponent)
        };
        let field = if mantissa < leading {
            0
        } else {
            exponent + i64::from(self.bias)
        };
        let top = (1_i64 << self.exponent_bits()) - 1;
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
