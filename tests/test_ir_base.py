"""Functions, files and containers of `isoform.ir`."""

import json
import warnings

import pytest
from ir_checklist import covers

from isoform import __version__, ir, relay, tir


def identity(name="x"):
    x = relay.Var(name)
    return relay.Function([x], x)


@covers("C01")
def test_arrays():
    fields = ir.TupleType([ir.PrimType("int8"), ir.PrimType("int32")]).fields
    assert isinstance(fields, ir.Array)
    assert len(fields) == 2
    assert fields[-1] == ir.PrimType("int32")
    assert list(fields[1:]) == [ir.PrimType("int32")]
    assert ir.structural_equal(fields, [ir.PrimType("int8"), ir.PrimType("int32")])


@covers("C02", "C02.1", "C02.2")
def test_maps():
    from isoform import convert

    attrs = ir.DictAttrs({"a": 1}).dict
    assert isinstance(attrs, ir.Map)
    assert (attrs["a"], "a" in attrs, list(attrs), len(attrs)) == (1, True, ["a"], 1)
    assert attrs.get("b") is None
    assert attrs.get("b", 2) == 2
    assert dict(attrs.items()) == {"a": 1}
    assert (list(attrs.keys()), list(attrs.values())) == (["a"], [1])
    key = ir.PrimType("int8")
    assert isinstance(convert({key: key}), ir.Map)


@covers("C03")
def test_node():
    for node in (ir.PrimType("int8"), tir.const(1), ir.IRModule(), ir.VDevice()):
        assert isinstance(node, ir.Node)


@covers("F1")
def test_structural_equal():
    assert ir.structural_equal(identity("x"), identity("y"))
    a, b = relay.Var("a"), relay.Var("b")
    assert not ir.structural_equal(a, b)
    assert ir.structural_equal(a, b, map_free_vars=True)
    assert ir.structural_equal(lhs=a, rhs=a, map_free_vars=False)
    # One variable corresponds to one variable.
    assert not ir.structural_equal([a, a], [a, b], map_free_vars=True)


@covers("F2")
def test_structural_hash():
    assert ir.structural_hash(identity("x")) == ir.structural_hash(identity("y"))
    a, b = relay.Var("a"), relay.Var("b")
    assert ir.structural_hash(a) != ir.structural_hash(b)
    assert ir.structural_hash(a, map_free_vars=True) == ir.structural_hash(b, True)


@covers("F3", "X1")
def test_assert_structural_equal():
    left, right = ir.TensorType([1, 2]), ir.TensorType([1, 3])
    ir.assert_structural_equal(left, left)
    ir.assert_structural_equal(relay.Var("a"), relay.Var("b"), map_free_vars=True)
    with pytest.raises(ValueError, match=r"<root>\.shape\[1\]\.value"):
        ir.assert_structural_equal(left, right)
    paths = ir.get_first_structural_mismatch(left, right)
    assert [str(path) for path in paths] == ["<root>.shape[1].value"] * 2
    assert ir.get_first_structural_mismatch(left, left) is None


@covers("F4", "F5")
def test_files():
    x = tir.Var("x", "int32")
    shared = x + 1
    node = ir.TensorType([shared, shared, x])
    text = ir.save_json(node)
    assert json.loads(text)["metadata"] == {"isoform_version": __version__}
    read = ir.load_json(text)
    assert ir.structural_equal(node, read, map_free_vars=True)
    assert read.shape[0] is read.shape[1]
    assert read.shape[0].a is read.shape[2]
    with pytest.raises(ValueError, match="JSON"):
        ir.load_json("{")


@covers("F6")
def test_make_node(key):
    from isoform.dataclasses import py_class

    x = ir.make_node("IntImm", dtype="int32", value=10)
    assert isinstance(x, tir.IntImm)
    assert (x.value, x.dtype, x.span) == (10, "int32", None)
    assert ir.make_node("ir.Range", min=1, extent=2) == ir.Range(1, 3)
    assert ir.make_node("DictAttrs", a=1)["a"] == 1

    name = key("Attrs")

    @py_class(name)
    class Attrs(ir.Attrs):
        axis: int
        keep: bool = True

    attrs = ir.make_node(name, axis=3)
    assert isinstance(attrs, Attrs)
    assert (attrs.axis, attrs.keep) == (3, True)
    name = key("Checked")

    @py_class(name)
    class Checked(ir.Attrs):
        axis: int

        def __post_init__(self):
            self.axis += 1
            if self.axis < 1:
                raise ValueError("no such axis")

    assert ir.make_node(name, axis=3).axis == Checked(axis=3).axis == 4
    with pytest.raises(ValueError, match="no such axis"):
        ir.make_node(name, axis=-1)
    with pytest.raises(KeyError, match="no type is registered as 'Nothing'"):
        ir.make_node("Nothing")
    with pytest.raises(AttributeError, match=r"ir\.IntImm has no field 'other'"):
        ir.make_node("IntImm", dtype="int32", value=10, other=1)
    with pytest.raises(TypeError, match="missing field 'value'"):
        ir.make_node("IntImm", dtype="int32")
    with pytest.raises(TypeError, match="field 'value': expected int, got str"):
        ir.make_node("IntImm", dtype="int32", value="ten")


@covers("X5")
def test_source_map_and_deprecated():
    mod = ir.IRModule()
    name = mod.source_map.add("main.py", "x = 1\n")
    assert isinstance(name, ir.SourceName)
    assert mod.source_map.source_map["main.py"].source == "x = 1\n"
    # The new entry is in this source map only: further maps start empty.
    assert len(ir.IRModule().source_map.source_map) == 0
    assert len(ir.SourceMap().source_map) == 0

    @ir.deprecated("old", "new")
    def old(x):
        return x

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert old(3) == 3
    assert [str(warning.message) for warning in caught] == ["old is deprecated, use new instead"]


def test_declared_constructors_have_signatures():
    import inspect

    assert list(inspect.signature(ir.FuncType).parameters) == [
        "arg_types",
        "ret_type",
        "type_params",
        "type_constraints",
        "span",
    ]
    assert inspect.signature(ir.VDevice).parameters["memory_scope"].default == "global"
    assert list(inspect.signature(ir.IRModule.with_attr).parameters) == [
        "self",
        "attr_key",
        "attr_value",
    ]
    with pytest.raises(TypeError, match="missing 1 required argument: 'arg_types'"):
        ir.FuncType()
    with pytest.raises(TypeError, match="takes from 1 to 5 positional arguments but 6 were given"):
        ir.FuncType([], ir.PrimType("int8"), [], [], None, None)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        ir.FuncType([], ir.PrimType("int8"), other=1)
    with pytest.raises(TypeError, match="multiple values for argument 'arg_types'"):
        ir.FuncType([], ir.PrimType("int8"), arg_types=[])


def test_subclasses_of_python_use_the_constructor():
    class Named(ir.PrimType):
        def doubled(self):
            return self.dtype * 2

    class Function(ir.FuncType):
        pass

    assert Named("int8").dtype == "int8"
    f = Function([], ir.PrimType("int8"))
    assert (type(f), list(f.type_params)) == (Function, [])
