# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `pto`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "Abs",
    "Add",
    "And",
    "ArrayType",
    "AssignStmt",
    "BinaryExpr",
    "BitAnd",
    "BitNot",
    "BitOr",
    "BitShiftLeft",
    "BitShiftRight",
    "BitXor",
    "BreakStmt",
    "Call",
    "Cast",
    "ClusterScopeStmt",
    "CompactMode",
    "ConstBool",
    "ConstFloat",
    "ConstInt",
    "ContinueStmt",
    "DataType",
    "Eq",
    "EvalStmt",
    "Expr",
    "FloatDiv",
    "FloorDiv",
    "FloorMod",
    "ForKind",
    "ForStmt",
    "Function",
    "FunctionType",
    "Ge",
    "GlobalVar",
    "Gt",
    "HierarchyScopeStmt",
    "IRNode",
    "IfStmt",
    "InCoreScopeStmt",
    "InlineLanguage",
    "InlineStmt",
    "IterArg",
    "Le",
    "Level",
    "Lt",
    "MakeTuple",
    "Max",
    "MemRef",
    "MemorySpace",
    "Min",
    "Mul",
    "Ne",
    "Neg",
    "Not",
    "Op",
    "Or",
    "PadValue",
    "ParamDirection",
    "PipeType",
    "Pow",
    "Program",
    "PtrType",
    "ReturnStmt",
    "Role",
    "RuntimeScopeStmt",
    "ScalarType",
    "ScopeKind",
    "ScopeStmt",
    "SeqStmts",
    "ShapedType",
    "Span",
    "SplitMode",
    "SpmdScopeStmt",
    "Stmt",
    "Sub",
    "TensorLayout",
    "TensorType",
    "TensorView",
    "TileLayout",
    "TileType",
    "TileView",
    "TupleGetItemExpr",
    "TupleType",
    "Type",
    "UnaryExpr",
    "UnknownType",
    "Var",
    "WhileStmt",
    "Xor",
    "YieldStmt",
]

class DataType(isoform.Object):
    """The format of a number."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class TensorLayout(isoform.Object):
    """How the elements of a tensor lie in memory."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class TileLayout(isoform.Object):
    """In which order a tile is stored, or the fractals of a tile are."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class PadValue(isoform.Object):
    """What stands outside of the valid part of a tensor or tile."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class CompactMode(isoform.Object):
    """How a tile leaves out what is not valid."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class PipeType(isoform.Object):
    """The pipelines of a core."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class FunctionType(isoform.Object):
    """Where a function runs."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class Level(isoform.Object):
    """The levels of a machine, from a core to all of them."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class Role(isoform.Object):
    """What a function does at its level."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class ParamDirection(isoform.Object):
    """Which way a parameter goes."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class ForKind(isoform.Object):
    """How the iterations of a loop relate."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class MemorySpace(isoform.Object):
    """The memories of a machine."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class ScopeKind(isoform.Object):
    """What a scope statement says about its body."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class SplitMode(isoform.Object):
    """How work is divided between the two vector cores of a group."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class InlineLanguage(isoform.Object):
    """The language of program text inside a program."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    def __init__(self, value: builtins.str | builtins.int) -> None: ...

class Span(isoform.Object):
    """A place in a source text.

    Lines and columns count from 1; an end of -1 is not known.
    """

    __match_args__ = ("filename", "begin_line", "begin_column", "end_line", "end_column")
    @property
    def filename(self) -> builtins.str:
        """The name of the text."""
    @property
    def begin_line(self) -> builtins.int:
        """The first line."""
    @property
    def begin_column(self) -> builtins.int:
        """The column of the first character."""
    @property
    def end_line(self) -> builtins.int:
        """The last line."""
    @property
    def end_column(self) -> builtins.int:
        """The column behind the last character."""
    def __init__(
        self,
        filename: builtins.str,
        begin_line: builtins.int,
        begin_column: builtins.int,
        end_line: builtins.int = ...,
        end_column: builtins.int = ...,
    ) -> None: ...
    def is_valid(self) -> builtins.bool:
        """Whether the place is known."""
    def to_string(self) -> builtins.str:
        """The place as `file:line:column`."""

class IRNode(isoform.Object):
    """The base of what stands in a program."""

    __match_args__ = ("span",)
    @property
    def span(self) -> Span:
        """Where it was written."""
    def __init__(self, span: Span = ...) -> None: ...

class Type(isoform.Object):
    """The base of all types.

    A data type becomes a scalar type where a type is expected.
    """

    __match_args__ = ()
    def __init__(self) -> None: ...

class UnknownType(Type):
    """The type of what has none, or none that is known yet."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class ScalarType(Type):
    """The type of a number."""

    __match_args__ = ("dtype",)
    @property
    def dtype(self) -> DataType:
        """Its format."""
    def __init__(self, dtype: typing.Any) -> None: ...

class PtrType(Type):
    """The type of a pointer to memory."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class TupleType(Type):
    """The type of several values."""

    __match_args__ = ("types",)
    @property
    def types(self) -> isoform.Array[Type]:
        """Their types."""
    def __init__(self, types: collections.abc.Sequence[typing.Any]) -> None: ...

class ShapedType(Type):
    """The base of the types of many numbers of one format."""

    __match_args__ = ()
    @property
    def shape(self) -> isoform.Array[Expr]:
        """The sizes of its dimensions."""
    @property
    def dtype(self) -> DataType:
        """The format of its elements."""
    @property
    def memref(self) -> MemRef | None:
        """The memory that it takes, if that is known."""
    def __init__(self) -> None: ...
    def shares_memref_with(self, other: ShapedType) -> builtins.bool:
        """Whether both types have a memory reference, and it is the same one."""

class TensorType(ShapedType):
    """The type of a tensor in main memory."""

    __match_args__ = ("shape", "dtype", "memref", "tensor_view")
    @property
    def tensor_view(self) -> TensorView | None:
        """How it lies in memory, if that is not row by row."""
    def __init__(
        self,
        shape: collections.abc.Sequence[builtins.int | typing.Any],
        dtype: typing.Any,
        memref: MemRef | None = ...,
        tensor_view: TensorView | None = ...,
    ) -> None: ...

class TileType(ShapedType):
    """The type of a tile in a buffer of a core."""

    __match_args__ = ("shape", "dtype", "memref", "tile_view", "memory_space")
    @property
    def tile_view(self) -> TileView | None:
        """How it lies in the buffer, if that is not what the buffer implies."""
    @property
    def memory_space(self) -> MemorySpace | None:
        """The buffer."""
    def __init__(
        self,
        shape: collections.abc.Sequence[builtins.int | typing.Any],
        dtype: typing.Any,
        memref: MemRef | None = ...,
        tile_view: TileView | None = ...,
        memory_space: typing.Any | None = ...,
    ) -> None: ...
    def get_effective_tile_view(self) -> TileView:
        """How the tile lies in its buffer: as its view says, and where that says
        nothing, as the buffer implies.
        """

class ArrayType(ShapedType):
    """The type of an array of scalars on a core."""

    __match_args__ = ("shape", "dtype", "memref")
    def __init__(self, dtype: typing.Any, extent: builtins.int | typing.Any) -> None: ...

class TensorView(isoform.Object):
    """How a tensor lies in memory."""

    __match_args__ = ("stride", "layout", "valid_shape", "pad")
    @property
    def stride(self) -> isoform.Array[Expr]:
        """The distance between neighbours, for each dimension."""
    @property
    def layout(self) -> TensorLayout:
        """The order of the elements."""
    @property
    def valid_shape(self) -> isoform.Array[Expr]:
        """The part of the shape that holds data; empty for all of it."""
    @property
    def pad(self) -> PadValue:
        """What stands outside of that part."""
    def __init__(
        self,
        stride: collections.abc.Sequence[builtins.int | typing.Any] = ...,
        layout: typing.Any = ...,
        valid_shape: collections.abc.Sequence[builtins.int | typing.Any] = ...,
        pad: typing.Any = ...,
    ) -> None: ...

class TileView(isoform.Object):
    """How a tile lies in the buffer of a core."""

    __match_args__ = (
        "valid_shape",
        "stride",
        "start_offset",
        "blayout",
        "slayout",
        "fractal",
        "pad",
        "compact",
    )
    @property
    def valid_shape(self) -> isoform.Array[Expr]:
        """The part of the shape that holds data; empty for all of it."""
    @property
    def stride(self) -> isoform.Array[Expr]:
        """The distance between neighbours, for each dimension."""
    @property
    def start_offset(self) -> Expr | None:
        """Where it starts."""
    @property
    def blayout(self) -> TileLayout:
        """The order of the fractals."""
    @property
    def slayout(self) -> TileLayout:
        """The order of the elements of a fractal."""
    @property
    def fractal(self) -> builtins.int:
        """How many bytes a fractal has."""
    @property
    def pad(self) -> PadValue:
        """What stands outside of the part that holds data."""
    @property
    def compact(self) -> CompactMode:
        """How it leaves out what holds no data."""
    def __init__(
        self,
        valid_shape: collections.abc.Sequence[builtins.int | typing.Any] | None = ...,
        stride: collections.abc.Sequence[builtins.int | typing.Any] | None = ...,
        start_offset: builtins.int | typing.Any | None = ...,
        blayout: typing.Any = ...,
        slayout: typing.Any = ...,
        fractal: builtins.int = ...,
        pad: typing.Any = ...,
        compact: typing.Any = ...,
    ) -> None: ...

class Expr(IRNode):
    """The base of all expressions.

    Numbers become literals where an expression is expected: a bool of type
    BOOL, an int of type INT64, a float of type FP32.
    """

    __match_args__ = ("type", "span")
    @property
    def type(self) -> Type:
        """The type of its value."""
    def __init__(self, type: typing.Any, span: Span = ...) -> None: ...

class Var(Expr):
    """A variable: equal by where it is bound, whatever its name."""

    __match_args__ = ("name_hint", "type", "span")
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    def __init__(
        self, name_hint: builtins.str, type: typing.Any, span: Span | None = ...
    ) -> None: ...

class IterArg(Var):
    """A variable that a loop carries from one iteration to the next."""

    __match_args__ = ("type", "name_hint", "init_value", "span")
    @property
    def init_value(self) -> Expr:
        """Its value in the first iteration, of which the loop defines nothing."""
    def __init__(
        self,
        name_hint: builtins.str,
        type: typing.Any,
        initValue: typing.Any,
        span: Span | None = ...,
    ) -> None: ...

class ConstInt(Expr):
    """An integer literal."""

    __match_args__ = ("type", "value", "span")
    @property
    def value(self) -> builtins.int:
        """The number."""
    def __init__(self, value: builtins.int, dtype: typing.Any, span: Span | None = ...) -> None: ...

class ConstFloat(Expr):
    """A float literal."""

    __match_args__ = ("type", "value", "span")
    @property
    def value(self) -> builtins.float:
        """The number."""
    def __init__(
        self, value: builtins.float, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class ConstBool(Expr):
    """A truth value."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> builtins.bool:
        """Whether it is true."""
    def __init__(self, value: builtins.bool, span: Span | None = ...) -> None: ...

class Op(isoform.Object):
    """An operator: equal to others of its name.

    Its attributes are those of the operator of that name in the registry of
    `ir`.
    """

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name."""
    def __init__(self, name: builtins.str) -> None: ...
    def get_attr(self, key: builtins.str) -> typing.Any:
        """The value of an attribute of the operator; KeyError when it is not set."""
    def get_attr_keys(self) -> isoform.Array[builtins.str]:
        """The names of the attributes of the operator, sorted."""
    def has_attr(self, key: builtins.str) -> builtins.bool:
        """Whether the operator has the attribute."""

class GlobalVar(Op):
    """The name of a function of a program, as what is called."""

    __match_args__ = ("name",)
    def __init__(self, name: builtins.str) -> None: ...

class Call(Expr):
    """The call of an operator or of a function of the program."""

    __match_args__ = ("op", "args", "kwargs", "type", "span", "attrs")
    @property
    def op(self) -> Op:
        """What is called."""
    @property
    def args(self) -> isoform.Array[Expr]:
        """The arguments."""
    @property
    def kwargs(self) -> isoform.Map[builtins.str, typing.Any]:
        """The arguments by name, which are no expressions."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """What passes have found out about the call."""
    def __init__(
        self,
        op: Op,
        args: collections.abc.Sequence[typing.Any],
        kwargs: typing.Any = ...,
        type: typing.Any = ...,
        span: typing.Any = ...,
        attrs: typing.Any = ...,
    ) -> None: ...

class MakeTuple(Expr):
    """Several values as one."""

    __match_args__ = ("elements", "span")
    @property
    def elements(self) -> isoform.Array[Expr]:
        """The values."""
    def __init__(
        self, elements: collections.abc.Sequence[typing.Any], span: Span | None = ...
    ) -> None: ...

class TupleGetItemExpr(Expr):
    """A value of a tuple."""

    __match_args__ = ("tuple", "index", "span")
    @property
    def tuple(self) -> Expr:
        """The tuple."""
    @property
    def index(self) -> builtins.int:
        """Which of its values, from 0."""
    def __init__(self, tuple: typing.Any, index: builtins.int, span: Span | None = ...) -> None: ...

class MemRef(Var):
    """A piece of memory: a variable, so two programs that place their buffers at
    different objects of the same layout are equal.
    """

    __match_args__ = ("base", "byte_offset", "size", "span", "is_pinned", "slots", "slot")
    @property
    def base(self) -> Var | None:
        """The pointer to the allocation that it is a part of; None when it is an
        allocation of its own.
        """
    @property
    def byte_offset(self) -> builtins.int:
        """Where it starts in the allocation."""
    @property
    def size(self) -> builtins.int:
        """How many bytes it has; 0 when that is not known yet."""
    @property
    def is_pinned(self) -> builtins.bool:
        """Whether its place must not be changed."""
    @property
    def slots(self) -> builtins.int:
        """How many pieces of that size follow each other, used in turn."""
    @property
    def slot(self) -> Expr | None:
        """Which of them this is, from 0."""
    def __init__(
        self,
        base: typing.Any = ...,
        byte_offset: typing.Any = ...,
        size: builtins.int | None = ...,
        span: Span | None = ...,
        is_pinned: builtins.bool = ...,
        slots: builtins.int = ...,
        slot: typing.Any | None = ...,
        name: builtins.str | None = ...,
    ) -> None: ...
    def may_alias(self, other: MemRef) -> builtins.bool:
        """Whether there may be a byte that belongs to both; what is not known may be
        anything.
        """
    def same_allocation(self, other: MemRef) -> builtins.bool:
        """Whether both are parts of one allocation."""

class BinaryExpr(Expr):
    """The base of the operations on two numbers."""

    __match_args__ = ()
    @property
    def left(self) -> Expr:
        """The left operand."""
    @property
    def right(self) -> Expr:
        """The right operand."""
    def __init__(self) -> None: ...

class Add(BinaryExpr):
    """`left + right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Sub(BinaryExpr):
    """`left - right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Mul(BinaryExpr):
    """`left * right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloorDiv(BinaryExpr):
    """`left / right`, rounded down."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloorMod(BinaryExpr):
    """What division rounded down leaves over."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloatDiv(BinaryExpr):
    """`left / right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Min(BinaryExpr):
    """The smaller one."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Max(BinaryExpr):
    """The larger one."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Pow(BinaryExpr):
    """`left` to the power of `right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Eq(BinaryExpr):
    """Whether `left == right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Ne(BinaryExpr):
    """Whether `left != right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Lt(BinaryExpr):
    """Whether `left < right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Le(BinaryExpr):
    """Whether `left <= right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Gt(BinaryExpr):
    """Whether `left > right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Ge(BinaryExpr):
    """Whether `left >= right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class And(BinaryExpr):
    """Whether both hold."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Or(BinaryExpr):
    """Whether one of the two holds."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Xor(BinaryExpr):
    """Whether exactly one holds."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitAnd(BinaryExpr):
    """The bits that both have."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitOr(BinaryExpr):
    """The bits that one of the two has."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitXor(BinaryExpr):
    """The bits that exactly one has."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitShiftLeft(BinaryExpr):
    """The bits of `left` moved up by `right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitShiftRight(BinaryExpr):
    """The bits of `left` moved down by `right`."""

    __match_args__ = ("type", "left", "right", "span")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class UnaryExpr(Expr):
    """The base of the operations on one number."""

    __match_args__ = ()
    @property
    def operand(self) -> Expr:
        """The operand."""
    def __init__(self) -> None: ...

class Abs(UnaryExpr):
    """The number without its sign."""

    __match_args__ = ("type", "operand", "span")
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Neg(UnaryExpr):
    """`-operand`."""

    __match_args__ = ("type", "operand", "span")
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Not(UnaryExpr):
    """Whether the operand does not hold."""

    __match_args__ = ("type", "operand", "span")
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class BitNot(UnaryExpr):
    """The other bits."""

    __match_args__ = ("type", "operand", "span")
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Cast(UnaryExpr):
    """The number in another format."""

    __match_args__ = ("type", "operand", "span")
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Stmt(IRNode):
    """The base of all statements; by itself one that does nothing."""

    __match_args__ = ("span",)
    def __init__(self, span: Span = ...) -> None: ...

class AssignStmt(Stmt):
    """Gives a variable its value, for the statements that follow."""

    __match_args__ = ("var", "value", "span")
    @property
    def var(self) -> Var:
        """The variable."""
    @property
    def value(self) -> Expr:
        """The value."""
    def __init__(self, var: Var, value: typing.Any, span: Span = ...) -> None: ...

class IfStmt(Stmt):
    """One of two statements; what they yield is the value of variables."""

    __match_args__ = ("condition", "then_body", "else_body", "return_vars", "span")
    @property
    def condition(self) -> Expr:
        """Which one."""
    @property
    def then_body(self) -> Stmt:
        """What happens when the condition holds."""
    @property
    def else_body(self) -> Stmt | None:
        """What happens when it does not."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables that get what is yielded."""
    def __init__(
        self,
        condition: typing.Any,
        then_body: Stmt,
        else_body: Stmt | None,
        return_vars: collections.abc.Sequence[Var],
        span: Span = ...,
    ) -> None: ...

class YieldStmt(Stmt):
    """Ends an iteration of a loop or a branch, and says what it results in."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> isoform.Array[Expr]:
        """The values."""
    def __init__(self, value: typing.Any = ..., span: Span | None = ...) -> None: ...

class ReturnStmt(Stmt):
    """Ends a function, and says what it results in."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> isoform.Array[Expr]:
        """The values."""
    def __init__(self, value: typing.Any = ..., span: Span | None = ...) -> None: ...

class ForStmt(Stmt):
    """A loop over numbers that carries values.

    The values that its body yields are those of `iter_args` in the next
    iteration, and those of `return_vars` behind the last one.
    """

    __match_args__ = (
        "loop_var",
        "start",
        "stop",
        "step",
        "iter_args",
        "body",
        "return_vars",
        "span",
        "kind",
        "attrs",
    )
    @property
    def loop_var(self) -> Var:
        """The number of the iteration."""
    @property
    def start(self) -> Expr:
        """The first one."""
    @property
    def stop(self) -> Expr:
        """The one in front of which the loop ends."""
    @property
    def step(self) -> Expr:
        """From one to the next."""
    @property
    def iter_args(self) -> isoform.Array[IterArg]:
        """The variables that it carries."""
    @property
    def body(self) -> Stmt:
        """What happens in each iteration."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables that get the last values."""
    @property
    def kind(self) -> ForKind:
        """How the iterations relate."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """What passes and users have to say about the loop."""
    def __init__(
        self,
        loop_var: Var,
        start: typing.Any,
        stop: typing.Any,
        step: typing.Any,
        iter_args: collections.abc.Sequence[IterArg],
        body: Stmt,
        return_vars: collections.abc.Sequence[Var],
        span: Span | None = ...,
        kind: typing.Any = ...,
        attrs: collections.abc.Mapping[builtins.str, typing.Any]
        | collections.abc.Sequence[builtins.tuple[builtins.str, typing.Any]]
        | None = ...,
    ) -> None: ...

class WhileStmt(Stmt):
    """A loop that ends when a condition on the values that it carries does not
    hold any more.
    """

    __match_args__ = ("condition", "iter_args", "body", "return_vars", "span")
    @property
    def condition(self) -> Expr:
        """Whether there is another iteration; it may use `iter_args`."""
    @property
    def iter_args(self) -> isoform.Array[IterArg]:
        """The variables that it carries."""
    @property
    def body(self) -> Stmt:
        """What happens in each iteration."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables that get the last values."""
    def __init__(
        self,
        condition: typing.Any,
        iter_args: collections.abc.Sequence[IterArg],
        body: Stmt,
        return_vars: collections.abc.Sequence[Var],
        span: Span = ...,
    ) -> None: ...

class SeqStmts(Stmt):
    """Statements one after the other."""

    __match_args__ = ("stmts", "span")
    @property
    def stmts(self) -> isoform.Array[Stmt]:
        """The statements."""
    def __init__(self, stmts: collections.abc.Sequence[Stmt], span: Span = ...) -> None: ...

class EvalStmt(Stmt):
    """Computes an expression for what that does."""

    __match_args__ = ("expr", "span")
    @property
    def expr(self) -> Expr:
        """The expression."""
    def __init__(self, expr: typing.Any, span: Span = ...) -> None: ...

class BreakStmt(Stmt):
    """Ends a loop."""

    __match_args__ = ("span",)
    def __init__(self, span: Span = ...) -> None: ...

class ContinueStmt(Stmt):
    """Ends an iteration of a loop."""

    __match_args__ = ("span",)
    def __init__(self, span: Span = ...) -> None: ...

class InlineStmt(Stmt):
    """Program text of another language, as it is."""

    __match_args__ = ("body", "language", "span")
    @property
    def body(self) -> builtins.str:
        """The text."""
    @property
    def language(self) -> InlineLanguage:
        """Its language."""
    def __init__(self, body: builtins.str, language: typing.Any, span: Span = ...) -> None: ...

class ScopeStmt(Stmt):
    """The base of the statements that say where their body runs.

    In spite of its name, what is defined in it stays visible behind it.
    """

    __match_args__ = ()
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    @property
    def body(self) -> Stmt:
        """What happens there."""
    def __init__(self) -> None: ...

class InCoreScopeStmt(ScopeStmt):
    """Its body runs on one core."""

    __match_args__ = ("split", "name_hint", "body", "span")
    @property
    def split(self) -> SplitMode:
        """How it is divided between vector cores."""
    def __init__(
        self,
        split: typing.Any = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class ClusterScopeStmt(ScopeStmt):
    """Its body runs on a cluster of cores."""

    __match_args__ = ("name_hint", "body", "span")
    def __init__(
        self, name_hint: builtins.str = ..., *, body: Stmt, span: Span | None = ...
    ) -> None: ...

class HierarchyScopeStmt(ScopeStmt):
    """Its body runs at a level of the machine."""

    __match_args__ = ("level", "role", "name_hint", "body", "span")
    @property
    def level(self) -> Level:
        """The level."""
    @property
    def role(self) -> Role | None:
        """What it does there."""
    def __init__(
        self,
        level: typing.Any,
        role: typing.Any | None = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class SpmdScopeStmt(ScopeStmt):
    """Its body runs on many cores, the same program on each."""

    __match_args__ = ("core_num", "sync_start", "name_hint", "body", "span")
    @property
    def core_num(self) -> Expr:
        """How many cores."""
    @property
    def sync_start(self) -> builtins.bool:
        """Whether they start together."""
    def __init__(
        self,
        core_num: builtins.int | typing.Any,
        sync_start: builtins.bool = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class RuntimeScopeStmt(ScopeStmt):
    """The run-time system sees its body as one."""

    __match_args__ = ("manual", "name_hint", "body", "span")
    @property
    def manual(self) -> builtins.bool:
        """Whether the program says when its tasks run."""
    def __init__(
        self,
        manual: builtins.bool = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class Function(IRNode):
    """A function: what it binds, ends with it."""

    __match_args__ = (
        "name",
        "params",
        "return_types",
        "body",
        "span",
        "type",
        "level",
        "role",
        "attrs",
        "requires_runtime_binding",
    )
    @property
    def name(self) -> builtins.str:
        """Its name; a program compares it, as that is how it is called."""
    @property
    def params(self) -> isoform.Array[Var]:
        """The parameters."""
    @property
    def param_directions(self) -> isoform.Array[ParamDirection]:
        """Which way each parameter goes."""
    @property
    def return_types(self) -> isoform.Array[Type]:
        """The types of the results."""
    @property
    def body(self) -> Stmt:
        """What it does."""
    @property
    def type(self) -> FunctionType:
        """Where it runs."""
    @property
    def level(self) -> Level | None:
        """The level of the machine at which it runs."""
    @property
    def role(self) -> Role | None:
        """What it does there."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """What passes and users have to say about it."""
    @property
    def requires_runtime_binding(self) -> builtins.bool:
        """Whether the run-time system has to bind it before it is called."""
    def __init__(
        self,
        name: builtins.str,
        params: collections.abc.Sequence[Var | builtins.tuple[Var, typing.Any]],
        return_types: collections.abc.Sequence[typing.Any],
        body: Stmt,
        span: Span | None = ...,
        type: typing.Any = ...,
        level: typing.Any | None = ...,
        role: typing.Any | None = ...,
        attrs: collections.abc.Mapping[builtins.str, typing.Any]
        | collections.abc.Sequence[builtins.tuple[builtins.str, typing.Any]]
        | None = ...,
        requires_runtime_binding: builtins.bool = ...,
    ) -> None: ...

class Program(IRNode):
    """Functions that call each other by their names."""

    __match_args__ = ("functions", "name", "span")
    @property
    def functions(self) -> isoform.Map[builtins.str, Function]:
        """The functions by name."""
    @property
    def name(self) -> builtins.str:
        """For people."""
    def __init__(
        self,
        functions: collections.abc.Sequence[Function],
        name: builtins.str = ...,
        span: Span | None = ...,
    ) -> None: ...
    def get_function(self, name: builtins.str) -> Function | None:
        """The function of a name; None when there is none."""
    def get_global_var(self, name: builtins.str) -> GlobalVar | None:
        """The name of a function, as what is called; None when there is none."""
