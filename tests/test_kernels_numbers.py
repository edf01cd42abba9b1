"""Reductions, products, windows and normalisations against NumPy."""

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
UNIT = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "float64": 2**-53}


def close(got, exact, slack, what=""):
    """Asserts results within `slack` of exact ones, besides the rounding to their type."""
    exact = np.asarray(exact, np.float64)
    assert got.shape == exact.shape, (what, got.shape, exact.shape)
    canonical(got, what)
    limit = float(kernels.ml_dtypes.finfo(got.dtype).max)
    least = float(kernels.ml_dtypes.finfo(got.dtype).smallest_subnormal)
    for result, number, extra in zip(
        got.astype(np.float64).flat,
        exact.flat,
        np.broadcast_to(slack, exact.shape).flat,
        strict=True,
    ):
        if math.isnan(number) or math.isinf(number):
            assert str(result) == str(abs(number) if number != number else number), what
        elif math.isinf(result):
            assert abs(number) + extra >= limit * (1 - UNIT[got.dtype.name]), what
        else:
            bound = abs(number) * UNIT[got.dtype.name] + extra + least
            assert abs(result - number) <= bound, (what, result, number, bound)


def some_axes(rng, rank):
    count = int(rng.integers(0, rank + 1))
    axes = rng.permutation(rank)[:count]
    return tuple(int(axis) - (rank if rng.random() < 0.5 else 0) for axis in axes)


# ---- reductions -------------------------------------------------------------


def reductions(rng, dtype, moderate=False):
    """Operands, axes in the form of NumPy, and equivalent options."""
    for _ in range(20):
        x = values(rng, dtype, shape_of_rank(rng), moderate)
        keep = bool(rng.random() < 0.5)
        axes = None if rng.random() < 0.3 else some_axes(rng, x.ndim)
        options = {"axes": axes, "keep_dims": keep}
        if axes is not None and rng.random() < 0.3:
            named_axes = {axis % x.ndim for axis in axes} if x.ndim else set()
            options["exclude"] = True
            axes = tuple(sorted(set(range(x.ndim)) - named_axes))
        yield x, {"axis": axes, "keepdims": keep}, options


@named("dtype", INTEGERS, **by_type)
def test_reductions_of_integers(dtype):
    rng = generator(dtype.name)
    for x, numpy_axes, options in reductions(rng, dtype):
        same(compute("sum", x, **options), np.sum(x, dtype=dtype, **numpy_axes))
        same(compute("prod", x, **options), np.prod(x, dtype=dtype, **numpy_axes))
        exact = np.sum(x.astype(object), **numpy_axes)
        count = x.size // max(np.size(exact), 1)
        if count == 0 and np.size(exact):
            for name in ("max", "min", "mean", "argmax"):
                assert kind_of_error(name, x, to="int32", **options) == "Undefined"
            continue
        same(
            compute("max", x, **options),
            np.asarray(np.max(x, **numpy_axes)) if x.size else np.sum(x, dtype=dtype, **numpy_axes),
        )
        same(
            compute("min", x, **options),
            np.asarray(np.min(x, **numpy_axes)) if x.size else np.sum(x, dtype=dtype, **numpy_axes),
        )
        means = (
            [int(abs(s)) // count * (1 if s >= 0 else -1) for s in np.asarray(exact, object).flat]
            if count
            else []
        )
        same(
            compute("mean", x, **options),
            np.array(means, object).astype(dtype).reshape(np.shape(exact)),
        )


@named("dtype", FLOATS, **by_type)
def test_reductions_of_floats(dtype):
    rng = generator(dtype.name)
    for moderate in (True, False):
        for x, numpy_axes, options in reductions(rng, dtype, moderate):
            exact = x.astype(np.longdouble)
            total = np.sum(exact, **numpy_axes)
            sizes = np.sum(np.abs(exact), **numpy_axes)
            slack = x.size * 2.0**-52 * np.where(np.isfinite(sizes), sizes, 0).astype(np.float64)
            huge = np.asarray(
                np.isinf(sizes.astype(np.float64)) & ~np.isinf(np.max(np.abs(exact), initial=0))
            )
            if not huge.any():
                close(compute("sum", x, **options), total.astype(np.float64), slack, "sum")
            count = x.size // max(np.size(total), 1)
            if not huge.any():
                mean = total / count if count else np.full(np.shape(total), np.nan)
                close(
                    compute("mean", x, **options),
                    np.asarray(mean, np.float64),
                    slack / max(count, 1),
                    "mean",
                )
            if moderate:
                product = np.prod(exact, **numpy_axes).astype(np.float64)
                close(
                    compute("prod", x, **options),
                    product,
                    x.size * 2.0**-52 * np.abs(product),
                    "prod",
                )
            if count == 0:
                if np.size(total):
                    assert kind_of_error("max", x, **options) == "Undefined"
                continue
            for name in ("max", "min"):
                got = compute(name, x, **options)
                expected = getattr(np, name)(exact, **numpy_axes)
                np.testing.assert_array_equal(got.astype(np.longdouble), expected)
                canonical(got)


@named("dtype", [*NUMBERS, BOOL], **by_type)
@named("name", ["argmax", "argmin"])
def test_positions(name, dtype):
    rng = generator(name, dtype.name)
    for number in range(30):
        x = values(rng, dtype, shape_of_rank(rng, 1))
        if number % 2:
            x = (values(rng, dtype, x.shape, moderate=True).astype(np.int8) % 3).astype(dtype)
        axis = int(rng.integers(-x.ndim, x.ndim))
        to = ("int32", "int64")[number % 2]
        if x.shape[axis] == 0:
            continue
        wide = x.astype(np.longdouble) if dtype in FLOATS else x
        if x.size == 0:
            expected = np.zeros(np.sum(x.astype(np.float32), axis=axis).shape, to)
            same(compute(name, x, axes=[axis], to=to), expected)
            continue
        same(
            compute(name, x, axes=[axis], to=to),
            np.asarray(getattr(np, name)(wide, axis=axis)).astype(to),
        )
        same(compute(name, x, to=to), np.asarray(getattr(np, name)(wide)).astype(to))
        if not is_nan(x).any():
            flipped = getattr(np, name)(np.flip(wide, axis), axis=axis)
            expected = np.asarray(x.shape[axis] - 1 - flipped).astype(to)
            same(compute(name, x, axes=[axis], to=to, last=True), expected)


def test_truth_values():
    rng = generator("truth")
    for x, numpy_axes, options in reductions(rng, BOOL):
        same(compute("all", x, **options), np.asarray(np.all(x, **numpy_axes)))
        same(compute("any", x, **options), np.asarray(np.any(x, **numpy_axes)))
        if x.size:
            same(compute("max", x, **options), np.asarray(np.max(x, **numpy_axes)))
            same(compute("min", x, **options), np.asarray(np.min(x, **numpy_axes)))
    assert kind_of_error("sum", np.array([True])) == "Type"
    assert kind_of_error("all", np.array([1])) == "Type"
    assert kind_of_error("sum", np.zeros((2, 2)), axes=[2]) == "Shape"
    assert kind_of_error("sum", np.zeros((2, 2)), axes=[0, -2]) == "Shape"


@named("dtype", FLOATS, **by_type)
def test_variance(dtype):
    rng = generator(dtype.name)
    for x, numpy_axes, options in reductions(rng, dtype, moderate=True):
        exact = x.astype(np.float64)
        for unbiased in (False, True):
            expected = np.var(exact, ddof=int(unbiased), **numpy_axes)
            count = x.size // max(np.size(expected), 1)
            if count <= unbiased:
                expected = np.full(np.shape(expected), np.nan)
            close(
                compute("variance", x, unbiased=unbiased, **options),
                expected,
                1e-14 * np.abs(expected),
                "variance",
            )
        if x.size:
            mean = np.mean(exact, **numpy_axes).astype(dtype)
            kept = np.mean(exact, axis=numpy_axes["axis"], keepdims=True).astype(dtype)
            expected = np.mean((exact - kept.astype(np.float64)) ** 2, **numpy_axes)
            close(
                compute("variance", x, mean, **options),
                expected,
                1e-14 * np.abs(expected),
                "variance",
            )


@named("dtype", NUMBERS, **by_type)
def test_collapse_sum(dtype):
    rng = generator(dtype.name)
    for _ in range(15):
        shape, (one, two) = broadcasting(rng, 2)
        target = two if one == shape else one
        x = values(rng, dtype, shape, moderate=True)
        padded = (1,) * (len(shape) - len(target)) + target
        axes = tuple(at for at, size in enumerate(padded) if size == 1)
        got = compute("collapse_sum", x, shape=target)
        if dtype in INTEGERS:
            same(got, np.sum(x, axis=axes, dtype=dtype, keepdims=True).reshape(target))
        else:
            total = np.sum(x.astype(np.float64), axis=axes, keepdims=True).reshape(target)
            close(got, total, 1e-13, "collapse_sum")
    assert kind_of_error("collapse_sum", np.zeros((2, 3)), shape=[2]) == "Shape"


# ---- products of matrices ---------------------------------------------------


def matrices(rng):
    """Shapes of two operands with a defined product."""
    rows, inner, columns = (int(rng.choice([0, 1, 2, 3, 5, 9])) for _ in range(3))
    _, (left, right) = broadcasting(rng, 2)
    left, right = left[:2], right[:2]
    try:
        np.broadcast_shapes(left, right)
    except ValueError:
        left = right = ()
    if rng.random() < 0.2:
        return (inner,), (*right, inner, columns)
    if rng.random() < 0.2:
        return (*left, rows, inner), (inner,)
    return (*left, rows, inner), (*right, inner, columns)


def turned(x):
    return np.swapaxes(x, -1, -2) if x.ndim > 1 else x


@named("dtype", NUMBERS, **by_type)
def test_products(dtype):
    rng = generator(dtype.name)
    for number in range(40):
        left, right = matrices(rng)
        moderate = dtype in FLOATS
        a, b = values(rng, dtype, left, moderate), values(rng, dtype, right, moderate)
        flags = {"left": bool(number & 1), "right": bool(number & 2)}
        operands = [
            np.ascontiguousarray(turned(x)).reshape(turned(x).shape) if flag else x
            for x, flag in zip((a, b), flags.values(), strict=True)
        ]
        got = compute("matmul", *operands, **flags)
        if dtype in INTEGERS:
            same(got, np.asarray(np.matmul(a, b)))
        else:
            exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
            sizes = np.matmul(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
            close(got, exact, sizes * 20 * 2.0**-53, "matmul")


def test_products_into_other_types():
    rng = generator("products")
    for left, right, to in itertools.product(INTEGERS, INTEGERS, INTEGERS):
        a, b = values(rng, left, (3, 4)), values(rng, right, (4, 2))
        exact = a.astype(object) @ b.astype(object)
        width = 8 * to.itemsize
        codes = np.array([int(x) % (1 << width) for x in exact.flat], np.uint64)
        expected = codes.astype(f"u{to.itemsize}").view(to).reshape(3, 2)
        same(compute("matmul", a, b, to=to.name), expected)
    half = values(rng, np.dtype(np.float16), (3, 4), moderate=True)
    exact = half.astype(np.float64) @ half.astype(np.float64).T
    close(compute("matmul", half, half, right=True, to="float32"), exact, 1e-13)
    assert kind_of_error("matmul", half, half.T.astype(np.int8)) == "Type"
    assert kind_of_error("matmul", half, half) == "Shape"
    assert kind_of_error("matmul", half, np.float16(1)) == "Shape"
    assert kind_of_error("matmul", half, half.T.copy(), to="int32") == "Type"


# ---- convolutions and pools -------------------------------------------------


def windows(rng, rank, sizes):
    """Random windows that fit, as options."""
    options = {name: [] for name in ("size", "stride", "dilation", "before", "after")}
    for axis in range(rank):
        dilation = int(rng.integers(1, 3))
        size = int(rng.integers(1, 4))
        before, after = (int(rng.integers(0, 3)) for _ in range(2))
        missing = (size - 1) * dilation + 1 - sizes[axis] - before - after
        chosen = (size, int(rng.integers(1, 4)), dilation, before, after + max(missing, 0))
        for values_of, value in zip(options.values(), chosen, strict=True):
            values_of.append(value)
    return options


def positions(options, sizes, rounding="down"):
    """The places of a window at each position, axis by axis; empty for padding."""
    axes = []
    for axis, length in enumerate(sizes):
        size, stride, dilation, before, after = (options[name][axis] for name in options)
        room = length + before + after - (size - 1) * dilation - 1
        count = (room if rounding == "down" else room + stride - 1) // stride + 1
        if rounding == "up_within" and (count - 1) * stride >= length + before and count > 1:
            count -= 1
        starts = [at * stride - before for at in range(count)]
        axes.append([[start + i * dilation for i in range(size)] for start in starts])
    return axes


def naive_convolution(x, w, options, groups):
    axes = positions(options, x.shape[2:])
    shape = (x.shape[0], w.shape[0], *map(len, axes))
    result = np.zeros(shape, x.dtype)
    per_group = w.shape[0] // groups
    for place in itertools.product(*(range(len(axis)) for axis in axes)):
        seen = [axis[at] for axis, at in zip(axes, place, strict=True)]
        for inner in itertools.product(*(range(len(one)) for one in seen)):
            at = [one[i] for one, i in zip(seen, inner, strict=True)]
            if not all(0 <= i < size for i, size in zip(at, x.shape[2:], strict=True)):
                continue
            data = x[(slice(None), slice(None), *at)]
            weights = w[(slice(None), slice(None), *inner)]
            for group in range(groups):
                outputs = slice(group * per_group, (group + 1) * per_group)
                channels = slice(group * w.shape[1], (group + 1) * w.shape[1])
                result[(slice(None), outputs, *place)] += data[:, channels] @ weights[outputs].T
    return result


@named("dtype", NUMBERS, **by_type)
def test_convolutions(dtype):
    rng = generator(dtype.name)
    for number in range(12):
        rank = 1 + number % 3
        groups, depth, per_group = (int(rng.integers(1, 3)) for _ in range(3))
        batch = int(rng.choice([0, 1, 2]))
        sizes = tuple(int(rng.integers(1, 7)) for _ in range(rank))
        options = windows(rng, rank, sizes)
        x = values(rng, dtype, (batch, groups * depth, *sizes), dtype in FLOATS)
        w = values(rng, dtype, (groups * per_group, depth, *options["size"]), dtype in FLOATS)
        got = compute("convolution", x, w, groups=groups, **options)
        if dtype in INTEGERS:
            same(got, naive_convolution(x, w, options, groups))
            wide = naive_convolution(x.astype(np.int64), w.astype(np.int64), options, groups)
            same(compute("convolution", x, w, groups=groups, to="int64", **options), wide)
        else:
            exact = naive_convolution(x.astype(np.float64), w.astype(np.float64), options, groups)
            close(got, exact, 1e-12, "convolution")
    x, w = np.zeros((1, 4, 5), dtype), np.zeros((4, 2, 3), dtype)
    one = {"size": [3], "stride": [1], "dilation": [1], "before": [0], "after": [0]}
    assert compute("convolution", x, w, groups=2, **one).shape == (1, 4, 3)
    assert kind_of_error("convolution", x, w, groups=1, **one) == "Shape"
    assert kind_of_error("convolution", x, w, groups=3, **one) == "Shape"
    assert kind_of_error("convolution", x, w, groups=2, **{**one, "stride": [0]}) == "Shape"
    assert kind_of_error("convolution", x, w, groups=2, **{**one, "dilation": [3]}) == "Shape"


@named("dtype", NUMBERS, **by_type)
@named("rounding", ["down", "up", "up_within"])
def test_pools(rounding, dtype):
    rng = generator(rounding, dtype.name)
    for number in range(10):
        rank = 1 + number % 3
        sizes = tuple(int(rng.integers(1, 7)) for _ in range(rank))
        options = windows(rng, rank, sizes)
        x = values(rng, dtype, (2, 2, *sizes), moderate=number % 2 == 0)
        largest = compute("max_pool", x, rounding=rounding, **options)
        averages = {
            count: compute("avg_pool", x, rounding=rounding, count_padding=count, **options)
            for count in (False, True)
        }
        axes = positions(options, sizes, rounding)
        assert largest.shape == (2, 2, *map(len, axes))
        for place in itertools.product(*(range(len(axis)) for axis in axes)):
            seen = [axis[at] for axis, at in zip(axes, place, strict=True)]
            inside = [
                [i for i in one if 0 <= i < size] for one, size in zip(seen, sizes, strict=True)
            ]
            padded = [
                [i for i in one if -before <= i < size + after]
                for one, size, before, after in zip(
                    seen, sizes, options["before"], options["after"], strict=True
                )
            ]
            block = (
                x[(slice(None), slice(None), *np.ix_(*inside))]
                if all(inside)
                else np.zeros((2, 2, 0), dtype)
            )
            block = block.reshape(2, 2, -1)
            at = (slice(None), slice(None), *place)
            check_pool(
                block,
                largest[at],
                {c: a[at] for c, a in averages.items()},
                math.prod(map(len, padded)),
            )


def check_pool(block, largest, averages, padded):
    dtype = block.dtype
    count = block.shape[2]
    if dtype in INTEGERS:
        lowest = np.iinfo(dtype).min
        same(largest, np.max(block, axis=2, initial=lowest).astype(dtype))
        exact = np.sum(block.astype(object), axis=2) if count else np.zeros((2, 2), object)
        if any(abs(int(total)) >= 2**63 for total in np.asarray(exact).flat):
            return
        for counts_padding, average in averages.items():
            divisor = max(padded if counts_padding else count, 1)
            means = [abs(int(t)) // divisor * (1 if t >= 0 else -1) for t in np.asarray(exact).flat]
            same(average, np.array(means, object).astype(dtype).reshape(2, 2))
        return
    wide = block.astype(np.longdouble)
    expected = np.max(wide, axis=2, initial=-np.inf)
    np.testing.assert_array_equal(largest.astype(np.longdouble), expected)
    total = np.sum(wide, axis=2).astype(np.float64)
    sizes = np.sum(np.abs(wide), axis=2).astype(np.float64)
    if np.isinf(sizes).any() and dtype == np.float64:
        return
    for counts_padding, average in averages.items():
        divisor = max(padded if counts_padding else count, 1)
        close(
            average, total / divisor, np.where(np.isfinite(sizes), sizes, 0) * 2.0**-48, "avg_pool"
        )


def test_global_pools():
    x = values(generator("global"), np.dtype(np.float32), (2, 3, 4, 5), moderate=True)
    same(
        compute("max_pool", x, **{"global": True}, rounding="down"),
        x.max(axis=(2, 3), keepdims=True),
    )
    got = compute("avg_pool", x, **{"global": True}, rounding="down")
    close(got, x.astype(np.float64).mean(axis=(2, 3), keepdims=True), 1e-14)


# ---- normalisations ---------------------------------------------------------


@named("dtype", FLOATS, **by_type)
def test_softmax(dtype):
    rng = generator(dtype.name)
    for _ in range(25):
        x = values(rng, dtype, shape_of_rank(rng, 1), moderate=True) * np.array(
            rng.choice([1, 10])
        ).astype(dtype)
        axis = int(rng.integers(-x.ndim, x.ndim))
        wide = x.astype(np.longdouble)
        shifted = wide - wide.max(axis=axis, keepdims=True) if x.size else wide
        exponentials = np.exp(shifted)
        total = exponentials.sum(axis=axis, keepdims=True)
        expected = (exponentials / total).astype(np.float64)
        close(compute("softmax", x, axis=axis), expected, 1e-14 * expected, "softmax")
        expected = (shifted - np.log(total)).astype(np.float64)
        close(
            compute("log_softmax", x, axis=axis),
            expected,
            1e-14 * (1 + np.abs(expected)),
            "log_softmax",
        )
    for row in ([np.inf, 1.0], [np.nan, 1.0], [-np.inf, -np.inf]):
        assert is_nan(compute("softmax", np.array(row).astype(dtype), axis=0)).all()
        assert is_nan(compute("log_softmax", np.array(row).astype(dtype), axis=0)).all()
    same(
        compute("softmax", np.array([-np.inf, 5.0]).astype(dtype), axis=0),
        np.array([0.0, 1.0]).astype(dtype),
    )
    assert kind_of_error("softmax", np.zeros(3, np.int32), axis=0) == "Type"
    assert kind_of_error("softmax", np.zeros((), dtype), axis=0) == "Shape"


@named("dtype", FLOATS, **by_type)
def test_batch_norm(dtype):
    rng = generator(dtype.name)
    for _ in range(10):
        x = values(rng, dtype, shape_of_rank(rng, 1), moderate=True)
        axis = int(rng.integers(-x.ndim, x.ndim))
        length = (x.shape[axis],)
        gamma, beta, mean, variance = (values(rng, dtype, length, moderate=True) for _ in range(4))
        variance = np.abs(variance)
        got = compute("batch_norm", x, gamma, beta, mean, variance, axis=axis, epsilon=1e-3)
        shape = [1] * x.ndim
        shape[axis] = length[0]
        g, b, m, v = (p.astype(np.float64).reshape(shape) for p in (gamma, beta, mean, variance))
        scaled = (x.astype(np.float64) - m) / np.sqrt(v + 1e-3) * g
        close(got, scaled + b, 1e-13 * (np.abs(scaled) + np.abs(b)), "batch_norm")
    wrong = np.zeros(5, dtype)
    assert (
        kind_of_error(
            "batch_norm", np.zeros((2, 3), dtype), wrong, wrong, wrong, wrong, axis=1, epsilon=0.0
        )
        == "Shape"
    )


@named("dtype", FLOATS, **by_type)
def test_layer_norm(dtype):
    rng = generator(dtype.name)
    for number in range(20):
        x = values(rng, dtype, shape_of_rank(rng, 1), moderate=True)
        first = int(rng.integers(0, x.ndim))
        axes = list(range(first, x.ndim)) if number % 2 else [first]
        shape = tuple(x.shape[axis] for axis in axes)
        gamma, beta = (values(rng, dtype, shape, moderate=True) for _ in range(2))
        got = compute("layer_norm", x, gamma, beta, axes=axes, epsilon=1e-2)
        if x.size == 0:
            assert got.shape == x.shape
            continue
        wide = x.astype(np.longdouble)
        mean = wide.mean(axis=tuple(axes), keepdims=True)
        variance = wide.var(axis=tuple(axes), keepdims=True)
        full = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
        scaled = (
            (wide - mean) / np.sqrt(variance + 1e-2) * gamma.astype(np.longdouble).reshape(full)
        )
        exact = scaled + beta.astype(np.longdouble).reshape(full)
        close(
            got,
            exact.astype(np.float64),
            1e-12 * (1 + np.abs(exact)).astype(np.float64),
            "layer_norm",
        )
    assert (
        kind_of_error("layer_norm", np.zeros((2, 3, 4), dtype), axes=[0, 2], epsilon=0.0) == "Shape"
    )


@named("dtype", [d for d in TYPES if d not in NUMBERS], **by_type)
def test_types_without_arithmetic_are_refused(dtype):
    x = np.resize(specials(dtype)[:4], (2, 2))
    for name, options in {
        "sum": {},
        "argsort": {"axis": 0, "ascending": True, "to": "int32"},
        "matmul": {},
        "softmax": {"axis": 0},
    }.items():
        if (name, dtype) != ("argsort", BOOL):
            operands = (x, x) if name == "matmul" else (x,)
            assert kind_of_error(name, *operands, **options) == "Type", name


def test_nearest_agrees_with_numpy_where_it_rounds_once():
    numbers = list(generator("nearest").normal(size=200) * 100)
    same(nearest(np.dtype(np.float16), numbers), np.array(numbers).astype(np.float16))


# ---- attention ----------------------------------------------------------------


def attended(query, key, value, bias, scale, softcap):
    """The result and the scores at each stage, in float64."""
    repeats = query.shape[1] // key.shape[1]
    key, value = (np.repeat(x, repeats, axis=1) for x in (key, value))
    stages = {"products": scale * query @ np.swapaxes(key, -1, -2)}
    scores = stages["products"]
    stages["capped"] = softcap * np.tanh(scores / softcap) if softcap else scores
    stages["biased"] = stages["capped"] + (0 if bias is None else bias)
    scores = stages["biased"]
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = weights.sum(axis=-1, keepdims=True)
    stages["weights"] = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return stages["weights"] @ value, stages


@named("dtype", FLOATS, **by_type)
def test_attention(dtype):
    rng = generator(dtype.name)
    for _ in range(40):
        batch, groups, repeats, queries, keys, width, depth = rng.integers(1, 4, 7)
        if rng.random() < 0.1:
            keys = 0
        shapes = [
            (batch, groups * repeats, queries, width),
            (batch, groups, keys, width),
            (batch, groups, keys, depth),
        ]
        operands = [rng.normal(size=shape).astype(dtype) for shape in shapes]
        bias = None
        if rng.random() < 0.6:
            full = (batch, groups * repeats, queries, keys)
            shape = tuple(size if rng.random() < 0.7 else 1 for size in full)
            bias = rng.normal(size=shape[int(rng.integers(0, 3)) :])
            bias[rng.random(bias.shape) < 0.4] = -np.inf
        scale = float(rng.uniform(0.1, 2))
        softcap = float(rng.choice([0, 1.5]))
        stage = str(rng.choice(["products", "capped", "biased", "weights", "none"]))
        tensors = operands if bias is None else [*operands, bias]
        got = kernels.compute_all("attention", *tensors, scale=scale, softcap=softcap, scores=stage)
        wide = [x.astype(np.float64) for x in operands]
        result, stages = attended(*wide, bias, scale, softcap)
        close(got[0], result, 1e-12)
        assert len(got) == (1 if stage == "none" else 2)
        if stage != "none":
            close(got[1], stages[stage], 1e-12)
            assert got[1].dtype == dtype


def test_attention_of_what_does_not_fit():
    x = np.ones((1, 2, 3, 4), np.float32)
    options = {"scale": 1.0, "softcap": 0, "scores": "none"}
    for others in [
        (x[:, :, :, :3], x),
        (x, x[:, :, :2]),
        (np.ones((1, 3, 3, 4), np.float32), np.ones((1, 3, 3, 4), np.float32)),
        (x[0], x[0]),
        (x, x, np.ones((2, 1, 1, 1))),
    ]:
        assert kind_of_error("attention", x, *others, **options) == "Shape"
    assert kind_of_error("attention", x.astype(np.int32), x, x, **options) == "Type"
