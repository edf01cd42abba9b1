//! Rules about documentation: the pages and their targets exist.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::repo::{Repo, folder, join};
use crate::tokens::{lex, matches_at};
use crate::{Finding, assert_found, enforce};

/// The pages at the root to which a reader is sent.
const PAGES: [&str; 4] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
];

/// Code with one of these beginnings, in a page or in a doc comment, names a file of
/// the repository.
const PLACES: [&str; 5] = ["crates/", "docs/", "scripts/", "fuzz/", ".ci/"];

fn missing_pages(repo: &Repo) -> Vec<Finding> {
    let missing = PAGES.iter().filter(|page| repo.text(page).is_none());
    missing
        .map(|page| Finding::new(page, 1, "is missing"))
        .collect()
}

/// The links of one Markdown page, and the anchors for links to it.
#[derive(Default)]
struct Page {
    /// Link targets with their lines.
    links: Vec<(usize, String)>,
    /// Inline code with its lines.
    code: Vec<(usize, String)>,
    /// The anchors of the headings.
    anchors: Vec<String>,
}

fn read_page(text: &str) -> Page {
    let mut page = Page::default();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut heading: Option<String> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let line = text[..range.start].matches('\n').count() + 1;
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                page.links.push((line, dest_url.into_string()));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let count = seen.entry(anchor.clone()).or_default();
                page.anchors.push(if *count == 0 {
                    anchor
                } else {
                    format!("{anchor}-{count}")
                });
                *count += 1;
            }
            Event::Code(code) => {
                heading
                    .iter_mut()
                    .for_each(|heading| heading.push_str(&code));
                page.code.push((line, code.into_string()));
            }
            Event::Text(words) => heading
                .iter_mut()
                .for_each(|heading| heading.push_str(&words)),
            _ => {}
        }
    }
    page
}

/// The anchor that forges derive from a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>()
        .trim()
        .to_lowercase()
        .replace(' ', "-")
}

fn dead_links(repo: &Repo) -> Vec<Finding> {
    let pages: BTreeMap<&str, Page> = repo
        .ending(".md")
        .map(|(path, text)| (path, read_page(text)))
        .collect();
    let mut findings = Vec::new();
    for (path, page) in &pages {
        for (line, link) in &page.links {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => Some((*path).to_owned()),
                file => join(folder(path), file).filter(|target| repo.has(target)),
            };
            let Some(target) = target else {
                findings.push(Finding::new(path, *line, format!("no file {file}")));
                continue;
            };
            let anchors = pages.get(target.as_str()).map(|page| &page.anchors);
            let missing = |anchors: &Vec<String>| anchors.iter().all(|anchor| anchor != fragment);
            if !fragment.is_empty() && anchors.is_some_and(missing) {
                findings.push(Finding::new(
                    path,
                    *line,
                    format!("no heading #{fragment} in {target}"),
                ));
            }
        }
        let dead = page
            .code
            .iter()
            .filter(|(_, code)| names_no_file(repo, code));
        findings
            .extend(dead.map(|(line, code)| Finding::new(path, *line, format!("no file {code}"))));
    }
    findings
}

/// The same for doc comments, whose links between items rustdoc checks itself.
fn dead_mentions(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.sources() {
        let tokens = match lex(path, text) {
            Ok(tokens) => tokens,
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        for index in 0..tokens.len() {
            if !matches_at(&tokens, index, &["doc", "="]) {
                continue;
            }
            let Some(doc) = tokens.get(index + 2) else {
                continue;
            };
            let code = doc.text.split('`').skip(1).step_by(2);
            let dead = code.filter(|code| names_no_file(repo, code));
            findings
                .extend(dead.map(|code| Finding::new(path, doc.line, format!("no file {code}"))));
        }
    }
    findings
}

/// True if this is a path from the root, without patterns, to a missing file.
fn names_no_file(repo: &Repo, code: &str) -> bool {
    is_spelt_out(code) && PLACES.iter().any(|place| code.starts_with(place)) && !repo.has(code)
}

fn is_spelt_out(code: &str) -> bool {
    code.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
}

/// The missing Rust files named in the map of the code, by the end of their paths.
fn dead_places(repo: &Repo) -> Vec<Finding> {
    const MAP: &str = "ARCHITECTURE.md";
    let page = repo.text(MAP).map(read_page).unwrap_or_default();
    let is_dead = |code: &str| {
        let end = format!("/{code}");
        let exists = repo.has(code) || repo.ending(&end).next().is_some();
        is_spelt_out(code) && code.ends_with(".rs") && !exists
    };
    let dead = page.code.iter().filter(|(_, code)| is_dead(code));
    dead.map(|(line, code)| Finding::new(MAP, *line, format!("no file {code}")))
        .collect()
}

/// Pages with Rust code that no source includes, so that no test runs it.
fn unrun_pages(repo: &Repo) -> Vec<Finding> {
    let included = |path: &str| {
        let end = format!("{path}\")");
        repo.ending(".rs").any(|(_, text)| {
            let mut places = text.split("include_str!(\"").skip(1);
            places.any(|place| {
                let place = place.split_inclusive(')').next().unwrap_or_default();
                place.trim_start_matches("../") == end
            })
        })
    };
    let pages = repo
        .ending(".md")
        .filter(|(path, _)| path.starts_with("docs/") || *path == "README.md");
    let mut findings = Vec::new();
    for (path, text) in pages {
        let block = text.lines().position(|line| {
            line.strip_prefix("```rust")
                .is_some_and(|options| options != ",ignore")
        });
        if let Some(line) = block
            && !included(path)
        {
            findings.push(Finding::new(path, line + 1, "no test runs the block"));
        }
    }
    findings
}

#[test]
fn pages_exist() {
    enforce(
        "the pages at the root exist",
        "write the page",
        &missing_pages(&Repo::load()),
    );
}

#[test]
fn pages_exist_can_fail() {
    let repo = Repo::example([
        ("README.md", ""),
        ("CONTRIBUTING.md", ""),
        ("CHANGELOG.md", ""),
    ]);
    assert_found(&missing_pages(&repo), &["ARCHITECTURE.md:1"]);
}

#[test]
fn rust_blocks_of_pages_run() {
    enforce(
        "a test runs every Rust block of a page",
        "include the page below `#[cfg(doctest)]` in a crate with the dependencies of the block",
        &unrun_pages(&Repo::load()),
    );
}

#[test]
fn rust_blocks_of_pages_run_can_fail() {
    let repo = Repo::example([
        ("docs/a.md", "# A\n```rust\n```\n"),
        ("docs/b.md", "```python\n```\n```rust,no_run\n```\n"),
        ("docs/c.md", "```rust,ignore\n```\n"),
        ("bench/d.md", "```rust\n```\n"),
        (
            "crates/x/src/lib.rs",
            "#[doc = include_str!(\"../../../docs/a.md\")]\nstruct A;",
        ),
    ]);
    assert_found(&unrun_pages(&repo), &["docs/b.md:3"]);
}

#[test]
fn links_of_pages_resolve() {
    enforce(
        "links, headings and file names in Markdown pages resolve",
        "point to what is there now",
        &dead_links(&Repo::load()),
    );
}

#[test]
fn links_of_pages_resolve_can_fail() {
    let page = "# Top of it\n[a](b.md) [b](#top-of-it) [c](c.md#x-y)\n[d](gone.md)\n\n\
                [e](#gone)\n[f](c.md#gone) [g](https://example.com/#gone)\n\n    [h](gone.md)\n\n\
                `docs/c.md` `docs/` `crates/*/src`\n`docs/gone.md`\n[i](../../out.md)\n";
    let repo = Repo::example([
        ("docs/a.md", page),
        ("docs/b.md", ""),
        ("docs/c.md", "## `X` y!\n"),
    ]);
    assert_found(
        &dead_links(&repo),
        &[
            "docs/a.md:3",
            "docs/a.md:5",
            "docs/a.md:6",
            "docs/a.md:12",
            "docs/a.md:11",
        ],
    );
}

#[test]
fn files_named_in_the_map_exist() {
    enforce(
        "a file named in ARCHITECTURE.md exists",
        "name the file that is there now",
        &dead_places(&Repo::load()),
    );
}

#[test]
fn files_named_in_the_map_exist_can_fail() {
    let repo = Repo::example([
        (
            "ARCHITECTURE.md",
            "`b.rs` `a/b.rs` `*.rs`\n`c.rs`\n`b/b.rs`\n",
        ),
        ("crates/x/src/a/b.rs", ""),
    ]);
    assert_found(
        &dead_places(&repo),
        &["ARCHITECTURE.md:2", "ARCHITECTURE.md:3"],
    );
}

#[test]
fn files_named_in_doc_comments_exist() {
    enforce(
        "a file named in a doc comment exists",
        "name the file that is there now",
        &dead_mentions(&Repo::load()),
    );
}

#[test]
fn files_named_in_doc_comments_exist_can_fail() {
    let repo = Repo::example([
        ("docs/a.md", ""),
        (
            "crates/a/src/lib.rs",
            "//! See `docs/a.md`.\n//! See `docs/b.md`.\n// `docs/c.md`\n",
        ),
    ]);
    assert_found(&dead_mentions(&repo), &["crates/a/src/lib.rs:2"]);
}
