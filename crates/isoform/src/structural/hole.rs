//! Holes, and how the comparison looks them up.

use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::view::PartRef;
use crate::kernel::value::Value;

/// Decides whether a hole matches a part.
pub type Guard = dyn Fn(&Value) -> Result<bool> + Send + Sync;

/// A variable of a template that matches any part of a value.
#[derive(Clone)]
pub(crate) struct Hole {
    pub(crate) var: Value,
    /// The class that the part must have.
    pub(crate) class: Option<TypeIndex>,
    /// Called after the fields have been compared.
    pub(crate) guard: Option<Arc<Guard>>,
}

impl Hole {
    /// Makes a hole from a variable.
    pub(crate) fn new(var: Value) -> Hole {
        Hole {
            var,
            class: None,
            guard: None,
        }
    }
}

/// The holes of one template.
pub(crate) struct HoleTable {
    holes: Vec<Hole>,
    numbers: HashMap<u64, usize, RandomState>,
}

impl HoleTable {
    /// # Errors
    ///
    /// `TypeError` if a hole is not a variable, `ValueError` if a hole is given twice.
    pub(crate) fn new(holes: Vec<Hole>) -> Result<Self> {
        let mut numbers = HashMap::default();
        for (number, hole) in holes.iter().enumerate() {
            let Some(ident) = variable(&hole.var) else {
                return Err(Error::type_error(format!(
                    "Pattern.holes: expected a variable, got {}",
                    hole.var.type_name()
                )));
            };
            if numbers.insert(ident, number).is_some() {
                return Err(Error::value_error(format!(
                    "Pattern.holes: the variable {:?} is given twice",
                    hole.var
                )));
            }
        }
        Ok(HoleTable { holes, numbers })
    }

    pub(crate) fn len(&self) -> usize {
        self.holes.len()
    }

    /// The number of a variable's hole.
    #[inline]
    pub(crate) fn find(&self, ident: u64) -> Option<usize> {
        self.numbers.get(&ident).copied()
    }

    pub(crate) fn class(&self, hole: usize) -> Option<TypeIndex> {
        self.holes[hole].class
    }

    pub(crate) fn guard(&self, hole: usize) -> Option<Arc<Guard>> {
        self.holes[hole].guard.clone()
    }
}

/// The identity number of a value that is a variable; None for any other value.
pub(crate) fn variable(value: &Value) -> Option<u64> {
    PartRef::of(value).variable()
}
