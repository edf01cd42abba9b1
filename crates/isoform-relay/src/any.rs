//! The size known only at run time.

use isoform::values::DType;
use isoform::{Node, Ref, export};
use isoform_ir::ir::PrimExpr;

/// The size of a dimension known only at run time.
///
/// Two such sizes are equal as expressions, though they may stand for different sizes;
/// type inference unifies the size with every size.
#[derive(Node)]
#[node(key = "relay.Any", init = make_any, no_new)]
#[repr(C)]
pub struct Any {
    #[node(base)]
    base: PrimExpr,
}

impl Any {
    /// An unknown size.
    pub fn new() -> Ref<Any> {
        make_any()
    }
}

/// Makes an unknown size; its data type is int32.
#[export("relay.Any")]
fn make_any() -> Ref<Any> {
    let base = PrimExpr::typed(DType::INT32, None);
    Ref::new(Any { base })
}
