//! Differences that matter, and their reported places.

use isoform_onnx::proto::{
    ModelProto, NodeProto, SparseTensorProto, TensorProto, TypeProto, TypeValue,
};

use crate::build::*;

/// Two convolutions in a row.
fn base() -> ModelProto {
    let conv = |name: &str, inputs: &str, output: &str| NodeProto {
        name: name.into(),
        ..node("Conv", inputs, output).with(ints("pads", &[1, 1]))
    };
    let mut graph = graph(
        "x",
        vec![conv("c1", "x w1", "a"), conv("c2", "a w2", "b")],
        "b",
    );
    graph.input = vec![value("x", "n 3")];
    graph.output = vec![value("b", "n m")];
    graph.initializer = vec![tensor("w1", &[1.0, 2.0]), tensor("w2", &[3.0, 4.0])];
    model_of(graph)
}

/// Changes the base, and checks that the difference is found at `place`.
#[track_caller]
fn check(place: &str, change: impl Fn(&mut isoform_onnx::proto::GraphProto)) {
    let mut other = base();
    change(other.graph.as_mut().unwrap());
    check_differ(&base(), &other, place);
}

const C1: &str = "node 'c1' (Conv) producing 'a' in graph 'main'";
const C2: &str = "node 'c2' (Conv) producing 'b' in graph 'main'";

#[test]
fn operators() {
    check(C1, |graph| graph.node[0].op_type = "ConvInteger".into());
    check(C2, |graph| graph.node[1].domain = "demo".into());
}

#[test]
fn versions() {
    let mut other = base();
    other.opset_import[0].version = 18;
    // Inputs come after the version, so the last node is the first to differ.
    check_differ(&base(), &other, C2);
}

#[test]
fn attributes() {
    check(C1, |graph| graph.node[0].attribute[0].ints[1] = 2);
    check(C1, |graph| graph.node[0].attribute[0].ints.push(1));
    check(C1, |graph| {
        graph.node[0].attribute[0].name = "strides".into()
    });
    check(C2, |graph| graph.node[1].attribute.clear());
    check(C2, |graph| {
        graph.node[1].attribute.push(int("group", 1));
    });
    check(C2, |graph| {
        graph.node[1].attribute[0] = floats("pads", &[1.0, 1.0])
    });
    check(C2, |graph| graph.node[1].attribute[0] = int("pads", 1));
}

#[test]
fn attribute_text_and_bytes() {
    let with = |text: &[u8]| model("x", vec![node("Op", "x", "y").with(string("s", text))], "y");
    let place = "node #0 (Op) producing 'y' in graph 'main'";
    check_differ(&with(b"a"), &with(b"b"), place);
    check_differ(&with(b"\xff"), &with(b"\xfe"), place);
    check_differ(&with(b"a"), &with(b"\xfe"), place);
}

#[test]
fn one_weight_by_one_ulp() {
    check(C1, |graph| {
        let weight = &mut graph.initializer[0].float_data[1];
        *weight = weight.next_up();
    });
    let mut other = base();
    other.graph.as_mut().unwrap().initializer[1].float_data[0] = 3.5;
    let (left, right) = (load(&base()), load(&other));
    let path = isoform::compare::first_structural_mismatch(left.to_value(), right.to_value());
    let origin = left.node_at(&path.unwrap().unwrap().0).unwrap();
    assert_eq!(origin.input.as_deref(), Some("w2"));
    assert_eq!((origin.op.as_str(), origin.position), ("Conv", 1));
}

#[test]
fn order_and_number_of_inputs() {
    let with = |inputs: &str| model("x y", vec![node("Sub", inputs, "z")], "z");
    let place = "node #0 (Sub) producing 'z' in graph 'main'";
    let input = "input 'x' of graph 'main'";
    check_differ(&with("x y"), &with("y x"), input);
    check_differ(&with("x y"), &with("x x"), "input 'y' of graph 'main'");
    check_differ(&with("x"), &with("x y"), place);
    check_differ(&with("x _ y"), &with("x y"), place);
    check_differ(&with("_ x"), &with("x"), place);
}

#[test]
fn sharing_of_nodes() {
    let once = model(
        "x",
        vec![node("Exp", "x", "a"), node("Add", "a a", "y")],
        "y",
    );
    let twice = model(
        "x",
        vec![
            node("Exp", "x", "a"),
            node("Exp", "x", "b"),
            node("Add", "a b", "y"),
        ],
        "y",
    );
    check_differ(&once, &twice, "node #0 (Exp) producing 'a' in graph 'main'");
}

#[test]
fn which_output() {
    let with = |used: &str| model("x", vec![node("Split", "x", "a b")], used);
    check_differ(&with("a"), &with("b"), "output 'a' of graph 'main'");
    check_differ(&with("a b"), &with("b a"), "output 'a' of graph 'main'");
    check_differ(&with("a"), &with("a a"), "");
    let three = model("x", vec![node("Split", "x", "a b c")], "a");
    check_differ(
        &with("a"),
        &three,
        "node #0 (Split) producing 'a', 'b' in graph 'main'",
    );
}

#[test]
fn types_of_inputs_and_outputs() {
    let x = "input 'x' of graph 'main'";
    check(x, |graph| graph.input[0] = value("x", "n 4"));
    check(x, |graph| graph.input[0] = value("x", "n 3 1"));
    check(x, |graph| graph.input[0] = value("x", "? 3"));
    check(x, |graph| graph.input[0].r#type = None);
    check(x, |graph| {
        if let Some(TypeValue::TensorType(ty)) = graph.input[0]
            .r#type
            .as_mut()
            .and_then(|ty| ty.value.as_mut())
        {
            ty.elem_type = 10;
        }
    });
    check("output 'b' of graph 'main'", |graph| {
        graph.output[0] = value("b", "n 5");
    });
    check("", |graph| graph.input.push(untyped("more")));
}

#[test]
fn unknown_shape_and_scalar() {
    let with = |change: fn(&mut TypeProto)| {
        let mut model = model("x", vec![node("Exp", "x", "y")], "y");
        let mut ty = tensor_type("");
        change(&mut ty);
        model.graph.as_mut().unwrap().input[0].r#type = Some(ty);
        model
    };
    let scalar = with(|_| {});
    let unknown = with(|ty| {
        if let Some(TypeValue::TensorType(ty)) = &mut ty.value {
            ty.shape = None;
        }
    });
    check_differ(&scalar, &unknown, "input 'x' of graph 'main'");
}

#[test]
fn which_symbolic_dimensions_are_the_same() {
    let with = |first: &str, second: &str, output: &str| {
        let mut model = model("x y", vec![node("Add", "x y", "z")], "z");
        let graph = model.graph.as_mut().unwrap();
        graph.input = vec![value("x", first), value("y", second)];
        graph.output = vec![value("z", output)];
        model
    };
    let (y, z) = ("input 'y' of graph 'main'", "output 'z' of graph 'main'");
    check_differ(&with("n", "n", "n"), &with("n", "m", "n"), y);
    check_differ(&with("n", "m", "n"), &with("n", "m", "m"), z);
    check_differ(&with("n", "m", "k k"), &with("n", "m", "k l"), z);
    check_differ(&with("n", "m", "k"), &with("n", "m", "n"), z);
    check_differ(&with("n", "m", "k"), &with("n", "m", "?"), z);
}

#[test]
fn defaults_of_inputs() {
    let with = |ir_version, listed: bool, weight: f32| {
        let mut model = base();
        model.ir_version = Some(ir_version);
        let graph = model.graph.as_mut().unwrap();
        graph.initializer[0].float_data[0] = weight;
        if listed {
            graph.input.push(value("w1", "2"));
        }
        model
    };
    // Before version 4 every initializer had to be listed.
    check_same(&with(3, true, 1.0), &with(3, false, 1.0));
    check_same(&with(3, true, 1.0), &with(4, false, 1.0));
    assert_eq!(load(&with(3, true, 1.0)).program().graph.params.len(), 1);
    // Since then, a listed one can be fed.
    check_differ(
        &with(4, true, 1.0),
        &with(4, false, 1.0),
        "input 'w1' of graph 'main'",
    );
    check_differ(
        &with(4, true, 1.0),
        &with(4, true, 2.0),
        "input 'w1' of graph 'main'",
    );
}

#[test]
fn sparse_constants() {
    let with = |positions: &[i64], values: &[f32]| {
        let mut model = base();
        let graph = model.graph.as_mut().unwrap();
        graph.initializer.remove(0);
        graph.sparse_initializer = vec![SparseTensorProto {
            values: Some(tensor("w1", values)),
            indices: Some(TensorProto {
                data_type: 7,
                dims: vec![positions.len() as i64],
                int64_data: positions.to_vec(),
                ..Default::default()
            }),
            dims: vec![9],
        }];
        model
    };
    let sparse = with(&[1, 4], &[1.0, 2.0]);
    check_same(&sparse, &with(&[1, 4], &[1.0, 2.0]));
    check_differ(&sparse, &with(&[1, 5], &[1.0, 2.0]), C1);
    check_differ(&sparse, &with(&[1, 4], &[1.0, 3.0]), C1);
    check_differ(&sparse, &base(), C1);
}
