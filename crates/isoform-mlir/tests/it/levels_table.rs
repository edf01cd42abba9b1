//! Tables of dialects.

use isoform::text::TextFault;
use isoform_mlir::{Dialects, Level};

use super::support::{different_at, same_at};

fn level(table: &str) -> Level {
    let own = Dialects::parse("own.toml", table).expect("a table");
    let dialects = Dialects::builtin().with(&own);
    let level = Level::strict()
        .semantics(true)
        .io_names(false)
        .contents(false);
    level.dialects(dialects.into())
}

#[test]
fn the_built_in_table_is_read() {
    let text = include_str!("../../src/levels/dialects.toml");
    if let Err(error) = Dialects::parse("dialects.toml", text) {
        panic!("{error}");
    }
}

#[test]
fn tables_add_entries() {
    let level = level(
        r##"
        names = "my.name"
        commutative = [
            "my.join",
            { operation = "my.fma", first = 2 },
            { operation = "my.compare", when = { kind = ["#my<eq>", "\"eq\""] } },
        ]
        [contents]
        "my.weights" = ["left", "right"]
        [defaults."my.op"]
        axis = "-1 : i64"
        mode = ["\"none\"", "#my.mode<none>"]
        "##,
    );
    let on_two =
        |operation: &str| format!("%a, %b = \"m\"() : () -> (i1, i1) {operation} : (i1, i1) -> ()");
    let pair = |name: &str, attributes: &str| {
        [
            on_two(&format!("\"{name}\"(%a, %b) {attributes}")),
            on_two(&format!("\"{name}\"(%b, %a) {attributes}")),
        ]
    };
    for (name, attributes) in [
        ("my.join", ""),
        ("my.fma", ""),
        ("my.compare", "{kind = #my<eq>}"),
        ("my.compare", "<{kind = \"eq\"}>"),
        ("stablehlo.add", ""),
    ] {
        same_at(
            &level,
            &pair(name, attributes).each_ref().map(String::as_str),
        );
    }
    for (name, attributes) in [
        ("my.other", ""),
        ("my.compare", ""),
        ("my.compare", "{kind = #my<lt>}"),
        ("my.compare", "{other = #my<eq>}"),
    ] {
        different_at(
            &level,
            &pair(name, attributes).each_ref().map(String::as_str),
        );
    }
    let operation = |entries: &str| format!("\"my.op\"() {entries} : () -> ()");
    same_at(
        &level,
        &[
            &operation(""),
            &operation("<{axis = -1 : i64}>"),
            &operation("{axis = -1}"),
            &operation("{mode = \"none\"}"),
            &operation("{mode = #my<mode<none>>}"),
        ],
    );
    different_at(
        &level,
        &[
            &operation(""),
            &operation("{axis = 0}"),
            &operation("{mode = \"some\"}"),
        ],
    );
    let weights = |entries: &str| format!("\"my.weights\"() {{{entries}}} : () -> ()");
    same_at(
        &level,
        &[
            &weights("left = 1, right = 2"),
            &weights("left = 3, right = 4"),
        ],
    );
    // The list of a constant replaces the usual keys.
    different_at(&level, &[&weights("value = 1"), &weights("value = 2")]);
    let named = |name: &str| {
        format!(
            "\"f\"() {{arg_attrs = [{{my.name = \"{name}\", jax.arg_info = \"{name}\"}}]}} : () -> ()"
        )
    };
    same_at(&level, &[&named("a"), &named("b")]);
}

#[test]
fn conditions_hold_for_defaults() {
    let level = level(
        "commutative = [{ operation = \"my.compare\", when = { kind = \"0\" } }]
         defaults.\"my.compare\".kind = \"0\"",
    );
    let compare = |operands: &str, entries: &str| {
        format!(
            "%a, %b = \"m\"() : () -> (i1, i1) \"my.compare\"({operands}) {{{entries}}} : (i1, i1) -> ()"
        )
    };
    same_at(
        &level,
        &[
            &compare("%a, %b", ""),
            &compare("%b, %a", ""),
            &compare("%b, %a", "kind = 0"),
        ],
    );
    let [left, right] = ["%a, %b", "%b, %a"].map(|operands| compare(operands, "kind = 1"));
    different_at(&level, &[&left, &right, &compare("%a, %b", "")]);
}

#[test]
fn later_tables_replace_entries() {
    let level = level(
        "commutative = [{ operation = \"arith.addi\", first = 0 }]
         contents.\"arith.constant\" = []
         defaults.\"arith.addf\".fastmath = []",
    );
    let add = |operands: &str| {
        format!(
            "%a, %b = \"m\"() : () -> (i1, i1) %c = \"arith.addi\"({operands}) : (i1, i1) -> i1"
        )
    };
    different_at(&level, &[&add("%a, %b"), &add("%b, %a")]);
    let constant = |value: i32| format!("\"arith.constant\"() {{value = {value}}} : () -> i64");
    different_at(&level, &[&constant(1), &constant(2)]);
    let add = |entries: &str| format!("\"arith.addf\"() {{{entries}}} : () -> ()");
    different_at(
        &level,
        &[&add(""), &add("fastmath = #arith.fastmath<none>")],
    );
    // Other keys of the operation keep what is built in.
    let add = add("").replace("addf", "addi");
    same_at(
        &level,
        &[
            &add,
            &add.replace("{}", "{overflowFlags = #arith.overflow<none>}"),
        ],
    );
}

#[track_caller]
fn refused(table: &str, line: usize, column: usize, message: &str) {
    let error = match Dialects::parse("own.toml", table) {
        Ok(_) => panic!("read: {table}"),
        Err(error) => error,
    };
    assert!(error.message().starts_with("own.toml: line "), "{error}");
    let source = error.into_source().expect("a fault");
    let fault = source.downcast_ref::<TextFault>().expect("a fault");
    let place = (fault.line(), fault.column());
    assert_eq!((place, fault.message()), ((line, column), message));
}

#[test]
fn bad_tables_are_refused() {
    refused(
        "\ncommutativ = []",
        2,
        1,
        "expected the key names, commutative, contents or defaults, got \"commutativ\"",
    );
    refused(
        "names = 3",
        1,
        9,
        "names: expected a string or a list of strings, got an integer: write \"jax.result_info\"",
    );
    let item = "write \"dialect.operation\" or { operation = \"dialect.operation\", first = 2 }";
    refused(
        "commutative = [\"a.b\",\n [\"c.d\"]]",
        2,
        2,
        &format!("commutative: expected an operation, got an array: {item}"),
    );
    refused(
        "commutative = \"a.b\"",
        1,
        15,
        &format!(
            "commutative: expected a list of operations, got a string: {}",
            item.replace("write ", "write [") + "]"
        ),
    );
    refused(
        "commutative = [{ first = 2 }]",
        1,
        16,
        "commutative: expected the key operation: write { operation = \"dialect.operation\" }",
    );
    refused(
        "commutative = [{ operation = 1 }]",
        1,
        30,
        "commutative.operation: expected the name of an operation, got an integer: write \"dialect.operation\"",
    );
    refused(
        "commutative = [{ operation = \"a.b\", last = 1 }]",
        1,
        16,
        "commutative: expected the key operation, first or when, got \"last\"",
    );
    refused(
        "commutative = [{ operation = \"a.b\", first = -1 }]",
        1,
        45,
        "commutative.first: expected a number of operands, got an integer: write 2",
    );
    refused(
        "[contents]\n\"a.b\" = 1",
        2,
        9,
        "contents.\"a.b\": expected a string or a list of strings, got an integer: write \"value\"",
    );
    refused(
        "defaults = []",
        1,
        12,
        "defaults: expected a table, got an array: write { \"key\" = \"value\" }",
    );
    refused(
        "[defaults]\n\"a.b\" = { c = 1 }",
        2,
        15,
        "defaults.\"a.b\".c: expected a string or a list of strings, got an integer: write an attribute in quotes, such as \"0 : i64\"",
    );
    refused(
        "[defaults]\n\"a.b\" = { c = \"1 :\" }",
        2,
        15,
        "defaults.\"a.b\".c: expected an attribute of MLIR, such as \"0 : i64\", got \"1 :\": column 4: expected a type, got the end of the text",
    );
    refused(
        "[defaults]\n\"a.b\" = { c = \"1 2\" }",
        2,
        15,
        "defaults.\"a.b\".c: expected an attribute of MLIR, such as \"0 : i64\", got \"1 2\": column 3: expected the end of the attribute, got '2'",
    );
    let error = Dialects::parse("own.toml", "names = [")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("ValueError: own.toml: line 1, column "),
        "{error}"
    );
}
