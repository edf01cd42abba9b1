//! Attributes as nodes.

use isoform::objects::{construct_named, verify};
use isoform::types::find_type;
use isoform::values::DType;
use isoform::{Array, Ref, Value, structural_equal};
use isoform_ir::ir::Attrs;
use isoform_ir::ir::AttrsRef;
use isoform_relay::attrs::*;

/// Makes attributes from a key and named fields.
fn make(key: &str, fields: Vec<(&str, Value)>) -> isoform::Result<Ref<Attrs>> {
    isoform_relay::register()?;
    construct_named(find_type(key).unwrap().index(), fields)?.cast()
}

/// A class of attributes, the required fields, and the defaults of the remaining
/// fields.
type Row<'a> = (&'a str, Vec<(&'a str, Value)>, &'a [(&'a str, &'a str)]);

#[test]
fn defaults_are_those_of_the_table() {
    let table: &[Row<'_>] = &[
        (
            "ArgsortAttrs",
            vec![],
            &[("axis", "-1"), ("is_ascend", "true"), ("dtype", "void")],
        ),
        ("BiasAddAttrs", vec![], &[("axis", "1")]),
        (
            "Conv2DAttrs",
            vec![],
            &[
                ("strides", "[1, 1]"),
                ("padding", "[0, 0]"),
                ("dilation", "[1, 1]"),
                ("groups", "1"),
                ("channels", "None"),
                ("kernel_size", "None"),
                ("data_layout", "NCHW"),
                ("kernel_layout", "OIHW"),
                ("out_layout", ""),
                ("out_dtype", "void"),
            ],
        ),
        ("SoftmaxAttrs", vec![], &[("axis", "-1")]),
        ("LeakyReluAttrs", vec![], &[("alpha", "0.25")]),
        ("DropoutAttrs", vec![], &[("rate", "0.5")]),
        (
            "BatchNormAttrs",
            vec![],
            &[
                ("axis", "1"),
                ("epsilon", "0.00001"),
                ("center", "true"),
                ("scale", "true"),
            ],
        ),
        (
            "LayerNormAttrs",
            vec![],
            &[
                ("axis", "-1"),
                ("epsilon", "0.00001"),
                ("center", "true"),
                ("scale", "true"),
            ],
        ),
        (
            "GlobalPool2DAttrs",
            vec![],
            &[("layout", "NCHW"), ("out_layout", "")],
        ),
        (
            "BatchMatmulAttrs",
            vec![],
            &[("transpose_a", "false"), ("transpose_b", "false")],
        ),
        (
            "ReduceAttrs",
            vec![],
            &[
                ("axis", "None"),
                ("keepdims", "false"),
                ("exclude", "false"),
            ],
        ),
        ("ArgReduceAttrs", vec![], &[("select_last_index", "false")]),
        ("VarianceAttrs", vec![], &[("unbiased", "false")]),
        (
            "ExpandDimsAttrs",
            vec![("axis", 0.into())],
            &[("num_newaxis", "1")],
        ),
        ("ConcatenateAttrs", vec![], &[("axis", "0")]),
        ("StackAttrs", vec![], &[("axis", "0")]),
        (
            "TakeAttrs",
            vec![],
            &[("batch_dims", "0"), ("axis", "None"), ("mode", "clip")],
        ),
        (
            "GatherNDAttrs",
            vec![],
            &[("batch_dims", "0"), ("index_rank", "None")],
        ),
        (
            "ReshapeLikeAttrs",
            vec![],
            &[("lhs_begin", "0"), ("lhs_end", "None"), ("rhs_begin", "0")],
        ),
        (
            "OneHotAttrs",
            vec![],
            &[("depth", "1"), ("axis", "-1"), ("dtype", "void")],
        ),
        (
            "OnDeviceAttrs",
            vec![],
            &[("constrain_result", "false"), ("constrain_body", "true")],
        ),
    ];
    for (name, fields, expected) in table {
        let attrs = make(&format!("relay.attrs.{name}"), fields.clone()).unwrap();
        for (field, text) in *expected {
            let value = attrs.attribute(field).unwrap();
            let shown = match value.extract::<Array>() {
                Ok(items) => {
                    let items = items.iter().map(|item| {
                        let literal: Ref<isoform_ir::ir::IntImm> = item.extract().unwrap();
                        assert_eq!(literal.dtype, DType::INT32);
                        literal.value
                    });
                    format!("{:?}", items.collect::<Vec<_>>())
                }
                Err(_) => match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => match value.as_dtype() {
                        Some(dtype) => dtype.to_string(),
                        None => format!("{value:?}"),
                    },
                },
            };
            let same = shown.eq_ignore_ascii_case(text)
                || shown
                    .parse::<f64>()
                    .is_ok_and(|number| Ok(number) == text.parse::<f64>());
            assert!(same, "{name}.{field}: expected {text}, got {shown}");
        }
    }
}

#[test]
fn unknown_missing_and_unfit_fields_are_errors() {
    let error = make("relay.attrs.Conv2DAttrs", vec![("stride", 1.into())]).unwrap_err();
    assert!(
        error.message().contains("unknown field 'stride'"),
        "{error}"
    );
    let error = make("relay.attrs.CastAttrs", vec![]).unwrap_err();
    assert_eq!(
        error.message(),
        "relay.attrs.CastAttrs: missing field 'dtype'"
    );
    let error = make("relay.attrs.SoftmaxAttrs", vec![("axis", "x".into())]).unwrap_err();
    assert!(error.message().contains("expected int, got str"), "{error}");
    // Integers become sizes.
    let made = make("relay.attrs.DenseAttrs", vec![("units", 3.into())]).unwrap();
    assert!(structural_equal(made, DenseAttrs::new(size(3))).unwrap());
}

#[test]
fn the_fixture_has_bounds() {
    let made = make("attrs.TestAttrs", vec![("name", "x".into())]).unwrap();
    assert_eq!(made.attribute("axis").unwrap(), 10.into());
    assert!(verify(made, &()).unwrap().is_empty());
    let made = make(
        "attrs.TestAttrs",
        vec![("name", "x".into()), ("axis", 11.into())],
    )
    .unwrap();
    let (_, error) = verify(made, &()).unwrap().remove(0);
    assert_eq!(error.kind_name(), "AttributeError");
    assert!(
        error
            .message()
            .contains("attrs.TestAttrs.axis: expected an int from 1 to 10, got 11")
    );
}

#[test]
fn equality_compares_class_and_fields() {
    let one = || Conv2DAttrs::new().with_groups(2);
    assert!(structural_equal(one(), one()).unwrap());
    assert!(!structural_equal(one(), Conv2DAttrs::new()).unwrap());
    assert!(!structural_equal(ConcatenateAttrs::new(), StackAttrs::new()).unwrap());
    // Floats are compared exactly.
    let close = LeakyReluAttrs::new().with_alpha(0.25 + 1e-12);
    assert!(!structural_equal(LeakyReluAttrs::new(), close).unwrap());
}

#[test]
fn void_is_a_data_type_without_tensors() {
    assert_eq!("void".parse::<DType>().unwrap(), DType::VOID);
    assert_eq!(DType::VOID.to_string(), "void");
    assert_eq!(DType::from_parts(3, 0, 0), Some(DType::VOID));
    assert_eq!(DType::from_parts(0, 0, 0), None);
    assert!(isoform::values::Tensor::new(DType::VOID, vec![], vec![]).is_err());
    let attrs = Value::from(DenseAttrs::new(None));
    let read = isoform::files::from_bytes(&isoform::files::to_bytes(&attrs).unwrap()).unwrap();
    assert!(structural_equal(&attrs, read).unwrap());
    let read = isoform::files::from_json_graph(&isoform::files::to_json_graph(&attrs).unwrap());
    assert!(structural_equal(&attrs, read.unwrap()).unwrap());
    let text = isoform::text::TextOptions::default()
        .defaults(true)
        .to_text(&attrs)
        .unwrap();
    assert!(structural_equal(&attrs, isoform::text::from_text(&text).unwrap()).unwrap());
}
