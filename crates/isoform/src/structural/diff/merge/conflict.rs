//! Places that both sides changed in different ways.

use std::fmt;

use super::super::difference::Difference;
use super::super::options::DiffOptions;
use crate::kernel::display;
use crate::kernel::error::{Error, Result};
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;

/// A place of the base at which both sides of a [`Merge`](super::Merge) have changed
/// the parts in different ways.
#[derive(Clone)]
pub struct Conflict {
    path: AccessPath,
    base: Vec<Value>,
    sides: [Vec<Value>; 2],
    is_single: bool,
    reason: Option<String>,
}

/// The parts for the place of a [`Conflict`].
#[derive(Clone, Debug)]
pub enum Resolution {
    /// The parts of the base.
    Base,
    /// The parts of the left side.
    Left,
    /// The parts of the right side.
    Right,
    /// Other parts: exactly one at a [single](Conflict::is_single) place, at most one
    /// as the value under the key of a map, and any number in a list.
    Parts(Vec<Value>),
}

impl Conflict {
    pub(super) fn new(
        path: AccessPath,
        base: Vec<Value>,
        sides: [Vec<Value>; 2],
        is_single: bool,
    ) -> Self {
        Conflict {
            path,
            base,
            sides,
            is_single,
            reason: None,
        }
    }

    /// The conflict of both sides as a whole.
    pub(super) fn of_roots(base: &Value, sides: [&Value; 2], reason: String) -> Self {
        let sides = sides.map(|side| vec![side.clone()]);
        let made = Self::new(AccessPath::root(), vec![base.clone()], sides, true);
        Conflict {
            reason: Some(reason),
            ..made
        }
    }

    /// The place in the base. For parts that both sides insert into a list, the
    /// position of the next element.
    pub fn path(&self) -> &AccessPath {
        &self.path
    }

    /// The parts of the base: one part, the parts of a stretch of a list, or no parts
    /// at a place of insertion.
    pub fn base(&self) -> &[Value] {
        &self.base
    }

    /// The parts of the left side at the place; empty if the left side deleted them.
    pub fn left(&self) -> &[Value] {
        &self.sides[0]
    }

    /// The parts of the right side at the place; empty if the right side deleted them.
    pub fn right(&self) -> &[Value] {
        &self.sides[1]
    }

    /// True if the place holds exactly one part in all three values.
    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// The reason for a conflict of both sides as a whole, although no two of their
    /// edits are at one place. None for all other conflicts.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The change of the left side: from the parts of the base to the parts of the left
    /// side.
    ///
    /// # Errors
    ///
    /// As [`diff`](super::super::diff).
    pub fn left_change(&self) -> Result<Difference> {
        self.change(0)
    }

    /// The change of the right side: from the parts of the base to the parts of the
    /// right side.
    ///
    /// # Errors
    ///
    /// As [`diff`](super::super::diff).
    pub fn right_change(&self) -> Result<Difference> {
        self.change(1)
    }

    fn change(&self, side: usize) -> Result<Difference> {
        let all = |parts: &[Value]| match parts {
            [part] if self.is_single => part.clone(),
            parts => Value::from(parts.to_vec()),
        };
        DiffOptions::default().diff(all(&self.base), all(&self.sides[side]))
    }

    /// The parts of a resolution.
    ///
    /// # Errors
    ///
    /// `ValueError` for another number of parts at a single place.
    pub(super) fn resolved(&self, resolution: Resolution) -> Result<Vec<Value>> {
        let [left, right] = &self.sides;
        let parts = match resolution {
            Resolution::Base => return Ok(self.base.clone()),
            Resolution::Left => return Ok(left.clone()),
            Resolution::Right => return Ok(right.clone()),
            Resolution::Parts(parts) => parts,
        };
        if self.is_single && parts.len() != 1 {
            Err(Error::value_error(format!(
                "resolve: expected one part for the conflict at {}, got {}",
                self.path,
                parts.len()
            )))
        } else {
            Ok(parts)
        }
    }
}

impl fmt::Display for Conflict {
    /// A line for the place, and a line for each of the three values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conflict at {}", self.path)?;
        if let Some(reason) = &self.reason {
            write!(f, ": {reason}")?;
        }
        let [left, right] = &self.sides;
        for (name, parts) in [("base", &self.base), ("left", left), ("right", right)] {
            write!(f, "\n  {name}: ")?;
            for (number, part) in parts.iter().enumerate() {
                let comma = if number > 0 { ", " } else { "" };
                write!(f, "{comma}{}", display::line(part, display::KEY_BUDGET))?;
            }
            if parts.is_empty() {
                f.write_str("nothing")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<Conflict at {}>", self.path)
    }
}
