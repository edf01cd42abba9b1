"""The command `isoform`: compare, show, convert and transform models and IR."""

from __future__ import annotations

import logging
import signal
import sys

from isoform import _core, _corpus_ray, _onnxruntime
from isoform._importing import import_module


def main() -> int:
    """Run the command on `sys.argv` and return its exit status.

    0 means equal or done, 1 different, 2 error. Ctrl-C ends the process at once, as for
    any command.
    """
    # The work happens outside of Python, which would only record the signal.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The command reports failures of passes by itself.
    logging.getLogger("isoform.transform").addFilter(lambda told: told.levelno < logging.ERROR)
    return _core.cli_main(
        ["isoform", *sys.argv[1:]],
        import_module,
        _onnxruntime.find,
        _corpus_ray.index_for_command,
    )


if __name__ == "__main__":
    sys.exit(main())
