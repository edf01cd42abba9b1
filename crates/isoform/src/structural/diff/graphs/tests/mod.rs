//! Judges alignments: graphs whose true alignment is known from their construction,
//! tiny graphs aligned by exhaustive search, and graphs that are hard to align.
//!
//! | file | job |
//! |---|---|
//! | `model.rs` | graphs that can be edited, and the truth about two of them |
//! | `families.rs` | random graphs of several kinds |
//! | `recall.rs` | the share of the truth that is found |
//! | `counts.rs` | the number of nodes without a partner after one edit |
//! | `oracle.rs` | tiny graphs, and all alignments of them |
//! | `costs.rs` | the number of steps for graphs that are hard to align |
//! | `reasons.rs` | reasons of pairs, judged on their own |
//! | `cases.rs` | single cases: operators replaced in place, names, hunks |

mod cases;
mod costs;
mod counts;
mod families;
mod model;
mod oracle;
mod reasons;
mod recall;
