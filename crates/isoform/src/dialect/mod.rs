//! IRs made of the vocabulary of [`ir`](crate::ir), and others on the same
//! foundation.

#[cfg(feature = "pto")]
pub mod pto;
#[cfg(feature = "relay")]
pub mod relay;
