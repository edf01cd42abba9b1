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


def show(text: str) -> None:
    """Log a text that somebody asked for; to standard error where no handler shows it."""
    if logger.isEnabledFor(logging.INFO) and _is_heard():
        logger.info("%s", text)
    else:
        sys.stderr.write(text + "\n")


def _is_heard() -> bool:
    """True if a handler of the application gets messages of passes at level INFO."""
    one: logging.Logger | None = logger
    while one is not None:
        heard = (
            handler.level <= logging.INFO for handler in one.handlers if handler is not _silent
        )
        if any(heard):
            return True
        one = one.parent if one.propagate else None
    return False


_core._install_logger(logger, show)
