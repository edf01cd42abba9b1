//! The objects of a function that correspond to those of an equal one.

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use crate::kernel::container::Contents;
use crate::kernel::object::dynamic::field_value_at;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::{FieldFlag, Kind};
use crate::kernel::value::Value;
use crate::structural::structural_equal;

/// For each object of one function that of another one.
#[derive(Default)]
pub(super) struct Pairs {
    objects: HashMap<u64, Ref<Obj>, RandomState>,
    /// The objects that are partners of variables.
    taken: HashSet<u64, RandomState>,
    /// For plain values in ignored fields, those of the partners; None if they differ
    /// from object to object.
    plain: HashMap<(TypeIndex, usize, Value), Option<Value>, RandomState>,
}

impl Pairs {
    pub(super) fn partner(&self, object: &Ref<Obj>) -> Option<&Ref<Obj>> {
        self.objects.get(&object.identity())
    }

    /// The plain value in the other function for one in an ignored field; None outside of
    /// the field's values, and None inside if it is not unique.
    pub(super) fn plain(
        &self,
        ty: TypeIndex,
        field: usize,
        value: &Value,
    ) -> Option<Option<&Value>> {
        // Strings and numbers: the key is as cheap as the value.
        let found = self.plain.get(&(ty, field, value.clone()))?;
        Some(found.as_ref())
    }
}

/// The pairs of two functions; None if they are not equal part by part, as where maps
/// have different orders. Linear in their size, and exact: the pairs are a proof.
pub(super) fn of(left: &Ref<Obj>, right: &Ref<Obj>) -> Option<Pairs> {
    let mut pairs = Pairs::default();
    let mut stack = vec![(Value::from(left), Value::from(right))];
    // Ignored parts correspond as far as they are alike.
    let mut ignored = Vec::new();
    while let Some((left, right)) = stack.pop() {
        match (left.as_object(), right.as_object()) {
            (Some(a), Some(b)) if !a.type_info().is_builtin() => {
                pairs.enter(a, b, &mut stack, &mut ignored)?;
            }
            _ => match (left.contents(), right.contents()) {
                (Some(a), Some(b)) if left.type_index() == right.type_index() => {
                    parts(&a, &b, &mut stack)?;
                }
                (None, None) if left == right => {}
                (None, None) if structural_equal(&left, &right).unwrap_or(false) => {
                    // Tensors: the function at hand has them in memory already.
                    if let (Some(left), Some(right)) = (left.as_object(), right.as_object()) {
                        pairs.objects.insert(left.identity(), right.clone());
                    }
                }
                _ => return None,
            },
        }
    }
    while let Some((left, right)) = ignored.pop() {
        if pairs.partner(&left).is_none() && left.type_index() == right.type_index() {
            pairs.objects.insert(left.identity(), right);
        }
    }
    Some(pairs)
}

/// Pairs of the parts of two containers of one type.
fn parts(left: &Contents, right: &Contents, stack: &mut Vec<(Value, Value)>) -> Option<()> {
    match (left, right) {
        (Contents::Items(left), Contents::Items(right)) if left.len() == right.len() => {
            let items = left.values().iter().zip(right.values());
            stack.extend(items.map(|(left, right)| (left.clone(), right.clone())));
            Some(())
        }
        (Contents::Entries(left), Contents::Entries(right)) if left.len() == right.len() => {
            for ((key, value), (other, partner)) in left.iter().zip(right.iter()) {
                stack.push((key.clone(), other.clone()));
                stack.push((value.clone(), partner.clone()));
            }
            Some(())
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
        ignored: &mut Vec<(Ref<Obj>, Ref<Obj>)>,
    ) -> Option<()> {
        if left.same_as(right) {
            return Some(());
        }
        let info = left.type_info();
        if info.index() != right.type_index() || info.kind() == Kind::Singleton {
            return None;
        }
        let is_shared = matches!(info.kind(), Kind::Var | Kind::Dag);
        if let Some(known) = self.partner(left) {
            // A tree may be shared on one side only; its parts are equal then.
            return match is_shared && !known.same_as(right) {
                true => None,
                false => Some(()),
            };
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
            if field.field_flag() != FieldFlag::Ignore {
                stack.push((a, b));
                continue;
            }
            match (a.as_object(), b.as_object()) {
                (Some(a), Some(b)) if !a.type_info().is_builtin() => {
                    ignored.push((a.clone(), b.clone()));
                }
                _ => {
                    let entry = self.plain.entry((info.index(), position, a));
                    let known = entry.or_insert_with(|| Some(b.clone()));
                    if known.as_ref() != Some(&b) {
                        *known = None;
                    }
                }
            }
        }
        Some(())
    }
}
