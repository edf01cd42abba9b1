"""Array (immutable) and List (shared and mutable)."""

import collections.abc
import copy

import pytest
from hypothesis import given, settings, strategies as st

import isoform
import nodes
from isoform import Array, Dict, List


def test_abstract_classes():
    assert isinstance(Array([]), collections.abc.Sequence)
    assert not isinstance(Array([]), collections.abc.MutableSequence)
    assert isinstance(List(), collections.abc.MutableSequence)
    assert isinstance(Array([]), isoform.Object)
    assert not isinstance(List(), Array)


@pytest.mark.parametrize("kind", [Array, List])
def test_reading(kind):
    items = kind([1, 2, 3])
    assert len(items) == 3
    assert list(items) == [1, 2, 3]
    assert (items[0], items[-1], items[2]) == (1, 3, 3)
    assert items[1:] == [2, 3]
    assert type(items[1:]) is list
    assert items[::-1] == [3, 2, 1]
    assert items[10:] == []
    assert list(reversed(items)) == [3, 2, 1]
    assert 2 in items
    assert 9 not in items
    assert items.index(2) == 1
    assert items.count(2) == 1
    assert bool(items) is True
    assert bool(kind([])) is False
    for index in (3, -4, 2**70):
        with pytest.raises(IndexError):
            items[index]
    with pytest.raises(TypeError, match="str"):
        items["a"]
    with pytest.raises(ValueError):
        items.index(9)


@pytest.mark.parametrize("kind", [Array, List])
def test_making(kind):
    assert list(kind(range(3))) == [0, 1, 2]
    assert list(kind(x for x in "ab")) == ["a", "b"]
    assert list(kind("ab")) == ["a", "b"]
    assert list(kind((1,))) == [1]
    assert list(kind(kind([1]))) == [1]
    for bad in (5, None):
        with pytest.raises(TypeError):
            kind(bad)

    def fails():
        yield 1
        raise LookupError("midway")

    with pytest.raises(LookupError, match="midway"):
        kind(fails())


@pytest.mark.parametrize("kind", [Array, List])
def test_adding(kind):
    items = kind([1])
    assert type(items + [2]) is kind
    assert list(items + [2]) == [1, 2]
    assert list(items + (2,)) == [1, 2]
    assert list(items + Array([2])) == [1, 2]
    assert list([0] + items) == [0, 1]
    assert list(items) == [1]
    with pytest.raises(TypeError):
        items + 5


def test_equality_by_content():
    for one in (Array([1, 2]), List([1, 2])):
        for two in (Array([1, 2]), List([1, 2]), [1, 2], (1, 2)):
            assert one == two
            assert two == one
            assert (one != two) is False
        for two in ([1], [1, 3], [2, 1], 5, None, "ab", {1: 2}):
            assert one != two
            assert (one == two) is False
    assert Array([1]) != Array([1.0])
    assert Array([1]) != [True]
    assert Array([]) == []
    assert Array([[1], {"a": 2}]) == [[1], {"a": 2}]
    assert Array([None]) == [None]


def test_membership_uses_the_same_rule():
    assert 1 in Array([1])
    assert 1 not in Array([1.0])
    assert 1 not in Array([True])
    assert "a" in Array(["a", b"a"])


def test_hash():
    assert hash(Array([1, "a"])) == hash(Array([1, "a"]))
    assert len({Array([1]), Array([1]), Array([2])}) == 2
    # Mutable values cannot be keys.
    with pytest.raises(TypeError, match="unhashable"):
        hash(List([1]))


def test_no_order():
    with pytest.raises(TypeError):
        Array([1]) < Array([2])  # noqa: B015


@pytest.mark.parametrize("kind", [Array, List])
def test_repetition(kind):
    items = kind([1, 2])
    assert type(items * 2) is kind
    assert items * 2 == 2 * items == [1, 2, 1, 2]
    assert items * 0 == items * -1 == []
    with pytest.raises(TypeError):
        items * 1.5
    with pytest.raises(MemoryError):
        items * 2**62


def test_array_is_immutable():
    items = Array([1])
    for name in ("append", "insert", "pop", "clear", "extend", "remove", "sort", "reverse"):
        assert not hasattr(items, name)
    with pytest.raises(TypeError):
        items[0] = 2
    with pytest.raises(TypeError):
        del items[0]
    with pytest.raises(AttributeError):
        items.extra = 1


def test_nested_values_become_containers():
    items = Array([[1], (2,), {"a": 1}])
    assert type(items[0]) is Array
    assert type(items[1]) is Array
    assert type(items[2]) is isoform.Map


def test_elements_are_the_same_objects():
    box = nodes.Box(1)
    items = Array([box, box])
    assert items[0] is box
    assert items[1] is box
    assert next(iter(items)) is box
    assert items[0:1][0] is box
    shared = List([1])
    assert Array([shared])[0] is shared


def test_list_changes():
    items = List([1, 2, 3])
    items.append(4)
    items.extend([5, 6])
    items.insert(0, 0)
    assert items == [0, 1, 2, 3, 4, 5, 6]
    assert items.pop() == 6
    assert items.pop(0) == 0
    items.remove(3)
    items.reverse()
    assert items == [5, 4, 2, 1]
    items[0] = 50
    items[-1] = "x"
    assert items == [50, 4, 2, "x"]
    del items[0]
    items[0:2] = [7, 8, 9]
    assert items == [7, 8, 9, "x"]
    items[::2] = ["a", "b"]
    assert items == ["a", 8, "b", "x"]
    del items[1:3]
    assert items == ["a", "x"]
    items += [1]
    assert items == ["a", "x", 1]
    items.insert(-100, "first")
    items.insert(100, "last")
    assert items == ["first", "a", "x", 1, "last"]
    items.clear()
    assert items == []


def test_list_errors():
    items = List([1])
    for call in (lambda: items.pop(5), lambda: List().pop(), lambda: items.__setitem__(3, 1)):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(ValueError):
        items.remove(9)
    with pytest.raises(ValueError):
        items[::2] = [1, 2, 3]
    with pytest.raises(TypeError):
        items["a"] = 1
    assert items == [1]


def test_failed_change_leaves_the_list_alone():
    items = List([1])

    def fails():
        yield 2
        raise LookupError("midway")

    with pytest.raises(LookupError):
        items[0:1] = fails()
    with pytest.raises(UnicodeEncodeError):
        items[0] = "\ud800"
    assert items == [1]


def test_a_list_extends_itself():
    items = List([1, 2])
    items.extend(items)
    assert items == [1, 2, 1, 2]
    items[:] = items
    assert items == [1, 2, 1, 2]


def test_lists_are_shared():
    items = List([1])
    box = nodes.Box(items)
    box.v.append(2)
    assert items == [1, 2]
    assert box.v is items


def test_copies():
    items = List([List([1])])
    shallow, deep = copy.copy(items), copy.deepcopy(items)
    assert type(shallow) is type(deep) is List
    items.append(2)
    items[0].append(3)
    assert len(shallow) == 1
    assert shallow[0] is items[0]
    assert [list(inner) for inner in deep] == [[1]]


@pytest.mark.parametrize(
    "change",
    [
        lambda items: items.append(1),
        lambda items: items.pop(),
        lambda items: items.insert(0, 1),
        lambda items: items.clear(),
        lambda items: items.__delitem__(0),
    ],
    ids=["append", "pop", "insert", "clear", "del"],
)
def test_change_while_iterating(change):
    items = List([1, 2, 3])
    with pytest.raises(RuntimeError, match="changed"):
        for _ in items:
            change(items)
    # A new iteration is fine.
    assert len(list(items)) == len(items)


def test_iterators_outlive_their_container():
    iterator = iter(Array([1, 2]))
    assert next(iterator) == 1
    assert list(iterator) == [2]
    assert list(iterator) == []


def test_typed_fields_check_the_elements(key):
    @isoform.dataclasses.py_class(key())
    class Node(isoform.Object):
        items: list[int]

    node = Node([1])
    node.items.append(2)
    assert list(node.items) == [1, 2]


def test_subscript_syntax():
    assert Array[int] is not None
    assert List[str] is not None


def test_long():
    items = Array(range(100_000))
    assert items[99_999] == 99_999
    assert sum(items) == 99_999 * 50_000
    growing = List()
    for n in range(100_000):
        growing.append(n)
    assert growing == items


INDEX = st.integers(-8, 8)
SLICE = st.builds(
    slice,
    st.none() | INDEX,
    st.none() | INDEX,
    st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]),
)


@given(st.lists(st.integers(0, 5), max_size=8), SLICE, st.lists(st.integers(6, 9), max_size=4))
@settings(max_examples=300)
def test_slices_agree_with_list(items, key, new):
    assert List(items)[key] == items[key]
    assert Array(items)[key] == items[key]

    def attempt(target, change):
        try:
            change(target)
        except ValueError:
            return "refused"
        return list(target)

    def put(target):
        target[key] = new

    def remove(target):
        del target[key]

    assert attempt(List(items), put) == attempt(list(items), put)
    assert attempt(List(items), remove) == attempt(list(items), remove)


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 3), INDEX, INDEX)
@settings(max_examples=200)
def test_searches_agree_with_list(items, item, start, stop):
    def attempt(target):
        try:
            return target.index(item, start, stop)
        except ValueError:
            return None

    assert attempt(Array(items)) == attempt(items)
    assert Array(items).count(item) == items.count(item)


@given(st.lists(st.integers(0, 3), max_size=6), INDEX)
def test_insert_and_pop_agree_with_list(items, index):
    ours, theirs = List(items), list(items)
    ours.insert(index, 9)
    theirs.insert(index, 9)
    assert ours == theirs
    if -len(theirs) <= index < len(theirs):
        assert ours.pop(index) == theirs.pop(index)
    else:
        with pytest.raises(IndexError):
            ours.pop(index)
    assert ours == theirs


def test_huge_indices():
    items = List([1])
    items.insert(2**70, 2)
    items.insert(-(2**70), 0)
    assert items == [0, 1, 2]
    with pytest.raises(IndexError):
        items.pop(2**70)


def test_replacing_elements_while_iterating_is_fine():
    items = List([1, 2, 3])
    for position, item in enumerate(items):
        items[position] = item * 2
    assert items == [2, 4, 6]
    table = Dict(a=1, b=2)
    for key in table:
        table[key] += 10
    assert table == {"a": 11, "b": 12}


def test_sort():
    items = List([3, 1, 2])
    items.sort()
    assert items == [1, 2, 3]
    items.sort(key=lambda item: -item)
    assert items == [3, 2, 1]
    items.sort(reverse=False)
    assert items == [1, 2, 3]
    with pytest.raises(TypeError):
        List([1, "a"]).sort()
    with pytest.raises(ValueError, match="changed"):
        items.sort(key=lambda item: items.append(0) or item)


def test_in_place_operators():
    items = alias = List([1])
    items += (2, 3)
    items *= 2
    assert alias is items
    assert alias == [1, 2, 3, 1, 2, 3]
    array = before = Array([1])
    array += [2]
    assert (array, before) == ([1, 2], [1])
