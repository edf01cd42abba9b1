//! References to memory.

use isoform::functions::Argument;
use isoform::types::{Enumerator, IntoField, NodeEnum};
use isoform::values::ValueRef;
use isoform::{Error, Node, Ref, Result, Str, Value, export};

use super::arguments::Extent;
use super::datatype::DataType;
use super::enums::MemorySpace;
use super::expr::{ConstInt, Expr, Var, make_var};
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
    /// The offset in the allocation, which may depend on variables, as in a loop.
    pub byte_offset: Ref<Expr>,
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
    /// A piece of an allocation, at a known offset.
    pub fn new(base: impl IntoField<Ref<Var>>, byte_offset: i64, size: i64) -> Ref<Self> {
        let base = base.into_field();
        let name = base.name_hint.clone();
        Ref::new(MemRef {
            base: Some(base),
            byte_offset: index(byte_offset),
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
            byte_offset: index(0),
            size: 0,
            is_pinned: false,
            slots: 1,
            slot: None,
        }
    }

    /// The slot, if known.
    fn known_slot(&self) -> Option<i64> {
        literal(self.slot.as_ref()?)
    }

    /// The piece of a separate allocation at a slot.
    ///
    /// # Errors
    ///
    /// `ValueError` for a place in an allocation, and for a slot outside of the slots.
    pub fn at_slot(this: &Ref<MemRef>, slot: impl IntoField<Ref<Expr>>) -> Result<Ref<MemRef>> {
        let slot = slot.into_field();
        if this.base.is_some() || this.slot.is_some() {
            return Err(Error::value_error(format!(
                "pto.MemRef[...]: expected a separate allocation, got a place in one, '{}'",
                this.name_hint
            )));
        }
        if let Some(number) = literal(&slot).filter(|slot| !(0..this.slots).contains(slot)) {
            return Err(Error::value_error(format!(
                "pto.MemRef[...]: expected a slot from 0 to {}, got {number}",
                this.slots - 1
            )));
        }
        Ok(Ref::new(MemRef {
            base: Some(this.clone().upcast()),
            size: this.size,
            is_pinned: this.is_pinned,
            slots: this.slots,
            slot: Some(slot),
            ..MemRef::unplaced(this.name_hint.clone(), Some(this.span.clone()))
        }))
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
    /// An unknown offset, size or slot may have any value.
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
        let offset = i128::from(literal(&self.byte_offset)?);
        let size = i128::from(self.size);
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

/// A literal of format INDEX.
fn index(value: i64) -> Ref<Expr> {
    ConstInt::new(value, DataType::Index).upcast()
}

/// The value of a literal.
pub(super) fn literal(expr: &Ref<Expr>) -> Option<i64> {
    Some(expr.downcast_ref::<ConstInt>()?.value)
}

/// Makes a reference: to a separate allocation, with or without a name; to the bytes at a
/// pointer, or at a new pointer of this name; or to the bytes of a memory space, as
/// `MemRef(space, address, size, id)`.
#[export("pto.MemRef")]
#[allow(
    clippy::too_many_arguments,
    reason = "the parameters of all constructors in one"
)]
fn make_memref(
    #[default = ()] base: Value,
    #[default = ()] byte_offset: Value,
    size: Option<i64>,
    #[default = ()] span: Value,
    #[default = false] is_pinned: Value,
    #[default = 1] slots: i64,
    slot: Option<Extent>,
    name: Option<Str>,
) -> Result<Ref<MemRef>> {
    const KEY: &str = "pto.MemRef.__init__()";
    let refused = |what: &str| Err(Error::type_error(format!("{KEY}: {what}")));
    let wrong = |argument: &str, expected: &str, value: &Value| {
        let got = value.type_name();
        refused(&format!(
            "argument '{argument}': expected {expected}, got {got}"
        ))
    };
    if slots < 1 {
        return Err(Error::value_error(format!(
            "{KEY} argument 'slots': expected at least 1, got {slots}"
        )));
    }
    // The location may follow the last argument of every form.
    let mut places = Vec::new();
    let [base, byte_offset, id, is_pinned] = [base, byte_offset, span, is_pinned].map(|value| {
        let Some(place) = value.peek::<Ref<Span>>() else {
            return value;
        };
        places.push(place.clone());
        Value::NONE
    });
    let span = places.pop();
    if !places.is_empty() {
        return refused("pto.Span: given twice");
    }
    let is_pinned = match is_pinned.view() {
        ValueRef::None => false,
        ValueRef::Bool(is_pinned) => is_pinned,
        _ => return wrong("is_pinned", "bool", &is_pinned),
    };
    let is_placed = !byte_offset.is_none();
    let byte_offset = match Extent::from_value(byte_offset.clone()) {
        Ok(offset) => Some(offset.0),
        Err(_) if !is_placed => None,
        Err(_) => return wrong("byte_offset", "int or pto.Expr", &byte_offset),
    };
    let pointer = |name: &Str| make_var(name.clone(), PtrType::new().upcast(), span.clone());
    let space = base.peek::<Enumerator<MemorySpace>>();
    let (base, own_name) = match (base.view(), base.peek::<Ref<Var>>(), space, id.as_int()) {
        (_, _, Some(space), Some(id)) => {
            let name = format!("mem_{}_{id}", space.get().name().to_lowercase()).into();
            (Some(pointer(&name)), name)
        }
        (_, _, Some(_), None) => return wrong("span", "the int 'id' after a memory space", &id),
        _ if !id.is_none() => return wrong("span", "pto.Span", &id),
        (_, Some(var), ..) => (Some(var.clone()), var.name_hint.clone()),
        (ValueRef::Str(text), ..) => {
            let name = text.into();
            (is_placed.then(|| pointer(&name)), name)
        }
        (ValueRef::None, ..) => (None, "mem".into()),
        _ => {
            return wrong(
                "base",
                "pto.Var, pto.MemorySpace, a name or pto.Span",
                &base,
            );
        }
    };
    let name = name.unwrap_or(own_name);
    let Some(base) = base else {
        if is_placed || size.is_some() || slot.is_some() || is_pinned {
            return refused("a place in an allocation needs a base");
        }
        return Ok(Ref::new(MemRef {
            slots,
            ..MemRef::unplaced(name, span)
        }));
    };
    let (Some(byte_offset), Some(size)) = (byte_offset, size) else {
        return refused("a piece of an allocation needs byte_offset and size");
    };
    let least = literal(&byte_offset).unwrap_or(0);
    if least < 0 || size < 0 {
        return Err(Error::value_error(format!(
            "{KEY}: expected byte_offset and size of at least 0, got {least} and {size}"
        )));
    }
    Ok(Ref::new(MemRef {
        base: Some(base),
        byte_offset,
        size,
        is_pinned,
        slots,
        slot: slot.map(|slot| slot.0),
        ..MemRef::unplaced(name, span)
    }))
}

/// The piece of a separate allocation at a slot; see `MemRef.__getitem__` in Python.
#[export("pto.MemRef.at_slot")]
fn at_slot(this: &Ref<MemRef>, slot: Extent) -> Result<Ref<MemRef>> {
    MemRef::at_slot(this, slot.0)
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
    isoform::register_functions![at_slot]
}
