"""Type inference from Python."""

import pytest

import isoform
from isoform import ir, relay
from isoform.relay import op

infer_module = isoform.get_global_func("relay._transform.InferTypeModule")
infer_expr = isoform.get_global_func("relay._transform.InferTypeExpr")


def test_a_network():
    x = relay.var("x", shape=(1, 3, 8, 8))
    names = ["w", "gamma", "beta", "mean", "var", "w2", "b2"]
    w, gamma, beta, mean, var, w2, b2 = params = [relay.var(name) for name in names]
    y = relay.nn.conv2d(x, w, channels=16, kernel_size=3, padding=1)
    y = relay.nn.relu(relay.nn.batch_norm(y, gamma, beta, mean, var)[0])
    y = relay.nn.batch_flatten(relay.nn.global_avg_pool2d(y))
    y = relay.nn.softmax(relay.nn.bias_add(relay.nn.dense(y, w2, units=10), b2))
    module = ir.IRModule.from_expr(relay.Function([x, *params], y))
    typed = infer_module(module)
    main = typed["main"]
    shapes = [tuple(param.checked_type.concrete_shape) for param in main.params]
    assert shapes == [(1, 3, 8, 8), (16, 3, 3, 3), *[(16,)] * 4, (10, 16), (10,)]
    assert main.body.checked_type.concrete_shape == (1, 10)
    assert main.ret_type.concrete_shape == (1, 10)
    assert infer_module(typed).same_as(typed)
    # The original is as it was.
    assert module["main"].params[1].type_annotation is None


def test_one_expression():
    x = relay.var("x", shape=(2,))
    typed = infer_expr(x + x)
    assert typed.checked_type.concrete_shape == (2,)
    assert [tuple(arg.concrete_shape) for arg in typed.type_args] == [(2,), (2,)]
    assert op.infer_type_local(relay.exp(typed)).concrete_shape == (2,)


def test_annotated_variables_stay_the_same_objects():
    v, w = relay.var("v", shape=(2,)), relay.var("w")
    body = relay.exp(v)
    assert isoform.structural_equal(infer_expr(body), infer_expr(body))
    module = ir.IRModule.from_expr(relay.Function([v, w], relay.nn.bias_add(body, w, axis=0)))
    typed = infer_module(module)["main"]
    assert typed.params[0].same_as(v) and not typed.params[1].same_as(w)
    assert typed.params[0].checked_type.same_as(v.type_annotation)
    bound = relay.bind(typed, {v: relay.const([1.0, 2.0])})
    assert len(bound.params) == 1
    # A hole in the annotation is filled in, which makes another variable.
    part = relay.Var("p", relay.TupleType([v.type_annotation, ir.IncompleteType()]))
    with pytest.raises(ValueError, match="has not populated"):
        _ = part.checked_type
    choice = relay.If(w, part, relay.Tuple([v, v]))
    assert not infer_expr(relay.Function([part, w, v], choice)).params[0].same_as(part)


def test_a_local_type_is_noted_for_the_expression():
    v = relay.var("v", shape=(2,))
    call = relay.exp(v)
    with pytest.raises(ValueError, match="has not populated"):
        _ = call.checked_type
    found = relay.transform.InferTypeLocal(call)
    assert call.checked_type.same_as(found) and found.concrete_shape == (2,)
    outer = relay.exp(call)
    relay.transform.InferTypeLocal(outer)
    assert outer.args[0].checked_type.same_as(found)
    # A copy with another annotation has another type.
    wide = relay.VarWithFields(v, type_annotation=relay.TensorType([3], "float32"))
    assert relay.transform.InferTypeLocal(relay.exp(wide)).concrete_shape == (3,)


def test_recursion_in_a_module():
    gv = ir.GlobalVar("f")
    x = relay.var("x", shape=(2,))
    body = relay.If(relay.any(relay.isnan(x)), x, gv(x))
    module = ir.IRModule({gv: relay.Function([x], body)})
    typed = infer_module(module)
    assert typed["f"].checked_type.ret_type.concrete_shape == (2,)


def test_errors_show_the_place():
    x, y = relay.var("x", shape=(2,)), relay.var("y", shape=(3,))
    module = ir.IRModule.from_expr(relay.Function([x, y], relay.exp(x + y)))
    with pytest.raises(Exception, match="Incompatible") as caught:
        infer_module(module)
    assert type(caught.value).__name__ == "DiagnosticError"
    text = str(caught.value)
    assert "Incompatible broadcast type Tensor[(2,), float32] and Tensor[(3,), float32]" in text
    assert "in the function @main" in text and "^" in text


def test_an_error_of_a_relation_in_python_is_a_message(key):
    made = op.register(key("op"))
    made.set_num_inputs(1)

    def relation(types, attrs):
        raise ValueError("this operator wants a matrix")

    made.add_type_rel(key("Relation"), relation)
    with pytest.raises(Exception, match="this operator wants a matrix"):
        infer_expr(relay.Call(made, [relay.var("x", shape=(2,))]))


def test_an_interrupt_in_a_relation_ends_inference(key):
    made = op.register(key("op"))
    made.set_num_inputs(1)

    def relation(types, attrs):
        raise KeyboardInterrupt

    made.add_type_rel(key("Relation"), relation)
    with pytest.raises(KeyboardInterrupt):
        infer_expr(relay.Call(made, [relay.var("x", shape=(2,))]))
