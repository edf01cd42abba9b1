//! Conversions of constructor arguments to fields.

use crate::kernel::container::{Array, Bytes, Dict, List, Map, Shape, Str, Tensor, containers};
use crate::kernel::function::Function;
use crate::kernel::object::field::ElementType;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::value::{DType, Value};

/// A node type equal to `Ancestor` or extending `Ancestor`, for the compiler.
///
/// The derive implements this trait for every node type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not extend `{Ancestor}`",
    note = "a node type extends the type of its `#[node(base)]` field, and what that one extends",
    note = "`.cast::<{Ancestor}>()?` goes down from a `Ref` of a base or of `Obj`"
)]
pub trait IsA<Ancestor: Node>: Node {
    /// Converts the node to its ancestor. Free.
    fn upcast_to(node: Ref<Self>) -> Ref<Ancestor>;
}

impl IsA<Obj> for Obj {
    fn upcast_to(node: Ref<Obj>) -> Ref<Obj> {
        node
    }
}

/// A value accepted by constructors for a field of type `F`.
///
/// For an object field: a `Ref` to the field's type or to an extending type, owned or
/// borrowed. For an array: an [`Array`], owned or borrowed, and a Rust array or vector of its
/// elements; [`nodes!`](crate::nodes) makes one of nodes of several types, or of borrowed ones.
/// For any other field: any type with an [`Into`] conversion.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a field of type `{F}`",
    note = "an object field accepts a `Ref` to its own type or to one that extends it, also in \
            `nodes![a, &b]` for an array of nodes; other fields accept what converts to them with \
            `Into`",
    note = "`.extract::<{F}>()?` takes it out of a `Value`"
)]
pub trait IntoField<F> {
    /// Converts the value.
    fn into_field(self) -> F;
}

impl<T: IsA<U>, U: Node> IntoField<Ref<U>> for Ref<T> {
    #[inline]
    fn into_field(self) -> Ref<U> {
        T::upcast_to(self)
    }
}

impl<T: IsA<U>, U: Node> IntoField<Ref<U>> for &Ref<T> {
    #[inline]
    fn into_field(self) -> Ref<U> {
        T::upcast_to(self.clone())
    }
}

impl<T: IsA<U>, U: Node> IntoField<Option<Ref<U>>> for Ref<T> {
    #[inline]
    fn into_field(self) -> Option<Ref<U>> {
        Some(T::upcast_to(self))
    }
}

impl<T: IsA<U>, U: Node> IntoField<Option<Ref<U>>> for &Ref<T> {
    #[inline]
    fn into_field(self) -> Option<Ref<U>> {
        Some(T::upcast_to(self.clone()))
    }
}

// Not for every `Option<Ref<T>>`: a bare `None` would leave `T` undetermined.
impl<U: Node> IntoField<Option<Ref<U>>> for Option<Ref<U>> {
    #[inline]
    fn into_field(self) -> Option<Ref<U>> {
        self
    }
}

macro_rules! into_fields {
    ($([$($param:ident),*] $ty:ty;)*) => {$(
        impl<Given: Into<$ty>, $($param: ElementType),*> IntoField<$ty> for Given {
            #[inline]
            fn into_field(self) -> $ty {
                self.into()
            }
        }
    )*};
}

into_fields! {
    [] Value;
    [] i64;
    [] f64;
    [] bool;
    [] Str;
    [] DType;
    [] Bytes;
    [] Shape;
    [] Tensor;
    [] Function;
    [] Option<Bytes>;
    [] Option<Shape>;
    [] Option<Tensor>;
    [] Option<Function>;
}

macro_rules! into_containers {
    ($([$($param:ident),+] $ty:ty, $untyped:ty, $payload:ty, $schema:ident;)*) => {
        into_fields! { $([$($param),+] Option<$ty>;)* }
    };
}

containers!(into_containers);
into_fields! {
    [T] List<T>;
    [K, V] Map<K, V>;
    [K, V] Dict<K, V>;
}

// Not `Given: Into<Array<T>>`: the message about other arrays would be about `From`.
impl<T: ElementType> IntoField<Array<T>> for Array<T> {
    #[inline]
    fn into_field(self) -> Array<T> {
        self
    }
}

impl<T: ElementType> IntoField<Array<T>> for &Array<T> {
    #[inline]
    fn into_field(self) -> Array<T> {
        self.clone()
    }
}

impl<T: ElementType> IntoField<Array<T>> for Vec<T> {
    #[inline]
    fn into_field(self) -> Array<T> {
        self.into()
    }
}

// Not for elements that convert: an empty `[]` would leave their type undetermined.
impl<T: ElementType, const N: usize> IntoField<Array<T>> for [T; N] {
    #[inline]
    fn into_field(self) -> Array<T> {
        self.into()
    }
}
