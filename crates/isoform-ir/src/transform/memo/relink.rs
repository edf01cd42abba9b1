//! A kept result in terms of the function and program at hand.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::names::{Site, ValueMatch};
use super::pairs::{self, Pairs, Partner};
use crate::ir::{GlobalVar, IRModule};
use isoform::paths::AccessStep;
use isoform::traverse::{ChildOptions, Children};
use isoform::types::{FieldFlag, RegionKind};
use isoform::{Obj, Ref, Value};

/// The result with the objects of the original function replaced by the objects of the
/// present function, and with the global variables of the program. Objects made by the
/// pass keep the names and spans of their origins, taken from the present function.
/// None if these are ambiguous. Linear in the result.
///
/// Objects of the present function are not searched: all their parts belong to the
/// present function.
pub(super) fn relinked(result: &Value, pairs: &Pairs, root: &Ref<Obj>) -> Option<Ref<Obj>> {
    let module = root.downcast_ref::<IRModule>();
    let mut relinker = Relinker {
        pairs,
        module,
        done: HashMap::default(),
    };
    let mut frames: Vec<Frame> = Vec::new();
    let mut met = relinker.meet(result.clone(), None)?;
    loop {
        let value = match met {
            SeenObject::Open(frame) => {
                frames.push(frame);
                None
            }
            SeenObject::Done(value) => Some(value),
        };
        let Some(frame) = frames.last_mut() else {
            return value?.as_object().cloned();
        };
        if let Some(value) = value {
            frame.close_child(value);
        }
        if let Some((child, site)) = frame.next_child() {
            met = relinker.meet(child, site)?;
            continue;
        }
        let frame = frames.pop()?;
        let built = frame.children.replace(frame.changes).ok()?;
        relinker.done.insert(frame.key, Some(built.clone()));
        met = SeenObject::Done(built);
    }
}

/// An object, and true below an ignored field.
type Key = (u64, bool);

struct Relinker<'a> {
    pairs: &'a Pairs,
    module: Option<&'a Ref<IRModule>>,
    /// The results of objects; None for open objects.
    done: HashMap<Key, Option<Value>, RandomState>,
}

enum SeenObject {
    Done(Value),
    Open(Frame),
}

/// An object with its children being visited.
struct Frame {
    key: Key,
    children: Children,
    /// The field around the object, if the field is ignored.
    site: Option<Site>,
    position: usize,
    child: Value,
    changes: Vec<(usize, Value)>,
}

impl Frame {
    fn next_child(&mut self) -> Option<(Value, Option<Site>)> {
        let child = self.children.get(self.position, RegionKind::Use)?;
        let site = match self.children.step(self.position) {
            Some(AccessStep::Attr(name)) => {
                let info = self.children.source().as_object()?.type_info();
                let field = info.field_index(&name)?;
                let is_ignored = info.fields()[field].field_flag() == FieldFlag::Ignore;
                (is_ignored || self.site.is_some()).then_some((info.index(), field))
            }
            _ => self.site,
        };
        self.child = child.value.clone();
        Some((child.value, site))
    }

    fn close_child(&mut self, value: Value) {
        if value != self.child {
            self.changes.push((self.position, value));
        }
        self.position += 1;
    }
}

impl Relinker<'_> {
    /// None for a value without a counterpart.
    fn meet(&mut self, value: Value, site: Option<Site>) -> Option<SeenObject> {
        let Some(object) = value.as_object() else {
            return self.plain(value, site);
        };
        match self.pairs.partner(object) {
            Partner::Is(partner) => return Some(SeenObject::Done(partner.into())),
            Partner::Unknown => return None,
            Partner::None => {}
        }
        if let (Some(var), Some(module)) = (object.downcast_ref::<GlobalVar>(), self.module) {
            // A call added by the pass.
            let own = module.global_var(&var.name_hint).ok()?;
            return Some(SeenObject::Done(own.into()));
        }
        if pairs::is_plain(object) && value.contents().is_none() {
            return self.plain(value, site);
        }
        let key = (object.identity(), site.is_some());
        match self.done.get(&key) {
            Some(Some(done)) => return Some(SeenObject::Done(done.clone())),
            // A cycle of lists.
            Some(None) => return None,
            None => {}
        }
        let options = ChildOptions::default().include_ignored(true).keys(true);
        let children = options.children_of(&value);
        if children.is_empty() {
            return self.plain(value, site);
        }
        self.done.insert(key, None);
        Some(SeenObject::Open(Frame {
            key,
            children,
            site,
            position: 0,
            child: Value::NONE,
            changes: Vec::new(),
        }))
    }

    /// A value without parts. In an ignored field, a value of any type may come from
    /// the function.
    fn plain(&self, value: Value, site: Option<Site>) -> Option<SeenObject> {
        let Some(site) = site else {
            return Some(SeenObject::Done(value));
        };
        match self.pairs.names.find(site, &value) {
            ValueMatch::Own => Some(SeenObject::Done(value)),
            // An empty list made by the pass differs from the function's equally empty
            // list.
            ValueMatch::Is(_) if value.as_object().is_some_and(is_mutable) => {
                Some(SeenObject::Done(value))
            }
            ValueMatch::Is(own) => Some(SeenObject::Done(own.clone())),
            ValueMatch::Unknown => None,
        }
    }
}

fn is_mutable(object: &Ref<Obj>) -> bool {
    object.type_info().class().is_mutable()
}
