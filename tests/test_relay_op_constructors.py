"""Constructor functions of operators and their attributes."""

import inspect

import pytest

import isoform
from isoform import ir, relay
from isoform.relay import op


def x(*shape, dtype="float32"):
    return relay.var("x", shape=shape, dtype=dtype)


def ints(sizes):
    return [int(size) for size in sizes]


def test_get_register_pattern_stateful(key):
    name = key("op").replace("::", ".")
    made = op.register(name, "A description.")
    assert made.same_as(op.get(name)) and made.description == "A description."
    op.register_pattern(name, op.OpPattern.INJECTIVE)
    op.register_stateful(name, True)
    assert made.get_attr("TOpPattern") == 2 and made.get_attr("TOpIsStateful") is True
    with pytest.raises(ValueError, match="already registered with the same"):
        op.register_pattern(name, op.OpPattern.OPAQUE)
    with pytest.raises(ValueError, match="is not a valid OpPattern"):
        op.register_pattern(name, 6)
    assert op.register(name).description == "A description."
    with pytest.raises(AttributeError, match="is not registered"):
        op.get("no.such.operator")
    patterns = {pattern.name: int(pattern) for pattern in op.OpPattern}
    assert patterns == {
        "ELEMWISE": 0,
        "BROADCAST": 1,
        "INJECTIVE": 2,
        "COMM_REDUCE": 3,
        "OUT_ELEMWISE_FUSABLE": 4,
        "TUPLE": 7,
        "OPAQUE": 8,
    }


def test_a_relation_in_python(key):
    made = op.register(key("op"))
    made.set_num_inputs(2)
    seen = []

    def relation(types, attrs):
        seen.append((len(types), attrs))
        if isinstance(types[0], ir.IncompleteType):
            return None
        return ir.TensorType(types[0].shape, "int8")

    made.add_type_rel(key("Relation"), relation)
    call = relay.Call(made, [x(2, 3), x(4)])
    found = op.infer_type_local(call)
    assert found.concrete_shape == (2, 3) and found.dtype == "int8"
    assert seen == [(2, None)]

    wrong = op.register(key("wrong"))
    wrong.set_num_inputs(1)
    wrong.add_type_rel(key("Wrong"), lambda types, attrs: 3)
    with pytest.raises(Exception, match=r"expected ir\.Type, got int") as caught:
        op.infer_type_local(relay.Call(wrong, [x(2)]))
    assert type(caught.value).__name__ == "DiagnosticError"


@pytest.mark.parametrize("name", op.tensor.__all__)
def test_elementwise_constructors(name):
    make = getattr(relay, name)
    inputs = [x(2, 3), x(2, 3)][: len(inspect.signature(make).parameters)]
    call = make(*inputs)
    assert call.op.name == name and call.attrs is None
    assert all(arg.same_as(given) for arg, given in zip(call.args, inputs, strict=True))
    assert make.__name__ == name and make.__doc__


def test_operators_of_expressions_are_these():
    a, b = x(2), x(2)
    assert (a + b).op.same_as(op.get("add")) and (-a).op.same_as(op.get("negative"))
    cast = a.astype("int8")
    assert cast.op.name == "cast" and cast.attrs.dtype == "int8"


def test_defaults_of_shape_operators():
    assert ints(relay.reshape(x(2, 3), (3, 2)).attrs.newshape) == [3, 2]
    assert ints(relay.reshape(x(2, 3), 6).attrs.newshape) == [6]
    assert ints(relay.reshape(x(2, 3), relay.const([6])).attrs.newshape) == [6]
    with pytest.raises(TypeError, match="sizes that are known when the program is compiled"):
        relay.reshape(x(2), x(2))
    assert relay.reverse_reshape(x(2, 3), (6,)).op.name == "contrib_reverse_reshape"
    assert relay.transpose(x(2, 3)).attrs.axes is None
    assert ints(relay.squeeze(x(1, 3), 0).attrs.axis) == [0]
    assert relay.expand_dims(x(2), 0).attrs.num_newaxis == 1
    sliced = relay.strided_slice(x(9), [1], [4])
    assert ints(sliced.attrs.strides) == [1] and sliced.attrs.slice_mode == "end"
    taken = relay.take(x(9), x(2, dtype="int32"))
    assert taken.attrs.axis is None and taken.attrs.mode == "clip"
    assert relay.full(relay.const(1)).attrs.dtype == "void"
    assert relay.argsort(x(2)).attrs.is_ascend is True
    assert relay.argsort(x(2)).attrs.dtype == "int32"
    assert relay.shape_of(x(2)).attrs.dtype == "int32"
    assert relay.clip(x(2), 0, 6).attrs.a_max == 6.0


def test_tuples_of_tensors():
    parts = relay.split(x(6, 2), 3)
    assert isinstance(parts, relay.TupleWrapper) and len(parts) == 3
    assert len(relay.split(x(6), (1, 4))) == 3
    joined = relay.concatenate(parts, axis=0)
    assert joined.args[0].same_as(parts.astuple())
    assert isinstance(relay.concatenate([x(2), x(3)], 0).args[0], relay.Tuple)
    for make in (relay.concatenate, relay.stack):
        with pytest.raises(ValueError, match="requires data to be non-empty"):
            make([], 0)
        with pytest.raises(ValueError, match="only support integer axis"):
            make([x(2)], None)


def test_arange_makes_constants():
    call = relay.arange(5)
    assert [float(arg.data.numpy()) for arg in call.args] == [0.0, 5.0, 1.0]
    assert op.infer_type_local(call).concrete_shape == (5,)
    call = relay.arange(relay.const(2), relay.const(9), relay.const(3), dtype="int32")
    assert call.attrs.start.same_as(call.args[0])
    assert op.infer_type_local(call).concrete_shape == (3,)


def test_reductions():
    assert relay.sum(x(2, 3)).attrs.axis is None
    assert ints(relay.sum(x(2, 3), 1).attrs.axis) == [1]
    assert ints(relay.mean(x(2, 3), axis=(0, 1), keepdims=True).attrs.axis) == [0, 1]
    assert relay.argmax(x(2), select_last_index=True).attrs.select_last_index is True
    spread = relay.variance(x(2, 3), 1)
    assert spread.args[1].op.name == "mean" and spread.args[1].attrs.keepdims is True
    center = x(2, 1)
    assert relay.variance(x(2, 3), 1, with_mean=center).args[1].same_as(center)
    assert relay.std(x(2, 3)).op.name == "sqrt"
    mean, spread = relay.op.reduce.mean_variance(x(2, 3), 1)
    assert op.infer_type_local(mean).concrete_shape == (2,)
    assert op.infer_type_local(spread).concrete_shape == (2,)


def test_ints_become_pairs_and_padding_four_sizes():
    nn = relay.nn
    attrs = nn.conv2d(x(1, 3, 9, 9), relay.var("w"), strides=2, padding=(1, 2), kernel_size=3).attrs
    assert ints(attrs.strides) == [2, 2] and ints(attrs.padding) == [1, 2, 1, 2]
    assert ints(attrs.dilation) == [1, 1] and ints(attrs.kernel_size) == [3, 3]
    assert attrs.out_dtype == "void" and attrs.groups == 1 and attrs.channels is None
    assert ints(nn.conv2d(x(1), x(1), padding=(1, 2, 3, 4)).attrs.padding) == [1, 2, 3, 4]
    assert ints(nn.max_pool2d(x(1), 3, padding=1).attrs.padding) == [1, 1, 1, 1]
    assert nn.avg_pool2d(x(1)).attrs.count_include_pad is False
    with pytest.raises(ValueError, match="padding: expected one, two or four sizes"):
        nn.conv2d(x(1), x(1), padding=(1, 2, 3))
    with pytest.raises(ValueError, match="strides: expected one size, or two"):
        nn.conv2d(x(1), x(1), strides=(1, 2, 3))


def test_defaults_of_nn():
    nn = relay.nn
    assert nn.dense(x(2, 3), x(4, 3)).attrs.units is None
    assert nn.batch_matmul(x(1, 2, 3), x(1, 4, 3)).attrs.transpose_b is True
    assert nn.leaky_relu(x(2)).attrs.alpha == 0.01
    assert nn.softmax(x(2)).attrs.axis == -1
    assert nn.bias_add(x(2), x(2)).attrs.axis == 1
    normal = nn.batch_norm(x(1, 8), *[relay.var(name) for name in "abcd"])
    assert isinstance(normal, relay.TupleWrapper) and len(normal) == 3
    assert normal.astuple().attrs.epsilon == 1e-5
    assert nn.layer_norm(x(2), x(2), x(2)).attrs.axis == -1
    dropped = nn.dropout(x(2))
    assert isinstance(dropped, relay.TupleGetItem) and dropped.index == 0
    assert nn.dropout_raw(x(2), 0.1).attrs.rate == 0.1
    padded = nn.pad(x(2), ((1, 1),))
    assert float(padded.args[1].data.numpy()) == 0.0 and padded.attrs.pad_mode == "constant"


def test_annotations():
    call = relay.annotation.on_device(x(2), "cuda:1")
    assert str(call.attrs.virtual_device) == "cuda:1" and call.attrs.constrain_body is True
    assert relay.annotation.stop_fusion(x(2)).op.name == "annotation.stop_fusion"
    assert relay.annotation.compiler_begin(x(2), "dnnl").attrs.compiler == "dnnl"


def test_make_node():
    attrs = ir.make_node("relay.attrs.Conv2DAttrs", strides=[2, 2], groups=3)
    assert ints(attrs.strides) == [2, 2] and attrs.groups == 3 and attrs.data_layout == "NCHW"
    assert attrs.strides[0] == 2 and attrs.get_int_tuple("padding") == (0, 0)
    assert isoform.structural_equal(attrs, relay.attrs.Conv2DAttrs(strides=(2, 2), groups=3))
    with pytest.raises(AttributeError, match="has no field 'stride'"):
        ir.make_node("relay.attrs.Conv2DAttrs", stride=1)
    with pytest.raises(AttributeError, match="missing field 'dtype'"):
        ir.make_node("relay.attrs.CastAttrs")
    text = ir.save_json(attrs)
    assert isoform.structural_equal(ir.load_json(text), attrs)


def test_the_fixture_of_make_node():
    attrs = ir.make_node("attrs.TestAttrs", name="xx", padding=(3, 4))
    assert attrs.name == "xx" and attrs.axis == 10 and ints(attrs.padding) == [3, 4]
    assert attrs.func is None
    with pytest.raises(AttributeError, match="expected an int from 1 to 10, got 11"):
        ir.make_node("attrs.TestAttrs", name="xx", axis=11)
    with pytest.raises(AttributeError, match="missing field 'name'"):
        ir.make_node("attrs.TestAttrs", axis=5)
    with pytest.raises(AttributeError, match="has no field 'axes'"):
        ir.make_node("attrs.TestAttrs", name="xx", axes=5)


def test_void_is_a_data_type():
    assert isoform.dtype("void") == "void"
    call = relay.nn.dense(x(2, 3), x(4, 3), out_dtype="")
    assert call.attrs.out_dtype == "void"
