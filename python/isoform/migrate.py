"""Moves a code base from tvm-ffi to Isoform: `python -m isoform.migrate PATH...`.

Imports of `tvm_ffi` become imports of `isoform` where Isoform has the name, and so do
uses such as `tvm_ffi.Object`. Everything else stays as it is, byte for byte, and is
reported with file, line and what to write. Names that only tvm-ffi has, such as
`load_module`, keep their import: both libraries work in one process. In a code base that
uses one of them, `Function`, `device` and whatever else is exchanged with C++ stays, too.

A file that gives the name `tvm_ffi` another meaning is left alone.
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib
import importlib.util
import io
import shutil
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isoform._left_out import LEFT_OUT

__all__ = ["Migration", "Remark", "main", "migrate", "names_that_stay"]

_OLD = "tvm_ffi"
_NEW = "isoform"
# Names that both libraries have, with another meaning.
_ELSEWHERE = {
    "Module": "isoform.Module is a named group of functions; keep tvm_ffi for loaded libraries",
    "testing": "tvm_ffi.testing has types of C++; keep tvm_ffi for them",
}
# Values that code in C++ takes or returns, and its registry.
_EXCHANGED = frozenset(
    {
        *("DLDeviceType", "Device", "Function", "Shape", "Tensor", "__version__", "convert"),
        *("convert_func", "device", "from_dlpack", "get_global_func", "get_global_func_metadata"),
        *("init_ffi_api", "register_error", "register_global_func", "remove_global_func"),
    }
)
# They give Python classes to types of C++, which extend `Object`.
_TYPES = frozenset(["register_object", "c_class"])
_STAYS = "stays, because this code base loads C++, whose values are those of tvm_ffi"
_OF_CPP = tuple(f"tvm_ffi{part}" for part in ("", ".core", ".dataclasses", ".registry"))
_STAYS_TYPE = "stays, because classes here are those of types in C++; write isoform for py_class"
# Attributes that behave in another way, wherever they are used.
_DIFFERENT = {
    "__tvm_ffi_object__": "write __isoform_object__",
    "__tvm_ffi_value__": "write __isoform_value__",
    "__tvm_ffi_int__": "write __isoform_int__",
    "__tvm_ffi_float__": "write __isoform_float__",
    "__tvm_ffi_type_info__": "write __isoform_type_info__",
    "__chandle__": "an object has no address here; is_ and same_as tell objects apart",
    "_move": "objects are never changed in place; pass the object itself",
    "hash_i64": "write hash(key)",
    "release_gil": "a Function of Isoform has no such setting",
    "pyobject": "an opaque Python object is returned itself",
}
# Functions that visit a shared object once, where tvm-ffi visits it once per path.
_WALKS = frozenset(["structural_walk", "structural_visit"])
_ONCE = "visits a shared object once, not once per path; to count uses, write isoform.uses.Uses"
_TYPES_OF_CPP = "a type declared in C++ does not exist here; declare it by py_class, or in Rust"


@dataclass(frozen=True, order=True)
class Remark:
    """A line that needs a look."""

    line: int
    text: str


@dataclass
class Migration:
    """The new source of a file, and what is left to do.

    >>> from isoform.migrate import migrate
    >>> done = migrate("from tvm_ffi import Object, Function, load_module  # C++\\n")
    >>> done.source
    'from isoform import Object  # C++\\nfrom tvm_ffi import Function, load_module\\n'
    >>> sorted({remark.line for remark in done.remarks})
    [1]
    """

    source: str
    changed: int = 0
    remarks: list[Remark] = field(default_factory=list)


def migrate(source: str, *, stay: frozenset[str] | None = None) -> Migration:
    """The source of a module with its imports rewritten. Linear in the source.

    Args:
        source: the source.
        stay: names of tvm-ffi that stay, for the whole code base; None to look at this
            module only, by `names_that_stay`.

    Raises:
        SyntaxError: the source is not Python.
    """
    tree = ast.parse(source)
    if _OLD not in source:
        return Migration(source)
    return _Rewriter(source, tree, names_that_stay(source) if stay is None else stay).run()


def names_that_stay(source: str) -> frozenset[str]:
    """The names of tvm-ffi that stay in a code base, as far as this module tells.

    If it uses tvm-ffi to load C++, these are the names for what is exchanged with C++; if
    it gives classes to types of C++ as well, their base class `Object`, too. Linear in the
    source.

    Raises:
        SyntaxError: the source is not Python.
    """
    if _OLD not in source:
        return frozenset()
    tree = ast.parse(source)
    names: set[str] = set()
    imports = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            parts = [(module or each.name).split(".") for each in node.names]
            if any(part[0] == _OLD for part in parts):
                imports = True
                names.update(each.name for each in node.names if module is not None)
                names.update(part[1] for part in parts if len(part) > 1)
    if not imports or names.isdisjoint(LEFT_OUT.keys() | _TYPES):
        return frozenset()
    return _EXCHANGED if names.isdisjoint(_TYPES) else _EXCHANGED | _TYPES | {"Object"}


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        # A package around it is missing.
        return False


@functools.cache
def _has(module: str, name: str) -> bool:
    """Returns whether Isoform has a name in a module with this path below `tvm_ffi`."""
    full = module.replace(_OLD, _NEW, 1)
    if module == _OLD and (name in LEFT_OUT or name in _ELSEWHERE):
        return False
    if not _exists(full):
        return False
    found = importlib.import_module(full)
    if name in getattr(found, "__all__", ()):
        return True
    is_module = hasattr(found, "__path__") and _exists(f"{full}.{name}")
    return is_module or (not hasattr(found, "__all__") and hasattr(found, name))


@functools.cache
def _has_path(parts: tuple[str, ...]) -> tuple[bool, str]:
    """Returns whether Isoform has `tvm_ffi.a.b`, and the first name that it does not have."""
    module = _OLD
    for name in parts:
        if not _has(module, name):
            return False, name
        deeper = f"{module}.{name}"
        if not _exists(deeper.replace(_OLD, _NEW, 1)):
            # Attributes of classes are another subject.
            return True, ""
        module = deeper
    return True, ""


def _why(module: str, name: str) -> str:
    """The replacement for a name that Isoform does not have."""
    if name == "Object" or name in _TYPES:
        return _STAYS_TYPE
    if module == _OLD and name in _EXCHANGED:
        return _STAYS
    known = LEFT_OUT.get(name) or _ELSEWHERE.get(name) if module == _OLD else None
    around = module.rpartition(".")[0]
    while around and known is None:
        if _has(around, name):
            known = f"write from {around.replace(_OLD, _NEW, 1)} import {name}"
        around = around.rpartition(".")[0]
    return known or f"isoform has no {module.replace(_OLD, _NEW, 1)}.{name}; keep tvm_ffi for it"


class _Rewriter:
    def __init__(self, source: str, tree: ast.Module, stay: frozenset[str]) -> None:
        self._stay = stay
        self._source = source
        self._tree = tree
        # As Python counts lines: form feeds and the like end none.
        self._lines = io.StringIO(source, newline="").readlines()
        # The start and end of a replacement in the source, and the new text.
        self._edits: list[tuple[int, int, str]] = []
        self._remarks: set[Remark] = set()
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def run(self) -> Migration:
        # Names that stand for the module.
        aliases = self._aliases()
        if aliases is None:
            return Migration(self._source, 0, sorted(self._remarks))
        uses = list(self._uses(aliases))
        # Aliases in a statement that imports other modules, which stays.
        shared = {
            each.asname
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Import) and len(node.names) > 1
            for each in node.names
        }
        stays: set[str] = set()
        moves: set[str] = set()
        for node, name, parts in uses:
            present, missing = self._moves(parts)
            if present:
                moves.add(name)
                continue
            stays.add(name)
            text = _why(_OLD, missing) if parts else f"{name} itself is a value here; look at it"
            self._remark(node, f"{'.'.join([name, *parts])}: {text}")
        for node, name, parts in uses:
            if not self._moves(parts)[0]:
                continue
            if name in stays or name == _OLD or name in shared:
                self._replace_name(node, name, _NEW)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                self._import(node, moves, stays)
            elif isinstance(node, ast.ImportFrom) and self._is_old(node.module) and not node.level:
                self._import_from(node)
            else:
                self._look_at(node)
        return self._finish()

    def _moves(self, parts: list[str]) -> tuple[bool, str]:
        """Returns whether a use moves, and the name that holds it back."""
        if not parts or parts[0] in self._stay:
            return False, "".join(parts[:1])
        return _has_path(tuple(parts))

    @staticmethod
    def _is_old(module: str | None) -> bool:
        return module is not None and (module == _OLD or module.startswith(f"{_OLD}."))

    def _aliases(self) -> set[str] | None:
        """The names of the module; None if one of them means something else, too."""
        aliases: set[str] = set()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    if self._is_old(each.name) and (each.asname is None or each.name == _OLD):
                        aliases.add(each.asname or _OLD)
        for node in ast.walk(self._tree):
            bound = _bound_name(node)
            if bound in aliases or (bound == _NEW and not _imports(node, _NEW)):
                self._remark(node, f"{bound} is another object here; rewrite this file by hand")
                return None
        return aliases

    def _uses(self, aliases: set[str]) -> Iterator[tuple[ast.Name, str, list[str]]]:
        """The uses of the module, with the attributes that follow each."""
        outer: dict[int, ast.Attribute] = {}
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Attribute):
                outer[id(node.value)] = node
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Name) and node.id in aliases:
                parts: list[str] = []
                around = outer.get(id(node))
                while around is not None:
                    parts.append(around.attr)
                    around = outer.get(id(around))
                yield node, node.id, parts

    def _import(self, node: ast.Import, moves: set[str], stays: set[str]) -> None:
        olds = [each for each in node.names if self._is_old(each.name)]
        if not olds:
            return
        if len(node.names) > 1:
            if moves & {each.asname or _OLD for each in olds}:
                self._insert_line(node, f"import {_NEW}")
            self._remark(node, f"remove {_OLD} from this import if nothing uses it")
            return
        (old,) = olds
        name = old.asname or _OLD
        if old.name != _OLD:
            self._import_submodule(node, old, moves & {name}, stays & {name})
            return
        if not moves & {name}:
            if name not in stays:
                self._remark(node, f"nothing uses {name} here; import isoform, or remove the line")
            return
        if name not in stays:
            self._replace_text(node, f"import {_OLD}", f"import {_NEW}")
        else:
            self._insert_line(node, f"import {_NEW}")

    def _import_submodule(
        self, node: ast.Import, old: ast.alias, moves: set[str], stays: set[str]
    ) -> None:
        """Rewrites `import tvm_ffi.a`, or `import tvm_ffi.a as b`, which binds no module."""
        module, _, last = old.name.rpartition(".")
        new = old.name.replace(_OLD, _NEW, 1)
        if not _has(module, last):
            self._remark(node, f"{old.name}: {_why(module, last)}")
            if moves:
                self._insert_line(node, f"import {_NEW}")
        elif stays:
            self._insert_line(node, f"import {new}")
        else:
            self._replace_text(node, old.name, new)

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = str(node.module)
        names = [each.name for each in node.names]
        if names == ["*"]:
            self._remark(node, "import the names that are used, not *")
            return
        stay = self._stay if module in _OF_CPP else ()
        gone = [name for name in names if name in stay or not _has(module, name)]
        for name in gone:
            self._remark(node, f"{module}.{name}: {_why(module, name)}")
        new = module.replace(_OLD, _NEW, 1)
        if not gone:
            self._replace_text(node, f"from {module}", f"from {new}")
            return
        if len(gone) == len(names):
            return
        start, end = self._span(node)
        statement = self._source[start:end]
        if "#" in statement or "\\" in statement:
            self._remark(node, f"a comment or \\ within; import {', '.join(gone)} on its own")
            return
        parts: dict[bool, list[str]] = {True: [], False: []}
        for each in node.names:
            text = each.name if each.asname is None else f"{each.name} as {each.asname}"
            parts[each.name in gone].append(text)
        self._edits.append((start, end, f"from {new} import {', '.join(parts[False])}"))
        self._insert_line(node, f"from {module} import {', '.join(parts[True])}", after=True)

    def _look_at(self, node: ast.AST) -> None:
        """Remarks on code that is not an import."""
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and _OLD in text and not _is_long(text):
            self._remark(node, "tvm_ffi in a string; rename it if it is an annotation or import")
        name = getattr(node, "attr", None) or getattr(node, "name", None)
        if isinstance(node, (ast.Attribute, ast.FunctionDef)) and name in _DIFFERENT:
            self._remark(node, f"{name}: {_DIFFERENT[name]}")
        called = node.func if isinstance(node, ast.Call) else None
        function = _last_name(called) if called is not None else None
        if function in ("c_class", "register_object"):
            self._remark(node, f"{function}: {_TYPES_OF_CPP}")
        elif function in _WALKS:
            self._remark(node, f"{function}: {_ONCE}")

    # ---- edits ---------------------------------------------------------------

    def _remark(self, node: Any, text: str) -> None:
        self._remarks.add(Remark(getattr(node, "lineno", 1), text))

    def _offset(self, line: int, column: int) -> int:
        """The position of a line and a column in bytes."""
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode()[:column].decode())
        return self._starts[line - 1] + column

    def _span(self, node: Any) -> tuple[int, int]:
        start = self._offset(node.lineno, node.col_offset)
        return start, self._offset(node.end_lineno, node.end_col_offset)

    def _replace_name(self, node: ast.Name, old: str, new: str) -> None:
        start, end = self._span(node)
        if self._source[start:end] == old:
            self._edits.append((start, end, new))
        else:
            # Within an f-string, older versions of Python give no position.
            self._remark(node, f"{old} in an f-string; write {new}")

    def _replace_text(self, node: Any, old: str, new: str) -> None:
        start, end = self._span(node)
        at = self._source.find(old, start, end)
        if at < 0:
            self._remark(node, f"unusual spaces; write {new}")
        else:
            self._edits.append((at, at + len(old), new))

    def _insert_line(self, node: Any, text: str, *, after: bool = False) -> None:
        """Adds a statement on a line of its own, next to a statement that has its own."""
        first = self._lines[node.lineno - 1]
        indent = first[: len(first) - len(first.lstrip())]
        last = self._lines[node.end_lineno - 1]
        ending = last[len(last.rstrip("\r\n")) :] or "\n"
        start, end = self._span(node)
        rest = self._source[end : self._starts[node.end_lineno]].split("#")[0].strip()
        if self._source[self._starts[node.lineno - 1] : start].strip() or rest:
            # After a colon or a semicolon.
            place = end if after else start
            self._edits.append((place, place, f"; {text}" if after else f"{text}; "))
            return
        if not after:
            place = self._starts[node.lineno - 1]
            self._edits.append((place, place, f"{indent}{text}{ending}"))
            return
        place = self._starts[node.end_lineno]
        before = "" if last.endswith(("\n", "\r")) else ending
        self._edits.append((place, place, f"{before}{indent}{text}{ending if not before else ''}"))

    def _finish(self) -> Migration:
        source = self._source
        for start, end, text in sorted(self._edits, reverse=True):
            source = source[:start] + text + source[end:]
        ast.parse(source)
        lines = {self._line_of(start) for start, _, _ in self._edits}
        return Migration(source, len(lines), sorted(self._remarks))

    def _line_of(self, position: int) -> int:
        return self._source.count("\n", 0, position)


def _bound_name(node: ast.AST) -> str | None:
    """The name that a node gives a meaning, other than by an import of tvm-ffi."""
    if isinstance(node, ast.alias) and node.name.partition(".")[0] != _OLD:
        return node.asname or node.name.partition(".")[0]
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name
    return None


def _imports(node: ast.AST, module: str) -> bool:
    return isinstance(node, ast.alias) and node.name.partition(".")[0] == module


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _uses_tvm(source: str) -> bool:
    """True if a module imports TVM itself."""
    if "tvm" not in source:
        return False
    names: list[str | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.extend(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module)
    return any(name and name.partition(".")[0] == "tvm" for name in names)


def _is_long(text: str) -> bool:
    """True for prose, such as a docstring."""
    return "\n" in text or text.count(" ") > 5


def _read(path: Path) -> tuple[str, str]:
    """The source with its line endings, and its encoding."""
    data = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return data.decode(encoding), encoding


def _write(path: Path, data: bytes) -> None:
    """Replaces a file, completely or not at all; a link keeps its target."""
    path = path.resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(data)
        shutil.copymode(path, part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _files(paths: Sequence[str]) -> Iterator[Path]:
    for name in paths:
        path = Path(name)
        if path.is_dir():
            yield from sorted(path.rglob("*.py"))
        else:
            yield path


def _names_that_stay(path: Path) -> frozenset[str]:
    """The answer for a file; a file that cannot be read is reported later."""
    try:
        return names_that_stay(_read(path)[0])
    except (OSError, SyntaxError, ValueError):
        return frozenset()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns 0, with `--check` 1 if a file would change, 2 on error."""
    parser = argparse.ArgumentParser(
        prog="python -m isoform.migrate",
        description="Rewrite imports of tvm_ffi to isoform, and report the rest.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file or a folder")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if there is work")
    options = parser.parse_args(arguments)
    changed = lines = remarks = failures = of_tvm = 0
    files = list(_files(options.paths))
    stay = frozenset[str]().union(*map(_names_that_stay, files))
    for path in files:
        try:
            source, encoding = _read(path)
            done = migrate(source, stay=stay)
            if done.source != source and not options.check:
                _write(path, done.source.encode(encoding))
        except (OSError, SyntaxError, ValueError) as error:
            print(f"{path}: not changed: {error}", file=sys.stderr)
            failures += 1
            continue
        of_tvm += _uses_tvm(source)
        for remark in done.remarks:
            print(f"{path}:{remark.line}: {remark.text}")
        changed += done.source != source
        lines += done.changed
        remarks += len(done.remarks)
    would = "would change" if options.check else "changed"
    print(f"{would} {lines} lines in {changed} files; {remarks} lines to look at")
    if of_tvm:
        print(f"{of_tvm} files import tvm: docs/from-tvm.md has the names of Isoform for these")
    if failures:
        return 2
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
