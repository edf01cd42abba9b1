//! Properties of structural keys: keys are equal exactly if their values were equal at
//! creation, whatever keys were made or values written before and after.

use super::generate::children;
use super::oracle;
use super::pair::{Pair, account, draw};
use super::source::Source;
use isoform::compare::{CompareOptions, StructuralKey};
use isoform::errors::ErrorKind;
use isoform::values::ValueRef;
use isoform::{Value, structural_equal};

/// The maximal number of parts looked at in a value; the value may be cyclic.
const PARTS: usize = 200;

/// Keys of values are equal as the values are, and so are their hashes, whether keys of
/// parts were made before, in this thread or not at all.
pub(super) fn keys_are_equal_as_their_values_were(bytes: &[u8]) -> Result<(), String> {
    let mut pair = draw(bytes, true)?;
    pair.options = CompareOptions::default();
    let mut source = Source::new(bytes);
    let mut parts = parts_of([&pair.left, &pair.right]);
    let mut held = Vec::new();
    for _ in 0..source.below(6) {
        if !parts.is_empty() {
            let part = parts.swap_remove(source.below(parts.len()));
            let key = StructuralKey::new(part);
            held.extend(key.ok().filter(|_| source.chance(50)));
        }
    }
    let expected = structural_equal(&pair.left, &pair.right).map_err(|error| error.kind());
    let judge = oracle::equal(&pair.left, &pair.right, pair.options).map_err(|error| error.kind());
    if judge != expected && judge != Err(ErrorKind::Recursion) {
        let what = format!("equality says {expected:?}, the oracle {judge:?}");
        return Err(account(&pair, &what));
    }
    let fail = |what: &str| Err(account(&pair, what));
    let (left, right) = match (
        StructuralKey::new(&pair.left),
        StructuralKey::new(&pair.right),
    ) {
        (Ok(left), Ok(right)) => (left, right),
        // Hashable values are comparable, but not the other way round: only one of the two
        // reaches hooks and cycles after a difference.
        _ => return Ok(()),
    };
    let compare = || left.try_eq(&right).map_err(|error| error.kind());
    let answer = compare();
    let same_hash = left.table_hash() == right.table_hash();
    let agrees = answer == expected || (expected.is_err() && !same_hash);
    if !agrees {
        return fail(&format!("the keys say {answer:?}, equality {expected:?}"));
    }
    for _ in 0..3 {
        for root in [&pair.left, &pair.right] {
            let here = StructuralKey::new(root).map(|key| key.table_hash());
            // Another thread has no hashes of parts.
            let fresh = std::thread::scope(|scope| {
                let hash = || StructuralKey::new(root).map(|key| key.table_hash());
                scope.spawn(hash).join()
            });
            match (here, fresh) {
                (Ok(here), Ok(Ok(fresh))) if here == fresh => {}
                (Err(_), Ok(Err(_))) => {}
                _ => return fail("the hash depends on what was hashed before"),
            }
        }
        if !write_somewhere(&pair, &mut source) {
            return Ok(());
        }
        if compare() != answer {
            return fail("a write has changed what the keys say");
        }
        parts = parts_of([&pair.left, &pair.right]);
        let part = parts.swap_remove(source.below(parts.len()));
        held.extend(StructuralKey::new(part).ok());
    }
    drop(held);
    if compare() != answer {
        return fail("the end of other keys has changed what the keys say");
    }
    // Comparing a key made today with the earlier key has the same result as comparing
    // the values, if the other value has not changed.
    let today = StructuralKey::new(&pair.left).and_then(|key| key.try_eq(&left));
    match (
        today,
        StructuralKey::new(&pair.right).and_then(|key| key.try_eq(&right)),
    ) {
        (Ok(today), Ok(true)) => {
            let equal = structural_equal(&pair.left, &pair.right);
            let unchanged = equal.map_err(|error| error.kind()) == answer;
            if today && !unchanged {
                return fail("equal to their old keys, the values compare otherwise");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn parts_of(roots: [&Value; 2]) -> Vec<Value> {
    let mut parts: Vec<Value> = roots.map(Value::clone).into();
    let mut next = 0;
    while next < parts.len() && parts.len() < PARTS {
        let inner = children(&parts[next]);
        parts.extend(inner.into_iter().filter(|part| part.as_object().is_some()));
        next += 1;
    }
    parts
}

/// Changes a list or dict below one of the values; returns false without any.
fn write_somewhere(pair: &Pair, source: &mut Source<'_>) -> bool {
    let mut written = false;
    for part in parts_of([&pair.left, &pair.right]) {
        match part.view() {
            ValueRef::List(list) if source.chance(60) => {
                written |= list.pop().is_some() || list.push(7.into()).is_ok();
            }
            ValueRef::Dict(dict) if source.chance(60) => {
                written |= dict.pop().is_some() || dict.insert("new".into(), 7.into()).is_ok();
            }
            _ => {}
        }
    }
    written
}
