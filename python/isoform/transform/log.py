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

_core._install_logger(logger)


def show(text: str) -> None:
    """Log a text that somebody asked for; without any handler, to standard error."""
    if logger.hasHandlers():
        logger.info("%s", text)
    else:
        sys.stderr.write(text + "\n")
