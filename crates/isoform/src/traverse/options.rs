//! Options of walks and rewrites, and the results of a walk's callbacks.

use crate::kernel::hooks::MAX_HOOK_DEPTH;
use crate::kernel::setters::setters;

/// Visits an object before or after all objects below.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WalkOrder {
    /// Before.
    Pre,
    /// After.
    #[default]
    Post,
}

/// The number of visits to an object reached in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sharing {
    /// Once, at the first place.
    #[default]
    Once,
    /// Once in each [kind of region](crate::types::RegionKind) of its occurrences,
    /// together with all objects below: a variable at its binding and at its use. At
    /// most three visits of an object.
    OncePerRegion,
    /// At every place, together with all objects below. The number of visits may be
    /// exponential in the number of objects.
    EachOccurrence,
}

/// Options of a walk. The default is post-order, visits shared objects once,
/// omits the fields that comparison ignores, and includes the keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Before or after the children.
    pub order: WalkOrder,
    /// Shared objects once or at every place.
    pub sharing: Sharing,
    /// True if fields with the flag `ignore` are walked too.
    pub include_ignored: bool,
    /// True if the keys of maps and dicts are walked too.
    pub keys: bool,
    /// True if types with a custom traversal are walked by it, rather than by
    /// their fields.
    pub hooks: bool,
    /// The maximum nesting of callbacks controlling the walk ([`visit`](Self::visit)).
    /// Each level is a call of user code on the native stack: only a host language with
    /// a limit on the depth of its own calls may allow more than the default,
    /// [`MAX_HOOK_DEPTH`].
    pub max_depth: u32,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions {
            order: WalkOrder::default(),
            sharing: Sharing::default(),
            include_ignored: false,
            keys: true,
            hooks: true,
            max_depth: MAX_HOOK_DEPTH,
        }
    }
}

impl WalkOptions {
    setters! {
        /// Sets the order.
        order: WalkOrder,
        /// Sets how often shared objects are visited.
        sharing: Sharing,
        /// Sets whether fields with the flag `ignore` are walked too.
        include_ignored: bool,
        /// Sets whether the keys of maps and dicts are walked too.
        keys: bool,
        /// Sets whether types with a custom traversal are walked by it.
        hooks: bool,
        /// Sets the maximum nesting of callbacks that control the walk.
        max_depth: u32,
    }
}

/// The result of a walk's callback.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WalkResult<B = ()> {
    /// Continue.
    Advance,
    /// Continue, but skip the children of this value. In post-order, the children have
    /// already been visited: the same as `Advance`.
    Skip,
    /// End the walk with this result.
    Interrupt(B),
}

/// Options selecting the children of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ChildOptions {
    /// True if fields with the flag `ignore` are children too.
    pub include_ignored: bool,
    /// True if the keys of maps and dicts are children too.
    pub keys: bool,
}

impl Default for ChildOptions {
    fn default() -> Self {
        ChildOptions {
            include_ignored: false,
            keys: true,
        }
    }
}

impl ChildOptions {
    setters! {
        /// Sets whether fields with the flag `ignore` are children too.
        include_ignored: bool,
        /// Sets whether the keys of maps and dicts are children too.
        keys: bool,
    }
}

/// Options of a rewrite. The default is post-order, omits the fields that
/// comparison ignores, and includes the keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct MapOptions {
    /// Calls the callback before or after the children.
    pub order: WalkOrder,
    /// The visited children; all others are copied unchanged.
    pub children: ChildOptions,
    /// True to call the callback for a variable at each place, not once in each kind of
    /// region. For rewrites in which the replacement of a variable changes from some
    /// place on.
    pub revisit_vars: bool,
    /// True to rewrite an object once in each kind of region of its occurrences, not
    /// once in all.
    pub regions_apart: bool,
    /// The maximum nesting of callbacks controlling the rewrite
    /// ([`mutate`](Self::mutate)); see [`WalkOptions::max_depth`].
    pub max_depth: u32,
}

impl Default for MapOptions {
    fn default() -> Self {
        MapOptions {
            order: WalkOrder::default(),
            children: ChildOptions::default(),
            revisit_vars: false,
            regions_apart: true,
            max_depth: MAX_HOOK_DEPTH,
        }
    }
}

impl MapOptions {
    setters! {
        /// Sets the order.
        order: WalkOrder,
        /// Sets whether the callback is called for a variable at each place.
        revisit_vars: bool,
        /// Sets whether an object is rewritten once in each kind of region.
        regions_apart: bool,
        /// Sets the maximum nesting of callbacks that control the rewrite.
        max_depth: u32,
    }

    /// Sets whether fields with the flag `ignore` are rewritten too.
    #[must_use]
    pub fn include_ignored(mut self, include_ignored: bool) -> Self {
        self.children.include_ignored = include_ignored;
        self
    }

    /// Sets whether the keys of maps and dicts are rewritten too.
    #[must_use]
    pub fn keys(mut self, keys: bool) -> Self {
        self.children.keys = keys;
        self
    }
}
