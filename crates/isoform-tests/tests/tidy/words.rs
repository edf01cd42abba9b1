//! Rules about words: prose reads like that of a native writer.
//!
//! The rules look at Markdown pages, at comments of Rust and Python, at docstrings and
//! at the help of the command. Code inside of prose is left out.

use crate::repo::Repo;
use crate::{Finding, assert_found, enforce};

/// A phrase that a native writer would not use in technical prose.
struct Phrase {
    words: &'static str,
    instead: &'static str,
    /// Longer phrases around it that are fine.
    except: &'static [&'static str],
}

const fn phrase(words: &'static str, instead: &'static str) -> Phrase {
    Phrase {
        words,
        instead,
        except: &[],
    }
}

const PHRASES: &[Phrase] = &[
    phrase("anew", "again"),
    phrase("answers", "returns, reports"),
    phrase("are none", "are not, there are no"),
    phrase("as good as none", "the same as unset"),
    phrase("behind", "after, below, following"),
    phrase("give back", "return"),
    phrase("gives back", "returns"),
    phrase("gone over", "traversed"),
    phrase("goes over", "traverses"),
    phrase("in front of", "before"),
    Phrase {
        words: "is no",
        instead: "is not a, there is no",
        except: &[
            "there is no",
            "is no longer",
            "is no more than",
            "is no deeper",
        ],
    },
    Phrase {
        words: "is none",
        instead: "is not, there is no",
        except: &["there is none"],
    },
    phrase("knows nothing", "does not depend on, ignores"),
    phrase("of one's own", "custom, your own"),
    phrase("one's own", "your own"),
    phrase("put aside", "saved"),
    phrase("play no part", "are ignored"),
    phrase("plays no part", "is ignored"),
    phrase("say no", "reject"),
    phrase("says no", "rejects"),
    phrase("says the rest", "has the details"),
    phrase("spares", "avoids, saves"),
    phrase("stand in", "are in, replace"),
    phrase("stands at", "is at, occurs at"),
    phrase("stands in", "is in, replaces"),
    phrase("stands there", "is there"),
    phrase("takes back", "undoes, overrides"),
    phrase("trouble", "error"),
];

/// First words of a doc comment, and a better beginning.
const BEGINNINGS: &[(&str, &str)] = &[
    (
        "What",
        "begin with the thing itself: `The number of …`, `Returns …`",
    ),
    ("Whether", "begin with `True if …` or `Returns whether …`"),
];

/// Files and folders with prose that has not been rewritten yet. An entry without
/// findings is an error itself, so the list can only shrink.
const NOT_REWRITTEN: &[&str] = &[];

/// Lines of prose that belong together, with their numbers.
struct Block {
    lines: Vec<(usize, String)>,
    /// Its first word begins the documentation of an item.
    documents: bool,
}

/// Splits the prose of a file into blocks.
fn prose(path: &str, text: &str) -> Vec<Block> {
    let mut blocks = Blocks::default();
    if path.ends_with(".md") {
        for (index, line) in text.lines().enumerate() {
            blocks.line(index + 1, line.trim(), false);
            // Every line of a page is a separate sentence.
            blocks.end();
        }
    } else if path.ends_with("isoform-cli/src/args.rs") {
        // Its strings are texts of help.
        for (index, line) in text.lines().enumerate() {
            let (comment, documents) = rust_comment(line).unwrap_or((line.trim(), false));
            if comment == line.trim() {
                blocks.end();
            }
            blocks.line(index + 1, comment, documents);
        }
    } else if path.ends_with(".rs") {
        for (index, line) in text.lines().enumerate() {
            match rust_comment(line) {
                Some((comment, documents)) => blocks.line(index + 1, comment, documents),
                None => blocks.end(),
            }
        }
    } else if path.ends_with(".py") {
        python_prose(text, &mut blocks);
    }
    blocks.end();
    blocks.done
}

/// The text of a comment line, and whether it documents an item.
fn rust_comment(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start();
    for (mark, documents) in [("///", true), ("//!", true), ("//", false)] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (rest.is_empty() || rest.starts_with(' ')).then(|| (rest.trim(), documents));
        }
    }
    None
}

fn python_prose(text: &str, blocks: &mut Blocks) {
    const QUOTES: &str = "\"\"\"";
    let (mut inside, mut in_example) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let number = index + 1;
        if inside {
            let end = line.find(QUOTES);
            // The output of an example goes on to the next empty line.
            in_example = line.starts_with(">>>") || (in_example && !line.is_empty());
            if in_example && end.is_none() {
                continue;
            }
            blocks.line(number, &line[..end.unwrap_or(line.len())], true);
            inside = end.is_none();
            if !inside {
                blocks.end();
            }
        } else if let Some(comment) = line.strip_prefix('#') {
            blocks.line(number, comment.trim(), false);
        } else {
            blocks.end();
            let Some(rest) = line.trim_start_matches('r').strip_prefix(QUOTES) else {
                continue;
            };
            let end = rest.find(QUOTES);
            blocks.line(number, &rest[..end.unwrap_or(rest.len())], true);
            inside = end.is_none();
        }
    }
}

/// Collects lines, and leaves code out.
#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    open: Option<Block>,
    in_fence: bool,
}

impl Blocks {
    fn line(&mut self, number: usize, text: &str, documents: bool) {
        if text.starts_with("```") {
            self.in_fence = !self.in_fence;
            return;
        }
        if self.in_fence {
            return;
        }
        let block = self.open.get_or_insert(Block {
            lines: Vec::new(),
            documents,
        });
        block.lines.push((number, without_code(text)));
    }

    fn end(&mut self) {
        self.done.extend(self.open.take());
    }
}

/// The text with a placeholder for each piece of inline code.
fn without_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').step_by(2).collect();
    parts.join("_")
}

fn poor_words(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for block in prose(path, text) {
        // Words in lower case with their lines; a phrase may go across lines.
        let words: Vec<(usize, String)> = block
            .lines
            .iter()
            .flat_map(|(line, text)| {
                let words = text.split(|c: char| !c.is_alphanumeric() && !"'_-".contains(c));
                words.filter(|word| !word.is_empty()).map(|word| {
                    // The value None is not a word.
                    let value = word == "None";
                    let word = if value {
                        word.into()
                    } else {
                        word.to_lowercase()
                    };
                    (*line, word)
                })
            })
            .collect();
        if block.documents
            && let Some((line, first)) = words.first()
        {
            let poor = BEGINNINGS
                .iter()
                .filter(|(word, _)| word.to_lowercase() == *first);
            findings.extend(poor.map(|(word, instead)| {
                Finding::new(path, *line, format!("begins with \"{word}\": {instead}"))
            }));
        }
        for phrase in PHRASES {
            for position in occurrences(&words, phrase.words) {
                let fine = phrase.except.iter().any(|longer| {
                    let size = longer.split(' ').count();
                    occurrences(&words, longer)
                        .any(|start| (start..start + size).contains(&position))
                });
                if !fine {
                    let what = format!("\"{}\": write {}", phrase.words, phrase.instead);
                    findings.push(Finding::new(path, words[position].0, what));
                }
            }
        }
    }
    findings
}

/// The indices at which the phrase begins.
fn occurrences(words: &[(usize, String)], phrase: &str) -> impl Iterator<Item = usize> {
    let size = phrase.split(' ').count();
    words
        .windows(size)
        .enumerate()
        .filter(move |(_, window)| {
            window
                .iter()
                .map(|(_, word)| word.as_str())
                .eq(phrase.split(' '))
        })
        .map(|(at, _)| at)
}

/// Poor words outside of the pending files, and pending files without poor words.
fn poor_prose(repo: &Repo, pending: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut still_poor = vec![false; pending.len()];
    for (path, text) in &repo.files {
        let found = poor_words(path, text);
        match pending.iter().position(|entry| path.starts_with(entry)) {
            Some(entry) => still_poor[entry] |= !found.is_empty(),
            None => findings.extend(found),
        }
    }
    let clean = pending.iter().zip(still_poor).filter(|(_, poor)| !poor);
    findings.extend(clean.map(|(entry, _)| {
        let what = "is listed as not rewritten, but has no poor words";
        Finding::new(entry, 1, what)
    }));
    findings
}

#[test]
fn prose_is_plain() {
    enforce(
        "pages, comments, docstrings and help use plain words",
        "write what a native writer would; crates/isoform-tests/tests/tidy/words.rs has the list",
        &poor_prose(&Repo::load(), NOT_REWRITTEN),
    );
}

#[test]
fn prose_is_plain_can_fail() {
    for phrase in PHRASES {
        let page = format!("It {} it.\n\n`{}`\n", phrase.words, phrase.words);
        let found = poor_words("a.md", &page);
        let named = found.iter().any(|finding| {
            finding.line == 1 && finding.what.contains(&format!("\"{}\"", phrase.words))
        });
        assert!(named, "{}: {found:?}", phrase.words);
        for fine in phrase.except {
            let page = format!("{fine} it");
            assert_found(&poor_words("a.md", &page), &[]);
        }
    }
    for (word, _) in BEGINNINGS {
        let source = format!("/// {word} it is.\n/// {word} it was.\nfn f() {{}}\n// {word}\n");
        assert_found(&poor_words("a.rs", &source), &["a.rs:1"]);
        let source = format!("def f():\n    \"\"\"{word} it is.\n\n    {word}\n    \"\"\"\n");
        assert_found(&poor_words("a.py", &source), &["a.py:2"]);
    }
}

#[test]
fn every_kind_of_prose_is_read() {
    let rust = "//! Made anew.\n\n/// Is\n/// none.\n/// ```\n/// // anew\n/// ```\n\
                const A: &str = \"anew\"; // anew\n    // anew\n";
    let python = "\"\"\"Made anew.\"\"\"\n# anew\nanew = 1\n\ndef f():\n    r\"\"\"Is\n    none\n\n    \
                  >>> anew\n    anew\n\n    anew\n    \"\"\"\n";
    let help = "const HELP: &str = \"\\\n  2  trouble\";\n";
    let repo = Repo::example([
        ("a.rs", rust),
        ("b.py", python),
        ("crates/isoform-cli/src/args.rs", help),
        ("d.md", "is\nnone\n```\nanew\n```\nanew\n"),
    ]);
    let places = [
        "a.rs:1",
        "a.rs:3",
        "a.rs:9",
        "b.py:1",
        "b.py:2",
        "b.py:12",
        "b.py:6",
        "crates/isoform-cli/src/args.rs:2",
        "d.md:6",
    ];
    assert_found(&poor_prose(&repo, &[]), &places);
}

#[test]
fn pending_files_must_have_findings() {
    let repo = Repo::example([("a/b.md", "anew"), ("c.md", "again"), ("d.md", "anew")]);
    let findings = poor_prose(&repo, &["a/", "c.md"]);
    assert_found(&findings, &["d.md:1", "c.md:1"]);
}
