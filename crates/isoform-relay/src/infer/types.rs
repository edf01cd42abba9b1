//! Types with holes during inference: classes of holes, and their types.

use hashbrown::HashMap;

use crate::Function;
use isoform::plumbing::UnionFind;
use isoform::{Array, Ref};
use isoform_ir::ir::{
    FuncType, IncompleteType, RelayRefType, TensorType, TupleType, Type, TypeCall, TypeVar,
};

/// Tables by identity number.
pub(super) type ById<T> = HashMap<u64, T, rapidhash::fast::RandomState>;

/// The holes of a program, and the types found for them.
///
/// Holes that must be the same type are one class; the type of a class is never a hole
/// itself, but may contain holes.
#[derive(Default)]
pub(super) struct Types {
    classes: UnionFind<Ref<IncompleteType>>,
    numbers: ById<u32>,
    /// The type of a class, and the numbers of relations that wait for it, at its root.
    bound: Vec<Option<Ref<Type>>>,
    waiting: Vec<Vec<u32>>,
    /// The relations whose wait has ended.
    pub(super) woken: Vec<u32>,
    /// The replacements of types in the final result.
    settled: ById<Settled>,
}

/// The state of completing a type.
#[derive(Clone)]
enum Settled {
    /// The parts are being completed.
    Entered,
    Done(Ref<Type>),
    Failed(IncompleteReason),
}

/// Why a type cannot be completed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum IncompleteReason {
    /// No requirement determines this class of holes.
    Unknown(u32),
    /// It contains itself.
    Infinite,
}

/// A function with type parameters.
pub(super) struct Generic {
    pub(super) function: Ref<Function>,
    /// The number of the first part: all parts have numbers from here to the number of
    /// the function.
    pub(super) start: u32,
}

impl Types {
    /// An unknown type.
    pub(super) fn hole(&mut self) -> Ref<Type> {
        let hole = IncompleteType::new();
        self.number(&hole);
        hole.upcast()
    }

    fn number(&mut self, hole: &Ref<IncompleteType>) -> u32 {
        if let Some(number) = self.numbers.get(&hole.identity()) {
            return *number;
        }
        let number = self.classes.add(hole.clone());
        self.numbers.insert(hole.identity(), number);
        self.bound.push(None);
        self.waiting.push(Vec::new());
        number
    }

    fn root(&mut self, hole: &Ref<IncompleteType>) -> u32 {
        let number = self.number(hole);
        self.classes.root(number)
    }

    /// The type itself, or the known type of a hole, or the hole that represents the
    /// class. Parts may still be holes.
    pub(super) fn head(&mut self, ty: &Ref<Type>) -> Ref<Type> {
        let Some(hole) = ty.downcast_ref::<IncompleteType>() else {
            return ty.clone();
        };
        let root = self.root(hole);
        match &self.bound[root as usize] {
            Some(ty) => ty.clone(),
            None => self.classes.data(root).clone().upcast(),
        }
    }

    /// Like [`head`](Self::head), also for the fields of a tuple.
    pub(super) fn head_and_fields(&mut self, ty: &Ref<Type>) -> Ref<Type> {
        let ty = self.head(ty);
        let Some(tuple) = ty.downcast_ref::<TupleType>() else {
            return ty;
        };
        if tuple
            .fields
            .iter()
            .all(|field| !field.isa::<IncompleteType>())
        {
            return ty;
        }
        let fields: Vec<_> = tuple.fields.iter().map(|field| self.head(field)).collect();
        TupleType::new(fields).upcast()
    }

    /// Sets the type of a hole without a type.
    pub(super) fn bind(&mut self, hole: &Ref<IncompleteType>, ty: Ref<Type>) {
        let root = self.root(hole) as usize;
        self.bound[root] = Some(ty);
        self.woken.append(&mut self.waiting[root]);
    }

    /// Makes two holes without types the same.
    pub(super) fn join(&mut self, left: &Ref<IncompleteType>, right: &Ref<IncompleteType>) {
        let roots = [self.root(left), self.root(right)];
        if !self.classes.join(roots[0], roots[1]) {
            return;
        }
        let root = self.classes.root(roots[0]);
        let other = if roots[0] == root { roots[1] } else { roots[0] };
        let mut moved = std::mem::take(&mut self.waiting[other as usize]);
        self.waiting[root as usize].append(&mut moved);
    }

    /// Lets a relation wait for a hole, or for those among the fields of a tuple.
    pub(super) fn wait(&mut self, relation: u32, head: &Ref<Type>) {
        let fields = head
            .downcast_ref::<TupleType>()
            .map(|tuple| tuple.fields.iter().cloned().collect());
        for part in fields.unwrap_or_else(|| vec![head.clone()]) {
            let part = self.head(&part);
            if let Some(hole) = part.downcast_ref::<IncompleteType>() {
                let root = self.root(hole) as usize;
                self.waiting[root].push(relation);
            }
        }
    }

    /// The type with all holes replaced by their types, once no more will be found.
    /// Linear in the distinct types over all calls.
    pub(super) fn complete(&mut self, ty: &Ref<Type>) -> Result<Ref<Type>, IncompleteReason> {
        let mut stack = vec![(ty.clone(), false)];
        while let Some((ty, is_leaving)) = stack.pop() {
            let id = ty.identity();
            if is_leaving {
                let completed = self.completed(&ty);
                self.settled
                    .insert(completed.identity(), Settled::Done(completed.clone()));
                self.settled.insert(id, Settled::Done(completed));
                continue;
            }
            let failure = match self.settled.get(&id) {
                Some(Settled::Done(_)) => continue,
                Some(Settled::Failed(why)) => Some(*why),
                // The type was entered and not left, so the type contains itself.
                Some(Settled::Entered) => Some(IncompleteReason::Infinite),
                None => None,
            };
            let inner = self.inner(&ty);
            let failure = failure.or_else(|| match ty.downcast_ref::<IncompleteType>() {
                Some(hole) if inner.is_empty() => Some(IncompleteReason::Unknown(self.root(hole))),
                _ => None,
            });
            if let Some(why) = failure {
                return Err(self.fail(ty, stack, why));
            }
            if inner.is_empty() {
                self.settled.insert(id, Settled::Done(ty));
                continue;
            }
            self.settled.insert(id, Settled::Entered);
            stack.push((ty, true));
            stack.extend(inner.into_iter().map(|part| (part, false)));
        }
        match self.settled.get(&ty.identity()) {
            Some(Settled::Done(completed)) => Ok(completed.clone()),
            _ => Ok(ty.clone()),
        }
    }

    /// The type of completed parts.
    fn completed(&mut self, ty: &Ref<Type>) -> Ref<Type> {
        let parts: Vec<Ref<Type>> = self
            .inner(ty)
            .into_iter()
            .map(|part| match self.settled.get(&part.identity()) {
                Some(Settled::Done(part)) => part.clone(),
                _ => part,
            })
            .collect();
        if ty.isa::<IncompleteType>() {
            parts[0].clone()
        } else {
            rebuilt(ty, &parts)
        }
    }

    /// Types around an incomplete type cannot be completed, either.
    fn fail(
        &mut self,
        ty: Ref<Type>,
        stack: Vec<(Ref<Type>, bool)>,
        why: IncompleteReason,
    ) -> IncompleteReason {
        let entered = stack.into_iter().filter(|(_, is_leaving)| *is_leaving);
        for (ty, _) in entered.chain([(ty, true)]) {
            self.settled.insert(ty.identity(), Settled::Failed(why));
        }
        why
    }

    /// The parts of a type; for a hole, the type found for the hole.
    fn inner(&mut self, ty: &Ref<Type>) -> Vec<Ref<Type>> {
        match ty.downcast_ref::<IncompleteType>() {
            Some(hole) => {
                let root = self.root(hole);
                self.bound[root as usize].iter().cloned().collect()
            }
            None => parts_of(ty),
        }
    }

    /// The type with type variables replaced, and with the known types of its holes.
    /// Unknown holes stay.
    pub(super) fn instantiated(
        &mut self,
        ty: &Ref<Type>,
        replacements: &ById<Ref<Type>>,
    ) -> Ref<Type> {
        self.replaced(ty, replacements, None)
    }

    /// Like [`instantiated`](Self::instantiated), with a new hole in place of every
    /// unknown hole: the type found later may mention the type variables. Also returns
    /// the pairs of old and new holes.
    pub(super) fn instance(
        &mut self,
        ty: &Ref<Type>,
        replacements: &ById<Ref<Type>>,
    ) -> (Ref<Type>, Vec<[Ref<Type>; 2]>) {
        let mut open = Vec::new();
        let made = self.replaced(ty, replacements, Some(&mut open));
        (made, open)
    }

    fn replaced(
        &mut self,
        ty: &Ref<Type>,
        replacements: &ById<Ref<Type>>,
        mut open: Option<&mut Vec<[Ref<Type>; 2]>>,
    ) -> Ref<Type> {
        // None for a type with parts being replaced; occurrences inside of the type
        // itself stay.
        let mut results: ById<Option<Ref<Type>>> = ById::default();
        let mut stack = vec![(ty.clone(), false)];
        while let Some((ty, is_leaving)) = stack.pop() {
            let id = ty.identity();
            if !is_leaving && results.contains_key(&id) {
                continue;
            }
            if ty.isa::<TypeVar>() {
                results.insert(id, Some(replacements.get(&id).unwrap_or(&ty).clone()));
                continue;
            }
            // The only part of a hole is the type known so far.
            let parts = if ty.isa::<IncompleteType>() {
                vec![self.head(&ty)]
            } else {
                parts_of(&ty)
            };
            if let [head] = &parts[..]
                && head.same_as(&ty)
            {
                let hole = match &mut open {
                    Some(open) => {
                        let hole = self.hole();
                        open.push([ty, hole.clone()]);
                        hole
                    }
                    None => ty,
                };
                results.insert(id, Some(hole));
            } else if is_leaving {
                let new: Vec<_> = parts
                    .iter()
                    .map(|part| {
                        let new = results.get(&part.identity()).cloned().flatten();
                        new.unwrap_or_else(|| part.clone())
                    })
                    .collect();
                let new = if ty.isa::<IncompleteType>() {
                    new[0].clone()
                } else {
                    rebuilt(&ty, &new)
                };
                results.insert(id, Some(new));
            } else if parts.is_empty() {
                results.insert(id, Some(ty));
            } else {
                results.insert(id, None);
                stack.push((ty, true));
                stack.extend(parts.into_iter().map(|part| (part, false)));
            }
        }
        let result = results.remove(&ty.identity()).flatten();
        result.unwrap_or_else(|| ty.clone())
    }
}

/// The parts of a type.
pub(super) fn parts_of(ty: &Ref<Type>) -> Vec<Ref<Type>> {
    if ty.isa::<TensorType>() {
        return Vec::new();
    }
    if let Some(tuple) = ty.downcast_ref::<TupleType>() {
        return tuple.fields.iter().cloned().collect();
    }
    if let Some(func) = ty.downcast_ref::<FuncType>() {
        let args = func.arg_types.iter();
        return args.chain([&func.ret_type]).cloned().collect();
    }
    if let Some(reference) = ty.downcast_ref::<RelayRefType>() {
        return vec![reference.value.clone()];
    }
    if let Some(call) = ty.downcast_ref::<TypeCall>() {
        return call.args.iter().cloned().collect();
    }
    Vec::new()
}

/// The type with other parts; the same type for the same parts.
pub(super) fn rebuilt(ty: &Ref<Type>, parts: &[Ref<Type>]) -> Ref<Type> {
    let old = parts_of(ty);
    let same = |(old, new): (&Ref<Type>, &Ref<Type>)| old.same_as(new);
    if old.iter().zip(parts).all(same) {
        return ty.clone();
    }
    let all = || parts.iter().cloned().collect::<Array<Ref<Type>>>();
    if ty.isa::<TupleType>() {
        return TupleType::new(all()).upcast();
    }
    if let (Some(func), Some((result, args))) = (ty.downcast_ref::<FuncType>(), parts.split_last())
    {
        let args: Array<Ref<Type>> = args.iter().cloned().collect();
        return FuncType::new(args, result)
            .with_type_params(func.type_params.clone())
            .with_type_constraints(func.type_constraints.clone())
            .upcast();
    }
    if ty.isa::<RelayRefType>() {
        return RelayRefType::new(&parts[0]).upcast();
    }
    if let Some(call) = ty.downcast_ref::<TypeCall>() {
        return TypeCall::new(&call.func, all()).upcast();
    }
    ty.clone()
}

/// True if two types are equal on one level: same class with the same objects as parts,
/// or equal tensors.
pub(super) fn is_same_level(left: &Ref<Type>, right: &Ref<Type>) -> bool {
    if left.same_as(right) {
        return true;
    }
    if left.type_index() != right.type_index() {
        return false;
    }
    if let (Some(left), Some(right)) = (
        left.downcast_ref::<TensorType>(),
        right.downcast_ref::<TensorType>(),
    ) {
        return left.dtype == right.dtype
            && left.shape.len() == right.shape.len()
            && isoform::structural_equal(left, right).unwrap_or(false);
    }
    if let (Some(left), Some(right)) = (
        left.downcast_ref::<FuncType>(),
        right.downcast_ref::<FuncType>(),
    ) {
        let same = |(left, right): (&Ref<TypeVar>, &Ref<TypeVar>)| left.same_as(right);
        if left.type_params.len() != right.type_params.len()
            || !left
                .type_params
                .iter()
                .zip(right.type_params.iter())
                .all(same)
            || !(left.type_constraints.is_empty() && right.type_constraints.is_empty())
        {
            return false;
        }
    } else if let (Some(left), Some(right)) = (
        left.downcast_ref::<TypeCall>(),
        right.downcast_ref::<TypeCall>(),
    ) {
        if !left.func.same_as(&right.func) {
            return false;
        }
    } else if !(left.isa::<TupleType>() || left.isa::<RelayRefType>()) {
        return false;
    }
    let (left, right) = (parts_of(left), parts_of(right));
    let same = |(left, right): (&Ref<Type>, &Ref<Type>)| left.same_as(right);
    left.len() == right.len() && left.iter().zip(&right).all(same)
}
