"""Stores: bytes under their digests, results under keys, and functions that keep results.

A store is a folder, which any number of processes use, or a server:

    >>> from isoform.store import EntryKey, Store, cached
    >>> store = Store.open("memory:")
    >>> name = store.put(b"weights")
    >>> name[:8], store.get(name)
    ('3edc5c4a', b'weights')

An entry is a result under a key. A program counts by its structure, so a renamed program
finds the same entry:

    >>> from isoform import ir
    >>> key = EntryKey("compile", program=ir.PrimType("int8"), version="1", level=2)
    >>> store.put_entry(key, b"machine code", metadata={"host": "a"})
    True
    >>> store.entry(key).value
    b'machine code'
    >>> store.find(job="compile")[0][1]["option.level"]
    '2'

A function of programs keeps its results:

    >>> @cached(store, version="1")
    ... def lower(program: ir.PrimType, level: int = 2) -> bytes:
    ...     print("computed")
    ...     return str(program.dtype).encode()
    >>> lower(ir.PrimType("int8"))
    computed
    b'int8'
    >>> lower(ir.PrimType("int8"), level=2)
    b'int8'
    >>> lower.cache_info()
    CacheInfo(hits=1, misses=1, errors=0)
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from isoform._core import CachedCalls, Entry, EntryKey, Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from isoform._code_digest import CodeDigest

__all__ = ["CacheInfo", "CachedFunction", "Entry", "EntryKey", "Store", "cached"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

# How often a coroutine looks whether another caller has the result, in seconds.
_PAUSE = 0.01


class CacheInfo(NamedTuple):
    """The counts of a function with kept results, in this process."""

    hits: int
    misses: int
    errors: int
    """Errors of the store, which made calls slow."""


class CachedFunction(Protocol[P, R_co]):
    """A function whose results are kept."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Return the kept result, or call the function."""
        ...

    def cache_info(self) -> CacheInfo:
        """The counts of hits and misses."""
        ...

    def cache_key(self, *args: P.args, **kwargs: P.kwargs) -> str:
        """The digest of the key of a call."""
        ...

    def cache_remove(self, *args: P.args, **kwargs: P.kwargs) -> bool:
        """Remove the result of a call; False if there is none."""
        ...


def cached(
    store: Store | str | PathLike[str],
    *,
    name: str | None = None,
    version: str = "1",
    key: Callable[..., Any] | None = None,
    ignore: tuple[str, ...] = (),
    failures: type[Exception] | tuple[type[Exception], ...] | None = None,
    confirm: bool = False,
    dumps: Callable[[Any], bytes] | None = None,
    loads: Callable[[bytes], Any] | None = None,
) -> Callable[[Callable[P, R]], CachedFunction[P, R]]:
    """Keep the results of a function, or of a coroutine function, in a store.

    The key of a result consists of the function, `version`, and the arguments by their
    names, with defaults. Nodes, models and other values count by their structure, so
    renamed programs share a result; plain values and bytes count by their contents. Paths
    and other objects are errors. Processes and threads that make the same call at the same
    time compute its result once. A store that fails makes a call slow and does not make it
    fail.

    Results are nodes and containers of isoform, plain values, and bytes; other results need
    `dumps` and `loads`. Reading a result never runs code of the store.

    Args:
        store: the store, or its URL.
        name: the name in keys; by default the module and qualified name of the function.
            Such a name may stand for several functions of a script, inner functions or
            lambdas, so their code, the values that they capture, and the globals that they
            read, count, too. `docs/stores.md` has the rule.
        version: a str, to be changed whenever the function returns other results.
        key: called with the arguments; returns what the result depends on, instead of the
            arguments.
        ignore: the names of parameters that do not change the result.
        failures: classes of exceptions that are kept for an hour, and raised again with the
            same message, as instances of these classes.
        confirm: keep the arguments, and compare them with `structural_equal` on a hit: a
            collision of digests, or an argument that `key` forgets, is then a miss.
        dumps: returns a result as bytes.
        loads: reads a result. Do not use `pickle.loads` for a store that others can write.

    Raises:
        TypeError: an argument or a result of another kind, with advice; a generator.
        ValueError: an unknown name in `ignore`; one of `dumps` and `loads` without the other.

    >>> from isoform import ir
    >>> from isoform.store import cached
    >>> @cached("memory:", ignore=("verbose",), failures=ValueError)
    ... def width(program: ir.PrimType, verbose: bool = False) -> int:
    ...     if str(program.dtype) == "void":
    ...         raise ValueError("void has no width")
    ...     return int(str(program.dtype).removeprefix("int"))
    >>> width(ir.PrimType("int8")), width(ir.PrimType("int8"), verbose=True)
    (8, 8)
    >>> width.cache_info().hits
    1
    """
    if (dumps is None) != (loads is None):
        raise ValueError("cached: pass both dumps and loads, or neither")
    classes = failures if isinstance(failures, tuple) else (failures,) if failures else ()
    for failure in classes:
        if not (isinstance(failure, type) and issubclass(failure, BaseException)):
            raise TypeError(
                f"cached: failures is a class of exceptions or a tuple of them, got {failure!r}"
            )
    if not isinstance(version, str):
        raise TypeError(f'cached: version is a str; write version="{version}"')
    if callable(store):
        raise TypeError(
            f"cached: expected the store, got {store!r}; write @cached(place), for example "
            '@cached("memory:")'
        )
    opened = store if isinstance(store, Store) else Store.open(store)

    def decorate(function: Callable[P, R]) -> CachedFunction[P, R]:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(
                f"cached: {function.__qualname__} is a generator, which has no result to keep; "
                "return an isoform.Array"
            )
        signature = inspect.signature(function)
        parameters = _described(signature, ignore)

        def make(named: str) -> CachedCalls:
            return CachedCalls(
                opened,
                named,
                version,
                function,
                parameters,
                functools.partial(_bound, signature),
                {
                    "key": key,
                    "failures": classes,
                    "confirm": confirm,
                    "dumps": dumps,
                    "loads": loads,
                },
            )

        calls = _Calls(name or _name_of(function), None if name else _code_of(function), make)
        is_coroutine = inspect.iscoroutinefunction(function)
        wrapper: Any = (_coroutine_function if is_coroutine else _function)(function, calls)
        wrapper.cache_info = calls.info
        wrapper.cache_key = lambda *args, **kwargs: calls.now().key(args, kwargs)
        wrapper.cache_remove = lambda *args, **kwargs: calls.now().remove(args, kwargs)
        return cast("CachedFunction[P, R]", wrapper)

    return decorate


def _function(function: Callable[..., Any], calls: _Calls) -> Any:
    """The function that takes its results from the store."""
    now = calls.now

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return now().call(args, kwargs)

    return wrapper


def _coroutine_function(function: Callable[..., Any], calls: _Calls) -> Any:
    """The coroutine function that computes each result once."""
    # Most programs do not need this module, which takes long to import.
    import asyncio

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        pending = calls.now().begin(args, kwargs)
        if isinstance(pending, tuple):
            return cast("tuple[Any]", pending)[0]
        task = _current_task()
        while (state := pending.poll(task)) is not True:
            if isinstance(state, tuple):
                return cast("tuple[Any]", state)[0]
            await asyncio.sleep(_PAUSE)
        try:
            result = await function(*args, **kwargs)
        except BaseException as error:
            pending.fail(error)
            raise
        pending.keep(result)
        return result

    return wrapper


class _Calls:
    """The kept calls of a function under the name that its code has now.

    Args:
        name: the name in keys.
        code: the digest that is a part of the name, if the code counts.
        make: makes the calls under a name.
    """

    def __init__(
        self, name: str, code: CodeDigest | None, make: Callable[[str], CachedCalls]
    ) -> None:
        self._name = name
        self._code = code
        self._make = make
        self._made: dict[str, CachedCalls] = {}

    def now(self) -> CachedCalls:
        """The calls."""
        digest = "" if self._code is None else self._code.current()
        calls = self._made.get(digest)
        if calls is None:
            calls = self._made.setdefault(digest, self._make(f"{self._name} {digest}".rstrip()))
        return calls

    def info(self) -> CacheInfo:
        """The counts under all names."""
        # The errors are those of the store.
        counts = [(0, 0, 0), *(calls.info() for calls in self._made.values())]
        hits, misses, errors = zip(*counts, strict=True)
        return CacheInfo(sum(hits), sum(misses), max(errors))


def _name_of(function: Callable[..., Any]) -> str:
    """The name of a function in keys."""
    try:
        return f"{function.__module__}.{function.__qualname__}"
    except AttributeError:
        raise TypeError(
            f"cached: a {type(function).__name__} has no name of its own; pass name="
        ) from None


def _code_of(function: Callable[..., Any]) -> CodeDigest | None:
    """The digest of a function whose name may stand for several functions."""
    if function.__module__ != "__main__" and "<" not in function.__qualname__:
        return None
    # Only such functions need this module.
    from isoform._code_digest import CodeDigest

    return CodeDigest(function)


def _current_task() -> int | None:
    """The identity of the current task; None without a loop of asyncio."""
    import asyncio

    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    return None if task is None else id(task)


def _described(signature: inspect.Signature, ignore: tuple[str, ...]) -> list[Any]:
    """The parameters as the core wants them."""
    if isinstance(ignore, str):
        raise TypeError(f"cached: ignore is a tuple of names; write ignore=({ignore!r},)")
    unknown = [name for name in ignore if name not in signature.parameters]
    if unknown:
        known = ", ".join(signature.parameters) or "none"
        raise ValueError(f"cached: ignore has {unknown[0]!r}; the parameters are {known}")
    return [
        (
            parameter.name,
            int(parameter.kind),
            None if parameter.default is parameter.empty else (parameter.default,),
            parameter.name in ignore,
        )
        for parameter in signature.parameters.values()
    ]


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> list[Any]:
    """The values of all parameters of a call, in order."""
    bound = signature.bind(*args, **(kwargs or {}))
    bound.apply_defaults()
    return list(bound.arguments.values())


def _reopened(url: str, options: dict[str, Any]) -> Store:
    """The store of a pickle."""
    return Store.open(url, **options)
