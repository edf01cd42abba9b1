"""Operators, substitution, copies and the like of the statement dialect."""

import math
import re

import pytest

from isoform.pto import DataType, ir


def var(name, dtype=DataType.INT32):
    return ir.Var(name, ir.ScalarType(dtype))


X, Y = var("x"), var("y")
TRUE = ir.Var("b", ir.ScalarType(DataType.BOOL))

BINARY = {
    "add": ("Add", "INT32"),
    "sub": ("Sub", "INT32"),
    "mul": ("Mul", "INT32"),
    "truediv": ("FloatDiv", "FP32"),
    "floordiv": ("FloorDiv", "INT32"),
    "mod": ("FloorMod", "INT32"),
    "pow": ("Pow", "INT32"),
    "min_": ("Min", "INT32"),
    "max_": ("Max", "INT32"),
    "eq": ("Eq", "BOOL"),
    "ne": ("Ne", "BOOL"),
    "lt": ("Lt", "BOOL"),
    "le": ("Le", "BOOL"),
    "gt": ("Gt", "BOOL"),
    "ge": ("Ge", "BOOL"),
    "bit_and": ("BitAnd", "INT32"),
    "bit_or": ("BitOr", "INT32"),
    "bit_xor": ("BitXor", "INT32"),
    "bit_shift_left": ("BitShiftLeft", "INT32"),
    "bit_shift_right": ("BitShiftRight", "INT32"),
}
LOGICAL = {"and_": "And", "or_": "Or", "xor_": "Xor"}
UNARY = {"neg": "Neg", "bit_not": "BitNot", "abs_": "Abs"}
SPAN = ir.Span("a.py", 1, 1)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    cls, dtype = BINARY[name]
    made = getattr(ir, name)(X, Y, SPAN)
    assert type(made) is getattr(ir, cls)
    assert made.dtype is getattr(DataType, dtype)
    assert made.span.same_as(SPAN)
    if name != "truediv":
        assert made.left.same_as(X)
        assert made.right.same_as(Y)
        assert getattr(ir, name)(X, 1).right.dtype is DataType.INT32
        assert getattr(ir, name)(1, X).left.dtype is DataType.INT32


@pytest.mark.parametrize("name", LOGICAL)
def test_logical(name):
    made = getattr(ir, name)(TRUE, False)
    assert type(made) is getattr(ir, LOGICAL[name])
    assert type(made.right) is ir.ConstBool
    assert made.dtype is DataType.BOOL
    with pytest.raises(
        TypeError, match=rf"pto.{name.strip('_')}: expected truth values, got INT32"
    ):
        getattr(ir, name)(X, Y)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    made = getattr(ir, name)(X)
    assert type(made) is getattr(ir, UNARY[name])
    assert made.operand.same_as(X)
    assert made.dtype is DataType.INT32


def test_not():
    assert type(ir.not_(TRUE)) is ir.Not
    with pytest.raises(TypeError, match=r"pto.not.*INT32"):
        ir.not_(X)


OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
    "bit_shift_left": lambda a, b: a << b,
    "bit_shift_right": lambda a, b: a >> b,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    apply, function = OPERATORS[name], getattr(ir, name)
    ir.assert_structural_equal(apply(X, Y), function(X, Y))
    ir.assert_structural_equal(apply(X, 3), function(X, 3))
    mirrored = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
    if name in mirrored:
        ir.assert_structural_equal(apply(3, X), getattr(ir, mirrored[name])(X, 3))
    else:
        ir.assert_structural_equal(apply(3, X), function(3, X))
    with pytest.raises(TypeError):
        apply(X, "text")


def test_unary_operators():
    ir.assert_structural_equal(-X, ir.neg(X))
    ir.assert_structural_equal(~X, ir.bit_not(X))
    ir.assert_structural_equal(abs(X), ir.abs_(X))


def test_operators_note_the_line_of_their_caller():
    made = [X + 1, 1 - X, -X, ir.add(X, Y), ir.not_(TRUE), ir.cast(X, DataType.FP32), X < Y]
    span = (X + Y).span
    assert {expr.span.filename for expr in made} == {__file__}
    assert {expr.span.begin_line for expr in made} == {span.begin_line - 1}
    assert (X + 1).right.span.filename == __file__
    place = ir.Span("other.py", 7, 3)
    assert ir.add(X, Y, place).span.same_as(place)
    assert ir.structural_equal(X + 1, ir.add(X, 1, place))


def test_identity_is_not_comparison():
    assert X == X
    assert X != Y
    assert len({X, Y, X}) == 2


COMMON = [
    ("INT8", "INT32", "INT32"),
    ("UINT8", "INT8", "INT16"),
    ("UINT32", "INT32", "INT64"),
    ("UINT8", "INT16", "INT16"),
    ("UINT8", "UINT16", "UINT16"),
    ("INT32", "INDEX", "INDEX"),
    ("INT64", "INDEX", "INDEX"),
    ("FP16", "FP32", "FP32"),
    ("FP16", "BF16", "FP32"),
    ("INT64", "FP16", "FP16"),
    ("BOOL", "INT32", None),
    ("UINT64", "INT64", None),
    ("UINT64", "INDEX", None),
    ("TASK_ID", "INT64", None),
    ("BOOL", "FP32", None),
]


@pytest.mark.parametrize(("left", "right", "common"), COMMON)
def test_formats_are_brought_together(left, right, common):
    for a, b in ((left, right), (right, left)):
        operands = var("a", DataType[a]), var("b", DataType[b])
        if common is None:
            with pytest.raises(TypeError, match=f"pto.add: .*{a} and {b}"):
                ir.add(*operands)
            continue
        made = ir.add(*operands)
        assert made.dtype is DataType[common]
        for operand, given in zip((made.left, made.right), operands, strict=True):
            assert operand.dtype is DataType[common]
            assert operand.same_as(given) or type(operand) is ir.Cast


CONSTANTS = [
    ("INT8", 127, True),
    ("INT8", -128, True),
    ("INT8", 128, False),
    ("INT4", 8, False),
    ("UINT8", -1, False),
    ("UINT8", 255, True),
    ("UINT8", 256, False),
    ("INDEX", -5, True),
    ("INT64", 2**63 - 1, True),
    ("INT64", 2**63, False),
    ("FP16", 65504, True),
    ("FP16", 65505.0, False),
    ("FP32", 1e39, False),
    ("FP32", math.inf, True),
    ("FP32", math.nan, True),
    ("BF16", 1e38, True),
    ("FP8E4M3FN", 449, False),
]


@pytest.mark.parametrize(("dtype", "number", "fits"), CONSTANTS)
def test_constants_fit_or_are_refused(dtype, number, fits):
    x = var("x", DataType[dtype])
    if fits:
        literal = (x + number).right
        assert literal.dtype is DataType[dtype]
        assert literal.value == number or math.isnan(number)
    else:
        with pytest.raises(ValueError, match="expected"):
            x + number


def test_constants_of_the_wrong_sort():
    with pytest.raises(TypeError, match=r"pto.add: expected a constant for INT32, got .*1.5"):
        X + 1.5
    with pytest.raises(TypeError, match=r"expected a constant for BOOL, got 2"):
        ir.eq(TRUE, 2)
    with pytest.raises(TypeError, match=r"pto.add: .*pto.ScalarType, got pto.TensorType"):
        ir.add(ir.Var("t", ir.TensorType([4], DataType.FP16)), 1)
    with pytest.raises(TypeError, match=r"pto.bit_and: expected integers.*FP32"):
        var("f", DataType.FP32) & 1


def test_literals_take_the_format_of_the_other_operand():
    made = X + ir.ConstInt(3, DataType.INT64, SPAN)
    assert type(made.right) is ir.ConstInt
    assert made.dtype is made.right.dtype is DataType.INT32
    assert made.right.span.same_as(SPAN)
    both = ir.ConstInt(3, DataType.INT8) + ir.ConstInt(3, DataType.INT16)
    assert both.dtype is DataType.INT16
    assert (ir.ConstInt(3, DataType.INT8) + 1).dtype is DataType.INT8
    assert ir.add(1, 2.5).dtype is DataType.FP32


def test_cast():
    assert ir.cast(X, DataType.INT32) is X
    made = ir.cast(X, DataType.FP16, SPAN)
    assert type(made) is ir.Cast
    assert made.dtype is DataType.FP16
    assert type(ir.cast(3, DataType.FP16)) is ir.ConstFloat
    with pytest.raises(ValueError, match="300"):
        ir.cast(300, DataType.INT8)


def test_numbers_of_numpy():
    numpy = pytest.importorskip("numpy")
    literal = (X + numpy.int64(3)).right
    assert literal.value == 3
    assert (var("f", DataType.FP32) * numpy.float32(0.5)).right.value == 0.5


def loop(name="acc", init=None):
    """Sum up the numbers below `n`, which is free."""
    n = var("n")
    i, acc, total = var("i"), ir.IterArg(name, X.type, n if init is None else init), var("total")
    following = var("next")
    body = ir.SeqStmts([ir.AssignStmt(following, acc + i), ir.YieldStmt([following])])
    return ir.ForStmt(i, 0, n, 1, [acc], body, [total]), n


def test_collect_vars():
    made, n = loop()
    assert [v.name_hint for v in ir.collect_def_vars(made)] == ["i", "acc", "next", "total"]
    assert ir.collect_free_vars(made) == [n]
    assert ir.collect_def_vars(X + 1) == []


def test_substitute():
    made, n = loop()
    replaced = ir.substitute_stmt(made, {n: ir.ConstInt(7, DataType.INT32)})
    assert replaced.stop.value == 7
    # The initial value of a carried variable is computed outside of the loop.
    assert replaced.iter_args[0].init_value.value == 7
    assert ir.collect_free_vars(replaced) == []
    # The body uses the carried variable, so the body refers to the new variable.
    assert replaced.body.stmts[0].value.left.same_as(replaced.iter_args[0])
    same = ir.substitute_stmt(made, {X: Y})
    assert same.same_as(made)
    assert ir.structural_equal(ir.substitute_expr(X + X, {X: Y}), Y + Y)
    assert ir.structural_equal(ir.substitute_expr(X * Y, {X: Y + 1, Y: 2}), (Y + 1) * 2)


def test_replacements_are_a_map_or_pairs():
    made, n = loop()
    for var_map in ({n: 7}, [(n, 7)], ([n, 7],)):
        assert ir.substitute_stmt(made, var_map).stop.value == 7
        assert ir.deep_clone(made, var_map).stop.value == 7
    swapped = ir.substitute_expr(X - Y, [(X, Y), (Y, X)])
    assert ir.structural_equal(swapped, Y - X)
    assert ir.substitute_expr(X, []).same_as(X)
    with pytest.raises(ValueError, match=f"'{X.name_hint}' is given twice"):
        ir.substitute_expr(X, [(X, Y), (X, 1)])
    with pytest.raises(TypeError, match=r"substitute_expr.*'var_map'.*pto.Var.*got"):
        ir.substitute_expr(X, [("x", Y)])
    wrong = {
        "(pto.Var)": (X,),
        "(pto.Add, pto.Var)": (X + 1, X),
        "(pto.Var, str)": (X, "y"),
        "int": 3,
    }
    for got, pair in wrong.items():
        message = f"item 1: expected a pair of pto.Var and pto.Expr or a number, got {got}"
        for function in (ir.substitute_expr, ir.deep_clone):
            with pytest.raises(TypeError, match=re.escape(message)):
                function(X, [(Y, X), pair])


def test_substitution_captures_nothing():
    stmt = ir.SeqStmts([ir.AssignStmt(X, 1), ir.EvalStmt(X + Y)])
    replaced = ir.substitute_stmt(stmt, {Y: X})
    assert ir.collect_free_vars(replaced) == [X]


def test_deep_clone():
    made, n = loop()
    clone = ir.deep_clone(made)
    assert ir.structural_equal(made, clone)
    assert not clone.same_as(made)
    defined, cloned = ir.collect_def_vars(made), ir.collect_def_vars(clone)
    assert not set(defined) & set(cloned)
    assert ir.collect_free_vars(clone) == [n]
    other = ir.deep_clone(made, {n: X})
    assert ir.collect_free_vars(other) == [X]
    shared = X + 1
    pair = ir.deep_clone(ir.MakeTuple([shared, shared]))
    assert pair.elements[0].same_as(pair.elements[1])
    assert not pair.elements[0].same_as(shared)


def test_flatten():
    a, b, c = (ir.EvalStmt(number) for number in (1, 2, 3))
    nested = ir.SeqStmts([a, ir.SeqStmts([]), ir.SeqStmts([b, ir.SeqStmts([c])])])
    assert ir.flatten_to_stmts(nested) == [a, b, c]
    assert ir.flatten_to_stmts(a) == [a]


def test_the_yield_that_ends_a_body():
    out, skip = ir.YieldStmt([X]), ir.EvalStmt(1)
    seq = ir.SeqStmts([out, ir.SeqStmts([skip, ir.SeqStmts([out, ir.SeqStmts([])])])])
    for body in (out, seq):
        assert ir.find_yield_stmt(body).same_as(out)
        assert ir.get_last_yield_stmt(body).same_as(out)
    scope = ir.SeqStmts([skip, ir.InCoreScopeStmt(body=ir.ClusterScopeStmt(body=seq))])
    assert ir.find_yield_stmt(scope).same_as(out)
    assert ir.get_last_yield_stmt(scope) is None
    loop = ir.WhileStmt(True, [], out, [])
    after = ir.SeqStmts([out, skip])
    hollow = ir.SeqStmts([out, ir.ClusterScopeStmt(body=ir.SeqStmts([]))])
    for body in (skip, ir.SeqStmts([]), loop, after, hollow):
        assert ir.find_yield_stmt(body) is None
        assert ir.get_last_yield_stmt(body) is None


def test_files(tmp_path):
    made, _ = loop()
    path = tmp_path / "loop.bin"
    ir.serialize_to_file(made, path)
    read = ir.deserialize_from_file(str(path))
    assert ir.structural_equal(made, read, enable_auto_mapping=True)
    shared = X + 1
    read = ir.deserialize(ir.serialize(ir.MakeTuple([shared, shared])))
    assert read.elements[0].same_as(read.elements[1])
    with pytest.raises(OSError, match="missing"):
        ir.deserialize_from_file(tmp_path / "missing.bin")
    with pytest.raises(ValueError, match="binary form"):
        ir.deserialize(b"nonsense")
    from isoform import serialization

    with pytest.raises(TypeError, match="expected the bytes of a node"):
        ir.deserialize(serialization.to_bytes([1]))


def test_the_message_says_where_and_why():
    made, n = loop()
    changed = ir.substitute_stmt(made, {n: ir.ConstInt(7, DataType.INT32)})
    with pytest.raises(ValueError, match="stop") as caught:
        ir.assert_structural_equal(made, changed)
    text = str(caught.value)
    assert "pto.ConstInt" in text
    assert "pto.Var" in text
    assert "^" in text
    with pytest.raises(ValueError, match="paired"):
        ir.assert_structural_equal(X + X, X + Y, enable_auto_mapping=True)
    assert ir.assert_structural_equal(made, made) is None
