//! Descriptions of places in messages.

use crate::ir::Call;

/// The description of a node.
pub(super) fn call_place(call: &Call) -> String {
    let op = match (call.op_name.as_str(), &call.callee) {
        ("", Some(callee)) => callee.name.as_str(),
        ("", None) => call.op.as_str(),
        (name, _) => name,
    };
    match call.name.as_str() {
        "" => format!("node #{} ({op})", call.position),
        name => format!("node '{name}' ({op})"),
    }
}
