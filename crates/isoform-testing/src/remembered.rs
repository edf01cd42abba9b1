//! Compares results computed with and without a memory of earlier values.

use isoform::compare::{CompareOptions, Digest, IncrementalHasher, visiting_everything};
use isoform::{Result, Value};

/// The result of a question, as text in case of an error.
fn told<T>(answer: Result<T>) -> Result<T, String> {
    answer.map_err(|error| format!("{:?} {error}", error.kind()))
}

/// Hashes a value with a hasher that knows parts of the value, and with a fresh hasher.
///
/// # Errors
///
/// An account of two different results.
pub fn hasher_changes_nothing(
    hasher: &mut IncrementalHasher,
    options: CompareOptions,
    value: &Value,
) -> Result<(), String> {
    let account = |what: &str, kept: String, new: String| {
        Err(format!(
            "the {what} is {kept} instead of {new}\n  value = {value:?}\n  with {options:?}"
        ))
    };
    let (kept, new) = (told(hasher.hash(value)), told(options.hash(value)));
    if kept != new {
        return account("hash", format!("{kept:x?}"), format!("{new:x?}"));
    }
    let (kept, new): (Result<Digest, _>, _) =
        (told(hasher.digest(value)), told(options.digest(value)));
    if kept != new {
        return account("digest", format!("{kept:?}"), format!("{new:?}"));
    }
    Ok(())
}

/// The results of all comparisons of two values, as text.
fn answers(left: &Value, right: &Value, options: CompareOptions) -> [String; 3] {
    let paths = options
        .first_mismatch(left, right)
        .map(|found| found.map(|(left, right)| format!("{left} and {right}")));
    let mismatch = options.explain_mismatch(left, right);
    [
        format!("{:?}", told(options.equal(left, right))),
        format!("{:?}", told(paths)),
        format!(
            "{:?}",
            told(mismatch.map(|found| found.map(|m| m.to_string())))
        ),
    ]
}

/// Compares two values that may share parts, with and without skipping these.
///
/// # Errors
///
/// An account of two different results.
pub fn skips_change_nothing(
    left: &Value,
    right: &Value,
    options: CompareOptions,
) -> Result<(), String> {
    let wanted = visiting_everything(|| answers(left, right, options));
    for round in 0..2 {
        let skipping = answers(left, right, options);
        if skipping != wanted {
            return Err(format!(
                "comparison {round} with skips: {skipping:#?}\n  instead of {wanted:#?}\n  left = {left:?}\n  right = {right:?}\n  with {options:?}"
            ));
        }
    }
    Ok(())
}
