//! Programs edited step by step, and the laws after each step: hashes and comparisons
//! give the same results with and without knowledge of earlier versions.

use isoform::compare::{CompareOptions, IncrementalHasher};
use isoform::values::ValueRef;
use isoform::{Array, Result, Value};

use super::classes::program;
use super::generate::children;
use super::pair::{draw, draw_options, setup};
use super::properties::Property;
use super::remembered::{hasher_changes_nothing, skips_change_nothing};
use super::sessions::{sessions_compare_and_hash_the_same, shared_parts_do_the_same_everywhere};
use super::source::{Source, split_mix};
use super::transform::{mutate_once, rename, unshare};

/// The properties of values that are edited.
pub const EDIT_PROPERTIES: &[(&str, Property)] = &[
    ("values_hash_the_same_after_each_edit", |bytes| {
        let pair = draw(bytes, true)?;
        Session::new(pair.left, Source::new(bytes))?.run(Session::judge)
    }),
    ("programs_hash_the_same_after_each_edit", |bytes| {
        edited_program(bytes)?.run(Session::judge)
    }),
    ("values_compare_the_same_after_each_edit", |bytes| {
        let pair = draw(bytes, true)?;
        Session::new(pair.left, Source::new(bytes))?.run(Session::compare)
    }),
    ("programs_compare_the_same_after_each_edit", |bytes| {
        edited_program(bytes)?.run(Session::compare)
    }),
    (
        "sessions_compare_and_hash_the_same",
        sessions_compare_and_hash_the_same,
    ),
    (
        "shared_parts_do_the_same_everywhere",
        shared_parts_do_the_same_everywhere,
    ),
];

/// Edits a value step by step, and judges hashes and comparisons after each step.
#[cfg(feature = "onnx")]
pub(crate) fn judge_edits(first: &Value, bytes: &[u8]) -> Result<(), String> {
    for judge in [Session::judge, Session::compare] {
        Session::new(first.clone(), Source::new(bytes))?.run(judge)?;
    }
    Ok(())
}

/// A session with a program of any dialect.
fn edited_program(bytes: &[u8]) -> Result<Session<'_>, String> {
    let mut source = Source::new(bytes);
    let mut seed = source.byte().into();
    let size = 10 + source.below(150);
    Session::new(program(split_mix(&mut seed), size)?, source)
}

/// A value under edit, with all derived values.
struct Session<'b> {
    source: Source<'b>,
    options: CompareOptions,
    hasher: IncrementalHasher,
    versions: Vec<Value>,
}

impl<'b> Session<'b> {
    fn new(first: Value, mut source: Source<'b>) -> Result<Self, String> {
        let options = draw_options(&mut source);
        Ok(Session {
            source,
            options,
            hasher: IncrementalHasher::new(options),
            versions: vec![first],
        })
    }

    fn run(
        mut self,
        judge: fn(&mut Self, &Value, usize) -> Result<(), String>,
    ) -> Result<(), String> {
        for step in 0..12 {
            let value = self.versions[self.versions.len() - 1].clone();
            judge(&mut self, &value, step)?;
            if self.source.chance(30) {
                write(&value, &mut self.source);
                judge(&mut self, &value, step)?;
            }
            let next = self.edited(&value).map_err(setup)?;
            self.versions.push(next);
        }
        Ok(())
    }

    /// The next version, or another value that shares parts with earlier versions.
    fn edited(&mut self, value: &Value) -> Result<Value> {
        let source = &mut self.source;
        Ok(match source.below(10) {
            0 => source.pick(&self.versions).clone(),
            1 => Array::from(vec![source.pick(&self.versions).clone(), value.clone()]).into(),
            2 => {
                let parts = children(value);
                if parts.is_empty() {
                    value.clone()
                } else {
                    source.pick(&parts).clone()
                }
            }
            3 => rename(value, self.options, source).unwrap_or_else(|_| value.clone()),
            4 => unshare(value, self.options).unwrap_or_else(|_| value.clone()),
            _ => mutate_once(value, source)?,
        })
    }

    /// Compares a version with an earlier version and with itself.
    fn compare(&mut self, value: &Value, _: usize) -> Result<(), String> {
        let last = self.versions.len().saturating_sub(2);
        let other = match self.source.below(4) {
            0 => self.source.pick(&self.versions).clone(),
            1 => value.clone(),
            _ => self.versions[last].clone(),
        };
        let sides = if self.source.chance(50) {
            (&other, value)
        } else {
            (value, &other)
        };
        skips_change_nothing(sides.0, sides.1, self.options)
    }

    fn judge(&mut self, value: &Value, step: usize) -> Result<(), String> {
        hasher_changes_nothing(&mut self.hasher, self.options, value)
            .map_err(|account| format!("after {step} edits: {account}"))
    }
}

/// Writes to a list or dict below a value, if possible.
fn write(value: &Value, source: &mut Source<'_>) {
    let mut stack = vec![value.clone()];
    let mut skipped = source.below(4);
    // A cyclic value has no end.
    for _ in 0..300 {
        let Some(value) = stack.pop() else {
            return;
        };
        let is_mutable = matches!(value.view(), ValueRef::List(_) | ValueRef::Dict(_));
        if is_mutable && skipped == 0 {
            // A list or dict of a typed field may refuse the value.
            let _written = match value.view() {
                ValueRef::List(list) => list.push(source.plain()).is_ok(),
                ValueRef::Dict(dict) => dict.insert("written".into(), source.plain()).is_ok(),
                _ => false,
            };
            return;
        }
        skipped -= usize::from(is_mutable);
        stack.extend(children(&value));
    }
}
