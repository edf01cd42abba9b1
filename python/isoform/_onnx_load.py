"""Reading of models; `isoform.onnx` has it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from isoform import _core

if TYPE_CHECKING:
    from onnx import ModelProto

    from isoform._core import OnnxModel as Model
    from isoform.types.onnx import Program

__all__ = ["load", "loaded"]


def load(
    path: str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto,
    *,
    mmap: bool = True,
    io_names: bool = False,
    follow_links: bool = False,
) -> Model:
    """Load the model in a file, in memory, or in a message of the `onnx` package.

    Comparison ignores names, documentation, listing order and all other data that does
    not affect the computation; ignored fields keep these data.

    Args:
        path: The file; or the contents in bytes; or an `onnx.ModelProto`. The latter
            two must hold all data, since they have no folder.
        mmap: Whether the file, and files of external data, are mapped instead of read.
            Mapped weights are not copied; the files must not be changed while the model
            or any of its tensors is in use.
        io_names: Whether the names of the main graph's inputs and outputs are
            part of the program.
        follow_links: Whether external data may be a symbolic link out of the model's
            folder, as in caches of downloaded models. By default it may not, since the
            author of a model could make it read any file.

    Raises OSError if a file cannot be read, ValueError, KeyError or TypeError
    for a model that is malformed; the message names the place in it.

    The work is linear in the number of nodes, and does not depend on the size
    of mapped weights. Other threads run meanwhile.

    >>> load("no-such-file.onnx")
    Traceback (most recent call last):
        ...
    OSError: ...
    """
    if isinstance(path, (bytes, bytearray, memoryview)):
        return _core.onnx_load_bytes(path, io_names=io_names)
    if isinstance(path, (str, os.PathLike)):
        return _core.onnx_load(Path(path), mmap=mmap, io_names=io_names, follow_links=follow_links)
    encode = getattr(path, "SerializeToString", None)
    if encode is None:
        raise TypeError(f"expected a path, bytes or an onnx.ModelProto, got {type(path).__name__}")
    return _core.onnx_load_bytes(encode(), io_names=io_names)


def loaded(
    model: Model | Program | str | os.PathLike[str] | bytes | bytearray | memoryview | ModelProto,
) -> Any:
    """Load any argument that `load` accepts; return a model, or any further value, unchanged.

    Raises the same exceptions as `load`.

    >>> loaded("no-such-file.onnx")
    Traceback (most recent call last):
        ...
    OSError: ...
    """
    is_file = isinstance(model, (str, os.PathLike, bytes, bytearray, memoryview))
    if is_file or hasattr(model, "SerializeToString"):
        return load(cast("str | bytes | ModelProto", model))
    return model
