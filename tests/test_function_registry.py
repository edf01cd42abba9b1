"""Functions, the registry of global functions, errors across the border."""

import sys
import types

import pytest

import isoform
import nodes
from isoform import (
    Array,
    Function,
    convert,
    convert_func,
    get_global_func,
    register_global_func,
    registry,
)


def test_register_and_get(name):
    one, two = name(), name()
    register_global_func(one, lambda x: x + 1)

    @register_global_func(two)
    def add(a, b):
        return a + b

    assert get_global_func(one)(3) == 4
    assert get_global_func(two)(3, 4) == 7
    assert add(1, 1) == 2
    assert isinstance(get_global_func(one), Function)
    assert {one, two} <= set(registry.list_global_func_names())


def test_register_under_the_own_name():
    @register_global_func
    def a_global_function_of_the_suite(x):
        return x

    assert get_global_func("a_global_function_of_the_suite")(5) == 5
    isoform.remove_global_func("a_global_function_of_the_suite")


def test_taken_name(name):
    one = name()
    register_global_func(one, lambda: 1)
    with pytest.raises((ValueError, RuntimeError), match="already registered"):
        register_global_func(one, lambda: 2)
    assert get_global_func(one)() == 1
    register_global_func(one, lambda: 3, override=True)
    assert get_global_func(one)() == 3


def test_missing_name(name):
    one = name()
    with pytest.raises(ValueError) as caught:
        get_global_func(one)
    assert one in str(caught.value)
    assert get_global_func(one, allow_missing=True) is None


def test_remove(name):
    one = name()
    register_global_func(one, lambda: 1)
    kept = get_global_func(one)
    isoform.remove_global_func(one)
    assert one not in registry.list_global_func_names()
    assert get_global_func(one, allow_missing=True) is None
    assert kept() == 1
    isoform.remove_global_func(one)


def test_metadata(name):
    one = name()
    register_global_func(one, lambda: 1)
    assert isinstance(isoform.get_global_func_metadata(one), dict)
    with pytest.raises((RuntimeError, ValueError, KeyError)):
        isoform.get_global_func_metadata(name())


def test_values_are_converted_on_the_way():
    kind = convert(lambda x: type(x).__name__)
    assert [kind(v) for v in (1, 1.5, True, None, "s", b"b", [1], (1,), {})] == [
        "int",
        "float",
        "bool",
        "NoneType",
        "str",
        "bytes",
        "Array",
        "Array",
        "Map",
    ]
    same = convert(lambda x: x)
    assert type(same([1])) is Array
    box = nodes.Box(1)
    assert same(box) is box
    assert same(None) is None
    assert same(2**80) == 2**80


def test_arguments():
    count = convert(lambda *args: len(args))
    assert [count(*range(n)) for n in (0, 1, 3, 40)] == [0, 1, 3, 40]
    with pytest.raises(TypeError, match="argument"):
        convert(lambda a: a)()
    with pytest.raises(TypeError):
        convert(lambda x: x)(x=1)


def test_functions_travel():
    twice = convert(lambda f: convert(lambda x: f(f(x))))
    assert twice(lambda x: x * 3)(2) == 18
    table = isoform.Map({"f": len})
    assert table["f"]([1, 2]) == 2
    assert callable(table["f"])
    assert isinstance(convert(len), Function)
    assert convert_func(len)([1, 2, 3]) == 3
    with pytest.raises(TypeError):
        convert_func(3)


def test_exceptions_come_back_unchanged():
    class OwnError(Exception):
        pass

    raised = OwnError("hey", 3)

    def fails():
        raise raised

    with pytest.raises(OwnError) as caught:
        convert(fails)()
    assert caught.value is raised
    with pytest.raises(KeyError, match="zz"):
        convert(lambda: {}["zz"])()
    assert any("fails" in str(entry) for entry in caught.traceback)


def test_keyboard_interrupt_and_exit_pass_through():
    def leave():
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        convert(leave)()

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(stop)()


def test_register_error():
    class SuiteError(RuntimeError):
        pass

    assert isoform.register_error("SuiteError", SuiteError) is not None

    @isoform.register_error
    class OtherSuiteError(RuntimeError):
        pass

    def fails():
        raise OtherSuiteError("boom")

    with pytest.raises(OtherSuiteError, match="boom"):
        convert(fails)()


def test_deep_recursion_is_an_error():
    def forever(x):
        return again(x)

    again = convert(forever)
    with pytest.raises(RecursionError):
        again(1)


def test_init_ffi_api(name, key):
    prefix = key("api")
    register_global_func(f"{prefix}.add", lambda a, b: a + b)
    register_global_func(f"{prefix}.sub.deep", lambda: 1)
    module = types.ModuleType(prefix + ".module")
    sys.modules[module.__name__] = module
    try:
        isoform.init_ffi_api(prefix, module.__name__)
        assert module.add(1, 2) == 3
    finally:
        del sys.modules[module.__name__]
        isoform.remove_global_func(f"{prefix}.add")
        isoform.remove_global_func(f"{prefix}.sub.deep")


def test_registered_type_keys():
    keys = registry.get_registered_type_keys()
    assert "nodes.Box" in keys
    assert len(set(keys)) == len(list(keys))


def test_register_object(key):
    with pytest.raises((ValueError, TypeError, RuntimeError)):

        @isoform.register_object(key("Nothing"))
        class Missing(isoform.Object):
            pass


def test_method_marker(key):
    @isoform.dataclasses.py_class(key())
    class Node(isoform.Object):
        x: int

        @isoform.method
        def label(self) -> str:
            return f"N({self.x})"

        @isoform.method
        @staticmethod
        def make(x: int) -> int:
            return x + 1

    assert Node(7).label() == "N(7)"
    assert Node.make(1) == 2
    methods = {m.name: m.func for m in Node.__isoform_type_info__.methods}
    assert methods["label"](Node(3)) == "N(3)"
    with pytest.raises(TypeError, match="write a method or a staticmethod"):
        isoform.method(classmethod(lambda cls: 1))


def test_a_class_method_that_is_marked_is_refused_at_the_declaration(key):
    def marked(self):
        return 1

    isoform.method(marked)
    name = key()
    declare = isoform.dataclasses.py_class(name)
    for function in (classmethod(marked), classmethod(isoform.method(staticmethod(marked)))):
        with pytest.raises(TypeError, match=f"type {name}: 'make' is a classmethod marked"):
            declare(type(isoform.Object)("Bad", (isoform.Object,), {"make": function}))

    with pytest.raises(TypeError, match=rf"type {name}: 'make' is a classmethod marked"):

        @isoform.dataclasses.py_class(name)
        class Bad(isoform.Object):
            @classmethod
            @isoform.method
            def make(cls):
                return cls()

    @isoform.dataclasses.py_class(name)
    class Good(isoform.Object):
        @staticmethod
        @isoform.method
        def make():
            return 3

        @classmethod
        def other(cls):
            return cls()

    assert isoform.call_method(Good(), "make") == 3
    assert [found.name for found in Good.__isoform_type_info__.methods] == ["make"]


def test_function_identity_and_repr():
    f = convert(len)
    box = nodes.Box(f)
    assert box.v.same_as(f)
    assert box.v == f
    assert "Function" in repr(f)


def test_what_a_function_holds_may_use_the_registry_when_it_goes(name):
    one = name()
    seen = []

    class Holder:
        def __call__(self):
            pass

        def __del__(self):
            seen.append(one in registry.list_global_func_names())

    register_global_func(one, Holder())
    register_global_func(one, Holder(), override=True)
    assert seen == [True]
    isoform.remove_global_func(one)
    assert seen == [True, False]
