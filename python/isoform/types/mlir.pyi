# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `mlir`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "AffineBinary",
    "AffineConstant",
    "AffineConstraint",
    "AffineDim",
    "AffineMapAttr",
    "AffineSetAttr",
    "AffineSymbol",
    "ArrayAttr",
    "Block",
    "CallSiteLocation",
    "ComplexType",
    "DenseArrayAttr",
    "DenseAttr",
    "DenseStringsAttr",
    "DialectAttr",
    "DialectType",
    "DictAttr",
    "DistinctAttr",
    "FileLocation",
    "FloatAttr",
    "FloatType",
    "FunctionType",
    "FusedLocation",
    "IndexType",
    "IntegerAttr",
    "IntegerType",
    "Label",
    "MemRefType",
    "NameLocation",
    "NoneType",
    "Operation",
    "Program",
    "Region",
    "ResourceAttr",
    "SparseAttr",
    "StridedAttr",
    "StringAttr",
    "Symbol",
    "SymbolRefAttr",
    "TensorType",
    "TupleType",
    "UnitAttr",
    "UnknownLocation",
    "UnrankedMemRefType",
    "UnrankedTensorType",
    "Value",
    "VectorType",
]

class Program(isoform.Object):
    """The contents of a file."""

    __match_args__ = ("module", "resources")
    @property
    def module(self) -> Operation:
        """The module."""
    @property
    def resources(self) -> isoform.Map[builtins.str, isoform.Map[builtins.str, builtins.bytes]]:
        """Resources of dialects that attributes of the builtin dialect do not hold, by dialect
        and key.
        """
    def __init__(
        self,
        module: Operation,
        resources: collections.abc.Mapping[
            builtins.str, collections.abc.Mapping[builtins.str, builtins.bytes]
        ] = ...,
    ) -> None: ...

class Operation(isoform.Object):
    """An operation of any dialect."""

    __match_args__ = (
        "name",
        "operands",
        "successors",
        "properties",
        "attributes",
        "results",
        "regions",
        "location",
    )
    @property
    def name(self) -> builtins.str:
        """The name with the dialect: `arith.addi`."""
    @property
    def operands(self) -> isoform.Array[Value]:
        """The operands."""
    @property
    def successors(self) -> isoform.Array[Label]:
        """The blocks to which a terminator may branch."""
    @property
    def properties(self) -> isoform.Map[builtins.str, isoform.Object]:
        """The attributes in `<{…}>`. Properties that are not a dictionary are the entry of the
        empty key.
        """
    @property
    def attributes(self) -> isoform.Map[builtins.str, isoform.Object]:
        """The attributes in `{…}`."""
    @property
    def results(self) -> isoform.Array[Value]:
        """The results. They are visible inside of the regions."""
    @property
    def regions(self) -> isoform.Array[Region]:
        """The regions."""
    @property
    def location(self) -> isoform.Object | None:
        """The location."""
    def __init__(
        self,
        name: builtins.str,
        operands: collections.abc.Sequence[Value],
        successors: collections.abc.Sequence[Label] = ...,
        properties: collections.abc.Mapping[builtins.str, isoform.Object] = ...,
        attributes: collections.abc.Mapping[builtins.str, isoform.Object] = ...,
        results: collections.abc.Sequence[Value] = ...,
        regions: collections.abc.Sequence[Region] = ...,
        location: isoform.Object | None = ...,
    ) -> None: ...

class Region(isoform.Object):
    """A list of blocks. Everything that is defined inside is visible inside only.

    The definition fields hold no information of their own; they bind what the blocks may
    use before its definition. `Region::new` computes them.
    """

    __match_args__ = ("symbols", "labels", "forward", "blocks")
    @property
    def symbols(self) -> isoform.Array[Symbol]:
        """The private symbols of operations directly in the region, in their order."""
    @property
    def labels(self) -> isoform.Array[Label]:
        """The labels of the blocks, in their order."""
    @property
    def forward(self) -> isoform.Array[Value]:
        """The values that are defined directly in the region and used before, in the order of
        their definitions.
        """
    @property
    def blocks(self) -> isoform.Array[Block]:
        """The blocks."""
    def __init__(
        self,
        symbols: collections.abc.Sequence[Symbol],
        labels: collections.abc.Sequence[Label],
        forward: collections.abc.Sequence[Value],
        blocks: collections.abc.Sequence[Block],
    ) -> None: ...

class Block(isoform.Object):
    """Operations that run one after the other."""

    __match_args__ = ("label", "arguments", "operations")
    @property
    def label(self) -> Label:
        """The target for branches."""
    @property
    def arguments(self) -> isoform.Array[Value]:
        """The arguments."""
    @property
    def operations(self) -> isoform.Array[Operation]:
        """The operations."""
    def __init__(
        self,
        label: Label,
        arguments: collections.abc.Sequence[Value],
        operations: collections.abc.Sequence[Operation],
    ) -> None: ...

class Value(isoform.Object):
    """A result of an operation or an argument of a block, identified by its definition."""

    __match_args__ = ("ty", "name", "location")
    @property
    def ty(self) -> isoform.Object:
        """The type. A symbol in it is a use, also where the value is defined."""
    @property
    def name(self) -> builtins.str:
        """The name in the file, without `%`."""
    @property
    def location(self) -> isoform.Object | None:
        """The location of an argument."""
    def __init__(
        self, ty: isoform.Object, name: builtins.str = ..., location: isoform.Object | None = ...
    ) -> None: ...

class Label(isoform.Object):
    """A block as a target of branches."""

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name in the file, without `^`; empty without a label."""
    def __init__(self, name: builtins.str = ...) -> None: ...

class Symbol(isoform.Object):
    """A private symbol: the operation's `sym_name` and the references to it.

    Public and nested symbols, and references that the nearest symbol table does not
    resolve, are compared by name.
    """

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name in the file."""
    def __init__(self, name: builtins.str) -> None: ...

class IntegerType(isoform.Object):
    """An integer type: `i32`, `si8`, `ui16`."""

    __match_args__ = ("width", "signedness")
    @property
    def width(self) -> builtins.int:
        """The number of bits."""
    @property
    def signedness(self) -> builtins.str:
        """`signless`, `signed` or `unsigned`."""
    def __init__(self, width: builtins.int, signedness: builtins.str) -> None: ...

class FloatType(isoform.Object):
    """A float type: `f32`, `bf16`, `f8E4M3FN`."""

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name in texts."""
    def __init__(self, name: builtins.str) -> None: ...

class IndexType(isoform.Object):
    """The type `index`."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class NoneType(isoform.Object):
    """The type `none`."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class ComplexType(isoform.Object):
    """A complex number."""

    __match_args__ = ("element",)
    @property
    def element(self) -> isoform.Object:
        """The type of both parts."""
    def __init__(self, element: isoform.Object) -> None: ...

class TupleType(isoform.Object):
    """A tuple."""

    __match_args__ = ("types",)
    @property
    def types(self) -> isoform.Array[isoform.Object]:
        """The types of the parts."""
    def __init__(self, types: collections.abc.Sequence[isoform.Object]) -> None: ...

class FunctionType(isoform.Object):
    """The type of a function."""

    __match_args__ = ("inputs", "results")
    @property
    def inputs(self) -> isoform.Array[isoform.Object]:
        """The types of the arguments."""
    @property
    def results(self) -> isoform.Array[isoform.Object]:
        """The types of the results."""
    def __init__(
        self,
        inputs: collections.abc.Sequence[isoform.Object],
        results: collections.abc.Sequence[isoform.Object],
    ) -> None: ...

class VectorType(isoform.Object):
    """A vector."""

    __match_args__ = ("dims", "scalable", "element")
    @property
    def dims(self) -> isoform.Array[builtins.int]:
        """The sizes."""
    @property
    def scalable(self) -> isoform.Array[builtins.bool]:
        """For each dimension, true if it is scalable; empty if none is."""
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    def __init__(
        self,
        dims: collections.abc.Sequence[builtins.int],
        scalable: collections.abc.Sequence[builtins.bool],
        element: isoform.Object,
    ) -> None: ...

class TensorType(isoform.Object):
    """A tensor of a known rank."""

    __match_args__ = ("dims", "element", "encoding")
    @property
    def dims(self) -> isoform.Array[typing.Any]:
        """The size of each dimension; None for a dynamic dimension."""
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    @property
    def encoding(self) -> isoform.Object | None:
        """An attribute of the layout or of bounds."""
    def __init__(
        self,
        dims: collections.abc.Sequence[typing.Any],
        element: isoform.Object,
        encoding: isoform.Object | None,
    ) -> None: ...

class UnrankedTensorType(isoform.Object):
    """A tensor of unknown rank."""

    __match_args__ = ("element",)
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    def __init__(self, element: isoform.Object) -> None: ...

class MemRefType(isoform.Object):
    """A reference to memory, of a known rank."""

    __match_args__ = ("dims", "element", "layout", "space")
    @property
    def dims(self) -> isoform.Array[typing.Any]:
        """As in `TensorType`."""
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    @property
    def layout(self) -> isoform.Object | None:
        """The layout; None for the identity."""
    @property
    def space(self) -> isoform.Object | None:
        """The memory space; None for the default, which is also written as the integer 0."""
    def __init__(
        self,
        dims: collections.abc.Sequence[typing.Any],
        element: isoform.Object,
        layout: isoform.Object | None,
        space: isoform.Object | None,
    ) -> None: ...

class UnrankedMemRefType(isoform.Object):
    """A reference to memory, of unknown rank."""

    __match_args__ = ("element", "space")
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    @property
    def space(self) -> isoform.Object | None:
        """As in `MemRefType`."""
    def __init__(self, element: isoform.Object, space: isoform.Object | None) -> None: ...

class DialectType(isoform.Object):
    """A type of another dialect: `!tt.ptr<f32>`.

    Both spellings, `!tt.ptr<f32>` and `!tt<ptr<f32>>`, are the same type.
    """

    __match_args__ = ("dialect", "name", "body", "spaces")
    @property
    def dialect(self) -> builtins.str:
        """The name of the dialect."""
    @property
    def name(self) -> builtins.str:
        """The name of the type; empty if the body does not begin with one."""
    @property
    def body(self) -> isoform.Array[typing.Any] | None:
        """The tokens between the angle brackets; None without brackets.

        A word or punctuation is a string, a decimal integer an int. A string is a
        `StringAttr`, a symbol a `SymbolRefAttr`,
        a type or attribute of a dialect a node, and so is an affine map or set, a distinct
        attribute or a resource. Aliases are replaced by their tokens.
        """
    @property
    def spaces(self) -> builtins.bytes | None:
        """For each token, and for the closing bracket, 1 if white space precedes it; for
        writing.
        """
    def __init__(
        self,
        dialect: builtins.str,
        name: builtins.str,
        body: collections.abc.Sequence[typing.Any] | None,
        spaces: builtins.bytes | None = ...,
    ) -> None: ...

class UnitAttr(isoform.Object):
    """An attribute whose presence is its value."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class IntegerAttr(isoform.Object):
    """An integer with its type."""

    __match_args__ = ("value", "ty")
    @property
    def value(self) -> typing.Any:
        """A bool for `i1`, otherwise an int. A signless integer counts as signed: `255 : i8`
        is -1.
        """
    @property
    def ty(self) -> isoform.Object:
        """An `IntegerType` or the index type."""
    def __init__(self, value: typing.Any, ty: isoform.Object) -> None: ...

class FloatAttr(isoform.Object):
    """A float with its type."""

    __match_args__ = ("bits", "ty")
    @property
    def bits(self) -> typing.Any:
        """The bits, as an int that is not negative."""
    @property
    def ty(self) -> isoform.Object:
        """A `FloatType`."""
    def __init__(self, bits: typing.Any, ty: isoform.Object) -> None: ...

class StringAttr(isoform.Object):
    """A string."""

    __match_args__ = ("value", "ty")
    @property
    def value(self) -> typing.Any:
        """A str, or bytes for a string that is not UTF-8."""
    @property
    def ty(self) -> isoform.Object | None:
        """The type, for the few strings that have one."""
    def __init__(self, value: typing.Any, ty: isoform.Object | None = ...) -> None: ...

class ArrayAttr(isoform.Object):
    """A list."""

    __match_args__ = ("elements",)
    @property
    def elements(self) -> isoform.Array[isoform.Object]:
        """The elements."""
    def __init__(self, elements: collections.abc.Sequence[isoform.Object]) -> None: ...

class DictAttr(isoform.Object):
    """A dictionary."""

    __match_args__ = ("entries",)
    @property
    def entries(self) -> isoform.Map[builtins.str, isoform.Object]:
        """The entries."""
    def __init__(self, entries: collections.abc.Mapping[builtins.str, isoform.Object]) -> None: ...

class SymbolRefAttr(isoform.Object):
    """A reference to a symbol: `@f`, `@module::@f`."""

    __match_args__ = ("root", "path")
    @property
    def root(self) -> typing.Any:
        """The `Symbol`, if it is private and in the nearest symbol table;
        otherwise its name.
        """
    @property
    def path(self) -> isoform.Array[builtins.str]:
        """The names of the symbols inside of it."""
    def __init__(
        self, root: typing.Any, path: collections.abc.Sequence[builtins.str] = ...
    ) -> None: ...

class DenseArrayAttr(isoform.Object):
    """A list of numbers of one type: `array<i64: 1, 2>`."""

    __match_args__ = ("element", "data")
    @property
    def element(self) -> isoform.Object:
        """The type of the elements."""
    @property
    def data(self) -> builtins.bytes:
        """The elements, little-endian, each in whole bytes."""
    def __init__(self, element: isoform.Object, data: builtins.bytes) -> None: ...

class DenseAttr(isoform.Object):
    """The numbers of a tensor or vector: `dense<0.0> : tensor<4xf32>`."""

    __match_args__ = ("ty", "data")
    @property
    def ty(self) -> isoform.Object:
        """A `TensorType` or `VectorType`."""
    @property
    def data(self) -> builtins.bytes:
        """The elements in row-major order, little-endian, each in whole bytes; a single
        element if all are equal.
        """
    def __init__(self, ty: isoform.Object, data: builtins.bytes) -> None: ...

class DenseStringsAttr(isoform.Object):
    """Elements of a tensor that are written as strings, since their type has no numbers."""

    __match_args__ = ("ty", "values")
    @property
    def ty(self) -> isoform.Object:
        """The type of the tensor."""
    @property
    def values(self) -> isoform.Array[typing.Any]:
        """The elements as in `StringAttr::value`; a single element if all are equal."""
    def __init__(
        self, ty: isoform.Object, values: collections.abc.Sequence[typing.Any]
    ) -> None: ...

class SparseAttr(isoform.Object):
    """A tensor with few elements that are not zero."""

    __match_args__ = ("ty", "indices", "values")
    @property
    def ty(self) -> isoform.Object:
        """The type of the tensor."""
    @property
    def indices(self) -> isoform.Object:
        """The places: a `DenseAttr` of 64-bit integers."""
    @property
    def values(self) -> isoform.Object:
        """The elements there: a `DenseAttr` or `DenseStringsAttr`."""
    def __init__(
        self, ty: isoform.Object, indices: isoform.Object, values: isoform.Object
    ) -> None: ...

class ResourceAttr(isoform.Object):
    """The elements of a tensor in the resources of the file: `dense_resource<k> : tensor<4xf32>`."""

    __match_args__ = ("contents", "ty", "key", "alignment")
    @property
    def contents(self) -> typing.Any:
        """The bytes. If the file lacks them, the key, so that unknown contents are equal
        under one key only.
        """
    @property
    def ty(self) -> isoform.Object:
        """The type of the tensor."""
    @property
    def key(self) -> builtins.str:
        """The key in the file."""
    @property
    def alignment(self) -> builtins.int:
        """The alignment that the file asks for."""
    def __init__(
        self,
        contents: typing.Any,
        ty: isoform.Object,
        key: builtins.str = ...,
        alignment: builtins.int = ...,
    ) -> None: ...

class StridedAttr(isoform.Object):
    """The layout of memory by strides."""

    __match_args__ = ("strides", "offset")
    @property
    def strides(self) -> isoform.Array[typing.Any]:
        """For each dimension the distance of elements, or None for a dynamic one."""
    @property
    def offset(self) -> typing.Any:
        """The offset of the first element, or None for a dynamic one."""
    def __init__(
        self, strides: collections.abc.Sequence[typing.Any], offset: typing.Any
    ) -> None: ...

class DistinctAttr(isoform.Object):
    """An attribute with an identity: two with equal contents differ.

    The number in the text is a label; comparison pairs the attributes of both sides.
    """

    __match_args__ = ("attribute", "number")
    @property
    def attribute(self) -> isoform.Object:
        """The contents."""
    @property
    def number(self) -> builtins.int:
        """The number in the file."""
    def __init__(self, attribute: isoform.Object, number: builtins.int = ...) -> None: ...

class DialectAttr(isoform.Object):
    """An attribute of another dialect: `#stablehlo<comparison_direction LT>`."""

    __match_args__ = ("dialect", "name", "body", "ty", "spaces")
    @property
    def dialect(self) -> builtins.str:
        """The name of the dialect."""
    @property
    def name(self) -> builtins.str:
        """As in `DialectType`."""
    @property
    def body(self) -> isoform.Array[typing.Any] | None:
        """As in `DialectType`."""
    @property
    def ty(self) -> isoform.Object | None:
        """The type after a colon."""
    @property
    def spaces(self) -> builtins.bytes | None:
        """As in `DialectType`."""
    def __init__(
        self,
        dialect: builtins.str,
        name: builtins.str,
        body: collections.abc.Sequence[typing.Any] | None,
        ty: isoform.Object | None,
        spaces: builtins.bytes | None = ...,
    ) -> None: ...

class AffineDim(isoform.Object):
    """A dimension of a map or set."""

    __match_args__ = ("position",)
    @property
    def position(self) -> builtins.int:
        """Its number."""
    def __init__(self, position: builtins.int) -> None: ...

class AffineSymbol(isoform.Object):
    """A symbol of a map or set."""

    __match_args__ = ("position",)
    @property
    def position(self) -> builtins.int:
        """Its number."""
    def __init__(self, position: builtins.int) -> None: ...

class AffineConstant(isoform.Object):
    """A constant."""

    __match_args__ = ("value",)
    @property
    def value(self) -> builtins.int:
        """The value."""
    def __init__(self, value: builtins.int) -> None: ...

class AffineBinary(isoform.Object):
    """An operation on two expressions."""

    __match_args__ = ("op", "left", "right")
    @property
    def op(self) -> builtins.str:
        """`+`, `*`, `floordiv`, `ceildiv` or `mod`."""
    @property
    def left(self) -> isoform.Object:
        """The left operand."""
    @property
    def right(self) -> isoform.Object:
        """The right operand."""
    def __init__(self, op: builtins.str, left: isoform.Object, right: isoform.Object) -> None: ...

class AffineMapAttr(isoform.Object):
    """A map from dimensions and symbols to numbers."""

    __match_args__ = ("dims", "symbols", "results")
    @property
    def dims(self) -> builtins.int:
        """The number of dimensions."""
    @property
    def symbols(self) -> builtins.int:
        """The number of symbols."""
    @property
    def results(self) -> isoform.Array[isoform.Object]:
        """The expressions."""
    def __init__(
        self,
        dims: builtins.int,
        symbols: builtins.int,
        results: collections.abc.Sequence[isoform.Object],
    ) -> None: ...

class AffineConstraint(isoform.Object):
    """A condition of a set."""

    __match_args__ = ("expression", "is_equality")
    @property
    def expression(self) -> isoform.Object:
        """The expression that is compared with zero."""
    @property
    def is_equality(self) -> builtins.bool:
        """True for `expression == 0`, false for `expression >= 0`."""
    def __init__(self, expression: isoform.Object, is_equality: builtins.bool) -> None: ...

class AffineSetAttr(isoform.Object):
    """A set of points."""

    __match_args__ = ("dims", "symbols", "constraints")
    @property
    def dims(self) -> builtins.int:
        """The number of dimensions."""
    @property
    def symbols(self) -> builtins.int:
        """The number of symbols."""
    @property
    def constraints(self) -> isoform.Array[AffineConstraint]:
        """The conditions, all of which hold in the set."""
    def __init__(
        self,
        dims: builtins.int,
        symbols: builtins.int,
        constraints: collections.abc.Sequence[AffineConstraint],
    ) -> None: ...

class UnknownLocation(isoform.Object):
    """No location."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class NameLocation(isoform.Object):
    """A name, perhaps for another location."""

    __match_args__ = ("name", "child")
    @property
    def name(self) -> typing.Any:
        """As in `StringAttr::value`."""
    @property
    def child(self) -> isoform.Object | None:
        """The other location."""
    def __init__(self, name: typing.Any, child: isoform.Object | None) -> None: ...

class FileLocation(isoform.Object):
    """A place or a range in a file."""

    __match_args__ = ("file", "line", "column", "end_line", "end_column")
    @property
    def file(self) -> typing.Any:
        """The file, as in `StringAttr::value`."""
    @property
    def line(self) -> builtins.int:
        """The first line."""
    @property
    def column(self) -> typing.Any:
        """The first column, or None."""
    @property
    def end_line(self) -> typing.Any:
        """The last line of a range, or None."""
    @property
    def end_column(self) -> typing.Any:
        """The last column of a range, or None."""
    def __init__(
        self,
        file: typing.Any,
        line: builtins.int,
        column: typing.Any = ...,
        end_line: typing.Any = ...,
        end_column: typing.Any = ...,
    ) -> None: ...

class CallSiteLocation(isoform.Object):
    """A place inside of a function that was inlined elsewhere."""

    __match_args__ = ("callee", "caller")
    @property
    def callee(self) -> isoform.Object:
        """The place in the function."""
    @property
    def caller(self) -> isoform.Object:
        """The place of the call."""
    def __init__(self, callee: isoform.Object, caller: isoform.Object) -> None: ...

class FusedLocation(isoform.Object):
    """Several locations."""

    __match_args__ = ("locations", "metadata")
    @property
    def locations(self) -> isoform.Array[isoform.Object]:
        """The locations."""
    @property
    def metadata(self) -> isoform.Object | None:
        """An attribute."""
    def __init__(
        self, locations: collections.abc.Sequence[isoform.Object], metadata: isoform.Object | None
    ) -> None: ...
