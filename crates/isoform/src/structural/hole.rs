//! Holes, and how the comparison looks them up.

use std::fmt;
use std::sync::Arc;

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use crate::kernel::error::{Error, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::object::view::Met;
use crate::kernel::value::Value;

/// Decides whether a hole matches a part.
pub type Guard = dyn Fn(&Value) -> Result<bool> + Send + Sync;

/// A variable of a template that matches any part of a value.
#[derive(Clone)]
pub struct Hole {
    var: Value,
    class: Option<TypeIndex>,
    guard: Option<Arc<Guard>>,
}

impl Hole {
    /// Makes a hole from a variable.
    pub fn new(var: impl Into<Value>) -> Hole {
        Hole {
            var: var.into(),
            class: None,
            guard: None,
        }
    }

    /// Restricts the hole to objects of a class or one that extends it.
    ///
    /// ```
    /// use isoform::pattern::{Hole, Pattern};
    /// use isoform::tir;
    /// use isoform::values::DType;
    ///
    /// let (x, y) = (tir::Var::new("x", DType::INT32), tir::Var::new("y", DType::INT32));
    /// let any_sum = Pattern::new(&x, [Hole::new(&x).class::<tir::Add>()])?;
    /// assert!(any_sum.match_value(&tir::Add::new(&y, &y)?.into())?.is_some());
    /// assert!(any_sum.match_value(&y.into())?.is_none());
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn class<T: Node>(self) -> Hole {
        self.class_index(T::type_index())
    }

    /// Like [`class`](Self::class), with a type given by its index.
    #[must_use]
    pub fn class_index(mut self, class: TypeIndex) -> Hole {
        self.class = Some(class);
        self
    }

    /// Restricts the hole to parts that a function accepts. It is called after
    /// the fields have been compared, and must return the same result for equal
    /// parts.
    #[must_use]
    pub fn guard(mut self, guard: impl Fn(&Value) -> Result<bool> + Send + Sync + 'static) -> Hole {
        self.guard = Some(Arc::new(guard));
        self
    }

    /// The variable.
    pub fn var(&self) -> &Value {
        &self.var
    }

    /// The class that is required.
    pub fn required_class(&self) -> Option<TypeIndex> {
        self.class
    }
}

impl fmt::Debug for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hole")
            .field("var", &self.var)
            .field("class", &self.class)
            .field("guarded", &self.guard.is_some())
            .finish()
    }
}

impl<T: Node> From<&Ref<T>> for Hole {
    fn from(var: &Ref<T>) -> Hole {
        Hole::new(var)
    }
}

impl From<Value> for Hole {
    fn from(var: Value) -> Hole {
        Hole::new(var)
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
    /// `TypeError` if a hole is not a variable, `ValueError` if one is given
    /// twice.
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

    pub(crate) fn holes(&self) -> &[Hole] {
        &self.holes
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

/// The identity number of a value, if it is a variable.
pub(crate) fn variable(value: &Value) -> Option<u64> {
    Met::of(value).variable()
}
