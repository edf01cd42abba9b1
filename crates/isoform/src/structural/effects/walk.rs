//! Finds the effects of an object and of the larger objects inside, in one walk.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;
use smallvec::SmallVec;

use super::super::scope::Region;
use super::{Effect, EffectTable, Effects, FEW, Place, Skip};
use crate::kernel::error::Result;
use crate::kernel::object::access::{Poll, Section};
use crate::kernel::object::class::{Payload, VisitShape};
use crate::kernel::object::moment;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::{Kind, RegionChange};

/// Smaller objects are not remembered: visiting them costs little more than a lookup,
/// and the table stays small beside the program.
const MIN_VISITS: u64 = 16;

/// Nested definition fields may contain the same objects in exponentially many ways;
/// after more repeated visits, an object counts as never to be skipped.
const MAX_REPEATED: u64 = 1 << 12;

/// A level without any definition.
const NEVER: u32 = u32::MAX;

/// An occurrence of a plain variable.
#[derive(Clone, Copy)]
struct Event {
    ident: u64,
    /// The scope level of the variable's binding in this walk; 0 if no scope of the
    /// walk binds the variable.
    level: u32,
    defines: bool,
}

impl Event {
    /// True if `self`, as the earlier event, makes `later` superfluous.
    fn covers(&self, later: &Event) -> bool {
        self.ident == later.ident && self.defines >= later.defines
    }
}

/// The facts about a part of the walk, besides events and places.
#[derive(Clone, Copy)]
struct PartFacts {
    /// The lowest level of a definition.
    defined: u32,
    irregular: bool,
    changes: bool,
    /// The number of visits of the largest remembered object.
    largest: u64,
}

impl PartFacts {
    fn add(&mut self, other: PartFacts) {
        self.defined = self.defined.min(other.defined);
        self.irregular |= other.irregular;
        self.changes |= other.changes;
        self.largest = self.largest.max(other.largest);
    }
}

/// The purpose of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To find the effects of an object that is not a variable.
    Object,
    /// To inspect the fields of a variable, which then is met again in this region.
    Variable(Region),
}

struct Frame<'a> {
    object: ObjRef<'a>,
    purpose: Purpose,
    /// The object whose fields, items or entries come next.
    content: ObjRef<'a>,
    next: usize,
    /// The region of parts without a flag, and the number of the definition field or
    /// scope around them.
    region: Region,
    field: u64,
    /// True inside of an object that is visited again for another definition field.
    is_repeated: bool,
    events: usize,
    edges: usize,
    /// The numbers of visits at the start of the frame: all visits, and visits outside
    /// of remembered objects.
    visits: u64,
    uncovered: u64,
    facts: PartFacts,
}

struct Walk<'t, 'a> {
    table: &'t mut EffectTable,
    /// The time at which the walk began.
    date: u64,
    frames: Vec<Frame<'a>>,
    events: Vec<Event>,
    edges: Vec<Place>,
    /// The levels of the scopes that bind a variable, outermost first.
    vars: HashMap<u64, SmallVec<[u32; 2]>, RandomState>,
    /// The variables bound in each open scope.
    scopes: Vec<Vec<u64>>,
    /// The number of definition fields and scopes met.
    fields: u64,
    /// Shared objects met in definition fields: with the field, and in any field.
    met: HashSet<(u64, u64), RandomState>,
    met_anywhere: HashSet<u64, RandomState>,
    /// The number of repeated visits.
    repeated: u64,
    /// Shared objects around the current one.
    open: HashSet<u64, RandomState>,
    visits: u64,
    uncovered: u64,
}

/// Finds the effects of an object with parts; adds the number of objects visited to
/// `visits`.
pub(in crate::structural) fn find_effects<'a>(
    table: &mut EffectTable,
    section: &mut Section,
    object: ObjRef<'a>,
    visits: &mut u64,
) -> Result<Skip> {
    if table.is_full() {
        return Ok(Skip::Never);
    }
    let mut walk = Walk {
        table,
        date: moment::time(),
        frames: Vec::new(),
        events: Vec::new(),
        edges: Vec::new(),
        vars: HashMap::default(),
        scopes: vec![Vec::new()],
        fields: 0,
        met: HashSet::default(),
        met_anywhere: HashSet::default(),
        repeated: 0,
        open: HashSet::default(),
        visits: 0,
        uncovered: 0,
    };
    let mut poll = Poll::default();
    walk.meet(section, object, Region::USE, 0);
    while !walk.frames.is_empty() {
        poll.step(section)?;
        if walk.table.is_full() {
            // The effects are too large to remember: the comparison visits the object,
            // and this time also its parts.
            walk.table.put(object.ident(), Skip::Never, &[], None);
            break;
        }
        match walk.next_part(section) {
            Some((part, region, field)) => walk.meet(section, part, region, field),
            None => walk.leave(),
        }
    }
    *visits += walk.visits;
    Ok(table
        .find(object.ident())
        .map_or(Skip::Never, |effects| effects.skip))
}

impl<'a> Walk<'_, 'a> {
    fn level(&self) -> u32 {
        (self.scopes.len() - 1) as u32
    }

    /// The next part of the innermost object that may have effects, its region, and the
    /// number of the definition field around the part.
    fn next_part(&mut self, section: &Section) -> Option<(ObjRef<'a>, Region, u64)> {
        let level = self.level();
        let frame = self.frames.last_mut()?;
        let content = frame.content;
        if let Some(items) = content.items() {
            while let Some(item) = items.get(frame.next) {
                frame.next += 1;
                if let Some(part) = item.object_ref() {
                    return Some((part, frame.region, frame.field));
                }
            }
            return None;
        }
        if let Some(entries) = content.entries() {
            // In the order of comparison, which numbers the bindings.
            while let Some(position) = entries.in_key_order(frame.next) {
                frame.next += 1;
                let Some((key, value)) = entries.entry(position) else {
                    continue;
                };
                if let Some(key) = key.object_ref() {
                    // The bindings of a key decide the matching key, and the time of
                    // the match.
                    frame.facts.irregular |= matches!(key.info().kind, Kind::Var | Kind::Dag);
                }
                if let Some(part) = value.object_ref() {
                    return Some((part, frame.region, frame.field));
                }
            }
            return None;
        }
        let fields = content.visited();
        while let Some((slot, loaded)) = fields.get(section, frame.next) {
            frame.next += 1;
            if let Some(part) = loaded.object()
                && part.info().shape() != VisitShape::Leaf
            {
                let region = frame.region.of_field(slot.flag, level);
                // Inside of a definition field, another definition field of the same
                // level adds no effects.
                if region == frame.region {
                    return Some((part, region, frame.field));
                }
                self.fields += 1;
                return Some((part, region, self.fields));
            }
        }
        None
    }

    fn meet(&mut self, section: &Section, object: ObjRef<'a>, region: Region, field: u64) {
        let info = object.info();
        let (kind, content) = match info.class() {
            Payload::Plain => (Kind::Tree, object),
            Payload::Node => (info.kind, object),
            Payload::Sequence | Payload::Mapping => (Kind::Tree, object),
            Payload::Mutable => (Kind::Tree, object.held(section).unwrap_or(object)),
            Payload::Incomparable => return self.refuse(object),
            Payload::Str | Payload::Bytes | Payload::BigInt | Payload::Shape | Payload::Tensor => {
                return;
            }
        };
        if matches!(kind, Kind::Singleton | Kind::ConstTree) {
            return;
        }
        if kind == Kind::None || !info.hooks.are_structural_defaults() {
            return self.refuse(object);
        }
        let is_inside_repeated = self.frames.last().is_some_and(|frame| frame.is_repeated);
        self.visits += 1;
        self.uncovered += 1;
        self.repeated += u64::from(is_inside_repeated);
        match kind {
            Kind::Var => return self.meet_var(object, region),
            Kind::Dag => {}
            _ if info.has_children || info.scope => {}
            _ => return,
        }
        if object.is_shared() && self.open.contains(&object.ident()) {
            // A cycle, which comparison reports.
            return self.refuse(object);
        }
        if self.use_known(object, region) {
            return;
        }
        let mut is_repeated = is_inside_repeated;
        if region != Region::USE && object.is_shared() {
            if !self.met.insert((object.ident(), field)) {
                // In the same definition field, all variables inside are bound already.
                return;
            }
            if !self.met_anywhere.insert(object.ident()) {
                if self.repeated > MAX_REPEATED + (self.visits - self.repeated) {
                    return self.refuse(object);
                }
                is_repeated = true;
            }
        }
        if object.is_shared() {
            self.open.insert(object.ident());
        }
        let mut field = field;
        if info.scope {
            // Variables bound by the scope for a definition field around the scope are
            // unbound at the end of the scope.
            self.fields += 1;
            field = self.fields;
            self.scopes.push(Vec::new());
        }
        self.begin(object, content, Purpose::Object, region, field, is_repeated);
    }

    fn begin(
        &mut self,
        object: ObjRef<'a>,
        content: ObjRef<'a>,
        purpose: Purpose,
        region: Region,
        field: u64,
        is_repeated: bool,
    ) {
        prefetch_ahead(content);
        let info = object.info();
        self.frames.push(Frame {
            object,
            purpose,
            content,
            next: 0,
            region,
            field,
            is_repeated,
            events: self.events.len(),
            edges: self.edges.len(),
            visits: self.visits,
            uncovered: self.uncovered,
            facts: PartFacts {
                defined: NEVER,
                irregular: false,
                changes: info.class().is_mutable() || info.comparison_may_change(),
                largest: 0,
            },
        });
    }

    /// Records that no object around this object can be skipped.
    fn refuse(&mut self, object: ObjRef<'a>) {
        match self.frames.last_mut() {
            Some(frame) => frame.facts.irregular = true,
            None => self.table.put(object.ident(), Skip::Never, &[], None),
        }
    }

    /// Records that a definition of this level is in the innermost object.
    fn note_definition(&mut self, level: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.facts.defined = frame.facts.defined.min(level);
        }
    }

    /// Records the known facts about a part of the innermost object.
    fn note_changes(&mut self, known: Effects) {
        if let Some(frame) = self.frames.last_mut() {
            frame.facts.changes |= known.date.is_some();
        }
    }

    /// The level of the innermost binding of a variable that counts in a region.
    fn binding(&self, ident: u64, region: Region) -> Option<u32> {
        let level = *self.vars.get(&ident)?.last()?;
        let is_shadowed = region.def_level().is_some_and(|def| level < def);
        (!is_shadowed).then_some(level)
    }

    /// The occurrence of a variable in a region, which may bind the variable.
    fn occurrence(&mut self, ident: u64, region: Region) -> Event {
        let bound = self.binding(ident, region);
        let def = region.def_level();
        let level = bound.or(def).unwrap_or(0);
        let defines = def == Some(level);
        if defines {
            self.note_definition(level);
            if bound.is_none() {
                self.vars.entry(ident).or_default().push(level);
                self.scopes[level as usize].push(ident);
            }
        }
        Event {
            ident,
            level,
            defines,
        }
    }

    fn meet_var(&mut self, object: ObjRef<'a>, region: Region) {
        let ident = object.ident();
        if !object.info().has_children {
            let event = self.occurrence(ident, region);
            return self.events.push(event);
        }
        let Some(effects) = self.table.find(ident) else {
            if !self.open.insert(ident) {
                return self.refuse(object);
            }
            // A separate level tells the variable's definitions from definitions around
            // it.
            self.scopes.push(Vec::new());
            let purpose = Purpose::Variable(region);
            return self.begin(object, object, purpose, Region::USE, self.fields, false);
        };
        self.note_changes(effects);
        match effects.skip {
            Skip::Never | Skip::Defines(_) => self.refuse(object),
            Skip::Repeat => {
                let event = self.occurrence(ident, region);
                self.events.push(event);
            }
            Skip::Whole(place) => {
                self.occurrence(ident, region);
                self.edges.push(place);
            }
        }
    }

    /// True if the effects of an object are known; these effects then become effects of
    /// the part.
    fn use_known(&mut self, object: ObjRef<'a>, region: Region) -> bool {
        let Some(effects) = self.table.find(object.ident()) else {
            return false;
        };
        self.note_changes(effects);
        if effects.skip == Skip::Never {
            self.refuse(object);
            return true;
        }
        if region != Region::USE {
            return effects.is_nothing();
        }
        match effects.skip {
            Skip::Repeat => self.repeat(effects),
            Skip::Whole(place) => self.edges.push(place),
            Skip::Defines(place) => {
                self.note_definition(self.level());
                self.edges.push(place);
            }
            Skip::Never => {}
        }
        true
    }

    /// Repeats the effects of an object met as a use.
    fn repeat(&mut self, known: Effects) {
        let level = self.level();
        for position in 0..known.count {
            let effect = self.table.listed[(known.first + position) as usize];
            let region = if effect.defines() {
                Region::USE.enter(RegionChange::Def, level)
            } else {
                Region::USE
            };
            let event = self.occurrence(effect.ident(), region);
            self.events.push(event);
        }
    }

    /// Ends the innermost object.
    fn leave(&mut self) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        let (object, info) = (frame.object, frame.object.info());
        if let Purpose::Variable(region) = frame.purpose {
            return self.leave_variable(&frame, region);
        }
        if info.scope {
            self.end_scope();
            let level = self.level();
            let mut outside = self.events.split_off(frame.events);
            outside.retain(|event| event.level <= level);
            self.events.append(&mut outside);
            if frame.facts.defined > level {
                frame.facts.defined = NEVER;
            }
        }
        if object.is_shared() {
            self.open.remove(&object.ident());
        }
        if self.events.len() - frame.events > FEW {
            self.drop_repeated(&frame);
        }
        let is_graph = info.kind == Kind::Dag || self.edges.len() > frame.edges;
        let defines = frame.facts.defined != NEVER;
        // A second visit, in another scope, would not repeat the definition.
        frame.facts.irregular |= info.kind == Kind::Dag && defines;
        // The comparison visits such objects, and must not search them again and again.
        let is_visited = frame.facts.irregular || is_graph && defines;
        let visits = self.visits - frame.visits;
        let uncovered = self.uncovered - frame.uncovered;
        let is_large =
            visits >= MIN_VISITS && (uncovered >= MIN_VISITS || visits >= 2 * frame.facts.largest);
        let is_root = self.frames.is_empty();
        let is_met_again = info.kind == Kind::Dag || object.is_shared();
        let is_kept = is_root || is_large || is_visited || is_met_again;
        if is_kept && frame.region == Region::USE {
            self.uncovered = frame.uncovered;
            frame.facts.largest = visits;
            self.keep(&frame);
        } else if info.kind == Kind::Dag {
            self.add_place(&frame);
        }
        if let Some(around) = self.frames.last_mut() {
            around.facts.add(frame.facts);
        }
    }

    /// Ends the innermost scope and unbinds its variables.
    fn end_scope(&mut self) {
        for ident in self.scopes.pop().unwrap_or_default() {
            if let Some(levels) = self.vars.get_mut(&ident) {
                levels.pop();
            }
        }
    }

    /// Ends the search in the fields of a variable, which then is met again.
    fn leave_variable(&mut self, frame: &Frame<'a>, region: Region) {
        let ident = frame.object.ident();
        self.open.remove(&ident);
        self.end_scope();
        let is_plain = self.events.len() == frame.events && self.edges.len() == frame.edges;
        // Only some visits enter the fields, depending on earlier events, and only
        // these visits bind the variables inside.
        let skip = if frame.facts.irregular || frame.facts.defined != NEVER {
            Skip::Never
        } else if is_plain {
            Skip::Repeat
        } else {
            Skip::Whole(self.add_place(frame))
        };
        self.events.truncate(frame.events);
        self.edges.truncate(frame.edges);
        let date = frame.facts.changes.then_some(self.date);
        self.table.put(ident, skip, &[], date);
        self.meet_var(frame.object, region);
    }

    /// Remembers an object that has been visited as a use.
    fn keep(&mut self, frame: &Frame<'a>) {
        let is_graph = frame.object.info().kind == Kind::Dag || self.edges.len() > frame.edges;
        let skip = if frame.facts.irregular {
            self.events.truncate(frame.events);
            self.edges.truncate(frame.edges);
            Skip::Never
        } else if !is_graph {
            self.drop_repeated(frame);
            Skip::Repeat
        } else {
            let place = self.add_place(frame);
            match frame.facts.defined {
                NEVER => Skip::Whole(place),
                _ => Skip::Defines(place),
            }
        };
        let effects: SmallVec<[Effect; FEW]> = self.events[frame.events..]
            .iter()
            .map(|event| Effect::new(event.ident, event.defines))
            .collect();
        let date = frame.facts.changes.then_some(self.date);
        self.table.put(frame.object.ident(), skip, &effects, date);
    }

    /// Gives an object a place that reaches all places below. In the objects around,
    /// the new place represents all of these places.
    fn add_place(&mut self, frame: &Frame<'a>) -> Place {
        self.move_events(frame);
        self.edges[frame.edges..].sort_unstable();
        let mut next = frame.edges;
        for position in frame.edges..self.edges.len() {
            let edge = self.edges[position];
            if !self.edges[frame.edges..next].ends_with(&[edge]) {
                self.edges[next] = edge;
                next += 1;
            }
        }
        let below = &self.edges[frame.edges..next];
        let place = self.table.reach.add(frame.object.ident(), below);
        self.edges.truncate(frame.edges);
        self.edges.push(place);
        place
    }

    /// Makes the variables below an object reachable, instead of listing them.
    fn move_events(&mut self, frame: &Frame<'a>) {
        for event in self.events.drain(frame.events..) {
            self.edges.push(self.table.reach.var(event.ident));
        }
    }

    /// Drops the events of an object that change no binding after earlier events. If
    /// more than a few events are left, none is listed.
    fn drop_repeated(&mut self, frame: &Frame<'a>) {
        let mut next = frame.events;
        for position in frame.events..self.events.len() {
            let event = self.events[position];
            let earlier = &self.events[frame.events..next];
            if earlier.iter().any(|earlier| earlier.covers(&event)) {
                continue;
            }
            if earlier.len() == FEW {
                return self.move_events(frame);
            }
            self.events[next] = event;
            next += 1;
        }
        self.events.truncate(next);
    }
}
