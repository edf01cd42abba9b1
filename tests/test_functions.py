"""Functions of both languages: signatures, conversions, errors and their tracebacks, methods."""

import inspect
import json
import traceback

import pytest

import isoform
import isoform.testing
from isoform import (
    Function,
    Object,
    call_method,
    get_global_func,
    get_global_func_metadata,
    register_global_func,
)
from isoform.core import TypeSchema
from isoform.dataclasses import py_class

add_one = get_global_func("testing.add_one")
apply = get_global_func("testing.apply")
typed = get_global_func("testing.typed")
raise_error = get_global_func("testing.raise_error")
rust_call_method = get_global_func("testing.call_method")
traceback_of = get_global_func("testing.traceback_of")
error_of = get_global_func("testing.error_of")


def check_error(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == text


def frames_of(error):
    return [(f.name, f.lineno) for f in traceback.extract_tb(error.__traceback__)]


# ---- signatures and documentation ------------------------------------------------


def test_a_rust_function_is_documented():
    assert repr(add_one) == "Function(testing.add_one)"
    assert add_one.__name__ == add_one.name == "testing.add_one"
    assert add_one.__doc__ == inspect.getdoc(add_one) == "The number after `x`."
    assert str(inspect.signature(add_one)) == "(x: int, /) -> int"
    assert (
        str(inspect.signature(typed)) == "(number: float, items: Array[int], table: Map[str, int], "
        "dtype: dtype, node: isoform.Object | None = None, text: str = 'none', /) -> str"
    )
    with pytest.raises(AttributeError, match="not known"):
        _ = apply.__signature__
    assert "Calls the first" in apply.__doc__
    assert Function.__doc__.startswith("A callable value.")
    assert Function.__signature__ is None


def test_a_python_function_is_documented(name):
    def power(base: float, exponent: int = 2) -> float:
        """A power."""
        return base**exponent

    registered = register_global_func(name("power"), power)
    assert registered.__doc__ == "A power."
    assert inspect.signature(registered) == inspect.signature(power)
    assert repr(registered) == f"Function({registered.name})"
    assert registered(3) == 9
    plain = isoform.convert(power)
    assert inspect.signature(plain) == inspect.signature(power)
    assert plain.__doc__ == "A power."


def test_metadata_of_rust_functions():
    found = get_global_func_metadata("testing.typed")
    assert found["name"] == "testing.typed"
    assert found["doc"] == "One of each type that converts, told apart."
    assert found["language"] == "rust"
    assert found["returns"] == "str"
    assert found["parameters"][0] == {"name": "number", "type": "float"}
    assert found["parameters"][5] == {"name": "text", "type": "str", "default": "none"}
    schema = json.loads(found["type_schema"])
    assert schema["type"] == "ffi.Function"
    assert schema["named_args"]["return"] == [{"type": "ffi.String"}]
    assert schema["named_args"]["params"] == [
        {"type": "float"},
        {"type": "ffi.Array", "args": [{"type": "int"}]},
        {"type": "ffi.Map", "args": [{"type": "ffi.String"}, {"type": "int"}]},
        {"type": "DataType"},
        {"type": "Optional", "args": [{"type": "ffi.Object"}]},
        {"type": "ffi.String"},
    ]
    read = TypeSchema.from_json_str(found["type_schema"])
    assert repr(read) == (
        "Callable[[float, Array[int], Map[str, int], dtype, Object | None, str], str]"
    )
    packed = get_global_func_metadata("testing.apply")
    assert packed["type_schema"] == '{"type":"ffi.Function"}'
    assert "parameters" not in packed
    assert packed["language"] is None


def test_metadata_of_python_functions(name):
    one, two, three = name("one"), name("two"), name("three")

    @register_global_func(one)
    def mixed(a, b: "list[int] | None" = None, c: "no such name" = (1, 2)) -> object:  # noqa: F722
        """Docs."""

    found = get_global_func_metadata(one)
    assert (found["doc"], found["language"], found["returns"]) == ("Docs.", "python", "Any")
    types = [(p["name"], p["type"]) for p in found["parameters"]]
    assert types == [("a", "Any"), ("b", "Any"), ("c", "Any")]
    assert found["parameters"][1]["default"] is None

    register_global_func(two, lambda x, *rest, key=3: x)
    assert get_global_func_metadata(two)["type_schema"] == '{"type":"ffi.Function"}'
    assert get_global_func_metadata(two)["language"] == "python"

    def union(x: int | str, y: tuple[int, str]) -> list[int]: ...

    register_global_func(three, union)
    read = TypeSchema.from_json_str(get_global_func_metadata(three)["type_schema"])
    assert repr(read) == "Callable[[int | str, tuple[int, str]], List[int]]"


# ---- conversions -----------------------------------------------------------------


def test_arguments_of_rust_functions_convert_as_fields_do(key):
    assert add_one(True) == 2
    assert typed(2, (1, True), {"a": 1}, "int8") == "2.0 2 1 int8 None none"
    node = isoform.testing.rust_family().Const(1)
    assert typed(1.5, [], {}, "float32", node, "t") == "1.5 0 0 float32 testing.Const t"

    @py_class(key())
    class Node(Object):
        number: float
        items: isoform.Array[int]
        table: isoform.Map[str, int]
        dtype: isoform.dtype

    right = {"number": 1.5, "items": [1], "table": {"a": 1}, "dtype": "int8"}
    for field, wrong in {
        "number": "x",
        "items": [1, "x"],
        "table": {1: 1},
        "dtype": "no such type",
    }.items():
        with pytest.raises(TypeError) as of_field:
            Node(**{**right, field: wrong})
        with pytest.raises(TypeError) as of_argument:
            typed(*{**right, field: wrong}.values())
        reason = str(of_argument.value).removeprefix(f"testing.typed() argument '{field}': ")
        assert reason != str(of_argument.value)
        assert str(of_field.value).endswith(reason)


def test_wrong_arguments_are_named():
    check_error(
        lambda: add_one("x"), TypeError, "testing.add_one() argument 'x': expected int, got str"
    )
    check_error(
        lambda: add_one(2**70),
        TypeError,
        "testing.add_one() argument 'x': expected int, got int out of the int64 range "
        "(isoform.BigInt takes any int)",
    )
    check_error(lambda: add_one(), TypeError, "testing.add_one() expects 1 argument, got 0")
    check_error(lambda: add_one(1, 2), TypeError, "testing.add_one() expects 1 argument, got 2")
    check_error(lambda: typed(1), TypeError, "testing.typed() expects 4 to 6 arguments, got 1")
    # Rust calls Rust.
    check_error(
        lambda: apply(add_one, "x"),
        TypeError,
        "testing.add_one() argument 'x': expected int, got str",
    )


def test_python_functions_take_what_they_are_given(name):
    @register_global_func(name())
    def show(x: int) -> str:
        return type(x).__name__

    assert show("s") == "str"
    assert apply(show, 1.5) == "float"


# ---- errors ----------------------------------------------------------------------


def test_a_rust_error_says_where_it_was_made():
    with pytest.raises(ValueError, match="more than 64 bits") as caught:
        add_one(2**63 - 1)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.name == "testing.add_one"
    assert last.filename.endswith("testing_functions.rs")
    assert last.lineno > 10


def test_a_rust_error_names_the_functions_it_passed():
    with pytest.raises(ValueError, match="more than 64 bits") as caught:
        apply(apply, add_one, 2**63 - 1)
    names = [name for name, _ in frames_of(caught.value)]
    assert names[-3:] == ["testing.apply", "testing.apply", "testing.add_one"]
    text = "".join(traceback.format_exception(caught.value))
    assert ", in testing.add_one\n" in text


def test_a_python_exception_keeps_its_traceback_through_rust():
    raised = KeyError("zz")

    def fails():
        raise raised

    def outer():
        return apply(isoform.convert(fails))

    with pytest.raises(KeyError) as caught:
        outer()
    assert caught.value is raised
    names = [name for name, _ in frames_of(raised)]
    assert names[-3:] == ["outer", "testing.apply", "fails"]


def test_chains_keep_everything():
    def third():
        return apply(add_one, 2**63 - 1)

    def second():
        try:
            return apply(third)
        except ValueError as error:
            seen.append(error)
            raise

    def first():
        return apply(second)

    seen = []
    with pytest.raises(ValueError, match="64 bits") as caught:
        first()
    assert seen == [caught.value]
    names = [name for name, _ in frames_of(caught.value)]
    assert names[-7:] == [
        "first",
        "testing.apply",
        "second",
        "testing.apply",
        "third",
        "testing.apply",
        "testing.add_one",
    ]


def test_causes_survive():
    def fails():
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise RuntimeError("outer") from error

    with pytest.raises(RuntimeError) as caught:
        apply(fails)
    assert isinstance(caught.value.__cause__, KeyError)


def test_rust_shows_the_traceback_of_python():
    def deepest(x):
        raise LookupError(f"no {x}")

    def middle(x):
        return apply(deepest, x)

    text = traceback_of(middle, [3])
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("LookupError: no 3")
    places = [line.rpartition(", in ")[2] for line in text.splitlines() if ", in " in line]
    assert places == ["middle", "testing.apply", "deepest"]
    assert "raise LookupError" in text

    text = traceback_of(apply, [deepest, 3])
    places = [line.rpartition(", in ")[2] for line in text.splitlines() if ", in " in line]
    assert places == ["testing.apply", "deepest"]

    text = traceback_of(add_one, [2**63 - 1])
    assert "testing_functions.rs" in text
    assert text.endswith("ValueError: testing.add_one: the result has more than 64 bits")


def test_showing_a_traceback_leaves_the_exception_alone():
    raised = ValueError("x")

    def fails():
        raise raised

    def twice():
        assert "in testing.apply" in traceback_of(apply, [fails])
        apply(fails)

    with pytest.raises(ValueError) as caught:
        twice()
    assert caught.value is raised
    # Python itself may add the lines of both times at which the exception was raised.
    names = [name for name, _ in frames_of(raised)]
    at = names.index("twice")
    assert names[at : at + 3] == ["twice", "testing.apply", "fails"]
    assert names.count("testing.apply") == 1


@pytest.mark.parametrize(
    ("raised", "kind", "name", "message"),
    [
        (TypeError("t"), "TypeError", "TypeError", "t"),
        (UnicodeError("u"), "ValueError", "UnicodeError", "u"),
        (KeyError("k"), "KeyError", "KeyError", "'k'"),
        (AttributeError("a"), "AttributeError", "AttributeError", "a"),
        (IndexError("i"), "IndexError", "IndexError", "i"),
        (RecursionError("r"), "RecursionError", "RecursionError", "r"),
        (FileNotFoundError("f"), "OSError", "FileNotFoundError", "f"),
        (ZeroDivisionError("z"), "RuntimeError", "ZeroDivisionError", "z"),
        (KeyboardInterrupt(), "RuntimeError", "KeyboardInterrupt", ""),
    ],
)
def test_rust_sees_the_kind(raised, kind, name, message):
    def fails():
        raise raised

    assert tuple(error_of(fails, [])) == (kind, name, message)


def test_registered_kinds_survive():
    @isoform.register_error("suite.ShapeError")
    class ShapeError(ValueError):
        pass

    with pytest.raises(ShapeError, match="3 is not 4") as caught:
        raise_error("suite.ShapeError", "3 is not 4")
    assert type(caught.value) is ShapeError

    def fails():
        raise ShapeError("again")

    assert tuple(error_of(fails, [])) == ("ValueError", "suite.ShapeError", "again")
    with pytest.raises(ShapeError, match="again"):
        apply(fails)
    assert traceback_of(raise_error, ["suite.ShapeError", "m"]).endswith("suite.ShapeError: m")
    for kind, expected in {"ZeroDivisionError": ZeroDivisionError, "KeyError": KeyError}.items():
        with pytest.raises(expected):
            raise_error(kind, "m")
    check_error(lambda: raise_error("no.Such", "m"), RuntimeError, "no.Such: m")


def test_an_exception_whose_text_fails():
    class StrangeError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    raised = StrangeError()

    def fails():
        raise raised

    with pytest.raises(StrangeError) as caught:
        apply(fails)
    assert caught.value is raised
    assert tuple(error_of(fails, []))[1:] == ("StrangeError", "")


# ---- methods ---------------------------------------------------------------------


def test_rust_methods_are_methods_of_the_class():
    family = isoform.testing.rust_family()
    node = family.Const(21)
    assert node.scaled() == 42
    assert node.scaled(3) == 63
    assert inspect.getdoc(family.Const.scaled) == "The number times a factor."
    assert family.Const.scaled.__qualname__ == "Const.scaled"
    assert str(inspect.signature(family.Const.scaled)).endswith("factor: int = 2) -> int")
    methods = {method.name: method for method in family.Const.__isoform_type_info__.methods}
    assert methods["scaled"].doc == "The number times a factor."
    check_error(
        lambda: node.scaled("x"),
        TypeError,
        "testing.Const.scaled() argument 'factor': expected int, got str",
    )
    # Registered when the class was there already.
    assert family.Add(5, 6).first() == 5
    assert isoform.testing.rust_family().Add is family.Add


def test_python_classes_inherit_rust_methods(key):
    family = isoform.testing.rust_family()

    @py_class(key())
    class Special(family.Const):
        @isoform.method
        def scaled(self, factor: int = 3) -> int:
            return -super().scaled(factor)

    assert Special(2).scaled() == -6
    assert rust_call_method(Special(2), "scaled", [5]) == -10
    assert rust_call_method(family.Const(2), "scaled", [5]) == 10


def test_python_methods_are_found_by_rust(key):
    one = key("One")

    @py_class(one)
    class One(Object):
        x: int

        @isoform.method
        def shifted(self, by: int = 1) -> int:
            """Moved."""
            return self.x + by

        @isoform.method
        @staticmethod
        def make(x: int) -> int:
            return x + 1

        def hidden(self): ...

        @isoform.method
        def fails(self):
            raise KeyError("gone")

    @py_class(key("Two"))
    class Two(One):
        pass

    for node in (One(1), Two(1)):
        assert rust_call_method(node, "shifted", []) == 2
        assert rust_call_method(node, "shifted", [5]) == 6
        assert rust_call_method(node, "make", [5]) == 6
        assert call_method(node, "shifted", 5) == 6
    with pytest.raises(KeyError, match="gone") as caught:
        rust_call_method(One(1), "fails", [])
    assert frames_of(caught.value)[-1][0] == "fails"
    check_error(
        lambda: rust_call_method(One(1), "hidden", []),
        AttributeError,
        f"{one} has no method 'hidden'",
    )
    check_error(
        lambda: call_method(3, "shifted"),
        TypeError,
        "expected an object with a method 'shifted', got int",
    )
    methods = {method.name: method for method in One.__isoform_type_info__.methods}
    assert sorted(methods) == ["fails", "make", "shifted"]
    assert methods["make"].is_static and not methods["shifted"].is_static
    assert methods["shifted"].doc == "Moved."


def test_a_method_cannot_be_called_as_a_field_is(key):
    one = key()
    with pytest.raises(ValueError, match=f"type {one}: method 'x' has the name of a field"):

        @py_class(one)
        class Node(Object):
            x: int

            @isoform.method
            def x(self): ...

    assert one not in isoform.registry.get_registered_type_keys()


def test_the_collector_counts_a_shared_callable_once():
    import gc

    class Holder:
        def __call__(self):
            return self

    holder = Holder()
    kept = [holder]
    one = Function(holder)
    two = one.named("two")
    cycle = [one, two]
    cycle.append(cycle)
    del holder, one, two, cycle
    gc.collect()
    gc.collect()
    assert kept[0]() is kept[0]
    assert kept[0].__dict__ == {}
