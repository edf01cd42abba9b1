"""The text of modules, expressions and operators: `astext`, `script`, `show`."""

import numpy
import pytest
from ir_checklist import covers

from isoform import Object, ir, relay, structural_digest, structural_equal, text, tir
from isoform.dataclasses import py_class


@py_class("test_ir_text.Scale", structural_eq="tree")
class Scale(ir.RelayExpr):
    """An expression declared a moment ago."""

    by: float
    data: ir.RelayExpr


def module(size=1000):
    """A module with a shared call, a span, a large and a small constant."""
    x = relay.Var("x", ir.TensorType([2, tir.Var("n", "int64")]))
    once = relay.Call(ir.GlobalVar("helper"), [x], span=ir.Span(ir.SourceName("a.py"), 1, 1, 1, 2))
    helper = relay.Var("y")
    functions = {
        "main": relay.Function([x], relay.Call(ir.Constructor("Pair", [], NAME), [once, once])),
        "helper": relay.Function([helper], Scale(0.5, helper)),
    }
    weights = ir.ConstantInfo("w", 0, numpy.arange(size, dtype="float32"))
    small = ir.ConstantInfo("b", 0, numpy.arange(2, dtype="float32"))
    return ir.IRModule(functions, attrs={"constants": [weights, small]})


NAME = ir.GlobalTypeVar("Name")


@covers("C18.1")
def test_modules_are_read_back():
    mod = module()
    shown = mod.astext()
    read = text.from_text(shown)
    assert structural_equal(read, mod, map_free_vars=True)
    body = read["main"].body
    assert body.args[0] is body.args[1]
    assert isinstance(read["helper"].body, Scale)
    assert read.astext() == shown
    assert mod.astext(True, None) == shown


@covers("C18.1")
def test_large_constants_stand_behind_the_text():
    mod = module()
    shown, bare = mod.astext(), mod.astext(show_meta_data=False)
    assert shown.startswith(bare)
    section = shown[len(bare) :]
    assert len(section) > 4000 > 2000 > len(bare)
    assert "Tensor(float32, [1000], " in section
    # Small ones stand where they are used.
    assert "Tensor(float32, [2], [0.0, 1.0])" in bare
    with pytest.raises(text.TextError, match="is not defined"):
        text.from_text(bare)
    small = module(size=2)
    assert small.astext(show_meta_data=False) == small.astext()


@covers("C18.1")
def test_annotations_are_comments():
    mod = module()
    seen = []

    def annotate(node):
        seen.append(type(node))
        return f"arguments: {len(node.args)}" if isinstance(node, relay.Call) else ""

    shown = mod.astext(annotate=annotate)
    assert shown.count("/* arguments: 1 */") == 1
    assert shown.count("/* arguments: 2 */") == 1
    assert shown.count("/*") == 2
    assert {ir.IRModule, relay.Function, relay.Var, Scale} < set(seen)
    assert structural_equal(text.from_text(shown), mod, map_free_vars=True)
    awkward = mod.astext(annotate=lambda _node: "a */ b\n// c /*")
    assert structural_equal(text.from_text(awkward), mod, map_free_vars=True)

    def fail(_node):
        raise LookupError("no comment")

    with pytest.raises(LookupError, match="no comment"):
        mod.astext(annotate=fail)
    with pytest.raises(TypeError):
        mod.astext(annotate=lambda _node: 3)


@covers("C13.1")
def test_global_variables():
    var = ir.GlobalVar("main")
    assert var.astext() == "%main = ir.GlobalVar()\n%main\n"
    read = text.from_text(var.astext())
    assert structural_equal(read, var, map_free_vars=True)
    assert read.name_hint == "main"
    assert "ir.GlobalVar() /* GlobalVar */" in var.astext(
        show_meta_data=False, annotate=lambda node: type(node).__name__
    )


@covers("C19.3")
def test_operators(key):
    name = key("op")
    ir.register_op_attr(name, "TOpPattern", 1)
    op = ir.Op.get(name)
    shown = op.astext()
    assert "ir.Op(" in shown
    assert name in shown
    assert text.from_text(shown) is op
    assert "/* an operator */" in op.astext(True, lambda _node: "an operator")


def test_expressions_have_text():
    x = relay.Var("x")
    function = relay.Function([x], x)
    shown = function.astext()
    assert shown == ("relay.Function(params=[%x: relay.Var()], attrs=ir.DictAttrs(), body=%x)\n")
    assert structural_digest(text.from_text(shown)) == structural_digest(function)


def test_spans_are_left_out():
    span = ir.Span(ir.SourceName("a.py"), 1, 1, 1, 2)
    var = relay.Var("x", span=span)
    assert "a.py" not in var.astext()
    assert "a.py" in text.to_text(var)
    assert text.from_text(text.to_text(var)).span.line == 1


def test_what_has_no_text_does_not_hide_the_rest():
    x = relay.Var("x")
    function = relay.Function([x], x).with_attr("hook", lambda: None)
    mod = ir.IRModule({"main": function})
    assert "<Function>" in mod.astext()
    with pytest.raises(ValueError, match="<"):
        text.from_text(mod.astext())
    with pytest.raises(TypeError, match="registered"):
        text.to_text(mod)


def test_script_and_show(capsys):
    mod = module()
    general = mod.astext(show_meta_data=False)
    assert mod.script(color=False) == general
    assert mod.script(show_meta=True) == mod.astext()
    narrow = mod.script(width=40)
    assert narrow.count("\n") > general.count("\n")
    assert "a.py" in mod.script(spans=True)
    # Functions of Relay have their own format, see test_relay_text.py.
    assert "def @main(" in mod.script() != general
    mod.show()
    assert capsys.readouterr().out == mod.script()
    other = ir.IRModule(attrs=mod.attrs)
    assert other.script() == other.astext(show_meta_data=False)
    other.show()
    assert capsys.readouterr().out == other.script()
    mod.show(show_meta=True, width=60)
    assert capsys.readouterr().out == mod.script(show_meta=True, width=60)
    mod.show(color=True)
    assert "\x1b[" in capsys.readouterr().out
    with pytest.raises(TypeError, match="no_such_option"):
        mod.script(no_such_option=1)


def test_assertions_show_both_sides():
    left, right = module(), module()
    right["main"] = relay.Function(left["main"].params, left["main"].body.args[0])
    with pytest.raises(ValueError, match="not structurally equal") as caught:
        ir.assert_structural_equal(left, right, map_free_vars=True)
    message = str(caught.value)
    assert "left:  <root>" in message
    assert "right: <root>" in message
    assert "^" in message
    # Constants of megabytes do not make it longer.
    assert len(message) < 3000
    # Global variables are keys, and called by name; what is ignored is not shown.
    assert 'functions[ir.GlobalVar(name_hint="main", ...)].body' in message
    assert "a.py" not in message


def test_a_class_of_a_moment_ago(key):
    @py_class(key("Note"), structural_eq="tree")
    class Note(ir.BaseExpr):
        text: str
        about: ir.RelayExpr
        more: list[Object] = ()

    note = Note("first", relay.Var("x"), more=[ir.PrimType("int8")])
    read = text.from_text(text.to_text(note))
    assert type(read) is Note
    assert structural_equal(read, note, map_free_vars=True)
