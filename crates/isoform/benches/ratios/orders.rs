//! The workload W, built in several orders: where its nodes lie in memory
//! decides how long a walk waits for them, as soon as they do not fit the
//! cache.
//!
//! The figures of all orders stand side by side, and the enum is built in the
//! same order. Each is measured in a process of its own: a heap that held
//! another program gives its blocks out again in the order they were freed.

use std::error::Error;
use std::hint::black_box;
use std::process::Command;

use isoform::files::{from_bytes, from_json_graph, to_bytes, to_json_graph};
use isoform::traverse::{WalkResult, deep_copy, walk_objects};
use isoform::{Obj, Ref, Value};

use super::differences;
use super::table::{Limit, Table};
use super::timing::{Times, alone, pair};
use crate::common::orders::Order;
use crate::common::shapes::Inner;
use crate::common::{plain, positions, shapes};
use crate::{equal, hash};

/// Too large for most second-level caches, and for most caches.
const DEPTHS: [u32; 2] = [16, 20];

/// Asks this program for one figure.
const ALONE: &str = "--one-figure";

/// The name of a figure, its target in nanoseconds for programs built children
/// first, and its measurement.
pub(super) type Figure = (&'static str, f64, fn(Order, u32) -> Times);

const FIGURES: [Figure; 9] = [
    ("equal", 15.0, equality),
    ("hash", 18.0, hashing),
    ("walk, objects", 20.0, walking),
    ("kind dag: equal", 30.0, dag_equality),
    ("kind dag: hash", 25.0, dag_hashing),
    ("every node held: equal", 25.0, held_equality),
    ("two deep copies: equal", 8.0, copies),
    ("two read from JSON: equal", 8.0, read_from_json),
    ("two read from the binary form: equal", 8.0, read_from_bytes),
];

pub(crate) fn orders(table: &mut Table) {
    for depth in DEPTHS {
        for (figure, limit, _) in FIGURES {
            let times = Order::ALL.map(|(order, _)| {
                apart(figure, depth, order).expect("this program runs itself for one figure")
            });
            table.orders_row(format!("{figure}, d={depth}"), &times, Limit::Ns(limit));
        }
    }
}

/// One figure, measured by a new run of this program.
pub(super) fn apart(figure: &str, depth: u32, order: &str) -> Result<Times, Box<dyn Error>> {
    let depth = depth.to_string();
    let output = Command::new(std::env::current_exe()?)
        .args([ALONE, figure, &depth, order])
        .output()?;
    Times::from_line(&String::from_utf8(output.stdout)?)
        .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into())
}

/// The figure that the arguments of this process ask for, as a line.
pub(crate) fn asked(arguments: &[String]) -> Option<String> {
    let [alone, figure, depth, order] = arguments else {
        return None;
    };
    let mut figures = FIGURES.into_iter().chain(differences::FIGURES);
    let (_, _, measure) = figures.find(|(name, ..)| name == figure)?;
    let (_, order) = Order::ALL.into_iter().find(|(name, _)| name == order)?;
    (alone == ALONE).then_some(measure(order, depth.parse().ok()?).to_line())
}

fn program(order: Order, inner: Inner, depth: u32) -> Value {
    shapes::lambda_in(order, inner, depth).into()
}

fn equality(order: Order, depth: u32) -> Times {
    let [left, right] = [(); 2].map(|()| program(order, Inner::Tree, depth));
    let [plain_left, plain_right] = [(); 2].map(|()| plain::lambda_in(order, depth));
    let derived = || assert!(black_box(&plain_left) == black_box(&plain_right));
    pair(positions(depth), || equal(&left, &right), derived)
}

fn hashing(order: Order, depth: u32) -> Times {
    let (root, plain_root) = (
        program(order, Inner::Tree, depth),
        plain::lambda_in(order, depth),
    );
    let derived = || {
        black_box(plain::hash(black_box(&plain_root)));
    };
    pair(positions(depth), || hash(&root), derived)
}

fn walking(order: Order, depth: u32) -> Times {
    let (root, plain_root) = (
        program(order, Inner::Tree, depth),
        plain::lambda_in(order, depth),
    );
    let objects = || {
        let mut visited = 0u64;
        let outcome = walk_objects(&root, |object, _| {
            visited += u64::from(object.owners() > 0);
            Ok(WalkResult::<()>::Advance)
        });
        assert!(matches!(outcome, Ok(None)));
        black_box(visited);
    };
    let by_hand = || {
        let mut visited = 0u64;
        plain::walk(&plain_root, &mut |expr| {
            visited += u64::from(black_box(expr) as *const _ as usize & 1 == 0);
        });
        black_box(visited);
    };
    pair(positions(depth), objects, by_hand)
}

fn dag_equality(order: Order, depth: u32) -> Times {
    let [left, right] = [(); 2].map(|()| program(order, Inner::Dag, depth));
    alone(positions(depth), || equal(&left, &right))
}

fn dag_hashing(order: Order, depth: u32) -> Times {
    let root = program(order, Inner::Dag, depth);
    alone(positions(depth), || hash(&root))
}

fn held_equality(order: Order, depth: u32) -> Times {
    let held = || -> (Value, Vec<Ref<Obj>>) {
        let (root, owners) = shapes::held(order, depth);
        (root.into(), owners)
    };
    let ((left, _owners), (right, _others)) = (held(), held());
    alone(positions(depth), || equal(&left, &right))
}

/// How fast two values are compared that something has made of a program.
fn remade(order: Order, depth: u32, remake: impl Fn(&Value) -> Value) -> Times {
    let source = program(order, Inner::Tree, depth);
    let (left, right) = (remake(&source), remake(&source));
    drop(source);
    alone(positions(depth), || equal(&left, &right))
}

fn copies(order: Order, depth: u32) -> Times {
    remade(order, depth, |source| {
        deep_copy(source).expect("the workload can be copied")
    })
}

fn read_from_json(order: Order, depth: u32) -> Times {
    remade(order, depth, |source| {
        let text = to_json_graph(source);
        let text = text.expect("the workload can be written");
        from_json_graph(&text).expect("the text can be read")
    })
}

fn read_from_bytes(order: Order, depth: u32) -> Times {
    remade(order, depth, |source| {
        let bytes = to_bytes(source).expect("the workload can be written");
        from_bytes(&bytes).expect("the bytes can be read")
    })
}
