"""Pages of results that are objects of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core

if TYPE_CHECKING:
    import os

__all__ = ["Paged", "paged"]


class Paged:
    """A result of the core that has a page for browsers and notebooks.

    Copies and pickles have the data of a result, but not its page.
    """

    # Without annotations, which would be fields: the same result in the core.
    _core_result = None

    def _subject(self) -> Any:
        if self._core_result is None:
            raise ValueError(
                f"this {type(self).__name__} has no page: it is a copy, or was not made by "
                "isoform.onnx"
            )
        return self._core_result

    def to_html(self, *, names: tuple[str, str] | None = None) -> str:
        """Return the result as a page for a browser, one file of HTML; see docs/pages.md.

        Args:
            names: The names of both sides; by default those of the models' files.

        Raises ValueError for a copy, or one from a pickle.
        """
        return _core._page_html(self._subject(), names)

    def save_html(
        self,
        path: str | os.PathLike[str],
        *,
        names: tuple[str, str] | None = None,
        force: bool = False,
    ) -> None:
        """Write the page of `to_html` to a file, completely or not at all.

        Raises FileExistsError for a file that exists, unless `force` is true, OSError for one
        that cannot be written, and ValueError as `to_html`.
        """
        _core._page_save(self._subject(), path, names, force)

    def to_markdown(
        self, *, names: tuple[str, str] | None = None, page_url: str | None = None
    ) -> str:
        """Return a summary for a pull request, always below 60,000 characters.

        Args:
            names: As for `to_html`.
            page_url: The address of the whole page.

        Raises ValueError as `to_html`.
        """
        return _core._page_markdown(self._subject(), names, page_url)

    def picture(self, format: str = "svg", *, title: str | None = None) -> str:  # noqa: A002
        """Return the changes as a picture, in the format `"svg"`, `"dot"` or `"mermaid"`.

        Raises ValueError for another format, and as `to_html`.
        """
        return _core._page_picture(self._subject(), format, title)

    def _repr_html_(self) -> str | None:
        """Return the result for a notebook."""
        subject = self._core_result
        return None if subject is None else _core._page_notebook(subject)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes that copies and pickles have."""
        return {name: value for name, value in vars(self).items() if name != "_core_result"}


def paged(result: Any, core_result: Any) -> Any:
    """Give a result, also a frozen one, what its page is made from."""
    object.__setattr__(result, "_core_result", core_result)
    return result
