//! Declared nodes: kinds, scopes, and the bijection.

use super::super::mismatch::Reason;
use super::super::scope::Region;
use super::report::Side;
use super::{Engine, EntryResult, Job, LEFT, RIGHT, RecordedBinding, VarPair};
use crate::kernel::error::Result;
use crate::kernel::object::access::Section;
use crate::kernel::object::prefetch::prefetch_ahead;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::ObjRef;
use crate::kernel::types::Kind;

impl<'a> Engine<'a> {
    #[inline]
    pub(super) fn enter_node<const REC: bool>(
        &mut self,
        section: &mut Section,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        info: &'static TypeInfo,
        region: Region,
    ) -> Result<EntryResult<'a>> {
        let mut inner = region;
        match info.kind {
            Kind::None => return Ok(EntryResult::Different),
            Kind::Singleton => {
                if l.same_as(r) {
                    return Ok(EntryResult::Equal);
                }
                return Ok(self.differ_objects::<REC>(Reason::NotSame, l, r));
            }
            Kind::ConstTree if l.same_as(r) => return Ok(EntryResult::Equal),
            Kind::Tree | Kind::ConstTree => {
                // A scope is remembered even with one owner: the nodes around may be
                // forgotten if the scope shadows their variables, and the scope is
                // often closed itself.
                let result = if info.scope {
                    self.is_known(l, r, region)?
                } else if info.has_children {
                    self.begin_shared(l, r, region)?
                } else {
                    // A hook may visit objects outside of all compared fields.
                    if !info.hooks.are_structural_defaults() {
                        self.open_unremembered(l, r, region)?;
                    }
                    None
                };
                if let Some(result) = result {
                    return Ok(result);
                }
            }
            Kind::Dag => match self.bound_pair(l, r) {
                Some(Ok(index)) => {
                    self.levels.use_dag(index);
                    return Ok(EntryResult::Equal);
                }
                Some(Err(())) => return Ok(self.differ_bound::<REC>(Reason::Sharing, l, r)),
                None => {
                    if self.is_refuted(l, r, region) {
                        return Ok(EntryResult::Different);
                    }
                    self.note_visit(l, r);
                    let state = self.tables.bindings.state().unwrap_or(u32::MAX);
                    self.push(Job::EndDag, l, r, region);
                    if let Some(frame) = self.stack.last_mut() {
                        frame.next = state;
                    }
                    self.open_unremembered(l, r, region)?;
                }
            },
            Kind::Var => match self.var_pair::<REC>(l, r, region, false) {
                VarPair::Equal => return Ok(EntryResult::Equal),
                VarPair::Different => return Ok(self.differ_bound::<REC>(Reason::Bound, l, r)),
                VarPair::Unbound => {
                    self.note_var(l, r, region);
                    self.push(Job::EndVar, l, r, region);
                    let before = self.count_inner(region);
                    if let Some(frame) = self.stack.last_mut() {
                        frame.extra = before;
                    }
                    self.open_unremembered(l, r, region)?;
                    inner = region.inside_var();
                }
            },
        }
        if info.scope {
            self.push(Job::EndScope, l, r, region);
            self.tables.bindings.open_scope(&mut self.levels);
        }
        if info.has_children {
            prefetch_ahead(l);
            prefetch_ahead(r);
        }
        let (l, r) = self.contents(l, r);
        if info.hooks.are_structural_defaults() {
            self.push(Job::Fields, l, r, inner);
            return Ok(EntryResult::Open);
        }
        self.call_hook::<REC>(section, l, r, info, inner)
    }

    /// The number of bindings of open scopes inside of the level at which a variable of
    /// a region is bound.
    fn count_inner(&self, region: Region) -> u32 {
        let level = region.def_level().unwrap_or(0);
        self.tables.bindings.count_above(level) as u32
    }

    /// Binds two variables whose fields are equal; `before` is the
    /// [count of inner bindings](Self::count_inner) before the fields were visited.
    pub(super) fn end_var<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        before: u32,
    ) -> bool {
        if !matches!(self.var_pair::<REC>(l, r, region, true), VarPair::Equal) {
            return false;
        }
        if self.count_inner(region) != before {
            // A second visit would find the variable bound, and would not repeat the
            // bindings that its fields make for the rest of an inner scope.
            self.levels.create(region.def_level().unwrap_or(0));
        }
        true
    }

    /// The binding of two dag nodes that are partners, or an error if they are not;
    /// None if both are unbound.
    pub(super) fn bound_pair(&mut self, l: ObjRef<'a>, r: ObjRef<'a>) -> Option<Result<u32, ()>> {
        let left = self.tables.bindings.of(LEFT, l.ident());
        let right = self.tables.bindings.of(RIGHT, r.ident());
        match (left, right) {
            (None, None) => None,
            (Some(left), Some(right)) if left == right => Some(Ok(left)),
            _ => {
                self.levels.use_absence();
                Some(Err(()))
            }
        }
    }

    /// True if two variables are certainly equal; the common case of
    /// [`var_pair`](Self::var_pair).
    #[inline(always)]
    pub(super) fn is_bound_use(&mut self, l: ObjRef<'a>, r: ObjRef<'a>, region: Region) -> bool {
        if region.def_level().is_some() {
            return false;
        }
        let Some(left) = self.tables.bindings.of(LEFT, l.ident()) else {
            return false;
        };
        if self.tables.bindings.of(RIGHT, r.ident()) != Some(left) {
            return false;
        }
        let level = self.tables.bindings.get(left).level;
        self.levels.use_var(left, level, region);
        true
    }

    /// Compares two variables by their bindings; with `bind`, the fields are
    /// known to be equal, and an unbound pair is bound or rejected.
    #[inline]
    pub(super) fn var_pair<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        region: Region,
        bind: bool,
    ) -> VarPair {
        match self.var_level([l.ident(), r.ident()], region) {
            Ok(equal) => equal,
            Err(_) if !bind => VarPair::Unbound,
            Err(None) => {
                self.levels.use_absence();
                VarPair::Different
            }
            Err(Some(level)) => {
                let index = self.bind::<REC>(l, r, level, region.is_field());
                self.levels.use_var(index, level, region);
                VarPair::Equal
            }
        }
    }

    /// Compares two variables by their bindings. If no binding applies at this place,
    /// the error is the level at which the variables may be bound to each other, or
    /// None for different variables.
    #[inline(always)]
    pub(super) fn var_level(
        &mut self,
        idents: [u64; 2],
        region: Region,
    ) -> Result<VarPair, Option<u32>> {
        let left = self.tables.bindings.of(LEFT, idents[LEFT]);
        let right = self.tables.bindings.of(RIGHT, idents[RIGHT]);
        let def_level = region.def_level();
        if left.is_some() || right.is_some() {
            let level =
                |index: Option<u32>| index.map(|index| self.tables.bindings.get(index).level);
            let (left_level, right_level) = (level(left), level(right));
            // A definition region rebinds variables bound by an outer scope.
            let shadows = def_level.is_some_and(|def| {
                left_level.is_none_or(|l| l < def) && right_level.is_none_or(|r| r < def)
            });
            if !shadows {
                let (Some(index), true) = (left, left == right) else {
                    self.levels.use_absence();
                    return Ok(VarPair::Different);
                };
                self.levels.use_var(index, left_level.unwrap_or(0), region);
                return Ok(VarPair::Equal);
            }
        }
        let is_same = idents[LEFT] == idents[RIGHT];
        Err(def_level.or(is_same.then_some(0)))
    }

    pub(super) fn bind<const REC: bool>(
        &mut self,
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        level: u32,
        defined: bool,
    ) -> u32 {
        let idents = [l.ident(), r.ident()];
        // A dag pair stays bound for good, but bindings inside the pair end.
        let repeats = l.info().kind == Kind::Var;
        self.bind_idents::<REC>(idents, l, r, level, repeats, defined)
    }

    /// Binds objects by their numbers; the recorder stores the pair.
    pub(super) fn bind_idents<const REC: bool>(
        &mut self,
        idents: [u64; 2],
        l: ObjRef<'a>,
        r: ObjRef<'a>,
        level: u32,
        repeats: bool,
        defined: bool,
    ) -> u32 {
        let index = self
            .tables
            .bindings
            .bind(idents, level, repeats, &mut self.levels);
        if REC {
            self.bound.push(RecordedBinding {
                left: l,
                right: r,
                defined,
            });
            if self.watch == Some(index) {
                self.watched = Some((self.steps(Side::Left), self.steps(Side::Right)));
            }
        }
        index
    }
}
