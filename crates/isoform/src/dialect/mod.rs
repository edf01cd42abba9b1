//! IRs made of the vocabulary of [`ir`](crate::ir).

pub mod relay;
