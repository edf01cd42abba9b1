//! How walks and rewrites go, and what the callbacks of walks answer.

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

/// Which children of a value are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct ChildOptions {
    /// Whether fields with the flag `ignore` are children too.
    pub include_ignored: bool,
    /// Whether the keys of maps and dicts are children too.
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
    /// Sets whether fields with the flag `ignore` are children too.
    #[must_use]
    pub fn include_ignored(mut self, include_ignored: bool) -> Self {
        self.include_ignored = include_ignored;
        self
    }

    /// Sets whether the keys of maps and dicts are children too.
    #[must_use]
    pub fn keys(mut self, keys: bool) -> Self {
        self.keys = keys;
        self
    }
}

/// How to rewrite; the default is post-order, without the fields that
/// comparison ignores, and with the keys of maps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct MapOptions {
    /// Whether the callback comes before or after the children.
    pub order: WalkOrder,
    /// Which children are visited; the others are taken over.
    pub children: ChildOptions,
    /// Whether the callback is asked about a variable at each place where it
    /// stands, and not once in each kind of region. For rewrites in which a
    /// variable becomes something else from some place on.
    pub revisit_vars: bool,
    /// Whether an object is rewritten once in each kind of region in which it
    /// stands, and not once in all.
    pub regions_apart: bool,
}

impl Default for MapOptions {
    fn default() -> Self {
        MapOptions {
            order: WalkOrder::default(),
            children: ChildOptions::default(),
            revisit_vars: false,
            regions_apart: true,
        }
    }
}

impl MapOptions {
    /// Sets the order.
    #[must_use]
    pub fn order(mut self, order: WalkOrder) -> Self {
        self.order = order;
        self
    }

    /// Sets whether the callback is asked about a variable at each place.
    #[must_use]
    pub fn revisit_vars(mut self, revisit_vars: bool) -> Self {
        self.revisit_vars = revisit_vars;
        self
    }

    /// Sets whether an object is rewritten once in each kind of region.
    #[must_use]
    pub fn regions_apart(mut self, regions_apart: bool) -> Self {
        self.regions_apart = regions_apart;
        self
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
