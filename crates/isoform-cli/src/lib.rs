//! The `isoform` command as a library.
