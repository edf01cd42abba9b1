"""Text for people: every value can be printed, edited and parsed again.

One printer and one parser serve all node types, even types declared a moment ago.
Parsing restores a structurally equal value with the same sharing; the page
`docs/text.md` describes the grammar.

    >>> import isoform
    >>> from isoform import text
    >>> @isoform.dataclasses.py_class("doc.text.Pair", structural_eq="tree")
    ... class Pair(isoform.Object):
    ...     first: object
    ...     second: object = None
    >>> shared = isoform.List([1, 2.5])
    >>> printed = text.to_text(Pair(shared, Pair(shared, "b")))
    >>> print(printed, end="")
    %0 = List[1, 2.5]
    doc.text.Pair(first=%0, second=doc.text.Pair(first=%0, second="b"))
    >>> pair = text.from_text(printed)
    >>> pair.first is pair.second.first
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._core import from_text
from isoform.error import TextError, TextTypeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from isoform._core import AccessPath, Object

__all__ = ["TextError", "TextTypeError", "from_text", "to_text"]


def to_text(
    obj: Any,
    *,
    width: int = 100,
    indent: int = 2,
    depth: int = 16,
    defaults: bool = False,
    ignored_fields: bool = True,
    hide: Iterable[str] = (),
    spans: bool = True,
    types: bool = False,
    tensors: Literal["section", "inline", "abbreviated"] = "section",
    structural_names: bool = False,
    metadata: bool = True,
    placeholders: bool = False,
    color: bool = False,
    marks: Iterable[tuple[AccessPath, str]] = (),
    annotate: Callable[[Object], str | None] | None = None,
) -> str:
    """The text of a value, readable by `from_text`, which returns an equal value.

    Args:
        obj: a value.
        width: the maximum width of a line.
        indent: the number of spaces by which parts are indented.
        depth: the number of levels of nested parts, after which a part gets a name and
            a separate line.
        defaults: print fields that hold their default.
        ignored_fields: print fields that comparison ignores.
        hide: names of fields to leave out. These fields need a default for parsing to
            restore.
        spans: print the fields called `span`.
        types: print the type of each object in a trailing comment, if known: from the
            field named by the type attribute `text.type`, as for expressions of
            `isoform.ir`.
        tensors: where to print the elements of large tensors: in a section
            after the text, inline, or nowhere ("abbreviated"), so that the
            text cannot be parsed.
        structural_names: name nodes without a name by their kind instead of a number, so
            that an edit changes the lines of few other nodes.
        metadata: print the section with large tensors.
        placeholders: print functions without a global name and opaque objects
            as `<...>`, which cannot be parsed, instead of raising TypeError.
        color: colour the text for a terminal.
        marks: pairs of a place to underline and a note, possibly empty.
        annotate: called with each object; returns a comment to print after the object,
            or None for no comment. Its exceptions are passed on unchanged.

    Raises:
        TypeError: an unregistered function, or an opaque object, with the path.
        ValueError: a value that contains itself, with the path.

    Linear in the number of distinct objects.

    >>> from isoform.access_path import AccessPath
    >>> place = AccessPath.root().array_item(1)
    >>> print(to_text([1, 2], marks=[(place, "two")]), end="")
    [1, 2]
    //  ^ two
    """
    options = {
        "width": width,
        "indent": indent,
        "depth": depth,
        "defaults": defaults,
        "ignored_fields": ignored_fields,
        "hide": list(hide),
        "spans": spans,
        "types": types,
        "tensors": tensors,
        "structural_names": structural_names,
        "metadata": metadata,
        "placeholders": placeholders,
        "color": color,
        "marks": marks,
        "annotate": annotate,
    }
    return _core.to_text(obj, options)
