"""Classes with annotations that use undefined names.

A waiting class is registered when all names in its annotations exist. Each registration
of a class tries all waiting classes again, until no more succeed. Classes may therefore
refer to later classes, even across modules with circular imports for type checking.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

from isoform import _core

from ._collect import Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping


class Pending:
    """A class that waits.

    Args:
        cls: the class.
        type_key: the key for its registration.
        names: meanings of names where the class was declared.
        complete: registers the class, or raises `Waiting`.
    """

    def __init__(
        self,
        cls: type,
        type_key: str,
        names: MutableMapping[str, Any],
        complete: Callable[[type, Mapping[str, Any], Mapping[str, Any]], Any],
    ) -> None:
        # Not an owner: a local class that can no longer be named is freed.
        self._cls = weakref.ref(cls)
        self.type_key = type_key
        self.names = names
        self._complete = complete
        self.place = _place(cls)

    @property
    def cls(self) -> type | None:
        """The class, or None after the class was freed."""
        return self._cls()

    def attempt(self, elsewhere: Mapping[str, Any]) -> None:
        """Registers the class.

        Args:
            elsewhere: meanings of names that are not known otherwise.

        Raises:
            Waiting: names are still missing.
            Exception: the class is wrong and stops waiting.
        """
        cls = self.cls
        if cls is None:
            _remove(self)
            return
        try:
            self._complete(cls, self.names, elsewhere)
        except Waiting:
            raise
        except Exception:
            _remove(self)
            raise
        _remove(self)


_waiting: list[Pending] = []
# The registered classes by place and name.
_by_place: dict[tuple[str, str], weakref.WeakValueDictionary[str, type]] = {}
# The registered classes of module level, for names that a module imports for
# type checking only.
_by_name: dict[str, weakref.WeakSet[type]] = {}


def add(pending: Pending) -> None:
    """Lets a class wait.

    Calls of the class try again, and raise TypeError with the missing names.
    """
    cls: Any = pending.cls
    _waiting.append(pending)

    def resolve() -> None:
        complete(cls)

    cls.__isoform_resolve__ = staticmethod(resolve)


def complete(cls: type) -> None:
    """Registers a waiting class; does nothing for other classes.

    Raises:
        TypeError: names are missing; the message lists the names.
    """
    with _core.class_lock:
        _complete_alone(cls)


def _complete_alone(cls: type) -> None:
    pending = next((p for p in _waiting if p.cls is cls), None)
    if pending is None:
        key = cls.__dict__.get("__isoform_pending_key__")
        if key is not None and "__isoform_type_key__" not in cls.__dict__:
            raise TypeError(f"{cls.__qualname__} ('{key}') could not be registered")
        return
    _complete_parents(cls)
    try:
        pending.attempt(_elsewhere(cls, last=True))
    except Waiting as missing:
        raise TypeError(
            f"cannot use {cls.__qualname__} ('{pending.type_key}'): unresolved forward "
            f"references: {'; '.join(missing.reasons)}"
        ) from None
    registered(cls)


def complete_all() -> None:
    """Registers all waiting classes whose names exist."""
    for pending in list(_alive()):
        try:
            complete(pending.cls or type)
        except TypeError:
            # It waits on.
            continue


def _complete_parents(cls: type) -> None:
    for parent in reversed(cls.__mro__[1:]):
        if any(p.cls is parent for p in _waiting):
            complete(parent)


def claim(type_key: str, cls: type) -> None:
    """Makes sure that no waiting class has this key.

    A class declared again, like a local class at every call of the function, replaces
    the waiting class.

    Raises:
        ValueError: another class waits under this key.
    """
    for pending in list(_alive()):
        other = pending.cls
        if pending.type_key != type_key or other is cls or other is None:
            continue
        if _place(other) == _place(cls) and other.__name__ == cls.__name__:
            _remove(pending)
        else:
            raise ValueError(f"type key '{type_key}' is already registered")


def registered(cls: type) -> None:
    """Tells the waiting classes that a class is registered now."""
    _settle(cls)
    offer(cls)


def _settle(cls: type) -> None:
    for name in ("__isoform_pending_key__", "__isoform_resolve__"):
        if name in cls.__dict__:
            delattr(cls, name)
    _by_place.setdefault(_place(cls), weakref.WeakValueDictionary())[cls.__name__] = cls
    if "<locals>" not in cls.__qualname__:
        _by_name.setdefault(cls.__name__, weakref.WeakSet()).add(cls)


def neighbours(cls: type) -> dict[str, Any]:
    """The classes that were registered at the place of a class, by name.

    A declaration that is repeated names classes that come after it again.
    """
    return dict(_by_place.get(_place(cls), {}))


def forget(cls: type) -> None:
    """Leaves a class out where names are looked up: another one has its key."""
    for classes in _by_name.values():
        classes.discard(cls)


def offer(cls: type) -> None:
    """Lets waiting classes use the name of a class, and tries them again.

    Takes linear time in the number of waiting classes, for each success.
    """
    _introduce(cls)
    progress = True
    while progress:
        progress = False
        for pending in list(_alive()):
            waiting = pending.cls
            if waiting is None:
                continue
            try:
                pending.attempt(_elsewhere(waiting))
            except Waiting:
                continue
            except Exception as error:
                # This is not an error of the class being registered; the first use of the
                # faulty class reports it.
                _fail_later(waiting, error)
            else:
                _settle(waiting)
                _introduce(waiting)
            progress = True


def _introduce(cls: type) -> None:
    """Makes a class known to the waiting classes of the same scope.

    The decorator of the class has not returned yet, so the scope lacks the name.
    """
    for pending in _alive():
        if pending.place == _place(cls) and pending.cls is not cls:
            pending.names[cls.__name__] = cls


def _fail_later(cls: Any, error: Exception) -> None:
    # A copy of the error, since the traceback of the original would keep its whole
    # surroundings alive.
    text = str(error)
    kind: Any = type(error)

    def resolve() -> None:
        try:
            again = kind(text)
        except Exception:
            again = TypeError(text)
        raise again

    cls.__isoform_resolve__ = staticmethod(resolve)


def _alive() -> Iterator[Pending]:
    for pending in list(_waiting):
        if pending.cls is None:
            _remove(pending)
        else:
            yield pending


def _remove(pending: Pending) -> None:
    if pending in _waiting:
        _waiting.remove(pending)


def _place(cls: type) -> tuple[str, str]:
    """The place of a class declaration: its module, and the function or class in the module."""
    return cls.__module__, cls.__qualname__.rpartition(".")[0]


def _elsewhere(cls: type, *, last: bool = False) -> Mapping[str, Any]:
    """Registered classes by name, whatever their module, for names of `cls`.

    A module may import a name for type checking only. But no name is taken from
    elsewhere for a local class, since its function may still define the name, nor for a
    module under execution. A name shared by several registered classes is left out.

    Args:
        cls: the class that waits.
        last: True if the class is in use and cannot wait any longer.
    """
    if "<locals>" in cls.__qualname__:
        return {}
    specification = getattr(sys.modules.get(cls.__module__), "__spec__", None)
    # The main program has no specification, and is never known to be complete.
    executing = getattr(specification, "_initializing", False) if specification else not last
    if executing:
        return {}
    return _Elsewhere()


class _Elsewhere(dict[str, Any]):
    """Looks names up among the registered classes on demand."""

    def __missing__(self, name: str) -> Any:
        known = list(_by_name.get(name, ()))
        if len(known) != 1:
            raise KeyError(name)
        return known[0]
