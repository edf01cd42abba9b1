//! Independence of history: no result depends on earlier comparisons.
//!
//! A case draws a few values with nearly all parts shared, and compares every pair in
//! one thread, which also remembers earlier cases. All results must equal those of the
//! oracle, which has no memory, and all laws must hold for the same values.

use isoform::compare::{ClassOptions, CompareOptions};
use isoform::types::Kind;
use isoform::{Result, Value};

use super::classes;
use super::differences;
use super::oracle;
use super::pair::{Pair, account, draw_options, family_of, setup};
use super::properties::{Property, any_type, has_hooks, outcome};
use super::source::Source;
use super::tangle::relatives;

/// The properties of values compared in succession.
pub const HISTORY_PROPERTIES: &[(&str, Property)] = &[
    ("results_are_those_of_a_fresh_thread", |bytes| {
        judge_relatives(bytes).map(drop)
    }),
    ("related_values_obey_all_laws", related_values_obey_all_laws),
];

/// The values of a case and the options of its comparisons.
fn draw(bytes: &[u8]) -> Result<(Vec<Value>, CompareOptions), String> {
    let family = family_of(bytes)?;
    let mut source = Source::new(bytes);
    let options = draw_options(&mut source);
    let values = relatives(&family, &mut source).map_err(setup)?;
    Ok((values, options))
}

/// Compares all values of a case pairwise, and returns the number of pairs.
///
/// # Errors
///
/// An account of the first pair of which equality, mismatch or names are wrong.
pub fn judge_relatives(bytes: &[u8]) -> Result<usize, String> {
    let (values, options) = draw(bytes)?;
    let names: Vec<_> = values.iter().map(|value| names(value, options)).collect();
    for (left, left_names) in values.iter().zip(&names) {
        for (right, right_names) in values.iter().zip(&names) {
            let pair = Pair {
                left: left.clone(),
                right: right.clone(),
                options,
            };
            judge_pair(&pair, left_names, right_names)?;
        }
    }
    Ok(values.len() * values.len())
}

/// A hash and a digest, where defined.
type Names = [Option<String>; 2];

fn names(value: &Value, options: CompareOptions) -> Names {
    let hash = options.hash(value).map(|hash| format!("{hash:016x}"));
    let digest = options.digest(value).map(|digest| digest.to_string());
    [hash.ok(), digest.ok()]
}

fn judge_pair(pair: &Pair, left_names: &Names, right_names: &Names) -> Result<(), String> {
    let (left, right, options) = (&pair.left, &pair.right, pair.options);
    let engine = outcome(options.equal(left, right));
    let judge = outcome(oracle::equal(left, right, options));
    let mismatch = options.first_mismatch(left, right);
    let recorded = outcome(mismatch.map(|mismatch| mismatch.is_none()));
    if engine != judge || recorded != judge {
        let what = format!("the engine says {engine:?} and {recorded:?}, the oracle {judge:?}");
        return Err(account(pair, &what));
    }
    let Ok(equal) = engine else {
        return Ok(());
    };
    let is_told = !has_hooks(left) && !has_hooks(right);
    // Different singletons with the same contents share a digest, by design.
    let by_content = any_type(left, |info| info.kind() == Kind::Singleton);
    for (position, (left, right)) in left_names.iter().zip(right_names).enumerate() {
        let same = left == right;
        let is_wrong = if equal {
            !same
        } else {
            same && left.is_some() && is_told && !(by_content && position == 1)
        };
        if is_wrong {
            let what = format!("equal is {equal}, and the names are {left:?} and {right:?}");
            return Err(account(pair, &what));
        }
    }
    Ok(())
}

/// The laws of differences for all pairs, and of classes for all values at once.
fn related_values_obey_all_laws(bytes: &[u8]) -> Result<(), String> {
    let (values, options) = draw(bytes)?;
    for left in &values {
        for right in &values {
            differences::judge(&Pair {
                left: left.clone(),
                right: right.clone(),
                options,
            })?;
        }
    }
    let options = ClassOptions {
        map_free_vars: options.map_free_vars,
        ..ClassOptions::default()
    };
    classes::judge(&Value::from(values), options, Some(&family_of(bytes)?)).map(drop)
}
