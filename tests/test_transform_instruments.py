"""Instruments written in Python, and the predefined instruments."""

import inspect
import logging
import re

import pytest

from isoform import ir, text
from isoform.dataclasses import py_class, replace
from isoform.transform import (
    ChangesInstrument,
    DumpIR,
    ModulePass,
    PassContext,
    PassInfo,
    PassInstrument,
    PassPrintingInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    PrintChanges,
    Sequential,
    VerifyInstrument,
    bisect,
    changes_text,
    function_pass,
    pass_instrument,
)


@py_class("test_transform_instruments.Fun")
class Fun(ir.BaseFunc):
    number: int


def module(**numbers):
    return ir.IRModule({name: Fun(number=number) for name, number in numbers.items()})


@function_pass(opt_level=0)
def Add(fun, mod, ctx):
    return replace(fun, number=fun.number + 1)


def idle(name="Idle"):
    return ModulePass(lambda mod, ctx: mod, PassInfo(0, name))


def test_a_decorated_class():
    @pass_instrument
    class Count:
        """Counts."""

        def __init__(self, start, step=1):
            """Begin."""
            self.count, self.step = start, step

        def run_before_pass(self, mod, info):
            self.count += self.step

    assert (Count.__name__, Count.__doc__, Count.__module__) == ("Count", "Counts.", __name__)
    assert list(inspect.signature(Count.__init__).parameters) == ["self", "start", "step"]
    assert issubclass(Count, PassInstrument)
    count = Count(1, step=2)
    assert count.name == "Count"
    with PassContext(instruments=[count]):
        Sequential([idle()])(module())
    assert count.count == 5


def test_decorating():
    class Sub(PassInstrument):
        pass

    assert pass_instrument(Sub) is Sub
    assert pass_instrument()(Sub) is Sub
    for wrong in (lambda: None, 1):
        with pytest.raises(TypeError, match=r"^pi_cls must be a class$"):
            pass_instrument(wrong)


def test_methods_that_are_not_overridden_are_not_called():
    sub = type("Sub", (PassInstrument,), {"run_after_pass": lambda self, mod, info: None})()
    parts = ("on_enter", "on_exit", "on_should_run", "on_before_pass", "on_failed_pass")
    assert all(getattr(sub, part) is None for part in parts)
    assert sub.on_after_pass is not None


def test_all_instruments_are_asked_in_order():
    log = []

    def make(name, runs):
        class Asked(PassInstrument):
            def should_run(self, mod, info):
                log.append(f"{name}.should")
                return runs

            def run_before_pass(self, mod, info):
                log.append(f"{name}.before")

            def run_after_pass(self, mod, info):
                log.append(f"{name}.after")

        return Asked()

    mod = module(f=1)
    with PassContext(instruments=[make("A", False), make("B", True)]):
        assert Add(mod) is mod
    assert log == ["A.should", "B.should"]
    log.clear()
    with PassContext(instruments=[make("A", False), make("B", True)], required_pass=["Add"]):
        assert Add(mod) is not mod
    assert log == ["A.before", "B.before", "A.after", "B.after"]


def test_instruments_get_the_program_and_the_result():
    seen = []

    class Seen(PassInstrument):
        def run_before_pass(self, mod, info):
            seen.append((mod, info))

        def run_after_pass(self, mod, info):
            seen.append((mod, info))

    mod = module(f=1)
    with PassContext(instruments=[Seen()]):
        done = Add(mod)
    assert [one[0] for one in seen] == [mod, done]
    assert seen[0][0] is mod
    assert seen[1][0] is done
    assert seen[0][1] == Add.info or seen[0][1] is Add.info


LINE = re.compile(r"^(\t*)(\w+): \d+us \[\d+us\] \((\d+\.\d\d)%; (\d+\.\d\d)%\)$")


def test_timing():
    first, second = PassTimingInstrument(), PassTimingInstrument()
    with PassContext(instruments=[first]):
        Sequential([idle("A"), Sequential([idle("B")], name="inner")])(module())
        lines = first.render().splitlines()
        found = [LINE.match(line).groups() for line in lines]
        assert [(len(tabs), name) for tabs, name, _, _ in found] == [
            (0, "sequential"),
            (1, "A"),
            (1, "inner"),
            (2, "B"),
        ]
        assert found[0][2:] == ("100.00", "100.00")
        assert PassTimingInstrument.render() == first.render()
        with PassContext(instruments=[second]):
            idle("C")(module())
            assert PassTimingInstrument.render().startswith("C: ")
            assert "C: " not in first.render()
    assert first.render() == ""


def test_nothing_and_failures(caplog):
    timing = PassTimingInstrument()
    with PassContext(instruments=[timing]):
        with caplog.at_level(logging.WARNING, logger="isoform.transform"):
            assert timing.render() == ""
        assert "no passes have been measured" in caplog.text

        def fail(mod, ctx):
            raise LookupError

        with pytest.raises(LookupError):
            Sequential([ModulePass(fail, PassInfo(0, "Fail"))])(module())
        idle()(module())
        assert [line.split(":")[0] for line in timing.render().splitlines()] == [
            "sequential",
            "\tFail",
            "Idle",
        ]

        def inside(mod, ctx):
            timing.render()

        with pytest.raises(RuntimeError, match="between passes"):
            ModulePass(inside, PassInfo(0, "Inside"))(module())


def test_printing(capsys):
    mod = module(f=1)
    with PassContext(instruments=[PassPrintingInstrument(["Add"], ["Idle"])]):
        Sequential([Add, idle()])(mod)
    out = capsys.readouterr().out
    blocks = out.split("\n\n")
    assert blocks[0].startswith("Print IR before: Add\n")
    assert "number=1" in blocks[0]
    assert blocks[1].startswith("Print IR after: Idle\n")
    assert "number=2" in blocks[1]
    assert blocks[2:] == [""]
    for instrument, word in ((PrintBeforeAll(), "Before"), (PrintAfterAll(), "After")):
        with PassContext(instruments=[instrument]):
            Add(mod)
        head, *rest = capsys.readouterr().out.splitlines()
        assert head == (
            f"{word} Running Pass: The meta data of the pass - pass name: Add, opt_level: 0, "
            "required passes: []"
        )
        assert f"number={1 + (word == 'After')}" in "".join(rest)


def test_changes_are_printed_and_recorded(capsys):
    mod = module(f=1, g=2)
    changes = ChangesInstrument()
    with PassContext(instruments=[PrintChanges(), changes]):
        done = Sequential([idle(), Add])(mod)
    out = capsys.readouterr().out
    assert out.startswith("Changed by pass: Add\n--- before/f\n+++ after/f\n")
    assert out.count("Changed by pass") == 1
    assert changes.recorded()[1] == ("Add", {"changed": ["f", "g"], "added": [], "removed": []})
    assert changes_text(mod, done) in out
    with PassContext(instruments=[PrintChanges(["Other"])]):
        Add(mod)
    assert capsys.readouterr().out == ""


def test_dump_ir(tmp_path, caplog):
    folder = tmp_path / "dump"
    with PassContext(instruments=[DumpIR(folder)]):
        Sequential([Add, idle("a<b>")])(module(f=1))
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["000_Add.iso", "001_a_b_.iso", "002_sequential.iso"]
    mod = text.from_text((folder / "000_Add.iso").read_text())
    assert mod["f"].number == 2
    with PassContext(instruments=[DumpIR(folder, refresh=True, suffix=".txt")]):
        idle()(module())
    assert "is not a dump" in caplog.text
    assert len(list(folder.iterdir())) == 4
    (folder / "000_Idle.txt").unlink()
    with PassContext(instruments=[DumpIR(folder, refresh=True)]):
        idle()(module())
    assert [path.name for path in folder.iterdir()] == ["000_Idle.iso"]
    # Passes go on when the disk does not.
    (tmp_path / "file").write_text("")
    with PassContext(instruments=[DumpIR(tmp_path / "file")]):
        idle()(module())
    assert f"DumpIR({tmp_path / 'file'})" in caplog.text


def test_verify():
    def small(mod):
        assert mod["f"].number < 3, "too large"

    with (
        PassContext(instruments=[VerifyInstrument(small)]),
        pytest.raises(AssertionError, match="too large") as caught,
    ):
        Sequential([Add, Add, Add])(module(f=1))
    assert caught.value.__notes__ == ["in instrument 'VerifyInstrument' at pass 'Add'"]
    with PassContext(instruments=[VerifyInstrument()]):
        Add(module(f=1))


def test_bisect():
    mod = module(**{f"f{number}": 0 for number in range(8)})
    found = bisect(
        Sequential([idle(), Add, Add]),
        mod,
        lambda mod: all(f.number < 2 for f in functions_of(mod)),
    )
    assert (found["pass"] is Add, found["position"]) == (True, 2)
    assert len(found["functions"]) == 1
    with pytest.raises(ValueError, match="accepts the program after the last pass"):
        bisect(Add, mod, lambda mod: True)


def functions_of(mod):
    return mod.functions.values()
