"""Expressions: operators of Python, and helpers that make and change expressions."""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class
from isoform.ir import _api
from isoform.ir.expr import GlobalVar as GlobalVar, RelayExpr
from isoform.ir.op import Op

if TYPE_CHECKING:
    # The classes that the package exports, for checkers.
    from collections.abc import Callable, Iterator, Mapping

    from isoform.types import relay as _classes
    from isoform.types.ir import Span

Expr = RelayExpr
"""The base class of all expressions."""

# The classes that are complete only after the import of the package.
_LATER = ("If", "Let", "RefCreate", "RefRead", "RefWrite", "TupleGetItem")


def __getattr__(name: str) -> Any:
    """Return an expression class, or the function that copies expressions with other fields."""
    if name in _LATER:
        return getattr(_types(), name)
    if name.endswith("WithFields") and name != "FunctionWithFields":
        from . import with_fields

        return getattr(with_fields, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _operand(other: Any) -> Any:
    """The right operand; numbers have to specify their type."""
    if isinstance(other, Expr):
        return other
    if isinstance(other, TupleWrapper):
        return other.astuple()
    if isinstance(other, Number):
        raise TypeError(f'convert "{other}" with `const` first')
    raise TypeError(f"type {type(other)} not supported")


def _operation(name: str, doc: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        other = _operand(other)
        return _api.made(Call, Op.get(name), [self, other])

    method.__doc__ = doc
    return method


@c_class("relay.ExprWithOp", init=False)
class ExprWithOp(RelayExpr):
    """The base class of the expressions with operators.

    An operator makes a call of the operator registered under its name. The right
    operand must be an expression: `const` converts numbers.

    >>> from isoform import relay
    >>> x = relay.var("x")
    >>> x + 1
    Traceback (most recent call last):
    TypeError: convert "1" with `const` first
    """

    def astype(self, dtype: Any) -> Any:
        """Return the value converted to a data type.

        Args:
            dtype: The data type.
        """
        from isoform import get_global_func

        cast: Any = get_global_func("relay.op._make.cast")
        return cast(self, dtype)

    def __neg__(self) -> Any:
        """`-self`."""
        return _api.made(Call, Op.get("negative"), [self])

    __lt__ = _operation("less", "`self < other`.")
    __gt__ = _operation("greater", "`self > other`.")
    __le__ = _operation("less_equal", "`self <= other`.")
    __ge__ = _operation("greater_equal", "`self >= other`.")
    __add__ = _operation("add", "`self + other`.")
    __sub__ = _operation("subtract", "`self - other`.")
    __mul__ = _operation("multiply", "`self * other`.")
    __truediv__ = _operation("divide", "`self / other`.")
    __div__ = _operation("divide", "`self / other`.")

    def __radd__(self, other: Any) -> Any:
        """Return `other + self`; `other` must be an expression."""
        return self + other

    def __rmul__(self, other: Any) -> Any:
        """Return `other * self`; `other` must be an expression."""
        return self * other

    def __rsub__(self, other: Any) -> Any:
        """Raise TypeError for `other - self`: `other` must be an expression."""
        return _refused(other)

    def __rtruediv__(self, other: Any) -> Any:
        """Raise TypeError for `other / self`: `other` must be an expression."""
        return _refused(other)

    __rdiv__ = __rtruediv__

    def __call__(self, *args: Any) -> Any:
        """Return a call of the value by arguments.

        Args:
            args: The arguments.
        """
        return _api.made(Call, self, args)


def _refused(other: Any) -> Any:
    if isinstance(other, Number):
        raise TypeError(f'convert "{other}" with `const` first')
    raise TypeError(f"type {type(other)} not supported")


@c_class("relay.Constant")
class Constant(ExprWithOp):
    """A tensor that is known when the program is compiled.

    Args:
        data: The tensor, or an array.
        span: The source location.

    >>> from isoform import relay
    >>> relay.const([1, 2]).tensor_type.concrete_shape
    (2,)
    """

    data: Any

    @property
    def tensor_type(self) -> Any:
        """The type of the tensor."""
        return _tensor_type(self)

    @property
    def is_scalar(self) -> bool:
        """True if the tensor has no dimensions."""
        return not len(self.data.shape)


@c_class("relay.Tuple")
class Tuple(ExprWithOp):
    """Several values. The tuple without fields is an `EmptyTuple`.

    Args:
        fields: The values.
        span: The source location.

    >>> from isoform import relay
    >>> x, y = relay.var("x"), relay.var("y")
    >>> pair = relay.Tuple([x, y])
    >>> len(pair), pair[1] is y
    (2, True)
    """

    fields: Any

    def __getitem__(self, index: int) -> Any:
        """Return a field; IndexError outside of the tuple."""
        if index >= len(self.fields):
            raise IndexError("Tuple index out of range")
        return self.fields[index]

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self.fields)

    def __bool__(self) -> bool:
        """Return True, also for the empty tuple."""
        return True

    def astype(self, dtype: Any) -> Any:  # noqa: ARG002
        """Raise TypeError: only tensors have a data type."""
        raise TypeError("astype cannot be used on tuple")


@c_class("relay.Id")
class Id(ExprWithOp):
    """The identity of a variable: `var.vid`, which is a view of the variable itself."""

    name_hint: str


@c_class("relay.Var")
class Var(Id):
    """A variable, compared by the binding place and by annotation.

    Args:
        name_hint: The name, for people.
        type_annotation: The type of its value, if written down.
        span: The source location.
    """

    type_annotation: Any

    @property
    def vid(self) -> Id:
        """The identity of the variable: the variable itself."""
        return self


@c_class("relay.Call")
class Call(ExprWithOp):
    """The call of an operator, a function or a constructor.

    Args:
        op: The callee.
        args: The arguments.
        attrs: The attributes of an operator.
        type_args: The arguments for type parameters; None for none.
        span: The source location.
    """

    op: Any
    args: Any
    attrs: Any

    @property
    def type_args(self) -> Any:
        """The arguments for type parameters: written down, or found by type inference."""
        return _type_args(self)


@c_class("relay.TempExpr", init=False)
class TempExpr(RelayExpr):
    """The base class of expressions that exist only while a pass runs.

    Its subclasses define `realize`, or have the type attribute `relay.realize`.
    """

    def realize(self) -> Any:
        """Return the expression that takes the place of this one."""
        return _realize(self)


_tensor_type = _api.function("relay.ir.Constant.tensor_type")
_type_args = _api.function("relay.ir.Call.type_args")
_realize = _api.function("relay.ir.TempExpr.realize")
_bind = _api.function("relay.ir.bind")
_dedup = _api.function("relay._transform.dedup")
_rewrite = _api.function("relay.ir.post_order_rewrite")


class TupleWrapper:
    """The result of an operator with several outputs.

    Wherever an expression is expected, a wrapper is accepted in place of its tuple.

    Args:
        tuple_value: The expression of the tuple.
        size: The number of its fields.

    >>> from isoform import relay
    >>> first, second = relay.TupleWrapper(relay.var("pair"), 2)
    >>> second.index
    1
    """

    def __init__(self, tuple_value: Expr, size: int) -> None:
        """Wrap an expression for a tuple of this size."""
        self.tuple_value = tuple_value
        self.size = size

    def astuple(self) -> Expr:
        """Return the expression of the tuple."""
        return self.tuple_value

    asobject = astuple

    def astext(self) -> str:
        """Return the text of the expression of the tuple."""
        return self.tuple_value.astext()

    def __getitem__(self, index: int) -> Any:
        """Return the expression of a field; IndexError outside of the tuple."""
        if not -self.size <= index < self.size:
            raise IndexError("Tuple index out of range")
        return _api.made(_types().TupleGetItem, self.tuple_value, index % self.size)

    def __len__(self) -> int:
        """Return the number of fields."""
        return self.size

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the fields."""
        return (self[index] for index in range(self.size))

    def __repr__(self) -> str:
        """Show the expression and the size."""
        return f"TupleWrapper({self.tuple_value!r}, {self.size})"

    def astype(self, dtype: Any) -> Any:  # noqa: ARG002
        """Raise TypeError: only tensors have a data type."""
        raise TypeError("astype cannot be used on tuple")


def _types() -> Any:
    """The classes, complete after the import of the package."""
    from isoform.types import relay

    return relay


def var(
    name_hint: str,
    type_annotation: Any = None,
    shape: Any = None,
    dtype: Any = "float32",
    span: Span | None = None,
) -> _classes.Var:
    """Return a variable.

    Args:
        name_hint: The name, for people.
        type_annotation: The type of its value; a string is the data type of a scalar.
        shape: The shape of the value, instead of a type.
        dtype: The data type for the shape.
        span: The source location.

    Raises ValueError for a type and a shape.

    >>> from isoform import relay
    >>> relay.var("x", shape=(1, 2)).type_annotation.concrete_shape
    (1, 2)
    >>> relay.var("n", "int32").type_annotation == relay.scalar_type("int32")
    True
    """
    from .ty import TensorType

    if type_annotation is not None and shape is not None:
        raise ValueError("Can only specify either type_annotation or shape.")
    if shape is not None:
        type_annotation = _api.made(TensorType, shape, dtype)
    elif isinstance(type_annotation, str):
        type_annotation = _api.made(TensorType, (), type_annotation)
    return _api.made(Var, name_hint, type_annotation, span)


def const(value: Any, dtype: Any = None, span: Span | None = None) -> _classes.Constant:
    """Return a constant.

    Args:
        value: A number, nested lists of numbers, an array or a tensor.
        dtype: The data type. By default, Python's integers are int32, or int64 if one
            of them is larger, and its floats are float32; arrays and scalars of NumPy
            keep their data type, and tensors always do.
        span: The source location.

    Raises ValueError for anything else and for the name of no data type, and TypeError for a
    data type that neither NumPy nor `ml_dtypes` has.

    >>> from isoform import relay
    >>> [str(relay.const(value).data.dtype) for value in (True, 1, 1.5, 1 << 40, [1.0, 2.0])]
    ['bool', 'int32', 'float32', 'int64', 'float32']
    """
    import numpy as np

    from isoform.dtype import dtype as as_dtype
    from isoform.tensor import Tensor

    if isinstance(value, Tensor):
        return _api.made(Constant, value, span)
    try:
        np.dtype(dtype)
    except TypeError:
        # `ml_dtypes` adds data types to NumPy, such as `bfloat16`.
        dtype = as_dtype(dtype).to_numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value, dtype=dtype)
    elif isinstance(value, (bool, int, float, list)):
        array = np.array(value, dtype=dtype)
        if dtype is None:
            array = _narrowed(array)
    else:
        raise ValueError("value has to be scalar or NDArray")
    if array.dtype.kind in "MmOSU":
        raise ValueError(
            f"const: expected numbers or truth values, got elements of the NumPy type {array.dtype}"
        )
    # Tensors have the byte order of the machine.
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return _api.made(Constant, np.ascontiguousarray(array).reshape(array.shape), span)


def _narrowed(array: Any) -> Any:
    """The numbers of Python in their usual types in programs."""
    import numpy as np

    if array.dtype == np.float64:
        return array.astype(np.float32)
    if array.dtype == np.int64:
        small = array.astype(np.int32)
        return small if np.array_equal(small, array) else array
    return array


def bind(expr: Any, binds: Mapping[Any, Any]) -> Any:
    """Replace variables by values, or type variables of a type by types.

    Of a function, the variables are replaced in the body and are no longer parameters;
    variables that the values bring in become parameters at the end. Values are inserted
    by reference, and no variable of the program captures those of a value.

    Args:
        expr: The expression or type.
        binds: The values by variable.

    Raises ValueError for a variable that is bound inside of the expression. Linear in
    the number of objects.

    >>> from isoform import relay
    >>> x, y = relay.var("x"), relay.var("y")
    >>> bound = relay.bind(relay.Function([x], relay.Tuple([x])), {x: y})
    >>> bound.params[0] is y
    True
    """
    return _bind(expr, dict(binds))


def dedup(expr: Any) -> Any:
    """Return the expression with a fresh variable for each bound variable.

    Args:
        expr: The expression.

    Raises ValueError unless the expression is well formed. Linear in the number of
    objects.
    """
    return _dedup(expr)


def post_order_rewrite(expr: Any, rewrite: Callable[[Any, Any], Any]) -> Any:
    """Rewrite an expression from the leaves up, each part once.

    Args:
        expr: The expression.
        rewrite: Called with each expression before and after rewriting the expressions
            below; returns the replacement, or None to keep the second argument.

    Depth is limited by memory only. Linear in the number of expressions.

    >>> from isoform import relay
    >>> c, x, y = (relay.var(name) for name in "cxy")
    >>> done = relay.post_order_rewrite(
    ...     relay.Tuple([relay.If(c, x, y)]),
    ...     lambda pre, post: post.true_branch if isinstance(pre, relay.If) else None,
    ... )
    >>> done[0] is x
    True
    """
    return _rewrite(expr, rewrite)


def pretty_print(obj: Any) -> str:
    """Return the text of an expression, a type or a module in the format of Relay.

    Args:
        obj: The object; an object of another dialect has the text of that dialect.

    >>> from isoform import relay
    >>> relay.pretty_print(relay.const(1))
    '1\\n'
    """
    from isoform.transform import script

    return script(obj)
