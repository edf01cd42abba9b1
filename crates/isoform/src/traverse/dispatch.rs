//! Dispatch by class: a table from types to functions; a type without an entry inherits
//! the entry of the nearest ancestor that has an entry.
//!
//! The traversals calling the functions are in `visitors.rs` and `functor.rs`.
//!
//! The ancestor is found even if the type is registered later than the functions.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use hashbrown::HashMap;

use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::Node;
use crate::kernel::object::table as types;

/// A function for each type; a type without a function inherits the function of the
/// nearest ancestor that has a function.
///
/// For visitors, printers, evaluators and whatever else decides by class. The
/// functions are of any type `F`: closures, numbers, methods. Types may be
/// registered at any time, before or after the table is made.
///
/// A lookup is O(depth of the type) the first time and O(1) from then on: one
/// load from an array, without a lock.
///
/// ```
/// use isoform::objects::construct;
/// use isoform::traverse::Dispatch;
/// use isoform::types::{TypeDef, register_type};
///
/// let expr = register_type(TypeDef::new("doc.dispatch.Expr"))?;
/// let add = register_type(TypeDef::new("doc.dispatch.Add").parent(expr))?;
///
/// let precedence = Dispatch::new().on_type(expr, 0).on_type(add, 4);
/// // The type is registered after the table is made.
/// let neg = register_type(TypeDef::new("doc.dispatch.Neg").parent(expr))?;
/// let neg = construct(neg, vec![])?;
/// assert_eq!(precedence.get(neg.type_index()), Some(&0));
/// assert_eq!(precedence.get(add), Some(&4));
/// assert_eq!(precedence.above(add), Some(&0));
/// assert_eq!(precedence.above(expr), None);
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct Dispatch<F> {
    functions: Vec<(TypeIndex, F)>,
    /// The position in `functions` by the index of the type itself.
    own: HashMap<u32, u32>,
    found: LookupCache,
}

impl<F> Dispatch<F> {
    /// A table without entries.
    pub fn new() -> Self {
        Dispatch {
            functions: Vec::new(),
            own: HashMap::new(),
            found: LookupCache::default(),
        }
    }

    /// Sets the function for a Rust type and all extending types.
    #[must_use]
    pub fn on<T: Node>(self, function: F) -> Self {
        self.on_type(T::type_index(), function)
    }

    /// Sets the function for a type and all extending types.
    #[must_use]
    pub fn on_type(mut self, ty: TypeIndex, function: F) -> Self {
        self.insert(ty, function);
        self
    }

    /// Sets the function for a type and all extending types; returns the previous
    /// function of the type itself.
    pub fn insert(&mut self, ty: TypeIndex, function: F) -> Option<F> {
        self.found = LookupCache::default();
        if let Some(position) = self.own.get(&ty.get()) {
            let entry = self.functions.get_mut(*position as usize)?;
            return Some(std::mem::replace(&mut entry.1, function));
        }
        // There are fewer types than a u32 can number.
        self.own.insert(ty.get(), self.functions.len() as u32);
        self.functions.push((ty, function));
        None
    }

    /// The function set for a type, or for its nearest ancestor with a function.
    /// O(1) but for the first lookup of a type.
    #[inline]
    pub fn get(&self, ty: TypeIndex) -> Option<&F> {
        self.entry(ty).map(|(_, function)| function)
    }

    /// The function for a type, with the type that the function was set for.
    #[inline]
    pub fn entry(&self, ty: TypeIndex) -> Option<(TypeIndex, &F)> {
        let position = match self.found.get(ty) {
            UNKNOWN => self.find(ty),
            known => known,
        };
        let (owner, function) = self
            .functions
            .get((position as usize).wrapping_sub(FIRST))?;
        Some((*owner, function))
    }

    /// The fallback of a type: the function for the parent of the type that
    /// [`get`](Self::get) finds the function of.
    pub fn above(&self, ty: TypeIndex) -> Option<&F> {
        let (owner, _) = self.entry(ty)?;
        self.get(types::info(owner).parent()?.index())
    }

    /// True if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    #[cold]
    fn find(&self, ty: TypeIndex) -> u32 {
        let mut line = types::info(ty).lineage();
        let own = line.find_map(|ty| self.own.get(&ty.get()));
        let position = own.map_or(NOBODY, |position| position + FIRST as u32);
        self.found.set(ty, position);
        position
    }
}

impl<F> Default for Dispatch<F> {
    fn default() -> Self {
        Dispatch::new()
    }
}

impl<F> fmt::Debug for Dispatch<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.functions.iter().map(|(ty, _)| types::info(*ty).key());
        f.debug_set().entries(keys).finish()
    }
}

const UNKNOWN: u32 = 0;
const NOBODY: u32 = 1;
const FIRST: usize = 2;

/// The number of types in the first segment; each further segment doubles the table.
const SEGMENT: u32 = 256;
/// Enough for the types of any process.
const SEGMENTS: usize = 13;

/// The results of lookups, by the index of the type. Segments are made at the first
/// lookup of a type inside, and never move, so readers need no lock.
#[derive(Default)]
struct LookupCache {
    segments: [OnceLock<Box<[AtomicU32]>>; SEGMENTS],
}

impl LookupCache {
    /// The place of a type: the segment, the position in the segment, and the length of
    /// the segment.
    #[inline]
    fn place(ty: TypeIndex) -> (usize, u32, u32) {
        let index = ty.get();
        match (index / SEGMENT).checked_ilog2() {
            None => (0, index, SEGMENT),
            Some(power) => {
                let length = SEGMENT << power;
                (power as usize + 1, index - length, length)
            }
        }
    }

    #[inline]
    fn get(&self, ty: TypeIndex) -> u32 {
        let (segment, at, _) = Self::place(ty);
        let places = self.segments.get(segment).and_then(OnceLock::get);
        let place = places.and_then(|places| places.get(at as usize));
        place.map_or(UNKNOWN, |place| place.load(Ordering::Relaxed))
    }

    fn set(&self, ty: TypeIndex, position: u32) {
        let (segment, at, length) = Self::place(ty);
        let Some(segment) = self.segments.get(segment) else {
            return;
        };
        let empty = || (0..length).map(|_| AtomicU32::new(UNKNOWN)).collect();
        if let Some(place) = segment.get_or_init(empty).get(at as usize) {
            place.store(position, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_a_place_of_its_own() {
        let mut taken = hashbrown::HashSet::new();
        for index in (0..5_000).chain([(1 << 20) - 1]) {
            let (segment, at, length) = LookupCache::place(TypeIndex(index));
            assert!(segment < SEGMENTS && at < length, "{index}");
            assert!(taken.insert((segment, at)), "{index}");
        }
    }

    #[test]
    fn results_are_found_again_beside_each_other() {
        let found = LookupCache::default();
        let indices = [0, 255, 256, 511, 512, 100_000];
        for index in indices {
            assert_eq!(found.get(TypeIndex(index)), UNKNOWN);
            found.set(TypeIndex(index), index + 7);
        }
        for index in indices {
            assert_eq!(found.get(TypeIndex(index)), index + 7);
        }
        assert_eq!(found.get(TypeIndex(1)), UNKNOWN);
    }
}
