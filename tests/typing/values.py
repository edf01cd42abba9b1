"""The result of a function over values has the type of its argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import assert_type

from isoform import (
    Array,
    Dict,
    IncrementalHasher,
    Map,
    Object,
    StructuralKey,
    StructuralMutator,
    StructuralVisitor,
    VisitInterrupt,
    deep_copy,
    explain_structural_mismatch,
    get_first_structural_mismatch,
    intern,
    structural_digest,
    structural_equal,
    structural_hash,
    structural_map,
    structural_mutate,
    structural_visit,
    structural_walk,
    substitute,
)
from isoform.access_path import AccessPath
from isoform.dataclasses import field, fields, py_class, replace
from isoform.structural import StructuralMismatch
from isoform.uses import Uses, replace_all_uses


@py_class("typing_values.Var", structural_eq="var")
class Var(Object):
    """A variable."""

    name: str = field(structural_eq="ignore")


@py_class("typing_values.Sum")
class Sum(Object):
    """A sum; `Sequence` fields take lists, and hold arrays."""

    terms: Sequence[Var | int]
    notes: Any = None


x, y = Var("x"), Var("y")
total = Sum([x, 1, 2])

assert_type(substitute(total, {x: y}), Sum)
assert_type(intern(total), Sum)
assert_type(deep_copy(total), Sum)
assert_type(replace(total, terms=[y]), Sum)
assert_type(replace_all_uses(total, x, y), Sum)
assert_type(Uses(total).root, Sum)
assert_type(Uses(total).replace_all(x, y), Sum)
assert_type(deep_copy([x, y]), Array[Var])
assert_type(substitute({"x": x}, {x: y}), Map[str, Var])

# Callbacks receive objects of their class.
assert_type(structural_map(total, (int, lambda number: number + 1)), Sum)
assert_type(structural_map(total, (Var, lambda var: Var(var.name + "_"))), Sum)
assert_type(structural_map(total, [(Var, lambda var: var), (int, lambda number: number)]), Sum)
if TYPE_CHECKING:
    structural_map(total, (Var, lambda var: var.nme))  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownLambdaType]
seen: list[Var] = []
assert_type(structural_walk(total, (Var, seen.append)), VisitInterrupt | None)


def renamed(var: Var, mutator: StructuralMutator) -> Var:
    """Takes a value and the mutator."""
    assert_type(mutator.mutate(var.name), str)
    return Var(var.name + "_")


def count(var: Var, visitor: StructuralVisitor) -> None:
    """Takes a value and the visitor."""
    visitor.default_visit(var)


assert_type(structural_mutate(total, (Var, renamed)), Sum)
assert_type(structural_visit(total, (Var, count)), VisitInterrupt | None)

assert_type(structural_equal(x, y), bool)
assert_type(structural_hash(x, map_free_vars=True), int)
assert_type(structural_digest(total, map_free_vars=True), bytes)
assert_type(explain_structural_mismatch(x, y), StructuralMismatch | None)
assert_type(get_first_structural_mismatch(x, y), tuple[AccessPath, AccessPath] | None)

key = StructuralKey(total)
assert_type(key, StructuralKey[Sum])
assert_type(key.key, Sum)
table: dict[StructuralKey[Sum], int] = {key: 1}
hasher = IncrementalHasher(map_free_vars=True)
assert_type(hasher.digest(total), bytes)
assert_type(hasher.hash(total), int)

names = Map({"x": x})
assert_type(names.get("x"), Var | None)
assert_type(names.get("z", 0), Var | int)
assert_type(names["x"], Var)
assert_type(Dict({"x": x}).pop("x"), Var)
assert_type(Array([1, 2])[0], int)
assert_type(Array([1, 2])[:1], list[int])

assert_type([known.name for known in fields(Sum)], list[str])
if TYPE_CHECKING:
    Var(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
