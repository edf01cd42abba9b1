//! The form of operations: parts, names, results, white space.

use super::support::{different, operations, program, refused, same, written};

#[test]
fn numbers_end_the_names_of_values() {
    // `%2_0` is the value `%2` and a word.
    refused(
        "%2_0 = \"a.b\"() : () -> i1",
        1,
        3,
        "expected '=', got '_0'",
    );
    same(&[
        "%a2_0 = \"a.b\"() : () -> i1 \"u\"(%a2_0) : (i1) -> ()",
        "%-1 = \"a.b\"() : () -> i1 \"u\"(%-1) : (i1) -> ()",
        "%a.b-c$d_ = \"a.b\"() : () -> i1 \"u\"(%a.b-c$d_) : (i1) -> ()",
    ]);
}

#[test]
fn names_are_spellings() {
    let text = "%1 = \"a\"() : () -> i1 %01 = \"b\"() : () -> i1 \"u\"(%1) : (i1) -> ()";
    let other = "%1 = \"a\"() : () -> i1 %01 = \"b\"() : () -> i1 \"u\"(%01) : (i1) -> ()";
    different(&[text, other]);
}

#[test]
fn lines_mean_nothing() {
    same(&[
        "\"x\"() : () -> () \"y\"() : () -> ()",
        "\"x\"()\n:()\n->()\n\"y\"\n(\n)\n:\n(\n)\n->\n(\n)",
        "\"x\"() : () -> () // \"z\"() : () -> ()\r\n\"y\"() : () -> ()\0\t// end",
    ]);
}

#[test]
fn the_last_arrow_is_not_that_of_the_operation() {
    let text = "%a = \"x\"() : () -> ((i1) -> i8) %b = \"x\"() : () -> i2 \
                %r:2 = \"y\"(%a, %b) : ((i1) -> i8, i2) -> (i3, (i4) -> i5)";
    let found = &operations(&program(text))[2];
    assert_eq!((found.operands.len(), found.results.len()), (2, 2));
    written(text);
    same(&["%0 = \"x\"() : () -> (i32)", "%0 = \"x\"() : () -> i32"]);
    different(&["%0 = \"x\"() : () -> (() -> ())", "\"x\"() : () -> ()"]);
}

#[test]
fn groups_of_results() {
    let head = "%a, %b:2 = \"m\"() : () -> (i1, i1, i1) ";
    let text = |uses: &str| format!("{head}\"u\"({uses}) : (i1) -> ()");
    same(&[
        &text("%b#1"),
        "%0:3 = \"m\"() : () -> (i1, i1, i1) \"u\"(%0#2) : (i1) -> ()",
        "%a, %b, %c = \"m\"() : () -> (i1, i1, i1) \"u\"(%c) : (i1) -> ()",
    ]);
    same(&[&text("%b"), &text("%b#0")]);
    same(&[&text("%a"), &text("%a#0")]);
    different(&[&text("%a"), &text("%b"), &text("%b#1")]);
    let message = "expected one of the 2 results of %b, got #2";
    refused(text("%b#2"), 1, head.len() + 5, message);
    let message = "expected %a with one result, got result #1";
    refused(text("%a#1"), 1, head.len() + 5, message);
    same(&[
        "%0:2 = \"m\"() : () -> (i1, i8)",
        "\"m\"() : () -> (i1, i8)",
    ]);
}

#[test]
fn keys_that_look_like_something_else() {
    let text =
        "\"x\"() {i32 = 4 : i8, loc = 1 : i8, true, \"a b\", b.c, unit = unit, dense} : () -> ()";
    assert!(
        written(text)
            .contains("{\"a b\", b.c, dense, i32 = 4 : i8, loc = 1 : i8, true, unit} : () -> ()")
    );
    same(&[
        "\"x\"() {a} : () -> ()",
        "\"x\"() {\"a\" = unit} : () -> ()",
    ]);
    same(&[
        "\"x\"() {loc} : () -> () loc(\"x\")",
        "\"x\"() {loc} : () -> ()",
    ]);
    same(&["\"x\"() {a, b} : () -> ()", "\"x\"() {b, a} : () -> ()"]);
    same(&["\"x\"() {} : () -> ()", "\"x\"() : () -> ()"]);
    different(&["\"x\"() {a} : () -> ()", "\"x\"() {a = false} : () -> ()"]);
}

#[test]
fn properties_and_attributes_are_apart() {
    different(&[
        "\"x\"() <{a = 1}> {a = 1} : () -> ()",
        "\"x\"() <{a = 1}> : () -> ()",
        "\"x\"() {a = 1} : () -> ()",
        "\"x\"() <7> : () -> ()",
    ]);
    same(&["\"x\"() <{}> : () -> ()", "\"x\"() : () -> ()"]);
}

#[test]
fn names_of_operations_are_strings() {
    same(&["\"x\\22y\"() : () -> ()", "\"x\\\"y\"() : () -> ()"]);
    different(&["\"x.y\"() : () -> ()", "\"x.z\"() : () -> ()"]);
}

#[test]
fn files_of_any_ending() {
    let module = "\"builtin.module\"() ({\n^bb0:\n}) : () -> ()";
    same(&[
        "",
        "// nothing",
        "\r\n",
        "module {}",
        module,
        "module {\r\n}\r\n",
    ]);
    different(&[
        "module {}",
        "module {} module {}",
        "\"builtin.module\"() ({}) : () -> ()",
    ]);
}

#[test]
fn the_order_of_parts_is_fixed() {
    refused(
        "\"x\"() {a} <{b}> : () -> ()",
        1,
        11,
        "expected ':', got '<'",
    );
    refused(
        "\"x\"() ({}) <{b}> : () -> ()",
        1,
        12,
        "expected ':', got '<'",
    );
    let message = "expected a block, such as ^bb1, got ']'";
    refused("\"x\"() [] : () -> ()", 1, 8, message);
    refused("\"x\"() () : () -> ()", 1, 8, "expected '{', got ')'");
    refused(
        "\"x\"() {a,} : () -> ()",
        1,
        10,
        "expected the key of an attribute, got '}'",
    );
}
