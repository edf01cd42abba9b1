//! One run of one pass: instruments, errors, and kept results about the program.
//!
//! Every run of every pass goes through this file, so instruments, notes of errors and
//! the check for Ctrl-C exist once.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::config::IMMUTABLE;
use super::context::PassContext;
use super::frames::{self, Nested, Running};
use super::instrument::PassInstrument;
use super::kept::Preserved;
use super::nodes::{Pass, RunPass, Sequential};
use super::sequential::{Step, Steps};
use super::{reproducer, root};
use isoform::errors::ErrorKind;
use isoform::functions::Function;
use isoform::plumbing::Poll;
use isoform::types::{IsA, Schema};
use isoform::{Array, Error, Node, Obj, Ref, Result, Value, structural_hash};

/// Running a pass of any class.
pub trait PassRef {
    /// Runs the pass under the current context of the thread.
    ///
    /// Instruments see the pass, and may skip the pass. [`Sequential`] handles
    /// requirements and levels: a directly run pass always runs. The input is never
    /// changed; the result is the same object if the pass changes nothing.
    ///
    /// # Errors
    ///
    /// Errors of the pass and of instruments, with notes about pass and function;
    /// `RuntimeError` if the pass panics; `RecursionError` if passes require or run one
    /// another without end; `TypeError` if the result is not an `R`.
    fn run<R: Node>(&self, root: &Ref<R>) -> Result<Ref<R>>;

    /// Like [`run`](Self::run) under a given context, for passes that run other passes.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    fn run_in<R: Node>(&self, root: &Ref<R>, ctx: &Ref<PassContext>) -> Result<Ref<R>>;
}

impl<P: Node + IsA<Pass>> PassRef for Ref<P> {
    fn run<R: Node>(&self, root: &Ref<R>) -> Result<Ref<R>> {
        self.run_in(root, &PassContext::current())
    }

    fn run_in<R: Node>(&self, root: &Ref<R>, ctx: &Ref<PassContext>) -> Result<Ref<R>> {
        let pass = P::upcast_to(self.clone());
        run(&pass, root.as_object(), ctx)?.cast()
    }
}

pub(super) fn run(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
    let mut open = Vec::new();
    let result = drive(&mut open, pass, root, ctx);
    // Only an error leaves passes open; the innermost pass ends first.
    while let Some(level) = open.pop() {
        level.fail();
    }
    if frames::depth() == 0
        && !ctx.is_entered()
        && let Some(store) = ctx.store()
    {
        // Nobody leaves the default context, so results end with the pass.
        store.clear();
    }
    result
}

/// Runs a pass, and the passes of sequences one after the other: sequences may be
/// nested to any depth.
fn drive(
    open: &mut Vec<Level>,
    pass: &Ref<Pass>,
    root: &Ref<Obj>,
    ctx: &Ref<PassContext>,
) -> Result<Ref<Obj>> {
    let mut program = root.clone();
    let mut next = Some(Step {
        pass: pass.clone(),
        is_required: false,
    });
    loop {
        if let Some(step) = next.take() {
            // Between passes, to make even a pipeline of short passes interruptible.
            Poll::now()?;
            root::ready()?;
            let pass = &step.pass;
            let arguments = [Value::from(&program), Value::from(&pass.info)];
            if should_run(pass, ctx, &arguments)? {
                let outer = open.last().map_or(0, |level| level.required);
                let level = Level::new(&step, outer, &program, arguments)?;
                open.push(level);
                if let Some(level) = open.last_mut() {
                    level.before(ctx)?;
                    if level.steps.is_none() {
                        program = noted(pass, &program, ctx, &level.running)?;
                    }
                }
            } else {
                tracing::debug!(target: "isoform.transform", "skipped pass {}", pass.info.name);
            }
        }
        let Some(level) = open.last_mut() else {
            return Ok(program);
        };
        next = match &mut level.steps {
            Some(steps) => caught(|| steps.next(ctx))?,
            None => None,
        };
        if next.is_none() {
            after(&level.pass, ctx, &program)?;
            frames::ended_well();
            open.pop();
        }
    }
}

/// For types that extend `Sequential`; plain sequences need no native stack.
impl RunPass for Sequential {
    fn run_on(&self, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
        let (mut result, mut steps) = (root.clone(), Steps::of(self));
        while let Some(step) = steps.next(ctx)? {
            result = run(&step.pass, &result, ctx)?;
        }
        Ok(result)
    }
}

/// Asks all instruments, even after an instrument has rejected the pass.
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

/// The result of an instrument; errors name the instrument.
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

/// A running pass.
struct Level {
    pass: Ref<Pass>,
    arguments: [Value; 2],
    instruments: Array,
    /// The number of instruments, from the first, that have begun with the pass.
    begun: usize,
    /// The rest of a sequence.
    steps: Option<Steps>,
    /// The number of required passes among this pass and the passes around it.
    required: usize,
    running: Running,
}

impl Level {
    fn new(step: &Step, outer: usize, root: &Ref<Obj>, arguments: [Value; 2]) -> Result<Level> {
        let pass = &step.pass;
        let required = outer + usize::from(step.is_required);
        if required > frames::MOST_NESTED {
            return Err(frames::too_deep(&pass.info.name));
        }
        // Types that extend `Sequential` define how they run.
        let is_plain = pass.type_index() == Sequential::type_index();
        let sequence = pass.downcast_ref::<Sequential>().filter(|_| is_plain);
        Ok(Level {
            pass: pass.clone(),
            arguments,
            instruments: Array::new(),
            begun: 0,
            steps: sequence.map(|sequence| Steps::of(sequence)),
            required,
            running: Running::begin(root),
        })
    }

    fn before(&mut self, ctx: &PassContext) -> Result<()> {
        self.instruments = ctx.instruments.snapshot();
        for instrument in self.instruments.values() {
            if let Some(function) = function_of(instrument, |one| one.on_before_pass.as_ref()) {
                about(instrument, &self.pass, function.call(&self.arguments))?;
            }
            self.begun += 1;
        }
        Ok(())
    }

    /// Tells the instruments that the pass failed.
    fn fail(&self) {
        for instrument in &self.instruments.values()[..self.begun] {
            if let Some(function) = function_of(instrument, |one| one.on_failed_pass.as_ref()) {
                // The error of the pass takes precedence.
                let _ = function.call(&self.arguments);
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

/// Runs a pass that is not a plain sequence; errors name the pass.
fn noted(
    pass: &Ref<Pass>,
    root: &Ref<Obj>,
    ctx: &Ref<PassContext>,
    running: &Running,
) -> Result<Ref<Obj>> {
    // A sequence does nothing itself: errors were already annotated by the pass that
    // failed.
    if pass.isa::<Sequential>() {
        return called(pass, root, ctx);
    }
    checked(pass, root, ctx, running).map_err(|error| {
        let is_first = frames::report_once();
        if error.kind() == ErrorKind::Recursion && !is_first {
            // The passes around the failed pass repeat the same pass many times.
            return error;
        }
        let error = error.noted(format!("in pass '{}'", pass.info.name));
        tracing::error!(target: "isoform.transform", "{error}");
        if is_first {
            reproducer::write(pass, root, ctx, error)
        } else {
            error
        }
    })
}

/// A run of a pass that is not a sequence.
fn checked(
    pass: &Ref<Pass>,
    root: &Ref<Obj>,
    ctx: &Ref<PassContext>,
    running: &Running,
) -> Result<Ref<Obj>> {
    let before = if is_checked(ctx) {
        Some(structural_hash(root)?)
    } else {
        None
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

fn is_checked(ctx: &PassContext) -> bool {
    let value = if ctx.config.is_empty() {
        None
    } else {
        ctx.config.get(IMMUTABLE)
    };
    value.and_then(Value::as_bool) == Some(true)
}

/// Runs the pass itself.
fn called(pass: &Ref<Pass>, root: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Ref<Obj>> {
    let seen = pass.implements_nearest::<dyn RunPass>().ok_or_else(|| {
        Error::type_error(format!(
            "pass '{}': type {} does not implement the trait transform.run_pass",
            pass.info.name,
            pass.type_info().key()
        ))
    })?;
    let _nested = Nested::begin(&pass.info.name)?;
    caught(|| seen.run_on(root, ctx))
}

/// The result of user code; a panic becomes an error.
fn caught<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    // The input is shared and immutable, so nothing of a half-done pass remains.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let message = format!("the pass crashed: {}", words_of(&*panic));
        Err(Error::new(ErrorKind::Runtime, message))
    })
}

fn words_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let owned = || panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(owned).unwrap_or("unknown panic")
}

/// Drops the invalidated results of analyses. O(functions), and O(1) without results.
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
