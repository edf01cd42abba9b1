//! `PassInstrument`: observes every pass of a context, and may skip passes.

use std::any::Any;
use std::sync::Arc;

use isoform::functions::Function;
use isoform::{Node, Obj, Ref, Result, Str, Value, export};

use super::info::PassInfo;

/// An instrument written in Rust; [`PassInstrument::of`] wraps the instrument for
/// contexts.
///
/// A context calls the methods of all its instruments in the order of its list. An
/// error of a method ends the pass, or the entry to the context.
///
/// ```
/// use isoform_ir::transform::PassContextRef;
/// use isoform_ir::transform::PassRef;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use isoform_ir::ir::IRModule;
/// use isoform_ir::transform::{ContextOptions, Instrument, PassInfo, PassInstrument, make_pass};
/// use isoform::{Obj, Ref, Result};
///
/// /// Counts passes.
/// #[derive(Default)]
/// struct Count(AtomicUsize);
///
/// impl Instrument for Count {
///     fn before(&self, _root: &Ref<Obj>, _info: &Ref<PassInfo>) -> Result<()> {
///         self.0.fetch_add(1, Ordering::Relaxed);
///         Ok(())
///     }
/// }
///
/// isoform_ir::transform::register()?;
/// let count = PassInstrument::of(Count::default());
/// let ctx = ContextOptions::default().instrument(&count).make()?;
/// let module = isoform::objects::construct_named(IRModule::type_index(), vec![])?;
/// # use isoform::Node;
/// ctx.within(|| make_pass("PrintIR", [])?.run(&module))?;
/// let count = count.content::<Count>().expect("what it was made of");
/// assert_eq!(count.0.load(Ordering::Relaxed), 1);
/// # Ok::<(), isoform::Error>(())
/// ```
pub trait Instrument: Any + Send + Sync {
    /// The name for messages; by default the name of the type, without its path.
    fn name(&self) -> String {
        let name = std::any::type_name::<Self>();
        name.rsplit("::").next().unwrap_or(name).to_owned()
    }

    /// Called when a context with the instrument is entered, before the context becomes
    /// current.
    ///
    /// # Errors
    ///
    /// Ends the entry.
    fn enter(&self) -> Result<()> {
        Ok(())
    }

    /// Called when a context with the instrument is left and not current.
    ///
    /// # Errors
    ///
    /// Returned by whatever leaves the context.
    fn exit(&self) -> Result<()> {
        Ok(())
    }

    /// Returns false to skip a pass. Not called for passes that the context requires.
    ///
    /// # Errors
    ///
    /// Ends the pass.
    fn should_run(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<bool> {
        let _ = (root, info);
        Ok(true)
    }

    /// Called before a pass with its input.
    ///
    /// # Errors
    ///
    /// Ends the pass.
    fn before(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        let _ = (root, info);
        Ok(())
    }

    /// Called after a pass with its result.
    ///
    /// # Errors
    ///
    /// Ends the pass.
    fn after(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        let _ = (root, info);
        Ok(())
    }

    /// Called with the input of a pass that failed after [`before`](Self::before), to
    /// end work begun in `before`.
    fn failed(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) {
        let _ = (root, info);
    }
}

/// Functions that a context calls around every pass; absent functions are skipped.
#[derive(Node)]
#[node(key = "transform.PassInstrument", kind = none, init = make_instrument, no_new)]
#[repr(C)]
pub struct PassInstrument {
    /// The name, for messages.
    pub name: Str,
    /// Called when a context is entered.
    #[node(repr = false)]
    pub on_enter: Option<Function>,
    /// Called when a context is left.
    #[node(repr = false)]
    pub on_exit: Option<Function>,
    /// Called with program and [`PassInfo`]; returns false to skip the pass.
    #[node(repr = false)]
    pub on_should_run: Option<Function>,
    /// Called with program and [`PassInfo`] before a pass.
    #[node(repr = false)]
    pub on_before_pass: Option<Function>,
    /// Called with program and [`PassInfo`] after a pass.
    #[node(repr = false)]
    pub on_after_pass: Option<Function>,
    /// Called with program and [`PassInfo`] if a pass ends with an error.
    #[node(repr = false)]
    pub on_failed_pass: Option<Function>,
}

/// Makes an instrument from functions.
#[export("transform.PassInstrument")]
fn make_instrument(
    name: Str,
    on_enter: Option<Function>,
    on_exit: Option<Function>,
    on_should_run: Option<Function>,
    on_before_pass: Option<Function>,
    on_after_pass: Option<Function>,
    on_failed_pass: Option<Function>,
) -> Ref<PassInstrument> {
    Ref::new(PassInstrument {
        name,
        on_enter,
        on_exit,
        on_should_run,
        on_before_pass,
        on_after_pass,
        on_failed_pass,
    })
}

/// A method of an instrument as a function of the core; the function owns the
/// instrument.
fn method<I: Instrument>(
    instrument: &Arc<I>,
    call: impl Fn(&I, &Ref<Obj>, &Ref<PassInfo>) -> Result<Value> + Send + Sync + 'static,
) -> Option<Function> {
    let run = move |instrument: &Arc<I>, arguments: &[Value]| match arguments {
        [root, info] => call(instrument, &root.extract()?, &info.extract()?),
        _ => Err(isoform::Error::type_error(format!(
            "a method of an instrument takes a program and a PassInfo, got {} arguments",
            arguments.len()
        ))),
    };
    Some(Function::with_content(Arc::clone(instrument), run))
}

impl PassInstrument {
    /// The instrument for contexts.
    pub fn of<I: Instrument>(instrument: I) -> Ref<PassInstrument> {
        let shared = Arc::new(instrument);
        let plain = |call: fn(&I) -> Result<()>| {
            let run = move |instrument: &Arc<I>, _: &[Value]| {
                call(instrument)?;
                Ok(Value::NONE)
            };
            Some(Function::with_content(Arc::clone(&shared), run))
        };
        Ref::new(PassInstrument {
            name: shared.name().into(),
            on_enter: plain(I::enter),
            on_exit: plain(I::exit),
            on_should_run: method(&shared, |instrument, root, info| {
                Ok(instrument.should_run(root, info)?.into())
            }),
            on_before_pass: method(&shared, |instrument, root, info| {
                instrument.before(root, info)?;
                Ok(Value::NONE)
            }),
            on_after_pass: method(&shared, |instrument, root, info| {
                instrument.after(root, info)?;
                Ok(Value::NONE)
            }),
            on_failed_pass: method(&shared, |instrument, root, info| {
                instrument.failed(root, info);
                Ok(Value::NONE)
            }),
        })
    }

    /// Returns the value passed to [`of`](Self::of), if the value is an `I`.
    pub fn content<I: Instrument>(&self) -> Option<&I> {
        let shared: &Arc<I> = self.on_before_pass.as_ref()?.content()?;
        Some(shared)
    }
}
