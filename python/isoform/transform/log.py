"""Messages of passes: the logger `isoform.transform` of Python's `logging`.

Passes log the runs of passes at level DEBUG, programs that `PrintIR` shows at INFO, and
failures at ERROR, in both languages.
"""

from __future__ import annotations

import logging
import sys

from isoform import _core

__all__ = ["logger"]

logger = logging.getLogger("isoform.transform")
"""The logger of passes."""

# Without a handler, Python would print failures that the caller may well expect.
_silent = logging.NullHandler()
logger.addHandler(_silent)
_core._install_logger(logger)


def show(text: str) -> None:
    """Log a text that somebody asked for; without any handler, to standard error."""
    if _is_heard():
        logger.info("%s", text)
    else:
        sys.stderr.write(text + "\n")


def _is_heard() -> bool:
    """True if a handler of the application gets messages of passes."""
    one: logging.Logger | None = logger
    while one is not None:
        if any(handler is not _silent for handler in one.handlers):
            return True
        one = one.parent if one.propagate else None
    return False
