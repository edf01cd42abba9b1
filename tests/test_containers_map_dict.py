"""Map (immutable) and Dict (shared and mutable)."""

import collections.abc
import copy

import pytest

import isoform
import nodes
from isoform import Array, Dict, List, Map

NAN = float("nan")


def test_abstract_classes():
    assert isinstance(Map({}), collections.abc.Mapping)
    assert not isinstance(Map({}), collections.abc.MutableMapping)
    assert isinstance(Dict(), collections.abc.MutableMapping)
    assert isinstance(Map({}), isoform.Object)


@pytest.mark.parametrize("kind", [Map, Dict])
def test_reading(kind):
    table = kind({"a": 1, "b": 2})
    assert len(table) == 2
    assert table["a"] == 1
    assert table.get("z") is None
    assert table.get("z", 3) == 3
    assert table.get("a", 3) == 1
    assert list(table) == ["a", "b"]
    assert list(table.keys()) == ["a", "b"]
    assert list(table.values()) == [1, 2]
    assert list(table.items()) == [("a", 1), ("b", 2)]
    assert "a" in table
    assert "z" not in table
    assert dict(table) == {"a": 1, "b": 2}
    assert bool(kind({})) is False
    with pytest.raises(KeyError, match="z"):
        table["z"]


@pytest.mark.parametrize("kind", [Map, Dict])
def test_views(kind):
    table = kind({"a": 1, "b": 2})
    keys, values, items = table.keys(), table.values(), table.items()
    assert (len(keys), len(values), len(items)) == (2, 2, 2)
    assert "a" in keys
    assert 2 in values
    assert 9 not in values
    assert ("a", 1) in items
    assert ("a", 2) not in items
    assert isinstance(keys, collections.abc.KeysView)
    assert isinstance(items, collections.abc.ItemsView)
    assert keys & {"a", "z"} == {"a"}
    assert keys | {"z"} == {"a", "b", "z"}
    assert sorted(keys - {"a"}) == ["b"]
    for view in (keys, values, items):
        assert isinstance(repr(view), str)


@pytest.mark.parametrize("kind", [Map, Dict])
def test_insertion_order(kind):
    for size in (3, 100, 5000):
        names = [f"k{n * 7919 % size}" for n in range(size)]
        assert list(kind({name: n for n, name in enumerate(names)})) == list(dict.fromkeys(names))


def test_equality_by_content():
    for one in (Map({"a": 1, "b": 2}), Dict({"a": 1, "b": 2})):
        for two in (Map({"b": 2, "a": 1}), Dict({"b": 2, "a": 1}), {"b": 2, "a": 1}):
            assert one == two
            assert two == one
            assert (one != two) is False
        for two in ({"a": 1}, {"a": 1, "b": 3}, {"a": 1, "c": 2}, 5, None, ["a", "b"]):
            assert one != two
    assert Map({1: 1}) != {1.0: 1}
    assert Map({"a": [1]}) == {"a": [1]}
    assert Map({}) == {}


def test_hash():
    assert hash(Map({"a": 1, "b": 2})) == hash(Map({"b": 2, "a": 1}))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Dict())


def pairs(*entries):
    """A Dict made entry by entry: in a Python dict 1, True and 1.0 are one key."""
    table = Dict()
    for k, v in entries:
        table[k] = v
    return table


def test_keys_by_type_and_value():
    table = pairs((1, "i"), (True, "b"), (1.0, "f"), ("1", "s"), (b"1", "y"), (None, "n"))
    assert len(table) == 6
    assert [table[k] for k in (1, True, 1.0, "1", b"1", None)] == ["i", "b", "f", "s", "y", "n"]
    assert 0 not in table
    zero = pairs((0.0, "plus"), (-0.0, "minus"))
    assert (zero[0.0], zero[-0.0]) == ("plus", "minus")
    assert Map({NAN: 1})[float("nan")] == 1
    assert Map({2**70: 1})[2**70] == 1
    long = "a string of more than fourteen bytes"
    assert Map({long: 1})["".join(long)] == 1


def test_objects_are_keys_by_identity():
    one, two = nodes.Box(1), nodes.Box(1)
    table = Map({one: 1})
    assert table[one] == 1
    assert two not in table
    assert next(iter(table)) is one
    array = Array([1])
    assert Map({array: 1})[array] == 1


def test_nested_values_become_containers():
    table = Map({"a": [1], "b": {"c": 1}})
    assert type(table["a"]) is Array
    assert type(table["b"]) is Map
    box = nodes.Box(1)
    assert Map({"a": box})["a"] is box


def test_map_is_immutable():
    table = Map({"a": 1})
    for name in ("update", "pop", "clear", "popitem", "setdefault"):
        assert not hasattr(table, name)
    with pytest.raises(TypeError):
        table["a"] = 2
    with pytest.raises(TypeError):
        del table["a"]


def test_making():
    assert Map({}) == {}
    assert Map(Dict({"a": 1})) == {"a": 1}
    for bad in (5, None):
        with pytest.raises((TypeError, AttributeError)):
            Map(bad)


def test_dict_changes():
    table = Dict({"a": 1})
    table["b"] = 2
    table["a"] = 10
    assert list(table.items()) == [("a", 10), ("b", 2)]
    del table["a"]
    table["a"] = 1
    assert list(table) == ["b", "a"]
    table.update({"c": 3, "b": 20})
    assert table == {"b": 20, "a": 1, "c": 3}
    assert table.setdefault("a", 9) == 1
    assert table.setdefault("d", 9) == 9
    assert table.pop("d") == 9
    assert table.pop("d", None) is None
    assert table.popitem() == ("c", 3)
    table.clear()
    assert table == {}
    with pytest.raises(KeyError, match="q"):
        table.pop("q")
    with pytest.raises(KeyError, match="q"):
        del table["q"]
    with pytest.raises(KeyError):
        table.popitem()


def test_many_changes_agree_with_dict():
    table, model = Dict(), {}
    state = 12345
    for _ in range(20_000):
        state = (state * 1103515245 + 12345) % 2**31
        k = state // 7 % 200
        if state % 3:
            table[k] = model[k] = state
        elif k in model:
            assert table.pop(k) == model.pop(k)
        else:
            assert k not in table
    assert list(table.items()) == list(model.items())


def test_dicts_are_shared():
    table = Dict({"a": 1})
    box = nodes.Box(table)
    box.v["b"] = 2
    assert table == {"a": 1, "b": 2}
    assert box.v is table


def test_copies():
    table = Dict({"a": List([1])})
    shallow, deep = copy.copy(table), copy.deepcopy(table)
    table["b"] = 1
    table["a"].append(2)
    assert list(shallow) == ["a"]
    assert shallow["a"] is table["a"]
    assert list(deep["a"]) == [1]


@pytest.mark.parametrize("view", ["keys", "values", "items"])
@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.__setitem__("new", 1),
        lambda table: table.pop("a"),
        lambda table: table.clear(),
        lambda table: table.update({"z": 1}),
    ],
    ids=["set", "pop", "clear", "update"],
)
def test_change_while_iterating(view, change):
    table = Dict({"a": 1, "b": 2, "c": 3})
    with pytest.raises(RuntimeError, match="changed"):
        for _ in getattr(table, view)():
            change(table)


def test_key_errors_carry_the_key():
    for table in (Map({"a": 1}), Dict({"a": 1})):
        with pytest.raises(KeyError) as caught:
            table[("no", "such")]
        assert "no" in str(caught.value)


def test_unhashable_python_keys_cannot_arise():
    with pytest.raises(TypeError, match="unhashable"):
        Map({[1]: 2})


def test_functions_as_values():
    table = Map({"f": lambda x: x + 1})
    assert table["f"](1) == 2


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
