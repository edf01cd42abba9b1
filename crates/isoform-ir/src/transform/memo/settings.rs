//! All influences on the results of a pass besides functions and programs.

use super::kept::{digest, exact};
use crate::transform::cache::Memo;
use crate::transform::config;
use crate::transform::context::PassContext;
use crate::transform::nodes::Pass;
use isoform::errors::ErrorKind;
use isoform::plumbing::Payload;
use isoform::traverse::{Visit, WalkOptions, WalkResult};
use isoform::types::Kind;
use isoform::values::{Bytes, ValueRef};
use isoform::{Error, Obj, Ref, Result, Str, Value, structural_equal};

/// The options of a pass and of the context, and the declared state of the pass: the
/// same for all functions of a program. Instruments and caches are no input of a pass.
pub(in crate::transform) struct Settings {
    /// The part of a key for the settings: a digest, or the settings as one value if
    /// they may share objects with functions.
    pub(super) part: Value,
    pub(super) is_plain: bool,
    state: Value,
    fingerprint: [u8; 32],
}

impl Settings {
    /// None without a digest. Linear in the size of the settings.
    ///
    /// # Errors
    ///
    /// Errors of the function that returns the state of the pass.
    pub(in crate::transform) fn of(
        pass: &Pass,
        memo: &Memo,
        ctx: &PassContext,
    ) -> Result<Option<Settings>> {
        let options: Value = pass.options.snapshot().into();
        let state = state(memo)?;
        let context = Value::from([
            Value::from(ctx.opt_level),
            ctx.required_pass.clone().into(),
            ctx.disabled_pass.clone().into(),
            config::of_passes(&ctx.config).into(),
        ]);
        let all = Value::from([options, state.clone(), context]);
        let fingerprints = fingerprint(memo, &all).zip(fingerprint(memo, &state));
        Ok(fingerprints.map(|(whole, fingerprint)| {
            let is_plain = is_plain(&all);
            let part = if is_plain {
                Bytes::from(whole.to_vec()).into()
            } else {
                all
            };
            Settings {
                part,
                is_plain,
                state,
                fingerprint,
            }
        }))
    }

    /// Fails if the pass has changed its state: the next function would see the change,
    /// but the key of the function would not. O(1) for a pass without state.
    pub(super) fn check_unchanged(&self, pass: &Pass, memo: &Memo) -> Result<()> {
        if memo.state.is_none() {
            return Ok(());
        }
        let now = state(memo)?;
        if fingerprint(memo, &now) == Some(self.fingerprint) {
            return Ok(());
        }
        let changed = changed_name(&self.state, &now).unwrap_or_else(|| "its own state".into());
        Err(Error::new(
            ErrorKind::Value,
            format!(
                "pass '{}' is pure, but changed {changed} while it ran: results of other \
                 functions would depend on that; keep such data in variables of the call",
                pass.info.name
            ),
        ))
    }
}

fn state(memo: &Memo) -> Result<Value> {
    match &memo.state {
        Some(state) => state.call(&[]),
        None => Ok(Value::NONE),
    }
}

/// A digest of a value including the parts ignored by comparison.
fn fingerprint(memo: &Memo, value: &Value) -> Option<[u8; 32]> {
    let exact = exact(memo, value)?;
    Some(*digest(Value::from([value.clone(), exact]))?.as_bytes())
}

/// The name of the first entry with a difference between two states.
fn changed_name(before: &Value, now: &Value) -> Option<Str> {
    let (ValueRef::Map(before), ValueRef::Map(now)) = (before.view(), now.view()) else {
        return None;
    };
    let same = |key: &Value, value: &Value| {
        let now = now.get(key);
        now.is_some_and(|now| structural_equal(value, now).unwrap_or(false))
    };
    let changed = before.iter().find(|(key, value)| !same(key, value));
    let added = || now.iter().find(|&(key, _)| before.get(key).is_none());
    let (name, _) = changed.or_else(added)?;
    Some(format!("'{}'", name.as_str()?).into())
}

/// True if no part of a value has an identity that other parts of a key could mention.
fn is_plain(value: &Value) -> bool {
    let options = WalkOptions::default().include_ignored(true).hooks(false);
    let first = options.walk(value, |visit: &Visit<'_>| {
        let is_plain = |object: &Ref<Obj>| {
            let info = object.type_info();
            let has_identity = matches!(info.kind(), Kind::Var | Kind::Dag | Kind::None);
            let is_tree = !has_identity && !info.may_change() && !info.has_structural_hooks();
            info.class() != Payload::Mutable && (info.is_builtin() || is_tree)
        };
        Ok(if visit.object().is_none_or(is_plain) {
            WalkResult::Advance
        } else {
            WalkResult::Interrupt(())
        })
    });
    matches!(first, Ok(None))
}
