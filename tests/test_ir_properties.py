"""Laws of `isoform.ir` and `isoform.tir` on random modules of all their classes."""

import copy
import pickle

import pytest

import isoform
from isoform import ir, serialization, text
from isoform.testing import random_module

SEEDS = range(25)


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


@pytest.mark.parametrize("arguments", [(-1, 10), (2**64, 10), (1, -1)])
def test_numbers_out_of_range(arguments):
    with pytest.raises(OverflowError):
        random_module(*arguments)


def test_wrong_arguments():
    with pytest.raises(TypeError):
        random_module("1", 10)
