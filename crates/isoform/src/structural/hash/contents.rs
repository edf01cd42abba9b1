//! Arrays and maps.

use super::super::plain_values::{few_plain_entries, few_plain_items};
use super::super::scope::Region;
use super::super::sink::{Form, Part, Sink};
use super::{Frame, Hasher, Job, Step};
use crate::kernel::container::Entries;
use crate::kernel::error::{ErrorKind, Result};
use crate::kernel::object::access::Section;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessStep;
use crate::kernel::types::Kind;

/// A bound key of a map, and the position of the key's entry.
struct BoundKey<'a> {
    binding: u32,
    key: ObjRef<'a>,
    position: u32,
}

impl<'a, S: Sink> Hasher<'a, S> {
    /// The elements of an array, or the entries of a map.
    pub(super) fn enter_content(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<Step<'a, S::Out>> {
        if !self.is_in_mutable() {
            self.begin_part(info);
        }
        let mut acc = self.sink.open_type(info);
        if let Some(items) = object.items() {
            self.sink.word(&mut acc, Part::Length, items.len() as u64);
            self.push(Job::Items, object, acc, region);
            return Ok(Step::Open);
        }
        let Some(map) = object.entries() else {
            return Ok(Step::Done(self.close_content(object, region, acc)));
        };
        self.sink.word(&mut acc, Part::Length, map.len() as u64);
        let start = self.tables.orders.len();
        let unnamed = self.keys(map, &mut acc)?;
        self.unnamed_entries(section, object, map, unnamed, &mut acc, region)?;
        let extra = start as u32;
        self.stack.push(Frame {
            object,
            acc,
            next: 0,
            extra,
            region,
            job: Job::Entries,
        });
        Ok(Step::Open)
    }

    /// The hash of a few plain values, which need no frame.
    pub(super) fn few_plain(&mut self, content: ObjRef<'a>) -> Result<Option<S::Out>> {
        let mut acc = self.sink.open_type(content.info());
        if let Some(items) = few_plain_items(content) {
            self.sink.word(&mut acc, Part::Length, items.len() as u64);
            items.iter().for_each(|item| self.plain(&mut acc, item));
        } else if let Some(map) = few_plain_entries(content)
            && map.key_order().objects.len() < 2
        {
            self.sink.word(&mut acc, Part::Length, map.len() as u64);
            let start = self.tables.orders.len();
            self.keys(map, &mut acc)?;
            for index in start..self.tables.orders.len() {
                let position = self.tables.orders[index] as usize;
                if let Some((_, value)) = map.entry(position) {
                    self.plain(&mut acc, value);
                }
            }
            self.tables.orders.truncate(start);
        } else {
            self.sink.abandon(acc);
            return Ok(None);
        }
        Ok(Some(self.sink.close(acc)))
    }

    /// Hashes the keys of a map with their bindings on entry to the map; appends the
    /// order of the values. Returns the keys without an order by name, for
    /// [`unnamed_entries`](Self::unnamed_entries).
    fn keys(&mut self, map: &'a Entries, acc: &mut S::Acc) -> Result<Vec<BoundKey<'a>>> {
        let order = map.key_order();
        for &position in &order.plain {
            let Some((key, _)) = map.entry(position as usize) else {
                continue;
            };
            match key.object_ref() {
                None => self.plain(acc, key),
                Some(key) => {
                    let out = self.native(key, key.info());
                    self.sink.child(acc, out);
                }
            }
            self.tables.orders.push(position);
        }
        let (mut bound, mut unnamed, mut free) = (Vec::new(), Vec::new(), Vec::new());
        let has_order = order.objects.len() > 1;
        for &position in &order.objects {
            let key = map
                .entry(position as usize)
                .and_then(|(key, _)| key.object_ref());
            let Some(key) = key else { continue };
            let Some(binding) = self.tables.numbering.bindings.of(0, key.ident()) else {
                free.push((key, position));
                continue;
            };
            let key = BoundKey {
                binding,
                key,
                position,
            };
            match self.key_order(&key) {
                Some(order) => bound.push((order, key)),
                None => unnamed.push(key),
            }
        }
        bound.sort_unstable_by_key(|(order, _)| *order);
        let mut bound: Vec<BoundKey<'a>> = bound.into_iter().map(|(_, key)| key).collect();
        if unnamed.len() == 1 {
            bound.append(&mut unnamed);
        }
        let count = bound.len() + unnamed.len();
        if count > 1 {
            // Elsewhere the same names may have been bound in another order.
            let tables = &mut *self.tables;
            let bindings = &tables.numbering.bindings;
            let keys = bound.iter().chain(&unnamed);
            let lowest = keys.map(|key| bindings.get(key.binding).level).min();
            let lowest = lowest.unwrap_or(0);
            tables.levels.lose_from(lowest);
            self.note_level(if unnamed.is_empty() { lowest } else { 0 });
        }
        for BoundKey {
            binding,
            key,
            position,
        } in bound
        {
            let mut out = self.later_occurrence(key, binding, Region::USE);
            if S::KEEPS && self.tables.numbering.is_by_identity(binding) {
                self.note_free_key(has_order);
                if self.is_of_key() {
                    // As in equality, the order depends only on an earlier occurrence
                    // of a free variable.
                    out = self.free_key(key);
                }
            }
            self.sink.child(acc, out);
            self.tables.orders.push(position);
        }
        for (key, position) in free {
            self.note_node_key(key);
            if S::PORTABLE {
                let text = format!(
                    "a map key of type {} that is not bound has no portable name",
                    key.info().key()
                );
                let step = map
                    .entry(position as usize)
                    .map(|(key, _)| AccessStep::MapItem(key.clone()));
                return Err(self.error_below(ErrorKind::Value, text, step));
            }
            let out = self.free_key(key);
            self.sink.child(acc, out);
            self.tables.orders.push(position);
            if matches!(key.info().kind, Kind::Var | Kind::Dag) {
                self.note_free(key, Region::USE);
                self.note_free_key(has_order && key.info().kind == Kind::Var);
                self.tables.numbering.bindings.note_free_key(key.ident());
                self.tables.levels.use_absence();
            }
        }
        Ok(unnamed)
    }

    /// The place of a bound key among the other keys, on which equal values agree: the
    /// order of the bindings, as in equality. None for an object met only in alternatives
    /// of custom hashes, whose order must not be visible.
    fn key_order(&self, key: &BoundKey<'a>) -> Option<(bool, u64)> {
        let numbering = &self.tables.numbering;
        match numbering.moment(key.binding) {
            Some(moment) => Some((false, u64::from(moment))),
            None if numbering.is_by_identity(key.binding) => Some((true, key.key.ident())),
            None => None,
        }
    }

    /// Hashes several entries whose keys have no names: every entry by itself, like the
    /// alternatives in which the keys were met.
    fn unnamed_entries(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        map: &'a Entries,
        unnamed: Vec<BoundKey<'a>>,
        acc: &mut S::Acc,
        region: Region,
    ) -> Result<()> {
        if unnamed.is_empty() {
            return Ok(());
        }
        self.begin_hook(object)?;
        let outer = self.tables.numbering.current();
        let mut answers = Vec::with_capacity(unnamed.len());
        for BoundKey {
            binding,
            key,
            position,
        } in unnamed
        {
            let Some((_, value)) = map.entry(position as usize) else {
                continue;
            };
            let levels = &self.tables.levels;
            self.tables.numbering.ask(outer, None, levels);
            let answer = self.question(object, region, |hasher| {
                let name = hasher.later_occurrence(key, binding, Region::USE);
                let name = hasher.sink.keep(name);
                let out = hasher.value(section, value, region)?;
                let out = hasher.sink.keep(out);
                let mut acc = hasher.sink.open_form(Form::Answer);
                hasher.sink.child(&mut acc, name);
                hasher.sink.child(&mut acc, out);
                let answer = hasher.sink.close(acc);
                Ok(hasher.sink.to_u64(answer))
            });
            self.tables.numbering.leave(outer);
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error) => {
                    self.hook_depth -= 1;
                    return Err(error);
                }
            }
        }
        self.hook_depth -= 1;
        answers.sort_unstable();
        for answer in answers {
            self.sink.word(acc, Part::Custom, answer);
        }
        Ok(())
    }

    /// A key that is hashed by identity.
    fn free_key(&mut self, key: ObjRef<'a>) -> S::Out {
        let mut acc = self.sink.open_form(Form::FreeKey);
        self.sink.word(&mut acc, Part::Identity, key.ident());
        self.sink.close(acc)
    }

    /// Continues with an array's elements or a map's values.
    pub(super) fn elements(
        &mut self,
        section: &Section,
        mut acc: S::Acc,
    ) -> Result<Step<'a, S::Out>> {
        let Some(frame) = self.stack.last() else {
            return Ok(Step::Open);
        };
        let (object, region, extra) = (frame.object, frame.region, frame.extra as usize);
        let mut next = frame.next as usize;
        let (array, map) = (object.items(), object.entries());
        loop {
            let item = match (array, map) {
                (Some(items), _) => items.get(next),
                (None, Some(map)) if next < map.len() => {
                    let position = self.tables.orders.get(extra + next).copied();
                    position
                        .and_then(|position| map.entry(position as usize))
                        .map(|(_, value)| value)
                }
                _ => None,
            };
            let Some(item) = item else { break };
            next += 1;
            let Some(child) = item.object_ref() else {
                self.plain(&mut acc, item);
                continue;
            };
            if let Some(out) = self.leaf(section, child, region) {
                self.sink.child(&mut acc, out);
                continue;
            }
            if let Some(frame) = self.stack.last_mut() {
                (frame.acc, frame.next) = (acc, next as u32);
            }
            return Ok(Step::Child(child, region));
        }
        if map.is_some() {
            self.tables.orders.truncate(extra);
        }
        self.stack.pop();
        Ok(Step::Done(self.close_content(object, region, acc)))
    }

    fn close_content(&mut self, object: ObjRef<'a>, region: Region, acc: S::Acc) -> S::Out {
        let out = self.sink.close(acc);
        if self.is_in_mutable() {
            out
        } else {
            self.end_part(object, object.info(), region, out)
        }
    }

    /// True if the next object is the contents of a list or dict: the part to keep is
    /// the list or dict, since a write changes or exchanges the contents.
    #[inline]
    fn is_in_mutable(&self) -> bool {
        let around = self.stack.last();
        around.is_some_and(|frame| frame.job == Job::EndMutable)
    }
}
