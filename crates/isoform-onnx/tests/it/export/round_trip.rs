//! A model that is loaded, written and loaded again is the same program.

use isoform::{explain_mismatch, structural_digest};
use isoform_onnx::{
    ExternalResolver, ImportOptions, Model, SaveOptions, decode_model, proto::ModelProto,
};
use prost::Message;

use super::models::all;
use crate::build::load_with;

fn options() -> ImportOptions {
    ImportOptions::default().io_names(true)
}

/// Writes a program, and checks that the bytes equal the encoded message and decode to
/// it.
#[track_caller]
pub(crate) fn written(model: &Model) -> ModelProto {
    // Some models have operators outside of the standard.
    let saving = SaveOptions::default().check(false);
    let message = saving.to_proto(model.program()).unwrap();
    let bytes = saving.to_bytes(model.program()).unwrap();
    assert_eq!(bytes.len(), message.encoded_len());
    let decoded = decode_model(bytes.into()).unwrap();
    // Messages with NaN differ from themselves.
    assert_eq!(decoded.encode_to_vec(), message.encode_to_vec());
    decoded
}

/// Loading the written bytes results in the same program, which is written to the same
/// bytes.
#[track_caller]
pub(crate) fn check(name: &str, proto: &ModelProto) -> ModelProto {
    let model = load_with(proto, options());
    let made = written(&model);
    let again = match options().import(&made, &ExternalResolver::none()) {
        Ok(again) => again,
        Err(error) => panic!("{name}: {error}\n{made:#?}"),
    };
    let (left, right) = (model.to_value(), again.to_value());
    if let Some(mismatch) = explain_mismatch(&left, &right).unwrap() {
        panic!("{name}: {mismatch}\n{made:#?}");
    }
    assert_eq!(
        structural_digest(left).unwrap(),
        structural_digest(right).unwrap(),
        "{name}"
    );
    let third = written(&again);
    assert!(third.encode_to_vec() == made.encode_to_vec(), "{name}");
    made
}

#[test]
fn models_are_written_as_they_were() {
    for (name, proto) in all() {
        check(name, &proto);
    }
}
