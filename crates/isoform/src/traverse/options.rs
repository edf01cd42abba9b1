//! How a walk goes, and what its callbacks answer.

/// Whether an object is visited before or after what lies below it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum WalkOrder {
    /// Before.
    Pre,
    /// After.
    #[default]
    Post,
}

/// What a walk does with an object that is reached in several ways.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Sharing {
    /// It is visited once, where it is met first.
    #[default]
    Once,
    /// It is visited once in each [kind of region](crate::RegionKind) in which it
    /// stands, with all that lies below it: a variable where it is bound and
    /// where it is used. At most three visits of an object.
    OncePerRegion,
    /// It is visited, with all that lies below it, at every place. The number
    /// of visits may be exponential in the number of objects.
    EachOccurrence,
}

/// How to walk; the default is post-order, shared objects once, without the
/// fields that comparison ignores, and with the keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Before or after the children.
    pub order: WalkOrder,
    /// Shared objects once or at every place.
    pub sharing: Sharing,
    /// Whether fields with the flag `ignore` are walked too.
    pub include_ignored: bool,
    /// Whether the keys of maps and dicts are walked too.
    pub keys: bool,
    /// Whether types with a traversal of their own are walked by it, rather
    /// than by their fields.
    pub hooks: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions {
            order: WalkOrder::default(),
            sharing: Sharing::default(),
            include_ignored: false,
            keys: true,
            hooks: true,
        }
    }
}

impl WalkOptions {
    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: WalkOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets what is done with shared objects.
    #[must_use]
    pub fn sharing(mut self, sharing: Sharing) -> Self {
        self.sharing = sharing;
        self
    }

    /// Sets whether fields with the flag `ignore` are walked too.
    #[must_use]
    pub fn include_ignored(mut self, include_ignored: bool) -> Self {
        self.include_ignored = include_ignored;
        self
    }

    /// Sets whether the keys of maps and dicts are walked too.
    #[must_use]
    pub fn keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }

    /// Sets whether types with a traversal of their own are walked by it.
    #[must_use]
    pub fn hooks(mut self, hooks: bool) -> Self {
        self.hooks = hooks;
        self
    }
}

/// A callback's answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WalkResult<B = ()> {
    /// Go on.
    Advance,
    /// Go on, but not into the children of this value. In post-order they have
    /// been visited already, and this is the same as `Advance`.
    Skip,
    /// End the walk with this result.
    Interrupt(B),
}
