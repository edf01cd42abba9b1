"""Programs as text that reads like Python."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from isoform.ir import _api

__all__ = ["python_print"]


def python_print(
    node: Any,
    prefix: str = "pl",
    *,
    spans: bool = False,
    concise: bool = False,
    explicit_layout: bool = False,
    format: bool = False,  # noqa: A002
) -> str:
    """Return the text of a program, function, statement, expression or type.

    The text is for people; `serialize` and `isoform.text` write files. Variables have
    their hints as names, with a number appended if another variable of the function has
    the same hint. A large part of an expression with several occurrences is written
    once, as `(s := ...)`, and a statement at several places is labelled.

    Args:
        node: The node.
        prefix: The name under which the language is imported; empty to omit the prefix.
        spans: Add comments with the source locations of statements.
        concise: Omit the types of variables other than parameters.
        explicit_layout: Write the layouts of tensors and tiles also where they are the
            usual ones.
        format: Let `ruff`, which must be installed, break long lines.

    Raises TypeError for another value, ValueError if `ruff` is missing or refuses the
    text. The same node has the same text at every printing; linear in the size of the
    node.

    >>> from isoform.pto import DataType, ir
    >>> x = ir.Var("x", ir.ScalarType(DataType.INT64))
    >>> print(ir.python_print(ir.AssignStmt(x, (x + 1) * 2)), end="")
    x: pl.INT64 = (x + 1) * 2
    >>> print(ir.python_print(ir.AssignStmt(x, x + 1), concise=True), end="")
    x = x + 1
    """
    text = _print(node, prefix, spans, concise, explicit_layout)
    return _formatted(text) if format else text


def _formatted(text: str) -> str:
    """Return a text as `ruff format` writes it."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"python_print(format=True): ruff failed: {done.stderr.strip()}")
    return done.stdout if text.endswith("\n") else done.stdout.rstrip("\n")


_print = _api.function("pto.python_print")
