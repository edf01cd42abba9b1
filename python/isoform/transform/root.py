"""Programs seen through their functions, their text, and their checks."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api
from isoform.type_attrs import Trait, provided

__all__ = ["Check", "ModuleScript", "Root", "Script", "Signature", "functions", "script"]

_functions = _api.function("passes.functions")
_script = _api.function("passes.script")


class Root(Trait, attr="transform.root"):
    """Lists and replaces the functions of a program, as every `FunctionPass` requires.

    >>> from isoform import Object
    >>> from isoform.dataclasses import py_class, replace
    >>> from isoform.transform import Root, function_pass
    >>> @py_class("doc.root.Number")
    ... class Number(Object):
    ...     value: int
    >>> @py_class("doc.root.Pair")
    ... class Pair(Object):
    ...     ir_trait = Root
    ...     left: Any
    ...     right: Any
    ...     def functions(self):
    ...         return [("left", self.left), ("right", self.right)]
    ...     def with_functions(self, changed):
    ...         return replace(self, **dict(changed))
    >>> @function_pass(opt_level=0, filter=lambda number: number.value > 1)
    ... def Double(number, root, ctx):
    ...     return replace(number, value=2 * number.value)
    >>> pair = Pair(Number(1), Number(2))
    >>> done = Double(pair)
    >>> done.left is pair.left, done.right.value
    (True, 4)
    """

    def functions(self) -> list[tuple[str, Any]]:
        """Return the functions with their names, in the order of passes.

        The names differ.
        """
        raise NotImplementedError

    def with_functions(self, changed: Any) -> Any:
        """Return the program with some of the functions replaced.

        Args:
            changed: Pairs of a name and the new function.
        """
        raise NotImplementedError

    @provided
    def working_copy(self) -> Any:
        """Return an independent copy for passes that change the program in place.

        None if its objects never change.
        """
        return None

    @provided
    def callees(self, function: Any) -> list[str] | None:
        """Return the names of the functions mentioned by a function.

        None for unknown callees: then memoised passes depend on the whole program.

        Args:
            function: A function of the program.
        """
        del function
        return None


class Signature(Trait, attr="transform.signature"):
    """The part of a function seen by callers, for example the type.

    The results of memoised passes for the callers depend on this signature only. Without
    the trait, the results depend on the whole function.
    """

    def signature(self) -> Any:
        """Return any value with a digest."""
        raise NotImplementedError


class Script(Trait, attr="transform.script"):
    """Writes a program or a function as text for people."""

    def script(self) -> str:
        """Return the text."""
        raise NotImplementedError


class ModuleScript(Trait, attr="transform.module_script"):
    """Writes an `ir.IRModule` as text for people.

    The functions of a dialect have the trait, so that a module of such functions has the
    text of the dialect.
    """

    def module_script(self, module: Any) -> str:
        """Return the text of a module with this function.

        Args:
            module: The module.
        """
        raise NotImplementedError


class Check(Trait, attr="transform.check"):
    """Checks a program, in addition to the verifiers of types."""

    def check(self) -> None:
        """Raise an exception for the first problem."""
        raise NotImplementedError


def functions(root: Any) -> list[tuple[str, Any]]:
    """Return the functions of a program with their names.

    Args:
        root: The program; without the `Root` trait, it is its own only function, with an
            empty name.
    """
    return [(name, function) for name, function in _functions(root)]


def script(root: Any) -> str:
    """Return a program or function as text for people.

    Args:
        root: The program or function.

    By the trait `Script` of the type; a module by the `ModuleScript` of its first function
    that has one; otherwise in the form of `isoform.text`.

    >>> from isoform import relay
    >>> from isoform.transform import script
    >>> x = relay.var("x")
    >>> print(script(relay.Function([x], relay.Tuple([x, x]))), end="")
    fn (%x) {
      (%x, %x)
    }
    """
    return _script(root)
