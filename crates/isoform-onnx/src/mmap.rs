//! The only module that maps memory.
//!
//! Zeros without memory replace optional external data, and the model remembers the
//! tensors with replaced data.

use std::{fs::File, io};

use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

/// Maps a whole file for reading.
///
/// Callers must have warned the user that the file must be neither truncated nor
/// changed while mapped; see [`LoadOptions`](crate::LoadOptions).
#[allow(unsafe_code)]
pub(crate) fn map_file(file: &File) -> io::Result<Bytes> {
    // Some systems refuse to map nothing.
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: The mapping is private to this process and read-only, and lives as long
    // as the `Bytes` that owns it. The compiler cannot check that nobody changes or
    // truncates the file meanwhile. The documented contract of `LoadOptions::mmap`
    // demands this, and users can switch mapping off for files outside of their
    // control.
    let mapping = unsafe { Mmap::map(file)? };
    Ok(Bytes::from_owner(mapping))
}

/// Zeros that take up addresses but no memory before being read. Their number may
/// therefore come from an untrusted file.
pub(crate) fn zeros(count: usize) -> io::Result<Bytes> {
    if count == 0 {
        return Ok(Bytes::new());
    }
    let mapping = MmapOptions::new().len(count).no_reserve_swap().map_anon()?;
    Ok(Bytes::from_owner(mapping.make_read_only()?))
}
