//! Arrays and maps.

use super::super::contents::{few_plain_entries, few_plain_items};
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

impl<'a, S: Sink> Hasher<'a, S> {
    /// The elements of an array, or the entries of a map.
    pub(super) fn enter_content(
        &mut self,
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
        self.keys(map, &mut acc)?;
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
        } else if let Some(map) = few_plain_entries(content) {
            self.sink.word(&mut acc, Part::Length, map.len() as u64);
            let start = self.tables.orders.len();
            self.keys(map, &mut acc)?;
            for at in start..self.tables.orders.len() {
                let position = self.tables.orders[at] as usize;
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

    /// Hashes all keys of a map with their bindings on entry to the map;
    /// appends the order of the values.
    pub(super) fn keys(&mut self, map: &'a Entries, acc: &mut S::Acc) -> Result<()> {
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
        let (mut bound, mut free) = (Vec::new(), Vec::new());
        let has_order = order.objects.len() > 1;
        for &position in &order.objects {
            let key = map
                .entry(position as usize)
                .and_then(|(key, _)| key.object_ref());
            let Some(key) = key else { continue };
            match self.tables.numbering.bindings.of(0, key.ident()) {
                Some(index) => bound.push((index, key, position)),
                None => free.push((key, position)),
            }
        }
        bound.sort_unstable_by_key(|(index, ..)| *index);
        if bound.len() > 1 {
            // Elsewhere the same names may have been bound in another order.
            let tables = &mut *self.tables;
            let bindings = &tables.numbering.bindings;
            let levels = bound.iter().map(|(index, ..)| bindings.get(*index).level);
            tables.levels.lose_from(levels.min().unwrap_or(0));
            let is_named = |(index, ..): &(u32, _, _)| tables.numbering.is_by_fields(*index);
            if bound.iter().any(is_named) {
                self.note_level(0);
            }
        }
        for (index, key, position) in bound {
            let mut out = self.later_occurrence(key, index, Region::USE);
            if S::KEEPS && self.tables.numbering.is_by_identity(index) {
                self.note_free_key(has_order);
                if self.is_of_key() {
                    // As in equality, the order depends on whether a free variable
                    // was met before; nothing else does.
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
        match self.is_in_mutable() {
            true => out,
            false => self.end_part(object, object.info(), region, out),
        }
    }

    /// True if the next object is what a list or dict holds: the part to keep is the list
    /// or dict, since a write to it changes what it holds, or exchanges it.
    #[inline]
    fn is_in_mutable(&self) -> bool {
        let around = self.stack.last();
        around.is_some_and(|frame| frame.job == Job::EndMutable)
    }
}
