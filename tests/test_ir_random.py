"""Laws of `isoform.ir` on random modules."""

import copy
import pickle
import random

import pytest

from isoform import (
    get_first_structural_mismatch,
    ir,
    relay,
    serialization,
    structural_digest,
    structural_equal,
    structural_hash,
    tir,
)

SEEDS = range(60)

ir.register_op_attr("test_random.op", "known", True)


class Builder:
    """Builds the same module whenever the seed is the same, but for the names of hints."""

    def __init__(self, seed, hint="v"):
        self.rng = random.Random(seed)
        self.hint = hint
        self.count = 0

    def name(self):
        self.count += 1
        return f"{self.hint}{self.count}"

    def size(self, sizes):
        kind = self.rng.randrange(6)
        if kind < 3 and sizes:
            chosen = self.rng.choice(sizes)
            return [chosen, chosen + self.rng.randrange(1, 5), chosen * 2][kind]
        if kind == 3 and len(sizes) > 1:
            return tir.Select(sizes[0] < sizes[1], sizes[0], sizes[1])
        return tir.const(self.rng.randrange(100), "int64")

    def type(self, sizes, types, depth=2):
        kind = self.rng.randrange(8 if depth else 4)
        dtype = self.rng.choice(["float32", "int8", "bool", "float16x4"])
        match kind:
            case 0:
                return ir.PrimType(dtype)
            case 1:
                return ir.TensorType(
                    [self.size(sizes) for _ in range(self.rng.randrange(3))], dtype
                )
            case 2:
                return ir.PointerType(ir.PrimType(dtype), self.rng.choice(["", "global", "shared"]))
            case 3:
                return self.rng.choice(types) if types else ir.TupleType([])
            case 4:
                return ir.TupleType([self.type(sizes, types, depth - 1) for _ in range(2)])
            case 5:
                own = ir.TypeVar(self.name())
                inner = [*types, own]
                args = [self.type(sizes, inner, depth - 1), own]
                return ir.FuncType(args, self.type(sizes, inner, depth - 1), [own])
            case 6:
                return ir.RelayRefType(self.type(sizes, types, depth - 1))
            case _:
                call = self.rng.choice(types) if types else ir.PrimType(dtype)
                return ir.TypeCall(call, [self.type(sizes, types, depth - 1)])

    def body(self, values, callees):
        for _ in range(self.rng.randrange(1, 8)):
            args = [self.rng.choice(values) for _ in range(self.rng.randrange(1, 3))]
            attrs = {self.rng.choice("abc"): self.rng.choice([1, 2.5, "x", [1, 2], None])}
            callee = self.rng.choice(callees)
            values.append(relay.Call(callee, args, ir.DictAttrs(attrs)))
        return values[-1]

    def function(self, callees):
        types = [ir.TypeVar(self.name()) for _ in range(self.rng.randrange(3))]
        params = [
            relay.Var(self.name(), self.type([], types)) for _ in range(self.rng.randrange(1, 4))
        ]
        body = self.body(list(params), callees)
        made = relay.Function(params, body, self.type([], types), types)
        return made.with_attr("level", self.rng.randrange(3)) if self.rng.random() < 0.5 else made

    def module(self):
        functions = [ir.GlobalVar(f"f{i}") for i in range(self.rng.randrange(1, 4))]
        callees = [*functions, ir.Op.get("test_random.op")]
        definitions = {var: self.function(callees) for var in functions}
        header, own = ir.GlobalTypeVar("T"), ir.TypeVar(self.name())
        made = [ir.Constructor(f"C{i}", [own, header(own)][:i], header) for i in range(3)]
        return ir.IRModule(
            definitions,
            {header: ir.TypeData(header, [own], made)},
            {"seed": self.rng.randrange(100)},
            {"devices": [ir.VDevice("llvm", self.rng.randrange(3)), ir.DummyGlobalInfo()]},
        )


def same(left, right):
    assert structural_equal(left, right)
    assert structural_equal(right, left)
    assert structural_hash(left) == structural_hash(right)
    assert structural_digest(left) == structural_digest(right)


@pytest.mark.parametrize("seed", SEEDS)
def test_names_of_variables_are_hints(seed):
    same(Builder(seed).module(), Builder(seed, "other").module())


@pytest.mark.parametrize("seed", SEEDS)
def test_files_and_copies_are_equal(seed):
    module = Builder(seed).module()
    same(module, ir.load_json(ir.save_json(module)))
    same(module, serialization.from_bytes(serialization.to_bytes(module)))
    same(module, pickle.loads(pickle.dumps(module)))
    same(module, copy.deepcopy(module))
    same(module, module.clone())


@pytest.mark.parametrize("seed", SEEDS)
def test_one_edit_is_noticed(seed):
    module = Builder(seed).module()
    edited = copy.deepcopy(module)
    var = random.Random(seed).choice(edited.get_global_vars())
    f = edited[var]
    edited[var] = relay.Function(
        f.params,
        relay.Call(ir.Op.get("test_random.op"), [f.body]),
        f.ret_type,
        f.type_params,
        f.attrs,
    )
    assert not structural_equal(module, edited)
    assert structural_hash(module) != structural_hash(edited)
    assert structural_digest(module) != structural_digest(edited)
    left, right = get_first_structural_mismatch(module, edited)
    for path in (left, right):
        field, key, *_ = path.to_steps()
        assert (field.key, key.key.name_hint) == ("functions", var.name_hint)
