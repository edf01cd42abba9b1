//! JSON graphs, text and the binary form: reading, conversion, differences.

use std::fs;

use crate::build::{Folder, Small, small};
use crate::formats::piped;
use crate::support::{Ran, command};
use crate::{check, json};
use serde_json::Value;

/// A module of one function.
const MODULE: &str = include_str!("../../../../examples/ir/residual.iso");

/// The module as text, a JSON graph and binary, a copy with other names of variables,
/// and a module with other results.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("module.iso", MODULE.as_bytes());
    folder.file("renamed.iso", MODULE.replace("%x", "%data").as_bytes());
    let swapped = MODULE.replace("args=[%x, %w]", "args=[%w, %x]");
    assert_ne!(swapped, MODULE);
    folder.file("swapped.iso", swapped.as_bytes());
    for target in ["module.json", "module.isob"] {
        check(&folder.run(&format!("convert module.iso {target}")), 0, "");
    }
    folder
}

fn digest(ran: &Ran) -> &str {
    assert_eq!(ran.status, 0, "{ran:?}");
    ran.out.split("  ").next().unwrap()
}

// ---- reading -----------------------------------------------------------------------

#[test]
fn every_form_has_the_same_digest() {
    let folder = folder();
    let ran = folder.run("hash module.iso module.json module.isob renamed.iso swapped.iso");
    assert_eq!(ran.status, 0, "{ran:?}");
    let digests: Vec<&str> = ran.out.lines().map(|line| &line[..64]).collect();
    assert_eq!(digests[0], digests[1]);
    assert_eq!(digests[0], digests[2]);
    assert_eq!(digests[0], digests[3], "names of variables play no part");
    assert_ne!(digests[0], digests[4]);
}

#[test]
fn content_tells_the_form_whatever_the_name() {
    let folder = folder();
    let expected = digest(&folder.run("hash module.iso")).to_owned();
    for source in ["module.iso", "module.json", "module.isob"] {
        let bytes = fs::read(folder.path().join(source)).unwrap();
        for name in ["a", "a.onnx", "a.json", "a.iso", "a.isob", "a.bin"] {
            folder.file(name, &bytes);
            let ran = folder.run(&format!("hash {name}"));
            assert_eq!(digest(&ran), expected, "{source} as {name}");
        }
        let ran = piped(folder.path(), "hash -", &bytes);
        assert_eq!(ran.out, format!("{expected}  -\n"), "{source}");
    }
    folder.file(
        "model.json",
        &fs::read(folder.model("model.onnx", &small(&Small::default()))).unwrap(),
    );
    // The name alone does not make it text.
    let same = folder.run("diff model.json model.onnx");
    check(&same, 0, "equal\n");
}

#[test]
fn complex_numbers_need_no_module() {
    let folder = Folder::new();
    folder.file(
        "z.iso",
        b"[isoform.Complex(real=-0.0, imag=nan), isoform.Complex(real=0.0, imag=inf), 1]\n",
    );
    for target in ["z.json", "z.isob"] {
        check(&folder.run(&format!("convert z.iso {target}")), 0, "");
    }
    let digest = "7098b0c50ef901954463b63ff5d0c43a754471776ecd5fa09135d3e1dac8ba70";
    let expected = format!("{digest}  z.iso\n{digest}  z.json\n{digest}  z.isob\n");
    check(&folder.run("hash z.iso z.json z.isob"), 0, &expected);
    folder.file(
        "other.iso",
        b"[isoform.Complex(real=0.0, imag=nan), isoform.Complex(real=0.0, imag=inf), 1]\n",
    );
    let ran = folder.run("diff z.json other.iso");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.out.contains("<root>[0].real"), "{ran:?}");
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let folder = folder();
    for file in ["module.iso", "module.json"] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        folder.file("marked", format!("\u{feff}{text}").as_bytes());
        check(&folder.run(&format!("diff {file} marked")), 0, "equal\n");
    }
}

#[test]
fn standard_input_is_read_once() {
    let folder = folder();
    let text = MODULE.as_bytes();
    check(
        &piped(folder.path(), "diff - module.json", text),
        0,
        "equal\n",
    );
    check(
        &piped(folder.path(), "diff module.isob -", text),
        0,
        "equal\n",
    );
    assert!(
        piped(folder.path(), "show -", text)
            .out
            .starts_with("// text, ir.IRModule\n")
    );
    for line in ["diff - -", "hash - -"] {
        let ran = piped(folder.path(), line, b"1");
        assert_eq!(ran.status, 2);
        assert!(
            ran.err.contains("standard input can be read only once"),
            "{ran:?}"
        );
    }
    let model = folder.model("model.onnx", &small(&Small::default()));
    let ran = piped(folder.path(), "hash -", &fs::read(model).unwrap());
    let digest = folder.run("hash model.onnx").out;
    check(&ran, 0, &digest.replace("model.onnx", "-"));
}

#[test]
fn unknown_types_name_type_and_file() {
    let folder = folder();
    folder.file("a.iso", b"my.Node(a=1)");
    folder.file(
        "a.json",
        br#"{"root_index":0,"nodes":[{"type":"my.Node","data":{}}]}"#,
    );
    check(&folder.run("summary a.iso"), 2, "");
    let ran = folder.run("summary a.iso");
    assert_eq!(
        ran.err,
        "\
isoform: a.iso: text: line 1, column 1: unknown type \"my.Node\"
  |
1 | my.Node(a=1)
  | ^^^^^^^^
if a Python module declares this type, name the module: `python -m isoform --import MODULE ...`
"
    );
    let ran = folder.run("hash a.json");
    assert!(ran.err.starts_with("isoform: a.json: "), "{ran:?}");
    assert!(ran.err.contains("--import MODULE"), "{ran:?}");
    assert!(ran.err.contains("unknown type \"my.Node\""), "{ran:?}");
    let failed = json(&folder.run("hash --json a.iso"));
    assert_eq!(
        failed["error"],
        "text: line 1, column 1: unknown type \"my.Node\""
    );
}

#[test]
fn hostile_files_are_trouble_and_nothing_else() {
    let folder = folder();
    let binary = fs::read(folder.path().join("module.isob")).unwrap();
    let graph = fs::read(folder.path().join("module.json")).unwrap();
    let mut flipped = binary.clone();
    flipped[30] ^= 0x10;
    let deep = |open: &str| open.repeat(300_000).into_bytes();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("empty.json", vec![]),
        ("empty.iso", vec![]),
        ("empty.isob", vec![]),
        ("blank.iso", b" \n\t\n".to_vec()),
        ("bytes.iso", b"\xff\xfe\xfd".to_vec()),
        ("zeros.json", vec![0; 5000]),
        ("flipped.isob", flipped),
        ("cut.isob", binary[..binary.len() / 2].to_vec()),
        ("cut.json", graph[..graph.len() / 2].to_vec()),
        ("cut.iso", MODULE.as_bytes()[..MODULE.len() / 2].to_vec()),
        ("other.json", b"{\"name\": null}".to_vec()),
        ("list.json", b"[1, true]".to_vec()),
        (
            "cycle.json",
            br#"{"root_index":0,"nodes":[{"type":"ffi.List","data":[0]}]}"#.to_vec(),
        ),
        ("cycle.iso", b"%a %a = List[%a]".to_vec()),
        ("range.json", br#"{"root_index":7,"nodes":[]}"#.to_vec()),
        ("deep.iso", deep("[")),
        ("deeper.iso", deep("{1: ")),
        ("deep.json", [b"{\"nodes\":".to_vec(), deep("[")].concat()),
        ("escape.iso", "\u{202e}evil\u{9b}31m".as_bytes().to_vec()),
    ];
    for (name, content) in &files {
        folder.file(name, content);
        for line in [
            "hash",
            "show",
            "diff module.iso",
            "dedup",
            "convert --to text - <",
        ] {
            let ran = match line.strip_suffix(" - <") {
                Some(line) => folder.run(&format!("{line} {name} -")),
                None => folder.run(&format!("{line} {name}")),
            };
            assert_eq!(ran.status, 2, "{line} {name}: {ran:?}");
            assert!(
                ran.err.starts_with(&format!("isoform: {name}: ")),
                "{ran:?}"
            );
            assert!(ran.err.len() < 2000, "{name}: {}", ran.err.len());
            let odd = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
            assert!(!ran.err.contains(odd), "{ran:?}");
        }
    }
}

#[test]
fn strings_cannot_disturb_the_terminal() {
    let folder = Folder::new();
    folder.file("a.iso", br#"["\x1b[31m\u202e", {"\x9b": 1}]"#);
    folder.file("b.iso", br#"["\x1b[31m\u202e", {"\x9b": 2}]"#);
    check(&folder.run("convert a.iso a.json"), 0, "");
    for line in [
        "show a.json",
        "diff a.json b.iso",
        "diff --first a.json b.iso",
        "diff --json a.iso b.iso",
    ] {
        let ran = folder.run(line);
        let odd = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!ran.out.contains(odd), "{ran:?}");
    }
}

#[test]
fn deep_values_need_no_deep_stack() {
    let folder = Folder::new();
    let deep = |end: &str| format!("{}{end}{}", "[".repeat(200_000), "]".repeat(200_000));
    folder.file("deep.iso", deep("1").as_bytes());
    folder.file("deeper.iso", deep("2").as_bytes());
    check(&folder.run("convert deep.iso deep.json"), 0, "");
    check(&folder.run("convert deep.json deep.isob"), 0, "");
    check(&folder.run("diff deep.isob deep.iso"), 0, "equal\n");
    let ran = folder.run("diff deep.isob deeper.iso");
    assert_eq!(ran.status, 1);
    assert!(ran.out.len() < 20_000, "{}", ran.out.len());
}

// ---- show --------------------------------------------------------------------------

#[test]
fn show_prints_text() {
    let folder = folder();
    let plain = folder.run("show -q module.json");
    assert_eq!(plain.status, 0);
    assert!(
        plain
            .out
            .contains("%2 = relay.Call(op=@example.dense, args=[%x, %w])"),
        "{plain:?}"
    );
    assert_eq!(plain.out, folder.run("show -q module.iso").out);
    assert_eq!(plain.out, folder.run("show -q module.isob").out);
    let head = folder.run("show module.isob").out;
    assert_eq!(head, format!("// binary form, ir.IRModule\n{}", plain.out));
    // The shown text can be read.
    check(
        &piped(folder.path(), "diff - module.json", head.as_bytes()),
        0,
        "equal\n",
    );

    let colored = folder.run("show --color always module.json").out;
    assert!(colored.contains('\u{1b}'));
    assert!(!plain.out.contains('\u{1b}'));
    let shown = json(&folder.run("show --json --color always module.json"));
    assert_eq!(shown["form"], "json");
    assert_eq!(shown["type"], "ir.IRModule");
    assert_eq!(shown["text"], plain.out.as_str());

    let ran = folder.run("show --limit 3 module.json");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("--limit"), "{ran:?}");
}

#[test]
fn show_takes_width_spans_and_tensors() {
    let folder = Folder::new();
    let span = "ir.Span(source_name=ir.SourceName(name=\"a.py\"), line=1, end_line=1, column=2, end_column=3)";
    folder.file(
        "span.iso",
        format!("ir.PrimType(dtype=int8, span={span})").as_bytes(),
    );
    let plain = folder.run("show span.iso");
    assert_eq!(plain.status, 0, "{plain:?}");
    assert!(plain.out.contains("\"a.py\""), "{plain:?}");
    check(
        &folder.run("show -q --no-spans span.iso"),
        0,
        "ir.PrimType(dtype=int8)\n",
    );
    // The last option counts, so an alias can be overruled.
    let with = folder.run("show --no-spans --spans span.iso");
    assert_eq!(with.out, plain.out);

    folder.file("three.iso", b"ir.IntImm(dtype=int32, value=3)");
    check(
        &folder.run("show -q --types three.iso"),
        0,
        "ir.IntImm(dtype=int32, value=3) /* : int32 */\n",
    );

    folder.file("list.iso", b"[100, 200, 300]");
    check(&folder.run("show -q list.iso"), 0, "[100, 200, 300]\n");
    check(
        &folder.run("show -q --width 12 list.iso"),
        0,
        "[\n  100, 200,\n  300\n]\n",
    );

    let elements: Vec<String> = (0..500).map(|element| element.to_string()).collect();
    let tensor = format!("Tensor(int32, [500], [{}])", elements.join(", "));
    folder.file("tensor.iso", tensor.as_bytes());
    let shown = folder.run("show tensor.iso").out;
    assert!(shown.len() < 200, "{shown}");
    let full = folder.run("show --full-tensors tensor.iso").out;
    check(
        &piped(folder.path(), "diff - tensor.iso", full.as_bytes()),
        0,
        "equal\n",
    );
    for options in ["", "--full-tensors"] {
        check(
            &folder.run(&format!("convert -f {options} tensor.iso copy.iso")),
            0,
            "",
        );
        check(&folder.run("diff tensor.iso copy.iso"), 0, "equal\n");
    }
    let zeros = format!("Tensor(int32, [500], [{}])", vec!["0"; 500].join(", "));
    folder.file("zeros.iso", zeros.as_bytes());
    assert_eq!(folder.run("diff tensor.iso zeros.iso").status, 1);
    check(
        &folder.run("diff --architecture tensor.iso zeros.iso"),
        0,
        "equal\n",
    );
}

// ---- diff and dedup ----------------------------------------------------------------

#[test]
fn diff_underlines_the_mismatch() {
    let folder = folder();
    folder.file("a.iso", b"{\"a\": [1, 2], \"b\": 3}");
    folder.file("b.iso", b"{\"a\": [1, 4], \"b\": 3}");
    check(
        &folder.run("diff --first a.iso b.iso"),
        1,
        "\
different: the values differ
left   a.iso
  path   <root>[\"a\"][1]
    {\"a\": [1, 2], \"b\": 3}
    //        ^
right  b.iso
  path   <root>[\"a\"][1]
    {\"a\": [1, 4], \"b\": 3}
    //        ^
",
    );
    let report = json(&folder.run("diff --first --json a.iso b.iso"));
    assert_eq!(report["left"]["path"], "<root>[\"a\"][1]");
    assert_eq!(report["right"]["value"], "4");
    assert!(report["text"].as_str().unwrap().contains("//        ^"));
    check(&folder.run("diff -q a.iso b.iso"), 1, "");
    assert!(
        folder
            .run("diff --color always a.iso b.iso")
            .out
            .contains('\u{1b}')
    );
}

#[test]
fn diff_knows_operators_by_name() {
    let folder = folder();
    check(&folder.run("diff module.iso module.json"), 0, "equal\n");
    check(&folder.run("diff module.isob renamed.iso"), 0, "equal\n");
    let ran = folder.run("diff --first module.json swapped.iso");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("%0 = example.dense(%w, %x);"), "{ran:?}");
    // Both operands of the product are underlined where they stand.
    let marks = ran.out.lines().filter(|line| line.trim() == "^^^^^");
    assert_eq!(marks.count(), 2, "{ran:?}");
    folder.file(
        "op.iso",
        MODULE.replace("example.relu", "example.tanh").as_bytes(),
    );
    let ran = folder.run("diff --first module.iso op.iso");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("example.tanh(%1)"), "{ran:?}");
}

#[test]
fn free_variables_of_two_files_may_be_the_same() {
    let folder = Folder::new();
    let var = |name| {
        format!("%{name} = tir.SizeVar(dtype=int64, type_annotation=ir.PrimType(dtype=int64))\n")
    };
    let (n, m) = (var("n"), var("m"));
    folder.file(
        "square.iso",
        format!("{n}ir.TensorType(shape=[%n, %n])").as_bytes(),
    );
    folder.file(
        "renamed.iso",
        format!("{m}ir.TensorType(shape=[%m, %m])").as_bytes(),
    );
    folder.file(
        "other.iso",
        format!("{n}{m}ir.TensorType(shape=[%n, %m])").as_bytes(),
    );
    check(&folder.run("diff square.iso renamed.iso"), 0, "equal\n");
    assert_eq!(folder.run("diff square.iso other.iso").status, 1);
    let ran = folder.run("hash square.iso renamed.iso other.iso");
    let digests: Vec<&str> = ran.out.lines().map(|line| &line[..64]).collect();
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0], digests[2]);
}

#[test]
fn dedup_finds_files_of_every_form() {
    let folder = folder();
    folder.file("package.json", b"{\"name\": \"a package\"}");
    folder.file("disc.iso", &[0; 4096]);
    folder.file("sub/notes.txt", MODULE.as_bytes());
    let ran = folder.run("dedup .");
    assert_eq!((ran.status, ran.err.as_str()), (0, ""), "{ran:?}");
    let files: Vec<&str> = ran.out.lines().skip(1).collect();
    assert_eq!(
        files,
        [
            "  ./module.iso",
            "  ./module.isob",
            "  ./module.json",
            "  ./renamed.iso",
            "5 models, 2 distinct, 1 group of equal models, 0 failed"
        ]
    );
}

// ---- convert -----------------------------------------------------------------------

#[test]
fn convert_keeps_everything_in_a_circle() {
    let folder = folder();
    for line in [
        "convert module.json 1.isob",
        "convert 1.isob 2.iso",
        "convert 2.iso 3.json",
        "convert --to binary 3.json 4",
        "convert 4 5.TXT",
    ] {
        check(&folder.run(line), 0, "");
    }
    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(read("module.json"), read("3.json"));
    assert_eq!(read("1.isob"), read("4"));
    assert_eq!(read("2.iso"), read("5.TXT"));
    let graph: Value = serde_json::from_slice(&read("3.json")).unwrap();
    assert_eq!(
        graph["metadata"]["isoform_version"],
        env!("CARGO_PKG_VERSION")
    );

    let ran = folder.run("convert module.json - --to text");
    assert_eq!(ran.out.as_bytes(), read("2.iso"));
    let ran = piped(folder.path(), "convert - 6.json", MODULE.as_bytes());
    check(&ran, 0, "");
    check(&folder.run("diff 6.json module.iso"), 0, "equal\n");
}

#[test]
fn convert_keeps_the_metadata_of_a_graph() {
    let folder = Folder::new();
    let graph = r#"{"root_index":0,"nodes":[{"type":"int","data":1}],"metadata":{"by":"hand"}}"#;
    folder.file("a.json", graph.as_bytes());
    check(&folder.run("convert a.json b.json"), 0, "");
    let graph: Value =
        serde_json::from_slice(&fs::read(folder.path().join("b.json")).unwrap()).unwrap();
    assert_eq!(graph["metadata"]["by"], "hand");
}

#[test]
fn convert_writes_the_program_of_a_model() {
    let folder = Folder::new();
    folder.model("model.onnx", &small(&Small::default()));
    for target in ["model.json", "model.iso", "model.isob"] {
        check(&folder.run(&format!("convert model.onnx {target}")), 0, "");
        check(
            &folder.run(&format!("diff model.onnx {target}")),
            0,
            "equal\n",
        );
    }
    folder.model(
        "other.onnx",
        &small(&Small {
            final_op: "Tanh",
            ..Small::default()
        }),
    );
    let ran = folder.run("diff other.onnx model.iso");
    assert_eq!(ran.status, 1);
    assert!(
        ran.out.contains("Tanh 'Tanh_y' became Relu 'Relu_y'"),
        "{ran:?}"
    );
}

#[test]
fn convert_writes_models() {
    let folder = Folder::new();
    folder.model("model.onnx", &small(&Small::default()));
    check(&folder.run("convert model.onnx model.isob"), 0, "");
    for source in ["model.onnx", "model.isob"] {
        check(
            &folder.run(&format!("convert -f {source} copy.onnx")),
            0,
            "",
        );
        let ran = folder.run("diff --io-names model.onnx copy.onnx");
        check(&ran, 0, "equal\n");
    }
    // The source may be the target, although it is mapped.
    check(&folder.run("convert -f copy.onnx copy.onnx"), 0, "");
    check(&folder.run("diff model.onnx copy.onnx"), 0, "equal\n");
    let ran = folder.run("convert model.onnx copy.onnx");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("--force replaces it"), "{ran:?}");

    let line = "convert --json --external-data --size-threshold 1 model.onnx split.onnx";
    let report: serde_json::Value = serde_json::from_str(&folder.run(line).out).unwrap();
    assert_eq!(report["form"], "onnx");
    assert_eq!(report["external"], serde_json::json!(["split.onnx.data"]));
    check(&folder.run("diff model.onnx split.onnx"), 0, "equal\n");
    fs::remove_file(folder.path().join("split.onnx")).unwrap();
    let ran = folder.run(line);
    assert_eq!(ran.status, 2);
    assert!(ran.out.contains("split.onnx.data exists"), "{ran:?}");
}

#[test]
fn text_that_looks_like_a_graph_is_read_as_text() {
    let folder = Folder::new();
    folder.file("map.iso", b"// a map\n{\"nodes\": [1], \"root_index\": 0}");
    check(&folder.run("convert map.iso copy.iso"), 0, "");
    check(&folder.run("diff map.iso copy.iso"), 0, "equal\n");
    let shown = folder.run("show -q map.iso").out;
    check(
        &piped(folder.path(), "diff - map.iso", shown.as_bytes()),
        0,
        "equal\n",
    );
}

#[test]
fn convert_replaces_nothing_unasked() {
    let folder = folder();
    let before = fs::read(folder.path().join("module.json")).unwrap();
    let ran = folder.run("convert swapped.iso module.json");
    check(&ran, 2, "");
    assert_eq!(
        ran.err,
        "isoform: module.json: the file exists; --force replaces it\n"
    );
    assert_eq!(fs::read(folder.path().join("module.json")).unwrap(), before);
    // Nor if the replacement cannot be read.
    folder.file("broken.iso", b"[1, ");
    assert_eq!(
        folder.run("convert --force broken.iso module.json").status,
        2
    );
    assert_eq!(fs::read(folder.path().join("module.json")).unwrap(), before);

    let ran = folder.run("convert --json --force swapped.iso module.json");
    assert_eq!(ran.status, 0, "{ran:?}");
    let told = json(&ran);
    assert_eq!(
        (told["to"].as_str(), told["form"].as_str()),
        (Some("module.json"), Some("json"))
    );
    let length = fs::metadata(folder.path().join("module.json"))
        .unwrap()
        .len();
    assert_eq!(told["bytes"], length);
    check(&folder.run("diff module.json swapped.iso"), 0, "equal\n");
    // A file may replace itself.
    check(&folder.run("convert -f module.json module.json"), 0, "");
    let left = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let left: Vec<String> = left.map(|name| name.into_string().unwrap()).collect();
    assert!(!left.iter().any(|name| name.starts_with('.')), "{left:?}");
}

#[test]
fn convert_says_what_is_missing() {
    let folder = folder();
    for (line, file, expected) in [
        (
            "convert module.iso target",
            "target",
            "use --to json, text, binary, mlir or onnx",
        ),
        (
            "convert module.iso model.onnx",
            "module.iso",
            "expected onnx.Program, got",
        ),
        (
            "convert module.iso -",
            "-",
            "use --to json, text, binary, mlir or onnx",
        ),
        ("convert module.iso . --to json", ".", "this is a folder"),
        ("convert none.iso a.json", "none.iso", "No such file"),
        (
            "convert module.iso none/a.json",
            "none/a.json",
            "No such file",
        ),
        ("convert --json --to json module.iso -", "-", "--to json"),
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{ran:?}");
        assert!(
            ran.err.starts_with(&format!("isoform: {file}: ")),
            "{ran:?}"
        );
        assert!(ran.err.contains(expected), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn convert_respects_links_devices_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    symlink(path("module.json"), path("link.json")).unwrap();
    fs::set_permissions(path("module.json"), fs::Permissions::from_mode(0o640)).unwrap();
    check(&folder.run("convert -f swapped.iso link.json"), 0, "");
    assert!(path("link.json").is_symlink());
    check(&folder.run("diff module.json swapped.iso"), 0, "equal\n");
    let mode = fs::metadata(path("module.json"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);

    symlink("/dev/null", path("null.json")).unwrap();
    for target in ["/dev/null", "null.json"] {
        let ran = folder.run(&format!("convert -f --to json module.iso {target}"));
        assert_eq!(ran.status, 2);
        assert!(ran.err.contains("not a regular file"), "{ran:?}");
    }
}

// ---- programs of statements --------------------------------------------------------

/// A program of the statement dialect.
const PROGRAM: &str = include_str!("../../../../examples/ir/tiled_sum.iso");

#[test]
fn programs_of_statements_are_read_in_every_form() {
    let folder = Folder::new();
    folder.file("sum.iso", PROGRAM.as_bytes());
    folder.file("renamed.iso", PROGRAM.replace("%row", "%line").as_bytes());
    for target in ["sum.json", "sum.isob"] {
        check(&folder.run(&format!("convert sum.iso {target}")), 0, "");
        check(&folder.run(&format!("diff sum.iso {target}")), 0, "equal\n");
    }
    check(&folder.run("diff sum.iso renamed.iso"), 0, "equal\n");
    let expected = digest(&folder.run("hash sum.iso")).to_owned();
    for name in ["sum.json", "sum.isob", "renamed.iso"] {
        assert_eq!(digest(&folder.run(&format!("hash {name}"))), expected);
    }
    let shown = folder.run("show sum.isob");
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(shown.out.contains("pto.ForStmt("), "{}", shown.out);
}

#[test]
fn a_loop_of_another_kind_is_found() {
    let folder = Folder::new();
    folder.file("sum.iso", PROGRAM.as_bytes());
    let changed = PROGRAM.replace("ForKind!\"Sequential\"", "ForKind!\"Parallel\"");
    assert_ne!(changed, PROGRAM);
    folder.file("changed.iso", changed.as_bytes());
    let ran = folder.run("diff sum.iso changed.iso");
    assert_eq!(ran.status, 1, "{ran:?}");
    let place = "<root>.functions[\"tiled_sum\"].body.stmts[0].kind";
    assert!(ran.out.contains(place), "{}", ran.out);
}

/// The target has no name until complete: nothing is left if the process is killed
/// while writing.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_process_leaves_no_part_of_the_target() {
    let folder = Folder::new();
    let text = format!("\"{}\"\n", "a".repeat(48 << 20));
    folder.file("source.iso", text.as_bytes());
    folder.file("replaced.isob", b"old");
    let complete = |name: &str| fs::metadata(folder.path().join(name)).map(|file| file.len());
    let names = || {
        let entries = fs::read_dir(folder.path()).expect("the folder is there");
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name != "target.isob").collect();
        names.sort();
        names
    };
    let mut caught = 0;
    for attempt in 0..40 {
        let target = ["target.isob", "replaced.isob"][attempt % 2];
        let mut child = command()
            .current_dir(folder.path())
            .args(["convert", "--force", "source.iso", target])
            .spawn()
            .expect("the command starts");
        // Any file open in the folder, except for the source.
        let files = format!("/proc/{}/fd", child.id());
        let is_writing = || {
            let open = fs::read_dir(&files).into_iter().flatten();
            let mut links = open.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
            links.any(|file| file.starts_with(folder.path()) && !file.ends_with("source.iso"))
        };
        while child.try_wait().expect("it is a child").is_none() {
            if is_writing() {
                child.kill().expect("it is a child");
                child.wait().expect("it is a child");
                caught += 1;
                break;
            }
        }
        // Without the file in the way, the next attempt is about a new one.
        assert_eq!(names(), ["replaced.isob", "source.iso"]);
        let result = complete(target);
        assert!(result.is_err() || result.is_ok_and(|bytes| bytes == 3 || bytes > 48 << 20));
        let _ = fs::remove_file(folder.path().join("target.isob"));
        folder.file("replaced.isob", b"old");
        if caught == 4 {
            return;
        }
    }
    assert!(caught > 0, "no attempt was seen while it wrote");
}
