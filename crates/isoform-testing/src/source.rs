//! Choices drawn from bytes.

use num_bigint::BigInt;

use isoform::Value;

/// A stream of choices over a byte string.
///
/// After the end every choice is the first one, and first choices are the
/// simplest everywhere, so a shorter byte string or a smaller byte means a
/// simpler value: shrinking bytes shrinks values.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Source<'a> {
    /// Choices from these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Source { bytes, position: 0 }
    }

    /// True if all bytes have been used.
    pub fn is_empty(&self) -> bool {
        self.position >= self.bytes.len()
    }

    /// Returns the next byte; zero after the end.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.position).copied().unwrap_or(0);
        self.position += 1;
        byte
    }

    /// A number below `limit`, which is at most 256; zero for an empty range.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::from(self.byte()) % limit.max(1)
    }

    /// Returns true in about `percent` of a hundred cases, and false after the end.
    pub fn chance(&mut self, percent: usize) -> bool {
        usize::from(self.byte()) * 100 >= (100 - percent) * 256
    }

    /// Returns one of the items; the first item after the end.
    ///
    /// # Panics
    ///
    /// If there are no items.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// Shuffles the items; keeps their order after the end.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for position in 1..items.len() {
            let other = position - self.below(position + 1);
            items.swap(position, other);
        }
    }

    /// A value without parts: numbers, texts, bytes, a dtype, a device. The choice is
    /// small, to make two draws often equal, and contains the values at which
    /// representations change.
    pub fn plain(&mut self) -> Value {
        match self.below(10) {
            0 | 1 => Value::from(*self.pick(&[0i64, 1, 2, -1, i64::MAX, i64::MIN])),
            2 => Value::NONE,
            3 => Value::from(self.below(2) == 1),
            4 => Value::from(*self.pick(&[
                0.0,
                -0.0,
                1.0,
                f64::NAN,
                f64::from_bits(0xfff8_0000_0000_0001),
                f64::from_bits(0x7ff0_0000_0000_0001),
                f64::INFINITY,
                5e-324,
            ])),
            // A string of fourteen bytes is stored inside the value, one of fifteen is
            // not.
            5 => Value::from(*self.pick(&["", "a", "b", "fourteen bytes", "fifteen bytes!!"])),
            6 => {
                let text: &[u8] =
                    self.pick::<&[u8]>(&[b"", b"a", b"fourteen bytes", b"fifteen bytes!!"]);
                Value::from(text)
            }
            7 => {
                let base = BigInt::from(i64::MAX);
                let offset = BigInt::from(*self.pick(&[1i64, 2, 0]));
                let number = base + offset;
                Value::from(if self.below(2) == 1 { -number } else { number })
            }
            8 => {
                let names = ["int64", "float32", "float32x4", "bfloat16", "float8_e4m3fn"];
                let dtype = self
                    .pick(&names)
                    .parse()
                    .unwrap_or(isoform::values::DType::INT64);
                Value::from(dtype)
            }
            _ => {
                let kind = *self.pick(&[1, 2]);
                Value::from(isoform::values::Device::new(kind, self.below(2) as u32))
            }
        }
    }
}

/// The random byte strings on which a test tries a property: a counted number, to let a
/// busy machine test the same amount.
#[derive(Clone, Debug)]
pub struct RandomCases {
    /// The start of the sequence; the environment variable `ISOFORM_TEST_SEED` replaces it.
    pub seed: u64,
    /// The number of byte strings, to be [`scaled`]; the environment variable
    /// `ISOFORM_TEST_CASES` multiplies it.
    pub count: usize,
    /// The lengths of the byte strings; they grow and start over.
    pub lengths: std::ops::Range<usize>,
}

impl RandomCases {
    /// Tries a property on all byte strings.
    ///
    /// # Panics
    ///
    /// If the property fails, with the seed and the smallest byte string found.
    #[track_caller]
    pub fn check(self, name: &str, property: impl Fn(&[u8]) -> Result<(), String>) {
        let seed = number_from_environment("ISOFORM_TEST_SEED").unwrap_or(self.seed);
        let times = number_from_environment("ISOFORM_TEST_CASES").unwrap_or(1) as usize;
        let mut state = seed;
        for case in 0..scaled(self.count) * times.max(1) {
            let length = self.lengths.start + case % self.lengths.len();
            let bytes = random_bytes(split_mix(&mut state), length);
            if let Err(account) = property(&bytes) {
                let account = shrunk(bytes, account, property);
                panic!("{name}: seed {seed}, case {case}, bytes {account}");
            }
        }
    }
}

fn number_from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A random byte string: the same for the same seed, on every machine.
pub fn random_bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&split_mix(&mut state).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The next number of the SplitMix64 sequence.
pub fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// The account of a smaller violation of a property, with the bytes.
pub fn shrunk(
    mut bytes: Vec<u8>,
    mut account: String,
    property: impl Fn(&[u8]) -> Result<(), String>,
) -> String {
    let mut run = bytes.len() / 2;
    while run > 0 {
        let mut start = 0;
        while start + run <= bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(start..start + run);
            match property(&fewer) {
                Err(smaller) => (bytes, account) = (fewer, smaller),
                Ok(()) => start += run,
            }
        }
        run /= 2;
    }
    format!("{bytes:?}\n{account}")
}

/// The size of a large test: `full`, or a fraction of it where the environment variable
/// `ISOFORM_TEST_SCALE` divides it, as under valgrind; at least 10.
pub fn scaled(full: usize) -> usize {
    (full / scale()).max(10)
}

/// The divisor of the sizes of large tests: the environment variable `ISOFORM_TEST_SCALE`,
/// at least 1.
pub fn scale() -> usize {
    number_from_environment("ISOFORM_TEST_SCALE").map_or(1, |divisor| (divisor as usize).max(1))
}
