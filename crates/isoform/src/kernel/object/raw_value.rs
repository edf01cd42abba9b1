//! The 16-byte dynamic value: representation, clone and drop.
//!
//! A value is a tag and a word, or a tag and an inline string of up to 14 bytes, or a tag
//! and a pointer to an object. A string of up to 14 bytes is always inline, and a longer
//! string never is. A string therefore has exactly one representation, and inline strings
//! are equal iff their words are.

use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::header::Header;
use super::reference::{Obj, Ref};
use super::release::release;
use super::view::ObjRef;
use crate::kernel::value::{DType, Device};

/// The kind of contents of a [`Value`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Tag {
    None = 0,
    Bool = 1,
    Int = 2,
    Float = 3,
    DType = 4,
    Device = 5,
    /// A string of at most [`INLINE_STR`] bytes, stored in the value itself.
    InlineStr = 6,
    /// Any heap object, long strings included.
    Object = 7,
}

/// The longest string, in UTF-8 bytes, stored without a heap block.
pub(crate) const INLINE_STR: usize = 14;

#[derive(Clone, Copy)]
#[repr(C)]
union Payload {
    bits: u64,
    pointer: *mut Header,
}

impl Payload {
    /// All bytes are set, also those beside a pointer of 32 bits.
    #[inline(always)]
    fn of_pointer(pointer: *mut Header) -> Self {
        let mut payload = Payload { bits: 0 };
        payload.pointer = pointer;
        payload
    }
}

/// A dynamic value: None, bool, int, float, string, dtype, device or object.
///
/// 16 bytes; strings of up to 14 bytes are stored inline, everything larger
/// is a shared object. `==` compares numbers, strings and other plain values
/// by content (floats by bits, all NaNs equal; `1`, `true` and `1.0` differ)
/// and objects by identity; structural comparison is
/// [`structural_equal`](crate::structural_equal).
///
/// ```
/// use isoform::Value;
/// assert_eq!(Value::from(3), Value::from(3));
/// assert_ne!(Value::from(1), Value::from(true));
/// assert_eq!(Value::from("short").as_str(), Some("short"));
/// assert_eq!(std::mem::size_of::<Value>(), 16);
/// ```
#[repr(C)]
pub struct Value {
    tag: Tag,
    len: u8,
    head: [u8; 6],
    payload: Payload,
}

const _: () = assert!(size_of::<Value>() == 16 && align_of::<Value>() == 8);

// SAFETY: a value is plain bits or one owned reference to an object, and
// objects are Send + Sync by the contract of `Node`.
unsafe impl Send for Value {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Value {}

impl Value {
    const fn plain(tag: Tag, bits: u64) -> Self {
        Value {
            tag,
            len: 0,
            head: [0; 6],
            payload: Payload { bits },
        }
    }

    /// The value None.
    pub const NONE: Value = Value::plain(Tag::None, 0);

    pub(crate) const fn from_bool(value: bool) -> Self {
        Value::plain(Tag::Bool, value as u64)
    }

    pub(crate) const fn from_int(value: i64) -> Self {
        Value::plain(Tag::Int, value as u64)
    }

    pub(crate) const fn from_float(value: f64) -> Self {
        Value::plain(Tag::Float, value.to_bits())
    }

    pub(crate) const fn from_dtype(value: DType) -> Self {
        Value::plain(Tag::DType, value.to_bits() as u64)
    }

    pub(crate) const fn from_device(value: Device) -> Self {
        Value::plain(Tag::Device, value.to_bits())
    }

    /// The string inline, or None for a longer string.
    pub(crate) fn inline_str(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if bytes.len() > INLINE_STR {
            return None;
        }
        let mut all = [0u8; INLINE_STR];
        all[..bytes.len()].copy_from_slice(bytes);
        let (mut head, mut tail) = ([0u8; 6], [0u8; 8]);
        head.copy_from_slice(&all[..6]);
        tail.copy_from_slice(&all[6..]);
        let payload = Payload {
            bits: u64::from_ne_bytes(tail),
        };
        Some(Value {
            tag: Tag::InlineStr,
            len: bytes.len() as u8,
            head,
            payload,
        })
    }

    pub(crate) fn from_object(object: Ref<Obj>) -> Self {
        Value {
            tag: Tag::Object,
            len: 0,
            head: [0; 6],
            payload: Payload::of_pointer(object.into_raw().as_ptr()),
        }
    }

    #[inline(always)]
    pub(crate) fn tag(&self) -> Tag {
        self.tag
    }

    /// The bits of the payload; for an object, the bits have no further meaning.
    #[inline(always)]
    pub(crate) fn bits(&self) -> u64 {
        // SAFETY: both members are eight initialised bytes.
        unsafe { self.payload.bits }
    }

    /// Both machine words; equal words mean equal values or the same object.
    #[inline(always)]
    pub(crate) fn words(&self) -> (u64, u64) {
        // SAFETY: the first eight bytes (tag, length, head) are initialised
        // and aligned as a u64, because the struct is aligned to eight.
        let first = unsafe { (self as *const Value).cast::<u64>().read() };
        (first, self.bits())
    }

    /// The inline string; empty for any other tag.
    #[inline]
    pub(crate) fn inline_text(&self) -> &str {
        if self.tag != Tag::InlineStr {
            return "";
        }
        let start = (self as *const Value).cast::<u8>();
        // SAFETY: bytes 2.. of an inline string hold `len` bytes copied from
        // a `str`; head and payload are adjacent because of `repr(C)`.
        unsafe {
            let bytes = std::slice::from_raw_parts(start.add(2), self.len as usize);
            std::str::from_utf8_unchecked(bytes)
        }
    }

    /// The object's address, or null for a plain value.
    #[inline(always)]
    pub(super) fn object_pointer(&self) -> *mut Header {
        if self.tag == Tag::Object {
            // SAFETY: the tag tells that the pointer member was written.
            unsafe { self.payload.pointer }
        } else {
            std::ptr::null_mut()
        }
    }

    /// The object in this value, borrowed.
    #[inline(always)]
    pub(crate) fn object_ref(&self) -> Option<ObjRef<'_>> {
        // SAFETY: the value owns a reference for the duration of the borrow.
        NonNull::new(self.object_pointer()).map(|pointer| unsafe { ObjRef::new(pointer) })
    }

    /// The object in this value as a `&Ref`, without touching the object's count.
    #[inline]
    pub fn as_object(&self) -> Option<&Ref<Obj>> {
        if self.tag != Tag::Object {
            return None;
        }
        // SAFETY: the payload holds a non-null owned object pointer, which is
        // exactly the representation of `Ref<Obj>` (repr(transparent)).
        Some(unsafe { &*(&raw const self.payload).cast::<Ref<Obj>>() })
    }

    /// The payload seen as a `&T`; used for typed access to container elements.
    ///
    /// # Safety
    ///
    /// `T` must be at most eight bytes, aligned to at most eight, and the
    /// payload of this tag must be a valid `T`.
    #[inline]
    pub(super) unsafe fn payload_as<T>(&self) -> &T {
        debug_assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8);
        // SAFETY: promised by the caller.
        unsafe { &*(&raw const self.payload).cast::<T>() }
    }

    /// Takes the object out; returns a value of another kind unchanged.
    pub(crate) fn into_object(self) -> Result<Ref<Obj>, Value> {
        match NonNull::new(self.object_pointer()) {
            None => Err(self),
            Some(pointer) => {
                let _moved = ManuallyDrop::new(self);
                // SAFETY: the reference owned by the value moves to the Ref;
                // the value's destructor does not run.
                Ok(unsafe { Ref::from_raw(pointer) })
            }
        }
    }
}

/// A copy of a value other than an object, owning nothing.
#[derive(Clone, Copy)]
pub struct PlainValue {
    tag: Tag,
    len: u8,
    head: [u8; 6],
    bits: u64,
}

impl PlainValue {
    /// The value None.
    pub(crate) const NONE: PlainValue = PlainValue {
        tag: Tag::None,
        len: 0,
        head: [0; 6],
        bits: 0,
    };

    /// None for an object.
    #[inline(always)]
    pub(crate) fn of(value: &Value) -> Option<PlainValue> {
        (value.tag != Tag::Object).then(|| PlainValue {
            tag: value.tag,
            len: value.len,
            head: value.head,
            bits: value.bits(),
        })
    }

    /// The value.
    #[inline(always)]
    pub(crate) fn to_value(self) -> Value {
        Value {
            tag: self.tag,
            len: self.len,
            head: self.head,
            payload: Payload { bits: self.bits },
        }
    }
}

/// A value borrowing an object without owning the object.
pub(crate) struct BorrowedValue<'a> {
    value: ManuallyDrop<Value>,
    borrow: PhantomData<&'a Ref<Obj>>,
}

impl<'a> BorrowedValue<'a> {
    #[inline(always)]
    pub(crate) fn of(object: &'a Ref<Obj>) -> Self {
        BorrowedValue {
            // Never dropped, to leave the count unchanged.
            value: ManuallyDrop::new(Value {
                tag: Tag::Object,
                len: 0,
                head: [0; 6],
                payload: Payload::of_pointer(object.raw().as_ptr()),
            }),
            borrow: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> &Value {
        &self.value
    }
}

impl Clone for Value {
    #[inline]
    fn clone(&self) -> Self {
        if let Some(pointer) = NonNull::new(self.object_pointer()) {
            // SAFETY: this value owns a reference, so the object is alive.
            unsafe { pointer.as_ref() }.retain();
        }
        Value {
            tag: self.tag,
            len: self.len,
            head: self.head,
            payload: self.payload,
        }
    }
}

impl Drop for Value {
    #[inline]
    fn drop(&mut self) {
        if let Some(pointer) = NonNull::new(self.object_pointer()) {
            // SAFETY: the value owns one reference and is being dropped.
            unsafe { release(pointer) };
        }
    }
}

impl Default for Value {
    fn default() -> Self {
        Value::NONE
    }
}
