"""Visitors, mutators and functors over node types of users and of dialects."""

import contextlib
from typing import Any

import pytest
from scale import scaled

import isoform
from isoform import NodeFunctor, NodeMutator, NodeVisitor, VisitInterrupt, _core, type_attrs
from isoform.dataclasses import Object, field, py_class
from isoform.visitors import Later

DEEP = scaled(1_000_000)
# Beyond the depth of methods that nest.
TOO_DEEP = scaled(100_000, 30_000)


@py_class("visitors.Expr")
class Expr(Object):
    pass


@py_class("visitors.Var", structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")


@py_class("visitors.Num")
class Num(Expr):
    value: int


@py_class("visitors.BinaryExpr")
class BinaryExpr(Expr):
    lhs: Any
    rhs: Any


@py_class("visitors.Add")
class Add(BinaryExpr):
    pass


@py_class("visitors.Mul")
class Mul(BinaryExpr):
    pass


@py_class("visitors.Neg")
class Neg(Expr):
    of: Expr


@py_class("visitors.Call")
class Call(Expr):
    args: list[Any]
    attrs: dict[str, Any]


@py_class("visitors.Fun", structural_eq="tree", scope=True)
class Fun(Expr):
    param: Any = field(structural_eq="def")
    body: Any = None


def chain(depth):
    node = Num(1)
    for _ in range(depth):
        node = Add(node, Num(1))
    return node


class Log(NodeVisitor, dialect="visitors"):
    def __init__(self):
        self.met = []

    def visit_var(self, node):
        self.met.append(node.name)

    def visit_add(self, node):
        self.met.append("add")
        super().visit_add(node)

    def visit_binary_expr(self, node):
        self.met.append("binary")
        super().visit_binary_expr(node)
        self.met.append("end")


def test_methods_are_found_along_the_classes():
    log = Log()
    x, y = Var("x"), Var("y")
    assert log.visit([Add(x, Mul(x, y)), Num(3)]) is None
    assert log.met == ["add", "binary", "x", "binary", "y", "end", "end"]


def test_a_class_that_is_declared_after_the_visitor_has_a_method():
    class Late(NodeVisitor, dialect="visitors", unregistered=True):
        def visit_late_comer(self, node):
            return VisitInterrupt(type(node).__name__)

    assert Late().visit(Num(1)) is None

    @py_class("visitors.LateComer")
    class LateComer(Expr):
        pass

    @py_class("visitors.LaterStill")
    class LaterStill(LateComer):
        pass

    assert Late().visit([LaterStill()]).value == "LaterStill"
    log = Log()
    log.visit(LateComer())
    assert log.met == []


def test_other_dialects_are_called_with_the_dialect_in_front():
    class Both(NodeVisitor, dialect="visitors"):
        met = ()

        def visit_var(self, node):
            self.met += ("ours",)

        def visit_pto_var(self, node):
            self.met += ("pto",)

    theirs = isoform.pto.ir.Var("x", isoform.pto.ir.ScalarType(isoform.pto.DataType.INT64))
    both = Both()
    both.visit([theirs, Var("y")])
    assert both.met == ("pto", "ours")


@pytest.mark.parametrize(
    "base, method, message",
    [
        ({}, "visit_var", r"fits .*pto.Var, .*visitors.Var; name the dialect"),
        (
            {"dialect": "visitors"},
            "visit_ad",
            r"no type has a method of this name; near: visit_add",
        ),
        ({"dialect": "visitors"}, "visit_for_stmt", r"no type has a method of this name"),
        ({}, "visit_visitors_numb", r"near: visit_visitors_num"),
        ({"dialect": "visitor"}, "visit_num", r"no type is of the dialect 'visitor'; `class"),
    ],
)
def test_a_name_that_is_wrong_is_an_error_at_first_use(base, method, message):
    body = {method: lambda self, node: None}
    visitor = type(NodeVisitor)("Wrong", (NodeVisitor,), body, **base)
    with pytest.raises(AttributeError, match=message):
        visitor().visit(Num(1))


def test_a_name_without_dialect_is_right_while_it_is_the_only_one():
    class Lone(NodeVisitor):
        def visit_binary_expr(self, node):
            return VisitInterrupt(node)

    with pytest.raises(AttributeError, match=r"pto.BinaryExpr, visitors.BinaryExpr"):
        Lone().visit(Num(1))

    @py_class("visitors.OnlyHere")
    class OnlyHere(Expr):
        pass

    class Only(NodeVisitor):
        def visit_only_here(self, node):
            return VisitInterrupt("met")

    assert Only().visit([OnlyHere()]).value == "met"


def test_a_type_says_what_its_method_is_called():
    @py_class("visitors.F32")
    class F32(Expr):
        pass

    type_attrs.set(F32, "visit.name", "single")

    class Named(NodeVisitor, dialect="visitors"):
        def visit_single(self, node):
            return VisitInterrupt("single")

    assert Named().visit(F32()).value == "single"
    assert _core.type_info(F32).visit_name == "single"
    assert _core.type_info(BinaryExpr).visit_name == "binary_expr"


class Eval(NodeFunctor, dialect="visitors"):
    count = 0

    def visit_num(self, node):
        return node.value

    def visit_binary_expr(self, node):
        self.count += 1
        lhs = yield node.lhs
        rhs = yield node.rhs
        return lhs + rhs if isinstance(node, Add) else lhs * rhs

    def visit_call(self, node):
        args = yield node.args
        attrs = yield node.attrs
        return args, attrs


def test_a_functor_computes_each_node_once():
    node = Num(1)
    for _ in range(60):
        node = Add(node, node)
    value = Eval()
    assert value.visit(node) == 2**60
    assert value.count == 60


def test_the_results_of_containers_and_plain_values():
    call = Call([Num(1), Mul(Num(2), Num(3))], {"k": Num(4), "s": "text"})
    assert Eval().visit(call) == ((1, 6), {"k": 4, "s": "text"})


def test_a_functor_refuses_a_node_without_a_method():
    with pytest.raises(TypeError, match=r"Eval: no method for visitors.Var: expected visit_var"):
        Eval().visit(Add(Num(1), Var("x")))

    class Default(Eval):
        def generic_visit(self, node):
            return 0

    assert Default().visit(Call([Var("x")], {})) == ((0,), {})


def test_what_a_child_raises_is_raised_at_the_yield():
    class Try(Eval):
        def visit_var(self, node):
            raise LookupError(node.name)

        def visit_mul(self, node):
            try:
                yield node.lhs
            except LookupError as error:
                return str(error)

    assert Try().visit(Mul(Add(Num(1), Var("x")), Num(2))) == "x"
    with pytest.raises(LookupError, match="y"):
        Try().visit(Add(Var("y"), Num(1)))


def test_generators_and_defaults_are_as_deep_as_memory():
    deep = chain(DEEP)
    assert Eval().visit(deep) == DEEP + 1

    class Swap(NodeMutator, dialect="visitors"):
        def visit_num(self, node):
            return Num(node.value + 1)

    assert Swap().visit(deep).lhs.rhs.value == 2

    class Down(NodeVisitor, dialect="visitors"):
        leaves = 0

        def visit_add(self, node):
            yield node.lhs
            yield Later(super().visit_add, node)

        def visit_num(self, node):
            self.leaves += 1

    down = Down()
    down.visit(deep)
    assert down.leaves == DEEP + 1


def test_methods_that_nest_too_deeply_say_where():
    class Nested(NodeFunctor, dialect="visitors"):
        def visit_add(self, node):
            return self.visit(node.lhs)

    with pytest.raises(RecursionError, match=r"<root>\.lhs\.lhs.*nest too deeply") as caught:
        Nested().visit(chain(TOO_DEEP))
    assert len(str(caught.value.path)) > 100
    assert isinstance(caught.value.__cause__, RecursionError)


def test_the_way_to_an_error_leads_through_methods_that_wait():
    class Nested(NodeFunctor, dialect="visitors"):
        def visit_mul(self, node):
            return (yield node.rhs)

        def visit_call(self, node):
            return (yield node.args[1])

        def visit_add(self, node):
            return self.visit(node.lhs)

    root = Mul(Num(1), Call([Num(2), chain(TOO_DEEP)], {}))
    with pytest.raises(RecursionError, match=r"^<root>\.rhs\.args\[1\]\.lhs\.lhs"):
        Nested().visit(root)

    class Caught(Nested):
        def visit_mul(self, node):
            try:
                yield node.rhs
            except RecursionError:
                return (yield node.lhs)

        def visit_num(self, node):
            raise RecursionError

    with pytest.raises(RecursionError) as caught:
        Caught().visit(root)
    assert str(caught.value.path) == "<root>.lhs"


def test_a_method_that_waits_for_its_own_node_is_named():
    def visit_num(self, node):
        yield node

    for base in (NodeMutator, NodeVisitor, NodeFunctor):
        visitor = type(base)("Own", (base,), {"visit_num": visit_num}, dialect="visitors")
        message = (
            r"^Own\.visit_num: yield of the node .* `yield Later\(super\(\).generic_visit, node"
        )
        with pytest.raises(ValueError, match=message):
            visitor().visit(Num(1))


def test_later_calls_the_method_of_the_parent_class():
    class Twice(Eval):
        def visit_add(self, node):
            return 2 * (yield Later(super().visit_add, node))

        def visit_num(self, node):
            return 10 + super().visit_num(node)

    assert Twice().visit(Add(Num(1), Num(2))) == 46
    with pytest.raises(ValueError, match="Later is for the node whose method runs"):

        class Other(Eval):
            def visit_add(self, node):
                yield Later(self.visit_num, node.lhs)

        Other().visit(Add(Num(1), Num(2)))


@pytest.mark.parametrize("base", [NodeFunctor, NodeVisitor, NodeMutator])
def test_a_returned_later_is_an_error_with_the_way_to_write_it(base):
    class Returns(base, dialect="visitors"):
        def visit_add(self, node):
            return Later(super().visit_add, node)

    class YieldsAndReturns(base, dialect="visitors"):
        def visit_add(self, node):
            yield node.lhs
            return Later(super().visit_add, node)

        def visit_num(self, node):
            return node if base is NodeMutator else None

    for visitor in (Returns(), YieldsAndReturns()):
        with pytest.raises(
            TypeError,
            match=r"visitors.Add, got a Later; write `return \(yield Later\(method, node\)\)`",
        ):
            visitor.visit(Add(Num(1), Num(2)))


def test_a_called_generator_method_gives_its_result():
    class Plain(Eval):
        def visit_add(self, node):
            return ("add", super().visit_add(node))

    assert Plain().visit(Add(Num(1), Num(2))) == ("add", 3)


class Rename(NodeMutator, dialect="visitors"):
    def visit_var(self, node):
        return Var(node.name + "_")


def test_a_variable_is_replaced_once_for_its_definition_and_its_uses():
    x = Var("x")
    fun = Rename().visit(Fun(x, Add(x, Call([x], {}))))
    assert fun.param.name == "x_"
    assert fun.body.lhs is fun.param
    assert fun.body.rhs.args[0] is fun.param


def test_a_mutator_keeps_what_it_does_not_change():
    kept = Add(Num(1), Num(2))
    root = Mul(kept, Call([kept, Var("x")], {}))
    changed = Rename().visit(root)
    assert changed is not root
    assert changed.lhs is kept
    assert changed.rhs.args[0] is kept
    assert Rename().visit(kept) is kept


def test_a_mutator_with_generators_rebuilds_by_default():
    class Fold(NodeMutator, dialect="visitors"):
        def visit_add(self, node):
            node = yield Later(super().visit_add, node)
            if isinstance(node.lhs, Num) and isinstance(node.rhs, Num):
                return Num(node.lhs.value + node.rhs.value)
            return node

    assert Fold().visit(chain(TOO_DEEP)).value == TOO_DEEP + 1
    mixed = Fold().visit(Mul(Add(Num(1), Num(2)), Var("x")))
    assert isinstance(mixed, Mul)
    assert mixed.lhs.value == 3


def test_a_mutator_says_what_comes_in_place_of_a_variable():
    class Bind(NodeMutator, dialect="visitors"):
        def visit_fun(self, node):
            self.remap(node.param, Var("y"))
            return super().visit_fun(node)

    x = Var("x")
    fun = Bind().visit(Fun(x, Add(x, x)))
    assert fun.param.name == "y"
    assert fun.body.lhs is fun.body.rhs is fun.param
    with pytest.raises(RuntimeError, match="no rewrite is running"):
        Bind().remap(x, x)


def test_results_are_checked():
    class Nothing(NodeMutator, dialect="visitors"):
        def visit_num(self, node):
            pass

    class Something(NodeVisitor, dialect="visitors"):
        def visit_num(self, node):
            return 1

    with pytest.raises(TypeError, match=r"Nothing\.visit_num: expected what comes in place"):
        Nothing().visit(Num(1))
    with pytest.raises(TypeError, match=r"Something\.visit_num: expected None or a VisitInterrupt"):
        Something().visit(Num(1))


def test_a_value_that_contains_itself_is_an_error():
    @py_class("visitors.Box")
    class Box(Expr):
        of: Any

    box = Box(None)
    box.of = [box]
    for visitor in (NodeVisitor(), NodeMutator()):
        with pytest.raises(ValueError, match="contains itself"):
            visitor.visit(box)

    class Open(NodeFunctor, dialect="visitors"):
        def visit_box(self, node):
            return (yield node.of)

    with pytest.raises(ValueError, match="contains itself"):
        Open().visit(box)


def test_the_node_whose_method_runs_is_not_visited_again():
    class Again(NodeVisitor, dialect="visitors"):
        def visit_num(self, node):
            self.visit(node)

    with pytest.raises(ValueError, match=r"super\(\).visit_num\(node\)"):
        Again().visit(Num(1))


def test_a_type_with_a_traversal_of_its_own_is_visited_by_it():
    @py_class("visitors.Hooked")
    class Hooked(Expr):
        lhs: Any
        rhs: Any

        def __s_visit__(self, visitor):
            return visitor.visit(self.rhs)

        def __s_mutate__(self, mutator):
            return Hooked(self.lhs, mutator.mutate(self.rhs))

    x = Var("x")
    log = Log()
    log.visit(Hooked(Var("hidden"), x))
    assert log.met == ["x"]
    renamed = Rename().visit(Hooked(x, x))
    assert (renamed.lhs.name, renamed.rhs.name) == ("x", "x_")


def test_hooks_count_from_the_start_of_a_visit_only():
    @py_class("visitors.Unhooked")
    class Unhooked(Expr):
        of: Any

    class Visit(NodeVisitor, dialect="visitors"):
        def visit_num(self, node):
            type_attrs.set(Unhooked, "__s_visit__", lambda node, visitor: None)

        def visit_var(self, node):
            return VisitInterrupt("met")

    class Rewrite(Rename, dialect="visitors"):
        def visit_num(self, node):
            type_attrs.set(Unhooked, "__s_mutate__", lambda node, mutator: node)
            return node

    unhooked = Unhooked(Var("x"))
    assert Visit().visit([Num(1), unhooked]).value == "met"
    assert Visit().visit(unhooked) is None
    assert Rewrite().visit([Num(1), unhooked])[1].of.name == "x_"
    assert Rewrite().visit(unhooked) is unhooked


def test_keys_of_maps_are_neither_visited_nor_rewritten():
    x, y = Var("x"), Var("y")
    keyed = isoform.Map({x: y})
    log = Log()
    log.visit(keyed)
    assert log.met == ["y"]
    ((key, value),) = Rename().visit(keyed).items()
    assert key is x
    assert value.name == "y_"


def test_a_visit_ends_with_an_interrupt():
    class First(NodeVisitor, dialect="visitors"):
        def visit_var(self, node):
            return VisitInterrupt(node.name)

        def visit_add(self, node):
            yield node.lhs
            raise AssertionError("not reached")

    assert First().visit(Add(Var("x"), Var("y"))).value == "x"


def notes_of(visitor, root):
    with pytest.raises(Exception, match=None) as caught:
        visitor.visit(root)
    return getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize("base", [NodeVisitor, NodeFunctor, NodeMutator])
def test_an_exception_has_a_note_of_the_method_and_the_place(base):
    class Plain(base, dialect="visitors"):
        def visit_num(self, node):
            raise KeyError("boom")

        def visit_expr(self, node):
            return super().generic_visit(node)

        def visit_add(self, node):
            return self.visit(node.rhs)

    class Waiting(Plain):
        def visit_add(self, node):
            return (yield node.rhs)

    class Above(Plain):
        def visit_binary_expr(self, node):
            raise TypeError(node)

    class Translated(Plain):
        def visit_add(self, node):
            try:
                yield node.rhs
            except KeyError as error:
                raise ValueError(1) from error

    root = Add(Num(1), Call([Add(Num(2), Num(3))], {}))
    for kind in (Plain, Waiting, Translated):

        class Found(kind):
            def visit_call(self, node):
                return self.visit(node.args[0])

        place = "visit_add at <root>.rhs.args[0]" if kind is Translated else None
        place = place or "visit_num at <root>.rhs.args[0].rhs"
        assert notes_of(Found(), root) == [f"in Found.{place}"], kind
    assert notes_of(Above(), Add(Num(1), Mul(Num(1), Num(2)))) == [
        "in Above.visit_binary_expr at <root>.rhs"
    ]


def test_a_caught_exception_leaves_no_place():
    class Caught(NodeFunctor, dialect="visitors"):
        def visit_num(self, node):
            raise KeyError(node.value)

        def visit_add(self, node):
            with contextlib.suppress(KeyError):
                self.visit(node.lhs)
            return self.visit(node.rhs)

    assert notes_of(Caught(), Add(Num(1), Add(Num(2), Num(3)))) == [
        "in Caught.visit_num at <root>.rhs.rhs"
    ]


def test_a_wrong_result_has_a_note_of_the_method_and_the_place():
    class Wrong(NodeMutator, dialect="visitors"):
        def visit_num(self, node):
            return "text" if node.value == 2 else node

        def visit_var(self, node):
            return None

    root = Call([Neg(Num(1)), Neg(Num(2))], {})
    assert notes_of(Wrong(), root) == ["in Wrong.visit_num at <root>.args[1].of"]
    assert notes_of(Wrong(), Call([Var("x")], {})) == ["in Wrong.visit_var at <root>.args[0]"]

    class Result(NodeVisitor, dialect="visitors"):
        def visit_num(self, node):
            return 5

    assert notes_of(Result(), Call([Num(1)], {})) == ["in Result.visit_num at <root>.args[0]"]
