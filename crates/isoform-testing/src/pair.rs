//! Pairs of related values to compare.

use super::family::Family;
use super::generate::Generator;
use super::source::Source;
use super::tangle::tangle;
use super::transform::{mutate_once, rename, unshare};
use isoform::compare::CompareOptions;
use isoform::{Error, Result, Value};

/// Two related values, and options.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The left value.
    pub left: Value,
    /// The right value.
    pub right: Value,
    /// The options of the comparison.
    pub options: CompareOptions,
}

impl Pair {
    /// Draws a pair with nodes of one family.
    ///
    /// # Errors
    ///
    /// None for a consistent family; construction is fallible in general.
    pub fn draw(family: &Family, bytes: &[u8], incomparable: bool) -> Result<Pair> {
        let mut source = Source::new(bytes);
        let options = draw_options(&mut source);
        if source.chance(40) {
            let (left, right) = tangle(family, &mut source, false)?;
            return Ok(Pair {
                left,
                right,
                options,
            });
        }
        let relation = source.below(8);
        let mut generator = Generator::new(family, &mut source);
        if incomparable {
            generator = generator.with_incomparable();
        }
        let left = generator.value()?;
        let right = match relation {
            6 => generator.value()?,
            _ => related(&left, relation, options, &mut source)?,
        };
        Ok(Pair {
            left,
            right,
            options,
        })
    }
}

pub(super) fn draw_options(source: &mut Source<'_>) -> CompareOptions {
    CompareOptions {
        map_free_vars: source.chance(35),
        skip_tensor_content: source.chance(10),
    }
}

/// A value made from another one, with or without the same meaning.
pub(super) fn related(
    value: &Value,
    relation: usize,
    options: CompareOptions,
    source: &mut Source<'_>,
) -> Result<Value> {
    // An unrebuildable value is used unchanged.
    let renamed = |source: &mut Source<'_>| rename(value, options, source);
    let base = match relation {
        0 | 4 | 5 => renamed(source).unwrap_or_else(|_| value.clone()),
        1 => unshare(value, options).unwrap_or_else(|_| value.clone()),
        _ => value.clone(),
    };
    match relation {
        2..=5 => mutate_once(&base, source),
        _ => Ok(base),
    }
}

pub(super) fn setup(error: Error) -> String {
    format!("the case could not be drawn: {error}")
}

/// The family of a case, chosen by the last byte.
pub(super) fn family_of(bytes: &[u8]) -> Result<Family, String> {
    match bytes.last() {
        Some(byte) if byte % 2 == 1 => Family::dynamic(),
        _ => Family::native(),
    }
    .map_err(setup)
}

pub(super) fn draw(bytes: &[u8], incomparable: bool) -> Result<Pair, String> {
    Pair::draw(&family_of(bytes)?, bytes, incomparable).map_err(setup)
}

pub(super) fn account(pair: &Pair, what: &str) -> String {
    format!(
        "{what}\n  left  = {:?}\n  right = {:?}\n  with {:?}",
        pair.left, pair.right, pair.options
    )
}
