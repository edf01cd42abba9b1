//! Where symbols come from: dimensions with names, unknowns, and functions of sizes that
//! are not polynomials.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use isoform::Ref;

use super::size::{Bounds, Size, Symbol};
use crate::ir::Dim;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The largest extent of an axis that is not a number of the model.
///
/// Programs compute with extents as 32-bit integers. Writers of models use numbers from
/// this limit on for the end of an axis of any length.
const MAX_EXTENT: i64 = 1_000_000_000;

/// Functions of two sizes that are not polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Opaque {
    FloorDiv,
    /// Rounds towards zero.
    TruncDiv,
    /// With the sign of the divisor.
    Mod,
    /// With the sign of the dividend.
    Rem,
    Min,
    Max,
    /// The first size, or the second if the first is zero.
    OrIfZero,
    /// Two extents that broadcast.
    Broadcast,
    /// 1 if equal.
    Equal,
    /// 1 if less.
    Less,
    /// Truncated to the type of that code.
    Wrap,
}

/// The limit of a symbol's name, since the name of a function of sizes holds the names
/// of its arguments.
const MAX_NAME: usize = 200;

/// The smaller or the larger of two sizes.
#[derive(Debug)]
struct Extreme {
    function: Opaque,
    /// The subtrahend of the difference.
    base: Size,
    size: Size,
}

/// Allocates symbols.
///
/// A [`Dim`] always has the same symbol, and so does a function of the same sizes, for
/// instance `floor(h / 2)`. Every other unknown number is a fresh symbol.
#[derive(Debug, Default)]
pub struct Symbols {
    /// The dimensions are kept alive to protect their identities from reuse.
    dims: HashMap<u64, (Ref<Dim>, Size)>,
    opaque: HashMap<(Opaque, Size, Size), Size>,
    /// For the difference of two sizes, a symbol for the smaller or the larger size.
    extremes: HashMap<Size, Extreme>,
    unnamed: u64,
    /// No unknown extent is below this.
    least: i64,
}

impl Symbols {
    /// No symbols.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares that all new extents are at least one.
    pub(super) fn assume_nonempty(&mut self) {
        self.least = 1;
    }

    fn extent_bounds(&self) -> Bounds {
        Bounds::new(Some(self.least), Some(MAX_EXTENT))
    }

    /// A lower limit for the numbers of later symbols.
    pub(super) fn mark(&self) -> u64 {
        NEXT.load(Ordering::Relaxed)
    }

    fn make(name: String, bounds: Bounds, is_extent: bool) -> Size {
        Size::from(&Self::symbol(name, bounds, is_extent))
    }

    fn symbol(name: String, bounds: Bounds, is_extent: bool) -> Symbol {
        let ident = NEXT.fetch_add(1, Ordering::Relaxed);
        Symbol::new(ident, name.into(), bounds, is_extent)
    }

    fn next_name(&mut self) -> String {
        self.unnamed += 1;
        format!("_{}", self.unnamed)
    }

    /// The extent that a dimension object denotes.
    pub fn dim(&mut self, dim: &Ref<Dim>) -> Size {
        let bounds = self.extent_bounds();
        let (_, size) = self.dims.entry(dim.identity()).or_insert_with(|| {
            let size = Self::make(dim.name.to_string(), bounds, true);
            (dim.clone(), size)
        });
        size.clone()
    }

    /// A new extent with a name for people.
    pub fn named(&mut self, name: &str) -> Size {
        Self::make(name.to_owned(), self.extent_bounds(), true)
    }

    /// A new extent of an axis, without known bounds.
    pub fn fresh_extent(&mut self) -> Size {
        let name = self.next_name();
        Self::make(name, self.extent_bounds(), true)
    }

    /// A new integer between bounds, which need not be an extent.
    pub fn fresh(&mut self, lower: Option<i64>, upper: Option<i64>) -> Size {
        let name = self.next_name();
        Self::make(name, Bounds::new(lower, upper), false)
    }

    /// A new number that derives from extents; see [`Symbol::is_extent`].
    pub(crate) fn fresh_number(&mut self, lower: Option<i64>, upper: Option<i64>) -> Size {
        let name = self.next_name();
        Self::make(name, Bounds::new(lower, upper), true)
    }

    /// A new product of extents.
    pub(crate) fn fresh_product(&mut self) -> Size {
        self.fresh_number(Some(0), None)
    }

    /// The symbol of a function of two sizes that does not depend on their order.
    pub(crate) fn symmetric(
        &mut self,
        function: Opaque,
        left: &Size,
        right: &Size,
        limits: Bounds,
    ) -> Size {
        let swapped = (function, right.clone(), left.clone());
        match self.opaque.get(&swapped) {
            Some(known) => known.clone(),
            None => self.opaque(function, left, right, limits),
        }
    }

    /// The smaller or the larger of two sizes.
    ///
    /// Because `max(a, b) = a + b - min(a, b)`, and both functions move with both
    /// arguments, all pairs with the same difference share one symbol.
    pub(crate) fn extreme(
        &mut self,
        function: Opaque,
        left: &Size,
        right: &Size,
        limits: Bounds,
    ) -> Size {
        // Sums of arbitrary elements may wrap around.
        let is_extent = left.is_extent() && right.is_extent();
        let difference = left.sub(right).filter(|_| is_extent);
        let Some(difference) = difference else {
            return self.symmetric(function, left, right, limits);
        };
        let (difference, base) = if difference.starts_negative() {
            (difference.neg(), left)
        } else {
            (Some(difference), right)
        };
        let Some(difference) = difference else {
            return self.symmetric(function, left, right, limits);
        };
        if let Some(extreme) = self.extremes.get(&difference) {
            let above_base = extreme.size.sub(&extreme.base);
            let above_base = if extreme.function == function {
                above_base
            } else {
                above_base.and_then(|other| difference.sub(&other))
            };
            let size = above_base.and_then(|above| above.add(base));
            return size.unwrap_or_else(|| self.symmetric(function, left, right, limits));
        }
        let arguments = [left.clone(), right.clone()];
        let name = self.name_of(function, left, right);
        let symbol = Self::symbol(name, limits, true);
        let symbol = match function {
            Opaque::Max => symbol.between(&arguments, &[]),
            _ => symbol.between(&[], &arguments),
        };
        let extreme = Extreme {
            function,
            base: base.clone(),
            size: Size::from(&symbol),
        };
        self.extremes.insert(difference, extreme);
        Size::from(&symbol)
    }

    /// The shape of a rank with no known extent.
    pub(crate) fn fresh_shape(&mut self, rank: usize) -> Vec<Size> {
        (0..rank).map(|_| self.fresh_extent()).collect()
    }

    /// The extent, or a new extent if unknown.
    pub(crate) fn or_fresh(&mut self, size: Option<Size>) -> Size {
        size.unwrap_or_else(|| self.fresh_extent())
    }

    /// The symbol of a function of two sizes: the same for the same sizes.
    pub(crate) fn opaque(
        &mut self,
        function: Opaque,
        left: &Size,
        right: &Size,
        limits: Bounds,
    ) -> Size {
        let key = (function, left.clone(), right.clone());
        if let Some(known) = self.opaque.get(&key) {
            return known.clone();
        }
        let is_extent = left.is_extent() && right.is_extent() && function != Opaque::Wrap;
        let name = self.name_of(function, left, right);
        let made = Self::make(name, limits, is_extent);
        self.opaque.insert(key, made.clone());
        made
    }

    fn name_of(&mut self, function: Opaque, left: &Size, right: &Size) -> String {
        let function = match function {
            Opaque::FloorDiv => "floordiv",
            Opaque::TruncDiv => "truncdiv",
            Opaque::Mod => "mod",
            Opaque::Rem => "rem",
            Opaque::Min => "min",
            Opaque::Max => "max",
            Opaque::OrIfZero => "or_if_zero",
            Opaque::Broadcast => "broadcast",
            Opaque::Equal => "equal",
            Opaque::Less => "less",
            Opaque::Wrap => "wrap",
        };
        let name = format!("{function}({left}, {right})");
        if name.len() <= MAX_NAME {
            name
        } else {
            self.next_name()
        }
    }
}
