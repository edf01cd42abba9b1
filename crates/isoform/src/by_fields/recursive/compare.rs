//! Equality and order: one walk over both values.

use std::cmp::Ordering;

use num_bigint::BigInt;

use crate::kernel::container::{Entries, asking};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynRecursiveCompare, DynRecursiveEqual};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::table::TypeInfo;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::RegionKind;
use crate::kernel::union_find::UnionFind;
use crate::kernel::value::{Value, ValueRef};
use crate::structural::ident_map::IdentMap;
use crate::structural::structural_equal;
use crate::traverse::cursor::{Cursor, Part, View};

pub(super) fn equal(section: &mut Section, left: &Value, right: &Value) -> Result<bool> {
    let parts = Arena::default();
    let verdict =
        Comparison::new(false, &parts).run(section, PartRef::of(left), PartRef::of(right))?;
    Ok(verdict == Verdict::Same)
}

pub(super) fn order(section: &mut Section, left: &Value, right: &Value) -> Result<Ordering> {
    let parts = Arena::default();
    Comparison::new(true, &parts)
        .run(section, PartRef::of(left), PartRef::of(right))?
        .ordering(left, right)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Same,
    Different,
    Ordered(Ordering),
}

impl Verdict {
    fn ordering(self, left: &Value, right: &Value) -> Result<Ordering> {
        Ok(match self {
            Verdict::Same => Ordering::Equal,
            Verdict::Ordered(ordering) => ordering,
            // Without an order, a difference is an error.
            Verdict::Different => return Err(no_order(left, right)),
        })
    }
}

impl From<Ordering> for Verdict {
    fn from(ordering: Ordering) -> Self {
        match ordering {
            Ordering::Equal => Verdict::Same,
            other => Verdict::Ordered(other),
        }
    }
}

impl From<bool> for Verdict {
    fn from(equal: bool) -> Self {
        if equal {
            Verdict::Same
        } else {
            Verdict::Different
        }
    }
}

/// Two objects with parts still to compare.
struct Frame<'a> {
    left: Cursor<'a>,
    right: Cursor<'a>,
}

/// The next two parts, or the verdict without further parts.
enum Next<'a> {
    Pair(PartRef<'a>, PartRef<'a>),
    End(Verdict),
}

impl<'a> Frame<'a> {
    fn next(&mut self, section: &mut Section) -> Result<Next<'a>> {
        loop {
            let left = self.left.next(section);
            if let Some(entries) = self.right.entries() {
                return self.value_of_key(section, left, entries);
            }
            return Ok(match (left, self.right.next(section)) {
                (Some(left), Some(right)) => {
                    let field = self.left.field(self.left.position() - 1);
                    if field.is_some_and(|field| !field.is_compared()) {
                        continue;
                    }
                    Next::Pair(left.met, right.met)
                }
                (left, right) => Next::End(left.is_some().cmp(&right.is_some()).into()),
            });
        }
    }

    /// The value of the left key taken last, and the value of its partner.
    fn value_of_key(
        &mut self,
        section: &mut Section,
        key: Option<Part<'a>>,
        entries: &'a Entries,
    ) -> Result<Next<'a>> {
        let (Some(key), Some(value)) = (key, self.left.next(section)) else {
            return Ok(Next::End(Verdict::Same));
        };
        let key = key.met.to_value();
        let partner = asking(section, &key, || entries.get(&key))?;
        Ok(match partner {
            Some(other) => Next::Pair(value.met, PartRef::of(other)),
            None => Next::End(Verdict::Different),
        })
    }
}

struct Comparison<'a> {
    ordered: bool,
    /// Owners of values that hooks pass in.
    parts: &'a Arena,
    stack: Vec<Frame<'a>>,
    pairs: Pairs,
    poll: Poll,
    /// The pairs already found equal, for parts of an order that need only be equal.
    equals: Option<Box<Comparison<'a>>>,
}

impl<'a> Comparison<'a> {
    fn new(ordered: bool, parts: &'a Arena) -> Self {
        Comparison {
            ordered,
            parts,
            stack: Vec::new(),
            pairs: Pairs::default(),
            poll: Poll::default(),
            equals: None,
        }
    }

    /// Compares two values of the caller or of a hook.
    fn run(
        &mut self,
        section: &mut Section,
        left: PartRef<'a>,
        right: PartRef<'a>,
    ) -> Result<Verdict> {
        let floor = self.stack.len();
        let mark = self.pairs.classes.mark();
        let verdict = self.run_to(section, floor, left, right);
        if !matches!(verdict, Ok(Verdict::Same)) {
            // A hook may continue and ask for something else: pairs assumed
            // equal on the way here no longer are.
            self.stack.truncate(floor);
            self.pairs.classes.roll_back(mark);
        }
        verdict
    }

    fn run_to(
        &mut self,
        section: &mut Section,
        floor: usize,
        left: PartRef<'a>,
        right: PartRef<'a>,
    ) -> Result<Verdict> {
        // The first difference decides, so no verdict is passed upwards.
        let verdict = self.meet(section, left, right)?;
        if verdict != Verdict::Same {
            return Ok(verdict);
        }
        while self.stack.len() > floor
            && let Some(frame) = self.stack.last_mut()
        {
            self.poll.step(section)?;
            let verdict = match frame.next(section)? {
                Next::Pair(left, right) => self.meet(section, left, right)?,
                Next::End(verdict) => {
                    self.stack.pop();
                    verdict
                }
            };
            if verdict != Verdict::Same {
                return Ok(verdict);
            }
        }
        Ok(Verdict::Same)
    }

    /// Compares two values; `Same` may leave their parts on the stack.
    fn meet(
        &mut self,
        section: &mut Section,
        left: PartRef<'a>,
        right: PartRef<'a>,
    ) -> Result<Verdict> {
        use ValueRef as V;
        let (l, r) = (left.to_value(), right.to_value());
        let same_type = match (l.view(), r.view()) {
            (V::None, V::None) => return Ok(Verdict::Same),
            (V::Bool(l), V::Bool(r)) => return Ok(l.cmp(&r).into()),
            (V::Int(l), V::Int(r)) => return Ok(l.cmp(&r).into()),
            (V::BigInt(l), V::BigInt(r)) => return Ok(l.cmp(r).into()),
            (V::Int(l), V::BigInt(r)) => return Ok(BigInt::from(l).cmp(r).into()),
            (V::BigInt(l), V::Int(r)) => return Ok(l.cmp(&BigInt::from(r)).into()),
            (V::Float(l), V::Float(r)) => return self.floats(l, r),
            (V::Str(l), V::Str(r)) => return Ok(l.cmp(r).into()),
            (V::Bytes(l), V::Bytes(r)) => return Ok(l.cmp(r).into()),
            (V::DType(l), V::DType(r)) => return Ok(l.cmp(&r).into()),
            (V::Device(l), V::Device(r)) => return Ok(l.cmp(&r).into()),
            (V::Shape(l), V::Shape(r)) => return Ok(l[..].cmp(&r[..]).into()),
            (V::Tensor(_), V::Tensor(_)) => {
                let same = l == r || access::outside(section, || structural_equal(&l, &r))?;
                return self.unordered(same, &l, &r);
            }
            (V::Object(l), V::Object(r)) => l.type_info().index == r.type_info().index,
            (V::None, _) if self.ordered => return Ok(Ordering::Less.into()),
            (_, V::None) if self.ordered => return Ok(Ordering::Greater.into()),
            _ => l.container().is_some() && l.container() == r.container(),
        };
        let (PartRef::Object(left), PartRef::Object(right)) = (left, right) else {
            return self.unordered(false, &l, &r);
        };
        let cursors = if same_type {
            (declared(section, left), declared(section, right))
        } else {
            (None, None)
        };
        let (Some(left_parts), Some(right_parts)) = cursors else {
            return self.unordered(l == r, &l, &r);
        };
        if !self.ordered && left.same_as(right) {
            return Ok(Verdict::Same);
        }
        match left_parts.entries() {
            Some(_) if self.ordered => {
                let same = self.is_equal(section, left, right)?;
                return self.unordered(same, &l, &r);
            }
            _ if self.ordered => {}
            _ if left_parts.len() != right_parts.len() => return Ok(Verdict::Different),
            _ => {}
        }
        // A pair that was compared before, or is being compared, is equal:
        // otherwise the comparison would have ended.
        if !self.pairs.join(left.ident(), right.ident()) {
            return Ok(Verdict::Same);
        }
        if let Some(verdict) = self.call_hook(section, left, right)? {
            return Ok(verdict);
        }
        self.stack.push(Frame {
            left: left_parts,
            right: right_parts,
        });
        Ok(Verdict::Same)
    }

    /// The verdict of the hook of both objects' type, if any.
    fn call_hook(
        &mut self,
        section: &mut Section,
        left: ObjRef<'a>,
        right: ObjRef<'a>,
    ) -> Result<Option<Verdict>> {
        let info = left.info();
        if info.hooks.recursive_equal.get().is_none()
            && info.hooks.recursive_compare.get().is_none()
        {
            return Ok(None);
        }
        // The hook may ask for unequal pairs and continue.
        let inside_another = self.pairs.classes.record(true);
        let verdict = self.ask(section, info, left, right);
        if !inside_another {
            self.pairs.classes.record(false);
        }
        verdict
    }

    fn ask(
        &mut self,
        section: &mut Section,
        info: &'static TypeInfo,
        left: ObjRef<'a>,
        right: ObjRef<'a>,
    ) -> Result<Option<Verdict>> {
        let key = info.key();
        if !self.ordered
            && let Some(hook) = info.hooks.recursive_equal.get()
        {
            let equal = hooks::run(section, DynRecursiveEqual::NAME, key, || {
                hook.call(left.as_ref(), right.as_ref(), &mut |l, r| {
                    Ok(self.ask_part(l, r)? == Verdict::Same)
                })
            });
            return equal.map(|equal| Some(equal.into()));
        }
        let Some(hook) = info.hooks.recursive_compare.get() else {
            return Ok(None);
        };
        // Even if only equality is requested, the hook orders its parts, so parts
        // without an order are still errors for the hook.
        let ordered = std::mem::replace(&mut self.ordered, true);
        let order = hooks::run(section, DynRecursiveCompare::NAME, key, || {
            hook.call(left.as_ref(), right.as_ref(), &mut |l, r| {
                self.ask_part(l, r)?.ordering(l, r)
            })
        });
        self.ordered = ordered;
        Ok(Some(match order? {
            Ordering::Equal => Verdict::Same,
            _ if !ordered => Verdict::Different,
            other => Verdict::Ordered(other),
        }))
    }

    /// Compares two values passed in by a hook.
    fn ask_part(&mut self, left: &Value, right: &Value) -> Result<Verdict> {
        let (left, right) = (self.parts.keep_value(left), self.parts.keep_value(right));
        access::traversing(|section| self.run(section, PartRef::of(left), PartRef::of(right)))
    }

    fn floats(&self, left: f64, right: f64) -> Result<Verdict> {
        if !self.ordered {
            return Ok((left == right || left.is_nan() && right.is_nan()).into());
        }
        let ordering = left
            .partial_cmp(&right)
            .ok_or_else(|| Error::type_error("NaN has no order"))?;
        Ok(ordering.into())
    }

    /// True if two values without an order are equal. The result is remembered, to
    /// compare parts shared among several values only once.
    fn is_equal(
        &mut self,
        section: &mut Section,
        left: ObjRef<'a>,
        right: ObjRef<'a>,
    ) -> Result<bool> {
        let fresh = || Box::new(Comparison::new(false, self.parts));
        let mut equals = self.equals.take().unwrap_or_else(fresh);
        let same =
            equals.run(section, PartRef::Object(left), PartRef::Object(right))? == Verdict::Same;
        // After a difference, pairs assumed equal on the way need not be.
        self.equals = same.then_some(equals);
        Ok(same)
    }

    fn unordered(&self, same: bool, left: &Value, right: &Value) -> Result<Verdict> {
        if self.ordered && !same {
            return Err(no_order(left, right));
        }
        Ok(same.into())
    }
}

/// The parts of an object visited by comparison by fields.
fn declared<'a>(section: &Section, object: ObjRef<'a>) -> Option<Cursor<'a>> {
    let part = Part {
        met: PartRef::Object(object),
        region: RegionKind::Use,
        is_key: false,
    };
    Cursor::open(section, object, part, View::Declared)
}

#[cold]
fn no_order(left: &Value, right: &Value) -> Error {
    let (left, right) = (left.type_name(), right.type_name());
    Error::type_error(if left == right {
        format!("values of type {left} have no order")
    } else {
        format!("{left} and {right} have no order")
    })
}

/// Classes of objects visited as pairs. Equality is transitive within a class, so the
/// number of joins is below the number of objects.
#[derive(Default)]
struct Pairs {
    members: IdentMap,
    classes: UnionFind<(), true>,
}

impl Pairs {
    /// Joins the classes of both. Returns false if both are in the same class already.
    fn join(&mut self, left: u64, right: u64) -> bool {
        let (left, right) = (self.member(left), self.member(right));
        self.classes.join(left, right)
    }

    fn member(&mut self, ident: u64) -> u32 {
        self.members.get(ident).unwrap_or_else(|| {
            let member = self.classes.add(());
            self.members.set(ident, Some(member));
            member
        })
    }
}
