"""The option `--import` of the command: modules of Python, by name or by file.

Modules of `pyproject.toml` and of entry points are imported in the same way.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
import traceback
from pathlib import Path
from typing import Any

__all__ = ["import_module"]


def import_module(name: str, folder: str | None = ".") -> str | None:
    """Import a module, and return None, or the text of the failure.

    Args:
        name: The name of a module, or of a file that ends with `.py`. A file can import the
            modules next to it.
        folder: The folder where the module is searched for, too, and to which the name of a
            file refers; None for a module of an installed package.
    """
    is_new = (Path(name).stem if name.endswith(".py") else name) not in sys.modules
    before = _declared()
    try:
        if name.endswith(".py"):
            _import_file(Path(folder or ".", name))
        else:
            if folder is not None:
                _search(Path(folder))
            importlib.import_module(name)
    # A module may raise anything, SystemExit included.
    except BaseException as error:
        return _text(error) + _advice(name, error)
    # The output of passes comes before the result, also in a pipe.
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(line_buffering=True)
    if is_new and _declared() == before:
        return (
            "the module declares no node types and registers no passes or functions; name the "
            "module with the classes, such as MODULE.ir, or import it there"
        )
    return None


def _declared() -> tuple[int, ...]:
    """The numbers of types, passes and functions."""
    from isoform import _core
    from isoform.transform import list_passes

    return (
        len(_core.registered_type_keys()),
        len(list_passes()),
        len(_core.list_global_func_names()),
    )


def _advice(name: str, error: BaseException) -> str:
    """Advice on the name of a module, on lines of its own."""
    if name.endswith(".py"):
        if isinstance(error, FileNotFoundError):
            return "\ngive the path of the file from the current folder, or the name of a module"
        if isinstance(error, ImportError) and "relative import" in str(error):
            module = ".".join(Path(name).with_suffix("").parts)
            known = module if re.fullmatch(r"\w+(\.\w+)+", module) else "PACKAGE.MODULE"
            return f"\nthe file is a part of a package: name the module, --import {known}"
        return ""
    if not isinstance(error, ModuleNotFoundError) or error.name is None:
        return ""
    if name != error.name and not name.startswith(f"{error.name}."):
        return ""
    if Path(f"{name}.py").is_file() and "/" in name:
        return f"\nthe name of a file ends with .py: {name}.py"
    return (
        "\nwrite the name as in an import statement, such as mypkg.ir, of a module that is "
        "installed or in the current folder, or the path of a file, such as ./ir.py"
    )


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
