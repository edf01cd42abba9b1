//! Skips objects that are the same on both sides.
//!
//! A skip has the result of the visit: see [`effects`](super::super::effects). The
//! assumptions of a skip of a whole object are checked at the end, when all contrary
//! facts are known; if there is a contradiction, the comparison is repeated without
//! skips.
//!
//! Where few variables occur, the comparison repeats the occurrences instead of the
//! visit, but visits the object if a variable with variables in its fields is unbound.
//!
//! A mismatch caused by bindings is looked up again without skips, since its
//! explanation names the places of the bindings.

use super::super::effects::{Effect, Effects, Place, Skip, find_effects};
use super::super::leaf;
use super::super::mismatch::FirstDifference;
use super::super::scope::Region;
use super::{Engine, Frame, Job, LEFT, RIGHT, VarPair};
use crate::kernel::error::Result;
use crate::kernel::object::access::Section;
use crate::kernel::object::class::Payload;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::{Kind, RegionChange};

/// The number of objects visited in vain for effects. Above this number, the search for
/// effects resumes only after as many other visits.
const MAX_FRUITLESS: u64 = 1 << 12;

impl<'a> Engine<'a> {
    /// Allows skips, unless the sides are seen at different times.
    pub(in crate::structural) fn allow_skips(&mut self) {
        self.skips = !self.pinned;
        self.tables.effects.begin();
    }

    /// Skips an object on both sides; true if the object equals itself at this place
    /// and needs no visit.
    #[inline(never)]
    pub(super) fn skip<const REC: bool>(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        region: Region,
    ) -> Result<bool> {
        let info = object.info();
        let is_worth_it = match info.class() {
            Payload::Plain => info.has_children && !leaf::holds_few_leaves(section, object, info),
            Payload::Node => info.kind == Kind::Dag || info.kind == Kind::Tree && info.has_children,
            Payload::Sequence | Payload::Mapping | Payload::Mutable => true,
            _ => false,
        };
        if !is_worth_it {
            return Ok(false);
        }
        let table = &mut self.tables.effects;
        let effects = match table.find(object.ident()) {
            Some(effects) => effects,
            None => {
                if self.fruitless > MAX_FRUITLESS + self.visits {
                    return Ok(false);
                }
                let before = self.visits;
                let skip = find_effects(table, section, object, &mut self.visits)?;
                match table.find(object.ident()) {
                    Some(effects) if !matches!(skip, Skip::Never | Skip::Defines(_)) => effects,
                    _ => {
                        self.fruitless += 2 * (self.visits - before);
                        return Ok(false);
                    }
                }
            }
        };
        Ok(self.skip_by::<REC>(object, effects, region))
    }

    /// As [`skip`](Self::skip), for plain nodes; None if the effects are unknown.
    #[inline(never)]
    pub(super) fn skip_known<const REC: bool>(
        &mut self,
        object: ObjRef<'a>,
        region: Region,
    ) -> Option<bool> {
        let effects = self.tables.effects.find(object.ident())?;
        Some(self.skip_by::<REC>(object, effects, region))
    }

    fn skip_by<const REC: bool>(
        &mut self,
        object: ObjRef<'a>,
        effects: Effects,
        region: Region,
    ) -> bool {
        let is_whole = region == Region::USE || region == Region::FREE;
        let is_equal = match effects.skip {
            Skip::Repeat if effects.is_nothing() => true,
            _ if !is_whole => false,
            Skip::Repeat => self.repeat::<REC>(object, effects, region),
            Skip::Whole(place) => self.skip_whole::<REC>(object, place),
            Skip::Defines(_) | Skip::Never => false,
        };
        self.has_skipped |= is_equal;
        is_equal
    }

    fn effect(&self, effects: Effects, position: usize) -> Effect {
        self.tables.effects.listed(effects)[position]
    }

    /// Repeats the effects of a visit on the bindings; false if only a visit can do
    /// that.
    fn repeat<const REC: bool>(
        &mut self,
        object: ObjRef<'a>,
        effects: Effects,
        region: Region,
    ) -> bool {
        let level = self.levels.current();
        let region_of = |effect: Effect| {
            if effect.defines() {
                region.enter(RegionChange::Def, level)
            } else {
                region
            }
        };
        let mut is_bound = true;
        for position in 0..effects.len() {
            let effect = self.effect(effects, position);
            match self.var_level([effect.ident(); 2], region_of(effect)) {
                Ok(VarPair::Equal) => {}
                Err(Some(_)) => is_bound = false,
                _ => return false,
            }
        }
        if is_bound {
            return true;
        }
        for position in 0..effects.len() {
            let effect = self.effect(effects, position);
            let (idents, region) = ([effect.ident(); 2], region_of(effect));
            if let Err(Some(level)) = self.var_level(idents, region) {
                let defined = region.is_field();
                let index = self.bind_idents::<REC>(idents, object, object, level, true, defined);
                self.levels.use_var(index, level, region);
            }
        }
        true
    }

    fn skip_whole<const REC: bool>(&mut self, object: ObjRef<'a>, place: Place) -> bool {
        let ident = object.ident();
        if object.info().kind == Kind::Dag {
            let bound = [LEFT, RIGHT].map(|side| self.tables.bindings.of(side, ident));
            if bound != [None, None] {
                return false;
            }
            let index = self.bind_idents::<REC>([ident; 2], object, object, 0, false, false);
            self.levels.use_dag(index);
        } else {
            // The skip is valid for any binding of the object's variables. In a
            // definition field, the variables would be bound.
            self.levels.use_level(0);
        }
        self.tables.skipped.push(place);
        true
    }

    /// Records an object whose visit is wrong below a skipped object, even as its own
    /// partner.
    #[inline]
    pub(super) fn note_visit(&mut self, l: ObjRef<'a>, r: ObjRef<'a>) {
        if self.skips && l.same_as(r) {
            self.tables.visited.push(l.ident());
        }
    }

    /// Records a variable whose fields are about to be visited, unless the variable is
    /// plain or its binding ends before the comparison. The visit of a skipped object
    /// would have bound the variable already.
    #[inline]
    pub(super) fn note_var(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) {
        let is_bound_for_good = region.def_level().unwrap_or(0) == 0;
        if self.skips && is_bound_for_good && l.same_as(r) && l.info().has_children {
            let known = self.tables.effects.find(l.ident());
            if !known.is_some_and(|effects| effects.skip == Skip::Repeat) {
                self.tables.visited.push(l.ident());
            }
        }
    }

    /// Records a pair whose visit a failed alternative has ended.
    pub(super) fn note_left(&mut self, frame: Frame<'a>) {
        if self.skips && is_pairing(&frame) {
            self.tables
                .visited
                .extend([frame.l.ident(), frame.r.ident()]);
        }
    }

    /// True if a walk without skips may find this difference at another place or for
    /// another reason. Since a skip makes no bindings, bindings have other numbers, and
    /// pairs refuted by an alternative are known again where no bindings were made.
    pub(in crate::structural) fn may_be_told_otherwise(&self, found: &FirstDifference) -> bool {
        self.has_skipped && (found.is_by_binding() || self.has_used_refuted)
    }

    /// True if the visit of an object below a skipped object would not have allowed an
    /// assumption of the skip.
    pub(in crate::structural) fn is_in_doubt(&self) -> bool {
        if self.tables.skipped.is_empty() {
            return false;
        }
        let open = self
            .stack
            .iter()
            .filter(|frame| is_pairing(frame))
            .flat_map(|frame| [frame.l.ident(), frame.r.ident()]);
        let apart = self.tables.bindings.bound_apart().chain(open);
        let idents = apart.chain(self.tables.visited.iter().copied());
        self.tables
            .effects
            .reach
            .reaches(&self.tables.skipped, idents)
    }
}

/// True if different objects are about to be bound to each other.
fn is_pairing(frame: &Frame<'_>) -> bool {
    matches!(frame.job, Job::EndDag | Job::EndVar) && !frame.l.same_as(frame.r)
}
