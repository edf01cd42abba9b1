"""Digests of values across versions of their classes."""

from typing import Any

import pytest
from processes import outputs_of

from isoform import Object, structural_digest
from isoform.dataclasses import field, py_class


def digests_of(*versions):
    """The digests of values of classes; each version is a declaration, followed by values."""
    head = [
        "from typing import Any",
        "from isoform import Object, structural_digest",
        "from isoform.dataclasses import Enum, IntEnum, StrEnum, auto, entry, field, py_class",
    ]
    codes = []
    for body, *values in versions:
        show = f"for value in ({', '.join(values)},): print(structural_digest(value).hex())"
        codes.append("\n".join([*head, body, show]))
    return [output.split() for output in outputs_of(*codes)]


def version(*fields):
    """One version of a class."""
    lines = ["@py_class('digest.Sub')", "class Sub(Object):"]
    return "\n".join(lines + [f"    {line}" for line in fields])


def test_compared_fields_are_named_in_their_order():
    plain, turned, renamed, more = digests_of(
        (version("lhs: int", "rhs: int"), "Sub(lhs=7, rhs=5)", "Sub(lhs=5, rhs=7)"),
        (version("rhs: int", "lhs: int"), "Sub(lhs=7, rhs=5)", "Sub(lhs=5, rhs=7)"),
        (version("left: int", "right: int"), "Sub(left=7, right=5)"),
        (version("lhs: int", "rhs: int", "mode: int = 0"), "Sub(lhs=7, rhs=5)"),
    )
    assert len({*plain, *turned, *renamed, *more}) == 6


def test_ignored_fields_defaults_and_methods_come_and_go():
    values = "Sub(lhs=7, rhs=5)", "Sub(lhs=5, rhs=7)"
    plain = version("lhs: int", "rhs: int")
    noted = version(
        "note: str = field(default='x', structural_eq='ignore')",
        "lhs: int = field(default=3, doc='the left one')",
        "rhs: Any = 4",
        "def swapped(self): return Sub(lhs=self.rhs, rhs=self.lhs)",
    )
    before, after = digests_of((plain, *values), (noted, *values))
    assert after == before


@pytest.mark.parametrize(
    ("base", "before", "after"),
    [
        ("StrEnum", "add = 'add'", "mul = 'mul'"),
        ("IntEnum", "add = 3", "mul = 7"),
        ("Enum", "add = auto()", "mul = auto()"),
        ("Enum", "symbol: str; add = entry(symbol='+')", "mul = entry(symbol='*')"),
    ],
)
def test_a_member_added_before_others_changes_no_digest(base, before, after):
    def declared(*members):
        head = f"class Op({base}, type_key='digest.Op'):"
        return "\n".join([head, *(f"    {member}" for member in members)])

    old = declared(before, after)
    # A field of the members is declared before all members.
    first = {"StrEnum": "new = 'new'", "IntEnum": "new = 1"}.get(base, "new = auto()")
    if "symbol" in before:
        kind, add = before.split("; ")
        new = declared(kind, "new = entry(symbol='!')", add, after)
    else:
        new = declared(first, after, before)
    two, three = digests_of((old, "Op.add", "Op.mul"), (new, "Op.add", "Op.mul", "Op.new"))
    assert three[:2] == two
    assert len({*three}) == 3


@py_class("digest.V", structural_eq="var")
class V(Object):
    name: str = field(structural_eq="ignore")


@py_class("digest.T", structural_eq="var")
class T(Object):
    size: Any


@py_class("digest.Let")
class Let(Object):
    var: Any = field(structural_eq="def-simple")


@py_class("digest.Fun", scope=True)
class Fun(Object):
    params: Any = field(structural_eq="def")
    body: Any


def test_a_free_variable_in_the_type_of_a_definition_is_explained():
    n = V("n")
    let = Let(T(n))
    with pytest.raises(ValueError, match="digest it with map_free_vars") as plain:
        structural_digest(let)
    with pytest.raises(ValueError, match="def-simple field") as mapped:
        structural_digest(let, map_free_vars=True)
    assert "digest it with" not in str(mapped.value)
    assert all("<root>.var.size" in str(error.value) for error in (plain, mapped))
    m = V("m")
    assert structural_digest(Fun([n], let)) == structural_digest(Fun([m], Let(T(m))))
