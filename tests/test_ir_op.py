"""Operators of `isoform.ir`."""

import copy
import pickle

import pytest
from ir_checklist import covers

from isoform import ir, register_global_func, structural_digest, structural_equal


@pytest.fixture
def name(key):
    """The name of a registered operator unused by other tests."""
    made = key("op")
    ir.register_op_attr(made, "exists", True)
    return made


@covers("C19", "C19.4", "C19.7")
def test_operators_are_found_not_made(name):
    with pytest.raises(RuntimeError, match="Cannot create op, use get instead"):
        ir.Op()
    op = ir.Op.get(name)
    assert op.name == name
    assert ir.Op.get(name) is op
    assert isinstance(op, ir.RelayExpr)
    with pytest.raises(AttributeError, match=r"Operator test\.none is not registered"):
        ir.Op.get("test.none")
    names = ir.Op.list_op_names()
    assert name in names
    assert names == sorted(names)


def test_an_operator_survives_files(name):
    op = ir.Op.get(name)
    assert ir.load_json(ir.save_json(op)) is op
    assert pickle.loads(pickle.dumps([op]))[0] is op
    assert copy.deepcopy([op])[0] is op
    assert copy.copy(op) is op
    assert structural_equal(op, op)
    assert len(structural_digest(op)) == 32


@covers("C19.1", "C19.10", "C19.11", "C19.12")
def test_description(name):
    op = ir.Op.get(name)
    assert (op.op_type, op.description, op.attrs_type_key) == (None, "", "")
    assert (op.num_inputs, op.support_level, list(op.arguments)) == (-1, 10, [])
    op.add_argument("data", "Tensor", "The input")
    op.add_argument(name="axis", type="int", description="The dimension")
    op.set_num_inputs(2)
    op.set_support_level(3)
    op.set_attrs_type_key("test.Attrs")
    assert (op.num_inputs, op.support_level, op.attrs_type_key) == (2, 3, "test.Attrs")
    assert [(a.name, a.type_info, a.description) for a in op.arguments] == [
        ("data", "Tensor", "The input"),
        ("axis", "int", "The dimension"),
    ]


@covers("C19.2")
def test_type_relations(name, key):
    op = ir.Op.get(name)
    op.set_num_inputs(2)
    relation = key("Broadcast")
    with pytest.raises(KeyError, match=r"tvm\.relay\.type_relation"):
        op.add_type_rel(relation)

    def infer(args, attrs):
        return args[0]

    op.add_type_rel(relation, infer)
    ty = op.op_type
    assert [var.name_hint for var in ty.type_params] == ["in0", "in1", "out"]
    assert list(ty.arg_types) == list(ty.type_params)[:2]
    assert ty.ret_type is ty.type_params[2]
    (constraint,) = ty.type_constraints
    assert (constraint.num_inputs, len(constraint.args)) == (2, 3)
    assert constraint.func([1, 2], None) == 1
    predefined = key("Predefined")
    register_global_func(f"tvm.relay.type_relation.{predefined}", infer)
    op.add_type_rel(predefined)
    assert op.op_type.type_constraints[0].func.name.endswith(predefined)


@covers("C19.5", "C19.6", "C19.8", "C19.9")
def test_attributes(name, key):
    op, other = ir.Op.get(name), ir.Op.get("tir.bitwise_and")
    attr = key("attr")
    assert op.get_attr(attr) is None
    assert not op.has_attr(attr)
    op.set_attr(attr, 5)
    assert op.get_attr(attr) == 5
    assert op.has_attr(attr)
    # It is about this operator.
    assert not other.has_attr(attr)
    assert other.get_attr(attr) is None
    # A higher priority wins, a lower priority is ignored.
    op.set_attr(attr, 6, plevel=11)
    op.set_attr(attr, 4, 9)
    assert op.get_attr(attr) == 6
    with pytest.raises(ValueError, match=r"same plevel=11: is 6, got 7"):
        op.set_attr(attr, 7, 11)
    with pytest.raises(ValueError, match="expected a value, got None"):
        op.set_attr(attr, None, 12)
    op.reset_attr(attr)
    assert not op.has_attr(attr)
    op.set_attr(attr, 1, 0)
    assert op.get_attr(attr) == 1
    op.reset_attr(key("never"))


@covers("F7")
def test_register_op_attr(key):
    name = key("fresh")
    assert ir.register_op_attr(name, "a", 1) == 1

    @ir.register_op_attr(name, "f", level=11)
    def compute(x):
        return x + 1

    assert compute(1) == 2
    assert ir.Op.get(name).get_attr("f")(2) == 3
    ir.register_op_attr(name, "f", lambda x: x, 10)
    assert ir.Op.get(name).get_attr("f")(2) == 3


@covers("F8")
def test_register_intrin_lowering(name):
    @ir.register_intrin_lowering(name, "llvm")
    def lower(op):
        return op

    op = ir.Op.get(name)
    assert op.get_attr("llvm.FLowerIntrinsic")(3) == 3
    ir.register_intrin_lowering(name, "cuda", f=lambda _: 5, level=12)
    assert op.get_attr("cuda.FLowerIntrinsic")(3) == 5
    assert lower(4) == 4
    with pytest.raises(TypeError):
        ir.register_intrin_lowering(name, "cuda", lambda x: x)
