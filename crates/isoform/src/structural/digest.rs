//! Digests, the portable names of values, and the contributions of a hash walk as bytes
//! of which a digest is made.
//!
//! The bytes of a node, format version 3:
//!
//! | bytes | meaning |
//! |---|---|
//! | `NODE`, 16 bytes | a node of a type: the first bytes of the BLAKE3 hash of its key, and of a zero byte and the name of each compared field in the order of visit |
//! | `FORM`, 1 byte | a node of another [`Form`]; the root names the version after it |
//! | part with a size in its upper bits, 1, 2, 4 or 8 bytes | a word, little-endian, in as few bytes as it needs |
//! | the same with the length, bytes | a byte string |
//! | another node | a child |
//! | `SEALED`, 32 bytes | the BLAKE3 hash of the bytes of a child |
//! | `END` | the end of the node |
//!
//! No two streams have the same bytes, since every item includes its length. A child is
//! sealed if it has more than [`PIECE`] bytes, is a scope, or is the contents of a
//! variable or dag node. Sealing depends on the contents alone: sharing and identity
//! stay invisible, and the hash of a piece can be used again wherever the piece is met.
//! Small nodes share one hash, which is most of the speed: BLAKE3 has a fixed cost for
//! each call and for each block of 64 bytes.

use std::fmt;
use std::str::FromStr;

use super::sink::{Feed, Form, Part, Sink};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::table::TypeInfo;

/// A 32-byte name of a value: equal values have the same name, everywhere.
///
/// Printed as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The version of the format; digests are comparable only within one
    /// version.
    pub const FORMAT_VERSION: u8 = super::digest::DIGEST_VERSION;

    pub(super) fn new(bytes: [u8; 32]) -> Self {
        Digest(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = || Error::value_error(format!("expected 64 hexadecimal digits, got {text:?}"));
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(fail());
        }
        let mut bytes = [0; 32];
        for (position, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * position..2 * position + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| fail())?;
        }
        Ok(Digest(bytes))
    }
}

/// The version of the digest format; part of every digest.
pub(super) const DIGEST_VERSION: u8 = 3;

/// A node with more bytes than this is sealed.
const PIECE: usize = 512;

/// These continue the numbers of [`Part`], which leave the upper bits free.
const NODE: u8 = 24;
const FORM: u8 = 25;
const END: u8 = 26;
const SEALED: u8 = 27;

/// The bits of an item above the part: its size is two to the power of this.
const SIZE: u32 = 5;

/// A sealed child: the item and its hash.
const SEALED_LEN: usize = 33;

/// The bytes of a finished node.
#[derive(Clone, Copy)]
pub(super) enum Piece {
    /// From here to the end of the open nodes' bytes.
    Here(usize),
    /// In the bytes that last until the walk ends.
    Kept { start: usize, len: u32 },
}

/// 32 bytes by BLAKE3, the same everywhere.
#[derive(Default)]
pub(super) struct Portable<const KEEPS: bool> {
    /// The bytes of the open nodes, innermost last; an open node is its start.
    bytes: Vec<u8>,
    kept: Vec<u8>,
}

impl<const KEEPS: bool> Portable<KEEPS> {
    /// Puts the bytes of a finished node at the end.
    fn place(&mut self, out: Piece) -> usize {
        match out {
            Piece::Here(start) => start,
            Piece::Kept { start, len } => {
                let here = self.bytes.len();
                let kept = &self.kept[start..start + len as usize];
                self.bytes.extend_from_slice(kept);
                here
            }
        }
    }

    fn seal_from(&mut self, start: usize) {
        if self.bytes.get(start) != Some(&SEALED) {
            let hash = blake3::hash(&self.bytes[start..]);
            self.bytes.truncate(start);
            self.bytes.push(SEALED);
            self.bytes.extend_from_slice(hash.as_bytes());
        }
    }
}

impl<const KEEPS: bool> Sink for Portable<KEEPS> {
    type Out = Piece;
    type Hash = [u8; 32];
    type Lasting = [u8; 32];
    type Acc = usize;
    const PORTABLE: bool = true;
    const KEEPS: bool = KEEPS;

    #[inline]
    fn open_type(&mut self, info: &TypeInfo) -> usize {
        let start = self.bytes.len();
        let mut item = [NODE; 17];
        item[1..].copy_from_slice(&info.portable_name);
        self.bytes.extend_from_slice(&item);
        start
    }

    fn open_form(&mut self, form: Form) -> usize {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[FORM, form as u8]);
        if form == Form::Root {
            self.bytes.push(DIGEST_VERSION);
        }
        start
    }

    #[inline]
    fn word(&mut self, _acc: &mut usize, part: Part, word: u64) {
        let size = match word {
            0..=0xff => 0,
            0x100..=0xffff => 1,
            0x1_0000..=0xffff_ffff => 2,
            _ => 3,
        };
        let mut item = [0; 9];
        item[0] = part as u8 | size << SIZE;
        item[1..].copy_from_slice(&word.to_le_bytes());
        // Writing all bytes and dropping some is faster than writing a variable number.
        let end = self.bytes.len() + 1 + (1 << size);
        self.bytes.extend_from_slice(&item);
        self.bytes.truncate(end);
    }

    fn bytes(&mut self, acc: &mut usize, part: Part, bytes: &[u8]) {
        self.word(acc, part, bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    #[inline]
    fn child(&mut self, _acc: &mut usize, out: Piece) {
        self.place(out);
    }

    fn content(&mut self, acc: &mut usize, feed: &mut Feed<'_>) {
        let mut hasher = blake3::Hasher::new();
        feed(&mut |piece| {
            hasher.update(piece);
        });
        self.bytes(acc, Part::Content, hasher.finalize().as_bytes());
    }

    #[inline]
    fn close(&mut self, acc: usize) -> Piece {
        self.bytes.push(END);
        if self.bytes.len() - acc > PIECE {
            self.seal_from(acc);
        }
        Piece::Here(acc)
    }

    fn mark(&self) -> usize {
        self.bytes.len()
    }

    fn abandon(&mut self, acc: usize) {
        self.bytes.truncate(acc);
    }

    fn seal(&mut self, out: Piece) -> Piece {
        let start = self.place(out);
        self.seal_from(start);
        Piece::Here(start)
    }

    fn keep(&mut self, out: Piece) -> Piece {
        match out {
            Piece::Kept { .. } => out,
            Piece::Here(from) => {
                let (start, len) = (self.kept.len(), (self.bytes.len() - from) as u32);
                self.kept.extend_from_slice(&self.bytes[from..]);
                Piece::Kept { start, len }
            }
        }
    }

    /// Pieces are saved; fewer bytes are soon hashed again.
    fn save(&self, out: Piece) -> Option<[u8; 32]> {
        let (bytes, start) = match out {
            Piece::Here(start) => (&self.bytes, start),
            Piece::Kept { start, .. } => (&self.kept, start),
        };
        let sealed = bytes.get(start..start + SEALED_LEN)?;
        let (&item, hash) = sealed.split_first()?;
        (item == SEALED).then(|| hash.try_into().ok())?
    }

    fn restore(&mut self, saved: [u8; 32]) -> Piece {
        let start = self.bytes.len();
        self.bytes.push(SEALED);
        self.bytes.extend_from_slice(&saved);
        Piece::Here(start)
    }

    fn finish(&mut self, out: Piece) -> [u8; 32] {
        let start = self.place(out);
        self.seal_from(start);
        let mut hash = [0; 32];
        hash.copy_from_slice(&self.bytes[start + 1..start + SEALED_LEN]);
        self.bytes.truncate(start);
        hash
    }

    fn to_u64(&mut self, out: Piece) -> u64 {
        let hash = self.finish(out);
        let (first, _) = hash.split_at(8);
        first
            .iter()
            .rev()
            .fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    }
}
