//! Verification: the requirements of each type on its own objects, checked for all
//! objects of a value.

use crate::kernel::error::{Error, Result};
use crate::kernel::hooks::DynVerify;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::TypeInfo;
use crate::kernel::path::AccessPath;
use crate::kernel::value::Value;
use crate::traverse::{WalkOptions, WalkResult};

/// Requirements on objects beyond the definitions of their types.
pub trait VerifyHooks {
    /// Checks an object of a declared type.
    ///
    /// # Errors
    ///
    /// Describes the problem with the object.
    fn verify(&self, object: &Ref<Obj>) -> Result<()> {
        let _ = object;
        Ok(())
    }

    /// True for an error that is a finding, to be collected with the other findings.
    /// Any other error ends the verification and is returned.
    fn is_finding(&self, error: &Error) -> bool {
        let _ = error;
        true
    }
}

/// There are no requirements.
impl VerifyHooks for () {}

/// Returns all problems with the objects of a value, with their places.
///
/// Each distinct object is verified once, after all objects below, including fields
/// ignored by comparison: first by the verifiers of its type, parents' first, then by
/// `hooks`. All failures are collected; the path is the first way to the object. Linear
/// in the number of distinct objects plus the number of places of plain values.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself; any error not accepted
/// as a finding by [`VerifyHooks::is_finding`].
///
/// ```
/// use isoform::{Error, Value};
/// use isoform::hooks::DynVerify;
/// use isoform::types::{FieldDef, Schema, TypeDef};
/// use isoform::objects::{construct, field_value, verify};
/// use isoform::types::register_type;
///
/// let even = register_type(
///     TypeDef::new("doc.Even").field(FieldDef::new("n", Schema::Int)).hook(DynVerify::new(
///         |object| match field_value(object, "n")?.as_int() {
///             Some(n) if n % 2 != 0 => Err(Error::value_error(format!("expected even, got {n}"))),
///             _ => Ok(()),
///         },
///     )),
/// )?;
/// let value = |n: i64| construct(even, vec![n.into()]);
/// let failures = verify([value(1)?, value(2)?, value(3)?], &())?;
/// let texts: Vec<_> = failures.iter().map(|(path, error)| format!("{path}: {error}")).collect();
/// assert_eq!(texts, ["<root>[0]: ValueError: expected even, got 1",
///                    "<root>[2]: ValueError: expected even, got 3"]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn verify(root: impl Into<Value>, hooks: &dyn VerifyHooks) -> Result<Vec<(AccessPath, Error)>> {
    verify_value(&root.into(), hooks)
}

fn verify_value(root: &Value, hooks: &dyn VerifyHooks) -> Result<Vec<(AccessPath, Error)>> {
    let mut failures = Vec::new();
    // A custom traversal must not hide objects.
    let options = WalkOptions::default().include_ignored(true).hooks(false);
    options.walk(root, |visit| {
        let object = visit
            .object()
            .filter(|object| !object.type_info().is_builtin());
        if let Some(object) = object {
            let mut check = |outcome: Result<()>| match outcome {
                Err(error) if !hooks.is_finding(&error) => Err(error),
                outcome => {
                    failures.extend(outcome.err().map(|error| (visit.path(), error)));
                    Ok(())
                }
            };
            for verifier in verifiers(object.type_info()) {
                check(verifier.call(object))?;
            }
            check(hooks.verify(object))?;
        }
        Ok(WalkResult::<()>::Advance)
    })?;
    Ok(failures)
}

/// The verifiers of a type, parents' first.
fn verifiers(info: &'static TypeInfo) -> Vec<&'static DynVerify> {
    let line = std::iter::successors(Some(info), |info| info.parent());
    let mut found: Vec<_> = line.filter_map(|info| info.hooks.verify.get()).collect();
    found.reverse();
    found
}
