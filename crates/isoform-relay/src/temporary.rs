//! Temporary expressions of running passes.

use isoform::attrs::Lookup;
use isoform::functions::Function;
use isoform::{Error, Node, Ref, Result, attrs, export};
use isoform_ir::ir::RelayExpr;

/// The base of expressions that a pass puts into a program temporarily, to remember
/// facts about values. The pass replaces the expressions by others before its end.
///
/// Types that extend `TempExpr` have the attribute `relay.realize`: a function from a
/// node to its replacement.
#[derive(Node, Default)]
#[node(key = "relay.TempExpr")]
#[repr(C)]
pub struct TempExpr {
    #[node(base, default)]
    base: RelayExpr,
}

/// The attribute with the function that replaces a temporary expression.
const REALIZE: &str = "relay.realize";

impl TempExpr {
    /// Returns the expression that replaces the temporary expression.
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
