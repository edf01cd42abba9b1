//! Attention and other layers with heads or states.

use super::context::Context;
use crate::facts::fact::Fact;
use crate::facts::size::Size;

/// Inputs of rank 3 have one axis for the heads and their elements, inputs of rank 4
/// have two.
pub(super) fn attention(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let elem = c.elem(0);
    let (query, key, value) = (c.shape(0), c.shape(1), c.shape(2));
    let heads = |c: &Context<'_>, name: &str| {
        let count = c.int(name, 0)?;
        (count > 0).then(|| Size::from(count))
    };
    let per_head = |c: &mut Context<'_>, shape: &[Size], count: &Option<Size>| match shape {
        [batch, heads, length, width] => {
            Some([batch.clone(), heads.clone(), length.clone(), width.clone()])
        }
        [batch, length, hidden] => {
            let count = count.clone()?;
            let width = c.symbols.exact_quotient(hidden, &count);
            Some([batch.clone(), count, length.clone(), width])
        }
        _ => None,
    };
    let query_heads = heads(c, "q_num_heads");
    let value_heads = heads(c, "kv_num_heads");
    let split_query = query.and_then(|shape| per_head(c, shape, &query_heads));
    let split_key = key.and_then(|shape| per_head(c, shape, &value_heads));
    let split_value = value.and_then(|shape| per_head(c, shape, &value_heads));

    let output = match (query, &split_query, &split_value) {
        (Some([_, _, _, _]), Some([batch, heads, length, _]), Some([.., width])) => Some(vec![
            batch.clone(),
            heads.clone(),
            length.clone(),
            width.clone(),
        ]),
        (Some([_, _, _]), Some([batch, heads, length, _]), Some([.., width])) => Some(vec![
            batch.clone(),
            length.clone(),
            c.symbols.product(heads, width),
        ]),
        (Some(shape), ..) => Some(c.symbols.fresh_shape(shape.len())),
        _ => None,
    };
    // Previously computed keys and values come first.
    let mut present = |split: &Option<[Size; 4]>, past: usize| {
        let [batch, heads, length, width] = split.clone()?;
        let length = if c.has(past) {
            match c.shape(past) {
                Some([_, _, before, _]) => c.symbols.sum(before, &length),
                _ => c.symbols.fresh_extent(),
            }
        } else {
            length
        };
        Some(vec![batch, heads, length, width])
    };
    let (keys, values) = (present(&split_key, 4), present(&split_value, 5));
    let total = keys.as_ref().map(|keys| keys[2].clone());
    let scores = match (split_query, total) {
        (Some([batch, heads, length, _]), Some(total)) => Some(vec![batch, heads, length, total]),
        _ => None,
    };
    Some(vec![
        Fact::tensor(elem, output),
        Fact::tensor(c.elem(4).or(c.elem(1)), keys),
        Fact::tensor(c.elem(5).or(c.elem(2)), values),
        Fact::tensor(elem, scores),
    ])
}

/// Attention without a cache, with graphs that change scores but not shapes.
pub(super) fn flex_attention(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let shape = match (c.shape(0), c.shape(2)) {
        (Some([batch, heads, length, _]), value) => {
            let width = match value {
                Some([_, _, _, width]) => Some(width.clone()),
                _ => None,
            };
            let width = c.symbols.or_fresh(width);
            vec![batch.clone(), heads.clone(), length.clone(), width]
        }
        _ => c.symbols.fresh_shape(4),
    };
    Some(vec![Fact::tensor(c.elem(0), Some(shape))])
}

/// The result and the state; heads and their elements share the last axis.
pub(super) fn linear_attention(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let count = |c: &Context<'_>, name: &str| {
        let count = c.int(name, 0)?;
        (count > 0).then(|| Size::from(count))
    };
    let (heads, groups) = (count(c, "q_num_heads"), count(c, "kv_num_heads"));
    let width = |c: &mut Context<'_>, index: usize| match (c.shape(index), &groups) {
        (Some([_, _, hidden]), Some(groups)) => Some(c.symbols.exact_quotient(hidden, groups)),
        _ => None,
    };
    let (key, value) = (width(c, 1), width(c, 2));
    let (batch, length) = match c.shape(0) {
        Some([batch, length, _]) => (Some(batch.clone()), Some(length.clone())),
        _ => (None, None),
    };
    let hidden = match (&heads, &value) {
        (Some(heads), Some(value)) => Some(c.symbols.product(heads, value)),
        _ => None,
    };
    let batch = c.symbols.or_fresh(batch);
    let result = vec![
        batch.clone(),
        c.symbols.or_fresh(length),
        c.symbols.or_fresh(hidden),
    ];
    let state = match c.shape(3) {
        Some(shape) => shape.to_vec(),
        None => vec![
            batch,
            c.symbols.or_fresh(groups),
            c.symbols.or_fresh(key),
            c.symbols.or_fresh(value),
        ],
    };
    let elem = if c.has(3) { c.elem(3) } else { c.elem(0) };
    Some(vec![
        Fact::tensor(c.elem(0), Some(result)),
        Fact::tensor(elem, Some(state)),
    ])
}

/// The result, and the last elements of the signal as the next state.
pub(super) fn causal_conv(c: &mut Context<'_>) -> Option<Vec<Fact>> {
    let shape = c.shape(0).map(<[Size]>::to_vec);
    let state = match (c.shape(3), c.shape(0), c.shape(1)) {
        (Some(past), ..) => Some(past.to_vec()),
        (None, Some([batch, channels, _]), Some([_, _, size])) => {
            let kept = c.symbols.difference(size, &Size::from(1));
            Some(vec![batch.clone(), channels.clone(), kept])
        }
        _ => None,
    };
    let elem = if c.has(3) { c.elem(3) } else { c.elem(0) };
    Some(vec![
        Fact::tensor(c.elem(0), shape),
        Fact::tensor(elem, state),
    ])
}
