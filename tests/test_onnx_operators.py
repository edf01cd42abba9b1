"""Every operator test of the onnx package, computed by `isoform.onnx.evaluate`."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from onnx_reference import node_cases

from isoform import Tensor, onnx as isoform_onnx

onnx = pytest.importorskip("onnx", reason="the onnx package has the operator tests")
numpy_helper = pytest.importorskip("onnx.numpy_helper")

# Operators without a kernel, and the reason why.
WITHOUT_KERNEL = {
    # No constant is the value of these: they differ from run to run.
    "Bernoulli": "random",
    "Multinomial": "random",
    "RandomNormal": "random",
    "RandomNormalLike": "random",
    "RandomUniform": "random",
    "RandomUniformLike": "random",
    # Steps of training.
    "Adagrad": "training",
    "Adam": "training",
    "Momentum": "training",
    "ImageDecoder": "needs decoders of images",
}

# Tests of operators with a kernel that is undefined for these cases.
WITHOUT_RESULT = {
    "test_scan_sum": "Scan of version 8 of the operator set",
    "test_batchnorm_example_training_mode": "training",
    "test_batchnorm_epsilon_training_mode": "training",
    "test_training_dropout": "training",
    "test_bitshift_left_int8_negative_shift": "a shift by a negative number of bits",
    "test_bitshift_right_int8_negative_shift": "a shift by a negative number of bits",
    "test_bitshift_left_int32_negative_shift": "a shift by a negative number of bits",
    "test_bitshift_right_int32_negative_shift": "a shift by a negative number of bits",
    "test_bitshift_left_int8_shift_ge_width": "a shift by the width or more",
    "test_bitshift_right_int8_shift_ge_width": "a shift by the width or more",
    "test_bitshift_left_int32_shift_ge_width": "a shift by the width or more",
    "test_bitshift_right_int32_shift_ge_width": "a shift by the width or more",
}

# The last bit of a result in a type, relative to it.
STEP = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 1e-3, "float64": 1e-3}


def reason_to_skip(case):
    for node in case.model.graph.node:
        if node.op_type in WITHOUT_KERNEL:
            return WITHOUT_KERNEL[node.op_type]
    found = (why for name, why in WITHOUT_RESULT.items() if case.name.startswith(name))
    return next(found, None)


def value(given):
    """An input as `evaluate` takes it."""
    if isinstance(given, onnx.TensorProto):
        return value(numpy_helper.to_array(given))
    if given is None or isinstance(given, list):
        return given if given is None else [value(item) for item in given]
    array = np.asarray(given)
    has_no_dlpack = bits_of(array.dtype) < 8 or array.dtype.name == "float8_e8m0fnu"
    return packed(array) if has_no_dlpack else array


def bits_of(dtype):
    small = {"int2": 2, "uint2": 2, "int4": 4, "uint4": 4, "float4_e2m1fn": 4}
    return small.get(str(dtype), 8)


def packed(array):
    """A tensor whose elements take fewer bits than a byte, or are no type of DLPack."""
    bits = bits_of(array.dtype)
    raw = np.frombuffer(array.tobytes(), np.uint8)
    planes = (raw[:, None] >> np.arange(bits)) & 1
    data = np.packbits(planes.astype(np.uint8).ravel(), bitorder="little").tobytes()
    return Tensor.from_bytes(data, array.shape, array.dtype.name)


def array_of(result):
    """A result in an array; strings in an array of objects."""
    if not isinstance(result, Tensor):
        texts = [bytes(text).decode() for text in result.values]
        array = np.empty(len(texts), object)
        array[:] = texts
        return array.reshape(tuple(result.shape))
    name = str(result.dtype)
    bits = bits_of(name)
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    # Python's buffers do not know all types.
    raw = np.frombuffer(ctypes.string_at(result.data_ptr(), result.nbytes), np.uint8)
    if bits == 8:
        return raw.view(dtype).reshape(tuple(result.shape))
    count = int(np.prod(tuple(result.shape)))
    planes = np.unpackbits(raw, bitorder="little")[: count * bits].reshape(count, bits)
    codes = (planes << np.arange(bits)).sum(1).astype(np.uint8)
    if name.startswith("int"):
        codes = np.where(codes >= 1 << (bits - 1), codes.astype(np.int16) - (1 << bits), codes)
        return codes.astype(np.int8).astype(dtype).reshape(tuple(result.shape))
    return codes.view(dtype).reshape(tuple(result.shape))


def check(got, want, case):
    if want is None:
        assert got is None
        return
    if isinstance(want, (list, tuple)):
        assert len(got) == len(want)
        for got_item, want_item in zip(got, want, strict=True):
            check(got_item, want_item, case)
        return
    if isinstance(want, onnx.TensorProto):
        want = numpy_helper.to_array(want)
    got, want = array_of(got), np.asarray(want)
    assert got.shape == want.shape
    if want.dtype.kind in "OSU":
        decoded = [text.decode() if isinstance(text, bytes) else str(text) for text in want.flat]
        assert list(got.flat) == decoded
        return
    assert got.dtype == want.dtype
    if got.tobytes() == want.tobytes():
        return
    assert want.dtype.kind not in "iub", (got, want)
    rtol = max(case.rtol, STEP.get(want.dtype.name, 1e-3))
    wide = "c16" if want.dtype.kind == "c" else "f8"
    np.testing.assert_allclose(
        got.astype(wide), want.astype(wide), rtol=rtol, atol=max(case.atol, 1e-5)
    )


def cases(*, is_refused):
    """The cases, which take seconds to generate and are therefore no parameters of tests."""
    return [case for case in node_cases() if (reason_to_skip(case) is not None) == is_refused]


def compute(case, folder, inputs):
    # A file of its own: programs map their models.
    path = folder / f"{case.name}.onnx"
    path.write_bytes(case.model.SerializeToString())
    names = [given.name for given in case.model.graph.input]
    given = {name: value(item) for name, item in zip(names, inputs, strict=False)}
    return isoform_onnx.evaluate(isoform_onnx.load(path, io_names=True), given)


def test_most_cases_are_computed():
    """The next test compares the computed cases, and the one after it expects errors."""
    assert len(node_cases()) >= 1800
    refused = cases(is_refused=True)
    assert len(refused) <= 40, sorted(case.name for case in refused)


def test_results_are_those_of_the_cases(tmp_path, subtests):
    for case in cases(is_refused=False):
        with subtests.test(case.name):
            for inputs, outputs in case.data_sets:
                results = compute(case, tmp_path, inputs)
                assert list(results) == [output.name for output in case.model.graph.output]
                for got, want in zip(results.values(), outputs, strict=True):
                    check(got, want, case)


def test_other_cases_are_refused(tmp_path, subtests):
    for case in cases(is_refused=True):
        with subtests.test(case.name), pytest.raises(ValueError):
            compute(case, tmp_path, case.data_sets[0][0])


def test_the_message_names_the_node():
    x = isoform_onnx.Input(ty=None, default=None, name="x")
    call = isoform_onnx.Call("", "Nothing", 13, None, {}, [x], 1, name="n", op_name="Nothing")
    graph = isoform_onnx.Graph([x], [None], [isoform_onnx.Output(call, 0)], result_names=["y"])
    program = isoform_onnx.Program(graph, [])
    with pytest.raises(ValueError, match="node Nothing 'n': Nothing has no kernel"):
        isoform_onnx.evaluate(program, {"x": np.float32([1])})
    with pytest.raises(ValueError, match="input 'x' is missing"):
        isoform_onnx.evaluate(program)
    with pytest.raises(TypeError, match=r"expected a model or an onnx\.Program"):
        isoform_onnx.evaluate(graph, {})


def test_memory_is_limited():
    shape = isoform_onnx.Input(ty=None, default=None, name="shape")
    call = isoform_onnx.Call("", "ConstantOfShape", 9, None, {}, [shape], 1)
    graph = isoform_onnx.Graph([shape], [None], [isoform_onnx.Output(call, 0)], result_names=["y"])
    program = isoform_onnx.Program(graph, [])
    size = {"shape": np.array([1000])}
    assert isoform_onnx.evaluate(program, size)["y"].shape == (1000,)
    with pytest.raises(ValueError, match="expected a tensor of at most 100 bytes"):
        isoform_onnx.evaluate(program, size, max_bytes=100)


def test_strings_and_sequences():
    x = isoform_onnx.Input(ty=None, default=None, name="x")
    same = isoform_onnx.Call("", "StringConcat", 20, None, {}, [x, x], 1)
    first = isoform_onnx.Output(same, 0)
    pair = isoform_onnx.Call("", "SequenceConstruct", 11, None, {}, [x, first], 1)
    results = [first, isoform_onnx.Output(pair, 0)]
    graph = isoform_onnx.Graph([x], [None, None], results, result_names=["y", "pair"])
    made = isoform_onnx.evaluate(isoform_onnx.Program(graph, []), {"x": ["a", "ü"]})
    assert [bytes(text).decode() for text in made["y"].values] == ["aa", "üü"]
    assert [list(item.shape) for item in made["pair"]] == [[2], [2]]
