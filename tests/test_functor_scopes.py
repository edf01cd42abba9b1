"""Results of functors end with the bindings of their variables, and shared nodes are computed
once as long as these stay the same."""

import random
from collections.abc import Sequence

import pytest

from isoform import NodeFunctor, Object
from isoform.dataclasses import field, py_class


@py_class("scopes.Var", structural_eq="var")
class Var(Object):
    name: str = field(structural_eq="ignore")


@py_class("scopes.Num")
class Num(Object):
    value: int


@py_class("scopes.Add")
class Add(Object):
    a: Object
    b: Object


@py_class("scopes.Lam", scope=True)
class Lam(Object):
    var: Var = field(structural_eq="def")
    body: Object


@py_class("scopes.Let", scope=True, defs_first=False)
class Let(Object):
    value: Object
    var: Var = field(structural_eq="def")
    body: Object


@py_class("scopes.Assign")
class Assign(Object):
    value: Object
    var: Var = field(structural_eq="def")


@py_class("scopes.Block", scope=True)
class Block(Object):
    steps: Sequence[Object]


class Names:
    """Writes bound variables in another way than free ones."""

    def __init__(self):
        self.names = {}
        self.count = 0

    def visit_var(self, node):
        self.count += 1
        return self.names.get(node, node.name)

    def visit_num(self, node):
        self.count += 1
        return str(node.value)

    def visit_add(self, node):
        self.count += 1
        return hash(((yield node.a), (yield node.b)))

    def bind(self, var, body):
        outer = self.names.get(var)
        self.names[var] = f"bound {var.name}"
        result = yield body
        if outer is None:
            del self.names[var]
        else:
            self.names[var] = outer
        return result

    def visit_lam(self, node):
        self.count += 1
        return hash(("lam", (yield from self.bind(node.var, node.body))))


class Remembering(Names, NodeFunctor, dialect="scopes"):
    pass


class Forgetting(Names, NodeFunctor, dialect="scopes", memo=False):
    pass


class Values:
    """Evaluates with an environment; functions are applied to a number."""

    def __init__(self):
        self.values = {}
        self.count = 0

    def visit_var(self, node):
        return self.values.get(node, 0)

    def visit_num(self, node):
        return node.value

    def visit_add(self, node):
        self.count += 1
        return ((yield node.a) * 3 + (yield node.b)) % 1_000_003

    def visit_lam(self, node):
        saved = dict(self.values)
        self.values[node.var] = 7
        result = yield node.body
        self.values = saved
        return result

    def visit_let(self, node):
        saved = dict(self.values)
        self.values[node.var] = yield node.value
        result = yield node.body
        self.values = saved
        return result

    def visit_assign(self, node):
        value = yield node.value
        self.values[node.var] = value
        return value

    def visit_block(self, node):
        saved = dict(self.values)
        total = 0
        for step in node.steps:
            total = (total * 5 + (yield step)) % 1_000_003
        self.values = saved
        return total


class Remembered(Values, NodeFunctor, dialect="scopes"):
    pass


class Computed(Values, NodeFunctor, dialect="scopes", memo=False):
    pass


class Nested(Values, NodeFunctor, dialect="scopes"):
    """Asks by calls instead of waiting."""

    def visit_add(self, node):
        return (self.visit(node.a) * 3 + self.visit(node.b)) % 1_000_003

    def visit_let(self, node):
        saved = dict(self.values)
        self.values[node.var] = self.visit(node.value)
        result = self.visit(node.body)
        self.values = saved
        return result


def show(node):
    class Show(NodeFunctor, dialect="scopes"):
        names: dict[Var, str]

        def visit_lam(self, node):
            outer = self.names.get(node.var)
            name = self.names[node.var] = f"{outer or node.var.name}'"
            body = yield node.body
            self.names[node.var] = outer or node.var.name
            return f"\\{name}.{body}"

        def visit_var(self, node):
            return self.names.get(node, node.name)

        def visit_add(self, node):
            return f"({yield node.a} {yield node.b})"

    shower = Show()
    shower.names = {}
    return shower.visit(node)


def test_a_variable_under_two_binders():
    x = Var("x")
    shared = Add(x, x)
    assert show(Add(x, Add(Lam(x, x), x))) == "(x (\\x'.x' x))"
    assert show(Add(Lam(x, shared), shared)) == "(\\x'.(x' x') (x x))"
    assert show(Add(shared, Lam(x, Lam(x, shared)))) == "((x x) \\x'.\\x''.(x'' x''))"


def test_a_let_whose_value_is_a_part_of_its_body():
    x = Var("x")
    next_one = Add(x, Num(1))
    program = Let(Num(1), x, Let(next_one, x, next_one))
    for functor in (Remembered, Computed, Nested):
        assert functor().visit(program) == (1 * 3 + 1) * 3 + 1


def test_a_statement_twice():
    x = Var("x")
    step = Assign(Add(x, Num(1)), x)
    for steps in ([step, step, x], [Num(1), step, Block([step, step, x]), x, step]):
        assert Remembered().visit(Block(steps)) == Computed().visit(Block(steps))


def random_term(draw, variables, kinds):
    pool = [*variables, Num(1), Num(2)]
    for _ in range(draw.randint(3, 14)):
        recent = pool[-6:] + draw.sample(variables, 1)
        a, b, var = draw.choice(recent), draw.choice(recent), draw.choice(variables)
        kind = draw.choice(kinds)
        if kind is Add:
            pool.append(Add(a, b))
        elif kind is Lam:
            pool.append(Lam(var, a))
        elif kind is Let:
            pool.append(Let(a, var, b))
        elif kind is Assign:
            pool.append(Assign(a, var))
        else:
            pool.append(Block([draw.choice(recent) for _ in range(draw.randint(1, 4))]))
    return pool[-1]


@pytest.mark.parametrize(
    "kinds",
    [(Add, Lam), (Add, Lam, Let), (Add, Lam, Let, Assign, Block)],
    ids=["lam", "let", "statements"],
)
def test_results_are_those_without_memory(kinds):
    draw = random.Random(len(kinds))
    variables = [Var(name) for name in "xyz"]
    reused = 0
    for _ in range(1500):
        term = random_term(draw, variables, kinds)
        computed, remembered = Computed(), Remembered()
        expected = computed.visit(term)
        assert remembered.visit(term) == expected
        assert Nested().visit(term) == expected
        reused += computed.count > remembered.count
    # The terms share parts whose results are used again.
    assert reused > 100


def test_names_are_those_without_memory():
    draw = random.Random(5)
    variables = [Var(name) for name in "xy"]
    for _ in range(1500):
        term = random_term(draw, variables, (Add, Lam))
        assert Remembering().visit(term) == Forgetting().visit(term)


def count(node):
    functor = Remembering()
    functor.visit(node)
    return functor.count


@pytest.mark.parametrize("levels", [30, 60])
def test_shared_nodes_are_computed_once_for_each_binding(levels):
    # Each variable is bound once.
    node = Num(1)
    for i in range(levels):
        x, y = Var(f"x{i}"), Var(f"y{i}")
        node = Add(Lam(x, Add(node, x)), Lam(y, Add(node, y)))
    assert count(node) == 7 * levels + 1
    # One variable is bound at every level, and the shared parts are closed.
    x, node = Var("x"), Num(1)
    for _ in range(levels):
        node = Add(Lam(x, Add(node, x)), Lam(x, Add(node, x)))
    assert count(node) == 7 * levels + 1
    # The shared parts use a variable from around.
    z, node = Var("z"), Var("z")
    for i in range(levels):
        x, y = Var(f"x{i}"), Var(f"y{i}")
        node = Add(Lam(x, node), Lam(y, node))
    assert count(Lam(z, node)) == 3 * levels + 2
    # Without binders inside.
    node = z
    for _ in range(levels):
        node = Add(node, node)
    assert count(Add(Lam(z, node), Add(Lam(z, node), node))) == 3 * levels + 7


def test_long_lists_of_variables():
    variables = [Var(f"v{i}") for i in range(200)]
    node = Num(1)
    for var in variables:
        node = Add(node, var)
    inner = Var("inner")
    for _ in range(40):
        node = Add(Lam(inner, node), node)
    for var in variables:
        node = Lam(var, node)
    # Each node once, although `inner` changes its meaning between the meetings.
    assert count(node) == 1 + 400 + 80 + 200


def test_an_exception_leaves_the_binders():
    x, y = Var("x"), Var("y")

    class Careful(Remembered, dialect="scopes"):
        def visit_num(self, node):
            raise KeyError(node.value)

        def visit_lam(self, node):
            saved = dict(self.values)
            self.values[node.var] = 7
            try:
                return (yield node.body)
            finally:
                self.values = saved

        def visit_add(self, node):
            try:
                yield node.a
            except KeyError:
                return (yield node.b)

    failing = Lam(x, Lam(y, Num(1)))
    assert Careful().visit(Lam(x, Add(failing, x))) == 7
    assert Careful().visit(Add(failing, x)) == 0
