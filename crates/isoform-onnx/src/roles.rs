//! The roles of calls and outputs in rewrites by general rules, as attributes of the node
//! types. They depend on the operator of a call.

use isoform::functions::Function;
use isoform::{Map, Ref, Str, Value};

use crate::ir::Call;
use crate::layout::holds_graphs;
use crate::optimize::{commutes, is_pure_operator};

/// Decides whether a call has no effect, apart from its bodies and local function.
pub(crate) fn pure() -> Function {
    Function::typed(|call: Ref<Call>| call.callee.is_some() || is_pure_operator(&call))
}

/// Decides whether equal operands give equal results. A body or a local function may draw
/// random numbers, so a call with either is a computation of its own.
pub(crate) fn repeatable() -> Function {
    Function::typed(|call: Ref<Call>| {
        call.callee.is_none()
            && is_pure_operator(&call)
            && !call.attrs.iter().any(|(_, value)| holds_graphs(value))
    })
}

/// The inputs of a call, if they may be in any order. `Min` and `Max` choose between zeros
/// and between NaNs by the order in some runtimes, so the optimiser, which keeps every bit,
/// leaves them alone.
pub(crate) fn commutative() -> Function {
    Function::typed(|call: Ref<Call>| {
        let chooses = call.inputs.len() == 2 && (call.is("Min") || call.is("Max"));
        if commutes(&call) || chooses {
            Value::from("inputs")
        } else {
            Value::NONE
        }
    })
}

/// The fields of an output that name the call and the position of the result.
pub(crate) fn projection() -> Map<Str, Str> {
    let fields = [("of", "call"), ("index", "index")];
    let fields = fields.map(|(role, field)| (Str::from(role), Str::from(field)));
    fields.into_iter().collect()
}
