"""Passes and instruments under the classic names."""

import inspect

from ir_checklist import covers

from isoform import ir
from isoform.ir import instrument, transform


@covers("X2")
def test_passes():
    names = (
        "PassInfo PassContext Pass ModulePass Sequential module_pass PrintIR ApplyPassToFunction"
    )
    assert set(names.split()) == set(transform.__all__)
    assert [*inspect.signature(transform.PassInfo).parameters][:4] == [
        "opt_level",
        "name",
        "required",
        "traceable",
    ]
    given = [*inspect.signature(transform.PassContext).parameters][:5]
    assert given == ["opt_level", "required_pass", "disabled_pass", "instruments", "config"]
    given = [*inspect.signature(transform.Sequential).parameters]
    assert given == ["passes", "opt_level", "name", "required", "traceable"]
    given = [*inspect.signature(transform.module_pass).parameters][:5]
    assert given == ["pass_func", "opt_level", "name", "required", "traceable"]
    given = [*inspect.signature(transform.ApplyPassToFunction).parameters]
    assert given == ["transform", "func_name_regex", "error_if_no_function_matches_regex"]

    @transform.module_pass(opt_level=1)
    def Idle(mod, ctx):
        assert isinstance(ctx, transform.PassContext)
        return mod

    mod = ir.IRModule()
    with transform.PassContext(opt_level=1) as ctx:
        assert transform.PassContext.current() is ctx
        assert transform.Sequential([Idle])(mod) is mod
    assert "testing.immutable_module" in transform.PassContext.list_configs()


@covers("X3")
def test_instruments(capsys):
    names = (
        "PassInstrument pass_instrument PassTimingInstrument PassPrintingInstrument PrintAfterAll "
        "PrintBeforeAll DumpIR"
    )
    assert set(names.split()) == set(instrument.__all__)
    methods = "enter_pass_ctx exit_pass_ctx should_run run_before_pass run_after_pass"
    assert all(hasattr(instrument.PassInstrument, method) for method in methods.split())
    timing = instrument.PassTimingInstrument()
    with transform.PassContext(instruments=[instrument.PrintAfterAll(), timing]):
        transform.Sequential([])(ir.IRModule())
        assert instrument.PassTimingInstrument.render().startswith("sequential: ")
    assert capsys.readouterr().out.startswith("After Running Pass: The meta data of the pass - ")
