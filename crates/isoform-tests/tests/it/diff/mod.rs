//! Differences: laws, reported changes, and costs.

mod changes;
mod costs;
mod judged;
mod merge_costs;
mod merges;
mod patches;
