//! Objects with custom comparisons that mention no object bound elsewhere.
//!
//! If such an object equals another object in one place, they are equal in every place.
//! Other hashes therefore represent the object by the number of its class, and
//! comparison runs once per object.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::ask::{engine_equal, engine_hash};
use super::options::ClassCosts;
use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::class::Payload;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::view::{ObjRef, PartRef};
use crate::kernel::types::Kind;
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;
use crate::traverse::cursor::{Cursor, Part, View};

/// The objects known to be ground, and the classes of objects with custom comparisons.
#[derive(Default)]
pub(super) struct Ground {
    known: HashSet<u64, RandomState>,
    buckets: HashMap<u64, Vec<u32>, RandomState>,
    representatives: Vec<Ref<Obj>>,
}

impl Ground {
    /// True if no variable, dag node or callable is reachable through any field, and no
    /// mutable object either unless contents are compared.
    pub(super) fn contains(
        &mut self,
        section: &Section,
        object: ObjRef<'_>,
        mutable_by_identity: bool,
    ) -> bool {
        let depends = |found: ObjRef<'_>| {
            let info = found.info();
            let by_context = match info.class() {
                Payload::Incomparable => true,
                Payload::Plain | Payload::Node => matches!(info.kind, Kind::Var | Kind::Dag),
                _ => false,
            };
            by_context || mutable_by_identity && can_change(found)
        };
        let mut seen = HashSet::default();
        let found = search(section, object, &mut seen, &self.known, depends);
        if !found {
            self.known.extend(seen);
        }
        !found
    }

    /// True if a mutable object is reachable.
    pub(super) fn has_mutable(&self, section: &Section, object: ObjRef<'_>) -> bool {
        let mut seen = HashSet::default();
        search(section, object, &mut seen, &self.known, can_change)
    }

    /// The number of the class of a ground object; None if the object cannot be
    /// compared.
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons, except for `TypeError`.
    pub(super) fn class(
        &mut self,
        section: &mut Section,
        object: ObjRef<'_>,
        costs: &mut ClassCosts,
    ) -> Result<Option<u32>> {
        access::outside(section, || {
            let value = Value::from(object.to_ref());
            let Some(hash) = engine_hash(&value, false, costs)? else {
                return Ok(None);
            };
            let bucket = self.buckets.entry(hash).or_default();
            for &class in bucket.iter() {
                let other = &self.representatives[class as usize];
                if engine_equal(&Value::from(other), &value, false, costs)? {
                    return Ok(Some(class));
                }
            }
            let class = self.representatives.len() as u32;
            bucket.push(class);
            self.representatives.push(object.to_ref());
            Ok(Some(class))
        })
    }
}

/// True if the contents of an object may change.
fn can_change(object: ObjRef<'_>) -> bool {
    let info = object.info();
    info.class() == Payload::Mutable || info.may_change()
}

/// True if an object with this property is reachable. The search skips objects known to
/// have no such object below.
fn search<'a>(
    section: &Section,
    root: ObjRef<'a>,
    seen: &mut HashSet<u64, RandomState>,
    known: &HashSet<u64, RandomState>,
    wanted: impl Fn(ObjRef<'a>) -> bool,
) -> bool {
    let mut stack = vec![root];
    while let Some(object) = stack.pop() {
        if known.contains(&object.ident()) || !seen.insert(object.ident()) {
            continue;
        }
        if wanted(object) {
            return true;
        }
        let part = Part::object(object, RegionKind::Use);
        let Some(mut cursor) = Cursor::open(section, object, part, View::Declared) else {
            continue;
        };
        while let Some(part) = cursor.next(section) {
            if let PartRef::Object(below) = part.met {
                stack.push(below);
            }
        }
    }
    false
}
