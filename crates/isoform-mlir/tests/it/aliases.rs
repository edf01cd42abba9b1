//! Aliases, also in the bodies of dialects.

use super::support::{different, refused, same};

#[test]
fn aliases_are_their_definitions() {
    same(&[
        "#a = {b} !t = tensor<4xf32, #a> \"x\"() {k = #a, f = (!t) -> !t} : () -> ()",
        "\"x\"() {k = {b}, f = (tensor<4xf32, {b}>) -> tensor<4xf32, {b}>} : () -> ()",
    ]);
    same(&[
        "#map = affine_map<(d0) -> (d0 * 2)> \"x\"() {t = memref<4xf32, #map>} : () -> ()",
        "\"x\"() {t = memref<4xf32, affine_map<(d0) -> (d0 * 2)>>} : () -> ()",
    ]);
    same(&[
        "#p = {a = 1} \"x\"() <#p> : () -> ()",
        "\"x\"() <{a = 1}> : () -> ()",
    ]);
    same(&[
        "!t = i1 %0 = \"x\"() : () -> !t",
        "%0 = \"x\"() : () -> i1",
        "%0 = \"x\"() : () -> i1 !unused = i8",
    ]);
}

#[test]
fn aliases_in_bodies_are_their_tokens() {
    let plain = "\"x\"() {a = #y.b<layout = #z.l<[1, 2]>, [1 : i64, \"s\"], tensor<4xf32>, (d0) -> (d0)>} : () -> ()";
    same(&[
        plain,
        "#l = #z.l<[1, 2]> \"x\"() {a = #y.b<layout = #l, [1 : i64, \"s\"], tensor<4xf32>, (d0) -> (d0)>} : () -> ()",
        "#s = [1 : i64, // one\n \"s\"] !t = tensor<4xf32> \"x\"() {a = #y.b<layout = #z.l<[1, 2]>, #s, !t, (d0) -> (d0)>} : () -> ()",
        "#i = 1 : i64 #s = [#i, \"s\"] #l = #z.l<[1, 2]> \"x\"() {a = #y.b<layout = #l, #s, tensor<4xf32>, (d0) -> (d0)>} : () -> ()",
    ]);
    // A word that is not an alias is a word.
    different(&[
        "\"x\"() {a = #y.b<#l>} : () -> ()",
        "\"x\"() {a = #y.b<#m>} : () -> ()",
    ]);
}

#[test]
fn aliases_are_defined_once_and_before() {
    refused("#a = 1 #a = 1", 1, 8, "expected one definition of #a");
    refused(
        "#a.b = 1",
        1,
        1,
        "expected the name of an alias without dots",
    );
    refused(
        "\"x\"() {a = #b} : () -> ()",
        1,
        12,
        "expected an alias that is defined before, got #b",
    );
    refused(
        "\"x\"() : () -> !t",
        1,
        15,
        "expected an alias that is defined before, got !t",
    );
    refused(
        "\"r\"() ({ #a = 1 }) : () -> ()",
        1,
        10,
        "expected an operation, a block or '}', got '#a'",
    );
}

#[test]
fn doubling_aliases_take_linear_time() {
    let mut text = "#a0 = [1]\n".to_owned();
    for level in 1..200 {
        text += &format!("#a{level} = [#a{}, #a{}]\n", level - 1, level - 1);
    }
    let program = super::support::program(&format!("{text}\"x\"() {{a = #a199}} : () -> ()"));
    assert!(isoform::structural_equal(&program, &program).unwrap());
    let error = isoform_mlir::WriteOptions::default()
        .max_length(10_000)
        .write(&program);
    let message = "ValueError: expected a program with a text of at most 10000 bytes";
    assert_eq!(error.unwrap_err().to_string(), message);
    let body = isoform_mlir::read(format!("{text}\"x\"() {{a = #x.b<#a199>}} : () -> ()"));
    let message =
        "expected bodies that are not much longer than the file when aliases are replaced";
    assert!(body.unwrap_err().to_string().contains(message));
}

#[test]
fn aliases_with_symbols_in_many_tables_are_bounded() {
    let text = |tables: usize, levels: usize| {
        let mut text = "#a0 = [@p]\n".to_owned();
        for level in 1..levels {
            text += &format!("#a{level} = [#a{}]\n", level - 1);
        }
        let table = format!(
            "\"m\"() ({{ \"f\"() {{sym_name = \"p\", sym_visibility = \"private\"}} : () -> () \
             \"x\"() {{a = #a{}}} : () -> () }}) : () -> ()\n",
            levels - 1
        );
        text + &table.repeat(tables)
    };
    super::support::written(&text(20, 20));
    let error = isoform_mlir::read(text(1_500, 1_500))
        .unwrap_err()
        .to_string();
    let message = "ValueError: MLIR: expected a program that is not much longer than the file \
                   when the symbols in aliases are resolved";
    assert_eq!(error, message);
}
