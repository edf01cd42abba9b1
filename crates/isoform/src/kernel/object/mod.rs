//! The object island: headers, owning pointers, casts, raw storage and drop.
//!
//! This is the only module of the crate that contains `unsafe` code. All code above
//! (containers, registry, engines, walks) is safe Rust, using the types defined here.
//!
//! # Layout
//!
//! An object is one heap block: a 24-byte [`Header`](header::Header), then its fields
//! at fixed offsets. A type declared in Rust is `repr(C)`; a type declared at run time
//! gets the same offsets by the same rules, so code need not distinguish the two.
//!
//! ```text
//! +0   reference count (u32)   type index (u32)
//! +8   identity number (u64)
//! +16  spare word, reserved for a host language's wrapper
//! +24  fields of the root-most parent, ..., fields of the type itself
//! ```
//!
//! # Soundness in one page
//!
//! * Fields of a Rust struct never change while a second owner exists: mutable access
//!   needs `&mut Ref<T>` **and** a reference count of one. A `&T` may therefore be
//!   given to anyone.
//! * Fields declared at run time may change in objects with any number of owners, so
//!   plain references to these fields are never given out. The rule of [`access`]
//!   governs reads and writes: readers keep writers out, by a lock of the process or of
//!   a host language, and foreign code runs only where neither is held. A token taken
//!   by every read lets the compiler check the rule. All run-time fields count as
//!   changeable, including frozen fields, until a Rust struct with the same definition
//!   claims them.
//! * An object borrowed from a field stays alive for the reading traversal: a value
//!   removed from a field by a write waits in [`deferred_drop`].
//! * Mutable containers (`List`, `Dict`) wrap an immutable container, and change by the
//!   same rule ([`guarded`]); a borrowed container is copied before a change.
//! * Every field type is a storage kind of [`Storage`](field::Storage); all storage
//!   kinds are `Send + Sync`, hence every object, too.
//! * The type table is append-only and its entries are leaked, so a
//!   `&'static TypeInfo` is always valid.
#![allow(unsafe_code)]

pub(crate) mod access;
mod aliases;
pub(crate) mod arena;
pub(crate) mod build;
pub(crate) mod builder;
pub(crate) mod class;
pub(crate) mod collect;
pub(crate) mod contents;
mod deferred_drop;
pub(crate) mod dynamic;
pub(crate) mod ffi;
pub(crate) mod field;
pub(crate) mod guarded;
pub(crate) mod handle;
pub(crate) mod header;
pub(crate) mod host_lock;
pub(crate) mod moment;
pub(crate) mod native;
pub(crate) mod pair;
mod placement;
pub(crate) mod prefetch;
pub(crate) mod published;
pub(crate) mod raw_value;
pub(crate) mod reference;
pub(crate) mod release;
pub(crate) mod scoped;
pub(crate) mod shell;
pub(crate) mod slot;
pub(crate) mod table;
pub(crate) mod type_cell;
pub(crate) mod view;
