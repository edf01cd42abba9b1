//! The size that is known only when the program runs.

use isoform::values::DType;
use isoform::{Node, Ref, export};
use isoform_ir::ir::PrimExpr;

/// The size of a dimension that is known only when the program runs.
///
/// Any two are equal as expressions, though they may stand for different sizes; type
/// inference unifies one with every size.
#[derive(Node)]
#[node(key = "relay.Any", init = make_any, no_new)]
#[repr(C)]
pub struct Any {
    #[node(base)]
    base: PrimExpr,
}

impl Any {
    /// A size that is not known.
    pub fn new() -> Ref<Any> {
        make_any()
    }
}

/// Makes a size that is not known; its data type is int32.
#[export("relay.Any")]
fn make_any() -> Ref<Any> {
    let base = PrimExpr::typed(DType::INT32, None);
    Ref::new(Any { base })
}
