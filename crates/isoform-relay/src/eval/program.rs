//! The functions named in programs, as closures.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::plan::Unit;
use super::run::Runner;
use super::values::{Closure, Entry, code};
use crate::{AsExpr, Function};
use isoform::{Array, Error, Ref, Result};
use isoform_ir::ir::{GlobalVar, IRModule};

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) runner: Runner,
    /// The maximal number of open calls.
    pub(super) max_depth: usize,
}

/// The functions available to expressions, and limits.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) module: Option<Ref<IRModule>>,
    pub(super) limits: Limits,
    /// The called functions, by identity.
    pub(super) globals: Mutex<HashMap<u64, Ref<Closure>, RandomState>>,
}

impl Program {
    /// The value of a function of the module.
    pub(super) fn global(&self, var: &Ref<GlobalVar>) -> Result<Ref<Closure>> {
        let module = self.module.as_ref().ok_or_else(|| {
            Error::value_error(format!(
                "the function @{} needs a module: give the evaluator the one that defines it",
                var.name_hint
            ))
        })?;
        let func = module.lookup(var)?;
        let closures = self.globals.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(closure) = closures.get(&func.identity()) {
            return Ok(closure.clone());
        }
        drop(closures);
        let func = func
            .cast::<Function>()
            .map_err(|error| error.noted(format!("in the function @{}", var.name_hint)))?;
        let in_function = |error: Error| error.noted(format!("in the function @{}", var.name_hint));
        let unit = Unit::of(&func.expr()).map_err(in_function)?;
        let function = unit.entry.unwrap_or_default();
        let entry = Entry {
            unit: Arc::new(unit),
            function,
        };
        let closure = Closure::of(&func, &code(entry), Array::new());
        let mut closures = self.globals.lock().unwrap_or_else(PoisonError::into_inner);
        closures.insert(func.identity(), closure.clone());
        Ok(closure)
    }
}
