"""Comparison of nodes of the statement dialect."""

import pytest

from isoform.pto import DataType, ir

X = ir.Var("x", ir.ScalarType(DataType.INT64))


ATTRIBUTES = {
    "kwargs": lambda values: ir.Call(ir.Op("f"), [], kwargs=values),
    "attrs": lambda values: ir.Call(ir.Op("f"), [], attrs=values),
    "loop": lambda values: ir.ForStmt(X, 0, 1, 1, [], ir.SeqStmts([]), [], attrs=values),
    "function": lambda values: ir.Function("f", [], [], ir.ReturnStmt(), attrs=[*values.items()]),
}


@pytest.mark.parametrize("make", ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attributes_are_compared_and_hashed(make):
    acc, vec = ir.MemorySpace.Acc, ir.MemorySpace.Vec
    one, turned = make({"stage": 2, "space": vec}), make({"space": vec, "stage": 2})
    assert ir.structural_equal(one, turned)
    assert ir.structural_hash(one) == ir.structural_hash(turned)
    for other in (make({"stage": 2, "space": acc}), make({"stage": 2})):
        assert not ir.structural_equal(one, other)
        assert ir.structural_hash(one) != ir.structural_hash(other)


TYPES = {
    "unknown": lambda: ir.UnknownType(),
    "pointer": lambda: ir.PtrType(),
    "scalar": lambda: ir.ScalarType(DataType.INT64),
    "other scalar": lambda: ir.ScalarType(DataType.INT32),
    "tensor": lambda: ir.TensorType([4, 8], DataType.FP16),
    "other shape": lambda: ir.TensorType([8, 4], DataType.FP16),
    "tensor view": lambda: ir.TensorType(
        [4, 8], DataType.FP16, None, ir.TensorView([8, 1], ir.TensorLayout.ND)
    ),
    "padded view": lambda: ir.TensorType(
        [4, 8], DataType.FP16, None, ir.TensorView([8, 1], ir.TensorLayout.ND, pad="zero")
    ),
    "tile": lambda: ir.TileType([4, 8], DataType.FP16),
    "placed tile": lambda: ir.TileType([4, 8], DataType.FP16, None, None, ir.MemorySpace.Acc),
    "tile view": lambda: ir.TileType([4, 8], DataType.FP16, None, ir.TileView(fractal=1024)),
    "array": lambda: ir.ArrayType(DataType.FP16, 4),
    "tuple": lambda: ir.TupleType([ir.ScalarType(DataType.FP16)]),
    "empty tuple": lambda: ir.TupleType([]),
}


@pytest.mark.parametrize("left", TYPES)
def test_all_parts_of_types_are_compared(left):
    for right, make in TYPES.items():
        one, other = TYPES[left](), make()
        assert ir.structural_equal(one, other) is (left == right), right
        same = ir.structural_hash(one) == ir.structural_hash(other)
        assert same is (left == right), right
        # Variables with these types compare like the types.
        one, other = ir.Var("a", one), ir.Var("b", other)
        assert ir.structural_equal(one, other, enable_auto_mapping=True) is (left == right), right


KEYS = {
    "ScalarType": lambda size: ir.ScalarType(DataType.INT64 if size == 4 else DataType.INT32),
    "TensorType": lambda size: ir.TensorType([size, X], DataType.FP32),
    "TileType": lambda size: ir.TileType([size, X], DataType.FP32, None, ir.TileView([X, 8])),
    "ArrayType": lambda size: ir.ArrayType(DataType.FP32, size),
    "TupleType": lambda size: ir.TupleType([ir.ArrayType(DataType.FP32, size)]),
    "TensorView": lambda size: ir.TensorView([X, size]),
    "TileView": lambda size: ir.TileView([size, 8]),
}


@pytest.mark.parametrize("name", KEYS)
def test_types_and_views_are_keys(name):
    make = KEYS[name]
    one, same, other = make(4), make(4), make(5)
    assert not one.same_as(same)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2
    assert one != 4
    assert one != "text"
    assert one != X


def test_types_without_fields_are_keys():
    assert {ir.UnknownType(), ir.UnknownType.get()} == {ir.UnknownType()}
    assert ir.PtrType() == ir.PtrType.get() != ir.UnknownType()


def test_variables_in_types_are_equal_by_identity():
    sizes = X, ir.Var("x", DataType.INT64)
    one, other = (ir.TensorType([size], DataType.FP32) for size in sizes)
    assert one == ir.TensorType([X], DataType.FP32)
    assert one != other
    assert ir.structural_equal(one, other, enable_auto_mapping=True)


def tile(view=None, space=None):
    return ir.TileType([16, X], DataType.FP32, None, view, space)


def digest(node):
    return ir.structural_digest(node, map_free_vars=True)


def test_a_view_that_says_the_default_is_none():
    views = [ir.TileView(), ir.TileView([16, X]), ir.TileView([16, X], [], None, "row_major")]
    for view in views:
        assert tile(view) == tile()
        assert tile(view).tile_view is None
        assert ir.python_print(tile(view)) == ir.python_print(tile())
        assert digest(tile(view)) == digest(tile())
    usual = ir.TileView([], [], None, "col_major", "row_major")
    assert tile(usual, "Mat") == tile(None, "Mat")
    assert tile(usual, "Vec").tile_view is usual
    assert tile(ir.TileView(), "Mat") != tile(None, "Mat")
    for view in (ir.TileView(pad="zero"), ir.TileView([8, X]), ir.TileView([16, 4])):
        assert tile(view).tile_view is view
    for view in (ir.TensorView(), ir.TensorView([], "ND", [16, X])):
        assert ir.TensorType([16, X], DataType.FP32, None, view).tensor_view is None
    for view in (ir.TensorView([X, 1]), ir.TensorView([], "DN"), ir.TensorView([], "ND", [8, X])):
        assert ir.TensorType([16, X], DataType.FP32, None, view).tensor_view is view
