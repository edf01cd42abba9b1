//! Layers that carry a state from one call to the next: linear attention, causal
//! convolutions, and caches of keys and values. Computed in `f64` and rounded once.

use isoform_kernels::{ElementType, Tensor, math, shape};

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "LinearAttention" => linear_attention,
        "CausalConvWithState" => causal_conv,
        "TensorScatter" => tensor_scatter,
        _ => return None,
    })
}

/// The type of an optional state, or the type of the first input.
fn state_type(args: &Args<'_>, position: usize) -> Result<ElementType, Refusal> {
    let state = args.optional(position)?;
    Ok(state.unwrap_or(args.input(0)?).element_type())
}

/// An input of rank 3, with heads and their elements in the last axis.
struct Tokens {
    data: Vec<f64>,
    heads: usize,
    width: usize,
}

impl Tokens {
    fn new(
        args: &Args<'_>,
        position: usize,
        [batch, length]: [usize; 2],
        heads: usize,
    ) -> Result<Self, Refusal> {
        let x = Dense::input(args, position)?;
        match x.shape[..] {
            [b, l, last] if b == batch && l == length && last % heads == 0 => Ok(Tokens {
                data: x.data,
                heads,
                width: last / heads,
            }),
            _ => Err(args.fault(format!(
                "expected {batch} times {length} tokens of {heads} heads in input {position}, got {:?}",
                x.shape
            ))),
        }
    }

    /// The elements of a head, given the number of the token in all batches.
    fn at(&self, token: usize, head: usize) -> &[f64] {
        &self.data[(token * self.heads + head) * self.width..][..self.width]
    }
}

fn linear_attention(args: &Args<'_>) -> Outcome {
    let (decays, corrects) = match &*args.text("update_rule", "gated_delta")? {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => {
            return Err(args.fault(format!(
                "expected linear, gated, delta or gated_delta as update_rule, got '{other}'"
            )));
        }
    };
    for (name, position, needed) in [("decay", 4, decays), ("beta", 5, corrects)] {
        if args.optional(position)?.is_some() != needed {
            let what = if needed { "the" } else { "no" };
            return Err(args.fault(format!(
                "expected {what} input '{name}' for this update_rule"
            )));
        }
    }
    let (heads, groups) = (args.size("q_num_heads", 0)?, args.size("kv_num_heads", 0)?);
    if groups == 0 || heads == 0 || heads % groups != 0 {
        return Err(args.fault(format!(
            "expected q_num_heads to be a multiple of kv_num_heads, got {heads} and {groups}"
        )));
    }
    let &[batch, length, _] = args.input(0)?.shape() else {
        return Err(args.fault(format!(
            "expected queries of rank 3, got {:?}",
            args.input(0)?.shape()
        )));
    };
    let tokens = [batch, length];
    let query = Tokens::new(args, 0, tokens, heads)?;
    let key = Tokens::new(args, 1, tokens, groups)?;
    let value = Tokens::new(args, 2, tokens, groups)?;
    let (width, depth) = (key.width, value.width);
    let decay = if decays {
        Some(Tokens::new(args, 4, tokens, groups)?)
    } else {
        None
    };
    let beta = match (
        corrects,
        args.optional(5)?.map(|beta| beta.shape().last().copied()),
    ) {
        (true, Some(Some(1))) => Some(Tokens::new(args, 5, tokens, 1)?),
        (true, _) => Some(Tokens::new(args, 5, tokens, groups)?),
        (false, _) => None,
    };
    let is_scalar = decay.as_ref().is_none_or(|decay| decay.width == 1);
    let fits = query.width == width
        && (is_scalar || decay.as_ref().is_some_and(|decay| decay.width == width))
        && beta.as_ref().is_none_or(|beta| beta.width == 1);
    if !fits {
        return Err(args.fault(format!(
            "expected queries, keys and decays of one width and one beta for each head, got queries of {} and keys of {width}",
            query.width
        )));
    }
    let sizes = vec![batch, groups, width, depth];
    let mut state = match Dense::optional(args, 3)? {
        Some(past) if past.shape != sizes => {
            return Err(args.fault(format!(
                "expected a state of {sizes:?}, got {:?}",
                past.shape
            )));
        }
        Some(past) => past,
        None => Dense::filled(sizes, 0.0, args.control)?,
    };
    let scale = match args.float("scale", 0.0)? {
        0.0 => 1.0 / (width as f64).sqrt(),
        scale => scale,
    };
    let mut result = Dense::filled(vec![batch, length, heads * depth], 0.0, args.control)?;
    let mut work = Work::new(args.control);
    let mut update = vec![0.0; depth];
    for number in 0..batch * groups {
        let (image, group) = (number / groups, number % groups);
        let state = &mut state.data[number * width * depth..][..width * depth];
        for step in 0..length {
            let token = image * length + step;
            let (key, value) = (key.at(token, group), value.at(token, group));
            if let Some(decay) = &decay {
                let decay = decay.at(token, group);
                for (index, row) in state.chunks_exact_mut(depth.max(1)).enumerate() {
                    let factor = math::exp(decay[if is_scalar { 0 } else { index }]);
                    row.iter_mut().for_each(|value| *value *= factor);
                }
            }
            update.copy_from_slice(value);
            if let Some(beta) = &beta {
                let beta = beta.at(token, if beta.heads == 1 { 0 } else { group })[0];
                for (row, key) in state.chunks_exact(depth.max(1)).zip(key) {
                    for (update, value) in update.iter_mut().zip(row) {
                        *update -= value * key;
                    }
                }
                update.iter_mut().for_each(|update| *update *= beta);
            }
            for (row, key) in state.chunks_exact_mut(depth.max(1)).zip(key) {
                for (value, update) in row.iter_mut().zip(&update) {
                    *value += key * update;
                }
            }
            let per_group = heads / groups;
            for head in group * per_group..(group + 1) * per_group {
                let to = &mut result.data[(token * heads + head) * depth..][..depth];
                for (row, query) in state.chunks_exact(depth.max(1)).zip(query.at(token, head)) {
                    for (to, value) in to.iter_mut().zip(row) {
                        *to += query * value;
                    }
                }
                to.iter_mut().for_each(|value| *value *= scale);
            }
            work.advance(width * depth * (per_group + 3) + 1)?;
        }
    }
    Ok(vec![
        result.made(args.input(0)?.element_type(), args.control)?,
        state.made(state_type(args, 3)?, args.control)?,
    ])
}

fn causal_conv(args: &Args<'_>) -> Outcome {
    let (x, weight) = (Dense::input(args, 0)?, Dense::input(args, 1)?);
    let ty = args.input(0)?.element_type();
    let (&[batch, channels, length], &[outputs, 1, size]) = (&x.shape[..], &weight.shape[..])
    else {
        return Err(args.fault(format!(
            "expected data of rank 3 and a weight of (channels, 1, size), got {:?} and {:?}",
            x.shape, weight.shape
        )));
    };
    if outputs != channels || size == 0 {
        return Err(args.fault(format!(
            "expected a kernel for each of {channels} channels, got {:?}",
            weight.shape
        )));
    }
    let bias = Dense::optional(args, 2)?;
    if let Some(bias) = &bias
        && bias.shape != [channels]
    {
        return Err(args.fault(format!("expected {channels} biases, got {:?}", bias.shape)));
    }
    let activates = match &*args.text("activation", "none")? {
        "none" => false,
        "silu" | "swish" => true,
        other => {
            return Err(args.fault(format!(
                "expected none, silu or swish as activation, got '{other}'"
            )));
        }
    };
    let kept = size - 1;
    let past = match Dense::optional(args, 3)? {
        Some(past) if past.shape != [batch, channels, kept] => {
            return Err(args.fault(format!(
                "expected a state of {:?}, got {:?}",
                [batch, channels, kept],
                past.shape
            )));
        }
        Some(past) => past,
        None => Dense::filled(vec![batch, channels, kept], 0.0, args.control)?,
    };
    let mut result = Dense::filled(x.shape.clone(), 0.0, args.control)?;
    let mut present = past.clone();
    let mut padded = Dense::filled(vec![kept + length], 0.0, args.control)?.data;
    let mut work = Work::new(args.control);
    for row in 0..batch * channels {
        let channel = row % channels;
        padded[..kept].copy_from_slice(&past.data[row * kept..][..kept]);
        padded[kept..].copy_from_slice(&x.data[row * length..][..length]);
        let weight = &weight.data[channel * size..][..size];
        let to = &mut result.data[row * length..][..length];
        for (to, window) in to.iter_mut().zip(padded.windows(size)) {
            let sum: f64 = window.iter().zip(weight).map(|(x, w)| x * w).sum();
            let sum = sum + bias.as_ref().map_or(0.0, |bias| bias.data[channel]);
            *to = if activates {
                sum * math::sigmoid(sum)
            } else {
                sum
            };
            work.advance(size)?;
        }
        present.data[row * kept..][..kept].copy_from_slice(&padded[length..]);
        work.advance(size)?;
    }
    Ok(vec![
        result.made(ty, args.control)?,
        present.made(state_type(args, 3)?, args.control)?,
    ])
}

/// The cache with updated elements, from a start index that may differ for each part of
/// the batch.
fn tensor_scatter(args: &Args<'_>) -> Outcome {
    let (cache, update) = (args.input(0)?, args.input(1)?);
    let sequence_axis = shape::axis(args.int("axis", -2)?, cache.rank())?;
    let fits = update.rank() == cache.rank()
        && update.element_type() == cache.element_type()
        && update.shape()[sequence_axis] <= cache.shape()[sequence_axis]
        && (0..cache.rank())
            .all(|axis| axis == sequence_axis || update.shape()[axis] == cache.shape()[axis]);
    if sequence_axis == 0 || !fits {
        return Err(args.fault(format!(
            "expected an update that fits into the cache along an axis other than the first, got {:?} for {:?} along axis {sequence_axis}",
            update.shape(),
            cache.shape()
        )));
    }
    let wraps = match &*args.text("mode", "linear")? {
        "linear" => false,
        "circular" => true,
        other => {
            return Err(args.fault(format!("expected linear or circular, got '{other}'")));
        }
    };
    let batch = cache.shape()[0];
    let starts = args.optional_ints(2)?.unwrap_or_else(|| vec![0; batch]);
    if starts.len() != batch {
        return Err(args.fault(format!(
            "expected {batch} write indices, got {}",
            starts.len()
        )));
    }
    let product = |sizes: &[usize]| sizes.iter().product::<usize>();
    let (length, count) = (cache.shape()[sequence_axis], update.shape()[sequence_axis]);
    let row = product(&cache.shape()[sequence_axis + 1..]) * cache.element_type().size();
    let per_image = product(&cache.shape()[1..sequence_axis]);
    let (ty, sizes, mut bytes) = cache.to_tensor(args.control)?.into_parts();
    let mut work = Work::new(args.control);
    for outer in 0..batch * per_image {
        let start = starts[outer / per_image];
        for step in 0..count {
            let place = start.saturating_add(step as i64);
            let place = if wraps {
                place.rem_euclid(length as i64)
            } else {
                place
            };
            let place = usize::try_from(place)
                .ok()
                .filter(|place| *place < length)
                .ok_or_else(|| {
                    args.fault(format!(
                        "expected {count} elements from index {start} on to be within {length}"
                    ))
                })?;
            let from = &update.bytes()[(outer * count + step) * row..][..row];
            bytes[(outer * length + place) * row..][..row].copy_from_slice(from);
            work.advance(row)?;
        }
    }
    one(Tensor::new(ty, sizes, bytes)?)
}
