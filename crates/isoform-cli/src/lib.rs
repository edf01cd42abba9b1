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
mod convert;
mod corpus;
mod dedup;
mod diff;
mod find;
mod git;
mod hash;
mod imports;
mod input;
mod merge;
mod model_args;
mod optimize;
mod output;
pub mod pages;
mod parallel;
mod passes;
mod progress;
mod show;
mod store;
mod summary;
mod target;

use std::ffi::OsString;
use std::io;

use clap::{CommandFactory, Parser};

use crate::args::{Cli, ColorWhen, Command};
use crate::output::{Output, SUCCESS, TROUBLE, wants_color};

pub use crate::corpus::{IndexRequest, ModelInspector};
pub use crate::imports::RunOptions;
pub use crate::output::Streams;

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
        run_in(self, &args, streams)
    }
}

fn run_in(host: &RunOptions<'_>, args: &[OsString], streams: &mut Streams<'_>) -> u8 {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(message) => return tell(&message, color_asked(args), streams),
    };
    let mut output = Output::new(streams, &cli.common);
    let result = imports::load(host, &cli.common.import, args, &mut output)
        .and_then(|loaded| {
            if loaded {
                dispatch(&cli, host, &mut output)
            } else {
                Ok(())
            }
        })
        .and_then(|()| output.flush());
    let status = output.status;
    match result {
        Ok(()) => status,
        // The reader has seen enough, which is not an error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
        Err(error) => {
            // If standard error is gone, the failure cannot be reported.
            let _ = writeln!(streams.err, "isoform: standard output: {error}");
            TROUBLE
        }
    }
}

fn dispatch(cli: &Cli, host: &RunOptions<'_>, output: &mut Output<'_, '_>) -> io::Result<()> {
    match &cli.command {
        Command::Hash(args) => hash::run(args, &cli.common, output),
        Command::Diff(args) => diff::folders::run(args, &cli.common, host, output),
        Command::Check(args) => check::run(args, &cli.common, output),
        Command::Merge(args) => merge::run(args, &cli.common, output),
        Command::Summary(args) => summary::run(args, &cli.common, output),
        Command::Show(args) => show::run(args, &cli.common, output),
        Command::Dedup(args) => dedup::run(args, &cli.common, output),
        Command::Clones(args) => clones::run(args, &cli.common, output),
        Command::Index(args) => corpus::index(args, &cli.common, host, output),
        Command::Stats(args) => corpus::stats(args, output),
        Command::Find(args) => corpus::find(args, &cli.common, output),
        Command::Convert(args) => convert::run(args, &cli.common, output),
        Command::Optimize(args) => optimize::optimize(args, &cli.common, host, output),
        Command::Extract(args) => optimize::extract(args, &cli.common, output),
        Command::Passes(_) => passes::list(output),
        Command::Run(args) => passes::run(args, &cli.common, output),
        Command::Bisect(args) => passes::bisect(args, &cli.common, output),
        Command::Cache(args) => cache::run(args, &cli.common, output),
        Command::Store(args) => store::run(args, output),
        Command::Git(args) => git::run(args, &cli.common, host, output),
        Command::Completions(args) => {
            let mut script = Vec::new();
            clap_complete::generate(args.shell, &mut Cli::command(), "isoform", &mut script);
            output.bytes(&script)
        }
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
