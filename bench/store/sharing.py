"""Processes that share the results of a function."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

from bench.store.sides import Keeping

PROCESSES = 8
KEYS = 200
# How long a computation takes, in seconds: enough for a second process to ask meanwhile.
WORK = 0.005


def slow(log: Path) -> Callable[[int], bytes]:
    """A function that takes its time, returns 1 kB and notes each computation."""

    def compute(number: int) -> bytes:
        time.sleep(WORK)
        with log.open("ab") as file:
            file.write(b".")
        return number.to_bytes(4, "little") * 256

    return compute


def shared(keeping: Keeping, folder: Path, calls: int) -> tuple[float, int]:
    """Run the processes; return the nanoseconds of a call, and the number of computations."""
    context = multiprocessing.get_context("fork")
    log = folder / "log"
    log.write_bytes(b"")
    ready = context.Barrier(PROCESSES)
    times: Any = context.Queue()

    def work(process: int) -> None:
        function = keeping(folder / "store", slow(log))
        numbers = random.Random(process).choices(range(KEYS), k=calls)
        ready.wait(60)
        start = perf_counter_ns()
        for number in numbers:
            assert function(number) == number.to_bytes(4, "little") * 256
        times.put(perf_counter_ns() - start)

    children = [context.Process(target=work, args=(process,)) for process in range(PROCESSES)]
    for child in children:
        child.start()
    taken = [times.get(timeout=300) for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0, "a process failed"
    return sum(taken) / (PROCESSES * calls), len(log.read_bytes())
