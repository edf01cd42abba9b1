"""Expressions, rules and patterns that the tests of dataflow patterns share."""

from isoform import relay
from isoform.relay.dataflow_pattern import (
    DFPatternCallback,
    ExprGraph,
    dominates,
    is_op,
    wildcard,
)
from isoform.relay.testing import call

A, B, C = (relay.var(name, shape=(2, 3)) for name in "abc")


INT = relay.var("i", shape=(2, 3), dtype="int32")


ONE = relay.const(1.0)


PAIR = relay.Tuple([A, B])


def relu(x):
    return relay.nn.relu(x)


def conv(x, w):
    return relay.nn.conv2d(x, w, kernel_size=(3, 3), channels=8)


def bindings(pattern, expr):
    """The bindings of a match, or None."""
    found = ExprGraph(expr).match(pattern, expr)
    return None if found is None else found.bindings


def unary(name):
    return is_op(name)(wildcard())


class Rule(DFPatternCallback):
    """A rule from a pattern and a function of the node map."""

    def __init__(self, pattern, make, **options):
        super().__init__(**options)
        self.pattern = pattern
        self.make = make
        self.calls = 0

    def callback(self, pre, post, node_map):
        self.calls += 1
        return self.make(pre, post, node_map)


def twice(name="nn.relu"):
    """The rule that merges an operator applied twice."""
    x = wildcard()
    return Rule(is_op(name)(is_op(name)(x)), lambda pre, post, nodes: call(name, nodes[x][0]))


def unary_path():
    return wildcard().has_attr({"TOpPattern": 0})(wildcard())


def diamond():
    parent = is_op("nn.conv2d")(wildcard(), wildcard())
    path = unary_path()
    child = is_op("add")(wildcard(), wildcard())
    return parent, path, dominates(parent, path, child)


def leaky(x):
    return relay.nn.leaky_relu(x, 0.1)


def joined(root):
    return relu(root) + leaky(root)


ROOT = conv(A, B)


def part(body, inputs, name, attrs=()):
    func = relay.Function(inputs, body).with_attr("PartitionedFromPattern", name)
    for key, value in dict(attrs).items():
        func = func.with_attr(key, value)
    return func


def fresh(count):
    return [relay.var(f"p{i}") for i in range(count)]


def chain(levels, step=relu, start=A):
    expr = start
    for _ in range(levels):
        expr = step(expr)
    return expr
