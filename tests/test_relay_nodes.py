"""The classes of Relay and the helpers to make and change them."""

import numpy as np
import pytest

from isoform import get_global_func, ir, relay, structural_equal, structural_hash
from isoform.dataclasses import py_class


def op(name):
    """An operator, registered if need be."""
    return get_global_func("ir.RegisterOp")(name)


def equal(left, right):
    same = structural_equal(left, right)
    assert same == structural_equal(right, left)
    if same:
        assert structural_hash(left) == structural_hash(right)
    return same


def names(nodes):
    return [node.name_hint for node in nodes]


def test_names_are_those_of_the_vocabulary():
    assert relay.Expr is ir.RelayExpr is relay.RelayExpr
    for name in [
        "TensorType",
        "TupleType",
        "FuncType",
        "TypeVar",
        "TypeConstraint",
        "TypeRelation",
        "IncompleteType",
        "GlobalTypeVar",
        "TypeCall",
        "TypeData",
        "GlobalVar",
        "Constructor",
        "Span",
        "SequentialSpan",
        "SourceName",
    ]:
        assert getattr(relay, name) is getattr(ir, name)
    assert relay.RefType is ir.RelayRefType
    assert relay.TypeKind is ir.TypeKind
    for name in [
        "Constant",
        "Tuple",
        "Var",
        "Call",
        "Let",
        "If",
        "TupleGetItem",
        "RefCreate",
        "Match",
    ]:
        assert issubclass(getattr(relay, name), relay.ExprWithOp)
    assert not issubclass(relay.Function, relay.ExprWithOp)
    assert issubclass(relay.Function, ir.BaseFunc)
    assert equal(relay.Any(), relay.Any())
    assert str(relay.Any().dtype) == "int32"
    assert relay.ShapeVar("n").kind == relay.TypeKind.ShapeVar


def test_every_constructor_takes_a_span_and_expressions_are_equal_by_identity():
    span = relay.Span(relay.SourceName("a.py"), 1, 1, 2, 3)
    x = relay.Var("x", None, span)
    made = [
        x,
        relay.Constant(np.zeros(1), span),
        relay.Tuple([x], span),
        relay.Tuple([], span),
        relay.Call(x, [], None, None, span),
        relay.Let(x, x, x, span),
        relay.If(x, x, x, span),
        relay.TupleGetItem(x, 0, span),
        relay.RefCreate(x, span),
        relay.RefRead(x, span),
        relay.RefWrite(x, x, span),
        relay.Function([x], x, None, None, None, span),
    ]
    assert all(node.span == span for node in made)
    assert x == x
    assert relay.Tuple([x]) != relay.Tuple([x])
    assert {x: 1}[x] == 1
    assert relay.TupleType([]) == relay.TupleType([])


def test_constants():
    one = relay.Constant(np.array([1, 2], "int8"))
    assert one.tensor_type == relay.TensorType([2], "int8")
    assert not one.is_scalar
    assert relay.const(1).is_scalar
    assert equal(one, relay.Constant(np.array([1, 2], "int8")))


def test_tuples():
    x, y = relay.var("x"), relay.var("y")
    pair = relay.Tuple([x, y])
    assert (len(pair), pair[0], pair[-1]) == (2, x, y)
    assert list(pair) == [x, y]
    with pytest.raises(IndexError, match="Tuple index out of range"):
        pair[2]
    with pytest.raises(TypeError, match="astype cannot be used on tuple"):
        pair.astype("int8")
    unit = relay.Tuple([])
    assert isinstance(unit, relay.Tuple)
    assert type(unit) is relay.EmptyTuple
    assert bool(unit)
    twice = relay.Tuple([unit, unit])
    assert equal(twice, relay.Tuple([relay.Tuple([]), relay.Tuple([])]))
    part = relay.Tuple([x])
    assert not equal(relay.Tuple([part, part]), relay.Tuple([relay.Tuple([x]), relay.Tuple([x])]))


def test_variables():
    with pytest.raises(RuntimeError, match="Cannot directly construct Id"):
        relay.Id("x")
    x = relay.Var("x")
    assert x.vid is x
    assert isinstance(x.vid, relay.Id)
    assert x.vid.name_hint == "x"
    assert {x.vid: 1}[x.vid] == 1
    assert not equal(x, relay.Var("x"))


def test_calls():
    x = relay.var("x")
    call = relay.Call(x, [x], type_args=[relay.scalar_type("int8")])
    assert list(call.type_args) == [relay.scalar_type("int8")]
    assert list(relay.Call(x, []).type_args) == []
    assert not equal(call, relay.Call(x, [x]))
    neg = op("relay_py.primitive")
    if neg.op_type is None:
        neg.set_num_inputs(1)
        neg.add_type_rel("relay_py.primitive", lambda *args: True)
    inferred = relay.Call(neg, [x], type_args=[relay.scalar_type("int8")] * 2)
    assert len(inferred.type_args) == 2
    assert equal(inferred, relay.Call(neg, [x]))
    assert isinstance(x(x), relay.Call)


def test_functions_are_called():
    x = relay.var("x", shape=(2,))
    func = relay.Function([x], x)
    assert len(func.attrs.keys()) == 0
    assert func.type_params is not None
    assert len(func.type_params) == 0
    assert func(x).op is func
    assert ir.GlobalVar("f")(x).op.name_hint == "f"
    assert str(func) == "fn (%x: Tensor[(2,), float32]) {\n  %x\n}"
    annotated = func.func_type_annotation()
    assert annotated.arg_types[0] == x.type_annotation
    assert isinstance(annotated.ret_type, relay.IncompleteType)
    assert func.is_optimizable()
    assert not func.with_attr("Compiler", "dnnl").is_optimizable()


def test_matches():
    prelude = relay.Prelude()
    var, cons, nil = prelude.mod.get_type("List")
    assert (var.name_hint, cons.name_hint, nil.name_hint) == ("List", "cons", "nil")
    x = relay.var("x")
    pattern = relay.PatternConstructor(cons, [relay.PatternVar(x), relay.PatternWildcard()])
    match = relay.Match(relay.var("data"), [relay.Clause(pattern, x)], complete=False)
    assert not match.complete
    assert len(relay.PatternConstructor(nil).patterns) == 0
    assert len(relay.PatternTuple().patterns) == 0
    assert [list(part.patterns) for part in relay.analysis.unmatched_cases(match, prelude.mod)] == [
        []
    ]


def test_with_fields():
    x, y = relay.var("x"), relay.var("y")
    span = relay.Span(relay.SourceName("a.py"), 1, 1, 2, 3)
    one = relay.const(1)
    cases = [
        (relay.ConstantWithFields, one, {"data": one.data}, {"data": np.zeros(2)}),
        (relay.TupleWithFields, relay.Tuple([x]), {"fields": [x]}, {"fields": [y]}),
        (relay.VarWithFields, x, {"vid": x.vid}, {"type_annotation": relay.scalar_type("int8")}),
        (relay.CallWithFields, x(y), {"op": x, "args": [y], "type_args": []}, {"args": [x]}),
        (relay.LetWithFields, relay.Let(x, y, x), {"variable": x, "value": y}, {"body": y}),
        (relay.IfWithFields, relay.If(x, x, y), {"cond": x}, {"false_branch": x}),
        (relay.TupleGetItemWithFields, relay.TupleGetItem(x, 1), {"index": 1}, {"index": 2}),
        (relay.RefCreateWithFields, relay.RefCreate(x), {"value": x}, {"value": y}),
        (relay.RefReadWithFields, relay.RefRead(x), {"ref": x}, {"ref": y}),
        (relay.RefWriteWithFields, relay.RefWrite(x, y), {"value": y}, {"value": x}),
        (relay.FunctionWithFields, relay.Function([x], x), {"params": [x]}, {"params": [y]}),
    ]
    for change, node, same, other in cases:
        assert change(node) is node
        assert change(node, **same) is node, change
        made = change(node, **other)
        assert made is not node
        assert type(made) is type(node)
        assert change(node, span=span).span == span
        with pytest.raises(TypeError, match="virtual devices are not supported"):
            change(node, virtual_device=1)
    assert type(relay.TupleWithFields(relay.Tuple([x]), [])) is relay.EmptyTuple
    assert len(relay.TupleWithFields(relay.Tuple([]), [x])) == 1
    typed = relay.CallWithFields(x(y), type_args=[relay.scalar_type("int8")])
    assert len(typed.type_args) == 1
    assert relay.VarWithFields(x, vid=y.vid).name_hint == "y"


def test_temporary_expressions_and_wrappers_of_tuples():
    @py_class("relay_py.Scaled")
    class Scaled(relay.TempExpr):
        value: relay.Expr

        def realize(self):
            return self.value

    x = relay.var("x")
    assert Scaled(value=x).realize() is x
    wrapper = relay.TupleWrapper(x, 2)
    assert len(wrapper) == 2
    assert wrapper.astuple() is x
    assert [item.index for item in wrapper] == [0, 1]
    assert wrapper[1].tuple_value is x
    for index in (2, -3):
        with pytest.raises(IndexError):
            wrapper[index]
    with pytest.raises(TypeError, match="astype cannot be used on tuple"):
        wrapper.astype("int8")
    assert relay.Tuple([wrapper])[0] is x
    assert wrapper.astext() == x.astext()


def test_operators():
    ops = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "negative",
        "less",
        "greater",
        "less_equal",
        "greater_equal",
    ]
    for name in ops:
        op(name)
    x, y = relay.var("x"), relay.var("y")
    made = [x + y, x - y, x * y, x / y, -x, x < y, x > y, x <= y, x >= y]
    assert [call.op.name for call in made] == ops
    assert all(call.attrs is None for call in made)
    assert list(made[0].args) == [x, y]
    for wrong in (lambda: x + 1, lambda: 1 + x, lambda: 2 * x, lambda: 3 - x, lambda: 4 / x):
        with pytest.raises(TypeError, match=r'convert "\d" with `const` first'):
            wrong()
    with pytest.raises(TypeError, match="not supported"):
        x + "y"
    with pytest.raises(TypeError):
        relay.Function([x], x) + relay.Function([x], x)
    assert (x == y) is False


def test_variables_are_made_by_shape_or_type():
    assert relay.var("x").type_annotation is None
    assert relay.var("x", shape=(1, 2)).type_annotation == relay.TensorType([1, 2], "float32")
    assert relay.var("x", shape=[], dtype="int8").type_annotation == relay.scalar_type("int8")
    assert relay.var("x", "int8").type_annotation == relay.scalar_type("int8")
    ty = relay.TupleType([])
    assert relay.var("x", ty).type_annotation is ty
    with pytest.raises(ValueError, match="either type_annotation or shape"):
        relay.var("x", "int8", shape=(1,))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (True, None, "bool"),
        (1, None, "int32"),
        (1.5, None, "float32"),
        ([1, 2], None, "int32"),
        ([[1.0], [2.0]], None, "float32"),
        (1 << 40, None, "int64"),
        (1, "int8", "int8"),
        (np.float64(1), None, "float64"),
        (np.zeros(3), None, "float64"),
        (np.zeros(3, "int64"), "int16", "int16"),
        (np.zeros((2, 3), "float16"), None, "float16"),
    ],
)
def test_constants_have_the_data_type_of_their_value(value, dtype, expected):
    data = relay.const(value, dtype).data
    assert str(data.dtype) == expected
    assert np.array_equal(data.numpy(), np.array(value, data.numpy().dtype))
    assert tuple(data.shape) == np.shape(value)


def test_a_constant_has_a_data_type_of_ml_dtypes_or_an_error_that_names_it():
    try:
        import ml_dtypes  # noqa: F401
    except ImportError:
        with pytest.raises(TypeError, match="NumPy has no dtype bfloat16; ml_dtypes may"):
            relay.const(1, "bfloat16")
    else:
        assert str(relay.const([1, 2], "bfloat16").data.dtype) == "bfloat16"


def test_other_values_are_no_constants():
    tensor = relay.const(1).data
    assert relay.const(tensor, "int8").data.dtype == tensor.dtype
    for value in ("x", None, {}):
        with pytest.raises(ValueError, match="value has to be scalar or NDArray"):
            relay.const(value)


def test_types():
    assert relay.scalar_type("int8") == relay.TensorType([], "int8")
    assert relay.ty.is_dynamic(relay.TensorType([1, relay.Any()]))
    assert not relay.ty.is_dynamic(relay.TensorType([1, 2]))


def test_bind():
    x, y, z = (relay.var(name) for name in "xyz")
    func = relay.Function([x, y], relay.Tuple([x, y]), ret_type=relay.TupleType([]))
    bound = relay.bind(func, {x: z})
    assert names(bound.params) == ["y", "z"]
    assert bound.body[0] is z
    assert bound.ret_type == func.ret_type
    assert relay.bind(func, {}) is func
    assert relay.bind(relay.Tuple([x]), {x: z})[0] is z
    with pytest.raises(ValueError, match="Cannot bind an internal"):
        relay.bind(relay.Let(x, y, x), {x: z})
    a = relay.TypeVar("a")
    bound = relay.bind(relay.TupleType([a]), {a: relay.scalar_type("int8")})
    assert bound == relay.TupleType([relay.scalar_type("int8")])


def test_bind_params_by_name():
    x, w = relay.var("x"), relay.var("w")
    func = relay.Function([x, w], relay.Tuple([x, w]))
    bind = relay.build_module.bind_params_by_name
    bound = bind(func, {"w": np.ones(2, "float32"), "none": np.ones(1)})
    assert names(bound.params) == ["x"]
    assert bound.body[1].data.numpy().tolist() == [1, 1]
    twice = relay.Function([relay.var("x"), relay.var("x")], relay.const(1))
    with pytest.raises(ValueError, match="Multiple args in the function have name"):
        bind(twice, {"x": np.ones(1)})


def test_scope_builder():
    sb = relay.ScopeBuilder()
    cond, x = relay.var("cond", "bool"), relay.var("x")
    with sb.if_scope(cond):
        one = sb.let("one", relay.const(1))
        two = sb.let(("two", relay.scalar_type("int32")), one)
        sb.ret(two)
    with sb.else_scope():
        three = relay.var("three")
        assert sb.let(three, x) is three
        sb.ret(three)
    made = sb.get()
    assert isinstance(made, relay.If)
    assert isinstance(made.true_branch.body, relay.Let)
    assert made.true_branch.body.var.type_annotation == relay.scalar_type("int32")
    expected = relay.If(
        cond,
        relay.Let(one, relay.const(1), relay.Let(two, one, two)),
        relay.Let(three, x, three),
    )
    assert equal(made, expected)
    assert equal(sb.get(), made)


def test_scopes_are_complete():
    sb, x = relay.ScopeBuilder(), relay.var("x")
    with pytest.raises(RuntimeError, match="ret is not called in this scope"):
        sb.get()
    with pytest.raises(ValueError, match="Expect var to be Tuple"):
        sb.let(("x", None, 1), x)
    with pytest.raises(TypeError, match="expected a variable"):
        sb.let(1, x)
    with pytest.raises(RuntimeError, match="else scope must follows"), sb.else_scope():
        pass
    sb.ret(x)
    with pytest.raises(RuntimeError, match="already set"):
        sb.ret(x)
    with pytest.raises(RuntimeError, match="already returned"), sb.if_scope(x):
        pass
    sb = relay.ScopeBuilder()
    with pytest.raises(RuntimeError, match="ret is not called"), sb.if_scope(x):
        pass
    sb = relay.ScopeBuilder()
    with sb.if_scope(x):
        sb.ret(x)
        with pytest.raises(RuntimeError, match="outmost"):
            sb.get()
    with pytest.raises(RuntimeError, match="expected else_scope"):
        sb.get()


def test_type_of():
    sb = relay.ScopeBuilder()
    x, y = relay.var("x", "int8"), relay.var("y")
    assert sb.type_of(x) == relay.scalar_type("int8")
    hole = sb.type_of(y)
    assert isinstance(hole, relay.IncompleteType)
    sb.ret(x)
    made = sb.get()
    assert made.value is y
    assert made.var.type_annotation is hole


def test_functions_of_modules_are_checked():
    x, y = relay.var("x"), relay.var("y")
    mod = ir.IRModule()
    for wrong in (relay.Function([x], y), relay.Function([x], relay.Let(x, y, x))):
        with pytest.raises(ValueError, match="the function @f"):
            mod["f"] = wrong
        with pytest.raises(ValueError, match=r"ir\.IRModule\.functions: "):
            ir.IRModule({"f": wrong})
        with pytest.raises(ValueError, match=r"ir\.IRModule\.update: "):
            mod.update({"f": wrong})
    assert len(mod) == 0
    mod["f"] = relay.Function([x], x)
    mod["one"] = relay.const(1)
    assert isinstance(mod["one"], relay.Function)
    mod["again"] = mod.get_global_var("f")
    assert mod["again"].body.op is mod.get_global_var("f")
    mod.update({"two": relay.const(2), "third": mod.get_global_var("f")})
    assert isinstance(mod["third"].body, relay.Call)


def test_prelude():
    prelude = relay.Prelude()
    some = prelude.get_ctor("Option", "some")
    assert some.name_hint == "some"
    with pytest.raises(ValueError, match="expected one of the constructors some, none"):
        prelude.get_ctor("Option", "cons")
    assert prelude.get_type("Tree")[1].name_hint == "rose"
    functions = ["concat", "filter", "foldl", "foldr", "hd", "map", "rev", "tl", "zip"]
    assert names(prelude.mod) == functions
    for name in functions:
        func = prelude.mod[name]
        assert relay.analysis.well_formed(func)
        assert prelude.get_global_var(name).name_hint == name
        relay.analysis.check_kind(func.func_type_annotation(), prelude.mod)
    graph = relay.analysis.CallGraph(prelude.mod)
    assert graph.is_recursive("map")
    assert not graph.is_recursive("rev")
    mine = ir.IRModule()
    assert relay.Prelude(mine).mod is mine
