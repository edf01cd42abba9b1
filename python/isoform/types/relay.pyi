# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `relay`."""

import builtins
import collections.abc
import typing

import isoform

__all__ = ["Call", "Function", "Var"]

class Var(isoform.types.ir.RelayExpr):
    """A variable."""

    __match_args__ = ("name_hint", "type_annotation", "span")
    @property
    def name_hint(self) -> builtins.str:
        """For people."""
    @property
    def type_annotation(self) -> isoform.types.ir.Type | None:
        """The type of its value, if it was written down."""
    def __init__(
        self,
        name_hint: builtins.str,
        type_annotation: isoform.types.ir.Type | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Call(isoform.types.ir.RelayExpr):
    """The call of an operator, a function or a constructor."""

    __match_args__ = ("op", "args", "attrs", "type_args", "span")
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
    def type_args(self) -> isoform.Array[isoform.types.ir.Type]:
        """The arguments for the type parameters of a function."""
    def __init__(
        self,
        op: isoform.types.ir.RelayExpr,
        args: collections.abc.Sequence[isoform.types.ir.RelayExpr],
        attrs: isoform.types.ir.Attrs | None = ...,
        type_args: collections.abc.Sequence[isoform.types.ir.Type] | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...

class Function(isoform.types.ir.BaseFunc):
    """A function: its parameters are bound in it, and only in it."""

    __match_args__ = ("params", "body", "ret_type", "type_params", "attrs", "span")
    @property
    def params(self) -> isoform.Array[Var]:
        """The parameters."""
    @property
    def body(self) -> isoform.types.ir.RelayExpr:
        """The result."""
    @property
    def ret_type(self) -> isoform.types.ir.Type | None:
        """The type of the result, if it was written down."""
    @property
    def type_params(self) -> isoform.Array[isoform.types.ir.TypeVar]:
        """The parameters of its type."""
    def __init__(
        self,
        params: collections.abc.Sequence[Var],
        body: isoform.types.ir.RelayExpr,
        ret_type: isoform.types.ir.Type | None = ...,
        type_params: collections.abc.Sequence[isoform.types.ir.TypeVar] | None = ...,
        attrs: typing.Any | None = ...,
        span: isoform.types.ir.Span | None = ...,
    ) -> None: ...
