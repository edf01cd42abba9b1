//! The rules of the library, as tables: a row holds the pattern, the condition and the
//! reason of a rule.
//!
//! `docs/onnx.md` lists the rules; the test `rules_page` writes the list and checks it.

mod arithmetic;
mod common;
mod copies;
mod fuse;
mod limits;
mod moves;
mod recurrent;
mod reduce;
mod reshape;
mod shapes;

use std::sync::LazyLock;

use super::rule::{Row, Rule, RuleGroup};

/// All rules in the order of trying.
pub fn rules() -> &'static [Rule] {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let exact = [
            copies::ROWS,
            arithmetic::ROWS,
            limits::ROWS,
            moves::ROWS,
            reshape::ROWS,
            reduce::ROWS,
            recurrent::ROWS,
            shapes::ROWS,
        ]
        .into_iter()
        .flatten()
        .filter_map(|row: &Row| row.rule(RuleGroup::Exact).ok());
        let fuse = fuse::ROWS.iter();
        exact
            .chain(fuse.filter_map(|row| row.rule(RuleGroup::Fuse).ok()))
            .collect()
    });
    &RULES
}
