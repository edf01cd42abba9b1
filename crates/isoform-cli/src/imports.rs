//! The program that hosts the command, for example Python: modules for `--import`, unknown
//! types, a runtime of models, Ray.
//!
//! This crate runs no Python. Whoever embeds the command says how a module is imported.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use isoform_corpus::UpdateReport;
use isoform_onnx::verify::Runner;

use crate::args::Command;
use crate::config;
use crate::corpus::IndexRequest;
use crate::git::args::GitCommand;
use crate::input::types::{Sources, State, TypeSources};
use crate::output::{Failure, Output};
use crate::own::Identity;

type FindRunner<'a> = dyn Fn() -> Option<Box<dyn Runner>> + 'a;
/// Imports a module.
pub(crate) type Import = Arc<dyn Fn(&str, &Path) -> Result<(), String> + Send + Sync>;
/// Searches for types, and returns notes.
pub(crate) type Find = Arc<dyn Fn(&[String]) -> Vec<String> + Send + Sync>;
/// Registers types.
pub(crate) type Register = fn() -> isoform::Result<()>;
type RayIndex<'a> = dyn Fn(&IndexRequest) -> Result<UpdateReport, String> + 'a;

/// The settings of the command for programs that embed it.
///
/// ```
/// use isoform_cli::{RunOptions, Streams};
///
/// let options = RunOptions::default().import(|module, _folder| match module {
///     "my_passes" => Ok(()),
///     _ => Err(format!("there is no module {module}")),
/// });
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let mut streams = Streams::plain(&mut out, &mut err);
/// assert_eq!(options.run(["isoform", "passes", "--import", "my_passes"], &mut streams), 0);
/// assert_eq!(options.run(["isoform", "passes", "--import", "no_passes"], &mut streams), 2);
/// assert_eq!(err, b"isoform: --import no_passes: there is no module no_passes\n");
/// ```
#[derive(Default)]
pub struct RunOptions<'a> {
    import: Option<Import>,
    find: Option<Find>,
    pub(crate) register: Vec<Register>,
    runner: Option<Box<FindRunner<'a>>>,
    ray: Option<Box<RayIndex<'a>>>,
    program: Vec<OsString>,
    pub(crate) name: Option<Identity>,
}

impl<'a> RunOptions<'a> {
    /// Sets the function that imports a module for `--import` and for `pyproject.toml`, given
    /// the module's name or file, and the folder where it is searched for, too.
    ///
    /// An error is the text for the user: one line, followed by optional further lines,
    /// for example a traceback. Without the function, the option is an error.
    #[must_use]
    pub fn import(
        mut self,
        import: impl Fn(&str, &Path) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.import = Some(Arc::new(import));
        self
    }

    /// Sets the function that is called with the keys of unknown types of a file, and may
    /// register them. It returns notes for the user, each in one line.
    ///
    /// A key is searched for once in a run, on whatever thread reads the file.
    #[must_use]
    pub fn find_types(
        mut self,
        find: impl Fn(&[String]) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.find = Some(Arc::new(find));
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

    /// The name of the command.
    pub(crate) fn name(&self) -> &str {
        let name = self.name.as_ref();
        name.map_or("isoform", |identity| identity.name)
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
            .field("find_types", &self.find.is_some())
            .field("register", &self.register.len())
            .field("runtime", &self.runner.is_some())
            .field("ray", &self.ray.is_some())
            .field("program", &self.program)
            .finish()
    }
}

const NO_HOST: &str = "this program runs no Python; use the command of the Python package, \
                       `python -m isoform`, to import modules";

const OWN_TYPES: &str = "this program runs no Python, and knows the node types and passes that \
                         it registers in Rust";

const NO_RAY: &str = "this program runs no Python, which Ray needs; use the command of the Python \
                      package, `python -m isoform index --engine ray`";

/// Takes the options `--import` out of a command line, in order, wherever they are: the
/// parser would keep only those after the command.
pub(crate) fn take_imports(args: &mut Vec<OsString>) -> Vec<String> {
    let mut modules = Vec::new();
    let mut position = 1;
    while let Some(arg) = args.get(position) {
        let arg = arg.to_str().unwrap_or_default();
        if arg == "--" {
            break;
        }
        if let Some(module) = arg.strip_prefix("--import=") {
            modules.push(module.to_owned());
            args.remove(position);
            continue;
        }
        let value = args.get(position + 1).and_then(|value| value.to_str());
        match value {
            Some(value) if arg == "--import" && !value.starts_with('-') => {
                modules.push(value.to_owned());
                args.drain(position..position + 2);
            }
            _ => position += 1,
        }
    }
    modules
}

impl RunOptions<'_> {
    /// The origin of unknown types for a command, whose settings are read.
    ///
    /// # Errors
    ///
    /// A file of settings, and why it cannot be used.
    pub(crate) fn sources(
        &self,
        command: &Command,
        no_config: bool,
    ) -> Result<TypeSources, (std::path::PathBuf, Failure)> {
        let mut modules = Vec::new();
        if !no_config && trusts_folder(command) {
            let folder = std::env::current_dir();
            modules = folder.map_or_else(|_| Ok(Vec::new()), |folder| config::modules(&folder))?;
        }
        Ok(TypeSources::new(Sources {
            import: self.import.clone(),
            find: self.find.clone().filter(|_| !no_config),
            is_own: !self.register.is_empty(),
            state: Mutex::new(State {
                modules,
                ..State::default()
            }),
        }))
    }
}

/// True if a command may run what the settings of the current folder name. Git calls its
/// drivers by itself, also in repositories that nobody has looked at yet.
fn trusts_folder(command: &Command) -> bool {
    match command {
        Command::Git(git) => !matches!(
            git.command,
            GitCommand::Textconv(_) | GitCommand::MergeDriver(_)
        ),
        Command::Completions(_) | Command::Man(_) => false,
        _ => true,
    }
}

/// Imports modules in order, then those of the settings if the command uses passes; false if
/// one of them failed, which has been reported.
pub(crate) fn load(
    host: &RunOptions<'_>,
    modules: &[String],
    command: &Command,
    types: &TypeSources,
    output: &mut Output<'_, '_>,
) -> io::Result<bool> {
    for register in &host.register {
        if let Err(error) = register() {
            let failure = Failure::of_text(error.message_with_path());
            output.failed_file(Path::new("types of this program"), &failure)?;
            return Ok(false);
        }
    }
    for module in modules {
        let imported = match &host.import {
            Some(import) => import(module, Path::new(".")).map_err(Failure::of_text),
            None if host.register.is_empty() => Err(NO_HOST.into()),
            None => Err(OWN_TYPES.into()),
        };
        if let Err(failure) = imported {
            let option = format!("--import {module}");
            output.failed_file(Path::new(&option), &failure)?;
            return Ok(false);
        }
    }
    let uses_passes = matches!(
        command,
        Command::Run(_) | Command::Bisect(_) | Command::Passes(_)
    );
    if uses_passes && let Err(failure) = types.import_all() {
        output.failed_file(Path::new("pyproject.toml"), &failure)?;
        return Ok(false);
    }
    Ok(true)
}
