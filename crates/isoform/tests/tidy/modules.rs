//! The modules of a crate, with their declarations and with the names that the modules use.
//!
//! `imports.rs` resolves the names.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::{Repo, folder, join};
use crate::tokens::{Token, lex, matches_at, without_tests};

/// The modules of each crate, the root first.
pub(crate) fn crates(repo: &Repo) -> Vec<Vec<Module>> {
    let roots = repo.sources().filter(|(path, _)| is_root(path));
    let read = |(path, _): (&str, &str)| {
        let mut reader = Reader {
            repo,
            modules: Vec::new(),
        };
        reader.read_file(path, 0);
        reader.modules
    };
    roots.map(read).collect()
}

/// The declarations and names in the tokens of one module.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) file: String,
    pub(crate) parent: usize,
    pub(crate) children: BTreeMap<String, usize>,
    pub(crate) items: BTreeSet<String>,
    pub(crate) macros: BTreeSet<String>,
    /// Words of macro calls at the level of items, since a macro call may declare them.
    pub(crate) generated: BTreeSet<String>,
    pub(crate) uses: Vec<Use>,
    pub(crate) paths: BTreeMap<Vec<String>, usize>,
    /// Names without a path, called or beginning like a type.
    pub(crate) words: BTreeMap<String, usize>,
}

/// One leaf of a `use` tree.
pub(crate) struct Use {
    pub(crate) path: Vec<String>,
    /// `None` for a glob.
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
    /// True inside of a function or block, where no other module can use the name.
    pub(crate) local: bool,
    /// A re-export in a `mod.rs` or `lib.rs`, which only lists the name.
    pub(crate) listing: bool,
}

struct Reader<'r> {
    repo: &'r Repo,
    modules: Vec<Module>,
}

impl Reader<'_> {
    fn read_file(&mut self, path: &str, parent: usize) -> usize {
        let module = self.add(path, parent);
        // Another rule reports files that are missing or not Rust sources.
        if let Some(Ok(mut tokens)) = self.repo.text(path).map(|text| lex(path, text)) {
            for token in &mut tokens {
                // Items for documentation tests are left out like those for tests.
                if token.text == "doctest" {
                    "test".clone_into(&mut token.text);
                }
            }
            let below = if is_root(path) || path.ends_with("/mod.rs") {
                folder(path)
            } else {
                path.trim_end_matches(".rs")
            };
            self.read(module, &without_tests(&tokens), below);
        }
        module
    }

    fn add(&mut self, file: &str, parent: usize) -> usize {
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            ..Module::default()
        });
        self.modules.len() - 1
    }

    /// Reads the tokens of a module whose child modules have their files in `below`.
    fn read(&mut self, id: usize, tokens: &[Token], below: &str) {
        let mut depth = 0_usize;
        let mut path_attribute = None;
        let mut at = 0;
        while at < tokens.len() {
            let word = text_at(tokens, at);
            let next = plain(text_at(tokens, at + 1));
            let third = text_at(tokens, at + 2);
            let before = at.checked_sub(1).map_or("", |at| text_at(tokens, at));
            match word {
                "(" | "[" => depth += 1,
                "{" => (depth, path_attribute) = (depth + 1, None),
                ")" | "]" => depth = depth.saturating_sub(1),
                "}" => (depth, path_attribute) = (depth.saturating_sub(1), None),
                ";" => path_attribute = None,
                "path" if next == "=" => path_attribute = Some(third.trim_matches('"')),
                "use" if next != "<" => {
                    // A parenthesis before `use` can only end `pub(…)`.
                    let public = matches!(before, "pub" | ")");
                    at = self.read_use(id, tokens, at + 1, public, depth > 0);
                }
                "mod" if is_name(next) && third == ";" => {
                    let files = match path_attribute.take() {
                        Some(path) => vec![join(folder(&self.modules[id].file), path)],
                        None => ["", "/mod"]
                            .map(|end| Some(format!("{below}/{next}{end}.rs")))
                            .into(),
                    };
                    let exists = |file: &String| self.repo.text(file).is_some();
                    if let Some(file) = files.into_iter().flatten().find(exists) {
                        let child = self.read_file(&file, id);
                        self.modules[id].children.insert(next.to_owned(), child);
                    }
                    at += 2;
                }
                "mod" if is_name(next) && third == "{" => {
                    let file = self.modules[id].file.clone();
                    let child = self.add(&file, id);
                    self.modules[id].children.insert(next.to_owned(), child);
                    let end = group_end(tokens, at + 2);
                    self.read(child, &tokens[at + 3..end], &format!("{below}/{next}"));
                    at = end;
                }
                "macro_rules" if next == "!" => {
                    // An exported macro is a name of the crate root as well.
                    for module in [0, id] {
                        self.modules[module].macros.insert(plain(third).to_owned());
                    }
                    at += 2;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "static" | "const"
                    if depth == 0 && before != "'" =>
                {
                    self.modules[id].items.insert(next.to_owned());
                }
                word if depth == 0 && is_name(word) && next == "!" && is_opening(third) => {
                    let words = outer_words(&tokens[at + 2..=group_end(tokens, at + 2)]);
                    self.modules[id].generated.extend(words);
                }
                // `pub(…)` looks like a call.
                "pub" => {}
                word if is_name(word) && (before != "$" || word == "crate") => {
                    at = self.modules[id].read_path(tokens, at);
                    // The list of a dialect has items of the module.
                    if text_at(tokens, at) == "dialect" && matches_at(tokens, at + 1, &["!", "{"]) {
                        let end = group_end(tokens, at + 2);
                        self.read(id, &tokens[at + 3..end], below);
                        at = end;
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads a `use` with a tree that starts at `at`, and returns the end of the `use`.
    fn read_use(
        &mut self,
        id: usize,
        tokens: &[Token],
        at: usize,
        public: bool,
        local: bool,
    ) -> usize {
        let rest = tokens[at..].iter();
        let end = at + rest.take_while(|token| token.text != ";").count();
        let mut leaves = Vec::new();
        use_tree(&tokens[at..end], 0, &[], &mut leaves);
        let module = &mut self.modules[id];
        let lists = ["/mod.rs", "/lib.rs"]
            .iter()
            .any(|name| module.file.ends_with(name));
        module
            .uses
            .extend(leaves.into_iter().map(|(path, name)| Use {
                path,
                name,
                line: tokens[at].line,
                local,
                listing: public && lists,
            }));
        end
    }
}

impl Module {
    /// Records the path or single name that starts at `at`, and returns the index of its
    /// last token.
    fn read_path(&mut self, tokens: &[Token], mut at: usize) -> usize {
        let start = at;
        let mut path = vec![plain(&tokens[at].text).to_owned()];
        while matches_at(tokens, at + 1, &[":", ":"]) && is_name(text_at(tokens, at + 3)) {
            at += 3;
            path.push(plain(&tokens[at].text).to_owned());
        }
        let before = &tokens[start.saturating_sub(2)..start];
        // What follows `>::` belongs to a type.
        let goes_on = matches_at(before, 0, &[":", ":"]);
        let after = text_at(tokens, at + 1);
        if goes_on || after == "!" {
            return at;
        }
        let line = tokens[start].line;
        if path.len() > 1 {
            self.paths.entry(path).or_insert(line);
        } else {
            let word = path.remove(0);
            let last = before.last().map_or("", |token| token.text.as_str());
            let called = matches!(after, "(" | ":") && !matches!(last, "." | "fn");
            if called || word.starts_with(char::is_uppercase) {
                self.words.entry(word).or_insert(line);
            }
        }
        at
    }
}

/// Adds the leaves of the tree that starts at `at`, with path and imported name, and
/// returns the end of the tree.
fn use_tree(
    tokens: &[Token],
    mut at: usize,
    prefix: &[String],
    leaves: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match text_at(tokens, at) {
            "{" => {
                at += 1;
                while !matches!(text_at(tokens, at), "}" | "") {
                    at = use_tree(tokens, at, &path, leaves);
                    at += usize::from(text_at(tokens, at) == ",");
                }
                return at + 1;
            }
            "*" => {
                leaves.push((path, None));
                return at + 1;
            }
            "as" => {
                leaves.push((path, Some(plain(text_at(tokens, at + 1)).to_owned())));
                return at + 2;
            }
            "" | "," | "}" => {
                let name = path.last().cloned();
                leaves.push((path, name));
                return at;
            }
            // `a::{self}` is `a`.
            "self" if !path.is_empty() => {}
            word if is_name(word) => path.push(plain(word).to_owned()),
            _ => {}
        }
        at += 1;
    }
}

fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The index of the bracket that closes the bracket at `at`.
fn group_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 1 => return index,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    tokens.len() - 1
}

/// The names in a group that are not in an inner group.
fn outer_words(group: &[Token]) -> Vec<String> {
    let mut depth = 0_usize;
    let mut words = Vec::new();
    for token in group {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            word if depth == 1 && is_name(word) => words.push(plain(word).to_owned()),
            _ => {}
        }
    }
    words
}

fn is_opening(text: &str) -> bool {
    matches!(text, "(" | "[" | "{")
}

/// True if a token is an identifier or keyword.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && !text.ends_with(['"', '\'', '#'])
}

fn plain(name: &str) -> &str {
    name.trim_start_matches("r#")
}

/// True if cargo compiles the file as the root of a crate.
fn is_root(path: &str) -> bool {
    path.ends_with("/lib.rs") || path.ends_with("/main.rs") || folder(path).ends_with("/src/bin")
}
