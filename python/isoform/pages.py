"""Pages for browsers, summaries for reviews, and pictures, of values and of results.

The functions take any value of an IR, and results that also have these methods
themselves: a `Difference` of `isoform.diff`, a `StructuralMismatch`, models, and the
results of `isoform.onnx.diff` and `isoform.onnx.optimize`. Nodes have no such methods,
since a class may have a field of the same name.

    >>> from isoform import pages
    >>> from isoform.diff import diff
    >>> found = diff([1, 2], [1, 3])
    >>> pages.to_markdown(found).startswith("**≠ Different.** 1 change: value at ")
    True
    >>> pages.to_html([1, 2]).startswith("<!DOCTYPE html>")
    True

Notebooks show the same in place of the `repr`: `_repr_html_` of nodes has the beginning of
the text, whatever the size of the value. A class with a `__repr__` or another method for
notebooks of its own is shown by that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._paged import Paged

if TYPE_CHECKING:
    import os
    from typing import Literal, TypeAlias

    Names: TypeAlias = str | tuple[str, str] | None

__all__ = ["picture", "save_html", "to_html", "to_markdown"]


def _subject(value: Any) -> Any:
    return value._subject() if isinstance(value, Paged) else value


def to_html(value: Any, *, names: Names = None) -> str:
    """Return a value or a result as a page for a browser.

    The page is one file of HTML that needs no other file and makes no requests.

    Args:
        value: A value, or a result with a page.
        names: The name of the value, or a pair of the names of both sides of a result.

    Raises:
        TypeError: a value that has no text, such as an unregistered class.
        ValueError: a value that contains itself; a pair of names for one value, or one name
            for two; a result that is a copy or from a pickle.

    Linear in the value. The same for equal arguments.

    >>> from isoform import ir, pages
    >>> html = pages.to_html(ir.IRModule({"f": ir.BaseFunc()}), names="<module>")
    >>> "&lt;module&gt;" in html, "<module>" in html
    (True, False)
    """
    return _core._page_html(_subject(value), names)


def save_html(
    value: Any, path: str | os.PathLike[str], *, names: Names = None, force: bool = False
) -> None:
    """Write the page of `to_html` to a file, completely or not at all.

    Args:
        value: As for `to_html`.
        path: The file to write.
        names: As for `to_html`.
        force: Whether a file that exists is replaced.

    Raises:
        FileExistsError: the file exists, and `force` is false.
        OSError: the file cannot be written.
        TypeError: as `to_html`.
        ValueError: as `to_html`.

    >>> import pathlib, tempfile
    >>> from isoform import pages
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "value.html")
    ...     pages.save_html([1, 2], file)
    ...     pages.save_html([1, 2], file)
    Traceback (most recent call last):
        ...
    FileExistsError: [Errno 17] the file exists; force=True replaces it: '...value.html'
    """
    _core._page_save(_subject(value), path, names, force)


def to_markdown(value: Any, *, names: Names = None, page_url: str | None = None) -> str:
    """Return a summary for a pull request, always below 60,000 characters.

    Args:
        value: As for `to_html`.
        names: As for `to_html`.
        page_url: The address of the whole page.

    Raises as `to_html`.
    """
    return _core._page_markdown(_subject(value), names, page_url)


def picture(
    value: Any,
    format: Literal["svg", "dot", "mermaid"] = "svg",  # noqa: A002
    *,
    title: str | None = None,
) -> str:
    """Return a value, or the changes of a result, as a picture.

    Objects and nodes of models are boxes. Of a large value, the objects that are nearest to
    its root are drawn; of a model, copies of a repeated block are drawn once.

    Args:
        value: A value, or a result except for a mismatch.
        format: The format.
        title: The sentence for readers who do not see the picture.

    Raises:
        TypeError: a value that has no picture.
        ValueError: another format; a result that is a copy or from a pickle.

    >>> from isoform import onnx, pages
    >>> x = onnx.Input(ty=None, default=None, name="x")
    >>> relu = onnx.Output(onnx.Call("", "Relu", 13, None, {}, [x], 1), 0)
    >>> program = onnx.Program(onnx.Graph([x], [None], [relu], result_names=["y"]), [])
    >>> print(pages.picture(program, "mermaid").splitlines()[0])
    flowchart TB
    """
    return _core._page_picture(_subject(value), format, title)
