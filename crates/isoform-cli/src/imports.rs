//! The program that hosts the command, for example Python: modules for `--import`, a runtime
//! of models, Ray.
//!
//! This crate runs no Python. Whoever embeds the command says how a module is imported.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;

use isoform_corpus::UpdateReport;
use isoform_onnx::verify::Runner;

use crate::corpus::IndexRequest;
use crate::output::{Failure, Output};

type FindRunner<'a> = dyn Fn() -> Option<Box<dyn Runner>> + 'a;
type Import<'a> = dyn Fn(&str) -> Result<(), String> + 'a;
type RayIndex<'a> = dyn Fn(&IndexRequest) -> Result<UpdateReport, String> + 'a;

/// The settings of the command for programs that embed it.
///
/// ```
/// use std::cell::RefCell;
/// use isoform_cli::{RunOptions, Streams};
///
/// let imported = RefCell::new(Vec::new());
/// let options = RunOptions::default().import(|module| {
///     imported.borrow_mut().push(module.to_owned());
///     Ok(())
/// });
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let mut streams = Streams::plain(&mut out, &mut err);
/// let status = options.run(["isoform", "passes", "--import", "my_passes"], &mut streams);
/// assert_eq!((status, &*imported.borrow()), (0, &vec!["my_passes".to_owned()]));
/// ```
#[derive(Default)]
pub struct RunOptions<'a> {
    import: Option<Box<Import<'a>>>,
    runner: Option<Box<FindRunner<'a>>>,
    ray: Option<Box<RayIndex<'a>>>,
    program: Vec<OsString>,
}

impl<'a> RunOptions<'a> {
    /// Sets the function that imports a module for `--import`, given the module's name
    /// or file.
    ///
    /// An error is the text for the user: one line, followed by optional further lines,
    /// for example a traceback. Without the function, the option is an error.
    #[must_use]
    pub fn import(mut self, import: impl Fn(&str) -> Result<(), String> + 'a) -> Self {
        self.import = Some(Box::new(import));
        self
    }

    /// Sets the function that finds a runtime for `optimize --verify` and `diff --run`. The
    /// function is called only for these, and returns None if no runtime is installed.
    ///
    /// Without the function, or if the runtime cannot run the models, models run with
    /// [`Evaluator`](isoform_onnx::verify::Evaluator).
    #[must_use]
    pub fn runtime(mut self, find: impl Fn() -> Option<Box<dyn Runner>> + 'a) -> Self {
        self.runner = Some(Box::new(find));
        self
    }

    /// Sets the function that makes an index with a Ray cluster, for `index --engine ray`.
    ///
    /// An error is the text for the user, as that of [`import`](RunOptions::import). Without
    /// the function, the engine is an error.
    #[must_use]
    pub fn ray(
        mut self,
        index: impl Fn(&IndexRequest) -> Result<UpdateReport, String> + 'a,
    ) -> Self {
        self.ray = Some(Box::new(index));
        self
    }

    /// Sets the words of the command line by which configured programs call this command,
    /// for example the words of `python -m isoform`.
    ///
    /// The default is the path of the running program.
    #[must_use]
    pub fn program<I>(mut self, words: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.program = words.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn program_words(&self) -> &[OsString] {
        &self.program
    }

    pub(crate) fn runner(&self) -> Option<Box<dyn Runner>> {
        self.runner.as_ref().and_then(|find| find())
    }

    pub(crate) fn index_with_ray(&self, request: &IndexRequest) -> Result<UpdateReport, Failure> {
        match &self.ray {
            Some(index) => index(request).map_err(Failure::of_text),
            None => Err(NO_RAY.into()),
        }
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("import", &self.import.is_some())
            .field("runtime", &self.runner.is_some())
            .field("ray", &self.ray.is_some())
            .field("program", &self.program)
            .finish()
    }
}

const NO_HOST: &str = "this program runs no Python; use the command of the Python package, \
                       `python -m isoform`, to import modules";

const NO_RAY: &str = "this program runs no Python, which Ray needs; use the command of the Python \
                      package, `python -m isoform index --engine ray`";

const TWO_PLACES: &str = "the option is given before and after the command; give it in one place";

/// Imports modules in order; false if one of them failed, which has been reported.
///
/// `args` is the whole command line.
pub(crate) fn load(
    host: &RunOptions<'_>,
    modules: &[String],
    args: &[OsString],
    output: &mut Output<'_, '_>,
) -> io::Result<bool> {
    // The parser keeps only the values after the command.
    let arguments = args
        .iter()
        .filter_map(|arg| arg.to_str())
        .take_while(|arg| *arg != "--");
    let count = arguments.filter(|arg| *arg == "--import" || arg.starts_with("--import="));
    if count.count() > modules.len() {
        output.failed_file(Path::new("--import"), &TWO_PLACES.into())?;
        return Ok(false);
    }
    for module in modules {
        let imported = match &host.import {
            Some(import) => import(module).map_err(Failure::of_text),
            None => Err(NO_HOST.into()),
        };
        if let Err(failure) = imported {
            let option = format!("--import {module}");
            output.failed_file(Path::new(&option), &failure)?;
            return Ok(false);
        }
    }
    Ok(true)
}
