//! Detection of the format of a file.

use std::path::Path;

use clap::ValueEnum;

use super::foreign::foreign;
use super::packed::Packing;
use super::tensors::{TensorForm, is_index};

/// The number of bytes from which the format is detected.
pub(crate) const SAMPLE: usize = 64 << 10;

/// The first bytes of the binary form.
const MAGIC: &[u8] = b"\x89isoform";

/// The possible first keys of a JSON graph.
const GRAPH_KEYS: [&str; 3] = ["root_index", "nodes", "metadata"];

/// A format in which a value can be written to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A JSON graph.
    Json,
    /// Text for people.
    Text,
    /// The binary form.
    Binary,
    /// The generic text of MLIR, which holds an `mlir.Program`.
    Mlir,
}

/// A format in which a target can be written.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetForm {
    /// A JSON graph.
    Json,
    /// Text for people.
    Text,
    /// The binary form.
    Binary,
    /// The generic text of MLIR.
    Mlir,
    /// An ONNX model.
    Onnx,
}

impl TargetForm {
    /// The format for the extension of this name.
    pub(crate) fn of_name(file: &Path) -> Option<TargetForm> {
        let extension = file.extension()?.to_str()?;
        if extension.eq_ignore_ascii_case("onnx") {
            Some(TargetForm::Onnx)
        } else {
            Form::of_name(file).map(TargetForm::from)
        }
    }

    /// The format of the library; None for a model.
    pub(crate) fn form(self) -> Option<Form> {
        match self {
            TargetForm::Json => Some(Form::Json),
            TargetForm::Text => Some(Form::Text),
            TargetForm::Binary => Some(Form::Binary),
            TargetForm::Mlir => Some(Form::Mlir),
            TargetForm::Onnx => None,
        }
    }

    /// The name for programs, and for `--to`.
    pub(crate) fn key(self) -> &'static str {
        self.form().map_or("onnx", Form::key)
    }
}

impl From<Form> for TargetForm {
    fn from(form: Form) -> Self {
        match form {
            Form::Json => TargetForm::Json,
            Form::Text => TargetForm::Text,
            Form::Binary => TargetForm::Binary,
            Form::Mlir => TargetForm::Mlir,
        }
    }
}

/// The contents of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Content {
    /// Nothing.
    Empty,
    /// An ONNX model.
    Model,
    /// A value of the library.
    Value(Form),
    /// Named tensors.
    Tensors(TensorForm),
    /// A compressed file.
    Packed(Packing),
    /// Another format, with its refusal.
    Foreign(&'static str),
}

impl Form {
    /// The format for the extension of this name.
    pub(crate) fn of_name(file: &Path) -> Option<Form> {
        let extension = file.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "json" => Some(Form::Json),
            "iso" | "txt" => Some(Form::Text),
            "isob" | "bin" => Some(Form::Binary),
            "mlir" => Some(Form::Mlir),
            _ => None,
        }
    }

    /// The name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Json => "JSON graph",
            Form::Text => "text",
            Form::Binary => "binary form",
            Form::Mlir => "MLIR",
        }
    }

    /// The name for programs.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Form::Json => "json",
            Form::Text => "text",
            Form::Binary => "binary",
            Form::Mlir => "mlir",
        }
    }
}

/// Detects the contents of a file from its first bytes. The name is ignored: the same
/// bytes are read in the same way under every name.
///
/// A model is protobuf, and its field for the format version already contains a byte
/// that never occurs in text.
pub(crate) fn recognize(start: &[u8]) -> Content {
    if start.starts_with(MAGIC) {
        return Content::Value(Form::Binary);
    }
    if let Some(packing) = Packing::of(start) {
        return Content::Packed(packing);
    }
    if let Some(form) = TensorForm::of(start) {
        return Content::Tensors(form);
    }
    let text = as_text(start);
    // Both may begin with the key "metadata".
    if text.is_some_and(is_index) {
        return Content::Tensors(TensorForm::Shards);
    }
    if text.is_some_and(is_graph) {
        return Content::Value(Form::Json);
    }
    if let Some(foreign) = foreign(start) {
        return Content::Foreign(foreign.refusal);
    }
    match text {
        Some("") => Content::Empty,
        Some(text) if is_mlir(text) => Content::Value(Form::Mlir),
        Some(_) => Content::Value(Form::Text),
        None => Content::Model,
    }
}

/// True if a file found in a folder is for this command, judging by its name and first
/// bytes: other programs write `.json` and `.iso` files, too.
pub(crate) fn is_ours(start: &[u8], named: Form) -> bool {
    match named {
        Form::Json => as_text(start).is_some_and(|text| is_graph(text) && !is_index(text)),
        Form::Text => as_text(start).is_some_and(|text| !is_mlir(text)),
        Form::Mlir => as_text(start).is_some_and(is_mlir),
        Form::Binary => start.starts_with(MAGIC),
    }
}

/// True if a text would be read as JSON, as a graph or as the index of tensors.
pub(crate) fn is_special_json(text: &str) -> bool {
    is_graph(text) || is_index(text.trim_start())
}

/// True if a text would be read as a JSON graph.
fn is_graph(text: &str) -> bool {
    let inner = text.trim_start().strip_prefix('{').map(str::trim_start);
    let Some(inner) = inner.and_then(|inner| inner.strip_prefix('"')) else {
        return false;
    };
    GRAPH_KEYS.iter().any(|key| {
        let rest = inner
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix('"'));
        rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
    })
}

/// True for the beginning of a text of MLIR: an operation, in generic form or with a name that
/// has a dialect before it; a module; an alias. Comments before it look like those of texts of
/// this library.
fn is_mlir(mut text: &str) -> bool {
    while text.starts_with("//") {
        let comment = text.split_once('\n');
        text = comment.map_or("", |(_, rest)| rest.trim_start());
    }
    let word_end = |text: &str| text.find(|sign: char| !is_word(sign)).unwrap_or(text.len());
    let (word, rest) = text.split_at(word_end(text));
    let rest = rest.trim_start_matches([' ', '\t']);
    match (word, rest.chars().next()) {
        ("", Some('"')) => generic_name(rest).is_some(),
        ("", Some('%')) => {
            let after = rest
                .split_once('=')
                .map_or("", |(_, after)| after.trim_start());
            let (name, call) = after.split_at(word_end(after));
            // In the text of this library, a type is followed by its fields at once.
            let is_pretty =
                name.contains('.') && !name.starts_with(|sign: char| sign.is_ascii_digit());
            generic_name(after).is_some() || (is_pretty && call.starts_with(' '))
        }
        ("", Some('{')) => rest.starts_with("{-#"),
        ("", Some('#' | '!')) => {
            let (name, rest) = rest[1..].split_at(word_end(&rest[1..]));
            !name.is_empty() && rest.trim_start_matches(' ').starts_with('=')
        }
        ("module", Some('{' | '@')) => true,
        ("module", _) => rest.starts_with("attributes"),
        (word, Some('@')) => word.contains('.'),
        (word, _) => {
            let visibilities = ["private @", "public @", "nested @"];
            word.contains('.') && visibilities.iter().any(|start| rest.starts_with(start))
        }
    }
}

/// The name of an operation in generic form: `"x.y"(`.
fn generic_name(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix('"')?.split_once('"')?;
    rest.trim_start_matches(' ')
        .starts_with('(')
        .then_some(name)
}

/// True for the characters of names of operations and aliases.
fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '$' | '-')
}

/// The first bytes of a file without leading white space, if they are text: UTF-8,
/// without control characters other than white space.
fn as_text(start: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() && start.len() >= SAMPLE => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    let is_odd = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 12);
    if text.bytes().any(is_odd) {
        return None;
    }
    Some(
        text.strip_prefix(BYTE_ORDER_MARK)
            .unwrap_or(text)
            .trim_start(),
    )
}

/// A mark that some editors put at the start of a text.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: impl AsRef<[u8]>, expected: Content) {
        assert_eq!(recognize(start.as_ref()), expected);
    }

    #[test]
    fn content_tells_the_form() {
        use Content::{Empty, Foreign, Model, Packed, Tensors, Value};
        check(b"\x89isoform\x01", Value(Form::Binary));
        check("{\n \"nodes\" : []}", Value(Form::Json));
        check("\u{feff} {\"root_index\":0", Value(Form::Json));
        check("ir.IRModule()", Value(Form::Text));
        // A map with a key of this name, but not a graph.
        check("{\"nodes and more\": 1}", Value(Form::Text));
        check(b"\x08\x07\x12\x04", Model);
        check(b"\x1f\x8b\x08\0", Packed(Packing::Gzip));
        check(b"\x28\xb5\x2f\xfd", Packed(Packing::Zstd));
        check(b"\x93NUMPY\x01\0", Tensors(TensorForm::Npy));
        check(b"PK\x03\x04", Tensors(TensorForm::Zip));
        check(b"\x40\0\0\0\0\0\0\0{\"", Tensors(TensorForm::Safetensors));
        // A size that no header has.
        check(b"\x40\0\0\0\0\0\0\x01{\"", Model);
        check("", Empty);
        check(" \n", Empty);
        check(b"GGUF\x03", Tensors(TensorForm::Gguf));
        assert!(matches!(recognize(b"%PDF-"), Foreign(_)));
    }

    #[test]
    fn mlir_is_told_from_other_texts() {
        let mlir = Content::Value(Form::Mlir);
        for text in [
            "module {\n}",
            "module @jit_f attributes {a = 1 : i32} {\n}",
            "module attributes {a} {}",
            "\"builtin.module\"() ({",
            "  \"x.y\" () : () -> ()",
            "#loc = loc(unknown)\nmodule {}",
            "#map0 = affine_map<(d0) -> (d0)>",
            "!tensor = tensor<4xf32>",
            "%0 = \"x.make\"() : () -> i32",
            "%a:2 = \"x.make\"() : () -> (i32, i32)",
            "%0 = arith.constant 1 : i32",
            "func.func @f() { return }",
            "func.func private @f()",
            "func.func public @f() { return }",
            "// RUN: mlir-opt\nmodule {}",
            "{-# dialect_resources: {} #-}",
        ] {
            check(text, mlir);
            assert!(is_ours(text.as_bytes(), Form::Mlir), "{text}");
            assert!(!is_ours(text.as_bytes(), Form::Text), "{text}");
        }
        for text in [
            "ir.IRModule()",
            "// module {}",
            "// text\n{\"nodes\": 1}",
            "%x = ir.Var(name=\"x\")\n%x",
            "// a comment of the text form\nir.IRModule()",
            "\"a string\"",
            "[\"a\", 1]",
            "{\"a\": 1}",
            "module",
            "%0 = pto.DataType!\"INT64\"\n[%0]",
            "%0 = 1.5 // a number\n[%0]",
            "%0 = \"a (string)\"\n[%0]",
            "%a = 1\n[%a, %a]",
        ] {
            check(text, Content::Value(Form::Text));
            assert!(!is_ours(text.as_bytes(), Form::Mlir), "{text}");
        }
    }

    #[test]
    fn an_index_of_tensors_is_no_graph() {
        let index = Content::Tensors(TensorForm::Shards);
        let graph = Content::Value(Form::Json);
        let sizes = r#""metadata": {"weight_map": "}", "total_size": [1, {}]}"#;
        let map = r#""weight_map": {"a": "b"}"#;
        for text in [
            format!("{{{sizes}, {map}}}"),
            format!("{{{map}, {sizes}}}"),
            format!("\u{feff}\n {{\n  {map}\n}}"),
            format!("{{\"a \\\"nodes\\\": \": null, {map}}}"),
            // The rest is cut off.
            r#"{"weight_map" : {"#.to_owned(),
        ] {
            check(&text, index);
            assert!(!is_ours(text.as_bytes(), Form::Json), "{text}");
        }
        for text in [
            format!("{{{sizes}, \"root_index\": 0, {map}}}"),
            format!("{{{sizes}, \"nodes\": [], {map}}}"),
            format!("{{\"nodes\": [], {map}, {sizes}}}"),
            format!("{{{sizes}, \"weight_map\": 1}}"),
            format!("{{{sizes}"),
        ] {
            check(&text, graph);
            assert!(is_ours(text.as_bytes(), Form::Json), "{text}");
        }
        check(r#"{"a": {"weight_map": {}}}"#, Content::Value(Form::Text));
        check(r#"[{"weight_map": {}}]"#, Content::Value(Form::Text));
    }

    #[test]
    fn a_character_may_be_cut_at_the_end() {
        let mut long = "é".repeat(SAMPLE).into_bytes();
        long.truncate(SAMPLE - 1);
        check(&long, Content::Model);
        long.insert(0, b'#');
        long.push(0xc3);
        long.truncate(SAMPLE);
        check(&long, Content::Value(Form::Text));
    }
}
