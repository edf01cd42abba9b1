//! The programs of the benchmarks: the same ones as node types of Isoform,
//! and as the plain enum that they are compared with.
#![allow(
    dead_code,
    reason = "compiled into every benchmark, and each uses its part"
)]

pub(crate) mod nodes;
pub(crate) mod orders;
pub(crate) mod plain;
pub(crate) mod relay;
pub(crate) mod shapes;
pub(crate) mod statements;

/// A small generator of numbers, so that every run builds the same programs.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(seed | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        // xorshift64*: good enough to shuffle with.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(number) * bound as u128) >> 64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// How many positions a balanced tree of this depth has.
pub(crate) fn positions(depth: u32) -> u64 {
    (1 << (depth + 1)) - 1
}
