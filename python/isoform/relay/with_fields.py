"""Copies of expressions with other fields; without a change, the expression itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.ir import _api

from .expr import Tuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from isoform.types.ir import Attrs, DictAttrs, Span, Type, TypeVar
    from isoform.types.relay import Call, Constant, Id, Var

    from .expr import Expr

_with_fields = _api.function("relay.ir.with_fields")


def _updated(node: Any, span: Any, virtual_device: Any, **fields: Any) -> Any:
    if virtual_device is not None:
        raise TypeError(
            f"{type(node).__name__}: virtual devices are not supported, expected None as "
            f"virtual_device, got {type(virtual_device).__name__}"
        )
    return _with_fields(node, {**fields, "span": span})


def ConstantWithFields(  # noqa: N802
    constant: Constant, data: Any = None, virtual_device: Any = None, span: Span | None = None
) -> Constant:
    """Return a constant with other fields.

    This and the similar functions return the node itself if all fields other than None
    are unchanged, and a copy otherwise. A copy keeps the other fields, the checked type
    included. `virtual_device` must be None.

    Args:
        constant: The constant.
        data: Its tensor.
        virtual_device: None.
        span: The source location.
    """
    return _updated(constant, span, virtual_device, data=data)


def TupleWithFields(  # noqa: N802
    tup: Tuple,
    fields: Sequence[Expr] | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Tuple:
    """Return a tuple with other fields; see `ConstantWithFields`.

    Args:
        tup: The tuple.
        fields: Its values.
        virtual_device: None.
        span: The source location.
    """
    if fields is not None and (len(fields) == 0) != (len(tup) == 0):
        made = _api.made(Tuple, fields, tup.span)
        return _updated(made, span, virtual_device)
    return _updated(tup, span, virtual_device, fields=fields)


def VarWithFields(  # noqa: N802
    variable: Var,
    vid: Id | None = None,
    type_annotation: Type | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Var:
    """Return a variable with other fields; any change makes a new variable.

    Args:
        variable: The variable.
        vid: The identity of a variable, which determines the name.
        type_annotation: The type of its value.
        virtual_device: None.
        span: The source location.
    """
    name = None if vid is None or vid is variable else vid.name_hint
    if type_annotation is not None and not _is_same(type_annotation, variable.type_annotation):
        # Another variable, without the checked type of this one.
        variable = _api.made(type(variable), variable.name_hint, type_annotation, variable.span)
    return _updated(variable, span, virtual_device, name_hint=name, type_annotation=type_annotation)


def CallWithFields(  # noqa: N802
    call: Call,
    op: Expr | None = None,
    args: Sequence[Expr] | None = None,
    attrs: Attrs | None = None,
    type_args: Sequence[Type] | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Call:
    """Return a call with other fields; see `ConstantWithFields`.

    Args:
        call: The call.
        op: The callee.
        args: The arguments.
        attrs: The attributes.
        type_args: The arguments for type parameters.
        virtual_device: None.
        span: The source location.
    """
    made = _updated(call, span, virtual_device, op=op, args=args, attrs=attrs)
    if type_args is not None and not _are_same(type_args, made.type_args):
        return _with_type_args(made, list(type_args))
    return made


_with_type_args = _api.function("relay.ir.Call.with_type_args")


def _are_same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return len(left) == len(right) and all(map(_is_same, left, right))


def _is_same(left: Any, right: Any) -> bool:
    return left.same_as(right)


def LetWithFields(  # noqa: N802
    let: Any,
    variable: Var | None = None,
    value: Expr | None = None,
    body: Expr | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Any:
    """Return a binding with other fields; see `ConstantWithFields`.

    Args:
        let: The binding.
        variable: The variable.
        value: Its value.
        body: The result.
        virtual_device: None.
        span: The source location.
    """
    return _updated(let, span, virtual_device, var=variable, value=value, body=body)


def IfWithFields(  # noqa: N802
    if_expr: Any,
    cond: Expr | None = None,
    true_branch: Expr | None = None,
    false_branch: Expr | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Any:
    """Return a choice with other fields; see `ConstantWithFields`.

    Args:
        if_expr: The choice.
        cond: The condition.
        true_branch: The value for a true condition.
        false_branch: The value for a false condition.
        virtual_device: None.
        span: The source location.
    """
    return _updated(
        if_expr,
        span,
        virtual_device,
        cond=cond,
        true_branch=true_branch,
        false_branch=false_branch,
    )


def TupleGetItemWithFields(  # noqa: N802
    tuple_get_item: Any,
    tuple_value: Expr | None = None,
    index: int | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Any:
    """Return an item of a tuple with other fields; see `ConstantWithFields`.

    Args:
        tuple_get_item: The item.
        tuple_value: The tuple.
        index: The position.
        virtual_device: None.
        span: The source location.
    """
    return _updated(tuple_get_item, span, virtual_device, tuple_value=tuple_value, index=index)


def FunctionWithFields(  # noqa: N802
    function: Any,
    params: Sequence[Var] | None = None,
    body: Expr | None = None,
    ret_type: Type | None = None,
    ty_params: Sequence[TypeVar] | None = None,
    attrs: DictAttrs | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Any:
    """Return a function with other fields; see `ConstantWithFields`.

    Args:
        function: The function.
        params: The parameters.
        body: The result.
        ret_type: The type of the result.
        ty_params: The type parameters.
        attrs: The attributes.
        virtual_device: None.
        span: The source location.
    """
    return _updated(
        function,
        span,
        virtual_device,
        params=params,
        body=body,
        ret_type=ret_type,
        type_params=ty_params,
        attrs=attrs,
    )


def RefCreateWithFields(  # noqa: N802
    ref_create: Any, value: Expr | None = None, virtual_device: Any = None, span: Span | None = None
) -> Any:
    """Return the creation of a reference with other fields; see `ConstantWithFields`.

    Args:
        ref_create: The creation.
        value: The first value.
        virtual_device: None.
        span: The source location.
    """
    return _updated(ref_create, span, virtual_device, value=value)


def RefReadWithFields(  # noqa: N802
    ref_read: Any, ref: Expr | None = None, virtual_device: Any = None, span: Span | None = None
) -> Any:
    """Return the reading of a reference with other fields; see `ConstantWithFields`.

    Args:
        ref_read: The reading.
        ref: The reference.
        virtual_device: None.
        span: The source location.
    """
    return _updated(ref_read, span, virtual_device, ref=ref)


def RefWriteWithFields(  # noqa: N802
    ref_write: Any,
    ref: Expr | None = None,
    value: Expr | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Any:
    """Return the writing to a reference with other fields; see `ConstantWithFields`.

    Args:
        ref_write: The writing.
        ref: The reference.
        value: The new value.
        virtual_device: None.
        span: The source location.
    """
    return _updated(ref_write, span, virtual_device, ref=ref, value=value)
