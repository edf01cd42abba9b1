"""Isoform: declare the node types of an IR once, and compare, hash and rewrite programs.

`import isoform` loads the core alone. Dialects and everything else are loaded when they are
named, `isoform.relay` as well as `from isoform import relay`, or when a file has objects of
their types. The command loads less: the native module alone. pytest loads the plugin alone until a
test uses Isoform.
"""

from __future__ import annotations

import sys

# `typing` takes longer to import than all of this.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The names outside of the core, with the modules that define them.
_ELSEWHERE = {
    "NodeFunctor": "visitors",
    "NodeMutator": "visitors",
    "NodeVisitor": "visitors",
    "py_class": "dataclasses",
}
_MODULES = (
    "access_path",
    "container",
    "core",
    "corpus",
    "dataclasses",
    "error",
    "function",
    "fx",
    "interop",
    "ir",
    "jax",
    "mlir",
    "onnx",
    "pages",
    "pattern",
    "pto",
    "registry",
    "relay",
    "serialization",
    "store",
    "structural",
    "tensor",
    "testing",
    "text",
    "tir",
    "transform",
    "type_attrs",
    "types",
    "uses",
    "visitors",
)
# The modules that the command, and pytest in a run without Isoform, need.
_OF_COMMAND = frozenset(f"isoform.{name}" for name in ("__main__", "_core"))
_OF_PYTEST = frozenset(["isoform.pytest_plugin"])


def _import(name: str) -> Any:
    from importlib import import_module

    return import_module(f"isoform.{name}")


def _load_core() -> None:
    """Loads the core; O(1) after the first time."""
    if "__all__" not in globals():
        sys.meta_path[:] = [it for it in sys.meta_path if not isinstance(it, _CoreFirst)]
        base = _import("_base")
        # Functions and classes win over modules of the same name, such as `device`.
        globals().update({name: getattr(base, name) for name in (*base.__all__, "bool")})
        public = {*base.__all__, *_ELSEWHERE, *_MODULES} - {"function", "tensor"}
        # `from isoform import *` replaces no module of the standard library.
        public -= sys.stdlib_module_names
        globals()["__all__"] = sorted(public)


def __getattr__(name: str) -> Any:
    # Import statements ask for modules such as `_core` before they load them.
    is_private = name.startswith("_") and not name.startswith("__")
    if not is_private:
        _load_core()
    if name in globals():
        return globals()[name]
    if name in _MODULES:
        return _import(name)
    if name in _ELSEWHERE:
        found = getattr(_import(_ELSEWHERE[name]), name)
        globals()[name] = found
        return found
    if is_private:
        raise AttributeError(f"module 'isoform' has no attribute {name!r}")
    raise AttributeError(_import("_left_out").answer(name))


def __dir__() -> list[str]:
    _load_core()
    return sorted({*globals(), *_ELSEWHERE, *_MODULES})


class _CoreFirst:
    """Loads the core before any module that is not among those needed without it."""

    def __init__(self, without: frozenset[str]) -> None:
        self.without = without

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        if not name.startswith("isoform.") or name in self.without:
            return None
        _load_core()
        loaded = sys.modules.get(name)
        if loaded is None:
            return None
        # A part of the core must not run a second time.
        from importlib.machinery import ModuleSpec

        # The import uses the spec of a module that it finds in `sys.modules`.
        loaded.__spec__ = ModuleSpec(name, _Loaded(loaded))  # pyright: ignore[reportArgumentType]
        return loaded.__spec__


class _Loaded:
    """The loader of a module that is there already."""

    def __init__(self, module: Any) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, _spec: Any) -> Any:
        return self.module

    def exec_module(self, module: Any) -> None:
        module.__spec__ = self.spec


def _is_command() -> bool:
    """True while the process starts the command: `python -m isoform`, or the script `isoform`."""
    if sys.argv[:1] == ["-m"]:
        position = sys.orig_argv.index("-m") + 1 if "-m" in sys.orig_argv else 0
        return sys.orig_argv[position : position + 1] == ["isoform"]
    started = sys.argv[0] if sys.argv else ""
    return started.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") == "isoform"


if _is_command():
    sys.meta_path.insert(0, _CoreFirst(_OF_COMMAND))  # pyright: ignore[reportArgumentType]
elif "_pytest.config" in sys.modules:
    # Runs of pytest import the plugin, whether their tests use Isoform or not.
    sys.meta_path.insert(0, _CoreFirst(_OF_PYTEST))  # pyright: ignore[reportArgumentType]
else:
    _load_core()
