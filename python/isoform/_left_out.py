"""The names of tvm-ffi that Isoform leaves out, and the answer to a user of one."""

from __future__ import annotations

import importlib

__all__ = ["LEFT_OUT", "answer"]

_KEEP = "keep tvm_ffi for it; both work in one process"

LEFT_OUT = {
    "LIB": _KEEP,
    "StreamContext": _KEEP,
    "config": _KEEP,
    "cpp": _KEEP,
    "get_raw_stream": _KEEP,
    "libinfo": _KEEP,
    "load_module": _KEEP,
    "module": _KEEP,
    "stream": _KEEP,
    "stub": "isoform.stubgen writes stubs of types; for C++, keep tvm_ffi",
    "system_lib": _KEEP,
    "use_raw_stream": _KEEP,
    "use_torch_stream": _KEEP,
    "utils": _KEEP,
}
"""By name: why it is missing, and what to write. Isoform loads no libraries of C++ and
runs nothing on devices."""


def answer(name: str) -> str:
    """The message for a name that `isoform` does not have."""
    text = f"module 'isoform' has no attribute '{name}'"
    why = LEFT_OUT.get(name)
    if why is not None:
        return f"{text}: {why} (docs/tvm-ffi.md)"
    # Names of classes alone, because others are asked for by tools, and this loads modules.
    if not name[:1].isupper():
        return text
    modules = ("isoform.ir", "isoform.tir", "isoform.relay")
    places = [m for m in modules if name in importlib.import_module(m).__all__]
    return f"{text}; write {' or '.join(f'{m}.{name}' for m in places)}" if places else text
