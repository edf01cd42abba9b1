//! The walk: every value below a root, with its region and path.

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
/// The callback sees declared objects, containers and plain values alike; it
/// answers whether to go on, to leave out what lies below, or to end the walk
/// with a result. The result is `None` when the walk came to its end.
///
/// * **Order.** Fields come in the order of comparison: parents' first, and
///   definition fields before the others where the type asks for it. Arrays
///   and lists go by position. Maps and dicts go by key, whatever the order of
///   insertion: plain keys by type and value, then objects by identity number;
///   the key is visited just before its value.
/// * **Sharing.** [`Sharing::Once`] visits an object once, where it is met
///   first; plain values (numbers, strings, bytes) are visited at every place.
/// * **Regions.** [`Visit::region`] tells whether a variable here is bound or
///   used. Who wants to know both of a variable asks for
///   [`Sharing::OncePerRegion`]. The keys of maps are always uses.
/// * **Mutation.** A list or dict is walked as it is when the walk enters it
///   (in pre-order: after its own callback); later changes are not seen. A
///   [mutable field](crate::set_field) is walked as it is when the walk comes
///   to it, after the fields before it.
/// * **Hooks.** Of a type with a traversal of its own
///   ([`DynVisit`](crate::DynVisit)), what its hook visits is visited in place
///   of the fields, unless the options say otherwise. A hook that is set while
///   a walk runs counts from the next walk on. Custom comparison
///   ([`StructuralEqual`](crate::StructuralEqual)) plays no part.
///
/// Depth is limited by memory only, and cost is linear in the number of visits.
///
/// # Errors
///
/// `ValueError` with the path when a value contains itself, which only lists,
/// dicts and mutable fields make possible. Errors of the callback end the walk
/// and come back unchanged.
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

/// [`structural_walk`] that calls back only for the types that are wanted; all
/// the others are walked through.
///
/// `wanted` is asked for each value: with the type of an object, with None for
/// a plain value that is kept inline. It is called in the middle of the walk,
/// where a callback would cost more, and must not use this library.
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

/// [`structural_walk_where`] for a host language, whose hooks see and make the
/// results of a walk.
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

/// Visits a value with callbacks that decide themselves what is visited below
/// theirs.
///
/// `wanted` says which types the callback is for: it is asked with the type of
/// an object, or with None for a plain value that is kept inline. Of values of
/// other types, what lies below is visited in the order of [`structural_walk`],
/// by the [hook](crate::DynVisit) of the type or by the fields. Below a value
/// that the callback got, nothing is visited but what it asks for:
/// [`VisitCallback::visit`] goes on with a part, and
/// [`VisitCallback::visit_children`] with all parts of a value.
///
/// An object is visited once, or once in each kind of region where
/// [`WalkOptions::sharing`] says so; visiting it again does nothing. The order
/// in the options has no meaning here. A callback that returns a value ends
/// the visit, which returns that value; one that gets a value from the visitor
/// returns it at once.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself, or whose visit
/// a callback asks for before it is over. `RecursionError` when callbacks nest
/// more than [`MAX_HOOK_DEPTH`](crate::MAX_HOOK_DEPTH) levels deep: each level
/// is a call of user code on the native stack. Errors of callbacks come back
/// unchanged.
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

/// [`structural_visit`] for a host language that limits the depth of its own
/// calls.
///
/// # Errors
///
/// As [`structural_visit`], but for the `RecursionError`.
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
/// containers and plain values. The callback gets [`Visit::region`] as well.
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
