"""The rules for well-formed programs of the statement dialect."""

import pytest

from isoform.access_path import AccessPath
from isoform.pto import DataType, ir

INT = ir.ScalarType(DataType.INT64)
BOOL = ir.ScalarType(DataType.BOOL)


def var(name, ty=INT):
    return ir.Var(name, ty)


def number(value, dtype=DataType.INT64):
    return ir.ConstInt(value, dtype)


def seq(*stmts):
    return ir.SeqStmts(list(stmts))


def function(*stmts, params=(), returns=()):
    return ir.Function("f", list(params), list(returns), seq(*stmts))


def texts(node, **options):
    return [str(failure) for failure in ir.verify(node, raise_on_error=False, **options)]


X, Y, C = var("x"), var("y"), var("c", BOOL)

CASES = {
    "operands of two types": (
        lambda: ir.Add(X, ir.ConstFloat(1.0, DataType.FP32), DataType.INT64),
        ["<root>: TypeError: pto.Add: right: expected type INT64 as left, got FP32"],
    ),
    "result of a comparison": (
        lambda: ir.Lt(X, Y, DataType.INT64),
        ["<root>: TypeError: pto.Lt: type: expected BOOL, got INT64"],
    ),
    "literal out of range": (
        lambda: number(300, DataType.UINT8),
        ["<root>: ValueError: pto.ConstInt: value: expected 0 to 255, the range of UINT8, got 300"],
    ),
    "break outside of a loop": (
        lambda: ir.BreakStmt(),
        ["<root>: ValueError: break: expected in a loop"],
    ),
    "yield outside of a loop": (
        lambda: function(ir.YieldStmt([number(1)])),
        [
            "<root>.body.stmts[0]: ValueError: yield: expected at the end of the body of a loop"
            " or an if"
        ],
    ),
    "use before definition": (
        lambda: function(ir.AssignStmt(Y, X), ir.AssignStmt(X, number(1))),
        [
            "<root>.body.stmts[0].value: ValueError: variable 'x' is used before it is defined",
        ],
    ),
    "defined on one path only": (
        lambda: function(
            ir.IfStmt(C, ir.AssignStmt(X, number(1)), None, []), ir.EvalStmt(X), params=[C]
        ),
        [
            "<root>.body.stmts[1].expr: ValueError: variable 'x' is used where it has no value on"
            " every path"
        ],
    ),
    "defined twice": (
        lambda: function(ir.AssignStmt(X, number(1)), ir.AssignStmt(X, number(2))),
        [
            "<root>.body.stmts[1].var: ValueError: variable 'x' is defined again, after"
            " <root>.body.stmts[0].var"
        ],
    ),
    "return of another type": (
        lambda: function(ir.ReturnStmt([C]), params=[C], returns=[INT]),
        ["<root>.body.stmts[0].value[0]: TypeError: return: expected type INT64, got BOOL"],
    ),
    "no return": (
        lambda: function(returns=[INT]),
        [
            "<root>.body: ValueError: function 'f': expected a return of 1 values at the end,"
            " got none"
        ],
    ),
    "call of an unknown function": (
        lambda: ir.Program(
            [function(ir.EvalStmt(ir.Call(ir.GlobalVar("g"), [])))], "p", ir.Span.unknown()
        ),
        [
            "<root>.functions[\"f\"].body.stmts[0].expr: ValueError: call of 'g': expected a"
            " function of the program"
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_is_found(name):
    make, expected = CASES[name]
    assert texts(make()) == expected


def test_all_failures_are_reported_with_places():
    body = seq(
        ir.BreakStmt(ir.Span("a.py", 1, 1)),
        ir.EvalStmt(ir.Not(X, DataType.BOOL), ir.Span("a.py", 2, 1)),
    )
    failures = ir.verify(body, raise_on_error=False)
    assert {failure.span.begin_line for failure in failures} == {1, 2}
    for failure in failures:
        assert isinstance(failure.path, AccessPath)
        assert failure.path.get(body) is not None
        assert isinstance(failure.error, (TypeError, ValueError))
    with pytest.raises(ValueError, match="verification found 2 failures") as raised:
        ir.verify(body)
    assert "a.py:1:1" in str(raised.value) and "a.py:2:1" in str(raised.value)


def test_the_failure_of_an_operand_has_the_place_of_its_statement():
    stmt = ir.EvalStmt(ir.Not(X, DataType.BOOL), ir.Span("a.py", 2, 1))
    (failure,) = ir.verify(stmt, raise_on_error=False)
    assert str(failure.path) == "<root>.expr"
    assert failure.span.to_string() == "a.py:2:1"


def test_well_formed_programs_have_no_failures():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        n = f.param("n", INT)
        f.return_type(INT)
        i = ib.var("i", INT)
        with ib.for_loop(i, 0, n, 1) as loop:
            acc = loop.iter_arg("acc", 0)
            loop.return_var("total")
            with ib.if_stmt(acc < 10) as branch:
                branch.return_var("next", INT)
                ib.yield_(acc + i)
                branch.else_()
                ib.yield_(acc)
            ib.yield_(branch.output())
        ib.return_(loop.output())
    assert ir.verify(f.get_result()) == []


def test_redefinition_may_be_allowed():
    twice = function(ir.AssignStmt(X, number(1)), ir.AssignStmt(X, number(2)))
    assert texts(twice, allow_redefinition=True) == []


def test_deep_programs_are_verified():
    stmt = ir.EvalStmt(number(1))
    for _ in range(100_000):
        stmt = ir.IfStmt(C, stmt, None, [])
    assert ir.verify(ir.Function("f", [C], [], stmt)) == []


def test_the_path_of_a_failure_far_below_is_whole():
    stmt = ir.EvalStmt(X)
    for _ in range(200):
        stmt = ir.IfStmt(ir.ConstBool(True), stmt, None, [])
    (failure,) = ir.verify(ir.Function("f", [], [], stmt), raise_on_error=False)
    assert failure.path.depth == 202
