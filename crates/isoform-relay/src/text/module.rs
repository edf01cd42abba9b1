//! Modules as text.

use hashbrown::HashSet;

use isoform::{Ref, Result, Value};
use isoform_ir::ir::IRModule;
use isoform_ir::transform::Root;

use super::graph::Graph;
use super::pieces::{Piece, Pieces, add_attributes, function, plain_name, text as piece};
use super::writer::{Constants, Writer};
use crate::Function;

/// The attributes, type definitions and functions of a module. Variables and numbers
/// start again in each function; constants are numbered in the module.
pub(super) fn text(module: &Ref<IRModule>) -> Result<String> {
    let mut parts = Vec::new();
    let mut constants = Constants::default();
    let mut add = |value: &Value, pieces: Option<Pieces>| {
        let graph = Graph::of(value, pieces);
        let writer = Writer::new(&graph, &mut constants, &HashSet::new());
        parts.push(writer.text()?.0);
        Ok::<(), isoform::Error>(())
    };
    if let Some(attrs) = module.attrs.as_ref().filter(|attrs| !attrs.dict.is_empty()) {
        let mut pieces = vec![piece("attributes (")];
        add_attributes(&mut pieces, &attrs.clone().upcast(), false);
        pieces.push(piece(")"));
        add(&attrs.into(), Some(pieces))?;
    }
    for var in module.global_type_vars() {
        add(&module.lookup_type(&var)?.into(), None)?;
    }
    for (name, value) in module.functions()? {
        if let Some(func) = value.downcast_ref::<Function>() {
            add(&value.clone().into(), Some(definition(&name, func)))?;
        } else {
            let head = piece(format!("def @{} = ", plain_name(&name)));
            let pieces = vec![head, Piece::Bound(value.into())];
            add(&Value::NONE, Some(pieces))?;
        }
    }
    Ok(parts.join("\n"))
}

/// The pieces of a function with a name.
pub(super) fn definition(name: &str, func: &Function) -> Pieces {
    function(format!("def @{}", plain_name(name)), func)
}
