//! Decides when hashes of parts are kept, and when kept hashes are used again.
//!
//! Below an object with a custom hash, the search for objects that can change stops at
//! kept parts. Hashing an edited module therefore costs its names and its edited parts.

use super::super::levels::ValidUntil;
use super::super::scope::Region;
use super::super::sink::Sink;
use super::Hasher;
use super::cache::{Entry, OuterVar, Part, is_numbered};
use crate::kernel::object::header::note_remembered;
use crate::kernel::object::moment::changed_types;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::Kind;

/// A part is kept if this many of its visits are outside of kept parts inside, or if
/// the part has several owners.
const MIN_VISITS: u64 = 16;

/// The same minimum for a part that uses numbered variables from around the part; such
/// parts are much more frequent.
const MIN_OPEN_VISITS: u64 = 32;

/// A part with more variables from around the part is not kept.
const MAX_OUTER: usize = 64;

impl<'a, S: Sink> Hasher<'a, S> {
    /// True if hashes are kept and used at all.
    #[inline(always)]
    fn keeps(&self) -> bool {
        S::KEEPS && self.snapshots.is_none()
    }

    /// True if the hash is for a key, which is compared with the hashes of keys only.
    pub(super) fn is_of_key(&self) -> bool {
        !self.watch.is_of_dates()
    }

    /// The kept hash of a node or container, if the hash is valid at this place.
    #[inline]
    pub(super) fn kept(
        &mut self,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Option<S::Out> {
        if info.kind == Kind::Dag {
            return None;
        }
        self.reuse(object, info, region)
    }

    /// True if a hash of the object is kept, valid at this place or not.
    #[inline(always)]
    pub(super) fn may_be_kept(&self, object: ObjRef<'a>) -> bool {
        S::KEEPS && self.tables.kept.entries.contains_key(&object.ident())
    }

    /// The kept hash of a node or of the fields of a dag node, if valid at this place.
    #[inline]
    pub(super) fn reuse(
        &mut self,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Option<S::Out> {
        if !self.keeps() || !info.has_children || self.parts.visits_all {
            return None;
        }
        if region != Region::USE && region != Region::FREE {
            return None;
        }
        let tables = &mut *self.tables;
        let entry = tables.kept.entries.get_mut(&object.ident())?;
        if entry.nodes > 0 && (entry.made == tables.kept.walk || entry.used == tables.kept.walk) {
            // The part's dag nodes have been met, but are known only if they were
            // visited.
            self.parts.in_doubt |= entry.used == tables.kept.walk;
            return None;
        }
        if entry.nodes > 0 && !tables.numbering.is_outside_hooks() {
            // The dag nodes of alternatives are numbered after the hook, one by one.
            return None;
        }
        if entry.has_free
            && (self.parts.has_numbers || self.parts.has_free_keys || region != Region::USE)
            || tables.kept.types != changed_types()
        {
            return None;
        }
        let level = tables.levels.current();
        for var in &entry.outer {
            let index = tables.numbering.bindings.of(0, var.ident)?;
            if tables.numbering.outer_name(index, level) != Some(var.name) {
                return None;
            }
        }
        if let Some(watched) = entry.watched {
            if !watched.holds() {
                return None;
            }
            self.watch.begin();
        }
        for var in &entry.outer {
            if let Some(index) = tables.numbering.bindings.of(0, var.ident) {
                let level = tables.numbering.bindings.get(index).level;
                tables.levels.use_var(index, level, region);
                self.parts.outer.push(index);
            }
        }
        if entry.has_free {
            self.parts.used_free = true;
            // The part's free variables are unknown. It is therefore also unknown where
            // an object around the part has the same hash.
            tables.levels.create(0);
        }
        entry.used = tables.kept.walk;
        if entry.nodes > 0 {
            self.parts.used_nodes = true;
            tables.numbering.skip_nodes(entry.nodes, &tables.levels);
            // A second visit would find the dag nodes numbered.
            tables.levels.create(0);
        }
        if entry.watched.is_some() {
            tables.changes = tables.changes.wrapping_add(1);
        }
        let (has_nodes, has_free, can_change) =
            (entry.nodes > 0, entry.has_free, entry.watched.is_some());
        let out = entry.out;
        if has_nodes && let Some(&outer) = tables.kept.owners.get(&object.ident()) {
            self.parts.in_doubt |= tables.kept.end(outer);
        }
        if let Some(part) = self.parts.open.last_mut() {
            part.has_free |= has_free;
            part.can_change |= can_change;
            if has_nodes {
                self.parts.owned.push(object.ident());
            }
        }
        Some(self.sink.restore(out))
    }

    /// True if an object is an unchanged kept part: every object inside that can change
    /// is watched, and no object inside has a custom comparison.
    pub(super) fn is_kept(&mut self, object: ObjRef<'a>) -> bool {
        if !self.keeps() || self.parts.visits_all || self.tables.kept.types != changed_types() {
            return false;
        }
        let Some(entry) = self.tables.kept.entries.get(&object.ident()) else {
            return false;
        };
        let Some(watched) = entry.watched else {
            return true;
        };
        if watched.holds() {
            self.watch.begin();
        }
        watched.holds()
    }

    /// Begins a part: a node whose fields will be hashed, or a container.
    #[inline(always)]
    pub(super) fn begin_part(&mut self, info: &'static TypeInfo) {
        if self.keeps() {
            let level = self.tables.levels.current() - u32::from(info.scope);
            self.parts.open.push(Part {
                visits: self.visits - self.parts.covered,
                level,
                lowest: u32::MAX,
                has_free: false,
                can_change: false,
                outer: self.parts.outer.len() as u32,
                owned: self.parts.owned.len() as u32,
                nodes: self.tables.numbering.numbered_nodes(&self.tables.levels),
            });
        }
    }

    /// Ends a part, and keeps its hash if that is worthwhile.
    #[inline(always)]
    pub(super) fn end_part(
        &mut self,
        object: ObjRef<'a>,
        info: &TypeInfo,
        region: Region,
        out: S::Out,
    ) -> S::Out {
        let out = if info.scope { self.sink.seal(out) } else { out };
        if self.keeps() {
            self.keep(object, region, out);
        }
        out
    }

    fn keep(&mut self, object: ObjRef<'a>, region: Region, out: S::Out) {
        let Some(part) = self.parts.open.pop() else {
            return;
        };
        if let Some(outer) = self.parts.open.last_mut() {
            outer.add(part);
        }
        let info = object.info();
        if info.kind == Kind::Var && part.lowest == u32::MAX && !part.has_free {
            self.parts.closed_vars.insert(object.ident());
        }
        let visits = self.visits - self.parts.covered - part.visits;
        let is_whole = matches!(info.kind, Kind::Tree | Kind::ConstTree | Kind::Dag)
            && (region == Region::USE || region == Region::FREE);
        let Some(outer) = self.outer_of(part) else {
            return;
        };
        let is_open = is_numbered(&outer);
        let is_large = if is_open {
            visits >= MIN_OPEN_VISITS
        } else {
            visits >= MIN_VISITS
        } || object.is_shared();
        if !is_whole || part.lowest <= part.level || !is_large || self.parts.in_doubt {
            return;
        }
        let watched = self.watch.watched().filter(|_| part.can_change);
        if watched.is_some_and(|watched| !watched.holds())
            || self.tables.kept.types != changed_types()
        {
            return;
        }
        let Some(out) = self.sink.save(out) else {
            return;
        };
        self.parts.covered += visits;
        let tables = &mut *self.tables;
        let kept = &mut tables.kept;
        // Meeting dag nodes of forgotten parts again goes unnoticed from this point on.
        self.parts.in_doubt |= kept.make_room(is_open) && self.parts.used_nodes;
        let has_free = part.has_free;
        for owned in self.parts.owned.drain(part.owned as usize..) {
            let before = kept.owners.insert(owned, object.ident());
            if let Some(before) = before.filter(|&before| before != object.ident()) {
                self.parts.in_doubt |= kept.end(before);
            }
        }
        let nodes = tables.numbering.numbered_nodes(&tables.levels) - part.nodes;
        if nodes > 0 && !self.parts.open.is_empty() {
            self.parts.owned.push(object.ident());
        }
        note_remembered(object.ident());
        kept.entries.insert(
            object.ident(),
            Entry {
                out,
                has_free,
                outer,
                nodes,
                made: kept.walk,
                used: 0,
                watched,
            },
        );
    }

    /// The outer variables used by an ended part; None for too many variables. In this
    /// case, the enclosing part records the lowest level of the variables.
    fn outer_of(&mut self, part: Part) -> Option<Box<[OuterVar]>> {
        let (start, used) = (part.outer as usize, &mut self.parts.outer);
        if used.len() == start {
            return Some(Box::default());
        }
        let numbering = &self.tables.numbering;
        used[start..].sort_unstable();
        let (mut last, mut next) = (None, start);
        for position in start..used.len() {
            let binding = used[position];
            let is_inner = numbering.bindings.get(binding).level > part.level;
            if !is_inner && last.replace(binding) != Some(binding) {
                used[next] = binding;
                next += 1;
            }
        }
        used.truncate(next);
        let name = |&binding: &u32| {
            Some(OuterVar {
                ident: numbering.bindings.get(binding).idents[0],
                name: numbering.outer_name(binding, part.level)?,
            })
        };
        let outer = if next - start <= MAX_OUTER {
            used[start..].iter().map(name).collect()
        } else {
            None
        };
        if outer.is_none() {
            // An enclosing part that binds all of these variables does not depend on
            // them.
            let levels = used[start..]
                .iter()
                .map(|&binding| numbering.bindings.get(binding).level);
            let lowest = levels.min().unwrap_or(0);
            used.truncate(start);
            self.note_level(lowest);
        }
        outer
    }

    /// Records in the innermost part a variable that is named by its fields.
    #[inline(always)]
    pub(super) fn note_named(&mut self, binding: u32) {
        if S::KEEPS && !self.parts.open.is_empty() {
            self.parts.outer.push(binding);
        }
    }

    /// Records in the innermost part the use of an already numbered variable.
    #[inline(always)]
    pub(super) fn note_use(&mut self, binding: u32, level: u32, is_defined: bool) {
        if !S::KEEPS || self.parts.open.is_empty() {
            return;
        }
        // A definition field would bind the variable unless the same scope already
        // binds it.
        if is_defined || self.is_of_key() || !self.tables.numbering.is_outside_hooks() {
            return self.note_level(level);
        }
        self.parts.outer.push(binding);
    }

    /// Records the first occurrence of a dag node.
    #[inline]
    pub(super) fn note_node(&mut self, object: ObjRef<'a>) {
        if !self.keeps() {
            return;
        }
        self.note_node_key(object);
        if !self.parts.open.is_empty() {
            self.parts.owned.push(object.ident());
        }
    }

    /// Records the first occurrence of a dag node as a key of a map.
    pub(super) fn note_node_key(&mut self, object: ObjRef<'a>) {
        let kept = &mut self.tables.kept;
        if S::KEEPS
            && let Some(&owner) = kept.owners.get(&object.ident())
        {
            self.parts.in_doubt |= kept.end(owner);
        }
    }

    /// Records that the innermost part depends on a binding of this level.
    #[inline(always)]
    pub(super) fn note_level(&mut self, level: u32) {
        if S::KEEPS
            && let Some(part) = self.parts.open.last_mut()
        {
            part.lowest = part.lowest.min(level);
        }
    }

    /// Records in the innermost part an unbound object that is hashed by
    /// identity.
    #[inline(always)]
    pub(super) fn note_free(&mut self, object: ObjRef<'a>, region: Region) {
        if S::KEEPS
            && let Some(part) = self.parts.open.last_mut()
        {
            part.has_free = true;
            // Elsewhere the region might bind the object. Alone, the part would contain
            // the variable's first occurrence, including the effects of its fields.
            let is_closed =
                !object.info().has_children || self.parts.closed_vars.contains(&object.ident());
            if region != Region::USE || !is_closed {
                part.lowest = 0;
            }
        }
    }

    /// Records a free variable as the key of a map, whose position among the keys
    /// depends on earlier occurrences of the variable.
    pub(super) fn note_free_key(&mut self, has_order: bool) {
        if S::KEEPS && (has_order || !self.is_of_key()) {
            self.note_level(0);
            // The variable may occur in a part that was not visited.
            self.parts.in_doubt |= self.parts.used_free;
            self.parts.has_free_keys = true;
        }
    }

    /// Records that an object is bound by number from this point on.
    #[inline(always)]
    pub(super) fn note_binding(&mut self, kind: Kind, level: u32) {
        if S::KEEPS {
            self.parts.has_numbers = true;
            // An inner scope rebinds the variable, even after an earlier occurrence.
            let may_be_free = kind == Kind::Var && level == 0;
            self.parts.in_doubt |= may_be_free && self.parts.used_free;
        }
    }

    /// Records that the innermost part contains an object that can change, if any
    /// object met before can change.
    #[inline(always)]
    pub(super) fn note_change(&mut self) {
        if S::KEEPS
            && let Some(part) = self.parts.open.last_mut()
        {
            part.can_change = true;
        }
        if S::KEEPS {
            self.tables.changes = self.tables.changes.wrapping_add(1);
        }
    }

    /// Records the facts about a remembered hash in the innermost part. Without needs,
    /// the facts are unknown.
    #[inline(always)]
    pub(super) fn note_recalled(
        &mut self,
        needs: Option<ValidUntil>,
        can_change: bool,
        region: Region,
    ) {
        if !S::KEEPS {
            return;
        }
        match needs {
            Some(needs) if needs.newest_dag == 0 && needs.used.highest().is_none() => {}
            Some(needs) if needs.newest_dag == 0 && needs.is_exact() => {
                self.note_uses(needs, region);
            }
            // The hash's variables may be bound in any part around it.
            _ => self.note_level(0),
        }
        if can_change {
            self.note_change();
        }
    }

    /// Records in the innermost part the variables used by a remembered hash, possibly
    /// in another region.
    fn note_uses(&mut self, needs: ValidUntil, region: Region) {
        for position in 0..self.tables.levels.kept(needs).len() {
            let tables = &self.tables;
            let known = tables.levels.kept(needs)[position];
            let level = tables.numbering.bindings.get(known.binding).level;
            if tables.numbering.is_by_fields(known.binding) {
                self.note_named(known.binding);
            } else if tables.numbering.is_by_identity(known.binding) {
                self.note_level(0);
            } else {
                self.note_use(known.binding, level, known.defined || region.is_field());
            }
        }
    }

    /// The number of open parts, for [`leave_parts`](Self::leave_parts).
    pub(super) fn open_parts(&self) -> usize {
        self.parts.open.len()
    }

    /// Forgets the parts that an error has ended.
    pub(super) fn leave_parts(&mut self, count: usize) {
        self.parts.open.truncate(count);
    }
}
