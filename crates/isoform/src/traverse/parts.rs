//! Decomposition of a value into its children, and reconstruction from children.

use super::cursor::{Cursor, View};
use super::options::ChildOptions;
use super::rewrite;
use crate::kernel::container::Contents;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::path::AccessStep;
use crate::kernel::path::places::Step;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// One child of a value.
#[derive(Clone, Debug)]
pub struct Child {
    /// The child itself.
    pub value: Value,
    /// The region: tells whether variables in the child are bound or used.
    pub region: RegionKind,
    /// True for the key of a map or dict.
    pub is_key: bool,
}

/// The children of one value in the order of visit: the elements of a list or dict at
/// the time of [`children_of`], the fields of an object at the time of reading them.
#[derive(Clone, Debug)]
pub struct Children {
    source: Value,
    /// The contents of a list or dict when it was opened; otherwise the source
    /// itself.
    held: Value,
    options: ChildOptions,
}

/// Returns the children of a value: the fields of an object in the order of visit, the
/// elements of an array or list, the keys and values of a map or dict. Other values
/// have no children. O(1), except for the key order of a map seen for the first time.
///
/// Together with [`Children::rebuild`], this is the basis of rewriters with a
/// custom order; [`structural_map`](crate::traverse::structural_map) is one with a fixed
/// order.
///
/// ```
/// use isoform::Value;
/// use isoform::traverse::children_of;
/// use isoform::types::RegionKind;
/// let list = Value::from([1, 2, 3]);
/// let children = children_of(&list);
/// let doubled = children
///     .iter(RegionKind::Use)
///     .map(|child| Value::from(2 * child.value.as_int().unwrap_or(0)))
///     .collect();
/// let list = children.rebuild(doubled)?;
/// assert!(isoform::structural_equal(list, [2, 4, 6])?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn children_of(value: impl Into<Value>) -> Children {
    ChildOptions::default().children_of(value)
}

impl ChildOptions {
    /// [`children_of`] with these options.
    pub fn children_of(self, value: impl Into<Value>) -> Children {
        let source = value.into();
        let held = match source.contents() {
            Some(Contents::Items(items)) => items.into(),
            Some(Contents::Entries(entries)) => entries.into(),
            None => source.clone(),
        };
        Children {
            source,
            held,
            options: self,
        }
    }
}

impl Children {
    /// The value whose children these are.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// The number of children. O(1).
    pub fn len(&self) -> usize {
        match self.cursor() {
            Some(cursor) if cursor.entries().is_some() && !self.options.keys => cursor.len() / 2,
            Some(cursor) => cursor.len(),
            None => 0,
        }
    }

    /// True if there are no children.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a child by its position in the order of visit; `region` is the value's
    /// region. O(1).
    pub fn get(&self, position: usize, region: RegionKind) -> Option<Child> {
        let cursor = self.cursor()?.met_in(region);
        let position = self.position_in(&cursor, position);
        access::reading(|section| {
            let part = cursor.get(section, position)?;
            Some(Child {
                value: part.met.to_value(),
                region: part.region,
                is_key: part.is_key,
            })
        })
    }

    /// Iterates over all children; `region` is the value's region.
    pub fn iter(&self, region: RegionKind) -> impl Iterator<Item = Child> {
        (0..self.len()).filter_map(move |position| self.get(position, region))
    }

    /// The step of a path to a child. A key has the step of its value.
    pub fn step(&self, position: usize) -> Option<AccessStep> {
        self.place_step(position).map(AccessStep::from)
    }

    /// [`step`](Self::step) for one of many places.
    pub(crate) fn place_step(&self, position: usize) -> Option<Step> {
        let cursor = self.cursor()?;
        cursor.step_to(self.position_in(&cursor, position))
    }

    /// Returns the value with its children replaced by these, in the same order.
    ///
    /// If all children are unchanged (the same objects, equal plain values), the result
    /// is the source itself. Otherwise, the result is a new object of the same type: a
    /// changed list or dict is a new list or dict. Ignored fields, which are not
    /// children, are copied unchanged.
    ///
    /// # Errors
    ///
    /// `ValueError` if the number of children differs or two keys of a map
    /// become equal, `TypeError` if a value does not fit its field.
    pub fn rebuild(&self, children: Vec<Value>) -> Result<Value> {
        if children.len() != self.len() {
            return Err(Error::value_error(format!(
                "{}: expected {} children, got {}",
                self.source.type_name(),
                self.len(),
                children.len()
            )));
        }
        let changes = children.into_iter().enumerate().filter(|(position, new)| {
            let old = self.get(*position, RegionKind::Use);
            old.is_none_or(|old| old.value != *new)
        });
        self.replace(changes.collect())
    }

    /// Returns the value with some children replaced, given by position.
    #[doc(hidden)]
    pub fn replace(&self, changes: Vec<(usize, Value)>) -> Result<Value> {
        match self.cursor() {
            Some(cursor) if !changes.is_empty() => {
                let changes = changes
                    .into_iter()
                    .map(|(at, value)| (self.position_in(&cursor, at), value));
                rewrite::replace(&cursor, changes)
            }
            _ => Ok(self.source.clone()),
        }
    }

    fn cursor(&self) -> Option<Cursor<'_>> {
        let view = View::of_compared(self.options.include_ignored);
        Cursor::over(self.source.object_ref()?, self.held.object_ref()?, view)
    }

    /// The position of a child among the parts of the cursor, including keys.
    fn position_in(&self, cursor: &Cursor<'_>, position: usize) -> usize {
        match cursor.entries() {
            Some(_) if !self.options.keys => 2 * position + 1,
            _ => position,
        }
    }
}
