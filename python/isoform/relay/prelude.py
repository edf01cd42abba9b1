"""Common data types and functions over them."""

from __future__ import annotations

from typing import Any

from isoform.ir import _api
from isoform.ir.module import IRModule
from isoform.types.ir import (
    Constructor,
    FuncType,
    GlobalTypeVar,
    GlobalVar,
    TupleType,
    TypeData,
    TypeVar,
)

from .ty import scalar_type

__all__ = ["Prelude"]


def _relay(name: str, *args: Any) -> Any:
    from isoform.types import relay

    return _api.made(getattr(relay, name), *args)


def _case(constructor: Any, variables: list[Any], result: Any) -> Any:
    """The clause for the values of one constructor."""
    patterns = [_relay("PatternVar", var) for var in variables]
    return _relay("Clause", _relay("PatternConstructor", constructor, patterns), result)


class Prelude:
    """Adds common data types, and functions over lists, to a module.

    | name | meaning |
    |---|---|
    | `List[a]` | `cons(head, tail)` or `nil()` |
    | `Option[a]` | `some(value)` or `none()` |
    | `Tree[a]` | `rose(value, children)` |
    | `hd`, `tl` | the head and the tail of a list that is not empty |
    | `map`, `filter`, `zip`, `rev`, `concat`, `foldl`, `foldr` | as everywhere |

    Args:
        mod: The module; None for a new one.

    >>> from isoform import relay
    >>> p = relay.Prelude()
    >>> _, cons, nil = p.mod.get_type("List")
    >>> type(cons(relay.const(1), nil())).__name__, p.get_global_var("map").name_hint
    ('Call', 'map')
    """

    def __init__(self, mod: Any = None) -> None:
        """Add the definitions."""
        self.mod = _api.made(IRModule) if mod is None else mod
        self._define_types()
        self._define_functions()

    def get_type(self, name: str) -> tuple[Any, ...]:
        """Return the name of a data type and its constructors; ValueError without one.

        Args:
            name: The name.
        """
        return self.mod.get_type(name)

    def get_ctor(self, ty_name: str, canonical: str) -> Any:
        """Return a constructor of a data type; ValueError without one.

        Args:
            ty_name: The name of the type.
            canonical: The name of the constructor.
        """
        _, *constructors = self.get_type(ty_name)
        for constructor in constructors:
            if constructor.name_hint == canonical:
                return constructor
        known = ", ".join(constructor.name_hint for constructor in constructors)
        raise ValueError(f"{ty_name}: expected one of the constructors {known}, got {canonical!r}")

    def get_global_var(self, canonical: str) -> Any:
        """Return the variable of a function; ValueError without one.

        Args:
            canonical: The name of the function.
        """
        return self.mod.get_global_var(canonical)

    def _define(self, constructors: dict[str, list[Any]], header: Any, of: Any) -> None:
        made = [_api.made(Constructor, key, inputs, header) for key, inputs in constructors.items()]
        self.mod[header] = _api.made(TypeData, header, [of], made)

    def _define_types(self) -> None:
        header, a = _api.made(GlobalTypeVar, "List"), _api.made(TypeVar, "a")
        self._define({"cons": [a, header(a)], "nil": []}, header, a)
        lists: Any = self.get_type("List")[0]
        header, a = _api.made(GlobalTypeVar, "Option"), _api.made(TypeVar, "a")
        self._define({"some": [a], "none": []}, header, a)
        header, a = _api.made(GlobalTypeVar, "Tree"), _api.made(TypeVar, "a")
        self._define({"rose": [a, lists(header(a))]}, header, a)

    def _function(
        self, name: str, params: list[Any], body: Any, ret_type: Any, type_params: list[Any]
    ) -> None:
        var = _api.made(GlobalVar, name)
        # The body of a function may call the function.
        self.mod[var] = _relay("Function", params, body(var), ret_type, type_params)

    def _define_functions(self) -> None:
        lists, cons, nil = self.get_type("List")

        def by_list(xs: Any, if_cons: Any, if_nil: Any) -> Any:
            x, rest = _relay("Var", "x"), _relay("Var", "rest")
            clauses = [_case(cons, [x, rest], if_cons(x, rest))]
            if if_nil is not None:
                clauses.append(_case(nil, [], if_nil))
            return _relay("Match", xs, clauses, if_nil is not None)

        def var(name: str, ty: Any) -> Any:
            return _relay("Var", name, ty)

        def types() -> list[Any]:
            return [_api.made(TypeVar, name) for name in ("a", "b")]

        def function(args: list[Any], result: Any) -> Any:
            return _api.made(FuncType, args, result)

        a, _ = types()
        xs = var("xs", lists(a))
        self._function("hd", [xs], lambda _: by_list(xs, lambda x, _: x, None), a, [a])
        a, _ = types()
        tail = var("xs", lists(a))
        self._function(
            "tl", [tail], lambda _: by_list(tail, lambda _, rest: rest, None), lists(a), [a]
        )
        self._define_map_and_filter(by_list, var, types, function)
        self._define_folds(by_list, var, types, function)
        self._define_zip(by_list, var, types)

    def _define_map_and_filter(self, by_list: Any, var: Any, types: Any, function: Any) -> None:
        lists, cons, nil = self.get_type("List")
        a, b = types()
        f, xs = var("f", function([a], b)), var("xs", lists(a))
        self._function(
            "map",
            [f, xs],
            lambda this: by_list(xs, lambda x, rest: cons(f(x), this(f, rest)), nil()),
            lists(b),
            [a, b],
        )
        a, _ = types()
        keep, ys = var("f", function([a], scalar_type("bool"))), var("xs", lists(a))

        def filtered(this: Any) -> Any:
            return by_list(
                ys,
                lambda x, rest: _relay("If", keep(x), cons(x, this(keep, rest)), this(keep, rest)),
                nil(),
            )

        self._function("filter", [keep, ys], filtered, lists(a), [a])

    def _define_folds(self, by_list: Any, var: Any, types: Any, function: Any) -> None:
        lists, cons, nil = self.get_type("List")
        a, b = types()
        f, init, xs = var("f", function([a, b], a)), var("init", a), var("xs", lists(b))
        self._function(
            "foldl",
            [f, init, xs],
            lambda this: by_list(xs, lambda x, rest: this(f, f(init, x), rest), init),
            a,
            [a, b],
        )
        a, b = types()
        g, end, ys = var("f", function([a, b], b)), var("init", b), var("xs", lists(a))
        self._function(
            "foldr",
            [g, end, ys],
            lambda this: by_list(ys, lambda x, rest: g(x, this(g, end, rest)), end),
            b,
            [a, b],
        )
        a, _ = types()
        left, right = var("xs", lists(a)), var("ys", lists(a))
        self._function(
            "concat",
            [left, right],
            lambda this: by_list(left, lambda x, rest: cons(x, this(rest, right)), right),
            lists(a),
            [a],
        )
        a, _ = types()
        zs = var("xs", lists(a))
        rest, first = var("rest", lists(a)), var("x", a)
        push = _relay("Function", [rest, first], cons(first, rest), lists(a))
        foldl = self.get_global_var("foldl")
        self._function("rev", [zs], lambda _: foldl(push, nil(), zs), lists(a), [a])

    def _define_zip(self, by_list: Any, var: Any, types: Any) -> None:
        lists, cons, nil = self.get_type("List")
        a, b = types()
        xs, ys = var("xs", lists(a)), var("ys", lists(b))

        def zipped(this: Any) -> Any:
            def with_x(x: Any, rest: Any) -> Any:
                def with_y(y: Any, others: Any) -> Any:
                    return cons(_relay("Tuple", [x, y]), this(rest, others))

                return by_list(ys, with_y, nil())

            return by_list(xs, with_x, nil())

        pairs = lists(_api.made(TupleType, [a, b]))
        self._function("zip", [xs, ys], zipped, pairs, [a, b])
