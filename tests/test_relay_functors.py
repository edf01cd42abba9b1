"""Functors, visitors and mutators of expressions, types and patterns.

Numbers in docstrings are sections, counted as in `test_reference_relay_tutorial.py`.
"""

import pytest
from scale import scaled

from isoform import get_global_func, ir, relay, structural_equal
from isoform.visitors import Later


def op(name):
    return get_global_func("ir.RegisterOp")(name)


def everything():
    """An expression with a node of every class."""
    x, y, z = (relay.var(name) for name in "xyz")
    cons = relay.Prelude().get_ctor("List", "cons")
    clause = relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(z)]), z)
    parts = [
        relay.Let(x, relay.const(1), x),
        relay.If(y, y, y),
        relay.TupleGetItem(relay.Tuple([y]), 0),
        relay.Call(op("relay_py.op"), [ir.GlobalVar("f")(), cons()]),
        relay.RefWrite(relay.RefCreate(y), relay.RefRead(y)),
        relay.Match(y, [clause]),
        relay.Tuple([]),
    ]
    return relay.Function([y], relay.Tuple(parts))


METHODS = [
    "function",
    "let",
    "call",
    "var",
    "if",
    "tuple",
    "tuple_getitem",
    "global_var",
    "op",
    "constant",
    "ref_create",
    "ref_write",
    "ref_read",
    "constructor",
    "match",
]


def test_methods_are_named_after_classes_and_abstract():
    """2: `visit` leads to the method for the class of the expression."""
    x = relay.var("x")
    with pytest.raises(NotImplementedError):
        relay.ExprFunctor().visit(x)
    seen = set()

    def noting(name):
        def method(self, node):
            seen.add(name)
            yield Later(getattr(relay.ExprVisitor, f"visit_{name}").__get__(self), node)

        return method

    methods = {f"visit_{name}": noting(name) for name in METHODS}
    type("Noting", (relay.ExprVisitor,), methods)().visit(everything())
    assert seen == set(METHODS)


def test_results_are_kept():
    """2, 4: results are of any type and cached."""
    calls = []

    class Size(relay.ExprFunctor):
        def visit_var(self, var):
            calls.append(var)

        def visit_tuple(self, tup):
            yield tup[0]
            return [len(tup)]

    size, x = Size(), relay.var("x")
    assert size.visit(x) is None
    assert size.visit(x) is None
    assert calls == [x]
    assert size.memo_map == {x: None}
    pair = relay.Tuple([x, x])
    assert size.visit(pair) is size.visit(pair)
    assert size.visit_type(relay.scalar_type("int8")) == relay.scalar_type("int8")

    class Bare(relay.ExprVisitor):
        def __init__(self):
            self.own = 1

    bare = Bare()
    bare.visit(pair)
    assert pair in bare.memo_map


def test_other_classes_are_an_error():
    with pytest.raises(TypeError, match="warning unhandled case"):
        relay.ExprVisitor().visit(relay.PatternWildcard())
    with pytest.raises(AttributeError, match="no type has a method of this name"):

        class Wrong(relay.ExprVisitor):
            def visit_tuple_get_item(self, node):
                return node

        Wrong().visit(relay.var("x"))


def test_the_order_of_visits():
    """3: a visitor visits all fields that are expressions, and returns nothing."""
    x, y, z = (relay.var(name) for name in "xyz")

    class Order(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.order = []

        def visit_var(self, var):
            self.order.append(var.name_hint)

    def order(expr):
        visitor = Order()
        assert visitor.visit(expr) is None
        return "".join(visitor.order)

    assert order(relay.Let(x, y, z)) == "xyz"
    assert order(relay.Function([x, y], z)) == "xyz"
    assert order(relay.Call(x, [y, z])) == "xyz"
    assert order(relay.If(x, y, z)) == "xyz"
    assert order(relay.RefWrite(x, y)) == "xy"
    # No variables of patterns, and shared parts once.
    clause = relay.Clause(relay.PatternVar(z), y)
    assert order(relay.Match(x, [clause, clause])) == "xy"
    assert order(relay.Tuple([relay.Tuple([x]), x, y])) == "xy"


def test_overrides_in_the_classic_style():
    """3: an override visits what it wants to; other classes keep their default."""
    x = relay.var("x")

    class Classic(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.seen = []

        def visit_tuple(self, tup):
            super().visit_tuple(tup)
            self.seen.append(len(tup))

        def visit_if(self, if_):
            self.visit(if_.true_branch)

        def visit_var(self, var):
            self.seen.append(var.name_hint)

    classic = Classic()
    y = relay.var("y")
    classic.visit(relay.Tuple([x, relay.Tuple([relay.If(x, y, x)])]))
    assert classic.seen == ["x", "y", 1, 2]


def test_an_overridden_visit_sees_every_node_once():
    """2: `visit` can be overridden and routes to the methods."""

    class Print(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.seen = []

        def visit(self, expr):
            self.seen.append(type(expr).__name__)
            return super().visit(expr)

    x, y = relay.var("x"), relay.var("y")
    printing = Print()
    printing.visit(relay.Let(x, y, relay.Tuple([x, y])))
    assert printing.seen == ["Let", "Var", "Var", "Tuple"]

    class Sum(relay.ExprFunctor):
        def visit(self, expr):
            return 1 + super().visit(expr)

        def visit_var(self, var):
            return 10

        def visit_tuple(self, tup):
            return sum(map(self.visit, tup.fields))

    assert Sum().visit(relay.Tuple([x, y])) == 23


def test_overrides_that_are_generators_have_any_depth():
    levels = scaled(50_000)
    expr = relay.var("x")
    for _ in range(levels):
        expr = relay.Tuple([relay.Let(relay.var("y"), expr, relay.Tuple([]))])

    class Count(relay.ExprVisitor):
        tuples = visits = 0

        def visit(self, expr):
            self.visits += 1
            return (yield Later(super().visit, expr))

        def visit_tuple(self, tup):
            self.tuples += 1
            yield Later(super().visit_tuple, tup)

    count = Count()
    count.visit(expr)
    assert count.tuples == 2 * levels
    assert count.visits == 4 * levels + 1

    class Swap(relay.ExprMutator):
        def visit_var(self, var):
            return relay.var("z") if var.name_hint == "x" else var

    swapped = Swap().visit(expr)
    assert swapped is not expr
    assert relay.ExprMutator().visit(expr) is expr


def test_mutators_keep_what_does_not_change():
    """4: new nodes are made only where something changes."""
    expr = everything()
    assert relay.ExprMutator().visit(expr) is expr

    class Swap(relay.ExprMutator):
        def __init__(self):
            super().__init__()
            self.fresh = {}

        def visit_var(self, var):
            return self.fresh.setdefault(var, relay.var("new"))

        def visit_constant(self, const):
            return relay.const(2)

    span = relay.Span(relay.SourceName("a.py"), 1, 1, 2, 3)
    parts = expr.body.fields
    changed = Swap().visit(expr)
    assert changed is not expr
    assert not structural_equal(changed, expr)
    assert [type(part) for part in changed.body.fields] == [type(part) for part in parts]
    # Pattern variables are not expressions of a visit.
    assert changed.body[5].clauses[0].lhs is parts[5].clauses[0].lhs
    for node in (relay.Let, relay.If):
        x = relay.var("x")
        made = Swap().visit(node(x, x, x, span))
        assert made.span == span
    match = relay.Match(relay.const(1), [], complete=False)
    assert not Swap().visit(match).complete


@pytest.mark.parametrize(
    ("mutator", "node"),
    [
        (relay.ExprMutator, relay.var("x")),
        (relay.TypeMutator, relay.TypeVar("a")),
        (relay.PatternMutator, relay.PatternVar(relay.var("x"))),
    ],
)
def test_a_method_of_a_mutator_without_a_result_is_an_error(mutator, node):
    def nothing(_self, _node):
        pass

    name = {"ExprMutator": "visit_var", "TypeMutator": "visit_type_var"}
    name = name.get(mutator.__name__, "visit_pattern_var")
    forgetful = type("Forgetful", (mutator,), {name: nothing})
    with pytest.raises(TypeError, match=rf"Forgetful\.{name}: expected what comes in place"):
        forgetful().visit(node)


def test_post_order():
    x = relay.var("x")
    counts = relay.analysis.expr_ref_counts(relay.Tuple([x, x]))
    assert [count for _, count in counts] == [2, 1]
    seen = []

    def collapse(pre, post):
        seen.append((type(pre).__name__, pre is post))
        return post.true_branch if isinstance(pre, relay.If) else None

    inner = relay.If(x, x, x)
    done = relay.post_order_rewrite(relay.Tuple([inner, inner]), collapse)
    assert list(done.fields) == [x, x]
    assert seen == [("Var", True), ("If", True), ("Tuple", False)]


TYPES = [
    "type_var",
    "incomplete_type",
    "tensor_type",
    "func_type",
    "tuple_type",
    "type_relation",
    "ref_type",
    "global_type_var",
    "type_call",
    "type_data",
]


def all_types():
    a, header = relay.TypeVar("a"), relay.GlobalTypeVar("T")
    get_global_func("ir.RegisterOp")  # Relations are functions by name.
    name = "relay_py.relation"
    if get_global_func(name, allow_missing=True) is None:
        from isoform import register_global_func

        register_global_func(name, lambda *args: True)
    relation = relay.TypeRelation(ir.EnvFunc.get(name), [a], 1, None)
    parts = [
        relay.TensorType([2]),
        relay.IncompleteType(),
        relay.RefType(a),
        header(a),
        relay.TypeData(header, [a], []),
    ]
    return relay.FuncType([relay.TupleType(parts)], a, [a], [relation])


def test_types_have_methods():
    with pytest.raises(NotImplementedError):
        relay.TypeFunctor().visit(relay.TensorType([]))
    seen = []

    def noting(name):
        def method(self, node):
            seen.append(name)
            yield Later(getattr(relay.TypeVisitor, f"visit_{name}").__get__(self), node)

        return method

    methods = {f"visit_{name}": noting(name) for name in TYPES}
    visitor = type("Noting", (relay.TypeVisitor,), methods)()
    assert visitor.visit(all_types()) is None
    assert set(seen) == set(TYPES)
    assert seen[:3] == ["func_type", "tuple_type", "tensor_type"]
    with pytest.raises(TypeError, match="warning unhandled case"):
        relay.TypeVisitor().visit(relay.PatternWildcard())


def test_mutators_keep_type_variables():
    ty = all_types()
    assert relay.TypeMutator().visit(ty) is ty

    class Halves(relay.TypeMutator):
        def visit_tensor_type(self, tt):
            return relay.TensorType(tt.shape, "float16")

    done = Halves().visit(ty)
    assert str(done.arg_types[0].fields[0].dtype) == "float16"
    assert done.ret_type is ty.ret_type
    assert done.type_params[0] is ty.type_params[0]


def test_patterns():
    prelude = relay.Prelude()
    cons = prelude.get_ctor("List", "cons")
    x = relay.var("x")
    part = relay.PatternVar(x)
    pattern = relay.PatternConstructor(cons, [part, relay.PatternTuple([part])])
    seen = []

    class Noting(relay.PatternVisitor):
        def visit_var(self, var):
            seen.append(var.name_hint)

        def visit_constructor(self, con):
            seen.append(con.name_hint)

    Noting().visit(pattern)
    assert seen == ["cons", "x"]
    mutator = relay.PatternMutator()
    fresh = mutator.visit(pattern)
    assert fresh.constructor is cons
    assert fresh.patterns[0].var is mutator.var_map[x] is not x
    assert fresh.patterns[1].patterns[0].var is mutator.var_map[x]
    wild = relay.PatternWildcard()
    assert mutator.visit(wild) is wild


def test_further_arguments_of_visit_reach_the_methods():
    class Depth(relay.ExprFunctor):
        def visit_var(self, var, level):
            return level

        def visit_call(self, call, level):
            return max(self.visit(arg, level + 1) for arg in call.args)

    x = relay.var("x")
    depth = Depth()
    assert depth.visit(relay.exp(relay.exp(x)), 0) == 2
    # Results depend on the arguments, so none is kept.
    assert (depth.visit(x, 3), depth.visit(x, 4), depth.memo_map) == (3, 4, {})
    with pytest.raises(NotImplementedError):
        depth.visit(relay.Tuple([]), 0)
    with pytest.raises(TypeError, match="warning unhandled case"):
        depth.visit(relay.PatternWildcard(), 0)
    with pytest.raises(TypeError, match="expected a node before other arguments, got Array"):
        depth.visit(relay.Tuple([x]).fields, 0)


def test_defaults_and_generators_pass_arguments_on():
    class Names(relay.ExprVisitor):
        def visit_var(self, var, found, prefix):
            if var.name_hint == "bad":
                raise KeyError(prefix)
            found.append(prefix + var.name_hint)

        def visit_tuple(self, tup, found, prefix):
            super().visit_tuple(tup, found, prefix)
            found.append(")")

        def visit_if(self, if_, found, prefix):
            yield Later(super().visit_if, if_)
            found.append(";")

    x, y, z = (relay.var(name) for name in "xyz")
    found = []
    assert Names().visit(relay.Tuple([relay.If(x, y, z), x]), found, "%") is None
    assert found == ["%x", "%y", "%z", ";", "%x", ")"]
    with pytest.raises(KeyError, match="%"):
        Names().visit(relay.If(x, y, relay.var("bad")), found, "%")

    class Swap(relay.ExprMutator):
        def visit_var(self, var, new):
            return new

        def visit(self, expr, *args):
            return super().visit(expr, *args)

    assert Swap().visit(relay.Tuple([relay.RefRead(x)]), y)[0].ref is y
    levels = scaled(50_000)
    expr = x
    for _ in range(levels):
        expr = relay.Tuple([expr])

    class Count(relay.ExprFunctor):
        def visit_var(self, var, start):
            return start

        def visit_tuple(self, tup, start):
            return 1 + (yield tup[0])

    assert Count().visit(expr, 5) == levels + 5


class Collecting(relay.ExprVisitor):
    """Collects names in an attribute, which is reset in one of several ways."""

    def __init__(self):
        super().__init__()
        self.names = []
        self.visits = 0

    def visit_var(self, var):
        self.names.append(var.name_hint)

    def visit_call(self, call):
        self.visits += 1
        super().visit_call(call)


RESETS = {
    "another list": lambda visitor: setattr(visitor, "names", []),
    "the list cleared": lambda visitor: visitor.names.clear(),
    "an element removed": lambda visitor: visitor.names.pop(),
    "a number": lambda visitor: setattr(visitor, "visits", 0),
    "another attribute": lambda visitor: setattr(visitor, "other", 1),
    "no attribute": lambda visitor: delattr(visitor, "other"),
}


@pytest.mark.parametrize("reset", RESETS.values(), ids=RESETS)
def test_a_reset_visitor_begins_anew(reset):
    x, y = relay.var("x"), relay.var("y")
    visitor, expr = Collecting(), relay.add(x, y)
    visitor.other = 2
    visitor.visit(expr)
    visitor.names.append("z")
    visitor.visit(x)
    assert visitor.names == ["x", "y", "z"]
    reset(visitor)
    visitor.visit(expr)
    assert visitor.names[-2:] == ["x", "y"]
    visitor.visit(expr)
    assert visitor.names.count("x") <= 2


def test_a_visitor_without_a_reset_visits_each_expression_once():
    x, y = relay.var("x"), relay.var("y")
    visitor = Collecting()
    for expr in (relay.add(x, y), relay.add(x, x), relay.tanh(relay.add(x, y)), x):
        visitor.visit(expr)
        visitor.names.append("more")
    assert visitor.names == ["x", "y", "more", "more", "more", "more"]
    assert visitor.visits == 4


def test_visits_inside_of_a_visit_are_no_questions():
    """A method that sets attributes keeps its memory at each visit of a part."""

    class Inner(Collecting):
        def visit_tuple(self, tup):
            for field in tup.fields:
                self.current = field
                self.visit(field)

    x = relay.var("x")
    visitor = Inner()
    visitor.visit(relay.Tuple([x, relay.Tuple([x]), x]))
    assert visitor.names == ["x"]


@pytest.mark.parametrize("own_memo", [False, True])
def test_repeated_checks_of_growing_programs_are_linear(own_memo):
    """A checker that returns results visits each expression once, whatever the results."""
    looked = []

    class Constants(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.answers = {}

        def check(self, expr):
            if not own_memo:
                return bool(self.visit(expr))
            if expr not in self.answers:
                self.visit(expr)
            return self.answers.setdefault(expr, False)

        def visit_constant(self, const):
            looked.append(const)
            self.answers[const] = True
            return True

        def visit_call(self, call):
            looked.append(call)
            return super().visit_call(call)

        def visit_var(self, var):
            looked.append(var)

    checker = Constants()
    expr = relay.var("x")
    for _ in range(100):
        expr = relay.add(expr, relay.const(1))
        for arg in expr.args:
            checker.check(arg)
        assert not checker.check(expr)
    assert len(looked) == 201


def test_an_exception_does_not_hide_a_reset():
    class Fails(Collecting):
        def visit_constant(self, const):
            raise LookupError

    x = relay.var("x")
    visitor = Fails()
    with pytest.raises(LookupError):
        visitor.visit(relay.Tuple([x, relay.const(1)]))
    visitor.names = []
    visitor.visit(x)
    assert visitor.names == ["x"]
