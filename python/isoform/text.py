"""Text for people: every value can be printed, edited and parsed again.

One printer and one parser serve all node types, also those declared a moment
ago. What is parsed is structurally equal to what was printed, with the same
sharing; the page `docs/text.md` describes the grammar.

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
    metadata: bool = True,
    placeholders: bool = False,
    color: bool = False,
    marks: Iterable[tuple[AccessPath, str]] = (),
    annotate: Callable[[Object], str | None] | None = None,
) -> str:
    """The text of a value, which `from_text` reads as an equal value.

    Args:
        obj: a value.
        width: how many columns a line should have at most.
        indent: by how many spaces parts are indented.
        depth: how many levels of parts stand inside one another before they
            get a name and a line of their own.
        defaults: whether fields that hold their default are printed.
        ignored_fields: whether fields are printed that comparison ignores.
        hide: names of fields that are not printed. What is parsed has their
            default, so they need one.
        spans: whether the fields called `span` are printed.
        types: whether a comment behind each object says its type, where that
            is known: in the field that the type attribute `text.type` names,
            as expressions of `isoform.ir` have it.
        tensors: where the elements of large tensors stand: in a section
            behind the text, inline, or nowhere ("abbreviated"), so that the
            text cannot be parsed.
        metadata: whether that section is printed.
        placeholders: print functions without a global name and opaque objects
            as `<...>`, which cannot be parsed, instead of raising TypeError.
        color: whether the text is coloured for a terminal.
        marks: pairs of a place, which is underlined, and a note, which may
            be empty.
        annotate: called with each object; what it answers stands in a comment
            behind the object, and None is no comment. What it raises comes
            out unchanged.

    Raises:
        TypeError: a function that is registered under no name, or an opaque
            object, with its path.
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
        "metadata": metadata,
        "placeholders": placeholders,
        "color": color,
        "marks": marks,
        "annotate": annotate,
    }
    return _core.to_text(obj, options)
