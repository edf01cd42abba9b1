//! The rule that imports lead down: the core follows the table of layers in
//! ARCHITECTURE.md, and no crate and no Python package has a circle of imports.

use std::collections::{BTreeMap, BTreeSet};

use crate::circles::circles;
use crate::imports::{Import, imports, short};
use crate::python_imports::python_imports;
use crate::repo::Repo;
use crate::{Finding, assert_found, enforce};

/// Where the table of layers stands.
const TABLE: &str = "ARCHITECTURE.md";

/// The folder that the table describes.
const CORE: &str = "crates/isoform/src/";

/// All findings, sorted by the importing file.
fn tangled_imports(repo: &Repo) -> Vec<Finding> {
    let (table, mut findings) = Table::read(repo);
    let mut all = imports(repo);
    all.extend(python_imports(repo));
    findings.extend(table.upward(&all));
    findings.extend(circles(&all, |file| {
        let folder = table.folder_of(file).filter(|folder| folder.knot);
        folder.map(|folder| folder.path.clone())
    }));
    findings.sort_by(|a, b| (&a.path, a.line, &a.what).cmp(&(&b.path, b.line, &b.what)));
    findings
}

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
    /// True if circular imports between files of the folder are allowed.
    knot: bool,
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
                    knot: piece
                        .get(1)
                        .is_some_and(|after| after.contains("(one knot)")),
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
            .filter(|path| *path != "lib.rs" && self.folder_of(&format!("{CORE}{path}")).is_none())
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

    /// The imports that lead up or to a neighbour.
    fn upward(&self, imports: &[Import]) -> Vec<Finding> {
        // The first line, the reason and the names for each pair of files.
        let mut found: BTreeMap<(&str, &str), (usize, String, Vec<&str>)> = BTreeMap::new();
        for import in imports {
            // The root of the crate is in no layer: it may import all layers, and no layer may
            // import the root.
            let Some(from) = self.folder_of(&import.from) else {
                continue;
            };
            let reason = match self.folder_of(&import.to) {
                None if import.to == format!("{CORE}lib.rs") => "the root of the crate".to_owned(),
                Some(to) if to.layer > from.layer => format!(
                    "`{}`, a layer above `{}`",
                    self.layers[to.layer], self.layers[from.layer]
                ),
                Some(to) if to.layer == from.layer && to.path != from.path => {
                    format!("a neighbour in the layer `{}`", self.layers[to.layer])
                }
                _ => continue,
            };
            let pair = (import.from.as_str(), import.to.as_str());
            let (line, _, names) = found
                .entry(pair)
                .or_insert((import.line, reason, Vec::new()));
            *line = import.line.min(*line);
            names.push(&import.name);
        }
        let finding =
            |((from, to), (line, reason, names)): ((&str, &str), (_, String, Vec<&str>))| {
                let what = format!("imports {} from {}: {reason}", names.join(", "), short(to));
                Finding::new(from, line, what)
            };
        found.into_iter().map(finding).collect()
    }
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
        "a file imports only its own layer and lower ones, and no files import each other in a circle",
        "move the name to the lower file; or state the layer of a new folder in the table of ARCHITECTURE.md",
        &tangled_imports(&Repo::load()),
    );
}

/// A core with a table of three layers.
#[cfg(test)]
fn example<const N: usize>(files: [(&str, &str); N]) -> Repo {
    let mut repo = Repo::example(files);
    let table = "| layer | folders |\n|---|---|\n| low | `low` (one knot), `value.rs` |\n\
                 | middle | `left`, `right/` |\n| high | `high` |\n";
    repo.files.insert(TABLE.to_owned(), table.to_owned());
    for file in [
        "lib.rs",
        "low/mod.rs",
        "value.rs",
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
            "left/mod.rs:1: imports High, Other from high/mod.rs: `high`, a layer above `middle`",
            "left/mod.rs:2: imports own from lib.rs: the root of the crate",
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
        ("crates/isoform/src/value.rs", "pub struct Value;"),
    ]);
    check(
        &repo,
        &["left/mod.rs:1: imports Right from right/inner.rs: a neighbour in the layer `middle`"],
    );
}

#[test]
fn the_table_and_the_folders_agree() {
    let mut repo = example([ROOT, ("crates/isoform/src/new/mod.rs", "")]);
    let nested = repo.files[TABLE].replace("`high`", "`high/a.rs`");
    repo.files.insert(TABLE.to_owned(), nested);
    repo.files.insert(format!("{CORE}high/a.rs"), String::new());
    repo.files.remove("crates/isoform/src/value.rs");
    check(
        &repo,
        &[
            "ARCHITECTURE.md:1: the table of layers misses crates/isoform/src/high/mod.rs",
            "ARCHITECTURE.md:1: the table of layers misses crates/isoform/src/new",
            "ARCHITECTURE.md:3: there is no crates/isoform/src/value.rs",
        ],
    );
    assert_found(&tangled_imports(&Repo::example([])), &["ARCHITECTURE.md:1"]);
}
