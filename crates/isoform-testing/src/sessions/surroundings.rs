//! One shared part in many surroundings.

use isoform::Value;
use isoform::compare::CompareOptions;

use super::super::remembered::skips_change_nothing;
use super::super::source::Source;
use super::{SURROUNDINGS, arr, assign, copy_of, fun, make, node, show, tree, typed, types, var};

/// Draws parts over few variables, and compares every part with itself in one order or
/// the other; then compares values that share parts, with variables bound before or
/// around the parts in all ways, and bound after them.
///
/// # Errors
///
/// An account of the first difference between a visit and the memory of it.
pub fn shared_parts_do_the_same_everywhere(bytes: &[u8]) -> Result<(), String> {
    let mut source = Source::new(bytes);
    let t = types();
    let mix = *source.pick(&SURROUNDINGS);
    let plain = [var(), var(), typed(1)];
    let mut vars = plain.to_vec();
    for _ in 0..source.below(4) {
        // Variables with earlier ones in their fields.
        let first = vars[source.below(vars.len())].clone();
        let second = vars[source.below(vars.len())].clone();
        vars.push(match source.below(4) {
            0 => typed(first),
            1 => typed(tree(first, second)),
            _ => make(t.frozenvar, vec![first]),
        });
    }
    let mut pool = vars.clone();
    if source.below(8) == 0 {
        // More than are listed.
        let many: Vec<Value> = (0..40).map(|_| var()).collect();
        pool.push(arr(&many));
        pool.push(many[7].clone());
        vars.push(many[7].clone());
    }
    for _ in 0..2 + source.below(8) {
        let new = node(&mut source, &pool, &vars, mix);
        pool.push(new);
    }
    let options = [false, true].map(|map_free_vars| CompareOptions {
        map_free_vars,
        ..Default::default()
    });
    let is_known = source.below(4);
    for part in &pool {
        if source.below(4) < is_known {
            let _ = options[0].equal(part, part);
        }
    }
    for _ in 0..4 {
        let last = pool.len() - 1;
        let part = &pool[last - source.below(3)];
        let other = &pool[last - source.below(last.min(5))];
        let other = [other.clone(), copy_of(other)];
        let mut pair = || {
            let left = &vars[source.below(vars.len())];
            match source.below(2) {
                0 => [left.clone(), left.clone()],
                _ => [left.clone(), vars[source.below(vars.len())].clone()],
            }
        };
        let (before, around) = (pair(), pair());
        let shapes = [source.below(5), source.below(8), source.below(6)];
        let options = options[source.below(2)];
        let side = |index: usize, after: &Value| {
            let (before, around) = (before[index].clone(), around[index].clone());
            let before = match shapes[0] {
                0 | 1 => arr(&[]),
                2 => assign(before, 0),
                3 => other[index].clone(),
                _ => fun(before.clone(), before),
            };
            let part = part.clone();
            let within = match shapes[1] {
                0 | 1 => part,
                2 => fun(around, arr(&[part, 1.into()])),
                3 => fun(arr(&[]), arr(&[assign(around, 0), part])),
                4 => assign(arr(&[part, around]), 0),
                5 => fun(arr(&[part.clone(), around]), part),
                6 => make(t.simple, vec![around, part]),
                _ => fun(arr(&[]), make(t.simple, vec![part, around])),
            };
            let after = match shapes[2] {
                0 | 1 => assign(after.clone(), 0),
                2 => arr(std::slice::from_ref(after)),
                3 | 4 => other[index].clone(),
                _ => fun(after.clone(), arr(&[after.clone(), pool[last].clone()])),
            };
            arr(&[before, within, after])
        };
        for left in vars.iter().take(4) {
            for right in &vars {
                let (left, right) = (side(0, left), side(1, right));
                skips_change_nothing(&left, &right, options).map_err(|account| {
                    let account: String = account.chars().take(700).collect();
                    format!("{account}\nL {}\nR {}", show(&left), show(&right))
                })?;
            }
        }
    }
    Ok(())
}
