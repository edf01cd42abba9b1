"""Types that Rust declares appear as Python classes by themselves."""

import copy
import inspect
import pickle

import pytest

import isoform
import isoform.testing
from family import NAMES
from isoform import Object, structural_equal
from isoform.dataclasses import fields, replace


@pytest.fixture(scope="module")
def rust():
    return isoform.testing.rust_family()


def test_all_classes_are_there(rust):
    for name in NAMES:
        cls = getattr(rust, name)
        assert issubclass(cls, Object)
        assert cls.__isoform_type_info__.type_key == f"testing.{name}"
        assert cls.__doc__.strip()
        assert cls.__name__ == name


def test_construction(rust):
    assert list(inspect.signature(rust.Add).parameters) == ["span", "lhs", "rhs"]
    node = rust.Add(None, 1, rhs=[2])
    assert (node.span, node.lhs, node.rhs) == (None, 1, [2])
    assert type(node.rhs) is isoform.Array
    assert [f.name for f in fields(rust.Add)] == ["span", "lhs", "rhs"]
    assert issubclass(rust.Add, rust.Expr)
    assert issubclass(rust.TypedVar, rust.Var)
    for bad in (lambda: rust.Add(1, 2), lambda: rust.Add(1, 2, 3, 4), lambda: rust.Add(1, 2, z=3)):
        with pytest.raises(TypeError, match=r"testing\.Add"):
            bad()


def test_storages(rust):
    expr = rust.Add(None, 1, 2)
    node = rust.Storages(
        any=b"x", object=expr, nullable=None, int=5, float=2, flag=True, text="t", dtype="int8"
    )
    assert (node.any, node.object, node.nullable) == (b"x", expr, None)
    assert node.object is expr
    assert (node.int, node.float, node.flag, node.text) == (5, 2.0, True, "t")
    assert type(node.float) is float
    assert type(node.dtype) is isoform.dtype
    for change in ({"int": "s"}, {"object": 1}, {"nullable": 5}, {"dtype": "zz"}, {"text": b""}):
        with pytest.raises(TypeError, match=f"{next(iter(change))}"):
            replace(node, **change)


def test_fields_of_rust_types_are_read_only(rust):
    node = rust.Add(None, 1, 2)
    with pytest.raises(AttributeError, match="lhs"):
        node.lhs = 5
    assert node.lhs == 1
    assert replace(node, lhs=5).lhs == 5


def test_field_docs(rust):
    assert "left operand" in inspect.getdoc(rust.Add.lhs)


def test_python_classes_extend_rust_types(rust, key):
    @isoform.dataclasses.py_class(key())
    class Scaled(rust.Add):
        factor: int

    node = Scaled(None, 1, 2, 3)
    assert isinstance(node, rust.Expr)
    assert (node.lhs, node.factor) == (1, 3)
    node.factor = 4
    assert node.factor == 4
    assert structural_equal(node, Scaled("elsewhere", 1, 2, 4))


def test_values_travel(rust):
    node = rust.Add(None, rust.Const([1]), 2)
    assert copy.deepcopy(node).lhs is not node.lhs
    assert structural_equal(pickle.loads(pickle.dumps(node)), node)
    text = isoform.serialization.to_json_graph_str(node)
    made = isoform.serialization.from_json_graph_str(text)
    assert type(made) is rust.Add
    assert structural_equal(made, node)
    assert repr(node).startswith("testing.Add(span=None, lhs=testing.Const(value=(1,)), rhs=2")
    match node:
        case rust.Add(_, rust.Const(value), two):
            assert (list(value), two) == ([1], 2)
        case _:
            raise AssertionError


def test_attributes_of_rust_objects(rust):
    node = rust.Add(None, rust.Const(1), 2)
    assert node.lhs is node.lhs
    with pytest.raises(AttributeError):
        node.unknown = 1
