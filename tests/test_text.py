"""Text for people: printing, parsing, options and errors."""

import isoform
import pytest
from isoform import text
from isoform.access_path import AccessPath
from isoform.dataclasses import field, py_class


@py_class("testtext.Var", structural_eq="var")
class Var(isoform.Object):
    name: str = field(structural_eq="ignore")


@py_class("testtext.Call", structural_eq="dag")
class Call(isoform.Object):
    op: str
    args: isoform.Array
    attrs: isoform.Dict = field(default_factory=dict)


@py_class("testtext.Function", scope=True)
class Function(isoform.Object):
    params: isoform.Array = field(structural_eq="def")
    body: object


def function():
    x, y = Var("x"), Var("y")
    call = Call("add", [x, y])
    return Function([x, y], Call("mul", [call, call], {"fast": True}))


TEXT = """\
testtext.Function(
  params=[%x: testtext.Var(), %y: testtext.Var()],
  %0 = testtext.Call(op="add", args=[%x, %y]),
  %1 = testtext.Call(op="mul", args=[%0, %0], attrs=Dict{"fast": True}),
  body=%1,
)
"""


def test_types_of_python_have_text():
    value = function()
    assert text.print(value) == TEXT
    again = text.parse(TEXT)
    assert type(again) is Function
    assert isoform.structural_equal(again, value)
    assert isoform.structural_digest(again) == isoform.structural_digest(value)
    assert again.body.args[0] is again.body.args[1]
    assert again.params[0].name == "x"
    assert text.print(again) == TEXT


@pytest.mark.parametrize(
    "value",
    [None, True, 2**100, -1.5, float("nan"), "a\n\u202e", b"\x00\xff", isoform.dtype("float32")],
)
def test_plain_values(value):
    again = text.parse(text.print(value))
    assert isoform.structural_equal(again, value)
    assert type(again) is type(value) or isinstance(value, (str, bytes))


def test_options():
    value = function()
    narrow = text.print(value, width=40, indent=4)
    assert max(map(len, narrow.splitlines())) <= 48
    assert "\n    params=[\n" in narrow
    assert text.print(value.params[0], ignored_fields=False) == "%x = testtext.Var()\n%x\n"
    assert "attrs=" not in text.print(value, hide=["attrs"])
    assert 'attrs=Dict{}' in text.print(value, defaults=True)
    assert "\x1b[" in text.print(value, color=True)
    path = AccessPath.root().attr("params").array_item(1)
    lines = text.print(value, marks=[(path, "unused")]).splitlines()
    assert lines[2] == "//                          ^^^^^^^^^^^^^^^^^^ unused"
    noted = text.print(value, annotate=lambda node: getattr(node, "op", None))
    assert "args=[%x, %y]) /* add */," in noted
    assert isoform.structural_equal(text.parse(noted), value)


def test_errors():
    with pytest.raises(ValueError, match=r"line 2, column 1: expected ',' or '\]', got the end"):
        text.parse("[1\n")
    with pytest.raises(TypeError, match="unknown type"):
        text.parse("testtext.NoSuch()")
    with pytest.raises(TypeError, match="unknown option"):
        isoform._core.text_print(1, {"wide": 1})
    with pytest.raises(ValueError, match="tensors"):
        text.print(1, tensors="none")
    with pytest.raises(TypeError, match="registered under its name"):
        text.print(lambda: 1)
    assert text.print(lambda: 1, placeholders=True) == "<Function>\n"

    class Odd(Exception):
        pass

    def fail(_node):
        raise Odd("no")

    with pytest.raises(Odd, match="no"):
        text.print(function(), annotate=fail)


def test_mismatches_are_shown_as_text():
    left, right = function(), function()
    changed = Function(right.params, Call("mul", [right.body.args[0], right.body.args[0]]))
    with pytest.raises(ValueError, match=r"not structurally equal") as caught:
        isoform.assert_structural_equal(left, changed)
    assert "//" in str(caught.value)
    mismatch = isoform.explain_structural_mismatch(left, changed)
    shown = text.render_mismatch(left, changed, mismatch)
    assert "^" in shown
    assert "left:  <root>.body.attrs" in shown

