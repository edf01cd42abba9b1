//! Resources and distinct attributes.

use super::support::{different, different_attributes, refused, same, same_attributes, written};

fn with_blob(key: &str, blob: &str) -> String {
    format!(
        "\"x\"() {{a = dense_resource<{key}> : tensor<2xi8>}} : () -> ()\n\
         {{-# dialect_resources: {{ builtin: {{ {key}: \"{blob}\" }} }} #-}}"
    )
}

#[test]
fn contents_are_compared_and_keys_are_not() {
    same(&[
        &with_blob("k", "0x040000000102"),
        &with_blob("other", "0x010000000102"),
        &with_blob("\"odd key\"", "0x040000000102"),
        "{-# external_resources: { tool: { a: \"text\", b: true } }, dialect_resources: { builtin: { k: \"0x040000000102\", unused: \"0x0400000003\" } } #-}
         \"x\"() {a = dense_resource<k> : tensor<2xi8>} : () -> ()",
    ]);
    different(&[
        &with_blob("k", "0x040000000102"),
        &with_blob("k", "0x040000000103"),
        "\"x\"() {a = dense_resource<k> : tensor<2xi8>} : () -> ()",
        "\"x\"() {a = dense_resource<__elided__> : tensor<2xi8>} : () -> ()",
    ]);
    assert!(
        written(&with_blob("k", "0x040000000102"))
            .contains("builtin: {\n      k: \"0x040000000102\"")
    );
}

#[test]
fn resources_of_dialects_are_compared() {
    let text = |bytes: &str| {
        format!(
            "\"x\"() {{a = #d.blob<k>}} : () -> () {{-# dialect_resources: {{ d: {{ k: \"{bytes}\", l: \"0x01000000\" }}, e: {{}} }} #-}}"
        )
    };
    different(&[
        &text("0x0100000001"),
        &text("0x0100000002"),
        "\"x\"() {a = #d.blob<k>} : () -> ()",
    ]);
}

#[test]
fn resources_with_one_key_are_kept_apart_when_written() {
    use isoform::values::Bytes;
    use isoform::{Map, Ref};
    use isoform_mlir::{IntegerType, Operation, Program, ResourceAttr, TensorType};
    let i8: Ref<isoform::Obj> = IntegerType::new(8, "signless").into_object();
    let ty = TensorType::new(isoform::Array::from([1.into()]), i8, None).into_object();
    let resource = |byte: u8| {
        ResourceAttr::new(Bytes::from(vec![byte]), &ty)
            .with_key("k")
            .into_object()
    };
    let entries = Map::from([("a", resource(1)), ("b", resource(2)), ("c", resource(1))]);
    let program = Program::new(Operation::new("builtin.module", []).with_attributes(entries));
    let text = isoform_mlir::write(&program).unwrap();
    assert!(text.contains("{a = dense_resource<k> : tensor<1xi8>, b = dense_resource<k_0> : tensor<1xi8>, c = dense_resource<k>"));
    assert!(isoform::structural_equal(isoform_mlir::read(&text).unwrap(), program).unwrap());
}

#[test]
fn malformed_resources_are_refused() {
    refused(
        "{-# other: {} #-}",
        1,
        5,
        "expected 'dialect_resources' or 'external_resources', got 'other'",
    );
    let bytes = "expected \"0x\", four bytes of alignment and the contents";
    refused(
        "{-# dialect_resources: { b: { k: \"0x01\" } } #-}",
        1,
        34,
        bytes,
    );
    let twice = "expected one resource of this key";
    refused(
        "{-# dialect_resources: { b: { k: \"0x01000000\", k: \"0x01000000\" } } #-}",
        1,
        51,
        twice,
    );
    refused(
        "{-# dialect_resources: { b: { k: 1 } } #-}",
        1,
        34,
        "expected the bytes of the resource, got '1'",
    );
    refused(
        "{-# dialect_resources: {} ",
        1,
        27,
        "expected ',' or '#-}', got the end of the text",
    );
    refused(
        "\"r\"() ({ {-# #-} }) : () -> ()",
        1,
        10,
        "expected an operation, a block or '}', got '{-#'",
    );
    same(&["{-# #-}", ""]);
}

#[test]
fn distinct_attributes_have_identities() {
    same_attributes(&[
        "[distinct[0]<\"i\">, distinct[0]<\"i\">]",
        "[distinct[7]<\"i\">, distinct[7]<\"i\">]",
    ]);
    different_attributes(&[
        "[distinct[0]<\"i\">, distinct[0]<\"i\">]",
        "[distinct[0]<\"i\">, distinct[1]<\"i\">]",
    ]);
    same_attributes(&["distinct[2]<>", "distinct[0]<unit>"]);
    different_attributes(&["distinct[0]<1>", "distinct[0]<2>", "1"]);
    same(&[
        "#d = distinct[3]<1> \"x\"() {a = #d} : () -> () \"y\"() {a = #d} : () -> ()",
        "\"x\"() {a = distinct[0]<1>} : () -> () \"y\"() {a = distinct[0]<1>} : () -> ()",
    ]);
    let message = "expected the contents that distinct[0] has elsewhere";
    refused(
        "\"x\"() {a = distinct[0]<1>, b = distinct[0]<2>} : () -> ()",
        1,
        41,
        message,
    );
}
