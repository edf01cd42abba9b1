//! The command of the user as the check of a search.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use isoform::errors::ErrorKind;
use isoform::{Error, Result};

use super::Writable;
use super::args::ReduceArgs;
use super::process::{End, Interrupts, Streams, run};
use super::search::Verdict;
use crate::input::is_dash;
use crate::scratch::Folder;

/// The end of the command that counts as the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// An exit status; 128 and the number for a signal.
    Status(u8),
    Timeout,
}

pub(super) struct Check<'a> {
    args: &'a ReduceArgs,
    folder: Folder,
    /// The file of a candidate.
    file: PathBuf,
    interrupts: Interrupts,
    runs: usize,
}

impl<'a> Check<'a> {
    pub(super) fn new<P: Writable>(args: &'a ReduceArgs) -> Result<Check<'a>> {
        let folder = Folder::new()?;
        // The outputs of the command must not have the name of the model.
        let models = folder.path().join("model");
        fs::create_dir(&models)?;
        Ok(Check {
            args,
            file: models.join(name_of(&args.input).unwrap_or(OsStr::new(P::FILE))),
            folder,
            interrupts: Interrupts::watch(),
            runs: 0,
        })
    }

    /// How often the command was run.
    pub(super) fn runs(&self) -> usize {
        self.runs
    }

    /// The exit status after a signal, and 0 if there was none.
    pub(super) fn signal_status(&self) -> u8 {
        self.interrupts.status()
    }

    /// Finds out how the command fails for the whole program; None if a signal came first.
    pub(super) fn expected<P: Writable>(&mut self, whole: &P) -> Result<Option<Expected>> {
        let mut expected = None;
        if !is_dash(&self.args.input) {
            let input = self.args.input.clone();
            let (end, has_message) = self.run(&input)?;
            expected = self.failure(end, has_message, "the model")?;
            if expected.is_none() {
                return Ok(None);
            }
        }
        whole.save(&self.file)?;
        let file = self.file.clone();
        let (end, has_message) = self.run(&file)?;
        let Some(expected) = expected else {
            return self.failure(end, has_message, "the model");
        };
        match self.verdict(end, has_message, expected) {
            Verdict::Fails => Ok(Some(expected)),
            Verdict::Stopped => Ok(None),
            Verdict::Passes => Err(Error::value_error(format!(
                "the command fails for the model, but not in the same way for the model as \
                 `isoform` writes it: {}; the failure depends on something without influence on \
                 results, such as nodes that no output needs, or their order",
                described(end)
            ))),
        }
    }

    /// Judges a candidate.
    pub(super) fn judge<P: Writable>(
        &mut self,
        candidate: &P,
        expected: Expected,
    ) -> Result<Verdict> {
        if self.interrupts.status() != 0 {
            return Ok(Verdict::Stopped);
        }
        candidate.save(&self.file)?;
        let file = self.file.clone();
        let (end, has_message) = self.run(&file)?;
        Ok(self.verdict(end, has_message, expected))
    }

    fn verdict(&self, end: End, has_message: bool, expected: Expected) -> Verdict {
        let is_expected = match end {
            End::Interrupted => return Verdict::Stopped,
            End::Timeout => expected == Expected::Timeout,
            End::Status(status) => expected == Expected::Status(status),
        };
        if is_expected && has_message {
            Verdict::Fails
        } else {
            Verdict::Passes
        }
    }

    /// The failure of the whole program; None if a signal came first.
    fn failure(&self, end: End, has_message: bool, program: &str) -> Result<Option<Expected>> {
        let expected = match (end, self.args.status) {
            (End::Interrupted, _) => return Ok(None),
            (End::Status(status), Some(wanted)) if status == wanted => Expected::Status(status),
            (_, Some(wanted)) => {
                return Err(Error::value_error(format!(
                    "expected a command that ends with status {wanted} for {program}, as --status \
                     says, but {}",
                    described(end)
                )));
            }
            (End::Status(0), None) => {
                return Err(Error::value_error(format!(
                    "the command does not fail for {program}: {}; it has to fail, or write \
                     --status 0 for a command that succeeds if it finds the failure",
                    described(end)
                )));
            }
            (End::Status(status), None) => Expected::Status(status),
            (End::Timeout, None) => Expected::Timeout,
        };
        if !has_message {
            let text = self.args.message.as_deref().unwrap_or_default();
            return Err(Error::value_error(format!(
                "the command does not print '{text}' for {program}, as --message says; {}",
                described(end)
            )));
        }
        Ok(Some(expected))
    }

    /// Runs the command on a file; true if it printed the message, or if there is none.
    fn run(&mut self, file: &Path) -> Result<(End, bool)> {
        self.runs += 1;
        let words = words(&self.args.command, file);
        let streams = match self.args.message {
            Some(_) => Streams::kept_in(self.folder.path())?,
            None => Streams::dropped(),
        };
        let timeout = self.args.timeout.map(Duration::from_secs_f64);
        let end = run(&words, &streams, timeout, &self.interrupts).map_err(|error| {
            let name = words[0].display();
            let message = format!("the command {name} does not start: {error}");
            Error::new(ErrorKind::Value, message)
        })?;
        let has_message = match &self.args.message {
            Some(text) => streams.contain(text)?,
            None => true,
        };
        Ok((end, has_message))
    }
}

/// The name for files of candidates, which are not compressed; None for standard input.
fn name_of(input: &Path) -> Option<&OsStr> {
    let is_compressed = |name: &&OsStr| {
        let ending = Path::new(name).extension();
        ending.is_some_and(|ending| ending == "gz" || ending == "zst")
    };
    let name = input.file_name().filter(|_| !is_dash(input))?;
    if is_compressed(&name) {
        input.file_stem()
    } else {
        Some(name)
    }
}

fn described(end: End) -> String {
    match end {
        End::Status(status) => format!("it ended with status {status}"),
        End::Timeout => "it did not end in the time of --timeout".to_owned(),
        End::Interrupted => "a signal ended it".to_owned(),
    }
}

/// The words of the command, with the name of a file in place of `{}`, or else at the end.
fn words(command: &[OsString], file: &Path) -> Vec<OsString> {
    let mut is_named = false;
    let mut words = vec![command[0].clone()];
    for word in &command[1..] {
        let bytes = word.as_encoded_bytes();
        // A name that is not Unicode cannot hold the two characters in pieces.
        let parts: Option<Vec<&str>> = word.to_str().map(|text| text.split("{}").collect());
        match parts {
            Some(parts) if bytes.len() > 1 && parts.len() > 1 => {
                is_named = true;
                let mut made = OsString::new();
                for (at, part) in parts.into_iter().enumerate() {
                    if at > 0 {
                        made.push(file);
                    }
                    made.push(part);
                }
                words.push(made);
            }
            _ => words.push(word.clone()),
        }
    }
    if !is_named {
        words.push(file.into());
    }
    words
}
