"""The tools: making a difference, measuring the patch, and applying the patch."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.diff.documents import Document

Make = Callable[[], Any]


@dataclass(frozen=True)
class Tool:
    """A tool to compare with, called in the way of a user."""

    name: str
    # The difference of two documents, with whatever is needed to apply it.
    diff: Callable[[Document, Document], Any]
    # The length of the stored patch; None for a tool without patches.
    size: Callable[[Any], int] | None
    # The result of the patch on the left document.
    apply: Callable[[Any, Document], Any] | None
    # The required factor of speed; None for a tool without a target.
    target: float | None
    # The largest number of records that the tool can process.
    records: int = 1_000_000


def tools() -> list[Tool]:
    """Import the tools.

    Raises:
        ImportError: for a tool that is not installed.
    """
    return [deepdiff(), jsondiff(), graphtage(), jsonpatch()]


def deepdiff() -> Tool:
    """Compare item by item; a `Delta` is what can be applied and stored."""
    from deepdiff import DeepDiff, Delta

    return Tool(
        "deepdiff",
        lambda left, right: Delta(DeepDiff(left, right)),
        lambda delta: len(delta.dumps()),
        lambda delta, left: left + delta,
        target=20,
    )


def jsondiff() -> Tool:
    """Align lists. Patches use the compact syntax, which only applies forwards."""
    import jsondiff as module

    return Tool(
        "jsondiff",
        lambda left, right: module.diff(left, right, marshal=True),
        lambda patch: len(json.dumps(patch, separators=(",", ":"))),
        lambda patch, left: module.patch(left, patch, marshal=True),
        target=100,
    )


def graphtage() -> Tool:
    """Find the cheapest edits; they are for people to read, and cannot be applied."""
    import graphtage.json as module
    from graphtage.printer import DEFAULT_PRINTER

    DEFAULT_PRINTER.quiet = True

    def diff(left: Document, right: Document) -> Any:
        found = module.build_tree(left).diff(module.build_tree(right))
        if not found.edited_cost():
            raise AssertionError("graphtage found no difference")
        return found

    return Tool("graphtage", diff, None, None, target=100)


def jsonpatch() -> Tool:
    """Make operations of RFC 6902."""
    import jsonpatch as module

    return Tool(
        "jsonpatch",
        module.make_patch,
        lambda patch: len(json.dumps(patch.patch, separators=(",", ":"))),
        lambda patch, left: patch.apply(left),
        target=None,
    )


class Ours:
    """Isoform on the same documents."""

    def __init__(self, left: Document, right: Document) -> None:
        from isoform import structural_equal
        from isoform.container import Map
        from isoform.diff import diff

        self._equal, self._convert, self._diff = structural_equal, Map, diff
        self._documents = left, right
        self._left, self._right = Map(left), Map(right)

    def diff(self) -> Any:
        """Make the difference of converted values."""
        return self._diff(self._left, self._right)

    def diff_of_documents(self) -> Any:
        """Convert both documents first."""
        left, right = self._documents
        return self._diff(self._convert(left), self._convert(right))

    def patch_of(self, difference: Any) -> Any:
        """Return the patch after writing and reading it, and check the patched value.

        Raises:
            AssertionError: if the patch, or the difference itself, leads to another document.
        """
        from isoform.diff import Patch

        patch = Patch.from_json(difference.patch.to_json())
        for made in (self.apply(patch), self.apply(difference)):
            if not self._equal(made, self._right):
                raise AssertionError(f"the patch of {difference.summary()} leads elsewhere")
        return patch

    def apply(self, patch: Any) -> Any:
        """Return the result of a patch, or a difference, on the left document."""
        return patch.apply(self._left)
