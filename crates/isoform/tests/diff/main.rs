//! Differences: their laws, what they say, and how much work they take.

mod changes;
mod costs;
mod judged;
mod patches;
mod support;
