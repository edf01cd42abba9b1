//! A rule as data, and the application of a rule to a match.

use super::rule_match::{Expr, Holes, RuleMatch, is_integer};
use crate::{AsExpr, AttrsWildcard, Call, Wildcard};
use isoform::pattern::InteriorUses;
use isoform::types::IsA;
use isoform::{Ref, Result, Value, structural_equal};
use isoform_ir::ir::{Op, RelayExpr};

/// The values for which a rule keeps every bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exact {
    Always,
    /// Integers, which wrap around; floats are rounded differently.
    Integers,
    Never,
}

/// One rule.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) exact: Exact,
    /// The argument for the rule's correctness.
    pub(super) reason: &'static str,
    /// The expressions to replace.
    pub(super) templates: fn(&Holes) -> Result<Vec<Ref<Call>>>,
    /// The users that nodes below the root of a template may have: by default only the
    /// match, because otherwise their work would be done twice.
    pub(super) inner: InteriorUses,
    pub(super) guard: fn(&RuleMatch<'_>) -> Result<bool>,
    /// The part without a use in the replacement; the part must have no effect.
    pub(super) drops: Option<Dropped>,
    pub(super) replacement: fn(&RuleMatch<'_>) -> Result<Option<Expr>>,
}

/// A part without a use in a replacement.
pub(super) type Dropped = fn(&Holes) -> &Ref<Wildcard>;

impl Row {
    /// The replacement for a match; None if the rule does not apply.
    pub(super) fn apply(&self, rule_match: &RuleMatch<'_>, exact: bool) -> Result<Option<Value>> {
        let Some(ty) = rule_match.ty()? else {
            return Ok(None);
        };
        if exact && self.exact == Exact::Integers && !is_integer(ty.dtype)
            || !(self.guard)(rule_match)?
        {
            return Ok(None);
        }
        if let Some(dropped) = self.drops
            && !rule_match
                .purity
                .may_drop(rule_match.part(dropped(rule_match.holes))?)?
        {
            return Ok(None);
        }
        let Some(next) = (self.replacement)(rule_match)? else {
            return Ok(None);
        };
        // The users of the expression were typed with the present type of the
        // expression.
        let is_same = match &next.checked_type_ {
            Some(next) => structural_equal(next, ty)?,
            None => false,
        };
        Ok(is_same.then(|| Value::from(next)))
    }
}

/// A template of a call with one argument and any attributes.
pub(super) fn call_with<T: IsA<RelayExpr>>(
    name: &str,
    arg: &Ref<T>,
    attrs: &Ref<AttrsWildcard>,
) -> Result<Ref<Call>> {
    Ok(Call::new(Op::get(name)?, [arg.expr()]).with_attrs(attrs))
}

/// The guard of rules restricted by their templates only.
pub(super) fn always(_: &RuleMatch<'_>) -> Result<bool> {
    Ok(true)
}

/// The result of a rule that keeps a part.
pub(super) fn keep(part: &Expr) -> Result<Option<Expr>> {
    Ok(Some(part.clone()))
}
