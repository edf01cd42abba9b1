//! The expansion of the derive compiles without a warning under strict lints, whatever the declaration looks like.
//!
//! The lints below are the test: this file must compile.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    private_bounds,
    private_interfaces,
    unreachable_pub,
    unused_qualifications,
    unused_results,
    rust_2018_idioms,
    clippy::all,
    clippy::pedantic,
    clippy::absolute_paths,
    clippy::impl_trait_in_params,
    clippy::implicit_return,
    clippy::missing_inline_in_public_items,
    clippy::multiple_inherent_impl,
    clippy::undocumented_unsafe_blocks
)]

use ::std::option::Option as Maybe;

use isoform::attrs::node_trait;
use isoform::types::register;
use isoform::{Array, Node, Ref, Str, Value};

/// Names that an expansion without full paths would pick up.
mod shadow {
    #![allow(dead_code, reason = "these names are there to be in the way")]

    #[derive(Debug)]
    pub(super) struct Obj;
    pub(super) trait Clone {}
    pub(super) trait Default {}
    pub(super) trait Into {}
    pub(super) trait From {}
    pub(super) trait Drop {}
    pub(super) mod core {}
    pub(super) mod std {}
    pub(super) enum Option {}
}
#[allow(unused_imports, reason = "these names are there to be in the way")]
use shadow::*;

/// Private, with fields that nobody reads.
#[derive(Node)]
#[node(key = "warnings.Private")]
#[repr(C)]
struct Private {
    value: i64,
    next: Maybe<Ref<Self>>,
}

/// Nothing but the declaration.
#[derive(Node)]
#[node(key = "warnings.Unused")]
#[repr(C)]
struct Unused;

mod inner {
    //! Visibilities below that of the crate.

    use super::{Array, Maybe, Node, Private, Ref, Str, Value};

    /// Public in name, with private fields of private types, and enough of them for every lint on their number.
    #[derive(Node)]
    #[node(key = "warnings.Wide", scope)]
    #[repr(C)]
    #[non_exhaustive]
    pub(super) struct Wide {
        #[node(base)]
        base: Private,
        copy: Ref<Private>,
        pub(super) node: Ref<Private>,
        #[node(default = None)]
        ancestor: Maybe<Ref<Private>>,
        #[node(default = "text")]
        r#type: Str,
        #[node(default = -0.5)]
        value_2: Value,
        #[node(default)]
        elements: Array<Ref<Private>>,
        first: i64,
        second: f64,
        third: bool,
        fourth: i64,
        fifth: i64,
        sixth: i64,
    }
}

/// With attributes of all sorts.
#[derive(Node)]
#[node(key = "warnings.Attributed", attrs(dyn Marker, dyn traits::Wide, dyn traits::Lower, "warnings.cost" = 5))]
#[repr(C)]
struct Attributed {
    #[node(compare = false, hash = false, repr = false)]
    value: i64,
}

/// Nothing is asked of a node.
#[node_trait("warnings.marker")]
trait Marker {}

impl Marker for Attributed {}
#[allow(clippy::implicit_return, reason = "the macro is under test")]
impl traits::Wide for Attributed {
    fn required(&self, first: i64, _: &str) -> isoform::Result<i64> {
        Ok(first)
    }
}
impl traits::Lower for Attributed {
    fn lower(&self, out: &mut i64) {
        *out += self.value;
    }
}

mod traits {
    //! Visibilities below that of the crate.

    use super::{Array, Maybe, Ref, Str, Value, inner, node_trait};
    use isoform::Result;

    /// Enough arguments for every lint on their number.
    #[node_trait("warnings.wide")]
    pub(super) trait Wide: Send + Sync {
        /// Without a body.
        ///
        /// # Errors
        ///
        /// Never.
        fn required(&self, first: i64, second: &str) -> Result<i64>;

        /// With a body.
        ///
        /// # Errors
        ///
        /// Never.
        #[allow(
            clippy::implicit_return,
            clippy::too_many_arguments,
            reason = "the macro is under test"
        )]
        fn defaulted(
            &self,
            call: i64,
            node: f64,
            values: bool,
            r#type: &Array<Str>,
            e: &[Value],
            f: Maybe<Ref<inner::Wide>>,
            g: Ref<inner::Wide>,
            h: &Ref<inner::Wide>,
        ) -> Result<()> {
            let _ = (call, node, values, r#type, e, f, g, h);
            Ok(())
        }
    }

    /// Without methods for others.
    #[node_trait("warnings.lower")]
    pub(super) trait Lower {
        /// Adds to the number.
        #[node_trait(rust_only)]
        fn lower(&self, out: &mut i64);
    }
}

/// Not public, with a documented field.
#[derive(Node)]
#[node(key = "warnings.Documented")]
#[repr(C)]
struct Documented {
    /// A field with documentation.
    value: i64,
}

#[test]
fn declarations_register() {
    for result in [
        register::<Private>(),
        register::<Unused>(),
        register::<inner::Wide>(),
        register::<Documented>(),
        register::<Attributed>(),
    ] {
        assert!(result.is_ok(), "{result:?}");
    }
    let node = Attributed::new(5);
    let mut sum = 1;
    if let Some(lower) = node.implements::<dyn traits::Lower>() {
        lower.lower(&mut sum);
    }
    assert_eq!(sum, 6);
}
