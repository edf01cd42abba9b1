"""ONNX models as programs that can be compared, hashed, walked and rewritten.

`onnx.load(path).program` is the computation of the model in a file. Programs can
also be built by hand; their names have no influence on what they compute:

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
from typing import TYPE_CHECKING

from isoform import _core
from isoform._core import OnnxModel as Model
from isoform.types._namespace import names

if TYPE_CHECKING:
    # What `__getattr__` finds.
    from isoform.types.onnx import *  # noqa: F403

__all__ = ["Model", "load"]


def load(path: str | os.PathLike[str], *, mmap: bool = True, io_names: bool = False) -> Model:
    """Load the model in a file.

    Names, documentation, listing order and everything else that does not affect the
    computation are ignored by comparison; they are kept in ignored fields.

    Args:
        path: The file.
        mmap: Whether the file, and files of external data, are mapped instead
            of read. Mapped weights are not copied; the files must not be
            changed as long as the model or a tensor of it is in use.
        io_names: Whether the names of the main graph's inputs and outputs are
            part of the program.

    Raises OSError if a file cannot be read, ValueError, KeyError or TypeError
    for a model that is malformed; the message names the place in it.

    The work is linear in the number of nodes, and does not depend on the size
    of mapped weights. Other threads run meanwhile.

    >>> load("no-such-file.onnx")
    Traceback (most recent call last):
        ...
    OSError: ...
    """
    return _core.onnx_load(Path(path), mmap=mmap, io_names=io_names)


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
