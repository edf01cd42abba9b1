//! Arithmetic on one element.
//!
//! Integers wrap around. The 16-bit floats compute in `f32` or `f64` and round once;
//! for `+ - * /` and the square root that is the correctly rounded result.

use half::{bf16, f16};

use crate::element::Element;

/// The integers and floats that can be computed with.
pub(crate) trait Number: Element + PartialOrd {
    /// The type in which sums and products are accumulated: integers modulo 2^64, or `f64`.
    type Wide: Wide;
    const ZERO: Self;
    const ONE: Self;
    const IS_FLOAT: bool;
    /// The neutral element of addition: -0 for floats, because 0 would turn -0 into 0.
    const NEUTRAL: Self::Wide;

    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    /// Towards zero for integers, whose caller has excluded zero.
    fn divide(self, other: Self) -> Self;
    fn trunc_divide(self, other: Self) -> Self;
    fn trunc_mod(self, other: Self) -> Self;
    fn floor_divide(self, other: Self) -> Self;
    fn floor_mod(self, other: Self) -> Self;
    /// The caller has excluded negative exponents of integers.
    fn power(self, exponent: Self) -> Self;
    fn negate(self) -> Self;
    fn absolute(self) -> Self;
    fn sign(self) -> Self;

    fn wide(self) -> Self::Wide;
    fn narrow(wide: Self::Wide) -> Self;

    #[inline]
    fn is_nan(self) -> bool {
        self.partial_cmp(&self).is_none()
    }

    /// The larger number; NaN if either is NaN; 0 is larger than -0.
    #[inline]
    fn maximum(self, other: Self) -> Self {
        if self > other || (self == other && !Self::negative_zero(self)) || self.is_nan() {
            self
        } else {
            other
        }
    }

    /// The smaller one; NaN if either is; -0 is smaller than 0.
    #[inline]
    fn minimum(self, other: Self) -> Self {
        if self < other || (self == other && Self::negative_zero(self)) || self.is_nan() {
            self
        } else {
            other
        }
    }

    /// True for a zero with the sign of a negative number.
    fn negative_zero(self) -> bool;
}

/// The integers.
pub(crate) trait Integer: Number<Wide = i64> {
    const BITS: u32;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
    fn shift_left(self, bits: Self) -> Self;
    fn shift_right(self, bits: Self) -> Self;
}

/// The floats.
pub(crate) trait Float: Number<Wide = f64> {
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_ties_even(self) -> Self;
    fn round_away(self) -> Self;
    fn sqrt(self) -> Self;
}

/// An accumulator.
pub(crate) trait Wide: Copy + Default + 'static {
    const ONE: Self;
    fn add(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    /// True unless this is an infinity or NaN.
    fn is_finite(self) -> bool;
}

impl Wide for i64 {
    const ONE: Self = 1;
    #[inline]
    fn add(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
    #[inline]
    fn multiply(self, other: Self) -> Self {
        self.wrapping_mul(other)
    }
    #[inline]
    fn is_finite(self) -> bool {
        true
    }
}

impl Wide for f64 {
    const ONE: Self = 1.0;
    #[inline]
    fn add(self, other: Self) -> Self {
        self + other
    }
    #[inline]
    fn multiply(self, other: Self) -> Self {
        self * other
    }
    #[inline]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

macro_rules! wrapping_integers {
    ($($t:ident $negative:expr;)*) => { $(
        impl Number for $t {
            type Wide = i64;
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const IS_FLOAT: bool = false;
            const NEUTRAL: i64 = 0;
            #[inline]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline]
            fn divide(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            #[inline]
            fn trunc_divide(self, other: Self) -> Self {
                self.divide(other)
            }
            #[inline]
            fn trunc_mod(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_rem(other) }
            }
            #[inline]
            fn floor_divide(self, other: Self) -> Self {
                let negative: fn($t) -> bool = $negative;
                let (quotient, rest) = (self.divide(other), self.trunc_mod(other));
                let below = rest != 0 && negative(rest) != negative(other);
                quotient.wrapping_sub($t::from(below))
            }
            #[inline]
            fn floor_mod(self, other: Self) -> Self {
                let negative: fn($t) -> bool = $negative;
                let rest = self.trunc_mod(other);
                let below = rest != 0 && negative(rest) != negative(other);
                if below { rest.wrapping_add(other) } else { rest }
            }
            #[inline]
            fn power(self, exponent: Self) -> Self {
                let mut result: $t = 1;
                let mut square = self;
                let mut bits = exponent;
                while bits != 0 {
                    if bits & 1 == 1 {
                        result = result.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    bits >>= 1;
                }
                result
            }
            #[inline]
            fn negate(self) -> Self {
                self.wrapping_neg()
            }
            #[inline]
            fn absolute(self) -> Self {
                let negative: fn($t) -> bool = $negative;
                if negative(self) { self.wrapping_neg() } else { self }
            }
            #[inline]
            fn sign(self) -> Self {
                let negative: fn($t) -> bool = $negative;
                if negative(self) { (0 as $t).wrapping_sub(1) } else { $t::from(self != 0) }
            }
            #[inline]
            fn wide(self) -> i64 {
                self as i64
            }
            #[inline]
            fn narrow(wide: i64) -> Self {
                wide as $t
            }
            #[inline]
            fn negative_zero(self) -> bool {
                false
            }
        }

        impl Integer for $t {
            const BITS: u32 = $t::BITS;
            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            #[inline]
            fn not(self) -> Self {
                !self
            }
            #[inline]
            fn shift_left(self, bits: Self) -> Self {
                self.wrapping_shl(bits as u32)
            }
            #[inline]
            fn shift_right(self, bits: Self) -> Self {
                self.wrapping_shr(bits as u32)
            }
        }
    )* };
}

wrapping_integers! {
    i8 |x| x < 0; i16 |x| x < 0; i32 |x| x < 0; i64 |x| x < 0;
    u8 |_| false; u16 |_| false; u32 |_| false; u64 |_| false;
}

/// Python's quotient and remainder, of which the remainder has the sign of the divisor.
macro_rules! divmod {
    ($name:ident $t:ident) => {
        #[inline]
        fn $name(left: $t, right: $t) -> ($t, $t) {
            let mut rest = left % right;
            if right == 0.0 {
                return (left / right, rest);
            }
            let mut quotient = (left - rest) / right;
            if rest == 0.0 {
                rest = (0.0 as $t).copysign(right);
            } else if (right < 0.0) != (rest < 0.0) {
                rest += right;
                quotient -= 1.0;
            }
            let floor = quotient.floor();
            let whole = if quotient == 0.0 {
                (0.0 as $t).copysign(left / right)
            } else if quotient - floor > 0.5 {
                floor + 1.0
            } else {
                floor
            };
            (whole, rest)
        }
    };
}
divmod!(divmod_f32 f32);
divmod!(divmod_f64 f64);

macro_rules! floats {
    ($($t:ident $c:ident $up:expr, $down:expr, $zero:expr, $one:expr, $divmod:ident;)*) => { $(
        impl Number for $t {
            type Wide = f64;
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const IS_FLOAT: bool = true;
            const NEUTRAL: f64 = -0.0;
            #[inline]
            fn add(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self) + up(other))
            }
            #[inline]
            fn subtract(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self) - up(other))
            }
            #[inline]
            fn multiply(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self) * up(other))
            }
            #[inline]
            fn divide(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self) / up(other))
            }
            #[inline]
            fn trunc_divide(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down((up(self) / up(other)).trunc())
            }
            #[inline]
            fn trunc_mod(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self) % up(other))
            }
            #[inline]
            fn floor_divide(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down($divmod(up(self), up(other)).0)
            }
            #[inline]
            fn floor_mod(self, other: Self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down($divmod(up(self), up(other)).1)
            }
            #[inline]
            fn power(self, exponent: Self) -> Self {
                Self::from_wide(libm::pow(self.wide(), exponent.wide()))
            }
            #[inline]
            fn negate(self) -> Self {
                -self
            }
            #[inline]
            fn absolute(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).abs())
            }
            #[inline]
            fn sign(self) -> Self {
                if self > $zero {
                    $one
                } else if self < $zero {
                    -$one
                } else if self == $zero {
                    $zero
                } else {
                    self
                }
            }
            #[inline]
            fn wide(self) -> f64 {
                Element::to_f64(self)
            }
            #[inline]
            fn narrow(wide: f64) -> Self {
                Self::from_wide(wide)
            }
            #[inline]
            fn negative_zero(self) -> bool {
                self == $zero && self.is_sign_negative()
            }
        }

        impl FromWide for $t {
            #[inline]
            fn from_wide(wide: f64) -> Self {
                <$t as Element>::from_f64(wide)
            }
        }

        impl Float for $t {
            #[inline]
            fn floor(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).floor())
            }
            #[inline]
            fn ceil(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).ceil())
            }
            #[inline]
            fn trunc(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).trunc())
            }
            #[inline]
            fn round_ties_even(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).round_ties_even())
            }
            #[inline]
            fn round_away(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).round())
            }
            #[inline]
            fn sqrt(self) -> Self {
                let (up, down): (fn($t) -> $c, fn($c) -> $t) = ($up, $down);
                down(up(self).sqrt())
            }
        }
    )* };
}

/// The only rounding of a result in `f64`.
trait FromWide {
    fn from_wide(wide: f64) -> Self;
}

floats! {
    f16 f32 f16::to_f32, f16::from_f32, f16::ZERO, f16::ONE, divmod_f32;
    bf16 f32 bf16::to_f32, bf16::from_f32, bf16::ZERO, bf16::ONE, divmod_f32;
    f32 f32 |x| x, |x| x, 0.0, 1.0, divmod_f32;
    f64 f64 |x| x, |x| x, 0.0, 1.0, divmod_f64;
}
