"""Write the stubs of the package: its native parts, and the types declared in Rust.

    python scripts/make_stubs.py [--check]

With `--check` nothing is written, and the status is 1 if a stub is not fresh.
Run it with the Python of `.venv`, where the package and ruff are installed.

Names, parameters and documentation come from the module itself. Only types are given
here: by the name of the parameter, with the same meaning everywhere, and by the name of
the function for its result. A missing type is `Any`.
"""

from __future__ import annotations

import argparse
import difflib
import inspect
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

from stub_types import BASES, DEFINITIONS, OVERLOADS

from isoform import _core
from isoform.stubgen import stub_of_types

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "isoform"

PARAMETERS = {
    "callbacks": "Any",
    "argv": "Sequence[str]",
    "check_laws.values": "list[Any]",
    "check_types.values": "list[Any]",
    "class": "type[Any]",
    "dense": "bool",
    "cls": "type[Any]",
    "color": "bool",
    "compute_kernel.options": "Any",
    "confirm": "bool",
    "durable": "bool",
    "entry.confirm": "Any",
    "entry.key": "EntryKey",
    "find.parts": "str | float | bool | None",
    "max_age": "float | timedelta | None",
    "max_bytes": "int | None",
    "max_count": "int | None",
    "put.data": "bytes | bytearray | memoryview",
    "put_entry.key": "EntryKey",
    "put_entry.metadata": "dict[str, str] | None",
    "put_entry.value": "bytes | bytearray | memoryview",
    "read_only": "bool",
    "remove_entry.key": "EntryKey",
    "repair": "bool",
    "url": "str | PathLike[str]",
    "duplicates.values": "Sequence[Any]",
    "follow_links": "bool",
    "repeated_blocks.values": "Sequence[Any]",
    "ignore_unknown_fields": "bool",
    "inherit": "bool",
    "force": "bool",
    "names": "str | tuple[str, str] | None",
    "page_url": "str | None",
    "picture.format": "str",
    "_page_picture.format": "str",
    "_to_plain.names": "Any",
    "verified.verification": "OnnxVerification",
    "title": "str | None",
    "init": "int",
    "instance": "Any",
    "io_names": "bool",
    "lines": "int",
    "map_free_vars": "bool",
    "min_count": "int",
    "min_size": "int",
    "mmap": "bool",
    "mutable_by_identity": "bool",
    "name": "str",
    "options": "dict[str, Any]",
    "override": "bool",
    "parent": "type[Any] | None",
    "path": "str | PathLike[str]",
    "random_module.size": "int",
    "random_program.size": "int",
    "replace": "bool",
    "schema": "Schema | None",
    "seed": "int",
    "sharing": "bool",
    "skip_tensor_content": "bool",
    "text": "str",
    "type_key": "str",
    "width": "int",
    "_describe_function.doc": "str | None",
    "duplicates.by": "str",
    "find.digits": "str",
    "render.values": "int",
    # The name of an attribute or its trait.
    "type_attrs_check.name": "Any",
    "type_attrs_declare_dense.name": "Any",
    "type_attrs_declare.doc": "str",
    "type_attrs_get.name": "Any",
    "type_attrs_has.name": "Any",
    "type_attrs_info.name": "Any",
    "type_attrs_owner.name": "Any",
    "type_attrs_set.name": "Any",
    "mlir_passes.text": "str | bytes",
    "mlir_read.text": "str | bytes",
    "mlir_read_split.text": "str | bytes",
}

RETURNS = {
    "_callable_of": "Any",
    "_describe_function": "Any",
    "_methods_of": "list[tuple[str, Any]]",
    "_register_method": "None",
    "_set_method_hook": "None",
    "_signature_of": "tuple[list[tuple[str | None, str, bool, Any, bool]], str, str] | None",
    "_watch_unequal": "None",
    "bind_class": "TypeInfo",
    "binding_faults": "list[tuple[AccessPath, str]]",
    "check_types": "None",
    "class_of": "type[Any]",
    "cli_main": "int",
    "declaration_digest": "bytes",
    "duplicates": "list[Duplicate]",
    "repeated_blocks": "list[RepeatedBlock]",
    "field_flags": "list[tuple[str, str]]",
    "free_variables": "list[Object]",
    "last_visit_count": "int",
    "make_node": "Any",
    "onnx_fix_dims": "Program",
    "onnx_infer_shapes": "OnnxShapes",
    "onnx_load": "OnnxModel",
    "oracle_equal": "bool",
    "recursive_eq": "bool",
    "recursive_ge": "bool",
    "recursive_gt": "bool",
    "recursive_hash": "int",
    "recursive_le": "bool",
    "recursive_lt": "bool",
    "register_class": "TypeInfo",
    "registered_type_keys": "list[str]",
    "repr_print": "str",
    "structural_digest": "bytes",
    "structural_equal": "bool",
    "structural_hash": "int",
    "structural_kinds": "list[str]",
    "subterm_classes": "SubtermClasses",
    "CachedCalls.begin": "PendingCall | tuple[Any]",
    "CachedCalls.info": "tuple[int, int, int]",
    "CachedCalls.key": "str",
    "CachedCalls.remove": "bool",
    "Entry.created": "int",
    "Entry.is_failure": "bool",
    "Entry.key": "dict[str, str]",
    "Entry.metadata": "dict[str, str]",
    "Entry.program": "str | None",
    "Entry.value": "bytes",
    "EntryKey.digest": "str",
    "EntryKey.parts": "dict[str, str]",
    "PendingCall.poll": "bool | tuple[Any]",
    "Store.close": "None",
    "Store.contains": "bool",
    "Store.entry": "Entry | None",
    "Store.evict": "dict[str, dict[str, int]]",
    "Store.find": "list[tuple[str, dict[str, str]]]",
    "Store.get": "bytes | None",
    "Store.list": "list[tuple[str, str, int, int]]",
    "Store.open": "Store",
    "Store.put": "str",
    "Store.put_entry": "bool",
    "Store.remove": "bool",
    "Store.remove_entry": "bool",
    "Store.sizes": "dict[str, dict[str, int]]",
    "Store.statistics": "dict[str, int]",
    "Store.url": "str",
    "Store.verify": "dict[str, Any]",
    "to_bytes": "bytes",
    "to_json_graph_str": "str",
    "to_text": "str",
    "type_info": "TypeInfo",
    "type_attrs_check": "None",
    "type_attrs_declare": "None",
    "type_attrs_declare_dense": "None",
    "type_attrs_has": "bool",
    "type_attrs_hooks": "list[str]",
    "type_attrs_info": "dict[str, Any] | None",
    "type_attrs_list": "list[str]",
    "type_attrs_of": "dict[str, Any]",
    "type_attrs_owner": "type[Any] | None",
    "type_attrs_set": "None",
    "type_attrs_place": "TypeInfo",
    "TraitHandle.name": "str",
    "Column.items": "list[tuple[type[Any], Any]]",
    "Column.keys": "list[type[Any]]",
    "Column.name": "str",
    "Column.set": "None",
    "Column.values": "list[Any]",
    "CorpusBlock.count": "int",
    "CorpusBlock.digest": "str",
    "CorpusBlock.nodes": "int",
    "CorpusGroup.digest": "str",
    "CorpusGroup.rows": "list[CorpusRow]",
    "CorpusIndex.__iter__": "Iterator[CorpusRow]",
    "CorpusIndex.duplicates": "list[CorpusGroup]",
    "CorpusIndex.find": "list[CorpusRow]",
    "CorpusIndex.path": "str",
    "CorpusIndex.roots": "list[str]",
    "CorpusIndex.shared_blocks": "list[SharedBlock]",
    "CorpusIndex.statistics": "CorpusStatistics",
    "CorpusReport.bytes": "int",
    "CorpusReport.failed": "int",
    "CorpusReport.kept": "int",
    "CorpusReport.read": "int",
    "CorpusReport.rows": "int",
    "CorpusRow.architecture": "str | None",
    "CorpusRow.blocks": "list[CorpusBlock]",
    "CorpusRow.digest": "str | None",
    "CorpusRow.elements": "dict[str, int]",
    "CorpusRow.error": "str | None",
    "CorpusRow.files": "list[str]",
    "CorpusRow.inputs": "list[str]",
    "CorpusRow.kind": "str | None",
    "CorpusRow.nodes": "int | None",
    "CorpusRow.operators": "dict[str, int]",
    "CorpusRow.opsets": "dict[str, int]",
    "CorpusRow.outputs": "list[str]",
    "CorpusRow.parameters": "int | None",
    "CorpusRow.path": "str",
    "CorpusRow.size": "int",
    "CorpusRow.stamp": "int",
    "CorpusRows.__next__": "CorpusRow",
    "CorpusStatistics.architectures": "int",
    "CorpusStatistics.bytes": "int",
    "CorpusStatistics.elements": "dict[str, int]",
    "CorpusStatistics.failed": "int",
    "CorpusStatistics.files": "int",
    "CorpusStatistics.kinds": "dict[str, tuple[int, int]]",
    "CorpusStatistics.operators": "dict[str, tuple[int, int]]",
    "CorpusStatistics.opsets": "dict[tuple[str, int], int]",
    "CorpusStatistics.programs": "int",
    "SharedBlock.digest": "str",
    "SharedBlock.files": "list[tuple[str, int]]",
    "SharedBlock.nodes": "int",
    "update_corpus": "CorpusReport",
    "Duplicate.members": "list[tuple[int, Any]]",
    "Duplicate.saved": "int",
    "Duplicate.size": "int",
    "RepeatedBlock.places": "list[tuple[int, list[Any]]]",
    "RepeatedBlock.saved": "int",
    "RepeatedBlock.size": "int",
    "Difference._repr_html_": "str | None",
    "Difference.save_html": "None",
    "Difference.to_html": "str",
    "Difference.to_markdown": "str",
    "Difference.picture": "str",
    "OnnxModel._repr_html_": "str | None",
    "OnnxModel.save_html": "None",
    "OnnxModel.to_html": "str",
    "OnnxModel.to_markdown": "str",
    "OnnxModel.picture": "str",
    "StructuralMismatch._repr_html_": "str | None",
    "StructuralMismatch.save_html": "None",
    "StructuralMismatch.to_html": "str",
    "StructuralMismatch.to_markdown": "str",
    "Object._repr_html_": "str | None",
    "OnnxOptimization.verified": "OnnxOptimization",
    "_page_html": "str",
    "_page_markdown": "str",
    "_page_notebook": "str | None",
    "_page_picture": "str",
    "_page_save": "None",
    "Object.same_as": "bool",
    "OnnxModel.constant_bytes": "int",
    "OnnxModel.dropped_node_count": "int",
    "OnnxModel.function_count": "int",
    "OnnxModel.initializer_count": "int",
    "OnnxModel.node_count": "int",
    "OnnxModel.path": "Path | None",
    "OnnxModel.program": "Program",
    "OnnxShapes.problems": "list[tuple[str, tuple[Any, Any, Any], tuple[Any, Any, Any], str]]",
    "OnnxShapes.type_of": "tuple[Any, Any, Any]",
    "Property.frozen": "bool",
    "Property.name": "str",
    "Property.set": "None",
    "Schema.check": "None",
    "StructuralMismatch.render": "str",
    "SubtermClasses.class_of": "int | None",
    "SubtermClasses.costs": "dict[str, int]",
    "SubtermClasses.is_decided_by_comparison": "bool",
    "SubtermClasses.members": "list[Any]",
    "SubtermClasses.size": "int",
    "TypeField.annotation": "str",
    "TypeField.compare": "bool",
    "TypeField.doc": "str | None",
    "TypeField.frozen": "bool",
    "TypeField.has_default": "bool",
    "TypeField.hash": "bool",
    "TypeField.init": "bool",
    "TypeField.kw_only": "bool",
    "TypeField.name": "str",
    "TypeField.offset": "int",
    "TypeField.repr": "bool",
    "TypeField.size": "int",
    "TypeField.structural_eq": "str | None",
    "TypeInfo.dialect": "str",
    "TypeInfo.doc": "str",
    "TypeInfo.fields": "tuple[TypeField, ...]",
    "TypeInfo.init_function": "Any",
    "TypeInfo.init_parameters": "tuple[list[str], int]",
    "TypeInfo.is_builtin": "bool",
    "TypeInfo.kind": "str | None",
    "TypeInfo.parent_type_info": "TypeInfo | None",
    "TypeInfo.scope": "bool",
    "TypeInfo.type_cls": "type[Any]",
    "TypeInfo.type_index": "int",
    "TypeInfo.type_key": "str",
    "TypeInfo.visit_name": "str",
    "TypeInfo.visit_order": "list[str]",
    "_type_count": "int",
    "_visit_names": "list[tuple[str, str, str]]",
}

# The return types of special methods, which Python itself calls.
SPECIAL = {
    "__bool__": "bool",
    "__call__": "Any",
    "__contains__": "bool",
    "__copy__": "Any",
    "__deepcopy__": "Any",
    "__delete__": "None",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
    "__enter__": "Self",
    "__eq__": "bool",
    "__exit__": "None",
    "__get__": "Any",
    "__getitem__": "Any",
    "__hash__": "int",
    "__iter__": "Iterator[Any]",
    "__len__": "int",
    "__next__": "Any",
    "__reduce__": "tuple[Any, ...]",
    "__repr__": "str",
    "__set__": "None",
    "__str__": "str",
}

# The constructor arguments of public classes; other classes are not constructed.
CONSTRUCTORS = {
    "CachedCalls": "store: Store, name: str, version: str, function: Any, parameters: list[Any], "
    "bind: Any, options: dict[str, Any]",
    "Column": "name: Any",
    "CorpusIndex": "path: str | PathLike[str]",
    "CorpusUpdate": "roots: list[str], index: str | PathLike[str]",
    "EntryKey": "job: str, /, *, program: Any = ..., version: Any = ..., "
    "**options: str | float | bool | None",
    "Hole": "var: Any, cls: type[Any] | None = ..., guard: Callable[[Any], bool] | None = ..., *, "
    "items: bool = ..., anything: bool = ..., constant: bool = ..., one_use: bool = ..., "
    "matching: Pattern[Any] | None = ..., fields: Mapping[str, Any] | None = ..., "
    "attrs: Mapping[str, Any] | None = ...",
    "NodeDriver": ("visitor: Any, rule: str, generators: type[Any], later: type[Any], memo: str"),
    "IncrementalHasher": "map_free_vars: bool = ..., skip_tensor_content: bool = ...",
    "Pattern": "template: _R, holes: Any = ..., enable_auto_mapping: bool = ..., *, "
    "commutative: bool = ..., identity: bool = ..., definitions: bool = ..., "
    "interior_uses: str = ...",
    "Rule": "pattern: Pattern[Any], replacement: Any, guard: Any = ..., *, benefit: int = ..., "
    "introduces: Iterable[Any] = ...",
    "Schema": "spec: Any",
    "TraitHandle": "name: str, marker: Any, view: Any, has_methods: bool",
    "Uses": "root: _R",
    "VisitInterrupt": "value: Any = ...",
}

HEADER = f'''\
# Written by scripts/make_stubs.py; do not edit.
"""The native module. What users need of it, `isoform` gives them."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import Any, Final, Generic, TypeAlias, final, overload

from typing_extensions import Self, TypeVar

from isoform.container import Array, Map
from isoform.types.onnx import Program

{DEFINITIONS}
'''


def parameters_of(function: Any, *, method: bool) -> str:
    """Return the parameters in the notation of a stub."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "self, *args: Any, **kwargs: Any" if method else "*args: Any, **kwargs: Any"
    parts: list[str] = []
    parameters = list(signature.parameters.values())
    starred = False
    for position, parameter in enumerate(parameters):
        kind = parameter.kind
        if kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        text = parameter.name
        if kind is parameter.VAR_POSITIONAL:
            text, starred = f"*{text}", True
        elif kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        if not (method and position == 0):
            known = f"{function.__name__}.{parameter.name}"
            text += f": {PARAMETERS.get(known) or PARAMETERS.get(parameter.name, 'Any')}"
        if parameter.default is not parameter.empty:
            text += " = ..."
        parts.append(text)
        following = parameters[position + 1 : position + 2]
        if kind is parameter.POSITIONAL_ONLY and not (
            following and following[0].kind is parameter.POSITIONAL_ONLY
        ):
            parts.append("/")
    return ", ".join(parts)


def body(doc: str | None, indent: str) -> str:
    """Return the rest of a definition: its documentation, or an empty body."""
    if not doc:
        return " ...\n"
    text = inspect.cleandoc(doc).replace("\\", "\\\\").replace('"""', "'''")
    lines = text.splitlines()
    closing = f"\n{indent}" if len(lines) > 1 else ""
    inner = "\n".join(f"{indent}{line}".rstrip() for line in lines).removeprefix(indent)
    return f'\n{indent}"""{inner}{closing}"""\n'


def definitions(known: str, parameters: str, returned: str, doc: str, indent: str) -> str:
    """Return the definition of a function or method, with all its overloads."""
    name = known.rpartition(".")[2]
    written = OVERLOADS.get(known, [(parameters, returned)])
    mark = f"{indent}@overload\n" if len(written) > 1 else ""
    # Editors show the documentation of the last.
    docs = [" ...\n"] * (len(written) - 1) + [doc]
    return "".join(
        f"{mark}{indent}def {name}({parameters}) -> {returned}:{doc}"
        for (parameters, returned), doc in zip(written, docs, strict=True)
    )


def stub_of_class(cls: type, name: str) -> str:
    """Return the stub of a native class."""
    own = cls.__base__ if issubclass(cls, BaseException) else None
    bases = BASES.get(name, own.__name__ if own else "")
    final = "" if cls.__flags__ & (1 << 10) else "@final\n"
    text = f"{final}class {name}{f'({bases})' if bases else ''}:"
    text += body(cls.__doc__, "    ").removesuffix(" ...\n") + "\n"
    if name in CONSTRUCTORS:
        # A parameter may have the usual name of the class.
        own = "_cls" if "cls: " in CONSTRUCTORS[name] else "cls"
        made = f"{name}[_R]" if "Generic" in bases else name
        text += f"    def __new__({own}, {CONSTRUCTORS[name]}) -> {made}: ...\n"
    members = sorted(vars(cls).items(), key=lambda item: item[0])
    for member, value in members:
        known = f"{name}.{member}"
        if isinstance(value, types.GetSetDescriptorType | types.MemberDescriptorType):
            if member.startswith("__"):
                continue
            doc = body(value.__doc__, "        ")
            text += "    @property\n"
            text += definitions(known, "self", RETURNS.get(known, "Any"), doc, "    ")
        elif member.startswith("__"):
            # A checker has to look at the constructors, not at the metaclass.
            if known != "ObjectMeta.__call__" and member in SPECIAL and callable(value):
                parameters = "self, other: object, /"
                if member != "__eq__":
                    parameters = parameters_of(value, method=True)
                returned = RETURNS.get(known, SPECIAL[member])
                text += definitions(known, parameters, returned, " ...\n", "    ")
        elif callable(value) and not member.startswith("_abc"):
            bound = isinstance(value, types.ClassMethodDescriptorType | classmethod)
            static = isinstance(value, staticmethod)
            value = getattr(cls, member) if bound or static else value
            parameters = parameters_of(value, method=not bound and not static)
            if bound or static:
                text += f"    @{'classmethod' if bound else 'staticmethod'}\n"
                parameters = f"cls, {parameters}" if bound else parameters
            doc = body(value.__doc__, "        ")
            text += definitions(known, parameters, RETURNS.get(known, "Any"), doc, "    ")
    return text if not text.endswith(":\n") else text + "    ...\n"


def core_stub() -> str:
    """Return the stub of the native module."""
    classes: list[str] = []
    functions: list[str] = []
    constants: list[str] = []
    for name, value in sorted(vars(_core).items()):
        if name.startswith("__") and name != "__version__":
            continue
        if isinstance(value, type):
            classes.append(stub_of_class(value, name))
        elif callable(value) and hasattr(value, "__name__"):
            parameters = parameters_of(value, method=False)
            returned = RETURNS.get(name, "None" if name.startswith("_set") else "Any")
            doc = body(value.__doc__, "    ")
            functions.append(definitions(name, parameters, returned, doc, ""))
        else:
            constants.append(f"{name}: Final[{'str' if isinstance(value, str) else 'Any'}]\n")
    return HEADER + "\n".join([*constants, *classes, *functions])


def formatted(text: str, path: Path) -> str:
    """Return the text in the style of the project's formatter."""
    for command in (["check", "--fix-only", "--quiet"], ["format", "--quiet"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout
    return text


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, tell what is stale")
    check = parser.parse_args().check
    status = 0
    stubs = {
        PACKAGE / "_core.pyi": core_stub(),
        **{
            PACKAGE / "types" / f"{prefix}.pyi": stub_of_types(prefix)
            for prefix in ("ir", "mlir", "onnx", "pto", "relay", "tir", "transform")
        },
        PACKAGE / "relay" / "attrs.pyi": stub_of_types("relay.attrs"),
    }
    for path, text in stubs.items():
        new = formatted(text, path)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if new == old:
            continue
        if check:
            name = path.relative_to(PACKAGE.parent)
            diff = difflib.unified_diff(
                old.splitlines(True), new.splitlines(True), f"{name}", f"{name} (fresh)"
            )
            sys.stdout.writelines(diff)
            status = 1
        else:
            path.write_text(new, encoding="utf-8")
            print(f"wrote {path.relative_to(PACKAGE.parent)}")
    if status:
        print("stubs are not fresh; run: make stubs", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
