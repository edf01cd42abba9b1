//! Files of MLIR in every command.

use std::fs;

use serde_json::Value;

use crate::build::Folder;
use crate::check;
use crate::formats::piped;
use crate::support::run_in;

/// A module with a private function; `name` is that of the function, `operation` the one in it.
fn module(name: &str, operation: &str) -> String {
    format!(
        r#"// RUN: mlir-opt
module @jit_f {{
  func.func public @main(%x: f32, %y: f32) -> (f32 {{jax.result_info = "result"}}) {{
    %0 = call @{name}(%x, %y) : (f32, f32) -> f32
    return %0 : f32
  }}
  func.func private @{name}(%a: f32, %b: f32) -> f32 {{
    %c = "{operation}"(%a, %b) : (f32, f32) -> f32
    %d = "stablehlo.constant"() <{{value = dense<[1.0, 2.0]> : tensor<2xf32>}}> : () -> tensor<2xf32>
    return %c : f32
  }}
}}
"#
    )
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("a.mlir", module("helper", "arith.addf").as_bytes());
    folder.file("renamed.mlir", module("helper_7", "arith.addf").as_bytes());
    folder.file("b.mlir", module("helper", "arith.subf").as_bytes());
    folder.file("broken.mlir", b"module {\n  \"x.y\"(%a) : (i1) -> ()\n}\n");
    folder
}

fn run(folder: &Folder, line: &str) -> crate::support::Ran {
    run_in(folder.path(), line.split_whitespace())
}

#[test]
fn names_of_private_functions_do_not_count() {
    let folder = folder();
    check(&run(&folder, "diff a.mlir renamed.mlir"), 0, "equal\n");
    let ran = run(&folder, "hash a.mlir renamed.mlir b.mlir");
    let digests: Vec<&str> = ran.out.lines().map(|line| &line[..64]).collect();
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0], digests[2]);
    let ran = run(&folder, "dedup . --quiet");
    assert!(ran.out.starts_with("2 equal models"), "{ran:?}");
}

#[test]
fn differences_are_told_by_operations() {
    let folder = folder();
    let expected = "\
different: 1 operation changed
arith.addf became arith.subf, in @helper
    - %0 = \"arith.addf\"(%arg0, %arg1) : (f32, f32) -> f32
    + %0 = \"arith.subf\"(%arg0, %arg1) : (f32, f32) -> f32
";
    check(&run(&folder, "diff a.mlir b.mlir"), 1, expected);
    let ran = run(&folder, "diff --json a.mlir b.mlir");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["equal"], false);
    assert_eq!(
        told["groups"][0]["text"],
        "arith.addf became arith.subf, in @helper"
    );
    assert_eq!(told["groups"][0]["changes"], serde_json::json!([0]));
    assert_eq!(told["groups"][0]["line_numbers"], serde_json::json!([9, 9]));
    let ran = run(&folder, "diff --format markdown a.mlir b.mlir");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("arith.addf became arith.subf"), "{ran:?}");
    let ran = run(&folder, "diff --html page.html a.mlir b.mlir");
    assert_eq!(ran.status, 1);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("arith.addf became arith.subf"));
}

#[test]
fn levels_are_options() {
    let folder = folder();
    let with = |from: &str, to: &str| {
        let text = module("helper", "arith.addf").replace(from, to);
        folder.file("c.mlir", text.as_bytes());
    };
    for (from, to, option) in [
        ("(%a, %b) : ", "(%b, %a) : ", "--semantic"),
        ("dense<[1.0, 2.0]>", "dense<[1.0, 3.0]>", "--architecture"),
    ] {
        with(from, to);
        assert_eq!(run(&folder, "diff a.mlir c.mlir").status, 1, "{from}");
        let ran = run(&folder, &format!("diff {option} a.mlir c.mlir"));
        check(&ran, 0, "equal\n");
        let ran = run(&folder, &format!("hash {option} a.mlir c.mlir"));
        let digests: Vec<&str> = ran.out.lines().map(|line| &line[..64]).collect();
        assert_eq!(digests[0], digests[1], "{option}");
    }
    with("\"result\"", "\"out\"");
    assert_eq!(run(&folder, "diff a.mlir c.mlir").status, 0);
    assert_eq!(run(&folder, "diff --io-names a.mlir c.mlir").status, 1);
    // Subtraction has an order, unless a table says otherwise.
    folder.file(
        "d.mlir",
        module("helper", "arith.subf")
            .replace("(%a, %b) : ", "(%b, %a) : ")
            .as_bytes(),
    );
    assert_eq!(run(&folder, "diff --semantic b.mlir d.mlir").status, 1);
    folder.file("mine.toml", b"commutative = [\"arith.subf\"]\n");
    let ran = run(
        &folder,
        "diff --semantic --dialects mine.toml b.mlir d.mlir",
    );
    check(&ran, 0, "equal\n");
    folder.file("bad.toml", b"commutative = 3\n");
    let ran = run(&folder, "diff --semantic --dialects bad.toml b.mlir d.mlir");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("bad.toml"), "{ran:?}");
}

#[test]
fn the_order_of_private_functions_is_an_option() {
    let folder = Folder::new();
    let function = |name: &str, number: i32| {
        format!("func.func private @{name}() {{ \"x.y\"() {{n = {number}}} : () -> () return }}\n")
    };
    let main = "func.func @main() { call @f() : () -> () call @g() : () -> () return }\n";
    folder.file(
        "a.mlir",
        [main, &function("f", 1), &function("g", 2)]
            .concat()
            .as_bytes(),
    );
    folder.file(
        "b.mlir",
        [main, &function("g", 2), &function("f", 1)]
            .concat()
            .as_bytes(),
    );
    assert_eq!(run(&folder, "diff a.mlir b.mlir").status, 1);
    check(
        &run(&folder, "diff --unordered-symbols a.mlir b.mlir"),
        0,
        "equal\n",
    );
}

#[test]
fn programs_are_shown_and_converted() {
    let folder = folder();
    let ran = run(&folder, "show a.mlir");
    assert_eq!(ran.status, 0);
    assert!(
        ran.out
            .starts_with("// MLIR, mlir.Program\n\"builtin.module\"()"),
        "{ran:?}"
    );
    let ran = run(&folder, "show --quiet --canonical a.mlir");
    assert!(
        ran.out.contains("%addf = \"arith.addf\"(%arg0, %arg1)"),
        "{ran:?}"
    );
    // Every form keeps the program.
    for name in ["a.isob", "a.json", "a.iso", "again.mlir"] {
        assert_eq!(
            run(&folder, &format!("convert a.mlir {name}")).status,
            0,
            "{name}"
        );
        check(
            &run(&folder, &format!("diff --io-names a.mlir {name}")),
            0,
            "equal\n",
        );
    }
    let ran = run(&folder, "convert a.isob - --to mlir");
    assert!(ran.out.starts_with("\"builtin.module\""), "{ran:?}");
    folder.file("text.iso", b"[1, 2]");
    let ran = run(&folder, "convert text.iso b2.mlir");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("expected mlir.Program, got "), "{ran:?}");
    let ran = run(&folder, "summary a.mlir");
    assert!(ran.out.contains("arith.addf"), "{ran:?}");
    let ran = run(&folder, "show --json a.mlir");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["form"], "mlir");
}

#[test]
fn large_constants_are_abbreviated_for_people() {
    let folder = Folder::new();
    let numbers = vec!["1.0"; 99].join(", ");
    let text = format!("\"x.y\"() {{v = dense<[2.0, {numbers}]> : tensor<100xf32>}} : () -> ()");
    folder.file("a.mlir", text.as_bytes());
    let ran = run(&folder, "show a.mlir");
    assert!(
        ran.out
            .contains("dense<[2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, ...] #"),
        "{ran:?}"
    );
    let ran = run(&folder, "show --quiet --full-tensors a.mlir");
    folder.file("b.mlir", ran.out.as_bytes());
    check(&run(&folder, "diff a.mlir b.mlir"), 0, "equal\n");
}

#[test]
fn functions_are_extracted_with_what_they_need() {
    let folder = folder();
    let ran = run(&folder, "extract a.mlir part.mlir --to main");
    check(&ran, 0, "part.mlir: 2 of 2 operations\n");
    let ran = run(&folder, "extract a.mlir - --to @helper");
    assert!(!ran.out.contains("main"), "{ran:?}");
    let ran = run(&folder, "extract a.mlir - --to none");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err
            .contains("no symbol @none; its symbols are @helper, @main"),
        "{ran:?}"
    );
    let ran = run(&folder, "extract a.mlir - --from x --to main");
    assert!(ran.err.contains("--from is for models"), "{ran:?}");
    let ran = run(&folder, "extract a.mlir part.mlir --to main");
    assert!(ran.err.contains("--force replaces it"), "{ran:?}");
}

#[test]
fn mistakes_have_a_line_and_a_caret() {
    let folder = folder();
    let ran = run(&folder, "hash broken.mlir");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("line 2, column 9"), "{ran:?}");
    // The excerpt is on lines of its own.
    assert!(
        ran.err.lines().any(|line| line.trim_end().ends_with("^^")),
        "{ran:?}"
    );
    folder.file("bytecode.mlir", b"ML\xefR\x0dMLIR21\0");
    let ran = run(&folder, "hash bytecode.mlir");
    assert!(ran.err.contains("this is MLIR bytecode"), "{ran:?}");
}

#[test]
fn text_from_a_pipe_is_recognised() {
    let folder = folder();
    let text = module("other", "arith.addf");
    let ran = piped(folder.path(), "diff a.mlir -", text.as_bytes());
    check(&ran, 0, "equal\n");
}

const DUMPS: &str = r#"// -----// IR Dump After CSEPass: cse //----- //
"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  %0 = "x.make"() : () -> i32
  "x.use"(%x) : (i32) -> ()
  "func.return"() : () -> ()
}) : () -> ()
// -----// IR Dump After CanonicalizerPass: canonicalize{max-iterations=10} //----- //
"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%x: i32):
  %0 = "x.made"() : () -> i32
  "x.use"(%0) : (i32) -> ()
  "func.return"() : () -> ()
}) : () -> ()
// -----// IR Dump After SymbolDCEPass: symbol-dce //----- //
"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
^bb0(%y: i32):
  %1 = "x.made"() : () -> i32
  "x.use"(%1) : (i32) -> () loc("f.py":1:1)
  "func.return"() : () -> ()
}) : () -> ()
"#;

#[test]
fn passes_tell_their_changes() {
    let folder = folder();
    folder.file("dump.txt", DUMPS.as_bytes());
    let expected = "  \
  1 cse           first dump
  2 canonicalize  @f: 2 operations changed
  3 symbol-dce    nothing
1 of 3 dumps show no change
";
    check(&run(&folder, "mlir passes dump.txt"), 0, expected);
    let ran = run(&folder, "mlir passes --changes dump.txt");
    assert!(
        ran.out.contains("      x.make became x.made, in @f\n"),
        "{ran:?}"
    );
    assert!(ran.out.contains("operands (%arg0) -> (%0)"), "{ran:?}");
    let ran = run(&folder, "mlir passes --origin x.use dump.txt");
    let expected = "\
@f: \"x.use\"(%0) : (i32) -> ()
    in the first dump, changed by 2 canonicalize
";
    check(&ran, 0, expected);
    let ran = run(&folder, "mlir passes --json dump.txt");
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[1]["changes"][0]["symbol"], "f");
    assert_eq!(lines[2]["summary"], "nothing");
    let ran = run(&folder, "mlir passes --origin x.none dump.txt");
    assert_eq!(ran.status, 2);
    let ran = run(&folder, "mlir passes a.mlir");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("-mlir-print-ir-after-all"), "{ran:?}");
    let ran = piped(folder.path(), "mlir passes -", DUMPS.as_bytes());
    assert_eq!(ran.out.lines().count(), 4);
}

#[test]
fn collections_have_programs_of_mlir() {
    let folder = folder();
    fs::remove_file(folder.path().join("broken.mlir")).unwrap();
    assert_eq!(run(&folder, "index . -o index.parquet").status, 0);
    let ran = run(&folder, "find a.mlir index.parquet");
    assert!(ran.out.contains("renamed.mlir"), "{ran:?}");
    let ran = run(&folder, "dedup index.parquet --quiet");
    assert!(ran.out.starts_with("2 equal models"), "{ran:?}");
    let ran = run(&folder, "stats index.parquet");
    assert!(ran.out.contains("arith.addf"), "{ran:?}");
}

#[test]
fn keys_of_compilers_follow_the_program() {
    let folder = folder();
    let key = |file: &str| {
        let line =
            format!("cache run --store cache --key {file} --out out.txt -- cp {file} out.txt");
        run(&folder, &line)
    };
    assert_eq!(key("a.mlir").status, 0);
    let hit = key("renamed.mlir");
    assert_eq!(hit.status, 0, "{hit:?}");
    // The output is that of the first run.
    let out = fs::read_to_string(folder.path().join("out.txt")).unwrap();
    assert!(out.contains("@helper("), "{out}");
    assert_eq!(key("b.mlir").status, 0);
    let out = fs::read_to_string(folder.path().join("out.txt")).unwrap();
    assert!(out.contains("arith.subf"), "{out}");
}

#[test]
fn the_guilty_pass_is_found() {
    let folder = folder();
    folder.file("dump.txt", DUMPS.as_bytes());
    folder.file("check.sh", b"! grep -q x.made \"$1\"\n");
    let ran = run(&folder, "mlir bisect dump.txt -- sh check.sh");
    assert_eq!(ran.status, 0, "{ran:?}");
    let expected = "the check fails after pass 'canonicalize', whose dump follows line 8: @f: 2 operations changed\n";
    assert!(ran.out.starts_with(expected), "{ran:?}");
    let ran = run(&folder, "mlir bisect --json dump.txt -- sh check.sh");
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(told["argument"], "canonicalize");
    assert_eq!(told["checks"], 3);
    let ran = run(&folder, "mlir bisect dump.txt -- true");
    assert!(ran.err.contains("there is nothing to find"), "{ran:?}");
    let ran = run(&folder, "mlir bisect dump.txt -- false");
    assert!(ran.err.contains("rejects the first dump"), "{ran:?}");
}

#[test]
fn dumps_of_compilers_that_fail_are_read() {
    let folder = folder();
    let failed = DUMPS.replace("CanonicalizerPass:", "CanonicalizerPass Failed:");
    let noted = failed.replace(
        "// -----// IR Dump After Sym",
        "a.mlir:3:4: error: failed to legalize\n  %0 = x.y\n       ^\n// -----// IR Dump After Sym",
    );
    // A diagnostic in a string is a part of the program.
    let noted = noted.replace(
        "\"x.use\"(%0)",
        "\"x.use\"(%0) {m = \"a.mlir:3:4: error: no\"}",
    );
    // The last dump is cut off.
    folder.file("dump.txt", &noted.as_bytes()[..noted.len() - 60]);
    let ran = run(&folder, "mlir passes dump.txt");
    assert_eq!(ran.status, 2);
    let expected = "  \
  1 cse                    first dump
  2 canonicalize (failed)  @f: 2 operations changed
";
    assert!(ran.out.starts_with(expected), "{ran:?}");
    assert!(ran.err.contains("line 22"), "{ran:?}");
}

#[test]
fn functions_alone_are_no_programs_to_bisect() {
    let folder = folder();
    let other = DUMPS.replacen("sym_name = \"f\"", "sym_name = \"g\"", 1);
    folder.file("dump.txt", other.as_bytes());
    let ran = run(&folder, "mlir bisect dump.txt -- true");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("-mlir-print-ir-module-scope"), "{ran:?}");
}
