"""A plugin of pytest: explained comparisons, and golden files.

The plugin is active wherever Isoform is installed, and does nothing in runs that do not
import Isoform. `-p no:isoform.pytest_plugin` turns it off. See docs/testing-your-ir.md.

It loads the rest of the package when a test has done so, or uses the fixture `golden`.
"""

from __future__ import annotations

import ast
import os
import stat
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

__all__ = ["golden"]

# The number of lines of differences that a report shows.
_LINES = 20


class _LastUnequal(threading.local):
    """The last two values for which `structural_equal` was false, with the options."""

    values: tuple[Any, Any, bool, bool] | None = None

    def note(self, left: Any, right: Any, map_free_vars: bool, skip_tensor_content: bool) -> None:
        """Called by the core."""
        self.values = (left, right, map_free_vars, skip_tensor_content)


_last = _LastUnequal()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option of the fixture."""
    parser.getgroup("isoform").addoption(
        "--golden-update",
        action="store_true",
        help="write the golden files that are missing or differ (isoform)",
    )


def _is_loaded() -> bool:
    """True if the tests use Isoform."""
    return "isoform._base" in sys.modules


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """Watches comparisons while a test runs."""
    if not _is_loaded():
        return (yield)
    from isoform import _core

    _core._watch_unequal(_last.note)
    try:
        return (yield)
    finally:
        _core._watch_unequal(None)
        _last.values = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Explains a failed `assert structural_equal(...)`."""
    report = yield
    unequal, _last.values = _last.values, None
    if unequal is None or call.excinfo is None or not call.excinfo.errisinstance(AssertionError):
        return report
    # Nothing is evaluated between the comparison and the failure of such a statement, so
    # the last comparison of the thread is the one of the statement.
    if _is_comparison(str(call.excinfo.traceback[-1].statement)):
        left, right, map_free_vars, skip_tensor_content = unequal
        lines = _explained(left, right, map_free_vars, skip_tensor_content)
        if lines and hasattr(report.longrepr, "addsection"):
            report.longrepr.addsection("structural difference", "\n".join(lines))
    return report


def _is_comparison(statement: str) -> bool:
    """True for the text of a statement `assert structural_equal(...)`."""
    try:
        parsed = ast.parse(statement.strip()).body
    except SyntaxError:
        return False
    if len(parsed) != 1 or not isinstance(parsed[0], ast.Assert):
        return False
    test = parsed[0].test
    called = test.func if isinstance(test, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
    return name == "structural_equal"


def _explained(
    left: Any, right: Any, map_free_vars: bool = False, skip_tensor_content: bool = False
) -> list[str]:
    """The first mismatch with both sides, and the differences; empty for equal values."""
    from isoform.structural import explain_structural_mismatch

    mismatch = explain_structural_mismatch(
        left, right, map_free_vars=map_free_vars, skip_tensor_content=skip_tensor_content
    )
    if mismatch is None:
        return []
    return [*str(mismatch).splitlines(), *_differences(left, right)]


def _differences(left: Any, right: Any) -> list[str]:
    """All differences, as far as they fit."""
    from isoform.diff import diff

    try:
        lines = str(diff(left, right)).splitlines()
    except (TypeError, ValueError):
        # The comparison has options, or the types hooks, that differences do not know.
        return []
    if not lines:
        return []
    more = [f"... and {len(lines) - _LINES} lines more"] if len(lines) > _LINES else []
    return ["differences:", *(f"  {line}" for line in lines[:_LINES]), *more]


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explains a failed `assert a == b` of two objects of Isoform."""
    if op != "==" or not _is_loaded():
        return None
    from isoform import Object

    both = left, right
    if all(isinstance(side, (list, tuple, dict)) for side in both):
        # Plain values in containers are pytest's own subject.
        if not any(isinstance(part, Object) for side in both for part in _parts(side)):
            return None
    elif not all(isinstance(side, Object) for side in both):
        return None
    try:
        lines = _explained(left, right)
    except (TypeError, ValueError):
        # Objects without a structure to compare.
        return None
    if not lines:
        name = type(left).__name__
        what = f"`==` of {name}" if isinstance(left, Object) else f"`==` of the parts of a {name}"
        lines = [
            f"both are structurally equal, but {what} compares something else, by "
            "default the identity of objects; write `assert structural_equal(a, b)`"
        ]
    return [f"{type(left).__name__} == {type(right).__name__}", *lines]


def _parts(side: Any) -> Any:
    return side.values() if isinstance(side, dict) else side


# What this run did with a golden file, by the resolved path.
_SEEN = pytest.StashKey[dict[str, str]]()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Any, str | os.PathLike[str]], None]:
    """Compares a value by structure with the text in a file: `golden(value, "file.iso")`.

    The path is relative to the file of the test. Names of variables, source locations and
    other fields that comparison ignores may differ, and free variables are mapped. With
    `--golden-update`, a file that is missing or differs is written; an equal file is not
    touched, and nothing is ever written without the option. An update keeps permissions,
    and writes the target of a link. Files that are read-only, hold no text, or agreed with
    another value in the same run, are never written.

    Fails if the file is missing, cannot be read or written, or has a different value.
    Raises TypeError for a path of a wrong type, and ValueError for the suffixes of the other
    formats, `.json` and `.isob`.
    """
    update = bool(request.config.getoption("--golden-update"))
    folder = request.path.parent
    seen = request.config.stash.setdefault(_SEEN, {})

    def check(value: Any, name: str | os.PathLike[str]) -> None:
        __tracebackhide__ = True
        path = _below(folder, name)
        try:
            stored = _stored(path)
        except _UnusableError as reason:
            pytest.fail(f"golden file {_shown(path)}: cannot be read: {reason}")
        target = os.path.realpath(path)
        problem = _problem_of(value, path, stored)
        if problem is None:
            seen.setdefault(target, "compared another value with")
            return
        if stored is not None and target in seen:
            pytest.fail(
                f"{problem}\nthis run already {seen[target]} the file; "
                "values that differ need files of their own"
            )
        if not update:
            pytest.fail(f"{problem}\nrun pytest with --golden-update to write the file")
        try:
            _write(value, Path(target))
        except _UnusableError as reason:
            pytest.fail(f"{problem}\ngolden file {_shown(path)}: cannot be written: {reason}")
        seen[target] = "wrote another value to"

    return check


# The files of Isoform that are no text, by their suffixes.
_OTHER_FORMS = {".json": "JSON graphs", ".isob": "binary files"}


class _UnusableError(Exception):
    """The reason why a file cannot be read or written."""


def _below(folder: Path, name: object) -> Path:
    """The path of a golden file, from the argument of a test."""
    path = os.fspath(name) if isinstance(name, (str, os.PathLike)) else name
    if not isinstance(path, str):
        raise TypeError(
            "golden(value, path): expected the path of a file as str or os.PathLike[str], "
            f"got {type(name).__name__}"
        )
    suffix = Path(path).suffix
    if suffix in _OTHER_FORMS:
        raise ValueError(
            f"golden(value, {path!r}): the file holds text, and {suffix} is the suffix of "
            f"{_OTHER_FORMS[suffix]}; write {str(Path(path).with_suffix('.iso'))!r}"
        )
    return folder / path


def _shown(path: Path) -> str:
    """A path for a message, without control characters."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _stored(path: Path) -> str | None:
    """The text in a file; None if no file exists."""
    try:
        mode = path.stat().st_mode
        # A pipe would wait for a writer.
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise _UnusableError(f"the path leads to {kind}")
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _UnusableError(_reason(error)) from None
    except ValueError as error:
        # The path has a character that no path has.
        raise _UnusableError(str(error)) from None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise _UnusableError(
            "the file is not text in UTF-8, and is never overwritten; delete the file first"
        )
    return text


def _problem_of(value: Any, path: Path, stored: str | None) -> str | None:
    """The reason why the text of a file does not have this value; None if it has."""
    from isoform.structural import explain_structural_mismatch
    from isoform.text import TextError, from_text

    if stored is None:
        return f"golden file {_shown(path)}: does not exist"
    try:
        found = from_text(stored)
    except TextError as error:
        return f"golden file {_shown(path)}: cannot be read: {error}"
    mismatch = explain_structural_mismatch(value, found, map_free_vars=True)
    if mismatch is None:
        return None
    lines = [
        f"golden file {_shown(path)}: the value (left) differs from the file (right): {mismatch}"
    ]
    return "\n".join([*lines, *_differences(value, found)])


def _write(value: Any, target: Path) -> None:
    """Writes a file completely or not at all."""
    from isoform.text import to_text

    text = to_text(value)
    content = (text if text.endswith("\n") else f"{text}\n").encode()
    # A short name, since that of the file may be as long as names can be.
    part = target.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        # The system lets root write, and lets everybody replace the file.
        if mode is not None and not mode & stat.S_IWUSR:
            raise _UnusableError(f"{_shown(target)} is read-only")
        try:
            part.write_bytes(content)
            if mode is not None:
                part.chmod(mode)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise _UnusableError(_reason(error)) from None
