//! Sizes: integer polynomials over symbols.
//!
//! A size is exact: two equal sizes are the same number for every assignment of the
//! symbols, and only that is ever concluded. Whatever a polynomial cannot express is a
//! symbol, made by [`Symbols`](super::Symbols).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

/// Polynomials with more terms are not kept. This bounds the time of every operation.
const MAX_TERMS: usize = 16;

/// Polynomials with a product of more symbols are not kept.
const MAX_DEGREE: usize = 8;

/// Polynomials with larger coefficients are not kept. Products of extents with
/// coefficients, and sums of products, then stay within 64 bits: programs compute them
/// without wrapping around.
const MAX_FACTOR: u64 = 1 << 31;

/// Polynomials with a larger number beside products of symbols are not kept.
const MAX_OFFSET: u64 = 1 << 62;

/// Symbols between sizes of symbols between sizes, and so on, are followed to this depth.
const MAX_DEPTH: u32 = 32;

/// An unknown integer with a name.
#[derive(Clone)]
pub struct Symbol(Arc<SymbolData>);

struct SymbolData {
    /// Unique in the process and increasing, so terms are listed in order of creation.
    ident: u64,
    name: Box<str>,
    lower: Option<i64>,
    upper: Option<i64>,
    is_extent: bool,
    /// Lower bounds and upper bounds of the symbol.
    between: Box<(Vec<Size>, Vec<Size>)>,
    /// One more than the greatest depth of a symbol in `between`.
    depth: u32,
    /// Set when the program turns out to fail if the symbol is zero.
    is_positive: AtomicBool,
}

/// The numbers between which a size is at run time; None where no bound is known.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) lower: Option<i64>,
    pub(crate) upper: Option<i64>,
}

impl Bounds {
    /// No bounds.
    pub(crate) const NONE: Bounds = Bounds::new(None, None);
    /// Zero or one.
    pub(crate) const BIT: Bounds = Bounds::new(Some(0), Some(1));

    pub(crate) const fn new(lower: Option<i64>, upper: Option<i64>) -> Self {
        Bounds { lower, upper }
    }
}

impl Symbol {
    pub(super) fn new(ident: u64, name: Box<str>, bounds: Bounds, is_extent: bool) -> Self {
        Symbol(Arc::new(SymbolData {
            ident,
            name,
            lower: bounds.lower,
            upper: bounds.upper,
            is_extent,
            between: Box::default(),
            depth: 0,
            is_positive: AtomicBool::new(false),
        }))
    }

    /// The symbol with lower and upper bounds given as sizes. The bounds are left out
    /// if they would form a chain of symbols too long to be dropped.
    pub(super) fn between(mut self, floors: &[Size], ceilings: &[Size]) -> Self {
        let sizes = floors.iter().chain(ceilings);
        let depths = sizes.flat_map(Size::symbols).map(|symbol| symbol.0.depth);
        let depth = depths.max().unwrap_or(0) + 1;
        if depth <= MAX_DEPTH
            && let Some(data) = Arc::get_mut(&mut self.0)
        {
            *data.between = (floors.to_vec(), ceilings.to_vec());
            data.depth = depth;
        }
        self
    }

    /// The name for people; two symbols may have the same.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A number unique among the symbols of the process.
    #[must_use]
    pub fn ident(&self) -> u64 {
        self.0.ident
    }

    /// A lower bound of the symbol, if known.
    #[must_use]
    pub fn lower(&self) -> Option<i64> {
        match self.0.lower {
            Some(0) if self.0.is_positive.load(Memory::Relaxed) => Some(1),
            lower => lower,
        }
    }

    /// An upper bound of the symbol, if known.
    #[must_use]
    pub fn upper(&self) -> Option<i64> {
        self.0.upper
    }

    /// True for extents of axes and derived symbols, which are far from the limits of
    /// 64 bits. False for arbitrary elements of tensors: even `x + 1 > x` may be wrong
    /// for elements.
    #[must_use]
    pub fn is_extent(&self) -> bool {
        self.0.is_extent
    }
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Self) -> bool {
        self.0.ident == other.0.ident
    }
}

impl Eq for Symbol {}

impl PartialOrd for Symbol {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Symbol {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.ident.cmp(&other.0.ident)
    }
}

impl Hash for Symbol {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.ident.hash(state);
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

/// An integer known exactly as a polynomial over [`Symbol`]s, for instance
/// `batch*3 + 1`.
///
/// Sizes are equal if their polynomials are equal; the numbers are then equal, too.
/// Unequal sizes may still be the same number: see [`known_eq`](Self::known_eq).
/// Cloning is O(1), arithmetic linear in the bounded number of terms.
///
/// ```
/// use isoform_onnx::facts::{Size, Symbols};
///
/// let mut symbols = Symbols::new();
/// let batch = symbols.named("batch");
/// let size = batch.mul(&Size::from(3)).and_then(|size| size.add(&Size::from(1)));
/// assert_eq!(size.unwrap().to_string(), "batch*3 + 1");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Size(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Const(i64),
    /// Never a constant, because [`Repr::Const`] is the only representation of a number.
    Terms(Arc<[Term]>),
}

/// A nonzero coefficient times a product of symbols in ascending order; a power repeats the
/// symbol. Terms are ordered by their symbols, with the constant last.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Term {
    symbols: Box<[Symbol]>,
    factor: i64,
}

fn by_symbols(left: &Term, right: &Term) -> Ordering {
    // Higher powers first, and the constant last.
    (right.symbols.len().cmp(&left.symbols.len())).then_with(|| left.symbols.cmp(&right.symbols))
}

impl From<i64> for Size {
    fn from(number: i64) -> Self {
        Size(Repr::Const(number))
    }
}

impl From<&Symbol> for Size {
    fn from(symbol: &Symbol) -> Self {
        let symbols = Box::new([symbol.clone()]);
        Size(Repr::Terms(Arc::new([Term { symbols, factor: 1 }])))
    }
}

impl Size {
    /// The number, if the size does not depend on symbols.
    #[must_use]
    pub fn as_const(&self) -> Option<i64> {
        match self.0 {
            Repr::Const(number) => Some(number),
            Repr::Terms(_) => None,
        }
    }

    /// The symbol, if the size is just a symbol.
    #[must_use]
    pub fn as_symbol(&self) -> Option<&Symbol> {
        match &self.0 {
            Repr::Terms(terms) => match &**terms {
                [Term { symbols, factor: 1 }] if symbols.len() == 1 => symbols.first(),
                _ => None,
            },
            Repr::Const(_) => None,
        }
    }

    /// All symbols that occur, possibly repeatedly.
    pub fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        let terms: &[Term] = match &self.0 {
            Repr::Terms(terms) => terms,
            Repr::Const(_) => &[],
        };
        terms.iter().flat_map(|term| term.symbols.iter())
    }

    /// True if all symbols are extents of axes or derive from extents. No arithmetic on
    /// such symbols overflows; see [`Symbol::is_extent`].
    #[must_use]
    pub fn is_extent(&self) -> bool {
        self.symbols().all(Symbol::is_extent)
    }

    /// The number for an assignment of the symbols; None if a symbol is missing, or if
    /// the number does not fit.
    ///
    /// ```
    /// use isoform_onnx::facts::{Size, Symbols};
    ///
    /// let size = Symbols::new().named("batch").mul(&Size::from(3)).unwrap();
    /// assert_eq!(size.evaluate(|_| Some(5)), Some(15));
    /// ```
    pub fn evaluate(&self, mut value: impl FnMut(&Symbol) -> Option<i64>) -> Option<i64> {
        let mut sum = 0_i64;
        for (factor, symbols) in self.summands() {
            let mut product = factor;
            for symbol in symbols {
                product = product.checked_mul(value(symbol)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// The summands of the size: pairs of a coefficient and symbols, where a power repeats
    /// the symbol. Zero does not have summands.
    pub fn summands(&self) -> Vec<(i64, &[Symbol])> {
        match &self.0 {
            Repr::Const(0) => Vec::new(),
            Repr::Const(number) => vec![(*number, &[])],
            Repr::Terms(terms) => {
                let terms = terms.iter();
                terms.map(|term| (term.factor, &*term.symbols)).collect()
            }
        }
    }

    /// True if the first coefficient is negative. This holds for either a nonzero size
    /// or its negative.
    pub(super) fn starts_negative(&self) -> bool {
        match &self.0 {
            Repr::Const(number) => *number < 0,
            Repr::Terms(terms) => terms.first().is_some_and(|term| term.factor < 0),
        }
    }

    fn terms(&self) -> Vec<Term> {
        match &self.0 {
            Repr::Const(0) => Vec::new(),
            Repr::Const(factor) => vec![Term {
                symbols: Box::new([]),
                factor: *factor,
            }],
            Repr::Terms(terms) => terms.to_vec(),
        }
    }

    /// The sum of terms in any order.
    fn from_terms(mut terms: Vec<Term>) -> Option<Size> {
        terms.sort_by(by_symbols);
        let mut merged: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match merged.last_mut() {
                Some(last) if last.symbols == term.symbols => {
                    last.factor = last.factor.checked_add(term.factor)?;
                }
                _ => merged.push(term),
            }
        }
        merged.retain(|term| term.factor != 0);
        match &*merged {
            [] => Some(Size::from(0)),
            [Term { symbols, factor }] if symbols.is_empty() => Some(Size::from(*factor)),
            _ => {
                let stays = |term: &Term| {
                    let most = if term.symbols.is_empty() {
                        MAX_OFFSET
                    } else {
                        MAX_FACTOR
                    };
                    term.factor.unsigned_abs() <= most
                };
                (merged.len() <= MAX_TERMS && merged.iter().all(stays))
                    .then(|| Size(Repr::Terms(merged.into())))
            }
        }
    }

    /// The sum; None if too large.
    #[must_use]
    pub fn add(&self, other: &Size) -> Option<Size> {
        if let (Repr::Const(left), Repr::Const(right)) = (&self.0, &other.0) {
            return left.checked_add(*right).map(Size::from);
        }
        let mut terms = self.terms();
        terms.extend(other.terms());
        Size::from_terms(terms)
    }

    /// The negative; None if too large.
    #[must_use]
    pub fn neg(&self) -> Option<Size> {
        self.mul(&Size::from(-1))
    }

    /// The difference; None if too large.
    #[must_use]
    pub fn sub(&self, other: &Size) -> Option<Size> {
        match (&self.0, &other.0) {
            (Repr::Const(left), Repr::Const(right)) => left.checked_sub(*right).map(Size::from),
            _ => self.add(&other.neg()?),
        }
    }

    /// The product; None if too large.
    #[must_use]
    pub fn mul(&self, other: &Size) -> Option<Size> {
        match (&self.0, &other.0) {
            (Repr::Const(left), Repr::Const(right)) => {
                return left.checked_mul(*right).map(Size::from);
            }
            (Repr::Const(1), _) => return Some(other.clone()),
            (_, Repr::Const(1)) => return Some(self.clone()),
            _ => {}
        }
        let (left, right) = (self.terms(), other.terms());
        let mut terms = Vec::with_capacity(left.len() * right.len());
        for left in &left {
            for right in &right {
                if left.symbols.len() + right.symbols.len() > MAX_DEGREE {
                    return None;
                }
                let both = left.symbols.iter().chain(&right.symbols);
                let mut symbols: Vec<Symbol> = both.cloned().collect();
                symbols.sort();
                terms.push(Term {
                    symbols: symbols.into(),
                    factor: left.factor.checked_mul(right.factor)?,
                });
            }
        }
        Size::from_terms(terms)
    }

    /// Records that the size is not zero in any run that ends well. The factors of a
    /// product are not zero, either.
    pub fn assume_nonzero(&self) {
        for symbol in self.factors().unwrap_or_default() {
            symbol.0.is_positive.store(true, Memory::Relaxed);
        }
    }

    /// The product of sizes; None if too large.
    #[must_use]
    pub fn product<'a>(sizes: impl IntoIterator<Item = &'a Size>) -> Option<Size> {
        let mut product = Size::from(1);
        for size in sizes {
            // A zero decides, however large the other factors are.
            if size.as_const() == Some(0) {
                return Some(Size::from(0));
            }
            product = product.mul(size)?;
        }
        Some(product)
    }

    /// The quotient, if the divisor is a single term and divides each term of this size
    /// without a remainder. The divisor must not be zero at run time, which the caller has to
    /// know.
    #[must_use]
    pub fn div_exact(&self, divisor: &Size) -> Option<Size> {
        if self == divisor {
            return (self.as_const() != Some(0)).then(|| Size::from(1));
        }
        let divisor = divisor.terms();
        let [by] = &*divisor else {
            return None;
        };
        let quotient = |term: Term| {
            let mut left = term.symbols.into_vec();
            for symbol in &by.symbols {
                let position = left.iter().position(|other| other == symbol)?;
                left.remove(position);
            }
            (term.factor.checked_rem(by.factor)? == 0).then_some(())?;
            Some(Term {
                symbols: left.into(),
                factor: term.factor.checked_div(by.factor)?,
            })
        };
        let terms: Option<Vec<Term>> = self.terms().into_iter().map(quotient).collect();
        Size::from_terms(terms?)
    }

    /// The symbols whose product is this size, up to a constant other than zero. None
    /// for a sum.
    pub(super) fn factors(&self) -> Option<&[Symbol]> {
        match &self.0 {
            Repr::Terms(terms) => match &**terms {
                [term] => Some(&term.symbols),
                _ => None,
            },
            Repr::Const(_) => None,
        }
    }

    /// True if the symbol is a factor of every term: the size is then zero with the
    /// symbol.
    pub(super) fn is_multiple_of_symbol(&self, symbol: &Symbol) -> bool {
        match &self.0 {
            Repr::Terms(terms) => terms.iter().all(|term| term.symbols.contains(symbol)),
            Repr::Const(number) => *number == 0,
        }
    }

    /// The quotient and the rest by a positive number, term by term. No coefficient of
    /// the rest is negative or reaches the divisor.
    pub(super) fn split_multiples(&self, divisor: i64) -> Option<(Size, Size)> {
        let (mut quotient, mut rest) = (Vec::new(), Vec::new());
        for term in self.terms() {
            quotient.push(Term {
                symbols: term.symbols.clone(),
                factor: term.factor.checked_div_euclid(divisor)?,
            });
            rest.push(Term {
                symbols: term.symbols,
                factor: term.factor.checked_rem_euclid(divisor)?,
            });
        }
        Some((Size::from_terms(quotient)?, Size::from_terms(rest)?))
    }

    /// True or false if the sizes are equal, or different, for every assignment of the
    /// symbols: that is, if their difference is a constant.
    #[must_use]
    pub fn known_eq(&self, other: &Size) -> Option<bool> {
        if self == other {
            return Some(true);
        }
        let difference = self.sub(other)?;
        match difference.as_const() {
            Some(difference) => Some(difference == 0),
            // Sizes that are provably apart are different as well.
            None => (difference.is_extent()
                && (difference.lower_bound().is_some_and(|bound| bound > 0)
                    || difference.upper_bound().is_some_and(|bound| bound < 0)))
            .then_some(false),
        }
    }

    /// True or false if the order is the same for every assignment of the symbols.
    #[must_use]
    pub fn known_less(&self, other: &Size) -> Option<bool> {
        let difference = self.sub(other)?;
        if !(self.is_extent() && other.is_extent()) {
            // Their elements may be close to the limits, where differences wrap around, so
            // only their own bounds decide.
            let (upper, lower) = (self.upper_bound(), other.lower_bound());
            if upper.zip(lower).is_some_and(|(left, right)| left < right) {
                return Some(true);
            }
            let (lower, upper) = (self.lower_bound(), other.upper_bound());
            let not_less = lower.zip(upper).is_some_and(|(left, right)| left >= right);
            return (not_less || self == other).then_some(false);
        }
        if difference.upper_bound().is_some_and(|bound| bound < 0) {
            return Some(true);
        }
        let not_less = difference.lower_bound().is_some_and(|bound| bound >= 0);
        not_less.then_some(false)
    }

    /// True if the size is provably at least one.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.lower_bound().is_some_and(|bound| bound > 0)
    }

    /// True if the size is provably not negative.
    #[must_use]
    pub fn is_nonneg(&self) -> bool {
        self.lower_bound().is_some_and(|bound| bound >= 0)
    }

    /// A lower bound of the size, by interval arithmetic.
    #[must_use]
    pub fn lower_bound(&self) -> Option<i64> {
        self.limits().lower
    }

    /// An upper bound of the size, by interval arithmetic.
    #[must_use]
    pub fn upper_bound(&self) -> Option<i64> {
        self.limits().upper
    }

    /// The bounds of the size, by interval arithmetic.
    pub(super) fn limits(&self) -> Bounds {
        let (lower, upper) = self.close_bounds();
        let narrow = |bound: Option<i128>| i64::try_from(bound?).ok();
        let limits = Bounds::new(narrow(lower), narrow(upper));
        // Sums and products of arbitrary elements may wrap around, unless all of their range
        // fits.
        let exact = self.is_extent()
            || self.as_symbol().is_some()
            || (limits.lower.is_some() && limits.upper.is_some());
        if exact { limits } else { Bounds::NONE }
    }

    /// The bounds, also with one symbol replaced by its lower or upper bound: this
    /// shows that `max(a, b) - a` is not negative.
    fn close_bounds(&self) -> Interval {
        let (mut lower, mut upper) = self.bounds();
        let Repr::Terms(terms) = &self.0 else {
            return (lower, upper);
        };
        if terms.len() < 2 || !self.is_extent() {
            return (lower, upper);
        }
        for term in terms.iter() {
            let [symbol] = &*term.symbols else {
                continue;
            };
            let (floors, ceilings) = &*symbol.0.between;
            let replaced = |size: &Size| {
                let change = size
                    .sub(&Size::from(symbol))?
                    .mul(&Size::from(term.factor))?;
                Some(self.add(&change)?.bounds())
            };
            let (below, above) = if term.factor > 0 {
                (floors, ceilings)
            } else {
                (ceilings, floors)
            };
            lower =
                (below.iter().filter_map(replaced)).fold(lower, |best, bounds| best.max(bounds.0));
            for bounds in above.iter().filter_map(replaced) {
                upper = match (upper, bounds.1) {
                    (Some(best), Some(limit)) => Some(best.min(limit)),
                    (best, limit) => best.or(limit),
                };
            }
        }
        (lower, upper)
    }

    fn bounds(&self) -> Interval {
        let terms = match &self.0 {
            Repr::Const(number) => return (Some((*number).into()), Some((*number).into())),
            Repr::Terms(terms) => terms,
        };
        let mut sum = (Some(0_i128), Some(0_i128));
        for term in terms.iter() {
            let factor = (Some(term.factor.into()), Some(term.factor.into()));
            let mut bounds = factor;
            // An even power is a square whatever the sign of its symbol.
            let mut rest = &*term.symbols;
            while let Some((first, others)) = rest.split_first() {
                let factor_bounds = (first.lower().map(i128::from), first.upper().map(i128::from));
                let mut next = factor_bounds;
                rest = others;
                if rest.first() == Some(first) {
                    next = interval_product(factor_bounds, factor_bounds);
                    next.0 = next.0.max(Some(0));
                    rest = &rest[1..];
                }
                bounds = interval_product(bounds, next);
            }
            sum.0 = sum
                .0
                .zip(bounds.0)
                .and_then(|(left, right)| left.checked_add(right));
            sum.1 = sum
                .1
                .zip(bounds.1)
                .and_then(|(left, right)| left.checked_add(right));
        }
        sum
    }
}

type Interval = (Option<i128>, Option<i128>);

/// The bounds of a product, with None for unbounded.
fn interval_product(left: Interval, right: Interval) -> Interval {
    let zero = (Some(0), Some(0));
    if left == zero || right == zero {
        return zero;
    }
    match (left, right) {
        ((Some(a), Some(b)), (Some(c), Some(d))) => {
            let products = [(a, c), (a, d), (b, c), (b, d)].map(|(x, y)| x.checked_mul(y));
            let Some(products) = products.into_iter().collect::<Option<Vec<_>>>() else {
                return (None, None);
            };
            (
                products.iter().min().copied(),
                products.iter().max().copied(),
            )
        }
        // With one side unbounded, only signs help.
        _ => {
            let nonneg = |side: Interval| side.0.is_some_and(|bound| bound >= 0);
            let nonpos = |side: Interval| side.1.is_some_and(|bound| bound <= 0);
            let times = |x: Option<i128>, y: Option<i128>| x?.checked_mul(y?);
            match (nonneg(left), nonpos(left), nonneg(right), nonpos(right)) {
                (true, _, true, _) => (times(left.0, right.0).or(Some(0)), times(left.1, right.1)),
                (_, true, _, true) => (times(left.1, right.1).or(Some(0)), times(left.0, right.0)),
                (true, _, _, true) => (times(left.1, right.0), times(left.0, right.1).or(Some(0))),
                (_, true, true, _) => (times(left.0, right.1), times(left.1, right.0).or(Some(0))),
                _ => (None, None),
            }
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = match &self.0 {
            Repr::Const(number) => return write!(f, "{number}"),
            Repr::Terms(terms) => terms,
        };
        for (index, term) in terms.iter().enumerate() {
            let magnitude = term.factor.unsigned_abs();
            match (index, term.factor < 0) {
                (0, false) => {}
                (0, true) => f.write_str("-")?,
                (_, false) => f.write_str(" + ")?,
                (_, true) => f.write_str(" - ")?,
            }
            for (position, symbol) in term.symbols.iter().enumerate() {
                if position > 0 {
                    f.write_str("*")?;
                }
                f.write_str(symbol.name())?;
            }
            match (term.symbols.is_empty(), magnitude) {
                (true, _) => write!(f, "{magnitude}")?,
                (false, 1) => {}
                (false, _) => write!(f, "*{magnitude}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
