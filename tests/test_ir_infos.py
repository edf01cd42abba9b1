"""Global infos, memory pools and supplies of names of `isoform.ir`."""

import numpy
import pytest
from ir_checklist import covers

from isoform import ir, structural_equal


def same_from_file(node):
    return structural_equal(ir.load_json(ir.save_json(node)), node)


@covers("C37", "C37.1", "C38")
def test_global_info():
    a, b = ir.DummyGlobalInfo(), ir.DummyGlobalInfo()
    assert a == b
    assert not a != b  # noqa: SIM202
    assert hash(a) == hash(b)
    assert not a.same_as(b)
    assert a.same_as(a)
    assert a != ir.VDevice()
    with pytest.raises(TypeError):
        ir.GlobalInfo()


@covers("C39")
def test_vdevice():
    v = ir.VDevice()
    assert (v.target, v.vdevice_id, v.memory_scope) == (None, 0, "global")
    v = ir.VDevice("llvm -mcpu=skylake -system-lib -keys=cpu,x86 --opt=3", 1, "local")
    target = v.target
    assert (target.kind, list(target.keys)) == ("llvm", ["cpu", "x86"])
    assert dict(target.attrs) == {"mcpu": "skylake", "system-lib": True, "opt": 3}
    again = {
        "kind": "llvm",
        "keys": ["cpu", "x86"],
        "opt": 3,
        "system-lib": True,
        "mcpu": "skylake",
    }
    assert v == ir.VDevice(again, 1, "local")
    assert v != ir.VDevice("cuda", 1, "local")
    assert same_from_file(v)
    assert ir.VDevice({"kind": "cuda", "host": "llvm"}).target.host.kind == "llvm"
    assert ir.Target("cuda", "llvm").host.kind == "llvm"
    with pytest.raises(TypeError, match="a host in a dict cannot have a host itself"):
        ir.VDevice({"kind": "a", "host": {"kind": "b", "host": {"kind": "c"}}})
    for wrong in ["", "-mcpu=x", "llvm mcpu", "llvm -a=1 -a=2", {}, 3]:
        with pytest.raises(TypeError, match=r"expected ir\.Target"):
            ir.VDevice(wrong)


@covers("C40", "C41", "C42", "C43", "C44", "C45")
def test_pools():
    properties = ir.PoolInfoProperties()
    assert [
        properties.size_hint_bytes,
        properties.clock_frequency_hz,
        properties.read_bandwidth_bytes_per_cycle,
        properties.write_bandwidth_bytes_per_cycle,
        properties.read_latency_cycles,
        properties.write_latency_cycles,
        dict(properties.target_burst_bytes),
    ] == [-1, -1, -1, -1, 0, 0, {}]
    target = ir.Target("llvm")
    burst = ir.PoolInfoProperties(size_hint_bytes=1024, target_burst_bytes={target: 8})
    assert burst.target_burst_bytes[target] == 8
    assert structural_equal(ir.PoolInfoProperties(target_burst_bytes=None), properties)
    workspace = ir.WorkspacePoolInfo("sram", [target, "cuda"], burst)
    assert isinstance(workspace, ir.PoolInfo)
    assert workspace.pool_name == "sram"
    assert [t.kind for t in workspace.targets] == ["llvm", "cuda"]
    assert workspace.pool_info_properties is burst
    plain = ir.WorkspacePoolInfo("sram", [target])
    assert structural_equal(plain.pool_info_properties, properties)
    constant = ir.ConstantPoolInfo("flash", [target])
    assert list(constant.constant_info_array) == []
    data = ir.ConstantInfo("w", 16, numpy.arange(3, dtype="float32"))
    full = ir.ConstantPoolInfo("flash", [target], [data], burst)
    assert full.constant_info_array[0] is data
    pools = ir.WorkspaceMemoryPools([workspace, plain])
    assert [p.pool_name for p in pools.pools] == ["sram", "sram"]
    constants = ir.ConstantMemoryPools([constant, full])
    for node in (plain, constant, full, constants):
        assert same_from_file(node)
    with pytest.raises(TypeError, match=r"ir\.WorkspacePoolInfo"):
        ir.WorkspaceMemoryPools([constant])


@covers("X7")
def test_placed_constants():
    info = ir.ConstantInfo("w", 16, numpy.ones((2, 2), dtype="int8"))
    assert (info.name_hint, info.byte_offset, info.data.shape) == ("w", 16, (2, 2))
    other = ir.ConstantInfo("v", 16, numpy.ones((2, 2), dtype="int8"))
    assert structural_equal(info, other)
    pool = ir.WorkspacePoolInfo("sram", [])
    placed = ir.AllocatedPoolInfo(pool, 64)
    assert (placed.pool_info, placed.allocated_size, placed.pool_var_idx) == (pool, 64, 0)
    assert ir.AllocatedPoolInfo(pool=pool, allocated_size=1, pool_var_idx=2).pool_var_idx == 2


@covers("X6")
def test_supplies_of_names():
    names = ir.NameSupply("pre")
    assert names.fresh_name("x") == "pre_x"
    assert names.fresh_name("x") == "pre_x_1"
    assert names.fresh_name("x", add_prefix=False) == "x"
    assert names.fresh_name("x", False, False) == "x1"
    assert names.reserve_name("x_2", add_prefix=False) == "x_2"
    assert names.fresh_name("x", False) == "x_3"
    assert names.contains_name("x")
    assert not names.contains_name("y")
    assert ir.NameSupply().fresh_name("a.b c") == "a_b_c"

    from isoform import relay

    x = relay.Var("x")
    mod = ir.IRModule({"main": relay.Function([x], x)})
    supply = ir.GlobalVarSupply(mod)
    assert supply.fresh_global("main").name_hint == "main_1"
    known = mod.get_global_var("main")
    assert supply.unique_global_for("main") is known
    new = supply.unique_global_for("other")
    assert supply.unique_global_for("other") is new
    with pytest.raises(ValueError, match="another global variable"):
        supply.reserve_global(ir.GlobalVar("main"))
    supply.reserve_global(ir.GlobalVar("main"), allow_conflict=True)
    assert supply.unique_global_for("main") is known
    prefixed = ir.GlobalVarSupply(ir.NameSupply("p"))
    assert prefixed.fresh_global("f").name_hint == "p_f"
    assert prefixed.fresh_global("f", add_prefix=False).name_hint == "f"
    assert ir.GlobalVarSupply([mod, ir.IRModule()]).fresh_global("main").name_hint == "main_1"
    with pytest.raises(TypeError, match=r"expected ir\.NameSupply, ir\.IRModule"):
        ir.GlobalVarSupply(3)
