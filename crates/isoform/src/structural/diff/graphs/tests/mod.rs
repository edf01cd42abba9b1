//! Judges alignments: graphs whose true alignment is known from their construction, tiny
//! ones aligned by trying everything, and ones that are hard to align.
//!
//! | file | job |
//! |---|---|
//! | `model.rs` | graphs that can be edited, and the truth about two of them |
//! | `families.rs` | random graphs of several kinds |

mod costs;
mod families;
mod model;
mod recall;
