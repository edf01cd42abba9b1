//! The node types of an imported model.
//!
//! They are declared like the types of any other IR; comparison, hashing, walks and
//! printing rely on their fields alone.
//!
//! | part of a model | node type |
//! |---|---|
//! | the model | [`Program`] |
//! | a graph, or the body of If, Loop, Scan, ... | [`Graph`], a scope |
//! | a local function | [`Function`], a scope |
//! | an input of one of these | [`Input`], a variable |
//! | a node | [`Call`], shared by everything that uses it |
//! | a result of a node | [`Output`] |
//! | an initializer, a `Constant` node | [`Tensor`], [`StringTensor`] or [`SparseTensor`] |
//! | a type | [`TensorType`], [`SparseTensorType`], [`SequenceType`], [`MapType`], [`OptionalType`], [`OpaqueType`] |
//! | a symbolic dimension | [`Dim`], a variable |
//! | a use of an attribute of the enclosing function | [`AttrRef`] |
//! | a type given as an attribute | [`TypeAttr`] |
//!
//! A *value* below is one of: [`Output`], [`Input`], a constant, or None for an omitted
//! optional input.
//!
//! # What is compared
//!
//! Names, documentation and positions are kept in ignored fields: they help to show a
//! difference to a person, and are never compared.
//!
//! # What is kept for writing a model
//!
//! The ignored fields called `meta` hold everything else that a file says about a part:
//! metadata, denotations, imported operator sets, types of values between nodes,
//! quantisation and training. Each is an encoded message of the file format that has only
//! those fields (a `ModelProto` for a program, a `NodeProto` for a call, and so on), or
//! None if there is nothing to keep. A pass that replaces a part may pass its `meta` on.

use isoform::values::{Bytes, Shape, Tensor};
use isoform::{Array, Map, Node, Ref, Str, Value};

/// A symbolic dimension. Two uses of one name are two uses of one `Dim`.
///
/// It is bound at its first occurrence in the types of a graph's inputs and outputs. An
/// inner graph may bind it again, so comparison does not distinguish whether the types of
/// its inputs use a dimension of the outer graph or its own. If sibling graphs use a name
/// that no enclosing graph uses, each has its own dimension.
#[derive(Node)]
#[node(key = "onnx.Dim", kind = var)]
#[repr(C)]
pub struct Dim {
    /// The name in the file.
    #[node(ignore)]
    pub name: Str,
}

/// The type of a dense tensor.
#[derive(Node)]
#[node(key = "onnx.TensorType")]
#[repr(C)]
pub struct TensorType {
    /// A [`DType`](isoform::values::DType), the string `"string"`, or None if it is unknown.
    pub elem: Value,
    /// For each dimension an int, a [`Dim`], or None if it is unknown, as are negative ones
    /// in a file; no array if even the rank is unknown.
    pub shape: Option<Array>,
}

/// The type of a sparse tensor.
#[derive(Node)]
#[node(key = "onnx.SparseTensorType")]
#[repr(C)]
pub struct SparseTensorType {
    /// As in [`TensorType`].
    pub elem: Value,
    /// As in [`TensorType`].
    pub shape: Option<Array>,
}

/// The type of a sequence.
#[derive(Node)]
#[node(key = "onnx.SequenceType")]
#[repr(C)]
pub struct SequenceType {
    /// Type of the elements, or None if it is unknown.
    pub elem: Value,
}

/// The type of a map.
#[derive(Node)]
#[node(key = "onnx.MapType")]
#[repr(C)]
pub struct MapType {
    /// Element type of the keys, as in [`TensorType`].
    pub key: Value,
    /// Type of the values, or None if it is unknown.
    pub value: Value,
}

/// The type of a value that may be absent.
#[derive(Node)]
#[node(key = "onnx.OptionalType")]
#[repr(C)]
pub struct OptionalType {
    /// Type of the value if present, or None if it is unknown.
    pub elem: Value,
}

/// A type known only by its name.
#[derive(Node)]
#[node(key = "onnx.OpaqueType")]
#[repr(C)]
pub struct OpaqueType {
    /// Domain of the name; empty for `ai.onnx`.
    pub domain: Str,
    /// The name.
    pub name: Str,
}

/// A type given as an attribute.
///
/// Its symbolic dimensions are those of the enclosing graphs, and the others are bound
/// right here: nothing outside can refer to them.
#[derive(Node)]
#[node(key = "onnx.TypeAttr")]
#[repr(C)]
pub struct TypeAttr {
    /// The type, or None if it is unknown.
    #[node(def)]
    pub ty: Value,
}

/// A constant tensor of strings.
#[derive(Node)]
#[node(key = "onnx.StringTensor")]
#[repr(C)]
pub struct StringTensor {
    /// The shape; empty for a scalar.
    pub shape: Shape,
    /// The elements in row-major order.
    pub values: Array<Bytes>,
}

/// A constant sparse tensor.
#[derive(Node)]
#[node(key = "onnx.SparseTensor")]
#[repr(C)]
pub struct SparseTensor {
    /// Shape of the dense tensor.
    pub shape: Shape,
    /// Row-major positions of the given elements, ascending: uint64, of rank 1.
    pub positions: Tensor,
    /// The elements at these positions: a constant of rank 1.
    pub values: Value,
}

/// Inside a function, an attribute whose value is that of an attribute of the call.
#[derive(Node)]
#[node(key = "onnx.AttrRef")]
#[repr(C)]
pub struct AttrRef {
    /// Name of the function's attribute, which callers use too and which is therefore
    /// compared.
    pub name: Str,
}

/// An input of a graph or a function.
#[derive(Node)]
#[node(key = "onnx.Input", kind = var)]
#[repr(C)]
pub struct Input {
    /// The name in the file.
    #[node(ignore)]
    pub name: Str,
    /// The declared type, or None.
    pub ty: Value,
    /// The default for an input that is not fed, or None.
    ///
    /// This is an initializer that is also listed as an input, in a model of IR version 4 or
    /// later. Before version 4, every initializer had to be listed, and is a plain constant.
    pub default: Value,
    /// Name of the graph or function whose input it is.
    #[node(ignore, default)]
    pub graph: Str,
    /// True if that is a function.
    #[node(ignore, default)]
    pub in_function: bool,
    /// Position among the inputs.
    #[node(ignore, default)]
    pub position: i64,
    /// Documentation, metadata and denotations of the input, as an encoded `ValueInfoProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// One application of an operator or a local function.
///
/// Using one call twice is not the same program as using two identical calls.
#[derive(Node)]
#[node(key = "onnx.Call", kind = dag)]
#[repr(C)]
pub struct Call {
    /// Domain of the operator; empty for `ai.onnx`, and for a local function, which is
    /// given by `callee`.
    pub domain: Str,
    /// Name of the operator; empty for a local function.
    pub op: Str,
    /// Version of the operator's domain as imported by the model or the enclosing
    /// function; zero for a local function.
    pub version: i64,
    /// The local function that is called.
    pub callee: Option<Ref<Function>>,
    /// The attributes by name. A float, int or string is a plain value (bytes if it is
    /// not UTF-8), a list an array of these, a tensor a constant, a graph a [`Graph`], a
    /// type a [`TypeAttr`], and a use of a function's attribute an [`AttrRef`].
    pub attrs: Map<Str, Value>,
    /// The inputs; None for an omitted optional input. Trailing omitted inputs are left out.
    pub inputs: Array,
    /// The number of outputs that the node requests, without trailing unnamed ones; for a
    /// local function, the number of its outputs.
    ///
    /// Operators depend on this number: Split divides its input into that many parts, and
    /// some versions of BatchNormalization train if statistics are requested.
    pub outputs: i64,
    /// Name of the node.
    #[node(ignore, default)]
    pub name: Str,
    /// Name of the operator or function as the node has it, with its domain if that is
    /// not `ai.onnx`.
    #[node(ignore, default)]
    pub op_name: Str,
    /// Documentation of the node.
    #[node(ignore, default)]
    pub doc: Str,
    /// Names of all inputs in the file.
    #[node(ignore, default)]
    pub input_names: Array<Str>,
    /// Names of all outputs in the file.
    #[node(ignore, default)]
    pub output_names: Array<Str>,
    /// Name of the graph or function that lists the node.
    #[node(ignore, default)]
    pub graph: Str,
    /// True if that is a function.
    #[node(ignore, default)]
    pub in_function: bool,
    /// Position of the node in that list.
    #[node(ignore, default)]
    pub position: i64,
    /// The number of graphs around the one that lists the node; -1 if it is not known.
    ///
    /// A node may be listed further out than it is used. It then runs once, instead of once
    /// for each run of the body, and so it is shown and written there.
    #[node(ignore, default = -1)]
    pub depth: i64,
    /// Metadata of the node, what else there is to know about its attributes, and the reasons
    /// why its operator set does not allow it, as an encoded `NodeProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// One of the results of a call.
#[derive(Node)]
#[node(key = "onnx.Output")]
#[repr(C)]
pub struct Output {
    /// The call.
    pub call: Ref<Call>,
    /// The index of the output, from 0.
    pub index: i64,
}

/// A graph: the main one, or a body that may use the values of the graphs around it.
///
/// It contains only what its results need.
#[derive(Node)]
#[node(key = "onnx.Graph", scope)]
#[node(attrs(dyn isoform_ir::transform::Script))]
#[repr(C)]
pub struct Graph {
    /// The inputs.
    #[node(def)]
    pub params: Array<Ref<Input>>,
    /// The declared types of the results; None where the type is not declared.
    #[node(def)]
    pub result_types: Array,
    /// The results, which are values.
    pub results: Array,
    /// Name of the graph.
    #[node(ignore, default)]
    pub name: Str,
    /// Names of the results in the file.
    #[node(ignore, default)]
    pub result_names: Array<Str>,
    /// Documentation of the graph.
    #[node(ignore, default)]
    pub doc: Str,
    /// Metadata of the graph, of its outputs and of its constants, types of values between
    /// nodes, and quantisation annotations, as an encoded `GraphProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// A function that the model defines.
///
/// Calling one function twice is not the same program as calling two identical ones,
/// because the calls inside them are distinct.
#[derive(Node)]
#[node(key = "onnx.Function", scope)]
#[node(attrs(dyn isoform_ir::transform::Script))]
#[repr(C)]
pub struct Function {
    /// The inputs, which have no types.
    #[node(def)]
    pub params: Array<Ref<Input>>,
    /// Names of the attributes a call has to give, sorted.
    pub attrs: Array<Str>,
    /// Attributes a call may leave out, with their values then.
    pub attr_defaults: Map<Str, Value>,
    /// The results, which are values.
    pub results: Array,
    /// Name of the function, with its domain and overload.
    #[node(ignore, default)]
    pub name: Str,
    /// Names of the results in the file.
    #[node(ignore, default)]
    pub result_names: Array<Str>,
    /// Documentation of the function.
    #[node(ignore, default)]
    pub doc: Str,
    /// Domain, name, overload, imported operator sets and metadata of the function, as an
    /// encoded `FunctionProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// A whole model, reduced to what it computes.
#[derive(Node)]
#[node(key = "onnx.Program")]
#[node(attrs(dyn isoform_ir::transform::Root, dyn isoform_ir::transform::Script))]
#[repr(C)]
pub struct Program {
    /// The main graph.
    pub graph: Ref<Graph>,
    /// Empty unless the names of inputs and outputs are compared: then an array of the
    /// input names and one of the output names.
    pub io_names: Array<Array<Str>>,
    /// Version of the file format.
    #[node(ignore, default)]
    pub ir_version: i64,
    /// Name and version of the tool that wrote the model.
    #[node(ignore, default)]
    pub producer: Str,
    /// Imported operator sets, version, domain, documentation, metadata and training steps
    /// of the model, as an encoded `ModelProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// Registers all node types of this module.
///
/// They are registered on first use anyway; this is for programs that look up types by
/// their keys before any model is loaded.
///
/// # Errors
///
/// `ValueError` if another definition owns one of the keys.
pub fn register() -> isoform::Result<()> {
    isoform::types::register::<Dim>()?;
    isoform::types::register::<TensorType>()?;
    isoform::types::register::<SparseTensorType>()?;
    isoform::types::register::<SequenceType>()?;
    isoform::types::register::<MapType>()?;
    isoform::types::register::<OptionalType>()?;
    isoform::types::register::<OpaqueType>()?;
    isoform::types::register::<TypeAttr>()?;
    isoform::types::register::<StringTensor>()?;
    isoform::types::register::<SparseTensor>()?;
    isoform::types::register::<AttrRef>()?;
    isoform::types::register::<Input>()?;
    isoform::types::register::<Call>()?;
    isoform::types::register::<Output>()?;
    isoform::types::register::<Graph>()?;
    isoform::types::register::<Function>()?;
    isoform::types::register::<Program>()?;
    Ok(())
}
