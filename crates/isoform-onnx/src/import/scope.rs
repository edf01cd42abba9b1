//! The names of a body, and the values they refer to.

use std::collections::{HashMap, hash_map::Entry};

use isoform::{Ref, Value};

use crate::{
    error::{OnnxError, Result},
    ir::{Call, Dim, Output},
};

/// The definition of a name in a body.
pub(super) enum Definition {
    /// An input or a constant.
    Value(Value),
    /// An output of a node of the same body.
    Node { node: usize, output: usize },
}

/// The result of importing a node.
pub(super) enum ImportedNode {
    Call(Ref<Call>),
    Constant(Value),
}

/// The names of one body.
#[derive(Default)]
pub(super) struct Scope<'a> {
    definitions: HashMap<&'a str, Definition>,
    /// The symbolic dimensions that the body's inputs and outputs introduce.
    pub(super) dims: HashMap<&'a str, Ref<Dim>>,
    /// The nodes built so far.
    pub(super) made: Vec<Option<ImportedNode>>,
}

impl<'a> Scope<'a> {
    /// Adds a name, which must be new; `what` describes the named thing in messages.
    pub(super) fn define(
        &mut self,
        what: &str,
        name: &'a str,
        definition: Definition,
    ) -> Result<()> {
        if name.is_empty() {
            return Err(OnnxError::value(format!("{what} has no name")));
        }
        match self.definitions.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(definition);
                Ok(())
            }
            Entry::Occupied(_) => Err(OnnxError::value(format!(
                "{what} '{name}' is defined twice"
            ))),
        }
    }

    /// Returns the definition of a name in this body.
    pub(super) fn get(&self, name: &str) -> Option<&Definition> {
        self.definitions.get(name)
    }

    fn value(&self, name: &str) -> Option<Value> {
        match self.get(name)? {
            Definition::Value(value) => Some(value.clone()),
            &Definition::Node { node, output } => match self.made.get(node)?.as_ref()? {
                ImportedNode::Constant(value) => Some(value.clone()),
                ImportedNode::Call(call) => Some(
                    Ref::new(Output {
                        call: call.clone(),
                        index: i64::try_from(output).ok()?,
                    })
                    .into(),
                ),
            },
        }
    }
}

/// The innermost scope that defines a name, as its position in `scopes`.
pub(super) fn find(scopes: &[Scope<'_>], name: &str) -> Option<usize> {
    scopes.iter().rposition(|scope| scope.get(name).is_some())
}

/// The value of a name.
pub(super) fn value(scopes: &[Scope<'_>], name: &str) -> Result<Value> {
    find(scopes, name)
        .and_then(|level| scopes[level].value(name))
        .ok_or_else(|| undefined(name))
}

pub(super) fn undefined(name: &str) -> OnnxError {
    OnnxError::key(format!("nothing defines the value '{name}'"))
}
