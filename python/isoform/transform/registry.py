"""Passes by name, and pipelines as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from isoform._signature import described
from isoform.ir import _api
from isoform.registry import Places

if TYPE_CHECKING:
    from collections.abc import Callable

    from .passes import Pass, Sequential

_F = TypeVar("_F")

__all__ = ["list_passes", "make_pass", "parse_pipeline", "pipeline_text", "register_pass"]

_places = Places()
_register = _api.function("passes.register")
_make = _api.function("passes.make")
_list = _api.function("passes.list")
_parse = _api.function("passes.parse_pipeline")
_text = _api.function("passes.pipeline_text")


@overload
def register_pass(name: str, factory: _F, *, override: bool = False) -> _F: ...
@overload
def register_pass(
    name: str, factory: None = None, *, override: bool = False
) -> Callable[[_F], _F]: ...
def register_pass(name: str, factory: Any = None, *, override: bool = False) -> Any:
    """Register a pass under a name, for pipelines and requirements.

    Args:
        name: The name.
        factory: A pass, or a function or class that makes a pass. The parameters are
            the options of the pass, with their annotations and defaults. Without it,
            the result is a decorator.
        override: Replace a pass of this name. The pass of the same module and name, made again
            by a notebook's cell or a reloaded module, replaces itself.

    Raises ValueError if the name is taken.

    >>> from isoform import ir
    >>> from isoform.transform import module_pass, parse_pipeline, register_pass
    >>> @register_pass("doc.Greet")
    ... @module_pass(opt_level=0, name="doc.Greet")
    ... class Greet:
    ...     def __init__(self, who: str = "you"):
    ...         self.who = who
    ...     def transform_module(self, mod, ctx):
    ...         print("hello", self.who)
    ...         return mod
    >>> mod = parse_pipeline('doc.Greet,doc.Greet{who="me"}')(ir.IRModule())
    hello you
    hello me
    """
    from .passes import Pass

    def made(given: Any) -> Any:
        maker = _giving(given) if isinstance(given, Pass) else given
        place = _place_of(given)
        again = _places.is_again(name, *place)
        _register(name, described(maker, None), override or again, _module_of(given))
        _places.note(name, *place)
        return given

    return made(factory) if factory is not None else made


def _place_of(given: Any) -> tuple[Any, Any]:
    """Where a pass is written: its module and name."""
    from .passes import Pass

    if isinstance(given, Pass):
        return vars(given).get("__module__"), given.info.name
    return getattr(given, "__module__", None), getattr(given, "__qualname__", None)


def _giving(made: Pass) -> Any:
    """A function for a pass, with the documentation of the pass."""

    def maker() -> Any:
        return made

    # Its own, not that of its class.
    maker.__doc__ = vars(made).get("__doc__")
    return maker


def _module_of(given: Any) -> str:
    """The module or file that a command imports to register a pass; empty if unknown."""
    import sys
    import sysconfig
    from pathlib import Path

    from .passes import Pass

    # The class of a pass is not written where the pass is.
    own = (
        vars(given) if isinstance(given, Pass) else {"__module__": getattr(given, "__module__", "")}
    )
    module = own.get("__module__") or ""
    file = getattr(sys.modules.get(module), "__file__", None)
    if file is None or "." in module:
        return module
    # An uninstalled module is found by name only from its own folder.
    path = Path(file).resolve()
    installed = {Path(sysconfig.get_path(kind)) for kind in ("stdlib", "purelib", "platlib")}
    return module if any(map(path.is_relative_to, installed)) else str(path)


def make_pass(name: str, **options: Any) -> Pass:
    """Make a pass by its name.

    Args:
        name: The name.
        options: The options of the pass; omitted options take their defaults.

    Raises ValueError if no pass has the name, TypeError for unknown, missing or invalid
    options.

    >>> from isoform.transform import make_pass
    >>> make_pass("PrintIR", header="after parsing").options["header"]
    'after parsing'
    """
    return _make(name, options)


def list_passes() -> list[dict[str, Any]]:
    """Return the passes that can be made by name, sorted.

    An entry is a dict of `name`, `doc`, `options` (dicts of `name`, `type` and, if there
    is one, `default`) and `info`, the `PassInfo`, or None if the pass has options without
    default.
    """
    return [
        {**entry, "options": [dict(option) for option in entry["options"]]} for entry in _list()
    ]


def parse_pipeline(text: str) -> Sequential:
    """Make the passes of a text such as `FoldConstant,FuseOps{fuse_opt_level=1},(A,B)`.

    Args:
        text: Names of passes with their options. Parentheses make a nested sequence;
            values are written as in `docs/text.md`, and a bare word is a string.

    Raises `isoform.error.TextError` with line, column and a caret if the text is
    malformed or names unknown passes or options, `TextTypeError` for an option whose
    value does not fit.
    """
    return _parse(text)


def pipeline_text(passes: Pass) -> str:
    """Return the text from which `parse_pipeline` makes the same passes.

    Args:
        passes: A pass or a sequence.

    Raises ValueError for an inner sequence with a name, a level or requirements, and
    for options without text.
    """
    return _text(passes)
