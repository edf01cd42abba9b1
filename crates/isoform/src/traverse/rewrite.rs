//! Builds a new value from an old one, part by part.
//!
//! A rewrite is a traversal with a result for each part; an object with a
//! changed part is rebuilt. A [`Policy`] decides the results: map, mutate,
//! substitution, normalisation.

use super::cursor::{Cursor, Part, path_of};
use crate::kernel::container::{Array, Dict, List, Map, MapObj};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build;
use crate::kernel::object::view::{Met, ObjRef};
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;

/// The result for a part.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// The part is unchanged.
    Same,
    New(Value),
}

impl Outcome {
    /// The outcome for a part that a value replaces.
    #[inline]
    pub(crate) fn of(value: Value, was: Met<'_>) -> Self {
        match was.is(&value) {
            true => Outcome::Same,
            false => Outcome::New(value),
        }
    }

    /// The new value of the part.
    pub(crate) fn into_value(self, was: Met<'_>) -> Value {
        match self {
            Outcome::Same => was.to_value(),
            Outcome::New(value) => value,
        }
    }
}

/// The open objects of a rewrite, and their changed parts.
pub(crate) struct Rewriter<'a, X> {
    /// Owners of traversed values that are not part of the root.
    pub(crate) parts: &'a Arena,
    pub(crate) cursors: Vec<Cursor<'a>>,
    /// For each cursor, the start of its part of `changes` and the policy's
    /// data about the object.
    open: Vec<(usize, X)>,
    /// Changed parts, by position; those of the innermost open object last.
    changes: Vec<(usize, Value)>,
}

/// Decides the results of parts.
pub(crate) trait Policy<'a>: Sized {
    /// Its data about an open object.
    type Extra;

    fn rewriter(&mut self) -> &mut Rewriter<'a, Self::Extra>;

    /// The result for a part, or None if the part was [opened](Rewriter::push).
    ///
    /// # Errors
    ///
    /// Whatever ends the rewrite.
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Option<Outcome>>;

    /// Removes the last cursor when all its parts are done. Returns the result
    /// for the object, or None if something else was opened in its place.
    ///
    /// # Errors
    ///
    /// Whatever ends the rewrite.
    fn close(&mut self, section: &mut Section) -> Result<Option<Outcome>>;

    /// Rewrites everything open above a height. Returns the result for the
    /// lowest object, or `finished` if nothing is open.
    ///
    /// # Errors
    ///
    /// Those of the policy; whatever the host raises to end a long operation.
    fn descend(
        &mut self,
        section: &mut Section,
        floor: usize,
        mut finished: Option<Outcome>,
    ) -> Result<Outcome> {
        let mut poll = Poll::default();
        loop {
            poll.step(section)?;
            let rewriter = self.rewriter();
            if rewriter.cursors.len() == floor {
                return Ok(finished.unwrap_or(Outcome::Same));
            }
            let Some(cursor) = rewriter.cursors.last_mut() else {
                return Ok(finished.unwrap_or(Outcome::Same));
            };
            if let Some(Outcome::New(value)) = finished.take() {
                rewriter.changes.push((cursor.position() - 1, value));
            }
            finished = match cursor.next(section) {
                Some(part) => self.meet(section, part)?,
                None => self.close(section)?,
            };
        }
    }

    /// Rewrites a value.
    ///
    /// # Errors
    ///
    /// As [`descend`](Self::descend).
    fn run(&mut self, section: &mut Section, part: Part<'a>) -> Result<Outcome> {
        let floor = self.rewriter().cursors.len();
        let finished = self.meet(section, part)?;
        self.descend(section, floor, finished)
    }
}

impl<'a, X> Rewriter<'a, X> {
    pub(crate) fn new(parts: &'a Arena) -> Self {
        Rewriter {
            parts,
            cursors: Vec::new(),
            open: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Opens an object.
    #[inline]
    pub(crate) fn push(&mut self, cursor: Cursor<'a>, extra: X) {
        self.cursors.push(cursor);
        self.open.push((self.changes.len(), extra));
    }

    /// The policy's data about the innermost open object.
    pub(crate) fn extra(&mut self) -> Option<&mut X> {
        self.open.last_mut().map(|(_, extra)| extra)
    }

    /// The policy's data about all open objects, the innermost last.
    pub(crate) fn extras(&self) -> impl Iterator<Item = &X> {
        self.open.iter().map(|(_, extra)| extra)
    }

    /// Closes the innermost object and builds its result from its parts;
    /// discards their changes unless `keep` is set.
    ///
    /// # Errors
    ///
    /// With the path: `TypeError` for a part that does not fit its field,
    /// `ValueError` for two keys that become equal.
    #[inline]
    pub(crate) fn build(
        &mut self,
        section: &mut Section,
        keep: bool,
    ) -> Result<Option<(Cursor<'a>, X, Outcome)>> {
        let (Some(cursor), Some((first, extra))) = (self.cursors.pop(), self.open.pop()) else {
            return Ok(None);
        };
        if !keep {
            self.changes.truncate(first);
        }
        if self.changes.len() == first {
            return Ok(Some((cursor, extra, Outcome::Same)));
        }
        let replaced = self.replace(section, &cursor, first);
        match replaced {
            Ok(value) => Ok(Some((cursor, extra, Outcome::New(value)))),
            Err(error) => Err(error.at(self.path())),
        }
    }

    /// Rebuilds the object of a cursor with the parts that changed since then.
    #[inline]
    fn replace(
        &mut self,
        section: &mut Section,
        cursor: &Cursor<'a>,
        first: usize,
    ) -> Result<Value> {
        // Converting a value to the type of a field, or finding a key, may run
        // user code. Most values fit as they are.
        if let Some(fields) = cursor.fields()
            && let Some(built) = build::with_fitting(section, fields, &mut self.changes[first..])
        {
            self.changes.truncate(first);
            return Ok(built.into());
        }
        let changes = self.changes.drain(first..);
        access::outside(section, || replace(cursor, changes))
    }

    /// The current number of cursors and changes.
    pub(crate) fn mark(&self) -> (usize, usize) {
        (self.cursors.len(), self.changes.len())
    }

    /// Discards everything opened since the mark.
    pub(crate) fn give_up(&mut self, (cursors, changes): (usize, usize)) {
        self.cursors.truncate(cursors);
        self.open.truncate(cursors);
        self.changes.truncate(changes);
    }

    /// The path to the part that is being rewritten.
    pub(crate) fn path(&self) -> AccessPath {
        path_of(&self.cursors)
    }
}

/// Returns the object of a cursor with some parts replaced, given by position.
/// A list or dict becomes a new list or dict.
///
/// # Errors
///
/// `TypeError` if a value does not fit its field, `ValueError` if two keys of a
/// map become equal.
pub(crate) fn replace(
    cursor: &Cursor<'_>,
    changes: impl Iterator<Item = (usize, Value)>,
) -> Result<Value> {
    let object = cursor.object();
    let is_mutable = object.info().class().is_mutable();
    if let Some(old) = cursor.items() {
        let mut items = old.to_vec();
        for (position, value) in changes {
            if let Some(item) = items.get_mut(position) {
                *item = value;
            }
        }
        return Ok(match is_mutable {
            true => List::from(items).into(),
            false => Array::from(items).into(),
        });
    }
    if let Some(old) = cursor.entries() {
        let map = replace_entries(cursor, object, old, changes)?;
        return Ok(match is_mutable {
            true => Dict::<Value, Value>::of(map).into(),
            false => map.into(),
        });
    }
    let changes = changes.filter_map(|(position, value)| {
        let slot = cursor.slot(position)?;
        Some((slot.field as usize, value))
    });
    build::with_fields(object.as_ref(), changes).map(Value::from)
}

fn replace_entries(
    cursor: &Cursor<'_>,
    object: ObjRef<'_>,
    old: &MapObj,
    changes: impl Iterator<Item = (usize, Value)>,
) -> Result<Map> {
    let mut entries: Vec<(Value, Value)> = (0..old.len())
        .filter_map(|number| old.entry(number))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (position, new) in changes {
        if let Some(number) = cursor.entry_number(position) {
            match position.is_multiple_of(2) {
                true => entries[number].0 = new,
                false => entries[number].1 = new,
            }
        }
    }
    let mut map = Map::new();
    for (key, value) in entries {
        let (count, shown) = (map.len(), key.clone());
        map.try_insert(key, value)?;
        if map.len() == count {
            return Err(Error::value_error(format!(
                "{}: two keys become {shown:?}",
                Value::from_object(object.to_ref()).type_name()
            )));
        }
    }
    Ok(map)
}
