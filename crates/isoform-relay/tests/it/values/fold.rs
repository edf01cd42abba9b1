//! Constant folding, operator by operator.

use std::sync::atomic::Ordering;

use isoform::types::IntoField;
use isoform::values::{DType, Tensor};
use isoform::{Error, Ref, Value, structural_equal};
use isoform_ir::ir::{GlobalVar, OpRegistry, SourceName, Span, TupleType};
use isoform_relay::attrs::{
    DropoutAttrs, InitOpAttrs, NdarraySizeAttrs, OnDeviceAttrs, ShapeOfAttrs, SplitAttrs, sizes,
};
use isoform_relay::eval::{kernel, register_kernel};
use isoform_relay::passes::{FoldConstantOptions, fold_constant, fold_constant_expr};
use isoform_relay::{
    AsExpr, Call, Constant, Function, If, Let, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem,
    Var, attribute, infer_type_expr, op,
};

use crate::support::*;

fn folded(expr: impl IntoField<Expr>) -> Expr {
    fold_constant_expr(expr).expect("a folded expression")
}

#[track_caller]
fn becomes(expr: impl IntoField<Expr>, expected: impl IntoField<Expr>) {
    let (expr, expected) = (folded(expr), expected.into_field());
    assert!(
        structural_equal(&expr, &expected).expect("comparable"),
        "{expr:?}\n{expected:?}"
    );
}

#[track_caller]
fn stays(expr: impl IntoField<Expr>) {
    let expr = expr.into_field();
    assert!(folded(expr.clone()).same_as(&expr));
}

#[test]
fn a_binding_to_a_constant_disappears() {
    let (x, y, z) = (Var::new("x"), Var::new("y"), Var::new("z"));
    let program = Let::new(&x, op::add(int(1), int(2)), op::add(&x, &y));
    becomes(program, op::add(int(3), &y));
    // A tuple of constants is not a constant, and the binding stays.
    let pair = Tuple::new([int(1), op::add(int(1), int(1)).expr()]);
    let kept = folded(Let::new(&x, &pair, TupleGetItem::new(&x, 0)));
    let kept: Ref<Let> = kept.cast().expect("a let");
    assert!(kept.body.isa::<TupleGetItem>());
    assert!(structural_equal(&kept.value, Tuple::new([int(1), int(2)])).expect("comparable"));
    stays(Let::new(&x, &y, op::add(&x, int(1))));
    // One value leads to the next, also in inner functions.
    let inner = Function::new([z.clone()], op::add(&z, op::multiply(&x, &y)));
    let program = Let::new(&x, int(2), Let::new(&y, op::add(&x, &x), &inner));
    becomes(program, Function::new([z.clone()], op::add(&z, int(8))));
}

#[test]
fn spans_are_kept() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    let span = Span::new(SourceName::new("a.py"), 1, 1, 2, 3);
    let binding = Let::new(&x, &y, op::add(int(1), int(2)));
    let binding = isoform_relay::with_fields(binding.as_object(), [("span", span.clone().into())]);
    let binding: Expr = binding.expect("a copy").cast().expect("an expression");
    let made = folded(binding);
    assert!(made.span.as_ref().is_some_and(|kept| kept.same_as(&span)));
    assert!(made.isa::<Let>());
}

#[test]
fn items_of_tuples_and_known_branches() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    let pair = Tuple::new([x.expr(), op::add(int(1), int(1)).expr()]);
    becomes(TupleGetItem::new(&pair, 0), &x);
    becomes(TupleGetItem::new(&pair, 1), int(2));
    stays(TupleGetItem::new(&y, 0));
    let less = |a, b| op::less(int(a), int(b));
    let sum = op::add(int(1), int(2));
    becomes(
        If::new(less(1, 2), op::add(&x, &sum), &y),
        op::add(&x, int(3)),
    );
    becomes(If::new(less(2, 1), &x, &y), &y);
    // Both branches are folded even if the condition is not known.
    becomes(If::new(&x, &sum, &y), If::new(&x, int(3), &y));
    // Type inference deals with an index out of range.
    let wrong = TupleGetItem::new(Tuple::new([x.expr()]), 1);
    stays(wrong);
}

#[test]
fn effects_are_neither_lost_nor_repeated() {
    let (r, x) = (Var::new("r"), Var::new("x"));
    let write = || RefWrite::new(&r, int(5)).expr();
    // A write in another field; a write in the field itself is kept with it.
    stays(TupleGetItem::new(Tuple::new([write(), int(0)]), 1));
    becomes(
        TupleGetItem::new(Tuple::new([write(), x.expr()]), 0),
        write(),
    );
    // An unused new reference can be dropped, except for a reference made elsewhere as
    // well.
    let reference = RefCreate::new(int(0)).expr();
    let pair = Tuple::new([reference.clone(), x.expr()]);
    becomes(TupleGetItem::new(&pair, 1), &x);
    stays(Tuple::new([
        TupleGetItem::new(&pair, 1).expr(),
        reference.clone(),
    ]));
    // An effect shared by a branch is computed before the `if`.
    let shared = write();
    for branches in [[&x.expr(), &shared], [&shared, &x.expr()]] {
        let choice = If::new(boolean(true), branches[0], branches[1]);
        stays(Tuple::new([
            choice.expr(),
            Function::new([], &shared).expr(),
        ]));
    }
    becomes(If::new(boolean(true), &x, write()), &x);
}

#[test]
fn an_item_of_a_tuple_is_as_known_as_the_field() {
    let x = Var::new("x");
    let item = |field: &Expr, index| {
        TupleGetItem::new(Tuple::new([field.clone(), x.expr()]), index).expr()
    };
    becomes(op::add(item(&int(1), 0), int(2)), int(3));
    becomes(op::add(item(&item(&int(1), 0), 0), int(2)), int(3));
    let on_device = |expr: Expr| op::on_device(expr, OnDeviceAttrs::new()).expr();
    let pair = on_device(Tuple::new([int(1), x.expr()]).expr());
    becomes(op::add(TupleGetItem::new(&pair, 0), int(2)), int(3));
}

#[test]
fn effects_are_not_lost_with_the_shape() {
    let (r, x) = (Var::new("r"), typed_var("x", "i32[2,3]"));
    let reference = RefCreate::new(&x);
    let value = || RefRead::new(&r).expr();
    for of in [
        |x: Expr| op::shape_of(x, ShapeOfAttrs::new()),
        |x: Expr| op::ndarray_size(x, NdarraySizeAttrs::new()),
    ] {
        let program = Let::new(&r, &reference, of(value())).expr();
        stays(infer_type_expr(&program, None).expect("types"));
        let program = infer_type_expr(of(op::negative(&x).expr()).expr(), None);
        assert!(folded(program.expect("types")).isa::<Constant>());
    }
}

#[test]
fn a_constant_is_known_in_its_scope_alone() {
    let x = Var::new("x");
    let shared = op::negative(&x).expr();
    let bound = Let::new(&x, int(1), &shared).expr();
    let error = fold_constant_expr(Tuple::new([bound, shared])).expect_err("ill-formed");
    let message = "the variable %x is used outside of the scope that binds it";
    assert!(error.message().contains(message), "{error}");
}

#[test]
fn calls_that_are_not_folded() {
    let x = Var::new("x");
    let init = || InitOpAttrs::new(Some(sizes([2]))).with_dtype(DType::INT32);
    // (2) No arguments.
    stays(op::ones(init()));
    // (3) The callee is not an operator.
    let f = Function::new([x.clone()], &x);
    stays(Call::new(&f, [int(1)]));
    // (4) Stateful.
    stays(op::dropout(
        constant(&floats(&[1], &[1.0])),
        DropoutAttrs::new(),
    ));
    // (7) Copies between devices stay.
    stays(Call::new(op("device_copy"), [int(1)]));
    // (8) Some argument is not known.
    stays(op::add(&x, int(1)));
    stays(op::add(int(1), TupleGetItem::new(&x, 0)));
    // A known argument that becomes one.
    becomes(op::add(&x, op::add(int(1), int(1))), op::add(&x, int(2)));
}

#[test]
fn primitive_functions_are_left_alone() {
    let (x, y) = (Var::new("x"), Var::new("y"));
    let sum = op::add(int(1), int(2));
    let with = |term: Expr| marked(&func([&x], op::add(&x, term)), attribute::PRIMITIVE);
    let kernel = with(sum.expr());
    stays(&kernel);
    stays(Tuple::new([kernel.clone()]));
    // The same expression outside of the function is folded.
    let both = folded(Tuple::new([kernel.clone(), sum.expr()]));
    let both: Ref<Tuple> = both.cast().expect("a tuple");
    assert!(
        both.fields
            .get(0)
            .is_some_and(|field| field.same_as(&kernel))
    );
    assert!(
        both.fields
            .get(1)
            .is_some_and(|field| field.isa::<Constant>())
    );
    // A disappearing variable from outside is replaced all the same.
    let uses = with(op::add(&y, &sum).expr());
    let expected = with(op::add(int(9), &sum).expr());
    becomes(Let::new(&y, int(9), uses), expected);
}

#[test]
fn operators_say_whether_they_are_folded() {
    let (marker, _) = counter("test.values.marker");
    let entry = OpRegistry::get_or_register("test.values.marker").expect("a name");
    let entry = entry
        .attr("TNonComputational", true, 10)
        .expect("an attribute");
    let call = Call::new(&marker, [int(1)]);
    stays(&call);
    let qnn = FoldConstantOptions::default().fold_qnn(true);
    assert!(
        qnn.fold_constant_expr(&call.expr())
            .expect("the call")
            .same_as(&call)
    );
    entry
        .attr("FTVMQnnCanonicalize", true, 10)
        .expect("an attribute");
    stays(&call);
    assert!(
        qnn.fold_constant_expr(&call.expr())
            .expect("a constant")
            .isa::<Constant>()
    );
    let (stateful, count) = counter("test.values.stateful");
    let entry = OpRegistry::get_or_register("test.values.stateful").expect("a name");
    entry.attr("TOpIsStateful", true, 10).expect("an attribute");
    stays(Call::new(&stateful, [int(1)]));
    assert_eq!(count.load(Ordering::Relaxed), 0);
}

#[test]
fn shape_of_folds_by_type_or_value() {
    let shape_of = |x: Expr, dtype: DType| op::shape_of(x, ShapeOfAttrs::new().with_dtype(dtype));
    let x = typed_var("x", "i32[2,3]");
    // Without a type, nothing is known.
    stays(shape_of(Var::new("u").expr(), DType::INT32));
    let infer = |expr: Ref<Call>| infer_type_expr(expr, None).expect("types");
    let of = |expr: Ref<Call>| folded(infer(expr));
    becomes(
        infer(shape_of(x.expr(), DType::INT32)),
        constant(&ints(&[2], &[2, 3])),
    );
    becomes(
        infer(shape_of(x.expr(), DType::FLOAT32)),
        constant(&floats(&[2], &[2.0, 3.0])),
    );
    becomes(
        infer(shape_of(x.expr(), DType::VOID)),
        constant(&ints(&[2], &[2, 3])),
    );
    becomes(
        shape_of(constant(&ints(&[0, 4], &[])), DType::INT32),
        constant(&ints(&[2], &[0, 4])),
    );
    let wide: Ref<Constant> = of(shape_of(x.expr(), DType::INT64))
        .cast()
        .expect("a constant");
    assert_eq!(wide.data.dtype(), DType::INT64);
    // A scalar has no sizes.
    becomes(
        infer(shape_of(typed_var("s", "i32[]").expr(), DType::INT32)),
        constant(&ints(&[0], &[])),
    );
    // An unknown size, and a value other than a tensor.
    let any = isoform_ir::ir::TensorType::new([isoform_relay::Any::new().upcast()]);
    let any = Var::typed("a", any);
    stays(infer(shape_of(any.expr(), DType::INT32)));
    let tuple = isoform_relay::with_fields(
        Var::new("t").as_object(),
        [("checked_type_", TupleType::new([]).into())],
    );
    stays(shape_of(
        tuple.expect("a copy").cast().expect("a variable"),
        DType::INT32,
    ));
}

#[test]
fn ndarray_size_folds_by_type_or_value() {
    let size =
        |x: Expr, dtype: DType| op::ndarray_size(x, NdarraySizeAttrs::new().with_dtype(dtype));
    let infer = |expr: Ref<Call>| infer_type_expr(expr, None).expect("types");
    let x = typed_var("x", "i32[2,3]");
    stays(size(Var::new("u").expr(), DType::INT32));
    becomes(infer(size(x.expr(), DType::INT32)), int(6));
    becomes(
        infer(size(x.expr(), DType::FLOAT32)),
        constant(&floats(&[], &[6.0])),
    );
    becomes(size(constant(&ints(&[0, 4], &[])), DType::VOID), int(0));
    // A scalar is one element.
    becomes(
        infer(size(typed_var("s", "i32[]").expr(), DType::INT32)),
        int(1),
    );
}

#[test]
fn results_have_the_types_of_their_calls() {
    let (x, y) = (
        constant(&ints(&[2, 1], &[1, 2])),
        constant(&ints(&[3], &[10, 20, 30])),
    );
    let sum = infer_type_expr(op::add(&x, &y), None).expect("types");
    let folded_sum: Ref<Constant> = folded(sum.clone()).cast().expect("a constant");
    assert!(same_tensor(
        &folded_sum.data,
        &ints(&[2, 3], &[11, 21, 31, 12, 22, 32])
    ));
    let (left, right) = (
        folded_sum.checked_type().expect("a type"),
        sum.checked_type().expect("a type"),
    );
    assert!(left.same_as(right));
    assert!(structural_equal(left, folded_sum.tensor_type().expect("a type")).expect("comparable"));
    // A tuple of tensors becomes a tuple of constants.
    let parts = op::split(&y, SplitAttrs::new(3));
    let parts = folded(infer_type_expr(parts, None).expect("types"));
    let parts: Ref<Tuple> = parts.cast().expect("a tuple");
    let [a, b, c] = [10, 20, 30].map(|value| constant(&ints(&[1], &[value])));
    assert!(structural_equal(&parts, Tuple::new([a, b, c])).expect("comparable"));
    for field in parts.fields.iter() {
        assert!(
            structural_equal(field.checked_type().expect("a type"), ty("i32[1]"))
                .expect("comparable")
        );
    }
}

#[test]
fn kernels_of_programs_are_used() {
    let call = |name: &str| Call::new(op(name), [int(4)]);
    OpRegistry::get_or_register("test.values.square").expect("a name");
    // Without a kernel, the call stays.
    stays(call("test.values.square"));
    register_kernel(
        "test.values.square",
        kernel(|call| {
            let value = int_of(&call.values()[0]);
            Ok(ints(&[], &[value * value]).into())
        }),
    )
    .expect("a kernel");
    becomes(call("test.values.square"), int(16));
    // None leaves the call, an error ends the pass, and a wrong result is an error.
    for (name, outcome) in [
        ("test.values.none", Some(Value::NONE)),
        ("test.values.error", None),
        ("test.values.wrong", Some(Value::from(1))),
    ] {
        OpRegistry::get_or_register(name).expect("a name");
        register_kernel(
            name,
            kernel(move |_| outcome.clone().ok_or_else(|| Error::value_error("broken"))),
        )
        .expect("a kernel");
    }
    stays(call("test.values.none"));
    let error = fold_constant_expr(call("test.values.error").expr()).expect_err("an error");
    assert_eq!(error.message(), "operator test.values.error: broken");
    let error = fold_constant_expr(call("test.values.wrong").expr()).expect_err("an error");
    assert!(
        error.message().contains("the result of a kernel"),
        "{error}"
    );
    // The one that was set last counts.
    register_kernel("test.values.none", kernel(|_| Ok(ints(&[], &[7]).into()))).expect("a kernel");
    becomes(call("test.values.none"), int(7));
}

#[test]
fn arithmetic_is_exact() {
    let on = |name: &str, a: i32, b: i32| Call::new(op(name), [int(a), int(b)]);
    for (name, a, b, expected) in [
        ("add", i32::MAX, 1, i32::MIN),
        ("multiply", 1 << 20, 1 << 20, 0),
        ("divide", -7, 2, -3),
        ("divide", i32::MIN, -1, i32::MIN),
        ("floor_divide", -7, 2, -4),
        ("floor_mod", -7, 2, 1),
        ("trunc_divide", -7, 2, -3),
        ("trunc_mod", -7, 2, -1),
        ("mod", -7, 2, -1),
    ] {
        becomes(on(name, a, b), int(expected));
    }
    for (name, a, b) in [
        ("divide", 1, 0),
        ("floor_divide", 1, 0),
        ("mod", 1, 0),
        ("floor_mod", 1, 0),
        ("left_shift", 1, 40),
        ("power", 2, -1),
    ] {
        stays(on(name, a, b));
    }
    let (x, y) = (
        constant(&floats(&[], &[0.1])),
        constant(&floats(&[], &[0.2])),
    );
    becomes(
        op::add(&x, &y),
        constant(&floats(&[], &[0.1_f32 + 0.2_f32])),
    );
    becomes(op::less(&x, &y), boolean(true));
    becomes(
        op::divide(&x, constant(&floats(&[], &[0.0]))),
        constant(&floats(&[], &[f32::INFINITY])),
    );
    let cast = |value: f32| {
        op::cast(
            constant(&floats(&[], &[value])),
            isoform_relay::attrs::CastAttrs::new(DType::INT32),
        )
    };
    becomes(cast(-1.7), int(-1));
    stays(cast(f32::NAN));
    stays(cast(3e9));
    // Data types must be equal.
    stays(op::add(&x, int(1)));
}

#[test]
fn on_device_is_looked_through() {
    let x = Var::new("x");
    let placed = |expr: Expr| op::on_device(expr, OnDeviceAttrs::new()).expr();
    // The wrapper itself stays around the folded expression.
    becomes(placed(op::add(int(1), int(2)).expr()), placed(int(3)));
    stays(placed(int(3)));
    becomes(op::add(placed(int(1)), int(2)), int(3));
    // A folded binding keeps its wrapper.
    let program = Let::new(&x, placed(int(1)), Tuple::new([x.expr()]));
    becomes(program, Tuple::new([placed(int(1))]));
    let pair = placed(Tuple::new([int(1), x.expr()]).expr());
    becomes(TupleGetItem::new(&pair, 1), placed(x.expr()));
    becomes(If::new(placed(boolean(true)), &x, int(1)), &x);
}

#[test]
fn modules_are_folded_function_by_function() {
    let x = Var::new("x");
    let known = Function::new([], op::add(int(1), int(2))).expr();
    let open = Function::new([x.clone()], op::add(&x, int(2))).expr();
    let skipped = marked(&known, attribute::SKIP_OPTIMIZATION);
    let before = module([
        (&GlobalVar::new("known"), &known),
        (&GlobalVar::new("open"), &open),
        (&GlobalVar::new("skipped"), &skipped),
    ]);
    let after = fold_constant(&before).expect("a module");
    let body = |name: &str| function_in(&after, name);
    assert!(structural_equal(&body("known").body, int(3)).expect("comparable"));
    assert!(body("open").same_as(&open) && body("skipped").same_as(&skipped));
    // The pass left the given module unchanged. Without constants, the result is the same module.
    let var = before.global_var("known").expect("a name");
    assert!(before.lookup(&var).expect("a function").same_as(&known));
    assert!(fold_constant(&after).expect("a module").same_as(&after));
}

#[test]
fn sharing_is_kept() {
    let x = Var::new("x");
    let shared = op::add(&x, op::add(int(1), int(1)));
    let pair: Ref<Tuple> = folded(Tuple::new([shared.expr(), shared.expr()]))
        .cast()
        .expect("a tuple");
    assert!(
        pair.fields
            .get(0)
            .expect("a field")
            .same_as(pair.fields.get(1).expect("a field"))
    );
    let (op, count) = counter("test.values.folded_once");
    let known = Call::new(&op, [int(1)]);
    folded(Tuple::new([known.expr(), known.expr()]));
    assert_eq!(counted(count), 1);
}

#[test]
fn large_results_may_be_left() {
    let large = op::broadcast_to(int(1), InitOpAttrs::new(Some(sizes([1000]))));
    let limited = FoldConstantOptions::default().max_bytes(3999);
    assert!(
        limited
            .fold_constant_expr(&large.expr())
            .expect("the call")
            .same_as(&large)
    );
    let limited = FoldConstantOptions::default().max_bytes(4000);
    assert!(
        limited
            .fold_constant_expr(&large.expr())
            .expect("a constant")
            .isa::<Constant>()
    );
}

#[test]
fn a_tensor_of_unknown_type_is_left() {
    let vector = Tensor::new("float32x4".parse().expect("a type"), vec![1], vec![0; 16]);
    let vector = constant(&vector.expect("a tensor"));
    stays(op::add(&vector, &vector));
}

#[test]
fn the_work_is_linear() {
    // Each call is computed once, regardless of the number of paths, and no other work
    // depends on sharing: 60 levels have 2^60 paths.
    let (op, count) = counter("test.values.doubled");
    let mut program = Call::new(&op, [int(1)]).expr();
    for _ in 0..60 {
        program = Call::new(&op, [op::add(&program, &program).expr()]).expr();
    }
    folded(program);
    assert_eq!(counted(count), 61);
    // Nested tuples are looked at once.
    let mut tuple = int(1);
    for _ in 0..60 {
        tuple = Tuple::new([tuple.clone(), tuple]).expr();
    }
    stays(tuple);
}

#[test]
fn constants_are_made_only_where_they_stay() {
    let chain = |calls: usize| {
        let mut program = int(0);
        for _ in 0..calls {
            program = op::add(&program, int(1)).expr();
        }
        program
    };
    let creations = |program: Expr| {
        let before = int(0).identity();
        folded(&program);
        int(0).identity() - before
    };
    let (few, many) = (creations(chain(100)), creations(chain(1_000)));
    // The tensor of every sum, and one constant in the end.
    assert_eq!(many - few, 900);
    // A part remaining at several places is one constant.
    let (x, sum) = (Var::new("x"), op::add(int(1), int(2)).expr());
    let pair = Tuple::new([op::add(&x, &sum).expr(), op::add(&x, &sum).expr()]);
    let pair = fold_constant_expr(pair.expr()).expect("well formed");
    let fields = &pair.downcast_ref::<Tuple>().expect("a tuple").fields;
    let args = |index| {
        let call = fields
            .get(index)
            .and_then(|field| field.downcast_ref::<Call>());
        call.expect("a call")
            .args
            .get(1)
            .expect("a constant")
            .clone()
    };
    assert!(args(0).isa::<Constant>() && args(0).same_as(&args(1)));
}
