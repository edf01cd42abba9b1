"""Comparison of nodes of the statement dialect."""

import pytest

from isoform.pto import DataType, ir


def var(name="x", dtype=DataType.INT64):
    return ir.Var(name, ir.ScalarType(dtype))


@pytest.mark.parametrize("name", ["kwargs", "attrs"])
def test_attributes_are_compared_and_hashed(name):
    def call(**values):
        return ir.Call(ir.Op("f"), [], **{name: values})

    one, other = call(stage=2, space=ir.MemorySpace.Vec), call(stage=2, space=ir.MemorySpace.Acc)
    assert not ir.structural_equal(one, other)
    assert ir.structural_hash(one) != ir.structural_hash(other)
    turned = call(space=ir.MemorySpace.Vec, stage=2)
    assert ir.structural_equal(one, turned)
    assert ir.structural_hash(one) == ir.structural_hash(turned)


def test_attributes_of_loops_and_functions_are_compared_and_hashed():
    def loop(attrs):
        return ir.ForStmt(var(), 0, 1, 1, [], ir.SeqStmts([]), [], attrs=attrs)

    def function(attrs):
        return ir.Function("f", [], [], ir.ReturnStmt(), attrs=attrs)

    for make in (loop, function):
        one, same, other = make({"a": 1, "b": 2}), make([("b", 2), ("a", 1)]), make({"a": 1})
        assert ir.structural_equal(one, same)
        assert ir.structural_hash(one) == ir.structural_hash(same)
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
