//! `isoform git`, with a real git.

use std::path::Path;
use std::process::Command;

use crate::build::{Folder, Small, floats, small};
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
    assert_eq!(printed.out.lines().count(), 12, "{printed:?}");
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

    let printed = isoform(&folder, "git uninstall --print");
    let gone = isoform(&folder, "git uninstall");
    assert_eq!((gone.status, &gone.out), (0, &printed.out), "{gone:?}");
    assert_eq!(gone.out.lines().count(), 7, "{gone:?}");
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

/// The configuration and the attributes of a repository.
fn configured(folder: &Folder) -> (String, Option<String>) {
    let file = folder.path().join(".gitattributes");
    let mut config: Vec<String> = git(folder, &["config", "--list", "--local"])
        .lines()
        .map(str::to_owned)
        .collect();
    config.sort_unstable();
    (config.join("\n"), std::fs::read_to_string(file).ok())
}

#[test]
fn printed_changes_are_those_of_install_and_uninstall() {
    if !has_git() {
        return;
    }
    for attributes in [
        None,
        Some(""),
        Some("*.txt text"),
        Some("a b\r\n"),
        Some("*.iso diff=isoform\n"),
    ] {
        let folders = [(); 2].map(|()| {
            let folder = repository();
            if let Some(text) = attributes {
                folder.file(".gitattributes", text.as_bytes());
            }
            git(&folder, &["config", "diff.isoform.textconv", "strings -a"]);
            folder
        });
        let [by_hand, ours] = &folders;
        for command in ["git install", "git uninstall"] {
            let printed = isoform(by_hand, &format!("{command} --print"));
            assert!(printed.out.contains("strings -a") || command == "git uninstall");
            let ran = alone(&mut Command::new("sh"), by_hand.path())
                .args(["-ec", &printed.out])
                .output()
                .unwrap();
            assert!(ran.status.success(), "{ran:?}");
            assert_eq!(isoform(ours, command).status, 0);
            assert_eq!(
                configured(by_hand),
                configured(ours),
                "{attributes:?}: {printed:?}"
            );
        }
        // A file that was there before stays, even without lines.
        let left = configured(ours).1;
        assert_eq!(left.is_some(), attributes.is_some(), "{attributes:?}");
    }
}

#[test]
fn settings_of_others_are_named_and_kept() {
    if !has_git() {
        return;
    }
    let folder = repository();
    git(&folder, &["config", "diff.isoform.textconv", "strings -a"]);
    let ran = isoform(&folder, "git install");
    let line = "# replaces diff.isoform.textconv: 'strings -a'\n";
    assert!(ran.out.starts_with(line), "{ran:?}");
    git(&folder, &["config", "diff.isoform.textconv", "strings -a"]);
    let ran = isoform(&folder, "git uninstall");
    let line = "# keeps diff.isoform.textconv: 'strings -a'\n";
    assert!(ran.out.starts_with(line), "{ran:?}");
    let config = git(&folder, &["config", "--get-regexp", "isoform"]);
    assert_eq!(config, "diff.isoform.textconv strings -a\n");
}

#[test]
fn canonical_texts_ignore_what_is_no_part_of_the_program() {
    let folder = Folder::new();
    let mut model = small(&Small::default());
    folder.model("one.onnx", &model);
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.push(floats("unused", &[1.0, 2.0]));
    folder.model("other.onnx", &model);
    let text = |file: &str| isoform(&folder, &format!("git textconv --canonical {file}")).out;
    assert_eq!(text("one.onnx"), text("other.onnx"));
}

#[test]
fn canonical_texts_name_the_nodes_of_files_by_kind() {
    let folder = Folder::new();
    folder.file("one.iso", b"[%0, %0]\n%0 = [1, 2]\n");
    let text = |options: &str| isoform(&folder, &format!("git textconv {options}one.iso")).out;
    assert!(text("").contains("%0 = [1, 2]"), "{}", text(""));
    let canonical = text("--canonical ");
    let name = (canonical.split_once("%list.")).map_or("", |(_, rest)| &rest[..6]);
    assert!(
        canonical.contains(&format!("%list.{name} = [1, 2]")),
        "{canonical}"
    );
    let shown = isoform(&folder, "show --canonical one.iso").out;
    assert_eq!(shown, canonical);
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

// ---- merges ------------------------------------------------------------------------

/// Runs git, which may fail.
fn try_git(folder: &Folder, words: &[&str]) -> Ran {
    let ran = alone(&mut Command::new("git"), folder.path())
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(words)
        .output();
    ran.unwrap().into()
}

/// The small model with some parts changed, written to `model.onnx`.
fn write(folder: &Folder, change: impl FnOnce(&mut Small)) {
    let mut parts = Small::default();
    change(&mut parts);
    folder.model("model.onnx", &small(&parts));
}

fn commit(folder: &Folder, message: &str) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-qm", message, "--allow-empty"]);
}

/// A repository with the merge driver: on the branch `other`, the model has one change, and on
/// the branch `main`, which is checked out, another.
fn branches(ours: impl FnOnce(&mut Small), theirs: impl FnOnce(&mut Small)) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("home")).unwrap();
    folder.file(".gitignore", b"home\n");
    git(&folder, &["init", "-q", "-b", "main"]);
    assert_eq!(isoform(&folder, "git install").status, 0);
    write(&folder, |_| {});
    commit(&folder, "A model");
    git(&folder, &["checkout", "-qb", "other"]);
    write(&folder, theirs);
    commit(&folder, "Their edit");
    git(&folder, &["checkout", "-q", "main"]);
    write(&folder, ours);
    commit(&folder, "Our edit");
    folder
}

/// True if the model has both changes of the clean merges below.
#[track_caller]
fn check_merged(folder: &Folder) {
    let expected = Small {
        bias: 0.75,
        final_op: "Tanh",
        ..Small::default()
    };
    folder.model("home/expected.onnx", &small(&expected));
    let ran = isoform(folder, "diff model.onnx home/expected.onnx");
    check(&ran, 0, "equal\n");
    let status = git(folder, &["status", "--porcelain"]);
    assert!(!status.contains("UU"), "{status}");
}

#[test]
fn git_merges_edits_of_different_nodes() {
    if !has_git() {
        return;
    }
    let make = || branches(|ours| ours.final_op = "Tanh", |theirs| theirs.bias = 0.75);
    let folder = make();
    git(&folder, &["merge", "-q", "other", "-m", "Merge"]);
    check_merged(&folder);

    let folder = make();
    git(&folder, &["rebase", "-q", "other"]);
    check_merged(&folder);

    let folder = make();
    git(&folder, &["cherry-pick", "other"]);
    check_merged(&folder);

    // Changes that are not committed go through the driver, too.
    let folder = make();
    git(&folder, &["checkout", "-q", "HEAD~1"]);
    write(&folder, |parts| parts.bias = 0.75);
    git(&folder, &["stash", "-q"]);
    git(&folder, &["checkout", "-q", "main"]);
    git(&folder, &["stash", "pop", "-q"]);
    check_merged(&folder);
}

#[test]
fn git_merges_a_renamed_model_with_an_edited_one() {
    if !has_git() {
        return;
    }
    let folder = branches(|_| {}, |theirs| theirs.final_op = "Tanh");
    let mut renamed = small(&Small::default());
    let graph = renamed.graph.as_mut().unwrap();
    for name in graph
        .node
        .iter_mut()
        .flat_map(|node| node.input.iter_mut().chain(&mut node.output))
    {
        if matches!(name.as_str(), "c" | "s") {
            *name = format!("value_{name}");
        }
    }
    folder.model("model.onnx", &renamed);
    commit(&folder, "Other names");
    git(&folder, &["merge", "-q", "other", "-m", "Merge"]);
    let text = isoform(&folder, "show -q model.onnx").out;
    assert!(text.contains("%y = Tanh(%value_s)"), "{text}");
}

#[test]
fn a_conflict_leaves_our_file_and_is_marked() {
    if !has_git() {
        return;
    }
    let folder = branches(
        |ours| ours.final_op = "Tanh",
        |theirs| theirs.final_op = "Elu",
    );
    let before = std::fs::read(folder.path().join("model.onnx")).unwrap();
    let ran = try_git(&folder, &["merge", "other"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let place = "conflict in node 'Relu_y' (Relu) producing 'y' in graph 'main': operator";
    assert!(ran.err.contains(place), "{ran:?}");
    assert!(ran.err.contains("left   \"Tanh\""), "{ran:?}");
    assert_eq!(
        std::fs::read(folder.path().join("model.onnx")).unwrap(),
        before
    );
    assert!(git(&folder, &["status", "--porcelain"]).contains("UU model.onnx"));

    // The documented way out.
    for (stage, name) in [("1", "base"), ("2", "ours"), ("3", "theirs")] {
        let spec = format!(":{stage}:model.onnx");
        let shown = alone(&mut Command::new("git"), folder.path())
            .args(["cat-file", "blob", &spec])
            .output()
            .unwrap();
        folder.file(&format!("home/{name}.onnx"), &shown.stdout);
    }
    let line = "merge home/base.onnx home/ours.onnx home/theirs.onnx --resolve right -o model.onnx --force";
    assert_eq!(isoform(&folder, line).status, 0);
    commit(&folder, "Resolved");
    let text = isoform(&folder, "show -q model.onnx").out;
    assert!(text.contains("Elu("), "{text}");
}

#[test]
fn files_that_cannot_be_merged_stay_as_they_are() {
    if !has_git() {
        return;
    }
    let folder = branches(|ours| ours.final_op = "Tanh", |theirs| theirs.bias = 0.75);
    folder.file("model.onnx", b"no model at all");
    commit(&folder, "Broken");
    let ran = try_git(&folder, &["merge", "other"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("model.onnx (current)"), "{ran:?}");
    let file = std::fs::read(folder.path().join("model.onnx")).unwrap();
    assert_eq!(file, b"no model at all");
    git(&folder, &["merge", "--abort"]);

    // Both branches add another model under one name.
    git(&folder, &["checkout", "-qb", "one"]);
    folder.model("new.onnx", &small(&Small::default()));
    commit(&folder, "A new model");
    git(&folder, &["checkout", "-q", "other"]);
    let other = Small {
        final_op: "Elu",
        ..Small::default()
    };
    folder.model("new.onnx", &small(&other));
    commit(&folder, "Another new model");
    let ran = try_git(&folder, &["merge", "one"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("no common version"), "{ran:?}");
}

#[test]
fn models_with_external_data_are_not_merged() {
    if !has_git() {
        return;
    }
    let folder = branches(|_| {}, |_| {});
    let line = "convert --force --external-data --size-threshold 8 model.onnx model.onnx";
    assert_eq!(isoform(&folder, line).status, 0);
    commit(&folder, "External data");
    git(&folder, &["checkout", "-q", "other"]);
    write(&folder, |parts| parts.final_op = "Tanh");
    commit(&folder, "An edit");
    let ran = try_git(&folder, &["merge", "main"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("merges one file at a time"), "{ran:?}");
}

/// In a criss-cross merge, the merged ancestors must not hide the decision of one side.
#[test]
fn a_criss_cross_merge_loses_no_decision() {
    if !has_git() {
        return;
    }
    let folder = branches(
        |ours| ours.final_op = "Tanh",
        |theirs| theirs.final_op = "Elu",
    );
    git(&folder, &["tag", "ours"]);
    // Each branch merges the other one, and keeps its own operator.
    git(
        &folder,
        &["merge", "-q", "-s", "ours", "other", "-m", "Tanh stays"],
    );
    git(&folder, &["checkout", "-q", "other"]);
    git(
        &folder,
        &["merge", "-q", "-s", "ours", "ours", "-m", "Elu stays"],
    );
    let ran = try_git(&folder, &["merge", "main"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(git(&folder, &["status", "--porcelain"]).contains("UU model.onnx"));
}

/// A stand-in for Git LFS: `clean` stores its input under a number, `smudge` finds it.
const LFS: &str = r##"#!/bin/sh
store="$HOME/lfs"
mkdir -p "$store"
case "$1" in
    clean)
        cat >"$store/new"
        oid=$(cksum <"$store/new" | tr -d ' ')
        mv "$store/new" "$store/$oid"
        printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 1\n' "$oid" ;;
    smudge)
        oid=$(sed -n 's/^oid sha256://p')
        cat "$store/$oid" ;;
    *) exit 3 ;;
esac
"##;

#[cfg(unix)]
#[test]
fn pointers_of_git_lfs_are_followed() {
    use std::os::unix::fs::PermissionsExt;

    if !has_git() {
        return;
    }
    let folder = Folder::new();
    let script = folder.file("home/bin/git-lfs", LFS.as_bytes());
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        folder.path().join("home/bin").display(),
        std::env::var("PATH").unwrap()
    );
    let git = |words: &[&str]| {
        let ran = alone(&mut Command::new("git"), folder.path())
            .env("PATH", &path)
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(words)
            .output();
        let ran = Ran::from(ran.unwrap());
        assert_eq!(ran.status, 0, "git {words:?}: {ran:?}");
        ran.out
    };
    folder.file(".gitignore", b"home\n");
    folder.file(
        ".gitattributes",
        b"*.onnx filter=lfs diff=lfs merge=lfs -text\n",
    );
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "filter.lfs.clean", "git lfs clean -- %f"]);
    git(&["config", "filter.lfs.smudge", "git lfs smudge -- %f"]);
    assert_eq!(isoform(&folder, "git install").status, 0);
    for (branch, bias, op) in [
        ("main", 0.5, "Relu"),
        ("other", 0.75, "Relu"),
        ("main", 0.5, "Tanh"),
    ] {
        git(&["checkout", "-q", "-B", "work"]);
        if branch == "main" && op == "Tanh" {
            git(&["checkout", "-q", "main"]);
        }
        write(&folder, |parts| {
            parts.bias = bias;
            parts.final_op = op;
        });
        git(&["add", "-A"]);
        git(&["commit", "-qm", op]);
        if op != "Tanh" {
            git(&["branch", "-f", branch]);
        }
    }
    let stored = git(&["cat-file", "blob", "HEAD:model.onnx"]);
    assert!(stored.starts_with("version https://git-lfs"), "{stored}");
    git(&["merge", "-q", "other", "-m", "Merge"]);
    let stored = git(&["cat-file", "blob", "HEAD:model.onnx"]);
    assert!(stored.starts_with("version https://git-lfs"), "{stored}");
    check_merged(&folder);
}

// ---- names by structure ------------------------------------------------------------

#[test]
fn a_renumbered_model_has_no_changed_lines() {
    if !has_git() {
        return;
    }
    let folder = branches(|_| {}, |_| {});
    let renamed = Small {
        suffix: "_7",
        ..Small::default()
    };
    folder.model("model.onnx", &small(&renamed));
    assert!(changed_lines(&folder, &["diff"]).len() > 6);
    let changed = isoform(&folder, "git install --canonical");
    assert_eq!(changed.out.lines().count(), 1, "{changed:?}");
    assert!(
        changed.out.contains("git textconv --canonical"),
        "{changed:?}"
    );
    assert_eq!(changed_lines(&folder, &["diff"]), [""; 0]);

    // A module has no other names than its own.
    folder.file("map.iso", b"{\"a\": 1}\n");
    git(&folder, &["add", "map.iso"]);
    folder.file("map.iso", b"{\"a\": 2}\n");
    let expected = ["-{\"a\": 1}", "+{\"a\": 2}"];
    assert_eq!(changed_lines(&folder, &["diff", "--", "map.iso"]), expected);
}
