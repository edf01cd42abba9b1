"""The command `isoform`: compare, show, convert and transform models and IR.

It starts with the native module alone; the modules of the package are for options that need
Python.
"""

from __future__ import annotations

# The module `signal` takes longer to import.
import _signal  # pyright: ignore[reportMissingImports]
import sys

from isoform import _core

# So does `typing`.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _import_module(name: str, folder: str) -> str | None:
    """The option `--import`, and the settings of a project."""
    import logging

    from isoform._importing import import_module

    # The command reports failures of passes by itself.
    logging.getLogger("isoform.transform").addFilter(lambda told: told.levelno < logging.ERROR)
    return import_module(name, folder)


def _find_types(keys: list[str]) -> list[str]:
    """Types that a file names and nobody has declared."""
    from isoform import _entry_points

    return _entry_points.find_types(keys)


def _find_runtime() -> tuple[str, Any] | None:
    """The runtime of `--verify` and `--run`."""
    from isoform import _onnxruntime

    return _onnxruntime.find()


def _index_with_ray(roots: list[str], output: str, **options: Any) -> _core.CorpusReport:
    """The option `--ray`."""
    from isoform import _corpus_ray

    return _corpus_ray.index_for_command(roots, output, **options)


def main() -> int:
    """Run the command on `sys.argv` and return its exit status.

    0 means equal or done, 1 different, 2 error. Ctrl-C ends the process at once, as for
    any command.
    """
    # The work happens outside of Python, which would only record the signal.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    return _core.cli_main(
        ["isoform", *sys.argv[1:]],
        _import_module,
        _find_runtime,
        _index_with_ray,
        _find_types,
    )


if __name__ == "__main__":
    sys.exit(main())
