//! The walk that summarizes every subterm, parts before wholes.
//!
//! A summary consists of a hash of the structure without names, and a map of the
//! variables with their positions. Definition fields bind variables, so a summary
//! depends on the region around the subterm, but on no other context. Objects are
//! summarized once per [`State`], and once as separate values to find their classes.
//! Wherever comparison depends on more context, the subterm and all objects around the
//! subterm are marked, and [`comparison`](super::comparison) asks the comparison itself.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::super::plain_values;
use super::super::sink::{Fast, Form, Part as Role, Sink};
use super::comparison::Ground;
use super::summary::{
    DEFINES, HOOKED, INCOMPARABLE, INHERITED, IRREGULAR, MOVED, MUTABLE, Node, OPEN_DAG, Summary,
    UNDECIDED, Walked,
};
use super::table::{ClassCosts, ClassOptions};
use super::var_maps::{MapId, NO_MAP, VarMaps};
use super::variables::{FIELDS, FIXED, Group, KEY, Positions, RECURSIVE};
use crate::kernel::container::is_plain_key;
use crate::kernel::error::{Error, Result};
use crate::kernel::mixing::Mixing;
use crate::kernel::object::access::{Poll, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::pages::Pages;
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::Value;
use crate::traverse::cursor::{Cursor, Part, View, cyclic, path_of};

/// The circumstances of an object that affect its summary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    region: RegionKind,
    /// Between the definition field and the object, a scope was opened.
    outer: bool,
    /// Variables match by identity although free variables may be renamed.
    fixed: bool,
}

/// The state of a separate value.
const ALONE: State = State {
    region: RegionKind::Use,
    outer: false,
    fixed: false,
};

impl State {
    fn code(self) -> u64 {
        self.region as u64 | u64::from(self.outer) << 2 | u64::from(self.fixed) << 3
    }
}

/// In the table of objects: zero for unknown, this number for open, and any other
/// number for one more than the number of the node.
const OPEN: u32 = u32::MAX;

/// An open object.
struct Frame<'a> {
    cursor: Cursor<'a>,
    state: State,
    /// The state of parts without a flag, except for the region.
    outer: bool,
    fixed: bool,
    flags: u8,
    shared: bool,
    /// True if a part without other owners cannot have been met before.
    fresh: bool,
    /// A key of the map is a variable.
    var_keys: bool,
    height: u32,
    /// The start of the object's parts in `parts`.
    base: u32,
    hash: u64,
    size: u64,
}

/// The walk and its results.
pub(super) struct Walk<'a> {
    pub(super) options: ClassOptions,
    mixing: Mixing,
    sink: Fast<false>,
    frames: Vec<Frame<'a>>,
    /// The parts with variables of all open objects: place and map.
    parts: Vec<(u32, MapId)>,
    maps: VarMaps,
    table: Pages<u32, 16>,
    pub(super) nodes: Vec<Node>,
    /// The hashes of nodes that are not left to comparison: equal within a class.
    hashes: Vec<u64>,
    /// Summaries in other states than [`ALONE`]; None while open.
    others: HashMap<(u64, State), Option<Summary>, RandomState>,
    /// Objects met only in another state, or not compared, up to this point.
    pending: Vec<ObjRef<'a>>,
    ground: Ground,
    /// With `wants_edges`: pairs of an object and the object around it, by identity.
    edges: Vec<(u64, u64)>,
    wants_edges: bool,
    /// Dag nodes are compared by identity.
    dags_by_identity: bool,
    /// Objects that are keys of maps, if dag nodes are compared by identity.
    pub(super) keys: HashSet<u64, RandomState>,
    pub(super) costs: ClassCosts,
    poll: Poll,
}

impl<'a> Walk<'a> {
    pub(super) fn new(options: ClassOptions) -> Self {
        let mixing = Mixing::of_process();
        Walk {
            options,
            mixing,
            sink: Fast(mixing),
            frames: Vec::new(),
            parts: Vec::new(),
            maps: VarMaps::new(mixing, options.map_free_vars),
            table: Pages::default(),
            nodes: Vec::new(),
            hashes: Vec::new(),
            others: HashMap::default(),
            pending: Vec::new(),
            ground: Ground::default(),
            edges: Vec::new(),
            wants_edges: options.sharing,
            dags_by_identity: false,
            keys: HashSet::default(),
            costs: ClassCosts::default(),
            poll: Poll::default(),
        }
    }

    /// Collects pairs of an object and the object around it.
    pub(super) fn with_edges(mut self) -> Self {
        self.wants_edges = true;
        self
    }

    /// Compares dag nodes by identity, and collects the keys of maps.
    pub(super) fn with_dags_by_identity(mut self) -> Self {
        self.dags_by_identity = true;
        self
    }

    /// Summarizes a value and all objects below.
    ///
    /// # Errors
    ///
    /// `ValueError` with the path for a cycle; errors of custom comparisons.
    pub(super) fn value(&mut self, section: &mut Section, value: &'a Value) -> Result<()> {
        if let Some(object) = value.object_ref() {
            self.root(section, object)?;
        }
        let mut next = 0;
        while let Some(&object) = self.pending.get(next) {
            next += 1;
            self.poll.step(section)?;
            self.root(section, object)?;
        }
        self.pending.clear();
        Ok(())
    }

    /// Ends the walk; [`Walked::classify`] or [`Walked::decide`] come next.
    pub(super) fn finish(mut self) -> Walked {
        self.costs.map_updates = self.maps.updates;
        self.costs.map_copies = self.maps.copies();
        Walked {
            options: self.options,
            nodes: self.nodes,
            hashes: self.hashes,
            table: self.table,
            classes: 0,
            edges: self.edges,
            costs: self.costs,
        }
    }

    fn root(&mut self, section: &mut Section, object: ObjRef<'a>) -> Result<()> {
        if self.known(object).is_some() {
            return Ok(());
        }
        if let Some(summary) = self.meet(section, object, ALONE)? {
            self.maps.release(summary.map);
        }
        while let Some(frame) = self.frames.last_mut() {
            self.poll.step(section)?;
            // Most parts are objects in the region of the object around them.
            if let Some((object, region)) = frame.cursor.next_object(section, true) {
                let state = State {
                    region,
                    outer: frame.outer && region != RegionKind::Use,
                    fixed: frame.fixed,
                };
                let info = object.info();
                if state == ALONE
                    && info.class() == Payload::Plain
                    && !info.has_children
                    && let Some(summary) = self.leaf_alone(section, object, info)
                {
                    self.pass_on(summary);
                    continue;
                }
                if let Some(summary) = self.meet(section, object, state)? {
                    self.pass_on(summary);
                }
                continue;
            }
            match frame.cursor.next(section) {
                Some(part) => self.part(section, part)?,
                None => {
                    let summary = self.close();
                    self.pass_on(summary);
                }
            }
        }
        Ok(())
    }

    /// Adds a part to the innermost object, or opens the part.
    #[inline]
    fn part(&mut self, section: &mut Section, part: Part<'a>) -> Result<()> {
        let object = match part.met {
            PartRef::Plain(value) => {
                if let Some(frame) = self.frames.last_mut() {
                    plain_values::add_inline(&mut self.sink, &mut frame.hash, &value.to_value());
                }
                return Ok(());
            }
            PartRef::Object(object) => object,
        };
        if part.is_key {
            self.key(object);
            return Ok(());
        }
        let state = self.state_of(part.region);
        if let Some(summary) = self.meet(section, object, state)? {
            self.pass_on(summary);
        }
        Ok(())
    }

    /// The state of the part taken last.
    #[inline]
    fn state_of(&self, region: RegionKind) -> State {
        let Some(frame) = self.frames.last() else {
            return ALONE;
        };
        let taken = frame.cursor.position().wrapping_sub(1);
        let slot = frame.cursor.slot(taken);
        let inherits = slot.is_none_or(|slot| slot.flag == FieldFlag::None);
        State {
            region,
            outer: inherits && frame.outer && region != RegionKind::Use,
            fixed: inherits && frame.fixed,
        }
    }

    /// Adds the summary of a finished part to the innermost object.
    #[inline]
    fn pass_on(&mut self, summary: Summary) {
        let Some(frame) = self.frames.last_mut() else {
            return self.maps.release(summary.map);
        };
        self.sink.child(&mut frame.hash, summary.hash);
        frame.size = frame.size.saturating_add(summary.size);
        frame.height = frame.height.max(summary.height);
        frame.flags |= summary.flags & INHERITED;
        if summary.map != NO_MAP {
            self.parts
                .push((frame.cursor.position() as u32, summary.map));
        }
    }

    /// Notes the key of a map: comparison looks keys up without binding variables.
    fn key(&mut self, object: ObjRef<'a>) {
        let info = object.info();
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        if is_plain_key(&Value::from_object(object.to_ref())) {
            let hash = plain_values::of_native(&mut self.sink, object, info, false);
            return self.sink.child(&mut frame.hash, hash);
        }
        let mut acc = self.sink.open_form(Form::FreeKey);
        self.sink.word(&mut acc, Role::Identity, object.ident());
        let hash = self.sink.close(acc);
        self.sink.child(&mut frame.hash, hash);
        self.pending.push(object);
        if self.wants_edges {
            self.edges
                .push((object.ident(), frame.cursor.object().ident()));
        }
        if self.dags_by_identity {
            self.keys.insert(object.ident());
        }
        match info.kind {
            Kind::Var if !info.is_builtin() => {
                // The matching key depends on the variables met before.
                if self.options.map_free_vars {
                    frame.flags |= IRREGULAR;
                }
                frame.var_keys = true;
                let here = Positions::here(self.mixing, Group::Free, 1, KEY);
                let map = self.maps.add(NO_MAP, object.ident(), here, 1).0;
                self.parts.push((frame.cursor.position() as u32, map));
            }
            _ => {}
        }
    }

    /// The number of a node that was finished before.
    #[inline]
    fn known(&mut self, object: ObjRef<'_>) -> Option<u32> {
        match self.table.get(object.ident()) {
            None | Some(0 | OPEN) => None,
            Some(number) => Some(number - 1),
        }
    }

    /// Returns the summary of an object, or opens the object.
    #[inline]
    fn meet(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        state: State,
    ) -> Result<Option<Summary>> {
        if self.wants_edges
            && let Some(frame) = self.frames.last()
        {
            self.edges
                .push((object.ident(), frame.cursor.object().ident()));
        }
        let mut fresh = false;
        if state == ALONE {
            let below_fresh = self.frames.last().is_some_and(|frame| frame.fresh);
            let cached_number = if below_fresh && !object.is_shared() {
                None
            } else {
                self.known(object)
            };
            if let Some(number) = cached_number {
                let summary = self.nodes[number as usize].summary;
                if summary.flags & MOVED == 0 {
                    self.maps.share(summary.map);
                    return Ok(Some(summary));
                }
            }
            fresh = cached_number.is_none();
        } else if let Some(entry) = self.others.get(&(object.ident(), state)) {
            let Some(summary) = *entry else {
                return Err(self.cyclic(object));
            };
            self.maps.share(summary.map);
            return Ok(Some(summary));
        } else {
            self.pending.push(object);
        }
        self.enter(section, object, state, fresh)
    }

    /// The summary of a node whose fields hold no objects, like most leaves.
    #[inline(always)]
    fn leaf_alone(
        &mut self,
        section: &Section,
        object: ObjRef<'a>,
        info: &'static TypeInfo,
    ) -> Option<Summary> {
        if self.wants_edges || self.options.mutable_by_identity {
            return None;
        }
        let word = self.table.word(object.ident());
        if *word != 0 {
            return Some(self.nodes[*word as usize - 1].summary);
        }
        *word = self.nodes.len() as u32 + 1;
        self.costs.visits += 1;
        let summary = Summary::leaf(hash_of_fields(&mut self.sink, section, object, info), 1, 0);
        self.add(object, summary, self.class_hash(summary));
        Some(summary)
    }

    fn enter(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        state: State,
        fresh: bool,
    ) -> Result<Option<Summary>> {
        self.costs.visits += 1;
        let info = object.info();
        let class = info.class();
        let compares_identity = match class {
            Payload::Plain => self.options.mutable_by_identity && info.may_change(),
            Payload::Node => {
                if info.kind == Kind::Singleton {
                    return Ok(Some(self.constant(object, state, Form::Singleton, 0)));
                }
                if info.kind == Kind::None {
                    self.search_below(section, object);
                    let flags = INCOMPARABLE;
                    return Ok(Some(self.constant(object, state, Form::Root, flags)));
                }
                if info.kind == Kind::Dag && self.dags_by_identity {
                    self.search_below(section, object);
                    return Ok(Some(self.constant(object, state, Form::Binding, 0)));
                }
                if !info.hooks.are_structural_defaults() {
                    return self.hooked(section, object, state).map(Some);
                }
                self.options.mutable_by_identity && info.may_change()
            }
            Payload::Sequence | Payload::Mapping => false,
            Payload::Mutable => self.options.mutable_by_identity,
            Payload::Incomparable => {
                let flags = INCOMPARABLE;
                return Ok(Some(self.constant(object, state, Form::Root, flags)));
            }
            _ => {
                let hash = plain_values::of_native(&mut self.sink, object, info, false);
                return Ok(Some(self.leaf(object, state, hash, 0, 0)));
            }
        };
        if compares_identity {
            self.search_below(section, object);
            if info.kind != Kind::Var || info.is_builtin() {
                return Ok(Some(self.constant(object, state, Form::Use, MUTABLE)));
            }
        } else if class == Payload::Plain && !info.has_children {
            return Ok(Some(self.childless(section, object, state)));
        } else if info.kind != Kind::Var || info.is_builtin() || !info.visited.is_empty() {
            return self.open(section, object, state, fresh);
        }
        let mut summary = Summary {
            hash: self.sink.open_type(info),
            size: 0,
            height: 0,
            map: NO_MAP,
            flags: 0,
        };
        if compares_identity {
            self.sink
                .word(&mut summary.hash, Role::Identity, object.ident());
            summary.flags |= MUTABLE;
        }
        self.occur(object, state, &mut summary);
        Ok(Some(self.register(object, state, summary, true)))
    }

    /// Opens an object, whose parts come next.
    fn open(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        state: State,
        fresh: bool,
    ) -> Result<Option<Summary>> {
        let info = object.info();
        let part = Part {
            met: PartRef::Object(object),
            region: state.region,
            is_key: false,
        };
        let Some(cursor) = Cursor::open(section, object, part, View::Compared) else {
            // Every object at this point has parts.
            let flags = INCOMPARABLE;
            return Ok(Some(self.constant(object, state, Form::Root, flags)));
        };
        match state {
            ALONE => {
                // A cycle is entered at an object with two owners.
                if object.is_shared() {
                    let word = self.table.word(object.ident());
                    if *word == OPEN {
                        return Err(self.cyclic(object));
                    }
                    // Walked again because its map has moved; keeps its number.
                    if *word == 0 {
                        *word = OPEN;
                    }
                }
            }
            _ => {
                self.others.insert((object.ident(), state), None);
            }
        }
        prefetch_ahead(object);
        let is_var = info.kind == Kind::Var && !info.is_builtin();
        let mut hash = self.sink.open_type(info);
        if info.is_builtin() {
            self.sink.word(&mut hash, Role::Length, cursor.len() as u64);
        }
        let in_definition = state.region != RegionKind::Use;
        let simple_var = is_var && state.region == RegionKind::DefSimple;
        self.frames.push(Frame {
            cursor,
            state,
            outer: (state.outer || info.scope) && in_definition,
            fixed: state.fixed || self.options.map_free_vars && simple_var,
            flags: 0,
            shared: object.is_shared(),
            // The fields of a variable are uses, in any earlier state of the variable.
            fresh: fresh && !is_var,
            var_keys: false,
            height: 0,
            base: self.parts.len() as u32,
            hash,
            size: 0,
        });
        Ok(None)
    }

    /// Ends the innermost object, whose parts are all finished.
    fn close(&mut self) -> Summary {
        let Some(frame) = self.frames.last() else {
            // The caller has just looked at the frame.
            return Summary::leaf(0, 0, 0);
        };
        let object = frame.cursor.object();
        let (state, shared, var_keys) = (frame.state, frame.shared, frame.var_keys);
        let info = object.info();
        let mut summary = Summary {
            hash: frame.hash,
            size: frame.size,
            height: frame.height + 1,
            map: NO_MAP,
            flags: frame.flags,
        };
        let first = frame.base as usize;
        // Moving the frame out would copy it.
        self.frames.truncate(self.frames.len() - 1);
        match self.parts[first..] {
            [] => {}
            [(_, map)] => summary.map = map,
            _ => self.join(first, &mut summary),
        }
        self.parts.truncate(first);
        if var_keys && self.maps.has_definitions(summary.map) {
            // The order of visiting the values depends on the context.
            summary.flags |= IRREGULAR;
        }
        if info.is_builtin() {
            summary.hash = self.sink.close(summary.hash);
            return self.register(object, state, summary, shared);
        }
        if info.scope {
            self.close_scope(info, state, &mut summary);
        }
        match info.kind {
            Kind::Var => {
                summary.size = 0;
                self.occur(object, state, &mut summary);
            }
            Kind::Dag if self.options.sharing => {
                summary.hash = self.sink.close(summary.hash);
                if summary.map != NO_MAP {
                    summary.flags |= OPEN_DAG;
                }
                summary.size = summary.size.saturating_add(1);
            }
            _ => {
                summary.hash = self.sink.close(summary.hash);
                summary.size = summary.size.saturating_add(1);
            }
        }
        self.register(object, state, summary, shared)
    }

    /// Merges the maps of several parts into one map.
    fn join(&mut self, first: usize, summary: &mut Summary) {
        let parts = &self.parts[first..];
        if summary.flags & IRREGULAR != 0 {
            parts.iter().for_each(|(_, map)| self.maps.release(*map));
            return;
        }
        let mut big = 0;
        for (number, (_, map)) in parts.iter().enumerate() {
            if self.maps.weight(*map) > self.maps.weight(parts[big].1) {
                big = number;
            }
        }
        let (place, map) = parts[big];
        let map = self.maps.take(map);
        let mut irregular = false;
        let before = parts[..big].iter().rev().map(|part| (part, false));
        let after = parts[big + 1..].iter().map(|part| (part, true));
        for (&(place, part), later) in before.chain(after) {
            irregular |= self.maps.merge(map, part, later, summary.height, place);
            self.maps.release(part);
        }
        self.sink
            .word(&mut summary.hash, Role::Number, u64::from(place));
        summary.map = map;
        summary.flags |= u8::from(irregular) * IRREGULAR;
    }

    fn close_scope(&mut self, info: &TypeInfo, state: State, summary: &mut Summary) {
        debug_assert!(info.scope);
        let converts = state.region != RegionKind::Use && !state.outer;
        let closed = self.maps.close_scope(summary.map, converts);
        summary.map = closed.map;
        if closed.binds {
            self.sink
                .word(&mut summary.hash, Role::Context, closed.bound);
            if self.options.sharing && summary.flags & OPEN_DAG != 0 {
                summary.flags |= IRREGULAR;
            }
        }
        summary.flags |= u8::from(closed.irregular) * IRREGULAR;
    }

    /// The occurrence of a variable, after its fields.
    fn occur(&mut self, object: ObjRef<'a>, state: State, summary: &mut Summary) {
        let (group, flags) = match state.region {
            RegionKind::Use if state.fixed => (Group::Free, FIXED),
            RegionKind::Use => (Group::Free, 0),
            _ if state.outer => (Group::Outer, 0),
            _ => (Group::Own, 0),
        };
        summary.height += 1;
        summary.size = summary.size.saturating_add(1);
        self.sink
            .word(&mut summary.hash, Role::Distance, state.code());
        summary.hash = self.sink.close(summary.hash);
        let fields = u8::from(summary.map != NO_MAP) * FIELDS;
        let recursive = u8::from(state.region == RegionKind::Def) * RECURSIVE;
        let flags = flags | fields | recursive;
        let map = self.maps.note_fields(summary.map, object.ident());
        let here = Positions::here(self.mixing, group, summary.height, flags);
        let height = summary.height;
        let (map, irregular) = self.maps.add(map, object.ident(), here, height);
        summary.map = map;
        summary.flags |= u8::from(irregular) * IRREGULAR;
    }

    /// The summary of an object that is compared by identity, or not at all.
    fn constant(&mut self, object: ObjRef<'a>, state: State, form: Form, flags: u8) -> Summary {
        let mut acc = self.sink.open_form(form);
        self.sink.word(&mut acc, Role::Identity, object.ident());
        let hash = self.sink.close(acc);
        self.leaf(object, state, hash, 1, flags)
    }

    /// The summary of a node whose fields hold no objects.
    fn childless(&mut self, section: &Section, object: ObjRef<'a>, state: State) -> Summary {
        let hash = hash_of_fields(&mut self.sink, section, object, object.info());
        self.leaf(object, state, hash, 1, 0)
    }

    /// The summary of an object without variables.
    fn leaf(
        &mut self,
        object: ObjRef<'a>,
        state: State,
        hash: u64,
        size: u64,
        flags: u8,
    ) -> Summary {
        let summary = Summary::leaf(hash, size, flags);
        self.register(object, state, summary, true)
    }

    /// An object with a custom comparison: comparison finds the class if the object is
    /// independent of the context; otherwise the object is marked.
    fn hooked(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        state: State,
    ) -> Result<Summary> {
        self.search_below(section, object);
        let changes = self.options.mutable_by_identity && object.info().may_change();
        if !changes
            && self
                .ground
                .contains(section, object, self.options.mutable_by_identity)
        {
            let class = self.ground.class(section, object, &mut self.costs)?;
            let Some(class) = class else {
                let flags = INCOMPARABLE | HOOKED;
                return Ok(self.constant(object, state, Form::Root, flags));
            };
            let mut acc = self.sink.open_type(object.info());
            self.sink.word(&mut acc, Role::Custom, u64::from(class));
            let hash = self.sink.close(acc);
            return Ok(self.leaf(object, state, hash, 1, HOOKED));
        }
        let by_identity = self.options.mutable_by_identity;
        let flags = if by_identity && self.ground.has_mutable(section, object) {
            IRREGULAR | HOOKED | MUTABLE
        } else {
            IRREGULAR | HOOKED
        };
        Ok(self.constant(object, state, Form::Answer, flags))
    }

    /// Schedules the parts of an object that is not walked itself.
    fn search_below(&mut self, section: &Section, object: ObjRef<'a>) {
        let part = Part::object(object, RegionKind::Use);
        let Some(mut cursor) = Cursor::open(section, object, part, View::Compared) else {
            return;
        };
        while let Some(part) = cursor.next(section) {
            if let PartRef::Object(below) = part.met {
                if self.wants_edges {
                    self.edges.push((below.ident(), object.ident()));
                }
                if self.dags_by_identity && part.is_key {
                    self.keys.insert(below.ident());
                }
                self.pending.push(below);
            }
        }
    }

    /// Stores the summary of an object, and returns it with one use of its map.
    fn register(
        &mut self,
        object: ObjRef<'a>,
        state: State,
        mut summary: Summary,
        shared: bool,
    ) -> Summary {
        if summary.flags & IRREGULAR != 0 {
            self.maps.release(summary.map);
            summary.map = NO_MAP;
        }
        if state != ALONE {
            self.maps.share(summary.map);
            self.others.insert((object.ident(), state), Some(summary));
            return summary;
        }
        let word = self.table.word(object.ident());
        if *word != 0 && *word != OPEN {
            return summary;
        }
        *word = self.nodes.len() as u32 + 1;
        let class_hash = self.class_hash(summary);
        let mut kept = summary;
        if self.maps.has_definitions(summary.map) {
            kept.flags |= DEFINES;
        }
        if shared {
            self.maps.share(summary.map);
        } else if summary.map != NO_MAP {
            kept.map = NO_MAP;
            kept.flags |= MOVED;
        }
        self.add(object, kept, class_hash);
        summary
    }

    /// The hash of a class: of the structure and of the variables.
    #[inline(always)]
    fn class_hash(&self, summary: Summary) -> u64 {
        let sum = self.maps.sum(summary.map);
        self.mixing.fold(summary.hash ^ self.mixing.fold(sum))
    }

    #[inline(always)]
    fn add(&mut self, object: ObjRef<'a>, summary: Summary, class_hash: u64) {
        self.hashes.push(class_hash);
        self.nodes.push(Node {
            object: object.to_ref(),
            summary,
            class: UNDECIDED,
        });
    }

    #[cold]
    fn cyclic(&self, object: ObjRef<'a>) -> Error {
        cyclic(object).at(path_of(self.frames.iter().map(|frame| &frame.cursor)))
    }
}

/// The hash of a node whose fields hold no objects.
#[inline(always)]
fn hash_of_fields(
    sink: &mut Fast<false>,
    section: &Section,
    object: ObjRef<'_>,
    info: &'static TypeInfo,
) -> u64 {
    let mut hash = sink.open_type(info);
    let fields = object.visited_with(info);
    let mut position = 0;
    while let Some((_, loaded)) = fields.get(section, position) {
        position += 1;
        // The node has no children to return.
        let _ = plain_values::add_loaded(sink, &mut hash, loaded);
    }
    sink.close(hash)
}
