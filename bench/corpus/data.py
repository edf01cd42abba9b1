"""Collections and large files to measure with; files that exist are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path

CHUNK = 64 << 20


def small_models(source: Path, target: Path, count: int) -> Path:
    """Write `count` models of differing contents: the models of a folder, over and over.

    Each has a node of its own. Protocol buffers that are concatenated are merged, so the
    models need no decoding.
    """
    models = [path.read_bytes() for path in sorted(source.glob("*.onnx"))]
    models = [model for model in models if len(model) < 100_000]
    for number in range(count):
        path = target / f"{number // 1000:03}" / f"{number:06}.onnx"
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(models[number % len(models)] + more_nodes(number))
    return target


def more_nodes(number: int) -> bytes:
    """Return a model with a Constant, and an output with its value."""

    def field(key: int, content: bytes) -> bytes:
        return bytes([key << 3 | 2, len(content)]) + content

    value = number.to_bytes(4, "little")
    # dims, data_type and raw_data of a tensor with one float32.
    tensor = bytes([0x08, 1, 0x10, 1]) + field(9, value)
    # The name, the value, and the kind of an attribute that is a tensor.
    attribute = field(1, b"value") + field(5, tensor) + bytes([0xA0, 0x01, 4])
    node = field(2, b"number") + field(4, b"Constant") + field(5, attribute)
    output = field(1, b"number")
    return field(7, field(1, node) + field(12, output))


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
