"""Collections and large files to measure with; files that exist are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

CHUNK = 64 << 20


def small_models(source: Path, target: Path, count: int) -> Path:
    """Write `count` models of differing contents: the models of a folder, over and over.

    Each has a `doc_string` of its own, the field 6 of the message. Protocol buffers that
    are concatenated are merged, so the model needs no decoding.
    """
    models = [path.read_bytes() for path in sorted(source.glob("*.onnx"))]
    models = [model for model in models if len(model) < 100_000]
    for number in range(count):
        path = target / f"{number // 1000:03}" / f"{number:06}.onnx"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"number {number:08}".encode()
        path.write_bytes(models[number % len(models)] + bytes([0x32, len(text)]) + text)
    return target


def large_file(target: Path, size: int) -> Path:
    """Write a safetensors file with one random tensor of `size` bytes."""
    path = target / f"{size}.safetensors"
    if path.exists():
        return path
    target.mkdir(parents=True, exist_ok=True)
    header = {"weight": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for start in range(0, size, CHUNK):
            file.write(os.urandom(min(CHUNK, size - start)))
    return path
