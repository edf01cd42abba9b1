"""Refuses to be imported outside of the main interpreter of a process.

This module comes before the native module: once one interpreter has begun to import the
native module, no other interpreter could.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def _is_main() -> bool:
    """True for the main interpreter, and without other interpreters."""
    for name in ("_interpreters", "_xxsubinterpreters"):
        try:
            interpreters: Any = import_module(name)
        except ImportError:
            continue
        return bool(interpreters.get_current() == interpreters.get_main())
    return True


if not _is_main():
    raise ImportError(
        "isoform cannot be imported in a subinterpreter, since types and objects belong to the "
        "process: import it in the main interpreter, and use threads or processes",
        name="isoform",
    )
