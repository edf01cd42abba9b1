//! Types with a walk or rewrite of their own, whose hooks are shown the running
//! visit.

use super::run::Run;
use super::{Call, Hooks, Memory, Methods, Outcome, Stop, result_of};
use crate::kernel::error::Error;
use crate::kernel::hooks::{DynMutate, DynVisit, Hook, MutateCallback, VisitCallback, run_outside};
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;

impl<M: Methods> Run<'_, M> {
    /// The result for an object from the hook of its type; None without a hook.
    pub(super) fn by_hook(
        &self,
        object: &Ref<Obj>,
        region: RegionKind,
    ) -> Option<Outcome<M::Answer, M>> {
        let methods = self.methods;
        let info = object.type_info();
        let mut hooked = Hooked {
            methods,
            object,
            region,
        };
        let ended = match methods.hooks() {
            Hooks::None => return None,
            Hooks::Visit => {
                let hook = self.hooks.visit(info)?;
                let visit = || hook.call(object, &mut hooked);
                match run_outside(DynVisit::NAME, info.key(), visit) {
                    Ok(Some(end)) => return Some(Err(Stop::End(end))),
                    Ok(None) => Ok(Value::NONE),
                    Err(error) => Err(error),
                }
            }
            Hooks::Mutate => {
                let hook = self.hooks.mutate(info)?;
                let mutate = || hook.call(object, &mut hooked);
                run_outside(DynMutate::NAME, info.key(), mutate)
            }
        };
        Some(match ended {
            Ok(value) => Ok(methods.answer_of(value)),
            Err(error) => Err(Stop::Error(error.into())),
        })
    }
}

/// The running visit as seen by the hook of a type.
struct Hooked<'m, M> {
    methods: &'m M,
    object: &'m Ref<Obj>,
    region: RegionKind,
}

impl<M: Methods> Hooked<'_, M> {
    fn part(&self, value: &Value, region: RegionKind) -> Outcome<M::Reply, M> {
        result_of(self.methods, value, region, Some(&self.object.into()))
    }

    /// The result for a value by its children: by the hook of its type, unless this
    /// hook is asking.
    fn below(&self, value: &Value, region: RegionKind) -> Outcome<M::Reply, M> {
        let object = Value::from(self.object);
        let asks = value.as_object().is_some_and(|it| it.same_as(self.object));
        Run::new(self.methods).nested(value, Some(&object), |run| {
            if asks {
                run.open(value, region, None);
                return Ok(None);
            }
            run.begin(Call::Children, value.clone(), region, None)
        })
    }

    fn ended(outcome: Outcome<M::Reply, M>) -> Result<Option<Value>, Error> {
        match outcome {
            Ok(_) => Ok(None),
            Err(Stop::End(end)) => Ok(Some(end)),
            Err(Stop::Error(error)) => Err(error.into()),
        }
    }

    fn replaced(outcome: Outcome<M::Reply, M>) -> Result<Value, Error> {
        match outcome {
            Ok(reply) => Ok(M::replacement(reply).unwrap_or(Value::NONE)),
            Err(Stop::End(_)) => Ok(Value::NONE),
            Err(Stop::Error(error)) => Err(error.into()),
        }
    }
}

impl<M: Methods> VisitCallback for Hooked<'_, M> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>, Error> {
        Self::ended(self.part(value, region))
    }

    fn visit_children_in(
        &mut self,
        value: &Value,
        region: RegionKind,
    ) -> Result<Option<Value>, Error> {
        Self::ended(self.below(value, region))
    }
}

impl<M: Methods> MutateCallback for Hooked<'_, M> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value, Error> {
        Self::replaced(self.part(value, region))
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value, Error> {
        Self::replaced(self.below(value, region))
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        let reply = |memory: &mut Memory<M::Answer>| {
            let answer = memory.answer(var.identity())?;
            Some(self.methods.reply(answer))
        };
        M::replacement(self.methods.memory(reply)?)
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        let answer = self.methods.answer_of(value);
        let old = self
            .methods
            .memory(|memory| memory.set(var.identity(), answer));
        // Dropping the old value may run code that begins another run.
        drop(old);
    }

    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value) {
        let old = self
            .methods
            .memory(|memory| memory.set_use(var.identity(), value));
        // Dropping the old value may run code that begins another run.
        drop(old);
    }

    fn image(&mut self, object: &Ref<Obj>) -> Option<Value> {
        self.remapped(object)
    }
}
