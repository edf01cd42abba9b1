//! Rules about Rust code: where `unsafe` may stand, how many files know the
//! storage kinds of fields and the types of containers, and no unfinished code.

use crate::repo::Repo;
use crate::tokens::{Token, lex, matches_at, without_tests};
use crate::{Finding, assert_found, enforce};

/// Where `unsafe` may stand, and why there.
const UNSAFE_PLACES: [(&str, &str); 4] = [
    (
        "crates/isoform/src/kernel/object/",
        "reference counts, typed reads of fields at their offsets, drop",
    ),
    (
        "crates/isoform-py/src/object/",
        "Python objects through CPython's C interface",
    ),
    (
        "crates/isoform-macros/src/",
        "the derive emits the one unsafe impl that object/ documents",
    ),
    (
        "crates/isoform-onnx/src/mmap.rs",
        "mapping a file into memory",
    ),
];

fn stray_unsafe(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.ending(".rs") {
        if UNSAFE_PLACES
            .iter()
            .any(|(place, _)| path.starts_with(place))
        {
            continue;
        }
        match lex(path, text) {
            Ok(tokens) => findings.extend(
                tokens
                    .iter()
                    .filter(|token| token.text == "unsafe")
                    .map(|token| Finding::new(path, token.line, "unsafe")),
            ),
            Err(_) if is_ui_case(path) => {}
            Err(finding) => findings.push(finding),
        }
    }
    findings
}

/// A case that the compiler must refuse need not even lex.
fn is_ui_case(path: &str) -> bool {
    path.contains("/tests/ui/")
}

/// How many files may name a kind of storage.
const STORAGE_FILES: usize = 4;

fn storage_files(repo: &Repo) -> Vec<Finding> {
    let names = |tokens: &[Token], at| {
        matches_at(tokens, at, &["Storage", ":", ":"]) && is_capital(tokens, at + 3)
    };
    too_many(repo, "", names, STORAGE_FILES, "names a storage kind")
}

/// The core crate's types of containers.
const CONTAINERS: [&str; 4] = ["Array", "List", "Map", "Dict"];

/// The maximal number of files of the core that may name one type of container, by a
/// variant of an enum, a payload or a row in the table of containers.
const CONTAINER_FILES: usize = 10;

fn container_files(repo: &Repo) -> Vec<Finding> {
    let findings = CONTAINERS.into_iter().flat_map(|name| {
        let (payload, row) = (format!("{name}Obj"), name.to_uppercase());
        let names = |tokens: &[Token], at: usize| {
            is_capital(tokens, at) && matches_at(tokens, at + 1, &[":", ":", name])
                || tokens[at].text == payload
                || tokens[at].text == row
        };
        let what = format!("names the container {name}");
        too_many(repo, "crates/isoform/src/", names, CONTAINER_FILES, &what)
    });
    findings.collect()
}

fn is_capital(tokens: &[Token], at: usize) -> bool {
    let token = tokens.get(at);
    token.is_some_and(|token| token.text.starts_with(char::is_uppercase))
}

/// The first place with the name in each file under a folder, if more than `most` files
/// have it.
fn too_many(
    repo: &Repo,
    folder: &str,
    names: impl Fn(&[Token], usize) -> bool,
    most: usize,
    what: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.sources().filter(|(path, _)| path.starts_with(folder)) {
        let Ok(tokens) = lex(path, text) else {
            continue;
        };
        let tokens = without_tests(&tokens);
        let named = (0..tokens.len()).find(|&index| names(&tokens, index));
        findings.extend(named.map(|index| Finding::new(path, tokens[index].line, what)));
    }
    if findings.len() > most {
        findings
    } else {
        Vec::new()
    }
}

fn unfinished(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in repo.sources() {
        if path.ends_with("/tests.rs") || path.contains("/tests/") {
            continue;
        }
        let tokens = match lex(path, text) {
            Ok(tokens) => without_tests(&tokens),
            Err(finding) => {
                findings.push(finding);
                continue;
            }
        };
        for (index, token) in tokens.iter().enumerate() {
            for name in ["todo", "unimplemented", "dbg"] {
                if matches_at(&tokens, index, &[name, "!"]) {
                    findings.push(Finding::new(path, token.line, format!("{name}!")));
                }
            }
        }
    }
    findings
}

#[test]
fn unsafe_stands_in_few_places() {
    enforce(
        "`unsafe` stands only where the object model needs it",
        "say it in safe Rust through crates/isoform/src/kernel/object, or add the place and its reason to UNSAFE_PLACES",
        &stray_unsafe(&Repo::load()),
    );
}

#[test]
fn unsafe_stands_in_few_places_can_fail() {
    let repo = Repo::example([
        (
            "crates/isoform/src/kernel/object/mod.rs",
            "unsafe fn f() {}",
        ),
        (
            "crates/isoform/src/lib.rs",
            "// unsafe\n#![deny(unsafe_code)]\nfn f() { unsafe { g() } }",
        ),
        (
            "crates/isoform-tests/tests/it/main.rs",
            "unsafe impl A for B {}",
        ),
        ("crates/isoform-macros/tests/ui/case.rs", "fn ("),
        ("scripts/broken.rs", "fn ("),
    ]);
    assert_found(
        &stray_unsafe(&repo),
        &[
            "crates/isoform-tests/tests/it/main.rs:1",
            "crates/isoform/src/lib.rs:3",
            "scripts/broken.rs:1",
        ],
    );
}

#[test]
fn few_files_know_the_storage_kinds() {
    enforce(
        "a new kind of storage touches few files",
        "ask a method of `Storage` or `Slot` in crates/isoform/src/kernel/object",
        &storage_files(&Repo::load()),
    );
}

#[test]
fn few_files_know_the_storage_kinds_can_fail() {
    const NAMES: &str = "fn f() {\n    Storage::of(x);\n    Storage::Int;\n}";
    let few = [
        ("crates/a/src/a.rs", NAMES),
        ("crates/a/src/b.rs", NAMES),
        ("crates/a/src/c.rs", NAMES),
        ("crates/a/src/d.rs", NAMES),
        (
            "crates/a/src/e.rs",
            "fn f() { Storage::of(x) } // Storage::Int",
        ),
        ("crates/a/tests/f.rs", NAMES),
    ];
    assert_found(&storage_files(&Repo::example(few)), &[]);
    let [a, b, c, d, ..] = few;
    let many = Repo::example([a, b, c, d, ("crates/b/src/a.rs", NAMES)]);
    let expected = [
        "crates/a/src/a.rs:3",
        "crates/a/src/b.rs:3",
        "crates/a/src/c.rs:3",
        "crates/a/src/d.rs:3",
        "crates/b/src/a.rs:3",
    ];
    assert_found(&storage_files(&many), &expected);
}

#[test]
fn few_files_know_a_type_of_container() {
    enforce(
        "a new type of container touches few files",
        "look at `Contents` and `ContainerType` in crates/isoform/src/kernel/container/types.rs, which suit all of them",
        &container_files(&Repo::load()),
    );
}

#[test]
fn few_files_know_a_type_of_container_can_fail() {
    const VARIANT: &str = "fn f() {\n    V::Dict(x);\n    DictObj;\n}";
    const OTHER: &str = "fn f(d: &Dict) { Dict::new(); x::Dict; } // V::Dict";
    let mut paths: [String; 12] =
        std::array::from_fn(|number| format!("crates/isoform/src/f{number:02}.rs"));
    paths[11] = "crates/a/src/f.rs".to_owned();
    let naming = |count: usize| {
        container_files(&Repo::example(std::array::from_fn::<_, 12, _>(|number| {
            let is_naming = number < count || number == 11;
            let text = if is_naming { VARIANT } else { OTHER };
            (paths[number].as_str(), text)
        })))
    };
    assert_found(&naming(10), &[]);
    let found: Vec<String> = paths[..11].iter().map(|path| format!("{path}:2")).collect();
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_found(&naming(11), &found);
}

#[test]
fn nothing_is_left_unfinished() {
    enforce(
        "no `todo!`, `unimplemented!` or `dbg!` outside tests",
        "finish it, or return an error that says what is not supported",
        &unfinished(&Repo::load()),
    );
}

#[test]
fn nothing_is_left_unfinished_can_fail() {
    let repo = Repo::example([
        (
            "crates/a/src/lib.rs",
            "fn f() { todo!() }\n// todo!()\nfn todo() {}\n#[cfg(test)] mod tests { fn f() { dbg!(1); } }\nfn g() { dbg!(2) }",
        ),
        ("crates/a/src/x/tests.rs", "fn f() { todo!() }"),
        ("crates/a/tests/it.rs", "fn f() { todo!() }"),
    ]);
    assert_found(
        &unfinished(&repo),
        &["crates/a/src/lib.rs:1", "crates/a/src/lib.rs:5"],
    );
}
