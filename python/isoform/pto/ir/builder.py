"""Programs built statement by statement, with context managers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from isoform import _core
from isoform.ir import _api

from .location import caller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from isoform.pto.datatype import DataType
    from isoform.types.pto import (
        Expr,
        ForKind,
        ForStmt,
        Function,
        FunctionType,
        GlobalVar,
        IfStmt,
        IterArg,
        Level,
        MemorySpace,
        MemRef,
        PadValue,
        ParamDirection,
        Program,
        Role,
        ScopeStmt,
        Span,
        SplitMode,
        Stmt,
        TensorLayout,
        TensorType,
        TensorView,
        TileType,
        TileView,
        Type,
        Var,
        WhileStmt,
    )

__all__ = ["IRBuilder", "ProgramBuilder"]

_new_builder = _api.function("pto.IRBuilder")
_new_program_builder = _api.function("pto.ProgramBuilder")


def _class(name: str) -> Any:
    return _core.class_of(f"pto.{name}")


def _sizes(given: Sequence[Any], span: Span) -> list[Any]:
    """Return sizes or offsets with ints as literals at a source location."""
    index = _class("DataType").INDEX
    literal = _class("ConstInt")
    return [literal(size, index, span) if isinstance(size, int) else size for size in given]


def _given(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _values(given: tuple[Any, ...]) -> list[Any]:
    """Returns values passed either in separate arguments or in a sequence."""
    if len(given) == 1 and isinstance(given[0], list | tuple):
        return list(given[0])
    return list(given)


class _Part:
    """A part of a function, open while its `with` block runs."""

    _begin: str
    _end: str
    _what: str

    def __init__(self, builder: IRBuilder, arguments: tuple[Any, ...], span: Span | None) -> None:
        self._builder = builder
        self._arguments = arguments
        self._span = span or caller()
        self._depth = 0
        self._is_open = False
        self._result: Any = None

    def __enter__(self) -> Any:
        """Open the part; following statements are added to it."""
        if self._is_open or self._result is not None:
            raise RuntimeError(f"{self._what}: a with block is entered once")
        self._depth = self._ask("depth")
        self._ask(self._begin, *self._arguments)
        self._is_open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the part; after an exception it is left out."""
        self._is_open = False
        if kind is not None:
            self._ask("abort", self._depth)
            return
        try:
            self._result = self._ask(self._end)
        except Exception:
            self._ask("abort", self._depth)
            raise

    def _finished(self) -> Any:
        if self._result is None:
            raise RuntimeError(f"{self._what}: there is no result before the end of its with block")
        return self._result

    def _ask(self, command: str, *arguments: Any) -> Any:
        return self._builder._ask(self._span, command, *arguments)

    def _inside(self, command: str, span: Span | None, *arguments: Any) -> Any:
        if not self._is_open:
            raise RuntimeError(f"{command}: the with block of the {self._what} is not open")
        return self._builder._ask(span or caller(), command, *arguments)


class FunctionBuilder(_Part):
    """A function that is being built."""

    _begin, _end, _what = "begin_function", "end_function", "function"

    def get_result(self) -> Function:
        """Return the function; RuntimeError before the end of the `with` block."""
        result: Function = self._finished()
        return result

    def param(
        self,
        name: str,
        type: Type,  # noqa: A002
        direction: ParamDirection | None = None,
        span: Span | None = None,
    ) -> Var:
        """Add a parameter and return it.

        Args:
            name: Its name, for people.
            type: Its type.
            direction: Its direction; input by default.
            span: The source location; by default the location of the call.

        Raises ValueError if something inside of the function is open.
        """
        direction = direction or _class("ParamDirection").In
        return self._inside("param", span, name, type, direction)

    def return_type(self, type: Type) -> None:  # noqa: A002
        """Say the type of the next result.

        Raises ValueError if something inside of the function is open.
        """
        self._inside("return_type", None, type)


class _Results(_Part):
    """A part with variables for the values yielded in the part."""

    def __init__(self, builder: IRBuilder, arguments: tuple[Any, ...], span: Span | None) -> None:
        super().__init__(builder, arguments, span)
        self._vars: list[Var] = []

    def return_var(
        self,
        name: str,
        type: Type | None = None,  # noqa: A002
        span: Span | None = None,
    ) -> Var:
        """Add a variable for a yielded value, and return it.

        Args:
            name: Its name, for people.
            type: The type; in a loop, by default that of the carried variable.
            span: The source location; by default the location of the call.

        Raises ValueError if something inside of this part is open, or the type
        is not known.
        """
        var: Var = self._inside("return_var", span, name, type)
        self._vars.append(var)
        return var

    def output(self, index: int = 0) -> Var:
        """Return a variable added with `return_var`; IndexError without.

        Args:
            index: The index of the variable, from 0; negative indices count from the end.
        """
        count = len(self._vars)
        if not -count <= index < count:
            results = "is 1 result" if count == 1 else f"are {count} results"
            raise IndexError(f"output({index}): there {results}, made with return_var")
        return self._vars[index]

    def outputs(self) -> list[Var]:
        """Return the variables added with `return_var`."""
        return list(self._vars)


class _LoopBuilder(_Results):
    def iter_arg(
        self,
        name: str,
        init_value: Expr | float,
        type: Type | None = None,  # noqa: A002
        span: Span | None = None,
    ) -> IterArg:
        """Add a variable carried by the loop, and return the variable.

        Args:
            name: Its name, for people.
            init_value: The value in the first iteration.
            type: The type; by default the type of that value.
            span: The source location; by default the location of the call.

        Raises ValueError if something inside of the loop is open.
        """
        return self._inside("iter_arg", span, name, init_value, type)


class ForLoopBuilder(_LoopBuilder):
    """A loop over numbers under construction."""

    _begin, _end, _what = "begin_for", "end_loop", "for loop"

    def get_result(self) -> ForStmt:
        """Return the loop; RuntimeError before the end of the `with` block."""
        result: ForStmt = self._finished()
        return result

    def __init__(self, builder: IRBuilder, plan: ForStmt, span: Span) -> None:
        super().__init__(builder, (plan,), span)
        self.loop_var: Var = plan.loop_var
        """The number of the iteration."""


class WhileLoopBuilder(_LoopBuilder):
    """A loop with a condition under construction."""

    _begin, _end, _what = "begin_while", "end_loop", "while loop"

    def get_result(self) -> WhileStmt:
        """Return the loop; RuntimeError before the end of the `with` block."""
        result: WhileStmt = self._finished()
        return result

    def set_condition(self, condition: Expr | bool) -> None:
        """Set the condition, which may depend on carried values.

        Raises ValueError if something inside of the loop is open.
        """
        self._inside("while_condition", None, condition)


class IfStmtBuilder(_Results):
    """Two branches that are being built."""

    _begin, _end, _what = "begin_if", "end_if", "if"

    def get_result(self) -> IfStmt:
        """Return the statement; RuntimeError before the end of the `with` block."""
        result: IfStmt = self._finished()
        return result

    def else_(self, span: Span | None = None) -> IfStmtBuilder:
        """Begin the other branch: the rest of the `with` block belongs to the branch.

        Raises ValueError if something inside of the branch is open, and when
        this was called before.
        """
        self._inside("begin_else", span)
        return self


class ScopeBuilder(_Part):
    """A scope statement that is being built."""

    _begin, _end, _what = "begin_scope", "end_scope", "scope"

    def get_result(self) -> ScopeStmt:
        """Return the statement; RuntimeError before the end of the `with` block."""
        result: ScopeStmt = self._finished()
        return result


class ProgramBuilder:
    """A program under construction, function by function.

    Args:
        name: Its name.
        span: The source location; by default the location of the call.

    >>> from isoform.pto import ir
    >>> pb = ir.ProgramBuilder("pair")
    >>> callee = pb.declare_function("f")
    >>> pb.add_function(ir.Function("f", [], [], ir.SeqStmts([]))).same_as(callee)
    True
    >>> pb.get_result().get_function("f").name
    'f'
    """

    def __init__(self, name: str = "", span: Span | None = None) -> None:
        """See the class."""
        self._ask = _new_program_builder(name, span or caller())
        self._result: Program | None = None
        # Tells the builder of functions about added functions.
        self._declare: Callable[[Function], None] | None = None

    def __enter__(self) -> ProgramBuilder:
        """Return the builder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Make the program, unless the block failed."""
        if kind is None:
            self._result = self._ask("result")

    def declare_function(self, name: str) -> GlobalVar:
        """Return the callee of a function, before the function is added.

        Raises ValueError for an empty name.
        """
        return self._ask("declare", name)

    def add_function(self, function: Function) -> GlobalVar:
        """Add a function, declared or not, and return its callee.

        Raises ValueError for a second function of the same name.
        """
        callee = self._ask("add", function)
        if self._declare is not None:
            self._declare(function)
        return callee

    def get_global_var(self, name: str) -> GlobalVar:
        """Return the callee of a function.

        Raises ValueError for a function that was neither declared nor added.
        """
        return self._ask("global_var", name)

    def get_result(self) -> Program:
        """Return the program.

        Raises ValueError if a function was declared and not added.
        """
        return self._result or self._ask("result")


class IRBuilder:
    """A builder of functions and programs, statement by statement.

    Functions, loops, branches and scopes are `with` blocks; a block that ends with an
    exception is left out. Statements are not verified here, see `verify`; only obvious
    mistakes, like a `return_` outside of a function, raise ValueError at once. Numbers
    are accepted as expressions. Without a `span`, nodes get the location of the calling
    line.

    >>> from isoform.pto import DataType, ir
    >>> ib = ir.IRBuilder()
    >>> with ib.function("sum") as f:
    ...     n = f.param("n", ir.ScalarType(DataType.INT64))
    ...     f.return_type(ir.ScalarType(DataType.INT64))
    ...     i = ib.var("i", ir.ScalarType(DataType.INT64))
    ...     with ib.for_loop(i, 0, n, 1) as loop:
    ...         acc = loop.iter_arg("acc", 0)
    ...         total = loop.return_var("total")
    ...         ib.yield_(ib.let("next", acc + i))
    ...     ib.return_(total)
    >>> print(ir.python_print(f.get_result()), end="")
    @pl.function
    def sum(n: pl.INT64) -> pl.INT64:
        for i, (acc,) in pl.range(0, n, 1, init_values=(0,)):  # acc: pl.INT64
            next: pl.INT64 = acc + i
            total: pl.INT64 = pl.yield_(next)
        return total
    """

    def __init__(self) -> None:
        """Make a builder without open functions or scopes."""
        self._command = _new_builder()

    def _ask(self, span: Span | None, command: str, *arguments: Any) -> Any:
        return self._command(command, span, *arguments)

    def _do(self, span: Span | None, command: str, *arguments: Any) -> Any:
        return self._command(command, span or caller(), *arguments)

    def function(
        self,
        name: str,
        type: FunctionType | None = None,  # noqa: A002
        level: Level | None = None,
        role: Role | None = None,
        attrs: Mapping[str, Any] | None = None,
        requires_runtime_binding: bool = False,
        span: Span | None = None,
    ) -> FunctionBuilder:
        """Begin a function, in a `with` block.

        Args:
            name: Its name.
            type: Where it runs; unspecified by default.
            level: The level of the machine at which the function runs.
            role: Its role at that level; both follow from the type if omitted.
            attrs: Additional attributes.
            requires_runtime_binding: True if it must be bound before a call.
            span: The source location; by default the location of the call.
        """
        type = type or _class("FunctionType").Opaque  # noqa: A001
        body = _class("SeqStmts")([])
        plan = _class("Function")(
            name,
            [],
            [],
            body,
            type=type,
            level=level,
            role=role,
            attrs=attrs,
            requires_runtime_binding=requires_runtime_binding,
        )
        return FunctionBuilder(self, (plan,), span)

    def program(self, name: str = "", span: Span | None = None) -> ProgramBuilder:
        """Begin a program, in a `with` block; functions are added to it.

        A call without a type as a value or argument of a statement gets the type of the
        results of the called function, once the function is added, or built by this builder.

        Args:
            name: Its name.
            span: The source location; by default the location of the call.

        >>> from isoform.pto import DataType, ir
        >>> ib, int64 = ir.IRBuilder(), ir.ScalarType(DataType.INT64)
        >>> with ib.program("two") as p:
        ...     answer = p.add_function(ir.Function("answer", [], [int64], ir.SeqStmts([])))
        ...     with ib.function("main") as f:
        ...         x = ib.let("x", ir.Call(answer, []))
        >>> x.type == int64
        True
        """
        made = ProgramBuilder(name, span or caller())
        made._declare = lambda function: self._ask(None, "declare", function)
        return made

    def for_loop(
        self,
        loop_var: Var | str,
        start: Expr | int,
        stop: Expr | int,
        step: Expr | int = 1,
        kind: ForKind | None = None,
        attrs: Mapping[str, Any] | None = None,
        span: Span | None = None,
    ) -> ForLoopBuilder:
        """Begin a loop over numbers, in a `with` block.

        Args:
            loop_var: The number of the iteration; a name makes a variable of
                format INDEX.
            start: The first number.
            stop: The number before which the loop ends.
            step: The distance between numbers.
            kind: The relation between iterations; sequential by default.
            attrs: Additional attributes.
            span: The source location; by default the location of the call.
        """
        span = span or caller()
        if isinstance(loop_var, str):
            index = _class("ScalarType")(_class("DataType").INDEX)
            loop_var = _class("Var")(loop_var, index, span)
        plan = _class("ForStmt")(
            loop_var,
            start,
            stop,
            step,
            [],
            _class("SeqStmts")([]),
            [],
            kind=kind or _class("ForKind").Sequential,
            attrs=attrs,
        )
        return ForLoopBuilder(self, plan, span)

    def while_loop(
        self, condition: Expr | bool | None = None, span: Span | None = None
    ) -> WhileLoopBuilder:
        """Begin a loop with a condition, in a `with` block.

        Args:
            condition: The condition; None if `set_condition` sets it later.
            span: The source location; by default the location of the call.
        """
        return WhileLoopBuilder(self, (condition,), span)

    def if_stmt(self, condition: Expr | bool, span: Span | None = None) -> IfStmtBuilder:
        """Begin the statement for a true condition, in a `with` block.

        Args:
            condition: The condition.
            span: The source location; by default the location of the call.
        """
        return IfStmtBuilder(self, (condition,), span)

    def in_core_scope(
        self, split: SplitMode | None = None, name_hint: str = "", span: Span | None = None
    ) -> ScopeBuilder:
        """Begin a scope that runs on one core, in a `with` block.

        Args:
            split: The division of work between vector cores.
            name_hint: A name for people.
            span: The source location; by default the location of the call.
        """
        return self._scope("InCore", span, name_hint, split or _class("SplitMode").NONE)

    def cluster_scope(self, name_hint: str = "", span: Span | None = None) -> ScopeBuilder:
        """Begin a scope that runs on a cluster of cores, in a `with` block.

        Args:
            name_hint: A name for people.
            span: The source location; by default the location of the call.
        """
        return self._scope("Cluster", span, name_hint)

    def hierarchy_scope(
        self,
        level: Level,
        role: Role | None = None,
        name_hint: str = "",
        span: Span | None = None,
    ) -> ScopeBuilder:
        """Begin a scope that runs at a level of the machine, in a `with` block.

        Args:
            level: The level.
            role: Its role at that level.
            name_hint: A name for people.
            span: The source location; by default the location of the call.
        """
        return self._scope("Hierarchy", span, name_hint, level, role)

    def spmd_scope(
        self,
        core_num: Expr | int,
        sync_start: bool = False,
        name_hint: str = "",
        span: Span | None = None,
    ) -> ScopeBuilder:
        """Begin a scope that runs on many cores, in a `with` block.

        Args:
            core_num: The number of cores.
            sync_start: True if they start together.
            name_hint: A name for people.
            span: The source location; by default the location of the call.
        """
        return self._scope("Spmd", span, name_hint, core_num, sync_start)

    def runtime_scope(
        self, manual: bool = False, name_hint: str = "", span: Span | None = None
    ) -> ScopeBuilder:
        """Begin a scope treated by the run-time system like a unit, in a `with` block.

        Args:
            manual: True if the program determines when its tasks run.
            name_hint: A name for people.
            span: The source location; by default the location of the call.
        """
        return self._scope("Runtime", span, name_hint, manual)

    def _scope(self, kind: str, span: Span | None, *arguments: Any) -> ScopeBuilder:
        kinds = _class("ScopeKind")
        return ScopeBuilder(self, (getattr(kinds, kind), *arguments), span)

    def var(self, name: str, type: Type, span: Span | None = None) -> Var:  # noqa: A002
        """Return a new variable without a definition.

        Args:
            name: Its name, for people.
            type: Its type.
            span: The source location; by default the location of the call.
        """
        var: Var = _class("Var")(name, type, span or caller())
        return var

    def memref(
        self,
        memory_space: MemorySpace,
        addr: Expr | int,
        size: int,
        id: int,  # noqa: A002
        span: Span | None = None,
    ) -> MemRef:
        """Return a reference to bytes of a memory space.

        Args:
            memory_space: The space.
            addr: The offset in the space.
            size: The number of bytes.
            id: A number for the name, `mem_<space>_<id>`.
            span: The source location; by default the location of the call.
        """
        memref: MemRef = _class("MemRef")(memory_space, addr, size, id, span or caller())
        return memref

    def tensor_view(
        self,
        stride: Sequence[Expr | int] = (),
        layout: TensorLayout | None = None,
        valid_shape: Sequence[Expr | int] = (),
        pad: PadValue | None = None,
        span: Span | None = None,
    ) -> TensorView:
        """Return the memory layout of a tensor.

        Args:
            stride: The distances between neighbours in the dimensions.
            layout: The order of the elements; row by row by default.
            valid_shape: The part of the shape with data; empty for the whole shape.
            pad: The contents outside of that part.
            span: The source location of ints; by default the location of the call.
        """
        span = span or caller()
        stride, valid_shape = (_sizes(sizes, span) for sizes in (stride, valid_shape))
        given = _given(stride=stride, layout=layout, valid_shape=valid_shape, pad=pad)
        view: TensorView = _class("TensorView")(**given)
        return view

    def tile_view(
        self,
        valid_shape: Sequence[Expr | int] = (),
        stride: Sequence[Expr | int] = (),
        start_offset: Expr | int | None = None,
        span: Span | None = None,
        **options: Any,
    ) -> TileView:
        """Return the layout of a tile in its buffer.

        Args:
            valid_shape: The part of the shape with data; empty for the whole shape.
            stride: The distances between neighbours in the dimensions.
            start_offset: The offset of the first element.
            span: The source location of ints; by default the location of the call.
            options: Further arguments of `TileView` by name, such as `pad`.
        """
        span = span or caller()
        valid_shape, stride = (_sizes(sizes, span) for sizes in (valid_shape, stride))
        if start_offset is not None:
            (start_offset,) = _sizes((start_offset,), span)
        view: TileView = _class("TileView")(valid_shape, stride, start_offset, **options)
        return view

    def tensor_type(
        self,
        shape: Sequence[Expr | int],
        dtype: DataType,
        memref: MemRef | None = None,
        tensor_view: TensorView | None = None,
        span: Span | None = None,
    ) -> TensorType:
        """Return the type of a tensor.

        Args:
            shape: The sizes of the dimensions.
            dtype: The format of the elements.
            memref: The memory of the tensor, if known.
            tensor_view: The memory layout; row by row by default.
            span: The source location of ints; by default the location of the call.
        """
        shape = _sizes(shape, span or caller())
        made: TensorType = _class("TensorType")(shape, dtype, memref, tensor_view)
        return made

    def tile_type(
        self,
        shape: Sequence[Expr | int],
        dtype: DataType,
        memref: MemRef | None = None,
        tile_view: TileView | None = None,
        memory_space: MemorySpace | None = None,
        span: Span | None = None,
    ) -> TileType:
        """Return the type of a tile.

        Args:
            shape: The sizes of the dimensions.
            dtype: The format of the elements.
            memref: The memory of the tile, if known.
            tile_view: The layout in the buffer; by default the usual one.
            memory_space: The buffer.
            span: The source location of ints; by default the location of the call.
        """
        shape = _sizes(shape, span or caller())
        made: TileType = _class("TileType")(shape, dtype, memref, tile_view, memory_space)
        return made

    def let(
        self,
        name: str,
        value: Expr | float,
        type: Type | None = None,  # noqa: A002
        span: Span | None = None,
    ) -> Var:
        """Give a new variable a value, and return the variable.

        Args:
            name: Its name, for people.
            value: The value.
            type: The type; by default the type of the value.
            span: The source location; by default the location of the call.
        """
        return self._do(span, "let", name, value, type)

    def assign(self, var: Var, value: Expr | float, span: Span | None = None) -> Var:
        """Give a variable a value, and return the variable.

        Args:
            var: The variable.
            value: The value.
            span: The source location; by default the location of the call.
        """
        self._do(span, "assign", var, value)
        return var

    def emit(self, stmt: Stmt) -> None:
        """Add a statement; ValueError without an open part."""
        self._do(None, "emit", stmt)

    def eval(self, expr: Expr, span: Span | None = None) -> None:
        """Evaluate an expression for its effect.

        Args:
            expr: The expression.
            span: The source location; by default the location of the call.
        """
        self._do(span, "eval", expr)

    def return_(self, *values: Any, span: Span | None = None) -> None:
        """End the function with values, given separately or in a list.

        Raises ValueError outside of a function.
        """
        self._do(span, "return", _values(values))

    def yield_(self, *values: Any, span: Span | None = None) -> None:
        """End an iteration or a branch with values, given separately or in a list.

        Raises ValueError outside of a loop or `if`.
        """
        self._do(span, "yield", _values(values))

    def break_(self, span: Span | None = None) -> None:
        """End the loop; ValueError outside of a loop."""
        self._do(span, "break")

    def continue_(self, span: Span | None = None) -> None:
        """End an iteration of the loop; ValueError outside of a loop."""
        self._do(span, "continue")

    # The names of PyPTO for statements.
    return_stmt = return_
    yield_stmt = yield_
    break_stmt = break_
    continue_stmt = continue_

    def in_function(self) -> bool:
        """Return whether a function is open."""
        return self._ask(None, "in_function")

    def in_loop(self) -> bool:
        """Return whether a loop is open."""
        return self._ask(None, "in_loop")

    def in_if(self) -> bool:
        """Return whether a branch is open."""
        return self._ask(None, "in_if")
