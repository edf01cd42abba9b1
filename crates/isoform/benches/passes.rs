//! The cost of the pass manager: passes that have nothing to do, per function and pass.

use isoform_ir::ir::IRModuleRef;
use isoform_ir::transform::PassRef;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use isoform::objects::construct_named;
use isoform::{Node, Ref};
use isoform_ir::ir::{BaseFunc, GlobalVar, IRModule};
use isoform_ir::transform::{FunctionPass, PassContext, PassInfo, Sequential};

const FUNCTIONS: usize = 1_000;
const PASSES: usize = 20;

/// A module of functions without a body.
fn module() -> Ref<IRModule> {
    isoform_ir::transform::register().expect("the names are free");
    let empty = construct_named(IRModule::type_index(), Vec::new());
    let module: Ref<IRModule> = empty.and_then(Ref::cast).expect("all fields have defaults");
    for number in 0..FUNCTIONS {
        let var = GlobalVar::new(format!("function_{number}"));
        let function = Ref::new(BaseFunc::default());
        module
            .update_func(&var, function)
            .expect("the names differ");
    }
    module
}

fn idle(criterion: &mut Criterion) {
    let root = module();
    let pass = FunctionPass::new(
        &PassInfo::new(0, "Idle"),
        |function: Ref<BaseFunc>, _: &Ref<IRModule>, _: &Ref<PassContext>| Ok(function),
    );
    let pipeline = Sequential::new((0..PASSES).map(|_| pass.clone().upcast()));
    let mut group = criterion.benchmark_group("passes");
    group.throughput(Throughput::Elements((FUNCTIONS * PASSES) as u64));
    group.bench_function("idle", |bencher| {
        bencher.iter(|| black_box(pipeline.run(&root).expect("no pass fails")));
    });
    group.finish();
}

criterion_group!(benches, idle);
criterion_main!(benches);
