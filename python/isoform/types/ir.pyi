# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `ir`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "AllocatedPoolInfo",
    "AttrFieldInfo",
    "Attrs",
    "BaseExpr",
    "BaseFunc",
    "ConstantInfo",
    "ConstantMemoryPools",
    "ConstantPoolInfo",
    "Constructor",
    "Diagnostic",
    "DiagnosticContext",
    "DiagnosticRenderer",
    "DictAttrs",
    "DummyGlobalInfo",
    "EnvFunc",
    "FloatImm",
    "FuncType",
    "GlobalInfo",
    "GlobalTypeVar",
    "GlobalVar",
    "GlobalVarSupply",
    "IRModule",
    "IncompleteType",
    "IntImm",
    "NameSupply",
    "Op",
    "PointerType",
    "PoolInfo",
    "PoolInfoProperties",
    "PrimExpr",
    "PrimType",
    "Range",
    "RelayExpr",
    "RelayRefType",
    "SequentialSpan",
    "Source",
    "SourceMap",
    "SourceName",
    "Span",
    "Target",
    "TensorAffineType",
    "TensorType",
    "TupleAffineType",
    "TupleType",
    "Type",
    "TypeCall",
    "TypeConstraint",
    "TypeData",
    "TypeRelation",
    "TypeVar",
    "VDevice",
    "WorkspaceMemoryPools",
    "WorkspacePoolInfo",
]

class SourceName(isoform.Object):
    """The name of a source text.

    Names with the same text are equal, even as different objects.
    """

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The name, for example the path of a file."""
    def __init__(self, name: builtins.str) -> None: ...

class Span(isoform.Object):
    """A place in a source text.

    Lines and columns count from 1; 0 means an unknown location.
    """

    __match_args__ = ("source_name", "line", "end_line", "column", "end_column")
    @property
    def source_name(self) -> SourceName | None:
        """The source text; None for a place in several texts."""
    @property
    def line(self) -> builtins.int:
        """The first line."""
    @property
    def end_line(self) -> builtins.int:
        """The last line."""
    @property
    def column(self) -> builtins.int:
        """The first column."""
    @property
    def end_column(self) -> builtins.int:
        """The column after the last column of the place."""
    def __init__(
        self,
        source_name: typing.Any | None,
        line: builtins.int,
        end_line: builtins.int,
        column: builtins.int,
        end_column: builtins.int,
    ) -> None: ...

class SequentialSpan(Span):
    """The places of an expression made from several expressions."""

    __match_args__ = ("spans",)
    @property
    def spans(self) -> isoform.Array[Span]:
        """The places; sequences are flattened."""
    def __init__(self, spans: collections.abc.Sequence[Span]) -> None: ...

class Source(isoform.Object):
    """A source text, for messages with source lines."""

    __match_args__ = ("source_name", "source")
    @property
    def source_name(self) -> SourceName:
        """Its name."""
    @property
    def source(self) -> builtins.str:
        """The text."""
    def __init__(self, source_name: typing.Any, source: builtins.str) -> None: ...

class SourceMap(isoform.Object):
    """The source texts of spans."""

    __match_args__ = ("source_map",)
    @property
    def source_map(self) -> isoform.Dict[builtins.str, Source]:
        """The texts by name."""
    def __init__(self, source_map: collections.abc.Mapping[builtins.str, Source] = ...) -> None: ...
    def add(self, name: builtins.str, content: builtins.str) -> SourceName:
        """Adds or replaces the text of a name, and returns the name."""

class Type(isoform.Object):
    """The base of all types."""

    __match_args__ = ("span",)
    @property
    def span(self) -> Span | None:
        """The source location."""
    def __str__(self) -> builtins.str:
        """Return the text in the format of Relay.

        >>> from isoform import ir
        >>> str(ir.TupleType([ir.TensorType([2, 3]), ir.TensorType([], "int32")]))
        '(Tensor[(2, 3), float32], int32)'
        """
    def __eq__(self, other: builtins.object) -> builtins.bool:
        """Return whether the types are structurally equal."""
    def __ne__(self, other: builtins.object) -> builtins.bool:
        """Return whether the types are not structurally equal."""
    def __hash__(self) -> builtins.int:
        """The structural hash, which agrees with `==`."""
    def same_as(self, other: builtins.object) -> builtins.bool:
        """Return whether the other one is the same object."""

class BaseExpr(isoform.Object):
    """The base of all expressions."""

    __match_args__ = ("span",)
    @property
    def span(self) -> Span | None:
        """The source location."""

class RelayExpr(BaseExpr):
    """The base of the expressions over tensors, functions and other large values."""

    __match_args__ = ("checked_type_", "struct_info_", "span")
    @property
    def checked_type_(self) -> Type | None:
        """The type found by type inference."""
    @property
    def struct_info_(self) -> isoform.Object | None:
        """Information about the structure of the value."""
    @property
    def checked_type(self) -> Type:
        """The type that type inference has found; ValueError if there is none yet."""
    @property
    def struct_info(self) -> typing.Any:
        """Information about the structure of the value, or None."""
    def __str__(self) -> builtins.str:
        """Return the text in the format of Relay; the repr for other expressions.

        >>> from isoform import relay
        >>> x = relay.var("x")
        >>> str(relay.Tuple([x, relay.const(1)]))
        'free_var %x;\\n(%x, 1)'
        """
    def astext(
        self, show_meta_data: builtins.bool = ..., annotate: typing.Any = ...
    ) -> builtins.str:
        """Return the text format of the expression, without spans.

        `isoform.text.from_text` reads it, unless some parts cannot be printed
        and are shown as `<...>`.

        Args:
            show_meta_data: Print large constants in a section after the text;
                without it, the text cannot be read back.
            annotate: Returns the comment to print after an object, or an empty
                text for no comment.

        Raises ValueError for an expression that contains itself.

        >>> from isoform import ir
        >>> print(ir.GlobalVar("main").astext(), end="")
        %main = ir.GlobalVar()
        %main
        """

class GlobalVar(RelayExpr):
    """The name of a function of a module.

    The name is compared, because modules are linked by names. The node is also a
    variable, bound by the module.
    """

    __match_args__ = ("name_hint", "span")
    @property
    def name_hint(self) -> builtins.str:
        """The name."""
    def __init__(
        self, name_hint: builtins.str, type_annot: Type | None = ..., span: Span | None = ...
    ) -> None: ...
    def __call__(self, *args: typing.Any) -> typing.Any:
        """Return a call of the function."""

class PrimExpr(BaseExpr):
    """The base of the expressions over scalars and vectors of the machine.

    Where a literal is expected, numbers and strings are converted. A bool becomes a
    literal of type bool, an int of type int32 or, if larger, int64, a float of type
    float32 or, if larger, float64. A string becomes a string literal.
    """

    __match_args__ = ("dtype", "span")
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the value."""
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
    def __floordiv__(self, other: typing.Any) -> typing.Any:
        """`self / other` rounded down."""
    def __rfloordiv__(self, other: typing.Any) -> typing.Any:
        """`other / self` rounded down."""
    def __mod__(self, other: typing.Any) -> typing.Any:
        """The remainder of `self // other`."""
    def __rmod__(self, other: typing.Any) -> typing.Any:
        """The remainder of `other // self`."""
    def __lshift__(self, other: typing.Any) -> typing.Any:
        """`self << other`."""
    def __rlshift__(self, other: typing.Any) -> typing.Any:
        """`other << self`."""
    def __rshift__(self, other: typing.Any) -> typing.Any:
        """`self >> other`."""
    def __rrshift__(self, other: typing.Any) -> typing.Any:
        """`other >> self`."""
    def __and__(self, other: typing.Any) -> typing.Any:
        """`self & other`."""
    def __rand__(self, other: typing.Any) -> typing.Any:
        """`other & self`."""
    def __or__(self, other: typing.Any) -> typing.Any:
        """`self | other`."""
    def __ror__(self, other: typing.Any) -> typing.Any:
        """`other | self`."""
    def __xor__(self, other: typing.Any) -> typing.Any:
        """`self ^ other`."""
    def __rxor__(self, other: typing.Any) -> typing.Any:
        """`other ^ self`."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """The comparison `self < other`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """The comparison `self <= other`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """The comparison `self > other`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """The comparison `self >= other`."""
    def __truediv__(self, other: typing.Any) -> typing.Any:
        """`self / other`, unless both are integers: then it would be ambiguous."""
    def __rtruediv__(self, other: typing.Any) -> typing.Any:
        """`other / self`, unless both are integers: then it would be ambiguous."""
    def __neg__(self) -> typing.Any:
        """`-self`."""
    def __invert__(self) -> typing.Any:
        """`~self`; the negation of a truth value."""
    def __eq__(self, other: builtins.object) -> typing.Any:
        """Compares for equality, as an expression; as a bool, tests identity."""
    def __ne__(self, other: builtins.object) -> typing.Any:
        """The negation of `==`."""
    def __hash__(self) -> builtins.int:
        """The hash of the object's identity."""
    def __bool__(self) -> builtins.bool:
        """Refuse to be a condition: raises ValueError."""
    def astype(self, dtype: typing.Any, span: Span | None = ...) -> typing.Any:
        """Return the expression converted to a data type."""

class IntImm(PrimExpr):
    """An integer; also a bool."""

    __match_args__ = ("dtype", "value", "span")
    @property
    def value(self) -> builtins.int:
        """The number."""
    def __init__(
        self, dtype: isoform.dtype | str, value: builtins.int, span: Span | None = ...
    ) -> None: ...
    def __eq__(self, other: typing.Any) -> typing.Any:
        """See `IntImm`."""
    def __ne__(self, other: typing.Any) -> typing.Any:
        """See `IntImm`."""
    def __hash__(self) -> builtins.int:
        """The hash of the number."""
    def __int__(self) -> builtins.int:
        """Return the number."""
    def __index__(self) -> builtins.int:
        """Return the number."""
    def __bool__(self) -> builtins.bool:
        """Return whether the number is not 0."""

class FloatImm(PrimExpr):
    """A float."""

    __match_args__ = ("dtype", "value", "span")
    @property
    def value(self) -> builtins.float:
        """The number."""
    def __init__(
        self, dtype: isoform.dtype | str, value: builtins.float, span: Span | None = ...
    ) -> None: ...
    def __float__(self) -> builtins.float:
        """Return the number."""

class PrimType(Type):
    """The type of a scalar or a vector of the machine."""

    __match_args__ = ("dtype", "span")
    @property
    def dtype(self) -> isoform.dtype:
        """The data type."""
    def __init__(self, dtype: isoform.dtype | str, span: Span | None = ...) -> None: ...

class PointerType(Type):
    """The type of a pointer.

    An empty storage scope means `global`.
    """

    __match_args__ = ("element_type", "storage_scope", "span")
    @property
    def element_type(self) -> Type:
        """The type of the value pointed to."""
    @property
    def storage_scope(self) -> builtins.str:
        """The memory pointed into."""
    def __init__(
        self, element_type: Type, storage_scope: builtins.str = ..., span: Span | None = ...
    ) -> None: ...

class TupleType(Type):
    """The type of a tuple."""

    __match_args__ = ("fields", "span")
    @property
    def fields(self) -> isoform.Array[Type]:
        """The types of the parts."""
    def __init__(self, fields: collections.abc.Sequence[Type], span: Span | None = ...) -> None: ...

class TensorType(Type):
    """The type of a tensor with known data type and shape."""

    __match_args__ = ("shape", "dtype", "span")
    @property
    def shape(self) -> isoform.Array[PrimExpr]:
        """The sizes of the dimensions."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the elements."""
    def __init__(
        self,
        shape: collections.abc.Sequence[typing.Any],
        dtype: isoform.dtype | str = ...,
        span: Span | None = ...,
    ) -> None: ...
    @property
    def concrete_shape(self) -> builtins.tuple[builtins.int, ...]:
        """The sizes of the dimensions as numbers; TypeError if one is symbolic."""

class IncompleteType(Type):
    """A type for type inference to find: a hole, equal to itself and to its partner where
    variables are bound.
    """

    __match_args__ = ("kind", "span")
    @property
    def kind(self) -> builtins.int:
        """The kind of the missing type, a `TypeKind`."""
    def __init__(self, kind: builtins.int = ..., span: Span | None = ...) -> None: ...

class RelayRefType(Type):
    """The type of a reference to a changeable value."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> Type:
        """The type of the value."""
    def __init__(self, value: Type, span: Span | None = ...) -> None: ...

class TensorAffineType(Type):
    """The type of a quantized tensor: a real number is `x * scale + zero_point`."""

    __match_args__ = ("scale", "zero_point", "dtype", "axis", "span")
    @property
    def scale(self) -> RelayExpr:
        """The scale."""
    @property
    def zero_point(self) -> RelayExpr:
        """The number for zero."""
    @property
    def dtype(self) -> isoform.dtype:
        """The data type of the quantized numbers."""
    @property
    def axis(self) -> builtins.int:
        """The dimension with a scale for each position; -1 is the last dimension."""
    def __init__(
        self,
        scale: RelayExpr,
        zero_point: RelayExpr,
        dtype: isoform.dtype | str,
        axis: builtins.int = ...,
        span: Span | None = ...,
    ) -> None: ...

class TupleAffineType(Type):
    """The quantized types of several results."""

    __match_args__ = ("types", "span")
    @property
    def types(self) -> isoform.Array[TensorAffineType]:
        """One type per result."""
    def __init__(
        self, types: collections.abc.Sequence[TensorAffineType], span: Span | None = ...
    ) -> None: ...

class TypeVar(Type):
    """A type parameter, identified by its binding; the name is ignored."""

    __match_args__ = ("name_hint", "kind", "span")
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    @property
    def kind(self) -> builtins.int:
        """The meaning of the variable, a `TypeKind`."""
    def __init__(
        self, name_hint: builtins.str, kind: builtins.int = ..., span: Span | None = ...
    ) -> None: ...
    def __call__(self, *args: Type) -> TypeCall:
        """Apply it to types."""

class GlobalTypeVar(Type):
    """The name of an algebraic data type, or of a type alias.

    Comparison ignores the name, a hint; a module finds its definitions by name.
    """

    __match_args__ = ("name_hint", "kind", "span")
    @property
    def name_hint(self) -> builtins.str:
        """For people, and for lookups in a module."""
    @property
    def kind(self) -> builtins.int:
        """The meaning of the variable, a `TypeKind`."""
    def __init__(
        self, name_hint: builtins.str, kind: builtins.int = ..., span: Span | None = ...
    ) -> None: ...
    def __call__(self, *args: Type) -> TypeCall:
        """Apply it to types."""

class TypeConstraint(Type):
    """A relation that must hold between types."""

    __match_args__ = ("span",)
    def __init__(self, span: Span | None = ...) -> None: ...

class FuncType(Type):
    """The type of a function: for all `type_params`,
    `(arg_types) -> ret_type` where `type_constraints`.
    """

    __match_args__ = ("arg_types", "ret_type", "type_params", "type_constraints", "span")
    @property
    def arg_types(self) -> isoform.Array[Type]:
        """The types of the arguments."""
    @property
    def ret_type(self) -> Type:
        """The type of the result."""
    @property
    def type_params(self) -> isoform.Array[TypeVar]:
        """The type parameters, bound in the rest of the type."""
    @property
    def type_constraints(self) -> isoform.Array[TypeConstraint]:
        """The constraints that must hold."""
    def __init__(
        self,
        arg_types: collections.abc.Sequence[Type],
        ret_type: Type | None = ...,
        type_params: collections.abc.Sequence[TypeVar] | None = ...,
        type_constraints: collections.abc.Sequence[TypeConstraint] | None = ...,
        span: Span | None = ...,
    ) -> None: ...

class TypeCall(Type):
    """The application of a function over types."""

    __match_args__ = ("func", "args", "span")
    @property
    def func(self) -> Type:
        """The type to apply."""
    @property
    def args(self) -> isoform.Array[Type]:
        """Its arguments."""
    def __init__(
        self, func: Type, args: collections.abc.Sequence[Type], span: Span | None = ...
    ) -> None: ...

class EnvFunc(isoform.Object):
    """A global function, stored in files by name."""

    __match_args__ = ("name",)
    @property
    def name(self) -> builtins.str:
        """The registered name."""
    def __init__(self, name: builtins.str) -> None: ...
    @property
    def func(self) -> typing.Any:
        """The function currently registered; KeyError if it is no longer registered."""
    def __call__(self, *args: typing.Any) -> typing.Any:
        """Call the function."""
    @staticmethod
    def get(name: builtins.str) -> EnvFunc:
        """Return the function of a global name.

        Args:
            name: The name of the function.

        Raises KeyError if none is registered.
        """

class TypeRelation(TypeConstraint):
    """A relation between the types of inputs and outputs, given by a function."""

    __match_args__ = ("func", "args", "num_inputs", "attrs", "span")
    @property
    def func(self) -> EnvFunc:
        """Infers unknown types from known ones."""
    @property
    def args(self) -> isoform.Array[Type]:
        """The types, inputs first."""
    @property
    def num_inputs(self) -> builtins.int:
        """The number of inputs among the arguments."""
    @property
    def attrs(self) -> Attrs | None:
        """Attributes of the expression under the relation."""
    def __init__(
        self,
        func: EnvFunc,
        args: collections.abc.Sequence[Type],
        num_inputs: builtins.int,
        attrs: Attrs | None,
        span: Span | None = ...,
    ) -> None: ...

class Constructor(RelayExpr):
    """A constructor of an algebraic data type.

    Two constructors are equal when their names and inputs are.
    """

    __match_args__ = ("name_hint", "inputs", "belong_to")
    @property
    def name_hint(self) -> builtins.str:
        """The name."""
    @property
    def inputs(self) -> isoform.Array[Type]:
        """The types of the constructor's fields."""
    @property
    def belong_to(self) -> GlobalTypeVar:
        """The type of the constructed values."""
    def __init__(
        self,
        name_hint: builtins.str,
        inputs: collections.abc.Sequence[Type],
        belong_to: GlobalTypeVar,
    ) -> None: ...
    @property
    def tag(self) -> builtins.int:
        """A number for the constructor; no two names have the same one in a process."""
    def __call__(self, *args: typing.Any) -> typing.Any:
        """Return a call of the constructor."""

class TypeData(Type):
    """The definition of an algebraic data type.

    The data type is a function over types: an instance is a `TypeCall` of the header.
    """

    __match_args__ = ("header", "type_vars", "constructors", "span")
    @property
    def header(self) -> GlobalTypeVar:
        """The name of the type."""
    @property
    def type_vars(self) -> isoform.Array[TypeVar]:
        """Its parameters."""
    @property
    def constructors(self) -> isoform.Array[Constructor]:
        """Its constructors."""
    def __init__(
        self,
        header: GlobalTypeVar,
        type_vars: collections.abc.Sequence[TypeVar],
        constructors: collections.abc.Sequence[Constructor],
        span: Span | None = ...,
    ) -> None: ...

class Attrs(isoform.Object):
    """The base of nodes of attributes.

    Types that extend `Attrs` declare the attributes as fields, with types, defaults and
    documentation.
    """

    __match_args__ = ()
    def __init__(self) -> None: ...
    def get_int(self, key: builtins.str) -> builtins.int:
        """Return the int under a name; AttributeError without one, TypeError for anything else."""
    def get_int_tuple(self, key: builtins.str) -> builtins.tuple[builtins.int, ...]:
        """Return the ints under a name, as a tuple."""
    def get_str(self, key: builtins.str) -> builtins.str:
        """Return the string under a name."""
    def keys(self) -> builtins.list[builtins.str]:
        """Return the names of the attributes, in order."""
    def list_field_info(self) -> builtins.list[AttrFieldInfo]:
        """Return the descriptions of the attributes, in order."""
    def __getitem__(self, item: builtins.str) -> typing.Any:
        """Return the value under a name; AttributeError without one."""

class DictAttrs(Attrs):
    """Untyped attributes: any names, any values.

    A map or dict with string keys is converted to such attributes, where attributes are
    expected.
    """

    __match_args__ = ("dict",)
    @property
    def dict(self) -> isoform.Map[builtins.str, typing.Any]:
        """The values by name."""
    def __init__(self, dict: collections.abc.Mapping[builtins.str, typing.Any] = ...) -> None: ...
    def get(self, key: builtins.str, default: typing.Any = ...) -> typing.Any:
        """Return the value under a name, or the default."""
    def items(self) -> typing.Any:
        """Return the names with their values."""
    def __getattr__(self, name: builtins.str) -> typing.Any:
        """Return the value under a name; AttributeError without one."""
    def __getitem__(self, item: builtins.str) -> typing.Any:
        """Return the value under a name; KeyError without one."""
    def __contains__(self, item: builtins.object) -> builtins.bool:
        """Return whether there is a value under a name."""
    def __iter__(self) -> typing.Any:
        """Iterate over the names."""
    def __len__(self) -> builtins.int:
        """Return the number of attributes."""

class AttrFieldInfo(isoform.Object):
    """The description of an attribute."""

    __match_args__ = ("name", "type_info", "description")
    @property
    def name(self) -> builtins.str:
        """Its name."""
    @property
    def type_info(self) -> builtins.str:
        """The type of the values."""
    @property
    def description(self) -> builtins.str:
        """The meaning of the attribute."""
    def __init__(
        self, name: builtins.str, type_info: builtins.str, description: builtins.str
    ) -> None: ...

class BaseFunc(RelayExpr):
    """The base of all functions."""

    __match_args__ = ("attrs", "checked_type_", "struct_info_", "span")
    @property
    def attrs(self) -> DictAttrs | None:
        """Attributes of the function, by name."""
    def __init__(
        self,
        attrs: typing.Any | None = ...,
        checked_type_: Type | None = ...,
        struct_info_: isoform.Object | None = ...,
        span: Span | None = ...,
    ) -> None: ...
    def with_attr(
        self, attr_key_or_dict: typing.Any, attr_value: typing.Any | None = ...
    ) -> BaseFunc:
        """A copy of the function with an attribute set, or several attributes at once from a
        dict.
        """
    def with_attrs(self, attr_map: typing.Any) -> BaseFunc:
        """A copy of the function with more attributes."""
    def without_attr(self, attr_key: builtins.str) -> BaseFunc:
        """A copy of the function without an attribute."""

class GlobalInfo(isoform.Object):
    """The base class of module-level information other than functions."""

    __match_args__ = ()
    def __eq__(self, other: builtins.object) -> builtins.bool:
        """Return whether both are structurally equal."""
    def __ne__(self, other: builtins.object) -> builtins.bool:
        """Return whether both are not structurally equal."""
    def __hash__(self) -> builtins.int:
        """The structural hash, which agrees with `==`."""
    def same_as(self, other: builtins.object) -> builtins.bool:
        """Return whether the other one is the same object."""

class DummyGlobalInfo(GlobalInfo):
    """Nothing in particular."""

    __match_args__ = ()
    def __init__(self) -> None: ...

class Target(isoform.Object):
    """A machine to compile for.

    A string such as `llvm -mcpu=skylake` or a dict with a `kind` becomes a target,
    where a target is expected.
    """

    __match_args__ = ("kind", "keys", "attrs", "host")
    @property
    def kind(self) -> builtins.str:
        """The kind of machine, such as `llvm` or `cuda`."""
    @property
    def keys(self) -> isoform.Array[builtins.str]:
        """Groups of targets that the target belongs to."""
    @property
    def attrs(self) -> isoform.Map[builtins.str, typing.Any]:
        """Its properties."""
    @property
    def host(self) -> Target | None:
        """The machine that controls the target."""
    def __init__(self, target: typing.Any, host: typing.Any | None = ...) -> None: ...

class VDevice(GlobalInfo):
    """A device of a machine, for values placed on the device."""

    __match_args__ = ("target", "vdevice_id", "memory_scope")
    @property
    def target(self) -> Target | None:
        """The machine, if given."""
    @property
    def vdevice_id(self) -> builtins.int:
        """The index of the device."""
    @property
    def memory_scope(self) -> builtins.str:
        """The memory of the device."""
    def __init__(
        self,
        target: typing.Any | None = ...,
        vdevice_id: builtins.int = ...,
        memory_scope: builtins.str = ...,
    ) -> None: ...

class PoolInfoProperties(isoform.Object):
    """Properties of the memory of a pool."""

    __match_args__ = (
        "size_hint_bytes",
        "clock_frequency_hz",
        "read_bandwidth_bytes_per_cycle",
        "write_bandwidth_bytes_per_cycle",
        "read_latency_cycles",
        "write_latency_cycles",
        "target_burst_bytes",
    )
    @property
    def size_hint_bytes(self) -> builtins.int:
        """The expected size; -1 means unlimited."""
    @property
    def clock_frequency_hz(self) -> builtins.int:
        """Its clock; -1 is unknown."""
    @property
    def read_bandwidth_bytes_per_cycle(self) -> builtins.int:
        """The read bandwidth; -1 if unknown."""
    @property
    def write_bandwidth_bytes_per_cycle(self) -> builtins.int:
        """The write bandwidth; -1 if unknown."""
    @property
    def read_latency_cycles(self) -> builtins.int:
        """The latency of a read."""
    @property
    def write_latency_cycles(self) -> builtins.int:
        """The latency of a write."""
    @property
    def target_burst_bytes(self) -> isoform.Map[Target, builtins.int]:
        """The number of bytes that a target transfers at once; 1 for unlisted targets."""
    def __init__(
        self,
        size_hint_bytes: builtins.int | None = ...,
        clock_frequency_hz: builtins.int | None = ...,
        read_bandwidth_bytes_per_cycle: builtins.int | None = ...,
        write_bandwidth_bytes_per_cycle: builtins.int | None = ...,
        read_latency_cycles: builtins.int | None = ...,
        write_latency_cycles: builtins.int | None = ...,
        target_burst_bytes: collections.abc.Mapping[typing.Any, builtins.int] | None = ...,
    ) -> None: ...

class PoolInfo(isoform.Object):
    """The base of pools."""

    __match_args__ = ("pool_name", "targets", "pool_info_properties")
    @property
    def pool_name(self) -> builtins.str:
        """The name of the pool."""
    @property
    def targets(self) -> isoform.Array[Target]:
        """The machines with access to the pool."""
    @property
    def pool_info_properties(self) -> PoolInfoProperties:
        """Properties of the memory."""
    def __init__(
        self,
        pool_name: builtins.str,
        targets: collections.abc.Sequence[typing.Any],
        pool_info_properties: PoolInfoProperties = ...,
    ) -> None: ...

class WorkspacePoolInfo(PoolInfo):
    """A pool of memory for reading and writing."""

    __match_args__ = ("pool_name", "targets", "pool_info_properties")
    def __init__(
        self,
        pool_name: builtins.str,
        targets: collections.abc.Sequence[typing.Any],
        pool_info_properties: PoolInfoProperties | None = ...,
    ) -> None: ...

class ConstantInfo(isoform.Object):
    """A constant and its place in a pool."""

    __match_args__ = ("name_hint", "byte_offset", "data")
    @property
    def name_hint(self) -> builtins.str:
        """The name, for people."""
    @property
    def byte_offset(self) -> builtins.int:
        """The offset of the constant from the start of the pool."""
    @property
    def data(self) -> isoform.Tensor:
        """The constant."""
    def __init__(
        self, name_hint: builtins.str, byte_offset: builtins.int, data: isoform.Tensor
    ) -> None: ...

class ConstantPoolInfo(PoolInfo):
    """A pool of memory only for reading."""

    __match_args__ = ("pool_name", "targets", "pool_info_properties")
    @property
    def constant_info_array(self) -> isoform.Array[ConstantInfo]:
        """The constants in the pool."""
    def __init__(
        self,
        pool_name: builtins.str,
        targets: collections.abc.Sequence[typing.Any],
        constant_info_arr: collections.abc.Sequence[ConstantInfo] | None = ...,
        pool_info_properties: PoolInfoProperties | None = ...,
    ) -> None: ...

class WorkspaceMemoryPools(isoform.Object):
    """The pools available for the buffers of a program."""

    __match_args__ = ("pools",)
    @property
    def pools(self) -> isoform.Array[WorkspacePoolInfo]:
        """The pools."""
    def __init__(self, pools: collections.abc.Sequence[WorkspacePoolInfo]) -> None: ...

class ConstantMemoryPools(isoform.Object):
    """The pools available for the constants of a program."""

    __match_args__ = ("pools",)
    @property
    def pools(self) -> isoform.Array[ConstantPoolInfo]:
        """The pools."""
    def __init__(self, pools: collections.abc.Sequence[ConstantPoolInfo]) -> None: ...

class AllocatedPoolInfo(isoform.Object):
    """A pool after memory layout."""

    __match_args__ = ("pool_info", "allocated_size", "pool_var_idx")
    @property
    def pool_info(self) -> PoolInfo:
        """The pool."""
    @property
    def allocated_size(self) -> builtins.int:
        """The number of allocated bytes."""
    @property
    def pool_var_idx(self) -> builtins.int:
        """The index of the main function's parameter that points to the pool."""
    def __init__(
        self, pool: PoolInfo, allocated_size: builtins.int, pool_var_idx: builtins.int = ...
    ) -> None: ...

class IRModule(isoform.Object):
    """Functions and type definitions under global names.

    The names are unique. Functions can be added and replaced in place;
    attributes are changed in a copy.

    Modules are equal if they are equal after matching global variables and names of
    types by name.

    A shallow copy has its own dicts, so changes to the copy do not affect the original.
    """

    __match_args__ = ("functions", "type_definitions", "attrs", "global_infos")
    @property
    def functions(self) -> isoform.Dict[GlobalVar, BaseFunc]:
        """The functions."""
    @property
    def type_definitions(self) -> isoform.Dict[GlobalTypeVar, TypeData]:
        """The definitions of algebraic data types."""
    @property
    def attrs(self) -> DictAttrs | None:
        """Attributes of the module, by name."""
    @property
    def global_infos(self) -> isoform.Dict[builtins.str, isoform.Array[GlobalInfo]]:
        """Further information that functions refer to, by name."""
    @property
    def source_map(self) -> SourceMap:
        """The source texts of the spans."""
    def __init__(
        self,
        functions: typing.Any | None = ...,
        type_definitions: typing.Any | None = ...,
        attrs: typing.Any | None = ...,
        global_infos: collections.abc.Mapping[builtins.str, collections.abc.Sequence[GlobalInfo]]
        | None = ...,
    ) -> None: ...
    def clone(self) -> IRModule:
        """Returns an independent copy of the module."""
    def functions_items(self) -> isoform.Array[builtins.tuple[GlobalVar, BaseFunc]]:
        """The functions with their variables, sorted by name."""
    def get_attr(self, attr_key: builtins.str) -> typing.Any:
        """Returns an attribute of the module; None if unset."""
    def get_constructor(self, tag: builtins.int) -> Constructor:
        """Returns the constructor with this tag; ValueError for an unknown tag."""
    def get_global_type_var(self, name: builtins.str) -> GlobalTypeVar:
        """Returns the name object of a type; ValueError with the known names for an unknown
        name.
        """
    def get_global_type_vars(self) -> isoform.Array[GlobalTypeVar]:
        """The names of types, sorted."""
    def get_global_var(self, name: builtins.str) -> GlobalVar:
        """Returns the global variable of a name; ValueError with the known names for an
        unknown name.
        """
    def get_global_vars(self) -> isoform.Array[GlobalVar]:
        """The global variables, sorted by name."""
    def update(self, other: typing.Any) -> None:
        """Adds the functions of another module or of a dict, in place."""
    def update_func(self, var: GlobalVar, func: BaseFunc) -> None:
        """Adds a function to a module in place, or replaces the function of the variable."""
    def update_global_info(
        self, name: builtins.str, global_info: collections.abc.Sequence[GlobalInfo]
    ) -> None:
        """Sets the information under a name, in place."""
    def with_attr(self, attr_key: typing.Any, attr_value: typing.Any | None = ...) -> IRModule:
        """A copy of the module with an attribute set, or several at once from a dict."""
    def with_attrs(self, attr_map: typing.Any) -> IRModule:
        """A copy of the module with more attributes."""
    def without_attr(self, attr_key: builtins.str) -> IRModule:
        """A copy of the module without an attribute."""
    @staticmethod
    def from_expr(
        expr: typing.Any, functions: typing.Any = ..., type_defs: typing.Any = ...
    ) -> IRModule:
        """Return a module whose entry point is an expression.

        Args:
            expr: A function, or an expression, which becomes one: its free
                variables are the parameters. Its name is that of its attribute
                `global_symbol`, or `main`, with a number if that is taken.
            functions: Other functions of the module.
            type_defs: Definitions of types.
        """
    def astext(
        self, show_meta_data: builtins.bool = ..., annotate: typing.Any = ...
    ) -> builtins.str:
        """Return the text format of the module, without spans.

        `isoform.text.from_text` reads it, unless some parts cannot be printed
        and are shown as `<...>`.

        Args:
            show_meta_data: Print large constants in a section after the text;
                without it, the text cannot be read back.
            annotate: Returns the comment to print after an object, or an empty
                text for no comment.

        Raises ValueError for a module that contains itself.

        >>> from isoform import ir, relay, text
        >>> x = relay.Var("x")
        >>> mod = ir.IRModule({"main": relay.Function([x], x)})
        >>> ir.structural_equal(text.from_text(mod.astext()), mod)
        True
        """
    def script(self, show_meta: builtins.bool = ..., **options: typing.Any) -> builtins.str:
        """Return the text of the module for reading, without large constants.

        A module with functions of Relay is written in the format of Relay, unless
        options choose the general text.

        Args:
            show_meta: Print large constants in a section after the general text.
            options: Options of `isoform.text.to_text`.

        >>> from isoform import ir, relay
        >>> x = relay.Var("x")
        >>> print(ir.IRModule({"main": relay.Function([x], x)}).script(), end="")
        def @main(%x) {
          %x
        }
        """
    def show(self, show_meta: builtins.bool = ..., **options: typing.Any) -> None:
        """Print the module for reading, as returned by `script`.

        The general text has colour on a terminal.

        Args:
            show_meta: Print large constants in a section after the general text.
            options: Options of `isoform.text.to_text`.
        """
    def __str__(self) -> builtins.str:
        """The text of the module, as returned by `script`."""
    def __getitem__(self, var: typing.Any) -> typing.Any:
        """Return the function or the type definition under a name; ValueError without one.

        Args:
            var: A name, a global variable or a global type variable.
        """
    def __setitem__(self, var: typing.Any, val: typing.Any) -> None:
        """Add or replace a function or a type definition, in place."""
    def __delitem__(self, var: typing.Any) -> None:
        """Remove a function or a type definition, in place; ValueError without one."""
    def __contains__(self, var: builtins.object) -> builtins.bool:
        """Return whether there is a function or a type definition under a name."""
    def get_type(self, name: builtins.str) -> builtins.tuple[typing.Any, ...]:
        """Return the name of a data type and its constructors; ValueError without one.

        Args:
            name: The name.
        """
    def __iter__(self) -> typing.Any:
        """Iterate over the global variables, sorted by name."""
    def __len__(self) -> builtins.int:
        """Return the number of functions."""
    def __bool__(self) -> builtins.bool:
        """Return True, also for a module without functions."""

class Op(RelayExpr):
    """An operator of the IR: every name has one object."""

    __match_args__ = ()
    @property
    def name(self) -> builtins.str:
        """The name."""
    def __init__(self) -> None: ...
    def add_argument(
        self, name: builtins.str, type: builtins.str, description: builtins.str
    ) -> None:
        """Adds an argument with a name, a type as text, and a description."""
    def add_type_rel(
        self,
        rel_name: builtins.str,
        type_rel_func: collections.abc.Callable[..., typing.Any] | None = ...,
    ) -> None:
        """Sets the type of the operator: a function type whose inputs and output are in a
        relation.

        Without a function, the relation is the function registered under the global name
        `tvm.relay.type_relation.` and `rel_name`; KeyError for an unknown name.
        """
    def get_attr(self, attr_name: builtins.str) -> typing.Any:
        """Returns an attribute of the operator; None if unset."""
    def has_attr(self, attr_name: builtins.str) -> builtins.bool:
        """True if the operator has the attribute."""
    def reset_attr(self, attr_name: builtins.str) -> None:
        """Removes an attribute."""
    def set_attr(
        self, attr_name: builtins.str, value: typing.Any, plevel: builtins.int = ...
    ) -> None:
        """Sets an attribute with a priority: the highest one wins, and two with the same
        priority are a ValueError.
        """
    def set_attrs_type_key(self, key: builtins.str) -> None:
        """Sets the type key of the attributes of calls."""
    def set_num_inputs(self, n: builtins.int) -> None:
        """Sets the number of inputs."""
    def set_support_level(self, level: builtins.int) -> None:
        """Sets the level of support; lower is more common."""
    @staticmethod
    def get(op_name: builtins.str) -> Op:
        """Return the operator of a name; AttributeError if none is registered.

        Args:
            op_name: The name.
        """
    @staticmethod
    def list_op_names() -> builtins.list[builtins.str]:
        """Return the names of all operators, sorted."""
    @property
    def op_type(self) -> typing.Any:
        """The type of the operator; None if it was not set."""
    @property
    def description(self) -> builtins.str:
        """The description of the operator."""
    @property
    def arguments(self) -> typing.Any:
        """The descriptions of the arguments, in order."""
    @property
    def attrs_type_key(self) -> builtins.str:
        """The type key of the attributes of its calls."""
    @property
    def num_inputs(self) -> builtins.int:
        """The number of inputs; -1 when it is not known."""
    @property
    def support_level(self) -> builtins.int:
        """The level of support; lower is more common."""

class NameSupply(isoform.Object):
    """Supplies unused names."""

    __match_args__ = ("prefix",)
    @property
    def prefix(self) -> builtins.str:
        """The prefix of all names."""
    @property
    def name_map(self) -> isoform.Dict[builtins.str, builtins.int]:
        """The names in use, with the last appended numbers."""
    def __init__(self, prefix: builtins.str = ...) -> None: ...
    def contains_name(self, name: builtins.str, add_prefix: builtins.bool = ...) -> builtins.bool:
        """True if a name is in use."""
    def fresh_name(
        self,
        name: builtins.str,
        add_prefix: builtins.bool = ...,
        add_underscore: builtins.bool = ...,
    ) -> builtins.str:
        """Returns an unused name, and marks the name as used."""
    def reserve_name(self, name: builtins.str, add_prefix: builtins.bool = ...) -> builtins.str:
        """Marks a name as used, and returns the name with the prefix."""

class GlobalVarSupply(isoform.Object):
    """Supplies global variables with names unused in its modules."""

    __match_args__ = ()
    @property
    def name_supply(self) -> NameSupply:
        """The supply of names."""
    @property
    def name_to_var_map(self) -> isoform.Dict[builtins.str, GlobalVar]:
        """The variables by name."""
    def __init__(self, value: typing.Any | None = ...) -> None: ...
    def fresh_global(self, name: builtins.str, add_prefix: builtins.bool = ...) -> GlobalVar:
        """A variable with an unused name."""
    def reserve_global(self, global_var: GlobalVar, allow_conflict: builtins.bool = ...) -> None:
        """Marks the name of a variable as used by the variable."""
    def unique_global_for(self, name: builtins.str, add_prefix: builtins.bool = ...) -> GlobalVar:
        """The variable of a name, made on the first request."""

class Diagnostic(isoform.Object):
    """A message about a place in a source text."""

    __match_args__ = ("level", "span", "message")
    @property
    def level(self) -> builtins.int:
        """The severity, a `DiagnosticLevel`."""
    @property
    def span(self) -> Span | None:
        """The place, if known."""
    @property
    def message(self) -> builtins.str:
        """The text of the message."""
    def __init__(self, level: builtins.int, span: Span | None, message: builtins.str) -> None: ...
    @staticmethod
    def bug(message: builtins.str, span: Span | None = ...) -> Diagnostic:
        """Return a message about an error in the compiler."""
    @staticmethod
    def error(message: builtins.str, span: Span | None = ...) -> Diagnostic:
        """Return a message about an error in the program."""
    @staticmethod
    def warning(message: builtins.str, span: Span | None = ...) -> Diagnostic:
        """Return a message about a possible error in the program."""
    @staticmethod
    def note(message: builtins.str, span: Span | None = ...) -> Diagnostic:
        """Return a message that adds information to another one."""
    @staticmethod
    def help(message: builtins.str, span: Span | None = ...) -> Diagnostic:
        """Return a message with a suggestion."""

class DiagnosticRenderer(isoform.Object):
    """Shows the messages of a context to people."""

    __match_args__ = ("func",)
    @property
    def func(self) -> isoform.Function:
        """The function called with the context."""
    def __init__(self, func: collections.abc.Callable[..., typing.Any]) -> None: ...
    def render(self, ctx: DiagnosticContext) -> None:
        """Shows the messages of a context."""

class DiagnosticContext(isoform.Object):
    """Collects messages about a module until they are rendered."""

    __match_args__ = ("module", "renderer")
    @property
    def module(self) -> IRModule:
        """The module, which contains the source texts."""
    @property
    def diagnostics(self) -> isoform.List[Diagnostic]:
        """The messages so far."""
    @property
    def renderer(self) -> DiagnosticRenderer | None:
        """Shows the messages; without a renderer, the messages become the message of an
        error.
        """
    def __init__(self, module: IRModule, renderer: DiagnosticRenderer | None = ...) -> None: ...
    def emit(self, diagnostic: Diagnostic) -> None:
        """Adds a message."""
    def render(self) -> None:
        """Shows the messages, and forgets them; DiagnosticError if they include a bug or an
        error.
        """
    def to_text(self, colour: builtins.bool = ...) -> builtins.str:
        """The messages as text with their source lines."""

class Range(isoform.Object):
    """The integers from `min` on; `extent` is their number.

    A tuple or list of one or two numbers is converted to a range, where a range is
    expected.
    """

    __match_args__ = ("min", "extent", "span")
    @property
    def min(self) -> PrimExpr:
        """The first."""
    @property
    def extent(self) -> PrimExpr:
        """The number of integers."""
    @property
    def span(self) -> Span | None:
        """The source location."""
    def __init__(
        self, begin: typing.Any, end: typing.Any | None = ..., span: Span | None = ...
    ) -> None: ...
    @staticmethod
    def from_min_extent(
        min_value: typing.Any, extent: typing.Any, span: Span | None = ...
    ) -> Range:
        """Return the range [min_value, min_value + extent).

        Args:
            min_value: The first one.
            extent: How many there are.
            span: The source location.
        """
    def __eq__(self, other: builtins.object) -> builtins.bool:
        """Return whether the ranges are structurally equal."""
    def __ne__(self, other: builtins.object) -> builtins.bool:
        """Return whether the ranges are not structurally equal."""
    def __hash__(self) -> builtins.int:
        """The structural hash, which agrees with `==`."""
