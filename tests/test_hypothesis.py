"""Random class families and random values, checked against the slow oracle."""

import copy
import pickle
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from scale import scaled

import isoform
import isoform.testing
from isoform import Dict, List, Object, structural_equal, structural_hash
from isoform.dataclasses import field, fields, py_class

settings.register_profile(
    "suite",
    max_examples=scaled(80, 30),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("suite")

KINDS = ["tree", "tree", "dag", "var", "singleton"]
FLAGS = [None, None, "ignore", "def", "def-simple"]

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([2**63, -(2**70)])
    | st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf")])
    | st.sampled_from(["", "a", "b", "a text of more than fourteen bytes"])
    | st.sampled_from([b"", b"a"])
)


# Families are kept: a type key can be registered only once.
FAMILIES: list = []


def family(number):
    while len(FAMILIES) <= number:
        FAMILIES.append(_declare(len(FAMILIES)))
    return FAMILIES[number]


def _declare(seed):
    """The family that a small generator makes from a seed."""
    state = seed * 2654435761 + 1

    def pick(count):
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % count

    classes = []
    for _ in range(2 + pick(4)):
        kind = KINDS[pick(len(KINDS))]
        names = [f"f{n}" for n in range(pick(4))]
        body = {"__annotations__": dict.fromkeys(names, Any), "__module__": __name__}
        for name in names:
            body[name] = field(structural_eq=FLAGS[pick(len(FLAGS))])
        cls = type(Object)(f"Random{kind.title()}", (Object,), body)
        scope = bool(pick(2)) and kind in ("tree", "dag")
        key = f"hypothesis.{seed}.{len(classes)}"
        classes.append(py_class(key, structural_eq=kind, scope=scope)(cls))
    return classes


@st.composite
def values(draw, classes):
    """A graph: later nodes may hold any earlier node, so sharing is common."""
    pool = []
    for _ in range(draw(st.integers(1, 8))):
        part = st.sampled_from(pool) | leaves if pool else leaves
        shape = draw(st.integers(0, 6))
        if shape == 0:
            node = draw(st.lists(part, max_size=3))
        elif shape == 1:
            node = List(draw(st.lists(part, max_size=3)))
        elif shape == 2:
            node = draw(st.dictionaries(st.sampled_from(["a", "b", 1]), part, max_size=3))
        else:
            cls = draw(st.sampled_from(classes))
            node = cls(*(draw(part) for _ in fields(cls)))
        pool.append(isoform.convert(node))
    return pool[-1]


@st.composite
def pairs(draw):
    classes = family(draw(st.integers(0, 30)))
    left = draw(values(classes))
    how = draw(st.integers(0, 3))
    if how == 0:
        right = draw(values(classes))
    elif how == 1:
        right = copy.deepcopy(left)
    elif how == 2:
        right = isoform.structural_map(left, (int, lambda v: v + 1 if v == 1 else v))
    else:
        right = left
    return left, right


@given(pairs(), st.booleans())
def test_equality_agrees_with_the_oracle(pair, mapped):
    left, right = pair
    expected = isoform.testing.oracle_equal(left, right, map_free_vars=mapped)
    assert structural_equal(left, right, map_free_vars=mapped) is expected
    assert structural_equal(right, left, map_free_vars=mapped) is expected
    found = isoform.get_first_structural_mismatch(left, right, map_free_vars=mapped)
    assert (found is None) is expected


@given(pairs(), st.booleans())
def test_hash_agrees_with_equality(pair, mapped):
    left, right = pair
    same = structural_equal(left, right, map_free_vars=mapped)
    hashes = [structural_hash(v, map_free_vars=mapped) for v in pair]
    assert (hashes[0] == hashes[1]) is same
    try:
        digests = [isoform.structural_digest(v, map_free_vars=mapped) for v in pair]
    except (ValueError, TypeError):
        return
    if same:
        assert digests[0] == digests[1]


@given(pairs())
def test_every_value_is_equal_to_itself(pair):
    for value in pair:
        assert structural_equal(value, value)
        assert structural_equal(value, value, map_free_vars=True)
        assert structural_hash(value) == structural_hash(value)


@given(pairs(), st.booleans())
def test_canonical_texts_decide(pair, mapped):
    left, right = pair
    one = isoform.testing.oracle_canonical(left, map_free_vars=mapped)
    two = isoform.testing.oracle_canonical(right, map_free_vars=mapped)
    assert (one == two) is structural_equal(left, right, map_free_vars=mapped)


@given(pairs())
def test_mismatch_paths_resolve(pair):
    found = isoform.get_first_structural_mismatch(*pair)
    if found is None:
        return
    for path, value in zip(found, pair, strict=True):
        if "missing" in str(path):
            assert path.parent is not None
            path.parent.get(value)
        else:
            path.get(value)
        assert str(isoform.access_path.AccessPath.parse(str(path))) == str(path)


@given(pairs())
def test_round_trips(pair):
    value, _ = pair
    saved = [
        isoform.serialization.from_json_graph_str(isoform.serialization.to_json_graph_str(value)),
        isoform.serialization.from_bytes(isoform.serialization.to_bytes(value)),
        pickle.loads(pickle.dumps(value)),
        copy.deepcopy(value),
    ]
    for made in saved:
        assert type(made) is type(value)
        assert structural_equal(made, value, map_free_vars=True) is isoform.testing.oracle_equal(
            made, value, map_free_vars=True
        )
        assert isoform.recursive_eq(made, value)
        assert repr(made) == repr(value)


@given(pairs())
def test_mapping_nothing_changes_nothing(pair):
    value, _ = pair
    made = isoform.structural_map(value, (object, lambda v: v))
    assert structural_equal(made, value)
    if isinstance(value, Object):
        assert made is value


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-3, 3), leaves), max_size=40))
def test_lists_behave_like_lists(steps):
    model, items = [], List()
    for what, place, value in steps:
        if what == 0:
            model.append(value)
            items.append(value)
        elif what == 1:
            model.insert(place, value)
            items.insert(place, value)
        elif what == 2 and -len(model) <= place < len(model):
            assert structural_equal(model.pop(place), items.pop(place))
        elif what == 3:
            model[place : place + 2] = [value]
            items[place : place + 2] = [value]
        elif what == 4:
            model.reverse()
            items.reverse()
        elif what == 5:
            assert structural_equal(list(model[place:]), items[place:])
        assert len(model) == len(items)
        assert structural_equal(list(items), model)


keys = st.sampled_from(["a", "b", "c", b"a", 1, 2, None])


@given(st.lists(st.tuples(st.integers(0, 3), keys, st.integers(0, 9)), max_size=60))
def test_dicts_behave_like_dicts(steps):
    model, table = {}, Dict()
    for what, k, value in steps:
        if what < 2:
            model[k] = table[k] = value
        elif what == 2:
            assert table.pop(k, None) == model.pop(k, None)
        else:
            assert table.setdefault(k, value) == model.setdefault(k, value)
        assert list(table.items()) == list(model.items())
        assert (k in table) is (k in model)


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_plain_data_survives(value):
    made = isoform.convert(value)
    assert structural_equal(made, value)
    text = isoform.serialization.to_json_graph_str(value)
    assert structural_equal(isoform.serialization.from_json_graph_str(text), value)
    assert structural_hash(made) == structural_hash(value)
