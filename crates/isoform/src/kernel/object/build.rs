//! Objects made from other objects: copies, deep copies, and copies with replaced
//! fields.
//!
//! A deep copy allocates every object before the object's children exist, and fills the
//! objects later, in any order. Sharing and cycles therefore need no special handling:
//! the copy of a revisited object already has an address. An unfilled copy has no
//! children: an interrupted copy is dropped like any other value, and the collector of
//! cycles may visit an unfilled copy.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use super::access::{self, Poll, Section};
use super::class::Payload;
use super::collect;
use super::contents;
use super::field::DropSlot;
use super::header::{HEADER_SIZE, Header, allocate};
use super::prefetch::prefetch_ahead;
use super::raw_value::Value;
use super::reference::{Obj, Ref};
use super::release::child_in;
use super::slot::{accept, fits};
use super::table::{self, TypeInfo};
use super::view::{Fields, ObjRef};
use crate::kernel::error::{Error, Result};
use crate::kernel::pages::Pages;
use crate::kernel::types::{FieldFlag, Kind};

/// Returns a copy of one object, sharing all children. Returns objects whose identity
/// matters, and immutable values, without copying.
pub(crate) fn shallow_copy(object: &Ref<Obj>) -> Ref<Obj> {
    let info = object.type_info();
    if !is_copied(info) {
        return object.clone();
    }
    match info.class() {
        Payload::Plain | Payload::Node => copy_of_node(object),
        _ => contents::shallow_copy(object),
    }
}

/// Returns a copy of an object of a declared type, which also owns its children.
pub(crate) fn copy_of_node(object: &Ref<Obj>) -> Ref<Obj> {
    access::reading(|section| copy_in(section, object))
}

/// [`copy_of_node`] for the current writer.
pub(super) fn copy_while_writing(object: &Ref<Obj>) -> Ref<Obj> {
    access::exclusively(|section| copy_in(section, object))
}

fn copy_in(_: &Section, object: &Ref<Obj>) -> Ref<Obj> {
    let info = object.type_info();
    debug_assert!(!info.is_builtin());
    // SAFETY: the object is of a declared type and alive, its fields do not change in
    // this section, and the fields of the copy are completed right here.
    unsafe {
        let copy = allocate(info.layout, info.index);
        copy_words(object.raw(), copy, info);
        for slot in &info.drop_slots {
            retain_field(copy, *slot);
        }
        Ref::from_raw(copy)
    }
}

/// Returns a copy of an object of a declared type with some fields replaced, identified
/// by their positions in declaration order.
///
/// # Errors
///
/// `TypeError` if a value does not fit its field or the type is built in.
pub fn with_fields(
    object: &Ref<Obj>,
    changes: impl IntoIterator<Item = (usize, Value)>,
) -> Result<Ref<Obj>> {
    let info = object.type_info();
    if info.is_builtin() {
        return Err(Error::type_error(format!(
            "{}: built-in types have no fields",
            info.key()
        )));
    }
    let changes = changes
        .into_iter()
        .map(|(field, value)| {
            let slot = info.slots.get(field).ok_or_else(|| {
                Error::type_error(format!("{}: no field at position {field}", info.key()))
            })?;
            Ok((slot, accept(info, field, value)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let copy = copy_of_node(object);
    for (slot, value) in changes {
        // SAFETY: the copy is visible to nobody else, the slot belongs to its type, and
        // the value was converted to the slot's type.
        let old = unsafe { slot.replace(copy.raw(), value) };
        // Dropped only here: the destructor may be user code.
        drop(old);
    }
    Ok(copy)
}

/// Returns a copy of the object, with the values of `fields` replacing fields by
/// position, if all new values fit without conversion. Otherwise returns None, leaving
/// the values untouched.
#[inline]
pub(crate) fn with_fitting(
    _section: &Section,
    fields: Fields<'_>,
    changes: &mut [(usize, Value)],
) -> Option<Ref<Obj>> {
    let info = fields.object().info();
    let shows_ignored = fields.len() != info.visited.len();
    let slots = if shows_ignored {
        &info.visited_and_ignored
    } else {
        &info.visited
    };
    let mut after = 0;
    for (position, value) in changes.iter() {
        let slot = slots.get(*position).filter(|_| *position >= after)?;
        if !fits(info, slot.field as usize, value) {
            return None;
        }
        after = position + 1;
    }
    // SAFETY: the object is of a declared type and alive, and its fields do not change
    // in this section. The copy is visible to nobody until each of its fields holds a
    // reference of its own: a reference of the source, retained, or a fitting new
    // value; `position` counts through `slots`.
    unsafe {
        let copy = allocate(info.layout, info.index);
        copy_words(fields.object().raw(), copy, info);
        let mut changes = changes.iter_mut().peekable();
        let mut position = 0;
        for slot in &info.visited_and_ignored {
            let is_part = shows_ignored || slot.flag != FieldFlag::Ignore;
            let change = changes.next_if(|(changed, _)| is_part && *changed == position);
            match (change, slot.storage.drop_slot(slot.offset)) {
                (Some((_, value)), _) => slot.store(copy, std::mem::take(value)),
                (None, Some(drop_slot)) => retain_field(copy, drop_slot),
                (None, None) => {}
            }
            position += usize::from(is_part);
        }
        Some(Ref::from_raw(copy))
    }
}

/// Returns a copy of the whole value below `root`. Iterative; linear in the number of
/// distinct objects.
///
/// # Errors
///
/// Errors from the host, ending the operation.
pub(crate) fn deep_copy(root: &Value) -> Result<Value> {
    let Some(object) = root.as_object() else {
        return Ok(root.clone());
    };
    access::traversing(|section| {
        let mut copier = Copier::default();
        let mut poll = Poll::default();
        // SAFETY: the root is alive, and every object read below the root stays alive
        // until the end of this traversal, though `poll` may run code that removes the
        // object from its field. Each copy is owned by another copy or by `root`, and
        // becomes visible only when the work list is empty.
        unsafe {
            let root = Value::from_object(Ref::from_raw(copier.copy(object.raw(), true)));
            while let Some((source, copy)) = copier.unfinished.pop() {
                poll.step(section)?;
                prefetch_ahead(ObjRef::new(source));
                let first = copier.unfinished.len();
                copier.fill(section, source, copy);
                // The first child is processed first: the memory order of copies is the
                // order of later visits, whatever the order of the sources.
                copier.unfinished[first..].reverse();
            }
            Ok(root)
        }
    })
}

/// True if objects of this type are copied rather than shared.
#[inline]
fn is_copied(info: &TypeInfo) -> bool {
    match info.class() {
        Payload::Plain | Payload::Node => info.kind != Kind::Singleton,
        class => class.has_parts(),
    }
}

/// One deep copy.
#[derive(Default)]
struct Copier {
    /// Sources with their copies, still without children.
    unfinished: Vec<(NonNull<Header>, NonNull<Header>)>,
    /// For all visited objects with several owners: the position in `copies`, plus one,
    /// by identity number.
    known: Pages<u32, 256>,
    copies: Vec<NonNull<Header>>,
}

impl Copier {
    /// Returns the copy of an object, with one reference for the caller.
    ///
    /// # Safety
    ///
    /// The source must be alive until the copy is finished, and the copy must not be
    /// read before that.
    #[inline]
    unsafe fn copy(&mut self, source: NonNull<Header>, is_root: bool) -> NonNull<Header> {
        // SAFETY: alive, as promised.
        let header = unsafe { source.as_ref() };
        let info = table::info(header.type_index);
        if !is_copied(info) {
            header.retain();
            return source;
        }
        // An object with one owner is visited only once; the root may be reached again
        // from below, whoever owns the root.
        let may_return = is_root || header.count() > 1;
        if may_return && let Some(position) = self.known.word(header.ident()).checked_sub(1) {
            let copy = self.copies[position as usize];
            // SAFETY: the copies are alive: each copy is owned by the copy it was first
            // made for.
            unsafe { copy.as_ref() }.retain();
            return copy;
        }
        let copy = match info.class() {
            // SAFETY: the layout is the type's own, and the children are written before
            // the copy becomes visible. Until then, the fields own nothing.
            Payload::Plain | Payload::Node => unsafe {
                let copy = allocate(info.layout, info.index);
                copy_words(source, copy, info);
                for slot in &info.drop_slots {
                    forget_child(copy, *slot);
                }
                copy
            },
            _ => contents::unfilled(info),
        };
        if may_return {
            self.copies.push(copy);
            // Four billion shared objects do not fit into any memory.
            *self.known.word(header.ident()) = self.copies.len() as u32;
        }
        if info.is_builtin() || !info.drop_slots.is_empty() {
            self.unfinished.push((source, copy));
        }
        copy
    }

    /// Completes a copy.
    ///
    /// # Safety
    ///
    /// As [`copy`](Self::copy); `copy` must have been made for `source`, and
    /// must not have been filled before.
    unsafe fn fill(&mut self, section: &Section, source: NonNull<Header>, copy: NonNull<Header>) {
        // SAFETY: promised by the caller. The fields of the copy own nothing, so their
        // contents may be overwritten; the source's fields have the same type, and do
        // not change in this section.
        unsafe {
            let info = table::info(source.as_ref().type_index);
            for slot in &info.drop_slots {
                match *slot {
                    DropSlot::Pointer(offset) => {
                        if let Some(child) = child_in(source, *slot) {
                            let field = copy.byte_add(offset as usize).cast::<*mut Header>();
                            field.write(self.copy(child, false).as_ptr());
                        }
                    }
                    DropSlot::Value(offset) => {
                        let value = source.byte_add(offset as usize).cast::<Value>();
                        let value = self.value(value.as_ref());
                        copy.byte_add(offset as usize).cast::<Value>().write(value);
                    }
                }
            }
            if info.is_builtin() {
                let source = ObjRef::new(source);
                contents::fill_copy(section, source, copy, |part| self.value(part));
            } else if info.tracked.load(Ordering::Acquire) {
                // The source may be part of a cycle, hence the copy, too.
                collect::track_raw(copy);
            }
        }
    }

    /// # Safety
    ///
    /// The value must be alive until the copy is finished.
    unsafe fn value(&mut self, value: &Value) -> Value {
        match NonNull::new(value.object_pointer()) {
            None => value.clone(),
            // SAFETY: promised by the caller; the value takes over the
            // reference to the copy.
            Some(child) => unsafe { Value::from_object(Ref::from_raw(self.copy(child, false))) },
        }
    }
}

/// Copies the words of the fields, including references, which the copy does not own
/// yet.
///
/// # Safety
///
/// Both must be objects of the declared type `info`.
#[inline]
unsafe fn copy_words(source: NonNull<Header>, copy: NonNull<Header>, info: &TypeInfo) {
    let size = info.layout.size() - HEADER_SIZE;
    // SAFETY: both blocks have the type's layout. `MaybeUninit` allows for bytes of
    // padding.
    unsafe {
        let source = source
            .byte_add(HEADER_SIZE)
            .cast::<std::mem::MaybeUninit<u8>>();
        let copy = copy
            .byte_add(HEADER_SIZE)
            .cast::<std::mem::MaybeUninit<u8>>();
        source.copy_to_nonoverlapping(copy, size);
    }
}

/// Adds an owner to the object in a field.
///
/// # Safety
///
/// The slot must belong to the object's type, and its field must be empty or point to a
/// live object.
unsafe fn retain_field(object: NonNull<Header>, slot: DropSlot) {
    // SAFETY: promised by the caller.
    unsafe {
        if let Some(child) = child_in(object, slot) {
            child.as_ref().retain();
        }
    }
}

/// Empties a field without dropping its contents.
///
/// # Safety
///
/// The slot must belong to the object's type, and the field must own nothing.
#[inline]
unsafe fn forget_child(object: NonNull<Header>, slot: DropSlot) {
    // SAFETY: promised by the caller; for all code using the table of slots, an empty
    // field is a null pointer or None, whatever the field's type.
    unsafe {
        match slot {
            DropSlot::Pointer(offset) => {
                let field = object.byte_add(offset as usize).cast::<*mut Header>();
                field.write(std::ptr::null_mut());
            }
            DropSlot::Value(offset) => {
                object
                    .byte_add(offset as usize)
                    .cast::<Value>()
                    .write(Value::NONE);
            }
        }
    }
}

/// Moves the value out of a field; the field must be written again.
///
/// # Safety
///
/// The slot must belong to the object's type; no read of the field may precede the next
/// write.
pub(super) unsafe fn take_field(object: NonNull<Header>, slot: DropSlot) -> Value {
    // SAFETY: promised by the caller; the reference that the field owned moves
    // to the value.
    unsafe {
        match slot {
            DropSlot::Pointer(offset) => {
                let pointer = object.byte_add(offset as usize).cast::<*mut Header>();
                NonNull::new(pointer.read()).map_or(Value::NONE, |child| {
                    Value::from_object(Ref::from_raw(child))
                })
            }
            DropSlot::Value(offset) => object.byte_add(offset as usize).cast::<Value>().read(),
        }
    }
}
