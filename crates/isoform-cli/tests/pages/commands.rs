//! The pages of `show`, `run`, `bisect`, `clones` and `optimize`.

use std::fs;

use isoform_onnx::proto::{GraphProto, ModelProto};
use serde_json::Value as Json;

use crate::build::{Dim, FLOAT, Folder, floats, ints, model, node, value, with_attributes};
use crate::json;

/// Names that try to leave their place in HTML.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\"'&";

const PROGRAM: &str = include_str!("../passes/sums.iso");

/// A written page.
struct Written(String);

impl Written {
    fn read(folder: &Folder, name: &str) -> Self {
        let html = fs::read_to_string(folder.path().join(name)).expect("the page exists");
        assert!(html.starts_with("<!DOCTYPE html>"), "{html:.80}");
        assert!(html.trim_end().ends_with("</html>"));
        Written(html)
    }

    /// The sentence on the first screen.
    fn sentence(&self) -> String {
        text_of(self.between("<span class=\"sentence\">", "</span>"))
    }

    fn between(&self, start: &str, end: &str) -> &str {
        let (_, rest) = self.0.split_once(start).expect(start);
        rest.split_once(end).expect(end).0
    }

    /// The rows of the table in the section with a heading, as cells.
    fn table(&self, heading: &str) -> Vec<Vec<String>> {
        let (_, rest) = self
            .0
            .split_once(&format!("<bdi>{heading}"))
            .expect(heading);
        let body = rest.split_once("<tbody>").expect("a table").1;
        let body = body.split_once("</tbody>").expect("a table").0;
        let rows = body.split("<tr").skip(1);
        rows.map(|row| {
            let cells = row.split("<td>").skip(1);
            cells.map(text_of).collect()
        })
        .collect()
    }

    /// The texts of all listings.
    fn listings(&self) -> Vec<Json> {
        let scripts = self.0.split("<script type=\"application/json\">").skip(1);
        let scripts = scripts.map(|rest| rest.split_once("</script>").expect("an end").0);
        let scripts = scripts.map(|text| serde_json::from_str(text).expect("valid JSON"));
        scripts
            .filter(|json: &Json| json.get("rows").is_some())
            .collect()
    }
}

/// The text of a piece of HTML without its tags.
fn text_of(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for c in html.chars() {
        match c {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => text.push(c),
            _ => {}
        }
    }
    text.trim().to_owned()
}

/// The lines of one side of a listing: 1 for the left, 2 for the right side. Roles, changes
/// and bindings of pieces are left out.
fn lines(listing: &Json, side: usize) -> Vec<String> {
    let texts = listing["texts"].as_array().unwrap();
    let rows = listing["rows"].as_array().unwrap();
    let line = |row: &Json| {
        let line = match &row[side] {
            Json::Null => &row[1],
            Json::Number(same) if same.as_u64() == Some(1) => &row[1],
            line => line,
        };
        let mut text = String::new();
        let mut codes = line.as_array().into_iter().flatten().skip(1);
        while let Some(code) = codes.next().and_then(Json::as_u64) {
            text.push_str(texts[(code / 64) as usize].as_str().unwrap());
            if code & 16 != 0 {
                codes.next();
            }
        }
        text
    };
    rows.iter().map(line).collect()
}

/// Pieces of a listing with a binding, as text, number and whether it is the definition.
fn bindings(listing: &Json) -> Vec<(String, u64, bool)> {
    let mut found = Vec::new();
    for row in listing["rows"].as_array().unwrap() {
        let mut codes = row[1].as_array().into_iter().flatten().skip(1);
        while let Some(code) = codes.next().and_then(Json::as_u64) {
            if code & 16 != 0 {
                let text = listing["texts"][(code / 64) as usize].as_str().unwrap();
                let binding = codes.next().and_then(Json::as_u64).unwrap();
                found.push((text.to_owned(), binding, code & 32 != 0));
            }
        }
    }
    found
}

/// Layers of a product and a sum around a name that may be hostile.
fn layers(count: usize, name: &str) -> ModelProto {
    let mut nodes = vec![node("Abs", &["x"], &["h0"])];
    let mut weights = Vec::new();
    for layer in 0..count {
        let at = |part: &str| format!("{part}{layer}");
        weights.push(floats(&at("w"), &[layer as f32, 1.0]));
        nodes.push(node("Mul", &[&at("h"), &at("w")], &[&at("scaled")]));
        nodes.push(node("Relu", &[&at("scaled")], &[&at(name)]));
        nodes.push(node("Tanh", &[&at(name)], &[&at("t")]));
        let output = format!("h{}", layer + 1);
        nodes.push(node("Sub", &[&at("h"), &at("t")], &[&output]));
    }
    model(GraphProto {
        name: "layers".to_owned(),
        input: vec![value("x", FLOAT, &[Dim::Size(2)])],
        output: vec![value(&format!("h{count}"), FLOAT, &[Dim::Size(2)])],
        initializer: weights,
        node: nodes,
        ..Default::default()
    })
}

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

#[test]
fn a_model_is_shown_with_numbers_and_bindings() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(3, "active"));
    let plain = folder.run("show m.onnx");
    let ran = folder.run("show --html m.html m.onnx");
    assert_eq!(
        (ran.status, &ran.err, &ran.out),
        (0, &plain.err, &plain.out)
    );
    let page = Written::read(&folder, "m.html");
    assert_eq!(
        page.sentence(),
        "13 nodes of 5 operators, most of them Mul × 3, Relu × 3, Sub × 3; 3 weights with 6 \
         elements"
    );
    let operators = page.table("Operators");
    assert_eq!(operators.len(), 5);
    assert_eq!(operators[4], ["Abs", "1"]);
    let weights = page.table("Weights");
    assert_eq!(weights.len(), 3);
    let last = weights.iter().find(|row| row[0] == "w2").unwrap();
    assert_eq!(
        last[1..8],
        ["float32[2]", "8 B", "1", "2", "1.5", "0.5", "0"]
    );
    // The listing has the lines of the text, and each value is bound once.
    let listings = page.listings();
    let listed = lines(&listings[0], 1);
    let printed = plain.out.lines().filter(|line| !line.starts_with('#'));
    let printed: Vec<&str> = printed.map(str::trim_start).collect();
    assert_eq!(listed, printed);
    let bound = bindings(&listings[0]);
    let of_scaled: Vec<_> = bound
        .iter()
        .filter(|(name, ..)| name == "%scaled1")
        .collect();
    assert_eq!(of_scaled.len(), 2);
    assert_eq!(of_scaled[0].1, of_scaled[1].1);
    assert_eq!((of_scaled[0].2, of_scaled[1].2), (true, false));
}

#[test]
fn options_of_the_text_count_on_the_page() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(1, "active"));
    let ran = folder.run("show --html m.html --names --shapes --numbers --limit 1 m.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    let listed = lines(&Written::read(&folder, "m.html").listings()[0], 1);
    let relu = listed.iter().find(|line| line.contains("Relu")).unwrap();
    assert_eq!(
        relu,
        "%3 = Relu(%2)  # float[2]  # \"Relu_active0\": \"scaled0\" -> \"active0\""
    );
    let ran = folder.run("show --html a.html --architecture m.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = Written::read(&folder, "a.html");
    assert_eq!(page.table("Weights")[0][3..], ["-"; 6]);
}

#[test]
fn a_value_is_shown_with_its_types_and_bindings() {
    let folder = Folder::new();
    folder.file("p.iso", PROGRAM.as_bytes());
    let plain = folder.run("show p.iso");
    let ran = folder.run("show --html p.html p.iso");
    assert_eq!((ran.status, &ran.out), (0, &plain.out));
    let page = Written::read(&folder, "p.html");
    assert!(page.sentence().starts_with("pto.Program: "));
    let types = page.table("Types");
    let functions = types.iter().find(|row| row[0] == "pto.Function").unwrap();
    assert_eq!(functions[1], "3");
    let listing = &page.listings()[0];
    let printed: Vec<&str> = plain.out.lines().skip(1).map(str::trim_start).collect();
    assert_eq!(lines(listing, 1), printed);
    let bound = bindings(listing);
    let uses: Vec<_> = bound.iter().filter(|(name, ..)| name == "%x").collect();
    let count = |text| plain.out.matches(text).count();
    assert_eq!(uses.len(), count("%x") - count("%x_"));
    // Each function has an `x` of its own.
    let numbers: std::collections::BTreeSet<_> = uses.iter().map(|(_, number, _)| number).collect();
    assert_eq!(numbers.len(), count("%x:"));
    let ran = folder.run("show --html q.html --names p.iso");
    assert_eq!(ran.status, 2);
    assert!(!folder.path().join("q.html").exists());
}

#[test]
fn each_pass_has_its_changes() {
    let folder = Folder::new();
    folder.file("p.iso", PROGRAM.as_bytes());
    let ran = folder.run("run pto.cse,pto.simplify,pto.simplify p.iso -o out.iso --html r.html");
    assert_eq!((ran.status, ran.out.as_str()), (0, ""), "{}", ran.err);
    let page = Written::read(&folder, "r.html");
    let sentence = page.sentence();
    assert!(
        sentence.starts_with("Of 3 passes, only 'pto.simplify' changed the program: 2 functions"),
        "{sentence}"
    );
    let passes = page.table("Passes");
    let names: Vec<&str> = passes
        .iter()
        .map(|row| row[row.len() - 4].as_str())
        .collect();
    assert_eq!(names, ["pto.cse", "pto.simplify", "pto.simplify"]);
    let lines_changed: Vec<&str> = passes
        .iter()
        .map(|row| row[row.len() - 1].as_str())
        .collect();
    assert_eq!(
        (lines_changed[0], lines_changed[2]),
        ("no change", "no change")
    );
    let listings = page.listings();
    assert_eq!(listings.len(), 1);
    let [before, after] = [1, 2].map(|side| lines(&listings[0], side).join("\n"));
    assert_eq!(before.matches(" + 0").count(), 2, "{before}");
    assert_eq!(after.matches(" + 0").count(), 0, "{after}");
    assert!(before.contains("function f") && before.contains("function g"));
    // Nothing else changed.
    let plain = folder.run("run pto.simplify p.iso");
    let ran = folder.run("run pto.simplify p.iso --html s.html");
    assert_eq!(ran.out, plain.out);
}

#[test]
fn passes_on_a_model_tell_the_nodes() {
    let folder = Folder::new();
    folder.model("m.onnx", &clumsy());
    let ran = folder.run("run onnx.Simplify m.onnx -o s.onnx --html r.html");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = Written::read(&folder, "r.html");
    assert!(page.0.contains("6 → 2"));
    let ran = folder.run("run onnx.Simplify s.onnx -o t.onnx --html same.html");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = Written::read(&folder, "same.html");
    assert_eq!(page.sentence(), "Pass 'onnx.Simplify' changed nothing");
    assert!(page.0.contains("class=\"verdict equal\""));
}

#[cfg(unix)]
#[test]
fn the_search_tells_its_checks() {
    let folder = Folder::new();
    folder.file("p.iso", PROGRAM.as_bytes());
    folder.file("check.sh", b"test $(grep -c pto.Add $1) -ge 2");
    let line = "bisect pto.cse,pto.simplify,pto.cse p.iso";
    let plain = folder.run(&format!("{line} -- sh check.sh"));
    let ran = folder.run(&format!("{line} --html b.html -- sh check.sh"));
    assert_eq!((ran.status, &ran.out), (0, &plain.out), "{}", ran.err);
    let page = Written::read(&folder, "b.html");
    assert!(
        page.sentence()
            .starts_with("The check fails after pass &#39;pto.simplify&#39;, number 2")
            || page
                .sentence()
                .starts_with("The check fails after pass 'pto.simplify', number 2"),
        "{}",
        page.sentence()
    );
    let checks = page.table("Checks in order");
    let answers: Vec<[&str; 2]> = checks
        .iter()
        .map(|row| [row[row.len() - 2].as_str(), row[row.len() - 1].as_str()])
        .collect();
    assert_eq!(answers[0], ["before the first pass", "good"]);
    assert_eq!(answers[1], ["after 3. 'pto.cse'", "bad"]);
    assert_eq!(answers.len(), 7, "{answers:?}");
    let after = lines(&page.listings()[0], 2).join("\n");
    assert!(
        after.contains("function g") && !after.contains(" + 0"),
        "{after}"
    );
}

#[test]
fn repeated_blocks_are_drawn_and_listed() {
    let folder = Folder::new();
    folder.model("one.onnx", &layers(3, "active"));
    folder.model("two.onnx", &layers(2, "active"));
    let plain = folder.run("clones one.onnx two.onnx");
    let ran = folder.run("clones --html c.html one.onnx two.onnx");
    assert_eq!((ran.status, &ran.out), (0, &plain.out), "{}", ran.err);
    let page = Written::read(&folder, "c.html");
    let blocks = page.table("What repeats");
    let [kind, size, count, text] = [1, 2, 3, 6].map(|cell| blocks[0][cell].as_str());
    let head = format!("{kind} of {size} nodes, {count} times  {text}");
    assert_eq!(plain.out.lines().next(), Some(head.as_str()));
    assert_eq!(blocks[0][4], "2", "both files have a copy");
    let largest = blocks
        .iter()
        .max_by_key(|row| row[5].parse::<u64>().unwrap());
    let largest = largest.unwrap();
    let start = format!(
        "A {} of {} nodes occurs {} times",
        largest[1], largest[2], largest[3]
    );
    assert!(page.sentence().starts_with(&start), "{}", page.sentence());
    assert!(page.0.contains("<article id=\"part-1\""));
    assert!(page.0.contains("one.onnx: node "));
    // One copy is listed as the text of its model.
    let listed = lines(&page.listings()[0], 1);
    let shown = folder.run("show one.onnx").out;
    let size: usize = size.parse().unwrap();
    assert!(
        listed[0].starts_with("// 1. block: one.onnx: "),
        "{listed:?}"
    );
    for line in &listed[1..=size] {
        assert!(line.contains(" = ") && shown.contains(line), "{line}");
    }
    let ran = folder.run("clones --html none.html --min-size 30 one.onnx");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = Written::read(&folder, "none.html");
    assert_eq!(page.sentence(), "No part of this size occurs several times");
    // A file that cannot be read does not keep the others from their page.
    let ran = folder.run("clones --html part.html one.onnx missing.onnx");
    assert_eq!(ran.status, 2);
    assert!(Written::read(&folder, "part.html").0.contains("part-1"));
}

#[test]
fn rules_tell_why_they_are_right() {
    let folder = Folder::new();
    folder.model("m.onnx", &clumsy());
    let ran = folder.run("optimize --verify --verify-shape x:2,3 m.onnx s.onnx --html o.html");
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("s.onnx: 6 → 2 nodes"), "{ran:?}");
    let page = Written::read(&folder, "o.html");
    assert!(
        page.sentence().starts_with("6 → 2 nodes: "),
        "{}",
        page.sentence()
    );
    assert!(
        page.sentence()
            .ends_with("; the results of both models agree")
    );
    assert!(page.0.contains("every bit of every output is the same"));
    assert!(page.0.contains("<article id=\"change-1\""));
    // Every rule that fired is there, with the reason that the rule gives.
    let catalogue = folder.run("optimize --list-rules --json").out;
    let catalogue: Vec<Json> = catalogue
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let report = json(&folder.run("optimize --json --force m.onnx s.onnx"));
    let fired = report["rules"].as_array().unwrap();
    assert!(fired.len() > 1, "{fired:?}");
    for rule in fired {
        let name = rule["rule"].as_str().unwrap();
        let info = catalogue.iter().find(|info| info["name"] == name).unwrap();
        assert!(page.0.contains(&format!("{name}: saves ")), "{name}");
        let reason = info["reason"].as_str().unwrap();
        let reason = reason.split(['\'', '"', '<', '&']).next().unwrap();
        assert!(
            reason.len() > 10 && page.0.contains(reason),
            "{name}: {reason}"
        );
    }
    assert!(page.0.contains("Why the results stay the same"));
    let uses = page.table("Uses of rules in order");
    assert!(
        uses.iter()
            .any(|row| row[1] == "fold-constants" && row[2] == "Add")
    );
    let ran = folder.run("optimize s.onnx t.onnx --html none.html");
    assert_eq!(ran.status, 0, "{ran:?}");
    let page = Written::read(&folder, "none.html");
    assert_eq!(page.sentence(), "2 → 2 nodes: no rule applies");
    assert!(page.0.contains("class=\"verdict equal\""));
}

#[test]
fn hostile_names_stay_text() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(3, HOSTILE));
    folder.file(
        "p.iso",
        PROGRAM.replace("\"f\"", "\"</script><b>\"").as_bytes(),
    );
    let commands = [
        "show --html show.html --names m.onnx",
        "clones --html clones.html m.onnx",
        "run onnx.Simplify m.onnx -o s.onnx --html run.html",
        "optimize m.onnx o.onnx --html optimize.html",
        "run pto.simplify p.iso -o q.iso --html value.html",
    ];
    for command in commands {
        let ran = folder.run(command);
        assert_eq!(ran.status, 0, "{ran:?}");
        let name = command
            .split(' ')
            .skip_while(|word| *word != "--html")
            .nth(1)
            .unwrap();
        let page = Written::read(&folder, name);
        for markup in ["<img", "<script>alert", "</script><b>", "\u{202e}"] {
            assert!(!page.0.contains(markup), "{command}: {markup}");
        }
    }
}

#[test]
fn pages_replace_files_only_by_force() {
    let folder = Folder::new();
    folder.model("m.onnx", &clumsy());
    folder.file("page.html", b"mine");
    let commands = [
        "show m.onnx",
        "clones m.onnx",
        "run onnx.Simplify m.onnx",
        "optimize m.onnx s.onnx",
        "bisect onnx.Simplify m.onnx",
    ];
    for command in commands {
        let check = if command.starts_with("bisect") {
            " -- false"
        } else {
            ""
        };
        let ran = folder.run(&format!("{command} --html page.html{check}"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{command}");
        let expected = "isoform: page.html: the file exists; --force replaces it\n";
        assert_eq!(ran.err, expected, "{command}");
        assert!(!folder.path().join("s.onnx").exists());
        let ran = folder.run(&format!("{command} --html no/page.html{check}"));
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{command}");
        assert!(
            ran.err
                .starts_with("isoform: no/page.html: the folder 'no' does not exist"),
            "{}",
            ran.err
        );
        let ran = folder.run(&format!("{command} --json --html -{check}"));
        assert_eq!(ran.status, 2, "{command}");
        assert!(ran.err.contains("standard output gets JSON"), "{}", ran.err);
    }
    assert_eq!(fs::read(folder.path().join("page.html")).unwrap(), b"mine");
    let ran = folder.run("show m.onnx --html page.html --force");
    assert_eq!(ran.status, 0, "{ran:?}");
    Written::read(&folder, "page.html");
    let ran = folder.run("optimize m.onnx both --html both");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("the page would take the place of"));
    // However the file is spelled, and with --force, too.
    let model = fs::read(folder.path().join("m.onnx")).unwrap();
    for command in [
        "optimize m.onnx both --force --html ./both",
        "optimize m.onnx both --force --html ./m.onnx",
        "show m.onnx --force --html ./m.onnx",
        "diff m.onnx other.onnx --force --html m.onnx",
        "diff other.onnx m.onnx --force --html ./m.onnx",
    ] {
        let ran = folder.run(command);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{command}");
        assert!(
            ran.err.contains("the page would take the place of"),
            "{command}: {}",
            ran.err
        );
    }
    assert_eq!(fs::read(folder.path().join("m.onnx")).unwrap(), model);
}

#[test]
fn a_page_on_standard_output_is_alone() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(2, "active"));
    for command in [
        "show m.onnx --html -",
        "clones m.onnx --html -",
        "run onnx.Simplify m.onnx --html -",
        "run onnx.Simplify m.onnx -o s.onnx --html - --changes",
        "optimize m.onnx o.onnx --explain --html -",
    ] {
        let ran = folder.run(command);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(
            ran.out.starts_with("<!DOCTYPE html>"),
            "{command}: {:.200}",
            ran.out
        );
        assert!(ran.out.trim_end().ends_with("</html>"), "{command}");
    }
    assert!(folder.path().join("o.onnx").exists());
    assert!(folder.path().join("s.onnx").exists());
}

#[test]
fn a_file_that_cannot_be_read_has_no_page() {
    let folder = Folder::new();
    folder.model("m.onnx", &layers(2, "active"));
    let ran = folder.run("show missing.onnx --html p.html");
    assert_eq!(ran.status, 2);
    assert!(!folder.path().join("p.html").exists());
}

#[test]
fn large_models_have_pages() {
    let folder = Folder::new();
    let count = isoform_testing::source::scaled(5_000);
    folder.model("m.onnx", &layers(count, "active"));
    for command in [
        "show -q m.onnx --html show.html",
        "clones -q m.onnx --html clones.html",
        "run -q onnx.Simplify m.onnx -o s.onnx --html run.html",
        "optimize -q m.onnx o.onnx --html optimize.html",
    ] {
        let ran = folder.run(command);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
    let page = Written::read(&folder, "show.html");
    assert_eq!(lines(&page.listings()[0], 1).len(), 4 * count + 1 + 4);
}
