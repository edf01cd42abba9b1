"""The text of modules and expressions, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform.text import to_text

from . import _api

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["own_text", "str_of", "text_of"]

_own_script = _api.function("passes.own_script")


def text_of(
    obj: Any,
    show_meta_data: bool,
    annotate: Callable[[Any], str | None] | None,
    **options: Any,
) -> str:
    """The text of a value, as returned by `astext` and `script`.

    Args:
        obj: The value.
        show_meta_data: Print the section with large constants.
        annotate: Returns the comment to print after an object, or an empty text
            for no comment.
        options: Options of `isoform.text.to_text`, which take precedence.
    """
    if annotate is not None:
        options["annotate"] = lambda found: annotate(found) or None
    # Temporary values in attributes, such as a function without a name, must not
    # prevent printing a program.
    settings: dict[str, Any] = {"placeholders": True, "metadata": show_meta_data}
    # Nobody compares spans, and they would be most of the text.
    settings["spans"] = False
    return to_text(obj, **(settings | options))


def own_text(obj: Any) -> str | None:
    """The text of an object in the format of its dialect; None without a format."""
    return _own_script(obj)


def str_of(obj: Any) -> str:
    """The result of `str`: the text in the format of the dialect, otherwise the repr."""
    own = own_text(obj)
    return repr(obj) if own is None else own.rstrip("\n")
