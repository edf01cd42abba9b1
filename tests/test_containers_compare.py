"""Containers of any kind: equality, hash, sharing and depth, and subclasses of them."""

import itertools

import pytest
from hypothesis import given, strategies as st
from scale import scaled

from isoform import Array, Dict, List, Map, Shape, convert

PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=20)
)
NESTED = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner), max_leaves=12
)


def doubled(levels):
    value = [1]
    for _ in range(levels):
        value = [value, value]
    return value


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


@given(st.lists(NESTED, max_size=6))
def test_hash_is_that_of_the_tuple(items):
    def as_tuple(value):
        return tuple(map(as_tuple, value)) if isinstance(value, (list, tuple)) else value

    array = Array(items)
    expected = as_tuple(items)
    if not any(part != part for part in flat(expected)):
        # The hash of a NaN is its address in Python.
        assert hash(array) == hash(expected)
    assert array == Array(items)
    assert array == items


def flat(value):
    if isinstance(value, tuple):
        for part in value:
            yield from flat(part)
    else:
        yield value


def test_shapes_are_sequences_too():
    assert Array([1, 2]) == Shape((1, 2))
    assert Shape((1, 2)) == Array([1, 2])
    assert Array([Shape((1, 2))]) == Array([[1, 2]])
    assert hash(Array([Shape((1, 2))])) == hash(Array([[1, 2]]))


def test_floats_by_bits():
    assert Array([0.0]) != Array([-0.0])
    assert Array([float("nan")]) == [float("nan")]
    assert float("nan") in Array([float("nan")])


def test_callables_are_equal_to_themselves():
    def one():
        return 1

    assert Array([one]) == [one]
    assert one in Array([one])
    assert Array([one]) != [len]
    assert hash(Array([one])) == hash(Array([one]))


def test_elements_with_an_opinion_are_asked():
    class Three:
        def __eq__(self, other):
            return other == 3 or isinstance(other, Three)

        def __hash__(self):
            return hash(3)

    assert Array([Three()]) == [Three()]
    assert Array([Three()]) == [3]
    assert [3] == Array([Three()])  # noqa: SIM300
    assert hash(Array([Three()])) == hash(Array([3]))

    class Broken:
        def __eq__(self, other):
            raise LookupError("no opinion")

        __hash__ = None

    with pytest.raises(LookupError, match="no opinion"):
        Array([Broken()]) == [Broken()]  # noqa: B015
    with pytest.raises(TypeError, match="unhashable"):
        hash(Array([Broken()]))


@pytest.mark.parametrize("unhashable", [List(), Dict()])
def test_what_can_change_is_unhashable_at_any_depth(unhashable):
    with pytest.raises(TypeError, match="unhashable"):
        hash(Array([[unhashable]]))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Map({"a": [unhashable]}))


def test_cycles_are_equal_when_nothing_differs():
    one, two = List([1]), List([1])
    one.append(one)
    two.append(two)
    assert one == two
    two.append(2)
    assert one != two
    table, other = Dict(), Dict()
    table["self"], other["self"] = table, other
    assert table == other


def test_sharing_is_kept_and_cheap():
    array = Array(doubled(60))
    assert array[0] is array[1]
    assert array == Array(doubled(60))
    assert hash(array) == hash(Array(doubled(60)))
    x = [1]
    pair = convert({"a": x, "b": x})
    assert pair["a"] is pair["b"]


def test_depth_needs_no_stack():
    levels = scaled(200_000, 40_000)
    deep = Array(nested(levels))
    assert deep == Array(nested(levels))
    assert hash(deep) == hash(Array(nested(levels)))
    assert deep != Array(nested(levels - 1))


def test_cyclic_python_lists_are_refused():
    items = [1]
    items.append(items)
    with pytest.raises(ValueError, match="cyclic list"):
        Array(items)
    table = {}
    table["a"] = [table]
    with pytest.raises(ValueError, match="cyclic dict"):
        Map(table)


def test_pattern_matching():
    match Array([1, [2, 3]]):
        case [1, [two, three]]:
            assert (two, three) == (2, 3)
        case _:
            pytest.fail("an Array is a sequence")
    match Dict(kind="add", left=1):
        case {"kind": "add", "left": left}:
            assert left == 1
        case _:
            pytest.fail("a Dict is a mapping")


def test_methods_have_signatures_and_documentation():
    import inspect

    assert (
        str(inspect.signature(Array.index)) == "(self, item, start=0, stop=9223372036854775807, /)"
    )
    assert "Raises ValueError" in Array.index.__doc__
    for kind in (Array, List, Map, Dict):
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("_"):
                assert member.__doc__, (kind, name)


def test_special_methods_can_be_called():
    assert Array([1, 2]).__len__() == 2
    assert Array([1]).__contains__(1) is True
    assert Array([1]).__eq__([1]) is True
    assert Array([1]).__ne__([1]) is False
    assert Array([1]).__hash__() == hash((1,))
    assert Array([1]).__eq__(5) is NotImplemented
    table = Dict()
    table.__setitem__("a", 1)
    table.__delitem__("a")
    assert table == {}
    with pytest.raises(TypeError):
        Array.__len__(List())


def test_subclasses():
    class Stack(List):
        def top(self):
            return self[-1]

    stack = Stack([1, 2])
    stack.append(3)
    assert (stack.top(), len(stack), 3 in stack, stack == [1, 2, 3]) == (3, 3, True, True)
    assert isinstance(stack, List)


def test_iterators_are_exhausted_once():
    items = List([1])
    iterator = iter(items)
    assert list(iterator) == [1]
    items.append(2)
    assert list(iterator) == []
    assert list(itertools.islice(iter(Array([1, 2, 3])), 2)) == [1, 2]
