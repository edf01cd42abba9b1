//! Finds the effects of an object and of the larger objects in it, in one walk.

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

/// Smaller objects are not remembered: visiting them costs little more than a lookup, and
/// the table stays small beside the program.
const MIN_VISITS: u64 = 16;

/// Nested definition fields may contain the same objects in exponentially many ways; with
/// more repeated visits, an object counts as one that cannot be skipped.
const MAX_REPEATED: u64 = 1 << 12;

/// A level at which nothing happened.
const NEVER: u32 = u32::MAX;

/// An occurrence of a variable.
#[derive(Clone, Copy)]
struct Event {
    ident: u64,
    /// The scope level of its binding in this walk; 0 if no scope of the walk binds it.
    level: u32,
    defines: bool,
    is_plain: bool,
    /// If the occurrence is in the fields of a variable, the level of that variable's
    /// binding: until the scope ends, nobody knows whether a visit enters these fields.
    /// [`NEVER`] for the others.
    owner: u32,
}

impl Event {
    /// True if `self`, which comes first, makes `later` superfluous wherever both count.
    fn covers(&self, later: &Event) -> bool {
        self.ident == later.ident && self.defines >= later.defines && self.owner >= later.owner
    }
}

/// The facts about a part of the walk, besides events and places.
#[derive(Clone, Copy)]
struct Found {
    /// Events of this level and above are incomplete.
    lost: u32,
    /// The lowest level of a definition.
    defined: u32,
    irregular: bool,
    changes: bool,
    /// The number of visits of the largest remembered object.
    largest: u64,
}

impl Found {
    const NOTHING: Found = Found {
        lost: NEVER,
        defined: NEVER,
        irregular: false,
        changes: false,
        largest: 0,
    };

    fn add(&mut self, other: Found) {
        self.lost = self.lost.min(other.lost);
        self.defined = self.defined.min(other.defined);
        self.irregular |= other.irregular;
        self.changes |= other.changes;
        self.largest = self.largest.max(other.largest);
    }

    /// Drops what belongs to a level that ends.
    fn end_level(&mut self, level: u32) {
        for lowest in [&mut self.lost, &mut self.defined] {
            if *lowest >= level {
                *lowest = NEVER;
            }
        }
    }
}

/// The purpose of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To find the effects of an object that is not a variable.
    Object,
    /// To find out about the fields of a variable, which then is met again in this region
    /// and definition field. The owner of the events outside is saved.
    Variable(Region, u64, u32),
    /// To collect what the definition of a variable does with its fields.
    /// The owner of the events outside is saved.
    Definition(u32),
}

struct Frame<'a> {
    object: ObjRef<'a>,
    purpose: Purpose,
    /// The object whose fields, items or entries come next.
    content: ObjRef<'a>,
    next: usize,
    region: Region,
    /// The region of parts without a flag of their own, and the number of the definition
    /// field or scope around them.
    inner: Region,
    field: u64,
    events: usize,
    edges: usize,
    /// The numbers of visits when it began: all, and those outside of remembered objects.
    visits: (u64, u64),
    found: Found,
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
    /// See [`Event::owner`]: of the outermost variable around.
    owner: u32,
    /// The number of definition fields and scopes so far.
    fields: u64,
    /// Shared objects met in definition fields, or again in spite of known effects.
    met: HashSet<(u64, Region, u64), RandomState>,
    met_anywhere: HashSet<u64, RandomState>,
    /// The number of repeated visits of and below such objects, and the height of the
    /// outermost of them that is open.
    repeated: u64,
    again: Option<usize>,
    /// Shared objects around the current one.
    open: HashSet<u64, RandomState>,
    visits: u64,
    covered: u64,
}

/// Finds the effects of an object with parts; adds the objects visited for it to
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
        owner: NEVER,
        fields: 0,
        met: HashSet::default(),
        met_anywhere: HashSet::default(),
        repeated: 0,
        again: None,
        open: HashSet::default(),
        visits: 0,
        covered: 0,
    };
    let mut poll = Poll::default();
    walk.meet(section, object, Region::USE, 0);
    while !walk.frames.is_empty() {
        poll.step(section)?;
        if walk.table.is_full() {
            // Too large to remember, so it is visited, as are its parts this time.
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
    /// number of the definition field around it.
    fn next_part(&mut self, section: &Section) -> Option<(ObjRef<'a>, Region, u64)> {
        let level = self.level();
        let frame = self.frames.last_mut()?;
        let content = frame.content;
        if let Some(items) = content.items() {
            while let Some(item) = items.get(frame.next) {
                frame.next += 1;
                if let Some(part) = item.object_ref() {
                    return Some((part, frame.inner, frame.field));
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
                    // Whether it is bound decides what it matches, and when.
                    frame.found.irregular |= matches!(key.info().kind, Kind::Var | Kind::Dag);
                }
                if let Some(part) = value.object_ref() {
                    return Some((part, frame.inner, frame.field));
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
                let region = frame.inner.of_field(slot.flag, level);
                // Inside of a definition field, another one of the same level adds nothing.
                if region == frame.inner {
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
        self.visits += 1;
        self.repeated += u64::from(self.again.is_some());
        match kind {
            Kind::Var => return self.meet_var(object, region, field),
            Kind::Dag => {}
            _ if info.has_children || info.scope => {}
            _ => return,
        }
        if object.is_shared() && self.open.contains(&object.ident()) {
            // A cycle, which comparison reports.
            return self.refuse(object);
        }
        if self.use_known(object, region, field) {
            return;
        }
        if object.is_shared() {
            self.open.insert(object.ident());
        }
        let mut field = field;
        if info.scope {
            // What it binds of a field around it is unbound again after it.
            self.fields += 1;
            field = self.fields;
        }
        self.begin((object, content), Purpose::Object, (region, region), field);
        if info.scope {
            self.scopes.push(Vec::new());
        }
    }

    fn begin(
        &mut self,
        (object, content): (ObjRef<'a>, ObjRef<'a>),
        purpose: Purpose,
        (region, inner): (Region, Region),
        field: u64,
    ) {
        prefetch_ahead(content);
        let info = object.info();
        self.frames.push(Frame {
            object,
            purpose,
            content,
            next: 0,
            region,
            inner,
            field,
            events: self.events.len(),
            edges: self.edges.len(),
            visits: (self.visits, self.visits - self.covered),
            found: Found {
                changes: info.class().is_mutable() || info.comparison_may_change(),
                ..Found::NOTHING
            },
        });
    }

    /// Records that nothing around an object can be skipped.
    fn refuse(&mut self, object: ObjRef<'a>) {
        match self.frames.last_mut() {
            Some(frame) => frame.found.irregular = true,
            None => self.table.put(object.ident(), Skip::Never, &[], None),
        }
    }

    /// The level of the innermost binding of a variable that counts in a region.
    fn binding(&self, ident: u64, region: Region) -> Option<u32> {
        let level = *self.vars.get(&ident)?.last()?;
        let is_shadowed = region.def_level().is_some_and(|def| level < def);
        (!is_shadowed).then_some(level)
    }

    /// Records an occurrence of a variable in a region, and binds the variable if the
    /// occurrence does so in a scope of this walk. Returns true if it binds.
    fn note(&mut self, ident: u64, is_plain: bool, region: Region) -> bool {
        let bound = self.binding(ident, region);
        let def = region.def_level();
        let level = bound.or(def).unwrap_or(0);
        let defines = def == Some(level);
        self.events.push(Event {
            ident,
            level,
            defines,
            is_plain,
            owner: self.owner,
        });
        if defines && let Some(frame) = self.frames.last_mut() {
            frame.found.defined = frame.found.defined.min(level);
        }
        let binds = bound.is_none() && defines && level > 0;
        if binds {
            self.vars.entry(ident).or_default().push(level);
            self.scopes[level as usize].push(ident);
        }
        binds
    }

    fn meet_var(&mut self, object: ObjRef<'a>, region: Region, field: u64) {
        let ident = object.ident();
        if !object.info().has_children {
            self.note(ident, true, region);
            return;
        }
        let Some(known) = self.table.find(ident) else {
            if !self.open.insert(ident) {
                return self.refuse(object);
            }
            let purpose = Purpose::Variable(region, field, self.owner);
            self.owner = NEVER;
            self.fields += 1;
            // Its definitions are told from those around it by a level of their own.
            self.scopes.push(Vec::new());
            let region = Region::USE;
            return self.begin((object, object), purpose, (region, region), self.fields);
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.found.changes |= known.date.is_some();
        }
        if known.skip == Skip::Never {
            return self.refuse(object);
        }
        let is_plain = known.skip == Skip::Repeat;
        let level = region.def_level().unwrap_or(0);
        if self.note(ident, is_plain, region) && !is_plain {
            // The definition of a local variable enters its fields.
            let purpose = Purpose::Definition(self.owner);
            self.owner = self.owner.min(level);
            self.fields += 1;
            let regions = (region, region.inside_var());
            self.begin((object, object), purpose, regions, self.fields);
        }
    }

    /// True if what is known of an object is enough.
    fn use_known(&mut self, object: ObjRef<'a>, region: Region, field: u64) -> bool {
        let is_use = region == Region::USE;
        let known = self.table.find(object.ident());
        if let Some(known) = known {
            let is_enough = known.len() == 0 || is_use && !self.defines_locally(known);
            if let Some(frame) = self.frames.last_mut() {
                frame.found.changes |= known.date.is_some();
                frame.found.irregular |= known.skip == Skip::Never;
                if is_use && is_enough && matches!(known.skip, Skip::Wide(_)) {
                    frame.found.lost = 0;
                }
            }
            match known.skip {
                Skip::Never => return true,
                Skip::Repeat if is_enough => {
                    self.repeat(known);
                    return true;
                }
                Skip::Whole(place) | Skip::Wide(place) if is_use && is_enough => {
                    self.repeat(known);
                    self.edges.push(place);
                    return true;
                }
                _ => {}
            }
        }
        if is_use && known.is_none() || !object.is_shared() {
            return false;
        }
        if self.met.insert((object.ident(), region, field)) {
            if self.met_anywhere.insert(object.ident()) {
                return false;
            }
            if self.repeated <= MAX_REPEATED + (self.visits - self.repeated) {
                self.again = self.again.or(Some(self.frames.len()));
                return false;
            }
            self.refuse(object);
        } else if is_use {
            // The first visit counts only where it was.
            self.refuse(object);
        }
        // Otherwise, in the same definition field, everything in it is bound already.
        true
    }

    /// True if known effects define a variable in a scope of this walk, so that its fields
    /// are visited; the effects do not say in which region.
    fn defines_locally(&self, known: Effects) -> bool {
        self.level() > 0
            && self
                .table
                .listed(known)
                .iter()
                .any(|effect| effect.defines() && !effect.is_plain())
    }

    /// Repeats the effects of an object, which is met as a use.
    fn repeat(&mut self, known: Effects) {
        let level = self.level();
        for position in 0..known.count {
            let effect = self.table.listed[(known.first + position) as usize];
            let region = match effect.defines() {
                true => Region::USE.enter(RegionChange::Def, level),
                false => Region::USE,
            };
            self.note(effect.ident(), effect.is_plain(), region);
        }
    }

    /// Ends the innermost object.
    fn leave(&mut self) {
        let Some(mut frame) = self.frames.pop() else {
            return;
        };
        self.again = self.again.filter(|height| *height < self.frames.len());
        let object = frame.object;
        let info = object.info();
        match frame.purpose {
            Purpose::Object => {}
            Purpose::Variable(region, field, owner) => {
                self.owner = owner;
                return self.leave_variable(frame, region, field);
            }
            Purpose::Definition(owner) => {
                self.owner = owner;
                if let Some(around) = self.frames.last_mut() {
                    around.found.add(frame.found);
                }
                return;
            }
        }
        if info.scope {
            self.end_scope(&mut frame);
        }
        // A second visit, in another scope, would not define it again.
        frame.found.irregular |= info.kind == Kind::Dag && frame.found.defined != NEVER;
        if object.is_shared() {
            self.open.remove(&object.ident());
        }
        let visits = self.visits - frame.visits.0;
        let uncovered = self.visits - self.covered - frame.visits.1;
        let is_large =
            visits >= MIN_VISITS && (uncovered >= MIN_VISITS || visits >= 2 * frame.found.largest);
        // The comparison visits these, and must not search them again and again.
        let is_entered = frame.found.defined != NEVER
            && (frame.found.lost != NEVER || self.edges.len() > frame.edges);
        let is_special = info.kind == Kind::Dag || info.scope || object.is_shared() || is_entered;
        let is_root = self.frames.is_empty();
        // What the definition of a variable visits was known when the variable was met.
        let is_kept = frame.region == Region::USE && self.owner == NEVER;
        if is_kept && (is_root || is_special || is_large) {
            self.covered += uncovered;
            frame.found.largest = visits;
            self.keep(&mut frame);
        } else if info.kind == Kind::Dag {
            let below = &self.edges[frame.edges..];
            let place = self.table.reach.add(object.ident(), below);
            self.edges.truncate(frame.edges);
            self.edges.push(place);
        }
        if let Some(around) = self.frames.last_mut() {
            around.found.add(frame.found);
        }
    }

    fn end_scope(&mut self, frame: &mut Frame<'a>) {
        let level = self.level();
        let bound = self.scopes.pop().unwrap_or_default();
        for ident in bound {
            if let Some(levels) = self.vars.get_mut(&ident) {
                levels.pop();
            }
        }
        let mut next = frame.events;
        for position in frame.events..self.events.len() {
            let mut event = self.events[position];
            if event.level < level {
                // Every visit of the scope enters the fields of the scope's variables.
                if event.owner >= level {
                    event.owner = NEVER;
                }
                self.events[next] = event;
                next += 1;
            }
        }
        self.events.truncate(next);
        frame.found.end_level(level);
    }

    /// Ends the search in the fields of a variable, which then is met again.
    fn leave_variable(&mut self, frame: Frame<'a>, region: Region, field: u64) {
        let ident = frame.object.ident();
        self.open.remove(&ident);
        let found = frame.found;
        let bound = self.scopes.pop().unwrap_or_default();
        for ident in bound {
            if let Some(levels) = self.vars.get_mut(&ident) {
                levels.pop();
            }
        }
        let date = found.changes.then_some(self.date);
        // Whether a visit enters the fields depends on what came before. Then nothing but
        // uses of variables may be in there: dag nodes would be paired and variables bound
        // in some visits, and not in others.
        let has_nodes = self.edges.len() > frame.edges;
        let skip = if found.irregular || found.defined != NEVER || has_nodes {
            Skip::Never
        } else if self.events.len() == frame.events && found.lost == NEVER {
            Skip::Repeat
        } else {
            for event in &self.events[frame.events..] {
                self.edges.push(self.table.reach.var(event.ident));
            }
            Skip::Whole(self.table.reach.add(ident, &self.edges[frame.edges..]))
        };
        self.edges.truncate(frame.edges);
        self.events.truncate(frame.events);
        self.table.put(ident, skip, &[], date);
        self.meet_var(frame.object, region, field);
    }

    /// Remembers an object that has been visited as a use.
    fn keep(&mut self, frame: &mut Frame<'a>) {
        let (ident, found) = (frame.object.ident(), &mut frame.found);
        let date = found.changes.then_some(self.date);
        self.drop_repeated(frame.events);
        if found.irregular {
            self.edges.truncate(frame.edges);
            self.events.truncate(frame.events);
            return self.table.put(ident, Skip::Never, &[], date);
        }
        let is_graph = frame.object.info().kind == Kind::Dag || self.edges.len() > frame.edges;
        let is_long = self.events.len() - frame.events > FEW;
        let mut skip = Skip::Repeat;
        if is_graph || is_long || found.lost != NEVER {
            for event in &self.events[frame.events..] {
                self.edges.push(self.table.reach.var(event.ident));
            }
            let place = self.table.reach.add(ident, &self.edges[frame.edges..]);
            self.edges.truncate(frame.edges);
            self.edges.push(place);
            if is_long {
                self.drop_highest(frame.events, found);
            }
            skip = match (found.defined != NEVER, found.lost != NEVER) {
                (true, _) => Skip::Defines,
                (false, false) => Skip::Whole(place),
                (false, true) => Skip::Wide(place),
            };
        }
        let listed: SmallVec<[Effect; FEW]> = self.events[frame.events..]
            .iter()
            .filter(|event| event.owner == NEVER)
            .map(|event| Effect::new(event.ident, event.defines, event.is_plain))
            .collect();
        self.table.put(ident, skip, &listed, date);
    }

    /// Drops events of the highest levels, which end first, until few are left.
    fn drop_highest(&mut self, start: usize, found: &mut Found) {
        let mut levels: Vec<u32> = self.events[start..].iter().map(|e| e.level).collect();
        levels.sort_unstable();
        let lost = levels[FEW];
        found.lost = found.lost.min(lost);
        let kept: SmallVec<[Event; FEW]> = self.events[start..]
            .iter()
            .filter(|event| event.level < lost)
            .copied()
            .collect();
        self.events.truncate(start);
        self.events.extend(kept);
    }

    /// Drops events from a position on that change nothing after earlier ones.
    fn drop_repeated(&mut self, start: usize) {
        const SHORT: usize = 8;
        let mut known = HashMap::<u64, Event, RandomState>::default();
        let is_short = self.events.len() - start <= SHORT;
        let mut next = start;
        for position in start..self.events.len() {
            let event = self.events[position];
            let repeats = if is_short {
                let earlier = &self.events[start..next];
                earlier.iter().any(|earlier| earlier.covers(&event))
            } else {
                match known.get(&event.ident) {
                    Some(earlier) if earlier.covers(&event) => true,
                    _ => {
                        known.insert(event.ident, event);
                        false
                    }
                }
            };
            if !repeats {
                self.events[next] = event;
                next += 1;
            }
        }
        self.events.truncate(next);
    }
}
