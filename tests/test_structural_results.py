"""Mismatches, explanations, keys, cost, cycles, and the checks of `isoform.testing`."""

import pytest

import isoform
import isoform.testing
import nodes
from isoform import Dict, List, Map, Object, Shape, structural_equal, structural_hash
from isoform.dataclasses import field, py_class

# ---- mismatch ----------------------------------------------------------------

MISMATCHES = [
    (lambda: ({"a": 1}, {"b": 1}), '<root>["a"]', '<root>[<missing:"a">]'),
    (
        lambda: (nodes.Box({"k": [1]}), nodes.Box({"k": [2]})),
        '<root>.v["k"][0]',
        '<root>.v["k"][0]',
    ),
    (lambda: (Shape((1,)), Shape((2,))), "<root>", "<root>"),
    (
        lambda: (nodes.Lam([nodes.Var("x")], 1), nodes.Lam([], 1)),
        "<root>.params[0]",
        "<root>.params[<missing:0>]",
    ),
]


@pytest.mark.parametrize(("make", "left", "right"), MISMATCHES)
def test_mismatch_paths(make, left, right):
    found = isoform.get_first_structural_mismatch(*make())
    assert (str(found[0]), str(found[1])) == (left, right)
    explained = isoform.explain_structural_mismatch(*make())
    assert (str(explained.left_path), str(explained.right_path)) == (left, right)
    assert isinstance(explained.reason, str)


def test_explanation_has_values_and_reason():
    found = isoform.explain_structural_mismatch(nodes.Add(1, [2]), nodes.Add(1, [3]))
    assert (found.left, found.right) == (2, 3)
    assert "differ" in found.reason
    text = str(found)
    assert "<root>.rhs[0]" in text

    found = isoform.explain_structural_mismatch(nodes.Box(1), nodes.Box("s"))
    assert "type" in found.reason
    assert "int" in found.reason
    assert "str" in found.reason

    found = isoform.explain_structural_mismatch([1], [1, 2])
    assert found.left is None
    assert found.right == 2


def test_assert_structural_equal():
    assert isoform.assert_structural_equal([1, 2], [1, 2]) is None
    with pytest.raises(ValueError, match=r"<root>\[1\]"):
        isoform.assert_structural_equal([1, 2], [1, 3])
    x, y = nodes.Var("x"), nodes.Var("y")
    with pytest.raises(ValueError, match="variables"):
        isoform.assert_structural_equal(x, y)
    isoform.assert_structural_equal(x, y, map_free_vars=True)


# ---- keys --------------------------------------------------------------------


def test_structural_key_finds_equal_values():
    k = isoform.StructuralKey
    table = {k([1, 2]): "a", k([1, 3]): "b"}
    assert table[k([1, 2])] == "a"
    assert table[k((1, 3))] == "b"
    assert k([9]) not in table
    assert k([1]) != [1]
    assert k([1]).key == [1]
    x, y = nodes.Var("x"), nodes.Var("y")
    assert {k(nodes.Fun([x], x)): 1}[k(nodes.Fun([y], y))] == 1
    assert k(x) != k(y)


def test_structural_key_in_a_map():
    k = isoform.StructuralKey
    found = Map({k((1, 2)): 2, k((1, 3)): 3})
    assert found[k((1, 2))] == 2
    assert len(Map({k((1,)): 1, k([1]): 2})) == 1


def test_structural_key_refuses_what_has_no_hash():
    with pytest.raises(TypeError, match=r"nodes\.Hidden"):
        isoform.StructuralKey(nodes.Hidden(1))


# ---- cost --------------------------------------------------------------------


# ---- cycles ------------------------------------------------------------------


def self_list():
    items = List([1])
    items.append([items])
    return items


def self_dict():
    items = Dict({"a": 1})
    items["self"] = items
    return items


def self_box():
    box = nodes.Box()
    box.v = box
    return box


@pytest.mark.parametrize("make", [self_list, self_dict, self_box])
@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: structural_equal(a, b),
        lambda a, b: structural_equal(a, a),
        lambda a, b: structural_hash(a),
        lambda a, b: isoform.structural_digest(a),
        lambda a, b: isoform.get_first_structural_mismatch(a, b),
        lambda a, b: isoform.explain_structural_mismatch(a, b),
        lambda a, b: isoform.StructuralKey(a),
        lambda a, b: isoform.structural_walk(a, lambda v: None),
        lambda a, b: isoform.structural_map(a, (int, lambda v: v + 1)),
    ],
    ids=["equal", "itself", "hash", "digest", "mismatch", "explain", "key", "walk", "map"],
)
def test_cycles_are_errors(make, call):
    with pytest.raises(ValueError, match="cyclic"):
        call(make(), make())


def test_a_mismatch_before_a_cycle_wins():
    assert not structural_equal([1, self_list()], [2, self_list()])


# ---- tools -------------------------------------------------------------------


def test_check_laws_accepts_the_family(family):
    sums = [family.Comm(1, 2), family.Comm(2, 1), family.Comm(2, 2)]
    x, y = family.Var("x"), family.Var("y")
    functions = [family.Lambda(params=[v], body=v) for v in (x, y)]
    isoform.testing.check_laws([*sums, *functions, family.Shared(1, 2)])


def test_check_laws_finds_a_hash_that_lies(key):
    @isoform.dataclasses.py_class(key())
    class Liar(isoform.Object):
        v: int

        def __s_equal__(self, other, eq):
            return True

        def __s_hash__(self, init, hash_cb):
            return hash_cb(self.v, init, 0)

    with pytest.raises(ValueError, match="hash"):
        isoform.testing.check_laws([Liar(1), Liar(2)])


def test_check_types_finds_a_var_below_a_const_tree():
    isoform.testing.check_types([nodes.CT(1), nodes.CT([1, "a"])])
    for inner in (nodes.Var("x"), [nodes.Var("x")], nodes.DAdd(1, 2), nodes.Box(nodes.DAdd(1, 2))):
        with pytest.raises(ValueError, match=r"nodes\.CT"):
            isoform.testing.check_types([nodes.CT(inner)])


def test_oracle_canonical_text_decides_equality():
    x, y = nodes.Var("x"), nodes.Var("y")
    canonical = isoform.testing.oracle_canonical
    assert canonical(nodes.Fun([x], x)) == canonical(nodes.Fun([y], y))
    assert canonical(nodes.Fun([x], x)) != canonical(nodes.Fun([y], x))
    assert canonical(x, map_free_vars=True) == canonical(y, map_free_vars=True)


def test_an_assertion_takes_no_message():
    with pytest.raises(TypeError, match="argument 'map_free_vars': expected bool, got str"):
        isoform.assert_structural_equal(1, 1, "the same")


def test_free_variables_that_differ_name_the_option(key):
    @py_class(key("Free"), structural_eq="var")
    class Free(Object):
        name: str = field(structural_eq="ignore")

    left, right = Free("x"), Free("y")
    assert "map_free_vars=True" in str(isoform.explain_structural_mismatch([left], [right]))
    with pytest.raises(isoform.error.StructuralError, match="map_free_vars=True"):
        isoform.assert_structural_equal([left], [right])
    assert "map_free_vars" not in str(isoform.explain_structural_mismatch([1], [2]))
