# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `relay`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = [
    "Any",
    "AttrsWildcard",
    "Call",
    "Clause",
    "Constant",
    "EmptyTuple",
    "ExprWithOp",
    "Function",
    "Id",
    "If",
    "Let",
    "Match",
    "Pattern",
    "PatternConstructor",
    "PatternTuple",
    "PatternVar",
    "PatternWildcard",
    "RefCreate",
    "RefRead",
    "RefWrite",
    "TempExpr",
    "Tuple",
    "TupleGetItem",
    "Var",
    "Wildcard",
]

class ExprWithOp(isoform.types.ir.RelayExpr):
    """The base of the expressions that have operators in Python: all but functions and
    global variables.
    """

    __match_args__ = ("checked_type_", "struct_info_", "span")
    def astype(self, dtype: typing.Any) -> typing.Any:
        """Return the value converted to a data type.

        Args:
            dtype: The data type.
        """
    def __neg__(self) -> typing.Any:
        """`-self`."""
    def __lt__(self, other: typing.Any) -> typing.Any:
        """`self < other`."""
    def __gt__(self, other: typing.Any) -> typing.Any:
        """`self > other`."""
    def __le__(self, other: typing.Any) -> typing.Any:
        """`self <= other`."""
    def __ge__(self, other: typing.Any) -> typing.Any:
        """`self >= other`."""
    def __add__(self, other: typing.Any) -> typing.Any:
        """`self + other`."""
    def __sub__(self, other: typing.Any) -> typing.Any:
        """`self - other`."""
    def __mul__(self, other: typing.Any) -> typing.Any:
        """`self * other`."""
    def __truediv__(self, other: typing.Any) -> typing.Any:
        """`self / other`."""
    def __div__(self, other: typing.Any) -> typing.Any:
        """`self / other`."""
    def __radd__(self, other: typing.Any) -> typing.Any:
        """Return `other + self`; `other` must be an expression."""
    def __rmul__(self, other: typing.Any) -> typing.Any:
        """Return `other * self`; `other` must be an expression."""
    def __rsub__(self, other: typing.Any) -> typing.Any:
        """Raise TypeError for `other - self`: `other` must be an expression."""
    def __rtruediv__(self, other: typing.Any) -> typing.Any:
        """Raise TypeError for `other / self`: `other` must be an expression."""
    def __rdiv__(self, other: typing.Any) -> typing.Any:
        """Raise TypeError for `other / self`: `other` must be an expression."""
    def __call__(self, *args: typing.Any) -> typing.Any:
        """Return a call of the value by arguments.

        Args:
            args: The arguments.
        """

class Constant(ExprWithOp):
    """A tensor known at compile time.

    Two constants are equal if data type, shape and contents are.
    """

    __match_args__ = ("data", "span")
    @property
    def data(self) -> isoform.Tensor:
        """The tensor."""
    def __init__(self, data: isoform.Tensor, span: isoform.types.ir.Span | None = ...) -> None: ...
    @property
    def tensor_type(self) -> typing.Any:
        """The type of the tensor."""
    @property
    def is_scalar(self) -> builtins.bool:
        """True if the tensor has no dimensions."""

class Tuple(ExprWithOp):
    """Several values.

    The constructor returns an `EmptyTuple` for a tuple without fields.
    """

    __match_args__ = ("fields", "span")
    @property
    def fields(self) -> isoform.Array[isoform.types.ir.RelayExpr]:
        """The values."""
    def __init__(
        self,
        fields: collections.abc.Sequence[isoform.types.ir.RelayExpr],
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...
    def __getitem__(self, index: builtins.int) -> typing.Any:
        """Return a field; IndexError outside of the tuple."""
    def __len__(self) -> builtins.int:
        """Return the number of fields."""
    def __bool__(self) -> builtins.bool:
        """Return True, also for the empty tuple."""
    def astype(self, dtype: typing.Any) -> typing.Any:
        """Raise TypeError: only tensors have a data type."""

class EmptyTuple(Tuple):
    """The tuple without fields.

    Acts like a constant: sharing makes no difference.
    """

    __match_args__ = ("span",)
    def __init__(self, span: isoform.types.ir.Span | None = ...) -> None: ...

class TupleGetItem(ExprWithOp):
    """One value of a tuple.

    Sharing makes no difference: taking a value twice repeats no computation.
    """

    __match_args__ = ("tuple_value", "index", "span")
    @property
    def tuple_value(self) -> isoform.types.ir.RelayExpr:
        """The tuple."""
    @property
    def index(self) -> builtins.int:
        """The position of the value, from 0."""
    def __init__(
        self,
        tuple_value: isoform.types.ir.RelayExpr,
        index: builtins.int,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Id(ExprWithOp):
    """The identity of a variable: a view of the variable itself.

    The binding and all uses share one variable object, so a variable is its own
    identity. A variable with another annotation is another variable.
    """

    __match_args__ = ("name_hint",)
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    def __init__(self, name_hint: builtins.str = ...) -> None: ...

class Var(Id):
    """A variable: compared by the place of its binding, and by its annotation; the name is
    ignored.
    """

    __match_args__ = ("name_hint", "type_annotation", "span")
    @property
    def type_annotation(self) -> isoform.types.ir.Type | None:
        """The annotated type of the value."""
    def __init__(
        self,
        name_hint: builtins.str,
        type_annotation: isoform.types.ir.Type | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...
    @property
    def vid(self) -> Id:
        """The identity of the variable: the variable itself."""

class Wildcard(Id):
    """A variable of patterns, as a hole for any expression.

    A hole agrees with its part in the fields of their common class. A `Var` has an
    annotation, and so matches only variables with the same annotation; this class has
    no compared field.
    """

    __match_args__ = ("name_hint", "span")
    def __init__(
        self, name_hint: builtins.str = ..., span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class AttrsWildcard(isoform.types.ir.Attrs):
    """A variable of patterns, as a hole for the attributes of a call.

    It fills the field `attrs` of a call in a template, and matches attributes of any class;
    a `Hole` for it may ask for their class and their values. A call
    without attributes does not match.

    ```
    use isoform_relay::attrs::{CastAttrs, TransposeAttrs};
    use isoform_relay::{AttrsWildcard, Call, Var, Wildcard, op};
    use isoform::pattern::{Hole, Pattern};
    use isoform::values::DType;

    let (x, attrs, a) = (Wildcard::new("x"), AttrsWildcard::new("attrs"), Var::new("a"));
    let cast = op::cast(&x, CastAttrs::new(DType::INT32));
    let any_cast = cast.with_attrs(&attrs);
    let to_float = Hole::new(&attrs).field("dtype", DType::FLOAT32);
    let pattern = Pattern::new(any_cast, [(&x).into(), to_float])?;
    let cast = |dtype| op::cast(&a, CastAttrs::new(dtype));
    assert!(pattern.match_value(cast(DType::FLOAT32))?.is_some());
    assert!(pattern.match_value(cast(DType::INT64))?.is_none());
    # Ok::<(), isoform::Error>(())
    ```
    """

    __match_args__ = ("name_hint",)
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    def __init__(self, name_hint: builtins.str = ...) -> None: ...

class Call(ExprWithOp):
    """The call of an operator, a function or a constructor.

    Calls are equal if callee, arguments, attributes and type arguments are. The type
    arguments of a [primitive operator](is_primitive_op) are not compared: type inference
    fills them with the types of the arguments.
    """

    __match_args__ = ("op", "args", "attrs", "span")
    @property
    def op(self) -> isoform.types.ir.RelayExpr:
        """The callee."""
    @property
    def args(self) -> isoform.Array[isoform.types.ir.RelayExpr]:
        """The arguments."""
    @property
    def attrs(self) -> isoform.types.ir.Attrs | None:
        """The attributes of an operator."""
    @property
    def type_args_(self) -> isoform.Array[isoform.types.ir.Type]:
        """The arguments for the type parameters of a function."""
    @property
    def op_type_args_(self) -> isoform.Array[isoform.types.ir.Type]:
        """The types found for the arguments of a primitive operator."""
    def __init__(
        self,
        op: isoform.types.ir.RelayExpr,
        args: collections.abc.Sequence[isoform.types.ir.RelayExpr],
        attrs: isoform.types.ir.Attrs | None = ...,
        type_args: collections.abc.Sequence[isoform.types.ir.Type] | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...
    @property
    def type_args(self) -> typing.Any:
        """The arguments for type parameters: written down, or found by type inference."""

class Let(ExprWithOp):
    """Binds a variable to a value in a body.

    The variable is also bound in the value itself, so a function can call itself.
    """

    __match_args__ = ("var", "value", "body", "checked_type_", "struct_info_", "span")
    @property
    def var(self) -> Var:
        """The variable."""
    @property
    def value(self) -> isoform.types.ir.RelayExpr:
        """Its value."""
    @property
    def body(self) -> isoform.types.ir.RelayExpr:
        """The result."""
    def __init__(
        self,
        variable: Var,
        value: isoform.types.ir.RelayExpr,
        body: isoform.types.ir.RelayExpr,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class If(ExprWithOp):
    """A conditional; only the chosen branch is evaluated."""

    __match_args__ = ("cond", "true_branch", "false_branch", "span")
    @property
    def cond(self) -> isoform.types.ir.RelayExpr:
        """The condition, a scalar of type bool."""
    @property
    def true_branch(self) -> isoform.types.ir.RelayExpr:
        """The value for a true condition."""
    @property
    def false_branch(self) -> isoform.types.ir.RelayExpr:
        """The value for a false condition."""
    def __init__(
        self,
        cond: isoform.types.ir.RelayExpr,
        true_branch: isoform.types.ir.RelayExpr,
        false_branch: isoform.types.ir.RelayExpr,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Function(isoform.types.ir.BaseFunc):
    """A function: binds its parameters in the function only.

    The function also binds type variables in annotations of parameters.
    """

    __match_args__ = ("params", "body", "ret_type", "type_params", "attrs", "span")
    @property
    def params(self) -> isoform.Array[Var]:
        """The parameters."""
    @property
    def body(self) -> isoform.types.ir.RelayExpr:
        """The result."""
    @property
    def ret_type(self) -> isoform.types.ir.Type | None:
        """The annotated type of the result."""
    @property
    def type_params(self) -> isoform.Array[isoform.types.ir.TypeVar]:
        """The parameters of the type."""
    def __init__(
        self,
        params: collections.abc.Sequence[Var],
        body: isoform.types.ir.RelayExpr,
        ret_type: isoform.types.ir.Type | None = ...,
        type_params: collections.abc.Sequence[isoform.types.ir.TypeVar] | None = ...,
        attrs: typing.Any | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...
    def __call__(self, *args: typing.Any) -> typing.Any:
        """Return a call of the function.

        Args:
            args: The arguments.
        """
    def func_type_annotation(self) -> typing.Any:
        """Return the type that the annotations give, incomplete where one is missing."""
    def is_optimizable(self) -> builtins.bool:
        """Return whether passes may change the body.

        They may not if the function has the attribute `Compiler`, or `Extern` or
        `SkipOptimization` is not zero.
        """

class RefCreate(ExprWithOp):
    """Makes a reference with a first value."""

    __match_args__ = ("value", "span")
    @property
    def value(self) -> isoform.types.ir.RelayExpr:
        """The value."""
    def __init__(
        self, value: isoform.types.ir.RelayExpr, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class RefRead(ExprWithOp):
    """The value of a reference at this moment."""

    __match_args__ = ("ref", "span")
    @property
    def ref(self) -> isoform.types.ir.RelayExpr:
        """The reference."""
    def __init__(
        self, ref: isoform.types.ir.RelayExpr, span: isoform.types.ir.Span | None = ...
    ) -> None: ...

class RefWrite(ExprWithOp):
    """Replaces the value of a reference; the value of the expression is the empty tuple."""

    __match_args__ = ("ref", "value", "span")
    @property
    def ref(self) -> isoform.types.ir.RelayExpr:
        """The reference."""
    @property
    def value(self) -> isoform.types.ir.RelayExpr:
        """The new value."""
    def __init__(
        self,
        ref: isoform.types.ir.RelayExpr,
        value: isoform.types.ir.RelayExpr,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Pattern(isoform.Object):
    """The base of patterns."""

    __match_args__ = ("span",)
    @property
    def span(self) -> isoform.types.ir.Span | None:
        """The source location."""
    def __init__(self, span: isoform.types.ir.Span | None = ...) -> None: ...

class PatternWildcard(Pattern):
    """Matches every value."""

    __match_args__ = ("span",)
    def __init__(self, span: isoform.types.ir.Span | None = ...) -> None: ...

class PatternVar(Pattern):
    """Matches every value, and binds a variable to the value."""

    __match_args__ = ("var", "span")
    @property
    def var(self) -> Var:
        """The variable."""
    def __init__(self, var: Var, span: isoform.types.ir.Span | None = ...) -> None: ...

class PatternConstructor(Pattern):
    """Matches the values of one constructor with matching fields."""

    __match_args__ = ("constructor", "patterns", "span")
    @property
    def constructor(self) -> isoform.types.ir.Constructor:
        """The constructor."""
    @property
    def patterns(self) -> isoform.Array[Pattern]:
        """The patterns of the fields."""
    def __init__(
        self,
        constructor: isoform.types.ir.Constructor,
        patterns: collections.abc.Sequence[Pattern] | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class PatternTuple(Pattern):
    """Matches tuples with matching fields."""

    __match_args__ = ("patterns", "span")
    @property
    def patterns(self) -> isoform.Array[Pattern]:
        """The patterns of the fields."""
    def __init__(
        self,
        patterns: collections.abc.Sequence[Pattern] | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Clause(isoform.Object):
    """One case of a match: the result can use the variables of the pattern."""

    __match_args__ = ("lhs", "rhs")
    @property
    def lhs(self) -> Pattern:
        """The pattern."""
    @property
    def rhs(self) -> isoform.types.ir.RelayExpr:
        """The result."""
    def __init__(self, lhs: Pattern, rhs: isoform.types.ir.RelayExpr) -> None: ...

class Match(ExprWithOp):
    """The result of the first clause with a pattern that matches a value."""

    __match_args__ = ("data", "clauses", "complete", "span")
    @property
    def data(self) -> isoform.types.ir.RelayExpr:
        """The value."""
    @property
    def clauses(self) -> isoform.Array[Clause]:
        """The cases, in order."""
    @property
    def complete(self) -> builtins.bool:
        """True if the cases must cover every value."""
    def __init__(
        self,
        data: isoform.types.ir.RelayExpr,
        clauses: collections.abc.Sequence[Clause],
        complete: builtins.bool = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Any(isoform.types.ir.PrimExpr):
    """The size of a dimension known only at run time.

    Two such sizes are equal as expressions, though they may stand for different sizes;
    type inference unifies the size with every size.
    """

    __match_args__ = ()
    def __init__(self) -> None: ...

class TempExpr(isoform.types.ir.RelayExpr):
    """The base of expressions that a pass puts into a program temporarily, to remember
    facts about values. The pass replaces the expressions by others before its end.

    Types that extend `TempExpr` have the attribute `relay.realize`: a function from a
    node to its replacement.
    """

    __match_args__ = ("checked_type_", "struct_info_", "span")
    def realize(self) -> typing.Any:
        """Return the expression that takes the place of this one."""
