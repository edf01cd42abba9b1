//! Patterns: templates with holes, found in values and replaced by rule.
//!
//! A [`Pattern`] is a value of the user's IR, the *template*, in which some
//! variables are [holes](Hole). It [matches](Pattern::match_value) a value that
//! is structurally equal to it once every hole is filled with some part:
//!
//! * A hole matches any object that agrees with it in the fields declared by
//!   their nearest common class: a hole of type `int32` matches only
//!   expressions of type `int32`. A [class](Hole::class) or a
//!   [guard](Hole::guard) may require more.
//! * A hole that occurs several times matches equal parts, with the same
//!   variables in them.
//! * Variables that the template binds map to those that the value binds there;
//!   so do its free variables, one to one, or each to itself only if
//!   [`map_free_vars`](Pattern::map_free_vars) is off.
//! * The part of a hole may use variables that are bound around it in the
//!   value: the partners of variables that the template binds around the hole.
//!
//! Matching is the comparison of [`structural_equal`](crate::structural_equal)
//! with support for holes, so without holes both give the same result.
//!
//! A [`Rule`] replaces the matches of a pattern, and [`rewrite`] applies rules
//! until none applies.

mod instantiate;
mod matching;
mod normalize;
mod rule;
mod scan;

pub use crate::structural::{Guard, Hole};
pub use matching::{Found, Match, Pattern, Place};
pub use normalize::{RewriteOptions, Rewritten, rewrite};
pub use rule::{Rule, RuleGuard};
