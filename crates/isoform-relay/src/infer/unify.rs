//! Unification: makes two types the same by finding types for their holes.
//!
//! (Robinson, "A Machine-Oriented Logic Based on the Resolution Principle", 1965; pairs of
//! shared types are compared once, as in Huet, 1976.)

use hashbrown::HashMap;

use super::types::{ById, Types, parts_of, rebuilt};
use crate::op::dims;
use crate::text::{dim_text, type_text};
use isoform::{Ref, structural_equal};
use isoform_ir::ir::{
    FuncType, IncompleteType, PrimExpr, RelayRefType, TensorType, TupleType, Type, TypeCall,
};

type Pairs = HashMap<(u64, u64), Option<Ref<Type>>, rapidhash::fast::RandomState>;

enum Task {
    Enter(Ref<Type>, Ref<Type>),
    /// Makes the type of a pair from the results of its parts.
    Leave(Ref<Type>, Ref<Type>, usize),
}

impl Types {
    /// Makes two types the same, and returns the common type. An unknown size makes the
    /// result unknown; a symbolic size fits a number, and becomes the number.
    ///
    /// Linear in the distinct pairs of parts.
    ///
    /// # Errors
    ///
    /// A description of the difference.
    pub(super) fn unify(
        &mut self,
        left: &Ref<Type>,
        right: &Ref<Type>,
    ) -> Result<Ref<Type>, String> {
        let mut pairs = Pairs::default();
        let mut results = Vec::new();
        let mut stack = vec![Task::Enter(left.clone(), right.clone())];
        while let Some(task) = stack.pop() {
            match task {
                Task::Enter(left, right) => {
                    self.enter(&left, &right, &mut pairs, &mut results, &mut stack)?;
                }
                Task::Leave(left, right, count) => {
                    let parts = results.split_off(results.len() - count);
                    // The side with these parts keeps its object.
                    let common_type = if is_made_of(&right, &parts) {
                        right.clone()
                    } else {
                        rebuilt(&left, &parts)
                    };
                    let key = (left.identity(), right.identity());
                    pairs.insert(key, Some(common_type.clone()));
                    results.push(common_type);
                }
            }
        }
        Ok(results.pop().unwrap_or_else(|| left.clone()))
    }

    fn enter(
        &mut self,
        left: &Ref<Type>,
        right: &Ref<Type>,
        pairs: &mut Pairs,
        results: &mut Vec<Ref<Type>>,
        stack: &mut Vec<Task>,
    ) -> Result<(), String> {
        let (left, right) = (self.head(left), self.head(right));
        if left.same_as(&right) {
            results.push(left);
            return Ok(());
        }
        let holes = (
            left.downcast_ref::<IncompleteType>(),
            right.downcast_ref::<IncompleteType>(),
        );
        match holes {
            (Some(left_hole), Some(right_hole)) => {
                self.join(left_hole, right_hole);
                results.push(self.head(&left));
                return Ok(());
            }
            (Some(hole), None) => {
                self.bind(hole, right.clone());
                results.push(right);
                return Ok(());
            }
            (None, Some(hole)) => {
                self.bind(hole, left.clone());
                results.push(left);
                return Ok(());
            }
            (None, None) => {}
        }
        let key = (left.identity(), right.identity());
        if let Some(common_type) = pairs.get(&key) {
            results.push(common_type.as_ref().unwrap_or(&left).clone());
            return Ok(());
        }
        if let (Some(left_tensor), Some(right_tensor)) = (
            left.downcast_ref::<TensorType>(),
            right.downcast_ref::<TensorType>(),
        ) {
            let common_type = tensors(left_tensor, right_tensor)?;
            pairs.insert(key, Some(common_type.clone()));
            results.push(common_type);
            return Ok(());
        }
        let (mut lefts, mut rights) = (parts_of(&left), parts_of(&right));
        if let Some(count) = comparable(&left, &right)? {
            if count > 0 {
                // Type parameters of two functions correspond by position.
                (lefts, rights) = self.aligned(&left, &right, lefts, rights);
            }
            pairs.insert(key, None);
            stack.push(Task::Leave(left, right, lefts.len()));
            let both = lefts.into_iter().zip(rights).rev();
            // Taken from the end of the stack, so results come in order.
            stack.extend(both.map(|(left, right)| Task::Enter(left, right)));
            return Ok(());
        }
        match structural_equal(&left, &right) {
            Ok(true) => {
                results.push(left);
                Ok(())
            }
            _ => Err(differ(&left, &right)),
        }
    }

    /// The parts of two function types with the type parameters of the left one.
    fn aligned(
        &mut self,
        left: &Ref<Type>,
        right: &Ref<Type>,
        lefts: Vec<Ref<Type>>,
        rights: Vec<Ref<Type>>,
    ) -> (Vec<Ref<Type>>, Vec<Ref<Type>>) {
        let (Some(left_func), Some(right_func)) = (
            left.downcast_ref::<FuncType>(),
            right.downcast_ref::<FuncType>(),
        ) else {
            return (lefts, rights);
        };
        let params = left_func
            .type_params
            .iter()
            .zip(right_func.type_params.iter());
        let replacements: ById<Ref<Type>> = params
            .map(|(left, right)| (right.identity(), left.clone().upcast()))
            .collect();
        let rights = rights
            .iter()
            .map(|ty| self.instantiated(ty, &replacements))
            .collect();
        (lefts, rights)
    }
}

/// True if the parts of a type are these objects.
fn is_made_of(ty: &Ref<Type>, parts: &[Ref<Type>]) -> bool {
    let same = |(old, new): (&Ref<Type>, &Ref<Type>)| old.same_as(new);
    let own = parts_of(ty);
    own.len() == parts.len() && own.iter().zip(parts).all(same)
}

/// The number of type parameters of two types whose parts decide; None for types
/// without parts.
fn comparable(left: &Ref<Type>, right: &Ref<Type>) -> Result<Option<usize>, String> {
    let fail = |what: &str, counts: [usize; 2]| {
        Err(format!(
            "{} has {} {what}, while {} has {}",
            type_text(left),
            counts[0],
            type_text(right),
            counts[1]
        ))
    };
    if let (Some(left), Some(right)) = (
        left.downcast_ref::<TupleType>(),
        right.downcast_ref::<TupleType>(),
    ) {
        return match [left.fields.len(), right.fields.len()] {
            [left, right] if left == right => Ok(Some(0)),
            counts => fail("fields", counts),
        };
    }
    if let (Some(left), Some(right)) = (
        left.downcast_ref::<FuncType>(),
        right.downcast_ref::<FuncType>(),
    ) {
        let params = [left.type_params.len(), right.type_params.len()];
        return match [left.arg_types.len(), right.arg_types.len()] {
            [left_count, right_count] if left_count != right_count => {
                fail("parameters", [left_count, right_count])
            }
            _ if params[0] != params[1] => fail("type parameters", params),
            _ => Ok(Some(params[0])),
        };
    }
    if left.isa::<RelayRefType>() && right.isa::<RelayRefType>() {
        return Ok(Some(0));
    }
    if let (Some(left_call), Some(right_call)) = (
        left.downcast_ref::<TypeCall>(),
        right.downcast_ref::<TypeCall>(),
    ) {
        if !left_call.func.same_as(&right_call.func) {
            return Err(differ(left, right));
        }
        return match [left_call.args.len(), right_call.args.len()] {
            [left_count, right_count] if left_count == right_count => Ok(Some(0)),
            counts => fail("arguments", counts),
        };
    }
    Ok(None)
}

fn differ(left: &Ref<Type>, right: &Ref<Type>) -> String {
    format!("{} does not match {}", type_text(left), type_text(right))
}

/// The common type of two tensor types.
fn tensors(left: &Ref<TensorType>, right: &Ref<TensorType>) -> Result<Ref<Type>, String> {
    let types = || {
        let left = type_text(&left.clone().upcast());
        (left, type_text(&right.clone().upcast()))
    };
    if left.dtype != right.dtype {
        let (left_text, right_text) = types();
        return Err(format!(
            "{left_text} has data type {}, while {right_text} has data type {}",
            left.dtype, right.dtype
        ));
    }
    if left.shape.len() != right.shape.len() {
        let (left_text, right_text) = types();
        return Err(format!(
            "{left_text} has {} dimensions, while {right_text} has {} dimensions",
            left.shape.len(),
            right.shape.len()
        ));
    }
    let mut shape: Vec<Ref<PrimExpr>> = Vec::with_capacity(left.shape.len());
    let mut conflicts = Vec::new();
    let (mut is_left, mut is_right) = (true, true);
    for (axis, (left_dim, right_dim)) in left.shape.iter().zip(right.shape.iter()).enumerate() {
        let Some(dim) = common_dim(left_dim, right_dim) else {
            conflicts.push(format!(
                "dimension {axis} conflicts: {} does not match {}",
                dim_text(left_dim),
                dim_text(right_dim)
            ));
            continue;
        };
        is_left &= dims::is_any(left_dim) == dims::is_any(&dim)
            && dims::known(left_dim) == dims::known(&dim);
        is_right &= dims::is_any(right_dim) == dims::is_any(&dim)
            && dims::known(right_dim) == dims::known(&dim);
        shape.push(dim);
    }
    match conflicts.is_empty() {
        false => Err(conflicts.join("; ")),
        true if is_left => Ok(left.clone().upcast()),
        true if is_right => Ok(right.clone().upcast()),
        true => Ok(dims::tensor(shape, left.dtype)),
    }
}

/// A size that is compatible with both sizes; None if the sizes conflict.
fn common_dim(left: &Ref<PrimExpr>, right: &Ref<PrimExpr>) -> Option<Ref<PrimExpr>> {
    if dims::is_any(left) {
        return Some(left.clone());
    }
    if dims::is_any(right) {
        return Some(right.clone());
    }
    match (dims::known(left), dims::known(right)) {
        (Some(one), Some(other)) => (one == other).then(|| left.clone()),
        (Some(_), None) => Some(left.clone()),
        (None, Some(_)) => Some(right.clone()),
        (None, None) => dims::are_equal(left, right).then(|| left.clone()),
    }
}
