"""Descriptions of functions: from annotations to schemas, and back."""

from __future__ import annotations

import inspect
import json
import typing
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import TypeSchema
from isoform.core._schema_text import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.function import Function

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_ANY = TypeSchema("Any")

# As other front ends write them.
_SPELLED = {
    "Array": "ffi.Array",
    "Callable": "ffi.Function",
    "Dict": "ffi.Dict",
    "Function": "ffi.Function",
    "List": "ffi.List",
    "Map": "ffi.Map",
    "Object": "ffi.Object",
    "Shape": "ffi.Shape",
    "Tensor": "ffi.Tensor",
    "Union": "Variant",
    "bytes": "ffi.Bytes",
    "dtype": "DataType",
    "isoform.Object": "ffi.Object",
    "str": "ffi.String",
    "tuple": "Tuple",
}


def described(function: Callable[..., Any], name: str | None) -> Function:
    """A Python callable as a `Function` with name, documentation and signature.

    Annotations that no schema expresses, or that cannot be evaluated yet, are
    `Any`; a callable with keyword-only parameters or any number of arguments
    has no signature.
    """
    doc = inspect.getdoc(function) if hasattr(function, "__name__") else None
    parameters: list[tuple[str, _core.Schema, bool, Any]] | None = []
    returns = _ANY
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        parameters = None
    else:
        # The parameters of a class are those of the constructor.
        constructor: Any = function.__init__ if inspect.isclass(function) else None
        hints = _hints(constructor or function)
        returns = _ANY if constructor else _schema(hints.get("return", Any))
        for parameter in signature.parameters.values():
            if parameter.kind not in _POSITIONAL:
                parameters = None
                break
            has_default = parameter.default is not parameter.empty
            schema = _schema(hints.get(parameter.name, Any))
            default = parameter.default if has_default else None
            parameters.append((parameter.name, schema.compiled, has_default, default))
    return _core._describe_function(function, name, doc, parameters, returns.compiled)


def _hints(function: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:
        own = getattr(function, "__annotations__", None) or {}
        return {name: hint for name, hint in own.items() if not isinstance(hint, str)}


def _schema(annotation: Any) -> TypeSchema:
    try:
        schema = TypeSchema.from_annotation(annotation)
        _ = schema.compiled
    except (TypeError, ValueError):
        return _ANY
    return schema


def signature_of(function: Function) -> inspect.Signature | None:
    """The signature of a function, if known."""
    wrapped = _core._callable_of(function)
    if wrapped is not None:
        try:
            return inspect.signature(wrapped)
        except (TypeError, ValueError):
            return None
    known = _core._signature_of(function)
    if known is None:
        return None
    parameters = [
        inspect.Parameter(
            name or f"argument{position}",
            inspect.Parameter.POSITIONAL_ONLY,
            default=default if has_default else inspect.Parameter.empty,
            annotation=_Text(text),
        )
        for position, (name, text, has_default, default, _) in enumerate(known[0], 1)
    ]
    return inspect.Signature(
        parameters, return_annotation=_Text(known[1]), __validate_parameters__=False
    )


def of_method(function: Function, *, with_self: bool = False) -> inspect.Signature | None:
    """The signature of a function of the core, as a method or a constructor.

    Args:
        function: the function; the first argument of a method is the object.
        with_self: add the object to the parameters.
    """
    known = _core._signature_of(function)
    if known is None:
        return None
    kinds = inspect.Parameter
    # All parameters before a required parameter are required, too.
    by_name = [position for position, known in enumerate(known[0], 1) if known[4]]
    first_by_name = min(by_name, default=len(known[0]) + 1)
    given = (
        position
        for position, known in enumerate(known[0], 1)
        if not known[2] and position < first_by_name
    )
    required = max(given, default=0)
    parameters = [
        kinds(
            name or f"argument{position}",
            kinds.KEYWORD_ONLY if keyword_only else kinds.POSITIONAL_OR_KEYWORD,
            default=default if has_default and position > required else kinds.empty,
            annotation=_Text(text),
        )
        for position, (name, text, has_default, default, keyword_only) in enumerate(known[0], 1)
    ]
    returns: Any = _Text(known[1])
    if with_self:
        parameters.insert(0, kinds("self", kinds.POSITIONAL_OR_KEYWORD))
        returns = None
    elif parameters:
        parameters[0] = kinds("self", kinds.POSITIONAL_OR_KEYWORD)
    return inspect.Signature(parameters, return_annotation=returns, __validate_parameters__=False)


class _Text(str):
    """An annotation that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def metadata(function: Function) -> dict[str, Any]:
    """See `isoform.get_global_func_metadata`."""
    schema: dict[str, Any] = {"type": "ffi.Function"}
    result: dict[str, Any] = {}
    known = _core._signature_of(function)
    is_python = _core._callable_of(function) is not None
    language = "python" if is_python else None
    if known is not None:
        parameters, returns, language = known
        schema["named_args"] = {
            "return": [_spelled(parse(returns).to_json())],
            "params": [_spelled(parse(text).to_json()) for _, text, *_ in parameters],
        }
        result["parameters"] = [_parameter(*parameter[:4]) for parameter in parameters]
        result["returns"] = returns
    result["type_schema"] = json.dumps(schema, separators=(",", ":"))
    result["name"] = function.name
    result["doc"] = _core_doc(function)
    result["language"] = language
    return result


def _core_doc(function: Any) -> str | None:
    return function._doc()


def _parameter(name: str | None, text: str, has_default: bool, default: Any) -> dict[str, Any]:
    described = {"name": name, "type": text}
    return {**described, "default": default} if has_default else described


def _spelled(schema: dict[str, Any]) -> dict[str, Any]:
    result = {**schema, "type": _SPELLED.get(schema["type"], schema["type"])}
    if "args" in schema:
        result["args"] = [_spelled(part) for part in schema["args"]]
    return result
