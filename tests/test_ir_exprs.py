"""Source locations, expressions and named functions of `isoform.ir`."""

import pickle

import pytest
from ir_checklist import covers

from isoform import ir, register_global_func, relay, structural_equal, tir


@covers("C04", "C05", "C06")
def test_spans():
    source = ir.SourceName("main.py")
    span = ir.Span(source, 1, 2, 3, 4)
    assert span.source_name.name == "main.py"
    assert (span.line, span.end_line, span.column, span.end_column) == (1, 2, 3, 4)
    # A name converts where it is expected.
    assert ir.Span("main.py", 1, 2, 3, 4).source_name.name == "main.py"
    assert structural_equal(ir.SourceName("a"), ir.SourceName("a"))
    both = ir.SequentialSpan([span, ir.SequentialSpan([span, ir.Span(source, 5, 6, 7, 8)])])
    assert [inner.line for inner in both.spans] == [1, 1, 5]
    assert (both.line, both.column, both.end_line, both.end_column) == (0, 0, 0, 0)
    assert isinstance(both, ir.Span)
    # Comparison ignores source locations.
    assert structural_equal(tir.IntImm("int32", 1, span), tir.IntImm("int32", 1))
    assert structural_equal(ir.PrimType("int32", span), ir.PrimType("int32"))


@covers("C07", "C07.1")
def test_env_func(key):
    name = key("add")
    register_global_func(name, lambda a, b: a + b)
    func = ir.EnvFunc.get(name)
    assert func.name == name
    assert func(2, 3) == 5
    assert func.func(4, 5) == 9
    assert structural_equal(func, ir.EnvFunc.get(name))
    assert ir.load_json(ir.save_json(func))(1, 1) == 2
    with pytest.raises(KeyError, match="is not registered"):
        ir.EnvFunc.get(key("none"))


@covers("C10", "C11")
def test_bases():
    assert issubclass(ir.PrimExpr, ir.BaseExpr)
    assert issubclass(ir.RelayExpr, ir.BaseExpr)
    span = ir.Span("a", 1, 1, 1, 2)
    assert tir.Var("x", "int32", span).span is span
    assert tir.Var("x", "int64").dtype == "int64"
    for cls in (ir.BaseExpr, ir.PrimExpr, ir.RelayExpr):
        with pytest.raises(TypeError, match="cannot be constructed directly"):
            cls()


@covers("C12", "C12.1", "C12.2")
def test_relay_expr():
    x = relay.Var("x")
    with pytest.raises(ValueError, match="The type checker has not populated the checked_type"):
        _ = x.checked_type
    typed = ir.GlobalVar("f", ir.PrimType("int32"))
    assert typed.checked_type == ir.PrimType("int32")
    assert x.struct_info is None


@covers("C13")
def test_global_var():
    f = ir.GlobalVar("f")
    assert f.name_hint == "f"
    assert not structural_equal(f, ir.GlobalVar("f"))
    assert structural_equal(f, ir.GlobalVar("f"), map_free_vars=True)
    # The name of a global variable counts, unlike the names of local variables.
    assert not structural_equal(f, ir.GlobalVar("g"), map_free_vars=True)
    x = relay.Var("x")
    call = f(x)
    assert isinstance(call, relay.Call)
    assert call.op is f
    assert list(call.args) == [x]
    assert isinstance(f(1, tir.Var("n", "int32")), tir.Call)
    typed = ir.GlobalVar("f", ir.FuncType([], ir.PrimType("int8")))
    assert (f(1).dtype, typed(1).dtype) == ("handle", "int8")
    with pytest.raises(RuntimeError, match="Do not know how to call"):
        f("text")


@covers("C14", "C14.1")
def test_range():
    r = ir.Range(2, 10)
    assert (r.min.value, r.extent.value) == (2, 8)
    assert ir.Range(10) == ir.Range(0, 10)
    assert ir.Range(0, 10).extent.value == 10
    n = tir.Var("n", "int32")
    # From literal zero on, the end is the extent itself.
    assert ir.Range(0, n).extent is n
    assert structural_equal(ir.Range(2, n).extent, n - 2)
    assert ir.Range.from_min_extent(2, 8) == r
    assert r != ir.Range(2, 11)
    assert hash(r) == hash(ir.Range(2, 10))
    span = ir.Span("a", 1, 1, 1, 2)
    assert ir.Range(1, span=span).span is span
    assert ir.Range.from_min_extent(1, 2, span).span is span
    assert ir.Range(begin=1, end=3) == ir.Range(1, 3)


def test_sequences_become_ranges(key):
    from isoform import Object
    from isoform.dataclasses import py_class

    @py_class(key("Loop"))
    class Loop(Object):
        domain: ir.Range

    assert Loop((2, 10)).domain == ir.Range(2, 10)
    assert Loop([4]).domain == ir.Range(4)
    for wrong in [(), (1, 2, 3), ("a", None), 4]:
        with pytest.raises(TypeError, match=r"domain.*expected ir\.Range"):
            Loop(wrong)


@covers("C15")
def test_constructor():
    header, other = ir.GlobalTypeVar("List"), ir.GlobalTypeVar("Other")
    nil, cons = ir.Constructor("Nil", [], header), ir.Constructor("Cons", [header()], header)
    assert (nil.name_hint, list(nil.inputs), nil.belong_to) == ("Nil", [], header)
    # Equal when name and inputs are.
    assert structural_equal(nil, ir.Constructor("Nil", [], other))
    assert not structural_equal(nil, ir.Constructor("Nada", [], header))
    assert not structural_equal(nil, ir.Constructor("Nil", [header()], header))
    x = relay.Var("x")
    assert isinstance(cons(x), relay.Call)


def test_constructor_tags_do_not_collide():
    tags = {}
    for number in range(300):
        header = ir.GlobalTypeVar(f"Adt{number}")
        for name in ("A", "B"):
            tags.setdefault(ir.Constructor(name, [], header).tag, []).append((number, name))
    assert all(len(names) == 1 for names in tags.values())
    header = ir.GlobalTypeVar("Adt7")
    first, second = (ir.Constructor(name, [], header).tag for name in "AB")
    assert (first >> 24 == second >> 24, first & 0xFFFFFF, second & 0xFFFFFF) == (True, 0, 1)


def test_identity_survives_files():
    x = relay.Var("x", ir.PrimType("int32"))
    f = relay.Function([x], relay.Call(ir.GlobalVar("g"), [x, x]))
    for made in (ir.load_json(ir.save_json(f)), pickle.loads(pickle.dumps(f))):
        assert made.params[0] is made.body.args[0]
        assert structural_equal(f, made, map_free_vars=True)
