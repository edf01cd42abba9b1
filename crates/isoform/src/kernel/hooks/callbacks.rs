//! The interface between a running hook and the calling engine: access to the parts of
//! the hook's object.
//!
//! An engine implements the traits; [`GivenFunction`] implements the traits for a
//! function from another language, and [`Callback`] defines the call of a function.

use std::sync::Arc;

use super::crossing::{Answer, Arguments, ask};
use crate::kernel::error::Result;
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::scoped::ScopedRef;
use crate::kernel::types::{RegionChange, RegionKind};
use crate::kernel::value::Value;

/// The callback of a custom equality, inside the function passed to a hook.
///
/// A host language gets the callback, in an `Arc`, from [`Function::content`], and may
/// present the callback as a host object.
pub type ScopedEqual = ScopedRef<dyn EqualCallback>;

/// The callback of a custom hash, inside the function passed to a hook.
pub type ScopedHash = ScopedRef<dyn HashCallback>;

/// The visitor, inside the function passed to a hook.
pub type ScopedVisit = ScopedRef<dyn VisitCallback>;

/// The mutator, inside the function passed to a hook.
pub type ScopedMutate = ScopedRef<dyn MutateCallback>;

/// Compares parts of two objects on behalf of a hook.
pub trait EqualCallback {
    /// Compares two values in a region; `name` becomes the step of the path.
    ///
    /// # Errors
    ///
    /// The errors of the comparison, plus `RecursionError` if hooks nest too deeply.
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool>;

    /// Compares two values in the current region.
    ///
    /// # Errors
    ///
    /// As [`equal_in`](Self::equal_in).
    fn equal(&mut self, left: &Value, right: &Value, name: &str) -> Result<bool> {
        self.equal_in(left, right, RegionChange::Inherit, name)
    }

    /// Runs several comparisons as one alternative: if `alternative` returns false, the
    /// bindings of all its comparisons are undone.
    ///
    /// # Errors
    ///
    /// Errors from `alternative`.
    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool>;
}

/// Hashes parts of an object on behalf of a hook.
pub trait HashCallback {
    /// The hash of a value in a region, starting from `init`: the number that the hook
    /// itself received, or an earlier result.
    ///
    /// # Errors
    ///
    /// The errors of the hash, plus `RecursionError` if hooks nest too deeply.
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64>;

    /// The hash of a value in the current region.
    ///
    /// # Errors
    ///
    /// As [`hash_in`](Self::hash_in).
    fn hash(&mut self, value: &Value, init: u64) -> Result<u64> {
        self.hash_in(value, init, RegionChange::Inherit)
    }

    /// Binds a variable identified by type and fields, like the name of a function in a
    /// module. Hashes of the variable's users then depend on the type and fields alone.
    /// Among several variables with the same fields, only the first is identified by
    /// its fields.
    ///
    /// The custom equality binds variables with the same fields to each other. A
    /// variable with fields other than plain values is bound like any other variable.
    ///
    /// # Errors
    ///
    /// As [`hash_in`](Self::hash_in).
    fn hash_named(&mut self, var: &Value, init: u64) -> Result<u64> {
        self.hash_in(var, init, RegionChange::DefSimple)
    }
}

/// A running walk, for a hook visiting the children of its object itself.
///
/// Both functions return None, or the result with which a callback ended the walk; the
/// hook must return this result at once.
pub trait VisitCallback {
    /// The region of the hook's object.
    fn region(&self) -> RegionKind;

    /// Visits a part in this kind of region.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>>;

    /// Visits the children of a value, but not the value itself: by the value's hook,
    /// or by its fields without a hook. For the object whose hook is running, the
    /// fields are visited.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>>;

    /// [`visit_in`](Self::visit_in), in the region of the hook's object.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit(&mut self, value: &Value) -> Result<Option<Value>> {
        self.visit_in(value, self.region())
    }

    /// As [`visit_children_in`](Self::visit_children_in), in the region of the hook's
    /// object.
    ///
    /// # Errors
    ///
    /// As the walk.
    fn visit_children(&mut self, value: &Value) -> Result<Option<Value>> {
        self.visit_children_in(value, self.region())
    }
}

/// A running rewrite, for a hook that makes the new object itself.
pub trait MutateCallback {
    /// The region of the hook's object.
    fn region(&self) -> RegionKind;

    /// Returns the result of rewriting a part in this kind of region.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value>;

    /// Returns a value with its children rewritten, without calling a callback for the
    /// value itself: by the value's hook, or by its fields without a hook. For the
    /// object whose hook is running, the fields are rewritten.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value>;

    /// The value recorded with [`remap`](Self::remap).
    fn remapped(&self, var: &Ref<Obj>) -> Option<Value>;

    /// Records a replacement for all later occurrences of a variable.
    fn remap(&mut self, var: &Ref<Obj>, value: Value);

    /// Records a replacement for all later uses of a variable, regardless of any
    /// callback for the variable.
    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value);

    /// The replacement of an object at a use; None if no use of the object was visited.
    fn image(&mut self, object: &Ref<Obj>) -> Option<Value>;

    /// [`mutate_in`](Self::mutate_in), in the region of the hook's object.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate(&mut self, value: &Value) -> Result<Value> {
        self.mutate_in(value, self.region())
    }

    /// As [`mutate_children_in`](Self::mutate_children_in), in the region of the hook's
    /// object.
    ///
    /// # Errors
    ///
    /// As the rewrite.
    fn mutate_children(&mut self, value: &Value) -> Result<Value> {
        self.mutate_children_in(value, self.region())
    }
}

/// A callback called as a function.
pub trait Callback {
    /// Converts the arguments from values, calls the callback, and returns the result
    /// as a value.
    ///
    /// # Errors
    ///
    /// `TypeError` for other arguments; errors from the callback.
    fn call(&mut self, given: &[Value]) -> Result<Value>;
}

impl<T: Callback + ?Sized + 'static> ScopedRef<T> {
    /// The callback as a function.
    pub fn function(self: &Arc<Self>) -> Function {
        Function::with_content(Arc::clone(self), |scoped, given| {
            scoped.with(|callback| callback.call(given))
        })
    }
}

impl Callback for dyn FnMut(&[Value]) -> Result<Value> {
    fn call(&mut self, given: &[Value]) -> Result<Value> {
        self(given)
    }
}

// Two parts, the region and the name of the step.
impl Callback for dyn EqualCallback {
    fn call(&mut self, given: &[Value]) -> Result<Value> {
        let mut given = Arguments::new("eq_cb", given, 2, 4)?;
        let (left, right) = (given.value(), given.value());
        let region = given.region_change()?;
        self.equal_in(left, right, region, given.step())
            .map(Answer::show)
    }
}

// A part, the start and the region.
impl Callback for dyn HashCallback {
    fn call(&mut self, given: &[Value]) -> Result<Value> {
        let mut given = Arguments::new("hash_cb", given, 2, 3)?;
        let (value, init) = (given.value(), given.word()?);
        self.hash_in(value, init, given.region_change()?)
            .map(Value::from)
    }
}

// A part, the kind of region, and whether only the children of the part are meant.
impl Callback for dyn VisitCallback {
    fn call(&mut self, given: &[Value]) -> Result<Value> {
        let mut given = Arguments::new("visitor", given, 1, 3)?;
        let part = given.value();
        let region = given.region()?.unwrap_or_else(|| self.region());
        let end = if given.flag()? {
            self.visit_children_in(part, region)
        } else {
            self.visit_in(part, region)
        };
        end.map(Answer::show)
    }
}

// As for a visitor.
impl Callback for dyn MutateCallback {
    fn call(&mut self, given: &[Value]) -> Result<Value> {
        let mut given = Arguments::new("mutator", given, 1, 3)?;
        let part = given.value();
        let region = given.region()?.unwrap_or_else(|| self.region());
        if given.flag()? {
            self.mutate_children_in(part, region)
        } else {
            self.mutate_in(part, region)
        }
    }
}

/// A callback provided by another language as a function.
///
/// Requests beyond the interface of a function go to the callback inside the function,
/// if the callback is our own.
pub(crate) struct GivenFunction<'v>(pub(super) &'v Function);

impl GivenFunction<'_> {
    fn scoped<T: ?Sized + 'static, R>(&self, body: impl FnOnce(&mut T) -> R) -> Option<R> {
        let scoped = self.0.content::<Arc<ScopedRef<T>>>()?;
        scoped.with(|callback| Ok(body(callback))).ok()
    }
}

impl EqualCallback for GivenFunction<'_> {
    fn equal_in(
        &mut self,
        left: &Value,
        right: &Value,
        region: RegionChange,
        name: &str,
    ) -> Result<bool> {
        let region = Value::from(region as i64);
        let given = [left.clone(), right.clone(), region, name.into()];
        ask(self.0, "eq_cb", &given)
    }

    fn attempt(
        &mut self,
        alternative: &mut dyn FnMut(&mut dyn EqualCallback) -> Result<bool>,
    ) -> Result<bool> {
        // Each call undoes its own bindings; the function's language offers no more.
        alternative(self)
    }
}

impl HashCallback for GivenFunction<'_> {
    fn hash_in(&mut self, value: &Value, init: u64, region: RegionChange) -> Result<u64> {
        let region = Value::from(region as i64);
        ask(self.0, "hash_cb", &[value.clone(), init.into(), region])
    }
}

impl VisitCallback for GivenFunction<'_> {
    fn region(&self) -> RegionKind {
        self.scoped::<dyn VisitCallback, _>(|visitor| visitor.region())
            .unwrap_or_default()
    }

    fn visit_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        ask(self.0, "visitor", &[value.clone(), number(region)])
    }

    fn visit_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Option<Value>> {
        let given = [value.clone(), number(region), true.into()];
        ask(self.0, "visitor", &given)
    }
}

impl MutateCallback for GivenFunction<'_> {
    fn region(&self) -> RegionKind {
        self.scoped::<dyn MutateCallback, _>(|mutator| mutator.region())
            .unwrap_or_default()
    }

    fn mutate_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.0.call(&[value.clone(), number(region)])
    }

    fn mutate_children_in(&mut self, value: &Value, region: RegionKind) -> Result<Value> {
        self.0.call(&[value.clone(), number(region), true.into()])
    }

    fn remapped(&self, var: &Ref<Obj>) -> Option<Value> {
        self.scoped::<dyn MutateCallback, _>(|mutator| mutator.remapped(var))
            .flatten()
    }

    fn remap(&mut self, var: &Ref<Obj>, value: Value) {
        self.scoped::<dyn MutateCallback, _>(|mutator| mutator.remap(var, value));
    }

    fn remap_uses(&mut self, var: &Ref<Obj>, value: Value) {
        self.scoped::<dyn MutateCallback, _>(|mutator| mutator.remap_uses(var, value));
    }

    fn image(&mut self, object: &Ref<Obj>) -> Option<Value> {
        self.scoped::<dyn MutateCallback, _>(|mutator| mutator.image(object))
            .flatten()
    }
}

/// The number of a kind of region in calls between languages.
fn number(region: RegionKind) -> Value {
    Value::from(match region {
        RegionKind::Use => 0,
        RegionKind::Def => 1,
        RegionKind::DefSimple => 2,
    })
}
