//! Expressions that exist only while a pass runs.

use isoform::attrs::Lookup;
use isoform::functions::Function;
use isoform::{Error, Node, Ref, Result, attrs, export};
use isoform_ir::ir::RelayExpr;

/// The base of expressions that a pass puts into a program while it runs, to remember
/// something about a value, and replaces by others before it ends.
///
/// A type that extends it has the attribute `relay.realize`: a function that returns the
/// expression for a node.
#[derive(Node, Default)]
#[node(key = "relay.TempExpr")]
#[repr(C)]
pub struct TempExpr {
    #[node(base, default)]
    base: RelayExpr,
}

/// The attribute of the function that replaces a temporary expression.
const REALIZE: &str = "relay.realize";

impl TempExpr {
    /// Returns the expression that takes the place of this one.
    ///
    /// # Errors
    ///
    /// `TypeError` if its type has no attribute `relay.realize`; the errors of the function.
    pub fn realize(this: &Ref<Self>) -> Result<Ref<RelayExpr>> {
        let Some(function) = attrs::get(this.type_index(), REALIZE, Lookup::Nearest) else {
            return Err(Error::type_error(format!(
                "{}: expected the attribute '{REALIZE}' for a type that extends relay.TempExpr",
                this.type_info().key()
            )));
        };
        let function: Function = function.extract()?;
        function.call(&[this.into()])?.extract()
    }
}

#[export("relay.ir.TempExpr.realize")]
fn realize(this: &Ref<TempExpr>) -> Result<Ref<RelayExpr>> {
    TempExpr::realize(this)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![realize]
}
