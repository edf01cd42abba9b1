"""tvm-ffi and Isoform in one process: neither disturbs the other.

The tests need tvm-ffi, which `make test-interop` installs in an environment of its own.
"""

import gc
import importlib
import subprocess
import sys
import threading
from typing import Any

import pytest

import isoform
import isoform.dataclasses

tvm_ffi = pytest.importorskip("tvm_ffi", reason="no tvm-ffi here; make test-interop has it")
np = pytest.importorskip("numpy")
importlib.import_module("tvm_ffi.dataclasses")


def declare(library, prefix):
    """A lambda calculus in one of the libraries: the same lines for both."""
    py_class, field = library.dataclasses.py_class, library.dataclasses.field

    @py_class(f"{prefix}.Var", structural_eq="var")
    class Var(library.Object):
        name: str = field(structural_eq="ignore")

    @py_class(f"{prefix}.Call")
    class Call(library.Object):
        op: str
        args: list[Any]

    @py_class(f"{prefix}.Function")
    class Function(library.Object):
        params: list[Any] = field(structural_eq="def")
        body: Any

    def function(*names, op="add", swapped=False):
        variables = [Var(name) for name in names]
        used = variables[::-1] if swapped else variables
        return Function(variables, Call(op, [*used, 1]))

    return function


# The same keys: each library has a registry of its own.
IN_TVM, IN_ISOFORM = declare(tvm_ffi, "both"), declare(isoform, "both")
PAIRS = [
    (("a", "b"), {}, ("x", "y"), {}, True),
    (("a", "b"), {}, ("a", "b"), {"op": "mul"}, False),
    (("a", "b"), {}, ("a", "b"), {"swapped": True}, False),
    (("a",), {}, ("a", "b"), {}, False),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_both_give_the_same_answers(pair):
    names, options, other_names, other_options, same = pair
    for library, function in ((tvm_ffi, IN_TVM), (isoform, IN_ISOFORM)):
        left, right = function(*names, **options), function(*other_names, **other_options)
        assert bool(library.structural_equal(left, right)) is same
        assert (library.structural_hash(left) == library.structural_hash(right)) is same
        assert (library.get_first_structural_mismatch(left, right) is None) is same
        numbers = []
        library.structural_walk(left, (int, numbers.append))
        assert numbers == [1]


def test_arrays_go_from_one_to_the_other():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    theirs = tvm_ffi.from_dlpack(array)
    ours = isoform.Tensor(theirs)
    assert ours.numpy().tolist() == array.tolist()
    back = tvm_ffi.from_dlpack(isoform.Tensor(array))
    assert np.from_dlpack(back).tolist() == array.tolist()
    for shared in (isoform.from_dlpack(theirs),):
        del theirs
        gc.collect()
        assert shared.numpy().tolist() == array.tolist()


def test_functions_have_registries_of_their_own():
    tvm_ffi.register_global_func("both.f", lambda: "theirs", override=True)
    isoform.register_global_func("both.f", lambda: "ours", override=True)
    try:
        assert tvm_ffi.get_global_func("both.f")() == "theirs"
        assert isoform.get_global_func("both.f")() == "ours"
        # A function of one is a callable for the other.
        assert isoform.convert(tvm_ffi.get_global_func("both.f"))() == "theirs"
        assert tvm_ffi.convert(isoform.get_global_func("both.f"))() == "ours"
    finally:
        isoform.remove_global_func("both.f")
        tvm_ffi.remove_global_func("both.f")


def test_errors_keep_their_class_across_both():
    def fails():
        raise IndexError("mine")

    with pytest.raises(IndexError, match="mine"):
        isoform.convert(lambda: tvm_ffi.convert(lambda: isoform.convert(fails)())())()


def test_an_object_of_one_is_foreign_to_the_other():
    theirs = IN_TVM("a")
    with pytest.raises(TypeError, match="does not support structural hashing"):
        isoform.structural_digest([theirs])
    assert isoform.Array([theirs])[0] is theirs


def test_threads_use_both():
    failures = []

    def work():
        try:
            for _ in range(200):
                assert tvm_ffi.structural_equal(IN_TVM("a", "b"), IN_TVM("x", "y"))
                assert isoform.structural_equal(IN_ISOFORM("a", "b"), IN_ISOFORM("x", "y"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_each_reads_the_files_of_the_other():
    for function, writer, reader, read in (
        (IN_TVM, tvm_ffi, isoform, IN_ISOFORM),
        (IN_ISOFORM, isoform, tvm_ffi, IN_TVM),
    ):
        data = writer.serialization.to_json_graph_str(function("a", "b"))
        again = reader.serialization.from_json_graph_str(data)
        assert reader.structural_equal(again, read("x", "y"))


@pytest.mark.parametrize("order", ["isoform, tvm_ffi", "tvm_ffi, isoform"])
def test_either_is_imported_first_and_the_process_ends(order):
    code = f"import {order}; print(isoform.Array([1])[0] + tvm_ffi.Array([1])[0])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2"


def test_differences_that_the_page_names():
    @tvm_ffi.dataclasses.py_class("both.Constant")
    class Theirs(tvm_ffi.Object):
        value: bool | int | float | str

    @isoform.dataclasses.py_class("both.Constant")
    class Ours(isoform.Object):
        value: bool | int | float | str

    values = [True, 4, 1.5, "a"]
    assert [Ours(value).value for value in values] == values
    assert type(Ours(4).value) is int
    # Here an int becomes True, the first type of the union.
    assert Theirs(4).value is True
    for library in (tvm_ffi, isoform):
        assert library.dataclasses.field(default=1).default == 1
    assert isoform.Array([1]).is_(isoform.Array([1])) is False
    assert isinstance(isoform.Array([1]).id_, int)
    assert isinstance(tvm_ffi.Array([1]).id_, int)
