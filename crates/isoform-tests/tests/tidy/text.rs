//! Rules about any text: describe the project, not one machine.

use crate::repo::Repo;
use crate::{Finding, assert_found, enforce};

/// Folders of one machine. The paths are written in two parts, because the rule
/// also applies to this file.
const MACHINE_PATHS: [&str; 4] = [
    concat!("/", "work/"),
    concat!("/", "root/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
];

/// Hosts of package registries: a mirror must do as well, and no host is named.
const REGISTRY_HOSTS: [&str; 6] = [
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("python", "hosted.org"),
    concat!("npmjs", ".org"),
    concat!("npmjs", ".com"),
    concat!("deb.", "debian.org"),
];

fn local_names(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in &repo.files {
        if path == "Cargo.lock" {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            let found = MACHINE_PATHS
                .iter()
                .filter(|needle| has_absolute(line, needle))
                .chain(
                    REGISTRY_HOSTS
                        .iter()
                        .filter(|needle| line.contains(**needle)),
                );
            findings.extend(found.map(|needle| Finding::new(path, index + 1, *needle)));
        }
    }
    findings
}

/// True if the line has the path as an absolute path, not in the middle of another
/// path.
fn has_absolute(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || "_-.}".contains(before))
    })
}

#[test]
fn no_machine_is_named() {
    enforce(
        "no absolute path of a machine and no host of a package registry in a tracked file",
        "make the path relative to the repository, or name the package instead of its host",
        &local_names(&Repo::load()),
    );
}

#[test]
fn no_machine_is_named_can_fail() {
    let [path, host] = [MACHINE_PATHS[0], REGISTRY_HOSTS[0]];
    let bad = format!("see\n'{path}a'\nnet{path}a\nhttps://{host}/x\n");
    let repo = Repo::example([("Cargo.lock", &bad), ("docs/a.md", &bad)]);
    assert_found(&local_names(&repo), &["docs/a.md:2", "docs/a.md:4"]);
}
