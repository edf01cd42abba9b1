"""Passes over the statement IR, and the CSE pass that users write."""

import random

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


class CSEPass:
    """Common Subexpression Elimination, as in the reference."""

    def __init__(self):
        self.expr_cache = {}

    def deduplicate(self, expr):
        hash_val = ir.structural_hash(expr, enable_auto_mapping=False)

        if hash_val in self.expr_cache:
            for cached_expr in self.expr_cache[hash_val]:
                if ir.structural_equal(expr, cached_expr, enable_auto_mapping=False):
                    return cached_expr  # Reuse
            self.expr_cache[hash_val].append(expr)
        else:
            self.expr_cache[hash_val] = [expr]

        return expr


def test_the_pass_of_the_reference():
    cse = CSEPass()
    x, y = var("x"), var("y")
    first = cse.deduplicate(ir.Add(x, y, INT64, SPAN))
    assert cse.deduplicate(ir.Add(x, y, INT64, ir.Span("f.py", 1, 1))) is first
    assert cse.deduplicate(ir.Add(y, x, INT64, SPAN)) is not first
    assert cse.deduplicate(ir.Add(x, var("y"), INT64, SPAN)) is not first
    assert cse.deduplicate(first) is first


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


@pytest.mark.parametrize(
    ("expr", "result"),
    [
        (lambda x: ir.Mul(x, const(1), INT64, SPAN), lambda x: x),
        (lambda x: ir.Add(const(0), x, INT64, SPAN), lambda x: x),
        (lambda x: ir.Min(x, x, INT64, SPAN), lambda x: x),
        (
            lambda x: ir.Mul(x, const(8), INT64, SPAN),
            lambda x: ir.BitShiftLeft(x, const(3), INT64, SPAN),
        ),
        (
            lambda x: ir.FloorDiv(x, const(8), INT64, SPAN),
            lambda x: ir.BitShiftRight(x, const(3), INT64, SPAN),
        ),
        (
            lambda x: ir.FloorMod(x, const(8), INT64, SPAN),
            lambda x: ir.BitAnd(x, const(7), INT64, SPAN),
        ),
        (lambda x: ir.Mul(x, const(6), INT64, SPAN), lambda x: ir.Mul(x, const(6), INT64, SPAN)),
    ],
    ids=["times_one", "plus_zero", "min", "shift_left", "shift_right", "mask", "kept"],
)
def test_small_identities(expr, result):
    x = var("x")
    ir.assert_structural_equal(ir.simplify(expr(x)), result(x))
    y = var("y")
    program = function([x], [ir.AssignStmt(y, expr(x), SPAN), ir.ReturnStmt([y], SPAN)])
    expected = function([x], [ir.AssignStmt(y, result(x), SPAN), ir.ReturnStmt([y], SPAN)])
    ir.assert_structural_equal(ir.simplify(program), expected)


BINARY = {
    ir.Add: lambda a, b: a + b,
    ir.Sub: lambda a, b: a - b,
    ir.Mul: lambda a, b: a * b,
    ir.FloorDiv: lambda a, b: a // b,
    ir.FloorMod: lambda a, b: a % b,
    ir.Min: min,
    ir.Max: max,
    ir.BitAnd: lambda a, b: a & b,
    ir.BitOr: lambda a, b: a | b,
    ir.BitXor: lambda a, b: a ^ b,
    ir.BitShiftLeft: lambda a, b: a << b,
    ir.BitShiftRight: lambda a, b: a >> b,
}


def evaluate(expr, values):
    """The value of an expression, wrapped around at 64 bits."""
    if isinstance(expr, ir.ConstInt):
        return expr.value
    if isinstance(expr, ir.Var):
        return values[expr.name_hint]
    exact = BINARY[type(expr)](evaluate(expr.left, values), evaluate(expr.right, values))
    return (exact + 2**63) % 2**64 - 2**63


def random_expr(draw, depth, leaves):
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(leaves)
    left = random_expr(draw, depth - 1, leaves)
    right = left if draw.random() < 0.25 else random_expr(draw, depth - 1, leaves)
    kinds = [kind for kind in BINARY if kind not in (ir.BitShiftLeft, ir.BitShiftRight)]
    return draw.choice(kinds)(left, right, INT64, SPAN)


def test_simplified_expressions_keep_their_value():
    draw = random.Random(5)
    leaves = [var("a"), var("b"), *map(const, [0, 1, 1, 2, 4, 8, 3])]
    changed = compared = 0
    for _ in range(600):
        before = random_expr(draw, 4, leaves)
        after = ir.simplify(before)
        changed += after is not before
        for _ in range(3):
            values = {name: draw.choice([0, 1, -1, 7, -(2**63), 2**63 - 1]) for name in "ab"}
            try:
                expected = evaluate(before, values)
            except ZeroDivisionError:
                continue
            assert evaluate(after, values) == expected, (before, after)
            compared += 1
    assert changed > 100
    assert compared > 300


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
