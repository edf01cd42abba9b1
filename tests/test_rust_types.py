"""Types declared in Rust appear as Python classes automatically."""

import copy
import inspect
import pickle

import pytest

import isoform
import isoform.testing
from isoform import Object, structural_equal
from isoform.core import TypeSchema
from isoform.dataclasses import (
    fields,
    is_dataclass,
    py_class,
    replace,
)


@pytest.fixture(scope="module")
def rust():
    return isoform.testing.rust_family()


def test_all_classes_are_there(rust):
    assert {"Expr", "Var", "Add", "Lambda"} <= set(vars(rust))
    for name, cls in vars(rust).items():
        assert issubclass(cls, Object)
        assert cls.__isoform_type_info__.type_key == f"testing.{name}"
        assert cls.__doc__.strip()
        assert cls.__name__ == name


def test_construction(rust):
    assert list(inspect.signature(rust.Add).parameters) == ["lhs", "rhs", "span"]
    node = rust.Add(1, rhs=[2])
    assert (node.span, node.lhs, node.rhs) == (None, 1, [2])
    assert type(node.rhs) is isoform.Array
    assert [f.name for f in fields(rust.Add)] == ["span", "lhs", "rhs"]
    assert issubclass(rust.Add, rust.Expr)
    assert issubclass(rust.TypedVar, rust.Var)
    for bad in (lambda: rust.Add(1), lambda: rust.Add(1, 2, 3, 4), lambda: rust.Add(1, 2, z=3)):
        with pytest.raises(TypeError, match=r"testing\.Add"):
            bad()


def test_storages(rust):
    expr = rust.Add(1, 2)
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
    node = rust.Add(1, 2)
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

    node = Scaled(1, 2, 3)
    assert isinstance(node, rust.Expr)
    assert (node.lhs, node.factor) == (1, 3)
    node.factor = 4
    assert node.factor == 4
    assert structural_equal(node, Scaled(1, 2, 4, span="elsewhere"))


def test_values_travel(rust):
    node = rust.Add(rust.Const([1]), 2)
    assert copy.deepcopy(node).lhs is not node.lhs
    assert structural_equal(pickle.loads(pickle.dumps(node)), node)
    text = isoform.serialization.to_json_graph_str(node)
    made = isoform.serialization.from_json_graph_str(text)
    assert type(made) is rust.Add
    assert structural_equal(made, node)
    assert repr(node).startswith("testing.Add(span=None, lhs=testing.Const(value=(1,)), rhs=2")
    match node:
        case rust.Add(rust.Const(value), two):
            assert (list(value), two) == ([1], 2)
        case _:
            raise AssertionError


def test_attributes_of_rust_objects(rust):
    node = rust.Add(rust.Const(1), 2)
    assert node.lhs is node.lhs
    with pytest.raises(AttributeError):
        node.unknown = 1


def test_types_declared_in_rust_have_fields_and_signatures(rust, key):
    family = rust
    assert is_dataclass(family.Add)
    assert [f.name for f in fields(family.Add)] == ["span", "lhs", "rhs"]
    assert list(inspect.signature(family.Add).parameters) == ["lhs", "rhs", "span"]
    storages = {f.name: f.schema for f in fields(family.Storages)}
    assert storages["int"] == TypeSchema("int")
    assert repr(storages["nullable"]) == "testing.Expr | None"

    @py_class(key())
    class Wide(family.Add):
        extra: int = 7

    assert [f.name for f in fields(Wide)] == ["span", "lhs", "rhs", "extra"]
    node = Wide(1, 2)
    assert (node.lhs, node.rhs, node.extra) == (1, 2, 7)
    assert isinstance(node, family.Expr)
