"""Run random models and their optimised forms by onnxruntime, and compare bit by bit.

    python scripts/judge_with_onnxruntime.py FOLDER

The folder was written by the example `onnx_programs` of `isoform-testing`. Without its own
optimisations, the runtime has to give the same bits for both models of a pair; 16-bit
floats, around which it inserts casts, may differ by 2e-3. Pairs with an original that the
runtime cannot run are counted, and results with a disagreement between the runtime and
Isoform's evaluator are, too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

HALF = 2e-3
TYPES = {"bool": "bool", **{name: name for name in ("float16", "float32", "float64")}}
TYPES |= {f"{kind}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def session(path: Path) -> ort.InferenceSession:
    """Open a model without any optimisation."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def array(described: dict[str, Any]) -> np.ndarray | None:
    """Make an array of a description; None for a type that NumPy lacks."""
    shape = described.get("shape")
    if described["type"] == "string":
        texts = [bytes.fromhex(text).decode() for text in described["strings"]]
        return np.array(texts, dtype=object).reshape(shape)
    if described["type"] not in TYPES:
        return None
    data = bytes.fromhex(described["bytes"])
    return np.frombuffer(data, TYPES[described["type"]]).reshape(shape)


def same(left: np.ndarray, right: np.ndarray, tolerance: float = 0.0) -> bool:
    """Compare two results; any two NaNs are equal."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind != "f":
        return bool(np.array_equal(left, right))
    if left.dtype.itemsize == 2:
        tolerance = max(tolerance, HALF)
    nan = np.isnan(left)
    if not np.array_equal(nan, np.isnan(right)):
        return False
    if not tolerance:
        # Zeros have a sign.
        return bool(np.all(nan | ((left == right) & (np.signbit(left) == np.signbit(right)))))
    with np.errstate(all="ignore"):
        near = np.abs(left.astype("f8") - right) <= tolerance * np.maximum(1, np.abs(left))
    return bool(np.all(nan | near | (left == right)))


def judge(path: Path, counts: Counter[str]) -> str | None:
    """Judge one pair; the text describes the difference of the optimised model."""
    sets = json.loads(path.with_suffix(".json").read_text())
    feeds = [{it["name"]: array(it) for it in one["inputs"]} for one in sets]
    if any(value is None for feed in feeds for value in feed.values()):
        counts["inputs of types that NumPy lacks"] += 1
        return None
    try:
        original = session(path)
        expected = [original.run(None, feed) for feed in feeds]
    except Exception:
        counts["not run by onnxruntime"] += 1
        return None
    try:
        optimized = session(path.with_suffix(".optimized.onnx"))
        names = {value.name for value in optimized.get_inputs()}
        got = [
            optimized.run(None, {name: value for name, value in feed.items() if name in names})
            for feed in feeds
        ]
    except Exception as error:
        return f"the optimised model does not run: {error}"
    for which, (left, right) in enumerate(zip(expected, got, strict=True)):
        for at, pair in enumerate(zip(left, right, strict=True)):
            before, after = (np.asarray(value) for value in pair)
            if same(before, after):
                continue
            # The runtime computes Where by adding the values of both sides, which loses -0.0.
            if b"Where" in path.read_bytes() and np.array_equal(before, after, equal_nan=True):
                counts["results in which Where lost the sign of zero"] += 1
            else:
                return f"result {at} with inputs {which}: {pair[0]!r} became {pair[1]!r}"
    for one, results in zip(sets, expected, strict=True):
        for described, value in zip(one["results"], results, strict=False):
            ours = array(described)
            if ours is not None and not same(np.asarray(value), ours, 1e-3):
                counts["results on which the evaluator disagrees"] += 1
                print(f"{path.name}: onnxruntime {value!r}, evaluator {ours!r}")
    counts["same"] += 1
    return None


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    for described in sorted(args.folder.glob("*.json"), key=lambda path: int(path.stem)):
        what = judge(described.with_suffix(".onnx"), counts)
        if what is not None:
            wrong += 1
            print(f"{described.with_suffix('.onnx')}: {what}")
    for what, count in sorted(counts.items()):
        print(f"{count} {what}")
    print(f"{wrong} differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
