"""ONNX models in programs that can be compared, hashed, walked and rewritten.

`onnx.load(path).program` is the computation of the model in a file. Programs can also
be built by hand; their names have no influence on the results:

>>> from isoform import onnx, structural_digest, structural_equal
>>> def program(op, name):
...     x = onnx.Input(ty=None, default=None, name=name)
...     call = onnx.Call("", op, 13, None, {}, [x], 1)
...     return onnx.Program(onnx.Graph([x], [None], [onnx.Output(call, 0)]), [])
>>> program("Relu", "x").graph.results[0].call.op
'Relu'
>>> structural_equal(program("Relu", "x"), program("Relu", "y"))
True
>>> structural_digest(program("Relu", "x")) == structural_digest(program("Tanh", "x"))
False

The classes of the nodes (`onnx.Program`, `onnx.Graph`, `onnx.Call`, ...) are
declared in Rust and have properties, constructors and documentation here:

>>> onnx.Call.op.__doc__
'Name of the operator; empty for a local function.'
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from isoform import _core
from isoform._core import OnnxModel as Model, OnnxRule as Rule, OnnxSite as Site
from isoform._onnx_diff import ModelChange, ModelDiff, diff
from isoform._onnx_diff_run import (
    Crossing,
    ModelRuns,
    NodePlace,
    PairError,
    ValuePlace,
    diff_run,
)
from isoform._onnx_load import load
from isoform._onnx_optimizer import (
    Case,
    Difference,
    Fired,
    Optimized,
    Report,
    RuleInfo,
    Verification,
    extract,
    optimize,
    rules,
    verify,
)
from isoform._onnx_shapes import Shapes, TypeProblem, ValueType, fix_dims, infer_shapes
from isoform._onnx_summary import (
    FunctionSummary,
    ModelsSummary,
    ModelSummary,
    ValueSummary,
    WeightDifference,
    WeightsDifference,
    WeightsOfType,
    WeightSummary,
    summary,
)
from isoform._onnx_values import as_value
from isoform.types._namespace import names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx import ModelProto

    # What `__getattr__` finds.
    import isoform.types.onnx as _types
    from isoform.types.onnx import *  # noqa: F403
    from isoform.types.onnx import Program

__all__ = [
    "Case",
    "Crossing",
    "Difference",
    "Fired",
    "FunctionSummary",
    "Model",
    "ModelChange",
    "ModelDiff",
    "ModelRuns",
    "ModelSummary",
    "ModelsSummary",
    "NodePlace",
    "Optimized",
    "PairError",
    "Report",
    "Rule",
    "RuleInfo",
    "Saved",
    "Shapes",
    "Site",
    "TypeProblem",
    "ValuePlace",
    "ValueSummary",
    "ValueType",
    "Verification",
    "WeightDifference",
    "WeightSummary",
    "WeightsDifference",
    "WeightsOfType",
    "diff",
    "diff_run",
    "evaluate",
    "extract",
    "fix_dims",
    "infer_shapes",
    "load",
    "optimize",
    "rules",
    "save",
    "summary",
    "to_bytes",
    "to_model_proto",
    "verify",
]
if TYPE_CHECKING:
    __all__ += _types.__all__


class Saved(NamedTuple):
    """Describes the files that `save` wrote."""

    #: The version of the file format.
    ir_version: int
    #: The version that the program asks for, if this version is too old for the contents;
    #: otherwise None.
    raised_from: int | None
    #: The number of bytes of the model's file.
    bytes: int
    #: The files of external data.
    external_files: list[Path]
    #: The number of bytes in these files.
    external_bytes: int


def save(
    model: Model | Program,
    path: str | os.PathLike[str],
    *,
    save_as_external_data: bool = False,
    all_tensors_to_one_file: bool = True,
    location: str | None = None,
    size_threshold: int = 1024,
    convert_attribute: bool = False,
    check: bool = True,
) -> Saved:
    """Write a model or program to a file.

    Names, documentation and metadata come from the program's ignored fields, except for
    entries about parts that no longer exist. Loading the file results in an equal
    program. The file appears completely or not at all, and may be the file from which
    the model was loaded. Weights are not copied in memory.

    The options of `onnx.save_model`:

    Args:
        model: A result of `load`, or an `onnx.Program`.
        path: The file to write.
        save_as_external_data: Whether large constants are written to separate files
            beside the model. Models of more than 2 GB, the limit of the format, are
            written in this form anyway.
        all_tensors_to_one_file: Whether to use a single file, or a file for each
            constant, named after the model and the constant.
        location: Name of the single file, relative to the model's folder; by default
            that of the model with `.data` appended.
        size_threshold: The smallest number of bytes of an external constant.
        convert_attribute: Whether constants in attributes are external, too.
        check: Whether the imported operator set must allow every node, except for nodes
            unchanged since loading.

    Raises OSError if a file cannot be written, ValueError if the program is not a
    valid model; the message names the place in it.

    The work is linear in the number of nodes times the nesting of graphs, plus
    the bytes of the constants.

    >>> import tempfile
    >>> from isoform import onnx, structural_equal
    >>> x = onnx.Input(ty=None, default=None, name="x")
    >>> relu = onnx.Call("", "Relu", 13, None, {}, [x], 1)
    >>> graph = onnx.Graph([x], [None], [onnx.Output(relu, 0)], result_names=["y"])
    >>> program = onnx.Program(graph, [])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = save(program, f"{folder}/relu.onnx")
    ...     loaded = load(f"{folder}/relu.onnx", mmap=False)
    >>> saved.ir_version, structural_equal(loaded.program, program)
    (7, True)
    >>> wrong = onnx.Output(onnx.Call("", "Relu", 13, None, {"beta": 1}, [x], 1), 0)
    >>> to_bytes(onnx.Program(onnx.Graph([x], [None], [wrong]), []))
    Traceback (most recent call last):
        ...
    ValueError: graph '' > node #0 (Relu) > attribute 'beta': Relu has no such attribute ...
    """
    saved = _core.onnx_save(
        model,
        Path(path),
        save_as_external_data=save_as_external_data,
        all_tensors_to_one_file=all_tensors_to_one_file,
        location=location,
        size_threshold=size_threshold,
        convert_attribute=convert_attribute,
        check=check,
    )
    return Saved(*saved)


def to_bytes(model: Model | Program, *, check: bool = True) -> bytes:
    """Return the contents of the file that `save` would write.

    Raises ValueError as `save`, and for models of more than 2 GB. The work is that of
    `save`.
    """
    return _core.onnx_to_bytes(model, check=check)


def to_model_proto(model: Model | Program, *, check: bool = True) -> ModelProto:
    """Return a model or program as a message of the `onnx` package.

    Raises ImportError if that package is not installed, and otherwise like `to_bytes`.
    The work is that of `save`.
    """
    try:
        from onnx import ModelProto
    except ImportError as error:
        raise ImportError(
            "to_model_proto needs the package onnx; install it, or use isoform.onnx.to_bytes"
        ) from error
    return ModelProto.FromString(to_bytes(model, check=check))


def evaluate(
    program: Any, inputs: Mapping[str, Any] | None = None, *, max_bytes: int = 1 << 31
) -> dict[str, Any]:
    """The outputs of a model, computed without a runtime.

    The evaluation checks the results of a rewrite, on any machine with the same bits.
    It is not fast: products and convolutions run on one core.

    Args:
        program: A `Model`, or an `onnx.Program`.
        inputs: A value for each input by its name: an array with `__dlpack__`, such as
            NumPy's, also with a data type of `ml_dtypes`; an `isoform.Tensor`; an array or
            list of strings; a list of these for a sequence; None for an absent optional
            value. An input with a default can be left out.
        max_bytes: The largest tensor that may be computed.

    Returns:
        The outputs by name, in their order: an `isoform.Tensor`, which has `numpy()`; an
        `onnx.StringTensor`; an array of these for a sequence; None for an absent optional
        value.

    Raises ValueError for inputs that are missing, unknown or of another type than
    declared, and for an operator without a kernel or a result; the message names the
    node. Raises KeyboardInterrupt promptly.

    >>> import numpy as np
    >>> from isoform import onnx
    >>> x = onnx.Input(ty=None, default=None, name="x")
    >>> double = onnx.Output(onnx.Call("", "Add", 14, None, {}, [x, x], 1), 0)
    >>> graph = onnx.Graph([x], [None], [double], result_names=["y"])
    >>> results = onnx.evaluate(onnx.Program(graph, []), {"x": np.float32([1, 2])})
    >>> results["y"].numpy().tolist()
    [2.0, 4.0]
    """
    given = [(name, as_value(value)) for name, value in (inputs or {}).items()]
    return dict(_core.onnx_evaluate(program, given, max_bytes))


if not TYPE_CHECKING:

    def __getattr__(name):
        if not name.startswith("_"):
            try:
                return _core.class_of(f"onnx.{name}")
            except KeyError:
                pass
        raise AttributeError(f"module 'isoform.onnx' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, *names("onnx")]
