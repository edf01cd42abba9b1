"""Threads build, change, compare and drop shared graphs."""

import copy
import gc
import itertools
import random
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from scale import scaled

import isoform
import nodes
from isoform import Dict, List, structural_equal, structural_hash
from nodes import Add, Box, Fun, Var

THREADS = 8
SECONDS = scaled(100, 30) / 100


def together(work):
    """Runs `work(n)` in all threads at once; raises the exceptions of the threads."""
    barrier = threading.Barrier(THREADS)
    errors = []

    def run(number):
        try:
            barrier.wait(30)
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    if errors:
        raise errors[0]


def tree(depth, leaf):
    if depth == 0:
        return leaf
    return Add(tree(depth - 1, leaf), tree(depth - 1, leaf))


def test_build_compare_hash_and_drop():
    shared = tree(8, 1)
    expected = structural_hash(shared)

    def work(number):
        for _ in range(10):
            mine = tree(8, 1)
            assert structural_equal(mine, shared)
            assert structural_hash(mine) == expected
            assert not structural_equal(tree(8, 2), shared)
            assert isoform.get_first_structural_mismatch(mine, shared) is None
            _ = Box([shared, mine])

    together(work)
    assert structural_hash(shared) == expected


def test_binders():
    x = Var("x")
    shared = Fun([x], tree(6, x))

    def work(number):
        for _ in range(20):
            y = Var(f"y{number}")
            assert structural_equal(Fun([y], tree(6, y)), shared)

    together(work)


def test_change_while_others_read():
    root = Box([Box(n) for n in range(50)])
    end = time.monotonic() + SECONDS

    def work(number):
        while time.monotonic() < end:
            if number % 2:
                for box in root.v:
                    box.v = number
            else:
                structural_hash(root)
                structural_equal(root, root)
                isoform.structural_walk(root, (Box, lambda b: None))
                repr(root)

    together(work)
    assert len(root.v) == 50


def test_replace_whole_subtrees_while_others_read():
    root = Box(nodes.chain(200))
    end = time.monotonic() + SECONDS

    def work(number):
        while time.monotonic() < end:
            if number < 2:
                root.v = nodes.chain(200, number)
            else:
                structural_hash(root)
                isoform.structural_digest(root)

    together(work)
    assert nodes.depth_of(root) == 201


def test_all_that_reads_beside_all_that_writes(key):
    default = Box("the default that all fields have")

    @isoform.dataclasses.py_class(key())
    class Cell(isoform.Object):
        value: Any = isoform.dataclasses.field(default_factory=lambda: default)
        next: Any = None

    cells = [Cell() for _ in range(12)]
    for cell, next_cell in itertools.pairwise(cells):
        cell.next = next_cell
    root = cells[0]
    end = time.monotonic() + SECONDS

    def show(at):
        assert "value=" in isoform.text.to_text(root)
        assert "(value=" in repr(root)

    def change(at):
        default.v = f"a text that is not inline {at}"
        cells[at].value = [f"a text that is not inline {at}"] if at % 2 else at
        default.v = at
        # Links point forward only, so the cells form no cycle.
        cells[at].next = random.choice(cells[at + 1 :])

    def walk(at):
        met = []
        isoform.structural_walk(root, (Cell, lambda cell: met.append(cell.value)))
        assert met

    def copy_and_compare(at):
        one = copy.deepcopy(root)
        other = copy.deepcopy(one)
        assert structural_equal(one, other)
        assert structural_hash(one) == structural_hash(other)
        assert isoform.recursive_eq(one, other)

    def collect(at):
        ring = Cell(List())
        ring.value.append(ring)
        del ring
        gc.collect()

    steps = [show, change, walk, copy_and_compare, change, collect]

    def work(number):
        for turn in itertools.count(number):
            if time.monotonic() > end:
                return
            steps[turn % len(steps)](turn * 7 % 11)

    together(work)


def test_shared_containers():
    items, table = List(), Dict()

    def work(number):
        for n in range(500):
            items.append(n)
            table[number * 1000 + n] = n

    together(work)
    assert len(items) == THREADS * 500
    assert sum(items) == THREADS * sum(range(500))
    assert len(table) == THREADS * 500


def test_wrapper_identity():
    root = Add(Box(1), Box(2))
    seen = []

    def work(number):
        for _ in range(2000):
            left = root.lhs
            assert left is root.lhs
            assert left.v == 1
        seen.append(root.lhs)

    together(work)
    assert len({id(box) for box in seen}) == 1


def test_registering_classes(key):
    names = [key() for _ in range(THREADS)]
    taken = key("Same")
    outcomes = []

    def work(number):
        @isoform.dataclasses.py_class(names[number])
        class Mine(isoform.Object):
            x: int

        assert Mine(number).x == number
        fields = {"__annotations__": {f"x{number}": int}}
        try:
            isoform.dataclasses.py_class(taken)(type("Same", (isoform.Object,), fields))
        except ValueError:
            outcomes.append("taken")
        else:
            outcomes.append("mine")

    together(work)
    assert sorted(outcomes) == ["mine"] + ["taken"] * (THREADS - 1)


def test_registering_one_declaration(key):
    name = key()
    classes = []

    def work(number):
        @isoform.dataclasses.py_class(name)
        class Same(isoform.Object):
            x: int

        assert Same(number).x == number
        classes.append(Same)

    together(work)
    assert len(set(classes)) == 1


def test_hooks_in_threads(key):
    @isoform.dataclasses.py_class(key())
    class Node(isoform.Object):
        v: int

        def __s_equal__(self, other, eq):
            return eq(self.v, other.v, 0, "v")

        def __s_hash__(self, init, hash_cb):
            return hash_cb(self.v, init, 0)

    left, right = [Node(n) for n in range(100)], [Node(n) for n in range(100)]

    def work(number):
        for _ in range(20):
            assert structural_equal(left, right)
            assert structural_hash(left) == structural_hash(right)

    together(work)


def test_serialisation_in_threads():
    root = tree(6, "leaf")
    expected = isoform.serialization.to_json_graph_str(root)

    def work(number):
        for _ in range(10):
            assert isoform.serialization.to_json_graph_str(root) == expected
            assert structural_equal(isoform.serialization.from_json_graph_str(expected), root)

    together(work)


def test_long_operations_let_others_run():
    value, other = (nodes.chain(scaled(1_000_000, 300_000)) for _ in range(2))
    ticks = 0
    stop = threading.Event()

    def tick():
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    before, start = ticks, time.monotonic()
    # A tick needs the interpreter once; a few of the 500 possible ones are enough. A busy
    # machine may give the other thread no processor for a while.
    while (spent := time.monotonic() - start) < 0.5 or (ticks - before < 10 and spent < 20):
        structural_equal(value, other)
        structural_hash(value)
    stop.set()
    thread.join(10)
    assert ticks - before >= 10


@pytest.mark.parametrize("call", [structural_hash, isoform.StructuralKey, repr])
def test_threads_of_small_stacks(call):
    value = nodes.chain(100_000)
    old = threading.stack_size(256 * 1024)
    try:
        done = []
        thread = threading.Thread(target=lambda: done.append(call(value)))
        thread.start()
        thread.join(60)
        assert len(done) == 1
    finally:
        threading.stack_size(old)


LEFT_BEHIND = """
import threading, time
import isoform
from isoform import List, structural_map, structural_walk, structural_equal
from isoform.dataclasses import py_class

@py_class("left.Slow")
class Slow(isoform.Object):
    v: int
    def __s_equal__(self, other, eq):
        time.sleep(0.001)
        return eq(self.v, other.v)

def wait(value):
    inside.set()
    while True:
        time.sleep(0.001)

inside = threading.Event()
function = isoform.convert(wait)
slow = List([Slow(n) for n in range(10**5)])
def compare():
    inside.set()
    structural_equal(slow, slow.copy()) or structural_equal(List(slow), List(map(Slow, range(10**5))))
WORK = [
    lambda: structural_walk(List([1]), (int, wait)),
    lambda: structural_map(List([1]), (int, wait)),
    lambda: function(1),
    compare,
]
for _ in range(3):
    threading.Thread(target=WORK[%d], daemon=True).start()
inside.wait(30)
time.sleep(0.05)
print("done", flush=True)
"""


@pytest.mark.parametrize("work", range(4))
def test_a_daemon_thread_in_a_callback_does_not_abort_the_process(work):
    ran = subprocess.run(
        [sys.executable, "-c", LEFT_BEHIND % work],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, "done", "")
