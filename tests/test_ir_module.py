"""Modules of `isoform.ir`."""

import copy
import pickle
import re

import pytest
from ir_checklist import covers

from isoform import (
    get_first_structural_mismatch,
    ir,
    relay,
    structural_digest,
    structural_equal,
    structural_hash,
    tir,
)


def identity(name="x"):
    x = relay.Var(name)
    return relay.Function([x], x)


def two(first="f", second="g", reverse=False):
    """A module of two functions; the second calls the first."""
    f, g, x = ir.GlobalVar(first), ir.GlobalVar(second), relay.Var("x")
    functions = [(f, identity()), (g, relay.Function([x], f(x)))]
    return ir.IRModule(dict(reversed(functions) if reverse else functions))


def same(left, right):
    answer = structural_equal(left, right)
    if answer:
        assert structural_hash(left) == structural_hash(right)
        assert structural_digest(left) == structural_digest(right)
    else:
        assert get_first_structural_mismatch(left, right) is not None
    return answer


@covers("C18")
def test_construction():
    mod = ir.IRModule({"main": identity()}, attrs={"k": 1}, global_infos={"d": [ir.VDevice()]})
    assert len(mod.functions) == 1
    assert mod.attrs["k"] == 1
    assert [type(info) for info in mod.global_infos["d"]] == [ir.VDevice]
    assert isinstance(mod.source_map, ir.SourceMap)
    empty = ir.IRModule()
    assert (len(empty.functions), len(empty.type_definitions), empty.attrs) == (0, 0, None)
    for functions, message in [
        ({1: identity()}, "expected ir.GlobalVar, got int"),
        ({"f": 3}, '"f": expected ir.BaseFunc, got int'),
        ([identity()], "expected a dict of ir.GlobalVar to ir.BaseFunc, got Array"),
    ]:
        with pytest.raises(TypeError, match=re.escape(f"ir.IRModule.functions: {message}")):
            ir.IRModule(functions)
    with pytest.raises(ValueError, match='global variable of the name "f"'):
        ir.IRModule({"f": identity(), ir.GlobalVar("f"): identity()})


def test_items():
    f = identity()
    mod = ir.IRModule({"f": f})
    var = mod.get_global_var("f")
    assert mod["f"] is mod[var] is f
    assert "f" in mod
    assert var in mod
    assert "g" not in mod
    assert ir.GlobalVar("f") not in mod
    g = identity()
    mod["f"] = g
    assert mod["f"] is g
    assert mod.get_global_var("f") is var
    mod["h"] = f
    assert [v.name_hint for v in mod] == ["f", "h"]
    del mod["h"]
    assert "h" not in mod
    with pytest.raises(ValueError, match='another global variable of the name "f"'):
        mod[ir.GlobalVar("f")] = f
    with pytest.raises(TypeError, match=r"ir\.BaseFunc"):
        mod["f"] = 3
    with pytest.raises(ValueError, match='Cannot find global variable "x" in the module'):
        mod["x"]
    with pytest.raises(ValueError, match="no definition of the global variable"):
        mod[ir.GlobalVar("f")]


def adt(name="List"):
    header, a = ir.GlobalTypeVar(name), ir.TypeVar("a")
    constructors = [ir.Constructor("Nil", [], header), ir.Constructor("Cons", [a], header)]
    return header, ir.TypeData(header, [a], constructors)


@covers("C18.5", "C18.6", "C18.7")
def test_type_definitions():
    (list_, list_data), (tree, tree_data) = adt("List"), adt("Tree")
    mod = ir.IRModule(type_definitions={tree: tree_data, list_: list_data})
    assert mod.get_global_type_var("List") is list_
    assert [var.name_hint for var in mod.get_global_type_vars()] == ["List", "Tree"]
    assert mod[list_] is list_data
    assert mod.get_type("Tree") == (tree, *tree_data.constructors)
    cons = list_data.constructors[1]
    assert mod.get_constructor(cons.tag) is cons
    with pytest.raises(ValueError, match="no constructor with the tag -1"):
        mod.get_constructor(-1)
    with pytest.raises(ValueError, match='Cannot find global type variable "none"'):
        mod.get_global_type_var("none")
    mod["Map"] = adt("Map")[1]
    assert "Map" in [var.name_hint for var in mod.get_global_type_vars()]
    other = [adt("Tree"), adt("List")]
    again = ir.IRModule(type_definitions=dict(other))
    del mod[mod.get_global_type_var("Map")]
    assert same(mod, again)
    assert not same(mod, ir.IRModule(type_definitions=dict([adt("List"), adt("Bush")])))


@covers("C18.2")
def test_from_expr():
    f = identity()
    mod = ir.IRModule.from_expr(f)
    assert mod["main"] is f
    x = relay.Var("x")
    wrapped = ir.IRModule.from_expr(relay.Call(ir.GlobalVar("g"), [x, x]))["main"]
    assert [p.name_hint for p in wrapped.params] == ["x"]
    named = ir.IRModule.from_expr(f.with_attr("global_symbol", "entry"))
    assert [v.name_hint for v in named] == ["entry"]
    taken = ir.IRModule.from_expr(f, {"main": identity()})
    assert [v.name_hint for v in taken] == ["main", "main_1"]
    header, data = adt()
    assert ir.IRModule.from_expr(f, type_defs={header: data})[header] is data
    inner = relay.Function([x], relay.Call(ir.GlobalVar("g"), [x, relay.Var("free")]))
    closed = relay.Call(inner, [relay.Var("y")])
    params = ir.IRModule.from_expr(closed)["main"].params
    assert sorted(p.name_hint for p in params) == ["free", "y"]


@covers("C18.3", "C18.8", "C18.9")
def test_lookups():
    mod = two("b", "a")
    assert [(var.name_hint, func) for var, func in mod.functions_items()] == [
        ("a", mod["a"]),
        ("b", mod["b"]),
    ]
    assert [var.name_hint for var in mod.get_global_vars()] == ["a", "b"]
    assert mod.get_global_var("a").name_hint == "a"
    with pytest.raises(ValueError, match='"c" in the module, which has: "a", "b"'):
        mod.get_global_var("c")


@covers("C18.10", "C18.11", "C18.12")
def test_updates_happen_in_place():
    mod, f = ir.IRModule(), identity()
    var = ir.GlobalVar("f")
    mod.update_func(var, f)
    assert mod["f"] is f
    g = identity()
    mod.update(ir.IRModule({var: g, "g": f}))
    assert mod["f"] is g
    mod.update({"h": f, "f": f})
    assert mod["f"] is f
    assert [v.name_hint for v in mod] == ["f", "g", "h"]
    with pytest.raises(ValueError, match="another global variable"):
        mod.update(ir.IRModule({"new": f, "f": f}))
    assert "new" not in mod
    mod.update_global_info("devices", [ir.VDevice(), ir.DummyGlobalInfo()])
    assert len(mod.global_infos["devices"]) == 2
    mod.update_global_info(name="devices", global_info=[])
    assert len(mod.global_infos["devices"]) == 0
    with pytest.raises(TypeError, match=r"ir\.GlobalInfo"):
        mod.update_global_info("devices", [1])


@covers("C18.4", "C18.13", "C18.14", "C18.15")
def test_attributes_change_in_a_copy():
    mod = two()
    assert mod.get_attr("k") is None
    other = mod.with_attr("k", 1)
    assert (mod.attrs, other.get_attr("k")) == (None, 1)
    assert other.with_attrs({"k": 2, "l": 3}).get_attr("l") == 3
    assert other.with_attrs(ir.DictAttrs({"l": 3})).get_attr("k") == 1
    assert other.without_attr("k").get_attr("k") is None
    assert other.get_attr("k") == 1
    # The copy changes on its own.
    other["new"] = identity()
    assert "new" not in mod
    copied = mod.clone()
    copied["new"] = identity()
    assert "new" not in mod


@pytest.mark.parametrize("make", [two, ir.IRModule, lambda: ir.IRModule({"f": identity()})])
def test_round_trips(make):
    mod = make().with_attr("k", [1, 2])
    for other in (
        ir.load_json(ir.save_json(mod)),
        pickle.loads(pickle.dumps(mod)),
        copy.deepcopy(mod),
    ):
        assert same(mod, other)
        other["fresh"] = identity()
        assert "fresh" not in mod


def test_primitive_functions_call_global_variables():
    f = ir.GlobalVar("f")
    call = tir.Call("int32", f, [1])
    assert structural_equal(ir.load_json(ir.save_json(call)), call, map_free_vars=True)


def test_a_shallow_copy_changes_on_its_own():
    x = relay.Var("x")
    func = relay.Function([x], x)
    mod = ir.IRModule({"main": func})
    held = mod.functions
    twin = copy.copy(mod)
    twin["other"] = func
    assert (len(mod), len(twin)) == (1, 2)
    assert mod.functions is held and twin.functions is not held
    # The parts are shared.
    assert twin["main"] is func and twin.source_map is mod.source_map
