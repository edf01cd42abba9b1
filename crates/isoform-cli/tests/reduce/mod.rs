//! `isoform reduce`, with shell scripts and the command itself as checks.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use isoform_onnx::proto::{GraphProto, ModelProto, TensorProto};

use crate::build::{Dim, FLOAT, Folder, floats, model, node, value};
use crate::formats::gzip;
use crate::support::{Ran, command, run_in};
use crate::{check, json};

/// Sixty nodes, and three of a failure: `Softsign` before `Erf` in a row, and `Exp` at the
/// beginning.
fn long() -> ModelProto {
    let mut nodes = Vec::new();
    for index in 0..60 {
        let op = match index {
            3 => "Exp",
            40 => "Softsign",
            41 => "Erf",
            _ if index % 3 == 0 => "Neg",
            _ => "Relu",
        };
        let (from, to) = (format!("v{index}"), format!("v{}", index + 1));
        nodes.push(node(op, &[&from], &[&to]));
    }
    nodes.push(node("Add", &["v60", "w"], &["y"]));
    model(GraphProto {
        name: "main".to_owned(),
        node: nodes,
        initializer: vec![floats("w", &[0.5; 4])],
        input: vec![value("v0", FLOAT, &[Dim::Symbol("n"), Dim::Size(4)])],
        output: vec![value("y", FLOAT, &[Dim::Symbol("n"), Dim::Size(4)])],
        ..Default::default()
    })
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("long.onnx", &long());
    // Names of operators are plain bytes in the file.
    script(
        &folder,
        "row.sh",
        "grep -q Softsign \"$1\" && grep -q Erf \"$1\" && exit 3; exit 0",
    );
    folder
}

fn script(folder: &Folder, name: &str, text: &str) {
    let file = folder.file(name, format!("#!/bin/sh\n{text}\n").as_bytes());
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The operators of a model, without its inputs and outputs.
fn operators(folder: &Folder, file: &str) -> String {
    let ran = folder.run(&format!("summary --json {file}"));
    let report = json(&ran);
    let operators = report["model"]["operators"].as_object().unwrap().iter();
    let operators: Vec<String> = operators
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    operators.join(", ")
}

#[track_caller]
fn fails(ran: &Ran, message: &str) {
    assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    assert_eq!(ran.err, format!("isoform: {message}\n"));
}

#[test]
fn a_failing_model_becomes_a_few_nodes() {
    let folder = folder();
    let ran = folder.run("reduce long.onnx -o few.onnx -- ./row.sh");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    let start = "few.onnx: 61 nodes -> 2 nodes, ";
    assert!(ran.out.starts_with(start), "{ran:?}");
    assert!(
        ran.out.contains(" checks, ") && ran.out.ends_with(" s\n"),
        "{ran:?}"
    );
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1, Softsign 1");
    let shown = folder.run("show few.onnx").out;
    let interface = "graph(%v40: float32[d0, 4]) -> (float32[d0, 4])";
    assert!(shown.contains(interface), "{shown}");
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 3, "nothing else is left");
}

#[test]
fn json_has_the_steps() {
    let folder = folder();
    let report = json(&folder.run("reduce --json long.onnx -o few.onnx -- ./row.sh {}"));
    assert_eq!(report["file"], "long.onnx");
    assert_eq!(report["output"], "few.onnx");
    assert_eq!(report["nodes"], serde_json::json!([61, 2]));
    assert_eq!(
        (report["status"].as_u64(), report["complete"].as_bool()),
        (Some(3), Some(true))
    );
    let steps = report["steps"].as_array().unwrap();
    let names: Vec<&str> = steps
        .iter()
        .filter_map(|step| step["step"].as_str())
        .collect();
    assert_eq!(names, ["end", "start"]);
    assert_eq!(steps[1]["nodes"], 2);
    // The whole model twice, as it is and as it is written.
    let checks = report["checks"].as_u64().unwrap();
    assert!(
        checks > steps[1]["checks"].as_u64().unwrap() + 2 && checks < 40,
        "{report}"
    );
}

/// The check may be the command itself: `Exp` anywhere before `Softsign`.
#[test]
fn operators_apart_stay_and_others_between_go() {
    let folder = folder();
    let check = format!(
        "{} summary --json \"$1\" | grep -q '\"Exp\":1.*\"Softsign\":1' && exit 1; exit 0",
        env!("CARGO_BIN_EXE_isoform")
    );
    script(&folder, "apart.sh", &check);
    let ran = folder.run("reduce -q long.onnx -o few.onnx -- ./apart.sh");
    crate::check(&ran, 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Exp 1, Softsign 1");
}

#[test]
fn the_place_of_the_file_is_free() {
    let folder = folder();
    let line = [
        "reduce",
        "-q",
        "long.onnx",
        "-o",
        "few.onnx",
        "--",
        "sh",
        "-c",
    ];
    let test = "grep -q Erf \"${0#--file=}\" && case $0 in *long.onnx) exit 4;; esac; exit 0";
    let ran = run_in(folder.path(), line.into_iter().chain([test, "--file={}"]));
    check(&ran, 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1");
}

#[test]
fn a_signal_is_a_failure_of_its_own() {
    let folder = folder();
    // Without Erf, the command fails in another way.
    script(
        &folder,
        "crash.sh",
        "grep -q Erf \"$1\" || exit 1; kill -SEGV $$",
    );
    let report = json(&folder.run("reduce --json long.onnx -o few.onnx -- ./crash.sh"));
    assert_eq!(report["status"], 139);
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1");
}

#[test]
fn status_and_message_narrow_the_failure() {
    let folder = folder();
    // Status 5 for Softsign, and the same with a message for Erf.
    script(
        &folder,
        "tell.sh",
        "grep -q Erf \"$1\" && echo 'no kernel: Erf' >&2; grep -q Softsign \"$1\" && exit 5; exit 0",
    );
    let run = |options: &[&str]| {
        let line = ["reduce", "-q", "--force", "long.onnx", "-o", "few.onnx"];
        let words = line.iter().chain(options).chain(&["--", "./tell.sh"]);
        run_in(folder.path(), words)
    };
    check(&run(&[]), 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Softsign 1");
    check(&run(&["--message", "kernel: Erf"]), 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1, Softsign 1");
    fails(
        &run(&["--message", "kernel: Exp"]),
        "long.onnx: the command does not print 'kernel: Exp' for the model, as --message says; it \
         ended with status 5",
    );
    fails(
        &run(&["--status", "6"]),
        "long.onnx: expected a command that ends with status 6 for the model, as --status says, \
         but it ended with status 5",
    );
    // A command that succeeds if it finds the failure.
    let line = "reduce -q --force --status 0 long.onnx -o few.onnx -- grep -q Erf";
    check(&folder.run(line), 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1");
}

#[test]
fn a_timeout_is_a_failure_only_if_the_model_has_one() {
    let folder = folder();
    // Erf takes long; a model without Softsign is in time, too.
    script(
        &folder,
        "slow.sh",
        "grep -q Erf \"$1\" && grep -q Softsign \"$1\" && { sleep 60 & wait; }; exit 1",
    );
    let start = Instant::now();
    let line = "reduce --json --timeout 0.7 long.onnx -o few.onnx -- ./slow.sh";
    let report = json(&folder.run(line));
    assert!(
        start.elapsed() < Duration::from_secs(50),
        "processes of the command end, too"
    );
    assert!(report["status"].is_null(), "{report}");
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1, Softsign 1");
    // The model fails, and without Exp the command hangs.
    script(
        &folder,
        "hang.sh",
        "grep -q Exp \"$1\" && exit 1; exec sleep 60",
    );
    let line = "reduce -q --force --timeout 0.7 long.onnx -o few.onnx -- ./hang.sh";
    check(&folder.run(line), 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Exp 1");
}

#[test]
fn errors_come_before_any_result() {
    let folder = folder();
    fails(
        &folder.run("reduce long.onnx -o few.onnx -- true"),
        "long.onnx: the command does not fail for the model: it ended with status 0; it has to \
         fail, or write --status 0 for a command that succeeds if it finds the failure",
    );
    fails(
        &folder.run("reduce long.onnx -o few.onnx -- ./missing.sh"),
        "long.onnx: the command ./missing.sh does not start: No such file or directory (os error \
         2)",
    );
    fails(
        &folder.run("reduce missing.onnx -o few.onnx -- false"),
        "missing.onnx: No such file or directory (os error 2)",
    );
    folder.file(
        "value.json",
        b"{\"root_index\": 0, \"nodes\": [{\"type\": \"None\"}]}",
    );
    let ran = folder.run("reduce value.json -o few.onnx -- false");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err
            .contains("expected an ONNX model or MLIR, got a value"),
        "{ran:?}"
    );
    assert!(!folder.path().join("few.onnx").exists());
    // A name that no node needs is gone once the model is written.
    folder.file("unused.onnx", &{
        let mut model = long();
        let graph = model.graph.as_mut().unwrap();
        graph.node.push(node("Tanh", &["v3"], &["unused"]));
        prost::Message::encode_to_vec(&model)
    });
    let ran = folder.run("reduce --status 0 unused.onnx -o few.onnx -- grep -q Tanh");
    assert!(
        ran.status == 2
            && ran
                .err
                .contains("the failure depends on something without influence"),
        "{ran:?}"
    );
    let wrong = folder.run("reduce --timeout 0 long.onnx -o few.onnx -- false");
    assert!(
        wrong.err.contains("expected a number of seconds"),
        "{wrong:?}"
    );
}

#[test]
fn an_existing_file_stays_unless_forced() {
    let folder = folder();
    folder.file("few.onnx", b"precious");
    script(&folder, "count.sh", "echo run >> runs; exit 1");
    let ran = folder.run("reduce long.onnx -o few.onnx -- ./count.sh");
    fails(&ran, "few.onnx: the file exists; --force replaces it");
    assert!(!folder.path().join("runs").exists(), "no check was made");
    assert_eq!(
        fs::read(folder.path().join("few.onnx")).unwrap(),
        b"precious"
    );
    check(
        &folder.run("reduce -q -f long.onnx -o few.onnx -- ./row.sh"),
        0,
        "",
    );
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1, Softsign 1");
}

#[test]
fn the_number_of_checks_is_limited() {
    let folder = folder();
    script(&folder, "count.sh", "echo run >> runs; ./row.sh \"$1\"");
    let line = "reduce --json --max-checks 6 long.onnx -o few.onnx -- ./count.sh";
    let report = json(&folder.run(line));
    assert_eq!(
        (report["checks"].as_u64(), report["complete"].as_bool()),
        (Some(6), Some(false))
    );
    let runs = fs::read_to_string(folder.path().join("runs")).unwrap();
    assert_eq!(runs.lines().count(), 6);
    let nodes = report["nodes"][1].as_u64().unwrap();
    assert!((3..61).contains(&nodes), "{report}");
    assert!(operators(&folder, "few.onnx").contains("Softsign 1"));
}

#[test]
fn standard_input_and_output_are_models() {
    let folder = folder();
    let mut command = command();
    command
        .current_dir(folder.path())
        .args("reduce - -o - -- ./row.sh".split(' '))
        .stdin(fs::File::open(folder.path().join("long.onnx")).unwrap());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.starts_with("-: 61 nodes -> 2 nodes, "), "{told}");
    folder.file("few.onnx", &output.stdout);
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1, Softsign 1");
}

/// External data beside the model is found, and the result is a single file.
#[test]
fn the_result_needs_no_other_file() {
    let folder = Folder::new();
    let mut large = long();
    let graph = large.graph.as_mut().unwrap();
    graph.initializer[0] = TensorProto {
        dims: vec![500, 4],
        ..floats("w", &[0.5; 2000])
    };
    folder.model("inline.onnx", &large);
    check(
        &folder.run("convert --external-data inline.onnx large.onnx"),
        0,
        "",
    );
    assert!(folder.path().join("large.onnx.data").exists());
    let line = "reduce -q --status 0 large.onnx -o few.onnx -- grep -q Add";
    check(&folder.run(line), 0, "");
    fs::remove_file(folder.path().join("large.onnx.data")).unwrap();
    assert_eq!(operators(&folder, "few.onnx"), "Add 1");
    assert_eq!(folder.run("hash few.onnx").status, 0);
}

#[test]
fn ctrl_c_leaves_the_best_so_far() {
    let folder = folder();
    // The search is in its middle when the command waits.
    script(
        &folder,
        "wait.sh",
        "echo run >> runs; test $(wc -l < runs) -lt 7 || { echo waits; sleep 60; }; ./row.sh \"$1\"",
    );
    let mut child = command()
        .current_dir(folder.path())
        .args("reduce --json long.onnx -o few.onnx -- ./wait.sh".split(' '))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let runs = || fs::read_to_string(folder.path().join("runs")).unwrap_or_default();
    while runs().lines().count() < 7 {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", runs());
        thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let status = child.wait().unwrap();
    assert!(start.elapsed() < Duration::from_secs(55));
    assert_eq!(status.code(), Some(130));
    let mut out = String::new();
    child.stdout.unwrap().read_to_string(&mut out).unwrap();
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["complete"], false);
    let nodes = report["nodes"][1].as_u64().unwrap();
    assert!((3..61).contains(&nodes), "{report}");
    assert!(operators(&folder, "few.onnx").contains("Softsign 1"));
}

/// A module of 400 operations in four functions; one of them is the failure.
fn failing_module() -> String {
    let mut text = String::new();
    for function in 0..4 {
        text.push_str(&format!("func.func @f{function}(%v0: i32) -> i32 {{\n"));
        for at in 0..100 {
            let name = if (function, at) == (2, 57) {
                "x.bad"
            } else {
                "x.good"
            };
            let operand = if at % 3 == 0 { at / 2 } else { at };
            text.push_str(&format!(
                "  %v{} = \"{name}\"(%v{operand}, %v{at}) : (i32, i32) -> i32\n",
                at + 1
            ));
        }
        text.push_str("  return %v100 : i32\n}\n");
    }
    text
}

#[test]
fn programs_of_mlir_lose_operations() {
    let folder = Folder::new();
    folder.file("a.mlir", failing_module().as_bytes());
    let line = "reduce a.mlir -o small.mlir --status 0 -- grep -q x.bad";
    let ran = run_in(folder.path(), line.split_whitespace());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.out
            .starts_with("small.mlir: 404 operations -> 2 operations, "),
        "{ran:?}"
    );
    let small = std::fs::read_to_string(folder.path().join("small.mlir")).unwrap();
    assert!(
        small.contains("x.bad") && !small.contains("x.good"),
        "{small}"
    );
    let checks: usize = ran
        .out
        .split(", ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(checks <= 60, "{ran:?}");
    folder.file("text.iso", b"[1]");
    let line = "reduce text.iso -o small.iso -- false";
    let ran = run_in(folder.path(), line.split_whitespace());
    assert!(
        ran.err
            .contains("expected an ONNX model or MLIR, got a value as text"),
        "{ran:?}"
    );
}

/// Candidates of a compressed model are not compressed.
#[test]
fn candidates_have_the_name_of_their_form() {
    let folder = folder();
    let bytes = fs::read(folder.path().join("long.onnx")).unwrap();
    folder.file("long.onnx.gz", &gzip(&bytes));
    script(
        &folder,
        "named.sh",
        "case $1 in *.gz) exit 1;; */long.onnx) ;; *) exit 0;; esac; grep -q Erf \"$1\" && exit 1; exit 0",
    );
    let ran = folder.run("reduce -q long.onnx.gz -o few.onnx -- ./named.sh");
    check(&ran, 0, "");
    assert_eq!(operators(&folder, "few.onnx"), "Erf 1");
}
