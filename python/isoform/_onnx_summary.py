"""Models in numbers, and the numbers of two models; `isoform.onnx` has them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

from isoform import _core
from isoform._onnx_load import loaded
from isoform._results import result

if TYPE_CHECKING:
    import os

    from onnx import ModelProto

    from isoform._core import OnnxModel
    from isoform.types.onnx import Program

    Source = (
        OnnxModel | Program | str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto
    )

__all__ = [
    "FunctionSummary",
    "ModelSummary",
    "ModelsSummary",
    "ValueSummary",
    "WeightDifference",
    "WeightSummary",
    "WeightsDifference",
    "WeightsOfType",
    "summary",
]


@dataclass(frozen=True)
class ValueSummary:
    """Describes an input or output of a model."""

    #: Its name.
    name: str
    #: The element type, or what else it is: `float32`, `sequence(int64)`; `?` if unknown.
    dtype: str
    #: The extents, such as `[batch, 3, ?]`; `[...]` for an unknown rank, and empty for what
    #: has no shape.
    shape: str


@dataclass(frozen=True)
class WeightsOfType:
    """Counts the weights of one element type."""

    #: The number of weights.
    count: int
    #: The number of their elements.
    elements: int
    #: The number of their bytes.
    bytes: int


@dataclass(frozen=True)
class FunctionSummary:
    """Describes a local function."""

    #: Its name, with its domain and overload.
    name: str
    #: The number of its nodes, those of bodies included.
    nodes: int


@dataclass(frozen=True)
class ModelSummary:
    """The contents of a model in numbers; its `str` is the output of `isoform summary`."""

    #: Version of the file format.
    ir_version: int
    #: Name and version of the tool that wrote the model.
    producer: str
    #: The versions of operator sets that nodes use, by domain; the empty one is `ai.onnx`.
    opsets: dict[str, tuple[int, ...]]
    #: The inputs of the main graph.
    inputs: tuple[ValueSummary, ...]
    #: The outputs of the main graph.
    outputs: tuple[ValueSummary, ...]
    #: How many nodes apply each operator, those of bodies and functions included. Names have
    #: their domain, unless it is `ai.onnx`; those of local functions begin with `function `.
    operators: dict[str, int]
    #: The number of nodes, those of bodies and functions included.
    nodes: int
    #: The number of nodes of the longest chain in which each uses a result of the one before.
    depth: int
    #: How deep bodies nest.
    nesting: int
    #: The number of constants, whether nodes or attributes use them.
    constants: int
    #: The weights by element type: constant tensors that are inputs of nodes, results, or
    #: defaults of inputs.
    weights: dict[str, WeightsOfType]
    #: The local functions that are called.
    functions: tuple[FunctionSummary, ...]
    _text: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        """Return the text of the command `isoform summary`."""
        return self._text


@dataclass(frozen=True)
class WeightSummary:
    """Describes a weight."""

    #: Its name in the file.
    name: str
    #: The element type.
    dtype: str
    #: The extents.
    shape: tuple[int, ...]


@dataclass(frozen=True)
class WeightDifference:
    """The distance between two different weights.

    Weights of different types are compared by number, after decoding by nodes like
    DequantizeLinear. All numbers are None if the shapes differ.
    """

    #: The weight of the left model.
    left: WeightSummary
    #: The weight of the right model.
    right: WeightSummary
    #: The number of elements.
    elements: int | None = None
    #: The number of elements that differ, by their bits; all NaNs are equal.
    differing: int | None = None
    #: The row-major position of the first one.
    first: int | None = None
    #: The largest distance of two elements; infinite if a NaN or an infinity faces something
    #: else.
    max_abs: float | None = None
    #: The same exactly, for integers and truth values.
    max_abs_int: int | None = None
    #: The length of the difference, divided by that of the left weight.
    relative_l2: float | None = None
    #: The cosine of the angle between both; None if it is not defined.
    cosine: float | None = None


@dataclass(frozen=True)
class WeightsDifference:
    """Tells how far the weights of two models are apart."""

    #: The number of pairs.
    pairs: int
    #: The pairs that differ.
    changed: tuple[WeightDifference, ...]
    #: Names of weights of the left model without a partner.
    left_only: tuple[str, ...]
    #: Names of weights of the right model without a partner.
    right_only: tuple[str, ...]
    #: The number of elements in all pairs that were compared.
    elements: int
    #: The number of these that differ.
    differing: int
    #: The largest distance of two elements; None without such a pair.
    max_abs: float | None


@dataclass(frozen=True)
class ModelsSummary:
    """Tells how two models differ; its `str` is the output of `isoform summary`."""

    #: The left model.
    left: ModelSummary
    #: The right model.
    right: ModelSummary
    #: The versions of operator sets that differ, by domain; None where nodes use none.
    opsets: dict[str, tuple[tuple[int, ...] | None, tuple[int, ...] | None]]
    #: The inputs that differ in name or type, by position. Dimensions are paired like variables:
    #: their names differ only where the models use them in other places.
    inputs: dict[int, tuple[ValueSummary | None, ValueSummary | None]]
    #: The outputs that differ in name or type, by position.
    outputs: dict[int, tuple[ValueSummary | None, ValueSummary | None]]
    #: How many nodes of each model apply an operator, also where that is equally many.
    operators: dict[str, tuple[int, int]]
    #: How far the weights are apart.
    weights: WeightsDifference
    _text: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        """Return the text of the command `isoform summary` for two files."""
        return self._text


@overload
def summary(model: Source, other: None = None) -> ModelSummary: ...


@overload
def summary(model: Source, other: Source) -> ModelsSummary: ...


def summary(model: Source, other: Source | None = None) -> ModelSummary | ModelsSummary:
    """Describe a model, or how two models differ, in numbers.

    A summary is not a verdict: models with the same numbers may compute different things.

    Args:
        model: A result or an argument of `load`, or an `onnx.Program`.
        other: A second model to compare with. Weights belong together if they are the same
            input of corresponding nodes, as for `diff`; then by equal names, and then by
            equal values.

    Raises TypeError for other arguments, and the exceptions of `load`. The work is the number
    of nodes times the depth of bodies; for two models also that of `diff`. Raises
    KeyboardInterrupt promptly.

    >>> from isoform import onnx
    >>> def program(op):
    ...     x = onnx.Input(ty=None, default=None, name="x")
    ...     call = onnx.Call("", op, 13, None, {}, [x], 1)
    ...     return onnx.Program(onnx.Graph([x], [None], [onnx.Output(call, 0)]), [])
    >>> summary(program("Relu")).operators
    {'Relu': 1}
    >>> summary(program("Relu"), program("Tanh")).operators
    {'Relu': (1, 0), 'Tanh': (0, 1)}
    """
    if other is None:
        return result(ModelSummary, _core.onnx_summary(loaded(model)))
    data = _core.onnx_summary_of_two(loaded(model), loaded(other))
    for name in ("opsets", "inputs", "outputs"):
        data[name] = {key: (changed["left"], changed["right"]) for key, changed in data[name]}
    operators = data["operators"]
    data["operators"] = {row["operator"]: (row["left"], row["right"]) for row in operators}
    return result(ModelsSummary, data)
