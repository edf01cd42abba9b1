//! The common part of walks and rewrites controlled from outside, by a callback for the
//! values of some types or by the hook of a type.

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::view::ObjRef;
use crate::kernel::path::AccessPath;
use crate::kernel::types::region::RegionKind;

/// The callback controlling the traversal of values of some types.
pub(super) struct Driver<'f, C: ?Sized> {
    wanted: &'f dyn Fn(Option<TypeIndex>) -> bool,
    pub(super) callback: &'f C,
    max_depth: u32,
    /// The number of running callbacks.
    depth: u32,
}

impl<'f, C: ?Sized> Driver<'f, C> {
    pub(super) fn new(
        wanted: &'f dyn Fn(Option<TypeIndex>) -> bool,
        callback: &'f C,
        max_depth: u32,
    ) -> Self {
        Driver {
            wanted,
            callback,
            max_depth,
            depth: 0,
        }
    }

    /// True if the callback gets values of a type.
    #[inline]
    pub(super) fn wants(&self, ty: Option<TypeIndex>) -> bool {
        (self.wanted)(ty)
    }

    /// Counts a call of the callback, until [`leave`](Self::leave).
    ///
    /// # Errors
    ///
    /// `RecursionError` with the path if calls nest too deeply.
    pub(super) fn enter(
        &mut self,
        operation: &str,
        path: impl FnOnce() -> AccessPath,
    ) -> Result<()> {
        if self.depth >= self.max_depth {
            let limit = self.max_depth;
            let text = format!("{operation}: callbacks nest deeper than {limit} levels");
            return Err(Error::new(ErrorKind::Recursion, text).at(path()));
        }
        self.depth += 1;
        Ok(())
    }

    /// Ends a call.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// The value with a running hook or callback, which may ask for parts of the value.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    /// The object with the running hook; None for a callback.
    pub(super) hooked: Option<ObjRef<'a>>,
    /// True if the last cursor belongs to the value.
    pub(super) has_cursor: bool,
    /// The region of the value.
    pub(super) region: RegionKind,
}

impl<'a> Asker<'a> {
    /// True if the hook of an object runs.
    pub(super) fn is_hook_of(&self, object: ObjRef<'a>) -> bool {
        self.hooked.is_some_and(|hooked| hooked.same_as(object))
    }
}

/// The request of a hook or callback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// A part.
    Part,
    /// The children of a part, without its callback.
    Children,
}
