//! The variables of a value, and their roles.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::kernel::error::Result;
use crate::kernel::object::access::{self, Poll};
use crate::kernel::object::view::PartRef;
use crate::kernel::types::{Kind, RegionKind};
use crate::kernel::value::Value;
use crate::traverse::cursor::{Cursor, Part, View};
use crate::traverse::{Sharing, WalkOptions, WalkResult, walk_objects};

pub(super) type Idents = HashSet<u64, RandomState>;

/// The variables of a value.
#[derive(Clone, Default)]
pub(super) struct Variables {
    /// Variables in definition fields.
    pub(super) defined: Idents,
    /// Variables in other fields.
    pub(super) used: HashMap<u64, Value, RandomState>,
    /// Variables in keys of maps, which are compared by identity.
    pub(super) keys: Idents,
}

impl Variables {
    /// The variables of a value. Linear in the number of distinct objects.
    pub(super) fn of(root: &Value) -> Result<Variables> {
        Variables::collect(root, true)
    }

    /// The variables of a value, without variables in the fields of used variables:
    /// replacing a variable replaces its fields, too.
    pub(super) fn of_replacement(root: &Value) -> Result<Variables> {
        Variables::collect(root, false)
    }

    fn collect(root: &Value, fields_of_uses: bool) -> Result<Variables> {
        let mut variables = Variables::default();
        let mut seen: HashSet<(u64, RegionKind, bool), RandomState> = HashSet::default();
        let mut stack = vec![(Part::alone(root, RegionKind::Use), false)];
        let mut poll = Poll::default();
        access::traversing(|section| {
            while let Some((part, in_key)) = stack.pop() {
                poll.step(section)?;
                let PartRef::Object(object) = part.met else {
                    continue;
                };
                if !seen.insert((object.ident(), part.region, in_key)) {
                    continue;
                }
                if let Some(ident) = part.met.variable() {
                    if in_key {
                        variables.keys.insert(ident);
                    }
                    if part.region == RegionKind::Use {
                        variables.used.insert(ident, part.met.to_value());
                        if !fields_of_uses {
                            continue;
                        }
                    } else {
                        variables.defined.insert(ident);
                    }
                }
                if let Some(mut cursor) = Cursor::open(section, object, part, View::Compared) {
                    while let Some(child) = cursor.next(section) {
                        stack.push((child, in_key || child.is_key));
                    }
                }
            }
            Ok(variables)
        })
    }

    /// Adds the variables of another value.
    pub(super) fn extend(&mut self, other: &Variables) {
        self.defined.extend(&other.defined);
        self.keys.extend(&other.keys);
        let used = other.used.iter();
        self.used
            .extend(used.map(|(ident, var)| (*ident, var.clone())));
    }

    /// True if a variable occurs at all.
    pub(super) fn has(&self, ident: u64) -> bool {
        self.used.contains_key(&ident) || self.defined.contains(&ident)
    }
}

/// The variables in definition fields anywhere below a value.
pub(super) fn definitions(root: &Value) -> Result<Idents> {
    let mut found = Idents::default();
    let options = WalkOptions::default().sharing(Sharing::OncePerRegion);
    options.walk_objects(root, |object, region| {
        if region != RegionKind::Use && object.type_info().kind() == Kind::Var {
            found.insert(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// The subset of some variables that occurs in a value. O(value), or less if all of
/// them occur.
pub(super) fn mentions(value: &Value, of: &Idents) -> Result<Idents> {
    let mut found = Idents::default();
    walk_objects(value, |object, _| {
        if of.contains(&object.identity()) {
            found.insert(object.identity());
        }
        Ok(if found.len() == of.len() {
            WalkResult::Interrupt(())
        } else {
            WalkResult::Advance
        })
    })?;
    Ok(found)
}

/// The variables that are bound around every place of a variable, by variable.
///
/// A place below a shared object is visited once for each set of variables bound around
/// it.
pub(super) fn scopes(root: &Value, of: &Idents) -> Result<HashMap<u64, Idents, RandomState>> {
    let mut around: HashMap<u64, Idents, RandomState> = HashMap::default();
    let mut active: Vec<u64> = Vec::new();
    let mut seen: HashSet<(u64, RegionKind, Vec<u64>), RandomState> = HashSet::default();
    // Cursors with the number of variables bound around them.
    let mut stack: Vec<(Cursor<'_>, usize)> = Vec::new();
    let mut met = Some(Part::alone(root, RegionKind::Use));
    let mut poll = Poll::default();
    access::traversing(|section| {
        loop {
            poll.step(section)?;
            if let Some(part) = met.take()
                && let PartRef::Object(object) = part.met
                && seen.insert((object.ident(), part.region, active.clone()))
            {
                if let Some(ident) = part.met.variable() {
                    if part.region != RegionKind::Use && !active.contains(&ident) {
                        active.push(ident);
                    } else if of.contains(&ident) {
                        let here: Idents = active.iter().copied().collect();
                        around
                            .entry(ident)
                            .and_modify(|idents| idents.retain(|bound| here.contains(bound)))
                            .or_insert(here);
                    }
                }
                if let Some(cursor) = Cursor::open(section, object, part, View::Compared) {
                    stack.push((cursor, active.len()));
                }
            }
            let Some((cursor, bound)) = stack.last_mut() else {
                return Ok(around);
            };
            met = cursor.next(section);
            if met.is_none() {
                if cursor.object().info().is_scope() {
                    active.truncate(*bound);
                }
                stack.pop();
            }
        }
    })
}
