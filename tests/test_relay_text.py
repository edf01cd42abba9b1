"""The text of Relay: `script`, `str`, `IRModule.script`, and the instruments of passes."""

import io
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import numpy
import pytest
from scale import scaled

from isoform import ir, relay, structural_equal, text, tir, transform
from isoform.dataclasses import py_class
from isoform.transform import PassContext, PrintIR, script


@py_class("test_relay_text.Scale", structural_eq="dag")
class Scale(ir.RelayExpr):
    """An expression declared a moment ago."""

    by: float
    data: ir.RelayExpr


@py_class("test_relay_text.Waiting", structural_eq="dag")
class Waiting(relay.TempExpr):
    """A temporary expression declared a moment ago."""

    data: ir.RelayExpr


def convolution():
    x = relay.var("x", shape=(1, 3, 224, 224))
    w = relay.var("w", shape=(16, 3, 3, 3))
    conv = relay.nn.conv2d(x, w, padding=(1, 1, 1, 1), kernel_size=(3, 3))
    return relay.Function([x, w], relay.nn.relu(conv))


CONVOLUTION = """\
fn (%x: Tensor[(1, 3, 224, 224), float32], %w: Tensor[(16, 3, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], kernel_size=[3, 3]);
  nn.relu(%0)
}
"""


def module(body=None):
    return ir.IRModule({"main": convolution() if body is None else body})


def check(value, expected):
    assert script(value) == expected
    assert str(value) == expected.rstrip("\n")


def test_expressions_functions_and_types_have_the_text_of_relay():
    check(convolution(), CONVOLUTION)
    x = relay.var("x")
    check(relay.Call(relay.GlobalVar("f"), [x, relay.const(1.5)]), "free_var %x;\n@f(%x, 1.5f)\n")
    check(
        ir.TupleType([ir.TensorType([2, relay.Any()]), ir.TensorType([])]),
        "(Tensor[(2, ?), float32], float32)\n",
    )
    check(ir.Op.get("nn.relu"), "nn.relu\n")
    clause = relay.Clause(relay.PatternVar(x), relay.const(True))
    assert script(clause) == "%x => {\n  True\n}\n"


def test_modules_have_the_text_of_their_functions(capsys):
    mod = module()
    expected = CONVOLUTION.replace("fn (", "def @main(")
    assert script(mod) == mod.script() == expected
    assert str(mod) == expected.rstrip("\n")
    mod.show()
    assert capsys.readouterr().out == expected
    # Options choose the general text, which can be read back.
    assert text.from_text(mod.astext())["main"].params[0].name_hint == "x"
    assert mod.script(width=60) == text.to_text(
        mod, width=60, spans=False, placeholders=True, metadata=False
    )
    assert "ir.IRModule(" in mod.script(show_meta=True)


def test_modules_without_functions_of_relay_keep_the_general_text():
    mod = ir.IRModule({"f": ir.BaseFunc()})
    assert mod.script() == mod.astext(show_meta_data=False)
    assert script(mod) == text.to_text(mod)
    mixed = ir.IRModule({"f": ir.BaseFunc(), "main": convolution()})
    assert script(mixed).startswith("def @f = ir.BaseFunc()\n\n")
    assert CONVOLUTION.replace("fn (", "def @main(") in script(mixed)


def test_a_dialect_chooses_the_text_of_its_modules(key):
    @py_class(key("Kernel"), structural_eq="dag")
    class Kernel(ir.BaseFunc):
        ir_trait = transform.ModuleScript

        def module_script(self, module):
            return f"{len(module.functions)} kernels\n"

    mod = ir.IRModule({"k": Kernel()})
    assert script(mod) == mod.script() == "1 kernels\n"


def test_passes_show_programs_in_the_text_of_relay():
    mod = module()
    expected = CONVOLUTION.replace("fn (", "def @main(")
    with redirect_stderr(io.StringIO()) as shown:
        PrintIR("now")(mod)
    assert shown.getvalue() == f"PrintIR(now):\n{expected}\n"
    with redirect_stderr(io.StringIO()) as shown:
        PrintIR("now", show_meta_data=True)(mod)
    assert "ir.IRModule(" in shown.getvalue()
    for instrument in (transform.PrintAfterAll, transform.PrintBeforeAll):
        context = PassContext(opt_level=3, instruments=[instrument()])
        errors, out = io.StringIO(), io.StringIO()
        with redirect_stderr(errors), redirect_stdout(out), context:
            relay.transform.InferType()(mod)
        shown = errors.getvalue() + out.getvalue()
        assert "def @main(%x: " in shown
        assert "  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], kernel_size=[3, 3]);\n" in shown


def test_the_command_prints_files_in_the_text_of_relay(tmp_path):
    path = tmp_path / "function.iso"
    path.write_text(text.to_text(convolution()))
    command = [sys.executable, "-m", "isoform", "show", "-q", "--script", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (CONVOLUTION, "")


def test_changes_are_lines_of_the_text_of_relay():
    x = relay.var("x", shape=(2,))
    before = module(relay.Function([x], relay.add(x, relay.const(1.0))))
    after = module(relay.Function([x], relay.add(x, relay.const(2.0))))
    shown = transform.changes_text(before, after)
    assert "\n-  add(%x, 1f)\n+  add(%x, 2f)\n" in shown


def test_errors_of_type_inference_underline_the_text_of_relay():
    a, b = relay.var("a", shape=(2, 3)), relay.var("b", shape=(4, 3))
    with pytest.raises(Exception, match="Incompatible broadcast") as caught:
        relay.transform.InferType()(module(relay.Function([a, b], relay.nn.relu(a + b))))
    place = "%0 = add(%a, %b);\n                ^^^^^^^^^^^\n           nn.relu(%0)\n"
    assert place in str(caught.value)


def test_nodes_of_python_show_their_fields():
    x = relay.var("x")
    scale = Scale(0.5, Waiting(relay.Tuple([x, x])))
    assert script(relay.Function([x], relay.Tuple([scale, scale]))) == (
        "fn (%x) {\n  %0 = (%x, %x);\n  %1 = test_relay_text.Waiting(data=%0);\n"
        "  %2 = test_relay_text.Scale(by=0.5, data=%1);\n  (%2, %2)\n}\n"
    )


def test_large_constants_have_a_summary():
    large = relay.const(numpy.arange(1000, dtype="int32"))
    shown = script(relay.Tuple([large, relay.const(1)]))
    summary = r"\(meta\[relay.Constant\]\[0\] /\* Tensor\[\(1000,\), int32\] \[0, 1, 2, ...\] #"
    assert re.match(summary, shown)
    assert len(shown) < 120


def test_deep_and_shared_programs_are_linear():
    count = scaled(100_000)
    x = relay.var("x")
    expr = x
    relu = ir.Op.get("nn.relu")
    add = ir.Op.get("add")
    for level in range(count):
        expr = relay.Call(add, [expr, expr]) if level % 2 else relay.Call(relu, [expr])
    assert script(relay.Function([x], expr)).count("\n") == count + 2


@pytest.mark.parametrize("seed", range(20))
def test_random_modules_of_the_ir_have_a_text(seed):
    from isoform import testing

    mod = testing.random_module(seed, 80)
    shown = script(mod)
    for line in shown.splitlines():
        assert line == line.rstrip()
    for function in mod.functions.values():
        assert script(function)


class Printer:
    """What the `pretty` printers of IPython have in common."""

    def __init__(self):
        self.written = []

    def text(self, text):
        self.written.append(text)


def displayed(value):
    printer = Printer()
    value._repr_pretty_(printer, False)
    return "".join(printer.written)


def test_notebooks_show_the_text_of_relay_and_not_more_than_a_screen_of_it():
    assert displayed(convolution()) == CONVOLUTION.rstrip("\n")
    assert displayed(module()).startswith("def @main(%x: ")
    body = relay.var("x")
    for _ in range(500):
        body = relay.op.exp(body)
    *lines, last = displayed(relay.Function([], body)).splitlines()
    assert len(lines) == 200
    assert last == "... 303 more lines, in isoform.transform.script"
    # An object without a format of its own.
    span = ir.SequentialSpan([])
    assert displayed(span) == repr(span)
    with pytest.raises(TypeError, match="_repr_pretty_"):
        body._repr_pretty_(Printer())


def test_changes_that_the_text_of_relay_leaves_out_are_shown():
    def sized(dtype):
        size = tir.IntImm(dtype, 3)
        x = relay.var("x", ir.TensorType([size], "float32"))
        return relay.Function([x], x)

    one, other = sized("int32"), sized("int64")
    assert script(one) == script(other)
    text = transform.changes_text(module(one), module(other))
    assert "-" in text and "int64" in text
    assert not transform.changes_text(module(one), module(sized("int32")))


def test_attributes_are_in_the_order_of_their_names():
    one = convolution().with_attr("first", 1).with_attr("second", 2)
    other = convolution().with_attr("second", 2).with_attr("first", 1)
    assert structural_equal(one, other)
    assert script(one) == script(other)
