"""Defects found in other libraries: one test each, by their numbers.

A test states what is right; the library it was found in fails it.
"""

import inspect
import json
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import isoform
import nodes
from isoform import (
    Object,
    get_first_structural_mismatch as mm,
    serialization,
    structural_equal as seq,
    structural_hash as sh,
)
from isoform.dataclasses import Enum, asdict, auto, py_class
from nodes import CT, Add, Box, DAdd, Fun, Hidden, Lam, Op, Var, chain, doubled


def test_01_deep_equality():
    assert seq(chain(100_000), chain(100_000))
    assert not seq(chain(100_000), chain(100_000, 1))


def test_02_deep_hash():
    assert sh(chain(100_000)) == sh(chain(100_000))


def test_03_deep_json():
    assert serialization.to_json_graph_str(chain(100_000)).count("nodes.Box") == 100_000


def test_04_deep_json_loads():
    listed = [{"type": "int", "data": 0}]
    listed += [{"type": "nodes.Box", "data": {"v": n}} for n in range(100_000)]
    made = serialization.from_json_graph_str(json.dumps({"root_index": 100_000, "nodes": listed}))
    assert nodes.depth_of(made) == 100_000


def test_05_deep_map():
    made = isoform.structural_map(chain(100_000), (int, lambda v: v + 1))
    assert nodes.depth_of(made) == 100_000


def test_06_deep_asdict():
    made = asdict(chain(5000))
    for _ in range(5000):
        made = made.pop("v")
    assert made == 0


def test_07_equality_of_shared_trees_is_linear():
    a, b = doubled(60), doubled(60)
    for left, right in ((a, b), (a, a)):
        assert seq(left, right)
        assert isoform.last_visit_count() < 1000


def test_08_walk_map_and_asdict_of_shared_trees_are_linear():
    root = doubled(60)
    made = isoform.structural_map(root, (int, lambda v: v + 1))
    assert made.lhs.same_as(made.rhs)
    count = []
    isoform.structural_walk(root, (Add, lambda v: count.append(1)))
    assert len(count) == 61
    assert len(repr(root)) < 100_000
    made = asdict(root)
    assert set(made) == {"lhs", "rhs"}


def test_09_cyclic_lists():
    def make():
        items = isoform.List([1])
        items.append(items)
        return items

    assert repr(make()) == "[1, ...]"
    with pytest.raises(ValueError, match="cyclic"):
        seq(make(), make())


def test_10_cyclic_objects_in_json():
    box = Box()
    box.v = box
    assert repr(box) == "nodes.Box(v=...)"
    with pytest.raises(ValueError, match="cyclic"):
        serialization.to_json_graph_str(box)


def test_11_cyclic_json():
    text = '{"root_index":0,"nodes":[{"type":"ffi.Array","data":[0]}]}'
    with pytest.raises(ValueError, match=r"cycl|part of itself"):
        serialization.from_json_graph_str(text)


def test_12_scopes_end():
    x, a = Var("x"), Var("a")
    assert not seq(x, a)
    assert not seq([Fun([x], x), x], [Fun([a], a), a])
    assert not seq([x, Fun([x], x)], [a, Fun([a], a)])


def test_13_scopes_shadow():
    x, a, b = map(Var, "xab")
    left, la, lb = Fun([x], x), Fun([a], a), Fun([b], b)
    assert seq(left, la)
    assert seq(left, lb)
    assert seq([left, left], [la, lb])
    assert seq(Fun([x], Fun([x], x)), Fun([a], Fun([b], b)))
    assert seq([x, Fun([x], x)], [x, Fun([a], a)])


@pytest.mark.parametrize("binder", [Lam, Fun])
def test_14_keys_are_not_captured(binder):
    x, z = Var("x"), Var("z")
    free, bound = binder([z], {x: 1}), binder([x], {x: 1})
    assert not seq(free, bound)
    assert not seq(bound, free)
    assert mm(free, bound) is not None
    assert mm(bound, free) is not None
    assert sh(free) != sh(bound)


@pytest.mark.parametrize("binder", [Lam, Fun])
def test_15_the_order_of_maps_does_not_matter(binder):
    z, b = Var("z"), Var("b")
    m1 = {"a": z, "f": binder([z], 0)}
    m2 = {"f": binder([z], 0), "a": z}
    n = {"a": b, "f": binder([b], 0)}
    assert seq(m1, m2)
    assert seq(m1, n) == seq(n, m1) == seq(m2, n) == seq(n, m2) is False
    assert sh(m1) == sh(m2)


def symmetric(left, right, **flags):
    assert seq(left, right, **flags) == seq(right, left, **flags)
    if seq(left, right, **flags):
        assert sh(left, **flags) == sh(right, **flags)


def test_16_dag_keys():
    p, q = DAdd(0, 0), DAdd(0, 0)
    symmetric([p, {q: 1}], [q, {q: 1}])
    assert not seq([p, {q: 1}], [q, {q: 1}])


def test_17_free_variables_as_keys():
    x, z = Var("x"), Var("z")
    symmetric([z, {x: 1}], [x, {x: 1}], map_free_vars=True)
    assert not seq([z, {x: 1}], [x, {x: 1}], map_free_vars=True)


def test_18_const_trees_promise_to_hold_no_dag():
    with pytest.raises(ValueError, match=r"nodes\.CT"):
        isoform.testing.check_types([CT(DAdd(1, 2))])


@py_class("defects.Comm")
class Comm(Object):
    lhs: Any
    rhs: Any

    def __s_equal__(self, o, eq):
        return (eq(self.lhs, o.lhs, False, "lhs") and eq(self.rhs, o.rhs, False, "rhs")) or (
            eq(self.lhs, o.rhs, False, "lhs") and eq(self.rhs, o.lhs, False, "rhs")
        )

    def __s_hash__(self, h0, h):
        return h(self.lhs, h0, False) ^ h(self.rhs, h0, False)


@pytest.mark.parametrize("binder", [Lam, Fun])
def test_19_failed_alternatives(binder):
    x, y, a, b = map(Var, "xyab")
    left = Comm(binder([x], Add(x, 1)), binder([y], Add(y, 2)))
    right = Comm(binder([b], Add(b, 2)), binder([a], Add(a, 1)))
    assert seq(left, right)
    assert sh(left) == sh(right)
    left, right = Comm(Add(x, 1), Add(y, 2)), Comm(Add(b, 2), Add(a, 1))
    assert seq(left, right, map_free_vars=True)
    assert [str(p) for p in mm([Comm(1, 2), 5], [Comm(2, 1), 6])] == ["<root>[1]"] * 2
    left, right = Comm(1, [2, 3]), Comm([9, 9], 1)
    for path, value in zip(mm(left, right), (left, right), strict=True):
        path.get(value)


def test_20_regions_of_hooks():
    def make(key, region):
        @py_class(key)
        class Hooked(Object):
            v: Any

            def __s_equal__(self, o, eq):
                return eq(self.v, o.v, region, "v")

            def __s_hash__(self, h0, h):
                return h(self.v, h0, region)

        return Hooked

    x, a = Var("x"), Var("a")
    keep, wrong = make("defects.Keep", 0), make("defects.Wrong", 99)
    assert not seq(keep(x), keep(a))
    assert seq(Lam(keep(x), x), Lam(keep(a), a))
    for call in (lambda: seq(wrong(x), wrong(a)), lambda: sh(wrong(x))):
        with pytest.raises(ValueError, match="99"):
            call()


def test_21_equality_without_a_hash():
    @py_class("defects.EqualOnly")
    class EqualOnly(Object):
        v: int

        def __s_equal__(self, o, eq):
            return True

    assert seq(EqualOnly(1), EqualOnly(2))
    with pytest.raises(TypeError, match="__s_hash__"):
        sh(EqualOnly(1))


def test_22_hashes_do_not_collide():
    assert sh([1, 187]) != sh([2, 0])
    assert len({sh(Add(a, b)) for a in range(200) for b in range(200)}) == 40_000
    small = range(10)
    four = {
        sh(Add(Add(a, b), Add(c, d))) for a in small for b in small for c in small for d in small
    }
    assert len(four) == 10_000
    assert len({sh(f"v{n}") for n in range(100_000)}) == 100_000


def test_23_hashes_are_the_same_in_every_run():
    code = (
        "import isoform\n"
        "from typing import Any\n"
        "from isoform.dataclasses import py_class, field\n"
        "@py_class('d.Var', structural_eq='var')\n"
        "class Var(isoform.Object):\n    name: str = field(structural_eq='ignore')\n"
        "@py_class('d.Lam')\n"
        "class Lam(isoform.Object):\n    params: Any = field(structural_eq='def')\n    body: Any\n"
        "x = Var('x')\n"
        "h = isoform.structural_hash\n"
        "print(h(Lam([x], x)), h(x), h([x, 1, 'a']), isoform.structural_digest(Lam([x], x)).hex())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, check=True, text=True, timeout=60
        ).stdout
        for _ in range(2)
    }
    assert len(outputs) == 1


def test_24_the_hash_of_a_closed_part_does_not_depend_on_its_place():
    seen = []

    @py_class("defects.Pair")
    class Pair(Object):
        a: Any
        b: Any

        def __s_equal__(self, o, eq):
            return eq(self.a, o.a, 0, "a") and eq(self.b, o.b, 0, "b")

        def __s_hash__(self, h0, h):
            seen.append((h(self.a, 0, 0), h(self.b, 0, 0)))
            return seen[-1][0] ^ seen[-1][1]

    x, y = Var("x"), Var("y")
    for binder in (Lam, Fun):
        sh(Pair(binder([x], x), binder([y], y)))
        assert seen[-1][0] == seen[-1][1]


def test_25_floats():
    nan = math.nan
    assert not seq(0.0, -0.0)
    assert seq(nan, nan)
    assert -0.0 not in isoform.Map({0.0: 1})
    assert nan in isoform.Map({nan: 1})
    one = np.array([nan])
    other = one.copy()
    other.view(np.uint64)[0] ^= 1
    assert seq(float(one[0]), float(other[0]))
    left, right = isoform.from_dlpack(one), isoform.from_dlpack(other)
    assert seq(left, right)
    assert sh(left) == sh(right)
    zero = isoform.from_dlpack(np.array([0.0])), isoform.from_dlpack(np.array([-0.0]))
    assert not seq(*zero)


def test_26_keys_and_their_values_count():
    key = Box(1)
    assert seq({key: 1}, {key: 1})
    assert sh({key: 1}) != sh({key: 99})
    assert sh({Box(1): 1}) != sh({Box(2): 99})
    assert not seq({key: 1}, {key: 99})


def test_27_keys_are_snapshots():
    wrap = isoform.StructuralKey
    box = Box(1)
    table = {wrap(box): "one"}
    box.v = 2
    assert table.get(wrap(Box(1))) == "one"
    assert table.get(wrap(Box(2))) is None
    with pytest.raises(TypeError, match="unhashable"):
        hash(isoform.List([1]))


def test_28_subnormal_floats():
    text = serialization.to_json_graph_str(5e-324)
    assert serialization.from_json_graph_str(text) == 5e-324


def test_29_tensors_in_json():
    tensor = isoform.from_dlpack(np.arange(2))
    made = serialization.from_json_graph_str(serialization.to_json_graph_str(tensor))
    assert seq(made, tensor)
    with pytest.raises(TypeError, match="Function"):
        serialization.to_json_graph_str(isoform.convert(lambda: 0))


def test_30_singletons_stay_single():
    add = Op("add")
    text = serialization.to_json_graph_str(Add(add, 1))
    made = serialization.from_json_graph_str(text)
    assert made.lhs is add
    assert seq(made, Add(add, 1))


def test_31_what_cannot_be_compared():
    n = Hidden(1)
    assert seq([1, n], [2, n]) is False
    for pair in (([n, 1], [n, 2]), (n, n)):
        with pytest.raises(TypeError, match=r"nodes\.Hidden") as caught:
            seq(*pair)
        assert "hash" not in str(caught.value).lower()


def test_32_paths_hash_as_they_compare():
    p, q = mm([1, [2]], [1, [3]])
    assert p == q
    assert hash(p) == hash(q)
    assert len({p, q}) == 1


def test_33_strided_tensors():
    def make():
        return isoform.from_dlpack(np.arange(6).reshape(2, 3).T)

    assert seq(make(), make())
    assert sh(make()) == sh(make())


def test_34_repr_tells_types_apart():
    assert repr(Box(1)) == "nodes.Box(v=1)"
    assert repr(Box(1.0)) == "nodes.Box(v=1.0)"


def test_35_substitution_does_not_capture():
    x, y = Var("x"), Var("y")
    for binder in (Lam, Fun):
        made = isoform.substitute(binder([x], Add(x, y)), {y: x})
        assert made.body.lhs is made.params[0]
        assert made.body.rhs is x
        assert made.params[0] is not x


def test_36_errors_name_none():
    @py_class("defects.Union")
    class Union(Object):
        a: int | str | None

    with pytest.raises(TypeError, match=r"expected int \| str \| None, got float"):
        Union(1.5)


def test_37_repr_of_deep_objects_is_linear():
    # Quadratic work would not come to an end here.
    assert len(repr(chain(1_000_000))) == len("nodes.Box(v=)") * 1_000_000 + 1


def test_38_containers():
    table = isoform.Map({1: 2})
    assert 2 in table.values()
    assert isoform.Array([1]) == [1]
    assert table == {1: 2}
    assert table == isoform.Dict({1: 2})


def test_39_names_of_enums():
    class Color(Enum, type_key="defects.Color"):
        red = auto()

    assert Color.red.name == "red"


def test_40_match_args_follow_init():
    @py_class("defects.P")
    class P(Object):
        a: int = 1
        b: int

    @py_class("defects.Q")
    class Q(P):
        c: int

    assert P.__match_args__ == ("b", "a")
    assert Q.__match_args__ == ("b", "c", "a")
    assert list(inspect.signature(Q).parameters) == ["b", "c", "a"]
    match P(2, 10):
        case P(first, second):
            assert (first, second) == (2, 10)


@py_class("defects.Op")
class Operation(Object):
    operands: list[Any]
    results: Any
    regions: list[Any]


def test_x1_result_types_are_compared():
    assert not seq(Operation([], ["i32"], []), Operation([], ["i64"], []))
    assert mm(Operation([], ["i32"], []), Operation([], ["i64"], [])) is not None


def test_x1_the_mapping_of_values_goes_both_ways():
    x, y = Var("x"), Var("y")
    a = Var("a")
    left = Lam([x, y], Add(x, y))
    right = Lam([a, a], Add(a, a))
    assert not seq(left, right)
    assert not seq(right, left)


def test_x2_nested_regions():
    def nest(levels):
        op = Operation([], [], [])
        for _ in range(levels):
            op = Operation([], [], [[op]])
        return op

    one, two = nest(20_000), nest(20_000)
    assert seq(one, two)
    assert sh(one) == sh(two)
    assert str(one)
    assert seq(isoform.deep_copy(one), one)


def test_x3_pointer_equality_does_not_skip_the_mapping():
    x, y = Var("x"), Var("y")
    assert not seq(Add(x, x), Add(x, y), map_free_vars=True)
    assert not seq(Add(x, y), Add(x, x), map_free_vars=True)
    assert seq(Box(math.nan), Box(math.nan))
