"""`isoform.types`: classes by type key."""

import pytest

import isoform
from isoform import types
from isoform.dataclasses import Object, py_class


def test_classes_of_python(key):
    name = key("Node")

    @py_class(name)
    class Node(Object):
        value: int

    assert types.class_of(name) is Node


def test_namespaces_nest():
    @py_class("namespace_test.inner.Node")
    class Node(Object):
        value: int

    assert types.namespace_test.inner.Node is Node
    assert dir(types.namespace_test) == ["inner"]
    assert dir(types.namespace_test.inner) == ["Node"]
    assert "namespace_test" in dir(types)
    assert repr(types.namespace_test.inner) == "<namespace of types 'namespace_test.inner'>"


def test_a_class_wins_over_the_keys_below_it():
    @py_class("namespace_test2.Node")
    class Node(Object):
        value: int

    @py_class("namespace_test2.Node.Part")
    class Part(Object):
        value: int

    assert types.namespace_test2.Node is Node
    assert types.class_of("namespace_test2.Node.Part") is Part


@pytest.mark.parametrize("find", [lambda: types.nothing, lambda: types.onnx.Nothing])
def test_unknown_names_are_attribute_errors(find):
    with pytest.raises(AttributeError, match="no type is registered as"):
        find()


def test_unknown_keys_are_key_errors():
    with pytest.raises(KeyError, match="demo"):
        types.class_of("demo.none.Such")


def test_no_accidental_namespaces():
    assert not hasattr(types, "__wrapped__")
    assert not hasattr(types, "onn")
    assert isoform.types is types
