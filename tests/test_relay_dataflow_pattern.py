"""Dataflow patterns of Relay: every form, explanations, and bad input."""

import pytest
from dataflow import INT, ONE, PAIR, A, B, C, conv, relu, unary

from isoform import ir, relay, tir
from isoform.relay import dataflow_pattern as dp
from isoform.relay.dataflow_pattern import (
    DFPatternCallback,
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_alt,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    match,
    partition,
    rewrite,
    wildcard,
)


def bound(names):
    v = relay.var("v")
    return relay.Let(v, names, relu(v))


def function_of(body):
    return relay.Function([A], body)


ARGS = wildcard()


SAME = wildcard()


NESTED = is_op("add")(is_op("multiply")(is_var("a"), is_var("b")), is_var("c"))


# The form, the pattern, expressions that match, expressions that do not.
FORMS = {
    "wildcard": (wildcard(), [A, ONE, PAIR, relu(A), ir.Op.get("add")], []),
    "variable": (is_var(), [A, B], [ONE, relu(A)]),
    "variable with a name": (is_var("a"), [A, relay.var("a")], [B]),
    "constant": (is_constant(), [ONE, relay.const([1, 2])], [A]),
    "expression": (is_expr(relay.const(1.0)), [ONE], [A, relay.const(2.0), relay.const(1)]),
    "shared expression": (is_expr(A), [A], [B, relay.var("a", shape=(2, 3))]),
    "operator": (is_op("exp"), [ir.Op.get("exp")], [ir.Op.get("log"), A]),
    "call": (unary("exp"), [relay.exp(A)], [relay.log(A), A, A + B]),
    "call of anything": (wildcard()(wildcard()), [relay.exp(A), A(B)], [A + B, A]),
    "call with any arguments": (is_op("add")(None), [A + B, B + A], [A * B]),
    "call without arguments": (wildcard()(), [A()], [A(B)]),
    "same operand twice": (SAME + SAME, [A + A], [A + B]),
    "equal operands are two": (SAME * SAME, [A * A], [relu(A) * relu(A)]),
    "sum": (is_var("a") + is_var("b"), [A + B, B + A], [A + A, A - B]),
    "difference": (is_var("a") - is_var("b"), [A - B], [B - A]),
    "product": (is_var("a") * is_var("b"), [A * B, B * A], [B * B]),
    "quotient": (is_var("a") / is_var("b"), [A / B], [B / A]),
    "nested either order": (NESTED, [A * B + C, C + B * A, B * A + C], [A * C + B]),
    "quotient regrouped": (
        (is_var("a") * is_var("b")) / is_var("c"),
        [A * B / C, A * (B / C), B * (A / C), (A / C) * B, (B / C) * A],
        [A / C / B, A * (C / B), C * (A / B)],
    ),
    "product regrouped": (
        is_var("a") * (is_var("b") / is_var("c")),
        [A * (B / C), (B / C) * A, A * B / C, B * A / C],
        [A / (B * C), (A * C) / B],
    ),
    "alternative": (unary("exp") | unary("log"), [relay.exp(A), relay.log(A)], [relu(A)]),
    "alternative by name": (is_alt(is_var(), is_constant()), [A, ONE], [relu(A)]),
    "alternative inside": (
        relu_of := is_op("nn.relu")(unary("exp") | unary("log")),
        [relu(relay.exp(A)), relu(relay.log(A))],
        [relu(A), relay.exp(A)],
    ),
    "alternative that a later part decides": (
        is_op("subtract")((SAME | is_op("exp")(SAME)), SAME),
        [A - A, relay.exp(A) - A],
        [relay.exp(A) - B],
    ),
    "optional": (
        unary("exp").optional(lambda x: is_op("nn.relu")(x)),
        [relay.exp(A), relu(relay.exp(A))],
        [relu(A)],
    ),
    "tuple": (
        is_tuple([is_var("a"), wildcard()]),
        [PAIR],
        [relay.Tuple([B, A]), relay.Tuple([A]), A],
    ),
    "any tuple": (is_tuple(None), [PAIR, relay.Tuple([])], [A]),
    "item": (
        is_tuple_get_item(wildcard(), 1),
        [relay.TupleGetItem(PAIR, 1)],
        [relay.TupleGetItem(PAIR, 0), A],
    ),
    "any item": (
        is_tuple_get_item(is_tuple([wildcard(), wildcard()])),
        [relay.TupleGetItem(PAIR, 1), relay.TupleGetItem(PAIR, 0)],
        [relay.TupleGetItem(A, 0)],
    ),
    "if": (
        is_if(is_var("a"), is_var("b"), wildcard()),
        [relay.If(A, B, C)],
        [relay.If(A, C, B), A],
    ),
    "let": (
        is_let(SAME_VAR := is_var(), is_var("a"), is_op("nn.relu")(SAME_VAR)),
        [bound(A)],
        [bound(B), relay.Let(B, A, relu(A)), A],
    ),
    "function": (
        is_function([P := is_var()], is_op("exp")(P)),
        [function_of(relay.exp(A))],
        [function_of(relay.exp(B)), relay.Function([A, B], relay.exp(A)), A],
    ),
    "function with any parameters": (
        is_function(None, unary("exp")),
        [function_of(relay.exp(A)), relay.Function([], relay.exp(B))],
        [function_of(A)],
    ),
    "attribute of an operator": (
        wildcard().has_attr({"TOpPattern": 0})(None),
        [relay.exp(A), relu(A)],
        [A + B, A(B)],
    ),
    "attribute of a call": (
        has_attr({"axis": 1}, is_op("nn.softmax")(wildcard())),
        [relay.nn.softmax(A, axis=1)],
        [relay.nn.softmax(A, axis=0), relay.exp(A)],
    ),
    "attributes of a call": (
        is_op("nn.conv2d")(None).has_attr(
            {"kernel_size": [3, 3], "channels": 8, "data_layout": "NCHW"}
        ),
        [conv(A, B)],
        [relay.nn.conv2d(A, B, kernel_size=(1, 1), channels=8)],
    ),
    "attribute with a data type": (
        is_op("cast")(wildcard()).has_attr({"dtype": "int8"}),
        [relay.cast(A, "int8")],
        [relay.cast(A, "int16")],
    ),
    "attribute as a number of the IR": (
        is_op("nn.softmax")(wildcard()).has_attr({"axis": tir.IntImm("int32", 1)}),
        [relay.nn.softmax(A, axis=1)],
        [relay.nn.softmax(A, axis=0)],
    ),
    "attribute as a truth value": (
        is_op("sum")(wildcard()).has_attr({"keepdims": 1, "axis": [0]}),
        [relay.sum(A, axis=0, keepdims=True)],
        [relay.sum(A, axis=0), relay.sum(A, axis=1, keepdims=True)],
    ),
    "attribute of a function": (
        is_function(None, wildcard()).has_attr({"Composite": "x"}),
        [function_of(A).with_attr("Composite", "x")],
        [function_of(A).with_attr("Composite", "y"), function_of(A)],
    ),
    "no attributes": (has_attr({}), [relu(A), function_of(A)], []),
    "data type": (has_dtype("float32"), [A, A + B, relu(A)], [INT, PAIR]),
    "data type of an operand": (
        is_op("nn.relu")(wildcard().has_dtype("int32")),
        [relu(INT)],
        [relu(A)],
    ),
    "shape": (has_shape((2, 3)), [A, INT, relu(A)], [relay.var("s", shape=(3, 2)), PAIR]),
    "shape of a result": (
        is_op("transpose")(wildcard()).has_shape([3, 2]),
        [relay.transpose(A)],
        [relay.transpose(relay.transpose(A))],
    ),
    "type": (has_type(relay.TensorType((2, 3), "float32")), [A, A * B], [INT]),
    "type of a tuple": (
        has_type(relay.TupleType([relay.TensorType((2, 3), "float32")] * 2)),
        [PAIR],
        [A, relay.Tuple([A])],
    ),
}


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    FORMS.values(),
    ids=[name.replace(" ", "_") for name in FORMS],
)
def test_form(pattern, matching, others):
    for expr in matching:
        assert pattern.match(expr) is True
        assert match(pattern, expr) is True
        assert pattern.explain(expr) is None
    for expr in others:
        assert pattern.match(expr) is False
        assert match(pattern, expr) is False
        assert str(pattern.explain(expr)).startswith("<root>")


@pytest.mark.parametrize(
    ("pattern", "expr", "text"),
    [
        (
            is_op("exp")(is_constant()),
            relay.exp(A),
            "<root>.args[0]: expected relay.Constant, got relay.Var",
        ),
        (is_op("exp")(wildcard()), relay.log(A), "<root>: expected the operator exp, got log"),
        (is_op("add")(wildcard()), A + B, "<root>: expected 1 arguments, got 2"),
        (is_var("x"), A, "<root>: expected a variable 'x', got 'a'"),
        (is_tuple([wildcard()]), PAIR, "<root>: expected 1 fields, got 2"),
        (
            is_tuple_get_item(is_var(), 0),
            relay.TupleGetItem(A, 1),
            "<root>: expected the index 0, got 1",
        ),
        (is_function([], wildcard()), function_of(A), "<root>: expected 0 parameters, got 1"),
        (has_dtype("int8"), A, "<root>: expected the data type int8, got float32"),
        (has_shape((1,)), A, "<root>: expected the shape [1], got [2, 3]"),
        (has_dtype("int8"), PAIR, "<root>: expected a tensor, got a value of the type"),
        (
            has_attr({"axis": 1}),
            relay.nn.softmax(A, axis=0),
            "<root>: attribute 'axis': expected 1, got 0",
        ),
        (
            has_attr({"nothing": 1}),
            A,
            "<root>: expected an attribute 'nothing', got relay.Var without it",
        ),
        (
            is_expr(ONE),
            A,
            "<root>: expected an expression equal to the given relay.Constant, got relay.Var",
        ),
        (
            is_op("subtract")(SAME, SAME),
            A - B,
            "<root>.args[1]: expected the vertex bound to the same pattern before, got relay.Var",
        ),
        # The alternative that got further is explained.
        (
            unary("log") | is_op("exp")(is_op("nn.relu")(is_constant())),
            relay.exp(relu(A)),
            "<root>.args[0].args[0]: expected relay.Constant, got relay.Var",
        ),
        (
            is_op("exp")(is_op("nn.relu")(is_constant())) | unary("log"),
            relay.exp(relu(A)),
            "<root>.args[0].args[0]: expected relay.Constant, got relay.Var",
        ),
        (
            dominates(unary("exp"), unary("nn.relu"), is_op("add")(wildcard(), wildcard())),
            relay.exp(A) + relay.exp(B),
            "<root>: no vertex above matches the parent",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_explanation_has_the_place_and_the_reason(pattern, expr, text):
    assert str(pattern.explain(expr)).startswith(text)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: is_op("add")(wildcard(), ONE),
            TypeError,
            r"CallPattern\.args\[1\]: expected a DFPattern, got relay\.Constant; write is_expr",
        ),
        (
            lambda: wildcard() + 1,
            TypeError,
            r"CallPattern\.args\[1\]: expected a DFPattern, got int",
        ),
        (lambda: wildcard() | A, TypeError, r"AltPattern\.right: expected a DFPattern"),
        (
            lambda: is_tuple(wildcard()),
            TypeError,
            r"TuplePattern\.fields: expected a sequence of DFPatterns",
        ),
        (lambda: is_function([A], wildcard()), TypeError, r"FunctionPattern\.params\[0\]"),
        (lambda: is_if(A, wildcard(), wildcard()), TypeError, r"IfPattern\.cond"),
        (lambda: is_let(wildcard(), 1, wildcard()), TypeError, r"LetPattern\.value"),
        (lambda: dominates(wildcard(), wildcard(), A), TypeError, r"DominatorPattern\.child"),
        (lambda: wildcard().redirect_to(A), TypeError, r"redirect_to"),
        (
            lambda: wildcard().has_attr(1),
            TypeError,
            r"AttrPattern\.attrs: expected values by name, got int",
        ),
        (
            lambda: is_expr(1),
            TypeError,
            r"ExprPattern\.expr: expected an expression of Relay, got int",
        ),
        (lambda: is_op("no.such.operator"), AttributeError, "no.such.operator"),
        (lambda: wildcard().match(3), TypeError, "match: expected an expression of Relay, got int"),
        (lambda: match(A, A), TypeError, r"match\.pattern: expected a DFPattern"),
        (lambda: partition(A, A), TypeError, r"partition\.pattern: expected a DFPattern"),
        (
            lambda: rewrite([1], A),
            TypeError,
            r"rewrite\.callbacks: expected DFPatternCallbacks, got int",
        ),
        (
            lambda: rewrite(DFPatternCallback(), A),
            TypeError,
            r"DFPatternCallback\.pattern: expected a DFPattern",
        ),
    ],
)
def test_bad_input_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_the_module_is_public():
    assert relay.dataflow_pattern is dp
    assert set(dp.__all__) == {name for name in dp.__all__ if hasattr(dp, name)}


def test_the_modules_of_relay_have_the_names_of_tvm():
    from isoform.relay import adt, expr, function

    names = """
        If Let TupleGetItem GlobalVar RefCreate RefRead RefWrite ConstantWithFields TupleWithFields
        VarWithFields CallWithFields LetWithFields IfWithFields TupleGetItemWithFields
        RefCreateWithFields RefReadWithFields RefWriteWithFields
    """
    for module, of_module in (
        (expr, names.split()),
        (function, ["FunctionWithFields"]),
        (adt, adt.__all__),
    ):
        for name in of_module:
            assert getattr(module, name) is getattr(relay, name)
    for module in (expr, function):
        with pytest.raises(AttributeError, match="no attribute 'missing'"):
            module.missing  # noqa: B018
