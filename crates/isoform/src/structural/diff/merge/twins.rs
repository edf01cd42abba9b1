//! Variables introduced by both sides in the same place.
//!
//! A parameter added by the left side and a parameter added by the right side are one
//! parameter if they are at one place and equal. From then on, uses of the right
//! variable are uses of the left variable.

use std::collections::HashSet;

use super::super::tables::Tables;
use crate::kernel::error::Result;
use crate::kernel::types::Kind;
use crate::kernel::value::Value;
use crate::structural::CompareOptions;
use crate::traverse::{WalkResult, free_variables, substitute, walk_objects};

/// The known pairs of variables of both sides.
#[derive(Clone)]
pub(super) struct Twins {
    options: CompareOptions,
    /// Variables with a fixed meaning: variables of the base, and variables that are
    /// free in the base or on a side.
    fixed: HashSet<u64>,
    /// The free variables of all three values.
    free: HashSet<u64>,
    /// Variables of the right side with the equivalent variables of the left side.
    pairs: Vec<(Value, Value)>,
    is_new: bool,
}

impl Twins {
    /// Three values without twins. O(n).
    ///
    /// # Errors
    ///
    /// `ValueError` for a value that contains itself.
    pub(super) fn new(options: CompareOptions, base: &Tables, values: [&Value; 3]) -> Result<Self> {
        let mut free = HashSet::new();
        for value in values {
            free.extend(free_variables(value)?.iter().map(|var| var.identity()));
        }
        let vars = base.nodes.iter().filter(|node| node.is_var());
        let fixed = vars.map(|var| var.object.identity());
        Ok(Twins {
            options: CompareOptions {
                map_free_vars: false,
                ..options
            },
            fixed: fixed.chain(free.iter().copied()).collect(),
            free,
            pairs: Vec::new(),
            is_new: false,
        })
    }

    /// True if twins were found since the last call.
    pub(super) fn has_new(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    /// True if the parts of both sides are the same when variables of only one side
    /// correspond to each other. O(n).
    ///
    /// # Errors
    ///
    /// Errors of custom comparisons; `TypeError` for parts that cannot be compared.
    pub(super) fn are_equal(&mut self, [left, right]: &[Vec<Value>; 2]) -> Result<bool> {
        if left.len() != right.len() {
            return Ok(false);
        }
        let [left, right] = [left, right].map(|parts| Value::from(parts.clone()));
        let [lefts, rights] = [self.introduced(&left)?, self.introduced(&right)?];
        let pairs: Vec<(Value, Value)> = if lefts.len() == rights.len() {
            rights
                .into_iter()
                .zip(lefts)
                .filter(|(r, l)| !is_same(r, l))
                .collect()
        } else {
            Vec::new()
        };
        let mut is_equal = if self.equal(&left, &right)? {
            true
        } else if pairs.is_empty() {
            false
        } else {
            self.equal(&left, &substitute(&right, &pairs)?)?
        };
        is_equal = is_equal && pairs.iter().all(|pair| self.allows(pair));
        for (right, left) in pairs.into_iter().filter(|_| is_equal) {
            if self.pairs.iter().all(|(other, _)| !is_same(other, &right)) {
                self.pairs.push((right, left));
                self.is_new = true;
            }
        }
        Ok(is_equal)
    }

    /// True if neither variable of a pair has another partner already.
    fn allows(&self, (right, left): &(Value, Value)) -> bool {
        let mut known = self.pairs.iter();
        known.all(|(known_right, known_left)| {
            is_same(known_right, right) == is_same(known_left, left)
        })
    }

    /// True if the parts of a side equal the parts of the base. O(n).
    ///
    /// # Errors
    ///
    /// As [`Twins::are_equal`].
    pub(super) fn are_same(&self, base: &[Value], side: &[Value]) -> Result<bool> {
        let [base, side] = [base, side].map(|parts| Value::from(parts.to_vec()));
        self.equal(&base, &side)
    }

    /// True if two parts are equal in any place. A variable of the left part with a
    /// fixed meaning outside corresponds only to itself, even if the part defines the
    /// variable.
    fn equal(&self, left: &Value, right: &Value) -> Result<bool> {
        let mut known = self.variables(left, |var| self.fixed.contains(&var))?;
        let [left, right] = [left, right].map(|part| {
            known.push(part.clone());
            let around = Value::from(known.clone());
            known.pop();
            around
        });
        self.options.equal(&left, &right)
    }

    /// A value of the right side with the variables of the left side in place of their twins.
    /// O(n).
    ///
    /// # Errors
    ///
    /// As [`substitute`].
    pub(super) fn applied(&self, value: &Value) -> Result<Value> {
        if self.pairs.is_empty() {
            Ok(value.clone())
        } else {
            substitute(value, &self.pairs)
        }
    }

    /// Notes that a variable of the base is replaced by a new variable, which is free
    /// where the old variable was.
    pub(super) fn note_image(&mut self, var: u64, image: &Value) {
        let Some(image) = image.as_object() else {
            return;
        };
        self.fixed.insert(image.identity());
        if self.free.contains(&var) {
            self.free.insert(image.identity());
        }
    }

    /// A variable that is free in a value, but not in the base or on a side. O(n).
    ///
    /// # Errors
    ///
    /// `ValueError` for a value that contains itself.
    pub(super) fn escaped(&self, value: &Value) -> Result<Option<Value>> {
        let free = free_variables(value)?;
        let escaped = free.iter().find(|var| !self.free.contains(&var.identity()));
        Ok(escaped.map(Value::from))
    }

    /// The variables below a value that one side introduces, in the order of a walk.
    fn introduced(&self, value: &Value) -> Result<Vec<Value>> {
        self.variables(value, |var| !self.fixed.contains(&var))
    }

    /// The variables below a value that fulfil a condition, in the order of a walk.
    fn variables(&self, value: &Value, is_meant: impl Fn(u64) -> bool) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        let mut known = HashSet::new();
        walk_objects(value, |object, _| {
            let info = object.type_info();
            let is_var = info.kind() == Kind::Var && !info.is_builtin();
            let identity = object.identity();
            if is_var && is_meant(identity) && known.insert(identity) {
                found.push(Value::from(object));
            }
            Ok(WalkResult::<()>::Advance)
        })?;
        Ok(found)
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_object(), other.as_object()) {
        (Some(one), Some(other)) => one.same_as(other),
        _ => false,
    }
}
