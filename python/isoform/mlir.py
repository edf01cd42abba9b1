"""Programs of MLIR, of any dialect: equality, digests, differences, and what passes changed.

    left = isoform.mlir.from_module(module)  # of jaxlib, IREE or xDSL
    right = isoform.mlir.load("after.mlir")
    isoform.structural_digest(left)
    print(isoform.mlir.diff(left, right))

A program is an `isoform.types.mlir.Program`, and every function of the package works on it.
Names of values and blocks, locations, aliases, and the names of private symbols do not
count. `docs/mlir.md` says what is compared, and what each level of `normal_form` ignores.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.diff import Difference, diff as _diff

if TYPE_CHECKING:
    from isoform.types.mlir import Block, Program, Region

__all__ = [
    "OperationChange",
    "PassStep",
    "ProgramDiff",
    "changes",
    "diff",
    "extract",
    "from_jax",
    "from_module",
    "load",
    "normal_form",
    "passes",
    "read",
    "read_attribute",
    "read_split",
    "region",
    "save",
    "with_bindings",
    "write",
]


def read(text: str | bytes, *, name: str = "MLIR", symbol_names: bool = False) -> Program:
    """The program of a text in the generic form. Linear in the text.

    Args:
        text: what `mlir-opt -mlir-print-op-generic` prints; large constants must not be
            elided. The pretty forms of modules, functions, calls, returns and
            `arith.constant` are read, too.
        name: the name of the text in messages.
        symbol_names: private symbols keep their names; for a part of a program, which may
            refer to symbols outside.

    Raises:
        ValueError: the text is malformed; the message has line, column and the line itself.

    Example:
        >>> import isoform
        >>> left = isoform.mlir.read('%0 = "x.make"() : () -> i32')
        >>> right = isoform.mlir.read('%a = "x.make"() : () -> i32 loc("f.py":1:1)')
        >>> isoform.structural_equal(left, right)
        True
    """
    return _core.mlir_read(text, name, symbol_names)


def read_attribute(text: str) -> Any:
    """The attribute or type of a text, for example a new value of an attribute.

    Raises:
        ValueError: the text is malformed.

    Example:
        >>> read_attribute("dense<1.0> : tensor<4xf32>").ty.element.name
        'f32'
    """
    return _core.mlir_read_attribute(text)


def read_split(text: str | bytes, *, name: str = "MLIR") -> list[Program]:
    """The programs of a text that lines `// -----` separate.

    Raises:
        ValueError: as for `read`.
    """
    return _core.mlir_read_split(text, name)


def load(file: str | os.PathLike[str]) -> Program:
    """The program of a file in the generic form.

    Raises:
        OSError: the file cannot be read.
        ValueError: as for `read`.
    """
    return read(Path(file).read_bytes(), name=os.fspath(file))


def write(
    program: Program,
    *,
    locations: bool = False,
    max_elements: int | None = None,
    kind_names: bool = False,
) -> str:
    """The text of a program in the generic form, which MLIR's parser reads.

    Args:
        program: the program.
        locations: write the locations of operations and arguments.
        max_elements: the largest number of elements of a constant that are written, for
            people; larger constants get the beginning of a digest, and the text cannot be
            read back.
        kind_names: name values by the kinds of their operations, `%add_2` instead of `%7`, so
            that an edit changes few lines.

    Raises:
        ValueError: the program uses a value, block or symbol that it does not define, or the
            text has more than 2 GiB.

    Example:
        >>> print(write(read("module { %x = arith.constant 255 : i8 }")), end="")
        "builtin.module"() ({
          %0 = "arith.constant"() <{value = -1 : i8}> : () -> i8
        }) : () -> ()
    """
    return _core.mlir_write(program, locations, max_elements, kind_names)


def save(program: Program, file: str | os.PathLike[str], *, locations: bool = False) -> None:
    """Write a program to a file in the generic form, which replaces an older file at once.

    Raises:
        OSError: the file cannot be written.
        ValueError: as for `write`.
    """
    path = Path(file)
    text = write(program, locations=locations)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def from_module(module: Any) -> Program:
    """The program of a live module, without a file.

    Args:
        module: a module or operation of MLIR's Python bindings, such as those of jaxlib, IREE
            and torch-mlir, or an operation of xDSL. Neither package is imported here.

    Raises:
        TypeError: the object prints no generic form.
        ValueError: as for `read`.
    """
    operation = getattr(module, "operation", module)
    get_asm = getattr(operation, "get_asm", None)
    if get_asm is not None:
        return read(_printed(get_asm), name=f"text of {type(module).__name__}")
    if any(base.__module__.partition(".")[0] == "xdsl" for base in type(module).__mro__):
        from importlib import import_module

        stream = io.StringIO()
        printer = import_module("xdsl.printer").Printer(stream, print_generic_format=True)
        printer.print_op(module)
        return read(stream.getvalue(), name=f"text of {type(module).__name__}")
    raise TypeError(
        f"isoform.mlir.from_module: expected a module or operation of MLIR's Python bindings or "
        f"of xDSL, got {type(module).__name__}; isoform.mlir.read reads text"
    )


def _printed(get_asm: Any) -> str | bytes:
    """The generic form with all contents; older bindings know fewer options."""
    options: dict[str, Any] = {"print_generic_op_form": True, "binary": True}
    try:
        return get_asm(**options, large_elements_limit=None, large_resource_limit=None)
    except TypeError:
        return get_asm(**options)


def from_jax(function: Any, *args: Any, **kwargs: Any) -> Program:
    """The StableHLO program to which JAX lowers a function for these arguments.

    Args:
        function: a function, which is jitted, or a jitted one.
        args: the arguments, or `jax.ShapeDtypeStruct`s.
        kwargs: the same by name.

    Raises:
        ImportError: JAX is not installed.
        ValueError: as for `read`.
    """
    from importlib import import_module

    jitted = function if hasattr(function, "lower") else import_module("jax").jit(function)
    return from_module(jitted.lower(*args, **kwargs).compiler_ir("stablehlo"))


def normal_form(
    program: Program,
    *,
    io_names: bool = True,
    contents: bool = True,
    symbol_order: bool = True,
    semantics: bool = False,
    dialects: Sequence[str | os.PathLike[str]] = (),
) -> Program:
    """The program without what a level of comparison ignores.

    Two programs are equal at a level if their normal forms are structurally equal. With the
    defaults the program is its own normal form.

    Args:
        program: the program.
        io_names: attributes that only name arguments and results count, such as
            `jax.result_info`.
        contents: the numbers of constants count, and the contents of resources.
        symbol_order: the order of private symbols counts.
        semantics: use what is known of dialects: operands of commutative operations have no
            order, attributes equal to their default are absent, and `<{...}>` and `{...}`
            are one dictionary.
        dialects: files with more knowledge of dialects, in the format of `docs/mlir.md`.

    Raises:
        OSError: a file of dialects cannot be read.
        ValueError: a file of dialects is malformed.

    Example:
        >>> import isoform
        >>> def sums(operands):
        ...     return read(f'''
        ...         func.func @f(%a: i32, %b: i32) -> i32 {{
        ...           %c = "arith.addi"({operands}) : (i32, i32) -> i32
        ...           return %c : i32
        ...         }}''')
        >>> forms = [normal_form(sums(text), semantics=True) for text in ("%a, %b", "%b, %a")]
        >>> isoform.structural_equal(*forms)
        True
    """
    tables = [(os.fspath(file), Path(file).read_text(encoding="utf-8")) for file in dialects]
    return _core.mlir_normal_form(program, io_names, contents, symbol_order, semantics, tables)


@dataclass(frozen=True)
class OperationChange:
    """Operations that differ in the same way."""

    kind: str
    """`changed`, `removed`, `added` or `moved`."""
    text: str
    """The sentence."""
    count: int
    """The number of operations."""
    lines: tuple[str | None, str | None]
    """The first operation on the left and on the right, as far as it is there."""
    changes: list[int]
    """The positions in `Difference.changes`."""

    def __str__(self) -> str:
        """Return the sentence."""
        return self.text


@dataclass(frozen=True)
class ProgramDiff:
    """The difference of two programs, operation by operation; empty and false if they are equal."""

    difference: Difference
    """The structural difference, with its patch."""
    changes: list[OperationChange]
    """The changes, in the order of the programs."""
    summary: str
    """The numbers of operations, such as `2 operations changed, 1 added`."""

    @property
    def is_equal(self) -> bool:
        """True if the programs are equal."""
        return not self.difference

    def __bool__(self) -> bool:
        """Return whether the programs differ."""
        return bool(self.difference)

    def __len__(self) -> int:
        """Return the number of changes."""
        return len(self.changes)

    def __str__(self) -> str:
        """Return the summary, and a line for each change."""
        if self.is_equal:
            return "equal"
        return "\n".join([f"different: {self.summary}", *map(str, self.changes)])


def diff(left: Program, right: Program) -> ProgramDiff:
    """The difference of two programs in the words of MLIR.

    Raises:
        TypeError: a side is not a program.

    Example:
        >>> left, right = (read(f'"x.{name}"() : () -> ()') for name in "ab")
        >>> print(diff(left, right))
        different: 1 operation changed
        x.a became x.b
    """
    difference = _diff(left, right)
    rows, summary = _core.mlir_changes(difference)
    return ProgramDiff(difference, [OperationChange(*row) for row in rows], summary)


def changes(difference: Difference) -> list[OperationChange]:
    """The changes of a difference of two programs, operation by operation.

    Raises:
        TypeError: the sides of the difference are not programs.
    """
    return [OperationChange(*row) for row in _core.mlir_changes(difference)[0]]


def extract(program: Program, symbols: str | Iterable[str]) -> Program:
    """The program with the operations of these symbols and everything that they refer to.

    Raises:
        KeyError: the module has no such symbol; the message lists its symbols.

    Example:
        >>> program = read("func.func @f() { return } func.func @g() { return }")
        >>> print(write(extract(program, "g")).count("func.func"))
        1
    """
    return _core.mlir_extract(program, [symbols] if isinstance(symbols, str) else list(symbols))


def region(blocks: Iterable[Block]) -> Region:
    """A region of these blocks, which binds what they define. Linear in the operations inside."""
    return _core.mlir_region(list(blocks))


def with_bindings(program: Program) -> Program:
    """The program with regions that bind what their blocks define now.

    A pass that adds or removes blocks, private symbols, or uses of values before their
    definitions ends with this call. Linear in the program.
    """
    return _core.mlir_with_bindings(program)


@dataclass(frozen=True)
class PassStep:
    """A dump of a pass pipeline, compared with the dumps before it."""

    name: str
    """The name of the pass; empty for a text without a pass."""
    argument: str
    """The name on the command line, or empty."""
    moment: str
    """`before`, `after`, `failed` (after the pass failed) or `text` (without a pass)."""
    line: int
    """The line of the text before the dump."""
    is_first: bool
    """True if nothing of the dump was known before."""
    summary: str
    """The changes in one line."""
    changes: list[tuple[str, str, list[OperationChange]]]
    """For each symbol that differs: the symbol, `added`, `removed` or `changed`, and the changes."""

    def __str__(self) -> str:
        """Return the name of the pass and its changes."""
        return f"{self.argument or self.name}: {self.summary}"


def passes(dumps: str | bytes) -> list[PassStep]:
    """The changes that each pass of a pipeline really made.

    Args:
        dumps: what `mlir-opt -mlir-print-ir-after-all -mlir-print-op-generic` prints on standard
            error.

    Raises:
        ValueError: the text has no dumps, or a dump is malformed.

    Example:
        >>> dumps = '''
        ... // -----// IR Dump After A (a) //----- //
        ... func.func @f() { "x.y"() : () -> () return }
        ... // -----// IR Dump After B (b) //----- //
        ... func.func @f() { return }'''
        >>> [str(step) for step in passes(dumps)]
        ['a: first dump', 'b: @f: 1 operation removed']
    """
    steps = []
    for row in _core.mlir_passes(dumps):
        units = [
            (symbol, kind, [OperationChange(*change) for change in rows])
            for symbol, kind, rows in row.pop("changes")
        ]
        steps.append(PassStep(**row, changes=units))
    return steps
