"""Functions that keep their results in a store."""

import asyncio
import enum
import functools
import multiprocessing
import os
import pathlib
import signal
import textwrap
import threading
import time

import onnx
import pytest
from processes import output_of

import isoform
from isoform import ir, relay
from isoform.store import EntryKey, Store, cached


@pytest.fixture
def store(tmp_path):
    return Store.open(tmp_path / "store")


def counted(function):
    """A function that counts its calls."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)

    wrapper.calls = 0
    return wrapper


def identity_function(name):
    var = relay.Var(name)
    return relay.Function([var], var)


def test_renamed_programs_share_a_result(store):
    @counted
    def compiled(program, level=2):
        return program

    kept = cached(store)(compiled)
    first = kept(identity_function("x"))
    again = kept(identity_function("y"), level=2)
    assert compiled.calls == 1
    assert isoform.structural_equal(first, again)
    kept(identity_function("x"), 3)
    kept(ir.PrimType("int8"))
    assert compiled.calls == 3
    assert kept.cache_info() == (1, 3, 0)


ARGUMENTS = [
    None, True, False, 0, 1, 2**80, 1.0, 0.5, float("nan"), "", "1", "x" * 1000, "y" * 1000,
    b"", b"1", [1], [1, 2], {"a": 1}, {"a": 2}, ir.PrimType("int8"), isoform.dtype("int8"),
    isoform.Shape([1]), isoform.Array([isoform.dtype("int8")]),
]  # fmt: skip


def test_values_of_different_kinds_have_different_keys(store):
    @cached(store)
    def same(argument):
        return 0

    keys = {same.cache_key(argument) for argument in ARGUMENTS}
    assert len(keys) == len(ARGUMENTS)
    assert same.cache_key([1, 2]) == same.cache_key((1, 2)) == same.cache_key(argument=[1, 2])


def function_of_each_kind(a, b=2, /, c=3, *, d=4):
    return 0


def variable_arguments(a, *rest, b=1, **named):
    return 0


@pytest.mark.parametrize(
    "equal",
    [
        [((1,), {}), ((1, 2), {}), ((1, 2, 3), {}), ((1,), {"d": 4}), ((1, 2), {"c": 3, "d": 4})],
        [((1,), {"d": 5}), ((1, 2, 3), {"d": 5})],
        [((1,), {"c": 5}), ((1, 2, 5), {})],
    ],
)
def test_arguments_count_by_name_with_defaults(store, equal):
    kept = cached(store)(function_of_each_kind)
    assert len({kept.cache_key(*args, **kwargs) for args, kwargs in equal}) == 1
    assert kept.cache_key(7) not in {kept.cache_key(*args, **kwargs) for args, kwargs in equal}


def test_variable_arguments_count(store):
    kept = cached(store)(variable_arguments)
    assert kept.cache_key(1) == kept.cache_key(1, b=1)
    keys = {
        kept.cache_key(1),
        kept.cache_key(1, 2),
        kept.cache_key(1, x=2),
        kept.cache_key(1, 2, 3),
    }
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1, 2, 3, 4), {}), ((1,), {"e": 1}), ((1,), {"b": 2}), ((1, 2, 3), {"c": 3})],
)
def test_a_wrong_call_raises_as_python_does(store, args, kwargs):
    kept = cached(store)(function_of_each_kind)
    with pytest.raises(TypeError):
        function_of_each_kind(*args, **kwargs)
    with pytest.raises(TypeError):
        kept(*args, **kwargs)


RESULTS = [
    None, True, 1, 2**80, 0.5, "text", b"", b"bytes", ir.PrimType("int8"), isoform.dtype("int8"),
    isoform.Shape([1, 2]), isoform.Array([1]), isoform.Map({"a": 1}), isoform.List([1]),
]  # fmt: skip


@pytest.mark.parametrize("result", RESULTS, ids=repr)
def test_results_come_back_as_the_same_type(store, result):
    kept = cached(store, name=repr(result))(lambda: result)
    results = [kept(), kept()]
    assert kept.cache_info().hits == 1
    for found in results:
        assert type(found) is type(result)
        assert isoform.structural_equal(found, result)


class Opaque:
    """A class without a binary form."""


@pytest.mark.parametrize(
    ("result", "advice"),
    [
        *(([1], r"isoform\.Array"), ((1,), r"isoform\.Array"), ({"a": 1}, r"isoform\.Map")),
        *(
            (result, "a node")
            for result in ({1}, Opaque(), bytearray(b""), isoform.Array([Opaque()]))
        ),
    ],
)
def test_other_results_are_refused_with_advice(store, result, advice):
    kept = cached(store)(lambda: result)
    message = f"the result is a .*; return {advice}.* or pass dumps and loads"
    with pytest.raises(TypeError, match=message):
        kept()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (pathlib.Path("a"), "argument 'a': a path does not tell .* path.read_bytes"),
        (Opaque(), "argument 'a': an object of Opaque cannot .*interop.from_fields.* key=function"),
        (lambda: 0, "argument 'a': an object of function cannot be part of a key"),
        ([Opaque()], "argument 'a': an object of list cannot be part of a key"),
        (relay.Var("x"), "argument 'a': an object of .*Var cannot be part of a key: .*free"),
        ({1}, "argument 'a': an object of set cannot be part of a key"),
    ],
)
def test_other_arguments_are_refused_with_advice(store, argument, message):
    kept = cached(store)(lambda a: 0)
    with pytest.raises(TypeError, match=message.replace("'", '"')):
        kept(argument)


def test_an_enum_counts_by_its_number(store):
    class Level(enum.IntEnum):
        LOW = 1

    kept = cached(store)(lambda a: 0)
    assert kept.cache_key(Level.LOW)


def test_ignored_parameters_and_own_keys(store):
    kept = cached(store, ignore=("verbose",))(lambda program, verbose=False: 0)
    assert kept.cache_key(1) == kept.cache_key(1, Opaque()) != kept.cache_key(2)
    by_key = cached(store, key=lambda path: path.name)(lambda path: 0)
    assert by_key.cache_key(pathlib.Path("x/a")) == by_key.cache_key(path=pathlib.Path("y/a"))
    with pytest.raises(ValueError, match="cached: ignore has 'x'; the parameters are a, b"):
        cached(store, ignore=("x",))(lambda a, b: 0)
    with pytest.raises(TypeError, match="ignore is a tuple of names; write ignore="):
        cached(store, ignore="a")(lambda a: 0)


def test_names_and_versions_separate_results(store):
    @counted
    def one(a):
        return a

    for options in [{}, {"version": "2"}, {"name": "other"}]:
        kept = cached(store, **options)(one)
        assert (kept(1), kept(1)) == (1, 1)
    assert one.calls == 3
    assert store.find(cache="other")
    assert store.find(cache_version="2")


def test_results_can_be_removed(store):
    @counted
    def one(a):
        return a

    kept = cached(store)(one)
    kept(1)
    assert kept.cache_remove(1)
    assert not kept.cache_remove(1)
    kept(1)
    assert one.calls == 2


def test_own_forms_of_results(store):
    kept = cached(store, dumps=lambda result: b" ".join(result), loads=bytes.split)(lambda: [b"a"])
    assert kept() == kept() == [b"a"]
    with pytest.raises(ValueError, match="pass both dumps and loads, or neither"):
        cached(store, dumps=bytes)
    with pytest.raises(TypeError, match="dumps returned a str, expected bytes"):
        cached(store, dumps=str, loads=str)(lambda: 1)()


def test_failures_are_kept_on_request(store):
    @counted
    def failing(a):
        raise {"value": ValueError, "key": KeyError}[a]("no such operator")

    plain = cached(store)(failing)
    for _ in range(2):
        with pytest.raises(ValueError, match="no such operator"):
            plain("value")
    assert failing.calls == 2
    kept = cached(store, failures=(ValueError, OSError))(failing)
    for _ in range(2):
        with pytest.raises(ValueError, match="no such operator"):
            kept("value")
        with pytest.raises(KeyError):
            kept("key")
    assert failing.calls == 5


class OddError(ValueError):
    """A class that no other module knows."""


class PairError(Exception):
    """An exception that needs more than a message."""

    def __init__(self, a, b):
        super().__init__(a, b)


@pytest.mark.parametrize(
    ("error", "declared", "message"),
    [
        (OddError("odd"), OddError, "odd"),
        (OddError("odd"), (KeyError, ValueError), "odd"),
        (OddError("odd"), (ValueError, OddError), "odd"),
        (KeyError("name"), KeyError, "'name'"),
        (ZeroDivisionError("none"), ArithmeticError, "none"),
        (ValueError(), ValueError, ""),
    ],
)
def test_a_kept_failure_is_of_the_declared_class(store, error, declared, message):
    @counted
    def failing():
        raise error

    kept = cached(store, failures=declared)(failing)
    classes = declared if isinstance(declared, tuple) else (declared,)
    for _ in range(2):
        with pytest.raises(classes) as caught:
            kept()
        assert str(caught.value) == message
    assert isinstance(caught.value, type(error)) or type(error) not in classes
    assert failing.calls == 1


def test_a_failure_that_cannot_be_made_again_keeps_its_message(store):
    @cached(store, failures=PairError)
    def failing():
        raise PairError(1, 2)

    with pytest.raises(PairError):
        failing()
    with pytest.raises(RuntimeError, match=r"\(1, 2\)"):
        failing()


@pytest.mark.parametrize("failures", ["ValueError", [ValueError], (ValueError, 1), int])
def test_failures_are_classes_of_exceptions(store, failures):
    with pytest.raises(TypeError, match="failures is a class of exceptions or a tuple of them"):
        cached(store, failures=failures)


def test_functions_with_the_same_name_have_their_own_results(store):
    def multiplying(level):
        @cached(store)
        def function(a):
            return a * level

        return function

    assert [multiplying(level)(10) for level in (2, 3, 2)] == [20, 30, 20]
    levels = [ir.PrimType("int8"), ir.PrimType("int16"), [1], [2], {"a": 1}]
    assert len({multiplying(level).cache_key(1) for level in levels}) == len(levels)
    functions = [cached(store)(lambda a: a + 1), cached(store)(lambda a: a + 2)]
    assert [function(1) for function in functions] == [2, 3]
    # An explicit name says that the functions are the same.
    named = [cached(store, name="n")(lambda a: a + 1), cached(store, name="n")(lambda a: a + 2)]
    assert [function(1) for function in named] == [2, 2]


CELLS = """
import enum, functools
from isoform import ir
from isoform.store import cached
SCALE = 2
TABLE = {"add": [1, {3}]}
TYPE = ir.PrimType("int8")
calls = 0
log = []
class Mode(enum.Enum):
    FAST = 1
    SLOW = 2
MODE = Mode.FAST
class Base:
    unit = 1
    def value(self):
        return 1
class Helper(Base):
    @property
    def of_helper(self):
        return even(2) + self.unit
def even(n):
    return n == 0 or odd(n - 1)
def odd(n):
    return n != 0 and even(n - 1)
@functools.lru_cache
def deep(n):
    return n + SCALE + TABLE["add"][0] + len(str(TYPE)) + Helper().value() + MODE.value
partly = functools.partial(deep, 1)
@cached("memory:")
def f(a):
    global calls
    calls += 1
    log.append(a)
    return [deep(n) for n in range(2)][0] + partly() + even(4)
"""


def cells(*edits):
    """The names of a notebook with these parts of its cells replaced."""
    source = CELLS
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    names = {"__name__": "__main__"}
    exec(source, names)  # noqa: S102
    return names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SCALE = 2", "SCALE = 3"),
        ("SCALE = 2", "SCALE = 2.0"),
        ('"add": [1', '"add": [2'),
        ("{3}", "{4}"),
        ("int8", "int16"),
        ("MODE = Mode.FAST", "MODE = Mode.SLOW"),
        ("unit = 1", "unit = 2"),
        ("        return 1", "        return 2"),
        ("even(2) + self", "even(3) + self"),
        ("n == 0", "n == 1"),
        ("n != 0", "n != 1"),
        ("partial(deep, 1)", "partial(deep, 2)"),
        ("return n + SCALE", "return n - SCALE"),
    ],
)
def test_what_code_names_counts(old, new):
    key = cells()["f"].cache_key(1)
    assert cells()["f"].cache_key(1) == key
    assert cells((old, new))["f"].cache_key(1) != key


def test_names_that_are_assigned_again_count():
    names = cells()
    f = names["f"]
    first = f(1)
    # The code itself changes these.
    assert f(1) == first and names["calls"] == 1 == len(names["log"])
    for cell in ("SCALE = 3", "TABLE = {'add': [5]}", "def odd(n): return True"):
        exec(cell, names)  # noqa: S102
        f(1)
    assert (names["calls"], f.cache_info()) == (4, (1, 4, 0))
    exec("SCALE = 2\ndef odd(n):\n    return n != 0 and even(n - 1)", names)  # noqa: S102
    exec("TABLE = {'add': [1, {3}]}", names)  # noqa: S102
    log = names["log"]
    log.clear()
    assert f(1) == first and log == []


def test_variables_that_the_code_assigns_do_not_count(store):
    def made(level):
        calls = 0

        @cached(store)
        def f(a):
            nonlocal calls
            calls += 1
            return a * level

        return f

    assert made(2).cache_key(1) == made(2).cache_key(1) != made(3).cache_key(1)
    f = made(2)
    assert [f(1), f(1)] == [2, 2]
    assert f.cache_info().misses == 1


def test_keys_of_code_are_the_same_in_every_process(tmp_path):
    code = CELLS + "print(f.cache_key(1))"
    keys = {output_of(code) for _ in range(2)}
    assert len(keys) == 1


def test_scripts_have_their_own_results(tmp_path):
    def keys(body):
        code = f"""
            from isoform.store import cached
            @cached({str(tmp_path)!r})
            def f(a):
                return {body}
            print(f.cache_key("a"), f("a"))
        """
        return output_of(textwrap.dedent(code)).split()

    first, result = keys("a in {'a', 'b', 'c', 'd', 'e'}")
    assert result == "True"
    # The order of sets differs between processes.
    assert keys("a in {'a', 'b', 'c', 'd', 'e'}") == [first, "True"]
    assert keys("a not in {'a', 'b', 'c', 'd', 'e'}")[1] == "False"
    assert keys("a in {'b', 'c', 'd', 'e'}")[1] == "False"


def test_a_callable_without_a_name_is_asked_for_one(store):
    parse = functools.partial(lambda a, base: int(a, base), base=2)
    with pytest.raises(TypeError, match="cached: a partial has no name of its own; pass name="):
        cached(store)(parse)
    assert cached(store, name="parse")(lambda a: parse(a))("11") == 3


def test_huge_integers_are_arguments(store):
    kept = cached(store)(lambda a: 0)
    numbers = [10**5000, -(10**5000), 10**5000 + 1, 2**80, 2**1024, 2**63, -(2**63)]
    assert len({kept.cache_key(number) for number in numbers}) == len(numbers)


def test_a_call_that_asks_for_its_own_result_is_an_error_at_once(store):
    @cached(store, name="sync")
    def endless(n):
        return endless(n) + 1

    @cached(store, name="async")
    async def endless_coroutine(n):
        return await endless_coroutine(n) + 1

    @cached(store)
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    @cached(store)
    async def fibonacci_coroutine(n):
        if n < 2:
            return n
        return await fibonacci_coroutine(n - 1) + await fibonacci_coroutine(n - 2)

    start = time.monotonic()
    with pytest.raises(RecursionError, match=r'cache "sync": .* asks for its own result'):
        endless(1)
    with pytest.raises(RecursionError, match=r'cache "async": .* asks for its own result'):
        asyncio.run(endless_coroutine(1))
    assert time.monotonic() - start < 60
    assert fibonacci(20) == asyncio.run(fibonacci_coroutine(20)) == 6765


def test_two_tasks_of_a_thread_do_not_disturb_each_other(store):
    @cached(store)
    async def slow(a):
        await asyncio.sleep(0.1)
        return a

    async def main():
        return await asyncio.gather(*(slow(1) for _ in range(5)))

    assert asyncio.run(main()) == [1] * 5
    assert slow.cache_info().misses == 1


def test_a_forgotten_input_is_found_by_confirmation(store):
    @counted
    def one(program):
        return str(program.dtype)

    trusting = cached(store, key=lambda program: 0)(one)
    assert [trusting(ir.PrimType(name)) for name in ("int8", "int16")] == ["int8", "int8"]

    kept = cached(store, key=lambda program, level=0: 0, confirm=True, name="confirmed")(
        lambda program, level=0: f"{one(program)} {level}"
    )
    for _ in range(2):
        assert kept(ir.PrimType("int8")) == "int8 0"
        assert kept(ir.PrimType("int16")) == "int16 0"
        assert kept(ir.PrimType("int8"), 1) == "int8 1"
    assert kept.cache_info().hits == 1
    # A renamed program is the same program.
    renamed = cached(store, confirm=True)(lambda program: 0)
    renamed(identity_function("x"))
    renamed(identity_function("y"))
    assert renamed.cache_info().hits == 1


def test_models_are_programs(store, tmp_path):
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="n")
    types = [onnx.helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = onnx.helper.make_graph([node], "g", types[:1], types[1:])
    for name in ("a", "b"):
        node.name = graph.node[0].name = name
        onnx.save(onnx.helper.make_model(graph), tmp_path / f"{name}.onnx")
    first, second = (isoform.onnx.load(tmp_path / f"{name}.onnx") for name in "ab")

    kept = cached(store, confirm=True)(lambda model: model.node_count)
    assert [kept(first), kept(second), kept(model=first)] == [1, 1, 1]
    assert kept.cache_info() == (2, 1, 0)
    assert kept.cache_key(first) == kept.cache_key(first.program)
    key = EntryKey("plan", program=first)
    store.put_entry(key, b"plan")
    assert store.entry(EntryKey("plan", program=second), confirm=True).value == b"plan"


def test_an_entry_of_another_program_is_not_a_hit(store, tmp_path):
    kept = cached(store, confirm=True, name="f")(lambda program: str(program.dtype))
    assert kept(ir.PrimType("int8")) == "int8"
    # The file of one call under the key of the other call, as after a collision.
    names = [kept.cache_key(ir.PrimType(name)) for name in ("int8", "int16")]
    files = [tmp_path / "store" / "entries" / name[:2] / name[2:] for name in names]
    files[1].parent.mkdir(exist_ok=True)
    files[1].write_bytes(files[0].read_bytes())
    assert kept(ir.PrimType("int16")) == "int16"


def test_damaged_results_are_computed_again(store, tmp_path):
    @counted
    def one():
        return 1

    kept = cached(store)(one)
    kept()
    (file,) = (tmp_path / "store" / "entries").glob("*/*")
    file.write_bytes(file.read_bytes()[:-1])
    assert (kept(), kept(), one.calls) == (1, 1, 2)
    # Bytes of another form, as of a release to come.
    for value in [b"", b"Zx", b"Vx"]:
        kept.cache_remove()
        cached(store, dumps=lambda _, value=value: value, loads=bytes)(one)()
        assert (kept(), kept()) == (1, 1)
    assert one.calls == 8


def test_a_failing_store_makes_a_call_slow(tmp_path):
    (tmp_path / "entries").write_bytes(b"in the way")
    kept = cached(tmp_path)(lambda: 1)
    assert (kept(), kept()) == (1, 1)
    assert kept.cache_info().errors > 0


def test_threads_compute_once(store):
    @counted
    def slow(a):
        time.sleep(0.2)
        return a

    kept = cached(store)(slow)
    threads = [threading.Thread(target=kept, args=(1,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert slow.calls == 1
    assert kept.cache_info() == (3, 1, 0)


def compute_slowly(folder, ready):
    def slow(a):
        time.sleep(0.3)
        with (folder / "calls").open("a", encoding="utf-8") as file:
            file.write("call\n")
        return a

    kept = cached(folder / "store", name="slow")(slow)
    ready.wait(60)
    return kept(1)


def test_processes_compute_once(tmp_path):
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(3)
    children = [context.Process(target=compute_slowly, args=(tmp_path, ready)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert (tmp_path / "calls").read_text() == "call\n"


def test_coroutines_compute_once(store):
    calls = []

    @cached(store, failures=ValueError)
    async def slow(a: int) -> int:
        calls.append(a)
        await asyncio.sleep(0.05)
        if a < 0:
            raise ValueError("negative")
        return a

    async def main():
        assert await asyncio.gather(slow(1), slow(1), slow(2)) == [1, 1, 2]
        assert await slow(1) == 1
        for _ in range(2):
            with pytest.raises(ValueError, match="negative"):
                await slow(-1)
        # A cancelled call leaves the computation to others.
        task = asyncio.ensure_future(slow(3))
        await asyncio.sleep(0.01)
        task.cancel()
        assert await slow(3) == 3

    asyncio.run(main())
    assert calls == [1, 2, -1, 3, 3]
    assert callable(slow)
    assert slow.__name__ == "slow"


def test_generators_are_refused(store):
    def generator():
        yield 1

    with pytest.raises(TypeError, match="is a generator, which has no result to keep"):
        cached(store)(generator)


def test_methods_keep_results(store):
    @isoform.py_class("test_cached.Machine")
    class Machine(isoform.Object):
        width: int

        @cached(store)
        def compiled(self, program):
            return self.width

    assert [Machine(8).compiled(1), Machine(8).compiled(1), Machine(16).compiled(1)] == [8, 8, 16]
    assert Machine.compiled.cache_info() == (1, 2, 0)


def test_ctrl_c_ends_the_wait_for_another_process(tmp_path):
    code = textwrap.dedent(f"""
        import os, signal, sys, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from isoform.store import cached
        @cached({str(tmp_path)!r}, name="f")
        def slow(seconds):
            time.sleep(seconds)
            return 1
        thread = threading.Thread(target=slow, args=(2,))
        thread.start()
        time.sleep(0.5)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            slow(2)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - start < 1)
        thread.join()
        print(slow(2))
    """)
    assert output_of(code) == "interrupted True\n1\n"


def test_a_call_after_a_fork(store):
    kept = cached(store)(lambda a: a)
    assert kept(1) == 1
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if (kept(1), kept(2)) == (1, 2) else 1
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept(2) == 2
    assert kept.cache_info() == (1, 1, 0)
    assert signal.getsignal(signal.SIGINT)


def test_the_index_has_the_results_of_a_process_that_ended(tmp_path):
    with Store.open(tmp_path) as store:
        store.sizes()
    code = f"""
        from isoform.store import cached
        @cached({str(tmp_path)!r}, name="f")
        def f(a):
            return a
        print([f(number) for number in range(10)][-1])
    """
    assert output_of(textwrap.dedent(code)) == "9\n"
    with Store.open(tmp_path) as store:
        assert store.sizes()["entries"]["files"] == 10
        assert len(store.find(cache="f")) == 10


def test_a_version_is_a_text(store):
    with pytest.raises(TypeError, match='cached: version is a str; write version="2"'):
        cached(store, version=2)


def test_the_decorator_needs_a_store():
    def function(a):
        return a

    with pytest.raises(TypeError, match=r"expected the store, got .*; write @cached\(place\)"):
        cached(function)
