//! Random objects of any registered type, made from the declaration of its fields.
//!
//! Choices are drawn from bytes, so every tool that makes random bytes makes random objects:
//! [`RandomCases`](crate::source::RandomCases), proptest, cargo-fuzz. Fewer and smaller bytes
//! make smaller objects, therefore a tool that shrinks bytes shrinks objects.
//!
//! `catalog.rs` knows which objects exist, and `draw.rs` makes one of them,
//! with the values of `plain.rs` in its fields. Absent: values of
//! functions, and objects whose constructor asks for more than the types of its fields, which
//! [`NodeOptions::given`] supplies.

mod catalog;
mod draw;
mod plain;

use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use isoform::types::{TypeIndex, find_type};
use isoform::{Error, Node, Obj, Ref, Result, Value};

use crate::source::Source;

/// Returns a random object of a type or of a type that extends it: the same object for the
/// same bytes.
///
/// Fields get values of their types, and every registered type comes up where it fits, also in
/// fields for any object if it has the same dialect. Types register with their first object;
/// `register_types` of [`dialect!`](macro@isoform::dialect) registers all types of a dialect.
/// A base of other types counts as abstract if the base has no compared fields.
///
/// Definition fields get new variables, and variables are used where they are bound only;
/// where nothing but a variable fits and none is bound, it is a free one, unless
/// [`NodeOptions::closed`] forbids it. Objects pass
/// [`check_well_formed`](isoform::traverse::check_well_formed).
///
/// O(types × their fields × depth) to find out which objects exist, then O(nodes) for the
/// numbers in the options.
///
/// # Errors
///
/// `TypeError` if no value can be made for a field; `ValueError` for an empty range of
/// [`NodeOptions::ints`]; errors of making objects from fields.
///
/// ```
/// use isoform::{Array, Node, Ref, Str};
/// use isoform::text::{from_text, to_text};
/// use isoform_testing::nodes::random_node;
/// use isoform_testing::source::RandomCases;
///
/// /// An expression.
/// #[derive(Node, Default)]
/// #[node(key = "doc.nodes.Expr", no_new)]
/// #[repr(C)]
/// pub struct Expr {}
///
/// /// A variable.
/// #[derive(Node)]
/// #[node(key = "doc.nodes.Var", kind = var)]
/// #[repr(C)]
/// pub struct Var {
///     #[node(base, default)]
///     base: Expr,
///     /// Not compared.
///     #[node(ignore)]
///     pub name: Str,
/// }
///
/// /// A number.
/// #[derive(Node)]
/// #[node(key = "doc.nodes.Int")]
/// #[repr(C)]
/// pub struct Int {
///     #[node(base, default)]
///     base: Expr,
///     /// The number.
///     pub value: i64,
/// }
///
/// /// A function.
/// #[derive(Node)]
/// #[node(key = "doc.nodes.Fun", scope)]
/// #[repr(C)]
/// pub struct Fun {
///     #[node(base, default)]
///     base: Expr,
///     /// Bound here.
///     #[node(def)]
///     pub params: Array<Ref<Var>>,
///     /// The result.
///     pub body: Ref<Expr>,
/// }
///
/// isoform::dialect! { "doc.nodes"; pub use self::{Expr, Var, Int, Fun}; }
/// register_types()?;
/// let cases = RandomCases { seed: 1, count: 100, lengths: 0..200 };
/// cases.check("texts", |bytes| {
///     let expr = random_node::<Expr>(bytes).map_err(|error| error.to_string())?;
///     let text = to_text(&expr).map_err(|error| error.to_string())?;
///     let read = from_text(&text).map_err(|error| error.to_string())?;
///     isoform::text::assert_structural_equal(read, &expr).map_err(|error| error.to_string())
/// });
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn random_node<T: Node>(bytes: &[u8]) -> Result<Ref<T>> {
    NodeOptions::default().random_node(bytes)
}

/// The objects of a type for [`NodeOptions::given`].
type NodeFunction = Arc<dyn Fn(&mut Source<'_>) -> Result<Ref<Obj>> + Send + Sync>;

/// The sizes and parts of random objects; the defaults are those of
/// `isoform.testing.strategy` in Python.
#[derive(Clone)]
pub struct NodeOptions {
    depth: usize,
    size: usize,
    nodes: usize,
    ints: RangeInclusive<i64>,
    closed: bool,
    given: HashMap<TypeIndex, NodeFunction>,
}

impl Default for NodeOptions {
    fn default() -> Self {
        NodeOptions {
            depth: 4,
            size: 3,
            nodes: 40,
            ints: i64::MIN..=i64::MAX,
            closed: false,
            given: HashMap::new(),
        }
    }
}

impl fmt::Debug for NodeOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeOptions")
            .field("depth", &self.depth)
            .field("size", &self.size)
            .field("nodes", &self.nodes)
            .field("ints", &self.ints)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

impl NodeOptions {
    /// Sets how deep objects nest, as far as the types have objects of this depth; 4 by
    /// default, at most 64.
    #[must_use]
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the most elements of a container; 3 by default.
    #[must_use]
    pub fn size(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    /// Sets the number of objects after which a value is completed with the smallest objects
    /// that fit; 40 by default.
    #[must_use]
    pub fn nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self
    }

    /// Sets the integers in fields of integers; all of 64 bits by default.
    #[must_use]
    pub fn ints(mut self, ints: RangeInclusive<i64>) -> Self {
        self.ints = ints;
        self
    }

    /// Sets whether objects have no free variables; false by default. Comparison tells
    /// different free variables apart, and texts and files have new ones after reading.
    ///
    /// A type that uses a variable comes up where one is bound.
    #[must_use]
    pub fn closed(mut self, closed: bool) -> Self {
        self.closed = closed;
        self
    }

    /// Sets the function that makes all objects of exactly this type, for types whose
    /// constructor asks for more than the types of its fields.
    ///
    /// ```
    /// use isoform::Node;
    /// use isoform_testing::nodes::NodeOptions;
    ///
    /// /// A positive number.
    /// #[derive(Node)]
    /// #[node(key = "doc.nodes.Positive")]
    /// #[repr(C)]
    /// pub struct Positive {
    ///     /// The number.
    ///     pub value: i64,
    /// }
    ///
    /// let options = NodeOptions::default()
    ///     .given(|source| Ok(Positive::new(1 + i64::from(source.byte()))));
    /// assert_eq!(options.random_node::<Positive>(&[6])?.value, 7);
    /// # Ok::<(), isoform::Error>(())
    /// ```
    #[must_use]
    pub fn given<T: Node>(
        mut self,
        make: impl Fn(&mut Source<'_>) -> Result<Ref<T>> + Send + Sync + 'static,
    ) -> Self {
        let make = move |source: &mut Source<'_>| Ok(make(source)?.into_object());
        self.given.insert(T::type_index(), Arc::new(make));
        self
    }

    /// [`random_node`] with these options.
    ///
    /// # Errors
    ///
    /// As [`random_node`], and errors of [given](Self::given) functions.
    pub fn random_node<T: Node>(&self, bytes: &[u8]) -> Result<Ref<T>> {
        draw::node(self, T::type_index(), &mut Source::new(bytes))?.extract()
    }

    /// As [`random_node`](Self::random_node), for a type that is known by its key only.
    ///
    /// # Errors
    ///
    /// As [`random_node`](Self::random_node), and `TypeError` for a key that is not registered.
    pub fn random_value(&self, key: &str, bytes: &[u8]) -> Result<Value> {
        let info = find_type(key).ok_or_else(|| {
            Error::type_error(format!("random_value: the type {key} is not registered"))
        })?;
        draw::node(self, info.index(), &mut Source::new(bytes))
    }
}
