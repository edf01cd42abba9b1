//! Types and attributes of dialects.

use super::support::{
    attribute, different, different_attributes, refused, refused_attribute, same, same_attributes,
};

#[test]
fn the_end_of_a_body() {
    different_attributes(&[
        "!x.t<(i1) -> i8>",
        "#x.t<\"a>b\">",
        "#x.t<{a = \"}>\"}>",
        "#x.t<a > ",
        "#x.t<[(<{}>)]>",
        "#x.t<'>",
        "#x.t<é>",
        "#x.t",
        "#x.t<>",
    ]);
    refused_attribute("!.t", 0, "expected the name of a dialect before '.'");
    refused_attribute("#x.t<(>", 6, "expected ')', got '>'");
    refused_attribute("#x.t<a", 6, "expected '>', got '}'");
    refused(
        "\"x.y\"() {a = #x.t<a",
        1,
        20,
        "expected '>' at the end of the body, got the end of the text",
    );
}

#[test]
fn both_spellings_are_one() {
    same_attributes(&["!x.a<1>", "!x<a<1>>", "!x<a <1>>"]);
    same_attributes(&["!x.a", "!x<a>"]);
    same_attributes(&["!x.", "!x<>"]);
    same_attributes(&["!x.a-b", "!x<a-b>"]);
    same_attributes(&["!x.a.b.c<1>", "!x<a.b.c<1>>"]);
    same_attributes(&[
        "#stablehlo<precision DEFAULT>",
        "#stablehlo<precision  DEFAULT >",
    ]);
    different_attributes(&[
        "!x.a<1>",
        "!x.a<2>",
        "!x.a",
        "!x.b",
        "!y.a",
        "!x<\"raw\">",
        "!x<a<1> b<1>>",
        "!x<a b>",
        "!x.",
        "#x.a",
        "!x<1>",
    ]);
    assert_eq!(attribute("!x<name<1, 2>>"), "!x.name<1, 2>");
    assert_eq!(attribute("!x<a-b>"), "!x<a-b>");
    assert_eq!(attribute("!x.a-"), "!x<a- >");
    assert_eq!(attribute("!x<\"raw\">"), "!x<\"raw\">");
}

#[test]
fn tokens_have_values() {
    same_attributes(&["#x.t<1.0>", "#x.t<1.000000e+00>", "#x.t< 10.0e-1 >"]);
    same_attributes(&["#x.t<0.25>", "#x.t<2.5e-1>"]);
    same_attributes(&["#x.t<01>", "#x.t<1>"]);
    same_attributes(&["#x.t<\"\\41\">", "#x.t<\"A\">"]);
    same_attributes(&["#x.t<@a, 0xFF>", "#x.t<@\"a\",0xff>"]);
    same_attributes(&["#x.t<!y<z<1>>>", "#x.t<!y.z<1>>"]);
    different_attributes(&[
        "#x.t<0x3xf32>",
        "#x.t<3xf32>",
        "#x.t<0 x3xf32>",
        "#x.t<a b>",
        "#x.t<ab>",
        "#x.t<\"a\" b>",
    ]);
    different_attributes(&[
        "#x.t<1.0>",
        "#x.t<1>",
        "#x.t<1.00000000000000000000001>",
        "#x.t<-1.0>",
    ]);
    different_attributes(&["#x.b", "#x.b : i32", "#x.b : i64"]);
}

#[test]
fn builtin_attributes_in_bodies_have_their_structure() {
    same_attributes(&[
        "[#x.t<id = distinct[0]<>>, #x.u<distinct[0]<>, distinct[1]<1>>]",
        "[#x.t<id = distinct[5]<>>, #x.u<distinct[5]<>, distinct[2]<1>>]",
    ]);
    different_attributes(&[
        "[#x.t<id = distinct[0]<>>, #x.u<distinct[0]<>>]",
        "[#x.t<id = distinct[0]<>>, #x.u<distinct[1]<>>]",
    ]);
    same(&[
        "#d = distinct[3]<> \"x\"() {a = #x.t<#d>, b = #d} : () -> ()",
        "\"x\"() {a = #x.t<distinct[0]<>>, b = distinct[0]<>} : () -> ()",
    ]);
    same_attributes(&[
        "#x.t<affine_map<(i) -> (i + i)>>",
        "#x.t<affine_map<(d0) -> (d0 * 2)>>",
    ]);
    different_attributes(&[
        "#x.t<affine_map<(own syntax)>>",
        "#x.t<affine_map<(own, syntax)>>",
    ]);
    let blob = |key: &str, bytes: &str| {
        format!(
            "\"x\"() {{a = #x.t<dense_resource<{key}> : tensor<1xi8>>}} : () -> () \
             {{-# dialect_resources: {{ builtin: {{ {key}: \"0x01000000{bytes}\" }} }} #-}}"
        )
    };
    same(&[&blob("k", "05"), &blob("l", "05")]);
    different(&[&blob("k", "05"), &blob("k", "06")]);
}

#[test]
fn an_arrow_does_not_close_a_body() {
    different_attributes(&["#x.t<!y-> (x)>", "#x.t<#y->(z)>", "#x.t<a-> b>"]);
}

#[test]
fn white_space_is_written_as_it_was() {
    for text in [
        "!llvm.array<4 x i8>",
        "#x.t<[1,2] x [ 3, 4 ]x5xf32 >",
        "#gpu.loop_dim_map<map = (d0) -> (d0), bound = 1>",
        "!llvm.func<i32 (ptr, ...)>",
        "!emitc.array<0xi1>",
        "#x.t<@a::@b>",
    ] {
        assert_eq!(attribute(text), text);
    }
    // Comments are not recognised, so an alias's comment must not enter.
    same_attributes(&["#x.t<a // b>", "#x.t<a / / b>"]);
}

#[test]
fn tokens_stay_apart() {
    assert_eq!(attribute("#x.t<!y<l>mit>"), "#x.t<!y.l mit>");
    assert_eq!(attribute("#x.t<!y<l>-1>"), "#x.t<!y.l -1>");
    assert_eq!(attribute("#x.t<!y<l><1>>"), "#x.t<!y.l <1>>");
    assert_eq!(attribute("#x.t<!y.l->(z)>"), "#x.t<!y.l->(z)>");
    assert_eq!(attribute("#x.t<@\"a\"b>"), "#x.t<@a b>");
    assert_eq!(attribute("#x.t<! y>"), "#x.t<! y>");
    assert_eq!(attribute("#x.t<@ \"y\">"), "#x.t<@ \"y\">");
}

#[test]
fn bodies_without_a_file_are_separated() {
    use isoform::{Array, Value};
    use isoform_mlir::{DialectType, Operation, Program, WriteOptions};
    let tokens: Array = ["a", "b", "-", ">"]
        .iter()
        .map(|&token| Value::from(token))
        .collect();
    let ty = DialectType::new("x", "t", tokens);
    let entries = isoform::Map::from([("a", ty.into_object())]);
    let program = Program::new(Operation::new("y", []).with_attributes(entries));
    let text = WriteOptions::default().write(&program).unwrap();
    assert_eq!(text, "\"y\"() {a = !x.t<a b - >>} : () -> ()\n");
}
