//! The rules of the library, as tables: one row says what a rule looks for, when it applies
//! and why it is right.

mod arithmetic;
mod copies;
mod moves;
mod reshape;

use std::sync::LazyLock;

use super::rule::{Row, Rule, RuleGroup};

/// All rules in the order in which they are tried.
pub fn rules() -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let exact = [copies::ROWS, arithmetic::ROWS, moves::ROWS, reshape::ROWS];
        let exact = exact.into_iter().flatten();
        exact
            .filter_map(|row: &Row| row.rule(RuleGroup::Exact).ok())
            .collect()
    });
    &RULES
}
