//! Scope levels, and what a subtree depends on.
//!
//! Both engines remember results for shared nodes. A result stays true as
//! long as the bindings it used are in force, so while a node is visited the
//! levels of the bindings it touches are collected here.

use super::level_set::LevelSet;
use crate::registry::FieldFlag;
use crate::visit::RegionChange;

/// A definition region or its absence, packed: two bits of kind, one that says
/// whether the whole comparison is a definition region, and the scope level at
/// which the region was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region(u32);

impl Region {
    /// Variables are used, not bound.
    pub(crate) const USE: Region = Region(0);
    /// The whole comparison is a definition region (`map_free_vars`).
    pub(crate) const FREE: Region = Region(7);
    /// Set in every region of a comparison that is a definition region itself.
    const MAPPED: u32 = 4;

    pub(crate) fn root(map_free_vars: bool) -> Region {
        if map_free_vars {
            Region::FREE
        } else {
            Region::USE
        }
    }

    /// The level at which the region was opened; None where variables do not bind.
    #[inline(always)]
    pub(crate) fn def_level(self) -> Option<u32> {
        if self.0 & 3 == 0 {
            None
        } else {
            Some(self.0 >> 3)
        }
    }

    /// Whether a definition field opened the region, as opposed to the whole
    /// comparison being one.
    #[inline(always)]
    pub(crate) fn is_field(self) -> bool {
        matches!(self.0 & 3, 1 | 2)
    }

    /// The region of a field with this flag, inside the scope at `level`.
    #[inline(always)]
    pub(crate) fn of_field(self, flag: FieldFlag, level: u32) -> Region {
        if flag == FieldFlag::None {
            self
        } else {
            self.enter(RegionChange::of_flag(flag), level)
        }
    }

    pub(crate) fn enter(self, change: RegionChange, level: u32) -> Region {
        match change {
            RegionChange::Inherit => self,
            RegionChange::Def => Region(level << 3 | self.0 & Region::MAPPED | 1),
            RegionChange::DefSimple => Region(level << 3 | self.0 & Region::MAPPED | 2),
            RegionChange::Use => Region::root(self.0 & Region::MAPPED != 0),
        }
    }

    /// The region of a variable's own fields.
    pub(crate) fn inside_var(self) -> Region {
        if self.0 & 3 == 2 {
            Region(self.0 & Region::MAPPED)
        } else {
            self
        }
    }
}

/// Which bindings a stretch of the visit has touched, but for those of scopes
/// that have ended since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touched {
    /// The levels of bindings used.
    used: LevelSet,
    /// The lowest level of a variable binding used.
    lowest_var: u32,
    /// The same, of those used in the region of a definition field.
    lowest_def: u32,
    /// The lowest level at which a binding was made.
    created: u32,
}

impl Touched {
    pub(crate) const NOTHING: Touched = Touched {
        used: LevelSet::EMPTY,
        lowest_var: u32::MAX,
        lowest_def: u32::MAX,
        created: u32::MAX,
    };

    fn add(&mut self, other: Touched) {
        self.used.unite(other.used);
        self.lowest_var = self.lowest_var.min(other.lowest_var);
        self.lowest_def = self.lowest_def.min(other.lowest_def);
        self.created = self.created.min(other.created);
    }

    /// Drops what lies at a level that ends; there is nothing above it.
    fn end_level(&mut self, level: u32) {
        self.used.remove_highest(level);
        for lowest in [
            &mut self.lowest_var,
            &mut self.lowest_def,
            &mut self.created,
        ] {
            if *lowest >= level {
                *lowest = u32::MAX;
            }
        }
    }
}

/// What a remembered result needs to stay true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Needs {
    /// The levels of bindings used. The result holds while the highest one is
    /// open, since the others are around it; whoever uses the result uses all
    /// of them, and may outlive some.
    pub(crate) used: LevelSet,
    /// The lowest level of a variable used: a definition region of a higher
    /// level would bind it anew.
    pub(crate) lowest_var: u32,
    /// The lowest level of a variable used in a definition field: in a scope
    /// of a higher level, that field would bind it anew.
    pub(crate) lowest_def: u32,
}

impl Needs {
    /// Of two results joined into one.
    pub(crate) fn both(mut self, other: Needs) -> Needs {
        self.used.unite(other.used);
        Needs {
            used: self.used,
            lowest_var: self.lowest_var.min(other.lowest_var),
            lowest_def: self.lowest_def.min(other.lowest_def),
        }
    }
}

/// The open scopes and the clock that dates remembered results.
pub(crate) struct Levels {
    /// Per level, outermost first: results older than this whose highest
    /// binding is of this level are void.
    open: Vec<u64>,
    clock: u64,
    /// Results older than this that use any binding are void.
    since: u64,
    touched: Touched,
}

/// Shadowing a binding this many levels down voids all results instead of
/// walking over the levels between.
const NEAR: usize = 32;

impl Levels {
    pub(crate) fn new() -> Self {
        Levels {
            open: vec![0],
            clock: 0,
            since: 0,
            touched: Touched::NOTHING,
        }
    }

    pub(crate) fn reset(&mut self) {
        self.open.truncate(1);
        self.open.shrink_to(1 << 12);
        self.open[0] = 0;
        (self.clock, self.since, self.touched) = (0, 0, Touched::NOTHING);
    }

    /// How many scopes are open.
    #[inline(always)]
    pub(crate) fn current(&self) -> u32 {
        (self.open.len() - 1) as u32
    }

    pub(crate) fn open_scope(&mut self) {
        self.clock += 1;
        self.open.push(self.clock);
    }

    pub(crate) fn close_scope(&mut self) {
        let closing = self.current();
        self.open.pop();
        self.touched.end_level(closing);
    }

    /// Forgets scopes that a failed alternative left open. What was touched
    /// in them is for the caller to put back.
    pub(crate) fn truncate(&mut self, current: u32) {
        self.open.truncate(current as usize + 1);
    }

    /// A variable binding of this level was used, or made, in a region.
    #[inline]
    pub(crate) fn use_var(&mut self, level: u32, region: Region) {
        self.touched.used.insert(level);
        self.touched.lowest_var = self.touched.lowest_var.min(level);
        if region.is_field() {
            self.touched.lowest_def = self.touched.lowest_def.min(level);
        }
    }

    /// A dag pair was used; those never end and never bind anew.
    #[inline]
    pub(crate) fn use_dag(&mut self) {
        self.touched.used.insert(0);
    }

    /// A binding of this level was made.
    #[inline]
    pub(crate) fn create(&mut self, level: u32) {
        self.touched.created = self.touched.created.min(level);
    }

    /// A remembered result was used in a region.
    #[inline]
    pub(crate) fn use_result(&mut self, needs: Needs, region: Region) {
        if needs.used.highest().is_some() {
            self.touched.used.unite(needs.used);
            self.touched.lowest_var = self.touched.lowest_var.min(needs.lowest_var);
            let in_field = if region.is_field() {
                needs.lowest_var
            } else {
                u32::MAX
            };
            let lowest_def = self.touched.lowest_def.min(needs.lowest_def);
            self.touched.lowest_def = lowest_def.min(in_field);
        }
    }

    /// Starts collecting for one node; pass the result to [`end`](Self::end).
    #[inline]
    pub(crate) fn begin(&mut self) -> Touched {
        std::mem::replace(&mut self.touched, Touched::NOTHING)
    }

    /// Ends collecting: what the node needs, and whether it made a binding
    /// that outlives it.
    #[inline]
    pub(crate) fn end(&mut self, before: Touched) -> (Needs, bool) {
        let inner = self.touched;
        self.touched.add(before);
        let needs = Needs {
            used: inner.used,
            lowest_var: inner.lowest_var,
            lowest_def: inner.lowest_def,
        };
        (needs, inner.created <= self.current())
    }

    /// The collection as it stands, to be put back after a failed alternative.
    pub(crate) fn touched(&self) -> Touched {
        self.touched
    }

    pub(crate) fn set_touched(&mut self, touched: Touched) {
        self.touched = touched;
    }

    /// The date of a result found now.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.clock
    }

    /// Whether a result of that date may be used in this region.
    #[inline]
    pub(crate) fn holds(&self, needs: Needs, date: u64, region: Region) -> bool {
        let Some(level) = needs.used.highest() else {
            return true;
        };
        date >= self.since
            && needs.lowest_def >= self.current()
            && self
                .open
                .get(level as usize)
                .is_some_and(|since| date >= *since)
            && region.def_level().is_none_or(|def| needs.lowest_var >= def)
    }

    /// A binding of this level is shadowed by a new one: results that may have
    /// used it do not hold inside the shadow.
    pub(crate) fn shadow(&mut self, level: u32) {
        self.clock += 1;
        let levels = &mut self.open[level as usize..];
        if levels.len() > NEAR {
            self.since = self.clock;
            return;
        }
        levels.fill(self.clock);
    }

    /// Voids every remembered result that used a binding.
    pub(crate) fn void_all(&mut self) {
        self.clock += 1;
        self.since = self.clock;
    }
}
