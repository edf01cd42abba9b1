//! Products of matrices, and sums of products in general.

use isoform_kernels::elementwise::{Binary, binary, cast};
use isoform_kernels::products::MatMul;
use isoform_kernels::{ElementType, Tensor, View, from_f64s, from_i64s, to_f64s, to_i64s};

use super::dense::{Dense, Work, step};
use super::kernel::Kernel;
use crate::eval::args::Args;
use crate::eval::refusal::Refusal;
use crate::eval::results::{Outcome, one};

pub(super) fn find(name: &str) -> Option<Kernel> {
    Some(match name {
        "MatMul" => matmul,
        "MatMulInteger" => matmul_integer,
        "Gemm" => gemm,
        "Einsum" => einsum,
        "Det" => det,
        _ => return None,
    })
}

fn matmul(args: &Args<'_>) -> Outcome {
    one(MatMul::default().apply(args.input(0)?, args.input(1)?, args.control)?)
}

/// Integers less their zero point, a scalar or a vector along an axis.
pub(super) fn centered(
    args: &Args<'_>,
    x: View<'_>,
    zero: Option<View<'_>>,
    axis: usize,
) -> Result<Tensor, Refusal> {
    let wide = cast(x, ElementType::Int32, args.control)?;
    let Some(zero) = zero else {
        return Ok(wide);
    };
    let zero = cast(zero, ElementType::Int32, args.control)?;
    let (ty, mut shape, bytes) = zero.into_parts();
    if shape.len() == 1 && shape[0] != 1 {
        shape.extend(std::iter::repeat_n(1, x.rank().saturating_sub(axis + 1)));
    }
    let zero = Tensor::new(ty, shape, bytes)?;
    Ok(binary(
        Binary::Subtract,
        wide.view(),
        zero.view(),
        args.control,
    )?)
}

fn matmul_integer(args: &Args<'_>) -> Outcome {
    let (a, b) = (args.input(0)?, args.input(1)?);
    let a = centered(args, a, args.optional(2)?, a.rank().saturating_sub(2))?;
    let b = centered(args, b, args.optional(3)?, b.rank().saturating_sub(1))?;
    one(MatMul::default().apply(a.view(), b.view(), args.control)?)
}

fn gemm(args: &Args<'_>) -> Outcome {
    let (a, b) = (args.input(0)?, args.input(1)?);
    let ty = a.element_type();
    if a.rank() != 2 || b.rank() != 2 {
        return Err(args.fault("expected matrices"));
    }
    let (alpha, beta) = (args.float("alpha", 1.0)?, args.float("beta", 1.0)?);
    let product = MatMul {
        transpose_left: args.flag("transA", false)?,
        transpose_right: args.flag("transB", false)?,
        result_type: None,
    };
    // Products of integers without scaling are computed on integers, so the results are
    // exact.
    let plain = ty.is_integer() && alpha == 1.0 && beta == 1.0;
    let wide = if plain { ty } else { ElementType::Float64 };
    let (a, b) = (cast(a, wide, args.control)?, cast(b, wide, args.control)?);
    let mut result = product.apply(a.view(), b.view(), args.control)?;
    if alpha != 1.0 {
        let alpha = Tensor::scalar(alpha);
        result = binary(Binary::Multiply, result.view(), alpha.view(), args.control)?;
    }
    if let Some(c) = args.optional(2)? {
        let mut c = cast(c, wide, args.control)?;
        if beta != 1.0 {
            let beta = Tensor::scalar(beta);
            c = binary(Binary::Multiply, c.view(), beta.view(), args.control)?;
        }
        let shape = result.shape().to_vec();
        result = binary(Binary::Add, result.view(), c.view(), args.control)?;
        if result.shape() != shape {
            return Err(args.fault("expected a third matrix that broadcasts to the product"));
        }
    }
    one(cast(result.view(), ty, args.control)?)
}

/// A letter of a subscript, or an axis covered by an ellipsis, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Label {
    Letter(u8),
    Dots(usize),
}

/// The labels of a term; an ellipsis takes the axes that the letters leave.
fn labels(args: &Args<'_>, term: &str, rank: usize) -> Result<Vec<Label>, Refusal> {
    let fault = || args.fault(format!("expected a term for rank {rank}, got '{term}'"));
    let letters = |text: &str| -> Result<Vec<Label>, Refusal> {
        let is_letters = text.bytes().all(|byte| byte.is_ascii_alphabetic());
        is_letters
            .then(|| text.bytes().map(Label::Letter).collect())
            .ok_or_else(fault)
    };
    match term.split_once("...") {
        None => letters(term),
        Some((before, after)) => {
            let (mut all, after) = (letters(before)?, letters(after)?);
            let dots = rank
                .checked_sub(all.len() + after.len())
                .ok_or_else(fault)?;
            all.extend((0..dots).rev().map(Label::Dots));
            all.extend(after);
            Ok(all)
        }
    }
}

fn einsum(args: &Args<'_>) -> Outcome {
    let equation: String = args
        .text("equation", "")?
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    let operands = args.inputs()?;
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (&equation[..], None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != operands.len() {
        return Err(args.fault(format!("expected {} operands", terms.len())));
    }
    let mut label_sizes: Vec<(Label, usize)> = Vec::new();
    let mut subscripts = Vec::new();
    for (term, operand) in terms.iter().zip(&operands) {
        let labels = labels(args, term, operand.rank())?;
        if labels.len() != operand.rank() {
            return Err(args.fault(format!("expected a term of rank {}", operand.rank())));
        }
        for (label, size) in labels.iter().zip(operand.shape()) {
            match label_sizes.iter_mut().find(|(other, _)| other == label) {
                None => label_sizes.push((*label, *size)),
                Some((_, label_size)) if *label_size == 1 => *label_size = *size,
                Some((_, label_size)) if *size == 1 || *size == *label_size => {}
                Some((_, label_size)) => {
                    return Err(args.fault(format!("expected size {label_size}, got {size}")));
                }
            }
        }
        subscripts.push(labels);
    }
    let dots = label_sizes
        .iter()
        .filter(|(label, _)| matches!(label, Label::Dots(_)))
        .count();
    let output = match right {
        Some(term) => {
            let letters = term.replace("...", "").len();
            labels(
                args,
                term,
                letters + if term.contains("...") { dots } else { 0 },
            )?
        }
        None => {
            // All axes of the ellipsis, and the letters that occur once, in their order.
            let mut letters: Vec<u8> = label_sizes
                .iter()
                .filter_map(|(label, _)| match label {
                    Label::Letter(letter) => Some(*letter),
                    Label::Dots(_) => None,
                })
                .filter(|letter| {
                    subscripts
                        .iter()
                        .flatten()
                        .filter(|subscript| **subscript == Label::Letter(*letter))
                        .count()
                        == 1
                })
                .collect();
            letters.sort_unstable();
            let dots = (0..dots).rev().map(Label::Dots);
            dots.chain(letters.into_iter().map(Label::Letter)).collect()
        }
    };
    // The axes of the result first, then the summed axes.
    let mut order: Vec<(Label, usize)> = Vec::new();
    for label in &output {
        let entry = label_sizes.iter().find(|(other, _)| other == label);
        order.push(*entry.ok_or_else(|| args.fault("expected only labels of the operands"))?);
    }
    let rank = order.len();
    order.extend(
        label_sizes
            .iter()
            .filter(|(label, _)| !output.contains(label))
            .copied(),
    );
    let sizes: Vec<usize> = order.iter().map(|(_, size)| *size).collect();
    let strides: Vec<Vec<usize>> = subscripts
        .iter()
        .zip(&operands)
        .map(|(labels, operand)| {
            let mut strides = vec![0; order.len()];
            let mut stride = 1;
            for (label, size) in labels.iter().zip(operand.shape()).rev() {
                if *size != 1
                    && let Some(axis) = order.iter().position(|(other, _)| other == label)
                {
                    strides[axis] += stride;
                }
                stride *= size;
            }
            strides
        })
        .collect();
    let ty = operands[0].element_type();
    let (outer, inner) = sizes.split_at(rank);
    if ty.is_integer() {
        let data = operands
            .iter()
            .map(|x| to_i64s(*x, args.control))
            .collect::<Result<Vec<_>, _>>()?;
        let sums = contract(
            args,
            &data,
            &strides,
            outer,
            inner,
            (0, 1),
            |s, p| s.wrapping_add(p),
            |a, b| a.wrapping_mul(b),
        )?;
        return one(from_i64s(&sums, ty, outer, args.control)?);
    }
    let data = operands
        .iter()
        .map(|x| to_f64s(*x, args.control))
        .collect::<Result<Vec<_>, _>>()?;
    let sums = contract(
        args,
        &data,
        &strides,
        outer,
        inner,
        (0.0, 1.0),
        |s, p| s + p,
        |a, b| a * b,
    )?;
    one(from_f64s(&sums, ty, outer, args.control)?)
}

/// The sums of products over the inner axes, for each index of the outer axes.
#[expect(
    clippy::too_many_arguments,
    reason = "the arithmetic of two kinds of numbers"
)]
fn contract<T: Copy>(
    args: &Args<'_>,
    data: &[Vec<T>],
    strides: &[Vec<usize>],
    outer: &[usize],
    inner: &[usize],
    (zero, unit): (T, T),
    add: impl Fn(T, T) -> T,
    multiply: impl Fn(T, T) -> T,
) -> Result<Vec<T>, Refusal> {
    let result = Dense::filled(outer.to_vec(), 0.0, args.control)?;
    let mut sums = vec![zero; result.data.len()];
    if sums.is_empty() || inner.contains(&0) {
        return Ok(sums);
    }
    let mut work = Work::new(args.control);
    let mut outer_place = vec![0; outer.len()];
    for sum in &mut sums {
        let base: Vec<usize> = strides
            .iter()
            .map(|strides| {
                outer_place
                    .iter()
                    .zip(strides)
                    .map(|(outer_place, stride)| outer_place * stride)
                    .sum()
            })
            .collect();
        let mut index = vec![0; inner.len()];
        loop {
            let mut product = unit;
            for ((data, strides), base) in data.iter().zip(strides).zip(&base) {
                let offsets = index.iter().zip(&strides[outer.len()..]);
                let offset: usize = offsets
                    .map(|(outer_place, stride)| outer_place * stride)
                    .sum();
                product = multiply(product, data[base + offset]);
            }
            *sum = add(*sum, product);
            work.advance(data.len())?;
            if !step(&mut index, inner) {
                break;
            }
        }
        step(&mut outer_place, outer);
    }
    Ok(sums)
}

/// Determinants by elimination with pivots.
fn det(args: &Args<'_>) -> Outcome {
    let x = Dense::input(args, 0)?;
    let ty = args.input(0)?.element_type();
    let &[ref batch @ .., rows, columns] = &x.shape[..] else {
        return Err(args.fault("expected rank 2 or more"));
    };
    if rows != columns {
        return Err(args.fault(format!(
            "expected square matrices, got {rows} times {columns}"
        )));
    }
    let count = Dense::filled(batch.to_vec(), 0.0, args.control)?.data.len();
    let mut work = Work::new(args.control);
    let mut dets = Vec::with_capacity(count);
    for number in 0..count {
        let mut matrix = x.data[number * rows * rows..][..rows * rows].to_vec();
        let mut det = 1.0;
        for diagonal in 0..rows {
            let pivot = (diagonal..rows)
                .max_by(|a, b| {
                    matrix[a * rows + diagonal]
                        .abs()
                        .total_cmp(&matrix[b * rows + diagonal].abs())
                })
                .unwrap_or(diagonal);
            if pivot != diagonal {
                det = -det;
                for column in 0..rows {
                    matrix.swap(pivot * rows + column, diagonal * rows + column);
                }
            }
            let value = matrix[diagonal * rows + diagonal];
            det *= value;
            if value == 0.0 {
                break;
            }
            for row in diagonal + 1..rows {
                let factor = matrix[row * rows + diagonal] / value;
                for column in diagonal..rows {
                    matrix[row * rows + column] -= factor * matrix[diagonal * rows + column];
                }
                work.advance(rows)?;
            }
        }
        dets.push(det);
    }
    one(from_f64s(&dets, ty, batch, args.control)?)
}
