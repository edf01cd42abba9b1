"""Node types of a Rust library, used from Python without a line of Python.

The library examples/rust_types contains the core, so every test runs in a separate
process.
"""

import importlib.util
import subprocess
import sys

import pytest
from processes import output_of

# The gate builds the module; where the package alone is tested it may be missing.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("calc_ir") is None, reason="the module calc_ir is not built"
)


def test_types_are_classes():
    output_of("""
import calc_ir, inspect, isoform
Add, Const = isoform.types.calc.Add, isoform.types.calc.Const
assert Add.__doc__.startswith("A sum.")
assert Add.lhs.__doc__ == "The first operand."
assert str(inspect.signature(Const)) .startswith("(value")
assert Add.__match_args__ == ("lhs", "rhs")
three = Add(Const(1), Const(value=2))
match three:
    case Add(Const(left), Const(right)):
        assert (left, right) == (1, 2)
    case _:
        raise AssertionError
for wrong in (lambda: Const("1"), lambda: Add(1, 2), lambda: Const()):
    try:
        wrong()
    except TypeError as error:
        assert "calc." in str(error), error
    else:
        raise AssertionError
""")


def test_classes_and_functions_are_names_of_the_module():
    output_of("""
from calc_ir import Add, Const, evaluate, simplest
import calc_ir, isoform
assert Add is isoform.types.calc.Add and Const is isoform.types.calc.Const
assert evaluate(Add(Const(1), Const(2))) == 3
assert evaluate.__doc__ == "The value of an expression of sums and numbers."
assert simplest(Add(Const(0), Const(2))).value == 2
# Methods are in their classes, and other dialects in their own modules.
public = {name for name in dir(calc_ir) if not name.startswith("_")}
assert public == {"Add", "Const", "evaluate", "map_numbers", "simplest"}, public
assert Const(5).plus(2) == 7
""")
    # The package is loaded with the right core, in whichever order it is named next.
    output_of("""
import calc_ir
from isoform import ir
assert calc_ir.Const(1).value == 1 and ir.TupleType([]).fields == ()
""")


def test_everything_works_on_them():
    output_of("""
import calc_ir, copy, pickle, isoform
from isoform import serialization
Add, Const = isoform.types.calc.Add, isoform.types.calc.Const
three = Add(Const(1), Const(2))
assert repr(three) == "calc.Add(lhs=calc.Const(value=1), rhs=calc.Const(value=2))", repr(three)
text = serialization.to_json_graph_str(three)
for other in (copy.deepcopy(three), pickle.loads(pickle.dumps(three)),
              serialization.from_json_graph_str(text)):
    assert other is not three and isoform.structural_equal(three, other)
assert not isoform.structural_equal(three, Add(Const(1), Const(3)))
""")


def test_python_classes_extend_them():
    output_of("""
import calc_ir, isoform
from isoform.dataclasses import Object, py_class
Add, Const = isoform.types.calc.Add, isoform.types.calc.Const

@py_class("calc_test.Neg")
class Neg(Object):
    operand: Const

assert isoform.structural_equal(Add(Neg(Const(1)), Const(2)), Add(Neg(Const(1)), Const(2)))
""")


def test_the_order_of_imports_is_checked():
    output_of("""
import isoform
try:
    import calc_ir
except ImportError as error:
    assert str(error).endswith("declares node types in Rust: import it before isoform")
else:
    raise AssertionError
""")


def test_functions_and_methods():
    output_of("""
import calc_ir, inspect, traceback, isoform
from isoform.dataclasses import Object, py_class
Add, Const = isoform.types.calc.Add, isoform.types.calc.Const
evaluate = isoform.get_global_func("calc.evaluate")
three = Add(Const(1), Const(2))
assert evaluate(three) == 3
assert evaluate.__doc__ == "The value of an expression of sums and numbers."
assert str(inspect.signature(evaluate)) == "(expr: isoform.Object, /) -> int"
assert (Const(5).plus(), Const(5).plus(4)) == (6, 9)

@py_class("calc_test.Product")
class Product(Object):
    lhs: int
    rhs: int

    @isoform.method
    def evaluate(self):
        return self.lhs * self.rhs

assert evaluate(Add(Product(3, 4), Const(1))) == 13
doubled = isoform.get_global_func("calc.map_numbers")(three, lambda x: 2 * x)
assert isoform.structural_equal(doubled, Add(Const(2), Const(4)))

class Stop(Exception):
    pass

def fails(x):
    raise Stop(x)

def check(call, kind, text, frames):
    try:
        call()
    except kind as error:
        assert str(error) == text, error
        found = traceback.extract_tb(error.__traceback__)
        assert [frame.name for frame in found][-len(frames):] == frames, found
    else:
        raise AssertionError

map_numbers = isoform.get_global_func("calc.map_numbers")
check(lambda: map_numbers(three, fails), Stop, "1", ["calc.map_numbers", "fails"])
large = Add(Const(2**63 - 1), Const(1))
text = "calc.evaluate: the sum has more than 64 bits"
check(lambda: evaluate(large), ValueError, text, ["calc.evaluate"])
text = "calc.evaluate() argument 'expr': expected isoform.Object, got int"
check(lambda: evaluate(1), TypeError, text, ["<lambda>"])
text = "isoform.Array has no method 'evaluate'"
check(lambda: evaluate(isoform.Array([1])), AttributeError, text, ["calc.evaluate"])
""")


def test_stubs():
    done = subprocess.run(
        [sys.executable, "-m", "isoform.stubgen", "calc_ir", "--prefix", "calc"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "class Add(isoform.Object):" in done.stdout
    assert "def __init__(self, value: builtins.int) -> None: ..." in done.stdout
    assert "def plus(self, step: builtins.int = ...) -> builtins.int:" in done.stdout
    assert '"""The number `step` further."""' in done.stdout


def test_traits_of_both_languages():
    output_of("""
import calc_ir, isoform
from isoform import Object, type_attrs
from isoform.dataclasses import py_class
from isoform.type_attrs import Trait, implements, trait
Add, Const = isoform.types.calc.Add, isoform.types.calc.Const
simplest = isoform.get_global_func("calc.simplest")

# What Rust says of its types.
total = Add(Add(Const(0), Const(2)), Const(0))
assert type_attrs.get(Add, "calc.cost") == 1
assert implements(total, trait("calc.commutative")) and not implements(Const(1), trait("calc.commutative"))
assert implements(total, trait("calc.simplify")).simplify() is total.lhs
assert simplest(total).value == 2

# A class of Python with a trait of Rust, in words of its own.
class Simplify(Trait, attr="calc.simplify"):
    def simplify(self) -> Object | None: ...

@py_class("calc_test.Neg")
class Neg(Object):
    ir_trait = Simplify
    operand: Object

    def simplify(self):
        if isinstance(self.operand, Neg):
            return self.operand.operand
        if not isinstance(self.operand, (Add, Const)):
            raise LookupError("what is this?")

assert simplest(Add(Neg(Neg(total)), Const(0))).value == 2
assert type_attrs.types_with(Simplify) == [Add, Neg]
try:
    simplest(Neg(isoform.Array()))
except LookupError as error:
    assert str(error) == "what is this?"
else:
    raise AssertionError
""")
