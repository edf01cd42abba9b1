//! The rule that imports of the core lead down: they follow the table of layers in
//! ARCHITECTURE.md. Between crates, cargo holds the direction.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::Repo;
use crate::tokens::{Token, lex, without_tests};
use crate::{Finding, assert_found, enforce};

/// Where the table of layers stands.
const TABLE: &str = "ARCHITECTURE.md";

/// The folder that the table describes.
const CORE: &str = "crates/isoform/src/";

/// All findings, sorted by the importing file.
fn tangled_imports(repo: &Repo) -> Vec<Finding> {
    let (table, mut findings) = Table::read(repo);
    let sources = repo
        .sources()
        .filter(|(path, _)| path.starts_with(CORE) && !ROOTS.contains(&&path[CORE.len()..]));
    for (path, text) in sources {
        // Another rule reports files that are not Rust sources.
        let tokens = lex(path, text).unwrap_or_default();
        findings.extend(table.upward(path, &imported_paths(path, &without_tests(&tokens))));
    }
    findings.sort_by(|a, b| (&a.path, a.line, &a.what).cmp(&(&b.path, b.line, &b.what)));
    findings
}

/// The files that list names of all layers, and that no layer imports.
const ROOTS: [&str; 2] = ["lib.rs", "plumbing.rs"];

/// The layers, lowest first.
#[derive(Default)]
struct Table {
    layers: Vec<String>,
    folders: Vec<Folder>,
}

/// A folder or file of the table.
struct Folder {
    /// From the root of the repository, without `/` at the end.
    path: String,
    layer: usize,
    line: usize,
}

impl Table {
    /// The table, and contradictions to the folders.
    fn read(repo: &Repo) -> (Self, Vec<Finding>) {
        let text = repo.text(TABLE).unwrap_or_default();
        let lines = (1..).zip(text.lines());
        let mut rows = lines
            .map(|(line, row)| (line, cells(row)))
            .skip_while(|(_, cells)| cells.first().is_none_or(|cell| *cell != "layer"))
            .take_while(|(_, cells)| !cells.is_empty());
        let mut table = Table::default();
        let mut findings = Vec::new();
        if rows.next().is_none() {
            let what = "has no table of layers, with the head `| layer | folders |`";
            findings.push(Finding::new(TABLE, 1, what));
            return (table, findings);
        }
        // The row below the head is a ruler.
        for (line, cells) in rows.skip(1) {
            let pieces: Vec<&str> = cells.get(1).map_or("", |cell| cell).split('`').collect();
            for piece in pieces[1..].chunks(2) {
                table.folders.push(Folder {
                    path: format!("{CORE}{}", piece[0].trim_end_matches('/')),
                    layer: table.layers.len(),
                    line,
                });
            }
            table.layers.push(cells[0].trim_matches('`').to_owned());
        }
        findings.extend(table.gaps(repo));
        (table, findings)
    }

    fn gaps(&self, repo: &Repo) -> Vec<Finding> {
        let stale = self.folders.iter().filter(|folder| !repo.has(&folder.path));
        let mut findings: Vec<Finding> = stale
            .map(|folder| Finding::new(TABLE, folder.line, format!("there is no {}", folder.path)))
            .collect();
        let unlisted: BTreeSet<&str> = repo
            .ending(".rs")
            .filter_map(|(path, _)| path.strip_prefix(CORE))
            .filter(|path| {
                !ROOTS.contains(path) && self.folder_of(&format!("{CORE}{path}")).is_none()
            })
            .map(|path| self.missing_entry(path))
            .collect();
        findings.extend(unlisted.iter().map(|folder| {
            Finding::new(
                TABLE,
                1,
                format!("the table of layers misses {CORE}{folder}"),
            )
        }));
        findings
    }

    /// The entry that the table needs to cover the file: a whole folder, unless the
    /// table lists parts of that folder.
    fn missing_entry<'p>(&self, path: &'p str) -> &'p str {
        let Some((folder, _)) = path.split_once('/') else {
            return path;
        };
        let parts = format!("{CORE}{folder}/");
        let split = self
            .folders
            .iter()
            .any(|entry| entry.path.starts_with(&parts));
        if split { path } else { folder }
    }

    /// The innermost entry of the file.
    fn folder_of(&self, file: &str) -> Option<&Folder> {
        let inside = |folder: &&Folder| {
            file.strip_prefix(&folder.path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.folders
            .iter()
            .filter(inside)
            .max_by_key(|folder| folder.path.len())
    }

    /// The imports that lead up or to a neighbour: the first line for each folder.
    fn upward(&self, file: &str, imports: &[(Vec<String>, usize)]) -> Vec<Finding> {
        let Some(from) = self.folder_of(file) else {
            return Vec::new();
        };
        let mut findings = BTreeMap::new();
        for (path, line) in imports {
            let to = self.folder_of(&format!("{CORE}{}", path.join("/")));
            let reason = match to {
                None => "the root of the crate".to_owned(),
                Some(to) if to.layer > from.layer => format!(
                    "`{}`, a layer above `{}`",
                    self.layers[to.layer], self.layers[from.layer]
                ),
                Some(to) if to.layer == from.layer && to.path != from.path => {
                    format!("a neighbour in the layer `{}`", self.layers[to.layer])
                }
                _ => continue,
            };
            let what = format!("imports crate::{}: {reason}", path.join("::"));
            let key = to.map_or_else(|| path.join("/"), |to| to.path.clone());
            findings.entry(key).or_insert((*line, what));
        }
        let findings = findings.into_values();
        findings
            .map(|(line, what)| Finding::new(file, line, what))
            .collect()
    }
}

/// The paths from the root of the crate that a file names, each with its line: paths that
/// begin with `crate` or `super`, and the leaves of `use` trees.
fn imported_paths(file: &str, tokens: &[Token]) -> Vec<(Vec<String>, usize)> {
    let inside = file
        .strip_prefix(CORE)
        .unwrap_or(file)
        .trim_end_matches(".rs");
    let module: Vec<&str> = inside.trim_end_matches("/mod").split('/').collect();
    let mut paths = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let first = tokens[index].text.as_str();
        let before = index.checked_sub(1).map_or("", |index| &tokens[index].text);
        let is_path = tokens.get(index + 1).is_some_and(|next| next.text == ":");
        if matches!(first, "crate" | "super") && is_path && before != "$" && before != ":" {
            let mut stem: Vec<String> = Vec::new();
            if first == "super" {
                let parent = &module[..module.len() - 1];
                stem.extend(parent.iter().map(ToString::to_string));
            }
            index = read_tree(tokens, index + 1, stem, &mut paths);
        } else {
            index += 1;
        }
    }
    paths
}

/// Reads the part of a path or `use` tree after a segment, adds its leaves, and returns the
/// index after it.
fn read_tree(
    tokens: &[Token],
    mut index: usize,
    mut path: Vec<String>,
    paths: &mut Vec<(Vec<String>, usize)>,
) -> usize {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    while text(index) == ":" && text(index + 1) == ":" {
        let line = tokens[index].line;
        index += 2;
        match text(index) {
            "super" => {
                path.pop();
            }
            "{" => {
                index += 1;
                while !matches!(text(index), "}" | "") {
                    let mut inner = path.clone();
                    if text(index) != "self" {
                        inner.push(text(index).to_owned());
                    }
                    index = read_tree(tokens, index + 1, inner, paths);
                    // A rename, and the comma.
                    while !matches!(text(index), "," | "}" | "") {
                        index += 1;
                    }
                    index += usize::from(text(index) == ",");
                }
                return index + 1;
            }
            name if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                path.push(name.to_owned());
            }
            _ => {
                paths.push((path, line));
                return index;
            }
        }
        index += 1;
    }
    let line = tokens
        .get(index.saturating_sub(1))
        .map_or(1, |token| token.line);
    paths.push((path, line));
    index
}

/// The cells of a row of a table; empty for any other line.
fn cells(row: &str) -> Vec<&str> {
    let inner = row
        .trim()
        .strip_prefix('|')
        .map(|row| row.trim_end_matches('|'));
    inner.map_or_else(Vec::new, |row| row.split('|').map(str::trim).collect())
}

#[test]
fn imports_lead_down() {
    enforce(
        "a file of the core imports only its own layer and lower ones",
        "move the name to the lower file; or state the layer of a new folder in the table of ARCHITECTURE.md",
        &tangled_imports(&Repo::load()),
    );
}

/// A core with a table of three layers.
#[cfg(test)]
fn example<const N: usize>(files: [(&str, &str); N]) -> Repo {
    let mut repo = Repo::example(files);
    let table = "| layer | folders |\n|---|---|\n| low | `low`, `value` |\n\
                 | middle | `left`, `right/` |\n| high | `high` |\n";
    repo.files.insert(TABLE.to_owned(), table.to_owned());
    for file in [
        "lib.rs",
        "low/mod.rs",
        "value/mod.rs",
        "left/mod.rs",
        "right/mod.rs",
        "high/mod.rs",
    ] {
        repo.files.entry(format!("{CORE}{file}")).or_default();
    }
    repo
}

/// The root of the example's core.
#[cfg(test)]
const ROOT: (&str, &str) = (
    "crates/isoform/src/lib.rs",
    "mod high;\nmod left;\nmod low;\nmod right;\nmod value;\npub use high::High;\npub fn own() {}",
);

/// Compares the findings and what they say.
#[cfg(test)]
#[track_caller]
fn check(repo: &Repo, expected: &[&str]) {
    let findings: Vec<String> = tangled_imports(repo)
        .iter()
        .map(ToString::to_string)
        .collect();
    let short: Vec<&str> = findings
        .iter()
        .map(|text| text.trim_start_matches(CORE))
        .collect();
    assert_eq!(short, expected);
}

#[test]
fn imports_of_higher_layers_are_found() {
    let repo = example([
        ROOT,
        (
            "crates/isoform/src/high/mod.rs",
            "pub struct High;\npub struct Other;",
        ),
        (
            "crates/isoform/src/left/mod.rs",
            "use crate::{High, low::Low};\nfn f() { crate::own(crate::high::Other) }",
        ),
        ("crates/isoform/src/low/mod.rs", "pub struct Low;"),
    ]);
    check(
        &repo,
        &[
            "left/mod.rs:1: imports crate::High: the root of the crate",
            "left/mod.rs:2: imports crate::high::Other: `high`, a layer above `middle`",
            "left/mod.rs:2: imports crate::own: the root of the crate",
        ],
    );
}

#[test]
fn imports_of_neighbours_are_found() {
    let repo = example([
        ROOT,
        (
            "crates/isoform/src/left/mod.rs",
            "use super::right::Right;\nuse crate::value::Value;",
        ),
        (
            "crates/isoform/src/right/mod.rs",
            "mod inner;\npub use inner::Right;",
        ),
        (
            "crates/isoform/src/right/inner.rs",
            "pub struct Right;\nuse super::super::value;",
        ),
        ("crates/isoform/src/value/mod.rs", "pub struct Value;"),
    ]);
    check(
        &repo,
        &["left/mod.rs:1: imports crate::right::Right: a neighbour in the layer `middle`"],
    );
}

#[test]
fn the_table_and_the_folders_agree() {
    let mut repo = example([ROOT, ("crates/isoform/src/new/mod.rs", "")]);
    let nested = repo.files[TABLE].replace("`high`", "`high/a.rs`");
    repo.files.insert(TABLE.to_owned(), nested);
    repo.files.insert(format!("{CORE}high/a.rs"), String::new());
    repo.files.remove("crates/isoform/src/value/mod.rs");
    check(
        &repo,
        &[
            "ARCHITECTURE.md:1: the table of layers misses crates/isoform/src/high/mod.rs",
            "ARCHITECTURE.md:1: the table of layers misses crates/isoform/src/new",
            "ARCHITECTURE.md:3: there is no crates/isoform/src/value",
        ],
    );
    assert_found(&tangled_imports(&Repo::example([])), &["ARCHITECTURE.md:1"]);
}
