//! Makes the nodes of programs, for all other modules here.

use isoform::values::{DType, DTypeCode, Shape, Tensor};
use isoform::{Array, Map, Ref, Str, Value, values};
use isoform_onnx::ElemType;
use isoform_onnx::ir::{
    AttrRef, Call, Dim, Function, Graph, Input, Output, Program, StringTensor, TensorType,
};

/// The library's data type of an element type; None for strings.
pub(super) fn dtype(elem: ElemType) -> Option<DType> {
    use DTypeCode as Code;
    let (code, bits) = match elem {
        ElemType::String => return None,
        ElemType::Float16 => (Code::Float, 16),
        ElemType::Float => (Code::Float, 32),
        ElemType::Double => (Code::Float, 64),
        ElemType::Bfloat16 => (Code::BFloat, 16),
        ElemType::Bool => (Code::Bool, 8),
        ElemType::Int4 => (Code::Int, 4),
        ElemType::Int8 => (Code::Int, 8),
        ElemType::Int16 => (Code::Int, 16),
        ElemType::Int32 => (Code::Int, 32),
        ElemType::Int64 => (Code::Int, 64),
        ElemType::Uint4 => (Code::UInt, 4),
        ElemType::Uint8 => (Code::UInt, 8),
        ElemType::Uint16 => (Code::UInt, 16),
        ElemType::Uint32 => (Code::UInt, 32),
        ElemType::Uint64 => (Code::UInt, 64),
        ElemType::Float8E4m3fn => (Code::Float8E4M3FN, 8),
        ElemType::Float8E4m3fnuz => (Code::Float8E4M3FNUZ, 8),
        ElemType::Float8E5m2 => (Code::Float8E5M2, 8),
        ElemType::Float8E5m2fnuz => (Code::Float8E5M2FNUZ, 8),
        other => unreachable!("the generator draws no {other}"),
    };
    Some(DType::new(code, bits))
}

/// True for the element types drawn by the generator.
pub(super) fn is_drawn(elem: ElemType) -> bool {
    use ElemType as E;
    !matches!(
        elem,
        E::String
            | E::Complex64
            | E::Complex128
            | E::Int2
            | E::Uint2
            | E::Float8E8m0
            | E::Float6E2m3
            | E::Float6E3m2
            | E::Float4E2m1
    )
}

/// A constant of elements of whole bytes; 4-bit elements are packed here.
pub(super) fn tensor(elem: ElemType, shape: &[i64], elements: &[Vec<u8>]) -> Value {
    let Some(dtype) = dtype(elem) else {
        let values = elements
            .iter()
            .map(|text| values::Bytes::from(text.clone()));
        return Ref::new(StringTensor {
            shape: Shape::from(shape.to_vec()),
            values: values.collect::<Array<values::Bytes>>(),
        })
        .into();
    };
    let bytes: Vec<u8> = match dtype.bits() {
        4 => elements
            .chunks(2)
            .map(|pair| pair[0][0] & 15 | pair.get(1).map_or(0, |high| high[0] << 4))
            .collect(),
        _ => elements.concat(),
    };
    let made = Tensor::new(dtype, shape.to_vec(), bytes);
    made.expect("as many bytes as the shape needs").into()
}

/// A constant of int64.
pub(super) fn ints(shape: &[i64], numbers: &[i64]) -> Value {
    let elements: Vec<Vec<u8>> = numbers
        .iter()
        .map(|number| number.to_le_bytes().to_vec())
        .collect();
    tensor(ElemType::Int64, shape, &elements)
}

/// The type of a dense tensor; None for an unknown rank.
pub(super) fn tensor_type(elem: ElemType, shape: Option<Vec<Value>>) -> Value {
    Ref::new(TensorType {
        elem: dtype(elem).map_or_else(|| elem.name().into(), Value::from),
        shape: shape.map(|dims| dims.into_iter().collect()),
    })
    .into()
}

pub(super) fn dim(name: &str) -> Ref<Dim> {
    Ref::new(Dim { name: name.into() })
}

pub(super) fn input(name: &str, ty: Value) -> Ref<Input> {
    Ref::new(Input {
        name: name.into(),
        ty,
        default: Value::NONE,
        graph: Str::default(),
        in_function: false,
        position: 0,
        meta: None,
    })
}

pub(super) fn attr_ref(name: &str) -> Value {
    Ref::new(AttrRef { name: name.into() }).into()
}

/// An array of floats as an attribute.
pub(super) fn float_list(numbers: &[f64]) -> Value {
    numbers
        .iter()
        .map(|&number| Value::from(number))
        .collect::<Vec<Value>>()
        .into()
}

/// An array of ints as an attribute.
pub(super) fn int_list(numbers: &[i64]) -> Value {
    numbers.iter().copied().collect::<Array<i64>>().into()
}

/// The operator of a call, or the function.
pub(super) enum Callee {
    /// An operator of a domain and a version.
    Operator(&'static str, &'static str, i64),
    Function(Ref<Function>),
}

/// A call with outputs named after a number.
pub(super) fn call(
    callee: Callee,
    attrs: impl IntoIterator<Item = (Str, Value)>,
    mut inputs: Vec<Value>,
    outputs: usize,
    number: usize,
) -> Ref<Call> {
    while inputs.last().is_some_and(Value::is_none) {
        inputs.pop();
    }
    let (domain, op, version, callee) = match callee {
        Callee::Operator(domain, op, version) => (domain, Str::from(op), version, None),
        Callee::Function(function) => ("", Str::default(), 0, Some(function)),
    };
    let op_name = callee
        .as_ref()
        .map_or(op.clone(), |function| function.name.clone());
    Ref::new(Call {
        domain: domain.into(),
        op,
        version,
        callee,
        attrs: attrs.into_iter().collect(),
        inputs: inputs.into_iter().collect(),
        outputs: outputs as i64,
        name: format!("node{number}").into(),
        op_name,
        doc: Str::default(),
        input_names: Array::default(),
        output_names: (0..outputs)
            .map(|index| Str::from(format!("v{number}_{index}")))
            .collect(),
        graph: Str::default(),
        in_function: false,
        position: number as i64,
        depth: -1,
        meta: None,
    })
}

pub(super) fn output(call: &Ref<Call>, index: usize) -> Value {
    Ref::new(Output {
        call: call.clone(),
        index: index as i64,
    })
    .into()
}

pub(super) fn graph(
    name: &str,
    params: Vec<Ref<Input>>,
    result_types: Vec<Value>,
    results: Vec<Value>,
    result_names: Vec<Str>,
) -> Ref<Graph> {
    Ref::new(Graph {
        params: params.into(),
        result_types: result_types.into_iter().collect(),
        results: results.into_iter().collect(),
        name: name.into(),
        result_names: result_names.into(),
        doc: Str::default(),
        meta: None,
    })
}

pub(super) fn function(
    name: &str,
    params: Vec<Ref<Input>>,
    attrs: &[&str],
    attr_defaults: Vec<(Str, Value)>,
    results: Vec<Value>,
) -> Ref<Function> {
    let result_names = (0..results.len()).map(|at| Str::from(format!("{name}_result{at}")));
    let mut attrs = attrs.to_vec();
    attrs.sort_unstable();
    Ref::new(Function {
        params: params.into(),
        attrs: attrs.into_iter().map(Str::from).collect(),
        attr_defaults: attr_defaults.into_iter().collect::<Map<Str, Value>>(),
        result_names: result_names.collect(),
        results: results.into_iter().collect(),
        name: name.into(),
        doc: Str::default(),
        meta: None,
    })
}

pub(super) fn program(graph: Ref<Graph>, ir_version: i64) -> Ref<Program> {
    let inputs = graph.params.iter().map(|param| param.name.clone());
    let io_names = [
        inputs.collect::<Array<Str>>(),
        graph.result_names.iter().cloned().collect(),
    ];
    Ref::new(Program {
        graph,
        io_names: io_names.into_iter().collect(),
        ir_version,
        producer: Str::default(),
        meta: None,
    })
}
