//! Operators that order elements, find extremes, or accumulate along an axis.

use isoform_kernels::indexing::{IndexMode, Take, top_k};
use isoform_kernels::reduce::{Axes, Extreme};
use isoform_kernels::{
    ElementType, Tensor, View, from_f64s, from_i64s, movement, shape, to_f64s, to_i64s,
};

use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "TopK" => top,
        "ArgMax" => |args| extreme(args, true),
        "ArgMin" => |args| extreme(args, false),
        "CumSum" => |args| accumulate(args, i64::wrapping_add, |a, b| a + b, 0),
        "CumProd" => |args| accumulate(args, i64::wrapping_mul, |a, b| a * b, 1),
        "Unique" => unique,
        _ => return None,
    })
}

fn top(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let k = if args.version() < 10 {
        args.int("k", -1)?
    } else {
        args.optional_int_input(1)?.unwrap_or(-1)
    };
    let k =
        usize::try_from(k).map_err(|_| args.fault(format!("expected k of 0 or more, got {k}")))?;
    let largest = args.flag("largest", true)?;
    let axis = args.int("axis", -1)?;
    let (values, indices) = top_k(x, k, axis, largest, args.control)?;
    Ok(vec![values.into(), indices.into()])
}

fn extreme(args: &Args<'_>, largest: bool) -> Outcome {
    let extreme = Extreme {
        largest,
        last: args.flag("select_last_index", false)?,
        index_type: ElementType::Int64,
    };
    let axis = [args.int("axis", 0)?];
    let axes = Axes {
        axes: Some(&axis),
        keep_dims: args.flag("keepdims", true)?,
        exclude: false,
    };
    one(axes.position(extreme, args.input(0)?, args.control)?)
}

/// Running sums or products along an axis.
fn accumulate(
    args: &Args<'_>,
    integers: fn(i64, i64) -> i64,
    floats: fn(f64, f64) -> f64,
    neutral: i64,
) -> Outcome {
    let x = args.input(0)?;
    let axis = args
        .optional_int_input(1)?
        .ok_or_else(|| args.fault("expected an axis"))?;
    let axis_index = shape::axis(axis, x.rank())?;
    let order = Order {
        size: x.shape()[axis_index],
        inner: x.shape()[axis_index + 1..].iter().product(),
        exclusive: args.flag("exclusive", false)?,
        reverse: args.flag("reverse", false)?,
    };
    let ty = x.element_type();
    if ty.is_integer() {
        let mut values = if ty == ElementType::UInt64 {
            let bits = View::new(ElementType::Int64, x.shape(), x.bytes())?;
            to_i64s(bits, args.control)?
        } else {
            to_i64s(x, args.control)?
        };
        order.run(&mut values, neutral, integers);
        return one(from_i64s(&values, ty, x.shape(), args.control)?);
    }
    let mut values = to_f64s(x, args.control)?;
    order.run(&mut values, neutral as f64, floats);
    one(from_f64s(&values, ty, x.shape(), args.control)?)
}

struct Order {
    size: usize,
    inner: usize,
    exclusive: bool,
    reverse: bool,
}

impl Order {
    fn run<T: Copy>(&self, values: &mut [T], neutral: T, join: fn(T, T) -> T) {
        let block = self.size * self.inner;
        if block == 0 {
            return;
        }
        let mut sums = vec![neutral; self.inner];
        for block in values.chunks_exact_mut(block) {
            sums.fill(neutral);
            for step in 0..self.size {
                let position = if self.reverse {
                    self.size - 1 - step
                } else {
                    step
                };
                let row = &mut block[position * self.inner..][..self.inner];
                for (sum, value) in sums.iter_mut().zip(row) {
                    let before = *sum;
                    *sum = join(before, *value);
                    *value = if self.exclusive { before } else { *sum };
                }
            }
        }
    }
}

/// Maps elements to unsigned numbers of the same order. Both zeros map to the same number.
fn keys(args: &Args<'_>, x: View<'_>) -> Result<Vec<u64>, Refusal> {
    let ty = x.element_type();
    const SIGN: u64 = 1 << 63;
    if ty == ElementType::UInt64 {
        let words = x.bytes().as_chunks::<8>().0;
        return Ok(words.iter().map(|word| u64::from_le_bytes(*word)).collect());
    }
    if ty.is_integer() {
        let values = to_i64s(x, args.control)?;
        return Ok(values
            .into_iter()
            .map(|value| value as u64 ^ SIGN)
            .collect());
    }
    let values = to_f64s(x, args.control)?;
    if values.iter().any(|value| value.is_nan()) {
        return Err(args.fault("NaN has no place in the order"));
    }
    let key = |value: f64| {
        let bits = (value + 0.0).to_bits();
        if bits & SIGN == 0 { bits | SIGN } else { !bits }
    };
    Ok(values.into_iter().map(key).collect())
}

fn unique(args: &Args<'_>) -> Outcome {
    let x = args.input(0)?;
    let axis = args.call.int("axis")?;
    let sorted = args.flag("sorted", true)?;
    let whole = [x.len()];
    let (view, view_axis) = match axis {
        Some(axis) => (x, shape::axis(axis, x.rank())?),
        None => (View::new(x.element_type(), &whole, x.bytes())?, 0),
    };
    let count = view.shape()[view_axis];
    // Slices without elements may still be too many to count.
    isoform_kernels::create::full(&[count], Tensor::scalar(0.0_f64).view(), args.control)?;
    // The slices along the axis as rows.
    let mut order: Vec<i64> = (0..view.rank() as i64).collect();
    order.remove(view_axis);
    order.insert(0, view_axis as i64);
    let turned = movement::transpose(view, Some(&order), args.control)?;
    let keys = keys(args, turned.view())?;
    let width = keys.len().checked_div(count).unwrap_or(0);
    let row = |number: usize| &keys[number * width..][..width];
    let mut rows: Vec<usize> = (0..count).collect();
    rows.sort_by(|left, right| row(*left).cmp(row(*right)));
    // For each group of equal rows, the first row and all rows.
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for number in rows {
        match groups.last_mut() {
            Some((first, group)) if row(*first) == row(number) => group.push(number),
            _ => groups.push((number, vec![number])),
        }
    }
    if !sorted {
        groups.sort_by_key(|(first, _)| *first);
    }
    let firsts: Vec<i64> = groups.iter().map(|(first, _)| *first as i64).collect();
    let counts: Vec<i64> = groups.iter().map(|(_, group)| group.len() as i64).collect();
    let mut inverse = vec![0_i64; count];
    for (number, (_, group)) in groups.iter().enumerate() {
        for member in group {
            inverse[*member] = number as i64;
        }
    }
    let vector = |values: &[i64]| Tensor::from_slice(&[values.len()], values);
    let firsts = vector(&firsts)?;
    let values = if count == 0 {
        view.to_tensor(args.control)?
    } else {
        let take = Take {
            axis: Some(view_axis as i64),
            batch_dims: 0,
            mode: IndexMode::Reject,
        };
        take.apply(view, firsts.view(), args.control)?
    };
    Ok(vec![
        values.into(),
        firsts.into(),
        vector(&inverse)?.into(),
        vector(&counts)?.into(),
    ])
}
