//! Differences: their laws, what they say, and how much work they take.

mod changes;
mod costs;
mod judged;
mod merge_costs;
mod merges;
mod patches;
mod support;
