"""Memoised passes: a cache stores results under the digest of all inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

if TYPE_CHECKING:
    from collections.abc import Callable

    from isoform.store import Store

__all__ = ["Memo", "MemoryCache", "NoProgram", "StoreCache"]

_memory_cache = _api.function("passes.memory_cache")


@c_class("transform.Cache", init=False)
class Cache(Object):
    """A store of bytes under keys, for contexts."""

    load: Callable[[bytes], bytes | None]
    store: Callable[[bytes, bytes], None]


@c_class("transform.Memo")
class Memo(Object):
    """The declaration of a function pass as pure.

    The result then depends only on the function, the options of the pass and of the context,
    the state of the pass, and the declared parts of the program.

    Args:
        version: The version of the pass, to be changed whenever the results change.
        ignores: The pass depends on no field ignored by comparison, like names and
            spans: functions that differ only in ignored fields share a cache entry. A
            cached result gets the names and spans of the function at hand.
        reads: Called with the function and the program; returns the parts of the program that
            the pass reads besides the signatures of called functions. A pass without `reads`
            gets a `NoProgram` in place of the program.
        code: The place of the pass in the source, such as module and qualified name: passes
            with the same name share no results if they are written in different places.
        state: Returns further data of the pass, as a map from names to values. By default,
            the data named in the code of a Python pass: captured variables, attributes,
            defaults, and plain values of module variables. The pass must not change this
            data.
    """

    version: str
    ignores: bool
    reads: Callable[[Any, Any], Any] | None
    code: str
    state: Callable[[], Any] | None


@c_class("transform.NoProgram", init=False)
class NoProgram(Object):
    """Takes the place of the program for a pure pass without declared reads.

    Any access raises ValueError, and the message names the missing declaration.
    """

    of_pass: str

    def __getattr__(self, name: str) -> Any:
        """Raise ValueError, AttributeError for special names."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._unread(f"'.{name}'")

    def _unread(self, what: str) -> ValueError:
        return ValueError(
            f"pass '{self.of_pass}' is pure and asks the program for {what}, "
            f"which is not part of the key of its results: declare what it reads, as in "
            f"function_pass(..., pure=True, reads=lambda function, mod: mod.attrs), or leave out "
            f"pure=True"
        )

    def __getitem__(self, key: Any) -> Any:
        """Raise ValueError."""
        raise self._unread(f"[{key!r}]")

    def __iter__(self) -> Any:
        """Raise ValueError."""
        raise self._unread("its parts")

    def __len__(self) -> int:
        """Raise ValueError."""
        raise self._unread("its length")

    def __contains__(self, _key: object) -> bool:
        """Raise ValueError."""
        raise self._unread("its parts")


def MemoryCache(max_bytes: int = 1 << 28) -> Any:  # noqa: N802
    """Return a cache in memory, which forgets the least recently used entries.

    Any object with methods `load(key) -> bytes | None` and `store(key, value)` is a cache
    as well; keys and values are bytes. A key covers all inputs of a result, so entries
    never become wrong, and a cache may forget any entry at any time.

    Args:
        max_bytes: The approximate maximal size in memory.

    >>> from isoform import ir
    >>> from isoform.transform import MemoryCache, PassContext, function_pass
    >>> @function_pass(opt_level=0, pure=True, version="1")
    ... def Mark(function, mod, ctx):
    ...     print("computed")
    ...     return function.with_attr("marked", 1)
    >>> cache = MemoryCache()
    >>> for _ in range(2):
    ...     with PassContext(cache=cache):
    ...         mod = Mark(ir.IRModule({"f": ir.BaseFunc()}))
    computed
    >>> mod["f"].attrs["marked"]
    1
    """
    return _memory_cache(max_bytes)


def StoreCache(store: Store) -> Any:  # noqa: N802
    """Return a cache in a store, which processes and machines share.

    >>> from isoform import ir
    >>> from isoform.store import Store
    >>> from isoform.transform import PassContext, StoreCache, function_pass
    >>> @function_pass(opt_level=0, pure=True, version="1")
    ... def Mark(function, mod, ctx):
    ...     print("computed")
    ...     return function.with_attr("marked", 1)
    >>> store = Store.open("memory:")
    >>> for _ in range(2):
    ...     with PassContext(cache=StoreCache(store)):
    ...         mod = Mark(ir.IRModule({"f": ir.BaseFunc()}))
    computed
    """
    return _core._store_cache(store)


def cache_of(given: Any) -> Any:
    """The cache for a context: any object with the methods of one.

    Raises TypeError for another one.
    """
    if given is None or isinstance(given, Cache):
        return given
    methods = [getattr(given, name, None) for name in ("load", "store")]
    if not all(map(callable, methods)):
        raise TypeError(
            "PassContext.cache: expected an object with methods 'load' and 'store', got "
            f"{type(given).__name__}"
        )
    made: Any = Cache.__new__(Cache)
    made.__ffi_init__(*methods)
    return made
