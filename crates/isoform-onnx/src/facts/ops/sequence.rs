//! Recurrent operators, and those on strings.

use super::context::Context;
use super::create::unknown_shape;
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

/// LSTM, GRU and RNN, with the given number of gates: all hidden states, the last
/// hidden state, and for LSTM the last cell.
pub(super) fn recurrent(c: &mut Context<'_>, gates: i64, results: usize) -> Option<Vec<Fact>> {
    let elem = c.elem(0);
    let hidden = match c.call.int("hidden_size").ok()? {
        Some(hidden) => Some(Size::from(hidden)),
        None => match c.shape(2) {
            Some([_, _, hidden]) => Some(hidden.clone()),
            _ => match c.shape(1) {
                Some([_, rows, _]) => rows.div_exact(&Size::from(gates)),
                _ => None,
            },
        },
    };
    let hidden = c.symbols.or_fresh(hidden);
    let directions = match c.str("direction", "forward")? {
        "bidirectional" => Size::from(2),
        "forward" | "reverse" => Size::from(1),
        _ => c.symbols.fresh_extent(),
    };
    let batch_first = c.version() >= 14 && c.int("layout", 0)? != 0;
    let (length, batch) = match c.shape(0) {
        Some([batch, length, _]) if batch_first => (length.clone(), batch.clone()),
        Some([length, batch, _]) => (length.clone(), batch.clone()),
        _ => (c.symbols.fresh_extent(), c.symbols.fresh_extent()),
    };
    let (all, last) = if batch_first {
        (
            vec![batch.clone(), length, directions.clone(), hidden.clone()],
            vec![batch, directions, hidden],
        )
    } else {
        (
            vec![length, directions.clone(), batch.clone(), hidden.clone()],
            vec![directions, batch, hidden],
        )
    };
    let mut facts = vec![Fact::tensor(elem, Some(all))];
    facts.resize(results, Fact::tensor(elem, Some(last)));
    Some(facts)
}

pub(super) fn string_normalizer(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let shape = c.shape(0)?;
    // Words may be dropped from the last axis.
    let mut shape = shape.to_vec();
    *shape.last_mut()? = c.symbols.fresh_extent();
    Some(shape)
}

pub(super) fn string_split(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let shape = c.shape(0).map(<[Size]>::to_vec);
    let parts = shape.clone().map(|mut shape| {
        shape.push(c.symbols.fresh_extent());
        shape
    });
    Some(vec![
        Fact::tensor(Some(ElemType::String), parts),
        Fact::tensor(Some(ElemType::Int64), shape),
    ])
}

pub(super) fn tf_idf(c: &mut Context<'_>) -> Option<Vec<Size>> {
    let largest = c.given_ints("ngram_indexes")??.into_iter().max()?;
    let width = Size::from(largest.checked_add(1)?);
    match c.rank(0)? {
        0 | 1 => Some(vec![width]),
        2 => Some(vec![c.shape(0)?.first()?.clone(), width]),
        rank => unknown_shape(c, i64::try_from(rank).ok()?),
    }
}
