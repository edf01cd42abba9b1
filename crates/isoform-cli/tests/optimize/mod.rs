//! Models made smaller, verified, cut, and compared after simplification.

use std::fs;

use isoform_onnx::proto::{DataLocation, GraphProto, ModelProto, StringStringEntryProto};

use crate::build::{Dim, FLOAT, Folder, floats, int, ints, model, node, value, with_attributes};
use crate::{check, json};

/// `y = Relu(x + a)` with two transposes, a copy and a folded sum too many.
fn clumsy() -> ModelProto {
    let dims = || [Dim::Symbol("n"), Dim::Size(3)];
    let perm = || ints("perm", &[1, 0]);
    model(GraphProto {
        name: "main".to_owned(),
        node: vec![
            with_attributes(node("Transpose", &["x"], &["t"]), &[perm()]),
            with_attributes(node("Transpose", &["t"], &["u"]), &[perm()]),
            node("Add", &["b", "c"], &["a"]),
            node("Identity", &["u"], &["v"]),
            node("Add", &["v", "a"], &["s"]),
            node("Relu", &["s"], &["y"]),
        ],
        initializer: vec![floats("b", &[1.0]), floats("c", &[0.5])],
        input: vec![value("x", FLOAT, &dims())],
        output: vec![value("y", FLOAT, &dims())],
        ..Default::default()
    })
}

/// The same model without superfluous nodes.
fn plain() -> ModelProto {
    let dims = || [Dim::Symbol("n"), Dim::Size(3)];
    model(GraphProto {
        name: "main".to_owned(),
        node: vec![
            node("Add", &["x", "a"], &["s"]),
            node("Relu", &["s"], &["y"]),
        ],
        initializer: vec![floats("a", &[1.5])],
        input: vec![value("x", FLOAT, &dims())],
        output: vec![value("y", FLOAT, &dims())],
        ..Default::default()
    })
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.model("clumsy.onnx", &clumsy());
    folder.model("plain.onnx", &plain());
    folder
}

#[test]
fn a_model_gets_smaller_and_stays_the_same_program() {
    let folder = folder();
    let ran = folder.run("optimize clumsy.onnx small.onnx");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("small.onnx: 6 → 2 nodes, "), "{ran:?}");
    assert_eq!(ran.out.lines().count(), 1);
    check(&folder.run("diff small.onnx plain.onnx"), 0, "equal\n");
    assert_eq!(folder.run("diff -q clumsy.onnx plain.onnx").status, 1);
    // Optimising again changes nothing, and the target may be the source.
    check(
        &folder.run("optimize -q --force small.onnx small.onnx"),
        0,
        "",
    );
    check(&folder.run("diff small.onnx plain.onnx"), 0, "equal\n");
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 3, "nothing else is left");
}

/// A product and a sum that `Gemm` computes at once, and a list joined from two
/// numbers.
fn fusible() -> ModelProto {
    let square = || [Dim::Size(2), Dim::Size(2)];
    let parts = ["b", "c"].repeat(400);
    model(GraphProto {
        name: "main".to_owned(),
        node: vec![
            node("MatMul", &["x", "w"], &["p"]),
            node("Add", &["p", "x"], &["y"]),
            with_attributes(node("Concat", &parts, &["list"]), &[int("axis", 0)]),
            node("Add", &["l", "list"], &["m"]),
        ],
        initializer: vec![floats("b", &[1.0]), floats("c", &[0.5])],
        input: vec![
            value("x", FLOAT, &square()),
            value("w", FLOAT, &square()),
            value("l", FLOAT, &[Dim::Size(800)]),
        ],
        output: vec![
            value("y", FLOAT, &square()),
            value("m", FLOAT, &[Dim::Size(800)]),
        ],
        ..Default::default()
    })
}

#[test]
fn growth_and_what_fusion_would_remove_are_told() {
    let folder = Folder::new();
    folder.model("m.onnx", &fusible());
    let growth = "+3.1 KB of folded constants; --max-constant 0 leaves them out";
    let fusion = "--fuse would remove 1 more node";
    let hints = |line: &str| -> Vec<String> {
        let ran = folder.run(line);
        assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
        ran.out.lines().skip(1).map(str::to_owned).collect()
    };
    assert_eq!(hints("optimize m.onnx a.onnx"), [growth, fusion]);
    assert_eq!(hints("optimize --fuse m.onnx b.onnx"), [growth]);
    let small = hints("optimize --max-constant 0 m.onnx c.onnx");
    assert_eq!(small, [fusion]);
    let chosen = hints("optimize --only fold-constants m.onnx d.onnx");
    assert_eq!(
        chosen,
        [growth],
        "whoever chooses rules is not told of others"
    );
    // Fusion that is left out by name would not be done either.
    let without = hints("optimize --without fuse-gemm m.onnx e.onnx");
    assert_eq!(without, [growth]);
    assert_eq!(folder.run("optimize -q m.onnx f.onnx").out, "");
}

#[test]
fn both_sides_of_a_comparison_are_simplified() {
    let folder = folder();
    check(
        &folder.run("diff --simplify clumsy.onnx plain.onnx"),
        0,
        "equal\n",
    );
    let ran = folder.run("hash --simplify clumsy.onnx plain.onnx");
    let digests: Vec<&str> = ran.out.lines().map(|line| &line[..64]).collect();
    assert_eq!(digests[0], digests[1]);
    folder.file("v.iso", b"ir.PrimType(dtype=int8)\n");
    let ran = folder.run("hash --simplify v.iso");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("--simplify is for ONNX models"), "{ran:?}");
}

#[test]
fn what_was_done_is_explained() {
    let folder = folder();
    let ran = folder.run("optimize --explain clumsy.onnx small.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.starts_with("rule "), "{}", ran.out);
    assert!(ran.out.contains("\nfold-constants "), "{}", ran.out);
    assert!(ran.out.contains("'Add_a'"), "{}", ran.out);
    assert!(ran.out.contains("Transpose in 'main'"), "{}", ran.out);
    let ran = json(&folder.run("optimize -f --explain --json clumsy.onnx small.onnx"));
    assert_eq!(ran["nodes"]["before"], 6);
    assert_eq!(ran["nodes"]["after"], 2);
    assert_eq!(ran["written"], true);
    assert!(ran["verified"].is_null());
    let saved: i64 = ran["applications"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["nodes"].as_i64().unwrap())
        .sum();
    assert_eq!(saved, 4, "{ran}");
}

#[test]
fn rules_are_chosen_by_name() {
    let folder = folder();
    let ran = json(&folder.run("optimize --json --only fold-constants clumsy.onnx a.onnx"));
    assert_eq!(ran["nodes"]["after"], 5);
    let ran = json(&folder.run("optimize -f --json --without fold-constants clumsy.onnx a.onnx"));
    assert_eq!(ran["nodes"]["after"], 3);
    let ran = json(&folder.run("optimize -f --json --fold none clumsy.onnx a.onnx"));
    assert_eq!(ran["nodes"]["after"], 3);
    let ran = folder.run("optimize --without fold-constant clumsy.onnx b.onnx");
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    let hint = "there is no rule 'fold-constant', did you mean 'fold-constants'?";
    assert!(ran.err.contains(hint), "{ran:?}");
    assert!(!folder.path().join("b.onnx").exists());
}

#[test]
fn rules_are_listed() {
    let folder = folder();
    for line in ["optimize --list-rules", "optimize --rules"] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 0, "{ran:?}");
        let entry = "merge-transposes  exact\n  Transpose(inner:Transpose(x))\n  → ";
        assert!(ran.out.contains(entry), "{}", ran.out);
    }
    let ran = folder.run("optimize --list-rules --json");
    let groups: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for group in ["step", "exact", "fuse"] {
        assert!(groups.iter().any(|rule| rule["group"] == group), "{group}");
    }
}

#[test]
fn results_are_verified() {
    let folder = folder();
    let ran = folder.run("optimize --verify clumsy.onnx small.onnx");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "verified by isoform's evaluator (n=2): same");
    assert_eq!(lines[1], "verified by isoform's evaluator (n=3): same");
    let ran = json(&folder.run("optimize -f --verify --json clumsy.onnx small.onnx"));
    assert_eq!(ran["verified"]["same"], true);
    assert_eq!(ran["verified"]["cases"][0]["outcome"], "same");
}

#[test]
fn what_cannot_be_verified_is_not_written() {
    let folder = folder();
    let mut unknown = clumsy();
    unknown.graph.as_mut().unwrap().node[5].op_type = "Unheard".to_owned();
    folder.model("unknown.onnx", &unknown);
    let ran = folder.run("optimize --verify unknown.onnx small.onnx");
    assert_eq!((ran.status, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("nothing could be verified"), "{ran:?}");
    assert!(ran.err.contains("Unheard"), "{ran:?}");
    assert!(!folder.path().join("small.onnx").exists());
}

#[test]
fn dimensions_are_fixed() {
    let folder = folder();
    check(
        &folder.run("optimize -q --dim n=4 clumsy.onnx fixed.onnx"),
        0,
        "",
    );
    let ran = folder.run("show fixed.onnx");
    assert!(ran.out.contains("[4, 3]"), "{}", ran.out);
    let ran = folder.run("optimize -q --input-shape x:4,3 clumsy.onnx again.onnx");
    check(&ran, 0, "");
    check(&folder.run("diff fixed.onnx again.onnx"), 0, "equal\n");
    let ran = folder.run("optimize --dim m=4 clumsy.onnx none.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("'m'"), "{ran:?}");
    let ran = folder.run("optimize --dim n clumsy.onnx none.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("expected a name and an extent"), "{ran:?}");
}

#[test]
fn trouble_leaves_the_target_alone() {
    let folder = folder();
    folder.file("broken.onnx", b"\x0a\xff\xff\xff\xff\xff\xff\xff");
    folder.file("v.iso", b"ir.PrimType(dtype=int8)\n");
    for source in ["broken.onnx", "missing.onnx", "v.iso"] {
        let ran = folder.run(&format!("optimize -f {source} plain.onnx"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{source}");
        assert!(
            ran.err.starts_with(&format!("isoform: {source}: ")),
            "{ran:?}"
        );
    }
    check(
        &folder.run("diff --simplify clumsy.onnx plain.onnx"),
        0,
        "equal\n",
    );
    let ran = folder.run("optimize clumsy.onnx no/folder.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    let ran = folder.run("optimize clumsy.onnx");
    assert_eq!(ran.status, 2, "{ran:?}");
    let ran = folder.run("optimize --json clumsy.onnx -");
    assert_eq!(ran.status, 2, "{ran:?}");
    let ran = folder.run("optimize --max-constant much clumsy.onnx none.onnx");
    assert!(ran.err.contains("such as 16KB"), "{ran:?}");
}

#[test]
fn parts_are_cut_out() {
    let folder = folder();
    let ran = folder.run("extract clumsy.onnx part.onnx --from u --to s");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.out.starts_with("part.onnx: 1 input, 1 output, "),
        "{ran:?}"
    );
    let shown = folder.run("show --names part.onnx");
    assert!(!shown.out.contains("Transpose"), "{}", shown.out);
    assert!(!shown.out.contains("Relu"), "{}", shown.out);
    let ran = json(&folder.run("extract --json clumsy.onnx whole.onnx --to y"));
    assert_eq!(ran["inputs"], serde_json::json!(["x"]));
    assert_eq!(ran["outputs"], serde_json::json!(["y"]));
    check(&folder.run("diff clumsy.onnx whole.onnx"), 0, "equal\n");
    let refused = |line: &str, reason: &str| {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(reason), "{ran:?}");
    };
    let none = "the model has no value 'sum'";
    refused("extract -f clumsy.onnx part.onnx --to sum", none);
    let twice = "value 's' is named twice";
    refused("extract -f clumsy.onnx part.onnx --to s,s", twice);
    let inputs = "the part also needs 'x' of the model";
    refused("extract -f clumsy.onnx part.onnx --from a --to y", inputs);
}

#[test]
fn files_are_replaced_only_by_force() {
    let folder = folder();
    for line in [
        "optimize clumsy.onnx",
        "extract --to y clumsy.onnx",
        "convert clumsy.onnx",
        "run onnx.Simplify clumsy.onnx -o",
    ] {
        for target in ["plain.onnx", "clumsy.onnx"] {
            let before = fs::read(folder.path().join(target)).unwrap();
            let ran = folder.run(&format!("{line} {target}"));
            assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{line}");
            let reason = format!("isoform: {target}: the file exists; --force replaces it\n");
            assert_eq!(ran.err, reason, "{line}");
            assert_eq!(fs::read(folder.path().join(target)).unwrap(), before);
        }
        let ran = folder.run(&format!("{line} new.onnx"));
        assert_eq!(ran.status, 0, "{ran:?}");
        let (command, rest) = line.split_once(' ').unwrap();
        let ran = folder.run(&format!("{command} --force {rest} new.onnx"));
        assert_eq!(ran.status, 0, "{ran:?}");
        fs::remove_file(folder.path().join("new.onnx")).unwrap();
    }
}

/// A model whose weights are in this file, with a copy too many.
fn with_data(location: &str) -> ModelProto {
    let mut weights = floats("w", &[]);
    weights.dims = vec![3, 400];
    weights.float_data.clear();
    weights.data_location = DataLocation::External.into();
    weights.external_data = vec![StringStringEntryProto {
        key: "location".to_owned(),
        value: location.to_owned(),
    }];
    model(GraphProto {
        name: "main".to_owned(),
        node: vec![
            node("Identity", &["x"], &["v"]),
            node("MatMul", &["v", "w"], &["y"]),
        ],
        initializer: vec![weights],
        input: vec![value("x", FLOAT, &[Dim::Symbol("n"), Dim::Size(3)])],
        output: vec![value("y", FLOAT, &[Dim::Symbol("n"), Dim::Size(400)])],
        ..Default::default()
    })
}

fn names_in(folder: &Folder) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn external_data_stay_external() {
    let folder = Folder::new();
    folder.model("m.onnx", &with_data("w.bin"));
    folder.file("w.bin", &vec![0; 4800]);
    let ran = folder.run("optimize m.onnx other.onnx");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    // Data beside the models count on both sides.
    let sizes = ran.out.split(" nodes, ").nth(1).unwrap();
    assert!(
        sizes.starts_with("4.9 KB → 4.9 KB (4.7 KB of it in other.onnx.data)"),
        "{ran:?}"
    );
    check(
        &folder.run("diff --simplify m.onnx other.onnx"),
        0,
        "equal\n",
    );
    // In place, the file keeps its name.
    let ran = json(&folder.run("optimize --json --force m.onnx m.onnx"));
    assert_eq!(ran["external_bytes"]["before"], 4800);
    assert_eq!(ran["external_bytes"]["after"], 4800);
    assert!(ran["bytes"]["before"].as_u64().unwrap() > 4800, "{ran}");
    assert_eq!(
        names_in(&folder),
        ["m.onnx", "other.onnx", "other.onnx.data", "w.bin"]
    );
    check(&folder.run("diff m.onnx other.onnx"), 0, "equal\n");
    let ran = folder.run("extract other.onnx part.onnx --to y");
    assert!(ran.out.contains("of it in part.onnx.data)"), "{ran:?}");
    // On request, all constants are in one file, and leftover files are reported.
    let ran = folder.run("optimize --inline --force m.onnx m.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.err.contains("m.onnx: no longer uses "), "{ran:?}");
    assert!(ran.err.contains("w.bin"), "{ran:?}");
    fs::remove_file(folder.path().join("w.bin")).unwrap();
    check(&folder.run("diff m.onnx other.onnx"), 0, "equal\n");
}

/// A safetensors file with a matrix of two rows and three columns.
fn tensors(name: &str) -> Vec<u8> {
    let entry = serde_json::json!({"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]});
    let header = serde_json::json!({name: entry}).to_string();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend([0.5_f32; 6].iter().flat_map(|it| it.to_le_bytes()));
    file
}

#[test]
fn sizes_and_inputs_to_verify_are_given() {
    let folder = folder();
    let ran = folder.run("optimize --verify --verify-shape x:5,3 clumsy.onnx small.onnx");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[0], "verified by isoform's evaluator (n=5): same",
        "{ran:?}"
    );
    let refused = |line: &str, reason: &str| {
        let ran = folder.run(&format!("optimize {line} clumsy.onnx none.onnx"));
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(ran.err.contains(reason), "{ran:?}");
    };
    refused("--verify-shape x:5,3", "--verify");
    refused("--verify --verify-shape x:?,3", "such as input:1,512");
    refused(
        "--verify --verify-shape q:1",
        "the model has the inputs 'x'",
    );
    folder.file("v.iso", b"ir.PrimType(dtype=int8)\n");
    refused("--verify --inputs v.iso", "expected inputs by name");
    folder.file("a.safetensors", &tensors("x"));
    let ran = folder.run("optimize -f --verify --inputs a.safetensors clumsy.onnx small.onnx");
    assert!(
        ran.out
            .starts_with("verified by isoform's evaluator (the given inputs): same\n"),
        "{ran:?}"
    );
    folder.file("b.safetensors", &tensors("z"));
    refused(
        "--verify --inputs b.safetensors",
        "input 'z': the model has the inputs 'x'",
    );
}

#[test]
fn the_pass_writes_models() {
    let folder = folder();
    let ran = folder.run("run onnx.Simplify clumsy.onnx -o small.onnx");
    check(&ran, 0, "small.onnx: 6 → 2 nodes\n");
    check(&folder.run("diff small.onnx plain.onnx"), 0, "equal\n");
    let ran = folder.run("run -q onnx.Simplify{fold=\"none\"} clumsy.onnx -o more.onnx");
    check(&ran, 0, "");
    // Without a target, the result is shown.
    let ran = folder.run("run onnx.Simplify clumsy.onnx");
    let shown = folder.run("show small.onnx");
    let body = |text: &str| {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        lines.join("\n")
    };
    assert_eq!(body(&ran.out), body(&shown.out));
    assert_eq!(ran.out.lines().last(), Some("# 6 → 2 nodes"), "{ran:?}");
    assert_eq!(folder.run("diff -q more.onnx plain.onnx").status, 1);
    let ran = folder.run("run onnx.Simplify{fold=\"some\"} clumsy.onnx -o none.onnx");
    assert_eq!(ran.status, 2);
    assert!(
        ran.err
            .contains("expected 'none', 'exact' or 'all', got 'some'"),
        "{ran:?}"
    );
    let listed = folder.run("passes");
    assert!(listed.out.contains("\nonnx.Simplify{"), "{}", listed.out);
}
