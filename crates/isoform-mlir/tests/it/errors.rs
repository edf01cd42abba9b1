//! Texts that are refused, and where.

use isoform_mlir::{ReadOptions, read, read_split};

use super::support::refused;

#[test]
fn characters() {
    refused(
        "\u{feff}module {}",
        1,
        1,
        "expected a token, got '\u{feff}'",
    );
    refused("\u{c}", 1, 1, "expected a token, got the character U+000C");
    refused("é", 1, 1, "expected a token, got 'é'");
    refused("\"x\"() : () -> () &", 1, 18, "expected a token, got '&'");
    refused("%", 1, 1, "expected a value, such as %0, got '%'");
    refused(
        "\"r\"() ({^:}) : () -> ()",
        1,
        9,
        "expected a block, such as ^bb0, got '^'",
    );
}

#[test]
fn structure() {
    refused(
        "}",
        1,
        1,
        "expected an operation, an alias or the end of the file, got '}'",
    );
    refused(
        "\"r\"() ({",
        1,
        9,
        "expected an operation, a block or '}', got the end of the text",
    );
    refused(
        "\"r\"() ({}",
        1,
        10,
        "expected ')', got the end of the text",
    );
    refused("\"r\"() ({},) : () -> ()", 1, 11, "expected '{', got ')'");
    refused(
        "^bb0:",
        1,
        1,
        "expected an operation, an alias or the end of the file, got '^bb0'",
    );
    refused(
        "\"x\"(%0,) : () -> ()",
        1,
        8,
        "expected a value, such as %0, got ')'",
    );
    refused(
        "\"x\"(%0#a) : () -> ()",
        1,
        7,
        "expected the number of a result, got '#a'",
    );
    refused("\"x\"()\n  : () > ()", 2, 8, "expected '->', got '>'");
    refused(
        "\"x\"(%0) : (i1) -> ()",
        1,
        5,
        "expected a value that is defined, got '%0'",
    );
    refused(
        "%0 = %1",
        1,
        6,
        "expected the name of an operation in quotes, got '%1'",
    );
    refused("\"\\FF\"() : () -> ()", 1, 1, "expected a name in UTF-8");
    refused(
        "\"x\"() {a = 1",
        1,
        13,
        "expected '}', got the end of the text",
    );
    refused("\"x\"() {a = [1}", 1, 14, "expected ']', got '}'");
}

#[test]
fn bytecode_names_the_command_that_prints_text() {
    let error = ReadOptions::default()
        .name("m.mlirbc")
        .read(b"ML\xefR\x0dMLIR")
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("ValueError: m.mlirbc: expected text, got MLIR bytecode"),
        "{message}"
    );
    assert!(
        message.contains("mlir-opt -mlir-print-op-generic FILE"),
        "{message}"
    );
}

#[test]
fn split_files_have_the_lines_of_the_whole() {
    let text = "\"a\"() : () -> ()\n  // -----  \r\n\n\"b\"( : () -> ()\n// -----\nmodule {}\n";
    let error = read_split(text).unwrap_err().to_string();
    assert!(
        error.starts_with("ValueError: MLIR: line 4, column 6: expected a value"),
        "{error}"
    );
    assert!(read(text).is_err());
    let text = text.replace("( :", "() :");
    assert_eq!(read_split(&text).unwrap().len(), 3);
    // A plain read sees a comment.
    assert_eq!(super::support::operations(&read(&text).unwrap()).len(), 3);
}
