"""The lambda calculus: reduction by substitution that captures no variable.

`substitute` renames what is bound where that is needed, so beta reduction is one
line, and terms are compared up to the names of their variables.
"""

from isoform import StructuralKey, structural_equal, structural_walk, substitute
from isoform.dataclasses import Object, field, py_class


@py_class("lambda.Term")
class Term(Object):
    """A term."""


@py_class("lambda.Var", structural_eq="var")
class Var(Term):
    """A variable."""

    name: str = field(structural_eq="ignore")


@py_class("lambda.Lam", scope=True)
class Lam(Term):
    """An abstraction."""

    param: Var = field(structural_eq="def")
    body: Term


@py_class("lambda.App")
class App(Term):
    """An application."""

    func: Term
    arg: Term


def step(term: Term) -> Term | None:
    """Reduce the leftmost outermost redex; return None for a normal form."""
    match term:
        case App(Lam(param, body), arg):
            return substitute(body, {param: arg})
        case App(func, arg):
            if (reduced := step(func)) is not None:
                return App(reduced, arg)
            if (reduced := step(arg)) is not None:
                return App(func, reduced)
        case Lam(param, body):
            if (reduced := step(body)) is not None:
                return Lam(param, reduced)
        case _:
            pass
    return None


def normal_form(term: Term) -> Term:
    """Reduce until nothing can be reduced."""
    while (reduced := step(term)) is not None:
        term = reduced
    return term


def numeral(count: int) -> Term:
    """Make the Church numeral of a number."""
    f, x = Var("f"), Var("x")
    body: Term = x
    for _ in range(count):
        body = App(f, body)
    return Lam(f, Lam(x, body))


def plus() -> Term:
    """Make the sum of Church numerals."""
    m, n, f, x = Var("m"), Var("n"), Var("f"), Var("x")
    body = App(App(m, f), App(App(n, f), x))
    return Lam(m, Lam(n, Lam(f, Lam(x, body))))


def count_applications(term: Term) -> int:
    """Count the applications in a term; a shared one counts once."""
    found: list[App] = []
    structural_walk(term, (App, found.append))
    return len(found)


def main() -> None:
    """Calculate 2 + 3."""
    result = normal_form(App(App(plus(), numeral(2)), numeral(3)))
    assert structural_equal(result, numeral(5))
    print("2 + 3 = 5, up to the names of variables")

    # In  (fun x -> fun y -> x) y  the free y must not become the bound one.
    x, y, free = Var("x"), Var("y"), Var("y")
    constant = normal_form(App(Lam(x, Lam(y, x)), free))
    assert not structural_equal(constant, Lam(y, y))
    print("substitution captured nothing")

    # Terms as keys of a table.
    names = {StructuralKey(numeral(count)): str(count) for count in range(10)}
    assert names[StructuralKey(result)] == "5"
    assert count_applications(result) == 5
    print("the table of numerals knows it as", names[StructuralKey(result)])


if __name__ == "__main__":
    main()
