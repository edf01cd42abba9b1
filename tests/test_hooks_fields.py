"""Hooks of text, comparison by fields, copies and conversion."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from processes import output_of

import isoform
from isoform import Array, List, type_attrs
from isoform.dataclasses import Object, py_class, replace


def declare(key: str, bases: tuple[type, ...] = (Object,), **body: Any) -> Any:
    annotations = {"x": Any, "y": Any} if bases == (Object,) else {}
    defaults = {"y": None} if annotations else {}
    options = body.pop("options", {})
    namespace = {"__annotations__": annotations, "__module__": __name__, **defaults, **body}
    return py_class(key, **options)(type(key.rsplit(".", 1)[-1], bases, namespace))


# ---- text ------------------------------------------------------------------


def bracketed(self: Any, fn_repr: Any) -> str:
    return f"<{fn_repr(self.x)}>"


def test_a_class_has_a_text_of_its_own():
    node = declare("hooks.py.Repr", __ffi_repr__=bracketed)
    inner = node(1)
    assert repr(inner) == str(inner) == "<1>"
    assert repr(node(node("a"))) == '<<"a">>'
    assert repr(Array([inner])) == "(<1>,)"
    assert isoform.repr_print([inner, 2]) == "(<1>, 2)"
    ring = List([1])
    outer = node(ring)
    ring.append(outer)
    assert repr(outer) == "<[1, ...]>"
    ring.clear()


def test_a_text_may_be_set_later_and_replaced():
    node = declare("hooks.py.ReprLater")
    assert repr(node(1)) == "hooks.py.ReprLater(x=1, y=None)"
    type_attrs.set(node, "__ffi_repr__", bracketed)
    assert repr(node(1)) == "<1>"
    # The same again.
    type_attrs.set(node, "__ffi_repr__", bracketed)
    with pytest.raises(ValueError, match="__ffi_repr__"):
        type_attrs.set(node, "__ffi_repr__", lambda self, part: "another")
    type_attrs.set(node, "__ffi_repr__", lambda self, part: "replaced", override=True)
    assert repr(node(1)) == "replaced"


def test_texts_of_deep_and_shared_values_are_safe():
    node = declare("hooks.py.ReprDeep", __ffi_repr__=bracketed)
    deep = None
    for _ in range(5000):
        deep = node(deep)
    with pytest.raises(RecursionError):
        repr(deep)
    calls = 0

    def both(self: Any, fn_repr: Any) -> str:
        nonlocal calls
        calls += 1
        return f"{fn_repr(self.x)} + {fn_repr(self.y)}"

    add = declare("hooks.py.ReprShared", __ffi_repr__=both)
    value = add(1, 2)
    for _ in range(50):
        value = add(value, value)
    assert len(repr(value)) < 1 << 20
    assert calls == 51


def test_wrong_texts_and_exceptions():
    wrong = declare("hooks.py.ReprWrong", __ffi_repr__=lambda self, part: 5)
    with pytest.raises(
        TypeError, match=r"hooks\.py\.ReprWrong\.__ffi_repr__: expected a str as result, got int"
    ):
        repr(Array([wrong(1)]))

    class OwnError(Exception):
        pass

    def fails(self: Any, part: Any) -> str:
        raise OwnError("mine")

    with pytest.raises(OwnError, match="mine"):
        repr(declare("hooks.py.ReprFails", __ffi_repr__=fails)(1))
    with pytest.raises(TypeError, match=r"hooks\.py\.ReprNone"):
        declare("hooks.py.ReprNone", __ffi_repr__=5)


def test_a_callback_ends_with_its_hook():
    kept = []

    def keep(self: Any, part: Any) -> str:
        kept.append(part)
        return part(self.x)

    node = declare("hooks.py.ReprKept", __ffi_repr__=keep)
    assert repr(node(7)) == "7"
    with pytest.raises(RuntimeError, match="only while __ffi_repr__ runs"):
        kept[0](1)


def test_own_repr_wins_over_the_hook_in_python():
    node = declare(
        "hooks.py.ReprBoth", __ffi_repr__=bracketed, __repr__=lambda self: f"own {self.x}"
    )
    assert repr(node(1)) == "own 1"
    assert repr(Array([node(1)])) == "(own 1,)"


def test_subclasses_inherit_hooks():
    parent = declare("hooks.py.ReprParent", __ffi_repr__=bracketed)
    child = declare("hooks.py.ReprChild", (parent,))
    assert repr(child(1)) == "<1>"
    plain = declare("hooks.py.ReprPlainChild", (parent,), __ffi_repr__=None)
    assert repr(plain(1)) == "hooks.py.ReprPlainChild(x=1, y=None)"


# ---- comparison ------------------------------------------------------------


def by_x(key: str, *hooks: str, **options: bool) -> Any:
    body = {
        "__ffi_eq__": lambda self, other, cmp: cmp(self.x, other.x),
        "__ffi_compare__": lambda self, other, cmp: cmp(self.x, other.x),
        "__ffi_hash__": lambda self, fn_hash: fn_hash(self.x),
    }
    return declare(key, options=options, **{name: body[name] for name in hooks})


def test_equality_order_and_hash_follow_the_hooks():
    node = by_x(
        "hooks.py.ByX",
        "__ffi_eq__",
        "__ffi_compare__",
        "__ffi_hash__",
        eq=True,
        order=True,
        unsafe_hash=True,
    )
    assert node([1, 2], 3) == node([1, 2], 4) != node([1, 3], 3)
    assert hash(node([1, 2], 3)) == hash(node([1, 2], 4)) != hash(node([1, 3], 3))
    assert node([1, 2], 9) < node([1, 3], 0) <= node([1, 3], 5)
    assert isoform.recursive_eq([node(1, 2)], [node(1, 3)])
    assert isoform.recursive_hash([node(1, 2)]) == isoform.recursive_hash([node(1, 3)])
    assert isoform.recursive_lt(node(1, 2), node(2, 0))
    assert len({node(n % 3, n) for n in range(9)}) == 3


def test_order_decides_equality_without_a_hook_for_it():
    node = by_x("hooks.py.OrderOnly", "__ffi_compare__", eq=True, unsafe_hash=True)
    assert node(1, 2) == node(1, 3) != node(2, 3)
    with pytest.raises(TypeError, match="has __ffi_compare__ but no __ffi_hash__"):
        hash(node(1, 2))


def test_equality_without_hash_is_unhashable():
    node = by_x("hooks.py.EqOnly", "__ffi_eq__", eq=True, unsafe_hash=True)
    assert node(1, 2) == node(1, 3)
    with pytest.raises(TypeError, match=r"hooks\.py\.EqOnly has __ffi_eq__ but no __ffi_hash__"):
        hash(node(1, 2))


def test_wrong_answers_of_comparisons():
    node = declare(
        "hooks.py.WrongEq",
        __ffi_eq__=lambda self, other, cmp: 5,
        __ffi_hash__=lambda self, fn: "s",
        __ffi_compare__=lambda self, other, cmp: None,
    )
    with pytest.raises(TypeError, match=r"hooks\.py\.WrongEq\.__ffi_eq__: expected a bool"):
        isoform.recursive_eq(node(1), node(1))
    with pytest.raises(TypeError, match=r"hooks\.py\.WrongEq\.__ffi_hash__: expected an int"):
        isoform.recursive_hash(node(1))
    with pytest.raises(TypeError, match=r"hooks\.py\.WrongEq\.__ffi_compare__: expected an int"):
        isoform.recursive_lt(node(1), node(1))


def test_hashes_may_be_any_int():
    node = declare("hooks.py.BigHash", __ffi_hash__=lambda self, fn: (1 << 70) - self.x)
    assert isoform.recursive_hash(node(1)) == isoform.recursive_hash(node(1))
    assert isoform.recursive_hash(node(1)) != isoform.recursive_hash(node(2))


# ---- copies ----------------------------------------------------------------


def test_copies_go_through_the_hook():
    calls = []

    def shallow(self: Any) -> Any:
        calls.append(self)
        return type(self)(self.x, "copied")

    node = declare("hooks.py.Copied", __ffi_shallow_copy__=shallow)
    original = node(1, 2)
    made = copy.copy(original)
    assert (made.x, made.y) == (1, "copied")
    assert made is not original
    changed = replace(original, x=5)
    assert (changed.x, changed.y) == (5, "copied")
    assert len(calls) == 2
    # Everything below is copied without it.
    deep = copy.deepcopy(original)
    assert (deep.x, deep.y) == (1, 2)


def test_a_copy_is_of_the_same_type():
    node = declare("hooks.py.CopiedBadly", __ffi_shallow_copy__=lambda self: 5)
    with pytest.raises(
        TypeError,
        match=r"hooks\.py\.CopiedBadly\.__ffi_shallow_copy__: expected an object of type",
    ):
        copy.copy(node(1))


# ---- conversion ------------------------------------------------------------


@py_class("hooks.py.Id")
class Id(Object):
    n: int

    @staticmethod
    def __ffi_convert__(value: Any) -> Any:
        if value == "key":
            raise KeyError("not a refusal")
        return value if value == "as it is" else Id(value)


@py_class("hooks.py.Holder")
class Holder(Object):
    id: Id
    ids: Array[Id] = ()  # type: ignore[assignment]
    maybe: Id | None = None


def test_fields_convert_what_they_get():
    holder = Holder(1, [2, Id(3)])
    assert holder.id.n == 1
    assert [i.n for i in holder.ids] == [2, 3]
    holder.id = 7
    assert holder.id.n == 7
    kept = Id(9)
    holder.id = kept
    assert holder.id is kept
    assert Holder(1, maybe=4).maybe.n == 4
    assert Holder(1, maybe=None).maybe is None
    assert replace(holder, id=8).id.n == 8


def test_refused_conversions_name_the_field():
    with pytest.raises(TypeError, match=r"(?s)'id'.*expected hooks\.py\.Id, got str.*'n'"):
        Holder("s")
    with pytest.raises(TypeError, match=r"(?s)'id'.*__ffi_convert__: the result is str"):
        Holder("as it is")
    with pytest.raises(TypeError, match=r"(?s)'ids'.*element \[1\].*__ffi_convert__"):
        Holder(1, [1, 1.5])
    with pytest.raises(TypeError, match=r"(?s)'maybe'.*__ffi_convert__"):
        Holder(1, maybe=1.5)
    # Exceptions of other types reach the caller unchanged.
    with pytest.raises(KeyError, match="not a refusal"):
        Holder("key")
    with pytest.raises(KeyError, match="not a refusal"):
        Holder(1, ["key"])


def test_a_class_method_converts_too_and_endless_conversion_ends():
    @py_class("hooks.py.Selfish")
    class Selfish(Object):
        x: Selfish

        @classmethod
        def __ffi_convert__(cls, value: Any) -> Any:
            return cls(value)

    with pytest.raises(RecursionError):
        Selfish(1)


def test_what_fits_a_union_is_not_converted():
    other = declare("hooks.py.Other")

    @py_class("hooks.py.Either")
    class Either(Object):
        value: Id | int | other | None

    assert Either(5).value == 5
    kept = other(1)
    assert Either(kept).value is kept
    assert Either(None).value is None
    assert Either(True).value == 1


def test_conversion_may_be_set_later():
    node = declare("hooks.py.Late")

    @py_class("hooks.py.LateHolder")
    class LateHolder(Object):
        node: node

    with pytest.raises(TypeError):
        LateHolder(1)
    type_attrs.set(node, "__ffi_convert__", lambda value: node(value))
    assert LateHolder(1).node.x == 1


# ---- hooks as functions ----------------------------------------------------


def test_hooks_are_functions_of_both_languages():
    node = declare("hooks.py.Shown", __ffi_repr__=bracketed)
    assert type_attrs.get(node, "__ffi_repr__") is bracketed
    assert node.__ffi_repr__(node(1), str) == "<1>"
    for name in (
        "__ffi_repr__",
        "__ffi_eq__",
        "__ffi_hash__",
        "__ffi_compare__",
        "__any_hash__",
        "__any_equal__",
        "__ffi_shallow_copy__",
        "__ffi_convert__",
        "__s_visit__",
        "__s_mutate__",
    ):
        info = type_attrs.info(name)
        assert info.doc


NATIVE = """
import copy
import isoform
from isoform import Map, structural_walk, type_attrs
from isoform.testing import rust_family

family = rust_family()
Const, Add = family.Const, family.Add

# What Rust does, Python can call.
same = type_attrs.get(family.Comm, "__s_equal__")
asked = []
def eq(left, right, region=0, name=None):
    asked.append(name)
    return isoform.structural_equal(left, right)
left, right = (family.Comm(Const(1), Const(2)), family.Comm(Const(2), Const(1)))
assert same(left, right, eq) is True
assert asked

# What Python says counts for types of Rust.
type_attrs.set(Const, "__ffi_repr__", lambda self, part: f"#{part(self.value)}")
assert repr(Const(1)) == "#1", repr(Const(1))
type_attrs.set(Const, "__any_hash__", lambda self: self.value)
type_attrs.set(Const, "__any_equal__", lambda self, other: self.value == other.value)
assert Map({Const(1): "one"})[Const(1)] == "one"
type_attrs.set(Const, "__ffi_convert__", lambda value: Const(value))
type_attrs.set(Const, "__ffi_eq__", lambda self, other, cmp: True)
type_attrs.set(Const, "__ffi_hash__", lambda self, part: 1)
assert isoform.recursive_eq(Const(1), Const(2))
type_attrs.set(Const, "__ffi_shallow_copy__", lambda self: Const(7))
assert copy.copy(Const(1)).value == 7
type_attrs.set(Add, "__s_visit__", lambda self, visitor: visitor.visit(self.lhs))
seen = []
structural_walk(Add(Const(1), Const(2)), (int, seen.append))
assert seen == [1], seen
"""


def test_types_of_rust_take_hooks_from_python():
    # In a process of its own, since hooks cannot be taken back.
    output_of(NATIVE)
