# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `onnx`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "AttrRef",
    "Call",
    "Dim",
    "Function",
    "Graph",
    "Input",
    "MapType",
    "OpaqueType",
    "OptionalType",
    "Output",
    "Program",
    "SequenceType",
    "SparseTensor",
    "SparseTensorType",
    "StringTensor",
    "TensorType",
    "TypeAttr",
]

class Dim(isoform.Object):
    """A symbolic dimension. Two uses of one name are two uses of one `Dim`.

    It is bound at its first occurrence in the types of a graph's inputs and outputs. An
    inner graph may bind it again, so comparison does not distinguish whether the types of
    its inputs use a dimension of the outer graph or its own. If sibling graphs use a name
    that no enclosing graph uses, each has its own dimension.
    """

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name in the file."""
    def __init__(self, name: builtins.str) -> None: ...

class TensorType(isoform.Object):
    """The type of a dense tensor."""

    __match_args__ = ("elem", "shape")
    @property
    def elem(self) -> typing.Any:
        """A `DType`, the string `"string"`, or None if it is unknown."""
    @property
    def shape(self) -> isoform.Array[typing.Any] | None:
        """For each dimension an int, a `Dim`, or None if it is unknown, as are negative ones
        in a file; no array if even the rank is unknown.
        """
    def __init__(
        self, elem: typing.Any, shape: collections.abc.Sequence[typing.Any] | None
    ) -> None: ...

class SparseTensorType(isoform.Object):
    """The type of a sparse tensor."""

    __match_args__ = ("elem", "shape")
    @property
    def elem(self) -> typing.Any:
        """As in `TensorType`."""
    @property
    def shape(self) -> isoform.Array[typing.Any] | None:
        """As in `TensorType`."""
    def __init__(
        self, elem: typing.Any, shape: collections.abc.Sequence[typing.Any] | None
    ) -> None: ...

class SequenceType(isoform.Object):
    """The type of a sequence."""

    __match_args__ = ("elem",)
    @property
    def elem(self) -> typing.Any:
        """Type of the elements, or None if it is unknown."""
    def __init__(self, elem: typing.Any) -> None: ...

class MapType(isoform.Object):
    """The type of a map."""

    __match_args__ = ("key", "value")
    @property
    def key(self) -> typing.Any:
        """Element type of the keys, as in `TensorType`."""
    @property
    def value(self) -> typing.Any:
        """Type of the values, or None if it is unknown."""
    def __init__(self, key: typing.Any, value: typing.Any) -> None: ...

class OptionalType(isoform.Object):
    """The type of a value that may be absent."""

    __match_args__ = ("elem",)
    @property
    def elem(self) -> typing.Any:
        """Type of the value if present, or None if it is unknown."""
    def __init__(self, elem: typing.Any) -> None: ...

class OpaqueType(isoform.Object):
    """A type known only by its name."""

    __match_args__ = ("domain", "name")
    @property
    def domain(self) -> builtins.str:
        """Domain of the name; empty for `ai.onnx`."""
    @property
    def name(self) -> builtins.str:
        """The name."""
    def __init__(self, domain: builtins.str, name: builtins.str) -> None: ...

class TypeAttr(isoform.Object):
    """A type given as an attribute.

    Its symbolic dimensions are those of the enclosing graphs, and the others are bound
    right here: nothing outside can refer to them.
    """

    __match_args__ = ("ty",)
    @property
    def ty(self) -> typing.Any:
        """The type, or None if it is unknown."""
    def __init__(self, ty: typing.Any) -> None: ...

class StringTensor(isoform.Object):
    """A constant tensor of strings."""

    __match_args__ = ("shape", "values")
    @property
    def shape(self) -> isoform.Shape:
        """The shape; empty for a scalar."""
    @property
    def values(self) -> isoform.Array[builtins.bytes]:
        """The elements in row-major order."""
    def __init__(
        self, shape: collections.abc.Sequence[int], values: collections.abc.Sequence[builtins.bytes]
    ) -> None: ...

class SparseTensor(isoform.Object):
    """A constant sparse tensor."""

    __match_args__ = ("shape", "positions", "values")
    @property
    def shape(self) -> isoform.Shape:
        """Shape of the dense tensor."""
    @property
    def positions(self) -> isoform.Tensor:
        """Row-major positions of the given elements, ascending: uint64, of rank 1."""
    @property
    def values(self) -> typing.Any:
        """The elements at these positions: a constant of rank 1."""
    def __init__(
        self, shape: collections.abc.Sequence[int], positions: isoform.Tensor, values: typing.Any
    ) -> None: ...

class AttrRef(isoform.Object):
    """Inside a function, an attribute whose value is that of an attribute of the call."""

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """Name of the function's attribute, which callers use too and which is therefore
        compared.
        """
    def __init__(self, name: builtins.str) -> None: ...

class Input(isoform.Object):
    """An input of a graph or a function."""

    __match_args__ = ("name", "ty", "default", "graph", "in_function", "position", "meta")
    @property
    def name(self) -> builtins.str:
        """The name in the file."""
    @property
    def ty(self) -> typing.Any:
        """The declared type, or None."""
    @property
    def default(self) -> typing.Any:
        """The default for an input that is not fed, or None.

        This is an initializer that is also listed as an input, in a model of IR version 4 or
        later. Before version 4, every initializer had to be listed, and is a plain constant.
        """
    @property
    def graph(self) -> builtins.str:
        """Name of the graph or function whose input it is."""
    @property
    def in_function(self) -> builtins.bool:
        """True if that is a function."""
    @property
    def position(self) -> builtins.int:
        """Position among the inputs."""
    @property
    def meta(self) -> builtins.bytes | None:
        """Documentation, metadata and denotations of the input, as an encoded `ValueInfoProto`."""
    def __init__(
        self,
        name: builtins.str,
        ty: typing.Any,
        default: typing.Any,
        graph: builtins.str = ...,
        in_function: builtins.bool = ...,
        position: builtins.int = ...,
        meta: builtins.bytes | None = ...,
    ) -> None: ...

class Call(isoform.Object):
    """One application of an operator or a local function.

    Using one call twice is not the same program as using two identical calls.
    """

    __match_args__ = (
        "domain",
        "op",
        "version",
        "callee",
        "attrs",
        "inputs",
        "outputs",
        "name",
        "op_name",
        "doc",
        "input_names",
        "output_names",
        "graph",
        "in_function",
        "position",
        "depth",
        "meta",
    )
    @property
    def domain(self) -> builtins.str:
        """Domain of the operator; empty for `ai.onnx`, and for a local function, which is
        given by `callee`.
        """
    @property
    def op(self) -> builtins.str:
        """Name of the operator; empty for a local function."""
    @property
    def version(self) -> builtins.int:
        """Version of the operator's domain as imported by the model or the enclosing
        function; zero for a local function.
        """
    @property
    def callee(self) -> Function | None:
        """The local function that is called."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """The attributes by name. A float, int or string is a plain value (bytes if it is
        not UTF-8), a list an array of these, a tensor a constant, a graph a `Graph`, a
        type a `TypeAttr`, and a use of a function's attribute an `AttrRef`.
        """
    @property
    def inputs(self) -> isoform.Array[typing.Any]:
        """The inputs; None for an omitted optional input. Trailing omitted inputs are left out."""
    @property
    def outputs(self) -> builtins.int:
        """The number of outputs that the node requests, without trailing unnamed ones; for a
        local function, the number of its outputs.

        Operators depend on this number: Split divides its input into that many parts, and
        some versions of BatchNormalization train if statistics are requested.
        """
    @property
    def name(self) -> builtins.str:
        """Name of the node."""
    @property
    def op_name(self) -> builtins.str:
        """Name of the operator or function as the node has it, with its domain if that is
        not `ai.onnx`.
        """
    @property
    def doc(self) -> builtins.str:
        """Documentation of the node."""
    @property
    def input_names(self) -> isoform.Array[builtins.str]:
        """Names of all inputs in the file."""
    @property
    def output_names(self) -> isoform.Array[builtins.str]:
        """Names of all outputs in the file."""
    @property
    def graph(self) -> builtins.str:
        """Name of the graph or function that lists the node."""
    @property
    def in_function(self) -> builtins.bool:
        """True if that is a function."""
    @property
    def position(self) -> builtins.int:
        """Position of the node in that list."""
    @property
    def depth(self) -> builtins.int:
        """The number of graphs around the one that lists the node; -1 if it is not known.

        A node may be listed further out than it is used. It then runs once, instead of once
        for each run of the body, and so it is shown and written there.
        """
    @property
    def meta(self) -> builtins.bytes | None:
        """Metadata of the node, what else there is to know about its attributes, and the reasons
        why its operator set does not allow it, as an encoded `NodeProto`.
        """
    def __init__(
        self,
        domain: builtins.str,
        op: builtins.str,
        version: builtins.int,
        callee: Function | None,
        attrs: collections.abc.Mapping[builtins.str, typing.Any],
        inputs: collections.abc.Sequence[typing.Any],
        outputs: builtins.int,
        name: builtins.str = ...,
        op_name: builtins.str = ...,
        doc: builtins.str = ...,
        input_names: collections.abc.Sequence[builtins.str] = ...,
        output_names: collections.abc.Sequence[builtins.str] = ...,
        graph: builtins.str = ...,
        in_function: builtins.bool = ...,
        position: builtins.int = ...,
        depth: builtins.int = ...,
        meta: builtins.bytes | None = ...,
    ) -> None: ...

class Output(isoform.Object):
    """One of the results of a call."""

    __match_args__ = ("call", "index")
    @property
    def call(self) -> Call:
        """The call."""
    @property
    def index(self) -> builtins.int:
        """The index of the output, from 0."""
    def __init__(self, call: Call, index: builtins.int) -> None: ...

class Graph(isoform.Object):
    """A graph: the main one, or a body that may use the values of the graphs around it.

    It contains only what its results need.
    """

    __match_args__ = ("params", "result_types", "results", "name", "result_names", "doc", "meta")
    @property
    def params(self) -> isoform.Array[Input]:
        """The inputs."""
    @property
    def result_types(self) -> isoform.Array[typing.Any]:
        """The declared types of the results; None where the type is not declared."""
    @property
    def results(self) -> isoform.Array[typing.Any]:
        """The results, which are values."""
    @property
    def name(self) -> builtins.str:
        """Name of the graph."""
    @property
    def result_names(self) -> isoform.Array[builtins.str]:
        """Names of the results in the file."""
    @property
    def doc(self) -> builtins.str:
        """Documentation of the graph."""
    @property
    def meta(self) -> builtins.bytes | None:
        """Metadata of the graph, of its outputs and of its constants, types of values between
        nodes, and quantisation annotations, as an encoded `GraphProto`.
        """
    def __init__(
        self,
        params: collections.abc.Sequence[Input],
        result_types: collections.abc.Sequence[typing.Any],
        results: collections.abc.Sequence[typing.Any],
        name: builtins.str = ...,
        result_names: collections.abc.Sequence[builtins.str] = ...,
        doc: builtins.str = ...,
        meta: builtins.bytes | None = ...,
    ) -> None: ...

class Function(isoform.Object):
    """A function that the model defines.

    Calling one function twice is not the same program as calling two identical ones,
    because the calls inside them are distinct.
    """

    __match_args__ = (
        "params",
        "attrs",
        "attr_defaults",
        "results",
        "name",
        "result_names",
        "doc",
        "meta",
    )
    @property
    def params(self) -> isoform.Array[Input]:
        """The inputs, which have no types."""
    @property
    def attrs(self) -> isoform.Array[builtins.str]:
        """Names of the attributes a call has to give, sorted."""
    @property
    def attr_defaults(self) -> isoform.Map[builtins.str, typing.Any]:
        """Attributes a call may leave out, with their values then."""
    @property
    def results(self) -> isoform.Array[typing.Any]:
        """The results, which are values."""
    @property
    def name(self) -> builtins.str:
        """Name of the function, with its domain and overload."""
    @property
    def result_names(self) -> isoform.Array[builtins.str]:
        """Names of the results in the file."""
    @property
    def doc(self) -> builtins.str:
        """Documentation of the function."""
    @property
    def meta(self) -> builtins.bytes | None:
        """Domain, name, overload, imported operator sets and metadata of the function, as an
        encoded `FunctionProto`.
        """
    def __init__(
        self,
        params: collections.abc.Sequence[Input],
        attrs: collections.abc.Sequence[builtins.str],
        attr_defaults: collections.abc.Mapping[builtins.str, typing.Any],
        results: collections.abc.Sequence[typing.Any],
        name: builtins.str = ...,
        result_names: collections.abc.Sequence[builtins.str] = ...,
        doc: builtins.str = ...,
        meta: builtins.bytes | None = ...,
    ) -> None: ...

class Program(isoform.Object):
    """A whole model, reduced to what it computes."""

    __match_args__ = ("graph", "io_names", "ir_version", "producer", "meta")
    @property
    def graph(self) -> Graph:
        """The main graph."""
    @property
    def io_names(self) -> isoform.Array[isoform.Array[builtins.str]]:
        """Empty unless the names of inputs and outputs are compared: then an array of the
        input names and one of the output names.
        """
    @property
    def ir_version(self) -> builtins.int:
        """Version of the file format."""
    @property
    def producer(self) -> builtins.str:
        """Name and version of the tool that wrote the model."""
    @property
    def meta(self) -> builtins.bytes | None:
        """Imported operator sets, version, domain, documentation, metadata and training steps
        of the model, as an encoded `ModelProto`.
        """
    def __init__(
        self,
        graph: Graph,
        io_names: collections.abc.Sequence[collections.abc.Sequence[builtins.str]],
        ir_version: builtins.int = ...,
        producer: builtins.str = ...,
        meta: builtins.bytes | None = ...,
    ) -> None: ...
