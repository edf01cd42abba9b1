"""Containers: what goes beyond single calls."""

import itertools
import pickle

import pytest
from hypothesis import given, settings, strategies as st

import isoform
from isoform import Array, Dict, Function, List, Map, Shape, convert

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


# ---- comparison and hash ------------------------------------------------------


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
    deep = Array(nested(200_000))
    assert deep == Array(nested(200_000))
    assert hash(deep) == hash(Array(nested(200_000)))
    assert deep != Array(nested(199_999))


def test_cyclic_python_lists_are_refused():
    items = [1]
    items.append(items)
    with pytest.raises(ValueError, match="cyclic list"):
        Array(items)
    table = {}
    table["a"] = [table]
    with pytest.raises(ValueError, match="cyclic dict"):
        Map(table)


# ---- against Python's own ------------------------------------------------------

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


# ---- mappings -------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Map, Dict])
def test_ways_to_make_a_mapping(kind):
    class Table:
        def keys(self):
            return ["a", "b"]

        def __getitem__(self, key):
            return key * 2

    assert kind() == {}
    assert kind([("a", 1), ["b", 2]]) == {"a": 1, "b": 2}
    assert kind({"a": 1}, b=2) == {"a": 1, "b": 2}
    assert kind(Table()) == {"a": "aa", "b": "bb"}
    assert kind(Map(a=1)) == kind(Dict(a=1)) == {"a": 1}
    assert kind.fromkeys("ab", 0) == {"a": 0, "b": 0}
    assert type(kind.fromkeys("ab")) is kind
    with pytest.raises(ValueError, match="expected 2 elements, got 1"):
        kind([("a",)])
    with pytest.raises(TypeError):
        kind({}, {})
    with pytest.raises(TypeError, match="unhashable"):
        kind([([1], 2)])


@pytest.mark.parametrize("kind", [Map, Dict])
def test_views_are_sets(kind):
    table = kind(a=1, b=2)
    assert table.keys() == {"a", "b"}
    assert table.items() == {("a", 1), ("b", 2)}
    assert table.keys() ^ {"a"} == {"b"}
    assert table.keys().isdisjoint({"z"})
    assert table.keys() <= {"a", "b", "c"}
    assert list(reversed(table)) == list(reversed(table.keys())) == ["b", "a"]
    assert list(reversed(table.values())) == [2, 1]
    assert list(reversed(table.items())) == [("b", 2), ("a", 1)]
    assert True not in table.values()
    assert 5 not in table.items()
    assert repr(table.keys()) == "keys(['a', 'b'])"


def test_views_show_later_changes():
    table = Dict(a=1)
    keys, values, items = table.keys(), table.values(), table.items()
    table["b"] = 2
    assert (list(keys), list(values), list(items)) == (["a", "b"], [1, 2], [("a", 1), ("b", 2)])


@pytest.mark.parametrize("kind", [Map, Dict])
def test_union(kind):
    table = kind(a=1, b=2)
    assert table | {"b": 3, "c": 4} == {"a": 1, "b": 3, "c": 4}
    assert {"b": 3, "c": 4} | table == {"b": 2, "c": 4, "a": 1}
    assert type(table | {}) is type({} | table) is kind
    with pytest.raises(TypeError):
        table | [("a", 1)]


def test_dict_in_place_union_and_update():
    table = alias = Dict(a=1)
    table |= {"b": 2}
    table |= [("c", 3)]
    assert alias is table
    assert table == {"a": 1, "b": 2, "c": 3}
    table.update([("a", 0)], d=4)
    assert table == {"a": 0, "b": 2, "c": 3, "d": 4}
    with pytest.raises(ValueError, match="expected 2"):
        table.update([("x", 1), ("y",)])
    assert "x" not in table
    copied = table.copy()
    copied["e"] = 1
    assert "e" not in table


def test_lists_are_no_keys():
    table = Dict()
    for call in (lambda: table[[1]], lambda: [1] in table, lambda: table.__setitem__({}, 1)):
        with pytest.raises(TypeError, match="unhashable"):
            call()


def test_destructors_may_look_at_the_container():
    table, items = Dict(), List()

    class Watcher:
        def __del__(self):
            seen.append((len(table), len(items)))

    seen = []
    table["a"] = Watcher()
    del table["a"]
    table["a"] = Watcher()
    table["a"] = 1
    table[Watcher()] = 1
    table.popitem()
    items.append(Watcher())
    items.clear()
    items.append(Watcher())
    items[0] = 1
    items[:] = [Watcher()]
    del items[:]
    assert len(seen) == 6


# ---- classes --------------------------------------------------------------------


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


# ---- conversions ------------------------------------------------------------------


def test_value_protocols():
    class Number:
        def __isoform_int__(self):
            return 7

    class Real:
        def __isoform_float__(self):
            return 2.5

    class Wrapped:
        def __init__(self, value):
            self.value = value

        def __isoform_value__(self):
            return self.value

    class AnObject:
        def __isoform_object__(self):
            return Array([1])

    class Endless:
        def __isoform_value__(self):
            return Endless()

    class EndlessList:
        def __isoform_value__(self):
            return [EndlessList()]

    assert Array([Number(), Real(), Wrapped([1]), AnObject()]) == [7, 2.5, [1], [1]]
    value = 1
    for _ in range(60):
        value = Wrapped(value)
    assert convert(value) == 1
    for endless in (Endless(), EndlessList()):
        with pytest.raises(RecursionError):
            convert(endless)


def test_opaque_objects_come_back():
    thing = object()
    assert convert(thing) is thing
    assert Array([thing])[0] is thing
    assert thing in Array([thing])
    error = ValueError("x")
    assert convert(error) is error


def test_function_class():
    twice = Function(lambda x: 2 * x)
    assert twice(4) == 8
    assert Function(twice) is twice
    assert twice.named("twice").name == "twice"
    assert twice.name is None
    for bad in ((), (1,), (len, len)):
        with pytest.raises(TypeError):
            Function(*bad)


def test_module():
    module = isoform.Module("m", {"main": lambda x: x + 1})
    assert module(1) == module.main(1) == module["main"](1) == 2
    assert module.implements_function("main")
    assert not module.implements_function("other")
    with pytest.raises(AttributeError, match="other"):
        module.other  # noqa: B018


def test_errors_as_values():
    error = isoform.Error("KeyError", "k")
    assert isinstance(error.py_error(), KeyError)
    assert isinstance(isoform.Error("NoSuchError", "k").py_error(), RuntimeError)
    made = isoform.Error.of(ValueError("bad"))
    assert (made.kind, made.message) == ("ValueError", "bad")


def test_dtype_conversions():
    np = pytest.importorskip("numpy")
    assert isoform.dtype("half") == "float16"
    assert isoform.dtype(np.float32) == "float32"
    assert isoform.dtype("float32").to_numpy() == np.dtype("float32")
    assert convert(np.dtype("int16")) == "int16"
    assert isoform.dtype("int8").is_integer
    assert isoform.dtype("bfloat16").is_float
    assert Array([isoform.dtype("int8")])[0] is Array([isoform.dtype("int8")])[0]
    assert pickle.loads(pickle.dumps(isoform.Shape((1, 2)))) == (1, 2)
    with pytest.raises(ValueError):
        isoform.dtype("float32").with_lanes(0)
    with pytest.raises(ValueError):
        isoform.dtype("float32").with_lanes(2**20)


def test_devices():
    assert isoform.Device(2, 1) == isoform.Device("cuda", 1)
    for bad in ((2, -1), (2**40,), ("cuda:1", 2)):
        with pytest.raises(ValueError):
            isoform.Device(*bad)
    with pytest.raises(TypeError):
        isoform.device("cuda", "1")
    with pytest.raises(AttributeError):
        isoform.device("cpu").index = 3
