//! Rules about dependencies: their licences and sources, as written in `deny.toml`.
//! This enforces the file on any machine, without the network and without cargo-deny.

use std::env;
use std::process::Command;

use serde_json::{Value, json};
use spdx::{Expression, Licensee, ParseMode};

use crate::repo::{self, Repo};
use crate::{Finding, assert_found, enforce};

/// The default registry of cargo. The text is written in parts, because files must not name
/// hosts.
const DEFAULT_REGISTRY: &str = concat!(
    "registry+https://github.com/rust-lang/",
    "crates",
    ".io-index"
);

/// The requirements of `deny.toml`.
#[derive(Debug)]
struct Policy {
    licenses: Vec<Licensee>,
    default_registry_only: bool,
    no_git: bool,
    no_wildcards: bool,
}

impl Policy {
    fn parse(text: &str) -> Result<Self, String> {
        let table: toml::Table = text.parse().map_err(|error| format!("{error}"))?;
        let entry = |section: &str, key: &str| table.get(section)?.get(key);
        let denies = |section, key| entry(section, key).and_then(|v| v.as_str()) == Some("deny");
        let allow = entry("licenses", "allow").and_then(|value| value.as_array());
        let licenses = allow
            .ok_or("no list [licenses] allow")?
            .iter()
            .map(|name| {
                let name = name.as_str().ok_or("a licence is no string")?;
                Licensee::parse(name).map_err(|error| format!("{error}"))
            })
            .collect::<Result<_, String>>()?;
        Ok(Policy {
            licenses,
            default_registry_only: denies("sources", "unknown-registry"),
            no_git: denies("sources", "unknown-git"),
            no_wildcards: denies("bans", "wildcards"),
        })
    }
}

fn refused(policy: &Policy, metadata: &Value, lock: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for package in list(&metadata["packages"]) {
        let name = package["name"].as_str().unwrap_or_default();
        let mut find = |what: String| {
            findings.push(Finding::new(
                "Cargo.lock",
                lock_line(lock, name),
                format!("{name}: {what}"),
            ));
        };
        // A package without a source belongs to this workspace.
        let Some(source) = package["source"].as_str() else {
            for dependency in list(&package["dependencies"]) {
                if policy.no_wildcards && dependency["req"] == "*" && dependency["path"].is_null() {
                    find(format!("any version of {} would do", dependency["name"]));
                }
            }
            continue;
        };
        if let Err(problem) = check_license(policy, package["license"].as_str()) {
            find(problem);
        }
        let git = source.starts_with("git+");
        if (git && policy.no_git)
            || (!git && policy.default_registry_only && source != DEFAULT_REGISTRY)
        {
            find(format!("comes from {source}"));
        }
    }
    findings
}

fn check_license(policy: &Policy, license: Option<&str>) -> Result<(), String> {
    let license = license.ok_or("names no licence")?;
    let expression = Expression::parse_mode(license, ParseMode::LAX)
        .map_err(|error| format!("licence {license:?} cannot be read: {}", error.reason))?;
    if expression.evaluate(|wanted| policy.licenses.iter().any(|ours| ours.satisfies(wanted))) {
        return Ok(());
    }
    Err(format!("licence {license:?} is not allowed"))
}

/// The line of the lock file that names the package.
fn lock_line(lock: &str, name: &str) -> usize {
    let wanted = format!("name = \"{name}\"");
    lock.lines()
        .position(|line| line == wanted)
        .map_or(1, |index| index + 1)
}

/// Cargo's metadata of all packages, from local files if they suffice.
fn metadata() -> Value {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut problems = String::new();
    for offline in [&["--offline"][..], &[]] {
        let output = Command::new(&cargo)
            .args([
                "metadata",
                "--format-version",
                "1",
                "--locked",
                "--all-features",
            ])
            .args(offline)
            .current_dir(repo::root())
            .output()
            .expect("cargo can be started");
        if output.status.success() {
            return serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
        }
        problems += &String::from_utf8_lossy(&output.stderr);
    }
    panic!("cargo metadata failed:\n{problems}");
}

#[test]
fn dependencies_are_allowed() {
    let repo = Repo::load();
    let policy = Policy::parse(repo.text("deny.toml").expect("deny.toml exists")).unwrap();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().map_or(0, Vec::len);
    assert!(
        packages > 10,
        "cargo metadata lists only {packages} packages"
    );
    enforce(
        "deny.toml allows the licence and the source of every dependency",
        "take another crate, or change deny.toml and say in the commit why",
        &refused(
            &policy,
            &metadata,
            repo.text("Cargo.lock").unwrap_or_default(),
        ),
    );
}

#[test]
fn dependencies_are_allowed_can_fail() {
    let policy = "[licenses]\nallow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\", \"Zlib\"]\n\
                  [sources]\nunknown-registry = \"deny\"\nunknown-git = \"deny\"\n\
                  [bans]\nwildcards = \"deny\"";
    let policy = Policy::parse(policy).unwrap();
    let package = |name: &str, license: Value, source: &str| {
        let source = if source.is_empty() {
            DEFAULT_REGISTRY
        } else {
            source
        };
        json!({ "name": name, "license": license, "source": source })
    };
    let ours = json!({ "name": "ours", "source": null, "dependencies": [
        { "name": "loose", "req": "*", "path": null },
        { "name": "sister", "req": "*", "path": "x" },
        { "name": "tight", "req": "^1", "path": null },
    ]});
    let metadata = json!({ "packages": [
        package("either", "GPL-3.0-only OR MIT".into(), ""),
        package("old-style", "MIT/Apache-2.0".into(), ""),
        package("exception", "Apache-2.0 WITH LLVM-exception".into(), ""),
        package("copyleft", "GPL-3.0-only".into(), ""),
        package("both", "MIT AND GPL-2.0-only".into(), ""),
        package("unknown", "Nonsense-9".into(), ""),
        package("silent", Value::Null, ""),
        package("git", "MIT".into(), "git+https://example.com/git"),
        package("elsewhere", "MIT".into(), "registry+https://example.com/index"),
        ours,
    ]});
    let bad = [
        "copyleft",
        "both",
        "unknown",
        "silent",
        "git",
        "elsewhere",
        "ours",
    ];
    let lock: String = bad
        .iter()
        .map(|name| format!("name = \"{name}\"\n"))
        .collect();
    let lines: Vec<String> = (1..=bad.len())
        .map(|line| format!("Cargo.lock:{line}"))
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_found(&refused(&policy, &metadata, &lock), &lines);
    assert!(Policy::parse("[licenses]\nallow = [\"No-Such\"]").is_err());
    assert!(Policy::parse("").is_err());
}

/// The crates of dialects that this manifest depends on without a feature.
fn unasked_dialects(path: &str, manifest: &str) -> Vec<Finding> {
    let table: toml::Table = manifest.parse().expect("a manifest");
    let default = table.get("features").and_then(|all| all.get("default"));
    let mut findings: Vec<Finding> = default
        .map(|_| Finding::new(path, 1, "has default features"))
        .into_iter()
        .collect();
    for name in ["isoform-ir", "isoform-relay", "isoform-pto", "isoform-onnx"] {
        let dependency = table.get("dependencies").and_then(|all| all.get(name));
        let is_optional = |entry: &toml::Value| {
            let optional = entry.get("optional").and_then(toml::Value::as_bool);
            optional == Some(true)
        };
        if dependency.is_some_and(|entry| !is_optional(entry)) {
            findings.push(Finding::new(path, 1, format!("always compiles {name}")));
        }
    }
    findings
}

#[test]
fn tests_of_an_ir_compile_no_dialect() {
    let path = "crates/isoform-testing/Cargo.toml";
    let repo = Repo::load();
    enforce(
        "isoform-testing serves the tests of any IR, so it compiles dialects only for its features",
        "make the dependency optional, and name it in the feature `dialects` or `onnx`",
        &unasked_dialects(path, repo.text(path).expect("the manifest exists")),
    );
}

#[test]
fn tests_of_an_ir_compile_no_dialect_can_fail() {
    let manifest = "[features]\ndefault = [\"x\"]\n[dependencies]\nisoform = \"1\"\n\
                    isoform-ir = \"1\"\nisoform-pto = { version = \"1\", optional = true }";
    let findings = unasked_dialects("a/Cargo.toml", manifest);
    assert_found(&findings, &["a/Cargo.toml:1", "a/Cargo.toml:1"]);
}
