//! Words of other programs in place of commands, and what to write instead.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The words that people try first, and the command for the purpose.
const OTHER_WORDS: [(&[&str], &str); 14] = [
    (
        &[
            "cat",
            "dump",
            "inspect",
            "list-nodes",
            "print",
            "text",
            "view",
        ],
        "show",
    ),
    (&["cmp", "compare", "equal", "equals", "same"], "diff"),
    (
        &["checksum", "digest", "fingerprint", "id", "sha", "sha256"],
        "hash",
    ),
    (
        &[
            "minimize", "opt", "reduce", "shrink", "simplify", "slim", "sim",
        ],
        "optimize",
    ),
    (
        &["export", "save", "translate", "transform-format"],
        "convert",
    ),
    (&["apply", "pass", "transform"], "run"),
    (&["list-passes", "pipeline"], "passes"),
    (&["info", "size", "count"], "summary"),
    (&["duplicates", "dedupe", "fdupes", "uniq"], "dedup"),
    (&["repeats", "blocks", "layers"], "clones"),
    (&["cut", "extract-model", "slice", "subgraph"], "extract"),
    (&["lint", "verify", "validate"], "check"),
    (&["completion", "complete"], "completions"),
    (&["grep", "search", "lookup"], "find"),
];

/// The error of a wrong command line, with a tip for a command that has another name here.
pub(crate) fn with_tip(mut error: clap::Error, name: &str) -> clap::Error {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let word = word.to_lowercase();
    let tip = if word == "version" {
        format!("`{name} --version` prints the version")
    } else {
        let known = OTHER_WORDS
            .iter()
            .find(|(words, _)| words.contains(&&*word));
        match known {
            Some((_, command)) => {
                format!("`{name} {command}` does this, see `{name} {command} --help`")
            }
            None => return error,
        }
    };
    // Guesses by spelling would only be noise then.
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![StyledStr::from(tip)]),
    );
    error
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn other_words_lead_to_commands_and_are_none() {
        let cli = Cli::command();
        let is_command = |word: &str| cli.get_subcommands().any(|found| found.get_name() == word);
        for (words, command) in OTHER_WORDS {
            assert!(is_command(command), "{command}");
            for word in words {
                assert!(!is_command(word), "{word}");
            }
        }
    }
}
