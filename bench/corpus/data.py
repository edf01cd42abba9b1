"""Collections and large files to measure with; files that exist are kept."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

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


def invented_rows(index: Path, target: Path, count: int) -> Path:
    """Write an index of `count` rows: those of an index, over and over, with other digests.

    One row of twenty has the program of another one, and ten rows on average have the same
    architecture.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if target.exists():
        return target
    source = pq.read_table(index)
    partial = target.with_suffix(".partial")
    random = np.random.default_rng(1)

    def digests(seeds: np.ndarray) -> pa.Array:
        words = np.empty((len(seeds), 4), np.uint64)
        for place in range(4):
            words[:, place] = mixed(seeds * np.uint64(4) + np.uint64(place))
        text = words.tobytes().hex()
        offsets = np.arange(0, 64 * len(seeds) + 1, 64, dtype=np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text.encode())]
        return pa.StringArray.from_buffers(len(seeds), buffers[1], buffers[2])

    options = {"compression": "zstd", "use_dictionary": ["kind", "architecture"]}
    with pq.ParquetWriter(partial, source.schema, **options) as writer:
        for start in range(0, count, len(source)):
            table = source.slice(0, min(len(source), count - start))
            numbers = np.arange(start, start + len(table), dtype=np.uint64)
            copies = random.integers(0, count, len(table)).astype(np.uint64)
            programs = np.where(numbers % np.uint64(20) == 0, copies, numbers)
            shapes = mixed(programs) % np.uint64(max(1, count // 10))
            columns = {
                "path": pa.array([f"models/{n // 1000:07}/model-{n:010}.onnx" for n in numbers]),
                "stamp": pa.array(mixed(numbers) | np.uint64(1)),
                "digest": digests(programs),
                "architecture": digests(shapes + np.uint64(count)),
            }
            for name, values in columns.items():
                place = table.schema.get_field_index(name)
                field = table.schema.field(place)
                table = table.set_column(place, field, values.cast(field.type))
            writer.write_table(table)
    partial.rename(target)
    return target


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Return other numbers, which look random: the finaliser of SplitMix64."""
    import numpy as np

    bits = numbers + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


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
