//! Texts that cannot be read, and values that cannot be printed.

use isoform::errors::ErrorKind;
use isoform::text::TextFault;
use isoform::types::{TypeDef, register_type};
use isoform::values::{Dict, List};

use super::*;

/// Checks that reading fails at a line and column with this message.
#[track_caller]
pub(crate) fn refuse(text: &str, line: usize, column: usize, message: &str) {
    let error = from_text(text).expect_err("the text is refused");
    let rendered = error.to_string();
    let source = error.into_source().expect("a fault");
    let fault = source.downcast_ref::<TextFault>().expect("a fault");
    assert_eq!(
        (fault.line(), fault.column(), fault.message()),
        (line, column, message)
    );
    assert!(rendered.contains(&fault.to_string()), "{rendered}");
    assert!(rendered.contains('^'), "{rendered}");
}

#[test]
fn errors_show_the_line() {
    let error = from_text("[\n  1,\n  tx.Var(name_hint=1.5),\n]").expect_err("no hint");
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(
        error.message(),
        "text: line 3, column 20: tx.Var.name_hint: expected str, got float\n  |\n\
         3 |   tx.Var(name_hint=1.5),\n  |                    ^"
    );
    // Lines of any length are shown in part.
    let long = format!("[{}oops]", "1, ".repeat(1000));
    let error = from_text(&long).expect_err("no value");
    assert!(error.message().len() < 500, "{error}");
    assert!(error.message().contains("...1, 1, "), "{error}");
}

#[test]
fn syntax_is_checked() {
    register_type(TypeDef::new("tx.Var")).expect_err("the key is taken");
    refuse("", 1, 1, "expected a value, got the end of the text");
    refuse(
        "// nothing\n",
        2,
        1,
        "expected a value, got the end of the text",
    );
    refuse(
        "1 2",
        1,
        3,
        "expected a definition or the end of the text, got '2'",
    );
    refuse("[1 2]", 1, 4, "expected ',' or ']', got '2'");
    refuse("[,]", 1, 2, "expected a value, got ','");
    refuse("[1,,]", 1, 4, "expected a value, got ','");
    refuse("{1: 2, 3}", 1, 9, "expected ':', got '}'");
    refuse("{1}", 1, 3, "expected ':', got '}'");
    refuse("{1: 2, 1: 3}", 1, 1, "the key 1 stands twice");
    refuse("\"a", 1, 1, "the string has no end on its line");
    refuse("\"a\nb\"", 1, 1, "the string has no end on its line");
    refuse("\"\\q\"", 1, 2, "unknown escape sequence in a string");
    refuse(
        "\"\\x4\"",
        1,
        2,
        "expected 2 hexadecimal digits in the escape sequence",
    );
    refuse(
        "\"\\ud800\"",
        1,
        2,
        "the escape does not denote a character",
    );
    refuse(
        "\"\\U00110000\"",
        1,
        2,
        "the escape does not denote a character",
    );
    refuse("b\"é\"", 1, 3, "expected \\x and two digits for this byte");
    refuse("b\"\\u0100\"", 1, 3, "the escape does not denote a byte");
    refuse("/* 1", 1, 1, "the comment has no end");
    refuse("/ 1", 1, 1, "expected a comment, got '/'");
    refuse("01", 1, 1, "a number must not start with zeros");
    refuse("-01.5", 1, 1, "a number must not start with zeros");
    refuse("1e999", 1, 1, "float out of range: '1e999'");
    refuse("1.2.3", 1, 1, "expected a number, got '1.2.3'");
    refuse("-", 1, 1, "expected a number, got '-'");
    refuse("-nan", 1, 1, "expected a number, got '-nan'");
    refuse("0x", 1, 1, "expected hexadecimal digits, got '0x'");
    refuse(
        "<Function>",
        1,
        1,
        "text in angle brackets cannot be read back",
    );
    refuse(
        "[...]",
        1,
        2,
        "something was left out here when the text was printed",
    );
    refuse(
        "flaot32",
        1,
        1,
        "expected a value, got the word 'flaot32', which is not a dtype and has no '('",
    );
    refuse(
        "device(\"moon\")",
        1,
        8,
        "expected a device such as cuda:1, got \"moon\"",
    );
    refuse(
        "func(\"no.such\")",
        1,
        6,
        "global function 'no.such' is not registered",
    );
    refuse(
        "é = 1",
        1,
        1,
        "expected a value, got the word 'é', which is not a dtype and has no '('",
    );
    refuse("% = 1", 1, 1, "expected a name after '%'");
    refuse("\u{1F600}", 1, 1, "expected a value, got '\u{1F600}'");
    let digits = "9".repeat(10_001);
    let shown = format!(
        "expected base 16 for an int of so many digits, got '{}...'",
        &digits[..60]
    );
    refuse(&digits, 1, 1, &shown);
}

#[test]
fn names_are_checked() {
    refuse("[%a,\n %b]", 1, 2, "%a is not defined");
    refuse("%a = 1 %a = 2 %a", 1, 8, "%a is defined twice");
    refuse("[%a: 1, %a: 2]", 1, 9, "%a is defined twice");
    refuse("%a = %a %a", 1, 6, "%a is part of itself");
    refuse("%a = [%b] %b = [%a] 1", 1, 7, "%b is part of itself");
    refuse("%a = List[%a] %a", 1, 11, "%a is part of itself");
    refuse("%a = 1", 1, 7, "expected a value, got the end of the text");
    check_read(
        "%b = [%a] %a = [1] [%b, %a, %b]",
        "%0 = [1]\n%1 = [%0]\n[%1, %0, %1]\n",
    );
    check_read("[{%k: %v: 1}, %k: 2, %v]", "[{2: 1}, 2, 1]\n");
}

#[test]
fn types_and_fields_are_checked() {
    var("x");
    refuse("no.Such(a=1)", 1, 1, "unknown type \"no.Such\"");
    refuse("isoform.Array(a=1)", 1, 1, "unknown type \"isoform.Array\"");
    register_type(TypeDef::new("refused.hint.Known")).expect("a new type");
    let remedy = "(if it was renamed: aliases, see docs/evolution.md)";
    let near = "unknown type \"refused.hint.Knwon\", did you mean 'refused.hint.Known'?";
    refuse("refused.hint.Knwon(a=1)", 1, 1, &format!("{near} {remedy}"));
    let far = "unknown type \"refused.hint.Other\"";
    refuse("refused.hint.Other(a=1)", 1, 1, &format!("{far} {remedy}"));
    refuse(
        "tx.Var(nmae_hint=\"x\")",
        1,
        8,
        "tx.Var has no field 'nmae_hint', did you mean 'name_hint'? (if it was renamed: aliases; \
         if it was removed: ignore_unknown_fields; see docs/evolution.md)",
    );
    refuse(
        "tx.Var(1)",
        1,
        8,
        "expected a field, a definition or ')', got '1'",
    );
    refuse("tx.Var(name_hint \"x\")", 1, 18, "expected '=', got '\"'");
    refuse(
        "tx.Var(ty=1)",
        1,
        1,
        "tx.Var: missing field 'name_hint' (if it is new: a default; if it was renamed: aliases; \
         see docs/evolution.md)",
    );
    refuse(
        "tx.Var(name_hint=\"x\", name_hint=\"y\")",
        1,
        33,
        "tx.Var: field 'name_hint' is given twice",
    );
    refuse("tx.Var!1", 1, 1, "tx.Var has no hook that reads data");
    check_read("%y: tx.Var(%t = 5, ty=[%t])", "%y = tx.Var(ty=[5])\n%y\n");
}

#[test]
fn tensors_are_checked() {
    refuse(
        "Tensor(1, [2], [])",
        1,
        8,
        "expected a value, got the word '', which is not a dtype and has no '('",
    );
    refuse(
        "Tensor(True, [2], [])",
        1,
        8,
        "expected the dtype of a tensor",
    );
    refuse(
        "Tensor(int8, [2], [1])",
        1,
        1,
        "tensor of dtype int8 and shape [2]: expected 2 bytes, got 1",
    );
    refuse(
        "Tensor(int8, [1], [128])",
        1,
        20,
        "expected an element of int8",
    );
    refuse(
        "Tensor(uint8, [1], [-1])",
        1,
        21,
        "expected an element of uint8",
    );
    refuse(
        "Tensor(float16, [1], [1.0])",
        1,
        22,
        "expected base 64 for elements of float16",
    );
    refuse(
        "Tensor(int8, [1], \"x\")",
        1,
        19,
        "expected elements in brackets or b64\"...\", got '\"'",
    );
    refuse(
        "Tensor(int8, [1], b64\"x\")",
        1,
        19,
        "expected base 64: Invalid input length: 1",
    );
    refuse(
        "Tensor(int8, [1.5], [])",
        1,
        15,
        "expected an int of 64 bits",
    );
}

#[test]
fn cycles_have_no_text() {
    let list = List::<Value>::new();
    list.push([Value::from(list.clone())].into()).unwrap();
    let error = to_text(list.clone()).expect_err("a cycle");
    list.clear();
    assert_eq!(error.kind(), ErrorKind::Value);
    assert_eq!(
        error.to_string(),
        "ValueError: cyclic value: the List contains itself (at <root>[0][0])"
    );
    let dict = Dict::<Value, Value>::new();
    dict.insert("self".into(), dict.clone().into()).unwrap();
    assert!(to_text(dict.clone()).is_err());
    dict.clear();
}

#[test]
fn hostile_depth_is_an_error_or_a_value() {
    let depth = scaled(1_000_000);
    for open in [
        "[",
        "{",
        "List[",
        "{1: ",
        "tx.Var(ty=",
        "%a: [",
        "tx.Var(%a = ",
    ] {
        assert!(from_text(&open.repeat(depth)).is_err());
    }
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    from_text(&nested).expect("an array");
    // Each name waits for the next one.
    let mut names = String::from("%0");
    for number in 0..scaled(200_000) {
        names.push_str(&format!(" %{number} = [%{}]", number + 1));
    }
    assert!(from_text(&names).is_err());
    names.push_str(&format!(" %{} = 1", scaled(200_000)));
    from_text(&names).expect("an array");
}
