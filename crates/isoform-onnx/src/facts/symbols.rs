//! Where symbols come from: dimensions with names, unknowns, and functions of sizes that
//! are not polynomials.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use isoform::Ref;

use super::size::{Size, Symbol};
use crate::ir::Dim;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// The largest extent of an axis that is not a number of the model.
///
/// Programs compute with extents as 32-bit integers, and writers of models take numbers
/// from this one on for the end of an axis, however long it is.
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
    /// The first, or the second if that is zero.
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

/// Allocates symbols.
///
/// A [`Dim`] always has the same symbol, and so has a function of the same sizes, such as
/// `floor(h / 2)`. Anything else that is unknown is a fresh symbol.
#[derive(Debug, Default)]
pub struct Symbols {
    /// The dimensions are kept alive, so that their identities are not used again.
    dims: HashMap<u64, (Ref<Dim>, Size)>,
    opaque: HashMap<(Opaque, Size, Size), Size>,
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

    /// From here on, new extents are taken to be at least one.
    pub(super) fn assume_nonempty(&mut self) {
        self.least = 1;
    }

    fn extent_bounds(&self) -> (Option<i64>, Option<i64>) {
        (Some(self.least), Some(MAX_EXTENT))
    }

    /// A number that later symbols are not below.
    pub(super) fn mark(&self) -> u64 {
        NEXT.load(Ordering::Relaxed)
    }

    fn make(name: String, bounds: (Option<i64>, Option<i64>), is_extent: bool) -> Size {
        let ident = NEXT.fetch_add(1, Ordering::Relaxed);
        Size::from(&Symbol::new(ident, name.into(), bounds, is_extent))
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

    /// A new extent of an axis, of which nothing is known.
    pub fn fresh_extent(&mut self) -> Size {
        let name = self.next_name();
        Self::make(name, self.extent_bounds(), true)
    }

    /// A new integer between bounds, which need not be an extent.
    pub fn fresh(&mut self, lower: Option<i64>, upper: Option<i64>) -> Size {
        let name = self.next_name();
        Self::make(name, (lower, upper), false)
    }

    /// A new number that derives from extents; see [`Symbol::is_extent`].
    pub(crate) fn fresh_number(&mut self, lower: Option<i64>, upper: Option<i64>) -> Size {
        let name = self.next_name();
        Self::make(name, (lower, upper), true)
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
        limits: (Option<i64>, Option<i64>),
    ) -> Size {
        let swapped = (function, right.clone(), left.clone());
        match self.opaque.get(&swapped) {
            Some(known) => known.clone(),
            None => self.opaque(function, left, right, limits),
        }
    }

    /// The shape of a rank with no known extent.
    pub(crate) fn fresh_shape(&mut self, rank: usize) -> Vec<Size> {
        (0..rank).map(|_| self.fresh_extent()).collect()
    }

    /// An extent, or a new one if it is not known.
    pub(crate) fn or_fresh(&mut self, size: Option<Size>) -> Size {
        size.unwrap_or_else(|| self.fresh_extent())
    }

    /// The symbol of a function of two sizes: the same for the same sizes.
    pub(crate) fn opaque(
        &mut self,
        function: Opaque,
        left: &Size,
        right: &Size,
        (lower, upper): (Option<i64>, Option<i64>),
    ) -> Size {
        let is_extent = left.is_extent() && right.is_extent() && function != Opaque::Wrap;
        let text = |name: &str| format!("{name}({left}, {right})");
        let key = (function, left.clone(), right.clone());
        let make = || {
            let name = match function {
                Opaque::FloorDiv => text("floordiv"),
                Opaque::TruncDiv => text("truncdiv"),
                Opaque::Mod => text("mod"),
                Opaque::Rem => text("rem"),
                Opaque::Min => text("min"),
                Opaque::Max => text("max"),
                Opaque::OrIfZero => text("or_if_zero"),
                Opaque::Broadcast => text("broadcast"),
                Opaque::Equal => text("equal"),
                Opaque::Less => text("less"),
                Opaque::Wrap => text("wrap"),
            };
            Self::make(name, (lower, upper), is_extent)
        };
        self.opaque.entry(key).or_insert_with(make).clone()
    }
}
