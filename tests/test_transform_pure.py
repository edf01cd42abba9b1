"""Pure passes: what their results depend on is part of the key, or is refused."""

import dataclasses
import functools

import pytest

from isoform import Object, ir
from isoform.dataclasses import py_class, replace
from isoform.transform import (
    FunctionPass,
    Memo,
    MemoryCache,
    PassContext,
    PassInfo,
    function_pass,
    functions,
    register_config_option,
)

register_config_option("test_pure.add", int, 1, "A number to add.")
register_config_option("test_pure.mul", int, doc="A factor.")


@py_class("test_pure.Fun")
class Fun(ir.BaseFunc):
    """A function that is a number."""

    number: int


@py_class("test_pure.Other")
class Other(ir.BaseFunc):
    """A function left alone by passes over `Fun`."""


def module(number=10, **attrs):
    return ir.IRModule({"f": Fun(number=number)}, attrs=attrs)


def pure(func=None, **options):
    return function_pass(func, opt_level=0, cls=Fun, pure=True, version="1", **options)


def number(mod):
    return mod["f"].number


class Runs:
    """Counts the runs of passes, which ignore the counter."""

    count = 0


def twice(made, mod=None, change=lambda: None, **options):
    """Run a pass, make a change, and run it again with one cache.

    Returns both numbers, which are those without a cache.
    """
    cache = MemoryCache()
    found = []
    for config in (options.get("config", {}), options.get("then", {})):
        with PassContext(config=config, cache=cache):
            found.append(number(made(mod or module())))
        with PassContext(config=config):
            assert number(made(mod or module())) == found[-1]
        change()
        change = lambda: None  # noqa: E731
    return found


def test_options_of_the_context_are_part_of_the_key():
    @pure
    def P(fun, mod, ctx):
        return replace(fun, number=fun.number + ctx.config_value("test_pure.add"))

    assert twice(P, then={"test_pure.add": 5}) == [11, 15]
    assert twice(P, config={"test_pure.add": 5}, then={"test_pure.add": 1}) == [15, 11]

    @pure
    def Read(fun, mod, ctx):
        return replace(fun, number=fun.number * ctx.config.get("test_pure.mul", 2))

    assert twice(Read, then={"test_pure.mul": 3}) == [20, 30]

    @pure
    def Current(fun, mod, ctx):
        return replace(fun, number=fun.number + PassContext.current().config_value("test_pure.add"))

    assert twice(Current, then={"test_pure.add": 5}) == [11, 15]


def test_level_and_names_of_a_context_are_part_of_the_key():
    @pure
    def P(fun, mod, ctx):
        names = len(ctx.required_pass) + 10 * len(ctx.disabled_pass)
        return replace(fun, number=100 * ctx.opt_level + names)

    cache = MemoryCache()

    def run(*options):
        with PassContext(*options, cache=cache):
            return number(P(module()))

    found = [run(0), run(3), run(3, ["A"]), run(3, ["A"], ["B"]), run(3)]
    assert found == [0, 300, 301, 311, 300]


def test_an_unrelated_context_is_a_hit(tmp_path):
    Runs.count = 0

    @pure
    def P(fun, mod, ctx):
        Runs.count += 1
        return replace(fun, number=1)

    cache = MemoryCache()
    for options in ({}, {"reproducer": tmp_path}, {"config": {"testing.immutable_module": True}}):
        with PassContext(cache=cache, **options):
            assert number(P(module())) == 1
    assert Runs.count == 1


@pytest.mark.parametrize(
    "read",
    [
        lambda mod: len(mod.functions),
        lambda mod: mod.attrs,
        lambda mod: mod["f"],
        lambda mod: mod.get_global_var("f"),
        lambda mod: getattr(mod, "attrs", None),
        list,
        len,
        lambda mod: "f" in mod,
    ],
)
@pytest.mark.parametrize("cached", [False, True])
def test_a_program_that_is_not_declared_cannot_be_read(read, cached):
    @pure
    def P(fun, mod, ctx):
        read(mod)
        return fun

    with (
        pytest.raises(ValueError, match=r"pass 'P' is pure and asks the program .*reads=lambda"),
        PassContext(cache=MemoryCache() if cached else None),
    ):
        P(module())


def test_a_program_that_is_not_declared_cannot_be_passed_on():
    @pure
    def P(fun, mod, ctx):
        functions(mod)[0]
        return ir.IRModule.update(module(), mod)

    with pytest.raises(TypeError, match=r"got transform\.NoProgram") as info:
        P(module())
    assert any("declares what it reads" in note for note in info.value.__notes__)


def test_what_is_declared_is_part_of_the_key():
    @pure(reads=lambda fun, mod: mod.attrs)
    def P(fun, mod, ctx):
        return replace(fun, number=fun.number + mod.attrs["k"])

    cache = MemoryCache()
    with PassContext(cache=cache):
        assert [number(P(module(k=k))) for k in (1, 5, 1)] == [11, 15, 11]

    @pure(reads=lambda fun, mod: [name for name, one in functions(mod) if one.same_as(fun)])
    def Named(fun, mod, ctx):
        (name,) = [name for name, one in functions(mod) if one.same_as(fun)]
        return replace(fun, number=len(name))

    with PassContext(cache=cache):
        found = [functions(Named(ir.IRModule({n: Fun(number=1)})))[0] for n in ("f", "long", "f")]
    assert [(name, fun.number) for name, fun in found] == [("f", 1), ("long", 4), ("f", 1)]


def test_a_program_without_functions_is_the_function():
    @py_class("test_pure.Alone")
    class Alone(Object):
        number: int

    @function_pass(opt_level=0, pure=True, version="1")
    def P(fun, mod, ctx):
        return replace(fun, number=mod.number + 1)

    with PassContext(cache=MemoryCache()):
        assert [P(Alone(n)).number for n in (1, 2, 1)] == [2, 3, 2]


def test_a_list_of_options_that_grows():
    @pure
    class P:
        def __init__(self, names):
            self.names = names

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=len(self.names))

    names = ["a"]
    assert twice(P(names), change=lambda: names.append("b")) == [1, 2]


def test_attributes_of_a_pass():
    @pure
    class P:
        limit = 3

        def __init__(self, k):
            self.k = k

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=fun.number + self.k * self.limit)

    made = P(1)
    assert twice(made, change=lambda: setattr(made, "k", 7)) == [13, 31]
    assert made.k == 7
    assert twice(made, change=lambda: setattr(made, "limit", 1)) == [31, 17]

    @pure
    def Q(fun, mod, ctx):
        return replace(fun, number=fun.number + getattr(Q, "k", 0))

    assert twice(Q, change=lambda: setattr(Q, "k", 7)) == [10, 17]


LIMIT = 1


def test_variables_that_a_pass_names(monkeypatch):
    rest, count = [1], 1

    @dataclasses.dataclass
    class Settings:
        size: int = 1

    settings = Settings()

    def helper():
        return count

    @pure
    def P(fun, mod, ctx, *, names={"a": 1}):  # noqa: B006
        total = sum(rest) + helper() + sum(names.values()) + settings.size + LIMIT
        return replace(fun, number=total)

    def grow():
        nonlocal count
        count = 10

    assert twice(P, change=lambda: rest.append(5)) == [5, 10]
    assert twice(P, change=grow) == [10, 19]
    assert twice(P, change=lambda: setattr(settings, "size", 3)) == [19, 21]
    assert twice(P, change=lambda: monkeypatch.setattr(f"{__name__}.LIMIT", 2)) == [21, 22]

    def add(k, fun, mod, ctx):
        return replace(fun, number=fun.number + k[0])

    given = [1]
    made = FunctionPass(functools.partial(add, given), PassInfo(0, "Add"), memo=Memo("1"))
    assert twice(made, change=lambda: given.append(given.pop() + 1)) == [11, 12]


def test_the_order_of_entries_counts():
    @pure
    class P:
        def __init__(self):
            self.entries = {"a": 1, "b": 2}

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=next(iter(self.entries.values())))

    made = P()
    assert twice(made, change=lambda: setattr(made, "entries", {"b": 2, "a": 1})) == [1, 2]


def test_a_pass_that_changes_what_it_captures_is_refused():
    seen = []

    @pure
    def P(fun, mod, ctx):
        seen.append(fun.number)
        return replace(fun, number=len(seen))

    message = "pass 'P' is pure, but changed 'seen' while it ran"
    with pytest.raises(ValueError, match=message), PassContext(cache=MemoryCache()):
        P(module())


def test_nothing_is_kept_for_a_value_without_digest():
    class Factor:
        value = 2

    factor = Factor()

    @pure
    def P(fun, mod, ctx):
        return replace(fun, number=fun.number * factor.value)

    assert twice(P, change=lambda: setattr(factor, "value", 3)) == [20, 30]


def test_results_with_messages_are_not_kept():
    Runs.count = 0

    @pure
    def P(fun, mod, ctx):
        Runs.count += 1
        assert ctx.diag_ctx.module.functions
        return fun

    cache = MemoryCache()
    for _ in range(2):
        with PassContext(cache=cache):
            P(module())
    assert Runs.count == 2
