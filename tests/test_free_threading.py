"""Threads without a GIL: many threads use the same objects and classes at once.

The tests run under a GIL, too, with switches of threads as often as Python can.
`make test-free-threading` runs them under a free-threaded Python.
"""

import copy
import enum
import faulthandler
import gc
import itertools
import os
import pickle
import random
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
import weakref
from typing import Any

import pytest
from scale import scaled

import isoform
import nodes
from isoform import Dict, List, structural_equal, structural_hash
from isoform.dataclasses import field, py_class
from nodes import Add, Box, Fun, Var

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
THREADS = 8
SECONDS = scaled(300, 50) / 100
# A thread that takes longer hangs: the machine may be busy.
PATIENCE = 120


@pytest.fixture(autouse=True)
def frequent_switches():
    """Threads switch after nearly every instruction, where they have to take turns."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def together(*works, threads=THREADS, seconds=SECONDS):
    """Runs the works again and again in threads, until the time is over.

    Each work gets the number of its thread and of the round. Raises the first exception.
    """
    barrier = threading.Barrier(threads)
    errors = []
    rounds = [0] * threads

    def run(number):
        work = works[number % len(works)]
        try:
            barrier.wait(PATIENCE)
            end = time.monotonic() + seconds
            while not errors and time.monotonic() < end:
                work(number, rounds[number])
                rounds[number] += 1
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(PATIENCE)
    if any(thread.is_alive() for thread in running):
        faulthandler.dump_traceback(all_threads=True)
        pytest.fail("a thread hangs")
    if errors:
        raise errors[0]
    assert all(rounds), "each thread works at least once"


def run_program(text, timeout=PATIENCE):
    """Runs a program in a new process; returns what it prints."""
    command = [sys.executable, "-W", "error::RuntimeWarning", "-X", "faulthandler", "-c", text]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
    return ran.stdout.strip()


@pytest.mark.skipif(not FREE_THREADED, reason="Python has a GIL")
def test_the_module_needs_no_gil():
    assert run_program("import sys, isoform; print(sys._is_gil_enabled())") == "False"


# ---- wrappers ------------------------------------------------------------------


def test_wrappers_come_and_go():
    root = Add(Box(1), Add(Box(2), Box(3)))
    left, inner = root.lhs, root.rhs.lhs
    names = {id(left), id(inner)}
    expected = hash(left), hash(inner)

    def keep(number, turn):
        # These wrappers live on.
        assert root.lhs is left
        assert root.rhs.lhs is inner

    def drop(number, turn):
        # These die with the statement, and others may have taken them just then.
        assert root.rhs.rhs.v == 3
        assert (hash(root.lhs), hash(root.rhs.lhs)) == expected
        first, second = root.rhs.rhs, root.rhs.rhs
        assert first is second
        assert hash(first) == hash(second)

    together(keep, drop)
    assert names == {id(root.lhs), id(root.rhs.lhs)}


def test_one_object_has_one_wrapper_at_a_time():
    root = Box(Box("shared"))
    rounds = scaled(4000, 400)
    barrier = threading.Barrier(THREADS)
    seen: list[list[Any]] = [[] for _ in range(rounds)]

    def work(number):
        for turn in range(rounds):
            if turn % 16 == 0:
                barrier.wait(PATIENCE)
            seen[turn].append(root.v)

    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    # All of them are alive, and so they are one.
    assert len({id(one) for turn in seen for one in turn}) == 1


@py_class("free.Noted")
class Noted(isoform.Object):
    """A node with state outside of the core."""

    __slots__ = ("note",)
    v: Any = None


@py_class("free.Open")
class Open(isoform.Object):
    """A node with a dict."""

    __slots__ = ("__dict__",)
    v: Any = None


@pytest.mark.parametrize("class_", [Noted, Open])
def test_state_of_a_wrapper_is_never_lost(class_):
    root = Box([class_(n) for n in range(4)])
    for n, node in enumerate(root.v):
        node.note = f"note {n}"
    del node

    def read(number, turn):
        at = (number + turn) % 4
        # The wrapper is preserved, revived, and preserved again.
        assert root.v[at].note == f"note {at}"
        assert root.v[at].v == at

    def hold(number, turn):
        held = [root.v[at] for at in range(4)]
        assert [node.note for node in held] == [f"note {at}" for at in range(4)]
        assert held[0] is root.v[0]

    def collect(number, turn):
        gc.collect()

    together(read, read, hold, collect)
    assert [node.note for node in root.v] == [f"note {at}" for at in range(4)]


def test_a_finaliser_runs_once(key):
    made, died = itertools.count(), itertools.count()

    @py_class(key())
    class Mortal(isoform.Object):
        v: Any = None

        def __del__(self):
            next(died)
            # The fields can still be read.
            assert self.v is not None

    slots = List([Box() for _ in range(8)])
    boxes = list(slots)

    def put(number, turn):
        next(made)
        boxes[random.randrange(8)].v = Mortal(number)

    def get(number, turn):
        node = boxes[random.randrange(8)].v
        assert node is None or 0 <= node.v < THREADS

    together(put, get)
    for box in boxes:
        box.v = None
    for _ in range(3):
        gc.collect()
    # Dead objects of other threads may wait for their thread until it ended.
    assert next(died) == next(made)


def test_a_finaliser_may_save_its_object(key):
    saved = List()
    stops = threading.Event()

    @py_class(key())
    class Saved(isoform.Object):
        v: Any = None

        def __del__(self):
            # The wrapper dies all the same, and the object gets another one.
            if not stops.is_set() and len(saved) < 100:
                saved.append(self)

    def make(number, turn):
        Saved(turn)
        if saved:
            try:
                assert saved[random.randrange(20)].v >= 0
            except IndexError:
                return

    def drop(number, turn):
        for _ in range(10):
            try:
                saved.pop()
            except IndexError:
                break
        gc.collect()

    together(make, make, make, drop)
    stops.set()
    saved.clear()


def test_weak_references():
    root = Box([Box(n) for n in range(4)])

    def work(number, turn):
        at = turn % 4
        node = root.v[at]
        reference = weakref.ref(node)
        assert reference() is node
        table = weakref.WeakValueDictionary({at: node})
        del node
        alive = reference()
        assert alive is None or alive.v == at
        assert table.get(at) is None or table.get(at, root.v[at]).v == at

    together(work)


def test_the_last_reference_goes_in_any_thread():
    handed: list[Any] = []

    def make(number, turn):
        handed.append(Box([Box(turn), List([turn]), Add(turn, turn)]))

    def drop(number, turn):
        if handed:
            try:
                node = handed.pop()
            except IndexError:
                return
            parts = list(node.v)
            del node
            assert parts[0].v == parts[1][0] == parts[2].lhs

    together(make, drop)
    handed.clear()


# ---- the cycle collector -------------------------------------------------------


def test_garbage_with_shared_objects():
    """A wrapper in a cycle of Python is garbage while its object is in use."""
    root = Box(Open(1))
    root.v.note = "kept"
    plain = Box(Box("plain"))

    def make_garbage(number, turn):
        cycle = [root.v, plain.v]
        cycle.append(cycle)

    def use(number, turn):
        assert root.v.note == "kept"
        assert root.v.v == 1
        assert plain.v.v == "plain"

    def collect(number, turn):
        gc.collect()

    together(make_garbage, use, use, collect)


def test_cycles_through_both_worlds_are_freed():
    class Witness:
        pass

    witnesses = weakref.WeakSet()
    guard = threading.Lock()

    def make(number, turn):
        witness = Witness()
        with guard:
            witnesses.add(witness)
        # Node -> function of Python -> wrapper -> node.
        node = Box()
        node.v = isoform.convert(lambda: (node, witness))
        ring = List()
        ring.append(Box(ring))
        ring.append(witness)

    def collect(number, turn):
        gc.collect()

    together(make, make, make, collect, seconds=SECONDS / 2)
    for _ in range(4):
        gc.collect()
    with guard:
        assert len(witnesses) == 0


def test_collections_beside_writers_and_long_readers():
    """The world stops while threads wait for the lock of fields."""
    value = nodes.chain(scaled(400_000, 50_000))
    boxes = [Box(n) for n in range(20)]
    root = Box([value, *boxes])

    def read(number, turn):
        structural_hash(root)
        isoform.structural_walk(value, (Var, lambda var: None))

    def write(number, turn):
        for box in boxes:
            box.v = List([turn])

    def collect(number, turn):
        gc.collect(1 if turn % 8 else 2)
        isoform.collect() if hasattr(isoform, "collect") else None

    together(read, write, write, collect, threads=4)


# ---- contents that change ------------------------------------------------------


def test_fields_are_never_torn():
    texts = [f"a text that is not inline, number {n}" for n in range(50)]
    box = Box(texts[0])

    def write(number, turn):
        box.v = random.choice(texts) if turn % 3 else [number, turn]

    def read(number, turn):
        value = box.v
        if isinstance(value, str):
            assert value in texts
        else:
            assert 0 <= value[0] < THREADS

    together(write, read)


def test_counters_in_fields_of_own_objects():
    boxes = [Box(0) for _ in range(THREADS)]
    root = Box(list(boxes))

    def work(number, turn):
        boxes[number].v = boxes[number].v + 1
        assert boxes[number].v == turn + 1
        structural_hash(root)

    together(work)


def test_iteration_while_others_change():
    items, table = List(range(100)), Dict({n: n for n in range(100)})

    def grow(number, turn):
        items.append(turn)
        table[turn % 500] = turn
        if len(items) > 1000:
            items.clear()

    def shrink(number, turn):
        try:
            items.pop()
            table.pop(turn % 500, None)
        except IndexError:
            pass

    def read(number, turn):
        # The iterators end, or say that something changed.
        try:
            assert all(isinstance(item, int) for item in items)
            for at, item in table.items():
                assert isinstance(at, int)
                assert isinstance(item, int)
        except (RuntimeError, KeyError):
            pass
        assert isinstance(len(items) + len(table), int)
        assert isinstance(repr(table), str)

    together(grow, shrink, read, read)


def test_no_append_is_lost():
    items = List()
    each = scaled(20_000, 2000)

    def work(number, turn):
        if turn < each:
            items.append((number, turn))

    together(work, seconds=SECONDS)
    by_thread: dict[int, list[int]] = {}
    for number, turn in items:
        by_thread.setdefault(number, []).append(turn)
    assert sorted(by_thread) == list(range(THREADS))
    for turns in by_thread.values():
        assert turns == list(range(len(turns)))


def test_an_object_that_is_seen_before_it_is_complete(key):
    seen: list[Any] = []

    @py_class(key())
    class Early(isoform.Object):
        v: Any
        w: Any = 5

        def __init__(self, v):
            seen.append(self)
            self.v = v
            self.w = [v, v]

    def make(number, turn):
        node = Early(turn)
        assert node.v == turn
        assert list(node.w) == [turn, turn]
        if len(seen) > 100:
            seen.clear()

    def look(number, turn):
        for node in seen[-3:]:
            try:
                assert node.v >= 0
                assert isinstance(structural_hash(node), int)
                found = node.w
                assert found == 5 or list(found) == [node.v, node.v]
            except (AttributeError, TypeError) as error:
                assert "not set" in str(error) or "initialised" in str(error)

    together(make, look)


# ---- classes -------------------------------------------------------------------


def test_classes_come_and_are_used_at_once(key):
    taken = [key("Same") for _ in range(5000)]
    made: list[Any] = []

    def declare(number, turn):
        @py_class(key(f"Own{number}"))
        class Own(Box):
            w: int = 0
            own: Any = field(default_factory=list)

        made.append(Own)
        node = Own(turn, w=number)
        assert (node.v, node.w, list(node.own)) == (turn, number, [])

    def declare_same(number, turn):
        fields = {"__annotations__": {"x": int}, "__module__": __name__}
        same = py_class(taken[turn])(type("Same", (isoform.Object,), dict(fields)))
        assert same(turn).x == turn

    def use(number, turn):
        if made:
            class_ = random.choice(made)
            node = class_(turn)
            assert isinstance(node, Box)
            assert structural_equal(node, copy.deepcopy(node))
            assert pickle.loads(pickle.dumps(node)).v == turn

    together(declare, declare_same, declare_same, use, seconds=min(SECONDS, 1))


FIRST_USE = """
import threading, sys
import isoform
barrier = threading.Barrier(8)
found, errors = [], []
text = %r

def run(number):
    try:
        barrier.wait(60)
        value = isoform.serialization.from_json_graph_str(text)
        again = isoform.serialization.from_json_graph_str(text)
        assert type(value) is type(again)
        assert isoform.structural_equal(value, again)
        found.append((type(value), type(value.body), type(value.params[0])))
    except BaseException as error:
        errors.append(repr(error))

threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(errors or len(set(found)))
"""


def test_the_first_use_of_a_native_class_in_many_threads():
    from isoform import relay

    var = relay.Var("x", relay.TensorType((1,), "float32"))
    text = isoform.serialization.to_json_graph_str(relay.Function([var], var))
    for _ in range(scaled(10, 3)):
        assert run_program(FIRST_USE % text) == "1"


def test_enums_at_their_first_use():
    for turn in range(scaled(200, 20)):
        colour = enum.Enum(f"Colour{turn}", ["RED", "GREEN"], module=f"free.enums{turn}")
        found: list[Any] = []
        barrier = threading.Barrier(THREADS)

        def work(colour=colour, found=found, barrier=barrier):
            barrier.wait(PATIENCE)
            box = Box(colour.RED)
            found.append((box.v, structural_hash(box)))

        threads = [threading.Thread(target=work) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(found) == THREADS
        assert {one for one, _ in found} == {colour.RED}
        assert len({number for _, number in found}) == 1


# ---- engines -------------------------------------------------------------------


def test_engines_on_shared_values():
    x = Var("x")
    shared = Fun([x], nodes.doubled(8, x))
    boxes = List([Box(n) for n in range(50)])
    expected = structural_hash(shared)
    text = isoform.serialization.to_json_graph_str(shared)
    hasher = isoform.IncrementalHasher()

    def compare(number, turn):
        y = Var(f"y{number}")
        assert structural_equal(Fun([y], nodes.doubled(8, y)), shared)
        assert structural_hash(shared) == expected
        assert not structural_equal(boxes, shared)

    def walk(number, turn):
        met: list[Any] = []
        isoform.structural_walk([shared, boxes], (Var, met.append))
        assert {id(var) for var in met} == {id(x)}

    def rewrite(number, turn):
        y = Var("y")
        made = isoform.structural_map(shared, (Var, lambda var: y))
        assert structural_equal(made, shared)

    def save(number, turn):
        assert isoform.serialization.to_json_graph_str(shared) == text
        assert structural_equal(pickle.loads(pickle.dumps(shared)), shared)
        assert structural_equal(copy.deepcopy(shared), shared)

    def change(number, turn):
        boxes[turn % 50].v = [turn]
        boxes[(turn + 1) % 50] = Box(turn)
        repr(boxes)

    def remember(number, turn):
        try:
            assert hasher.hash(shared) == expected
        except RuntimeError as error:
            assert "in use" in str(error)

    together(compare, walk, rewrite, save, change, remember, threads=12)


def test_hooks_and_callbacks_of_python(key):
    @py_class(key())
    class Hooked(isoform.Object):
        v: Any

        def __s_equal__(self, other, eq):
            return eq(self.v, other.v, 0, "v")

        def __s_hash__(self, init, hash_cb):
            return hash_cb(self.v, init, 0)

    left = [Hooked(List([n])) for n in range(30)]
    right = [Hooked(List([n])) for n in range(30)]

    class WrongError(Exception):
        pass

    def refuse(node):
        raise WrongError

    def compare(number, turn):
        assert structural_equal(left, right)
        assert structural_hash(left) == structural_hash(right)

    def change(number, turn):
        # Both sides stay equal in between, whatever the others see.
        for node in (left[turn % 30], right[turn % 30]):
            node.v = List([turn % 30])

    def fail(number, turn):
        with pytest.raises(WrongError):
            isoform.structural_walk(left, (Hooked, refuse))

    together(compare, change, fail)


def test_global_functions(key):
    names = [key(f"f{n}") for n in range(4)]

    def work(number, turn):
        name = names[turn % 4]
        try:
            isoform.register_global_func(name, lambda value: value, override=True)
            found = isoform.get_global_func(name)
            assert found(turn) == turn
            if turn % 8 == 0:
                isoform.remove_global_func(name)
        except (KeyError, ValueError):
            # Another thread removed it.
            pass

    together(work)
    for name in names:
        try:
            isoform.remove_global_func(name)
        except (KeyError, ValueError):
            continue


# ---- processes -----------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_fork_while_threads_work():
    root = Box([Box(n) for n in range(20)])
    shared = nodes.doubled(10)

    def work(number, turn):
        root.v[turn % 20].v = List([turn])
        structural_hash(shared)
        structural_hash(root)

    def fork(number, turn):
        with warnings.catch_warnings():
            # Python warns of all forks while threads run.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            # No `finally` of the test runner may run here.
            status = 1
            try:
                root.v[0].v = 7
                if root.v[0].v == 7 and structural_equal(shared, shared):
                    status = 0
            finally:
                os._exit(status)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                assert status == 0
                return
            time.sleep(0.005)
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")

    together(fork, work, work, work, threads=4)


LEFT_RUNNING = """
import threading, time
import isoform
from isoform import List, structural_hash
import sys

root = List([List([n]) for n in range(1000)])
started = threading.Barrier(5)

def work(number):
    started.wait(60)
    while True:
        root[number] = List([number])
        structural_hash(root)
        repr(root[number])
        isoform.structural_walk(root, (int, lambda n: None))

for n in range(4):
    threading.Thread(target=work, args=(n,), daemon=True).start()
started.wait(60)
time.sleep(0.1)
print("done", flush=True)
"""


def test_the_process_ends_while_threads_work():
    for _ in range(scaled(20, 3)):
        assert run_program(LEFT_RUNNING) == "done"
