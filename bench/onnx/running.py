"""Asks onnxruntime and onnx about a model for the judge, both in separate processes.

    python -m bench.onnx.running contents MODEL
    python -m bench.onnx.running reference MODEL FILE
    python -m bench.onnx.running compare MODEL FILE

The last line of the output is JSON. A crash of the runtime ends only this process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

# The first axis and the others, tried until two sets of sizes run.
SIZES = [(2, 3), (1, 7), (2, 16), (1, 17), (2, 32), (1, 64), (1, 96), (1, 128), (1, 160)]
SIZES += [(1, 224), (1, 256), (1, 320), (1, 512), (1, 576), (1, 640), (1, 1024), (1, 1280)]
SIZES += [(1, 4096), (1, 16000), (1, 40000), (128, 128), (1, 1), (3, 3), (512, 512)]
SECONDS = 60

NUMPY = {
    "float": "f4", "double": "f8", "float16": "f2", "bool": "?",
    "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8",
    "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8",
}  # fmt: skip


def graphs(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.GraphProto]:
    """Yield the graphs in attributes of nodes."""
    for node in nodes:
        for attr in node.attribute:
            if attr.type == attr.GRAPH:
                yield attr.g
            yield from attr.graphs


def bytes_of(tensor: onnx.TensorProto) -> int:
    """Return the size of a tensor in memory."""
    count = int(np.prod(tensor.dims))
    if tensor.data_type == onnx.TensorProto.STRING:
        return sum(len(text) for text in tensor.string_data)
    return count * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def contents(path: str) -> dict[str, Any]:
    """Count the nodes but `Constant`, and the bytes of constants, in all scopes."""
    model = onnx.load(path, load_external_data=False)
    nodes = weights = 0
    pending = [(model.graph.node, model.graph.initializer)]
    pending += [(function.node, ()) for function in model.functions]
    while pending:
        listed, tensors = pending.pop()
        weights += sum(map(bytes_of, tensors))
        for node in listed:
            nodes += node.op_type != "Constant"
            values = [attr.t for attr in node.attribute if attr.type == attr.TENSOR]
            weights += sum(map(bytes_of, values))
        pending += [(graph.node, graph.initializer) for graph in graphs(listed)]
    return {"nodes": nodes, "weights": weights, "file": Path(path).stat().st_size}


def session(path: str) -> Any:
    """Open a model without any optimisation."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def shape_of(value: Any, sizes: tuple[int, int], names: dict[str, int]) -> list[int]:
    """Choose the sizes of an input; a name stands for the same size everywhere."""
    shape = []
    for axis, extent in enumerate(value.shape):
        if isinstance(extent, int) and extent > 0:
            shape.append(extent)
            continue
        size = sizes[0] if axis == 0 and len(value.shape) > 1 else sizes[1]
        shape.append(names.setdefault(extent, size) if extent else size)
    return shape


def inputs(opened: Any, sizes: tuple[int, int], seed: int, ones: bool) -> dict[str, np.ndarray]:
    """Draw inputs; lengths and rates get numbers that models accept."""
    random = np.random.default_rng(seed)
    names: dict[str, int] = {}
    feed = {}
    for value in opened.get_inputs():
        shape = shape_of(value, sizes, names)
        kind = value.type.removeprefix("tensor(").removesuffix(")")
        name = value.name.lower()
        if kind == "string":
            feed[value.name] = np.full(shape, "text", dtype=object)
            continue
        dtype = np.dtype(NUMPY[kind])
        if dtype.kind == "f":
            drawn = np.ones(shape) if "scale" in name else random.standard_normal(shape)
        elif name in ("sr", "sample_rate"):
            drawn = np.full(shape, 16000)
        elif "len" in name:
            drawn = np.full(shape, sizes[1])
        elif "shape" in name:
            drawn = np.full(shape, 64)
        else:
            limit = {"b": 2, "u": 200}.get(dtype.kind, 3)
            drawn = np.ones(shape) if ones else random.integers(0, limit, shape)
        feed[value.name] = np.asarray(drawn).astype(dtype)
    return feed


def flat(results: list[Any]) -> dict[str, np.ndarray]:
    """Name the results that are tensors by their position."""
    named = {}
    for at, result in enumerate(results):
        items = result if isinstance(result, list) else [result]
        for part, item in enumerate(items):
            named[f"out{at}_{part}"] = np.asarray(item if not isinstance(item, dict) else str(item))
    return named


def reference(path: str, file: str) -> dict[str, Any]:
    """Run the original for two assignments of sizes, and keep inputs and results."""
    opened = session(path)
    free = any(not isinstance(size, int) for it in opened.get_inputs() for size in it.shape)
    kept: dict[str, Any] = {}
    found: list[list[int]] = []
    start, problem = time.monotonic(), "no sizes fit"
    for sizes in SIZES if free else [(1, 1)]:
        for ones in (False, True):
            if time.monotonic() - start > SECONDS or len(found) == 2:
                break
            try:
                feeds = [inputs(opened, sizes, seed, ones) for seed in (0, 1)]
                results = [flat(opened.run(None, feed)) for feed in feeds]
            except Exception as error:
                problem = str(error)[:200]
                continue
            if not all(value.size for value in results[0].values()):
                continue
            for seed in (0, 1):
                prefix = f"{len(found)}/{seed}"
                kept |= {f"{prefix}/in/{name}": value for name, value in feeds[seed].items()}
                kept |= {f"{prefix}/out/{name}": value for name, value in results[seed].items()}
            found.append(list(sizes))
            break
    np.savez(file, names=np.array([it.name for it in opened.get_outputs()]), **kept)
    return {"sizes": found} if found else {"error": problem}


def compare(path: str, file: str) -> dict[str, Any]:
    """Run another model on the kept inputs."""
    kept = np.load(file, allow_pickle=True)
    opened = session(path)
    names = [str(name) for name in kept["names"]]
    if sorted(names) != sorted(it.name for it in opened.get_outputs()):
        return {"verdict": "wrong", "why": "outputs have other names"}
    runs = sorted({"/".join(key.split("/")[:2]) for key in kept.files if "/" in key})
    exact, largest, why = True, 0.0, ""
    for run in runs:
        feed = {
            it.name: kept[f"{run}/in/{it.name}"]
            for it in opened.get_inputs()
            if f"{run}/in/{it.name}" in kept.files
        }
        results = flat(opened.run(names, feed))
        for name, got in results.items():
            want = kept[f"{run}/out/{name}"]
            if want.shape != got.shape or want.dtype != got.dtype:
                return {"verdict": "wrong", "why": f"{name}: {want.shape} became {got.shape}"}
            if want.dtype.kind != "f":
                if not np.array_equal(want, got):
                    return {"verdict": "wrong", "why": f"{name}: other elements"}
            elif not np.array_equal(want, got, equal_nan=True):
                exact = False
                if not np.array_equal(np.isnan(want), np.isnan(got)):
                    return {"verdict": "wrong", "why": f"{name}: NaN elsewhere"}
                with np.errstate(all="ignore"):
                    apart = np.nanmax(np.abs(want.astype("f8") - got.astype("f8")))
                    scale = np.nanmax(np.abs(want.astype("f8"))) + 1e-9
                if apart / scale > largest:
                    largest, why = float(apart / scale), f"{name}: {apart / scale:.1e}"
    limits = [("close", 1e-5), ("near", 1e-3)]
    named = next((name for name, limit in limits if largest <= limit), "off")
    return {"verdict": "exact" if exact else named, "why": why}


def main() -> None:
    """Run one of the questions."""
    name, *arguments = sys.argv[1:]
    questions = {"contents": contents, "reference": reference, "compare": compare}
    print("\n" + json.dumps(questions[name](*arguments)))


if __name__ == "__main__":
    main()
