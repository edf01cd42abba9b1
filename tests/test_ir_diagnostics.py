"""Diagnostics of `isoform.ir`."""

import pytest
from ir_checklist import covers

from isoform import ir

SOURCE = "fn main() {\n    lét x = yy;\n}\n"


def context(renderer=None):
    mod = ir.IRModule()
    return mod.source_map.add("main.rs", SOURCE), ir.DiagnosticContext(mod, renderer)


def text_of(span, message="here", level=ir.DiagnosticLevel.ERROR):
    _, ctx = context()
    ctx.emit(ir.Diagnostic(level, span, message))
    return ctx.to_text()


@covers("X4")
def test_messages_show_their_lines():
    name, ctx = context()
    ctx.emit(ir.Diagnostic.error("no such variable", ir.Span(name, 2, 2, 13, 15)))
    ctx.emit(ir.Diagnostic.help("declare it"))
    assert ctx.to_text() == (
        "error: no such variable\n"
        " --> main.rs:2:13\n"
        "  |\n"
        "2 |     lét x = yy;\n"
        "  |             ^^\n"
        "\n"
        "help: declare it"
    )
    assert "\x1b[" in ctx.to_text(colour=True)
    with pytest.raises(ir.DiagnosticError, match="no such variable"):
        ctx.render()
    assert len(ctx.diagnostics) == 0
    ctx.render()


def test_levels():
    assert [(level.name, level.value) for level in ir.DiagnosticLevel] == [
        ("BUG", 10),
        ("ERROR", 20),
        ("WARNING", 30),
        ("NOTE", 40),
        ("HELP", 50),
    ]
    for level in ir.DiagnosticLevel:
        assert text_of(None, "m", level) == f"{level.name.lower()}: m"
    makers = [
        ir.Diagnostic.bug,
        ir.Diagnostic.error,
        ir.Diagnostic.warning,
        ir.Diagnostic.note,
        ir.Diagnostic.help,
    ]
    assert [make("m").level for make in makers] == list(ir.DiagnosticLevel)
    with pytest.raises(ValueError, match="25 is not a valid DiagnosticLevel"):
        ir.Diagnostic(25, None, "m")


@pytest.mark.parametrize(
    ("level", "fails"), [("BUG", True), ("ERROR", True), ("WARNING", False), ("HELP", False)]
)
def test_errors_fail(level, fails):
    seen = []
    _, ctx = context(ir.DiagnosticRenderer(lambda ctx: seen.append(len(ctx.diagnostics))))
    ctx.emit(ir.Diagnostic(ir.DiagnosticLevel[level], None, "m"))
    if fails:
        with pytest.raises(ir.DiagnosticError, match="please check diagnostic render"):
            ctx.render()
    else:
        ctx.render()
    assert seen == [1]
    assert len(ctx.diagnostics) == 0


def test_the_renderer_in_use_may_be_replaced(capsys):
    _, ctx = context(ir.get_renderer())
    ctx.emit(ir.Diagnostic.warning("look"))
    ctx.render()
    assert capsys.readouterr().err == "warning: look\n"
    seen = []
    ir.override_renderer(lambda ctx: seen.append(ctx.to_text()))
    try:
        ir.get_renderer().render(ctx)
    finally:
        ir.override_renderer(None)
    assert seen == [""]
    ir.get_renderer().render(ctx)
    assert capsys.readouterr().err == "\n"


def test_a_place_in_several_texts():
    name = ir.SourceName("main.rs")
    first, second = ir.Span(name, 1, 1, 4, 8), ir.Span(name, 2, 2, 9, 10)
    text = text_of(ir.SequentialSpan([first, second]))
    assert "^^^^" in text
    assert "-" in text.splitlines()[-1]


def test_an_unknown_text():
    assert text_of(ir.Span("other.rs", 3, 3, 5, 6)) == "error: here\n--> other.rs:3:5"
