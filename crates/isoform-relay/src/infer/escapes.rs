//! Type variables in types outside of the functions that bind them.

use std::rc::Rc;

use hashbrown::HashSet;

use super::collect::Inference;
use super::types::{ById, Generic, parts_of};
use crate::text::type_text;
use crate::{AsExpr, Call};
use isoform::Ref;
use isoform_ir::ir::{FuncType, Type, TypeVar};

/// Distinct type variables, by identity.
type Mentioned = Rc<[Ref<TypeVar>]>;

impl Inference<'_> {
    /// Reports type variables in types outside of their scope: inside of a function
    /// with type parameters, inference found the type for an expression outside. Linear
    /// in the types, times the number of type variables per type.
    pub(super) fn report_escapes(&mut self, types: &[Ref<Type>]) {
        if self.generics.is_empty() {
            return;
        }
        // The numbers of the parts that may mention a type variable. Parameters may
        // have smaller numbers than the other parts, since calls need the types of
        // parameters.
        let mut homes: ById<Vec<(u32, u32)>> = ById::default();
        for Generic { function, start } in &self.generics {
            let end = self.number(&function.expr()).unwrap_or(self.next());
            let params = function
                .params
                .iter()
                .filter_map(|param| self.number(&param.expr()));
            let places: Vec<_> = params.map(|number| (number, number + 1)).collect();
            for var in function.type_params.iter() {
                let home = homes.entry(var.identity()).or_default();
                home.push((*start, end));
                home.extend(&places);
            }
        }
        for home in homes.values_mut() {
            home.sort_unstable();
            home.dedup_by(|next, last| {
                let overlap = next.0 <= last.1;
                if overlap {
                    last.1 = last.1.max(next.1);
                }
                overlap
            });
        }
        let broken: HashSet<u32> = self.problems.roots().collect();
        let mut mentions = Mentions::default();
        // For every type variable of a root, the place, and true if the place is a
        // call.
        let mut escapes: Vec<(u32, Ref<TypeVar>, u32, bool)> = Vec::new();
        let mut places: ById<usize> = ById::default();
        for (number, ty) in (0_u32..).zip(types) {
            for var in mentions.of(ty).iter() {
                let Some(home) = homes.get(&var.identity()) else {
                    continue;
                };
                let owner = self.owners[number as usize];
                if is_within(home, number) || broken.contains(&owner) {
                    continue;
                }
                let is_call = self.exprs[number as usize].isa::<Call>();
                let next = escapes.len();
                let place = *places.entry(var.identity()).or_insert(next);
                match escapes.get_mut(place) {
                    None => escapes.push((owner, var.clone(), number, is_call)),
                    Some((.., old_number, was_call)) if is_call && !*was_call => {
                        (*old_number, *was_call) = (number, true);
                    }
                    Some(_) => {}
                }
            }
        }
        for (owner, var, number, is_call) in escapes {
            let what = if is_call { "call" } else { "expression" };
            let (name, ty) = (&var.name_hint, type_text(&types[number as usize]));
            self.problems.root = owner;
            self.problems.add(
                number,
                format!(
                    "the type of this {what} is {ty}, but the type variable {name} means \
                     something only inside the function that has it as a type parameter: \
                     annotate what is used outside of that function with a type without {name}"
                ),
            );
        }
    }
}

/// True if one of the sorted, separate ranges contains the number.
fn is_within(ranges: &[(u32, u32)], number: u32) -> bool {
    let before = ranges.partition_point(|(start, _)| *start <= number);
    before > 0 && number < ranges[before - 1].1
}

/// The free type variables of types, remembered.
#[derive(Default)]
struct Mentions {
    known: ById<Mentioned>,
    none: Mentioned,
}

impl Mentions {
    fn of(&mut self, ty: &Ref<Type>) -> Mentioned {
        let mut stack = vec![(ty.clone(), false)];
        while let Some((ty, is_leaving)) = stack.pop() {
            let id = ty.identity();
            if self.known.contains_key(&id) {
                continue;
            }
            let parts = parts_of(&ty);
            if !is_leaving && !parts.is_empty() {
                stack.push((ty, true));
                stack.extend(parts.into_iter().map(|part| (part, false)));
                continue;
            }
            let mentioned = self.joined(&ty, &parts);
            self.known.insert(id, mentioned);
        }
        self.known.get(&ty.identity()).unwrap_or(&self.none).clone()
    }

    /// The type variables of a type with known parts.
    fn joined(&self, ty: &Ref<Type>, parts: &[Ref<Type>]) -> Mentioned {
        if let Some(var) = ty.downcast_ref::<TypeVar>() {
            return Rc::new([var.clone()]);
        }
        let own = ty.downcast_ref::<FuncType>().map(|func| &func.type_params);
        let is_own =
            |var: &Ref<TypeVar>| own.is_some_and(|own| own.iter().any(|own| own.same_as(var)));
        let mut sets = parts
            .iter()
            .filter_map(|part| self.known.get(&part.identity()))
            .filter(|set| !set.is_empty());
        let Some(first) = sets.next() else {
            return self.none.clone();
        };
        let mut rest = sets.filter(|set| !Rc::ptr_eq(set, first)).peekable();
        if rest.peek().is_none() && !first.iter().any(is_own) {
            return first.clone();
        }
        let mut seen = HashSet::new();
        let all = first
            .iter()
            .chain(rest.flat_map(|set| set.iter()))
            .filter(|var| !is_own(var) && seen.insert(var.identity()));
        all.cloned().collect()
    }
}
