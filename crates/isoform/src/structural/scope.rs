//! Regions: the places where variables bind, and their scope levels.

use crate::kernel::types::FieldFlag;
use crate::kernel::types::RegionChange;

/// A definition region or its absence, packed: two bits of kind, one bit for a
/// comparison that is a definition region as a whole, and the scope level at which the
/// region was opened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Region(u32);

impl Region {
    /// Variables are used, not bound.
    pub(crate) const USE: Region = Region(0);
    /// The whole comparison is a definition region (`map_free_vars`).
    pub(crate) const FREE: Region = Region(7);
    /// Set in every region of a comparison that is a definition region as a whole.
    const MAPPED: u32 = 4;

    pub(crate) fn root(map_free_vars: bool) -> Region {
        if map_free_vars {
            Region::FREE
        } else {
            Region::USE
        }
    }

    /// The level at which the region was opened; None if variables do not bind.
    #[inline(always)]
    pub(crate) fn def_level(self) -> Option<u32> {
        if self.0 & 3 == 0 {
            None
        } else {
            Some(self.0 >> 3)
        }
    }

    /// True if a definition field opened the region; false if the whole comparison is a
    /// definition region.
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
