//! Pictures of programs and of their differences, for pages and for `--format`.
//!
//! | file | job |
//! |---|---|
//! | `parts.rs` | the nodes, inputs and outputs of a model, and who uses whom |
//! | `model.rs`, `blocks.rs` | a whole model; its repeated blocks, and the blocks that names suggest |
//! | `change.rs`, `both.rs` | changes of a model with the nodes around; both sides as one graph |
//! | `value.rs` | an IR value: objects and their fields |
//! | `value_change.rs` | changes of IR values |
//! | `format.rs` | the formats of the command |
//!
//! Absent: layout and drawing, which are the job of `isoform-page`.

mod blocks;
mod both;
mod change;
mod format;
mod model;
mod parts;
mod value;
mod value_change;

pub(crate) use both::is_same_operator;
pub(crate) use change::ChangePictures;
pub use change::model_changes_picture;
pub use format::PictureFormat;
pub use model::model_picture;
pub use value::value_picture;
pub use value_change::value_changes_picture;
