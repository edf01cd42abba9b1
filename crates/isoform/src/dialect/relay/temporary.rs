//! Expressions that exist only while a pass runs.

use isoform_macros::{Node, export};

use crate::attrs::{self, Lookup};
use crate::ir::RelayExpr;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::reference::Ref;

/// The base of expressions that a pass puts into a program while it runs, to remember
/// something about a value, and replaces by others before it ends.
///
/// A type that extends it has the attribute `relay.realize`: a function that returns the
/// expression for a node.
#[derive(Node, Default)]
#[node(key = "relay.TempExpr", crate = crate)]
#[repr(C)]
pub struct TempExpr {
    #[node(base, default)]
    base: RelayExpr,
}

/// The attribute of the function that replaces a temporary expression.
const REALIZE: &str = "relay.realize";

impl Ref<TempExpr> {
    /// Returns the expression that takes the place of this one.
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
