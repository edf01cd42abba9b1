"""Derived types of ONNX programs, and dimensions as numbers.

The types of all values between the nodes of real models are compared with the arrays
computed by onnxruntime, where installed.
"""

import functools
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scale import FULL

from isoform import dtype, onnx, structural_equal

MODELS = os.environ.get("ISOFORM_MODELS")


def call(op, inputs, outputs=1, version=17, **attrs):
    return onnx.Call("", op, version, None, attrs, inputs, outputs)


def first(op, *inputs, **attrs):
    return onnx.Output(call(op, list(inputs), **attrs), 0)


def tensor(elem, dims):
    return onnx.TensorType(elem if elem == "string" else dtype(elem), dims)


def tensor_input(name, elem, dims):
    return onnx.Input(ty=tensor(elem, dims), default=None, name=name)


def program(inputs, *results, types=None):
    names = [f"out{at}" for at in range(len(results))]
    graph = onnx.Graph(inputs, types or [None] * len(results), results, result_names=names)
    return onnx.Program(graph, [])


@pytest.fixture
def x():
    return tensor_input("x", "float32", [onnx.Dim("batch"), 3])


# ---- types ---------------------------------------------------------------------------


def test_types_of_outputs_inputs_and_constants(x):
    shape = first("Shape", x)
    sum_ = first("Add", shape, np.int64([1, 0]))
    shapes = onnx.infer_shapes(program([x], sum_))
    assert shapes[x] == onnx.ValueType(dtype("float32"), ("batch", 3), None)
    assert shapes[shape] == onnx.ValueType(dtype("int64"), (2,), ("batch", 3))
    assert shapes[sum_].elements == ("batch + 1", 3)
    assert shapes[sum_.call.inputs[1]] == onnx.ValueType(dtype("int64"), (2,), (1, 0))
    assert isinstance(shapes[x].elem, dtype)
    assert shapes.problems == ()


def test_what_is_not_known_is_none():
    y = onnx.Input(ty=None, default=None, name="y")
    text = tensor_input("text", "string", [None, 2])
    sequence = first("SequenceConstruct", text)
    custom = onnx.Output(onnx.Call("my.domain", "Op", 1, None, {}, [text], 1), 0)
    shapes = onnx.infer_shapes(program([y, text], y, sequence, custom))
    for value in (y, sequence, custom):
        assert shapes[value] == onnx.ValueType(None, None, None)
    assert shapes[text] == onnx.ValueType("string", ("_1", 2), None)


def test_bodies_know_the_values_around_them(x):
    inner = first("Concat", x, x, axis=0)
    branch = onnx.Graph([], [None], [inner])
    other = onnx.Graph([], [None], [first("Relu", x)])
    flag = tensor_input("flag", "bool", [])
    chosen = onnx.Output(call("If", [flag], then_branch=branch, else_branch=other), 0)
    shapes = onnx.infer_shapes(program([x, flag], chosen))
    assert shapes[inner].shape == ("batch*2", 3)
    # The branches have another first extent each.
    extent, three = shapes[chosen].shape
    assert re.fullmatch(r"_\d+", extent)
    assert three == 3


def test_calls_that_are_made_later_may_be_asked_about(x):
    relu = first("Relu", x)
    shapes = onnx.infer_shapes(program([x], relu))
    later = first("Concat", relu, relu, axis=1)
    assert shapes[later].shape == ("batch", 6)


@pytest.mark.parametrize("thing", ["x", 1, None, {}])
def test_only_values_have_types(x, thing):
    shapes = onnx.infer_shapes(program([x], first("Relu", x)))
    with pytest.raises(TypeError, match=r"expected a value of a program, that is an onnx\.Output"):
        shapes[thing]


def test_types_cannot_be_iterated(x):
    shapes = onnx.infer_shapes(program([x], first("Relu", x)))
    with pytest.raises(TypeError):
        iter(shapes)
    with pytest.raises(TypeError):
        _ = x in shapes


def test_only_models_and_programs_have_shapes():
    with pytest.raises(TypeError, match=r"expected a model or an onnx\.Program, got"):
        onnx.infer_shapes(3)
    with pytest.raises(TypeError, match=r"expected a model or an onnx\.Program, got"):
        onnx.fix_dims("model.onnx")


def test_wrong_declarations_are_problems(x):
    types = [
        tensor("float32", [7, 4]),
        tensor("int64", None),
        tensor("float32", [onnx.Dim("any"), 3]),
    ]
    relus = [first("Relu", x) for _ in types]
    shapes = onnx.infer_shapes(program([x], *relus, types=types))
    assert [problem.name for problem in shapes.problems] == ["out0", "out1"]
    problem = shapes.problems[0]
    assert problem.declared.shape == (7, 4)
    assert problem.derived == shapes[relus[0]]
    expected = "output 'out0' is declared as float[7, 4], but is float[batch, 3]"
    assert problem.message == expected
    assert shapes.problems[1].declared == onnx.ValueType(dtype("int64"), None, None)


def test_long_chains_need_no_deep_stack(x):
    value = x
    for _ in range(50_000):
        value = first("Relu", value)
    assert onnx.infer_shapes(program([x], value))[value].shape == ("batch", 3)


# ---- dimensions ----------------------------------------------------------------------


def test_a_dimension_is_fixed_wherever_it_occurs(x):
    double = first("Concat", x, x, axis=0)
    before = program([x], double)
    for arguments in ({"dims": {"batch": 4}}, {"input_shapes": {"x": (4, None)}}):
        fixed = onnx.fix_dims(before, **arguments)
        shapes = onnx.infer_shapes(fixed)
        assert shapes[fixed.graph.params[0]].shape == (4, 3)
        assert shapes[fixed.graph.results[0]].shape == (8, 3)
    # The program itself stays as it is.
    assert onnx.infer_shapes(before)[double].shape == ("batch*2", 3)
    assert onnx.fix_dims(before, {}, {}).same_as(before)


def test_extents_may_be_integers_of_numpy(x):
    before = program([x], first("Relu", x))
    fixed = onnx.fix_dims(before, {"batch": np.int32(4)}, {"x": np.int64([4, 3])})
    assert structural_equal(fixed, onnx.fix_dims(before, {"batch": 4}))


@pytest.mark.parametrize(
    ("dims", "shapes", "error", "message"),
    [
        ({"bach": 1}, {}, KeyError, "dimension 'bach': .* have the dimensions 'batch'"),
        ({"batch": -1}, {}, ValueError, "dimension 'batch': expected .* not negative, got -1"),
        ({"batch": 1.5}, {}, TypeError, "dimension 'batch': expected an int, got float"),
        ({}, {"z": (1, 3)}, KeyError, "input 'z': the model has the inputs 'x'"),
        ({}, {"x": (1,)}, ValueError, "input 'x': expected 2 extents, .* got 1"),
        ({}, {"x": (1, 4)}, ValueError, "input 'x': expected 3 at axis 1, .* got 4"),
        ({}, {"x": ("n", 3)}, TypeError, "input 'x': expected an int, got str"),
        ({"batch": 1}, {"x": (2, 3)}, ValueError, "dimension 'batch': .* got 1 and 2"),
        ({"batch": 2**70}, {}, OverflowError, "dimension 'batch': .* more than 64 bits"),
    ],
)
def test_wrong_dimensions_are_explained(x, dims, shapes, error, message):
    with pytest.raises(error, match=message):
        onnx.fix_dims(program([x], first("Relu", x)), dims, shapes)


# ---- onnxruntime ---------------------------------------------------------------------

FUNCTIONS = {
    "floordiv": lambda a, b: a // b,
    "truncdiv": lambda a, b: math.trunc(a / b),
    "mod": lambda a, b: a % b,
    "rem": lambda a, b: int(math.fmod(a, b)),
    "min": min,
    "max": max,
    "or_if_zero": lambda a, b: a or b,
    "broadcast": lambda a, b: b if a == 1 else a,
    "equal": lambda a, b: int(a == b),
    "less": lambda a, b: int(a < b),
}


@functools.cache
def parts(text, *separators):
    """Split outside of parentheses; a part includes the preceding separator."""
    found = []
    depth, at, start, before = 0, 0, 0, separators[0]
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        here = [one for one in separators if depth == 0 and text.startswith(one, at)]
        if here:
            found.append((before, text[start:at]))
            before, start = here[0], at + len(here[0])
            at = start
        else:
            at += 1
    found.append((before, text[start:]))
    return found


def number(text, known):
    """The number that a formula denotes; None with an unknown symbol."""
    if text in known:
        return known[text]
    terms = parts(text, " + ", " - ")
    if len(terms) > 1:
        numbers = [number(term, known) for _, term in terms]
        if None in numbers:
            return None
        signs = [-1 if sign == " - " else 1 for sign, _ in terms]
        return sum(map(math.prod, zip(signs, numbers, strict=True)))
    if text.startswith("-") and not text[1:].isdigit():
        rest = number(text[1:], known)
        return None if rest is None else -rest
    factors = parts(text, "*")
    if len(factors) > 1:
        numbers = [number(factor, known) for _, factor in factors]
        return None if None in numbers else math.prod(numbers)
    applied = re.fullmatch(r"(\w+)\((.*)\)", text)
    if applied and applied[1] in FUNCTIONS:
        numbers = [number(argument, known) for _, argument in parts(applied[2], ", ")]
        return None if None in numbers else FUNCTIONS[applied[1]](*numbers)
    return int(text) if re.fullmatch(r"-?\d+", text) else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("n*3 + 1", 16),
        ("-n*m*2 + floordiv(n - 1, 2)", -68),
        ("max(n, floordiv(m, 2)) - 1", 4),
        ("n + k", None),
    ],
)
def test_formulas_are_computed(text, expected):
    assert number(text, {"n": 5, "m": 7}) == expected


# These take seconds; the other networks for images have the same operators.
SLOW = {"light_vgg19.onnx"}
if not FULL:
    names = ("bvlc_alexnet", "densenet121", "inception_v2", "resnet50", "zfnet512")
    SLOW |= {f"light_{name}.onnx" for name in names}


class Judge:
    """Compares derived types with the arrays of one run."""

    def __init__(self):
        self.known = {}
        self.later = []
        self.wrong = []
        self.numbers = self.formulas = self.elements = 0

    def extent(self, derived, real, where):
        if isinstance(derived, int):
            self.numbers += 1
            if derived != real:
                self.wrong.append((where, derived, real))
        elif not re.search(r"[ (*]", derived):
            # A symbol: the same number at each occurrence.
            if self.known.setdefault(derived, real) != real:
                self.wrong.append((where, derived, real))
        else:
            self.later.append((derived, real, where))

    def value(self, ty, real, where):
        if isinstance(real, (list, dict)) or real is None:
            if ty.elem is not None or ty.shape is not None:
                self.wrong.append((where, ty, type(real)))
            return
        elem = "string" if real.dtype.kind in "OU" else real.dtype.name
        if ty.elem is not None and ty.elem != elem:
            self.wrong.append((where, ty.elem, elem))
        if ty.shape is not None:
            if len(ty.shape) != real.ndim:
                self.wrong.append((where, ty.shape, real.shape))
                return
            for derived, extent in zip(ty.shape, real.shape, strict=True):
                self.extent(derived, extent, where)
        if ty.elements is not None:
            self.elements += 1
            for derived, element in zip(ty.elements, real.ravel().tolist(), strict=True):
                self.extent(derived, int(element), where)

    def finish(self):
        """Compute the formulas, after all symbols are known that can be known."""
        for derived, real, where in self.later:
            found = number(derived, self.known)
            if found is not None:
                self.formulas += 1
                if found != real:
                    self.wrong.append((where, derived, found, real))


def outputs_by_name(program):
    """The results of the main graph's nodes."""
    found, seen = {}, set()
    stack = list(program.graph.results)
    while stack:
        value = stack.pop()
        if not isinstance(value, onnx.Output) or value.call in seen:
            continue
        seen.add(value.call)
        for index, name in enumerate(value.call.output_names):
            if name and index < value.call.outputs:
                found[name] = onnx.Output(value.call, index)
        stack.extend(value.call.inputs)
    return found


def make_symbolic(message):
    """Replace all extents of a model's inputs by symbols; return the extents."""
    sizes = {}
    for given in message.graph.input:
        for dim in given.type.tensor_type.shape.dim:
            if dim.HasField("dim_value"):
                name = f"size{len(sizes)}"
                sizes[name] = dim.dim_value
                dim.dim_param = name
    return sizes


def arrays_for(session, sizes, size, random):
    """Inputs of a model, with this size for symbols missing in `sizes`, or None."""
    arrays = {}
    for given in session.get_inputs():
        kind = re.fullmatch(r"tensor\((\w+)\)", given.type)
        if not kind:
            return None
        shape = [dim if isinstance(dim, int) else sizes.get(dim, size) for dim in given.shape]
        name = {"float": "float32", "double": "float64"}.get(kind[1], kind[1])
        if name == "string":
            arrays[given.name] = np.full(shape, "text", dtype=object)
        else:
            high = 2 if name == "bool" or "int" in name else 100
            arrays[given.name] = random.integers(0, high, shape).astype(name)
    return arrays


def judged(message, runtime, sizes):
    """The findings about a model's types; None if it does not run with these sizes."""
    # The runtime needs a type for an output only if it cannot derive the type either.
    loaded = onnx.load(message)
    values = outputs_by_name(loaded.program)
    outputs = {output.name for output in message.graph.output}
    for name in values.keys() - outputs:
        message.graph.output.add(name=name)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        session = runtime.InferenceSession(
            message.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    except Exception:
        return None
    shapes = onnx.infer_shapes(loaded)
    names = [output.name for output in session.get_outputs()]
    for size in (3, 1, 7, 64, 1024):
        arrays = arrays_for(session, sizes, size, np.random.default_rng(size))
        if arrays is None:
            return None
        try:
            results = session.run(names, arrays)
        except Exception:
            continue
        judge = Judge()
        for param in loaded.program.graph.params:
            if param.name in arrays:
                judge.value(shapes[param], arrays[param.name], param.name)
        for name, result in zip(names, results, strict=True):
            if name in values:
                judge.value(shapes[values[name]], result, name)
        judge.finish()
        return judge
    return None


@pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")
def test_types_are_those_of_the_runtime():
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    onnx_package = pytest.importorskip("onnx", reason="the onnx package is not installed")
    judges = {}
    for path in sorted(Path(MODELS).glob("*.onnx")):
        if path.name in SLOW:
            continue
        judges[path.name] = judged(onnx_package.load(path), runtime, {})
        # Once more with formulas instead of numbers.
        message = onnx_package.load(path)
        sizes = make_symbolic(message)
        judges[f"{path.name}, symbolic"] = judged(message, runtime, sizes)
    judges = {name: judge for name, judge in judges.items() if judge is not None}
    wrong = {name: judge.wrong for name, judge in judges.items() if judge.wrong}
    assert wrong == {}
    assert len(judges) >= 200
    assert sum(judge.numbers for judge in judges.values()) >= 2000
    assert sum(judge.formulas for judge in judges.values()) >= 100
    assert sum(judge.elements for judge in judges.values()) >= 20
