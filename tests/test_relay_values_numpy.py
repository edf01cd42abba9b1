"""Every operator of Relay against NumPy, through the evaluator, on random inputs.

The kernels have tests of their own; these are about the way there: attributes, layouts, data
types. Each call is evaluated, folded and typed, and the three must agree.
"""

import math
import random

import numpy as np
import pytest

from isoform import relay
from isoform.relay import op
from isoform.relay.op import nn

ROUNDS = 12
FLOATS = ["float32", "float64", "float16"]
INTS = ["int32", "int64", "int8", "uint8"]
EXECUTOR = relay.create_executor()


@pytest.fixture(params=range(ROUNDS))
def rng(request):
    return random.Random(request.param)


def draw_shape(rng, least=0, most=4, sizes=(1, 2, 3, 4)):
    return tuple(rng.choice(sizes) for _ in range(rng.randint(least, most)))


def numbers(rng, shape, dtype="float32"):
    source = np.random.default_rng(rng.getrandbits(32))
    if dtype == "bool":
        return source.integers(0, 2, shape).astype(bool)
    if np.issubdtype(dtype, np.integer):
        least = 0 if dtype.startswith("u") else -9
        return source.integers(least, 10, shape).astype(dtype)
    return (source.integers(-40, 41, shape) / 8).astype(dtype)


def value_of(call):
    """The value of a call of constants, after checking all computations that must agree."""
    call = call.astuple() if isinstance(call, relay.TupleWrapper) else call
    value = EXECUTOR.evaluate(call)
    folded = relay.transform.FoldConstantExpr(call)
    typed = relay.transform.InferTypeLocal(call)
    if isinstance(value, tuple):
        parts = [part.numpy() for part in value]
        known = [field.data.numpy() for field in folded.fields]
        types = typed.fields
    else:
        parts, types = [value.numpy()], [typed]
        # Calls without arguments are not folded.
        known = [folded.data.numpy()] if len(call.args) else parts
    for part, other, ty in zip(parts, known, types, strict=True):
        assert part.tobytes() == other.tobytes()
        shape = [getattr(dim, "value", None) for dim in ty.shape]
        assert str(part.dtype) == str(ty.dtype)
        assert len(shape) == part.ndim
        assert all(dim in (None, size) for dim, size in zip(shape, part.shape, strict=True))
    return parts if isinstance(value, tuple) else parts[0]


def check(call, expected, tolerance=0.0):
    expected = np.asarray(expected)
    got = value_of(call)
    assert got.shape == expected.shape
    if tolerance:
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(got, expected)


def const(array):
    return relay.const(np.asarray(array))


def near(dtype):
    return {"float16": 4e-3, "float32": 1e-5, "float64": 1e-12}[str(dtype)]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.vectorize(math.erf, otypes=["float64"])(x)


UNARY = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "exp": np.exp, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "sigmoid": sigmoid, "tanh": np.tanh, "cos": np.cos,
    "cosh": np.cosh, "sin": np.sin, "sinh": np.sinh, "tan": np.tan, "acos": np.arccos,
    "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "erf": erf,
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_floats(name, dtype):
    low, high = {"acos": (-1, 1), "asin": (-1, 1), "atanh": (-0.9, 0.9), "acosh": (1, 3)}.get(
        name, (0.1, 2)
    )
    x = np.linspace(low, high, 12).astype(dtype).reshape(3, 4)
    exact = UNARY[name](x.astype("float64"))
    check(getattr(relay, name)(const(x)), exact.astype(dtype), near(dtype))


def test_exact_functions(rng):
    dtype = rng.choice([*FLOATS, *INTS])
    x = numbers(rng, draw_shape(rng), dtype)
    for name, expected in {
        "abs": np.abs, "sign": np.sign, "negative": np.negative, "copy": np.copy,
        "zeros_like": np.zeros_like, "ones_like": np.ones_like,
    }.items():  # fmt: skip
        check(getattr(relay, name)(const(x)), expected(x))
    y = numbers(rng, draw_shape(rng), rng.choice(FLOATS))
    y = np.where(numbers(rng, y.shape, "bool"), y, y.dtype.type("nan"))
    for name, expected in {
        "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round,
        "isnan": np.isnan, "isfinite": np.isfinite, "isinf": np.isinf,
    }.items():  # fmt: skip
        check(getattr(relay, name)(const(y)), expected(y))
    check(relay.logical_not(const(x > 0)), ~(x > 0))


def test_bitwise_not(rng):
    x = numbers(rng, (5,), rng.choice(INTS))
    check(relay.bitwise_not(const(x)), ~x)


def pair_of(rng, dtype):
    shape = draw_shape(rng)
    other = tuple(rng.choice([1, size]) for size in shape)[rng.randint(0, len(shape)) :]
    x, y = numbers(rng, shape, dtype), numbers(rng, other, dtype)
    return (x, y) if rng.random() < 0.5 else (y, x)


def test_arithmetic(rng):
    dtype = rng.choice([*FLOATS, *INTS])
    x, y = pair_of(rng, dtype)
    for name in ["add", "subtract", "multiply", "maximum", "minimum"]:
        check(getattr(relay, name)(const(x), const(y)), getattr(np, name)(x, y))
    for name in ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]:
        check(getattr(relay, name)(const(x), const(y)), getattr(np, name)(x, y))


def test_division_of_integers(rng):
    dtype = rng.choice(INTS)
    x, y = pair_of(rng, dtype)
    y = np.where(y == 0, y.dtype.type(3), y)
    wide, divisor = x.astype("int64"), y.astype("int64")
    quotient = np.trunc(wide / divisor).astype(dtype)
    rest = np.fmod(wide, divisor).astype(dtype)
    for name, expected in {
        "divide": quotient, "trunc_divide": quotient, "mod": rest, "trunc_mod": rest,
        "floor_divide": x // y, "floor_mod": x % y,
    }.items():  # fmt: skip
        check(getattr(relay, name)(const(x), const(y)), expected)


def test_division_of_floats(rng):
    x, y = pair_of(rng, "float64")
    y = np.where(y == 0, 0.75, y)
    for name, expected in {
        "divide": x / y, "trunc_divide": np.trunc(x / y), "mod": np.fmod(x, y),
        "trunc_mod": np.fmod(x, y), "floor_divide": x // y, "floor_mod": x % y,
    }.items():  # fmt: skip
        check(getattr(relay, name)(const(x), const(y)), expected)


def test_powers_shifts_and_bits(rng):
    x, y = pair_of(rng, "int32")
    bits = np.abs(y) % 5
    check(relay.left_shift(const(x), const(bits)), x << bits)
    check(relay.right_shift(const(x), const(bits)), x >> bits)
    check(relay.power(const(x), const(bits)), x**bits)
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        check(getattr(relay, name)(const(x), const(y)), getattr(np, name)(x, y))
    x, y = pair_of(rng, "bool")
    for name in ["logical_and", "logical_or", "logical_xor"]:
        check(getattr(relay, name)(const(x), const(y)), getattr(np, name)(x, y))
    x, y = np.abs(pair_of(rng, "float64")[0]) + 0.5, np.float64(1.25)
    check(relay.power(const(x), const(y)), x**y, 1e-12)


def test_cast(rng):
    x = numbers(rng, draw_shape(rng), rng.choice(["float32", "int32", "bool"]))
    for dtype in ["float32", "int64", "bool", "float16", "int8"]:
        check(relay.cast(const(x), dtype), x.astype(dtype))
        check(relay.cast_like(const(x), const(np.zeros(2, dtype))), x.astype(dtype))


def test_reshape(rng):
    x = numbers(rng, (2, 3, 4))
    for newshape, expected in {
        (4, 6): (4, 6), (-1,): (24,), (0, -1): (2, 12), (-3, 4): (6, 4), (-2,): (2, 3, 4),
        (-4, 1, 2, -2): (1, 2, 3, 4), (0, 0, 2, 2): (2, 3, 2, 2), (-4, -1, 1, 3, 4): (2, 1, 3, 4),
    }.items():  # fmt: skip
        check(relay.reshape(const(x), newshape), x.reshape(expected))
    check(relay.reverse_reshape(const(x), (-1, 0)), x.reshape(6, 4))
    check(relay.reshape_like(const(x), const(np.zeros((6, 4)))), x.reshape(6, 4))
    like = relay.reshape_like(const(x), const(np.zeros((7, 12))), lhs_begin=1, rhs_begin=1)
    check(like, x.reshape(2, 12))
    check(nn.batch_flatten(const(x)), x.reshape(2, 12))
    empty = np.zeros((0, 3), "float32")
    check(relay.reshape(const(empty), (3, 0), allowzero=True), empty.reshape(3, 0))


def test_axes(rng):
    shape = draw_shape(rng, 1)
    x = numbers(rng, shape, rng.choice(["float32", "int8", "bool"]))
    axes = list(range(len(shape)))
    rng.shuffle(axes)
    check(relay.transpose(const(x)), x.T)
    check(relay.transpose(const(x), axes), x.transpose(axes))
    axis = rng.randint(-len(shape) - 1, len(shape))
    position = axis if axis >= 0 else axis + len(shape) + 1
    expected = x.reshape(shape[:position] + (1, 1) + shape[position:])
    check(relay.expand_dims(const(x), axis, num_newaxis=2), expected)
    check(relay.squeeze(const(expected)), np.squeeze(expected))
    check(relay.squeeze(const(expected), [position]), np.squeeze(expected, position))
    axis = rng.randrange(-len(shape), len(shape))
    check(relay.reverse(const(x), axis), np.flip(x, axis))
    check(relay.repeat(const(x), 3, axis), np.repeat(x, 3, axis))
    check(relay.repeat(const(x), 2), np.repeat(x, 2))
    reps = draw_shape(rng, 1, 3)
    check(relay.tile(const(x), reps), np.tile(x, reps))


def test_joined_and_split(rng):
    shape = draw_shape(rng, 1)
    axis = rng.randrange(-len(shape), len(shape))
    parts = [numbers(rng, shape, "int32") for _ in range(rng.randint(1, 4))]
    constants = [const(part) for part in parts]
    check(relay.concatenate(constants, axis), np.concatenate(parts, axis))
    new = rng.randint(-len(shape) - 1, len(shape))
    check(relay.stack(constants, new), np.stack(parts, new))
    joined = np.concatenate(parts * 2, axis)
    for cuts in (2 * len(parts), [1, joined.shape[axis] - 1]):
        for got, expected in zip(
            value_of(relay.split(const(joined), cuts, axis)),
            np.split(joined, cuts, axis),
            strict=True,
        ):
            np.testing.assert_array_equal(got, expected)


def test_strided_slice(rng):
    shape = draw_shape(rng, 1, 3, (3, 4, 5))
    x = numbers(rng, shape, "int32")
    begin = [rng.randint(-6, 6) for _ in shape]
    end = [rng.randint(-6, 6) for _ in shape]
    steps = [rng.choice([1, 2, -1, -2]) for _ in shape]
    slices = tuple(slice(*part) for part in zip(begin, end, steps, strict=True))
    check(relay.strided_slice(const(x), begin, end, steps), x[slices])
    check(relay.strided_slice(const(x), begin[:1], end[:1]), x[begin[0] : end[0]])
    axis = rng.randrange(-len(shape), len(shape))
    expected = np.moveaxis(np.moveaxis(x, axis, 0)[1:3], 0, axis)
    check(relay.strided_slice(const(x), [1], [3], axes=[axis]), expected)
    check(relay.strided_slice(const(x), [1], [-1], slice_mode="size"), x[1:])
    check(relay.strided_slice(const(x), [1], [2], slice_mode="size"), x[1:3])


def test_taken_and_gathered(rng):
    shape = draw_shape(rng, 1, 3)
    x = numbers(rng, shape)
    axis = rng.randrange(-len(shape), len(shape))
    size = shape[axis]
    indices = numbers(rng, draw_shape(rng, 0, 2), "int32")
    check(relay.take(const(x), const(indices), axis), np.take(x, indices, axis, mode="clip"))
    wrapped = relay.take(const(x), const(indices), axis, mode="wrap")
    check(wrapped, np.take(x, indices, axis, mode="wrap"))
    check(relay.take(const(x), const(indices)), np.take(x, indices, mode="clip"))
    along = np.abs(numbers(rng, shape, "int64")) % size
    check(relay.gather(const(x), axis, const(along)), np.take_along_axis(x, along, axis))
    places = np.stack([np.abs(numbers(rng, (3,), "int32")) % dim for dim in shape])
    check(relay.gather_nd(const(x), const(places)), x[tuple(places)])
    check(relay.gather_nd(const(x), const(places[:1])), x[places[0]])
    batched = numbers(rng, (2, 3, 4))
    at = np.array([[0, 2], [1, 1]])
    expected = np.stack([batched[row][at[row]] for row in range(2)])
    check(relay.take(const(batched), const(at), 1, batch_dims=1), expected)
    with pytest.raises(ValueError, match="operator take"):
        EXECUTOR.evaluate(relay.take(const(x), const(np.int32(size)), axis, mode="fast"))


def test_created(rng):
    shape = draw_shape(rng)
    check(relay.zeros(shape, "int8"), np.zeros(shape, "int8"))
    check(relay.ones(shape, "float16"), np.ones(shape, "float16"))
    check(relay.full(const(np.float32(2.5)), shape), np.full(shape, 2.5, "float32"))
    check(relay.full(const(np.float32(2.5)), shape, "float64"), np.full(shape, 2.5))
    x = numbers(rng, shape, "int32")
    check(relay.full_like(const(x), const(np.int32(7))), np.full_like(x, 7))
    for start, stop, step in [(0, 5, 1), (7, -3, -2), (1, 9, 3), (3, 3, 1)]:
        numbers_ = [relay.const(number, "int32") for number in (start, stop, step)]
        check(relay.arange(*numbers_, dtype="int32"), np.arange(start, stop, step, "int32"))
        check(relay.arange(*numbers_, dtype="float32"), np.arange(start, stop, step, "float32"))
    halves = [relay.const(number, "float32") for number in (0.0, 2.0, 0.25)]
    check(relay.arange(*halves), np.arange(0, 2, 0.25, "float32"))


def test_broadcast_and_collapse(rng):
    shape = draw_shape(rng, 1)
    small = tuple(rng.choice([1, size]) for size in shape)[rng.randint(0, len(shape)) :]
    x, y = numbers(rng, small, "int32"), numbers(rng, shape, "int32")
    check(relay.broadcast_to(const(x), shape), np.broadcast_to(x, shape))
    check(relay.broadcast_to_like(const(x), const(y)), np.broadcast_to(x, shape))
    missing = len(shape) - len(small)
    grown = [at for at in range(len(shape)) if at < missing or small[at - missing] == 1]
    expected = y.sum(tuple(grown), dtype="int32").reshape(small)
    check(relay.collapse_sum_to(const(y), small), expected)
    check(relay.collapse_sum_like(const(y), const(x)), expected)
    condition = numbers(rng, small, "bool")
    zeros = np.zeros(shape[-1:], "int32")
    check(relay.where(const(condition), const(y), const(zeros)), np.where(condition, y, zeros))
    check(relay.where(const(x), const(y), const(zeros)), np.where(x, y, zeros))


def test_clip_sizes_and_sorting(rng):
    shape = draw_shape(rng, 1)
    x = numbers(rng, shape, rng.choice(["float32", "int32", "int8"]))
    check(relay.clip(const(x), -2.0, 3.0), np.clip(x, -2, 3))
    check(relay.clip(const(x.astype("int8")), -1e9, 1.0), np.minimum(x.astype("int8"), 1))
    for dtype in ["int32", "int64", "float32"]:
        check(relay.shape_of(const(x), dtype), np.array(shape, dtype))
        check(relay.ndarray_size(const(x), dtype), np.array(x.size, dtype))
    axis = rng.randrange(-len(shape), len(shape))
    order = np.argsort(x, axis, kind="stable")
    check(relay.argsort(const(x), axis), order.astype("int32"))
    check(relay.argsort(const(x), axis, dtype="float32"), order.astype("float32"))
    down = np.argsort(-x.astype("float64"), axis, kind="stable")
    check(relay.argsort(const(x), axis, is_ascend=False, dtype="int64"), down.astype("int64"))
    indices = numbers(rng, shape, "int32")
    new = rng.randint(-1, len(shape))
    hot = np.where(np.arange(5) == indices[..., None], np.float32(2), np.float32(-1))
    hot = np.moveaxis(hot, -1, new)
    on, off = relay.const(2.0), relay.const(-1.0)
    check(relay.one_hot(const(indices), on, off, 5, new, "float32"), hot)
    check(relay.one_hot(const(indices), on, off, 5, new, "int32"), hot.astype("int32"))


def test_layout_transform(rng):
    x = numbers(rng, (2, 8, 3, 3))
    check(relay.layout_transform(const(x), "NCHW", "NHWC"), x.transpose(0, 2, 3, 1))
    blocks = x.reshape(2, 2, 4, 3, 3).transpose(0, 1, 3, 4, 2)
    check(relay.layout_transform(const(x), "NCHW", "NCHW4c"), blocks)
    check(relay.layout_transform(const(blocks), "NCHW4c", "NCHW"), x)


def test_reductions(rng):
    shape = draw_shape(rng, 1)
    axes = tuple(at for at in range(len(shape)) if rng.random() < 0.5)
    keepdims, exclude = rng.random() < 0.5, rng.random() < 0.5
    reduced = tuple(at for at in range(len(shape)) if at not in axes) if exclude else axes
    options = {"axis": list(axes), "keepdims": keepdims, "exclude": exclude}
    numpy_options = {"axis": reduced, "keepdims": keepdims}
    x = numbers(rng, shape, rng.choice(["float64", "int64"]))
    for name in ["sum", "max", "min", "prod"]:
        check(getattr(relay, name)(const(x), **options), getattr(np, name)(x, **numpy_options))
    x = x.astype("float64")
    check(relay.mean(const(x), **options), np.mean(x, **numpy_options), 1e-12)
    check(relay.variance(const(x), **options), np.var(x, **numpy_options), 1e-12)
    count = math.prod(shape[at] for at in reduced)
    if count > 1:
        unbiased = relay.variance(const(x), **options, unbiased=True)
        check(unbiased, np.var(x, **numpy_options, ddof=1), 1e-12)
    flags = x > 0
    check(relay.all(const(flags), **options), np.all(flags, **numpy_options))
    check(relay.any(const(flags), **options), np.any(flags, **numpy_options))
    check(relay.sum(const(x)), np.sum(x))
    axis = rng.randrange(-len(shape), len(shape))
    for name in ["argmax", "argmin"]:
        function, expected = getattr(relay, name), getattr(np, name)
        check(
            function(const(x), axis, keepdims), expected(x, axis, keepdims=keepdims).astype("int32")
        )
        flipped = expected(np.flip(x, axis), axis)
        last = function(const(x), axis, select_last_index=True)
        check(last, (x.shape[axis] - 1 - flipped).astype("int32"))


def convolution(x, w, strides, padding, dilation, groups):
    """A convolution by its definition, in NCHW and OIHW."""
    top, left, bottom, right = padding
    x = np.pad(x.astype("float64"), ((0, 0), (0, 0), (top, bottom), (left, right)))
    (n, _, h, wd), (o, i, kh, kw) = x.shape, w.shape
    height = (h - (kh - 1) * dilation[0] - 1) // strides[0] + 1
    width = (wd - (kw - 1) * dilation[1] - 1) // strides[1] + 1
    out = np.zeros((n, o, height, width))
    for channel in range(o):
        group = channel // (o // groups)
        block = x[:, group * i : (group + 1) * i]
        for row in range(height):
            for column in range(width):
                y0, x0 = row * strides[0], column * strides[1]
                window = block[:, :, y0 : y0 + kh * dilation[0] : dilation[0]]
                window = window[..., x0 : x0 + kw * dilation[1] : dilation[1]][:, :, :kh, :kw]
                out[:, channel, row, column] = (window * w[channel]).sum((1, 2, 3))
    return out


def test_conv2d(rng):
    groups = rng.choice([1, 2])
    x = numbers(rng, (2, 2 * groups, 7, 6))
    w = numbers(rng, (2 * groups, 2, rng.choice([1, 2, 3]), rng.choice([1, 2])))
    strides, dilation = (rng.choice([1, 2]), rng.choice([1, 3])), (rng.choice([1, 2]), 1)
    padding = tuple(rng.choice([0, 1, 2]) for _ in range(4))
    expected = convolution(x, w, strides, padding, dilation, groups).astype("float32")
    options = {"strides": strides, "padding": padding, "dilation": dilation, "groups": groups}
    check(nn.conv2d(const(x), const(w), **options), expected, 1e-5)
    channels_last = nn.conv2d(
        const(x.transpose(0, 2, 3, 1)),
        const(w.transpose(2, 3, 1, 0)),
        **options,
        data_layout="NHWC",
        kernel_layout="HWIO",
    )
    check(channels_last, expected.transpose(0, 2, 3, 1), 1e-5)
    back = nn.conv2d(
        const(x.transpose(0, 2, 3, 1)),
        const(w),
        **options,
        data_layout="NHWC",
        out_layout="NCHW",
    )
    check(back, expected, 1e-5)
    small, weight = (array.astype("int8") for array in (x, w))
    wide = nn.conv2d(const(small), const(weight), **options, out_dtype="int32")
    check(wide, convolution(small, weight, strides, padding, dilation, groups).astype("int32"))
    one = nn.conv2d(const(x), const(w), padding=(1, 2), groups=groups)
    check(one, convolution(x, w, (1, 1), (1, 2, 1, 2), (1, 1), groups), 1e-5)


def pooled(x, size, strides, padding, dilation, ceil, function):
    """A pool by its definition, in NCHW; `function` gets the elements of a window."""
    top, left, bottom, right = padding
    n, c, h, w = x.shape
    extent = [(size[side] - 1) * dilation[side] + 1 for side in range(2)]
    room = [h + top + bottom - extent[0], w + left + right - extent[1]]
    count = [
        (room[side] + (strides[side] - 1 if ceil else 0)) // strides[side] + 1 for side in range(2)
    ]
    out = np.zeros((n, c, *count))
    for row, column in np.ndindex(*count):
        rows = [row * strides[0] - top + at * dilation[0] for at in range(size[0])]
        columns = [column * strides[1] - left + at * dilation[1] for at in range(size[1])]
        inside = [(y, z) for y in rows for z in columns if 0 <= y < h and 0 <= z < w]
        padded = [(y, z) for y in rows for z in columns if y < h + bottom and z < w + right]
        values = [x[:, :, y, z] for y, z in inside]
        out[:, :, row, column] = function(values, len(padded))
    return out


def test_pools(rng):
    x = numbers(rng, (2, 3, 6, 5))
    size, strides = (rng.choice([2, 3]), 2), (rng.choice([1, 2]), rng.choice([1, 2]))
    dilation = (1, rng.choice([1, 2]))
    padding = tuple(rng.choice([0, 1]) for _ in range(4))
    ceil = rng.random() < 0.5
    shape = {"strides": strides, "padding": padding, "dilation": dilation, "ceil_mode": ceil}

    def expected(function):
        return pooled(x, size, strides, padding, dilation, ceil, function).astype("float32")

    def highest(values, _):
        # A window may lie in the padding.
        return np.max(values, 0) if values else -np.inf

    check(nn.max_pool2d(const(x), size, **shape), expected(highest))
    mean = expected(lambda values, _: np.mean(values, 0) if values else 0)
    check(nn.avg_pool2d(const(x), size, **shape), mean, 1e-6)
    whole = expected(lambda values, count: np.sum(values, 0) / max(count, 1))
    check(nn.avg_pool2d(const(x), size, **shape, count_include_pad=True), whole, 1e-6)
    last = nn.avg_pool2d(const(x.transpose(0, 2, 3, 1)), size, **shape, layout="NHWC")
    check(last, mean.transpose(0, 2, 3, 1), 1e-6)
    check(nn.global_avg_pool2d(const(x)), x.mean((2, 3), keepdims=True), 1e-6)
    check(nn.global_max_pool2d(const(x)), x.max((2, 3), keepdims=True))
    moved = nn.global_max_pool2d(const(x.transpose(0, 2, 3, 1)), "NHWC", "NCHW")
    check(moved, x.max((2, 3), keepdims=True))


def test_products(rng):
    x, w = numbers(rng, (3, 4)), numbers(rng, (5, 4))
    check(nn.dense(const(x), const(w)), x @ w.T, 1e-5)
    check(nn.dense(const(x[0]), const(w)), x[0] @ w.T, 1e-5)
    whole = [array.astype("int8") for array in (x, w)]
    expected = whole[0].astype("int32") @ whole[1].astype("int32").T
    check(nn.dense(const(whole[0]), const(whole[1]), out_dtype="int32"), expected)
    check(nn.matmul(const(x), const(w.T)), x @ w.T, 1e-5)
    check(nn.matmul(const(x.T), const(w), transpose_a=True, transpose_b=True), x @ w.T, 1e-5)
    a, b = numbers(rng, (rng.choice([1, 3]), 2, 4)), numbers(rng, (3, 5, 4))
    check(nn.batch_matmul(const(a), const(b)), a @ b.transpose(0, 2, 1), 1e-5)
    turned = nn.batch_matmul(
        const(a.transpose(0, 2, 1)),
        const(b.transpose(0, 2, 1)),
        transpose_a=True,
        transpose_b=False,
    )
    check(turned, a @ b.transpose(0, 2, 1), 1e-5)


def test_normalization(rng):
    shape = draw_shape(rng, 2, 4)
    x = numbers(rng, shape)
    axis = rng.randrange(-len(shape), len(shape))
    wide = x.astype("float64")
    exponentials = np.exp(wide - wide.max(axis, keepdims=True))
    soft = exponentials / exponentials.sum(axis, keepdims=True)
    check(nn.softmax(const(x), axis), soft.astype("float32"), 1e-6)
    check(nn.log_softmax(const(x), axis), np.log(soft).astype("float32"), 1e-5)

    def along(vector):
        return np.moveaxis(vector.reshape((-1,) + (1,) * (len(shape) - 1)), 0, axis)

    gamma, beta, mean = (numbers(rng, (shape[axis],)) for _ in range(3))
    variance = np.abs(numbers(rng, (shape[axis],))) + 1
    check(nn.bias_add(const(x), const(beta), axis), x + along(beta))
    parts = [const(part) for part in (gamma, beta, mean, variance)]
    for center, scale in [(True, True), (False, True), (True, False)]:
        norm = (wide - along(mean)) / np.sqrt(along(variance) + 1e-3)
        norm = norm * along(gamma) if scale else norm
        norm = norm + along(beta) if center else norm
        options = {"axis": axis, "epsilon": 1e-3, "center": center, "scale": scale}
        got = value_of(nn.batch_norm(const(x), *parts, **options))
        np.testing.assert_allclose(got[0], norm, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(got[1], mean)
        np.testing.assert_array_equal(got[2], variance)
        layer = (wide - wide.mean(axis, keepdims=True)) / np.sqrt(
            wide.var(axis, keepdims=True) + 1e-3
        )
        layer = layer * along(gamma) if scale else layer
        layer = layer + along(beta) if center else layer
        check(nn.layer_norm(const(x), const(gamma), const(beta), **options), layer, 1e-4)


def test_activations_and_padding(rng):
    x = numbers(rng, draw_shape(rng, 1), rng.choice(FLOATS))
    check(nn.relu(const(x)), np.maximum(x, 0))
    slope = np.where(x < 0, x.astype("float64") * 0.3, x).astype(x.dtype)
    check(nn.leaky_relu(const(x), 0.3), slope, near(x.dtype))
    widths = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in x.shape]
    padded = np.pad(x, widths, constant_values=1.5)
    check(nn.pad(const(x), widths, relay.const(1.5)), padded)
    check(nn.pad(const(x), widths, pad_mode="edge"), np.pad(x, widths, "edge"))
    y = numbers(rng, (4, 5))
    check(
        nn.pad(const(y), [(1, 2), (0, 3)], pad_mode="reflect"),
        np.pad(y, [(1, 2), (0, 3)], "reflect"),
    )
    # In inference, nothing is dropped.
    np.testing.assert_array_equal(EXECUTOR.evaluate(nn.dropout(const(x), 0.9)).numpy(), x)


def test_annotations_return_their_input():
    x = np.arange(4)
    for wrapped in (
        op.annotation.stop_fusion(const(x)),
        op.annotation.compiler_begin(const(x), "c"),
        op.annotation.compiler_end(const(x), "c"),
        op.annotation.checkpoint(const(x)),
        op.annotation.on_device(const(x), None),
    ):
        np.testing.assert_array_equal(EXECUTOR.evaluate(wrapped).numpy(), x)
