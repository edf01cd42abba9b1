"""Traits: declared as classes, assigned in class bodies, asked for by passes."""

import dataclasses
from typing import Any

import pytest

import isoform
from isoform import Array, Map, Object, type_attrs
from isoform.dataclasses import py_class
from isoform.type_attrs import Trait, implement, implements, provided


class SideEffectFree(Trait, attr="test_traits.side_effect_free"):
    """May go when nobody uses its result."""


class Commutative(Trait, attr="test_traits.commutative"):
    """The operands may come in any order."""


class Canonicalize(Trait, attr="test_traits.canonicalize"):
    """Has a simpler form."""

    def canonicalize(self) -> object: ...


class Fusible(Trait, attr="test_traits.fusible"):
    """May be fused with its neighbours."""

    kind: str
    cost: int = 1


class Schedule(Trait, attr="test_traits.schedule"):
    """Knows where it runs."""

    unit: str

    def latency(self, clock: int) -> int: ...

    @provided
    def describe(self) -> str:
        return f"{type(self).__name__} somewhere"


class Compare(Trait, attr="test_traits.compare"):
    """Several methods and no arguments."""

    def less(self, other: object) -> bool: ...

    def same(self, other: object) -> bool: ...


# ---- declaration ------------------------------------------------------------------


def test_a_trait_declares_its_attribute():
    for trait, kind in (
        (Commutative, "bool"),
        (Canonicalize, "Function"),
        (Compare, "Map[str, Function]"),
        (Fusible, "Map[str, Any]"),
        (Schedule, "Map[str, Any]"),
    ):
        known = type_attrs.info(trait)
        assert known.type == kind
        assert known.doc == trait.__doc__
        assert type_attrs.trait(known.name) is trait


def test_the_name_of_the_attribute():
    class HasTestSSAForm(Trait):
        """Named by default."""

    assert type_attrs.info(HasTestSSAForm).name == "ir_trait.has_test_ssa_form"
    assert type_attrs.info("ir_trait.has_test_ssa_form").doc == "Named by default."


def test_a_trait_without_documentation(key):
    class Bare(Trait, attr=key()):
        pass

    assert Bare.__doc__ is None
    assert type_attrs.info(Bare).doc == ""


def test_a_trait_declared_again(key):
    name = key()

    class Again(Trait, attr=name):
        """First words."""

    first = Again

    class Again(Trait, attr=name):
        """Other words."""

    @py_class(key())
    class Node(Object):
        ir_trait = first

    assert implements(Node, Again) == Again()
    with pytest.raises(ValueError, match=r"is declared already, for bool"):

        class Other(Trait, attr=name):
            def method(self): ...


def test_traits_extend_traits(key):
    class Base(Trait, attr=key()):
        kind: str

        def run(self) -> int: ...

    class Derived(Base, attr=key()):
        def stop(self) -> int: ...

    @py_class(key())
    class Node(Object):
        ir_trait = Derived(kind="k")

        def run(self):
            return 1

        def stop(self):
            return 2

    view = implements(Node(), Derived)
    assert isinstance(view, Base)
    assert (view.kind, view.run(), view.stop()) == ("k", 1, 2)
    # It is a trait of its own.
    assert implements(Node(), Base) is None


def test_instances_are_values():
    assert Fusible("a") == Fusible(kind="a", cost=1)
    assert Fusible("a") != Fusible("b")
    assert hash(Fusible("a")) == hash(Fusible("a"))
    assert repr(Fusible("a")) == "Fusible(kind='a', cost=1)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Fusible("a").kind = "b"
    with pytest.raises(TypeError, match="kind"):
        Fusible()


# ---- assignment in a class body ------------------------------------------------------


def test_a_marker(key):
    @py_class(key())
    class Add(Object):
        ir_trait = Commutative
        lhs: int

    @py_class(key())
    class Sub(Object):
        lhs: int

    assert Add.ir_trait is Commutative
    assert Add(1).ir_trait is Commutative
    assert type_attrs.attrs_of(Add) == {
        "ir_trait": Commutative,
        "test_traits.commutative": True,
    }
    assert type_attrs.get(Add, "ir_trait") is Commutative
    assert type_attrs.get(Add, Commutative) is True
    assert getattr(Add, "test_traits.commutative") is True
    assert implements(Add, Commutative)
    assert isinstance(implements(Add(1), Commutative), Commutative)
    assert implements(Sub, Commutative) is None
    assert implements(Sub(1), Commutative) is None
    assert [f.name for f in isoform.dataclasses.fields(Add)] == ["lhs"]


def test_several_traits(key):
    @py_class(key())
    class Neg(Object):
        ir_trait = (SideEffectFree, Fusible(kind="elementwise", cost=2), Canonicalize)
        more_traits = [Commutative]  # noqa: RUF012
        operand: Object | None = None

        def canonicalize(self):
            return self.operand.operand if isinstance(self.operand, Neg) else self

    leaf = Neg()
    assert list(type_attrs.get(Neg, "ir_trait")) == [
        SideEffectFree,
        Fusible("elementwise", 2),
        Canonicalize,
    ]
    assert list(type_attrs.get(Neg, "more_traits")) == [Commutative]
    assert implements(leaf, SideEffectFree)
    assert implements(leaf, Commutative)
    fusible = implements(leaf, Fusible)
    assert (fusible.kind, fusible.cost) == ("elementwise", 2)
    assert fusible == Fusible("elementwise", 2)
    assert type_attrs.get(Neg, Fusible) == Map({"kind": "elementwise", "cost": 2})
    assert implements(Neg, Fusible).kind == "elementwise"
    rule = implements(Neg(Neg(leaf)), Canonicalize)
    assert rule.canonicalize() is leaf
    assert implements(Neg, Canonicalize).canonicalize(Neg(Neg(leaf))) is leaf
    # The attribute is the function of the class body itself.
    assert type_attrs.get(Neg, Canonicalize) is Neg.__dict__["canonicalize"]


def test_methods_and_arguments(key):
    @py_class(key())
    class Load(Object):
        ir_trait = Schedule("memory")
        words: int

        def latency(self, clock):
            return self.words * clock

    view = implements(Load(3), Schedule)
    assert (view.unit, view.latency(4), view.describe()) == ("memory", 12, "Load somewhere")

    @py_class(key())
    class Store(Object):
        ir_trait = Schedule("memory"), Compare

        @staticmethod
        def latency(node, clock):
            return clock

        def describe(self):
            return "here"

        def less(self, other):
            return False

        def same(self, other):
            return self is other

    store = Store()
    assert implements(store, Schedule).describe() == "here"
    assert implements(store, Schedule).latency(5) == 5
    assert implements(store, Compare).same(store)
    assert set(type_attrs.get(Store, Compare).keys()) == {"less", "same"}


def test_a_missing_method(key):
    name = key("Broken")
    with pytest.raises(TypeError, match="trait Canonicalize requires a method 'canonicalize'"):

        @py_class(name)
        class Broken(Object):
            ir_trait = Canonicalize

    with pytest.raises(TypeError, match="latency") as caught:

        @py_class(name)
        class AlsoBroken(Object):
            ir_trait = (Commutative, Schedule("x"))
            latency: int

    assert name in str(caught.value)
    # Nothing remains.
    assert name not in isoform.registry.get_registered_type_keys()

    @py_class(name)
    class Whole(Object):
        pass

    assert type_attrs.attrs_of(Whole) == {}


def test_a_field_with_the_name_of_a_method(key):
    message = r"requires a method 'canonicalize', .* implement\(\w+, Canonicalize, \{'canonical"
    with pytest.raises(TypeError, match=message):

        @py_class(key())
        class Broken(Object):
            ir_trait = Canonicalize
            canonicalize: int

    @py_class(key())
    class Node(Object):
        canonicalize: int

    implement(Node, Canonicalize, {"canonicalize": lambda node: node})
    node = Node(1)
    assert implements(node, Canonicalize).canonicalize() is node


def test_missing_arguments(key):
    with pytest.raises(TypeError, match=r"takes arguments: Fusible\(kind=\.\.\.\)"):

        @py_class(key())
        class Broken(Object):
            ir_trait = Fusible

    class Defaulted(Trait, attr=key()):
        level: int = 3

    @py_class(key())
    class Node(Object):
        ir_trait = Defaulted

    assert implements(Node, Defaulted).level == 3


def test_a_tuple_that_is_not_all_traits(key):
    with pytest.raises(TypeError, match="ir_trait: expected traits, got 5"):

        @py_class(key())
        class Broken(Object):
            ir_trait = (Commutative, 5)

    @py_class(key())
    class Fine(Object):
        nothing = ()
        numbers = (1, 2)

    assert type_attrs.attrs_of(Fine) == {}


def test_a_trait_given_twice(key):
    with pytest.raises(ValueError, match=r"'test_traits\.commutative' is given twice"):

        @py_class(key())
        class Broken(Object):
            one = Commutative
            two = (SideEffectFree, Commutative)


def test_traits_of_mixins_and_of_parents(key):
    class Pure:
        ir_trait = SideEffectFree, Canonicalize

        def canonicalize(self):
            return "simple"

    @py_class(key())
    class Node(Pure, Object):
        pass

    @py_class(key())
    class Child(Node):
        pass

    @py_class(key())
    class Again(Node):
        ir_trait = Canonicalize

    assert implements(Node(), Canonicalize).canonicalize() == "simple"
    # A parent's traits are not inherited, unless the question asks for them.
    assert implements(Child(), Canonicalize) is None
    assert type_attrs.attrs_of(Child) == {}
    assert implements(Child(), Canonicalize, inherit=True).canonicalize() == "simple"
    assert implements(Again(), Canonicalize).canonicalize() == "simple"
    assert implements(Again(), SideEffectFree) is None
    assert implements(Again(), SideEffectFree, inherit=True)


def test_classes_that_wait(key):
    @py_class(key())
    class Early(Object):
        ir_trait = Commutative
        other: "Late"

    @py_class(key())
    class Late(Object):
        pass

    assert implements(Early(Late()), Commutative)


# ---- types that exist already --------------------------------------------------------


def test_implement(key):
    @py_class(key("Node"))
    class Node(Object):
        x: int

        def canonicalize(self):
            return self.x

    assert implements(Node(1), Canonicalize) is None
    implement(Node, Canonicalize)
    implement(Node.__isoform_type_info__, Fusible("k"))
    implement(Node.__isoform_type_info__.type_key, Commutative)
    assert implements(Node(1), Canonicalize).canonicalize() == 1
    assert implements(Node(1), Fusible).kind == "k"
    assert implements(Node(1), Commutative)
    # The same again.
    implement(Node, Canonicalize)
    with pytest.raises(ValueError, match="is set already"):
        implement(Node, Canonicalize, {"canonicalize": lambda node: -node.x})
    implement(Node, Canonicalize, {"canonicalize": lambda node: -node.x}, override=True)
    assert implements(Node(1), Canonicalize).canonicalize() == -1
    with pytest.raises(TypeError, match="requires a method 'less'"):
        implement(Node, Compare)
    with pytest.raises(TypeError, match="has no method 'lesser'"):
        implement(Node, Compare, {"lesser": len})
    with pytest.raises(TypeError, match="takes arguments"):
        implement(Node, Schedule)
    with pytest.raises(TypeError, match="subclass of Trait"):
        implement(Node, int)


def test_built_in_types_have_traits(key):
    class Atom(Trait, attr=key()):
        """Has no parts."""

    implement(int, Atom)
    implement(Array, Canonicalize, {"canonicalize": len})
    assert implements(int, Atom)
    assert implements(Array([1, 2]), Canonicalize).canonicalize() == 2
    assert type_attrs.types_with(Atom) == [int]


def test_false_takes_a_marker_back(key):
    @py_class(key())
    class Node(Object):
        ir_trait = Commutative

    type_attrs.set(Node, Commutative, False, override=True)
    assert implements(Node(), Commutative) is None
    with pytest.raises(TypeError, match="expected bool"):
        type_attrs.set(Node, Commutative, "yes", override=True)


def test_wrong_questions(key):
    with pytest.raises(TypeError, match="subclass of Trait"):
        implements(Object, int)
    with pytest.raises(TypeError, match="subclass of Trait"):
        implements(Object, Trait)
    with pytest.raises(TypeError, match="expected a type"):
        implements(5, Commutative)
    with pytest.raises(KeyError, match="no trait is declared as"):
        type_attrs.trait(key())
    type_attrs.declare(name := key(), type=int)
    with pytest.raises(KeyError, match="holds int"):
        type_attrs.trait(name)


def test_columns_of_traits(key):
    @py_class(key())
    class Node(Object):
        ir_trait = Commutative

    column = type_attrs.column(Commutative)
    assert column.name == "test_traits.commutative"
    assert column[Node] is True
    assert Node in type_attrs.types_with(Commutative)
    assert type_attrs.has(Node(), Commutative)
    assert type_attrs.owner(Node, Commutative) is Node


def test_traits_of_other_languages(key):
    # What Rust declares is an attribute with a documentation and a type.
    marker, method = key("is_fast"), key("fold_all")
    type_attrs.declare(marker, "Is fast.", bool)
    type_attrs.declare(method, "Folds.", isoform.Function)
    fast, fold = type_attrs.trait(marker), type_attrs.trait(method)
    assert (fast.__name__, fast.__doc__) == ("IsFast", "Is fast.")
    assert type_attrs.trait(marker) is fast

    @py_class(key())
    class Node(Object):
        ir_trait = fast, fold

        def fold_all(self):
            return 42

    assert implements(Node(), fast)
    assert implements(Node(), fold).fold_all() == 42


# ---- the other language --------------------------------------------------------------


@pytest.fixture(scope="module")
def rust():
    return isoform.testing.rust_family()


def test_attributes_of_rust_types(rust):
    node = rust.Add(1, 2)
    assert type_attrs.get(node, "testing.arity") == 2
    assert type_attrs.info("testing.arity").doc == "How many operands there are."
    assert type_attrs.types_with("testing.arity") == [rust.Add]
    assert getattr(rust.Add, "testing.arity") == 2
    with pytest.raises(TypeError, match="expected int, got str"):
        type_attrs.set(rust.Const, "testing.arity", "none")


def test_python_calls_functions_of_rust(rust):
    swap = type_attrs.get(rust.Add, "testing.swap")
    swapped = swap(rust.Add(1, 2))
    assert (swapped.lhs, swapped.rhs) == (2, 1)
    with pytest.raises(TypeError, match=r"testing\.swap takes a node, got"):
        swap(1)

    class Swap(Trait, attr="testing.swap"):
        """The same trait declared by a class of Python."""

        def swap(self) -> object: ...

    assert implements(rust.Add(1, 2), Swap).swap().lhs == 2
    assert implements(rust.Const(1), Swap) is None


def test_rust_calls_functions_of_python(rust, key):
    call = isoform._core.call_attribute

    @py_class(key())
    class Neg(Object):
        ir_trait = Canonicalize
        operand: int

        def canonicalize(self, times=1):
            if self.operand == 0:
                raise ArithmeticError("no zero")
            return Neg(-self.operand * times)

    name = type_attrs.info(Canonicalize).name
    assert call(Neg(3), name).operand == -3
    assert call(Neg(3), name, 2).operand == -6
    with pytest.raises(ArithmeticError, match="no zero") as caught:
        call(Neg(0), name)
    assert any(entry.name == "canonicalize" for entry in caught.traceback)
    # Python gives a trait to a type of Rust, and Rust calls it.
    implement(rust.Const, Canonicalize, {"canonicalize": lambda node: node.value})
    assert call(rust.Const([5]), name) == [5]
    with pytest.raises(AttributeError, match=r"testing\.Op has no attribute"):
        call(rust.Op("x"), name)
    with pytest.raises(TypeError, match="expected a function"):
        call(rust.Add(1, 2), "testing.arity")


def test_python_classes_extend_rust_types_with_attributes(rust, key):
    @py_class(key())
    class Scaled(rust.Add):
        factor: int

    assert type_attrs.get(Scaled, "testing.arity") is None
    assert type_attrs.get(Scaled, "testing.arity", inherit=True) == 2
    assert getattr(Scaled, "testing.arity") == 2
    swapped = isoform._core.call_attribute(Scaled(1, 2, 3), "testing.swap")
    assert type(swapped) is Scaled
    assert (swapped.lhs, swapped.factor) == (2, 3)


def test_traits_of_rust_seen_from_python(rust):
    ask = isoform._core.ask_traits
    pure, simplify, price = map(
        type_attrs.trait, ("testing.pure", "testing.simplify", "testing.price")
    )
    assert (pure.__name__, simplify.__name__, price.__name__) == ("Pure", "Simplify", "Price")
    assert price.__doc__ == "Knows what it costs."
    assert price.total.__doc__ == "The price of several."
    assert type_attrs.info(price).methods == ("price", "total")
    node = rust.Add(1, 2)
    assert implements(node, pure)
    assert implements(node, simplify).simplify() == 1
    assert implements(node, price) is None
    assert ask(node, 2) == {"pure": True, "simplify": 1}
    const = implements(rust.Const(5), price)
    assert (const.price(), const.total(4)) == (3, 12)
    assert ask(rust.Const(5), 4) == {"price": 3, "total": 12}
    with pytest.raises(TypeError, match="int"):
        const.total("many")


def test_traits_of_rust_on_python_types(rust, key):
    ask = isoform._core.ask_traits
    pure, simple, priced = map(
        type_attrs.trait, ("testing.pure", "testing.simplify", "testing.price")
    )

    @py_class(key())
    class Load(Object):
        ir_trait = (pure, simple, priced)
        words: int

        def simplify(self):
            return Load(self.words // 2)

        def price(self):
            return self.words

    load = Load(4)
    answers = ask(load, 3)
    assert answers["simplify"].words == 2
    # Rust has a body for the method that the class leaves out.
    assert (answers["pure"], answers["price"], answers["total"]) == (True, 4, 12)
    assert implements(load, priced).price() == 4
    with pytest.raises(NotImplementedError, match=r"Price\.total is not defined by the type"):
        implements(load, priced).total(2)

    @py_class(key())
    class Sale(Object):
        ir_trait = priced

        def price(self):
            return 10

        def total(self, count):
            if count > 5:
                raise OverflowError("sold out")
            return 10 * count - 1

    assert ask(Sale(), 2) == {"price": 10, "total": 19}
    with pytest.raises(OverflowError, match="sold out"):
        ask(Sale(), 6)
    with pytest.raises(TypeError, match="requires a method 'price'"):

        @py_class(key())
        class Broken(Object):
            ir_trait = priced

    @py_class(key())
    class Wrong(Object):
        ir_trait = priced

        def price(self):
            return "much"

    with pytest.raises(TypeError, match="expected int, got str"):
        ask(Wrong(), 1)


def test_a_trait_of_rust_written_in_python(rust, key):
    class Price(Trait, attr="testing.price"):
        """The same trait, in the words of Python."""

        def price(self) -> int: ...

        @provided
        def total(self, count: int) -> int:
            return -count

    assert type_attrs.info(Price).doc == "Knows what it costs."
    assert implements(rust.Const(1), Price).total(2) == 6

    @py_class(key())
    class Free(Object):
        ir_trait = Price

        def price(self):
            return 0

    assert isoform._core.ask_traits(Free(), 7) == {"price": 0, "total": -7}
    with pytest.raises(ValueError, match="is declared already"):

        class Other(Trait, attr="testing.price"):
            only: int


def test_python_gives_a_trait_to_a_rust_type(rust):
    ask = isoform._core.ask_traits
    pure, price = map(type_attrs.trait, ("testing.pure", "testing.price"))
    hidden = rust.Op("x")
    assert ask(hidden, 1) == {}
    implement(rust.Op, pure)
    implement(rust.Op, price, {"price": lambda node: 2, "total": lambda node, n: n})
    assert ask(hidden, 1) == {"pure": True, "price": 2, "total": 1}
    type_attrs.set(rust.Op, pure, False, override=True)
    assert "pure" not in ask(hidden, 1)
    with pytest.raises((TypeError, ValueError), match="expected a function 'price'"):
        type_attrs.set(rust.Op, price, {"cost": len}, override=True)


def test_the_class_of_the_proposal() -> None:
    import isoform as ffi

    class SideEffectFree(Trait, attr="ir_trait.proposal.side_effect_free"):
        """May go when nobody uses its result."""

    @ffi.py_class
    class MyIRNode(ffi.Object):
        # Trait: registered as general type attr
        ir_trait = SideEffectFree

        # Repr: registered as type attr (tier-1 general map is fine for repr)
        def __ffi_repr__(self, fn_print: Any) -> str:
            return "MyIRNode(...)"

        # Normal method: registered as member method (row store)
        def simplify(self) -> Any: ...

    assert repr(MyIRNode()) == "MyIRNode(...)"
    assert ffi.type_attrs.get(MyIRNode, "ir_trait") is SideEffectFree
    assert getattr(MyIRNode, "ir_trait.proposal.side_effect_free") is True
    assert {"ir_trait", "__ffi_repr__"} < {*ffi.type_attrs.attrs_of(MyIRNode)}
    assert not ffi.type_attrs.has(MyIRNode, "simplify")
