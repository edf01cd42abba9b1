"""The search for the pass and the functions that break a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, cast

from isoform.ir import _api

if TYPE_CHECKING:
    from collections.abc import Callable

    from .passes import Pass

__all__ = ["Bisected", "bisect"]

Bisected = TypedDict(
    "Bisected",
    {
        "pass": "Pass",
        "position": int,
        "before": Any,
        "after": Any,
        "functions": list[str],
        "checks": int,
    },
)
"""The result of `bisect`."""

_bisect = _api.function("passes.bisect")


def bisect(pipeline: Pass, mod: Any, check: Callable[[Any], bool]) -> Bisected:
    """Find the first pass after which a check fails, and a sufficient set of functions.

    The pipeline runs once, under the current context. The check is called O(log passes)
    times for the pass, and at most O(n²) times for n changed functions.

    Args:
        pipeline: A pass, usually a sequence.
        mod: The program; the check accepts it.
        check: Returns True for a good program; it rejects the result of the pipeline.

    Returns a dict of `pass`, the `position` of the pass, the programs `before` and `after`
    it, the latter with the changes of as few `functions` as possible (a list of their
    names), and the number of `checks`.

    Raises ValueError without a failing check, exceptions of passes and of the check.
    """
    found = dict(_bisect(pipeline, mod, check))
    return cast("Bisected", {**found, "functions": list(found["functions"])})
