//! Chooses the names of nodes in the text.

use hashbrown::{Equivalent, HashMap, HashSet};

use super::spelling::{Sigil, is_name_char, starts_word};

/// Longer hints are truncated, to keep lines free for other text.
const LONGEST: usize = 60;

/// The names of a text. A name differs from all others of its block, of the blocks around
/// it and of the blocks inside of it.
#[derive(Default)]
pub(super) struct Names {
    texts: Vec<String>,
    /// The block around each block, before it in the list; block 0 is around itself.
    arounds: Vec<u32>,
    taken: HashSet<BlockName<Box<str>>, rapidhash::fast::RandomState>,
    /// The last number tried after a name.
    suffixes: HashMap<BlockName<Box<str>>, u32, rapidhash::fast::RandomState>,
    /// The next number without a hint in a block, by sigil.
    numbers: [u32; 3],
    /// The last block, which has these numbers.
    block: usize,
    /// The next numbers of all earlier blocks.
    earlier: Vec<[u32; 3]>,
}

/// A name in a block.
#[derive(PartialEq, Eq, Hash)]
struct BlockName<T>(u32, T);

impl Equivalent<BlockName<Box<str>>> for BlockName<&str> {
    fn equivalent(&self, key: &BlockName<Box<str>>) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

impl Names {
    /// Room for a number of names in nested blocks.
    pub(super) fn new(arounds: Vec<u32>, count: usize) -> Names {
        Names {
            texts: vec![String::new(); count],
            arounds,
            ..Names::default()
        }
    }

    /// The name with this number, with its sigil.
    pub(super) fn get(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Chooses a name in a block, where blocks come in the order of the list; true if the
    /// name is the hint itself.
    pub(super) fn choose(
        &mut self,
        number: u32,
        block: u32,
        sigil: Sigil,
        hint: Option<&str>,
    ) -> bool {
        let wanted = hint.map(|hint| cleaned(sigil, hint)).unwrap_or_default();
        let name = match wanted.len() {
            0 | 1 => self.numbered(block, sigil),
            _ => self.unique(block, wanted),
        };
        let is_hint = hint.is_some_and(|hint| hint == &name[1..]);
        self.taken.insert(BlockName(block, name.as_str().into()));
        self.texts[number as usize] = name;
        is_hint
    }

    /// A number that no block around the block uses.
    fn numbered(&mut self, block: u32, sigil: Sigil) -> String {
        while self.block < block as usize {
            self.earlier.push(self.numbers);
            self.block += 1;
            self.numbers = self.earlier[self.arounds[self.block] as usize];
        }
        // Hints never start with a digit: numbers are free.
        let next = &mut self.numbers[sigil as usize];
        let name = format!("{}{next}", sigil.letter());
        *next += 1;
        name
    }

    fn unique(&mut self, block: u32, wanted: String) -> String {
        if !self.is_taken(block, &wanted) {
            return wanted;
        }
        let mut suffix = 0;
        for block in self.chain(block) {
            let tried = self.suffixes.get(&BlockName(block, wanted.as_str()));
            suffix = suffix.max(tried.copied().unwrap_or(0));
        }
        let name = loop {
            suffix += 1;
            let name = format!("{wanted}_{suffix}");
            if !self.is_taken(block, &name) {
                break name;
            }
        };
        let key = BlockName(block, wanted.into_boxed_str());
        self.suffixes.insert(key, suffix);
        name
    }

    /// True if the block or a block around it has the name. Names of blocks inside of it
    /// are chosen later.
    fn is_taken(&self, block: u32, name: &str) -> bool {
        let mut chain = self.chain(block);
        chain.any(|block| self.taken.contains(&BlockName(block, name)))
    }

    /// A block and the blocks around it.
    fn chain(&self, block: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(block), |&block| {
            (block != 0).then(|| self.arounds[block as usize])
        })
    }
}

/// The hint, with forbidden characters replaced; only the sigil if nothing is left.
fn cleaned(sigil: Sigil, hint: &str) -> String {
    let mut name = String::from(sigil.letter());
    let allowed = |c| if is_name_char(c) { c } else { '_' };
    name.extend(hint.chars().take(LONGEST).map(allowed));
    if name.len() > 1 && !name[1..].starts_with(starts_word) {
        name.insert(1, '_');
    }
    name
}
