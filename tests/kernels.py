"""Kernels of tensor operators by name, and random operands for them."""

import bisect
import functools
import itertools
import math

import ml_dtypes
import numpy as np
import pytest

from isoform import _core

# In the order of `ElementType::ALL`.
NAMES = [
    "bool", "int4", "uint4", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "float8_e5m2fnuz",
]  # fmt: skip
TYPES = [np.dtype(getattr(ml_dtypes, name, None) or name) for name in NAMES]
SIGNED = [np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)]
UNSIGNED = [np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)]
INTEGERS = SIGNED + UNSIGNED
FLOATS = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
NUMBERS = INTEGERS + FLOATS
BOOL = np.dtype(bool)
FLOAT8 = TYPES[-4:]
NIBBLES = TYPES[1:3]

# References meet overflow and NaN on purpose.
MARKS = [pytest.mark.filterwarnings("ignore::RuntimeWarning")]
named = pytest.mark.parametrize
by_type = {"ids": lambda dtype: dtype.name}


def compute_all(operator, *tensors, **options):
    """Every result of an operator; the arguments of a ValueError are a kind and a message."""
    arrays = map(np.asarray, tensors)
    operands = [(array.dtype.name, array.shape, array.tobytes()) for array in arrays]
    results = _core.compute_kernel(operator, *operands, **options)
    return [
        np.frombuffer(data, TYPES[NAMES.index(name)]).reshape(shape)
        for name, shape, data in results
    ]


def compute(operator, *tensors, **options):
    """The only result of an operator."""
    (result,) = compute_all(operator, *tensors, **options)
    return result


def kind_of_error(operator, *tensors, **options):
    """The kind of the error of an operator; None for a result."""
    try:
        compute_all(operator, *tensors, **options)
    except ValueError as error:
        kind, message = error.args
        assert message
        assert not message.endswith(".")
        return kind
    return None


def bits(array):
    codes = np.frombuffer(array.tobytes(), f"u{array.dtype.itemsize}")
    return codes.reshape(array.shape)


def is_nan(array):
    if array.dtype in INTEGERS or array.dtype in NIBBLES or array.dtype == BOOL:
        return np.zeros(array.shape, bool)
    return np.isnan(array.astype(np.float32) if array.dtype.itemsize == 1 else array)


def same(got, expected, what=""):
    """Asserts equal types, shapes and bits, where all NaNs are equal."""
    expected = np.asarray(expected)
    assert got.dtype == expected.dtype, (what, got.dtype, expected.dtype)
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    equal = (bits(got) == bits(expected)) | (is_nan(got) & is_nan(expected))
    if not equal.all():
        at = tuple(np.argwhere(~equal)[0])
        raise AssertionError(f"{what}: got {got[at]!r}, expected {expected[at]!r} at {at}")


# The one NaN of each type.
NAN_BITS = {
    "float16": 0x7E00,
    "bfloat16": 0x7FC0,
    "float32": 0x7FC00000,
    "float64": 0x7FF8 << 48,
    "float8_e4m3fn": 0x7F,
    "float8_e4m3fnuz": 0x80,
    "float8_e5m2": 0x7E,
    "float8_e5m2fnuz": 0x80,
}


def canonical(got, what=""):
    """Asserts that every NaN is the positive quiet NaN without payload."""
    wrong = is_nan(got) & (bits(got) != NAN_BITS.get(got.dtype.name, 0))
    assert not wrong.any(), what


# ---- operands ----------------------------------------------------------------


def generator(*key):
    """Random numbers, determined by the test alone."""
    return np.random.default_rng([ord(letter) for letter in repr(key)])


def shape_of_rank(rng, low=0, high=4):
    sizes = [0, 1, 1, 2, 3, 4, 7] if rng.random() < 0.3 else [1, 2, 3, 4, 5]
    return tuple(int(rng.choice(sizes)) for _ in range(rng.integers(low, high + 1)))


def broadcasting(rng, count):
    """A shape, and shapes that together broadcast to the shape."""
    shape = shape_of_rank(rng)
    operands = []
    for number in range(count):
        one = [1 if rng.random() < 0.3 else size for size in shape]
        # The first operand has the whole shape, so the operands broadcast to this shape.
        one = shape if number == 0 else tuple(one[rng.integers(0, len(one) + 1) :])
        operands.append(tuple(one))
    rng.shuffle(operands)
    return shape, operands


def specials(dtype):
    if dtype == BOOL:
        return np.array([False, True])
    if dtype in NIBBLES:
        low = -8 if dtype == TYPES[1] else 0
        return np.arange(low, low + 16).astype(dtype)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        wanted = [0, 1, 2, 3, 7, info.max, info.max - 1, info.max // 2, info.min, info.min + 1]
        wanted += [-1, -2, -3] if info.min else [255 & info.max]
        return np.array(wanted, dtype)
    if dtype.itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(dtype)
    info = ml_dtypes.finfo(dtype)
    sizes = [0.0, 1.0, 0.5, 1.5, 2.5, 2.0, 3.0, 10.0, np.inf, np.nan]
    sizes += [float(info.max), float(info.tiny), float(info.smallest_subnormal), float(info.eps)]
    sizes += [3 * float(info.smallest_subnormal), 1 + float(info.eps), 1 - float(info.eps) / 2]
    # Around the bounds of the integer types.
    sizes += [127.0, 128.0, 255.0, 256.0, 32768.0, 65535.0, 2.0**31, 2.0**32, 2.0**63, 2.0**64]
    with np.errstate(all="ignore"):
        return np.array([sign * size for size in sizes for sign in (1.0, -1.0)]).astype(dtype)


def values(rng, dtype, shape, moderate=False):
    """Random values of a type; moderate values are finite and near 1."""
    count = math.prod(shape)
    if dtype == BOOL:
        return rng.random(shape) < 0.5
    if dtype in NIBBLES:
        return rng.choice(specials(dtype), count).reshape(shape)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        small = rng.integers(-9 if info.min else 0, 10, count).astype(dtype)
        if moderate:
            return small.reshape(shape)
        large = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        candidates = [small, large, rng.choice(specials(dtype), count)]
    elif dtype.itemsize == 1:
        return rng.choice(specials(dtype), count).reshape(shape)
    else:
        ordinary = (rng.normal(size=count) * 3).astype(dtype)
        if moderate:
            return ordinary.reshape(shape)
        wide = np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)
        half = (rng.integers(-9, 10, count) / 2).astype(dtype)
        candidates = [ordinary, wide, half, rng.choice(specials(dtype), count)]
    chosen = rng.integers(0, len(candidates), count)
    return np.array([candidates[which][at] for at, which in enumerate(chosen)], dtype).reshape(
        shape
    )


# ---- exact references --------------------------------------------------------


@functools.cache
def _magnitudes(dtype):
    """The numbers of a small float type from 0 up, by their codes, with the first one beyond."""
    codes = np.arange(1 << (8 * dtype.itemsize - 1)).astype(f"u{dtype.itemsize}").view(dtype)
    numbers = [float(value) for value in codes.astype(np.float32)]
    numbers = list(itertools.takewhile(math.isfinite, numbers))
    return [*numbers, 2 * numbers[-1] - numbers[-2]]


def nearest(dtype, numbers, saturate=False):
    """Numbers of Python, exactly, rounded once to a float type: ties to even."""
    flat = np.empty(len(numbers), dtype)
    if dtype.itemsize >= 4:
        for at, number in enumerate(numbers):
            with np.errstate(over="ignore"):
                flat[at] = np.array(number).astype(dtype)
        return flat
    table = _magnitudes(dtype)
    zero_sign = dtype.name.endswith("fnuz")
    for at, number in enumerate(numbers):
        if number != number:
            flat[at] = np.nan
            continue
        size = abs(number)
        index = bisect.bisect_right(table, size) - 1
        if index + 1 < len(table):
            twice = table[index] + table[index + 1]
            # Comparing an int with a float is exact in Python.
            above = 2 * size > twice or (2 * size == twice and index % 2 == 1)
            index += above
        if index >= len(table) - 1:
            overflow = np.nan if "fn" in dtype.name else np.inf
            flat[at] = table[-2] if saturate else overflow
        else:
            flat[at] = table[index]
        negative = math.copysign(1, number) < 0
        if negative and not (zero_sign and flat[at] == 0):
            flat[at] = -flat[at]
    return flat
