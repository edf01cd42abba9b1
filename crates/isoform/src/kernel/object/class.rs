//! The engines' classification of types, as bytes that change when hooks are set.
//!
//! Setting a hook after the registration of a type changes the class of the type's
//! entry (`Class`, `Shape`) while other threads read the entry: hence the bytes are
//! atomic.

use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::{AtomicU8, Ordering};

/// The class of an object for the engines, decided once per type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Payload {
    /// Kind `tree` without scope, hooks or definition fields.
    Plain,
    /// Any other declared node type.
    Node,
    /// Text.
    Str,
    /// Bytes.
    Bytes,
    /// An integer beyond 64 bits.
    BigInt,
    /// A container of items that never changes.
    Sequence,
    /// A container of entries that never changes.
    Mapping,
    /// A container with one immutable container inside, replaced by each change.
    Mutable,
    /// A shape.
    Shape,
    /// A tensor.
    Tensor,
    /// Functions and opaque host objects.
    Incomparable,
}

impl Payload {
    /// True if objects of this kind are traversed part by part.
    #[inline(always)]
    pub(crate) fn has_parts(self) -> bool {
        use Payload::{Mapping, Mutable, Node, Plain, Sequence};
        matches!(self, Plain | Node | Sequence | Mapping | Mutable)
    }

    /// True for containers that can change during a traversal: a cycle may lead through
    /// a mutable container with a single owner.
    #[inline(always)]
    pub fn is_mutable(self) -> bool {
        matches!(self, Payload::Mutable)
    }
}

/// The work of visiting an object, in the common cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum VisitShape {
    /// [`Payload::Plain`] without children.
    Leaf,
    /// [`Payload::Plain`] with children.
    Inner,
    /// A variable without compared fields and hooks.
    Var,
    Other,
}

impl VisitShape {
    /// True if a visit goes no deeper.
    #[inline(always)]
    pub(crate) fn is_leaf(self) -> bool {
        matches!(self, VisitShape::Leaf | VisitShape::Var)
    }
}

/// A small enum, changed by setting hooks and read without locks.
pub(super) struct AtomicEnum<E>(AtomicU8, PhantomData<E>);

/// # Safety
///
/// The type is a `repr(u8)` enum without fields.
pub(super) unsafe trait ByteEnum: Copy {}
// SAFETY: `repr(u8)`, without fields.
unsafe impl ByteEnum for Payload {}
// SAFETY: `repr(u8)`, without fields.
unsafe impl ByteEnum for VisitShape {}

impl<E: ByteEnum> AtomicEnum<E> {
    const fn of(value: E) -> u8 {
        // SAFETY: `E` is a `repr(u8)` enum without fields.
        unsafe { mem::transmute_copy(&value) }
    }

    pub(super) fn new(value: E) -> Self {
        AtomicEnum(AtomicU8::new(Self::of(value)), PhantomData)
    }

    #[inline(always)]
    pub(super) fn get(&self) -> E {
        let code = self.0.load(Ordering::Relaxed);
        // SAFETY: only values of the enum are ever stored.
        unsafe { mem::transmute_copy(&code) }
    }

    pub(super) fn set(&self, value: E) {
        self.0.store(Self::of(value), Ordering::Relaxed);
    }
}
