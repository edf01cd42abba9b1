"""The statements of the reference document on adding a pass to Relay.

Its headings have no numbers; they are counted from 1, which is the title:

| 1 adding a pass | 2 traversers | 3 visitors | 4 mutators | 5 constant folding |
| 6 ConstantChecker | 7 ConstantFolder | 8 registering |

The docstring of a test begins with its sections. Further statements are tested in
`test_writing_a_pass.py`, `test_relay_functors.py` and `test_relay_values_evaluate.py`.
"""

import numpy as np
import pytest
from test_writing_a_pass import block

import isoform
from isoform import get_global_func, ir, register_global_func, relay, structural_equal
from isoform.transform import Pass, PassContext, Sequential, make_pass
from isoform.visitors import Later

ONE, TWO = relay.const(1), relay.const(2)
C, X, Y = (relay.var(name) for name in "cxy")


class CallChecker(relay.ExprVisitor):
    """Reports whether an expression contains a call, as in section 3."""

    visits = 0

    def check(self, expr):
        self.result = False
        self.visit(expr)
        return self.result

    def visit_call(self, call):
        self.visits += 1
        self.result = True


class IfCollapser(relay.ExprMutator):
    """Takes the true branch of every `if`, as in section 4."""

    visits = 0

    def visit_if(self, if_):
        self.visits += 1
        return self.visit(if_.true_branch)

    def collapse_ifs(self, expr):
        return self.visit(expr)


def test_passes_modify_programs_or_collect_facts():
    """1: a pass changes the program, or collects information, or both."""
    seen = []

    @relay.transform.function_pass(opt_level=0)
    def Collapse(func, mod, ctx):  # noqa: N802
        seen.append(CallChecker().check(func))
        return IfCollapser().visit(func)

    x = relay.var("x", shape=(), dtype="bool")
    mod = ir.IRModule.from_expr(relay.Function([x], relay.If(x, relay.logical_not(x), x)))
    assert structural_equal(Collapse(mod)["main"].body, relay.logical_not(x), map_free_vars=True)
    assert seen == [True]
    assert isinstance(mod["main"].body, relay.If)


def test_type_inference_is_a_pass():
    """1: features such as type inference and automatic differentiation are passes."""
    infer = relay.transform.InferType()
    assert isinstance(infer, Pass)
    x = relay.var("x", shape=(2, 3))
    done = infer(ir.IRModule.from_expr(relay.Function([x], x + x)))
    assert done["main"].body.checked_type.concrete_shape == (2, 3)
    # FIXME: there is no automatic differentiation.
    for name in ("FirstOrderGradient", "transform.FirstOrderGradient"):
        with pytest.raises(ValueError, match="no pass is registered"):
            make_pass(name)


def test_a_functor_returns_whatever_its_methods_return():
    """2: the result of a visit is of any type; methods are chosen by the type of expression."""

    class Text(relay.ExprFunctor):
        def visit_var(self, var):
            return var.name_hint

        def visit_if(self, if_):
            cond, first = (yield if_.cond), (yield if_.true_branch)
            return f"{cond} ? {first} : {(yield if_.false_branch)}"

        def visit_tuple(self, tup):
            return [self.visit(field) for field in tup.fields]

    text = Text()
    assert text.visit(relay.If(C, X, Y)) == "c ? x : y"
    assert text.visit(relay.Tuple([X])) == ["x"]

    class Indented(relay.ExprFunctor):
        def visit_var(self, var, depth):
            return " " * depth + var.name_hint

        def visit_tuple(self, tup, depth):
            return "\n".join(self.visit(field, depth + 1) for field in tup.fields)

    assert Indented().visit(relay.Tuple([X, relay.Tuple([Y])]), 0) == " x\n  y"


def test_only_visitors_and_mutators_have_defaults():
    """2: the general functor has no patterns of traversal; the two others extend it with them."""
    expr = relay.Tuple([relay.If(C, X, relay.TupleGetItem(Y, 0))])
    with pytest.raises(NotImplementedError):
        relay.ExprFunctor().visit(expr)
    for base in (relay.ExprVisitor, relay.ExprMutator):
        seen = []

        class Own(base):
            def visit_var(self, var):
                seen.append(var)
                return var

        assert issubclass(base, relay.ExprFunctor)
        Own().visit(expr)
        assert seen == [C, X, Y]


def test_a_visitor_returns_nothing_and_changes_nothing():
    """3: visits return nothing, whatever their class, and leave the program alone."""

    class Names(relay.ExprVisitor):
        def __init__(self):
            super().__init__()
            self.names = []

        def visit_var(self, var):
            self.names.append(var.name_hint)

    expr = relay.Tuple([relay.If(C, X + Y, relay.TupleGetItem(Y, 0)), ONE])
    before, names = isoform.structural_hash(expr), Names()
    assert names.visit(expr) is None and names.visit(X) is None
    assert names.names == ["c", "x", "y"]
    assert isoform.structural_hash(expr) == before


def test_a_checker_needs_one_method_and_looks_no_further():
    """3: one method finds calls anywhere, and need not visit what is below a call."""
    inner = X(Y)
    for expr, expected in [
        (relay.Tuple([X, relay.If(C, X, inner)]), True),
        (relay.Let(X, inner, X), True),
        (relay.Function([X], relay.TupleGetItem(inner, 0)), True),
        (relay.Tuple([X, relay.If(C, X, Y)]), False),
        (ONE, False),
    ]:
        assert CallChecker().check(expr) is expected, expr
    checker = CallChecker()
    assert checker.check(X(inner, relay.Tuple([inner])))
    assert checker.visits == 1


def test_a_check_prepares_the_visitor():
    """3: the public method resets the field before it visits, so a checker can be reused."""
    checker, call = CallChecker(), X(Y)
    assert checker.check(call)
    assert not checker.check(Y)
    assert checker.check(relay.Tuple([X(Y)]))
    assert checker.check(call) and checker.check(call)
    assert checker.check(relay.Tuple([X, call])) and not checker.check(Y)


def test_visitors_keep_results_too():
    """4: a mutator remembers results, a visitor does not."""
    mutator = relay.ExprMutator()
    mutator.visit(relay.Tuple([X]))
    assert mutator.memo_map[X] is X
    visitor = relay.ExprVisitor()
    visitor.visit(relay.Tuple([X]))
    # FIXME: a visitor has a memo of its own, with None as the result of every expression.
    assert visitor.memo_map[X] is None


def test_a_mutator_treats_every_expression_field():
    """4: each field with an expression is set to the result of visiting it."""

    class Swap(relay.ExprMutator):
        def visit_var(self, var):
            return {X: Y, Y: X}.get(var, var)

    for expr, expected in [
        (relay.TupleGetItem(X, 3), relay.TupleGetItem(Y, 3)),
        (relay.Tuple([X, ONE, Y]), relay.Tuple([Y, ONE, X])),
        (relay.If(X, Y, C), relay.If(Y, X, C)),
        (relay.Call(X, [Y, C]), relay.Call(Y, [X, C])),
        (relay.Let(X, ONE, Y), relay.Let(Y, ONE, X)),
        (relay.Function([X], Y), relay.Function([Y], X)),
        (
            relay.RefWrite(relay.RefCreate(X), relay.RefRead(Y)),
            relay.RefWrite(relay.RefCreate(Y), relay.RefRead(X)),
        ),
    ]:
        assert structural_equal(Swap().visit(expr), expected)
        assert not structural_equal(expr, expected)


def test_mutate_is_visit():
    """4: the method that rewrites an expression has a second name."""
    assert IfCollapser().visit(relay.If(C, X, Y)) is X
    # FIXME: there is one name, `visit`.
    with pytest.raises(AttributeError, match="mutate"):
        _ = IfCollapser().mutate


def test_a_new_node_is_made_only_for_a_change():
    """4: an update returns the old node if its field is the same object, else a new one."""

    class Replace(relay.ExprMutator):
        def visit_constant(self, const):
            return TWO

    kept, changed = relay.TupleGetItem(X, 0), relay.TupleGetItem(relay.Tuple([ONE]), 0)
    done = Replace().visit(relay.Tuple([kept, changed]))
    assert done[0] is kept
    assert done[1] is not changed and done[1].tuple_value[0] is TWO
    assert changed.tuple_value[0] is ONE  # The update is functional.


def test_results_of_a_mutator_are_cached():
    """4: an expression at several places is rewritten once."""
    shared = relay.If(C, relay.Tuple([X]), Y)
    collapser = IfCollapser()
    done = collapser.collapse_ifs(relay.Tuple([shared, relay.Tuple([shared]), shared]))
    assert collapser.visits == 1
    assert done[0] is done[1][0] is done[2]
    assert collapser.memo_map[shared] is done[0]


def test_any_class_of_expression_may_come_in_the_place_of_another():
    """4: every `if` gives way to its true branch, which need not be an `if`."""
    nested = relay.If(C, relay.If(C, X, Y), Y)
    assert IfCollapser().collapse_ifs(nested) is X
    function = relay.Function([X, C], relay.Tuple([nested, relay.If(nested, X(Y), Y)]))
    expected = relay.Function([X, C], relay.Tuple([X, X(Y)]))
    assert structural_equal(IfCollapser().collapse_ifs(function), expected)


@pytest.fixture(scope="module")
def folding():
    """The classes of the page that builds the pass."""
    return block("class ConstantChecker")


def all_calls(expr):
    found = []
    relay.analysis.post_order_visit(
        expr, lambda node: found.append(node) if isinstance(node, relay.Call) else None
    )
    return found


def test_everything_constant_is_computed_in_advance(folding):
    """5: parts that involve only constants are replaced by their values, all others stay."""
    fold = folding["fold_constant"]
    three = relay.const(3)
    program = relay.Tuple([(ONE + TWO) * three, X + (TWO * three), relay.If(C, ONE + ONE, X)])
    for done in (fold(program), relay.transform.FoldConstantExpr(program)):
        assert done[0].data.numpy() == 9
        assert done[1].args[1].data.numpy() == 6
        assert done[2].true_branch.data.numpy() == 2
        assert len(all_calls(done)) == 1
    assert len(all_calls(program)) == 5


def test_the_folder_combines_a_visitor_and_a_mutator(folding):
    """5, 7: the visitor reports which operands are constant, the mutator replaces."""
    folder = folding["ConstantFolder"]()
    assert isinstance(folder, relay.ExprMutator)
    assert isinstance(folder.checker, relay.ExprVisitor)
    folder.checker.check = lambda expr: False
    program = ONE + TWO
    assert folder.visit(program) is program


def test_answers_of_the_checker_are_cached(folding):
    """6: the checker looks at each node once, and keeps the results."""
    looked = []

    class Counting(folding["ConstantChecker"]):
        def visit_constant(self, const):
            looked.append(const)
            return super().visit_constant(const)

    shared = relay.Tuple([ONE])
    checker, expr = Counting(), relay.Tuple([shared, shared, ONE])
    assert checker.check(expr) and checker.check(expr) and checker.check(shared)
    assert looked == [ONE]
    assert checker.memo_map[expr] is checker.memo_map[shared] is checker.memo_map[ONE] is True


def test_what_cannot_be_constant_is_false_by_default(folding):
    """6: only nodes that could be constant have an answer, the default is false."""
    checker = folding["ConstantChecker"]()
    expr = relay.Tuple([ONE, X])
    assert checker.check(expr) is False and checker.check(X) is False
    assert checker.memo_map[expr] is False
    # FIXME: other nodes are remembered, too, with the result None.
    assert checker.memo_map[X] is None


def test_bindings_of_constants_are_propagated(folding):
    """7: a binding whose folded value is a constant disappears, its uses become the constant."""
    body = relay.Tuple([Y, X + Y])
    done = folding["fold_constant"](relay.Let(Y, ONE + TWO, body))
    assert isinstance(done, relay.Tuple)
    assert done[0].data.numpy() == 3
    assert done[1].args[1] is done[0]


def test_other_bindings_stay(folding):
    """7: otherwise a `let` is rebuilt as by default: value and body folded, or the same object."""
    fold, z = folding["fold_constant"], relay.var("z")
    done = fold(relay.Let(Y, X + (ONE + TWO), relay.Let(z, ONE, Y + z)))
    assert isinstance(done, relay.Let)
    assert done.var is Y
    assert done.value.args[1].data.numpy() == 3
    assert done.body.args[1] is ONE
    for kept in (relay.Let(Y, X + X, Y), relay.Let(Y, relay.Tuple([ONE]), Y)):
        assert fold(kept) is kept


def test_items_of_written_tuples_are_the_fields(folding):
    """7: an item of a tuple expression is the field; what only evaluates to a tuple stays."""
    fold = folding["fold_constant"]
    for index, expected in enumerate([X, Y]):
        assert fold(relay.TupleGetItem(relay.Tuple([X, Y]), index)) is expected
    # The tuple may come out of the folding itself.
    inner = relay.TupleGetItem(relay.Tuple([relay.Tuple([Y, X])]), 0)
    assert fold(relay.TupleGetItem(inner, 1)) is X
    pair = relay.Tuple([X, Y])
    for value in (X, X(Y), relay.If(C, pair, pair)):
        item = relay.TupleGetItem(value, 0)
        assert fold(item) is item


def test_a_call_is_evaluated_only_if_all_arguments_are_constant(folding):
    """7: arguments are folded first; one unknown argument keeps the call."""
    fold = folding["fold_constant"]
    kept = fold((ONE + TWO) + (X + (TWO * TWO)))
    assert kept.args[0].data.numpy() == 3
    assert kept.args[1].args[1].data.numpy() == 4
    joined = fold(relay.concatenate([relay.const([1]), relay.const([2, 3])], 0))
    assert joined.data.numpy().tolist() == [1, 2, 3]  # A tuple of constants is constant.
    partly = relay.concatenate([relay.const([1]), X], 0)
    assert fold(partly) is partly


def test_the_inherited_method_does_not_come_back():
    """7: the default method visits below the call; a visit of the call itself would not end."""

    class Default(relay.ExprMutator):
        def visit_call(self, call):
            return (yield Later(super().visit_call, call))

    class Endless(relay.ExprMutator):
        def visit_call(self, call):
            return (yield call)

    call = X(Y)
    assert Default().visit(call) is call
    with pytest.raises(ValueError, match="yield of the node whose method runs"):
        Endless().visit(call)


def test_values_become_expressions(folding):
    """7: the value of a call is put back into the program as an expression."""
    value = relay.create_executor().evaluate(relay.const([1.5, 2.5]) * relay.const(2.0))
    expr = folding["value_to_expr"](value)
    assert isinstance(expr, relay.Constant)
    assert expr.data.numpy().tolist() == [3.0, 5.0]
    nested = folding["value_to_expr"]((value, (value,)))
    assert nested[1][0].data.numpy().dtype == np.float32


def test_the_public_function_makes_a_folder_for_each_expression(folding):
    """7: it stands outside of the class, takes an expression, and keeps nothing."""
    fold = folding["fold_constant"]
    program = relay.Let(Y, ONE, relay.Tuple([Y]))
    first, second = fold(program), fold(program)
    assert first is not second
    assert structural_equal(first, second)
    # Nothing is left of the binding: the variable is free here.
    assert fold(Y) is Y


def test_a_registered_pass_is_called_by_its_name(name):
    """8: the registered body takes the first argument and returns the result."""
    endpoint = name("collapse_ifs")

    @register_global_func(endpoint)
    def collapse_ifs(expr):
        return IfCollapser().collapse_ifs(expr)

    assert get_global_func(endpoint)(relay.If(C, X, Y)) is X
    fold = get_global_func("relay._transform.FoldConstantExpr")
    assert fold(ONE + TWO, False).data.numpy() == 3


def test_both_languages_use_a_registered_pass(name):
    """1, 8: Rust finds a pass by its registered name, a function of Python wraps it."""
    passes, ran = name("pass"), []

    @register_global_func(f"transform.{passes}")
    def make():
        return relay.transform.function_pass(
            lambda func, mod, ctx: ran.append(func) or IfCollapser().visit(func), 0, passes
        )

    def CollapseIfs():  # noqa: N802
        return get_global_func(f"transform.{passes}")()

    x = relay.var("x", shape=(), dtype="bool")
    mod = ir.IRModule.from_expr(relay.Function([x], relay.If(x, x, x)))
    idle = isoform.transform.module_pass(
        lambda mod, ctx: mod, opt_level=0, name="idle", required=[passes]
    )
    try:
        wrapped = CollapseIfs()(mod)["main"]
        with PassContext(opt_level=1):
            done = Sequential([idle])(mod)  # Rust makes the required pass.
    finally:
        isoform.remove_global_func(f"transform.{passes}")
    for main in (wrapped, done["main"]):
        assert main.body is main.params[0]
    assert len(ran) == 2
