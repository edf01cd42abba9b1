//! The derive macro of the isoform crate.
