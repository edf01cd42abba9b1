"""Contexts: levels, the stack of a thread, options, and the order of instruments."""

import threading

import pytest

from isoform import Object, ir
from isoform.dataclasses import py_class
from isoform.transform import (
    ModulePass,
    PassContext,
    PassInfo,
    PassInstrument,
    Sequential,
    register_config_option,
)


def idle(name="P", level=0):
    return ModulePass(lambda mod, ctx: mod, PassInfo(level, name))


def recorder(log, name, fails_at=""):
    """An instrument that records all calls, and fails at an event."""

    def note(event):
        log.append(f"{name}.{event}")
        if f"{name}.{event}" == fails_at:
            raise LookupError(fails_at)

    class Recorder(PassInstrument):
        def enter_pass_ctx(self):
            note("enter")

        def exit_pass_ctx(self):
            note("exit")

        def should_run(self, mod, info):
            note(f"should:{info.name}")
            return True

        def run_before_pass(self, mod, info):
            note(f"before:{info.name}")

        def run_after_pass(self, mod, info):
            note(f"after:{info.name}")

    return Recorder()


def test_defaults_and_arguments():
    ctx = PassContext()
    assert (ctx.opt_level, list(ctx.instruments), dict(ctx.config)) == (2, [], {})
    for given in (["B", "A"], ("B", "A")):
        assert list(PassContext(required_pass=given).required_pass) == ["B", "A"]
        assert list(PassContext(disabled_pass=given).disabled_pass) == ["B", "A"]
    assert list(PassContext(disabled_pass={"B", "A"}).disabled_pass) == ["A", "B"]
    for nothing in (None, [], (), set(), ""):
        assert list(PassContext(3, nothing, nothing).required_pass) == []
    with pytest.raises(TypeError, match=r"PassContext.disabled_pass: expected .* got 'AB'"):
        PassContext(disabled_pass="AB")


def test_contexts_form_a_stack_per_thread_and_are_not_merged():
    default = PassContext.current()
    with PassContext(opt_level=4, disabled_pass=["A"]) as outer:
        with PassContext() as inner:
            assert PassContext.current() is inner
            assert (inner.opt_level, list(inner.disabled_pass)) == (2, [])
            levels = []
            thread = threading.Thread(target=lambda: levels.append(PassContext.current().opt_level))
            thread.start()
            thread.join()
            assert levels == [2]
            with pytest.raises(RuntimeError, match="not the current one of this thread"):
                outer.__exit__(None, None, None)
        assert PassContext.current() is outer
    assert PassContext.current() is default


def test_options(key):
    depth, name = key(), key()
    register_config_option(depth, int, 7, "How deep.")
    register_config_option(name, str)
    ctx = PassContext(config={depth: True})
    assert (ctx.config_value(depth), ctx.config_value(name)) == (1, None)
    assert ctx.config[depth] == 1
    known = PassContext.list_configs()
    assert known[depth] == {"type": "int", "default": 7, "doc": "How deep."}
    assert known["testing.immutable_module"]["type"] == "bool"
    with pytest.raises(ValueError, match="already registered, for int"):
        register_config_option(depth, str)
    with pytest.raises(AttributeError, match=f"^config option '{depth}' is None$"):
        PassContext(config={depth: None})
    with pytest.raises(TypeError, match="expected int, got str"):
        PassContext(config={depth: "x"})
    with pytest.raises(AttributeError) as caught:
        PassContext(config={depth + "s": 1})
    message = str(caught.value)
    assert message.startswith(f"Invalid config option '{depth}s' candidates are: ")
    assert message.endswith(f"did you mean '{depth}'?")


def test_a_dict_becomes_the_object_of_the_option(key):
    @py_class(key())
    class Options(Object):
        width: int
        label: str = "none"

    option = key("option")
    register_config_option(option, Options)
    made = PassContext(config={option: {"width": 3}}).config_value(option)
    assert (type(made), made.width, made.label) == (Options, 3, "none")
    with pytest.raises(TypeError, match="unknown field 'witdh', did you mean 'width'"):
        PassContext(config={option: {"witdh": 3}})


def test_only_a_sequence_asks_for_the_level():
    log = []
    slow = idle("Slow", 3)
    with PassContext(instruments=[recorder(log, "A")]):
        slow(ir.IRModule())
        Sequential([slow])(ir.IRModule())
    passes = [event for event in log if "before" in event]
    assert passes == ["A.before:Slow", "A.before:sequential"]
    log.clear()
    options = {"required_pass": ["Slow"], "instruments": [recorder(log, "A")]}
    with PassContext(disabled_pass=["Other"], **options):
        Sequential([slow, idle("Other")])(ir.IRModule())
    passes = [event for event in log if "before" in event]
    assert passes == ["A.before:sequential", "A.before:Slow"]
    with PassContext(disabled_pass=["Slow"], **options) as ctx:
        assert not ctx.pass_enabled(slow.info)


def entered(*fails_at):
    """The events of a context with instruments that fail at these."""
    log = []
    ctx = PassContext(
        opt_level=4, instruments=[recorder(log, "ABC"[i], at) for i, at in enumerate(fails_at)]
    )
    raised = None
    try:
        with ctx:
            log.append("body")
    except LookupError as error:
        raised = str(error)
    assert PassContext.current().opt_level == 2
    if raised:
        assert list(ctx.instruments) == []
    return raised, log


def test_instruments_enter_and_exit_in_order():
    assert entered("", "") == (None, ["A.enter", "B.enter", "body", "A.exit", "B.exit"])


def test_exceptions_at_entry_and_exit():
    events = ["A.enter", "B.enter", "C.enter", "B.exit", "A.exit"]
    assert entered("", "", "C.enter") == ("C.enter", events)
    events = ["A.enter", "B.enter", "C.enter", "body", "A.exit", "B.exit"]
    assert entered("", "B.exit", "") == ("B.exit", events)


@pytest.mark.parametrize(
    ("fails_at", "events"),
    [
        ("A.should:P", "A.should:P"),
        ("B.before:P", "A.should:P B.should:P A.before:P B.before:P"),
        ("P", "A.should:P B.should:P A.before:P B.before:P P"),
        ("B.after:P", "A.should:P B.should:P A.before:P B.before:P P A.after:P B.after:P"),
    ],
)
def test_after_an_exception_nothing_else_of_the_pass_runs(fails_at, events):
    log = []

    def run(mod, ctx):
        log.append("P")
        if fails_at == "P":
            raise LookupError(fails_at)
        return mod

    instruments = [recorder(log, name, fails_at) for name in "AB"]
    with pytest.raises(LookupError) as caught, PassContext(instruments=instruments):
        ModulePass(run, PassInfo(0, "P"))(ir.IRModule())
    assert log == ["A.enter", "B.enter", *events.split(), "A.exit", "B.exit"]
    assert str(caught.value) == fails_at
    where = "in pass 'P'" if fails_at == "P" else "in instrument 'Recorder' at pass 'P'"
    assert caught.value.__notes__ == [where]


def test_instruments_can_be_replaced():
    log = []
    with PassContext(instruments=[recorder(log, "A")]) as ctx:
        ctx.override_instruments([recorder(log, "B")])
        assert log == ["A.enter", "A.exit", "B.enter"]
        ctx.override_instruments(None)
        assert log[3:] == ["B.exit"]
        with pytest.raises(LookupError):
            ctx.override_instruments([recorder(log, "C"), recorder(log, "D", "D.enter")])
        assert log[4:] == ["C.enter", "D.enter", "C.exit"]
        assert list(ctx.instruments) == []
    assert len(log) == 7
