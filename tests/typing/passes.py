"""Patterns, passes, and the decorators, which keep what they decorate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from typing_extensions import assert_type

from isoform import Object, get_global_func, register_global_func
from isoform.dataclasses import field, py_class
from isoform.pattern import Match, Pattern, Rewritten, Rule, rewrite, rewrite_greedily
from isoform.transform import (
    FunctionPass,
    ModulePass,
    PassContext,
    PassInstrument,
    analysis,
    function_pass,
    module_pass,
    register_pass,
)


@py_class("typing_passes.Var", structural_eq="var")
class Var(Object):
    """A variable."""

    name: str = field(structural_eq="ignore")


@py_class("typing_passes.Neg")
class Neg(Object):
    """A negation."""

    of: Neg | Var | int


x = Var("x")
twice = Pattern(Neg(Neg(x)), holes=[x])
assert_type(twice, Pattern[Neg])
assert_type(twice.template, Neg)
found = twice.match(Neg(Neg(3)))
assert_type(found, Match[Neg] | None)
if found is not None:
    assert_type(found.value, Neg)
    assert_type(found.instantiate(x), Var | None)
assert_type(twice.find_all(Neg(3)), list[Match[Neg]])
rule = Rule(twice, x)
assert_type(rewrite(Neg(Neg(Neg(3))), [rule]), Rewritten[Neg])
assert_type(rewrite_greedily(Neg(Neg(Neg(3))), rule).value, Neg)


@function_pass(opt_level=1, cls=Neg)
def Flip(function: Neg, root: Any, ctx: PassContext) -> Neg:  # noqa: N802
    """A pass from a function."""
    return Neg(function)


@function_pass(opt_level=1)
def Anything(function: Any, root: Any, ctx: PassContext) -> Any:  # noqa: N802
    """A pass with a function of any result."""
    return function


@register_pass("typing_passes.Idle")
@module_pass(opt_level=0, name="typing_passes.Idle")
def Idle(root: Neg, ctx: PassContext) -> Neg:  # noqa: N802
    """A pass over a program, registered."""
    return root


class Wrapping:
    """The function of a pass with an option."""

    def __init__(self, times: int = 1) -> None:
        self.times = times

    def transform_function(self, function: Neg, root: Any, ctx: PassContext) -> Neg:
        """Negates several times."""
        for _ in range(self.times):
            function = Neg(function)
        return function


# As a decorator, this is the same for pyright; mypy ignores decorators of classes.
Wrap = function_pass(opt_level=1, name="Wrap")(Wrapping)

assert_type(Flip, FunctionPass)
assert_type(Anything, FunctionPass)
assert_type(Idle, ModulePass)
assert_type(Flip(Neg(3)), Neg)
assert_type(Idle(Neg(3)), Neg)
assert_type(Wrap(times=2)(Neg(3)), Neg)
assert Wrap(times=2).times == 2


if TYPE_CHECKING:

    @function_pass(opt_level=1)  # type: ignore[arg-type]  # pyright: ignore[reportCallIssue, reportArgumentType, reportUntypedFunctionDecorator]
    def Short(function: Neg) -> Neg:  # noqa: N802
        """A function of a pass takes three arguments."""
        return function


@analysis
def depth(of: Neg) -> int:
    """An analysis stays a function."""
    return 1 + depth(of.of) if isinstance(of.of, Neg) else 1


assert_type(depth(Neg(3)), int)
with PassContext() as ctx:
    assert ctx.analysis(depth, Neg(3)) == 1


class Counting(PassInstrument):
    """An instrument."""

    def __init__(self) -> None:
        super().__init__()
        self.passes = 0

    def run_before_pass(self, mod: Any, info: Any) -> None:
        """Counts."""
        self.passes += 1


counting = Counting()
with PassContext(instruments=[counting]):
    Flip(Neg(3))
assert counting.passes == 1


@register_global_func("typing_passes.power", override=True)
def power(base: float, exponent: int = 2) -> float:
    """A registered function keeps its parameters."""
    return base**exponent


assert_type(power(2.0), float)
if TYPE_CHECKING:
    power("2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
assert get_global_func("typing_passes.power")(2.0) == 4.0
