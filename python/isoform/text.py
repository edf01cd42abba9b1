"""Text for people: every value can be printed, edited and parsed again.

One printer and one parser serve all node types, also those declared a moment
ago. What is parsed is structurally equal to what was printed, with the same
sharing; the page `docs/text.md` describes the grammar.

    >>> import builtins
    >>> import isoform
    >>> from isoform import text
    >>> @isoform.dataclasses.py_class("doc.text.Pair", structural_eq="tree")
    ... class Pair(isoform.Object):
    ...     first: object
    ...     second: object = None
    >>> shared = isoform.List([1, 2.5])
    >>> printed = text.print(Pair(shared, Pair(shared, "b")))
    >>> for line in printed.splitlines():
    ...     builtins.print(line)
    %0 = List[1, 2.5]
    doc.text.Pair(first=%0, second=doc.text.Pair(first=%0, second="b"))
    >>> pair = text.parse(printed)
    >>> pair.first is pair.second.first
    True
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform._core import text_parse as parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Literal

    from isoform._core import AccessPath, Object, StructuralMismatch

__all__ = ["parse", "print", "render_mismatch"]


def print(  # noqa: A001
    obj: Any,
    *,
    width: int = 100,
    indent: int = 2,
    depth: int = 16,
    defaults: bool = False,
    ignored_fields: bool = True,
    hide: Iterable[str] = (),
    tensors: Literal["section", "inline", "abbreviated"] = "section",
    metadata: bool = True,
    placeholders: bool = False,
    color: bool = False,
    marks: Iterable[tuple[AccessPath, str]] = (),
    annotate: Callable[[Object], str | None] | None = None,
) -> str:
    """The text of a value, which `parse` reads as an equal value.

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
        tensors: where the elements of large tensors stand: in a section
            behind the text, inline, or nowhere ("abbreviated"), so that the
            text cannot be parsed.
        metadata: whether that section is printed.
        placeholders: print functions without a global name and opaque objects
            as `<...>`, which cannot be parsed, instead of raising TypeError.
        color: whether the text is coloured for a terminal.
        marks: places that are underlined, with a note each.
        annotate: called with each object; what it answers stands in a comment
            behind the object.

    Raises:
        TypeError: a function that is registered under no name, or an opaque
            object, with its path.
        ValueError: a value that contains itself, with the path.

    Linear in the number of distinct objects.

    >>> import builtins
    >>> from isoform.access_path import AccessPath
    >>> builtins.print(print([1, 2], marks=[(AccessPath.root().array_item(1), "two")]))
    [1, 2]
    //  ^ two
    <BLANKLINE>
    """
    options = {
        "width": width,
        "indent": indent,
        "depth": depth,
        "defaults": defaults,
        "ignored_fields": ignored_fields,
        "hide": list(hide),
        "tensors": tensors,
        "metadata": metadata,
        "placeholders": placeholders,
        "color": color,
        "marks": marks,
        "annotate": annotate,
    }
    return _core.text_print(obj, options)


def render_mismatch(
    lhs: Any,
    rhs: Any,
    mismatch: StructuralMismatch,
    *,
    values: int = 400,
    lines: int = 6,
    width: int = 100,
    color: bool = False,
) -> str:
    """Why two values differ, with the text of both sides around the place.

    Args:
        lhs: the left value.
        rhs: the right value.
        mismatch: what `explain_structural_mismatch` gave for them.
        values: how many values of a side are shown at most.
        lines: how many lines are shown above and below the place.
        width: how many columns a line should have at most.
        color: whether the text is coloured for a terminal.

    >>> import builtins
    >>> from isoform import explain_structural_mismatch
    >>> left, right = (1, "a"), (1, "b")
    >>> text = render_mismatch(left, right, explain_structural_mismatch(left, right))
    >>> builtins.print(text)
    the values differ
      left:  <root>[1]
        [1, "a"]
        //  ^^^
      right: <root>[1]
        [1, "b"]
        //  ^^^
    """
    return _core.text_of_mismatch(
        lhs, rhs, mismatch, values=values, lines=lines, width=width, color=color
    )
