//! Definition regions: where a variable may bind.

use crate::kernel::error::{Error, Result};
use crate::kernel::types::FieldFlag;

/// How a hook or a traversal enters part of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RegionChange {
    /// The region stays unchanged.
    #[default]
    Inherit,
    /// A definition region: every variable, at any depth, may bind.
    Def,
    /// Only a variable at the top may bind.
    DefSimple,
    /// The starting region of the comparison or the traversal.
    Use,
}

impl RegionChange {
    /// The region change with this number: 0 inherits, 1 is `Def`, 2 is
    /// `DefSimple`.
    ///
    /// # Errors
    ///
    /// `ValueError` for any other number.
    pub fn from_number(number: i64) -> Result<Self> {
        match number {
            0 => Ok(RegionChange::Inherit),
            1 => Ok(RegionChange::Def),
            2 => Ok(RegionChange::DefSimple),
            other => Err(Error::value_error(format!(
                "def_region: expected 0 (inherit), 1 (def) or 2 (def-simple), got {other}"
            ))),
        }
    }

    #[inline(always)]
    pub(crate) fn of_flag(flag: FieldFlag) -> Self {
        match flag {
            FieldFlag::Def => RegionChange::Def,
            FieldFlag::DefSimple => RegionChange::DefSimple,
            FieldFlag::Use => RegionChange::Use,
            FieldFlag::None | FieldFlag::Ignore => RegionChange::Inherit,
        }
    }
}

/// The region of a value in a traversal: the role of a variable there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum RegionKind {
    /// Variables are used.
    #[default]
    Use,
    /// Variables are bound, however deep below the definition field.
    Def,
    /// The variable itself is bound, and the variable's own fields are uses.
    DefSimple,
}

impl RegionKind {
    /// The region inside an object that is met in this region, for fields without a
    /// flag.
    #[inline(always)]
    pub(crate) fn inside(self, of_var: bool) -> Self {
        match self {
            RegionKind::DefSimple if of_var => RegionKind::Use,
            other => other,
        }
    }

    /// The region of a field with this flag, in an object with this region
    /// [inside](Self::inside).
    #[inline(always)]
    pub(crate) fn of_field(self, flag: FieldFlag) -> Self {
        match flag {
            FieldFlag::Def => RegionKind::Def,
            FieldFlag::DefSimple => RegionKind::DefSimple,
            FieldFlag::Use => RegionKind::Use,
            FieldFlag::None | FieldFlag::Ignore => self,
        }
    }
}
