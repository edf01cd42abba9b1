//! Formats of other programs. A file in such a format is not read, but the user is told the
//! format and how to proceed.

use std::io;
use std::path::Path;

use crate::find::{ir_form_of_name, is_model_name};

/// The number of first bytes among which a mark may be.
const MARKS: usize = 4 << 10;

/// A format that is not read.
pub(super) struct Foreign {
    /// True for the first bytes of a file in this format.
    matches: fn(&[u8]) -> bool,
    /// The name of the format, and advice.
    pub(super) refusal: &'static str,
}

/// Returns the format of a file with these first bytes, if the format is unsupported.
pub(super) fn foreign(start: &[u8]) -> Option<&'static Foreign> {
    FORMATS.iter().find(|format| (format.matches)(start))
}

/// Tells that there is no such file, with advice for what is not the name of a file.
pub(super) fn not_opened(file: &Path, error: &io::Error) -> String {
    let name = file.to_string_lossy();
    if error.kind() != io::ErrorKind::NotFound {
        return error.to_string();
    }
    if let Some((scheme, rest)) = name.split_once("://") {
        let last = rest
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(rest);
        let last = if last.is_empty() || last == rest {
            "FILE"
        } else {
            last
        };
        return match scheme {
            "http" | "https" => format!(
                "this is an address, and files are read; download it first: curl -L -o {last} '{name}'"
            ),
            _ => format!(
                "this is an address, and files are read; download it first, with the client of {scheme}"
            ),
        };
    }
    if is_hub_id(file) {
        return format!(
            "{error}; if this is the name of a model on a hub, download it first: hf download {name} --local-dir ."
        );
    }
    error.to_string()
}

/// True for two plain words with a slash, without the ending of a file, in a folder that
/// does not exist.
fn is_hub_id(file: &Path) -> bool {
    let name = file.to_string_lossy();
    let Some((owner, model)) = name.split_once('/') else {
        return false;
    };
    let is_word = |word: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        word.starts_with(|c: char| c.is_ascii_alphanumeric()) && word.chars().all(is_part)
    };
    let is_file = ir_form_of_name(file).is_some() || is_model_name(file);
    is_word(owner) && is_word(model) && !is_file && !Path::new(owner).exists()
}

/// Returns the refusal of protobuf that looks like a model in another format than ONNX.
///
/// The formats cannot be distinguished for sure, so only call this function for
/// unreadable files.
pub(super) fn other_protobuf(start: &[u8]) -> Option<&'static str> {
    match (has_description(start), start) {
        (false, _) => None,
        (true, [8, 1, ..]) => Some(
            "this is a TensorFlow SavedModel, or a Core ML model of version 1, which isoform does not read; convert a SavedModel with 'python -m tf2onnx.convert --saved-model FOLDER --output model.onnx'",
        ),
        (true, _) => Some(
            "this is a Core ML model, which isoform does not read; give the model from which it was converted, as ONNX",
        ),
    }
}

const FORMATS: &[Foreign] = &[
    Foreign {
        matches: |start| start.starts_with(b"version https://git-lfs.github.com/spec/"),
        refusal: "this is a Git LFS pointer, not the file itself; run 'git lfs pull' to fetch it",
    },
    Foreign {
        matches: is_html,
        refusal: "this is an HTML page, as a download that needs a login or another address leaves; download the file itself",
    },
    Foreign {
        matches: |start| {
            text(start).is_some_and(|text| text.starts_with("<?xml")) && has(start, b"<net ")
        },
        refusal: "this is an OpenVINO model, which isoform does not read; give the ONNX model from which it was converted",
    },
    Foreign {
        matches: |start| text(start).is_some_and(|text| text.starts_with("<?xml")),
        refusal: "this is XML, which isoform does not read; give an ONNX model or an IR file",
    },
    Foreign {
        matches: |start| {
            let head = text(start).and_then(|text| text.strip_prefix('<'));
            head.is_some_and(|rest| begins_with_key(rest, "ir_version"))
        },
        refusal: "this is the text syntax of ONNX, which isoform does not read; convert it with Python: import onnx; onnx.save(onnx.load('FILE', format='onnxtxt'), 'model.onnx')",
    },
    Foreign {
        matches: |start| text(start).is_some_and(|text| begins_with_key(text, "ir_version")),
        refusal: "this is an ONNX model in the text format of protobuf, which isoform does not read; convert it with Python: import onnx; onnx.save(onnx.load('FILE', format='textproto'), 'model.onnx')",
    },
    Foreign {
        matches: is_onnx_json,
        refusal: "this is an ONNX model in the JSON format of protobuf, which isoform does not read; convert it with Python: import onnx; onnx.save(onnx.load('FILE', format='json'), 'model.onnx')",
    },
    Foreign {
        matches: |start| matches!(start, [0x80, 2..=5, ..]),
        refusal: "this is a pickle of Python, as PyTorch and scikit-learn write them; isoform does not read it, because reading a pickle runs the code in it; export the model with torch.onnx.export, or the weights with safetensors.torch.save_file",
    },
    Foreign {
        matches: |start| start.starts_with(b"\x89HDF\r\n\x1a\n"),
        refusal: "this is an HDF5 file, as Keras writes them, which isoform does not read; convert the model with tf2onnx, or its weights to safetensors",
    },
    Foreign {
        matches: |start| start.get(4..8) == Some(b"TFL3"),
        refusal: "this is a TensorFlow Lite model, which isoform does not read; convert it with 'python -m tf2onnx.convert --tflite FILE --output model.onnx'",
    },
    Foreign {
        matches: |start| start.get(4..8) == Some(b"ORTM"),
        refusal: "this is a model in the format of ONNX Runtime, which isoform does not read; give the ONNX model from which it was converted",
    },
    Foreign {
        matches: |start| start.starts_with(b"ML\xefR"),
        refusal: "this is MLIR bytecode, which isoform does not read; print it as text with 'mlir-opt -mlir-print-op-generic FILE'",
    },
    Foreign {
        matches: |start| start.starts_with(b"ptrt"),
        refusal: "this is a TensorRT engine, which isoform does not read; give the ONNX model from which it was built",
    },
    Foreign {
        matches: |start| start.starts_with(b"%PDF-"),
        refusal: "this is a PDF document; give an ONNX model or an IR file",
    },
    Foreign {
        matches: |start| start.starts_with(b"\x89PNG\r\n\x1a\n"),
        refusal: "this is a PNG image; give an ONNX model or an IR file",
    },
    Foreign {
        matches: |start| start.starts_with(b"\xff\xd8\xff"),
        refusal: "this is a JPEG image; give an ONNX model or an IR file",
    },
    Foreign {
        matches: |start| start.starts_with(b"\x7fELF"),
        refusal: "this is a program or library (ELF); give an ONNX model or an IR file",
    },
    Foreign {
        matches: |start| start.get(257..262) == Some(b"ustar"),
        refusal: "this is a tar archive; unpack it with 'tar -xf' and give a file from it",
    },
    Foreign {
        matches: |start| start.starts_with(b"\xfd7zXZ\0"),
        refusal: "this is compressed with xz; unpack it with 'xz -d' first",
    },
    Foreign {
        matches: |start| start.starts_with(b"BZh") && start.get(4..10) == Some(b"1AY&SY"),
        refusal: "this is compressed with bzip2; unpack it with 'bzip2 -d' first",
    },
    Foreign {
        matches: |start| start.starts_with(b"7z\xbc\xaf\x27\x1c"),
        refusal: "this is a 7z archive; unpack it with '7z x' and give a file from it",
    },
    Foreign {
        matches: |start| start.starts_with(b"\x04\x22\x4d\x18"),
        refusal: "this is compressed with lz4; unpack it with 'lz4 -d' first",
    },
    Foreign {
        matches: |start| start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff"),
        refusal: "this is text in UTF-16; convert it to UTF-8",
    },
];

/// The first bytes as far as they are text, without leading white space.
fn text(start: &[u8]) -> Option<&str> {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let start = &start[..start.len().min(MARKS)];
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).ok()?,
    };
    Some(text.trim_start())
}

fn has(start: &[u8], mark: &[u8]) -> bool {
    let start = &start[..start.len().min(MARKS)];
    start.windows(mark.len()).any(|part| part == mark)
}

/// True if a text begins with a name, white space and a colon.
fn begins_with_key(text: &str, key: &str) -> bool {
    let rest = text.trim_start().strip_prefix(key);
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn is_html(start: &[u8]) -> bool {
    let Some(text) = text(start) else {
        return false;
    };
    ["<!doctype html", "<html"].iter().any(|mark| {
        let head = text.get(..mark.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(mark))
    })
}

/// True for a message with an IR version and another field that only models have.
fn is_onnx_json(start: &[u8]) -> bool {
    let is_object = text(start).is_some_and(|text| text.starts_with('{'));
    let has_any = |keys: &[&[u8]]| keys.iter().any(|key| has(start, key));
    is_object
        && has_any(&[b"\"irVersion\"", b"\"ir_version\""])
        && has_any(&[
            b"\"producerName\"",
            b"\"producer_name\"",
            b"\"opsetImport\"",
            b"\"opset_import\"",
            b"\"graph\"",
        ])
}

/// True for a protobuf message that starts with a small version number as field 1, and
/// whose field 2 is a message starting with a field 1. Field 2 of an ONNX model is a
/// name, which does not start with a line break.
fn has_description(start: &[u8]) -> bool {
    let [8, 1..=127, 0x12, rest @ ..] = start else {
        return false;
    };
    let size = rest.iter().take(9).position(|byte| byte & 0x80 == 0);
    // An empty name may be followed by an empty field 1, so the message must not be
    // empty.
    size.is_some_and(|at| rest[0] != 0 && rest.get(at + 1) == Some(&0x0a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: &[u8], expected: &str) {
        let found = foreign(start).map_or("", |format| format.refusal);
        assert!(
            !expected.is_empty() && found.contains(expected) || found == expected,
            "{found:?}"
        );
    }

    #[test]
    fn each_format_is_named() {
        check(
            b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a",
            "git lfs pull",
        );
        check(b"\n<!DOCTYPE html><html>", "HTML");
        check(b"<html lang=en>", "HTML");
        check(
            b"<?xml version=\"1.0\"?>\n<net name=\"m\" version=\"11\">",
            "OpenVINO",
        );
        check(b"<?xml version=\"1.0\"?>\n<note>", "XML");
        check(
            b"<\n  ir_version: 7,\n  opset_import: [\"\" : 17]\n>",
            "onnxtxt",
        );
        check(b"ir_version: 7\nproducer_name: \"x\"", "textproto");
        check(
            b"{\n  \"irVersion\": \"7\",\n  \"graph\": {",
            "format='json'",
        );
        check(b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "pickle");
        check(b"\x89HDF\r\n\x1a\n\0\0", "HDF5");
        check(b"\x1c\0\0\0TFL3", "TensorFlow Lite");
        check(b"\x1c\0\0\0ORTM", "ONNX Runtime");
        check(b"ptrt\0", "TensorRT");
        check(b"ML\xefR\x0d", "MLIR bytecode");
        check(b"%PDF-1.7", "PDF");
        check(b"\x89PNG\r\n\x1a\n", "PNG");
        check(b"\xff\xd8\xff\xe0", "JPEG");
        check(b"\x7fELF\x02", "ELF");
        check(&[&[b'a'; 257][..], b"ustar\0"].concat(), "tar -xf");
        check(b"\xfd7zXZ\0", "xz -d");
        check(b"BZh91AY&SY", "bzip2 -d");
        check(b"7z\xbc\xaf\x27\x1c", "7z x");
        check(b"\x04\x22\x4d\x18", "lz4 -d");
        check(b"\xff\xfe{\0", "UTF-16");
    }

    #[test]
    fn other_protobuf_is_guessed() {
        let guess = |start: &[u8]| other_protobuf(start).unwrap_or_default();
        assert!(guess(b"\x08\x01\x12\xf0\x01\x0a\x05").contains("SavedModel"));
        assert!(guess(b"\x08\x05\x12\x20\x0a\x05").contains("a Core ML model"));
        assert_eq!(guess(b"\x08\x07\x12\x07pytorch"), "");
        // A model without a producer.
        assert_eq!(guess(b"\x08\x01\x12\x00\x0a\x04"), "");
    }

    #[test]
    fn own_formats_are_not_taken_for_others() {
        for own in [
            &b"\x08\x07\x12\x07pytorch"[..],
            b"{\"root_index\": 0, \"nodes\": [\"ir_version\"]}",
            b"{\"a\": 1}",
            b"ir.IRModule()",
            b"",
            b"\x80",
        ] {
            check(own, "");
        }
    }
}
