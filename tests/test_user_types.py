"""A node type added by a user to a dialect is one declaration, and works everywhere."""

import pytest

import isoform
from isoform import NodeMutator, NodeVisitor, serialization, structural_equal, text
from isoform.dataclasses import py_class
from isoform.pto import DataType, ir

INT = ir.ScalarType(DataType.INT64)


@py_class("pto.Select")
class Select(ir.Expr):
    cond: ir.Expr
    then: ir.Expr
    other: ir.Expr


def var(name):
    return ir.Var(name, INT)


def select(cond, then, other):
    return Select(cond=cond, then=then, other=other, type=INT)


def function(names):
    x, y = (var(name) for name in names)
    body = ir.SeqStmts([ir.AssignStmt(y, select(x, x + 1, x)), ir.ReturnStmt([y])])
    return ir.Function("f", [x], [INT], body)


def test_it_is_compared_and_hashed_up_to_names():
    left, right = function("ab"), function("xy")
    assert structural_equal(left, right)
    assert isoform.structural_hash(left) == isoform.structural_hash(right)
    x = var("x")
    assert not structural_equal(select(x, x, x), select(x, x, var("y")))


def test_it_goes_through_text_and_files():
    program = function("xy")
    assert structural_equal(text.from_text(text.to_text(program)), program)
    json = serialization.to_json_graph_str(program)
    assert structural_equal(serialization.from_json_graph_str(json), program)


def test_it_has_a_method_of_visitors_and_mutators():
    class Find(ir.IRVisitor):
        def __init__(self):
            self.met = []

        def visit_select(self, op):
            self.met.append("visit_select")
            super().visit_select(op)

        def visit_expr(self, op):
            self.met.append(type(op).__name__)
            super().visit_expr(op)

    class General(NodeVisitor, dialect="pto"):
        met = 0

        def visit_select(self, op):
            self.met += 1

    class Swap(NodeMutator, dialect="pto"):
        def visit_select(self, op):
            op = yield isoform.visitors.Later(super().visit_select, op)
            return select(op.cond, op.other, op.then)

    program = function("xy")
    find, general = Find(), General()
    find.visit(program)
    general.visit(program)
    assert [met for met in find.met if "elect" in met] == ["visit_select", "Select"]
    assert general.met == 1
    swapped = Swap().visit(program)
    assert ir.python_print(swapped.body.stmts[0].value) == "Select(x, x, x + 1)"
    assert Swap().visit(INT) is INT


def test_it_is_printed_with_what_is_in_its_fields():
    x, y = var("x"), var("y")
    assert ir.python_print(select(x, select(y, x, 1), y)) == "Select(x, Select(y, x, 1), y)"


def test_the_verifier_sees_its_operands():
    assert ir.verify(function("xy")) == []
    x, y, z = (var(name) for name in "xyz")
    body = ir.SeqStmts([ir.AssignStmt(y, select(x, z, x)), ir.ReturnStmt([y])])
    with pytest.raises(ValueError, match=r"value\.then: .*'z' is used before it is defined"):
        ir.verify(ir.Function("f", [x], [INT], body))


def test_a_free_variable_in_it_is_found_and_replaced():
    x, y = var("x"), var("y")
    node = select(x, y, x)
    assert {free.name_hint for free in ir.collect_free_vars(ir.EvalStmt(node))} == {"x", "y"}
    assert ir.substitute_expr(node, {y: x}).then is x
