"""Ctrl-C ends a long operation, and the interpreter goes on afterwards."""

import copy
import gc
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from processes import output_of
from scale import scaled

import isoform
from isoform.dataclasses import py_class
from isoform.pattern import Pattern
from isoform.text import from_text, to_text

# Levels of the values of single calls.
LEVELS = scaled(1_000_000, 400_000)

# Layers of the trees of single calls.
LAYERS = scaled(21, 18)

# Shells start jobs in the background with the signal ignored.
PRELUDE = f"""
LEVELS = {scaled(100_000, 30_000)}
import isoform, signal, sys, time, gc
signal.signal(signal.SIGINT, signal.default_int_handler)
from typing import Any
from isoform.dataclasses import py_class
@py_class("interrupt.Box")
class Box(isoform.Object):
    v: Any
def chain(n):
    o = Box(0)
    for _ in range(n):
        o = Box(o)
    return o
big = chain(LEVELS)
other = chain(LEVELS)
"""

OPERATIONS = {
    "equal": "isoform.structural_equal(big, other)",
    "hash": "isoform.structural_hash(big)",
    "digest": "isoform.structural_digest(big)",
    "mismatch": "isoform.get_first_structural_mismatch(big, other)",
    "walk": "isoform.structural_walk(big, (Box, lambda v: None))",
    "json": "isoform.serialization.to_json_graph_str(big)",
}


def assert_interrupted(code):
    """Asserts that a signal interrupts code that is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready", process.stderr.read()
            time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output.strip() == "interrupted", errors
    assert process.returncode == 0, errors


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_ctrl_c(operation):
    code = PRELUDE + textwrap.dedent(f"""
        print("ready", flush=True)
        end = time.monotonic() + 30
        try:
            while time.monotonic() < end:
                {operation}
        except KeyboardInterrupt:
            assert isoform.structural_equal([1, Box(2)], [1, Box(2)])
            print("interrupted", flush=True)
        else:
            print("never", flush=True)
    """)
    assert_interrupted(code)


def test_ctrl_c_inside_one_call():
    code = PRELUDE + textwrap.dedent("""
        # One call that would never come to its end by itself.
        @py_class("interrupt.Slow")
        class Slow(isoform.Object):
            v: Any
            def __s_equal__(self, other, eq):
                while True:
                    eq(big, other_big, 0, "v")
            def __s_hash__(self, init, h):
                return init
        other_big = other
        print("ready", flush=True)
        try:
            isoform.structural_equal(Slow(1), Slow(1))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    assert_interrupted(code)


@py_class("interrupt.Hooked")
class Hooked(isoform.Object):
    """With hooks in a process, comparisons keep the GIL and check for signals often.

    Otherwise, comparisons without the GIL check every tenth of a second.
    """

    v: Any

    def __s_equal__(self, other, eq):
        return eq(self.v, other.v, 0, "v")

    def __s_hash__(self, init, hash_cb):
        return hash_cb(self.v, init, 0)


# Single calls on deep values, all of which take much longer than the alarm below.
SINGLE_CALLS = {
    "structural_equal": lambda v: isoform.structural_equal(v.big, v.other),
    "mismatch": lambda v: isoform.get_first_structural_mismatch(v.big, v.other),
    "structural_equal of trees": lambda v: isoform.structural_equal(*v.trees),
    "structural_hash": lambda v: isoform.structural_hash(v.big),
    "structural_digest": lambda v: isoform.structural_digest(v.big),
    "StructuralKey": lambda v: isoform.StructuralKey(v.big),
    "repr": lambda v: repr(v.big),
    "deepcopy": lambda v: copy.deepcopy(v.big),
    "deep_copy": lambda v: isoform.deep_copy(v.big),
    "recursive_eq": lambda v: isoform.recursive_eq(v.big, v.other),
    "recursive_lt": lambda v: isoform.recursive_lt(v.big, v.other),
    "recursive_hash": lambda v: isoform.recursive_hash(v.big),
    "substitute": lambda v: isoform.substitute(v.big, {v.var: 1}),
    "verify": lambda v: isoform.verify(v.big),
    "to_text": lambda v: to_text(v.big),
    "from_text": lambda v: from_text(v.text),
    "intern": lambda v: isoform.intern(v.big),
    "intern of a tree": lambda v: isoform.intern(v.trees[0]),
    "subterm_classes": lambda v: isoform.subterm_classes(v.trees[0]),
    "duplicates": lambda v: isoform.duplicates(v.trees),
    "find_all": lambda v: v.pattern.find_all(v.big),
}


@pytest.fixture(scope="module")
def deep():
    @py_class("interrupt.Cell")
    class Cell(isoform.Object):
        v: Any

    def chain(levels):
        value = Cell(0)
        for _ in range(levels):
            value = Cell(value)
        return value

    @py_class("interrupt.Pair")
    class Pair(isoform.Object):
        lhs: isoform.Object | None
        rhs: isoform.Object | None

    def tree():
        level = [Pair(None, None) for _ in range(1 << LAYERS)]
        while len(level) > 1:
            level = [Pair(*pair) for pair in zip(level[::2], level[1::2], strict=True)]
        return level[0]

    var = isoform.tir.Var("x", "int32")
    return SimpleNamespace(
        Cell=Cell,
        trees=(tree(), tree()),
        big=chain(LEVELS),
        other=chain(LEVELS),
        text=to_text(chain(LEVELS // 4)),
        pattern=Pattern(Cell(var), var),
        var=var,
    )


class Alarm(BaseException):
    """Raised by the handler of a signal."""


def interrupted(call):
    """Returns whether a signal ends the call. The third run of the handler raises; a call
    that does not check for signals runs the handler at most once, at the end."""
    handled, done = [], []

    def handler(_number, _frame):
        handled.append(1)
        if len(handled) == 3 and not done:
            raise Alarm

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        done.append(call())
    except Alarm:
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return False


@pytest.mark.parametrize("call", SINGLE_CALLS.values(), ids=SINGLE_CALLS)
def test_a_signal_ends_a_single_call(deep, call):
    assert interrupted(lambda: call(deep))


class Token:
    """Shared by a value and all copies, and dead when all are dead."""


def token_of_an_interrupted_copy(cell, kind):
    token = Token()
    value = isoform.List([token])
    for _ in range(LEVELS // 2):
        match kind:
            case "objects":
                value = cell(value)
            case "lists":
                value = isoform.List([value, value])
            case "dicts":
                value = isoform.Dict({"k": value})
    assert interrupted(lambda: isoform.deep_copy(value))
    return weakref.ref(token)


@pytest.mark.parametrize("kind", ["objects", "lists", "dicts"])
def test_nothing_is_left_of_a_copy_that_a_signal_ends(deep, kind):
    token = token_of_an_interrupted_copy(deep.Cell, kind)
    gc.collect()
    assert token() is None


def test_handlers_may_change_and_collect_what_is_being_copied(deep):
    slots = [deep.Cell(None) for _ in range(1000)]
    value = deep.big
    for slot in slots:
        slot.v = deep.Cell(value)
        value = slot
    handled = []

    def handler(_number, _frame):
        handled.append(1)
        if len(handled) < 10:
            for slot in slots[len(handled) % 7 :: 7]:
                slot.v = deep.Cell(deep.big)
            gc.collect()

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        made = isoform.deep_copy(value)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled
    assert isoform.structural_equal(isoform.deep_copy(made), made)


# Long calls that continue without the GIL.
RELEASING_CALLS = {
    name: SINGLE_CALLS[name]
    for name in (
        "structural_equal",
        "structural_equal of trees",
        "mismatch",
        "structural_hash",
        "structural_digest",
    )
}


@pytest.mark.parametrize("call", RELEASING_CALLS.values(), ids=RELEASING_CALLS)
def test_another_thread_runs_and_writes_during_a_long_call(deep, call):
    expected = call(deep)
    slot = deep.Cell(None)
    rounds, done = [0], threading.Event()

    def work():
        while not done.is_set():
            slot.v = deep.Cell(rounds[0])
            rounds[0] += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        # A call may end before the other thread asks for the GIL.
        for _ in range(1000):
            before = rounds[0]
            assert call(deep) == expected
            if rounds[0] > before + 10:
                break
        else:
            pytest.fail("the other thread never ran during a call")
    finally:
        done.set()
        thread.join()


def test_other_threads_go_on_during_a_long_call():
    code = PRELUDE + textwrap.dedent("""
        import threading
        deep = chain(30 * LEVELS)
        ticks, done = [], threading.Event()
        def tick():
            while not done.is_set():
                ticks.append(time.monotonic())
                time.sleep(0.001)
        thread = threading.Thread(target=tick)
        thread.start()
        time.sleep(0.05)
        start = time.monotonic()
        isoform.structural_digest(deep)
        end = time.monotonic()
        done.set()
        thread.join()
        print(sum(start < at < end for at in ticks), flush=True)
    """)
    assert int(output_of(code)) >= 3
