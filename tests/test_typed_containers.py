"""Lists and dicts in typed fields stay typed, whoever changes them."""

import copy
import pickle
from typing import Any

import pytest

import isoform
from isoform import Dict, List, Object, structural_equal
from isoform.dataclasses import field, py_class, replace
from isoform.serialization import from_bytes, from_json_graph_str, to_bytes, to_json_graph_str
from nodes import Var


@py_class("typed.Fun")
class Fun(Object):
    params: list[Var]
    sizes: list[float] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    table: dict[str, list[int]] = field(default_factory=dict)
    free: list[Any] = field(default_factory=list)
    maybe: "list[int] | None" = None
    flags: list[bool] = field(default_factory=list)


@py_class("typed.Other")
class Other(Object):
    items: list[int]
    others: "list[int | str] | None" = None


X = Var("x")

REFUSED = [
    lambda f: f.params.append("a"),
    lambda f: f.params.insert(0, "a"),
    lambda f: f.params.extend([X, "a"]),
    lambda f: f.params.__setitem__(0, "a"),
    lambda f: f.params.__setitem__(slice(0, 1), ["a"]),
    lambda f: f.params.__setitem__(slice(0, 2, 2), ["a"]),
    lambda f: f.params.__iadd__(["a"]),
    lambda f: f.params.append(None),
]


@pytest.mark.parametrize("change", REFUSED)
def test_a_list_refuses_what_its_field_forbids(change):
    f = Fun([X])
    with pytest.raises(TypeError, match=r"^typed\.Fun\.params: .*expected nodes\.Var, got"):
        change(f)
    assert list(f.params) == [X]


DICT_REFUSED = [
    lambda f: f.table.__setitem__(1, []),
    lambda f: f.table.__setitem__("k", ["a"]),
    lambda f: f.table.setdefault("k", ["a"]),
    lambda f: f.table.setdefault("k"),
    lambda f: f.table.update({"a": [1], "k": "a"}),
    lambda f: f.table.update(k="a"),
    lambda f: f.table.__ior__({"k": 1}),
    lambda f: f.table["k0"].append("a"),
]


@pytest.mark.parametrize("change", DICT_REFUSED)
def test_a_dict_refuses_what_its_field_forbids(change):
    f = Fun([], table={"k0": [1]})
    with pytest.raises(TypeError, match=r"^typed\.Fun\.table: .*expected (str|int|List\[int\])"):
        change(f)
    assert {k: list(v) for k, v in f.table.items()} == {"k0": [1]}


def test_elements_convert_as_in_the_constructor():
    f = Fun([])
    f.sizes.append(1)
    f.sizes += [True, 2.5]
    assert [repr(size) for size in f.sizes] == ["1.0", "1.0", "2.5"]
    f.rows.append([1, True])
    assert type(f.rows[0]) is List
    assert f.rows[0] == [1, 1]
    assert f.table.setdefault("k", (1, 2)) == [1, 2]
    assert type(f.table["k"]) is List
    f.flags.append(7)
    assert f.flags[0] is True


def test_nested_lists_are_typed_however_they_came_in():
    f = Fun([], rows=[[1]])
    given = List([2])
    f.rows.append(given)
    assert f.rows[1] is given
    for row in (*f.rows, given):
        with pytest.raises(TypeError, match=r"typed\.Fun\.rows: .*expected int, got str"):
            row.append("a")
    f.rows[0] = [5]
    with pytest.raises(TypeError, match="expected int, got str"):
        f.rows[0].append("a")


def test_lists_without_types_take_anything():
    f = Fun([])
    f.free.append("a")
    f.free.append([X])
    plain = List([1])
    plain.append("a")
    assert len(f.free) == 2
    assert plain == [1, "a"]


def test_a_list_keeps_its_identity_where_it_fits_and_is_typed_from_then_on():
    given = List([1])
    o = Other(given)
    assert o.items is given
    with pytest.raises(TypeError, match=r"typed\.Other\.items: element: expected int, got str"):
        given.append("a")
    # An unsuitable list is refused, or converted to a separate list.
    with pytest.raises(TypeError, match=r"typed\.Other.*items.*expected int, got str"):
        Other(List(["a"]))
    floats = List([True])
    assert Other(floats).items is not floats
    floats.append("a")


def test_a_list_in_two_fields_obeys_both():
    wide = List([1])
    o = Other([], wide)
    o.others.append("a")
    with pytest.raises(TypeError, match="expected int, got str"):
        Other(wide)
    wide.pop()
    p = Other(wide, wide)
    assert p.items is p.others is wide
    with pytest.raises(TypeError, match="expected int, got str"):
        p.others.append("a")
    wide.append(2)
    both = List([])
    Fun([], both), Other(both)
    with pytest.raises(TypeError, match=r"typed\.Other\.items: .*expected int, got float"):
        both.append(1)


def test_assignment_and_replace_type_a_list():
    o = Other([])
    for given, made in [(List([1]), o), (List([2]), o)]:
        made.items = given
        with pytest.raises(TypeError, match="expected int"):
            given.append("a")
    given = List([3])
    assert replace(o, items=given).items is given
    with pytest.raises(TypeError, match="expected int"):
        given.append("a")


def test_optional_lists_and_defaults_are_typed():
    f = Fun([], maybe=[1])
    with pytest.raises(TypeError, match=r"typed\.Fun\.maybe: .*expected int, got str"):
        f.maybe.append("a")
    with pytest.raises(TypeError, match=r"typed\.Fun\.sizes: .*expected float, got str"):
        Fun([]).sizes.append("a")


COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "pickle": lambda f: pickle.loads(pickle.dumps(f)),
    "json": lambda f: from_json_graph_str(to_json_graph_str(f)),
    "bytes": lambda f: from_bytes(to_bytes(f)),
    "text": lambda f: isoform.text.from_text(isoform.text.to_text(f)),
    "map": lambda f: isoform.structural_map(f, (int, lambda n: n + 1)),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES)
def test_copies_and_files_give_typed_lists(make):
    f = make(Fun([X], rows=[[1]], table={"k": [1]}))
    for change in (
        lambda: f.params.append("a"),
        lambda: f.rows.append(1),
        lambda: f.rows[0].append("a"),
        lambda: f.table["k"].append("a"),
        lambda: f.table.update({1: []}),
    ):
        with pytest.raises(TypeError, match=r"typed\.Fun\.(params|rows|table): .*expected"):
            change()
    assert structural_equal(make(f), make(f), map_free_vars=True)


def test_copies_of_the_elements_are_free():
    f = Fun([X], table={"k": [1]})
    for made in (f.params.copy(), f.params + [], List(f.params), f.params[:], copy.copy(f.params)):
        if isinstance(made, List):
            made.append("a")
    f.table.copy()["k2"] = "a"
    Dict(f.table)["k2"] = "a"
    with pytest.raises(TypeError, match="expected"):
        f.table["k2"] = "a"


def test_sorting_and_reversing_are_allowed():
    o = Other([3, 1, 2])
    o.items.sort()
    o.items.reverse()
    assert o.items == [3, 2, 1]
    o.items.clear()
    o.items.append(1)
    assert o.items.pop() == 1


def test_lists_and_dicts_of_native_types_stay_typed():
    module = isoform.ir.IRModule()
    with pytest.raises(TypeError, match=r"ir\.IRModule\.functions: "):
        module.functions["a"] = 1
    context = isoform.ir.diagnostics.DiagnosticContext(module)
    with pytest.raises(TypeError, match=r"ir\.DiagnosticContext\.diagnostics: "):
        context.diagnostics.append("a")


def test_what_is_in_a_typed_list_can_be_written_and_read():
    f = Fun([X], sizes=[1.5], rows=[[1]], table={"k": [2]})
    for change in (lambda: f.params.append("a"), lambda: f.sizes.append("a")):
        with pytest.raises(TypeError):
            change()
    f.sizes.append(2)
    for make in ("json", "bytes", "text"):
        assert structural_equal(COPIES[make](f), f, map_free_vars=True)


def test_a_list_that_contains_itself_may_be_typed():
    @py_class("typed.Tree")
    class Tree(Object):
        items: list[list[Any]]

    items = List([])
    tree = Tree(items)
    items.append(items)
    assert tree.items[0] is items
    with pytest.raises(TypeError, match=r"typed\.Tree\.items: .*expected List\[Any\], got int"):
        items.append(1)
    items.clear()


def test_a_typed_list_of_a_shared_graph_is_checked_once():
    shared = List(range(1000))
    many = [Other(shared) for _ in range(100)]
    assert all(o.items is shared for o in many)
    made = from_json_graph_str(to_json_graph_str(many))
    assert made[0].items is made[99].items
