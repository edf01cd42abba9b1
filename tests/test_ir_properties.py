"""Laws of `isoform.ir` and `isoform.tir` on random modules of all their classes."""

import copy
import inspect
import pickle

import pytest

import isoform
from isoform import _core, ir, relay, serialization, text, tir
from isoform.testing import random_module

SEEDS = range(25)
# Types with state of a single process, which neither files nor comparison support.
NOT_IN_MODULES = {
    "ir.DiagnosticContext",
    "ir.DiagnosticRenderer",
    "ir.GlobalVarSupply",
    "ir.NameSupply",
}


def modules():
    for seed in SEEDS:
        yield random_module(seed, 4 * seed)


def assert_same(left, right):
    """Asserts that two values are equal, and the same graph."""
    isoform.assert_structural_equal(left, right, map_free_vars=True)
    for measure in (isoform.structural_hash, isoform.structural_digest):
        assert measure(left, map_free_vars=True) == measure(right, map_free_vars=True)
    # The list of nodes names each object once, in the order of the fields.
    assert serialization.to_json_graph_str(left) == serialization.to_json_graph_str(right)


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle(protocol):
    for module in modules():
        assert_same(module, pickle.loads(pickle.dumps(module, protocol)))


def test_deepcopy():
    for module in modules():
        copied = copy.deepcopy(module)
        assert not copied.same_as(module)
        assert_same(module, copied)


def test_json():
    for module in modules():
        assert_same(module, ir.load_json(ir.save_json(module)))


@pytest.mark.parametrize("width", [1, 40, 100, 10_000])
def test_text(width):
    for module in modules():
        printed = text.to_text(module, width=width, tensors="inline")
        assert printed == text.to_text(module, width=width, tensors="inline")
        assert_same(module, text.from_text(printed))


def test_every_class_comes_up():
    found = set()
    for seed in range(80):
        graph = serialization.to_json_graph_str(random_module(seed, 400))
        found.update(key for key in _core.registered_type_keys() if f'"{key}"' in graph)
    classes = [
        cls
        for module in (ir, tir, relay)
        for name in module.__all__
        if inspect.isclass(cls := getattr(module, name)) and issubclass(cls, isoform.Object)
    ]
    keys = {_core.type_info(cls).type_key for cls in classes}
    keys = {key for key in keys if key.startswith(("ir.", "tir.", "relay."))}
    # Values of evaluation are not part of programs.
    keys = {key for key in keys if not key.startswith("relay.value.")}
    assert len(keys) > 70
    assert keys - found == NOT_IN_MODULES & keys


def test_a_seed_gives_the_same_module():
    one, again, other = random_module(5, 80), random_module(5, 80), random_module(6, 80)
    assert isinstance(one, ir.IRModule)
    assert not one.same_as(again)
    assert serialization.to_json_graph_str(one) == serialization.to_json_graph_str(again)
    assert not isoform.structural_equal(one, other, map_free_vars=True)


def test_sizes():
    lengths = [len(serialization.to_json_graph_str(random_module(1, n))) for n in (0, 100, 5000)]
    assert lengths[0] < lengths[1] < lengths[2] / 5


@pytest.mark.parametrize("arguments", [(-1, 10), (2**64, 10), (1, -1)])
def test_numbers_out_of_range(arguments):
    with pytest.raises(OverflowError):
        random_module(*arguments)


def test_wrong_arguments():
    with pytest.raises(TypeError):
        random_module("1", 10)
