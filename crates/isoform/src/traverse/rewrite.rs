//! Builds a new value from an old value, part by part.
//!
//! A rewrite is a traversal with a result for each part; an object with a
//! changed part is rebuilt. A [`Policy`] decides the results: map, mutate,
//! substitution, normalisation.

use std::cell::Cell;
use std::mem;

use super::cursor::{Cursor, Part, path_of};
use super::recycle::recycle;
use crate::kernel::container::{Contents, Entries, Map};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::path::AccessPath;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// The result for a part.
#[derive(Clone)]
pub enum Outcome {
    /// The part is unchanged.
    Same,
    /// The part becomes this value.
    New(Value),
}

impl Outcome {
    /// The outcome for a part replaced by a value.
    #[inline]
    pub fn of(value: Value, was: PartRef<'_>) -> Self {
        if was.is(&value) {
            Outcome::Same
        } else {
            Outcome::New(value)
        }
    }

    /// The new value of the part.
    pub fn into_value(self, was: PartRef<'_>) -> Value {
        match self {
            Outcome::Same => was.to_value(),
            Outcome::New(value) => value,
        }
    }
}

/// The state of a part after a step of the rewrite.
///
/// A new value travels on the stack of changes rather than in results: each part passes
/// through here, and moving 16 bytes through memory costs more than the rest of the
/// step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The part was [opened](Rewriter::push), and has no result yet.
    Opened,
    /// The part is unchanged.
    Same,
    /// The last change holds the new value.
    Changed,
}

/// A point of a rewrite to return to: the numbers of cursors and changes.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    cursors: usize,
    changes: usize,
}

/// The open objects of a rewrite, and their changed parts.
pub struct Rewriter<'a, X> {
    /// Owners of traversed values outside of the root.
    pub(crate) parts: &'a Arena,
    pub(crate) cursors: Vec<Cursor<'a>>,
    /// For each cursor, the start of its part of `changes` and the policy's
    /// data about the object.
    open: Vec<(usize, X)>,
    /// Changed parts, by position; the parts of the innermost open object last.
    changes: Vec<(usize, Value)>,
}

/// Decides the results of parts.
pub trait Policy<'a>: Sized {
    /// Its data about an open object.
    type Extra;

    /// The rewriter whose parts this policy decides.
    fn rewriter(&mut self) -> &mut Rewriter<'a, Self::Extra>;

    /// False if plain values in fields never change, to let the rewrite skip plain
    /// values.
    #[inline(always)]
    fn wants_plain(&self) -> bool {
        true
    }

    /// Rewrites a part, or opens it.
    ///
    /// # Errors
    ///
    /// Whatever ends the rewrite.
    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress>;

    /// Rewrites an object in a field, or opens it: [`meet`](Self::meet) for most
    /// of the parts of most programs.
    ///
    /// # Errors
    ///
    /// Whatever ends the rewrite.
    #[inline(always)]
    fn meet_object(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: RegionKind,
    ) -> Result<Progress> {
        self.meet(section, Part::object(object, region))
    }

    /// Removes the last cursor after all its parts, and settles the object; or opens
    /// another object in its place.
    ///
    /// # Errors
    ///
    /// Whatever ends the rewrite.
    fn close(&mut self, section: &mut Section) -> Result<Progress>;

    /// Rewrites everything open above a height. Returns the result for the lowest
    /// object, or the result of `progress` without open objects.
    ///
    /// # Errors
    ///
    /// Errors of the policy; errors raised by the host to end a long operation.
    fn descend(
        &mut self,
        section: &mut Section,
        floor: usize,
        mut progress: Progress,
    ) -> Result<Outcome> {
        let mut poll = Poll::default();
        let plain_wanted = self.wants_plain();
        loop {
            poll.step(section)?;
            let rewriter = self.rewriter();
            match rewriter.cursors.last_mut() {
                Some(cursor) if rewriter.open.len() > floor => {
                    progress = match cursor.next_object(section, plain_wanted) {
                        Some((object, region)) => self.meet_object(section, object, region)?,
                        None => match cursor.next(section) {
                            Some(part) => self.meet(section, part)?,
                            None => self.close(section)?,
                        },
                    };
                }
                _ => return Ok(rewriter.take(progress)),
            }
        }
    }

    /// Rewrites a value.
    ///
    /// # Errors
    ///
    /// As [`descend`](Self::descend).
    fn run(&mut self, section: &mut Section, part: Part<'a>) -> Result<Outcome> {
        let floor = self.rewriter().cursors.len();
        let progress = self.meet(section, part)?;
        self.descend(section, floor, progress)
    }
}

/// The stacks of a finished rewrite. New allocations for each rewrite would cost small
/// values more than the rewrite itself.
#[derive(Default)]
struct Stacks {
    cursors: Vec<Cursor<'static>>,
    changes: Vec<(usize, Value)>,
}

thread_local! {
    static STACKS: Cell<Option<Stacks>> = const { Cell::new(None) };
}

impl<X> Drop for Rewriter<'_, X> {
    fn drop(&mut self) {
        let stacks = Stacks {
            cursors: recycle(mem::take(&mut self.cursors)),
            changes: recycle(mem::take(&mut self.changes)),
        };
        // At the end of a thread the memory is simply freed.
        let _ = STACKS.try_with(|kept| kept.set(Some(stacks)));
    }
}

impl<'a, X> Rewriter<'a, X> {
    /// A rewriter that keeps owned parts in an arena.
    pub fn new(parts: &'a Arena) -> Self {
        // A rewrite inside a callback finds the cell empty and makes its own stacks.
        let stacks = STACKS
            .try_with(Cell::take)
            .ok()
            .flatten()
            .unwrap_or_default();
        Rewriter {
            parts,
            cursors: recycle(stacks.cursors),
            open: Vec::new(),
            changes: stacks.changes,
        }
    }

    /// The policy's data about the open objects.
    pub(crate) fn extras(&self) -> impl Iterator<Item = &X> {
        self.open.iter().map(|(_, extra)| extra)
    }

    /// Opens an object.
    #[inline]
    pub fn push(&mut self, cursor: Cursor<'a>, extra: X) {
        self.cursors.push(cursor);
        self.open.push((self.changes.len(), extra));
    }

    /// Records the result for the part taken last by the innermost cursor. An opened
    /// part has no result.
    pub fn settle(&mut self, result: Option<Outcome>) -> Progress {
        match result {
            None => Progress::Opened,
            Some(Outcome::Same) => Progress::Same,
            Some(Outcome::New(value)) => self.change(value),
        }
    }

    /// Records the new value of the part taken last by the innermost cursor.
    #[inline]
    pub(crate) fn change(&mut self, value: Value) -> Progress {
        let position = self.place();
        self.changes.push((position, value));
        Progress::Changed
    }

    /// Records the new value of a part that the innermost cursor took before.
    pub fn change_earlier(&mut self, position: usize, value: Value) {
        let first = self.open.last().map_or(0, |(first, _)| *first);
        let before = self.changes[first..].partition_point(|(known, _)| *known < position);
        self.changes.insert(first + before, (position, value));
    }

    /// The new value of a part of the innermost object, if it changed.
    pub fn changed(&self, position: usize) -> Option<&Value> {
        let (first, _) = self.open.last()?;
        let mut changes = self.changes[*first..].iter();
        changes.find_map(|(known, value)| (*known == position).then_some(value))
    }

    /// The position of the part taken last by the innermost cursor.
    #[inline(always)]
    fn place(&self) -> usize {
        let taken = self.cursors.last().map_or(0, Cursor::position);
        taken.wrapping_sub(1)
    }

    /// Takes the result that was recorded last.
    pub fn take(&mut self, progress: Progress) -> Outcome {
        match progress {
            Progress::Changed => self
                .changes
                .pop()
                .map_or(Outcome::Same, |(_, value)| Outcome::New(value)),
            Progress::Opened | Progress::Same => Outcome::Same,
        }
    }

    /// The innermost open object with the policy's data about it.
    #[inline(always)]
    pub fn innermost(&self) -> Option<(&Cursor<'a>, &X)> {
        let (_, extra) = self.open.last()?;
        Some((self.cursors.last()?, extra))
    }

    /// The policy's data about the innermost open object.
    pub(crate) fn extra(&mut self) -> Option<&mut X> {
        self.open.last_mut().map(|(_, extra)| extra)
    }

    /// The open objects with the policy's data about them, the innermost last.
    pub(crate) fn opened(&self) -> impl Iterator<Item = (&Cursor<'a>, &X)> {
        let extras = self.open.iter().map(|(_, extra)| extra);
        self.cursors.iter().zip(extras)
    }

    /// Closes the innermost object and builds its result from its parts; discards the
    /// changes unless `keep` is set.
    ///
    /// # Errors
    ///
    /// With the path: `TypeError` for a part that does not fit its field,
    /// `ValueError` for two keys that become equal.
    pub fn build(
        &mut self,
        section: &mut Section,
        keep: bool,
    ) -> Result<Option<(Cursor<'a>, X, Outcome)>> {
        if !keep && let Some((first, _)) = self.open.last() {
            self.changes.truncate(*first);
        }
        let progress = self.rebuild(section)?;
        let closed = self.pop();
        Ok(closed.map(|(cursor, extra)| (cursor, extra, self.take(progress))))
    }

    /// Replaces the changes of the innermost object by one change, the object built
    /// from its parts, unless no part changed.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    #[inline(always)]
    pub fn rebuild(&mut self, section: &mut Section) -> Result<Progress> {
        let (Some(cursor), Some((first, _))) = (self.cursors.last(), self.open.last()) else {
            return Ok(Progress::Same);
        };
        let first = *first;
        if self.changes.len() == first {
            return Ok(Progress::Same);
        }
        // Converting a value to the type of a field, or finding a key, may run user
        // code. Most values fit without conversion.
        if let Some(fields) = cursor.fields()
            && let Some(built) = build::with_fitting(section, fields, &mut self.changes[first..])
        {
            self.changes.truncate(first + 1);
            self.changes[first].1 = built.into();
            return Ok(Progress::Changed);
        }
        self.rebuild_outside(section, first)
    }

    #[inline(never)]
    fn rebuild_outside(&mut self, section: &mut Section, first: usize) -> Result<Progress> {
        let cursor = self.cursors[self.cursors.len() - 1];
        let changes = self.changes.drain(first..);
        match access::outside(section, || replace(&cursor, changes)) {
            Ok(built) => {
                self.changes.push((0, built));
                Ok(Progress::Changed)
            }
            Err(error) => {
                // The path ends at the object.
                self.pop();
                Err(error.at(self.path()))
            }
        }
    }

    /// Closes the innermost object; its [new value](Self::rebuild) becomes a change of
    /// the surrounding object.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Cursor<'a>, X)> {
        let (first, extra) = self.open.pop()?;
        let cursor = self.cursors.pop()?;
        let place = self.place();
        if let Some((position, _)) = self.changes.get_mut(first) {
            *position = place;
        }
        Some((cursor, extra))
    }

    /// The current point of the rewrite.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            cursors: self.cursors.len(),
            changes: self.changes.len(),
        }
    }

    /// Discards everything opened since the mark.
    pub(crate) fn give_up(&mut self, mark: Mark) {
        self.cursors.truncate(mark.cursors);
        self.open.truncate(mark.cursors);
        self.changes.truncate(mark.changes);
    }

    /// Discards the innermost cursor, and keeps the changes.
    pub(crate) fn give_up_cursor(&mut self) {
        self.cursors.pop();
        self.open.truncate(self.cursors.len());
    }

    /// The path to the part being rewritten.
    pub fn path(&self) -> AccessPath {
        path_of(&self.cursors)
    }
}

/// Returns the object of a cursor with some parts replaced, given by position. A list
/// or dict becomes a new list or dict.
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
    let value_of = |contents| {
        let value = object
            .info()
            .container()
            .and_then(|container| container.holding(contents));
        value.unwrap_or_default()
    };
    if let Some(old) = cursor.items() {
        let mut items = old.to_vec();
        for (position, value) in changes {
            if let Some(item) = items.get_mut(position) {
                *item = value;
            }
        }
        return Ok(value_of(Contents::Items(items.into())));
    }
    if let Some(old) = cursor.entries() {
        let map = replace_entries(cursor, object, old, changes)?;
        return Ok(value_of(Contents::Entries(map)));
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
    old: &Entries,
    changes: impl Iterator<Item = (usize, Value)>,
) -> Result<Map> {
    let mut entries: Vec<(Value, Value)> = (0..old.len())
        .filter_map(|number| old.entry(number))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (position, new) in changes {
        if let Some(number) = cursor.entry_number(position) {
            if position.is_multiple_of(2) {
                entries[number].0 = new
            } else {
                entries[number].1 = new
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
