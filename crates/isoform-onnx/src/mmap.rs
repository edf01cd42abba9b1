//! The one place that maps files into memory.

use std::{fs::File, io};

use bytes::Bytes;
use memmap2::Mmap;

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
