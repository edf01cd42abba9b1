//! Rules about files: each is reachable, documented, of a readable length, and the
//! manifests and the changelog are complete.

use std::collections::BTreeSet;

use crate::repo::{Repo, folder, join};
use crate::tokens::{Wanted, lex, wanted_files};
use crate::{Finding, assert_found, enforce};

/// How long a file may be without a reason.
const LINE_CAP: usize = 800;

/// The files that may be longer, and the reasons.
const LONG_FILES: [(&str, &str); 0] = [];

fn orphans(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut reached = BTreeSet::new();
    let mut pending: Vec<String> = repo
        .sources()
        .map(|(path, _)| path.to_owned())
        .filter(|path| is_root(path))
        .collect();
    while let Some(path) = pending.pop() {
        let Some(text) = repo.text(&path) else {
            continue;
        };
        if !reached.insert(path.clone()) {
            continue;
        }
        match lex(&path, text) {
            Ok(tokens) => pending.extend(
                wanted_files(&tokens)
                    .iter()
                    .flat_map(|wanted| candidates(&path, wanted)),
            ),
            Err(finding) => findings.push(finding),
        }
    }
    let orphans = repo.sources().filter(|(path, _)| !reached.contains(*path));
    findings.extend(orphans.map(|(path, _)| Finding::new(path, 1, "no `mod` declares this file")));
    findings
}

/// True if cargo compiles the file as the root of a crate.
fn is_root(path: &str) -> bool {
    path.ends_with("/src/lib.rs")
        || path.ends_with("/src/main.rs")
        || folder(path).ends_with("/src/bin")
        || path.ends_with("/main.rs") && folder(folder(path)).ends_with("/src/bin")
}

/// Where the compiler would look for the file that `path` asks for.
fn candidates(path: &str, wanted: &Wanted) -> Vec<String> {
    let here = folder(path);
    let found = match wanted {
        Wanted::File(file) => vec![join(here, file)],
        Wanted::Module { inside, name } => {
            let own = path.strip_suffix(".rs").unwrap_or(path);
            let base = if is_root(path) || path.ends_with("/mod.rs") {
                here
            } else {
                own
            };
            let base = format!("{base}/{}", inside.join("/"));
            vec![
                join(&base, &format!("{name}.rs")),
                join(&base, &format!("{name}/mod.rs")),
            ]
        }
    };
    found.into_iter().flatten().collect()
}

fn undocumented(repo: &Repo) -> Vec<Finding> {
    repo.sources()
        .filter(|(_, text)| !text.trim_start().starts_with("//!"))
        .map(|(path, _)| Finding::new(path, 1, "does not start with `//!` documentation"))
        .collect()
}

fn overlong(repo: &Repo, allowed: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in &repo.files {
        let code = [".rs", ".py", ".sh"]
            .iter()
            .any(|suffix| path.ends_with(suffix));
        let lines = text.lines().count();
        if code && lines > LINE_CAP && allowed.iter().all(|(file, _)| file != path) {
            findings.push(Finding::new(path, LINE_CAP + 1, format!("{lines} lines")));
        }
    }
    for (path, _) in allowed {
        if repo
            .text(path)
            .is_none_or(|text| text.lines().count() <= LINE_CAP)
        {
            findings.push(Finding::new(
                path,
                1,
                "listed as long, and is not: delete the entry",
            ));
        }
    }
    findings
}

fn poor_manifests(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.ending("/Cargo.toml") {
        let table: toml::Table = match text.parse() {
            Ok(table) => table,
            Err(error) => {
                findings.push(Finding::new(path, 1, format!("is not TOML: {error}")));
                continue;
            }
        };
        let entry = |section: &str, key: &str| table.get(section)?.get(key).cloned();
        let description = entry("package", "description");
        if description
            .and_then(|value| value.as_str().map(str::len))
            .unwrap_or(0)
            == 0
        {
            findings.push(Finding::new(path, 1, "[package] has no description"));
        }
        if entry("lints", "workspace") != Some(toml::Value::Boolean(true)) {
            findings.push(Finding::new(path, 1, "no `[lints] workspace = true`"));
        }
    }
    findings
}

fn unreleased_notes(repo: &Repo) -> Vec<Finding> {
    let manifest: toml::Table = repo
        .text("Cargo.toml")
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    let version = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("package")?.get("version")?.as_str());
    let Some(version) = version else {
        return vec![Finding::new(
            "Cargo.toml",
            1,
            "[workspace.package] has no version",
        )];
    };
    let changelog = repo.text("CHANGELOG.md").unwrap_or_default();
    let has_entry = changelog
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .any(|title| title.split_whitespace().next() == Some(version));
    if has_entry {
        return Vec::new();
    }
    vec![Finding::new(
        "CHANGELOG.md",
        1,
        format!("has no heading `## {version}`"),
    )]
}

#[test]
fn every_source_is_compiled() {
    enforce(
        "every source file of a crate is in its module tree",
        "declare the file with `mod`, or delete it",
        &orphans(&Repo::load()),
    );
}

#[test]
fn every_source_is_compiled_can_fail() {
    let repo = Repo::example([
        (
            "crates/a/src/lib.rs",
            "mod b;\nmod c { mod d; }\n// mod lost;\n#[path = \"odd.rs\"] mod e;",
        ),
        ("crates/a/src/b.rs", "mod f;"),
        ("crates/a/src/b/f.rs", ""),
        ("crates/a/src/c/d/mod.rs", "mod g;"),
        ("crates/a/src/c/d/g.rs", ""),
        ("crates/a/src/odd.rs", ""),
        ("crates/a/src/lost.rs", "mod h;"),
        ("crates/a/src/bin/tool.rs", ""),
        ("crates/a/src/bin/b/main.rs", "mod c;"),
        ("crates/a/src/bin/b/c.rs", ""),
        ("crates/a/src/bin/b/lost.rs", ""),
        ("crates/a/tests/it.rs", ""),
        ("crates/b/src/main.rs", "fn ("),
    ]);
    assert_found(
        &orphans(&repo),
        &[
            "crates/b/src/main.rs:1",
            "crates/a/src/bin/b/lost.rs:1",
            "crates/a/src/lost.rs:1",
        ],
    );
}

#[test]
fn every_module_is_documented() {
    enforce(
        "every module file starts with `//!` documentation",
        "say first what the module is for, and what it leaves to others",
        &undocumented(&Repo::load()),
    );
}

#[test]
fn every_module_is_documented_can_fail() {
    let repo = Repo::example([
        ("crates/a/src/lib.rs", "//! The library.\nmod b;"),
        ("crates/a/src/b.rs", "use std::fmt;\n//! Late."),
    ]);
    assert_found(&undocumented(&repo), &["crates/a/src/b.rs:1"]);
}

#[test]
fn no_file_is_too_long() {
    enforce(
        "no source file is longer than 800 lines without a reason",
        "split it where its parts can be understood alone, or add it to LONG_FILES with the reason",
        &overlong(&Repo::load(), &LONG_FILES),
    );
}

#[test]
fn no_file_is_too_long_can_fail() {
    let long = "x\n".repeat(LINE_CAP + 1);
    let repo = Repo::example([
        ("a.rs", &long),
        ("b.py", &long),
        ("c.rs", "x"),
        ("d.md", &long),
    ]);
    assert_found(
        &overlong(&repo, &[("b.py", "a table"), ("c.rs", "was long")]),
        &["a.rs:801", "c.rs:1"],
    );
}

#[test]
fn every_manifest_is_complete() {
    enforce(
        "every crate has a description and the lints of the workspace",
        "add the missing lines to its Cargo.toml",
        &poor_manifests(&Repo::load()),
    );
}

#[test]
fn every_manifest_is_complete_can_fail() {
    let repo = Repo::example([
        (
            "crates/a/Cargo.toml",
            "[package]\ndescription = \"A\"\n[lints]\nworkspace = true",
        ),
        (
            "crates/b/Cargo.toml",
            "[package]\ndescription = \"\"\n[lints]\nworkspace = true",
        ),
        (
            "crates/c/Cargo.toml",
            "[package]\ndescription = \"C\"\n[lints.rust]\nmissing_docs = \"deny\"",
        ),
        ("crates/d/Cargo.toml", "[package"),
    ]);
    assert_found(
        &poor_manifests(&repo),
        &[
            "crates/b/Cargo.toml:1",
            "crates/c/Cargo.toml:1",
            "crates/d/Cargo.toml:1",
        ],
    );
}

#[test]
fn the_changelog_knows_this_version() {
    enforce(
        "CHANGELOG.md has an entry for the version of the workspace",
        "write what changes for users under a heading with the version",
        &unreleased_notes(&Repo::load()),
    );
}

#[test]
fn the_changelog_knows_this_version_can_fail() {
    let manifest = ("Cargo.toml", "[workspace.package]\nversion = \"1.2.0\"");
    let good = Repo::example([manifest, ("CHANGELOG.md", "## 1.2.0 (unreleased)\n")]);
    assert_found(&unreleased_notes(&good), &[]);
    let old = Repo::example([manifest, ("CHANGELOG.md", "## 1.1.0\n\nNot 1.2.0.\n")]);
    assert_found(&unreleased_notes(&old), &["CHANGELOG.md:1"]);
    assert_found(&unreleased_notes(&Repo::example([])), &["Cargo.toml:1"]);
}
