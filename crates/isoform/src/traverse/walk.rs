//! The walk: visits every value below a root, with its region and path.

use super::options::{WalkOptions, WalkResult};
use super::visited::Visit;
use super::walker::{DriveVisit, Driver, InterruptCodec, drive, run};
use crate::kernel::error::Result;
use crate::kernel::hooks::MAX_HOOK_DEPTH;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// Visits every value below `root`, the root included.
///
/// The callback sees declared objects, containers and plain values alike. It
/// returns whether to continue, to skip everything below the value, or to end
/// the walk with a result. The result is `None` if the walk was not ended.
///
/// * **Order.** Fields come in the order of comparison: parents' first, and
///   definition fields before the others if the type requests it. Arrays and
///   lists are visited by position, maps and dicts by key, whatever the order
///   of insertion: plain keys by type and value, then objects by identity
///   number. Each key is visited just before its value.
/// * **Sharing.** [`Sharing::Once`](crate::Sharing::Once) visits an object once,
///   at the first place where it is met; plain values (numbers, strings, bytes)
///   are visited at every place.
/// * **Regions.** [`Visit::region`] tells whether a variable is bound or used
///   here. To see both places of a variable, use
///   [`Sharing::OncePerRegion`](crate::Sharing::OncePerRegion). The keys of maps
///   are always uses.
/// * **Mutation.** A list or dict is walked as it is when the walk enters it
///   (in pre-order: after its own callback); later changes are not seen. A
///   [mutable field](crate::set_field) is walked as it is when the walk reaches
///   it, after the fields before it.
/// * **Hooks.** If a type has a custom traversal
///   ([`DynVisit`](crate::DynVisit)), the values that its hook visits replace
///   its fields, unless the options disable hooks. A hook that is set while a
///   walk runs takes effect with the next walk. Custom comparison
///   ([`StructuralEqual`](crate::StructuralEqual)) is ignored.
///
/// Depth is limited by memory only, and cost is linear in the number of visits.
///
/// # Errors
///
/// `ValueError` with the path if a value contains itself, which only lists,
/// dicts and mutable fields make possible. Errors of the callback end the walk
/// and are returned unchanged.
///
/// ```
/// use isoform::{Value, WalkOptions, WalkOrder, WalkResult, structural_walk};
///
/// let root = Value::from(vec![Value::from(1), Value::from(vec![2, 3])]);
/// let mut sum = 0;
/// structural_walk(&root, WalkOptions::default(), |visit| {
///     sum += visit.value().as_int().unwrap_or(0);
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(sum, 6);
///
/// let options = WalkOptions::default().order(WalkOrder::Pre);
/// let found = structural_walk(&root, options, |visit| {
///     Ok(match visit.value().as_int() {
///         Some(3) => WalkResult::Interrupt(visit.path()),
///         _ => WalkResult::Advance,
///     })
/// })?;
/// assert_eq!(found.map(|path| path.to_string()).as_deref(), Some("<root>[1][1]"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_walk<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk_where(root, options, |_| true, callback)
}

/// Like [`structural_walk`], but calls back only for the types that are wanted;
/// all others are walked through.
///
/// `wanted` is called for each value: with the type of an object, or with None
/// for an inline plain value. It is called in the middle of the walk, where a
/// callback would cost more, and must not use this library.
///
/// # Errors
///
/// As [`structural_walk`].
pub fn structural_walk_where<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: impl FnMut(Option<TypeIndex>) -> bool,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk_with(root, options, wanted, InterruptCodec::default(), callback)
}

/// Like [`structural_walk_where`], for a host language whose hooks see and
/// produce the results of a walk.
///
/// # Errors
///
/// As [`structural_walk`].
pub fn structural_walk_with<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: impl FnMut(Option<TypeIndex>) -> bool,
    interrupts: InterruptCodec<B>,
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    run(root.into(), options, None, wanted, interrupts, callback)
}

/// Visits a value with callbacks that control the visit of everything below the
/// values they receive.
///
/// `wanted` selects the types for the callback: it is called with the type of
/// an object, or with None for an inline plain value. Below values of other
/// types, everything is visited in the order of [`structural_walk`], by the
/// [hook](crate::DynVisit) of the type or field by field. Below a value that
/// the callback received, only those parts are visited for which it asks:
/// [`VisitCallback::visit`](crate::VisitCallback::visit) continues with a part,
/// and [`VisitCallback::visit_children`](crate::VisitCallback::visit_children)
/// with all parts of a value.
///
/// An object is visited once, or once in each kind of region if
/// [`WalkOptions::sharing`] says so; visiting it again does nothing. The order
/// in the options is ignored. If a callback returns a value, the visit ends and
/// returns that value; a callback that receives a value from the visitor
/// returns it at once.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself, or if a
/// callback asks for a value whose visit has not ended. `RecursionError` if
/// callbacks nest more than [`MAX_HOOK_DEPTH`] levels
/// deep: each level is a call of user code on the native stack. Errors of
/// callbacks are returned unchanged.
///
/// ```
/// use std::cell::RefCell;
/// use isoform::{Value, WalkOptions, structural_visit};
///
/// // Of each array, only the last element.
/// let root = Value::from(vec![vec![1, 2], vec![3, 4]]);
/// let met = RefCell::new(Vec::new());
/// structural_visit(&root, WalkOptions::default(), &|_| true, &|value, visitor| {
///     match value.extract::<isoform::Array>() {
///         Ok(array) => visitor.visit(array.values().last().unwrap_or(&Value::NONE)),
///         Err(_) => {
///             met.borrow_mut().push(value.as_int());
///             Ok(None)
///         }
///     }
/// })?;
/// assert_eq!(met.into_inner(), [Some(4)]);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn structural_visit(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveVisit<'_>,
) -> Result<Option<Value>> {
    let driver = Driver {
        wanted,
        callback,
        max_depth: MAX_HOOK_DEPTH,
    };
    drive(root.into(), options, driver)
}

/// Like [`structural_visit`], for a host language that limits the depth of its
/// own calls.
///
/// # Errors
///
/// As [`structural_visit`], except for the `RecursionError`.
pub fn structural_visit_by_host(
    root: impl Into<Value>,
    options: WalkOptions,
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveVisit<'_>,
) -> Result<Option<Value>> {
    let driver = Driver {
        wanted,
        callback,
        max_depth: u32::MAX,
    };
    drive(root.into(), options, driver)
}

/// Visits the declared objects below `root`: [`structural_walk`] without
/// containers and plain values. The callback also gets [`Visit::region`].
///
/// # Errors
///
/// As [`structural_walk`].
///
/// ```
/// use isoform::{FieldDef, Schema, TypeDef, Value, WalkOptions, WalkResult};
/// use isoform::{construct, register_type, walk_objects};
///
/// let leaf = register_type(TypeDef::new("doc.Leaf").field(FieldDef::new("n", Schema::Int)))?;
/// let leaves = (0..3).map(|n| construct(leaf, vec![n.into()])).collect::<Result<Vec<_>, _>>()?;
/// let mut count = 0;
/// walk_objects(leaves, WalkOptions::default(), |object, _region| {
///     assert_eq!(object.type_info().key(), "doc.Leaf");
///     count += 1;
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(count, 3);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn walk_objects<B>(
    root: impl Into<Value>,
    options: WalkOptions,
    mut callback: impl FnMut(&Ref<Obj>, RegionKind) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    structural_walk(root, options, |visit| match visit.object() {
        Some(object) if !object.type_info().is_builtin() => callback(object, visit.region()),
        _ => Ok(WalkResult::Advance),
    })
}
