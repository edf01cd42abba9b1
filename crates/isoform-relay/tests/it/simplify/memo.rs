//! Memoised passes over functions of Relay: callers depend on the types of callees.

use isoform_ir::transform::PassContextRef;
use isoform_ir::transform::PassRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use isoform::functions::Function as Callable;
use isoform::{Ref, Value, structural_equal};
use isoform_ir::ir::{GlobalVar, IRModule, Type};
use isoform_ir::transform::{
    Cache, ContextOptions, FunctionPass, Memo, MemoryCache, PassContext, PassInfo, Signature,
};
use isoform_relay::{AsExpr, Call, Function, Var, infer_type, op};

use crate::support::*;

/// A module of the two functions, and of a function `main` that calls both.
fn program(f: &Expr, g: &Expr) -> Ref<IRModule> {
    isoform_relay::register().expect("the dialect");
    isoform_ir::transform::register().expect("passes");
    let x = v("f32[2]");
    let [first, second, main] = ["f", "g", "main"].map(GlobalVar::new);
    let sum = op::add(&x, Call::new(&first, [x.expr()]));
    let sum = func([&x], op::add(sum, Call::new(&second, [x.expr()])));
    let module = module([(&first, f), (&second, g), (&main, &sum)]);
    infer_type(&module).expect("well typed")
}

fn tanh(dtype: isoform::values::DType) -> Expr {
    let p = tensor_var(&[2], dtype);
    func([&p], op::tanh(&p))
}

/// A pass that counts calls and leaves all functions unchanged.
fn counting(version: &str) -> (Ref<FunctionPass>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let pass = FunctionPass::new(
        &PassInfo::new(0, "RelayCounting"),
        move |func: Ref<Function>, _: &Ref<IRModule>, _: &Ref<PassContext>| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(func)
        },
    );
    let memo = Memo::new(version).with_reads(Callable::new(|_| Ok(Value::NONE)));
    (pass.with_memo(memo), count)
}

#[test]
fn memoised_passes_read_the_types_of_callees() {
    let context = ContextOptions::default().cache(&Cache::of(MemoryCache::new(1 << 20)));
    let context = context.make().expect("a context");
    let (pass, count) = counting("1");
    let run = |module: &Ref<IRModule>| {
        context.within(|| pass.run(module)).expect("no errors");
        count.swap(0, Ordering::Relaxed)
    };
    let p = v("f32[2]");
    let exp = func([&p], op::exp(&p));
    assert_eq!(run(&program(&tanh(F32), &exp)), 3);
    assert_eq!(run(&program(&tanh(F32), &exp)), 0);
    // Another body of `g`: only `g`.
    let p = v("f32[2]");
    let log = func([&p], op::log(&p));
    assert_eq!(run(&program(&tanh(F32), &log)), 1);
    // Another type of `g`, which still can be called: `g` and `main`.
    let p = v("f32[2]");
    let row = func(
        [&p],
        op::reshape(
            &p,
            isoform_relay::attrs::ReshapeAttrs::new(isoform_relay::attrs::sizes([1, 2])),
        ),
    );
    assert_eq!(run(&program(&tanh(F32), &row)), 2);
}

#[test]
fn the_signature_of_a_function_is_its_type_and_its_attributes() {
    let signature = |func: &Expr| -> Value {
        let func: Ref<Function> = func.clone().cast().expect("a function");
        func.signature().expect("a value")
    };
    let same = |left: &Expr, right: &Expr| {
        structural_equal(signature(left), signature(right)).expect("comparable")
    };
    let with_result = |func: &Expr, ty: Ref<Type>| {
        let func: Ref<Function> = func.clone().cast().expect("a function");
        func.with_ret_type(Some(ty)).expr()
    };
    let p = v("f32[2]");
    let exp = func([&p], op::exp(&p));
    assert!(same(&typed(&tanh(F32)), &typed(&exp)));
    assert!(same(&with_result(&exp, ty("f32[2]")), &typed(&exp)));
    assert!(!same(&typed(&tanh(F32)), &typed(&tanh(F16))));
    // Without a type, the body decides.
    let q = Var::new("q");
    assert!(!same(&func([&q], op::exp(&q)), &func([&q], op::tanh(&q))));
    assert!(!same(&typed(&exp), &marked(&typed(&exp), "Inline")));
}
