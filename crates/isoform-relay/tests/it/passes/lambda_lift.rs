//! Functions inside of functions become functions of the module.

use isoform::Ref;
use isoform_ir::ir::{BaseFuncRef, GlobalVar, IRModule, IRModuleRef};
use isoform_relay::analysis::count_ops;
use isoform_relay::eval::Evaluator;
use isoform_relay::op;
use isoform_relay::passes::lambda_lift;
use isoform_relay::{AsExpr, Call, Function, Var, infer_type};

use crate::support::*;

fn scalar(name: &str) -> Ref<Var> {
    typed_var(name, "i32[]")
}

/// The module after lifting; it has types, no function is left inside of another, and a
/// second run changes nothing.
#[track_caller]
fn lifted(module: &Ref<IRModule>, functions: usize) -> Ref<IRModule> {
    let done = lambda_lift(module).unwrap();
    assert_eq!(done.functions.len(), functions, "{}", text(&done));
    assert!(infer_type(&done).unwrap().same_as(&done));
    assert!(lambda_lift(&done).unwrap().same_as(&done));
    done
}

#[track_caller]
fn assert_keeps(before: &Ref<IRModule>, after: &Ref<IRModule>, arguments: &[i32]) {
    let run = |module: &Ref<IRModule>| {
        let evaluator = Evaluator::new().module(module);
        let main = module.global_var("main").unwrap().upcast();
        let arguments = arguments.iter().map(|number| ints(&[], &[*number]).into());
        let arguments: Vec<_> = arguments.collect();
        int_of(
            &evaluator
                .call(evaluator.evaluate(main).unwrap(), &arguments)
                .unwrap(),
        )
    };
    assert_eq!(run(before), run(after));
}

#[test]
fn a_function_without_captures_becomes_a_name() {
    let [x, y] = ["x", "y"].map(scalar);
    let inner = func([&y], op::add(&y, &y));
    let before = main_of(Function::new([x.clone()], apply(&inner, [&x.expr()])));
    let after = lifted(&before, 2);
    let main = function_in(&after, "main");
    let callee = main.body.clone().cast::<Call>().unwrap().op.clone();
    let name = callee.cast::<GlobalVar>().unwrap();
    assert!(name.name_hint.starts_with("lifted_name"));
    assert_equal(&lookup(&after, &name), &typed(&inner));
    assert_keeps(&before, &after, &[3]);
}

#[test]
fn captured_variables_become_arguments() {
    let [x, y, z] = ["x", "y", "z"].map(scalar);
    let inner = func([&y], op::add(op::multiply(&x, &y), &z));
    let body = apply(&inner, [&int(5)]);
    let before = main_of(Function::new([x.clone(), z.clone()], body));
    let after = lifted(&before, 2);
    let main = function_in(&after, "main");
    let closure = main.body.clone().cast::<Call>().unwrap().op.clone();
    let closure = closure.cast::<Call>().unwrap();
    assert!(
        closure.args.iter().eq(main
            .params
            .iter()
            .map(AsExpr::expr)
            .collect::<Vec<_>>()
            .iter())
    );
    let global = lookup(&after, &closure.op.clone().cast().unwrap());
    let global = global.cast::<Function>().unwrap();
    assert!(global.has_nonzero_attribute("Closure") && global.body.isa::<Function>());
    assert_keeps(&before, &after, &[3, 4]);
}

#[test]
fn functions_in_functions_and_recursion() {
    let [x, y, n, step] = ["x", "y", "n", "step"].map(scalar);
    // let f = fn(n) { if (n < 1) 0 else x + f(n - 1) }; (fn(y) { (fn(step) { f(y + step) })(1) })(3)
    let f = var("f");
    let again = apply(&f, [&op::subtract(&n, int(1)).expr()]);
    let sum = op::add(&x, &again).expr();
    let value = Function::new(
        [n.clone()],
        choose(&op::less(&n, int(1)).expr(), &int(0), &sum),
    );
    let value = value.with_ret_type(Some(ty("i32[]"))).expr();
    let inner = func([&step], apply(&f, [&op::add(&y, &step).expr()]));
    let outer = func([&y], apply(&inner, [&int(1)]));
    let body = bind(&f, &value, &apply(&outer, [&int(3)]));
    let before = main_of(Function::new([x.clone()], body));
    let after = lifted(&before, 4);
    assert_keeps(&before, &after, &[7]);
}

#[test]
fn equal_functions_are_lifted_once() {
    let [x, y, z] = ["x", "y", "z"].map(scalar);
    let doubled = |var: &Ref<Var>| apply(&func([var], op::add(var, &x)), [&x.expr()]);
    let body = op::multiply(doubled(&y), doubled(&z));
    let before = main_of(Function::new([x.clone()], body.expr()));
    let after = lifted(&before, 2);
    assert_keeps(&before, &after, &[3]);
    let names = |module: &Ref<IRModule>| -> Vec<String> {
        let vars = module.global_vars().into_iter();
        vars.map(|var| var.name_hint.to_string()).collect()
    };
    assert_eq!(names(&after), names(&lifted(&before, 2)));
}

#[test]
fn shared_work_is_computed_once() {
    let [x, y] = ["x", "y"].map(scalar);
    let shared = op::multiply(&x, &x).expr();
    let inner = func([&y], op::add(&y, &shared));
    let calls = op::add(apply(&inner, [&int(1)]), apply(&inner, [&int(2)]));
    let before = main_of(Function::new([x], op::add(calls, &shared).expr()));
    let after = lifted(&before, 2);
    let products = |var: &Ref<GlobalVar>| {
        let ops = count_ops(&lookup(&after, var)).unwrap();
        ops.get("multiply").copied().unwrap_or(0)
    };
    assert_eq!(after.global_vars().iter().map(products).sum::<i64>(), 1);
    assert_keeps(&before, &after, &[3]);
}

#[test]
fn what_stays() {
    let [x, y] = ["x", "y"].map(scalar);
    let plain = main_of(Function::new([x.clone()], op::add(&x, &x).expr()));
    let plain = infer_type(&plain).unwrap();
    assert!(lambda_lift(&plain).unwrap().same_as(&plain));
    let fused = apply(&kernel([&y], op::add(&y, &y)), [&x.expr()]);
    let fused = infer_type(&main_of(Function::new([x.clone()], fused))).unwrap();
    assert!(lambda_lift(&fused).unwrap().same_as(&fused));
    let inner = apply(&func([&y], op::add(&y, &x)), [&x.expr()]);
    let skipped = Function::new([x.clone()], inner).upcast();
    let skipped = skipped.with_attr("SkipOptimization", 1).unwrap();
    let module = IRModule::new();
    module
        .update_func(&GlobalVar::new("main"), skipped)
        .unwrap();
    assert_eq!(lambda_lift(&module).unwrap().functions.len(), 1);
}

#[test]
fn ten_thousand_functions() {
    let levels = isoform_testing::source::scaled(10_000);
    let x = scalar("x");
    let mut body = x.expr();
    for level in 0..levels {
        let y = scalar("y");
        let inner = op::add(op::add(&body, &y), int(level as i32)).expr();
        body = apply(&func([&y], &inner), [&x.expr()]);
    }
    let before = main_of(Function::new([x.clone()], body));
    lifted(&before, levels + 1);
}
