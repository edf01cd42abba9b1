"""Digests of functions by their code and by what the code names: for the keys of `@cached`.

The code counts with its constants, and with the values of the variables that it captures and of
the globals that it reads: plain values, containers of them and nodes by their contents,
functions and classes of the same module by their code in turn, those of other modules by name,
and other objects by their class. Variables that the code itself assigns do not count. Nothing
depends on the process: equal programs have equal digests.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import inspect
import operator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, cast

from isoform import structural_digest

__all__ = ["CodeDigest"]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
_UNSET = object()
# Where wrappers of functions in the bodies of classes keep them.
_INNER = ("__func__", "fget", "fset", "fdel", "func")


class CodeDigest:
    """The digest of a function.

    The values are taken at the first call, and at the first call after one of the names is
    assigned.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._state: tuple[list[tuple[Any, str]], list[Any], str] | None = None

    def current(self) -> str:
        """The digest now; empty for an object without code of Python."""
        innermost = inspect.unwrap(self._function)
        if not isinstance(innermost, FunctionType):
            return ""
        if self._state is not None:
            places, values, digest = self._state
            if all(map(operator.is_, _values(places), values)):
                return digest
        reader = _Reader(self._function, innermost)
        text = "\0".join(reader.texts).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(text, digest_size=16).hexdigest()
        self._state = reader.places, _values(reader.places), digest
        return digest


def _values(places: list[tuple[Any, str]]) -> list[Any]:
    return [_value_at(space, name) for space, name in places]


def _value_at(space: Any, name: str) -> Any:
    """The value of a global, or of a variable that a function captures."""
    if isinstance(space, dict):
        return cast("dict[str, Any]", space).get(name, _UNSET)
    try:
        return space.cell_contents
    except ValueError:
        return _UNSET


class _Reader:
    """A walk over all that counts, as texts, and over the places of the values."""

    def __init__(self, function: Any, innermost: FunctionType) -> None:
        self.texts: list[str] = []
        self.places: list[tuple[Any, str]] = []
        self._globals = innermost.__globals__
        self._module = innermost.__module__
        # Functions, classes and containers that may lead to themselves.
        self._entered: set[int] = set()
        self._waiting: list[Any] = [function]
        while self._waiting:
            self._take(self._waiting.pop())

    def _take(self, value: Any) -> None:
        if _is_plain(value):
            self.texts.append(f"{type(value).__name__} {value!r}")
        elif isinstance(value, CodeType):
            names = (value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
            self.texts += [value.co_code.hex(), repr(names)]
            self._waiting.append(value.co_consts)
        elif isinstance(value, tuple):
            self._parts(value, cast("tuple[Any, ...]", value))
        elif id(value) in self._entered:
            self.texts.append("again")
        else:
            self._entered.add(id(value))
            self._enter(value)

    def _parts(self, whole: Any, parts: Any) -> None:
        self.texts.append(f"{type(whole).__name__} of {len(parts)}")
        self._waiting += parts

    def _enter(self, value: Any) -> None:
        if isinstance(value, list):
            self._parts(value, cast("list[Any]", value))
        elif isinstance(value, dict):
            entries = cast("dict[Any, Any]", value).items()
            self._parts(value, [part for entry in entries for part in entry])
        elif isinstance(value, (set, frozenset)):
            # The order of a set differs between processes.
            plain = filter(_is_plain, cast("set[Any]", value))
            self._parts(value, sorted(map(repr, plain)))
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, MethodType):
            self._parts(value, [value.__func__, value.__self__])
        elif isinstance(value, functools.partial):
            self._parts(value, [value.func, value.args, value.keywords])
        elif isinstance(value, ModuleType):
            self.texts.append(value.__name__)
        elif isinstance(value, enum.Enum):
            self._parts(value, [value.name, type(value)])
        else:
            self._object(value)

    def _function(self, function: FunctionType) -> None:
        if function.__globals__ is not self._globals:
            self._object(function)
            return
        self.texts.append(function.__qualname__)
        code = function.__code__
        self._waiting += [code, function.__defaults__, function.__kwdefaults__]
        names = _names(code)
        cells = zip(function.__closure__ or (), code.co_freevars, strict=True)
        places: list[tuple[Any, str]] = [at for at in cells if at[1] not in names.captured]
        places += [(self._globals, name) for name in sorted(names.read - names.assigned)]
        self.places += places
        for (_, name), value in zip(places, _values(places), strict=True):
            if value is not _UNSET:
                self._waiting += [value, name]

    def _class(self, cls: type) -> None:
        self.texts.append(f"{cls.__module__}.{cls.__qualname__}")
        if cls.__module__ != self._module:
            return
        self._waiting.append(cls.__bases__)
        for name, part in vars(cls).items():
            wrapped = [part, *(getattr(part, inner, None) for inner in _INNER)]
            functions = [one for one in wrapped if isinstance(one, FunctionType)]
            # Python adds values with such names by itself, line numbers among them.
            if functions or (_is_plain(part) and not name.startswith("__")):
                self._waiting += [*(functions or [part]), name]

    def _object(self, value: Any) -> None:
        try:
            self.texts.append(structural_digest(value).hex())
        except Exception:
            # Functions have a name, and objects their class.
            names = [getattr(value, name, None) for name in ("__module__", "__qualname__")]
            self.texts += [name for name in names if isinstance(name, str)]
            inner = getattr(value, "__dict__", {}).get("__wrapped__")
            self._waiting += [type(value), *([] if inner is None else [inner])]


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, cast("tuple[Any, ...]", value)))
    return isinstance(value, _PLAIN)


class _Names(NamedTuple):
    """Names in code, its inner functions included."""

    read: set[str]
    """The globals that it reads."""
    assigned: set[str]
    """The globals that it assigns."""
    captured: set[str]
    """The captured variables that it assigns."""


@functools.lru_cache(maxsize=1024)
def _names(code: CodeType) -> _Names:
    names = _Names(set(), set(), set())
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_NAME" or step.opname.startswith(("LOAD_GLOBAL", "LOAD_FROM_DICT")):
            names.read.add(step.argval)
        elif step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            names.assigned.add(step.argval)
        elif step.opname == "STORE_DEREF" and step.argval in code.co_freevars:
            names.captured.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            read, assigned, captured = _names(inner)
            names.read.update(read)
            names.assigned.update(assigned)
            names.captured.update(captured - set(code.co_cellvars))
    return names
