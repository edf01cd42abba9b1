//! `PassContext`: the conditions under which passes run, and the stack of contexts of
//! each thread.

use std::cell::RefCell;

use isoform::functions::Function;
use isoform::values::{List, OpaqueObj};
use isoform::{Array, Error, Map, Node, Ref, Result, Str, Value, export};

use super::cache::Cache;
use super::config;
use super::info::PassInfo;
use super::instrument::PassInstrument;
use super::kept::Store;

/// The conditions under which passes run.
///
/// Only the innermost context of a thread counts: contexts are not merged. Outside of
/// any context, every thread has a default context: level 2, and no other settings.
#[derive(Node)]
#[node(
    key = "transform.PassContext", kind = none, init = make_context, no_new, no_with
)]
#[repr(C)]
pub struct PassContext {
    /// The level of optimization: a sequence skips passes of higher levels.
    pub opt_level: i64,
    /// The names of passes that a sequence runs at any level, and that instruments
    /// cannot skip.
    pub required_pass: Array<Str>,
    /// The names of passes that a sequence skips.
    pub disabled_pass: Array<Str>,
    /// The instruments in calling order.
    pub instruments: List<Ref<PassInstrument>>,
    /// The values of options.
    pub config: Map<Str, Value>,
    /// Keeps the results of memoised passes.
    #[node(repr = false)]
    pub cache: Option<Ref<Cache>>,
    /// The results of analyses.
    #[node(repr = false)]
    state: Value,
}

/// Makes a context.
#[export("transform.PassContext")]
fn make_context(
    #[default = DEFAULT_LEVEL] opt_level: i64,
    #[default = Array::<Str>::new()] required_pass: Array<Str>,
    #[default = Array::<Str>::new()] disabled_pass: Array<Str>,
    #[default = Array::<Ref<PassInstrument>>::new()] instruments: Array<Ref<PassInstrument>>,
    #[default = Map::<Str, Value>::new()] config: Map<Str, Value>,
    cache: Option<Ref<Cache>>,
) -> Result<Ref<PassContext>> {
    let mut options = ContextOptions::default().opt_level(opt_level);
    options.required = required_pass;
    options.disabled = disabled_pass;
    options.instruments = instruments;
    options.config = config;
    options.cache = cache;
    options.make()
}

/// The level of contexts without a level.
pub(super) const DEFAULT_LEVEL: i64 = 2;

/// Options of a [`PassContext`].
#[derive(Clone)]
pub struct ContextOptions {
    opt_level: i64,
    required: Array<Str>,
    disabled: Array<Str>,
    instruments: Array<Ref<PassInstrument>>,
    config: Map<Str, Value>,
    cache: Option<Ref<Cache>>,
}

impl Default for ContextOptions {
    fn default() -> Self {
        ContextOptions {
            opt_level: DEFAULT_LEVEL,
            required: Array::new(),
            disabled: Array::new(),
            instruments: Array::new(),
            config: Map::new(),
            cache: None,
        }
    }
}

impl ContextOptions {
    /// Sets the level of optimization.
    #[must_use]
    pub fn opt_level(mut self, opt_level: i64) -> Self {
        self.opt_level = opt_level;
        self
    }

    /// Sets the names of passes to run at any level.
    #[must_use]
    pub fn required(mut self, names: impl IntoIterator<Item = impl Into<Str>>) -> Self {
        self.required = names.into_iter().map(Into::into).collect::<Vec<_>>().into();
        self
    }

    /// Sets the names of passes to skip in sequences.
    #[must_use]
    pub fn disabled(mut self, names: impl IntoIterator<Item = impl Into<Str>>) -> Self {
        self.disabled = names.into_iter().map(Into::into).collect::<Vec<_>>().into();
        self
    }

    /// Adds an instrument.
    #[must_use]
    pub fn instrument(mut self, instrument: &Ref<PassInstrument>) -> Self {
        self.instruments.push(instrument.clone());
        self
    }

    /// Sets an option by its key.
    #[must_use]
    pub fn config(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }

    /// Sets the cache for the results of memoised passes.
    #[must_use]
    pub fn cache(mut self, cache: &Ref<Cache>) -> Self {
        self.cache = Some(cache.clone());
        self
    }

    /// Makes the context.
    ///
    /// # Errors
    ///
    /// `AttributeError` for an option that is not registered or whose value is None;
    /// `TypeError` for a value of the wrong type.
    pub fn make(&self) -> Result<Ref<PassContext>> {
        let instruments = List::new();
        instruments.replace(self.instruments.values().to_vec().into())?;
        Ok(Ref::new(PassContext {
            opt_level: self.opt_level,
            required_pass: self.required.clone(),
            disabled_pass: self.disabled.clone(),
            instruments,
            config: config::legalised(&self.config)?,
            cache: self.cache.clone(),
            state: Value::opaque_named(Store::default(), "the results of analyses"),
        }))
    }
}

impl Default for PassContext {
    fn default() -> Self {
        PassContext {
            opt_level: DEFAULT_LEVEL,
            required_pass: Array::new(),
            disabled_pass: Array::new(),
            instruments: List::new(),
            config: Map::new(),
            cache: None,
            state: Value::opaque_named(Store::default(), "the results of analyses"),
        }
    }
}

thread_local! {
    /// The entered contexts of this thread, the innermost last.
    static STACK: RefCell<Vec<Ref<PassContext>>> = const { RefCell::new(Vec::new()) };
    static DEFAULT: RefCell<Option<Ref<PassContext>>> = const { RefCell::new(None) };
}

/// The contexts of a thread: those entered, and the default.
#[derive(Debug, Default)]
pub(super) struct ThreadContexts {
    stack: Vec<Ref<PassContext>>,
    default: Option<Ref<PassContext>>,
}

impl ThreadContexts {
    /// Exchanges the contexts with those of this thread.
    pub(super) fn exchange(&mut self) {
        STACK.with_borrow_mut(|stack| std::mem::swap(stack, &mut self.stack));
        DEFAULT.with_borrow_mut(|default| std::mem::swap(default, &mut self.default));
    }
}

impl PassContext {
    /// The innermost entered context of this thread, or the default context of the
    /// thread.
    pub fn current() -> Ref<PassContext> {
        STACK
            .with_borrow(|stack| stack.last().cloned())
            .unwrap_or_else(|| {
                DEFAULT.with_borrow_mut(|made| {
                    made.get_or_insert_with(|| Ref::new(PassContext::default()))
                        .clone()
                })
            })
    }

    /// True if the context requires the pass of this name.
    pub(super) fn requires(&self, name: &Str) -> bool {
        self.required_pass.iter().any(|required| required == name)
    }

    /// True if a sequence runs a pass: the pass must not be disabled, and must be
    /// required or have at most the level of the context.
    pub fn enables(&self, info: &PassInfo) -> bool {
        if self.disabled_pass.iter().any(|name| *name == info.name) {
            return false;
        }
        self.requires(&info.name) || self.opt_level >= info.opt_level
    }

    /// The value of an option, or the default if the context does not set the option.
    ///
    /// # Errors
    ///
    /// `AttributeError` with the registered keys if the option is not registered.
    pub fn config_value(&self, key: &str) -> Result<Value> {
        match self.config.get(key) {
            Some(value) => Ok(value.clone()),
            None => Ok(config::config_option(key)?.default().clone()),
        }
    }

    pub(super) fn store(&self) -> Option<&Store> {
        let state = self.state.as_object()?;
        state.downcast_ref::<OpaqueObj>()?.content()
    }
}

/// Calls the function of every instrument, until a call fails.
fn call_each(
    instruments: &Array,
    which: fn(&PassInstrument) -> Option<&Function>,
) -> std::result::Result<(), (usize, Error)> {
    for (position, instrument) in instruments.values().iter().enumerate() {
        let Some(instrument) = instrument.peek::<Ref<PassInstrument>>() else {
            continue;
        };
        if let Some(function) = which(instrument) {
            function.call(&[]).map_err(|error| {
                let note = format!("in instrument '{}'", instrument.name);
                (position, error.noted(note))
            })?;
        }
    }
    Ok(())
}

impl PassContext {
    /// True if the context is entered in this thread.
    pub(super) fn is_entered(&self) -> bool {
        STACK.with_borrow(|stack| stack.iter().any(|ctx| std::ptr::eq(&**ctx, self)))
    }

    fn begin_instruments(&self) -> Result<()> {
        let instruments = self.instruments.snapshot();
        let Err((failed, error)) = call_each(&instruments, |one| one.on_enter.as_ref()) else {
            return Ok(());
        };
        for instrument in instruments.values()[..failed].iter().rev() {
            let instrument = instrument.peek::<Ref<PassInstrument>>();
            if let Some(exit) = instrument.and_then(|instrument| instrument.on_exit.as_ref()) {
                // The first error is reported.
                let _ = exit.call(&[]);
            }
        }
        self.instruments.clear();
        Err(error)
    }

    fn end_instruments(&self) -> Result<()> {
        let instruments = self.instruments.snapshot();
        call_each(&instruments, |one| one.on_exit.as_ref()).map_err(|(_, error)| {
            self.instruments.clear();
            error
        })
    }
}

/// Entering and leaving a context.
pub trait PassContextRef {
    /// Runs `body` inside the context: enters it, and leaves it whatever happens.
    ///
    /// # Errors
    ///
    /// Errors of instruments, and of `body`.
    fn within<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T>;

    /// Makes the context the current one of this thread, after calling its instruments.
    /// [`leave`](Self::leave) undoes it; prefer [`within`](Self::within).
    ///
    /// # Errors
    ///
    /// The error of an instrument: those before it are left again, last one first, the
    /// context has no instruments afterwards, and is not entered.
    fn enter(&self) -> Result<()>;

    /// Makes the previous context current, then calls the instruments.
    ///
    /// # Errors
    ///
    /// `RuntimeError` unless the context is the innermost context of this thread. The
    /// error of an instrument: later instruments are not called, and the context has no
    /// instruments afterwards.
    fn leave(&self) -> Result<()>;

    /// Replaces the instruments: those of now are left, and the new ones entered.
    ///
    /// # Errors
    ///
    /// As [`leave`](Self::leave) and [`enter`](Self::enter): the context has no
    /// instruments then.
    fn override_instruments(
        &self,
        instruments: impl IntoIterator<Item = Ref<PassInstrument>>,
    ) -> Result<()>;
}

impl PassContextRef for Ref<PassContext> {
    fn within<T>(&self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        /// Leaves the context if `body` panics.
        struct Leave<'a>(Option<&'a Ref<PassContext>>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                if let Some(ctx) = self.0 {
                    // The panic is the error to report.
                    let _ = ctx.leave();
                }
            }
        }
        self.enter()?;
        let mut guard = Leave(Some(self));
        let result = body();
        guard.0 = None;
        let left = self.leave();
        // The first error is the cause.
        let result = result?;
        left.map(|()| result)
    }

    fn enter(&self) -> Result<()> {
        self.begin_instruments()?;
        STACK.with_borrow_mut(|stack| stack.push(self.clone()));
        Ok(())
    }

    fn leave(&self) -> Result<()> {
        let popped = STACK.with_borrow_mut(|stack| match stack.last() {
            Some(last) if last.same_as(self) => stack.pop(),
            _ => None,
        });
        if popped.is_none() {
            return Err(Error::new(
                isoform::errors::ErrorKind::Runtime,
                "the pass context is not the current one of this thread: contexts are left in \
                 the reverse order of entry",
            ));
        }
        let is_entered = STACK.with_borrow(|stack| stack.iter().any(|ctx| ctx.same_as(self)));
        if !is_entered && let Some(store) = self.store() {
            store.clear();
        }
        self.end_instruments()
    }

    fn override_instruments(
        &self,
        instruments: impl IntoIterator<Item = Ref<PassInstrument>>,
    ) -> Result<()> {
        self.end_instruments()?;
        let new: Array<Ref<PassInstrument>> = instruments.into_iter().collect::<Vec<_>>().into();
        self.instruments.replace(new.values().to_vec().into())?;
        self.begin_instruments()
    }
}

/// The current context.
#[export("passes.current_context")]
fn current() -> Ref<PassContext> {
    PassContext::current()
}

/// Makes the context current.
#[export("transform.PassContext.enter")]
fn enter(this: &Ref<PassContext>) -> Result<()> {
    this.enter()
}

/// Makes the previous context current.
#[export("transform.PassContext.leave")]
fn leave(this: &Ref<PassContext>) -> Result<()> {
    this.leave()
}

/// Replaces the instruments: leaves the present instruments, and enters the new
/// instruments.
#[export("transform.PassContext.override_instruments")]
fn override_instruments(
    this: &Ref<PassContext>,
    instruments: Option<Array<Ref<PassInstrument>>>,
) -> Result<()> {
    let instruments = instruments.unwrap_or_default();
    this.override_instruments(instruments.iter().cloned())
}

/// True if a sequence runs a pass of this description.
#[export("transform.PassContext.pass_enabled")]
fn pass_enabled(this: &Ref<PassContext>, info: &Ref<PassInfo>) -> bool {
    this.enables(info)
}

/// The value of an option, or the default if the context does not set the option.
#[export("transform.PassContext.config_value")]
fn config_value(this: &Ref<PassContext>, key: &str) -> Result<Value> {
    this.config_value(key)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![current]?;
    isoform::register_methods! { PassContext:
        enter = enter,
        leave = leave,
        override_instruments = override_instruments,
        pass_enabled = pass_enabled,
        config_value = config_value,
    }?;
    Ok(())
}
