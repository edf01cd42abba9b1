//! Types with a traversal or a rewrite of their own, whose hooks are shown the
//! running visit.

use isoform::hooks::{MutateCallback, VisitCallback};
use isoform::host::{mutate_by_hook, visit_by_hook};
use isoform::types::RegionKind;
use isoform::{Obj, Ref, Value};
use pyo3::prelude::*;

use super::driver::{Answer, NodeDriver, Outcome, Rule, Stop};
use crate::convert::{HostObject, to_python};
use crate::error::{IntoPyResult, from_python};
use crate::walk::InterruptHandle;

impl NodeDriver {
    /// The result for an object from the hook of its type; None if there is
    /// none.
    pub(super) fn by_hook(
        &self,
        py: Python<'_>,
        object: &Ref<Obj>,
        region: RegionKind,
    ) -> Option<Outcome<Answer>> {
        let mut hooked = Hooked {
            driver: self,
            py,
            object,
            region,
        };
        match self.rule {
            Rule::Visit => {
                let end = visit_by_hook(object, &mut hooked)?.into_py();
                Some(match end {
                    Ok(None) => Ok(Answer::Nothing),
                    Ok(Some(end)) => Err(interrupt(py, &end)),
                    Err(error) => Err(error.into()),
                })
            }
            Rule::Rewrite => {
                let result = mutate_by_hook(object, &mut hooked)?.into_py();
                Some(result.map(Answer::Value).map_err(Stop::from))
            }
            Rule::Compute => None,
        }
    }
}

/// The interrupt with which a hook ended the visit.
fn interrupt(py: Python<'_>, end: &Value) -> Stop {
    let made = to_python(py, end).and_then(|end| {
        if end.is_instance_of::<InterruptHandle>() {
            return Ok(end);
        }
        py.get_type::<InterruptHandle>().call1((end,))
    });
    match made {
        Ok(interrupt) => Stop::Interrupt(interrupt.unbind()),
        Err(error) => Stop::Error(error),
    }
}

/// The running visit as the hook of a type sees it.
struct Hooked<'a, 'py> {
    driver: &'a NodeDriver,
    py: Python<'py>,
    object: &'a Ref<Obj>,
    region: RegionKind,
}

impl Hooked<'_, '_> {
    fn ended(&self, outcome: Outcome<Answer>) -> isoform::Result<Option<Value>> {
        match outcome {
            Ok(_) => Ok(None),
            Err(Stop::Interrupt(end)) => Ok(Some(HostObject::wrap(end.bind(self.py)))),
            Err(Stop::Error(error)) => Err(from_python(error)),
        }
    }

    fn value(outcome: Outcome<Answer>) -> isoform::Result<Value> {
        match outcome {
            Ok(Answer::Value(value)) => Ok(value),
            Ok(Answer::Nothing | Answer::Python(_)) | Err(Stop::Interrupt(_)) => Ok(Value::NONE),
            Err(Stop::Error(error)) => Err(from_python(error)),
        }
    }
}

impl VisitCallback for Hooked<'_, '_> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Option<Value>> {
        self.ended(self.driver.run(self.py, value, region))
    }

    fn visit_children_in(
        &mut self,
        value: &Value,
        region: RegionKind,
    ) -> isoform::Result<Option<Value>> {
        let hooked = Some(self.object);
        self.ended(self.driver.run_children(self.py, value, region, hooked))
    }
}

impl MutateCallback for Hooked<'_, '_> {
    fn region(&self) -> RegionKind {
        self.region
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Value> {
        Self::value(self.driver.run(self.py, value, region))
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> isoform::Result<Value> {
        let hooked = Some(self.object);
        Self::value(self.driver.run_children(self.py, value, region, hooked))
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        match self.driver.state().known.get(&var.identity()) {
            Some(Some(Answer::Value(value))) => Some(value.clone()),
            _ => None,
        }
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        let known = Some(Answer::Value(value));
        let old = self.driver.state().known.insert(var.identity(), known);
        // Its end may run code that asks this engine.
        drop(old);
    }

    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value) {
        let old = self.driver.state().uses.insert(var.identity(), value);
        // Its end may run code that asks this engine.
        drop(old);
    }

    fn image(&mut self, object: &Ref<Obj>) -> Option<Value> {
        self.remapped(object)
    }
}
