//! Analyses: functions of a program or function. A context keeps their results until a
//! pass changes the object.

use std::sync::Arc;

use isoform::functions::{Function, global_function, list_functions, register_function};
use isoform::host::name_hint;
use isoform::{Error, Node, Obj, Ref, Result, Str, Value, export};

use super::context::PassContext;
use super::kept::Store;

/// An analysis in Rust, with a result of any type.
///
/// The result must depend on the object alone, not on other functions of the program:
/// the context keeps the result as long as the object is part of the program. An
/// analysis that reads several functions must be an analysis of the program.
///
/// ```
/// use isoform_ir::transform::{Analysis, AnalysisResults, ContextOptions, PassContext, PassContextRef};
/// use isoform::{Array, Obj, Node, Ref, Result};
///
/// /// The length of a name.
/// struct Length;
///
/// impl Analysis for Length {
///     type Output = usize;
///     const NAME: &'static str = "doc.length";
///
///     fn compute(object: &Ref<Obj>, _ctx: &Ref<PassContext>) -> Result<usize> {
///         Ok(object.type_info().key().len())
///     }
/// }
///
/// let ctx = ContextOptions::default().make()?;
/// ctx.within(|| {
///     let object = Ref::new(Obj {});
///     let length = ctx.analysis::<Length>(&object)?;
///     assert_eq!(*length, Obj::TYPE_KEY.len());
///     // The second time, it is the very same result.
///     assert!(std::sync::Arc::ptr_eq(&length, &ctx.analysis::<Length>(&object)?));
///     Ok(())
/// })?;
/// # Ok::<(), isoform::Error>(())
/// ```
pub trait Analysis: 'static {
    /// The result.
    type Output: Send + Sync + 'static;
    /// The name by which passes declare that they preserve the result.
    const NAME: &'static str;

    /// Computes the result for an object.
    ///
    /// # Errors
    ///
    /// Errors of the analysis; the context does not keep errors.
    fn compute(object: &Ref<Obj>, ctx: &Ref<PassContext>) -> Result<Self::Output>;
}

/// The prefix of the global functions that are analyses.
const PREFIX: &str = "analysis.";

impl PassContext {
    /// The object whose result is kept, and where. A pass over functions works on a copy of
    /// its program, which counts as the program itself until the pass changes it; what is
    /// found out about it afterwards is not kept.
    fn place(&self, object: &Ref<Obj>) -> Result<(Ref<Obj>, Option<&Store>)> {
        let (object, is_stable) = super::frames::original(object)?;
        let store = self.store().filter(|_| is_stable && self.keeps());
        Ok((object, store))
    }

    /// True if results can be dropped in time.
    fn keeps(&self) -> bool {
        self.is_entered() || super::frames::depth() > 0
    }
}

/// Results of analyses, which a context keeps.
pub trait AnalysisResults {
    /// Returns the kept result of an analysis for a program or function, or computes
    /// the result.
    ///
    /// The context keeps results until the context is left, or until a pass replaces
    /// the object without preserving the analysis. The default context keeps results
    /// while a pass runs. Once a function pass has changed its working copy of the
    /// program, every call computes the results for the copy again.
    ///
    /// # Errors
    ///
    /// Errors of the analysis; `TypeError` if another analysis has the same name.
    fn analysis<A: Analysis>(&self, object: &Ref<impl Node>) -> Result<Arc<A::Output>>;

    /// As [`analysis`](Self::analysis), for one that is registered under a name, in any
    /// language.
    ///
    /// # Errors
    ///
    /// Errors of the analysis; `ValueError` if none has the name.
    fn analysis_named(&self, name: &str, object: &Ref<Obj>) -> Result<Value>;
}

impl AnalysisResults for Ref<PassContext> {
    fn analysis<A: Analysis>(&self, object: &Ref<impl Node>) -> Result<Arc<A::Output>> {
        let (object, store) = self.place(object.as_object())?;
        let object = &object;
        if let Some(cached_result) = store.and_then(|store| store.find(A::NAME, object)) {
            return cached_result.downcast().map_err(|_| other_result(A::NAME));
        }
        let computed = A::compute(object, self);
        let computed = Arc::new(computed.map_err(|error| noted(error, A::NAME))?);
        match store {
            Some(store) => {
                let kept = store.keep(A::NAME, object, computed);
                kept.downcast().map_err(|_| other_result(A::NAME))
            }
            None => Ok(computed),
        }
    }

    fn analysis_named(&self, name: &str, object: &Ref<Obj>) -> Result<Value> {
        let (object, store) = self.place(object)?;
        let object = &object;
        if let Some(cached_result) = store.and_then(|store| store.find(name, object)) {
            let cached_result = cached_result
                .downcast::<Value>()
                .map_err(|_| other_result(name))?;
            return Ok((*cached_result).clone());
        }
        let function = global_function(&format!("{PREFIX}{name}")).map_err(|_| {
            let names = list_functions();
            let names = names.iter().filter_map(|name| name.strip_prefix(PREFIX));
            let hint = name_hint(name, names);
            Error::value_error(format!("no analysis is registered as '{name}'{hint}"))
        })?;
        let computed = function
            .call(&[object.into(), self.into()])
            .map_err(|error| noted(error, name))?;
        match store {
            Some(store) => {
                let kept = store
                    .keep(name, object, Arc::new(computed))
                    .downcast::<Value>()
                    .map_err(|_| other_result(name))?;
                Ok((*kept).clone())
            }
            None => Ok(computed),
        }
    }
}

fn noted(error: Error, name: &str) -> Error {
    error.noted(format!("in analysis '{name}'"))
}

fn other_result(name: &str) -> Error {
    Error::type_error(format!(
        "analysis '{name}': another analysis of this name has a result of another type"
    ))
}

/// Registers an analysis for all languages: a function of the object and the context.
///
/// # Errors
///
/// `ValueError` if the name is empty, or taken and `replace` is false.
pub fn register_analysis(name: &str, function: Function, replace: bool) -> Result<()> {
    if name.is_empty() || name == "*" {
        return Err(Error::value_error(format!(
            "expected the name of an analysis, got '{name}'"
        )));
    }
    register_function(&format!("{PREFIX}{name}"), function, replace)
}

/// Registers an analysis: a function of the object and the context.
#[export("passes.register_analysis")]
fn register_exported(
    name: &str,
    function: Function,
    #[default = false] replace: bool,
) -> Result<()> {
    register_analysis(name, function, replace)
}

/// The result of an analysis for a program or function.
#[export("transform.PassContext.analysis_named")]
fn analysis_named(this: &Ref<PassContext>, name: Str, object: &Ref<Obj>) -> Result<Value> {
    this.analysis_named(&name, object)
}

pub(super) fn register() -> Result<()> {
    isoform::register_functions![register_exported]?;
    isoform::register_methods! { PassContext: analysis_named = analysis_named }?;
    Ok(())
}
