//! Diagnostics.
use crate::error::Result;
pub(super) fn register() -> Result<()> {
    Ok(())
}
