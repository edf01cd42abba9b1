//! The corresponding objects of two equal functions.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::names::{Names, Site};
use isoform::host::Contents;
use isoform::objects::field_value_at;
use isoform::types::{FieldFlag, Kind};
use isoform::{Obj, Ref, Value, structural_equal};

/// Maps the objects of a function to their counterparts in an equal function.
#[derive(Default)]
pub(super) struct Pairs {
    objects: HashMap<u64, Ref<Obj>, RandomState>,
    /// The partners of variables.
    taken: HashSet<u64, RandomState>,
    /// The objects with several counterparts that differ in their names.
    ambiguous: HashSet<u64, RandomState>,
    /// Pairs of objects of the other function known to be alike.
    alike: HashSet<(u64, u64), RandomState>,
    pub(super) names: Names,
}

/// The counterpart of an object.
pub(super) enum Partner<'a> {
    /// The object is not part of the function, or has no identity that counts.
    None,
    Is(&'a Ref<Obj>),
    /// The object has several counterparts, or no counterpart.
    Unknown,
}

impl Pairs {
    pub(super) fn partner(&self, object: &Ref<Obj>) -> Partner<'_> {
        let ident = object.identity();
        match self.objects.get(&ident) {
            _ if self.ambiguous.contains(&ident) => Partner::Unknown,
            Some(partner) => Partner::Is(partner),
            None => Partner::None,
        }
    }
}

/// The kind of the values of a pair.
enum Shape<'a> {
    Node(&'a Ref<Obj>),
    /// A container; the object of a container with an identity.
    Container(Contents, Option<&'a Ref<Obj>>),
    Plain,
}

fn shape(value: &Value) -> Shape<'_> {
    if let Some(contents) = value.contents() {
        let object = value.as_object();
        let is_mutable = |object: &&Ref<Obj>| object.type_info().class().is_mutable();
        return Shape::Container(contents, object.filter(is_mutable));
    }
    match value.as_object() {
        Some(object) if !is_plain(object) => Shape::Node(object),
        _ => Shape::Plain,
    }
}

/// True for an object that counts as a whole, in any field: a value of the library, or
/// a singleton.
pub(super) fn is_plain(object: &Ref<Obj>) -> bool {
    let info = object.type_info();
    info.is_builtin() || info.kind() == Kind::Singleton
}

/// A pair of values below an ignored field.
type Below = (Value, Value, Site);

/// The pairs of two functions; None unless the functions are equal part by part, for
/// example for maps with different orders. Linear in the size of the functions.
///
/// The functions are known to be structurally equal, so repeated parts of one function
/// occur at equal places of the other function.
pub(super) fn of(left: &Ref<Obj>, right: &Ref<Obj>) -> Option<Pairs> {
    let mut pairs = Pairs::default();
    let mut stack = vec![(Value::from(left), Value::from(right))];
    let mut below = Vec::new();
    while let Some((left, right)) = stack.pop() {
        match (shape(&left), shape(&right)) {
            (Shape::Node(a), Shape::Node(b)) => pairs.enter(a, b, &mut stack, &mut below)?,
            (Shape::Container(a, object), Shape::Container(b, partner))
                if left.type_index() == right.type_index() =>
            {
                if let (Some(object), Some(partner)) = (object, partner) {
                    pairs.objects.insert(object.identity(), partner.clone());
                }
                stack.extend(parts(&a, &b)?);
            }
            (Shape::Plain, Shape::Plain) if left == right => {}
            (Shape::Plain, Shape::Plain) if structural_equal(&left, &right).unwrap_or(false) => {
                // Tensors: the present function already has them in memory.
                if let (Some(left), Some(right)) = (left.as_object(), right.as_object()) {
                    pairs.objects.insert(left.identity(), right.clone());
                }
            }
            _ => return None,
        }
    }
    // Compared fields decide first which objects correspond.
    while let Some(pair) = below.pop() {
        pairs.enter_ignored(pair, &mut below);
    }
    Some(pairs)
}

/// Pairs of the parts of two containers of one type; None for different numbers of
/// parts.
fn parts(left: &Contents, right: &Contents) -> Option<Vec<(Value, Value)>> {
    match (left, right) {
        (Contents::Items(left), Contents::Items(right)) if left.len() == right.len() => {
            let items = left.values().iter().cloned();
            Some(items.zip(right.values().iter().cloned()).collect())
        }
        (Contents::Entries(left), Contents::Entries(right)) if left.len() == right.len() => {
            let mut found = Vec::with_capacity(2 * left.len());
            for ((key, value), (other, partner)) in left.iter().zip(right.iter()) {
                found.push((key.clone(), other.clone()));
                found.push((value.clone(), partner.clone()));
            }
            Some(found)
        }
        _ => None,
    }
}

impl Pairs {
    fn enter(
        &mut self,
        left: &Ref<Obj>,
        right: &Ref<Obj>,
        stack: &mut Vec<(Value, Value)>,
        below: &mut Vec<Below>,
    ) -> Option<()> {
        if left.same_as(right) {
            return Some(());
        }
        let info = left.type_info();
        if info.index() != right.type_index() {
            return None;
        }
        let is_shared = matches!(info.kind(), Kind::Var | Kind::Dag);
        if let Some(partner) = self.objects.get(&left.identity()).cloned() {
            if is_shared && !partner.same_as(right) {
                return None;
            }
            // A tree may be shared on one side only; the parts of the copies are equal
            // then.
            if !self.ambiguous.contains(&left.identity()) && !self.are_alike(&partner, right) {
                self.forget(&left.into(), None);
            }
            return Some(());
        }
        if is_shared && !self.taken.insert(right.identity()) {
            return None;
        }
        self.objects.insert(left.identity(), right.clone());
        for (position, field) in info.fields().iter().enumerate() {
            let (a, b) = (
                field_value_at(left, position)?,
                field_value_at(right, position)?,
            );
            match field.field_flag() {
                FieldFlag::Ignore => below.push((a, b, (info.index(), position))),
                _ => stack.push((a, b)),
            }
        }
        Some(())
    }

    /// Pairs the parts of ignored fields down to the depth where the shapes differ.
    fn enter_ignored(&mut self, (left, right, site): Below, below: &mut Vec<Below>) {
        match (shape(&left), shape(&right)) {
            (Shape::Node(a), Shape::Node(b)) if a.same_as(b) => {}
            (Shape::Node(a), Shape::Node(b)) if a.type_index() == b.type_index() => {
                match self.objects.get(&a.identity()).cloned() {
                    Some(_) if self.ambiguous.contains(&a.identity()) => {}
                    Some(partner) if self.are_alike(&partner, b) => {}
                    Some(_) => self.forget(&left, Some(site)),
                    None => {
                        self.objects.insert(a.identity(), b.clone());
                        let info = a.type_info();
                        below.extend((0..info.fields().len()).filter_map(|field| {
                            let (a, b) = (field_value_at(a, field)?, field_value_at(b, field)?);
                            Some((a, b, (info.index(), field)))
                        }));
                    }
                }
            }
            (Shape::Container(a, object), Shape::Container(b, partner))
                if left.type_index() == right.type_index() =>
            {
                if let (Some(object), Some(partner)) = (object, partner) {
                    let before = self.objects.insert(object.identity(), partner.clone());
                    if before.is_some_and(|before| !before.same_as(partner)) {
                        self.ambiguous.insert(object.identity());
                    }
                }
                match parts(&a, &b) {
                    Some(parts) if parts.is_empty() => self.names.pair(site, &left, &right),
                    Some(parts) => {
                        below.extend(parts.into_iter().map(|(left, right)| (left, right, site)));
                    }
                    None => self.forget(&left, Some(site)),
                }
            }
            (Shape::Plain, _) => self.names.pair(site, &left, &right),
            _ => self.forget(&left, Some(site)),
        }
    }

    /// True if two equal parts of the present function cannot be told apart, neither by
    /// ignored fields nor by significant identity.
    fn are_alike(&mut self, left: &Ref<Obj>, right: &Ref<Obj>) -> bool {
        let mut entered = Vec::new();
        let mut stack = vec![(Value::from(left), Value::from(right))];
        while let Some((left, right)) = stack.pop() {
            let is_alike = match (shape(&left), shape(&right)) {
                (Shape::Node(left), Shape::Node(right)) => {
                    let pair = (left.identity(), right.identity());
                    let info = left.type_info();
                    if left.same_as(right) || !self.alike.insert(pair) {
                        true
                    } else {
                        entered.push(pair);
                        let parts =
                            |field| field_value_at(left, field).zip(field_value_at(right, field));
                        stack.extend((0..info.fields().len()).filter_map(parts));
                        info.index() == right.type_index()
                            && matches!(info.kind(), Kind::Tree | Kind::ConstTree)
                    }
                }
                (Shape::Container(a, None), Shape::Container(b, None))
                    if left.type_index() == right.type_index() =>
                {
                    let parts = parts(&a, &b);
                    let is_alike = parts.is_some();
                    stack.extend(parts.into_iter().flatten());
                    is_alike
                }
                _ => left == right,
            };
            if !is_alike {
                // The assumptions of this search are not proven.
                entered.iter().for_each(|pair| {
                    self.alike.remove(pair);
                });
                return false;
            }
        }
        true
    }

    /// Records that an object, together with its parts down to parts with an identity,
    /// stands for several objects. Without a site, names are in ignored fields only.
    fn forget(&mut self, value: &Value, site: Option<Site>) {
        let mut stack = vec![(value.clone(), site, true)];
        while let Some((value, site, is_first)) = stack.pop() {
            match shape(&value) {
                Shape::Node(object) => {
                    let info = object.type_info();
                    let is_shared = matches!(info.kind(), Kind::Var | Kind::Dag);
                    if is_shared && !is_first || !self.ambiguous.insert(object.identity()) {
                        continue;
                    }
                    for (position, field) in info.fields().iter().enumerate() {
                        let is_ignored = field.field_flag() == FieldFlag::Ignore;
                        let below =
                            (is_ignored || site.is_some()).then_some((info.index(), position));
                        let value = field_value_at(object, position);
                        stack.extend(value.map(|value| (value, below, false)));
                    }
                }
                Shape::Container(contents, object) => {
                    self.ambiguous.extend(object.map(Ref::identity));
                    match contents {
                        contents if contents.is_empty() => {
                            if let Some(site) = site {
                                self.names.forget(site, &value);
                            }
                        }
                        Contents::Items(items) => {
                            let items = items.values().iter().cloned();
                            stack.extend(items.map(|item| (item, site, false)));
                        }
                        Contents::Entries(entries) => {
                            for (key, value) in entries.iter() {
                                stack.push((key.clone(), site, false));
                                stack.push((value.clone(), site, false));
                            }
                        }
                    }
                }
                Shape::Plain => {
                    if let Some(site) = site {
                        self.names.forget(site, &value);
                    }
                }
            }
        }
    }
}
