//! The values of a trait's attribute on Rust types: functions for other languages, with
//! the Rust code to view a node as the trait.
//!
//! A map of functions is recognised by its identity, since a copy of the map may contain
//! other functions.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};

use super::contract::{Implementation, NodeTrait};
use crate::kernel::container::{Map, OpaqueObj};
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::value::{Value, ValueRef};

type Cast<Tr> = for<'a> fn(&'a Ref<Obj>) -> Option<&'a <Tr as NodeTrait>::Object<'a>>;

/// The data in the value of a Rust type.
struct Native<Tr: NodeTrait + ?Sized> {
    cast: Cast<Tr>,
    /// The Rust type.
    node: TypeId,
    /// The identity of the map holding the functions, if there are several: in a map
    /// with further functions, none represents all of them.
    map: OnceLock<u64>,
}

fn cast<Tr, T>(object: &Ref<Obj>) -> Option<&Tr::Object<'_>>
where
    Tr: Implementation<T> + ?Sized,
    T: Node,
{
    object.downcast_ref::<T>().map(|node| Tr::view(node))
}

/// Returns the attribute's value for a Rust type implementing the trait.
pub(super) fn value<Tr, T>() -> Value
where
    Tr: Implementation<T> + ?Sized,
    T: Node,
{
    let native = Arc::new(Native::<Tr> {
        cast: cast::<Tr, T>,
        node: TypeId::of::<T>(),
        map: OnceLock::new(),
    });
    if Tr::METHODS.is_empty() {
        return if Tr::RUST_ONLY {
            Value::opaque(native)
        } else {
            Value::from(true)
        };
    }
    let mut functions = Tr::METHODS.iter().zip(Tr::CALLS).map(|(method, call)| {
        let names: Vec<_> = ["self"].iter().chain(method.arguments).copied().collect();
        let name = format!("{}.{}", T::TYPE_KEY, method.name);
        let function = Function::exported(call.body, &name, method.doc, (call.signature)())
            .with_parameters(&names)
            .made_of(Arc::clone(&native));
        (Value::from(method.name), Value::from(function))
    });
    if Tr::METHODS.len() == 1 {
        return functions
            .next()
            .map_or(Value::NONE, |(_, function)| function);
    }
    let map = Value::from(functions.collect::<Map>());
    if let Some(object) = map.as_object() {
        // The cell is new, so this call sets the cell.
        let _ = native.map.set(object.identity());
    }
    map
}

#[inline]
fn find<Tr: NodeTrait + ?Sized>(value: &Value) -> Option<&Native<Tr>> {
    match value.view() {
        ValueRef::Function(function) if Tr::METHODS.len() == 1 => function.content(),
        ValueRef::Object(object) if Tr::RUST_ONLY => {
            let content = object
                .downcast_ref::<OpaqueObj>()?
                .content::<Arc<Native<Tr>>>();
            content.map(|native| &**native)
        }
        _ if Tr::METHODS.len() > 1 => {
            let (_, first) = value.as_map()?.iter().next()?;
            let native = first.peek::<Function>()?.content::<Native<Tr>>()?;
            let identity = value.as_object()?.identity();
            (native.map.get() == Some(&identity)).then_some(native)
        }
        _ => None,
    }
}

/// The node seen through the trait, if the value belongs to a Rust type and the node is
/// of this type.
#[inline]
pub(super) fn view<'a, Tr: NodeTrait + ?Sized>(
    value: &Value,
    object: &'a Ref<Obj>,
) -> Option<&'a Tr::Object<'a>> {
    (find::<Tr>(value)?.cast)(object)
}

/// True if the value belongs to a Rust type.
pub(super) fn is_native<Tr: NodeTrait + ?Sized>(value: &Value) -> bool {
    find::<Tr>(value).is_some()
}

/// True if the value belongs to this Rust type.
pub(super) fn is_same<Tr, T>(value: &Value) -> bool
where
    Tr: Implementation<T> + ?Sized,
    T: Node,
{
    match find::<Tr>(value) {
        Some(native) => native.node == TypeId::of::<T>(),
        None => Tr::METHODS.is_empty() && value.as_bool() == Some(true),
    }
}

/// The check of a trait implemented only in Rust.
pub(super) fn check_native<Tr: NodeTrait + ?Sized>(value: &Value) -> Result<()> {
    if is_native::<Tr>(value) {
        return Ok(());
    }
    Err(Error::type_error(format!(
        "expected an implementation in Rust, got {}",
        value.type_name()
    )))
}
