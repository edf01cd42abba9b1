"""Primitive expressions: data types, operators, literals."""

import copy
import pickle
import sys

import numpy
import pytest

from isoform import ir, structural_equal, structural_hash, tir

N, M = tir.Var("n", "int32"), tir.Var("m", "int32")
L, U8, F = tir.Var("l", "int64"), tir.Var("u", "uint8"), tir.Var("f", "float32")
H, B = tir.Var("h", "float16"), tir.Var("b", "bool")
V = tir.Var("v", "int32x4")


def literal(expr):
    assert isinstance(expr, (tir.IntImm, tir.FloatImm))
    return expr.value, str(expr.dtype)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (5, "int32"),
        (-(2**31), "int32"),
        (2**31, "int64"),
        (1.5, "float32"),
        (1e300, "float64"),
        (float("inf"), "float32"),
        (numpy.int64(5), "int32"),
        (numpy.float32(0.5), "float32"),
    ],
)
def test_numbers_become_literals(value, dtype):
    assert tir.const(value).dtype == dtype
    made = tir.Select(B, value, value).true_value
    assert (made.dtype, made.value) == (dtype, value)


def test_literals_of_a_data_type():
    assert literal(tir.const(3, "int8")) == (3, "int8")
    assert literal(tir.const(3, "float64")) == (3.0, "float64")
    assert literal(tir.const(2.7, "int32")) == (2, "int32")
    assert literal(tir.const(1, "bool")) == (1, "bool")
    vector = tir.const(1, "int32x4")
    assert isinstance(vector, tir.Broadcast)
    assert (vector.dtype, vector.lanes, vector.value.value) == ("int32x4", 4, 1)
    assert tir.Call("handle", "tir.bitwise_not", ["text"]).args[0].value == "text"
    for value, dtype in [(128, "int8"), (-1, "uint8"), (256, "uint8"), (2**31, "int32")]:
        with pytest.raises(ValueError, match="outside the range"):
            tir.const(value, dtype)
        with pytest.raises(ValueError, match="outside the range"):
            tir.IntImm(dtype, value)
    with pytest.raises(ValueError, match="outside the range of float16, -65504 to 65504"):
        tir.FloatImm("float16", 65505)
    for wrong in ["float32", "int32x4", "handle"]:
        with pytest.raises(ValueError, match=r"ir\.IntImm: expected"):
            tir.IntImm(wrong, 1)
    for wrong in ["int32", "float32x4"]:
        with pytest.raises(ValueError, match=r"ir\.FloatImm: expected"):
            tir.FloatImm(wrong, 1)
    with pytest.raises(ValueError, match="int of 64 bits"):
        tir.const(2**63)
    with pytest.raises(TypeError, match="expected a bool, an int, a float or a str, got Array"):
        tir.const([1])


LIMITS = {
    "bool": (0, 1),
    "int4": (-8, 7),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 255),
    "uint32": (0, 2**32 - 1),
    "float16": (-65504.0, 65504.0),
    "bfloat16": (-(2.0**128 - 2.0**120), 2.0**128 - 2.0**120),
    "float64": (-sys.float_info.max, sys.float_info.max),
    "float8_e4m3fn": (-448.0, 448.0),
    "float8_e8m0fnu": (2.0**-127, 2.0**127),
}


@pytest.mark.parametrize("dtype", LIMITS)
def test_the_least_and_the_greatest_number_of_a_data_type(dtype):
    made = tir.min_value(dtype), tir.max_value(dtype)
    assert [literal(expr) for expr in made] == [(value, dtype) for value in LIMITS[dtype]]
    assert [literal(ir.load_json(ir.save_json(expr))) for expr in made] == [*map(literal, made)]
    vector = tir.max_value(f"{dtype}x4")
    assert (vector.lanes, vector.value.value) == (4, LIMITS[dtype][1])


def test_data_types_without_a_greatest_number():
    assert tir.min_value("uint64").value == 0
    with pytest.raises(ValueError, match=r"max_value.*uint64.*IntImm"):
        tir.max_value("uint64")
    with pytest.raises(ValueError, match=r"min_value.*numbers, got handle"):
        tir.min_value("handle")


OPERATORS = [
    (lambda a, b: a + b, tir.Add),
    (lambda a, b: a - b, tir.Sub),
    (lambda a, b: a * b, tir.Mul),
    (lambda a, b: a // b, tir.FloorDiv),
    (lambda a, b: a % b, tir.FloorMod),
    (lambda a, b: tir.div(a, b), tir.Div),
    (lambda a, b: tir.truncmod(a, b), tir.Mod),
    (lambda a, b: tir.min(a, b), tir.Min),
    (lambda a, b: tir.max(a, b), tir.Max),
    (lambda a, b: a < b, tir.LT),
    (lambda a, b: a <= b, tir.LE),
    (lambda a, b: a > b, tir.GT),
    (lambda a, b: a >= b, tir.GE),
    (lambda a, b: (a == b).asobject(), tir.EQ),
    (lambda a, b: (a != b).asobject(), tir.NE),
]


@pytest.mark.parametrize(("apply", "cls"), OPERATORS)
def test_operators_make_nodes(apply, cls):
    node = apply(N, M)
    assert type(node) is cls
    assert node.a is N
    assert node.b is M
    comparison = issubclass(cls, tir.CmpExpr)
    assert issubclass(cls, tir.CmpExpr if comparison else tir.BinaryOpExpr)
    assert node.dtype == ("bool" if comparison else "int32")
    assert apply(V, V * 2).dtype == ("boolx4" if comparison else "int32x4")
    assert apply(N, 3).b.value == 3
    assert structural_equal(ir.load_json(ir.save_json(node)), node, map_free_vars=True)


@pytest.mark.parametrize(("apply", "cls"), [pair for pair in OPERATORS if pair[1] != tir.EQ])
def test_operators_compute_what_is_known(apply, cls):
    plain = {
        tir.Div: lambda a, b: int(a / b),
        tir.Mod: lambda a, b: a - b * int(a / b),
        tir.Min: min,
        tir.Max: max,
        tir.NE: lambda a, b: a != b,
    }.get(cls, apply)
    for a in range(-7, 8):
        for b in [*range(-4, 0), *range(1, 5)]:
            found = (
                tir.const(a) != tir.const(b) if cls is tir.NE else apply(tir.const(a), tir.const(b))
            )
            assert found.value == plain(a, b), (a, b)


def test_results_wrap_around():
    big = tir.const(2**31 - 1)
    assert literal(big + 1) == (-(2**31), "int32")
    assert literal(tir.const(-(2**31)) - 1) == (2**31 - 1, "int32")
    assert literal(tir.const(2**63 - 1) + 1) == (-(2**63), "int64")
    assert literal(tir.const(2**62, "int64") * 4) == (0, "int64")
    assert literal(tir.const(200, "uint8") + tir.const(100, "uint8")) == (44, "uint8")
    assert literal(tir.div(tir.const(-(2**63)), tir.const(-1, "int64"))) == (-(2**63), "int64")
    with pytest.raises(ValueError, match="0 - 3 is negative"):
        tir.const(0, "uint8") - tir.const(3, "uint8")


def test_division_by_zero():
    for apply in (tir.div, tir.truncdiv, tir.truncmod, tir.floordiv, tir.floormod):
        for a in (N, tir.const(1)):
            with pytest.raises(ValueError, match="Divide by zero"):
                apply(a, 0)
    with pytest.raises(ValueError, match="Divide by zero"):
        F / 0.0


def test_neutral_operands_disappear():
    assert N + 0 is N
    assert 0 + N is N
    assert N - 0 is N
    assert N * 1 is N
    assert 1 * N is N
    assert (N * 0).value == 0
    assert (0 * N).value == 0
    assert N // 1 is N
    assert (0 // N).value == 0
    assert (N % 1).value == 0
    assert tir.min(N, N) is N
    assert F + 0 is F
    assert F * 1.0 is F


def test_floats_are_rounded():
    third = tir.const(1.0) / 3.0
    assert literal(third) == (float(numpy.float32(1) / numpy.float32(3)), "float32")
    assert (tir.const(1.0, "float64") / 3.0).value == 1 / 3
    # Operations that the compiler's machine lacks are left to the target machine.
    assert isinstance(tir.const(1.0, "float16") + tir.const(2.0, "float16"), tir.Add)
    assert isinstance(tir.const(1.5) % tir.const(1.0), tir.FloorMod)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (N, L, "int64"),
        (N, F, "float32"),
        (H, F, "float32"),
        (L, H, "float16"),
        (U8, N, "int32"),
        (U8, tir.Var("i", "int8"), "uint8"),
        (B, N, "int32"),
        (V, N, "int32x4"),
        (V, F, "float32x4"),
        (tir.Var("x", "uint16"), U8, "uint16"),
    ],
)
def test_operands_meet_in_one_data_type(a, b, dtype):
    for node in (a * b, b * a):
        assert node.dtype == dtype
        assert node.a.dtype == node.b.dtype == dtype


def test_operands_that_do_not_go_together():
    h = tir.Var("h", "handle")
    for a, b in [(N, h), (V, tir.Var("w", "int32x8")), (H, tir.Var("bf", "bfloat16"))]:
        with pytest.raises(TypeError, match="are not compatible"):
            a + b
    with pytest.raises(TypeError):
        N + "text"
    with pytest.raises(TypeError):
        N + None
    with pytest.raises(TypeError, match=r"tir\.Add: expected operands of one data type"):
        tir.Add(N, L)


def test_division_of_integers_must_be_named():
    for divide in (lambda: N / M, lambda: N / 2, lambda: 2 / N):
        with pytest.raises(RuntimeError, match="several divisions of integers"):
            divide()
    assert type(F / N) is tir.Div
    assert type(1.0 / F) is tir.Div


def test_comparisons_are_expressions_and_conditions():
    assert N == N
    assert not N == M  # noqa: SIM201
    assert N != M
    assert N in [M, N]
    assert type(tir.all(N == M, B)) is tir.And
    assert type(tir.Select(N == M, 1, 2).condition) is tir.EQ
    assert {N: 1}[N] == 1
    for condition in (N < M, B, N + 1):
        with pytest.raises(ValueError, match=r"isoform\.tir\.all"):
            bool(condition)
    assert tir.const(5) == 5
    assert tir.const(5) != 6
    assert tir.const(5) != "text"
    assert bool(tir.const(0)) is False
    assert (int(tir.const(7)), float(tir.const(0.5)), [1, 2][tir.const(1)]) == (7, 0.5, 2)
    assert hash(tir.const(5)) == hash(5)
    assert tir.StringImm("a") == "a"
    assert tir.StringImm("a") != tir.StringImm("b")


def test_logic():
    c = tir.Var("c", "bool")
    assert type(tir.all(B, c)) is tir.And
    assert type(tir.any(B, c)) is tir.Or
    assert type(~B) is tir.Not
    assert tir.all(B, True) is B
    assert tir.all(B, False).value == 0
    assert tir.any(B, False) is B
    assert tir.any(B, True).value == 1
    assert (~tir.const(True)).value == 0
    assert tir.all(B) is B
    with pytest.raises(ValueError, match="at least one operand"):
        tir.all()
    for make in (lambda: tir.And(N, B), lambda: tir.Not(N), lambda: tir.all(N, N)):
        with pytest.raises(TypeError, match="bool"):
            make()


def test_bits():
    for apply, name, result in [
        (lambda a, b: a & b, "tir.bitwise_and", 12 & 10),
        (lambda a, b: a | b, "tir.bitwise_or", 12 | 10),
        (lambda a, b: a ^ b, "tir.bitwise_xor", 12 ^ 10),
        (lambda a, b: a << b, "tir.shift_left", 12 << 10),
        (lambda a, b: a >> b, "tir.shift_right", 12 >> 10),
    ]:
        node = apply(N, M)
        assert isinstance(node, tir.Call)
        assert node.op is ir.Op.get(name)
        assert literal(apply(tir.const(12), 10)) == (result, "int32")
        assert apply(12, tir.const(10)).value == result
    assert literal(~tir.const(5)) == (-6, "int32")
    assert (~N).op.name == "tir.bitwise_not"
    with pytest.raises(ValueError, match="Shift amount"):
        N << 32
    with pytest.raises(TypeError, match="expected integers, got float32"):
        F & 1


def test_casts():
    assert literal(tir.cast("int64", 5)) == (5, "int64")
    assert literal(tir.cast("float32", 5)) == (5.0, "float32")
    assert tir.cast("int32", N) is N
    node = N.astype("float32")
    assert type(node) is tir.Cast
    assert (node.value, node.dtype) == (N, "float32")
    assert type(tir.cast("float32x4", N)) is tir.Broadcast
    assert type(tir.cast("int8", 1000)) is tir.Cast
    with pytest.raises(ValueError, match="as many lanes"):
        tir.Cast("int32x4", N)
    with pytest.raises(TypeError, match="are not compatible"):
        tir.cast("int32x8", V)


def test_variables():
    assert N.type_annotation == ir.PrimType("int32")
    assert tir.Var("x").dtype == "int32"
    pointer = ir.PointerType(ir.PrimType("float32"))
    p = tir.Var("p", pointer)
    assert (p.dtype, p.type_annotation) == ("handle", pointer)
    assert tir.Var("x", ir.PrimType("int8")).dtype == "int8"
    with pytest.raises(TypeError, match=r"expected dtype, ir\.PrimType or ir\.PointerType"):
        tir.Var("x", ir.TupleType([]))
    assert isinstance(tir.SizeVar("s", "int64"), tir.Var)
    with pytest.raises(ValueError, match="integer data type"):
        tir.SizeVar("s", "float32")
    a, b = tir.Var("a", "int32"), tir.Var("b", "int32")
    assert not structural_equal(a, b)
    assert structural_equal(a + a, b + b, map_free_vars=True)
    assert not structural_equal(a + a, a + b, map_free_vars=True)
    assert not structural_equal(a, tir.SizeVar("a", "int32"), map_free_vars=True)
    assert not structural_equal(a, tir.Var("a", "int64"), map_free_vars=True)


def test_let_binds_in_its_body_only():
    def let(var, value):
        return tir.Let(var, value, var + 1)

    a, b = tir.Var("a", "int32"), tir.Var("b", "int32")
    assert structural_equal(let(a, 5), let(b, 5))
    assert structural_hash(let(a, 5)) == structural_hash(let(b, 5))
    # In the value, the variable belongs to the outside.
    assert not structural_equal(let(a, a), let(b, b))
    assert structural_equal(let(a, N), let(b, N))
    assert let(a, 5).dtype == "int32"
    with pytest.raises(TypeError, match="one data type"):
        tir.Let(a, 5.0, a)


def test_vectors():
    ramp = tir.Ramp(N, 2, 4)
    assert (ramp.base, ramp.stride.value, ramp.lanes, ramp.dtype) == (N, 2, 4, "int32x4")
    assert tir.Ramp(L, 1, 2).stride.dtype == "int64"
    assert tir.Broadcast(N, 8).dtype == "int32x8"
    assert (ramp + 1).b.dtype == "int32x4"
    for make in (
        lambda: tir.Broadcast(V, 4),
        lambda: tir.Broadcast(N, 1),
        lambda: tir.Broadcast(N, 70000),
        lambda: tir.Ramp(F, 1, 4),
        lambda: tir.Ramp(N, 1, 0),
    ):
        with pytest.raises(ValueError, match=r"tir\.(Broadcast|Ramp)"):
            make()


def test_calls():
    call = tir.Call("int32", ir.Op.get("tir.bitwise_and"), [N, 1])
    assert (call.op.name, call.args[1].value) == ("tir.bitwise_and", 1)
    assert tir.Call("int32", "tir.bitwise_and", [N, 1]).op is call.op
    with pytest.raises(ValueError, match="Cannot handle str op argument other"):
        tir.Call("int32", "other", [])
    with pytest.raises(AttributeError, match=r"Operator tir\.none is not registered"):
        tir.Call("int32", "tir.none", [])
    with pytest.raises(TypeError, match=r"tir\.Call\.op: expected ir\.RelayExpr, got int"):
        tir.Call("int32", 3, [])


def test_selection():
    node = tir.Select(N > 0, 1, 2)
    assert (node.dtype, node.true_value.value) == ("int32", 1)
    with pytest.raises(TypeError, match="condition"):
        tir.Select(N, 1, 2)
    with pytest.raises(TypeError, match="one data type"):
        tir.Select(B, 1, 2.0)


def all_nodes():
    binary = [apply(N, M) for apply, _ in OPERATORS]
    others = [
        tir.const(5),
        tir.const(0.5),
        tir.StringImm("text"),
        N,
        tir.SizeVar("s"),
        tir.Cast("float32", N),
        ~B,
        tir.all(B, B),
        tir.any(B, B),
        tir.Select(B, N, M),
        tir.Let(N, 5, N + 1),
        N & 1,
        tir.Broadcast(N, 4),
        tir.Ramp(N, 1, 4),
    ]
    return [*binary, *others]


@pytest.mark.parametrize("node", all_nodes(), ids=lambda node: type(node).__name__)
def test_round_trips(node):
    for other in (
        ir.load_json(ir.save_json(node)),
        pickle.loads(pickle.dumps(node)),
        copy.deepcopy(node),
    ):
        assert type(other) is type(node)
        assert other.dtype == node.dtype
        assert structural_equal(node, other, map_free_vars=True)


def test_nodes_match_by_position():
    match N + 3:
        case tir.Add(a, tir.IntImm(_, value)):
            assert (a, value) == (N, 3)
        case _:
            pytest.fail("no match")
    assert tir.Add.__match_args__[:2] == ("a", "b")
