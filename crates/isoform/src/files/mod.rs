//! Files: the JSON graph and the binary form, with the order of nodes and the layout
//! in memory that both share.
//!
//! Both are encodings of the same list of nodes, in which every node follows its parts:
//! `linearize.rs` determines the nodes, `json` and `binary` only encode them.

pub(crate) mod binary;
pub(crate) mod json;
pub(crate) mod layout;
pub(crate) mod linearize;
mod node_reader;
mod patch;
mod record;

pub use binary::{BinaryReadOptions, from_bytes, to_bytes};
pub use json::{JsonOptions, JsonReadOptions, from_json_graph, to_json_graph};
pub use record::{ChangeRecord, DifferenceRecord};
