//! Types.

use super::support::{
    attribute, different_attributes, refused_attribute, same_attributes, written,
};

#[test]
fn sizes_are_not_hexadecimal() {
    assert_eq!(attribute("tensor<0x3xf32>"), "tensor<0x3xf32>");
    assert_eq!(attribute("tensor<0xf32>"), "tensor<0xf32>");
    assert_eq!(attribute("tensor<0xi1>"), "tensor<0xi1>");
    same_attributes(&[
        "tensor<2x3xf32>",
        "tensor< 2 x 3\n x f32 >",
        "tensor<02x3 xf32>",
    ]);
    refused_attribute("tensor<2X3xf32>", 8, "expected 'x' after a dimension");
}

#[test]
fn types_are_told_apart() {
    different_attributes(&[
        "i8",
        "si8",
        "ui8",
        "i9",
        "f8E5M2",
        "f8E4M3",
        "index",
        "none",
        "i0",
        "bf16",
        "f16",
        "complex<f32>",
        "complex<i32>",
        "tuple<>",
        "tuple<i1>",
        "tuple<i1, i1>",
        "() -> ()",
        "() -> i1",
        "(i1) -> ()",
        "() -> (() -> ())",
        "(() -> ()) -> ()",
        "vector<f32>",
        "vector<4xf32>",
        "vector<[4]xf32>",
        "vector<2x[4]x3xf32>",
        "vector<2x4x3xf32>",
        "tensor<f32>",
        "tensor<*xf32>",
        "tensor<?xf32>",
        "tensor<1xf32>",
        "tensor<4xf32>",
        "tensor<4xf32, #x.e>",
        "tensor<4xf32, {a}>",
        "tensor<4xf32, \"e\">",
        "tensor<4x!x.t>",
        "memref<4xf32>",
        "memref<*xf32>",
        "memref<*xf32, 1>",
        "memref<?xf32>",
        "memref<4xf32, 1>",
        "memref<4xf32, 1 : i32>",
        "memref<4xf32, #x.s>",
        "memref<4xf32, strided<[1]>>",
        "memref<4xf32, strided<[1], offset: 2>>",
        "memref<4xf32, strided<[?], offset: ?>>",
        "memref<4xf32, affine_map<(d0) -> (d0 * 2)>>",
        "memref<4xf32, strided<[1]>, 1>",
    ]);
    same_attributes(&["i01", "i1"]);
    same_attributes(&["(i1) -> (i1)", "(i1) -> i1"]);
    same_attributes(&["strided<[1]>", "strided<[1], offset: 0>"]);
}

#[test]
fn defaults_of_memrefs_are_dropped() {
    same_attributes(&[
        "memref<4xf32>",
        "memref<4xf32, affine_map<(d0) -> (d0)>>",
        "memref<4xf32, 0>",
        "memref<4xf32, 0 : i32>",
        "memref<4xf32, affine_map<(i) -> (i)>, 0>",
    ]);
    same_attributes(&["memref<*xf32>", "memref<*xf32, 0>"]);
}

#[test]
fn a_known_text_is_one_type() {
    // Longer than what is looked up by its text.
    let long = format!("tuple<{}>", ["tensor<4x4xf32>"; 20].join(", "));
    let text = format!("%0 = \"d\"() : () -> {long} \"u\"(%0) : ({long}) -> ()");
    assert!(written(&text).contains(&long));
}

#[test]
fn malformed_types_are_refused() {
    refused_attribute(
        "i16777216",
        0,
        "expected an integer type of at most 16777215 bits",
    );
    refused_attribute("tuple<i1", 8, "expected '>', got '}'");
    refused_attribute("tensor<4xf32,>", 13, "expected an attribute, got '>'");
    refused_attribute("tensor<4x>", 9, "expected a type, got '>'");
    refused_attribute(
        "tensor<99999999999999999999xf32>",
        7,
        "expected a dimension of at most 63 bits",
    );
    refused_attribute(
        "vector<?xf32>",
        9,
        "expected a vector without dynamic dimensions, got 'f32'",
    );
    refused_attribute(
        "tensor<[4]xf32>",
        11,
        "expected dimensions without '[', got 'f32'",
    );
    refused_attribute("tensor<*f32>", 8, "expected 'x' after '*', got 'f32'");
    refused_attribute("[{a}, tensor<2xunit>]", 15, "expected a type, got 'unit'");
    refused_attribute("(i1) i1", 5, "expected '->', got 'i1'");
    refused_attribute("nonsense", 0, "expected an attribute, got 'nonsense'");
}
