//! Copies of values: of one object, or of everything below.

use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::Hook;
use crate::kernel::hooks::{self, DynCopy};
use crate::kernel::object::build;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::value::Value;

/// Returns a copy of a value and all values below: of objects of declared types and of
/// containers.
///
/// An object reached in several ways is copied once: the copy has the sharing and the
/// cycles of the original. Values without an identity are shared with the original:
/// numbers, strings, bytes, shapes, tensors, functions and opaque values. Objects of
/// kind [`singleton`](crate::types::Kind::Singleton) are shared, too, since their
/// identity is their meaning. The keys of maps are copied like values.
///
/// Iterative; linear in the number of distinct objects.
///
/// # Errors
///
/// Whatever the host language raises to interrupt a long copy; the partial copy
/// is dropped.
/// left then.
///
/// ```
/// use isoform::Value;
/// use isoform::traverse::deep_copy;
/// use isoform::values::List;
///
/// let inner = List::from(vec![1i64]);
/// let twice = Value::from([Value::from(inner.clone()), inner.clone().into()]);
/// let copy = deep_copy(&twice)?.extract::<isoform::Array>()?;
/// inner.push(2)?;
/// let (first, second) = (&copy.values()[0], &copy.values()[1]);
/// assert_eq!(first, second);
/// assert_eq!(first.extract::<List>()?.len(), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn deep_copy(value: impl Into<Value>) -> Result<Value> {
    build::deep_copy(&value.into())
}

/// Returns a copy of one object, sharing all its children with the original.
///
/// Values shared by [`deep_copy`] are returned unchanged: an object of kind
/// `singleton`, a string, a tensor. A type may define the copies of its objects
/// ([`DynCopy`]). O(fields), or O(elements) of a container.
///
/// # Errors
///
/// Those of the hook.
///
/// ```
/// use isoform::objects::construct;
/// use isoform::traverse::shallow_copy;
/// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
/// let cell = register_type(TypeDef::new("doc.CopiedCell").field(FieldDef::new("v", Schema::Any)))?;
/// let object = construct(cell, vec![1.into()])?;
/// let copy = shallow_copy(&object)?;
/// assert!(!copy.same_as(&object) && isoform::structural_equal(copy, object)?);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn shallow_copy(object: &Ref<Obj>) -> Result<Ref<Obj>> {
    let info = object.type_info();
    match info.hooks.copy.get() {
        Some(hook) => {
            let copy = hooks::run_outside(DynCopy::NAME, info.key(), || hook.call(object))?;
            match copy.as_object() {
                Some(made) if made.type_info().index() == info.index() => Ok(made.clone()),
                _ => Err(Error::type_error(format!(
                    "{key}.{}: expected an object of type {key} as result, got {}",
                    DynCopy::NAME,
                    copy.type_name(),
                    key = info.key()
                ))),
            }
        }
        None => Ok(build::shallow_copy(object)),
    }
}
