"""Passes of functions and classes, on programs of every kind."""

import functools
import gc
import signal
import weakref
from typing import ClassVar

import pytest

from isoform import Object, ir, relay, structural_hash
from isoform.dataclasses import py_class, replace
from isoform.pto import DataType, ir as pto
from isoform.registry import register_global_func, remove_global_func
from isoform.transform import (
    ApplyPassToFunction,
    FunctionPass,
    MemoryCache,
    ModulePass,
    Pass,
    PassContext,
    PassInfo,
    PrintIR,
    Root,
    Sequential,
    analysis,
    function_pass,
    functions,
    list_passes,
    make_pass,
    module_pass,
    parse_pipeline,
    pipeline_text,
    register_pass,
    script,
)


@py_class("test_transform.Fun")
class Fun(ir.BaseFunc):
    """A function that is a number."""

    number: int


def module(**numbers):
    return ir.IRModule({name: Fun(number=number) for name, number in numbers.items()})


def numbers(mod):
    return {name: function.number for name, function in functions(mod)}


@function_pass(opt_level=0, cls=Fun)
def Add(fun, mod, ctx):
    return replace(fun, number=fun.number + 1)


def test_info():
    info = PassInfo(2, "P")
    assert (info.opt_level, info.name, list(info.required), info.traceable) == (2, "P", [], False)
    assert repr(info) == (
        "The meta data of the pass - pass name: P, opt_level: 2, required passes: []\n"
    )
    assert repr(PassInfo(2, "P", ["A", "B"], True)) == (
        "The meta data of the pass - pass name: P, opt_level: 2, required passes: [A, B, ]\n"
    )
    with pytest.raises(TypeError, match=r"PassInfo.required: expected a list"):
        PassInfo(2, "P", "AB")


def test_a_sequence():
    assert Sequential()(mod := module(f=1)) is mod
    sequence = Sequential([Add, Add], 1, "twice", ("PrintIR",), True)
    assert (sequence.info.name, sequence.info.opt_level, sequence.info.traceable) == (
        "twice",
        1,
        True,
    )
    assert sequence.passes[0] is Add
    assert numbers(sequence(mod)) == {"f": 3}
    for wrong in (Add, [1], "ab", {Add: 1}):
        with pytest.raises(TypeError, match=r"^passes must be a list of Pass objects\.$"):
            Sequential(wrong)
    with pytest.raises(TypeError, match=r"^Required is expected to be the type of list/tuple\.$"):
        Sequential([], required="AB")


def test_the_result_is_a_program():
    with pytest.raises(TypeError, match=r"expected the new program, such as ir.IRModule, got None"):
        ModulePass(lambda mod, ctx: None, PassInfo(0, "P"))(module())
    with pytest.raises(
        TypeError,
        match=r"expected the new program, such as ir.IRModule, got relay.Function.*in pass 'Oops'",
    ):
        ModulePass(lambda mod, ctx: mod["f"], PassInfo(0, "Oops"))(
            ir.IRModule({"f": relay.Function([], relay.const(1))})
        )
    with pytest.raises(TypeError, match=r"expected the new function, .*, got None"):
        FunctionPass(lambda fun, mod, ctx: None, PassInfo(0, "P"))(module(f=1))


def test_required_passes_run_first(key):
    seen = []

    def log(name):
        return ModulePass(lambda mod, ctx: seen.append(name) or mod, PassInfo(9, name))

    first, second = key(), key()
    register_pass(first, lambda times=2: log(f"first{times}"))
    register_global_func(f"relay._transform.{second}", lambda: log("second"))
    try:
        last = ModulePass(lambda mod, ctx: mod, PassInfo(0, "last", [second, first]))
        Sequential([last, last])(module())
        assert seen == ["second", "first2"] * 2
        last(module())
        assert len(seen) == 4
    finally:
        remove_global_func(f"relay._transform.{second}")
    with pytest.raises(ValueError, match=r"no pass is registered as .*required by pass 'last'"):
        Sequential([last])(module())


def test_a_function_pass():
    seen = []

    @function_pass(opt_level=1)
    def Pass(fun, mod, ctx):
        seen.append((fun.number, numbers(mod)))
        assert ctx is PassContext.current()
        return replace(fun, number=10 * fun.number) if fun.number < 3 else fun

    mod = module(c=3, a=1, b=2)
    done = Pass(mod)
    before = {"a": 1, "b": 2, "c": 3}
    assert seen == [(number, before) for number in (1, 2, 3)]
    assert numbers(done) == {"a": 10, "b": 20, "c": 3}
    assert numbers(mod) == before
    assert done["c"] is mod["c"]
    assert Pass(module(c=5)) is not None
    assert Add(empty := module()) is empty


def test_functions_can_be_chosen_and_passes_can_follow(key):
    register_pass(after := key(), Add)
    chosen = function_pass(
        lambda fun, mod, ctx: replace(fun, number=100),
        opt_level=0,
        name="chosen",
        filter=lambda fun: fun.number == 1,
        after=[after],
    )
    assert numbers(chosen(module(f=1, g=2))) == {"f": 101, "g": 3}
    mod = ir.IRModule({"f": ir.BaseFunc(), "g": Fun(number=1)})
    done = Add(mod)
    assert done["f"] is mod["f"]
    assert done["g"].number == 2


def test_decorated_functions():
    @module_pass(opt_level=2, name="named", required=["A"], traceable=True)
    def Empty(mod, ctx):
        """Forgets everything."""
        return ir.IRModule()

    assert type(Empty) is ModulePass
    assert (Empty.info.name, Empty.info.opt_level) == ("named", 2)
    assert (list(Empty.info.required), Empty.info.traceable) == (["A"], True)
    assert module_pass(lambda mod, ctx: mod, opt_level=0).info.name == "<lambda>"
    assert type(function_pass(lambda f, mod, ctx: f, opt_level=0, name="F")) is FunctionPass


def test_wrong_arguments():
    with pytest.raises(ValueError, match=r"^Please provide opt_level for the module pass\.$"):
        module_pass(name="P")
    with pytest.raises(ValueError, match=r"^Please provide opt_level for the function pass\.$"):
        function_pass(name="P")
    for decorator in (module_pass, function_pass):
        with pytest.raises(TypeError, match="Required is expected to be the type of list/tuple"):
            decorator(opt_level=0, required="AB")
        with pytest.raises(TypeError, match="pass_func must be a callable for Module pass"):
            decorator(1, opt_level=0)
    with pytest.raises(TypeError, match="expected a class with a method 'transform_module'"):
        module_pass(object, opt_level=0)


def test_decorated_classes():
    @module_pass(opt_level=1)
    class Rename:
        """Renames."""

        def __init__(self, old, new="new"):
            """Make it."""
            self.old, self.new = old, new

        def helper(self, name):
            return self.new if name == self.old else name

        def transform_module(self, mod, ctx):
            return ir.IRModule({self.helper(n): f for n, f in functions(mod)})

    assert (Rename.__name__, Rename.__doc__, Rename.__module__) == (
        "Rename",
        "Renames.",
        __name__,
    )
    assert issubclass(Rename, ModulePass)
    rename = Rename("f", new="g")
    assert (rename.info.name, rename.old, rename.helper("f")) == ("Rename", "f", "g")
    assert numbers(rename(module(f=1, h=2))) == {"g": 1, "h": 2}
    with pytest.raises(AttributeError, match="nothing"):
        rename.nothing  # noqa: B018

    @function_pass(opt_level=1, cls=Fun)
    class AddTo:
        def __init__(self, number):
            self.number = number

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=fun.number + self.number)

    sequence = Sequential([AddTo(5), rename])
    assert numbers(sequence(module(f=1))) == {"g": 6}
    # The sequence keeps the passes alive with their Python attributes.
    del rename
    gc.collect()
    assert sequence.passes[1].new == "g"


def test_passes_can_be_collected():
    class Token:
        pass

    @module_pass(opt_level=0)
    class Holding:
        def __init__(self, token):
            self.token = token

        def transform_module(self, mod, ctx):
            return mod

    token = Token()
    found = weakref.ref(token)
    Holding(token)(module())
    del token
    gc.collect()
    gc.collect()
    assert found() is None


def test_descriptions():
    idle = ModulePass(lambda mod, ctx: mod, PassInfo(3, "M"))
    assert repr(idle) == "Run Module pass: M at the optimization level 3"
    assert repr(Add) == "Run Function pass: Add at the optimization level 0"
    assert repr(Sequential([idle, Add])) == (
        "Run Sequential pass: sequential at the optimization level 0. "
        "The passes will be executed are: [M Add ]"
    )


def test_print_ir(caplog):
    mod = module(f=1)
    with caplog.at_level("INFO", logger="isoform.transform"):
        assert PrintIR("first")(mod) is mod
        assert make_pass("PrintIR", header="second")(mod) is mod
    texts = [record.getMessage() for record in caplog.records if record.levelname == "INFO"]
    assert [text.split("\n")[0] for text in texts] == ["PrintIR(first):", "PrintIR(second):"]
    assert all("test_transform.Fun(" in text for text in texts)
    assert (PrintIR().info.name, PrintIR().info.opt_level) == ("PrintIR", 0)


@pytest.mark.parametrize("level", ["WARNING", "ERROR"])
def test_print_ir_shows_what_no_handler_of_logging_shows(capsys, caplog, level):
    with caplog.at_level(level, logger="isoform.transform"):
        PrintIR("first")(module(f=1))
        make_pass("PrintIR", header="second")(module(f=1))
    text = capsys.readouterr().err
    assert text.startswith("PrintIR(first):\n") and "\nPrintIR(second):\n" in text


def test_apply_pass_to_function():
    apply = ApplyPassToFunction(Add, "f.*")
    assert (apply.info.name, apply.info.opt_level) == ("ApplyPassTof.*", 0)
    mod = module(f1=1, f2=2, g=3, gf=4)
    done = apply(mod)
    assert numbers(done) == {"f1": 2, "f2": 3, "g": 3, "gf": 4}
    assert done["g"] is mod["g"]
    idle = ModulePass(lambda mod, ctx: mod, PassInfo(0, "Idle"))
    assert ApplyPassToFunction(idle, "f.*")(mod) is mod
    assert ApplyPassToFunction(Add, "nothing")(mod) is mod
    with pytest.raises(ValueError, match="no function of the program has a name that matches"):
        ApplyPassToFunction(Add, "nothing", True)(mod)


@pytest.mark.parametrize("annotated", [True, False])
def test_stubs_of_relay_functions_have_their_type(annotated):
    tensor = relay.TensorType((2,), "float32")
    y, x = relay.var("y", tensor), relay.var("x", tensor)
    g = ir.GlobalVar("g")
    callee = relay.Function([y], relay.negative(y), tensor if annotated else None)
    twice = relay.add(relay.negative(x), relay.negative(x))
    calls = relay.add(relay.Call(g, [x]), twice)
    mod = ir.IRModule({"main": relay.Function([x], calls), g: callee})
    for name in ("InferType", "EliminateCommonSubexpr", "FoldConstant"):
        done = ApplyPassToFunction(make_pass(name), "main")(mod)
        assert done["g"] is mod["g"]
        assert done["main"].checked_type_.ret_type == tensor or name != "InferType"
    body = ApplyPassToFunction(make_pass("EliminateCommonSubexpr"), "main")(mod)["main"].body
    assert body.args[1].args[0] is body.args[1].args[1]


def test_passes_log_what_they_do(caplog):
    with caplog.at_level("DEBUG", logger="isoform.transform"):
        Sequential([Add, ModulePass(lambda m, c: m, PassInfo(9, "Slow"))])(module(f=1))
    texts = [record.getMessage() for record in caplog.records]
    assert texts == ["running pass Add", "pass Slow is not enabled at level 2"]


def test_exceptions_name_pass_and_function():
    @function_pass(opt_level=0)
    def Fail(fun, mod, ctx):
        if fun.number == 2:
            raise KeyError("two")
        return fun

    with pytest.raises(KeyError) as caught:
        Sequential([Fail])(module(f=1, g=2))
    assert caught.value.args == ("two",)
    assert caught.value.__notes__ == ["in function 'g'", "in pass 'Fail'"]


def test_an_interrupt_leaves_the_input_alone():
    def interrupted(fun, mod, ctx):
        signal.raise_signal(signal.SIGINT)
        return replace(fun, number=9)

    mod = module(f=1, g=2)
    before = structural_hash(mod)
    with pytest.raises(KeyboardInterrupt):
        FunctionPass(interrupted, PassInfo(0, "Slow"))(mod)
    assert structural_hash(mod) == before
    assert PassContext.current().opt_level == 2


def test_immutable_module():
    @module_pass(opt_level=0)
    def InPlace(mod, ctx):
        mod.update_func(mod.get_global_var("f"), Fun(number=7))
        return mod

    with (
        PassContext(config={"testing.immutable_module": True}),
        pytest.raises(RuntimeError, match="pass 'InPlace' changed its input in place"),
    ):
        InPlace(module(f=1))
    InPlace(module(f=1))


def test_programs_of_statements():
    int64 = pto.ScalarType(DataType.INT64)

    def function(name):
        x, y = pto.Var("x", int64), pto.Var("y", int64)
        body = pto.AssignStmt(y, pto.Add(x, pto.ConstInt(0, DataType.INT64), DataType.INT64))
        return pto.Function(name, [x], [int64], pto.SeqStmts([body, pto.ReturnStmt([y])]))

    program = pto.Program([function("f"), function("g")], "p")
    assert [name for name, _ in functions(program)] == ["f", "g"]
    done = parse_pipeline("pto.simplify,pto.cse")(program)
    assert "+ 0" in script(program)
    assert "+ 0" not in script(done)
    assert done.name == "p"
    assert make_pass("pto.simplify")(done) is done
    # A function is a program, too.
    assert "+ 0" not in script(make_pass("pto.simplify")(function("f")))

    @function_pass(opt_level=0, cls=pto.Function)
    def Rename(fun, mod, ctx):
        return replace(fun, name="other")

    with pytest.raises(ValueError, match="function 'f': expected a function of this name"):
        Rename(program)


def test_programs_of_user_types(key):
    @py_class(key())
    class Number(Object):
        value: int

    @py_class(key("Pair"))
    class Pair(Object):
        ir_trait = Root
        left: Number
        right: Number

        def functions(self):
            return [("left", self.left), ("right", self.right)]

        def with_functions(self, changed):
            return replace(self, **dict(changed))

    @function_pass(opt_level=0, cls=Number)
    def Odd(number, pair, ctx):
        return number if number.value % 2 else replace(number, value=number.value + 1)

    pair = Pair(Number(1), Number(2))
    done = Odd(pair)
    assert done.left is pair.left
    assert done.right.value == 3
    assert Odd(done) is done


def test_relay_modules():
    x = relay.Var("x")
    mod = ir.IRModule({"main": relay.Function([x], x)})

    @function_pass(opt_level=0, cls=relay.Function)
    def Constant(fun, mod, ctx):
        y = relay.Var("y")
        return relay.Function([y, *fun.params], y)

    assert len(Constant(mod)["main"].params) == 2


def test_analyses(key):
    computed = []

    @analysis(name=key())
    def square(fun, ctx):
        assert ctx is PassContext.current()
        computed.append(fun.number)
        return {fun.number**2}

    def asking(preserves=()):
        @function_pass(opt_level=0, preserves=preserves)
        def Ask(fun, mod, ctx):
            square_of = ctx.analysis(square, fun)
            assert isinstance(square_of, set)
            return replace(fun, number=5) if fun.number == 1 else fun

        return Ask

    with PassContext():
        asking()(asking()(module(a=1, b=2)))
    assert computed == [1, 2, 5]
    computed.clear()
    with PassContext() as ctx:
        mod = asking([square.analysis_name])(asking(["*"])(module(a=1, b=2)))
        assert ctx.analysis(square.analysis_name, mod["a"]) == {1}
        with pytest.raises(TypeError, match="expected an analysis or its name"):
            ctx.analysis(print, mod)
        with pytest.raises(ValueError, match="no analysis is registered as 'nothing'"):
            ctx.analysis("nothing", mod)
    assert computed == [1, 2]


def test_registered_passes(key):
    name = key()

    @register_pass(name)
    @module_pass(opt_level=3, name=name)
    class Options:
        """Does nothing."""

        def __init__(self, depth: int, label: str = "x", names: list[str] | None = None):
            self.depth, self.label, self.names = depth, label, names

        def transform_module(self, mod, ctx):
            return mod

    (entry,) = [entry for entry in list_passes() if entry["name"] == name]
    assert entry["doc"] == "Does nothing."
    assert entry["info"] is None
    assert [(option["name"], option["type"]) for option in entry["options"]][:2] == [
        ("depth", "int"),
        ("label", "str"),
    ]
    assert "default" not in entry["options"][0]
    made = make_pass(name, depth=3, names=["a", "b"])
    assert (made.depth, made.label, list(made.names)) == (3, "x", ["a", "b"])
    assert pipeline_text(made) == f'{name}{{depth=3,names=List["a", "b"]}}'
    again = parse_pipeline(pipeline_text(made)).passes[0]
    assert (again.depth, list(again.names)) == (3, ["a", "b"])
    with pytest.raises(TypeError, match="option 'depth' is missing"):
        make_pass(name)
    with pytest.raises(TypeError, match="option 'depth': expected int, got str"):
        make_pass(name, depth="x")
    with pytest.raises(ValueError, match="already registered"):
        register_pass(name, Add)
    register_pass(name, Add, override=True)
    assert make_pass(name) is Add
    assert isinstance(make_pass(name), Pass)


def test_messages_belong_to_the_pass():
    shown = []
    ir.override_renderer(lambda ctx: shown.append(len(ctx.diagnostics)))
    try:

        def run(mod, ctx):
            ctx.diag_ctx.emit(ir.Diagnostic.error("look here"))
            return mod

        with pytest.raises(ir.DiagnosticError):
            ModulePass(run, PassInfo(0, "P"))(module())
        assert shown == [1]
        assert PassContext.current().diag_ctx is None

        def outer(mod, ctx):
            with pytest.raises(ir.DiagnosticError):
                ModulePass(run, PassInfo(0, "P"))(mod)
            assert len(ctx.diag_ctx.diagnostics) == 0
            return mod

        ModulePass(outer, PassInfo(0, "Outer"))(module())
    finally:
        ir.override_renderer(None)


class Entries:
    """A cache in Python."""

    def __init__(self):
        self.entries = {}

    def load(self, key):
        assert isinstance(key, bytes)
        return self.entries.get(key)

    def store(self, key, value):
        assert isinstance(value, bytes)
        self.entries[key] = value


def runs():
    """A class that counts runs of a pass: classes are no state of a pass that captures them."""

    class Runs:
        seen: ClassVar = []

    return Runs


@pytest.mark.parametrize("make", [Entries, MemoryCache])
def test_pure_passes_are_computed_once(make):
    counted = runs()
    computed = counted.seen

    @function_pass(opt_level=0, pure=True, version="1")
    def Double(fun, mod, ctx):
        counted.seen.append(fun.number)
        return replace(fun, number=2 * fun.number) if fun.number else fun

    cache = make()
    for _ in range(2):
        with PassContext(cache=cache):
            mod = module(f=1, g=2, h=0)
            done = Double(mod)
            assert numbers(done) == {"f": 2, "g": 4, "h": 0}
            assert done["h"] is mod["h"]
    assert computed == [1, 2, 0]
    with PassContext(cache=cache):
        Double(module(f=1, g=3))
    assert computed[3:] == [3]
    Double(module(f=1))
    assert computed[4:] == [1]
    with pytest.raises(TypeError, match="expected an object with methods 'load' and 'store'"):
        PassContext(cache=3)


def test_kept_results_have_the_names_at_hand(key):
    counted = runs()

    @function_pass(opt_level=0, cls=relay.Function, pure=True, version="1", ignores=True)
    def Twice(fun, mod, ctx):
        counted.seen.append(1)
        pair = relay.Call(ir.Op.get(name), [fun.body, fun.body])
        return replace(fun, body=pair)

    name = key("add")
    ir.register_op_attr(name, "TTest", 1)
    cache = MemoryCache()

    def run(var):
        x = relay.Var(var)
        with PassContext(cache=cache):
            return x, Twice(ir.IRModule({"main": relay.Function([x], x)}))["main"]

    run("x")
    y, done = run("y")
    assert len(counted.seen) == 1
    assert done.params[0] is y
    assert done.body.args[0] is y
    assert done.body.op is ir.Op.get(name)


def adding(name):
    """A class of passes that add a number."""

    @function_pass(opt_level=0, pure=True, version="1", name=name)
    class Adding:
        def __init__(self, n=1, *rest, **named):
            self.n = n

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=fun.number + self.n)

    return Adding


@pytest.mark.parametrize(
    "number",
    [5, "five", [1, 2], {"a": 1}, 1j, object(), print, relay.Var("x")],
    ids=lambda value: type(value).__name__,
)
def test_the_arguments_of_a_pass_are_its_options(key, number):
    name = key("Adding")
    made = adding(name)
    cache = MemoryCache()

    class Number:
        def __radd__(self, other):
            return other + 100

    def run(one):
        with PassContext(cache=cache):
            return numbers(one(module(f=10)))["f"]

    assert [run(made(1)), run(made(5)), run(made(n=7)), run(made())] == [11, 15, 17, 11]
    # An argument without digest, or outside of the core, is never mistaken for another
    # argument.
    assert [run(made(Number())), run(made(2, number)), run(made(3, other=number))] == [110, 12, 13]


def test_the_text_of_a_pass_of_a_class_has_its_arguments(key):
    name = key("Adding")

    @register_pass(name)
    @function_pass(opt_level=0, name=name)
    class Made:
        def __init__(self, n: int = 1):
            self.n = n

        def transform_function(self, fun, mod, ctx):
            return replace(fun, number=fun.number + self.n)

    assert pipeline_text(Made(5)) == f"{name}{{n=5}}"
    assert pipeline_text(Made()) == name
    assert numbers(parse_pipeline(pipeline_text(Made(5)))(module(f=10))) == {"f": 15}
    assert dict(make_pass(name, n=2).options) == {"n": 2}


def test_pure_passes_need_versions_and_names():
    with pytest.raises(ValueError, match="a pure pass needs a version"):
        function_pass(lambda fun, mod, ctx: fun, opt_level=0, pure=True)
    with pytest.raises(ValueError, match="made of a lambda needs a name"):
        function_pass(lambda fun, mod, ctx: fun, opt_level=0, pure=True, version="1")
    named = function_pass(
        lambda fun, mod, ctx: fun, opt_level=0, name="Named", pure=True, version="1"
    )
    assert named.info.name == "Named"


def test_pure_passes_of_one_name_in_two_places_share_nothing():
    cache = MemoryCache()

    def one():
        @function_pass(opt_level=0, pure=True, version="1")
        def P(fun, mod, ctx):
            return replace(fun, number=1)

        return P

    def other():
        @function_pass(opt_level=0, pure=True, version="1")
        def P(fun, mod, ctx):
            return replace(fun, number=2)

        return P

    with PassContext(cache=cache):
        found = [numbers(make()(module(f=0)))["f"] for make in (one, other, one)]
    assert found == [1, 2, 1]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("when", ["load", "store"])
def test_a_cache_can_be_interrupted(kind, when):
    class Interrupted:
        def load(self, key):
            if when == "load":
                raise kind

        def store(self, key, value):
            raise kind

    with pytest.raises(kind), PassContext(cache=Interrupted()):
        function_pass(Add.func, 0, "Add", pure=True, version="1")(module(f=1))


def test_class_attributes_of_a_decorated_class_are_found():
    @module_pass(opt_level=0)
    class Keep:
        level = 3

        def __init__(self, suffix="_"):
            self.suffix, self.level = suffix, 4

        @classmethod
        def plain(cls):
            return cls("")

        @staticmethod
        def twice(text):
            return 2 * text

        def transform_module(self, mod, ctx):
            return mod

    assert (Keep.level, Keep("x").level, Keep.twice("a")) == (3, 4, "aa")
    made = Keep.plain()
    assert isinstance(made, Pass)
    assert made.suffix == ""
    with pytest.raises(AttributeError, match="type object 'Keep' has no attribute 'nothing'"):
        Keep.nothing  # noqa: B018


def test_methods_that_would_be_ignored_cannot_be_overridden():
    class Plain:
        def number(self):
            return 1

        def transform_module(self, mod, ctx):
            return module(f=self.number())

    made = module_pass(Plain, opt_level=0, name="Base")

    class Labelled(made):
        label = "it has one more attribute"

    assert numbers(Labelled()(module())) == {"f": 1}
    with pytest.raises(TypeError, match=r"Derived overrides number, which passes of .*Plain would"):

        class Derived(made):
            def number(self):
                return 2

    class Extended(Plain):
        def number(self):
            return 2

    assert numbers(module_pass(Extended, opt_level=0)()(module())) == {"f": 2}


def test_callable_objects_and_partial_applications_are_passes():
    def named(number, mod, ctx):
        return module(f=number)

    made = module_pass(functools.partial(named, 7), opt_level=0)
    assert (made.info.name, numbers(made(module()))) == ("named", {"f": 7})

    class Callable:
        def __call__(self, mod, ctx):
            return mod

    assert module_pass(Callable(), opt_level=0, name="Given").info.name == "Given"
    with pytest.raises(TypeError, match="an object of class Callable does not have: give name="):
        module_pass(Callable(), opt_level=0)


def test_a_reproducer_of_a_python_pass_imports_its_module(tmp_path):
    @register_pass("test_transform.Breaks")
    @module_pass(opt_level=3, name="test_transform.Breaks")
    def Breaks(mod, ctx):
        raise ValueError("it breaks")

    with PassContext(reproducer=tmp_path), pytest.raises(ValueError, match="it breaks") as caught:
        Breaks(module(f=1))
    stem = tmp_path / "test_transform.Breaks-000"
    assert caught.value.__notes__[-1] == (
        f"to repeat it: python -m isoform run --import {__file__} --opt-level 3 "
        f"@{stem}.pipeline {stem}.json"
    )
