//! Methods: functions of objects of a type, found by name.
//!
//! Methods are stored as attributes in a separate table: lookups take no lock, and the
//! same name can be a method of one type without a meaning for another.

use std::sync::{LazyLock, OnceLock};

use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::function::Function;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::reference::{Obj, Ref};
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::attr_table::AttrTable;
use crate::kernel::value::Value;

static METHODS: LazyLock<AttrTable> = LazyLock::new(|| {
    AttrTable::new(|index| format!("type {}", table::info(TypeIndex(index)).key()))
});

type Hook = fn(&'static TypeInfo, &str, &Function);

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Sets, once, a function called for every registered method; for the binding of a host
/// language, whose classes also have methods.
pub fn set_method_hook(hook: Hook) {
    // A second call has no effect: there is one binding per process.
    let _ = HOOK.set(hook);
}

/// Registers a method of a type and its extending types. The method's first argument is
/// the object.
///
/// The function is named after the type and the method, unless named already. In
/// Python, the function becomes a method of the class.
///
/// # Errors
///
/// `ValueError` for an empty name, the name of a field, or a method that is already
/// registered unless `replace`. The very same function may be registered again.
///
/// ```
/// use isoform::{Node, Ref};
/// use isoform::functions::{Function, call_method, register_method};
///
/// #[derive(Node)]
/// #[node(key = "doc.Square")]
/// #[repr(C)]
/// struct Square {
///     side: i64,
/// }
///
/// let area = Function::typed(|this: Ref<Square>, scale: i64| this.side * this.side * scale);
/// register_method(Square::type_index(), "area", area, false)?;
/// let square = Square::new(3);
/// assert_eq!(call_method(&square, "area", &[2.into()])?, 18.into());
/// # Ok::<(), isoform::Error>(())
/// ```
pub fn register_method(ty: TypeIndex, name: &str, function: Function, replace: bool) -> Result<()> {
    let info = table::info(ty);
    let fail = |what: String| Err(Error::value_error(format!("type {}: {what}", info.key())));
    if name.is_empty() {
        return fail("a method needs a name".to_owned());
    }
    if info.field_index(name).is_some() {
        return fail(format!("method '{name}' has the name of a field"));
    }
    let existing = METHODS.find(name).and_then(|methods| methods.get(ty.get()));
    if let Some(existing) = existing.and_then(as_function).filter(|_| !replace) {
        if existing.same_body(&function) {
            return Ok(());
        }
        return fail(format!("method '{name}' is already registered"));
    }
    let named = match function.name() {
        Some(_) => function,
        None => function.named(&format!("{}.{name}", info.key())),
    };
    if let Err(error) = METHODS.set(ty.get(), name, named.clone().into(), replace, || {}) {
        // Another thread may have registered the method since the check.
        let existing = METHODS
            .find(name)
            .and_then(|methods| methods.get(ty.get()))
            .and_then(as_function);
        return if existing.is_some_and(|existing| existing.same_body(&named)) {
            Ok(())
        } else {
            Err(error)
        };
    }
    if let Some(hook) = HOOK.get() {
        hook(info, name, &named);
    }
    Ok(())
}

fn as_function(value: &Value) -> Option<&Function> {
    value.peek()
}

impl TypeInfo {
    /// The method with a name for objects of this type: the type's own method or the
    /// method of the nearest ancestor. The first argument of the function is the
    /// object. O(depth of the type), no lock.
    pub fn method(&self, name: &str) -> Option<Function> {
        let methods = METHODS.find(name)?;
        let found = self.lineage().find_map(|ty| methods.get(ty.get()))?;
        as_function(found).cloned()
    }

    /// The methods registered for exactly this type, by name. O(number of method
    /// names).
    pub fn methods(&self) -> Vec<(&'static str, Function)> {
        let own = METHODS.all().into_iter();
        own.filter_map(|methods| {
            let function = as_function(methods.get(self.index().get())?)?;
            Some((methods.name(), function.clone()))
        })
        .collect()
    }
}

/// Calls a method of an object by the method's name.
///
/// # Errors
///
/// `AttributeError` for a method unknown to the type, `TypeError` for a value that is
/// not an object; errors from the method.
#[track_caller]
pub fn call_method(object: impl Into<Value>, name: &str, arguments: &[Value]) -> Result<Value> {
    let object = object.into();
    let Some(info) = object.as_object().map(Ref::<Obj>::type_info) else {
        return Err(Error::type_error(format!(
            "expected an object with a method '{name}', got {}",
            object.type_name()
        )));
    };
    let Some(method) = info.method(name) else {
        return Err(Error::new(
            ErrorKind::Attribute,
            format!("{} has no method '{name}'", info.key()),
        ));
    };
    let mut all = Vec::with_capacity(arguments.len() + 1);
    all.push(object);
    all.extend_from_slice(arguments);
    method.call(&all)
}
