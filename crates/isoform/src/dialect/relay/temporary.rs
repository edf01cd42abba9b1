//! Temporary expressions of running passes.

use isoform_macros::{Node, export};

use crate::attrs::{self, Lookup};
use crate::ir::RelayExpr;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::Ref;

/// The base of expressions that a pass puts into a program temporarily, to remember
/// facts about values. The pass replaces the expressions by others before its end.
///
/// Types that extend `TempExpr` have the attribute `relay.realize`: a function from a
/// node to its replacement.
#[derive(Node, Default)]
#[node(key = "relay.TempExpr", crate = crate)]
#[repr(C)]
pub struct TempExpr {
    #[node(base, default)]
    base: RelayExpr,
}

/// The attribute with the function that replaces a temporary expression.
const REALIZE: &str = "relay.realize";

impl Ref<TempExpr> {
    /// Returns the expression that replaces the temporary expression.
    ///
    /// # Errors
    ///
    /// `TypeError` if its type has no attribute `relay.realize`; the errors of the function.
    pub fn realize(&self) -> Result<Ref<RelayExpr>> {
        let Some(function) = attrs::get(self.type_index(), REALIZE, Lookup::Nearest) else {
            return Err(Error::type_error(format!(
                "{}: expected the attribute '{REALIZE}' for a type that extends relay.TempExpr",
                self.type_info().key()
            )));
        };
        let function: Function = function.extract()?;
        function.call(&[self.into()])?.extract()
    }
}

#[export("relay.ir.TempExpr.realize", crate = crate)]
fn realize(this: &Ref<TempExpr>) -> Result<Ref<RelayExpr>> {
    this.realize()
}

pub(super) fn register() -> Result<()> {
    crate::ir::functions![realize]
}
