//! Conversion of values between Python and the core.
//!
//! | Python | core |
//! |---|---|
//! | None, bool, int, float, str, bytes | the same; ints of any size |
//! | list, tuple | Array; List where a field asks for one |
//! | dict | Map; Dict where a field asks for one |
//! | instances of Object | the object itself |
//! | dtype, Device, Shape | the same |
//! | a callable | Function |
//! | complex, members of declared enums of the standard library | objects of hidden types |
//! | anything else | an opaque value |
//!
//! `typed.rs` converts by the schema of a field, `untyped.rs` without a schema, and
//! `protocol.rs` asks objects of other classes for their value.

mod arrays;
mod failure;
mod foreign;
mod host_object;
mod protocol;
mod python_types;
mod spec;
mod to_python;
mod typed;
mod untyped;
mod value_class;

pub(crate) use arrays::{new_tensor, tensor_from};
pub(crate) use failure::Failure;
pub(crate) use host_object::HostObject;
pub(crate) use python_types::{
    device_class, device_name, device_parts, dtype_class, dtype_name, dtype_parts, dtype_to_python,
    parse_dtype, set_python_types, shape_class,
};
pub(crate) use spec::SchemaHandle;
pub(crate) use to_python::to_python;
pub(crate) use typed::{field, typed};
pub(crate) use untyped::{function, untyped};
pub(crate) use value_class::{
    complex_of, set_value_class, value_object, value_of as value_of_class,
};

/// Types with this or a higher index are declared; those below are built in.
pub(crate) const FIRST_DECLARED: u32 = isoform::host::FIRST_DECLARED_TYPE;
