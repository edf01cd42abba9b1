//! The real command: every command, option and exit status on small models, and real models.

mod build;
mod cache;
mod clones;
mod diff;
mod external;
mod formats;
mod git;
mod ir;
mod merge;
mod mlir;
mod models;
mod optimize;
mod own;
mod pages;
mod passes;
mod pictures;
mod reduce;
mod shapes;
mod show;
mod store;
mod summary;
mod support;

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use build::{Folder, Small, chain, model, small};
use serde_json::Value;
use support::{Ran, command};

/// A folder with a model, a renamed copy, and three different models.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("a.onnx", &small(&Small::default()));
    let renamed = Small {
        suffix: "_renamed",
        ..Small::default()
    };
    folder.model("renamed.onnx", &small(&renamed));
    let weight = Small {
        bias: f32::from_bits(0.5f32.to_bits() + 1),
        ..Small::default()
    };
    folder.model("weight.onnx", &small(&weight));
    let attribute = Small {
        pads: [1, 2],
        ..Small::default()
    };
    folder.model("attribute.onnx", &small(&attribute));
    let operator = Small {
        final_op: "Tanh",
        ..Small::default()
    };
    folder.model("operator.onnx", &small(&operator));
    folder.file("broken.onnx", b"\x0a\xff\xff\xff\xff\xff\xff\xff");
    folder
}

#[track_caller]
fn check(ran: &Ran, status: i32, out: &str) {
    assert_eq!((ran.status, ran.out.as_str()), (status, out), "{}", ran.err);
}

#[track_caller]
fn json(ran: &Ran) -> Value {
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn digests(ran: &Ran) -> Vec<&str> {
    ran.out
        .lines()
        .filter_map(|line| line.split("  ").next())
        .collect()
}

// ---- hash --------------------------------------------------------------------------

#[test]
fn hash_prints_digest_and_name_in_the_order_given() {
    let folder = folder();
    let ran = folder.run("hash weight.onnx a.onnx renamed.onnx operator.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<(&str, &str)> = ran
        .out
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .collect();
    let names: Vec<&str> = lines.iter().map(|(_, name)| *name).collect();
    assert_eq!(
        names,
        ["weight.onnx", "a.onnx", "renamed.onnx", "operator.onnx"]
    );
    for (digest, _) in &lines {
        assert_eq!(digest.len(), 64);
        assert!(
            digest
                .bytes()
                .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        );
    }
    assert_eq!(lines[1].0, lines[2].0, "names play no part");
    assert_ne!(lines[0].0, lines[1].0, "weights do");
    assert_ne!(lines[3].0, lines[1].0, "operators do");
}

#[test]
fn hash_without_weights() {
    let folder = folder();
    let ran = folder.run("hash --architecture a.onnx weight.onnx attribute.onnx");
    let digests = digests(&ran);
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0], digests[2]);
}

#[test]
fn hash_with_names_of_inputs_and_outputs() {
    let folder = folder();
    let ran = folder.run("hash --io-names a.onnx renamed.onnx");
    let digests = digests(&ran);
    assert_ne!(digests[0], digests[1]);
}

#[test]
fn hash_goes_on_after_a_failure() {
    let folder = folder();
    let ran = folder.run("hash broken.onnx a.onnx missing.onnx renamed.onnx");
    assert_eq!(ran.status, 2);
    assert_eq!(digests(&ran).len(), 2);
    let errors: Vec<&str> = ran.err.lines().collect();
    assert_eq!(errors.len(), 2, "{ran:?}");
    assert!(errors[0].starts_with("isoform: broken.onnx: "), "{ran:?}");
    assert!(errors[1].starts_with("isoform: missing.onnx: "), "{ran:?}");
    // The name is said once.
    assert_eq!(errors[0].matches("broken.onnx").count(), 1, "{ran:?}");
}

#[test]
fn hash_as_json() {
    let folder = folder();
    let plain = folder.run("hash a.onnx renamed.onnx");
    let ran = folder.run("hash --json a.onnx broken.onnx renamed.onnx");
    assert_eq!(ran.status, 2);
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["file"], "a.onnx");
    assert_eq!(lines[0]["digest"], digests(&plain)[0]);
    assert_eq!(lines[1]["file"], "broken.onnx");
    assert!(lines[1]["error"].is_string());
    assert_eq!(lines[2]["digest"], lines[0]["digest"]);
}

#[test]
fn folders_and_standard_input_are_refused_with_advice() {
    let folder = folder();
    let ran = folder.run("hash .");
    assert_eq!(ran.status, 2);
    for command in ["isoform dedup", "isoform index", "isoform diff"] {
        assert!(ran.err.contains(command), "{ran:?}");
    }
    for line in ["hash -", "show -", "diff - a.onnx"] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2);
        assert!(ran.err.contains("standard input"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn odd_file_names_cannot_disturb_the_terminal() {
    let folder = folder();
    folder.model("a\u{1b}[31m\nb.onnx", &small(&Small::default()));
    let ran = support::run_in(folder.path(), ["hash", "a\u{1b}[31m\nb.onnx"]);
    assert!(ran.out.ends_with("  a\\u{1b}[31m\\nb.onnx\n"), "{ran:?}");
}

// ---- diff --------------------------------------------------------------------------

#[test]
fn diff_of_equal_models() {
    let folder = folder();
    check(&folder.run("diff a.onnx renamed.onnx"), 0, "equal\n");
    check(&folder.run("diff -q a.onnx renamed.onnx"), 0, "");
    check(
        &folder.run("diff --architecture a.onnx weight.onnx"),
        0,
        "equal\n",
    );
}

#[test]
fn diff_explains_the_first_difference() {
    let folder = folder();
    check(
        &folder.run("diff --first a.onnx attribute.onnx"),
        1,
        "\
different: the values differ
left   a.onnx
  in     node 'Conv_c' (Conv) producing 'c' in graph 'main'
  value  1
  path   <root>.graph.results[0].call.inputs[0].call.inputs[0].call.attrs[\"pads\"][1]
right  attribute.onnx
  in     node 'Conv_c' (Conv) producing 'c' in graph 'main'
  value  2
  path   <root>.graph.results[0].call.inputs[0].call.inputs[0].call.attrs[\"pads\"][1]
",
    );
}

#[test]
fn diff_explains_a_weight_to_its_element() {
    let folder = folder();
    let ran = folder.run("diff --first a.onnx weight.onnx");
    assert_eq!(ran.status, 1);
    for expected in [
        "  in     node 'Add_s' (Add) producing 's' in graph 'main', input 'b'\n",
        "  value  0.5 at [0] of float32[1]\n",
        "  value  0.50000006 at [0] of float32[1]\n",
    ] {
        assert!(ran.out.contains(expected), "{ran:?}");
    }
}

#[test]
fn diff_of_names_of_inputs_and_outputs() {
    let folder = folder();
    let ran = folder.run("diff --first --io-names a.onnx renamed.onnx");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("\"x\""), "{ran:?}");
    assert!(ran.out.contains("\"x_renamed\""), "{ran:?}");
}

#[test]
fn diff_can_be_silent() {
    let folder = folder();
    check(&folder.run("diff --quiet a.onnx operator.onnx"), 1, "");
    check(&folder.run("diff -q --json a.onnx operator.onnx"), 1, "");
}

#[test]
fn the_first_difference_as_json() {
    let folder = folder();
    let same = json(&folder.run("diff --first --json a.onnx renamed.onnx"));
    assert_eq!(same["equal"], true);
    assert_eq!(same["left"]["file"], "a.onnx");

    let ran = folder.run("diff --first --json a.onnx operator.onnx");
    assert_eq!(ran.status, 1);
    let other = json(&ran);
    assert_eq!(other["equal"], false);
    assert_eq!(other["reason"], "the values differ");
    assert_eq!(other["left"]["path"], "<root>.graph.results[0].call.op");
    assert_eq!(other["left"]["value"], "\"Relu\"");
    assert_eq!(other["right"]["value"], "\"Tanh\"");
    let origin = &other["left"]["origin"];
    assert_eq!(origin["kind"], "node");
    assert_eq!(origin["name"], "Relu_y");
    assert_eq!(origin["outputs"][0], "y");
    assert_eq!(origin["position"], 2);
}

#[test]
fn diff_in_trouble() {
    let folder = folder();
    let ran = folder.run("diff a.onnx missing.onnx");
    check(&ran, 2, "");
    assert!(ran.err.starts_with("isoform: missing.onnx: "), "{ran:?}");

    let ran = folder.run("diff broken.onnx missing.onnx");
    check(&ran, 2, "");
    assert_eq!(ran.err.lines().count(), 2, "{ran:?}");

    let ran = folder.run("diff --json broken.onnx a.onnx");
    assert_eq!(ran.status, 2);
    assert_eq!(json(&ran)["failed"][0]["file"], "broken.onnx");
}

// ---- dedup -------------------------------------------------------------------------

#[test]
fn dedup_groups_equal_models() {
    let folder = folder();
    folder.model("deep/er/copy.ONNX", &small(&Small::default()));
    folder.model(
        "deep/operator.onnx",
        &small(&Small {
            final_op: "Tanh",
            ..Small::default()
        }),
    );
    folder.file("deep/notes.txt", b"not a model");
    let digest = |file: &str| digests(&folder.run(&format!("hash {file}"))).concat();
    let ran = folder.run("dedup .");
    assert_eq!(ran.status, 2, "one file is broken");
    assert_eq!(
        ran.out,
        format!(
            "\
3 equal models  {}
  ./a.onnx
  ./deep/er/copy.ONNX
  ./renamed.onnx
2 equal models  {}
  ./deep/operator.onnx
  ./operator.onnx
7 models, 4 distinct, 2 groups of equal models, 1 failed
",
            digest("a.onnx"),
            digest("operator.onnx")
        )
    );
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    assert!(ran.err.starts_with("isoform: ./broken.onnx: "), "{ran:?}");

    let ran = folder.run("dedup -q deep");
    check(&ran, 0, "");
    let ran = folder.run("dedup --architecture a.onnx weight.onnx attribute.onnx");
    assert_eq!(ran.status, 0);
    assert!(
        ran.out
            .ends_with("3 models, 2 distinct, 1 group of equal models, 0 failed\n"),
        "{ran:?}"
    );
}

#[test]
fn dedup_as_json() {
    let folder = folder();
    let ran = folder.run("dedup --json . missing");
    assert_eq!(ran.status, 2);
    let found = json(&ran);
    assert_eq!(found["models"], 5);
    assert_eq!(found["distinct"], 4);
    assert_eq!(
        found["groups"][0]["files"],
        serde_json::json!(["./a.onnx", "./renamed.onnx"])
    );
    assert_eq!(found["failed"].as_array().map(Vec::len), Some(2));
}

#[cfg(unix)]
#[test]
fn dedup_survives_links_in_a_circle() {
    let folder = folder();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
    let ran = folder.run("dedup a.onnx renamed.onnx again");
    assert!(
        ran.out
            .ends_with("5 models, 4 distinct, 1 group of equal models, 1 failed\n"),
        "{ran:?}"
    );
}

#[test]
fn progress_is_silent_in_pipes() {
    let folder = Folder::new();
    folder.model("a.onnx", &small(&Small::default()));
    let ran = folder.run("dedup .");
    assert_eq!(ran.err, "");
    check(
        &ran,
        0,
        "1 model, 1 distinct, 0 groups of equal models, 0 failed\n",
    );
}

// ---- the command line --------------------------------------------------------------

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = Folder::new().run(&format!("completions {shell}"));
        assert_eq!(ran.status, 0);
        assert!(ran.out.contains("architecture"), "{shell}: {}", ran.out);
        assert!(ran.out.contains("full-tensors"), "{shell}: {}", ran.out);
    }
    assert_eq!(Folder::new().run("completions tcsh").status, 2);
}

#[test]
fn help_has_examples_and_exit_status() {
    let commands = [
        ("", "isoform dedup ~/models"),
        ("hash", "isoform hash model.onnx"),
        ("diff", "isoform diff before.onnx after.onnx"),
        (
            "show",
            "isoform show --names model.onnx | grep '/encoder/layer.3/'",
        ),
        ("summary", "isoform summary pretrained.onnx finetuned.onnx"),
        ("dedup", "isoform dedup --json . | jq '.groups[].files'"),
        (
            "convert",
            "isoform convert module.json - --to binary | isoform hash -",
        ),
        (
            "completions",
            "isoform completions fish > ~/.config/fish/completions/isoform.fish",
        ),
    ];
    for (name, example) in commands {
        for flag in ["--help", "-h"] {
            let ran = Folder::new().run(&format!("{name} {flag}"));
            assert_eq!((ran.status, ran.err.as_str()), (0, ""));
            for expected in [
                "\nExit status:\n  0",
                "\nExamples:\n",
                example,
                "--architecture",
                "--color",
            ] {
                assert!(
                    ran.out.contains(expected),
                    "{name}: no {expected:?} in {}",
                    ran.out
                );
            }
        }
    }
}

#[test]
fn version() {
    let expected = concat!("isoform ", env!("CARGO_PKG_VERSION"), "\n");
    check(&Folder::new().run("-V"), 0, expected);
    check(&Folder::new().run("--version"), 0, expected);
}

#[test]
fn wrong_command_lines_are_trouble() {
    for line in [
        "",
        "frobnicate",
        "hash",
        "hash --no-such-option a.onnx",
        "diff a.onnx",
        "diff a.onnx b.onnx c.onnx",
        "show",
        "show --depth many a.onnx",
        "show --limit -1 a.onnx",
        "dedup",
        "dedup --color sometimes .",
        "completions",
        "convert a.json",
        "convert --to xml a.json b.xml",
        "show --width wide a.json",
    ] {
        let ran = Folder::new().run(line);
        check(&ran, 2, "");
        assert!(!ran.err.is_empty(), "{line}");
    }
    for (line, tip) in [
        ("a.onnx b.onnx", "`isoform diff LEFT RIGHT` compares two"),
        ("../a.onnx", "`isoform show FILE` prints one"),
        (
            "diff --format html a.onnx b.onnx",
            "`--html FILE` writes a page",
        ),
        ("show --format html a.onnx", "`--html FILE` writes a page"),
    ] {
        let ran = Folder::new().run(line);
        check(&ran, 2, "");
        assert!(ran.err.contains(tip), "{ran:?}");
    }
}

#[test]
fn colour_is_used_as_asked() {
    let folder = folder();
    let colored = |line: &str| folder.run(line).out.contains('\u{1b}');
    for line in [
        "diff a.onnx operator.onnx",
        "diff a.onnx renamed.onnx",
        "show a.onnx",
        "dedup .",
    ] {
        assert!(!colored(line), "{line}");
        assert!(!colored(&format!("--color never {line}")), "{line}");
        assert!(colored(&format!("--color always {line}")), "{line}");
        assert!(colored(&format!("{line} --color=always")), "{line}");
    }
    assert!(!colored("show --json --color always a.onnx"));
    assert!(colored("--help --color always"));
    assert!(!colored("--help"));
    assert!(folder.run("--color=always nonsense").err.contains('\u{1b}'));
    assert!(
        folder
            .run("hash --color=always missing.onnx")
            .err
            .contains('\u{1b}')
    );

    let forced = |no_color: bool| {
        let mut command = command();
        command
            .env("CLICOLOR_FORCE", "1")
            .current_dir(folder.path());
        if no_color {
            command.env("NO_COLOR", "1");
        }
        let ran: Ran = command.args(["show", "a.onnx"]).output().unwrap().into();
        ran.out.contains('\u{1b}')
    };
    assert!(forced(false));
    assert!(!forced(true), "NO_COLOR has the last word");
}

#[cfg(unix)]
#[test]
fn a_reader_may_leave_early() {
    let folder = Folder::new();
    folder.model("long.onnx", &chain(20_000));
    folder.model("other.onnx", &chain(2));
    for (line, status) in [
        ("show long.onnx", 0),
        ("hash long.onnx", 0),
        ("diff long.onnx other.onnx", 1),
    ] {
        let mut child = command()
            .current_dir(folder.path())
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let out = child.stdout.take().unwrap();
        if line.starts_with("show") {
            let mut first = String::new();
            BufReader::new(out).read_line(&mut first).unwrap();
            assert_eq!(first, "# ONNX model\n");
        } else {
            // Nobody reads from the start.
            drop(out);
        }
        let mut err = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut err)
            .unwrap();
        assert_eq!(err, "", "{line}");
        assert_eq!(child.wait().unwrap().code(), Some(status), "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_trouble() {
    let folder = folder();
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ran = command()
        .current_dir(folder.path())
        .args(["show", "a.onnx"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(
        String::from_utf8(ran.stderr)
            .unwrap()
            .starts_with("isoform: standard output: ")
    );
}

#[test]
fn the_library_runs_in_process() {
    let folder = folder();
    folder.model("empty.onnx", &model(Default::default()));
    let file = folder.path().join("a.onnx");
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut streams = isoform_cli::Streams::plain(&mut out, &mut err);
    let args = [
        "isoform".as_ref(),
        "diff".as_ref(),
        file.as_os_str(),
        file.as_os_str(),
    ];
    assert_eq!(isoform_cli::run(args, &mut streams), 0);
    assert_eq!(
        (out.as_slice(), err.as_slice()),
        (b"equal\n".as_slice(), b"".as_slice())
    );
}
