//! IRs made of the vocabulary of [`ir`](crate::ir), and others on the same
//! foundation.

pub mod pto;
pub mod relay;
