"""Passes over the statement IR, and the CSE pass that users write."""

import pytest

from isoform.pattern import Pattern, Rule, rewrite
from isoform.pto import DataType, ir
from isoform.testing import random_program

SPAN = ir.Span.unknown()
INT64 = DataType.INT64
SCALAR = ir.ScalarType(INT64)


def var(name):
    return ir.Var(name, SCALAR, SPAN)


def const(value):
    return ir.ConstInt(value, INT64, SPAN)


def function(params, stmts):
    return ir.Function("f", params, [SCALAR], ir.SeqStmts(stmts, SPAN), SPAN)


def test_common_subexpressions_are_computed_once():
    a, b, x, y = (var(name) for name in "abxy")

    def total():
        return ir.Add(a, b, INT64, SPAN)

    def stmts(second):
        return [
            ir.AssignStmt(x, total(), SPAN),
            ir.AssignStmt(y, second, SPAN),
            ir.ReturnStmt([y], SPAN),
        ]

    before = function([a, b], stmts(ir.Mul(total(), total(), INT64, SPAN)))
    after = function([a, b], stmts(ir.Mul(x, x, INT64, SPAN)))
    ir.assert_structural_equal(ir.cse(before), after)
    assert ir.cse(after) is after
    program = ir.Program([before], "p", SPAN)
    ir.assert_structural_equal(ir.cse(program), ir.Program([after], "p", SPAN))
    with pytest.raises(TypeError, match=r"cse: expected pto\.Function or pto\.Program"):
        ir.cse(x)


def test_expressions_and_programs_are_simplified():
    x, y = var("x"), var("y")
    assert ir.simplify(ir.Mul(x, const(1), INT64, SPAN)) is x
    shift = ir.BitShiftLeft(x, const(3), INT64, SPAN)
    before = function(
        [x], [ir.AssignStmt(y, ir.Mul(x, const(8), INT64, SPAN), SPAN), ir.ReturnStmt([y], SPAN)]
    )
    after = function([x], [ir.AssignStmt(y, shift, SPAN), ir.ReturnStmt([y], SPAN)])
    ir.assert_structural_equal(ir.simplify(before), after)


def test_rules_over_statements():
    # An assignment of a variable to itself plus zero is a copy.
    v, h = var("v"), var("h")
    pattern = Pattern(ir.AssignStmt(v, ir.Add(h, const(0), INT64, SPAN), SPAN), [h])
    rule = Rule(pattern, ir.AssignStmt(v, h, SPAN))
    a, x = var("a"), var("x")
    before = function(
        [a], [ir.AssignStmt(x, ir.Add(a, const(0), INT64, SPAN), SPAN), ir.ReturnStmt([x], SPAN)]
    )
    after = function([a], [ir.AssignStmt(x, a, SPAN), ir.ReturnStmt([x], SPAN)])
    done = rewrite(before, [rule])
    assert done.applied == (1,)
    ir.assert_structural_equal(done.value, after)
    (found,) = pattern.find_all(before)
    assert str(found.path) == "<root>.body.stmts[0]"
    assert found[v] is x
    assert found[h] is a


@pytest.mark.parametrize("run", [ir.cse, ir.simplify], ids=["cse", "simplify"])
def test_random_programs_stay_well_formed(run):
    changed = 0
    for seed in range(60):
        program = random_program(seed, 4 * seed)
        done = run(program)
        changed += not done.same_as(program)
        ir.verify(done)
        ir.assert_structural_equal(run(done), done)
    assert changed > 20
