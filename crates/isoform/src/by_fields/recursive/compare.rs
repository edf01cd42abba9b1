//! Equality and order: one walk over both values.

use std::cmp::Ordering;

use hashbrown::HashMap;
use num_bigint::BigInt;
use rapidhash::fast::RandomState;

use crate::kernel::container::{Array, Map, asking};
use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynRecursiveCompare, DynRecursiveEqual};
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::class::Class;
use crate::kernel::object::dynamic::get_field_at;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::value::{Value, ValueRef};
use crate::structural::structural_equal;

pub(super) fn equal(section: &mut Section, left: &Value, right: &Value) -> Result<bool> {
    let verdict = Comparison::new(false).run(section, left, right)?;
    Ok(verdict == Verdict::Same)
}

pub(super) fn order(section: &mut Section, left: &Value, right: &Value) -> Result<Ordering> {
    Comparison::new(true)
        .run(section, left, right)?
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
        match equal {
            true => Verdict::Same,
            false => Verdict::Different,
        }
    }
}

/// Two values whose parts are still to be compared.
struct Frame {
    parts: Parts,
    next: usize,
}

enum Parts {
    Fields(Ref<Obj>, Ref<Obj>),
    Items(Array, Array),
    Entries(Map, Map),
}

/// The next two parts, or what is known without them.
enum Next {
    Pair(Value, Value),
    End(Verdict),
}

impl Frame {
    fn next(&mut self, section: &mut Section) -> Result<Next> {
        Ok(match &self.parts {
            Parts::Fields(left, right) => {
                let fields = left.type_info().fields().iter().enumerate();
                let mut compared = fields
                    .skip(self.next)
                    .filter(|(_, field)| field.is_compared());
                let Some((position, _)) = compared.next() else {
                    return Ok(Next::End(Verdict::Same));
                };
                self.next = position + 1;
                let value = |object| get_field_at(object, position).unwrap_or_default();
                Next::Pair(value(left), value(right))
            }
            Parts::Items(left, right) => {
                let position = self.next;
                self.next += 1;
                match (left.get(position), right.get(position)) {
                    (Some(left), Some(right)) => Next::Pair(left.clone(), right.clone()),
                    _ => Next::End(left.len().cmp(&right.len()).into()),
                }
            }
            Parts::Entries(left, right) => {
                let Some((key, value)) = left.reference().entry(self.next) else {
                    return Ok(Next::End(Verdict::Same));
                };
                self.next += 1;
                match asking(section, key, || right.try_get(key))? {
                    Some(other) => Next::Pair(value.clone(), other.clone()),
                    None => Next::End(Verdict::Different),
                }
            }
        })
    }
}

struct Comparison {
    ordered: bool,
    stack: Vec<Frame>,
    pairs: Pairs,
    poll: Poll,
    /// What was found equal so far, where parts of an order need be no more.
    equals: Option<Box<Comparison>>,
}

impl Comparison {
    fn new(ordered: bool) -> Self {
        Comparison {
            ordered,
            stack: Vec::new(),
            pairs: Pairs::default(),
            poll: Poll::default(),
            equals: None,
        }
    }

    /// Compares two values, of the whole question or of a hook's.
    fn run(&mut self, section: &mut Section, left: &Value, right: &Value) -> Result<Verdict> {
        let floor = self.stack.len();
        let mark = self.pairs.mark();
        let verdict = self.run_to(section, floor, left, right);
        if !matches!(verdict, Ok(Verdict::Same)) {
            // A hook may go on and ask for something else: what was taken for
            // equal on the way here no longer is.
            self.stack.truncate(floor);
            self.pairs.roll_back(mark);
        }
        verdict
    }

    fn run_to(
        &mut self,
        section: &mut Section,
        floor: usize,
        left: &Value,
        right: &Value,
    ) -> Result<Verdict> {
        // The first difference decides, so there is nothing to hand upwards.
        let verdict = self.meet(section, left, right)?;
        if verdict != Verdict::Same {
            return Ok(verdict);
        }
        while self.stack.len() > floor
            && let Some(frame) = self.stack.last_mut()
        {
            self.poll.step(section)?;
            let verdict = match frame.next(section)? {
                Next::Pair(left, right) => self.meet(section, &left, &right)?,
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

    /// Compares two values; `Same` may mean that their parts are on the stack.
    fn meet(&mut self, section: &mut Section, left: &Value, right: &Value) -> Result<Verdict> {
        use ValueRef as V;
        let parts = match (left.view(), right.view()) {
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
                let same =
                    left == right || access::outside(section, || structural_equal(left, right))?;
                return self.unordered(same, left, right);
            }
            (V::Array(l), V::Array(r)) => Parts::Items(l.clone(), r.clone()),
            (V::List(l), V::List(r)) => Parts::Items(l.snapshot(), r.snapshot()),
            (V::Map(l), V::Map(r)) => Parts::Entries(l.clone(), r.clone()),
            (V::Dict(l), V::Dict(r)) => Parts::Entries(l.snapshot(), r.snapshot()),
            (V::Object(l), V::Object(r)) if l.type_info().index == r.type_info().index => {
                if l.type_info().class() == Class::Incomparable {
                    return self.unordered(left == right, left, right);
                }
                Parts::Fields(l.clone(), r.clone())
            }
            (V::Function(_), V::Function(_)) => {
                return self.unordered(left == right, left, right);
            }
            (V::None, _) if self.ordered => return Ok(Ordering::Less.into()),
            (_, V::None) if self.ordered => return Ok(Ordering::Greater.into()),
            _ => return self.unordered(false, left, right),
        };
        if !self.ordered && left == right {
            return Ok(Verdict::Same);
        }
        match &parts {
            Parts::Items(l, r) if !self.ordered && l.len() != r.len() => {
                return Ok(Verdict::Different);
            }
            Parts::Entries(..) if self.ordered => {
                let same = self.is_equal(section, left, right)?;
                return self.unordered(same, left, right);
            }
            Parts::Entries(l, r) if l.len() != r.len() => return Ok(Verdict::Different),
            _ => {}
        }
        // A pair that was compared before, or is being compared, holds: had it
        // not, the comparison would be over.
        if !self.pairs.join(left, right) {
            return Ok(Verdict::Same);
        }
        if let Parts::Fields(l, r) = &parts
            && let Some(verdict) = self.call_hook(section, l, r)?
        {
            return Ok(verdict);
        }
        self.stack.push(Frame { parts, next: 0 });
        Ok(Verdict::Same)
    }

    /// What the type of both objects says, if it has a hook.
    fn call_hook(
        &mut self,
        section: &mut Section,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
    ) -> Result<Option<Verdict>> {
        let info = left.type_info();
        if info.hooks.recursive_equal.get().is_none()
            && info.hooks.recursive_compare.get().is_none()
        {
            return Ok(None);
        }
        let outermost = !std::mem::replace(&mut self.pairs.hooked, true);
        let verdict = self.ask(section, info, left, right);
        if outermost {
            self.pairs.hooked = false;
            self.pairs.trail.clear();
        }
        verdict
    }

    fn ask(
        &mut self,
        section: &mut Section,
        info: &'static TypeInfo,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
    ) -> Result<Option<Verdict>> {
        let key = info.key();
        if !self.ordered
            && let Some(hook) = info.hooks.recursive_equal.get()
        {
            let equal = hooks::run(section, DynRecursiveEqual::NAME, key, || {
                hook.call(left, right, &mut |l, r| {
                    Ok(access::traversing(|section| self.run(section, l, r))? == Verdict::Same)
                })
            });
            return equal.map(|equal| Some(equal.into()));
        }
        let Some(hook) = info.hooks.recursive_compare.get() else {
            return Ok(None);
        };
        // Where only equality is asked for, parts without an order still
        // have none for the hook, which orders them.
        let ordered = std::mem::replace(&mut self.ordered, true);
        let order = hooks::run(section, DynRecursiveCompare::NAME, key, || {
            hook.call(left, right, &mut |l, r| {
                access::traversing(|section| self.run(section, l, r))?.ordering(l, r)
            })
        });
        self.ordered = ordered;
        Ok(Some(match order? {
            Ordering::Equal => Verdict::Same,
            _ if !ordered => Verdict::Different,
            other => Verdict::Ordered(other),
        }))
    }

    fn floats(&self, left: f64, right: f64) -> Result<Verdict> {
        if !self.ordered {
            return Ok((left == right || left.is_nan() && right.is_nan()).into());
        }
        let ordering = left.partial_cmp(&right);
        let ordering = ordering.ok_or_else(|| Error::type_error("NaN has no order"))?;
        Ok(ordering.into())
    }

    /// Whether two values without an order are equal, which is remembered: what
    /// is shared among several of them is compared once.
    fn is_equal(&mut self, section: &mut Section, left: &Value, right: &Value) -> Result<bool> {
        let fresh = || Box::new(Comparison::new(false));
        let mut equals = self.equals.take().unwrap_or_else(fresh);
        let same = equals.run(section, left, right)? == Verdict::Same;
        // After a difference, what was taken for equal on the way need not be.
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

#[cold]
fn no_order(left: &Value, right: &Value) -> Error {
    let (left, right) = (left.type_name(), right.type_name());
    Error::type_error(match left == right {
        true => format!("values of type {left} have no order"),
        false => format!("{left} and {right} have no order"),
    })
}

/// Classes of objects that were met as pairs. Equality carries over within a
/// class, so the number of joins is below the number of objects.
#[derive(Default)]
struct Pairs {
    members: HashMap<u64, u32, RandomState>,
    parents: Vec<u32>,
    /// Whether a hook runs, which may ask for what does not hold and go on.
    hooked: bool,
    /// What was overwritten in `parents` meanwhile, to be taken back.
    trail: Vec<(u32, u32)>,
}

impl Pairs {
    /// Joins the classes of both; false when they are one already.
    fn join(&mut self, left: &Value, right: &Value) -> bool {
        let (Some(left), Some(right)) = (left.as_object(), right.as_object()) else {
            return true;
        };
        let (left, right) = (self.class(left.identity()), self.class(right.identity()));
        if left != right {
            self.set_parent(left, right);
        }
        left != right
    }

    fn class(&mut self, ident: u64) -> u32 {
        let next = self.parents.len() as u32;
        let mut class = *self.members.entry(ident).or_insert(next);
        if class == next {
            self.parents.push(next);
        }
        while self.parents[class as usize] != class {
            let parent = self.parents[class as usize];
            let above = self.parents[parent as usize];
            if above != parent {
                self.set_parent(class, above);
            }
            class = above;
        }
        class
    }

    fn set_parent(&mut self, class: u32, parent: u32) {
        let old = std::mem::replace(&mut self.parents[class as usize], parent);
        if self.hooked {
            self.trail.push((class, old));
        }
    }

    fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all joins since the mark.
    fn roll_back(&mut self, mark: usize) {
        for (class, old) in self.trail.drain(mark..).rev() {
            self.parents[class as usize] = old;
        }
    }
}
