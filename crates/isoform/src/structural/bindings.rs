//! The bijection between left and right variables and dag nodes.

use hashbrown::HashSet;

use super::ident_map::IdentMap;
use super::scope::Levels;

/// One pair of the bijection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) left: u64,
    pub(crate) right: u64,
    /// The scope level at whose end the pair ends; 0 for never.
    pub(crate) level: u32,
    shadowed_left: Option<u32>,
    shadowed_right: Option<u32>,
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

/// The current pairs, those they shadow, and how to undo them.
#[derive(Default)]
pub(crate) struct Bindings {
    left: IdentMap,
    right: IdentMap,
    all: Vec<Binding>,
    /// Pairs of open scopes, innermost last.
    scoped: Vec<u32>,
    /// Start of each open scope's pairs in `scoped`.
    starts: Vec<usize>,
    /// What was done since the outermost mark; empty without marks.
    trail: Vec<Change>,
    marks: u32,
    /// Objects that matched as map keys by identity while unbound.
    free_keys: HashSet<u64, rapidhash::fast::RandomState>,
}

impl Bindings {
    pub(crate) fn clear(&mut self) {
        self.left.clear();
        self.right.clear();
        self.all.clear();
        self.all.shrink_to(1 << 14);
        self.scoped.clear();
        self.starts.clear();
        self.trail.clear();
        self.marks = 0;
        self.free_keys.clear();
    }

    /// The current pair of a left object.
    #[inline]
    pub(crate) fn of_left(&mut self, ident: u64) -> Option<u32> {
        self.left.get(ident)
    }

    /// The current pair of a right object.
    #[inline]
    pub(crate) fn of_right(&mut self, ident: u64) -> Option<u32> {
        self.right.get(ident)
    }

    pub(crate) fn get(&self, binding: u32) -> Binding {
        self.all[binding as usize]
    }

    /// Binds two objects until the scope of `level` ends.
    pub(crate) fn bind(&mut self, left: u64, right: u64, level: u32, levels: &mut Levels) -> u32 {
        let shadowed_left = self.left.get(left);
        let shadowed_right = self.right.get(right);
        for shadowed in [shadowed_left, shadowed_right].into_iter().flatten() {
            levels.shadow(self.all[shadowed as usize].level);
        }
        if !self.free_keys.is_empty()
            && (self.free_keys.contains(&left) || self.free_keys.contains(&right))
        {
            levels.void_all();
        }
        let index = self.all.len() as u32;
        self.all.push(Binding {
            left,
            right,
            level,
            shadowed_left,
            shadowed_right,
        });
        self.left.set(left, Some(index));
        self.right.set(right, Some(index));
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
        self.left.set(binding.left, binding.shadowed_left);
        self.right.set(binding.right, binding.shadowed_right);
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
                    self.left.set(binding.left, Some(index));
                    self.right.set(binding.right, Some(index));
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
