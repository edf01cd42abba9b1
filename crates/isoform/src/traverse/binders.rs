//! The variables that a value binds: free variables, new variables for all binders, and
//! faults of bindings.

use std::fmt;
use std::ops::Deref;

use hashbrown::{HashMap, HashSet};

use super::bound::BindingScopes;
use super::substitute::Substitution;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access;
use crate::kernel::object::arena::Arena;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;

/// The variables occurring free in a value, each once, in the order of their first free
/// occurrence. Bindings are the bindings of [`substitute`](super::substitute); the fields
/// of free variables are not searched. Linear in the number of distinct objects as long as
/// each variable is bound once.
///
/// # Errors
///
/// `ValueError` for a cyclic value.
pub fn free_variables(root: impl Into<Value>) -> Result<Vec<Ref<Obj>>> {
    Ok(search(&root.into(), Purpose::Replace)?.1.free)
}

/// A copy of a value in which every binder has a new variable; the copy is structurally
/// equal to the value, and its free variables are the same.
///
/// Bindings are the bindings of [`substitute`](super::substitute). A variable bound by
/// several objects becomes a new variable for each of them, so a body that is put into a
/// program several times binds nothing twice. Sharing is kept: an object reached on several
/// paths remains one object with one new variable, and parts without a binder are the same
/// objects. Linear in the number of distinct objects as long as each variable is bound
/// once.
///
/// # Errors
///
/// `ValueError` for a cyclic value.
pub fn fresh_binders(root: impl Into<Value>) -> Result<Value> {
    Ok(search(&root.into(), Purpose::Fresh)?.0)
}

/// The faults of the bindings in a value, in the order of a walk: none if every variable is
/// bound at most once, and all uses of a bound variable are inside of its scope, after its
/// definition.
///
/// Variables that nothing in the value binds are free, and no fault; [`free_variables`]
/// returns them. An object reached on several paths binds its variables once. Variables in
/// the fields of a bound variable, such as a size in its type, are bound together with it
/// wherever they are met, and are not checked. Linear in the number of distinct objects as
/// long as each variable is bound once, plus the depth of each fault.
///
/// Comparison, hashes and the other functions cope with all faults. Passes that keep facts
/// by variable do not: [`fresh_binders`] repairs variables that are bound twice in
/// different scopes.
///
/// # Errors
///
/// `ValueError` for a cyclic value.
///
/// ```
/// use isoform::traverse::check_well_formed;
/// let value = isoform::Array::from([1i64, 2]);
/// check_well_formed(value)?.into_result()?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn check_well_formed(root: impl Into<Value>) -> Result<BindingFaults> {
    Ok(BindingFaults(
        search(&root.into(), Purpose::Audit)?.1.faults,
    ))
}

/// Visits a value without replacing a variable, and returns the result, the free
/// variables and, if wanted, the faults of bindings.
fn search(root: &Value, purpose: Purpose) -> Result<(Value, Findings)> {
    let parts = Arena::default();
    let mut search = Substitution::new(BindingScopes::default(), HashSet::new(), &parts);
    search.purpose = purpose;
    search.bound.tell_bindings_apart();
    search.free = Some(Vec::new());
    let result = access::traversing(|section| search.substitute(section, root))?;
    let free = search.free.unwrap_or_default();
    let faults = search.audit.faults;
    Ok((result, Findings { free, faults }))
}

/// The purpose of a visit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The variables of the substitution are replaced.
    Replace,
    /// Every binder gets a new variable.
    Fresh,
    /// The bindings are checked.
    Audit,
}

/// The results of a [`search`].
struct Findings {
    free: Vec<Ref<Obj>>,
    faults: Vec<BindingFault>,
}

/// The faults found by [`check_well_formed`], a slice.
#[derive(Clone, Debug, Default)]
#[must_use = "the faults are a result and no error; `into_result` makes them one"]
pub struct BindingFaults(Vec<BindingFault>);

impl BindingFaults {
    /// Makes an error of the faults.
    ///
    /// # Errors
    ///
    /// `ValueError` with all faults, if there are any.
    pub fn into_result(self) -> Result<()> {
        let count = match self.len() {
            0 => return Ok(()),
            1 => "1 fault".to_owned(),
            count => format!("{count} faults"),
        };
        let mut text = format!("the bindings have {count}:");
        for fault in &self {
            text += &format!("\n  {fault}");
        }
        Err(Error::value_error(text))
    }
}

impl Deref for BindingFaults {
    type Target = [BindingFault];

    fn deref(&self) -> &[BindingFault] {
        &self.0
    }
}

impl IntoIterator for BindingFaults {
    type Item = BindingFault;
    type IntoIter = std::vec::IntoIter<BindingFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a BindingFaults {
    type Item = &'a BindingFault;
    type IntoIter = std::slice::Iter<'a, BindingFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A fault of a binding, found by [`check_well_formed`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BindingFault {
    /// The place of the occurrence that makes the fault.
    pub path: AccessPath,
    /// The variable.
    pub var: Ref<Obj>,
    /// The kind of fault.
    pub kind: BindingFaultKind,
}

/// The kinds of faults of bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindingFaultKind {
    /// The variable is bound here, and is bound elsewhere, too.
    BoundTwice,
    /// The variable is bound here, and was used before, where it is not bound.
    UsedBefore,
    /// The variable is used here, and was bound before in a scope that has ended.
    UsedOutside,
}

impl fmt::Display for BindingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self.kind {
            BindingFaultKind::BoundTwice => "is bound a second time here",
            BindingFaultKind::UsedBefore => "is bound here and used before, outside of the scope",
            BindingFaultKind::UsedOutside => "is used here, outside of the scope that binds it",
        };
        write!(f, "{}: the variable {:?} {fault}", self.path, self.var)
    }
}

/// The bindings met so far by [`check_well_formed`].
#[derive(Default)]
pub(super) struct Audit {
    /// The object that binds a variable, by variable.
    binders: HashMap<u64, u64>,
    /// Variables with a reported use.
    reported: HashSet<u64>,
    pub(super) faults: Vec<BindingFault>,
}

impl Audit {
    /// Records that an object binds a variable. Returns the fault, if any.
    pub(super) fn note_binding(
        &mut self,
        var: u64,
        binder: u64,
        bound: &BindingScopes,
    ) -> Option<BindingFaultKind> {
        match self.binders.insert(var, binder) {
            // The same object is visited again where other variables have other meanings.
            Some(known) if known == binder => None,
            Some(_) => Some(BindingFaultKind::BoundTwice),
            None => bound.is_used_free(var).then(|| {
                self.reported.insert(var);
                BindingFaultKind::UsedBefore
            }),
        }
    }

    /// Records a free use of a variable. Returns the fault, if any.
    pub(super) fn note_free_use(&mut self, var: u64) -> Option<BindingFaultKind> {
        let is_fault = self.binders.contains_key(&var) && self.reported.insert(var);
        is_fault.then_some(BindingFaultKind::UsedOutside)
    }
}
