//! Wall time of the engines and the object model, with the plain enum in the
//! same groups. `cargo bench --bench ratios` prints the same as one table.

mod common;

use std::hint::black_box;
use std::time::Duration;

use common::orders::Order;
use common::shapes::Inner;
use common::{plain, positions, shapes, statements};
use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use isoform::compare::{ClassOptions, subterm_classes};
use isoform::traverse::{WalkResult, walk_objects};
use isoform::{
    Obj, Ref, Value, explain_mismatch, structural_digest, structural_equal, structural_hash,
};

/// Cache-resident, and not.
const DEPTHS: [u32; 2] = [10, 16];

/// Two equal programs.
struct Shape {
    name: &'static str,
    positions: u64,
    left: Value,
    right: Value,
    /// Further owners of their nodes.
    _owners: Vec<Ref<Obj>>,
}

fn shape(
    name: &'static str,
    positions: u64,
    left: impl Into<Value>,
    right: impl Into<Value>,
) -> Shape {
    Shape {
        name,
        positions,
        left: left.into(),
        right: right.into(),
        _owners: Vec::new(),
    }
}

/// The programs other than W.
fn other_shapes() -> Vec<Shape> {
    use common::shapes::{butterfly, chain, dag, lambda_in, lambda_of, scoped, vars};
    let tree = positions(16);
    let held = || shapes::held(Order::ChildrenFirst, 16);
    let ((left, mut owners), (right, others)) = (held(), held());
    owners.extend(others);
    let held = Shape {
        _owners: owners,
        ..shape("held", tree, left, right)
    };
    let shuffled = || lambda_in(Order::Shuffled, Inner::Tree, 16);
    let dag_kind = || lambda_of(Inner::Dag, 16);
    let any_order = || lambda_of(Inner::AnyOrder, 10);
    vec![
        held,
        shape(
            "statements",
            statements::count(1_000),
            statements::program(1_000),
            statements::program(1_000),
        ),
        shape("shuffled", tree, shuffled(), shuffled()),
        shape("dag-kind", tree, dag_kind(), dag_kind()),
        shape("scope", tree, scoped(16), scoped(16)),
        shape("dag", 100_000, dag(100_000), dag(100_000)),
        shape(
            "butterfly-64",
            64 * 65,
            butterfly(64, 64, 1),
            butterfly(64, 64, 2),
        ),
        shape(
            "butterfly-256",
            256 * 65,
            butterfly(256, 64, 1),
            butterfly(256, 64, 2),
        ),
        shape("variables", 200_000, vars(100_000), vars(100_000)),
        shape("custom", positions(10), any_order(), any_order()),
        shape("chain", 1_000_000, chain(1_000_000), chain(1_000_000)),
    ]
}

fn equal(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("equal");
    for depth in DEPTHS {
        let (left, right) = (
            Value::from(shapes::lambda(depth)),
            Value::from(shapes::lambda(depth)),
        );
        let (plain_left, plain_right) = (plain::lambda(depth), plain::lambda(depth));
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            structural_equal(black_box(&left), &right)
        });
        bench(&mut group, "enum", depth, || {
            black_box(&plain_left) == black_box(&plain_right)
        });
        bench(&mut group, "enum, renaming by hand", depth, || {
            plain::equal_renamed(black_box(&plain_left), &plain_right)
        });
    }
    for shape in other_shapes() {
        group.throughput(Throughput::Elements(shape.positions));
        group.bench_function(shape.name, |bencher| {
            bencher.iter(|| structural_equal(black_box(&shape.left), &shape.right));
        });
    }
    wide(&mut group, |left, right| {
        let _ = black_box(structural_equal(left, right));
    });
    group.finish();
}

fn hash(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hash");
    for depth in DEPTHS {
        let root = Value::from(shapes::lambda(depth));
        let plain_root = plain::lambda(depth);
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            structural_hash(black_box(&root))
        });
        bench(&mut group, "enum", depth, || {
            plain::hash(black_box(&plain_root))
        });
    }
    for shape in other_shapes() {
        group.throughput(Throughput::Elements(shape.positions));
        group.bench_function(shape.name, |bencher| {
            bencher.iter(|| structural_hash(black_box(&shape.left)));
        });
    }
    wide(&mut group, |left, _| {
        let _ = black_box(structural_hash(left));
    });
    group.finish();
}

/// The classes of all subterms, beside one hash of the whole.
fn classes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("classes");
    for depth in DEPTHS {
        let root = Value::from(shapes::lambda(depth));
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            subterm_classes(black_box(&root))
        });
        bench(&mut group, "renaming free variables", depth, || {
            let options = ClassOptions {
                map_free_vars: true,
                ..ClassOptions::default()
            };
            options.classes(black_box(&root))
        });
        bench(&mut group, "hash", depth, || {
            structural_hash(black_box(&root))
        });
    }
    group.finish();
}

fn wide(group: &mut BenchmarkGroup<'_, WallTime>, work: impl Fn(&Value, &Value)) {
    const COUNT: usize = 1_000_000;
    let (left, right) = (shapes::wide(COUNT), shapes::wide(COUNT));
    group.throughput(Throughput::Elements(COUNT as u64));
    group.bench_function("array", |bencher| {
        bencher.iter(|| work(black_box(&left), &right));
    });
}

fn digest(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("digest");
    for depth in DEPTHS {
        let root = Value::from(shapes::lambda(depth));
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            structural_digest(black_box(&root))
        });
    }
    group.finish();
}

/// The last leaf differs, and its place is wanted.
fn mismatch(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mismatch");
    for depth in DEPTHS {
        let left = Value::from(shapes::lambda(depth));
        let right = Value::from(shapes::lambda_with_other_end(depth));
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            explain_mismatch(black_box(&left), &right)
        });
    }
    group.finish();
}

fn walk(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("walk");
    for depth in DEPTHS {
        let root = Value::from(shapes::lambda(depth));
        let plain_root = plain::lambda(depth);
        group.throughput(Throughput::Elements(positions(depth)));
        bench(&mut group, "isoform", depth, || {
            let mut owners = 0u64;
            walk_objects(black_box(&root), |object, _| {
                owners += u64::from(object.owners());
                Ok(WalkResult::<()>::Advance)
            })
            .map(|_| owners)
        });
        bench(&mut group, "enum", depth, || {
            let mut numbers = 0u64;
            plain::walk(black_box(&plain_root), &mut |expr| {
                numbers += u64::from(matches!(expr, plain::Expr::Int(_)));
            });
            numbers
        });
    }
    group.finish();
}

fn construct(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("construct");
    for depth in DEPTHS {
        group.throughput(Throughput::Elements(positions(depth)));
        group.bench_function(BenchmarkId::new("isoform", depth), |bencher| {
            bencher.iter_with_large_drop(|| shapes::lambda(depth));
        });
        group.bench_function(BenchmarkId::new("enum", depth), |bencher| {
            bencher.iter_with_large_drop(|| plain::lambda(depth));
        });
    }
    group.finish();
}

fn release(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("drop");
    for depth in DEPTHS {
        group.throughput(Throughput::Elements(positions(depth)));
        group.bench_function(BenchmarkId::new("isoform", depth), |bencher| {
            bencher.iter_batched(|| shapes::lambda(depth), drop, BatchSize::LargeInput);
        });
        group.bench_function(BenchmarkId::new("enum", depth), |bencher| {
            bencher.iter_batched(|| plain::lambda(depth), drop, BatchSize::LargeInput);
        });
    }
    group.finish();
}

fn bench<T>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    side: &str,
    depth: u32,
    mut work: impl FnMut() -> T,
) {
    group.bench_function(BenchmarkId::new(side, depth), |bencher| {
        bencher.iter(&mut work);
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .sample_size(20);
    targets = equal, hash, digest, classes, mismatch, walk, construct, release
}
criterion_main!(benches);
