//! Draws recurrent networks, most of them with initial states.

use isoform_onnx::ElemType;

use super::calls::Op;
use super::generator::Generator;
use super::pieces;
use super::shapes::shape_of;
use super::values::{Size, Val};

/// The number of elements of a hidden state, and of an element of the sequence.
const HIDDEN: i64 = 2;
const INPUT: i64 = 2;

pub(super) fn recurrent(g: &mut Generator<'_>) -> Option<()> {
    // The number of gates, and of states.
    let operators = [("LSTM", 4, 2), ("GRU", 3, 1), ("RNN", 1, 1)];
    let &(name, gates, states) = g.source.pick(&operators);
    let x = sequence(g)?;
    let directions = 1 + i64::from(g.source.chance(30));
    let weights = g.constant(x.elem, &[directions, gates * HIDDEN, INPUT]);
    let again = g.constant(x.elem, &[directions, gates * HIDDEN, HIDDEN]);
    let mut op = Op::new(name).on(&x).on(&weights).on(&again);
    op = if g.source.chance(40) {
        let bias = g.constant(x.elem, &[directions, 2 * gates * HIDDEN]);
        op.on(&bias)
    } else {
        op.skip()
    };
    op = op.skip().attr("hidden_size", HIDDEN);
    for _ in 0..states {
        op = match state(g, &x, directions) {
            Some(state) => op.on(&state),
            None => op.skip(),
        };
    }
    if directions == 2 {
        op = op.attr("direction", "bidirectional");
    }
    let last: Vec<Size> = vec![[directions; 2], x.dims[1], [HIDDEN; 2]];
    let all = [vec![x.dims[0], [directions; 2]], last[1..].to_vec()].concat();
    let mut outputs = vec![(x.elem, all)];
    outputs.extend((0..states).map(|_| (x.elem, last.clone())));
    g.make_all(op, &outputs);
    Some(())
}

/// A sequence of batches of elements: a known or a new one.
fn sequence(g: &mut Generator<'_>) -> Option<Val> {
    let fits = |x: &Val| {
        x.elem == ElemType::Float
            && x.rank() == 3
            && x.dims[2] == [INPUT; 2]
            && !x.may_be_empty()
            && x.tame
    };
    if let Some(known) = g.known(fits) {
        return Some(known);
    }
    let dims = vec![g.size(), g.size(), [INPUT; 2]];
    let x = g.fresh(ElemType::Float, dims);
    // Inside a function, no value of a symbolic size is available.
    (x.rank() == 3 && !x.may_be_empty()).then_some(x)
}

/// An initial state: of zeros that are made at run time or stored, or of drawn numbers.
fn state(g: &mut Generator<'_>, x: &Val, directions: i64) -> Option<Val> {
    let dims: Vec<Size> = vec![[directions; 2], x.dims[1], [HIDDEN; 2]];
    let is_fixed = x.dims[1][0] == x.dims[1][1];
    match g.source.below(5) {
        0 => None,
        1 | 2 if g.since(15) => {
            let (first, last) = (g.axes(&[directions]), g.axes(&[HIDDEN]));
            let batch = shape_of(g, x, Some((1, 2)));
            let shape = pieces::concat_all(g, &[first, batch, last], 0)?;
            g.note("pattern: initial state of zeros");
            let number = *g.source.pick(&[0.0, 0.0, -0.0, 1.0]);
            if g.source.chance(50) {
                let number = g.uniform(x.elem, &[1], number);
                let op = Op::new("ConstantOfShape").on(&shape);
                return Some(g.make(op.attr("value", number.value), x.elem, dims));
            }
            let number = g.uniform(x.elem, &[1, 1, 1], number);
            Some(g.make(Op::new("Expand").on(&number).on(&shape), x.elem, dims))
        }
        3 if is_fixed => {
            let number = *g.source.pick(&[0.0, 0.0, -0.0]);
            Some(g.uniform(x.elem, &[directions, x.dims[1][0], HIDDEN], number))
        }
        _ => {
            let state = g.fresh(x.elem, dims.clone());
            (state.dims == dims).then_some(state)
        }
    }
}
