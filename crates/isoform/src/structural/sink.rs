//! The contributions of a hash walk, and their mixing into 64 fast bits.
//!
//! [`Portable`](super::digest::Portable) receives the same stream; both sinks thereby
//! induce the same equivalence.

use std::hash::Hash;

use crate::kernel::mixing::Mixing;
use crate::kernel::object::table::TypeInfo;

/// The role of a contribution in a node's hash; keeps streams unambiguous.
///
/// The numbers are part of the digest format and never change their meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Part {
    None = 0,
    Bool = 1,
    Int = 2,
    Float = 3,
    DType = 4,
    Device = 5,
    Str = 6,
    Bytes = 7,
    BigInt = 8,
    /// A finished child.
    Child = 9,
    /// The number of elements that follow.
    Length = 10,
    /// A dimension of a shape.
    Dim = 11,
    /// Content of a tensor.
    Content = 12,
    /// A binding's scope distance, context and number.
    Distance = 13,
    Context = 14,
    Number = 15,
    /// An identity number.
    Identity = 16,
    /// The result of a custom hash.
    Custom = 17,
}

/// The form of a hashed node, besides declared types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Form {
    Root = 0,
    /// The first occurrence of a variable that is bound.
    Binding = 1,
    /// A later occurrence.
    Use = 2,
    FreeVar = 3,
    FreeKey = 4,
    Singleton = 5,
    /// A result returned to a custom hash.
    Answer = 6,
    /// A variable identified by its fields.
    Named = 7,
    /// The first occurrence of a dag node, and a later one.
    Node = 8,
    NodeUse = 9,
}

/// Passes a large content on piece by piece.
pub(super) type Feed<'f> = dyn FnMut(&mut dyn FnMut(&[u8])) + 'f;

/// Combines contributions into the hash of a node.
///
/// A node is opened, receives its contributions, and is closed before the node around
/// it receives any further contribution.
pub(super) trait Sink {
    /// A finished hash. It may be given to the enclosing node once, directly after the
    /// end of its own node; [`keep`](Self::keep) makes a hash that lasts.
    type Out: Copy;
    /// The hash of a whole value.
    type Hash;
    /// A finished hash that outlives the walk.
    type Lasting: Copy + Eq + Hash;
    /// An unfinished hash.
    type Acc: Copy;
    /// True if the result must not depend on the process.
    const PORTABLE: bool;
    /// True if hashes of parts are kept for later walks, which requires a watch on
    /// every object that can change.
    const KEEPS: bool;

    fn open_type(&mut self, info: &TypeInfo) -> Self::Acc;
    fn open_form(&mut self, form: Form) -> Self::Acc;
    fn word(&mut self, acc: &mut Self::Acc, part: Part, word: u64);
    fn bytes(&mut self, acc: &mut Self::Acc, part: Part, bytes: &[u8]);
    fn child(&mut self, acc: &mut Self::Acc, out: Self::Out);
    /// A large content, in pieces.
    fn content(&mut self, acc: &mut Self::Acc, feed: &mut Feed<'_>);
    fn close(&mut self, acc: Self::Acc) -> Self::Out;
    /// A place, for frames that contribute nothing.
    fn mark(&self) -> Self::Acc;
    /// Forgets all contributions since a place or the start of a node.
    fn abandon(&mut self, acc: Self::Acc);
    /// Ends a piece of the stream: the enclosing stream receives a name of fixed
    /// length.
    fn seal(&mut self, out: Self::Out) -> Self::Out;
    /// The same hash, to be given to any number of nodes until the end of the walk.
    fn keep(&mut self, out: Self::Out) -> Self::Out;
    /// The same hash for later walks; None for a hash that is faster to compute again.
    fn save(&self, out: Self::Out) -> Option<Self::Lasting>;
    /// A hash that an earlier walk has saved.
    fn restore(&mut self, saved: Self::Lasting) -> Self::Out;
    /// The hash of the whole value.
    fn finish(&mut self, out: Self::Out) -> Self::Hash;
    /// The value of a hash for hooks, which ends it.
    fn to_u64(&mut self, out: Self::Out) -> u64;
}

/// 64 bits by folded multiplication: fast, and stable for one build of the
/// library only.
pub(super) struct Fast<const KEEPS: bool>(pub(super) Mixing);

const CLOSE: u64 = 0xd1b5_4a32_d192_ed03;

impl Part {
    #[inline(always)]
    const fn salt(self) -> u64 {
        (self as u64 + 1).wrapping_mul(0xa076_1d64_78bd_642f)
    }
}

impl<const KEEPS: bool> Sink for Fast<KEEPS> {
    type Out = u64;
    type Hash = u64;
    type Lasting = u64;
    type Acc = u64;
    const PORTABLE: bool = false;
    const KEEPS: bool = KEEPS;

    #[inline(always)]
    fn open_type(&mut self, info: &TypeInfo) -> u64 {
        info.seed
    }

    #[inline(always)]
    fn open_form(&mut self, form: Form) -> u64 {
        self.0.fold(form as u64 ^ 0x8ebc_6af0_9c88_c6e3)
    }

    #[inline(always)]
    fn word(&mut self, acc: &mut u64, part: Part, word: u64) {
        *acc = self.0.fold(acc.rotate_left(5) ^ word ^ part.salt());
    }

    fn bytes(&mut self, acc: &mut u64, part: Part, bytes: &[u8]) {
        self.word(acc, part, self.0.bytes(bytes));
    }

    #[inline(always)]
    fn child(&mut self, acc: &mut u64, out: u64) {
        self.word(acc, Part::Child, out);
    }

    fn content(&mut self, acc: &mut u64, feed: &mut Feed<'_>) {
        let mut state = 0;
        feed(&mut |piece| {
            // Pieces are cut by content, not by chance, and the same content is cut
            // alike; still, only fixed-size blocks are mixed.
            for block in piece.chunks(1 << 14) {
                state = self.0.fold(state ^ self.0.bytes(block)).rotate_left(5);
            }
        });
        self.word(acc, Part::Content, state);
    }

    #[inline(always)]
    fn close(&mut self, acc: u64) -> u64 {
        self.0.fold(acc ^ CLOSE)
    }

    #[inline(always)]
    fn mark(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn abandon(&mut self, _acc: u64) {}

    #[inline(always)]
    fn seal(&mut self, out: u64) -> u64 {
        out
    }

    #[inline(always)]
    fn keep(&mut self, out: u64) -> u64 {
        out
    }

    #[inline(always)]
    fn save(&self, out: u64) -> Option<u64> {
        Some(out)
    }

    #[inline(always)]
    fn restore(&mut self, saved: u64) -> u64 {
        saved
    }

    fn finish(&mut self, out: u64) -> u64 {
        out
    }

    fn to_u64(&mut self, out: u64) -> u64 {
        out
    }
}
