"""Attributes and functions of `isoform.ir`."""

import pytest
from ir_checklist import covers

from isoform import ir, relay, structural_equal, tir
from isoform.dataclasses import field, py_class


@covers("C08", "C08.1", "C08.2", "C08.3", "C08.4", "C08.5")
def test_attrs_of_a_class(key):
    @py_class(key("ConvAttrs"))
    class ConvAttrs(ir.Attrs):
        groups: int
        layout: str = field(default="NCHW", doc="The order of dimensions")
        strides: tuple[int, int] = (1, 1)

    attrs = ConvAttrs(2, strides=(3, 4))
    assert attrs.get_int("groups") == 2
    assert attrs.get_int_tuple("strides") == (3, 4)
    assert attrs.get_str("layout") == "NCHW"
    assert attrs.keys() == ["groups", "layout", "strides"]
    assert (attrs["groups"], attrs.groups) == (2, 2)
    infos = attrs.list_field_info()
    assert [(info.name, info.type_info) for info in infos] == [
        ("groups", "int"),
        ("layout", "str"),
        ("strides", "tuple[int, int]"),
    ]
    assert infos[1].description == "The order of dimensions"
    with pytest.raises(AttributeError, match="none"):
        attrs.get_int("none")
    with pytest.raises(TypeError, match="attribute 'layout': expected int, got str"):
        attrs.get_int("layout")
    with pytest.raises(TypeError, match="attribute 'groups': expected str, got int"):
        attrs.get_str("groups")
    with pytest.raises(TypeError, match="expected a sequence of int"):
        attrs.get_int_tuple("groups")


def test_literals_are_numbers():
    attrs = ir.DictAttrs({"n": tir.const(3), "s": tir.StringImm("x"), "t": [tir.const(1), 2]})
    assert attrs.get_int("n") == 3
    assert attrs.get_str("s") == "x"
    assert attrs.get_int_tuple("t") == (1, 2)


@covers("C09", "C09.1", "C09.2")
def test_dict_attrs():
    attrs = ir.DictAttrs({"a": 1, "b": "two"})
    assert dict(attrs.items()) == {"a": 1, "b": "two"}
    assert attrs.keys() == ["a", "b"]
    assert (attrs["a"], attrs.b) == (1, "two")
    assert "a" in attrs
    assert "c" not in attrs
    assert len(attrs) == 2
    assert list(attrs) == ["a", "b"]
    assert attrs.get("c") is None
    assert attrs.get("c", 5) == 5
    with pytest.raises(KeyError):
        attrs["c"]
    with pytest.raises(AttributeError):
        _ = attrs.c
    assert structural_equal(attrs, ir.DictAttrs({"b": "two", "a": 1}))
    assert structural_equal(attrs, ir.load_json(ir.save_json(attrs)))
    with pytest.raises(TypeError, match="key 1"):
        ir.DictAttrs({1: 2})


def identity(name="x"):
    x = relay.Var(name)
    return relay.Function([x], x)


@covers("C16", "C16.1", "C16.2", "C16.3", "C16.4")
def test_function_attributes():
    f = identity()
    assert isinstance(f, ir.BaseFunc)
    assert f.attrs.keys() == []
    g = f.with_attr("k", 1)
    assert type(g) is relay.Function
    assert g.attrs["k"] == 1
    assert f.attrs.keys() == []
    assert g.params[0] is f.params[0]
    h = g.with_attr({"k": 2, "list": [1, 2]})
    assert (h.attrs["k"], list(h.attrs["list"]), g.attrs["k"]) == (2, [1, 2], 1)
    assert dict(f.with_attrs({"a": 1}).attrs.items()) == {"a": 1}
    assert dict(g.with_attrs(ir.DictAttrs({"a": 1})).attrs.items()) == {"k": 1, "a": 1}
    assert h.without_attr("k").attrs.keys() == ["list"]
    assert h.attrs.keys() == ["k", "list"]
    assert f.without_attr("k").attrs.keys() == []
    assert f.with_attr(attr_key_or_dict="k", attr_value=3).attrs["k"] == 3
    assert not structural_equal(f, g)
    assert structural_equal(g, identity("y").with_attr("k", 1))


def test_an_int_and_a_literal_of_the_ir_are_the_same_attribute():
    f = identity()
    plain = f.with_attr({"Primitive": 1, "Inline": True, "n": "x"})
    one, true = tir.IntImm("int32", 1), tir.IntImm("bool", 1)
    literal = {"Primitive": one, "Inline": true, "n": "x"}
    made = relay.Function(f.params, f.body, attrs=ir.DictAttrs(literal))
    for same in (f.with_attr(literal), f.with_attrs(literal), made):
        assert structural_equal(same, plain)
        assert (same.attrs["Primitive"], same.attrs["Inline"]) == (1, True)


def test_functions_of_python_have_attributes_too(key):
    @py_class(key("Function"))
    class Function(ir.BaseFunc):
        body: int

    f = Function(body=1).with_attr("k", 1)
    assert type(f) is Function
    assert (f.body, f.attrs["k"]) == (1, 1)


@covers("C17")
def test_calling_conv():
    assert [(c.name, c.value) for c in ir.CallingConv] == [
        ("DEFAULT", 0),
        ("C_PACKED_FUNC", 1),
        ("DEVICE_KERNEL_LAUNCH", 2),
    ]


def test_parameters_are_bound_in_their_function():
    f, g = identity("x"), identity("y")
    assert structural_equal(f, g)
    assert not structural_equal([f, f.params[0]], [g, g.params[0]])
    assert not structural_equal([f, f], [g, identity()])
