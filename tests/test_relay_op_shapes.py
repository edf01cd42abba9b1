"""Result types of operators against those of NumPy, on random static shapes."""

import random

import numpy as np
import pytest

from isoform import relay
from isoform.relay import op

ROUNDS = 60
DTYPES = ["float32", "float64", "int32", "int8", "uint8"]


def draw_shape(rng, least=0, most=4, sizes=(0, 1, 2, 3, 5)):
    return tuple(rng.choice(sizes) for _ in range(rng.randint(least, most)))


def var(array):
    return relay.var("x", shape=array.shape, dtype=str(array.dtype))


def check(call, expected):
    found = op.infer_type_local(call)
    assert (tuple(found.concrete_shape), str(found.dtype)) == (expected.shape, str(expected.dtype))


@pytest.fixture(params=range(ROUNDS))
def rng(request):
    return random.Random(request.param)


def broadcastable(rng, shape):
    """A shape that broadcasts with another one."""
    other = [rng.choice([1, size]) for size in shape]
    return tuple(other[rng.randint(0, len(other)) :])


def test_broadcast(rng):
    dtype = rng.choice(DTYPES)
    shape = draw_shape(rng)
    left, right = np.zeros(shape, dtype), np.zeros(broadcastable(rng, shape), dtype)
    if rng.random() < 0.5:
        left, right = right, left
    check(relay.add(var(left), var(right)), left + right)
    check(relay.maximum(var(left), var(right)), np.maximum(left, right))
    check(relay.less(var(left), var(right)), left < right)
    condition = np.zeros(broadcastable(rng, shape), bool)
    check(relay.where(var(condition), var(left), var(right)), np.where(condition, left, right))


def test_what_numpy_refuses_is_refused(rng):
    left, right = draw_shape(rng), draw_shape(rng)
    try:
        expected = np.broadcast_shapes(left, right)
    except ValueError:
        with pytest.raises(Exception, match="Incompatible broadcast type"):
            check(relay.add(var(np.zeros(left)), var(np.zeros(right))), None)
    else:
        check(relay.add(var(np.zeros(left)), var(np.zeros(right))), np.zeros(expected))


def test_broadcast_to_and_back(rng):
    shape = draw_shape(rng)
    small = np.zeros(broadcastable(rng, shape), "float32")
    check(relay.broadcast_to(var(small), shape), np.broadcast_to(small, shape))
    check(relay.collapse_sum_to(var(np.zeros(shape, "float32")), small.shape), small)


def test_reshape(rng):
    shape = draw_shape(rng, 1, 4, (1, 2, 3, 4))
    data = np.zeros(shape, "int32")
    count = data.size
    divisors = [size for size in range(1, count + 1) if count % size == 0]
    first = rng.choice(divisors)
    newshape = [first, -1] if rng.random() < 0.5 else [first, count // first]
    rng.shuffle(newshape)
    check(relay.reshape(var(data), newshape), data.reshape(newshape))


def test_transpose_squeeze_expand(rng):
    shape = draw_shape(rng, 1)
    data = np.zeros(shape, rng.choice(DTYPES))
    axes = list(range(len(shape)))
    rng.shuffle(axes)
    axes = [axis - rng.choice([0, len(shape)]) for axis in axes]
    check(relay.transpose(var(data), axes), data.transpose(axes))
    check(relay.transpose(var(data)), data.T)
    check(relay.squeeze(var(data)), data.squeeze())
    axis = rng.randint(-len(shape) - 1, len(shape))
    check(relay.expand_dims(var(data), axis), np.expand_dims(data, axis))
    check(relay.reverse(var(data), axis=-1), np.flip(data, -1))


def test_concatenate_stack_split(rng):
    shape = draw_shape(rng, 1, 3)
    axis = rng.randint(-len(shape), len(shape) - 1)
    parts = []
    for _ in range(rng.randint(1, 3)):
        own = list(shape)
        own[axis] = rng.randint(0, 3)
        parts.append(np.zeros(own, "float32"))
    check(relay.concatenate([var(part) for part in parts], axis), np.concatenate(parts, axis))
    same = [np.zeros(shape, "float32")] * rng.randint(1, 3)
    at = rng.randint(-len(shape) - 1, len(shape))
    check(relay.stack([var(part) for part in same], at), np.stack(same, at))
    data = np.zeros(shape, "float32")
    cuts = sorted(rng.randint(0, shape[axis]) for _ in range(rng.randint(0, 3)))
    wrapper = relay.split(var(data), cuts, axis)
    expected = np.split(data, cuts, axis)
    assert len(wrapper) == len(expected)
    for field, part in zip(wrapper, expected, strict=True):
        check(field, part)


def test_strided_slice(rng):
    shape = draw_shape(rng, 1, 3)
    data = np.zeros(shape, "float32")
    slices = []
    for _ in shape:
        step = rng.choice([-3, -2, -1, 1, 2, 3])
        slices.append((rng.randint(-7, 7), rng.randint(-7, 7), step))
    begin, end, strides = (list(part) for part in zip(*slices, strict=True))
    call = relay.strided_slice(var(data), begin, end, strides)
    check(call, data[tuple(slice(*part) for part in slices)])


def test_take_gather(rng):
    data = np.zeros(draw_shape(rng, 1, 3, (1, 2, 3)), "float32")
    indices = np.zeros(draw_shape(rng, 0, 2, (0, 1, 4)), "int32")
    axis = rng.randint(-data.ndim, data.ndim - 1)
    check(relay.take(var(data), var(indices), axis), np.take(data, indices, axis))
    check(relay.take(var(data), var(indices)), np.take(data, indices))
    own = list(data.shape)
    own[axis] = rng.randint(0, 4)
    indices = np.zeros(own, "int64")
    check(relay.gather(var(data), axis, var(indices)), np.take_along_axis(data, indices, axis))


def test_repeat_tile(rng):
    data = np.zeros(draw_shape(rng, 1, 3), "float32")
    axis = rng.randint(-data.ndim, data.ndim - 1)
    count = rng.randint(0, 3)
    check(relay.repeat(var(data), count, axis), np.repeat(data, count, axis))
    check(relay.repeat(var(data), count), np.repeat(data, count))
    reps = [rng.randint(0, 2) for _ in range(rng.randint(1, 4))]
    check(relay.tile(var(data), reps), np.tile(data, reps))


def test_arange(rng):
    start, stop = rng.randint(-9, 9), rng.randint(-9, 9)
    step = rng.choice([-3, -1, 1, 2])
    check(
        relay.arange(start, stop, step, dtype="int32"), np.arange(start, stop, step, dtype="int32")
    )


@pytest.mark.parametrize("name", ["sum", "max", "min", "mean", "prod"])
def test_reductions(rng, name):
    data = np.zeros(draw_shape(rng, 1, 4, (1, 2, 3)), "float32")
    axes = rng.sample(range(data.ndim), rng.randint(1, data.ndim))
    axes = tuple(axis - rng.choice([0, data.ndim]) for axis in axes)
    keepdims = rng.random() < 0.5
    reduce = getattr(np, name)
    check(getattr(relay, name)(var(data), axes, keepdims), reduce(data, axes, keepdims=keepdims))
    check(getattr(relay, name)(var(data)), np.asarray(reduce(data)))
    others = tuple(axis for axis in range(data.ndim) if axis not in {a % data.ndim for a in axes})
    found = getattr(relay, name)(var(data), axes, keepdims, exclude=True)
    check(found, np.asarray(reduce(data, others, keepdims=keepdims)))


def test_positions_and_variance(rng):
    data = np.zeros(draw_shape(rng, 1, 4, (1, 2, 3)), "float32")
    axis = rng.randint(-data.ndim, data.ndim - 1)
    expected = np.argmax(data, axis).astype("int32")
    check(relay.argmax(var(data), axis), np.asarray(expected))
    check(relay.variance(var(data), axis), np.asarray(np.var(data, axis)))
    check(relay.argsort(var(data), axis), np.argsort(data, axis).astype("int32"))


def test_products(rng):
    batch, rows, inner, columns = (rng.randint(1, 4) for _ in range(4))
    a = np.zeros((batch, rows, inner), "float32")
    b = np.zeros((batch, columns, inner), "float32")
    check(relay.nn.batch_matmul(var(a), var(b)), a @ b.transpose(0, 2, 1))
    check(relay.nn.dense(var(a), var(b[0])), a @ b[0].T)
    check(relay.nn.matmul(var(a[0]), var(b[0].T)), a[0] @ b[0].T)


def test_pad(rng):
    data = np.zeros(draw_shape(rng, 1, 3), "float32")
    widths = [(rng.randint(0, 2), rng.randint(0, 2)) for _ in data.shape]
    check(relay.nn.pad(var(data), widths), np.pad(data, widths))
    flat = data.reshape(data.shape[0], int(np.prod(data.shape[1:])))
    check(relay.nn.batch_flatten(var(data)), flat)


def test_windows_match_a_count_of_positions(rng):
    height, kernel = rng.randint(3, 9), rng.randint(1, 3)
    stride, dilation, padding = rng.randint(1, 3), rng.randint(1, 2), rng.randint(0, 2)
    extent = dilation * (kernel - 1) + 1
    positions = range(0, height + 2 * padding, stride)
    inside = sum(at + extent <= height + 2 * padding for at in positions)
    data, weight = np.zeros((1, 2, height, height), "float32"), np.zeros((3, 2, kernel, kernel))
    settings = {"strides": stride, "padding": padding, "dilation": dilation}
    conv = relay.nn.conv2d(var(data), var(weight.astype("float32")), **settings)
    if inside == 0:
        with pytest.raises(Exception, match="does not fit into"):
            op.infer_type_local(conv)
        return
    check(conv, np.zeros((1, 3, inside, inside), "float32"))
    pool = relay.nn.max_pool2d(var(data), kernel, **settings)
    check(pool, np.zeros((1, 2, inside, inside), "float32"))
