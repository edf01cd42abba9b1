"""What makes a program well-formed."""

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
    """The steps from the verified value to what is wrong."""
    span: Span
    """Where that, or the nearest node around it, was written."""
    error: Exception
    """What is wrong."""

    def __str__(self) -> str:
        """Return place and error in one line."""
        place = f"{self.span}: " if self.span.is_valid() else ""
        return f"{self.path}: {place}{type(self.error).__name__}: {self.error}"


def verify(
    node: Any, *, allow_redefinition: bool = False, raise_on_error: bool = True
) -> list[VerificationFailure]:
    """Check whether a program, function, statement or expression is well-formed.

    Operands have types that go with their operation; loops and branches yield
    as many values, of the types, that they result in; jumps stand in loops;
    a function returns what it says; a variable has a value on every path to its
    uses, and gets one once; calls fit the functions of the program; and what
    `__verify__` of users' classes says.

    Args:
        node: The node.
        allow_redefinition: Whether a variable may be given a value again.
        raise_on_error: Whether failures are raised instead of returned.

    Returns:
        All failures, with their places.

    Raises ValueError when there are failures and `raise_on_error` is true; its
    text lists all of them. Linear in the size of the program.

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
