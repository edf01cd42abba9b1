//! Patterns: templates with holes, found in values and replaced by rule.
//!
//! A [`Pattern`] is a value of the user's IR, the *template*, in which some
//! variables are [holes](Hole). It [matches](Pattern::match_value) what is
//! structurally equal to it once every hole stands for some part:
//!
//! * A hole stands for any object that agrees with it in the fields which the
//!   nearest class common to both declares: a hole of type `int32` for
//!   expressions of type `int32` only. A [class](Hole::class) or a
//!   [guard](Hole::guard) may ask for more.
//! * A hole that occurs again stands for an equal part each time, with the same
//!   variables in it.
//! * What the template binds maps to what the value binds there; so do its free
//!   variables, one to one, or each to itself only where
//!   [`map_free_vars`](Pattern::map_free_vars) says no.
//! * What stands for a hole may mention variables that are bound around it in
//!   the value: those are the partners of variables that the template binds
//!   around the hole.
//!
//! Matching is the comparison of [`structural_equal`](crate::structural_equal)
//! with the holes known to it, so without holes both give the same answer.
//!
//! A [`Rule`] puts a replacement in the place of what a pattern matches, and
//! [`rewrite`] applies rules until none applies.

mod instantiate;
mod matching;
mod normalize;
mod rule;
mod scan;

pub use crate::structural::{Guard, Hole};
pub use matching::{Found, Match, Pattern, Place};
pub use normalize::{RewriteOptions, Rewritten, rewrite};
pub use rule::{Rule, RuleGuard};
