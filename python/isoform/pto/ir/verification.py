"""Checks that programs are well-formed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from isoform.access_path import AccessPath
from isoform.error import Error
from isoform.ir import _api

if TYPE_CHECKING:
    from isoform.types.pto import Span

__all__ = ["VerificationFailure", "verify"]


class VerificationFailure(NamedTuple):
    """Something that is wrong with a program."""

    path: AccessPath
    """The steps from the verified value to the error."""
    span: Span
    """The source location of the error, or of the nearest enclosing node."""
    error: Exception
    """The error."""

    def __str__(self) -> str:
        """Return place and error in one line."""
        place = f"{self.span}: " if self.span.is_valid() else ""
        return f"{self.path}: {place}{type(self.error).__name__}: {self.error}"


def verify(
    node: Any, *, allow_redefinition: bool = False, raise_on_error: bool = True
) -> list[VerificationFailure]:
    """Check whether a program, function, statement or expression is well-formed.

    Operands have types that suit their operation; loops and branches yield as many
    values as they have results, of the same types; jumps are inside loops; a
    function returns what it declares; a variable has a value on every path to its
    uses, and is assigned once; calls match the functions of the program; and the
    `__verify__` methods of user-defined classes pass.

    Args:
        node: The node.
        allow_redefinition: Allow assigning a variable again.
        raise_on_error: Raise failures instead of returning them.

    Returns:
        All failures, with their places.

    Raises ValueError if there are failures and `raise_on_error` is true; its text lists
    all failures. Linear in the size of the program.

    >>> from isoform.pto import DataType, ir
    >>> x, y = (ir.Var(name, ir.ScalarType(DataType.INT64)) for name in "xy")
    >>> body = ir.SeqStmts([ir.AssignStmt(y, x), ir.BreakStmt()])
    >>> for failure in ir.verify(ir.Function("f", [], [], body), raise_on_error=False):
    ...     print(failure)
    <root>.body.stmts[0].value: ValueError: variable 'x' is used before it is defined
    <root>.body.stmts[1]: ValueError: break: expected in a loop
    """
    failures = [
        VerificationFailure(_path(path), span, _exception(kind, message))
        for path, span, kind, message in _verify(node, allow_redefinition)
    ]
    if failures and raise_on_error:
        count = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
        raise ValueError("\n  ".join([f"verification found {count}:", *map(str, failures)]))
    return failures


_verify = _api.function("pto.verify")


def _path(text: str) -> AccessPath:
    path: AccessPath = AccessPath.parse(text)
    return path


def _exception(kind: str, message: str) -> Exception:
    error = Error(kind, message).py_error()
    return error if isinstance(error, Exception) else RuntimeError(str(error))
