"""Hashes and digests of programs edited step by step."""

import random

import pytest

import isoform
from isoform import IncrementalHasher, dataclasses, relay, structural_digest, structural_hash
from isoform.ir import GlobalVar, IRModule


@dataclasses.py_class("test.incremental.Pair")
class Pair(isoform.Object):
    lhs: object
    rhs: object


@dataclasses.py_class("test.incremental.Asks")
class Asks(isoform.Object):
    part: object

    def __s_equal__(self, other, eq_cb):
        return eq_cb(self.part, other.part, False, "part")

    def __s_hash__(self, init, hash_cb):
        HASHER.hash(self.part)
        return hash_cb(self.part, init, False)


HASHER = IncrementalHasher()


def tree(depth, start=0):
    if depth == 0:
        return start
    return Pair(tree(depth - 1, 2 * start), tree(depth - 1, 2 * start + 1))


def edited(node, path, leaf):
    """A copy of the tree with another leaf; all nodes off the path are shared."""
    if not path:
        return leaf
    side, *rest = path
    return isoform.dataclasses.replace(node, **{side: edited(getattr(node, side), rest, leaf)})


def test_an_edit_of_a_default_class_costs_as_much_as_its_path():
    depth = 12
    program = tree(depth)
    hasher = IncrementalHasher()
    random.seed(1)
    for step in range(20):
        for answer, cold in (
            (hasher.hash, structural_hash),
            (hasher.digest, structural_digest),
        ):
            result = answer(program)
            visits = isoform.last_visit_count()
            assert result == cold(program)
            # Kept pieces are small trees, all of whose nodes are visited again.
            assert step == 0 or visits <= 16 * depth
        path = random.choices(["lhs", "rhs"], k=depth)
        program = edited(program, path, -step)


def test_comparing_with_an_edited_copy_costs_as_much_as_its_path():
    depth = 12
    program = tree(depth)
    assert isoform.structural_equal(program, program)
    random.seed(2)
    for step in range(20):
        path = random.choices(["lhs", "rhs"], k=depth)
        changed = edited(program, path, -step)
        assert not isoform.structural_equal(program, changed)
        # Known pieces are small trees, and all their nodes are visited again.
        assert isoform.last_visit_count() <= 16 * depth
        left, _ = isoform.get_first_structural_mismatch(program, changed)
        assert isoform.last_visit_count() <= 16 * depth
        assert str(left) == "<root>" + "".join(f".{side}" for side in path)
        program = changed
    copy = edited(program, ["lhs"] * depth, program)
    inner = program.rhs.rhs
    for _ in range(2):
        inner.lhs = Pair(1, step)
        other = edited(program, ["lhs"] * depth, program)
        assert isoform.structural_equal(copy, other)
    inner.lhs = copy
    with pytest.raises(ValueError, match="cyclic"):
        isoform.structural_equal(Pair(program, 1), Pair(program, 1))


def test_writes_are_seen():
    shared = tree(8)
    program = Pair(shared, [shared, 1])
    hasher = IncrementalHasher()
    before = hasher.hash(program)
    inner = shared.lhs.rhs
    inner.lhs = "written"
    assert hasher.hash(program) == structural_hash(program) != before
    assert hasher.digest(program) == structural_digest(program)


def test_functions_of_a_module_are_kept_although_they_call_each_other():
    names = [GlobalVar(f"f{i}") for i in range(30)]

    def function(i, constant):
        x = relay.var("x", shape=(2,), dtype="int64")
        body = x
        for _ in range(40):
            body = relay.add(body, relay.const(constant, "int64"))
        return relay.Function([x], relay.Call(names[i - 1], [body]))

    module = IRModule({name: function(i, 1) for i, name in enumerate(names)})
    hasher = IncrementalHasher()
    for result, cold in (
        (hasher.digest(module), structural_digest(module)),
        (hasher.hash(module), structural_hash(module)),
    ):
        assert result == cold
    functions = dict(module.functions.items())
    functions[names[7]] = function(7, 2)
    changed = IRModule(functions)
    assert structural_digest(changed) != structural_digest(module)
    visits = isoform.last_visit_count()
    assert hasher.digest(changed) == structural_digest(changed)
    hasher.digest(module)
    hasher.digest(changed)
    assert isoform.last_visit_count() < visits / 4


def test_options_errors_and_misuse():
    x = isoform.tir.Var("x", "int32")
    free = IncrementalHasher(map_free_vars=True)
    y = isoform.tir.Var("x", "int32")
    assert free.digest(x + 1) == free.digest(y + 1)
    with pytest.raises(ValueError, match="free variable"):
        IncrementalHasher().digest(x + 1)
    with pytest.raises(RuntimeError, match="in use"):
        HASHER.hash(Asks(1))
    assert HASHER.hash(1) == structural_hash(1)
    free.clear()
    assert free.digest(x + 1) == isoform.structural_digest(x + 1, map_free_vars=True)


def test_a_custom_hash_may_use_another_hasher():
    assert IncrementalHasher().hash(Asks(tree(6))) == structural_hash(Asks(tree(6)))
