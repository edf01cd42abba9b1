//! Optimisation as a pass, for pipelines and other languages.

use std::sync::{Mutex, PoisonError};

use isoform::functions::Function;
use isoform::{Array, Error, Ref, Str, Value};
use isoform_ir::transform::{ModulePass, PassContext, PassInfo, register_pass};

use super::{Fold, OptimizeOptions};
use crate::ir::Program;

/// The name of the pass.
const NAME: &str = "onnx.Simplify";

/// Registers the pass `onnx.Simplify`, which works like [`OptimizeOptions::optimize`].
/// The options have the names from [`OptimizeOptions`]; `fold` is `"none"`, `"exact"`
/// or `"all"`.
///
/// ```
/// use isoform_ir::transform::make_pass;
///
/// isoform_onnx::optimize::register()?;
/// let pass = make_pass("onnx.Simplify", [("fuse", true.into())])?;
/// assert_eq!(&*pass.info.name, "onnx.Simplify");
/// # Ok::<(), isoform::Error>(())
/// ```
///
/// # Errors
///
/// `ValueError` if another pass has the name.
pub fn register() -> isoform::Result<()> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*done {
        let factory = Function::typed(make)
            .with_parameters(&["fold", "fuse", "max_constant", "only", "without"])
            .with_default(0, "exact")
            .with_default(1, false)
            .with_default(2, Value::NONE)
            .with_default(3, Value::NONE)
            .with_default(4, Array::<Str>::default())
            .with_doc(DOC);
        register_pass(NAME, factory, false)?;
        *done = true;
    }
    Ok(())
}

const DOC: &str = "Makes an ONNX model smaller without changing what it computes.\n\n\
    Every bit of every result stays, unless fold is \"all\" or fuse is true. Constants of up to \
    max_constant bytes are computed; only and without choose among the rules.";

impl Fold {
    /// The way of folding with a name: `none`, `exact` or `all`.
    ///
    /// # Errors
    ///
    /// `ValueError` for any other name.
    pub fn from_name(name: &str) -> isoform::Result<Fold> {
        match name {
            "none" => Ok(Fold::None),
            "exact" => Ok(Fold::Exact),
            "all" => Ok(Fold::All),
            _ => Err(Error::value_error(format!(
                "fold: expected 'none', 'exact' or 'all', got '{name}'"
            ))),
        }
    }
}

fn make(
    fold: Str,
    fuse: bool,
    max_constant: Option<i64>,
    only: Option<Array<Str>>,
    without: Array<Str>,
) -> isoform::Result<Ref<ModulePass>> {
    let names = |names: &Array<Str>| -> Vec<String> { names.iter().map(Str::to_string).collect() };
    let mut options = OptimizeOptions::default()
        .fold(Fold::from_name(&fold)?)
        .fuse(fuse)
        .without(names(&without));
    if let Some(bytes) = max_constant {
        let bytes = u64::try_from(bytes).map_err(|_| {
            Error::value_error(format!(
                "max_constant: expected a number of bytes from 0, got {bytes}"
            ))
        })?;
        options = options.max_constant(bytes);
    }
    if let Some(only) = &only {
        options = options.only(names(only));
    }
    let run =
        move |program: Ref<Program>, _: &Ref<PassContext>| Ok(options.optimize(&program)?.program);
    Ok(ModulePass::new(&PassInfo::new(1, NAME), run))
}
