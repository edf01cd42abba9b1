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
    """A symbolic dimension. Uses of the same name share one `Dim`.

    A dimension is bound at the first occurrence in the types of a graph's inputs and
    outputs. An inner graph may bind the dimension again. Comparison therefore does not
    distinguish whether the types of the inner inputs use an outer or an inner
    dimension. If sibling graphs use a name that no enclosing graph uses, every sibling
    has a separate dimension.
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
        """A `DType`, the string `"string"`, or None if unknown."""
    @property
    def shape(self) -> isoform.Array[typing.Any] | None:
        """For each dimension an int, a `Dim`, or None if unknown (negative in a file).
        No array if even the rank is unknown.
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
        """Type of the elements, or None if unknown."""
    def __init__(self, elem: typing.Any) -> None: ...

class MapType(isoform.Object):
    """The type of a map."""

    __match_args__ = ("key", "value")
    @property
    def key(self) -> typing.Any:
        """Element type of the keys, as in `TensorType`."""
    @property
    def value(self) -> typing.Any:
        """Type of the values, or None if unknown."""
    def __init__(self, key: typing.Any, value: typing.Any) -> None: ...

class OptionalType(isoform.Object):
    """The type of an optional value."""

    __match_args__ = ("elem",)
    @property
    def elem(self) -> typing.Any:
        """Type of the value if present, or None if unknown."""
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

    Symbolic dimensions of the enclosing graphs may occur in the type. The remaining
    dimensions are bound right here: nothing outside can refer to them.
    """

    __match_args__ = ("ty",)
    @property
    def ty(self) -> typing.Any:
        """The type, or None if unknown."""
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
    """A use of an attribute of the enclosing function. The value comes from the call."""

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """Name of the function's attribute. The name is compared, because callers use it
        too.
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

        In a model of IR version 4 or later, an initializer that is also listed as an
        input is the default of the input. Before version 4, every initializer had to be
        listed, and is a plain constant.
        """
    @property
    def graph(self) -> builtins.str:
        """Name of the graph or function with this input."""
    @property
    def in_function(self) -> builtins.bool:
        """True if that is a function."""
    @property
    def position(self) -> builtins.int:
        """Position among the inputs."""
    @property
    def meta(self) -> builtins.bytes | None:
        """Documentation, metadata and denotations of the input, as an encoded
        `ValueInfoProto`.
        """
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
    """An application of an operator or a local function.

    A program that uses one call twice differs from a program with two identical calls.
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
        """Domain of the operator; empty for `ai.onnx`, and for a local function, given by
        `callee`.
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
        """The attributes by name. A float, int or string is a plain value (bytes if not
        UTF-8), a list is an array, a tensor is a constant, and a graph is a `Graph`.
        A type is a `TypeAttr`, and a use of a function's attribute an `AttrRef`.
        """
    @property
    def inputs(self) -> isoform.Array[typing.Any]:
        """The inputs, with None for an omitted optional input. Trailing omitted inputs are
        left out.
        """
    @property
    def outputs(self) -> builtins.int:
        """The number of outputs requested by the node, without trailing unnamed outputs.
        For a local function, the number of outputs of the function.

        Operators depend on this number: Split divides the input into as many parts, and
        some versions of BatchNormalization train if statistics are requested.
        """
    @property
    def name(self) -> builtins.str:
        """Name of the node."""
    @property
    def op_name(self) -> builtins.str:
        """Name of the operator or function as written in the node, with the domain unless
        `ai.onnx`.
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
        """The number of graphs around the graph that lists the node; -1 if unknown.

        A node may be listed further out than it is used. The node then runs once
        instead of once for each run of the body, and is shown and written further out,
        too.
        """
    @property
    def meta(self) -> builtins.bytes | None:
        """Metadata of the node, further facts about the attributes, and the reasons why
        the operator set does not allow the node, as an encoded `NodeProto`.
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
    """The main graph, or a body that may use the values of the graphs around it.

    The graph contains only nodes needed by its results.
    """

    __match_args__ = ("params", "result_types", "results", "name", "result_names", "doc", "meta")
    @property
    def params(self) -> isoform.Array[Input]:
        """The inputs."""
    @property
    def result_types(self) -> isoform.Array[typing.Any]:
        """The declared types of the results, with None for a result without a declared
        type.
        """
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
        """Metadata of the graph, of the outputs and of the constants, types of values
        between nodes, and quantisation annotations, as an encoded `GraphProto`.
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

    A program that calls one function twice differs from a program that calls two
    identical functions, because the calls inside are distinct.
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
        """Name of the function, with domain and overload."""
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
    """A whole model, reduced to its computation."""

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
