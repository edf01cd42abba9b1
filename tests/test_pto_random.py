"""Laws of `isoform.pto` on random well-formed programs of all its classes."""

import copy
import pickle

import pytest

import isoform
from isoform import serialization
from isoform.pto import ir
from isoform.testing import random_program

SEEDS = range(25)
MAPPING = [False, True]


def programs():
    for seed in SEEDS:
        yield random_program(seed, 6 * seed)


def assert_same(left, right):
    """Asserts that two programs are equal, and the same graph."""
    for mapping in MAPPING:
        ir.assert_structural_equal(left, right, enable_auto_mapping=mapping)
        assert ir.structural_hash(left, mapping) == ir.structural_hash(right, mapping)
        digests = {isoform.structural_digest(it, map_free_vars=mapping) for it in (left, right)}
        assert len(digests) == 1
    # The list of nodes names each object once, in the order of the fields.
    assert serialization.to_json_graph_str(left) == serialization.to_json_graph_str(right)


@pytest.mark.parametrize("protocol", [2, pickle.HIGHEST_PROTOCOL])
def test_pickle(protocol):
    for program in programs():
        assert_same(program, pickle.loads(pickle.dumps(program, protocol)))


def test_deepcopy():
    for program in programs():
        copied = copy.deepcopy(program)
        assert not copied.same_as(program)
        assert_same(program, copied)


def test_deep_clone():
    for program in programs():
        copied = ir.deep_clone(program)
        assert not copied.same_as(program)
        for mapping in MAPPING:
            ir.assert_structural_equal(program, copied, enable_auto_mapping=mapping)
        own, others = ir.collect_def_vars(program), ir.collect_def_vars(copied)
        assert len(own) == len(others)
        assert not {id(var) for var in own} & {id(var) for var in others}


def test_printing_is_stable():
    for program in programs():
        printed = ir.python_print(program)
        assert printed == ir.python_print(copy.deepcopy(program))
        for function in program.functions.values():
            assert f"def {function.name}(" in printed


def test_visiting_and_mutating_change_nothing():
    class Counter(ir.IRVisitor):
        def __init__(self):
            self.count = 0

        def visit_stmt(self, op):
            self.count += 1
            super().visit_stmt(op)

    counted = 0
    for program in programs():
        counter = Counter()
        counter.visit(program)
        counted += counter.count
        assert ir.IRMutator().visit(program).same_as(program)
    assert counted > 100


@pytest.mark.parametrize("arguments", [(-1, 10), (2**64, 10), (1, -1)])
def test_numbers_out_of_range(arguments):
    with pytest.raises(OverflowError):
        random_program(*arguments)


def test_wrong_arguments():
    with pytest.raises(TypeError):
        random_program("1", 10)
