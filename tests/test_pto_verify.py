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


def test_a_failure_is_a_path_an_error_and_a_text():
    assert texts(ir.Lt(X, Y, DataType.INT64)) == [
        "<root>: TypeError: pto.Lt: type: expected BOOL, got INT64"
    ]
    assert texts(function(ir.EvalStmt(X))) == [
        "<root>.body.stmts[0].expr: ValueError: variable 'x' is used before it is defined"
    ]


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


def test_the_path_of_a_failure_far_below_is_whole():
    stmt = ir.EvalStmt(X)
    for _ in range(200):
        stmt = ir.IfStmt(ir.ConstBool(True), stmt, None, [])
    (failure,) = ir.verify(ir.Function("f", [], [], stmt), raise_on_error=False)
    assert failure.path.depth == 202


def test_the_valid_part_of_a_shape_is_no_larger_than_the_shape():
    n = var("n", ir.ScalarType(DataType.INDEX))

    def texts_of(shape, valid):
        types = [
            ir.TileType(shape, DataType.FP32, None, ir.TileView(valid)),
            ir.TensorType(shape, DataType.FP32, None, ir.TensorView([], "ND", valid)),
        ]
        return [text for ty in types for text in texts(ir.Var("t", ty))]

    wrong = "valid_shape[1]: expected at most 16, as shape[1], got 32"
    tile, tensor = texts_of([8, 16], [8, 32])
    assert f"ValueError: pto.TileType: tile_view.{wrong}" in tile
    assert f"ValueError: pto.TensorType: tensor_view.{wrong}" in tensor
    for shape, valid in [([8, 16], [8, 15]), ([8, n], [8, 99]), ([8, 16], [8, n]), ([8], [])]:
        assert texts_of(shape, valid) == []
