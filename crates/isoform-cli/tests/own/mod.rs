//! Files of unknown types, words of other programs, and manual pages.

use crate::build::Folder;
use crate::check;

/// Two texts, a JSON graph and data of a hook, all of types that nobody declares.
fn folder() -> Folder {
    let folder = Folder::new();
    let text = "my.Fun(params=[%x: my.Var()], body=my.Add(lhs=%x, rhs=my.Int(value=1)))\n";
    folder.file("a.iso", text.as_bytes());
    folder.file("renamed.iso", text.replace("%x", "%y").as_bytes());
    folder.file("other.iso", text.replace("value=1", "value=2").as_bytes());
    folder.file("shared.iso", b"[%a: my.Int(value=1), %a]");
    folder.file("apart.iso", b"[my.Int(value=1), my.Int(value=1)]");
    folder.file(
        "graph.json",
        br#"{"root_index":3,"nodes":[{"type":"my.Int","data":{"value":1}},{"type":"my.Int","data":{"value":2}},{"type":"my.Add","data":{"lhs":0,"rhs":1}},{"type":"ffi.List","data":[2]}]}"#,
    );
    folder.file("hook.iso", b"[my.Turn!\"left\", my.Turn!{\"a\": [1]}]");
    folder
}

#[test]
fn texts_are_shown_and_compared_by_themselves() {
    let folder = folder();
    let ran = folder.run("show a.iso");
    let shown = "// text, unknown.my.Fun\n%x = unknown.my.Var()\nunknown.my.Fun(params=[%x], \
                 body=unknown.my.Add(lhs=%x, rhs=unknown.my.Int(value=1)))\n";
    check(&ran, 0, shown);
    assert!(
        ran.err.starts_with(
            "isoform: note: 4 types are unknown here, my.Add, my.Fun, my.Int, my.Var: shown by \
             the file alone\n"
        ),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("--import MODULE"), "{}", ran.err);
    check(&folder.run("diff a.iso a.iso"), 0, "equal\n");
    let ran = folder.run("diff a.iso renamed.iso");
    assert_eq!(ran.status, 1, "names count: {ran:?}");
    assert!(
        ran.err.contains("everything counts: names, sharing"),
        "{}",
        ran.err
    );
    let ran = folder.run("diff a.iso other.iso");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("body.rhs.value: 1 -> 2"), "{}", ran.out);
    check(&folder.run("diff -q shared.iso apart.iso"), 1, "");
    check(&folder.run("diff -q apart.iso apart.iso"), 0, "");
    check(
        &folder.run("show -q hook.iso"),
        0,
        "[unknown.my.Turn!\"left\", unknown.my.Turn!{\"a\":[1]}]\n",
    );
    check(&folder.run("diff -q hook.iso hook.iso"), 0, "");
}

#[test]
fn a_graph_tells_its_references_by_the_order_of_nodes() {
    let folder = folder();
    let ran = folder.run("show graph.json");
    let shown = "// JSON graph, isoform.List\nList[unknown.my.Add(lhs=unknown.my.Int(value=1), \
                 rhs=unknown.my.Int(value=2))]\n";
    check(&ran, 0, shown);
    assert!(!ran.err.contains("may hold"), "{}", ran.err);
    // The second number is that of the node before, and might be the only reference to it.
    folder.file(
        "unsure.json",
        br#"{"root_index":4,"nodes":[{"type":"None"},{"type":"my.Int","data":{"value":0}},{"type":"my.Int","data":{"value":1}},{"type":"my.Add","data":{"lhs":1,"rhs":2}},{"type":"ffi.List","data":[0,3]}]}"#,
    );
    let ran = folder.run("show -q unsure.json");
    let shown =
        "List[None, unknown.my.Add(lhs=unknown.my.Int(value=0), rhs=unknown.my.Int(value=1))]\n";
    check(&ran, 0, shown);
    let ran = folder.run("diff unsure.json unsure.json");
    check(&ran, 0, "equal\n");
    assert!(
        ran.err
            .contains("may hold either: my.Add.lhs, my.Int.value"),
        "{}",
        ran.err
    );
    let large = r#"{"root_index":0,"nodes":[{"type":"my.Int","data":{"value":7}}]}"#;
    folder.file("large.json", large.as_bytes());
    let ran = folder.run("show large.json");
    check(
        &ran,
        0,
        "// JSON graph, unknown.my.Int\nunknown.my.Int(value=7)\n",
    );
    assert!(!ran.err.contains("may hold"), "{}", ran.err);
    // A node that is part of no other has no place.
    folder.file(
        "lost.json",
        br#"{"root_index":1,"nodes":[{"type":"None"},{"type":"my.Int","data":{"value":7}}]}"#,
    );
    let ran = folder.run("show lost.json");
    assert_eq!((ran.status, &*ran.out), (2, ""));
    assert!(ran.err.contains("unknown type \"my.Int\""), "{}", ran.err);
}

#[test]
fn no_other_command_works_without_the_types() {
    let folder = folder();
    for line in [
        "hash a.iso",
        "summary a.iso",
        "convert a.iso b.json",
        "clones a.iso",
        "check a.iso",
        "dedup a.iso other.iso",
        "run pto.cse a.iso",
    ] {
        let ran = folder.run(line);
        assert_eq!(ran.status, 2, "{line}: {ran:?}");
        assert!(
            ran.err.contains("unknown type \"my.Fun\""),
            "{line}: {}",
            ran.err
        );
    }
    let ran = folder.run("hash a.iso");
    assert!(
        ran.err.contains("there is no digest without the type"),
        "{}",
        ran.err
    );
}

#[test]
fn words_of_other_programs_lead_to_commands() {
    let folder = Folder::new();
    for (word, command) in [
        ("inspect", "`isoform show` does this"),
        ("view", "`isoform show` does this"),
        ("simplify", "`isoform optimize` does this"),
        ("compare", "`isoform diff` does this"),
        ("digest", "`isoform hash` does this"),
        ("version", "`isoform --version` prints the version"),
        ("shwo", "a similar subcommand exists: 'show'"),
    ] {
        let ran = folder.run(word);
        assert_eq!((ran.status, &*ran.out), (2, ""), "{word}");
        assert!(
            ran.err.contains(&format!("tip: {command}")),
            "{word}: {}",
            ran.err
        );
    }
}

#[test]
fn addresses_and_names_of_hubs_are_no_files() {
    let folder = Folder::new();
    for (name, advice) in [
        (
            "https://example.org/a/m.onnx",
            "download it first: curl -L -o m.onnx 'https://example.org/a/m.onnx'",
        ),
        ("s3://bucket/m.onnx", "with the client of s3"),
        (
            "owner/model-7b",
            "download it first: hf download owner/model-7b",
        ),
    ] {
        let ran = folder.run(&format!("hash {name}"));
        assert_eq!((ran.status, &*ran.out), (2, ""), "{name}");
        assert!(ran.err.contains(advice), "{name}: {}", ran.err);
    }
    for name in ["missing.onnx", "owner/m.onnx", "a/b/c", "./model"] {
        let ran = folder.run(&format!("hash {name}"));
        assert!(!ran.err.contains("download"), "{name}: {}", ran.err);
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let ran = folder.run("man pages/man1");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = |name: &str| {
        let file = folder.path().join("pages/man1").join(name);
        std::fs::read_to_string(file).expect("a page")
    };
    assert!(page("isoform.1").contains(".TH isoform 1"));
    assert!(page("isoform-diff.1").contains("Exit status:"));
    assert!(page("isoform-git-textconv.1").contains("isoform\\-git\\-textconv"));
    let again = folder.run("man pages/man1");
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.err.contains("--force replaces it"), "{}", again.err);
    assert_eq!(folder.run("man --force -q pages/man1").out, "");
}

#[test]
fn wrong_settings_are_refused_except_for_git() {
    let folder = folder();
    folder.file("pyproject.toml", b"[tool.isoform]\nio-names = true\n");
    let ran = folder.run("show a.iso");
    assert_eq!((ran.status, &*ran.out), (2, ""));
    assert!(
        ran.err
            .contains("unknown field `io-names`, expected `import`"),
        "{}",
        ran.err
    );
    assert_eq!(folder.run("show --no-config a.iso").status, 0);
    assert_eq!(folder.run("git textconv a.iso").status, 0);
    // Without Python, modules are no error until somebody asks for them.
    folder.file("pyproject.toml", b"[tool.isoform]\nimport = ['mine']\n");
    assert_eq!(folder.run("passes").status, 0);
    assert_eq!(folder.run("hash a.iso").status, 2);
}
