//! Facts about written or found types, remembered for the whole run: every type is
//! examined once, even as part of many types.

use hashbrown::HashMap;

use super::types::{ById, is_same_level, parts_of};
use isoform::{Ref, structural_equal};
use isoform_ir::ir::{FuncType, IncompleteType, RelayRefType, TupleType, Type, TypeCall};

/// The facts found so far.
#[derive(Default)]
pub(super) struct TypeFacts {
    /// The types without holes.
    closed: ById<()>,
    /// True for pairs of equal types.
    equal: HashMap<(u64, u64), bool, rapidhash::fast::RandomState>,
}

impl TypeFacts {
    /// True if a hole occurs in the written type. Linear in the distinct types over all
    /// calls until a type has a hole.
    pub(super) fn has_holes(&mut self, ty: &Ref<Type>) -> bool {
        let mut seen: ById<()> = ById::default();
        let mut stack = vec![ty.clone()];
        while let Some(ty) = stack.pop() {
            if ty.isa::<IncompleteType>() {
                return true;
            }
            let id = ty.identity();
            if !self.closed.contains_key(&id) && seen.insert(id, ()).is_none() {
                stack.extend(parts_of(&ty));
            }
        }
        self.closed.extend(seen);
        false
    }

    /// True if two types are structurally equal. Linear in the distinct pairs of parts over
    /// all calls.
    pub(super) fn are_equal(&mut self, left: &Ref<Type>, right: &Ref<Type>) -> bool {
        let key = |left: &Ref<Type>, right: &Ref<Type>| (left.identity(), right.identity());
        let mut stack = vec![(left.clone(), right.clone(), false)];
        while let Some((left, right, is_leaving)) = stack.pop() {
            let pair = key(&left, &right);
            if !is_leaving && self.equal.contains_key(&pair) {
                continue;
            }
            if !is_leaving && is_same_level(&left, &right) {
                self.equal.insert(pair, true);
                continue;
            }
            if !is_divisible(&left, &right) {
                let is_equal = structural_equal(&left, &right).unwrap_or(false);
                self.equal.insert(pair, is_equal);
                continue;
            }
            let parts = parts_of(&left).into_iter().zip(parts_of(&right));
            if is_leaving {
                let mut parts = parts;
                let is_equal =
                    parts.all(|(left, right)| self.equal.get(&key(&left, &right)) == Some(&true));
                self.equal.insert(pair, is_equal);
            } else {
                stack.push((left, right, true));
                stack.extend(parts.map(|(left, right)| (left, right, false)));
            }
        }
        self.equal.get(&key(left, right)) == Some(&true)
    }
}

/// True if two types are equal if and only if their parts are.
fn is_divisible(left: &Ref<Type>, right: &Ref<Type>) -> bool {
    if left.type_index() != right.type_index() || parts_of(left).len() != parts_of(right).len() {
        return false;
    }
    let is_plain = |ty: &Ref<Type>| {
        let func = ty.downcast_ref::<FuncType>();
        // Type parameters correspond by position, and the parts do not tell the
        // position.
        func.is_some_and(|func| func.type_params.is_empty() && func.type_constraints.is_empty())
    };
    let callee = |ty: &Ref<Type>| {
        ty.downcast_ref::<TypeCall>()
            .map(|call| call.func.identity())
    };
    match callee(left) {
        Some(func) => callee(right) == Some(func),
        None => {
            left.isa::<TupleType>()
                || left.isa::<RelayRefType>()
                || (is_plain(left) && is_plain(right))
        }
    }
}
