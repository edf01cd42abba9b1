//! The rules by topic.
//!
//! | file | rules |
//! |---|---|
//! | `likes.rs` | operators that take a shape or type from a tensor |
//! | `arithmetic.rs` | identities of arithmetic, and constants that are brought together |
//! | `quadratic.rs` | sums of squares and products as a product |
//! | `moves.rs` | reshapes, transpositions and layouts |
//! | `casts.rs` | casts and clips |

pub(super) mod arithmetic;
pub(super) mod casts;
pub(super) mod likes;
pub(super) mod moves;
mod quadratic;
