//! The tokens for matching nodes of both sides: equal tokens, equal contents.

use super::bindings::Bindings;
use super::tables::{HAS_IDENTITY, HAS_VARS, IS_DEFINED, IS_HOOKED, IS_IGNORED, NONE, Tables};
use crate::kernel::mixing::Mixing;

/// A token for each node of a side.
pub(super) type Tokens = Vec<u64>;

/// Sets apart values without parts from nodes.
const PLAIN: u64 = 0x9fb2_1c65_1e98_df25;
const VARIABLE: u64 = 0xe703_7ed1_a0b4_28db;
const ALONE: [u64; 2] = [0x8bb8_4b93_962e_acc9, 0x4b33_a62e_d433_d4a3];

#[inline]
pub(super) fn step(acc: u64, word: u64) -> u64 {
    Mixing::of_process().fold(acc.rotate_left(5) ^ word)
}

/// The token of a value without parts.
#[inline]
pub(super) fn of_plain(word: u64) -> u64 {
    word ^ PLAIN
}

/// Tokens that do not tell variables apart.
pub(super) fn skeletons(tables: &Tables) -> Tokens {
    tables.nodes.iter().map(|node| node.skeleton).collect()
}

/// Labels the tokens of both sides: a variable and its partner get the same token. A
/// variable without a partner gets a unique token, unless the variable is free and the
/// same object is on the other side.
pub(super) fn label(tokens: &mut [Tokens; 2], sides: [&Tables; 2], bindings: &Bindings) {
    let [left, right] = sides;
    let left_vars = |number: u32| match bindings.labels_left[number as usize] {
        NONE => alone(left, number, 0),
        _ => step(VARIABLE, u64::from(number)),
    };
    let right_vars = |number: u32| match bindings.labels_right[number as usize] {
        NONE => alone(right, number, 1),
        partner => step(VARIABLE, u64::from(partner)),
    };
    label_side(&mut tokens[0], left, left_vars);
    label_side(&mut tokens[1], right, right_vars);
}

/// The token of a variable without a partner.
fn alone(tables: &Tables, number: u32, side: usize) -> u64 {
    let node = tables.node(number);
    if node.has(IS_DEFINED) {
        step(ALONE[side], u64::from(number))
    } else {
        step(VARIABLE, node.object.identity() ^ ALONE[0])
    }
}

fn label_side(tokens: &mut Tokens, tables: &Tables, of_var: impl Fn(u32) -> u64) {
    for (number, node) in tables.nodes.iter().enumerate() {
        // Without variables, the token is the same in all rounds.
        if !node.has(HAS_VARS) || node.has(IS_HOOKED | IS_IGNORED) {
            continue;
        }
        tokens[number] = if node.is_var() {
            of_var(number as u32)
        } else {
            let mut acc = node.info().seed ^ VARIABLE;
            for cell in tables.cells(number as u32) {
                acc = step(
                    acc,
                    match cell.node_number() {
                        Some(part) => tokens[part as usize],
                        None => of_plain(cell.word),
                    },
                );
            }
            step(acc, u64::from(node.count))
        };
    }
}

/// Exact tokens: nodes with equal tokens can replace one another. Variables, dag nodes
/// and mutable objects have tokens by `of_identity`, all other nodes by contents.
pub(super) fn exact(tables: &Tables, of_identity: impl Fn(u32, u64) -> u64) -> Tokens {
    let mut tokens: Tokens = Vec::with_capacity(tables.nodes.len());
    for (number, node) in tables.nodes.iter().enumerate() {
        let number = number as u32;
        if node.has(IS_IGNORED) || !node.has(HAS_VARS | HAS_IDENTITY | IS_HOOKED) {
            tokens.push(node.skeleton);
            continue;
        }
        let mut acc = step(node.info().seed, u64::from(node.count));
        for cell in tables.cells(number) {
            acc = step(
                acc,
                match cell.node_number() {
                    Some(part) => tokens[part as usize],
                    None => of_plain(cell.word),
                },
            );
        }
        let has_identity = node.is_var() || node.is_dag() || node.is_mutable();
        tokens.push(if has_identity {
            of_identity(number, acc)
        } else {
            acc
        });
    }
    tokens
}
