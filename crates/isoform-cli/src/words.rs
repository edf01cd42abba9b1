//! Words of other programs in place of commands, and what to write instead.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The words that people try first, and the command for the purpose.
const OTHER_WORDS: [(&[&str], &str); 15] = [
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
        &["minimize", "opt", "shrink", "simplify", "slim", "sim"],
        "optimize",
    ),
    (&["creduce", "ddmin", "delta", "reducer"], "reduce"),
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
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.to_lowercase()),
        _ => None,
    };
    if error.kind() == ErrorKind::InvalidValue {
        let option = context(ContextKind::InvalidArg).unwrap_or_default();
        let value = context(ContextKind::InvalidValue);
        if option.starts_with("--format") && value.as_deref() == Some("html") {
            suggest(&mut error, "`--html FILE` writes a page".to_owned());
        }
        return error;
    }
    if error.kind() != ErrorKind::InvalidSubcommand {
        return error;
    }
    let Some(word) = context(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let tip = if word == "version" {
        format!("`{name} --version` prints the version")
    } else if word.contains(['.', '/', '\\']) {
        format!(
            "a command comes before files: `{name} diff LEFT RIGHT` compares two, and `{name} show FILE` prints one"
        )
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
    suggest(&mut error, tip);
    error
}

/// Guesses by spelling would only be noise beside a tip.
fn suggest(error: &mut clap::Error, tip: String) {
    error.remove(ContextKind::SuggestedSubcommand);
    error.remove(ContextKind::SuggestedValue);
    let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
    error.insert(ContextKind::Suggested, tip);
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
