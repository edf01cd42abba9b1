"""Ctrl-C ends a long operation, and the interpreter goes on afterwards."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

PRELUDE = """
import isoform, sys, time, gc
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
big = chain(100_000)
other = chain(100_000)
"""

OPERATIONS = {
    "equal": "isoform.structural_equal(big, other)",
    "hash": "isoform.structural_hash(big)",
    "digest": "isoform.structural_digest(big)",
    "mismatch": "isoform.get_first_structural_mismatch(big, other)",
    "walk": "isoform.structural_walk(big, (Box, lambda v: None))",
    "json": "isoform.serialization.to_json_graph_str(big)",
}


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
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready", process.stderr.read()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output.strip() == "interrupted", errors
    assert process.returncode == 0, errors


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
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "ready", process.stderr.read()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output.strip() == "interrupted", errors


def test_other_threads_go_on_during_a_long_call():
    code = PRELUDE + textwrap.dedent("""
        import threading
        deep = chain(3_000_000)
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
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert made.returncode == 0, made.stderr
    assert int(made.stdout) >= 3
