"""The types of native functions whose results depend on their arguments.

`make_stubs.py` reads these tables. A checker then knows that the copy of an `Add` is an `Add`,
and that a callback for `Add` receives an `Add`.
"""

from __future__ import annotations

# The bases of classes for which introspection shows something different from the source.
BASES = {
    "Difference": "Generic[_R]",
    "Match": "Generic[_R]",
    "Merge": "Generic[_R]",
    "Object": "metaclass=ObjectMeta",
    "ObjectMeta": "ABCMeta",
    "Pattern": "Generic[_R]",
    "Rewritten": "Generic[_R]",
    "Uses": "Generic[_R]",
}

# Variables and aliases of the stub. `_R` has a default, so that `Pattern` alone is a type, too.
DEFINITIONS = """\
_T = TypeVar("_T")
_S = TypeVar("_S")
_K = TypeVar("_K")
_V = TypeVar("_V")
_N = TypeVar("_N")
_R = TypeVar("_R", default=Any)
_Callbacks: TypeAlias = Callable[[Any], Any] | Sequence[tuple[Any, Callable[[Any], Any]]] | None
_CallbacksOfTwo: TypeAlias = (
    Callable[..., Any] | tuple[Any, Callable[..., Any]] | Sequence[tuple[Any, Callable[..., Any]]]
)
"""

# Functions and methods whose results have the types of their arguments: the parameters and
# the result of each overload, in place of those from above.
_SAME = [
    ("root: list[_T] | tuple[_T, ...], {}", "Array[_T]"),
    ("root: dict[_K, _V], {}", "Map[_K, _V]"),
    ("root: _T, {}", "_T"),
]
# A single pair of a class and a function has a function of objects of the class.
_CALLBACKS = [
    "callbacks: tuple[type[_N], Callable[[_N], Any]], {}",
    "callbacks: _Callbacks = ..., {}",
]
_OF_WALK = "with_def_region_kind: _CallbacksOfTwo | None = ..., order: int | str | None = ..."
_TWO_CALLBACKS = "callbacks: _CallbacksOfTwo = ..., *, regions_apart: bool = ..."
_PAIR_OF_TWO = "callbacks: tuple[type[_N], Callable[[_N, {}], Any]], *, regions_apart: bool = ..."
_LAWS = (
    "map_free_vars: bool = ..., skip_tensor_content: bool = ..., *, enable_auto_mapping: bool = ..."
)


def _same(rest: str, name: str = "root") -> list[tuple[str, str]]:
    """The overloads of a function that returns its first argument, rewritten."""
    return [
        (parameters.format(rest).replace("root", name).removesuffix(", "), result)
        for parameters, result in _SAME
    ]


OVERLOADS: dict[str, list[tuple[str, str]]] = {
    "assert_structural_equal": [(f"lhs: Any, rhs: Any, {_LAWS}", "None")],
    "deep_copy": _same("", "value"),
    "explain_structural_mismatch": [(f"lhs: Any, rhs: Any, {_LAWS}", "StructuralMismatch | None")],
    "fresh_binders": _same(""),
    "get_first_structural_mismatch": [
        (f"lhs: Any, rhs: Any, {_LAWS}", "tuple[AccessPath, AccessPath] | None")
    ],
    "intern": _same("", "value"),
    "replace_all_uses": [("root: _T, old: Any, new: Any", "_T")],
    "rewrite": [
        ("root: _T, rules: Rule | Sequence[Rule], *, max_steps: int = ...", "Rewritten[_T]")
    ],
    "rewrite_greedily": [
        (
            "root: _T, rules: Rule | Sequence[Rule], *, max_steps: int = ..., "
            "drop_dead: bool = ...",
            "Rewritten[_T]",
        )
    ],
    "shallow_copy": [("value: _T", "_T")],
    "structural_digest": [(f"value: Any, {_LAWS}", "bytes")],
    "structural_equal": [(f"lhs: Any, rhs: Any, {_LAWS}", "bool")],
    "structural_hash": [(f"value: Any, {_LAWS}", "int")],
    "structural_key": [("value: Any", "Any")],
    "structural_map": [
        *_same(_CALLBACKS[1].format(_OF_WALK))[:2],
        ("root: _T, " + _CALLBACKS[0].format(_OF_WALK), "_T"),
        ("root: _T, " + _CALLBACKS[1].format(_OF_WALK), "_T"),
    ],
    "structural_mutate": [
        ("root: _T, " + _PAIR_OF_TWO.format("StructuralMutator"), "_T"),
        ("root: _T, " + _TWO_CALLBACKS, "_T"),
    ],
    "structural_visit": [
        ("root: Any, " + _PAIR_OF_TWO.format("StructuralVisitor"), "VisitInterrupt | None"),
        ("root: Any, " + _TWO_CALLBACKS, "VisitInterrupt | None"),
    ],
    "structural_walk": [
        ("root: Any, " + part.format(_OF_WALK), "VisitInterrupt | None") for part in _CALLBACKS
    ],
    "substitute": _same("replacements: Mapping[Any, Any]"),
    "verify": [("root: Any", "list[tuple[AccessPath, Exception]]")],
    "IncrementalHasher.digest": [("self, value: Any", "bytes")],
    "IncrementalHasher.hash": [("self, value: Any", "int")],
    "IncrementalHasher.clear": [("self", "None")],
    "Difference.apply": [("self, value: _R", "_R")],
    "Merge.merged": [("self", "_R")],
    "Merge.resolve": [("self, choice: Any", "_R")],
    "Match.get": [("self, var: Any, default: Any = ...", "Any")],
    "Match.holes": [("self", "list[tuple[Any, Any]]")],
    "Match.instantiate": [("self, template: _S", "_S | None")],
    "Match.path": [("self", "AccessPath | None")],
    "Match.value": [("self", "_R")],
    "Match.vars": [("self", "list[tuple[Any, Any]]")],
    "Pattern.any_of": [("*patterns: Pattern[_S]", "Pattern[_S]")],
    "Pattern.enable_auto_mapping": [("self", "bool")],
    "Pattern.explain": [("self, value: Any", "StructuralMismatch | None")],
    "Pattern.find_all": [("self, root: Any", "list[Match[_R]]")],
    "Pattern.match": [("self, value: Any, uses: Uses[Any] | None = ...", "Match[_R] | None")],
    "Pattern.optional": [("self, wrap: Callable[[Any], Any]", "Pattern[Any]")],
    "Pattern.template": [("self", "_R")],
    "Rewritten.applied": [("self", "tuple[int, ...]")],
    "Rewritten.value": [("self", "_R")],
    "StructuralMismatch.left_exists": [("self", "bool")],
    "StructuralMismatch.left_path": [("self", "AccessPath")],
    "StructuralMismatch.reason": [("self", "str")],
    "StructuralMismatch.right_exists": [("self", "bool")],
    "StructuralMismatch.right_path": [("self", "AccessPath")],
    "StructuralMutator.default_mutate": [("self, value: _T", "_T")],
    "StructuralMutator.mutate": [("self, value: _T", "_T")],
    "Uses.has_one_use": [("self, of: Any", "bool")],
    "Uses.replace_all": [("self, old: Any, new: Any", "_R")],
    "Uses.root": [("self", "_R")],
    "Uses.use_count": [("self, of: Any", "int")],
    "Uses.users": [("self, of: Any", "list[User]")],
    "Object.same_as": [("self, other: Any, /", "bool")],
    "Object.__copy__": [("self", "Self")],
    "Object.__deepcopy__": [("self, memo: Any = ...", "Self")],
}
