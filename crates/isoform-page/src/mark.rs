//! The side of a comparison that a part belongs to.

use serde::Serialize;

/// The side of a comparison that a part belongs to, shown by colour, sign and line style.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// The part is on both sides, or there is only one side.
    #[default]
    Same,
    /// The part is on both sides, and differs.
    Changed,
    /// Only the left side has the part.
    Deleted,
    /// Only the right side has the part.
    Inserted,
}

impl Mark {
    /// The mark of a part that the left or the right side has, or that differs on both.
    #[must_use]
    pub fn of_sides(is_left: bool, is_right: bool) -> Self {
        match (is_left, is_right) {
            (true, false) => Mark::Deleted,
            (false, true) => Mark::Inserted,
            _ => Mark::Changed,
        }
    }

    /// The sign before a part: a space, `~`, `-` or `+`.
    #[must_use]
    pub fn sign(self) -> char {
        match self {
            Mark::Same => ' ',
            Mark::Changed => '~',
            Mark::Deleted => '-',
            Mark::Inserted => '+',
        }
    }

    /// The word for readers who hear the page: `same`, `changed`, `deleted`, `inserted`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mark::Same => "same",
            Mark::Changed => "changed",
            Mark::Deleted => "deleted",
            Mark::Inserted => "inserted",
        }
    }
}
