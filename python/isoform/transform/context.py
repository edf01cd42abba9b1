"""Contexts: the conditions under which passes run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from isoform import _core
from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

from .cache import cache_of
from .passes import names

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from isoform import Array, List, Map
    from isoform.types.ir import DiagnosticContext

    from .instrument import PassInstrument

__all__ = ["PassContext", "register_config_option"]

_current = _api.function("passes.current_context")
_list_configs = _api.function("passes.list_configs")
_diagnostics = _api.function("passes.diagnostics")

_T = TypeVar("_T")

REPRODUCER = "transform.reproducer"


@c_class("transform.PassContext")
class PassContext(Object):
    """The conditions under which passes run; used in a `with` statement.

    Only the innermost context of a thread counts: contexts are not merged. Outside of
    any context, each thread has a default context: level 2, without further settings.

    Args:
        opt_level: A `Sequential` skips passes of higher levels.
        required_pass: The names of passes to run at any level; instruments cannot skip
            them.
        disabled_pass: The names of passes that a `Sequential` skips.
        instruments: Told about every pass, in this order.
        config: Values of options by key, see `register_config_option`.
        reproducer: A folder: the input of a failing pass is written there with the text
            of the pass, for `isoform run` to repeat it.
        cache: Keeps the results of pure passes: a `MemoryCache`, or any object with its
            methods.

    Lists, tuples and sets of names are accepted, and None for none.

    Raises AttributeError for an option that is not registered, TypeError for a value of
    the wrong type.

    >>> from isoform.transform import PassContext
    >>> with PassContext(opt_level=3) as ctx:
    ...     PassContext.current() is ctx, PassContext.current().opt_level
    (True, 3)
    >>> PassContext.current().opt_level
    2
    """

    opt_level: int
    required_pass: Array[str]
    disabled_pass: Array[str]
    instruments: List[PassInstrument]
    config: Map[str, Any]

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Iterable[str] | None = None,
        disabled_pass: Iterable[str] | None = None,
        instruments: Iterable[Any] | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        reproducer: str | os.PathLike[str] | None = None,
        cache: Any = None,
    ) -> None:
        """See the class."""
        import os

        options = dict(config or {})
        if reproducer is not None:
            options[REPRODUCER] = os.fspath(reproducer)
        this: Any = self
        this.__ffi_init__(
            opt_level,
            names(required_pass, "PassContext.required_pass"),
            names(disabled_pass, "PassContext.disabled_pass"),
            list(instruments or []),
            options,
            cache_of(cache),
        )

    def __enter__(self) -> PassContext:
        """Enter the context, after calling its instruments.

        Raises the exception of an instrument; the context is not entered then, and has no
        instruments.
        """
        this: Any = self
        this.enter()
        return self

    def __exit__(self, *_exception: object) -> None:
        """Leave the context, then call its instruments.

        Raises the exception of an instrument, RuntimeError if the context is not the
        current one.
        """
        this: Any = self
        this.leave()

    @staticmethod
    def current() -> PassContext:
        """Return the innermost context of this thread, or the default one."""
        return _current()

    @staticmethod
    def list_configs() -> dict[str, dict[str, Any]]:
        """Return the registered options: type, default and documentation by key."""
        return {key: dict(option) for key, option in _list_configs().items()}

    @overload
    def analysis(self, analysis: Callable[..., _T], of: Any) -> _T: ...
    @overload
    def analysis(self, analysis: str, of: Any) -> Any: ...
    def analysis(self, analysis: str | Callable[..., Any], of: Any) -> Any:
        """Return the result of an analysis for a program or function.

        It is computed once: the result is kept until the context is left, or a pass
        replaces the object without preserving the analysis. Once a function pass has changed
        the copy of the program on which it works, results for that copy are computed each
        time.

        Args:
            analysis: A function that `analysis` decorates, or its name.
            of: The program or function.

        Raises exceptions of the analysis, ValueError if none has the name.
        """
        from .analysis import name_of, unpacked

        this: Any = self
        return unpacked(this.analysis_named(name_of(analysis), of))

    @property
    def diag_ctx(self) -> DiagnosticContext | None:
        """The messages of the running pass, shown when it ends; None outside of passes."""
        return _diagnostics()


def register_config_option(key: str, type: Any, default: Any = None, doc: str = "") -> None:  # noqa: A002
    """Register an option of contexts.

    Args:
        key: The key, for example `relay.FuseOps.max_depth`.
        type: An annotation for the values; a dict given for a class of nodes becomes an
            object with these fields.
        default: The value in contexts without a value.
        doc: The documentation.

    Raises ValueError if the key is registered otherwise, TypeError for a default that
    does not fit.

    >>> from isoform.transform import PassContext, register_config_option
    >>> register_config_option("doc.option.depth", int, 4, "The depth to look at.")
    >>> PassContext(config={"doc.option.depth": 8}).config_value("doc.option.depth")
    8
    >>> PassContext.list_configs()["doc.option.depth"]["type"]
    'int'
    """
    from isoform.core import TypeSchema

    _core._register_config_option(key, TypeSchema.from_annotation(type).compiled, default, doc)
