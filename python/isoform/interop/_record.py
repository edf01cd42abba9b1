"""Any tree of Python objects as records."""

from __future__ import annotations

import collections
import dataclasses
import enum
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from isoform import _core
from isoform.container import Array, Map
from isoform.dataclasses import Object, py_class
from isoform.device import Device
from isoform.dtype import dtype
from isoform.shape import Shape
from isoform.tensor import Tensor, from_dlpack

__all__ = ["Converter", "Record", "from_fields", "importable_name"]


@py_class("isoform.interop.Record", frozen=True)
class Record(Object):
    """An object of another library: its class and its fields.

    >>> from isoform.interop import Record
    >>> Record("geometry.Point", {"x": 1}).fields["x"]
    1
    """

    kind: str
    fields: Mapping[str, Any]


def from_fields(
    obj: Any,
    *,
    fields: Callable[[Any], Iterable[str] | Mapping[str, Any] | None] | None = None,
    on_unknown: str | Callable[[Any], Any] = "raise",
) -> Any:
    """The value of a tree of Python objects.

    | Python | value |
    |---|---|
    | None, bool, int, float, complex, str, bytes, values of Isoform | themselves |
    | list, tuple | `Array` |
    | dict | `Map`; with other keys than plain ones a `Record` of pairs, in any order |
    | set, frozenset | a `Record` of the elements, in any order |
    | arrays and scalars of NumPy, and arrays of other libraries in the memory of the CPU | `Tensor` |
    | members of enums | a `Record` with the name and the value |
    | `OrderedDict` | a `Record` of pairs in order |
    | `defaultdict` | a `Record` of the value as a dict and of the factory |
    | slices, ranges, `...` | a `Record` |
    | instances of subclasses of the above | a `Record` of the value and of the object's attributes |
    | dataclasses, attrs, pydantic, named tuples, objects with `_fields` | a `Record` of the fields |

    Fields that a dataclass or attrs leaves out of comparison are left out. An object that
    occurs several times is converted once. Takes linear time in the size of the tree, of
    any depth.

    Args:
        obj: the root of the tree.
        fields: the fields of an object that is not a plain value: their names, or a dict
            of their values; None for the fields in the table.
        on_unknown: `"raise"`, or a function that returns what to convert instead of an
            object without fields, or of an array that no tensor holds.

    Raises:
        TypeError: an object has no fields, or an array has a mask or elements that no
            tensor holds; the message has the path and the class.
        ValueError: an object contains itself; the message has the path.
        AttributeError: an object does not have a field that `fields` names.

    Example:
        >>> class Point:
        ...     def __init__(self, x, y):
        ...         self.x, self.y = x, y
        >>> from isoform.interop import from_fields
        >>> from_fields([Point(1, 2)], fields=vars)[0].fields["y"]
        2
        >>> from_fields([Point(1, 2)])
        Traceback (most recent call last):
        TypeError: from_fields: <root>[0]: the fields of a Point (...) are unknown; ...
    """
    if on_unknown != "raise" and not callable(on_unknown):
        raise TypeError(f"on_unknown: expected 'raise' or a function, got {on_unknown!r}")
    unknown = None if isinstance(on_unknown, str) else on_unknown
    converter = Converter("from_fields", fields=fields, on_unknown=unknown, names_fields=True)
    return converter.convert(obj)


_PLAIN = (type(None), bool, int, float, complex, bytes)
_BASES: tuple[type[Any], ...] = (
    int,
    float,
    complex,
    bytes,
    bytearray,
    tuple,
    list,
    dict,
    set,
    frozenset,
)
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_OPEN = object()


class _Frame:
    """An object whose parts are being converted."""

    __slots__ = ("done", "finish", "name_part", "parts", "source")

    def __init__(
        self,
        source: Any,
        parts: list[Any],
        name_part: Callable[[int], str],
        finish: Callable[[list[Any]], Any],
    ) -> None:
        self.source = source
        self.parts = parts
        self.name_part = name_part
        self.finish = finish
        self.done: list[Any] = []


class Converter:
    """Converts trees that share parts.

    Args:
        name: the name of the function in messages.
        fields: as for `from_fields`.
        on_unknown: the replacement of an object without fields; None to raise.
        special: the value of an object with a rule of its own, in a tuple of one; None
            for all others.
        names_fields: whether the caller can name fields, for messages.
    """

    def __init__(
        self,
        name: str,
        *,
        fields: Callable[[Any], Any] | None = None,
        on_unknown: Callable[[Any], Any] | None = None,
        special: Callable[[Any], tuple[Any] | None] | None = None,
        names_fields: bool = False,
    ) -> None:
        self._name = name
        self._fields = fields
        self._names_fields = names_fields
        self._on_unknown = on_unknown
        self._special = special
        # Of sets within sets, each is hashed once.
        self._hasher = _core.IncrementalHasher()
        # Objects are kept alive, so no address is reused.
        self._met: dict[int, tuple[Any, Any]] = {}

    def convert(self, root: Any, place: str = "<root>") -> Any:
        """The value of an object, at a place that messages begin with."""
        stack: list[_Frame] = []
        try:
            return self._run(root, stack, place)
        except BaseException:
            # Another conversion may follow.
            for frame in stack:
                self._met.pop(id(frame.source), None)
            raise

    def _run(self, root: Any, stack: list[_Frame], place: str) -> Any:
        value = self._begin(root, stack, place)
        while stack:
            frame = stack[-1]
            if value is not _OPEN:
                frame.done.append(value)
            position = len(frame.done)
            if position < len(frame.parts):
                value = self._begin(frame.parts[position], stack, place)
                continue
            value = frame.finish(frame.done)
            self._met[id(frame.source)] = (frame.source, value)
            stack.pop()
        return value

    def _begin(self, obj: Any, stack: list[_Frame], place: str) -> Any:
        """The value of an object, or `_OPEN` if its parts come first."""
        kind = type(obj)
        if kind in _PLAIN:
            return obj
        if kind is str:
            return _text(obj)
        met = self._met.get(id(obj))
        if met is not None:
            if met[1] is _OPEN:
                raise ValueError(
                    f"{self._name}: {_path(stack, place)}: the {_class_name(kind)} contains "
                    f"itself; leave a field out by fields=..."
                )
            return met[1]
        try:
            begun = self._parts_or_value(obj, kind)
        except _Refused as refused:
            raise refused.error(f"{self._name}: {_path(stack, place)}: {refused}") from None
        if isinstance(begun, _Frame):
            self._met[id(obj)] = (obj, _OPEN)
            stack.append(begun)
            return _OPEN
        self._met[id(obj)] = (obj, begun)
        return begun

    def _parts_or_value(self, obj: Any, kind: type) -> Any:
        if self._special is not None:
            answer = self._special(obj)
            if answer is not None:
                return answer[0]
        if kind is list or kind is tuple:
            return _Frame(obj, list(obj), "[{}]".format, Array)
        if kind is dict:
            return _of_dict(obj, self._in_order)
        if kind is set or kind is frozenset:
            return _Frame(
                obj,
                list(obj),
                lambda _: ".<element>",
                lambda done: Record(_class_name(kind), {"items": self._in_order(done)}),
            )
        if isinstance(obj, (Object, dtype, Device, Shape)):
            return obj
        if self._fields is not None:
            named = self._fields(obj)
            if named is not None:
                return _of_named(obj, named)
        value = _builtin(obj, kind)
        if value is not None:
            return value
        if isinstance(obj, collections.OrderedDict):
            return _extended(obj, kind, [*cast("Any", obj).items()])
        if isinstance(obj, collections.defaultdict):
            source = cast("Any", obj)
            factory = self._of_factory(source.default_factory)
            return _extended(source, kind, dict(source), default_factory=factory)
        named = _known_fields(obj, kind)
        if named is not None:
            return _record(obj, _class_name(kind), named)
        try:
            value = _array(obj)
        except _Refused as refused:
            return self._unknown(obj, str(refused))
        if value is not None:
            return value
        for base in _BASES:
            if isinstance(obj, base):
                return _extended(obj, kind, base(obj))
        if isinstance(obj, str):
            return _extended(obj, kind, str.__str__(obj))
        return self._unknown(
            obj, f"the fields of a {kind.__name__} ({_class_name(kind)}) are unknown"
        )

    def _of_factory(self, factory: Any) -> Any:
        """The factory of the values of a `defaultdict`, by its name."""
        name = None if factory is None else importable_name(factory)
        return factory if name is None else name

    def _unknown(self, obj: Any, problem: str) -> Any:
        """The value that `on_unknown` gives for an object, or an error."""
        kind = type(obj)
        if self._on_unknown is None:
            raise _Refused(f"{problem}; {self._remedy(obj)}")
        instead = self._on_unknown(obj)
        if instead is obj:
            raise _Refused(f"on_unknown returned the {kind.__name__} itself; return its value")
        return _Frame(obj, [instead], lambda _: "", lambda done: done[0])

    def _remedy(self, obj: Any) -> str:
        if not self._names_fields and isinstance(obj, _FUNCTIONS):
            return (
                f"'{obj.__qualname__}' is no name under which it can be imported; write it as a "
                "function of a module, or give a value for it by on_unknown=..."
            )
        named = "name its fields by fields=..., or " if self._names_fields else ""
        return f"{named}give a value for it by on_unknown=..."

    def _in_order(self, values: list[Any]) -> list[Any]:
        """Values in the order of their digests, which is the same in every process."""
        return sorted(values, key=self._hasher.digest)


class _Refused(Exception):  # noqa: N818
    """The reason why an object has no value; the caller adds the path."""

    def __init__(self, message: str, error: type[Exception] = TypeError) -> None:
        super().__init__(message)
        self.error = error


def _path(stack: list[_Frame], place: str) -> str:
    return place + "".join(frame.name_part(len(frame.done)) for frame in stack)


def _class_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _text(text: str) -> Any:
    """A string, or a record of the bytes of a string that UTF-8 cannot encode."""
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return Record("builtins.str", {"surrogatepass": text.encode("utf-8", "surrogatepass")})
    return text


def _of_dict(source: dict[Any, Any], in_order: Callable[[list[Any]], list[Any]]) -> _Frame:
    keys = list(source)
    if all(type(key) is str or type(key) in _PLAIN for key in keys):
        return _Frame(
            source,
            # Keys are texts, too.
            [*keys, *source.values()],
            lambda position: f"[{keys[position % len(keys)]!r}]",
            lambda done: Map(dict(zip(done[: len(keys)], done[len(keys) :], strict=True))),
        )
    pairs = list(source.items())
    return _Frame(
        source,
        pairs,
        lambda position: f"[{pairs[position][0]!r}]",
        lambda done: Record("builtins.dict", {"items": in_order(done)}),
    )


def _record(source: Any, kind: str, named: Mapping[str, Any]) -> _Frame:
    names = list(named)
    return _Frame(
        source,
        list(named.values()),
        lambda position: f".{names[position]}",
        lambda done: Record(kind, dict(zip(names, done, strict=True))),
    )


def _of_named(obj: Any, named: Any) -> _Frame:
    """A record of the fields that the user named."""
    kind = _class_name(type(obj))
    if isinstance(named, Mapping):
        return _record(obj, kind, named)
    values: dict[str, Any] = {}
    for name in named:
        try:
            values[name] = getattr(obj, name)
        except AttributeError:
            text = f"a {type(obj).__name__} has no field '{name}', which fields=... names"
            raise _Refused(text, AttributeError) from None
    return _record(obj, kind, values)


def _extended(obj: Any, kind: type, value: Any, **parts: Any) -> _Frame:
    """A record of an instance of a subclass: its value, and the attributes of the object."""
    slots = (getattr(base, "__slots__", ()) for base in kind.__mro__)
    names = [name for each in slots for name in ((each,) if isinstance(each, str) else each)]
    attributes = {name: getattr(obj, name) for name in names if hasattr(obj, name)}
    attributes |= getattr(obj, "__dict__", {})
    if attributes:
        parts["attributes"] = attributes
    return _record(obj, _class_name(kind), {"value": value, **parts})


def _builtin(obj: Any, kind: type) -> Any:
    if isinstance(obj, enum.Enum):
        # Combined flags of Python 3.10 have no name.
        name = obj.name if obj.name is not None else obj.value
        return _record(obj, _class_name(kind), {"member": name, "value": obj.value})
    if obj is Ellipsis or obj is NotImplemented:
        return Record(_class_name(kind), {})
    if kind is slice or kind is range:
        return _record(
            obj, _class_name(kind), {"start": obj.start, "stop": obj.stop, "step": obj.step}
        )
    if kind is bytearray:
        return bytes(obj)
    return None


def _known_fields(obj: Any, kind: type) -> Mapping[str, Any] | None:
    """The fields of an object whose class states them."""
    if isinstance(obj, type):
        return None
    if dataclasses.is_dataclass(kind):
        return {f.name: getattr(obj, f.name) for f in dataclasses.fields(obj) if f.compare}
    attributes = getattr(kind, "__attrs_attrs__", None)
    if attributes is not None:
        return {each.name: getattr(obj, each.name) for each in attributes if each.eq is not False}
    model = getattr(kind, "__pydantic_fields__", None)
    if isinstance(model, Mapping):
        extra = getattr(obj, "__pydantic_extra__", None) or {}
        return {name: getattr(obj, name) for name in model} | extra
    names = getattr(kind, "_fields", None)
    if isinstance(names, tuple) and all(isinstance(name, str) for name in names):
        return {name: getattr(obj, name) for name in names if hasattr(obj, name)}
    return None


def _array(obj: Any) -> Any:
    """The tensor of an array, or the value of an element type of NumPy."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(obj, numpy.dtype):
            try:
                return dtype(obj.name)
            except ValueError:
                raise _Refused(f"no dtype of Isoform is NumPy's {obj.str or obj.name}") from None
        masked = sys.modules.get("numpy.ma")
        if masked is not None and isinstance(obj, masked.MaskedArray):
            raise _Refused(
                "a tensor has no mask; write array.filled(value) for the elements with a value "
                "in place of the masked ones"
            )
        # The attributes of a map of a file say where the elements are.
        if type(obj) in (numpy.ndarray, numpy.memmap) or isinstance(obj, numpy.generic):
            return tensor_of(numpy.asarray(obj))
        if isinstance(obj, numpy.ndarray):
            return _extended(obj, type(obj), obj.view(numpy.ndarray))
    if hasattr(type(obj), "__dlpack__"):
        return tensor_of(obj)
    return None


def tensor_of(array: Any) -> Tensor:
    """The tensor of a copy of an array.

    Raises:
        TypeError: no tensor has elements of this type; the message names the type.
    """
    try:
        return from_dlpack(array, copy=True)
    except (BufferError, TypeError, ValueError) as error:
        kind = getattr(array, "dtype", None)
        what = type(array).__name__ if kind is None else f"array of dtype {kind!s}"
        raise _Refused(f"no tensor holds an {what}: {error}") from None


def importable_name(obj: Any) -> str | None:
    """The name under which a function or class can be imported, and which names this one.

    None for lambdas, inner functions, bound methods, and whatever another object has
    replaced.
    """
    module, name = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    name = name or getattr(obj, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name}" if found is obj else None
