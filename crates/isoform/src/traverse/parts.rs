//! A value taken apart into its children, and put together again.

use crate::kernel::container::{Array, Dict, List, Map};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::build;
use crate::kernel::object::class::Class;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::Slot;
use crate::kernel::path::AccessStep;
use crate::kernel::path::places::Step;
use crate::kernel::types::region::RegionKind;
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::{Value, ValueRef};

/// Which children of a value are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ChildOptions {
    /// Whether fields with the flag `ignore` are children too.
    pub include_ignored: bool,
    /// Whether the keys of maps and dicts are children too.
    pub keys: bool,
}

impl Default for ChildOptions {
    fn default() -> Self {
        ChildOptions {
            include_ignored: false,
            keys: true,
        }
    }
}

impl ChildOptions {
    /// Sets whether fields with the flag `ignore` are children too.
    #[must_use]
    pub fn include_ignored(mut self, include_ignored: bool) -> Self {
        self.include_ignored = include_ignored;
        self
    }

    /// Sets whether the keys of maps and dicts are children too.
    #[must_use]
    pub fn keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }
}

/// One child of a value.
#[derive(Clone, Debug)]
pub struct Child {
    /// The child itself.
    pub value: Value,
    /// Whether variables in it are bound or used.
    pub region: RegionKind,
    /// Whether it is the key of a map or dict.
    pub is_key: bool,
}

/// The children of one value in the order of visit: the elements of a list or
/// dict as they were when [`children_of`] was called, the fields of an object
/// as they are when they are asked for.
#[derive(Clone, Debug)]
pub struct Children {
    source: Value,
    content: Content,
    options: ChildOptions,
}

#[derive(Clone, Debug)]
enum Content {
    Fields(Ref<Obj>),
    Items(Array),
    Entries(Map),
    Nothing,
}

/// The children of a value: the fields of an object in the order of visit, the
/// elements of an array or list, the keys and values of a map or dict. Other
/// values have none. O(1), but for the key order of a map seen for the first
/// time.
///
/// With [`Children::rebuild`], this is what rewriters with an order of their
/// own are made of; [`structural_map`](crate::structural_map) is one with a
/// fixed order.
///
/// ```
/// use isoform::{RegionKind, Value, children_of};
/// let list = Value::from([1, 2, 3]);
/// let children = children_of(&list, Default::default());
/// let doubled = children
///     .iter(RegionKind::Use)
///     .map(|child| Value::from(2 * child.value.as_int().unwrap_or(0)))
///     .collect();
/// let list = children.rebuild(doubled)?;
/// assert!(isoform::structural_equal(list, [2, 4, 6])?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn children_of(value: &Value, options: ChildOptions) -> Children {
    let content = match value.view() {
        ValueRef::Array(array) => Content::Items(array.clone()),
        ValueRef::List(list) => Content::Items(list.snapshot()),
        ValueRef::Map(map) => Content::Entries(map.clone()),
        ValueRef::Dict(dict) => Content::Entries(dict.snapshot()),
        ValueRef::Object(object) => match object.type_info().class() {
            Class::Plain | Class::Node => Content::Fields(object.clone()),
            _ => Content::Nothing,
        },
        _ => Content::Nothing,
    };
    Children {
        source: value.clone(),
        content,
        options,
    }
}

impl Children {
    /// The value that was taken apart.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// How many children there are. O(1).
    pub fn len(&self) -> usize {
        match &self.content {
            Content::Fields(_) => self.slots().len(),
            Content::Items(items) => items.len(),
            Content::Entries(entries) if self.options.keys => 2 * entries.len(),
            Content::Entries(entries) => entries.len(),
            Content::Nothing => 0,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A child by its position in the order of visit, of a value that is met
    /// in `region`. O(1).
    pub fn get(&self, position: usize, region: RegionKind) -> Option<Child> {
        let child = |value: &Value, region, is_key| Child {
            value: value.clone(),
            region,
            is_key,
        };
        match &self.content {
            Content::Fields(object) => {
                let of_var = object.type_info().kind == Kind::Var;
                access::reading(|section| {
                    let fields = match self.options.include_ignored {
                        true => object.borrowed().visited_and_ignored(),
                        false => object.borrowed().visited(),
                    };
                    let (slot, loaded) = fields.get(section, position)?;
                    Some(Child {
                        value: loaded.to_value(),
                        region: region.of_field(slot.flag, of_var),
                        is_key: false,
                    })
                })
            }
            Content::Items(items) => Some(child(items.values().get(position)?, region, false)),
            Content::Entries(entries) => {
                let (at, is_key) = self.place(entries, position)?;
                let (key, value) = entries.reference().entry(at)?;
                // Keys are looked up, never bound.
                Some(match is_key {
                    true => child(key, RegionKind::Use, true),
                    false => child(value, region, false),
                })
            }
            Content::Nothing => None,
        }
    }

    /// All children, of a value that is met in `region`.
    pub fn iter(&self, region: RegionKind) -> impl Iterator<Item = Child> {
        (0..self.len()).filter_map(move |position| self.get(position, region))
    }

    /// The step of a path to a child. A key has the step of its value.
    pub fn step(&self, position: usize) -> Option<AccessStep> {
        self.place_step(position).map(AccessStep::from)
    }

    /// As [`step`](Self::step), for one of many places.
    pub(crate) fn place_step(&self, position: usize) -> Option<Step> {
        match &self.content {
            Content::Fields(object) => {
                let slot = self.slots().get(position)?;
                let field = object.type_info().fields().get(slot.field as usize)?;
                Some(Step::Field(field.name()))
            }
            Content::Items(items) => (position < items.len()).then_some(Step::Item(position)),
            Content::Entries(entries) => {
                let (at, _) = self.place(entries, position)?;
                let (key, _) = entries.reference().entry(at)?;
                Some(Step::Key(key.clone()))
            }
            Content::Nothing => None,
        }
    }

    /// The position of the first field that holds an object, or the same plain
    /// value, if the children are fields.
    pub(super) fn field_with(&self, wanted: &Value) -> Option<usize> {
        let Content::Fields(_) = &self.content else {
            return None;
        };
        let is_wanted = |child: Child| match (child.value.as_object(), wanted.as_object()) {
            (Some(child), Some(wanted)) => child.same_as(wanted),
            (None, None) => child.value == *wanted,
            _ => false,
        };
        self.iter(RegionKind::Use).position(is_wanted)
    }

    /// Whether a child is a field that opens a definition region.
    pub(super) fn opens_region(&self, position: usize) -> bool {
        let slot = self.slots().get(position);
        slot.is_some_and(|slot| matches!(slot.flag, FieldFlag::Def | FieldFlag::DefSimple))
    }

    /// The value with these children in place of its own, in the same order.
    ///
    /// When all of them are what they were (the same objects, equal plain
    /// values), the result is the source itself. Otherwise it is a new object
    /// of the same type: a list or dict that changes is a new list or dict.
    /// Fields that are no children, because they are ignored, are taken over.
    ///
    /// # Errors
    ///
    /// `ValueError` when the number of children differs or two keys of a map
    /// become one, `TypeError` when a value does not fit its field.
    pub fn rebuild(&self, children: Vec<Value>) -> Result<Value> {
        if children.len() != self.len() {
            return Err(Error::value_error(format!(
                "{}: expected {} children, got {}",
                self.source.type_name(),
                self.len(),
                children.len()
            )));
        }
        let changes = children.into_iter().enumerate().filter(|(position, new)| {
            let old = self.get(*position, RegionKind::Use);
            old.is_none_or(|old| old.value != *new)
        });
        self.replace(changes.collect())
    }

    /// [`replace`](Self::replace) in a traversal. What converts a value to the
    /// type of a field, or finds a key, may be code of the user.
    pub(super) fn replace_in(
        &self,
        section: &mut Section,
        changes: Vec<(usize, Value)>,
    ) -> Result<Value> {
        match changes.is_empty() {
            true => Ok(self.source.clone()),
            false => access::outside(section, || self.replace(changes)),
        }
    }

    /// The value with some children replaced, given by position.
    pub(crate) fn replace(&self, changes: Vec<(usize, Value)>) -> Result<Value> {
        if changes.is_empty() {
            return Ok(self.source.clone());
        }
        match &self.content {
            Content::Fields(object) => {
                let slots = self.slots();
                let fields = changes.into_iter().filter_map(|(position, value)| {
                    let slot = slots.get(position)?;
                    Some((slot.field as usize, value))
                });
                build::with_fields(object, fields).map(Value::from)
            }
            Content::Items(old) => {
                let mut items = old.values().to_vec();
                for (position, value) in changes {
                    if let Some(item) = items.get_mut(position) {
                        *item = value;
                    }
                }
                Ok(match self.source.view() {
                    ValueRef::List(_) => List::from(items).into(),
                    _ => Array::from(items).into(),
                })
            }
            Content::Entries(old) => self.replace_entries(old, changes),
            Content::Nothing => Ok(self.source.clone()),
        }
    }

    fn replace_entries(&self, old: &Map, changes: Vec<(usize, Value)>) -> Result<Value> {
        let mut entries: Vec<(Value, Value)> = old
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for (position, new) in changes {
            let Some((at, is_key)) = self.place(old, position) else {
                continue;
            };
            match is_key {
                true => entries[at].0 = new,
                false => entries[at].1 = new,
            }
        }
        let mut map = Map::new();
        for (key, value) in entries {
            let (count, shown) = (map.len(), key.clone());
            map.try_insert(key, value)?;
            if map.len() == count {
                return Err(Error::value_error(format!(
                    "{}: two keys become {shown:?}",
                    self.source.type_name()
                )));
            }
        }
        Ok(match self.source.view() {
            ValueRef::Dict(_) => Dict::<Value, Value>::of(map).into(),
            _ => map.into(),
        })
    }

    fn slots(&self) -> &'static [Slot] {
        match &self.content {
            Content::Fields(object) if self.options.include_ignored => {
                &object.type_info().visited_and_ignored
            }
            Content::Fields(object) => &object.type_info().visited,
            _ => &[],
        }
    }

    /// An entry's position in insertion order, and whether its key is meant.
    fn place(&self, entries: &Map, position: usize) -> Option<(usize, bool)> {
        let (position, is_key) = match self.options.keys {
            true => (position / 2, position.is_multiple_of(2)),
            false => (position, false),
        };
        let order = entries.reference().key_order();
        let at = match position.checked_sub(order.plain.len()) {
            None => order.plain[position],
            Some(position) => *order.objects.get(position)?,
        };
        Some((at as usize, is_key))
    }
}
