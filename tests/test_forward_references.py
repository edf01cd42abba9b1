"""Annotations that name classes declared later, or elsewhere."""

import gc
import sys
import textwrap
import typing

import pytest

from isoform import Object
from isoform.dataclasses import (
    fields,
    is_dataclass,
    py_class,
)


def test_local_classes_may_refer_to_each_other(key):
    def declare():
        @py_class(key("Ping"))
        class Ping(Object):
            pong: "Pong | None" = None

        @py_class(key("Pong"))
        class Pong(Object):
            ping: "Ping | None" = None

        return Ping, Pong

    for _ in range(2):
        # Each pair refers to itself, not to the pair of the call before.
        ping, pong = declare()
        node = ping(pong(ping()))
        assert type(node.pong.ping) is ping


def test_a_chain_of_waiting_classes_resolves_at_once(key):
    @py_class(key("A"))
    class A(Object):
        b: "B"

    @py_class(key("B"))
    class B(Object):
        c: "C"

    assert is_dataclass(A)
    with pytest.raises(TypeError, match="'C' is not defined"):
        B(1)

    @py_class(key("C"))
    class C(Object):
        x: int

    assert A(B(C(1))).b.c.x == 1


def test_a_child_waits_for_its_parent(key):
    @py_class(key("Base"))
    class Base(Object):
        later: "Later | None" = None

    @py_class(key("Child"))
    class Child(Base):
        x: int

    with pytest.raises(TypeError, match="Later"):
        Child(1)

    @py_class(key("Later"))
    class Later(Object):
        pass

    assert isinstance(Child(1, Later()).later, Later)
    assert [f.name for f in fields(Child)] == ["later", "x"]


def test_all_missing_names_are_listed(key):
    @py_class(key())
    class Node(Object):
        a: "NoSuch"  # noqa: F821
        b: "list[NorThis]"  # noqa: F821
        c: int

    with pytest.raises(TypeError, match=r"a: NoSuch.*NoSuch.*b: list\[NorThis\].*NorThis"):
        Node(1)
    with pytest.raises(TypeError, match="NoSuch"):
        fields(Node)


def test_a_waiting_class_that_is_wrong_says_so_itself(key):
    @py_class(key("Bad"))
    class Bad(Object):
        a: "set[Later]"

    @py_class(key("Later"))
    class Later(Object):
        x: int

    assert Later(1).x == 1
    for _ in range(2):
        with pytest.raises(TypeError, match="set"):
            Bad(1)


def test_the_key_of_a_waiting_class_is_taken(key):
    name = key()

    def first_and_second():
        @py_class(name)
        class First(Object):
            a: "Missing"  # noqa: F821

        with pytest.raises(ValueError, match="already registered"):

            @py_class(name)
            class Second(Object):
                x: int

    first_and_second()
    # The first class can never be completed.
    gc.collect()

    @py_class(name)
    class Third(Object):
        x: int

    assert Third(1).x == 1


def test_a_waiting_class_gives_way_to_its_successor(key):
    name = key()

    def declare(annotation):
        @py_class(name)
        class Node(Object):
            x: annotation

        return Node

    old = declare("Missing")
    new = declare(int)
    assert new(1).x == 1
    with pytest.raises((TypeError, ValueError)):
        old(1)


def test_modules_that_import_each_other_for_type_checking(tmp_path, monkeypatch):
    sources = {
        "isoform_ping": """
            from __future__ import annotations
            from typing import TYPE_CHECKING
            from isoform.dataclasses import Object, py_class
            if TYPE_CHECKING:
                from isoform_pong import CrossedPong
            @py_class
            class CrossedPing(Object):
                b: CrossedPong | None = None
        """,
        "isoform_pong": """
            from __future__ import annotations
            from isoform.dataclasses import Object, py_class
            from isoform_ping import CrossedPing
            @py_class
            class CrossedPong(Object):
                a: CrossedPing | None = None
        """,
    }
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import isoform_pong as b

    assert type(b.CrossedPing(b.CrossedPong()).b) is b.CrossedPong
    with pytest.raises(TypeError, match=r"isoform_pong\.CrossedPong"):
        b.CrossedPing(b.CrossedPing())


def test_names_of_a_module_are_not_taken_from_elsewhere(tmp_path, monkeypatch):
    sources = {
        "isoform_shared": """
            from isoform.dataclasses import Object, py_class
            @py_class
            class CrossedShared(Object):
                x: str
        """,
        "isoform_user": """
            from isoform.dataclasses import Object, py_class
            CrossedShared = int
            @py_class
            class CrossedUser(Object):
                a: "CrossedShared"
                b: "CrossedLate | None" = None
        """,
        "isoform_late": """
            from isoform.dataclasses import Object, py_class
            @py_class
            class CrossedLate(Object):
                x: int
        """,
    }
    for name, text in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import isoform_late
    import isoform_shared
    import isoform_user

    late = isoform_late.CrossedLate(1)
    assert isoform_user.CrossedUser(True, late).b is late
    with pytest.raises(TypeError, match="expected int"):
        isoform_user.CrossedUser(isoform_shared.CrossedShared("a"))


def test_names_of_code_that_is_executed(key, tmp_path, monkeypatch):
    base = key("executed")
    for name in ("isoform_first", "isoform_second"):
        text = f"""
            from isoform.dataclasses import Object, py_class
            @py_class("{base}.{name}")
            class ExecutedPart(Object):
                pass
        """
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(tmp_path)
    import isoform_first
    import isoform_second

    text = f"""
        from __future__ import annotations
        from isoform.dataclasses import Enum, Object, entry, fields, py_class
        @py_class("{base}.Whole")
        class Whole(Object):
            parts: list[ExecutedPart]
            later: list[ExecutedLater]
        @py_class("{base}.Part")
        class ExecutedPart(Object):
            x: int
        @py_class("{base}.User")
        class User(Object):
            part: ExecutedPart
            ExecutedPart = int
        class Level(Enum, type_key="{base}.Level"):
            part: ExecutedPart
            low = entry(ExecutedPart(1))
        def inside():
            @py_class("{base}.Local")
            class Local(Object):
                part: ExecutedPart
            return fields(Local)
        known = fields(User), fields(Level)[2:], inside()
        @py_class("{base}.Later")
        class ExecutedLater(Object):
            pass
        known += (fields(Whole),)
    """
    # doctest executes examples with a copy of the names of their module.
    names = {"__name__": "isoform_first", **vars(isoform_first)}
    exec(textwrap.dedent(text), names)  # noqa: S102
    part = names["ExecutedPart"]
    assert part not in (isoform_first.ExecutedPart, isoform_second.ExecutedPart)
    shown = [[str(field.schema) for field in each] for each in names["known"]]
    assert shown == [
        ["int"],
        [f"{base}.Part"],
        [f"{base}.Part"],
        [f"List[{base}.Part]", f"List[{base}.Later]"],
    ]
    assert "Local" not in names
    assert set(vars(isoform_first)) >= {"ExecutedPart", "Object"}
    assert "Whole" not in vars(isoform_first)


def test_a_long_chain_of_waiting_classes(key):
    made = {}
    for n in range(300):
        body = {"__annotations__": {"x": f"Link{n + 1}"}, "__module__": __name__}
        made[n] = py_class(key())(type(Object)(f"Link{n}", (Object,), body))
    last = {"__annotations__": {"x": int}, "__module__": __name__}
    made[300] = py_class(key())(type(Object)("Link300", (Object,), last))
    node = made[300](7)
    for n in reversed(range(300)):
        node = made[n](node)
    assert node.x.x.x is not None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="typing.Self is newer")
def test_self(key):
    @py_class(key())
    class Node(Object):
        next: typing.Optional[typing.Self] = None

    assert isinstance(Node(Node()).next, Node)
    with pytest.raises(TypeError, match=r"Node|Type"):
        Node(1)
