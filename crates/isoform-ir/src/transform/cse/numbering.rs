//! Value numbering: expressions with one number have the same value.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use super::operands::is_same;
use isoform::{Result, Value, structural_equal, structural_hash};

/// Expressions with the same number have the same value.
pub type Number = u32;

/// Marks a part that is not an operand.
pub(super) const DATA: Number = Number::MAX;
/// Comes before the length of an array of operands.
pub(super) const ITEMS: Number = Number::MAX - 1;

/// The parts of an expression that determine its number.
#[derive(Default)]
pub struct Shape {
    /// The identity of the operator or of the type.
    pub head: u64,
    /// The numbers of the operands.
    pub operands: SmallVec<[Number; 4]>,
    /// The other parts, compared by structural equality.
    pub data: SmallVec<[Value; 2]>,
}

/// The head, the operands, and the hash of the other parts.
type Key = (u64, SmallVec<[Number; 4]>, u64);
/// The other parts with the number of the expression.
type Entry = (SmallVec<[Value; 2]>, Number);

/// The numbers in use.
#[derive(Default)]
pub(crate) struct Numbering {
    next: Number,
    known: HashMap<Key, SmallVec<[Entry; 1]>, RandomState>,
    /// The hashes of objects, by their identity.
    hashes: HashMap<u64, u64, RandomState>,
}

impl Numbering {
    /// A number without any other user.
    pub(crate) fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next - 1
    }

    /// The number of an equal expression, or a new number. The hash finds the
    /// candidates; structural equality decides. Linear in the parts that are not
    /// operands; every part is hashed once.
    ///
    /// # Errors
    ///
    /// Errors of hashing and comparing these parts.
    pub(crate) fn number(&mut self, shape: Shape) -> Result<Number> {
        let mut hash = 0u64;
        for part in &shape.data {
            hash = hash.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ self.hash_of(part)?;
        }
        let equal = self
            .known
            .entry((shape.head, shape.operands, hash))
            .or_default();
        for (data, number) in equal.iter() {
            if are_equal(data, &shape.data)? {
                return Ok(*number);
            }
        }
        let number = self.next;
        self.next += 1;
        equal.push((shape.data, number));
        Ok(number)
    }

    fn hash_of(&mut self, part: &Value) -> Result<u64> {
        let Some(object) = part.as_object() else {
            return structural_hash(part);
        };
        if let Some(known) = self.hashes.get(&object.identity()) {
            return Ok(*known);
        }
        let hash = structural_hash(part)?;
        self.hashes.insert(object.identity(), hash);
        Ok(hash)
    }
}

fn are_equal(left: &[Value], right: &[Value]) -> Result<bool> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.iter().zip(right) {
        if !is_same(left, right) && !structural_equal(left, right)? {
            return Ok(false);
        }
    }
    Ok(true)
}
