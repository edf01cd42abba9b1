//! The codes of `reshape`.

use super::dims::{self, Dim};
use crate::attrs::{ReshapeAttrs, ReshapeLikeAttrs, size};
use crate::op::relation::CallTypes;
use crate::text::shape_text;
use isoform::{Error, Ref, Result};
use isoform_ir::ir::Type;

/// An element of a new shape, or a code with its arguments.
enum Code {
    Size(Dim),
    /// 0: the size of the input's axis.
    Copy,
    /// -1: the size that balances the numbers of elements.
    Infer,
    /// -2: all sizes that remain.
    Rest,
    /// -3: the product of two sizes.
    Merge,
    /// -4: one size as the product of these two sizes; one of the sizes may be
    /// inferred.
    Split(Dim, Dim),
}

/// The result of `reshape`.
pub(in super::super) fn reshape(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    from_codes(types, false)
}

/// The result of `reverse_reshape`, whose codes apply from the last axis to the first.
pub(in super::super) fn reverse_reshape(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    from_codes(types, true)
}

fn from_codes(types: &CallTypes<'_>, reverse: bool) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ReshapeAttrs>()?;
    let Some(data) = types.tensor(0)? else {
        return Ok(None);
    };
    let newshape: Vec<Dim> = attrs.newshape.iter().cloned().collect();
    let mut codes = parsed(&newshape, attrs.allowzero)?;
    let mut shape = dims::shape_of(data);
    if reverse {
        codes.reverse();
        for code in &mut codes {
            if let Code::Split(left, right) = code {
                std::mem::swap(left, right);
            }
        }
        shape.reverse();
    }
    let mut sizes = applied(&shape, &codes, &newshape)?;
    if reverse {
        sizes.reverse();
        shape.reverse();
    }
    check_counts(&shape, &sizes)?;
    Ok(Some(dims::tensor(sizes, data.dtype)))
}

fn parsed(newshape: &[Dim], allowzero: bool) -> Result<Vec<Code>> {
    let mut codes = Vec::with_capacity(newshape.len());
    let mut rest = newshape.iter();
    let fail = |what: &str| {
        Err(Error::value_error(format!(
            "newshape={}: {what}",
            shape_text(newshape)
        )))
    };
    while let Some(dim) = rest.next() {
        codes.push(match dims::known(dim) {
            Some(0) if !allowzero => Code::Copy,
            Some(-1) if codes.iter().any(|code| matches!(code, Code::Infer)) => {
                return fail("only one size can be inferred, but -1 occurs twice");
            }
            Some(-1) => Code::Infer,
            Some(-2) => Code::Rest,
            Some(-3) => Code::Merge,
            Some(-4) => {
                let (Some(left), Some(right)) = (rest.next(), rest.next()) else {
                    return fail("the code -4 needs two sizes after it");
                };
                let parts = [left, right].map(dims::known);
                if parts == [Some(-1), Some(-1)] {
                    return fail("at most one of the two sizes after -4 can be -1");
                }
                if parts
                    .iter()
                    .any(|part| part.is_some_and(|part| part < -1 || part == 0))
                {
                    return fail("the sizes after -4 must be positive, or one of them -1");
                }
                Code::Split(left.clone(), right.clone())
            }
            Some(code) if code < 0 => {
                return fail(&format!("{code} is not a code: expected one from -4 to -1"));
            }
            _ => Code::Size(dim.clone()),
        });
    }
    Ok(codes)
}

/// The new shape, in the order of the codes.
fn applied(shape: &[Dim], codes: &[Code], newshape: &[Dim]) -> Result<Vec<Dim>> {
    let mut sizes = Vec::with_capacity(codes.len());
    let mut position = 0;
    // Sizes on both sides cancel out when one size is inferred.
    let mut matched_inputs = vec![false; shape.len()];
    let mut is_matched = Vec::with_capacity(codes.len());
    let mut inferred = None;
    let missing = |code: &str| {
        Error::value_error(format!(
            "newshape={}: the code {code} finds no more axes in the input of shape {}",
            shape_text(newshape),
            shape_text(shape)
        ))
    };
    for code in codes {
        match code {
            Code::Size(dim) => {
                sizes.push(dim.clone());
                position += 1;
            }
            Code::Copy => {
                sizes.push(shape.get(position).ok_or_else(|| missing("0"))?.clone());
                matched_inputs[position] = true;
                position += 1;
            }
            Code::Infer => {
                inferred = Some(sizes.len());
                sizes.push(size(1));
                position += 1;
            }
            Code::Rest => {
                for (dim, matched) in shape.iter().zip(&mut matched_inputs).skip(position) {
                    sizes.push(dim.clone());
                    *matched = true;
                }
                position = shape.len();
            }
            Code::Merge => {
                let [left, right] = shape.get(position..position + 2).unwrap_or_default() else {
                    return Err(missing("-3"));
                };
                sizes.push(dims::mul(left, right)?);
                matched_inputs[position..position + 2].fill(true);
                position += 2;
            }
            Code::Split(left, right) => {
                let dim = shape.get(position).ok_or_else(|| missing("-4"))?;
                let (left, right) = split(dim, left, right, newshape)?;
                sizes.extend([left, right]);
                matched_inputs[position] = true;
                position += 1;
            }
        }
        let is_open = matches!(code, Code::Size(_) | Code::Infer);
        is_matched.resize(sizes.len(), !is_open);
    }
    if let Some(index) = inferred {
        let inputs = shape
            .iter()
            .zip(matched_inputs)
            .filter_map(|(dim, matched)| (!matched).then_some(dim));
        let outputs =
            sizes
                .iter()
                .enumerate()
                .zip(is_matched)
                .filter_map(|((position, dim), matched)| {
                    (!matched && position != index).then_some(dim)
                });
        let (inputs, outputs) = (dims::product(inputs)?, dims::product(outputs)?);
        let exact = match (dims::known(&inputs), dims::known(&outputs)) {
            (_, Some(0)) => false,
            (Some(inputs), Some(outputs)) => inputs % outputs == 0,
            _ => true,
        };
        if !exact {
            return Err(Error::value_error(format!(
                "newshape={}: the size for -1 cannot be inferred from an input of shape {}",
                shape_text(newshape),
                shape_text(shape)
            )));
        }
        sizes[index] = dims::div(&inputs, &outputs)?;
    }
    Ok(sizes)
}

/// The two factors of a size; one factor may be inferred.
fn split(dim: &Dim, left: &Dim, right: &Dim, newshape: &[Dim]) -> Result<(Dim, Dim)> {
    let fail = || {
        Error::value_error(format!(
            "newshape={}: the size {} cannot be split into {} and {}",
            shape_text(newshape),
            crate::text::dim_text(dim),
            crate::text::dim_text(left),
            crate::text::dim_text(right)
        ))
    };
    let other = |factor: &Dim| match (dims::known(dim), dims::known(factor)) {
        (Some(dim), Some(factor)) if dim % factor != 0 => Err(fail()),
        _ => dims::div(dim, factor),
    };
    match (dims::known(left), dims::known(right)) {
        (Some(-1), _) => Ok((other(right)?, right.clone())),
        (_, Some(-1)) => Ok((left.clone(), other(left)?)),
        _ if !dims::may_be_equal(dim, &dims::mul(left, right)?) => Err(fail()),
        _ => Ok((left.clone(), right.clone())),
    }
}

/// Checks that two shapes have the same number of elements, if both numbers are known.
fn check_counts(from: &[Dim], to: &[Dim]) -> Result<()> {
    match (dims::known_product(from), dims::known_product(to)) {
        (Some(old), Some(new)) if old != new => Err(Error::value_error(format!(
            "Input tensor shape{} and reshaped shape{} are not compatible: {old} and {new} \
             elements",
            shape_text(from),
            shape_text(to)
        ))),
        _ => Ok(()),
    }
}

/// The result of `reshape_like`.
pub(in super::super) fn reshape_like(types: &mut CallTypes<'_>) -> Result<Option<Ref<Type>>> {
    let attrs = types.attrs::<ReshapeLikeAttrs>()?;
    let (Some(data), Some(like)) = (types.tensor(0)?, types.tensor(1)?) else {
        return Ok(None);
    };
    let (from, like) = (dims::shape_of(data), dims::shape_of(like));
    let bound = |name: &str, index: i64, rank: usize| {
        let position = if index < 0 {
            index + rank as i64
        } else {
            index
        };
        match usize::try_from(position) {
            Ok(position) if position <= rank => Ok(position),
            _ => Err(Error::value_error(format!(
                "{name}={index} is outside a shape with {rank} dimensions"
            ))),
        }
    };
    let end = |name: &str, limit: &Option<Dim>, rank: usize| match limit {
        Some(end) => bound(name, dims::int(name, end)?, rank),
        None => Ok(rank),
    };
    let old = (
        bound("lhs_begin", attrs.lhs_begin, from.len())?,
        end("lhs_end", &attrs.lhs_end, from.len())?,
    );
    let new = (
        bound("rhs_begin", attrs.rhs_begin, like.len())?,
        end("rhs_end", &attrs.rhs_end, like.len())?,
    );
    for ((begin, end), side) in [(old, "lhs"), (new, "rhs")] {
        if begin > end {
            return Err(Error::value_error(format!(
                "{side}_begin={begin} is after {side}_end={end}"
            )));
        }
    }
    let parts = [&from[..old.0], &like[new.0..new.1], &from[old.1..]];
    let shape = parts.concat();
    check_counts(&from, &shape)?;
    Ok(Some(dims::tensor(shape, data.dtype)))
}
