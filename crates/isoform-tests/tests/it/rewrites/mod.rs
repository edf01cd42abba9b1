//! Tests of uses, of the forms of patterns, and of the greedy driver.

mod driver;
mod forms;
mod reference;
mod roles;
mod scopes;
mod statements;
mod support;
mod uses;
