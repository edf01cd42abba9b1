//! The island of the binding: Python objects for core objects.
//!
//! The only module of this crate with `unsafe` code. It defines, through CPython's C
//! interface, the base class `Object`, its metaclass, the descriptors of fields and the
//! constructor; the rest of the crate is safe code on top of the functions exported
//! here.
//!
//! # A wrapper and its object
//!
//! A [`wrapper`] is a Python object with a pointer to a core object, and one owner of
//! the core object. The core object's spare word points back: one object has one
//! wrapper, and `a.child is a.child`. The spare word is read and written only under the
//! GIL, except for the bit that `isoform::host` documents (`link.rs`).
//!
//! Wrappers of classes without their own state (no `__dict__`, no slots) die with their
//! last Python reference and are recreated on demand. Wrappers with state are
//! *preserved* while the core still holds the object: wrapper and object own each other
//! until the last other owner goes.
//!
//! # Soundness
//!
//! * Every function here with a parameter of type `Python<'_>` or `&Bound<'_, _>` runs
//!   under the GIL, as does every slot called by CPython.
//! * Fields are written only under the GIL (see the access rule of the core), so
//!   reading them under the GIL without a lock is sound. No Python code runs between
//!   reading a borrowed field and taking a reference to it.
//!
//! In a free-threaded Python, "under the GIL" means "in an attached thread", which excludes
//! no other thread. The rules of `gil.rs` are in the place of the GIL there, and
//! `link_free.rs` in the place of `link.rs`.
//!
//! # Files
//!
//! `roots.rs` has `Object` and its metaclass for the other files, `class.rs` is the table
//! of classes, `wrapper.rs` builds on both, and `bind.rs` makes classes from everything
//! in these files. Two functions go in the opposite direction and are injected at
//! startup: one makes the class of a native type, the other completes an unfinished
//! object.
//!
//! The class of a native type is called with its fields, or with the parameters of the
//! constructor function that the type declares (`maker.rs`).
#![allow(unsafe_code)]

mod abandoned;
pub(crate) mod bind;
pub(crate) mod class;
pub(crate) mod construct;
pub(crate) mod fast;
pub(crate) mod gc;
pub(crate) mod gil;
pub(crate) mod init_function;
#[cfg(not(Py_GIL_DISABLED))]
mod link;
#[cfg(Py_GIL_DISABLED)]
#[path = "link_free.rs"]
mod link;
mod maker;
pub(crate) mod meta;
pub(crate) mod method;
pub(crate) mod property;
pub(crate) mod roots;
mod slot;
pub(crate) mod tensor;
pub(crate) mod traceback;
pub(crate) mod wrapper;
