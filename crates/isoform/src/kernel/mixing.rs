//! Mixing of words and bytes into 64 bits.
//!
//! One step combines the state with the next word, multiplies the result by an odd
//! constant, and folds the two halves of the product. The second factor never comes
//! from the input: a hash that multiplies two pieces of input forgets one piece if the
//! other is zero, so a fixed pattern before any block makes the block vanish. Here,
//! only a later word computed from the intermediate state can cancel the effect of a
//! word.
//!
//! With the fixed multiplier, the result is the same in every run. Tables with keys
//! from outside use the multiplier of the process: without knowing the multiplier,
//! nobody can compute colliding keys.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

/// The multiplier of every step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mixing {
    step: u64,
}

/// From this length in bytes, four lanes are processed at once.
const WIDE: usize = 64;

impl Mixing {
    /// The same in every process.
    pub(crate) const FIXED: Mixing = Mixing {
        step: 0x9e6c_63d0_876a_68e5,
    };

    /// Different in every process.
    pub(crate) fn of_process() -> Mixing {
        static MIXING: OnceLock<Mixing> = OnceLock::new();
        *MIXING.get_or_init(|| {
            let random = RandomState::new().build_hasher().finish();
            // Odd, to lose no bit, and never a small number.
            Mixing {
                step: random | 1 | (1 << 63),
            }
        })
    }

    /// One step: folds the high and low half of the product, so every bit of the word
    /// affects every bit of the result.
    #[inline(always)]
    pub(crate) fn fold(self, word: u64) -> u64 {
        fold(word, self.step)
    }

    /// The hash of a byte string.
    #[inline]
    pub(crate) fn bytes(self, bytes: &[u8]) -> u64 {
        let mut state = self.fold(bytes.len() as u64 ^ 0x8ebc_6af0_9c88_c6e3);
        let mut rest = bytes;
        if bytes.len() >= WIDE {
            (state, rest) = self.wide(state, bytes);
        }
        let mut words = rest.chunks_exact(8);
        for word in &mut words {
            state = self.fold(state ^ word_of(word));
        }
        let tail = words.remainder();
        if !tail.is_empty() {
            let mut last = [0; 8];
            last[..tail.len()].copy_from_slice(tail);
            state = self.fold(state ^ u64::from_le_bytes(last));
        }
        state
    }

    /// Mixes all whole blocks of four words, each word in its own lane: the processor
    /// computes four products at once.
    fn wide(self, state: u64, bytes: &[u8]) -> (u64, &[u8]) {
        let steps = [0u32, 13, 29, 47].map(|turn| self.step.rotate_left(turn) | 1);
        let mut lanes = steps.map(|step| fold(state ^ step, step));
        let mut blocks = bytes.chunks_exact(32);
        for block in &mut blocks {
            for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)).enumerate() {
                let (state, word) = word;
                *state = fold(*state ^ word_of(word), steps[lane]);
            }
        }
        let joined = lanes
            .into_iter()
            .fold(state, |state, lane| self.fold(state.rotate_left(5) ^ lane));
        (joined, blocks.remainder())
    }
}

#[inline(always)]
fn fold(word: u64, step: u64) -> u64 {
    let product = u128::from(word) * u128::from(step);
    product as u64 ^ (product >> 64) as u64
}

#[inline(always)]
fn word_of(bytes: &[u8]) -> u64 {
    // Always eight bytes; the default is never used.
    u64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// A hasher for the standard library, with equal results in every run.
#[derive(Default)]
pub(crate) struct FixedHasher(u64);

impl Hasher for FixedHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.write_u64(Mixing::FIXED.bytes(bytes));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = Mixing::FIXED.fold(self.0.rotate_left(5) ^ word ^ 0x60be_e2be_e120_fc15);
    }

    fn finish(&self) -> u64 {
        Mixing::FIXED.fold(self.0 ^ 0xd1b5_4a32_d192_ed03)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Mixing;

    /// Words that erase their neighbours in hashes multiplying two pieces of input:
    /// zero, all ones, the constants of this hash and of well-known hashes.
    const WORDS: [u64; 14] = [
        0,
        u64::MAX,
        0x9e6c_63d0_876a_68e5,
        0x8ebc_6af0_9c88_c6e3,
        0x2d35_8dcc_aa6c_78a5,
        0x8bb8_4b93_962e_acc9,
        0x4b33_a62e_d433_d4a3,
        0x4d5a_2da5_1de1_aa47,
        0xa076_1d64_78bd_642f,
        0xe703_7ed1_a0b4_28db,
        0x8ebc_6af0_9c88_c6e3,
        0x5899_65cc_7537_4cc3,
        0xbdd8_9aa9_8270_4029,
        0x9e37_79b9_7f4a_7c15,
    ];

    #[test]
    fn no_fixed_block_makes_another_one_vanish() {
        for mixing in [Mixing::FIXED, Mixing::of_process()] {
            // The first steps turn the length into a word; the list contains this word,
            // too.
            let length = |length: usize| mixing.fold(length as u64 ^ 0x8ebc_6af0_9c88_c6e3);
            for size in [16, 24, 32, 49, 56, 64, 96, 97, 160, 224, 512] {
                let words = WORDS.iter().copied().chain([length(size)]);
                for fixed in words {
                    let mut seen = HashSet::new();
                    let mut count = 0;
                    for place in 0..size / 8 {
                        for counter in 1..=40u64 {
                            let mut bytes: Vec<u8> = fixed.to_le_bytes().repeat(size / 8 + 1);
                            bytes.truncate(size);
                            let word = fixed ^ counter;
                            bytes[place * 8..place * 8 + 8].copy_from_slice(&word.to_le_bytes());
                            seen.insert(mixing.bytes(&bytes));
                            count += 1;
                        }
                    }
                    assert_eq!(seen.len(), count, "{size} bytes of {fixed:x}");
                }
            }
        }
    }

    #[test]
    fn two_equal_changes_do_not_cancel() {
        for size in [64usize, 128, 256, 512] {
            let mut seen = HashSet::new();
            for counter in 0..2000u64 {
                let words = WORDS[4].to_le_bytes();
                let mut bytes: Vec<u8> = words.repeat(size / 8);
                for block in bytes.chunks_exact_mut(16) {
                    block[8..].copy_from_slice(&counter.to_le_bytes());
                }
                seen.insert(Mixing::FIXED.bytes(&bytes));
            }
            assert_eq!(seen.len(), 2000, "{size} bytes");
        }
    }

    #[test]
    fn every_bit_reaches_every_bit() {
        for size in [1usize, 7, 8, 15, 33, 64, 130] {
            let base: Vec<u8> = (0..size as u8).collect();
            let hash = Mixing::FIXED.bytes(&base);
            for bit in 0..size * 8 {
                let mut flipped = base.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let changed = (hash ^ Mixing::FIXED.bytes(&flipped)).count_ones();
                assert!(
                    (8..=56).contains(&changed),
                    "{size} bytes, bit {bit}: {changed}"
                );
            }
        }
    }
}
