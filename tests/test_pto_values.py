"""Enums and formats of numbers of the statement dialect."""

import copy
import pickle

import pytest

from isoform import serialization, text
from isoform.pto import DataType, ir

ENUMS = {
    "TensorLayout": "ND DN NZ MX_A_ZZ MX_B_NN",
    "TileLayout": "none_box row_major col_major",
    "PadValue": "null zero max min",
    "CompactMode": "null normal",
    "PipeType": "MTE1 MTE2 MTE3 M V S FIX ALL",
    "FunctionType": "Opaque Orchestration InCore AIC AIV Group Spmd Inline Graph",
    "Level": "AIV AIC CORE_GROUP CHIP_DIE CHIP HOST CLUSTER_0 CLUSTER_1 CLUSTER_2 GLOBAL",
    "Role": "Orchestrator SubWorker",
    "ParamDirection": "In Out InOut",
    "ForKind": "Sequential Parallel Unroll Pipeline",
    "MemorySpace": "DDR Vec Mat Left Right Acc Bias LeftScale RightScale ScalarLocal",
    "ScopeKind": "InCore Cluster Hierarchy Spmd Runtime CommDomain SplitAiv",
    "SplitMode": "NONE UP_DOWN LEFT_RIGHT",
    "InlineLanguage": "Cpp Python",
}

DTYPES = (
    "BOOL INT4 INT8 INT16 INT32 INT64 UINT4 UINT8 UINT16 UINT32 UINT64 FP4 FP8E4M3FN FP8E5M2 "
    "FP8E8M0 FP16 FP32 BF16 HF4 HF8 INDEX TASK_ID"
)

ALIASES = {
    "L2CACHE": "CHIP_DIE",
    "PROCESSOR": "CHIP",
    "UMA": "CHIP",
    "NODE": "HOST",
    "POD": "CLUSTER_0",
    "CLOS1": "CLUSTER_1",
    "CLOS2": "CLUSTER_2",
}


@pytest.mark.parametrize("name", [*ENUMS, "DataType"])
def test_members(name):
    enum = getattr(ir, name)
    names = ENUMS.get(name, DTYPES).split()
    assert [member.name for member in enum] == names
    assert [member.value for member in enum] == list(range(len(names)))
    assert len(enum) == len(names)
    for position, written in enumerate(names):
        member = getattr(enum, written)
        assert isinstance(member, enum)
        assert member in enum
        assert enum[written] is enum(written) is enum(position) is enum(member) is member
        assert repr(member) == f"{name}.{written}"
        assert int(member) == position
        assert copy.copy(member) is copy.deepcopy(member) is member
        assert pickle.loads(pickle.dumps(member)) is member
        assert serialization.from_json_graph_str(serialization.to_json_graph_str(member)) is member
        assert ir.deserialize(ir.serialize(member)) is member
        assert text.from_text(text.to_text(member)) is member
        assert ir.structural_equal(member, member)
        assert {member: 1}[getattr(enum, written)] == 1
    first, second = list(enum)[:2]
    assert first < second
    assert second >= first
    assert first != second
    assert not ir.structural_equal(first, second)
    with pytest.raises(ValueError, match="'nowhere' is not a valid"):
        enum("nowhere")
    with pytest.raises(KeyError):
        enum["nowhere"]
    with pytest.raises(AttributeError, match="cannot be replaced"):
        setattr(enum, names[0], 1)


def test_second_names():
    for alias, name in ALIASES.items():
        assert getattr(ir.Level, alias) is ir.Level[alias] is getattr(ir.Level, name)
    assert DataType.DEFAULT_CONST_INT is DataType.INT64
    assert DataType.DEFAULT_CONST_FLOAT is DataType.FP32


def test_members_by_name():
    assert dict(ir.SplitMode.__members__) == {mode.name: mode for mode in ir.SplitMode}
    members = ir.Level.__members__
    assert list(members)[: len(ir.Level)] == [level.name for level in ir.Level]
    assert members["POD"] is members["CLUSTER_0"] is ir.Level.CLUSTER_0
    assert DataType.__members__["INT8"] is DataType.INT8
    with pytest.raises(TypeError):
        members["POD"] = ir.Level.HOST


def test_members_of_different_enums_differ():
    assert ir.PadValue.null != ir.CompactMode.null
    with pytest.raises(TypeError):
        assert ir.PadValue.null < ir.CompactMode.normal


def test_names_stand_for_members():
    view = ir.TensorView([], "NZ", pad="zero")
    assert view.layout is ir.TensorLayout.NZ
    assert view.pad is ir.PadValue.zero
    with pytest.raises((TypeError, ValueError), match=r"pto.TensorLayout.*ND.*round"):
        ir.TensorView([], "round")
    with pytest.raises(TypeError, match="layout"):
        ir.TensorView([], ir.PadValue.zero)


def test_members_in_attributes_keep_their_type():
    call = ir.Call(ir.Op("f"), [], {"space": ir.MemorySpace.Vec, "pad": ir.PadValue.max})
    read = ir.deserialize(ir.serialize(call))
    assert read.kwargs["space"] is ir.MemorySpace.Vec
    assert read.kwargs["pad"] is ir.PadValue.max


FACTS = {
    # bits, float, signed, unsigned
    "BOOL": (8, False, False, False),
    "INT4": (4, False, True, False),
    "INT64": (64, False, True, False),
    "UINT16": (16, False, False, True),
    "FP4": (4, True, False, False),
    "FP8E8M0": (8, True, False, False),
    "BF16": (16, True, False, False),
    "FP32": (32, True, False, False),
    "HF8": (8, True, False, False),
    "INDEX": (64, False, True, False),
    "TASK_ID": (64, False, False, False),
}


@pytest.mark.parametrize("name", FACTS)
def test_data_types(name):
    dtype = getattr(DataType, name)
    bits, *kinds = FACTS[name]
    assert dtype.bits == dtype.get_bit() == bits
    assert dtype.get_byte() == (bits + 7) // 8
    assert [dtype.is_float(), dtype.is_signed_int(), dtype.is_unsigned_int()] == kinds
    assert dtype.is_int() is any(kinds[1:])
    assert str(dtype) == dtype.to_string() == name.lower()
    assert DataType(str(dtype)) is dtype
    assert dtype == getattr(DataType, name)
    assert len({dtype, getattr(DataType, name)}) == 1


def test_other_names_of_data_types():
    assert DataType("bfloat16") is DataType.BF16
    assert DataType("float32") is DataType.FP32
    assert ir.DataType is DataType


def test_members_that_differ_are_named():
    left, right = ir.ScalarType(DataType.INT64), ir.ScalarType(DataType.INT32)
    with pytest.raises(ValueError, match="INT64 and INT32 differ"):
        ir.assert_structural_equal(left, right)
    with pytest.raises(ValueError, match="Parallel and Unroll differ"):
        ir.assert_structural_equal(ir.ForKind.Parallel, ir.ForKind.Unroll)
