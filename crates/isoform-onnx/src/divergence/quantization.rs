//! The numbers that quantised values stand for, and other conversions for comparison.

use isoform::values::{DType, DTypeCode, Tensor};
use isoform::{Array, Ref, Str, Value};
use isoform_kernels::Control;

use super::side::Side;
use super::wrappers::{copied, is_quantization};
use crate::elem_type::ElemType;
use crate::eval::call::compute;
use crate::ir::Call;

/// Operators with quantised results: the positions of the scale and of the zero point.
const RESULTS: &[(&str, usize, usize)] = &[
    ("QuantizeLinear", 1, 2),
    ("QLinearConv", 6, 7),
    ("QLinearMatMul", 6, 7),
    ("QGemm", 7, 8),
    ("QLinearAdd", 6, 7),
    ("QLinearMul", 6, 7),
    ("QLinearConcat", 0, 1),
    ("QLinearAveragePool", 3, 4),
    ("QLinearGlobalAveragePool", 3, 4),
    ("QLinearLeakyRelu", 3, 4),
    ("QLinearSigmoid", 3, 4),
    ("QLinearSoftmax", 3, 4),
];

/// Operators that move quantised elements unchanged.
const MOVES: &[&str] = &[
    "Concat",
    "DepthToSpace",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "MaxPool",
    "Pad",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
];

/// The parameters of a quantised value.
#[derive(Clone)]
pub(super) struct Quantization {
    scale: Value,
    zero_point: Value,
    axis: Option<Value>,
}

/// The quantisation of each result of the nodes of a model, where nodes that make or use the
/// value tell it. O(nodes).
pub(super) struct Quantizations {
    of_node: Vec<Option<Quantization>>,
}

impl Quantizations {
    pub(super) fn new(side: &Side) -> Self {
        let mut of_node: Vec<Option<Quantization>> = Vec::with_capacity(side.nodes.len());
        for call in &side.nodes {
            let moved = || {
                let source = call
                    .input(0)
                    .filter(|_| MOVES.contains(&call.op.as_str()))?;
                of_node[side.maker(source)?].clone()
            };
            let parameters = of_result(call).or_else(moved);
            of_node.push(parameters);
        }
        for call in &side.nodes {
            let source = call.input(0).and_then(|value| side.maker(value));
            if let Some(source) = source.filter(|_| is_quantization(call, "DequantizeLinear")) {
                of_node[source].get_or_insert_with(|| Quantization {
                    scale: parameter(call, 1),
                    zero_point: parameter(call, 2),
                    axis: axis(call),
                });
            }
        }
        Quantizations { of_node }
    }

    pub(super) fn of(&self, side: &Side, value: &Value) -> Option<&Quantization> {
        self.of_node[side.maker(value)?].as_ref()
    }
}

fn of_result(call: &Call) -> Option<Quantization> {
    let (_, scale, zero_point) = RESULTS.iter().find(|(op, ..)| call.op == *op)?;
    let scale = parameter(call, *scale);
    scale.peek::<Tensor>()?;
    Some(Quantization {
        scale,
        zero_point: parameter(call, *zero_point),
        axis: axis(call).filter(|_| call.op == "QuantizeLinear"),
    })
}

fn parameter(call: &Call, position: usize) -> Value {
    call.input(position)
        .map(copied)
        .cloned()
        .unwrap_or(Value::NONE)
}

fn axis(call: &Call) -> Option<Value> {
    let attribute = call.attrs.iter().find(|(name, _)| name.as_str() == "axis");
    attribute.map(|(_, value)| value.clone())
}

/// The `float32` numbers that a quantised tensor stands for.
///
/// # Errors
///
/// The reason why the parameters do not fit.
pub(super) fn dequantized(value: &Value, by: &Quantization) -> Result<Value, String> {
    let axis = by.axis.iter().map(|axis| ("axis".into(), axis.clone()));
    let inputs = [value.clone(), by.scale.clone(), by.zero_point.clone()];
    computed("DequantizeLinear", inputs.to_vec(), axis)
}

/// A tensor with its elements as another type of numbers.
///
/// # Errors
///
/// The reason why there is no such tensor.
pub(super) fn cast(value: &Value, dtype: DType) -> Result<Value, String> {
    let mut types = ElemType::ALL.iter();
    let elem = types.find(|elem| elem.dtype() == Some(dtype));
    let elem = elem.ok_or_else(|| format!("elements of {dtype} are no numbers of ONNX"))?;
    let to = ("to".into(), Value::from(i64::from(elem.code())));
    computed("Cast", vec![value.clone()], [to])
}

fn computed(
    op: &str,
    inputs: Vec<Value>,
    attrs: impl IntoIterator<Item = (Str, Value)>,
) -> Result<Value, String> {
    let operands: Vec<Option<Value>> = inputs
        .iter()
        .map(|value| Some(value.clone()).filter(|value| !value.is_none()))
        .collect();
    let call = Ref::new(Call {
        domain: Str::default(),
        op: op.into(),
        version: 21,
        callee: None,
        attrs: attrs.into_iter().collect(),
        inputs: Array::from(inputs),
        outputs: 1,
        name: Str::default(),
        op_name: op.into(),
        doc: Str::default(),
        input_names: Array::new(),
        output_names: Array::new(),
        graph: Str::default(),
        in_function: false,
        position: 0,
        depth: -1,
        meta: None,
    });
    let results = compute(&call, &operands, &Control::default(), false);
    let results = results.map_err(|refusal| refusal.to_string())?;
    results
        .into_iter()
        .next()
        .ok_or_else(|| format!("{op} has no result"))
}

/// True for integers, which may be codes of other numbers.
pub(super) fn is_integer(dtype: DType) -> bool {
    matches!(dtype.code(), DTypeCode::Int | DTypeCode::UInt)
}

/// True for integers that quantised models compute with.
pub(super) fn is_small_integer(dtype: DType) -> bool {
    is_integer(dtype) && dtype.bits() <= 16
}
