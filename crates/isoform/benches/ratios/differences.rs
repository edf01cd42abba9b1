//! All differences of two programs that share nothing, per node of both sides.
//!
//! The programs of the first table differ as little, and as much, as they can: in one
//! leaf, in every number, and in shape. The second has the orders in which they are built.

use std::hint::black_box;

use isoform::Value;
use isoform::compare::{Difference, diff};

use super::orders::{Figure, apart};
use super::table::{Limit, Table};
use super::timing::{Times, alone};
use crate::common::orders::Order;
use crate::common::{positions, shapes};

/// Nanoseconds per node of both sides.
const ONE_LEAF: f64 = 150.0;
const DIFFERENT: f64 = 600.0;

pub(super) const FIGURES: [Figure; 2] = [
    ("differences, one leaf edited", ONE_LEAF, one_leaf),
    ("differences, every number another", DIFFERENT, every_number),
];

pub(crate) fn differences(table: &mut Table) {
    for depth in [10, 16] {
        let right = shapes::lambda_of_another_shape(depth);
        let times = timed(depth, shapes::lambda(depth).into(), right.into(), |_| true);
        let figure = format!("differences, another shape, d={depth}");
        table.row(figure, times, Limit::Ns(DIFFERENT));
        let (left, right) = shapes::lambda_and_edit(depth, false);
        let times = timed(depth, left.into(), right.into(), has_one_change);
        let figure = format!("differences, all but one leaf shared, d={depth}");
        table.row(figure, times, Limit::Ns(ONE_LEAF));
        for (figure, limit, _) in FIGURES {
            let times = Order::ALL.map(|(order, _)| {
                apart(figure, depth, order).expect("this program runs itself for one figure")
            });
            table.orders_row(format!("{figure}, d={depth}"), &times, Limit::Ns(limit));
        }
    }
}

fn has_one_change(found: &Difference) -> bool {
    found.changes().len() == 1
}

/// The time per node of both sides; what is found has to be right.
fn timed(depth: u32, left: Value, right: Value, is_right: fn(&Difference) -> bool) -> Times {
    alone(2 * positions(depth), || {
        let found = diff(&left, &right).expect("the workload is comparable");
        assert!(!found.is_empty() && is_right(&found));
        black_box(found);
    })
}

fn one_leaf(order: Order, depth: u32) -> Times {
    let middle = 1 << (depth - 1);
    let number = move |number| if number == middle { -1 } else { number };
    let left = shapes::lambda_numbered(order, depth, &|number| number);
    let right = shapes::lambda_numbered(order, depth, &number);
    timed(depth, left.into(), right.into(), has_one_change)
}

fn every_number(order: Order, depth: u32) -> Times {
    let left = shapes::lambda_numbered(order, depth, &|number| number);
    let right = shapes::lambda_numbered(order, depth, &|number| -number);
    timed(depth, left.into(), right.into(), |_| true)
}
