"""Objects as plain Python data, without recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import Object

from . import _collect
from ._init_property import registered_class
from .enum import Enum

if TYPE_CHECKING:
    from collections.abc import Callable

_SEQUENCES = frozenset({"isoform.Array", "isoform.List"})
_MAPPINGS = frozenset({"isoform.Map", "isoform.Dict"})


def as_dict(root: Any, dict_factory: Callable[[list[tuple[str, Any]]], Any]) -> Any:
    """`asdict` for an object that is known to be one."""
    return _convert(root, lambda names, values: dict_factory(list(zip(names, values))))  # noqa: B905


def as_tuple(root: Any, tuple_factory: Callable[[list[Any]], Any]) -> Any:
    """`astuple` for an object that is known to be one."""
    return _convert(root, lambda _names, values: tuple_factory(values))


class _Frame:
    """An object whose parts are being converted."""

    __slots__ = ("finish", "labels", "node", "parts", "values")

    def __init__(
        self,
        node: Any,
        parts: list[Any],
        labels: list[str],
        finish: Callable[[list[Any]], Any],
    ) -> None:
        self.node = node
        self.parts = parts
        self.labels = labels
        self.finish = finish
        self.values: list[Any] = []


def _convert(root: Any, combine: Callable[[list[str], list[Any]], Any]) -> Any:
    kinds: dict[type, Any] = {}
    # Results by object. The object is kept beside its result, since its id
    # stays its own only as long as it lives.
    done: dict[int, tuple[Any, Any]] = {}
    open_nodes: set[int] = set()
    stack: list[_Frame] = []

    def enter(value: Any) -> tuple[bool, Any]:
        """The result for a value, if it is known at once."""
        frame = None
        if isinstance(value, Object):
            if id(value) in done:
                return True, done[id(value)][1]
            frame = _frame_of(value, kinds, combine)
        if frame is None:
            return True, value
        if id(value) in open_nodes:
            path = "".join(f.labels[len(f.values)] for f in stack)
            raise ValueError(f"cyclic value: <root>{path} is an object that contains it")
        open_nodes.add(id(value))
        stack.append(frame)
        return False, None

    known, result = enter(root)
    if known:
        return result
    while stack:
        frame = stack[-1]
        while len(frame.values) < len(frame.parts):
            known, result = enter(frame.parts[len(frame.values)])
            if not known:
                break
            frame.values.append(result)
        else:
            stack.pop()
            result = frame.finish(frame.values)
            done[id(frame.node)] = (frame.node, result)
            open_nodes.discard(id(frame.node))
            if stack:
                stack[-1].values.append(result)
    return result


def _frame_of(
    node: Any, kinds: dict[type, Any], combine: Callable[[list[str], list[Any]], Any]
) -> _Frame | None:
    """How an object is taken apart; None for one that stays as it is."""
    cls: type[Any] = node.__class__
    if cls not in kinds:
        kinds[cls] = _kind_of(cls)
    kind = kinds[cls]
    if kind is None:
        return None
    if kind == "sequence":
        parts = list(node)
        return _Frame(node, parts, [f"[{n}]" for n in range(len(parts))], list)
    if kind == "mapping":
        keys = list(node.keys())
        values = list(node.values())
        labels = [f"[{key!r}]" if isinstance(key, (int, str)) else "[…]" for key in keys]
        return _Frame(node, values, labels, lambda found: dict(zip(keys, found)))  # noqa: B905
    names: list[str] = kind
    parts = [getattr(node, name) for name in names]
    labels = [f".{name}" for name in names]
    return _Frame(node, parts, labels, lambda found: combine(names, found))


def _kind_of(cls: type) -> Any:
    known = registered_class(cls)
    if known is None or issubclass(cls, Enum):
        return None
    key = known.__dict__["__isoform_type_key__"]
    if key in _SEQUENCES:
        return "sequence"
    if key in _MAPPINGS:
        return "mapping"
    fields = _collect.all_fields(known)
    # Values without fields, such as functions and tensors, stay as they are.
    if not fields and _core.type_info(known).is_builtin:
        return None
    return [field.name for field in fields]
