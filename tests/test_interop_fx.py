"""Graphs of torch.fx as values: graphs with the interface that torch.fx documents."""

import operator
from types import SimpleNamespace

import pytest

import isoform.fx
from isoform import structural_digest, structural_equal
from isoform.interop import from_fields

np = pytest.importorskip("numpy")


class Node:
    """A node as torch.fx documents it."""

    def __init__(self, op, name, target, args=(), kwargs=None):
        self.op, self.name, self.target = op, name, target
        self.args, self.kwargs = args, kwargs or {}


class Graph:
    """A graph that gives nodes names, as torch.fx does."""

    def __init__(self, prefix=""):
        self.nodes = []
        self._prefix = prefix

    def _add(self, op, target, args=(), kwargs=None):
        name = f"{self._prefix}{len(self.nodes)}"
        self.nodes.append(Node(op, name, target, args, kwargs))
        return self.nodes[-1]

    def placeholder(self, name):
        return self._add("placeholder", name)

    def call(self, function, *args, **kwargs):
        return self._add("call_function", function, args, kwargs)

    def method(self, name, *args, **kwargs):
        return self._add("call_method", name, args, kwargs)

    def module(self, name, *args):
        return self._add("call_module", name, args)

    def attribute(self, name):
        return self._add("get_attr", name)

    def output(self, value):
        self._add("output", "output", (value,))
        return self


def program(build, prefix="", **options):
    graph = Graph(prefix)
    x = graph.placeholder(f"{prefix}x")
    graph.output(build(graph, x))
    return isoform.fx.program(graph, **options)


def equal(left, right):
    same = structural_equal(left, right)
    assert same is (structural_digest(left) == structural_digest(right))
    return same


def test_names_do_not_count():
    def build(g, x):
        return [g.call(operator.add, x, 1), {"a": g.method("relu", x)}]

    assert equal(program(build), program(build, prefix="renamed_"))


def test_order_and_dead_code_do_not_count():
    def one(g, x):
        a = g.call(operator.add, x, 1)
        b = g.call(operator.mul, x, 2)
        return g.call(operator.sub, a, b)

    def other(g, x):
        b = g.call(operator.mul, x, 2)
        g.call(operator.truediv, b, 3)
        a = g.call(operator.add, x, 1)
        return g.call(operator.sub, a, b)

    assert equal(program(one), program(other))


def test_sharing_counts():
    def shared(g, x):
        y = g.call(operator.add, x, 1)
        return g.call(operator.mul, y, y)

    def twice(g, x):
        return g.call(operator.mul, g.call(operator.add, x, 1), g.call(operator.add, x, 1))

    assert equal(program(shared), program(shared))
    assert not equal(program(shared), program(twice))


@pytest.mark.parametrize(
    "other",
    [
        lambda g, x: g.call(operator.add, x, 2),
        lambda g, x: g.call(operator.add, x, 1.0),
        lambda g, x: g.call(operator.add, x, True),
        lambda g, x: g.call(operator.sub, x, 1),
        lambda g, x: g.call(operator.add, 1, x),
        lambda g, x: g.call(operator.add, x, other=1),
        lambda g, x: g.method("add", x, 1),
        lambda g, x: [g.call(operator.add, x, 1)],
        lambda g, x: g.call(operator.getitem, x, (slice(None), slice(1))),
    ],
)
def test_arguments_and_targets_count(other):
    assert not equal(program(lambda g, x: g.call(operator.add, x, 1)), program(other))


def test_changes_in_place_order_what_follows():
    def before(g, x):
        read = g.call(operator.mul, x, 2)
        g.method("add_", x, 1)
        return read

    def after(g, x):
        g.method("add_", x, 1)
        return g.call(operator.mul, x, 2)

    def without(g, x):
        return g.call(operator.mul, x, 2)

    made = [program(build) for build in (before, after, without)]
    assert len(made[0].effects) == 1
    for i in range(3):
        for j in range(i):
            assert not equal(made[i], made[j])


def test_operators_count_by_their_own_name():
    def overload(name, mutable=False):
        schema = SimpleNamespace(is_mutable=mutable)
        return SimpleNamespace(name=lambda: name, _schema=schema)

    def add(target):
        return program(lambda g, x: g.call(target, x, x))

    first = add(overload("aten::add.Tensor"))
    assert equal(first, add(overload("aten::add.Tensor")))
    assert not equal(first, add(overload("aten::mul.Tensor")))
    assert len(add(overload("aten::copy_", mutable=True)).effects) == 1


def test_impurity_is_asked():
    def random(g, x):
        g.nodes[0].is_impure = lambda: True
        node = g.call(len, x)
        node.is_impure = lambda: True
        return x

    assert [call.op for call in program(random).effects] == ["builtins.len"]
    assert len(program(random, impure=lambda node: False).effects) == 0


def test_attributes_and_modules():
    def build(g, x):
        return g.module("conv", g.call(operator.add, x, g.attribute("weight")))

    values = {"weight": np.arange(3), "conv": {"kind": "Conv", "stride": 1}}
    named = program(build)
    made = program(build, attributes=values.__getitem__)
    assert equal(named, program(build))
    assert not equal(named, made)
    changed = {**values, "weight": np.arange(3) + 1}
    assert not equal(made, program(build, attributes=changed.__getitem__))


def test_functions_without_name_are_refused_with_the_node():
    def build(g, x):
        return g.call(lambda v: v, x)

    with pytest.raises(TypeError, match=r"isoform\.fx\.program: %1\.target: .*function"):
        program(build)
    assert program(build, on_unknown=lambda f: "identity").outputs.args[0] == "identity"

    def argument(g, x):
        return g.call(operator.add, x, [1, object()])

    with pytest.raises(TypeError, match=r"%1\.args\[1\]\[1\]: the fields of a object"):
        program(argument)


def test_bad_graphs_are_refused():
    with pytest.raises(TypeError, match="expected a graph with nodes, got int"):
        isoform.fx.program(1)
    with pytest.raises(ValueError, match="no output"):
        isoform.fx.program(Graph())
    with pytest.raises(TypeError, match="expected a node with op"):
        isoform.fx.program(SimpleNamespace(nodes=[1]))
    with pytest.raises(TypeError, match="%0: unknown operation 'call_all'"):
        isoform.fx.program(SimpleNamespace(nodes=[Node("call_all", "0", "f")]))
    graph = Graph()
    later = Node("call_function", "later", len)
    graph.call(len, later)
    with pytest.raises(ValueError, match="%later is used before it is computed"):
        isoform.fx.program(graph)


def test_a_graph_module_is_its_graph():
    graph = Graph().output(1)
    assert equal(isoform.fx.program(SimpleNamespace(graph=graph)), isoform.fx.program(graph))


def test_a_long_chain_takes_no_stack():
    def build(g, x):
        for _ in range(20_000):
            x = g.call(operator.add, x, 1)
        return x

    assert equal(program(build), program(build))


def test_graphs_are_values_of_other_functions():
    made = program(lambda g, x: x)
    assert from_fields([made])[0] is made


def test_functions_without_an_importable_name_are_refused():
    with pytest.raises(TypeError) as refused:
        program(lambda g, x: g.call(lambda y: y, x))
    message = str(refused.value)
    assert "<lambda>' is no name under which it can be imported; write it as a function" in message
    assert "on_unknown=..." in message
    assert "fields=..." not in message
    made = program(lambda g, x: g.call(lambda y: y, x), on_unknown=lambda _: "identity")
    assert made is not None
