"""A pass that knows no operation: it asks types for traits and for a cost.

The class of an operation declares its traits and its cost. New operations, also
those of a library in Rust, take part without a change to the pass; and another library
may set attributes of its own on types that it did not write.
"""

from isoform import type_attrs
from isoform.dataclasses import Object, field, py_class, replace
from isoform.type_attrs import Trait, implement, implements


class SideEffectFree(Trait, attr="attributes_example.side_effect_free"):
    """May go when nobody uses its result."""


class Commutative(Trait, attr="attributes_example.commutative"):
    """The operands may come in any order."""


class HasCanonicalizer(Trait, attr="attributes_example.has_canonicalizer"):
    """May have a simpler form."""

    def canonicalize(self) -> "Var | Op":
        """The simpler form, or the operation itself."""
        raise NotImplementedError


class Fusible(Trait, attr="attributes_example.fusible"):
    """May share a kernel with neighbours of the same kind."""

    kind: str


@py_class("attributes_example.Var", structural_eq="var")
class Var(Object):
    """A name."""

    name: str = field(structural_eq="ignore")


@py_class("attributes_example.Op")
class Op(Object):
    """An operation on variables."""

    args: list[Var]


@py_class("attributes_example.Mul")
class Mul(Op):
    """A product."""

    ir_trait = (SideEffectFree, Commutative, Fusible("elementwise"))


@py_class("attributes_example.Copy")
class Copy(Op):
    """The same value under another name."""

    ir_trait = (SideEffectFree, HasCanonicalizer)

    def canonicalize(self) -> Var:
        """The copied variable."""
        return self.args[0]


@py_class("attributes_example.Store")
class Store(Op):
    """Writes memory."""


Block = dict[Var, Op]
cost = type_attrs.column("attributes_example.cost", int)


def simplify(block: Block) -> Block:
    """Sorts operands, follows copies, and drops what nobody needs."""
    renamed: dict[Var, Var] = {}
    kept: Block = {}
    for var, op in block.items():
        args = [renamed.get(arg, arg) for arg in op.args]
        if implements(op, Commutative):
            args.sort(key=lambda arg: arg.name)
        form: Var | Op = replace(op, args=args)
        if rule := implements(form, HasCanonicalizer):
            form = rule.canonicalize()
        if isinstance(form, Var):
            renamed[var] = form
        else:
            kept[var] = form
    live: set[Var] = set()
    for var, op in reversed([*kept.items()]):
        if var in live or not implements(op, SideEffectFree):
            live.update(op.args)
        else:
            del kept[var]
    return kept


def kernels(block: Block) -> list[list[str]]:
    """The names of operations that may run together."""
    groups: list[list[str]] = []
    last: str | None = None
    for var, op in block.items():
        fusible = implements(op, Fusible)
        kind = fusible.kind if fusible else None
        if kind is None or kind != last:
            groups.append([])
        groups[-1].append(var.name)
        last = kind
    return groups


def shown(block: Block) -> str:
    """One line for each operation."""
    lines = [
        f"  {var.name} = {type(op).__name__}({', '.join(arg.name for arg in op.args)})"
        f"  # {cost.get(op, 0, inherit=True)} cycles"
        for var, op in block.items()
    ]
    return "\n".join(lines)


def main() -> None:
    """Simplify a block."""
    cost.set(Op, 1)
    cost.set(Mul, 4)
    a, b, c, d, e, f, s = (Var(name) for name in "abcdefs")
    block: Block = {
        c: Mul([b, a]),
        d: Copy([c]),
        e: Mul([d, c]),
        f: Mul([a, a]),
        s: Store([e]),
    }
    print(f"Before:\n{shown(block)}")
    simple = simplify(block)
    print(f"After:\n{shown(simple)}")
    print("Kernels:", kernels(simple))
    # Whoever knows better says so, without a change to class or pass.
    implement(Store, Fusible("elementwise"))
    print("With fusible stores:", kernels(simple))
    print("Fusible:", [cls.__name__ for cls in type_attrs.types_with(Fusible)])


if __name__ == "__main__":
    main()
