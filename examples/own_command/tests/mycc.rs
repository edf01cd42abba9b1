//! The command of the example as its users run it.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

const BEFORE: &str = "mycc.Fun(
  params=[%x: mycc.Var()],
  body=mycc.Add(lhs=%x, rhs=mycc.Add(lhs=mycc.Const(value=1), rhs=mycc.Const(value=2))),
)
";

/// A folder with a function, a copy with another name, and the folded function.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("done");
    write("f.iso", BEFORE);
    write("renamed.iso", &BEFORE.replace("%x", "%y"));
    write(
        "folded.iso",
        "mycc.Fun(params=[%x: mycc.Var()], body=mycc.Add(lhs=%x, rhs=mycc.Const(value=3)))\n",
    );
    folder
}

/// Runs the command, and returns its status, output and errors.
fn run(folder: &TempDir, line: &str) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mycc"))
        .args(line.split_whitespace())
        .current_dir(folder)
        .output()
        .expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[track_caller]
fn check(folder: &TempDir, line: &str, status: i32, out: &str) {
    let done = run(folder, line);
    assert_eq!((done.0, &*done.1), (Some(status), out), "{}", done.2);
}

#[test]
fn files_of_its_types_are_known_to_every_command() {
    let folder = folder();
    check(&folder, "show -q f.iso", 0, BEFORE);
    check(&folder, "diff f.iso renamed.iso", 0, "equal\n");
    assert_eq!(run(&folder, "diff f.iso folded.iso").0, Some(1));
    check(&folder, "convert -q f.iso f.isob", 0, "");
    check(&folder, "convert -q f.isob f.json", 0, "");
    check(&folder, "diff f.json f.isob", 0, "equal\n");
    let (status, digests, _) = run(&folder, "hash f.iso renamed.iso f.json f.isob");
    assert_eq!(status, Some(0));
    let mut digests: Vec<&str> = digests.lines().map(|line| &line[..64]).collect();
    digests.dedup();
    assert_eq!(digests.len(), 1, "{digests:?}");
    let (status, groups, _) = run(&folder, "dedup .");
    assert_eq!(status, Some(0));
    assert!(groups.contains("renamed.iso"), "{groups}");
    check(
        &folder,
        "summary -q f.iso",
        0,
        &run(&folder, "summary -q f.isob").1,
    );
}

#[test]
fn its_pass_runs() {
    let folder = folder();
    check(&folder, "run mycc.fold f.iso -o out.iso", 0, "");
    check(&folder, "diff out.iso folded.iso", 0, "equal\n");
    let (status, passes, _) = run(&folder, "passes");
    assert_eq!(status, Some(0));
    assert!(passes.starts_with("mycc.fold  (level 0)"), "{passes}");
}

#[test]
fn help_and_messages_have_its_name() {
    let folder = folder();
    let version = env!("CARGO_PKG_VERSION");
    check(&folder, "--version", 0, &format!("mycc {version}\n"));
    let (status, help, _) = run(&folder, "--help");
    assert_eq!(status, Some(0));
    assert!(
        help.starts_with("Compare, print and transform the programs of mycc.\n"),
        "{help}"
    );
    let words: Vec<&str> = help.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains(" A file is a program as text, as a JSON graph or "),
        "{help}"
    );
    assert!(help.contains("Usage: mycc "), "{help}");
    assert!(
        help.contains("\n  mycc diff before.onnx after.onnx "),
        "{help}"
    );
    assert!(!help.contains(" isoform hash"), "{help}");
    let (_, help, _) = run(&folder, "diff --help");
    assert!(help.contains("Usage: mycc diff "), "{help}");
    let (status, _, errors) = run(&folder, "show missing.iso");
    assert_eq!(status, Some(2));
    assert!(errors.starts_with("mycc: missing.iso: "), "{errors}");
    let (status, script, _) = run(&folder, "completions bash");
    assert_eq!(status, Some(0));
    assert!(script.contains("_mycc()"), "{script}");
}

#[test]
fn types_of_others_are_shown_by_the_file_alone() {
    let folder = folder();
    let text = "other.Node(a=1)\n";
    fs::write(folder.path().join("other.iso"), text).expect("written");
    let (status, out, errors) = run(&folder, "show -q other.iso");
    assert_eq!((status, &*out), (Some(0), "unknown.other.Node(a=1)\n"));
    assert_eq!(errors, "");
    let (status, _, errors) = run(&folder, "hash other.iso");
    assert_eq!(status, Some(2));
    assert!(
        errors.contains("registers its node types in Rust"),
        "{errors}"
    );
}
