//! Isoform.
