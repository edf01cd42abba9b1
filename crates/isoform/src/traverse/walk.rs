//! The walk: visits every value below a root, with its region and path.

use super::driver::Driver;
use super::options::{WalkOptions, WalkResult};
use super::visit::Visit;
use super::walker::{DriveVisit, InterruptCodec, drive, run};
use crate::kernel::error::Result;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::types::region::RegionKind;
use crate::kernel::value::Value;

/// A callback of [`walk_objects`].
type ObjectCallback<'f, B> = dyn FnMut(&Ref<Obj>, RegionKind) -> Result<WalkResult<B>> + 'f;

/// Visits every value below `root`, the root included.
///
/// The callback sees declared objects, containers and plain values alike. The callback
/// returns whether to continue, to skip all parts below the value, or to end the walk
/// with a result. The result is `None` unless the callback ended the walk.
///
/// * **Order.** Fields come in the order of comparison: parents' first, and definition
///   fields before other fields if the type requests it. Arrays and lists are visited
///   by position, maps and dicts by key, whatever the order of insertion: plain keys by
///   type and value, then objects by identity number. Each key is visited just before
///   its value.
/// * **Sharing.** [`Sharing::Once`](crate::traverse::Sharing::Once) visits an object once,
///   at the first place where it is met; plain values (numbers, strings, bytes)
///   are visited at every place.
/// * **Regions.** [`Visit::region`] tells whether a variable is bound or used here. To
///   see both places of a variable, use
///   [`Sharing::OncePerRegion`](crate::traverse::Sharing::OncePerRegion). The keys of
///   maps are always uses.
/// * **Mutation.** A list or dict is walked in its state when the walk enters it (in
///   pre-order: after its own callback); later changes are not seen. A [mutable
///   field](crate::objects::set_field) is walked in its state when the walk reaches it,
///   after the preceding fields.
/// * **Hooks.** If a type has a custom traversal
///   ([`DynVisit`](crate::hooks::DynVisit)), the values visited by its hook replace its
///   fields, unless the options disable hooks. A hook set during a walk takes effect
///   with the next walk. Custom comparison
///   ([`StructuralEqual`](crate::hooks::StructuralEqual)) is ignored.
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
/// use isoform::Value;
/// use isoform::traverse::{WalkOptions, WalkOrder, WalkResult, structural_walk};
///
/// let root = Value::from(vec![Value::from(1), Value::from(vec![2, 3])]);
/// let mut sum = 0;
/// structural_walk(&root, |visit| {
///     sum += visit.value().as_int().unwrap_or(0);
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(sum, 6);
///
/// let pre_order = WalkOptions::default().order(WalkOrder::Pre);
/// let found = pre_order.walk(&root, |visit| {
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
    callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    WalkOptions::default().walk(root, callback)
}

/// Visits a value with callbacks controlling the visit below the values they receive.
///
/// `wanted` selects the types for the callback: `wanted` is called with the type of an
/// object, or with None for an inline plain value. Below values of other types, all
/// parts are visited in the order of [`structural_walk`], by the
/// [hook](crate::hooks::DynVisit) of the type or field by field. Below a value received
/// by the callback, only requested parts are visited:
/// [`VisitCallback::visit`](crate::hooks::VisitCallback::visit) continues with a part,
/// and [`VisitCallback::visit_children`](crate::hooks::VisitCallback::visit_children)
/// with all parts of a value.
///
/// An object is visited once, or once in each kind of region by
/// [`WalkOptions::sharing`]; further visits do nothing. The order in the options is
/// ignored. If a callback returns a value, the visit ends and returns this value; a
/// callback receiving a value from the visitor returns it at once.
///
/// # Errors
///
/// `ValueError` with the path for a value that contains itself, or if a callback asks
/// for a value still being visited. `RecursionError` if callbacks nest more than
/// [`WalkOptions::max_depth`] levels deep. Errors of callbacks are returned unchanged.
///
/// ```
/// use std::cell::RefCell;
/// use isoform::Value;
/// use isoform::traverse::structural_visit;
///
/// // Of each array, only the last element.
/// let root = Value::from(vec![vec![1, 2], vec![3, 4]]);
/// let met = RefCell::new(Vec::new());
/// structural_visit(&root, &|_| true, &|value, visitor| {
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
    wanted: &dyn Fn(Option<TypeIndex>) -> bool,
    callback: &DriveVisit<'_>,
) -> Result<Option<Value>> {
    WalkOptions::default().visit(root, wanted, callback)
}

/// Visits the declared objects below `root`: [`structural_walk`] without
/// containers and plain values. The callback also gets [`Visit::region`].
///
/// # Errors
///
/// As [`structural_walk`].
///
/// ```
/// use isoform::objects::construct;
/// use isoform::traverse::{WalkResult, walk_objects};
/// use isoform::types::{FieldDef, Schema, TypeDef, register_type};
///
/// let leaf = register_type(TypeDef::new("doc.Leaf").field(FieldDef::new("n", Schema::Int)))?;
/// let leaves = (0..3).map(|n| construct(leaf, vec![n.into()])).collect::<Result<Vec<_>, _>>()?;
/// let mut count = 0;
/// walk_objects(leaves, |object, _region| {
///     assert_eq!(object.type_info().key(), "doc.Leaf");
///     count += 1;
///     Ok(WalkResult::<()>::Advance)
/// })?;
/// assert_eq!(count, 3);
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn walk_objects<B>(
    root: impl Into<Value>,
    callback: impl FnMut(&Ref<Obj>, RegionKind) -> Result<WalkResult<B>>,
) -> Result<Option<B>> {
    WalkOptions::default().walk_objects(root, callback)
}

impl WalkOptions {
    /// [`structural_walk`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_walk`].
    pub fn walk<B>(
        self,
        root: impl Into<Value>,
        callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
    ) -> Result<Option<B>> {
        self.walk_selected(root, |_| true, InterruptCodec::default(), callback)
    }

    /// [`walk`](Self::walk) with callbacks only for the wanted types; values of other
    /// types are walked through.
    ///
    /// `wanted` is called for each value: with the type of an object, or with None for
    /// an inline plain value. These calls happen in the middle of the walk, where a
    /// callback would cost more, and must not use this library. `interrupts` is for a
    /// host language with hooks that see and produce the results of a walk; all other
    /// callers pass the default.
    ///
    /// # Errors
    ///
    /// As [`structural_walk`].
    pub fn walk_selected<B>(
        self,
        root: impl Into<Value>,
        wanted: impl FnMut(Option<TypeIndex>) -> bool,
        interrupts: InterruptCodec<B>,
        callback: impl FnMut(&Visit<'_>) -> Result<WalkResult<B>>,
    ) -> Result<Option<B>> {
        run(root.into(), self, None, wanted, interrupts, callback)
    }

    /// [`walk_objects`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_walk`].
    pub fn walk_objects<B>(
        self,
        root: impl Into<Value>,
        mut callback: impl FnMut(&Ref<Obj>, RegionKind) -> Result<WalkResult<B>>,
    ) -> Result<Option<B>> {
        self.walk_each_object(root.into(), &mut callback)
    }

    /// As [`walk_objects`](Self::walk_objects). The engine is large, and compiled once for each
    /// kind of result, not for each callback.
    fn walk_each_object<B>(
        self,
        root: Value,
        callback: &mut ObjectCallback<'_, B>,
    ) -> Result<Option<B>> {
        self.walk(root, |visit| match visit.object() {
            Some(object) if !object.type_info().is_builtin() => callback(object, visit.region()),
            _ => Ok(WalkResult::Advance),
        })
    }

    /// [`structural_visit`] with these options.
    ///
    /// # Errors
    ///
    /// As [`structural_visit`].
    pub fn visit(
        self,
        root: impl Into<Value>,
        wanted: &dyn Fn(Option<TypeIndex>) -> bool,
        callback: &DriveVisit<'_>,
    ) -> Result<Option<Value>> {
        let driver = Driver::new(wanted, callback, self.max_depth);
        drive(root.into(), self, driver)
    }
}
