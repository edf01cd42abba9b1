//! Choices by the type of a node.

use crate::kernel::convert::IsA;
use crate::kernel::object::reference::{Node, Ref};
use crate::kernel::value::Value;

/// A value that may be a node of the type `T`: the argument of
/// [`match_node!`](crate::match_node). Any value may, and a reference to a type that `T`
/// extends.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is never a node of the type `{T}`",
    note = "the argument of `match_node!` is a `Ref` or a `Value`"
)]
pub trait NodeLike<T: Node> {
    /// The node, if it has the type.
    fn as_node(&self) -> Option<&Ref<T>>;
}

impl<T: IsA<U>, U: Node> NodeLike<T> for Ref<U> {
    fn as_node(&self) -> Option<&Ref<T>> {
        self.downcast_ref()
    }
}

impl<T: Node> NodeLike<T> for Value {
    fn as_node(&self) -> Option<&Ref<T>> {
        self.peek()
    }
}

impl<T: Node, N: NodeLike<T>> NodeLike<T> for &N {
    fn as_node(&self) -> Option<&Ref<T>> {
        (*self).as_node()
    }
}

/// Chooses an expression by the type of a node, like `match` on an enum.
///
/// The first argument is a [`Ref`](crate::Ref) or a [`Value`](crate::Value). Each arm names a
/// node type and a pattern for the node, of type `&Ref<T>`; a node of a type that extends `T`
/// is a `T`, too, and for a `Ref<U>`, `T` is `U` or extends it. `|` joins types with one expression, and a condition may follow after `if`.
/// The first arm that fits counts, so a base comes after the types that extend it; the last arm, `_` or a name for the node, is for all other
/// nodes. O(1) for each arm.
///
/// ```
/// use isoform::{Node, Obj, Ref, match_node};
///
/// /// An expression.
/// #[derive(Node, Default)]
/// #[node(key = "doc.match.Expr")]
/// #[repr(C)]
/// pub struct Expr {}
///
/// /// A number.
/// #[derive(Node)]
/// #[node(key = "doc.match.Int")]
/// #[repr(C)]
/// pub struct Int {
///     #[node(base, default)]
///     base: Expr,
///     /// The number.
///     pub value: i64,
/// }
///
/// /// A sum.
/// #[derive(Node)]
/// #[node(key = "doc.match.Add")]
/// #[repr(C)]
/// pub struct Add {
///     #[node(base, default)]
///     base: Expr,
///     /// The left operand.
///     pub lhs: Ref<Expr>,
///     /// The right operand.
///     pub rhs: Ref<Expr>,
/// }
///
/// fn evaluate(expr: &Ref<Expr>) -> Option<i64> {
///     match_node!(expr, {
///         Int(int) => Some(int.value),
///         Add(add) => Some(evaluate(&add.lhs)? + evaluate(&add.rhs)?),
///         _ => None,
///     })
/// }
///
/// let sum = Add::new(Int::new(1), Int::new(2)).upcast();
/// assert_eq!(evaluate(&sum), Some(3));
/// assert_eq!(evaluate(&Ref::new(Expr::default())), None);
///
/// fn class(expr: &Ref<Expr>) -> String {
///     match_node!(expr, {
///         Int(int) if int.value < 0 => "negative".to_owned(),
///         Int(_) | Add(_) => {
///             "not negative, or a sum".to_owned()
///         }
///         other => format!("another {}", other.type_info().key()),
///     })
/// }
///
/// assert_eq!(class(&Int::new(-1).upcast()), "negative");
/// assert_eq!(class(&sum), "not negative, or a sum");
/// assert_eq!(class(&Ref::new(Expr::default())), "another doc.match.Expr");
/// ```
#[macro_export]
macro_rules! match_node {
    ($node:expr, { $($arms:tt)* }) => {
        match &$node {
            node => $crate::__match_arms!(node, $($arms)*),
        }
    };
}

/// The arms of [`match_node!`](crate::match_node) after a name for the node.
#[doc(hidden)]
#[macro_export]
macro_rules! __match_arms {
    // Many arms of the plain form, without recursion.
    ($node:ident, $($($ty:ident)::+ ($name:pat) => $arm:expr,)+ _ => $otherwise:expr $(,)?) => {
        $(if let ::core::option::Option::Some($name) = $crate::__private::NodeLike::<$($ty)::+>::as_node($node) {
            $arm
        } else)+ {
            $otherwise
        }
    };
    ($node:ident, _ => $otherwise:expr $(,)?) => { $otherwise };
    ($node:ident, $name:ident => $otherwise:expr $(,)?) => {{
        let $name = $node;
        $otherwise
    }};
    ($node:ident, ) => {
        ::core::compile_error!(
            "`match_node!` ends with an arm for all other nodes: `_ => ...` or `name => ...`"
        )
    };
    ($node:ident, $($($ty:ident)::+ ($name:pat))|+ => $arm:block $(,)? $($rest:tt)*) => {
        $crate::__match_arms!(
            @types $node, [$($($ty)::+ ($name))|+] if true => $arm, $($rest)*
        )
    };
    ($node:ident, $($($ty:ident)::+ ($name:pat))|+ => $arm:expr, $($rest:tt)*) => {
        $crate::__match_arms!(
            @types $node, [$($($ty)::+ ($name))|+] if true => $arm, $($rest)*
        )
    };
    (
        $node:ident, $($($ty:ident)::+ ($name:pat))|+ if $guard:expr => $arm:block
        $(,)? $($rest:tt)*
    ) => {
        $crate::__match_arms!(
            @types $node, [$($($ty)::+ ($name))|+] if $guard => $arm, $($rest)*
        )
    };
    (
        $node:ident, $($($ty:ident)::+ ($name:pat))|+ if $guard:expr => $arm:expr,
        $($rest:tt)*
    ) => {
        $crate::__match_arms!(
            @types $node, [$($($ty)::+ ($name))|+] if $guard => $arm, $($rest)*
        )
    };
    // The types of an arm one after the other.
    (
        @types $node:ident, [$($ty:ident)::+ ($name:pat)] if $guard:expr => $arm:expr,
        $($rest:tt)*
    ) => {
        match $crate::__private::NodeLike::<$($ty)::+>::as_node($node) {
            ::core::option::Option::Some($name) if $guard => $arm,
            _ => $crate::__match_arms!($node, $($rest)*),
        }
    };
    (
        @types $node:ident, [$($ty:ident)::+ ($name:pat) | $($types:tt)+]
        if $guard:expr => $arm:expr, $($rest:tt)*
    ) => {
        match $crate::__private::NodeLike::<$($ty)::+>::as_node($node) {
            ::core::option::Option::Some($name) if $guard => $arm,
            _ => $crate::__match_arms!(
                @types $node, [$($types)+] if $guard => $arm, $($rest)*
            ),
        }
    };
    ($node:ident, $($arms:tt)*) => {
        ::core::compile_error!(
            "expected arms such as `Type(node) => value,` with commas between them, and as the last \
             one `_ => value` or `name => value`"
        )
    };
}
