"""Operators on single elements against NumPy, `ml_dtypes` and high precision."""

import math
import operator

import kernels
import mpmath
import numpy as np
from kernels import (
    BOOL,
    FLOAT8,
    FLOATS,
    INTEGERS,
    NIBBLES,
    NUMBERS,
    SIGNED,
    TYPES,
    broadcasting,
    by_type,
    canonical,
    compute,
    generator,
    is_nan,
    kind_of_error,
    named,
    nearest,
    same,
    shape_of_rank,
    specials,
    values,
)

pytestmark = kernels.MARKS


def wide(array):
    """Floats in which a 16-bit type computes."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 else array


def in_wide(function, *arrays):
    """A function of floats, rounded to their type."""
    dtype = arrays[0].dtype
    if dtype in FLOATS:
        return function(*map(wide, arrays)).astype(dtype)
    return function(*arrays)


# ---- one operand ------------------------------------------------------------


def away(x):
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1, x), whole)


EXACT = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.rint,
    "round_away": away,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "abs": np.abs,
    "negative": np.negative,
    "sign": np.sign,
    "relu": lambda x: np.where(x > 0, x, np.where(np.isnan(x), x, np.zeros_like(x))),
}
KEEPS_INTEGERS = {"floor", "ceil", "trunc", "round", "round_away"}
NEEDS_FLOATS = {"sqrt", "reciprocal"}


@named("dtype", NUMBERS, **by_type)
@named("name", EXACT)
def test_exact_functions(name, dtype):
    rng = generator(name, dtype.name)
    for _ in range(12):
        x = values(rng, dtype, shape_of_rank(rng))
        if dtype in INTEGERS and name in NEEDS_FLOATS:
            assert kind_of_error(name, x) == "Type"
            continue
        got = compute(name, x)
        if dtype in INTEGERS and name in KEEPS_INTEGERS:
            expected = x
        elif dtype in INTEGERS:
            expected = np.maximum(x, 0) if name == "relu" else EXACT[name](x)
        else:
            expected = in_wide(EXACT[name], x)
        if name == "round_away" and dtype in FLOATS:
            # The sign of a zero is that of the operand.
            expected = np.where(
                expected == 0, np.copysign(wide(expected), wide(x)), wide(expected)
            ).astype(dtype)
        same(got, expected, name)
        canonical(got, name)


@named("dtype", TYPES, **by_type)
def test_copies_zeros_and_ones_of_every_type(dtype):
    rng = generator(dtype.name)
    for _ in range(5):
        x = values(rng, dtype, shape_of_rank(rng))
        assert compute("copy", x).tobytes() == x.tobytes()
        same(compute("zeros_like", x), np.zeros(x.shape).astype(dtype))
        same(compute("ones_like", x), np.ones(x.shape).astype(dtype))


@named("dtype", TYPES, **by_type)
def test_logic_and_tests_for_nan(dtype):
    rng = generator(dtype.name)
    x = values(rng, dtype, (5, 8))
    if dtype == BOOL:
        same(compute("logical_not", x), ~x)
        same(compute("bitwise_not", x), ~x)
    else:
        assert kind_of_error("logical_not", x) == "Type"
    if dtype in INTEGERS:
        same(compute("bitwise_not", x), ~x)
    if dtype in NUMBERS:
        x = np.concatenate([x.ravel(), specials(dtype)])
        for name in ("isnan", "isfinite", "isinf"):
            same(compute(name, x), getattr(np, name)(wide(x)), name)
    else:
        assert kind_of_error("isnan", x) == "Type"


REAL = {
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10,
    "exp": mpmath.exp,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "erf": mpmath.erf,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
}
DOMAIN = {
    "log": lambda x: x > 0,
    "log2": lambda x: x > 0,
    "log10": lambda x: x > 0,
    "rsqrt": lambda x: x > 0,
    "asin": lambda x: abs(x) <= 1,
    "acos": lambda x: abs(x) <= 1,
    "acosh": lambda x: x >= 1,
    "atanh": lambda x: abs(x) < 1,
}
LIMITS = {
    "log": lambda x: np.log(x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": lambda x: np.vectorize(math.erf, [float])(x),
}
PRECISION = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
LEAST = {"float16": -24, "bfloat16": -133, "float32": -149, "float64": -1074}


def error_in_ulps(got, exact, dtype):
    """The distance of a number from the exact one, in units in the last place."""
    if exact == 0:
        return 0 if got == 0 else math.inf
    _, exponent = mpmath.frexp(exact)
    unit = mpmath.ldexp(1, max(int(exponent) - PRECISION[dtype.name], LEAST[dtype.name]))
    if math.isinf(got):
        largest = mpmath.mpf(float(kernels.ml_dtypes.finfo(dtype).max))
        return 0 if abs(exact) > largest + unit / 2 and got * exact > 0 else math.inf
    return abs(mpmath.mpf(got) - exact) / unit


def points(rng, dtype, domain):
    """Arguments of all sizes."""
    ordinary = rng.normal(size=120) * rng.choice([1e-3, 0.3, 1, 10, 100], 120)
    near_one = rng.choice([1, -1], 60) * (1 + rng.normal(size=60) * 2.0 ** -rng.integers(1, 50, 60))
    with np.errstate(all="ignore"):
        x = np.concatenate([ordinary, near_one, rng.uniform(-745, 710, 40)]).astype(dtype)
    x = np.concatenate([x, values(rng, dtype, (120,)), specials(dtype)])
    with np.errstate(all="ignore"):
        x = x[np.isfinite(wide(x))]
    return np.array([value for value in x if domain(float(value))], dtype)


@named("dtype", FLOATS, **by_type)
@named("name", REAL)
def test_transcendental_functions_are_within_two_ulps(name, dtype):
    x = points(generator(name, dtype.name), dtype, DOMAIN.get(name, lambda x: True))
    got = compute(name, x)
    assert got.dtype == dtype
    bound = 2 if dtype == np.float64 else 1
    with mpmath.workprec(160):
        for at, result in zip(x, got, strict=True):
            # For large arguments, the result is below every subnormal, or 1.
            exact = REAL[name](mpmath.mpf(float(at)))
            error = error_in_ulps(float(result), exact, dtype)
            assert error <= bound, (name, at, result, mpmath.nstr(exact, 20), float(error))


@named("dtype", FLOATS, **by_type)
@named("name", REAL)
def test_transcendental_functions_at_their_limits(name, dtype):
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, -1.0, 1.0, 2.0, -2.0]).astype(dtype)
    numpy_name = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
    numpy_name = {"asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}.get(name, numpy_name)
    function = LIMITS.get(name) or getattr(np, numpy_name)
    expected = np.asarray(function(x.astype(np.float64)))
    got = compute(name, x)
    canonical(got, name)
    for at, result, reference in zip(x, got, expected, strict=True):
        result = float(result)
        if math.isnan(reference) or math.isinf(reference) or reference == 0:
            assert str(result) == str(
                float(abs(reference) if reference != reference else reference)
            ), (name, at)
        else:
            assert math.isclose(result, reference, rel_tol=2**-7), (name, at)


@named("dtype", FLOATS, **by_type)
def test_leaky_relu(dtype):
    rng = generator(dtype.name)
    for alpha in (0.01, 0.25, -2.0):
        x = values(rng, dtype, (60,))
        got = compute("leaky_relu", x, alpha=alpha)
        expected = np.where(wide(x) < 0, x.astype(np.float64) * alpha, x.astype(np.float64))
        same(got, nearest(dtype, [float(value) for value in expected]))


# ---- two operands -----------------------------------------------------------


def trunc_divide(a, b):
    if a.dtype in INTEGERS:
        quotient = [
            0 if y == 0 else abs(int(x)) // abs(int(y)) * (-1 if (x < 0) != (y < 0) else 1)
            for x, y in zip(a.flat, b.flat, strict=True)
        ]
        return wrapped(quotient, a)
    return np.trunc(np.divide(a, b).astype(a.dtype))


def wrapped(numbers, like):
    width = 8 * like.dtype.itemsize
    flat = np.array([number % (1 << width) for number in numbers], np.uint64)
    return flat.astype(f"u{like.dtype.itemsize}").view(like.dtype).reshape(like.shape)


def divide(a, b):
    return trunc_divide(a, b) if a.dtype in INTEGERS else np.divide(a, b)


def power(a, b):
    if a.dtype in INTEGERS:
        width = 8 * a.dtype.itemsize
        pairs = zip(a.flat, b.flat, strict=True)
        return wrapped([pow(int(x), int(y), 1 << width) for x, y in pairs], a)
    return np.float_power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


def maximum(a, b):
    result = np.maximum(a, b)
    if a.dtype in INTEGERS:
        return result
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), b, a), result)


def minimum(a, b):
    result = np.minimum(a, b)
    if a.dtype in INTEGERS:
        return result
    return np.where((a == 0) & (b == 0), np.where(np.signbit(a), a, b), result)


ARITHMETIC = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": divide,
    "trunc_divide": trunc_divide,
    "trunc_mod": np.fmod,
    "floor_divide": np.floor_divide,
    "floor_mod": np.mod,
    "maximum": maximum,
    "minimum": minimum,
}
DIVISIONS = {"divide", "trunc_divide", "trunc_mod", "floor_divide", "floor_mod"}


@named("dtype", NUMBERS, **by_type)
@named("name", ARITHMETIC)
def test_arithmetic(name, dtype):
    rng = generator(name, dtype.name)
    for _ in range(25):
        _, (left, right) = broadcasting(rng, 2)
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        if dtype in INTEGERS and name in DIVISIONS:
            b = np.where(b == 0, np.array(3, dtype), b)
        got = compute(name, a, b)
        full = [np.array(x) for x in np.broadcast_arrays(a, b)]
        expected = np.asarray(in_wide(ARITHMETIC[name], *full)).astype(dtype)
        if name == "trunc_divide" and dtype in FLOATS:
            # The quotient is rounded to the type once, after it was truncated.
            expected = np.trunc(np.divide(*map(wide, full))).astype(dtype)
        same(got, expected, name)
        canonical(got, name)


@named("dtype", INTEGERS, **by_type)
def test_powers_of_integers(dtype):
    rng = generator(dtype.name)
    for _ in range(20):
        _, (left, right) = broadcasting(rng, 2)
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        b = np.where(b < 0, np.array(5, dtype), b)
        full = [np.array(x) for x in np.broadcast_arrays(a, b)]
        same(compute("power", a, b), power(*full))


@named("dtype", FLOATS, **by_type)
def test_powers_of_floats(dtype):
    rng = generator(dtype.name)
    a = np.concatenate(
        [np.abs(values(rng, dtype, (150,), moderate=True)), values(rng, dtype, (150,))]
    )
    b = values(rng, dtype, (300,))
    b[:200] = (rng.normal(size=200) * 20).astype(dtype)
    got = compute("power", a, b)
    reference = np.float_power(a.astype(np.float64), b.astype(np.float64))
    with mpmath.workprec(160):
        for x, y, result, rough in zip(a, b, got, reference, strict=True):
            x, y, result = float(x), float(y), float(result)
            if x > 0 and math.isfinite(x) and math.isfinite(y) and abs(y * math.log(x)) < 1e5:
                error = error_in_ulps(result, mpmath.mpf(x) ** mpmath.mpf(y), dtype)
                assert error <= (2 if dtype == np.float64 else 1), (x, y, result, float(error))
            elif math.isnan(rough) or rough in (0, 1) or (math.isinf(rough) and math.isinf(x)):
                assert str(result) == str(abs(rough) if rough != rough else float(rough)), (x, y)


SHIFTS = {"left_shift": np.left_shift, "right_shift": np.right_shift}
BITWISE = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
LOGICAL = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


@named("dtype", [*INTEGERS, BOOL], **by_type)
@named("name", [*SHIFTS, *BITWISE, *LOGICAL])
def test_bits_and_logic(name, dtype):
    rng = generator(name, dtype.name)
    for _ in range(10):
        _, (left, right) = broadcasting(rng, 2)
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        if name in SHIFTS:
            b = rng.integers(0, 8 * dtype.itemsize, right).astype(dtype)
        allowed = dtype == BOOL if name in LOGICAL else dtype != BOOL or name in BITWISE
        if allowed:
            same(compute(name, a, b), ({**SHIFTS, **BITWISE, **LOGICAL})[name](a, b), name)
        else:
            assert kind_of_error(name, a, b) == "Type"


@named("dtype", [*NUMBERS, BOOL], **by_type)
@named("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(name, dtype):
    rng = generator(name, dtype.name)
    for _ in range(12):
        _, (left, right) = broadcasting(rng, 2)
        a, b = values(rng, dtype, left), values(rng, dtype, right)
        same(compute(name, a, b), getattr(np, name)(wide(a), wide(b)), name)


def test_undefined_results_of_integers():
    for dtype in INTEGERS:
        a, zero, nothing = np.array([1, 2], dtype), np.array([3, 0], dtype), np.zeros((0, 1), dtype)
        for name in DIVISIONS:
            assert kind_of_error(name, a, zero) == "Undefined"
            assert compute(name, nothing, zero).shape == (0, 2)
        for name in SHIFTS:
            assert kind_of_error(name, a, np.array(8 * dtype.itemsize, dtype)) == "Undefined"
            if dtype in SIGNED:
                assert kind_of_error(name, a, np.array(-1, dtype)) == "Undefined"
        if dtype in SIGNED:
            assert kind_of_error("power", a, np.array(-1, dtype)) == "Undefined"


def test_operands_of_different_types_or_shapes():
    a, b = np.zeros(3, np.float32), np.zeros(3, np.int32)
    assert kind_of_error("add", a, b) == "Type"
    assert kind_of_error("less", a, b) == "Type"
    assert kind_of_error("add", a, np.zeros(2, np.float32)) == "Shape"
    assert kind_of_error("left_shift", a, a) == "Type"
    for dtype in [*FLOAT8, *NIBBLES]:
        x = np.ones(2).astype(dtype)
        for name in ("add", "maximum", "less", "equal"):
            assert kind_of_error(name, x, x) == "Type"
        assert kind_of_error("negative", x) == "Type"


@named("dtype", NUMBERS, **by_type)
def test_bias_add(dtype):
    rng = generator(dtype.name)
    x, bias = values(rng, dtype, (2, 3, 4)), values(rng, dtype, (3,))
    expected = in_wide(np.add, x, np.broadcast_to(bias[:, None], (2, 3, 4)))
    same(compute("bias_add", x, bias, axis=1), expected)
    same(compute("bias_add", x, bias, axis=-2), expected)
    assert kind_of_error("bias_add", x, bias, axis=0) == "Shape"


# ---- choices and casts ------------------------------------------------------


@named("dtype", TYPES, **by_type)
def test_where(dtype):
    rng = generator(dtype.name)
    for _ in range(15):
        _, (one, two, three) = broadcasting(rng, 3)
        condition = values(rng, BOOL, one)
        x, y = values(rng, dtype, two), values(rng, dtype, three)
        got = compute("select", condition, x, y)
        full = np.broadcast_arrays(condition, x, y)
        as_bits = np.where(full[0], kernels.bits(full[1]), kernels.bits(full[2]))
        assert kernels.bits(got).tobytes() == as_bits.tobytes()
        assert got.shape == as_bits.shape


@named("dtype", NUMBERS, **by_type)
def test_clip(dtype):
    rng = generator(dtype.name)
    for _ in range(15):
        x = values(rng, dtype, shape_of_rank(rng))
        low, high = values(rng, dtype, ()), values(rng, dtype, ())
        both = in_wide(
            minimum,
            in_wide(maximum, x, np.broadcast_to(low, x.shape)),
            np.broadcast_to(high, x.shape),
        )
        same(compute("clip", x, low, high, low=True, high=True), np.asarray(both))
        same(
            compute("clip", x, low, low=True),
            np.asarray(in_wide(maximum, x, np.broadcast_to(low, x.shape))),
        )
        same(
            compute("clip", x, high, high=True),
            np.asarray(in_wide(minimum, x, np.broadcast_to(high, x.shape))),
        )
        same(compute("clip", x), x)


def bounds(dtype):
    if dtype in NIBBLES:
        return (-8, 7) if dtype == TYPES[1] else (0, 15)
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def plain(x):
    """The elements as exact numbers of Python."""
    if x.dtype == BOOL or x.dtype in INTEGERS or x.dtype in NIBBLES:
        return [int(value) for value in x.flat]
    return [float(value) for value in x.flat]


def converted(numbers, to, saturate_float8):
    if to == BOOL:
        return np.array([number != 0 for number in numbers], bool)
    if to in FLOATS or to in FLOAT8:
        return nearest(to, numbers, saturate_float8 and to in FLOAT8)
    low, high = bounds(to)
    result = []
    for number in numbers:
        if isinstance(number, int):
            result.append((number - low) % (high - low + 1) + low)
        elif math.isnan(number):
            result.append(0)
        elif math.isinf(number):
            result.append(high if number > 0 else low)
        else:
            result.append(min(max(int(number), low), high))
    return np.array(result, np.dtype(object)).astype(to)


@named("to", TYPES, **by_type)
@named("source", TYPES, **by_type)
def test_casts_between_all_types(source, to):
    rng = generator(source.name, to.name)
    for saturate_float8 in (False, True):
        x = np.concatenate([values(rng, source, (60,)), specials(source)])
        got = compute("cast", x, to=to.name, saturate=True, saturate_float8=saturate_float8)
        if source == to:
            assert got.tobytes() == x.tobytes()
            continue
        numbers = plain(x)
        same(got, converted(numbers, to, saturate_float8), f"{source} to {to}")
        canonical(got)
    if source.name.startswith(("float", "bfloat")) and (to in INTEGERS or to in NIBBLES):
        low, high = bounds(to)
        outside = [not math.isfinite(n) or not low <= int(n) <= high for n in numbers]
        for one, fails in zip(x, outside, strict=True):
            assert kind_of_error("cast", one, to=to.name) == ("Undefined" if fails else None)


@named("dtype", [*FLOATS, *FLOAT8, *INTEGERS], **by_type)
def test_casts_agree_with_numpy_where_it_rounds_once(dtype):
    x = generator(dtype.name).integers(-120, 120, 50).astype(np.float32) / 8
    if dtype in INTEGERS:
        x = np.abs(x)
    same(compute("cast", x, to=dtype.name), x.astype(dtype))


def test_casts_keep_shapes():
    for shape in [(), (0,), (2, 0, 3), (2, 3)]:
        assert compute("cast", np.ones(shape, np.float32), to="int8").shape == shape


def test_nibbles_are_packed_and_unpacked():
    for dtype in NIBBLES:
        for count in (0, 1, 2, 7):
            x = values(generator(dtype.name, count), dtype, (count,))
            packed = compute("pack", x)
            codes = x.astype(np.int8).view(np.uint8) & 15
            padded = np.append(codes, np.zeros(count % 2, np.uint8))
            same(packed, padded[::2] | (padded[1::2] << 4))
            same(compute("unpack", packed, to=dtype.name, shape=[count]), x)


def test_nothing_is_nan_by_accident():
    assert is_nan(np.array([np.nan])).all()
    assert operator.not_(is_nan(np.array([1.0])).any())
