//! Products of matrices and operators built from products.

use std::collections::HashMap;

use super::context::Context;
use super::elementwise::broadcast;
use crate::facts::size::Size;

type Shape = Option<Vec<Size>>;

pub(super) fn matmul(c: &mut Context<'_>, left: usize, right: usize) -> Shape {
    let (left, right) = (c.shape(left)?, c.shape(right)?);
    let (row, left_batch) = match left {
        [] => return None,
        [_] => (None, &left[..0]),
        [batch @ .., row, _] => (Some(row), batch),
    };
    let (column, right_batch) = match right {
        [] => return None,
        [_] => (None, &right[..0]),
        [batch @ .., _, column] => (Some(column), batch),
    };
    let mut shape = broadcast(c.symbols, left_batch, right_batch);
    shape.extend(row.cloned());
    shape.extend(column.cloned());
    Some(shape)
}

pub(super) fn gemm(c: &mut Context<'_>) -> Shape {
    let at = |c: &Context<'_>, input: usize, name: &str, axis: usize| {
        let transposed = c.int(name, 0)? != 0;
        match c.shape(input)? {
            [first, second] => Some(
                if transposed == (axis == 0) {
                    second
                } else {
                    first
                }
                .clone(),
            ),
            _ => None,
        }
    };
    let rows = at(c, 0, "transA", 0);
    let columns = at(c, 1, "transB", 1);
    Some(vec![c.symbols.or_fresh(rows), c.symbols.or_fresh(columns)])
}

pub(super) fn determinant(c: &Context<'_>) -> Shape {
    match c.shape(0)? {
        [batch @ .., _, _] => Some(batch.to_vec()),
        _ => None,
    }
}

/// The axes of one term; the ellipsis is the character `.`.
fn axes_of_term(term: &str) -> Vec<char> {
    let term = term.replace("...", ".");
    term.chars()
        .filter(|letter| !letter.is_whitespace())
        .collect()
}

pub(super) fn einsum(c: &mut Context<'_>) -> Shape {
    let equation = c.str("equation", "")?.to_owned();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<Vec<char>> = left.split(',').map(axes_of_term).collect();
    if terms.len() != c.inputs.len() {
        return None;
    }
    let mut sizes: HashMap<char, Size> = HashMap::new();
    let mut ellipsis: Option<Vec<Size>> = None;
    for (index, term) in terms.iter().enumerate() {
        let shape = c.shape(index)?;
        let dots = term.iter().filter(|letter| **letter == '.').count();
        let hidden = (shape.len() + dots).checked_sub(term.len())?;
        if dots > 1 || (dots == 0 && hidden != 0) {
            return None;
        }
        let mut rest = shape;
        for letter in term {
            let width = if *letter == '.' { hidden } else { 1 };
            let (these, others) = rest.split_at_checked(width)?;
            rest = others;
            if *letter == '.' {
                let held = ellipsis.unwrap_or_default();
                ellipsis = Some(broadcast(c.symbols, &held, these));
            } else if let [size] = these {
                // Runtimes broadcast axes with the same letter.
                let merged = match sizes.get(letter) {
                    Some(held) => c.symbols.broadcast(held, size),
                    None => size.clone(),
                };
                sizes.insert(*letter, merged);
            }
        }
    }
    let result = match right {
        Some(right) => axes_of_term(right),
        None => {
            // The letters that occur once, in alphabetic order, after the ellipsis.
            let all: Vec<char> = terms.concat();
            let once = |letter: &char| all.iter().filter(|other| *other == letter).count() == 1;
            let mut once: Vec<char> = all.iter().copied().filter(once).collect();
            once.retain(|letter| *letter != '.');
            once.sort_unstable();
            if ellipsis.is_some() {
                once.insert(0, '.');
            }
            once
        }
    };
    let mut shape = Vec::new();
    for letter in result {
        match letter {
            '.' => shape.extend(ellipsis.clone().unwrap_or_default()),
            letter => shape.push(sizes.get(&letter)?.clone()),
        }
    }
    Some(shape)
}
