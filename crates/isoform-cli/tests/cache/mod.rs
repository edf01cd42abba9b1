//! `isoform cache`, with shell scripts as compilers.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use isoform_onnx::proto::StringStringEntryProto;

use crate::build::{Folder, Small, small};
use crate::support::{Ran, command};

const MODULE: &str = include_str!("../../../../examples/ir/residual.iso");

/// Copies its first argument to its second, and notes the run.
const COMPILER: &str = "#!/bin/sh
echo run >> runs
echo compiling
echo careful >&2
test -n \"$FAIL\" && exit 3
test -z \"$SLEEP\" || { echo asleep; sleep \"$SLEEP\"; }
test -n \"$LAZY\" || { cp \"$1\" \"$2\"; chmod 751 \"$2\"; }
";

/// A folder with a program, a renamed copy, another program, and a compiler.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("module.iso", MODULE.as_bytes());
    folder.file("renamed.iso", MODULE.replace("%x", "%data").as_bytes());
    let edited = MODULE.replace("args=[%x, %w]", "args=[%w, %x]");
    assert_ne!(edited, MODULE);
    folder.file("edited.iso", edited.as_bytes());
    folder.file("source.c", b"int x;");
    script(&folder, COMPILER);
    folder
}

fn script(folder: &Folder, text: &str) {
    let compiler = folder.file("cc.sh", text.as_bytes());
    fs::set_permissions(compiler, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run_with(folder: &Folder, line: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = command();
    command
        .current_dir(folder.path())
        .env("ISOFORM_STORE", "store")
        .envs(variables.iter().copied())
        .args(line.split_whitespace());
    command.output().unwrap().into()
}

fn run(folder: &Folder, line: &str) -> Ran {
    run_with(folder, line, &[])
}

/// The command line for a compilation.
fn compile(source: &str, out: &str) -> String {
    format!("cache run --key {source} --out {out} -- ./cc.sh {source} {out}")
}

fn runs(folder: &Folder) -> usize {
    fs::read_to_string(folder.path().join("runs")).map_or(0, |text| text.lines().count())
}

#[track_caller]
fn assert_event(ran: &Ran, event: &str) {
    let line = ran.err.lines().next().unwrap_or_default();
    assert!(
        line.starts_with(&format!("isoform cache: {event} ")),
        "{ran:?}"
    );
}

#[test]
fn a_second_run_replays_everything() {
    let folder = folder();
    let first = run(&folder, &compile("module.iso", "out.o"));
    assert_event(&first, "miss");
    assert_eq!((first.status, &*first.out), (0, "compiling\n"));
    assert!(first.err.ends_with("careful\n"), "{first:?}");
    let out = folder.path().join("out.o");
    let expected = fs::read(&out).unwrap();
    fs::remove_file(&out).unwrap();
    // Another program under another name, in another folder.
    let second = run(&folder, &compile("renamed.iso", "deep/other.o"));
    assert_event(&second, "hit");
    assert_eq!((second.status, &*second.out), (0, "compiling\n"));
    assert!(second.err.ends_with("careful\n"), "{second:?}");
    let other = folder.path().join("deep/other.o");
    assert_eq!(fs::read(&other).unwrap(), expected);
    assert_eq!(
        other.metadata().unwrap().permissions().mode() & 0o777,
        0o751
    );
    assert_eq!(runs(&folder), 1);
    let quiet = run(
        &folder,
        &format!("--quiet {}", compile("module.iso", "out.o")),
    );
    assert_eq!(quiet.err, "careful\n");
}

#[test]
fn eight_processes_run_the_command_once() {
    let folder = folder();
    let waits = COMPILER.replace("echo run >> runs", "echo run >> runs; sleep 0.5");
    script(&folder, &waits);
    let start = |number: usize| {
        let line = compile("module.iso", &format!("{number}.o"));
        let mut command = command();
        command
            .current_dir(folder.path())
            .env("ISOFORM_STORE", "store")
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(start).collect();
    let mut misses = 0;
    for (number, child) in children.into_iter().enumerate() {
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!((ran.status, &*ran.out), (0, "compiling\n"), "{ran:?}");
        misses += usize::from(ran.err.contains("isoform cache: miss "));
        let out = fs::read(folder.path().join(format!("{number}.o"))).unwrap();
        assert_eq!(out, MODULE.as_bytes());
    }
    assert_eq!((misses, runs(&folder)), (1, 1));
}

#[test]
fn a_waiting_run_takes_over_from_a_run_that_fails_or_dies() {
    let folder = folder();
    script(
        &folder,
        &COMPILER.replace("echo run >> runs", "echo run >> runs; sleep 0.3"),
    );
    let line = compile("module.iso", "out.o");
    let start = |fail: &str| {
        let mut command = command();
        command
            .current_dir(folder.path())
            .env("ISOFORM_STORE", "store")
            .env("FAIL", fail)
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        let begin = Instant::now();
        let before = runs(&folder);
        while fail == "1" && runs(&folder) == before {
            assert!(begin.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(2));
        }
        child
    };
    let (failing, waiting) = (start("1"), start(""));
    let ran: Ran = failing.wait_with_output().unwrap().into();
    assert_eq!(ran.status, 3, "{ran:?}");
    let ran: Ran = waiting.wait_with_output().unwrap().into();
    assert_event(&ran, "waiting for another run of");
    assert_eq!((ran.status, runs(&folder)), (0, 2), "{ran:?}");
    assert!(ran.err.contains("isoform cache: miss "), "{ran:?}");
    // A killed process holds no key.
    script(
        &folder,
        &format!("{COMPILER}test -z \"$FAIL\" || sleep 5\n").replace("exit 3", "true"),
    );
    let mut killed = start("1");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let begin = Instant::now();
    assert_eq!(run(&folder, &line).status, 0);
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn the_name_of_the_command_counts() {
    let folder = folder();
    // An executable with two names, which does what its name says.
    script(&folder, "#!/bin/sh\necho \"${0##*/}\" > \"$2\"\n");
    let path = folder.path();
    std::os::unix::fs::symlink("cc.sh", path.join("cxx.sh")).unwrap();
    fs::create_dir(path.join("bin")).unwrap();
    std::os::unix::fs::symlink("../cc.sh", path.join("bin/cc.sh")).unwrap();
    let line = |command: &str| format!("cache run --key source.c --out o -- {command} source.c o");
    for (command, event, text) in [
        ("./cc.sh", "miss", "cc.sh\n"),
        ("./cxx.sh", "miss", "cxx.sh\n"),
        ("bin/cc.sh", "hit", "cc.sh\n"),
        ("./cxx.sh", "hit", "cxx.sh\n"),
    ] {
        assert_event(&run(&folder, &line(command)), event);
        assert_eq!(fs::read_to_string(path.join("o")).unwrap(), text);
    }
}

#[test]
fn files_within_arguments_count() {
    let folder = folder();
    for argument in ["--flags=flags.txt", "@flags.txt"] {
        folder.file("flags.txt", b"-O1");
        let line = format!("cache run --key source.c --out o -- ./cc.sh source.c o {argument}");
        assert_event(&run(&folder, &line), "miss");
        assert_event(&run(&folder, &line), "hit");
        folder.file("flags.txt", b"-O2");
        assert_event(&run(&folder, &line), "miss");
    }
}

#[test]
fn every_input_counts() {
    let folder = folder();
    let base = "cache run --key source.c --out o --env LEVEL -- ./cc.sh source.c o";
    assert_event(&run(&folder, base), "miss");
    assert_event(&run(&folder, base), "hit");
    let misses = [
        // Another option, set variable, empty variable, other bytes.
        (
            "cache run --key source.c --out o --env LEVEL -- ./cc.sh source.c o -O2",
            None,
        ),
        (base, Some("2")),
        (base, Some("")),
        (
            "cache run --key edited.iso --out o --env LEVEL -- ./cc.sh edited.iso o",
            None,
        ),
        (
            "cache run --exact --key module.iso --out o -- ./cc.sh module.iso o",
            None,
        ),
        (
            "cache run --exact --key renamed.iso --out o -- ./cc.sh renamed.iso o",
            None,
        ),
    ];
    for (line, level) in misses {
        let variables: Vec<_> = level.map(|level| ("LEVEL", level)).into_iter().collect();
        assert_event(&run_with(&folder, line, &variables), "miss");
        assert_event(&run_with(&folder, line, &variables), "hit");
    }
    // A file among the arguments.
    let shell = "cache run --key source.c --out o -- sh ./cc.sh source.c o";
    assert_event(&run(&folder, shell), "miss");
    assert_event(&run(&folder, shell), "hit");
    script(&folder, &format!("{COMPILER}\n# A new release\n"));
    assert_event(&run(&folder, shell), "miss");
    assert_event(&run(&folder, base), "miss");
    // An option with the path of the output.
    let option = |out: &str| {
        format!("cache run --key source.c --out {out} -- sh -c true --to={out} source.c")
    };
    folder.file("a.o", b"");
    folder.file("b.o", b"");
    for line in [option("a.o"), option("b.o")] {
        let ran = run(&folder, &line);
        // The outputs are old.
        assert!(ran.err.contains("did not write this output"), "{ran:?}");
    }
    assert_eq!(
        key_of(&run(&folder, &option("a.o"))),
        key_of(&run(&folder, &option("b.o")))
    );
}

/// The short name of the key.
fn key_of(ran: &Ran) -> String {
    let line = ran.err.lines().next().unwrap_or_default();
    line.split(' ').next_back().unwrap_or_default().to_owned()
}

#[test]
fn names_of_inputs_of_models_count_and_names_of_nodes_do_not() {
    let folder = folder();
    folder.model("a.onnx", &small(&Small::default()));
    let renamed = Small {
        suffix: "_b",
        ..Small::default()
    };
    let mut renamed = small(&renamed);
    folder.model("renamed.onnx", &renamed);
    if let Some(graph) = &mut renamed.graph {
        for node in &mut graph.node {
            node.name.push_str("_node");
        }
    }
    folder.model("nodes.onnx", &renamed);
    assert_event(&run(&folder, &compile("renamed.onnx", "o")), "miss");
    assert_event(&run(&folder, &compile("nodes.onnx", "o")), "hit");
    assert_event(&run(&folder, &compile("a.onnx", "o")), "miss");
}

#[test]
fn metadata_of_models_and_of_tensors_count() {
    let folder = folder();
    let with = |entries: &[(&str, &str)]| {
        let mut model = small(&Small::default());
        for (key, value) in entries {
            model.metadata_props.push(StringStringEntryProto {
                key: (*key).to_owned(),
                value: (*value).to_owned(),
            });
        }
        model
    };
    folder.model("plain.onnx", &with(&[]));
    folder.model("a.onnx", &with(&[("scale", "1"), ("names", "x")]));
    folder.model("b.onnx", &with(&[("scale", "2"), ("names", "x")]));
    folder.model("c.onnx", &with(&[("names", "x"), ("scale", "1")]));
    for (name, event) in [
        ("plain", "miss"),
        ("a", "miss"),
        ("b", "miss"),
        ("c", "hit"),
    ] {
        let line = compile(&format!("{name}.onnx"), "o");
        assert_event(&run(&folder, &line), event);
        assert_event(&run(&folder, &line), "hit");
    }
    let tensors = |metadata: &str| {
        let header = format!(
            r#"{{"__metadata__":{{"k":"{metadata}"}},"t":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#
        );
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], header.as_bytes(), &[7]].concat()
    };
    folder.file("a.safetensors", &tensors("1"));
    folder.file("b.safetensors", &tensors("2"));
    for name in ["a.safetensors", "b.safetensors"] {
        assert_event(&run(&folder, &compile(name, "o")), "miss");
        assert_event(&run(&folder, &compile(name, "o")), "hit");
    }
}

#[test]
fn failing_commands_are_stored_on_request() {
    let folder = folder();
    let line = compile("module.iso", "o");
    for _ in 0..2 {
        let ran = run_with(&folder, &line, &[("FAIL", "1")]);
        assert_event(&ran, "miss");
        assert_eq!((ran.status, &*ran.out), (3, "compiling\n"));
    }
    let line = line.replace("cache run", "cache run --failures");
    for event in ["miss", "hit"] {
        let ran = run_with(&folder, &line, &[("FAIL", "1")]);
        assert_event(&ran, event);
        assert_eq!((ran.status, &*ran.out), (3, "compiling\n"));
    }
    assert!(!folder.path().join("o").exists());
    // A signal from elsewhere says nothing about the program.
    script(&folder, "#!/bin/sh\nkill -9 $$\n");
    for _ in 0..2 {
        let ran = run(&folder, &line);
        assert_eq!(ran.status, 137, "{ran:?}");
        assert_event(&ran, "miss");
    }
}

#[test]
fn a_run_without_its_outputs_is_not_stored() {
    let folder = folder();
    let line = compile("module.iso", "o");
    for _ in 0..2 {
        let ran = run_with(&folder, &line, &[("LAZY", "1")]);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(
            ran.err
                .contains("o: the command succeeded and did not write this output")
        );
        assert_event(&ran, "miss");
    }
    // An output of an earlier run.
    folder.file("o", b"old");
    for _ in 0..2 {
        let ran = run_with(&folder, &line, &[("LAZY", "1")]);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            ran.err.contains("o: the command did not write this output"),
            "{ran:?}"
        );
        assert_event(&ran, "miss");
    }
}

#[test]
fn a_key_file_that_changes_during_the_run_is_not_stored() {
    let folder = folder();
    let line = "cache run --key source.c --out o -- sh -c cp${IFS}source.c${IFS}o;echo>>source.c";
    for _ in 0..2 {
        let ran = run(&folder, line);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            ran.err
                .contains("source.c: the file changed during the run"),
            "{ran:?}"
        );
        assert_event(&ran, "miss");
        folder.file("source.c", b"int x;");
    }
}

#[test]
fn a_store_of_no_use_never_breaks_the_build() {
    let folder = folder();
    folder.file("file", b"");
    for store in ["file", "unknown:place", "s3:?region=a", "/proc/none"] {
        let line = compile("module.iso", "o").replace("run", &format!("run --store {store}"));
        let ran = run(&folder, &line);
        assert_eq!((ran.status, &*ran.out), (0, "compiling\n"), "{ran:?}");
        let warnings = ran
            .err
            .lines()
            .filter(|line| line.contains("isoform cache: warning: "));
        assert_eq!(warnings.count(), 1, "{ran:?}");
        assert!(folder.path().join("o").exists());
        fs::remove_file(folder.path().join("o")).unwrap();
    }
    // A damaged store runs the command again.
    assert_event(&run(&folder, &compile("module.iso", "o")), "miss");
    damage(&folder.path().join("store"));
    assert_event(&run(&folder, &compile("module.iso", "o")), "miss");
    assert_event(&run(&folder, &compile("module.iso", "o")), "hit");
}

/// Cuts all files of a store.
fn damage(folder: &std::path::Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damage(&path);
        } else if path.parent().and_then(|folder| folder.parent()).is_some() {
            let size = path.metadata().unwrap().len();
            fs::OpenOptions::new()
                .write(true)
                .open(&path)
                .unwrap()
                .set_len(size / 2)
                .unwrap();
        }
    }
}

/// Starts a compilation, waits until the compiler is asleep, and sends SIGTERM. Returns the
/// exit status.
fn terminated(folder: &Folder, line: &str) -> Option<i32> {
    let mut child = command()
        .current_dir(folder.path())
        .env("ISOFORM_STORE", "store")
        .env("SLEEP", "30")
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    let mut out = child.stdout.take().unwrap();
    while !text.contains("asleep") {
        let mut byte = [0];
        assert_eq!(out.read(&mut byte).unwrap(), 1);
        text.push(byte[0].into());
    }
    let start = Instant::now();
    let pid = child.id().to_string();
    let killed = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(killed.unwrap().success());
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        assert!(start.elapsed() < Duration::from_secs(25));
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_signal_ends_the_command_and_nothing_is_stored() {
    let folder = folder();
    let line = compile("module.iso", "o").replace("run", "run --failures");
    // The shell alone gets this signal, and its `sleep` keeps the output open.
    assert_eq!(terminated(&folder, &line), Some(143));
    assert_event(&run(&folder, &line), "miss");
}

#[test]
fn a_command_that_ends_well_after_a_signal_is_not_stored() {
    let folder = folder();
    script(
        &folder,
        "#!/bin/sh
trap 'cp \"$1\" \"$2\"; exit 0' TERM
test -z \"$SLEEP\" && cp \"$1\" \"$2\" && exit
echo asleep
sleep 0.2; sleep 0.2; sleep \"$SLEEP\" >/dev/null 2>&1 & wait
",
    );
    let line = compile("module.iso", "o");
    assert_eq!(terminated(&folder, &line), Some(0));
    assert_event(&run(&folder, &line), "miss");
    assert_event(&run(&folder, &line), "hit");
}

#[test]
fn a_command_that_leaves_a_writer_is_not_stored() {
    let folder = folder();
    script(&folder, "#!/bin/sh\ncp \"$1\" \"$2\"\nsleep 3 &\n");
    for _ in 0..2 {
        let ran = run(&folder, &compile("module.iso", "o"));
        assert_eq!(ran.status, 0, "{ran:?}");
        assert_event(&ran, "miss");
        let reason = "a process that the command started may still write output";
        assert!(ran.err.contains(reason), "{ran:?}");
    }
}

#[test]
fn weights_count_unless_the_architecture_is_compared() {
    let folder = folder();
    folder.model("a.onnx", &small(&Small::default()));
    let other = Small {
        bias: 7.0,
        ..Small::default()
    };
    folder.model("b.onnx", &small(&other));
    let line = |file: &str| compile(file, "o").replace("run", "run --architecture");
    assert_event(&run(&folder, &compile("a.onnx", "o")), "miss");
    assert_event(&run(&folder, &compile("b.onnx", "o")), "miss");
    assert_event(&run(&folder, &line("a.onnx")), "miss");
    assert_event(&run(&folder, &line("b.onnx")), "hit");
    folder.file("source.c", b"int z;");
    assert_event(&run(&folder, &compile("source.c", "o")), "miss");
    assert_event(&run(&folder, &line("source.c")), "miss");
}

#[test]
fn wrong_command_lines_are_errors_that_say_what_to_do() {
    let folder = folder();
    for (line, status, text) in [
        (
            "cache run --key none.c --out o -- ./cc.sh none.c o",
            2,
            "none.c: No such file",
        ),
        (
            "cache run --key . --out o -- ./cc.sh none.c o",
            2,
            ".: this is a folder, and a key",
        ),
        (
            "cache run --key - --out o -- ./cc.sh - o",
            2,
            "-: standard input cannot be a key",
        ),
        (
            "cache run --key o --out o -- ./cc.sh o o",
            2,
            "o: the file is a key file and an out",
        ),
        (
            "cache run --key source.c --out o -- no-such-compiler",
            127,
            "the command is not found",
        ),
        ("cache run --key source.c --out o", 2, "COMMAND"),
        ("cache run --out o -- ./cc.sh", 2, "--key"),
    ] {
        let ran = run(&folder, line);
        assert_eq!(ran.status, status, "{ran:?}");
        assert!(ran.err.contains(text), "{line}: {}", ran.err);
    }
    assert_eq!(runs(&folder), 0);
    // A store that lists no files, or does not exist.
    let why = run(&folder, "cache why");
    assert_eq!(why.status, 2);
    assert!(
        why.err
            .contains("has no record of a miss in this folder; `isoform cache run`")
    );
    let why = run(&folder, "cache why --store file source.c");
    assert_eq!(why.status, 2, "{why:?}");
}

#[test]
fn why_names_the_input_that_changed() {
    let folder = folder();
    let line = |source: &str, level: &str| {
        let command = format!("./cc.sh {source} o {level}");
        format!("cache run --key {source} --out o --env LEVEL -- {command}")
    };
    run(&folder, &line("module.iso", "-O2"));
    let why = run(&folder, "cache why");
    assert_eq!(why.status, 0, "{why:?}");
    assert!(why.out.contains("no other run of this command"), "{why:?}");

    run(&folder, &line("source.c", "-O2"));
    run(&folder, &line("module.iso", "-O3"));
    let why = run(&folder, "cache why");
    let expected = "miss of module.iso, compared with the run of module.iso\n\
                    arguments changed: -O2 -> -O3\n";
    assert_eq!(why.out, expected, "{why:?}");

    run_with(&folder, &line("module.iso", "-O3"), &[("LEVEL", "7")]);
    let why = run(&folder, "cache why");
    assert!(
        why.out.ends_with("\nvariable LEVEL changed: unset -> 7\n"),
        "{why:?}"
    );

    // The record of the files that are asked for.
    let why = run(&folder, "cache why source.c");
    assert!(
        why.out.starts_with("miss of source.c, compared with"),
        "{why:?}"
    );

    script(&folder, &format!("{COMPILER}# new\n"));
    run(&folder, &line("module.iso", "-O3"));
    let why = run(&folder, "cache why");
    assert!(
        why.out.contains("\nexecutable of the command changed: "),
        "{why:?}"
    );

    folder.file(
        "module.iso",
        &fs::read(folder.path().join("edited.iso")).unwrap(),
    );
    run(&folder, &line("module.iso", "-O3"));
    let why = run(&folder, "cache why");
    assert_eq!(why.status, 0, "{why:?}");
    assert!(
        why.out.contains("\nmodule.iso changed:\ndifferent: "),
        "{why:?}"
    );
    assert!(why.out.contains("args[0]"), "{why:?}");
    let why = run(&folder, "cache why --json");
    let json = crate::json(&why);
    assert_eq!(json["changes"].as_array().unwrap().len(), 1, "{json}");
    assert_eq!(json["changes"][0]["part"], "key.1");

    folder.file("source.c", b"int y;");
    run(&folder, &line("source.c", "-O3"));
    let why = run(&folder, "cache why source.c");
    assert!(why.out.contains("source.c changed: bytes "), "{why:?}");
}
