//! Programs from reports by users of other optimisers about wrong results.

use bytes::Bytes;
use isoform_onnx::optimize::{Fold, OptimizeOptions};
use isoform_onnx::proto::{AttributeType, ModelProto, NodeProto, TensorProto};
use isoform_onnx::{decode_model, to_bytes};

use crate::build;
use crate::optimize::check::{check_equal, lines, optimize, program};
use crate::optimize::text;

/// The model after optimisation, in written form.
#[track_caller]
fn written(model: &ModelProto) -> ModelProto {
    let done = optimize(&OptimizeOptions::default(), build::load(model).program());
    let bytes = to_bytes(&done.program).unwrap_or_else(|error| panic!("{error}"));
    decode_model(bytes.into()).unwrap()
}

/// The default options leave the program unchanged.
#[track_caller]
fn check_stays(opset: i64, text: &str) {
    let original = program(opset, text);
    let done = optimize(&OptimizeOptions::default(), &original);
    check_equal(&original, &done.program, text);
}

#[track_caller]
fn check_becomes(opset: i64, text: &str, after: &str) {
    let done = optimize(&OptimizeOptions::default(), &program(opset, text));
    let after = program(opset, &text::with_header(text, after));
    check_equal(&after, &done.program, text);
}

fn outputs(model: &ModelProto) -> Vec<String> {
    let outputs = &model.graph.as_ref().unwrap().output;
    outputs.iter().map(|output| output.name.clone()).collect()
}

#[test]
fn declared_types_of_outputs_are_not_believed() {
    let mut model = text::model(17, "x: float[2, 3] => y = Reshape(x, [6]); y");
    let graph = model.graph.as_mut().unwrap();
    graph.output[0].r#type = Some(build::tensor_type("1 6"));
    let original = build::load(&model).program().clone();
    let done = optimize(&OptimizeOptions::default(), &original);
    check_equal(&original, &done.program, "a wrong type of an output");
}

#[test]
fn types_of_values_between_nodes_are_not_believed() {
    let text =
        "x: float[N, 6], s: int64[2] => y = Reshape(x, s); Relu(Reshape(y, [2, 3])), Shape(y)";
    let mut model = text::model(17, text);
    let options = OptimizeOptions::default();
    let expected = optimize(&options, build::load(&model).program()).program;
    model.graph.as_mut().unwrap().value_info = vec![build::value("y", "2 3")];
    let done = optimize(&OptimizeOptions::default(), build::load(&model).program());
    check_equal(&expected, &done.program, "a wrong type of a value");
}

#[test]
fn no_types_of_values_are_added_and_those_of_lost_ones_go() {
    let mut model = text::model(17, "x: float[2] => y = Identity(x); z = Relu(y); Neg(z)");
    let none = written(&model);
    assert!(none.graph.unwrap().value_info.is_empty());
    model.graph.as_mut().unwrap().value_info = vec![build::value("y", "2"), build::value("z", "2")];
    let kept = written(&model).graph.unwrap().value_info;
    let names: Vec<&str> = kept.iter().map(|value| value.name.as_str()).collect();
    assert_eq!(names, ["z"]);
}

#[test]
fn attributes_are_those_of_the_version() {
    let text = "x: float[3, 1, 4] => Relu(Transpose{perm=[1, 0, 2]}(x))";
    for opset in [5, 9, 13, 14, 17] {
        let graph = written(&text::model(opset, text)).graph.unwrap();
        let reshape = graph.node.iter().find(|node| node.op_type == "Reshape");
        assert!(reshape.unwrap().attribute.is_empty(), "version {opset}");
    }
}

#[test]
fn a_branch_may_return_what_is_outside() {
    let text =
        "x: float[N], c: bool[] => If{then_branch={=> Identity(x)}, else_branch={=> Relu(x)}}(c)";
    let model = written(&text::model(17, text));
    let graph = model.graph.as_ref().unwrap();
    let branch = |name: &str| {
        let attrs = &graph.node[0].attribute;
        let attr = attrs.iter().find(|attr| attr.name == name).unwrap();
        attr.g.clone().unwrap()
    };
    assert_eq!(branch("then_branch").node[0].op_type, "Identity");
    assert_eq!(branch("else_branch").node[0].op_type, "Relu");
    // A constant and a repeated value have separate nodes, too.
    let text = "x: float[2], c: bool[] => a, b = If{then_branch={=> float[1, 2], float[1, 2]}, else_branch={=> Relu(x), Relu(x)}}(c); Add(a, b)";
    let model = written(&text::model(17, text));
    build::load(&model);
    for attr in &model.graph.unwrap().node[0].attribute {
        let branch = attr.g.as_ref().unwrap();
        assert_ne!(branch.output[0].name, branch.output[1].name);
        for output in &branch.output {
            let mut names = branch.node.iter().flat_map(|node| &node.output);
            let initial = branch
                .initializer
                .iter()
                .any(|tensor| tensor.name == output.name);
            assert!(initial || names.any(|name| *name == output.name));
        }
    }
}

#[test]
fn outputs_keep_their_names_and_number() {
    for text in [
        "x: float[N] => a = Identity(x); a",
        "x: float[N] => a = Relu(x); b = Identity(a); c = Identity(a); a, b, c",
        "x: float[N] => a = Relu(x); b = Relu(x); a, b",
        "x: float[N] => a = Identity(x); b = Identity(x); b, a",
        "x: float[N] => a = Add(float[1, 2], float[3, 4]); b = Add(float[1, 2], float[3, 4]); a, b, x",
    ] {
        let model = text::model(17, text);
        let after = written(&model);
        assert_eq!(outputs(&after), outputs(&model), "{text}");
        build::load(&after);
    }
}

/// A model with a weight that is an initialiser and an input.
fn listed(ir_version: i64) -> ModelProto {
    let mut model = text::model(9, "x: float[2], w: float[2] => Add(x, Neg(w))");
    model.ir_version = Some(ir_version);
    let graph = model.graph.as_mut().unwrap();
    graph.initializer = vec![build::tensor("w", &[1.0, 2.0])];
    model
}

#[test]
fn the_input_of_an_initialiser_goes_with_it() {
    let graph = written(&listed(3)).graph.unwrap();
    let computing = |node: &&NodeProto| node.op_type != "Constant";
    assert_eq!(graph.node.iter().filter(computing).count(), 1);
    let given = |name: &str| graph.initializer.iter().any(|it| it.name == name);
    let mandatory = graph.input.iter().filter(|input| !given(&input.name));
    let mandatory: Vec<&str> = mandatory.map(|input| input.name.as_str()).collect();
    assert_eq!(mandatory, ["x"]);
}

#[test]
fn a_default_is_not_a_constant() {
    let graph = written(&listed(4)).graph.unwrap();
    let ops: Vec<&str> = graph
        .node
        .iter()
        .map(|node| node.op_type.as_str())
        .collect();
    assert_eq!(ops, ["Neg", "Add"]);
    assert_eq!(graph.input.len(), 2);
}

#[test]
fn one_name_in_two_scopes_stays_two_values() {
    let text = "x: float[1], c: bool[] => If{then_branch={=> a = Neg(float[1]); r = Add(x, a); r}, else_branch={=> a = Neg(float[2]); r = Add(x, a); r}}(c)";
    let model = written(&text::model(17, text));
    let done = optimize(&OptimizeOptions::default(), build::load(&model).program());
    let expected = "x: float[1], c: bool[] => If{then_branch={=> Add(x, float[-1])}, else_branch={=> Add(x, float[-2])}}(c)";
    check_equal(&program(17, expected), &done.program, text);
}

#[test]
fn constants_grow_by_little() {
    let tiles: Vec<String> = (0..100)
        .map(|at| format!("Tile(float[{at}, 0.5], [12800])"))
        .collect();
    let many = format!("x: float[25600] => Sum(x, {})", tiles.join(", "));
    for text in [
        many.as_str(),
        "x: float[1] => Add(x, Expand(float(2), [5000000]))",
        "x: float[1] => Add(x, Tile(float[1, 2], [5000000]))",
        "x: int64[1] => Add(x, Range(int64(0), int64(5000000), int64(1)))",
        "x: float[1] => Add(x, ConstantOfShape{value=float[1]}([5000, 1000]))",
        "x: int64[1] => Add(x, OneHot(int64<5000>[1], int64(1000), int64[0, 1]))",
        "x: float[1] => Add(x, Pad(float[1, 2], [0, 9000000]))",
    ] {
        let original = program(17, text);
        let report = optimize(&OptimizeOptions::default(), &original).report;
        let growth = report.bytes_after.saturating_sub(report.bytes_before);
        assert!(growth <= 16 << 10, "{text}: {growth} bytes");
        assert!(report.nodes_after <= report.nodes_before, "{text}");
    }
}

#[test]
fn quantised_weights_stay() {
    check_stays(
        17,
        "x: float[2] => MatMul(x, DequantizeLinear(int8<2,2>[1, 2, 3, 4], float(0.5)))",
    );
    check_stays(
        17,
        "x: float[2] => a, b, c = DynamicQuantizeLinear(x); d, e, f = DynamicQuantizeLinear(float[1, 2]); MatMulInteger(a, d, c, f), Mul(b, e)",
    );
}

fn raw(name: &str, elem: i32, dims: &[i64], data: &[u8]) -> TensorProto {
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: elem,
        raw_data: Some(Bytes::copy_from_slice(data)),
        ..Default::default()
    }
}

/// The nodes that are left of two equal calls on two constants.
fn left_of_two(first: TensorProto, second: TensorProto) -> usize {
    let mut model = text::model(
        19,
        "c: bool[] => Add(If{then_branch={=> a = demo::Use(v); b = demo::Use(w); demo::Both(a, b)}, else_branch={=> c}}(c), c)",
    );
    let graph = model.graph.as_mut().unwrap();
    graph.node.clear();
    graph.node = vec![
        build::node("Identity", "v", "p"),
        build::node("Identity", "w", "q"),
        build::node("Shape", "p", "s"),
        build::node("Where", "c p p", "a"),
        build::node("Where", "c q q", "b"),
    ];
    graph.initializer = vec![
        TensorProto {
            name: "v".into(),
            ..first
        },
        TensorProto {
            name: "w".into(),
            ..second
        },
    ];
    graph.output = vec![build::untyped("a"), build::untyped("b")];
    let options = OptimizeOptions::default().only(["drop-identity", "merge-equal-calls"]);
    lines(&optimize(&options, build::load(&model).program()).program).len()
}

#[test]
fn constants_are_equal_by_bytes_type_and_shape() {
    let nan = |payload: u32| (0x7fc0_0000 | payload).to_le_bytes();
    let check = |first: TensorProto, second: TensorProto, left: usize| {
        let what = format!("{first:?} and {second:?}");
        assert_eq!(left_of_two(first, second), left, "{what}");
    };
    check(raw("v", 1, &[1], &nan(1)), raw("w", 1, &[1], &nan(1)), 1);
    check(raw("v", 1, &[1], &nan(1)), raw("w", 1, &[1], &nan(2)), 2);
    check(
        raw("v", 1, &[1], &[0; 4]),
        raw("w", 1, &[1], &[0, 0, 0, 0x80]),
        2,
    );
    check(raw("v", 1, &[1], &[0; 4]), raw("w", 6, &[1], &[0; 4]), 2);
    check(raw("v", 1, &[1], &[0; 4]), raw("w", 1, &[1, 1], &[0; 4]), 2);
    for elem in [10, 16, 17, 18, 19, 20] {
        let wide = if elem == 10 || elem == 16 { 2 } else { 1 };
        let (ones, twos) = (vec![1; wide], vec![2; wide]);
        check(raw("v", elem, &[1], &ones), raw("w", elem, &[1], &ones), 1);
        check(raw("v", elem, &[1], &ones), raw("w", elem, &[1], &twos), 2);
    }
    for elem in [21, 22] {
        check(
            raw("v", elem, &[2], &[0x21]),
            raw("w", elem, &[2], &[0x21]),
            1,
        );
        check(
            raw("v", elem, &[2], &[0x21]),
            raw("w", elem, &[2], &[0x31]),
            2,
        );
    }
    let text = |text: &'static str| TensorProto {
        dims: vec![1],
        data_type: 8,
        string_data: vec![Bytes::from_static(text.as_bytes())],
        ..Default::default()
    };
    check(text("a"), text("a"), 1);
    check(text("a"), text("b"), 2);
}

#[test]
fn random_calls_stay_apart_in_every_scope() {
    check_stays(
        17,
        "x: float[2] => Sub(RandomNormalLike{seed=1.0}(x), RandomNormalLike{seed=1.0}(x))",
    );
    check_stays(
        17,
        "x: float[2], c: bool[] => If{then_branch={=> Sub(RandomNormalLike(x), RandomNormalLike(x))}, else_branch={=> Neg(x)}}(c)",
    );
    check_stays(
        17,
        "fn() x: float[2] => Sub(RandomNormalLike(x), RandomNormalLike(x))",
    );
    // Two calls of a function that draws numbers are not merged.
    for (inner, nodes) in [("RandomNormalLike(x)", 4), ("Sqrt(x)", 3)] {
        let mut model = text::model(17, &format!("fn() x: float[2] => {inner}"));
        let graph = model.graph.as_mut().unwrap();
        let mut second = graph.node[0].clone();
        let first = graph.node[0].output[0].clone();
        second.output[0] = "second".into();
        graph.node.push(second);
        graph
            .node
            .push(build::node("Sub", &format!("{first} second"), "d"));
        graph.output = vec![build::untyped("d")];
        let done = optimize(&OptimizeOptions::default(), build::load(&model).program());
        let left = lines(&done.program);
        assert_eq!(left.len(), nodes, "{inner}: {left:?}");
    }
    let body = "cond={i: int64[], go: bool[] => Identity(go), RandomNormal{shape=[2]}()}";
    let text = format!(
        "n: int64[] => Sub(Loop{{{0}}}(n, bool(1)), Loop{{{0}}}(n, bool(1)))",
        body.replace("cond=", "body=")
    );
    let done = optimize(&OptimizeOptions::default(), &program(17, &text));
    let loops = lines(&done.program);
    assert_eq!(
        loops.iter().filter(|op| *op == "Loop").count(),
        2,
        "{loops:?}"
    );
}

#[test]
fn what_holds_for_finite_numbers_only_is_left() {
    check_stays(17, "x: float[N] => Mul(x, float(0))");
    check_stays(17, "x: float[N] => Sub(x, x)");
    check_stays(17, "x: float[N] => Div(float(0), x)");
    check_stays(17, "x: float[N] => Div(x, x)");
    check_stays(17, "x: float[N] => Pow(x, float(0))");
    check_stays(17, "x: float[N] => Add(Sub(x, float(1)), float(1))");
    check_stays(17, "x: float[N] => Mul(Mul(x, float(3)), float(5))");
    check_stays(17, "x: int32[N] => Mul(Div(x, int32(2)), int32(2))");
    check_stays(17, "x: int32[N] => Div(x, x)");
}

#[test]
fn convolutions_are_fused_by_choice() {
    let text = "x: float[N, 1, 5] => Mul(Conv(x, float<2,1,1>[1, 2]), float(2))";
    check_stays(17, text);
    let fuse = OptimizeOptions::default().fuse(true);
    assert_eq!(
        lines(&optimize(&fuse, &program(17, text)).program),
        ["Conv"]
    );
}

#[test]
fn sizes_of_0_and_1_and_scalars() {
    check_becomes(17, "x: float[0] => Relu(Reshape(x, [0]))", "Relu(x)");
    // With a first size of 0, nothing fills the -1, and the program fails.
    check_becomes(
        17,
        "x: float[A, B] => s = Concat{axis=0}(Shape{end=1}(x), [-1]); Relu(Reshape(x, s))",
        "Relu(x)",
    );
    check_stays(
        17,
        "x: float[A, B, C, D] => Relu(Reshape(Transpose{perm=[1, 0, 2, 3]}(x), [0, 0, -1]))",
    );
    check_becomes(
        17,
        "x: float[] => Relu(Squeeze(Unsqueeze(x, [0]), [0]))",
        "Relu(x)",
    );
    check_becomes(17, "x: float[] => Neg(Mul(x, float(1)))", "Neg(x)");
    check_stays(17, "x: float[] => Neg(Mul(x, float<1,1>[1]))");
    check_stays(17, "x: float[0, N] => ReduceMax{axes=[0], keepdims=0}(x)");
    check_stays(17, "x: float[N] => Expand(x, [1, 0])");
}

#[test]
fn what_runtimes_do_not_agree_on_is_left() {
    for text in [
        // A slice backwards from before the axis, or to an end at the limit of integers.
        "x: int64[N] => Add(x, Slice([1, 2, 3], [-9], [-20], [0], [-1]))",
        "x: int64[N] => Add(x, Slice([1, 2, 3], [2], [9223372036854775807], [0], [-1]))",
        "x: int64[N] => Add(x, Slice([1, 2, 3], [2], [2147483647], [0], [-1]))",
        "x: float[5] => Size(Slice(x, [2], [9223372036854775807], [0], [-1]))",
        // Windows with gaps that are padded.
        "x: float[1, 1, 9] => Shape(MaxPool{kernel_shape=[3], dilations=[2], auto_pad=\"SAME_UPPER\"}(x))",
        "x: float[1, 1, 9] => Shape(ConvTranspose{strides=[3], auto_pad=\"SAME_UPPER\"}(x, float<1, 1, 1>[1]))",
        // More conditions than elements.
        "x: float[N] => Shape(Compress{axis=0}(x, bool<3>[1]))",
    ] {
        check_stays(17, text);
    }
    let text = "x: float[4] => Shape(Compress{axis=0}(x, bool<3>[1]))";
    check_becomes(17, text, "[3]");
}

#[test]
fn casts_without_a_meaning_are_not_computed() {
    for text in [
        "Cast{to=int32}(float(1e20))",
        "Cast{to=int64}(float(-1e30))",
    ] {
        let text = format!("x: int64[N] => Shape(x), {text}");
        let original = program(17, &text);
        let done = optimize(&OptimizeOptions::default().fold(Fold::All), &original);
        check_equal(&original, &done.program, &text);
    }
}

/// Readers tell an attribute of 0 from one without a value.
#[test]
fn attributes_of_zero_are_written() {
    let body = "fn(v=0) x: float[N] => Add(CastLike(Constant{value_int=@v}(), x), x)";
    let mut model = text::model(17, body);
    model.functions[0].attribute.push("s".into());
    let call = &mut model.graph.as_mut().unwrap().node[0];
    call.attribute.push(build::string("s", b""));
    let model = written(&model);
    let graph = model.graph.as_ref().unwrap();
    for attr in &graph.node[0].attribute {
        let is_set = match attr.r#type() {
            AttributeType::Int => attr.i == Some(0),
            AttributeType::String => attr.s.as_deref() == Some(b"".as_slice()),
            _ => false,
        };
        assert!(is_set, "{attr:?}");
    }
    assert_eq!(graph.node[0].attribute.len(), 2);
}

#[test]
fn the_report_counts_what_is_written() {
    let text = "x: float[N] => r = Relu(x); Identity(r), Identity(r), r, Identity(x)";
    let model = text::model(17, text);
    let done = optimize(&OptimizeOptions::default(), build::load(&model).program());
    let nodes = written(&model).graph.unwrap().node.len();
    assert_eq!((done.report.nodes_after, done.report.copies), (nodes, 3));
    assert_eq!(done.report.nodes_before, 4);
}
