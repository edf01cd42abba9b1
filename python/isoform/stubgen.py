"""Writes stubs for registered types, for use by type checkers.

    python -m isoform.stubgen [MODULE ...] --prefix KEY [--output FILE]

imports the modules, which register types, and writes a stub of all types with keys that
begin with `KEY` and a dot. A library that declares node types in Rust under the keys
`calc.Add`, `calc.Const` in the extension module `calc_ir` writes the stub with

    python -m isoform.stubgen calc_ir --prefix calc --output calc.pyi

Classes declared in Python need no stub.
"""

# Private to the package, and this is in it.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import argparse
import builtins
import inspect
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isoform import _core

__all__ = ["stub_of", "stub_of_types"]

# The names of types in a schema, and their qualified names in a stub.
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
# A constructor accepts more than a property returns.
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
_SHIPPED = ("ir", "mlir", "onnx", "pto", "relay", "tir", "transform")

_HEADER = '''\
# Written by `isoform.stubgen`; do not edit.
"""The types whose keys begin with `{prefix}`."""

{imports}

__all__ = [{names}]
'''


def stub_of_types(prefix: str) -> str:
    """Return the stub of all registered types whose keys begin with `prefix` and a dot.

    Only types one level below the prefix are included; types with a longer prefix have
    a separate stub. The order is that of registration, with parents first.

    Raises ValueError if no type matches.

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
    lines = [f"class {cls.__name__}({base}):"]
    lines += _docstring(info.doc, "    ")
    matched: tuple[str, ...] = getattr(cls, "__match_args__", ())
    match_args = "".join(f"{name!r}, " for name in matched).replace("'", '"')
    lines.append(
        f"    __match_args__ = ({match_args.rstrip() if len(matched) < 2 else match_args.rstrip(', ')})"
    )
    for field in info.fields:
        given = _annotation(field.annotation, prefix, accepted=False)
        if field.frozen:
            lines.append("    @property")
            lines.append(f"    def {field.name}(self) -> {given}:")
            lines += _docstring(field.doc or f"The field `{field.name}`.", "        ")
        else:
            lines.append(f"    {field.name}: {given}")
            lines += _docstring(field.doc or "", "    ")
    lines += _enum_members(cls, info)
    # The Python constructor of a class that cannot be called raises an error.
    if not inspect.isfunction(vars(cls).get("__init__")):
        lines.append(f"    def __init__({_constructor(info, prefix)}) -> None: ...")
    native = dict(_core._methods_of(cls))
    for name, function in native.items():
        lines += _method(name, function, prefix)
    for name, member in vars(cls).items():
        if name not in native:
            lines += _member(cls, name, member, prefix)
    return "\n".join(lines) + "\n"


def _enum_members(cls: type[Any], info: Any) -> list[str]:
    """Return the members of an enum that was declared natively, second names included."""
    names: Any = _core.type_attrs_get(info.type_key, "enum.members", None, False)
    if names is None:
        return []
    aliases: Any = _core.type_attrs_get(info.type_key, "enum.aliases", None, False) or {}
    return [f"    {name}: typing.ClassVar[{cls.__name__}]" for name in (*names, *aliases)]


def _constructor(info: Any, prefix: str) -> str:
    """Return the parameters of a constructor."""
    if info.init_function is not None:
        known = _core._signature_of(info.init_function)
        return (
            ", ".join(["self", *_parameters(known[0], prefix)])
            if known
            else "self, *args: typing.Any"
        )
    names, positional = info.init_parameters
    fields = dict[str, Any]()
    ancestor = info
    while ancestor is not None:
        fields.update((field.name, field) for field in ancestor.fields)
        ancestor = ancestor.parent_type_info
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
    by_name = [keyword_only for *_, keyword_only in known]
    first_by_name = by_name.index(True) if True in by_name else len(known)
    for position, (parameter, schema, has_default, _, _) in enumerate(known):
        if position == first_by_name:
            parameters.append("*")
        annotation = _annotation(schema, prefix, accepted=True)
        text = f"{parameter or f'argument{position + 1}'}: {annotation}"
        # All parameters before a required parameter are required, too.
        behind = known[position:first_by_name]
        optional = has_default and all(described[2] for described in behind)
        parameters.append(f"{text} = ..." if optional else text)
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


# Members that every class gets automatically.
_NOT_DECLARED = {"__init__", "__replace__", "__init_subclass__", "__class_getitem__"}


def _member(cls: type[Any], name: str, member: Any, prefix: str) -> list[str]:
    """Return the members of a native type's Python class other than its fields."""
    if name in _NOT_DECLARED or getattr(member, "__isoform_method__", False):
        return []
    decorators = list[str]()
    function: Any = member
    if isinstance(function, property):
        decorators, function = ["    @property"], function.fget
    elif type(function) in (staticmethod, classmethod):
        decorators, function = [f"    @{type(function).__name__}"], function.__func__
    if not inspect.isfunction(function) or (name.startswith("_") and not name.startswith("__")):
        return []
    known = {info.type_cls.__name__ for info in _siblings(prefix)}
    signature = inspect.signature(function)
    parameters = list[str]()
    for position, parameter in enumerate(signature.parameters.values()):
        text = parameter.name
        if position > 0 or "    @staticmethod" in decorators:
            text += f": {_written(parameter.annotation, known)}"
        if parameter.default is not parameter.empty:
            text += " = ..."
        if parameter.kind is parameter.VAR_POSITIONAL:
            text = f"*{text}"
        elif parameter.kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        parameters.append(text)
    result = _written(signature.return_annotation, known)
    head = f"    def {name}({', '.join(parameters)}) -> {result}:"
    doc = function.__doc__ or f"See `{cls.__name__}`."
    return [*decorators, head, *_docstring(inspect.cleandoc(doc), "        ")]


def _siblings(prefix: str) -> list[Any]:
    start = prefix + "."
    keys = [key for key in _core.registered_type_keys() if key.startswith(start)]
    return [_core.type_info(key) for key in keys]


def _written(annotation: Any, known: set[str]) -> str:
    """Convert a source annotation to a stub annotation, if its names are known."""
    if not isinstance(annotation, str):
        return "typing.Any"
    plain = {"None", "bool", "bytes", "dict", "float", "int", "list", "object", "str", "tuple"}
    parts = list[str]()
    for token in _TOKEN.findall(annotation):
        if token in plain - {"None"}:
            parts.append(f"builtins.{token}")
        elif token == "Any":
            parts.append("typing.Any")
        elif not (token[0].isalpha() or token[0] == "_") or token in {*known, "None"}:
            parts.append(token)
        else:
            return "typing.Any"
    return "".join(parts)


def _docstring(text: str, indent: str) -> list[str]:
    # Links of rustdoc have no meaning here.
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
        if accepted and "." in token and _converts(token):
            return "typing.Any"
        if token in _NAMES:
            return _NAMES[token]
        if token.startswith("isoform."):
            return token
        # Fields and classes may have names of builtin types.
        return f"builtins.{token}" if hasattr(builtins, token) else _name_of(token, prefix)

    return _TOKEN.sub(replace, schema)


def _converts(key: str) -> bool:
    """Return whether a type converts other values to objects."""
    return bool(_core.type_attrs_has(_core.class_of(key), "__ffi_convert__", False))


def _name_of(key: str, prefix: str) -> str:
    """Name a type: by the plain name in its own stub, otherwise by the Python class."""
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
    parser.add_argument("--prefix", required=True, help="the prefix of the type keys")
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


# Modules with their own types include the core and must be imported before this
# package, which is already loaded here; a new process therefore does the work.
_IN_ORDER = """\
import importlib, sys
for name in sys.argv[1].split(","):
    importlib.import_module(name)
from isoform import stubgen
sys.exit(stubgen._main(sys.argv[2:]))
"""


def main() -> int:
    """Run the command line; see the module."""
    # Arguments before the first option are modules.
    arguments = sys.argv[1:]
    count = next((i for i, text in enumerate(arguments) if text.startswith("-")), len(arguments))
    modules, options = arguments[:count], arguments[count:]
    if not modules:
        return _main(options)
    command = [sys.executable, "-c", _IN_ORDER, ",".join(modules), *options]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
