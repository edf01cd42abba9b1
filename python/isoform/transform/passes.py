"""The classes of passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from isoform.core import Object
from isoform.dataclasses import c_class
from isoform.ir import _api

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from isoform import Array, Dict, Function

    from .cache import Memo

Program = TypeVar("Program")

__all__ = ["FunctionPass", "ModulePass", "Pass", "PassInfo", "Sequential"]

_run = _api.function("passes.run")
_describe = _api.function("passes.describe")
_describe_info = _api.function("passes.describe_info")


def names(given: Any, what: str) -> list[str]:
    """A list of names from a list, a tuple or a set; falsy values stand for no names."""
    if not given:
        return []
    if isinstance(given, (str, bytes)):
        raise TypeError(f"{what}: expected a list, tuple or set of names, got {given!r}")
    return sorted(given) if isinstance(given, (set, frozenset)) else list(given)


@c_class("transform.PassInfo")
class PassInfo(Object):
    """The name of a pass, and the conditions under which it runs.

    Args:
        opt_level: The lowest level of optimization at which a `Sequential` runs the
            pass.
        name: The name, by which contexts require and disable the pass.
        required: The names of passes that a `Sequential` runs before the pass.
        traceable: Kept for tools that trace tuning.
        preserves: The names of analyses with results that stay valid for functions
            changed by the pass; `"*"` means all analyses.

    Raises ValueError for an empty name.

    >>> from isoform.transform import PassInfo
    >>> info = PassInfo(2, "FoldConstant", ["InferType"])
    >>> info.opt_level, info.name, list(info.required), info.traceable
    (2, 'FoldConstant', ['InferType'], False)
    """

    opt_level: int
    name: str
    required: Array[str]
    preserves: Array[str]
    traceable: bool

    def __init__(
        self,
        opt_level: int,
        name: str,
        required: Iterable[str] | None = None,
        traceable: bool = False,
        preserves: Iterable[str] | None = None,
    ) -> None:
        """See the class."""
        this: Any = self
        this.__ffi_init__(
            opt_level,
            name,
            names(required, "PassInfo.required"),
            bool(traceable),
            names(preserves, "PassInfo.preserves"),
        )

    def __repr__(self) -> str:
        """Return name, level and requirements as a sentence."""
        return _describe_info(self)


@c_class("transform.Pass", init=False)
class Pass(Object):
    """A function from program to program; the base of all passes.

    Calling a pass runs it under the current `PassContext`, at any level of the context
    and without its required passes: these are the business of `Sequential`. Instruments
    see the run, and may skip the pass. The input never changes; the result is the same
    object if nothing changes.
    """

    __slots__ = ("__dict__",)

    info: PassInfo
    options: Dict[str, Any]

    def __call__(self, mod: Program) -> Program:
        """Run the pass on a program, and return the new program.

        Raises exceptions of the pass and of instruments; a note of the exception names
        the pass, and the function of the program.
        """
        return _run(self, mod)

    def __repr__(self) -> str:
        """Return kind, name and level as a sentence."""
        return _describe(self)


@c_class("transform.ModulePass")
class ModulePass(Pass):
    """A pass over a whole program.

    Args:
        func: Called with the program and the context; returns the new program.
        info: The name of the pass, and the conditions for its run.

    `module_pass` makes such a pass from a function or class.

    >>> from isoform import ir
    >>> from isoform.transform import ModulePass, PassInfo
    >>> empty = ModulePass(lambda mod, ctx: ir.IRModule(), PassInfo(0, "Empty"))
    >>> empty
    Run Module pass: Empty at the optimization level 0
    >>> len(empty(ir.IRModule({"f": ir.BaseFunc()})).functions)
    0
    """

    func: Function

    def __init__(self, func: Callable[..., Any], info: PassInfo) -> None:
        """See the class."""
        this: Any = self
        this.__ffi_init__(func, info)


@c_class("transform.FunctionPass")
class FunctionPass(Pass):
    """A pass over each function of a program.

    No function sees the changes of another function: all changes are put into the
    program together. The `Root` trait of a program type gives the functions; a program
    without the trait is a single function itself.

    Args:
        func: Called with a function, the program and the context; returns the new
            function.
        info: The name of the pass, and the conditions for its run.
        function_class: The class of functions to transform, or its key; empty for all
            functions.
        filter: Called with a function; returns whether to transform it.
        after: The names of passes to run on the result.
        memo: The declaration that results may be kept, if the pass is pure.
    """

    func: Function
    function_class: str
    filter: Function | None
    after: Array[str]
    memo: Memo | None

    def __init__(
        self,
        func: Callable[..., Any],
        info: PassInfo,
        function_class: type[Any] | str = "",
        filter: Callable[[Any], bool] | None = None,  # noqa: A002
        after: Iterable[str] = (),
        memo: Memo | None = None,
    ) -> None:
        """See the class."""
        from isoform import _core

        from .state import state_of

        key = function_class
        if isinstance(key, type):
            key = _core.type_info(key).type_key
        this: Any = self
        if memo is not None and memo.state is None:
            made: Any = type(memo)
            parts = (memo.version, memo.ignores, memo.reads, memo.code)
            memo = made(*parts, state_of(self, func))
        this.__ffi_init__(func, info, key, filter, names(after, "FunctionPass.after"), memo)


@c_class("transform.Sequential")
class Sequential(Pass):
    """A pass that runs a list of passes in order.

    A pass runs unless the context disables it, if the context requires it or the
    optimisation level of the context is at least the level of the pass. The required
    passes of a pass run before it, every time.

    Args:
        passes: The passes, in order.
        opt_level: The level of the sequence itself, inside of other sequences.
        name: The name.
        required: The names of passes to run before the sequence inside of another
            sequence.
        traceable: Kept for tools that trace tuning.

    Raises TypeError if `passes` is not a list or tuple of passes, or `required` not one
    of names.

    >>> from isoform import ir
    >>> from isoform.transform import PassInfo, ModulePass, PassContext, Sequential
    >>> show = lambda name: lambda mod, ctx: print(name) or mod
    >>> fast = ModulePass(show("fast"), PassInfo(1, "Fast"))
    >>> slow = ModulePass(show("slow"), PassInfo(3, "Slow"))
    >>> mod = Sequential([fast, slow])(ir.IRModule())
    fast
    >>> with PassContext(opt_level=3, disabled_pass=["Fast"]):
    ...     mod = Sequential([fast, slow])(mod)
    slow
    """

    passes: Array[Pass]

    def __init__(
        self,
        passes: list[Pass] | tuple[Pass, ...] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: list[str] | tuple[str, ...] | None = None,
        traceable: bool = False,
    ) -> None:
        """See the class."""
        passes = passes if passes is not None else []
        if not isinstance(passes, (list, tuple)) or not all(isinstance(p, Pass) for p in passes):
            raise TypeError("passes must be a list of Pass objects.")
        check_required(required)
        this: Any = self
        this.__ffi_init__(list(passes), opt_level, name, list(required or []), bool(traceable))


def check_required(required: Any) -> None:
    """Refuse requirements other than a list or tuple.

    Raises TypeError.
    """
    if required and not isinstance(required, (list, tuple)):
        raise TypeError("Required is expected to be the type of list/tuple.")
