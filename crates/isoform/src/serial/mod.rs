//! What the file formats share: the order of nodes, the check of fields on
//! reading, where what is read lies in memory, and the table of singletons.
//!
//! The JSON graph and the binary form are two spellings of the same thing, a
//! list of nodes in which every node stands behind its parts. This module
//! decides which nodes there are and how they become objects again; how they
//! are spelt is up to [`json`](crate::json) and [`binary`](crate::binary).

pub(crate) mod fit;
pub(crate) mod layout;
pub(crate) mod linearize;
pub(crate) mod singletons;
