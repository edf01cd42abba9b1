//! The one place that maps memory.
//!
//! External data that may be missing is replaced by zeros that take no memory, and the
//! model remembers which tensors these are.

use std::{fs::File, io};

use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

/// Maps a whole file for reading.
///
/// Callers must have warned the user that the file must be neither truncated nor changed
/// while it is mapped; see [`LoadOptions`](crate::LoadOptions).
#[allow(unsafe_code)]
pub(crate) fn map_file(file: &File) -> io::Result<Bytes> {
    // Some systems refuse to map nothing.
    if file.metadata()?.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: The mapping is private to this process and read-only, and it lives as long
    // as the `Bytes` that owns it. What the compiler cannot check is that nobody changes
    // or truncates the file meanwhile; that is the documented contract of
    // `LoadOptions::mmap`, which users can switch off for files they do not control.
    let mapping = unsafe { Mmap::map(file)? };
    Ok(Bytes::from_owner(mapping))
}

/// Zeros that take up addresses but no memory until they are read, so that their number may
/// come from an untrusted file.
pub(crate) fn zeros(count: usize) -> io::Result<Bytes> {
    if count == 0 {
        return Ok(Bytes::new());
    }
    let mapping = MmapOptions::new().len(count).no_reserve_swap().map_anon()?;
    Ok(Bytes::from_owner(mapping.make_read_only()?))
}
