"""All differences of two models; exported by `isoform.onnx`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isoform import _core
from isoform._onnx_load import loaded
from isoform._paged import Paged, paged

if TYPE_CHECKING:
    import os

    from onnx import ModelProto

    from isoform._core import OnnxModel
    from isoform.types.onnx import Program

    Source = (
        OnnxModel | Program | str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto
    )

__all__ = ["ModelChange", "ModelDiff", "diff"]


@dataclass(frozen=True)
class ModelChange:
    """Describes equal changes, told once; its `str` is a line of `isoform diff`."""

    #: The kind: `inserted`, `deleted` and `replaced` nodes, a `hunk` of several nodes that became
    #: others, an `attribute`, a `rewired` input, the elements of a `tensor`, a declared `type`,
    #: another version of an `opset`, and a few more.
    kind: str
    #: How often it occurs.
    count: int
    #: The name of the first node, input or output concerned; empty without a name.
    node: str
    #: The operator of that node; empty for an input or output.
    op: str
    #: The place of the first occurrence, from the node, graph or function that it is in:
    #: `<node 7 of 'main'>.inputs[1]`, where nodes count from 0 as in the file.
    place: str
    #: The change in words.
    text: str
    #: The names of all nodes, inputs and outputs concerned.
    nodes: tuple[str, ...]

    def __str__(self) -> str:
        """Return the change in words."""
        return self.text


@dataclass(frozen=True)
class ModelDiff(Paged):
    """Tells how two models differ; its `str` is the output of `isoform diff`.

    `to_html`, `save_html`, `to_markdown` and `picture` show the difference; for these, it
    refers to both models.
    """

    #: True if nothing that counts differs.
    equal: bool
    #: The changes, those of the graph first and those of weights last.
    changes: tuple[ModelChange, ...]
    _summary: str = field(default="", repr=False, compare=False)
    _text: str = field(default="", repr=False, compare=False)

    def summary(self) -> str:
        """Return the differences in numbers, as printed by `isoform diff --stat`. O(1)."""
        return self._summary

    def __str__(self) -> str:
        """Return the text of the command `isoform diff`."""
        return self._text


def diff(
    left: Source,
    right: Source,
    *,
    ignore_shapes: bool = False,
    strict: bool = False,
    rtol: float = 0,
    atol: float = 0,
    skip_tensor_content: bool = False,
) -> ModelDiff:
    """Tell how two models differ: a summary, and every change with the names of its nodes.

    Args:
        left: A result or an argument of `load`, or an `onnx.Program`.
        right: The other one.
        ignore_shapes: Whether declared shapes are ignored, and declared types of bodies and
            outputs that follow from the computation.
        strict: Whether operator sets are compared by number, and written-out defaults as
            attributes. Two models are equal exactly then if they have the same digest.
        rtol: The part of the right number by which floats and elements of tensors may
            differ, as for `numpy.isclose` with the right model as the reference.
        atol: An additional allowed distance.
        skip_tensor_content: Whether the elements of tensors are ignored.

    Raises TypeError for arguments other than models, the exceptions of `load`, and
    ValueError for a tolerance that is negative or NaN. The work is that of
    `isoform.diff.diff`: linear in the number of nodes of models that are nearly the same,
    however deep and with however many changes, and linear in the bytes of weights. Raises
    KeyboardInterrupt promptly.

    >>> from isoform import onnx
    >>> def program(axis):
    ...     x = onnx.Input(ty=None, default=None, name="x")
    ...     call = onnx.Call("", "Softmax", 13, None, {"axis": axis}, [x], 1, name="sm")
    ...     return onnx.Program(onnx.Graph([x], [None], [onnx.Output(call, 0)]), [])
    >>> found = diff(program(1), program(2))
    >>> found.equal, [change.kind for change in found.changes]
    (False, ['attribute'])
    >>> print(found.changes[0])
    attribute 'axis' of Softmax 'sm': 1 -> 2
    >>> "axis" in found.to_markdown()
    True
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if math.isnan(value) or value < 0:
            raise ValueError(f"{name}: expected a number that is not negative, got {value!r}")
    equal, changes, summary, text, report = _core.onnx_diff(
        loaded(left),
        loaded(right),
        ignore_shapes=ignore_shapes,
        strict=strict,
        skip_tensor_content=skip_tensor_content,
        tolerance=(rtol, atol) if rtol or atol else None,
    )
    changes = tuple(ModelChange(*row, nodes=tuple(nodes)) for *row, nodes in changes)
    return paged(ModelDiff(equal, changes, summary, text), report)
