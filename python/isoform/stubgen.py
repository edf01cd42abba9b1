"""Writes stubs for types that are registered, so that type checkers know them.

    python -m isoform.stubgen [MODULE ...] --prefix KEY [--output FILE]

imports the modules, which register types, and writes a stub of all types whose
keys begin with `KEY` and a dot. A library that declares node types in Rust as
`calc.Add`, `calc.Const` in its extension module `calc_ir` writes its stub with

    python -m isoform.stubgen calc_ir --prefix calc --output calc.pyi

Classes declared in Python need no stub.
"""

# Private to the package, and this is in it.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import argparse
import builtins
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isoform import _core

__all__ = ["stub_of", "stub_of_types"]

# What a schema calls its parts, and where a stub finds them.
_NAMES = {
    "Any": "typing.Any",
    "Literal": "typing.Literal",
    "Object": "isoform.Object",
    "Array": "isoform.Array",
    "List": "isoform.List",
    "Map": "isoform.Map",
    "Dict": "isoform.Dict",
    "Shape": "isoform.Shape",
    "Tensor": "isoform.Tensor",
    "Device": "isoform.Device",
    "dtype": "isoform.dtype",
    "Function": "isoform.Function",
    "Callable": "collections.abc.Callable",
}
# A constructor takes more than a property gives back.
_ACCEPTED = {
    "Array": "collections.abc.Sequence",
    "List": "collections.abc.Sequence",
    "Map": "collections.abc.Mapping",
    "Dict": "collections.abc.Mapping",
    "dtype": "isoform.dtype | str",
    "Shape": "collections.abc.Sequence[int]",
    "Function": "collections.abc.Callable[..., typing.Any]",
}
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|[A-Za-z_][\w.]*|.", re.DOTALL)
# The beginnings of type keys that have a stub in the package.
_SHIPPED = ("ir", "onnx", "relay", "tir")

_HEADER = '''\
# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `{prefix}`."""

{imports}

__all__ = [{names}]
'''


def stub_of_types(prefix: str) -> str:
    """Return the stub of all registered types whose keys begin with `prefix` and a dot.

    Types one level below only; those of a longer prefix are in a stub of their
    own. The order is that of registration, so parents come first.

    Raises ValueError when there is no such type.

    >>> print(stub_of_types("onnx").splitlines()[1])
    \"""The types whose keys begin with `onnx`.\"""
    """
    start = prefix + "."
    infos = [_core.type_info(key) for key in _core.registered_type_keys() if key.startswith(start)]
    infos = [info for info in infos if "." not in info.type_key[len(start) :]]
    if not infos:
        raise ValueError(f"no type is registered whose key begins with '{start}'")
    infos.sort(key=lambda info: info.type_index)
    classes = "\n".join(stub_of(info.type_cls, prefix) for info in infos)
    modules = ["builtins", "collections.abc", "typing", "isoform"]
    imports = "\n".join(f"import {name}" for name in modules if f"{name}." in classes)
    names = ", ".join(f'"{name}"' for name in sorted(info.type_cls.__name__ for info in infos))
    return f"{_HEADER.format(prefix=prefix, imports=imports, names=names)}\n{classes}"


def stub_of(cls: type[Any], prefix: str) -> str:
    """Return the stub of one class, inside the stub of the types below `prefix`.

    >>> from isoform.types.onnx import Output
    >>> print(stub_of(Output, "onnx"))  # doctest: +ELLIPSIS
    class Output(isoform.Object):
        ...
        def __init__(self, call: Call, index: builtins.int) -> None: ...
    """
    info = _core.type_info(cls)
    parent = info.parent_type_info
    base = _name_of(parent.type_key, prefix) if parent is not None else "isoform.Object"
    inherited = len(parent.fields) if parent is not None else 0
    lines = [f"class {cls.__name__}({base}):"]
    lines += _docstring(info.doc, "    ")
    matched: tuple[str, ...] = getattr(cls, "__match_args__", ())
    match_args = "".join(f"{name!r}, " for name in matched).replace("'", '"')
    lines.append(
        f"    __match_args__ = ({match_args.rstrip() if len(matched) < 2 else match_args.rstrip(', ')})"
    )
    for field in info.fields[inherited:]:
        given = _annotation(field.annotation, prefix, accepted=False)
        if field.frozen:
            lines.append("    @property")
            lines.append(f"    def {field.name}(self) -> {given}:")
            lines += _docstring(field.doc or f"The field `{field.name}`.", "        ")
        else:
            lines.append(f"    {field.name}: {given}")
            lines += _docstring(field.doc or "", "    ")
    lines.append(f"    def __init__({_constructor(info, prefix)}) -> None: ...")
    for name, function in _core._methods_of(cls):
        lines += _method(name, function, prefix)
    return "\n".join(lines) + "\n"


def _constructor(info: Any, prefix: str) -> str:
    """Return the parameters of a constructor."""
    if info.init_function is not None:
        known = _core._signature_of(info.init_function)
        return ", ".join(["self", *_parameters(known[0], prefix)]) if known else "self, *args: typing.Any"
    names, positional = info.init_parameters
    fields = {field.name: field for field in info.fields}
    parameters = ["self"]
    for position, name in enumerate(names):
        if position == positional:
            parameters.append("*")
        field = fields[name]
        text = f"{name}: {_annotation(field.annotation, prefix, accepted=True)}"
        parameters.append(f"{text} = ..." if field.has_default else text)
    return ", ".join(parameters)


def _parameters(known: Any, prefix: str) -> list[str]:
    parameters = list[str]()
    for position, (parameter, schema, has_default, _) in enumerate(known, 1):
        annotation = _annotation(schema, prefix, accepted=True)
        text = f"{parameter or f'argument{position}'}: {annotation}"
        parameters.append(f"{text} = ..." if has_default else text)
    return parameters


def _method(name: str, function: Any, prefix: str) -> list[str]:
    known = _core._signature_of(function)
    if known is None:
        return [f"    def {name}(self, *args: typing.Any) -> typing.Any:", '        """Native."""']
    # The first one is the object itself.
    parameters = ["self", *_parameters(known[0][1:], prefix)]
    result = _annotation(known[1], prefix, accepted=False)
    head = f"    def {name}({', '.join(parameters)}) -> {result}:"
    return [head, *_docstring(function.__doc__ or f"The method `{name}`.", "        ")]


def _docstring(text: str, indent: str) -> list[str]:
    # Rust's links are no links here.
    text = re.sub(r"\[(`[^`]+`)\](\([^)]*\))?", r"\1", text)
    text = text.strip().replace("\\", "\\\\").replace('"""', "'''")
    if not text:
        return []
    if "\n" not in text and not text.endswith('"'):
        return [f'{indent}"""{text}"""']
    first, *rest = text.splitlines()
    rest = [f"{indent}{line}".rstrip() for line in rest]
    return [f'{indent}"""{first}', *rest, f'{indent}"""']


def _annotation(schema: str, prefix: str, *, accepted: bool) -> str:
    """Turn the text of a schema into an annotation inside the stub of `prefix`."""

    def replace(match: re.Match[str]) -> str:
        token = match[0]
        if not (token[0].isalpha() or token[0] == "_") or token in ("None", "True", "False"):
            return token
        if accepted and token in _ACCEPTED:
            return _ACCEPTED[token]
        if token in _NAMES:
            return _NAMES[token]
        if token.startswith("isoform."):
            return token
        # Fields and classes may be called as builtin types are.
        return f"builtins.{token}" if hasattr(builtins, token) else _name_of(token, prefix)

    return _TOKEN.sub(replace, schema)


def _name_of(key: str, prefix: str) -> str:
    """Name a type by its key: by itself beside its likes, else by its Python class."""
    start, _, name = key.rpartition(".")
    if start == prefix:
        return name
    # The class may be declared in Python, where only the checker finds it.
    return f"isoform.types.{key}" if start in _SHIPPED else "typing.Any"


def _main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m isoform.stubgen", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("modules", nargs="*", help="modules to import first")
    parser.add_argument("--prefix", required=True, help="what the type keys begin with")
    parser.add_argument("--output", type=Path, help="the file; standard output without")
    args = parser.parse_args(arguments)
    try:
        text = stub_of_types(args.prefix)
    except ValueError as error:
        print(f"isoform.stubgen: {error}", file=sys.stderr)
        return 2
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return 0


# Modules with types of their own bring the core along and must come before this
# package, which is here already: so a new process does the work.
_IN_ORDER = """\
import importlib, sys
for name in sys.argv[1].split(","):
    importlib.import_module(name)
from isoform import stubgen
sys.exit(stubgen._main(sys.argv[2:]))
"""


def main() -> int:
    """Run the command line; see the module."""
    # Everything before the first option is a module.
    arguments = sys.argv[1:]
    count = next((i for i, text in enumerate(arguments) if text.startswith("-")), len(arguments))
    modules, options = arguments[:count], arguments[count:]
    if not modules:
        return _main(options)
    command = [sys.executable, "-c", _IN_ORDER, ",".join(modules), *options]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
