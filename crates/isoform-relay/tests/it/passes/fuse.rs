//! Fusing of operators into kernels.

use isoform::Ref;
use isoform_ir::ir::BaseFuncRef;
use isoform_ir::ir::{GlobalVar, Op, OpRegistry, TensorType, Type};
use isoform_relay::analysis::count_ops;
use isoform_relay::attrs::{ConcatenateAttrs, DenseAttrs, SqueezeAttrs};
use isoform_relay::op::CallTypes;
use isoform_relay::passes::FuseOptions;
use isoform_relay::{Any, AsExpr, Call, Function, Tuple, Var, op};
use isoform_testing::source::scaled;

use crate::support::*;

#[track_caller]
fn check_with(options: FuseOptions, program: &Expr, expected: &Expr) {
    let found = options.fuse_ops_expr(&typed(program)).expect("typed");
    let found = typed(&found);
    assert_equal(&found, &typed(expected));
    let again = options.fuse_ops_expr(&found).expect("typed");
    assert!(again.same_as(&found), "kernels are kept");
}

#[track_caller]
fn check(program: &Expr, expected: &Expr) {
    check_with(FuseOptions::default(), program, expected);
}

fn exp(arg: &Expr) -> Expr {
    op::exp(arg).expr()
}

fn relu(arg: &Expr) -> Expr {
    op::relu(arg).expr()
}

fn add(left: &Expr, right: &Expr) -> Expr {
    op::add(left, right).expr()
}

fn dense(data: &Expr, weight: &Expr) -> Expr {
    op::dense(data, weight, DenseAttrs::new(None)).expr()
}

#[test]
fn element_wise_operators_and_scalars_become_one_kernel() {
    let [x, p] = ["x", "p"].map(|name| typed_var(name, "f32[10,20]"));
    let body = |arg: &Expr| exp(&add(arg, &constant(&floats(&[], &[1.0]))));
    let expected = apply(&kernel([&p], body(&p.expr())), [&x.expr()]);
    check(&func([&x], body(&x.expr())), &func([&x], &expected));
}

#[test]
fn a_kernel_has_one_complex_operator() {
    let [x, p] = ["x", "p"].map(|name| typed_var(name, "f32[4,8]"));
    let [w, q, v, s, r] = ["w", "q", "v", "s", "r"].map(|name| typed_var(name, "f32[8,8]"));
    let r = r.with_type_annotation(ty("f32[4,8]"));
    let first = |x: &Expr, w: &Expr| exp(&relu(&dense(x, w)));
    let program = dense(&first(&x.expr(), &w.expr()), &v.expr());
    let one = kernel([&p, &q], first(&p.expr(), &q.expr()));
    let two = kernel([&r, &s], dense(&r.expr(), &s.expr()));
    let expected = apply(&one, [&x.expr(), &w.expr()]);
    let expected = apply(&two, [&expected, &v.expr()]);
    check(
        &func([&x, &w, &v], &program),
        &func([&x, &w, &v], &expected),
    );
}

#[test]
fn of_two_complex_operators_with_one_sum_the_first_joins_the_sum() {
    let [x, p, q] = ["x", "p", "q"].map(|name| typed_var(name, "f32[4,8]"));
    let [w, v, m, n] = ["w", "v", "m", "n"].map(|name| typed_var(name, "f32[8,8]"));
    let [b, c, d, e] = ["b", "c", "d", "e"].map(|name| typed_var(name, "f32[8]"));
    let r = typed_var("r", "f32[4,8]");
    let unit = |data: &Ref<Var>, weight: &Ref<Var>, bias: &Ref<Var>| {
        add(&dense(&data.expr(), &weight.expr()), &bias.expr())
    };
    let program = relu(&add(&unit(&x, &w, &b), &unit(&x, &v, &c)));
    let second = kernel([&q, &n, &e], unit(&q, &n, &e));
    let second = apply(&second, [&x.expr(), &v.expr(), &c.expr()]);
    let first = relu(&add(&unit(&p, &m, &d), &r.expr()));
    let expected = apply(
        &kernel([&p, &m, &d, &r], first),
        [&x.expr(), &w.expr(), &b.expr(), &second],
    );
    let params = [&x, &w, &b, &v, &c];
    check(&func(params, &program), &func(params, &expected));
}

#[test]
fn branches_that_meet_are_fused() {
    let [x, p] = ["x", "p"].map(|name| typed_var(name, "f32[3]"));
    let body = |arg: &Expr| {
        let shared = exp(arg);
        add(&relu(&shared), &op::tanh(&shared).expr())
    };
    let expected = apply(&kernel([&p], body(&p.expr())), [&x.expr()]);
    check(&func([&x], body(&x.expr())), &func([&x], &expected));
}

#[test]
fn level_zero_fuses_nothing() {
    let [x, p, q] = ["x", "p", "q"].map(|name| typed_var(name, "f32[3]"));
    let (one, two) = (kernel([&p], exp(&p.expr())), kernel([&q], relu(&q.expr())));
    let expected = apply(&two, [&apply(&one, [&x.expr()])]);
    let program = func([&x], relu(&exp(&x.expr())));
    check_with(
        FuseOptions::default().fuses(false),
        &program,
        &func([&x], &expected),
    );
    // As does a stop, which is removed.
    let stopped = func([&x], relu(&op::stop_fusion(exp(&x.expr())).expr()));
    check(&stopped, &func([&x], &expected));
    // And a name.
    let y = var("y");
    let named = func([&x], bind(&y, &exp(&x.expr()), &relu(&y.expr())));
    let expected = apply(&two, [&y.expr()]);
    let expected = bind(&y, &apply(&one, [&x.expr()]), &expected);
    check(&named, &func([&x], &expected));
}

#[test]
fn kernels_are_not_larger_than_allowed() {
    let [x, p, q] = ["x", "p", "q"].map(|name| typed_var(name, "f32[3]"));
    let two = |arg: &Expr| relu(&exp(arg));
    let (one, other) = (kernel([&p], two(&p.expr())), kernel([&q], two(&q.expr())));
    let expected = apply(&other, [&apply(&one, [&x.expr()])]);
    let program = func([&x], two(&two(&x.expr())));
    check_with(
        FuseOptions::default().max_depth(2),
        &program,
        &func([&x], &expected),
    );
}

#[test]
fn tuples_are_fused_into_injective_operators_only() {
    let [x, p, q] = ["x", "p", "q"].map(|name| typed_var(name, "f32[3]"));
    let pair = |arg: &Expr| tuple([&exp(arg), &relu(arg)]);
    let joined = |arg: &Expr| op::concatenate(pair(arg), ConcatenateAttrs::new()).expr();
    let expected = apply(&kernel([&p], joined(&p.expr())), [&x.expr()]);
    check(&func([&x], joined(&x.expr())), &func([&x], &expected));
    let (one, two) = (kernel([&p], exp(&p.expr())), kernel([&q], relu(&q.expr())));
    let expected = tuple([&apply(&one, [&x.expr()]), &apply(&two, [&x.expr()])]);
    check(&func([&x], pair(&x.expr())), &func([&x], &expected));
}

#[test]
fn equal_inputs_are_one_parameter_and_constants_arguments() {
    let [x, p, q] = ["x", "p", "q"].map(|name| typed_var(name, "f32[2]"));
    let constant = constant(&floats(&[2], &[1.0, 2.0]));
    let body = |x: &Expr, c: &Expr| add(&add(x, c), x);
    let program = func([&x], body(&x.expr(), &constant));
    let expected = kernel([&p, &q], body(&p.expr(), &q.expr()));
    check(
        &program,
        &func([&x], apply(&expected, [&x.expr(), &constant])),
    );
    let linked = kernel([&p], body(&p.expr(), &constant));
    let linked = func([&x], apply(&linked, [&x.expr()]));
    check_with(FuseOptions::default().link_params(true), &program, &linked);
}

#[test]
fn kernels_that_only_change_shapes_are_marked() {
    let [x, p] = ["x", "p"].map(|name| typed_var(name, "f32[1,3]"));
    let squeeze = |arg: &Expr| op::squeeze(arg, SqueezeAttrs::new()).expr();
    let only = kernel([&p], squeeze(&p.expr()))
        .cast::<Function>()
        .unwrap()
        .upcast();
    let only = only
        .with_attr("relay.reshape_only", 1)
        .unwrap()
        .cast::<Function>()
        .unwrap();
    let expected = func([&x], apply(&only, [&x.expr()]));
    check(&func([&x], squeeze(&x.expr())), &expected);
    let fused = |arg: &Expr| squeeze(&exp(arg));
    let expected = apply(&kernel([&p], fused(&p.expr())), [&x.expr()]);
    check(&func([&x], fused(&x.expr())), &func([&x], &expected));
}

#[test]
fn names_in_tuples_need_no_types() {
    let [x, p] = ["x", "p"].map(|name| typed_var(name, "f32[2]"));
    isoform_relay::register().expect("no other operators");
    for name in [GlobalVar::new("f").expr(), Op::get("exp").unwrap().expr()] {
        let value = typed(&func([&x], exp(&x.expr())))
            .cast::<Function>()
            .unwrap();
        let program = func(
            [&value.params.get(0).unwrap().clone()],
            tuple([&name, &value.body]),
        );
        let fused = FuseOptions::default().fuse_ops_expr(&program).unwrap();
        let call = apply(&kernel([&p], exp(&p.expr())), [&x.expr()]);
        let fused = fused.cast::<Function>().unwrap();
        let fields = fused.body.clone().cast::<Tuple>().unwrap().fields.clone();
        assert!(fields.get(0).unwrap().same_as(&name));
        let rebuilt = typed(&func(
            [&fused.params.get(0).unwrap().clone()],
            fields.get(1).unwrap(),
        ));
        assert_equal(&rebuilt, &typed(&func([&x], &call)));
    }
}

#[test]
fn types_must_be_known() {
    let x = typed_var("x", "f32[2]");
    let program = func([&x], exp(&x.expr()));
    assert_error(
        FuseOptions::default().fuse_ops_expr(&program),
        &["InferType", "exp"],
    );
}

#[test]
fn a_hundred_thousand_operators() {
    let x = typed_var("x", "f32[2]");
    let mut body = x.expr();
    for _ in 0..scaled(100_000) {
        body = add(&exp(&body), &x.expr());
    }
    let fused = FuseOptions::default().fuse_ops_expr(&typed(&func([&x], &body)));
    assert!(fused.expect("typed").isa::<Function>());
}

/// An operator that fusion would accept without an attribute.
fn special(name: &str, attribute: &str, ty: Ref<Type>) -> Ref<Op> {
    let entry = OpRegistry::get_or_register(name).expect("a name");
    let entry = entry.num_inputs(1).attr("TOpPattern", 0, 10);
    let entry = entry.and_then(|entry| entry.attr(attribute, true, 10));
    let relation =
        op::relation(move |types: &mut CallTypes<'_>| Ok(types.tensor(0)?.map(|_| ty.clone())));
    let entry =
        entry.and_then(|entry| entry.type_relation(&name.replace('.', "_"), Some(relation)));
    entry.expect("registered once").op().clone()
}

/// The number of operators of the kernels, in the order of evaluation, and the other calls.
fn kernels(program: &Expr) -> (Vec<i64>, Vec<String>) {
    let fused = FuseOptions::default()
        .fuse_ops_expr(program)
        .expect("typed");
    let (mut sizes, mut others) = (Vec::new(), Vec::new());
    let mut next = fused.cast::<Function>().expect("a function").body.clone();
    while let Some(call) = next.downcast_ref::<Call>().cloned() {
        match call.op.downcast_ref::<Function>() {
            Some(kernel) => {
                let ops = count_ops(&kernel.expr()).expect("calls");
                sizes.insert(0, ops.values().sum());
            }
            None => {
                let op: Ref<Op> = call.op.clone().cast().expect("an operator");
                others.insert(0, op.name.to_string());
            }
        }
        next = call.args.get(0).expect("an argument").clone();
    }
    (sizes, others)
}

#[test]
fn results_of_unknown_shape_that_data_decide_are_not_fused() {
    let any: Ref<Type> = TensorType::new([Any::new().upcast()])
        .cast()
        .expect("a type");
    let program = |callee: Ref<Op>| {
        let x = typed_var("x", "f32[3]");
        let called = Call::new(callee, [exp(&x.expr())]).expr();
        typed(&func([&x], op::tanh(called).expr()))
    };
    let dependent = "TShapeDataDependent";
    let unique = special("test.fuse.unique", dependent, any);
    assert_eq!(kernels(&program(unique)), (vec![1, 1, 1], vec![]));
    // A known shape does not depend on data after all.
    let known = special("test.fuse.known", dependent, ty("f32[3]"));
    assert_eq!(kernels(&program(known)), (vec![3], vec![]));
    // A non-computational operator does not get a kernel.
    let note = special("test.fuse.note", "TNonComputational", ty("f32[3]"));
    let names = vec!["test.fuse.note".to_owned()];
    assert_eq!(kernels(&program(note)), (vec![1, 1], names));
}

#[test]
fn kernels_that_share_bindings_are_copied() {
    let (x, v) = (typed_var("x", "f32[3]"), var("v"));
    let double = bind(&v, &op::add(&x, &x).expr(), &op::multiply(&v, &v).expr());
    let shared = kernel([], &double);
    let call_of = Call::new(&shared, []).expr();
    let program = typed(&func([&x], tuple([&double, &call_of])));
    let found = FuseOptions::default().fuse_ops_expr(&program);
    let found = typed(&found.expect("well formed"));
    let again = FuseOptions::default().fuse_ops_expr(&found).expect("typed");
    assert!(again.same_as(&found), "kernels are kept");
    let main = found.downcast_ref::<Function>().expect("a function");
    let pair = main.body.downcast_ref::<Tuple>().expect("a tuple");
    let kept = pair.fields.get(1).expect("a field");
    let kept = Function::new(main.params.clone(), kept).expr();
    assert_equal(&typed(&kept), &typed(&func([&x], &call_of)));
}
