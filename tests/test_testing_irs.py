"""Tools for tests of an IR: strategies, declarations, bindings, functors."""

import builtins
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings, strategies as st

import isoform
from isoform import NodeFunctor, Object, check_well_formed, free_variables, fresh_binders
from isoform.dataclasses import Enum, auto, field, py_class
from isoform.testing import check_declarations, strategy


@py_class("ours.Expr", abstract=True)
class Expr(Object):
    pass


@py_class("ours.Var", structural_eq="var")
class Var(Expr):
    name: str = field(structural_eq="ignore")


@py_class("ours.Int")
class Int(Expr):
    value: int


class Op(Enum, type_key="ours.Op"):
    add = auto()
    mul = auto()


@py_class("ours.Binary")
class Binary(Expr):
    op: Op
    lhs: Expr
    rhs: Expr


@py_class("ours.Let", scope=True, defs_first=False)
class Let(Expr):
    value: Expr
    var: Var = field(structural_eq="def")
    body: Expr


@py_class("ours.Call")
class Call(Expr):
    args: Sequence[Expr]
    attrs: Mapping[str, int]
    hint: str | None = None


# ---- strategies ----------------------------------------------------------------

suite = settings(
    deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@suite
@given(strategy(Expr))
def test_objects_are_well_formed_and_bounded(expr):
    assert isinstance(expr, Expr)
    assert type(expr) is not Expr
    assert check_well_formed(expr) == []
    assert free_variables(expr) == []
    nodes = []
    isoform.structural_walk(expr, (Expr, nodes.append))
    assert len(nodes) <= 200
    assert isoform.structural_equal(expr, isoform.text.from_text(isoform.text.to_text(expr)))


@pytest.mark.parametrize("cls", [Int, Binary, Let, Call])
def test_every_class_and_every_place_is_reached(cls):
    found = find(
        strategy(Expr),
        lambda e: isinstance(e, Binary) and isinstance(e.lhs, cls) and e.op is Op.mul,
        settings=settings(suite, max_examples=5_000, phases=[Phase.generate]),
    )
    assert isinstance(found.lhs, cls)


def test_uses_of_bound_variables_are_drawn():
    found = find(
        strategy(Expr),
        lambda e: isinstance(e, Let) and e.body is e.var,
        settings=settings(suite, max_examples=5_000, phases=[Phase.generate]),
    )
    assert found.body is found.var


@suite
@given(strategy(Let, strategies={int: st.just(7)}, depth=2))
def test_strategies_of_the_user_win(let):
    numbers = []
    isoform.structural_walk(let, (Int, lambda node: numbers.append(node.value)))
    assert set(numbers) <= {7}


@py_class("ours.lambda.Term")
class Term(Object):
    pass


@py_class("ours.lambda.V", structural_eq="var")
class V(Term):
    pass


@py_class("ours.lambda.Lam", scope=True)
class Lam(Term):
    params: Sequence[V] = field(structural_eq="def")
    body: Term


@py_class("ours.lambda.App")
class App(Term):
    function: Term
    argument: Term


@suite
@given(strategy(Term))
def test_a_language_with_variables_as_only_leaves(term):
    assert check_well_formed(term) == []
    assert type(term) in (V, Lam, App)


@py_class("ours.flat.Name", structural_eq="var")
class Name(Object):
    pass


@py_class("ours.flat.Assign")
class Assign(Object):
    value: Name | int
    target: Name = field(structural_eq="def-simple")


@py_class("ours.flat.Block", scope=True)
class Block(Object):
    body: list[Assign]


@suite
@given(strategy(Block))
def test_definitions_hold_to_the_end_of_their_scope(block):
    # `value` is visited first, since the class is not a scope.
    assert check_well_formed(block) == []
    assert free_variables(block) == []


def test_uses_of_earlier_statements_are_drawn():
    def has_use(block):
        names = [one.target for one in block.body]
        return any(one.value in names for one in block.body if isinstance(one.value, Name))

    assert find(strategy(Block), has_use, settings=suite)


@py_class("ours.Loop")
class Loop(Object):
    again: "Loop"


def test_a_class_without_objects_is_an_error():
    with pytest.raises(TypeError, match=r"no object of ours.Loop can be made for ours.Loop"):
        find(strategy(Loop), lambda _: True, settings=suite)
    with pytest.raises(TypeError, match="registered class"):
        strategy(int)


def test_hypothesis_is_named_if_it_is_missing(monkeypatch):
    original = builtins.__import__

    def missing(name, *arguments, **options):
        if name.startswith("hypothesis"):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match="pip install hypothesis"):
        strategy(Expr)


# ---- declarations --------------------------------------------------------------


def test_the_declarations_here_have_no_findings():
    assert check_declarations("ours") == []


def test_mistakes_are_found():
    @py_class("lint.Var", structural_eq="var")
    class LintVar(Object):
        name: str

    @py_class("lint.Fun", scope=True)
    class Fun(Object):
        params: list[LintVar]
        body: LintVar

    @py_class("lint.Wrong")
    class Wrong(Object):
        name: str = field(structural_eq="def")

    @py_class("lint.Global", structural_eq="singleton")
    class Global(Object):
        name: str

    lines = [str(one) for one in check_declarations("lint")]
    assert len(lines) == 5
    for place, reason in [
        ("lint.Var: ", "no field of any class binds"),
        ("lint.Var.name: ", 'structural_eq="ignore"'),
        ("lint.Fun: ", "scope without definitions"),
        ("lint.Wrong.name: ", "holds no variable"),
        ("lint.Global: ", "singleton with fields"),
    ]:
        assert [line for line in lines if line.startswith(place) and reason in line], lines
    assert len(check_declarations(Fun)) == len(check_declarations("lint.Fun")) == 1


def test_a_definition_without_a_scope_is_found():
    @py_class("lint2.Var", structural_eq="var")
    class LintVar(Object):
        pass

    @py_class("lint2.Bind")
    class Bind(Object):
        var: LintVar = field(structural_eq="def")

    (found,) = check_declarations("lint2")
    assert found.field == "var"
    assert "without a scope around it" in found.reason

    @py_class("lint2.Block", scope=True)
    class Around(Object):
        items: list[Bind]

    assert check_declarations("lint2") == []


def test_all_classes_of_a_program_are_checked():
    @py_class("lint3.Global", structural_eq="singleton")
    class Global(Object):
        name: str

    keys = [one.type_key for one in check_declarations()]
    assert "lint3.Global" in keys
    # Classes of the library are no part of the program.
    assert not {"ir", "relay", "pto", "fx"} & {key.partition(".")[0] for key in keys}


def test_wrong_arguments_of_check_declarations():
    with pytest.raises(ValueError, match="no registered class belongs to 'nowhere'"):
        check_declarations("nowhere")
    with pytest.raises(TypeError, match="expected classes"):
        check_declarations(3)


# ---- bindings ------------------------------------------------------------------


def test_bindings():
    x, y = Var("x"), Var("y")
    let = Let(Int(1), x, Binary(Op.add, x, y))
    assert free_variables(let) == [y]
    twice = [let, Let(Int(2), x, x)]
    with pytest.raises(ValueError, match=r"1 fault:\n  <root>\[1\].var: the variable .* a second"):
        check_well_formed(twice)
    fresh = fresh_binders(twice)
    assert isoform.structural_equal(fresh, twice)
    assert check_well_formed(fresh) == []
    assert fresh[0].var is not x
    assert fresh[0].body.rhs is y
    assert fresh[0].var.name == "x"
    ((path, text),) = check_well_formed([let, x], raise_on_error=False)
    assert (str(path), "outside of the scope" in text) == ("<root>[1]", True)


@suite
@given(strategy(Expr))
def test_fresh_binders_of_random_objects(expr):
    doubled = Binary(Op.add, expr, isoform.deep_copy(expr))
    assert isoform.structural_equal(fresh_binders(doubled), doubled)
    inlined = [Let(Int(1), Var("v"), expr), expr]
    assert check_well_formed(fresh_binders(inlined)) == []


def test_structural_error():
    with pytest.raises(isoform.StructuralError, match=r"<root>\.value") as caught:
        isoform.assert_structural_equal(Int(1), Int(2))
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, ValueError)
    cyclic: Any = isoform.List([1])
    cyclic.append(cyclic)
    with pytest.raises(ValueError, match="cyclic") as caught:
        isoform.assert_structural_equal(cyclic, isoform.List([1, isoform.List([1, cyclic])]))
    assert not isinstance(caught.value, AssertionError)
    cyclic.clear()


# ---- functors ------------------------------------------------------------------


class Show(NodeFunctor, dialect="ours.lambda", memo=False):
    def __init__(self):
        self.names = {}
        self.calls = 0

    def visit_lam(self, node):
        outer = dict(self.names)
        for param in node.params:
            self.names[param] = f"x{len(self.names)}" + "'" * (param in self.names)
        names = " ".join(self.names[param] for param in node.params)
        body = yield node.body
        self.names = outer
        return f"\\{names}.{body}"

    def visit_v(self, node):
        self.calls += 1
        return self.names.get(node, "free")

    def visit_app(self, node):
        return f"({yield node.function} {yield node.argument})"


def test_results_without_memory_depend_on_the_scope():
    x = V()
    assert Show().visit(App(x, App(Lam([x], x), Lam([x], App(x, x))))) == (
        "(free (\\x0.x0 \\x0.(x0 x0)))"
    )

    class Once(Show, memo=True):
        pass

    show, once = Show(), Once()
    show.visit(App(x, x))
    once.visit(App(x, x))
    assert (show.calls, once.calls) == (2, 1)


def test_cycles_are_found_without_memory():
    class Depth(NodeFunctor, dialect="ours.lambda", memo=False):
        def visit_v(self, node):
            return 1

    cyclic: Any = isoform.List()
    cyclic.append(cyclic)
    with pytest.raises(ValueError, match="cyclic"):
        Depth().visit(cyclic)
    cyclic.clear()
