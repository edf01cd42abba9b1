//! Which variables a value has, and what they do there.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::kernel::error::Result;
use crate::kernel::object::access::Poll;
use crate::kernel::types::Kind;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::variable;
use crate::traverse::{
    ChildOptions, Children, Sharing, WalkOptions, WalkResult, children_of, walk_objects,
};

pub(super) type Idents = HashSet<u64, RandomState>;

/// The variables of a value.
#[derive(Default)]
pub(super) struct Variables {
    /// Those in definition fields.
    pub(super) defined: Idents,
    /// Those that stand elsewhere.
    pub(super) used: HashMap<u64, Value, RandomState>,
    /// Those in keys of maps, which are compared by identity.
    pub(super) keys: Idents,
}

impl Variables {
    /// The variables of a value. Linear in the number of distinct objects.
    pub(super) fn of(root: &Value) -> Result<Variables> {
        Variables::collect(root, true)
    }

    /// The variables of a value, without those in the fields of variables that
    /// are used: whoever replaces a variable replaces its fields with it.
    pub(super) fn of_replacement(root: &Value) -> Result<Variables> {
        Variables::collect(root, false)
    }

    fn collect(root: &Value, fields_of_uses: bool) -> Result<Variables> {
        let mut found = Variables::default();
        let mut seen: HashSet<(u64, RegionKind, bool), RandomState> = HashSet::default();
        let mut stack = vec![(root.clone(), RegionKind::Use, false)];
        let mut poll = Poll::default();
        while let Some((value, region, in_key)) = stack.pop() {
            poll.step_outside()?;
            let Some(object) = value.as_object() else {
                continue;
            };
            if !seen.insert((object.identity(), region, in_key)) {
                continue;
            }
            if let Some(ident) = variable(&value) {
                if in_key {
                    found.keys.insert(ident);
                }
                if region == RegionKind::Use {
                    found.used.insert(ident, value.clone());
                    if !fields_of_uses {
                        continue;
                    }
                } else {
                    found.defined.insert(ident);
                }
            }
            for child in children_of(&value, ChildOptions::default()).iter(region) {
                stack.push((child.value, child.region, in_key || child.is_key));
            }
        }
        Ok(found)
    }

    /// Whether a variable occurs at all.
    pub(super) fn has(&self, ident: u64) -> bool {
        self.used.contains_key(&ident) || self.defined.contains(&ident)
    }
}

/// The variables in definition fields anywhere below a value.
pub(super) fn definitions(root: &Value) -> Result<Idents> {
    let mut found = Idents::default();
    let options = WalkOptions::default().sharing(Sharing::OncePerRegion);
    walk_objects(root, options, |object, region| {
        if region != RegionKind::Use && object.type_info().kind() == Kind::Var {
            found.insert(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// Which of some variables occur in a value. O(value).
pub(super) fn mentions(value: &Value, of: &Idents) -> Result<Idents> {
    let mut found = Idents::default();
    walk_objects(value, WalkOptions::default(), |object, _| {
        if of.contains(&object.identity()) {
            found.insert(object.identity());
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(found)
}

/// The variables bound around every place of a variable, by that variable.
///
/// A place below a shared object is looked at once for each set of variables
/// bound around it.
pub(super) fn scopes(root: &Value, of: &Idents) -> Result<HashMap<u64, Idents, RandomState>> {
    struct Frame {
        children: Children,
        region: RegionKind,
        next: usize,
        bound: usize,
        scope: bool,
    }
    let mut around: HashMap<u64, Idents, RandomState> = HashMap::default();
    let mut active: Vec<u64> = Vec::new();
    let mut seen: HashSet<(u64, RegionKind, Vec<u64>), RandomState> = HashSet::default();
    let mut stack: Vec<Frame> = Vec::new();
    let mut met = Some((root.clone(), RegionKind::Use));
    let mut poll = Poll::default();
    loop {
        poll.step_outside()?;
        if let Some((value, region)) = met.take()
            && let Some(object) = value.as_object()
            && seen.insert((object.identity(), region, active.clone()))
        {
            if let Some(ident) = variable(&value) {
                if region != RegionKind::Use && !active.contains(&ident) {
                    active.push(ident);
                } else if of.contains(&ident) {
                    let here: Idents = active.iter().copied().collect();
                    around
                        .entry(ident)
                        .and_modify(|known| known.retain(|bound| here.contains(bound)))
                        .or_insert(here);
                }
            }
            stack.push(Frame {
                children: children_of(&value, ChildOptions::default()),
                region,
                next: 0,
                bound: active.len(),
                scope: object.type_info().is_scope(),
            });
        }
        let Some(frame) = stack.last_mut() else {
            return Ok(around);
        };
        match frame.children.get(frame.next, frame.region) {
            Some(child) => {
                frame.next += 1;
                met = Some((child.value, child.region));
            }
            None => {
                if frame.scope {
                    active.truncate(frame.bound);
                }
                stack.pop();
            }
        }
    }
}
