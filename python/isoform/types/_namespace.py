"""Maps the names of type keys to classes."""

from __future__ import annotations

from typing import Any

from isoform import _core


class Namespace:
    """The types with a common prefix of their keys; see `isoform.types`."""

    __slots__ = ("_prefix",)

    def __init__(self, prefix: str) -> None:
        """Make the namespace of the keys that begin with `prefix` and a dot."""
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        """Return the class or the namespace of this name; AttributeError without."""
        return find(self._prefix, name)

    def __dir__(self) -> list[str]:
        """Return the names of the next level."""
        return names(self._prefix)

    def __repr__(self) -> str:
        """Name the common beginning of the keys."""
        return f"<namespace of types '{self._prefix}'>"


def find(prefix: str, name: str) -> Any:
    """Return the class of `prefix.name`, or the namespace of the keys below it."""
    key = f"{prefix}.{name}" if prefix else name
    # Python asks every object for these names; no type has them.
    if not name.startswith("__"):
        try:
            return _core.class_of(key)
        except KeyError:
            pass
        if any(other.startswith(key + ".") for other in _core.registered_type_keys()):
            return Namespace(key)
    where = f"namespace '{prefix}'" if prefix else "isoform.types"
    raise AttributeError(f"{where}: no type is registered as '{key}' or below it")


def names(prefix: str) -> list[str]:
    """Return the names that `find` accepts."""
    start = f"{prefix}." if prefix else ""
    keys = _core.registered_type_keys()
    return sorted({key[len(start) :].partition(".")[0] for key in keys if key.startswith(start)})
