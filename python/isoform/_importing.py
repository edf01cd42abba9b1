"""The option `--import` of the command: modules of Python, by name or by file."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any

__all__ = ["import_module"]


def import_module(name: str) -> str | None:
    """Import a module, and return None, or the text of the failure.

    Args:
        name: The name of a module, which is also searched for in the current folder, or of
            a file that ends with `.py`. A file can import the modules next to it.
    """
    try:
        if name.endswith(".py"):
            _import_file(Path(name))
        else:
            _search(Path.cwd())
            importlib.import_module(name)
    # A module may raise anything, SystemExit included.
    except BaseException as error:
        return _text(error)
    # The output of passes comes before the result, also in a pipe.
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=True)
    return None


def _search(folder: Path) -> None:
    """Let modules of a folder be imported."""
    # An empty entry is the current folder.
    if not any(Path(entry or ".").resolve() == folder.resolve() for entry in sys.path):
        sys.path.insert(0, str(folder))


def _import_file(file: Path) -> None:
    file = file.resolve()
    known = sys.modules.get(file.stem)
    if known is not None:
        origin = getattr(known, "__file__", None)
        if origin is not None and Path(origin).resolve() == file:
            return
        raise ImportError(
            f"a module named '{file.stem}' is imported already, from {origin or 'Python itself'}; "
            "give the file another name"
        )
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python file")
    _search(file.parent)
    module = importlib.util.module_from_spec(spec)
    # An import statement also registers the module first: modules that the file imports may
    # import the file.
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise


def _text(error: BaseException) -> str:
    """The exception in one line, then the place in the user's code."""
    told = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SyntaxError):
        # The place comes first, and the message is the last line.
        place, _, message = told.rpartition("\n")
        return f"{message}\n{place}"
    frames = traceback.extract_tb(error.__traceback__)
    of_imports = ("importlib", "<frozen importlib", __file__)
    users = [frame for frame in frames if not any(part in frame.filename for part in of_imports)]
    if not users:
        return told
    lines = "".join(traceback.format_list(users)).rstrip()
    return f"{told}\nTraceback (most recent call last):\n{lines}"
