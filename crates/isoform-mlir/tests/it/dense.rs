//! Literals of many numbers.

use super::support::{attribute, different_attributes, refused_attribute, same_attributes};

#[test]
fn a_list_of_equal_elements_is_one_element() {
    same_attributes(&[
        "dense<1> : tensor<2xi8>",
        "dense<[1, 1]> : tensor<2xi8>",
        "dense<\"0x01\"> : tensor<2xi8>",
        "dense<\"0x0101\"> : tensor<2xi8>",
        "dense<[0x1, 1]> : tensor<2xi8>",
    ]);
    different_attributes(&[
        "dense<[[1, 2]]> : tensor<1x2xi8>",
        "dense<[[1], [2]]> : tensor<2x1xi8>",
    ]);
    different_attributes(&[
        "dense<0.0> : tensor<2xf32>",
        "dense<-0.0> : tensor<2xf32>",
        "dense<0> : tensor<2xi32>",
    ]);
    different_attributes(&[
        "dense<0x7FC00000> : tensor<2xf32>",
        "dense<0x7FC00001> : tensor<2xf32>",
    ]);
}

#[test]
fn elements_of_all_kinds() {
    same_attributes(&[
        "dense<[true, false]> : tensor<2xi1>",
        "dense<[1, 0]> : tensor<2xi1>",
        "dense<\"0x0100\"> : tensor<2xi1>",
    ]);
    same_attributes(&[
        "dense<true> : tensor<16xi1>",
        "dense<\"0xFF\"> : tensor<16xi1>",
        "dense<\"0x01\"> : tensor<16xi1>",
    ]);
    same_attributes(&[
        "dense<(1.0,-2.0)> : tensor<1xcomplex<f32>>",
        "dense<[(1.0, -2.0)]> : tensor<1xcomplex<f32>>",
        "dense<\"0x0000803F000000C0\"> : tensor<1xcomplex<f32>>",
    ]);
    same_attributes(&[
        "dense<[1, -1]> : tensor<2xi4>",
        "dense<\"0x010F\"> : tensor<2xi4>",
    ]);
    same_attributes(&[
        "dense<[1, 2]> : tensor<2xi12>",
        "dense<\"0x01000200\"> : tensor<2xi12>",
    ]);
    same_attributes(&[
        "dense<[1, 2]> : vector<2xindex>",
        "dense<\"0x01000000000000000200000000000000\"> : vector<2xindex>",
    ]);
    different_attributes(&[
        "dense<\"a\"> : tensor<2x!x.s>",
        "dense<[\"a\", \"b\"]> : tensor<2x!x.s>",
        "dense<\"0x00\"> : tensor<2x!x.s>",
    ]);
    same_attributes(&[
        "dense<\"a\"> : tensor<2x!x.s>",
        "dense<[\"a\", \"a\"]> : tensor<2x!x.s>",
    ]);
    assert_eq!(
        attribute("dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>"),
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>"
    );
    assert_eq!(
        attribute("dense<[(1,2), (3,4)]> : tensor<2xcomplex<i8>>"),
        "dense<[(1,2), (3,4)]> : tensor<2xcomplex<i8>>"
    );
}

#[test]
fn padding_of_elements_does_not_count() {
    same_attributes(&[
        "dense<\"0xF1E2\"> : tensor<2xi4>",
        "dense<[1, 2]> : tensor<2xi4>",
    ]);
    same_attributes(&[
        "dense<\"0x01020103\"> : vector<2xi9>",
        "dense<[1, -255]> : vector<2xi9>",
    ]);
    same_attributes(&[
        "dense<\"0xFF02\"> : tensor<2xi1>",
        "dense<true> : tensor<2xi1>",
    ]);
    same_attributes(&[
        "dense<\"0xF1\"> : tensor<2xf4E2M1FN>",
        "dense<0.5> : tensor<2xf4E2M1FN>",
    ]);
}

#[test]
fn packed_bits_of_older_versions() {
    let bits = "[true, false, true, false, false, false, false, false, false, true]";
    same_attributes(&[
        &format!("dense<{bits}> : tensor<10xi1>"),
        "dense<\"0x0502\"> : tensor<10xi1>",
    ]);
}

#[test]
fn no_elements() {
    same_attributes(&[
        "dense<> : tensor<0xi8>",
        "dense<[]> : tensor<0xi8>",
        "dense<1> : tensor<0xi8>",
        "dense<\"0x01\"> : tensor<0xi8>",
    ]);
    same_attributes(&[
        "dense<> : tensor<2x0xf32>",
        "dense<[[], []]> : tensor<2x0xf32>",
    ]);
    different_attributes(&[
        "dense<> : tensor<0xi8>",
        "dense<> : tensor<1x0xi8>",
        "dense<> : tensor<0xi16>",
    ]);
}

#[test]
fn many_elements_are_hexadecimal() {
    let numbers: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let list = format!("dense<[{}]> : tensor<101xi8>", numbers.join(", "));
    assert!(attribute(&list).starts_with("dense<\"0x000102"));
    let short = format!("dense<[{}]> : tensor<100xi8>", numbers[..100].join(", "));
    assert_eq!(attribute(&short), short);
}

#[test]
fn a_splat_of_any_size_is_one_element() {
    assert_eq!(
        attribute("dense<0> : tensor<2xi0>"),
        "dense<0> : tensor<2xi0>"
    );
    assert_eq!(
        attribute("dense<1> : tensor<1000000000x1000000000x1000000000xi8>"),
        "dense<1> : tensor<1000000000x1000000000x1000000000xi8>"
    );
}

#[test]
fn arrays() {
    same_attributes(&["array<i32: 1, -1>", "array<i32: 0x1, 4294967295>"]);
    different_attributes(&[
        "array<i64>",
        "array<i32>",
        "array<i64: 1>",
        "array<i64: 1, 1>",
        "array<i1: true, false>",
        "array<f32: 1.0>",
        "[1]",
    ]);
    refused_attribute("array<i64: >", 11, "expected a number, got '>'");
    refused_attribute(
        "array<index: 1>",
        6,
        "expected an array of i1, of integers of whole bytes or of floats",
    );
    refused_attribute(
        "array<i4: 1>",
        6,
        "expected an array of i1, of integers of whole bytes or of floats",
    );
    refused_attribute("array<i1: 1>", 10, "expected 'true' or 'false', got '1'");
}

#[test]
fn sparse_literals() {
    same_attributes(&[
        "sparse<[[0, 1]], 5> : tensor<2x2xi32>",
        "sparse<[[0, 1]], [5]> : tensor<2x2xi32>",
    ]);
    different_attributes(&[
        "sparse<[[0, 1]], 5> : tensor<2x2xi32>",
        "sparse<[[1, 0]], 5> : tensor<2x2xi32>",
        "sparse<[[0, 1]], 6> : tensor<2x2xi32>",
        "sparse<[[0, 1], [1, 1]], [5, 6]> : tensor<2x2xi32>",
        "sparse<> : tensor<2x2xi32>",
        "sparse<0, 5> : tensor<2xi32>",
        "sparse<[[1, 1], [1, 1]], [5, 6]> : tensor<2x2xi32>",
        "sparse<[[1, 1]], [5]> : tensor<2x2xi32>",
        "sparse<[[0, 1], [1, 1]], [\"a\", \"b\"]> : tensor<2x2x!x.s>",
    ]);
}

#[test]
fn sparse_literals_have_an_index_for_each_element() {
    let message = "expected 2 indices for each element, and as many elements as indices";
    for text in [
        "[[]], 5",
        "[[0]], 5",
        "[[0, 1]], [5, 6]",
        "[[0, 1], [1, 1]], [5]",
        "[0, 1], 5",
    ] {
        refused_attribute(&format!("sparse<{text}> : tensor<2x2xi32>"), 7, message);
    }
    same_attributes(&[
        "sparse<> : tensor<2xi32>",
        "sparse<[], 5> : tensor<2xi32>",
        "sparse<[], []> : tensor<2xi32>",
    ]);
    let nothing = "expected an element of the literal, got";
    refused_attribute("sparse<, 5> : tensor<2xi32>", 7, &format!("{nothing} ','"));
    refused_attribute("sparse<0, > : tensor<2xi32>", 10, &format!("{nothing} '>'"));
}

#[test]
fn malformed_literals() {
    let shape = "expected a literal of the shape [3] of its type, got [2]";
    refused_attribute("dense<[1, 2]> : tensor<3xi8>", 6, shape);
    refused_attribute(
        "dense<[[1], [2, 3]]> : tensor<2x1xi8>",
        17,
        "expected a list as long as its neighbours",
    );
    refused_attribute(
        "dense<[1, [2]]> : tensor<2xi8>",
        11,
        "expected an element, since its neighbours are elements, got '2'",
    );
    refused_attribute(
        "dense<[[1], 2]> : tensor<2xi8>",
        12,
        "expected a list, since its neighbours are lists, got '2'",
    );
    refused_attribute(
        "dense<[1,]> : tensor<1xi8>",
        9,
        "expected a number, got ']'",
    );
    refused_attribute(
        "dense<1> : tensor<?xi8>",
        6,
        "expected a static shape after a dense literal",
    );
    refused_attribute(
        "dense<1> : i8",
        6,
        "expected the type of a tensor or vector after a dense literal",
    );
    refused_attribute(
        "dense<1> : tensor<2xf32>",
        6,
        "expected a float with a dot, or its bits with 0x",
    );
    refused_attribute(
        "dense<\"0x0\"> : tensor<2xi8>",
        6,
        "expected \"0x\" and pairs of hex digits",
    );
    let bytes = "expected 1 bytes for each of 4 elements, or for one, got 3 bytes";
    refused_attribute("dense<\"0x010203\"> : tensor<4xi8>", 6, bytes);
    refused_attribute(
        "dense<a> : tensor<4xi8>",
        6,
        "expected an element of the literal, or '>', got 'a'",
    );
    refused_attribute(
        "dense<true> : tensor<4xi8>",
        6,
        "expected a number, got 'true'",
    );
}
