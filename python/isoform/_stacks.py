"""Threads with native stack of their own, for methods that nest deeply.

`crates/isoform-py/src/nodes/stack.rs` decides when a visit goes on in such a thread.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Context

# The native stack of a thread. A system commits only the part in use.
_STACK_SIZE = 8 << 20

# Guards the size for new threads, which belongs to the whole process.
_lock = threading.Lock()

_MISSING: Any = object()


def start(run: Callable[..., None], *arguments: Any) -> threading.Thread:
    """Start a thread for a function.

    Raises RuntimeError if the system allows no more threads.
    """
    thread = threading.Thread(target=run, args=arguments, name="isoform visit")
    with _lock:
        usual = threading.stack_size(_STACK_SIZE)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)
    return thread


def adopt(context: Context) -> None:
    """Set the variables of the current context to the values of another context."""
    for var, value in context.items():
        if var.get(_MISSING) is not value:
            var.set(value)
