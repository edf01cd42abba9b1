//! Which variables and dag nodes are bound, in which scope.
//!
//! Equality binds pairs, one object of each side; hashing binds single
//! objects. The number of sides is the only difference.

use hashbrown::HashSet;

use super::ident_map::IdentMap;
use super::scope::Levels;

/// One binding: an object of each side, by identity number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding<const SIDES: usize> {
    pub(crate) idents: [u64; SIDES],
    /// The scope level at whose end the binding ends; 0 for never.
    pub(crate) level: u32,
    shadowed: [Option<u32>; SIDES],
}

#[derive(Clone, Copy)]
enum Change {
    Made(u32),
    Ended(u32),
}

/// Where to roll back to.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    trail: usize,
    level: u32,
}

/// The current bindings, those they shadow, and how to undo them.
pub(crate) struct Bindings<const SIDES: usize> {
    maps: [IdentMap; SIDES],
    all: Vec<Binding<SIDES>>,
    /// Bindings of open scopes, innermost last.
    scoped: Vec<u32>,
    /// Start of each open scope's bindings in `scoped`.
    starts: Vec<usize>,
    /// What was done since the outermost mark; empty without marks.
    trail: Vec<Change>,
    marks: u32,
    /// Objects that matched as map keys by identity while unbound.
    free_keys: HashSet<u64, rapidhash::fast::RandomState>,
}

impl<const SIDES: usize> Default for Bindings<SIDES> {
    fn default() -> Self {
        Bindings {
            maps: std::array::from_fn(|_| IdentMap::default()),
            all: Vec::new(),
            scoped: Vec::new(),
            starts: Vec::new(),
            trail: Vec::new(),
            marks: 0,
            free_keys: HashSet::default(),
        }
    }
}

impl<const SIDES: usize> Bindings<SIDES> {
    pub(crate) fn clear(&mut self) {
        self.maps.iter_mut().for_each(IdentMap::clear);
        self.all.clear();
        self.all.shrink_to(1 << 14);
        self.scoped.clear();
        self.starts.clear();
        self.trail.clear();
        self.marks = 0;
        self.free_keys.clear();
    }

    /// The current binding of an object of one side.
    #[inline(always)]
    pub(crate) fn of(&mut self, side: usize, ident: u64) -> Option<u32> {
        self.maps[side].get(ident)
    }

    #[inline(always)]
    pub(crate) fn get(&self, binding: u32) -> Binding<SIDES> {
        self.all[binding as usize]
    }

    /// Binds until the scope of `level` ends.
    pub(crate) fn bind(&mut self, idents: [u64; SIDES], level: u32, levels: &mut Levels) -> u32 {
        let shadowed: [Option<u32>; SIDES] =
            std::array::from_fn(|side| self.maps[side].get(idents[side]));
        for shadowed in shadowed.into_iter().flatten() {
            levels.shadow(self.all[shadowed as usize].level);
        }
        if !self.free_keys.is_empty() && idents.iter().any(|ident| self.free_keys.contains(ident)) {
            levels.void_all();
        }
        levels.create(level);
        let index = self.all.len() as u32;
        self.all.push(Binding {
            idents,
            level,
            shadowed,
        });
        for (map, ident) in self.maps.iter_mut().zip(idents) {
            map.set(ident, Some(index));
        }
        if level > 0 {
            self.add_scoped(index, level);
        }
        if self.marks > 0 {
            self.trail.push(Change::Made(index));
        }
        index
    }

    /// Keeps `scoped` grouped by level; nearly always the innermost level.
    fn add_scoped(&mut self, index: u32, level: u32) {
        let level = level as usize;
        let position = self.starts.get(level).copied().unwrap_or(self.scoped.len());
        self.scoped.insert(position, index);
        for start in self.starts.iter_mut().skip(level) {
            *start += 1;
        }
    }

    pub(crate) fn open_scope(&mut self, levels: &mut Levels) {
        levels.open_scope();
        self.starts.push(self.scoped.len());
    }

    pub(crate) fn close_scope(&mut self, levels: &mut Levels) {
        levels.close_scope();
        let start = self.starts.pop().unwrap_or(0);
        while self.scoped.len() > start {
            let Some(index) = self.scoped.pop() else {
                break;
            };
            self.unlink(index);
            if self.marks > 0 {
                self.trail.push(Change::Ended(index));
            }
        }
    }

    fn unlink(&mut self, index: u32) {
        let binding = self.all[index as usize];
        for side in 0..SIDES {
            self.maps[side].set(binding.idents[side], binding.shadowed[side]);
        }
    }

    /// Remembers the state; every mark is followed by `commit` or `roll_back`.
    pub(crate) fn mark(&mut self, levels: &Levels) -> Mark {
        self.marks += 1;
        Mark {
            trail: self.trail.len(),
            level: levels.current(),
        }
    }

    pub(crate) fn commit(&mut self, _mark: Mark) {
        self.marks -= 1;
        if self.marks == 0 {
            self.trail.clear();
        }
    }

    /// Undoes everything since the mark.
    pub(crate) fn roll_back(&mut self, mark: Mark, levels: &mut Levels) {
        while self.trail.len() > mark.trail {
            match self.trail.pop() {
                Some(Change::Made(index)) => {
                    self.unlink(index);
                    if let Some(position) = self.scoped.iter().rposition(|&other| other == index) {
                        self.scoped.remove(position);
                        let level = self.all[index as usize].level as usize;
                        for start in self.starts.iter_mut().skip(level) {
                            *start = start.saturating_sub(1);
                        }
                    }
                }
                Some(Change::Ended(index)) => {
                    let binding = self.all[index as usize];
                    for (map, ident) in self.maps.iter_mut().zip(binding.idents) {
                        map.set(ident, Some(index));
                    }
                }
                None => break,
            }
        }
        levels.truncate(mark.level);
        self.starts.truncate(mark.level as usize);
        // Results found since the mark may rest on what was just undone.
        levels.void_all();
        self.marks -= 1;
    }

    /// An unbound object matched itself as a map key.
    pub(crate) fn note_free_key(&mut self, ident: u64) {
        self.free_keys.insert(ident);
    }
}
