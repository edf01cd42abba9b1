//! The real command on real models, and on edited copies of them.
//!
//! The models lie in the folder `ISOFORM_MODELS`; `ISOFORM_PYTHON` is a Python that
//! runs `scripts/edit_model.py`. `make test` sets both variables. Without the
//! variables, the tests pass and report that they did nothing.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use isoform::explain_mismatch;
use isoform::paths::AccessPath;
use isoform_onnx::{Model, NodeOrigin, OriginKind, load};
use isoform_testing::source::scale;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::run_in;

/// The step through the models of tests that edit each model: 1 in full.
fn every() -> usize {
    scale().min(4)
}

/// The models, and a Python for editing models.
struct Real {
    models: PathBuf,
    python: PathBuf,
}

impl Real {
    /// The value of an environment variable; None if unset.
    fn find() -> Option<Real> {
        let path = |name| env::var_os(name).map(PathBuf::from);
        match (path("ISOFORM_MODELS"), path("ISOFORM_PYTHON")) {
            (Some(models), Some(python)) => Some(Real { models, python }),
            _ => {
                note("ISOFORM_MODELS and ISOFORM_PYTHON are not set, so no real model was tested");
                None
            }
        }
    }

    /// The names of all models.
    fn names(&self) -> Vec<String> {
        let names = names_in(&self.models);
        assert!(
            names.len() >= 150,
            "{} models in {:?}",
            names.len(),
            self.models
        );
        names
    }

    /// Lets the script edit the models, or a share of them; returns its report by model.
    #[track_caller]
    fn edit(&self, command: &[&str], folder: &Path) -> BTreeMap<String, Value> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/edit_model.py");
        let ran = Command::new(&self.python)
            .arg(script)
            .arg(command[0])
            .arg(&self.models)
            .arg(folder)
            .args(["--every".to_owned(), every().to_string()])
            .args(&command[1..])
            .output()
            .unwrap_or_else(|error| panic!("{:?} does not start: {error}", self.python));
        assert!(
            ran.status.success(),
            "edit_model.py {command:?} failed:\n{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        let report = fs::read_to_string(folder.join("report.jsonl")).expect("there is a report");
        let lines = report.lines().map(|line| {
            let entry: Value = serde_json::from_str(line).expect("the report is JSON");
            let name = entry["model"].as_str().expect("a model is named");
            (name.to_owned(), entry)
        });
        lines.collect()
    }

    /// Lets the script make one edit of a model, and returns the script's report.
    #[track_caller]
    fn edit_one(&self, command: &str, model: &Path, edited: &Path, seed: usize) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/edit_model.py");
        let ran = Command::new(&self.python)
            .arg(script)
            .arg(command)
            .args([model, edited])
            .args(["--seed".to_owned(), seed.to_string()])
            .output()
            .unwrap_or_else(|error| panic!("{:?} does not start: {error}", self.python));
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        serde_json::from_slice(&ran.stdout).expect("the report is JSON")
    }

    /// The digest of each model in a folder, by the name of the model.
    #[track_caller]
    fn digests(&self, folder: &Path, names: &[String]) -> BTreeMap<String, String> {
        let args = ["hash", "--json"]
            .into_iter()
            .chain(names.iter().map(String::as_str));
        let ran = run_in(folder, args);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""));
        let digests: BTreeMap<String, String> = ran
            .out
            .lines()
            .map(|line| {
                let line: Value = serde_json::from_str(line).expect("a line is JSON");
                let text = |key: &str| line[key].as_str().expect("a text").to_owned();
                (text("file"), text("digest"))
            })
            .collect();
        assert_eq!(digests.len(), names.len());
        digests
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the folder can be read").file_name())
        .map(|name| name.into_string().expect("names are UTF-8"))
        .filter(|name| name.ends_with(".onnx"))
        .collect();
    names.sort();
    names
}

fn temporary_folder() -> TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// Writes a line for whoever watches the tests.
fn note(text: &str) {
    // Nothing depends on it.
    let _ = writeln!(io::stderr(), "{text}");
}

fn same_file(left: &Path, right: &Path) -> bool {
    fs::read(left).expect("a file can be read") == fs::read(right).expect("a file can be read")
}

#[test]
fn digests_are_stable_and_tell_models_apart() {
    let Some(real) = Real::find() else { return };
    let names = real.names();
    let digests = real.digests(&real.models, &names);
    assert_eq!(digests, real.digests(&real.models, &names), "hashing twice");

    let mut by_digest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, digest) in &digests {
        by_digest.entry(digest).or_default().push(name);
    }
    // Some models of the wheel are copies of each other, byte for byte. Any other pair
    // with an equal digest would be worth a look.
    for group in by_digest.values() {
        for pair in group.windows(2) {
            let [left, right] = [pair[0], pair[1]].map(|name| real.models.join(name));
            assert!(
                same_file(&left, &right),
                "{pair:?} are equal programs in different files"
            );
        }
    }

    let ran = run_in(&real.models, ["dedup", "--json", "."]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(report["models"], names.len());
    assert_eq!(report["distinct"], by_digest.len());
    let repeated = by_digest.values().filter(|group| group.len() > 1).count();
    assert_eq!(report["groups"].as_array().map(Vec::len), Some(repeated));
}

#[test]
fn every_model_can_be_shown() {
    let Some(real) = Real::find() else { return };
    for name in real.names() {
        let ran = run_in(&real.models, ["show", "--names", &name]);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{name}");
        assert!(ran.out.contains("\n  return "), "{name}: {}", ran.out);
        assert!(
            !ran.out.contains("%?"),
            "{name}: a value without a number in {}",
            ran.out
        );
        let ran = run_in(&real.models, ["show", "--json", &name]);
        let shown: Value = serde_json::from_str(&ran.out).expect("JSON");
        let count = |value: &Value| value.as_u64().expect("a count");
        let nodes = shown["program"]["nodes"].as_array().map_or(0, Vec::len) as u64;
        let constants = count(&shown["counts"]["nodes"]) - count(&shown["counts"]["dropped"]);
        // Constant nodes are operands here, and none of the models has a subgraph.
        assert!(nodes <= constants, "{name}: {nodes} > {constants}");
    }
}

#[test]
fn renamed_and_shuffled_models_are_equal() {
    let Some(real) = Real::find() else { return };
    let names: Vec<String> = real.names().into_iter().step_by(every()).collect();
    let digests = real.digests(&real.models, &names);
    for options in [
        &["scramble-all", "--seed", "1"][..],
        &["scramble-all", "--seed", "2", "--reencode"],
    ] {
        let folder = temporary_folder();
        real.edit(options, folder.path());
        let copies = names_in(folder.path());
        assert_eq!(copies, names, "every model can be scrambled");
        assert_eq!(real.digests(folder.path(), &copies), digests);
        for name in &names {
            let (left, right) = (real.models.join(name), folder.path().join(name));
            assert!(!same_file(&left, &right), "{name} was not changed at all");
            let ran = run_in(
                folder.path(),
                ["diff".as_ref(), left.as_os_str(), right.as_os_str()],
            );
            let got = (ran.status, ran.out.as_str(), ran.err.as_str());
            assert_eq!(got, (0, "equal\n", ""), "{name}");
            for option in ["--numbers", "--canonical"] {
                let shown = |path: &Path| {
                    let words = [
                        "show".as_ref(),
                        "-q".as_ref(),
                        option.as_ref(),
                        path.as_os_str(),
                    ];
                    run_in(folder.path(), words).out
                };
                assert_eq!(shown(&left), shown(&right), "{name} is shown alike");
            }
        }
    }
}

#[test]
fn random_edits_are_found_where_they_are() {
    let Some(real) = Real::find() else { return };
    for seed in ["1", "2", "3"] {
        check_edits(&real, &["edit-all", "--kind", "random", "--seed", seed]);
    }
}

#[test]
fn changed_attributes_are_found_where_they_are() {
    let Some(real) = Real::find() else { return };
    check_edits(&real, &["edit-all", "--kind", "attribute", "--seed", "4"]);
}

#[test]
fn changed_weights_are_found_where_they_are() {
    let Some(real) = Real::find() else { return };
    check_edits(&real, &["edit-all", "--kind", "weight", "--seed", "5"]);
}

/// Edits every model, and checks that digest and diff notice the edit and its place.
#[track_caller]
fn check_edits(real: &Real, command: &[&str]) {
    let folder = temporary_folder();
    let report = real.edit(command, folder.path());
    let edited = names_in(folder.path());
    let before = real.digests(&real.models, &edited);
    let after = real.digests(folder.path(), &edited);
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for name in &edited {
        let edit = &report[name];
        *kinds.entry(text(edit, "kind").to_owned()).or_default() += 1;
        assert_ne!(
            before[name], after[name],
            "{name} has its old digest after {edit}"
        );
        let (left, right) = (real.models.join(name), folder.path().join(name));
        check_edit(&left, &right, edit);
    }
    note(&format!(
        "{command:?}: {} of {} models, {kinds:?}",
        edited.len(),
        report.len()
    ));
}

/// Checks one edited model: the command's output leads to the edit.
#[track_caller]
fn check_edit(left: &Path, right: &Path, edit: &Value) {
    let args = [
        "diff".as_ref(),
        "--first".as_ref(),
        // A default that is written out is told, too.
        "--strict".as_ref(),
        "--json".as_ref(),
        left.as_os_str(),
        right.as_os_str(),
    ];
    let ran = run_in(Path::new("."), args);
    assert_eq!((ran.status, ran.err.as_str()), (1, ""), "{edit}");
    let said: Value = serde_json::from_str(&ran.out).expect("JSON");

    let model = |path: &Path| load(path).expect("the model loads");
    let (left, right) = (model(left), model(right));
    let mismatch = explain_mismatch(left.to_value(), right.to_value())
        .expect("models can be compared")
        .expect("they differ");
    let path = &mismatch.left_path;
    let origin = left.node_at(path);
    let place = format!("{edit}\nleads to {origin:?}\nat {path}");
    assert_eq!(said["reason"], mismatch.reason.to_string());
    let Some(origin) = origin else {
        panic!("{place}")
    };
    assert_eq!(said["left"]["origin"]["name"], origin.name, "{place}");
    assert_eq!(
        said["left"]["origin"]["position"], origin.position,
        "{place}"
    );
    // Both paths lead to something, or to where something is missing.
    assert_eq!(
        path.get(left.to_value()).is_ok(),
        mismatch.left.is_some(),
        "{place}"
    );
    let other = mismatch.right_path.get(right.to_value());
    assert_eq!(other.is_ok(), mismatch.right.is_some(), "{place}");

    assert!(leads_to(&left, path, &origin, edit), "{place}");
}

/// True if a place in the original model is where the edit was.
fn leads_to(left: &Model, path: &AccessPath, origin: &NodeOrigin, edit: &Value) -> bool {
    let graph = left.program().graph.clone();
    match text(edit, "kind") {
        // A constant is not a node: its place is named by the input of the node that
        // uses it. For an output of the graph or a default of an input, the place has
        // that name.
        "weight" if edit.get("node").is_none() => uses(origin, text(edit, "tensor")),
        "weight" | "attribute" if text(edit, "op_type") == "Constant" => {
            uses(origin, text(edit, "output"))
        }
        "weight" | "attribute" | "op_type" => is_node(origin, edit),
        // The operands before and after the edit may differ only further up, where the
        // first difference then is. The path to the difference goes through the edited
        // node.
        "rewire" | "swap_inputs" | "drop_input" => (0..=path.depth()).any(|depth| {
            let part = AccessPath::from_steps(path.steps()[..depth].to_vec());
            left.node_at(&part)
                .is_some_and(|origin| is_node(&origin, edit))
        }),
        "output_order" => {
            let first = edit["outputs"][0].as_u64().map(|first| first as usize);
            let steps = path.steps();
            let results = ["results", "result_types"]
                .map(|field| AccessPath::root().attr("graph").attr(field));
            steps.len() > 2
                && results.iter().any(|results| results.is_prefix_of(path))
                && first
                    .is_some_and(|first| steps[2] == isoform::paths::AccessStep::ArrayItem(first))
        }
        "input_shape" | "input_type" => {
            let kind = if graph.params.is_empty() {
                OriginKind::Output
            } else {
                OriginKind::Input
            };
            origin.kind == kind && origin.name == text(edit, "value")
        }
        other => panic!("an edit of kind {other} that this test does not know"),
    }
}

/// The lines that fit on a screen.
const SCREEN: usize = 24;

#[test]
fn an_edit_is_on_the_first_screen() {
    let Some(real) = Real::find() else { return };
    for (kind, seed) in [("random", "11"), ("attribute", "12"), ("weight", "13")] {
        let folder = temporary_folder();
        let report = real.edit(&["edit-all", "--kind", kind, "--seed", seed], folder.path());
        for name in names_in(folder.path()) {
            let (left, right) = (real.models.join(&name), folder.path().join(&name));
            let screen = screen(&left, &right);
            assert!(
                tells(&screen, &report[&name]),
                "{name}: {}\n{screen}",
                report[&name]
            );
        }
    }
}

#[test]
fn ten_edits_are_on_the_first_screen() {
    let Some(real) = Real::find() else { return };
    let names = [
        "light_squeezenet.onnx",
        "light_resnet50.onnx",
        "light_inception_v1.onnx",
    ];
    for name in names.into_iter().step_by(every()) {
        let folder = temporary_folder();
        let original = real.models.join(name);
        let mut edits = Vec::new();
        let mut last = original.clone();
        for seed in 0..10 {
            // Other edits could undo the effect of earlier edits.
            let kind = ["edit-attribute", "edit-weight"][seed % 2];
            let next = folder.path().join(format!("{seed}.onnx"));
            edits.push(real.edit_one(kind, &last, &next, seed + 20));
            last = next;
        }
        let screen = screen(&original, &last);
        for edit in &edits {
            assert!(tells(&screen, edit), "{name}: {edit}\n{screen}");
        }
    }
}

#[test]
fn an_optimised_model_tells_what_is_gone() {
    let Some(real) = Real::find() else { return };
    let folder = temporary_folder();
    let name = "light_squeezenet.onnx";
    let (left, right) = (real.models.join(name), folder.path().join(name));
    let args = ["optimize".as_ref(), left.as_os_str(), right.as_os_str()];
    assert_eq!(run_in(folder.path(), args).status, 0);
    let screen = screen(&left, &right);
    for text in [
        "operators: ConstantOfShape 39 -> 19, Dropout 1 -> 0",
        "removed Dropout 'n61', input 0 of Conv 'n62'",
        "2 nodes (ConstantOfShape, Conv) became 1 node (Conv), 6 times",
        "3 nodes (2 ConstantOfShape, Conv) became 1 node (Conv), 6 times",
        "8 times",
    ] {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
}

/// The first screen of the command's output about two different models.
#[track_caller]
fn screen(left: &Path, right: &Path) -> String {
    let args = ["diff".as_ref(), left.as_os_str(), right.as_os_str()];
    let ran = run_in(Path::new("."), args);
    assert_eq!(
        (ran.status, ran.err.as_str()),
        (1, ""),
        "{left:?} {right:?}"
    );
    let lines: Vec<&str> = ran.out.lines().take(SCREEN).collect();
    lines.join("\n")
}

/// True if a text has a line about an edit.
fn tells(screen: &str, edit: &Value) -> bool {
    let quoted = |key: &str| {
        let name = edit[key].as_str().filter(|name| !name.is_empty());
        name.map(|name| format!("'{name}'"))
    };
    let node = quoted("node").or_else(|| quoted("output"));
    let has = |parts: &[Option<String>]| {
        screen.lines().any(|line| {
            let mut parts = parts.iter();
            parts.all(|part| {
                part.as_ref()
                    .is_some_and(|part| line.contains(part.as_str()))
            })
        })
    };
    let is_constant = edit["op_type"] == "Constant";
    match text(edit, "kind") {
        "weight" | "attribute" if is_constant => has(&[quoted("output")]),
        "attribute" => {
            // Many equal edits are counted, and some edits named.
            has(&[quoted("attribute"), node])
                || has(&[quoted("attribute"), Some(" times".to_owned())])
        }
        "weight" if edit.get("node").is_none() => has(&[quoted("tensor")]),
        "weight" => {
            has(&[quoted("attribute"), node])
                || has(&[quoted("attribute"), Some(" times".to_owned())])
        }
        "op_type" => has(&[
            Some(text(edit, "old").to_owned()),
            Some(format!("became {}", text(edit, "new"))),
            node,
        ]),
        // An unneeded node is gone, and may be part of a larger change.
        "rewire" | "swap_inputs" | "drop_input" => {
            let op = Some(text(edit, "op_type").to_owned());
            has(&[node]) || has(&[Some("nodes (".to_owned()), op])
        }
        "output_order" => has(&[Some("output '".to_owned())]),
        "input_shape" | "input_type" => has(&[quoted("value")]),
        other => panic!("an edit of kind {other} that this test does not know"),
    }
}

fn is_node(origin: &NodeOrigin, edit: &Value) -> bool {
    origin.kind == OriginKind::Node
        && text(edit, "graph") == "main"
        && edit["index"] == origin.position
        && origin.name == text(edit, "node")
        && origin.op.ends_with(text(edit, "op_type"))
}

fn uses(origin: &NodeOrigin, constant: &str) -> bool {
    match origin.kind {
        OriginKind::Node => origin.input.as_deref() == Some(constant),
        _ => origin.name == constant,
    }
}

#[track_caller]
fn text<'a>(edit: &'a Value, key: &str) -> &'a str {
    edit[key]
        .as_str()
        .unwrap_or_else(|| panic!("no {key} in {edit}"))
}
