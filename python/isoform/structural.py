"""Comparison, hashing, walks and rewrites of values by their structure.

Two values are *structurally equal* if they are the same up to renaming of bound
variables; the declaration of a class defines the meaning for its objects
(`structural_eq`, `scope`).

    >>> from isoform import structural_equal, structural_hash
    >>> structural_equal([1, {"k": 2}], (1, {"k": 2}))
    True
    >>> structural_hash([1, 2]) == structural_hash((1, 2))
    True
    >>> from isoform import explain_structural_mismatch, get_first_structural_mismatch
    >>> get_first_structural_mismatch([1, 2], [1, 3])
    (<root>[1], <root>[1])
    >>> explain_structural_mismatch([1], [1, 2]).reason
    'the right has an element that the left has not'
    >>> from isoform import structural_digest
    >>> structural_digest([]).hex()[:8] == structural_digest(()).hex()[:8]
    True

Equal subterms are found in one walk:

    >>> from isoform import Array, subterm_classes
    >>> one, other = Array([1, 2]), Array([1, 2])
    >>> classes = subterm_classes([one, other, 3])
    >>> classes.class_of(one) == classes.class_of(other), len(classes)
    (True, 2)

Walks and rewrites call functions of the user for the values of their types:

    >>> from isoform import structural_map, structural_walk
    >>> numbers = []
    >>> structural_walk([1, "a", [2]], (int, numbers.append))
    >>> numbers
    [1, 2]
    >>> list(structural_map([1, "a", 3], (int, lambda v: v * 10)))
    [10, 'a', 30]
"""

from __future__ import annotations

import functools
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from isoform import _core
from isoform._core import (
    Duplicate,
    IncrementalHasher,
    Object,
    RepeatedBlock,
    StructuralMismatch,
    StructuralMutator,
    StructuralVisitor,
    SubtermClasses,
    VisitInterrupt,
    assert_structural_equal,
    declaration_digest,
    duplicates,
    explain_structural_mismatch,
    free_variables,
    fresh_binders,
    get_first_structural_mismatch,
    intern,
    last_visit_count,
    repeated_blocks,
    structural_digest,
    structural_equal,
    structural_hash,
    structural_map,
    structural_visit,
    structural_walk,
    substitute,
    subterm_classes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # With a default: `StructuralKey` alone is the key of any value.
    from typing_extensions import TypeVar as _TypeVar

    from isoform._core import AccessPath

    _K = _TypeVar("_K", default=Any)
else:
    _K = TypeVar("_K")

_T = TypeVar("_T")
_N = TypeVar("_N")

__all__ = [
    "DefRegionKind",
    "Duplicate",
    "IncrementalHasher",
    "InplaceMode",
    "RepeatedBlock",
    "StructuralKey",
    "StructuralMismatch",
    "StructuralMutator",
    "StructuralVisitor",
    "SubtermClasses",
    "VisitInterrupt",
    "WalkOrder",
    "WalkResult",
    "assert_structural_equal",
    "check_well_formed",
    "declaration_digest",
    "duplicates",
    "explain_structural_mismatch",
    "free_variables",
    "fresh_binders",
    "get_first_structural_mismatch",
    "intern",
    "last_visit_count",
    "repeated_blocks",
    "structural_digest",
    "structural_equal",
    "structural_hash",
    "structural_map",
    "structural_mutate",
    "structural_visit",
    "structural_walk",
    "substitute",
    "subterm_classes",
    "verify",
]


class WalkOrder(IntEnum):
    """When a callback sees a value: before or after the parts below."""

    PREORDER = 0
    POSTORDER = 1


class WalkResult(IntEnum):
    """The return values of a callback of `structural_walk`.

    `ADVANCE` continues, like None; `SKIP` leaves out the parts below the value, in
    pre-order. A `VisitInterrupt` ends the walk.
    """

    ADVANCE = 0
    SKIP = 1


class InplaceMode(IntEnum):
    """Permission for a callback of `structural_mutate` to change its value in place.

    Values are never changed in place from Python, so the mode is always
    `DISALLOW`.
    """

    DISALLOW = 0
    ALLOW = 1


class DefRegionKind(IntEnum):
    """The role of variables at a place: bound or used.

    `NONE`: it is used. `DEF_PATTERN`: it is bound, however deep in the definition.
    `DEF_SIMPLE`: the variable itself is bound, its own fields are uses.
    """

    NONE = 0
    DEF_PATTERN = 1
    DEF_SIMPLE = 2


class StructuralKey(Object, Generic[_K]):
    """A value as a key of dicts and maps, found by structure.

    The key represents the value at the time of creation: a later change neither loses
    the key nor makes it equal to a different value. No data is copied before a change,
    and keys of all parts of a program cost little more than one hash of the program.

    Args:
        key: the value.

    Raises:
        TypeError: the value cannot be hashed by structure.
        ValueError: the value contains itself.

    Example:
        >>> from isoform import StructuralKey
        >>> table = {StructuralKey([1, 2]): "found"}
        >>> table[StructuralKey((1, 2))]
        'found'
    """

    def __new__(cls, key: _K) -> StructuralKey[_K]:
        """Hashes the value once; O(its size), less the parts hashed for earlier keys."""
        del cls
        return _core.structural_key(key)

    @property
    def key(self) -> _K:
        """The original value of the key."""
        return _core.structural_key_value(self)

    def __hash__(self) -> int:
        """The structural hash, computed when the key was made."""
        return _core.structural_key_hash(self)

    def __eq__(self, other: object) -> bool:
        """Returns whether the other is a key of a structurally equal value."""
        return _core.structural_key_equal(self, other)

    def __reduce__(self) -> Any:
        """Pickles have the value; the hash is another one in each process."""
        return StructuralKey, (self.key,)

    def __repr__(self) -> str:
        """The value in a call of the class."""
        return f"StructuralKey({self.key!r})"


_core.bind_class(StructuralKey, "isoform.StructuralKey")
_core._set_walk_enums(WalkResult, DefRegionKind)


@overload
def structural_mutate(
    root: _T,
    callbacks: tuple[type[_N], Callable[[_N, StructuralMutator], Any]],
    *,
    regions_apart: bool = True,
) -> _T: ...
@overload
def structural_mutate(
    root: _T,
    callbacks: Callable[..., Any] | tuple[Any, ...] | Sequence[Any] = (),
    *,
    regions_apart: bool = True,
) -> _T: ...
def structural_mutate(
    root: Any,
    callbacks: Callable[..., Any] | tuple[Any, ...] | Sequence[Any] = (),
    *,
    regions_apart: bool = True,
) -> Any:
    """Rewrites a value with callbacks that control the rewriting of their children.

    No object is changed in place, and an unchanged value is returned as the same
    object. An object on several paths is rewritten once in each kind of region.

    Args:
        root: the value.
        callbacks: as for `structural_walk`, but every function receives the value and
            a `StructuralMutator` (and an `InplaceMode`, if the function takes a third
            argument). Its return value replaces the value and is not visited again.
            `mutator.mutate(child)` rewrites a child, and
            `mutator.default_mutate(value)` all children of a value. Values without a
            callback are rewritten through their children.
        regions_apart: rewrite a value again in a region that binds variables of the
            value, instead of reusing the result of the first occurrence.

    Raises:
        TypeError: a return value does not fit the field, or is None for another value.
        ValueError: a value contains itself.
        RecursionError: callbacks nest too deeply.

    Example:
        >>> def swap(pair, mutator):
        ...     return [mutator.mutate(item) for item in reversed(pair)]
        >>> from isoform import Array, structural_mutate
        >>> list(structural_mutate(Array([1, 2]), [(Array, swap), (int, lambda v, m: v + 1)]))
        [3, 2]
    """
    return _core.structural_mutate(root, _with_modes(callbacks), regions_apart=regions_apart)


def check_well_formed(root: Any, *, raise_on_error: bool = True) -> list[tuple[AccessPath, str]]:
    """Checks that variables are bound once, and used in the scopes that bind them only.

    A fault is a variable that several objects bind, a use after the end of the scope that
    binds it, or a use before. Variables that nothing in the value binds are free, and no
    fault; `free_variables` returns them. An object on several paths binds its variables
    once. Variables in the fields of a bound variable, such as a size in its type, are not
    checked.

    Comparison, hashes and the other functions cope with all faults, but passes that keep
    facts by variable do not. `fresh_binders` repairs variables that are bound twice in
    different scopes.

    Args:
        root: the value.
        raise_on_error: raise the faults instead of returning them.

    Returns:
        All faults, as pairs of a path and a message.

    Raises:
        ValueError: there are faults, and `raise_on_error` is true; the text lists all
            faults. Or the value contains itself.

    Linear in the number of distinct objects as long as each variable is bound once, and in
    the depth of each fault.

    Example:
        >>> from isoform import check_well_formed, fresh_binders, relay
        >>> x = relay.var("x")
        >>> twice = [relay.Function([x], x), relay.Function([x], x)]
        >>> [str(path) for path, _ in check_well_formed(twice, raise_on_error=False)]
        ['<root>[1].params[0]']
        >>> check_well_formed(fresh_binders(twice))
        []
    """
    faults = _core.binding_faults(root)
    if faults and raise_on_error:
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        lines = [message for _, message in faults]
        raise ValueError("\n  ".join([f"the bindings have {count}:", *lines]))
    return faults


def verify(root: Any, *, raise_on_error: bool = True) -> list[tuple[AccessPath, Exception]]:
    """Runs the `__verify__` methods of all nodes of a value.

    A class states the requirements on its objects in a method `__verify__(self)`, which
    raises an exception for an invalid object. Methods of parents run too. Each node is
    verified once, regardless of the number of paths. Verification never happens
    implicitly.

    Args:
        root: the value.
        raise_on_error: raise failures instead of returning them.

    Returns:
        All failures, as pairs of a path and the exception.

    Raises:
        ValueError: there are failures, and `raise_on_error` is true; the text lists all
            failures.

    Example:
        >>> from isoform import verify
        >>> from isoform.dataclasses import Object, py_class
        >>> @py_class("doc.verify.Positive")
        ... class Positive(Object):
        ...     n: int
        ...
        ...     def __verify__(self):
        ...         if self.n <= 0:
        ...             raise ValueError(f"{self.n} is not positive")
        >>> verify([Positive(1), Positive(-1)], raise_on_error=False)
        [(<root>[1], ValueError('-1 is not positive'))]
    """
    failures = _core.verify(root)
    if failures and raise_on_error:
        lines = [f"{path}: {type(error).__name__}: {error}" for path, error in failures]
        count = "1 failure" if len(lines) == 1 else f"{len(lines)} failures"
        raise ValueError("\n  ".join([f"verification found {count}:", *lines]))
    return failures


def _with_modes(callbacks: Any) -> Any:
    if callable(callbacks):
        return _with_mode(callbacks)
    if isinstance(callbacks, tuple) and len(callbacks) == 2 and callable(callbacks[1]):
        return (callbacks[0], _with_mode(callbacks[1]))
    if isinstance(callbacks, list | tuple):
        return [
            (pair[0], _with_mode(pair[1]))
            if isinstance(pair, tuple) and len(pair) == 2 and callable(pair[1])
            else pair
            for pair in callbacks
        ]
    return callbacks


def _with_mode(callback: Callable[..., Any]) -> Callable[..., Any]:
    """The callback converted to a function of two arguments."""
    # Takes long to import, and few programs come here.
    import inspect

    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):
        # Callables in C may have no signature; they get two arguments.
        return callback
    for count in (3, 2):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        if count == 2:
            return callback
        return functools.wraps(callback)(
            lambda value, mutator: callback(value, mutator, int(InplaceMode.DISALLOW))
        )
    raise TypeError(
        "structural_mutate: a callback takes (value, mutator) or (value, mutator, inplace_mode)"
    )
