"""One family of node types in two declarations, and a builder for both.

`isoform.testing.rust_family()` gives the types that Rust declares
(`isoform::testing::family`); `python_family()` declares the same fields with
`py_class`. Both are namespaces of classes, and every structural case runs on
both.
"""

import functools
from types import SimpleNamespace
from typing import Any

import isoform
from isoform import Object
from isoform.dataclasses import field, py_class

NAMES = (
    "Expr",
    "Var",
    "TypedVar",
    "Const",
    "Add",
    "Storages",
    "Frozen",
    "Shared",
    "Op",
    "Hidden",
    "Lambda",
    "LateLambda",
    "Function",
    "Let",
    "SharedLambda",
    "Comm",
    "Binder",
)


@functools.cache
def python_family() -> SimpleNamespace:
    """The family declared with `py_class`.

    Where Rust's `Lambda` declares its parameters last, so does this one: the
    definitions of a scope are visited first wherever they are declared.
    """

    @py_class("family.Expr")
    class Expr(Object):
        span: Any = field(structural_eq="ignore")

    @py_class("family.Var", structural_eq="var")
    class Var(Expr):
        name: str = field(structural_eq="ignore")
        ty: Any

    @py_class("family.TypedVar", structural_eq="var")
    class TypedVar(Var):
        rank: int

    @py_class("family.Const")
    class Const(Object):
        value: Any

    @py_class("family.Add")
    class Add(Expr):
        lhs: Any
        rhs: Any

    order = ("text", "object", "any", "dtype", "nullable", "float", "int", "flag")

    @py_class("family.Storages", visit_order=order)
    class Storages(Object):
        any: Any
        object: Expr
        nullable: Expr | None
        int: int
        float: float
        flag: bool
        text: str
        dtype: isoform.dtype

    @py_class("family.Frozen", structural_eq="const-tree", frozen=True)
    class Frozen(Object):
        a: Any
        b: Any

    @py_class("family.Shared", structural_eq="dag")
    class Shared(Expr):
        lhs: Any
        rhs: Any

    @py_class("family.Op", structural_eq="singleton")
    class Op(Object):
        name: str

    @py_class("family.Hidden", structural_eq=None)
    class Hidden(Object):
        value: Any

    @py_class("family.Lambda", scope=True)
    class Lambda(Expr):
        body: Any
        params: Any = field(structural_eq="def")

    @py_class("family.LateLambda", scope=True, defs_first=False)
    class LateLambda(Object):
        body: Any
        params: Any = field(structural_eq="def")

    @py_class("family.Function")
    class Function(Object):
        params: Any = field(structural_eq="def")
        body: Any

    @py_class("family.Let")
    class Let(Object):
        value: Any
        target: Any = field(structural_eq="def-simple")

    @py_class("family.SharedLambda", structural_eq="dag", scope=True)
    class SharedLambda(Object):
        params: Any = field(structural_eq="def")
        body: Any

    @py_class("family.Comm")
    class Comm(Object):
        lhs: Any
        rhs: Any

        def __s_equal__(self, other, eq):
            straight = eq(self.lhs, other.lhs, 0, "lhs") and eq(self.rhs, other.rhs, 0, "rhs")
            return straight or (
                eq(self.lhs, other.rhs, 0, "lhs") and eq(self.rhs, other.lhs, 0, "rhs")
            )

        def __s_hash__(self, init, hash_cb):
            return (hash_cb(self.lhs, init, 0) + hash_cb(self.rhs, init, 0)) % 2**64

    @py_class("family.Binder", scope=True)
    class Binder(Object):
        params: Any = field(structural_eq="def")
        body: Any

        def __s_equal__(self, other, eq):
            return eq(self.params, other.params, True, "params") and eq(
                self.body, other.body, False, "body"
            )

        def __s_hash__(self, init, hash_cb):
            return hash_cb(self.body, hash_cb(self.params, init, True), False)

    found = locals()
    return SimpleNamespace(**{name: found[name] for name in NAMES})


class Build:
    """Makes nodes of one family, with a short name for each."""

    def __init__(self, family: Any) -> None:
        self.family = family

    @staticmethod
    def of(language: str) -> "Build":
        """The builder for `"python"` or `"rust"`."""
        if language == "python":
            return Build(python_family())
        import isoform.testing

        return Build(isoform.testing.rust_family())

    def var(self, ty: Any = None, name: str = "x") -> Any:
        return self.family.Var(span=None, name=name, ty=ty)

    def vars(self, count: int) -> list[Any]:
        return [self.var(name=name) for name in "xyabcdefgh"[:count]]

    def ranked(self, ty: Any, rank: int) -> Any:
        return self.family.TypedVar(span=None, name="x", ty=ty, rank=rank)

    def const(self, value: Any) -> Any:
        return self.family.Const(value=value)

    def add(self, lhs: Any, rhs: Any, span: Any = None) -> Any:
        return self.family.Add(span=span, lhs=lhs, rhs=rhs)

    def shared(self, lhs: Any = 1, rhs: Any = 2) -> Any:
        return self.family.Shared(span=None, lhs=lhs, rhs=rhs)

    def frozen(self, a: Any, b: Any) -> Any:
        return self.family.Frozen(a=a, b=b)

    def op(self, name: str = "add") -> Any:
        return self.family.Op(name=name)

    def hidden(self) -> Any:
        return self.family.Hidden(value=1)

    def comm(self, lhs: Any, rhs: Any) -> Any:
        return self.family.Comm(lhs=lhs, rhs=rhs)

    def let(self, target: Any, value: Any) -> Any:
        return self.family.Let(value=value, target=target)

    def bind(self, role: str, params: Any, body: Any) -> Any:
        """A node of any binding type: `bind("Lambda", [x], x)`."""
        extra = {"span": None} if role == "Lambda" else {}
        return getattr(self.family, role)(params=params, body=body, **extra)

    def fun(self, params: Any, body: Any) -> Any:
        """A binder that is a scope."""
        return self.bind("Lambda", params, body)

    def lam(self, params: Any, body: Any) -> Any:
        """A binder that is not a scope."""
        return self.bind("Function", params, body)
