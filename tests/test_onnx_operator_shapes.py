"""Derived shapes of the operator tests of the `onnx` package.

A shape has to equal that of the expected result, and must be known wherever the shape
inference of the package knows it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx_reference import node_cases

from isoform import onnx as ours

onnx = pytest.importorskip("onnx", reason="the onnx package has the operator tests")

# Tests whose shape the package derives and Isoform leaves open, and the reason why.
LEFT_OPEN: dict[str, str] = {
    name: reason
    for reason, names in {
        "training": "adagrad adagrad_multiple adam adam_multiple momentum momentum_multiple "
        "nesterov_momentum",
        "the window that starts on padding is not left out": (
            "averagepool_2d_ceil_last_window_starts_on_pad "
            "maxpool_2d_ceil_output_size_reduce_by_one"
        ),
        "the axis is an input": "dft dft_axis dft_inverse",
        "the type of the optional value is not followed": (
            "optional_get_element_optional_tensor optional_get_element_tensor"
        ),
        "the body is not followed": "scan_sum",
    }.items()
    for name in (f"test_{it}" for it in names.split())
}


def without_result_types(model: Any) -> Any:
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for value in bare.graph.output:
        value.ClearField("type")
    return bare


def sizes(value: Any) -> tuple[int, ...] | None:
    """The static shape in a type of the package."""
    if not value.HasField("type") or not value.type.HasField("tensor_type"):
        return None
    if not value.type.tensor_type.HasField("shape"):
        return None
    dims = value.type.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims):
        return None
    return tuple(dim.dim_value for dim in dims)


def shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of an expected result that is a tensor."""
    if isinstance(value, onnx.TensorProto):
        return tuple(value.dims)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).shape
    return None


def test_shapes_are_right_and_known() -> None:
    missing, wrong = [], []
    known = 0
    for case in node_cases():
        bare = without_result_types(case.model)
        program = ours.load(bare)
        shapes = ours.infer_shapes(program)
        try:
            theirs = onnx.shape_inference.infer_shapes(bare, data_prop=True).graph.output
        except onnx.shape_inference.InferenceError:
            theirs = bare.graph.output
        results = zip(program.program.graph.results, theirs, case.data_sets[0][1], strict=True)
        for result, their, expected in results:
            found = shapes[result] if result is not None else None
            shape = getattr(found, "shape", None)
            static = shape is not None and all(isinstance(size, int) for size in shape)
            actual = shape_of(expected)
            if static and actual is not None:
                known += 1
                if tuple(shape) != actual:
                    wrong.append((case.name, tuple(shape), actual))
            if not static and sizes(their) is not None and case.name not in LEFT_OPEN:
                missing.append((case.name, shape, sizes(their)))
    assert not wrong
    assert not missing, f"{len(missing)}: {missing}"
    assert known >= 1700
