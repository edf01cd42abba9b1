//! The generator keeps drawing all features that the properties are about.

use std::collections::BTreeMap;

use isoform::structural_digest;
use isoform::values::Tensor;
use isoform::{Ref, Value};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{Call, Output, Program, StringTensor};
use isoform_onnx::layout::list;
use isoform_testing::onnx::{OPSETS, drawn_constructs, random_onnx_program, rebuilt};
use isoform_testing::source::{Source, random_bytes};

/// How many programs are drawn, and how large they are.
const PROGRAMS: u64 = 5_000;
const SIZE: usize = 16;

/// The operators that have a construct of the generator, to be drawn now and then.
const OPERATORS: &[&str] = &[
    "Abs",
    "Acos",
    "Acosh",
    "Add",
    "And",
    "ArgMax",
    "ArgMin",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Attention",
    "AveragePool",
    "BatchNormalization",
    "BitShift",
    "BitwiseAnd",
    "BitwiseNot",
    "BitwiseOr",
    "BitwiseXor",
    "Cast",
    "Ceil",
    "Clip",
    "Concat",
    "Constant",
    "ConstantOfShape",
    "Conv",
    "ConvTranspose",
    "Cos",
    "Cosh",
    "CumSum",
    "DepthToSpace",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "DynamicQuantizeLinear",
    "Elu",
    "Equal",
    "Erf",
    "Exp",
    "Expand",
    "Flatten",
    "Floor",
    "GRU",
    "Gather",
    "GatherElements",
    "GatherND",
    "Gemm",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Greater",
    "GreaterOrEqual",
    "HardSigmoid",
    "Hardmax",
    "Identity",
    "If",
    "IsInf",
    "IsNaN",
    "LSTM",
    "LabelEncoder",
    "LayerNormalization",
    "LeakyRelu",
    "Less",
    "LessOrEqual",
    "Log",
    "LogSoftmax",
    "Loop",
    "MatMul",
    "MatMulInteger",
    "Max",
    "MaxPool",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "Not",
    "OneHot",
    "Or",
    "Pad",
    "Pow",
    "QLinearConv",
    "QuantizeLinear",
    "RNN",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Range",
    "Reciprocal",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Relu",
    "Reshape",
    "Resize",
    "RotaryEmbedding",
    "Round",
    "Scan",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shape",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Size",
    "Slice",
    "Softmax",
    "Softplus",
    "Softsign",
    "SpaceToDepth",
    "Split",
    "Sqrt",
    "Squeeze",
    "Sub",
    "Sum",
    "Tan",
    "Tanh",
    "Tile",
    "TopK",
    "Transpose",
    "Trilu",
    "Unsqueeze",
    "Upsample",
    "Where",
    "Xor",
];

/// The element types of drawn values.
const ELEMS: &[ElemType] = &[
    ElemType::Float,
    ElemType::Double,
    ElemType::Float16,
    ElemType::Bfloat16,
    ElemType::Int8,
    ElemType::Int16,
    ElemType::Int32,
    ElemType::Int64,
    ElemType::Uint8,
    ElemType::Uint16,
    ElemType::Uint32,
    ElemType::Uint64,
    ElemType::Bool,
    ElemType::String,
    ElemType::Float8E4m3fn,
    ElemType::Float8E4m3fnuz,
    ElemType::Float8E5m2,
    ElemType::Float8E5m2fnuz,
    ElemType::Int4,
    ElemType::Uint4,
];

/// Constructs that are noted besides the names of drawn operators.
const NOTES: &[&str] = &[
    "function: attribute",
    "function: called again",
    "function: own opset",
    "if: nested",
    "if: returns a constant",
    "loop: collected values",
    "loop: dynamic trip count",
    "pattern: add to matrix product",
    "pattern: arithmetic on convolution",
    "pattern: arithmetic on sizes",
    "pattern: batch normalization of convolution",
    "pattern: concat of concat",
    "pattern: concat of split",
    "pattern: equal subexpressions",
    "pattern: initial state of zeros",
    "pattern: pad before a window",
    "pattern: pad by nothing",
    "pattern: quantized and back",
    "pattern: reduction of no axes",
    "pattern: reshaped matrix product",
    "pattern: scaled operand of a product",
    "pattern: special number beside weights",
    "pattern: split into one",
    "pattern: squeeze of squeeze",
    "pattern: squeeze of unsqueeze",
    "pattern: unsqueeze of reduction",
    "pattern: unsqueeze of squeeze",
    "pattern: unsqueeze of unsqueeze",
    "result: input",
    "result: misdeclared",
    "result: twice",
    "shape: start and end",
];

fn operators(program: &Program) -> Vec<Ref<Call>> {
    let listing = list(program);
    let nodes = listing.bodies.iter().flat_map(|body| &body.nodes);
    nodes.map(|node| node.call.clone()).collect()
}

#[test]
fn everything_is_drawn() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    for seed in 0..PROGRAMS {
        let drawn = random_onnx_program(seed, SIZE);
        for call in operators(&drawn.program) {
            match call.callee {
                None => {
                    count(format!("operator {}", call.op));
                    if call.domain.is_empty() {
                        count(format!("opset {}", call.version));
                    }
                }
                Some(_) => count("a call of a function".into()),
            }
            if call.inputs.values().iter().any(Value::is_none) {
                count("an omitted input".into());
            }
        }
        for elem in &drawn.elems {
            count(format!("elements {elem}"));
        }
        for pattern in &drawn.patterns {
            count(format!("construct {pattern}"));
        }
        for shape in drawn.shapes.iter().flatten() {
            count(format!("a result of rank {}", shape.len()));
            if shape.contains(&0) {
                count("an empty result".into());
            }
        }
        count(format!("IR version {}", drawn.program.ir_version));
    }
    let mut wanted: Vec<String> = Vec::new();
    wanted.extend(OPERATORS.iter().map(|op| format!("operator {op}")));
    wanted.extend(OPSETS.map(|opset| format!("opset {opset}")));
    wanted.extend(ELEMS.iter().map(|elem| format!("elements {elem}")));
    wanted.extend(
        drawn_constructs()
            .iter()
            .map(|name| format!("construct {name}")),
    );
    wanted.extend(NOTES.iter().map(|name| format!("construct {name}")));
    wanted.extend((0..=4).map(|rank| format!("a result of rank {rank}")));
    wanted.extend((3..=10).map(|version| format!("IR version {version}")));
    wanted.extend(
        [
            "a call of a function",
            "an omitted input",
            "an empty result",
        ]
        .map(String::from),
    );
    let rare: Vec<String> = wanted
        .iter()
        .map(|what| (counts.get(what).copied().unwrap_or(0), what))
        .filter(|(count, _)| *count < 2)
        .map(|(count, what)| format!("{what}: {count}"))
        .collect();
    assert!(
        rare.is_empty(),
        "hardly drawn any more: {}",
        rare.join(", ")
    );
    // And every drawn feature is in the list.
    let unknown: Vec<&String> = counts
        .keys()
        .filter(|what| what.starts_with("operator ") || what.starts_with("construct "))
        .filter(|what| !wanted.contains(what))
        .collect();
    assert!(
        unknown.is_empty(),
        "drawn, but not in the list: {unknown:?}"
    );
}

/// The elements of results that are constants.
fn tensors(program: &Program) -> usize {
    let results = program.graph.results.values();
    let tensor = |value: &&Value| {
        let object = value.as_object();
        let string = object.is_some_and(|object| object.downcast_ref::<StringTensor>().is_some());
        string || value.peek::<Tensor>().is_some()
    };
    results.iter().filter(tensor).count()
}

#[test]
fn the_same_seed_gives_the_same_program() {
    for seed in 0..200 {
        let [left, right] = [0, 1].map(|_| random_onnx_program(seed, SIZE));
        let digest = |program: &Ref<Program>| structural_digest(program).unwrap();
        assert_eq!(digest(&left.program), digest(&right.program), "seed {seed}");
        assert_eq!(tensors(&left.program), tensors(&right.program));
    }
}

#[test]
fn a_rebuilt_program_is_the_same() {
    for seed in 0..500 {
        let drawn = random_onnx_program(seed, SIZE);
        let bytes = random_bytes(seed, 400);
        let other = rebuilt(&drawn.program, &mut Source::new(&bytes));
        let digest = |program: &Ref<Program>| structural_digest(program).unwrap();
        assert_eq!(digest(&drawn.program), digest(&other), "seed {seed}");
        // Nothing of the original is left in the copy but constants.
        let calls =
            |program| -> Vec<u64> { operators(program).iter().map(Ref::identity).collect() };
        let old = calls(&drawn.program);
        assert!(
            calls(&other).iter().all(|call| !old.contains(call)),
            "seed {seed}"
        );
    }
}

#[test]
fn outputs_are_replaced() {
    let drawn = random_onnx_program(1, SIZE);
    let mut asked = 0;
    let replace = |_: &Output| {
        asked += 1;
        None
    };
    let same = isoform_testing::onnx::replace_values(&drawn.program, replace).unwrap();
    assert!(asked > 0 && same.same_as(&drawn.program));
}
