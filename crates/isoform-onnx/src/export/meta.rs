//! The parts of a file kept in the ignored fields of a program.

use isoform::values::Bytes;
use prost::Message;

use crate::error::{OnnxError, Result};

/// Decodes the kept description of a part of a file.
pub(super) fn kept<M: Message + Default>(meta: Option<&Bytes>) -> Result<M> {
    let Some(meta) = meta else {
        return Ok(M::default());
    };
    M::decode(&meta[..]).map_err(|error| {
        OnnxError::value(format!(
            "meta: expected an encoded message of the file format: {error}"
        ))
        .with_source(error)
    })
}
