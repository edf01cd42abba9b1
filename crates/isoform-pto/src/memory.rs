//! References to memory.

use isoform::types::IntoField;
use isoform::values::ValueRef;
use isoform::{Error, Node, Ref, Result, Str, Value, export};

use super::expr::{ConstInt, Expr, Var};
use super::node::Span;
use super::ty::PtrType;

/// A piece of memory. The reference is a variable, so two programs with buffers at
/// different objects of the same layout are equal.
#[derive(Node)]
#[node(key = "pto.MemRef", kind = var, init = make_memref, no_new)]
#[repr(C)]
pub struct MemRef {
    #[node(base)]
    base_var: Var,
    /// The pointer to the surrounding allocation; None for a separate allocation.
    pub base: Option<Ref<Var>>,
    /// The offset in the allocation.
    pub byte_offset: i64,
    /// The size in bytes; 0 if unknown.
    pub size: i64,
    /// True if the place must not be changed.
    pub is_pinned: bool,
    /// The number of consecutive pieces of this size, used in turn.
    pub slots: i64,
    /// The index of this piece among the pieces, from 0.
    pub slot: Option<Ref<Expr>>,
}

impl MemRef {
    /// A piece of an allocation.
    pub fn new(base: impl IntoField<Ref<Var>>, byte_offset: i64, size: i64) -> Ref<Self> {
        let base = base.into_field();
        let name = base.name_hint.clone();
        Ref::new(MemRef {
            base: Some(base),
            byte_offset,
            size,
            ..MemRef::unplaced(name, None)
        })
    }

    /// A separate allocation of unknown size.
    pub fn allocation(name: impl Into<Str>) -> Ref<Self> {
        Ref::new(MemRef::unplaced(name.into(), None))
    }

    fn unplaced(name: Str, span: Option<Ref<Span>>) -> MemRef {
        MemRef {
            base_var: Var::of(name, PtrType::new().upcast(), span),
            base: None,
            byte_offset: 0,
            size: 0,
            is_pinned: false,
            slots: 1,
            slot: None,
        }
    }

    /// The slot, if known.
    fn known_slot(&self) -> Option<i64> {
        Some(self.slot.as_ref()?.downcast_ref::<ConstInt>()?.value)
    }
}

impl MemRef {
    /// True if both are parts of the same allocation.
    pub fn same_allocation(one: &Ref<MemRef>, other: &Ref<MemRef>) -> bool {
        match (&one.base, &other.base) {
            (Some(one), Some(other)) => one.same_as(other),
            (None, None) => one.same_as(other),
            (Some(base), None) => base.same_as(other),
            (None, Some(base)) => one.same_as(base),
        }
    }

    /// True if the two pieces may share a byte.
    ///
    /// An unknown size or slot may have any value.
    pub fn may_alias(one: &Ref<MemRef>, other: &Ref<MemRef>) -> bool {
        if one.same_as(other) {
            return true;
        }
        if !Self::same_allocation(one, other) {
            return false;
        }
        let (one, other) = (one.bytes(), other.bytes());
        match (one, other) {
            (Some((start, end)), Some((other_start, other_end))) => {
                start < other_end && other_start < end
            }
            _ => true,
        }
    }

    /// The range of bytes in the allocation that the reference may occupy; None if unknown.
    fn bytes(&self) -> Option<(i128, i128)> {
        if self.size <= 0 {
            return None;
        }
        let (offset, size) = (i128::from(self.byte_offset), i128::from(self.size));
        let slots = i128::from(self.slots.max(1));
        Some(match self.known_slot() {
            Some(slot) => {
                let start = offset + i128::from(slot) * size;
                (start, start + size)
            }
            None => (offset, offset + slots * size),
        })
    }
}

/// Makes a reference: to a separate allocation, with or without a name, or to the bytes
/// at a pointer.
#[export("pto.MemRef")]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters of three constructors in one"
)]
fn make_memref(
    #[default = ()] base: Value,
    #[default = ()] byte_offset: Value,
    size: Option<i64>,
    span: Option<Ref<Span>>,
    #[default = false] is_pinned: bool,
    #[default = 1] slots: i64,
    slot: Option<Ref<Expr>>,
    name: Option<Str>,
) -> Result<Ref<MemRef>> {
    let refused = |what: String| Err(Error::type_error(format!("pto.MemRef.__init__(): {what}")));
    if slots < 1 {
        return Err(Error::value_error(format!(
            "pto.MemRef.__init__() argument 'slots': expected at least 1, got {slots}"
        )));
    }
    let mut span = span;
    let mut name = name;
    let mut pointer = None;
    // `MemRef(span)`, `MemRef(name, span)` and `MemRef(base, ...)`.
    for (argument, value) in [("base", base), ("byte_offset", byte_offset.clone())] {
        let place = value.peek::<Ref<Span>>();
        let twice = match (value.view(), place, value.peek::<Ref<Var>>()) {
            (ValueRef::None, ..) => false,
            (_, Some(location), _) => span.replace(location.clone()).is_some(),
            (ValueRef::Str(text), ..) => name.replace(text.into()).is_some(),
            (_, _, Some(var)) => pointer.replace(var.clone()).is_some(),
            (ValueRef::Int(_), ..) if argument == "byte_offset" => false,
            _ => {
                return refused(format!(
                    "argument '{argument}': expected pto.Var, a name or pto.Span, got {}",
                    value.type_name()
                ));
            }
        };
        if twice {
            return refused(format!("argument '{argument}': given twice"));
        }
    }
    let offset = byte_offset.as_int();
    let Some(base) = pointer else {
        if offset.is_some() || size.is_some() || slot.is_some() || is_pinned {
            return refused("a place in an allocation needs a base".into());
        }
        let name = name.unwrap_or_else(|| "mem".into());
        return Ok(Ref::new(MemRef {
            slots,
            ..MemRef::unplaced(name, span)
        }));
    };
    let (Some(byte_offset), Some(size)) = (offset, size) else {
        return refused("a piece of an allocation needs byte_offset and size".into());
    };
    if byte_offset < 0 || size < 0 {
        return Err(Error::value_error(format!(
            "pto.MemRef.__init__(): expected byte_offset and size of at least 0, got {byte_offset} and {size}"
        )));
    }
    let name = name.unwrap_or_else(|| base.name_hint.clone());
    Ok(Ref::new(MemRef {
        base: Some(base),
        byte_offset,
        size,
        is_pinned,
        slots,
        slot,
        ..MemRef::unplaced(name, span)
    }))
}

/// True if the two pieces may share a byte; an unknown size or slot may have any value.
#[export("pto.MemRef.may_alias")]
fn may_alias(this: &Ref<MemRef>, other: &Ref<MemRef>) -> bool {
    MemRef::may_alias(this, other)
}

/// True if both are parts of the same allocation.
#[export("pto.MemRef.same_allocation")]
fn same_allocation(this: &Ref<MemRef>, other: &Ref<MemRef>) -> bool {
    MemRef::same_allocation(this, other)
}

pub(super) fn register() -> Result<()> {
    isoform::register_methods! { MemRef: may_alias = may_alias, same_allocation = same_allocation }?;
    Ok(())
}
