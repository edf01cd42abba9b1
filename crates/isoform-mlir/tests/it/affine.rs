//! Affine maps and sets.

use super::support::{attribute, different_attributes, refused_attribute, same_attributes};

/// A map of two dimensions and two symbols.
fn map(expression: &str) -> String {
    format!("affine_map<(d0, d1)[s0, s1] -> ({expression})>")
}

#[test]
fn names_do_not_matter() {
    same_attributes(&[
        "affine_map<(i, j) -> (j, i)>",
        "affine_map<(d0, d1) -> (d1, d0)>",
    ]);
    different_attributes(&[
        "affine_map<(d0, d1) -> (d1, d0)>",
        "affine_map<(d0, d1) -> (d0, d1)>",
        "affine_map<(d0)[d1] -> (d1, d0)>",
        "affine_map<(d0, d1)[s0] -> (d1, d0)>",
        "affine_map<() -> ()>",
    ]);
}

#[test]
fn sets_compare_with_zero() {
    same_attributes(&[
        "affine_set<(d0) : (d0 >= 5)>",
        "affine_set<(d0) : (d0 - 5 >= 0)>",
        "affine_set<(d0) : (5 <= d0)>",
    ]);
    same_attributes(&["affine_set<(d0) : ()>", "affine_set<(d0) : (0 == 0)>"]);
    different_attributes(&[
        "affine_set<(d0) : (d0 >= 5)>",
        "affine_set<(d0) : (d0 == 5)>",
        "affine_set<(d0) : (d0 <= 5)>",
    ]);
}

#[test]
fn expressions_are_simplified() {
    for (text, simple) in [
        ("2 * d0", "d0 * 2"),
        ("d0 * 0x10", "d0 * 16"),
        ("(d0 + 1) + 2", "d0 + 3"),
        ("d0 + 0", "d0"),
        ("d0 * 1", "d0"),
        ("d0 * 0", "0"),
        ("d0 floordiv 1", "d0"),
        ("d0 * 4 floordiv 2", "d0 * 2"),
        ("d0 * 4 mod 2", "0"),
        ("d0 + d0", "d0 * 2"),
        ("d0 * 2 + d0 * 3", "d0 * 5"),
        ("d0 - d0", "0"),
        ("-d0 - 7", "d0 * -1 + -7"),
        ("7 floordiv 2", "3"),
        ("-7 floordiv 2", "-4"),
        ("7 ceildiv 2", "4"),
        ("-7 ceildiv 2", "-3"),
        ("-7 mod 3", "2"),
        ("d0 - (d0 floordiv 4) * 4", "d0 mod 4"),
        ("s0 + d0", "d0 + s0"),
        ("d1 + d0", "d0 + d1"),
        ("s1 * s0", "s0 * s1"),
        ("d0 + (d1 + 1)", "d0 + d1 + 1"),
        ("(d0 * 8 + d1) floordiv 8", "d0 + d1 floordiv 8"),
        ("(d0 * 8 + d1) mod 8", "d1 mod 8"),
        ("(d0 mod 8) mod 4", "d0 mod 4"),
        ("--d0", "d0"),
        ("d0 - d1 - 1", "d0 + d1 * -1 + -1"),
        (
            "d0 * 2 floordiv 3 ceildiv 4",
            "((d0 * 2) floordiv 3) ceildiv 4",
        ),
        ("(d0 + d1) * s0", "(d0 + d1) * s0"),
        ("-9223372036854775807 - 1", "(-9223372036854775807 - 1)"),
        ("d0 floordiv 0", "d0 floordiv 0"),
    ] {
        same_attributes(&[&map(text), &map(simple)]);
        assert_eq!(attribute(&map(text)), map(simple));
    }
    different_attributes(&[
        &map("d0 * 2"),
        &map("d0 * 3"),
        &map("d0 mod 2"),
        &map("d0 ceildiv 2"),
        &map("d0 floordiv 2"),
    ]);
}

#[test]
fn malformed_expressions() {
    let head = "affine_map<(d0, d1)[s0, s1] -> (".len();
    let linear = "expected an operand without dimensions, as affine expressions need";
    refused_attribute(&map("d0 * d1"), head + 3, linear);
    refused_attribute(&map("3 mod d1"), head + 2, linear);
    refused_attribute(
        &map("d2"),
        head,
        "expected a dimension or symbol of the list, got 'd2'",
    );
    refused_attribute(
        &map("d0 +"),
        head + 4,
        "expected an affine expression, got ')'",
    );
    refused_attribute(&map("d0 d1"), head + 3, "expected an operator, got 'd1'");
    refused_attribute(&map("(d0"), head + 4, "expected ')', got '>'");
    refused_attribute(
        &map("99999999999999999999"),
        head,
        "expected a constant of at most 64 bits",
    );
    let names = "expected different names of dimensions and symbols";
    refused_attribute("affine_map<(a, a) -> (a)>", 15, names);
}
