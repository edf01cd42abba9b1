//! The differences that a level of equality ignores, and the differences that remain.

use isoform::{Ref, structural_digest, structural_equal};
use isoform_onnx::ir::Program;
use isoform_onnx::levels::Levels;
use isoform_onnx::proto::{
    AttributeProto, AttributeType, ModelProto, NodeProto, SequenceTypeProto, TypeProto, TypeValue,
    ValueInfoProto,
};
use isoform_testing::source::scaled;

use crate::build::*;

const SHAPES: Levels = Levels {
    ignore_shapes: true,
    ..Levels::NONE
};
const OPSETS: Levels = Levels {
    same_opset_meaning: true,
    ..Levels::NONE
};
const DEFAULTS: Levels = Levels {
    defaults: true,
    ..Levels::NONE
};

/// The unchanged models differ; at a level, the models are equal or different.
#[track_caller]
fn check(level: Levels, left: &ModelProto, right: &ModelProto, is_equal: bool) {
    let programs = [left, right].map(|model| load(model).program().clone());
    assert!(!structural_equal(&programs[0], &programs[1]).unwrap());
    let (left, right) = level.apply_pair(&programs[0], &programs[1]).unwrap();
    assert_eq!(structural_equal(&left, &right).unwrap(), is_equal);
    let again = level.apply_pair(&left, &right).unwrap();
    assert!(again.0.same_as(&left) && again.1.same_as(&right));
    // A single level decides like all levels together.
    let (left, right) = Levels::ALL.apply_pair(&programs[0], &programs[1]).unwrap();
    assert_eq!(structural_equal(&left, &right).unwrap(), is_equal);
}

#[track_caller]
fn same_at(level: Levels, left: &ModelProto, right: &ModelProto) {
    check(level, left, right, true);
}

#[track_caller]
fn differ_at(level: Levels, left: &ModelProto, right: &ModelProto) {
    check(level, left, right, false);
}

fn one(op: &str, inputs: &str, attributes: Vec<AttributeProto>) -> ModelProto {
    let attributes = attributes.into_iter();
    let node = attributes.fold(node(op, inputs, "y"), |node, attribute| {
        node.with(attribute)
    });
    model("x w", vec![node], "y")
}

fn at_opset(mut model: ModelProto, version: i64) -> ModelProto {
    model.opset_import = vec![opset("", version), opset("demo", 1)];
    model
}

fn typed(input: ValueInfoProto, output: ValueInfoProto) -> ModelProto {
    let mut graph = graph("x", vec![node("Relu", "x", "y")], "y");
    graph.input = vec![input];
    graph.output = vec![output];
    model_of(graph)
}

fn with_elem(shape: &str, elem: i32) -> ValueInfoProto {
    let mut made = value("x", shape);
    if let Some(TypeValue::TensorType(ty)) = made.r#type.as_mut().and_then(|it| it.value.as_mut()) {
        ty.elem_type = elem;
    }
    made
}

fn sequence_of(shape: &str) -> ValueInfoProto {
    let elem = SequenceTypeProto {
        elem_type: Some(tensor_type(shape)),
    };
    ValueInfoProto {
        r#type: Some(TypeProto {
            value: Some(TypeValue::SequenceType(Box::new(elem))),
            ..Default::default()
        }),
        ..untyped("x")
    }
}

#[test]
fn no_level_changes_nothing() {
    let program = load(&one("Gemm", "x w", vec![float("alpha", 1.0)]))
        .program()
        .clone();
    assert!(Levels::default().apply(&program).unwrap().same_as(&program));
    assert_eq!(Levels::default(), Levels::NONE);
}

#[test]
fn a_program_without_differences_stays_the_same_object() {
    let program = load(&at_opset(one("Gemm", "x w", vec![]), 13))
        .program()
        .clone();
    assert!(Levels::ALL.apply(&program).unwrap().same_as(&program));
}

#[test]
fn shapes_are_ignored_and_element_types_are_not() {
    let fixed = typed(value("x", "1 3"), value("y", "1 3"));
    let named = typed(value("x", "batch 3"), value("y", "batch 3"));
    same_at(SHAPES, &fixed, &named);
    same_at(SHAPES, &fixed, &typed(value("x", "?"), value("y", "?")));
    differ_at(
        SHAPES,
        &fixed,
        &typed(with_elem("1 3", 11), value("y", "1 3")),
    );
    differ_at(
        SHAPES,
        &fixed,
        &typed(value("x", "1 3"), with_elem("1 3", 11)),
    );
    let sequences = [sequence_of("1"), sequence_of("n")];
    let [left, right] = sequences.map(|input| typed(input, untyped("y")));
    same_at(SHAPES, &left, &right);
    differ_at(SHAPES, &left, &typed(value("x", "1"), untyped("y")));
}

#[test]
fn a_type_counts_only_where_both_declare_it() {
    let full = typed(value("x", "1"), value("y", "1"));
    for bare in [
        typed(untyped("x"), value("y", "1")),
        typed(value("x", "1"), untyped("y")),
        typed(with_elem("1", 0), value("y", "1")),
    ] {
        same_at(SHAPES, &full, &bare);
        same_at(SHAPES, &bare, &full);
    }
    // A lone program cannot know the declarations of another program.
    let bare = load(&typed(untyped("x"), value("y", "1")));
    let [left, right] = [load(&full), bare].map(|it| Levels::ALL.apply(it.program()).unwrap());
    assert!(!structural_equal(&left, &right).unwrap());
}

#[test]
fn types_of_bodies_follow_from_the_computation() {
    let looping = |input: ValueInfoProto, output: ValueInfoProto| {
        let mut body = graph("i c v", vec![node("Relu", "v", "w")], "c w");
        body.input[2] = input;
        body.output[1] = output;
        let node = node("Loop", "n _ x", "y").with(graph_attr("body", body));
        model("n x", vec![node], "y")
    };
    let bare = looping(untyped("v"), untyped("w"));
    same_at(SHAPES, &bare, &looping(value("v", "3"), value("w", "n")));
    let mut double = value("v", "3");
    double.r#type = with_elem("3", 11).r#type;
    same_at(SHAPES, &bare, &looping(double, untyped("w")));
}

#[test]
fn types_that_are_attributes_are_kept() {
    let optional = |shape| one("Optional", "", vec![type_attr("type", tensor_type(shape))]);
    differ_at(SHAPES, &optional("1"), &optional("2"));
}

#[test]
fn weights_keep_their_shapes() {
    let with = |data: &[f32]| {
        let mut graph = graph("x", vec![node("Add", "x w", "y")], "y");
        graph.initializer = vec![tensor("w", data)];
        model_of(graph)
    };
    differ_at(Levels::ALL, &with(&[1.0]), &with(&[1.0, 1.0]));
}

#[test]
fn operator_sets_are_compared_by_meaning() {
    let relu = |version| at_opset(one("Relu", "x", vec![]), version);
    same_at(OPSETS, &relu(14), &relu(22));
    // Versions 13 and 14 only allow more types.
    same_at(OPSETS, &relu(6), &relu(22));
    // The first version has an attribute that says where to put the result.
    differ_at(OPSETS, &relu(5), &relu(6));
    let gelu = |version| at_opset(one("Gelu", "x", vec![]), version);
    same_at(OPSETS, &gelu(20), &gelu(21));
    // The operator did not exist, so the table cannot help.
    differ_at(OPSETS, &gelu(18), &gelu(19));
    // These operator sets are newer than the table.
    differ_at(OPSETS, &relu(9998), &relu(9999));
}

/// Two calls of an operator in two operator sets.
#[track_caller]
fn versions(
    is_same: bool,
    op: &str,
    (old, old_attributes): (i64, Vec<AttributeProto>),
    (new, new_attributes): (i64, Vec<AttributeProto>),
) {
    let made = |version, attributes| at_opset(one(op, "x w", attributes), version);
    let (old, new) = (made(old, old_attributes), made(new, new_attributes));
    check(OPSETS, &old, &new, is_same);
}

#[test]
fn versions_with_new_attributes_mean_the_same_without_them() {
    let to = || int("to", 1);
    versions(true, "Cast", (9, vec![to()]), (24, vec![to()]));
    versions(true, "Reshape", (5, vec![]), (25, vec![]));
    versions(
        false,
        "Reshape",
        (13, vec![]),
        (14, vec![int("allowzero", 1)]),
    );
    versions(true, "TopK", (10, vec![]), (11, vec![]));
    versions(false, "TopK", (10, vec![]), (11, vec![int("largest", 0)]));
    versions(true, "BatchNormalization", (7, vec![]), (15, vec![]));
}

#[test]
fn versions_differ_where_the_same_call_means_something_else() {
    versions(false, "Softmax", (11, vec![]), (13, vec![]));
    versions(
        false,
        "Softmax",
        (11, vec![int("axis", 1)]),
        (13, vec![int("axis", 1)]),
    );
    versions(false, "PRelu", (6, vec![]), (7, vec![]));
    versions(false, "OneHot", (9, vec![]), (11, vec![]));
    versions(false, "Dropout", (7, vec![]), (10, vec![]));
    versions(false, "GroupNormalization", (18, vec![]), (21, vec![]));
    versions(false, "RoiAlign", (10, vec![]), (16, vec![]));
}

#[test]
fn versions_differ_only_with_the_attribute_that_changed() {
    let ceil = |value| vec![ints("kernel_shape", &[2]), int("ceil_mode", value)];
    versions(
        true,
        "MaxPool",
        (8, vec![ints("kernel_shape", &[2])]),
        (22, vec![ints("kernel_shape", &[2])]),
    );
    versions(true, "AveragePool", (10, ceil(0)), (22, ceil(0)));
    versions(false, "MaxPool", (11, ceil(1)), (22, ceil(1)));
    versions(true, "MaxPool", (12, ceil(1)), (21, ceil(1)));
    versions(
        false,
        "ConvTranspose",
        (1, vec![ints("output_shape", &[2])]),
        (11, vec![ints("output_shape", &[2])]),
    );
}

/// A call with a list of integers as an input after `x`.
fn with_list(op: &str, version: i64, list: &[i64]) -> ModelProto {
    let mut made = graph("x w", vec![node(op, "x list", "y")], "y");
    let mut tensor = tensor("list", &[]);
    tensor.data_type = 7;
    tensor.dims = vec![list.len() as i64];
    tensor.float_data.clear();
    tensor.int64_data = list.to_vec();
    made.initializer = vec![tensor];
    at_opset(model_of(made), version)
}

#[test]
fn attributes_that_became_inputs_mean_the_same() {
    let old =
        |op, version, name, list: &[i64]| at_opset(one(op, "x", vec![ints(name, list)]), version);
    same_at(
        OPSETS,
        &old("ReduceMean", 17, "axes", &[1]),
        &with_list("ReduceMean", 18, &[1]),
    );
    same_at(
        OPSETS,
        &old("ReduceMax", 11, "axes", &[1, -1]),
        &with_list("ReduceMax", 20, &[1, -1]),
    );
    same_at(
        OPSETS,
        &old("Unsqueeze", 1, "axes", &[0]),
        &with_list("Unsqueeze", 21, &[0]),
    );
    differ_at(
        OPSETS,
        &old("Unsqueeze", 11, "axes", &[0]),
        &with_list("Unsqueeze", 13, &[1]),
    );
    // Without axes, the number of dimensions decides.
    same_at(
        OPSETS,
        &at_opset(one("ReduceSum", "x", vec![]), 11),
        &at_opset(one("ReduceSum", "x", vec![]), 13),
    );
    // An empty list differs from an omitted list.
    differ_at(
        OPSETS,
        &old("Squeeze", 11, "axes", &[]),
        &with_list("Squeeze", 13, &[]),
    );
    let top = at_opset(one("TopK", "x", vec![int("k", 3)]), 1);
    same_at(OPSETS, &top, &with_list("TopK", 11, &[3]));
}

#[test]
fn the_number_of_parts_says_what_the_attribute_says() {
    let split = |version, attributes: Vec<AttributeProto>| {
        let attributes = attributes.into_iter();
        let node = attributes.fold(node("Split", "x", "y z"), |node, it| node.with(it));
        at_opset(model("x", vec![node], "y z"), version)
    };
    same_at(
        OPSETS,
        &split(13, vec![]),
        &split(18, vec![int("num_outputs", 2)]),
    );
    differ_at(
        OPSETS,
        &split(13, vec![]),
        &split(18, vec![int("num_outputs", 3)]),
    );
}

#[test]
fn operator_sets_of_other_domains_are_compared_by_meaning() {
    let scaler = |domain: &str, version: i64| {
        let node = node("Scaler", "x", "y").in_domain(domain);
        let mut made = model("x", vec![node], "y");
        made.opset_import = vec![opset("", 17), opset(domain, version)];
        made
    };
    same_at(OPSETS, &scaler("ai.onnx.ml", 1), &scaler("ai.onnx.ml", 3));
    differ_at(OPSETS, &scaler("demo", 1), &scaler("demo", 2));
}

/// Operators with attributes that are set to their defaults.
fn defaults() -> Vec<(&'static str, &'static str, Vec<AttributeProto>)> {
    vec![
        (
            "Gemm",
            "x w",
            vec![float("alpha", 1.0), float("beta", 1.0), int("transA", 0)],
        ),
        (
            "Conv",
            "x w",
            vec![string("auto_pad", b"NOTSET"), int("group", 1)],
        ),
        (
            "MaxPool",
            "x",
            vec![int("ceil_mode", 0), int("storage_order", 0)],
        ),
        ("LeakyRelu", "x", vec![float("alpha", 0.01)]),
        ("Softmax", "x", vec![int("axis", -1)]),
        (
            "ReduceSum",
            "x",
            vec![int("keepdims", 1), int("noop_with_empty_axes", 0)],
        ),
        (
            "MeanVarianceNormalization",
            "x",
            vec![ints("axes", &[0, 2, 3])],
        ),
        (
            "RNN",
            "x w w",
            vec![strings("activations", &["Tanh", "Tanh"])],
        ),
        (
            "LayerNormalization",
            "x w",
            vec![float("epsilon", 1e-5), int("stash_type", 1)],
        ),
        (
            "Resize",
            "x",
            vec![string("mode", b"nearest"), float("cubic_coeff_a", -0.75)],
        ),
    ]
}

#[test]
fn written_out_defaults_are_the_same_as_absent_ones() {
    for (op, inputs, attributes) in defaults() {
        same_at(
            DEFAULTS,
            &one(op, inputs, attributes),
            &one(op, inputs, vec![]),
        );
    }
}

#[test]
fn other_values_count() {
    let others: Vec<(&str, &str, AttributeProto)> = vec![
        ("Gemm", "x w", float("alpha", 2.0)),
        ("Gemm", "x w", int("transA", 1)),
        ("Conv", "x w", string("auto_pad", b"SAME_UPPER")),
        // Zero and minus zero are different numbers.
        ("ThresholdedRelu", "x", float("alpha", -0.0)),
        ("MeanVarianceNormalization", "x", ints("axes", &[0, 2])),
        // These depend on unknown ranks.
        ("Conv", "x w", ints("strides", &[1, 1])),
        ("Conv", "x w", ints("dilations", &[1, 1])),
        ("Transpose", "x", ints("perm", &[1, 0])),
    ];
    for (op, inputs, attribute) in others {
        differ_at(
            DEFAULTS,
            &one(op, inputs, vec![attribute]),
            &one(op, inputs, vec![]),
        );
    }
}

/// An operator on two inputs; `...` is an unknown rank.
fn shaped(op: &str, shapes: [&str; 2], attributes: &[AttributeProto]) -> ModelProto {
    let node = attributes
        .iter()
        .fold(node(op, "x w", "y"), |node, it| node.with(it.clone()));
    let mut made = model("x w", vec![node], "y");
    let graph = made.graph.as_mut().unwrap();
    let input = |name, shape| match shape {
        "..." => untyped(name),
        _ => value(name, shape),
    };
    graph.input = vec![input("x", shapes[0]), input("w", shapes[1])];
    at_opset(made, 19)
}

const IMAGE: [&str; 2] = ["n 4 h 8", "4 4 3 3"];

#[test]
fn defaults_that_depend_on_known_shapes_count() {
    let whole = |op: &str| shaped(op, IMAGE, &[]);
    for op in ["Conv", "ConvTranspose", "ConvInteger"] {
        for attribute in [
            ints("strides", &[1, 1]),
            ints("dilations", &[1, 1]),
            ints("pads", &[0, 0, 0, 0]),
            ints("kernel_shape", &[3, 3]),
        ] {
            same_at(DEFAULTS, &whole(op), &shaped(op, IMAGE, &[attribute]));
        }
        for attribute in [
            ints("strides", &[1, 2]),
            ints("strides", &[1]),
            ints("pads", &[0, 0]),
            ints("kernel_shape", &[3, 2]),
        ] {
            differ_at(DEFAULTS, &whole(op), &shaped(op, IMAGE, &[attribute]));
        }
    }
    let padding = ints("output_padding", &[0, 0]);
    let transposed = shaped("ConvTranspose", IMAGE, &[padding]);
    same_at(DEFAULTS, &whole("ConvTranspose"), &transposed);
    // The rank is that of the kernel.
    for op in ["MaxPool", "AveragePool", "LpPool"] {
        let of = |more: &[AttributeProto]| {
            let kernel = [ints("kernel_shape", &[2, 2])];
            shaped(op, ["...", "..."], &[&kernel, more].concat())
        };
        for attribute in [
            ints("strides", &[1, 1]),
            ints("dilations", &[1, 1]),
            ints("pads", &[0, 0, 0, 0]),
        ] {
            same_at(DEFAULTS, &of(&[]), &of(&[attribute]));
        }
        let same = || string("auto_pad", b"SAME_UPPER");
        // The pads are not used here, and one of the two should not be there.
        let both = of(&[same(), ints("pads", &[0, 0, 0, 0])]);
        differ_at(DEFAULTS, &of(&[same()]), &both);
    }
    let axes = |perm: &[i64]| shaped("Transpose", ["2 n 4", "1"], &[ints("perm", perm)]);
    let bare = shaped("Transpose", ["2 n 4", "1"], &[]);
    same_at(DEFAULTS, &bare, &axes(&[2, 1, 0]));
    differ_at(DEFAULTS, &bare, &axes(&[1, 2, 0]));
    differ_at(DEFAULTS, &bare, &axes(&[1, 0]));
}

#[test]
fn attributes_with_unknown_defaults_are_compared_as_they_are_written() {
    let perm = [ints("perm", &[1, 0])];
    let typed = |attributes: &[_]| shaped("Transpose", ["2 3", "1"], attributes);
    let untyped = |attributes: &[_]| shaped("Transpose", ["...", "1"], attributes);
    same_at(Levels::ALL, &typed(&perm), &untyped(&perm));
    same_at(Levels::ALL, &typed(&[]), &untyped(&perm));
}

#[test]
fn a_default_is_that_of_the_version() {
    let softmax = |version, axis: Option<i64>| {
        let axis = axis.map(|axis| int("axis", axis));
        at_opset(one("Softmax", "x", axis.into_iter().collect()), version)
    };
    same_at(DEFAULTS, &softmax(12, Some(1)), &softmax(12, None));
    differ_at(DEFAULTS, &softmax(13, Some(1)), &softmax(13, None));
    same_at(DEFAULTS, &softmax(13, Some(-1)), &softmax(13, None));
    differ_at(DEFAULTS, &softmax(9999, Some(-1)), &softmax(9999, None));
    same_at(Levels::ALL, &softmax(13, Some(-1)), &softmax(17, None));
}

#[test]
fn unknown_operators_keep_their_attributes() {
    let custom = |attributes: Vec<AttributeProto>| {
        let node = |node: NodeProto| model("x", vec![node.in_domain("demo")], "y");
        let made = attributes.into_iter();
        node(made.fold(crate::build::node("Gemm", "x", "y"), |it, attr| {
            it.with(attr)
        }))
    };
    differ_at(
        DEFAULTS,
        &custom(vec![float("alpha", 1.0)]),
        &custom(vec![]),
    );
}

#[test]
fn defaults_of_local_functions_count_as_given() {
    let calling = |attributes: Vec<AttributeProto>| {
        let mut scale = function(
            "Scale",
            "x",
            vec![node("LeakyRelu", "x", "y").with(ref_attr("alpha", "by", AttributeType::Float))],
            "y",
        );
        scale.attribute_proto = vec![float("by", 0.5)];
        let call = attributes.into_iter().fold(
            node("Scale", "x", "y").in_domain("demo"),
            |node, attribute| node.with(attribute),
        );
        let mut proto = model("x", vec![call], "y");
        proto.functions = vec![scale];
        proto
    };
    same_at(DEFAULTS, &calling(vec![float("by", 0.5)]), &calling(vec![]));
    differ_at(
        DEFAULTS,
        &calling(vec![float("by", 0.01)]),
        &calling(vec![]),
    );
}

#[test]
fn shared_nodes_and_inputs_stay_shared() {
    let shared = |shape: &str| {
        let nodes = vec![
            node("Gemm", "x x", "a").with(float("alpha", 1.0)),
            node("Add", "a a", "y"),
        ];
        let mut graph = graph("x", nodes, "y");
        graph.input = vec![value("x", shape)];
        model_of(graph)
    };
    same_at(SHAPES, &shared("1 1"), &shared("n n"));
    let program: Ref<Program> = load(&shared("1 1")).program().clone();
    let rewritten = Levels::ALL.apply(&program).unwrap();
    let counted = |program: &Ref<Program>| {
        let listing = isoform_onnx::layout::list(program);
        listing
            .bodies
            .iter()
            .map(|body| body.nodes.len())
            .sum::<usize>()
    };
    assert_eq!((counted(&program), counted(&rewritten)), (2, 2));
    assert_ne!(
        structural_digest(&program).unwrap(),
        structural_digest(&rewritten).unwrap()
    );
}

#[test]
fn a_long_row_of_nodes_is_rewritten() {
    let count = scaled(200_000);
    let nodes = (0..count).map(|at| {
        let names = (format!("v{at}"), format!("v{}", at + 1));
        node("LeakyRelu", &names.0, &names.1).with(float("alpha", 0.01))
    });
    let program = load(&model("v0", nodes.collect(), &format!("v{count}")))
        .program()
        .clone();
    let rewritten = Levels::ALL.apply(&program).unwrap();
    assert!(!rewritten.same_as(&program));
    assert!(Levels::ALL.apply(&rewritten).unwrap().same_as(&rewritten));
}
