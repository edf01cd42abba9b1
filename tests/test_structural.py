"""Structural equality, hash and digest: the table of cases, and values.

Each case runs on types declared in Python and on types declared in Rust, in
both directions, through every function that compares, and against
the slow oracle.
"""

import itertools
from collections.abc import Callable

import pytest

import isoform
import isoform.testing
import nodes
from isoform import Array, Dict, List, Map, Shape, structural_equal, structural_hash
from nodes import Box
from structural_cases import CASES, DIFFER, EQUAL, Case

# ---- the judges --------------------------------------------------------------


def outcome(call: Callable[[], bool]) -> tuple[str, str | None]:
    """The result of a call: equal, different, or the name of its exception."""
    try:
        return (EQUAL if call() else DIFFER), None
    except (TypeError, ValueError) as error:
        return type(error).__name__, str(error)


def holds(case: Case, who: str, answer: tuple[str, str | None]) -> None:
    says, text = answer
    assert says == case.says, (case.name, who, answer)
    if case.path is not None:
        assert case.path in text, (case.name, who, text)


def test_names_are_unique():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)) > 80


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_equality(build, case):
    left, right = case.make(build)
    for one, two in ((left, right), (right, left)):
        flags = {"map_free_vars": case.mapped}
        holds(case, "structural_equal", outcome(lambda: structural_equal(one, two, **flags)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mismatch(build, case):
    left, right = case.make(build)
    for one, two in ((left, right), (right, left)):
        flags = {"map_free_vars": case.mapped}
        answer = outcome(lambda: isoform.get_first_structural_mismatch(one, two, **flags) is None)
        holds(case, "get_first_structural_mismatch", answer)
        answer = outcome(lambda: isoform.explain_structural_mismatch(one, two, **flags) is None)
        holds(case, "explain_structural_mismatch", answer)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_oracle(build, case):
    left, right = case.make(build)
    for one, two in ((left, right), (right, left)):
        answer = outcome(lambda: isoform.testing.oracle_equal(one, two, map_free_vars=case.mapped))
        assert answer[0] == case.says, (case.name, answer)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hash_and_digest(build, case):
    left, right = case.make(build)
    flags = {"map_free_vars": case.mapped}

    def attempt(function, value):
        try:
            return function(value, **flags)
        except (TypeError, ValueError) as error:
            return type(error)

    for function in (structural_hash, isoform.structural_digest):
        one, two = attempt(function, left), attempt(function, right)
        if case.says == EQUAL:
            assert one == two
        elif case.says == DIFFER:
            # A type means that this side has no hash or no portable name.
            # A singleton is named by its content, so that a digest is portable.
            same_name = function is isoform.structural_digest and "singleton" in case.name
            assert isinstance(one, type) or one != two or same_name
        else:
            # A free variable has no portable name, which is found first.
            assert {one, two} & {TypeError, ValueError}


SCOPE_ROWS = [
    ("[fun x.x, x] and [fun a.a, a]", True, False),
    ("[l, l] and [fun a.a, fun b.b]", False, True),
    ("fun x.fun x.x and fun a.fun b.b", False, True),
    ("[x, fun x.x] and [x, fun a.a]", False, True),
]


@pytest.mark.parametrize("role", ["Function", "Lambda", "Binder"])
@pytest.mark.parametrize(("row", "default", "scoped"), SCOPE_ROWS)
def test_scope_table(build, role, row, default, scoped):
    b = build
    x, a, c = b.vars(3)

    def identity(v):
        return b.bind(role, [v], v)

    left, right = {
        SCOPE_ROWS[0][0]: lambda: ([identity(x), x], [identity(a), a]),
        SCOPE_ROWS[1][0]: lambda: ([(f := identity(x)), f], [identity(a), identity(c)]),
        SCOPE_ROWS[2][0]: lambda: (b.bind(role, [x], identity(x)), b.bind(role, [a], identity(c))),
        SCOPE_ROWS[3][0]: lambda: ([x, identity(x)], [x, identity(a)]),
    }[row]()
    expected = default if role == "Function" else scoped
    for one, two in ((left, right), (right, left)):
        assert structural_equal(one, two) is expected
        assert (isoform.get_first_structural_mismatch(one, two) is None) is expected
        enclosed = [b.bind(role, [], one), b.bind(role, [], two)]
        assert structural_equal(*enclosed) is expected
    assert (structural_hash(left) == structural_hash(right)) is expected


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


def test_hash_agrees_for_equal_flags_only_by_content():
    assert structural_hash(nodes.Add(1, 2)) == structural_hash(nodes.Add(1, 2))
    assert structural_hash(nodes.Add(1, 2)) != structural_hash(nodes.Add(2, 1))


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


VALUE_GROUPS = [
    [None],
    [False],
    [True],
    [0],
    [1],
    [-1],
    [2**63 - 1],
    [2**63],
    [-(2**63)],
    [10**50, 10**50],
    [1.0],
    [float(2**64)],
    [2**64],
    [0.0],
    [-0.0],
    [float("nan"), -float("nan")],
    [float("inf")],
    [float("-inf")],
    [5e-324],
    [""],
    [b""],
    ["a", "".join(["a"])],
    [b"a", bytearray(b"a")],
    ["1"],
    ["a string of more than fourteen bytes"],
    [b"a string of more than fourteen bytes"],
    ["\0"],
    [[], (), Array([])],
    [List()],
    [{}, Map({})],
    [Dict()],
    [[1], (1,), Array([1])],
    [[1, 2]],
    [[2, 1]],
    [[[1], 2]],
    [[1, [2]]],
    [List([1])],
    [Shape((1,))],
    [Shape(())],
    [{1: 1}, Map({1: 1})],
    [{1: 2}],
    [Dict({1: 1})],
    [isoform.dtype("float32")],
    [isoform.dtype("int32")],
    [isoform.device("cpu"), isoform.device("cpu:0")],
    [isoform.device("cpu:1")],
    [isoform.device("cuda:0")],
]


def test_values_of_one_group_are_equal_and_of_two_are_not():
    labelled = [(n, value) for n, group in enumerate(VALUE_GROUPS) for value in group]
    for n, left in labelled:
        for m, right in labelled:
            same = n == m
            assert structural_equal(left, right) is same, (left, right)
            assert (structural_hash(left) == structural_hash(right)) is same, (left, right)
            boxed = nodes.Box(left), nodes.Box(right)
            assert structural_equal(*boxed) is same, boxed
            assert isoform.testing.oracle_equal(left, right) is same, (left, right)


def test_hash_has_no_collisions_on_small_values():
    pairs = {structural_hash([a, b]) for a in range(200) for b in range(200)}
    assert len(pairs) == 40_000
    assert len({structural_hash(str(n)) for n in range(100_000)}) == 100_000


def test_values_of_python_are_called_by_their_class():
    for call, value in itertools.product(
        (
            lambda value: structural_equal(Box(value), Box(value)),
            lambda value: structural_hash(Box(value)),
            lambda value: isoform.serialization.to_bytes(Box(value)),
            lambda value: isoform.serialization.to_json_graph_str(Box(value)),
        ),
        ({1}, 2j),
    ):
        with pytest.raises(TypeError, match=rf"Python {type(value).__name__}\b.*<root>\.v"):
            call(value)
