"""Declarations that run again: cells of notebooks, reloaded modules, changed classes."""

import copy
import importlib
import importlib.util
import os
import pickle
import sys
from pathlib import Path

import pytest

import isoform
from isoform import Object, serialization, structural_equal, text
from isoform.dataclasses import py_class


def run(source, space=None):
    """Runs a cell in the module `__main__`, as notebooks do."""
    space = {} if space is None else space
    space.setdefault("__name__", "__main__")
    exec(  # noqa: S102
        "from isoform import Object\n"
        "from isoform.dataclasses import Enum, StrEnum, entry, field, init_property, py_class\n"
        + source,
        space,
    )
    return space


CELL = """
@py_class("{key}")
class Node(Object):
    x: int
    kids: "list[Leaf]" = field(default_factory=lambda: [])
    note: str = field(default="", converter=lambda given: given.strip())

    def size(self):
        return {result}, __class__.__name__, super().__repr__().startswith("{key}")


@py_class("{key}.Leaf")
class Leaf(Node):
    of: "Node | None" = None
"""


def test_the_same_declaration_is_the_same_class(key):
    name = key()
    space = run(CELL.format(key=name, result=1))
    first, leaf, old = space["Node"], space["Leaf"], space["Node"](1, note=" a ")
    again = run(CELL.format(key=name, result=2), space)
    assert again["Node"] is first and again["Leaf"] is leaf
    new = again["Node"](1, note="a")
    assert type(new) is type(old) and structural_equal(old, new)
    # Old objects have the new methods.
    assert old.size() == new.size() == (2, "Node", True)
    assert isinstance(leaf(3), first) and leaf(3, of=old).of is old
    for copied in (copy.deepcopy(old), serialization.from_bytes(serialization.to_bytes(old))):
        assert type(copied) is first and copied.size()[0] == 2


def test_members_of_the_body(key):
    name = key()
    body = "@py_class('{key}', eq=True)\nclass Node(Object):\n    x: int\n{rest}"
    rest = "    def f(self): return 1\n    def __repr__(self): return 'mine'\n    shared = 3\n"
    space = run(body.format(key=name, rest=rest))
    node = space["Node"](1)
    assert (node.f(), repr(node), node.shared) == (1, "mine", 3)
    rest = "    @property\n    def g(self): return __class__\n    @classmethod\n    def h(cls): return cls\n"
    run(body.format(key=name, rest=rest), space)
    assert node.g is node.h() is space["Node"] is type(node)
    assert not hasattr(node, "f") and not hasattr(node, "shared")
    assert repr(node) == f"{name}(x=1)"
    assert node == space["Node"](1)


def test_functions_for_the_library_are_replaced(key):
    name = key()
    body = (
        "@py_class('{key}')\nclass Node(Object):\n    x: int\n"
        "    def __verify__(self):\n        if self.x < {least}: raise ValueError('small')\n"
    )
    node = run(body.format(key=name, least=0))["Node"](1)
    assert isoform.verify(node) == []
    run(body.format(key=name, least=2))
    with pytest.raises(ValueError, match="small"):
        isoform.verify(node)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x: int", "x: int\n    y: int = 0", "field 'y' is new"),
        ("x: int\n    y: int", "x: int", "field 'y' is gone"),
        ("x: int\n    y: int", "y: int\n    x: int", "not in its place"),
        ("x: int", "x: str", "was of type int and is now of type str"),
        ("x: int = 1", "x: int = 2", "field 'x' has another default"),
        ("x: int = 1", "x: int = True", "field 'x' has another default"),
        (
            "x: list = field(default_factory=lambda: [1])",
            "x: list = field(default_factory=lambda: [2])",
            "has another default_factory",
        ),
        ("x: int", "x: int = field(structural_eq='ignore')", "structural_eq='ignore'"),
        ("x: int", "x: int\n    def __init__(self, x): self.__ffi_init__(x)", "__init__ is new"),
        ("x: int", "x: int\n    @init_property\n    def y(self) -> int: return 1", "'y' is new"),
        ("x: int", "x: int\n    def __s_equal__(self, o, eq): return True", "__s_equal__ is new"),
    ],
)
def test_another_declaration_says_how_it_differs(key, old, new, message):
    name = key()
    cell = "@py_class('{key}')\nclass Node(Object):\n    {body}\n"
    first = run(cell.format(key=name, body=old))["Node"]
    with pytest.raises(ValueError, match="already registered") as caught:
        run(cell.format(key=name, body=new))
    assert message in str(caught.value) and "override=True" in str(caught.value)
    # The class stays.
    assert isoform.types.class_of(name) is first
    replaced = run(cell.replace("')", "', override=True)").format(key=name, body=new))["Node"]
    assert isoform.types.class_of(name) is replaced is not first
    # Again the same, which needs no override.
    assert run(cell.format(key=name, body=new))["Node"] is replaced


def test_options_and_places_are_part_of_the_declaration(key):
    name = key()
    cell = "@py_class('{key}'{options})\nclass {cls}(Object):\n    x: int\n"
    run(cell.format(key=name, options="", cls="Add"))
    with pytest.raises(ValueError, match=r"class __main__\.Add has it"):
        run(cell.format(key=name, options="", cls="Sub"))
    with pytest.raises(ValueError, match="scope was False and is now True"):
        run(cell.format(key=name, options=", scope=True", cls="Add"))


def test_old_objects_keep_their_type(key):
    name = key()
    cell = "@py_class('{key}'{options})\nclass Node(Object):\n    x: int\n{rest}"
    space = run(cell.format(key=name, options="", rest=""))
    user = f"@py_class('{name}.User')\nclass User(Object):\n    node: Node\n"
    run(user, space)
    old_class, user_class = space["Node"], space["User"]
    old, user_of_old = old_class(1), user_class(old_class(1))
    run(cell.format(key=name, options=", override=True", rest="    y: int = 2\n"), space)
    new_class = space["Node"]
    assert (
        type(old) is old_class
        and repr(old) == f"{name}(x=1)"
        and type(user_of_old.node) is old_class
    )
    assert not structural_equal(old, new_class(1)) and structural_equal(old, old_class(1))
    # A field that names the key takes the new objects, and says why not the old ones.
    assert user_class(new_class(1)).node.y == 2
    with pytest.raises(
        TypeError, match=f"got {name} of an earlier declaration: make the object again"
    ):
        user_class(old)
    run(user, space)
    assert space["User"] is user_class
    # Files have keys: what is read is of the new type.
    assert type(serialization.from_bytes(serialization.to_bytes(old))) is new_class
    assert type(text.from_text(text.to_text(old))) is new_class
    assert type(pickle.loads(pickle.dumps(old))) is new_class

    class Names(isoform.NodeFunctor, dialect=name.rpartition(".")[0]):
        def visit_type(self, node):
            return type(node)

    visited = Names()
    assert (visited.visit(old), visited.visit(new_class(1))) == (old_class, new_class)


def test_messages_tell_declarations_apart(key):
    name = key()
    cell = (
        "@py_class('{key}'{options})\nclass Expr(Object):\n{rest}\n"
        "@py_class('{key}.Num')\nclass Num(Expr):\n    x: int\n"
    )
    space = run(cell.format(key=name, options="", rest="    pass\n"))
    old_num = space["Num"]
    first = cell.partition("\n@py_class('{key}.Num')")[0]
    run(first.format(key=name, options=", override=True", rest="    y: int = 2\n"), space)
    run(f"@py_class('{name}.Neg')\nclass Neg(Object):\n    arg: Expr\n", space)
    message = rf"got {name}.Num, which extends an earlier declaration of {name}: declare it again"
    with pytest.raises(TypeError, match=message):
        space["Neg"](old_num(1))
    old = old_num(1)
    again = f"@py_class('{name}.Num', override=True)\nclass Num(Expr):\n    x: int\n"
    run(again, space)
    assert space["Neg"](space["Num"](1)).arg.y == 2
    mismatch = isoform.explain_structural_mismatch(old, space["Num"](1))
    assert mismatch.reason == (
        f"the types differ: {name}.Num of an earlier declaration and {name}.Num"
    )


def test_classes_of_rust_stay(key):
    with pytest.raises(ValueError, match="already registered"):

        @py_class("ir.GlobalVar", override=True)
        class Mine(Object):
            x: int


def test_enums(key):
    name = key("Kind")
    cell = (
        "class Kind(StrEnum, type_key='{key}'{options}):\n    A = 'a'\n{rest}"
        "    def twice(self): return self.value * {times}\n"
    )
    kind_class = run(cell.format(key=name, options="", rest="", times=2))["Kind"]
    member = kind_class.A
    again = run(cell.format(key=name, options="", rest="", times=3))["Kind"]
    assert again is kind_class and again.A is member and member.twice() == "aaa"
    assert list(kind_class) == [member] and kind_class["A"] is kind_class("a") is member
    more = {"options": "", "rest": "    B = 'b'\n", "times": 2}
    with pytest.raises(ValueError, match="member 'B' is new; write override=True"):
        run(cell.format(key=name, **more))
    more["options"] = ", override=True"
    new_class = run(cell.format(key=name, **more))["Kind"]
    assert [kind.name for kind in new_class] == ["a", "b"] and new_class.A is not member
    assert [kind.name for kind in kind_class] == ["a"]


def test_registered_functions_passes_and_analyses(key):
    name = key("thing")
    cell = (
        "from isoform import register_global_func\n"
        "from isoform.transform import analysis, function_pass, register_pass\n"
        "@register_global_func('{name}')\ndef f(): return {result}\n"
        "@analysis(name='{name}')\ndef g(mod): return {result}\n"
        "@register_pass('{name}')\n@function_pass(opt_level=0, name='{name}')\n"
        "def Pass(function, mod, ctx): return function\n"
    )
    run(cell.format(name=name, result=1))
    run(cell.format(name=name, result=2))
    try:
        assert isoform.get_global_func(name)() == 2
        other = "from isoform import register_global_func\nregister_global_func('{0}', lambda: 3)\n"
        with pytest.raises(ValueError, match="already registered"):
            run(other.format(name))
    finally:
        isoform.remove_global_func(name)


MODULE = """
from __future__ import annotations
from isoform import Object
from isoform.dataclasses import Enum, auto, field, py_class
from isoform.transform import function_pass, register_pass


class Op(Enum, type_key="KEY.Op"):
    add = auto()


@py_class("KEY.Expr")
class Expr(Object):
    op: Op = Op.add
    parts: list[Late] = field(default_factory=list)

    def answer(self):
        return ANSWER


@py_class("KEY.Late"OPTIONS)
class Late(Expr):
    line: int | None = None
    EXTRA


@register_pass("KEY.Idle")
@function_pass(opt_level=0, name="KEY.Idle")
def Idle(function, mod, ctx):
    return function
"""


@pytest.fixture
def module(tmp_path, monkeypatch, key):
    """Writes and imports a module of its own; a call writes it again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    name = key("module")

    def write(answer, options="", extra=""):
        source = MODULE.replace("KEY", name).replace("ANSWER", answer).replace("OPTIONS", options)
        (tmp_path / "again_module.py").write_text(source.replace("EXTRA", extra))
        importlib.invalidate_caches()

    write("1")
    made = importlib.import_module("again_module")
    yield made, write
    del sys.modules["again_module"]


def test_reload(module):
    made, write = module
    expr, kinds = made.Expr(), (made.Expr, made.Late, made.Op, made.Op.add)
    write("2")
    importlib.reload(made)
    assert kinds == (made.Expr, made.Late, made.Op, made.Op.add)
    assert expr.answer() == 2 and isinstance(made.Late(), made.Expr)

    # A field that is new is an error, and not ignored.
    write("2", extra="more: int = 0")
    with pytest.raises(ValueError, match="field 'more' is new"):
        importlib.reload(made)
    write("2", options=", override=True", extra="more: int = 0")
    importlib.reload(made)
    assert made.Late().more == 0 and made.Late is not kinds[1]


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="IPython is not installed")
def test_autoreload(module, capsys):
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.extensions.autoreload import AutoreloadMagics

    made, write = module
    shell = InteractiveShell.instance()
    try:
        magics = AutoreloadMagics(shell=shell)
        magics.autoreload("2")
        magics.pre_run_cell(None)
        shell.push({"made": made, "expr": made.Expr()})
        stamp = iter(range(1, 10))

        def changed(*args, **options):
            write(*args, **options)
            path = Path(made.__file__)
            time = path.stat().st_mtime + 10 * next(stamp)
            os.utime(path, (time, time))
            magics.pre_run_cell(None)

        changed("3")
        assert shell.user_ns["expr"].answer() == 3
        changed("3", extra="more: int = 0")
        told = capsys.readouterr()
        taken = hasattr(made.Late(), "more")
        assert taken or "field 'more' is new" in told.out + told.err
    finally:
        InteractiveShell.clear_instance()


def test_a_class_whose_parent_was_declared_again_needs_override(key):
    base, name = key("Base"), key("Sub")
    cell = "@py_class('{0}'{2})\nclass Base(Object):\n    x: {3}\n"
    sub = "@py_class('{1}'{2})\nclass Sub(Base):\n    y: int\n"
    run((cell + sub).format(base, name, "", "int"))
    with pytest.raises(ValueError, match="also in the declarations of the classes that extend it"):
        run(cell.format(base, name, "", "str"))
    with pytest.raises(ValueError, match="its parent Base was declared again, as another type"):
        run(cell.format(base, name, ", override=True", "str") + sub.format(base, name, ""))
    run((cell + sub).format(base, name, ", override=True", "str"))


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("    A = 'a'\n", "member 'B' is gone"),
        ("    A = 'a'\n    B = 'c'\n", "member 'B' has another number, value or fields"),
    ],
)
def test_members_that_differ_are_named(key, rest, message):
    name = key("Named")
    run(f"class Named(StrEnum, type_key='{name}'):\n    A = 'a'\n    B = 'b'\n")
    with pytest.raises(ValueError, match=message):
        run(f"class Named(StrEnum, type_key='{name}'):\n{rest}")
