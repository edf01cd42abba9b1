//! The messages of an ONNX file, declared field by field for prost.
//!
//! The field numbers, names and types follow `onnx.proto` (IR version 14). Only parts
//! that can matter for reading a model are declared. The placement hints
//! `NodeProto.device_configurations` and `ModelProto.configuration` are left out with
//! their messages, and therefore skipped while decoding: placement on devices never
//! changes the result.
//!
//! Conventions of this file:
//!
//! - A scalar field whose absence means the same as its default (names, domains,
//!   documentation) is a plain value. If absence has a separate meaning, for instance
//!   for `raw_data` or a shape, the field is an [`Option`].
//! - `raw_data`, `string_data` and string attributes are [`Bytes`]. Decoding from a
//!   [`Bytes`] (for instance a mapped file) therefore shares memory instead of copying.
//! - Repeated numbers decode from the packed and from the unpacked form. The `packed`
//!   flags only decide the written form, and follow `onnx.proto`.
//!
//! # Nesting
//!
//! prost rejects messages nested more than [`RECURSION_LIMIT`] deep, to bound the stack
//! that a malicious file can use. A nested graph costs three levels (node, attribute,
//! graph) below the first level (model to graph). The contents of the innermost graph
//! cost up to six more (node, attribute, type, tensor, shape, dimension). Control flow
//! therefore decodes with at least [`GRAPH_NESTING_LIMIT`] nested graphs below the main
//! graph, and fails with an error beyond that.

use bytes::Bytes;

/// The number of message levels that prost decodes before returning an error.
pub const RECURSION_LIMIT: usize = 100;

/// The number of graphs that may be nested below the main graph. The innermost graph
/// may contain anything ONNX allows except element types of sequences and optionals,
/// which cost two levels each.
pub const GRAPH_NESTING_LIMIT: usize = (RECURSION_LIMIT - 1 - 6) / 3;

/// A complete model: a graph, the imported operator sets and the local functions.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ModelProto {
    /// Version of the file format; presence is required by the specification.
    #[prost(int64, optional, tag = "1")]
    pub ir_version: Option<i64>,
    /// Name of the tool that wrote the model.
    #[prost(string, tag = "2")]
    pub producer_name: String,
    /// Version of the tool that wrote the model.
    #[prost(string, tag = "3")]
    pub producer_version: String,
    /// Namespace of the model, in reverse domain name notation.
    #[prost(string, tag = "4")]
    pub domain: String,
    /// Version of the model itself.
    #[prost(int64, tag = "5")]
    pub model_version: i64,
    /// Documentation for humans.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// The main graph.
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    /// Imported operator sets, one entry for each domain.
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Named metadata.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
    /// Training steps of the model, ignored by inference.
    #[prost(message, repeated, tag = "20")]
    pub training_info: Vec<TrainingInfoProto>,
    /// Functions defined by the model, called by `(domain, name, overload)`.
    #[prost(message, repeated, tag = "25")]
    pub functions: Vec<FunctionProto>,
}

/// The version of one operator set.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct OperatorSetIdProto {
    /// Domain of the operator set; empty stands for `ai.onnx`.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Version of the operator set.
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// An entry of a map from strings to strings.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct StringStringEntryProto {
    /// The key.
    #[prost(string, tag = "1")]
    pub key: String,
    /// The value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// Graphs that initialise and train a model.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrainingInfoProto {
    /// Graph that computes the initial state.
    #[prost(message, optional, tag = "1")]
    pub initialization: Option<GraphProto>,
    /// Graph of one training step.
    #[prost(message, optional, tag = "2")]
    pub algorithm: Option<GraphProto>,
    /// State assigned from outputs of `initialization`.
    #[prost(message, repeated, tag = "3")]
    pub initialization_binding: Vec<StringStringEntryProto>,
    /// State assigned from outputs of `algorithm`.
    #[prost(message, repeated, tag = "4")]
    pub update_binding: Vec<StringStringEntryProto>,
}

/// A graph of nodes, in topological order, with inputs, outputs and constants.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GraphProto {
    /// The nodes, in topological order.
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    /// Name of the graph.
    #[prost(string, tag = "2")]
    pub name: String,
    /// Named constants; before IR version 4, every constant is also listed as an input.
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorProto>,
    /// Documentation for humans.
    #[prost(string, tag = "10")]
    pub doc_string: String,
    /// Inputs, in order.
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    /// Outputs, in order.
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
    /// Types of values between the nodes.
    #[prost(message, repeated, tag = "13")]
    pub value_info: Vec<ValueInfoProto>,
    /// Quantisation parameters of values.
    #[prost(message, repeated, tag = "14")]
    pub quantization_annotation: Vec<TensorAnnotation>,
    /// Named sparse constants; the name is the name of `values`.
    #[prost(message, repeated, tag = "15")]
    pub sparse_initializer: Vec<SparseTensorProto>,
    /// Named metadata.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// Names the tensors with the quantisation parameters of another tensor.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorAnnotation {
    /// Name of the annotated tensor.
    #[prost(string, tag = "1")]
    pub tensor_name: String,
    /// Parameter kind (`SCALE_TENSOR`, `ZERO_POINT_TENSOR`) to tensor name.
    #[prost(message, repeated, tag = "2")]
    pub quant_parameter_tensor_names: Vec<StringStringEntryProto>,
}

/// A call of an operator or a model-local function.
#[derive(Clone, PartialEq, prost::Message)]
pub struct NodeProto {
    /// Names of the inputs; an empty name is an omitted optional input.
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    /// Names of the outputs; an empty name is an unused output.
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    /// Name of the node, for humans.
    #[prost(string, tag = "3")]
    pub name: String,
    /// Name of the operator or function.
    #[prost(string, tag = "4")]
    pub op_type: String,
    /// The attributes.
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    /// Documentation for humans.
    #[prost(string, tag = "6")]
    pub doc_string: String,
    /// Domain of the operator; empty stands for `ai.onnx`.
    #[prost(string, tag = "7")]
    pub domain: String,
    /// Selects among functions with the same domain and name.
    #[prost(string, tag = "8")]
    pub overload: String,
    /// Named metadata.
    #[prost(message, repeated, tag = "9")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A named attribute of a node, of one of several kinds.
#[derive(Clone, PartialEq, prost::Message)]
pub struct AttributeProto {
    /// Name of the attribute.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The value if the kind is `FLOAT`. This field and the next two are optional:
    /// readers expect even a 0 or an empty value, and prost writes such a value only if
    /// the field is optional.
    #[prost(float, optional, tag = "2")]
    pub f: Option<f32>,
    /// The value if the kind is `INT`.
    #[prost(int64, optional, tag = "3")]
    pub i: Option<i64>,
    /// The value if the kind is `STRING`.
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub s: Option<Bytes>,
    /// The value if the kind is `TENSOR`.
    #[prost(message, optional, boxed, tag = "5")]
    pub t: Option<Box<TensorProto>>,
    /// The value if the kind is `GRAPH`.
    #[prost(message, optional, boxed, tag = "6")]
    pub g: Option<Box<GraphProto>>,
    /// The value if the kind is `FLOATS`.
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    /// The value if the kind is `INTS`.
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// The value if the kind is `STRINGS`.
    #[prost(bytes = "bytes", repeated, tag = "9")]
    pub strings: Vec<Bytes>,
    /// The value if the kind is `TENSORS`.
    #[prost(message, repeated, tag = "10")]
    pub tensors: Vec<TensorProto>,
    /// The value if the kind is `GRAPHS`.
    #[prost(message, repeated, tag = "11")]
    pub graphs: Vec<GraphProto>,
    /// Documentation for humans.
    #[prost(string, tag = "13")]
    pub doc_string: String,
    /// The value if the kind is `TYPE_PROTO`.
    #[prost(message, optional, boxed, tag = "14")]
    pub tp: Option<Box<TypeProto>>,
    /// The value if the kind is `TYPE_PROTOS`.
    #[prost(message, repeated, tag = "15")]
    pub type_protos: Vec<TypeProto>,
    /// The kind, an [`AttributeType`].
    #[prost(enumeration = "AttributeType", tag = "20")]
    pub r#type: i32,
    /// Inside a function, the function's attribute that provides the value.
    #[prost(string, tag = "21")]
    pub ref_attr_name: String,
    /// The value if the kind is `SPARSE_TENSOR`.
    #[prost(message, optional, boxed, tag = "22")]
    pub sparse_tensor: Option<Box<SparseTensorProto>>,
    /// The value if the kind is `SPARSE_TENSORS`.
    #[prost(message, repeated, tag = "23")]
    pub sparse_tensors: Vec<SparseTensorProto>,
}

/// The kind of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeType {
    /// No kind was given.
    Undefined = 0,
    /// One 32-bit float.
    Float = 1,
    /// One 64-bit integer.
    Int = 2,
    /// One byte string.
    String = 3,
    /// One tensor.
    Tensor = 4,
    /// One graph.
    Graph = 5,
    /// A list of 32-bit floats.
    Floats = 6,
    /// A list of 64-bit integers.
    Ints = 7,
    /// A list of byte strings.
    Strings = 8,
    /// A list of tensors.
    Tensors = 9,
    /// A list of graphs.
    Graphs = 10,
    /// One sparse tensor.
    SparseTensor = 11,
    /// A list of sparse tensors.
    SparseTensors = 12,
    /// One type.
    TypeProto = 13,
    /// A list of types.
    TypeProtos = 14,
}

impl AttributeType {
    /// True for kinds of several values.
    pub(crate) fn is_list(self) -> bool {
        matches!(
            self,
            Self::Floats
                | Self::Ints
                | Self::Strings
                | Self::Tensors
                | Self::Graphs
                | Self::SparseTensors
                | Self::TypeProtos
        )
    }
}

/// A named value and its type.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ValueInfoProto {
    /// Name of the value.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Type of the value, if known.
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<TypeProto>,
    /// Documentation for humans.
    #[prost(string, tag = "3")]
    pub doc_string: String,
    /// Named metadata.
    #[prost(message, repeated, tag = "4")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// A tensor constant, with its data inline or in another file.
#[derive(Clone, PartialEq, prost::Message)]
pub struct TensorProto {
    /// The shape; empty for a scalar.
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// Element type, see [`ElemType::from_code`](crate::ElemType::from_code).
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    /// Marks one chunk of a larger tensor.
    #[prost(message, optional, tag = "3")]
    pub segment: Option<SegmentProto>,
    /// Elements of `FLOAT`, or pairs of numbers for `COMPLEX64`.
    #[prost(float, repeated, tag = "4")]
    pub float_data: Vec<f32>,
    /// Elements of `INT32` and of all narrower types except strings.
    #[prost(int32, repeated, tag = "5")]
    pub int32_data: Vec<i32>,
    /// Elements of `STRING`.
    #[prost(bytes = "bytes", repeated, tag = "6")]
    pub string_data: Vec<Bytes>,
    /// Elements of `INT64`.
    #[prost(int64, repeated, tag = "7")]
    pub int64_data: Vec<i64>,
    /// Name of the tensor.
    #[prost(string, tag = "8")]
    pub name: String,
    /// All elements as little-endian bytes in row-major order.
    #[prost(bytes = "bytes", optional, tag = "9")]
    pub raw_data: Option<Bytes>,
    /// Elements of `DOUBLE`, or pairs of numbers for `COMPLEX128`.
    #[prost(double, repeated, tag = "10")]
    pub double_data: Vec<f64>,
    /// Elements of `UINT32` and `UINT64`.
    #[prost(uint64, repeated, tag = "11")]
    pub uint64_data: Vec<u64>,
    /// Documentation for humans.
    #[prost(string, tag = "12")]
    pub doc_string: String,
    /// The location of the data, if `data_location` is `EXTERNAL`.
    #[prost(message, repeated, tag = "13")]
    pub external_data: Vec<StringStringEntryProto>,
    /// The location of the data, a [`DataLocation`].
    #[prost(enumeration = "DataLocation", tag = "14")]
    pub data_location: i32,
    /// Named metadata.
    #[prost(message, repeated, tag = "16")]
    pub metadata_props: Vec<StringStringEntryProto>,
}

/// The part of a larger tensor that a message holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, prost::Message)]
pub struct SegmentProto {
    /// First element.
    #[prost(int64, tag = "1")]
    pub begin: i64,
    /// One past the last element.
    #[prost(int64, tag = "2")]
    pub end: i64,
}

/// The storage of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum DataLocation {
    /// In the message itself.
    Default = 0,
    /// In the file named by `external_data`.
    External = 1,
}

/// A tensor given by the positions and values of its non-default elements.
#[derive(Clone, PartialEq, prost::Message)]
pub struct SparseTensorProto {
    /// The values, a tensor of shape `[NNZ]`. Its name is the name of the sparse
    /// tensor.
    #[prost(message, optional, tag = "1")]
    pub values: Option<TensorProto>,
    /// The positions, an int64 tensor of shape `[NNZ]` or `[NNZ, rank]`.
    #[prost(message, optional, tag = "2")]
    pub indices: Option<TensorProto>,
    /// Shape of the dense tensor.
    #[prost(int64, repeated, packed = "false", tag = "3")]
    pub dims: Vec<i64>,
}

/// The shape of a tensor type.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct TensorShapeProto {
    /// The dimensions.
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<DimensionProto>,
}

/// One dimension: a number, a symbol, or unknown.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct DimensionProto {
    /// The extent; absent if it is unknown.
    #[prost(oneof = "DimensionValue", tags = "1, 2")]
    pub value: Option<DimensionValue>,
    /// Meaning of the dimension, for instance `DATA_BATCH`.
    #[prost(string, tag = "3")]
    pub denotation: String,
}

/// The extent of a dimension.
#[derive(Clone, PartialEq, Eq, Hash, prost::Oneof)]
pub enum DimensionValue {
    /// A known number.
    #[prost(int64, tag = "1")]
    DimValue(i64),
    /// A symbol; equal symbols in one model represent equal numbers.
    #[prost(string, tag = "2")]
    DimParam(String),
}

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct TypeProto {
    /// The type; absent if it is unknown.
    #[prost(oneof = "TypeValue", tags = "1, 4, 5, 7, 8, 9")]
    pub value: Option<TypeValue>,
    /// Meaning of the value, such as `IMAGE`.
    #[prost(string, tag = "6")]
    pub denotation: String,
}

/// The cases of a type.
#[derive(Clone, PartialEq, Eq, Hash, prost::Oneof)]
pub enum TypeValue {
    /// A dense tensor.
    #[prost(message, tag = "1")]
    TensorType(TensorTypeProto),
    /// A sequence.
    #[prost(message, tag = "4")]
    SequenceType(Box<SequenceTypeProto>),
    /// A map.
    #[prost(message, tag = "5")]
    MapType(Box<MapTypeProto>),
    /// A type known only by name.
    #[prost(message, tag = "7")]
    OpaqueType(OpaqueTypeProto),
    /// A sparse tensor.
    #[prost(message, tag = "8")]
    SparseTensorType(SparseTensorTypeProto),
    /// A value that may be absent.
    #[prost(message, tag = "9")]
    OptionalType(Box<OptionalTypeProto>),
}

/// The type of a dense tensor (`TypeProto.Tensor`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct TensorTypeProto {
    /// Element type, see [`ElemType::from_code`](crate::ElemType::from_code).
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Shape; absent if even the rank is unknown, in contrast to the shape of a scalar.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// The type of a sparse tensor (`TypeProto.SparseTensor`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct SparseTensorTypeProto {
    /// Element type, see [`ElemType::from_code`](crate::ElemType::from_code).
    #[prost(int32, tag = "1")]
    pub elem_type: i32,
    /// Shape; absent if not even the rank is known.
    #[prost(message, optional, tag = "2")]
    pub shape: Option<TensorShapeProto>,
}

/// The type of a sequence (`TypeProto.Sequence`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct SequenceTypeProto {
    /// Type of the elements.
    #[prost(message, optional, tag = "1")]
    pub elem_type: Option<TypeProto>,
}

/// The type of a map (`TypeProto.Map`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct MapTypeProto {
    /// Element type of the keys: an integer type or `STRING`.
    #[prost(int32, tag = "1")]
    pub key_type: i32,
    /// Type of the values.
    #[prost(message, optional, tag = "2")]
    pub value_type: Option<TypeProto>,
}

/// The type of an optional value (`TypeProto.Optional`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct OptionalTypeProto {
    /// Type of the value if present.
    #[prost(message, optional, tag = "1")]
    pub elem_type: Option<TypeProto>,
}

/// A type known only by name (`TypeProto.Opaque`).
#[derive(Clone, PartialEq, Eq, Hash, prost::Message)]
pub struct OpaqueTypeProto {
    /// Domain of the name; empty stands for `ai.onnx`.
    #[prost(string, tag = "1")]
    pub domain: String,
    /// Name of the type.
    #[prost(string, tag = "2")]
    pub name: String,
}

/// A function composed of other operators by a model.
#[derive(Clone, PartialEq, prost::Message)]
pub struct FunctionProto {
    /// Name, given by calling nodes as `op_type`.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Names of the parameters.
    #[prost(string, repeated, tag = "4")]
    pub input: Vec<String>,
    /// Names of the results.
    #[prost(string, repeated, tag = "5")]
    pub output: Vec<String>,
    /// Names of the attributes without a default.
    #[prost(string, repeated, tag = "6")]
    pub attribute: Vec<String>,
    /// The body, in topological order.
    #[prost(message, repeated, tag = "7")]
    pub node: Vec<NodeProto>,
    /// Documentation for humans.
    #[prost(string, tag = "8")]
    pub doc_string: String,
    /// Operator sets the body relies on.
    #[prost(message, repeated, tag = "9")]
    pub opset_import: Vec<OperatorSetIdProto>,
    /// Domain, which calling nodes give as `domain`.
    #[prost(string, tag = "10")]
    pub domain: String,
    /// Attributes with a default.
    #[prost(message, repeated, tag = "11")]
    pub attribute_proto: Vec<AttributeProto>,
    /// Types of values of the body.
    #[prost(message, repeated, tag = "12")]
    pub value_info: Vec<ValueInfoProto>,
    /// Distinguishes functions of the same domain and name.
    #[prost(string, tag = "13")]
    pub overload: String,
    /// Named metadata.
    #[prost(message, repeated, tag = "14")]
    pub metadata_props: Vec<StringStringEntryProto>,
}
