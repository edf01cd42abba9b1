"""Functions."""

from __future__ import annotations

from typing import Any

from isoform.dataclasses import c_class
from isoform.ir import _api
from isoform.ir.function import BaseFunc

# The classes of the expressions come first.
from .expr import Call


def __getattr__(name: str) -> Any:
    """Return `FunctionWithFields`, whose module needs the expressions."""
    if name == "FunctionWithFields":
        from .with_fields import FunctionWithFields

        return FunctionWithFields
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@c_class("relay.Function")
class Function(BaseFunc):
    """A function. Parameters are bound inside of the function only.

    Args:
        params: The parameters.
        body: The result.
        ret_type: The annotated type of the result, or None.
        type_params: The type parameters; None for a function without type parameters.
        attrs: The attributes; None for a function without attributes.
        span: The source location.

    >>> from isoform import relay
    >>> x = relay.var("x", shape=(2,))
    >>> func = relay.Function([x], x)
    >>> len(func.attrs.keys()), func(x).op is func
    (0, True)
    """

    params: Any
    body: Any
    ret_type: Any
    type_params: Any

    def __call__(self, *args: Any) -> Any:
        """Return a call of the function.

        Args:
            args: The arguments.
        """
        return _api.made(Call, self, args)

    def func_type_annotation(self) -> Any:
        """Return the type that the annotations give, incomplete where one is missing."""
        return _func_type_annotation(self)

    def is_optimizable(self) -> bool:
        """Return whether passes may change the body.

        They may not if the function has the attribute `Compiler`, or `Extern` or
        `SkipOptimization` is not zero.
        """
        return _is_optimizable(self)


_func_type_annotation = _api.function("relay.ir.Function.func_type_annotation")
_is_optimizable = _api.function("relay.ir.Function.is_optimizable")
