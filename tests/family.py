"""One family of node types in two declarations.

`isoform.testing.rust_family()` gives the types that Rust declares
(`isoform_testing::family`); `python_family()` declares their twins with
`py_class`, from what is registered. Both are namespaces of classes, and every
structural case runs on both.
"""

import functools
from types import SimpleNamespace
from typing import Any

import isoform
import isoform.testing
from isoform import Object
from isoform.dataclasses import field, py_class

# Properties of Python classes that a registration does not show: the order of visit,
# and frozen const-trees.
OPTIONS: dict[str, dict[str, Any]] = {
    "Storages": {
        "visit_order": ("text", "object", "any", "dtype", "nullable", "float", "int", "flag")
    },
    "Frozen": {"frozen": True},
    "LateLambda": {"defs_first": False},
}


class CommHooks:
    """The operands may come in either order."""

    def __s_equal__(self: Any, other: Any, eq: Any) -> bool:
        straight = eq(self.lhs, other.lhs, 0, "lhs") and eq(self.rhs, other.rhs, 0, "rhs")
        return straight or (eq(self.lhs, other.rhs, 0, "lhs") and eq(self.rhs, other.lhs, 0, "rhs"))

    def __s_hash__(self: Any, init: int, hash_cb: Any) -> int:
        return (hash_cb(self.lhs, init, 0) + hash_cb(self.rhs, init, 0)) % 2**64


class BinderHooks:
    """The parameters are defined in code."""

    def __s_equal__(self: Any, other: Any, eq: Any) -> bool:
        return eq(self.params, other.params, True, "params") and eq(
            self.body, other.body, False, "body"
        )

    def __s_hash__(self: Any, init: int, hash_cb: Any) -> int:
        return hash_cb(self.body, hash_cb(self.params, init, True), False)


class WrapHooks:
    """Nothing but the part is compared."""

    def __s_equal__(self: Any, other: Any, eq: Any) -> bool:
        return eq(self.part, other.part, 0, "part")

    def __s_hash__(self: Any, init: int, hash_cb: Any) -> int:
        return hash_cb(self.part, init, 0)


class DefineHooks:
    """The target is defined in code, and a number is mixed into the hash."""

    def __s_equal__(self: Any, other: Any, eq: Any) -> bool:
        return self.number == other.number and eq(self.target, other.target, True, "target")

    def __s_hash__(self: Any, init: int, hash_cb: Any) -> int:
        return (hash_cb(self.target, init, True) * 31 + self.number) % 2**64


HOOKS = {"Comm": CommHooks, "Binder": BinderHooks, "Wrap": WrapHooks, "Define": DefineHooks}


@functools.cache
def python_family() -> SimpleNamespace:
    """The family declared with `py_class`."""
    made: dict[str, Any] = {}
    types = {"dtype": isoform.dtype, "Any": Any}

    def twin(name: str, native: Any) -> Any:
        info = native.__isoform_type_info__
        parent = info.parent_type_info
        body: dict[str, Any] = {"__annotations__": {}, "__module__": __name__}
        for own in info.fields:
            annotation = own.annotation.replace("testing.", "")
            body["__annotations__"][own.name] = eval(annotation, {**types, **made})
            body[own.name] = field(structural_eq=own.structural_eq, default=own.default)
        base = made[parent.type_key.removeprefix("testing.")] if parent else Object
        bases = (HOOKS[name], base) if name in HOOKS else (base,)
        options = {"structural_eq": info.kind, "scope": info.scope, **OPTIONS.get(name, {})}
        return py_class(f"family.{name}", **options)(type(Object)(name, bases, body))

    for name, native in vars(isoform.testing.rust_family()).items():
        made[name] = twin(name, native)
    return SimpleNamespace(**made)
