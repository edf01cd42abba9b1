"""Text for people: printing, parsing, options and errors."""

import copy
import enum
import pickle

import numpy
import pytest

import isoform
from isoform import ir, relay, text, tir
from isoform.access_path import AccessPath
from isoform.dataclasses import IntEnum, StrEnum, field, py_class


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


class Color(enum.Enum):
    RED = 1


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
    assert text.to_text(value) == TEXT
    again = text.from_text(TEXT)
    assert type(again) is Function
    assert isoform.structural_equal(again, value)
    assert isoform.structural_digest(again) == isoform.structural_digest(value)
    assert again.body.args[0] is again.body.args[1]
    assert again.params[0].name == "x"
    assert text.to_text(again) == TEXT


@pytest.mark.parametrize(
    "value",
    [None, True, 2**100, -1.5, float("nan"), "a\n\u202e", b"\x00\xff", isoform.dtype("float32")],
)
def test_plain_values(value):
    again = text.from_text(text.to_text(value))
    assert isoform.structural_equal(again, value)
    assert type(again) is type(value) or isinstance(value, (str, bytes))


def test_options():
    value = function()
    narrow = text.to_text(value, width=40, indent=4)
    assert max(map(len, narrow.splitlines())) <= 48
    assert "\n    params=[\n" in narrow
    assert text.to_text(value.params[0], ignored_fields=False) == "%x = testtext.Var()\n%x\n"
    assert "attrs=" not in text.to_text(value, hide=["attrs"])
    assert "attrs=Dict{}" in text.to_text(value, defaults=True)
    assert "\x1b[" in text.to_text(value, color=True)
    path = AccessPath.root().attr("params").array_item(1)
    lines = text.to_text(value, marks=[(path, "unused")]).splitlines()
    assert lines[2] == "//" + " " * 28 + "^" * 18 + " unused"
    assert lines[1][30:48] == "%y: testtext.Var()"
    noted = text.to_text(value, annotate=lambda node: getattr(node, "op", None))
    assert "args=[%x, %y]) /* add */," in noted
    assert isoform.structural_equal(text.from_text(noted), value)


def test_members_of_enums_stand_in_each_of_their_places():
    class Level(IntEnum, type_key="testtext.Level"):
        LOW = 0

    class Mode(StrEnum, type_key="testtext.Mode"):
        FAST = "fast"

    for member in (Level.LOW, Mode.FAST, Color.RED):
        shown = text.to_text([member, member])
        assert shown.count("!") == 2, shown
        assert "%" not in shown
        read = text.from_text(shown)
        assert read[0] is read[1] is member


def test_nodes_are_named_by_kind_on_request():
    shown = text.to_text(function(), structural_names=True)
    assert "%0" not in shown
    assert "%add." in shown
    assert isoform.structural_equal(text.from_text(shown), function())


def test_errors():
    with pytest.raises(ValueError, match=r"line 2, column 1: expected ',' or '\]', got the end"):
        text.from_text("[1\n")
    with pytest.raises(TypeError, match="unknown type"):
        text.from_text("testtext.NoSuch()")
    with pytest.raises(TypeError, match="unknown option"):
        isoform._core.to_text(1, {"wide": 1})
    with pytest.raises(ValueError, match="tensors"):
        text.to_text(1, tensors="none")
    with pytest.raises(TypeError, match="registered under its name"):
        text.to_text(lambda: 1)
    assert text.to_text(lambda: 1, placeholders=True) == "<Function>\n"

    class OddError(Exception):
        pass

    def fail(_node):
        raise OddError("no")

    with pytest.raises(OddError, match="no"):
        text.to_text(function(), annotate=fail)


def test_errors_say_where():
    with pytest.raises(text.TextError) as caught:
        text.from_text("[1,\n 2 3]")
    error = caught.value
    assert isinstance(error, ValueError)
    assert not isinstance(error, TypeError)
    assert (error.lineno, error.offset) == (2, 4)
    assert error.msg == "expected ',' or ']', got '3'"
    assert str(error).splitlines()[0].endswith("line 2, column 4: " + error.msg)
    assert str(error).splitlines()[-2:] == ["2 |  2 3]", "  |    ^"]

    with pytest.raises(text.TextTypeError) as caught:
        text.from_text("[testtext.Var(),\ntesttext.Call(op=3, args=[])]")
    error = caught.value
    assert isinstance(error, TypeError)
    assert isinstance(error, text.TextError)
    assert error.lineno == 1
    assert "name" in error.msg

    for copied in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(copied) is type(error)
        assert str(copied) == str(error)
        assert (copied.lineno, copied.offset, copied.msg) == (
            error.lineno,
            error.offset,
            error.msg,
        )
    assert text.TextError("no place").msg == "no place"


@pytest.mark.parametrize("source", ["", "[", "1 2", "%x", "a.b(", '"', "\x00", "[" * 100_000])
def test_hostile_texts_are_errors(source):
    with pytest.raises(text.TextError) as caught:
        text.from_text(source)
    assert caught.value.lineno == 1
    assert 1 <= caught.value.offset <= len(source) + 1


def test_hooks_of_python_fail_as_they_are(key):
    @py_class(key("Strict"))
    class Strict(isoform.Object):
        value: int

        @classmethod
        def __data_from_json__(cls, _data):
            raise LookupError("not today")

        def __data_to_json__(self):
            return {"value": self.value}

    with pytest.raises(LookupError, match="not today"):
        text.from_text(text.to_text(Strict(1)))


def test_marks():
    root = AccessPath.root()
    marks = [(root.array_item(1), "the odd one"), (root.array_item(2), "")]
    assert text.to_text(["a", 1, None], marks=marks) == (
        '["a", 1, None]\n//    ^ the odd one\n//       ^^^^\n'
    )
    with pytest.raises(TypeError):
        text.to_text([1], marks=["no pair"])


def test_tensors():
    value = isoform.Array([isoform.from_dlpack(numpy.arange(64, dtype="float32"))])
    section = text.to_text(value)
    assert section.startswith("[#0]\n\n// metadata\n#0 = Tensor(float32, [64], b64")
    inline = text.to_text(value, tensors="inline")
    assert "#" not in inline
    for printed in (section, inline):
        assert isoform.structural_equal(text.from_text(printed), value)
    short = text.to_text(value, tensors="abbreviated")
    assert len(short) < 100
    assert text.to_text(value, metadata=False) == "[#0]\n"
    for unreadable in (short, "[#0]\n"):
        with pytest.raises(text.TextError):
            text.from_text(unreadable)


def test_mismatches_are_shown_as_text():
    left, right = function(), function()
    changed = Function(right.params, Call("mul", [right.body.args[0], right.body.args[0]]))
    with pytest.raises(ValueError, match=r"not structurally equal") as caught:
        isoform.assert_structural_equal(left, changed)
    mismatch = isoform.explain_structural_mismatch(left, changed)
    shown = str(mismatch)
    assert "left:  <root>.body.attrs" in shown
    assert shown.count("^") > 2
    assert shown in str(caught.value)
    # The picture shows the place, so the message does not repeat the path.
    assert "(at " not in str(caught.value)
    assert mismatch.render() == shown
    assert "\x1b[" in mismatch.render(color=True)
    assert len(mismatch.render(values=1)) < len(shown)


def test_spans_and_types():
    x = relay.Var("x")
    named = ir.Span(ir.SourceName("a.py"), 1, 1, 1, 2)
    call = relay.Call(ir.GlobalVar("f"), [x], span=named)
    assert "a.py" in text.to_text(call)
    assert "a.py" not in text.to_text(call, spans=False)
    assert text.to_text(call, spans=False) == text.to_text(call, hide=["span"])
    literal = tir.IntImm("int32", 3)
    printed = text.to_text(literal, types=True)
    assert printed == "ir.IntImm(dtype=int32, value=3) /* : int32 */\n"
    assert isoform.structural_equal(text.from_text(printed), literal)


def test_a_misspelt_type_of_a_known_dialect_has_a_hint():
    @py_class("test_text_hint.Float")
    class Float(isoform.Object):
        value: int

    for read, source in (
        (text.from_text, "test_text_hint.Flaot(value=1)"),
        (
            isoform.serialization.from_json_graph_str,
            '{"root_index":0,"nodes":[{"type":"test_text_hint.Flaot","data":{"value":1}}]}',
        ),
    ):
        with pytest.raises(TypeError, match=r"did you mean 'test_text_hint\.Float'"):
            read(source)
    with pytest.raises(TypeError) as refused:
        text.from_text("test_text_other.Flaot(value=1)")
    assert "did you mean" not in str(refused.value)
