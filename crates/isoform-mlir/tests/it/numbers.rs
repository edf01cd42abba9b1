//! Numbers and strings.

use super::support::{attribute, different_attributes, refused_attribute, same_attributes};

#[test]
fn integers_wrap() {
    same_attributes(&["255 : i8", "-1 : i8", "0xFF : i8", "- 1 : i8"]);
    same_attributes(&["1 : i1", "true", "-1 : i1"]);
    same_attributes(&["1", "1 : i64", "0x1", "0x0001 : i64"]);
    same_attributes(&["18446744073709551615", "-1 : i64"]);
    same_attributes(&[
        "340282366920938463463374607431768211455 : i128",
        "-1 : i128",
    ]);
    different_attributes(&[
        "1 : i64",
        "1 : index",
        "1 : i32",
        "1 : si64",
        "1 : ui64",
        "1 : i1",
        "1.0",
    ]);
    assert_eq!(attribute("255 : ui8"), "255 : ui8");
    assert_eq!(attribute("200 : i8"), "-56 : i8");
    assert_eq!(
        attribute("680564733841876926926749214863536422911 : i129"),
        "-1 : i129"
    );
    assert_eq!(
        attribute("170141183460469231731687303715884105728 : i200"),
        "170141183460469231731687303715884105728 : i200"
    );
}

#[test]
fn integers_have_ranges() {
    for (text, width) in [
        ("256 : i8", 8),
        ("-129 : i8", 8),
        ("128 : si8", 8),
        ("2 : i1", 1),
    ] {
        let offset = usize::from(text.starts_with('-'));
        refused_attribute(
            text,
            offset,
            &format!("expected an integer of {width} bits"),
        );
    }
    refused_attribute("-1 : ui8", 1, "expected an unsigned integer, got '-'");
    refused_attribute(
        "9223372036854775808 : index",
        0,
        "expected an integer of 64 bits",
    );
    refused_attribute("1.0 : i8", 0, "expected an integer, got a float");
    refused_attribute("+1", 0, "expected an attribute, got '+'");
    refused_attribute("true : i1", 5, "expected '}', got ':'");
    refused_attribute("unit : i1", 5, "expected '}', got ':'");
    let message = "expected a number of an integer, index or float type, got one of mlir.NoneType";
    refused_attribute("1 : none", 0, message);
}

#[test]
fn floats_are_bits() {
    same_attributes(&[
        "1.0",
        "1.0 : f64",
        "1. : f64",
        "1.0e0",
        "1.000000e+00",
        "0x3FF0000000000000 : f64",
    ]);
    same_attributes(&["0x7FC00000 : f32", "0x7fc00000 : f32"]);
    same_attributes(&["16777217.0 : f32", "16777216.0 : f32", "0x4B800000 : f32"]);
    same_attributes(&["1.0e39 : f32", "0x7F800000 : f32"]);
    same_attributes(&["0x3C00 : f16", "1.0 : f16"]);
    same_attributes(&["448.0 : f8E4M3FN", "460.0 : f8E4M3FN", "0x7E : f8E4M3FN"]);
    different_attributes(&[
        "0.0",
        "-0.0",
        "0x7FF8000000000000 : f64",
        "0x7FF8000000000001 : f64",
        "0.0 : f32",
    ]);
    refused_attribute(
        "1 : f32",
        0,
        "expected a float with a dot, or its bits with 0x",
    );
    refused_attribute("-0x1 : f32", 1, "expected the bits of a float without '-'");
    refused_attribute("0x100000000 : f32", 0, "expected 32 bits of a float");
    refused_attribute("1e5", 1, "expected '}', got 'e5'");
}

#[test]
fn a_double_comes_before_other_formats() {
    // Slightly above the middle of two floats of 32 bits; the double is the middle.
    same_attributes(&["1.00000005960464477539062500001 : f32", "1.0 : f32"]);
    same_attributes(&["0x3FFF8000000000000000 : f80", "1.0 : f80"]);
    assert_eq!(
        attribute("1.0 : f128"),
        "0x3FFF0000000000000000000000000000 : f128"
    );
}

#[test]
fn floats_are_written_so_that_they_come_back() {
    for (text, expected) in [
        ("1.0", "1.0 : f64"),
        ("0.1 : f32", "1.0e-1 : f32"),
        ("1.0e300", "1.0e300 : f64"),
        ("-0.0 : bf16", "-0.0 : bf16"),
        ("0x7C00 : f16", "0x7C00 : f16"),
        ("5.0e-324", "5.0e-324 : f64"),
        ("0x1 : f8E8M0FNU", "0x01 : f8E8M0FNU"),
        ("0.5 : f4E2M1FN", "5.0e-1 : f4E2M1FN"),
    ] {
        let found = attribute(text);
        same_attributes(&[text, &found]);
        if !text.contains("E8M0") {
            assert_eq!(found, expected, "{text}");
        }
    }
    for format in [
        "f8E5M2",
        "f8E5M2FNUZ",
        "f8E4M3",
        "f8E4M3FN",
        "f8E4M3FNUZ",
        "f8E4M3B11FNUZ",
        "f8E3M4",
        "f8E8M0FNU",
    ] {
        for bits in 0..=255 {
            let text = format!("0x{bits:02X} : {format}");
            same_attributes(&[&text, &attribute(&text)]);
        }
    }
}

#[test]
fn strings_are_bytes() {
    same_attributes(&["\"\\C3\\A9\"", "\"é\"", "\"\\c3\\a9\""]);
    same_attributes(&["\"\\41\"", "\"A\""]);
    same_attributes(&["\"a\\22b\"", "\"a\\\"b\""]);
    same_attributes(&["\"\\5C\"", "\"\\\\\""]);
    different_attributes(&[
        "\"\"",
        "\"a\"",
        "\"a\\00\"",
        "\"\\FF\"",
        "\"\\FE\"",
        "\"\\\\n\"",
        "\"\\n\"",
        "\"a\" : !x.s",
        "\"// no comment\"",
        "\"}>\"",
        "@a",
        "\"0x01\" : i8",
    ]);
    assert_eq!(attribute("\"\\FF\\00\\t\\\\\""), "\"\\FF\\00\\09\\\\\"");
    refused_attribute(
        "\"\\r\"",
        1,
        "expected '\\\\', '\\\"', '\\n', '\\t' or two hex digits after '\\'",
    );
    refused_attribute("\"\\4\"", 1, "expected two hex digits after '\\'");
    refused_attribute(
        "\"a\nb\"",
        0,
        "expected '\"' at the end of the string, got the end of the line",
    );
}

#[test]
fn raw_bytes_are_strings_and_places_stay_right() {
    let text = b"\"x\"() {a = \"\xff\"} : () -> ()".to_vec();
    let escaped = "\"x\"() {a = \"\\FF\"} : () -> ()";
    let [raw, escaped] =
        [text.as_slice(), escaped.as_bytes()].map(|text| isoform_mlir::read(text).unwrap());
    assert!(isoform::structural_equal(raw, escaped).unwrap());
    let broken = b"\"x\"() {a = \"\xff\"; : () -> ()".to_vec();
    super::support::refused(broken, 1, 15, "expected a token, got ';'");
}

#[test]
fn keys_in_dictionaries_are_unique() {
    refused_attribute("{a, b, \"a\"}", 7, "expected one entry of the key \"a\"");
    refused_attribute("{\"\"}", 1, "expected a key that is not empty");
    different_attributes(&[
        "{}",
        "{a}",
        "{a = false}",
        "{b}",
        "[{a}]",
        "[]",
        "[[]]",
        "{a = {a}}",
    ]);
    same_attributes(&["{a = 1, b = 2}", "{\"b\" = 2, a = 1 : i64}"]);
}

#[test]
fn symbols_are_not_strings() {
    same_attributes(&["@a", "@\"a\""]);
    same_attributes(&["@a::@b", "@a :: @b", "@\"a\"::@\"b\""]);
    different_attributes(&["@a", "@\"a::@b\"", "@a::@b", "\"a\"", "@\"odd name\"::@c"]);
    refused_attribute("@a::b", 4, "expected a symbol after '::', got 'b'");
    refused_attribute("@1", 0, "expected a symbol, such as @f, got '@'");
}
