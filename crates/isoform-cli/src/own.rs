//! A command for your own IR: the same command under another name, which knows other types.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::StyledStr;

use crate::imports::{Register, RunOptions};
use crate::output::Streams;

/// A command with the node types and passes of a program.
///
/// Every command of `isoform` works for these types: `show`, `diff`, `hash`, `convert`, `run`
/// and so on.
///
/// ```
/// use isoform::{Node, Obj, Ref};
/// use isoform_cli::{Command, Streams};
///
/// /// A sum.
/// #[derive(Node)]
/// #[node(key = "mycc.Add")]
/// #[repr(C)]
/// pub struct Add {
///     /// The first part.
///     pub lhs: Ref<Obj>,
///     /// The second part.
///     pub rhs: Ref<Obj>,
/// }
///
/// fn register() -> isoform::Result<()> {
///     isoform::types::register::<Add>()?;
///     Ok(()) // register passes here, too
/// }
///
/// // fn main() -> std::process::ExitCode { command().run() }
/// fn command() -> Command {
///     Command::new("mycc").version("1.2.0").register(register)
/// }
///
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let mut streams = Streams::plain(&mut out, &mut err);
/// assert_eq!(command().run_in(["mycc", "--version"], &mut streams), 0);
/// assert_eq!(out, b"mycc 1.2.0\n");
/// ```
#[derive(Debug)]
pub struct Command {
    options: RunOptions<'static>,
}

impl Command {
    /// A command of this name, which help and messages mention.
    pub fn new(name: &'static str) -> Self {
        let mut options = RunOptions::default();
        options.name = Some(Identity {
            name,
            version: concat!("(isoform ", env!("CARGO_PKG_VERSION"), ")"),
            about: None,
        });
        Command { options }
    }

    /// Sets the version that `--version` prints, by default that of isoform.
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        if let Some(identity) = &mut self.options.name {
            identity.version = version;
        }
        self
    }

    /// Sets the first sentence of `--help`.
    #[must_use]
    pub fn about(mut self, about: &str) -> Self {
        if let Some(identity) = &mut self.options.name {
            identity.about = Some(about.to_owned());
        }
        self
    }

    /// Adds a function that registers node types and passes; it is called once, before
    /// files are read. An error ends the command with status 2.
    #[must_use]
    pub fn register(mut self, register: fn() -> isoform::Result<()>) -> Self {
        let register: Register = register;
        self.options.register.push(register);
        self
    }

    /// Runs the command with the arguments, standard output and standard error of the
    /// process. The status is that of [`run`](crate::run).
    pub fn run(&self) -> ExitCode {
        Streams::with_standard(|streams| {
            ExitCode::from(self.options.run(std::env::args_os(), streams))
        })
    }

    /// Runs the command with these arguments, the first of which is the name of the
    /// program, and with these streams; for tests.
    pub fn run_in<I>(&self, args: I, streams: &mut Streams<'_>) -> u8
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.options.run(args, streams)
    }
}

/// How the second paragraph of the help of `isoform` begins.
const MODELS_FIRST: &str = "A file is an ONNX model, or any value of the library as a JSON graph, \
                            as text or in the binary form, or named tensors as";
const OWN_FIRST: &str = "A file is a program as text, as a JSON graph or in the binary form, and \
                         also an ONNX model, or named tensors as";

/// The name of a command, with what help says about it.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) name: &'static str,
    version: &'static str,
    about: Option<String>,
}

impl Identity {
    /// The parser of the command line under this name.
    pub(crate) fn apply(&self, command: clap::Command) -> clap::Command {
        let command = self.renamed(command);
        let command = match &self.about {
            Some(about) => {
                let long = command.get_long_about().map(ToString::to_string);
                // The first paragraph says what the command is for, and the second one begins
                // with models, which come second here.
                let long = long.unwrap_or_default();
                let (_, rest) = long.split_once("\n\n").unwrap_or_default();
                let rest = rest.replacen(MODELS_FIRST, OWN_FIRST, 1);
                command
                    .about(about.clone())
                    .long_about(format!("{about}\n\n{rest}"))
            }
            None => command,
        };
        command
            .name(self.name)
            .bin_name(self.name)
            .version(self.version)
    }

    /// The texts of help, which show command lines, with this name.
    fn renamed(&self, mut command: clap::Command) -> clap::Command {
        if let Some(text) = command.get_after_help().map(|text| self.text(text)) {
            command = command.after_help(text);
        }
        if let Some(text) = command.get_about().map(|text| self.text(text)) {
            command = command.about(text);
        }
        if let Some(text) = command.get_long_about().map(|text| self.text(text)) {
            command = command.long_about(text);
        }
        command = command.mut_args(|mut arg| {
            if let Some(text) = arg.get_help().map(|text| self.text(text)) {
                arg = arg.help(text);
            }
            if let Some(text) = arg.get_long_help().map(|text| self.text(text)) {
                arg = arg.long_help(text);
            }
            arg
        });
        command.mut_subcommands(|inner| self.renamed(inner))
    }

    fn text(&self, text: &StyledStr) -> String {
        let text = text.to_string();
        let mut out = String::with_capacity(text.len());
        let mut rest = &*text;
        while let Some(at) = rest.find("isoform ") {
            let (before, found) = rest.split_at(at);
            out.push_str(before);
            // The command of the Python package stays what it is, and so do words that end like
            // the name.
            let is_word = !out.ends_with("-m ") && !out.ends_with(|c: char| c.is_alphanumeric());
            out.push_str(if is_word { self.name } else { "isoform" });
            rest = &found["isoform".len()..];
        }
        out + rest
    }
}
