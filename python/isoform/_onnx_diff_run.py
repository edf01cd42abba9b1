"""Where the results of two models part; exported by `isoform.onnx`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isoform import _core, _onnxruntime
from isoform._onnx_load import loaded
from isoform._onnx_shapes import extent
from isoform._onnx_values import as_value
from isoform._results import result

if TYPE_CHECKING:
    from isoform._onnx_diff import Source

__all__ = ["Crossing", "ModelRuns", "NodePlace", "PairError", "ValuePlace", "diff_run"]


@dataclass(frozen=True)
class NodePlace:
    """A node, an input or an output of a model."""

    #: `"node"`, `"input"` or `"output"`.
    kind: str
    #: The name; may be empty for a node.
    name: str
    #: The operator; empty for an input or output.
    op: str
    #: The names of the node's outputs.
    outputs: list[str]
    #: The position among the nodes, inputs or outputs of the file.
    position: int


@dataclass(frozen=True)
class ValuePlace:
    """A value of a model."""

    #: The node that computes the value, or the input.
    node: NodePlace
    #: The name of the value; may be empty.
    value: str


@dataclass(frozen=True)
class PairError:
    """Tells how far two corresponding values are apart.

    Of several sets of inputs, the numbers are those of the set with the largest error. A
    number is infinite beside a NaN, an infinity or a zero, and None if the elements are not
    numbers.
    """

    #: The value of the left model.
    left: ValuePlace
    #: The value of the right model.
    right: ValuePlace
    #: Why both are a pair: `"structure"` if the diff pairs their nodes, `"use"` if corresponding
    #: nodes use them at the same position, `"output"`, or `"quantized"` for a value and its form
    #: that quantisation rounds.
    kind: str
    #: `"same"`, `"close"` (within the tolerance), `"different"` or `"skipped"`.
    status: str
    #: Whether everything that both are computed from agrees.
    inputs_agree: bool
    #: The shape.
    shape: list[int]
    #: The element types on both sides.
    types: tuple[str, str]
    #: The number of elements.
    count: int
    #: The number of elements beyond the tolerance.
    beyond: int
    #: The largest distance of two elements.
    max_abs: float | None
    #: The largest distance relative to the right element.
    max_rel: float | None
    #: The length of the difference relative to the left value as a vector.
    relative_l2: float | None
    #: The cosine of the angle between both values as vectors.
    cosine: float | None
    #: The ratio of signal and noise in decibels; None for equal values.
    snr_db: float | None
    #: Why the values could not be compared, or how they were made comparable; may be empty.
    note: str


@dataclass(frozen=True)
class Crossing:
    """Tells where the error first exceeds a threshold."""

    #: The relative L2 error.
    threshold: float
    #: The position of the pair in `pairs`; None if no pair is beyond.
    pair: int | None


@dataclass(frozen=True)
class ModelRuns:
    """The result of `diff_run`; its `str` is the output of `isoform diff --run`."""

    #: The pairs of values, in an order of computation of the left model.
    pairs: list[PairError]
    #: The positions of all pairs that differ although everything that they are computed from
    #: agrees.
    origins: list[int]
    #: The first pair beyond each threshold.
    crossings: list[Crossing]
    #: The name of the runtime.
    runner: str
    #: The sets of inputs, for people.
    inputs: list[str]
    #: The number of nodes without a partner, on the left and on the right.
    unpaired: tuple[int, int]
    #: The number of nodes inside of bodies and functions, which are not compared.
    inner: tuple[int, int]
    #: The number of outputs of both models.
    outputs: tuple[int, int]
    #: The number of outputs of both models that were not compared.
    open_outputs: tuple[int, int]
    _first: int | None = field(repr=False)
    _text: str = field(repr=False, compare=False)

    @property
    def first(self) -> PairError | None:
        """The first pair that differs although its inputs agree; None if nothing differs."""
        return None if self._first is None else self.pairs[self._first]

    @property
    def is_same(self) -> bool:
        """True if all outputs were compared, and no pair differs beyond the tolerance."""
        is_compared = any(pair.status != "skipped" for pair in self.pairs)
        return self._first is None and is_compared and not any(self.open_outputs)

    def __str__(self) -> str:
        """Return the text of the command `isoform diff --run`."""
        return self._text


@dataclass(frozen=True)
class _Data:
    pairs: list[PairError]
    first: int | None
    origins: list[int]
    crossings: list[Crossing]
    runner: str
    inputs: list[str]
    unpaired: tuple[int, int]
    inner: tuple[int, int]
    outputs: tuple[int, int]
    open_outputs: tuple[int, int]


def diff_run(
    left: Source,
    right: Source,
    *,
    rtol: float = 1e-3,
    atol: float = 1e-5,
    seed: int = 1,
    sets: int = 2,
    thresholds: Sequence[float] = (1e-6, 1e-4, 1e-2),
    runtime: bool = True,
    inputs: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> ModelRuns:
    """Run two models on the same inputs, and find the first node with different results.

    Values are paired by structure and never by name: nodes as `diff` pairs them, then what
    corresponding nodes use at the same position, and outputs. Identity nodes, Dropout of
    inference and wrappers of quantisation may be in one model alone. Codes of quantised models
    are compared as the numbers that they stand for. Values inside of bodies and functions are
    not compared; the text names the first difference of structure inside.

    Args:
        left: A result or an argument of `load`, or an `onnx.Program`.
        right: The other one. Its inputs get the values of those of the same names, or of the
            same positions if the names differ.
        rtol: The part of the right number by which floats may differ.
        atol: An additional allowed distance. onnxruntime is given 2e-3 for both where a model
            computes in floats of 16 bits.
        seed: Determines the random inputs.
        sets: The number of sets of inputs, the first few each with other sizes of dimensions
            without a size.
        thresholds: Relative L2 errors; the first pair beyond each is in `crossings`.
        runtime: False to use the evaluator of this package instead of onnxruntime.
        inputs: Values for inputs by their names in the left model, as for `evaluate`.
        shapes: Sizes of random inputs by their names in the left model.

    Raises ValueError for models with different inputs or random results, for models that do
    not run, and for values and sizes that contradict the models; KeyError for inputs missing
    in the left model; TypeError for arguments other than models. The time is that of `diff` and
    of the runs.

    >>> from isoform import dtype, onnx
    >>> x = onnx.Input(ty=onnx.TensorType(dtype("float32"), [onnx.Dim("n")]), default=None, name="x")
    >>> def program(alpha, name):
    ...     elu = onnx.Call("", "Elu", 6, None, {"alpha": alpha}, [x], 1, name=name)
    ...     neg = onnx.Call("", "Neg", 13, None, {}, [onnx.Output(elu, 0)], 1, name="n")
    ...     graph = onnx.Graph([x], [x.ty], [onnx.Output(neg, 0)], result_names=["y"])
    ...     return onnx.Program(graph, [])
    >>> runs = diff_run(program(1.0, "a"), program(2.0, "b"), runtime=False)
    >>> runs.first.left.node.name, runs.first.right.node.name, runs.first.inputs_agree
    ('a', 'b', True)
    >>> diff_run(program(1.0, "a"), program(1.0, "b"), runtime=False).is_same
    True
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if math.isnan(value) or value < 0:
            raise ValueError(f"{name}: expected a number that is not negative, got {value!r}")
    if sets < 1:
        raise ValueError(f"sets: expected a number from 1, got {sets}")
    data, text = _core.onnx_diff_run(
        loaded(left),
        loaded(right),
        tolerance=(rtol, atol),
        seed=seed,
        sets=sets,
        thresholds=[*thresholds],
        runtime=_onnxruntime.find() if runtime else None,
        inputs=[(name, as_value(value)) for name, value in (inputs or {}).items()],
        shapes=[
            (name, [extent(f"input '{name}'", size) for size in shape])
            for name, shape in (shapes or {}).items()
        ],
    )
    found = result(_Data, data)
    return ModelRuns(
        pairs=found.pairs,
        origins=found.origins,
        crossings=found.crossings,
        runner=found.runner,
        inputs=found.inputs,
        unpaired=found.unpaired,
        inner=found.inner,
        outputs=found.outputs,
        open_outputs=found.open_outputs,
        _first=found.first,
        _text=text,
    )
