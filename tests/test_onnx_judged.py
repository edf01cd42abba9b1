"""The operator tests of the `onnx` package as tests of optimisation.

With constants for inputs, an operator test checks the evaluator; without changes, the
test checks that optimisation keeps the results. Models and expected results come from
the `onnx` package, and onnxruntime, with its optimisations off, runs the remaining
model.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnx_reference import node_cases, session_of
from scale import FULL

from isoform import onnx as ours

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime", reason="onnxruntime runs the models: not installed")

# Folded completely, of some 1,660 cases with tensor results.
FOLDED = 1000 if FULL else 250


def tensors(values: Any) -> bool:
    return all(isinstance(value, (np.ndarray, np.generic, int, float)) for value in values)


def cases() -> list[Any]:
    """The generated tests whose results do not differ from run to run."""
    return [
        case
        for case in node_cases()
        if "training" not in case.name and "bernoulli" not in case.name
        if tensors(case.data_sets[0][1])
    ]


@pytest.fixture(scope="module")
def usable() -> list[Any]:
    """All cases, or two for each list of operators."""
    if FULL:
        return cases()
    found: dict[Any, list[Any]] = {}
    for case in cases():
        found.setdefault(tuple(node.op_type for node in case.model.graph.node), []).append(case)
    return [case for same in found.values() for case in same[:2]]


def constant(case: Any) -> Any:
    """The model with its inputs as initializers; None if these are not tensors."""
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for value, data in zip(case.model.graph.input, case.data_sets[0][0], strict=False):
        if isinstance(data, onnx.TensorProto):
            tensor = onnx.TensorProto.FromString(data.SerializeToString())
        elif isinstance(data, (np.ndarray, np.generic)):
            tensor = onnx.numpy_helper.from_array(np.asarray(data))
        else:
            return None
        if tensor.data_type != value.type.tensor_type.elem_type:
            return None
        tensor.name = value.name
        model.graph.initializer.append(tensor)
    del model.graph.input[:]
    model.ir_version = max(model.ir_version, 4)
    return model


def run(model: Any, feed: dict[str, np.ndarray]) -> list[Any]:
    session = session_of(model)
    inputs = {value.name for value in session.get_inputs()}
    return session.run(None, {name: value for name, value in feed.items() if name in inputs})


def optimized(model: Any, **options: Any) -> Any:
    done = ours.optimize(ours.load(model), **options)
    return ours.to_model_proto(done.program)


def folded(model: Any) -> list[np.ndarray] | None:
    """The results of a model of constants alone."""
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            known[node.output[0]] = node.attribute[0].t
        elif node.op_type == "Identity" and node.input[0] in known:
            known[node.output[0]] = known[node.input[0]]
        else:
            return None
    names = [value.name for value in model.graph.output]
    if not all(name in known for name in names):
        return None
    return [onnx.numpy_helper.to_array(known[name]) for name in names]


def agrees(case: Any, got: list[Any]) -> bool:
    for want, value in zip(case.data_sets[0][1], got, strict=True):
        want, value = np.asarray(want), np.asarray(value)
        if want.shape != value.shape or want.dtype != value.dtype:
            return False
        if want.dtype.kind in "OUS":
            texts = [
                [x.decode() if isinstance(x, bytes) else str(x) for x in it.ravel()]
                for it in (want, value)
            ]
            if texts[0] != texts[1]:
                return False
            continue
        wide = "c16" if want.dtype.kind == "c" else "f8"
        near = {"rtol": max(case.rtol, 1e-3), "atol": max(case.atol, 1e-5), "equal_nan": True}
        if not np.allclose(want.astype(wide), value.astype(wide), **near):
            return False
    return True


def test_constants_are_folded_and_right(usable: list[Any]) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for case in usable:
        model = constant(case)
        if model is None:
            continue
        names = [value.name for value in model.graph.output]
        after = optimized(model, fold="all", max_constant=1 << 30)
        assert [value.name for value in after.graph.output] == names, case.name
        got = folded(after)
        if got is None:
            counts["kept"] += 1
        elif agrees(case, got):
            counts["folded"] += 1
        else:
            wrong.append(case.name)
    assert not wrong
    assert counts["folded"] >= FOLDED, counts


def test_nothing_breaks_that_was_right(usable: list[Any]) -> None:
    broken = []
    judged = 0
    for case in usable:
        inputs = case.data_sets[0][0]
        if not all(isinstance(value, (np.ndarray, np.generic)) for value in inputs):
            continue
        names = [value.name for value in case.model.graph.input]
        feed = {name: np.asarray(value) for name, value in zip(names, inputs, strict=False)}
        try:
            right = agrees(case, run(case.model, feed))
        except Exception:
            right = False
        if not right:
            continue
        judged += 1
        try:
            if not agrees(case, run(optimized(case.model, fold="all"), feed)):
                broken.append(case.name)
        except Exception as error:
            broken.append(f"{case.name}: {error}")
    assert not broken
    assert judged >= FOLDED
