"""Analyses: facts about programs and functions, computed once."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar, overload

from isoform.ir import _api
from isoform.registry import Places

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F", bound="Callable[..., Any]")

__all__ = ["analysis"]

_places = Places()
_register = _api.function("passes.register_analysis")


class _Kept:
    """Wraps a result of any class, for the core to store unconverted."""

    __slots__ = ("result",)

    def __init__(self, result: Any) -> None:
        self.result = result


@overload
def analysis(function: _F, *, name: str | None = None, override: bool = False) -> _F: ...
@overload
def analysis(
    function: None = None, *, name: str | None = None, override: bool = False
) -> Callable[[_F], _F]: ...
def analysis(function: Any = None, *, name: str | None = None, override: bool = False) -> Any:
    """Make a function an analysis, with results kept by contexts.

    The result must depend on the object alone, not on other functions of the program.

    Args:
        function: A function of a program or function, and of the context if it takes two
            arguments. The result may be any Python object. Without it, the result is a
            decorator.
        name: The name, by which passes declare to preserve the results; by default the
            name of the function with the module.
        override: Replace an analysis of this name.

    Raises ValueError if another analysis has the name.

    >>> from isoform import ir
    >>> from isoform.transform import PassContext, analysis
    >>> @analysis(name="doc.names")
    ... def names(mod):
    ...     print("computed")
    ...     return {var.name_hint for var in mod.functions}
    >>> mod = ir.IRModule({"f": ir.BaseFunc()})
    >>> with PassContext() as ctx:
    ...     ctx.analysis(names, mod), ctx.analysis("doc.names", mod)
    computed
    ({'f'}, {'f'})
    """

    def made(decorated: Any) -> Any:
        known_as = name or f"{decorated.__module__}.{decorated.__qualname__}"
        takes_context = len(inspect.signature(decorated).parameters) > 1

        def run(of: Any, ctx: Any) -> Any:
            return _Kept(decorated(of, ctx) if takes_context else decorated(of))

        place = decorated.__module__, decorated.__qualname__
        _register(known_as, run, override or _places.is_again(known_as, *place))
        _places.note(known_as, *place)
        decorated.analysis_name = known_as
        return decorated

    return made(function) if function is not None else made


def name_of(given: str | Callable[..., Any]) -> str:
    """The name of an analysis.

    Raises TypeError for an object that is not a function.
    """
    name = given if isinstance(given, str) else getattr(given, "analysis_name", None)
    if name is None:
        raise TypeError(f"expected an analysis or its name, got {given!r}; decorate it: @analysis")
    return name


def unpacked(result: Any) -> Any:
    """The result as the function returned it."""
    return result.result if isinstance(result, _Kept) else result
