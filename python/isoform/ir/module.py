"""Modules: functions and type definitions under global names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from isoform.dataclasses import c_class

from . import _api
from .base import Node
from .printing import own_text, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from isoform.types.ir import SourceMap

__all__ = ["IRModule"]


@c_class("ir.IRModule")
class IRModule(Node):
    """Functions and type definitions, each under a global name.

    Functions are added and replaced in place; attributes change in a copy. Two
    modules are equal when they are after their global variables have been
    matched by name.

    Args:
        functions: A dict of functions; its keys are global variables or names.
        type_definitions: A dict of definitions of algebraic data types, by
            global type variable or name.
        attrs: Attributes of the module, by name.
        global_infos: Further objects mentioned by the functions, by name.

    Raises TypeError for other keys and values, ValueError for two definitions of one
    name.

    >>> from isoform import ir, relay
    >>> x = relay.Var("x")
    >>> mod = ir.IRModule({"main": relay.Function([x], x)})
    >>> "main" in mod, [var.name_hint for var in mod.get_global_vars()]
    (True, ['main'])
    """

    functions: Any
    type_definitions: Any
    attrs: Any
    global_infos: Any
    source_map: SourceMap

    @staticmethod
    def from_expr(expr: Any, functions: Any = None, type_defs: Any = None) -> IRModule:
        """Return a module whose entry point is an expression.

        Args:
            expr: A function, or an expression, which becomes one: its free
                variables are the parameters. Its name is that of its attribute
                `global_symbol`, or `main`, with a number if that is taken.
            functions: Other functions of the module.
            type_defs: Definitions of types.
        """
        return _from_expr(expr, functions, type_defs)

    def astext(
        self,
        show_meta_data: bool = True,
        annotate: Callable[[Any], str | None] | None = None,
    ) -> str:
        """Return the text format of the module, without spans.

        `isoform.text.from_text` reads it, unless some parts cannot be printed
        and are shown as `<...>`.

        Args:
            show_meta_data: Print large constants in a section after the text;
                without it, the text cannot be read back.
            annotate: Returns the comment to print after an object, or an empty
                text for no comment.

        Raises ValueError for a module that contains itself.

        >>> from isoform import ir, relay, text
        >>> x = relay.Var("x")
        >>> mod = ir.IRModule({"main": relay.Function([x], x)})
        >>> ir.structural_equal(text.from_text(mod.astext()), mod)
        True
        """
        return text_of(self, show_meta_data, annotate)

    def script(self, *, show_meta: bool = False, **options: Any) -> str:
        """Return the text of the module for reading, without large constants.

        A module with functions of Relay is written in the format of Relay, unless
        options choose the general text.

        Args:
            show_meta: Print large constants in a section after the general text.
            options: Options of `isoform.text.to_text`.

        >>> from isoform import ir, relay
        >>> x = relay.Var("x")
        >>> print(ir.IRModule({"main": relay.Function([x], x)}).script(), end="")
        def @main(%x) {
          %x
        }
        """
        own = None if show_meta or options else own_text(self)
        if own is not None:
            return own
        return text_of(self, show_meta, None, **options)

    def show(self, *, show_meta: bool = False, **options: Any) -> None:
        """Print the module for reading, as returned by `script`.

        The general text has colour on a terminal.

        Args:
            show_meta: Print large constants in a section after the general text.
            options: Options of `isoform.text.to_text`.
        """
        own = None if show_meta or options else own_text(self)
        if own is None:
            options.setdefault("color", sys.stdout.isatty())
            own = text_of(self, show_meta, None, **options)
        sys.stdout.write(own)

    def __str__(self) -> str:
        """The text of the module, as returned by `script`."""
        return self.script().rstrip("\n")

    def __getitem__(self, var: Any) -> Any:
        """Return the function or the type definition under a name; ValueError without one.

        Args:
            var: A name, a global variable or a global type variable.
        """
        return _get(self, var)

    def __setitem__(self, var: Any, val: Any) -> None:
        """Add or replace a function or a type definition, in place."""
        _set(self, var, val)

    def __delitem__(self, var: Any) -> None:
        """Remove a function or a type definition, in place; ValueError without one."""
        _remove(self, var)

    def __contains__(self, var: object) -> bool:
        """Return whether there is a function or a type definition under a name."""
        return _contains(self, var)

    def get_type(self, name: str) -> tuple[Any, ...]:
        """Return the name of a data type and its constructors; ValueError without one.

        Args:
            name: The name.
        """
        var = _get_global_type_var(self, name)
        return (var, *self[var].constructors)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the global variables, sorted by name."""
        return iter(_get_global_vars(self))

    def __len__(self) -> int:
        """Return the number of functions."""
        return len(self.functions)

    def __bool__(self) -> bool:
        """Return True, also for a module without functions."""
        return True


_from_expr = _api.function("ir.IRModule.from_expr")
_get_global_vars = _api.method("ir.IRModule", "get_global_vars")
_get_global_type_var = _api.method("ir.IRModule", "get_global_type_var")
_get = _api.function("ir.IRModule.get")
_set = _api.function("ir.IRModule.set")
_remove = _api.function("ir.IRModule.remove")
_contains = _api.function("ir.IRModule.contains")
