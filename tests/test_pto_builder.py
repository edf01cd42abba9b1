"""Programs of the statement dialect built with context managers."""

import pytest

from isoform.pto import DataType, ir

INT = ir.ScalarType(DataType.INT64)


def test_a_function_with_a_loop_equals_the_one_made_by_constructors():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        n = f.param("n", INT)
        f.return_type(INT)
        i = ib.var("i", INT)
        with ib.for_loop(i, 0, n, 1) as loop:
            acc = loop.iter_arg("acc", 0)
            out = loop.return_var("out")
            ib.yield_(ib.let("next", acc + i))
        ib.return_(out)
    span = ir.Span.unknown()
    n, i, nxt, out = (ir.Var(name, INT, span) for name in "abcd")
    acc = ir.IterArg("e", INT, ir.ConstInt(0, DataType.INT64, span), span)
    body = ir.SeqStmts([ir.AssignStmt(nxt, acc + i), ir.YieldStmt([nxt])])
    loop = ir.ForStmt(i, 0, n, 1, [acc], body, [out])
    made = ir.Function("g", [n], [INT], ir.SeqStmts([loop, ir.ReturnStmt([out])]))
    ir.assert_structural_equal(f.get_result(), made)
    assert ir.verify(f.get_result()) == []


def test_a_result_that_there_is_not_is_refused():
    ib = ir.IRBuilder()
    with ib.function("f"), ib.for_loop(ib.var("i", INT), 0, 9) as loop:
        acc = loop.iter_arg("acc", 0)
        loop.return_var("out")
        with pytest.raises(IndexError, match=r"output\(1\): there is 1 result, made with"):
            loop.output(1)
        assert loop.output(-1) is loop.output()
        ib.yield_(acc)


def test_branches_and_while_loops():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        c = f.param("c", ir.ScalarType(DataType.BOOL))
        with ib.while_loop() as loop:
            count = loop.iter_arg("count", 0)
            loop.set_condition(count < 3)
            total = loop.return_var("total")
            with ib.if_stmt(c) as branch:
                branch.return_var("step", INT)
                ib.yield_(1)
                assert branch.else_() is branch
                ib.yield_([2])
            ib.yield_(count + branch.output())
        with ib.while_loop(c):
            with ib.if_stmt(c):
                ib.break_()
            ib.continue_()
        ib.eval(total)
        ib.assign(ib.var("x", INT), 5)
    function = f.get_result()
    assert ir.verify(function) == []
    assert ir.python_print(function) == (
        "@pl.function\n"
        "def f(c: pl.BOOL):\n"
        "    for (count,) in pl.while_(init_values=(0,)):  # count: pl.INT64\n"
        "        pl.cond(count < 3)\n"
        "        if c:\n"
        "            step: pl.INT64 = pl.yield_(1)\n"
        "        else:\n"
        "            step = pl.yield_(2)\n"
        "        total: pl.INT64 = pl.yield_(count + step)\n"
        "    while c:\n"
        "        if c:\n"
        "            break\n"
        "        continue\n"
        "    total\n"
        "    x: pl.INT64 = 5\n"
    )


def test_scopes():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        with ib.in_core_scope(ir.SplitMode.UP_DOWN, name_hint="core") as scope:
            ib.eval(ir.ConstInt(1, DataType.INT64))
        with ib.cluster_scope(), ib.hierarchy_scope(ir.Level.HOST, ir.Role.SubWorker):
            pass
        with ib.spmd_scope(8, sync_start=True), ib.runtime_scope(manual=True):
            pass
    assert isinstance(scope.get_result(), ir.InCoreScopeStmt)
    assert ir.python_print(f.get_result()) == (
        "@pl.function\n"
        "def f():\n"
        '    with pl.incore(split=pl.SplitMode.UP_DOWN, name_hint="core"):\n'
        "        1\n"
        "    with pl.cluster():\n"
        "        with pl.at(level=pl.Level.HOST, role=pl.Role.SubWorker):\n"
        "            pass\n"
        "    with pl.spmd(core_num=8, sync_start=True):\n"
        "        with pl.runtime(manual=True):\n"
        "            pass\n"
    )


def test_programs():
    ib = ir.IRBuilder()
    with ib.program("p") as p:
        callee = p.declare_function("callee")
        assert p.get_global_var("callee").same_as(callee)
        with ib.function("caller") as f:
            ib.eval(ir.Call(callee, []))
        p.add_function(f.get_result())
        with ib.function("callee", attrs={"note": 1}) as g:
            pass
        p.add_function(g.get_result())
        with pytest.raises(ValueError, match="two functions 'callee'"):
            p.add_function(g.get_result())
    program = p.get_result()
    assert program.name == "p"
    assert program.get_function("callee").attrs["note"] == 1
    assert ir.verify(program) == []


def test_a_declared_function_must_be_added():
    with (
        pytest.raises(ValueError, match="'f' was declared and not added"),
        ir.IRBuilder().program("p") as p,
    ):
        p.declare_function("f")
    with pytest.raises(ValueError, match="got 'g'"):
        ir.ProgramBuilder("p").get_global_var("g")


def test_nodes_have_the_place_of_the_line_that_made_them():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        x = ib.let("x", 1)
        ib.return_(x, span=ir.Span("other.py", 7, 3))
    function = f.get_result()
    let, returned = function.body.stmts
    assert let.span.filename == __file__ == x.span.filename == function.span.filename
    assert let.span.begin_line == function.span.begin_line + 1
    assert returned.span.to_string() == "other.py:7:3"


def test_variables_have_the_type_that_is_given():
    ib = ir.IRBuilder()
    with ib.function("f"), ib.for_loop("i", 0, 8) as loop:
        acc = loop.iter_arg("acc", 0, type=ir.ScalarType(DataType.INDEX))
        total = loop.return_var("total")
        assert ib.let("x", 1, type=INT).type == INT
        ib.yield_(acc)
    assert acc.type == total.type == ir.ScalarType(DataType.INDEX)
    assert acc.span.filename == __file__


def test_memory_views_and_types():
    ib = ir.IRBuilder()
    n = ib.var("n", DataType.INDEX)
    memref = ib.memref(ir.MemorySpace.Vec, 64, 1024, 3)
    assert (memref.name_hint, memref.byte_offset.value, memref.size) == ("mem_vec_3", 64, 1024)
    assert memref.span.filename == __file__
    view = ib.tensor_view([n, 1], ir.TensorLayout.DN)
    assert view == ir.TensorView([n, 1], ir.TensorLayout.DN)
    assert view.stride[1].span.filename == __file__
    assert ib.tensor_type([8, n], DataType.FP16, None, view) == ir.TensorType(
        [8, n], DataType.FP16, None, view
    )
    tile_view = ib.tile_view([8, n], [n, 1], 0, pad=ir.PadValue.zero)
    assert tile_view == ir.TileView([8, n], [n, 1], 0, pad=ir.PadValue.zero)
    assert ib.tile_view() == ir.TileView()
    assert ib.tensor_view() == ir.TensorView()
    place = ir.Span("other.py", 7, 3)
    made = ib.tile_type([8, n], DataType.FP16, memref, tile_view, ir.MemorySpace.Vec, place)
    assert made == ir.TileType([8, n], DataType.FP16, memref, tile_view, ir.MemorySpace.Vec)
    assert made.shape[0].span.same_as(place)
    with pytest.raises(TypeError, match=r"pto.TileView.*colour"):
        ib.tile_view(colour=1)


def in_function(body):
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        body(ib, f)


def two_else(ib, f):
    with ib.if_stmt(True) as branch:
        branch.else_()
        branch.else_()


def param_in_loop(ib, f):
    with ib.for_loop("i", 0, 8):
        f.param("x", INT)


MISUSES = {
    "let outside of a function": (lambda: ir.IRBuilder().let("x", 1), "nothing open"),
    "two else": (lambda: in_function(two_else), "else: expected one"),
    "parameter in a loop": (lambda: in_function(param_in_loop), "param: expected a function"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuse_is_an_error(name):
    make, expected = MISUSES[name]
    with pytest.raises(ValueError, match=expected):
        make()


def test_results_are_there_after_the_block_only():
    ib = ir.IRBuilder()
    with ib.function("f") as f, pytest.raises(RuntimeError, match="no result before the end"):
        f.get_result()
    with pytest.raises(RuntimeError, match="not open"):
        f.param("x", INT)
    with pytest.raises(RuntimeError, match="entered once"), f:
        pass


def test_a_part_that_fails_is_left_out():
    ib = ir.IRBuilder()
    with ib.function("f") as f:
        with pytest.raises(LookupError), ib.for_loop("i", 0, 8), ib.if_stmt(True):
            raise LookupError
        assert ib.in_function() and not ib.in_loop() and not ib.in_if()
        ib.eval(ir.ConstInt(1, DataType.INT64))
    assert isinstance(f.get_result().body, ir.EvalStmt)


def test_calls_have_the_types_of_the_results_of_known_functions():
    int64 = ir.ScalarType(DataType.INT64)
    ib = ir.IRBuilder()

    def types(name):
        called = ir.GlobalVar(name)
        x = ib.let("x", ir.Call(called, []))
        ib.eval(ir.Call(called, []))
        return x.type

    with ib.program("p") as p:
        pair = ir.Function("pair", [], [int64, int64], ir.SeqStmts([]))
        p.add_function(pair)
        p.add_function(ir.Function("nothing", [], [], ir.SeqStmts([])))
        with ib.function("one") as f:
            f.return_type(int64)
            assert types("one") == int64  # A function may call itself.
            ib.return_(ir.ConstInt(1, DataType.INT64))
        p.add_function(f.get_result())
        with ib.function("main") as f:
            assert types("one") == int64
            assert types("pair") == ir.TupleType([int64, int64])
            assert isinstance(types("nothing"), ir.UnknownType)
            assert isinstance(types("other"), ir.UnknownType)
            given = ir.Call(ir.GlobalVar("one"), [], ir.ScalarType(DataType.FP32))
            assert ib.let("given", given).type == ir.ScalarType(DataType.FP32)
            f.return_type(int64)
            ib.return_(ir.Call(ir.GlobalVar("one"), []))
        p.add_function(f.get_result())
    body = p.get_result().get_function("main").body
    assert body.stmts[-1].value[0].type == int64
