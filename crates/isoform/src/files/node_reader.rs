//! Makes nodes from parts that have been read, in every format: checks fields, builds
//! objects in their places, and recalls singletons.
//!
//! The formats decide about the text of a node, the nodes waiting for later nodes, and
//! the place named by an error.

use super::layout::Layout;
use crate::kernel::error::{Error, Result};
use crate::kernel::object::builder::ObjectBuilder;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::object::table::{self, TypeInfo};
use crate::kernel::types::check::SchemaChecker;
use crate::kernel::types::singletons::Recall;
use crate::kernel::types::{Kind, type_hint};
use crate::kernel::value::Value;

/// Why reading ends.
pub(super) enum ReadFailure {
    /// A fault in the current node.
    Fault(Error),
    /// An error of user code, passed on unchanged.
    Hook(Error),
}

impl ReadFailure {
    /// A hook that reads data failed: a `TypeError` or `ValueError` of the core says what is
    /// wrong with the data, and gets the place of the node. An exception of the host stays
    /// what it is.
    #[cold]
    fn of_hook(error: Error) -> Self {
        if error.is_about_data() {
            ReadFailure::Fault(error)
        } else {
            ReadFailure::Hook(error)
        }
    }
}

impl From<Error> for ReadFailure {
    fn from(error: Error) -> Self {
        ReadFailure::Fault(error)
    }
}

/// A declared type of the nodes of a file.
pub(super) struct NodeType {
    builder: ObjectBuilder,
    is_singleton: bool,
}

impl NodeType {
    /// The type with this key.
    ///
    /// # Errors
    ///
    /// `TypeError` for an unknown key, or the key of a built-in type.
    pub(super) fn find(key: &str) -> Result<Self> {
        let info = table::find_in_file(key)
            .filter(|info| !info.is_builtin())
            .ok_or_else(|| Error::type_error(format!("unknown type {key:?}{}", type_hint(key))))?;
        Ok(NodeType {
            builder: ObjectBuilder::new(info)?,
            is_singleton: info.kind() == Kind::Singleton,
        })
    }

    #[inline(always)]
    pub(super) fn info(&self) -> &'static TypeInfo {
        self.builder.info()
    }

    /// The type of a node's block in the layout. Most singletons in a file already
    /// exist and need no block.
    #[inline(always)]
    pub(super) fn block(&self) -> Option<TypeIndex> {
        (!self.is_singleton).then_some(self.info().index())
    }

    /// Forgets the fields set so far.
    pub(super) fn reset(&mut self) {
        self.builder.reset();
    }

    /// The object made by the type's hook from data.
    ///
    /// # Errors
    ///
    /// That of the hook, and a fault if the hook returns an object of another type.
    #[cold]
    pub(super) fn make(&self, data: &Value) -> Result<Value, ReadFailure> {
        let info = self.info();
        let Some(hooks) = info.file_hooks() else {
            return Ok(Value::NONE);
        };
        let object = hooks.from_json.call(data).map_err(ReadFailure::of_hook)?;
        if !table::is_a(object.borrowed().type_index(), info.index()) {
            let got = object.type_info().key();
            return Err(Error::type_error(format!("the hook gave an object of {got}")).into());
        }
        Ok(object.into())
    }
}

/// The state shared by the nodes of one file.
#[derive(Default)]
pub(super) struct NodeReader {
    pub(super) layout: Layout,
    checker: SchemaChecker,
    singletons: Recall,
}

impl NodeReader {
    /// Sets a field of the next object of a type.
    ///
    /// # Errors
    ///
    /// `TypeError` with the name of the field, if the field does not accept the value.
    #[inline(always)]
    pub(super) fn set(&mut self, ty: &mut NodeType, field: usize, value: Value) -> Result<()> {
        match ty.builder.set(field, value, &mut self.checker) {
            Ok(_) => Ok(()),
            Err(error) => Err(in_field(ty.info().fields()[field].name(), &error)),
        }
    }

    /// The object of which all fields have been set, for the node with this number.
    ///
    /// # Errors
    ///
    /// Those of missing fields and of verification.
    #[inline(always)]
    pub(super) fn finish(&mut self, ty: &mut NodeType, number: usize) -> Result<Value> {
        let shell = self.layout.shell(number);
        let object = ty.builder.finish(shell, &mut self.checker)?;
        if ty.is_singleton {
            return Ok(self.singletons.resolve(object).into());
        }
        Ok(object.into())
    }
}

#[cold]
fn in_field(name: &str, error: &Error) -> Error {
    Error::type_error(format!("field '{name}': {}", error.message()))
}

/// An error about a node of a file: `place` follows the message.
#[cold]
pub(super) fn at_node(
    form: &str,
    number: usize,
    ty: Option<&str>,
    error: &Error,
    place: &str,
) -> Error {
    let ty = ty.map_or(String::new(), |ty| format!(" ({ty})"));
    let message = error.message();
    Error::new(
        error.kind(),
        format!("{form}: node {number}{ty}: {message}{place}"),
    )
}
