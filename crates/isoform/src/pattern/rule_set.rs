//! The rules of a rewrite, by the values that they may match, and the count of their
//! applications.

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use rapidhash::fast::RandomState;

use super::context::Context;
use super::rule::{Replaced, Rule};
use crate::kernel::error::{Error, ErrorKind, Result};
use crate::kernel::object::access;
use crate::kernel::object::header::TypeIndex;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;

/// The result of a rewrite.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rewritten {
    /// The value to which no rule applies any more.
    pub value: Value,
    /// The number of applications per rule, in the order of the rules.
    pub applied: Vec<u64>,
    /// The number of times a rule was tried on a value, in all.
    pub attempts: u64,
}

/// The applications and attempts of rules.
pub(super) struct Tally {
    applied: Vec<u64>,
    attempts: u64,
    steps: u64,
    max_steps: u64,
}

impl Tally {
    pub(super) fn new(rules: usize, max_steps: u64) -> Tally {
        Tally {
            applied: vec![0; rules],
            attempts: 0,
            steps: 0,
            max_steps,
        }
    }

    pub(super) fn rewritten(self, value: Value) -> Rewritten {
        Rewritten {
            value,
            applied: self.applied,
            attempts: self.attempts,
        }
    }

    /// Counts an application.
    ///
    /// # Errors
    ///
    /// `ValueError` that names the rules after too many applications.
    fn count(&mut self, rule: usize) -> Result<()> {
        self.applied[rule] += 1;
        self.steps += 1;
        if self.is_exhausted() {
            Err(self.exhausted())
        } else {
            Ok(())
        }
    }

    /// Undoes the count of the last application of a rule.
    pub(super) fn uncount(&mut self, rule: usize) {
        self.applied[rule] -= 1;
        self.steps -= 1;
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.steps > self.max_steps
    }

    fn exhausted(&self) -> Error {
        let mut busy: Vec<usize> = (0..self.applied.len()).collect();
        busy.sort_by_key(|&number| std::cmp::Reverse(self.applied[number]));
        let busy: Vec<String> = busy
            .into_iter()
            .filter(|&number| self.applied[number] > 0)
            .take(3)
            .map(|number| format!("rule {number} {} times", self.applied[number]))
            .collect();
        let text = format!(
            "rewrite: rules still apply after max_steps={} steps ({}); do they undo each other?",
            self.max_steps,
            busy.join(", ")
        );
        Error::new(ErrorKind::Value, text)
    }
}

/// The content of a field with a fixed value in many templates of a type, such as the
/// operator of a call.
#[derive(Clone, PartialEq, Eq, Hash)]
enum FieldConstraint {
    Open,
    Is(Value),
}

/// Rules by the types and operators that they may match.
pub(super) struct RuleSet<'r> {
    rules: &'r [Rule],
    /// By benefit.
    order: Vec<usize>,
    /// The field that tells the templates of a type apart, by its position in the order
    /// of visit.
    fields: HashMap<TypeIndex, Option<u32>, RandomState>,
    by_type: HashMap<(Option<TypeIndex>, FieldConstraint), Rc<[usize]>, RandomState>,
    admitted: HashMap<Option<TypeIndex>, bool, RandomState>,
    deep: HashSet<usize, RandomState>,
}

impl<'r> RuleSet<'r> {
    pub(super) fn new(rules: &'r [Rule]) -> RuleSet<'r> {
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by_key(|&number| std::cmp::Reverse(rules[number].benefit()));
        let deep = (0..rules.len()).filter(|&number| rules[number].sees_deep());
        RuleSet {
            rules,
            order,
            fields: HashMap::default(),
            by_type: HashMap::default(),
            admitted: HashMap::default(),
            deep: deep.collect(),
        }
    }

    /// True if any rule matches the type of a value.
    pub(super) fn may_match(&mut self, value: &Value) -> bool {
        let ty = value.as_object().map(|object| object.type_info().index());
        let rules = self.rules;
        let admitted = self.admitted.entry(ty);
        *admitted.or_insert_with(|| rules.iter().any(|rule| rule.pattern().admits(ty)))
    }

    /// True if the match of any rule for a value may depend on all objects below the
    /// value.
    pub(super) fn sees_deep(&mut self, value: &Value) -> bool {
        let candidates = self.candidates(value);
        candidates.iter().any(|number| self.deep.contains(number))
    }

    /// True if a function computes the replacement of a rule.
    pub(super) fn is_computed(&self, rule: usize) -> bool {
        self.rules[rule].is_computed()
    }

    /// The rules that may match a value, highest benefit first.
    fn candidates(&mut self, value: &Value) -> Rc<[usize]> {
        let ty = value.as_object().map(|object| object.type_info().index());
        let rules = self.rules;
        let field = ty.and_then(|ty| {
            let field = self.fields.entry(ty);
            *field.or_insert_with(|| {
                let fields = rules
                    .iter()
                    .filter_map(|rule| fixed_fields(rule, ty).next());
                fields.map(|(position, _)| position).min()
            })
        });
        let key = match field {
            Some(position) => {
                part_at(value, position).map_or(FieldConstraint::Open, FieldConstraint::Is)
            }
            None => FieldConstraint::Open,
        };
        let place = (ty, key);
        if let Some(candidates) = self.by_type.get(&place) {
            return candidates.clone();
        }
        let admits = |number: &usize| {
            let rule = &rules[*number];
            let fixed = ty.and_then(|ty| {
                fixed_fields(rule, ty).find(|(position, _)| Some(*position) == field)
            });
            rule.pattern().admits(ty)
                && fixed.is_none_or(|(_, wanted)| place.1 == FieldConstraint::Is(wanted))
        };
        let candidates: Rc<[usize]> = self.order.iter().copied().filter(admits).collect();
        self.by_type.insert(place, candidates.clone());
        candidates
    }

    /// Tries the rules for a value; returns the replacement by the first rule that
    /// applies.
    ///
    /// # Errors
    ///
    /// As [`Rule::apply`], and an error after too many applications.
    pub(super) fn try_all(
        &mut self,
        value: &Value,
        tally: &mut Tally,
        mut context: Option<&mut dyn Context>,
    ) -> Result<Option<(usize, Replaced)>> {
        for &number in self.candidates(value).iter() {
            let rule = &self.rules[number];
            tally.attempts += 1;
            let pattern_match = match &mut context {
                Some(context) => rule.pattern().match_with(value, *context)?,
                None => rule.pattern().match_alone(value)?,
            };
            let Some(pattern_match) = pattern_match else {
                continue;
            };
            let Some(replaced) = rule.replace(&pattern_match)? else {
                continue;
            };
            if matches!(&replaced, Replaced::Value(next) if next == value) {
                continue;
            }
            tally.count(number)?;
            return Ok(Some((number, replaced)));
        }
        Ok(None)
    }
}

/// The fields of a template's root with text or an object of a registry, in which a
/// matching value has the same contents.
fn fixed_fields(rule: &Rule, ty: TypeIndex) -> impl Iterator<Item = (u32, Value)> {
    let pattern = rule.pattern();
    let template = pattern.template().as_object();
    let is_fixed = template.is_some_and(|root| root.type_info().index() == ty)
        && pattern.has_one_root()
        && !template.is_some_and(|root| root.type_info().is_builtin());
    let visited = template.map_or(0, |root| root.type_info().visited.len());
    let count = if is_fixed { visited as u32 } else { 0 };
    (0..count).filter_map(|position| {
        let part = part_at(pattern.template(), position)?;
        let is_registered = part
            .as_object()
            .is_some_and(|part| part.type_info().kind() == Kind::Singleton);
        (part.is_str() || is_registered).then_some((position, part))
    })
}

/// A compared field of an object.
fn part_at(value: &Value, position: u32) -> Option<Value> {
    let object = value.as_object()?;
    access::reading(|section| {
        let fields = object.borrowed().visited();
        let (_, loaded) = fields.get(section, position as usize)?;
        Some(loaded.to_value())
    })
}
