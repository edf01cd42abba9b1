"""Attributes of a type from its class body: hooks, published and inherited names.

The lists `__ffi_type_attr_names__` and `__ffi_inherit_type_attrs__` are those of
tvm-ffi.
"""

import gc
import weakref

import pytest
from processes import output_of

import isoform
from isoform import Object, structural_equal, structural_hash, type_attrs
from isoform.dataclasses import c_class, py_class
from isoform.type_attrs import Trait, implements


class Pure(Trait, attr="test_in_classes.pure"):
    """Has no effect."""


def always_equal(self, other, eq):
    return True


def same_hash(self, init, hash_value):
    return 7


@pytest.fixture
def parent(key):
    @py_class(key("Parent"))
    class Parent(Object):
        x: int = 0

        def __s_equal__(self, other, eq):
            return True

        def __s_hash__(self, init, hash_value):
            return 7

    return Parent


# ---- hooks ---------------------------------------------------------------------------


def test_hooks_are_attributes(parent):
    body = parent.__dict__
    for name in ("__s_equal__", "__s_hash__"):
        assert type_attrs.get(parent, name) is body[name]
        assert parent in type_attrs.types_with(name)
    assert set(type_attrs.attrs_of(parent)) == {"__s_equal__", "__s_hash__"}
    with pytest.raises(ValueError, match=r"'__s_equal__' of type .* is set already"):
        type_attrs.set(parent, "__s_equal__", always_equal)


def test_all_hooks_of_a_body(key):
    @py_class(key())
    class Node(Object):
        x: int = 0

        def __verify__(self):
            if self.x < 0:
                raise ValueError("negative")

        def __data_to_json__(self):
            return self.x

        @staticmethod
        def __data_from_json__(data):
            return Node(data)

        def ordinary(self):
            return self.x

        def __ffi_unknown__(self):
            return None

    assert set(type_attrs.attrs_of(Node)) == {
        "__verify__",
        "__data_to_json__",
        "__data_from_json__",
    }
    assert type_attrs.get(Node, "__data_from_json__")(5).x == 5
    with pytest.raises(ValueError, match="negative"):
        isoform.verify(Node(-1))


def test_hooks_set_from_outside(key):
    @py_class(key())
    class Node(Object):
        x: int

    assert not structural_equal(Node(1), Node(2))
    type_attrs.set(Node, "__s_equal__", always_equal)
    with pytest.raises(TypeError, match="__s_hash__"):
        structural_hash(Node(1))
    type_attrs.column("__s_hash__").set(Node, same_hash)
    assert structural_equal(Node(1), Node(2))
    assert structural_hash(Node(1)) == structural_hash(Node(2))
    assert type_attrs.get(Node, "__s_equal__") is always_equal
    type_attrs.set(Node, "__s_equal__", lambda self, other, eq: False, override=True)
    assert not structural_equal(Node(1), Node(1))
    type_attrs.set(Node, "__verify__", lambda self: 1 // self.x)
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        isoform.verify(Node(0))


def test_hooks_on_types_of_rust():
    op = isoform.testing.rust_family().Op
    node = op("add")
    type_attrs.set(op, "__verify__", lambda self: 1 // 0)
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        isoform.verify(node)
    type_attrs.set(op, "__verify__", lambda self: None, override=True)
    isoform.verify(node)


def test_wrong_hooks(key):
    name = key()
    with pytest.raises(TypeError, match="hook __s_equal__ is not callable: int"):

        @py_class(name)
        class Broken(Object):
            __s_equal__ = 5

    assert name not in isoform.registry.get_registered_type_keys()

    @py_class(name)
    class Node(Object):
        pass

    with pytest.raises(TypeError, match="hook __s_equal__ is not callable: int"):
        type_attrs.set(Node, "__s_equal__", 5)
    assert type_attrs.attrs_of(Node) == {}
    with pytest.raises(TypeError, match=r"isoform\.Array takes no hook"):
        type_attrs.set(isoform.Array, "__s_equal__", always_equal)


def test_hooks_of_another_type(parent, key):
    @py_class(key())
    class Node(Object):
        x: int

    for name in ("__s_equal__", "__s_hash__"):
        type_attrs.set(Node, name, type_attrs.get(parent, name))
    assert structural_equal(Node(1), Node(2))
    assert structural_hash(Node(1)) == structural_hash(Node(2))


# ---- inheritance -----------------------------------------------------------------------


def test_hooks_are_inherited(parent, key):
    @py_class(key())
    class Child(parent):
        pass

    assert type_attrs.get(Child, "__s_equal__") is parent.__dict__["__s_equal__"]
    assert structural_equal(Child(1), Child(2))
    assert structural_hash(Child(1)) == structural_hash(Child(2))


def test_hooks_set_from_outside_are_inherited(key):
    @py_class(key())
    class Parent(Object):
        x: int

    type_attrs.set(Parent, "__s_equal__", always_equal)

    @py_class(key())
    class Child(Parent):
        pass

    assert type_attrs.get(Child, "__s_equal__") is always_equal
    assert structural_equal(Child(1), Child(2))


def test_hooks_of_rust_types_are_inherited(key):
    comm = isoform.testing.rust_family().Comm
    assert type_attrs.has(comm, "__s_equal__")

    @py_class(key())
    class Child(comm):
        pass

    assert type_attrs.has(Child, "__s_equal__")
    for cls in (comm, Child):
        assert structural_equal(cls(1, 2), cls(2, 1))
        assert structural_hash(cls(1, 2)) == structural_hash(cls(2, 1))
        assert not structural_equal(cls(1, 2), cls(1, 3))


def test_none_in_a_body_suppresses(parent, key):
    @py_class(key())
    class Child(parent):
        __s_equal__ = None
        __s_hash__ = None

    @py_class(key())
    class Grandchild(Child):
        pass

    for cls in (Child, Grandchild):
        assert type_attrs.attrs_of(cls) == {}
        assert not structural_equal(cls(1), cls(2))


def test_nothing_is_inherited(parent, key):
    @py_class(key())
    class Child(parent):
        __ffi_inherit_type_attrs__ = ()

    @py_class(key())
    class Grandchild(Child):
        pass

    for cls in (Child, Grandchild):
        assert not type_attrs.has(cls, "__s_equal__")
        assert not structural_equal(cls(1), cls(2))
        assert cls.__s_equal__ is parent.__dict__["__s_equal__"]


def test_chosen_names_are_inherited(parent, key):
    one, two = key("one"), key("two")
    type_attrs.set(parent, one, 1)
    type_attrs.set(parent, two, 2)

    @py_class(key())
    class Child(parent):
        __ffi_inherit_type_attrs__ = [one, "__s_hash__", "unknown"]  # noqa: RUF012

    assert type_attrs.attrs_of(Child) == {
        one: 1,
        "__s_hash__": parent.__dict__["__s_hash__"],
    }
    assert getattr(Child, two) == 2


def test_an_inherited_name_is_recognised(key):
    @py_class(key())
    class Parent(Object):
        __ffi_inherit_type_attrs__ = ("level",)
        level = 1

    @py_class(key())
    class Child(Parent):
        pass

    @py_class(key())
    class Other(Parent):
        level = 3

    @py_class(key())
    class Without(Parent):
        level = None

    @py_class(key())
    class Below(Without):
        pass

    levels = [type_attrs.get(cls, "level") for cls in (Parent, Child, Other, Without, Below)]
    assert levels == [1, 1, 3, None, None]
    assert not type_attrs.has(Below, "level")


def test_class_methods_that_read_files(key):
    @py_class(key())
    class Parent(Object):
        x: int

        def __data_to_json__(self):
            return self.x

        @classmethod
        def __data_from_json__(cls, data):
            return cls(data)

    @py_class(key())
    class Child(Parent):
        pass

    text = isoform.serialization.to_json_graph_str(Child(3))
    assert type(isoform.serialization.from_json_graph_str(text)) is Child


# ---- names that a class publishes ---------------------------------------------------------


def test_published_names(key):
    class Extension(Object):
        __ffi_type_attr_names__ = ("layout", "lower", "absent", "nothing")

    @py_class(key())
    class Node(Extension):
        layout = "row"
        nothing = None
        other = 5

        def lower(self):
            return "lowered"

    @py_class(key())
    class Child(Node):
        layout = "column"

    assert type_attrs.attrs_of(Node) == {"layout": "row", "lower": Node.__dict__["lower"]}
    # Metadata belongs to the defining class.
    assert type_attrs.attrs_of(Child) == {"layout": "column"}
    assert type_attrs.get(Child, "lower") is None
    assert Child.layout == "column"


def test_wrong_lists(key):
    for wrong in ("layout", 5, (1,)):
        for name in ("__ffi_type_attr_names__", "__ffi_inherit_type_attrs__"):
            with pytest.raises(TypeError, match=name):
                py_class(key())(type("Broken", (Object,), {name: wrong}))


# ---- all or nothing ---------------------------------------------------------------------------


def test_a_class_that_fails_leaves_nothing(key):
    attr, name = key("attr"), key()
    type_attrs.declare(attr, type=int)
    body = {
        "__ffi_type_attr_names__": (attr,),
        attr: "no int",
        "__annotations__": {"x": int},
        "pure": Pure,
    }
    before = len(type_attrs.types_with(Pure))
    with pytest.raises(TypeError, match=f"attribute '{attr}' of type {name}"):
        py_class(name)(type("Broken", (Object,), body))
    assert name not in isoform.registry.get_registered_type_keys()
    assert type_attrs.types_with(attr) == []
    assert len(type_attrs.types_with(Pure)) == before
    body[attr] = 5
    made = py_class(name)(type("Fine", (Object,), body))
    assert type_attrs.get(made, attr) == 5
    assert implements(made(1), Pure)


# ---- types that are declared natively --------------------------------------------------------


def test_native_types_take_what_their_class_says(key):
    isoform.testing.rust_family()
    info = isoform._core.type_info("testing.Op")
    assert info.type_cls
    with pytest.raises(ValueError, match="has a class already"):

        @c_class("testing.Op")
        class Op(Object):
            pure = Pure

    assert not type_attrs.has("testing.Op", Pure)


def test_a_class_for_a_native_type():
    # In a separate process: here the type may already have a class.
    program = """
from isoform import Object, type_attrs
from isoform.dataclasses import c_class
from isoform.type_attrs import Trait, implements

class Sized(Trait):
    def size(self) -> int: ...

for body in ({"ir_trait": Sized}, {"__verify__": 5}):
    try:
        c_class("onnx.MapType")(type("Broken", (Object,), body))
    except TypeError as error:
        assert "onnx.MapType" in str(error), error
    else:
        raise AssertionError(body)
assert type_attrs.attrs_of("onnx.MapType") == {}

@c_class("onnx.MapType")
class MapType(Object):
    ir_trait = Sized
    __ffi_type_attr_names__ = ("layout",)
    layout = "hash"

    def size(self):
        return 3

    def __verify__(self):
        return None

assert set(type_attrs.attrs_of(MapType)) == {
    "ir_trait", "ir_trait.sized", "layout", "__verify__"
}, type_attrs.attrs_of(MapType)
assert implements(MapType, Sized).size(None) == 3
type_attrs.set("onnx.SequenceType", "layout", "list")
try:
    @c_class("onnx.SequenceType")
    class SequenceType(Object):
        __ffi_type_attr_names__ = ("layout",)
        layout = "other"
except ValueError as error:
    assert str(error) == "attribute 'layout' of type onnx.SequenceType is set already", error
else:
    raise AssertionError
assert type_attrs.get("onnx.SequenceType", "layout") == "list"
"""
    output_of(program)


def test_values_stay_alive(key):
    class Witness:
        pass

    attr = key()

    @py_class(key())
    class Node(Object):
        pass

    type_attrs.set(Node, attr, Witness())
    witness = weakref.ref(type_attrs.get(Node, attr))
    gc.collect()
    assert type_attrs.get(Node, attr) is witness()
    # Who asked without a lock may still look at the old value.
    type_attrs.set(Node, attr, 1, override=True)
    gc.collect()
    assert witness() is not None
