//! Checks programs after every pass.

use isoform::functions::Function;
use isoform::objects::verify;
use isoform::{Error, Obj, Ref, Result, export};

use crate::transform::info::PassInfo;
use crate::transform::instrument::{Instrument, PassInstrument};
use crate::transform::root::Check;

type CheckFn = dyn Fn(&Ref<Obj>) -> Result<()> + Send + Sync;

/// Checks the program after every pass, to find the pass that breaks the program.
///
/// ```
/// use isoform_ir::transform::PassContextRef;
/// use isoform_ir::transform::PassRef;
/// use isoform_ir::transform::instruments::Verifying;
/// use isoform_ir::transform::{ContextOptions, make_pass};
/// use isoform::{Error, Obj, Ref};
///
/// isoform_ir::transform::register()?;
/// let strict = Verifying::by(|_root| Err(Error::value_error("it has no functions")));
/// let ctx = ContextOptions::default().instrument(&strict).make()?;
/// let result = ctx.within(|| make_pass("PrintIR", [])?.run(&Ref::new(Obj {})));
/// let message = result.expect_err("it is refused").to_string();
/// assert!(message.starts_with("ValueError: after pass 'PrintIR': it has no functions"));
/// # Ok::<(), isoform::Error>(())
/// ```
pub struct Verifying(Option<Box<CheckFn>>);

impl Verifying {
    /// Returns an instrument that runs the verifiers of types on the whole program, and
    /// [`Check`].
    pub fn instrument() -> Ref<PassInstrument> {
        PassInstrument::of(Verifying(None))
    }

    /// Returns an instrument that runs a check.
    pub fn by(
        check: impl Fn(&Ref<Obj>) -> Result<()> + Send + Sync + 'static,
    ) -> Ref<PassInstrument> {
        PassInstrument::of(Verifying(Some(Box::new(check))))
    }

    fn check(&self, root: &Ref<Obj>) -> Result<()> {
        if let Some(check) = &self.0 {
            return check(root);
        }
        if let Some((path, error)) = verify(root, &())?.into_iter().next() {
            return Err(match error.path() {
                Some(_) => error,
                None => error.at(path),
            });
        }
        match root.implements_nearest::<dyn Check>() {
            Some(seen) => seen.check(),
            None => Ok(()),
        }
    }
}

impl Instrument for Verifying {
    fn name(&self) -> String {
        "VerifyInstrument".to_owned()
    }

    fn after(&self, root: &Ref<Obj>, info: &Ref<PassInfo>) -> Result<()> {
        self.check(root)
            .map_err(|error: Error| error.in_context(format_args!("after pass '{}'", info.name)))
    }
}

/// Makes an instrument that checks programs after each pass: by a function, or by the
/// verifiers of types.
#[export("instrument.verifying")]
fn verifying_exported(check: Option<Function>) -> Ref<PassInstrument> {
    match check {
        None => Verifying::instrument(),
        Some(check) => Verifying::by(move |root| check.call(&[root.into()]).map(drop)),
    }
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![verifying_exported]
}
