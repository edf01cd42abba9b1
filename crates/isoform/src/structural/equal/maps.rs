//! Maps: matching of keys, and the order of values.

use hashbrown::HashSet;

use super::super::mismatch::Reason;
use super::super::scope::Region;
use super::{Engine, EntryResult, Frame, Job, LEFT, Next, RIGHT};
use crate::kernel::container::Entries;
use crate::kernel::error::Result;
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessStep;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

impl<'a> Engine<'a> {
    /// Matches the keys of two maps; see the contract for the order.
    pub(super) fn enter_map<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        let (Some(left), Some(right)) = (l.entries(), r.entries()) else {
            return Ok(EntryResult::Different);
        };
        let start = self.tables.pairs.len();
        // The first pair stores the count, which saves the frame a second number.
        self.tables.pairs.push((0, 0));
        if let Err((in_left, position)) = self.match_keys(left, right) {
            self.levels.use_absence();
            self.tables.pairs.truncate(start);
            self.differ_key::<REC>(left, right, in_left, position as usize);
            return Ok(EntryResult::Different);
        }
        let count = (self.tables.pairs.len() - start - 1) as u32;
        self.tables.pairs[start].0 = count;
        let extra = start as u32;
        self.stack.push(Frame {
            l,
            r,
            next: 0,
            extra,
            region,
            job: Job::Entries,
        });
        Ok(EntryResult::Open)
    }

    /// Reports a key that has no partner on the other side.
    #[cold]
    fn differ_key<const REC: bool>(
        &mut self,
        left: &'a Entries,
        right: &'a Entries,
        in_left: bool,
        position: usize,
    ) {
        // Only the first difference is reported.
        if !REC || self.found.is_some() {
            return;
        }
        let (map, other) = if in_left {
            (left, right)
        } else {
            (right, left)
        };
        let Some((key, value)) = map.entry(position) else {
            return;
        };
        let side = if in_left { LEFT } else { RIGHT };
        let binding = key
            .object_ref()
            .and_then(|key| self.tables.bindings.of(side, key.ident()));
        // The object missing on the other side is the partner of a bound key.
        let partner = binding
            .and_then(|index| self.bound.get(index as usize))
            .map(|pair| {
                let object = if in_left { pair.right } else { pair.left };
                Value::from(object.to_ref())
            });
        let wanted = partner.unwrap_or_else(|| key.clone());
        let entry = other
            .position(&wanted)
            .and_then(|position| other.entry(position));
        if let (Some((_, other_value)), Some(object)) = (entry, wanted.object_ref()) {
            // Both maps have the object as a key, but one side has bound the object.
            let object = self.arena.keep(object.to_ref());
            self.differ_bound::<REC>(Reason::Bound, object, object);
            if let Some(difference) = &mut self.found {
                let steps = (
                    AccessStep::MapItem(key.clone()),
                    AccessStep::MapItem(wanted.clone()),
                );
                let (left, right) = if in_left { steps } else { (steps.1, steps.0) };
                difference.left_steps.push(left);
                difference.right_steps.push(right);
                let (left, right) = if in_left {
                    (value, other_value)
                } else {
                    (other_value, value)
                };
                (difference.left, difference.right) = (Some(left.clone()), Some(right.clone()));
            }
            return;
        }
        let (here, gone) = (
            AccessStep::MapItem(key.clone()),
            AccessStep::MapItemMissing(wanted),
        );
        let (left, right) = if in_left {
            (Some(value), None)
        } else {
            (None, Some(value))
        };
        self.differ_missing::<REC>(here, gone, left, right);
    }

    /// Appends the positions of matching entries in canonical order. Err contains the
    /// first key without a partner: the key's position, and true for a key of the left
    /// map.
    pub(super) fn match_keys(
        &mut self,
        left: &'a Entries,
        right: &'a Entries,
    ) -> Result<(), (bool, u32)> {
        let (left_order, right_order) = (left.key_order(), right.key_order());
        let mut matched = right_order.plain.iter();
        for &position in &left_order.plain {
            let Some((key, _)) = left.entry(position as usize) else {
                continue;
            };
            // Equal key sets in the same order advance in step; a lookup is needed only
            // at other positions.
            let partner = match matched.next() {
                Some(&other) if right.entry(other as usize).is_some_and(|(k, _)| k == key) => {
                    Some(other)
                }
                _ => right.position(key).map(|other| other as u32),
            };
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
        }
        if !left_order.objects.is_empty() || !right_order.objects.is_empty() {
            self.match_object_keys(left, right)?;
        }
        if left.len() == right.len() {
            return Ok(());
        }
        // All left keys have distinct partners, so a right key remains without a
        // partner.
        let start = self.tables.pairs.len() - left.len();
        let partners: HashSet<u32, rapidhash::fast::RandomState> = self.tables.pairs[start..]
            .iter()
            .map(|pair| pair.1)
            .collect();
        let is_lonely = |position: &&u32| !partners.contains(*position);
        let plain = right_order.plain.iter().find(is_lonely);
        let mut binding = |position: u32| {
            let (key, _) = right.entry(position as usize)?;
            self.tables.bindings.of(RIGHT, key.object_ref()?.ident())
        };
        // Bound keys come before the other keys, by the number of the binding.
        let lonely = plain.or_else(|| {
            let objects = right_order.objects.iter().filter(is_lonely);
            objects.min_by_key(|&&position| binding(position).unwrap_or(u32::MAX))
        });
        Err((false, lonely.copied().unwrap_or(0)))
    }

    pub(super) fn match_object_keys(
        &mut self,
        left: &'a Entries,
        right: &'a Entries,
    ) -> Result<(), (bool, u32)> {
        let key_object = |map: &'a Entries, position: u32| {
            map.entry(position as usize)
                .and_then(|(key, _)| key.object_ref())
        };
        let right_objects = &right.key_order().objects;
        let find = |ident: u64| {
            let by_ident = |position: &u32| key_object(right, *position).map(|key| key.ident());
            let index = right_objects
                .binary_search_by_key(&Some(ident), by_ident)
                .ok()?;
            Some(right_objects[index])
        };
        let mut bound = Vec::new();
        let mut unbound = Vec::new();
        for &position in &left.key_order().objects {
            let Some(key) = key_object(left, position) else {
                continue;
            };
            match self.tables.bindings.of(LEFT, key.ident()) {
                Some(index) => bound.push((index, position)),
                None => unbound.push((key, position)),
            }
        }
        bound.sort_unstable();
        if bound.len() > 1 && !self.tables.skipped.is_empty() {
            // Skips that left one of the keys unbound have changed the order of the
            // keys.
            let keys = bound
                .iter()
                .filter_map(|&(_, position)| key_object(left, position));
            self.tables.visited.extend(keys.map(|key| key.ident()));
        }
        for (index, position) in bound {
            let binding = self.tables.bindings.get(index);
            let current = self.tables.bindings.of(RIGHT, binding.idents[RIGHT]) == Some(index);
            let partner = if current {
                find(binding.idents[RIGHT])
            } else {
                None
            };
            self.levels.use_var(index, binding.level, Region::USE);
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
        }
        for (key, position) in unbound {
            let free = self.tables.bindings.of(RIGHT, key.ident()).is_none();
            let partner = if free { find(key.ident()) } else { None };
            self.tables
                .pairs
                .push((position, partner.ok_or((true, position))?));
            if matches!(key.info().kind, Kind::Var | Kind::Dag) {
                self.tables.bindings.note_free_key(key.ident());
                self.note_visit(key, key);
                // The result is valid only while the key stays unbound.
                self.levels.use_absence();
            }
        }
        Ok(())
    }

    pub(super) fn entries<const REC: bool>(&mut self, frame: Frame<'a>) -> Result<Next<'a>> {
        let start = frame.extra as usize;
        let (Some(left), Some(right)) = (frame.l.entries(), frame.r.entries()) else {
            return Ok(Next::Different);
        };
        let count = self.tables.pairs[start].0;
        for next in frame.next..count {
            let (l, r) = self.tables.pairs[start + 1 + next as usize];
            let (Some((_, l)), Some((_, r))) = (left.entry(l as usize), right.entry(r as usize))
            else {
                continue;
            };
            if let Some(frame) = self.stack.last_mut() {
                frame.next = next + 1;
            }
            match self.values::<REC>(l, r)? {
                None => {}
                Some(false) => return Ok(Next::Different),
                Some(true) => {
                    if let (Some(l), Some(r)) = (l.object_ref(), r.object_ref()) {
                        return Ok(Next::Pair(l, r, frame.region));
                    }
                }
            }
        }
        self.tables.pairs.truncate(start);
        self.stack.pop();
        Ok(Next::Nothing)
    }
}
