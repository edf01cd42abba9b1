//! The relations of the operators: from the types of arguments to the type of the result.
//!
//! Sizes may be unknown ([`Any`](crate::Any)) or symbolic. A relation
//! reports an error only where sizes are known to disagree; a size that it cannot
//! compute is unknown in the result.

pub(super) mod broadcast;
pub(super) mod conv;
pub(super) mod create;
pub(crate) mod dims;
pub(super) mod index;
pub(super) mod join;
pub(super) mod layout;
pub(super) mod matmul;
pub(super) mod nn;
pub(super) mod reduce;
pub(super) mod reshape;
pub(super) mod shape;
pub(super) mod slice;
pub(crate) mod upsampling;
