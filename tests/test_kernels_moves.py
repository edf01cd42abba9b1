"""Operators that move elements, and operators with indices, against NumPy."""

import itertools
import math

import kernels
import numpy as np
from kernels import (
    BOOL,
    FLOATS,
    INTEGERS,
    NUMBERS,
    TYPES,
    broadcasting,
    by_type,
    compute,
    compute_all,
    generator,
    is_nan,
    kind_of_error,
    named,
    nearest,
    same,
    shape_of_rank,
    values,
)

pytestmark = kernels.MARKS
# Moves look at the size of elements alone: one type of each size, and the special
# types.
MOVED = [
    t for t in TYPES if t.name in {"bool", "int4", "float8_e5m2", "bfloat16", "int32", "float64"}
]


def moved(got, expected, what=""):
    """Asserts equal bytes, NaNs and signs included."""
    expected = np.ascontiguousarray(expected).reshape(np.shape(expected))
    assert got.dtype == expected.dtype, what
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    assert got.tobytes() == expected.tobytes(), what


def operands(dtype, low=0, count=25):
    rng = generator(dtype.name, low)
    for _ in range(count):
        yield rng, values(rng, dtype, shape_of_rank(rng, low))


# ---- shapes -----------------------------------------------------------------


def reshaped(shape, codes, allow_zero=False):
    """The shape that the codes lead to, computed slowly: a factor is tried for -1."""
    total = math.prod(shape)
    for unknown in range(total + 1):
        source, result, at = list(shape), [], 0
        while at < len(codes):
            code = codes[at]
            at += 1
            if code == -2:
                result += source
                source = []
            elif code == -3:
                result.append(source.pop(0) * source.pop(0))
            elif code == -4:
                size, parts = source.pop(0), list(codes[at : at + 2])
                at += 2
                if -1 in parts:
                    parts[parts.index(-1)] = size // max(parts[1 - parts.index(-1)], 1)
                assert math.prod(parts) == size
                result += parts
            elif code == 0 and not allow_zero:
                result.append(source.pop(0))
            else:
                result.append(unknown if code == -1 else code)
                source = source[1:]
        if math.prod(result) == total:
            return tuple(result)
    raise AssertionError("no such shape")


def test_reshape_codes():
    rng = generator("codes")
    for _ in range(400):
        shape = tuple(int(size) for size in rng.integers(1, 5, rng.integers(0, 5)))
        codes, left, unknown = [], list(shape), False
        while left:
            choice = rng.integers(0, 6)
            if choice == 0:
                codes.append(0)
                left.pop(0)
            elif choice == 1 and not unknown:
                codes.append(-1)
                unknown = True
                left.pop(0)
            elif choice == 2:
                codes.append(-2)
                left = []
            elif choice == 3 and len(left) > 1:
                codes.append(-3)
                left = left[2:]
            elif choice == 4:
                size = left.pop(0)
                factor = int(rng.choice([f for f in range(1, size + 1) if size % f == 0]))
                parts = [factor, size // factor]
                if rng.random() < 0.5:
                    parts[rng.integers(0, 2)] = -1
                codes += [-4, *parts]
            else:
                codes.append(left.pop(0))
        x = values(rng, np.dtype(np.int16), shape)
        moved(compute("reshape", x, codes=codes), x.reshape(reshaped(shape, codes)), codes)


def test_reshape_corner_cases():
    def result(shape, codes, **options):
        return compute("reshape", np.zeros(shape, np.int8), codes=codes, **options).shape

    assert result((2, 0), [0, 0]) == (2, 0)
    assert result((2, 3), [-1]) == (6,)
    assert result((), [-1]) == (1,)
    assert result((1,), []) == ()
    assert result((3, 0), [0, 5], allow_zero=True) == (0, 5)
    assert result((0, 3), [-1, 3]) == (0, 3)
    # Copied sizes cancel out, except with `counted`, as in ONNX.
    assert result((0,), [0, -1]) == (0, 1)
    assert result((0, 3), [0, -1]) == (0, 3)
    assert result((2, 3), [0, -1], counted=True) == (2, 3)
    assert result((0, 4), [-3, -1]) == (0, 1)
    assert result((0, 6), [0, -4, 2, -1, -1]) == (0, 2, 3, 1)
    assert result((2, 3, 4), [-2]) == (2, 3, 4)
    for shape, codes in [
        ((2, 3), [-1, -1]),
        ((2, 3), [4, -1]),
        ((2, 3), [7]),
        ((2,), [0, 0]),
        ((2,), [-3]),
        ((6,), [-4, 4, -1]),
        ((6,), [-4, -1, -1]),
        ((6,), [-4, 2]),
        ((2,), [-5]),
        ((0, 3), [0, 2, -1]),
        ((3, 0), [-1, 0, 2]),
        ((0,), [-4, 0, 2]),
    ]:
        assert kind_of_error("reshape", np.zeros(shape, np.int8), codes=codes) == "Shape", codes
    for codes in ([0, -1], [-1, 0]):
        data = np.zeros((0, 0), np.int8)
        assert kind_of_error("reshape", data, codes=codes, counted=True) == "Shape", codes
    assert kind_of_error("reshape", np.zeros((0,)), codes=[0, -1], allow_zero=True) == "Shape"


def test_reverse_reshape_reads_from_the_right():
    def result(shape, codes):
        return compute("reverse_reshape", np.zeros(shape, np.int8), codes=codes).tolist()

    assert result((10, 5, 4), [-1, 0]) == [50, 4]
    assert result((2, 3, 4), [-2, 0]) == [2, 3, 4]
    assert result((2, 3, 4), [0, -3]) == [2, 12]
    assert result((2, 12), [0, -4, 3, -1]) == [2, 3, 4]
    assert result((2, 3, 5, 5), [0, -1]) == [5, 30]


@named("dtype", MOVED, **by_type)
def test_transpose(dtype):
    for rng, x in operands(dtype):
        order = [
            int(axis) - (x.ndim if rng.random() < 0.3 else 0) for axis in rng.permutation(x.ndim)
        ]
        moved(compute("transpose", x, axes=order), np.transpose(x, order))
        moved(compute("transpose", x), np.transpose(x))
    square = np.zeros((2, 2), dtype)
    for wrong in ([0], [0, 0], [0, 2], [0, 1, 2]):
        assert kind_of_error("transpose", square, axes=wrong) == "Shape"


@named("dtype", MOVED, **by_type)
def test_squeeze_and_expand_dims(dtype):
    for rng, x in operands(dtype):
        moved(compute("squeeze", x), x.reshape([size for size in x.shape if size != 1]))
        ones = [axis for axis, size in enumerate(x.shape) if size == 1]
        moved(compute("squeeze", x, axes=ones[:1]), np.squeeze(x, tuple(ones[:1])))
        axis = int(rng.integers(-x.ndim - 1, x.ndim + 1))
        moved(compute("expand_dims", x, axis=axis, count=1), np.expand_dims(x, axis))
        count = int(rng.integers(0, 4))
        at = axis % (x.ndim + 1)
        expected = x.reshape(x.shape[:at] + (1,) * count + x.shape[at:])
        moved(compute("expand_dims", x, axis=axis, count=count), expected)
    assert kind_of_error("squeeze", np.zeros((2, 1), dtype), axes=[0]) == "Shape"
    assert kind_of_error("expand_dims", np.zeros(2, dtype), axis=2, count=1) == "Shape"


@named("dtype", MOVED, **by_type)
def test_broadcast_to_and_full(dtype):
    rng = generator(dtype.name)
    for _ in range(25):
        shape, (one, two) = broadcasting(rng, 2)
        x = values(rng, dtype, two if one == shape else one)
        moved(compute("broadcast_to", x, shape=shape), np.broadcast_to(x, shape))
        scalar = values(rng, dtype, ())
        moved(compute("full", scalar, shape=shape), np.broadcast_to(scalar, shape))
    assert kind_of_error("broadcast_to", np.zeros((3, 2), dtype), shape=[2]) == "Shape"
    assert kind_of_error("broadcast_to", np.zeros(3, dtype), shape=[1]) == "Shape"
    assert kind_of_error("full", np.zeros(3, dtype), shape=[3]) == "Shape"
    assert kind_of_error("full", np.zeros((), dtype), shape=[1 << 40]) == "TooLarge"
    assert kind_of_error("full", np.zeros((), dtype), shape=[1 << 40, 1 << 40]) == "TooLarge"
    # Zero elements, but a product of sizes that cannot be computed.
    assert kind_of_error("full", np.zeros((), dtype), shape=[1 << 40, 1 << 40, 0]) == "TooLarge"
    assert compute("full", np.zeros((), dtype), shape=[1 << 40, 0]).shape == (1 << 40, 0)


# ---- joining and taking apart -----------------------------------------------


@named("dtype", MOVED, **by_type)
def test_concatenate_stack_and_split(dtype):
    for rng, x in operands(dtype, 1):
        axis = int(rng.integers(-x.ndim, x.ndim))
        parts = [x]
        for _ in range(rng.integers(0, 4)):
            shape = list(x.shape)
            shape[axis] = int(rng.integers(0, 4))
            parts.append(values(rng, dtype, shape))
        joined = np.concatenate(parts, axis)
        moved(compute("concatenate", *parts, axis=axis), joined)
        indices = np.cumsum([part.shape[axis] for part in parts])[:-1].tolist()
        pieces = compute_all("split", joined, indices=indices, axis=axis)
        for piece, part in zip(pieces, parts, strict=True):
            moved(piece, part)
        copies = [x] + [values(rng, dtype, x.shape) for _ in range(rng.integers(0, 3))]
        at = int(rng.integers(-x.ndim - 1, x.ndim + 1))
        moved(compute("stack", *copies, axis=at), np.stack(copies, at))
    x = np.zeros((2, 3), dtype)
    assert kind_of_error("concatenate", axis=0) == "Shape"
    assert kind_of_error("concatenate", x, np.zeros((2, 4), dtype), axis=0) == "Shape"
    assert kind_of_error("concatenate", x, np.zeros(2, dtype), axis=0) == "Shape"
    other = np.zeros((2, 3), np.int16)
    assert kind_of_error("concatenate", x, other, axis=0) == "Type"
    assert kind_of_error("stack", x, np.zeros((2, 2), dtype), axis=0) == "Shape"
    assert kind_of_error("split", x, indices=[2, 1], axis=0) == "Shape"


@named("dtype", MOVED, **by_type)
def test_strided_slice_and_reverse(dtype):
    for rng, x in operands(dtype, 1, 60):
        axes = rng.permutation(x.ndim)[: rng.integers(0, x.ndim + 1)].tolist()
        slices, options = [slice(None)] * x.ndim, {"axes": axes, "begin": [], "end": [], "step": []}
        for axis in axes:
            begin, end = (
                None if rng.random() < 0.2 else int(rng.integers(-9, 10)) for _ in range(2)
            )
            step = int(rng.choice([-3, -2, -1, 1, 1, 2, 3, 2**63 - 1, -(2**63)]))
            slices[axis] = slice(begin, end, step)
            for name, value in zip(("begin", "end", "step"), (begin, end, step), strict=True):
                options[name].append(value)
        moved(compute("strided_slice", x, **options), x[tuple(slices)], slices)
        axis = int(rng.integers(-x.ndim, x.ndim))
        moved(compute("reverse", x, axis=axis), np.flip(x, axis))
    huge = {"begin": [-(2**63)], "end": [2**63 - 1], "step": [1]}
    x = np.arange(4).astype(dtype) if dtype != BOOL else np.ones(4, bool)
    moved(compute("strided_slice", x, axes=[0], **huge), x)
    assert kind_of_error("strided_slice", x, axes=[0], begin=[0], end=[1], step=[0]) == "Shape"
    twice = {"begin": [0, 0], "end": [1, 1], "step": [1, 1]}
    assert kind_of_error("strided_slice", x, axes=[0, -1], **twice) == "Shape"


@named("dtype", MOVED, **by_type)
def test_repeat_and_tile(dtype):
    for rng, x in operands(dtype, 1):
        axis, count = int(rng.integers(-x.ndim, x.ndim)), int(rng.integers(0, 4))
        moved(compute("repeat", x, repeats=count, axis=axis), np.repeat(x, count, axis))
    for rng, x in operands(dtype):
        counts = [int(count) for count in rng.integers(0, 4, rng.integers(0, 5))]
        moved(compute("tile", x, repeats=counts), np.tile(x, counts))


@named("dtype", MOVED, **by_type)
@named("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_pad(mode, dtype):
    for rng, x in operands(dtype):
        widths = [tuple(int(width) for width in rng.integers(0, 9, 2)) for _ in x.shape]
        before, after = [w[0] for w in widths], [w[1] for w in widths]
        constant = values(rng, dtype, ())
        options = {"before": before, "after": after, "mode": mode}
        if mode != "constant" and any(
            s == 0 < a + b for s, a, b in zip(x.shape, before, after, strict=True)
        ):
            if all(s + a + b for s, a, b in zip(x.shape, before, after, strict=True)):
                assert kind_of_error("pad", x, **options) == "Shape"
            continue
        if mode == "constant":
            expected = (
                np.pad(kernels.bits(x), widths, constant_values=kernels.bits(constant)[()])
                if x.ndim
                else kernels.bits(x)
            )
        else:
            expected = np.pad(kernels.bits(x), widths, mode) if x.ndim else kernels.bits(x)
        tensors = (x, constant) if mode == "constant" else (x,)
        got = compute("pad", *tensors, **options)
        assert got.dtype == dtype
        assert got.shape == expected.shape
        assert got.tobytes() == expected.tobytes()
        # Negative widths remove elements first.
        cut = [int(rng.integers(-size, 1)) for size in x.shape]
        inner = x[tuple(slice(-c, None) for c in cut)]
        if mode == "constant" or inner.size:
            left = compute("pad", *tensors, **{**options, "before": cut})
            moved(left, compute("pad", inner, *tensors[1:], **{**options, "before": [0] * x.ndim}))


def test_pad_refuses_what_does_not_fit():
    x = np.zeros((2, 3), np.float32)
    assert kind_of_error("pad", x, x[0, 0], before=[1], after=[1], mode="constant") == "Shape"
    assert (
        kind_of_error("pad", x, x[0, 0], before=[-3, 0], after=[0, 0], mode="constant") == "Shape"
    )
    assert (
        kind_of_error("pad", x, x[0, 0], before=[-3, 0], after=[2, 0], mode="constant") == "Shape"
    )
    assert (
        kind_of_error("pad", x, np.int8(0), before=[1, 0], after=[0, 0], mode="constant") == "Type"
    )


def test_layout_transform():
    rng = generator("layout")
    x = values(rng, np.dtype(np.float16), (2, 8, 3, 5))
    moved(compute("layout_transform", x, **{"from": "NCHW", "to": "NHWC"}), x.transpose(0, 2, 3, 1))
    blocked = x.reshape(2, 2, 4, 3, 5).transpose(0, 1, 3, 4, 2)
    moved(compute("layout_transform", x, **{"from": "NCHW", "to": "NCHW4c"}), blocked)
    moved(compute("layout_transform", blocked, **{"from": "NCHW4c", "to": "NCHW"}), x)
    other = x.reshape(2, 4, 2, 3, 5).transpose(3, 1, 0, 4, 2)
    moved(compute("layout_transform", blocked, **{"from": "NCHW4c", "to": "HCNW2c"}), other)
    for source, target in [
        ("NCHW", "NCH"), ("NCHW", "NCHW3c"), ("NCH", "HCN"), ("NCHW", "NCHw"), ("NCHW", "NCHW0c"),
        ("NCHW", "NNHW"), ("NCHW", "NCHW4"), ("NCHW", "NCHW4x"), ("NCHW4c", "NCHW"), ("", "NCHW"),
        ("NCHW", "NCHW99999999999999999999c"),
    ]:  # fmt: skip
        assert kind_of_error("layout_transform", x, **{"from": source, "to": target}) == "Shape"


# ---- values -----------------------------------------------------------------


@named("dtype", NUMBERS, **by_type)
def test_arange(dtype):
    rng = generator(dtype.name)
    for _ in range(40):
        low = 0 if dtype.kind == "u" else -30
        start, stop = (int(n) for n in rng.integers(low, 60, 2))
        step = int(rng.choice([1, 2, 3, 7] if dtype.kind == "u" else [-3, -1, 1, 2, 5]))
        if dtype in INTEGERS:
            expected = np.array(list(range(start, stop, step)), dtype)
        else:
            start, stop, step = start / 4, stop / 4, step / 8
            count = max(math.ceil((stop - start) / step), 0)
            expected = nearest(dtype, [start + at * step for at in range(count)])
        same(compute("arange", *(np.array(v, dtype) for v in (start, stop, step))), expected)
    zero, one = np.zeros((), dtype), np.ones((), dtype)
    assert kind_of_error("arange", zero, one, zero) == "Undefined"
    if dtype in FLOATS:
        for bad in (np.nan, np.inf):
            assert kind_of_error("arange", zero, np.array(bad, dtype), one) == "Undefined"
    if dtype == np.int64:
        assert kind_of_error("arange", np.int64(-(2**63)), np.int64(2**63 - 1), one) == "TooLarge"
    if dtype == np.uint64:
        high = np.uint64(2**64 - 1)
        same(compute("arange", high - 2, high, one), np.array([2**64 - 3, 2**64 - 2], np.uint64))


@named("dtype", MOVED, **by_type)
def test_shape_of_and_size(dtype):
    for _, x in operands(dtype):
        for to in ("int32", "int64"):
            same(compute("shape_of", x, to=to), np.array(x.shape, to))
            same(compute("size_of", x, to=to), np.array(x.size, to))
    assert kind_of_error("shape_of", np.zeros(2), to="int8") == "Type"


@named("dtype", INTEGERS, **by_type)
def test_one_hot(dtype):
    rng = generator(dtype.name)
    for from_end, axis in itertools.product([False, True], [-1, 0, 1]):
        indices = rng.integers(-6 if dtype.kind == "i" else 0, 7, (2, 3)).astype(dtype)
        on, off = np.float16(2.5), np.float16(-1)
        got = compute("one_hot", indices, on, off, depth=4, axis=axis, from_end=from_end)
        plain = indices.astype(np.int64)
        at = np.where((plain < 0) & from_end, plain + 4, plain)
        expected = np.where(at[..., None] == np.arange(4), on, off)
        same(got, np.moveaxis(expected, -1, axis).astype(np.float16))
    assert compute("one_hot", np.int64(1), np.int8(1), np.int8(0), depth=0, axis=0).shape == (0,)


# ---- indices ----------------------------------------------------------------


def resolved(indices, size, mode):
    if mode == "clip":
        return np.clip(indices, 0, size - 1)
    return indices % size


@named("dtype", MOVED, **by_type)
@named("mode", ["clip", "wrap", "from_end", "reject"])
def test_take(mode, dtype):
    rng = generator(mode, dtype.name)
    for number in range(30):
        x = values(rng, dtype, shape_of_rank(rng, 1))
        axis = int(rng.integers(-x.ndim, x.ndim))
        size = x.shape[axis]
        low, high = {
            "clip": (-9, 9),
            "wrap": (-9, 9),
            "from_end": (-size, size),
            "reject": (0, size),
        }[mode]
        index_type = INTEGERS[number % len(INTEGERS)]
        low = max(low, 0) if index_type.kind == "u" else low
        if size == 0:
            assert (
                kind_of_error(
                    "take",
                    np.zeros(0, dtype),
                    np.zeros(1, np.int8),
                    axis=0,
                    mode=mode,
                    batch_dims=0,
                )
                == "Undefined"
            )
            continue
        indices = rng.integers(low, high, shape_of_rank(rng, 0, 2)).astype(index_type)
        at = resolved(indices.astype(np.int64), size, mode)
        moved(compute("take", x, indices, axis=axis, mode=mode, batch_dims=0), np.take(x, at, axis))
        flat = resolved(indices.astype(np.int64), max(x.size, 1), mode)
        if x.size and (
            mode in ("clip", "wrap") or (np.abs(indices.astype(np.int64)) < x.size).all()
        ):
            moved(
                compute("take", x, indices, mode=mode, batch_dims=0), np.take(x.reshape(-1), flat)
            )
        # Shared axes: the same, batch by batch.
        if x.ndim > 1 and x.shape[0]:
            axis = int(rng.integers(1, x.ndim))
            if x.shape[axis]:
                high = x.shape[axis]
                indices = rng.integers(0, high, (x.shape[0], 3)).astype(np.int32)
                got = compute("take", x, indices, axis=axis, mode=mode, batch_dims=1)
                pairs = zip(x, indices, strict=True)
                moved(got, np.stack([np.take(row, at, axis - 1) for row, at in pairs]))
    x = np.zeros((2, 3), dtype)
    for bad, wrong_in in [
        (3, {"reject", "from_end"}),
        (-1, {"reject"}),
        (-4, {"reject", "from_end"}),
    ]:
        error = kind_of_error("take", x, np.int64(bad), axis=1, mode=mode, batch_dims=0)
        assert error == ("Undefined" if mode in wrong_in else None)
    assert kind_of_error("take", x, np.float32(0), axis=1, mode=mode, batch_dims=0) == "Type"
    assert (
        kind_of_error("take", x, np.zeros((3, 1), np.int8), axis=1, mode=mode, batch_dims=1)
        == "Shape"
    )
    assert (
        kind_of_error("take", x, np.zeros((2, 1), np.int8), axis=0, mode=mode, batch_dims=1)
        == "Shape"
    )


@named("dtype", MOVED, **by_type)
def test_gather(dtype):
    rng = generator(dtype.name)
    for _ in range(25):
        x = values(rng, dtype, shape_of_rank(rng, 1))
        axis = int(rng.integers(-x.ndim, x.ndim))
        size = x.shape[axis]
        if size == 0:
            continue
        shape = list(x.shape)
        shape[axis] = int(rng.integers(0, 5))
        indices = rng.integers(-size, size, shape)
        moved(
            compute("gather", x, indices, axis=axis, mode="from_end"),
            np.take_along_axis(x, indices, axis),
        )
        narrow = tuple(
            slice(0, rng.integers(0, n + 1)) if at != axis % x.ndim else slice(None)
            for at, n in enumerate(shape)
        )
        part = np.ascontiguousarray(indices[narrow])
        expected = np.take_along_axis(x, indices, axis)[narrow]
        moved(compute("gather", x, part, axis=axis, mode="from_end"), expected)
    x = np.zeros((2, 3), dtype)
    assert kind_of_error("gather", x, np.full((2, 1), 3), axis=1, mode="reject") == "Undefined"
    assert kind_of_error("gather", x, np.zeros((3, 1), int), axis=1, mode="reject") == "Shape"
    assert kind_of_error("gather", x, np.zeros(2, int), axis=1, mode="reject") == "Shape"


@named("dtype", MOVED, **by_type)
def test_gather_nd(dtype):
    rng = generator(dtype.name)
    for number in range(30):
        x = values(rng, dtype, tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 5))))
        shared = int(rng.integers(0, x.ndim)) if number % 2 else 0
        length = int(rng.integers(0, x.ndim - shared + 1))
        outer = x.shape[:shared] + tuple(int(n) for n in rng.integers(0, 4, rng.integers(0, 3)))
        tuples = np.zeros((*outer, length), np.int64)
        for part in range(length):
            tuples[..., part] = rng.integers(0, x.shape[shared + part], outer)
        expected = np.zeros(outer + x.shape[shared + length :], dtype)
        for place in itertools.product(*map(range, outer)):
            expected[place] = x[(*place[:shared], *tuples[place])]
        options = {"batch_dims": shared, "mode": "reject"}
        moved(compute("gather_nd", x, tuples, last=True, **options), expected)
        first = np.ascontiguousarray(np.moveaxis(tuples, -1, 0))
        moved(compute("gather_nd", x, first, **options), expected)
    x = np.zeros((2, 3), dtype)
    assert (
        kind_of_error("gather_nd", x, np.array([2, 0]), batch_dims=0, mode="reject") == "Undefined"
    )
    assert kind_of_error("gather_nd", x, np.zeros(3, int), batch_dims=0, mode="reject") == "Shape"
    assert kind_of_error("gather_nd", x, np.int64(0), batch_dims=0, mode="reject") == "Shape"


SCATTER = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}


@named("dtype", NUMBERS, **by_type)
@named("reduction", ["replace", *SCATTER])
def test_scatter(reduction, dtype):
    rng = generator(reduction, dtype.name)

    def join(old, new):
        return new if reduction == "replace" else SCATTER[reduction](old, new)

    options = {"mode": "from_end", "reduction": reduction}
    for _ in range(10):
        x = values(
            rng, dtype, tuple(int(n) for n in rng.integers(1, 5, rng.integers(1, 4))), moderate=True
        )
        axis = int(rng.integers(0, x.ndim))
        shape = tuple(int(rng.integers(0, n + 1)) for n in x.shape)
        indices = rng.integers(-x.shape[axis], x.shape[axis], shape)
        updates = values(rng, dtype, shape, moderate=True)
        expected = x.copy()
        for place in itertools.product(*map(range, shape)):
            at = (*place[:axis], indices[place], *place[axis + 1 :])
            expected[at] = join(expected[at], updates[place])
        same(compute("scatter_elements", x, indices, updates, axis=axis, **options), expected)
        length = int(rng.integers(0, x.ndim + 1))
        outer = (int(rng.integers(0, 5)),)
        tuples = np.zeros((*outer, length), np.int64)
        for part in range(length):
            tuples[..., part] = rng.integers(-x.shape[part], x.shape[part], outer)
        updates = values(rng, dtype, outer + x.shape[length:], moderate=True)
        expected = x.copy()
        for place in itertools.product(*map(range, outer)):
            at = tuple(tuples[place])
            expected[at] = join(expected[at], updates[place])
        same(compute("scatter_nd", x, tuples, updates, last=True, **options), expected)


@named("dtype", [*NUMBERS, BOOL], **by_type)
def test_argsort_and_top_k(dtype):
    rng = generator(dtype.name)
    for number in range(20):
        x = values(rng, dtype, shape_of_rank(rng, 1), moderate=number % 2 == 0)
        axis = int(rng.integers(-x.ndim, x.ndim))
        wide = x.astype(np.float64) if dtype in FLOATS else x
        ascending = np.argsort(wide, axis, kind="stable")
        to = ("int32", "int64", "float32", "float64")[number % 4]
        got = compute("argsort", x, axis=axis, ascending=True, to=to)
        same(got, ascending.astype(to))
        # Stable and descending: the stable order of the reversed row, reversed.
        length = x.shape[axis]
        descending = (
            length - 1 - np.flip(np.argsort(np.flip(wide, axis), axis, kind="stable"), axis)
        )
        got = compute("argsort", x, axis=axis, ascending=False, to=to)
        same(got, descending.astype(to))
        k = int(rng.integers(0, length + 1))
        for largest, order in ((True, descending), (False, ascending)):
            first = np.take(order, np.arange(k), axis)
            top, indices = compute_all("top_k", x, k=k, axis=axis, largest=largest)
            same(indices, first.astype(np.int64))
            moved(top, np.take_along_axis(x, first, axis))
    assert kind_of_error("top_k", np.zeros(3, dtype), k=4, axis=0, largest=True) == "Shape"
    assert kind_of_error("argsort", np.zeros(3, dtype), axis=0, ascending=True, to="int8") == "Type"


def test_nan_is_sorted_last():
    x = np.array([np.nan, 1.0, -np.nan, -np.inf])
    assert is_nan(x).sum() == 2
    same(
        compute("argsort", x, axis=0, ascending=True, to="int32"), np.array([3, 1, 0, 2], np.int32)
    )
