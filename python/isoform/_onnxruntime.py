"""Runs ONNX models with onnxruntime, in a separate process.

`isoform optimize --verify` and `isoform.onnx.verify` use it where onnxruntime is
installed. Some models make the runtime itself crash, and the process that waits for the
results must not run it. Models and values go through pipes, so no file is left, however
the processes end.

The parent sends a header and two blobs: the model, or the name of its file, and the sets
of inputs in the binary form of `isoform.serialization`, as a list of lists of pairs of a
name and a value. The child returns one blob for each set: results in the same form, or
the text of an error.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

#: The time limit for one set of inputs, since a model may contain an endless loop.
MAX_SECONDS = 600.0

#: The header of a blob: the kind and the length.
_HEADER = struct.Struct("<cQ")


def find() -> tuple[str, Any] | None:
    """Return the name of the runtime and the function that runs models; None without it."""
    if any(importlib.util.find_spec(name) is None for name in ("numpy", "onnxruntime")):
        return None
    # Slow to import, and `import isoform` imports this module.
    from importlib import metadata

    try:
        version = metadata.version("onnxruntime")
    except metadata.PackageNotFoundError:
        # Builds for accelerators are other distributions with the same module.
        version = ""
    return f"onnxruntime {version}".strip(), run


def run(model: str | os.PathLike[str] | bytes, cases: bytes) -> list[bytes | str]:
    """Run a model on sets of inputs; return the results of each, or the reason why not."""
    results: list[bytes | str] = []
    while True:
        status, count, is_late = _run_rest(model, cases, results)
        if len(results) >= count:
            return results
        if is_late:
            # The other sets would take as long.
            reason = f"onnxruntime took longer than {MAX_SECONDS:g} s"
            return results + [reason] * (count - len(results))
        # The runtime died on this set; the remaining sets may still run.
        results.append(f"onnxruntime ended with {_death(status)}")
        if len(results) >= count:
            return results


def _run_rest(
    model: str | os.PathLike[str] | bytes, cases: bytes, results: list[bytes | str]
) -> tuple[int, int, bool]:
    """Run the sets after those with results; return status, number of sets, whether it was late."""
    kind, data = (b"B", model) if isinstance(model, bytes) else (b"F", os.fsencode(model))
    serve = f"from isoform import _onnxruntime; _onnxruntime._serve({len(results)})"
    command = [sys.executable, "-c", serve]
    path = [str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        # No file of the current folder takes the place of a module.
        "PYTHONSAFEPATH": "1",
    }
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as child:
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.kill()

        stdin, stdout = child.stdin, child.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            for one, blob in ((kind, data), (b"C", cases)):
                stdin.write(_HEADER.pack(one, len(blob)))
                stdin.write(blob)
            stdin.close()
        except BrokenPipeError:
            pass
        first = _read_within(stdout, stop)
        # Without even a number of sets, one failure covers all sets.
        count = int(first[1]) if first is not None else len(results) + 1
        while (blob := _read_within(stdout, stop)) is not None:
            tag, content = blob
            results.append(content if tag == b"R" else content.decode(errors="replace"))
    return child.returncode, count, late.is_set()


def _read_within(stream: IO[bytes], stop: Callable[[], None]) -> tuple[bytes, bytes] | None:
    """Read a blob; stop the writer if reading takes too long."""
    timer = threading.Timer(MAX_SECONDS, stop)
    timer.daemon = True
    timer.start()
    try:
        return _read(stream)
    finally:
        timer.cancel()


def _death(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _read(stream: IO[bytes]) -> tuple[bytes, bytes] | None:
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    tag, length = _HEADER.unpack(header)
    blob = stream.read(length)
    return (tag, blob) if len(blob) == length else None


def _serve(skipped: int) -> None:
    """Run models for the parent process."""
    # The output of a library must not get between the results.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def send(tag: bytes, blob: bytes) -> None:
        out.write(_HEADER.pack(tag, len(blob)))
        out.write(blob)
        out.flush()

    model, cases = _read(sys.stdin.buffer), _read(sys.stdin.buffer)
    if model is None or cases is None:
        return

    from isoform import serialization

    sets = list(serialization.from_bytes(cases[1]))
    send(b"N", str(len(sets)).encode())
    try:
        session = _session(model[1] if model[0] == b"B" else os.fsdecode(model[1]))
    except Exception as error:
        for _ in sets[skipped:]:
            send(b"E", _line(error).encode())
        return
    for inputs in sets[skipped:]:
        try:
            feed = {name: _to_numpy(value) for name, value in inputs}
            made = [_from_numpy(value) for value in session.run(None, feed)]
            blob = serialization.to_bytes(made)
        except Exception as error:
            send(b"E", _line(error).encode())
        else:
            send(b"R", blob)


def _line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return " ".join(lines)[:500] or type(error).__name__


def _session(model: str | bytes) -> Any:
    import onnxruntime  # pyright: ignore[reportMissingImports]

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _to_numpy(value: Any) -> Any:
    import numpy

    from isoform import onnx

    if isinstance(value, onnx.StringTensor):
        texts = [bytes(text).decode() for text in value.values]
        return numpy.array(texts, dtype=object).reshape([*value.shape])
    return value.numpy()


def _from_numpy(value: Any) -> Any:
    import numpy

    from isoform import Tensor, onnx

    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, list):
        return [_from_numpy(item) for item in value]
    array = numpy.asarray(value)
    if array.dtype.kind in "OUS":
        texts = [str(text).encode() for text in array.reshape(-1)]
        return onnx.StringTensor(list(array.shape), texts)
    order = array.astype(array.dtype.newbyteorder("<"), copy=False)
    data = numpy.ascontiguousarray(order).tobytes()
    return Tensor.from_bytes(data, list(array.shape), array.dtype.name)
