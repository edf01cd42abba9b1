//! Visitors, mutators and passes over Relay.

use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::PassRef;
use std::hint::black_box;

use isoform::traverse::{NodeMutator, NodeVisitor, WalkResult};
use isoform::values::{DType, Tensor};
use isoform::{Ref, Value};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule, Op, RelayExpr, TensorType};
use isoform_ir::transform::{FunctionPass, Pass, PassContext, PassInfo, Sequential, make_pass};
use isoform_kernels::elementwise::{Binary, binary};
use isoform_kernels::{Control, Tensor as Computed};
use isoform_relay as relay;
use isoform_relay::eval::evaluate_call;
use isoform_relay::passes::{fold_constant_expr, to_a_normal_form_expr, to_graph_normal_form_expr};
use isoform_relay::{AsExpr, Call, Constant, ExprRewriter, Function, Var, infer_type, op};

use super::table::{Limit, Table};
use super::timing::{alone, pair};
use crate::common::relay::{
    CountCalls, Mutator, Nodes, Plain, Remembered, Visitor, expressions, program,
};

/// Calls that are folded.
const CALLS: usize = 100_000;
const FUNCTIONS: usize = 1_000;
const PASSES: usize = 20;

pub(crate) fn relay(table: &mut Table) {
    // Memory that other programs have used is handed out in another order than that of building.
    folding(table, "as built");
    for depth in [10, 16] {
        traversals(table, depth);
    }
    folding(table, "in memory that was used");
    normal_forms(table);
}

/// Each expression once, by hand and by the engines.
fn traversals(table: &mut Table, depth: u32) {
    let root = program(&Nodes::new(), depth);
    let plain = program(&Plain::new(), depth);
    let count = expressions(&root);

    let visitor = NodeVisitor::new().enter(|calls: &mut u64, _: &Ref<Call>| {
        *calls += 1;
        Ok(WalkResult::Advance)
    });
    let visit = || {
        let mut calls = 0;
        visitor.visit(&mut calls, &root).expect("it does not fail");
        black_box(calls);
    };
    let mutator = NodeMutator::new().on(|_: &mut (), call: &Ref<Call>| {
        black_box(call);
        Ok(None)
    });
    let mutate = || {
        let mutated = mutator.mutate(&mut (), &root).expect("it does not fail");
        assert!(mutated == Value::from(&root));
    };
    let rewriter = ExprRewriter::new().on(|_: &mut (), call: &Ref<Call>, _| {
        black_box(call);
        Ok(None)
    });
    let rewrite = || {
        let rewritten = rewriter.rewrite(&mut (), &root).expect("it does not fail");
        assert!(rewritten.same_as(&root));
    };
    for (against, remembered) in Remembered::EACH {
        let name = |what: &str| format!("relay: {what}, d={depth}{against}");
        let by_hand = || {
            let mut counter = CountCalls::new(remembered);
            counter.visit(&plain);
            black_box(counter.calls);
        };
        let times = pair(count, visit, by_hand);
        table.row(name("visitor"), times, Limit::Ratio(2.0));
        let by_hand = || {
            let mut mutator = Mutator::new(remembered, |call| {
                black_box(call);
                None
            });
            black_box(mutator.mutate(&plain));
        };
        let times = pair(count, mutate, by_hand);
        table.row(name("mutator, no change"), times, Limit::Ratio(3.0));
        let times = pair(count, rewrite, by_hand);
        table.row(name("rewriter, no change"), times, Limit::Ratio(3.0));
    }
}

fn one() -> Tensor {
    Tensor::new(DType::FLOAT32, vec![], 1_f32.to_le_bytes().to_vec()).expect("a scalar")
}

/// A chain of calls on constants, against the kernels alone.
fn folding(table: &mut Table, order: &str) {
    let one = Constant::new(one());
    let mut chain = one.expr();
    for _ in 0..CALLS {
        chain = op::add(chain, &one).expr();
    }
    let ours = || {
        black_box(fold_constant_expr(&chain)).expect("the program is well formed");
    };
    let kernels = || {
        let control = Control::default();
        let one = Computed::scalar(1_f32);
        let mut sum = Computed::scalar(1_f32);
        for _ in 0..CALLS {
            sum = binary(Binary::Add, sum.view(), one.view(), &control).expect("a sum");
        }
        black_box(sum);
    };
    let times = pair(CALLS as u64, ours, kernels);
    let name = format!("relay: FoldConstant per call, {order}, against the kernels alone");
    table.row(name, times, Limit::Beyond(300.0));
    let (add, values) = (
        Op::get("add").expect("an operator"),
        [self::one().into(), self::one().into()],
    );
    let evaluate = || {
        black_box(evaluate_call(&add, &values, None)).expect("a sum");
    };
    table.row(
        format!("relay: evaluate_call of a scalar sum, {order}"),
        alone(1, evaluate),
        Limit::None,
    );
}

/// A-normal form and back, at two sizes.
fn normal_forms(table: &mut Table) {
    for depth in [10, 13, 16] {
        let root = program(&Nodes::new(), depth);
        let count = expressions(&root);
        let named = to_a_normal_form_expr(&root).expect("it is well formed");
        let name = |what: &str| format!("relay: {what}, {count} expressions");
        let run = |pass: fn(&Ref<RelayExpr>) -> isoform::Result<Ref<RelayExpr>>,
                   on: &Ref<RelayExpr>| {
            black_box(pass(on)).expect("it is well formed");
        };
        let times = alone(count, || run(to_a_normal_form_expr, &root));
        table.row(name("ToANormalForm"), times, Limit::None);
        let times = alone(count, || run(to_graph_normal_form_expr, &named));
        table.row(name("ToGraphNormalForm"), times, Limit::None);
    }
}

/// Passes that have nothing to do.
pub(crate) fn passes(table: &mut Table) {
    relay::register().expect("the names are free");
    let module = IRModule::new();
    for number in 0..FUNCTIONS {
        let scalar = TensorType::new([]).with_dtype(DType::FLOAT32).upcast();
        let x = Var::new("x").with_type_annotation(Some(scalar));
        let identity = Function::new([x.clone()], &x);
        let var = GlobalVar::new(format!("function_{number}"));
        module
            .update_func(&var, identity.upcast())
            .expect("the names differ");
    }
    let module = infer_type(&module).expect("parameters have types");
    let times = |pass: Ref<Pass>| {
        let pipeline = Sequential::new((0..PASSES).map(|_| pass.clone()));
        alone((FUNCTIONS * PASSES) as u64, || {
            let result = pipeline.run(&module).expect("no pass fails");
            assert!(result.same_as(&module));
        })
    };
    let idle = FunctionPass::new(
        &PassInfo::new(0, "Idle"),
        |function: Ref<BaseFunc>, _: &Ref<IRModule>, _: &Ref<PassContext>| Ok(function),
    );
    let name = "passes: nothing to do, per function and pass";
    table.row(name, times(idle.upcast()), Limit::Ns(2_000.0));
    for name in ["FoldConstant", "DeadCodeElimination", "ToANormalForm"] {
        let pass = make_pass(name, []).expect("it is registered");
        let name = format!("passes: {name} of `fn (x) {{ x }}`, per function and pass");
        table.row(name, times(pass), Limit::None);
    }
}
