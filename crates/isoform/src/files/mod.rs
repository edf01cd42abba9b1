//! Files: the JSON graph and the binary form, and what both share, the order of
//! nodes and where what is read lies in memory.
//!
//! Both are spellings of the same thing, a list of nodes in which every node
//! stands behind its parts. [`linearize`] decides which nodes there are; how they
//! are spelt is up to [`json`] and [`binary`].

pub(crate) mod binary;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod linearize;
