//! Normalisations, Dropout and losses.

use super::context::{Context, axis_of};
use crate::elem_type::ElemType;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

pub(super) fn batch(c: &mut Context<'_>, count: usize) -> Option<Vec<Fact>> {
    let shape = c.shape(0).map(<[Size]>::to_vec);
    let mut facts = vec![Fact::tensor(c.elem(0), shape)];
    // In training, the new statistics have the shapes of the given statistics, with one
    // element for each channel.
    let channels = c.shape(0).and_then(|shape| shape.get(1)).cloned();
    let channels = c.symbols.or_fresh(channels);
    for at in 1..count.min(5) {
        let elem = c.elem(if at % 2 == 1 { 3 } else { 4 });
        facts.push(Fact::tensor(elem, Some(vec![channels.clone()])));
    }
    Some(facts)
}

pub(super) fn layer(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let shape = c.shape(0).map(<[Size]>::to_vec);
    // Statistics are computed in this type.
    let elem = match c.int("stash_type", 1)? {
        1 => Some(ElemType::Float),
        code => i32::try_from(code).ok().and_then(ElemType::from_code),
    };
    let statistics = shape.as_ref().and_then(|shape| {
        let axis = axis_of(c.int("axis", -1)?, shape.len())?;
        let mut kept = shape[..axis].to_vec();
        kept.resize(shape.len(), Size::from(1));
        Some(kept)
    });
    let statistics = Fact::tensor(elem, statistics);
    Some(vec![
        Fact::tensor(c.elem(0), shape),
        statistics.clone(),
        statistics,
    ])
}

pub(super) fn dropout(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let shape = c.shape(0).map(<[Size]>::to_vec);
    // Before version 10, the mask was of the type of the data.
    let mask = match c.version() {
        ..=9 => c.elem(0),
        _ => Some(ElemType::Bool),
    };
    Some(vec![
        Fact::tensor(c.elem(0), shape.clone()),
        Fact::tensor(mask, shape),
    ])
}

pub(super) fn loss(c: &mut Context<'_>) -> Option<Vec<Size>> {
    match c.str("reduction", "mean")? {
        // One loss for each label.
        "none" => c.shape(1).map(<[Size]>::to_vec),
        "mean" | "sum" => Some(Vec::new()),
        _ => None,
    }
}
