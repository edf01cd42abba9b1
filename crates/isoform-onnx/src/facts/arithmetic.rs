//! Functions of sizes that are polynomials only in lucky cases.
//!
//! Each function returns a polynomial if the result is a polynomial for every
//! assignment of the symbols. Otherwise, the result is a symbol of the function of the
//! given sizes; repeated calls return the same symbol.

use super::size::{Bounds, Size};
use super::symbols::{Opaque, Symbols};

impl Symbols {
    /// The sum, as a symbol if too large for a polynomial.
    pub(crate) fn sum(&mut self, left: &Size, right: &Size) -> Size {
        let is_extent = left.is_extent() && right.is_extent();
        left.add(right).unwrap_or_else(|| self.anything(is_extent))
    }

    /// The difference, as a symbol if too large for a polynomial.
    pub(crate) fn difference(&mut self, left: &Size, right: &Size) -> Size {
        left.sub(right).unwrap_or_else(|| self.fresh(None, None))
    }

    /// The product, as a symbol if too large for a polynomial.
    pub(crate) fn product(&mut self, left: &Size, right: &Size) -> Size {
        let is_extent = left.is_extent() && right.is_extent();
        left.mul(right).unwrap_or_else(|| self.anything(is_extent))
    }

    fn anything(&mut self, is_extent: bool) -> Size {
        if is_extent {
            self.fresh_number(None, None)
        } else {
            self.fresh(None, None)
        }
    }

    /// The product of all; a symbol if it is too large.
    pub(crate) fn product_of(&mut self, sizes: &[Size]) -> Size {
        let extents = sizes.iter().all(Size::is_nonneg);
        match Size::product(sizes) {
            Some(product) => product,
            None if extents => self.fresh_product(),
            None => self.fresh(None, None),
        }
    }

    /// The quotient rounded down, for a positive divisor.
    pub(crate) fn floor_div(&mut self, left: &Size, divisor: i64) -> Size {
        if divisor <= 0 {
            return self.fresh(None, None);
        }
        // Multiples of the divisor can leave the rounded part, because they are integers.
        let Some((quotient, rest)) = left.split_multiples(divisor) else {
            return self.rounded_quotient(left, divisor);
        };
        match rest.as_const() {
            // The rest is below the divisor.
            Some(_) => quotient,
            None => {
                let rounded = self.rounded_quotient(&rest, divisor);
                self.sum(&quotient, &rounded)
            }
        }
    }

    fn rounded_quotient(&mut self, left: &Size, divisor: i64) -> Size {
        let bounds = left.limits();
        let down = |bound: Option<i64>| bound.map(|bound| bound.div_euclid(divisor));
        let limits = Bounds::new(down(bounds.lower), down(bounds.upper));
        self.opaque(Opaque::FloorDiv, left, &Size::from(divisor), limits)
    }

    /// The quotient rounded up, for a positive divisor.
    pub(crate) fn ceil_div(&mut self, left: &Size, divisor: i64) -> Size {
        if divisor == 1 {
            return left.clone();
        }
        let raised = self.sum(left, &Size::from(divisor.saturating_sub(1)));
        self.floor_div(&raised, divisor)
    }

    /// The quotient rounded towards zero, as integer division of tensors does. A divisor
    /// that is zero at run time has no result.
    pub(crate) fn trunc_div(&mut self, left: &Size, right: &Size) -> Size {
        if let (Some(left), Some(right)) = (left.as_const(), right.as_const()) {
            return match left.checked_div(right) {
                Some(quotient) => Size::from(quotient),
                None => self.fresh(None, None),
            };
        }
        if let Some(quotient) = left.div_exact(right) {
            return quotient;
        }
        match right.as_const() {
            Some(divisor) if divisor > 0 && left.is_nonneg() => self.floor_div(left, divisor),
            _ => {
                let nonneg = left.is_nonneg() && right.is_nonneg();
                let limits = if nonneg {
                    Bounds::new(Some(0), left.upper_bound())
                } else {
                    Bounds::NONE
                };
                self.opaque(Opaque::TruncDiv, left, right, limits)
            }
        }
    }

    /// The quotient of the numbers of elements of one tensor with two shapes, which has no
    /// remainder at run time, where the divisor is not zero either.
    pub(crate) fn exact_quotient(&mut self, left: &Size, right: &Size) -> Size {
        match left.div_exact(right) {
            Some(quotient) => quotient,
            None => self.opaque(
                Opaque::TruncDiv,
                left,
                right,
                Bounds::new(Some(0), left.upper_bound()),
            ),
        }
    }

    /// The remainder, with the sign of the divisor or of the dividend.
    pub(crate) fn remainder(&mut self, left: &Size, right: &Size, of_dividend: bool) -> Size {
        if let (Some(left), Some(right)) = (left.as_const(), right.as_const()) {
            let remainder = left.checked_rem(right);
            let adjusted = remainder.map(|rest| {
                if !of_dividend && rest != 0 && (rest < 0) != (right < 0) {
                    rest + right
                } else {
                    rest
                }
            });
            return match adjusted {
                Some(number) => Size::from(number),
                None => self.fresh(None, None),
            };
        }
        if left.div_exact(right).is_some() {
            return Size::from(0);
        }
        let same_sign = left.is_nonneg() && right.is_nonneg();
        match right.as_const() {
            Some(divisor) if divisor > 0 && (!of_dividend || left.is_nonneg()) => {
                let split = left.split_multiples(divisor);
                let rest = split.map_or_else(|| left.clone(), |(_, rest)| rest);
                match rest.as_const() {
                    Some(number) => Size::from(number),
                    None => self.opaque(
                        Opaque::Mod,
                        &rest,
                        right,
                        Bounds::new(Some(0), Some(divisor - 1)),
                    ),
                }
            }
            _ if of_dividend && !same_sign => self.opaque(Opaque::Rem, left, right, Bounds::NONE),
            _ => {
                let limits = if same_sign {
                    Bounds::new(Some(0), right.upper_bound())
                } else {
                    Bounds::NONE
                };
                self.opaque(Opaque::Mod, left, right, limits)
            }
        }
    }

    /// The smaller one.
    pub(crate) fn min(&mut self, left: &Size, right: &Size) -> Size {
        if left == right || right.known_less(left) == Some(false) {
            return left.clone();
        }
        if left.known_less(right) == Some(false) {
            return right.clone();
        }
        let (l, r) = (left.limits(), right.limits());
        let lower = l.lower.zip(r.lower).map(|(left, right)| left.min(right));
        let upper = match (l.upper, r.upper) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (one, other) => one.or(other),
        };
        self.extreme(Opaque::Min, left, right, Bounds::new(lower, upper))
    }

    /// The larger of two sizes.
    pub(crate) fn max(&mut self, left: &Size, right: &Size) -> Size {
        if left == right || left.known_less(right) == Some(false) {
            return left.clone();
        }
        if right.known_less(left) == Some(false) {
            return right.clone();
        }
        let (l, r) = (left.limits(), right.limits());
        let lower = match (l.lower, r.lower) {
            (Some(left), Some(right)) => Some(left.max(right)),
            (one, other) => one.or(other),
        };
        let upper = l.upper.zip(r.upper).map(|(left, right)| left.max(right));
        self.extreme(Opaque::Max, left, right, Bounds::new(lower, upper))
    }

    /// 1 if the sizes are equal, else 0.
    pub(crate) fn equal(&mut self, left: &Size, right: &Size) -> Size {
        match left.known_eq(right) {
            Some(equal) => Size::from(i64::from(equal)),
            None => self.symmetric(Opaque::Equal, left, right, Bounds::BIT),
        }
    }

    /// 1 if the left size is smaller, else 0.
    pub(crate) fn less(&mut self, left: &Size, right: &Size) -> Size {
        match left.known_less(right) {
            Some(less) => Size::from(i64::from(less)),
            None => self.opaque(Opaque::Less, left, right, Bounds::BIT),
        }
    }

    /// The extent of the result of broadcasting two axes.
    ///
    /// At run time, the two extents are equal, or one extent is 1, or the operator fails.
    pub(crate) fn broadcast(&mut self, left: &Size, right: &Size) -> Size {
        let is_one = |size: &Size| size.as_const() == Some(1);
        // An extent that is never 1 is the extent of the result: the other extent is
        // equal or 1.
        let never_one = |size: &Size| size.known_eq(&Size::from(1)) == Some(false);
        if left == right || is_one(right) {
            return left.clone();
        }
        if is_one(left) {
            return right.clone();
        }
        // No extent is negative, so clipping an extent at zero changes nothing.
        for (first, second) in [(left, right), (right, left)] {
            if !first.is_nonneg() && self.max(first, &Size::from(0)) == *second {
                return first.clone();
            }
        }
        match (never_one(left), never_one(right)) {
            // The numbers differ, so the operator fails and no claim is needed.
            (true, true) if left.known_eq(right) == Some(false) => self.fresh_extent(),
            (true, false) => left.clone(),
            (false, true) => right.clone(),
            _ => self.symmetric(Opaque::Broadcast, left, right, Bounds::new(Some(0), None)),
        }
    }
}
