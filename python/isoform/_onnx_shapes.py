"""Derived shapes of ONNX programs; exported by `isoform.onnx`."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

from isoform import _core

if TYPE_CHECKING:
    from isoform._core import OnnxModel
    from isoform.dtype import dtype
    from isoform.types.onnx import Program

__all__ = ["Shapes", "TypeProblem", "ValueType", "fix_dims", "infer_shapes"]


class ValueType(NamedTuple):
    """The facts known about a value in every run."""

    #: The element type: a `dtype`, the string `"string"`, or None if it is unknown or
    #: the value is not a dense tensor.
    elem: dtype | str | None
    #: The extents, or None if even the rank is unknown. An extent that is not a number is
    #: a polynomial over dimensions of the inputs, such as `"batch*3 + 1"`, and unknown
    #: numbers `_1`, `_2` and so on; equal texts are equal extents in every run, as long as
    #: no two dimensions of the model have the same name.
    shape: tuple[int | str, ...] | None
    #: The elements of a small tensor of integers or bools in row-major order, written like
    #: extents, or None if they are unknown.
    elements: tuple[int | str, ...] | None


class TypeProblem(NamedTuple):
    """Describes an output of the model whose declared type is wrong in every run."""

    #: The name of the output.
    name: str
    #: The type in the file.
    declared: ValueType
    #: The type that was derived.
    derived: ValueType
    #: Both as a sentence.
    message: str


@final
class Shapes:
    """Knows the types of a program's values: `shapes[value]` is a `ValueType`.

    Made by `infer_shapes`. A value is an `onnx.Output`, an `onnx.Input` or a constant;
    little is known of values that depend on inputs of local functions, since every call of
    a function has its own types. Questions about later calls are allowed, too.
    """

    __slots__ = ("_shapes", "problems")

    #: The outputs whose declared type is wrong. Runtimes do not refuse such a model, so
    #: declared types must not be relied on.
    problems: tuple[TypeProblem, ...]

    def __init__(self, model: OnnxModel | Program) -> None:
        """See `infer_shapes`."""
        self._shapes = _core.onnx_infer_shapes(model)
        rows = self._shapes.problems
        self.problems = tuple(
            TypeProblem(name, ValueType(*declared), ValueType(*derived), message)
            for name, declared, derived, message in rows
        )

    def __getitem__(self, value: Any) -> ValueType:
        """Return the facts known about a value; raise TypeError for other objects.

        O(1) for values of the program.
        """
        return ValueType(*self._shapes.type_of(value))

    # Otherwise Python would ask for the items 0, 1 and upwards.
    __iter__ = None
    __contains__ = None


def infer_shapes(model: OnnxModel | Program) -> Shapes:
    """Derive element types and shapes of all values of a model.

    Only the types of the inputs and constants are trusted, because other types in a file
    may be wrong. Extents are followed as polynomials over the dimensions of the inputs,
    also through the integers that models compute from shapes.

    Args:
        model: A result of `load`, or an `onnx.Program`.

    Raises TypeError for anything else. The work is nodes times the depth of bodies, and
    times the few rounds that nested loops need.

    >>> from isoform import dtype, onnx
    >>> ty = onnx.TensorType(dtype("float32"), [onnx.Dim("batch"), 3])
    >>> x = onnx.Input(ty=ty, default=None, name="x")
    >>> twice = onnx.Output(onnx.Call("", "Concat", 13, None, {"axis": 0}, [x, x], 1), 0)
    >>> shape = onnx.Output(onnx.Call("", "Shape", 13, None, {}, [twice], 1), 0)
    >>> wrong = onnx.TensorType(dtype("float32"), [5, 4])
    >>> graph = onnx.Graph([x], [wrong, None], [twice, shape], result_names=["y", "s"])
    >>> shapes = infer_shapes(onnx.Program(graph, []))
    >>> shapes[twice].elem, shapes[twice].shape
    (dtype('float32'), ('batch*2', 3))
    >>> shapes[shape].elements
    ('batch*2', 3)
    >>> shapes.problems[0].message
    "output 'y' is declared as float[5, 4], but is float[batch*2, 3]"
    """
    return Shapes(model)


def fix_dims(
    model: OnnxModel | Program,
    dims: Mapping[str, int] | None = None,
    input_shapes: Mapping[str, Sequence[int | None]] | None = None,
) -> Program:
    """Replace dimensions of a model by numbers, in all types with these dimensions.

    A model with fixed dimensions can be simplified further than a general model.

    Args:
        model: A result of `load`, or an `onnx.Program`.
        dims: Extents by the names of dimensions.
        input_shapes: Shapes by the names of inputs; None is an unchanged extent. A
            dimension fixed by a shape is fixed at all its occurrences.

    Returns:
        The program; the model itself stays unchanged.

    Raises KeyError for names missing in the model, ValueError for negative extents,
    shapes of another rank, and numbers that contradict each other or the model,
    TypeError for extents that are not integers, and OverflowError for extents of more
    than 64 bits. Linear in the program.

    >>> from isoform import dtype, onnx
    >>> ty = onnx.TensorType(dtype("float32"), [onnx.Dim("batch"), 3])
    >>> x = onnx.Input(ty=ty, default=None, name="x")
    >>> relu = onnx.Output(onnx.Call("", "Relu", 13, None, {}, [x], 1), 0)
    >>> program = onnx.Program(onnx.Graph([x], [None], [relu]), [])
    >>> fixed = fix_dims(program, {"batch": 8})
    >>> infer_shapes(fixed)[fixed.graph.results[0]].shape
    (8, 3)
    >>> fix_dims(program, input_shapes={"x": (1, 2)})
    Traceback (most recent call last):
        ...
    ValueError: input 'x': expected 3 at axis 1, as the model declares, got 2
    """
    extents = [(name, extent(f"dimension '{name}'", dim)) for name, dim in (dims or {}).items()]
    shapes = [
        (name, [None if dim is None else extent(f"input '{name}'", dim) for dim in shape])
        for name, shape in (input_shapes or {}).items()
    ]
    return _core.onnx_fix_dims(model, extents, shapes)


def extent(place: str, size: Any) -> int:
    """Return a size as a number; raise TypeError and OverflowError with the place."""
    try:
        number = operator.index(size)
    except TypeError:
        raise TypeError(f"{place}: expected an int, got {type(size).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{place}: {number} needs more than 64 bits")
    return number
