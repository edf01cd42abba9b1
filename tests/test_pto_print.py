"""Programs of the statement dialect in text that reads like Python."""

import ast

import pytest

from isoform.pto import DataType, ir

INT = ir.ScalarType(DataType.INT64)


def names(text):
    return [ir.Var(name, INT) for name in text.split()]


X, Y = names("x y")

EXPRESSIONS = {
    "x + y + x": lambda: X + Y + X,
    "x + (y + x)": lambda: X + (Y + X),
    "(x + y) * x": lambda: (X + Y) * X,
    "x - -y": lambda: X - (-Y),
    "x // (y * x)": lambda: X // (Y * X),
    "pl.min(x, y)": lambda: ir.min_(X, Y),
    "~x & y | x ^ y": lambda: ir.bit_or(ir.bit_and(ir.bit_not(X), Y), ir.bit_xor(X, Y)),
    "x << 2 >> y": lambda: ir.bit_shift_right(ir.bit_shift_left(X, 2), Y),
    "pl.cast(x, pl.FP32)": lambda: ir.cast(X, DataType.FP32),
    "(x, y)": lambda: ir.MakeTuple([X, Y]),
    "pl.tile.load(x, valid=True)": lambda: ir.Call(
        ir.Op("tile.load"), [X], {"valid": True}, ir.Span.unknown()
    ),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_read_like_those_of_python(text):
    printed = ir.python_print(EXPRESSIONS[text]())
    assert printed == text
    ast.parse(printed)


def matmul():
    shape = [ir.ConstInt(64, DataType.INDEX), ir.ConstInt(64, DataType.INDEX)]
    tensor = ir.TensorType(shape, DataType.FP32)
    ib = ir.IRBuilder()
    with ib.function("matmul", type=ir.FunctionType.InCore) as f:
        a = f.param("a", tensor)
        f.param("out", tensor, ir.ParamDirection.Out)
        f.return_type(tensor)
        with ib.for_loop("i", 0, 4, kind=ir.ForKind.Parallel) as loop:
            acc = loop.iter_arg("acc", a)
            loop.return_var("result")
            call = ir.Call(ir.Op("matmul_acc"), [acc, loop.loop_var], tensor, ir.Span.unknown())
            ib.yield_(ib.let("next", call))
        ib.return_(loop.output())
    return ir.Program([f.get_result()], "kernel", ir.Span.unknown())


def test_a_program_is_python():
    text = ir.python_print(matmul())
    assert text == (
        "@pl.program\n"
        "class kernel:\n"
        "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, "
        "role=pl.Role.SubWorker)\n"
        "    def matmul(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]])"
        " -> pl.Tensor[[64, 64], pl.FP32]:\n"
        "        for i, (acc,) in pl.parallel(0, 4, 1, init_values=(a,)):"
        "  # acc: pl.Tensor[[64, 64], pl.FP32]\n"
        "            next: pl.Tensor[[64, 64], pl.FP32] = pl.matmul_acc(acc, i)\n"
        "            result: pl.Tensor[[64, 64], pl.FP32] = pl.yield_(next)\n"
        "        return result\n"
    )
    ast.parse(text)


def test_options():
    stmt = ir.AssignStmt(X, ir.ConstInt(1, DataType.INT64), ir.Span("a.py", 3, 5))
    assert ir.python_print(stmt, "t") == "x: t.INT64 = 1\n"
    assert ir.python_print(stmt, prefix="") == "x: INT64 = 1\n"
    assert ir.python_print(stmt, spans=True) == "x: pl.INT64 = 1  # a.py:3:5\n"


def test_concise_text_has_the_types_of_parameters_only():
    text = ir.python_print(matmul(), concise=True)
    assert "a: pl.Tensor[[64, 64], pl.FP32]" in text
    assert "next = pl.matmul_acc(acc, i)\n" in text
    assert "init_values=(a,)):\n" in text
    assert ir.python_print(ir.AssignStmt(X, X + 1), concise=True) == "x = x + 1\n"


def test_layouts_can_be_written_out():
    tile = ir.TileType([16, 8], DataType.FP32, None, None, ir.MemorySpace.Mat)
    assert "TileView" not in ir.python_print(tile)
    text = ir.python_print(tile, explicit_layout=True)
    assert "pl.TileView(valid_shape=[16, 8], blayout=pl.TileLayout.col_major" in text, text
    tensor = ir.TensorType([16], DataType.FP32)
    text = ir.python_print(tensor, explicit_layout=True)
    assert "pl.TensorView(stride=[], layout=pl.TensorLayout.ND)" in text, text


def test_text_can_be_formatted():
    pytest.importorskip("ruff")
    text = ir.python_print(matmul(), format=True)
    assert max(map(len, text.splitlines())) <= 88
    assert "    def matmul(\n" in text
    assert ir.python_print(X + 1, format=True) == "x + 1"


def test_nodes_and_types_are_their_text():
    for node in (matmul(), X, X + 1, ir.AssignStmt(X, 1), X.type):
        assert str(node) == f"{node}" == ir.python_print(node)


def test_memory_references_and_views_are_shown():
    base = ir.Var("buffer", ir.PtrType())
    memory = ir.MemRef(base, 128, 4096)
    tile = ir.TileType([64, 16], DataType.FP32, memory, None, ir.MemorySpace.Vec)
    text = ir.python_print(tile)
    assert "128" in text and "4096" in text and "pl.MemorySpace.Vec" in text, text
    view = ir.TensorView([ir.ConstInt(1, DataType.INDEX)], ir.TensorLayout.DN)
    text = ir.python_print(ir.TensorType([8], DataType.FP32, None, view))
    assert "pl.TensorView(stride=[1], layout=pl.TensorLayout.DN)" in text, text


def test_other_values_have_no_text():
    with pytest.raises(TypeError, match="got str"):
        ir.python_print("x")
