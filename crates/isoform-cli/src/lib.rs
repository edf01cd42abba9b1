//! The `isoform` command as a library: it takes a command line, and returns text and an
//! exit status.
//!
//! The command neither prints by itself nor ends the process, so tests and other
//! programs can run the command in their process:
//!
//! ```
//! let (mut out, mut err) = (Vec::new(), Vec::new());
//! let mut streams = isoform_cli::Streams::plain(&mut out, &mut err);
//! let status = isoform_cli::run(["isoform", "hash", "no-such-file.onnx"], &mut streams);
//! assert_eq!(status, 2);
//! assert!(String::from_utf8(err)?.starts_with("isoform: no-such-file.onnx: "));
//! # Ok::<(), std::string::FromUtf8Error>(())
//! ```
//!
//! `isoform-onnx` decides the meaning of a model, and `isoform` compares and prints
//! values; this crate is only the interface.
//!
//! Only models have names of nodes (`diff`) and a special listing (`show`).

mod args;
mod cache;
mod check;
mod clones;
mod config;
mod convert;
mod corpus;
mod dedup;
mod diff;
mod find;
mod git;
mod hash;
mod imports;
mod input;
mod man;
mod merge;
mod mlir;
mod model_args;
mod optimize;
mod output;
mod own;
pub mod pages;
mod parallel;
mod passes;
mod progress;
mod reduce;
mod scratch;
mod show;
mod store;
mod summary;
mod target;
mod terminal;
mod words;

use std::ffi::OsString;
use std::io;

use clap::{CommandFactory, FromArgMatches};

use crate::args::{Cli, Command as CommandArgs};
use crate::output::{Output, SUCCESS, TROUBLE, wants_color};
use crate::terminal::{ColorWhen, CutLines};

pub use crate::corpus::{IndexRequest, ModelInspector};
pub use crate::imports::RunOptions;
pub use crate::output::Streams;
pub use crate::own::Command;

/// Runs the command and returns its exit status.
///
/// `args` are the arguments of a process: the first is the name of the program. The
/// status is 0 for success, 1 if compared models differ, and 2 on error.
pub fn run<I>(args: I, streams: &mut Streams<'_>) -> u8
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    RunOptions::default().run(args, streams)
}

impl RunOptions<'_> {
    /// As [`run`].
    pub fn run<I>(&self, args: I, streams: &mut Streams<'_>) -> u8
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        #[cfg(feature = "remote")]
        isoform_remote::install();
        run_in(self, &args, streams)
    }
}

fn run_in(host: &RunOptions<'_>, args: &[OsString], streams: &mut Streams<'_>) -> u8 {
    let mut rest = args.to_vec();
    let mut modules = imports::take_imports(&mut rest);
    let parsed = parser(host).try_get_matches_from(&rest);
    let mut cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(message) => {
            let message = words::with_tip(message, host.name());
            return tell(&message, color_asked(args), streams);
        }
    };
    modules.append(&mut cli.common.import);
    let mut cut;
    let mut streams = Streams {
        out: &mut *streams.out,
        err: &mut *streams.err,
        ..*streams
    };
    if let Some(columns) = streams.columns
        && cli.cuts_lines()
    {
        cut = CutLines::new(streams.out, columns);
        streams.out = &mut cut;
    }
    let streams = &mut streams;
    let mut output = Output::new(streams, &cli.common);
    output.name = host.name();
    let result = run_parsed(&mut cli, host, &modules, &mut output).and_then(|()| output.flush());
    for note in cli.common.types.take_notes() {
        if !output.quiet {
            output.note(&note);
        }
    }
    let status = output.status;
    match result {
        Ok(()) => status,
        // The reader has seen enough, which is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
        Err(error) => {
            // If standard error is gone, the failure cannot be reported.
            let _ = writeln!(streams.err, "{}: standard output: {error}", host.name());
            TROUBLE
        }
    }
}

/// The parser of the command line.
fn parser(host: &RunOptions<'_>) -> clap::Command {
    match &host.name {
        Some(identity) => identity.apply(Cli::command()),
        None => Cli::command(),
    }
}

fn run_parsed(
    cli: &mut Cli,
    host: &RunOptions<'_>,
    modules: &[String],
    output: &mut Output<'_, '_>,
) -> io::Result<()> {
    match host.sources(&cli.command, cli.common.no_config) {
        Ok(types) => cli.common.types = types,
        Err((file, failure)) => return output.failed_file(&file, &failure),
    }
    if imports::load(host, modules, &cli.command, &cli.common.types, output)? {
        dispatch(cli, host, output)?;
    }
    Ok(())
}

fn dispatch(cli: &Cli, host: &RunOptions<'_>, output: &mut Output<'_, '_>) -> io::Result<()> {
    match &cli.command {
        CommandArgs::Hash(args) => hash::run(args, &cli.common, output),
        CommandArgs::Diff(args) => diff::folders::run(args, &cli.common, host, output),
        CommandArgs::Check(args) => check::run(args, &cli.common, output),
        CommandArgs::Merge(args) => merge::run(args, &cli.common, output),
        CommandArgs::Summary(args) => summary::run(args, &cli.common, output),
        CommandArgs::Show(args) => show::run(args, &cli.common, output),
        CommandArgs::Dedup(args) => dedup::run(args, &cli.common, output),
        CommandArgs::Clones(args) => clones::run(args, &cli.common, output),
        CommandArgs::Index(args) => corpus::index(args, &cli.common, host, output),
        CommandArgs::Stats(args) => corpus::stats(args, output),
        CommandArgs::Find(args) => corpus::find(args, &cli.common, output),
        CommandArgs::Convert(args) => convert::run(args, &cli.common, output),
        CommandArgs::Optimize(args) => optimize::optimize(args, &cli.common, host, output),
        CommandArgs::Extract(args) => optimize::extract(args, &cli.common, output),
        CommandArgs::Passes(_) => passes::list(output),
        CommandArgs::Run(args) => passes::run(args, &cli.common, output),
        CommandArgs::Bisect(args) => passes::bisect(args, &cli.common, output),
        CommandArgs::Reduce(args) => reduce::reduce(args, &cli.common, output),
        CommandArgs::Cache(args) => cache::run(args, &cli.common, output),
        CommandArgs::Store(args) => store::run(args, output),
        CommandArgs::Mlir(args) => mlir::run(args, output),
        CommandArgs::Git(args) => git::run(args, &cli.common, host, output),
        CommandArgs::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut parser(host), host.name(), &mut script);
            output.bytes(&script)
        }
        CommandArgs::Man(args) => man::run(args, parser(host), output),
    }
}

/// Prints help, the version, or an error in the command line.
fn tell(message: &clap::Error, color: ColorWhen, streams: &mut Streams<'_>) -> u8 {
    let trouble = message.use_stderr();
    let (stream, auto) = if trouble {
        (&mut *streams.err, streams.color_err)
    } else {
        (&mut *streams.out, streams.color_out)
    };
    let text = message.render();
    // A reader that went away, for example `head`, needs no more help.
    let _ = if wants_color(color, auto) {
        write!(stream, "{}", text.ansi())
    } else {
        write!(stream, "{text}")
    }
    .and_then(|()| stream.flush());
    if trouble { TROUBLE } else { SUCCESS }
}

/// The value of `--color` on a command line that does not parse.
fn color_asked(args: &[OsString]) -> ColorWhen {
    let mut asked = ColorWhen::Auto;
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let value = match arg.split_once('=') {
            Some(("--color", value)) => Some(value),
            None if arg == "--color" => args.next(),
            _ => None,
        };
        match value {
            Some("always") => asked = ColorWhen::Always,
            Some("never") => asked = ColorWhen::Never,
            _ => {}
        }
    }
    asked
}

// The examples of the page run: it needs programs of every kind.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-a-pass.md")]
struct WritingAPass;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/own-ir-command.md")]
struct OwnIrCommand;
