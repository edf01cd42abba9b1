//! Helpers: verdicts on pairs of texts.

use isoform::compare::CompareOptions;
use isoform::text::TextFault;
use isoform::{Ref, explain_mismatch, structural_digest, structural_equal};
use isoform_mlir::{Level, Operation, Program, read, write};

/// The verdict of the slow oracle.
#[track_caller]
fn judged(left: &Ref<Program>, right: &Ref<Program>) -> bool {
    let options = CompareOptions::default();
    isoform_testing::oracle::equal(&left.into(), &right.into(), options).expect("comparable")
}

/// The program of a text.
#[track_caller]
pub(crate) fn program(text: &str) -> Ref<Program> {
    match read(text) {
        Ok(program) => program,
        Err(error) => panic!("{error}"),
    }
}

/// The text that the writer gives, which must be read as an equal program.
#[track_caller]
pub(crate) fn written(text: &str) -> String {
    let program = program(text);
    let written = write(&program).expect("a program that was read can be written");
    let again = match read(&written) {
        Ok(again) => again,
        Err(error) => panic!("{written}\n{error}"),
    };
    if let Some(mismatch) = explain_mismatch(&program, &again).expect("comparable") {
        panic!("{written}\n{mismatch:?}");
    }
    let digests = [&program, &again].map(|program| structural_digest(program).expect("a digest"));
    assert_eq!(digests[0], digests[1], "{written}");
    assert_eq!(write(&again).expect("written again"), written);
    written
}

/// Checks that all texts are the same program.
#[track_caller]
pub(crate) fn same(texts: &[&str]) {
    let first = program(texts[0]);
    let digest = structural_digest(&first).expect("a digest");
    for text in texts {
        written(text);
        let other = program(text);
        if let Some(mismatch) = explain_mismatch(&first, &other).expect("comparable") {
            panic!("{}\n{text}\n{mismatch:?}", texts[0]);
        }
        assert_eq!(
            digest,
            structural_digest(&other).expect("a digest"),
            "{text}"
        );
        assert!(judged(&first, &other), "{text}");
    }
}

/// Checks that all texts are different programs.
#[track_caller]
pub(crate) fn different(texts: &[&str]) {
    let programs: Vec<_> = texts.iter().map(|text| program(text)).collect();
    for text in texts {
        written(text);
    }
    for (left, one) in programs.iter().enumerate() {
        for (right, other) in programs.iter().enumerate() {
            let is_equal = structural_equal(one, other).expect("comparable");
            assert_eq!(is_equal, left == right, "{}\n{}", texts[left], texts[right]);
            assert_eq!(
                judged(one, other),
                is_equal,
                "{}\n{}",
                texts[left],
                texts[right]
            );
            let digests = [one, other].map(|program| structural_digest(program).expect("a digest"));
            assert_eq!(
                digests[0] == digests[1],
                left == right,
                "{}\n{}",
                texts[left],
                texts[right]
            );
        }
    }
}

/// An operation with one attribute.
pub(crate) fn with(attribute: &str) -> String {
    format!("\"x.y\"() {{a = {attribute}}} : () -> ()")
}

/// Checks that attributes are the same.
#[track_caller]
pub(crate) fn same_attributes(attributes: &[&str]) {
    let texts: Vec<String> = attributes.iter().map(|attribute| with(attribute)).collect();
    same(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// Checks that attributes are different.
#[track_caller]
pub(crate) fn different_attributes(attributes: &[&str]) {
    let texts: Vec<String> = attributes.iter().map(|attribute| with(attribute)).collect();
    different(&texts.iter().map(String::as_str).collect::<Vec<_>>());
}

/// The attribute as the writer gives it.
#[track_caller]
pub(crate) fn attribute(text: &str) -> String {
    let written = written(&with(text));
    let start = written.find("{a = ").expect("an attribute") + 5;
    let end = written
        .rfind("} : () -> ()\n}")
        .expect("the end of the attribute");
    written[start..end].to_owned()
}

/// Checks that a text is refused at a place, with this message.
#[track_caller]
pub(crate) fn refused(text: impl AsRef<[u8]>, line: usize, column: usize, message: &str) {
    let error = match read(text.as_ref()) {
        Ok(_) => panic!("read: {}", String::from_utf8_lossy(text.as_ref())),
        Err(error) => error,
    };
    let source = error.into_source().expect("a fault");
    let fault = source.downcast_ref::<TextFault>().expect("a fault");
    let place = (fault.line(), fault.column());
    assert_eq!((place, fault.message()), ((line, column), message));
}

/// Checks that an attribute is refused at an offset of its text.
#[track_caller]
pub(crate) fn refused_attribute(text: &str, offset: usize, message: &str) {
    refused(with(text), 1, "\"x.y\"() {a = ".len() + 1 + offset, message);
}

/// The operations of the module.
pub(crate) fn operations(program: &Ref<Program>) -> Vec<Ref<Operation>> {
    let blocks = program
        .module
        .regions
        .iter()
        .flat_map(|region| region.blocks.iter());
    blocks
        .flat_map(|block| block.operations.iter())
        .cloned()
        .collect()
}

/// The normal form of a text at a level: a program that is written and read as any other, and
/// its own normal form.
#[track_caller]
pub(crate) fn normal_form(level: &Level, text: &str) -> Ref<Program> {
    let normal = level.apply(&program(text)).expect("a normal form");
    let again = level.apply(&normal).expect("a normal form");
    assert!(again.same_as(&normal), "{text}");
    let written = write(&normal).expect("a text");
    assert!(
        structural_equal(program(&written), &normal).expect("comparable"),
        "{written}"
    );
    normal
}

/// Checks that all texts are the same program at a level.
#[track_caller]
pub(crate) fn same_at(level: &Level, texts: &[&str]) {
    let first = normal_form(level, texts[0]);
    for text in texts {
        let other = normal_form(level, text);
        if let Some(mismatch) = explain_mismatch(&first, &other).expect("comparable") {
            panic!("{}\n{text}\n{mismatch:?}", texts[0]);
        }
        let digests = [&first, &other].map(|program| structural_digest(program).expect("a digest"));
        assert_eq!(digests[0], digests[1], "{text}");
        assert!(judged(&first, &other), "{text}");
    }
}

/// Checks that all texts are different programs at a level.
#[track_caller]
pub(crate) fn different_at(level: &Level, texts: &[&str]) {
    let normal: Vec<_> = texts.iter().map(|text| normal_form(level, text)).collect();
    for (left, one) in normal.iter().enumerate() {
        for (right, other) in normal.iter().enumerate() {
            let is_equal = structural_equal(one, other).expect("comparable");
            assert_eq!(is_equal, left == right, "{}\n{}", texts[left], texts[right]);
            assert_eq!(judged(one, other), is_equal);
        }
    }
}
