//! Holes: variables of the left value that match any part of the right value, and how they
//! are filled while a template is compared with a value.
//!
//! Only the walk with the recorder supports holes, and plain equality never has to
//! check for them.

use std::sync::Arc;

use super::super::hole::HoleTable;
use super::super::mismatch::{HoleRefusal, Reason};
use super::super::scope::Region;
use super::super::{leaf, objects_equal};
use super::{Engine, EntryResult, Frame, Job, Next, RIGHT};
use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::table::{self, is_a};
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;
use crate::traverse::{WalkResult, walk_objects};

/// The holes of one comparison.
pub(crate) struct Holes<'a> {
    pub(super) table: Arc<HoleTable>,
    /// The parts, by hole.
    pub(super) parts: Vec<Option<Part<'a>>>,
    /// The holes that are filled, in this order.
    pub(super) filled: Vec<usize>,
    /// Undone bindings, by number.
    pub(super) undone: Vec<std::ops::Range<usize>>,
}

/// The part that fills a hole.
pub(crate) struct Part<'a> {
    pub(super) object: ObjRef<'a>,
    /// The bindings of definition fields in force at the part's place.
    pub(super) around: Vec<u32>,
}

impl Holes<'_> {
    pub(crate) fn new(table: Arc<HoleTable>) -> Self {
        Holes {
            parts: (0..table.len()).map(|_| None).collect(),
            table,
            filled: Vec::new(),
            undone: Vec::new(),
        }
    }

    /// The state, for [`undo`](Self::undo).
    pub(super) fn mark(&self) -> usize {
        self.filled.len()
    }

    /// Empties the holes filled since the mark; `bindings` were undone.
    pub(super) fn undo(&mut self, mark: usize, bindings: std::ops::Range<usize>) {
        for hole in self.filled.drain(mark..) {
            self.parts[hole] = None;
        }
        if !bindings.is_empty() {
            self.undone.push(bindings);
        }
    }
}

/// The values of a template's holes and variables.
pub(crate) struct Filled {
    /// By hole, with the positions in `pairs` of the bindings around the part.
    pub(crate) parts: Vec<Option<(Value, Vec<usize>)>>,
    pub(crate) pairs: Vec<VarPair>,
}

/// A variable of the left value and its partner.
pub(crate) struct VarPair {
    pub(crate) left: Value,
    pub(crate) right: Value,
    /// True if a definition field bound the variable, which is then bound in the value.
    pub(crate) defined: bool,
}

/// A scope level without a scope: results that depend on this level are not remembered.
const NEVER_OPEN: u32 = (1 << 30) - 2;

impl<'a> Engine<'a> {
    /// The number of the hole for an object of the left value.
    #[inline]
    pub(super) fn hole_of(&self, l: ObjRef<'a>) -> Option<usize> {
        self.holes.as_ref()?.table.find(l.ident())
    }

    pub(super) fn enter_hole<const REC: bool>(
        &mut self,
        section: &mut Section,
        hole: usize,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        let Some(holes) = &self.holes else {
            return Ok(EntryResult::Different);
        };
        // Results for a pair that contains a hole are valid within the same enclosing
        // scopes.
        for level in 0..=self.levels.current() {
            self.levels.use_level(level);
        }
        if let Some(part) = &holes.parts[hole] {
            let (first, around) = (part.object, part.around.clone());
            let same = first.same_as(r) || self.same_part(section, first, r)?;
            if same && self.same_bindings(section, r, &around)? {
                return Ok(EntryResult::Equal);
            }
            let reason = Reason::Hole(HoleRefusal::OtherPart);
            return Ok(self.differ_objects::<REC>(reason, l, r));
        }
        let class = holes.table.class(hole);
        let fits = class.is_none_or(|class| is_a(r.type_index(), class));
        if r.info().is_builtin() || !fits {
            let reason = Reason::Hole(HoleRefusal::Class);
            return Ok(self.differ_objects::<REC>(reason, l, r));
        }
        let common = l
            .info()
            .lineage()
            .find(|&class| is_a(r.type_index(), class));
        let inherited = common.map_or(0, |class| table::info(class).fields().len());
        self.stack.push(Frame {
            l,
            r,
            next: 0,
            extra: inherited as u32,
            region: region.inside_var(),
            job: Job::Hole,
        });
        Ok(EntryResult::Open)
    }

    /// True if two parts of the right value are equal, with every variable mapped to
    /// itself.
    fn same_part(
        &mut self,
        section: &mut Section,
        first: ObjRef<'a>,
        second: ObjRef<'a>,
    ) -> Result<bool> {
        let options = CompareOptions {
            map_free_vars: false,
            ..self.options
        };
        access::outside(section, || {
            objects_equal(first.as_ref(), second.as_ref(), options)
        })
    }

    /// True if the variables in a part are bound to the same binders as the variables
    /// of an equal part, which had these bindings around it.
    fn same_bindings(
        &mut self,
        section: &mut Section,
        part: ObjRef<'a>,
        around: &[u32],
    ) -> Result<bool> {
        let now = self.bindings_around();
        if now == around {
            return Ok(true);
        }
        // Bindings around only one of the two places.
        let apart = |index: &u32| now.contains(index) != around.contains(index);
        let apart: Vec<u64> = now
            .iter()
            .chain(around)
            .filter(|index| apart(index))
            .map(|&index| self.tables.bindings.get(index).idents[RIGHT])
            .collect();
        let result = access::outside(section, || {
            walk_objects(part.to_ref(), |object, _| {
                Ok(if apart.contains(&object.identity()) {
                    WalkResult::Interrupt(())
                } else {
                    WalkResult::Advance
                })
            })
        });
        Ok(result?.is_none())
    }

    /// The bindings of definition fields that are in force at this place.
    fn bindings_around(&mut self) -> Vec<u32> {
        let all = 0..self.bound.len() as u32;
        let bindings = &mut self.tables.bindings;
        let bound = &self.bound;
        all.filter(|&index| {
            let ident = bindings.get(index).idents[RIGHT];
            bound[index as usize].defined && bindings.of(RIGHT, ident) == Some(index)
        })
        .collect()
    }

    /// Compares the common fields of the classes of a hole and of an object, starting
    /// at `frame.next`, and then fills the hole.
    pub(super) fn hole_fields<const REC: bool>(
        &mut self,
        section: &mut Section,
        frame: Frame<'a>,
    ) -> Result<Next<'a>> {
        let Frame { l, r, region, .. } = frame;
        let (fields, others) = (l.visited(), r.visited());
        let mut position = frame.next as usize;
        while let Some((slot, left)) = fields.get(section, position) {
            position += 1;
            if slot.field >= frame.extra {
                continue;
            }
            let same = |other: &usize| others.slot(*other).is_some_and(|o| o.field == slot.field);
            let right = (0..others.len())
                .find(same)
                .and_then(|index| others.get(section, index));
            let Some((_, right)) = right else {
                continue;
            };
            if let Some(frame) = self.stack.last_mut() {
                frame.next = position as u32;
            }
            match (left.object(), right.object()) {
                (Some(left), Some(right)) => {
                    let region = region.of_field(slot.flag, self.levels.current());
                    return Ok(Next::Pair(left, right, region));
                }
                (None, None) if leaf::plain_equal(&left.to_value(), &right.to_value()) => {}
                _ => {
                    let values = (left.to_value(), right.to_value());
                    self.differ::<REC>(Reason::Value, || (Some(values.0), Some(values.1)));
                    return Ok(Next::Different);
                }
            }
        }
        self.fill::<REC>(section, l, r)
    }

    /// Finishes the frame of a hole whose fields equal the part's fields.
    fn fill<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
    ) -> Result<Next<'a>> {
        let Some(hole) = self.hole_of(l) else {
            return Ok(Next::Different);
        };
        let guard = self
            .holes
            .as_ref()
            .and_then(|holes| holes.table.guard(hole));
        let accepted = match guard {
            Some(guard) => access::outside(section, || guard(&Value::from(r.to_ref())))?,
            None => true,
        };
        if !accepted {
            self.differ_objects::<REC>(Reason::Hole(HoleRefusal::Guard), l, r);
            return Ok(Next::Different);
        }
        self.stack.pop();
        let around = self.bindings_around();
        if !around.is_empty() {
            // In another scope, the same pair may have a different result.
            self.levels.use_level(NEVER_OPEN);
        }
        if let Some(holes) = &mut self.holes {
            holes.parts[hole] = Some(Part { object: r, around });
            holes.filled.push(hole);
        }
        Ok(Next::Nothing)
    }

    /// The contents of the holes, after a successful comparison.
    pub(crate) fn filled(&mut self) -> Filled {
        let Some(holes) = self.holes.take() else {
            return Filled {
                parts: Vec::new(),
                pairs: Vec::new(),
            };
        };
        let undone = |index: usize| holes.undone.iter().any(|range| range.contains(&index));
        let mut places = vec![usize::MAX; self.bound.len()];
        let mut pairs = Vec::new();
        for (index, bound) in self.bound.iter().enumerate() {
            if bound.left.info().kind == Kind::Var && !undone(index) {
                places[index] = pairs.len();
                pairs.push(VarPair {
                    left: bound.left.to_ref().into(),
                    right: bound.right.to_ref().into(),
                    defined: bound.defined,
                });
            }
        }
        let part = |part: Option<Part<'a>>| {
            part.map(|part| {
                let around = part.around.iter().map(|&index| places[index as usize]);
                (Value::from(part.object.to_ref()), around.collect())
            })
        };
        Filled {
            parts: holes.parts.into_iter().map(part).collect(),
            pairs,
        }
    }
}
