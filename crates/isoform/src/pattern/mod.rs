//! Patterns: templates with holes, found in values and replaced by rule.
//!
//! A [`Pattern`] is a value of the user's IR, the *template*, in which some variables
//! are [holes](Hole). The pattern [matches](Pattern::match_value) a value that is
//! structurally equal to the template once every hole is filled with a part:
//!
//! * A hole matches any object with equal values in the fields declared by the nearest
//!   common class: a hole of type `int32` matches only expressions of type `int32`. A
//!   [class](Hole::class) or a [guard](Hole::guard) may require more.
//! * A hole that occurs several times matches equal parts, with the same variables
//!   inside.
//! * Variables bound by the template map to variables bound by the value in the same
//!   place. Free variables map one to one, or only to themselves if
//!   [`map_free_vars`](Pattern::map_free_vars) is off.
//! * The part of a hole may use variables that are bound around it in the value: the
//!   partners of variables that the template binds around the hole.
//!
//! Matching is the comparison of [`structural_equal`](crate::structural_equal) with
//! support for holes; without holes both give the same result.
//!
//! [`PatternOptions`] and the forms of [`Hole`] let a pattern match more: operands in
//! any order, any number of items, alternatives, variables in place of their values.
//!
//! A [`Rule`] replaces the matches of a pattern, and [`rewrite`] applies rules until no
//! rule applies, in one pass from the parts to the root. [`rewrite_greedily`] works
//! from a worklist, and knows the users of every object.
//!
//! | file | job |
//! |---|---|
//! | `matching.rs`, `find.rs` | matches, found with the walk |
//! | `instantiate.rs` | fills in templates; rejects parts that leave their scope or are captured |
//! | `normalize.rs` | rewriting bottom-up, with an explicit stack |
//! | `greedy.rs` | rewriting from a worklist over the graph of `traverse/graph.rs` |
//! | `rule_set.rs` | the index of rules and the count of steps, for both |
//! | `options.rs`, `hole.rs` | requests of a template that need more than comparison |
//! | `shell.rs`, `search.rs` | division of such templates, and the search with choices |
//! | `demands.rs`, `field_test.rs` | checks that types declare the roles and fields that a pattern asks for |
//! | `context.rs` | users and definitions, for the search |
//!
//! The comparison is `structural/equal` with a table of holes (`holes.rs`
//! in that folder). Matching uses the variant with the recorder: plain equality never
//! checks for holes, and a failed match has its reason. `normalize.rs` needs no graph,
//! and is faster than `greedy.rs` where one pass is enough.
//!
//! A template without special forms is never matched by the search, and its cost does
//! not depend on the search. The names of bound variables and the sharing of trees have
//! no influence on the match.
//!
//! Absent: matching modulo laws other than commutativity, such as associativity; rules
//! whose match has several roots.

mod context;
mod data;
mod demands;
mod field_test;
mod find;
mod greedy;
mod hole;
mod instantiate;
mod matching;
mod normalize;
mod options;
mod rule;
mod rule_set;
mod scan;
mod search;
mod shell;

pub use crate::structural::Guard;
pub use data::{Hole, InteriorUses, Pattern, PatternOptions};
pub use find::{PatternMatch, Place};
pub use greedy::{GreedyOptions, rewrite_greedily};
pub use matching::Match;
pub use normalize::{RewriteOptions, rewrite};
pub use rule::{Rule, RuleGuard};
pub use rule_set::Rewritten;
