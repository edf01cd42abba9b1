"""Plain methods of visitors nest far deeper than Python's limit on nested calls."""

import contextvars
import gc
import sys
import textwrap
import threading
import traceback
from typing import Any

import pytest
from processes import output_of
from scale import FULL, scaled
from test_threads import together

from isoform import NodeFunctor, NodeMutator, NodeVisitor, _stacks, ir, relay
from isoform.dataclasses import Object, py_class
from isoform.pto import DataType, ir as pto
from isoform.transform import PassContext
from isoform.visitors import Later


@py_class("deep.Leaf")
class Leaf(Object):
    value: Any


@py_class("deep.Step")
class Step(Object):
    below: Any


@py_class("deep.Pair")
class Pair(Object):
    left: Any
    right: Any


def steps(levels):
    node = Leaf(1)
    for _ in range(levels):
        node = Step(node)
    return node


def exps(levels):
    expr = relay.var("x", shape=(2,))
    for _ in range(levels):
        expr = relay.exp(expr)
    return expr


def additions(levels):
    expr = pto.ConstInt(1, DataType.INT64)
    for _ in range(levels):
        expr = pto.Add(expr, expr, DataType.INT64)
    return expr


@pytest.fixture(autouse=True)
def nothing_left():
    """After a visit, its threads have ended and the settings of the process are as before."""
    settings = sys.getrecursionlimit(), threading.stack_size(), threading.active_count()
    yield
    assert settings == (sys.getrecursionlimit(), threading.stack_size(), threading.active_count())


class Counter:
    """The number of running methods, its maximum, and the number of threads with methods."""

    def __init__(self):
        super().__init__()
        self.depth = self.deepest = 0
        self.threads = set()

    def __enter__(self):
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        self.threads.add(threading.get_ident())

    def __exit__(self, *_):
        self.depth -= 1


class SuperMutator(Counter, relay.ExprMutator):
    def visit_call(self, call):
        with self:
            call = super().visit_call(call)
            return relay.tanh(call.args[0])


class OwnMutator(Counter, relay.ExprMutator):
    def visit_call(self, call):
        with self:
            return relay.Call(call.op, [self.visit(arg) for arg in call.args])


class SuperVisitor(Counter, relay.ExprVisitor):
    def visit_call(self, call):
        with self:
            super().visit_call(call)


class OwnVisitor(Counter, relay.ExprVisitor):
    def visit_call(self, call):
        with self:
            for arg in call.args:
                self.visit(arg)


class Printer(Counter, relay.ExprVisitor):
    def visit(self, expr):
        if not isinstance(expr, relay.Call):
            return super().visit(expr)
        with self:
            return super().visit(expr)

    def visit_call(self, call):
        self.visit(call.op)
        self.visit(call.args[0])


class Depth(Counter, relay.ExprFunctor):
    def visit_var(self, var):
        return 0

    def visit_call(self, call):
        with self:
            return 1 + max(self.visit(arg) for arg in call.args)


class Indented(Counter, relay.ExprFunctor):
    def visit_var(self, var, level):
        return level

    def visit_call(self, call, level):
        with self:
            return max(self.visit(arg, level + 1) for arg in call.args)


class Mixed(Counter, relay.ExprVisitor):
    """Every third method is a generator, which does not nest."""

    number = 0

    def visit_call(self, call):
        self.number += 1
        match self.number % 3:
            case 0:
                return self.generator(call)
            case 1:
                with self:
                    return super().visit_call(call)
            case _:
                with self:
                    return self.visit(call.args[0])

    def generator(self, call):
        yield call.op
        yield Later(super().visit_call, call)


class Patterns(Counter, relay.PatternMutator):
    def visit_pattern_tuple(self, pattern):
        with self:
            return relay.PatternTuple([self.visit(one) for one in pattern.patterns])


class Types(Counter, relay.TypeVisitor):
    def visit_tuple_type(self, ty):
        with self:
            for field in ty.fields:
                self.visit(field)


class StepVisitor(Counter, NodeVisitor, dialect="deep"):
    def visit_step(self, node):
        with self:
            super().visit_step(node)


class StepMutator(Counter, NodeMutator, dialect="deep"):
    def visit_step(self, node):
        with self:
            return Step(self.visit(node.below))

    def visit_leaf(self, node):
        return Leaf(node.value + 1)


class StepFunctor(Counter, NodeFunctor, dialect="deep"):
    def visit_step(self, node):
        with self:
            return self.visit(node.below) + 1

    def visit_leaf(self, node):
        return node.value


class Fresh(Counter, NodeFunctor, dialect="deep"):
    """Every level has a visitor of its own."""

    def __init__(self, counter=None):
        super().__init__()
        self.counter = counter or self

    def visit_step(self, node):
        with self.counter:
            return Fresh(self.counter).visit(node.below) + 1

    def visit_leaf(self, node):
        return node.value


class PtoVisitor(Counter, pto.IRVisitor):
    def visit_add(self, op):
        with self:
            super().visit_add(op)


class PtoMutator(Counter, pto.IRMutator):
    def visit_add(self, op):
        with self:
            return super().visit_add(op)


def patterns(levels):
    pattern = relay.PatternWildcard()
    for _ in range(levels):
        pattern = relay.PatternTuple([pattern])
    return pattern


def types(levels):
    ty = relay.TensorType([])
    for _ in range(levels):
        ty = relay.TupleType([ty])
    return ty


CASES = {
    "super of a mutator": (SuperMutator, exps, 1),
    "visit of a mutator": (OwnMutator, exps, 1),
    "super of a visitor": (SuperVisitor, exps, 1),
    "visit of a visitor": (OwnVisitor, exps, 1),
    "an overridden visit": (Printer, exps, 1),
    "a functor": (Depth, exps, 1),
    "further arguments": (Indented, exps, 1),
    "plain methods and generators": (Mixed, exps, 2 / 3),
    "patterns": (Patterns, patterns, 1),
    "types": (Types, types, 1),
    "super of a general visitor": (StepVisitor, steps, 1),
    "a general mutator": (StepMutator, steps, 1),
    "a general functor": (StepFunctor, steps, 1),
    "a visitor for each level": (Fresh, steps, 1),
    "super of a visitor of statements": (PtoVisitor, additions, 1),
    "super of a mutator of statements": (PtoMutator, additions, 1),
}


def arguments(visitor):
    return (0,) if isinstance(visitor, Indented) else ()


DEEPEST = CASES if FULL else ["super of a mutator", "an overridden visit", "a general functor"]
LEVELS = [*((case, 1_500) for case in CASES), *((case, 20_000) for case in DEEPEST)]


@pytest.mark.parametrize(("case", "levels"), LEVELS)
def test_plain_methods_nest(case, levels):
    cls, program, share = CASES[case]
    visitor, root = cls(), program(levels)
    result = visitor.visit(root, *arguments(visitor))
    assert visitor.depth == 0
    assert visitor.deepest >= int(levels * share)
    # So 20,000 levels take at most the 400 threads of a visit.
    assert len(visitor.threads) <= levels / 50
    if isinstance(visitor, (Depth, Indented)):
        assert result == levels
    if isinstance(visitor, (StepFunctor, Fresh)):
        assert result == levels + 1
    if isinstance(visitor, SuperMutator):
        assert relay.testing.count_ops(result) == {"tanh": levels}


@pytest.mark.parametrize("case", CASES)
def test_few_levels_stay_in_one_thread(case):
    cls, program, _ = CASES[case]
    visitor = cls()
    visitor.visit(program(40), *arguments(visitor))
    assert visitor.threads == {threading.get_ident()}


def test_threads_are_used_again(monkeypatch):
    started = []
    start = _stacks.start
    monkeypatch.setattr(_stacks, "start", lambda *args: started.append(args) or start(*args))
    for parts in (10, 1_000):
        started.clear()
        wide = Leaf(0)
        for _ in range(parts):
            wide = Pair(Step(Step(Leaf(0))), wide)

        class Wide(NodeVisitor, dialect="deep"):
            leaves = 0

            def visit_step(self, node):
                super().visit_step(node)

            def visit_leaf(self, node):
                self.leaves += 1

        for levels in (55, 60, 62, 64, 120, 130):
            node = wide
            for _ in range(levels):
                node = Step(node)
            wide_visitor = Wide()
            wide_visitor.visit(node)
            assert wide_visitor.leaves == parts + 1
        assert len(started) <= 12


class Deep(relay.ExprVisitor):
    """Calls a function at the deepest level."""

    def __init__(self, bottom):
        super().__init__()
        self.bottom = bottom
        self.finished = 0

    def visit_call(self, call):
        try:
            super().visit_call(call)
        finally:
            self.finished += 1

    def visit_var(self, var):
        return self.bottom()


def test_exceptions_come_back_as_they_are():
    error = LookupError("at the bottom")

    def bottom():
        raise error

    deep = Deep(bottom)
    with pytest.raises(LookupError) as caught:
        deep.visit(exps(2_500))
    assert caught.value is error
    assert deep.finished == 2_500
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-1] == "bottom"
    assert names.count("visit_call") == 2_500
    assert error.__context__ is None


def test_a_method_may_catch_the_exception_of_a_deeper_thread():
    class Catcher(Deep):
        level = 0

        def visit_call(self, call):
            self.level += 1
            if self.level != 700:
                return super().visit_call(call)
            try:
                super().visit_call(call)
            except LookupError:
                self.caught = True

    def bottom():
        raise LookupError

    catcher = Catcher(bottom)
    catcher.visit(exps(2_500))
    assert catcher.caught and catcher.finished == 2_500


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exceptions_that_end_programs_come_back(error):
    def bottom():
        raise error

    for _ in range(2):
        with pytest.raises(error):
            Deep(bottom).visit(exps(300))


def test_beyond_all_threads_is_an_error_with_advice():
    deep = Deep(lambda: None)
    with pytest.raises(RecursionError, match=r"nest too deeply, .* yields the child") as caught:
        deep.visit(exps(scaled(100_000, 30_000)))
    assert "threads" in str(caught.value.__cause__)
    assert deep.finished > 20_000
    assert len(str(caught.value.path)) > 1_000
    deep.visit(exps(100))


def test_a_system_without_threads_is_an_error_with_advice(monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_stacks, "start", refuse)
    with pytest.raises(RecursionError, match="yields the child") as caught:
        Deep(lambda: None).visit(exps(1_000))
    causes = caught.value.__cause__, caught.value.__cause__.__cause__
    assert "the system" in str(causes[0]) and isinstance(causes[1], RuntimeError)


def test_deep_levels_have_the_pass_context():
    seen = []

    class Inside(Deep):
        level = 0

        def visit_call(self, call):
            self.level += 1
            if self.level == 1_000:
                with PassContext(opt_level=1):
                    super().visit_call(call)
                seen.append(PassContext.current().opt_level)
            else:
                super().visit_call(call)

    def bottom():
        seen.append(PassContext.current().opt_level)
        simplify = relay.transform.SimplifyExpr()
        mod = simplify(ir.IRModule.from_expr(relay.Function([], relay.const(1))))
        assert isinstance(mod["main"].body, relay.Constant)

    with PassContext(opt_level=3) as ctx:
        Inside(bottom).visit(exps(2_500))
        assert PassContext.current() is ctx
    assert seen == [1, 3]
    default = PassContext.current()
    found = []
    Deep(lambda: found.append(PassContext.current())).visit(exps(500))
    assert found == [default] and PassContext.current() is default


def test_a_pass_may_visit_deeply():
    @relay.transform.function_pass(opt_level=0)
    def Rename(func, mod, ctx):  # noqa: N802
        seen.append((PassContext.current(), ctx))
        body = SuperMutator().visit(func.body)
        Deep(lambda: seen.append((PassContext.current(), ctx))).visit(body)
        return relay.Function(func.params, body)

    seen: list[Any] = []
    body = exps(1_000)
    x = relay.analysis.free_vars(body)[0]
    with PassContext(opt_level=1) as current:
        done = Rename(ir.IRModule.from_expr(relay.Function([x], body)))
    assert relay.testing.count_ops(done["main"]) == {"tanh": 1_000}
    assert all(ctx is current for pair in seen for ctx in pair) and len(seen) == 2


def test_context_variables_go_both_ways():
    var: contextvars.ContextVar[str] = contextvars.ContextVar("deep_visits")
    var.set("outside")
    seen = []

    def bottom():
        seen.append(var.get())
        var.set("inside")

    Deep(bottom).visit(exps(500))
    assert seen == ["outside"] and var.get() == "inside"


def test_several_threads_visit_deeply():
    def work(number):
        levels = scaled(2_000, 1_200) + number
        expr = exps(levels)
        depth = Depth()
        assert depth.visit(expr) == levels
        with PassContext(opt_level=number):
            found = []
            Deep(lambda: found.append(PassContext.current().opt_level)).visit(expr)
        assert found == [number]

    together(work)


def test_visitors_die_after_deep_visits():
    class Held:
        alive = 0

        def __init__(self):
            Held.alive += 1

        def __del__(self):
            Held.alive -= 1

    deep = Deep(lambda: None)
    deep.held = Held()
    deep.visit(exps(500))
    del deep
    gc.collect()
    assert Held.alive == 0


INTERRUPTS = {
    "by a signal to the process": "os.kill(os.getpid(), signal.SIGINT); time.sleep(3)",
    "by a signal to the thread": "signal.raise_signal(signal.SIGINT); time.sleep(1)",
    "in a loop": "_thread.interrupt_main()\n            while True: pass",
    "before further visits": "_thread.interrupt_main()\n            Deep().visit(exps(10_000))",
}


@pytest.mark.parametrize("code", INTERRUPTS.values(), ids=INTERRUPTS)
def test_ctrl_c_ends_a_deep_visit(code):
    code = textwrap.dedent(f"""
        import _thread, os, signal, threading, time
        from isoform import relay
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def exps(levels):
            expr = relay.var("x")
            for _ in range(levels):
                expr = relay.exp(expr)
            return expr
        ended = 0
        class Deep(relay.ExprVisitor):
            def visit_call(self, call):
                global ended
                try:
                    super().visit_call(call)
                finally:
                    ended += 1
        class Interrupted(Deep):
            def visit_var(self, var):
                bottom()
        def bottom():
            {code}
        try:
            Interrupted().visit(exps(500))
        except KeyboardInterrupt:
            print("interrupted", ended >= 500, threading.active_count())
        before = ended
        Deep().visit(exps(500))
        print(ended - before, threading.active_count())
    """)
    assert output_of(code).splitlines() == ["interrupted True 1", "500 1"]


def test_the_exception_of_a_signal_handler_comes_back():
    code = textwrap.dedent("""
        import signal, time
        from isoform import relay
        class Late(Exception):
            pass
        def handler(*_):
            raise Late("after a second")
        signal.signal(signal.SIGALRM, handler)
        class Slow(relay.ExprVisitor):
            def visit_call(self, call):
                super().visit_call(call)
            def visit_var(self, var):
                while True:
                    time.sleep(0.01)
        expr = relay.var("x")
        for _ in range(500):
            expr = relay.exp(expr)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            Slow().visit(expr)
        except Late as error:
            print(error)
    """)
    assert output_of(code) == "after a second\n"
