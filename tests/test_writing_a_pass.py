"""The passes of docs/writing-a-pass.md, beyond what the page itself checks.

Numbers in docstrings are sections, counted as in `test_reference_relay_tutorial.py`.
"""

import importlib.util
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scale import scaled

import isoform
from isoform import Tensor, ir, onnx, relay, structural_equal, structural_walk
from isoform.transform import PassContext, make_pass, parse_pipeline
from isoform.visitors import Later

ROOT = Path(__file__).resolve().parent.parent
MODELS = os.environ.get("ISOFORM_MODELS")
PAGE = (ROOT / "docs" / "writing-a-pass.md").read_text(encoding="utf-8")


def block(words):
    """The names defined in a block of the page."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (source,) = [source for source in blocks if words in source]
    names = {"__name__": "page"}
    exec(compile(source, "writing-a-pass.md", "exec"), names)  # noqa: S102
    return names


@pytest.fixture(scope="module")
def folding():
    return block("class ConstantChecker")


def test_the_checker_accepts_constants_and_tuples_of_them(folding):
    """6: a constant is constant, and so is a tuple of constants, at any depth."""
    one, x = relay.const(1), relay.var("x")
    for expr, expected in [
        (one, True),
        (relay.Tuple([]), True),
        (relay.Tuple([one, relay.Tuple([one])]), True),
        (relay.Tuple([one, relay.Tuple([x])]), False),
        (x, False),
        (one + one, False),
        (relay.TupleGetItem(relay.Tuple([one]), 0), False),
    ]:
        assert folding["ConstantChecker"]().check(expr) is expected, expr


def test_calls_without_arguments_or_with_effects_are_not_folded(folding):
    """7: no arguments, effects, or a callee other than an operator keep a call."""
    fold = folding["fold_constant"]
    ones = relay.ones((2, 2), "float32")
    assert fold(ones) is ones
    ir.register_op_attr("test.writing.random", "TOpIsStateful", True)
    relay.op.register_kernel("test.writing.random", lambda call: call.inputs[0])
    random = relay.Call(ir.Op.get("test.writing.random"), [relay.const(1)])
    assert fold(random) is random
    function = relay.Call(relay.Function([], relay.const(1)), [])
    assert fold(function) is function


def test_several_results_become_a_tuple(folding):
    """7: the value of a call becomes an expression, also if it is a tuple."""
    halves = relay.split(relay.const(np.arange(4)), 2)
    done = folding["fold_constant"](relay.TupleGetItem(halves.astuple(), 1))
    assert done.data.numpy().tolist() == [2, 3]


def test_chains_of_bindings_and_calls_are_folded_at_any_depth(folding):
    levels, calls = scaled(100_000, 30_000), scaled(10_000, 3_000)
    names = [relay.var("v") for _ in range(levels)]
    expr = names[-1]
    for index in reversed(range(levels)):
        value = names[index - 1] if index else relay.const(1)
        expr = relay.Let(names[index], value, expr)
    assert folding["fold_constant"](expr).data.numpy() == 1
    total = relay.const(0)
    for _ in range(calls):
        total = total + relay.const(1)
    assert folding["fold_constant"](total).data.numpy() == calls


def test_what_does_not_change_is_the_same_object(folding):
    """4, 7: what is not folded is left as by default."""
    x, y = relay.var("x"), relay.var("y")
    expr = relay.Let(y, x + x, relay.Tuple([relay.TupleGetItem(x, 0), y]))
    assert folding["fold_constant"](expr) is expr


def test_the_defaults_can_be_written_out():
    """2, 3, 4: the default for `if` visits its three parts, that for an item updates its tuple."""

    class Visitor(relay.ExprVisitor):
        seen = 0

        def visit(self, expr):
            self.seen += 1
            return super().visit(expr)

        def visit_if(self, if_):
            self.visit(if_.cond)
            self.visit(if_.true_branch)
            self.visit(if_.false_branch)

    class Mutator(relay.ExprMutator):
        def visit_var(self, var):
            return replaced.get(var, var)

        def visit_tuple_getitem(self, g):
            t = self.visit(g.tuple_value)
            if g.tuple_value.same_as(t):
                return g
            return relay.TupleGetItem(t, g.index)

    c, x, y = (relay.var(name) for name in "cxy")
    visitor = Visitor()
    visitor.visit(relay.If(c, x, relay.If(c, x, y)))
    assert visitor.seen == 7  # Uses of one variable are visits, too; its method runs once.
    item = relay.TupleGetItem(x, 1)
    replaced = {}
    assert Mutator().visit(item) is item
    replaced = {x: y}
    assert structural_equal(Mutator().visit(item), relay.TupleGetItem(y, 1), map_free_vars=True)


def test_an_override_of_visit_sees_every_expression_without_nesting():
    """2: an override of `visit` acts before every visit."""

    class PrintVisitor(relay.ExprVisitor):
        lines = 0

        def visit(self, expr):
            self.lines += 1
            yield Later(super().visit, expr)

    expr = relay.var("x")
    # Methods that nest reach 20,000 levels, and not many more.
    levels = scaled(100_000, 30_000)
    for _ in range(levels):
        expr = relay.Tuple([expr])
    visitor = PrintVisitor()
    visitor.visit(expr)
    assert visitor.lines == levels + 1


def test_the_pass_of_the_library_has_the_names_of_both_worlds():
    """5, 8: the pass is a global function, wrapped in a function of Python."""
    function = isoform.get_global_func("relay._transform.FoldConstant")
    made = relay.transform.FoldConstant()
    assert type(made) is type(function(False)) is type(make_pass("FoldConstant"))
    x = relay.var("x", "int32")
    mod = ir.IRModule.from_expr(relay.Function([x], x + relay.const(2) * relay.const(3)))
    with PassContext(opt_level=3):
        done = relay.transform.FoldConstant()(mod)
    assert done["main"].body.args[1].data.numpy() == 6


@pytest.fixture(scope="module")
def passes():
    spec = importlib.util.spec_from_file_location(
        "onnx_passes", ROOT / "examples" / "onnx_passes.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_function_is_documented_in_lists_of_passes(passes):
    entries = {entry["name"]: entry for entry in isoform.transform.list_passes()}
    assert entries["onnx.CollapseIfs"]["doc"] == passes.IfCollapser.__doc__
    assert entries["onnx.FoldConstants"]["doc"].endswith("unless these exceed `limit` bytes.")


def test_values_that_are_too_large_or_undefined_are_not_folded(passes):
    def folded(op, inputs, attrs, limit=64):
        call = onnx.Call("", op, 13, None, attrs, inputs, 1)
        output = onnx.Output(call, 0)
        done = passes.ConstantFolder(limit).visit(onnx.Graph([], [None], [output])).results[0]
        return done.numpy() if isinstance(done, Tensor) else None

    dims = relay.const(np.array([2, 4])).data
    assert folded("ConstantOfShape", [dims], {}, limit=31) is None
    assert folded("ConstantOfShape", [dims], {}, limit=32).tolist() == [[0.0] * 4] * 2
    fill = relay.const(np.array([7], "int8")).data
    assert folded("ConstantOfShape", [dims], {"value": fill}, limit=8).dtype == np.int8
    assert folded("Unsqueeze", [dims], {"axes": [0, -1]}).shape == (1, 2, 1)
    axes = relay.const(np.array([1])).data
    assert folded("Unsqueeze", [dims, axes], {}).shape == (2, 1)
    # Inside of a function, the attribute is that of the call.
    assert folded("Unsqueeze", [dims], {"axes": onnx.AttrRef("axes")}) is None
    assert folded("Shape", [relay.const(np.zeros((3, 1))).data], {}).tolist() == [3, 1]
    # Incompatible shapes have no value.
    assert folded("Add", [dims, relay.const(np.arange(3)).data], {}) is None
    assert folded("Relu", [dims], {}) is None


@pytest.mark.skipif(MODELS is None, reason="ISOFORM_MODELS names no folder of models")
@pytest.mark.parametrize("name", ["squeezenet", "densenet121"])
def test_the_example_on_a_real_model(passes, name):
    program = onnx.load(Path(MODELS) / f"light_{name}.onnx").program
    before = passes.operators(program.graph)
    guard = parse_pipeline("onnx.GuardDropout{training=true}")(program)
    assert passes.operators(guard.graph)["If"] == before["Dropout"]
    assert structural_equal(passes.collapse_ifs(guard), program)
    pipeline = "onnx.GuardDropout,onnx.CollapseIfs,onnx.FoldConstants{limit=100000000}"
    done = parse_pipeline(pipeline)(program)
    after = passes.operators(done.graph)
    gone = {"Dropout", "ConstantOfShape", "Unsqueeze"}
    assert after == {op: count for op, count in before.items() if op not in gone}
    weights = []
    structural_walk(
        done,
        lambda value: (
            weights.append(value.inputs[1].numpy())
            if isinstance(value, onnx.Call) and value.op == "Conv"
            else None
        ),
    )
    # The light models have one number in place of every weight.
    assert len(weights) == before["Conv"]
    assert all((weight == np.float32(0.02)).all() for weight in weights)
