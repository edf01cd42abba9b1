//! Ready-made instruments.
//!
//! | to | use |
//! |---|---|
//! | measure passes | [`timing`] |
//! | print programs around passes | [`Printing`] |
//! | write the program after each pass to a file | [`DumpIr`] |
//! | check the program after each pass | [`Verifying`] |
//! | list the functions that each pass changes | [`Changes`] |

mod changes;
mod diff;
mod dump;
mod printing;
pub mod timing;
mod verifying;

pub use changes::{ChangedFunctions, Changes};
pub use diff::{changes_text, text_diff};
pub use dump::DumpIr;
pub use printing::{PassFilter, Printing};
pub use verifying::Verifying;

use isoform::Result;

pub(super) fn register() -> Result<()> {
    timing::register()?;
    printing::register()?;
    dump::register()?;
    verifying::register()?;
    changes::register()
}
