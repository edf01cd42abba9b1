//! Attention, and the rotation of queries and keys by their positions.

use isoform_kernels::attention::{Attention, Scores};
use isoform_kernels::{ElementType, Tensor, View, movement};

use super::dense::{Dense, Work};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{OpResult, Outcome};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "Attention" => attention,
        "RotaryEmbedding" => rotary,
        _ => return None,
    })
}

/// An operand with an axis of heads; in rank 3, heads and their elements share the last
/// axis.
fn by_heads(args: &Args<'_>, position: usize, name: &str) -> Result<Tensor, Refusal> {
    let x = args.input(position)?;
    let (shape, axes) = match *x.shape() {
        [batch, heads, length, width] => ([batch, heads, length, width], [0, 1, 2, 3]),
        [batch, length, hidden] => {
            let heads = args.size(name, 0)?;
            if heads == 0 || hidden % heads != 0 {
                return Err(args.fault(format!(
                    "expected '{name}' to divide the last axis of input {position}, got {heads} for {hidden}"
                )));
            }
            ([batch, length, heads, hidden / heads], [0, 2, 1, 3])
        }
        _ => {
            return Err(args.fault(format!(
                "expected rank 3 or 4 in input {position}, got {:?}",
                x.shape()
            )));
        }
    };
    let split = View::new(x.element_type(), &shape, x.bytes())?;
    Ok(movement::transpose(split, Some(&axes), args.control)?)
}

/// Keys or values, appended to the previously computed ones.
fn with_past(args: &Args<'_>, new: Tensor, past: usize) -> Result<Tensor, Refusal> {
    match args.optional(past)? {
        None => Ok(new),
        Some(before) => Ok(movement::concatenate(
            &[before, new.view()],
            2,
            args.control,
        )?),
    }
}

fn attention(args: &Args<'_>) -> Outcome {
    let query = by_heads(args, 0, "q_num_heads")?;
    let key = by_heads(args, 1, "kv_num_heads")?;
    let value = by_heads(args, 2, "kv_num_heads")?;
    let joins = args.input(0)?.rank() == 3;
    let past = args.optional(4)?.map(|past| past.shape().to_vec());
    if past.is_some() != args.optional(5)?.is_some() {
        return Err(args.fault("expected past keys and past values together"));
    }
    let lengths = args.optional_ints(6)?;
    if past.is_some() && lengths.is_some() {
        return Err(args.fault("expected either past keys and values, or nonpad_kv_seqlen"));
    }
    let key = with_past(args, key, 4)?;
    let value = with_past(args, value, 5)?;
    let &[batch, heads, queries, width] = query.shape() else {
        return Err(args.fault("expected queries of rank 4"));
    };
    let limits = Limits {
        scores: [batch, heads, queries, key.shape()[2]],
        past: past.map_or(0, |past| past[2]),
        lengths,
        is_causal: args.flag("is_causal", false)?,
        window: [
            args.int("left_window_size", -1)?,
            args.int("right_window_size", -1)?,
        ],
    };
    let bias = limits.bias(args)?;
    let bias = match &bias {
        None => None,
        Some(bias) => Some(isoform_kernels::from_f64s(
            &bias.data,
            ElementType::Float64,
            &bias.shape,
            args.control,
        )?),
    };
    let scale = args
        .call
        .float("scale")?
        .unwrap_or_else(|| 1.0 / (width as f64).sqrt());
    if scale < 0.0 {
        return Err(args.fault(format!(
            "expected a scale of 0 or more, which has a root, got {scale}"
        )));
    }
    let softcap = args.float("softcap", 0.0)?;
    let scores = match args.int("qk_matmul_output_mode", 0)? {
        0 => Scores::Products,
        1 => Scores::Capped,
        2 => Scores::Biased,
        3 => Scores::Weights,
        other => {
            return Err(args.fault(format!(
                "expected a qk_matmul_output_mode of 0 to 3, got {other}"
            )));
        }
    };
    let wants_scores = args.call.outputs > 3;
    let kernel = Attention {
        scale,
        softcap: (softcap > 0.0).then_some(softcap),
        bias: bias.as_ref().map(Tensor::view),
        softmax_type: args.element("softmax_precision")?,
        scores: wants_scores.then_some(scores),
    };
    let (mut result, scores) =
        kernel.apply(query.view(), key.view(), value.view(), args.control)?;
    if joins {
        result = movement::transpose(result.view(), Some(&[0, 2, 1, 3]), args.control)?;
        let (ty, shape, bytes) = result.into_parts();
        let joined = vec![shape[0], shape[1], shape[2] * shape[3]];
        result = Tensor::new(ty, joined, bytes)?;
    }
    let outputs = [Some(result), Some(key), Some(value), scores];
    Ok(outputs.into_iter().flatten().map(OpResult::from).collect())
}

/// The keys that a query attends to.
struct Limits {
    /// Batch, heads, queries and keys.
    scores: [usize; 4],
    /// The number of previously computed keys.
    past: usize,
    /// The number of keys without padding, for each element of the batch.
    lengths: Option<Vec<i64>>,
    is_causal: bool,
    /// The distances to the first and last key on each side; without a limit if negative.
    window: [i64; 2],
}

impl Limits {
    /// The mask of the call and the limits as one bias; None without mask and limits.
    fn bias(&self, args: &Args<'_>) -> Result<Option<Dense>, Refusal> {
        let [batch, heads, queries, keys] = self.scores;
        if let Some(side) = self.window.iter().find(|side| **side < -1) {
            return Err(args.fault(format!("expected a window of -1 or more, got {side}")));
        }
        if let Some(lengths) = &self.lengths
            && lengths.len() != batch
        {
            return Err(args.fault(format!(
                "expected {batch} numbers in nonpad_kv_seqlen, got {}",
                lengths.len()
            )));
        }
        let mask = Mask::new(args, keys)?;
        let is_limited = self.is_causal || self.window != [-1, -1] || self.lengths.is_some();
        if mask.is_none() && !is_limited {
            return Ok(None);
        }
        let mut sizes = [1, 1, queries, keys];
        if let Some(mask) = &mask {
            for (axis, size) in mask.sizes.iter().enumerate().take(3) {
                if *size != 1 && *size != self.scores[axis] {
                    return Err(args.fault(format!(
                        "expected a mask that broadcasts to {:?}, got {:?}",
                        self.scores, mask.sizes
                    )));
                }
            }
            sizes[0] = mask.sizes[0];
            sizes[1] = mask.sizes[1];
        }
        if self.lengths.is_some() {
            sizes[0] = batch;
        }
        debug_assert!(sizes[1] == 1 || sizes[1] == heads);
        let mut bias = Dense::filled(sizes.to_vec(), 0.0, args.control)?;
        let mut work = Work::new(args.control);
        for (row, values) in bias.data.chunks_exact_mut(keys.max(1)).enumerate() {
            let (head, query) = (row / queries, row % queries);
            let (image, head) = (head / sizes[1], head % sizes[1]);
            let length = self.lengths.as_ref().map(|lengths| lengths[image]);
            let offset = match length {
                Some(length) => length.saturating_sub(queries as i64),
                None => self.past as i64,
            };
            let position = offset.saturating_add(query as i64);
            for (key, value) in values.iter_mut().enumerate() {
                if let Some(mask) = &mask {
                    *value = mask.at([image, head, query, key]);
                }
                // How far the key is after the query.
                let after = (key as i64).saturating_sub(position);
                let [left, right] = self.window;
                let is_hidden = self.is_causal && after > 0
                    || left >= 0 && after.saturating_neg() > left
                    || right >= 0 && after > right
                    || length.is_some_and(|length| key as i64 >= length);
                if is_hidden {
                    // Not assigned: a mask of +infinity or NaN gives NaN.
                    *value += f64::NEG_INFINITY;
                }
            }
            work.advance(keys)?;
        }
        Ok(Some(bias))
    }
}

/// The mask of an attention: truth values, or numbers to be added.
struct Mask {
    sizes: [usize; 4],
    data: Vec<f64>,
}

impl Mask {
    fn new(args: &Args<'_>, keys: usize) -> Result<Option<Self>, Refusal> {
        let Some(view) = args.optional(3)? else {
            return Ok(None);
        };
        let mut sizes = [1; 4];
        if view.rank() == 0 || view.rank() > 4 || view.shape()[view.rank() - 1] > keys {
            return Err(args.fault(format!(
                "expected a mask of rank 1 to 4 for {keys} keys, got {:?}",
                view.shape()
            )));
        }
        sizes[4 - view.rank()..].copy_from_slice(view.shape());
        let mut data = Dense::of(view, args.control)?.data;
        if view.element_type() == ElementType::Bool {
            for value in &mut data {
                *value = if *value == 0.0 {
                    f64::NEG_INFINITY
                } else {
                    0.0
                };
            }
        }
        Ok(Some(Mask { sizes, data }))
    }

    /// The number for a score; -infinity beyond the keys of the mask.
    fn at(&self, index: [usize; 4]) -> f64 {
        if index[3] >= self.sizes[3] {
            return f64::NEG_INFINITY;
        }
        let place = index.iter().zip(&self.sizes).fold(0, |place, (at, size)| {
            place * size + if *size == 1 { 0 } else { *at }
        });
        self.data[place]
    }
}

fn rotary(args: &Args<'_>) -> Outcome {
    let mut x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let (cos, sin) = (Dense::input(args, 1)?, Dense::input(args, 2)?);
    // The strides of batch, position and head.
    let (sizes, width, strides) = match x.shape[..] {
        [batch, heads, length, width] => (
            [batch, length, heads],
            width,
            [heads * length * width, width, length * width],
        ),
        [batch, length, hidden] => {
            let heads = args.size("num_heads", 0)?;
            if heads == 0 || hidden % heads != 0 {
                return Err(args.fault(format!(
                    "expected num_heads to divide the last axis, got {heads} for {hidden}"
                )));
            }
            let width = hidden / heads;
            (
                [batch, length, heads],
                width,
                [length * hidden, hidden, width],
            )
        }
        _ => return Err(args.fault(format!("expected rank 3 or 4, got {:?}", x.shape))),
    };
    let [batch, length, heads] = sizes;
    let rotated = match args.size("rotary_embedding_dim", 0)? {
        0 => width,
        size => size,
    };
    if rotated > width || rotated % 2 != 0 {
        return Err(args.fault(format!(
            "expected an even number of at most {width} elements to rotate, got {rotated}"
        )));
    }
    let half = rotated / 2;
    let positions = args.optional_ints(3)?;
    let is_cache = match &positions {
        Some(positions) => {
            args.input(3)?.shape() == [batch, length]
                && positions.len() == batch * length
                && matches!(cos.shape[..], [_, last] if last == half)
        }
        None => cos.shape == [batch, length, half],
    };
    if !is_cache || sin.shape != cos.shape {
        return Err(args.fault(format!(
            "expected sines and cosines of {half} angles for each position, got {:?} and {:?}",
            cos.shape, sin.shape
        )));
    }
    let is_interleaved = args.flag("interleaved", false)?;
    let mut work = Work::new(args.control);
    for token in 0..batch * length {
        let place = match &positions {
            None => token,
            Some(positions) => usize::try_from(positions[token])
                .ok()
                .filter(|place| *place < cos.shape[0])
                .ok_or_else(|| {
                    args.fault(format!(
                        "expected positions below {}, got {}",
                        cos.shape[0], positions[token]
                    ))
                })?,
        };
        let angles = place * half..(place + 1) * half;
        let (cos, sin) = (&cos.data[angles.clone()], &sin.data[angles]);
        for head in 0..heads {
            let start = token / length * strides[0] + token % length * strides[1];
            let values = &mut x.data[start + head * strides[2]..][..width];
            for (index, (cos, sin)) in cos.iter().zip(sin).enumerate() {
                let (first, second) = if is_interleaved {
                    (2 * index, 2 * index + 1)
                } else {
                    (index, half + index)
                };
                let (re, im) = (values[first], values[second]);
                values[first] = cos * re - sin * im;
                values[second] = sin * re + cos * im;
            }
            work.advance(width)?;
        }
    }
    Ok(vec![x.made(ty, args.control)?])
}
