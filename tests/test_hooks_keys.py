"""`__any_hash__` and `__any_equal__`: keys of maps and dicts."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import isoform
from isoform import Dict, Map, serialization, type_attrs
from isoform.dataclasses import Object, py_class


@py_class("keys.py.Id")
class Id(Object):
    n: int
    note: Any = None

    def __any_hash__(self) -> int:
        if self.note == "bad hash":
            raise LookupError("no hash")
        return self.n % 3

    def __any_equal__(self, other: Any) -> bool:
        if "bad" in (self.note, other.note):
            raise LookupError("no answer")
        return self.n == other.n


@pytest.mark.parametrize("kind", [Map, Dict])
def test_keys_are_found_by_their_hooks(kind: Any):
    table = kind({Id(n): n for n in range(30)})
    assert len(table) == 30
    assert [table[Id(n, "other")] for n in range(30)] == list(range(30))
    assert Id(5) in table
    assert Id(30) not in table
    assert table.get(Id(30), "none") == "none"
    with pytest.raises(KeyError):
        table[Id(30)]
    assert len(kind([(Id(1), 1), (Id(1), 2)])) == 1
    assert kind({Id(1): 1}) == kind({Id(1): 1})
    assert kind({Id(1): 1}) != kind({Id(2): 1})
    assert len(kind({Id(1): 1}) | kind({Id(1): 2})) == 1


def test_equal_maps_have_the_same_hash():
    assert hash(Map({Id(1): "a", Id(2): "b"})) == hash(Map({Id(2): "b", Id(1): "a"}))


def test_dicts_change_by_key():
    table = Dict({Id(1): 1})
    table[Id(1, "new")] = 2
    assert len(table) == 1
    assert next(iter(table)).note is None
    assert table.setdefault(Id(1), 9) == 2
    assert table.setdefault(Id(2), 9) == 9
    table.update({Id(2): 10, Id(3): 3})
    assert table[Id(2)] == 10
    del table[Id(1)]
    assert Id(1) not in table
    assert table.pop(Id(2)) == 10
    assert table.popitem()[1] == 3
    assert not table


def test_exceptions_come_back():
    good, bad = Id(1), Id(1, "bad")
    table, fixed = Dict({good: 1}), Map({good: 1})
    for look_up in (
        lambda: table[bad],
        lambda: fixed[bad],
        lambda: bad in table,
        lambda: bad in fixed,
        lambda: table.get(bad),
        lambda: table.pop(bad),
        lambda: table.setdefault(bad, 1),
        lambda: table.__setitem__(bad, 1),
        lambda: table.__delitem__(bad),
        lambda: table.update({bad: 1}),
        lambda: Map([(good, 1), (bad, 1)]),
        lambda: Dict({good: 1, bad: 1}),
    ):
        with pytest.raises(LookupError, match="no answer"):
            look_up()
    with pytest.raises(LookupError, match="no hash"):
        table[Id(1, "bad hash")]
    assert len(table) == 1
    # The very object is found without asking.
    own = Id(7, "bad")
    assert Map({own: 1})[own] == 1


def test_one_hook_alone_makes_no_key():
    @py_class("keys.py.Half")
    class Half(Object):
        n: int

        def __any_hash__(self) -> int:
            return 1

    with pytest.raises(TypeError, match=r"keys\.py\.Half has __any_hash__ but no __any_equal__"):
        Map({Half(1): 1})
    type_attrs.set(Half, "__any_equal__", lambda self, other: self.n == other.n)
    assert Map({Half(1): 1})[Half(1)] == 1


def test_wrong_answers():
    @py_class("keys.py.Wrong")
    class Wrong(Object):
        n: int

        def __any_hash__(self) -> Any:
            return self.n if self.n < 2 else "text"

        def __any_equal__(self, other: Any) -> Any:
            return 5

    with pytest.raises(TypeError, match=r"keys\.py\.Wrong\.__any_equal__: expected a bool"):
        Map([(Wrong(1), 1), (Wrong(1), 2)])
    with pytest.raises(TypeError, match=r"keys\.py\.Wrong\.__any_hash__: expected an int"):
        Dict({Wrong(2): 1})


def test_a_hook_may_change_the_dict():
    shared: Any = Dict({"first": 0})
    changes = 0

    @py_class("keys.py.Changes")
    class Changes(Object):
        n: int

        def __any_hash__(self) -> int:
            shared["hashing"] = 1
            return 1

        def __any_equal__(self, other: Any) -> bool:
            nonlocal changes
            changes += 1
            if changes == 1:
                del shared["first"]
                shared[f"more {changes}"] = len(shared)
            return self.n == other.n

    shared[Changes(1)] = "one"
    assert shared[Changes(1)] == "one"
    shared[Changes(2)] = "two"
    assert shared[Changes(2)] == "two"
    assert "first" not in shared


def test_copies_and_files_keep_keys():
    table = Map({Id(n): n for n in range(10)})
    for made in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert [made[Id(n)] for n in range(10)] == list(range(10))
    text = serialization.to_json_graph_str(table)
    assert serialization.from_json_graph_str(text)[Id(3)] == 3


def test_rewriting_keys_may_not_join_them():
    table = Map({Id(1): "a", Id(4): "b"})
    same = isoform.structural_map(table, (str, lambda text: text + "!"))
    assert same[Id(4)] == "b!"


def test_fields_of_maps_use_the_hooks():
    @py_class("keys.py.Holder")
    class Holder(Object):
        table: Map[Id, int]
        other: Dict[Id, int]

    holder = Holder({Id(1): 1}, {Id(2): 2})
    assert holder.table[Id(1)] == 1
    assert holder.other[Id(2)] == 2


def test_subclasses_inherit_the_hooks_and_are_other_keys():
    @py_class("keys.py.SubId")
    class SubId(Id):
        pass

    table = Map({SubId(1): "sub", Id(1): "id"})
    assert len(table) == 2
    assert table[SubId(1)] == "sub"
    assert table[Id(1)] == "id"
