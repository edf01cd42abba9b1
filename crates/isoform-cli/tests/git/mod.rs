//! `isoform git`, with a real git.

use std::path::Path;
use std::process::Command;

use crate::build::{Folder, Small, small};
use crate::check;
use crate::support::{Ran, command};

/// True if git is installed; the tests of this module do nothing without git.
fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

/// Keeps configuration of the machine out.
fn alone<'c>(command: &'c mut Command, folder: &Path) -> &'c mut Command {
    command
        .current_dir(folder)
        .env("HOME", folder.join("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PAGER", "cat")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("GIT_DIR")
}

fn git(folder: &Folder, words: &[&str]) -> String {
    let ran = alone(&mut Command::new("git"), folder.path())
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(words)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(ran.stdout), text(ran.stderr));
    assert!(ran.status.success(), "git {words:?}: {out}{err}");
    out
}

fn isoform(folder: &Folder, line: &str) -> Ran {
    let words = line.split_whitespace();
    let ran = alone(&mut command(), folder.path()).args(words).output();
    ran.unwrap().into()
}

/// A repository with a model, and a change of one operator in the working tree.
fn repository() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("home")).unwrap();
    git(&folder, &["init", "-q"]);
    folder.model("model.onnx", &small(&Small::default()));
    git(&folder, &["add", "model.onnx"]);
    git(&folder, &["commit", "-qm", "A model"]);
    let changed = Small {
        final_op: "Tanh",
        ..Small::default()
    };
    folder.model("model.onnx", &small(&changed));
    folder
}

fn changed_lines(folder: &Folder, words: &[&str]) -> Vec<String> {
    let diff = git(folder, words);
    let lines = diff.lines().filter(|line| {
        line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
    });
    lines.map(str::to_owned).collect()
}

#[test]
fn git_shows_the_changed_line() {
    if !has_git() {
        return;
    }
    let folder = repository();
    let diff = git(&folder, &["diff"]);
    assert!(diff.contains("Binary files"), "{diff}");

    let printed = isoform(&folder, "git install --print");
    assert_eq!(printed.out.lines().count(), 5, "{printed:?}");
    assert!(!folder.path().join(".gitattributes").exists());
    let done = isoform(&folder, "git install");
    assert_eq!((done.status, &done.out), (0, &printed.out), "{done:?}");
    check(&isoform(&folder, "git install"), 0, "# nothing to change\n");

    let expected = ["-  %y = Relu(%s)", "+  %y = Tanh(%s)"];
    assert_eq!(changed_lines(&folder, &["diff"]), expected);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "An edit"]);
    assert_eq!(
        changed_lines(&folder, &["show", "HEAD", "--", "model.onnx"]),
        expected
    );
    let tool = [
        "difftool",
        "--no-prompt",
        "--tool",
        "isoform",
        "HEAD~1",
        "--",
        "model.onnx",
    ];
    let told = git(&folder, &tool);
    assert!(
        told.contains("Relu 'Relu_y' became Tanh 'Tanh_y'"),
        "{told}"
    );

    // An unreadable file must not end the diff of all other files.
    folder.file(
        "model.onnx",
        b"version https://git-lfs.github.com/spec/v1\n",
    );
    let diff = changed_lines(&folder, &["diff"]).join("\n");
    assert!(
        diff.contains("+# isoform: this is a Git LFS pointer"),
        "{diff}"
    );

    let gone = isoform(&folder, "git uninstall");
    assert_eq!(gone.out.lines().count(), 5, "{gone:?}");
    assert!(!folder.path().join(".gitattributes").exists());
    assert!(!git(&folder, &["config", "--list", "--local"]).contains("isoform"));
    check(
        &isoform(&folder, "git uninstall"),
        0,
        "# nothing to change\n",
    );
}

#[test]
fn configuration_of_others_is_kept() {
    if !has_git() {
        return;
    }
    let folder = repository();
    folder.file(".gitattributes", b"*.onnx filter=lfs diff=lfs\n*.txt text");
    git(&folder, &["config", "diff.isoform.cachetextconv", "true"]);
    assert_eq!(isoform(&folder, "git install -q").status, 0);
    let attributes = std::fs::read_to_string(folder.path().join(".gitattributes")).unwrap();
    assert!(
        attributes.starts_with("*.onnx filter=lfs diff=lfs\n*.txt text\n*.onnx diff=isoform\n"),
        "{attributes}"
    );
    assert_eq!(isoform(&folder, "git uninstall -q").status, 0);
    let attributes = std::fs::read_to_string(folder.path().join(".gitattributes")).unwrap();
    assert_eq!(attributes, "*.onnx filter=lfs diff=lfs\n*.txt text\n");
    let config = git(&folder, &["config", "--get-regexp", "isoform"]);
    assert_eq!(config, "diff.isoform.cachetextconv true\n");
}

#[test]
fn the_user_can_be_configured() {
    if !has_git() {
        return;
    }
    let folder = repository();
    assert_eq!(isoform(&folder, "git install --global").status, 0);
    assert!(folder.path().join("home/.config/git/attributes").exists());
    assert!(!folder.path().join(".gitattributes").exists());
    assert_eq!(changed_lines(&folder, &["diff"]).len(), 2);
    assert_eq!(isoform(&folder, "git uninstall --global").status, 0);
    assert!(git(&folder, &["diff"]).contains("Binary files"));

    git(
        &folder,
        &[
            "config",
            "--global",
            "core.attributesFile",
            "~/my attributes",
        ],
    );
    assert_eq!(isoform(&folder, "git install --global").status, 0);
    assert!(folder.path().join("home/my attributes").exists());

    let outside = Folder::new();
    let ran = isoform(&outside, "git install");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.err.contains("--global"), "{ran:?}");
}

#[test]
fn data_beside_a_model_does_not_show_as_a_change() {
    if !has_git() {
        return;
    }
    let folder = repository();
    let ran = isoform(
        &folder,
        "convert --force --external-data --size-threshold 8 model.onnx model.onnx",
    );
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(isoform(&folder, "git install").status, 0);
    git(&folder, &["add", "-A"]);
    git(&folder, &["commit", "-qm", "External data"]);
    let changed = git(&folder, &["log", "-p", "-1", "--", "model.onnx"]);
    assert!(changed.contains("float32[2, 2, 3] {?}"), "{changed}");
    // The old version has no data beside the model, and the new version does.
    let same = std::fs::read(folder.path().join("model.onnx")).unwrap();
    folder.file("model.onnx", &[&same[..], b"\xa0\x06\x01"].concat());
    assert_eq!(
        changed_lines(&folder, &["diff", "--", "model.onnx"]),
        [""; 0]
    );
}
