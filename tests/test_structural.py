"""Structural equality, hash and digest: arguments, results and values of Python.

`test_cases.py` has the semantics.
"""

import itertools

import pytest
from processes import output_of

import isoform
import nodes
from isoform import Array, Dict, List, Map, Shape, structural_equal, structural_hash, text
from nodes import Box

# ---- flags and results of the functions --------------------------------------


def test_enable_auto_mapping_is_another_name_of_map_free_vars():
    x, y = nodes.Var("x"), nodes.Var("y")
    assert structural_equal(x, y, enable_auto_mapping=True)
    assert structural_hash(x, enable_auto_mapping=True) == structural_hash(y, map_free_vars=True)
    assert isoform.get_first_structural_mismatch(x, y, enable_auto_mapping=True) is None


def test_map_free_vars_is_the_third_parameter():
    x, y = nodes.Var("x"), nodes.Var("y")
    assert structural_equal(x, y, True)
    assert structural_hash(x, True) == structural_hash(y, True)


def test_results_are_plain():
    assert structural_equal(1, 1) is True
    assert structural_equal(1, 2) is False
    value = structural_hash([1, "a"])
    assert type(value) is int
    assert 0 <= value < 2**64


def test_digest_is_32_bytes_and_needs_closed_values():
    x, y = nodes.Var("x"), nodes.Var("y")
    closed = isoform.structural_digest(nodes.Fun([x], x))
    assert type(closed) is bytes
    assert len(closed) == 32
    assert closed == isoform.structural_digest(nodes.Fun([y], y))
    with pytest.raises(ValueError, match=r"<root>\.rhs"):
        isoform.structural_digest(nodes.Add(1, x))
    mapped = isoform.structural_digest(nodes.Add(1, x), map_free_vars=True)
    assert mapped == isoform.structural_digest(nodes.Add(1, y), map_free_vars=True)


def test_digest_separates_values():
    values = [0, 1, True, 1.0, "1", b"1", None, [1], {1: 1}, List([1]), Dict({1: 1}), Shape((1,))]
    assert len({isoform.structural_digest(v) for v in values}) == len(values)


@pytest.mark.parametrize(
    ("spellings", "value"),
    [
        ([[], (), Array([])], "[]"),
        ([{}, Map({})], "{}"),
        ([[1], (1,), Array([1])], "[1]"),
        ([{1: 1}, Map({1: 1})], "{1: 1}"),
        ([b"a", bytearray(b"a")], 'b"a"'),
        (["a", "".join(["a"])], '"a"'),
        ([10**50, 10**50], str(10**50)),
        ([float("nan"), -float("nan")], "nan"),
        ([isoform.dtype("float32")], "float32"),
        ([isoform.device("cpu"), isoform.device("cpu:0")], 'device("cpu")'),
        ([Shape((1,))], "Shape[1]"),
        ([List([1])], "List[1]"),
        ([Dict({1: 1})], "Dict{1: 1}"),
    ],
)
def test_what_python_writes_for_one_value_is_equal(spellings, value):
    made = text.from_text(f"[{value}]")[0]
    for spelling in spellings:
        assert structural_equal(spelling, made)
        assert structural_hash(spelling) == structural_hash(made)
        assert structural_equal(nodes.Box(spelling), nodes.Box(made))


def test_an_opaque_value_is_not_compared_with_itself():
    # The value has no text and cannot be a case in `tests/cases`.
    box = nodes.Box(object())
    with pytest.raises(TypeError, match=r"\(at <root>\.v\)$"):
        structural_equal(box, box)


def test_values_of_python_are_called_by_their_class():
    for call, value in itertools.product(
        (
            lambda value: structural_equal(Box(value), Box(value)),
            lambda value: structural_hash(Box(value)),
            lambda value: isoform.serialization.to_bytes(Box(value)),
            lambda value: isoform.serialization.to_json_graph_str(Box(value)),
        ),
        ({1}, range(3)),
    ):
        with pytest.raises(TypeError, match=rf"Python {type(value).__name__}\b.*<root>\.v"):
            call(value)


def test_hashes_are_the_same_in_every_process():
    code = (
        "import isoform\n"
        "from typing import Any\n"
        "from isoform.dataclasses import py_class, field\n"
        "@py_class('runs.Var', structural_eq='var')\n"
        "class Var(isoform.Object):\n    name: str = field(structural_eq='ignore')\n"
        "@py_class('runs.Lam')\n"
        "class Lam(isoform.Object):\n    params: Any = field(structural_eq='def')\n    body: Any\n"
        "x = Var('x')\n"
        "h = isoform.structural_hash\n"
        "print(h(Lam([x], x)), h(x), h([x, 1, 'a']), isoform.structural_digest(Lam([x], x)).hex())\n"
    )
    assert output_of(code) == output_of(code)
