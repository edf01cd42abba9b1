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
    BOOL: typing.ClassVar[DataType]
    INT4: typing.ClassVar[DataType]
    INT8: typing.ClassVar[DataType]
    INT16: typing.ClassVar[DataType]
    INT32: typing.ClassVar[DataType]
    INT64: typing.ClassVar[DataType]
    UINT4: typing.ClassVar[DataType]
    UINT8: typing.ClassVar[DataType]
    UINT16: typing.ClassVar[DataType]
    UINT32: typing.ClassVar[DataType]
    UINT64: typing.ClassVar[DataType]
    FP4: typing.ClassVar[DataType]
    FP8E4M3FN: typing.ClassVar[DataType]
    FP8E5M2: typing.ClassVar[DataType]
    FP8E8M0: typing.ClassVar[DataType]
    FP16: typing.ClassVar[DataType]
    FP32: typing.ClassVar[DataType]
    BF16: typing.ClassVar[DataType]
    HF4: typing.ClassVar[DataType]
    HF8: typing.ClassVar[DataType]
    INDEX: typing.ClassVar[DataType]
    TASK_ID: typing.ClassVar[DataType]
    DEFAULT_CONST_INT: typing.ClassVar[DataType]
    DEFAULT_CONST_FLOAT: typing.ClassVar[DataType]
    @property
    def bits(self) -> builtins.int:
        """The number of bits of a number."""
    def get_bit(self) -> builtins.int:
        """Return the number of bits of a number."""
    def get_byte(self) -> builtins.int:
        """Return the number of bytes of a number, rounded up."""
    def is_float(self) -> builtins.bool:
        """Return whether it is a float."""
    def is_signed_int(self) -> builtins.bool:
        """Return whether it is an integer format with negative values, such as an index."""
    def is_unsigned_int(self) -> builtins.bool:
        """Return whether it is an integer format without negative values."""
    def is_int(self) -> builtins.bool:
        """Return whether it is an integer format; truth values and names of tasks are not."""
    def to_string(self) -> builtins.str:
        """Return the name, in lower case."""
    def to_c_type_string(self) -> builtins.str:
        """Return the name of the type in C++."""
    def __str__(self) -> builtins.str:
        """Return the name, in lower case."""
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `DataType`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `DataType`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `DataType`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `DataType`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class TensorLayout(isoform.Object):
    """The memory layout of a tensor's elements."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    ND: typing.ClassVar[TensorLayout]
    DN: typing.ClassVar[TensorLayout]
    NZ: typing.ClassVar[TensorLayout]
    MX_A_ZZ: typing.ClassVar[TensorLayout]
    MX_B_NN: typing.ClassVar[TensorLayout]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `TensorLayout`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `TensorLayout`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `TensorLayout`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `TensorLayout`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class TileLayout(isoform.Object):
    """The order of the elements of a tile, or of a fractal of a tile."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    none_box: typing.ClassVar[TileLayout]
    row_major: typing.ClassVar[TileLayout]
    col_major: typing.ClassVar[TileLayout]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `TileLayout`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `TileLayout`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `TileLayout`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `TileLayout`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class PadValue(isoform.Object):
    """The contents outside of the valid part of a tensor or tile."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    null: typing.ClassVar[PadValue]
    zero: typing.ClassVar[PadValue]
    max: typing.ClassVar[PadValue]
    min: typing.ClassVar[PadValue]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `PadValue`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `PadValue`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `PadValue`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `PadValue`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class CompactMode(isoform.Object):
    """How a tile omits the invalid part."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    null: typing.ClassVar[CompactMode]
    normal: typing.ClassVar[CompactMode]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `CompactMode`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `CompactMode`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `CompactMode`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `CompactMode`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class PipeType(isoform.Object):
    """The pipelines of a core."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    MTE1: typing.ClassVar[PipeType]
    MTE2: typing.ClassVar[PipeType]
    MTE3: typing.ClassVar[PipeType]
    M: typing.ClassVar[PipeType]
    V: typing.ClassVar[PipeType]
    S: typing.ClassVar[PipeType]
    FIX: typing.ClassVar[PipeType]
    ALL: typing.ClassVar[PipeType]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `PipeType`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `PipeType`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `PipeType`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `PipeType`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class FunctionType(isoform.Object):
    """The place where a function runs."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    Opaque: typing.ClassVar[FunctionType]
    Orchestration: typing.ClassVar[FunctionType]
    InCore: typing.ClassVar[FunctionType]
    AIC: typing.ClassVar[FunctionType]
    AIV: typing.ClassVar[FunctionType]
    Group: typing.ClassVar[FunctionType]
    Spmd: typing.ClassVar[FunctionType]
    Inline: typing.ClassVar[FunctionType]
    Graph: typing.ClassVar[FunctionType]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `FunctionType`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `FunctionType`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `FunctionType`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `FunctionType`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class Level(isoform.Object):
    """The levels of a machine, from one core to all cores."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    AIV: typing.ClassVar[Level]
    AIC: typing.ClassVar[Level]
    CORE_GROUP: typing.ClassVar[Level]
    CHIP_DIE: typing.ClassVar[Level]
    CHIP: typing.ClassVar[Level]
    HOST: typing.ClassVar[Level]
    CLUSTER_0: typing.ClassVar[Level]
    CLUSTER_1: typing.ClassVar[Level]
    CLUSTER_2: typing.ClassVar[Level]
    GLOBAL: typing.ClassVar[Level]
    L2CACHE: typing.ClassVar[Level]
    PROCESSOR: typing.ClassVar[Level]
    UMA: typing.ClassVar[Level]
    NODE: typing.ClassVar[Level]
    POD: typing.ClassVar[Level]
    CLOS1: typing.ClassVar[Level]
    CLOS2: typing.ClassVar[Level]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `Level`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `Level`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `Level`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `Level`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class Role(isoform.Object):
    """The role of a function at its level."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    Orchestrator: typing.ClassVar[Role]
    SubWorker: typing.ClassVar[Role]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `Role`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `Role`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `Role`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `Role`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class ParamDirection(isoform.Object):
    """The direction of a parameter."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    In: typing.ClassVar[ParamDirection]
    Out: typing.ClassVar[ParamDirection]
    InOut: typing.ClassVar[ParamDirection]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `ParamDirection`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `ParamDirection`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `ParamDirection`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `ParamDirection`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class ForKind(isoform.Object):
    """The relation between the iterations of a loop."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    Sequential: typing.ClassVar[ForKind]
    Parallel: typing.ClassVar[ForKind]
    Unroll: typing.ClassVar[ForKind]
    Pipeline: typing.ClassVar[ForKind]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `ForKind`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `ForKind`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `ForKind`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `ForKind`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class MemorySpace(isoform.Object):
    """The memories of a machine."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    DDR: typing.ClassVar[MemorySpace]
    Vec: typing.ClassVar[MemorySpace]
    Mat: typing.ClassVar[MemorySpace]
    Left: typing.ClassVar[MemorySpace]
    Right: typing.ClassVar[MemorySpace]
    Acc: typing.ClassVar[MemorySpace]
    Bias: typing.ClassVar[MemorySpace]
    LeftScale: typing.ClassVar[MemorySpace]
    RightScale: typing.ClassVar[MemorySpace]
    ScalarLocal: typing.ClassVar[MemorySpace]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `MemorySpace`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `MemorySpace`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `MemorySpace`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `MemorySpace`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class ScopeKind(isoform.Object):
    """The meaning of a scope statement for the body."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    InCore: typing.ClassVar[ScopeKind]
    Cluster: typing.ClassVar[ScopeKind]
    Hierarchy: typing.ClassVar[ScopeKind]
    Spmd: typing.ClassVar[ScopeKind]
    Runtime: typing.ClassVar[ScopeKind]
    CommDomain: typing.ClassVar[ScopeKind]
    SplitAiv: typing.ClassVar[ScopeKind]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `ScopeKind`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `ScopeKind`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `ScopeKind`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `ScopeKind`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class SplitMode(isoform.Object):
    """The division of work between the two vector cores of a group."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    NONE: typing.ClassVar[SplitMode]
    UP_DOWN: typing.ClassVar[SplitMode]
    LEFT_RIGHT: typing.ClassVar[SplitMode]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `SplitMode`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `SplitMode`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `SplitMode`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `SplitMode`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

class InlineLanguage(isoform.Object):
    """The language of program text inside a program."""

    __match_args__ = ("value",)
    @property
    def name(self) -> builtins.str:
        """The name of the member."""
    @property
    def value(self) -> builtins.int:
        """Its position among the members."""
    Cpp: typing.ClassVar[InlineLanguage]
    Python: typing.ClassVar[InlineLanguage]
    def __repr__(self) -> builtins.str:
        """Name the class and the member."""
    def __str__(self) -> builtins.str:
        """Name the class and the member."""
    def __int__(self) -> builtins.int:
        """Its position among the members."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """See `InlineLanguage`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """See `InlineLanguage`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """See `InlineLanguage`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """See `InlineLanguage`."""
    def __copy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __deepcopy__(self, _memo: typing.Any = ...) -> typing.Any:
        """Returns the member itself: a member exists only once."""
    def __reduce__(self) -> typing.Any:
        """By type and name."""

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
        """The column after the last character."""
    def __init__(
        self,
        filename: builtins.str,
        begin_line: builtins.int,
        begin_column: builtins.int,
        end_line: builtins.int = ...,
        end_column: builtins.int = ...,
    ) -> None: ...
    def is_valid(self) -> builtins.bool:
        """True if the place is known."""
    def to_string(self) -> builtins.str:
        """The place as `file:line:column`."""
    @staticmethod
    def unknown() -> Span:
        """Return the place that is not known."""
    def __str__(self) -> builtins.str:
        """Return `file:line:column`."""

class IRNode(isoform.Object):
    """The base of all parts of a program."""

    __match_args__ = ("span",)
    @property
    def span(self) -> Span:
        """The source location."""
    def __str__(self) -> builtins.str:
        """Return the text of the node, as printed by `python_print`."""
    def as_python(self, prefix: builtins.str = ...) -> builtins.str:
        """Return the text of the node, as printed by `python_print`.

        Args:
            prefix: The name under which the text imports the language.

        >>> from isoform.pto import DataType, ir
        >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
        >>> ((x + 1) * x).as_python()
        '(x + 1) * x'
        """

class Type(isoform.Object):
    """The base of all types.

    A data type becomes a scalar type where a type is expected.
    """

    __match_args__ = ()
    def __eq__(self, other: builtins.object) -> typing.Any:
        """Return whether both are structurally equal; a free variable equals only itself."""
    def __hash__(self) -> builtins.int:
        """Return the structural hash, which agrees with `==`."""
    def __str__(self) -> builtins.str:
        """Return the text of the type, as printed by `python_print`."""

class UnknownType(Type):
    """The type of something without a type, or with an unknown type."""

    __match_args__ = ()
    def __init__(self) -> None: ...
    @staticmethod
    def get() -> UnknownType:
        """Return the type."""

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
    @staticmethod
    def get() -> PtrType:
        """Return the type."""

class TupleType(Type):
    """The type of several values."""

    __match_args__ = ("types",)
    @property
    def types(self) -> isoform.Array[Type]:
        """Their types."""
    def __init__(self, types: collections.abc.Sequence[typing.Any]) -> None: ...

class ShapedType(Type):
    """The base of the types for many numbers of one format."""

    __match_args__ = ()
    @property
    def shape(self) -> isoform.Array[Expr]:
        """The sizes of the dimensions."""
    @property
    def dtype(self) -> DataType:
        """The format of the elements."""
    @property
    def memref(self) -> MemRef | None:
        """The memory of the value, if known."""
    def __init__(self) -> None: ...
    def shares_memref_with(self, other: ShapedType) -> builtins.bool:
        """True if both types have the same memory reference."""
    @property
    def memory_space(self) -> MemorySpace | None:
        """The memory in which the elements are, if it is known."""

class TensorType(ShapedType):
    """The type of a tensor in main memory."""

    __match_args__ = ("shape", "dtype", "memref", "tensor_view")
    @property
    def tensor_view(self) -> TensorView | None:
        """The memory layout; None means row by row. The constructor of other languages stores
        None for a layout that says the same.
        """
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
        """The layout in the buffer; None means the usual layout of the buffer. The
        constructor of other languages stores None for a layout that says the same.
        """
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
        """Returns the layout of the tile in its buffer: the layout of the view, completed with
        the usual layout of the buffer.
        """

class ArrayType(ShapedType):
    """The type of an array of scalars on a core."""

    __match_args__ = ("dtype",)
    def __init__(self, dtype: typing.Any, extent: builtins.int | typing.Any) -> None: ...
    @property
    def extent(self) -> Expr:
        """The number of elements."""

class TensorView(isoform.Object):
    """The memory layout of a tensor."""

    __match_args__ = ("stride", "layout", "valid_shape", "pad")
    @property
    def stride(self) -> isoform.Array[Expr]:
        """The distances between neighbours in the dimensions."""
    @property
    def layout(self) -> TensorLayout:
        """The order of the elements."""
    @property
    def valid_shape(self) -> isoform.Array[Expr]:
        """The part of the shape with data; empty for the whole shape."""
    @property
    def pad(self) -> PadValue:
        """The contents outside of the part with data."""
    def __init__(
        self,
        stride: collections.abc.Sequence[builtins.int | typing.Any] = ...,
        layout: typing.Any = ...,
        valid_shape: collections.abc.Sequence[builtins.int | typing.Any] = ...,
        pad: typing.Any = ...,
    ) -> None: ...
    def __eq__(self, other: builtins.object) -> typing.Any:
        """Return whether both are structurally equal; a free variable equals only itself."""
    def __hash__(self) -> builtins.int:
        """Return the structural hash, which agrees with `==`."""

class TileView(isoform.Object):
    """The layout of a tile in the buffer of a core."""

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
        """The part of the shape with data; empty for the whole shape."""
    @property
    def stride(self) -> isoform.Array[Expr]:
        """The distances between neighbours in the dimensions."""
    @property
    def start_offset(self) -> Expr | None:
        """The offset of the first element."""
    @property
    def blayout(self) -> TileLayout:
        """The order of the fractals."""
    @property
    def slayout(self) -> TileLayout:
        """The order of the elements of a fractal."""
    @property
    def fractal(self) -> builtins.int:
        """The size of a fractal in bytes."""
    @property
    def pad(self) -> PadValue:
        """The contents outside of the part with data."""
    @property
    def compact(self) -> CompactMode:
        """The way to omit the part without data."""
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
    def __eq__(self, other: builtins.object) -> typing.Any:
        """Return whether both are structurally equal; a free variable equals only itself."""
    def __hash__(self) -> builtins.int:
        """Return the structural hash, which agrees with `==`."""

class Expr(IRNode):
    """The base of all expressions.

    Numbers become literals where an expression is expected: a bool of type
    BOOL, an int of type INT64, a float of type FP32.
    """

    __match_args__ = ("type", "span")
    @property
    def type(self) -> Type:
        """The type of the value."""
    @property
    def dtype(self) -> DataType | None:
        """The format of the value or of the elements; None for a type without a format."""
    def __add__(self, other: typing.Any) -> typing.Any:
        """`self + other`."""
    def __radd__(self, other: typing.Any) -> typing.Any:
        """`other + self`."""
    def __sub__(self, other: typing.Any) -> typing.Any:
        """`self - other`."""
    def __rsub__(self, other: typing.Any) -> typing.Any:
        """`other - self`."""
    def __mul__(self, other: typing.Any) -> typing.Any:
        """`self * other`."""
    def __rmul__(self, other: typing.Any) -> typing.Any:
        """`other * self`."""
    def __truediv__(self, other: typing.Any) -> typing.Any:
        """`self / other`."""
    def __rtruediv__(self, other: typing.Any) -> typing.Any:
        """`other / self`."""
    def __floordiv__(self, other: typing.Any) -> typing.Any:
        """`self / other` rounded down."""
    def __rfloordiv__(self, other: typing.Any) -> typing.Any:
        """`other / self` rounded down."""
    def __mod__(self, other: typing.Any) -> typing.Any:
        """The remainder of `self // other`."""
    def __rmod__(self, other: typing.Any) -> typing.Any:
        """The remainder of `other // self`."""
    def __pow__(self, other: typing.Any) -> typing.Any:
        """`self` to the power of `other`."""
    def __rpow__(self, other: typing.Any) -> typing.Any:
        """`other` to the power of `self`."""
    def __and__(self, other: typing.Any) -> typing.Any:
        """The bits set in both."""
    def __rand__(self, other: typing.Any) -> typing.Any:
        """The bits set in both."""
    def __or__(self, other: typing.Any) -> typing.Any:
        """The bits set in at least one of the two."""
    def __ror__(self, other: typing.Any) -> typing.Any:
        """The bits set in at least one of the two."""
    def __xor__(self, other: typing.Any) -> typing.Any:
        """The bits set in exactly one of the two."""
    def __rxor__(self, other: typing.Any) -> typing.Any:
        """The bits set in exactly one of the two."""
    def __lshift__(self, other: typing.Any) -> typing.Any:
        """`self << other`."""
    def __rlshift__(self, other: typing.Any) -> typing.Any:
        """`other << self`."""
    def __rshift__(self, other: typing.Any) -> typing.Any:
        """`self >> other`."""
    def __rrshift__(self, other: typing.Any) -> typing.Any:
        """`other >> self`."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """The comparison `self < other`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """The comparison `self <= other`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """The comparison `self > other`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """The comparison `self >= other`."""
    def __neg__(self) -> typing.Any:
        """`-self`."""
    def __abs__(self) -> typing.Any:
        """The number without its sign."""
    def __invert__(self) -> typing.Any:
        """`~self`."""

class Var(Expr):
    """A variable, identified by its binding; the name is ignored."""

    __match_args__ = ("name_hint", "type", "span")
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    def __init__(
        self, name_hint: builtins.str, type: typing.Any, span: Span | None = ...
    ) -> None: ...

class IterArg(Var):
    """A variable carried by a loop from one iteration to the next."""

    __match_args__ = ("name_hint", "type")
    @property
    def init_value(self) -> Expr:
        """The value in the first iteration; the value is outside of the loop's scope."""
    def __init__(
        self,
        name_hint: builtins.str,
        type: typing.Any,
        initValue: typing.Any,
        span: Span | None = ...,
    ) -> None: ...
    @property
    def initValue(self) -> Expr:
        """Its value in the first iteration."""

class ConstInt(Expr):
    """An integer literal."""

    __match_args__ = ("value",)
    @property
    def value(self) -> builtins.int:
        """The number."""
    def __init__(self, value: builtins.int, dtype: typing.Any, span: Span | None = ...) -> None: ...

class ConstFloat(Expr):
    """A float literal."""

    __match_args__ = ("value",)
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
        """The truth value."""
    def __init__(self, value: builtins.bool, span: Span | None = ...) -> None: ...

class Op(isoform.Object):
    """An operator: equal to operators with the same name.

    Its attributes are those of the operator of that name in the registry of
    `ir`.
    """

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name."""
    def __init__(self, name: builtins.str) -> None: ...
    def get_attr(self, key: builtins.str) -> typing.Any:
        """The value of an attribute of the operator; KeyError if unset."""
    def get_attr_keys(self) -> isoform.Array[builtins.str]:
        """The names of the attributes of the operator, sorted."""
    def has_attr(self, key: builtins.str) -> builtins.bool:
        """True if the operator has the attribute."""

class GlobalVar(Op):
    """The name of a function of a program, as a callee."""

    __match_args__ = ("name",)
    def __init__(self, name: builtins.str) -> None: ...

class Call(Expr):
    """The call of an operator or of a function of the program."""

    __match_args__ = ("op", "args", "kwargs", "type", "span", "attrs")
    @property
    def op(self) -> Op:
        """The callee."""
    @property
    def args(self) -> isoform.Array[Expr]:
        """The arguments."""
    @property
    def kwargs(self) -> isoform.Map[builtins.str, typing.Any]:
        """The keyword arguments; their values are not expressions."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """Results of passes about the call."""
    def __init__(
        self,
        op: Op,
        args: collections.abc.Sequence[typing.Any],
        kwargs: typing.Any = ...,
        type: typing.Any = ...,
        span: typing.Any = ...,
        attrs: typing.Any = ...,
    ) -> None: ...
    @property
    def arg_directions(self) -> builtins.list[typing.Any]:
        """The direction of each argument, from the attribute of this name; empty without it."""

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
        """The index of the value, from 0."""
    def __init__(self, tuple: typing.Any, index: builtins.int, span: Span | None = ...) -> None: ...

class MemRef(Var):
    """A piece of memory. The reference is a variable, so two programs with buffers at
    different objects of the same layout are equal.
    """

    __match_args__ = ("base", "byte_offset", "size", "span", "is_pinned", "slots", "slot")
    @property
    def base(self) -> Var | None:
        """The pointer to the surrounding allocation; None for a separate allocation."""
    @property
    def byte_offset(self) -> Expr:
        """The offset in the allocation, which may depend on variables, as in a loop."""
    @property
    def size(self) -> builtins.int:
        """The size in bytes; 0 if unknown."""
    @property
    def is_pinned(self) -> builtins.bool:
        """True if the place must not be changed."""
    @property
    def slots(self) -> builtins.int:
        """The number of consecutive pieces of this size, used in turn."""
    @property
    def slot(self) -> Expr | None:
        """The index of this piece among the pieces, from 0."""
    def __init__(
        self,
        base: typing.Any = ...,
        byte_offset: typing.Any = ...,
        size: builtins.int | None = ...,
        span: typing.Any = ...,
        is_pinned: typing.Any = ...,
        slots: builtins.int = ...,
        slot: builtins.int | typing.Any | None = ...,
        name: builtins.str | None = ...,
    ) -> None: ...
    def may_alias(self, other: MemRef) -> builtins.bool:
        """True if the two pieces may share a byte; an unknown size or slot may have any value."""
    def same_allocation(self, other: MemRef) -> builtins.bool:
        """True if both are parts of the same allocation."""
    @property
    def base_(self) -> Var | None:
        """The field `base`."""
    @property
    def byte_offset_(self) -> Expr:
        """The field `byte_offset`."""
    @property
    def size_(self) -> builtins.int:
        """The field `size`."""
    @property
    def is_pinned_(self) -> builtins.bool:
        """The field `is_pinned`."""
    @property
    def slot_count_(self) -> builtins.int:
        """The field `slots`."""
    @property
    def slot_index_(self) -> Expr | None:
        """The field `slot`."""
    def __getitem__(self, slot: Expr | builtins.int) -> MemRef:
        """Return the piece of a separate allocation at a slot.

        Raises ValueError for a place in an allocation, and for an int outside of the slots.
        """

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

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Sub(BinaryExpr):
    """`left - right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Mul(BinaryExpr):
    """`left * right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloorDiv(BinaryExpr):
    """`left / right`, rounded down."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloorMod(BinaryExpr):
    """The remainder of division rounded down."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class FloatDiv(BinaryExpr):
    """`left / right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Min(BinaryExpr):
    """The smaller one."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Max(BinaryExpr):
    """The larger one."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Pow(BinaryExpr):
    """`left` to the power of `right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Eq(BinaryExpr):
    """Equality, `left == right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Ne(BinaryExpr):
    """Inequality, `left != right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Lt(BinaryExpr):
    """The comparison `left < right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Le(BinaryExpr):
    """The comparison `left <= right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Gt(BinaryExpr):
    """The comparison `left > right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Ge(BinaryExpr):
    """The comparison `left >= right`."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class And(BinaryExpr):
    """True if both operands are true."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Or(BinaryExpr):
    """True if at least one operand is true."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class Xor(BinaryExpr):
    """True if exactly one operand is true."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitAnd(BinaryExpr):
    """The bits set in both."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitOr(BinaryExpr):
    """The bits set in at least one of the two."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitXor(BinaryExpr):
    """The bits set in exactly one of the two."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitShiftLeft(BinaryExpr):
    """`left` shifted left by `right` bits."""

    __match_args__ = ("left", "right")
    def __init__(
        self, left: typing.Any, right: typing.Any, dtype: typing.Any, span: Span | None = ...
    ) -> None: ...

class BitShiftRight(BinaryExpr):
    """`left` shifted right by `right` bits."""

    __match_args__ = ("left", "right")
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
    """The absolute value."""

    __match_args__ = ("operand",)
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Neg(UnaryExpr):
    """`-operand`."""

    __match_args__ = ("operand",)
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Not(UnaryExpr):
    """True if the operand is false."""

    __match_args__ = ("operand",)
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class BitNot(UnaryExpr):
    """All bits inverted."""

    __match_args__ = ("operand",)
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Cast(UnaryExpr):
    """The number in another format."""

    __match_args__ = ("operand",)
    def __init__(self, operand: typing.Any, dtype: typing.Any, span: Span | None = ...) -> None: ...

class Stmt(IRNode):
    """The base of all statements; a plain `Stmt` has no effect."""

    __match_args__ = ("span",)
    @property
    def leading_comments(self) -> isoform.Array[builtins.str]:
        """The comments before the statement, one per line."""
    def __init__(
        self, span: Span = ..., *, leading_comments: collections.abc.Sequence[builtins.str] = ...
    ) -> None: ...

class AssignStmt(Stmt):
    """Assigns a value to a variable, for the following statements."""

    __match_args__ = ("var", "value", "span")
    @property
    def var(self) -> Var:
        """The variable."""
    @property
    def value(self) -> Expr:
        """The value."""
    def __init__(
        self,
        var: Var,
        value: typing.Any,
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...

class IfStmt(Stmt):
    """A choice between two statements; the yields of the chosen statement become the
    values of variables.
    """

    __match_args__ = ("condition", "then_body", "else_body", "return_vars", "span")
    @property
    def condition(self) -> Expr:
        """The condition."""
    @property
    def then_body(self) -> Stmt:
        """The statement for a true condition."""
    @property
    def else_body(self) -> Stmt | None:
        """The statement for a false condition."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables for the yielded values."""
    def __init__(
        self,
        condition: typing.Any,
        then_body: Stmt,
        else_body: Stmt | None,
        return_vars: collections.abc.Sequence[Var],
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...

class YieldStmt(Stmt):
    """Ends an iteration of a loop or a branch, with results."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> isoform.Array[Expr]:
        """The values."""
    def __init__(self, value: typing.Any = ..., span: Span | None = ...) -> None: ...

class ReturnStmt(Stmt):
    """Ends a function, with results."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> isoform.Array[Expr]:
        """The values."""
    def __init__(self, value: typing.Any = ..., span: Span | None = ...) -> None: ...

class ForStmt(Stmt):
    """A loop over numbers with carried values.

    The values yielded by the body become the values of `iter_args` in the next
    iteration, and the values of `return_vars` after the last iteration.

    Everything computed before the first iteration is visited first: the definitions of
    the loop are not bound there.
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
        """The number before which the loop ends."""
    @property
    def step(self) -> Expr:
        """The distance between numbers."""
    @property
    def iter_args(self) -> isoform.Array[IterArg]:
        """The carried variables."""
    @property
    def body(self) -> Stmt:
        """The body."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables for the last values."""
    @property
    def kind(self) -> ForKind:
        """The relation between the iterations."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """Additional information from passes and users."""
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
    """A loop that ends when a condition on the carried values is false."""

    __match_args__ = ("condition", "iter_args", "body", "return_vars", "span")
    @property
    def condition(self) -> Expr:
        """True for another iteration; the condition may use `iter_args`."""
    @property
    def iter_args(self) -> isoform.Array[IterArg]:
        """The carried variables."""
    @property
    def body(self) -> Stmt:
        """The body."""
    @property
    def return_vars(self) -> isoform.Array[Var]:
        """The variables for the last values."""
    def __init__(
        self,
        condition: typing.Any,
        iter_args: collections.abc.Sequence[IterArg],
        body: Stmt,
        return_vars: collections.abc.Sequence[Var],
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...

class SeqStmts(Stmt):
    """Statements one after the other."""

    __match_args__ = ("stmts", "span")
    @property
    def stmts(self) -> isoform.Array[Stmt]:
        """The statements."""
    def __init__(
        self,
        stmts: collections.abc.Sequence[Stmt],
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...
    def __getitem__(self, index: typing.Any) -> typing.Any:
        """Return the statement at an index, or the statements of a slice; IndexError without."""
    def __len__(self) -> builtins.int:
        """Return the number of statements."""
    def __iter__(self) -> typing.Any:
        """Return the statements in order."""
    def __bool__(self) -> builtins.bool:
        """True, as for any statement."""

class EvalStmt(Stmt):
    """Evaluates an expression for its effect."""

    __match_args__ = ("expr", "span")
    @property
    def expr(self) -> Expr:
        """The expression."""
    def __init__(
        self,
        expr: typing.Any,
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...

class BreakStmt(Stmt):
    """Ends a loop."""

    __match_args__ = ("span",)
    def __init__(
        self, span: Span = ..., *, leading_comments: collections.abc.Sequence[builtins.str] = ...
    ) -> None: ...

class ContinueStmt(Stmt):
    """Ends an iteration of a loop."""

    __match_args__ = ("span",)
    def __init__(
        self, span: Span = ..., *, leading_comments: collections.abc.Sequence[builtins.str] = ...
    ) -> None: ...

class InlineStmt(Stmt):
    """Program text in another language, copied verbatim."""

    __match_args__ = ("body", "language", "span")
    @property
    def body(self) -> builtins.str:
        """The text."""
    @property
    def language(self) -> InlineLanguage:
        """Its language."""
    def __init__(
        self,
        body: builtins.str,
        language: typing.Any,
        span: Span = ...,
        *,
        leading_comments: collections.abc.Sequence[builtins.str] = ...,
    ) -> None: ...

class ScopeStmt(Stmt):
    """The base of the statements that determine where the body runs.

    Despite the name, definitions in the body remain visible after the statement.
    """

    __match_args__ = ()
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    @property
    def body(self) -> Stmt:
        """The statement in the scope."""
    def __init__(self) -> None: ...
    @property
    def scope_kind(self) -> ScopeKind:
        """The kind of the scope."""

class InCoreScopeStmt(ScopeStmt):
    """A scope with a body that runs on one core."""

    __match_args__ = ("split", "name_hint", "body", "span")
    @property
    def split(self) -> SplitMode:
        """The division of work between vector cores."""
    def __init__(
        self,
        split: typing.Any = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class ClusterScopeStmt(ScopeStmt):
    """A scope with a body that runs on a cluster of cores."""

    __match_args__ = ("name_hint", "body", "span")
    def __init__(
        self, name_hint: builtins.str = ..., *, body: Stmt, span: Span | None = ...
    ) -> None: ...

class HierarchyScopeStmt(ScopeStmt):
    """A scope with a body that runs at a level of the machine."""

    __match_args__ = ("level", "role", "name_hint", "body", "span")
    @property
    def level(self) -> Level:
        """The level."""
    @property
    def role(self) -> Role | None:
        """The role at the level."""
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
    """A scope with a body that runs on many cores with the same program."""

    __match_args__ = ("core_num", "sync_start", "name_hint", "body", "span")
    @property
    def core_num(self) -> Expr:
        """The number of cores."""
    @property
    def sync_start(self) -> builtins.bool:
        """True if the cores start together."""
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
    """A scope treated as a unit by the run-time system."""

    __match_args__ = ("manual", "name_hint", "body", "span")
    @property
    def manual(self) -> builtins.bool:
        """True if the program determines when the tasks run."""
    def __init__(
        self,
        manual: builtins.bool = ...,
        name_hint: builtins.str = ...,
        *,
        body: Stmt,
        span: Span | None = ...,
    ) -> None: ...

class Function(IRNode):
    """A function; its bindings end with it."""

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
        """The name; programs compare the name, since calls refer to it."""
    @property
    def params(self) -> isoform.Array[Var]:
        """The parameters."""
    @property
    def param_directions(self) -> isoform.Array[ParamDirection]:
        """The directions of the parameters."""
    @property
    def return_types(self) -> isoform.Array[Type]:
        """The types of the results."""
    @property
    def body(self) -> Stmt:
        """The body."""
    @property
    def type(self) -> FunctionType:
        """The place of execution."""
    @property
    def level(self) -> Level | None:
        """The level of the machine that runs the function."""
    @property
    def role(self) -> Role | None:
        """The role at the level."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """Additional information from passes and users."""
    @property
    def requires_runtime_binding(self) -> builtins.bool:
        """True if the run-time system must bind the function before calls."""
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
    @property
    def func_type(self) -> FunctionType:
        """The place where it runs, the field `type`."""
    @property
    def split(self) -> SplitMode | None:
        """The division of work between vector cores, from the attribute of this name."""

class Program(IRNode):
    """A collection of functions; calls refer to functions by name."""

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
        """Returns the function of a name; None for an unknown name."""
    def get_global_var(self, name: builtins.str) -> GlobalVar | None:
        """Returns the callee for the name of a function; None for an unknown name."""
    def __getitem__(self, name: builtins.str) -> Function:
        """Return the function of a name; KeyError if there is none."""
