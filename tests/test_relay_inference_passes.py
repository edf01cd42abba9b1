"""Passes that prepare networks for inference, and the lifting of functions."""

import numpy as np
import pytest

from isoform import ir, relay, tir
from isoform.transform import PassContext, Sequential, make_pass, parse_pipeline


def evaluate(mod, *arguments):
    return relay.create_executor(mod=mod).evaluate()(*arguments).numpy()


def module(body):
    return ir.IRModule.from_expr(relay.Function(relay.analysis.free_vars(body), body))


def constant(*shape):
    return relay.const(np.random.default_rng(len(shape)).normal(size=shape))


def network():
    x = relay.var("x", shape=(1, 2, 4, 4), dtype="float64")
    y = relay.nn.conv2d(x, constant(3, 2, 3, 3), padding=1)
    moments = [constant(3), constant(3), constant(3), relay.const(np.ones(3))]
    y = relay.nn.relu(relay.nn.batch_norm(y, *moments)[0])
    y = relay.nn.dropout(y)
    return module(y * relay.const(np.full((3, 1, 1), 2.0)))


def test_a_network_becomes_products_biases_and_activations():
    mod = network()
    passes = [relay.transform.SimplifyInference(), relay.transform.FoldConstant()]
    with PassContext(opt_level=3):
        done = Sequential([*passes, relay.transform.FoldScaleAxis()])(mod)
    assert relay.testing.count_ops(done["main"]) == {"nn.conv2d": 1, "add": 1, "nn.relu": 1}
    image = np.random.default_rng(1).normal(size=(1, 2, 4, 4))
    np.testing.assert_allclose(evaluate(done, image), evaluate(mod, image), rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "level", "kind"),
    [
        ("SimplifyInference", 0, "FunctionPass"),
        ("BackwardFoldScaleAxis", 3, "FunctionPass"),
        ("ForwardFoldScaleAxis", 3, "FunctionPass"),
        ("FoldScaleAxis", 0, "Sequential"),
        ("LambdaLift", 1, "ModulePass"),
    ],
)
def test_the_passes_have_names_and_levels(name, level, kind):
    for made in (getattr(relay.transform, name)(), make_pass(name)):
        assert (made.info.name, made.info.opt_level) == (name, level)
        assert type(made).__name__ == kind
    assert len(parse_pipeline(name).passes) == 1
    with PassContext(opt_level=3):
        assert isinstance(make_pass(name)(network()), ir.IRModule)


def test_factors_stay_below_the_level_of_their_passes():
    x = relay.var("x", shape=(2, 3), dtype="float64")
    mod = module(relay.nn.dense(x, constant(4, 3)) * constant(4))
    with PassContext(opt_level=2):
        assert relay.testing.count_ops(relay.transform.FoldScaleAxis()(mod)["main"])["multiply"]
    with PassContext(opt_level=3):
        done = relay.transform.FoldScaleAxis()(mod)
    assert relay.testing.count_ops(done["main"]) == {"nn.dense": 1}


def test_lifted_functions():
    x, y = (relay.var(name, shape=()) for name in "xy")
    mod = module(relay.Function([y], x * y)(x + x))
    done = relay.transform.LambdaLift()(mod)
    (name,) = (var for var in done.functions if var.name_hint != "main")
    assert name.name_hint.startswith("lifted_name")
    assert done[name].attrs["Closure"] == 1
    assert evaluate(done, np.float32(3)) == evaluate(mod, np.float32(3)) == 18


def nearest(data, height, width, align_corners):
    """The result by NumPy."""
    for axis, out in ((2, height), (3, width)):
        size, places = data.shape[axis], np.arange(out)
        if align_corners:
            indices = np.floor(places * (size - 1) / max(out - 1, 1) + 0.5 + 1e-9)
        else:
            indices = np.floor(places * size / out + 1e-9)
        data = np.take(data, indices.astype(int), axis)
    return data


def weighted(data, height, width, align_corners, weight, reach):
    """The result by NumPy: the sum of all elements near a position, with weights."""
    for axis, out in ((2, height), (3, width)):
        size, places = data.shape[axis], np.arange(out)
        origin = places * ((size - 1) / max(out - 1, 1) if align_corners else size / out)
        matrix = np.zeros((out, size))
        for place, position in enumerate(origin):
            first = int(np.floor(position + 1e-9))
            for index in range(first - reach + 1, first + reach + 1):
                matrix[place, np.clip(index, 0, size - 1)] += weight(abs(index - position))
        data = np.moveaxis(np.tensordot(matrix, data, (1, axis)), 0, axis)
    return data


def linear(distance):
    return max(0.0, 1 - distance)


def cubic(distance):
    a = -0.5
    if distance <= 1:
        return (a + 2) * distance**3 - (a + 3) * distance**2 + 1
    if distance < 2:
        return a * distance**3 - 5 * a * distance**2 + 8 * a * distance - 4 * a
    return 0.0


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("method", ["nearest_neighbor", "bilinear", "bicubic"])
@pytest.mark.parametrize("scales", [(2, 3), (1.5, 0.5), (1, 1), (0.25, 4)])
def test_upsampling(scales, method, align_corners, layout):
    image = np.random.default_rng(2).normal(size=(2, 3, 4, 6))
    height, width = (round(size * scale) for size, scale in zip((4, 6), scales, strict=True))
    if method == "nearest_neighbor":
        expected = nearest(image, height, width, align_corners)
    else:
        weight, reach = (linear, 1) if method == "bilinear" else (cubic, 2)
        expected = weighted(image, height, width, align_corners, weight, reach)
    order = (0, 1, 2, 3) if layout == "NCHW" else (0, 2, 3, 1)
    x = relay.var("x", shape=tuple(image.shape[axis] for axis in order), dtype="float64")
    call = relay.nn.upsampling(x, *scales, layout, method, align_corners)
    found = evaluate(module(call), image.transpose(order))
    np.testing.assert_allclose(found, expected.transpose(order), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool", "float16"])
def test_nearest_upsampling_copies_elements_of_every_type(dtype):
    image = np.arange(6).reshape(1, 1, 2, 3).astype(dtype)
    x = relay.var("x", shape=image.shape, dtype=dtype)
    found = evaluate(module(relay.nn.upsampling(x, 2, 2)), image)
    np.testing.assert_array_equal(found, image.repeat(2, 2).repeat(2, 3))


def test_the_arguments_of_upsampling_have_defaults():
    call = relay.nn.upsampling(relay.var("x", shape=(1, 1, 2, 2)))
    assert call.attrs.layout == "NCHW" and call.attrs.method == "nearest_neighbor"
    assert relay.transform.InferTypeLocal(call).concrete_shape == (1, 1, 2, 2)
    with pytest.raises(ir.DiagnosticError, match="scale_w: expected a number above 0"):
        relay.transform.InferTypeLocal(
            relay.nn.upsampling(relay.var("x", shape=(1, 1, 2, 2)), 1, 0)
        )


def test_types_of_enclosing_functions_stay_when_functions_are_lifted():
    a, b = ir.TypeVar("A"), ir.TypeVar("B")
    g = relay.var("g", ir.FuncType([a], b))
    p = relay.var("p", a)
    inner = relay.Function([p], relay.Call(g, [p]), b)
    outer = relay.Function([g], inner, None, [a, b])
    n = tir.Var("n", "int32")
    x, y = (relay.var(name, ir.TensorType([n], "float32")) for name in "xy")
    sized = relay.Function([x], relay.Function([y], x + y))
    for function in (outer, sized):
        mod = relay.transform.InferType()(ir.IRModule({"main": function}))
        lifted = relay.transform.LambdaLift()(mod)
        assert len(lifted.functions) == 2
        done = relay.transform.Inline()(relay.transform.InferType()(lifted))
        assert relay.analysis.well_formed(done["main"])


def test_a_bound_value_renames_no_type_that_its_own_type_mentions():
    a = ir.TypeVar("A")
    x, other, p = (relay.var(name, a) for name in ("x", "other", "p"))
    bound = relay.bind(relay.Tuple([relay.Function([p], relay.Tuple([x, p]))]), {x: other})
    (function,) = bound.fields
    assert function.params[0].type_annotation.same_as(a)
    assert function.body.fields[0].same_as(other)
