//! Files: the JSON graph and the binary form, with the order of nodes and the layout
//! in memory that both share.
//!
//! Both are encodings of the same list of nodes, with every node after its parts:
//! `linearize.rs` determines the nodes, `json` and `binary` only encode them.
//!
//! `layout.rs` decides about the places of read values in memory, and `node_reader.rs`
//! makes a node from parts already read. The kernel checks read values against their
//! fields (`kernel/types/check.rs`), finds the singletons referred to by a file
//! (`kernel/types/singletons.rs`), and builds the objects: `kernel/object/builder.rs`
//! checks fields as they arrive, `kernel/object/shell.rs` fills existing blocks.
//!
//! Reading takes time and memory proportional to the file, whatever its contents: no
//! allocation trusts a claimed size, and a container is checked once per schema, however
//! many fields hold the container.

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
