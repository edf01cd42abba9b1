//! Rewriting to a normal form: rules applied bottom-up until no rule applies.

use hashbrown::HashMap;
use rapidhash::fast::RandomState;

use super::rule::{Replaced, Rule};
use super::rule_set::{Rewritten, RuleSet, Tally};
use super::scan::{self, Idents};
use crate::kernel::error::{Error, Result};
use crate::kernel::object::access::{self, Section};
use crate::kernel::object::arena::Arena;
use crate::kernel::object::build;
use crate::kernel::object::view::PartRef;
use crate::kernel::types::RegionKind;
use crate::kernel::value::Value;
use crate::structural::variable;
use crate::traverse::cursor::{Cursor, Part, View, cyclic};
use crate::traverse::rewrite::{Outcome, Policy, Progress, Rewriter};
use crate::traverse::substitute;

/// Options of a rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct RewriteOptions {
    /// The maximum number of rule applications in all.
    pub max_steps: u64,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        RewriteOptions {
            max_steps: 1_000_000,
        }
    }
}

impl RewriteOptions {
    /// Sets the maximum number of rule applications in all.
    #[must_use]
    pub fn max_steps(mut self, max_steps: u64) -> Self {
        self.max_steps = max_steps;
        self
    }
}

/// Applies rules to a value and all objects below until no rule applies.
///
/// The parts of an object come before the object itself, and a replacement is rewritten
/// in turn. Of several applicable rules, the rule with the highest
/// [benefit](Rule::with_benefit) is used, and among equals the first. Objects without
/// any replacement inside stay the same objects in the result, the root included, and
/// sharing is kept: a shared object is rewritten once.
///
/// * **Scope of the rewrite.** All values except keys of maps and the variables bound
///   by definition fields. A variable that is bound in the value becomes a new
///   variable, at every occurrence, if a part of its own fields is replaced. A free
///   variable keeps its identity, and therefore its fields.
/// * **No capture.** If a binder of the value binds a variable introduced by the
///   template of a replacement, the binder gets a new variable.
///
/// Linear in the number of distinct objects, before and after, and in the number of
/// attempts: an object is compared with the rules whose template has the object's type.
/// Depth is limited by memory only.
///
/// # Errors
///
/// `ValueError` if rules were applied more than `max_steps` times, naming the rules,
/// for a cyclic value, and for a rule that needs to know users
/// ([`rewrite_greedily`](super::rewrite_greedily()) knows them); as [`Rule::apply`].
/// `TypeError` with the path if a replacement does not fit its field.
pub fn rewrite(root: impl Into<Value>, rules: &[Rule]) -> Result<Rewritten> {
    RewriteOptions::default().rewrite(root, rules)
}

impl RewriteOptions {
    /// [`rewrite`] with these options.
    ///
    /// # Errors
    ///
    /// As [`rewrite`].
    pub fn rewrite(self, root: impl Into<Value>, rules: &[Rule]) -> Result<Rewritten> {
        self.rewritten(&root.into(), rules)
    }

    fn rewritten(self, root: &Value, rules: &[Rule]) -> Result<Rewritten> {
        for (number, rule) in rules.iter().enumerate() {
            if rule.has_results() || rule.pattern().asks_for_uses() {
                return Err(Error::value_error(format!(
                    "rewrite: rule {number} asks for users or definitions, which rewrite does \
                     not know; use rewrite_greedily"
                )));
            }
        }
        let mut tally = Tally::new(rules.len(), self.max_steps);
        let value = without_capture(root, rules, |value, rules| {
            let defined = scan::definitions(value)?;
            normalize(value, rules, &mut tally, defined)
        })?;
        Ok(tally.rewritten(value))
    }
}

/// Runs passes that apply rules to a value. No binder of the value captures a variable
/// introduced by a replacement.
pub(super) fn without_capture(
    root: &Value,
    rules: &[Rule],
    mut pass: impl FnMut(&Value, &[Rule]) -> Result<Value>,
) -> Result<Value> {
    // Until the end, stand-ins replace the variables of replacements that a binder
    // around them would capture.
    let mut stand_ins: HashMap<u64, (Value, Value), RandomState> = HashMap::default();
    let own: Vec<(u64, Value)> = rules.iter().flat_map(Rule::own_variables).collect();
    if !own.is_empty() {
        let defined = scan::definitions(root)?;
        for (ident, var) in own {
            if let Some(object) = var.as_object()
                && defined.contains(&ident)
            {
                let stand_in = Value::from(build::shallow_copy(object));
                stand_ins.insert(ident, (var, stand_in));
            }
        }
    }
    if stand_ins.is_empty() {
        return pass(root, rules);
    }
    let pairs: Vec<(Value, Value)> = stand_ins.into_values().collect();
    let renamed = rules
        .iter()
        .map(|rule| rule.renamed(&pairs))
        .collect::<Result<Vec<Rule>>>()?;
    let back: Vec<(Value, Value)> = pairs.into_iter().map(|(var, new)| (new, var)).collect();
    let mut value = root.clone();
    loop {
        let next = substitute(&pass(&value, &renamed)?, &back)?;
        // With the original variables restored, more rules may apply.
        if next == value {
            return Ok(value);
        }
        value = next;
    }
}

/// The state of an open object.
struct OpenObject<'a> {
    /// The value in the original.
    was: PartRef<'a>,
    /// The first object at this place.
    origin: (u64, bool),
    own: (u64, bool),
}

/// The result of entering a value.
enum EntryResult<'a> {
    /// The result of the value is known.
    Done(Value),
    /// The value has no parts to rewrite; rules may apply to the value.
    Leaf(PartRef<'a>),
    /// It is open.
    Open,
}

struct Normalizer<'a, 'r> {
    rules: RuleSet<'r>,
    tally: &'r mut Tally,
    /// The variables that are bound in the value.
    defined: Idents,
    rewriter: Rewriter<'a, OpenObject<'a>>,
    /// The result of an object, by the object and the applicability of rules at its
    /// place; None while the object is being rewritten.
    results: HashMap<(u64, bool), Option<Value>, RandomState>,
    /// Bound variables whose fields were rewritten.
    variables: HashMap<u64, Value, RandomState>,
}

/// One pass over a value.
fn normalize(root: &Value, rules: &[Rule], tally: &mut Tally, defined: Idents) -> Result<Value> {
    let parts = Arena::default();
    let mut normalizer = Normalizer {
        rules: RuleSet::new(rules),
        tally,
        defined,
        rewriter: Rewriter::new(&parts),
        results: HashMap::default(),
        variables: HashMap::default(),
    };
    access::traversing(|section| {
        let part = Part::alone(root, RegionKind::Use);
        Ok(normalizer.run(section, part)?.into_value(part.met))
    })
}

impl<'a> Policy<'a> for Normalizer<'a, '_> {
    type Extra = OpenObject<'a>;

    fn rewriter(&mut self) -> &mut Rewriter<'a, OpenObject<'a>> {
        &mut self.rewriter
    }

    fn meet(&mut self, section: &mut Section, part: Part<'a>) -> Result<Progress> {
        let result = self.meet_as(section, part, part.met, None)?;
        Ok(self.rewriter.settle(result))
    }

    fn close(&mut self, section: &mut Section) -> Result<Progress> {
        let Some((cursor, open, outcome)) = self.rewriter.build(section, true)? else {
            return Ok(Progress::Same);
        };
        let source = PartRef::Object(cursor.object());
        let value = outcome.into_value(source);
        self.results.remove(&open.own);
        if let Some(ident) = source.variable() {
            self.variables.insert(ident, value.clone());
            if let Some(new) = variable(&value) {
                self.defined.insert(new);
                self.variables.insert(new, value.clone());
            }
        }
        let (_, used) = open.own;
        if let Some(next) = self.apply(section, &value, used)? {
            let part = Part {
                met: PartRef::of(self.rewriter.parts.keep_value(&next)),
                region: cursor.region,
                is_key: cursor.is_key,
            };
            let result = self.meet_as(section, part, open.was, Some(open.origin))?;
            return Ok(self.rewriter.settle(result));
        }
        self.finish(Some(open.origin), &value, used);
        Ok(self.rewriter.settle(Some(Outcome::of(value, open.was))))
    }
}

impl<'a> Normalizer<'a, '_> {
    /// Rewrites `part`, the current replacement of `was`; `origin` is the key of the
    /// first object at this place. None if the part was opened.
    fn meet_as(
        &mut self,
        section: &mut Section,
        mut part: Part<'a>,
        was: PartRef<'a>,
        mut origin: Option<(u64, bool)>,
    ) -> Result<Option<Outcome>> {
        loop {
            let is_use = part.region == RegionKind::Use || part.met.variable().is_none();
            let used = is_use && !part.is_key;
            let ident = part.met.object().map(|object| (object.ident(), used));
            origin = origin.or(ident);
            part.met = match self.enter(section, part, was, used, origin)? {
                EntryResult::Open => return Ok(None),
                EntryResult::Done(result) => {
                    self.remember(origin, &result);
                    return Ok(Some(Outcome::of(result, was)));
                }
                EntryResult::Leaf(leaf) => leaf,
            };
            let value = part.met.to_value();
            match self.apply(section, &value, used)? {
                Some(next) => part.met = PartRef::of(self.rewriter.parts.keep_value(&next)),
                None => {
                    self.finish(origin, &value, used);
                    return Ok(Some(Outcome::of(value, was)));
                }
            }
        }
    }

    /// Looks a value up, or opens a value with parts.
    fn enter(
        &mut self,
        section: &Section,
        part: Part<'a>,
        was: PartRef<'a>,
        used: bool,
        origin: Option<(u64, bool)>,
    ) -> Result<EntryResult<'a>> {
        let PartRef::Object(object) = part.met else {
            return Ok(EntryResult::Leaf(part.met));
        };
        let own = (object.ident(), used);
        match self.results.get(&own) {
            Some(Some(result)) => return Ok(EntryResult::Done(result.clone())),
            Some(None) => return Err(cyclic(object).at(self.rewriter.path())),
            None => {}
        }
        if let Some(ident) = part.met.variable() {
            if part.region != RegionKind::Use {
                self.defined.insert(ident);
            }
            if !self.defined.contains(&ident) {
                return Ok(EntryResult::Leaf(part.met));
            }
            if let Some(variable) = self.variables.get(&ident) {
                return Ok(EntryResult::Leaf(PartRef::of(
                    self.rewriter.parts.keep_value(variable),
                )));
            }
        }
        let cursor = Cursor::open(section, object, part, View::Compared);
        let Some(cursor) = cursor.filter(|cursor| cursor.len() > 0) else {
            return Ok(EntryResult::Leaf(part.met));
        };
        self.results.insert(own, None);
        let origin = origin.unwrap_or(own);
        self.rewriter.push(cursor, OpenObject { was, origin, own });
        Ok(EntryResult::Open)
    }

    fn remember(&mut self, origin: Option<(u64, bool)>, result: &Value) {
        if let Some(origin) = origin {
            self.results.insert(origin, Some(result.clone()));
        }
    }

    /// Records that no rule applies to a value or its parts.
    fn finish(&mut self, origin: Option<(u64, bool)>, value: &Value, used: bool) {
        let own = value.as_object().map(|object| (object.identity(), used));
        self.remember(own, value);
        self.remember(origin, value);
    }

    /// Applies the first matching rule to a value.
    fn apply(&mut self, section: &mut Section, value: &Value, used: bool) -> Result<Option<Value>> {
        if !used || !self.rules.may_match(value) {
            return Ok(None);
        }
        let (rules, tally) = (&mut self.rules, &mut *self.tally);
        let next = access::outside(section, || rules.try_all(value, tally, None));
        match next.map_err(|error| {
            if tally.is_exhausted() {
                error.at(self.rewriter.path())
            } else {
                error
            }
        })? {
            Some((_, Replaced::Value(next))) => Ok(Some(next)),
            _ => Ok(None),
        }
    }
}
