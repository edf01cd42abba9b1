"""The text that people see: `print`, notebooks, `rich`, and the changes that passes make."""

import importlib.util
import io
from collections.abc import Sequence

import pytest

from isoform import Array, Object, explain_structural_mismatch
from isoform.dataclasses import field, py_class
from isoform.diff import diff
from isoform.text import from_text
from isoform.transform import PassContext, PrintChanges, Script, changes_text, function_pass


@py_class("shown.Node")
class Node(Object):
    left: object = None
    right: object = None
    span: str | None = field(default=None, structural_eq="ignore", repr=False)


@py_class("shown.Program")
class Program(Object):
    ir_trait = Script
    lines: Sequence[str]

    def script(self) -> str:
        return "\n".join(self.lines)


@py_class("shown.Own")
class Own(Object):
    lines: Sequence[str]

    def __repr__(self):
        return f"<{len(self.lines)} lines>"


class Printer:
    """The interface of IPython's printer."""

    def __init__(self):
        self.written = ""

    def text(self, text):
        self.written += text


def pretty(value):
    printer = Printer()
    value._repr_pretty_(printer, False)
    return printer.written


def long_node(levels):
    node = Node(1, "x" * 20, span="file:1")
    for number in range(levels):
        node = Node(node, number, span=f"file:{number}")
    return node


def test_short_objects_stay_in_one_line():
    assert str(Node(1, 2, span="a:1")) == repr(Node(1, 2)) == "shown.Node(left=1, right=2)"
    assert str(Array([1, 2])) == repr(Array([1, 2])) == "(1, 2)"
    assert f"{Node(1)}" == pretty(Node(1)) == "shown.Node(left=1, right=None)"


def test_long_objects_have_lines():
    node = long_node(12)
    text = str(node)
    assert text == pretty(node)
    lines = text.splitlines()
    assert len(lines) > 10 and max(map(len, lines)) <= 100
    assert "span" not in text and "file:" not in text
    assert repr(from_text(text)) == repr(node)
    # In one line, as before.
    assert "\n" not in repr(node)


def test_sharing_is_kept():
    node = Node("a" * 30, "b" * 30)
    for _ in range(60):
        node = Node(node, node)
    assert len(str(node).splitlines()) <= 201
    assert len(str(node)) < 10_000


def test_the_text_is_bounded():
    text = str(Node([Node(number, "word") for number in range(10_000)]))
    lines = text.splitlines()
    assert len(lines) <= 201
    assert "more lines, in isoform.text.to_text" in lines[-1] or "..." in text
    program = Program([f"line {number}" for number in range(300)])
    assert str(program).splitlines()[-2:] == [
        "line 199",
        "... 100 more lines, in isoform.transform.script",
    ]


def test_the_text_of_a_class_wins():
    program = Program(["a = 1", "b = 2"])
    assert str(program) == pretty(program) == "a = 1\nb = 2"
    assert repr(program) == 'shown.Program(lines=("a = 1", "b = 2"))'
    assert str(Own(["a"] * 200)) == pretty(Own(["a"] * 200)) == "<200 lines>"


@pytest.mark.skipif(importlib.util.find_spec("rich") is None, reason="rich is not installed")
def test_rich():
    from rich.console import Console

    console = Console(width=120, color_system=None, file=io.StringIO(), record=True)
    console.print(Program(["[red]not markup[/red]", "b"]))
    assert console.export_text() == "[red]not markup[/red]\nb\n"


def test_changes_leave_out_what_repr_leaves_out(capsys):
    @function_pass(opt_level=0)
    def change(function, root, ctx):
        return Node(function.left, 3, span="file:9")

    node = Node(long_node(8), 2, span="file:1")
    with PassContext(instruments=[PrintChanges()]):
        change(node)
    told = capsys.readouterr().out
    changed = [line for line in told.splitlines() if line[:1] in "+-" and line[1:2] not in "+-"]
    assert len(changed) == 2 and "span" not in told
    assert "No newline" not in told


def test_changes_end_with_a_newline():
    changes = changes_text(Program(["a = 1", "b = a"]), Program(["a = 1", "b = 2"]))
    assert changes.endswith("-b = a\n+b = 2\n")
    # A difference that the readable text leaves out is shown in full.
    assert changes_text(Node(1, span="a"), Node(1, span="b")) == ""


@pytest.mark.parametrize(
    ("made", "told"), [(lambda: 1 / 0, "division by zero"), (lambda: 42, "expected str, got int")]
)
def test_a_printer_that_fails_does_not_end_the_passes_that_it_reports(key, capsys, made, told):
    @py_class(key("Failing"))
    class Failing(Object):
        ir_trait = Script
        number: int

        def script(self) -> str:
            return made()

    changes = changes_text(Failing(1), Failing(2))
    assert told in changes
    assert "number=2" in changes
    step = function_pass(lambda function, root, ctx: Failing(function.number + 1), opt_level=0)
    with PassContext(instruments=[PrintChanges()]):
        assert step(Failing(1)).number == 2
    assert told in capsys.readouterr().out


@pytest.mark.parametrize("ask", [diff, explain_structural_mismatch])
def test_an_interruption_of_a_printer_ends_the_program_that_asks_for_the_text(key, ask):
    @py_class(key("Interrupted"))
    class Interrupted(Object):
        ir_trait = Script
        number: int

        def script(self) -> str:
            raise KeyboardInterrupt

    # The one shows a new part, the other both sides.
    answer = ask([] if ask is diff else [Interrupted(2)], [Interrupted(1)])
    with pytest.raises(KeyboardInterrupt):
        str(answer)
        # Python handles signals between two steps.
        for _ in range(100):
            pass
