//! A fixed amount of work, for counting instructions: they do not depend on
//! the load of the machine. `scripts/instructions.sh` runs it under valgrind.
//!
//! `instructions list` names the figures with their positions per repetition;
//! `instructions FIGURE REPEATS` does the work. Without a figure, as when run
//! by `cargo bench`, there is nothing to do.
#![expect(
    clippy::disallowed_macros,
    reason = "a benchmark is a program and prints its result"
)]

mod common;

use std::hint::black_box;

use common::orders::Order;
use common::relay::{CountCalls, Mutator, Nodes, Plain, Remembered, Visitor, expressions, program};
use common::shapes::{Inner, Note};
use common::{plain, positions, shapes};
use isoform::compare::{StructuralKey, diff, subterm_classes};
use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::hooks::{DynEqual, DynHash};
use isoform::objects::{construct, field_value};
use isoform::traverse::{NodeMutator, NodeVisitor, WalkResult, walk_objects};
use isoform::types::{FieldDef, Schema, TypeDef, find_type, register_type};
use isoform::values::{DType, Tensor};
use isoform::{Obj, Ref, Value, structural_equal, structural_hash};
use isoform_ir::ir::Op;
use isoform_kernels::elementwise::{Binary, binary};
use isoform_kernels::{Control, Tensor as Computed};
use isoform_relay::eval::evaluate_call;
use isoform_relay::passes::{fold_constant_expr, to_a_normal_form_expr, to_graph_normal_form_expr};
use isoform_relay::{AsExpr, Call, Constant, ExprRewriter, Var, op};

const DEPTH: u32 = 10;
/// Of a program about ten times as large.
const LARGE: u32 = 13;
const LEVELS: u32 = 2_000;
const WIDTH: usize = 64;
const VARIABLES: usize = 1_000;
const CALLS: usize = 100_000;

type Work = Box<dyn Fn()>;

struct Figure {
    name: &'static str,
    positions: u64,
    prepare: fn() -> Work,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["list", ..] => {
            for figure in figures() {
                println!("{} {}", figure.name, figure.positions);
            }
        }
        [name, repeats, ..] => {
            let figure = figures().into_iter().find(|figure| figure.name == name);
            let (Some(figure), Ok(repeats)) = (figure, repeats.parse::<u32>()) else {
                return println!("no such figure, or no number: {name} {repeats}");
            };
            let work = (figure.prepare)();
            // What is allocated once belongs to neither count.
            work();
            (0..repeats).for_each(|_| work());
        }
        _ => println!("nothing to count here: run scripts/instructions.sh"),
    }
}

fn figures() -> Vec<Figure> {
    let figure = |name, positions, prepare| Figure {
        name,
        positions,
        prepare,
    };
    let tree = positions(DEPTH);
    let butterfly = (WIDTH * (WIDTH + 1)) as u64;
    vec![
        figure("equal-enum", tree, || {
            let (left, right) = (plain::lambda(DEPTH), plain::lambda(DEPTH));
            Box::new(move || assert!(black_box(&left) == black_box(&right)))
        }),
        figure("equal", tree, || {
            equal(shapes::lambda(DEPTH), shapes::lambda(DEPTH))
        }),
        figure("equal-edited", 1, || {
            let (left, right) = shapes::lambda_and_edit(16, true);
            equal(left, right)
        }),
        figure("diff-leaf", 2 * tree, || {
            let number = |number| {
                if number == 1 << (DEPTH - 1) {
                    -1
                } else {
                    number
                }
            };
            differ(number)
        }),
        figure("diff-numbers", 2 * tree, || differ(|number| -number)),
        figure("equal-scope", tree, || {
            equal(shapes::scoped(DEPTH), shapes::scoped(DEPTH))
        }),
        figure("equal-held", tree, || {
            let held = || shapes::held(Order::ChildrenFirst, DEPTH);
            let ((left, owners), (right, others)) = (held(), held());
            owning([owners, others], equal(left, right))
        }),
        figure("equal-dag", u64::from(LEVELS), || {
            equal(shapes::dag(LEVELS), shapes::dag(LEVELS))
        }),
        figure("equal-dag-kind", tree, || {
            let make = || shapes::lambda_of(Inner::Dag, DEPTH);
            equal(make(), make())
        }),
        figure("equal-butterfly", butterfly, || {
            let make = |seed| shapes::butterfly(WIDTH, WIDTH, seed);
            equal(make(1), make(2))
        }),
        figure("equal-variables", 2 * VARIABLES as u64, || {
            equal(shapes::vars(VARIABLES), shapes::vars(VARIABLES))
        }),
        figure("equal-chain", u64::from(LEVELS), || {
            let make = || shapes::chain(LEVELS as usize);
            equal(make(), make())
        }),
        figure("equal-numbers", tree, || equal_noted(Note::Number)),
        figure("equal-empty-lists", tree, || equal_noted(Note::EmptyList)),
        figure("equal-lists", tree, || equal_noted(Note::List)),
        figure("equal-empty-dicts", tree, || equal_noted(Note::EmptyDict)),
        figure("equal-dicts", tree, || equal_noted(Note::Dict)),
        figure("hash-enum", tree, || {
            let root = plain::lambda(DEPTH);
            Box::new(move || {
                black_box(plain::hash(black_box(&root)));
            })
        }),
        figure("hash", tree, || hash(shapes::lambda(DEPTH))),
        figure("hash-held", tree, || {
            let (root, owners) = shapes::held(Order::ChildrenFirst, DEPTH);
            owning([owners], hash(root))
        }),
        figure("hash-dag", u64::from(LEVELS), || hash(shapes::dag(LEVELS))),
        figure("hash-dag-kind", tree, || {
            hash(shapes::lambda_of(Inner::Dag, DEPTH))
        }),
        figure("hash-numbers", tree, || hash_noted(Note::Number)),
        figure("hash-empty-lists", tree, || hash_noted(Note::EmptyList)),
        figure("hash-lists", tree, || hash_noted(Note::List)),
        figure("hash-empty-dicts", tree, || hash_noted(Note::EmptyDict)),
        figure("hash-dicts", tree, || hash_noted(Note::Dict)),
        figure("hash-mutable", tree, || hash(mutable())),
        figure("key-mutable", tree, || {
            let root = mutable();
            Box::new(move || {
                black_box(StructuralKey::new(&root)).expect("it can be hashed");
            })
        }),
        figure("hash-chain", u64::from(LEVELS), || {
            hash(shapes::chain(LEVELS as usize))
        }),
        figure("classes-tree", tree, || {
            let root = Value::from(shapes::lambda(DEPTH));
            Box::new(move || drop(black_box(subterm_classes(&root)).expect("no cycle")))
        }),
        figure("fold-calls", CALLS as u64, || {
            fold(Constant::new(one()).expr())
        }),
        figure("fold-nothing", CALLS as u64, || fold(Var::new("x").expr())),
        figure("evaluate-call", 1, || {
            // Registers the operator.
            drop(op::add(Var::new("x"), Var::new("y")));
            let add = Op::get("add").expect("an operator");
            let values: [Value; 2] = [one().into(), one().into()];
            Box::new(move || {
                black_box(evaluate_call(&add, &values, None)).expect("a sum");
            })
        }),
        figure("kernel-add", 1, || {
            let (one, control) = (Computed::scalar(1_f32), Control::default());
            Box::new(move || {
                let (left, right) = (one.view(), one.view());
                black_box(binary(Binary::Add, left, right, &control)).expect("a sum");
            })
        }),
        figure("visit-enum", relay_nodes(DEPTH), || {
            let root = program(&Plain::new(), DEPTH);
            Box::new(move || {
                let mut counter = CountCalls::new(Remembered::All);
                counter.visit(&root);
                black_box(counter.calls);
            })
        }),
        figure("visit-relay", relay_nodes(DEPTH), || {
            let root = program(&Nodes::new(), DEPTH);
            let visitor = NodeVisitor::new().enter(|calls: &mut u64, _: &Ref<Call>| {
                *calls += 1;
                Ok(WalkResult::Advance)
            });
            Box::new(move || {
                let mut calls = 0;
                visitor.visit(&mut calls, &root).expect("it does not fail");
                black_box(calls);
            })
        }),
        figure("mutate-enum", relay_nodes(DEPTH), || {
            let root = program(&Plain::new(), DEPTH);
            Box::new(move || {
                let mut mutator = Mutator::new(Remembered::All, |call| {
                    black_box(call);
                    None
                });
                black_box(mutator.mutate(&root));
            })
        }),
        figure("mutate-relay", relay_nodes(DEPTH), || {
            let root = program(&Nodes::new(), DEPTH);
            let mutator = NodeMutator::new().on(|_: &mut (), call: &Ref<Call>| {
                black_box(call);
                Ok(None)
            });
            Box::new(move || {
                black_box(mutator.mutate(&mut (), &root)).expect("it does not fail");
            })
        }),
        figure("rewrite-relay", relay_nodes(DEPTH), || {
            let root = program(&Nodes::new(), DEPTH);
            let rewriter = ExprRewriter::new().on(|_: &mut (), call: &Ref<Call>, _| {
                black_box(call);
                Ok(None)
            });
            Box::new(move || {
                black_box(rewriter.rewrite(&mut (), &root)).expect("it does not fail");
            })
        }),
        figure("normal-form", relay_nodes(DEPTH), || normal_form(DEPTH)),
        figure("normal-form-large", relay_nodes(LARGE), || {
            normal_form(LARGE)
        }),
        figure("graph-form", relay_nodes(DEPTH), || graph_form(DEPTH)),
        figure("graph-form-large", relay_nodes(LARGE), || graph_form(LARGE)),
        figure("walk", tree, || walk(shapes::lambda(DEPTH))),
        figure("walk-numbers", tree, || {
            walk(shapes::noted(Note::Number, DEPTH))
        }),
        figure("walk-lists", tree, || {
            walk(shapes::noted(Note::List, DEPTH))
        }),
        figure("walk-dicts", tree, || {
            walk(shapes::noted(Note::Dict, DEPTH))
        }),
        figure("construct-and-drop", tree, || {
            Box::new(|| drop(black_box(shapes::lambda(DEPTH))))
        }),
        figure("construct-by-data", tree, || {
            Box::new(|| drop(black_box(mutable())))
        }),
        figure("read-json", tree, || {
            let root = shapes::lambda(DEPTH);
            let text = to_json_graph(&root).expect("it can be written");
            Box::new(move || {
                drop(from_json_graph(black_box(&text)));
            })
        }),
        figure("read-binary", tree, || {
            let bytes = to_bytes(shapes::lambda(DEPTH)).expect("it can be written");
            Box::new(move || drop(from_bytes(black_box(&bytes))))
        }),
        figure("equal-hooks", VARIABLES as u64, || {
            equal(hooked(), hooked())
        }),
        figure("hash-hooks", VARIABLES as u64, || hash(hooked())),
    ]
}

fn equal(left: impl Into<Value>, right: impl Into<Value>) -> Work {
    let (left, right) = (left.into(), right.into());
    Box::new(move || assert!(matches!(structural_equal(&left, &right), Ok(true))))
}

/// All differences of W and W with other numbers, which share nothing.
fn differ(number: impl Fn(i64) -> i64) -> Work {
    let made = |number: &dyn Fn(i64) -> i64| {
        Value::from(shapes::lambda_numbered(Order::ChildrenFirst, DEPTH, number))
    };
    let (left, right) = (made(&|number| number), made(&number));
    Box::new(move || assert!(diff(&left, &right).is_ok_and(|found| !found.is_empty())))
}

/// W with mutable fields and a single owner for every node.
fn mutable() -> Value {
    let (root, owners) = shapes::held_mutable(DEPTH).expect("the workload is well-formed");
    drop(owners);
    root.into()
}

/// The number of expressions in the program of Relay.
fn relay_nodes(depth: u32) -> u64 {
    expressions(&program(&Nodes::new(), depth))
}

/// A name for every value of the program of Relay.
fn normal_form(depth: u32) -> Work {
    let root = program(&Nodes::new(), depth);
    Box::new(move || {
        black_box(to_a_normal_form_expr(&root)).expect("it is well formed");
    })
}

/// No name for any value of it.
fn graph_form(depth: u32) -> Work {
    let root = program(&Nodes::new(), depth);
    let named = to_a_normal_form_expr(&root).expect("it is well formed");
    Box::new(move || {
        black_box(to_graph_normal_form_expr(&named)).expect("it is well formed");
    })
}

/// Objects that compare and hash themselves.
fn hooked() -> Value {
    let equal = DynEqual::new(|left, right, eq| {
        eq.equal(&field_value(left, "v")?, &field_value(right, "v")?, "v")
    });
    let hash = DynHash::new(|object, init, hash| hash.hash(&field_value(object, "v")?, init));
    let ty = find_type("bench.Hooked").map_or_else(
        || {
            let field = FieldDef::new("v", Schema::Any);
            register_type(
                TypeDef::new("bench.Hooked")
                    .field(field)
                    .hook(equal)
                    .hook(hash),
            )
        },
        |info| Ok(info.index()),
    );
    let ty = ty.expect("the type is consistent");
    let object = |v: usize| construct(ty, vec![(v as i64).into()]).expect("it fits");
    Value::from(Vec::from_iter((0..VARIABLES).map(object).map(Value::from)))
}

fn equal_noted(note: Note) -> Work {
    equal(shapes::noted(note, DEPTH), shapes::noted(note, DEPTH))
}

fn hash_noted(note: Note) -> Work {
    hash(shapes::noted(note, DEPTH))
}

/// A scalar.
fn one() -> Tensor {
    Tensor::new(DType::FLOAT32, vec![], 1_f32.to_le_bytes().to_vec()).expect("a scalar")
}

/// Constant folding of a chain of calls, of which all are known or none is.
fn fold(first: Ref<isoform_ir::ir::RelayExpr>) -> Work {
    let one = Constant::new(one());
    let mut program = first;
    for _ in 0..CALLS {
        program = op::add(program, &one).expr();
    }
    Box::new(move || {
        black_box(fold_constant_expr(&program)).expect("the program is well formed");
    })
}

fn walk(root: impl Into<Value>) -> Work {
    let root = root.into();
    Box::new(move || {
        let outcome = walk_objects(&root, |object, _| {
            black_box(object.owners());
            Ok(WalkResult::<()>::Advance)
        });
        assert!(matches!(outcome, Ok(None)));
    })
}

fn hash(root: impl Into<Value>) -> Work {
    let root = root.into();
    Box::new(move || {
        black_box(structural_hash(&root)).expect("the workload can be hashed");
    })
}

/// The work, keeping further owners of its nodes.
fn owning<const N: usize>(owners: [Vec<Ref<Obj>>; N], work: Work) -> Work {
    Box::new(move || {
        black_box(&owners);
        work();
    })
}
