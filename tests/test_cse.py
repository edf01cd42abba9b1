"""Common subexpression elimination in languages declared in Python."""

from typing import Any

import pytest

from isoform import Array, Object, ir, py_class, structural_equal, tir, type_attrs
from isoform.dataclasses import field
from isoform.transform import CSE, Sequential, cse


@py_class("test_cse.Op", structural_eq="dag")
class Op(Object):
    name: str
    inputs: Array


@py_class("test_cse.Var", structural_eq="var")
class Var(Object):
    name: str = field(default="", structural_eq="ignore")


@py_class("test_cse.Binary", structural_eq="tree")
class Binary(Object):
    op: str
    lhs: Any
    rhs: Any


@py_class("test_cse.Maybe", structural_eq="tree")
class Maybe(Object):
    """The right operand, if the left operand is not zero."""

    lhs: Any
    rhs: Any


@py_class("test_cse.Assign", structural_eq="tree")
class Assign(Object):
    var: Var = field(structural_eq="def")
    value: Any


@py_class("test_cse.Print", structural_eq="tree")
class Print(Object):
    value: Any


@py_class("test_cse.Times", structural_eq="tree")
class Times(Object):
    count: Any
    body: Array


@py_class("test_cse.Function", structural_eq="tree")
class Function(ir.BaseFunc):
    params: Array = field(structural_eq="def")
    body: Array


type_attrs.set(Op, "rewrite.pure", lambda op: op.name != "print")
type_attrs.set(Var, "rewrite.form", "expression")
for expression in (Binary, Maybe):
    type_attrs.set(expression, "rewrite.form", "computation")
    type_attrs.set(
        expression,
        "rewrite.new_binding",
        lambda value, number: Assign(var=Var(f"t{number}"), value=value),
    )
    type_attrs.set(expression, "rewrite.pure", True)
type_attrs.set(Binary, "rewrite.repeatable", lambda binary: binary.op != "next")
type_attrs.set(Maybe, "rewrite.conditional", ["rhs"])
for statement in (Assign, Print, Times):
    type_attrs.set(statement, "rewrite.form", "statement")
type_attrs.set(Assign, "rewrite.binding", {"var": "var", "value": "value"})


def function(params, body):
    return Function(params=params, body=body)


def test_equal_nodes_become_one():
    done = cse(Op("add", [Op("exp", [1.0]), Op("exp", [1.0]), Op("exp", [2.0])]))
    assert done.inputs[0].same_as(done.inputs[1])
    assert not done.inputs[0].same_as(done.inputs[2])
    assert cse(done).same_as(done)


def test_a_function_decides_what_is_pure():
    asked = []

    def pure(node):
        asked.append(node)
        return node.name == "print"

    done = cse(Array([Op("print", []), Op("print", []), Op("exp", []), Op("exp", [])]), pure)
    assert done[0].same_as(done[1])
    assert not done[2].same_as(done[3])
    assert {node.name for node in asked} == {"print", "exp"}


def test_errors_of_functions_arrive():
    def pure(node):
        raise LookupError(node.name)

    with pytest.raises(LookupError, match="exp"):
        cse(Op("exp", []), pure)
    with pytest.raises(TypeError, match=r"expected bool, got str"):
        cse(Op("exp", []), lambda node: "yes")


def test_attributes_of_the_wrong_form():
    @py_class("test_cse.Wrong", structural_eq="tree")
    class Wrong(Object):
        part: Any

    type_attrs.set(Wrong, "rewrite.form", "expr")
    expected = (
        r"attribute 'rewrite.form' of type test_cse.Wrong: expected 'expression', "
        r"'computation', 'statement', 'text' or 'data', got \"expr\""
    )
    with pytest.raises(ValueError, match=expected):
        cse(Wrong(1))
    type_attrs.set(Wrong, "rewrite.form", "expression", override=True)
    type_attrs.set(Wrong, "rewrite.conditional", ["parts"])
    with pytest.raises(ValueError, match=r"rewrite.conditional.*test_cse.Wrong.*parts"):
        cse(Wrong(1))


@py_class("test_cse.Let", structural_eq="tree", scope=True, defs_first=False)
class Let(Object):
    value: Any
    var: Var = field(structural_eq="def")
    body: Any


type_attrs.set(Let, "rewrite.form", "expression")
type_attrs.set(Let, "rewrite.binding", {"var": "var", "value": "value", "body": "body"})


def test_an_inner_binding_of_an_equal_value_goes():
    a, x, y = Var("a"), Var("x"), Var("y")
    square = lambda: Binary("mul", a, a)  # noqa: E731
    done = cse(Let(square(), x, Let(square(), y, Binary("add", y, square()))))
    assert structural_equal(done, Let(square(), x, Binary("add", x, x)))
    apart = Binary("add", Let(square(), x, x), Let(square(), y, y))
    done = cse(apart)
    assert type(done.lhs) is Let and type(done.rhs) is Let
    drawn = lambda var, body: Let(Binary("next", a, a), var, body)  # noqa: E731
    apart = drawn(x, drawn(y, Binary("add", x, y)))
    assert cse(apart).same_as(apart)


def test_bodies_that_need_a_sequence_say_so():
    @py_class("test_cse.Once", structural_eq="tree")
    class Once(Object):
        body: Any

    type_attrs.set(Once, "rewrite.form", "statement")
    a = Var("a")
    body = Once(Print(Binary("mul", Binary("add", a, 1), Binary("add", a, 1))))
    with pytest.raises(TypeError, match=r"test_cse.Print to declare 'rewrite.new_sequence'"):
        cse(function([a], [body]))


def test_functions_of_a_module_are_processed_one_by_one():
    x = tir.Var("x", "int32")
    a = Var("a")
    same = function([a], [Print(Binary("add", a, 1))])
    twice = function([a], [Print(Binary("add", a, 1)), Print(Binary("add", a, 1))])
    mod = ir.IRModule({"same": same, "twice": twice})
    done = Sequential([CSE()])(mod)
    assert done["same"].same_as(same)
    assert [type(stmt) for stmt in done["twice"].body] == [Assign, Print, Print]
    assert cse(done).same_as(done)
    assert len(mod["twice"].body) == 2
    assert cse(x).same_as(x) and cse(3) == 3


def test_what_may_change_or_is_not_always_computed_stays():
    a = Var("a")

    def kept(make):
        program = function([a], [make(0), make(1)])
        return cse(program).same_as(program)

    total = Binary("add", a, 1)
    assert kept(lambda _: Print(Binary("next", a, 1)))
    assert kept(lambda number: Print(Maybe(number, total)))
    assert kept(lambda number: Times(number, [Print(total)]))
    assert not kept(lambda _: Print(total))


def test_the_result_shares_nothing_with_later_changes():
    a = Var("a")
    before = function([a], [Print(Binary("add", a, a)), Print(Binary("add", a, a))])
    copy = function([a], [Print(Binary("add", a, a)), Print(Binary("add", a, a))])
    cse(before)
    assert structural_equal(before, copy, map_free_vars=True)


@py_class("test_cse.Block", structural_eq="tree")
class Block(Object):
    """Statements in order; not of a class of statements."""

    stmts: Array


@py_class("test_cse.Loop", structural_eq="tree")
class Loop(Object):
    body: Block


type_attrs.set(Block, "rewrite.sequence", "stmts")
type_attrs.set(Loop, "rewrite.form", "statement")


def test_a_sequence_is_a_statement_without_a_form_of_its_own():
    a, x, y = Var("a"), Var("x"), Var("y")

    def body(*after):
        return function([a], [Loop(Block([Assign(x, Binary("+", a, a)), *after]))])

    twice = body(Assign(y, Binary("+", a, a)), Print(y))
    assert structural_equal(cse(twice), body(Print(x)))
