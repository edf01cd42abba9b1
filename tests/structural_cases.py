"""The contract of structural comparison as a table of pairs.

`test_structural.py` asks every function about every pair.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import isoform

EQUAL, DIFFER = "equal", "different"


class Case(NamedTuple):
    name: str
    says: str
    make: Callable[[Any], tuple]
    mapped: bool = False
    path: str | None = None


def twice(make: Callable[[], Any]) -> tuple:
    return make(), make()


def both(value: Any) -> tuple:
    return value, value


CASES: list[Case] = []


def case(name: str, says: str, mapped: bool = False, path: str | None = None):
    """Adds the function below to the table, under its sentence of the contract."""

    def add(make: Callable[[Any], tuple]):
        CASES.append(Case(name, says, make, mapped, path))
        return make

    return add


def simple(name: str, says: str, make: Callable[[Any], tuple], **options: Any) -> None:
    CASES.append(Case(name, says, make, **options))


# ---- tree and const-tree -----------------------------------------------------

simple("tree: fields are equal", EQUAL, lambda b: twice(lambda: b.add(b.const(1), 2)))
simple("tree: a field differs", DIFFER, lambda b: (b.add(1, 2), b.add(1, 3)))
simple("tree: operands have places", DIFFER, lambda b: (b.add(1, 2), b.add(2, 1)))


@case("tree: sharing is invisible", EQUAL)
def _(b):
    a = b.add(1, 2)
    return b.add(a, a), b.add(b.add(1, 2), b.add(1, 2))


@case("tree: sharing across elements is invisible", EQUAL)
def _(b):
    a = b.add(1, 2)
    return [a, a, b.add(1, 2)], [b.add(1, 2), a, a]


@case("tree: what a shared tree holds is compared each time", DIFFER)
def _(b):
    s, t, u = b.shared(), b.shared(), b.shared()
    a = b.add(s, 1)
    return [a, a], [b.add(t, 1), b.add(u, 1)]


@case("tree: a shared dag below unshared trees", EQUAL)
def _(b):
    s, t = b.shared(), b.shared()
    a = b.add(s, 1)
    return [a, a], [b.add(t, 1), b.add(t, 1)]


simple("types: different types", DIFFER, lambda b: (b.add(1, 2), b.shared(1, 2)))
simple(
    "types: a subclass is not its base",
    DIFFER,
    lambda b: (b.var(), b.ranked(None, 0)),
    mapped=True,
)
simple("const-tree: fields are equal", EQUAL, lambda b: twice(lambda: b.frozen(1, "a")))
simple("const-tree: a field differs", DIFFER, lambda b: (b.frozen(1, 2), b.frozen(1, 3)))
simple(
    "const-tree: the same pointer is not visited",
    EQUAL,
    lambda b: both(b.frozen(b.hidden(), 1)),
)


@case("const-tree: two pointers are visited", "TypeError", path="<root>.a")
def _(b):
    h = b.hidden()
    return b.frozen(h, 1), b.frozen(h, 1)


@case("const-tree: sharing is invisible", EQUAL)
def _(b):
    f = b.frozen(1, 2)
    return [f, f], [f, b.frozen(1, 2)]


# ---- dag and singleton -------------------------------------------------------

simple("dag: fields are equal", EQUAL, lambda b: twice(b.shared))
simple("dag: a field differs", DIFFER, lambda b: (b.shared(1, 2), b.shared(1, 3)))


@case("dag: the same sharing", EQUAL)
def _(b):
    s, t = b.shared(), b.shared()
    return [s, s], [t, t]


@case("dag: one node against two", DIFFER)
def _(b):
    s = b.shared()
    return [s, s], [b.shared(), b.shared()]


@case("dag: one node against itself and another", DIFFER)
def _(b):
    s = b.shared()
    return [s, s], [s, b.shared()]


simple("dag: two nodes against two", EQUAL, lambda b: twice(lambda: [b.shared(), b.shared()]))


@case("dag: crosswise", EQUAL)
def _(b):
    s, t = b.shared(), b.shared()
    return [s, t, s], [t, s, t]


@case("dag: crosswise, then not", DIFFER)
def _(b):
    s, t = b.shared(), b.shared()
    return [s, t, s], [t, s, s]


@case("dag: sharing inside a dag", DIFFER)
def _(b):
    s = b.shared()
    return b.shared(s, s), b.shared(b.shared(), b.shared())


@case("dag: map_free_vars leaves sharing visible", DIFFER, mapped=True)
def _(b):
    s = b.shared()
    return [s, s], [b.shared(), b.shared()]


def _shared_lambda(b: Any) -> Any:
    x = b.var()
    return b.bind("SharedLambda", [x], x)


@case("dag and scope: shared against shared", EQUAL)
def _(b):
    f, g = _shared_lambda(b), _shared_lambda(b)
    return [f, f], [g, g]


@case("dag and scope: one against two", DIFFER)
def _(b):
    f = _shared_lambda(b)
    return [f, f], [_shared_lambda(b), _shared_lambda(b)]


simple("singleton: itself", EQUAL, lambda b: both(b.op()))
simple("singleton: another of the same content", DIFFER, lambda b: (b.op(), b.op()))
simple(
    "singleton: map_free_vars changes nothing",
    DIFFER,
    lambda b: (b.op(), b.op()),
    mapped=True,
)

# ---- var ---------------------------------------------------------------------

simple("var: free, itself", EQUAL, lambda b: both(b.var()))
simple("var: free, another", DIFFER, lambda b: (b.var(), b.var()))
simple("var: map_free_vars", EQUAL, lambda b: (b.var(), b.var()), mapped=True)
simple("var: the name is a hint", EQUAL, lambda b: (b.var(1, "x"), b.var(1, "y")), mapped=True)
simple("var: mapped fields must be equal", DIFFER, lambda b: (b.var(1), b.var(2)), mapped=True)
simple(
    "var: own fields are compared for one pointer too",
    "TypeError",
    lambda b: both(b.var(b.hidden())),
    path="<root>.ty",
)


@case("var: bound, renamed", EQUAL)
def _(b):
    x, y = b.vars(2)
    return b.lam([x], b.add(x, x)), b.lam([y], b.add(y, y))


@case("var: a bound one against a free one", DIFFER)
def _(b):
    x, y, z = b.vars(3)
    return b.lam([x], x), b.lam([y], z)


@case("var: a bound one against the same pointer, free there", DIFFER)
def _(b):
    x, y = b.vars(2)
    return b.lam([x], x), b.lam([y], x)


@case("var: one against two", DIFFER, mapped=True)
def _(b):
    x = b.var()
    return [x, x], [b.var(), b.var()]


@case("var: inconsistent use", DIFFER)
def _(b):
    x, y, a, c = b.vars(4)
    return b.lam([x, y], b.add(x, x)), b.lam([a, c], b.add(a, c))


@case("var: the order of parameters counts", DIFFER)
def _(b):
    x, y = b.vars(2)
    return b.lam([x, y], b.add(x, y)), b.lam([x, y], b.add(y, x))


@case("var: swapped", EQUAL, mapped=True)
def _(b):
    x, y = b.vars(2)
    return [x, y, x], [y, x, y]


@case("var: swapped, then not", DIFFER, mapped=True)
def _(b):
    x, y = b.vars(2)
    return [x, y, x], [y, x, x]


@case("var: identity records the pair", DIFFER)
def _(b):
    x, y = b.vars(2)
    return [x, b.lam([x], 1)], [x, b.lam([y], 1)]


simple(
    "var: the subtype's own field counts",
    DIFFER,
    lambda b: (b.ranked(None, 1), b.ranked(None, 2)),
    mapped=True,
)

# ---- types that are not comparable ------------------------------------------

simple("none: two objects", "TypeError", lambda b: twice(b.hidden), path="<root>")


@case("none: the same pointer", "TypeError", path="<root>.value")
def _(b):
    h = b.hidden()
    return b.const(h), b.const(h)


@case("none: the same pointer below the same pointer", "TypeError", path="<root>[0].value")
def _(b):
    c = b.const(b.hidden())
    return [c], [c]


simple("none: against another type", "TypeError", lambda b: ([b.hidden()], [1]), path="<root>[0]")


@case("none: an earlier mismatch wins", DIFFER)
def _(b):
    n = b.hidden()
    return [1, n], [2, n]


@case("none: a later mismatch does not", "TypeError", path="<root>[0]")
def _(b):
    n = b.hidden()
    return [n, 1], [n, 2]


@case("none: a definition field is visited earlier", DIFFER)
def _(b):
    n = b.hidden()
    return b.fun([b.var()], n), b.fun([], n)


@case("none: unless the type says otherwise", "TypeError", path="<root>.body")
def _(b):
    n = b.hidden()
    return b.bind("LateLambda", [b.var()], n), b.bind("LateLambda", [], n)


@case("function: the same pointer", "TypeError", path="<root>[1]")
def _(b):
    f = isoform.convert(lambda: None)
    return [1, f], [1, f]


simple(
    "opaque: the same pointer", "TypeError", lambda b: both(b.const(object())), path="<root>.value"
)

# ---- field flags -------------------------------------------------------------

simple("ignore: never compared", EQUAL, lambda b: (b.add(2, 3, 1), b.add(2, 3, "elsewhere")))
simple("ignore: never visited", EQUAL, lambda b: twice(lambda: b.add(2, 3, b.hidden())))
simple("def: binds", EQUAL, lambda b: twice(lambda: b.lam([b.var()], 1)))


@case("def: binds the variables of a parameter's type", EQUAL)
def _(b):
    return twice(lambda: (n := b.var()) and b.lam([b.var(n)], n))


@case("def: binds below other nodes", EQUAL)
def _(b):
    return twice(lambda: (n := b.var()) and b.lam([b.add(b.const(n), 1)], n))


simple(
    "def: a pattern that differs",
    DIFFER,
    lambda b: (b.lam([b.add(b.var(), 1)], 1), b.lam([b.add(b.var(), 2)], 1)),
)


@case("def-simple: binds", EQUAL)
def _(b):
    return twice(lambda: (x := b.var()) and [b.let(x, 1), x])


simple(
    "def-simple: other variables in the type are uses",
    DIFFER,
    lambda b: twice(lambda: b.let(b.var(b.var()), 1)),
)


@case("def-simple: the same variable in the type", EQUAL)
def _(b):
    n = b.var()
    return twice(lambda: b.let(b.var(n), 1))


@case("def-simple: a bound variable in the type", EQUAL)
def _(b):
    return twice(lambda: (n := b.var()) and b.lam([n], b.let(b.var(n), 1)))


simple(
    "def-simple inside map_free_vars: uses stay uses",
    DIFFER,
    lambda b: twice(lambda: b.let(b.var(b.var()), 1)),
    mapped=True,
)


@case("no flag: the region is inherited", EQUAL)
def _(b):
    return twice(lambda: (x := b.var()) and b.lam([b.lam([], x)], x))


simple("no flag: a use stays a use", DIFFER, lambda b: twice(lambda: b.lam([], b.var())))


@case("map_free_vars: consistent", EQUAL, mapped=True)
def _(b):
    def make():
        x, y = b.vars(2)
        return [x, y, b.add(x, y)]

    return twice(make)


@case("map_free_vars: inconsistent", DIFFER, mapped=True)
def _(b):
    x, y = b.vars(2)
    return [x, y, x], [x, y, y]


@case("a statement binds for its later siblings", EQUAL)
def _(b):
    def make():
        x, y = b.vars(2)
        return [b.let(x, 1), b.let(y, x), b.add(x, y)]

    return twice(make)


@case("a statement's value comes before its target", DIFFER)
def _(b):
    return twice(lambda: (x := b.var()) and b.let(x, x))


# ---- scopes ------------------------------------------------------------------


@case("scope: the old binding comes back", EQUAL)
def _(b):
    x, a, c = b.vars(3)
    return b.fun([x], [b.fun([x], x), x]), b.fun([a], [b.fun([c], c), a])


@case("scope: the inner binding ends", DIFFER)
def _(b):
    x, a, c = b.vars(3)
    return b.fun([x], [b.fun([x], x), x]), b.fun([a], [b.fun([c], c), c])


@case("scope: the inner binding hides the outer one", DIFFER)
def _(b):
    x, a, c = b.vars(3)
    return b.fun([x], b.fun([x], x)), b.fun([a], b.fun([c], a))


@case("scope: a statement's binding ends with it", DIFFER)
def _(b):
    return twice(lambda: (x := b.var()) and [b.fun([], b.let(x, 1)), x])


@case("no scope: a statement's binding stays", EQUAL)
def _(b):
    return twice(lambda: (x := b.var()) and [b.lam([], b.let(x, 1)), x])


@case("scope: a free variable mapped inside stays mapped", EQUAL, mapped=True)
def _(b):
    return twice(lambda: (x := b.var()) and [b.fun([], x), x])


@case("scope: a free variable mapped inside has one partner", DIFFER, mapped=True)
def _(b):
    x, a, c = b.vars(3)
    return [b.fun([], x), x], [b.fun([], a), c]


@case("scope: shadowing a mapped variable", EQUAL, mapped=True)
def _(b):
    x, a, c = b.vars(3)
    return [x, b.fun([x], x), x], [a, b.fun([c], c), a]


@case("no scope: no shadowing of a mapped variable", DIFFER, mapped=True)
def _(b):
    x, a, c = b.vars(3)
    return [x, b.lam([x], x)], [a, b.lam([c], c)]


@case("scope: a variable matched by identity inside", EQUAL)
def _(b):
    x, a = b.vars(2)
    return [b.fun([], x), b.fun([x], x), x], [b.fun([], x), b.fun([a], a), x]


@case("scope: a dag pair outlives it", DIFFER)
def _(b):
    s, t = b.shared(), b.shared()
    return [b.fun([], s), s], [b.fun([], t), b.shared()]


@case("scope: a dag pair holds in another scope", EQUAL)
def _(b):
    return twice(lambda: (s := b.shared()) and [b.fun([], s), b.fun([], s)])


@case("scope: one proof does not serve another scope", DIFFER)
def _(b):
    x, y, a, c = b.vars(4)
    left, right = b.add(x, y), b.add(a, c)
    return (
        [b.fun([x, y], left), b.fun([x, y], left)],
        [b.fun([a, c], right), b.fun([c, a], right)],
    )


@case("scope: a shared open term, bound alike", EQUAL)
def _(b):
    def make():
        x, y = b.vars(2)
        total = b.add(x, y)
        return [b.fun([x, y], total), b.fun([y, x], total)]

    return twice(make)


@case("defs first: the parameters are declared last", EQUAL)
def _(b):
    return twice(lambda: (x := b.var()) and b.fun([x], b.add(x, 1)))


@case("defs last: the body is visited before", DIFFER)
def _(b):
    return twice(lambda: (x := b.var()) and b.bind("LateLambda", [x], b.add(x, 1)))


@case("defs last: the body's variables are free", EQUAL)
def _(b):
    x = b.var()
    return twice(lambda: b.bind("LateLambda", [b.var()], b.add(x, 1)))


# ---- maps --------------------------------------------------------------------

simple("map: insertion order", EQUAL, lambda b: ({1: "a", "k": "b"}, {"k": "b", 1: "a"}))
simple("map: a value differs", DIFFER, lambda b: ({1: 1}, {1: 2}))
simple("map: a key is missing", DIFFER, lambda b: ({1: 1, 2: 1}, {1: 1}))
simple("map: another key", DIFFER, lambda b: ({1: 1}, {2: 1}))
simple("map: plain keys match by value and type", DIFFER, lambda b: ({1: 1}, {1.0: 1}))


@case("map: an unbound object key matches itself", EQUAL)
def _(b):
    x = b.var()
    return {x: 1}, {x: 1}


simple(
    "map: an unbound object key matches no other",
    DIFFER,
    lambda b: ({b.const(1): 1}, {b.const(1): 1}),
)
simple("map: keys do not bind", DIFFER, lambda b: twice(lambda: {b.var(): 1}), mapped=True)


@case("map: a mapped key", EQUAL, mapped=True)
def _(b):
    return twice(lambda: (x := b.var()) and [x, {x: 1}])


@case("map: a bound key matches its partner", EQUAL)
def _(b):
    return twice(lambda: (x := b.var()) and b.fun([x], {x: 1}))


@case("map: a bound key matches nothing else", DIFFER)
def _(b):
    x, y = b.vars(2)
    return b.fun([x], {x: 1}), b.fun([y], {x: 1})


@case("map: no capture", DIFFER)
def _(b):
    x, y = b.vars(2)
    return b.fun([x], {y: 1}), b.fun([y], {y: 1})


@case("map: a free key under other binders", EQUAL)
def _(b):
    y = b.var()
    return twice(lambda: b.fun([b.var()], {y: 1}))


@case("map: bound keys in any order", EQUAL)
def _(b):
    x, y, a, c = b.vars(4)
    return b.fun([x, y], {x: 1, y: 2}), b.fun([a, c], {c: 2, a: 1})


@case("map: bound keys with each other's values", DIFFER)
def _(b):
    x, y, a, c = b.vars(4)
    return b.fun([x, y], {x: 1, y: 2}), b.fun([a, c], {a: 2, c: 1})


@case("map: a dag key that is paired", EQUAL)
def _(b):
    return twice(lambda: (s := b.shared()) and [s, {s: 1}])


@case("map: keys are translated as the map is entered", DIFFER)
def _(b):
    return twice(lambda: (s := b.shared()) and [{0: s, s: 1}])


@case("map: variables are numbered in canonical order", EQUAL, mapped=True)
def _(b):
    x, y, a, c = b.vars(4)
    return [{1: x, 2: y}, x], [{2: a, 1: c}, c]


@case("map: values in the order of plain keys", DIFFER)
def _(b):
    n = b.hidden()
    return {"b": n, "a": 1}, {"b": n, "a": 2}


@case("map: an earlier key raises", "TypeError", path='<root>["a"]')
def _(b):
    n = b.hidden()
    return {"b": 1, "a": n}, {"b": 2, "a": n}


@case("map: keys come before values", DIFFER)
def _(b):
    n = b.hidden()
    return {1: n}, {1: n, 2: 1}


# ---- hooks in the table ------------------------------------------------------

simple("hooks: alternatives commute", EQUAL, lambda b: (b.comm(1, 2), b.comm(2, 1)))
simple("hooks: and still compare", DIFFER, lambda b: (b.comm(1, 2), b.comm(2, 2)))


@case("hooks: a binder in code", EQUAL)
def _(b):
    x, a = b.vars(2)
    return b.bind("Binder", [x], b.add(x, 1)), b.bind("Binder", [a], b.add(a, 1))


@case("hooks: a binder in code, other body", DIFFER)
def _(b):
    x, a = b.vars(2)
    return b.bind("Binder", [x], b.add(x, 1)), b.bind("Binder", [a], b.add(x, 1))
