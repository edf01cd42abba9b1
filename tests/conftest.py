"""Fixtures of the whole suite."""

import gc
import importlib.util
import itertools
import re
import signal

import pytest

import family as families
import isoform
import isoform.testing

# A project of a user, which type checkers check.
collect_ignore = ["outside_project"]
# The corpus of MLIR is made by JAX, which `make test-interop` has.
if importlib.util.find_spec("jax") is None:
    collect_ignore.append("mlir_corpus.py")

_numbers = itertools.count()

# A shell makes its background processes ignore Ctrl-C, and processes inherit this.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish():
    """Collections of garbage in tests leave out modules and collected tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def key(request):
    """Makes type keys unused by other tests: `key()` or `key("Name")`."""
    test = re.sub(r"\W+", "_", request.node.nodeid.removeprefix("tests/"))

    def make(name: str = "Type") -> str:
        return f"{test}.{next(_numbers)}.{name}"

    return make


@pytest.fixture(params=["python", "rust"])
def family(request):
    """The node types of the family, declared in Python and declared in Rust."""
    python = request.param == "python"
    return families.python_family() if python else isoform.testing.rust_family()


@pytest.fixture
def name(key):
    """Makes names of global functions, which are removed at the end of the test."""
    made = []

    def make(text="f"):
        made.append(key(text))
        return made[-1]

    yield make
    for one in made:
        isoform.remove_global_func(one)
