//! One run of one pass: instruments, errors, and what is kept about the program.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::context::PassContext;
use super::frames::{self, Running};
use super::instrument::PassInstrument;
use super::kept::Preserved;
use super::nodes::{Pass, RunPass, Sequential};
use super::{reproducer, root};
use crate::errors::ErrorKind;
use crate::kernel::container::Array;
use crate::kernel::convert::IsA;
use crate::kernel::error::{Error, Result};
use crate::kernel::function::Function;
use crate::kernel::object::access::Poll;
use crate::kernel::object::reference::{Node, Obj, Ref};
use crate::kernel::types::Schema;
use crate::kernel::value::Value;
use crate::structural::structural_hash;

impl<P: Node + IsA<Pass>> Ref<P> {
    /// Runs the pass under the current context of the thread.
    ///
    /// Instruments see the pass, and may skip it. Requirements and levels are the
    /// business of [`Sequential`]: a pass that is run directly runs. The input is
    /// never changed; the result is the same object if nothing changes.
    ///
    /// # Errors
    ///
    /// Errors of the pass and of instruments, with notes about pass and function;
    /// `RuntimeError` if the pass panics; `TypeError` if the result is not an `R`.
    pub fn run<R: Node>(&self, root: &Ref<R>) -> Result<Ref<R>> {
        self.run_in(root, &PassContext::current())
    }

    /// [`run`](Self::run) under a given context, as passes do that run others.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_in<R: Node>(&self, root: &Ref<R>, ctx: &Ref<PassContext>) -> Result<Ref<R>> {
        let pass = P::upcast_to(self.clone());
        run(&pass, root.as_object(), ctx)?.cast()
    }
}

pub(super) fn run(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
    // Between passes, so that even a pipeline of short ones can be interrupted.
    Poll::now()?;
    root::ready()?;
    let arguments = [Value::from(root), Value::from(&pass.info)];
    if !should_run(pass, ctx, &arguments)? {
        tracing::debug!(target: "isoform.transform", "skipped pass {}", pass.info.name);
        return Ok(root.clone());
    }
    let running = Running::begin(root);
    let mut open = Open {
        instruments: Array::new(),
        arguments: &arguments,
        begun: 0,
    };
    let result = observed(pass, root, ctx, &mut open, &running);
    if result.is_err() {
        open.fail();
    }
    drop(running);
    if frames::depth() == 0
        && !ctx.is_entered()
        && let Some(store) = ctx.store()
    {
        // Nobody leaves the default context, so results end with the pass.
        store.clear();
    }
    result
}

/// Asks all instruments, even if one has said no already.
fn should_run(pass: &Ref<Pass>, ctx: &PassContext, arguments: &[Value]) -> Result<bool> {
    let instruments = ctx.instruments.snapshot();
    if instruments.is_empty() || ctx.requires(&pass.info.name) {
        return Ok(true);
    }
    let mut wanted = true;
    for instrument in instruments.values() {
        if let Some(function) = function_of(instrument, |one| one.on_should_run.as_ref()) {
            let answer = function.call(arguments);
            let answer = answer.and_then(|answer| Schema::Bool.convert(answer));
            wanted &= about(instrument, pass, answer)?.as_bool() != Some(false);
        }
    }
    Ok(wanted)
}

fn function_of(
    instrument: &Value,
    which: fn(&PassInstrument) -> Option<&Function>,
) -> Option<&Function> {
    which(instrument.peek::<Ref<PassInstrument>>()?)
}

/// The result of an instrument; its error says so.
fn about<T>(instrument: &Value, pass: &Pass, result: Result<T>) -> Result<T> {
    result.map_err(|error| {
        let name = instrument.peek::<Ref<PassInstrument>>();
        let name = name.map_or("", |instrument| &*instrument.name);
        error.noted(format!(
            "in instrument '{name}' at pass '{}'",
            pass.info.name
        ))
    })
}

/// The instruments that have begun with a pass.
struct Open<'a> {
    instruments: Array,
    arguments: &'a [Value],
    /// How many of them, from the first one on.
    begun: usize,
}

impl Open<'_> {
    fn before(&mut self, pass: &Pass, ctx: &PassContext) -> Result<()> {
        self.instruments = ctx.instruments.snapshot();
        for instrument in self.instruments.values() {
            if let Some(function) = function_of(instrument, |one| one.on_before_pass.as_ref()) {
                about(instrument, pass, function.call(self.arguments))?;
            }
            self.begun += 1;
        }
        Ok(())
    }

    /// Tells the instruments that the pass has not ended well.
    fn fail(&self) {
        for instrument in &self.instruments.values()[..self.begun] {
            if let Some(function) = function_of(instrument, |one| one.on_failed_pass.as_ref()) {
                // The error of the pass is the one to report.
                let _ = function.call(self.arguments);
            }
        }
    }
}

fn after(pass: &Pass, ctx: &PassContext, result: &Ref<Obj>) -> Result<()> {
    let instruments = ctx.instruments.snapshot();
    let arguments = [Value::from(result), Value::from(&pass.info)];
    for instrument in instruments.values() {
        if let Some(function) = function_of(instrument, |one| one.on_after_pass.as_ref()) {
            about(instrument, pass, function.call(&arguments))?;
        }
    }
    Ok(())
}

fn observed(
    pass: &Ref<Pass>,
    root: &Ref<Obj>,
    ctx: &Ref<PassContext>,
    open: &mut Open<'_>,
    running: &Running,
) -> Result<Ref<Obj>> {
    open.before(pass, ctx)?;
    // What happens in a sequence happens in one of its passes, which has told it.
    let result = match pass.isa::<Sequential>() {
        true => called(pass, root, ctx)?,
        false => checked(pass, root, ctx, running).map_err(|error| {
            let error = error.noted(format!("in pass '{}'", pass.info.name));
            tracing::error!(target: "isoform.transform", "{error}");
            match frames::report_once() {
                true => reproducer::write(pass, root, ctx, error),
                false => error,
            }
        })?,
    };
    after(pass, ctx, &result)?;
    Ok(result)
}

/// A run of a pass that is not a sequence.
fn checked(
    pass: &Ref<Pass>,
    root: &Ref<Obj>,
    ctx: &Ref<PassContext>,
    running: &Running,
) -> Result<Ref<Obj>> {
    let before = match is_checked(ctx) {
        true => Some(structural_hash(root)?),
        false => None,
    };
    tracing::debug!(target: "isoform.transform", "running pass {}", pass.info.name);
    let result = called(pass, root, ctx)?;
    running.render()?;
    if let Some(before) = before
        && structural_hash(root)? != before
    {
        return Err(Error::new(
            ErrorKind::Runtime,
            format!(
                "pass '{}' changed its input in place; a pass returns a new program and leaves \
                 its input alone",
                pass.info.name
            ),
        ));
    }
    update_analyses(pass, root, &result, ctx)?;
    Ok(result)
}

/// The option that checks that passes leave their input alone.
pub(super) const IMMUTABLE: &str = "testing.immutable_module";

fn is_checked(ctx: &PassContext) -> bool {
    let value = match ctx.config.is_empty() {
        true => None,
        false => ctx.config.get(&IMMUTABLE.into()),
    };
    value.and_then(Value::as_bool) == Some(true)
}

/// Runs the pass itself; a panic becomes an error.
fn called(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
    let seen = pass.implements_nearest::<dyn RunPass>().ok_or_else(|| {
        Error::type_error(format!(
            "pass '{}': type {} does not implement the trait transform.run_pass",
            pass.info.name,
            pass.type_info().key()
        ))
    })?;
    // The input is shared and immutable, so nothing of a half-done pass remains.
    let result = catch_unwind(AssertUnwindSafe(|| seen.run_on(root, ctx)));
    result.unwrap_or_else(|panic| {
        let message = format!("the pass crashed: {}", words_of(&*panic));
        Err(Error::new(ErrorKind::Runtime, message))
    })
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(owned).unwrap_or("unknown panic")
}

/// Drops the results of analyses that are not valid any more. O(functions), and O(1) if
/// nothing is kept.
fn update_analyses(pass: &Pass, old: &Ref<Obj>, new: &Ref<Obj>, ctx: &PassContext) -> Result<()> {
    let Some(store) = ctx.store().filter(|store| !store.is_empty()) else {
        return Ok(());
    };
    let preserved = Preserved::by(&pass.info.preserves);
    for (_, before, after) in root::changed(old, new)? {
        if let Some(before) = before {
            store.replace(&before, after.as_ref(), &preserved);
        }
    }
    if !old.same_as(new) {
        store.replace(old, Some(new), &preserved);
    }
    Ok(())
}
