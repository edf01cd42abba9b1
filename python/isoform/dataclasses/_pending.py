"""Classes whose annotations use names that do not exist yet.

Such a class is registered as soon as all its names exist. Every time another
class is registered, all waiting ones are tried again, until no more of them
can be; so classes may refer to each other in any order, also across modules
that import each other for type checking only.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

from ._collect import Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Pending:
    """A class that waits.

    Args:
        cls: the class.
        type_key: the key under which it will be registered.
        names: meanings of names where the class was declared.
        complete: registers the class, or raises `Waiting`.
    """

    def __init__(
        self,
        cls: type,
        type_key: str,
        names: dict[str, Any],
        complete: Callable[[type, dict[str, Any]], None],
    ) -> None:
        # Not an owner: a local class that nobody can name any more goes away.
        self._cls = weakref.ref(cls)
        self.type_key = type_key
        self.names = names
        self._complete = complete
        self.place = _place(cls)

    @property
    def cls(self) -> type | None:
        """The class, as long as it is in use."""
        return self._cls()

    def attempt(self, more: dict[str, Any] | None = None) -> None:
        """Registers the class.

        Raises:
            Waiting: names are still missing.
            Exception: the class is wrong; it waits no longer.
        """
        cls = self.cls
        if cls is None:
            _remove(self)
            return
        try:
            self._complete(cls, {**(more or {}), **self.names})
        except Waiting:
            raise
        except Exception:
            _remove(self)
            raise
        _remove(self)


_waiting: list[Pending] = []
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
    """Registers a waiting class; does nothing for any other.

    Raises:
        TypeError: names are missing; the message lists them.
    """
    pending = next((p for p in _waiting if p.cls is cls), None)
    if pending is None:
        key = cls.__dict__.get("__isoform_pending_key__")
        if key is not None and "__isoform_type_key__" not in cls.__dict__:
            raise TypeError(f"{cls.__qualname__} ('{key}') could not be registered")
        return
    _complete_parents(cls)
    try:
        # All modules are loaded by now as far as they ever will be.
        pending.attempt(_elsewhere(None))
    except Waiting as missing:
        raise TypeError(
            f"cannot use {cls.__qualname__} ('{pending.type_key}'): unresolved forward "
            f"references: {'; '.join(missing.reasons)}"
        ) from None
    registered(cls)


def _complete_parents(cls: type) -> None:
    for parent in reversed(cls.__mro__[1:]):
        if any(p.cls is parent for p in _waiting):
            complete(parent)


def claim(type_key: str, cls: type) -> None:
    """Makes sure that no waiting class has this key.

    A class that is declared again, as a local class is by every call of its
    function, takes the place of the one that waits.

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
    for name in ("__isoform_pending_key__", "__isoform_resolve__"):
        if name in cls.__dict__:
            delattr(cls, name)
    if "<locals>" not in cls.__qualname__:
        _by_name.setdefault(cls.__name__, weakref.WeakSet()).add(cls)
    offer(cls)


def offer(cls: type) -> None:
    """Lets waiting classes use the name of a class, and tries them again.

    Takes linear time in the number of waiting classes, for each that succeeds.
    """
    for pending in _alive():
        # The decorator has not returned yet, so the class has no name in its
        # module or function.
        if pending.place == _place(cls) and pending.cls is not cls:
            pending.names[cls.__name__] = cls
    progress = True
    while progress:
        progress = False
        for pending in list(_alive()):
            try:
                pending.attempt(_elsewhere(pending.cls))
            except Waiting:
                continue
            except Exception:
                # Not the fault of the class that is being registered; the
                # first use of the wrong one says what is wrong.
                progress = True
                _fail_later(pending, sys.exc_info()[1])
                continue
            progress = True
            done = pending.cls
            if done is not None:
                registered(done)


def _fail_later(pending: Pending, error: BaseException | None) -> None:
    cls: Any = pending.cls
    if cls is None:
        return
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
    """Where a class is declared: its module, and the function or class in it."""
    return cls.__module__, cls.__qualname__.rpartition(".")[0]


def _elsewhere(cls: type | None) -> dict[str, Any]:
    """Registered classes by name, whatever their module.

    Empty while the module of `cls` is being executed, since it may still
    define the name itself. A name that several modules use is left out.
    """
    if cls is not None:
        module = sys.modules.get(cls.__module__)
        specification = getattr(module, "__spec__", None)
        if specification is None or getattr(specification, "_initializing", False):
            return {}
    found: dict[str, Any] = {}
    for name, classes in _by_name.items():
        known = list(classes)
        if len(known) == 1:
            found[name] = known[0]
    return found
