"""Every class of the statement dialect, with all ways to make an object.

`CHECKLIST` is the acceptance list; a name of it without a test fails.
"""

import copy
import pickle

import pytest

from isoform.dataclasses import replace
from isoform.pto import DataType, ir

SPAN = ir.Span("kernel.py", 3, 5, 3, 9)
INT = ir.ScalarType(DataType.INT64)
X = ir.Var("x", INT, SPAN)
Y = ir.Var("y", INT, SPAN)
BODY = ir.EvalStmt(X, SPAN)
BASE = ir.Var("base", ir.PtrType())

BINARY = [
    "Add",
    "Sub",
    "Mul",
    "FloorDiv",
    "FloorMod",
    "FloatDiv",
    "Min",
    "Max",
    "Pow",
    "Eq",
    "Ne",
    "Lt",
    "Le",
    "Gt",
    "Ge",
    "And",
    "Or",
    "Xor",
    "BitAnd",
    "BitOr",
    "BitXor",
    "BitShiftLeft",
    "BitShiftRight",
]
UNARY = ["Abs", "Neg", "Not", "BitNot", "Cast"]

CHECKLIST = {
    "Span", "Op", "GlobalVar", "IRNode", "Expr", "Type", "UnknownType", "ScalarType",
    "ShapedType", "TensorView", "TensorType", "TileView", "TileType", "ArrayType", "TupleType",
    "PtrType", "MemRef", "Var", "IterArg", "ConstInt", "ConstFloat", "ConstBool", "Call",
    "MakeTuple", "TupleGetItemExpr", "BinaryExpr", *BINARY, "UnaryExpr", *UNARY, "Stmt",
    "AssignStmt", "IfStmt", "YieldStmt", "ReturnStmt", "ForStmt", "WhileStmt", "ScopeStmt",
    "InCoreScopeStmt", "ClusterScopeStmt", "HierarchyScopeStmt", "SpmdScopeStmt",
    "RuntimeScopeStmt", "SeqStmts", "EvalStmt", "BreakStmt", "ContinueStmt", "InlineStmt",
    "Function", "Program",
}  # fmt: skip

# Members of the objects of a class besides their fields.
MEMBERS = {
    "Span": "is_valid to_string unknown",
    "Op": "get_attr get_attr_keys has_attr",
    "IRNode": "as_python same_as",
    "UnknownType": "get",
    "ShapedType": "memory_space shares_memref_with",
    "TileType": "get_effective_tile_view",
    "ArrayType": "extent",
    "PtrType": "get",
    "MemRef": "may_alias same_allocation",
    "ConstInt": "dtype",
    "ConstFloat": "dtype",
    "ConstBool": "dtype",
    "Call": "arg_directions attrs",
    "Program": "get_function get_global_var",
    "ProgramBuilder": "add_function declare_function get_global_var get_result",
}

ABSTRACT = {"IRNode", "Expr", "Type", "ShapedType", "BinaryExpr", "UnaryExpr", "ScopeStmt"}

# By class and overload: the constructor call, and the resulting fields.
MADE = {
    "Span": (lambda: ir.Span("a.py", 1, 2, 3, 4), {"filename": "a.py", "end_column": 4}),
    "Span short": (lambda: ir.Span("a.py", 1, 2), {"end_line": -1, "end_column": -1}),
    "Op": (lambda: ir.Op("tile.add"), {"name": "tile.add"}),
    "GlobalVar": (lambda: ir.GlobalVar("main"), {"name": "main"}),
    "UnknownType": (lambda: ir.UnknownType(), {}),
    "PtrType": (lambda: ir.PtrType(), {}),
    "ScalarType": (lambda: ir.ScalarType(DataType.BF16), {"dtype": DataType.BF16}),
    "TensorView": (lambda: ir.TensorView(), {"layout": ir.TensorLayout.ND, "stride": []}),
    "TensorView fields": (
        lambda: ir.TensorView([Y, 1], ir.TensorLayout.DN, [X], ir.PadValue.zero),
        {"layout": ir.TensorLayout.DN, "pad": ir.PadValue.zero, "valid_shape": [X]},
    ),
    "TensorType": (lambda: ir.TensorType([X, Y], DataType.FP32), {"shape": [X, Y], "memref": None}),
    "TensorType memref": (
        lambda: ir.TensorType([X], DataType.FP32, ir.MemRef("m")),
        {"tensor_view": None},
    ),
    "TensorType view": (
        lambda: ir.TensorType([X], DataType.FP32, None, ir.TensorView([1], ir.TensorLayout.NZ)),
        {"memref": None},
    ),
    "TileView": (
        lambda: ir.TileView(),
        {"blayout": ir.TileLayout.row_major, "slayout": ir.TileLayout.none_box, "fractal": 512},
    ),
    "TileView fields": (
        lambda: ir.TileView(
            [16, X],
            [X, 1],
            Y,
            ir.TileLayout.col_major,
            ir.TileLayout.row_major,
            1024,
            ir.PadValue.min,
            ir.CompactMode.normal,
        ),
        {"start_offset": Y, "fractal": 1024, "compact": ir.CompactMode.normal},
    ),
    "TileType": (lambda: ir.TileType([X], DataType.FP16), {"tile_view": None}),
    "TileType memref": (lambda: ir.TileType([X], DataType.FP16, None), {"memref": None}),
    "TileType all": (
        lambda: ir.TileType([X], DataType.FP16, None, ir.TileView(), ir.MemorySpace.Mat),
        {"memory_space": ir.MemorySpace.Mat},
    ),
    "ArrayType": (lambda: ir.ArrayType(DataType.INT8, X), {"extent": X}),
    "ArrayType int": (lambda: ir.ArrayType(DataType.INT8, 4), {"dtype": DataType.INT8}),
    "TupleType": (lambda: ir.TupleType([INT, ir.PtrType()]), {}),
    "MemRef": (lambda: ir.MemRef(), {"base": None, "slots": 1}),
    "MemRef span": (lambda: ir.MemRef(SPAN, slots=2), {"span": SPAN, "slots": 2}),
    "MemRef name": (lambda: ir.MemRef("m", SPAN, slots=2), {"name_hint": "m", "span": SPAN}),
    "MemRef base": (
        lambda: ir.MemRef(BASE, 64, 1024, SPAN, is_pinned=True, slots=2, slot=X),
        {"base": BASE, "size": 1024, "is_pinned": True, "slot": X},
    ),
    "MemRef offset": (lambda: ir.MemRef(BASE, X, 64, SPAN), {"byte_offset": X, "span": SPAN}),
    "MemRef space": (
        lambda: ir.MemRef(ir.MemorySpace.Vec, X, 64, 3, SPAN),
        {"name_hint": "mem_vec_3", "byte_offset": X, "size": 64, "span": SPAN, "slots": 1},
    ),
    "MemRef base name": (lambda: ir.MemRef("b", X, 64, SPAN), {"name_hint": "b", "span": SPAN}),
    "Var": (lambda: ir.Var("v", INT, SPAN), {"name_hint": "v", "type": INT, "span": SPAN}),
    "IterArg": (lambda: ir.IterArg("v", INT, X, SPAN), {"initValue": X, "init_value": X}),
    "IterArg named": (lambda: ir.IterArg("v", INT, initValue=X, span=SPAN), {"init_value": X}),
    "ConstInt": (lambda: ir.ConstInt(-3, DataType.INT8, SPAN), {"dtype": DataType.INT8}),
    "ConstFloat": (lambda: ir.ConstFloat(0.5, DataType.FP16, SPAN), {"value": 0.5}),
    "ConstBool": (lambda: ir.ConstBool(True, SPAN), {"value": True, "dtype": DataType.BOOL}),
    "Call": (lambda: ir.Call(ir.Op("f"), [X], SPAN), {"span": SPAN, "args": [X]}),
    "Call type": (lambda: ir.Call(ir.Op("f"), [X], INT, SPAN), {"type": INT, "span": SPAN}),
    "Call kwargs": (
        lambda: ir.Call(ir.Op("f"), [X], {"a": 1, "t": DataType.FP16, "s": "x"}, SPAN),
        {"kwargs": {"a": 1, "t": DataType.FP16, "s": "x"}, "span": SPAN, "attrs": {}},
    ),
    "Call named": (
        lambda: ir.Call(op=ir.GlobalVar("f"), args=[], kwargs={}, type=INT, span=SPAN),
        {"type": INT, "arg_directions": []},
    ),
    "MakeTuple": (lambda: ir.MakeTuple([X, Y], SPAN), {"elements": [X, Y]}),
    "TupleGetItemExpr": (
        lambda: ir.TupleGetItemExpr(ir.MakeTuple([X, Y]), 1, SPAN),
        {"index": 1, "type": INT},
    ),
    **{
        name: (
            lambda name=name: getattr(ir, name)(X, Y, DataType.INT64, SPAN),
            {"left": X, "right": Y, "dtype": DataType.INT64, "span": SPAN},
        )
        for name in BINARY
    },
    **{
        name: (
            lambda name=name: getattr(ir, name)(X, DataType.INT64, SPAN),
            {"operand": X, "dtype": DataType.INT64, "span": SPAN},
        )
        for name in UNARY
    },
    "Stmt": (lambda: ir.Stmt(SPAN), {"span": SPAN}),
    "AssignStmt": (lambda: ir.AssignStmt(X, Y, SPAN), {"var": X, "value": Y}),
    "IfStmt": (
        lambda: ir.IfStmt(ir.ConstBool(True), BODY, None, [X], SPAN),
        {"else_body": None, "return_vars": [X]},
    ),
    "IfStmt else": (lambda: ir.IfStmt(X, BODY, BODY, [], SPAN), {"else_body": BODY}),
    "YieldStmt": (lambda: ir.YieldStmt([X], SPAN), {"value": [X], "span": SPAN}),
    "YieldStmt empty": (lambda: ir.YieldStmt(SPAN), {"value": [], "span": SPAN}),
    "ReturnStmt": (lambda: ir.ReturnStmt([X], SPAN), {"value": [X], "span": SPAN}),
    "ReturnStmt empty": (lambda: ir.ReturnStmt(SPAN), {"value": [], "span": SPAN}),
    "ForStmt": (
        lambda: ir.ForStmt(X, Y, Y, Y, [], BODY, [], SPAN),
        {"kind": ir.ForKind.Sequential, "attrs": {}, "span": SPAN},
    ),
    "ForStmt kind": (
        lambda: ir.ForStmt(X, Y, Y, Y, [], BODY, [], SPAN, ir.ForKind.Parallel, {"a": [1]}),
        {"kind": ir.ForKind.Parallel},
    ),
    "ForStmt pairs": (
        lambda: ir.ForStmt(X, Y, Y, Y, [], BODY, [], SPAN, attrs=[("a", 1), ("b", "c")]),
        {"attrs": {"a": 1, "b": "c"}},
    ),
    "WhileStmt": (lambda: ir.WhileStmt(X, [], BODY, [Y], SPAN), {"return_vars": [Y]}),
    "InCoreScopeStmt": (
        lambda: ir.InCoreScopeStmt(ir.SplitMode.UP_DOWN, "core", body=BODY, span=SPAN),
        {"split": ir.SplitMode.UP_DOWN, "name_hint": "core", "scope_kind": ir.ScopeKind.InCore},
    ),
    "ClusterScopeStmt": (
        lambda: ir.ClusterScopeStmt("c", body=BODY, span=SPAN),
        {"name_hint": "c", "scope_kind": ir.ScopeKind.Cluster},
    ),
    "HierarchyScopeStmt": (
        lambda: ir.HierarchyScopeStmt(ir.Level.POD, ir.Role.SubWorker, body=BODY, span=SPAN),
        {"level": ir.Level.CLUSTER_0, "role": ir.Role.SubWorker},
    ),
    "SpmdScopeStmt": (
        lambda: ir.SpmdScopeStmt(X, True, body=BODY, span=SPAN),
        {"core_num": X, "sync_start": True, "scope_kind": ir.ScopeKind.Spmd},
    ),
    "SpmdScopeStmt int": (lambda: ir.SpmdScopeStmt(8, body=BODY, span=SPAN), {"sync_start": False}),
    "RuntimeScopeStmt": (
        lambda: ir.RuntimeScopeStmt(True, body=BODY, span=SPAN),
        {"manual": True, "scope_kind": ir.ScopeKind.Runtime},
    ),
    "SeqStmts": (lambda: ir.SeqStmts([BODY, BODY], SPAN), {"stmts": [BODY, BODY]}),
    "EvalStmt": (lambda: ir.EvalStmt(X, SPAN), {"expr": X}),
    "BreakStmt": (lambda: ir.BreakStmt(SPAN), {"span": SPAN}),
    "ContinueStmt": (lambda: ir.ContinueStmt(SPAN), {"span": SPAN}),
    "InlineStmt": (
        lambda: ir.InlineStmt("x += 1;", ir.InlineLanguage.Cpp, SPAN),
        {"body": "x += 1;", "language": ir.InlineLanguage.Cpp},
    ),
    "Function": (
        lambda: ir.Function("f", [X, (Y, ir.ParamDirection.Out)], [INT], BODY, SPAN),
        {
            "params": [X, Y],
            "param_directions": [ir.ParamDirection.In, ir.ParamDirection.Out],
            "type": ir.FunctionType.Opaque,
            "func_type": ir.FunctionType.Opaque,
            "level": None,
        },
    ),
    "Function all": (
        lambda: ir.Function(
            "f",
            [],
            [],
            BODY,
            SPAN,
            ir.FunctionType.AIC,
            ir.Level.CHIP,
            ir.Role.Orchestrator,
            {"a": 1},
            requires_runtime_binding=True,
        ),
        {"role": ir.Role.Orchestrator, "attrs": {"a": 1}, "requires_runtime_binding": True},
    ),
    "Program": (
        lambda: ir.Program([ir.Function("f", [], [], BODY)], "p", SPAN),
        {"name": "p", "span": SPAN},
    ),
}


def plain(value):
    """Converts containers of the core to containers of Python."""
    if hasattr(value, "items"):
        return {key: plain(item) for key, item in value.items()}
    is_sequence = hasattr(value, "__getitem__") and not isinstance(value, str)
    return list(value) if is_sequence and not isinstance(value, ir.Program | ir.MemRef) else value


def test_the_list_is_complete():
    tested = {name.split()[0] for name in MADE} | ABSTRACT
    assert sorted(CHECKLIST - tested) == []
    assert all(hasattr(ir, name) for name in CHECKLIST)
    assert set(ir.__all__) >= CHECKLIST


@pytest.mark.parametrize("name", MADE)
def test_made(name):
    make, expected = MADE[name]
    node = make()
    assert type(node) is getattr(ir, name.split()[0])
    for field, value in expected.items():
        assert plain(getattr(node, field)) == value, field


@pytest.mark.parametrize("name", MADE)
def test_survives_files_and_copies(name):
    node = MADE[name][0]()
    mapped = True
    assert ir.structural_equal(node, MADE[name][0](), mapped)
    assert ir.structural_hash(node, mapped) == ir.structural_hash(MADE[name][0](), mapped)
    assert ir.structural_equal(node, ir.deserialize(ir.serialize(node)), mapped)
    assert ir.structural_equal(node, pickle.loads(pickle.dumps(node)), mapped)
    assert ir.structural_equal(node, copy.deepcopy(node), mapped)


@pytest.mark.parametrize("name", sorted(ABSTRACT))
def test_bases_are_not_made(name):
    with pytest.raises(TypeError, match=name):
        getattr(ir, name)()


BASES = {
    "GlobalVar": "Op",
    "Expr": "IRNode",
    "Stmt": "IRNode",
    "Function": "IRNode",
    "Program": "IRNode",
    "MemRef": "Var",
    "IterArg": "Var",
    "Var": "Expr",
    "Call": "Expr",
    "TensorType": "ShapedType",
    "TileType": "ShapedType",
    "ArrayType": "ShapedType",
    "ShapedType": "Type",
    "PtrType": "Type",
    "InCoreScopeStmt": "ScopeStmt",
    "ScopeStmt": "Stmt",
    **dict.fromkeys(BINARY, "BinaryExpr"),
    **dict.fromkeys(UNARY, "UnaryExpr"),
}


@pytest.mark.parametrize("name", BASES)
def test_bases(name):
    assert issubclass(getattr(ir, name), getattr(ir, BASES[name]))


class TestErrors:
    """Messages name the class, the argument, the expected and the actual value."""

    def test_operand(self):
        with pytest.raises(TypeError, match=r"pto.Add.*'left'.*pto.Expr.*str"):
            ir.Add("x", X, DataType.INT64, SPAN)

    def test_dtype(self):
        with pytest.raises((TypeError, ValueError), match=r"ConstInt.*'dtype'.*int77"):
            ir.ConstInt(1, "int77")

    def test_overload(self):
        with pytest.raises(TypeError, match=r"pto.Call.*'type'.*pto.Span"):
            ir.Call(ir.Op("f"), [], SPAN, SPAN)
        with pytest.raises(TypeError, match=r"pto.Call.*'kwargs'.*int"):
            ir.Call(ir.Op("f"), [], 5)

    def test_keyword_only(self):
        with pytest.raises(TypeError, match=r"InCoreScopeStmt.*positional"):
            ir.InCoreScopeStmt(ir.SplitMode.NONE, "", BODY)
        with pytest.raises(TypeError, match=r"InCoreScopeStmt.*missing.*'body'"):
            ir.InCoreScopeStmt(ir.SplitMode.NONE, "")

    def test_tuple_item(self):
        with pytest.raises(TypeError, match=r"TupleGetItemExpr.tuple.*pto.ScalarType"):
            ir.TupleGetItemExpr(X, 0)
        with pytest.raises(ValueError, match=r"TupleGetItemExpr.index.*tuple of 1, got -1"):
            ir.TupleGetItemExpr(ir.MakeTuple([X]), -1)

    def test_memref(self):
        with pytest.raises(TypeError, match=r"pto.MemRef.*byte_offset and size"):
            ir.MemRef(BASE, 5)
        with pytest.raises(TypeError, match=r"pto.MemRef.*base"):
            ir.MemRef("m", size=3)
        with pytest.raises(ValueError, match=r"pto.MemRef.*'slots'.*got 0"):
            ir.MemRef("m", slots=0)
        with pytest.raises(ValueError, match=r"pto.MemRef.*-1"):
            ir.MemRef(BASE, -1, 4)

    def test_memref_of_a_space(self):
        with pytest.raises(TypeError, match=r"pto.MemRef.*'id' after a memory space, got None"):
            ir.MemRef(ir.MemorySpace.Vec, 0, 64)
        with pytest.raises(TypeError, match=r"pto.MemRef.*'span'.*pto.Span, got int"):
            ir.MemRef("m", 0, 64, 3)
        with pytest.raises(TypeError, match=r"pto.MemRef.*'byte_offset'.*int or pto.Expr, got str"):
            ir.MemRef(BASE, "x", 64)
        with pytest.raises(TypeError, match=r"pto.MemRef.*Span: given twice"):
            ir.MemRef("m", SPAN, 1, SPAN)

    def test_slots_of_a_memref(self):
        memref = ir.MemRef("m", slots=2)
        for slot in (2, -1):
            with pytest.raises(ValueError, match=rf"pto.MemRef.*slot from 0 to 1, got {slot}"):
                memref[slot]
        with pytest.raises(ValueError, match=r"pto.MemRef.*separate allocation.*'base'"):
            ir.MemRef(BASE, 0, 4)[0]
        with pytest.raises(TypeError, match="not iterable"):
            list(memref)

    def test_program(self):
        f = ir.Function("f", [], [], BODY)
        with pytest.raises(ValueError, match=r"pto.Program.functions.*'f'"):
            ir.Program([f, f], "p")
        with pytest.raises(ValueError, match=r"pto.Program.functions.*names"):
            ir.Program([ir.Function("", [], [], BODY)], "p")

    def test_parameter(self):
        with pytest.raises(TypeError, match=r"pto.Function.*'params'"):
            ir.Function("f", [(X, 7.5)], [], BODY)

    def test_attrs_twice(self):
        with pytest.raises(ValueError, match="'a' is given twice"):
            ir.ForStmt(X, 0, 1, 1, [], BODY, [], attrs=[("a", 1), ("a", 2)])


class TestMembers:
    """Members besides the fields."""

    def test_span(self):
        assert ir.Span("a", 1, 1).is_valid()
        assert ir.Span("a", 1, 5, 2, 1).is_valid()
        assert not ir.Span("a", 2, 1, 1, 1).is_valid()
        assert not ir.Span.unknown().is_valid()
        assert ir.Span("a.py", 1, 5).to_string() == str(ir.Span("a.py", 1, 5)) == "a.py:1:5"
        assert ir.Stmt().span.same_as(ir.Span.unknown())

    def test_op(self):
        from isoform.ir import register_op_attr

        register_op_attr("pto.test.op", "pipe", ir.PipeType.MTE2)
        register_op_attr("pto.test.op", "cost", 3)
        op = ir.Op("pto.test.op")
        assert op.get_attr("pipe") is ir.PipeType.MTE2
        assert op.has_attr("cost")
        assert not op.has_attr("other")
        assert list(op.get_attr_keys()) == ["cost", "pipe"]
        assert list(ir.Op("pto.test.unheard").get_attr_keys()) == []
        with pytest.raises(KeyError, match=r"pto.test.op has no attribute.*other.*cost"):
            op.get_attr("other")

    def test_same_as(self):
        assert X.same_as(X)
        assert not X.same_as(ir.Var("x", INT, SPAN))

    def test_singleton_types(self):
        assert isinstance(ir.UnknownType.get(), ir.UnknownType)
        assert isinstance(ir.PtrType.get(), ir.PtrType)

    def test_memory_space(self):
        assert ir.TensorType([1], DataType.FP16).memory_space is ir.MemorySpace.DDR
        assert ir.ArrayType(DataType.FP16, 1).memory_space is ir.MemorySpace.ScalarLocal
        assert ir.TileType([1], DataType.FP16).memory_space is None

    def test_shares_memref_with(self):
        memref = ir.MemRef("m")
        one = ir.TensorType([1], DataType.FP16, memref)
        tile = ir.TileType([1], DataType.FP16, memref)
        assert one.shares_memref_with(tile)
        assert not one.shares_memref_with(ir.TileType([1], DataType.FP16, ir.MemRef("m")))
        plain_tile = ir.TileType([1], DataType.FP16)
        assert not plain_tile.shares_memref_with(plain_tile)

    def test_memref(self):
        first = ir.MemRef(BASE, 0, 64)
        second = ir.MemRef(BASE, 64, 64)
        overlapping = ir.MemRef(BASE, 32, 64)
        elsewhere = ir.MemRef(ir.Var("b", ir.PtrType()), 0, 64)
        assert first.same_allocation(second)
        assert not first.same_allocation(elsewhere)
        assert not first.may_alias(second)
        assert first.may_alias(overlapping)
        assert ir.MemRef.may_alias(overlapping, second)
        assert not first.may_alias(elsewhere)
        assert first.may_alias(first)
        slots = [ir.MemRef(BASE, 0, 64, slots=2, slot=slot) for slot in (0, 1, X)]
        assert not slots[0].may_alias(slots[1])
        assert slots[0].may_alias(slots[2])
        assert slots[1].may_alias(second)
        assert not slots[0].may_alias(second)

    def test_offsets_of_memrefs(self):
        memref = ir.MemRef(BASE, 128, 64)
        assert (memref.byte_offset.value, memref.byte_offset.dtype) == (128, DataType.INDEX)
        moving = ir.MemRef(BASE, X * 64, 64)
        assert moving.may_alias(memref)
        assert "x * 64" in moving.as_python()
        replaced = ir.substitute_expr(moving, {X: Y})
        assert replaced.byte_offset.left.same_as(Y)
        in_space = ir.MemRef(ir.MemorySpace.DDR, 0, 64, 7)
        assert in_space.base.name_hint == in_space.name_hint == "mem_ddr_7"
        assert ir.MemRef("b", 0, 64).base.name_hint == "b"

    def test_slots_of_memrefs(self):
        memref = ir.MemRef("m", SPAN, slots=2)
        first, second, unknown = memref[0], memref[1], memref[X]
        assert (first.base, first.slots, first.slot.value) == (memref, 2, 0)
        assert (first.name_hint, first.span) == ("m", SPAN)
        assert second.slot.value == 1
        assert unknown.slot is X
        assert first.same_allocation(second)
        assert first.same_allocation(memref)

    def test_the_fields_of_memrefs_have_the_names_of_pypto(self):
        memref = ir.MemRef(BASE, X, 64, is_pinned=True, slots=2, slot=Y)
        assert (memref.base_, memref.byte_offset_, memref.size_) == (BASE, X, 64)
        assert (memref.is_pinned_, memref.slot_count_, memref.slot_index_) == (True, 2, Y)

    def test_effective_tile_view(self):
        def view(shape, space=None, given=None):
            tile = ir.TileType(shape, DataType.FP16, None, given, space)
            return tile.get_effective_tile_view()

        row, col, none = ir.TileLayout.row_major, ir.TileLayout.col_major, ir.TileLayout.none_box
        expected = {
            None: (row, none, 512),
            "Vec": (row, none, 512),
            "Mat": (col, row, 512),
            "Left": (col, row, 512),
            "Right": (row, col, 512),
            "Acc": (col, row, 1024),
        }
        for space, layouts in expected.items():
            found = view([16, 32], space)
            assert (found.blayout, found.slayout, found.fractal) == layouts, space
            assert [size.value for size in found.valid_shape] == [16, 32]
        assert view([16, 1]).blayout is col
        given = ir.TileView([8, X], fractal=32)
        assert view([16, 32], "Mat", given).same_as(given)
        assert view([X, 4], None, ir.TileView(fractal=32)).valid_shape[0].same_as(X)

    def test_arg_directions(self):
        directions = [ir.ParamDirection.In, ir.ParamDirection.Out]
        call = ir.Call(ir.Op("f"), [X, Y], attrs={"arg_directions": directions})
        assert call.arg_directions == directions

    def test_program(self):
        f, g = (ir.Function(name, [], [], BODY) for name in "fg")
        program = ir.Program([g, f], "p")
        assert list(program.functions) == ["g", "f"]
        assert program.get_function("f").same_as(f)
        assert program.get_function("h") is None
        assert program.get_global_var("f").name == "f"
        assert program.get_global_var("h") is None
        with pytest.raises(KeyError, match=r"'h'.*\['f', 'g'\]"):
            program["h"]

    def test_level_and_role_follow_from_the_type(self):
        def place(kind, *given):
            function = ir.Function("f", [], [], BODY, SPAN, kind, *given)
            return function.level, function.role

        assert place("Orchestration") == (ir.Level.CHIP, ir.Role.Orchestrator)
        assert place("InCore") == (ir.Level.CHIP_DIE, ir.Role.SubWorker)
        assert place("Opaque") == place("AIC") == (None, None)
        assert place("InCore", ir.Level.HOST) == (ir.Level.HOST, None)
        assert place("InCore", None, ir.Role.Orchestrator) == (None, ir.Role.Orchestrator)

    @pytest.mark.parametrize("mode", [ir.SplitMode.UP_DOWN, "UP_DOWN", 1])
    def test_the_split_of_a_function_is_an_attribute(self, mode):
        function = ir.Function("f", [], [], BODY, attrs={"split": mode})
        assert function.split is ir.SplitMode.UP_DOWN
        assert ir.Function("f", [], [], BODY).split is None

    def test_statements_of_a_sequence(self):
        stmts = [ir.EvalStmt(X), ir.EvalStmt(Y), ir.BreakStmt()]
        seq = ir.SeqStmts(stmts)
        assert list(seq) == [seq[0], seq[1], seq[-1]] == stmts
        assert list(seq[1:]) == stmts[1:]
        assert len(seq) == 3
        assert stmts[1] in seq
        assert ir.SeqStmts([])
        assert len(ir.SeqStmts([])) == 0
        with pytest.raises(IndexError):
            seq[3]

    def test_numbers_become_literals(self):
        assert X.type.same_as(INT)
        call = ir.Call(ir.Op("f"), [1, 2.5, True])
        assert [type(arg) for arg in call.args] == [ir.ConstInt, ir.ConstFloat, ir.ConstBool]
        assert [arg.dtype.name for arg in call.args] == ["INT64", "FP32", "BOOL"]
        assert ir.TensorType([4], DataType.FP16).shape[0].dtype is DataType.INDEX
        assert ir.Var("v", DataType.FP16).type.dtype is DataType.FP16

    def test_match(self):
        match X + 1:
            case ir.Add(left, ir.ConstInt(value)):
                assert left.same_as(X)
                assert value == 1
            case _:
                pytest.fail("a sum did not match")

    def test_field_kinds(self):
        definitions = {
            "AssignStmt": {"var"},
            "ForStmt": {"loop_var", "iter_args", "return_vars"},
            "WhileStmt": {"iter_args", "return_vars"},
            "IfStmt": {"return_vars"},
            "Function": {"params"},
        }
        ignored = {"span", "name_hint", "leading_comments"}
        for name in sorted(CHECKLIST):
            kinds = ir.field_kinds(getattr(ir, name))
            defined = {field for field, kind in kinds.items() if kind == "definition"}
            assert defined == definitions.get(name, set()), name
            skipped = {field for field, kind in kinds.items() if kind == "ignored"}
            names = {"name"} if name in ("Function", "Program") else set()
            assert skipped == ({*ignored, *names} & set(kinds)), name

    def test_members(self):
        for name, members in MEMBERS.items():
            missing = [m for m in members.split() if not hasattr(getattr(ir, name), m)]
            assert not missing, name

    def test_a_node_is_its_program_text(self):
        assert ir.AssignStmt(Y, X * 2).as_python(prefix="") == "y: INT64 = x * 2\n"
        assert ir.IRNode.as_python(X) == "x"

    def test_comments_lead_a_statement_and_do_not_count(self):
        plain = ir.AssignStmt(Y, X, SPAN)
        said = ir.AssignStmt(Y, X, SPAN, leading_comments=["first", "second"])
        assert list(said.leading_comments) == ["first", "second"]
        assert list(plain.leading_comments) == []
        commented = ir.attach_leading_comments(plain, ["first", "second"])
        assert commented.as_python() == said.as_python()
        assert list(plain.leading_comments) == []
        assert list(ir.attach_leading_comments(said, []).leading_comments) == []
        assert said.as_python() == "# first\n# second\n" + plain.as_python()
        assert ir.structural_equal(plain, said)
        assert ir.structural_hash(plain) == ir.structural_hash(said)
        again = ir.deserialize(ir.serialize(said))
        assert list(again.leading_comments) == ["first", "second"]
        with pytest.raises(TypeError, match="positional"):
            ir.AssignStmt(Y, X, SPAN, ["first"])
        yielded = replace(ir.YieldStmt([X]), leading_comments=["third"])
        assert yielded.as_python() == "# third\npl.yield_(x)\n"

    @pytest.mark.parametrize("value", [object(), len, X, None, 2**70, [X], {"a": 1}])
    def test_arguments_by_name_are_plain(self, value):
        with pytest.raises(TypeError, match=r"pto.Call.*'kwargs': 'k': expected bool, int"):
            ir.Call(ir.Op("f"), [X], {"k": value}, SPAN)

    def test_arguments_by_name_may_be_several_values(self):
        call = ir.Call(ir.Op("f"), [X], {"axes": [1, 0], "space": ir.MemorySpace.Vec}, SPAN)
        assert list(call.kwargs["axes"]) == [1, 0]
