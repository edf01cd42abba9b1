"""The Python examples of the reference document on structural equality.

| section of the document            | test                              |
|------------------------------------|-----------------------------------|
| type-level annotation              | test_type_level_annotation        |
| tree                               | test_tree, test_tree_sharing      |
| const-tree                         | test_const_tree                   |
| const-tree, why not everywhere     | test_const_tree_over_variables    |
| dag                                | test_dag, test_dag_sharing        |
| var                                | test_var                          |
| var, definition regions            | test_definition_regions           |
| var, sticky mapping                | test_sticky_mapping               |
| var, inconsistent use              | test_inconsistent_use             |
| map_free_vars                      | test_map_free_vars                |
| singleton                          | test_singleton                    |
| ignore                             | test_ignored_field                |
| def                                | test_definition_field             |
| custom hooks, signatures           | test_hook_signatures              |
| custom hooks, example              | test_custom_lambda                |
| worked example, classes and use    | test_worked_example               |
"""

from typing import Any

import pytest

from isoform import Object, structural_equal, structural_hash
from isoform.dataclasses import field, py_class


@py_class("reference.Expr", structural_eq="tree")
class Expr(Object):
    def __add__(self, other):
        return Add(self, other if isinstance(other, Expr) else Const(other))


@py_class("reference.Const")
class Const(Expr):
    value: Any


@py_class("reference.Add", structural_eq="tree")
class Add(Expr):
    lhs: Expr
    rhs: Expr


@py_class("reference.Type", structural_eq="const-tree")
class Type(Object):
    name: str


@py_class("reference.Var", structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")
    type: Type | None = None


@py_class("reference.Lambda")
class Lambda(Expr):
    params: list[Var] = field(structural_eq="def")
    body: Expr


def test_type_level_annotation():
    one, two = Expr(), Expr()
    assert structural_equal(one, two)
    assert not one.same_as(two)


def test_tree():
    assert structural_equal(Add(Const(1), Const(2)), Add(Const(1), Const(2)))
    assert not structural_equal(Add(Const(1), Const(2)), Add(Const(1), Const(3)))


def test_tree_sharing():
    x = Var("x")
    s = x + 1
    assert structural_equal((s, s), (x + 1, x + 1))
    assert structural_hash((s, s)) == structural_hash((x + 1, x + 1))


def test_const_tree(key):
    @py_class(key(), structural_eq="const-tree")
    class DeviceMesh(Object):
        shape: list[int]
        device_ids: list[int]

    mesh = DeviceMesh([2, 2], [0, 1, 2, 3])
    assert structural_equal(mesh, mesh)
    assert structural_equal(mesh, DeviceMesh([2, 2], [0, 1, 2, 3]))
    assert not structural_equal(mesh, DeviceMesh([4], [0, 1, 2, 3]))


def test_const_tree_over_variables():
    x, y = Var("x"), Var("y")
    shared = x + 1
    assert not structural_equal((shared, x), (shared, y), map_free_vars=True)
    assert structural_equal((shared, x), (shared, x), map_free_vars=True)


def test_dag(key):
    @py_class(key(), structural_eq="dag")
    class Binding(Object):
        var: Var
        value: Expr

    x = Var("x")
    binding = Binding(x, Const(1))
    assert structural_equal(binding, Binding(x, Const(1)))


@pytest.fixture
def dag(key):
    @py_class(key("Node"), structural_eq="dag")
    class Node(Object):
        value: Any

    return Node


def test_dag_sharing(dag):
    s, t = dag(1), dag(1)
    assert not structural_equal((s, s), (dag(1), dag(1)))
    assert structural_equal((s, s), (t, t))
    a, b = dag(1), dag(1)
    assert not structural_equal((a, b), (a, a))
    assert structural_equal((dag(1), dag(1)), (dag(1), dag(1)))


def test_var():
    x, y = Var("x"), Var("y")
    assert structural_equal(x + 1, x + 1)
    assert not structural_equal(x + 1, y + 1)


def test_definition_regions():
    x, y, a, b = map(Var, "xyab")
    assert structural_equal(Lambda([x], x + 1), Lambda([y], y + 1))
    assert not structural_equal(Lambda([x], x + 1), Lambda([y], x + 1))
    assert structural_equal(Lambda([x, y], x + y), Lambda([a, b], a + b))
    assert not structural_equal(Lambda([x, y], x + y), Lambda([a, b], b + a))


def test_sticky_mapping():
    integer, real = Type("int"), Type("float")
    x, y, z = Var("x", integer), Var("y", integer), Var("z", real)
    assert structural_equal(Lambda([x], x), Lambda([y], y))
    assert not structural_equal(Lambda([x], x), Lambda([z], z))


def test_inconsistent_use():
    x, y, a, b = map(Var, "xyab")
    assert not structural_equal(Lambda([x, y], x + x), Lambda([a, b], a + b))


def test_map_free_vars():
    x, y = Var("x"), Var("y")
    assert structural_equal(x + 1, y + 1, map_free_vars=True)
    assert not structural_equal(x + 1, y + 1)


def test_singleton(key):
    @py_class(key(), structural_eq="singleton")
    class Op(Object):
        name: str

        @staticmethod
        def get(name, known={}):  # noqa: B006
            return known.setdefault(name, Op(name)) if name not in known else known[name]

    conv, relu = Op.get("nn.conv2d"), Op.get("nn.relu")
    assert structural_equal(conv, Op.get("nn.conv2d"))
    assert not structural_equal(conv, relu)


def test_ignored_field(key):
    @py_class(key(), structural_eq="tree")
    class MyNode(Object):
        value: int
        span: str = field(structural_eq="ignore")

    assert structural_equal(MyNode(1, "a.py:1"), MyNode(1, "b.py:5"))
    assert structural_hash(MyNode(1, "a.py:1")) == structural_hash(MyNode(1, "b.py:5"))
    assert not structural_equal(MyNode(1, "a.py:1"), MyNode(2, "a.py:1"))


def test_definition_field(key):
    @py_class(key(), structural_eq="tree")
    class Function(Object):
        params: list[Var] = field(structural_eq="def")
        body: Expr

    x, y = Var("x"), Var("y")
    assert structural_equal(Function([x], x + 1), Function([y], y + 1))


def test_hook_signatures(key):
    received = []

    @py_class(key())
    class Node(Object):
        v: int

        def __s_equal__(self, other, eq_cb):
            received.append((type(self), type(other), callable(eq_cb)))
            return eq_cb(self.v, other.v, False, "v")

        def __s_hash__(self, init_hash, hash_cb):
            received.append((type(init_hash), callable(hash_cb)))
            return hash_cb(self.v, init_hash, False)

    assert structural_equal(Node(1), Node(1))
    assert structural_hash(Node(1)) == structural_hash(Node(1))
    assert received[0] == (Node, Node, True)
    assert received[1] == (int, True)


def test_custom_lambda(key):
    @py_class(key(), structural_eq="tree")
    class CustomLambda(Object):
        params: list
        body: Any
        comment: str

        def __s_equal__(self, other, eq_cb):
            if not eq_cb(self.params, other.params, True, "params"):
                return False
            return eq_cb(self.body, other.body, False, "body")

        def __s_hash__(self, init_hash, hash_cb):
            h = hash_cb(self.params, init_hash, True)
            return hash_cb(self.body, h, False)

    x, y = Var("x"), Var("y")
    one, two = CustomLambda([x], x + 1, "first"), CustomLambda([y], y + 1, "second")
    assert structural_equal(one, two)
    assert structural_hash(one) == structural_hash(two)
    assert not structural_equal(one, CustomLambda([y], x + 1, "first"))


def test_worked_example(key):
    @py_class(key("Lambda"), structural_eq="tree")
    class Lambda(Object):
        params: "list[Var]" = field(structural_eq="def")
        body: Expr
        span: str = field(structural_eq="ignore", default="")

    @py_class(key("Op"), structural_eq="singleton")
    class Op(Object):
        name: str

    x, y = Var("x"), Var("y")
    f1 = Lambda([x], x + 1, span="a.py:1")
    f2 = Lambda([y], y + 1, span="b.py:5")
    assert structural_equal(f1, f2)
    assert structural_hash(f1) == structural_hash(f2)
    add = Op("add")
    assert structural_equal(add, add)
