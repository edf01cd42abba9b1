//! The same value with equal subterms as one object.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::comparison::engine_equal;
use super::summary::{DEFINES, INCOMPARABLE, IRREGULAR, Node};
use super::table::{ClassCosts, ClassOptions};
use super::walk::Walk;
use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Poll, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::class::Payload;
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::cursor::{Cursor, Part, View};
use crate::traverse::rewrite::{Outcome, Policy, Progress, Rewriter};

type Idents = HashSet<u64, RandomState>;

/// Returns a structurally equal value in which equal subterms are one object: less
/// memory, smaller files, and traversals that visit every shared part once.
///
/// The first occurrence stays, with its ignored fields. Only nodes of kind tree and
/// const-tree, arrays and maps are merged, and only if they have the same free
/// variables and no definitions that outlive them. Variables and their fields, lists,
/// dicts, objects with mutable fields, custom comparisons and keys of maps, also where
/// the keys are values, stay unchanged, with all objects inside. A dag node is never merged, and is rebuilt where
/// a part has changed unless the dag node also occurs inside an unchanged object of
/// these kinds. Without repetitions, the result is the same object.
///
/// Takes a table of [classes](super::subterm_classes) and a rewrite, and compares every
/// replaced subterm with its replacement: linear in the distinct objects.
///
/// # Errors
///
/// As [`subterm_classes`](super::subterm_classes).
///
/// ```
/// use isoform::compare::intern;
/// use isoform::{Array, Value};
///
/// let pair = || Value::from(Array::from(vec![1i64, 2]));
/// let value: Array<Value> = intern(vec![pair(), pair()])?.extract()?;
/// # use isoform::values::ValueRef;
/// let idents: Vec<_> = value.values().iter().filter_map(Value::as_object).collect();
/// assert_eq!(idents[0].identity(), idents[1].identity());
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn intern(value: impl Into<Value>) -> Result<Value> {
    let value = value.into();
    let (outcome, keys, mut walked) = access::traversing(|section| {
        let options = ClassOptions {
            mutable_by_identity: true,
            ..ClassOptions::default()
        };
        let mut walk = Walk::new(options).with_dags_by_identity();
        let outcome = walk.value(section, &value);
        let keys = std::mem::take(&mut walk.keys);
        (outcome, keys, walk.finish())
    });
    outcome?;
    walked.classify()?;
    let mut poll = Poll::default();
    let mut plans = HashMap::default();
    let mut counts: HashMap<u32, u32, RandomState> = HashMap::default();
    let mergeable = |node: &&Node| {
        let info = node.object.type_info();
        let is_shareable = match info.class() {
            Payload::Sequence | Payload::Mapping => true,
            Payload::Plain | Payload::Node => {
                matches!(info.kind, Kind::Tree | Kind::ConstTree) && !info.may_change()
            }
            _ => false,
        };
        is_shareable
            && node.summary.flags & (IRREGULAR | INCOMPARABLE | DEFINES) == 0
            && !keys.contains(&node.object.identity())
    };
    for node in walked.nodes.iter().filter(mergeable) {
        poll.step_outside()?;
        *counts.entry(node.class).or_default() += 1;
    }
    for node in walked.nodes.iter().filter(mergeable) {
        poll.step_outside()?;
        if counts[&node.class] > 1 {
            plans.insert(node.object.identity(), node.class);
        }
    }
    if plans.is_empty() {
        return Ok(value);
    }
    let parts = Arena::default();
    access::traversing(|section| {
        let mut interning = Interning {
            rewriter: Rewriter::new(&parts),
            classes: plans,
            firsts: HashMap::default(),
            results: HashMap::default(),
            pinned: pinned(section, &walked.nodes, &keys)?,
            costs: ClassCosts::default(),
        };
        let outcome = interning.run(section, Part::alone(&value, RegionKind::Use));
        Ok(match outcome? {
            Outcome::New(new_value) => new_value,
            Outcome::Same => value.clone(),
        })
    })
}

/// The objects that must stay unchanged: keys of maps, which are compared by identity,
/// also where they are values; and the dag nodes inside objects that are not rebuilt.
///
/// # Errors
///
/// Errors from the host that end the operation.
fn pinned(section: &mut Section, nodes: &[Node], keys: &Idents) -> Result<Idents> {
    let mut poll = Poll::default();
    let mut seen = Idents::default();
    let mut idents = keys.clone();
    let roots = nodes.iter().map(|node| node.object.borrowed());
    let stays = |object: &ObjRef<'_>| !can_rebuild(*object) || keys.contains(&object.ident());
    let mut stack: Vec<ObjRef<'_>> = roots.filter(stays).collect();
    while let Some(object) = stack.pop() {
        poll.step(section)?;
        if !object.info().class().has_parts() || !seen.insert(object.ident()) {
            continue;
        }
        if object.info().kind == Kind::Dag {
            idents.insert(object.ident());
        }
        let part = Part::object(object, RegionKind::Use);
        if let Some(mut cursor) = Cursor::open(section, object, part, View::Declared) {
            while let Some(part) = cursor.next(section) {
                stack.extend(part.met.object());
            }
        }
    }
    Ok(idents)
}

/// True for an object whose parts may be replaced.
fn can_rebuild(object: ObjRef<'_>) -> bool {
    let info = object.info();
    match info.class() {
        Payload::Plain => !info.may_change(),
        Payload::Node => {
            matches!(info.kind, Kind::Tree | Kind::ConstTree | Kind::Dag)
                && !info.may_change()
                && info.hooks.are_structural_defaults()
        }
        Payload::Sequence | Payload::Mapping => true,
        _ => false,
    }
}

struct Interning<'a> {
    rewriter: Rewriter<'a, ()>,
    /// The classes with several members, by the identity numbers of the members.
    classes: HashMap<u64, u32, RandomState>,
    /// The first finished member, by class.
    firsts: HashMap<u32, ObjRef<'a>, RandomState>,
    results: HashMap<u64, Outcome, RandomState>,
    /// Objects that stay the same objects.
    pinned: Idents,
    costs: ClassCosts,
}

impl<'a> Policy<'a> for Interning<'a> {
    type Extra = ();

    fn rewriter(&mut self) -> &mut Rewriter<'a, ()> {
        &mut self.rewriter
    }

    fn wants_plain(&self) -> bool {
        false
    }

    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        let result = match part.met {
            PartRef::Object(object) if !part.is_key => self.meet_part(section, object, part)?,
            _ => Some(Outcome::Same),
        };
        Ok(self.rewriter.settle(result))
    }

    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let Some((cursor, (), outcome)) = self.rewriter.build(section, true)? else {
            return Ok(Progress::Same);
        };
        let object = cursor.object();
        self.results.insert(object.ident(), outcome.clone());
        if let Some(class) = self.classes.get(&object.ident()) {
            self.firsts.entry(*class).or_insert(object);
        }
        Ok(self.rewriter.settle(Some(outcome)))
    }
}

impl<'a> Interning<'a> {
    fn meet_part(
        &mut self,
        section: &mut Section,
        object: ObjRef<'a>,
        part: Part<'a>,
    ) -> Result<Option<Outcome>> {
        let rebuilds = can_rebuild(object) && !self.pinned.contains(&object.ident());
        if !rebuilds && !self.classes.contains_key(&object.ident()) {
            return Ok(Some(Outcome::Same));
        }
        if let Some(outcome) = self.results.get(&object.ident()) {
            return Ok(Some(outcome.clone()));
        }
        if let Some(first) = self.first(object)
            && self.is_equal(section, first, object)?
        {
            let first_outcome = self.results.get(&first.ident()).cloned();
            let value = first_outcome
                .unwrap_or(Outcome::Same)
                .into_value(PartRef::Object(first));
            let outcome = Outcome::of(value, part.met);
            self.results.insert(object.ident(), outcome.clone());
            return Ok(Some(outcome));
        }
        let cursor = if rebuilds {
            Cursor::open(section, object, part, View::Compared)
        } else {
            None
        };
        let Some(cursor) = cursor else {
            if let Some(class) = self.classes.get(&object.ident()) {
                self.firsts.entry(*class).or_insert(object);
            }
            return Ok(Some(Outcome::Same));
        };
        self.rewriter.push(cursor, ());
        Ok(None)
    }

    fn first(&self, object: ObjRef<'a>) -> Option<ObjRef<'a>> {
        let class = self.classes.get(&object.ident())?;
        let first = self.firsts.get(class).copied()?;
        (!first.same_as(object)).then_some(first)
    }

    /// True if comparison confirms that an object may replace another object.
    fn is_equal(
        &mut self,
        section: &mut Section,
        first: ObjRef<'a>,
        object: ObjRef<'a>,
    ) -> Result<bool> {
        let costs = &mut self.costs;
        access::outside(section, || {
            let (first, object) = (Value::from(first.to_ref()), Value::from(object.to_ref()));
            engine_equal(&first, &object, false, costs)
        })
    }
}
