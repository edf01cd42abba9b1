"""Operators beside onnxruntime, on random operands and attributes.

Each computed result must equal the result of the runtime. The evaluator refuses operands on
which runtimes differ; the refusals are counted, and a test with too few comparisons fails.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnx_reference import session_of

from isoform import Tensor, onnx as ours

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime", reason="onnxruntime is the reference: not installed")

ML = "ai.onnx.ml"
CASES = 60

# What onnxruntime does not support, though the standard allows it.
LIMITS = (
    "Dilation not supported",
    "Computed output shape is inconsistent",
    "padding values must be non-negative",
)


def model_of(node: Any, feed: dict[str, np.ndarray], versions: dict[str, int]) -> Any:
    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        if value.dtype != object
        else helper.make_tensor_value_info(name, onnx.TensorProto.STRING, value.shape)
        for name, value in feed.items()
    ]
    graph = helper.make_graph([node], "g", inputs, [])
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in node.output)
    imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def run(model: Any, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    return [np.asarray(value) for value in session_of(model).run(None, feed)]


def array_of(result: Any) -> np.ndarray:
    if isinstance(result, Tensor):
        return np.asarray(result)
    texts = np.array([bytes(text).decode() for text in result.values], object)
    return texts.reshape(tuple(result.shape))


class Judge:
    """Counts the outcomes of the cases of one operator."""

    def __init__(self, refuses: bool = False, **versions: int) -> None:
        """With `refuses`, the evaluator has to refuse whatever the runtime refuses."""
        self.refuses = refuses
        self.versions = {{"ml": ML, "onnx": ""}[name]: at for name, at in versions.items()}
        self.counts: Counter[str] = Counter()

    def case(self, op: str, feed: dict[str, np.ndarray], outputs: int = 1, **attrs: Any) -> None:
        domain = ML if ML in self.versions else ""
        names = [f"y{at}" for at in range(outputs)]
        node = onnx.helper.make_node(op, list(feed), names, domain=domain, **attrs)
        model = model_of(node, feed, self.versions)
        try:
            want = run(model, feed)
        except Exception as error:
            self.counts["not run"] += 1
            if not self.refuses or any(text in str(error) for text in LIMITS):
                return
            try:
                ours.evaluate(ours.load(model), feed)
            except ValueError:
                return
            shapes = {name: value.shape for name, value in feed.items()}
            raise AssertionError(f"{op} of {shapes} with {attrs} runs, but: {error}") from None
        try:
            got = ours.evaluate(ours.load(model), feed)
        except ValueError as error:
            assert "runtimes differ" in str(error), (error, attrs)
            self.counts["refused"] += 1
            return
        for left, right in zip(got.values(), want, strict=True):
            self.same(array_of(left), right, (op, attrs, feed))
        self.counts["same"] += 1

    def same(self, left: np.ndarray, right: np.ndarray, what: Any) -> None:
        assert left.shape == right.shape, what
        if right.dtype == object or right.dtype.kind in "US":
            assert left.tolist() == right.tolist(), what
            return
        assert left.dtype == right.dtype, what
        if right.dtype.kind in "iub":
            np.testing.assert_array_equal(left, right, str(what))
        else:
            np.testing.assert_allclose(left, right, 1e-3, 1e-4, err_msg=str(what))

    def finish(self, least: int) -> None:
        assert self.counts["same"] >= least, self.counts


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def per_axis(rng: np.random.Generator, low: int, high: int, count: int) -> list[int]:
    """Numbers for the axes, sometimes one too few or too many, or one out of range."""
    if rng.random() < 0.15:
        count += int(rng.choice([-1, 1]))
    numbers = [int(number) for number in rng.integers(low, high, max(count, 1))]
    if rng.random() < 0.05:
        numbers[0] = low - 1
    return numbers


def window_attributes(rng: np.random.Generator, kernel: list[int]) -> dict[str, Any]:
    """Attributes of windows, of which some contradict the kernel or each other."""
    rank = len(kernel)
    attrs: dict[str, Any] = {}
    if rng.random() < 0.5:
        attrs["strides"] = per_axis(rng, 1, 3, rank)
    if rng.random() < 0.3:
        attrs["dilations"] = per_axis(rng, 1, 3, rank)
    if rng.random() < 0.5:
        attrs["pads"] = per_axis(rng, 0, 3, 2 * rank)
    if rng.random() < 0.2:
        attrs["auto_pad"] = str(rng.choice(["VALID", "SAME_UPPER", "SAME_LOWER", "SAME"]))
        # onnxruntime forgets the dilations of pools here.
        attrs.pop("dilations", None)
    return attrs


@pytest.mark.parametrize(
    "op", ["Conv", "ConvInteger", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"]
)
def test_windows_that_may_contradict_the_shapes(op: str) -> None:
    rng = np.random.default_rng(7)
    judge = Judge(refuses=True, onnx=19)
    for _ in range(4 * CASES):
        rank = int(rng.integers(1, 3))
        kernel = [int(size) for size in rng.integers(1, 4, rank)]
        group = int(rng.integers(1, 3))
        channels, outputs = group * int(rng.integers(1, 3)), group * int(rng.integers(1, 3))
        # Every window fits: for others, some versions of onnxruntime make empty results.
        sizes = [int(size) for size in rng.integers(8, 11, rank)]
        attrs = window_attributes(rng, kernel)
        declared = list(kernel)
        if rng.random() < 0.1:
            declared[int(rng.integers(rank))] += 1
        if rng.random() < 0.1:
            declared.append(1)
        feed = {"x": floats(rng, 1, channels, *sizes)}
        if op.endswith("Pool"):
            judge.case(op, feed, kernel_shape=declared, **attrs)
            continue
        if rng.random() < 0.5:
            attrs["kernel_shape"] = declared
        if group > 1 or rng.random() < 0.1:
            attrs["group"] = group + int(rng.random() < 0.1)
        ends = (
            (channels, outputs // group) if op == "ConvTranspose" else (outputs, channels // group)
        )
        feed["w"] = floats(rng, *ends, *kernel)
        if op == "ConvInteger":
            feed = {name: (value * 9).astype(np.uint8) for name, value in feed.items()}
        elif rng.random() < 0.3:
            feed["b"] = floats(rng, outputs + int(rng.random() < 0.2))
        if op == "ConvTranspose" and rng.random() < 0.2:
            attrs["output_padding"] = per_axis(rng, 0, 2, rank)
        if op == "ConvTranspose" and rng.random() < 0.2:
            attrs["output_shape"] = [size + int(rng.integers(0, 4)) for size in sizes]
        judge.case(op, feed, **attrs)
    judge.finish(CASES // 2)
    assert judge.counts["not run"] >= CASES // 2, judge.counts


def test_quantized_convolution() -> None:
    rng = np.random.default_rng(1)
    judge = Judge(onnx=21)
    for _ in range(CASES):
        dtype = rng.choice([np.uint8, np.int8])
        group = int(rng.integers(1, 3))
        channels, outputs = group * int(rng.integers(1, 3)), group * int(rng.integers(1, 4))
        kernel = [int(size) for size in rng.integers(1, 4, 2)]
        limits = np.iinfo(dtype)
        image = (int(rng.integers(1, 3)), channels, *map(int, rng.integers(4, 9, 2)))
        scale = rng.uniform(0.01, 0.3, outputs if rng.random() < 0.5 else ()).astype(np.float32)
        # Seven bits: without VNNI instructions, onnxruntime adds two products of eight bits
        # in 16 bits and cuts larger sums off.
        weight = rng.integers(-64, 65, (outputs, channels // group, *kernel)).astype(np.int8)
        feed = {
            "x": rng.integers(limits.min, limits.max + 1, image).astype(dtype),
            "xs": np.float32(rng.uniform(0.01, 0.2)),
            "xz": dtype(rng.integers(limits.min, limits.max + 1)),
            "w": weight,
            "ws": scale,
            "wz": np.zeros(scale.shape, np.int8),
            "ys": np.float32(rng.uniform(0.1, 2)),
            "yz": dtype(rng.integers(limits.min, limits.max + 1)),
        }
        if rng.random() < 0.5:
            feed["b"] = rng.integers(-500, 500, outputs).astype(np.int32)
        feed = {name: np.asarray(value) for name, value in feed.items()}
        attrs: dict[str, Any] = {"group": group}
        if rng.random() < 0.5:
            attrs["pads"] = [int(pad) for pad in rng.integers(0, 2, 4)]
        if rng.random() < 0.5:
            attrs["strides"] = [int(stride) for stride in rng.integers(1, 3, 2)]
        if rng.random() < 0.3:
            attrs["dilations"] = [int(step) for step in rng.integers(1, 3, 2)]
        judge.case("QLinearConv", feed, **attrs)
    judge.finish(CASES // 2)


def test_attention() -> None:
    rng = np.random.default_rng(2)
    judge = Judge(onnx=23)
    for _ in range(CASES):
        batch, groups = (int(size) for size in rng.integers(1, 3, 2))
        heads = groups * int(rng.integers(1, 3))
        queries, keys, width, depth = (int(size) for size in rng.integers(1, 5, 4))
        attrs: dict[str, Any] = {}
        if rng.random() < 0.5:
            attrs |= {"q_num_heads": heads, "kv_num_heads": groups}
            feed = {
                "q": floats(rng, batch, queries, heads * width),
                "k": floats(rng, batch, keys, groups * width),
                "v": floats(rng, batch, keys, groups * depth),
            }
        else:
            feed = {
                "q": floats(rng, batch, heads, queries, width),
                "k": floats(rng, batch, groups, keys, width),
                "v": floats(rng, batch, groups, keys, depth),
            }
        if rng.random() < 0.4:
            mask = rng.random((batch, heads, queries, keys)) < 0.8
            # Runtimes differ where nothing is left.
            mask[..., 0] = True
            bias = floats(rng, queries, keys)
            feed["mask"] = mask if rng.random() < 0.5 else bias
        elif rng.random() < 0.3:
            attrs["is_causal"] = 1
        if rng.random() < 0.3:
            attrs["softcap"] = 1.5
        if rng.random() < 0.3:
            attrs["scale"] = 0.7
        judge.case("Attention", feed, **attrs)
    judge.finish(CASES // 2)


def test_rotary_embedding() -> None:
    rng = np.random.default_rng(3)
    judge = Judge(onnx=23)
    for _ in range(CASES):
        batch, heads, length = (int(size) for size in rng.integers(1, 4, 3))
        width = 2 * int(rng.integers(1, 4))
        attrs: dict[str, Any] = {"interleaved": int(rng.integers(0, 2))}
        if rng.random() < 0.5:
            feed = {"x": floats(rng, batch, heads, length, width)}
        else:
            feed = {"x": floats(rng, batch, length, heads * width)}
            attrs["num_heads"] = heads
        angles = rng.uniform(-3, 3, (7, width // 2)).astype(np.float32)
        ids = rng.integers(0, 7, (batch, length))
        if rng.random() < 0.5:
            feed |= {"cos": np.cos(angles), "sin": np.sin(angles), "ids": ids}
        else:
            feed |= {"cos": np.cos(angles[ids]), "sin": np.sin(angles[ids])}
        judge.case("RotaryEmbedding", feed, **attrs)
    judge.finish(CASES // 2)


def test_deformable_convolution() -> None:
    rng = np.random.default_rng(4)
    judge = Judge(onnx=22)
    for _ in range(CASES // 2):
        group, parts = (int(size) for size in rng.integers(1, 3, 2))
        channels, outputs = group * parts * int(rng.integers(1, 3)), group * 2
        rows, columns, stride, pad = (int(size) for size in rng.integers(1, 3, 4))
        height, width = (int(size) for size in rng.integers(4, 7, 2))
        tall = (height + 2 * pad - rows) // stride + 1
        wide = (width + 2 * pad - columns) // stride + 1
        taps = rows * columns
        feed = {
            "x": floats(rng, 2, channels, height, width),
            "w": floats(rng, outputs, channels // group, rows, columns),
            "offset": floats(rng, 2, parts * taps * 2, tall, wide),
            "b": floats(rng, outputs),
        }
        if rng.random() < 0.5:
            feed["mask"] = rng.random((2, parts * taps, tall, wide)).astype(np.float32)
        judge.case(
            "DeformConv",
            feed,
            group=group,
            offset_group=parts,
            pads=[pad] * 4,
            strides=[stride] * 2,
        )
    judge.finish(CASES // 4)


def words(rng: np.random.Generator, *shape: int) -> np.ndarray:
    texts = np.array(["a", "B", "cc d", "", "Ee", "f,g,,h", " i  j "], object)
    return texts[rng.integers(0, len(texts), shape)]


def test_strings() -> None:
    rng = np.random.default_rng(5)
    judge = Judge(onnx=21)
    for _ in range(CASES):
        x = {"x": words(rng, int(rng.integers(1, 6)))}
        judge.case(
            "StringSplit",
            {"x": x["x"][x["x"] != ""]},
            2,
            delimiter=str(rng.choice([",", " ", "", "cc"])),
        )
        judge.case(
            "RegexFullMatch", x, pattern=str(rng.choice([r"[a-z]+", r"\w+ \w", ".*", "(?i)b"]))
        )
        attrs: dict[str, Any] = {"case_change_action": str(rng.choice(["UPPER", "LOWER", "NONE"]))}
        if rng.random() < 0.6:
            attrs["stopwords"] = ["b", "cc d", "Ee"][: int(rng.integers(1, 4))]
        attrs["is_case_sensitive"] = int(rng.integers(0, 2))
        judge.case("StringNormalizer", x, **attrs)
    # The locale of the runtime may be missing.
    judge.finish(CASES)


def test_counts_of_words() -> None:
    rng = np.random.default_rng(6)
    judge = Judge(onnx=9)
    for _ in range(CASES):
        pool = rng.permutation(12)
        singles, pairs = pool[:4], pool[4:12]
        low = int(rng.integers(1, 3))
        attrs: dict[str, Any] = {
            "mode": str(rng.choice(["TF", "IDF", "TFIDF"])),
            "min_gram_length": low,
            "max_gram_length": int(rng.integers(low, 3)),
            "max_skip_count": int(rng.integers(0, 4)),
            "ngram_counts": [0, 4],
            "ngram_indexes": [int(at) for at in rng.permutation(8)],
        }
        if rng.random() < 0.5:
            attrs["weights"] = [float(weight) for weight in rng.uniform(0, 2, 8)]
        shape = (3, 9) if rng.random() < 0.5 else (9,)
        x = rng.integers(0, 12, shape)
        # Now and then, pairs of the pool.
        x[..., 2:4] = pairs[:2]
        numbers = [int(number) for number in (*singles, *pairs)]
        if rng.random() < 0.5:
            attrs["pool_int64s"] = numbers
        else:
            attrs["pool_strings"] = [f"w{number}" for number in numbers]
            x = np.array([f"w{number}" for number in x.flat], object).reshape(shape)
        judge.case("TfIdfVectorizer", {"x": x}, **attrs)
    judge.finish(CASES // 2)


def test_labels_and_features() -> None:
    rng = np.random.default_rng(7)
    judge = Judge(ml=2, onnx=15)
    for _ in range(CASES):
        shape = (int(rng.integers(1, 4)), int(rng.integers(1, 5)))
        numbers = rng.integers(-3, 4, shape)
        x = floats(rng, *shape)
        x[rng.random(shape) < 0.3] = 0
        judge.case(
            "LabelEncoder", {"x": numbers}, keys_int64s=[1, 2, -3], values_strings=["a", "", "c"]
        )
        judge.case(
            "LabelEncoder",
            {"x": words(rng, *shape)},
            keys_strings=["a", "Ee"],
            values_floats=[1.5, 2],
            default_float=-1.0,
        )
        judge.case("LabelEncoder", {"x": x}, keys_floats=[0.0], values_int64s=[3])
        judge.case("CategoryMapper", {"x": numbers}, cats_int64s=[0, 2], cats_strings=["x", "y"])
        judge.case("OneHotEncoder", {"x": numbers}, cats_int64s=[0, 2, -3], zeros=1)
        judge.case("OneHotEncoder", {"x": words(rng, *shape)}, cats_strings=["a", "Ee"], zeros=1)
        judge.case("Binarizer", {"x": x}, threshold=0.25)
        judge.case("Normalizer", {"x": x}, norm=str(rng.choice(["MAX", "L1", "L2"])))
        offset, scale = floats(rng, 2, shape[1]).tolist()
        judge.case("Scaler", {"x": x}, offset=offset, scale=scale)
        judge.case("Imputer", {"x": x}, imputed_value_floats=scale, replaced_value_float=0.0)
        nans = np.where(x == 0, np.float32(np.nan), x)
        judge.case(
            "Imputer", {"x": nans}, imputed_value_floats=[7.0], replaced_value_float=float("nan")
        )
        indices = rng.integers(0, shape[1], (1, int(rng.integers(1, 4))))
        judge.case("ArrayFeatureExtractor", {"x": x, "i": indices})
        judge.case(
            "FeatureVectorizer",
            {"x": x, "y": floats(rng, shape[0], 2)},
            inputdimensions=[shape[1], 2],
        )
    judge.finish(10 * CASES)


def test_linear_models() -> None:
    rng = np.random.default_rng(8)
    judge = Judge(ml=1, onnx=15)
    transforms = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
    for _ in range(CASES):
        rows, features, count = (int(size) for size in rng.integers(2, 5, 3))
        x = {"x": floats(rng, rows, features)}
        transform = str(rng.choice(transforms))
        judge.case(
            "LinearRegressor",
            x,
            coefficients=floats(rng, count * features).tolist(),
            intercepts=floats(rng, count).tolist(),
            targets=count,
        )
        attrs: dict[str, Any] = {"classlabels_ints": list(range(5, 5 + count))}
        if rng.random() < 0.5:
            attrs = {"classlabels_strings": [f"c{at}" for at in range(count)]}
        judge.case(
            "LinearClassifier",
            x,
            2,
            coefficients=floats(rng, count * features).tolist(),
            intercepts=floats(rng, count).tolist(),
            post_transform=transform,
            **attrs,
        )
        kernel = str(rng.choice(["LINEAR", "RBF", "SIGMOID", "POLY"]))
        judge.case(
            "SVMRegressor",
            x,
            coefficients=floats(rng, count).tolist(),
            support_vectors=floats(rng, count * features).tolist(),
            n_supports=count,
            rho=[0.25],
            kernel_type=kernel,
            kernel_params=[0.5, 0.1, 2.0],
        )
    judge.finish(2 * CASES)


def forest(rng: np.random.Generator, features: int, prefix: str, ids: list[int], low: float) -> Any:
    """Random trees in the attributes of versions before 5."""
    modes = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
    names = ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids"]
    names.append("missing_value_tracks_true")
    nodes: dict[str, list[Any]] = {f"nodes_{name}": [] for name in names}
    leaves: dict[str, list[Any]] = {
        f"{prefix}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")
    }

    def node(tree: int, number: int, mode: str, yes: int, no: int) -> None:
        row = [tree, number, int(rng.integers(0, features)), mode, round(float(rng.normal()), 1)]
        row += [yes, no, int(rng.integers(0, 2))]
        for values, value in zip(nodes.values(), row, strict=True):
            values.append(value)

    for tree in range(int(rng.integers(1, 5))):
        depth = int(rng.integers(0, 4))
        inner = 2**depth - 1
        mode = str(rng.choice(modes[:4]))
        for number in range(inner):
            mode = str(rng.choice(modes)) if rng.random() < 0.01 else mode
            node(tree, number, mode, 2 * number + 1, 2 * number + 2)
        for number in range(inner, 2 * inner + 1):
            node(tree, number, "LEAF", 0, 0)
            for target in ids if rng.random() < 0.8 else ids[:1]:
                row = [tree, number, target, round(float(rng.uniform(low, 1)), 3)]
                for values, value in zip(leaves.values(), row, strict=True):
                    values.append(value)
    return nodes | leaves


def test_trees() -> None:
    rng = np.random.default_rng(9)
    judge = Judge(ml=1, onnx=15)
    for _ in range(2 * CASES):
        rows, features = (int(size) for size in rng.integers(1, 5, 2))
        x = np.round(floats(rng, rows, features), 1)
        if rng.random() < 0.3:
            x[rng.random(x.shape) < 0.2] = np.nan
        feed = {"x": x}
        count = int(rng.integers(1, 4))
        attrs = forest(rng, features, "target", list(range(count)), -1)
        if rng.random() < 0.4:
            attrs["base_values"] = floats(rng, count).tolist()
        judge.case("TreeEnsembleRegressor", feed, n_targets=count, **attrs)
        count = int(rng.integers(2, 5))
        ids = list(range(count))
        if count == 2 and rng.random() < 0.7:
            ids = [0]
        attrs = forest(rng, features, "class", ids, float(rng.choice([-1, 0])))
        if rng.random() < 0.3 and count > 2:
            attrs["base_values"] = floats(rng, count).tolist()
        attrs["classlabels_int64s"] = list(range(3, 3 + count))
        transform = str(rng.choice(["NONE", "NONE", "LOGISTIC", "SOFTMAX"]))
        judge.case("TreeEnsembleClassifier", feed, 2, post_transform=transform, **attrs)
    judge.finish(CASES)


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_aggregates_of_trees(aggregate: str) -> None:
    rng = np.random.default_rng(10)
    judge = Judge(ml=1, onnx=15)
    for _ in range(CASES):
        feed = {"x": np.round(floats(rng, 3, 2), 1)}
        attrs = forest(rng, 2, "target", [0, 1], -1)
        judge.case(
            "TreeEnsembleRegressor", feed, n_targets=2, aggregate_function=aggregate, **attrs
        )
    judge.finish(CASES // 4)


def test_the_judge_finds_a_wrong_value() -> None:
    judge = Judge(onnx=21)
    with pytest.raises(AssertionError):
        judge.same(np.float32([1, 2]), np.float32([1, 2.5]), "floats")
    with pytest.raises(AssertionError):
        judge.same(np.array(["a"], object), np.array(["b"], object), "strings")
