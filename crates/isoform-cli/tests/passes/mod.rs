//! Passes: the list, their application, and the search for the pass that breaks a
//! program.

use crate::build::Folder;
use crate::{check, json};

/// A program of statements in which `pto.simplify` changes `f` and `g`, but not `h`.
const PROGRAM: &str = include_str!("sums.iso");

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("p.iso", PROGRAM.as_bytes());
    check(&folder.run("convert p.iso p.json"), 0, "");
    folder
}

#[test]
fn passes_are_listed() {
    let folder = Folder::new();
    let ran = folder.run("passes");
    assert_eq!(ran.status, 0, "{ran:?}");
    let printing = "PrintIR{header: str = \"\"}  (level 0)\n    Logs the program as text";
    assert!(ran.out.contains(printing), "{}", ran.out);
    assert!(
        ran.out.contains("\npto.simplify  (level 1)\n"),
        "{}",
        ran.out
    );
    let ran = folder.run("passes --json");
    let entry = ran
        .out
        .lines()
        .find(|line| line.contains("\"PrintIR\""))
        .unwrap();
    let entry: serde_json::Value = serde_json::from_str(entry).unwrap();
    assert_eq!(
        (
            entry["opt_level"].as_i64(),
            entry["required"].as_array().unwrap().len()
        ),
        (Some(0), 0)
    );
    let option = &entry["options"][0];
    assert_eq!(
        (option["name"].as_str(), option["type"].as_str()),
        (Some("header"), Some("str"))
    );
}

#[test]
fn passes_are_applied_to_every_form() {
    let folder = folder();
    check(&folder.run("run pto.simplify p.iso -o done.iso"), 0, "");
    for (source, target) in [("p.json", "done.json"), ("p.iso", "done.isob")] {
        check(
            &folder.run(&format!("run pto.simplify,pto.cse {source} -o {target}")),
            0,
            "",
        );
    }
    check(&folder.run("diff done.iso done.json"), 0, "equal\n");
    check(&folder.run("diff done.iso done.isob"), 0, "equal\n");
    assert_eq!(folder.run("diff -q done.iso p.iso").status, 1);
    let shown = folder.run("run pto.simplify p.json");
    assert_eq!(shown.status, 0, "{shown:?}");
    assert_eq!(shown.out.matches("pto.Add(").count(), 1, "{}", shown.out);
    let report = json(&folder.run("run --json --force pto.simplify p.json -o done.json"));
    assert_eq!(
        (report["to"].as_str(), report["form"].as_str()),
        (Some("done.json"), Some("json"))
    );
    // The result is a file like any other.
    let ran = folder.run("run pto.simplify p.json -o done.json");
    assert_eq!(
        (ran.status, ran.err.as_str()),
        (
            2,
            "isoform: done.json: the file exists; --force replaces it\n"
        )
    );
}

#[test]
fn levels_and_disabled_passes_count() {
    let folder = folder();
    for options in ["--opt-level 0", "--disable pto.simplify"] {
        check(
            &folder.run(&format!(
                "run {options} --force pto.simplify p.json -o same.json"
            )),
            0,
            "",
        );
        check(&folder.run("diff same.json p.json"), 0, "equal\n");
    }
}

#[test]
fn passes_that_are_skipped_are_noted() {
    let folder = folder();
    let run = |options: &str| {
        let line = format!("run {options} --force (pto.simplify,pto.simplify) p.json -o same.json");
        folder.run(&line).err
    };
    assert_eq!(
        run("--opt-level 0"),
        "isoform: pass 'pto.simplify' is skipped: its level 1 is above --opt-level 0\n"
    );
    assert_eq!(run("--opt-level 0 --quiet"), "");
    assert_eq!(run("--opt-level 0 --disable pto.simplify"), "");
}

#[test]
fn options_of_passes_are_set() {
    let folder = folder();
    let run = |config: &str| {
        folder.run(&format!(
            "run --force --config {config} pto.simplify p.json -o done.json"
        ))
    };
    assert_eq!(run("testing.immutable_module=true").status, 0);
    let wrong = [
        (
            "testing.immutable_module",
            "--config: expected KEY=VALUE, got",
        ),
        (
            "testing.immutable_module=[",
            "in '--config testing.immutable_module=['",
        ),
        ("testing.immutable_module=word", "testing.immutable_module"),
        ("no.such.option=1", "Invalid config option 'no.such.option'"),
    ];
    for (config, message) in wrong {
        let ran = run(config);
        assert!(
            ran.status == 2 && ran.err.contains(message),
            "{config}: {ran:?}"
        );
    }
}

/// The lines with the names of passes, without their times.
fn heads(text: &str) -> Vec<String> {
    let head = |line: &str| {
        let (name, rest) = line.split_once(": ")?;
        let (time, rest) = rest.split_once(", ")?;
        let is_time = [" s", " ms", " us"].iter().any(|unit| time.ends_with(unit));
        is_time.then(|| format!("{name}, {rest}"))
    };
    text.lines().filter_map(head).collect()
}

#[test]
fn changes_and_times_are_shown() {
    let folder = folder();
    let ran = folder.run("run --changes --timing --verify pto.cse,(pto.simplify) p.json");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(
        heads(&ran.out),
        [
            "pto.cse, no change",
            "pto.simplify, 2 functions changed, +2 -2 lines"
        ],
        "{}",
        ran.out
    );
    let diffs = ran.out.lines().filter(|line| line.starts_with("--- "));
    let diffs: Vec<&str> = diffs.collect();
    assert_eq!(diffs, ["--- before/f", "--- before/g"]);
    let names: Vec<&str> = ran
        .err
        .lines()
        .filter_map(|line| line.split(": ").next())
        .collect();
    let expected = [
        "sequential",
        "\tpto.cse",
        "\tsequential",
        "\t\tpto.simplify",
    ];
    assert_eq!(names, expected);
}

#[test]
fn long_changes_are_cut() {
    let folder = folder();
    let ran = folder.run("run --changes --limit 3 --width 8 pto.simplify p.json");
    assert_eq!(ran.status, 0, "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().skip(1).collect();
    assert_eq!(lines[..2], ["--- b...", "+++ a..."]);
    assert!(
        lines[3].starts_with("... ") && lines[3].ends_with(" more lines"),
        "{}",
        ran.out
    );
    assert_eq!(lines[4..], [""]);
    let ran = folder.run("run --limit 3 pto.simplify p.json");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("--changes"), "{}", ran.err);
}

#[test]
fn modules_need_a_host() {
    let folder = folder();
    for line in [
        "run --import mine.py pto.simplify p.json",
        "passes --import mine.py",
        "--import mine.py show p.json",
    ] {
        let ran = folder.run(line);
        assert_eq!(
            (ran.status, ran.out.as_str(), ran.err.as_str()),
            (
                2,
                "",
                "isoform: --import mine.py: this program runs no Python; use the command of the \
                 Python package, `python -m isoform`, to import modules\n"
            )
        );
    }
    // Of several modules, the first is told, wherever it is given.
    let ran = folder.run("--import a show --import b p.json");
    assert!(ran.err.starts_with("isoform: --import a: "), "{ran:?}");
}

#[test]
fn a_wrong_pipeline_is_shown_with_a_caret() {
    let folder = folder();
    let ran = folder.run("run pto.simplify,pto.cze p.json");
    assert_eq!(ran.status, 2, "{ran:?}");
    assert_eq!(
        ran.err,
        "isoform: PIPELINE: pipeline: line 1, column 14: no pass is registered as 'pto.cze', did \
         you mean 'pto.cse'?\n  |\n1 | pto.simplify,pto.cze\n  |              ^^^^^^^\n"
    );
    let ran = folder.run("run @missing p.json");
    assert!(
        ran.err.starts_with("isoform: PIPELINE: missing: "),
        "{}",
        ran.err
    );
}

#[test]
fn a_program_is_expected() {
    let folder = folder();
    folder.file("number.iso", b"[1, 2]\n");
    let ran = folder.run("run pto.simplify number.iso");
    assert_eq!(
        (ran.status, ran.err.as_str()),
        (2, "isoform: number.iso: expected a program, got Array\n")
    );
    folder.file("pipeline", b"pto.simplify, // twice\npto.simplify\n");
    check(&folder.run("run @pipeline p.json -o done.json"), 0, "");
}

#[test]
fn onnx_models_are_programs_of_passes() {
    let folder = Folder::new();
    folder.model(
        "a.onnx",
        &crate::build::small(&crate::build::Small::default()),
    );
    let ran = folder.run("run pto.simplify a.onnx -o a.json");
    check(&ran, 0, "a.json: 3 → 3 nodes\n");
    check(&folder.run("diff a.onnx a.json"), 0, "equal\n");
}

#[cfg(unix)]
#[test]
fn the_pass_and_the_functions_are_found() {
    let folder = folder();
    // The check passes while at least two of the three sums remain.
    let check = "#!/bin/sh\ntest \"$(grep -o '\"pto.Add\"' \"$1\" | wc -l)\" -ge 2\n";
    folder.file("check.sh", check.as_bytes());
    let line = "bisect pto.cse,pto.simplify,pto.cse p.json -- sh check.sh";
    let ran = folder.run(line);
    assert_eq!(ran.status, 0, "{ran:?}");
    let start = "the check fails after pass 'pto.simplify', which is number 2\n\
                 the changes of these functions suffice: f, g\n--- before/f\n";
    assert!(ran.out.starts_with(start), "{}", ran.out);
    let report = json(&folder.run(&format!("bisect --json {}", &line["bisect ".len()..])));
    assert_eq!(
        (report["pass"].as_str(), report["position"].as_u64()),
        (Some("pto.simplify"), Some(1))
    );
    assert_eq!(report["functions"].as_array().unwrap().len(), 2);
    let ran = folder.run("bisect pto.cse p.json -- sh check.sh");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err
            .contains("the check accepts the program after the last pass"),
        "{}",
        ran.err
    );
    // A check that breaks down does not judge the program.
    for (script, problem) in [
        (
            "exit 127",
            "exit status: 127, with which a shell reports a command",
        ),
        (
            "exit 139",
            "exit status: 139, with which a shell reports a signal",
        ),
        ("kill -9 $$", "ended with signal: 9"),
    ] {
        folder.file("broken.sh", script.as_bytes());
        let ran = folder.run("bisect pto.simplify p.json -- sh broken.sh");
        assert_eq!(ran.status, 2);
        assert!(ran.err.contains(problem), "{}", ran.err);
        assert!(ran.err.contains("1 to 125 for a bad one"), "{}", ran.err);
    }
    let ran = folder.run("bisect pto.cse p.json -- ./no-such-command");
    assert!(
        ran.err
            .contains("the command ./no-such-command does not start"),
        "{}",
        ran.err
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_left_if_a_signal_ends_the_search() {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    fn until<T>(mut what: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            if let Some(value) = what() {
                return value;
            }
            assert!(Instant::now() < end, "nothing happened");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    fn kill(signal: &str, process: &str) {
        let line = format!("kill {signal} {process}");
        let done = Command::new("sh").args(["-c", &line]).status();
        assert!(done.expect("a shell starts").success());
    }

    let folder = folder();
    let temporary = folder.path().join("temporary");
    let started = folder.path().join("started");
    // Tells of itself, and waits for the signal.
    let check = "echo $$ > started.part; mv started.part started; exec sleep 300\n";
    folder.file("wait.sh", check.as_bytes());
    // Background processes of a shell ignore INT, the signal of a terminal.
    for signal in ["-TERM", "-KILL"] {
        fs::create_dir_all(&temporary).unwrap();
        let mut command = crate::support::command();
        let line = "bisect pto.simplify p.json -- sh wait.sh";
        command.current_dir(folder.path()).args(line.split(' '));
        command.env("TMPDIR", &temporary).stdout(Stdio::null());
        let mut search = command.spawn().unwrap();
        let check = until(|| fs::read_to_string(&started).ok());
        fs::remove_file(&started).unwrap();
        let names = || fs::read_dir(&temporary).unwrap().count();
        assert_eq!(names(), 1);
        kill(signal, &search.id().to_string());
        assert_eq!(search.wait().unwrap().code(), None);
        until(|| (names() == 0).then_some(()));
        kill("-KILL", check.trim());
    }
}
