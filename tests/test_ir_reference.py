"""The examples of the reference of `tvm.ir`, with their imports changed.

| entry of the reference         | test                                    |
|--------------------------------|-----------------------------------------|
| make_node                      | test_make_node                          |
| structural_equal               | test_sharing_counts                     |
| structural_equal, variables    | test_definition_points, test_free_variables |
| structural_hash                | test_hash_agrees_with_equality          |
| FuncType                       | test_generic_function_type              |
| TensorType                     | test_tensor_type                        |
| TensorAffineType               | test_affine_type                        |
| TypeData                       | test_algebraic_data_type                |
| Range                          | test_ranges                             |
| IRModule.from_expr             | test_from_expr                          |
| astext                         | test_metadata_is_needed_to_parse        |
| save_json, load_json           | test_files                              |
| register_op_attr and lowering  | test_decorators                         |
"""

import numpy
import pytest

import isoform as tvm
from isoform import relay


def test_make_node():
    x = tvm.ir.make_node("IntImm", dtype="int32", value=10)
    assert isinstance(x, tvm.tir.IntImm)
    assert x.value == 10


tvm.ir.register_op_attr("test_ir_reference.add", "TOpPattern", 0)
ADD = tvm.ir.Op.get("test_ir_reference.add")


def plus(left, right):
    return relay.Call(ADD, [left, right])


def test_sharing_counts():
    """`%1 = %x + %y; %1 + %1` is not `%1 = %x + %y; %2 = %x + %y; %1 + %2`."""
    x, y = relay.Var("x"), relay.Var("y")
    once = plus(x, y)
    shared, twice = plus(once, once), plus(plus(x, y), plus(x, y))
    assert not tvm.ir.structural_equal(shared, twice)
    assert tvm.ir.structural_equal(shared, plus(once, once))
    assert tvm.ir.structural_hash(shared) != tvm.ir.structural_hash(twice)


def test_definition_points():
    def identity(name):
        x = relay.Var(name)
        return relay.Function([x], x)

    assert tvm.ir.structural_equal(identity("x"), identity("y"))
    assert tvm.ir.structural_hash(identity("x")) == tvm.ir.structural_hash(identity("y"))


def test_free_variables():
    x, y = relay.Var("x"), relay.Var("y")
    assert tvm.ir.structural_equal(x, x)
    assert not tvm.ir.structural_equal(x, y)
    assert tvm.ir.structural_equal(x, y, map_free_vars=True)
    assert tvm.ir.structural_hash(x, map_free_vars=True) == tvm.ir.structural_hash(
        y, map_free_vars=True
    )
    assert tvm.ir.structural_hash(x) != tvm.ir.structural_hash(y)
    tvm.ir.assert_structural_equal(x, y, map_free_vars=True)
    with pytest.raises(ValueError, match="not structurally equal"):
        tvm.ir.assert_structural_equal(x, y)


def test_hash_agrees_with_equality():
    left, right = tvm.ir.TensorType([1, 2]), tvm.ir.TensorType([1, 2])
    assert tvm.ir.structural_equal(left, right)
    assert tvm.ir.structural_hash(left) == tvm.ir.structural_hash(right)


def test_generic_function_type():
    """`forall (type_params), (arg_types) -> ret_type where type_constraints`."""

    def swap(first, second):
        a, b = tvm.ir.TypeVar(first), tvm.ir.TypeVar(second)
        return tvm.ir.FuncType([a, b], tvm.ir.TupleType([b, a]), [a, b])

    assert tvm.ir.structural_equal(swap("a", "b"), swap("c", "d"))
    assert list(swap("a", "b").type_constraints) == []


def test_tensor_type():
    """A tensor of float32 and (5, 5)."""
    tensor = tvm.ir.TensorType((5, 5))
    assert tensor.dtype == "float32"
    assert tuple(tensor.concrete_shape) == (5, 5)
    with pytest.raises(TypeError):
        _ = tvm.ir.TensorType((tvm.tir.Var("n", "int32"), 5)).concrete_shape


def test_affine_type():
    scale, zero_point = relay.Var("scale"), relay.Var("zero_point")
    quantized = tvm.ir.TensorAffineType(scale, zero_point, "int8")
    assert quantized.axis == -1
    assert list(tvm.ir.TupleAffineType([quantized]).types) == [quantized]


def test_algebraic_data_type():
    """Data types with the same constructors and different variables are the same type."""

    def maybe(variable):
        header, a = tvm.ir.GlobalTypeVar("Maybe"), tvm.ir.TypeVar(variable)
        some = tvm.ir.Constructor("Some", [a], header)
        nothing = tvm.ir.Constructor("Nothing", [], header)
        return tvm.ir.TypeData(header, [a], [some, nothing])

    data = maybe("a")
    assert tvm.ir.structural_equal(data, maybe("b"), map_free_vars=True)
    applied = tvm.ir.TypeCall(data.header, [tvm.ir.PrimType("int32")])
    assert applied.func.same_as(data.header)
    mod = tvm.ir.IRModule({}, {data.header: data})
    assert mod.get_global_type_var("Maybe").same_as(data.header)
    assert mod.get_constructor(data.constructors[0].tag).name_hint == "Some"


def test_ranges():
    """`[begin, end)` if the end is not None, otherwise `[0, begin)`."""
    assert tvm.ir.Range(2, 5) == tvm.ir.Range.from_min_extent(2, 3)
    assert tvm.ir.Range(5) == tvm.ir.Range(0, 5)


def test_from_expr():
    """The expression is the entry point, wrapped in a function."""
    x, y = relay.Var("x"), relay.Var("y")
    mod = tvm.ir.IRModule.from_expr(plus(x, y))
    assert [var.name_hint for var in mod["main"].params] == ["x", "y"]
    assert [var.name_hint for var, _ in mod.functions_items()] == ["main"]


def test_metadata_is_needed_to_parse():
    x = relay.Var("x")
    weights = tvm.ir.ConstantInfo("w", 0, numpy.zeros(256, "float32"))
    mod = tvm.ir.IRModule({"main": relay.Function([x], x)}, attrs={"w": weights})
    assert tvm.ir.structural_equal(tvm.text.from_text(mod.astext()), mod)
    with pytest.raises(ValueError, match="not defined"):
        tvm.text.from_text(mod.astext(show_meta_data=False))


def test_files():
    node = tvm.ir.TensorType([1, 2])
    assert tvm.ir.structural_equal(tvm.ir.load_json(tvm.ir.save_json(node)), node)


def test_decorators(key):
    name = key("op")

    @tvm.ir.register_op_attr(name, "FCompute", level=11)
    def compute(x):
        return x

    @tvm.ir.register_intrin_lowering(name, "llvm")
    def lower(x):
        return x + 1

    op = tvm.ir.Op.get(name)
    assert op.get_attr("FCompute")(3) == compute(3) == 3
    assert op.get_attr("llvm.FLowerIntrinsic")(3) == lower(3) == 4
