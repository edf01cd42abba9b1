"""Errors that say what to write instead."""

import textwrap

import pytest
from processes import output_of

from isoform import Array, Map, Object, serialization, structural_map, structural_mutate, substitute
from isoform.dataclasses import py_class, replace
from isoform.structural import assert_structural_equal, explain_structural_mismatch


@py_class("test_error_texts.Add")
class Add(Object):
    lhs: object
    rhs: object


@py_class("test_error_texts.Named")
class Named(Object):
    name: str
    parts: Array[str]


@py_class("test_error_texts.Var", structural_eq="var")
class Var(Object):
    name: str


INTERPRETERS = """
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    import sys
    code = '''import sys
    sys.path[:] = {path}
    try:
        import isoform
    except ImportError as error:
        assert "cannot be imported in a subinterpreter" in str(error), error
        assert error.name == "isoform"
    else:
        raise AssertionError("imported")
    '''.format(path=sys.path)
    def run():
        failed = interpreters.run_string(interpreters.create(), code)
        assert failed is None, failed
"""


@pytest.mark.parametrize(
    "order",
    ["run(); run(); import isoform", "import isoform; run()", "run(); import isoform; run()"],
)
def test_subinterpreters_are_refused_and_leave_the_main_one_alone(order):
    text = textwrap.dedent(INTERPRETERS) + order + "; assert isoform.Array([1])[0] == 1"
    output_of(text)


def test_a_class_without_py_class_is_named():
    class Plain(Add):
        more: int = 0

    for call in (lambda: Plain(1, 2, 3), lambda: Plain(1, 2, more=3)):
        with pytest.raises(TypeError, match=r"annotations of Plain are no fields: .* py_class"):
            call()
    # Errors about values, and classes without annotations, have nothing to do with this.
    with pytest.raises(TypeError) as caught:
        type(Add)("Bare", (Add,), {})(1, 2, 3)
    assert "py_class" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "hint"),
    [({"kind": "var"}, "did you mean structural_eq="), ({"scopes": True}, "did you mean scope=")],
)
def test_options_of_py_class_are_named(option, hint):
    with pytest.raises(
        TypeError, match=f"unexpected keyword argument '{next(iter(option))}'; {hint}"
    ):
        py_class("test_error_texts.Option", **option)


def test_substitute_says_what_it_takes():
    x = Var("x")
    expected = r"substitute: expected a dict from variables to their replacements.*got list"
    with pytest.raises(TypeError, match=expected):
        substitute(x, [(x, 1)])
    assert substitute(x, {x: 1}) == substitute(x, Map({x: 1})) == 1


@pytest.mark.parametrize("data", [b'{"root_index":0}', b' \n{"isoform.patch":1}', b"[1]"])
def test_json_is_not_bytes(data):
    with pytest.raises(ValueError, match="begin like JSON; read a JSON graph with from_json_graph"):
        serialization.from_bytes(data)


def test_a_lone_surrogate_is_named_with_its_place():
    def reason(make):
        with pytest.raises(UnicodeEncodeError) as info:
            make()
        assert str(info.value).endswith(info.value.reason)
        return info.value.reason

    lone = "a\ud800"
    cases = [
        (lambda: Named(lone, []), ("test_error_texts.Named", "'name'")),
        (lambda: Named("a", ["b", lone]), ("test_error_texts.Named", "'parts'", "element [1]")),
        (lambda: replace(Named("a", []), name=lone), ("test_error_texts.Named", "name")),
        (lambda: Add(lone, 1), ("test_error_texts.Add", "'lhs'")),
        (lambda: Add([1, lone], 1), ("test_error_texts.Add", "'lhs'", "element [1]")),
        (lambda: Add({"k": lone}, 1), ("test_error_texts.Add", "'lhs'", "value for key 'k'")),
        (lambda: Array([["x", lone]]), ("element [1]",)),
    ]
    for make, parts in cases:
        text = reason(make)
        assert text.endswith("surrogates not allowed")
        assert all(part in text for part in parts), text
    assert reason(lambda: structural_map([1], (int, lambda n: lone))) == "surrogates not allowed"


@pytest.mark.parametrize("sign", [1, -1])
def test_long_values_of_a_mismatch_are_cut(sign):
    left, right = sign << 8_400_000, (sign << 8_400_000) + 1
    for values in ((left, right), ([1, left], [1, right]), (Add(left, 1), Add(right, 1))):
        text = str(explain_structural_mismatch(*values))
        assert len(text) < 500
        assert "0x8000000000000000... (8400001 bits)" in text
        with pytest.raises(ValueError) as info:
            assert_structural_equal(*values)
        assert len(str(info.value)) < 700
    for left, right in (("x" * 10**6, "y" * 10**6), (b"x" * 10**6, b"y" * 10**6)):
        with pytest.raises(ValueError) as info:
            assert_structural_equal([left], [right])
        assert len(str(info.value)) < 700
    assert str(10**20) in str(explain_structural_mismatch(10**20, 1))


def test_a_callback_whose_answer_contains_its_argument_in_pre_order():
    message = (
        r"returned a value for the (test_error_texts\.Add) that contains the \1 itself.*"
        "use post-order, or return a value without it"
    )
    with pytest.raises(ValueError, match=message):
        structural_map([Add(1, 2)], (Add, lambda v: Add(v, 1)), order="pre")
    wrapped = structural_map([Add(1, 2)], (Add, lambda v: Add(v, 1)))
    assert wrapped[0].lhs.lhs == 1


def test_a_misspelled_field_cannot_be_set():
    add = Add(1, 2)
    with pytest.raises(AttributeError, match=r"lsh.*did you mean 'lhs'\?"):
        add.lsh = 3
    with pytest.raises(AttributeError) as info:
        add.nothing_like_it = 3
    assert "did you mean" not in str(info.value)
    with pytest.raises(AttributeError):
        del add.lsh
    assert (add.lhs, add.rhs) == (1, 2)


def test_a_forgotten_return_is_refused():
    def forgets(node, *_):
        replace(node, lhs=2)

    for call in (structural_map, structural_mutate):
        with pytest.raises(TypeError, match=r"callback for test_error_texts\.Add returned None"):
            call([Add(1, 2)], (Add, forgets))
