//! The node types of an imported model.
//!
//! The types are declared like the types of any other IR. Comparison, hashing, walks
//! and printing rely on the declared fields alone.
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
//! A *value* below is an [`Output`], an [`Input`], a constant, or None for an omitted
//! optional input.
//!
//! # What is compared
//!
//! Names, documentation and positions are kept in ignored fields: they help to show a
//! difference to a person, and are never compared.
//!
//! # What is kept for writing a model
//!
//! The ignored fields called `meta` hold the rest of a part's description in the file:
//! metadata, denotations, imported operator sets, types of values between nodes,
//! quantisation and training. The form is an encoded message of the file format with
//! only these fields (a `ModelProto` for a program, a `NodeProto` for a call, and so
//! on), or None if there is nothing to keep. A pass that replaces a part may pass the
//! part's `meta` on.

use isoform::values::{Bytes, Shape, Tensor};
use isoform::{Array, Map, Node, Ref, Str, Value};

use crate::roles;

/// A symbolic dimension. Uses of the same name share one `Dim`.
///
/// A dimension is bound at the first occurrence in the types of a graph's inputs and
/// outputs. An inner graph may bind the dimension again. Comparison therefore does not
/// distinguish whether the types of the inner inputs use an outer or an inner
/// dimension. If sibling graphs use a name that no enclosing graph uses, every sibling
/// has a separate dimension.
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
    /// A [`DType`](isoform::values::DType), the string `"string"`, or None if unknown.
    pub elem: Value,
    /// For each dimension an int, a [`Dim`], or None if unknown (negative in a file).
    /// No array if even the rank is unknown.
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
    /// Type of the elements, or None if unknown.
    pub elem: Value,
}

/// The type of a map.
#[derive(Node)]
#[node(key = "onnx.MapType")]
#[repr(C)]
pub struct MapType {
    /// Element type of the keys, as in [`TensorType`].
    pub key: Value,
    /// Type of the values, or None if unknown.
    pub value: Value,
}

/// The type of an optional value.
#[derive(Node)]
#[node(key = "onnx.OptionalType")]
#[repr(C)]
pub struct OptionalType {
    /// Type of the value if present, or None if unknown.
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
/// Symbolic dimensions of the enclosing graphs may occur in the type. The remaining
/// dimensions are bound right here: nothing outside can refer to them.
#[derive(Node)]
#[node(key = "onnx.TypeAttr")]
#[node(attrs("rewrite.pure" = true, "rewrite.form" = "data"))]
#[repr(C)]
pub struct TypeAttr {
    /// The type, or None if unknown.
    #[node(def)]
    pub ty: Value,
}

/// A constant tensor of strings.
#[derive(Node)]
#[node(key = "onnx.StringTensor")]
#[node(attrs("rewrite.pure" = true, "rewrite.constant" = true))]
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
#[node(attrs("rewrite.pure" = true, "rewrite.constant" = true))]
#[repr(C)]
pub struct SparseTensor {
    /// Shape of the dense tensor.
    pub shape: Shape,
    /// Row-major positions of the given elements, ascending: uint64, of rank 1.
    pub positions: Tensor,
    /// The elements at these positions: a constant of rank 1.
    pub values: Value,
}

/// A use of an attribute of the enclosing function. The value comes from the call.
#[derive(Node)]
#[node(key = "onnx.AttrRef")]
#[node(attrs("rewrite.pure" = true, "rewrite.form" = "data"))]
#[repr(C)]
pub struct AttrRef {
    /// Name of the function's attribute. The name is compared, because callers use it
    /// too.
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
    /// In a model of IR version 4 or later, an initializer that is also listed as an
    /// input is the default of the input. Before version 4, every initializer had to be
    /// listed, and is a plain constant.
    pub default: Value,
    /// Name of the graph or function with this input.
    #[node(ignore, default)]
    pub graph: Str,
    /// True if that is a function.
    #[node(ignore, default)]
    pub in_function: bool,
    /// Position among the inputs.
    #[node(ignore, default)]
    pub position: i64,
    /// Documentation, metadata and denotations of the input, as an encoded
    /// `ValueInfoProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// An application of an operator or a local function.
///
/// A program that uses one call twice differs from a program with two identical calls.
#[derive(Node)]
#[node(key = "onnx.Call", kind = dag)]
#[node(attrs(
    "rewrite.pure" = roles::pure(),
    "rewrite.commutative" = roles::commutative(),
    "rewrite.repeatable" = roles::repeatable(),
    // A call may fail on some inputs, and a body may never run.
    "rewrite.may_fail" = true,
))]
#[repr(C)]
pub struct Call {
    /// Domain of the operator; empty for `ai.onnx`, and for a local function, given by
    /// `callee`.
    pub domain: Str,
    /// Name of the operator; empty for a local function.
    pub op: Str,
    /// Version of the operator's domain as imported by the model or the enclosing
    /// function; zero for a local function.
    pub version: i64,
    /// The local function that is called.
    pub callee: Option<Ref<Function>>,
    /// The attributes by name. A float, int or string is a plain value (bytes if not
    /// UTF-8), a list is an array, a tensor is a constant, and a graph is a [`Graph`].
    /// A type is a [`TypeAttr`], and a use of a function's attribute an [`AttrRef`].
    pub attrs: Map<Str, Value>,
    /// The inputs, with None for an omitted optional input. Trailing omitted inputs are
    /// left out.
    pub inputs: Array,
    /// The number of outputs requested by the node, without trailing unnamed outputs.
    /// For a local function, the number of outputs of the function.
    ///
    /// Operators depend on this number: Split divides the input into as many parts, and
    /// some versions of BatchNormalization train if statistics are requested.
    pub outputs: i64,
    /// Name of the node.
    #[node(ignore, default)]
    pub name: Str,
    /// Name of the operator or function as written in the node, with the domain unless
    /// `ai.onnx`.
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
    /// The number of graphs around the graph that lists the node; -1 if unknown.
    ///
    /// A node may be listed further out than it is used. The node then runs once
    /// instead of once for each run of the body, and is shown and written further out,
    /// too.
    #[node(ignore, default = -1)]
    pub depth: i64,
    /// Metadata of the node, further facts about the attributes, and the reasons why
    /// the operator set does not allow the node, as an encoded `NodeProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// One of the results of a call.
#[derive(Node)]
#[node(key = "onnx.Output")]
#[node(attrs("rewrite.pure" = true, "rewrite.projection" = roles::projection()))]
#[repr(C)]
pub struct Output {
    /// The call.
    pub call: Ref<Call>,
    /// The index of the output, from 0.
    pub index: i64,
}

/// The main graph, or a body that may use the values of the graphs around it.
///
/// The graph contains only nodes needed by its results.
#[derive(Node)]
#[node(key = "onnx.Graph", scope)]
#[node(attrs(dyn isoform_ir::transform::Script))]
#[repr(C)]
pub struct Graph {
    /// The inputs.
    #[node(def)]
    pub params: Array<Ref<Input>>,
    /// The declared types of the results, with None for a result without a declared
    /// type.
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
    /// Metadata of the graph, of the outputs and of the constants, types of values
    /// between nodes, and quantisation annotations, as an encoded `GraphProto`.
    #[node(ignore, default)]
    pub meta: Option<Bytes>,
}

/// A function that the model defines.
///
/// A program that calls one function twice differs from a program that calls two
/// identical functions, because the calls inside are distinct.
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
    /// Name of the function, with domain and overload.
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

/// A whole model, reduced to its computation.
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
/// The types are registered on first use anyway. Call this function before a look-up of
/// types by their keys without a loaded model.
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
